//! The runtime on a CUDA device. Built only with `--features gpu-tests`; a machine without a GPU fails, it never passes.
use girih_core::{
    device::{Device, Launch},
    dtype::DType,
    manifest::{Arg, BinaryOp, Expr, Kernel, Manifest, Param, SCHEMA},
    tensor_map::{Caps, Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap},
};
use girih_runtime::{
    Program,
    array::{Array, FileType},
    cuda::CudaDevice,
    launch::{HostValue, Session},
    spec::{Place, Spec},
};

/// `y[i] = x[i] * factor` over all blocks; block rank in its cluster is added, so that a wrong cluster shows.
const SCALE: &str = "
.version 8.0
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u64 n, .param .f32 factor)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  ld.param.u64 %d2, [n];
  ld.param.f32 %f0, [factor];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  cvt.u64.u32 %d3, %r3;
  setp.ge.u64 %p, %d3, %d2;
  @%p ret;
  shl.b64 %d4, %d3, 2;
  add.u64 %d5, %d0, %d4;
  add.u64 %d6, %d1, %d4;
  ld.global.f32 %f1, [%d5];
  mul.f32 %f2, %f1, %f0;
  mov.u32 %r4, %cluster_ctarank;
  cvt.rn.f32.u32 %f3, %r4;
  add.f32 %f2, %f2, %f3;
  st.global.f32 [%d6], %f2;
  ret;
}
.visible .entry trap(.param .u64 x) { trap; }
";

fn device() -> CudaDevice {
    CudaDevice::new(0).expect("this suite needs a CUDA device")
}

fn program() -> Program {
    let memref = |name: &str| Arg::Memref {
        name: name.into(),
        dtype: DType::F32,
        shape: vec![None],
        strides: vec![Some(1)],
        align: 4,
    };
    let size = || Box::new(Expr::Size { arg: 0, dim: 0 });
    let blocks = Expr::Binary(BinaryOp::CeilDivS, size(), Box::new(Expr::Const(256)));
    let pairs = Expr::Binary(BinaryOp::Mul, Box::new(blocks), Box::new(Expr::Const(2)));
    let scale = Kernel {
        name: "scale".into(),
        args: vec![
            memref("x"),
            memref("y"),
            Arg::Scalar {
                name: "factor".into(),
                dtype: DType::F32,
            },
        ],
        params: vec![
            Param::Pointer { arg: 0 },
            Param::Pointer { arg: 1 },
            Param::Size { arg: 0, dim: 0 },
            Param::Scalar { arg: 2 },
        ],
        tensor_maps: vec![],
        grid: [pairs, Expr::Const(1), Expr::Const(1)],
        block: [128, 1, 1],
        cluster: [2, 1, 1],
        dynamic_shared_bytes: 200 << 10,
        facts: vec![],
    };
    let trap = Kernel {
        name: "trap".into(),
        args: vec![memref("x")],
        params: vec![Param::Pointer { arg: 0 }],
        grid: [Expr::Const(1), Expr::Const(1), Expr::Const(1)],
        cluster: [1, 1, 1],
        dynamic_shared_bytes: 0,
        facts: vec![],
        ..scale.clone()
    };
    let manifest = Manifest {
        schema: SCHEMA,
        girih: "0.1.0".into(),
        target: "sm_90a".into(),
        kernels: vec![scale, trap],
    };
    Program::from_text(manifest.to_ptx_comment() + SCALE).expect("a valid program")
}

fn array(spec: &str) -> Array {
    let spec: Spec = spec.parse().expect("a valid SPEC");
    spec.array(&Place {
        name: "x",
        file_type: FileType::Any,
        strides: None,
        seed: 0,
    })
    .expect("it fits in memory")
}

fn arguments(n: usize) -> Vec<HostValue> {
    let factor: Spec = "f32:3".parse().expect("a number");
    vec![
        HostValue::Array(array(&format!("iota:f32[{n}]"))),
        HostValue::Array(array(&format!("poison:f32[{n}]"))),
        HostValue::Scalar(factor.scalar().expect("a number")),
    ]
}

#[test]
fn a_kernel_with_clusters_and_large_shared_memory_computes() {
    let mut device = device();
    let program = program();
    for n in [1usize, 255, 256, 100_000] {
        let kernel = program.kernel(Some("scale")).expect("it is there");
        let mut session = Session::new(&mut device, &program, kernel, &arguments(n)).expect("it loads");
        session.run().expect("it runs");
        let mut y = array(&format!("zeros:f32[{n}]"));
        session.read(1, &mut y).expect("it is an array");
        let expected: Vec<f64> = (0..n).map(|i| 3.0 * i as f64 + (i / 128 % 2) as f64).collect();
        assert_eq!(y.to_f64(), expected, "n = {n}");
    }
}

