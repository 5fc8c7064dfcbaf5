//! Launches compiled girih programs, with no compiler and no LLVM in sight.
//!
//! | module | what it does |
//! |---|---|
//! | [`array`] | strided arrays in host memory, `.npy` files |
//! | [`spec`] | what a user writes for an argument: `randn:bf16[512,256]` |
//! | [`run`] | one run from the command line |
//! | [`check`] | whether a result is right |
//! | [`capi`] | the C library, `include/girih_runtime.h` |
//! | [`cuda`] | the CUDA driver as a device |
//! | [`program`] | PTX with its launch manifest |
//! | [`launch`] | every check before a launch, and the bytes of the parameters |
pub mod array;
pub mod capi;
pub mod check;
pub mod cuda;
pub mod error;
pub mod launch;
pub mod program;
pub mod run;
pub mod spec;
#[cfg(test)]
mod testing;

pub use error::{Error, Result};
pub use program::Program;
