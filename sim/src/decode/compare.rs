//! Comparison and selection (PTX ISA 9.7.6, 9.7.7): `setp`, `set`, `selp`, `slct`.
use super::alu::parse_logic;
use super::function::{FunctionDecoder, Operands, Result};
use super::mixed::{compare32, compare64, lanes32};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{Cmp32, Cmp64, Logic, Op, Outcome, Predicate, Slot, Value};
use crate::ptx::Operand;

impl<'m> FunctionDecoder<'_, 'm> {
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
                self.emit(Op::Compare32(
                    f,
                    [c.slot, zero.slot],
                    Box::new(Outcome {
                        p: p.slot,
                        q: None,
                        combine: None,
                    }),
                ));
                self.select(
                    d,
                    a,
                    b,
                    Predicate {
                        slot: p.slot,
                        negated: false,
                    },
                );
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
                "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
                "num", "nan",
            ])
            .ok_or("the comparison is missing")?;
        let combine = mods.one_of(&["and", "or", "xor"]).and_then(parse_logic);
        let flush = mods.take("ftz");
        let result = if name == "set" {
            Some(mods.ty().ok_or("the result type is missing")?)
        } else {
            None
        };
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
            self.compare(
                ty,
                op,
                flush,
                a,
                b,
                Outcome {
                    p: p.slot,
                    q: None,
                    combine,
                },
            )?;
            let p = Predicate {
                slot: p.slot,
                negated: false,
            };
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
            let single = if half == crate::number::half::Half::F16 {
                Ty::F16
            } else {
                Ty::Bf16
            };
            self.compare(
                single,
                op,
                flush,
                low,
                high,
                Outcome {
                    p: p.slot,
                    q: None,
                    combine,
                },
            )?;
            return self.compare(
                single,
                op,
                flush,
                wide_a,
                wide_b,
                Outcome {
                    p: q.slot,
                    q: None,
                    combine,
                },
            );
        }
        self.compare(
            ty,
            op,
            flush,
            a,
            b,
            Outcome {
                p: p.slot,
                q: q.map(|v| v.slot),
                combine,
            },
        )
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
        let single = if half == crate::number::half::Half::F16 {
            Ty::F16
        } else {
            Ty::Bf16
        };
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
                let f = if high {
                    lanes32!(|a| a >> 16)
                } else {
                    lanes32!(|a| a & 0xffff)
                };
                self.emit(Op::Unary32(f, cut.slot, value.slot));
            }
            let p = self.temporary(1);
            self.compare(
                single,
                op,
                flush,
                x,
                y,
                Outcome {
                    p: p.slot,
                    q: None,
                    combine,
                },
            )?;
            let part = self.temporary(16);
            self.select(
                part,
                one,
                zero,
                Predicate {
                    slot: p.slot,
                    negated: false,
                },
            );
            parts.push(part);
        }
        self.emit(Op::Join(d, parts.into_boxed_slice()));
        Ok(())
    }
}

/// A comparison of floating-point lanes by its PTX name.
macro_rules! float_comparison {
    ($op:expr, $compare:ident, $bits:ty, |$x:ident| $value:expr) => {{
        use std::cmp::Ordering::{Equal, Greater, Less};
        macro_rules! by {
            ($pattern:pat) => {
                Some($compare!(|a, b| {
                    let value = |$x: $bits| $value;
                    matches!(value(a).partial_cmp(&value(b)), $pattern)
                }))
            };
        }
        match $op {
            "eq" => by!(Some(Equal)),
            "ne" => by!(Some(Less | Greater)),
            "lt" => by!(Some(Less)),
            "le" => by!(Some(Less | Equal)),
            "gt" => by!(Some(Greater)),
            "ge" => by!(Some(Greater | Equal)),
            "equ" => by!(None | Some(Equal)),
            "neu" => by!(None | Some(Less | Greater)),
            "ltu" => by!(None | Some(Less)),
            "leu" => by!(None | Some(Less | Equal)),
            "gtu" => by!(None | Some(Greater)),
            "geu" => by!(None | Some(Greater | Equal)),
            "num" => by!(Some(Less | Equal | Greater)),
            "nan" => Some($compare!(|a, b| {
                let value = |$x: $bits| $value;
                value(a).partial_cmp(&value(b)).is_none()
            })),
            _ => None,
        }
    }};
}
use float_comparison;
