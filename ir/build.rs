//! Compiles the generic C++ shim with clang, the compiler that Debian's LLVM was built with: MLIR's implicit TypeIDs are
//! keyed by the compiler's spelling of type names, so another compiler would make traits silently unequal.
fn main() {
    let prefix = std::env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    cc::Build::new()
        .cpp(true)
        .compiler("clang++-22")
        .std("c++17")
        .include(format!("{prefix}/include"))
        .flag("-fno-exceptions")
        .flag("-Wno-unused-parameter")
        .flag("-Wno-deprecated-declarations")
        .define("NDEBUG", None)
        .opt_level(1)
        .files(
            [
                "op",
                "interfaces",
                "dialect",
                "asm",
                "rewrite",
                "pass",
                "minimal",
                "tools",
            ]
            .map(|f| format!("shim/{f}.cpp")),
        )
        .compile("girih_ir_shim");
}
