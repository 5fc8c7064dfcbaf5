//! Functions that compiled code calls and that no library on the machine is sure to have.
use super::formats;
use girih_core::number::{FloatFormat, Overflow, Rounding};
use melior::StringRef;
use mlir_sys::{MlirExecutionEngine, mlirExecutionEngineRegisterSymbol};
use std::ffi::c_void;

/// Makes every function here known to an engine, before anything is looked up in it.
pub(super) fn register(engine: MlirExecutionEngine) {
    let symbols: [(&str, *mut c_void); 16] = [
        (formats::TO_E4M3, to_e4m3 as *mut c_void),
        (formats::TO_E5M2, to_e5m2 as *mut c_void),
        (formats::TO_E3M2, to_e3m2 as *mut c_void),
        (formats::TO_E2M3, to_e2m3 as *mut c_void),
        (formats::TO_E2M1, to_e2m1 as *mut c_void),
        (formats::TO_BF16, to_bf16 as *mut c_void),
        (formats::TO_F16, to_f16 as *mut c_void),
        (formats::TO_TF32, to_tf32 as *mut c_void),
        (formats::TO_F32, to_f32 as *mut c_void),
        ("__extendhfsf2", extend_half as *mut c_void),
        ("__truncsfhf2", half_from_f32 as *mut c_void),
        ("__truncdfhf2", half_from_f64 as *mut c_void),
        ("rsqrt", reciprocal_root as *mut c_void),
        ("rsqrtf", reciprocal_root_f32 as *mut c_void),
        ("memrefCopy", copy_memref as *mut c_void),
        ("abort", assertion_failed as *mut c_void),
    ];
    for (name, address) in symbols {
        // SAFETY: each address is a function of the C type that compiled code calls it with.
        unsafe {
            mlirExecutionEngineRegisterSymbol(engine, StringRef::new(name).to_raw(), address);
        }
    }
}

/// What a failed `cf.assert` calls once its own message is out.
extern "C" fn assertion_failed() {
    crate::fatal::end("error: an assertion of the reference failed\n")
}

/// The code of a number; `mode` is MLIR's number of the direction.
const fn encode(format: FloatFormat, value: f64, mode: i32) -> u32 {
    let rounding = match mode {
        1 => Rounding::Down,
        2 => Rounding::Up,
        3 => Rounding::Zero,
        4 => Rounding::NearestAway,
        _ => Rounding::NearestEven,
    };
    format.encode(value, rounding, Overflow::Special) as u32
}

extern "C" fn to_e4m3(value: f64, mode: i32) -> u32 {
    encode(FloatFormat::E4M3, value, mode)
}

extern "C" fn to_e5m2(value: f64, mode: i32) -> u32 {
    encode(FloatFormat::E5M2, value, mode)
}

extern "C" fn to_e3m2(value: f64, mode: i32) -> u32 {
    encode(FloatFormat::E3M2, value, mode)
}

extern "C" fn to_e2m3(value: f64, mode: i32) -> u32 {
    encode(FloatFormat::E2M3, value, mode)
}

extern "C" fn to_e2m1(value: f64, mode: i32) -> u32 {
    encode(FloatFormat::E2M1, value, mode)
}

extern "C" fn to_bf16(value: f64, mode: i32) -> u32 {
    encode(FloatFormat::BF16, value, mode)
}

extern "C" fn to_f16(value: f64, mode: i32) -> u32 {
    encode(FloatFormat::F16, value, mode)
}

extern "C" fn to_tf32(value: f64, mode: i32) -> u32 {
    encode(FloatFormat::TF32, value, mode)
}

extern "C" fn to_f32(value: f64, mode: i32) -> u32 {
    encode(FloatFormat::F32, value, mode)
}

/// A half travels in the low 16 bits of a floating-point register (System V on x86-64, AAPCS64), so an f32 stands for
/// the register here; its other bits mean nothing.
extern "C" fn extend_half(register: f32) -> f32 {
    FloatFormat::F16.decode(u64::from(register.to_bits() & 0xffff)) as f32
}

extern "C" fn half_from_f32(value: f32) -> f32 {
    f32::from_bits(encode(FloatFormat::F16, f64::from(value), 0))
}

extern "C" fn half_from_f64(value: f64) -> f32 {
    f32::from_bits(encode(FloatFormat::F16, value, 0))
}

/// `math.rsqrt`, which C has from C23 on only.
extern "C" fn reciprocal_root(value: f64) -> f64 {
    1.0 / value.sqrt()
}

extern "C" fn reciprocal_root_f32(value: f32) -> f32 {
    reciprocal_root(f64::from(value)) as f32
}

/// MLIR's descriptor of a memref of any rank.
#[repr(C)]
struct Unranked {
    rank: i64,
    descriptor: *const i64,
}

/// What `memref.copy` between layouts becomes: `element_bytes` of each element, in row-major order.
extern "C" fn copy_memref(element_bytes: i64, source: *const Unranked, target: *const Unranked) {
    // SAFETY: compiled code passes two live descriptors of one rank and shape.
    unsafe {
        let rank = (*source).rank as usize;
        let (source, target) = ((*source).descriptor, (*target).descriptor);
        let field = |descriptor: *const i64, at: usize| *descriptor.add(at);
        let first = |descriptor: *const i64| {
            (field(descriptor, 1) as *mut u8).wrapping_offset((field(descriptor, 2) * element_bytes) as isize)
        };
        let sizes: Vec<i64> = (0..rank).map(|dim| field(source, 3 + dim)).collect();
        if sizes.contains(&0) {
            return;
        }
        let (from, to) = (first(source), first(target));
        let mut index = vec![0i64; rank];
        loop {
            let at = |descriptor| {
                let elements: i64 = (0..rank)
                    .map(|dim| index[dim] * field(descriptor, 3 + rank + dim))
                    .sum();
                (elements * element_bytes) as isize
            };
            // The two may be one memory, so the ranges may be equal.
            std::ptr::copy(
                from.wrapping_offset(at(source)),
                to.wrapping_offset(at(target)),
                element_bytes as usize,
            );
            let Some(dim) = (0..rank).rev().find(|dim| index[*dim] + 1 < sizes[*dim]) else {
                return;
            };
            index[dim] += 1;
            index[dim + 1..].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_travel_in_the_low_bits_of_a_register() {
        let garbage = f32::from_bits(0x7b00_3c00);
        assert_eq!(extend_half(garbage), 1.0);
        assert_eq!(half_from_f32(-2.0).to_bits() & 0xffff, 0xc000);
        assert_eq!(half_from_f64(65520.0).to_bits() & 0xffff, 0x7c00);
    }

    #[test]
    fn copies_between_layouts() {
        let source = [1u16, 2, 3, 4, 5, 6];
        let mut target = [0u16; 6];
        let from = [0, source.as_ptr() as i64, 0, 2, 3, 3, 1];
        let to = [0, target.as_mut_ptr() as i64, 0, 2, 3, 1, 2];
        copy_memref(
            2,
            &Unranked {
                rank: 2,
                descriptor: from.as_ptr(),
            },
            &Unranked {
                rank: 2,
                descriptor: to.as_ptr(),
            },
        );
        assert_eq!(target, [1, 4, 2, 5, 3, 6]);
    }
}
