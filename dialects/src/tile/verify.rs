//! Checks that several ops share.
use girih_ir::{ext::DYNAMIC, prelude::*};

/// A static shape, or an error at the op.
pub fn static_shape<'c: 'a, 'a>(op: OperationRef<'c, 'a>, what: &str, t: Type<'c>) -> Res<Vec<i64>> {
    match t.shape() {
        Some(s) if !s.contains(&DYNAMIC) => Ok(s),
        _ => Diag::op(&op, format!("{what} must have static sizes, but is {t}")).report(),
    }
}

/// One index for each dimension.
pub fn index_count(op: OperationRef<'_, '_>, errors: &mut Errors, what: &str, rank: usize, found: usize) {
    if rank != found {
        errors.op(
            &op,
            format!("{what} has {rank} dimensions, but {found} indices are given"),
        );
    }
}

/// Bits that an element takes in memory; an mbarrier takes 64.
pub fn element_bits(t: Type<'_>) -> Option<u64> {
    let element = t.element_type()?;
    if super::types::MBarrierType::of(element).is_some() {
        return Some(64);
    }
    element.bit_width().map(|b| u64::from(b).max(8))
}

/// Bytes of a statically shaped memref.
pub fn memref_bytes(t: Type<'_>) -> Option<u64> {
    let shape = t.shape()?;
    if shape.contains(&DYNAMIC) {
        return None;
    }
    shape
        .iter()
        .try_fold(element_bits(t)? / 8, |n, d| n.checked_mul(u64::try_from(*d).ok()?))
}
