//! The eight reductions of `cp.reduce.async.bulk.tensor`, element by element, with the special values of an H200.
//!
//! | formats | operations |
//! |---|---|
//! | u32, u64 | `add` (modulo), `min`, `max`, `and`, `or`, `xor`; u32 also `inc`, `dec` |
//! | s32 | `add`, `min`, `max`, `and`, `or`, `xor` |
//! | s64 | `min`, `max`; an H200 takes the bitwise ones for an illegal instruction |
//! | f16, bf16 | `add`: nearest even, denormals kept, NaN becomes 0x7fff. `min`, `max`: a NaN loses, two give 0x7fff, -0 < +0 |
//! | f32, f32_ftz | `add`: nearest even, NaN becomes 0x7fffffff; with `ftz` denormal operands and sums become zero |
use girih_core::{target::ReduceOp, tensor_map::Format};
use half::{bf16, f16};

/// An operation on elements of one format.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    width: usize,
    f: fn(u64, u64) -> u64,
}

impl Reduction {
    /// The reduction `op` of `format`, or `None` where PTX defines none.
    pub fn new(op: ReduceOp, format: Format) -> Option<Reduction> {
        use Format as F;
        use ReduceOp as R;
        let f: fn(u64, u64) -> u64 = match (op, format) {
            (R::Add, F::U32 | F::S32 | F::U64) => |d, s| d.wrapping_add(s),
            (R::Add, F::F16) => |d, s| add_half(d, s, |b| f16::from_bits(b).to_f32(), |v| f16::from_f32(v).to_bits()),
            (R::Add, F::Bf16) => {
                |d, s| add_half(d, s, |b| bf16::from_bits(b).to_f32(), |v| bf16::from_f32(v).to_bits())
            }
            (R::Add, F::F32) => |d, s| add_f32(d as u32, s as u32).into(),
            (R::Add, F::F32Ftz) => |d, s| flush(add_f32(flush(d as u32), flush(s as u32))).into(),
            (R::Min, F::U32 | F::U64) => u64::min,
            (R::Max, F::U32 | F::U64) => u64::max,
            (R::Min, F::S32) => |d, s| (d as i32).min(s as i32) as u64,
            (R::Max, F::S32) => |d, s| (d as i32).max(s as i32) as u64,
            (R::Min, F::S64) => |d, s| (d as i64).min(s as i64) as u64,
            (R::Max, F::S64) => |d, s| (d as i64).max(s as i64) as u64,
            (R::Min, F::F16) => |d, s| extremum(d as u16, s as u16, 0x7c00, false),
            (R::Max, F::F16) => |d, s| extremum(d as u16, s as u16, 0x7c00, true),
            (R::Min, F::Bf16) => |d, s| extremum(d as u16, s as u16, 0x7f80, false),
            (R::Max, F::Bf16) => |d, s| extremum(d as u16, s as u16, 0x7f80, true),
            (R::Inc, F::U32) => |d, s| if d >= s { 0 } else { d + 1 },
            (R::Dec, F::U32) => |d, s| if d == 0 || d > s { s } else { d - 1 },
            (R::And, F::U32 | F::S32 | F::U64) => |d, s| d & s,
            (R::Or, F::U32 | F::S32 | F::U64) => |d, s| d | s,
            (R::Xor, F::U32 | F::S32 | F::U64) => |d, s| d ^ s,
            _ => return None,
        };
        Some(Reduction {
            width: format.bytes()? as usize,
            f,
        })
    }

    /// Bytes of one element.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The new value of an element that held `old` and meets `source`, both zero-extended.
    pub fn apply(&self, old: u64, source: u64) -> u64 {
        let value = (self.f)(old, source);
        if self.width == 8 {
            value
        } else {
            value & ((1 << (self.width * 8)) - 1)
        }
    }
}

/// The sum is exact in f32 or rounded to odd-safe width there: 24 bits are at least twice 11 bits plus 2, so rounding
/// twice is rounding once.
fn add_half(d: u64, s: u64, widen: fn(u16) -> f32, narrow: fn(f32) -> u16) -> u64 {
    let sum = widen(d as u16) + widen(s as u16);
    if sum.is_nan() { 0x7fff } else { narrow(sum).into() }
}

fn add_f32(d: u32, s: u32) -> u32 {
    let sum = f32::from_bits(d) + f32::from_bits(s);
    if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() }
}

/// Zero of the same sign for a denormal.
fn flush(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

/// Minimum or maximum of two 16-bit floats whose infinity has the bits `infinity`.
fn extremum(d: u16, s: u16, infinity: u16, max: bool) -> u64 {
    let nan = |v: u16| v & 0x7fff > infinity;
    // Sign and magnitude as a number that orders as the floats do, -0 below +0.
    let order = |v: u16| {
        if v & 0x8000 != 0 {
            -1 - i32::from(v & 0x7fff)
        } else {
            i32::from(v)
        }
    };
    let result = match (nan(d), nan(s)) {
        (true, true) => 0x7fff,
        (true, false) => s,
        (false, true) => d,
        (false, false) if (order(d) < order(s)) == max => s,
        (false, false) => d,
    };
    result.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_pairs_are_refused() {
        for (op, format) in [
            (ReduceOp::Add, Format::F64),
            (ReduceOp::Min, Format::F32),
            (ReduceOp::Inc, Format::S32),
            (ReduceOp::Add, Format::U8),
            (ReduceOp::Xor, Format::F16),
            (ReduceOp::Or, Format::S64),
        ] {
            assert!(Reduction::new(op, format).is_none(), "{} {}", op.name(), format.name());
        }
    }

    #[test]
    fn narrow_results_have_no_high_bits() {
        let add = Reduction::new(ReduceOp::Add, Format::U32).unwrap();
        assert_eq!(add.apply(0xffff_ffff, 2), 1);
        let min = Reduction::new(ReduceOp::Min, Format::S32).unwrap();
        assert_eq!(min.apply(0xffff_ffff, 2), 0xffff_ffff);
    }
}
