//! girih's passes: one file a pass, whose head shows the IR before and after, what it needs and what it refuses.
//!
//! [`register`] makes them known by name, to `girih-opt` and to [`pipeline`].
pub mod convert_tile_to_nvvm;
pub mod pipeline;

/// Registers every pass and pipeline; once for the process.
pub fn register() {
    use girih_ir::pass::register;
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        register(convert_tile_to_nvvm::ConvertTileToNvvm);
        pipeline::register();
    });
}
