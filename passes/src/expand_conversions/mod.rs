//! `tile-expand-conversions`: what LLVM has no code for between number formats, or code that ends differently on every target.
//!
//! ```mlir
//! %y = arith.fptosi %x : f32 to i8                      // before
//! %w = llvm.call_intrinsic "llvm.nvvm.f2i.rz"(%x)       // after: cut off, and the ends of the range for what is outside
//! %a = arith.minsi %w, %c127 : i32
//! %b = arith.maxsi %a, %c-128 : i32
//! %y = arith.trunci %b : i32 to i8
//!
//! %y = arith.truncf %x downward : f32 to bf16           // before
//! %n = arith.truncf %x : f32 to bf16                    // after: the nearest, or its neighbour below
//! %y = ... arith.select ...
//!
//! %y = arith.maximumf %a, %b : f8E4M3FN                 // before
//! %w = arith.maximumf %wide_a, %wide_b : f32            // after: computed in f32, rounded again
//! %y = ... cvt.rn.satfinite.e4m3x2.f32 ...
//! ```
//!
//! `docs/maths.md` has what every conversion gives: how it rounds, what becomes of what is too large, and of NaN. It is what
//! MLIR's own folding gives, and what a reference on the CPU does.
//!
//! It goes over kernels' code once that is ops on numbers: in `gpu.module` and `gpu.func`, after `convert-tile-to-nvvm`, which
//! converts tiles with the same functions, in pairs. It takes numbers, and vectors of rank 1 lane by lane.
//! *Needs* `tile-expand-math` to have run. *Refuses* nothing. *Numbers*: floats of more than 8 bits keep what LLVM
//! makes of `arith.truncf` where it rounds to nearest.
mod below_bytes;
pub mod floats;
mod integers;

