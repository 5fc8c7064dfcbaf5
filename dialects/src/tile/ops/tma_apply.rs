//! Tensor copies by opcode, box, coordinates and steps: one op for as many instructions as the shared memory has atoms.
//! Its rules are in [`super::tma_apply_rules`]; `tile-expand-tma` turns it into ops that are one instruction each.
use super::{super::types::*, tma_apply_rules as rules};
use crate::tile::{
    marks::STORES_MAPPED,
    spaces::{is_global, shared_of},
    types::MBARRIERS,
};
use girih_core::target::CopyOpcode;
use girih_ir::{
    asm::{Delimiter, Parser, Printer},
    attr_enum,
    constraint::{Constraint, I16, I32, I64 as POLICY, INDEX},
    kind::{I64s, Kind, Str},
    melior::ir::attribute::ArrayAttribute,
    mlir_sys::*,
    op,
    prelude::*,
};

/// An opcode of PTX's tensor copies, in quotes; `.tile` may be left out.
pub struct Opcode;

impl Kind for Opcode {
    type Value<'c> = CopyOpcode;
    const WHAT: &'static str = "the opcode of a tensor copy, as PTX spells it";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<CopyOpcode> {
        Str::from_attribute(a).and_then(|text| CopyOpcode::parse(&text).ok())
    }
    fn to_attribute<'c>(v: &CopyOpcode, context: &'c Context) -> Attribute<'c> {
        Str::to_attribute(&v.to_string(), context)
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<CopyOpcode> {
        let at = p.loc();
        let text = p.string()?;
        match CopyOpcode::parse(&text) {
            Ok(opcode) => Ok(opcode),
            Err(e) => p.error(at, e.to_string()).report(),
        }
    }
    fn print(v: &CopyOpcode, p: &Printer) {
        p.string(&v.to_string());
    }
}

/// Vectors of equal length, one for each leading axis of the shared memory: `[[8, 0], [0, 16]]`.
pub struct Steps;

impl Kind for Steps {
    type Value<'c> = Vec<Vec<i64>>;
    const WHAT: &'static str = "a list of lists of integers, such as [[8, 0]]";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<Vec<Vec<i64>>> {
        // SAFETY: the accessors follow the test of their kind, and indices are below the number of elements.
        unsafe {
            if !mlirAttributeIsAArray(a.to_raw()) {
                return None;
            }
            (0..mlirArrayAttrGetNumElements(a.to_raw()))
                .map(|i| I64s::from_attribute(Attribute::from_raw(mlirArrayAttrGetElement(a.to_raw(), i))))
                .collect()
        }
    }
    fn to_attribute<'c>(v: &Vec<Vec<i64>>, context: &'c Context) -> Attribute<'c> {
        let rows: Vec<_> = v.iter().map(|row| I64s::to_attribute(row, context)).collect();
        ArrayAttribute::new(context, &rows).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<Vec<Vec<i64>>> {
        p.list(Delimiter::Square, || I64s::parse(p))
    }
    fn print(v: &Vec<Vec<i64>>, p: &Printer) {
        p.text("[");
        for (i, row) in v.iter().enumerate() {
            if i > 0 {
                p.text(", ");
            }
            I64s::print(row, p);
        }
        p.text("]");
    }
}

attr_enum! {
    /// Storage formats that the memref's element type does not say.
    pub enum CopyFormat("a storage format") {
        /// f32 whose denormals reductions flush.
        F32Ftz = "f32_ftz",
        /// f32 that loads round to tf32.
        Tf32 = "tf32",
        /// The same, flushing denormals.
        Tf32Ftz = "tf32_ftz",
        /// Unsigned integers.
        Unsigned = "unsigned",
        /// 4-bit elements, packed in memrefs of i8.
        B4x16 = "b4x16",
        /// The same, of which loads spread each 16 over 16 bytes.
        B4x16P64 = "b4x16_p64",
        /// 6-bit elements, packed in global memrefs of i8.
        B6x16P32 = "b6x16_p32",
    }
}

/// A side of a tensor copy.
pub const PLACE: Constraint = Constraint::new("a memref in #tile.shared or #tile.global, or a tensor map", |t| {
    shared_of(t).is_some() || is_global(t) || TensorMapType::of(t).is_some()
});

