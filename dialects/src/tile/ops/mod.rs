//! The dialect's ops, by family.
pub mod index;
pub mod kernel;
mod kernel_rules;
pub mod mbarrier;
pub mod memory;
pub mod sync;
pub mod tma;
pub mod wgmma;
