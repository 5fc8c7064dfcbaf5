//! `tile-expand-math`: functions in the arithmetic that a GPU has.
//!
//! ```mlir
//! %y = math.exp %x : f32                    // before
//! %k = arith.mulf %x, %log2e : f32          // after: x = n ln(2) + r
//! %n = arith.addf %k, %magic : f32
//! ...                                       //        e^r by a polynomial, times 2^n
//! %z = math.exp %x fastmath<afn> : f32      // before
//! %k = arith.mulf %x, %log2e : f32          // after
//! %z = math.exp2 %k fastmath<afn> : f32     //        ex2.approx
//! ```
//!
//! NVIDIA's own library of functions is not needed. Each function has a bound on its error, in units in the last place,
//! in `docs/maths.md`; tests hold the bounds against a reference over dense samples. Without `fastmath` a result is made
//! of additions, multiplications and the like alone, so it has the same bits on every device and on the simulator. With
//! `afn` the hardware's approximations serve: `exp`, `exp2`, `sin`, `cos`, `tanh` of single precision, and of scalars `log`,
//! `log2`, `log10`.
//!
//! It takes scalars, vectors and tiles of f16 and bf16 (computed in f32 and rounded again), f32, and f64. It expands what is in
//! kernels: in `tile.kernel`, `gpu.module` and `gpu.func`; with `functions=true` everything. `arith.remf` is expanded too.
//! Needs nothing. What it cannot expand it refuses, with what to write instead: in double precision the trigonometric functions,
//! their inverses, `erf`, `erfc` and `powf`; and functions with a run-time integer exponent.
mod algebra;
mod emit;
mod error_function;
mod exponential;
mod hyperbolic;
mod logarithm;
mod power;
mod remainder;
#[cfg(test)]
mod tests;
mod trigonometric;

use algebra::{Approximate, Arith};
use emit::{Ops, with_element};
use girih_dialects::{nvvm::Emit, tile::ops::kernel::Kernel};
use girih_ir::{
    pass::{OptionDef, OptionDefault, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::Before,
};
use mlir_sys::*;
use std::collections::BTreeSet;

/// `tile-expand-math`.
pub struct ExpandMath;

impl Pass for ExpandMath {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[OptionDef {
            name: "functions",
            description: "Expand in host functions too",
            default: OptionDefault::Bool(false),
        }],
        statistics: &[Statistic {
            name: "functions",
            description: "Ops that were expanded",
        }],
        dialects: &[
            girih_ir::pass::DialectSource::Upstream(mlirGetDialectHandle__arith__),
            girih_ir::pass::DialectSource::Upstream(mlirGetDialectHandle__llvm__),
            girih_ir::pass::DialectSource::Upstream(mlirGetDialectHandle__math__),
            girih_ir::pass::DialectSource::Upstream(mlirGetDialectHandle__scf__),
        ],
        ..PassInfo::new("tile-expand-math", "Expands functions into the arithmetic of a GPU")
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let everywhere = cx.option_bool("functions");
        let mut errors = Errors::default();
        // A tile's op was written once and is here once for each of its elements.
        let mut told = BTreeSet::new();
        for op in module.nested_ops() {
            let ours = op.dialect_name() == "math" || op.full_name() == "arith.remf";
            if !ours || !(everywhere || in_kernel(op)) {
                continue;
            }
            match expand(op) {
                Outcome::Instruction => {}
                Outcome::Expanded => cx.count(0, 1),
                Outcome::Refused(why) => {
                    if told.insert((op.location().to_string(), op.full_name())) {
                        errors.op(&op, why);
                    }
                }
            }
        }
        errors.result()
    }
}

/// Whether an op will run on the GPU.
fn in_kernel(op: OperationRef<'_, '_>) -> bool {
    let mut at = op.parent();
    while let Some(around) = at {
        if around.is::<Kernel>() || matches!(around.full_name(), "gpu.module" | "gpu.func") {
            return true;
        }
        at = around.parent();
    }
    false
}

/// Removes an op that nobody uses any more.
fn erase(op: OperationRef<'_, '_>) {
    // SAFETY: the op is in a block, which owns it; its results were replaced, and the walk over the module has its own list.
    unsafe { mlirOperationDestroy(op.to_raw()) };
}

enum Outcome {
    /// The hardware has it.
    Instruction,
    Expanded,
    Refused(String),
}

fn expand<'c>(op: OperationRef<'c, 'c>) -> Outcome {
    let name = op.full_name();
    let Some(result) = op.result_types().first().copied() else {
        return Outcome::Instruction;
    };
    let element = result.element_type().unwrap_or(result);
    if is_instruction(name) || !element.is_float_type() && name != "math.ipowi" {
        return Outcome::Instruction;
    }
    let Some(bits) = element
        .bit_width()
        .filter(|bits| [16, 32, 64].contains(bits) && element.is_float_type())
    else {
        return Outcome::Refused(format!(
            "is not expanded on {element}; compute it in f32, with arith.extf before and arith.truncf after"
        ));
    };
    let approximate = allows_approximation(op);
    if bits == 32 && approximate && ["math.exp2", "math.sin", "math.cos", "math.tanh"].contains(&name) {
        return Outcome::Instruction;
    }
    let place = Before(op);
    let e = Emit::new(&place, op.location());
    let wide = if bits == 16 {
        with_element(result, Type::float32(op.ctx()))
    } else {
        result
    };
    let known = if bits == 64 {
        IN_BOTH.contains(&name)
    } else {
        IN_BOTH.contains(&name) || IN_SINGLE.contains(&name)
    };
    if !known {
        return Outcome::Refused(refusal(name, bits));
    }
    // Vectors of a few lanes go with their shape, what is not a number of the result's type stays.
    let operands: Vec<_> = op
        .operand_values()
        .into_iter()
        .map(|v| {
            if bits == 16 {
                e.value("arith.extf", &[v], wide, &[])
            } else {
                v
            }
        })
        .collect();
    let a = Ops::new(op, wide);
    let logarithm = ["math.log", "math.log2", "math.log10"].contains(&name);
    let fast = approximate && bits != 64 && (!logarithm || result.shape().is_none());
    let Some(value) = function(&a, name, &operands, fast) else {
        return Outcome::Refused(refusal(name, bits));
    };
    let value = if bits == 16 {
        e.value("arith.truncf", &[value], result, &[])
    } else {
        value
    };
    op.result0().replace_all_uses_with(&value);
    erase(op);
    Outcome::Expanded
}

