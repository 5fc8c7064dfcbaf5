//! Layouts as linear maps over F2: who owns which element, and where it lies.
//!
//! # The idea
//!
//! A tile of 2^n elements spread over registers, lanes and warps is a function from the bits of (register, lane, warp) to
//! the bits of the element's coordinates. Every layout that hardware uses is *linear over F2*: the image of a number is
//! the exclusive or of the images of its bits. So a layout is a short list, one image for each input bit, and questions
//! about it are linear algebra on 64-bit words: which thread holds element (3, 5) is solving a linear system, whether two
//! layouts agree is comparing lists, whether data must cross lanes is a question of spans.
//!
//! # A worked 4x4 table
//!
//! Four lanes hold a 4x4 tile, one row each, in four registers. The layout is four images:
//!
//! ```text
//! register 1 -> (0, 1)      lane 1 -> (1, 0)
//!          2 -> (0, 2)           2 -> (2, 0)
//! ```
//!
//! Register 3 of lane 2 holds `(0, 1) ^ (0, 2) ^ (2, 0) = (2, 3)`. In memory the same tile is stored with its columns
//! exchanged within each row, so that the elements of a column lie in different banks:
//!
//! ```text
//! offset 1 -> (0, 1)        row \ offset % 4    0  1  2  3
//!        2 -> (0, 2)        0                   0  1  2  3    the column that is stored there
//!        4 -> (1, 1)        1                   1  0  3  2
//!        8 -> (2, 2)        2                   2  3  0  1
//!                           3                   3  2  1  0
//! ```
//!
//! Lane `r` finds register `c` at offset `memory⁻¹(registers(c, r))`, itself a linear map:
//!
//! ```
//! use girih_core::layout::{Dim, LinearLayout};
//! let (row, column) = (Dim::Axis(0), Dim::Axis(1));
//! let registers = LinearLayout::from_bases(
//!     &[(column, 2), (row, 2)],
//!     &[(Dim::Register, &[&[(column, 1)], &[(column, 2)]]), (Dim::Lane, &[&[(row, 1)], &[(row, 2)]])],
//! )?;
//! let memory = LinearLayout::from_bases(
//!     &[(column, 2), (row, 2)],
//!     &[(Dim::Offset, &[&[(column, 1)], &[(column, 2)], &[(row, 1), (column, 1)], &[(row, 2), (column, 2)]])],
//! )?;
//! let offsets = registers.then(&memory.invert()?)?;
//! // Column 0 of the four rows: offsets 0, 5, 10, 15, all different modulo 4.
//! let column_0 = [0, 1, 2, 3].map(|lane| offsets.apply(&[(Dim::Lane, lane)])[0].1);
//! assert_eq!(column_0, [0, 5, 10, 15]);
//! # Ok::<(), girih_core::layout::LayoutError>(())
//! ```
//!
//! # Invariants
//!
//! - A dimension has 2^k values; inputs and outputs are ordered lists of dimensions, the first the least significant when
//!   they are read as one number. Together at most 64 bits on either side.
//! - 0 maps to 0. What is no power of two is either a whole number of equal tiles ([`Repeated`]) or padded ([`Padded`]).
//! - [`product`](LinearLayout::product) puts one layout inside another: bits of the second lie above those of the first in
//!   every dimension. [`divide`](LinearLayout::divide) undoes it.
//! - `a.then(&b)` is b after a; it is associative, and `(a.then(b))⁻¹ = b⁻¹.then(a⁻¹)`.
//! - An input bit is *free* where it brings no new element: its image is in the span of the bits before it. A tile held
//!   twice has free bits; a *broadcast* bit is a free one whose image is 0.
//!
//! # What there is
//!
//! | to | use |
//! |---|---|
//! | make a layout | [`Blocked`], [`Named`] and the fragments of `construct`, [`shared_offsets`], [`LinearLayout::from_bases`] |
//! | let warps multiply | [`MmaTile`], [`mma_operand`] |
//! | combine | [`then`](LinearLayout::then), [`product`](LinearLayout::product), [`divide`](LinearLayout::divide), [`invert`](LinearLayout::invert), [`sliced`](LinearLayout::sliced) |
//! | change a tile's layout | [`conversion`]: how far data moves; [`exchange()`]: in which order through shared memory |
//! | load matrices | [`matrix_load`]: whether `ldmatrix` gives threads what they hold |
//! | count conflicts | [`shared_bank_count`], [`SharedTile::bank_count`], [`access_cost`] |
//! | choose a swizzle | [`best_swizzle`] among the hardware's, [`exchange()`] among all, [`placements`] for observed accesses |
//! | leave powers of two | [`Repeated`], [`Padded`], [`SharedTile`] |
//! | look at it | [`draw`], which `girih layout` prints |
//!
//! # In CuTe's notation
//!
//! CuTe adds where this adds without carry. A CuTe mode `2^k : 2^s` is the k images `2^s, 2^(s+1), ...`, so that a CuTe
//! layout with power-of-two shapes and strides that do not overlap is linear over F2 with the same bits:
//!
//! | CuTe | here |
//! |---|---|
//! | `(4,4):(1,4)`, coordinate to offset | `axis0 -> 1, 2`, `axis1 -> 4, 8` |
//! | stride 0 | broadcast: images are 0 |
//! | `Swizzle<B,M,S>` | bit i to itself, and bits `M+S .. M+S+B` also to the bit S below: [`cute_swizzle`] |
//! | `composition(a, b)` | `b.then(&a)` |
//! | `right_inverse(a)` | [`pseudo_invert`](LinearLayout::pseudo_invert) |
//! | `logical_divide` of an exact tiling | [`divide`](LinearLayout::divide) |
//! | `Swizzle<3,4,3>`, `<2,4,3>`, `<1,4,3>` on bytes | swizzle 128, 64, 32 |
//! | TV layout `((4,8),(2,2)):((32,1),(16,8))` of 16 x 8, columns first | [`mma_accumulator`]: lanes 1, 2 to columns 2, 4; lanes 4, 8, 16 to rows 1, 2, 4; registers 1, 2 to column 1, row 8 |
//!
//! CuTe needs a swizzle functor beside the layout, and cannot compose through it; here it is a layout like any other. In
//! return CuTe's shapes need not be powers of two.
mod algebra;
mod banks;
mod construct;
mod convert;
pub mod draw;
mod exchange;
mod f2;
mod matrix;
mod named;
mod placement;
mod query;
mod repeated;
mod shared;
mod slice;
mod warp_product;

