//! Ops: their textual form, properties and verification, and what goes through the generic form and bytecode.
use crate::{
    demo::{Add, Constant, Load, Many, Split},
    support::{errors, parsed, processed, round_trips, run},
};
use girih_ir::{module, prelude::*, rewrite::Builder};
use pretty_assertions::assert_eq;

#[test]
fn forms_round_trip_as_text_generic_text_and_bytecode() {
    round_trips(
        r#"module {
  func.func @f(%arg0: memref<?x?xbf16>, %arg1: index, %arg2: i1) -> index {
    %0 = demo.load %arg0[%arg1, %arg1] : memref<?x?xbf16> -> !demo.tile<8x8xbf16>
    %1 = demo.load volatile %arg0[] mask %arg2 : i1 cached true {align = 32 : i64, x} : memref<?x?xbf16> -> !demo.tile<8x8xbf16, swizzle = 128>
    demo.store %0, %arg0 : !demo.tile<8x8xbf16>, memref<?x?xbf16>
    %2 = demo.scope(%arg1) {
    ^bb0(%arg3: index):
      %4 = demo.constant 7
      %sum = demo.add %4, %arg1
      demo.yield %sum : index
    } : (index) -> index
    %3:3 = demo.split %arg1 -> index and index, index
    return %2 : index
  }
  func.func private @g(memref<4x!demo.tile<4x?xf32>, #demo.space>, tensor<4xf32, #demo.space<bank = 3>>)
  demo.named @name {
  }
  demo.use @name
}
"#,
    );
}

#[test]
fn successors_and_operands_of_terminators_round_trip() {
    round_trips(
        r#"module {
  func.func @f(%arg0: i1, %arg1: index) {
    demo.jump ^bb1() {note = "x"}
  ^bb1:  // 3 preds: ^bb0, ^bb1, ^bb2
    demo.jump %arg0, ^bb2 or ^bb1, ^bb2(%arg1, %arg1 : index, index)
  ^bb2:  // 2 preds: ^bb1, ^bb1
    demo.jump ^bb1()
  }
}
"#,
    );
}

#[test]
fn optional_groups_and_variadic_regions_round_trip() {
    let source = r#"module {
  demo.many
  demo.many quiet label = "a b" order 64 sizes [3, 4] head {
  }
  demo.many {x = 1 : i64} {
  } {
    %0 = demo.constant 1
  }
}
"#;
    // An absent region counts, and none is added behind the last.
    let counts = std::sync::Mutex::new(vec![]);
    processed(source, |m| {
        let many = m.nested_ops().into_iter().filter_map(|o| o.cast::<Many>());
        counts
            .lock()
            .expect("not poisoned")
            .extend(many.map(|m| (m.head().entry().is_some(), m.rest().len())));
        Ok(())
    });
    assert_eq!(
        *counts.lock().expect("not poisoned"),
        [(false, 0), (false, 0), (false, 2)]
    );
    assert_eq!(parsed(&parsed(source)), parsed(source));
}

#[test]
fn typed_accessors_give_what_the_source_says() {
    let source = r#"func.func @f(%m: memref<?xf32>, %i: index, %b: i1) {
      %0 = demo.load volatile %m[%i, %i] mask %b : i1 cached false : memref<?xf32> -> !demo.tile<2x2xf32>
      demo.many quiet label = "l" order 128
      %1:2 = demo.split %i -> index and index
      return
    }"#;
    processed(source, |m| {
        let ops = m.nested_ops();
        let load = ops.iter().find_map(|o| o.cast::<Load>()).expect("a load");
        assert_eq!((load.indices().len(), load.mask().is_some()), (2, true));
        assert_eq!((load.volatile(), load.align(), load.cached()), (true, 16, Some(false)));
        let many = ops.iter().find_map(|o| o.cast::<Many>()).expect("a many");
        assert_eq!(
            (many.label().as_deref(), many.quiet(), many.sizes()),
            (Some("l"), true, vec![1, 2])
        );
        assert_eq!(many.order(), crate::demo::Swizzle::B128);
        let split = ops.iter().find_map(|o| o.cast::<Split>()).expect("a split");
        assert_eq!((split.left().len(), split.right().len()), (1, 1));
        Ok(())
    });
}

