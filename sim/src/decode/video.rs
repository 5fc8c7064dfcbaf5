//! SIMD-within-a-word "video" instructions (PTX ISA 9.7.16): the scalar add, subtract, absolute difference, minimum and
//! maximum with selectors, and the four-byte and two-half forms without masks.
use super::function::{FunctionDecoder, Operands, Result};
use super::mixed::mixed;
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::ptx::Operand;

#[derive(Clone, Copy)]
enum Way {
    Add,
    Sub,
    Difference,
    Min,
    Max,
}

impl Way {
    fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Way::Add => a + b,
            Way::Sub => a - b,
            Way::Difference => (a - b).abs(),
            Way::Min => a.min(b),
            Way::Max => a.max(b),
        }
    }
}

const WAYS: [Way; 5] = [Way::Add, Way::Sub, Way::Difference, Way::Min, Way::Max];

/// What the constant operand of a video instruction says.
#[derive(Clone, Copy)]
struct Plan {
    way: Way,
    /// Bits of one lane: 32, 16 or 8.
    bits: u32,
    a_signed: bool,
    b_signed: bool,
    d_signed: bool,
    saturate: bool,
    /// Lanes are summed and added to the third operand.
    accumulate: bool,
}

impl Plan {
    fn encode(self) -> u64 {
        self.way as u64
            | u64::from(self.bits) << 3
            | u64::from(self.a_signed) << 10
            | u64::from(self.b_signed) << 11
            | u64::from(self.d_signed) << 12
            | u64::from(self.saturate) << 13
            | u64::from(self.accumulate) << 14
    }
    fn decode(code: u64) -> Plan {
        Plan {
            way: WAYS[(code & 7) as usize % 5],
            bits: (code >> 3 & 127) as u32,
            a_signed: code >> 10 & 1 != 0,
            b_signed: code >> 11 & 1 != 0,
            d_signed: code >> 12 & 1 != 0,
            saturate: code >> 13 & 1 != 0,
            accumulate: code >> 14 & 1 != 0,
        }
    }
    fn simd(self, a: u64, b: u64, c: u64) -> u64 {
        let mut out = 0;
        let mut sum = c;
        for lane in 0..32 / self.bits {
            let part = |v: u64, signed: bool| pick(v >> (lane * self.bits), self.bits, signed);
            let value = self.fit(self.way.apply(part(a, self.a_signed), part(b, self.b_signed)));
            if self.accumulate {
                sum = sum.wrapping_add(value as u64);
            } else {
                out |= (value as u64 & ((1 << self.bits) - 1)) << (lane * self.bits);
            }
        }
        if self.accumulate { sum } else { out }
    }
    fn fit(self, value: i64) -> i64 {
        if !self.saturate {
            return value;
        }
        let (low, high) = if self.d_signed {
            (-(1i64 << (self.bits - 1)), (1 << (self.bits - 1)) - 1)
        } else {
            (0, (1i64 << self.bits) - 1)
        };
        value.clamp(low, high)
    }
}

fn pick(v: u64, bits: u32, signed: bool) -> i64 {
    let shift = 64 - bits;
    if signed {
        (v << shift) as i64 >> shift
    } else {
        (v << shift >> shift) as i64
    }
}

impl<'m> FunctionDecoder<'_, 'm> {
    /// Video instructions.
    pub(super) fn video(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let (stem, bits) = match name.as_bytes().last() {
            Some(b'4') => (&name[..name.len() - 1], 8),
            Some(b'2') => (&name[..name.len() - 1], 16),
            _ => (name, 32),
        };
        let way = match stem {
            "vadd" => Way::Add,
            "vsub" => Way::Sub,
            "vabsdiff" => Way::Difference,
            "vmin" => Way::Min,
            "vmax" => Way::Max,
            _ => return Err("this instruction is not simulated".to_owned()),
        };
        let integer = |ty: Option<Ty>| {
            ty.filter(|t| matches!(t, Ty::U32 | Ty::S32))
                .ok_or("the types must be .u32 or .s32")
        };
        let d_ty = integer(mods.ty())?;
        let a_ty = integer(mods.ty())?;
        let b_ty = integer(mods.ty())?;
        let saturate = mods.take("sat");
        let second = mods.one_of(&["add", "min", "max"]);
        operands.count(3, 4)?;
        let plan = Plan {
            way,
            bits,
            a_signed: a_ty.signed(),
            b_signed: b_ty.signed(),
            d_signed: d_ty.signed(),
            saturate,
            accumulate: second == Some("add") && bits != 32,
        };
        let code = self.constant(plan.encode().into(), 32);
        let a = self.part(operands.get(1)?, a_ty)?;
        let b = self.part(operands.get(2)?, b_ty)?;
        let d = self.destination(operands.get(0)?, Ty::B32)?;
        if bits != 32 {
            if second.is_some_and(|s| s != "add") {
                return Err("only `.add` may follow".to_owned());
            }
            let c = if operands.len() == 4 {
                self.source(operands.get(3)?, Ty::B32)?
            } else {
                self.constant(0, 32)
            };
            self.emit_mixed(mixed!(|a, b, c, p| Plan::decode(p).simd(a, b, c)), d, &[a, b, c, code]);
            return Ok(());
        }
        // Operands were extended to 32 bits of their type; the sum has 34.
        let f = mixed!(|a, b, _c, p| {
            let plan = Plan::decode(p);
            plan.fit(plan.way.apply(pick(a, 32, plan.a_signed), pick(b, 32, plan.b_signed))) as u64
        });
        self.emit_mixed(f, d, &[a, b, a, code]);
        if let Some(second) = second {
            let c = self.source(operands.get(3)?, Ty::B32)?;
            let f = match (second, d_ty.signed()) {
                ("add", _) => mixed!(|a, b| a.wrapping_add(b)),
                ("min", true) => mixed!(|a, b| (a as i32).min(b as i32) as u64),
                ("max", true) => mixed!(|a, b| (a as i32).max(b as i32) as u64),
                ("min", false) => mixed!(|a, b| a.min(b)),
                _ => mixed!(|a, b| a.max(b)),
            };
            self.emit_mixed(f, d, &[d, c]);
        }
        Ok(())
    }

    /// An operand with a `.b0` to `.b3`, `.h0` or `.h1` selector, extended to 32 bits.
    fn part(&mut self, operand: &Operand<'m>, ty: Ty) -> Result<crate::isa::Value> {
        let Operand::Part(name, part, negated) = operand else {
            return self.source(operand, Ty::B32);
        };
        if *negated {
            return Err("negated operands are not simulated".to_owned());
        }
        let (shift, bits) = match *part {
            "b0" => (0, 8),
            "b1" => (8, 8),
            "b2" => (16, 8),
            "b3" => (24, 8),
            "h0" => (0, 16),
            "h1" => (16, 16),
            other => return Err(format!("selector `.{other}` does not exist")),
        };
        let value = self.register(name)?;
        let d = self.temporary(32);
        let code = self.constant(shift | bits << 8 | u128::from(ty.signed()) << 16, 32);
        let f = mixed!(|a, p| pick(a >> (p & 0xff), (p >> 8 & 0xff) as u32, p >> 16 != 0) as u64);
        self.emit_mixed(f, d, &[value, code]);
        Ok(d)
    }
}
