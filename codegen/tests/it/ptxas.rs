//! ptxas: machine code, resources, and its messages.
use crate::support::{INCREMENT, context, first, gemm, hopper};
use girih_codegen::{CompileOptions, Error, OptLevel, compile, ptxas::Ptxas};
use melior::ir::Module;
use std::path::Path;

#[test]
fn a_missing_ptxas_says_where_it_was_looked_for() {
    let error = Ptxas::find(Some(Path::new("no/such/ptxas"))).unwrap_err();
    assert!(matches!(error, Error::NoPtxas { .. }));
    assert!(
        error
            .to_string()
            .starts_with("no ptxas found: looked at `no/such/ptxas`. Name one with"),
        "{error}"
    );
}

/// The rest needs the real ptxas; set-up fetches it.
fn ptxas() -> Ptxas {
    Ptxas::find(None).expect("`cargo xtask setup` fetches ptxas")
}

#[test]
fn assembles_and_reports_resources() {
    let context = context();
    let module = Module::parse(&context, INCREMENT).unwrap();
    let compiled = compile(first(&module), None, &hopper()).unwrap();
    assert!(ptxas().version().unwrap().contains(", V"), "{:?}", ptxas().version());
    let cubin = ptxas().assemble(&compiled.text, "sm_90a").unwrap();
    assert!(cubin.bytes.starts_with(b"\x7fELF"));
    let [kernel] = cubin.report.kernels.as_slice() else {
        panic!("{:?}", cubin.report)
    };
    assert_eq!(kernel.name, "increment");
    assert!((4..=32).contains(&kernel.registers), "{kernel:?}");
    assert_eq!((kernel.spill_store_bytes, kernel.spill_load_bytes), (0, 0));
    assert_eq!(cubin.report.warnings, Vec::<String>::new());
}

#[test]
fn errors_quote_the_line() {
    let error = ptxas()
        .assemble(
            ".version 8.6\n.target sm_90a\n.entry k() { nonsense.b32 %r1; }\n",
            "sm_90a",
        )
        .unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("ptxas refused the PTX for sm_90a:\n"), "{text}");
    assert!(
        text.contains("PTX line 3: `.entry k() { nonsense.b32 %r1; }`"),
        "{text}"
    );
}

#[test]
fn an_ignored_register_budget_is_a_warning() {
    // setmaxnreg without .minnctapersm: ptxas ignores it and calls that information (C7508).
    let ptx = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n.maxntid 128, 1, 1\n\
               {\nsetmaxnreg.dec.sync.aligned.u32 24;\nret;\n}\n";
    let cubin = ptxas().assemble(ptx, "sm_90a").unwrap();
    let advisories: Vec<_> = cubin.report.advisories().collect();
    assert!(
        matches!(advisories.as_slice(), [words] if words.contains("setmaxnreg")),
        "{:?}",
        cubin.report
    );
}

#[test]
fn accumulators_stay_in_registers_and_in_flight() {
    let context = context();
    let module = gemm(&context);
    for opt_level in [OptLevel::O1, OptLevel::O2, OptLevel::O3] {
        let options = CompileOptions { opt_level, ..hopper() };
        let compiled = compile(first(&module), None, &options).unwrap();
        let report = ptxas().assemble(&compiled.text, "sm_90a").unwrap().report;
        assert_eq!(report.warnings, Vec::<String>::new(), "{opt_level:?}");
        let [kernel] = report.kernels.as_slice() else {
            panic!("{report:?}")
        };
        assert_eq!(
            (kernel.spill_store_bytes, kernel.spill_load_bytes),
            (0, 0),
            "{opt_level:?}"
        );
        assert!(
            kernel.registers <= 168,
            "288 threads have 168 registers each: {opt_level:?} {kernel:?}"
        );
    }
}
