//! Tensor copies (`cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`; PTX ISA 9.4 section 5.5) as pure functions from a
//! [`TensorMap`](girih_core::tensor_map::TensorMap), coordinates and an address in shared memory to reads and writes of
//! bytes.
//!
//! | module | what it says |
//! |---|---|
//! | [`geometry`] | which bytes of the tensor meet which bytes of the shared image: boxes, convolution walks, gathers |
//! | [`image`] | where one row of the image lies in shared memory: swizzle on absolute addresses, padded sub-byte formats |
//! | [`copy`] | loads, stores and reductions over [`Bytes`](crate::memory::Bytes), with transaction bytes and faults |
//! | [`mod@reduce`] | the eight reductions with their special values |
//! | [`descriptor`] | the simulator's own 128 bytes of a tensor map, and `tensormap.replace` on them |
//! | [`formula`] | every mode once more, element by element, for tests and for comparisons of devices |
//! | [`flat`] | a flat piece of memory, for replays and tests |
//!
//! Behaviour is what an H200 was recorded to do; where the records say nothing, what the PTX text says; where that says
//! nothing either, the place in the code states what is assumed. A copy calls `Bytes` exactly where the hardware touches
//! memory, so an implementation that records addresses sees every byte that a copy read or wrote, and none besides.
pub mod copy;
pub mod descriptor;
pub mod flat;
pub mod formula;
pub mod geometry;
pub mod image;
pub mod reduce;
#[cfg(test)]
mod tests;

pub use copy::{load, reduce, store};
pub use descriptor::{DESCRIPTOR_BYTES, Field, decode, encode, replace};
pub use geometry::LoadMode;
pub use girih_core::target::{ReduceOp, StoreMode};

use crate::memory::{Fault, FaultKind};

/// The fault of a copy that the copy engine refuses to execute.
fn illegal(message: String) -> Fault {
    Fault::new(FaultKind::IllegalInstruction, message)
}
