//! `cvt` (PTX ISA 9.7.9.21) and `cvta`.
//!
//! A conversion is described by one constant operand, [`Plan`], and computed exactly: integers and numbers go through
//! [`Soft`] and are rounded once.
use super::function::{FunctionDecoder, Operands, Result};
use super::mixed::mixed;
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{LOCAL_WINDOW, Op, PARAM_BASE, SHARED_WINDOW, Value};
use crate::number::soft::Soft;
use crate::number::{
    BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, F64, Format, NAN16, NAN32, Rounding, TF32, flush32, saturate32,
};
use crate::ptx::Operand;

/// One side of a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Integer { bits: u8, signed: bool },
    Float(Kind),
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    F16,
    Bf16,
    F32,
    F64,
    Tf32,
    E4m3,
    E5m2,
    E3m2,
    E2m3,
    E2m1,
}

const KINDS: [Kind; 10] = [
    Kind::F16,
    Kind::Bf16,
    Kind::F32,
    Kind::F64,
    Kind::Tf32,
    Kind::E4m3,
    Kind::E5m2,
    Kind::E3m2,
    Kind::E2m3,
    Kind::E2m1,
];

impl Kind {
    fn format(self) -> Format {
        match self {
            Kind::F16 => F16,
            Kind::Bf16 => BF16,
            Kind::F32 => F32,
            Kind::F64 => F64,
            Kind::Tf32 => TF32,
            Kind::E4m3 => E4M3,
            Kind::E5m2 => E5M2,
            Kind::E3m2 => E3M2,
            Kind::E2m3 => E2M3,
            Kind::E2m1 => E2M1,
        }
    }
}

/// What a conversion does, packed into a constant operand.
#[derive(Clone, Copy)]
struct Plan {
    to: Side,
    from: Side,
    rounding: Rounding,
    /// Rounds to an integral value of the float format.
    integral: bool,
    flush: bool,
    saturate: bool,
    /// Overflow gives the largest number.
    finite: bool,
    relu: bool,
}

const ROUNDINGS: [Rounding; 5] = [
    Rounding::Nearest,
    Rounding::NearestAway,
    Rounding::Zero,
    Rounding::Up,
    Rounding::Down,
];

impl Plan {
    fn encode(self) -> u64 {
        let side = |s: Side| match s {
            Side::Integer { bits, signed } => u64::from(bits) | u64::from(signed) << 7,
            Side::Float(kind) => 1 << 8 | kind as u64,
        };
        side(self.to)
            | side(self.from) << 9
            | (self.rounding as u64) << 18
            | u64::from(self.integral) << 21
            | u64::from(self.flush) << 22
            | u64::from(self.saturate) << 23
            | u64::from(self.finite) << 24
            | u64::from(self.relu) << 25
    }

    fn decode(code: u64) -> Plan {
        let side = |s: u64| {
            if s >> 8 & 1 == 0 {
                Side::Integer {
                    bits: (s & 127) as u8,
                    signed: s >> 7 & 1 != 0,
                }
            } else {
                Side::Float(KINDS[(s & 15) as usize % KINDS.len()])
            }
        };
        Plan {
            to: side(code),
            from: side(code >> 9),
            rounding: ROUNDINGS[(code >> 18 & 7) as usize % 5],
            integral: code >> 21 & 1 != 0,
            flush: code >> 22 & 1 != 0,
            saturate: code >> 23 & 1 != 0,
            finite: code >> 24 & 1 != 0,
            relu: code >> 25 & 1 != 0,
        }
    }

    fn convert(self, x: u64) -> u64 {
        match (self.to, self.from) {
            (
                Side::Integer { bits, signed },
                Side::Integer {
                    bits: from,
                    signed: from_signed,
                },
            ) => self.between_integers(integer(x, from, from_signed), bits, signed),
            (Side::Integer { bits, signed }, Side::Float(kind)) => self.to_integer(x, kind, bits, signed),
            (Side::Float(kind), Side::Integer { bits, signed }) => {
                let value = integer(x, bits, signed);
                let soft = Soft {
                    negative: value < 0,
                    significand: value.unsigned_abs(),
                    exponent: 0,
                };
                self.finish(kind, kind.format().pack(soft, self.rounding))
            }
            (Side::Float(to), Side::Float(from)) => self.between_floats(x, to, from),
        }
    }

    fn between_integers(self, value: i128, bits: u8, signed: bool) -> u64 {
        let value = if self.saturate {
            clamp(value, bits, signed)
        } else {
            value
        };
        value as u64 & ones(bits)
    }

