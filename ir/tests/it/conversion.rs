//! Dialect conversion: one type to one, to several and to none, materialisations, upstream's structure, refusals.
use crate::support::{attempt, context, errors_of, processed};
use girih_ir::{
    constraint::ANY,
    conversion::{Conversion, Converted, TypeConverter},
    dialect::Dialect,
    kind::AnyType,
    op, param_type,
    prelude::*,
    rewrite::Builder,
};
use pretty_assertions::assert_eq;

param_type! {
    /// Two values.
    pub struct PairType = "pair"."of" {
        params { first: required(AnyType), second: required(AnyType) }
    }
}
param_type! {
    /// Nothing worth keeping.
    pub struct TokenType = "pair"."token" {}
}
op! {
    /// Makes a pair.
    pub struct Make = "pair.make" {
        operands { first: one(ANY), second: one(ANY) }
        results { pair: one(ANY) }
        effects pure
        format "$first `,` $second attr-dict `:` functional-type(operands, results)"
    }
}
op! {
    /// Takes it apart.
    pub struct Take = "pair.take" {
        operands { pair: one(ANY) }
        results { first: one(ANY), second: one(ANY) }
        effects pure
        format "$pair attr-dict `:` functional-type(operands, results)"
    }
}
op! {
    /// Makes a token.
    pub struct Token = "pair.new_token" {
        results { token: one(ANY) }
        format "attr-dict `:` type($token)"
    }
}
op! {
    /// Has a region of pairs.
    pub struct Body = "pair.body" {
        regions { body: single }
        traits [NoTerminator]
    }
}
/// The dialect.
pub static PAIR: Dialect = Dialect {
    ops: &[
        Make::REGISTRATION,
        Take::REGISTRATION,
        Token::REGISTRATION,
        Body::REGISTRATION,
    ],
    types: &[PairType::REGISTRATION, TokenType::REGISTRATION],
    ..Dialect::new("pair")
};

/// Pairs become their parts, tokens nothing.
fn unpaired() -> TypeConverter {
    let types = TypeConverter::new();
    types.add(|t| match PairType::of(t) {
        Some(p) => Converted::To(vec![p.first(), p.second()]),
        None => Converted::NotMine,
    });
    types.add(|t| match TokenType::of(t) {
        Some(_) => Converted::To(vec![]),
        None => Converted::NotMine,
    });
    types
}

fn unpair<'c>(c: &'c Context, types: TypeConverter) -> Conversion<'c> {
    let mut conversion = Conversion::new(c, types);
    conversion
        .with_func()
        .with_scf()
        .illegal_dialects(&["pair"])
        .pattern("pair.make", 1, |op, operands, rw| {
            rw.replace_multiple(op, &[vec![operands.one(0), operands.one(1)]]);
            Ok(())
        })
        .pattern("pair.take", 1, |op, operands, rw| {
            rw.replace(op, operands.get(0));
            Ok(())
        })
        .pattern("pair.new_token", 1, |op, _, rw| {
            rw.replace_multiple(op, &[vec![]]);
            Ok(())
        });
    conversion
}

