//! The launch manifest from `tile.entry` ops.
use girih_codegen::manifest::manifest;
use girih_core::{
    dtype::DType,
    manifest::{Arg, BinaryOp, Expr, Manifest, Param},
    target::Target,
    tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle},
};
use girih_ir::{diag, module, prelude::*};
use melior::dialect::DialectRegistry;
use pretty_assertions::assert_eq;

pub fn context() -> Context {
    let registry = DialectRegistry::new();
    girih_ir::upstream::register_minimal_dialects(&registry);
    girih_dialects::tile::TILE.register(&registry);
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    diag::plain_diagnostics(&context);
    context
}

/// The manifest of a module, or what was said.
fn of(source: &str) -> Result<Option<Manifest>, Vec<String>> {
    let c = context();
    let (made, said) = module::collect_diagnostics(&c, || {
        let module = module::parse(&c, source.as_bytes(), "t.mlir")?;
        manifest(module.as_operation(), Target::SM_90A)
    });
    made.map_err(|Reported| said.iter().map(|m| m.to_string()).collect())
}

/// A module with one kernel: its arguments, what stands between them and `launch`, the launch region, and the types of the
/// function's parameters.
fn entry(arguments: &str, shape: &str, launch: &str, parameters: &str) -> String {
    format!(
        "tile.entry @k in @device({arguments}) {shape} launch {{\n{launch}\n}}\n\
         gpu.module @device {{\n\
         llvm.func @k({parameters}) attributes {{nvvm.kernel}} {{\nllvm.return\n}}\n}}\n"
    )
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

#[test]
fn a_module_without_kernels_has_none() {
    assert_eq!(of("func.func @f() { return }"), Ok(None));
}

#[test]
fn parameters_are_those_of_the_abi_and_the_grid_is_an_expression() {
    let source = entry(
        "%A: memref<?x64x?xbf16, strided<[?, ?, 1]>, #tile.global>, %n: i32, %B: memref<16x8xf8E4M3FN, #tile.global>, %s: f32",
        "threads(256) cluster(2, 1, 1) attributes {shared_bytes = 4096 : i64}",
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index\n\
         %c128 = arith.constant 128 : index\n\
         %d0 = memref.dim %A, %c0 : memref<?x64x?xbf16, strided<[?, ?, 1]>, #tile.global>\n\
         %d1 = memref.dim %A, %c1 : memref<?x64x?xbf16, strided<[?, ?, 1]>, #tile.global>\n\
         %gx = arith.ceildivui %d0, %c128 : index\n\
         %gy = arith.muli %d1, %c2 : index\n\
         %gz = arith.index_cast %n : i32 to index\n\
         tile.grid %gx, %gy, %gz",
        "%a: !llvm.ptr<1>, %b: i64, %c: i64, %d: i64, %e: i64, %f: i32, %g: !llvm.ptr<1>, %h: f32",
    );
    let manifest = of(&source).expect("the launch is right").expect("a kernel");
    assert_eq!(manifest.target, "sm_90a");
    let [kernel] = &manifest.kernels[..] else {
        panic!("{manifest:#?}")
    };
    assert_eq!(kernel.name, "k");
    assert_eq!(
        kernel.args,
        [
            Arg::Memref {
                name: "A".into(),
                dtype: DType::Bf16,
                shape: vec![None, Some(64), None],
                strides: vec![None, None, Some(1)],
                align: 2,
            },
            Arg::Scalar {
                name: "n".into(),
                dtype: DType::I32
            },
            Arg::Memref {
                name: "B".into(),
                dtype: DType::E4m3,
                shape: vec![Some(16), Some(8)],
                strides: vec![Some(8), Some(1)],
                align: 1,
            },
            Arg::Scalar {
                name: "s".into(),
                dtype: DType::F32
            },
        ]
    );
    assert_eq!(
        kernel.params,
        [
            Param::Pointer { arg: 0 },
            Param::Size { arg: 0, dim: 0 },
            Param::Size { arg: 0, dim: 2 },
            Param::Stride { arg: 0, dim: 0 },
            Param::Stride { arg: 0, dim: 1 },
            Param::Scalar { arg: 1 },
            Param::Pointer { arg: 2 },
            Param::Scalar { arg: 3 },
        ]
    );
    assert_eq!(
        kernel.grid,
        [
            binary(BinaryOp::CeilDivU, Expr::Size { arg: 0, dim: 0 }, Expr::Const(128)),
            Expr::Const(128),
            Expr::Scalar { arg: 1 },
        ]
    );
    assert_eq!((kernel.block, kernel.cluster), ([256, 1, 1], [2, 1, 1]));
    assert_eq!(kernel.dynamic_shared_bytes, 4096);
    assert_eq!(Manifest::from_ptx(&manifest.to_ptx_comment()), Ok(Some(manifest)));
}

#[test]
fn tensor_maps_come_innermost_first_through_transposes_and_casts() {
    let source = entry(
        "%A: memref<?x?x32xbf16, strided<[1, ?, ?]>, #tile.global>, %B: memref<64x128xf32, #tile.global>",
        "threads(128)",
        "%c1 = arith.constant 1 : index\n\
         %p = memref.transpose %A (i, j, k) -> (k, j, i) : memref<?x?x32xbf16, strided<[1, ?, ?]>, #tile.global> \
            to memref<32x?x?xbf16, strided<[?, ?, 1]>, #tile.global>\n\
         %q = memref.cast %p : memref<32x?x?xbf16, strided<[?, ?, 1]>, #tile.global> \
            to memref<?x?x?xbf16, strided<[?, ?, 1]>, #tile.global>\n\
         %b = tile.tensor_map %B : memref<64x128xf32, #tile.global> -> !tile.tensor_map<16x32xf32, swizzle = 128, \
            interleave = none, element_strides = [2, 1], fill = nan, l2 = 256, format = tf32>\n\
         %a = tile.tensor_map %q : memref<?x?x?xbf16, strided<[?, ?, 1]>, #tile.global> -> !tile.tensor_map<2x4x8xbf16>\n\
         tile.grid %c1, %c1, %c1 args(%a, %b : !tile.tensor_map<2x4x8xbf16>, !tile.tensor_map<16x32xf32, swizzle = 128, \
            element_strides = [2, 1], fill = nan, l2 = 256, format = tf32>)",
        "%a: !llvm.ptr<1>, %b: i64, %c: i64, %d: i64, %e: i64, %f: !llvm.ptr<1>, %g: !llvm.ptr, %h: !llvm.ptr",
    );
    let manifest = of(&source).expect("the launch is right").expect("a kernel");
    let kernel = &manifest.kernels[0];
    assert_eq!(
        kernel.params[6..],
        [Param::TensorMap { map: 0 }, Param::TensorMap { map: 1 }]
    );
    for arg in &kernel.args {
        assert!(matches!(arg, Arg::Memref { align: 16, .. }), "{arg:?}");
    }
    let [a, b] = &kernel.tensor_maps[..] else {
        panic!("{kernel:#?}")
    };
    let stride = |dim| binary(BinaryOp::Mul, Expr::Stride { arg: 0, dim }, Expr::Const(2));
    assert_eq!((a.arg, &a.offset, a.format), (0, &Expr::Const(0), Format::Bf16));
    assert_eq!(
        a.dims,
        [
            Expr::Size { arg: 0, dim: 0 },
            Expr::Size { arg: 0, dim: 1 },
            Expr::Const(32)
        ]
    );
    assert_eq!(a.strides, [stride(1), stride(2)]);
    assert_eq!(
        a.mode,
        Mode::Tiled {
            box_dims: vec![8, 4, 2]
        }
    );
    assert_eq!(a.element_strides, [1, 1, 1]);
    assert_eq!((b.arg, b.format, b.swizzle), (1, Format::Tf32, Swizzle::B128));
    assert_eq!(
        (&b.dims[..], &b.strides[..]),
        (&[Expr::Const(128), Expr::Const(64)][..], &[Expr::Const(512)][..])
    );
    assert_eq!(b.element_strides, [1, 2]);
    assert_eq!(
        (b.interleave, b.fill, b.l2_promotion),
        (Interleave::None, Fill::Nan, L2Promotion::B256)
    );
}

#[test]
fn what_a_launcher_cannot_do_is_located() {
    let grid = "%c1 = arith.constant 1 : index\ntile.grid %c1, %c1, %c1";
    let said = |source: String| of(&source).expect_err("the launch is wrong");
    assert_eq!(
        said(entry("%n: i32, %m: i32", "threads(32)", grid, "%n: i32")),
        [
            "t.mlir:1:1: error: 'tile.entry' op gives 2 parameters, but the function takes 1\n\
          t.mlir:6:1: note: the function is here"
        ]
    );
    assert_eq!(
        said(format!("tile.entry @k in @device() threads(32) launch {{\n{grid}\n}}")),
        ["t.mlir:1:1: error: 'tile.entry' op launches llvm.func @k, but there is none in gpu.module @device"]
    );
    assert_eq!(
        said(entry(
            "%A: memref<4xf8E5M2FNUZ, #tile.global>, %i: index",
            "threads(32)",
            grid,
            "%a: !llvm.ptr<1>, %i: i64"
        )),
        [
            "t.mlir:1:1: error: 'tile.entry' op argument 'A' is memref<4xf8E5M2FNUZ, #tile.global>, but a kernel takes \
             memrefs in #tile.global, tensor maps, and numbers: i8 to i64, f16, bf16, f32, f64, in memrefs also i1, f8E4M3FN and f8E5M2",
            "t.mlir:1:1: error: 'tile.entry' op argument 'i' is index, but a kernel takes memrefs in #tile.global, tensor \
             maps, and numbers: i8 to i64, f16, bf16, f32, f64, in memrefs also i1, f8E4M3FN and f8E5M2; take an i64 and convert it with arith.index_cast",
        ]
    );
    assert_eq!(
        said("\"tile.entry\"() <{arg_names = [], module = @device, sym_name = \"k\", threads = 32 : i64}> ({\n^bb0:\ntile.return\n}) : () -> ()".to_owned())[0],
        "t.mlir:3:1: error: 'tile.return' op ends the body of a tile.kernel, and stands nowhere else"
    );
    let dynamic = "%c1 = arith.constant 1 : index\n\
        %q = memref.cast %A : memref<?x?xf32, strided<[?, ?]>, #tile.global> to memref<?x?xf32, strided<[?, 1]>, #tile.global>\n\
        %a = tile.tensor_map %q : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<8x8xf32>\n\
        tile.grid %c1, %c1, %c1 args(%a : !tile.tensor_map<8x8xf32>)";
    let source = entry(
        "%A: memref<?x?xf32, strided<[?, ?]>, #tile.global>",
        "threads(32)",
        dynamic,
        "%a: !llvm.ptr<1>, %b: i64, %c: i64, %d: i64, %e: i64, %m: !llvm.ptr",
    );
    let found = said(source);
    assert!(
        found[0].starts_with(
            "t.mlir:4:6: error: 'tile.tensor_map' op takes a memref whose innermost stride is known only at run time"
        ),
        "{found:#?}"
    );
}

/// Every example, through the passes that lead to it.
#[test]
fn the_examples_can_be_launched() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut kernels = 0;
    for file in std::fs::read_dir(folder).expect("the examples are there") {
        let path = file.expect("a readable folder").path();
        if path.extension().is_none_or(|e| e != "mlir") {
            continue;
        }
        let c = context();
        girih_ir::upstream::register_minimal_passes();
        girih_passes::register();
        let source = std::fs::read(&path).expect("a readable example");
        let (made, said) = module::collect_diagnostics(&c, || {
            let module = module::parse(&c, &source, "example.mlir")?;
            let pipeline = format!("tile-set-target,{}", girih_passes::pipeline::full());
            girih_ir::pass::run_pipeline(module.as_operation(), &pipeline, Default::default())?;
            manifest(module.as_operation(), Target::SM_90A)
        });
        let made = made.unwrap_or_else(|_| panic!("{}: {said:#?}", path.display()));
        kernels += made.map_or(0, |m| m.kernels.len());
    }
    assert!(kernels >= 3, "{kernels} kernels");
}
