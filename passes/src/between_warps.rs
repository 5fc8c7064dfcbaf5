//! What warps tell each other in a reduction or a scan, as a tile: each thread writes the parts that it has, and reads all parts
//! of its elements.
//!
//! Such a tile goes through shared memory as one does that changes its layout. Warps that share an element each have a part of
//! it, so that the tile has as many parts along an axis of their own (for a reduction) or along the one that is scanned.
//! Parts of one element next to each other are read as vectors, but written with conflicts where many lanes have elements;
//! the order is the one that takes the fewest wavefronts for both.
use crate::layout_conversion::{Trip, in_order, trip};
use girih_core::layout::{LayoutError, exchange};
use girih_dialects::tile::{
    distribution::Distribution,
    ops::{reduce::Reduce, scan::Scan},
    verify::element_bits,
};
use girih_ir::prelude::*;

/// Bits of a lane's number.
const LANE_BITS: usize = 5;

/// A tile of parts.
pub struct Parts {
    /// Who has which part.
    pub from: Distribution,
    /// Who reads it. A thread's parts of one element are registers next to each other.
    pub to: Distribution,
    /// Parts of an element.
    pub count: usize,
    /// The axis along which they lie.
    axis: usize,
}

impl Parts {
    /// Those of a reduction of a tile along `axis`; `None` where no warp needs another's.
    pub fn of_reduction(source: &Distribution, result: &Distribution, axis: usize) -> Option<Parts> {
        let warps: Vec<usize> = (LANE_BITS..source.threads.len())
            .filter(|bit| source.threads[*bit].get(axis).is_some_and(|image| *image != 0))
            .collect();
        if warps.is_empty() {
            return None;
        }
        let count = 1 << warps.len();
        let with = |image: &Vec<u32>, part: u32| -> Vec<u32> { image.iter().copied().chain([part]).collect() };
        let shape: Vec<i64> = result.shape.iter().copied().chain([count as i64]).collect();
        let threads = |part_of: &dyn Fn(usize) -> u32| -> Vec<Vec<u32>> {
            let images = result.threads.iter().enumerate();
            images.map(|(bit, image)| with(image, part_of(bit))).collect()
        };
        let registers: Vec<Vec<u32>> = result.register_images().iter().map(|image| with(image, 0)).collect();
        let own = |bit| warps.iter().position(|w| *w == bit).map_or(0, |i| 1 << i);
        Parts::new(
            &shape,
            result.shape.len(),
            count,
            &registers,
            &threads(&own),
            &threads(&|_| 0),
        )
    }

    /// Those of a scan along `axis`: totals of blocks of 2^`low` elements, which lie in 2^`width` warps.
    pub fn of_scan(d: &Distribution, axis: usize, low: usize, width: usize) -> Option<Parts> {
        let mut shape = d.shape.clone();
        shape[axis] >>= low;
        let block = |image: &Vec<u32>| -> Vec<u32> {
            let mut image = image.clone();
            image[axis] >>= low;
            image
        };
        let any_warp = |image: &Vec<u32>| -> Vec<u32> {
            let mut image = block(image);
            image[axis] &= !((1 << width) - 1);
            image
        };
        let registers: Vec<Vec<u32>> = d.register_images().iter().map(block).collect();
        let from: Vec<Vec<u32>> = d.threads.iter().map(block).collect();
        let to: Vec<Vec<u32>> = d.threads.iter().map(any_warp).collect();
        Parts::new(&shape, axis, 1 << width, &registers, &from, &to)
    }

    fn new(
        shape: &[i64],
        axis: usize,
        count: usize,
        registers: &[Vec<u32>],
        from: &[Vec<u32>],
        to: &[Vec<u32>],
    ) -> Option<Parts> {
        let part = |bit: u32| (0..shape.len()).map(|a| if a == axis { 1 << bit } else { 0 }).collect();
        let all: Vec<Vec<u32>> = (0..count.ilog2()).map(part).chain(registers.iter().cloned()).collect();
        Some(Parts {
            from: Distribution::of_images(registers, from, shape)?,
            to: Distribution::of_images(&all, to, shape)?,
            count,
            axis,
        })
    }

    /// The way through shared memory for elements of `element_bytes`.
    pub fn trip(&self, element_bytes: u64) -> Result<Trip, LayoutError> {
        let shape = &self.from.shape;
        let through = |offsets| Trip::through(&self.from, &self.to, offsets, element_bytes);
        // Parts next to each other, then elements; the last axis first, and the one that the registers run along.
        let rest: Vec<usize> = (0..shape.len()).rev().filter(|a| *a != self.axis).collect();
        let mut along = rest.clone();
        along.sort_by_key(|a| std::cmp::Reverse(self.from.run(*a)));
        let mut best = through(in_order(shape, &[&[self.axis], &rest[..]].concat())?)?;
        let mut take = |other: Trip| {
            if other.cost() < best.cost() {
                best = other;
            }
        };
        take(through(in_order(shape, &[&rest[..], &[self.axis]].concat())?)?);
        take(through(in_order(shape, &[&along[..], &[self.axis]].concat())?)?);
        if let Ok(found) = exchange(&[&self.from.linear, &self.to.linear], element_bytes) {
            take(through(found.memory.invert()?)?);
        }
        if best.excess() > 0 {
            let searched = trip(&self.from, &self.to, element_bytes, false)?;
            if let Some(searched) = searched.filter(|t| t.cost() < best.cost()) {
                return Ok(searched);
            }
        }
        Ok(best)
    }
}

/// Bytes of scratch of each source, in their order, each from a multiple of 16 on.
pub fn scratch_bytes(parts: &Parts, sources: &[Value<'_, '_>]) -> Vec<u64> {
    let elements: u64 = parts.from.shape.iter().map(|s| *s as u64).product();
    let bytes = |s: &Value<'_, '_>| elements * element_bits(s.r#type()).unwrap_or(8) / 8;
    sources.iter().map(|s| bytes(s).next_multiple_of(16)).collect()
}

/// Where the scratch of each source starts.
pub fn scratch_starts(parts: &Parts, sources: &[Value<'_, '_>]) -> Vec<i64> {
    let next = |start: &mut i64, bytes: u64| {
        let own = *start;
        *start += bytes as i64;
        Some(own)
    };
    scratch_bytes(parts, sources).into_iter().scan(0, next).collect()
}

/// The parts of a reduction; `None` where no warp needs another's.
pub fn of_reduce(op: Reduce<'_, '_>) -> Option<Parts> {
    let source = Distribution::of(op.sources().first()?.r#type())?;
    let result = Distribution::of(op.results().first()?.r#type())?;
    Parts::of_reduction(&source, &result, op.axis() as usize)
}

/// The parts of a scan; `None` where no warp needs another's.
pub fn of_scan(op: Scan<'_, '_>) -> Option<Parts> {
    let d = Distribution::of(op.sources().first()?.r#type())?;
    let (low, width) = crate::convert_tile_to_nvvm::warp_blocks(&d, op.axis() as usize)?;
    Parts::of_scan(&d, op.axis() as usize, low, width)
}
