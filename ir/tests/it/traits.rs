//! Trait identity: upstream's own code must see the traits that a declaration lists.
use crate::support::{context, errors, parsed, run};
use girih_ir::{constraint::ANY, dialect::Dialect, module, op, op::Trait, prelude::*};
use pretty_assertions::assert_eq;

/// One op for each trait, with operands, results and regions as they come.
macro_rules! trait_ops {
    ($($name:ident = $full:literal;)*) => {
        $(op! {
            /// Has one trait.
            pub struct $name = $full {
                operands { values: variadic(ANY) }
                results { results: variadic(ANY) }
                regions { bodies: variadic_any }
                traits [$name]
            }
        })*
        /// The dialect of these ops.
        pub static TRAITS: Dialect = Dialect {
            ops: &[Plain::REGISTRATION, Pure::REGISTRATION, $($name::REGISTRATION),*],
            ..Dialect::new("traits")
        };
        const ALL: &[(&str, Trait)] = &[$(($full, Trait::$name)),*];
    };
}
trait_ops! {
    Terminator = "traits.terminator";
    IsolatedFromAbove = "traits.isolated";
    SingleBlock = "traits.single_block";
    NoTerminator = "traits.no_terminator";
    NoRegionArguments = "traits.no_region_arguments";
    ConstantLike = "traits.constant_like";
    Commutative = "traits.commutative";
    SymbolTable = "traits.symbol_table";
    AffineScope = "traits.affine_scope";
    AutomaticAllocationScope = "traits.allocation_scope";
    RecursiveMemoryEffects = "traits.recursive_effects";
    RecursivelySpeculatable = "traits.recursively_speculatable";
    ReturnLike = "traits.return_like";
    SameOperandsAndResultType = "traits.same_type";
    SameTypeOperands = "traits.same_operands";
    SameOperandsAndResultShape = "traits.same_shape";
    SameOperandsShape = "traits.same_operands_shape";
    SameOperandsElementType = "traits.same_operands_element";
    SameOperandsAndResultElementType = "traits.same_element";
    Idempotent = "traits.idempotent";
    Involution = "traits.involution";
    Elementwise = "traits.elementwise";
    Scalarizable = "traits.scalarizable";
    Vectorizable = "traits.vectorizable";
    Tensorizable = "traits.tensorizable";
}
op! {
    /// Has none.
    pub struct Plain = "traits.plain" {
        operands { values: variadic(ANY) }
        results { results: variadic(ANY) }
        regions { bodies: variadic_any }
    }
}
op! {
    /// Has no effects.
    pub struct Pure = "traits.pure" {
        operands { values: variadic(ANY) }
        results { results: variadic(ANY) }
        effects pure
    }
}

#[test]
fn each_op_has_its_trait_and_no_other() {
    let c = context();
    for (name, own) in ALL {
        let built = melior::ir::operation::OperationBuilder::new(name, Location::unknown(&c)).build();
        let o = built.expect("an op");
        for (_, t) in ALL {
            assert_eq!(o.has_trait(*t), t == own, "{name} and {t:?}");
        }
    }
}

#[test]
fn terminators_end_blocks() {
    let body = |end: &str| format!("\"traits.plain\"() ({{\n  {end}\n}}) : () -> ()");
    parsed(&body("\"traits.terminator\"() : () -> ()"));
    assert_eq!(
        errors(&body("\"traits.pure\"() : () -> ()")),
        ["dir/t.mlir:2:3: error: block with no terminator, has \"traits.pure\"() : () -> ()"]
    );
    assert_eq!(
        errors("func.func @f() {\n  \"traits.terminator\"() : () -> ()\n  return\n}"),
        ["dir/t.mlir:2:3: error: 'traits.terminator' op must be the last operation in the parent block"]
    );
    parsed("\"traits.no_terminator\"() ({\n  \"traits.pure\"() : () -> ()\n}) : () -> ()");
}

#[test]
fn isolation_is_checked() {
    let source = "%0 = \"traits.pure\"() : () -> index
\"traits.isolated\"() ({
  \"traits.terminator\"(%0) : (index) -> ()
}) : () -> ()";
    assert_eq!(
        errors(source),
        [
            "dir/t.mlir:3:3: error: 'traits.terminator' op using value defined outside the region\n\
          dir/t.mlir:2:1: note: required by region isolation constraints"
        ]
    );
    parsed(&source.replace("traits.isolated", "traits.plain"));
}

#[test]
fn block_and_argument_rules_are_checked() {
    let two = "\"traits.single_block\"() ({\n  \"traits.terminator\"() : () -> ()\n^a:\n  \"traits.terminator\"() : () -> ()\n}) : () -> ()";
    assert_eq!(
        errors(two),
        ["dir/t.mlir:1:1: error: 'traits.single_block' op expects region #0 to have 0 or 1 blocks"]
    );
    assert_eq!(
        errors("\"traits.single_block\"() ({\n^a:\n}) : () -> ()"),
        ["dir/t.mlir:1:1: error: 'traits.single_block' op expects a non-empty block in region #0"]
    );
    assert_eq!(
        errors(
            "\"traits.no_region_arguments\"() ({\n^a(%i: index):\n  \"traits.terminator\"() : () -> ()\n}) : () -> ()"
        ),
        ["dir/t.mlir:1:1: error: 'traits.no_region_arguments' op region should have no arguments"]
    );
}

