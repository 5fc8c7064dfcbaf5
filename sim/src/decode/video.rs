//! SIMD-within-a-word "video" instructions (PTX ISA 9.7.16): scalar forms with selectors, shifts and multiply-add; the
//! four-byte and two-half forms without masks.
use super::function::{FunctionDecoder, Operands, Result};
use super::mixed::mixed;
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{Mixed, Value};
use crate::ptx::Operand;

#[derive(Clone, Copy)]
enum Way {
    Add,
    Sub,
    Difference,
    Min,
    Max,
    Average,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const WAYS: [Way; 14] = [
    Way::Add,
    Way::Sub,
    Way::Difference,
    Way::Min,
    Way::Max,
    Way::Average,
    Way::ShiftLeft,
    Way::ShiftRight,
    Way::Equal,
    Way::NotEqual,
    Way::Less,
    Way::LessOrEqual,
    Way::Greater,
    Way::GreaterOrEqual,
];

impl Way {
    fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Way::Add => a + b,
            Way::Sub => a - b,
            Way::Difference => (a - b).abs(),
            Way::Min => a.min(b),
            Way::Max => a.max(b),
            // Halves go away from zero.
            Way::Average => {
                let sum = a + b;
                (sum + i64::from(sum >= 0)) >> 1
            }
            // Shift counts are 0 to 32 here.
            Way::ShiftLeft => a << b,
            Way::ShiftRight => a >> b,
            Way::Equal => i64::from(a == b),
            Way::NotEqual => i64::from(a != b),
            Way::Less => i64::from(a < b),
            Way::LessOrEqual => i64::from(a <= b),
            Way::Greater => i64::from(a > b),
            Way::GreaterOrEqual => i64::from(a >= b),
        }
    }
}

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
    /// Shift counts above 32 count as 32; else they wrap.
    clamp: bool,
}

