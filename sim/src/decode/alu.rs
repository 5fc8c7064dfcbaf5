//! Integer arithmetic, logic and shifts (PTX ISA 9.7.1, 9.7.2, 9.7.8), comparison and selection (9.7.6, 9.7.7), `mov`.
use super::function::{FunctionDecoder, Operands, Result, Symbol};
use super::mixed::{compare32, compare64, lanes32, lanes64, mixed};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{Carry, Cmp32, Cmp64, F1, F2, F3, G1, G2, G3, Logic, Mixed, Op, Outcome, Predicate, Slot, Value};
use crate::ptx::Operand;

impl<'m> FunctionDecoder<'_, 'm> {
    fn unary(&mut self, d: Value, a: Value, f: F1, g: G1) {
        self.emit(if d.bits == 64 { Op::Unary64(g, d.slot, a.slot) } else { Op::Unary32(f, d.slot, a.slot) });
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
            self.emit(Op::Carry(Box::new(Carry { d, a: s[0], b: s[1], subtract, takes, gives: carries, carry })));
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
                    (_, 16) => self.emit(Op::Unary32(lanes32!(|a| u32::from((a as i16).unsigned_abs())), d.slot, s[0].slot)),
                    _ => self.unary(d, s[0], lanes32!(|a| (a as i32).unsigned_abs()), lanes64!(|a| (a as i64).unsigned_abs())),
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
                            ("div", true) => lanes32!(|a, b| u32::from(divide(a as i16 as i64, b as i16 as i64) as u16)),
                            ("rem", true) => lanes32!(|a, b| u32::from(remainder(a as i16 as i64, b as i16 as i64) as u16)),
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
                            ("div", true, _) => lanes32!(|a, b| if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 }),
                            ("rem", true, _) => lanes32!(|a, b| if b == 0 { u32::MAX } else { (a as i32).wrapping_rem(b as i32) as u32 }),
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
        let part = mods.one_of(&["wide", "hi", "lo"]).ok_or("`.lo`, `.hi` or `.wide` is missing")?;
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
                ("hi", true, false) => mixed!(|a, b, c| (signed24(a) * signed24(b) >> 16).wrapping_add(c as i64) as u64),
                ("hi", false, false) => mixed!(|a, b, c| ((a & 0xff_ffff) * (b & 0xff_ffff) >> 16).wrapping_add(c)),
                ("hi", true, true) => {
                    mixed!(|a, b, c| saturate((signed24(a) * signed24(b) >> 16) as i32 as i64 + c as i32 as i64))
                }
                _ => return Err("this combination of modifiers does not exist".to_owned()),
            };
            let c = if adds { self.source(operands.get(3)?, ty)? } else { self.constant(0, 32) };
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
        let c = if adds { Some(self.source(operands.get(3)?, result)?) } else { None };
        if saturates {
            let Some(c) = c.filter(|_| part == "hi" && ty == Ty::S32 && !carries && name == "mad") else {
                return Err("`.sat` goes with mad.hi.s32 only".to_owned());
            };
            self.emit_mixed(
                mixed!(|a, b, c| saturate((a as i32 as i64 * b as i32 as i64 >> 32) + c as i32 as i64)),
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
            self.emit(Op::Carry(Box::new(Carry { d, a: product, b: c, subtract: false, takes, gives: carries, carry })));
            return Ok(());
        }
        match c {
            None => self.product(part, ty, d, a, b),
            Some(c) => match (part, bits, signed) {
                ("lo", 32, _) => self.ternary32(d, &[a, b, c], lanes32!(|a, b, c| a.wrapping_mul(b).wrapping_add(c))),
                ("lo", 64, _) => self.ternary64(d, &[a, b, c], lanes64!(|a, b, c| a.wrapping_mul(b).wrapping_add(c))),
                ("wide", 32, true) => {
                    self.emit_mixed(mixed!(|a, b, c| ((a as i32 as i64 * b as i32 as i64) as u64).wrapping_add(c)), d, &[a, b, c]);
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
            (_, 16, true) => mixed!(|a, b| (a as i16 as i64 * b as i16 as i64 >> 16) as u64),
            (_, 16, false) => mixed!(|a, b| a * b >> 16),
            (_, 32, true) => mixed!(|a, b| (a as i32 as i64 * b as i32 as i64 >> 32) as u64),
            (_, 32, false) => mixed!(|a, b| a * b >> 32),
            (_, _, true) => mixed!(|a, b| (i128::from(a as i64) * i128::from(b as i64) >> 64) as u64),
            (_, _, false) => mixed!(|a, b| (u128::from(a) * u128::from(b) >> 64) as u64),
        };
        self.emit_mixed(f, d, &[a, b]);
    }

    fn logic(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        if name == "lop3" {
            let combine = match mods.one_of(&["or", "and"]) {
                Some("or") => Some(Logic::Or),
                Some(_) => Some(Logic::And),
                None => None,
            };
            mods.take("b32").then_some(()).ok_or("the type must be .b32")?;
            operands.count(5, 6)?;
            let (d, p) = match operands.get(0)? {
                Operand::Pair(d, p) => (self.destination(d, Ty::B32)?, Some(self.destination(p, Ty::Pred)?)),
                d => (self.destination(d, Ty::B32)?, None),
            };
            let mut s = (1..4).map(|i| self.source(operands.get(i)?, Ty::B32)).collect::<Result<Vec<_>>>()?;
            let table = self.immediate(operands.get(4)?)?;
            if !(0..256).contains(&table) {
                return Err(format!("look-up table {table:#x} is no byte"));
            }
            match table {
                0xc0 => self.binary32(d, &s, lanes32!(|a, b| a & b)),
                0xfc => self.binary32(d, &s, lanes32!(|a, b| a | b)),
                0x3c => self.binary32(d, &s, lanes32!(|a, b| a ^ b)),
                0x96 => self.ternary32(d, &s, lanes32!(|a, b, c| a ^ b ^ c)),
                _ => {
                    s.push(self.constant(table as u128, 32));
                    self.emit_mixed(mixed!(|a, b, c, t| table3(a, b, c, t)), d, &s);
                }
            }
            if let (Some(p), Some(combine)) = (p, combine) {
                let q = self.predicate(operands.get(5)?)?;
                let zero = self.constant(0, 32);
                let outcome = Outcome { p: p.slot, q: None, combine: Some((combine, q)) };
                self.emit(Op::Compare32(compare32!(|a, b| a != b), [d.slot, zero.slot], Box::new(outcome)));
            }
            return Ok(());
        }
        let ty = mods.ty().ok_or("the type is missing")?;
        if ty == Ty::Pred {
            if name == "not" {
                operands.count(2, 2)?;
                let p = self.predicate(operands.get(1)?)?;
                let d = self.destination(operands.get(0)?, ty)?;
                self.emit(Op::Predicate(d.slot, Predicate { negated: !p.negated, ..p }));
                return Ok(());
            }
            operands.count(3, 3)?;
            let (p, q) = (self.predicate(operands.get(1)?)?, self.predicate(operands.get(2)?)?);
            let d = self.destination(operands.get(0)?, ty)?;
            self.emit(Op::Logic(parse_logic(name).ok_or("no such operation on predicates")?, d.slot, p, q));
            return Ok(());
        }
        if !matches!(ty.bits(), 16 | 32 | 64) {
            return Err(format!("type .{} is not simulated here", ty.name()));
        }
        if matches!(name, "not" | "cnot") {
            let (d, s) = self.operands(operands, ty, 1)?;
            match (name, ty.bits()) {
                ("not", 16) => self.emit(Op::Unary32(lanes32!(|a| !a & 0xffff), d.slot, s[0].slot)),
                ("not", _) => self.unary(d, s[0], lanes32!(|a| !a), lanes64!(|a| !a)),
                _ => self.unary(d, s[0], lanes32!(|a| u32::from(a == 0)), lanes64!(|a| u64::from(a == 0))),
            }
            return Ok(());
        }
        let (d, s) = self.operands(operands, ty, 2)?;
        let (f, g): (F2, G2) = match name {
            "and" => (lanes32!(|a, b| a & b), lanes64!(|a, b| a & b)),
            "or" => (lanes32!(|a, b| a | b), lanes64!(|a, b| a | b)),
            _ => (lanes32!(|a, b| a ^ b), lanes64!(|a, b| a ^ b)),
        };
        if d.bits == 64 { self.binary64(d, &s, g) } else { self.binary32(d, &s, f) }
        Ok(())
    }

    fn shift(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        if name == "shf" {
            let left = mods.one_of(&["l", "r"]).ok_or("`.l` or `.r` is missing")? == "l";
            let clamp = mods.one_of(&["clamp", "wrap"]).ok_or("`.clamp` or `.wrap` is missing")? == "clamp";
            mods.take("b32").then_some(()).ok_or("the type must be .b32")?;
            let (d, s) = self.operands(operands, Ty::B32, 3)?;
            let f: F3 = match (left, clamp) {
                (true, true) => lanes32!(|a, b, c| (joined(a, b) << c.min(32) >> 32) as u32),
                (true, false) => lanes32!(|a, b, c| (joined(a, b) << (c & 31) >> 32) as u32),
                (false, true) => lanes32!(|a, b, c| (joined(a, b) >> c.min(32)) as u32),
                (false, false) => lanes32!(|a, b, c| (joined(a, b) >> (c & 31)) as u32),
            };
            self.ternary32(d, &s, f);
            return Ok(());
        }
        if name == "prmt" {
            mods.take("b32").then_some(()).ok_or("the type must be .b32")?;
            let mode = mods.one_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
            let (d, s) = self.operands(operands, Ty::B32, 3)?;
            let f: F3 = match mode {
                None => lanes32!(|a, b, c| permute(a, b, c)),
                Some("f4e") => lanes32!(|a, b, c| permute(a, b, [0x3210, 0x4321, 0x5432, 0x6543][c as usize & 3])),
                Some("b4e") => lanes32!(|a, b, c| permute(a, b, [0x5670, 0x6701, 0x7012, 0x0123][c as usize & 3])),
                Some("rc8") => lanes32!(|a, b, c| permute(a, b, 0x1111 * (c & 3))),
                Some("ecl") => lanes32!(|a, b, c| permute(a, b, [0x3210, 0x3211, 0x3222, 0x3333][c as usize & 3])),
                Some("ecr") => lanes32!(|a, b, c| permute(a, b, [0x0000, 0x1110, 0x2210, 0x3210][c as usize & 3])),
                Some(_) => lanes32!(|a, b, c| permute(a, b, if c & 1 == 0 { 0x1010 } else { 0x3232 })),
            };
            self.ternary32(d, &s, f);
            return Ok(());
        }
        let ty = mods.ty().ok_or("the type is missing")?;
        operands.count(3, 3)?;
        let a = self.source(operands.get(1)?, ty)?;
        let b = self.source(operands.get(2)?, Ty::U32)?;
        let d = self.destination(operands.get(0)?, ty)?;
        match (name, ty.bits(), ty.signed()) {
            ("shl", 32, _) => self.binary32(d, &[a, b], lanes32!(|a, b| a.checked_shl(b).unwrap_or(0))),
            ("shr", 32, true) => self.binary32(d, &[a, b], lanes32!(|a, b| (a as i32 >> b.min(31)) as u32)),
            ("shr", 32, false) => self.binary32(d, &[a, b], lanes32!(|a, b| a.checked_shr(b).unwrap_or(0))),
            ("shl", 16, _) => self.binary32(d, &[a, b], lanes32!(|a, b| a.checked_shl(b).unwrap_or(0) & 0xffff)),
            ("shr", 16, true) => {
                self.binary32(d, &[a, b], lanes32!(|a, b| u32::from((a as i16 >> b.min(15)) as u16)));
            }
            ("shr", 16, false) => self.binary32(d, &[a, b], lanes32!(|a, b| a.checked_shr(b).unwrap_or(0))),
            ("shl", 64, _) => self.emit_mixed(mixed!(|a, b| a.checked_shl(b as u32).unwrap_or(0)), d, &[a, b]),
            ("shr", 64, true) => self.emit_mixed(mixed!(|a, b| (a as i64 >> b.min(63)) as u64), d, &[a, b]),
            ("shr", 64, false) => self.emit_mixed(mixed!(|a, b| a.checked_shr(b as u32).unwrap_or(0)), d, &[a, b]),
            _ => return Err(format!("type .{} cannot be shifted", ty.name())),
        }
        Ok(())
    }

    fn bit_field(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let shift_amount = mods.take("shiftamt");
        let bound = mods.one_of(&["clamp", "wrap"]);
        let ty = mods.ty().ok_or("the type is missing")?;
        let (bits, signed) = (ty.bits(), ty.signed());
        if !matches!(bits, 32 | 64) || !ty.integer() {
            return Err(format!("type .{} is not simulated here", ty.name()));
        }
        match name {
            "popc" | "clz" | "bfind" => {
                operands.count(2, 2)?;
                let a = self.source(operands.get(1)?, ty)?;
                let d = self.destination(operands.get(0)?, Ty::U32)?;
                let f: Mixed = match (name, bits, signed, shift_amount) {
                    ("popc", ..) => mixed!(|a| u64::from(a.count_ones())),
                    ("clz", 32, ..) => mixed!(|a| u64::from((a as u32).leading_zeros())),
                    ("clz", ..) => mixed!(|a| u64::from(a.leading_zeros())),
                    (_, 32, false, false) => mixed!(|a| find(a, 32, false)),
                    (_, 32, false, true) => mixed!(|a| find(a, 32, true)),
                    (_, 32, true, false) => mixed!(|a| find(fold32(a), 32, false)),
                    (_, 32, true, true) => mixed!(|a| find(fold32(a), 32, true)),
                    (_, _, false, false) => mixed!(|a| find(a, 64, false)),
                    (_, _, false, true) => mixed!(|a| find(a, 64, true)),
                    (_, _, true, false) => mixed!(|a| find(a ^ (a as i64 >> 63) as u64, 64, false)),
                    (_, _, true, true) => mixed!(|a| find(a ^ (a as i64 >> 63) as u64, 64, true)),
                };
                self.emit_mixed(f, d, &[a]);
            }
            "brev" => {
                let (d, s) = self.operands(operands, ty, 1)?;
                self.unary(d, s[0], lanes32!(|a| a.reverse_bits()), lanes64!(|a| a.reverse_bits()));
            }
            "fns" => {
                operands.count(4, 4)?;
                let a = self.source(operands.get(1)?, Ty::B32)?;
                let b = self.source(operands.get(2)?, Ty::B32)?;
                let c = self.source(operands.get(3)?, Ty::S32)?;
                let d = self.destination(operands.get(0)?, Ty::B32)?;
                self.emit_mixed(mixed!(|a, b, c| nth_set(a as u32, b as u32, c as i32)), d, &[a, b, c]);
            }
            "bfe" => {
                operands.count(4, 4)?;
                let a = self.source(operands.get(1)?, ty)?;
                let b = self.source(operands.get(2)?, Ty::U32)?;
                let c = self.source(operands.get(3)?, Ty::U32)?;
                let d = self.destination(operands.get(0)?, ty)?;
                let f: Mixed = match (bits, signed) {
                    (32, false) => mixed!(|a, b, c| extract(a, b, c, 32, false)),
                    (32, true) => mixed!(|a, b, c| extract(a, b, c, 32, true)),
                    (_, false) => mixed!(|a, b, c| extract(a, b, c, 64, false)),
                    (_, true) => mixed!(|a, b, c| extract(a, b, c, 64, true)),
                };
                self.emit_mixed(f, d, &[a, b, c]);
            }
            "bfi" => {
                operands.count(5, 5)?;
                let a = self.source(operands.get(1)?, ty)?;
                let b = self.source(operands.get(2)?, ty)?;
                let c = self.source(operands.get(3)?, Ty::U32)?;
                let e = self.source(operands.get(4)?, Ty::U32)?;
                let d = self.destination(operands.get(0)?, ty)?;
                let f: Mixed = if bits == 32 {
                    mixed!(|a, b, c, d| insert(a, b, c, d, 32))
                } else {
                    mixed!(|a, b, c, d| insert(a, b, c, d, 64))
                };
                self.emit_mixed(f, d, &[a, b, c, e]);
            }
            _ => {
                if bits != 32 {
                    return Err("the type must have 32 bits".to_owned());
                }
                let clamp = bound.ok_or("`.clamp` or `.wrap` is missing")? == "clamp";
                let (d, s) = self.operands(operands, ty, 2)?;
                let f: Mixed = match (name, clamp, signed) {
                    ("bmsk", true, _) => mixed!(|a, b| field_mask(a.min(32), b.min(32))),
                    ("bmsk", false, _) => mixed!(|a, b| field_mask(a & 31, b & 31)),
                    (_, true, true) => mixed!(|a, b| if b >= 32 { a } else { extend(a, b) }),
                    (_, false, true) => mixed!(|a, b| extend(a, b & 31)),
                    (_, true, false) => mixed!(|a, b| if b >= 32 { a } else { a & ((1 << b) - 1) }),
                    (_, false, false) => mixed!(|a, b| a & ((1 << (b & 31)) - 1)),
                };
                self.emit_mixed(f, d, &s);
            }
        }
        if bound.is_some() && !matches!(name, "bmsk" | "szext") || shift_amount && name != "bfind" {
            return Err("a modifier does not belong to this instruction".to_owned());
        }
        Ok(())
    }

    fn dot(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let high = if name == "dp2a" { mods.one_of(&["lo", "hi"]).ok_or("`.lo` or `.hi` is missing")? == "hi" } else { false };
        let a_ty = mods.ty().ok_or("the type is missing")?;
        let b_ty = mods.ty().ok_or("the second type is missing")?;
        if a_ty.bits() != 32 || b_ty.bits() != 32 {
            return Err("the types must be .u32 or .s32".to_owned());
        }
        operands.count(4, 4)?;
        let s = (1..4).map(|i| self.source(operands.get(i)?, Ty::B32)).collect::<Result<Vec<_>>>()?;
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

    /// `mov`.
    pub(super) fn mov(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let ty = mods.ty().ok_or("the type is missing")?;
        operands.count(2, 2)?;
        let (to, from) = (operands.get(0)?, operands.get(1)?);
        if ty == Ty::Pred {
            let d = self.destination(to, ty)?;
            let p = self.predicate(from)?;
            self.emit(Op::Predicate(d.slot, p));
            return Ok(());
        }
        if let Operand::Vector(parts) = to {
            let bits = ty.bits() / parts.len().max(1) as u8;
            let part_ty = bits_type(bits).filter(|_| matches!(parts.len(), 2 | 4)).ok_or("the parts do not divide the type")?;
            let source = self.source(from, ty)?;
            let parts = parts
                .iter()
                .map(|p| if *p == Operand::Sink { Ok(None) } else { self.destination(p, part_ty).map(Some) })
                .collect::<Result<Box<[_]>>>()?;
            self.emit(Op::Split(parts, source));
            return Ok(());
        }
        let d = self.destination(to, ty)?;
        if let Operand::Vector(parts) = from {
            let bits = ty.bits() / parts.len().max(1) as u8;
            let part_ty = bits_type(bits).filter(|_| matches!(parts.len(), 2 | 4)).ok_or("the parts do not divide the type")?;
            let parts = parts.iter().map(|p| self.source(p, part_ty)).collect::<Result<Box<[_]>>>()?;
            self.emit(Op::Join(d, parts));
            return Ok(());
        }
        if let Operand::Name(name, 0) = from
            && let Some(Symbol::Label(_)) = self.lookup(name)
        {
            return Err(format!("the address of label `{name}` cannot be taken"));
        }
        let s = self.source(from, ty)?;
        self.copy(d, s);
        Ok(())
    }

    /// Copies a register.
    pub(super) fn copy(&mut self, d: Value, s: Value) {
        match d.bits {
            64 => self.emit(Op::Copy64(d.slot, s.slot)),
            128 => self.emit(Op::Copy128(d.slot, s.slot)),
            16 => self.emit(Op::Unary32(lanes32!(|a| a & 0xffff), d.slot, s.slot)),
            _ => self.emit(Op::Copy32(d.slot, s.slot)),
        }
    }

    /// `setp`, `set`, `selp`, `slct`.
    pub(super) fn comparison(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        match name {
            "selp" => {
                let ty = mods.ty().ok_or("the type is missing")?;
                operands.count(4, 4)?;
                let a = self.source(operands.get(1)?, ty)?;
                let b = self.source(operands.get(2)?, ty)?;
                let p = self.predicate(operands.get(3)?)?;
                let d = self.destination(operands.get(0)?, ty)?;
                self.select(d, a, b, p);
                Ok(())
            }
            "slct" => {
                let flush = mods.take("ftz");
                let ty = mods.ty().ok_or("the type is missing")?;
                let by = mods.ty().ok_or("the type of the selector is missing")?;
                operands.count(4, 4)?;
                let a = self.source(operands.get(1)?, ty)?;
                let b = self.source(operands.get(2)?, ty)?;
                let c = self.source(operands.get(3)?, by)?;
                let d = self.destination(operands.get(0)?, ty)?;
                let p = self.temporary(1);
                let zero = self.constant(0, 32);
                let f: Cmp32 = match by {
                    Ty::S32 => compare32!(|a, b| a as i32 >= b as i32),
                    Ty::F32 if flush => {
                        compare32!(|a, b| f32::from_bits(crate::number::flush32(a)) >= f32::from_bits(b))
                    }
                    Ty::F32 => compare32!(|a, b| f32::from_bits(a) >= f32::from_bits(b)),
                    _ => return Err("the selector must be .s32 or .f32".to_owned()),
                };
                self.emit(Op::Compare32(f, [c.slot, zero.slot], Box::new(Outcome { p: p.slot, q: None, combine: None })));
                self.select(d, a, b, Predicate { slot: p.slot, negated: false });
                Ok(())
            }
            _ => self.set(name, mods, operands),
        }
    }

    fn select(&mut self, d: Value, a: Value, b: Value, p: Predicate) {
        if d.bits == 64 {
            self.emit(Op::Select64(d.slot, [a.slot, b.slot], p));
        } else {
            self.emit(Op::Select32(d.slot, [a.slot, b.slot], p));
        }
    }

    fn set(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let op = mods
            .one_of(&[
                "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
            ])
            .ok_or("the comparison is missing")?;
        let combine = mods.one_of(&["and", "or", "xor"]).and_then(parse_logic);
        let flush = mods.take("ftz");
        let result = if name == "set" { Some(mods.ty().ok_or("the result type is missing")?) } else { None };
        let ty = mods.ty().ok_or("the type is missing")?;
        let wanted = 3 + usize::from(combine.is_some());
        operands.count(wanted, wanted)?;
        let a = self.source(operands.get(1)?, ty)?;
        let b = self.source(operands.get(2)?, ty)?;
        let combine = match combine {
            Some(logic) => Some((logic, self.predicate(operands.get(3)?)?)),
            None => None,
        };
        if let Some(result) = result {
            if let Some((half, true)) = ty.half() {
                return self.set_pair(half, op, flush, result, operands, a, b, combine);
            }
            let p = self.temporary(1);
            self.compare(ty, op, flush, a, b, Outcome { p: p.slot, q: None, combine })?;
            let p = Predicate { slot: p.slot, negated: false };
            let d = self.destination(operands.get(0)?, result)?;
            let one = match result {
                Ty::F32 => 0x3f80_0000,
                Ty::F16 => 0x3c00,
                Ty::Bf16 => 0x3f80,
                Ty::U16 | Ty::S16 => 0xffff,
                Ty::U32 | Ty::S32 => 0xffff_ffff,
                other => return Err(format!("the result type .{} is not simulated", other.name())),
            };
            let one = self.constant(one, result.bits());
            let zero = self.constant(0, result.bits());
            self.select(d, one, zero, p);
            return Ok(());
        }
        let (p, q) = match operands.get(0)? {
            Operand::Pair(p, q) => (self.destination(p, Ty::Pred)?, Some(self.destination(q, Ty::Pred)?)),
            p => (self.destination(p, Ty::Pred)?, None),
        };
        if let Some((half, true)) = ty.half() {
            let q = q.ok_or("a comparison of pairs needs two destinations")?;
            let low = self.temporary(32);
            let high = self.temporary(32);
            let wide_a = self.temporary(32);
            let wide_b = self.temporary(32);
            for (value, shifted) in [(a, wide_a), (b, wide_b)] {
                self.emit(Op::Unary32(lanes32!(|a| a >> 16), shifted.slot, value.slot));
            }
            for (value, cut) in [(a, low), (b, high)] {
                self.emit(Op::Unary32(lanes32!(|a| a & 0xffff), cut.slot, value.slot));
            }
            let single = if half == crate::number::half::Half::F16 { Ty::F16 } else { Ty::Bf16 };
            self.compare(single, op, flush, low, high, Outcome { p: p.slot, q: None, combine })?;
            return self.compare(single, op, flush, wide_a, wide_b, Outcome { p: q.slot, q: None, combine });
        }
        self.compare(ty, op, flush, a, b, Outcome { p: p.slot, q: q.map(|v| v.slot), combine })
    }

    fn compare(&mut self, ty: Ty, op: &str, flush: bool, a: Value, b: Value, outcome: Outcome) -> Result<()> {
        use crate::number::flush32 as flushed;
        let none = || format!("comparison `.{op}` does not go with type .{}", ty.name());
        let slots: [Slot; 2] = [a.slot, b.slot];
        match ty {
            Ty::F32 => {
                let f: Cmp32 = if flush {
                    float_comparison!(op, compare32, u32, |x| f32::from_bits(flushed(x))).ok_or_else(none)?
                } else {
                    float_comparison!(op, compare32, u32, |x| f32::from_bits(x)).ok_or_else(none)?
                };
                self.emit(Op::Compare32(f, slots, Box::new(outcome)));
            }
            Ty::F16 => {
                let f: Cmp32 = if flush {
                    float_comparison!(op, compare32, u32, |x| super::half::value16(x, true)).ok_or_else(none)?
                } else {
                    float_comparison!(op, compare32, u32, |x| super::half::value16(x, false)).ok_or_else(none)?
                };
                self.emit(Op::Compare32(f, slots, Box::new(outcome)));
            }
            Ty::Bf16 => {
                let f: Cmp32 = float_comparison!(op, compare32, u32, |x| f32::from_bits(x << 16)).ok_or_else(none)?;
                self.emit(Op::Compare32(f, slots, Box::new(outcome)));
            }
            Ty::F64 => {
                let f: Cmp64 = float_comparison!(op, compare64, u64, |x| f64::from_bits(x)).ok_or_else(none)?;
                self.emit(Op::Compare64(f, slots, Box::new(outcome)));
            }
            _ if ty.integer() && matches!(ty.bits(), 16 | 32 | 64) => {
                let f32: Option<Cmp32> = match (op, ty.signed(), ty.bits()) {
                    ("eq", ..) => Some(compare32!(|a, b| a == b)),
                    ("ne", ..) => Some(compare32!(|a, b| a != b)),
                    ("lt", true, 16) => Some(compare32!(|a, b| (a as i16) < b as i16)),
                    ("le", true, 16) => Some(compare32!(|a, b| a as i16 <= b as i16)),
                    ("gt", true, 16) => Some(compare32!(|a, b| a as i16 > b as i16)),
                    ("ge", true, 16) => Some(compare32!(|a, b| a as i16 >= b as i16)),
                    ("lt", true, _) => Some(compare32!(|a, b| (a as i32) < b as i32)),
                    ("le", true, _) => Some(compare32!(|a, b| a as i32 <= b as i32)),
                    ("gt", true, _) => Some(compare32!(|a, b| a as i32 > b as i32)),
                    ("ge", true, _) => Some(compare32!(|a, b| a as i32 >= b as i32)),
                    ("lt" | "lo", ..) => Some(compare32!(|a, b| a < b)),
                    ("le" | "ls", ..) => Some(compare32!(|a, b| a <= b)),
                    ("gt" | "hi", ..) => Some(compare32!(|a, b| a > b)),
                    ("ge" | "hs", ..) => Some(compare32!(|a, b| a >= b)),
                    _ => None,
                };
                let f64: Option<Cmp64> = match (op, ty.signed()) {
                    ("eq", _) => Some(compare64!(|a, b| a == b)),
                    ("ne", _) => Some(compare64!(|a, b| a != b)),
                    ("lt", true) => Some(compare64!(|a, b| (a as i64) < b as i64)),
                    ("le", true) => Some(compare64!(|a, b| a as i64 <= b as i64)),
                    ("gt", true) => Some(compare64!(|a, b| a as i64 > b as i64)),
                    ("ge", true) => Some(compare64!(|a, b| a as i64 >= b as i64)),
                    ("lt" | "lo", _) => Some(compare64!(|a, b| a < b)),
                    ("le" | "ls", _) => Some(compare64!(|a, b| a <= b)),
                    ("gt" | "hi", _) => Some(compare64!(|a, b| a > b)),
                    ("ge" | "hs", _) => Some(compare64!(|a, b| a >= b)),
                    _ => None,
                };
                if ty.bits() == 64 {
                    self.emit(Op::Compare64(f64.ok_or_else(none)?, slots, Box::new(outcome)));
                } else {
                    self.emit(Op::Compare32(f32.ok_or_else(none)?, slots, Box::new(outcome)));
                }
            }
            _ => return Err(none()),
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn set_pair(
        &mut self,
        half: crate::number::half::Half,
        op: &str,
        flush: bool,
        result: Ty,
        operands: &Operands<'m>,
        a: Value,
        b: Value,
        combine: Option<(Logic, Predicate)>,
    ) -> Result<()> {
        let single = if half == crate::number::half::Half::F16 { Ty::F16 } else { Ty::Bf16 };
        let one = match result {
            Ty::F16x2 => 0x3c00,
            Ty::Bf16x2 => 0x3f80,
            Ty::U32 | Ty::S32 => 0xffff,
            other => return Err(format!("the result type .{} is not simulated", other.name())),
        };
        let d = self.destination(operands.get(0)?, Ty::B32)?;
        let one = self.constant(one, 16);
        let zero = self.constant(0, 16);
        let mut parts = Vec::new();
        for high in [false, true] {
            let (x, y) = (self.temporary(16), self.temporary(16));
            for (value, cut) in [(a, x), (b, y)] {
                let f = if high { lanes32!(|a| a >> 16) } else { lanes32!(|a| a & 0xffff) };
                self.emit(Op::Unary32(f, cut.slot, value.slot));
            }
            let p = self.temporary(1);
            self.compare(single, op, flush, x, y, Outcome { p: p.slot, q: None, combine })?;
            let part = self.temporary(16);
            self.select(part, one, zero, Predicate { slot: p.slot, negated: false });
            parts.push(part);
        }
        self.emit(Op::Join(d, parts.into_boxed_slice()));
        Ok(())
    }
}

/// A comparison of floating-point lanes by its PTX name.
macro_rules! float_comparison {
    ($op:expr, $compare:ident, $bits:ty, |$x:ident| $value:expr) => {
        match $op {
            "eq" => Some($compare!(|a, b| of!(a, $bits, |$x| $value) == of!(b, $bits, |$x| $value))),
            "ne" => Some($compare!(|a, b| {
                let (a, b) = (of!(a, $bits, |$x| $value), of!(b, $bits, |$x| $value));
                a < b || a > b
            })),
            "lt" => Some($compare!(|a, b| of!(a, $bits, |$x| $value) < of!(b, $bits, |$x| $value))),
            "le" => Some($compare!(|a, b| of!(a, $bits, |$x| $value) <= of!(b, $bits, |$x| $value))),
            "gt" => Some($compare!(|a, b| of!(a, $bits, |$x| $value) > of!(b, $bits, |$x| $value))),
            "ge" => Some($compare!(|a, b| of!(a, $bits, |$x| $value) >= of!(b, $bits, |$x| $value))),
            "equ" => Some($compare!(|a, b| {
                let (a, b) = (of!(a, $bits, |$x| $value), of!(b, $bits, |$x| $value));
                !(a < b || a > b)
            })),
            "neu" => Some($compare!(|a, b| of!(a, $bits, |$x| $value) != of!(b, $bits, |$x| $value))),
            "ltu" => Some($compare!(|a, b| !(of!(a, $bits, |$x| $value) >= of!(b, $bits, |$x| $value)))),
            "leu" => Some($compare!(|a, b| !(of!(a, $bits, |$x| $value) > of!(b, $bits, |$x| $value)))),
            "gtu" => Some($compare!(|a, b| !(of!(a, $bits, |$x| $value) <= of!(b, $bits, |$x| $value)))),
            "geu" => Some($compare!(|a, b| !(of!(a, $bits, |$x| $value) < of!(b, $bits, |$x| $value)))),
            "num" => Some($compare!(|a, b| !of!(a, $bits, |$x| $value).is_nan() && !of!(b, $bits, |$x| $value).is_nan())),
            "nan" => Some($compare!(|a, b| of!(a, $bits, |$x| $value).is_nan() || of!(b, $bits, |$x| $value).is_nan())),
            _ => None,
        }
    };
}

macro_rules! of {
    ($bits:ident, $ty:ty, |$x:ident| $value:expr) => {{
        let $x: $ty = $bits;
        $value
    }};
}
use {float_comparison, of};

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

fn joined(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn table3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    (0..8).filter(|i| table >> i & 1 != 0).fold(0, |d, i| {
        let pick = |v: u64, bit: u64| if i >> bit & 1 != 0 { v } else { !v };
        d | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = joined(a, b);
    (0..4).fold(0, |d, i| {
        let s = selector >> (4 * i) & 0xf;
        let byte = (bytes >> (8 * (s & 7))) as u8;
        let byte = if s & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
        d | u32::from(byte) << (8 * i)
    })
}

fn fold32(a: u64) -> u64 {
    u64::from(a as u32 ^ (a as i32 >> 31) as u32)
}

fn find(a: u64, bits: u32, shift_amount: bool) -> u64 {
    if a == 0 {
        return u32::MAX.into();
    }
    let top = 63 - a.leading_zeros();
    u64::from(if shift_amount { bits - 1 - top } else { top })
}

/// `fns`: the position of the n-th set bit from `base`, upwards for positive and downwards for negative offsets.
fn nth_set(mask: u32, base: u32, offset: i32) -> u64 {
    let missing = u64::from(u32::MAX);
    if base > 31 {
        return missing;
    }
    if offset == 0 {
        return if mask >> base & 1 != 0 { base.into() } else { missing };
    }
    let mut left = offset.unsigned_abs();
    let mut at = base as i32;
    while (0..32).contains(&at) {
        if mask >> at & 1 != 0 {
            left -= 1;
            if left == 0 {
                return at as u64;
            }
        }
        at += offset.signum();
    }
    missing
}

fn extract(a: u64, position: u64, length: u64, bits: u64, signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let top = (position + length).saturating_sub(1).min(bits - 1);
    let sign = if !signed || length == 0 { 0 } else { a >> top & 1 };
    (0..bits).fold(0, |d, i| {
        let bit = if i < length && position + i < bits { a >> (position + i) & 1 } else { sign };
        d | bit << i
    })
}

fn insert(a: u64, b: u64, position: u64, length: u64, bits: u64) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    (0..length).filter(|i| position + i < bits).fold(b, |d, i| {
        d & !(1 << (position + i)) | (a >> i & 1) << (position + i)
    })
}

fn field_mask(position: u64, length: u64) -> u64 {
    ((1u128 << length) - 1 << position) as u64 & 0xffff_ffff
}

fn extend(a: u64, width: u64) -> u64 {
    if width == 0 { 0 } else { ((a << (64 - width)) as i64 >> (64 - width)) as u64 }
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
