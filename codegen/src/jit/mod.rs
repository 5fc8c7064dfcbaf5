//! Runs a `func.func` on the CPU by MLIR's own JIT: the reference that a kernel is checked against.
//!
//! ```mlir
//! func.func @gemm_ref(%a: memref<?x?xbf16, #tile.global>, %b: memref<?x?xbf16, #tile.global>, %c: memref<?x?xf32>) {
//!   linalg.matmul ins(%a, %b : ...) outs(%c : ...)
//!   return
//! }
//! ```
//!
//! The function may use upstream's linalg, tensor, scf, affine, memref, arith, math and vector on every element type of
//! [`DType`](girih_core::dtype::DType); tf32 is none of memory (declare it f32), and what is rounded to it is taken back by
//! `arith.extf`. It sees memory without memory spaces. Numerics, so that
//! a difference has a meaning:
//! - every operation on f16, bf16 and 8-bit floats is computed in f32 and rounded once to nearest even; conversions round
//!   once from their source, f64 included, in the direction that they name, and overflow as PTX's `cvt` without `.satfinite`
//!   does; integers that have not the number end at the end of their range, and NaN gives 0;
//! - sums run in the order of the loops; nothing is reassociated or contracted;
//! - a tensor argument is never written to, a memref argument may be.
//!
//! | module | what it does |
//! |---|---|
//! | `source` | copies the function and what it calls, without memory spaces |
//! | `signature` | what it takes and gives, and how that lies in memory |
//! | `lower` | pipelines down to the llvm dialect |
//! | `loops` | which loop is innermost |
//! | `formats` | 8-bit floats and the conversions that CPUs lack |
//! | `build` | builds operations from text |
//! | `symbols` | the functions that compiled code calls back |
//! | `value` | arrays and numbers that go in and come out |
mod build;
mod formats;
mod integers;
mod loops;
mod lower;
mod signature;
mod source;
mod symbols;
mod value;

pub use value::{Arg, Array, Returned};

use crate::error::{Error, Result};
use melior::{StringRef, ir::OperationRef};
use mlir_sys::{
    MlirExecutionEngine, mlirExecutionEngineCreate, mlirExecutionEngineDestroy, mlirExecutionEngineInvokePacked,
};
use signature::{Kind, Signature};
use std::ffi::c_void;
use value::Slot;

/// A function compiled for this machine.
#[derive(Debug)]
pub struct Function {
    name: String,
    signature: Signature,
    /// Whether results are allocations that the caller must free.
    owns_results: bool,
    engine: MlirExecutionEngine,
}

impl Function {
    /// Compiles the `func.func` called `name` in the body of `module`, a `builtin.module` that may hold anything else
    /// beside it. The module is not changed. Upstream's dialects with their extensions and translations to LLVM IR must be
    /// registered with its context, and the passes of `lower` with the process.
    pub fn compile(module: OperationRef<'_, '_>, name: &str) -> Result<Self> {
        let span = tracing::info_span!("reference", name);
        let _entered = span.enter();
        crate::fatal::install();
        let mut extracted = source::extract(module, name)?;
        let signature = Signature::of(source::root(&extracted, name)?)?;
        let owns_results = lower::to_llvm_dialect(&mut extracted, name)?;
        // SAFETY: the module is alive and of the llvm dialect.
        let engine = unsafe {
            mlirExecutionEngineCreate(
                extracted.to_raw(),
                OPTIMIZATION_LEVEL,
                0,
                std::ptr::null(),
                false,
                false,
            )
        };
        if engine.ptr.is_null() {
            return Err(Error::Reference(format!(
                "LLVM made no code for `@{name}` on this machine"
            )));
        }
        let function = Function {
            name: name.to_owned(),
            signature,
            owns_results,
            engine,
        };
        symbols::register(engine);
        Ok(function)
    }

    /// Calls it. Arrays are checked against the declared types (rank, element type, static sizes and strides) before
    /// anything runs; what the function reads and writes within them is its own affair, so an index that is out of
    /// bounds there is as undefined as it is in any compiled code.
    pub fn call(&self, args: &mut [Arg<'_>]) -> Result<Vec<Returned>> {
        self.signature.check(&self.name, args)?;
        let mut slots: Vec<Slot> = args.iter_mut().map(Arg::slot).collect();
        // One allocation for all results, laid out as the C struct that the wrapper stores.
        let layout = self.signature.result_layout();
        let mut results = vec![0u64; layout.words()];
        let mut result_pointer: *mut c_void = results.as_mut_ptr().cast();

        let mut pointers: Vec<*mut c_void> = Vec::with_capacity(slots.len() + 1);
        // The C interface takes a struct of results by pointer and before the arguments, a lone number afterwards.
        if layout.by_pointer() {
            pointers.push((&raw mut result_pointer).cast());
        }
        pointers.extend(slots.iter_mut().map(Slot::argument));
        if !layout.by_pointer() && layout.words() > 0 {
            pointers.push(result_pointer);
        }
        // SAFETY: the engine has the wrapper that takes exactly these pointers (see `Signature`); `slots`, `results` and
        // the arrays that they point to outlive the call.
        let status = unsafe {
            mlirExecutionEngineInvokePacked(self.engine, StringRef::new(&self.name).to_raw(), pointers.as_mut_ptr())
        };
        if status.value == 0 {
            return Err(Error::Reference(format!(
                "`@{}` was compiled but cannot be linked: it calls a function that this program does not have",
                self.name
            )));
        }
        let kinds = self.signature.results.iter().zip(layout.byte_offsets());
        Ok(kinds
            .map(|(kind, offset)| match kind {
                Kind::Scalar(dtype) => Returned::scalar(*dtype, results[offset / 8] >> (8 * (offset % 8))),
                // SAFETY: the function has stored a descriptor of this rank there; descriptors lie on whole words.
                Kind::Array(array) => unsafe {
                    value::take_array(
                        array.dtype,
                        array.sizes.len(),
                        &results[offset / 8..],
                        self.owns_results,
                    )
                },
            })
            .collect())
    }
}

/// Reductions are not reassociated at any level; this one vectorises the rest.
const OPTIMIZATION_LEVEL: i32 = 3;

impl Drop for Function {
    fn drop(&mut self) {
        // SAFETY: made by `compile`, and destroyed once.
        unsafe { mlirExecutionEngineDestroy(self.engine) }
    }
}