impl Plan {
    fn encode(self) -> u64 {
        self.way as u64
            | u64::from(self.bits) << 4
            | u64::from(self.a_signed) << 10
            | u64::from(self.b_signed) << 11
            | u64::from(self.d_signed) << 12
            | u64::from(self.saturate) << 13
            | u64::from(self.accumulate) << 14
            | u64::from(self.clamp) << 15
    }
    fn decode(code: u64) -> Plan {
        let bit = |n: u32| code >> n & 1 != 0;
        Plan {
            way: WAYS[(code & 15) as usize % WAYS.len()],
            bits: (code >> 4 & 63) as u32,
            a_signed: bit(10),
            b_signed: bit(11),
            d_signed: bit(12),
            saturate: bit(13),
            accumulate: bit(14),
            clamp: bit(15),
        }
    }
    /// Lane by lane.
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
    /// One result of 34 bits, before the second operation. Operands were extended to 32 bits of their type.
    fn scalar(self, a: u64, b: u64) -> u64 {
        let b = match self.way {
            Way::ShiftLeft | Way::ShiftRight if self.clamp => b.min(32) as i64,
            Way::ShiftLeft | Way::ShiftRight => (b & 31) as i64,
            _ => pick(b, 32, self.b_signed),
        };
        self.fit(self.way.apply(pick(a, 32, self.a_signed), b)) as u64
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

/// `vmad` after its operands were extended; the addend is signed whatever the types. Bits 0, 1 and 3 of `code` are the
/// signs of a, b and the result, 4 is `.po`, 5 `.sat`, and from 8 on comes the scale.
fn multiply_add(a: u64, b: u64, c: u64, code: u64) -> u64 {
    let bit = |n: u32| code >> n & 1 != 0;
    let product = i128::from(pick(a, 32, bit(0))) * i128::from(pick(b, 32, bit(1)));
    let sum = product + i128::from(pick(c, 32, true)) + i128::from(bit(4));
    let scaled = sum >> (code >> 8);
    let (low, high) = if bit(3) {
        (i128::from(i32::MIN), i128::from(i32::MAX))
    } else {
        (0, i128::from(u32::MAX))
    };
    (if bit(5) { scaled.clamp(low, high) } else { scaled }) as u64
}

impl<'m> FunctionDecoder<'_, 'm> {
    /// Video instructions.
    pub(super) fn video(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let (stem, bits) = match name.as_bytes().last() {
            Some(b'4') => (&name[..name.len() - 1], 8),
            Some(b'2') => (&name[..name.len() - 1], 16),
            _ => (name, 32),
        };
        if name == "vmad" {
            return self.video_multiply_add(mods, operands);
        }
        let way = match stem {
            "vadd" => Way::Add,
            "vsub" => Way::Sub,
            "vabsdiff" => Way::Difference,
            "vmin" => Way::Min,
            "vmax" => Way::Max,
            "vavrg" if bits != 32 => Way::Average,
            "vshl" if bits == 32 => Way::ShiftLeft,
            "vshr" if bits == 32 => Way::ShiftRight,
            "vset" => match mods.one_of(&["eq", "ne", "lt", "le", "gt", "ge"]) {
                Some("eq") => Way::Equal,
                Some("ne") => Way::NotEqual,
                Some("lt") => Way::Less,
                Some("le") => Way::LessOrEqual,
                Some("gt") => Way::Greater,
                Some(_) => Way::GreaterOrEqual,
                None => return Err("the comparison is missing".to_owned()),
            },
            _ => return Err("this instruction is not simulated".to_owned()),
        };
        // A comparison has no result type of its own.
        let d_ty = if stem == "vset" { Ty::U32 } else { word(mods.ty())? };
        let a_ty = word(mods.ty())?;
        let b_ty = word(mods.ty())?;
        let saturate = mods.take("sat");
        let shifts = matches!(way, Way::ShiftLeft | Way::ShiftRight);
        let clamp = shifts
            && mods
                .one_of(&["clamp", "wrap"])
                .ok_or("`.clamp` or `.wrap` is missing")?
                == "clamp";
        let second = mods.one_of(&["add", "min", "max"]);
        operands.count(3, 4)?;
        let accumulate = second == Some("add") && bits != 32;
        let plan = Plan {
            way,
            bits,
            a_signed: a_ty.signed(),
            b_signed: b_ty.signed(),
            d_signed: d_ty.signed(),
            saturate,
            accumulate,
            clamp,
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
        self.emit_mixed(mixed!(|a, b, _c, p| Plan::decode(p).scalar(a, b)), d, &[a, b, a, code]);
        if let Some(second) = second {
            let c = self.source(operands.get(3)?, Ty::B32)?;
            let f: Mixed = match (second, d_ty.signed()) {
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

    fn video_multiply_add(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let d_ty = word(mods.ty())?;
        let a_ty = word(mods.ty())?;
        let b_ty = word(mods.ty())?;
        let plus_one = mods.take("po");
        let saturate = mods.take("sat");
        let scale = match mods.one_of(&["shr7", "shr15"]) {
            Some("shr7") => 7,
            Some(_) => 15,
            None => 0,
        };
        operands.count(4, 4)?;
        let a = self.part(operands.get(1)?, a_ty)?;
        let b = self.part(operands.get(2)?, b_ty)?;
        let c = self.source(operands.get(3)?, Ty::B32)?;
        let d = self.destination(operands.get(0)?, Ty::B32)?;
        let code = u128::from(a_ty.signed())
            | u128::from(b_ty.signed()) << 1
            | u128::from(d_ty.signed()) << 3
            | u128::from(plus_one) << 4
            | u128::from(saturate) << 5
            | scale << 8;
        let code = self.constant(code, 32);
        self.emit_mixed(mixed!(|a, b, c, p| multiply_add(a, b, c, p)), d, &[a, b, c, code]);
        Ok(())
    }

    /// An operand with a `.b0` to `.b3`, `.h0` or `.h1` selector, extended to 32 bits.
    fn part(&mut self, operand: &Operand<'m>, ty: Ty) -> Result<Value> {
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

fn word(ty: Option<Ty>) -> Result<Ty> {
    ty.filter(|t| matches!(t, Ty::U32 | Ty::S32))
        .ok_or_else(|| "the types must be .u32 or .s32".to_owned())
}