op! {
    /// Issues one tensor copy for each atom of a shared memref: `cp.async.bulk.tensor` and its relatives, by their opcode. It
    /// elects no thread, waits for nothing and fences nothing; the launcher encodes the tensor map once, whatever the number
    /// of instructions.
    ///
    /// The shared memref is leading axes, then one atom: the image of the box, `ceil(box / element stride)` in each dimension.
    /// One instruction is issued for each position of the leading axes, the last of them fastest. Its coordinates are
    /// `coords` plus, for each axis, the position times the axis' vector of `steps`.
    ///
    /// | clause | meaning |
    /// |---|---|
    /// | opcode | direction, rank, mode, multicast, cache hint and operator; `.tile` where it names no mode |
    /// | operands | destination, then source: shared, global in loads; global, shared in stores and reductions; global alone in prefetches |
    /// | `box` | elements of a box, outermost first, 1 to 256 each; pixels x channels in the modes im2col |
    /// | `coords` | index; where the first box starts, in elements of the tensor, outermost first |
    /// | `steps` | elements that each leading axis moves the box by; needed where there are leading axes |
    /// | `repeat` | sizes of the leading axes of a prefetch, which has no shared side |
    /// | `gather4` | four rows (index) in the modes tile::gather4 and tile::scatter4, counted from the first of `coords` |
    /// | `offsets` | i16; im2col's offsets, as in `tile.tma.load` |
    /// | `mbar` | mbarrier of a load; the bytes of all boxes are counted on it |
    /// | `cta_mask` | i16; blocks of the cluster that get the boxes, with `.multicast::cluster` |
    /// | `cta_mask_32b` | i32; the same with `.multicast::cluster::32b` |
    /// | `cache_policy` | i64, such as `tile.create_policy` makes, with `.L2::cache_hint` |
    /// | `overwrite` | a store may write up to 15 bytes past the end of each row |
    ///
    /// The global side is a memref of the tensor, or a tensor map, which is taken as it is. Clauses about the map belong to a
    /// memref:
    ///
    /// | clause | default |
    /// |---|---|
    /// | `format` | that of the element type |
    /// | `element_strides` | 1 to 8 for each dimension, outermost first: all 1. Innermost 1 without interleave |
    /// | `interleave` | none. 16 or 32: the memref is N, slices of channels, spatial dimensions, bytes of a slice |
    /// | `l2_promotion` | none |
    /// | `oob_fill` | zero |
    ///
    /// The swizzle is that of the shared memref. Rows narrower than the swizzle lie at its span, so that an atom's innermost
    /// dimension is the span then. Slices of channels are packed: where they are narrower than the swizzle, an atom is lines
    /// of its span.
    ///
    /// Two boxes of 8 x 16, 512 bytes each, in one phase of a barrier:
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<16x16xi32, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %shared = tile.alloc : memref<2x8x16xi32, #tile.shared>
    ///   %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    ///   tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %shared, %A box [8, 16] coords[%c0, %c0] steps [[8, 0]] mbar %bar[] : memref<2x8x16xi32, #tile.shared>, memref<16x16xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
    /// }
    /// ```
    ///
    /// Four rows, and three slices of channels:
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<64x32xi32, #tile.global>, %X: memref<2x3x9x16xi16, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %c3 = arith.constant 3 : index
    ///   %rows = tile.alloc : memref<4x32xi32, #tile.shared>
    ///   %slices = tile.alloc : memref<3x1x1x8x16xi16, #tile.shared<swizzle = 32>>
    ///   %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    ///   tile.tma.apply "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes" %rows, %A box [1, 32] coords[%c0, %c0] gather4(%c0, %c3, %c0, %c3) mbar %bar[] : memref<4x32xi32, #tile.shared>, memref<64x32xi32, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
    ///   tile.tma.apply "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes" %slices, %X box [1, 1, 8] coords[%c0, %c0, %c0] steps [[0, 1, 0]] mbar %bar[] interleave 32 : memref<3x1x1x8x16xi16, #tile.shared<swizzle = 32>>, memref<2x3x9x16xi16, #tile.global> mbar memref<!tile.mbarrier, #tile.shared>
    /// }
    /// ```
    pub struct Apply = "tile.tma.apply" {
        operands {
            places: variadic(PLACE), coords: variadic(INDEX), rows: variadic(INDEX), offsets: variadic(I16),
            barrier: optional(MBARRIERS), barrier_indices: variadic(INDEX),
            mask: optional(I16), mask_32b: optional(I32), policy: optional(POLICY),
        }
        attributes {
            opcode: required(Opcode),
            box_dims: required(I64s),
            steps: optional(Steps),
            repeat: optional(I64s),
            format: optional(CopyFormat),
            element_strides: optional(I64s),
            interleave: optional(Interleave),
            l2_promotion: optional(L2Promotion),
            oob_fill: optional(Fill),
            overwrite: unit,
        }
        effects [read, write]
        marks [STORES_MAPPED]
        format "$opcode $places `box` $box_dims `coords` `[` $coords `]` (`steps` $steps^)? (`repeat` $repeat^)? (`gather4` `(` $rows^ `)`)? (`offsets` `(` $offsets^ `)`)? (`mbar` $barrier^ `[` $barrier_indices `]`)? (`cta_mask` $mask^)? (`cta_mask_32b` $mask_32b^)? (`cache_policy` $policy^)? (`format` $format^)? (`element_strides` $element_strides^)? (`interleave` $interleave^)? (`l2_promotion` $l2_promotion^)? (`oob_fill` $oob_fill^)? (`overwrite` $overwrite^)? attr-dict `:` type($places) (`mbar` type($barrier)^)?"
        hooks { fn verify(self) -> Res { rules::verify(self) } }
    }
}
