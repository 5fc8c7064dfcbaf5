//! A panic in each kind of callback becomes a located error, what was under way fails, and the context stays usable.
use crate::{
    boom::{BOOM, CANON},
    support::{attempt, context_of, texts},
};
use girih_ir::{
    conversion::{Conversion, Converted, TypeConverter},
    pass::{self, RunOptions},
    prelude::*,
    rewrite::{PatternSet, apply_greedily},
};
use pretty_assertions::assert_eq;

/// A context in which things go wrong.
fn context() -> Context {
    context_of(&[
        &BOOM,
        &crate::demo::DEMO,
        &crate::flow::FLOW,
        &crate::conversion::PAIR,
        &crate::traits::TRAITS,
    ])
}

/// What the callback's panic says, of something that must fail. The context must stay usable.
#[track_caller]
fn fails<F>(source: &str, then: F) -> Vec<String>
where
    F: for<'c> FnOnce(OperationRef<'c, 'c>) -> Res,
{
    let c = context();
    let found = match attempt(&c, source, then) {
        Ok(text) => panic!("expected a failure, found\n{text}"),
        Err(m) => texts(&m),
    };
    let fine = attempt(&c, "func.func private @still_here()", |m| {
        pass::run_pipeline(m, "func.func(show-options)", RunOptions::default())
    });
    assert!(fine.is_ok(), "{fine:?}");
    found
}
#[track_caller]
fn fails_in(source: &str, pipeline: &str) -> Vec<String> {
    fails(source, |m| pass::run_pipeline(m, pipeline, RunOptions::default()))
}

#[test]
fn in_op_verifiers() {
    for (place, what) in [
        ("verify", "verifier"),
        ("verify_regions", "region verifier"),
        ("verify_symbol_uses", "symbol verifier"),
        ("successor_regions", "region successors"),
    ] {
        let found = fails(&format!("\n  \"boom.op\"() <{{at = \"{place}\"}}> : () -> ()"), |_| {
            Ok(())
        });
        assert_eq!(
            found[0],
            format!("dir/t.mlir:2:3: error: internal error: panic in {what}: boom"),
            "{place}"
        );
    }
}

#[test]
fn in_control_flow_hooks() {
    let source = |op: &str, end: &str| {
        format!(
            "%0 = arith.constant 0 : index\n%1 = \"boom.op\"(%0) <{{at = \"{op}\"}}> ({{\n^bb0(%i: index):\n  \
             \"boom.end\"(%i) <{{at = \"{end}\"}}> : (index) -> ()\n}}) : (index) -> index"
        )
    };
    assert!(
        attempt(&context(), &source("", ""), |_| Ok(())).is_ok(),
        "without panics it verifies"
    );
    for (op, end, place, what) in [
        ("entry_operands", "", "2:6", "entry operands: boom"),
        (
            "no such operand",
            "",
            "2:6",
            "entry operands: operands 3..7 are to be passed on; the op has 1",
        ),
        (
            "no such region",
            "",
            "2:6",
            "region successors: the op has no region #8 to go to",
        ),
        ("", "terminator_operands", "4:3", "terminator operands: boom"),
    ] {
        let found = fails(&source(op, end), |_| Ok(()));
        assert_eq!(
            found[0],
            format!("dir/t.mlir:{place}: error: internal error: panic in {what}")
        );
    }
}

#[test]
fn in_parsers() {
    for (source, message) in [
        ("\n boom.parse", "2:2: error: internal error: panic in parser: boom"),
        (
            "boom.parse list(1)",
            "1:17: error: custom op 'boom.parse' internal error: panic in list parser: boom in a list",
        ),
        ("%0 = boom.infer", "1:6: error: internal error: panic in parser: boom"),
        (
            "func.func private @f(!boom.type*)",
            "1:33: error: internal error: panic in parameter parser: boom",
        ),
        (
            "func.func private @f(!boom.type<\"verify\">)",
            "1:32: error: internal error: panic in parameter verifier: boom",
        ),
        (
            "func.func private @f(tensor<2xf32, #boom.encoding>)",
            "1:50: error: internal error: panic in encoding verifier: boom",
        ),
        (
            "\n module attributes {boom.x} {}",
            "2:2: error: internal error: panic in attribute verifier: boom",
        ),
    ] {
        let found = fails(source, |_| Ok(()));
        assert!(found.contains(&format!("dir/t.mlir:{message}")), "{source}: {found:?}");
    }
}

