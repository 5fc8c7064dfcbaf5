//! Everything of this crate that no lit test says better, in one binary: a static LLVM link costs seconds.
mod allocate_shared;
mod host;
mod long_sums;
mod slab;
mod support;
mod target;
