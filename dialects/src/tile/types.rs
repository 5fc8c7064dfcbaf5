//! Types that upstream lacks: tensor maps, mbarriers, and values that the tensor cores are still writing.
use super::{
    layouts::{Fragment, layout_of},
    spaces::{Atom, Swizzle, atom_error, is_shared_cluster, shared_of, swizzle_mode},
};
use girih_core::tensor_map::{self as core, Candidate, Code, Mode};
use girih_ir::{
    attr_enum,
    constraint::Constraint,
    ext::DYNAMIC,
    kind::{AnyType, I64, I64s, Shaped},
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
        /// 4-bit elements of which loads spread each 16 over 16 bytes; the other 8 bytes are undefined.
        B4x16P64 = "b4x16_p64",
    }
}
attr_enum! {
    /// How copies walk the tensor.
    pub enum MapMode("a tensor map mode") {
        /// A box of the tensor.
        Tile = "tile",
        /// Columns of convolution windows.
        Im2col = "im2col",
        /// Columns along W alone.
        Im2colW = "im2col_w",
        /// Columns of 128 pixels along W alone.
        Im2colW128 = "im2col_w_128",
    }
}

param_type! {
    /// A tensor map (PTX ISA 9.4 section 5.5.8): how copies cut boxes out of a tensor in global memory.
    ///
    /// `!tile.tensor_map<128x64xbf16, swizzle = 128>` moves boxes of 128 rows of 64 elements. Box and element strides are
    /// outermost dimension first, as in memrefs; PTX lists them the other way round.
    ///
    /// In the modes im2col, `64x32xbf16` is pixels of a column and channels of a pixel. The window has a `lower` and an
    /// `upper` corner for each spatial dimension (D, H, W); the modes along W have one of each and say their `rank`.
    ///
    /// Elements of 4 and 6 bits are packed in global memory: the memref holds bytes.
    ///
    /// ```mlir
    /// !tile.tensor_map<128x64xbf16, swizzle = 128>
    /// !tile.tensor_map<8x64x64xf16, swizzle = 128, atom = 32, fill = nan, l2 = 256>
    /// !tile.tensor_map<4x16x32xf32, element_strides = [2, 1, 1], format = tf32>
    /// !tile.tensor_map<2x8x16x16xi8, interleave = 16>
    /// !tile.tensor_map<64x32xbf16, swizzle = 64, mode = im2col, lower = [-1, -1], upper = [-1, -1]>
    /// !tile.tensor_map<64x32xbf16, swizzle = 64, mode = im2col_w, rank = 4, lower = [-1], upper = [1]>
    /// !tile.tensor_map<16x128xf4E2M1FN, swizzle = 128, format = b4x16_p64>
    /// !tile.tensor_map<16x128xf6E2M3FN>
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
            mode: default(MapMode, MapMode::Tile),
            /// Dimensions of the tensor, in the modes along W; 0: as the box or the corners say.
            rank: default(I64, 0),
            /// Lower corner of the window, outermost first.
            lower: default(I64s, vec![]),
            /// Upper corner of the window, outermost first.
            upper: default(I64s, vec![]),
        }
        hooks {
            fn verify(&self, e: &Emitter) -> Res {
                if self.swizzle() == Swizzle::Auto {
                    return e.error("swizzle = auto is for buffers in shared memory; a tensor map says which one it has").report();
                }
                if swizzle_mode(self.swizzle(), self.atom()).is_none() {
                    return e.error(atom_error(self.swizzle(), self.atom())).report();
                }
                let (shape, element) = self.tile();
                if shape.contains(&DYNAMIC) {
                    return e.error("the box of a tensor map has static sizes, found `?`").report();
                }
                if let Some(m) = self.range_error() {
                    return e.error(m).report();
                }
                if self.core_format().is_none() {
                    if let FormatOverride::F32Ftz | FormatOverride::Tf32 | FormatOverride::Tf32Ftz = self.format() {
                        let m = format!("a tensor map cannot hold {element} with format = {}; that format wants elements of f32", self.format());
                        return e.error(m).report();
                    }
                    let m = format!("a tensor map cannot hold {element} with format = {}; it holds i8, i16, i32, i64, f16, bf16, f32, f64, 8-bit floats as bytes, and i4, f4E2M1FN, f6E2M3FN, f6E3M2FN", self.format());
                    return e.error(m).report();
                }
                if let Some(m) = self.mode_error() {
                    return e.error(m).report();
                }
                // What the driver refuses is said where a map is made, with what the tensor in memory adds.
                Ok(())
            }
        }
    }
}