pub use banks::{
    AccessCost, BankCount, access_cost, best_swizzle, linear_load_wavefronts, linear_wavefronts, load_cost,
    shared_bank_count, shared_load_count, shared_store_count, wavefronts,
};
pub use construct::{
    Blocked, cute_swizzle, matrix_fragment, matrix_rows, mma_a, mma_accumulator, mma_b, row_major, shared_offsets,
    wgmma_a, wgmma_accumulator,
};
pub use convert::{Conversion, Movement, conversion};
pub use exchange::{Exchange, exchange};
pub use matrix::{MatrixLoad, matrix_load};
pub use named::Named;
pub use placement::{Freedom, Placement, WarpAccess, placements, row_pitch};
pub use repeated::{Padded, Repeated};
pub use shared::SharedTile;
pub use warp_product::{Factor, MMA_COLUMNS, MMA_ROWS, MmaTile, mma_neighbours, mma_operand};

use std::fmt;
use thiserror::Error;

/// A dimension of a layout's input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dim {
    /// Element index within a thread, in units of elements rather than of 32-bit registers.
    Register,
    /// Lane of a warp.
    Lane,
    /// Warp of a block.
    Warp,
    /// Block of a cluster.
    Block,
    /// Offset in memory, in elements.
    Offset,
    /// Coordinate of the tile, outermost dimension 0.
    Axis(u8),
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Register => f.write_str("register"),
            Dim::Lane => f.write_str("lane"),
            Dim::Warp => f.write_str("warp"),
            Dim::Block => f.write_str("block"),
            Dim::Offset => f.write_str("offset"),
            Dim::Axis(n) => write!(f, "axis{n}"),
        }
    }
}

/// Why a layout cannot be made.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LayoutError {
    /// A size is not a power of two.
    #[error("{what} = {value}, but layouts need powers of two; pad to {}", .value.max(&1).next_power_of_two())]
    NotPowerOfTwo {
        /// Which size.
        what: String,
        /// Its value.
        value: u64,
    },
    /// Images or inputs that name a dimension the layout does not have, or exceed it.
    #[error("{dim} = {value}, but the layout has {bits} bits there")]
    OutOfRange {
        /// Dimension.
        dim: Dim,
        /// Value.
        value: u64,
        /// Bits of the dimension; 0 where it is missing.
        bits: u32,
    },
    /// More than 64 bits on a side.
    #[error("{0} bits, but a layout has at most 64 on either side")]
    TooWide(u32),
    /// Not invertible.
    #[error("{bits_in} input bits reach {rank} of {bits_out} output bits; only a bijection has an inverse")]
    NotBijective {
        /// Input bits.
        bits_in: u32,
        /// Rank.
        rank: u32,
        /// Output bits.
        bits_out: u32,
    },
    /// Two layouts of the same tile were expected.
    #[error("the layouts are of different tiles: {left} and {right}")]
    DifferentTiles {
        /// Outputs of the first.
        left: String,
        /// Outputs of the second.
        right: String,
    },
    /// Elements that a layout does not hold at all.
    #[error("the source layout does not hold every element that the destination needs")]
    Incomplete,
    /// Sizes that do not fit each other.
    #[error("{0}")]
    Shape(String),
}

