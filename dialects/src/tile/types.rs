//! Types that upstream lacks: tensor maps, mbarriers, and values that the tensor cores are still writing.
use super::{
    layouts::{Fragment, layout_of},
    spaces::{Atom, Swizzle, atom_error, shared_of, swizzle_mode},
};
use girih_core::tensor_map::{self as core, Candidate, Code, Mode};
use girih_ir::{
    attr_enum,
    constraint::Constraint,
    kind::{AnyType, I64s, Shaped},
    param_type,
    prelude::*,
};

attr_enum! {
    /// Slices of an interleaved tensor.
    pub enum Interleave("an interleave") {
        /// Not interleaved.
        None = "none",
        /// NC/8HWC8: 16-byte slices.
        B16 = "16",
        /// NC/16HWC16: 32-byte slices.
        B32 = "32",
    }
}
attr_enum! {
    /// What elements outside the tensor read as.
    pub enum Fill("a fill") {
        /// Zero.
        Zero = "zero",
        /// A special NaN.
        Nan = "nan",
    }
}
attr_enum! {
    /// Sector size that a miss promotes to in L2.
    pub enum L2Promotion("an L2 promotion") {
        /// None.
        None = "none",
        /// 64 bytes.
        B64 = "64",
        /// 128 bytes.
        B128 = "128",
        /// 256 bytes.
        B256 = "256",
    }
}
attr_enum! {
    /// Formats that no element type spells.
    pub enum FormatOverride("a tensor map format") {
        /// The element type's own.
        Natural = "natural",
        /// f32 whose denormals reductions flush.
        F32Ftz = "f32_ftz",
        /// f32 rounded to tf32 by loads.
        Tf32 = "tf32",
        /// The same, flushing denormals.
        Tf32Ftz = "tf32_ftz",
        /// Unsigned integers.
        Unsigned = "unsigned",
    }
}

param_type! {
    /// A tensor map (PTX ISA 9.4 section 5.5.8): how copies cut boxes out of a tensor in global memory.
    ///
    /// `!tile.tensor_map<128x64xbf16, swizzle = 128>` moves boxes of 128 rows of 64 elements. Box and element strides are
    /// outermost dimension first, as in memrefs; PTX lists them the other way round.
    ///
    /// ```mlir
    /// !tile.tensor_map<128x64xbf16, swizzle = 128>
    /// !tile.tensor_map<8x64x64xf16, swizzle = 128, atom = 32, fill = nan, l2 = 256>
    /// !tile.tensor_map<4x16x32xf32, element_strides = [2, 1, 1], format = tf32>
    /// !tile.tensor_map<2x8x16x16xi8, interleave = 16>
    /// ```
    pub struct TensorMapType = "tile"."tensor_map" {
        params {
            /// Box and element type.
            tile: required(Shaped),
            swizzle: default(Swizzle, Swizzle::None),
            atom: default(Atom, Atom::B16),
            interleave: default(Interleave, Interleave::None),
            /// Traversal strides, outermost first; empty: all 1.
            element_strides: default(I64s, vec![]),
            fill: default(Fill, Fill::Zero),
            l2: default(L2Promotion, L2Promotion::None),
            format: default(FormatOverride, FormatOverride::Natural),
        }
        hooks {
            fn verify(&self, e: &Emitter) -> Res {
                let mut errors = Errors::default();
                if swizzle_mode(self.swizzle(), self.atom()).is_none() {
                    return e.error(atom_error(self.swizzle(), self.atom())).report();
                }
                let (shape, element) = self.tile();
                if shape.iter().any(|d| *d < 0) {
                    return e.error("the box of a tensor map has static sizes, found `?`").report();
                }
                if self.core_format().is_none() {
                    let m = format!("a tensor map cannot hold {element} with format = {}; it holds i8, i16, i32, i64, f16, bf16, f32, f64, and 8-bit floats as bytes", self.format());
                    return e.error(m).report();
                }
                for v in self.candidate(None).violations(&core::Caps::SM_103) {
                    errors.merge(e.error(v.to_string()).report::<()>());
                }
                errors.result()
            }
        }
    }
}

/// Sizes and byte strides of a tensor in global memory, innermost first, as far as they are known.
pub type KnownMemory = (Vec<Option<u64>>, Vec<Option<u64>>);

