//! Interfaces, as upstream's passes use them.
use crate::support::{bytecode, context_of, errors, parsed, processed, round_trips, run, texts};
use girih_ir::{dialect::Dialect, kind::I64, module, op, op::EffectKind, prelude::*};
use pretty_assertions::assert_eq;

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn declared_effects_decide_what_is_dead_and_what_is_common() {
    let source = "func.func @f(%m: memref<2xf32>, %n: memref<2xf32>) -> (!demo.tile<2x2xf32>, !demo.tile<2x2xf32>) {
      %unused = demo.load %m[] : memref<2xf32> -> !demo.tile<2x2xf32>
      %a = demo.load %m[] : memref<2xf32> -> !demo.tile<2x2xf32>
      %b = demo.load %m[] : memref<2xf32> -> !demo.tile<2x2xf32>
      demo.store %a, %n : !demo.tile<2x2xf32>, memref<2xf32>
      %c = demo.load %m[] : memref<2xf32> -> !demo.tile<2x2xf32>
      return %b, %c : !demo.tile<2x2xf32>, !demo.tile<2x2xf32>
    }";
    let found = run(source, "canonicalize,cse");
    assert_eq!(
        count(&found, "demo.load"),
        2,
        "one before the store and one after:\n{found}"
    );
    assert_eq!(count(&found, "demo.store"), 1);
}

#[test]
fn hand_written_effects_reach_upstream() {
    let source = "func.func @f(%m: memref<2xf32>) {
      flow.touch nothing : () -> ()
      flow.touch read %m : (memref<2xf32>) -> ()
      flow.touch write %m : (memref<2xf32>) -> ()
      %0 = flow.touch allocate : () -> memref<2xf32>
      flow.touch free %0 : (memref<2xf32>) -> ()
      flow.touch anywhere : () -> ()
      return
    }";
    processed(source, |m| {
        let touches = m.nested_ops().into_iter().filter(|o| o.full_name() == "flow.touch");
        let found: Vec<_> = touches
            .map(|o| {
                let effects = o.memory_effects().expect("the op knows its effects");
                effects
                    .into_iter()
                    .map(|(k, v)| (k, v.map(|v| v.defining_op().is_some())))
                    .collect::<Vec<_>>()
            })
            .collect();
        let expected = [
            vec![],
            vec![(EffectKind::Read, Some(false))],
            vec![(EffectKind::Write, Some(false))],
            vec![(EffectKind::Allocate, Some(true))],
            vec![(EffectKind::Free, Some(true))],
            vec![(EffectKind::Write, None)],
        ];
        assert_eq!(found, expected);
        Ok(())
    });
    let left = run(source, "canonicalize");
    assert_eq!(
        (
            count(&left, "nothing"),
            count(&left, "touch read"),
            count(&left, "touch write")
        ),
        (0, 0, 1),
        "{left}"
    );
}

#[test]
fn effects_of_regions_are_those_of_their_ops() {
    let group = |inner: &str| {
        format!("func.func @f(%m: memref<2xf32>) {{\n  %0 = flow.group {{\n    flow.touch {inner}\n  }}\n  return\n}}")
    };
    let read = run(&group("read %m : (memref<2xf32>) -> ()"), "canonicalize");
    let write = run(&group("write %m : (memref<2xf32>) -> ()"), "canonicalize");
    assert_eq!(
        (count(&read, "flow.group"), count(&write, "flow.group")),
        (0, 1),
        "{read}{write}"
    );
}

/// What loop-invariant code motion leaves in a loop around `op`.
fn stays_in_loop(op: &str) -> bool {
    let source = format!(
        "func.func @f(%i: index, %m: memref<2xf32>) {{
      \"flow.loop\"() ({{
        {op}
        \"flow.yield\"(%i) : (index) -> ()
      }}) : () -> ()
      return
    }}"
    );
    let found = run(&source, "func.func(loop-invariant-code-motion)");
    let head = op.trim_start_matches("%0 = ").split(' ').next().expect("a name");
    found.find(head).expect("the op is still there") > found.find("flow.loop").expect("the loop is there")
}

#[test]
fn pure_ops_leave_loops_and_others_stay() {
    assert!(!stays_in_loop("%0 = demo.add %i, %i"));
    assert!(stays_in_loop("flow.touch write %m : (memref<2xf32>) -> ()"));
    assert!(stays_in_loop(
        "%0 = demo.load %m[] : memref<2xf32> -> !demo.tile<2x2xf32>"
    ));
}

#[test]
fn speculation_is_asked_for() {
    assert!(!stays_in_loop("%0 = flow.speculate \"always\" {}"));
    assert!(stays_in_loop("%0 = flow.speculate \"never\" {}"));
    assert!(!stays_in_loop(
        "%0 = flow.speculate \"recursive\" { %1 = demo.add %i, %i }"
    ));
    assert!(!stays_in_loop("%0 = flow.group { %1 = demo.add %i, %i }"));
    assert!(stays_in_loop("%0 = flow.group { %1 = flow.speculate \"never\" {} }"));
}

