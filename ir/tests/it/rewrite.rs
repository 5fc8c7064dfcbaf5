//! Rewriting: the greedy driver, and what a rewriter can do.
use crate::{
    demo::{Add, Constant},
    support::{attempt, context, errors_of, processed, texts},
};
use girih_ir::{
    ext::BlockExt,
    prelude::*,
    rewrite::{AtEnd, Builder, PatternSet, Rewriter, apply_greedily},
};
use pretty_assertions::assert_eq;

fn greedily<F>(root: &'static str, body: F) -> impl for<'c> FnOnce(OperationRef<'c, 'c>) -> Res
where
    F: for<'x> Fn(OperationRef<'x, 'x>, &Rewriter<'x>) -> Result<(), Reported> + Send + Sync + 'static,
{
    move |m| {
        let mut patterns = PatternSet::new(m.ctx());
        patterns.add(root, 1, body);
        apply_greedily(m, patterns)
    }
}

const ADD: &str = "func.func @f(%a: index) -> index {\n  %0 = demo.add %a, %a\n  return %0 : index\n}";

#[test]
fn patterns_run_until_nothing_changes() {
    let source = "func.func @f() -> index {\n  %0 = demo.constant 10\n  return %0 : index\n}";
    let found = processed(
        source,
        greedily("demo.constant", |op, rw| {
            let value = Constant::from_op(op).value();
            if value == 0 {
                return Err(rw.no_match(op, "0 stays"));
            }
            let less = Constant::build(op.location(), Type::index(rw.context()), value - 1);
            rw.replace_with(op, less);
            Ok(())
        }),
    );
    assert!(found.contains("demo.constant 0"), "{found}");
}

#[test]
fn the_pattern_of_greater_benefit_goes_first() {
    let found = processed(ADD, |m| {
        let mut patterns = PatternSet::new(m.ctx());
        for (benefit, value) in [(1, 1), (7, 7), (3, 3)] {
            patterns.add("demo.add", benefit, move |op, rw| {
                rw.replace_with(op, Constant::build(op.location(), Type::index(rw.context()), value));
                Ok(())
            });
        }
        apply_greedily(m, patterns)
    });
    assert!(found.contains("demo.constant 7"), "{found}");
}

#[test]
fn ops_are_changed_in_place_and_moved() {
    let source = "func.func @f(%a: index) -> index {
      %0 = demo.scope(%a) {
      ^bb0(%b: index):
        %1 = demo.add %b, %a
        demo.yield %1 : index
      } : (index) -> index
      return %0 : index
    }";
    let found = processed(
        source,
        greedily("demo.scope", |op, rw| {
            let body = op.region_at(0).entry().ok_or(Reported)?;
            let end = body.terminator_op().ok_or(Reported)?;
            let values = end.operand_values();
            rw.inline_block(body, op, &op.operand_values());
            rw.erase(end);
            rw.replace(op, &values);
            Ok(())
        }),
    );
    assert_eq!(
        found,
        "module {\n  func.func @f(%arg0: index) -> index {\n    %sum = demo.add %arg0, %arg0\n    return %sum : index\n  }\n}\n"
    );
    let found = processed(
        "demo.named @a {}",
        greedily("demo.named", |op, rw| {
            if op.attr("seen").is_some() {
                return Err(Reported);
            }
            rw.modify(op, || op.set_attr("seen", Attribute::unit(op.ctx())));
            Ok(())
        }),
    );
    assert!(found.contains("@a {\n  } {seen}"), "{found}");
}

