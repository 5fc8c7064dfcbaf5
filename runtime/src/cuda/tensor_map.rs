//! Encoding of tensor maps by the driver (`cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col`,
//! `cuTensorMapEncodeIm2colWide`).
use super::driver::{check, ensure};
use cudarc::driver::sys::{self, CUtensorMapDataType as T};
use girih_core::{
    device::{DeviceError, Result},
    tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap, WidePixels},
};
use std::ffi::c_void;

/// The driver wants 64 bytes of alignment.
#[repr(C, align(128))]
struct Encoded(sys::CUtensorMap);

/// The 128 bytes of a map that girih's validator accepted.
pub(super) fn encode(map: &TensorMap) -> Result<[u8; 128]> {
    ensure()?;
    let data_type = data_type(map.format)?;
    let swizzle = swizzle(map.swizzle)?;
    let interleave = match map.interleave {
        Interleave::None => sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
        Interleave::B16 => sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_16B,
        Interleave::B32 => sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_32B,
    };
    let promotion = match map.l2_promotion {
        L2Promotion::None => sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
        L2Promotion::B64 => sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        L2Promotion::B128 => sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        L2Promotion::B256 => sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    };
    let fill = match map.fill {
        Fill::Zero => sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        Fill::Nan => sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
    };
    let rank = map.dims.len();
    check_lengths(map)?;
    let mut encoded = Encoded(sys::CUtensorMap { opaque: [0; 16] });
    let (target, rank_code, address) = (&raw mut encoded.0, rank as u32, map.address as *mut c_void);
    let (dims, strides, steps) = (map.dims.as_ptr(), map.strides.as_ptr(), map.element_strides.as_ptr());
    let answer = match &map.mode {
        // SAFETY: the lists are as long as the rank asks, the output is aligned; the address is not read.
        Mode::Tiled { box_dims } => unsafe {
            sys::cuTensorMapEncodeTiled(
                target,
                data_type,
                rank_code,
                address,
                dims,
                strides,
                box_dims.as_ptr(),
                steps,
                interleave,
                swizzle,
                promotion,
                fill,
            )
        },
        // SAFETY: as above.
        Mode::Im2col {
            lower,
            upper,
            channels_per_pixel,
            pixels_per_column,
        } => unsafe {
            sys::cuTensorMapEncodeIm2col(
                target,
                data_type,
                rank_code,
                address,
                dims,
                strides,
                lower.as_ptr(),
                upper.as_ptr(),
                *channels_per_pixel,
                *pixels_per_column,
                steps,
                interleave,
                swizzle,
                promotion,
                fill,
            )
        },
        // SAFETY: as above.
        Mode::Im2colWide {
            lower,
            upper,
            channels_per_pixel,
            pixels,
        } => unsafe {
            sys::cuTensorMapEncodeIm2colWide(
                target,
                data_type,
                rank_code,
                address,
                dims,
                strides,
                *lower,
                *upper,
                *channels_per_pixel,
                pixels.count(),
                steps,
                interleave,
                match pixels {
                    WidePixels::W(_) => sys::CUtensorMapIm2ColWideMode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
                    WidePixels::W128 => sys::CUtensorMapIm2ColWideMode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128,
                },
                swizzle,
                promotion,
                fill,
            )
        },
    };
    check(
        &format!("the CUDA driver refuses the tensor map {map:?}"),
        answer.result(),
    )?;
    let mut bytes = [0; 128];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(encoded.0.opaque) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    Ok(bytes)
}

/// The driver reads as many values as the rank says, so the lists must have them.
fn check_lengths(map: &TensorMap) -> Result<()> {
    let rank = map.dims.len();
    let of_mode = match &map.mode {
        Mode::Tiled { box_dims } => box_dims.len() == rank,
        Mode::Im2col { lower, upper, .. } => rank >= 3 && lower.len() == rank - 2 && upper.len() == rank - 2,
        Mode::Im2colWide { .. } => rank >= 3,
    };
    if (1..=5).contains(&rank) && map.strides.len() == rank - 1 && map.element_strides.len() == rank && of_mode {
        return Ok(());
    }
    Err(DeviceError::new(format!(
        "the tensor map's lists do not fit its rank {rank}: {map:?}"
    )))
}

fn data_type(format: Format) -> Result<T> {
    Ok(match format {
        Format::U8 => T::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        Format::U16 => T::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        Format::U32 => T::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        Format::S32 => T::CU_TENSOR_MAP_DATA_TYPE_INT32,
        Format::U64 => T::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        Format::S64 => T::CU_TENSOR_MAP_DATA_TYPE_INT64,
        Format::F16 => T::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        Format::F32 => T::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        Format::F64 => T::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        Format::Bf16 => T::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        Format::F32Ftz => T::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        Format::Tf32 => T::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        Format::Tf32Ftz => T::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
        Format::B4x16 => T::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B,
        Format::B4x16P64 => T::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B,
        Format::B6x16P32 => T::CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B,
    })
}

fn swizzle(swizzle: Swizzle) -> Result<sys::CUtensorMapSwizzle> {
    use sys::CUtensorMapSwizzle as S;
    Ok(match swizzle {
        Swizzle::None => S::CU_TENSOR_MAP_SWIZZLE_NONE,
        Swizzle::B32 => S::CU_TENSOR_MAP_SWIZZLE_32B,
        Swizzle::B64 => S::CU_TENSOR_MAP_SWIZZLE_64B,
        Swizzle::B128 => S::CU_TENSOR_MAP_SWIZZLE_128B,
        Swizzle::B128Atom32 => S::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
        Swizzle::B128Atom32Flip8 => S::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
        Swizzle::B128Atom64 => S::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B,
        Swizzle::B96 => {
            return Err(DeviceError::new(
                "the CUDA driver has no number for the 96-byte swizzle",
            ));
        }
    })
}