#[test]
fn a_type_becomes_several_through_functions_loops_and_branches() {
    let source = "func.func @f(%p: !pair.of<i32, f32>, %t: !pair.token, %c: i1, %n: index, %j: i32) -> (!pair.of<i32, f32>, f32) {
      %i, %x = pair.take %p : (!pair.of<i32, f32>) -> (i32, f32)
      %q = pair.make %i, %x : (i32, f32) -> !pair.of<i32, f32>
      %r = scf.for %k = %n to %n step %n iter_args(%a = %q) -> !pair.of<i32, f32> {
        scf.yield %a : !pair.of<i32, f32>
      }
      %s = scf.if %c -> !pair.of<i32, f32> {
        scf.yield %r : !pair.of<i32, f32>
      } else {
        scf.yield %p : !pair.of<i32, f32>
      }
      cf.cond_br %c, ^bb1(%s : !pair.of<i32, f32>), ^bb2
    ^bb1(%u: !pair.of<i32, f32>):
      %v:2 = func.call @f(%u, %t, %c, %n, %j) : (!pair.of<i32, f32>, !pair.token, i1, index, i32) -> (!pair.of<i32, f32>, f32)
      return %v#0, %x : !pair.of<i32, f32>, f32
    ^bb2:
      cf.switch %j : i32, [
        default: ^bb1(%p : !pair.of<i32, f32>),
        3: ^bb3(%x, %p : f32, !pair.of<i32, f32>),
        4: ^bb3(%x, %s : f32, !pair.of<i32, f32>)
      ]
    ^bb3(%y: f32, %w: !pair.of<i32, f32>):
      return %w, %y : !pair.of<i32, f32>, f32
    }";
    let found = processed(source, |m| unpair(m.ctx(), unpaired()).apply_partially(m));
    let expected = "module {
  func.func @f(%arg0: i32, %arg1: f32, %arg2: i1, %arg3: index, %arg4: i32) -> (i32, f32, f32) {
    %0:2 = scf.for %arg5 = %arg3 to %arg3 step %arg3 iter_args(%arg6 = %arg0, %arg7 = %arg1) -> (i32, f32) {
      scf.yield %arg6, %arg7 : i32, f32
    }
    %1:2 = scf.if %arg2 -> (i32, f32) {
      scf.yield %0#0, %0#1 : i32, f32
    } else {
      scf.yield %arg0, %arg1 : i32, f32
    }
    cf.cond_br %arg2, ^bb1(%1#0, %1#1 : i32, f32), ^bb2
  ^bb1(%2: i32, %3: f32):  // 2 preds: ^bb0, ^bb2
    %4:3 = call @f(%2, %3, %arg2, %arg3, %arg4) : (i32, f32, i1, index, i32) -> (i32, f32, f32)
    return %4#0, %4#1, %arg1 : i32, f32, f32
  ^bb2:  // pred: ^bb0
    cf.switch %arg4 : i32, [
      default: ^bb1(%arg0, %arg1 : i32, f32),
      3: ^bb3(%arg1, %arg0, %arg1 : f32, i32, f32),
      4: ^bb3(%arg1, %1#0, %1#1 : f32, i32, f32)
    ]
  ^bb3(%5: f32, %6: i32, %7: f32):  // 2 preds: ^bb2, ^bb2
    return %6, %7, %5 : i32, f32, f32
  }
}
";
    assert_eq!(found, expected);
}

#[test]
fn attributes_stay_with_arguments_and_results_that_stay_one() {
    let source = "func.func private @f(i8 {demo.a = 1}, !pair.of<i32, f32> {demo.a = 2}, !pair.token, i16 {demo.a = 3}) -> \
                  (!pair.of<i32, f32> {demo.a = 4}, i8 {demo.a = 5})";
    let found = processed(source, |m| unpair(m.ctx(), unpaired()).apply_partially(m));
    assert_eq!(
        found,
        "module {\n  func.func private @f(i8 {demo.a = 1 : i64}, i32, f32, i16 {demo.a = 3 : i64}) -> (i32, f32, i8 {demo.a = 5 : \
         i64})\n}\n"
    );
}

#[test]
fn values_for_ops_that_stay_are_materialised() {
    let source = "func.func @f(%i: i32, %x: f32) {
      %p = pair.make %i, %x : (i32, f32) -> !pair.of<i32, f32>
      \"traits.plain\"(%p) : (!pair.of<i32, f32>) -> ()
      %q = \"traits.plain\"() : () -> !pair.of<i32, f32>
      %a, %b = pair.take %q : (!pair.of<i32, f32>) -> (i32, f32)
      \"traits.plain\"(%a, %b) : (i32, f32) -> ()
      return
    }";
    let found = processed(source, |m| {
        let types = unpaired();
        types.add_source_materialization(|b, t, values, loc| {
            let op = melior::ir::operation::OperationBuilder::new("traits.pure", loc)
                .add_attributes(&[(
                    melior::ir::Identifier::new(b.context(), "join"),
                    Attribute::unit(b.context()),
                )])
                .add_operands(values)
                .add_results(t);
            Some(vec![b.value(op.build().ok()?)])
        });
        types.add_target_materialization(|b, t, values, loc| {
            let op = melior::ir::operation::OperationBuilder::new("traits.pure", loc)
                .add_attributes(&[(
                    melior::ir::Identifier::new(b.context(), "part"),
                    Attribute::unit(b.context()),
                )])
                .add_operands(values)
                .add_results(t);
            Some(b.insert(op.build().ok()?).result_values())
        });
        let mut conversion = unpair(m.ctx(), types);
        conversion.legal_ops(&["pair.never"]);
        conversion.apply_partially(m)
    });
    let expected = "module {
  func.func @f(%arg0: i32, %arg1: f32) {
    %0 = \"traits.pure\"(%arg0, %arg1) {join} : (i32, f32) -> !pair.of<i32, f32>
    \"traits.plain\"(%0) : (!pair.of<i32, f32>) -> ()
    %1 = \"traits.plain\"() : () -> !pair.of<i32, f32>
    %2:2 = \"traits.pure\"(%1) {part} : (!pair.of<i32, f32>) -> (i32, f32)
    \"traits.plain\"(%2#0, %2#1) : (i32, f32) -> ()
    return
  }
}
";
    assert_eq!(found, expected);
}

