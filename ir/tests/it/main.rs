//! One binary for all of the crate's tests: a static LLVM link is not small.
mod demo;
mod ops;
