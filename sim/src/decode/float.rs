//! Single and double precision (PTX ISA 9.7.3).
//!
//! Round-to-nearest instructions without saturation run on the host's own arithmetic, a whole warp at a time. Everything
//! else carries its modifiers in a constant operand and is computed lane by lane.
use super::function::{FunctionDecoder, Operands, Result};
use super::mixed::{lanes32, lanes64, mixed};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{F1, F2, F3, G2, G3, Mixed, Op, Outcome, Value, W64};
use crate::number::half::add_to_odd;
use crate::number::{F32, F64, NAN32, Rounding, approx, bits32, flush32, fused, saturate32, soft};
use crate::ptx::Operand;

/// The modifiers of an instruction as a number, for the constant operand of the general forms.
fn encode(rounding: Rounding, flush: bool, saturate: bool) -> u64 {
    rounding as u64 | u64::from(flush) << 3 | u64::from(saturate) << 4
}

struct Mode {
    rounding: Rounding,
    flush: bool,
    saturate: bool,
}

impl Mode {
    fn decode(bits: u64) -> Mode {
        let rounding = match bits & 7 {
            0 => Rounding::Nearest,
            1 => Rounding::NearestAway,
            2 => Rounding::Zero,
            3 => Rounding::Up,
            _ => Rounding::Down,
        };
        Mode {
            rounding,
            flush: bits & 8 != 0,
            saturate: bits & 16 != 0,
        }
    }
    fn operand(&self, x: u64) -> u64 {
        if self.flush {
            flush32(x as u32).into()
        } else {
            x & 0xffff_ffff
        }
    }
    /// The result `x` of an operation whose exact value is `exact`, which decides on flushing.
    fn finish(&self, x: u64, exact: f64) -> u64 {
        let away = match self.rounding {
            Rounding::Up => exact > 0.0,
            Rounding::Down => exact < 0.0,
            _ => false,
        };
        let tiny = match self.rounding {
            Rounding::Nearest | Rounding::NearestAway => exact.abs() < LIFTED,
            _ if away => exact.abs() <= LARGEST_TINY,
            _ => exact.abs() < SMALLEST_NORMAL,
        };
        let tiny = tiny && self.flush;
        self.result(if tiny { x & NEGATE32 } else { x })
    }
    fn result(&self, x: u64) -> u64 {
        let mut x = x as u32;
        if f32::from_bits(x).is_nan() {
            x = NAN32;
        }
        if self.flush {
            x = flush32(x);
        }
        if self.saturate {
            x = saturate32(x);
        }
        x.into()
    }
}

/// The smallest positive single-precision number that is not subnormal, 2^-126.
const SMALLEST_NORMAL: f64 = f32::MIN_POSITIVE as f64;
/// From here on a number rounds to [`SMALLEST_NORMAL`] even where the exponent has no lower end: 2^-126 - 2^-151.
const LIFTED: f64 = SMALLEST_NORMAL * (1.0 - 1.0 / (1 << 25) as f64);
/// The number before [`SMALLEST_NORMAL`] at full precision: 2^-126 - 2^-150.
const LARGEST_TINY: f64 = SMALLEST_NORMAL * (1.0 - 1.0 / (1 << 24) as f64);
const NEGATE32: u64 = 1 << 31;
const NEGATE64: u64 = 1 << 63;
const QUIET: u64 = 1 << 51;
/// The NaN of an invalid double-precision operation.
const INVALID: u64 = 0xfff8_0000_0000_0000;

