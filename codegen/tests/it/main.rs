//! Everything of this crate that can be seen without a GPU, in one binary: a static LLVM link costs seconds.
mod copies_legality;
mod fatal;
mod gemm;
mod jit;
mod line_info;
mod manifest;
mod ptx;
mod ptxas;
mod support;
mod versions;
