//! Makes a machine with nothing but Rust ready to build and test girih. Idempotent, and quick when all is there.
mod debian;
mod nvidia;

use anyhow::Result;

/// What the build needs: LLVM, MLIR and clang 22 with the libraries that they name.
pub fn for_build() -> Result<()> {
    debian::ensure(debian::BUILD)
}

/// What the tests need beside [`for_build`]: NVIDIA's assembler.
pub fn for_tests() -> Result<()> {
    for_build()?;
    nvidia::ensure()
}

/// As [`for_tests`], but a missing assembler is only said: what wants it must do without.
pub fn for_build_and_ptxas_if_possible() -> Result<()> {
    for_build()?;
    if let Err(error) = nvidia::ensure() {
        println!("ptxas could not be fetched, going on without it: {error:#}");
    }
    Ok(())
}

/// `cargo xtask setup`: all of it, and says what is there.
pub fn everything() -> Result<()> {
    for_tests()?;
    println!(
        "Debian packages   {} of {} present",
        debian::BUILD.len(),
        debian::BUILD.len()
    );
    for tool in nvidia::TOOLS {
        println!("{:<17} {}", tool.name, nvidia::path(tool)?.display());
    }
    let nextest = crate::test::has_nextest();
    println!(
        "cargo-nextest     {}",
        if nextest {
            "present"
        } else {
            "not present; `cargo test` serves instead"
        }
    );
    Ok(())
}
