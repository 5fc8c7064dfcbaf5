//! From a case that differs to a small one that still does: each step makes one thing simpler, and is kept where the devices
//! still differ.
use super::{
    Transfer,
    draw::{legal, room},
    form::{Form, Walk},
};
use girih_core::tensor_map::{Fill, Interleave, L2Promotion, Mode, Swizzle};

/// Most cases that are tried.
const MOST_STEPS: usize = 400;

/// The smallest case found that `differs` says yes to; `case` does.
pub fn smallest(case: &Transfer, mut differs: impl FnMut(&Transfer) -> bool) -> Transfer {
    let mut best = case.clone();
    let mut tried = 0;
    loop {
        let simpler = candidates(&best).into_iter().filter(legal).find(|candidate| {
            tried += 1;
            tried <= MOST_STEPS && differs(candidate)
        });
        match simpler {
            Some(simpler) => best = simpler,
            None => return best,
        }
    }
}

/// Cases that are simpler in one way, the boldest first. They may be illegal.
fn candidates(case: &Transfer) -> Vec<Transfer> {
    let mut out = Vec::new();
    let mut add = |change: &dyn Fn(&mut Transfer)| {
        let mut simpler = case.clone();
        change(&mut simpler);
        settle(&mut simpler);
        if simpler != *case {
            out.push(simpler);
        }
    };
    add(&|c| {
        if let Form::Load {
            multicast, own, hint, ..
        } = &mut c.form
        {
            (*multicast, *own, *hint) = (false, false, false);
            (c.blocks, c.mask, c.issuer) = (1, 1, 0);
        }
    });
    add(&|c| {
        if let Form::BulkLoad { multicast, own } = &mut c.form {
            (*multicast, *own) = (false, false);
            (c.blocks, c.mask, c.issuer) = (1, 1, 0);
        }
    });
    add(&|c| c.at = 0);
    add(&|c| c.offsets = [0; 3]);
    add(&|c| c.distance = 0);
    add(&|c| c.size = (c.size / 2).next_multiple_of(16));
    add(&|c| drop_dimension(c));
    let Some(map) = &case.map else { return out };
    let mut add = |change: &dyn Fn(&mut Transfer, &mut girih_core::tensor_map::TensorMap)| {
        let (mut simpler, mut map) = (case.clone(), map.clone());
        change(&mut simpler, &mut map);
        simpler.map = Some(map);
        settle(&mut simpler);
        if simpler != *case {
            out.push(simpler);
        }
    };
    add(&|_, m| m.swizzle = Swizzle::None);
    add(&|_, m| m.fill = Fill::Zero);
    add(&|_, m| m.l2_promotion = L2Promotion::None);
    add(&|_, m| m.interleave = Interleave::None);
    add(&|_, m| m.address = 4096);
    for i in 0..map.rank() {
        add(&|_, m| m.element_strides[i] = 1);
        add(&|c, _| c.coords[i] = 0);
        add(&|c, _| c.coords[i] /= 2);
        add(&|_, m| m.dims[i] = (m.dims[i] / 2).max(1));
        add(&|_, m| m.dims[i] = (m.dims[i] - 1).max(1));
        add(&|_, m| {
            if let Mode::Tiled { box_dims } = &mut m.mode {
                box_dims[i] = (box_dims[i] / 2).max(1);
            }
        });
        add(&|_, m| {
            if let Mode::Im2col { lower, upper, .. } = &mut m.mode
                && let (Some(low), Some(high)) = (lower.get_mut(i), upper.get_mut(i))
            {
                (*low, *high) = (0, 0);
            }
        });
    }
    add(&|_, m| {
        if let Mode::Im2col { pixels_per_column, .. } = &mut m.mode {
            *pixels_per_column = (*pixels_per_column / 2).max(1);
        }
    });
    add(&|_, m| {
        if let Mode::Im2col { channels_per_pixel, .. } = &mut m.mode {
            *channels_per_pixel = (*channels_per_pixel / 2).max(1);
        }
    });
    out
}

/// Leaves out the outermost dimension of a tiled map.
fn drop_dimension(case: &mut Transfer) {
    let Some(map) = &mut case.map else { return };
    let Mode::Tiled { box_dims } = &mut map.mode else {
        return;
    };
    let least = if map.interleave == Interleave::None { 1 } else { 3 };
    if map.dims.len() <= least {
        return;
    }
    map.dims.pop();
    map.strides.pop();
    box_dims.pop();
    map.element_strides.pop();
    case.coords.pop();
    match &mut case.form {
        Form::Load { walk, rank, .. }
        | Form::Store { walk, rank, .. }
        | Form::Reduce { walk, rank, .. }
        | Form::Prefetch { walk, rank }
            if *walk == Walk::Tile =>
        {
            *rank -= 1;
        }
        _ => {}
    }
}

/// What follows from the rest.
fn settle(case: &mut Transfer) {
    let Some(map) = &case.map else {
        case.bytes = if case.form.counts_bytes() { case.size } else { 0 };
        return;
    };
    if case.form.counts_bytes() {
        case.bytes = map.transaction_bytes() as u32;
    }
    if !matches!(case.form, Form::Prefetch { .. }) {
        case.shared_bytes = room(case.at, map.image_bytes());
    }
}
