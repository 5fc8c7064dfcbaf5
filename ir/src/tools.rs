//! The mains of `<dialect>-opt` and of a language server, for girih's own and for any crate with its own dialects.
use crate::raw::{self, sr};
use melior::dialect::DialectRegistry;
use mlir_sys::MlirStringRef;
use std::{
    ffi::{CString, c_char},
    process::ExitCode,
};

fn with_argv(run: impl FnOnce(i32, *mut *mut c_char) -> i32) -> ExitCode {
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
    match run(argc, argv.as_mut_ptr()) {
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
    let code =
        with_argv(|argc, argv| unsafe { raw::girih_opt_main(argc, argv, sr(tool), registry.to_raw(), check_source) });
    if std::env::args_os().any(|a| a.to_string_lossy().trim_start_matches('-') == "mlir-pass-statistics") {
        for (pass, name, n) in crate::pass::statistics() {
            eprintln!("{pass}\n  (S) {n} {name}");
        }
    }
    code
}

/// `mlir-lsp-server` over `registry`: speaks the language server protocol on standard input and output.
pub fn lsp_main(registry: &DialectRegistry) -> ExitCode {
    with_argv(|argc, argv| unsafe { raw::girih_lsp_main(argc, argv, registry.to_raw()) })
}
