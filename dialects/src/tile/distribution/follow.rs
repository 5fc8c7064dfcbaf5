//! Layouts that follow from others: of a tile seen in another shape or as other numbers, repeated, with an axis more, or with its
//! axes exchanged.
use super::{
    Blocked, LANE_BITS, Linear, Sliced, fits_shape, flattened, images_of, linear_of, rebuilt, trimmed, unflattened,
};
use girih_core::layout::{self, Dim};
use girih_ir::prelude::*;

/// The layout that gives each thread the same elements of a tile of shape `from` when it is seen in shape `to`.
pub fn reshaped<'c>(layout: Attribute<'c>, from: &[i64], to: &[i64]) -> Option<Attribute<'c>> {
    let linear = linear_of(layout, from)?;
    let seen = |dim| -> Vec<Vec<u32>> {
        images_of(&linear, dim, from.len())
            .iter()
            .map(|image| unflattened(flattened(image, from), to))
            .collect()
    };
    rebuilt_attribute(layout, seen(Dim::Register), seen(Dim::Lane), seen(Dim::Warp), to)
}

/// The layout of a tile of shape `to` whose numbers are the parts of those of a tile of shape `from`, or made of them: one axis
/// has another size, or none where each is the part of one. `None` where a number would be divided among threads.
pub fn bitcast<'c>(layout: Attribute<'c>, from: &[i64], to: &[i64]) -> Option<Attribute<'c>> {
    let Some(axis) = from.iter().zip(to).position(|(f, t)| f != t) else {
        return Some(layout);
    };
    let linear = linear_of(layout, from)?;
    let images = |dim| images_of(&linear, dim, from.len());
    let (mut register, mut lane, mut warp) = (images(Dim::Register), images(Dim::Lane), images(Dim::Warp));
    let parts = (from[axis].max(to[axis]) / from[axis].min(to[axis])) as u32;
    // What tells the parts of a number from each other.
    let alone = |bit: u32| (0..from.len()).map(|a| if a == axis { 1 << bit } else { 0 }).collect();
    let own: Vec<Vec<u32>> = (0..parts.ilog2()).map(alone).collect();
    if to[axis] > from[axis] {
        let all = register.iter_mut().chain(&mut lane).chain(&mut warp);
        all.for_each(|image| image[axis] *= parts);
        return rebuilt_attribute(layout, [own, register].concat(), lane, warp, to);
    }
    if !own.iter().all(|part| register.contains(part)) {
        return None;
    }
    register.retain(|image| !own.contains(image));
    let mut all = register.iter_mut().chain(&mut lane).chain(&mut warp);
    all.try_for_each(|image| {
        let whole = image[axis] % parts == 0;
        image[axis] /= parts;
        whole.then_some(())
    })?;
    rebuilt_attribute(layout, register, lane, warp, to)
}

/// The layout of a tile of shape `to` that follows from that of a tile of shape `from`, where sizes differ only in that one
/// of them is 1: the same where it has a place for every element, as a layout of a larger tile has. Else threads hold the same
/// along the other axes, and registers go along the rest.
pub fn refitted<'c>(layout: Attribute<'c>, from: &[i64], to: &[i64]) -> Option<Attribute<'c>> {
    if from == to || fits_shape(layout, to) {
        return Some(layout);
    }
    let linear = linear_of(layout, from)?;
    let cut = |dim| -> Vec<Vec<u32>> {
        let mut images = images_of(&linear, dim, from.len());
        for image in &mut images {
            image
                .iter_mut()
                .zip(to)
                .filter(|(_, size)| **size == 1)
                .for_each(|(c, _)| *c = 0);
        }
        images
    };
    let new = from
        .iter()
        .zip(to)
        .map(|(f, t)| if f == t { 1 } else { *t })
        .collect::<Vec<_>>();
    let register = [cut(Dim::Register), register_images(&new)].concat();
    rebuilt_attribute(layout, register, cut(Dim::Lane), cut(Dim::Warp), to)
}

