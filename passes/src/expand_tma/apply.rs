//! `tile.tma.apply` as instructions.
use super::{
    issue::{Axis, Images, Indices, Issue, V},
    maps::Maps,
};
use girih_core::target::{CopyKind, MaskWidth, SharedSpace};
use girih_dialects::{
    nvvm::Emit,
    tile::{
        ops::{
            memory::contiguous,
            tma::{CopyOptions, CopySpace, LoadOptions, TmaLoad, TmaStore},
            tma_apply::Apply,
            tma_modes::{Reduction, TmaPrefetch, TmaReduce},
            tma_override::Report,
        },
        types::TensorMapType,
    },
};
use girih_ir::{op::OpView, prelude::*, rewrite::Before};

/// Writes the instructions of one op before it, and gives their number.
pub(super) fn expand<'c>(apply: Apply<'c, 'c>, maps: Option<&mut Maps<'c>>) -> Res<u64> {
    let op = apply.op();
    let sides = match apply.sides() {
        Ok(sides) => sides,
        Err(m) => return Diag::op(&op, m).report(),
    };
    let t = apply.map(&sides)?;
    let Some(axes) = apply.axes(&sides, t) else {
        return Diag::op(&op, "has leading axes and steps that do not fit; verify it first").report();
    };
    let map = match (TensorMapType::of(sides.global.r#type()), maps) {
        (Some(_), _) => sides.global,
        (None, Some(maps)) => maps.of(op, sides.global, None, t, false)?,
        (None, None) => return super::no_launcher(op),
    };
    super::warn_of_traps(op, t);
    let four_rows = apply.opcode().four_rows();
    let shared_steps = sides
        .shared
        .and_then(|shared| shared.r#type().shape())
        .map(|shape| contiguous(&shape));
    let axes = axes.into_iter().enumerate().map(|(i, axis)| Axis {
        size: axis.size,
        // Four rows move together.
        step: match four_rows {
            true => [vec![axis.step[0]; 4], vec![axis.step[1]]].concat(),
            false => axis.step,
        },
        shared_step: shared_steps.as_ref().map_or(0, |steps| steps[i]),
    });
    let issue = Issue {
        op,
        axes: axes.collect(),
        images: sides.shared.map(|memory| Images {
            memory,
            first: 0,
            atom: apply.atom(t),
        }),
        start: start(apply),
        one: &|coords, image| instruction(apply, map, coords, image),
    };
    Ok(issue.all())
}

/// Coordinates of the first instruction: four rows are counted from the first coordinate.
fn start<'c>(apply: Apply<'c, 'c>) -> Vec<V<'c>> {
    let coords = apply.coords();
    if !apply.opcode().four_rows() {
        return coords;
    }
    let before = Before(apply.op());
    let place = Indices {
        e: Emit::new(&before, apply.op().location()),
    };
    let rows = apply.rows().into_iter().map(|row| place.sum(coords[0], row));
    rows.chain([coords[1]]).collect()
}

fn instruction<'c>(apply: Apply<'c, 'c>, map: V<'c>, coords: &[V<'c>], image: Option<V<'c>>) -> Operation<'c> {
    let (opcode, policy, loc) = (apply.opcode(), apply.policy(), apply.op().location());
    let (four_rows, offsets) = (opcode.four_rows(), apply.offsets());
    let with = CopyOptions {
        policy,
        cache: None,
        four_rows,
        overwrite: apply.overwrite(),
    };
    match (opcode.kind, image) {
        (
            CopyKind::Load {
                space,
                report,
                multicast,
                cta_group,
                ..
            },
            Some(image),
        ) => TmaLoad::plain(
            loc,
            map,
            coords,
            image,
            (
                apply.barrier().expect("a load that verifies has an mbarrier"),
                &apply.barrier_indices(),
            ),
            LoadOptions {
                offsets: &offsets,
                mask: apply.mask(),
                mask_32b: apply.mask_32b(),
                policy,
                gather4: four_rows,
                mask_16b: multicast == Some(MaskWidth::B16),
                cta_group: cta_group.map(i64::from),
                space: (space == SharedSpace::Cta).then_some(CopySpace::Cta),
                cache: None,
                report: report.map(Report::of_core),
            },
        ),
        (CopyKind::Store { .. }, Some(image)) => TmaStore::plain(loc, image, map, coords, with),
        (CopyKind::Reduce { op, .. }, Some(image)) => {
            let kind = Reduction::ALL.iter().copied().find(|kind| kind.core() == op);
            let kind = kind.expect("every operator has its keyword");
            TmaReduce::plain(loc, kind, image, map, coords, with)
        }
        _ => TmaPrefetch::plain(loc, map, coords, &offsets, with),
    }
}
