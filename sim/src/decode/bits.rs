//! Logic, shifts and bit fields (PTX ISA 9.7.1, 9.7.8).
use super::alu::parse_logic;
use super::function::{FunctionDecoder, Operands, Result};
use super::mixed::{compare32, lanes32, lanes64, mixed};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{F2, F3, G2, Logic, Mixed, Op, Outcome, Predicate};
use crate::ptx::Operand;

impl<'m> FunctionDecoder<'_, 'm> {
    pub(super) fn logic(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
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
            let mut s = (1..4)
                .map(|i| self.source(operands.get(i)?, Ty::B32))
                .collect::<Result<Vec<_>>>()?;
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
                let outcome = Outcome {
                    p: p.slot,
                    q: None,
                    combine: Some((combine, q)),
                };
                self.emit(Op::Compare32(
                    compare32!(|a, b| a != b),
                    [d.slot, zero.slot],
                    Box::new(outcome),
                ));
            }
            return Ok(());
        }
        let ty = mods.ty().ok_or("the type is missing")?;
        if ty == Ty::Pred {
            if name == "not" {
                operands.count(2, 2)?;
                let p = self.predicate(operands.get(1)?)?;
                let d = self.destination(operands.get(0)?, ty)?;
                self.emit(Op::Predicate(
                    d.slot,
                    Predicate {
                        negated: !p.negated,
                        ..p
                    },
                ));
                return Ok(());
            }
            operands.count(3, 3)?;
            let (p, q) = (self.predicate(operands.get(1)?)?, self.predicate(operands.get(2)?)?);
            let d = self.destination(operands.get(0)?, ty)?;
            self.emit(Op::Logic(
                parse_logic(name).ok_or("no such operation on predicates")?,
                d.slot,
                p,
                q,
            ));
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
                _ => self.unary(
                    d,
                    s[0],
                    lanes32!(|a| u32::from(a == 0)),
                    lanes64!(|a| u64::from(a == 0)),
                ),
            }
            return Ok(());
        }
        let (d, s) = self.operands(operands, ty, 2)?;
        let (f, g): (F2, G2) = match name {
            "and" => (lanes32!(|a, b| a & b), lanes64!(|a, b| a & b)),
            "or" => (lanes32!(|a, b| a | b), lanes64!(|a, b| a | b)),
            _ => (lanes32!(|a, b| a ^ b), lanes64!(|a, b| a ^ b)),
        };
        if d.bits == 64 {
            self.binary64(d, &s, g)
        } else {
            self.binary32(d, &s, f)
        }
        Ok(())
    }

    pub(super) fn shift(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        if name == "shf" {
            let left = mods.one_of(&["l", "r"]).ok_or("`.l` or `.r` is missing")? == "l";
            let clamp = mods
                .one_of(&["clamp", "wrap"])
                .ok_or("`.clamp` or `.wrap` is missing")?
                == "clamp";
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

    pub(super) fn bit_field(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
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
        let bit = if i < length && position + i < bits {
            a >> (position + i) & 1
        } else {
            sign
        };
        d | bit << i
    })
}

fn insert(a: u64, b: u64, position: u64, length: u64, bits: u64) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    (0..length)
        .filter(|i| position + i < bits)
        .fold(b, |d, i| d & !(1 << (position + i)) | (a >> i & 1) << (position + i))
}

fn field_mask(position: u64, length: u64) -> u64 {
    (((1u128 << length) - 1) << position) as u64 & 0xffff_ffff
}

fn extend(a: u64, width: u64) -> u64 {
    if width == 0 {
        0
    } else {
        ((a << (64 - width)) as i64 >> (64 - width)) as u64
    }
}
