//! `math.absi`, `ctlz`, `cttz` and `ctpop`, which the C library has not: the pass that calls it refuses what it has no function
//! for.
//!
//! ```mlir
//! %n = math.ctlz %x : i32                                            // before
//!
//! %n = llvm.call_intrinsic "llvm.ctlz.i32"(%x, %false)               // after: defined for 0, too
//! ```
use super::build::Builder;
use crate::error::{Error, Result};
use melior::ir::{
    Module, OperationRef, ValueLike,
    operation::{OperationLike, WalkOrder, WalkResult},
};
use mlir_sys::{mlirOperationDestroy, mlirValueReplaceAllUsesOfWith};

/// LLVM's intrinsic, and whether it asks if some operand is undefined.
fn intrinsic(name: &str) -> Option<(&'static str, bool)> {
    Some(match name {
        "math.absi" => ("llvm.abs", true),
        "math.ctlz" => ("llvm.ctlz", true),
        "math.cttz" => ("llvm.cttz", true),
        "math.ctpop" => ("llvm.ctpop", false),
        _ => return None,
    })
}

/// Rewrites every such operation on single integers in the module; the llvm dialect is loaded.
pub(super) fn expand(module: &Module<'_>) -> Result<()> {
    let mut found = Vec::new();
    module.as_operation().walk(WalkOrder::PreOrder, |operation| {
        let name = operation.name();
        if let Some(known) = name.as_string_ref().as_str().ok().and_then(intrinsic) {
            found.push((operation.to_raw(), known));
        }
        WalkResult::Advance
    });
    for (operation, (name, asks)) in found {
        // SAFETY: each operation is alive until its own turn; `module` holds them all.
        let operation = unsafe { OperationRef::from_raw(operation) };
        let lost = |_| Error::Reference(format!("`{name}` could not be built while the reference was lowered"));
        let (source, result) = (operation.operand(0).map_err(lost)?, operation.result(0).map_err(lost)?);
        let ty = result.r#type().to_string();
        let is_index = ty == "index";
        // Vectors are left to what comes after.
        if !is_index && ty.strip_prefix('i').is_none_or(|bits| bits.parse::<u32>().is_err()) {
            continue;
        }
        let build = Builder { operation };
        let word = if is_index { "i64" } else { &*ty };
        let mut operands = vec![match is_index {
            true => build.value("arith.index_cast", &[source], word, &[])?,
            false => source,
        }];
        if asks {
            operands.push(build.value("arith.constant", &[], "i1", &[("value", "false")])?);
        }
        let attributes = [
            ("intrin", &*format!("\"{name}.{word}\"")),
            ("operandSegmentSizes", &*format!("array<i32: {}, 0>", operands.len())),
            ("op_bundle_sizes", "array<i32>"),
        ];
        let mut value = build.value("llvm.call_intrinsic", &operands, word, &attributes)?;
        if is_index {
            value = build.value("arith.index_cast", &[value], &ty, &[])?;
        }
        // SAFETY: both values are alive and of one type; the operation has no uses left when it is destroyed.
        unsafe {
            mlirValueReplaceAllUsesOfWith(result.to_raw(), value.to_raw());
            mlirOperationDestroy(operation.to_raw());
        }
    }
    Ok(())
}
