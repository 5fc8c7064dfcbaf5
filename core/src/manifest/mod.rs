//! The launch manifest: everything a launcher must know about the kernels of one PTX file.
//!
//! It travels as JSON in the leading comment block of the PTX (see [`Manifest::to_ptx_comment`]), so that one file is
//! enough to launch a kernel anywhere with no compiler present. Beside a cubin it is a sidecar file.
//!
//! | part | what it does |
//! |---|---|
//! | this file | the schema |
//! | `eval` | evaluates [`Expr`] from the arguments, checked |
//! | `template` | makes a tensor map from a [`TensorMapTemplate`] and the arguments |
//! | `form` | makes a tensor map from a [`MapForm`] and an array |
//! | `comment` | writes and reads the comment block |
//! | `check` | finds references to what is not there |
mod check;
mod comment;
mod eval;
mod form;
mod template;

pub use check::DEEPEST;
pub use comment::ManifestError;
pub use eval::{Env, EvalError, EvalErrorKind};

use crate::{
    dtype::DType,
    tensor_map::{Fill, Format, Interleave, L2Promotion, Swizzle},
};
use serde::{Deserialize, Serialize};

/// Version of this schema; a launcher refuses others.
pub const SCHEMA: u32 = 1;

/// The manifest of one PTX file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a launch manifest")]
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
#[serde(deny_unknown_fields, expecting = "a kernel")]
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
    /// What the kernel was compiled for, beside the types of its arguments: a launch that breaks it is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
}

/// What a size, a stride or a number is known to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a fact")]
pub struct Fact {
    /// [`Expr::Size`], [`Expr::Stride`] or [`Expr::Scalar`].
    pub value: Expr,
    /// What it is a multiple of, at least 1.
    pub multiple: u64,
    /// The least and the largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[i64; 2]>,
}

impl Fact {
    /// The argument that it is said of.
    pub fn argument(&self) -> Option<usize> {
        match self.value {
            Expr::Size { arg, .. } | Expr::Stride { arg, .. } | Expr::Scalar { arg } => Some(arg),
            _ => None,
        }
    }

    /// What a value breaks, if it breaks something: what it is, what it should be, and what to do.
    pub fn broken_by(&self, value: i64) -> Option<String> {
        let what = match self.value {
            Expr::Size { dim, .. } => format!("size of dimension {dim}"),
            Expr::Stride { dim, .. } => format!("stride of dimension {dim}"),
            _ => "the number".to_owned(),
        };
        let remedy = match self.value {
            Expr::Size { .. } => "pad the array, or compile without tile.divisible",
            Expr::Stride { .. } => "pad the rows, or compile without tile.aligned",
            _ => "give another, or compile without its attribute",
        };
        if let Some([least, most]) = self.range.filter(|[least, most]| !(*least..=*most).contains(&value)) {
            return Some(format!(
                "{what} = {value}, but the kernel was compiled for {least} to {most}; {remedy}"
            ));
        }
        // Of i64's least value, too, the remainder is a number.
        (i128::from(value) % i128::from(self.multiple.max(1)) != 0).then(|| {
            let multiple = self.multiple;
            format!("{what} = {value}, but the kernel was compiled for multiples of {multiple}; {remedy}")
        })
    }
}

/// A logical argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    deny_unknown_fields,
    expecting = "an argument: memref or scalar"
)]
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
    /// A tensor map that the caller has encoded, 128 bytes by value, taken as it is.
    TensorMap {
        /// Name in the source.
        name: String,
        /// Element type of the tensor in memory.
        dtype: DType,
        /// What the kernel was compiled for.
        form: MapForm,
    },
}

/// The fields of a tensor map that its type says; the tensor's address, sizes and strides are the caller's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapForm {
    /// Element format.
    pub format: Format,
    /// Dimensions of the tensor.
    pub rank: usize,
    /// Tiled or im2col.
    pub mode: crate::tensor_map::Mode,
    /// Traversal strides, innermost dimension first.
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

impl Arg {
    /// The argument's name in the source.
    pub fn name(&self) -> &str {
        match self {
            Arg::Memref { name, .. } | Arg::Scalar { name, .. } | Arg::TensorMap { name, .. } => name,
        }
    }
}

