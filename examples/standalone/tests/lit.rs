//! Runs `tests/lit` with LLVM's `lit`.
use std::{path::Path, process::Command};

#[test]
fn lit() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = Path::new(env!("CARGO_BIN_EXE_standalone-opt"))
        .parent()
        .expect("a program lies in a folder");
    let output = Command::new("lit-22")
        .arg("-v")
        .arg(format!("-Dbin_dir={}", programs.display()))
        .arg(format!("-Dscratch={}", env!("CARGO_TARGET_TMPDIR")))
        .arg(here.join("tests/lit"))
        .output()
        .expect("lit-22, of the package llvm-22-tools, starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("Passed: 2"), "two files are tests:\n{text}");
}