/// The map of an operand, unless it breaks rules of its own, which have been reported where it is made: then others mean nothing.
pub fn sound_map<'c>(map: Value<'c, '_>) -> Option<TensorMapType<'c>> {
    TensorMapType::of(map.r#type()).filter(|map| map.violations().is_empty())
}

/// Sizes and byte strides of a tensor in global memory, innermost first, as far as they are known.
pub type KnownMemory = (Vec<Option<u64>>, Vec<Option<u64>>);

impl TensorMapType<'_> {
    /// The driver's rules that the map breaks by itself, whatever the tensor and the target.
    pub fn violations(&self) -> Vec<core::Violation> {
        self.candidate(None).violations(&core::Caps::SM_103)
    }
    /// Number of dimensions of the tensor.
    pub fn dimensions(&self) -> usize {
        match self.mode() {
            MapMode::Tile => self.tile().0.len(),
            MapMode::Im2col => self.lower().len() + 2,
            MapMode::Im2colW | MapMode::Im2colW128 => usize::try_from(self.rank()).unwrap_or(0),
        }
    }
    /// The first number that no tensor map has room for, so that no rule can be told of it.
    fn range_error(&self) -> Option<String> {
        let (natural, whole) = (i64::from(u32::MAX), i64::from(i32::MIN)..=i64::from(i32::MAX));
        let (mode, (shape, _)) = (self.mode(), self.tile());
        let field = |i: usize| match (mode, i) {
            (MapMode::Tile, _) => format!("box[{i}]"),
            (_, 0) => "channels_per_pixel".to_owned(),
            _ => "pixels_per_column".to_owned(),
        };
        let most = |i: usize| if mode != MapMode::Tile && i == 1 { 1024 } else { 256 };
        if let Some((i, size)) = shape.iter().rev().enumerate().find(|(_, d)| !(0..natural).contains(*d)) {
            return Some(format!("{} = {size}, but 1 to {} is allowed", field(i), most(i)));
        }
        let strides = self.element_strides();
        if let Some((i, step)) = strides
            .iter()
            .rev()
            .enumerate()
            .find(|(_, s)| !(0..natural).contains(*s))
        {
            return Some(format!("element_strides[{i}] = {step}, but 1 to 8 is allowed"));
        }
        for (name, corner) in [("lower", self.lower()), ("upper", self.upper())] {
            if let Some((k, at)) = corner.iter().rev().enumerate().find(|(_, v)| !whole.contains(*v)) {
                return Some(format!(
                    "{name}[{k}] = {at}, but a corner lies between -2^15 and 2^15 - 1"
                ));
            }
        }
        None
    }
    /// Why mode, rank, corners and box do not go together.
    fn mode_error(&self) -> Option<String> {
        let (mode, (shape, _)) = (self.mode(), self.tile());
        let (lower, upper) = (self.lower(), self.upper());
        if mode == MapMode::Tile {
            let stray = !lower.is_empty() || !upper.is_empty() || self.rank() != 0;
            return stray.then(|| "rank, lower and upper belong to the modes im2col; mode tile has none".to_owned());
        }
        let [_, channels] = shape[..] else {
            return Some(format!(
                "mode {mode} moves pixels x channels, such as 64x32xbf16, but the box has {} dimensions",
                shape.len()
            ));
        };
        if mode == MapMode::Im2colW128 && shape[0] != 128 {
            return Some(format!(
                "mode {mode} moves 128 pixels, but the box has {}; write 128x{channels}",
                shape[0]
            ));
        }
        let corners = match mode {
            MapMode::Im2col if !(1..=3).contains(&lower.len()) => {
                return Some(format!(
                    "lower has {} values, but mode im2col has one for each spatial dimension: 1 to 3",
                    lower.len()
                ));
            }
            MapMode::Im2col if self.rank() != 0 => {
                return Some("rank belongs to the modes along W; the corners say that of mode im2col".to_owned());
            }
            MapMode::Im2col => lower.len(),
            _ => 1,
        };
        if lower.len() != corners || upper.len() != corners {
            return Some(format!(
                "lower has {} values and upper {}, but mode {mode} needs {corners} of each here",
                lower.len(),
                upper.len()
            ));
        }
        if mode != MapMode::Im2col && !(3..=5).contains(&self.rank()) {
            return Some(match self.rank() {
                0 => format!("rank is missing; mode {mode} says the rank of its tensor, such as rank = 4: 3 to 5"),
                rank => format!("rank = {rank}, but mode {mode} needs 3 to 5"),
            });
        }
        None
    }
    /// What the core crate calls box, pixels and corners.
    pub fn core_mode(&self) -> Mode {
        let int = |v: i64| v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        let corner = |v: Vec<i64>| -> Vec<i32> { v.into_iter().rev().map(int).collect() };
        let sizes = self.box_dims();
        let size = |i: usize| sizes.get(i).copied().unwrap_or(0);
        let wide = |pixels| Mode::Im2colWide {
            lower: self.lower().first().map_or(0, |v| int(*v)),
            upper: self.upper().first().map_or(0, |v| int(*v)),
            channels_per_pixel: size(0),
            pixels,
        };
        match self.mode() {
            MapMode::Tile => Mode::Tiled { box_dims: sizes },
            MapMode::Im2col => Mode::Im2col {
                lower: corner(self.lower()),
                upper: corner(self.upper()),
                channels_per_pixel: size(0),
                pixels_per_column: size(1),
            },
            MapMode::Im2colW => wide(core::WidePixels::W(size(1))),
            MapMode::Im2colW128 => wide(core::WidePixels::W128),
        }
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
            ("i8" | "f8E4M3FN" | "f8E5M2", FormatOverride::Natural | FormatOverride::Unsigned) => F::U8,
            ("i16", FormatOverride::Natural | FormatOverride::Unsigned) => F::U16,
            ("i32", FormatOverride::Natural) => F::S32,
            ("i64", FormatOverride::Natural) => F::S64,
            ("f16", FormatOverride::Natural) => F::F16,
            ("bf16", FormatOverride::Natural) => F::Bf16,
            ("f32", FormatOverride::Natural) => F::F32,
            ("tf32", FormatOverride::Natural) => F::Tf32,
            ("f64", FormatOverride::Natural) => F::F64,
            ("i4" | "f4E2M1FN", FormatOverride::Natural) => F::B4x16,
            ("i4" | "f4E2M1FN", FormatOverride::B4x16P64) => F::B4x16P64,
            ("f6E2M3FN" | "f6E3M2FN", FormatOverride::Natural) => F::B6x16P32,
            _ => return None,
        })
    }
    /// Box (pixels and channels in the modes im2col), innermost dimension first.
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
            return vec![1; self.dimensions()];
        }
        given
            .iter()
            .rev()
            .map(|d| u32::try_from(*d).unwrap_or(u32::MAX))
            .collect()
    }
    /// The permutation of the shared image.
    pub fn permutation(&self) -> core::Swizzle {
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
        let rank = self.dimensions();
        let (dims, strides) = memory.unwrap_or_else(|| (vec![None; rank], vec![None; rank.saturating_sub(1)]));
        Candidate {
            format: Code::Known(self.core_format().unwrap_or(core::Format::U8)),
            address: None,
            dims,
            strides,
            mode: self.core_mode(),
            element_strides: self.traversal(),
            interleave: Code::Known(self.core_interleave()),
            swizzle: Code::Known(self.permutation()),
            fill: Code::Known(self.core_fill()),
            l2_promotion: Code::Known(self.core_l2()),
        }
    }
    /// A map with plausible run-time fields, for questions about its shared image.
    pub fn image(&self) -> core::TensorMap {
        core::TensorMap {
            format: self.core_format().unwrap_or(core::Format::U8),
            address: 0,
            dims: vec![1 << 20; self.dimensions()],
            strides: vec![1 << 20; self.dimensions().saturating_sub(1)],
            mode: self.core_mode(),
            element_strides: self.traversal(),
            interleave: self.core_interleave(),
            swizzle: self.permutation(),
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
/// Mbarriers of this block or of another.
pub const ANY_MBARRIERS: Constraint = Constraint::new(
    "a memref of !tile.mbarrier in #tile.shared or #tile.shared_cluster",
    |t| {
        let shared = shared_of(t).is_some() || is_shared_cluster(t);
        shared && t.element_type().is_some_and(|e| MBarrierType::of(e).is_some())
    },
);
/// Mbarriers of another block of the cluster.
pub const REMOTE_MBARRIERS: Constraint = Constraint::new("a memref of !tile.mbarrier in #tile.shared_cluster", |t| {
    is_shared_cluster(t) && t.element_type().is_some_and(|e| MBarrierType::of(e).is_some())
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