#[test]
fn builders_make_ops_that_verify() {
    let printed = processed("demo.use @x\ndemo.named @x {}", |m| {
        let c = m.ctx();
        let loc = Location::unknown(c);
        let first = m.region_at(0).entry().and_then(|b| b.first_operation()).expect("an op");
        let at = girih_ir::rewrite::Before(first);
        let index = Type::index(c);
        let seven = at.value(Constant::build(loc, index, 7));
        let sum = at.value(Add::build(loc, index, seven, seven));
        at.insert(Split::build(loc, &[], &[index, index], sum));
        let many = at.insert(Many::build(
            loc,
            Some("l".into()),
            true,
            crate::demo::Swizzle::B64,
            vec![],
            Region::new(),
            vec![],
        ));
        assert_eq!(many.attr("order").map(|a| a.to_string()).as_deref(), Some("\"64\""));
        Ok(())
    });
    let expected = r#"module {
  %0 = demo.constant 7
  %sum = demo.add %0, %0
  %1:2 = demo.split %sum -> and index, index
  demo.many quiet label = "l" order 64 sizes []
  demo.use @x
  demo.named @x {
  }
}
"#;
    assert_eq!(printed, expected);
}

#[test]
fn defaults_are_there_when_read_and_gone_when_printed() {
    let generic = r#""builtin.module"() ({
      "demo.many"() <{sizes = array<i64: 9>}> ({}) : () -> ()
    }) : () -> ()"#;
    let printed = processed(generic, |m| {
        let many = m
            .nested_ops()
            .into_iter()
            .find_map(|o| o.cast::<Many>())
            .expect("a many");
        assert!(many.op().attr("order").is_some(), "the default is an attribute");
        assert_eq!(many.sizes(), [9]);
        Ok(())
    });
    assert_eq!(printed, "module {\n  demo.many sizes [9]\n}\n");
}

#[test]
fn properties_are_checked_in_the_generic_form() {
    assert_eq!(
        parsed("%0 = \"demo.constant\"() <{value = 2}> : () -> index"),
        "module {\n  %0 = demo.constant 2\n}\n"
    );
    assert_eq!(
        errors("%0 = \"demo.constant\"() <{value = 2, colour = 3}> : () -> index"),
        [
            "dir/t.mlir:1:6: error: invalid properties {colour = 3 : i64, value = 2 : i64} for op demo.constant: \
          'demo.constant' has no property 'colour'"
        ]
    );
    assert_eq!(
        errors("%0 = \"demo.constant\"() <{}> : () -> index"),
        ["dir/t.mlir:1:6: error: 'demo.constant' op requires attribute 'value', a 64-bit integer"]
    );
    assert_eq!(
        errors("%0:2 = \"demo.add\"(%0#0, %0#0) <{a = 1}> : (index, index) -> (index, index)"),
        ["dir/t.mlir:1:8: error: invalid properties {a = 1 : i64} for op demo.add: 'demo.add' has no properties"]
    );
    assert_eq!(
        errors("%0 = demo.constant 1 {value = 2}"),
        [
            "dir/t.mlir:1:6: error: custom op 'demo.constant' attribute 'value' occurs more than once in the attribute list"
        ]
    );
}

#[test]
fn every_violation_of_every_op_is_reported_with_its_place() {
    let source = r#"func.func @f(%f: f32, %i: index) {
  "demo.add"(%f) {x} : (f32) -> index
  "demo.load"(%f, %f) <{align = "big", cached = 3 : i8, operandSegmentSizes = array<i32: 1, 1, 0>}> : (f32, f32) -> f32
  "demo.split"(%i) <{resultSegmentSizes = array<i32: 1, 1>}> : (index) -> index
  "demo.scope"(%i) ({}) : (index) -> ()
  return
}
demo.use @nowhere
"#;
    let mut found = errors(source);
    found.sort();
    assert_eq!(
        found,
        [
            "dir/t.mlir:2:3: error: 'demo.add' op expects 2 operands, but has 1",
            "dir/t.mlir:3:3: error: 'demo.load' op attribute 'align' must be a 64-bit integer, but is \"big\"",
            "dir/t.mlir:3:3: error: 'demo.load' op attribute 'cached' must be true or false, but is 3 : i8",
            "dir/t.mlir:3:3: error: 'demo.load' op operand #0 'source' must be a memref, but is f32",
            "dir/t.mlir:3:3: error: 'demo.load' op operand #1 'indices' must be index, but is f32",
            "dir/t.mlir:3:3: error: 'demo.load' op result #0 'result' must be a demo tile, but is f32",
            "dir/t.mlir:4:3: error: 'demo.split' op result count (1) does not match with the total size (2) specified in \
             attribute 'resultSegmentSizes'",
            "dir/t.mlir:5:3: error: 'demo.scope' op region #0 'body' must have exactly one block, but has 0",
        ]
    );
}

