//! The dialect `length`: whole numbers of a unit that types keep apart, and their lowering to integers.
pub mod dialect;
pub mod lower;

use girih_ir::{melior::dialect::DialectRegistry, pass};

/// Everything that the programs of this crate know: upstream's dialects and passes, and ours.
pub fn registry() -> DialectRegistry {
    let registry = DialectRegistry::new();
    pass::register_all_upstream_dialects(&registry);
    pass::register_all_upstream_passes();
    dialect::LENGTH.register(&registry);
    pass::register(lower::ConvertLengthToArith);
    registry
}
