//! `girih-launch` as a user meets it: messages and exit codes.
use girih_core::{
    dtype::DType,
    manifest::{Arg, Expr, Kernel, Manifest, SCHEMA},
};
use std::process::{Command, Output};

fn launch(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = Command::new(env!("CARGO_BIN_EXE_girih-launch"))
        .args(arguments)
        .env("CUDA_VISIBLE_DEVICES", "")
        .output()
        .expect("the binary is built");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

fn expect(arguments: &[&str], code: i32, text: &str) {
    let (found, message) = launch(arguments);
    assert!(
        found == Some(code) && message.contains(text),
        "{arguments:?}: {found:?}: {message}"
    );
}

#[test]
fn every_mistake_has_its_message_and_exit_code() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let manifest = Manifest {
        schema: SCHEMA,
        girih: "0.1.0".into(),
        target: "sm_90a".into(),
        kernels: vec![Kernel {
            name: "k".into(),
            args: vec![Arg::Scalar {
                name: "n".into(),
                dtype: DType::I32,
            }],
            params: vec![],
            tensor_maps: vec![],
            grid: [Expr::Const(1), Expr::Const(1), Expr::Const(1)],
            block: [32, 1, 1],
            cluster: [1; 3],
            dynamic_shared_bytes: 0,
            facts: vec![],
        }],
    };
    let good = manifest.to_ptx_comment() + ".visible .entry k() { ret; }\n";
    for (name, text) in [
        ("good.ptx", good.as_str()),
        ("cut.ptx", &good[..good.len() / 2]),
        ("body.ptx", &good[..good.len() - 20]),
        ("plain.ptx", ".version 8.0\n"),
    ] {
        std::fs::write(path(name), text).expect("it is writable");
    }
    std::fs::write(path("binary.ptx"), [0xff, 0xfe]).expect("it is writable");

    expect(&["/nonexistent.ptx"], 1, "/nonexistent.ptx: cannot be read");
    expect(&[&path("cut.ptx")], 1, "the file is truncated");
    expect(&[&path("body.ptx")], 1, "the PTX has no such .entry");
    expect(&[&path("plain.ptx")], 1, "has no launch manifest");
    expect(&[&path("binary.ptx")], 1, "it is not UTF-8");
    expect(&[], 2, "required arguments were not provided");
    expect(
        &[&path("good.ptx"), "--arg", "n=i32:x"],
        2,
        "SPEC `i32:x`, column 5: expected a number of type i32",
    );
    expect(&[&path("good.ptx"), "--arg", "n"], 2, "expected NAME=VALUE, found `n`");
    expect(&[&path("good.ptx"), "--device", "tpu"], 2, "unknown device `tpu`");
    expect(
        &[&path("good.ptx"), "--device", "sim"],
        2,
        "girih-launch has no simulator",
    );
    // No device is visible, whether there is a driver or not.
    let (code, message) = launch(&[&path("good.ptx"), "--arg", "n=i32:1"]);
    let known = [
        "no CUDA driver (libcuda.so.1)",
        "finds no usable GPU",
        "there is no CUDA device 0",
    ];
    assert!(
        code == Some(1) && known.iter().any(|text| message.contains(text)),
        "{code:?}: {message}"
    );
}