#[test]
fn an_empty_array_launches_nothing() {
    let (mut device, program) = (device(), program());
    let kernel = program.kernel(Some("scale")).expect("it is there");
    let mut session = Session::new(&mut device, &program, kernel, &arguments(0)).expect("it loads");
    session.run().expect("nothing to do");
    assert_eq!(session.time(3).expect("nothing to time"), None);
}

#[test]
fn times_are_positive_and_as_many_as_asked() {
    let (mut device, program) = (device(), program());
    let kernel = program.kernel(Some("scale")).expect("it is there");
    let mut session = Session::new(&mut device, &program, kernel, &arguments(1 << 20)).expect("it loads");
    let times = session.time(5).expect("it runs").expect("a GPU has a clock");
    assert!(
        times.len() == 5 && times.iter().all(|t| (1e-7..1.0).contains(t)),
        "{times:?}"
    );
}

#[test]
fn parameters_that_the_kernel_does_not_have_are_refused() {
    let (mut device, program) = (device(), program());
    let module = device.load(program.ptx()).expect("it compiles");
    let params = [vec![0u8; 8], vec![0u8; 8], vec![0u8; 8]];
    let launch = Launch {
        kernel: "scale",
        grid: [2, 1, 1],
        block: [128, 1, 1],
        cluster: [2, 1, 1],
        dynamic_shared_bytes: 0,
        cooperative: false,
        params: &params,
    };
    let error = device.launch(module, &launch).expect_err("a parameter is missing");
    assert!(
        error
            .message
            .contains("[8, 8, 8, 4] bytes, but the launch gives [8, 8, 8]"),
        "{}",
        error.message
    );
}

#[test]
fn the_compilers_log_is_in_the_error() {
    let error = device()
        .load(&SCALE.replace("mul.f32 %f2, %f1, %f0;", "mul.f32 %f2, %f1;"))
        .expect_err("not PTX");
    assert_eq!(error.code.as_deref(), Some("CUDA_ERROR_INVALID_PTX"));
    assert!(error.message.contains("line 26"), "{}", error.message);
}

#[test]
fn the_driver_and_the_validator_agree_on_tensor_maps() {
    let device = device();
    let good = TensorMap {
        format: Format::Bf16,
        address: 0x7f00_0000_0000,
        dims: vec![512, 256],
        strides: vec![1024],
        mode: Mode::Tiled {
            box_dims: vec![64, 128],
        },
        element_strides: vec![1, 1],
        interleave: Interleave::None,
        swizzle: Swizzle::B128,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::B128,
    };
    let im2col = TensorMap {
        dims: vec![64, 10, 10, 4],
        strides: vec![128, 1280, 12800],
        mode: Mode::Im2col {
            lower: vec![-1, -1],
            upper: vec![-1, -1],
            channels_per_pixel: 64,
            pixels_per_column: 32,
        },
        element_strides: vec![1; 4],
        ..good.clone()
    };
    let cases = [
        good.clone(),
        im2col.clone(),
        TensorMap {
            fill: Fill::Nan,
            l2_promotion: L2Promotion::B256,
            ..im2col.clone()
        },
        TensorMap {
            strides: vec![1026],
            ..good.clone()
        },
        TensorMap {
            address: 8,
            ..good.clone()
        },
        TensorMap {
            mode: Mode::Tiled {
                box_dims: vec![128, 128],
            },
            ..good.clone()
        },
        TensorMap {
            swizzle: Swizzle::B128Atom32,
            ..good.clone()
        },
        TensorMap {
            element_strides: vec![1, 9],
            ..good.clone()
        },
        TensorMap {
            format: Format::S32,
            fill: Fill::Nan,
            mode: Mode::Tiled { box_dims: vec![32, 8] },
            ..good.clone()
        },
        TensorMap {
            format: Format::F32,
            mode: Mode::Tiled { box_dims: vec![32, 8] },
            ..good
        },
    ];
    for map in cases {
        let (ours, drivers) = (map.validate(&Caps::SM_90), device.encode_tensor_map(&map));
        assert_eq!(ours.is_ok(), drivers.is_ok(), "{map:?}: {ours:?}, {drivers:?}");
    }
}

/// A failed kernel poisons its process's context, so this runs in a process of its own.
#[test]
#[ignore = "poisons the CUDA context; run alone with --ignored"]
fn a_kernel_that_fails_is_reported_with_the_drivers_name() {
    let mut device = device();
    let module = device.load(program().ptx()).expect("it compiles");
    let params = [vec![0u8; 8]];
    let launch = Launch {
        kernel: "trap",
        grid: [1; 3],
        block: [32, 1, 1],
        cluster: [1; 3],
        dynamic_shared_bytes: 0,
        cooperative: false,
        params: &params,
    };
    device.launch(module, &launch).expect("it starts");
    let error = device.synchronize().expect_err("it traps");
    assert!(
        error.code.is_some_and(|code| code.starts_with("CUDA_ERROR_")),
        "{}",
        error.message
    );
}
