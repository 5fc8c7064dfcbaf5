//! `girih-opt`: `mlir-opt` with every upstream dialect and pass plus girih's.
use std::{ffi::OsString, path::PathBuf, process::ExitCode};

fn main() -> ExitCode {
    girih::bytecode::answer();
    for path in inputs(std::env::args_os().skip(1)) {
        if let Err(failure) = girih::file::check_readable(&path) {
            eprintln!("{failure}");
            return ExitCode::from(failure.exit_code());
        }
    }
    girih_ir::tools::opt_main("girih's optimizer driver", &girih::registry::full())
}

/// The arguments that name inputs: whatever is no option, nor the file that follows `-o`.
fn inputs(args: impl Iterator<Item = OsString>) -> Vec<PathBuf> {
    let mut is_output = false;
    let mut found = Vec::new();
    for arg in args {
        let is_option = arg.as_encoded_bytes().starts_with(b"-");
        if !is_option && !is_output {
            found.push(PathBuf::from(&arg));
        }
        is_output = arg == "-o";
    }
    found
}
