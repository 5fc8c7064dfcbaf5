//! A simulator of the PTX machine: it runs the very PTX text that a GPU would get, thread by thread, over physical bytes.
pub mod mbarrier;
pub mod memory;
pub mod number;
pub mod ptx;
pub mod replay;
pub mod tensor_core;
pub mod tma;