/// An ordered list of dimensions with their bits, the least significant first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Space(Vec<(Dim, u32)>);

impl Space {
    fn new(dims: Vec<(Dim, u32)>) -> Result<Space, LayoutError> {
        let bits = dims.iter().map(|&(_, bits)| bits).sum();
        if bits > 64 {
            return Err(LayoutError::TooWide(bits));
        }
        for (i, (dim, _)) in dims.iter().enumerate() {
            if dims[..i].iter().any(|(other, _)| other == dim) {
                return Err(LayoutError::Shape(format!("{dim} is listed twice")));
            }
        }
        Ok(Space(dims))
    }

    fn bits(&self) -> u32 {
        self.0.iter().map(|&(_, bits)| bits).sum()
    }

    /// Position of the dimension's lowest bit, and its bits.
    fn find(&self, dim: Dim) -> Option<(u32, u32)> {
        let mut low = 0;
        for &(d, bits) in &self.0 {
            if d == dim {
                return Some((low, bits));
            }
            low += bits;
        }
        None
    }

    fn bits_of(&self, dim: Dim) -> u32 {
        self.find(dim).map_or(0, |(_, bits)| bits)
    }

    fn pack(&self, values: &[(Dim, u64)]) -> Result<u64, LayoutError> {
        values.iter().try_fold(0, |packed, &(dim, value)| {
            let (low, bits) = self.find(dim).unwrap_or((0, 0));
            if value != 0 && value.checked_shr(bits).unwrap_or(0) != 0 {
                return Err(LayoutError::OutOfRange { dim, value, bits });
            }
            Ok(packed ^ value.checked_shl(low).unwrap_or(0))
        })
    }

    fn unpack(&self, packed: u64) -> Vec<(Dim, u64)> {
        let mut low = 0;
        self.0
            .iter()
            .map(|&(dim, bits)| {
                let value = packed.checked_shr(low).unwrap_or(0) & mask(bits);
                low += bits;
                (dim, value)
            })
            .collect()
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<_> = self
            .0
            .iter()
            .map(|(dim, bits)| format!("{dim}: {}", 1u128 << bits))
            .collect();
        write!(f, "({})", dims.join(", "))
    }
}

/// The low `bits` bits set.
const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// `log2(value)`, or an error that names it.
fn log2(what: impl Into<String>, value: u64) -> Result<u32, LayoutError> {
    if value.is_power_of_two() {
        Ok(value.ilog2())
    } else {
        Err(LayoutError::NotPowerOfTwo {
            what: what.into(),
            value,
        })
    }
}

/// A linear map over F2; see the head of this module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinearLayout {
    inputs: Space,
    outputs: Space,
    /// Image of each input bit, packed as the outputs are.
    columns: Vec<u64>,
}

/// Image of one input bit as coordinates; what is not named is 0.
pub type Image<'a> = &'a [(Dim, u64)];

