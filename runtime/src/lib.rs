//! Launches compiled girih programs, with no compiler and no LLVM in sight.
//!
//! | module | what it does |
//! |---|---|
//! | [`mod@array`] | strided arrays in host memory, `.npy` files |
//! | [`spec`] | what a user writes for an argument: `randn:bf16[512,256]` |
//! | [`run`] | one run from the command line |
//! | [`check`] | whether a result is right |
//! | [`explicit`] | the launch of PTX that has no manifest |
//! | [`mod@file`] | reading a program, and no more than one can have |
//! | [`capi`] | the C library, `include/girih_runtime.h` |
//! | [`cuda`] | the CUDA driver as a device |
//! | [`program`] | PTX with its launch manifest |
//! | [`launch`] | every check before a launch, and the bytes of the parameters |
//!
//! ```no_run
//! use girih_runtime::{Program, cuda::CudaDevice, launch::Session, run::make_values};
//!
//! # fn main() -> girih_runtime::Result<()> {
//! let program = Program::load("gemm.ptx".as_ref())?;
//! let kernel = program.kernel(Some("gemm"))?;
//! let args = ["A=randn:bf16[512,256]", "B=randn:bf16[256,128]", "C=poison:bf16[512,128]"];
//! let args: Vec<_> = args.iter().map(|arg| arg.parse()).collect::<Result<_, _>>().map_err(girih_runtime::Error::Usage)?;
//! let values = make_values(kernel, &args, 0)?;
//! let mut device = CudaDevice::new(0)?;
//! let mut session = Session::new(&mut device, &program, kernel, &values)?;
//! session.run()?;
//! # Ok(())
//! # }
//! ```
pub mod array;
pub mod capi;
pub mod check;
pub mod cuda;
pub mod error;
pub mod explicit;
pub mod file;
pub mod launch;
pub mod program;
pub mod run;
pub mod spec;
#[cfg(test)]
mod testing;

pub use error::{Error, Result};
pub use program::Program;
