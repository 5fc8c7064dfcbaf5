//! `f16` and `bf16` arithmetic (PTX ISA 9.7.4), alone and in pairs.
use super::function::{FunctionDecoder, Operands, Result};
use super::mixed::lanes32;
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{F1, F2, F3, Op};
use crate::number::NAN16;
use crate::number::format::power_of_two;
use crate::number::half::{Half, add_to_odd, both, both2, both3, extreme};

/// The value of an `f16`, its subnormals flushed where asked.
pub(super) fn value16(bits: u32, flush: bool) -> f64 {
    let bits = bits & 0xffff;
    Half::F16.value(if flush { Half::F16.flush(bits) } else { bits })
}

/// What tensor copies fill with where a tensor ends, in every 16 bits.
const FILL_NAN: u32 = 0x7ff7;

/// What happens to operands and result around an operation.
#[derive(Clone, Copy)]
struct Around {
    half: Half,
    flush: bool,
    saturate: bool,
    relu: bool,
}

impl Around {
    fn value(self, bits: u32) -> f64 {
        self.half.value(if self.flush { self.half.flush(bits) } else { bits })
    }
    fn fma_in_bounds(self, a: u32, b: u32, c: u32) -> u32 {
        let outside = |x: u32| x & 0x7fff == FILL_NAN;
        if outside(a) || outside(b) {
            return 0;
        }
        self.result(add_to_odd(self.value(a) * self.value(b), self.value(c)))
    }
    fn result(self, x: f64) -> u32 {
        let mut bits = self.half.round(x);
        // Subnormal is what would be so if the exponent had no lower end: rounding may lift it to a normal number.
        let lifted = 1.0 - power_of_two(-12);
        if self.flush && x.abs() < self.half.smallest_normal() * lifted {
            bits &= 0x8000;
        }
        let value = self.half.value(bits);
        if self.saturate {
            bits = self.half.round(if value.is_nan() {
                0.0
            } else {
                value.clamp(0.0, 1.0) + 0.0
            });
        }
        if self.relu && !value.is_nan() && (value < 0.0 || bits == 0x8000) {
            bits = 0;
        }
        bits
    }
}

/// Instantiates a lane function for one format and set of modifiers, alone or as a pair.
macro_rules! around {
    ($half:expr, $pair:expr, $flush:expr, $sat:expr, $relu:expr, $make:ident) => {
        match ($half, $flush, $sat, $relu) {
            (Half::F16, false, false, false) => $make!(
                $pair,
                Around {
                    half: Half::F16,
                    flush: false,
                    saturate: false,
                    relu: false
                }
            ),
            (Half::F16, true, false, false) => $make!(
                $pair,
                Around {
                    half: Half::F16,
                    flush: true,
                    saturate: false,
                    relu: false
                }
            ),
            (Half::F16, false, true, false) => $make!(
                $pair,
                Around {
                    half: Half::F16,
                    flush: false,
                    saturate: true,
                    relu: false
                }
            ),
            (Half::F16, true, true, false) => $make!(
                $pair,
                Around {
                    half: Half::F16,
                    flush: true,
                    saturate: true,
                    relu: false
                }
            ),
            (Half::F16, false, false, true) => $make!(
                $pair,
                Around {
                    half: Half::F16,
                    flush: false,
                    saturate: false,
                    relu: true
                }
            ),
            (Half::F16, true, false, true) => $make!(
                $pair,
                Around {
                    half: Half::F16,
                    flush: true,
                    saturate: false,
                    relu: true
                }
            ),
            (Half::Bf16, false, false, false) => $make!(
                $pair,
                Around {
                    half: Half::Bf16,
                    flush: false,
                    saturate: false,
                    relu: false
                }
            ),
            (Half::Bf16, false, false, true) => $make!(
                $pair,
                Around {
                    half: Half::Bf16,
                    flush: false,
                    saturate: false,
                    relu: true
                }
            ),
            _ => return Err("this combination of modifiers does not exist".to_owned()),
        }
    };
}

macro_rules! add {
    ($pair:expr, $w:expr) => {
        if $pair {
            lanes32!(|a, b| both2(a, b, |a, b| $w.result($w.value(a) + $w.value(b))))
        } else {
            lanes32!(|a, b| $w.result($w.value(a) + $w.value(b)))
        }
    };
}
macro_rules! sub {
    ($pair:expr, $w:expr) => {
        if $pair {
            lanes32!(|a, b| both2(a, b, |a, b| $w.result($w.value(a) - $w.value(b))))
        } else {
            lanes32!(|a, b| $w.result($w.value(a) - $w.value(b)))
        }
    };
}
macro_rules! mul {
    ($pair:expr, $w:expr) => {
        if $pair {
            lanes32!(|a, b| both2(a, b, |a, b| $w.result($w.value(a) * $w.value(b))))
        } else {
            lanes32!(|a, b| $w.result($w.value(a) * $w.value(b)))
        }
    };
}
macro_rules! fma {
    ($pair:expr, $w:expr) => {
        if $pair {
            lanes32!(|a, b, c| both3(a, b, c, |a, b, c| $w
                .result(add_to_odd($w.value(a) * $w.value(b), $w.value(c)))))
        } else {
            lanes32!(|a, b, c| $w.result(add_to_odd($w.value(a) * $w.value(b), $w.value(c))))
        }
    };
}

