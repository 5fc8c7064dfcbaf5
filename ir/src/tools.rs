//! The mains of `<dialect>-opt` and of a language server, for girih's own and for any crate with its own dialects.
use crate::raw::{self, sr};
use melior::dialect::DialectRegistry;
use mlir_sys::{MlirDialectRegistry, MlirStringRef};
use std::{
    ffi::{CString, c_char},
    process::ExitCode,
};

/// Address space of the stack that a tool runs on; pages count once they are touched.
const STACK_BYTES: usize = 1 << 30;

fn with_argv(run: impl Fn(i32, *mut *mut c_char) -> i32 + Sync) -> ExitCode {
    let mut args: Vec<Vec<u8>> = std::env::args_os()
        .map(|a| {
            CString::new(a.into_encoded_bytes())
                .unwrap_or_default()
                .into_bytes_with_nul()
        })
        .collect();
    let mut argv: Vec<*mut c_char> = args.iter_mut().map(|a| a.as_mut_ptr().cast()).collect();
    let argc = argv.len() as i32;
    argv.push(std::ptr::null_mut());
    let address = argv.as_mut_ptr() as usize;
    let run = || run(argc, address as *mut *mut c_char);
    // MLIR recurses as deep as its input nests, also where no check can stand before it: bytecode, open documents.
    let code = std::thread::scope(|s| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(s, run) {
            Ok(thread) => thread.join().unwrap_or(1),
            Err(_) => run(),
        }
    });
    match code {
        // Drivers of MLIR go on after a callback that failed; what panicked has been reported.
        0 if crate::diag::any_panic() => ExitCode::FAILURE,
        0 => ExitCode::SUCCESS,
        code => ExitCode::from(code.clamp(1, 255) as u8),
    }
}

extern "C" fn check_source(name: MlirStringRef, text: MlirStringRef) -> bool {
    let (name, text) = unsafe { (String::from_utf8_lossy(raw::bytes(name)), raw::bytes(text)) };
    match crate::module::check_source(text) {
        Ok(()) => true,
        Err((line, column, what)) => {
            let name = if name == "-" { "<stdin>" } else { &*name };
            eprintln!("{name}:{line}:{column}: error: {what}");
            false
        }
    }
}

/// MLIR's own options that people want most, as `--help` shows them; `--help-list` has them all.
const COMMON: &[(&str, &str)] = &[
    ("-o FILE", "where to write; standard output otherwise"),
    (
        "--pass-pipeline=TEXT",
        "what to run, such as 'builtin.module(canonicalize,cse)'",
    ),
    (
        "--canonicalize, --cse, ...",
        "any pass of MLIR by its name; --list-passes shows them",
    ),
    ("--emit-bytecode", "write bytecode"),
    ("--mlir-print-op-generic", "write every op in the generic form"),
    ("--mlir-print-debuginfo", "write locations"),
    (
        "--mlir-print-ir-after-all",
        "show the IR after every pass, on standard error",
    ),
    ("--mlir-print-ir-after-change", "show it only where it changed"),
    (
        "--mlir-print-ir-before=PASS",
        "show the IR before one pass; also -after=PASS",
    ),
    ("--mlir-print-ir-tree-dir=DIR", "write it to files there instead"),
    ("--mlir-pass-statistics", "what passes counted"),
    ("--mlir-timing", "how long they took"),
    (
        "--mlir-pass-pipeline-crash-reproducer=FILE",
        "what to run again where a pass fails",
    ),
    (
        "--split-input-file",
        "several inputs in one file, between lines `// -----`",
    ),
    (
        "--verify-diagnostics",
        "hold messages against `// expected-error {{...}}`",
    ),
    ("--allow-unregistered-dialect", "take ops that nobody knows"),
    ("--mlir-disable-threading", "one thread"),
    ("--show-dialects", "which dialects there are"),
];

/// The help of an `-opt` tool: what is defined in Rust, then MLIR's own options that people want most.
fn help(tool: &str, program: &str) -> String {
    use crate::pass::OptionDefault;
    let registered = crate::pass::registered_here();
    let mut text = format!("{tool}\n\nUsage: {program} [options] [FILE.mlir]\n");
    let mut list = |title: &str, rows: &[(String, String)]| {
        if rows.is_empty() {
            return;
        }
        // Names that are longer than most have a line of their own.
        const WIDTH: usize = 32;
        text.push_str(&format!("\n{title}\n"));
        for (name, what) in rows {
            match name.len() < WIDTH {
                true => text.push_str(&format!("  {name:<WIDTH$}{what}\n")),
                false => text.push_str(&format!("  {name}\n  {:<WIDTH$}{what}\n", "")),
            }
        }
    };
    let pipelines = registered.pipelines.iter();
    let pipelines: Vec<_> = pipelines
        .map(|(name, what)| (format!("--{name}"), (*what).to_owned()))
        .collect();
    list("Pipelines:", &pipelines);
    let mut passes = vec![];
    for info in &registered.passes {
        passes.push((format!("--{}", info.argument), info.description.to_owned()));
        for option in info.options {
            let default = match option.default {
                OptionDefault::Str(s) => s.to_owned(),
                OptionDefault::Bool(b) => b.to_string(),
                OptionDefault::Int(i) => i.to_string(),
                OptionDefault::Ints | OptionDefault::Strs => String::new(),
            };
            passes.push((
                format!("    {}={default}", option.name),
                format!("  {}", option.description),
            ));
        }
    }
    list(
        "Passes, which run in the order in which they are given; with options, --PASS=\"NAME=VALUE ...\":",
        &passes,
    );
    let common: Vec<_> = COMMON
        .iter()
        .map(|(name, what)| ((*name).to_owned(), (*what).to_owned()))
        .collect();
    list("From MLIR:", &common);
    text.push_str(
        "\n--help-list shows every option and pass of MLIR and LLVM, --help-hidden also those for their developers.\n",
    );
    text
}

/// `mlir-opt` over `registry`: reads the process's own arguments. `--help` shows the passes that are defined in Rust; MLIR's
/// own thousand lines are `--help-list`.
pub fn opt_main(tool: &str, registry: &DialectRegistry) -> ExitCode {
    let mut args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let program = args.next().unwrap_or_default();
    if args
        .take_while(|arg| arg != "--")
        .any(|arg| matches!(&*arg, "--help" | "-help" | "-h"))
    {
        use std::io::Write;
        let program = program.rsplit('/').next().unwrap_or(&program);
        // A reader that has seen enough is no failure.
        let _ = std::io::stdout().write_all(help(tool, program).as_bytes());
        return ExitCode::SUCCESS;
    }
    let registry = registry.to_raw().ptr as usize;
    let code = with_argv(|argc, argv| unsafe {
        raw::girih_opt_main(
            argc,
            argv,
            sr(tool),
            MlirDialectRegistry { ptr: registry as _ },
            check_source,
        )
    });
    if std::env::args_os().any(|a| a.to_string_lossy().trim_start_matches('-') == "mlir-pass-statistics") {
        for (pass, name, n) in crate::pass::statistics() {
            eprintln!("{pass}\n  (S) {n} {name}");
        }
    }
    code
}

/// `mlir-lsp-server` over `registry`: speaks the language server protocol on standard input and output.
pub fn lsp_main(registry: &DialectRegistry) -> ExitCode {
    let registry = registry.to_raw().ptr as usize;
    with_argv(|argc, argv| unsafe { raw::girih_lsp_main(argc, argv, MlirDialectRegistry { ptr: registry as _ }) })
}
