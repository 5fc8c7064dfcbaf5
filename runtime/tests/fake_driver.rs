//! Every call into the CUDA driver, made against a driver that this test compiles and that has one kernel. What a real
//! GPU does is tested in `gpu.rs`.
#![cfg(target_os = "linux")]
use girih_core::{
    dtype::DType,
    manifest::{Arg, BinaryOp, Expr, Kernel, Manifest, Param, SCHEMA, TensorMapTemplate},
    tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle},
};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

fn compile(arguments: &[&str], source: &str, output: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join("tests").join(source))
        .args(arguments)
        .arg("-o")
        .arg(output)
        .status()
        .expect("a C compiler");
    assert!(status.success(), "{source} does not compile");
}

/// `scale(x, y, factor)`, with a tensor map of x.
fn ptx(body: &str) -> String {
    let memref = |name: &str| Arg::Memref {
        name: name.into(),
        dtype: DType::F32,
        shape: vec![None],
        strides: vec![Some(1)],
        align: 4,
    };
    let size = Expr::Size { arg: 0, dim: 0 };
    let blocks = Expr::Binary(BinaryOp::CeilDivS, Box::new(size.clone()), Box::new(Expr::Const(256)));
    let map = TensorMapTemplate {
        arg: 0,
        offset: Expr::Const(0),
        format: Format::F32,
        dims: vec![size],
        strides: vec![],
        mode: Mode::Tiled { box_dims: vec![32] },
        element_strides: vec![1],
        interleave: Interleave::None,
        swizzle: Swizzle::B128,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::B128,
        exact_rows: false,
        optional: false,
    };
    let scalar = Arg::Scalar {
        name: "factor".into(),
        dtype: DType::F32,
    };
    let manifest = Manifest {
        schema: SCHEMA,
        girih: "0.1.0".into(),
        target: "sm_90a".into(),
        kernels: vec![Kernel {
            name: "scale".into(),
            args: vec![memref("x"), memref("y"), scalar],
            params: vec![
                Param::Pointer { arg: 0 },
                Param::Pointer { arg: 1 },
                Param::Size { arg: 0, dim: 0 },
                Param::Scalar { arg: 2 },
                Param::TensorMap { map: 0 },
            ],
            tensor_maps: vec![map],
            grid: [
                Expr::Binary(BinaryOp::Mul, Box::new(blocks), Box::new(Expr::Const(2))),
                Expr::Const(1),
                Expr::Const(1),
            ],
            block: [128, 1, 1],
            cluster: [2, 1, 1],
            dynamic_shared_bytes: 100_000,
            facts: vec![],
        }],
    };
    manifest.to_ptx_comment()
        + &format!(
            ".version 8.0\n.target sm_90a\n.visible .entry scale(.param .u64 x, .param .u64 y, .param .u64 n, .param .f32 factor, \
         .param .align 64 .b8 map[128]) {{ {body} }}\n"
        )
}

struct Machine {
    directory: tempfile::TempDir,
    libraries: String,
}

