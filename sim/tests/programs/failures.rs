//! How programs fail, and what is not run at all.
use super::support::{ONE_WARP, Shape, failure};
use girih_core::device::Device;
use girih_sim::Simulator;

#[test]
fn faults_have_the_driver_s_names_and_a_line() {
    let cases = [
        (
            "mov.u64 %d2, 16; ld.global.u32 %r1, [%d2]; ret;",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "ld.global.u32",
        ),
        (
            "ld.global.u32 %r1, [%out+4096]; ret;",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "0 bytes past the end",
        ),
        (
            "ld.global.u32 %r1, [%out+2]; ret;",
            "CUDA_ERROR_MISALIGNED_ADDRESS",
            "ld.global.u32",
        ),
        (
            "st.shared.u32 [0], %t; ret;",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "st.shared.u32",
        ),
        (
            "setp.eq.u32 %p1, %t, 5; @%p1 trap; ret;",
            "CUDA_ERROR_LAUNCH_FAILED",
            "thread [5, 0, 0]",
        ),
        (
            "mov.u64 %d2, 64; { call %d2, (); } ret;",
            "CUDA_ERROR_INVALID_PC",
            "no function",
        ),
        (
            "L: bra L;",
            "CUDA_ERROR_LAUNCH_TIMEOUT",
            "the limit of 5000000 warp instructions",
        ),
        (
            "setp.lt.u32 %p1, %t, 16; @%p1 bra E; bar.warp.sync -1; ret;\nE: shfl.sync.idx.b32 %r1, %t, 0, 31, -1; ret;",
            "CUDA_ERROR_LAUNCH_TIMEOUT",
            "deadlock",
        ),
    ];
    for (body, code, words) in cases {
        let error = failure("", body, &ONE_WARP);
        assert_eq!(error.code.as_deref(), Some(code), "{body}: {error}");
        assert!(
            error.message.contains(words) && error.message.contains("PTX line"),
            "{body}: {error}"
        );
    }
}

#[test]
fn a_barrier_that_nobody_completes_is_a_deadlock() {
    let error = failure("", "bar.sync 1, 64; ret;", &ONE_WARP);
    assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_LAUNCH_TIMEOUT"));
    assert!(error.message.contains("bar.sync 1, 64"), "{error}");
}

#[test]
fn launches_that_the_driver_refuses_are_refused() {
    let shape = Shape {
        block: 2048,
        ..ONE_WARP
    };
    assert_eq!(
        failure("", "ret;", &shape).code.as_deref(),
        Some("CUDA_ERROR_INVALID_VALUE")
    );
    let shape = Shape {
        dynamic_shared: 300_000,
        ..ONE_WARP
    };
    assert_eq!(
        failure("", "ret;", &shape).code.as_deref(),
        Some("CUDA_ERROR_INVALID_VALUE")
    );
    let shape = Shape {
        grid: 3,
        cluster: 2,
        ..ONE_WARP
    };
    assert_eq!(
        failure("", "ret;", &shape).code.as_deref(),
        Some("CUDA_ERROR_INVALID_CLUSTER_SIZE")
    );
}

#[test]
fn unknown_instructions_are_named_with_their_line() {
    let cases = [
        ("frobnicate.u32 %r1, %r2;", "4:1", "frobnicate"),
        ("add.rn.u32 %r1, %r2, %r3;", "4:1", "`.rn`"),
        ("add.u32 %r1, %r2, %d3;", "4:1", "64 bits"),
        ("add.u32 %r1, %r2, %nowhere;", "4:1", "%nowhere"),
        ("add.u32 %r1, %r2, %f1;", "4:1", "floating-point"),
        ("bra Nowhere;", "4:1", "Nowhere"),
        ("add.u32 %r1, %r2 %r3;", "4:18", "expected"),
    ];
    for (line, place, words) in cases {
        let text = format!(
            ".version 8.6 .target sm_90a .address_size 64\n.visible .entry k() {{\n.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;\n{line}\nret; }}"
        );
        let error = Simulator::new().load(&text).expect_err("wrong PTX");
        assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_INVALID_PTX"));
        assert!(
            error.message.contains(&format!("PTX {place}:")) && error.message.contains(words),
            "{line}: {error}"
        );
    }
}

#[test]
fn faults_name_the_line_of_the_source() {
    let error = failure(
        "",
        ".loc 1 20 3\ntrap;\nret;\n}\n.file 1 \"a.mlir\"\n.func g() {\n ret;",
        &ONE_WARP,
    );
    assert!(
        error.message.contains(": trap;\n  from a.mlir:20:3\n  in `k`"),
        "{error}"
    );
}
