//! One binary for all of the crate's tests: a static LLVM link is not small.
mod boom;
mod conversion;
mod declarations;
mod demo;
mod flow;
mod interfaces;
mod module;
mod ops;
mod panics;
mod pass;
mod rewrite;
mod support;
mod traits;
mod types;
