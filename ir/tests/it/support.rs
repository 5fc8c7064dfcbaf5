//! What the tests share: contexts, and running a source through something.
use girih_ir::{dialect::Dialect, melior::dialect::DialectRegistry, module, module::Message, pass, prelude::*};

/// Registers everything that is global to the process; passes too, for MLIR's registry of them is not locked.
pub fn register_all() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        pass::register_all_upstream_passes();
        crate::pass::register_passes();
        crate::boom::register_passes();
    });
}

/// A context with every upstream dialect and some of ours, and MLIR's threads on.
pub fn context_of(dialects: &[&'static Dialect]) -> Context {
    register_all();
    let registry = DialectRegistry::new();
    pass::register_all_upstream_dialects(&registry);
    dialects.iter().for_each(|d| d.register(&registry));
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    girih_ir::diag::plain_diagnostics(&context);
    context
}

/// All dialects of these tests that are sound.
pub fn context() -> Context {
    context_of(&[
        &crate::demo::DEMO,
        &crate::flow::FLOW,
        &crate::traits::TRAITS,
        &crate::conversion::PAIR,
    ])
}

/// Parses, verifies and applies `then`; gives the printed module or the messages.
pub fn attempt<F>(context: &Context, source: &str, then: F) -> Result<String, Vec<Message>>
where
    F: for<'c> FnOnce(OperationRef<'c, 'c>) -> Res,
{
    let (text, messages) = module::collect_diagnostics(context, || {
        let m = module::parse(context, source.as_bytes(), "dir/t.mlir")?;
        let op = unsafe { OperationRef::from_raw(m.as_operation().to_raw()) };
        then(op)?;
        module::verify_all(op)?;
        Ok::<_, Reported>(op.to_string())
    });
    text.map_err(|_| messages)
}

/// The module as printed after parsing.
pub fn parsed(source: &str) -> String {
    processed(source, |_| Ok(()))
}

/// The module as printed after `then`.
#[track_caller]
pub fn processed<F>(source: &str, then: F) -> String
where
    F: for<'c> FnOnce(OperationRef<'c, 'c>) -> Res,
{
    attempt(&context(), source, then).unwrap_or_else(|m| panic!("{}", texts(&m).join("\n")))
}

/// The module as printed after a pipeline.
#[track_caller]
pub fn run(source: &str, pipeline: &str) -> String {
    processed(source, |op| pass::run_pipeline(op, pipeline, Default::default()))
}

/// The messages of a source that must not pass.
#[track_caller]
pub fn errors(source: &str) -> Vec<String> {
    errors_of(source, |_| Ok(()))
}

/// The messages of something that must fail.
#[track_caller]
pub fn errors_of<F>(source: &str, then: F) -> Vec<String>
where
    F: for<'c> FnOnce(OperationRef<'c, 'c>) -> Res,
{
    match attempt(&context(), source, then) {
        Ok(text) => panic!("expected errors, found\n{text}"),
        Err(m) => texts(&m),
    }
}

pub fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(Message::to_string).collect()
}

/// `source` must be what it prints as, and what it prints as after going through the generic form and bytecode.
#[track_caller]
pub fn round_trips(source: &str) {
    let context = context();
    let printed = attempt(&context, source, |_| Ok(())).unwrap_or_else(|m| panic!("{}", texts(&m).join("\n")));
    pretty_assertions::assert_eq!(printed, source);
    let m = module::parse(&context, source.as_bytes(), "t.mlir").expect("it was parsed before");
    let flags = melior::ir::operation::OperationPrintingFlags::new().print_generic_operation_form();
    let generic = m.as_operation().to_string_with_flags(flags).expect("it prints");
    let again =
        attempt(&context, &generic, |_| Ok(())).unwrap_or_else(|m| panic!("{}\n{generic}", texts(&m).join("\n")));
    pretty_assertions::assert_eq!(again, source);
    let bytes = bytecode(m.as_operation());
    let m = module::parse(&context, &bytes, "t.mlirbc").expect("bytecode reads back");
    pretty_assertions::assert_eq!(m.as_operation().to_string(), source);
    assert_eq!(bytecode(m.as_operation()), bytes, "bytecode is written the same again");
}

/// The op as bytecode.
pub fn bytecode(op: OperationRef<'_, '_>) -> Vec<u8> {
    extern "C" fn push(s: girih_ir::mlir_sys::MlirStringRef, sink: *mut std::ffi::c_void) {
        let bytes = unsafe { std::slice::from_raw_parts(s.data.cast::<u8>(), s.length) };
        unsafe { (*sink.cast::<Vec<u8>>()).extend_from_slice(bytes) }
    }
    let mut bytes: Vec<u8> = vec![];
    unsafe { girih_ir::mlir_sys::mlirOperationWriteBytecode(op.to_raw(), Some(push), (&raw mut bytes).cast()) };
    bytes
}
