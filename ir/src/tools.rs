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

/// `mlir-opt` over `registry`: reads the process's own arguments.
pub fn opt_main(tool: &str, registry: &DialectRegistry) -> ExitCode {
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
