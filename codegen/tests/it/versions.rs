//! The PTX version that a module is said to need is the one that its PTX needs.
use crate::manifest::context;
use girih_codegen::{CompileOptions, PtxTarget, compile, ptxas::Ptxas};
use girih_core::target::{PtxVersion, Target};
use girih_ir::{module, pass, prelude::*};
use girih_passes::{pipeline, verify_target::required_ptx};
use pretty_assertions::assert_eq;

/// Lowers a module, emits it at exactly the version that it needs, and assembles it.
fn assembles(source: &str, target: Target) -> Option<PtxVersion> {
    let c = context();
    girih_ir::upstream::register_minimal_passes();
    girih_passes::register();
    let (lowered, said) = module::collect_diagnostics(&c, || {
        let module = module::parse(&c, source.as_bytes(), "t.mlir")?;
        pass::run_pipeline(
            module.as_operation(),
            &format!("tile-set-target{{target={target}}}"),
            Default::default(),
        )?;
        let version = required_ptx(module.as_operation());
        pass::run_pipeline(module.as_operation(), &pipeline::full(), Default::default())?;
        Ok::<_, Reported>((module, version))
    });
    let (module, version) = lowered.unwrap_or_else(|Reported| panic!("{said:#?}"));
    let gpu_module = module.as_operation().nested_ops();
    let gpu_module = gpu_module
        .iter()
        .find(|op| op.full_name() == "gpu.module")
        .expect("a gpu.module");
    let ptx_target = PtxTarget::new(target, version).expect("a version of the target");
    let text = compile(*gpu_module, None, &CompileOptions::new(ptx_target))
        .expect("PTX")
        .text;
    let ptxas = Ptxas::find(None).expect("`cargo xtask setup` fetches ptxas");
    if let Err(e) = ptxas.assemble(&text, &target.to_string()) {
        panic!("{e}\n{text}");
    }
    version
}

fn example(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn the_examples_are_as_old_as_their_target() {
    for name in ["gemm_explicit.mlir", "tma_copy.mlir", "vector_add.mlir"] {
        assert_eq!(
            assembles(&example(name), Target::SM_90A),
            Some(PtxVersion(8, 0)),
            "{name}"
        );
    }
}

#[test]
fn products_of_mixed_sign_are_newer_than_others() {
    let product = |attributes: &str| {
        format!(
            r#"
tile.kernel @products(%C: memref<64x8xi32, #tile.global>) threads(128) launch {{
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}} body {{
  %c0 = arith.constant 0 : index
  %a = tile.alloc : memref<64x32xi8, #tile.shared<swizzle = 32>>
  %b = tile.alloc : memref<8x32xi8, #tile.shared<swizzle = 32>>
  %zero = arith.constant dense<0> : tensor<64x8xi32, #tile.layout<wgmma_d>>
  tile.wgmma.fence
  %f = tile.wgmma %a, %b, %zero {attributes} : memref<64x32xi8, #tile.shared<swizzle = 32>>, memref<8x32xi8, #tile.shared<swizzle = 32>>, tensor<64x8xi32, #tile.layout<wgmma_d>>
  tile.wgmma.commit
  %acc = tile.wgmma.wait 0 %f : !tile.in_flight<tensor<64x8xi32, #tile.layout<wgmma_d>>> -> tensor<64x8xi32, #tile.layout<wgmma_d>>
  tile.store %acc, %C[%c0, %c0] : tensor<64x8xi32, #tile.layout<wgmma_d>>, memref<64x8xi32, #tile.global>
}}
"#
        )
    };
    assert_eq!(assembles(&product(""), Target::SM_90A), Some(PtxVersion(8, 0)));
    assert_eq!(
        assembles(&product("{unsigned_b}"), Target::SM_90A),
        Some(PtxVersion(8, 4))
    );
}

#[test]
fn mbarriers_without_copies_run_on_ampere() {
    let source = r#"
tile.kernel @barriers(%C: memref<32xi32, #tile.global>) threads(32) launch {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
} body {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %parity = arith.constant false
  %c0 = arith.constant 0 : index
  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
  }
  tile.barrier
  scf.if %first {
    tile.mbarrier.arrive %bar[] : memref<!tile.mbarrier, #tile.shared>
  }
  tile.fence block
  tile.fence gpu
  tile.fence system
  %done = tile.mbarrier.test_wait %bar[], %parity : memref<!tile.mbarrier, #tile.shared>
  %value = arith.select %done, %one, %zero : i32
  memref.store %value, %C[%thread] : memref<32xi32, #tile.global>
  tile.barrier
  scf.if %first {
    tile.mbarrier.inval %bar[] : memref<!tile.mbarrier, #tile.shared>
  }
}
"#;
    let target = Target::parse("sm_80").expect("a target");
    assert_eq!(assembles(source, target), Some(PtxVersion(7, 1)));
}

#[test]
fn hoppers_waits_fences_and_clusters_need_no_newer_version_than_said() {
    let source = r#"
tile.kernel @waits(%C: memref<32xi32, #tile.global>) threads(32) cluster(2, 1, 1) launch {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.grid %c2, %c1, %c1
} body {
  %one = arith.constant 1 : i32
  %bytes = arith.constant 0 : i32
  %parity = arith.constant false
  %bar = tile.alloc : memref<2x!tile.mbarrier, #tile.shared>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %elected = tile.elect
  scf.if %elected {
    tile.mbarrier.init %bar[%c0], %one : memref<2x!tile.mbarrier, #tile.shared>
    tile.mbarrier.init %bar[%c1], %one : memref<2x!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.expect_tx %bar[%c0], %bytes : memref<2x!tile.mbarrier, #tile.shared>
    tile.mbarrier.arrive_expect_tx %bar[%c0], %bytes : memref<2x!tile.mbarrier, #tile.shared>
  }
  tile.barrier id 1 threads 32
  tile.mbarrier.wait %bar[%c0], %parity : memref<2x!tile.mbarrier, #tile.shared>
  tile.fence proxy_async
  tile.fence proxy_async_shared
  tile.fence proxy_async_global
  tile.fence cluster
  tile.bulk.commit
  tile.bulk.wait 0 read
  %thread = tile.thread_id
  memref.store %one, %C[%thread] : memref<32xi32, #tile.global>
}
"#;
    let target = Target::parse("sm_90").expect("a target");
    assert_eq!(assembles(source, target), Some(PtxVersion(8, 0)));
}
