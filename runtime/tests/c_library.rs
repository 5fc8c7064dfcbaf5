//! The header compiles as C and as C++, and a C program links with the shared library and uses it.
use girih_core::{
    dtype::DType,
    manifest::{Arg, Expr, Kernel, Manifest, Param, SCHEMA},
};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The C compiler that also links Rust.
fn cc() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
}

fn ptx() -> String {
    let manifest = Manifest {
        schema: SCHEMA,
        girih: "0.1.0".into(),
        target: "sm_90a".into(),
        kernels: vec![Kernel {
            name: "scale".into(),
            args: vec![
                Arg::Memref {
                    name: "x".into(),
                    dtype: DType::F32,
                    shape: vec![None],
                    strides: vec![Some(1)],
                    align: 4,
                },
                Arg::Scalar {
                    name: "n".into(),
                    dtype: DType::I64,
                },
            ],
            params: vec![Param::Pointer { arg: 0 }, Param::Scalar { arg: 1 }],
            tensor_maps: vec![],
            grid: [Expr::Const(1), Expr::Const(1), Expr::Const(1)],
            block: [32, 1, 1],
            cluster: [1, 1, 1],
            dynamic_shared_bytes: 0,
            facts: vec![],
        }],
    };
    manifest.to_ptx_comment()
        + ".version 8.0\n.target sm_90a\n.visible .entry scale(.param .u64 x, .param .u64 n) { ret; }\n"
}

#[test]
fn a_c_program_uses_the_library() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let program = directory.path().join("scale.ptx");
    std::fs::write(&program, ptx()).expect("it is writable");
    // Both stand in target/<profile>/deps; the copy in target/<profile> is made by `cargo build` alone.
    let test = std::env::current_exe().expect("this test is a file");
    let libraries = test.parent().expect("a target directory");
    let binary = directory.path().join("c_library");
    succeed(
        cc().args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
            .arg(here("include"))
            .arg(here("tests/c_library.c"))
            .arg("-L")
            .arg(libraries)
            .arg("-lgirih_runtime")
            .arg("-o")
            .arg(&binary),
    );
    succeed(Command::new(&binary).arg(&program).env("LD_LIBRARY_PATH", libraries));
}

#[test]
fn the_header_is_cpp_too() {
    let header = here("include/girih_runtime.h");
    succeed(
        cc().args([
            "-x",
            "c++",
            "-std=c++11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
        ])
        .arg(header),
    );
}
