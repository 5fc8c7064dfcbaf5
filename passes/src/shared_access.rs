//! How much one access of a thread moves in shared memory: what `tile-swizzle-shared` counts by is what
//! `convert-tile-to-nvvm` writes.
use crate::{known::known_multiple, uniform_run::uniform_run};
use girih_core::tensor_map::Swizzle;
use girih_dialects::tile::{
    distribution::Distribution,
    ops::memory::{VECTOR_BYTES, contiguous, known_alignment},
    spaces::shared_of,
    verify::element_bits,
};
use girih_ir::prelude::*;

type V<'c> = Value<'c, 'c>;

/// Bytes that a swizzle moves together.
pub(crate) fn granule_bytes(swizzle: Swizzle) -> Option<u64> {
    match swizzle {
        Swizzle::None => None,
        Swizzle::B128Atom32Flip8 => Some(8),
        _ => Some(16),
    }
}

/// Strides of a contiguous memref, in bytes.
pub(crate) fn byte_strides(t: Type<'_>) -> impl Iterator<Item = i64> {
    let bytes = element_bits(t).unwrap_or(8) as i64 / 8;
    contiguous(&t.shape().unwrap_or_default())
        .into_iter()
        .map(move |s| s.saturating_mul(bytes))
}

/// Bytes, a power of two, that the place of an element of a shared memref is known to be a multiple of.
pub(crate) fn alignment<'c>(memref: V<'c>, indices: &[V<'c>]) -> u64 {
    let known = |(i, stride): (&V<'c>, i64)| 1 << known_multiple(*i).saturating_mul(stride).trailing_zeros().min(30);
    let offsets = indices.iter().zip(byte_strides(memref.r#type())).map(known);
    offsets.fold(known_alignment(memref), u64::min)
}

/// Neighbours along the last axis for which a mask is known to be one.
pub(crate) fn alike(mask: Option<V<'_>>) -> i64 {
    mask.map_or(i64::MAX, |mask| {
        let last = mask.r#type().shape().map_or(0, |s| s.len().saturating_sub(1));
        uniform_run(mask, last)
    })
}

/// Registers of a tile that one access moves: neighbours along the last axis that a swizzle leaves together. `alignment` is
/// what is known of the address of the tile's first element, `alike` of its mask.
pub(crate) fn run(memory: Type<'_>, alignment: u64, alike: i64, d: &Distribution) -> usize {
    let Some(last) = d.shape.len().checked_sub(1) else {
        return 1;
    };
    let bytes = element_bits(memory).unwrap_or(8) as i64 / 8;
    let strides: Vec<i64> = byte_strides(memory).collect();
    let moved = strides.iter().take(last).zip(&d.shape).filter(|(_, size)| **size > 1);
    let aligned = moved.map(|(stride, _)| 1 << stride.trailing_zeros().min(30));
    let most = aligned.fold((VECTOR_BYTES as i64).min(alignment as i64), i64::min);
    let granule = shared_of(memory).and_then(|s| granule_bytes(s.mode()));
    let most = granule.map_or(most, |granule| most.min(granule as i64));
    d.run(last).min((most / bytes.max(1)).min(alike).max(1) as usize)
}
