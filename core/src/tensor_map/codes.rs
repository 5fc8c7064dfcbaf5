//! The CUDA driver's numbers for the fields of a tensor map (`cuda.h`, `CUtensorMap*_enum`), and element formats.
use super::{Fill, Format, Interleave, L2Promotion, Swizzle};
use crate::dtype::DType;

/// A field as the driver gets it: one of the values that girih has a name for, or a number that it has none for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code<T> {
    /// A named value.
    Known(T),
    /// A number without a name.
    Unknown(u32),
}

impl<T: Copy> Code<T> {
    /// The named value, if it is one.
    pub fn known(self) -> Option<T> {
        match self {
            Code::Known(value) => Some(value),
            Code::Unknown(_) => None,
        }
    }
}

impl<T> From<T> for Code<T> {
    fn from(value: T) -> Self {
        Code::Known(value)
    }
}

macro_rules! driver_codes {
    ($type:ident, $enum:literal: $($variant:ident = $code:literal),+ $(,)?) => {
        impl $type {
            #[doc = concat!("The value that has this number in the driver's `", $enum, "`.")]
            pub const fn from_driver_code(code: u32) -> Code<$type> {
                match code {
                    $($code => Code::Known($type::$variant),)+
                    other => Code::Unknown(other),
                }
            }
        }
    };
}

driver_codes!(Format, "CUtensorMapDataType": U8 = 0, U16 = 1, U32 = 2, S32 = 3, U64 = 4, S64 = 5, F16 = 6, F32 = 7,
    F64 = 8, Bf16 = 9, F32Ftz = 10, Tf32 = 11, Tf32Ftz = 12, B4x16 = 13, B4x16P64 = 14, B6x16P32 = 15);
driver_codes!(Swizzle, "CUtensorMapSwizzle": None = 0, B32 = 1, B64 = 2, B128 = 3, B128Atom32 = 4,
    B128Atom32Flip8 = 5, B128Atom64 = 6);
driver_codes!(Interleave, "CUtensorMapInterleave": None = 0, B16 = 1, B32 = 2);
driver_codes!(Fill, "CUtensorMapFloatOOBfill": Zero = 0, Nan = 1);
driver_codes!(L2Promotion, "CUtensorMapL2promotion": None = 0, B64 = 1, B128 = 2, B256 = 3);

impl Format {
    /// Every format, in the order of the driver's numbers.
    pub const ALL: [Format; 16] = [
        Format::U8,
        Format::U16,
        Format::U32,
        Format::S32,
        Format::U64,
        Format::S64,
        Format::F16,
        Format::F32,
        Format::F64,
        Format::Bf16,
        Format::F32Ftz,
        Format::Tf32,
        Format::Tf32Ftz,
        Format::B4x16,
        Format::B4x16P64,
        Format::B6x16P32,
    ];

    /// Number in the driver's `CUtensorMapDataType`.
    pub const fn driver_code(self) -> u32 {
        match self {
            Format::U8 => 0,
            Format::U16 => 1,
            Format::U32 => 2,
            Format::S32 => 3,
            Format::U64 => 4,
            Format::S64 => 5,
            Format::F16 => 6,
            Format::F32 => 7,
            Format::F64 => 8,
            Format::Bf16 => 9,
            Format::F32Ftz => 10,
            Format::Tf32 => 11,
            Format::Tf32Ftz => 12,
            Format::B4x16 => 13,
            Format::B4x16P64 => 14,
            Format::B6x16P32 => 15,
        }
    }

    /// Number that `tensormap.replace.elemtype` takes (PTX ISA 9.4, `tensormap.replace`); 8 to 10 are not the driver's.
    pub const fn replace_code(self) -> u32 {
        match self {
            Format::F32Ftz => 8,
            Format::F64 => 9,
            Format::Bf16 => 10,
            other => other.driver_code(),
        }
    }

    /// Bits that one element takes in global memory.
    pub const fn global_bits(self) -> u64 {
        match self {
            Format::U8 => 8,
            Format::U16 | Format::F16 | Format::Bf16 => 16,
            Format::U32 | Format::S32 | Format::F32 | Format::F32Ftz | Format::Tf32 | Format::Tf32Ftz => 32,
            Format::U64 | Format::S64 | Format::F64 => 64,
            Format::B4x16 | Format::B4x16P64 => 4,
            Format::B6x16P32 => 6,
        }
    }

