//! The TMA tensor map (PTX ISA 9.4 section 5.5.8) as data, and everything that is known about it without a GPU.
//!
//! | part | what it says |
//! |---|---|
//! | this file | the fields |
//! | `codes` | the CUDA driver's numbers for them, and what each element format holds |
//! | `swizzle` | the permutation of shared memory, as a function of the address |
//! | `validate` | every rule that decides whether the driver encodes a map, all violations at once |
//! | `access` | what the driver does not check: faults and stray writes of a transfer |
//! | `image` | the shared-memory image: pitch, bytes, transaction count |
//! | `walk` | the elements of a copy, in its order |
//! | `plan` | which boxes move a region of a tensor |
//!
//! All lists are innermost dimension first, as in `cuTensorMapEncodeTiled`. The rules are those that an H200 was measured
//! to follow; where NVIDIA's text says otherwise, the measurement wins.
mod access;
mod codes;
mod image;
mod plan;
mod swizzle;
mod validate;
mod violation;
mod walk;

pub use access::{Access, Direction};
pub use codes::Code;
pub use plan::{NoPlan, Plan, PlanAxis, PlanPart, Region, RegionDim, WIDEST};
pub use validate::{Candidate, Caps};
pub use violation::{Rule, Violation};
pub use walk::Start;

use serde::{Deserialize, Serialize};
use std::fmt;

/// Element format of a tensor map, by the CUDA driver's names (`CU_TENSOR_MAP_DATA_TYPE_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "the name of an element format")]
#[allow(missing_docs)]
pub enum Format {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    Bf16,
    F32Ftz,
    Tf32,
    Tf32Ftz,
    B4x16,
    B4x16P64,
    B6x16P32,
}

/// How 16-byte columns are permuted within 128-byte lines of shared memory, by absolute address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "the name of a swizzle")]
#[allow(missing_docs)]
pub enum Swizzle {
    #[default]
    None,
    B32,
    B64,
    B96,
    B128,
    B128Atom32,
    B128Atom32Flip8,
    B128Atom64,
}

/// Interleaved layouts `NC/8HWC8` (16-byte slices) and `NC/16HWC16` (32-byte slices).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "the name of an interleaved layout")]
#[allow(missing_docs)]
pub enum Interleave {
    #[default]
    None,
    B16,
    B32,
}

/// What elements outside the tensor read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "zero or nan")]
pub enum Fill {
    /// Zero.
    #[default]
    Zero,
    /// The special NaN 0x7ff7 in every 16 bits.
    Nan,
}

/// Sector size that a miss promotes to in L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "the name of an L2 promotion")]
#[allow(missing_docs)]
pub enum L2Promotion {
    #[default]
    None,
    B64,
    B128,
    B256,
}

/// Access mode and what only that mode has.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "a mode: tiled, im2col or im2col_wide")]
pub enum Mode {
    /// A box of the tensor.
    Tiled {
        /// Elements of the box in each dimension, 1 to 256.
        box_dims: Vec<u32>,
    },
    /// Columns of convolution windows; rank 3 to 5.
    Im2col {
        /// Lower corner offsets of the pixel box, W first, rank - 2 values.
        lower: Vec<i32>,
        /// Upper corner offsets of the pixel box, W first, rank - 2 values.
        upper: Vec<i32>,
        /// Channels that one pixel brings, 1 to 256.
        channels_per_pixel: u32,
        /// Pixels that one transfer brings, 1 to 1024.
        pixels_per_column: u32,
    },
    /// Columns of convolution windows along W alone (`im2col::w`, `im2col::w::128`); rank 3 to 5, sm_100 and later.
    Im2colWide {
        /// Lower corner offset of the window in W.
        lower: i32,
        /// Upper corner offset of the window in W.
        upper: i32,
        /// Channels that one pixel brings, 1 to 256.
        channels_per_pixel: u32,
        /// How many pixels one transfer brings, and which loads take the map.
        pixels: WidePixels,
    },
}

/// In words, outermost dimension first: `a box of 16x4`.
impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::Tiled { box_dims } => {
                let sizes: Vec<_> = box_dims.iter().rev().map(u32::to_string).collect();
                write!(f, "a box of {}", sizes.join("x"))
            }
            Mode::Im2col {
                lower,
                upper,
                channels_per_pixel,
                pixels_per_column,
            } => {
                let outermost_first = |corner: &[i32]| corner.iter().rev().copied().collect::<Vec<_>>();
                write!(
                    f,
                    "im2col of {pixels_per_column}x{channels_per_pixel} from {:?} to {:?}",
                    outermost_first(lower),
                    outermost_first(upper)
                )
            }
            Mode::Im2colWide {
                lower,
                upper,
                channels_per_pixel,
                pixels,
            } => write!(
                f,
                "{} of {}x{channels_per_pixel} from {lower} to {upper}",
                match pixels {
                    WidePixels::W(_) => "im2col_w",
                    WidePixels::W128 => "im2col_w_128",
                },
                pixels.count()
            ),
        }
    }
}

/// Pixels of one transfer along W, without its halos, which the instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "a number of pixels: w or w128")]
pub enum WidePixels {
    /// `im2col::w`: so many pixels, 1 to 1024.
    W(u32),
    /// `im2col::w::128`: always 128 pixels.
    W128,
}

impl WidePixels {
    /// The number of pixels.
    pub const fn count(self) -> u32 {
        match self {
            WidePixels::W(pixels) => pixels,
            WidePixels::W128 => 128,
        }
    }
}

/// Everything that one 128-byte descriptor holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TensorMap {
    /// Element format.
    pub format: Format,
    /// Global address of the first element.
    pub address: u64,
    /// Elements in each dimension; the rank is its length.
    pub dims: Vec<u64>,
    /// Byte distance between neighbours in dimensions 1 and up: rank - 1 values.
    pub strides: Vec<u64>,
    /// Tiled or im2col.
    pub mode: Mode,
    /// Traversal strides, 1 to 8, one for each dimension.
    pub element_strides: Vec<u32>,
    /// Interleaved layout.
    pub interleave: Interleave,
    /// Swizzle of the shared-memory image.
    pub swizzle: Swizzle,
    /// Out-of-bounds fill.
    pub fill: Fill,
    /// L2 promotion.
    pub l2_promotion: L2Promotion,
}