    fn to_integer(self, x: u64, kind: Kind, bits: u8, signed: bool) -> u64 {
        let format = kind.format();
        let x = if self.flush && kind == Kind::F32 {
            flush32(x as u32).into()
        } else {
            x
        };
        if format.is_nan(x) {
            // A NaN gives 0 where neither side has 64 bits and the top bit alone elsewhere.
            return if bits == 64 || kind == Kind::F64 {
                1 << (bits - 1)
            } else {
                0
            };
        }
        let (low, high) = range(bits, signed);
        let negative = x & format.sign_bit() != 0;
        if format.is_infinite(x) {
            return (if negative { low } else { high }) as u64 & ones(bits);
        }
        let value = integral(format.unpack(x), self.rounding);
        value.clamp(low, high) as u64 & ones(bits)
    }

    fn between_floats(self, x: u64, to: Kind, from: Kind) -> u64 {
        let (source, target) = (from.format(), to.format());
        let x = if self.flush && from == Kind::F32 {
            flush32(x as u32).into()
        } else {
            x
        };
        if source.is_nan(x) {
            let nan = match (to, from) {
                // Between double and other formats sign and payload survive; `.ftz` makes the source the usual NaN first.
                (Kind::F64, Kind::F32) if self.flush => payload(NAN32.into(), F32, F64),
                (Kind::F64, _) | (_, Kind::F64) => payload(x, source, target),
                (Kind::F32, Kind::Bf16) => x << 16,
                // The bits that tf32 lacks are cut off, or the NaN is tf32's own.
                (Kind::Tf32, _) if self.rounding == Rounding::NearestAway => x & 0xffff_e000,
                (Kind::Tf32, _) => 0x7fff_e000,
                (Kind::F32, _) => NAN32.into(),
                (Kind::F16 | Kind::Bf16, _) => NAN16.into(),
                (other, _) => other.format().nan(),
            };
            return self.finish(to, nan);
        }
        if source.is_infinite(x) {
            let sign = if x & source.sign_bit() != 0 {
                target.sign_bit()
            } else {
                0
            };
            let magnitude = if self.finite {
                target.largest()
            } else {
                target.infinity()
            };
            return self.finish(to, sign | magnitude);
        }
        if self.integral {
            let soft = source.unpack(x);
            let value = integral(soft, self.rounding);
            let rounded = if soft.exponent >= 0 {
                soft
            } else {
                Soft {
                    negative: soft.negative,
                    significand: value.unsigned_abs(),
                    exponent: 0,
                }
            };
            return self.finish(to, target.pack(rounded, Rounding::Nearest));
        }
        self.finish(to, target.pack(source.unpack(x), self.rounding))
    }

    fn finish(self, kind: Kind, bits: u64) -> u64 {
        let format = kind.format();
        let mut bits = bits;
        if self.finite && format.is_infinite(bits) {
            bits = bits & format.sign_bit() | format.largest();
        }
        if self.flush && kind == Kind::F32 {
            bits = flush32(bits as u32).into();
        }
        if self.saturate {
            bits = match kind {
                Kind::F32 => saturate32(bits as u32).into(),
                _ => {
                    let value = format.to_f64(bits);
                    let clamped = if value.is_nan() {
                        0.0
                    } else {
                        value.clamp(0.0, 1.0) + 0.0
                    };
                    format.from_f64(clamped, Rounding::Nearest)
                }
            };
        }
        if self.relu && bits & format.sign_bit() != 0 && !format.is_nan(bits) {
            bits = 0;
        }
        bits
    }
}

/// A NaN in another format: the sign, and the fraction's upper bits with the quiet bit set.
fn payload(x: u64, from: Format, to: Format) -> u64 {
    let fraction = x & ((1 << from.fraction_bits) - 1);
    let fraction = if from.fraction_bits > to.fraction_bits {
        fraction >> (from.fraction_bits - to.fraction_bits)
    } else {
        fraction << (to.fraction_bits - from.fraction_bits)
    };
    let sign = if x & from.sign_bit() != 0 { to.sign_bit() } else { 0 };
    sign | to.infinity() | fraction | 1 << (to.fraction_bits - 1)
}

