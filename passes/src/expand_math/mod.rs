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
//! `afn` the hardware's approximations serve: `exp`, `exp2`, `log`, `log2`, `log10`, `sin`, `cos`, `tanh` of single precision.
//! `math.log2` with `afn` stays on a tile until it is in registers, where the pass goes over it again.
//!
//! It takes scalars, vectors and tiles of 8-bit floats, f16 and bf16 (computed in f32 and rounded again), f32, and f64. It
//! expands what is in kernels: in `tile.kernel`, `gpu.module` and `gpu.func`; with `functions=true` everything. `arith.remf` is
//! expanded too, and what later passes do not know: `math.fpowi`, `math.ipowi`, `math.isinf`, `math.isnormal`, `math.clampf`.
//! Needs nothing. What it cannot expand it refuses, with what to write instead.
mod algebra;
mod emit;
mod error_function;
mod exponential;
mod hyperbolic;
mod integers;
mod logarithm;
mod power;
mod remainder;
#[cfg(test)]
mod tests;
mod trigonometric;

use algebra::{Approximate, Arith};
use emit::{Ops, with_element};
use girih_dialects::{
    nvvm::{Emit, V},
    tile::ops::kernel::Kernel,
};
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
            girih_ir::pass::DialectSource::Upstream(mlirGetDialectHandle__vector__),
        ],
        ..PassInfo::new("tile-expand-math", "Expands functions into the arithmetic of a GPU")
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let everywhere = cx.option_bool("functions");
        let mut errors = Errors::default();
        // A tile's op was written once and is here once for each of its elements.
        let mut told = BTreeSet::new();
        for op in module.nested_ops() {
            let ours = op.dialect_name() == "math" || op.full_name() == "arith.remf" || integers::is_signed_truth(op);
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
    let (Some(result), Some(operand)) = (
        op.result_types().first().copied(),
        op.operand_values().first().map(|v| v.r#type()),
    ) else {
        return Outcome::Instruction;
    };
    if is_instruction(name) {
        return Outcome::Instruction;
    }
    // Of some functions the result is no float.
    let element = operand.element_type().unwrap_or(operand);
    let is_short = element.is_float_type() && element.bit_width().is_some_and(|bits| bits <= 16);
    // LLVM makes the root and a quotient of it, or with `afn` `rsqrt.approx`.
    if name == "math.rsqrt" && !is_short {
        return Outcome::Instruction;
    }
    let Some(bits) = element.bit_width().filter(|bits| {
        ["math.ipowi", "arith.sitofp"].contains(&name) || element.is_float_type() && [8, 16, 32, 64].contains(bits)
    }) else {
        return Outcome::Refused(format!(
            "is not expanded on {element}; compute it in f32, with arith.extf before and arith.truncf after"
        ));
    };
    let whole = match name {
        "math.fpowi" => integers::fpowi(op),
        "math.ipowi" => integers::ipowi(op),
        "math.isinf" => integers::is_kind(op, false),
        "math.isnormal" => integers::is_kind(op, true),
        "math.clampf" => integers::clampf(op),
        "arith.sitofp" => integers::of_truth(op),
        _ => None,
    };
    if let Some(value) = whole {
        op.result0().replace_all_uses_with(&value);
        erase(op);
        return Outcome::Expanded;
    }
    let approximate = allows_approximation(op);
    let on_tile = result.is_ranked_tensor_type();
    if bits == 32
        && approximate
        && (["math.exp2", "math.sin", "math.cos", "math.tanh"].contains(&name) || name == "math.log2" && on_tile)
    {
        return Outcome::Instruction;
    }
    let names: &[&str] = match name {
        "math.sincos" => &["math.sin", "math.cos"],
        _ if FUNCTIONS.contains(&name) => &[name],
        _ => return Outcome::Refused(refusal()),
    };
    let values: Option<Vec<V>> = names
        .iter()
        .map(|name| compute(op, name, is_short, approximate && bits != 64))
        .collect();
    let Some(values) = values else {
        return Outcome::Refused(refusal());
    };
    for (result, value) in op.result_values().into_iter().zip(&values) {
        result.replace_all_uses_with(value);
    }
    erase(op);
    Outcome::Expanded
}

/// A function of an op's operands, before it; of short formats in f32.
fn compute<'c>(op: OperationRef<'c, 'c>, name: &str, is_short: bool, fast: bool) -> Option<V<'c>> {
    let place = Before(op);
    let e = Emit::new(&place, op.location());
    let result = op.result0().r#type();
    let wide = match is_short {
        true => with_element(result, Type::float32(op.ctx())),
        false => result,
    };
    // Vectors of a few lanes go with their shape, what is not a number of the result's type stays.
    let widened = |v| match is_short {
        true => e.value("arith.extf", &[v], wide, &[]),
        false => v,
    };
    let operands: Vec<_> = op.operand_values().into_iter().map(widened).collect();
    let value = function(&Ops::new(op, wide), name, &operands, fast)?;
    Some(match is_short {
        true => e.value("arith.truncf", &[value], result, &[]),
        false => value,
    })
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
            | "math.copysign"
            | "math.fma"
            | "math.isnan"
            | "math.isfinite"
            | "math.ctlz"
            | "math.cttz"
            | "math.ctpop"
    )
}

/// What is expanded in the arithmetic of its type.
const FUNCTIONS: [&str; 26] = [
    "math.exp",
    "math.exp2",
    "math.expm1",
    "math.log",
    "math.log2",
    "math.log10",
    "math.log1p",
    "math.sin",
    "math.cos",
    "math.tan",
    "math.asin",
    "math.acos",
    "math.atan",
    "math.atan2",
    "math.sinh",
    "math.cosh",
    "math.tanh",
    "math.asinh",
    "math.acosh",
    "math.atanh",
    "math.erf",
    "math.erfc",
    "math.powf",
    "math.cbrt",
    "math.rsqrt",
    "arith.remf",
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
        ("math.rsqrt", true) => approximate(Approximate::Rsqrt),
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
        ("math.rsqrt", _) => power::rsqrt(a, x[0]),
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

fn refusal() -> String {
    format!(
        "is not expanded; known are {}, math.sincos, math.fpowi, math.ipowi, math.isinf, math.isnormal, math.clampf",
        FUNCTIONS.join(", ")
    )
}
