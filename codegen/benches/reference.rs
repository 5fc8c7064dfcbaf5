//! Seconds for naive products on the CPU through MLIR's JIT. `cargo bench -p girih-codegen --bench reference`.
#[path = "../tests/it/gemm.rs"]
#[allow(dead_code)]
mod gemm;
#[path = "../tests/it/support.rs"]
#[allow(dead_code)]
mod support;

use girih_codegen::jit::{Arg, Array, Function};
use girih_core::dtype::DType;
use melior::ir::Module;
use std::time::Instant;

fn main() {
    let context = support::context();
    println!("size element B              compile s    run s");
    for (dtype, mlir) in [(DType::F32, "f32"), (DType::Bf16, "bf16"), (DType::E4m3, "f8E4M3FN")] {
        for (order, strides) in [("row-major", "[?, 1]"), ("column-major", "[1, ?]")] {
            for size in [512usize, 1024] {
                let source = format!(
                    "func.func @gemm(%a: memref<?x?x{mlir}, strided<[?, 1]>>, %b: memref<?x?x{mlir}, strided<{strides}>>,
                                     %c: memref<?x?xf32, strided<[?, 1]>>) {{
                       linalg.matmul ins(%a, %b : memref<?x?x{mlir}, strided<[?, 1]>>, memref<?x?x{mlir}, strided<{strides}>>)
                                     outs(%c : memref<?x?xf32, strided<[?, 1]>>)
                       return
                     }}"
                );
                let module = Module::parse(&context, &source).expect("the reference parses");
                let start = Instant::now();
                let function = Function::compile(module.as_operation(), "gemm").expect("the reference compiles");
                let compile = start.elapsed().as_secs_f64();
                let bytes = size * size * dtype.bytes() as usize;
                let (mut a, mut b, mut c) = (vec![0u8; bytes], vec![0u8; bytes], vec![0u8; 4 * size * size]);
                let pitch = size as isize;
                let b_strides = if order == "row-major" { [pitch, 1] } else { [1, pitch] };
                let shape = [size, size];
                let mut args = [
                    Arg::Array(Array::new(&mut a, dtype, 0, &shape, &[pitch, 1]).expect("A fits")),
                    Arg::Array(Array::new(&mut b, dtype, 0, &shape, &b_strides).expect("B fits")),
                    Arg::Array(Array::new(&mut c, DType::F32, 0, &shape, &[pitch, 1]).expect("C fits")),
                ];
                let start = Instant::now();
                function.call(&mut args).expect("the reference runs");
                let run = start.elapsed().as_secs_f64();
                println!("{size:4} {dtype:7} {order:14} {compile:9.3} {run:8.3}");
            }
        }
    }
}