/// One PTX parameter and the value that it gets. `arg` indexes [`Kernel::args`], `dim` is outermost first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    deny_unknown_fields,
    expecting = "a parameter: pointer, size, stride, scalar or tensor_map"
)]
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
    /// The 128 bytes of a tensor map argument.
    Map {
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
#[serde(
    rename_all = "snake_case",
    expecting = "an expression: const, size, stride, scalar, binary or select"
)]
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
#[serde(rename_all = "snake_case", expecting = "the name of an operator")]
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
#[serde(deny_unknown_fields, expecting = "a tensor map")]
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
    /// Whether the kernel stores or reduces through the map and relies on nothing outside the tensor being written. The
    /// hardware writes rows up to a multiple of 16 bytes, so that a launch with rows that end elsewhere is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact_rows: bool,
    /// Whether the kernel can do without: where an address or stride is not on 16 bytes (32 with 32-byte slices), no map is
    /// encoded and the kernel gets 128 zero bytes. It must not use them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor_map::Mode;

    #[test]
    fn a_broken_fact_names_value_bound_and_remedy() {
        let fact = |value, multiple, range| Fact { value, multiple, range };
        let size = fact(Expr::Size { arg: 0, dim: 1 }, 8, None);
        assert_eq!((size.broken_by(16), size.argument()), (None, Some(0)));
        let message = size.broken_by(12).unwrap_or_default();
        assert_eq!(
            message,
            "size of dimension 1 = 12, but the kernel was compiled for multiples of 8; pad the array, or compile without \
             tile.divisible"
        );
        let number = fact(Expr::Scalar { arg: 2 }, 1, Some([-1, 3]));
        assert_eq!((number.broken_by(-1), number.broken_by(3)), (None, None));
        assert!(
            number
                .broken_by(4)
                .is_some_and(|why| why.contains("the number = 4, but the kernel was compiled for -1 to 3"))
        );
        assert!(
            fact(Expr::Stride { arg: 0, dim: 0 }, 3, None)
                .broken_by(i64::MIN)
                .is_some()
        );
    }

    /// Arguments of [`example`]: a 256x512 array of bf16 at 0x1000, and -7.
    pub struct Arguments {
        pub sizes: Vec<i64>,
        pub strides: Vec<i64>,
        pub scalar: i64,
    }

    impl Default for Arguments {
        fn default() -> Self {
            Arguments {
                sizes: vec![256, 512],
                strides: vec![512, 1],
                scalar: -7,
            }
        }
    }

    impl Env for Arguments {
        fn size(&self, arg: usize, dim: usize) -> Option<i64> {
            (arg == 0).then(|| self.sizes.get(dim).copied())?
        }
        fn stride(&self, arg: usize, dim: usize) -> Option<i64> {
            (arg == 0).then(|| self.strides.get(dim).copied())?
        }
        fn scalar(&self, arg: usize) -> Option<i64> {
            (arg == 1).then_some(self.scalar)
        }
        fn address(&self, arg: usize) -> Option<u64> {
            (arg == 0).then_some(0x1000)
        }
    }

    /// One kernel that uses every kind of field.
    pub fn example() -> Manifest {
        let size = |dim| Expr::Size { arg: 0, dim };
        let binary = |op, lhs, rhs| Expr::Binary(op, Box::new(lhs), Box::new(rhs));
        Manifest {
            schema: SCHEMA,
            girih: "0.1.0".into(),
            target: "sm_90a".into(),
            kernels: vec![Kernel {
                name: "scale".into(),
                args: vec![
                    Arg::Memref {
                        name: "A".into(),
                        dtype: DType::Bf16,
                        shape: vec![None, None],
                        strides: vec![None, Some(1)],
                        align: 16,
                    },
                    Arg::Scalar {
                        name: "n".into(),
                        dtype: DType::I32,
                    },
                ],
                params: vec![
                    Param::Pointer { arg: 0 },
                    Param::Size { arg: 0, dim: 0 },
                    Param::Scalar { arg: 1 },
                    Param::TensorMap { map: 0 },
                ],
                tensor_maps: vec![TensorMapTemplate {
                    arg: 0,
                    offset: Expr::Const(16),
                    format: Format::Bf16,
                    dims: vec![size(1), size(0)],
                    strides: vec![binary(BinaryOp::Mul, Expr::Stride { arg: 0, dim: 0 }, Expr::Const(2))],
                    mode: Mode::Tiled {
                        box_dims: vec![64, 128],
                    },
                    element_strides: vec![1, 1],
                    interleave: Interleave::None,
                    swizzle: Swizzle::B128,
                    fill: Fill::Zero,
                    l2_promotion: L2Promotion::B128,
                    exact_rows: false,
                    optional: false,
                }],
                grid: [
                    binary(BinaryOp::CeilDivS, size(1), Expr::Const(64)),
                    Expr::Const(1),
                    Expr::Const(1),
                ],
                block: [128, 1, 1],
                cluster: [1, 1, 1],
                dynamic_shared_bytes: 0,
                facts: vec![],
            }],
        }
    }
}
