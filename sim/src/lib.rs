//! A simulator of the PTX machine: it runs the very PTX text that a GPU would get, thread by thread, over physical bytes.
pub mod collective;
pub mod corpus;
pub mod decode;
pub mod device;
pub mod exec;
pub mod isa;
pub mod mbarrier;
pub mod memory;
pub mod number;
pub mod ptx;
pub mod replay;
pub mod tensor_core;
pub mod texture;
pub mod tma;
pub mod transfer;

pub use device::Simulator;
