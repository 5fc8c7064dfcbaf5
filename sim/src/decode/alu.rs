//! Integer arithmetic (PTX ISA 9.7.1, 9.7.2).
use super::function::{FunctionDecoder, Operands, Result};
use super::mixed::{lanes32, lanes64, mixed};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{Carry, F1, F2, F3, G1, G2, G3, Logic, Mixed, Op, Value};

impl<'m> FunctionDecoder<'_, 'm> {
    pub(super) fn unary(&mut self, d: Value, a: Value, f: F1, g: G1) {
        self.emit(if d.bits == 64 {
            Op::Unary64(g, d.slot, a.slot)
        } else {
            Op::Unary32(f, d.slot, a.slot)
        });
    }

    pub(super) fn binary32(&mut self, d: Value, s: &[Value], f: F2) {
        self.emit(Op::Binary32(f, d.slot, [s[0].slot, s[1].slot]));
    }

    pub(super) fn binary64(&mut self, d: Value, s: &[Value], f: G2) {
        self.emit(Op::Binary64(f, d.slot, [s[0].slot, s[1].slot]));
    }

    pub(super) fn ternary32(&mut self, d: Value, s: &[Value], f: F3) {
        self.emit(Op::Ternary32(f, d.slot, [s[0].slot, s[1].slot, s[2].slot]));
    }

    pub(super) fn ternary64(&mut self, d: Value, s: &[Value], f: G3) {
        self.emit(Op::Ternary64(f, d.slot, [s[0].slot, s[1].slot, s[2].slot]));
    }

    /// Integer and bit instructions.
    pub(super) fn integer(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        match name {
            "and" | "or" | "xor" | "not" | "cnot" | "lop3" => return self.logic(name, mods, operands),
            "shl" | "shr" | "shf" | "prmt" => return self.shift(name, mods, operands),
            "bfe" | "bfi" | "szext" | "bmsk" | "fns" | "popc" | "clz" | "bfind" | "brev" => {
                return self.bit_field(name, mods, operands);
            }
            "dp4a" | "dp2a" => return self.dot(name, mods, operands),
            "mul" | "mad" | "madc" | "mul24" | "mad24" => return self.multiply(name, mods, operands),
            _ => {}
        }
        let carries = mods.take("cc");
        let takes = matches!(name, "addc" | "subc");
        let saturates = mods.take("sat");
        let ty = mods.ty().ok_or("the type is missing")?;
        if carries || takes {
            let (d, s) = self.operands(operands, ty, 2)?;
            if !matches!(ty.bits(), 32 | 64) || !ty.integer() {
                return Err(format!("type .{} has no carry", ty.name()));
            }
            let carry = self.carry();
            let subtract = name.starts_with("sub");
            self.emit(Op::Carry(Box::new(Carry {
                d,
                a: s[0],
                b: s[1],
                subtract,
                takes,
                gives: carries,
                carry,
            })));
            return Ok(());
        }
        let relu = mods.take("relu");
        if matches!(ty, Ty::U16x2 | Ty::S16x2) {
            return self.packed(name, ty, relu, operands);
        }
        if !ty.integer() || ty.bits() < 16 || ty.bits() > 64 {
            return Err(format!("type .{} is not simulated here", ty.name()));
        }
        match name {
            "abs" | "neg" => {
                let (d, s) = self.operands(operands, ty, 1)?;
                match (name, ty.bits()) {
                    ("neg", 16) => self.emit(Op::Unary32(lanes32!(|a| a.wrapping_neg() & 0xffff), d.slot, s[0].slot)),
                    ("neg", _) => self.unary(d, s[0], lanes32!(|a| a.wrapping_neg()), lanes64!(|a| a.wrapping_neg())),
                    (_, 16) => self.emit(Op::Unary32(
                        lanes32!(|a| u32::from((a as i16).unsigned_abs())),
                        d.slot,
                        s[0].slot,
                    )),
                    _ => self.unary(
                        d,
                        s[0],
                        lanes32!(|a| (a as i32).unsigned_abs()),
                        lanes64!(|a| (a as i64).unsigned_abs()),
                    ),
                }
                Ok(())
            }
            "sad" => {
                let (d, s) = self.operands(operands, ty, 3)?;
                let f: Mixed = match (ty.signed(), ty.bits()) {
                    (true, 16) => mixed!(|a, b, c| c.wrapping_add((a as i16).abs_diff(b as i16).into())),
                    (true, 32) => mixed!(|a, b, c| c.wrapping_add((a as i32).abs_diff(b as i32).into())),
                    (true, _) => mixed!(|a, b, c| c.wrapping_add((a as i64).abs_diff(b as i64))),
                    _ => mixed!(|a, b, c| c.wrapping_add(a.abs_diff(b))),
                };
                self.emit_mixed(f, d, &s);
                Ok(())
            }
            _ => {
                let (d, s) = self.operands(operands, ty, 2)?;
                let signed = ty.signed();
                match ty.bits() {
                    16 => {
                        let f: F2 = match (name, signed) {
                            ("add", _) => lanes32!(|a, b| (a + b) & 0xffff),
                            ("sub", _) => lanes32!(|a, b| a.wrapping_sub(b) & 0xffff),
                            ("min", true) => lanes32!(|a, b| u32::from((a as i16).min(b as i16) as u16)),
                            ("max", true) => lanes32!(|a, b| u32::from((a as i16).max(b as i16) as u16)),
                            ("div", true) => {
                                lanes32!(|a, b| u32::from(divide(a as i16 as i64, b as i16 as i64) as u16))
                            }
                            ("rem", true) => {
                                lanes32!(|a, b| u32::from(remainder(a as i16 as i64, b as i16 as i64) as u16))
                            }
                            ("div", _) => lanes32!(|a, b| a.checked_div(b).unwrap_or(0xffff)),
                            ("rem", _) => lanes32!(|a, b| a.checked_rem(b).unwrap_or(0xffff)),
                            ("min", _) => lanes32!(|a, b| a.min(b)),
                            _ => lanes32!(|a, b| a.max(b)),
                        };
                        self.binary32(d, &s, f);
                    }
                    32 => {
                        let f: F2 = match (name, signed, saturates) {
                            ("add", true, true) => lanes32!(|a, b| (a as i32).saturating_add(b as i32) as u32),
                            ("sub", true, true) => lanes32!(|a, b| (a as i32).saturating_sub(b as i32) as u32),
                            ("add", ..) => lanes32!(|a, b| a.wrapping_add(b)),
                            ("sub", ..) => lanes32!(|a, b| a.wrapping_sub(b)),
                            ("min", true, _) if relu => lanes32!(|a, b| (a as i32).min(b as i32).max(0) as u32),
                            ("max", true, _) if relu => lanes32!(|a, b| (a as i32).max(b as i32).max(0) as u32),
                            ("min", true, _) => lanes32!(|a, b| (a as i32).min(b as i32) as u32),
                            ("max", true, _) => lanes32!(|a, b| (a as i32).max(b as i32) as u32),
                            ("div", true, _) => lanes32!(|a, b| if b == 0 {
                                u32::MAX
                            } else {
                                (a as i32).wrapping_div(b as i32) as u32
                            }),
                            ("rem", true, _) => lanes32!(|a, b| if b == 0 {
                                u32::MAX
                            } else {
                                (a as i32).wrapping_rem(b as i32) as u32
                            }),
                            ("div", ..) => lanes32!(|a, b| a.checked_div(b).unwrap_or(u32::MAX)),
                            ("rem", ..) => lanes32!(|a, b| a.checked_rem(b).unwrap_or(u32::MAX)),
                            ("min", ..) => lanes32!(|a, b| a.min(b)),
                            _ => lanes32!(|a, b| a.max(b)),
                        };
                        self.binary32(d, &s, f);
                    }
                    _ => {
                        let f: G2 = match (name, signed) {
                            ("add", _) => lanes64!(|a, b| a.wrapping_add(b)),
                            ("sub", _) => lanes64!(|a, b| a.wrapping_sub(b)),
                            ("min", true) => lanes64!(|a, b| (a as i64).min(b as i64) as u64),
                            ("max", true) => lanes64!(|a, b| (a as i64).max(b as i64) as u64),
                            ("div", true) => lanes64!(|a, b| divide(a as i64, b as i64) as u64),
                            ("rem", true) => lanes64!(|a, b| remainder(a as i64, b as i64) as u64),
                            ("div", _) => lanes64!(|a, b| a.checked_div(b).unwrap_or(u64::MAX)),
                            ("rem", _) => lanes64!(|a, b| a.checked_rem(b).unwrap_or(u64::MAX)),
                            ("min", _) => lanes64!(|a, b| a.min(b)),
                            _ => lanes64!(|a, b| a.max(b)),
                        };
                        self.binary64(d, &s, f);
                    }
                }
                if saturates && !(ty == Ty::S32 && matches!(name, "add" | "sub")) {
                    return Err(format!("`.sat` does not go with type .{}", ty.name()));
                }
                if relu && !(ty == Ty::S32 && matches!(name, "min" | "max")) {
                    return Err(format!("`.relu` does not go with type .{}", ty.name()));
                }
                Ok(())
            }
        }
    }

    fn packed(&mut self, name: &str, ty: Ty, relu: bool, operands: &Operands<'m>) -> Result<()> {
        use crate::number::half::both2;
        let (d, s) = self.operands(operands, ty, 2)?;
        let f: F2 = match (name, ty == Ty::S16x2, relu) {
            ("add", _, false) => lanes32!(|a, b| both2(a, b, |a, b| a.wrapping_add(b))),
            ("sub", _, false) => lanes32!(|a, b| both2(a, b, |a, b| a.wrapping_sub(b))),
            ("min", true, false) => lanes32!(|a, b| both2(a, b, |a, b| (a as i16).min(b as i16) as u32)),
            ("max", true, false) => lanes32!(|a, b| both2(a, b, |a, b| (a as i16).max(b as i16) as u32)),
            ("min", true, true) => lanes32!(|a, b| both2(a, b, |a, b| (a as i16).min(b as i16).max(0) as u32)),
            ("max", true, true) => lanes32!(|a, b| both2(a, b, |a, b| (a as i16).max(b as i16).max(0) as u32)),
            ("min", false, false) => lanes32!(|a, b| both2(a, b, |a, b| a.min(b))),
            ("max", false, false) => lanes32!(|a, b| both2(a, b, |a, b| a.max(b))),
            _ => return Err(format!("type .{} is not simulated here", ty.name())),
        };
        self.binary32(d, &s, f);
        Ok(())
    }

    fn multiply(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let part = mods
            .one_of(&["wide", "hi", "lo"])
            .ok_or("`.lo`, `.hi` or `.wide` is missing")?;
        let carries = mods.take("cc");
        let saturates = mods.take("sat");
        let ty = mods.ty().ok_or("the type is missing")?;
        let (bits, signed) = (ty.bits(), ty.signed());
        if !ty.integer() || !matches!(bits, 16 | 32 | 64) {
            return Err(format!("type .{} is not simulated here", ty.name()));
        }
        let adds = name.starts_with("mad");
        operands.count(3 + usize::from(adds), 3 + usize::from(adds))?;
        let a = self.source(operands.get(1)?, ty)?;
        let b = self.source(operands.get(2)?, ty)?;
        if name.ends_with("24") {
            if bits != 32 {
                return Err("24-bit products have 32-bit operands".to_owned());
            }
            let d = self.destination(operands.get(0)?, ty)?;
            let f: Mixed = match (part, signed, saturates) {
                ("lo", true, false) => mixed!(|a, b, c| (signed24(a) * signed24(b)).wrapping_add(c as i64) as u64),
                ("lo", false, false) => mixed!(|a, b, c| ((a & 0xff_ffff) * (b & 0xff_ffff)).wrapping_add(c)),
                ("hi", true, false) => {
                    mixed!(|a, b, c| ((signed24(a) * signed24(b)) >> 16).wrapping_add(c as i64) as u64)
                }
                ("hi", false, false) => mixed!(|a, b, c| (((a & 0xff_ffff) * (b & 0xff_ffff)) >> 16).wrapping_add(c)),
                ("hi", true, true) => {
                    mixed!(|a, b, c| saturate(((signed24(a) * signed24(b)) >> 16) as i32 as i64 + c as i32 as i64))
                }
                _ => return Err("this combination of modifiers does not exist".to_owned()),
            };
            let c = if adds {
                self.source(operands.get(3)?, ty)?
            } else {
                self.constant(0, 32)
            };
            self.emit_mixed(f, d, &[a, b, c]);
            return Ok(());
        }
        let wide = match ty {
            Ty::U16 => Ty::U32,
            Ty::S16 => Ty::S32,
            Ty::U32 => Ty::U64,
            Ty::S32 => Ty::S64,
            other if part == "wide" => return Err(format!("`.wide` does not go with type .{}", other.name())),
            other => other,
        };
        let result = if part == "wide" { wide } else { ty };
        let d = self.destination(operands.get(0)?, result)?;
        let c = if adds {
            Some(self.source(operands.get(3)?, result)?)
        } else {
            None
        };
        if saturates {
            let Some(c) = c.filter(|_| part == "hi" && ty == Ty::S32 && !carries && name == "mad") else {
                return Err("`.sat` goes with mad.hi.s32 only".to_owned());
            };
            self.emit_mixed(
                mixed!(|a, b, c| saturate(((a as i32 as i64 * b as i32 as i64) >> 32) + c as i32 as i64)),
                d,
                &[a, b, c],
            );
            return Ok(());
        }
        if carries || name == "madc" {
            let Some(c) = c.filter(|_| part != "wide" && bits != 16) else {
                return Err("carries go with mad.lo and mad.hi of 32 and 64 bits".to_owned());
            };
            let product = self.temporary(bits);
            self.product(part, ty, product, a, b);
            let carry = self.carry();
            let takes = name == "madc";
            self.emit(Op::Carry(Box::new(Carry {
                d,
                a: product,
                b: c,
                subtract: false,
                takes,
                gives: carries,
                carry,
            })));
            return Ok(());
        }
        match c {
            None => self.product(part, ty, d, a, b),
            Some(c) => match (part, bits, signed) {
                ("lo", 32, _) => self.ternary32(d, &[a, b, c], lanes32!(|a, b, c| a.wrapping_mul(b).wrapping_add(c))),
                ("lo", 64, _) => self.ternary64(d, &[a, b, c], lanes64!(|a, b, c| a.wrapping_mul(b).wrapping_add(c))),
                ("wide", 32, true) => {
                    self.emit_mixed(
                        mixed!(|a, b, c| ((a as i32 as i64 * b as i32 as i64) as u64).wrapping_add(c)),
                        d,
                        &[a, b, c],
                    );
                }
                ("wide", 32, false) => self.emit_mixed(mixed!(|a, b, c| (a * b).wrapping_add(c)), d, &[a, b, c]),
                _ => {
                    let product = self.temporary(result.bits());
                    self.product(part, ty, product, a, b);
                    self.emit_mixed(mixed!(|a, b| a.wrapping_add(b)), d, &[product, c]);
                }
            },
        }
        Ok(())
    }

    fn product(&mut self, part: &str, ty: Ty, d: Value, a: Value, b: Value) {
        let f: Mixed = match (part, ty.bits(), ty.signed()) {
            ("lo", 32, _) => return self.binary32(d, &[a, b], lanes32!(|a, b| a.wrapping_mul(b))),
            ("lo", 64, _) => return self.binary64(d, &[a, b], lanes64!(|a, b| a.wrapping_mul(b))),
            ("lo", ..) => mixed!(|a, b| a.wrapping_mul(b)),
            ("wide", 16, true) => mixed!(|a, b| (a as i16 as i64 * b as i16 as i64) as u64),
            ("wide", _, true) => mixed!(|a, b| (a as i32 as i64 * b as i32 as i64) as u64),
            ("wide", ..) => mixed!(|a, b| a * b),
            (_, 16, true) => mixed!(|a, b| ((a as i16 as i64 * b as i16 as i64) >> 16) as u64),
            (_, 16, false) => mixed!(|a, b| (a * b) >> 16),
            (_, 32, true) => mixed!(|a, b| ((a as i32 as i64 * b as i32 as i64) >> 32) as u64),
            (_, 32, false) => mixed!(|a, b| (a * b) >> 32),
            (_, _, true) => mixed!(|a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
            (_, _, false) => mixed!(|a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        };
        self.emit_mixed(f, d, &[a, b]);
    }

    fn dot(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let high = if name == "dp2a" {
            mods.one_of(&["lo", "hi"]).ok_or("`.lo` or `.hi` is missing")? == "hi"
        } else {
            false
        };
        let a_ty = mods.ty().ok_or("the type is missing")?;
        let b_ty = mods.ty().ok_or("the second type is missing")?;
        if a_ty.bits() != 32 || b_ty.bits() != 32 {
            return Err("the types must be .u32 or .s32".to_owned());
        }
        operands.count(4, 4)?;
        let s = (1..4)
            .map(|i| self.source(operands.get(i)?, Ty::B32))
            .collect::<Result<Vec<_>>>()?;
        let d = self.destination(operands.get(0)?, Ty::B32)?;
        let f: Mixed = match (name, high, a_ty.signed(), b_ty.signed()) {
            ("dp4a", _, false, false) => mixed!(|a, b, c| dot4(a, b, c, false, false)),
            ("dp4a", _, false, true) => mixed!(|a, b, c| dot4(a, b, c, false, true)),
            ("dp4a", _, true, false) => mixed!(|a, b, c| dot4(a, b, c, true, false)),
            ("dp4a", _, true, true) => mixed!(|a, b, c| dot4(a, b, c, true, true)),
            (_, false, false, false) => mixed!(|a, b, c| dot2(a, b, c, false, false)),
            (_, false, false, true) => mixed!(|a, b, c| dot2(a, b, c, false, true)),
            (_, false, true, false) => mixed!(|a, b, c| dot2(a, b, c, true, false)),
            (_, false, true, true) => mixed!(|a, b, c| dot2(a, b, c, true, true)),
            (_, true, false, false) => mixed!(|a, b, c| dot2(a, b >> 16, c, false, false)),
            (_, true, false, true) => mixed!(|a, b, c| dot2(a, b >> 16, c, false, true)),
            (_, true, true, false) => mixed!(|a, b, c| dot2(a, b >> 16, c, true, false)),
            (_, true, true, true) => mixed!(|a, b, c| dot2(a, b >> 16, c, true, true)),
        };
        self.emit_mixed(f, d, &s);
        Ok(())
    }
}

/// A Boolean operator by its PTX name.
pub(super) fn parse_logic(name: &str) -> Option<Logic> {
    Some(match name {
        "and" => Logic::And,
        "or" => Logic::Or,
        "xor" => Logic::Xor,
        _ => return None,
    })
}

/// The untyped type of a width.
pub(super) fn bits_type(bits: u8) -> Option<Ty> {
    Some(match bits {
        8 => Ty::B8,
        16 => Ty::B16,
        32 => Ty::B32,
        64 => Ty::B64,
        _ => return None,
    })
}

/// Division by zero gives all ones.
fn divide(a: i64, b: i64) -> i64 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// The remainder of a division by zero has all bits set too.
fn remainder(a: i64, b: i64) -> i64 {
    if b == 0 { -1 } else { a.wrapping_rem(b) }
}

fn signed24(a: u64) -> i64 {
    ((a as i32) << 8 >> 8) as i64
}

fn saturate(v: i64) -> u64 {
    v.clamp(i32::MIN.into(), i32::MAX.into()) as u32 as u64
}

fn byte(v: u64, index: u64, signed: bool) -> i64 {
    let b = (v >> (8 * index)) as u8;
    if signed { b as i8 as i64 } else { b as i64 }
}

fn dot4(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool) -> u64 {
    (0..4).fold(c as i64, |d, i| d + byte(a, i, a_signed) * byte(b, i, b_signed)) as u64
}

fn dot2(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool) -> u64 {
    (0..2).fold(c as i64, |d, i| {
        let h = (a >> (16 * i)) as u16;
        let h = if a_signed { h as i16 as i64 } else { h as i64 };
        d + h * byte(b, i, b_signed)
    }) as u64
}
