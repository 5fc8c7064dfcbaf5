//! Fatal errors of LLVM end the process, so the failing compilation runs in a child: this same binary, asked for one
//! ignored test.
use crate::support::{context, first, hopper};
use girih_codegen::{CompileOptions, compile};
use melior::ir::Module;
use std::process::Command;

/// What sm_90a has no instruction for.
const GATHER4: &str = r#"
gpu.module @kernels {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @gather(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant})
      attributes {nvvm.kernel} {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %cluster = llvm.addrspacecast %shared : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %shared, box [%zero, %zero, %zero, %zero, %zero]
      {mode = #nvvm.tma_load_mode<tile_gather4>} : !llvm.ptr<7>, !llvm.ptr
    llvm.return
  }
}
"#;

const FOLDER: &str = "GIRIH_TEST_REPRODUCERS";

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let context = context();
    let module = Module::parse(&context, GATHER4).unwrap();
    let _ = compile(
        first(&module),
        None,
        &CompileOptions {
            reproducer_dir: folder.into(),
            ..hopper()
        },
    );
    unreachable!("LLVM compiled what Hopper has no instruction for");
}

#[test]
fn cannot_select_names_the_kernel_and_leaves_a_reproducer() {
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "fatal::child", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(
        said.contains("error: LLVM cannot compile kernel `gather` for sm_90a at PTX 8.6: Cannot select"),
        "{said}"
    );
    let files: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let [file] = files.as_slice() else {
        panic!("expected one reproducer, found {files:?}")
    };
    assert!(said.contains(&format!("was written to {}", file.display())), "{said}");
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.starts_with("; llc -mcpu=sm_90a -mattr=+ptx86 "), "{text}");
    assert!(text.contains("define ptx_kernel void @gather("), "{text}");
}