use floats::{How, convert, is_small, of_small};
use girih_core::number::Rounding;
use girih_dialects::{
    nvvm::{Emit, V},
    tile::target_of,
};
use girih_ir::{
    kind::{I32, I64s, Kind},
    pass::{DialectSource, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::Before,
};
use mlir_sys::*;

/// `tile-expand-conversions`.
pub struct ExpandConversions;

impl Pass for ExpandConversions {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[Statistic {
            name: "conversions",
            description: "Ops that were expanded",
        }],
        dialects: &[
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
            DialectSource::Upstream(mlirGetDialectHandle__llvm__),
            DialectSource::Upstream(mlirGetDialectHandle__math__),
            DialectSource::Upstream(mlirGetDialectHandle__vector__),
        ],
        ..PassInfo::new(
            "tile-expand-conversions",
            "Expands conversions between number formats, and arithmetic on floats of 8 bits and less",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        for op in module.nested_ops() {
            if !matches!(op.dialect_name(), "arith" | "math") || !on_gpu(op) {
                continue;
            }
            let Some(values) = expand(op) else { continue };
            for (old, new) in op.result_values().into_iter().zip(&values) {
                old.replace_all_uses_with(new);
            }
            cx.count(0, 1);
            // SAFETY: the op is in a block, which owns it; its results have no uses, and the list of ops is a copy.
            unsafe { mlirOperationDestroy(op.to_raw()) };
        }
        Ok(())
    }
}

/// Whether an op stands in what is compiled for a GPU.
fn on_gpu(op: OperationRef<'_, '_>) -> bool {
    std::iter::successors(op.parent(), |o| o.parent()).any(|o| matches!(o.full_name(), "gpu.module" | "gpu.func"))
}

/// How `arith.truncf` rounds.
pub fn rounding_of(op: OperationRef<'_, '_>) -> Rounding {
    // MLIR's numbers, which are LLVM's.
    match op.attr("roundingmode").and_then(I32::from_attribute) {
        Some(1) => Rounding::Down,
        Some(2) => Rounding::Up,
        Some(3) => Rounding::Zero,
        Some(4) => Rounding::NearestAway,
        _ => Rounding::NearestEven,
    }
}

/// Results in the place of an op's; `None` where it stays.
fn expand<'c>(op: OperationRef<'c, 'c>) -> Option<Vec<V<'c>>> {
    let place = Before(op);
    let e = Emit::new(&place, op.location());
    let operands = op.operand_values();
    let (source, result) = (*operands.first()?, *op.result_types().first()?);
    let element = |t: Type<'c>| t.element_type().unwrap_or(t);
    let (from, to) = (element(source.r#type()), element(result));
    let how = |rounding| How {
        rounding,
        saturate: false,
        target: target_of(op),
    };
    let one = |values: Vec<V<'c>>| Some(vec![from_lanes(&e, values, result)]);
    match op.full_name() {
        "arith.truncf" => {
            let rounding = rounding_of(op);
            if rounding == Rounding::NearestEven && !is_small(to) && !is_small(from) {
                // LLVM would take a mode that is named for one of the environment.
                op.remove_attr("roundingmode");
                return None;
            }
            one(convert(&e, &lanes(&e, source), to, how(rounding)))
        }
        "arith.extf" if is_small(from) && is_small(to) => {
            one(convert(&e, &lanes(&e, source), to, how(Rounding::NearestEven)))
        }
        "arith.extf" if is_small(from) => one(of_small(&e, &lanes(&e, source), to, target_of(op))),
        "arith.sitofp" | "arith.uitofp" if is_small(to) => {
            let f32_type = Type::float32(op.ctx());
            // f32 has every integer that is not past the largest number anyway.
            let singles: Vec<V> = lanes(&e, source)
                .into_iter()
                .map(|v| e.value(op.full_name(), &[v], f32_type, &[]))
                .collect();
            one(convert(&e, &singles, to, how(Rounding::NearestEven)))
        }
        "arith.fptosi" | "arith.fptoui" => {
            let signed = op.full_name() == "arith.fptosi";
            let bits = to.bit_width().filter(|bits| *bits <= 64)?;
            let values = lanes(&e, source).into_iter();
            one(values
                .map(|v| integers::of_float(&e, v, signed, bits, target_of(op)))
                .collect())
        }
        "arith.constant" | "arith.select" | "arith.bitcast" => None,
        // Exact, of NaN too.
        "arith.negf" | "math.absf" if is_small(from) && result.shape().is_none() => {
            let bits = e.to_storage(source);
            let sign = 1 << (from.bit_width().unwrap_or(8) - 1);
            let changed = match op.full_name() {
                "arith.negf" => e.xor(bits, e.constant(if sign == 128 { -sign } else { sign }, e.int(8))),
                _ => e.mask(bits, sign - 1),
            };
            Some(vec![e.from_storage(changed, result)])
        }
        _ => in_single(&e, op),
    }
}

/// An op on floats of 8 bits and less in f32; `None` for others.
fn in_single<'c>(e: &Emit<'c, '_>, op: OperationRef<'c, 'c>) -> Option<Vec<V<'c>>> {
    let (operands, results) = (op.operand_values(), op.result_types());
    let small = |t: &Type<'c>| is_small(*t);
    if !operands.iter().any(|v| small(&v.r#type())) && !results.iter().any(small) {
        return None;
    }
    let f32_type = Type::float32(op.ctx());
    let wide: Vec<V> = operands
        .iter()
        .map(|v| match is_small(v.r#type()) {
            true => of_small(e, &[*v], f32_type, target_of(op))[0],
            false => *v,
        })
        .collect();
    let types: Vec<Type> = results.iter().map(|t| if small(t) { f32_type } else { *t }).collect();
    let attributes: Vec<(String, Attribute)> = op
        .attributes()
        .map(|(name, a)| (name.as_string_ref().as_str().unwrap_or("").to_owned(), a))
        .collect();
    let attributes: Vec<(&str, Attribute)> = attributes.iter().map(|(n, a)| (n.as_str(), *a)).collect();
    let how = How {
        rounding: Rounding::NearestEven,
        saturate: false,
        target: target_of(op),
    };
    let computed = e.op(op.full_name(), &wide, &types, &attributes).result_values();
    let back = computed.into_iter().zip(&results).map(|(v, t)| match small(t) {
        true => convert(e, &[v], *t, how)[0],
        false => v,
    });
    Some(back.collect())
}

/// A number, or the numbers of a vector.
fn lanes<'c>(e: &Emit<'c, '_>, v: V<'c>) -> Vec<V<'c>> {
    let t = v.r#type();
    let (Some(shape), Some(element)) = (t.shape(), t.element_type()) else {
        return vec![v];
    };
    let n = shape.iter().product::<i64>();
    (0..n)
        .map(|i| {
            let place = I64s::to_attribute(&vec![i], e.context());
            e.value("vector.extract", &[v], element, &[("static_position", place)])
        })
        .collect()
}

/// Numbers as what an op gives: the one, or a vector.
fn from_lanes<'c>(e: &Emit<'c, '_>, values: Vec<V<'c>>, result: Type<'c>) -> V<'c> {
    match result.shape() {
        Some(_) => e.value("vector.from_elements", &values, result, &[]),
        None => values[0],
    }
}
