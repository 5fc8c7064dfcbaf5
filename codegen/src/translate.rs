//! `gpu.module` in the llvm and nvvm dialects -> LLVM module, in this process and with one copy of LLVM.
use crate::{
    diagnostics::CollectingContext,
    error::{Error, Result},
};
use inkwell::{
    attributes::{Attribute, AttributeLoc},
    module::Module,
    values::CallSiteValue,
};
use melior::{
    ir::{BlockLike, Module as MlirModule, Operation, OperationRef, operation::OperationLike},
    pass::PassManager,
    utility::parse_pass_pipeline,
};
use std::sync::Once;

/// Translates `gpu_module` into `llvm`; the translations of its dialects must be registered with its context. With
/// `line_info`, every instruction carries the source position of the operation it came from, with the file named as MLIR's
/// location names it.
pub(crate) fn to_llvm<'l>(
    gpu_module: OperationRef<'_, '_>,
    line_info: bool,
    llvm: &'l CollectingContext,
) -> Result<Module<'l>> {
    let name = gpu_module.name();
    let name = name.as_string_ref();
    if name.as_str() != Ok("gpu.module") {
        let found = name
            .as_str()
            .unwrap_or("an operation whose name is not UTF-8")
            .to_owned();
        return Err(Error::WrongOperation {
            expected: "a `gpu.module`",
            found,
        });
    }
    if line_info {
        let annotated = with_line_info(gpu_module)?;
        let annotated = annotated.body().first_operation().ok_or_else(|| lost(gpu_module))?;
        translate(annotated, llvm)
    } else {
        translate(gpu_module, llvm)
    }
}

fn translate<'l>(gpu_module: OperationRef<'_, '_>, llvm: &'l CollectingContext) -> Result<Module<'l>> {
    // SAFETY: both contexts are alive. mlir-sys and inkwell name the same C type of the one LLVM in this process.
    let module = unsafe { mlir_sys::mlirTranslateModuleToLLVMIR(gpu_module.to_raw(), llvm.llvm().raw().cast()) };
    if module.is_null() {
        return Err(Error::Translation {
            module: symbol(gpu_module),
        });
    }
    // SAFETY: a module just made, in `llvm`, and ours to free.
    let module = unsafe { Module::new(module.cast()) };
    keep_warps_together(&module, llvm);
    Ok(module)
}

/// Marks inline assembly `convergent`, which MLIR's op cannot say: it holds instructions that whole warps must run
/// together (`wgmma`, waits), and LLVM may otherwise copy it into both arms of a branch.
fn keep_warps_together(module: &Module<'_>, llvm: &CollectingContext) {
    let kind = Attribute::get_named_enum_kind_id("convergent");
    let convergent = llvm.llvm().create_enum_attribute(kind, 0);
    let blocks = module
        .get_functions()
        .flat_map(|function| function.get_basic_block_iter());
    for call in blocks.flat_map(|block| block.get_instructions()) {
        let Ok(call) = CallSiteValue::try_from(call) else {
            continue;
        };
        // Inline assembly and calls through pointers name no function.
        if call.get_called_fn_value().is_none() {
            call.add_attribute(AttributeLoc::Function, convergent);
        }
    }
}

/// A module that holds a copy of `gpu_module` whose functions carry debug scopes. Only `.file` and `.loc` come of them,
/// no DWARF sections: those would multiply the size of the PTX.
fn with_line_info<'c>(gpu_module: OperationRef<'c, '_>) -> Result<MlirModule<'c>> {
    static REGISTER: Once = Once::new();
    // SAFETY: adds to MLIR's pass registry, once.
    REGISTER.call_once(|| unsafe { mlir_sys::mlirRegisterLLVMDIScopeForLLVMFuncOpPass() });
    let stage = || Error::Pipeline {
        stage: "attaching line information".to_owned(),
    };
    let mut module = MlirModule::new(gpu_module.location());
    // SAFETY: the clone is owned by no block yet.
    module
        .body()
        .append_operation(unsafe { Operation::from_raw(mlir_sys::mlirOperationClone(gpu_module.to_raw())) });
    let manager = PassManager::new(girih_ir::context(gpu_module.context()));
    parse_pass_pipeline(
        manager.as_operation_pass_manager(),
        "builtin.module(ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly})",
    )
    .map_err(|_| stage())?;
    manager.run(&mut module).map_err(|_| stage())?;
    Ok(module)
}

/// The name that a symbol operation defines, for messages.
pub(crate) fn symbol(operation: OperationRef<'_, '_>) -> String {
    operation.attribute("sym_name").map_or_else(
        |_| "an unnamed module".to_owned(),
        |name| name.to_string().trim_matches('"').to_owned(),
    )
}

fn lost(gpu_module: OperationRef<'_, '_>) -> Error {
    Error::Pipeline {
        stage: format!("attaching line information to `{}`", symbol(gpu_module)),
    }
}
