//! Element types of tiles, tensors in global memory and arrays on the host.
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// An element type. Names are MLIR's where MLIR has one (`bf16`, `f8E4M3FN` is spelled `e4m3`), PTX's otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "the name of an element type")]
pub enum DType {
    /// 1-bit truth value, stored in one byte.
    I1,
    /// 8-bit integer, sign decided by the operation.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// IEEE binary16.
    F16,
    /// bfloat16: 1 sign, 8 exponent, 7 mantissa bits.
    Bf16,
    /// IEEE binary32.
    F32,
    /// 32-bit container whose top 19 bits the tensor cores read.
    Tf32,
    /// IEEE binary64.
    F64,
    /// 8-bit float, 4 exponent and 3 mantissa bits, no infinity (`f8E4M3FN`).
    E4m3,
    /// 8-bit float, 5 exponent and 2 mantissa bits (`f8E5M2`).
    E5m2,
}

impl DType {
    /// Every element type.
    pub const ALL: [DType; 12] = [
        DType::I1,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::Bf16,
        DType::F32,
        DType::Tf32,
        DType::F64,
        DType::E4m3,
        DType::E5m2,
    ];

    /// Bytes that one element takes in memory.
    pub const fn bytes(self) -> u64 {
        match self {
            DType::I1 | DType::I8 | DType::E4m3 | DType::E5m2 => 1,
            DType::I16 | DType::F16 | DType::Bf16 => 2,
            DType::I32 | DType::F32 | DType::Tf32 => 4,
            DType::I64 | DType::F64 => 8,
        }
    }

    /// Whether the type is a floating-point format.
    pub const fn is_float(self) -> bool {
        !matches!(self, DType::I1 | DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// The name that users type and that the manifest carries.
    pub const fn name(self) -> &'static str {
        match self {
            DType::I1 => "i1",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
            DType::F32 => "f32",
            DType::Tf32 => "tf32",
            DType::F64 => "f64",
            DType::E4m3 => "e4m3",
            DType::E5m2 => "e5m2",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        DType::ALL.into_iter().find(|t| t.name() == s).ok_or_else(|| {
            let known: Vec<_> = DType::ALL.iter().map(|t| t.name()).collect();
            format!("unknown element type `{s}`; expected one of {}", known.join(", "))
        })
    }
}
