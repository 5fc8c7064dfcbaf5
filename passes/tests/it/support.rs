//! Contexts and runs that the tests share.
use girih_ir::{diag, module, module::Message, pass, prelude::*};
use melior::dialect::DialectRegistry;

/// A context with the dialects of kernels; the passes are registered too.
pub fn context() -> Context {
    let registry = DialectRegistry::new();
    girih_ir::upstream::register_minimal_dialects(&registry);
    girih_ir::upstream::register_minimal_passes();
    girih_dialects::tile::TILE.register(&registry);
    girih_passes::register();
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    diag::plain_diagnostics(&context);
    context
}

/// The module after a pipeline, and what was said; `None` where it failed.
pub fn run(source: &str, pipeline: &str) -> (Option<String>, Vec<Message>) {
    let c = context();
    let (m, said) = module::collect_diagnostics(&c, || {
        let m = module::parse(&c, source.as_bytes(), "t.mlir")?;
        pass::run_pipeline(m.as_operation(), pipeline, Default::default())?;
        Ok::<_, Reported>(m.as_operation().to_string())
    });
    (m.ok(), said)
}

/// The module after a pipeline that succeeds and says nothing.
pub fn run_ok(source: &str, pipeline: &str) -> String {
    match run(source, pipeline) {
        (Some(text), said) if said.is_empty() => text,
        (_, said) => panic!("{said:#?}"),
    }
}

/// What a pipeline says, as `line:column: severity: text`.
pub fn says(source: &str, pipeline: &str) -> Vec<String> {
    let (_, said) = run(source, pipeline);
    said.iter()
        .map(|m| m.to_string().trim_start_matches("t.mlir:").to_owned())
        .collect()
}

/// A kernel with a body, for a target.
pub fn kernel(target: &str, body: &str) -> String {
    format!(
        "module attributes {{tile.target = \"{target}\"}} {{\n\
         tile.kernel @k() threads(128) launch {{\n\
         %c1 = arith.constant 1 : index\n\
         tile.grid %c1, %c1, %c1\n\
         }} body {{\n{body}\n}}\n}}\n"
    )
}
