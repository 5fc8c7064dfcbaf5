//! Pipelines from upstream's dialects down to the llvm dialect.
use super::{formats, integers, loops};
use crate::error::{Error, Result};
use girih_dialects::nvvm::switches;
use girih_ir::ext::OpExt;
use melior::{
    ir::{
        Attribute, Module,
        operation::{OperationLike, WalkOrder, WalkResult},
    },
    pass::PassManager,
    utility::parse_pass_pipeline,
};

/// Tensors become buffers. A tensor parameter may come with any strides.
const BUFFERIZE: &str = "one-shot-bufferize{bufferize-function-boundaries=true}";

/// Every buffer is freed when its last owner goes; results belong to the caller. Does not go together with buffers that
/// the program frees itself.
const DEALLOCATE: &str = "expand-realloc,canonicalize,ownership-based-buffer-deallocation,canonicalize,\
     buffer-deallocation-simplification,bufferization-lower-deallocations";

/// Loops over scalars, with no arithmetic on formats that the CPU has not: functions such as `math.expm1` would be made of
/// several operations of the narrow format otherwise, each of which rounds.
const LOOPS: &str = "func.func(convert-linalg-to-loops,scf-forall-to-for),lower-affine,\
     func.func(math-extend-to-supported-types),\
     arith-emulate-unsupported-floats{source-types=f16,bf16,f8E4M3FN,f8E5M2,f6E3M2FN,f6E2M3FN,f4E2M1FN target-type=f32}";

/// After [`rounds_each`].
const CLEAN: &str = "canonicalize,cse";

/// The rest of the way. The C library's functions go first: LLVM's would make `expm1` of `exp` and a difference.
const LLVM: &str = "convert-vector-to-scf,convert-scf-to-cf,memref-expand,expand-strided-metadata,lower-affine,\
     arith-expand{include-bf16=true},convert-math-to-libm,convert-math-to-llvm,convert-vector-to-llvm,\
     convert-index-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,\
     reconcile-unrealized-casts";

/// Lowers a module of functions in place. Gives whether results are allocations that the caller owns.
pub(super) fn to_llvm_dialect(module: &mut Module<'_>, name: &str) -> Result<bool> {
    let manual = frees_buffers_itself(module);
    let buffers = if manual {
        BUFFERIZE.to_owned()
    } else {
        format!("{BUFFERIZE},{DEALLOCATE}")
    };
    run(
        module,
        name,
        &format!("{buffers},convert-bufferization-to-memref,func.func(linalg-generalize-named-ops)"),
    )?;
    loops::order(module)?;
    run(module, name, LOOPS)?;
    rounds_each(module);
    run(module, name, CLEAN)?;
    formats::expand(module)?;
    integers::expand(module)?;
    switches::narrow(module.as_operation());
    run(module, name, LLVM)?;
    Ok(!manual)
}

/// Every result of a narrow format is rounded, as the program says: emulation lets conversions back and forth be left out, and
/// to nearest even is what LLVM does where no mode is named.
fn rounds_each(module: &Module<'_>) {
    let Some(exact) = Attribute::parse(girih_ir::context(module.context()), "#arith.fastmath<none>") else {
        return;
    };
    module.as_operation().walk(WalkOrder::PreOrder, |operation| {
        if operation.name().as_string_ref().as_str() == Ok("arith.truncf") {
            operation.set_attr("fastmath", exact);
            if formats::rounding(operation) == 0 {
                operation.remove_attr("roundingmode");
            }
        }
        WalkResult::Advance
    });
}

fn run(module: &mut Module<'_>, name: &str, passes: &str) -> Result<()> {
    let failed = || Error::Pipeline {
        stage: format!("lowering the reference `@{name}` for the CPU"),
    };
    let manager = PassManager::new(girih_ir::context(module.context()));
    parse_pass_pipeline(
        manager.as_operation_pass_manager(),
        &format!("builtin.module({passes})"),
    )
    .map_err(|error| {
        Error::Reference(format!(
            "the passes that lower a reference are not all registered: {error}"
        ))
    })?;
    manager.run(module).map_err(|_| failed())
}

fn frees_buffers_itself(module: &Module<'_>) -> bool {
    let mut found = false;
    module.as_operation().walk(WalkOrder::PreOrder, |operation| {
        if operation.name().as_string_ref().as_str() == Ok("memref.dealloc") {
            found = true;
            return WalkResult::Interrupt;
        }
        WalkResult::Advance
    });
    found
}