    /// Bits that one element takes in shared memory after a load, padding included.
    pub const fn shared_bits(self) -> u64 {
        match self {
            Format::B4x16P64 | Format::B6x16P32 => 8,
            other => other.global_bits(),
        }
    }

    /// Whether an element is smaller than a byte.
    pub const fn is_sub_byte(self) -> bool {
        self.global_bits() < 8
    }

    /// Bytes of one element, or `None` for the sub-byte formats.
    pub const fn bytes(self) -> Option<u64> {
        if self.is_sub_byte() {
            None
        } else {
            Some(self.global_bits() / 8)
        }
    }

    /// Whether the elements are floating-point, so that [`Fill::Nan`] is legal.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Format::F16 | Format::F32 | Format::F64 | Format::Bf16 | Format::F32Ftz | Format::Tf32 | Format::Tf32Ftz
        )
    }

    /// The format that moves elements of `dtype` unchanged, except that `tf32` rounds on the way in.
    pub const fn of(dtype: DType) -> Format {
        match dtype {
            DType::I1 | DType::I8 | DType::E4m3 | DType::E5m2 => Format::U8,
            DType::I16 => Format::U16,
            DType::I32 => Format::S32,
            DType::I64 => Format::S64,
            DType::F16 => Format::F16,
            DType::Bf16 => Format::Bf16,
            DType::F32 => Format::F32,
            DType::Tf32 => Format::Tf32,
            DType::F64 => Format::F64,
        }
    }

    /// PTX's name for the element type, with `_ftz` where denormals are flushed.
    pub const fn name(self) -> &'static str {
        match self {
            Format::U8 => "u8",
            Format::U16 => "u16",
            Format::U32 => "u32",
            Format::S32 => "s32",
            Format::U64 => "u64",
            Format::S64 => "s64",
            Format::F16 => "f16",
            Format::F32 => "f32",
            Format::F64 => "f64",
            Format::Bf16 => "bf16",
            Format::F32Ftz => "f32_ftz",
            Format::Tf32 => "tf32",
            Format::Tf32Ftz => "tf32_ftz",
            Format::B4x16 => "b4x16",
            Format::B4x16P64 => "b4x16_p64",
            Format::B6x16P32 => "b6x16_p32",
        }
    }
}

impl Interleave {
    /// Number in the driver's `CUtensorMapInterleave`.
    pub const fn driver_code(self) -> u32 {
        match self {
            Interleave::None => 0,
            Interleave::B16 => 1,
            Interleave::B32 => 2,
        }
    }

    /// Bytes of the channel slice that one element position holds, or `None` without interleave.
    pub const fn slice_bytes(self) -> Option<u64> {
        match self {
            Interleave::None => None,
            Interleave::B16 => Some(16),
            Interleave::B32 => Some(32),
        }
    }

    /// Bytes that the global address and every stride must be a multiple of.
    pub const fn alignment(self) -> u64 {
        match self {
            Interleave::B32 => 32,
            Interleave::None | Interleave::B16 => 16,
        }
    }
}

impl Fill {
    /// Number in the driver's `CUtensorMapFloatOOBfill`.
    pub const fn driver_code(self) -> u32 {
        match self {
            Fill::Zero => 0,
            Fill::Nan => 1,
        }
    }
}

impl L2Promotion {
    /// Number in the driver's `CUtensorMapL2promotion`.
    pub const fn driver_code(self) -> u32 {
        match self {
            L2Promotion::None => 0,
            L2Promotion::B64 => 1,
            L2Promotion::B128 => 2,
            L2Promotion::B256 => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_codes_round_trip() {
        for format in Format::ALL {
            assert_eq!(Format::from_driver_code(format.driver_code()), Code::Known(format));
        }
        for swizzle in Swizzle::ALL {
            if let Some(code) = swizzle.driver_code() {
                assert_eq!(Swizzle::from_driver_code(code), Code::Known(swizzle));
            }
        }
        assert_eq!(Format::from_driver_code(16), Code::Unknown(16));
        assert_eq!(Swizzle::from_driver_code(7), Code::Unknown(7));
    }

    #[test]
    fn formats_keep_the_size_of_their_element_type() {
        for dtype in DType::ALL {
            assert_eq!(Format::of(dtype).bytes(), Some(dtype.bytes()));
        }
    }
}