impl LinearLayout {
    /// The layout with these images. `outputs` gives the dimensions with their bits, `bases` for each input dimension the
    /// image of each of its bits; both least significant first.
    ///
    /// Errors: [`LayoutError::OutOfRange`] for an image outside the outputs, [`LayoutError::TooWide`].
    pub fn from_bases(outputs: &[(Dim, u32)], bases: &[(Dim, &[Image<'_>])]) -> Result<LinearLayout, LayoutError> {
        let outputs = Space::new(outputs.to_vec())?;
        let inputs = Space::new(bases.iter().map(|(dim, images)| (*dim, images.len() as u32)).collect())?;
        let columns = bases
            .iter()
            .flat_map(|(_, images)| images.iter())
            .map(|image| outputs.pack(image))
            .collect::<Result<_, _>>()?;
        Ok(LinearLayout {
            inputs,
            outputs,
            columns,
        })
    }

    /// `input -> output`, both of `bits` bits, bit to same bit.
    pub fn identity(input: Dim, output: Dim, bits: u32) -> LinearLayout {
        let columns = (0..bits.min(64)).map(|bit| 1 << bit).collect();
        LinearLayout {
            inputs: Space(vec![(input, bits.min(64))]),
            outputs: Space(vec![(output, bits.min(64))]),
            columns,
        }
    }

    /// `input` of `bits` bits that all map to 0 of `output`, which has no bits: every value holds the same.
    pub fn broadcast(input: Dim, output: Dim, bits: u32) -> LinearLayout {
        let bits = bits.min(64);
        LinearLayout {
            inputs: Space(vec![(input, bits)]),
            outputs: Space(vec![(output, 0)]),
            columns: vec![0; bits as usize],
        }
    }

    /// The layout without any bits: the unit of [`LinearLayout::product`].
    pub fn unit() -> LinearLayout {
        LinearLayout {
            inputs: Space(Vec::new()),
            outputs: Space(Vec::new()),
            columns: Vec::new(),
        }
    }

    /// Input dimensions with their bits, least significant first.
    pub fn inputs(&self) -> &[(Dim, u32)] {
        &self.inputs.0
    }

    /// Output dimensions with their bits, least significant first.
    pub fn outputs(&self) -> &[(Dim, u32)] {
        &self.outputs.0
    }

    /// Bits of an input dimension; 0 where it is missing.
    pub fn input_bits(&self, dim: Dim) -> u32 {
        self.inputs.bits_of(dim)
    }

    /// Bits of an output dimension; 0 where it is missing.
    pub fn output_bits(&self, dim: Dim) -> u32 {
        self.outputs.bits_of(dim)
    }

    /// Image of bit `bit` of input `dim`; `None` if there is no such bit.
    pub fn image(&self, dim: Dim, bit: u32) -> Option<Vec<(Dim, u64)>> {
        self.column(dim, bit).map(|column| self.outputs.unpack(column))
    }

    fn column(&self, dim: Dim, bit: u32) -> Option<u64> {
        let (low, bits) = self.inputs.find(dim)?;
        (bit < bits).then(|| self.columns[(low + bit) as usize])
    }

    /// The columns of one input dimension.
    fn columns_of(&self, dim: Dim) -> &[u64] {
        match self.inputs.find(dim) {
            Some((low, bits)) => &self.columns[low as usize..(low + bits) as usize],
            None => &[],
        }
    }

    /// The output for these inputs; what is not named is 0, and bits beyond a dimension are ignored.
    pub fn apply(&self, inputs: &[(Dim, u64)]) -> Vec<(Dim, u64)> {
        self.outputs.unpack(self.packed_image(inputs))
    }

    fn packed_image(&self, inputs: &[(Dim, u64)]) -> u64 {
        let packed = inputs
            .iter()
            .fold(0, |packed, &(dim, value)| match self.inputs.find(dim) {
                Some((low, bits)) => packed ^ (value & mask(bits)).checked_shl(low).unwrap_or(0),
                None => packed,
            });
        self.apply_packed(packed)
    }

    /// The output for inputs packed into one number, packed likewise.
    pub fn apply_packed(&self, inputs: u64) -> u64 {
        self.columns.iter().enumerate().fold(0, |image, (bit, column)| {
            image ^ (column & (inputs >> bit & 1).wrapping_neg())
        })
    }

    /// Value of output `dim` for these inputs.
    pub fn coordinate(&self, inputs: &[(Dim, u64)], dim: Dim) -> u64 {
        let image = self.packed_image(inputs);
        let place = self.outputs.find(dim);
        place.map_or(0, |(low, bits)| image.checked_shr(low).unwrap_or(0) & mask(bits))
    }
}

/// One line for each input bit, as in the tutorial.
impl fmt::Display for LinearLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &(dim, bits) in &self.inputs.0 {
            let name = dim.to_string();
            for (bit, &column) in self.columns_of(dim).iter().enumerate() {
                let image: Vec<_> = self
                    .outputs
                    .unpack(column)
                    .iter()
                    .map(|(dim, value)| format!("{dim} = {value}"))
                    .collect();
                let name = if bit == 0 { &name } else { "" };
                writeln!(f, "{name:<8} {:>4} -> {}", 1u64 << bit, image.join(", "))?;
            }
            if bits == 0 {
                writeln!(f, "{name:<8}    -")?;
            }
        }
        write!(f, "{} -> {}", self.inputs, self.outputs)
    }
}
