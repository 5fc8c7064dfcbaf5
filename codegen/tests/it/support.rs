//! Contexts, modules and kernels that the tests share.
use girih_codegen::{CompileOptions, PtxTarget};
use girih_core::target::Target;
use melior::{
    Context,
    dialect::DialectRegistry,
    ir::{BlockLike, Module, OperationRef},
    pass::PassManager,
    utility::{parse_pass_pipeline, register_all_dialects, register_all_llvm_translations, register_all_passes},
};

/// A context with every upstream dialect; every pass is registered too.
pub fn context() -> Context {
    let context = Context::new();
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    register_all_llvm_translations(&context);
    register_all_passes();
    context
}

/// The first operation of a module.
pub fn first<'c, 'a>(module: &'a Module<'c>) -> OperationRef<'c, 'a> {
    module.body().first_operation().expect("the module has an operation")
}

/// Options for Hopper.
pub fn hopper() -> CompileOptions {
    CompileOptions::new(PtxTarget::new(Target::SM_90A, None).expect("Hopper is known"))
}

/// Adds one to every element of an array, one thread each.
pub const INCREMENT: &str = r#"
gpu.module @kernels {
  llvm.func @increment(%data: !llvm.ptr<1> {llvm.align = 16 : i64}, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %width = nvvm.read.ptx.sreg.ntid.x : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %base = llvm.mul %block, %width : i32
    %i = llvm.add %base, %thread : i32
    %inside = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %inside, ^update, ^end
  ^update:
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %at = llvm.getelementptr %data[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %old = llvm.load %at : !llvm.ptr<1> -> f32
    %new = llvm.fadd %old, %one : f32
    llvm.store %new, %at : f32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
"#;

/// Parses the GEMM of [`crate::gemm`] and expands the nvvm operations that are inline PTX.
pub fn gemm(context: &Context) -> Module<'_> {
    let mut module = Module::parse(context, &crate::gemm::gemm()).expect("the kernel parses");
    register_all_passes();
    let manager = PassManager::new(context);
    let passes = "builtin.module(gpu.module(convert-nvvm-to-llvm,reconcile-unrealized-casts))";
    parse_pass_pipeline(manager.as_operation_pass_manager(), passes).expect("the pipeline parses");
    manager.run(&mut module).expect("the kernel lowers");
    module
}
