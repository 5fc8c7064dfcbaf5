//! girih as a library: compile a tile program, run it, and hold the result against its reference.
//!
//! ```no_run
//! use girih::{compile, diagnostic::Sources};
//!
//! let source = std::fs::read("gemm.mlir")?;
//! match compile::compile(&source, "gemm.mlir", &compile::Options::default()) {
//!     Ok(compiled) => std::fs::write("gemm.ptx", compiled.content)?,
//!     Err(failure) => eprint!("{}", Sources::of("gemm.mlir", &source).render(&failure.messages)),
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`registry`] | which dialects and passes a program knows |
//! | [`compile`] | `.mlir` to any level down to PTX and cubin |
//! | [`run`] | compile, launch, check against files and references |
//! | [`diff`] | the same program on two devices, compared |
//! | [`annotation`] | the `girih` dialect: what a reference function says about its own precision |
//! | [`bytecode`] | corrupt bytecode is refused before it takes all memory |
//! | [`diagnostic`] | messages with the source line and a caret, or as JSON |
//! | [`explicit`] | PTX from anywhere, with its launch given on the command line |
//! | [`finding`] | what the simulator's checks found, as messages |
//! | [`failure`] | why nothing came of it |
//! | [`mod@file`] | reading input, and writing output as a whole or not at all |
pub mod annotation;
pub mod bytecode;
pub mod compile;
pub mod diagnostic;
pub mod diff;
pub mod explicit;
pub mod failure;
pub mod file;
pub mod finding;
mod isolate;
pub mod registry;
pub mod run;

/// Stack of the threads that parse and compile: MLIR's and LLVM's passes recurse over the program, and the system's 8 MiB are
/// soon used up.
pub const STACK_BYTES: usize = 512 << 20;

pub use failure::{Failure, Kind};
pub use girih_ir::{Severity, module::Message};
