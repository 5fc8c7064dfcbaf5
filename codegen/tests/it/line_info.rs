//! `--lineinfo`: positions of the source in the PTX.
use crate::support::{INCREMENT, context, first, hopper};
use girih_codegen::{CompileOptions, compile, ptxas::Ptxas};
use melior::ir::Module;

/// The module with every location as a file would give it: `Module::parse` takes no name, so locations are written out.
fn with_locations(file: &str) -> String {
    let mut text = String::new();
    for (number, line) in INCREMENT.lines().enumerate() {
        let operation =
            line.contains('=') && line.contains('%') && !line.contains("attributes") && !line.contains("func");
        text += line;
        if operation || line.contains("llvm.store") {
            text += &format!(" loc(\"{file}\":{number}:5)");
        }
        text.push('\n');
    }
    // Locations of the function and of the module around it.
    let text = text
        .trim_end()
        .strip_suffix("}\n}")
        .map(str::to_owned)
        .expect("the kernel ends the text");
    format!("{text}}} loc(\"{file}\":2:3)\n}} loc(\"{file}\":1:1)\n")
}

#[test]
fn loc_points_back_to_the_source_by_the_name_it_was_given() {
    let context = context();
    let module = Module::parse(&context, &with_locations("dir/increment.mlir")).unwrap();
    let text = compile(
        first(&module),
        None,
        &CompileOptions {
            line_info: true,
            ..hopper()
        },
    )
    .unwrap()
    .text;
    assert!(text.contains(".file\t1 \"dir/increment.mlir\""), "{text}");
    let add = INCREMENT.lines().position(|line| line.contains("llvm.fadd")).unwrap();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let at = lines
        .iter()
        .position(|line| line.starts_with("add.rn.f32"))
        .expect("the addition is in the PTX");
    let loc = lines[..at]
        .iter()
        .rfind(|line| line.starts_with(".loc"))
        .expect("a position governs the addition");
    assert!(loc.starts_with(&format!(".loc\t1 {add} 5")), "{loc}");
    for section in [".debug_info", ".debug_line", ".debug_abbrev"] {
        assert!(!text.contains(section), "no DWARF is wanted:\n{text}");
    }
}

#[test]
fn the_source_is_left_as_it_was() {
    let context = context();
    let module = Module::parse(&context, &with_locations("increment.mlir")).unwrap();
    let before = module.as_operation().to_string();
    compile(
        first(&module),
        None,
        &CompileOptions {
            line_info: true,
            ..hopper()
        },
    )
    .unwrap();
    assert_eq!(module.as_operation().to_string(), before);
}

#[test]
fn inlined_functions_keep_their_positions_and_assemble() {
    let context = context();
    let source = r#"
gpu.module @kernels {
  llvm.func internal @square(%x: f32) -> f32 {
    %y = llvm.fmul %x, %x : f32 loc("lib.mlir":4:7)
    llvm.return %y : f32 loc("lib.mlir":5:7)
  } loc("lib.mlir":3:3)
  llvm.func @squares(%data: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %old = llvm.load %data : !llvm.ptr<1> -> f32 loc("main.mlir":10:5)
    %new = llvm.call @square(%old) : (f32) -> f32 loc("main.mlir":11:5)
    llvm.store %new, %data : f32, !llvm.ptr<1> loc("main.mlir":12:5)
    llvm.return loc("main.mlir":13:5)
  } loc("main.mlir":9:3)
} loc("main.mlir":1:1)
"#;
    let module = Module::parse(&context, source).unwrap();
    let text = compile(
        first(&module),
        None,
        &CompileOptions {
            line_info: true,
            ..hopper()
        },
    )
    .unwrap()
    .text;
    assert!(!text.contains("call"), "the function is inlined:\n{text}");
    let multiplication = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("mul.rn.f32"));
    let loc = multiplication
        .filter(|line| line.starts_with(".loc"))
        .last()
        .expect("a position governs it");
    let file = loc.split_whitespace().nth(1).unwrap();
    assert!(text.contains(&format!(".file\t{file} \"lib.mlir\"")), "{loc}\n{text}");
    assert!(loc.contains(&format!("{file} 4 7")), "{loc}");
    Ptxas::find(None)
        .expect("`cargo xtask setup` fetches ptxas")
        .assemble(&text, "sm_90a")
        .unwrap();
}
