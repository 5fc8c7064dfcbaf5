//! The dialect's ops, by family.
pub mod bulk;
pub mod index;
pub mod kernel;
mod kernel_rules;
pub mod mbarrier;
pub mod memory;
pub mod part;
pub mod reduce;
pub mod shape;
pub mod sync;
pub mod tensormap_device;
pub mod tma;
pub mod tma_apply;
pub mod tma_apply_rules;
pub mod tma_modes;
pub mod tma_rules;
pub mod value;
pub mod wgmma;