/// Negation or magnitude; the hardware computes either as a sum, so that any NaN becomes its own.
fn sign(half: Half, a: u32, flush: bool, negate: bool) -> u32 {
    let a = if flush { half.flush(a) } else { a };
    if half.is_nan(a) {
        NAN16
    } else if negate {
        a ^ 0x8000
    } else {
        a & 0x7fff
    }
}

impl<'m> FunctionDecoder<'_, 'm> {
    /// Half-precision instructions of type `ty`.
    pub(super) fn half(
        &mut self,
        name: &str,
        ty: Ty,
        half: Half,
        pair: bool,
        mods: &mut Modifiers<'m>,
        operands: &Operands<'m>,
    ) -> Result<()> {
        let flush = mods.take("ftz");
        let saturate = mods.take("sat");
        let relu = mods.take("relu");
        let operand_ty = if pair { Ty::B32 } else { Ty::B16 };
        let _ = ty;
        if !matches!(name, "min" | "max" | "ex2" | "tanh") {
            mods.take("rn");
        }
        match name {
            "add" | "sub" | "mul" => {
                let (d, s) = self.operands(operands, operand_ty, 2)?;
                let f: F2 = match name {
                    "add" => around!(half, pair, flush, saturate, relu, add),
                    "sub" => around!(half, pair, flush, saturate, relu, sub),
                    _ => around!(half, pair, flush, saturate, relu, mul),
                };
                self.binary32(d, &s, f);
            }
            "fma" => {
                if mods.take("oob") {
                    return self.fma_in_bounds(half, pair, relu, operands, flush || saturate);
                }
                let (d, s) = self.operands(operands, operand_ty, 3)?;
                let f: F3 = around!(half, pair, flush, saturate, relu, fma);
                self.ternary32(d, &s, f);
            }
            "min" | "max" => {
                let nan = mods.take("NaN");
                let xorsign = mods.take("xorsign") && mods.take("abs");
                let (d, s) = self.operands(operands, operand_ty, 2)?;
                macro_rules! pick {
                    ($h:expr, $f:expr, $m:expr, $n:expr, $x:expr) => {
                        if pair {
                            lanes32!(|a, b| both2(a, b, |a, b| extreme($h, a, b, $f, $m, $n, $x)))
                        } else {
                            lanes32!(|a, b| extreme($h, a, b, $f, $m, $n, $x))
                        }
                    };
                }
                let f: F2 = match (half, flush, name == "max", nan, xorsign) {
                    (Half::F16, false, false, false, false) => pick!(Half::F16, false, false, false, false),
                    (Half::F16, false, true, false, false) => pick!(Half::F16, false, true, false, false),
                    (Half::F16, false, false, true, false) => pick!(Half::F16, false, false, true, false),
                    (Half::F16, false, true, true, false) => pick!(Half::F16, false, true, true, false),
                    (Half::F16, true, false, false, false) => pick!(Half::F16, true, false, false, false),
                    (Half::F16, true, true, false, false) => pick!(Half::F16, true, true, false, false),
                    (Half::F16, true, false, true, false) => pick!(Half::F16, true, false, true, false),
                    (Half::F16, true, true, true, false) => pick!(Half::F16, true, true, true, false),
                    (Half::F16, false, false, false, true) => pick!(Half::F16, false, false, false, true),
                    (Half::F16, false, true, false, true) => pick!(Half::F16, false, true, false, true),
                    (Half::F16, false, false, true, true) => pick!(Half::F16, false, false, true, true),
                    (Half::F16, false, true, true, true) => pick!(Half::F16, false, true, true, true),
                    (Half::F16, true, false, false, true) => pick!(Half::F16, true, false, false, true),
                    (Half::F16, true, true, false, true) => pick!(Half::F16, true, true, false, true),
                    (Half::F16, true, false, true, true) => pick!(Half::F16, true, false, true, true),
                    (Half::F16, true, true, true, true) => pick!(Half::F16, true, true, true, true),
                    (Half::Bf16, false, false, false, false) => pick!(Half::Bf16, false, false, false, false),
                    (Half::Bf16, false, true, false, false) => pick!(Half::Bf16, false, true, false, false),
                    (Half::Bf16, false, false, true, false) => pick!(Half::Bf16, false, false, true, false),
                    (Half::Bf16, false, true, true, false) => pick!(Half::Bf16, false, true, true, false),
                    (Half::Bf16, false, false, false, true) => pick!(Half::Bf16, false, false, false, true),
                    (Half::Bf16, false, true, false, true) => pick!(Half::Bf16, false, true, false, true),
                    (Half::Bf16, false, false, true, true) => pick!(Half::Bf16, false, false, true, true),
                    (Half::Bf16, false, true, true, true) => pick!(Half::Bf16, false, true, true, true),
                    _ => return Err("this combination of modifiers does not exist".to_owned()),
                };
                self.binary32(d, &s, f);
            }
            "abs" | "neg" => {
                let (d, s) = self.operands(operands, operand_ty, 1)?;
                macro_rules! sign {
                    ($half:expr, $flush:expr, $negate:expr) => {
                        if pair {
                            lanes32!(|a| both(a, |a| sign($half, a, $flush, $negate)))
                        } else {
                            lanes32!(|a| sign($half, a, $flush, $negate))
                        }
                    };
                }
                let f: F1 = match (half, flush, name == "neg") {
                    (Half::F16, false, false) => sign!(Half::F16, false, false),
                    (Half::F16, false, true) => sign!(Half::F16, false, true),
                    (Half::F16, true, false) => sign!(Half::F16, true, false),
                    (Half::F16, true, true) => sign!(Half::F16, true, true),
                    (Half::Bf16, false, false) => sign!(Half::Bf16, false, false),
                    (Half::Bf16, false, true) => sign!(Half::Bf16, false, true),
                    _ => return Err("this combination of modifiers does not exist".to_owned()),
                };
                self.emit(Op::Unary32(f, d.slot, s[0].slot));
            }
            "ex2" | "tanh" => {
                mods.take("approx").then_some(()).ok_or("`.approx` is missing")?;
                let (d, s) = self.operands(operands, operand_ty, 1)?;
                let f: F1 = match (name, half, pair) {
                    ("ex2", Half::F16, false) => lanes32!(|a| Half::F16.round(Half::F16.value(a).exp2())),
                    ("ex2", Half::F16, true) => lanes32!(|a| both(a, |a| Half::F16.round(Half::F16.value(a).exp2()))),
                    ("ex2", Half::Bf16, false) => {
                        lanes32!(|a| Half::Bf16.flush(Half::Bf16.round(Half::Bf16.value(Half::Bf16.flush(a)).exp2())))
                    }
                    ("ex2", Half::Bf16, true) => lanes32!(|a| both(a, |a| {
                        Half::Bf16.flush(Half::Bf16.round(Half::Bf16.value(Half::Bf16.flush(a)).exp2()))
                    })),
                    (_, Half::F16, false) => lanes32!(|a| Half::F16.round(Half::F16.value(a).tanh())),
                    (_, Half::F16, true) => lanes32!(|a| both(a, |a| Half::F16.round(Half::F16.value(a).tanh()))),
                    (_, Half::Bf16, false) => lanes32!(|a| Half::Bf16.round(Half::Bf16.value(a).tanh())),
                    (_, Half::Bf16, true) => lanes32!(|a| both(a, |a| Half::Bf16.round(Half::Bf16.value(a).tanh()))),
                };
                self.emit(Op::Unary32(f, d.slot, s[0].slot));
            }
            _ => return Err("this instruction has no half-precision form here".to_owned()),
        }
        Ok(())
    }

    /// `fma.rn.oob`: 0 where a factor is the NaN that tensor copies fill with.
    fn fma_in_bounds(
        &mut self,
        half: Half,
        pair: bool,
        relu: bool,
        operands: &Operands<'m>,
        other: bool,
    ) -> Result<()> {
        if other {
            return Err("`.oob` goes with `.relu` alone".to_owned());
        }
        let (d, s) = self.operands(operands, if pair { Ty::B32 } else { Ty::B16 }, 3)?;
        macro_rules! in_bounds {
            ($half:expr, $relu:expr) => {{
                const AROUND: Around = Around {
                    half: $half,
                    flush: false,
                    saturate: false,
                    relu: $relu,
                };
                if pair {
                    lanes32!(|a, b, c| both3(a, b, c, |a, b, c| AROUND.fma_in_bounds(a, b, c)))
                } else {
                    lanes32!(|a, b, c| AROUND.fma_in_bounds(a, b, c))
                }
            }};
        }
        let f: F3 = match (half, relu) {
            (Half::F16, false) => in_bounds!(Half::F16, false),
            (Half::F16, true) => in_bounds!(Half::F16, true),
            (Half::Bf16, false) => in_bounds!(Half::Bf16, false),
            (Half::Bf16, true) => in_bounds!(Half::Bf16, true),
        };
        self.ternary32(d, &s, f);
        Ok(())
    }
}
