//! `girih-opt`: `mlir-opt` with every upstream dialect and pass plus girih's.
use std::process::ExitCode;

fn main() -> ExitCode {
    girih_ir::tools::opt_main("girih's optimizer driver", &girih::registry::full())
}