#[test]
fn values_of_other_types_are_no_materialisation() {
    let source = "func.func @f() {
      %q = \"traits.plain\"() : () -> !pair.of<i32, f32>
      %a, %b = pair.take %q : (!pair.of<i32, f32>) -> (i32, f32)
      \"traits.plain\"(%a, %b) : (i32, f32) -> ()
      return
    }";
    let found = errors_of(source, |m| {
        let types = unpaired();
        types.add_target_materialization(|_, _, values, _| Some(values.to_vec()));
        unpair(m.ctx(), types).apply_partially(m)
    });
    assert!(
        found[0].contains("panic in materialisation: values of types") && found[0].starts_with("dir/t.mlir:"),
        "{found:#?}"
    );
}

#[test]
fn regions_are_converted_by_a_converter_that_ends_before_the_conversion() {
    let source = "\"pair.body\"() ({
    ^bb0(%p: !pair.of<i32, f32>):
      %a, %b = pair.take %p : (!pair.of<i32, f32>) -> (i32, f32)
      \"traits.plain\"(%a, %b) : (i32, f32) -> ()
    }) : () -> ()";
    let found = processed(source, |m| {
        let mut conversion = unpair(m.ctx(), unpaired());
        conversion
            .dynamic_op("pair.body", |op| {
                let entry = op.region_at(0).entry()?;
                Some(entry.argument_count() == 2)
            })
            .pattern("pair.body", 1, |op, _, rw| {
                rw.convert_region_types(op.region_at(0), &unpaired())?;
                rw.modify(op, || {});
                Ok(())
            });
        conversion.apply_partially(m)
    });
    let expected = "module {
  \"pair.body\"() ({
  ^bb0(%arg0: i32, %arg1: f32):
    \"traits.plain\"(%arg0, %arg1) : (i32, f32) -> ()
  }) : () -> ()
}
";
    assert_eq!(found, expected);
}

#[test]
fn what_no_pattern_converts_is_reported_where_it_stands_and_nothing_changes() {
    let c = context();
    let source = "func.func @f(%i: i32) -> i32 {\n  %t = pair.new_token : !pair.token\n  %0 = arith.addi %i, %i : i32\n  return %0 : i32\n}";
    let after = std::sync::Mutex::new(String::new());
    let found = attempt(&c, source, |m| {
        let mut conversion = Conversion::new(m.ctx(), TypeConverter::new());
        conversion
            .illegal_ops(&["pair.new_token", "arith.addi"])
            .pattern("arith.addi", 1, |op, _, rw| {
                rw.replace(op, &[op.operand_values()[0]]);
                Ok(())
            })
            .pattern("pair.new_token", 1, |op, _, rw| Err(rw.no_match(op, "not today")));
        let r = conversion.apply_partially(m);
        *after.lock().expect("not poisoned") = m.to_string();
        r
    });
    let found = crate::support::texts(&found.expect_err("it cannot be converted"));
    assert_eq!(
        found,
        ["dir/t.mlir:2:8: error: failed to legalize operation 'pair.new_token' that was explicitly marked illegal"]
    );
    assert!(
        after.lock().expect("not poisoned").contains("arith.addi"),
        "the conversion is rolled back"
    );
}

