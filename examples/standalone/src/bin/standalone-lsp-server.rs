//! `mlir-lsp-server` that also knows the dialect `length`.
fn main() -> std::process::ExitCode {
    girih_ir::tools::lsp_main(&standalone::registry())
}