#[test]
fn symbol_tables_refuse_a_name_twice() {
    let named = "func.func private @a()\n";
    let source =
        format!("\"traits.symbol_table\"() ({{\n{named}{named}\"traits.terminator\"() : () -> ()\n}}) : () -> ()");
    assert_eq!(
        errors(&source),
        ["dir/t.mlir:3:1: error: redefinition of symbol named 'a'\n\
          dir/t.mlir:2:1: note: see existing symbol definition here"]
    );
}

#[test]
fn type_rules_are_checked() {
    let with = |name: &str, types: &str| {
        format!(
            "func.func @f(%a: f32, %b: f16, %v: vector<2xf32>, %w: vector<3xf32>) {{\n  \"traits.{name}\"{types}\n  return\n}}"
        )
    };
    let refused = [
        (
            "same_type",
            "(%a) : (f32) -> f16",
            "requires the same type for all operands and results",
        ),
        (
            "same_operands",
            "(%a, %b) : (f32, f16) -> ()",
            "requires all operands to have the same type",
        ),
        (
            "same_shape",
            "(%v) : (vector<2xf32>) -> vector<3xf32>",
            "requires the same shape for all operands and results",
        ),
        (
            "same_operands_shape",
            "(%v, %w) : (vector<2xf32>, vector<3xf32>) -> ()",
            "requires the same shape for all operands",
        ),
        (
            "same_operands_element",
            "(%a, %b) : (f32, f16) -> ()",
            "requires the same element type for all operands",
        ),
        (
            "same_element",
            "(%a) : (f32) -> f16",
            "requires the same element type for all operands and results",
        ),
        (
            "elementwise",
            "(%v) : (vector<2xf32>) -> f32",
            "if an operand is non-scalar, then there must be at least one non-scalar result",
        ),
    ];
    for (name, types, why) in refused {
        assert_eq!(
            errors(&with(name, types)),
            [format!("dir/t.mlir:2:3: error: 'traits.{name}' op {why}")]
        );
        parsed(&with("plain", types));
    }
}

#[test]
fn allocation_scopes_are_found() {
    let source = |name: &str| {
        format!(
            "\"traits.isolated\"() ({{\n\"traits.{name}\"() ({{\n  %0 = memref.alloca() : memref<2xf32>\n  \
             \"traits.terminator\"() : () -> ()\n}}) : () -> ()\n\"traits.terminator\"() : () -> ()\n}}) : () -> ()"
        )
    };
    parsed(&source("allocation_scope"));
    let found = errors(&source("plain"));
    assert!(
        found[0].contains("requires an ancestor op with AutomaticAllocationScope trait"),
        "{found:?}"
    );
}

#[test]
fn affine_symbols_are_found() {
    let source = |name: &str| {
        format!(
            "func.func @f(%m: memref<8xf32>) {{\n\"traits.plain\"() ({{\n\"traits.{name}\"() ({{\n  %i = \"traits.plain\"() : () -> \
             index\n  %0 = affine.load %m[symbol(%i)] : memref<8xf32>\n  \"traits.terminator\"() : () -> ()\n}}) : () -> \
             ()\n\"traits.terminator\"() : () -> ()\n}}) : () -> ()\nreturn\n}}"
        )
    };
    parsed(&source("affine_scope"));
    let found = errors(&source("plain"));
    assert!(found[0].contains("symbol"), "{found:?}");
}

#[test]
fn algebra_folds() {
    let source = "func.func @f(%a: f32) -> (f32, f32) {
      %0 = \"traits.idempotent\"(%a) : (f32) -> f32
      %1 = \"traits.idempotent\"(%0) : (f32) -> f32
      %2 = \"traits.involution\"(%a) : (f32) -> f32
      %3 = \"traits.involution\"(%2) : (f32) -> f32
      return %1, %3 : f32, f32
    }";
    let found = run(source, "canonicalize");
    assert_eq!(found.matches("traits.idempotent").count(), 1, "{found}");
    assert!(found.contains("return %0, %arg0"), "{found}");
}

#[test]
fn a_refused_trait_does_not_hide_the_declaration() {
    // Both what the trait and what the declaration says of one op.
    let source = "func.func @f(%a: f32) {\n  \"demo.yield\"(%a) {sym_name = 1} : (f32) -> index\n  return\n}";
    let found = errors(source);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].contains("must be the last operation"), "{found:?}");
    assert!(found[1].contains("expects 0 results, but has 1"), "{found:?}");
}

#[test]
fn dominance_is_reported_in_every_function() {
    let c = context();
    let f = |name: &str| {
        format!(
            "func.func @{name}() {{\n  %0 = \"traits.pure\"(%1) : (index) -> index\n  %1 = \"traits.pure\"() : () -> index\n  return\n}}\n"
        )
    };
    let source = f("a") + &f("b");
    let (m, found) = module::collect_diagnostics(&c, || module::parse(&c, source.as_bytes(), "t.mlir"));
    assert!(m.is_err());
    let lines: Vec<_> = found.iter().filter_map(|m| m.place.as_ref().map(|p| p.1)).collect();
    assert_eq!(lines, [2, 7], "{found:#?}");
}
