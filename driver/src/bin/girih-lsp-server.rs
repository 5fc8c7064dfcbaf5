//! `girih-lsp-server`: MLIR's language server with every upstream dialect plus girih's.
use std::process::ExitCode;

fn main() -> ExitCode {
    girih_ir::tools::lsp_main(&girih::registry::full())
}
