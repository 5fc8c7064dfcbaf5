//! Parsing, printing, verifying, folding, canonicalising.
use crate::demo::context;
use girih_ir::{module, pass, prelude::*};
use pretty_assertions::assert_eq;

fn parse_ok(source: &str) -> String {
    let c = context();
    let (m, d) = module::collect_diagnostics(&c, || module::parse(&c, source.as_bytes(), "t.mlir"));
    let m = m.unwrap_or_else(|_| panic!("{d:#?}"));
    m.as_operation().to_string()
}
fn errors(source: &str) -> Vec<String> {
    let c = context();
    let (m, d) = module::collect_diagnostics(&c, || module::parse(&c, source.as_bytes(), "dir/t.mlir"));
    assert!(m.is_err(), "expected errors");
    d.iter().map(|m| m.to_string()).collect()
}
fn run(source: &str, pipeline: &str) -> String {
    let c = context();
    let (m, d) = module::collect_diagnostics(&c, || {
        let m = module::parse(&c, source.as_bytes(), "t.mlir")?;
        pass::run_pipeline(m.as_operation(), pipeline, Default::default())?;
        Ok::<_, Reported>(m)
    });
    let m = m.unwrap_or_else(|_| panic!("{d:#?}"));
    m.as_operation().to_string()
}

#[test]
fn custom_form_round_trips() {
    let source = r#"module {
  func.func @f(%arg0: memref<?x?xbf16>, %arg1: index, %arg2: i1) -> index {
    %0 = demo.load %arg0[%arg1, %arg1] : memref<?x?xbf16> -> !demo.tile<8x8xbf16>
    %1 = demo.load volatile %arg0[] mask %arg2 : i1 cached true {align = 32 : i64, x} : memref<?x?xbf16> -> !demo.tile<8x8xbf16, swizzle = 128>
    demo.store %0, %arg0 : !demo.tile<8x8xbf16>, memref<?x?xbf16>
    %2 = demo.scope(%arg1) {
      %c = demo.constant 7
      %sum = demo.add %c, %arg1
      demo.yield %sum : index
    } : (index) -> index
    %3:3 = demo.split %arg1 -> index and index, index
    return %2 : index
  }
  func.func private @g(memref<4x!demo.tile<4x4xf32>, #demo.space>, tensor<4xf32, #demo.space<bank = 3>>)
  demo.named @name {
  }
  demo.use @name
}
"#;
    let printed = parse_ok(source);
    assert_eq!(
        printed
            .replace("%4 = demo.constant", "%c = demo.constant")
            .replace("%4,", "%c,"),
        source
    );
}
