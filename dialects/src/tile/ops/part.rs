//! Parts of shared memory for tensor copies, wherever they start and whatever shape they have.
use super::{
    super::{
        spaces::SHARED_MEMREF,
        verify::{element_bits, is_contiguous, memref_bytes, on_device},
    },
    tma_rules::Remainder,
};
use girih_ir::{constraint::INDEX, op, prelude::*};

/// Bytes that a tensor copy needs its shared address to be a multiple of.
const ORIGIN_BYTES: i64 = 128;

op! {
    /// The part of a contiguous shared memref from element `first` (index) on, in the order of memory before any swizzle, with
    /// a shape of its own. It starts on a multiple of 128 bytes. Only tensor copies take it: in a swizzled memref it need not
    /// be whole periods, since they permute by absolute address.
    ///
    /// ```mlir
    /// %m = tile.alloc : memref<12x32xf32, #tile.shared<swizzle = 128>>
    /// %first = arith.constant 128 : index
    /// %part = tile.part %m[%first] : memref<12x32xf32, #tile.shared<swizzle = 128>> -> memref<4x32xf32, #tile.shared<swizzle = 128>>
    /// ```
    pub struct Part = "tile.part" {
        operands { source: one(SHARED_MEMREF), first: one(INDEX) }
        results { result: one(SHARED_MEMREF) }
        effects pure
        format "$source `[` $first `]` attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                for t in [from, to] {
                    if !is_contiguous(t) {
                        errors.op(&op, format!("parts are cut out of contiguous memrefs of static sizes and are contiguous, found {t}"));
                    }
                }
                if from.element_type() != to.element_type() || from.memory_space() != to.memory_space() {
                    errors.op(&op, format!("the result {to} must have the element type and the memory space of {from}"));
                    return errors.result();
                }
                let (Some(all), Some(bytes), Some(bits)) = (memref_bytes(from), memref_bytes(to), element_bits(from)) else {
                    return errors.result();
                };
                let element = bits / 8;
                let start = self.first().constant_int();
                let end = |first: i64| u64::try_from(first).ok()?.checked_mul(element)?.checked_add(bytes);
                if let Some(first) = start && end(first).is_none_or(|end| end > all) {
                    errors.op(&op, format!("a part of {bytes} bytes from element {first} on does not lie in {from}, which is {all} bytes"));
                } else if bytes > all {
                    errors.op(&op, format!("a part is {bytes} bytes, but {from} is {all}"));
                }
                let granule = (ORIGIN_BYTES / element as i64).max(1);
                let Remainder { modulus, rest } = Remainder::of(self.first(), granule, 0);
                if rest != 0 {
                    let found = match start {
                        Some(first) => format!("is {first}"),
                        None => format!("is {rest} more than a multiple of {modulus}"),
                    };
                    errors.op(&op, format!("the first element {found}, but tensor copies start on multiples of {ORIGIN_BYTES} bytes, {granule} elements"));
                }
                let copies = |user: &OperationRef<'c, 'c>| user.full_name().starts_with("tile.tma.");
                if let Some(other) = self.result().users().iter().find(|user| !copies(user)) {
                    errors.op(&op, format!("is for tensor copies alone, but '{}' uses it; take a tile.slab", other.full_name()));
                }
                errors.result()
            }
        }
    }
}

impl Part<'_, '_> {
    /// Bytes that the part's address is known to be a multiple of; `source` is what is known of the source's.
    pub(super) fn alignment(&self, source: u64) -> u64 {
        let element = element_bits(self.source().r#type()).map_or(1, |bits| bits / 8);
        let granule = (ORIGIN_BYTES / element as i64).max(1);
        let Remainder { modulus, rest } = Remainder::of(self.first(), granule, 0);
        let known = if rest == 0 { modulus } else { 1 << rest.trailing_zeros() };
        source.min(known.unsigned_abs() * element)
    }
}
