//! What an atomic operation makes of the old value.
use crate::isa::{AtomicOp, AtomicType};
use crate::number::half::{Half, both2, extreme};
use crate::number::{NAN32, bits32, flush32};

/// Bytes of the type.
pub fn bytes(ty: AtomicType) -> usize {
    match ty {
        AtomicType::Bits(bits) | AtomicType::Unsigned(bits) | AtomicType::Signed(bits) => usize::from(bits) / 8,
        AtomicType::F16 | AtomicType::Bf16 => 2,
        AtomicType::F32 | AtomicType::F16x2 | AtomicType::Bf16x2 => 4,
        AtomicType::F64 => 8,
    }
}

/// The new value; `None` where the operation does not go with the type. Global memory flushes single-precision subnormals
/// and has rules of its own for NaNs.
pub fn apply(op: AtomicOp, ty: AtomicType, global: bool, old: u64, operand: u64, swap: u64) -> Option<u64> {
    use AtomicOp::*;
    Some(match (op, ty) {
        (Exchange, _) => operand,
        (CompareAndSwap, _) => {
            if old == operand {
                swap
            } else {
                old
            }
        }
        (And, _) => old & operand,
        (Or, _) => old | operand,
        (Xor, _) => old ^ operand,
        (Increment, AtomicType::Unsigned(_)) => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        (Decrement, AtomicType::Unsigned(_)) => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
        (Add, AtomicType::Unsigned(_) | AtomicType::Signed(_)) => old.wrapping_add(operand),
        (Min, AtomicType::Unsigned(_)) => old.min(operand),
        (Max, AtomicType::Unsigned(_)) => old.max(operand),
        (Min, AtomicType::Signed(32)) => (old as i32).min(operand as i32) as u32 as u64,
        (Max, AtomicType::Signed(32)) => (old as i32).max(operand as i32) as u32 as u64,
        (Min, AtomicType::Signed(_)) => (old as i64).min(operand as i64) as u64,
        (Max, AtomicType::Signed(_)) => (old as i64).max(operand as i64) as u64,
        (Add, AtomicType::F32) => {
            let (a, b) = (old as u32, operand as u32);
            let (a, b) = if global { (flush32(a), flush32(b)) } else { (a, b) };
            let sum = f32::from_bits(a) + f32::from_bits(b);
            let sum = if sum.is_nan() { NAN32 } else { bits32(sum) };
            u64::from(if global { flush32(sum) } else { sum })
        }
        (Add, AtomicType::F64) => {
            let (a, b) = (f64::from_bits(old), f64::from_bits(operand));
            const QUIET: u64 = 1 << 51;
            // In global memory the operand's NaN wins, and none is quieted.
            if a.is_nan() && !global {
                old | QUIET
            } else if b.is_nan() {
                if global { operand } else { operand | QUIET }
            } else if a.is_nan() {
                old
            } else {
                (a + b).to_bits()
            }
        }
        (Add | Min | Max, _) => {
            let (half, pair) = match ty {
                AtomicType::F16 => (Half::F16, false),
                AtomicType::F16x2 => (Half::F16, true),
                AtomicType::Bf16 => (Half::Bf16, false),
                AtomicType::Bf16x2 => (Half::Bf16, true),
                _ => return None,
            };
            let one = |a: u32, b: u32| match op {
                Add => half.round(half.value(a) + half.value(b)),
                _ => extreme(half, a, b, false, op == Max, false, false),
            };
            let (a, b) = (old as u32, operand as u32);
            u64::from(if pair {
                both2(a, b, one)
            } else {
                one(a & 0xffff, b & 0xffff)
            })
        }
        _ => return None,
    })
}