/// The layout of a tile of `shape` whose slice along `axis` is `layout`: threads differ along the axis only if it is a slice
/// already.
pub fn widened<'c>(layout: Attribute<'c>, axis: usize, shape: &[i64]) -> Option<Attribute<'c>> {
    if let Some(s) = Sliced::of(layout)
        && s.axis() == axis as i64
        && fits_shape(s.parent(), shape)
    {
        return Some(s.parent());
    }
    if let Some(b) = Blocked::of(layout) {
        let mut core = b.core();
        for list in [&mut core.per_thread, &mut core.lanes, &mut core.warps] {
            list.insert(axis, 1);
        }
        core.order.iter_mut().filter(|a| **a >= axis).for_each(|a| *a += 1);
        core.order.push(axis);
        return Some(Blocked::of_core(girih_ir::context(layout.context()), &core).into());
    }
    let mut rest = shape.to_vec();
    rest.remove(axis);
    let linear = linear_of(layout, &rest)?;
    let wider = |dim| -> Vec<Vec<u32>> {
        let mut images = images_of(&linear, dim, rest.len());
        images.iter_mut().for_each(|image| image.insert(axis, 0));
        images
    };
    let mut new = vec![1; shape.len()];
    new[axis] = shape[axis];
    let register = [wider(Dim::Register), register_images(&new)].concat();
    rebuilt_attribute(layout, register, wider(Dim::Lane), wider(Dim::Warp), shape)
}

/// `layout` of a tile of `shape` with its axes in another order: axis `i` is axis `order[i]` of it.
pub fn transposed<'c>(layout: Attribute<'c>, shape: &[i64], order: &[i64]) -> Option<Attribute<'c>> {
    let order: Vec<usize> = order.iter().map(|a| *a as usize).collect();
    if let Some(b) = Blocked::of(layout) {
        let b = b.core();
        let exchanged = |list: &[u64]| order.iter().map(|a| list[*a]).collect();
        let place = |axis: &usize| order.iter().position(|a| a == axis).unwrap_or(0);
        let core = layout::Blocked {
            per_thread: exchanged(&b.per_thread),
            lanes: exchanged(&b.lanes),
            warps: exchanged(&b.warps),
            order: b.order.iter().map(place).collect(),
        };
        return Some(Blocked::of_core(girih_ir::context(layout.context()), &core).into());
    }
    let linear = linear_of(layout, shape)?;
    let turned = |dim| -> Vec<Vec<u32>> {
        let images = images_of(&linear, dim, shape.len());
        images
            .iter()
            .map(|image| order.iter().map(|a| image[*a]).collect())
            .collect()
    };
    let to: Vec<i64> = order.iter().map(|a| shape[*a]).collect();
    rebuilt_attribute(layout, turned(Dim::Register), turned(Dim::Lane), turned(Dim::Warp), &to)
}

/// Images of registers that go through a tile of `shape`, the last axis fastest.
fn register_images(shape: &[i64]) -> Vec<Vec<u32>> {
    let mut images = vec![];
    for axis in (0..shape.len()).rev() {
        for bit in 0..shape[axis].ilog2() {
            let mut image = vec![0; shape.len()];
            image[axis] = 1 << bit;
            images.push(image);
        }
    }
    images
}

/// A layout of a tile of `shape` by its images, in the context of `like`.
fn rebuilt_attribute<'c>(
    like: Attribute<'c>,
    register: Vec<Vec<u32>>,
    lane: Vec<Vec<u32>>,
    warp: Vec<Vec<u32>>,
    shape: &[i64],
) -> Option<Attribute<'c>> {
    let bits: Vec<u32> = shape.iter().map(|s| s.checked_ilog2()).collect::<Option<_>>()?;
    let (context, map) = (
        girih_ir::context(like.context()),
        trimmed(&rebuilt(register, lane, warp, &bits)?, shape.len())?,
    );
    if shape.is_empty() {
        // Without axes there is nothing to list; a slice of one element along one axis says as much.
        let nothing = |dim, least| vec![0; map.input_bits(dim).max(least) as usize];
        let one = Linear::get(
            context,
            vec![],
            nothing(Dim::Lane, LANE_BITS as u32),
            nothing(Dim::Warp, 0),
        );
        return Some(Sliced::get(context, 0, one.into()).into());
    }
    Some(Linear::of_core(context, &map, shape.len()).into())
}
