//! Which dialects and passes a program knows.
use crate::annotation;
use girih_ir::{diag, pass, upstream};
use melior::{Context, dialect::DialectRegistry};

/// All of upstream and all of girih: for `girih-opt` and the language server.
pub fn full() -> DialectRegistry {
    let registry = DialectRegistry::new();
    pass::register_all_upstream_dialects(&registry);
    pass::register_all_upstream_passes();
    ours(&registry);
    registry
}

/// What kernels and their references are made of: for `girih`, which starts faster and is a fraction of the size.
pub fn minimal() -> DialectRegistry {
    let registry = DialectRegistry::new();
    upstream::register_minimal_dialects(&registry);
    upstream::register_minimal_passes();
    ours(&registry);
    registry
}

fn ours(registry: &DialectRegistry) {
    girih_dialects::tile::TILE.register(registry);
    annotation::GIRIH.register(registry);
    girih_passes::register();
}

/// A context over [`minimal`]. One kernel gives MLIR's threads nothing to share, so there are none.
pub fn context() -> Context {
    let context = Context::new();
    context.enable_multi_threading(false);
    context.append_dialect_registry(&minimal());
    diag::plain_diagnostics(&context);
    context
}