/// `fma.rn.f64`
fn fused64(a: &W64, b: &W64, c: &W64) -> W64 {
    let sums = fused::fma64(a, b, c);
    std::array::from_fn(|l| with_nan(g(sums[l]), &[b[l], c[l], a[l]]))
}
/// The value in double precision, where products are exact.
fn w(x: u32) -> f64 {
    f64::from(f32::from_bits(x))
}
/// An exact value, or one rounded to odd, in single precision with subnormals flushed. Subnormal is what would be so if
/// the exponent had no lower end.
fn rounded(x: f64) -> u32 {
    let bits = bits32(x as f32);
    if x.abs() < LIFTED { bits & 0x8000_0000 } else { bits }
}
/// The NaN that a double-precision instruction passes on: the first operand in this order that is one, quieted.
fn passed_on(operands: &[u64]) -> Option<u64> {
    operands.iter().find(|x| g(**x).is_nan()).map(|x| x | QUIET)
}
/// `result`, or the NaN that an operand passes on. Compilers may swap the host's operands, so the host does not decide.
fn with_nan(result: f64, operands: &[u64]) -> u64 {
    if result.is_nan() {
        passed_on(operands).unwrap_or(INVALID)
    } else {
        result.to_bits()
    }
}
fn f(x: u32) -> f32 {
    f32::from_bits(x)
}
fn g(x: u64) -> f64 {
    f64::from_bits(x)
}

/// Minimum or maximum: a NaN loses unless `nan`, -0 is below +0.
fn extreme32(a: u32, b: u32, max: bool, nan: bool) -> u32 {
    let (x, y) = (f(a), f(b));
    if nan && (x.is_nan() || y.is_nan()) || x.is_nan() && y.is_nan() {
        return NAN32;
    }
    if x.is_nan() {
        return b;
    }
    if y.is_nan() {
        return a;
    }
    let less = x < y || x == y && a >> 31 > b >> 31;
    if less == max { b } else { a }
}

fn extreme64(a: u64, b: u64, max: bool) -> u64 {
    let (x, y) = (g(a), g(b));
    if x.is_nan() && y.is_nan() {
        return b | QUIET;
    }
    if x.is_nan() {
        return b;
    }
    if y.is_nan() {
        return a;
    }
    let less = x < y || x == y && a >> 63 > b >> 63;
    if less == max { b } else { a }
}

fn xorsign(a: u32, b: u32, max: bool, nan: bool) -> u32 {
    let result = extreme32(a & 0x7fff_ffff, b & 0x7fff_ffff, max, nan);
    if f(result).is_nan() {
        result
    } else {
        result | (a ^ b) & 0x8000_0000
    }
}

