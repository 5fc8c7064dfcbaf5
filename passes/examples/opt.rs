//! `girih-opt` without the driver, for work on passes.
use girih_ir::{melior::dialect::DialectRegistry, pass, tools};
fn main() -> std::process::ExitCode {
    let registry = DialectRegistry::new();
    pass::register_all_upstream_dialects(&registry);
    pass::register_all_upstream_passes();
    girih_dialects::tile::TILE.register(&registry);
    girih_passes::register();
    tools::opt_main("girih passes", &registry)
}