#[test]
fn in_printers() {
    let c = context();
    for (source, what) in [
        (
            "\n boom.print",
            "t.mlir:2:2: error: internal error: panic in printer: boom",
        ),
        (
            "\n \"boom.op\"() <{at = \"result_names\"}> : () -> ()",
            "t.mlir:2:2: error: internal error: panic in result names: boom",
        ),
        (
            "\n \"boom.op\"() <{at = \"block_argument_names\"}> ({}) : () -> ()",
            "t.mlir:2:2: error: internal error: panic in block argument names: boom",
        ),
        (
            "func.func private @f(!boom.type<\"print\">)",
            "error: internal error: panic in parameter printer: boom",
        ),
    ] {
        let m = girih_ir::module::parse(&c, source.as_bytes(), "t.mlir").expect("it parses");
        let (text, found) = girih_ir::module::collect_diagnostics(&c, || m.as_operation().to_string());
        assert_eq!(texts(&found).first().map(String::as_str), Some(what), "{text}");
    }
}

#[test]
fn in_folders_and_effects() {
    for (place, what) in [
        ("fold", "folder: boom"),
        ("fold count", "folder: the folder gave 7 results; the op has 1"),
        ("effects", "memory effects: boom"),
        (
            "effect of nothing",
            "memory effects: an effect on operand #9; the op has 1",
        ),
    ] {
        // What is used is folded; what is not is asked for its effects.
        let user = if place.starts_with("fold") {
            "  \"traits.plain\"(%0) : (index) -> ()\n"
        } else {
            ""
        };
        let source = format!(
            "func.func @f(%i: index) {{\n  %0 = \"boom.op\"(%i) <{{at = \"{place}\"}}> : (index) -> index\n{user}  return\n}}"
        );
        let found = fails_in(&source, "func.func(canonicalize)");
        assert_eq!(
            found[0],
            format!("dir/t.mlir:2:8: error: internal error: panic in {what}")
        );
    }
}

#[test]
fn in_constant_materialisation() {
    let source = |v: i32| format!("func.func @f() -> index {{\n  %0 = boom.fold_to {v}\n  return %0 : index\n}}");
    let found = fails_in(&source(1), "canonicalize");
    assert!(
        found[0].ends_with("error: internal error: panic in constant materialisation: boom"),
        "{found:?}"
    );
    let found = fails_in(&source(2), "canonicalize");
    assert!(
        found[0].ends_with("panic in constant materialisation: 'demo.split' does not have one result of type index"),
        "{found:?}"
    );
}

#[test]
fn in_loop_hooks() {
    for place in ["speculatability", "loop_regions"] {
        let what = place.replace('_', " ");
        let source = format!(
            "func.func @f(%i: index) {{\n  scf.for %k = %i to %i step %i {{\n    \"boom.op\"() <{{at = \"{place}\"}}> ({{\n      \
             \"boom.end\"() : () -> ()\n    }}) : () -> ()\n  }}\n  return\n}}"
        );
        let found = fails_in(&source, "func.func(loop-invariant-code-motion)");
        assert_eq!(
            found[0],
            format!("dir/t.mlir:3:5: error: internal error: panic in {what}: boom")
        );
    }
}

#[test]
fn in_canonicalisation_and_defaults() {
    let c = context_of(&[&CANON]);
    let found = attempt(&c, "", |m| pass::run_pipeline(m, "canonicalize", RunOptions::default()));
    assert_eq!(
        texts(&found.expect_err("it cannot start")),
        ["dir/t.mlir: error: internal error: panic in canonicalisation patterns of 'canon.op': boom"]
    );
    let (_, found) = girih_ir::module::collect_diagnostics(&c, || {
        girih_ir::module::parse(&c, b"\"canon.defaulted\"() : () -> ()", "t.mlir").map(|_| ())
    });
    assert_eq!(
        texts(&found)[0],
        "error: internal error: panic in default attributes of 'canon.defaulted': boom"
    );
}

#[test]
fn in_layouts() {
    for (place, what) in [
        ("layout", "boom"),
        ("alignment", "alignment 3 of 'type' is no power of two"),
    ] {
        let source =
            format!("func.func @f() {{\n  %0 = memref.alloc() : memref<!boom.type<\"{place}\">>\n  return\n}}");
        let found = fails_in(&source, "func.func(promote-buffers-to-stack)");
        assert!(
            found[0].ends_with(&format!("error: internal error: panic in type layout: {what}")),
            "{found:?}"
        );
    }
}