#[test]
fn a_full_conversion_leaves_nothing_that_is_not_legal() {
    let source = "func.func @f() {\n  \"traits.plain\"() : () -> ()\n  return\n}";
    processed(source, |m| {
        Conversion::new(m.ctx(), TypeConverter::new()).apply_partially(m)
    });
    let found = errors_of(source, |m| {
        let mut conversion = Conversion::new(m.ctx(), TypeConverter::new());
        conversion.legal_dialects(&["builtin", "func"]);
        conversion.apply_fully(m)
    });
    assert_eq!(
        found,
        ["dir/t.mlir:2:3: error: failed to legalize operation 'traits.plain'"]
    );
}

#[test]
fn legality_is_asked_of_each_op() {
    let source =
        "func.func @f(%i: i32, %j: i64) {\n  %0 = arith.addi %i, %i : i32\n  %1 = arith.addi %j, %j : i64\n  return\n}";
    let found = errors_of(source, |m| {
        let mut conversion = Conversion::new(m.ctx(), TypeConverter::new());
        conversion
            .dynamic_dialect("arith", |op| Some(op.result_types()[0].is_int(32)))
            .dynamic_op("", |_| Some(true));
        conversion.apply_fully(m)
    });
    assert_eq!(
        found,
        ["dir/t.mlir:3:8: error: failed to legalize operation 'arith.addi'"]
    );
}

#[test]
fn patterns_without_a_root_see_every_illegal_op() {
    let source = "func.func @f(%i: i32) {\n  %0 = arith.addi %i, %i : i32\n  %1 = arith.muli %i, %i : i32\n  return\n}";
    let found = processed(source, |m| {
        let mut conversion = Conversion::new(m.ctx(), TypeConverter::new());
        conversion
            .illegal_dialects(&["arith"])
            .pattern("", 1, |op, operands, rw| {
                if op.dialect_name() != "arith" {
                    return Err(rw.no_match(op, "only arithmetic"));
                }
                rw.replace(op, &operands.all()[..1]);
                Ok(())
            });
        conversion.apply_partially(m)
    });
    assert_eq!(found, "module {\n  func.func @f(%arg0: i32) {\n    return\n  }\n}\n");
}

#[test]
fn converters_say_what_they_do() {
    let c = context();
    let (i32, f32) = (Type::parse(&c, "i32").expect("a type"), Type::float32(&c));
    let types = unpaired();
    assert_eq!(types.convert(f32), Some(vec![f32]));
    assert_eq!(types.convert(PairType::get(&c, i32, f32).plain()), Some(vec![i32, f32]));
    assert_eq!(types.convert(TokenType::get(&c).plain()), Some(vec![]));
    assert!(types.is_legal_type(f32) && !types.is_legal_type(TokenType::get(&c).plain()));
    let strict = TypeConverter::new();
    strict.add(|t| {
        if t.is_float_type() {
            Converted::Impossible
        } else {
            Converted::NotMine
        }
    });
    strict.add(|t| {
        if t.is_int(32) {
            Converted::To(vec![])
        } else {
            Converted::NotMine
        }
    });
    assert_eq!((strict.convert(f32), strict.convert(i32)), (None, Some(vec![])));
}

#[test]
fn conversions_that_are_never_applied_are_let_go() {
    let c = context();
    let counted = std::sync::Arc::new(());
    let held = counted.clone();
    let mut conversion = unpair(&c, unpaired());
    conversion.dynamic_op("pair.make", move |_| {
        let _ = &held;
        None
    });
    assert_eq!(std::sync::Arc::strong_count(&counted), 2);
    drop(conversion);
    assert_eq!(std::sync::Arc::strong_count(&counted), 1);
    let held = counted.clone();
    processed("", |m| {
        let mut conversion = unpair(m.ctx(), unpaired());
        conversion.pattern("pair.body", 1, move |_, _, _| {
            let _ = &held;
            Err(Reported)
        });
        conversion.apply_partially(m)
    });
    assert_eq!(
        std::sync::Arc::strong_count(&counted),
        1,
        "closures go with the conversion"
    );
}