/// Ops that later passes make instructions of, on every type that they take.
fn is_instruction(name: &str) -> bool {
    matches!(
        name,
        "math.absf"
            | "math.absi"
            | "math.ceil"
            | "math.floor"
            | "math.trunc"
            | "math.round"
            | "math.roundeven"
            | "math.sqrt"
            | "math.rsqrt"
            | "math.copysign"
            | "math.fma"
            | "math.isnan"
            | "math.isinf"
            | "math.isfinite"
            | "math.isnormal"
            | "math.ctlz"
            | "math.cttz"
            | "math.ctpop"
    )
}

const IN_BOTH: [&str; 15] = [
    "math.exp",
    "math.exp2",
    "math.expm1",
    "math.log",
    "math.log2",
    "math.log10",
    "math.log1p",
    "math.sinh",
    "math.cosh",
    "math.tanh",
    "math.asinh",
    "math.acosh",
    "math.atanh",
    "math.cbrt",
    "arith.remf",
];
const IN_SINGLE: [&str; 10] = [
    "math.sin",
    "math.cos",
    "math.tan",
    "math.asin",
    "math.acos",
    "math.atan",
    "math.atan2",
    "math.erf",
    "math.erfc",
    "math.powf",
];

fn function<A: Arith>(a: &A, name: &str, x: &[A::F], fast: bool) -> Option<A::F> {
    let approximate = |function| a.approximate(function, x[0]);
    Some(match (name, fast) {
        ("math.exp", true) => exponential::exp_fast(a, x[0]),
        ("math.exp2", true) => approximate(Approximate::Exp2),
        ("math.log", true) => logarithm::log_fast(a, x[0]),
        ("math.log2", true) => approximate(Approximate::Log2),
        ("math.log10", true) => logarithm::log10_fast(a, x[0]),
        ("math.sin", true) => approximate(Approximate::Sin),
        ("math.cos", true) => approximate(Approximate::Cos),
        ("math.tanh", true) => approximate(Approximate::Tanh),
        ("math.exp", _) => exponential::exp(a, x[0]),
        ("math.exp2", _) => exponential::exp2(a, x[0]),
        ("math.expm1", _) => exponential::expm1(a, x[0]),
        ("math.log", _) => logarithm::log(a, x[0]),
        ("math.log2", _) => logarithm::log2(a, x[0]),
        ("math.log10", _) => logarithm::log10(a, x[0]),
        ("math.log1p", _) => logarithm::log1p(a, x[0]),
        ("math.sinh", _) => hyperbolic::sinh(a, x[0]),
        ("math.cosh", _) => hyperbolic::cosh(a, x[0]),
        ("math.tanh", _) => hyperbolic::tanh(a, x[0]),
        ("math.asinh", _) => hyperbolic::asinh(a, x[0]),
        ("math.acosh", _) => hyperbolic::acosh(a, x[0]),
        ("math.atanh", _) => hyperbolic::atanh(a, x[0]),
        ("math.cbrt", _) => power::cbrt(a, x[0]),
        ("math.powf", _) => power::powf(a, x[0], x[1]),
        ("math.sin", _) => trigonometric::sin(a, x[0]),
        ("math.cos", _) => trigonometric::cos(a, x[0]),
        ("math.tan", _) => trigonometric::tan(a, x[0]),
        ("math.asin", _) => trigonometric::asin(a, x[0]),
        ("math.acos", _) => trigonometric::acos(a, x[0]),
        ("math.atan", _) => trigonometric::atan(a, x[0]),
        ("math.atan2", _) => trigonometric::atan2(a, x[0], x[1]),
        ("math.erf", _) => error_function::erf(a, x[0]),
        ("math.erfc", _) => error_function::erfc(a, x[0]),
        ("arith.remf", _) => remainder::remainder(a, x[0], x[1]),
        _ => return None,
    })
}

/// Whether `afn`, alone or as a part of `fast`, is among the op's flags.
fn allows_approximation(op: OperationRef<'_, '_>) -> bool {
    op.attr("fastmath").is_some_and(|flags| {
        let text = flags.to_string();
        text.contains("afn") || text.contains("fast>")
    })
}

fn refusal(name: &str, bits: u32) -> String {
    match name {
        "math.ipowi" | "math.fpowi" => {
            "is not expanded; for a known exponent write the products, or convert it and use math.powf".to_owned()
        }
        _ if bits == 64 && IN_SINGLE.contains(&name) => {
            "is not expanded on f64; compute it in f32, with arith.truncf before and arith.extf after".to_owned()
        }
        _ => format!(
            "is not expanded; known are {}",
            IN_BOTH.iter().chain(&IN_SINGLE).copied().collect::<Vec<_>>().join(", ")
        ),
    }
}
