//! Programs are linked at a fixed address: MLIR and LLVM have so many tables of addresses that filling them in takes longer at
//! every start than a small kernel takes to compile.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
