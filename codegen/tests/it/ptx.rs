//! PTX text: what is written, what is refused, and that it is always the same.
use crate::support::{INCREMENT, context, first, hopper};
use girih_codegen::{CompileOptions, Error, OptLevel, PtxTarget, compile, ptx};
use girih_core::{
    manifest::Manifest,
    target::{PtxVersion, Target},
};
use melior::ir::Module;
use pretty_assertions::assert_eq;

#[test]
fn a_kernel_with_its_launch_bounds_and_typed_parameters() {
    let context = context();
    let module = Module::parse(&context, INCREMENT).unwrap();
    let compiled = compile(first(&module), None, &hopper()).unwrap();
    assert_eq!(compiled.kernels, ["increment"]);
    for part in [
        ".version 8.6",
        ".target sm_90a",
        ".visible .entry increment(",
        ".param .u64 .ptr .global .align 16 increment_param_0",
        ".reqntid 128, 1, 1",
        "add.rn.f32",
        "st.global.b32",
    ] {
        assert!(compiled.text.contains(part), "expected `{part}` in\n{}", compiled.text);
    }
    assert!(!compiled.text.contains(".loc"), "line information was not asked for");
}

#[test]
fn tensor_maps_are_grid_constants_and_shared_memory_is_dynamic() {
    let context = context();
    let module = Module::parse(
        &context,
        r#"
gpu.module @kernels {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @load(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32>, nvvm.minctasm = 1 : i32} {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %tile = llvm.getelementptr %shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %cluster = llvm.addrspacecast %tile : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %shared, box [%zero, %zero]
      : !llvm.ptr<7>, !llvm.ptr
    llvm.return
  }
}
"#,
    )
    .unwrap();
    let text = compile(first(&module), None, &hopper()).unwrap().text;
    for part in [
        ".extern .shared .align 1024 .b8 shared[];",
        ".param .align 64 .b8 load_param_0[128]",
        ".maxntid 32",
        ".minnctapersm 1",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
    ] {
        assert!(text.contains(part), "expected `{part}` in\n{text}");
    }
    assert!(
        !text.contains(".local"),
        "a grid constant must not be copied to local memory:\n{text}"
    );
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let text = |line_info| {
        let context = context();
        let module = Module::parse(&context, INCREMENT).unwrap();
        compile(first(&module), None, &CompileOptions { line_info, ..hopper() })
            .unwrap()
            .text
    };
    assert_eq!(text(false), text(false));
    assert_eq!(text(true), text(true));
}

#[test]
fn every_level_emits_the_kernel() {
    let context = context();
    let module = Module::parse(&context, INCREMENT).unwrap();
    for opt_level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
        let options = CompileOptions { opt_level, ..hopper() };
        let text = compile(first(&module), None, &options).unwrap().text;
        assert!(text.contains(".entry increment("), "{opt_level:?}\n{text}");
        assert!(text.contains("st.global.b32"), "{opt_level:?}\n{text}");
    }
}

#[test]
fn the_manifest_heads_the_file() {
    let context = context();
    let module = Module::parse(&context, INCREMENT).unwrap();
    let manifest = Manifest {
        schema: 1,
        girih: "0.1.0".into(),
        target: "sm_90a".into(),
        kernels: vec![],
    };
    let text = compile(first(&module), Some(&manifest), &hopper()).unwrap().text;
    assert_eq!(Manifest::from_ptx(&text).unwrap(), Some(manifest));
    assert!(text.contains(".entry increment("));
}

#[test]
fn the_ptx_version_is_the_callers() {
    let context = context();
    let module = Module::parse(&context, INCREMENT).unwrap();
    let options =
        CompileOptions::new(PtxTarget::new(Target::parse("sm_100a").unwrap(), Some(PtxVersion(9, 3))).unwrap());
    let text = compile(first(&module), None, &options).unwrap().text;
    assert!(text.contains(".version 9.3\n.target sm_100a"), "{text}");
}

#[test]
fn llvm_ir_is_what_instruction_selection_gets() {
    let context = context();
    let module = Module::parse(&context, INCREMENT).unwrap();
    let text = ptx::llvm_ir(first(&module), &hopper()).unwrap();
    assert!(text.contains("define ptx_kernel void @increment("), "{text}");
    assert!(text.contains("target triple = \"nvptx64-nvidia-cuda\""), "{text}");
}

#[test]
fn anything_but_a_gpu_module_is_refused() {
    let context = context();
    let module = Module::parse(&context, "func.func private @f()").unwrap();
    let error = compile(first(&module), None, &hopper()).unwrap_err();
    assert_eq!(error.to_string(), "expected a `gpu.module`, found `func.func`");
}

#[test]
fn an_operation_without_an_llvm_form_is_refused() {
    let context = context();
    let module = Module::parse(&context, "gpu.module @kernels { func.func @f() { return } }").unwrap();
    let error = compile(first(&module), None, &hopper()).unwrap_err();
    assert!(
        matches!(&error, Error::Translation { module } if module == "kernels"),
        "{error}"
    );
}

#[test]
fn errors_of_llvm_are_data_and_name_the_source() {
    let context = context();
    let module = Module::parse(
        &context,
        r#"
gpu.module @kernels {
  llvm.func @wrong(%a: i32) attributes {nvvm.kernel} {
    %r = llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=r,{no_such_register}" %a : (i32) -> i32
           loc("dir/wrong.mlir":7:9)
    llvm.return
  } loc("dir/wrong.mlir":3:3)
} loc("dir/wrong.mlir":1:1)
"#,
    )
    .unwrap();
    let error = compile(first(&module), None, &hopper()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error: dir/wrong.mlir:7:9: couldn't allocate input reg for constraint '{no_such_register}'"
    );
}
