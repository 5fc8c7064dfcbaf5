//! Arguments and functions that are refused, and assertions that fail.
use super::{compile, scalar};
use girih_codegen::jit::{Arg, Array};
use girih_core::dtype::DType;
use pretty_assertions::assert_eq;

#[test]
fn arguments_that_do_not_fit_are_all_named() {
    let source = "func.func @f(%x: memref<?x8xbf16>, %y: memref<4xf32>, %z: i32) { return }";
    let function = compile(source, "f").unwrap();
    let mut memory = vec![0u8; 4096];
    let (left, right) = memory.split_at_mut(2048);
    let mut args = [
        Arg::Array(Array::row_major(left, DType::Bf16, &[2, 7]).unwrap()),
        Arg::Array(Array::row_major(right, DType::F64, &[4]).unwrap()),
        scalar(DType::F32, 1.0),
    ];
    assert_eq!(
        function.call(&mut args).unwrap_err().to_string(),
        "argument 0 of `@f`: expected size 8 in dimension 1, found 7\n\
         argument 1 of `@f`: expected element type f32, found f64\n\
         argument 2 of `@f`: expected element type i32, found f32"
    );
    assert_eq!(
        function.call(&mut args[..2]).unwrap_err().to_string(),
        "`@f` takes 3 arguments, found 2"
    );
}

#[test]
fn arrays_that_leave_their_memory_are_refused() {
    let mut memory = vec![0u8; 64];
    let error = Array::new(&mut memory, DType::F32, 1, &[4, 4], &[4, 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an array of shape [4, 4], strides [4, 1] and offset 1 does not lie within 16 elements"
    );
}

#[test]
fn functions_that_cannot_serve_are_refused_by_name() {
    let words = |source: &str, name: &str| compile(source, name).unwrap_err().to_string();
    let file = "gpu.module @g {}  func.func @f() { return }  func.func private @h()
                func.func @calls() { call @h() : () -> () return }  func.func @t(%x: tf32) { return }";
    assert_eq!(
        words(file, "missing"),
        "there is no function `@missing` in the file; functions found: `@calls`, `@f`, `@h`, `@t`"
    );
    assert_eq!(
        words(file, "g"),
        "`@g` is a `gpu.module`; a reference is a `func.func` of upstream operations"
    );
    assert_eq!(
        words(file, "h"),
        "`@h` is declared but has no body; there is nothing to run"
    );
    assert_eq!(
        words(file, "calls"),
        "`@calls` calls `@h`, which is declared but has no body; a reference calls functions of its file"
    );
    assert_eq!(
        words(file, "t"),
        "a reference function cannot take or give `tf32`: declare it f32, as it lies in memory"
    );
}

/// Says to the test below that it is in a process of its own.
const CHILD: &str = "GIRIH_TEST_CHILD";

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_with_a_failed_assertion() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let source = "
      func.func @f(%n: index) {
        %c8 = arith.constant 8 : index
        %small = arith.cmpi ult, %n, %c8 : index
        cf.assert %small, \"n is too large\"
        return
      }";
    let _ = compile(source, "f").unwrap().call(&mut [Arg::Scalar(DType::I64, 8)]);
    unreachable!("the assertion held");
}

#[test]
fn a_failed_assertion_is_an_error_of_the_program() {
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "jit::refusals::child_with_a_failed_assertion",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert_eq!(run.status.code(), Some(1), "{out}\n{err}");
    assert!(out.contains("n is too large"), "{out}\n{err}");
    assert!(err.contains("error: an assertion of the reference failed"), "{err}");
}
