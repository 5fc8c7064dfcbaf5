//! Reference functions run on the CPU by MLIR's JIT.
mod arrays;
mod numbers;
mod refusals;

use crate::support::context;
use girih_codegen::jit::{Arg, Function};
use girih_core::{dtype::DType, number};
use melior::ir::Module;

/// The bytes of an array.
fn bytes(dtype: DType, values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    let size = dtype.bytes() as usize;
    values
        .into_iter()
        .flat_map(|value| number::to_bits(dtype, value).to_le_bytes().into_iter().take(size))
        .collect()
}

/// The values of an array.
fn values(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    bytes
        .chunks(dtype.bytes() as usize)
        .map(|chunk| number::from_bits(dtype, word(chunk)))
        .collect()
}

fn scalar(dtype: DType, value: f64) -> Arg<'static> {
    Arg::Scalar(dtype, number::to_bits(dtype, value))
}

fn compile(source: &str, name: &str) -> girih_codegen::Result<Function> {
    let context = context();
    let module = Module::parse(&context, source).expect("the test's source parses");
    Function::compile(module.as_operation(), name)
}