impl TensorMapType<'_> {
    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.tile().0.len()
    }
    /// The element format; `None` where a tensor map has none for the element type.
    pub fn core_format(&self) -> Option<core::Format> {
        use core::Format as F;
        let text = self.tile().1.to_string();
        Some(match (text.as_str(), self.format()) {
            ("f32", FormatOverride::F32Ftz) => F::F32Ftz,
            ("f32" | "tf32", FormatOverride::Tf32) => F::Tf32,
            ("f32" | "tf32", FormatOverride::Tf32Ftz) => F::Tf32Ftz,
            ("i32", FormatOverride::Unsigned) => F::U32,
            ("i64", FormatOverride::Unsigned) => F::U64,
            (_, FormatOverride::F32Ftz | FormatOverride::Tf32 | FormatOverride::Tf32Ftz) => return None,
            ("i8" | "f8E4M3FN" | "f8E5M2", _) => F::U8,
            ("i16", _) => F::U16,
            ("i32", _) => F::S32,
            ("i64", _) => F::S64,
            ("f16", FormatOverride::Natural) => F::F16,
            ("bf16", FormatOverride::Natural) => F::Bf16,
            ("f32", FormatOverride::Natural) => F::F32,
            ("tf32", FormatOverride::Natural) => F::Tf32,
            ("f64", FormatOverride::Natural) => F::F64,
            _ => return None,
        })
    }
    /// Box, innermost dimension first.
    pub fn box_dims(&self) -> Vec<u32> {
        self.tile()
            .0
            .iter()
            .rev()
            .map(|d| u32::try_from(*d).unwrap_or(u32::MAX))
            .collect()
    }
    /// Traversal strides, innermost dimension first, one for each dimension.
    pub fn traversal(&self) -> Vec<u32> {
        let given = self.element_strides();
        if given.is_empty() {
            return vec![1; self.rank()];
        }
        given
            .iter()
            .rev()
            .map(|d| u32::try_from(*d).unwrap_or(u32::MAX))
            .collect()
    }
    /// The permutation of the shared image.
    pub fn mode(&self) -> core::Swizzle {
        swizzle_mode(self.swizzle(), self.atom()).unwrap_or(core::Swizzle::None)
    }
    /// Interleave, as the core crate has it.
    pub fn core_interleave(&self) -> core::Interleave {
        match self.interleave() {
            Interleave::None => core::Interleave::None,
            Interleave::B16 => core::Interleave::B16,
            Interleave::B32 => core::Interleave::B32,
        }
    }
    /// Fill, as the core crate has it.
    pub fn core_fill(&self) -> core::Fill {
        match self.fill() {
            Fill::Zero => core::Fill::Zero,
            Fill::Nan => core::Fill::Nan,
        }
    }
    /// L2 promotion, as the core crate has it.
    pub fn core_l2(&self) -> core::L2Promotion {
        match self.l2() {
            L2Promotion::None => core::L2Promotion::None,
            L2Promotion::B64 => core::L2Promotion::B64,
            L2Promotion::B128 => core::L2Promotion::B128,
            L2Promotion::B256 => core::L2Promotion::B256,
        }
    }
    /// What is known of the map at compile time. Without `memory`, nothing of the tensor.
    pub fn candidate(&self, memory: Option<KnownMemory>) -> Candidate {
        let rank = self.rank();
        let (dims, strides) = memory.unwrap_or_else(|| (vec![None; rank], vec![None; rank.saturating_sub(1)]));
        Candidate {
            format: Code::Known(self.core_format().unwrap_or(core::Format::U8)),
            address: None,
            dims,
            strides,
            mode: Mode::Tiled {
                box_dims: self.box_dims(),
            },
            element_strides: self.traversal(),
            interleave: Code::Known(self.core_interleave()),
            swizzle: Code::Known(self.mode()),
            fill: Code::Known(self.core_fill()),
            l2_promotion: Code::Known(self.core_l2()),
        }
    }
    /// A map with plausible run-time fields, for questions about its shared image.
    pub fn image(&self) -> core::TensorMap {
        core::TensorMap {
            format: self.core_format().unwrap_or(core::Format::U8),
            address: 0,
            dims: vec![1 << 20; self.rank()],
            strides: vec![1 << 20; self.rank().saturating_sub(1)],
            mode: Mode::Tiled {
                box_dims: self.box_dims(),
            },
            element_strides: self.traversal(),
            interleave: self.core_interleave(),
            swizzle: self.mode(),
            fill: self.core_fill(),
            l2_promotion: self.core_l2(),
        }
    }
}

param_type! {
    /// A barrier object in shared memory (PTX ISA, mbarrier): 8 bytes that count arrivals and bytes.
    ///
    /// ```mlir
    /// memref<4x!tile.mbarrier, #tile.shared>
    /// ```
    pub struct MBarrierType = "tile"."mbarrier" {
        options [memref_element, layout]
        hooks {
            fn layout(&self) -> (u64, u64) { (64, 8) }
        }
    }
}

param_type! {
    /// An accumulator that the tensor cores are still writing. Nothing but wgmma takes it; `tile.wgmma.wait` gives the tensor.
    ///
    /// ```mlir
    /// !tile.in_flight<tensor<64x256xf32, #tile.layout<wgmma_d>>>
    /// ```
    pub struct InFlightType = "tile"."in_flight" {
        params { tensor: required(AnyType) }
        hooks {
            fn verify(&self, e: &Emitter) -> Res {
                if layout_of(self.tensor()).is_none_or(|l| l.fragment() != Fragment::WgmmaD) {
                    let m = format!("expected a tensor with #tile.layout<wgmma_d>, found {}", self.tensor());
                    return e.error(m).report();
                }
                Ok(())
            }
        }
    }
}

/// A tensor map.
pub const TENSOR_MAP: Constraint = Constraint::new("a !tile.tensor_map", |t| TensorMapType::of(t).is_some());
/// A memref of mbarriers in shared memory.
pub const MBARRIERS: Constraint = Constraint::new("a memref of !tile.mbarrier in #tile.shared", |t| {
    shared_of(t).is_some() && t.element_type().is_some_and(|e| MBarrierType::of(e).is_some())
});
/// An accumulator, in flight or not.
pub const ACCUMULATOR: Constraint = Constraint::new("a laid-out tensor or a !tile.in_flight of one", |t| {
    layout_of(t).is_some() || InFlightType::of(t).is_some()
});
/// An accumulator in flight.
pub const IN_FLIGHT: Constraint = Constraint::new("a !tile.in_flight", |t| InFlightType::of(t).is_some());

/// The tensor that an accumulator type holds, in flight or not.
pub fn accumulator_tensor<'c>(t: Type<'c>) -> Option<Type<'c>> {
    InFlightType::of(t)
        .map(|f| f.tensor())
        .or_else(|| layout_of(t).map(|_| t))
}
