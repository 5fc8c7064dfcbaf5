//! A simulator of the PTX machine: it runs the very PTX text that a GPU would get, thread by thread, over physical bytes.
//!
//! [`Simulator`] is a [`Device`](girih_core::device::Device) of target `sm_90a`. What it does in order:
//!
//! | module | what it does |
//! |---|---|
//! | [`ptx`] | text to a tree, by a grammar; errors with line, column and caret |
//! | [`decode`] | tree to [`isa::Program`], once: addresses, register slots, branch targets; what is not simulated is refused here, by name |
//! | [`exec`] | clusters, blocks and warps with a program counter for each thread; barriers, memory, asynchronous copies |
//! | [`memory`] | global memory: allocations between walls, shared by blocks that run in parallel |
//! | [`number`] | formats, rounding and the approximate functions, as the hardware computes them |
//! | [`tensor_core`], [`tma`], [`mbarrier`] | matrix products, tensor copies and barrier objects, as pure functions over bytes |
//! | [`check`] | what a program does wrong though its results may be right |
//! | [`profile`] | what a launch costs: bank conflicts, instructions, traffic, occupancy |
//! | [`replay`], [`corpus`] | recorded transfers and recorded kernels of an H200, held against the above |
//!
//! Numbers come out bit for bit as on an H200, special values included, but for approximate instructions, which are within
//! their documented error. Asynchronous copies happen as late as PTX allows, so a missing wait shows every time. A launch
//! fails with the driver's name for the fault, the lines of the PTX and of the program it was made from, block and thread; a
//! deadlock says who waits for what, how far that is, and who is missing. Not simulated: caches, timing, and what weak memory
//! order may do to a program; [`check`] finds the programs that leave it a choice.
pub mod check;
pub mod collective;
pub mod corpus;
pub mod decode;
pub mod device;
pub mod exec;
pub mod isa;
pub mod mbarrier;
pub mod memory;
pub mod number;
pub mod operands;
pub mod profile;
pub mod progress;
pub mod ptx;
pub mod ranges;
pub mod replay;
pub mod tensor_core;
pub mod texture;
pub mod tma;
pub mod transfer;

pub use device::Simulator;