#[test]
fn in_the_inliner() {
    let source = "flow.func @g () -> () visibility \"private\" {
      \"boom.op\"() <{at = \"legal_to_inline\"}> : () -> ()
      flow.return
    }
    flow.func @f () -> () {
      flow.call @g() : () -> ()
      flow.return
    }";
    let found = fails_in(source, "inline");
    assert_eq!(
        found[0],
        "dir/t.mlir:2:7: error: internal error: panic in inliner interface: boom"
    );
}

const TAKE: &str = "func.func @f() {
  %p = \"traits.plain\"() : () -> !pair.of<i32, f32>
  %i, %x = pair.take %p : (!pair.of<i32, f32>) -> (i32, f32)
  return
}";

#[test]
fn in_rewrite_patterns() {
    let found = fails(TAKE, |m| {
        let mut patterns = PatternSet::new(m.ctx());
        patterns.add("traits.plain", 1, |_, _| panic!("boom"));
        apply_greedily(m, patterns)
    });
    assert_eq!(
        found,
        ["dir/t.mlir:2:8: error: internal error: panic in rewrite pattern: boom"]
    );
}

#[test]
fn in_conversion_patterns_types_materialisations_and_legality() {
    let convert = |m: OperationRef<'_, '_>, types: TypeConverter, pattern: fn(), legal: fn()| {
        let m = unsafe { OperationRef::from_raw(m.to_raw()) };
        let mut conversion = Conversion::new(m.ctx(), types);
        conversion
            .dynamic_op("pair.take", move |_| {
                legal();
                Some(false)
            })
            .pattern("pair.take", 1, move |op, operands, rw| {
                pattern();
                rw.replace(op, operands.get(0));
                Ok(())
            });
        conversion.apply_partially(m)
    };
    let boom: fn() = || panic!("boom");
    let fine: fn() = || {};
    let parts = || {
        let types = TypeConverter::new();
        types.add(|t| match crate::conversion::PairType::of(t) {
            Some(p) => Converted::To(vec![p.first(), p.second()]),
            None => Converted::NotMine,
        });
        types
    };
    let found = fails(TAKE, |m| convert(m, parts(), boom, fine));
    assert_eq!(
        found[0],
        "dir/t.mlir:3:12: error: internal error: panic in conversion pattern: boom"
    );
    let found = fails(TAKE, |m| convert(m, parts(), fine, boom));
    assert_eq!(
        found[0],
        "dir/t.mlir:3:12: error: internal error: panic in legality check: boom"
    );
    let found = fails(TAKE, |m| {
        let types = TypeConverter::new();
        types.add(|_| panic!("boom"));
        convert(m, types, fine, fine)
    });
    // A type has no place of its own: it is that of the op on which the conversion runs.
    assert_eq!(
        found[0],
        "dir/t.mlir: error: internal error: panic in type conversion: boom"
    );
    let found = fails(
        &TAKE.replace("return", "\"traits.plain\"(%i, %x) : (i32, f32) -> ()\n  return"),
        |m| {
            let types = parts();
            types.add_target_materialization(|_, _, _, _| panic!("boom"));
            convert(m, types, fine, fine)
        },
    );
    assert!(
        found[0].ends_with("error: internal error: panic in materialisation: boom"),
        "{found:?}"
    );
    assert!(found[0].starts_with("dir/t.mlir:"), "{found:?}");
}

#[test]
fn in_passes() {
    let source = "func.func private @f()\nfunc.func private @g()";
    let found = fails_in(source, "func.func(boom)");
    assert_eq!(
        found,
        [
            "dir/t.mlir:1:1: error: internal error: panic in pass 'boom': no message",
            "dir/t.mlir:2:1: error: internal error: panic in pass 'boom': no message"
        ]
    );
    let found = fails_in("", "boom{in=analysis}");
    assert_eq!(
        found,
        [
            "dir/t.mlir: error: internal error: panic in analysis: boom",
            "dir/t.mlir: error: internal error: panic in pass 'boom': the analysis it::boom::BoomAnalysis could not be computed",
        ]
    );
    let found = fails_in("", "boom-early");
    assert_eq!(
        found,
        ["dir/t.mlir: error: internal error: panic in initialisation of pass 'boom-early': boom"]
    );
    let found = fails_in("", "boom-pipeline");
    assert!(
        found[0].starts_with("dir/t.mlir: error: bad pass pipeline: ")
            && found[0].contains("internal error: panic while expanding the pipeline: boom"),
        "{found:?}"
    );
}
