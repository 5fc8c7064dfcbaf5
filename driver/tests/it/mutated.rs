//! The compiler's own kernels among those that the mutation test of `girih-diff` makes wrong: as the compiler writes them now.
use girih::compile::{Options, compile};
use std::{fs, path::Path};

#[test]
fn kernels_of_the_mutation_test_are_what_the_compiler_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["vector_add", "tma_copy", "gemm_explicit"] {
        let source = fs::read(root.join(format!("examples/{name}.mlir"))).expect("an example");
        let compiled = compile(&source, &format!("{name}.mlir"), &Options::default());
        let compiled = compiled.unwrap_or_else(|failure| panic!("{failure}")).content;
        let file = root.join(format!("diff/tests/mutants/kernels/{name}.ptx"));
        if std::env::var_os("GIRIH_BLESS").is_some() {
            fs::write(&file, &compiled).expect("the kernel can be written");
        }
        let kept = fs::read(&file).expect("the kernel is kept");
        assert!(
            kept == compiled,
            "{name}: the compiler writes another text; run `cargo xtask bless` and read the diff"
        );
    }
}