fn ones(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn integer(x: u64, bits: u8, signed: bool) -> i128 {
    let shift = 64 - u32::from(bits.clamp(1, 64));
    if signed {
        i128::from((x << shift) as i64 >> shift)
    } else {
        i128::from(x << shift >> shift)
    }
}

fn range(bits: u8, signed: bool) -> (i128, i128) {
    if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

fn clamp(value: i128, bits: u8, signed: bool) -> i128 {
    let (low, high) = range(bits, signed);
    value.clamp(low, high)
}

/// The number rounded to an integer; far outside 64 bits any such value does.
fn integral(soft: Soft, rounding: Rounding) -> i128 {
    const FAR: i128 = 1 << 100;
    let magnitude = if soft.significand == 0 {
        0
    } else if soft.exponent >= 0 {
        let top = 128 - soft.significand.leading_zeros() as i32 + soft.exponent;
        if top > 100 {
            FAR
        } else {
            (soft.significand << soft.exponent) as i128
        }
    } else {
        let shift = -soft.exponent as u32;
        let (whole, rest, half) = if shift >= 127 {
            (0, 1, 2)
        } else {
            (
                soft.significand >> shift,
                soft.significand & ((1 << shift) - 1),
                1 << (shift - 1),
            )
        };
        let up = match rounding {
            Rounding::Nearest => rest > half || rest == half && whole & 1 != 0,
            Rounding::NearestAway => rest >= half,
            Rounding::Zero => false,
            Rounding::Up => rest != 0 && !soft.negative,
            Rounding::Down => rest != 0 && soft.negative,
        };
        whole as i128 + i128::from(up)
    };
    if soft.negative { -magnitude } else { magnitude }
}

fn side(ty: Ty) -> Option<Side> {
    Some(match ty {
        Ty::F16 | Ty::F16x2 => Side::Float(Kind::F16),
        Ty::Bf16 | Ty::Bf16x2 => Side::Float(Kind::Bf16),
        Ty::F32 => Side::Float(Kind::F32),
        Ty::F64 => Side::Float(Kind::F64),
        Ty::Tf32 => Side::Float(Kind::Tf32),
        Ty::E4m3x2 => Side::Float(Kind::E4m3),
        Ty::E5m2x2 => Side::Float(Kind::E5m2),
        Ty::E3m2x2 => Side::Float(Kind::E3m2),
        Ty::E2m3x2 => Side::Float(Kind::E2m3),
        Ty::E2m1x2 => Side::Float(Kind::E2m1),
        _ if ty.integer() && ty.bits() <= 64 => Side::Integer {
            bits: ty.bits(),
            signed: ty.signed(),
        },
        _ => return None,
    })
}

impl<'m> FunctionDecoder<'_, 'm> {
    /// `cvt` and `cvta`.
    pub(super) fn conversion(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        if name == "cvta" {
            return self.address_conversion(mods, operands);
        }
        let integral = mods.integer_rounding();
        let rounding = mods.rounding();
        let flush = mods.take("ftz");
        let saturate = mods.take("sat");
        let relu = mods.take("relu");
        let finite = mods.take("satfinite");
        if mods.take("pack") {
            return self.pack(saturate, mods, operands);
        }
        let to = mods.ty().ok_or("the result type is missing")?;
        let from = mods.ty().ok_or("the source type is missing")?;
        let none = || format!("conversion from .{} to .{} is not simulated", from.name(), to.name());
        let plan = Plan {
            to: side(to).ok_or_else(none)?,
            from: side(from).ok_or_else(none)?,
            rounding: integral.or(rounding).unwrap_or(Rounding::Nearest),
            integral: integral.is_some(),
            flush,
            saturate,
            finite,
            relu,
        };
        let is_byte = |ty: Ty| matches!(ty, Ty::E4m3x2 | Ty::E5m2x2 | Ty::E3m2x2 | Ty::E2m3x2);
        let (eight, four) = (is_byte(to), to == Ty::E2m1x2);
        let paired = eight || four || is_byte(from) || from == Ty::E2m1x2 || matches!(to, Ty::F16x2 | Ty::Bf16x2);
        // What has no infinity and no NaN saturates, and PTX has it say so.
        let saturates = matches!(to, Ty::E3m2x2 | Ty::E2m3x2 | Ty::E2m1x2);
        if saturates && !(finite && plan.rounding == Rounding::Nearest) {
            return Err(format!("conversion to .{} needs `.rn` and `.satfinite`", to.name()));
        }
        let code = self.constant(plan.encode().into(), 64);
        if !paired {
            if matches!(from, Ty::F16x2 | Ty::Bf16x2) {
                return Err(none());
            }
            operands.count(2, 2)?;
            let s = self.source_of(operands.get(1)?, from, true)?;
            let d = self.destination_of(operands.get(0)?, to, true)?;
            return self.convert(d, s, to, from, &plan, code);
        }
        let whole = match to.bits() {
            8 => Ty::B8,
            16 => Ty::B16,
            _ => Ty::B32,
        };
        let d = self.destination(operands.get(0)?, whole)?;
        match (operands.len(), from) {
            (3, Ty::F32) => {
                // The first source goes to the upper half.
                let high = self.source(operands.get(1)?, Ty::F32)?;
                let low = self.source(operands.get(2)?, Ty::F32)?;
                if eight {
                    let f = mixed!(|a, b, p| Plan::decode(p).convert(a) << 8 | Plan::decode(p).convert(b));
                    self.emit_mixed(f, d, &[high, low, code]);
                } else if four {
                    let f = mixed!(|a, b, p| Plan::decode(p).convert(a) << 4 | Plan::decode(p).convert(b));
                    self.emit_mixed(f, d, &[high, low, code]);
                } else {
                    let f = mixed!(|a, b, p| Plan::decode(p).convert(a) << 16 | Plan::decode(p).convert(b));
                    self.emit_mixed(f, d, &[high, low, code]);
                }
            }
            (2, Ty::F16x2 | Ty::Bf16x2) if eight && !saturates => {
                let s = self.source(operands.get(1)?, Ty::B32)?;
                let f = mixed!(|a, p| Plan::decode(p).convert(a >> 16) << 8 | Plan::decode(p).convert(a & 0xffff));
                self.emit_mixed(f, d, &[s, code]);
            }
            (2, Ty::E2m1x2) if to == Ty::F16x2 => {
                let s = self.source(operands.get(1)?, Ty::B8)?;
                let f = mixed!(|a, p| Plan::decode(p).convert(a >> 4 & 0xf) << 16 | Plan::decode(p).convert(a & 0xf));
                self.emit_mixed(f, d, &[s, code]);
            }
            (2, Ty::E3m2x2 | Ty::E2m3x2) if to == Ty::F16x2 => {
                let s = self.source(operands.get(1)?, Ty::B16)?;
                let f = mixed!(|a, p| Plan::decode(p).convert(a >> 8 & 0x3f) << 16 | Plan::decode(p).convert(a & 0x3f));
                self.emit_mixed(f, d, &[s, code]);
            }
            (2, Ty::E4m3x2 | Ty::E5m2x2) if matches!(to, Ty::F16x2 | Ty::Bf16x2) => {
                let s = self.source(operands.get(1)?, Ty::B16)?;
                let f = mixed!(|a, p| Plan::decode(p).convert(a >> 8 & 0xff) << 16 | Plan::decode(p).convert(a & 0xff));
                self.emit_mixed(f, d, &[s, code]);
            }
            _ => return Err(none()),
        }
        Ok(())
    }

    fn convert(&mut self, d: Value, s: Value, to: Ty, from: Ty, plan: &Plan, code: Value) -> Result<()> {
        use super::mixed::lanes32;
        match (to, from) {
            // Plain truncations and extensions, most of what compilers emit.
            _ if to.integer() && from.integer() && !plan.saturate => {
                let wide = d.bits;
                let signed = from.signed();
                if to.bits() <= from.bits() && wide == to.bits()
                    || !signed && from.bits() == s.bits && to.bits() >= from.bits()
                {
                    if d.bits <= 32 && s.bits <= 32 && d.bits >= s.bits {
                        self.emit(Op::Copy32(d.slot, s.slot));
                    } else {
                        self.emit_mixed(mixed!(|a| a), d, &[s]);
                    }
                    return Ok(());
                }
                if signed && to.bits() >= from.bits() && wide == to.bits() {
                    let f = match from.bits() {
                        8 => mixed!(|a| a as i8 as i64 as u64),
                        16 => mixed!(|a| a as i16 as i64 as u64),
                        32 => mixed!(|a| a as i32 as i64 as u64),
                        _ => mixed!(|a| a),
                    };
                    self.emit_mixed(f, d, &[s]);
                    return Ok(());
                }
                // Registers wider than the types: the result extends by the destination's signedness.
                self.emit_mixed(mixed!(|a, p| Plan::decode(p).convert(a)), d, &[s, code]);
                self.extend(d, to);
            }
            (Ty::F32, Ty::F16) if !plan.saturate => {
                self.emit(Op::Unary32(
                    lanes32!(|a| crate::number::bits32(::half::f16::from_bits(a as u16).to_f32())),
                    d.slot,
                    s.slot,
                ));
            }
            (Ty::F32, Ty::Bf16) if !plan.saturate && !plan.flush => {
                self.emit(Op::Unary32(lanes32!(|a| a << 16), d.slot, s.slot));
            }
            _ => {
                self.emit_mixed(mixed!(|a, p| Plan::decode(p).convert(a)), d, &[s, code]);
                self.extend(d, to);
            }
        }
        Ok(())
    }

    /// Extends a result of type `ty` to a wider register.
    fn extend(&mut self, d: Value, ty: Ty) {
        if d.bits > ty.bits() && ty.signed() {
            let f = match ty.bits() {
                8 => mixed!(|a| a as i8 as i64 as u64),
                16 => mixed!(|a| a as i16 as i64 as u64),
                _ => mixed!(|a| a as i32 as i64 as u64),
            };
            self.emit_mixed(f, d, &[d]);
        }
    }

    /// `cvt.pack.sat`: two integers saturated and joined, perhaps above the low bits of a third operand.
    fn pack(&mut self, saturate: bool, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let (bits, signed) = mods
            .find(|p| match p {
                "u16" => Some((16, false)),
                "s16" => Some((16, true)),
                "u8" => Some((8, false)),
                "s8" => Some((8, true)),
                _ => None,
            })
            .ok_or("cvt.pack to this type is not simulated")?;
        let with_c = mods.take("s32") && mods.take("b32");
        if !saturate {
            return Err("cvt.pack needs `.sat`".to_owned());
        }
        operands.count(3, 4)?;
        let plan = Plan {
            to: Side::Integer { bits, signed },
            from: Side::Integer { bits: 32, signed: true },
            rounding: Rounding::Nearest,
            integral: false,
            flush: false,
            saturate: true,
            finite: false,
            relu: false,
        };
        let code = self.constant(plan.encode().into(), 64);
        let a = self.source(operands.get(1)?, Ty::S32)?;
        let b = self.source(operands.get(2)?, Ty::S32)?;
        let d = self.destination(operands.get(0)?, Ty::B32)?;
        let c = if with_c && operands.len() == 4 {
            self.source(operands.get(3)?, Ty::B32)?
        } else {
            self.constant(0, 32)
        };
        let f = if bits == 16 {
            mixed!(|a, b, _c, p| Plan::decode(p).convert(a) << 16 | Plan::decode(p).convert(b))
        } else {
            mixed!(|a, b, c, p| Plan::decode(p).convert(a) << 8 | Plan::decode(p).convert(b) | c << 16)
        };
        self.emit_mixed(f, d, &[a, b, c, code]);
        Ok(())
    }

    fn address_conversion(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let to = mods.take("to");
        // What is added to an address of the space to make it generic; that of parameters is the kernel's own.
        let window = mods
            .find(|p| {
                Some(match p {
                    "global" | "const" => Some(0),
                    "param" | "param::entry" => None,
                    "shared" | "shared::cta" | "shared::cluster" => Some(SHARED_WINDOW),
                    "local" => Some(LOCAL_WINDOW),
                    _ => return None,
                })
            })
            .ok_or("the state space is missing")?;
        let window = match window {
            Some(window) => window,
            None if self.entry => self.param_block.wrapping_sub(PARAM_BASE),
            None => {
                return Err(
                    "cvta.param stands in a function; expected it in an .entry, whose parameters alone have generic \
                     addresses: convert there, and pass the address on"
                        .to_owned(),
                );
            }
        };
        let ty = mods.ty().filter(|t| t.bits() == 64).ok_or("the type must be .u64")?;
        operands.count(2, 2)?;
        let s = match operands.get(1)? {
            Operand::Name(..) | Operand::Literal(_) => self.source(operands.get(1)?, ty)?,
            _ => return Err("expected an address".to_owned()),
        };
        let d = self.destination(operands.get(0)?, ty)?;
        if window == 0 {
            self.copy(d, s);
        } else {
            let w = self.constant(window.into(), 64);
            let f = if to {
                super::mixed::lanes64!(|a, w| a.wrapping_sub(w))
            } else {
                super::mixed::lanes64!(|a, w| a.wrapping_add(w))
            };
            self.binary64(d, &[s, w], f);
        }
        Ok(())
    }
}
