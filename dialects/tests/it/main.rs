//! The tile dialect's tests: one binary, since a link of LLVM is slow.
mod examples;
mod malformed;
mod support;
