//! Kernels from `.mlir` to their results: compiled, assembled by ptxas where there is one, run on the simulator, and held
//! against plain arithmetic on the host. One binary: a static LLVM link costs seconds.
//!
//! By default a selection runs. `GIRIH_TEST_ALL=1 cargo test -p girih --test it` runs every combination.
mod copies;
mod copies_formats;
mod flow;
mod guides;
mod memory;
mod mutated;
mod products;
mod programs;
mod reference;
mod roles;
mod scratch;
mod support;
mod swizzles;
mod syncs;
mod variants;
mod wgmma;
