//! Declarations that cannot work are refused when their dialect is registered, with a reason.
use girih_ir::{
    constraint::{ANY, INDEX},
    dialect::Dialect,
    kind::{AnyType, I64, Str, SymbolName},
    op,
    prelude::*,
};
use std::process::Command;

macro_rules! faulty {
    ($($key:literal $dialect:ident $name:ident = $full:literal { $($body:tt)* } because $why:literal;)*) => {
        $(
            op! {
                /// Cannot work.
                pub struct $name = $full { $($body)* }
            }
            static $dialect: Dialect = Dialect { ops: &[$name::REGISTRATION], ..Dialect::new("faulty") };
        )*
        const ALL: &[(&str, &Dialect, &str)] = &[$(($key, &$dialect, $why)),*];
    };
}
faulty! {
    "missing operand" D0 F0 = "faulty.a" {
        operands { a: one(INDEX) }
        format "attr-dict"
    } because "format of 'faulty.a': operand `$a` is missing";
    "unknown type" D1 F1 = "faulty.a" {
        operands { a: one(ANY) }
        format "$a attr-dict"
    } because "the type of operand `$a` is neither spelled nor fixed by its constraint";
    "no dictionary" D2 F2 = "faulty.a" {
        format "`x`"
    } because "`attr-dict` is missing";
    "no such thing" D3 F3 = "faulty.a" {
        format "$b attr-dict"
    } because "`$b` is no operand, attribute, region or successor";
    "no anchor" D4 F4 = "faulty.a" {
        attributes { z: unit }
        format "(`z` $z)? attr-dict"
    } because "an optional group needs an anchor `^`";
    "optional in the open" D5 F5 = "faulty.a" {
        attributes { z: optional(I64) }
        format "$z attr-dict"
    } because "`$z` need not be there; make it the anchor `^` of a group `(...)?`";
    "a group that cannot be seen" D6 F6 = "faulty.a" {
        attributes { z: optional(I64) }
        format "($z^ `,`)? attr-dict"
    } because "a group `(...)?` must start with a literal, a region, or an operand that need not be there";
    "regions and a dictionary" D7 F7 = "faulty.a" {
        regions { all: variadic_any }
        format "$all attr-dict"
    } because "an attribute dictionary after regions that need not be there reads as one of them";
    "results of unknown sizes" D8 F8 = "faulty.a" {
        results { a: variadic(INDEX), b: variadic(INDEX) }
        format "attr-dict `:` type(results)"
    } because "several result groups vary in size, so each needs its own `type(...)`";
    "unended" D9 F9 = "faulty.a" {
        format "`x attr-dict"
    } because "unterminated literal";
    "symbol without a name" D10 F10 = "faulty.a" {
        interfaces [Symbol]
    } because "declaration of 'faulty.a': a symbol needs the attribute `sym_name`";
    "function without a type" D11 F11 = "faulty.a" {
        attributes { sym_name: required(SymbolName) }
        regions { body: any }
        interfaces [Function]
    } because "a function needs the attribute `function_type`";
    "function without a body" D12 F12 = "faulty.a" {
        attributes { sym_name: required(SymbolName), function_type: required(AnyType) }
        interfaces [Function]
    } because "a function needs exactly one region";
    "call of nothing" D13 F13 = "faulty.a" {
        attributes { name: required(Str) }
        interfaces [Call]
    } because "a call needs the attribute `callee`";
    "variadic in the middle" D14 F14 = "faulty.a" {
        regions { all: variadic_any, last: any }
    } because "only the last region can be variadic";
}

/// Registration of a faulty declaration ends the process, so each runs in one of its own.
#[test]
fn faults_are_named() {
    if let Ok(key) = std::env::var("GIRIH_IR_FAULTY") {
        let (_, dialect, _) = ALL.iter().find(|(k, ..)| *k == key).expect("a known key");
        let registry = melior::dialect::DialectRegistry::new();
        dialect.register(&registry);
        let c = Context::new();
        c.append_dialect_registry(&registry);
        c.load_all_available_dialects();
        return;
    }
    let me = std::env::current_exe().expect("a test has a path");
    for (key, _, why) in ALL {
        let output = Command::new(&me)
            .args(["--exact", "declarations::faults_are_named", "--nocapture"])
            .env("GIRIH_IR_FAULTY", key)
            .output()
            .expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{key}: {text}");
        assert!(
            text.contains("dialect 'faulty' cannot be registered: "),
            "{key}: {text}"
        );
        assert!(text.contains(why), "{key}: {text}");
    }
}

static NEEDY: Dialect = Dialect {
    dependencies: &["no_such_dialect"],
    ..Dialect::new("needy")
};

#[test]
fn dependencies_that_are_missing_are_named() {
    let registry = melior::dialect::DialectRegistry::new();
    NEEDY.register(&registry);
    let c = Context::new();
    c.append_dialect_registry(&registry);
    let (_, found) = girih_ir::module::collect_diagnostics(&c, || c.get_or_load_dialect("needy"));
    assert_eq!(
        crate::support::texts(&found),
        ["error: dialect 'needy' needs dialect 'no_such_dialect', which is not registered"]
    );
}