impl Machine {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        compile(
            &["-shared", "-fPIC"],
            "fake_driver.c",
            &directory.path().join("libcuda.so"),
        );
        std::fs::write(directory.path().join("scale.ptx"), ptx("ret;")).expect("it is writable");
        std::fs::write(directory.path().join("broken.ptx"), ptx("not ptx")).expect("it is writable");
        let libraries = directory.path().display().to_string();
        Machine { directory, libraries }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Exit code, standard output and standard error of `girih-launch` with arguments in place of `x`, `y`, `factor`.
    fn launch(&self, program: &str, [x, y, factor]: [&str; 3], more: &[&str]) -> (Option<i32>, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_girih-launch"))
            .arg(self.path(program))
            .args([
                "--arg",
                &format!("x={x}"),
                "--arg",
                &format!("y={y}"),
                "--arg",
                &format!("factor={factor}"),
            ])
            .args(more)
            .current_dir(self.directory.path())
            .env("LD_LIBRARY_PATH", &self.libraries)
            .output()
            .expect("the binary is built");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}

#[test]
fn a_run_computes_checks_writes_and_times() {
    let machine = Machine::new();
    let more = [
        "--check",
        "y=iota(step=3):f32[1000],rtol=0",
        "--out",
        "y=y.npy",
        "--time",
        "4",
    ];
    let (code, out, err) = machine.launch("scale.ptx", ["iota:f32[1000]", "poison:f32[1000]", "f32:3"], &more);
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (
            Some(0),
            "scale: ran on Fake GPU (CUDA device 0), grid 8x1x1\n\
             right: y: all 1000 elements are exact\n\
             time: 4 launches, median 250.00 us, least 250.00, most 250.00\n",
            ""
        )
    );
    let again = ["--check", "y=y.npy,rtol=0", "--json", "--warm", "--time", "1"];
    let (code, out, _) = machine.launch(
        "scale.ptx",
        ["iota:f32[1000;offset=64]", "poison:f32[1000]", "f32:3"],
        &again,
    );
    assert!(
        code == Some(0) && out.contains("\"right\":true") && out.contains("\"seconds\":[0.00025]"),
        "{out}"
    );
}

#[test]
fn wrong_results_and_failures_are_told_apart() {
    let machine = Machine::new();
    let arrays = |factor| ["iota:f32[1000]", "poison:f32[1000]", factor];
    let check = ["--check", "y=iota:f32[1000]"];
    let (code, out, _) = machine.launch("scale.ptx", arrays("f32:2"), &check);
    assert!(
        code == Some(1) && out.contains("WRONG: y: 999 of 1000 elements are wrong"),
        "{out}"
    );
    let (code, _, err) = machine.launch("scale.ptx", arrays("f32:-1"), &check);
    assert_eq!(
        (code, err.as_str()),
        (
            Some(1),
            "error: the kernel failed: unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)\n"
        )
    );
    let (code, _, err) = machine.launch("broken.ptx", arrays("f32:2"), &check);
    assert!(
        code == Some(1) && err.contains("cannot compile the PTX") && err.contains("line 7; fatal"),
        "{err}"
    );
    let (code, _, err) = machine.launch("scale.ptx", arrays("f32:2"), &["--device", "cuda:1"]);
    assert!(
        code == Some(1) && err.contains("there is no CUDA device 1; the driver sees 1"),
        "{err}"
    );
    let (code, _, err) = machine.launch("scale.ptx", ["iota:f32[8;offset=4]", "poison:f32[8]", "f32:2"], &check);
    assert!(
        code == Some(2) && err.contains("argument x: its tensor map has address"),
        "{err}"
    );
}

#[test]
fn an_old_driver_is_refused_with_both_versions() {
    let machine = Machine::new();
    let output = Command::new(env!("CARGO_BIN_EXE_girih-launch"))
        .arg(machine.path("scale.ptx"))
        .env("LD_LIBRARY_PATH", &machine.libraries)
        .env("FAKE_DRIVER_VERSION", "12040")
        .output()
        .expect("the binary is built");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("the CUDA driver is for CUDA 12.4, but 12.8 or later is needed"),
        "{text}"
    );
}

#[test]
fn the_c_library_launches_in_the_callers_context() {
    let machine = Machine::new();
    let test = std::env::current_exe().expect("this test is a file");
    let libraries = test.parent().expect("a target directory").display().to_string();
    let binary = machine.path("c_launch");
    let fake = machine.libraries.clone();
    compile(
        &["-L", &libraries, "-L", &fake, "-lgirih_runtime", "-lcuda"],
        "c_launch.c",
        &binary,
    );
    let output = Command::new(&binary)
        .arg(machine.path("scale.ptx"))
        .env("LD_LIBRARY_PATH", format!("{fake}:{libraries}"))
        .output()
        .expect("the binary is built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