#[test]
fn loop_values_are_checked_along_every_edge() {
    let source = |inits: &str, tag: &str, results: &str| {
        format!(
            "func.func @f(%i: index, %f: f32) {{
  %0 = \"flow.loop\"({inits}) ({{
  ^bb0(%c: index):
    \"flow.yield\"(%i, {tag}) : (index, {results}) -> ()
  }}) : (index) -> index
  return
}}"
        )
    };
    parsed(&source("%i", "%c", "index"));
    let found = errors(&source("%i", "%f", "f32"));
    assert_eq!(found.len(), 1, "{found:?}");
    let expected = "dir/t.mlir:2:8: error: 'flow.loop' op along control flow edge from Operation flow.yield to Region #0: \
                    successor operand type #0 'f32' should match successor input type #0 'index'";
    assert!(found[0].starts_with(expected), "{found:?}");
}

#[test]
fn constants_go_through_regions_and_calls() {
    let source = "func.func @f(%i: index) -> index {
      %0 = \"flow.switch\"(%i) ({
        %1 = flow.number 4
        \"flow.yield\"(%i, %1) : (index, index) -> ()
      }, {
        %1 = flow.number 4
        \"flow.yield\"(%i, %1) : (index, index) -> ()
      }) : (index) -> index
      return %0 : index
    }";
    let found = run(source, "sccp,canonicalize");
    assert!(
        found.contains("%0 = flow.number 4") && found.contains("return %0"),
        "{found}"
    );
    // Only one of two regions gives 4.
    let found = run(&source.replacen("number 4", "number 5", 1), "sccp,canonicalize");
    assert!(
        found.contains("return %2") && found.contains("%2 = \"flow.switch\""),
        "{found}"
    );

    let called = "flow.func @g (index) -> index visibility \"private\" {
    ^bb0(%a: index):
      flow.return %a : index
    }
    flow.func @f () -> index {
      %0 = flow.number 9
      %1 = flow.call @g(%0) : (index) -> index
      flow.return %1 : index
    }";
    let found = run(called, "sccp");
    assert!(
        found.contains("flow.return %0 : index\n  }\n}"),
        "the call's result is known:\n{found}"
    );
}

#[test]
fn functions_are_inlined_and_found_dead() {
    let source = "flow.func @g (index) -> index visibility \"private\" {
    ^bb0(%a: index):
      %0 = demo.add %a, %a
      flow.return %0 : index
    }
    flow.func @f (index) -> index {
    ^bb0(%a: index):
      %0 = flow.call @g(%a) : (index) -> index
      flow.return %0 : index
    }";
    let expected = "module {
  flow.func @f (index) -> index {
  ^bb0(%arg0: index):
    %sum = demo.add %arg0, %arg0
    flow.return %sum : index
  }
}
";
    assert_eq!(run(source, "inline,symbol-dce"), expected);
    let never = source.replace("demo.add %a, %a", "demo.add %a, %a {never_inline}");
    assert!(
        run(&never, "inline").contains("flow.func @f"),
        "another dialect's attribute says nothing to demo"
    );
    let never = source.replace("(%a) :", "(%a) {never_inline} :");
    assert!(
        run(&never, "inline").contains("flow.call @g"),
        "the dialect refuses to inline the call"
    );
}

#[test]
fn functions_of_several_blocks_are_inlined_by_branches() {
    let source = "flow.func @g (i1, index) -> index visibility \"private\" {
    ^bb0(%c: i1, %a: index):
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      flow.return %a : index
    ^bb2:
      %0 = demo.add %a, %a
      flow.return %0 : index
    }
    flow.func @f (i1, index) -> index {
    ^bb0(%c: i1, %a: index):
      %0 = flow.call @g(%c, %a) : (i1, index) -> index
      flow.return %0 : index
    }";
    let found = run(source, "inline,symbol-dce");
    assert_eq!(
        (count(&found, "flow.call"), count(&found, "flow.return")),
        (0, 1),
        "{found}"
    );
    assert!(found.contains("cf.br ^bb2(%sum : index)"), "{found}");
}