impl<'m> FunctionDecoder<'_, 'm> {
    /// Floating-point forms of instructions that may also be integer ones; false when the type says that they are.
    pub(super) fn float(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<bool> {
        const TYPES: [&str; 6] = ["f32", "f64", "f16", "f16x2", "bf16", "bf16x2"];
        let Some(ty) = TYPES.iter().find(|t| mods.has(t)).and_then(|t| Ty::parse(t)) else {
            return Ok(false);
        };
        mods.take(ty.name());
        if let Some((half, pair)) = ty.half() {
            self.half(name, ty, half, pair, mods, operands)?;
            return Ok(true);
        }
        let approximate = mods.take("approx");
        let full = mods.take("full");
        let rounding = mods.rounding();
        let flush = mods.take("ftz");
        let saturate = mods.take("sat");
        if let Some(Rounding::NearestAway) = rounding {
            return Err("`.rna` does not exist here".to_owned());
        }
        let mode = encode(rounding.unwrap_or(Rounding::Nearest), flush, saturate);
        let plain = rounding.is_none_or(|r| r == Rounding::Nearest) && !saturate;
        if ty == Ty::F64 {
            self.double(name, approximate, flush, rounding, mode, mods, operands)?;
        } else {
            self.single(name, approximate, full, flush, plain, mode, mods, operands)?;
        }
        Ok(true)
    }

    /// The operands of an instruction of f32: `count` sources, of which all but the last are f16 or bf16 where a second type says
    /// so (sm_100 and later).
    fn perhaps_halves(
        &mut self,
        may: bool,
        mods: &mut Modifiers<'m>,
        operands: &Operands<'m>,
        count: usize,
    ) -> Result<(Value, Vec<Value>)> {
        let Some(half) = mods.one_of(&["f16", "bf16"]).filter(|_| may) else {
            return self.operands(operands, Ty::F32, count);
        };
        operands.count(count + 1, count + 1)?;
        let d = self.destination(operands.get(0)?, Ty::F32)?;
        let mut sources = vec![];
        for i in 1..count {
            let narrow = self.source(operands.get(i)?, if half == "f16" { Ty::F16 } else { Ty::Bf16 })?;
            let wide = self.temporary(32);
            let widen: F1 = match half {
                "f16" => lanes32!(|a| bits32(::half::f16::from_bits(a as u16).to_f32())),
                _ => lanes32!(|a| a << 16),
            };
            self.emit(Op::Unary32(widen, wide.slot, narrow.slot));
            sources.push(wide);
        }
        sources.push(self.source(operands.get(count)?, Ty::F32)?);
        Ok((d, sources))
    }

    /// The least or greatest of three, or of their magnitudes (PTX ISA 8.8, sm_100 and later): of the first two, then of that
    /// and the third.
    fn of_three(&mut self, d: Value, mut sources: Vec<Value>, magnitudes: bool, function: F2) {
        for source in sources.iter_mut().filter(|_| magnitudes) {
            let magnitude = self.temporary(32);
            self.emit(Op::Unary32(lanes32!(|a| a & 0x7fff_ffff), magnitude.slot, source.slot));
            *source = magnitude;
        }
        let first = self.temporary(32);
        self.binary32(first, &sources, function);
        self.binary32(d, &[first, sources[2]], function);
    }

    fn with_mode(&mut self, d: Value, mut sources: Vec<Value>, mode: u64, function: Mixed) {
        sources.push(self.constant(mode.into(), 32));
        self.emit_mixed(function, d, &sources);
    }

    #[allow(clippy::too_many_arguments)]
    fn single(
        &mut self,
        name: &str,
        approximate: bool,
        full: bool,
        flush: bool,
        plain: bool,
        mode: u64,
        mods: &mut Modifiers<'m>,
        operands: &Operands<'m>,
    ) -> Result<()> {
        match name {
            "add" | "sub" | "mul" => {
                let (d, s) = self.perhaps_halves(name != "mul", mods, operands, 2)?;
                let fast: F2 = match (name, flush) {
                    ("add", false) => lanes32!(|a, b| bits32(f(a) + f(b))),
                    ("sub", false) => lanes32!(|a, b| bits32(f(a) - f(b))),
                    (_, false) => lanes32!(|a, b| bits32(f(a) * f(b))),
                    ("add", true) => lanes32!(|a, b| flush32(bits32(f(flush32(a)) + f(flush32(b))))),
                    ("sub", true) => lanes32!(|a, b| flush32(bits32(f(flush32(a)) - f(flush32(b))))),
                    (_, true) => lanes32!(|a, b| rounded(w(flush32(a)) * w(flush32(b)))),
                };
                if plain {
                    self.binary32(d, &s, fast);
                } else {
                    let general: Mixed = match name {
                        "add" => mixed!(|a, b, m| {
                            let m = Mode::decode(m);
                            m.result(soft::add(F32, m.operand(a), m.operand(b), m.rounding))
                        }),
                        "sub" => mixed!(|a, b, m| {
                            let m = Mode::decode(m);
                            m.result(soft::add(F32, m.operand(a), m.operand(b) ^ NEGATE32, m.rounding))
                        }),
                        _ => mixed!(|a, b, m| {
                            let m = Mode::decode(m);
                            let (a, b) = (m.operand(a), m.operand(b));
                            m.finish(soft::mul(F32, a, b, m.rounding), w(a as u32) * w(b as u32))
                        }),
                    };
                    self.with_mode(d, s, mode, general);
                }
            }
            "fma" | "mad" => {
                let (d, s) = self.perhaps_halves(name == "fma", mods, operands, 3)?;
                let fast: F3 = if flush {
                    lanes32!(|a, b, c| rounded(add_to_odd(w(flush32(a)) * w(flush32(b)), w(flush32(c)))))
                } else {
                    fused::fma32 as F3
                };
                if plain {
                    self.ternary32(d, &s, fast);
                } else {
                    self.with_mode(
                        d,
                        s,
                        mode,
                        mixed!(|a, b, c, m| {
                            let m = Mode::decode(m);
                            let (a, b, c) = (m.operand(a), m.operand(b), m.operand(c));
                            let exact = add_to_odd(w(a as u32) * w(b as u32), w(c as u32));
                            m.finish(soft::fma(F32, a, b, c, m.rounding), exact)
                        }),
                    );
                }
            }
            "div" => {
                let (d, s) = self.operands(operands, Ty::F32, 2)?;
                let function: Mixed = if approximate {
                    mixed!(|a, b, m| {
                        let m = Mode::decode(m);
                        m.result(approx::div(m.operand(a) as u32, m.operand(b) as u32, false).into())
                    })
                } else if full {
                    mixed!(|a, b, m| {
                        let m = Mode::decode(m);
                        m.result(approx::div(m.operand(a) as u32, m.operand(b) as u32, true).into())
                    })
                } else {
                    mixed!(|a, b, m| {
                        let m = Mode::decode(m);
                        let (a, b) = (m.operand(a), m.operand(b));
                        m.finish(soft::div(F32, a, b, m.rounding), w(a as u32) / w(b as u32))
                    })
                };
                self.with_mode(d, s, mode, function);
            }
            "rcp" | "sqrt" => {
                let (d, s) = self.operands(operands, Ty::F32, 1)?;
                let function: Mixed = match (name, approximate) {
                    ("rcp", true) => mixed!(|a, m| {
                        let m = Mode::decode(m);
                        m.result(approx::rcp(m.operand(a) as u32).into())
                    }),
                    ("rcp", false) => mixed!(|a, m| {
                        let m = Mode::decode(m);
                        m.result(soft::div(F32, 0x3f80_0000, m.operand(a), m.rounding))
                    }),
                    (_, true) => mixed!(|a, m| {
                        let m = Mode::decode(m);
                        m.result(approx::sqrt(m.operand(a) as u32).into())
                    }),
                    (_, false) => mixed!(|a, m| {
                        let m = Mode::decode(m);
                        m.result(soft::sqrt(F32, m.operand(a), m.rounding))
                    }),
                };
                self.with_mode(d, s, mode, function);
            }
            "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => {
                if !approximate {
                    return Err("`.approx` is missing".to_owned());
                }
                let (d, s) = self.operands(operands, Ty::F32, 1)?;
                let function: Mixed = match name {
                    "rsqrt" => approximation!(approx::rsqrt),
                    "sin" => approximation!(approx::sin),
                    "cos" => approximation!(approx::cos),
                    "lg2" => approximation!(approx::lg2),
                    "ex2" => approximation!(approx::ex2),
                    _ => approximation!(approx::tanh),
                };
                self.with_mode(d, s, mode, function);
            }
            "min" | "max" => {
                let nan = mods.take("NaN");
                let three = operands.len() == 4;
                let xor = !three && mods.take("xorsign") && mods.take("abs");
                let (d, s) = self.operands(operands, Ty::F32, if three { 3 } else { 2 })?;
                let function: F2 = match (name == "max", nan, xor, flush) {
                    (false, false, false, false) => lanes32!(|a, b| extreme32(a, b, false, false)),
                    (false, true, false, false) => lanes32!(|a, b| extreme32(a, b, false, true)),
                    (true, false, false, false) => lanes32!(|a, b| extreme32(a, b, true, false)),
                    (true, true, false, false) => lanes32!(|a, b| extreme32(a, b, true, true)),
                    (false, false, false, true) => lanes32!(|a, b| extreme32(flush32(a), flush32(b), false, false)),
                    (false, true, false, true) => lanes32!(|a, b| extreme32(flush32(a), flush32(b), false, true)),
                    (true, false, false, true) => lanes32!(|a, b| extreme32(flush32(a), flush32(b), true, false)),
                    (true, true, false, true) => lanes32!(|a, b| extreme32(flush32(a), flush32(b), true, true)),
                    (false, false, true, false) => lanes32!(|a, b| xorsign(a, b, false, false)),
                    (false, true, true, false) => lanes32!(|a, b| xorsign(a, b, false, true)),
                    (true, false, true, false) => lanes32!(|a, b| xorsign(a, b, true, false)),
                    (true, true, true, false) => lanes32!(|a, b| xorsign(a, b, true, true)),
                    (max, nan, true, true) => match (max, nan) {
                        (false, false) => lanes32!(|a, b| xorsign(flush32(a), flush32(b), false, false)),
                        (false, true) => lanes32!(|a, b| xorsign(flush32(a), flush32(b), false, true)),
                        (true, false) => lanes32!(|a, b| xorsign(flush32(a), flush32(b), true, false)),
                        (true, true) => lanes32!(|a, b| xorsign(flush32(a), flush32(b), true, true)),
                    },
                };
                if three {
                    self.of_three(d, s, mods.take("abs"), function);
                } else {
                    self.binary32(d, &s, function);
                }
            }
            "abs" | "neg" => {
                let (d, s) = self.operands(operands, Ty::F32, 1)?;
                let function: F1 = match (name, flush) {
                    ("abs", false) => lanes32!(|a| bits32(f(a & 0x7fff_ffff))),
                    ("abs", true) => lanes32!(|a| bits32(f(flush32(a) & 0x7fff_ffff))),
                    (_, false) => lanes32!(|a| bits32(f(a ^ 0x8000_0000))),
                    (_, true) => lanes32!(|a| bits32(f(flush32(a) ^ 0x8000_0000))),
                };
                self.emit(Op::Unary32(function, d.slot, s[0].slot));
            }
            "copysign" => {
                let (d, s) = self.operands(operands, Ty::F32, 2)?;
                self.binary32(d, &s, lanes32!(|a, b| b & 0x7fff_ffff | a & 0x8000_0000));
            }
            "testp" => self.test(Ty::F32, mods, operands)?,
            _ => return Err("this instruction has no single-precision form".to_owned()),
        }
        Ok(())
    }

    fn double(
        &mut self,
        name: &str,
        approximate: bool,
        flush: bool,
        rounding: Option<Rounding>,
        mode: u64,
        mods: &mut Modifiers<'m>,
        operands: &Operands<'m>,
    ) -> Result<()> {
        let nearest = rounding.is_none_or(|r| r == Rounding::Nearest);
        match name {
            "add" | "sub" | "mul" => {
                let (d, s) = self.operands(operands, Ty::F64, 2)?;
                let fast: G2 = match name {
                    "add" => lanes64!(|a, b| with_nan(g(a) + g(b), &[b, a])),
                    "sub" => lanes64!(|a, b| with_nan(g(a) - g(b), &[b, a])),
                    _ => lanes64!(|a, b| with_nan(g(a) * g(b), &[b, a])),
                };
                if nearest {
                    self.binary64(d, &s, fast);
                } else {
                    let general: Mixed = match name {
                        "add" => mixed!(|a, b, m| with_nan(g(soft::add(F64, a, b, Mode::decode(m).rounding)), &[b, a])),
                        "sub" => mixed!(|a, b, m| {
                            with_nan(g(soft::add(F64, a, b ^ NEGATE64, Mode::decode(m).rounding)), &[b, a])
                        }),
                        _ => mixed!(|a, b, m| with_nan(g(soft::mul(F64, a, b, Mode::decode(m).rounding)), &[b, a])),
                    };
                    self.with_mode(d, s, mode, general);
                }
            }
            "fma" | "mad" => {
                let (d, s) = self.operands(operands, Ty::F64, 3)?;
                if nearest {
                    self.ternary64(d, &s, fused64 as G3);
                } else {
                    self.with_mode(
                        d,
                        s,
                        mode,
                        mixed!(|a, b, c, m| {
                            with_nan(g(soft::fma(F64, a, b, c, Mode::decode(m).rounding)), &[b, c, a])
                        }),
                    );
                }
            }
            "div" => {
                let (d, s) = self.operands(operands, Ty::F64, 2)?;
                self.with_mode(
                    d,
                    s,
                    mode,
                    mixed!(|a, b, m| soft::div(F64, a, b, Mode::decode(m).rounding)),
                );
            }
            "rcp" | "sqrt" | "rsqrt" => {
                let (d, s) = self.operands(operands, Ty::F64, 1)?;
                let function: Mixed = match (name, approximate && flush) {
                    ("rcp", true) => mixed!(|a, _m| approx::rcp64(a)),
                    ("rsqrt", true) => mixed!(|a, _m| approx::rsqrt64(a)),
                    ("rsqrt", false) if approximate => mixed!(|a, _m| (1.0 / g(a).sqrt()).to_bits()),
                    ("rcp", false) => mixed!(|a, m| soft::div(F64, 1f64.to_bits(), a, Mode::decode(m).rounding)),
                    ("sqrt", false) => mixed!(|a, m| soft::sqrt(F64, a, Mode::decode(m).rounding)),
                    _ => return Err("this combination of modifiers does not exist".to_owned()),
                };
                self.with_mode(d, s, mode, function);
            }
            "min" | "max" => {
                let (d, s) = self.operands(operands, Ty::F64, 2)?;
                let function: G2 = if name == "max" {
                    lanes64!(|a, b| extreme64(a, b, true))
                } else {
                    lanes64!(|a, b| extreme64(a, b, false))
                };
                self.binary64(d, &s, function);
            }
            "abs" | "neg" => {
                let (d, s) = self.operands(operands, Ty::F64, 1)?;
                let function = if name == "abs" {
                    lanes64!(|a| passed_on(&[a]).unwrap_or(a & !NEGATE64))
                } else {
                    lanes64!(|a| passed_on(&[a]).unwrap_or(a ^ NEGATE64))
                };
                self.emit(Op::Unary64(function, d.slot, s[0].slot));
            }
            "copysign" => {
                let (d, s) = self.operands(operands, Ty::F64, 2)?;
                self.binary64(d, &s, lanes64!(|a, b| b & !NEGATE64 | a & NEGATE64));
            }
            "testp" => self.test(Ty::F64, mods, operands)?,
            _ => return Err("this instruction has no double-precision form".to_owned()),
        }
        Ok(())
    }

    fn test(&mut self, ty: Ty, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let kind = mods
            .one_of(&["finite", "infinite", "number", "notanumber", "normal", "subnormal"])
            .ok_or("the property is missing")?;
        operands.count(2, 2)?;
        let s = self.source(operands.get(1)?, ty)?;
        let p = match operands.get(0)? {
            Operand::Pair(..) => return Err("one destination is expected".to_owned()),
            p => self.destination(p, Ty::Pred)?,
        };
        // Zero counts as normal.
        macro_rules! property {
            ($value:ident, $bits:ty) => {
                match kind {
                    "finite" => mixed!(|a| u64::from($value(a as $bits).is_finite())),
                    "infinite" => mixed!(|a| u64::from($value(a as $bits).is_infinite())),
                    "number" => mixed!(|a| u64::from(!$value(a as $bits).is_nan())),
                    "notanumber" => mixed!(|a| u64::from($value(a as $bits).is_nan())),
                    "normal" => {
                        mixed!(|a| u64::from($value(a as $bits).is_finite() && !$value(a as $bits).is_subnormal()))
                    }
                    _ => mixed!(|a| u64::from($value(a as $bits).is_subnormal())),
                }
            };
        }
        let function: Mixed = if ty == Ty::F64 {
            property!(g, u64)
        } else {
            property!(f, u32)
        };
        let outcome = Outcome {
            p: p.slot,
            q: None,
            combine: None,
        };
        self.emit(Op::CompareMixed(Box::new((function, [s; 4], outcome))));
        Ok(())
    }
}

/// An approximate function of one operand with the modifiers in the constant operand.
macro_rules! approximation {
    ($function:path) => {
        mixed!(|a, m| {
            let m = Mode::decode(m);
            m.result($function(m.operand(a) as u32).into())
        })
    };
}
use approximation;
