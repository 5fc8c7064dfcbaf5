//! The launch manifest: everything a launcher must know about the kernels of one PTX file.
//!
//! It travels as JSON in the leading comment block of the PTX (see [`Manifest::to_ptx_comment`]), so that one file is
//! enough to launch a kernel anywhere with no compiler present. Beside a cubin it is a sidecar file.
use crate::{
    dtype::DType,
    tensor_map::{Fill, Format, Interleave, L2Promotion, Swizzle},
};
use serde::{Deserialize, Serialize};

/// Version of this schema; a launcher refuses others.
pub const SCHEMA: u32 = 1;

/// The manifest of one PTX file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Schema version, [`SCHEMA`].
    pub schema: u32,
    /// Version of girih that wrote it.
    pub girih: String,
    /// Target architecture as ptxas spells it, such as `sm_90a`.
    pub target: String,
    /// Kernels in the order of the source.
    pub kernels: Vec<Kernel>,
}

/// One kernel: its logical arguments, its PTX parameters, and its launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Entry name in the PTX.
    pub name: String,
    /// Logical arguments in the order of the source.
    pub args: Vec<Arg>,
    /// PTX parameters in order.
    pub params: Vec<Param>,
    /// Tensor maps that the launcher encodes from the arguments.
    pub tensor_maps: Vec<TensorMapTemplate>,
    /// Blocks in x, y, z. An empty grid launches nothing.
    pub grid: [Expr; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y, z; all 1 when there are no clusters.
    pub cluster: [u32; 3],
    /// Dynamic shared memory, bytes for each block.
    pub dynamic_shared_bytes: u32,
}

/// A logical argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arg {
    /// A strided array in global memory.
    Memref {
        /// Name in the source, without `%`.
        name: String,
        /// Element type.
        dtype: DType,
        /// Static size of each dimension, or `None` for a run-time one; outermost first.
        shape: Vec<Option<u64>>,
        /// Static stride of each dimension in elements, or `None` for a run-time one.
        strides: Vec<Option<u64>>,
        /// Bytes that the address must be a multiple of.
        align: u64,
    },
    /// A number.
    Scalar {
        /// Name in the source.
        name: String,
        /// Its type.
        dtype: DType,
    },
}

impl Arg {
    /// The argument's name in the source.
    pub fn name(&self) -> &str {
        match self {
            Arg::Memref { name, .. } | Arg::Scalar { name, .. } => name,
        }
    }
}

/// One PTX parameter and the value that it gets. `arg` indexes [`Kernel::args`], `dim` is outermost first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Param {
    /// 64-bit global address of a memref's first element.
    Pointer {
        /// Argument.
        arg: usize,
    },
    /// i64 run-time size of one dimension.
    Size {
        /// Argument.
        arg: usize,
        /// Dimension.
        dim: usize,
    },
    /// i64 run-time stride of one dimension, in elements.
    Stride {
        /// Argument.
        arg: usize,
        /// Dimension.
        dim: usize,
    },
    /// A scalar argument in its own type.
    Scalar {
        /// Argument.
        arg: usize,
    },
    /// A 128-byte tensor map by value.
    TensorMap {
        /// Index into [`Kernel::tensor_maps`].
        map: usize,
    },
}

/// Integer arithmetic that the launcher evaluates from the arguments, in i64. A division by zero or an overflow is an
/// error that names the kernel; a launch is never guessed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// A constant.
    Const(i64),
    /// Size of a memref argument's dimension.
    Size {
        /// Argument.
        arg: usize,
        /// Dimension, outermost first.
        dim: usize,
    },
    /// Stride of a memref argument's dimension, in elements.
    Stride {
        /// Argument.
        arg: usize,
        /// Dimension.
        dim: usize,
    },
    /// An integer scalar argument, sign-extended.
    Scalar {
        /// Argument.
        arg: usize,
    },
    /// A binary operation.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `condition != 0 ? then : otherwise`.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Operators of [`Expr::Binary`]; comparisons give 0 or 1. Names are those of MLIR's `arith`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    DivS,
    CeilDivS,
    FloorDivS,
    RemS,
    DivU,
    CeilDivU,
    RemU,
    MinS,
    MaxS,
    MinU,
    MaxU,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    Eq,
    Ne,
    LtS,
    LeS,
    GtS,
    GeS,
    LtU,
    LeU,
    GtU,
    GeU,
}

/// A tensor map with its run-time fields still expressions. All lists are innermost dimension first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorMapTemplate {
    /// Memref argument whose address the map gets.
    pub arg: usize,
    /// Byte offset from that address.
    pub offset: Expr,
    /// Element format.
    pub format: Format,
    /// Elements in each dimension. If any is 0, no map is encoded and the kernel gets 128 zero bytes.
    pub dims: Vec<Expr>,
    /// Byte strides of dimensions 1 and up.
    pub strides: Vec<Expr>,
    /// Tiled or im2col.
    pub mode: crate::tensor_map::Mode,
    /// Traversal strides.
    pub element_strides: Vec<u32>,
    /// Interleaved layout.
    pub interleave: Interleave,
    /// Swizzle.
    pub swizzle: Swizzle,
    /// Out-of-bounds fill.
    pub fill: Fill,
    /// L2 promotion.
    pub l2_promotion: L2Promotion,
}