#[test]
fn functions_are_checked() {
    let refused = [
        (
            "flow.func @f index visibility \"private\" {}",
            "op requires 'function_type', a function type",
        ),
        (
            "flow.func @f (index) -> () {\n^bb0(%a: f32):\n  flow.return\n}",
            "op entry block argument #0 has type 'f32', but the function type says 'index'",
        ),
        (
            "flow.func @f (index) -> () {\n  flow.return\n}",
            "op entry block must have at least 1 arguments, as its type says",
        ),
        (
            "flow.func @f () -> () {}",
            "op symbol declaration cannot have public visibility",
        ),
        (
            "flow.func @f (index) -> () visibility \"private\" attributes {arg_attrs = [{}, {}]} {}",
            "op expects argument attribute array to have the same number of elements as the number of function \
             arguments, got 2, but expected 1",
        ),
        (
            "flow.func @f () -> () visibility \"hidden\" {}",
            "op visibility expected to be one of [\"public\", \"private\", \"nested\"]",
        ),
    ];
    for (source, why) in refused {
        let found = errors(source);
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("dir/t.mlir:1:1: error: 'flow.func' {why}")),
            "{found:?}"
        );
    }
    assert_eq!(
        errors("\"traits.plain\"() ({\n  flow.global @g\n  \"traits.terminator\"() : () -> ()\n}) : () -> ()"),
        ["dir/t.mlir:2:3: error: 'flow.global' op symbol's parent must have the SymbolTable trait"]
    );
}

#[test]
fn passes_run_on_functions_of_the_dialect() {
    let source = "flow.func @f () -> index {
      %0 = flow.number 1
      %1 = flow.number 1
      %2 = flow.number 2
      flow.return %1 : index
    }";
    assert_eq!(count(&run(source, "flow.func(canonicalize)"), "flow.number"), 1);
}

#[test]
fn symbols_live_by_their_uses() {
    let source = "flow.global visibility \"private\" @dead
    flow.global visibility \"private\" @used
    flow.global @public
    flow.table {
      flow.global visibility \"private\" @dead_too
    }
    flow.refer @used";
    let found = run(source, "symbol-dce");
    assert_eq!(
        (count(&found, "@dead"), count(&found, "@used"), count(&found, "@public")),
        (0, 2, 1),
        "{found}"
    );
    assert!(run("flow.global @a", "symbol-privatize").contains("visibility \"private\" @a"));
}

#[test]
fn symbol_users_see_what_they_name() {
    let source = "flow.global @g\n  flow.call @g() : () -> ()\nflow.call @h() : () -> ()";
    let found = errors(source);
    assert_eq!(
        found,
        [
            "dir/t.mlir:2:3: error: 'flow.call' op calls '@g', which is a flow.global\ndir/t.mlir:1:1: note: defined here"
        ]
    );
    assert_eq!(
        errors("flow.table {\n  flow.call @h() : () -> ()\n}\nflow.func @h () -> () visibility \"private\" {}"),
        ["dir/t.mlir:2:3: error: 'flow.call' op calls '@h', which is not defined"]
    );
}

#[test]
fn discardable_attributes_of_the_dialect_are_checked_everywhere() {
    parsed("func.func private @f() attributes {flow.note = \"x\"}");
    assert_eq!(
        errors("func.func private @f() attributes {flow.note = 1}\nmodule attributes {flow.colour} {}"),
        [
            "dir/t.mlir:1:1: error: 'func.func' op carries 'flow.note' = 1 : i64; the dialect only knows strings 'flow.note'",
            "dir/t.mlir:2:1: error: 'builtin.module' op carries 'flow.colour' = unit; the dialect only knows strings 'flow.note'",
        ]
    );
}

#[test]
fn names_for_results_and_arguments_are_printed_and_made_unique() {
    round_trips(
        "module {
  func.func @f(%arg0: index) {
    %sum = demo.add %arg0, %arg0
    %sum_0 = demo.add %sum, %sum
    %0 = \"flow.loop\"(%sum_0) ({
    ^bb0(%carried: index):
      \"flow.yield\"(%arg0, %carried) : (index, index) -> ()
    }) : (index) -> index
    return
  }
}
",
    );
}

op! {
    /// As old writers knew it.
    pub struct Old = "twin.op" {
        attributes { kept: required(I64), dropped: default(I64, 3) }
    }
}
op! {
    /// As this reader knows it.
    pub struct New = "twin.op" {
        attributes { kept: required(I64) }
    }
}
static OLD: Dialect = Dialect {
    ops: &[Old::REGISTRATION],
    ..Dialect::new("twin")
};
static NEW: Dialect = Dialect {
    ops: &[New::REGISTRATION],
    ..Dialect::new("twin")
};

#[test]
fn bytecode_with_unknown_properties_is_refused() {
    let writer = context_of(&[&OLD]);
    let m = module::parse(&writer, b"\"twin.op\"() <{kept = 1}> : () -> ()", "a.mlir").expect("it parses");
    let bytes = bytecode(m.as_operation());
    let reader = context_of(&[&NEW]);
    let (m, found) = module::collect_diagnostics(&reader, || module::parse(&reader, &bytes, "a.mlirbc"));
    assert!(m.is_err());
    assert!(
        texts(&found)[0].contains("'twin.op' has no property 'dropped'"),
        "{found:?}"
    );
    let known = module::parse(&writer, &bytes, "a.mlirbc").expect("the writer reads its own");
    assert!(known.as_operation().to_string().contains("dropped = 3"));
}
