//! A context with the dialect, and reading of modules into text or messages.
use girih_dialects::tile::TILE;
use girih_ir::{
    diag,
    module::{self, Message},
    pass,
    prelude::*,
    upstream,
};
use melior::{
    dialect::DialectRegistry,
    ir::{Module, operation::OperationPrintingFlags},
};
use std::sync::Once;

/// A context with the tile dialect and what kernels are made of, and MLIR's threads on.
pub fn context() -> Context {
    static PASSES: Once = Once::new();
    PASSES.call_once(pass::register_all_upstream_passes);
    let registry = DialectRegistry::new();
    upstream::register_minimal_dialects(&registry);
    TILE.register(&registry);
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    diag::plain_diagnostics(&context);
    context
}

/// Reads a module, or gives what is wrong with it.
pub fn read<'c>(context: &'c Context, source: &[u8]) -> Result<Module<'c>, Vec<Message>> {
    let (module, messages) = module::collect_diagnostics(context, || module::parse(context, source, "t.mlir"));
    module.map_err(|Reported| messages)
}

/// Like [`read`], for sources that are known to be right.
pub fn read_valid<'c>(context: &'c Context, source: &[u8]) -> Module<'c> {
    read(context, source).unwrap_or_else(|messages| {
        let messages: Vec<_> = messages.iter().map(Message::to_string).collect();
        panic!("{}\nin\n{}", messages.join("\n"), String::from_utf8_lossy(source))
    })
}

/// The module in the generic form.
pub fn generic(module: &Module<'_>) -> String {
    let flags = OperationPrintingFlags::new().print_generic_operation_form();
    module.as_operation().to_string_with_flags(flags).expect("UTF-8")
}

/// `lines` as the body of a kernel of 128 threads, in a module for sm_90a.
pub fn in_kernel(lines: &str) -> String {
    in_module(&format!(
        "tile.kernel @test() threads(128) launch {{\n  %c1 = arith.constant 1 : index\n  tile.grid %c1, %c1, %c1\n}} body {{\n{lines}\n}}"
    ))
}
/// `text` in a module for sm_90a.
pub fn in_module(text: &str) -> String {
    format!("module attributes {{tile.target = \"sm_90a\"}} {{\n{text}\n}}\n")
}