#[test]
fn a_hand_written_verifier_points_at_what_it_is_about() {
    let source =
        "func.func @f(%m: memref<2xf16>) {\n  %0 = demo.load %m[] : memref<2xf16> -> !demo.tile<2x2xf32>\n  return\n}";
    assert_eq!(
        errors(source),
        [
            "dir/t.mlir:2:8: error: 'demo.load' op element type f32 of the tile does not match the memory's f16\n\
          dir/t.mlir:1:14: note: memory defined here"
        ]
    );
}

#[test]
fn parse_errors_say_what_was_expected_where() {
    assert_eq!(
        errors("func.func @f(%i: index) {\n  %0 = demo.add %i %i\n  return\n}"),
        ["dir/t.mlir:2:19: error: expected ','"]
    );
    assert_eq!(
        errors("demo.many order 12"),
        ["dir/t.mlir:1:17: error: custom op 'demo.many' expected a swizzle: one of none, 64, 128; found `12`"]
    );
    assert_eq!(
        errors("%0 = demo.nothing"),
        ["dir/t.mlir:1:6: error: custom op 'demo.nothing' is unknown"]
    );
    assert_eq!(
        errors("demo.many label = \"\\FF\""),
        ["dir/t.mlir:1:19: error: custom op 'demo.many' expected a string in UTF-8"]
    );
    assert_eq!(
        errors("\"demo.many\"() <{label = \"\\FF\"}> ({}) : () -> ()"),
        ["dir/t.mlir:1:1: error: 'demo.many' op attribute 'label' must be a string, but is \"\\FF\""]
    );
    assert_eq!(
        errors("func.func @f(%i: index) {\n  %0:2 = demo.split %i, %i -> index and index\n  return\n}"),
        ["dir/t.mlir:2:23: error: expected '->'"]
    );
}

#[test]
fn folding_makes_constants_and_commutes() {
    let source = "func.func @f(%i: index) -> (index, index) {
      %a = demo.constant 2
      %b = demo.constant 3
      %s = demo.add %a, %b
      %t = demo.add %s, %i
      return %s, %t : index, index
    }";
    let expected = "module {
  func.func @f(%arg0: index) -> (index, index) {
    %0 = demo.constant 5
    %sum = demo.add %arg0, %0
    return %0, %sum : index, index
  }
}
";
    assert_eq!(run(source, "func.func(canonicalize)"), expected);
}

#[test]
fn canonicalisation_patterns_run() {
    let source = "func.func @f(%i: index) -> index {
      %z = demo.constant 0
      %s = demo.add %i, %z
      return %s : index
    }";
    assert_eq!(
        run(source, "canonicalize"),
        "module {\n  func.func @f(%arg0: index) -> index {\n    return %arg0 : index\n  }\n}\n"
    );
}

#[test]
fn examples_in_the_documentation_are_data() {
    assert_eq!(Add::DEF.examples(), ["%a = demo.constant 7\n%b = demo.add %a, %a"]);
    assert_eq!(
        parsed(&Add::DEF.examples()[0]),
        "module {\n  %0 = demo.constant 7\n  %sum = demo.add %0, %0\n}\n"
    );
}

#[test]
fn two_contexts_at_once_do_not_mix() {
    let (a, b) = (crate::support::context(), crate::support::context());
    let source = b"%0 = demo.constant 1";
    let in_a = module::parse(&a, source, "a").expect("it parses");
    drop(b);
    let again = crate::support::context();
    let in_b = module::parse(&again, source, "b").expect("it parses");
    assert_eq!(in_a.as_operation().to_string(), in_b.as_operation().to_string());
}