#[test]
fn blocks_and_regions_are_made_and_inlined() {
    let source = "demo.named @a {\n  %0 = demo.constant 1\n  \"demo.yield\"() : () -> ()\n}\ndemo.named @b {}";
    let found = processed(
        source,
        greedily("demo.named", |op, rw| {
            let to = op.region_at(0);
            let next = op.next_in_block().filter(|n| n.full_name() == "demo.named");
            let (Some(next), true) = (next, to.entry().is_some()) else {
                return Err(Reported);
            };
            let index = Type::index(rw.context());
            let block = rw.create_block(next.region_at(0), &[index, index], op.location());
            let values = BlockExt::argument_values(&block);
            let sum = rw.value(Add::build(op.location(), index, values[0], values[1]));
            assert_eq!(sum.users().len(), 0);
            rw.insert(crate::demo::Yield::build(op.location(), &[sum]));
            rw.inline_region(to, next.region_at(0));
            rw.erase(op);
            Ok(())
        }),
    );
    let expected = "module {
  demo.named @b {
  ^bb0(%arg0: index, %arg1: index):
    %sum = demo.add %arg0, %arg1
    demo.yield %sum : index
  }
}
";
    // The block that was inlined cannot be reached, so the driver has erased it.
    assert_eq!(found, expected);
}

#[test]
fn a_rewriting_without_end_is_an_error() {
    let found = errors_of(
        ADD,
        greedily("demo.add", |op, rw| {
            let add = Add::from_op(op);
            let again = Add::build(op.location(), Type::index(rw.context()), add.rhs(), add.lhs());
            rw.replace_with(op, again);
            Ok(())
        }),
    );
    assert_eq!(
        found,
        ["dir/t.mlir: error: 'builtin.module' op the rewriting of what is in it does not come to an end"]
    );
}

#[test]
fn a_body_that_would_corrupt_the_ir_is_stopped() {
    let found = errors_of(
        ADD,
        greedily("demo.add", |op, rw| {
            rw.replace(op, &[]);
            Ok(())
        }),
    );
    assert!(
        found[0].contains("0 values cannot replace the 1 results of 'demo.add'"),
        "{found:?}"
    );
    let found = errors_of(
        ADD,
        greedily("demo.add", |op, rw| {
            rw.erase(op);
            Ok(())
        }),
    );
    assert!(
        found[0].contains("'demo.add' is still used and cannot be erased"),
        "{found:?}"
    );
}

#[test]
fn a_pattern_that_panics_after_a_change_is_not_run_again() {
    let found = errors_of(
        ADD,
        greedily("demo.add", |op, rw| {
            rw.modify(op, || op.set_attr("seen", Attribute::unit(op.ctx())));
            panic!("too late")
        }),
    );
    assert_eq!(
        found,
        ["dir/t.mlir:2:8: error: internal error: panic in rewrite pattern: too late"]
    );
}

#[test]
fn an_empty_set_folds_only() {
    let c = context();
    drop(PatternSet::new(&c));
    let source = "func.func @f() -> index {\n  %0 = demo.constant 1\n  %1 = demo.add %0, %0\n  return %1 : index\n}";
    let found = attempt(&c, source, |m| apply_greedily(m, PatternSet::new(m.ctx())));
    assert!(
        found.as_ref().is_ok_and(|f| f.contains("demo.constant 2")),
        "{:?}",
        found.map_err(|m| texts(&m))
    );
}

#[test]
fn builders_know_their_context() {
    let c = context();
    let loc = Location::unknown(&c);
    let block = girih_ir::ext::block(&[Type::index(&c)], loc);
    let block = unsafe { BlockRef::from_raw(girih_ir::melior::ir::BlockLike::to_raw(&block)) };
    let at = AtEnd(block);
    assert_eq!(at.context().to_raw().ptr, c.to_raw().ptr);
    let value = at.value(Constant::build(loc, Type::index(at.context()), 3));
    assert_eq!(value.defining_op().map(|o| o.full_name()), Some("demo.constant"));
}

#[test]
fn nested_ops_come_parents_first_in_source_order() {
    let source = "module @a {\n  demo.named @b {}\n  module @c {\n    demo.named @d {}\n  }\n}\ndemo.named @e {}";
    processed(source, |m| {
        let names = m.nested_ops().into_iter().filter_map(|o| o.attr("sym_name"));
        let names: Vec<_> = names.map(|a| a.to_string()).collect();
        assert_eq!(names, ["\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"e\""]);
        Ok(())
    });
}
