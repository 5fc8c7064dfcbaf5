//! `mlir-opt` that also knows the dialect `length` and its pass.
fn main() -> std::process::ExitCode {
    girih_ir::tools::opt_main("standalone optimizer", &standalone::registry())
}
