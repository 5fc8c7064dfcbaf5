//! Reading and checking whole modules: places of messages, limits, encodings, bytecode.
use crate::support::{bytecode, context, errors, texts};
use girih_ir::{
    Diag, Severity,
    module::{self, MAX_NESTING, check_nesting, collect_diagnostics, place_of},
    prelude::*,
};
use pretty_assertions::assert_eq;

#[test]
fn the_file_name_is_used_as_given() {
    let c = context();
    for name in ["a.mlir", "../b c/d.mlir", "<memory>"] {
        let (m, found) = collect_diagnostics(&c, || module::parse(&c, b"\n  nonsense", name));
        assert!(m.is_err());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, Some((name.into(), 2, 3)));
    }
}

#[test]
fn unverified_modules_are_given_as_they_are() {
    let c = context();
    let source = b"\"demo.constant\"() : () -> index";
    assert!(module::parse_unverified(&c, source, "t.mlir").is_ok());
    let (m, found) = collect_diagnostics(&c, || module::parse(&c, source, "t.mlir"));
    assert!(m.is_err());
    assert_eq!(found.len(), 1);
}

#[test]
fn messages_have_severities_and_notes() {
    let c = context();
    let at = |line| Location::new(&c, "f", line, 1);
    let ((), found) = collect_diagnostics(&c, || {
        drop(
            Diag::at(Severity::Warning, at(1), "careful")
                .note(at(2), "here")
                .note(at(3), "and here"),
        );
        drop(Diag::at(Severity::Remark, at(4), "by the way"));
        Diag::error(at(5), "taken back").abandon();
        drop(Diag::error(Location::unknown(&c), "nowhere"));
    });
    let expected = [
        "f:1:1: warning: careful\nf:2:1: note: here\nf:3:1: note: and here",
        "f:4:1: remark: by the way",
        "error: nowhere",
    ];
    assert_eq!(texts(&found), expected);
}

#[test]
fn places_come_down_to_a_file() {
    let c = context();
    let place = |text: &str| {
        let source = format!("module {{}} loc({text})");
        let m = module::parse(&c, source.as_bytes(), "t.mlir").expect("it parses");
        place_of(m.as_operation().location().to_raw()).map(|(f, l, c)| format!("{f}:{l}:{c}"))
    };
    assert_eq!(place("\"a\":1:2").as_deref(), Some("a:1:2"));
    assert_eq!(place("\"a\":1:2 to 3:4").as_deref(), Some("a:1:2"));
    assert_eq!(place("\"name\"(\"a\":1:2)").as_deref(), Some("a:1:2"));
    assert_eq!(place("callsite(\"a\":1:2 at \"b\":3:4)").as_deref(), Some("a:1:2"));
    assert_eq!(place("fused[unknown, \"b\":3:4, \"c\":5:6]").as_deref(), Some("b:3:4"));
    assert_eq!(place("unknown"), None);
}

#[test]
fn bytes_that_are_no_text_are_refused_where_they_start() {
    let c = context();
    let (m, found) = collect_diagnostics(&c, || module::parse(&c, b"// fine\n// \xff\xfe", "t.mlir"));
    assert!(m.is_err());
    assert_eq!(
        texts(&found),
        ["t.mlir:2:4: error: expected UTF-8 text or MLIR bytecode"]
    );
}

#[test]
fn hostile_nesting_is_refused_before_the_parser_recurses() {
    let nested = |n: usize| "module {".repeat(n) + &"}".repeat(n);
    let c = context();
    assert!(module::parse(&c, nested(MAX_NESTING).as_bytes(), "t.mlir").is_ok());
    for (source, column) in [
        (nested(20_000), 8 * (MAX_NESTING + 1)),
        ("(".repeat(100_000), MAX_NESTING + 1),
        (
            format!("func.func private @f({}", "tuple<".repeat(50_000)),
            21 + 6 * MAX_NESTING,
        ),
        (
            format!("module attributes {{a = {}", "[".repeat(50_000)),
            24 + MAX_NESTING - 1,
        ),
    ] {
        assert_eq!(
            errors(&source),
            [format!(
                "dir/t.mlir:1:{column}: error: brackets nest more than {MAX_NESTING} deep; flatten the regions or types here"
            )]
        );
    }
}

#[test]
fn what_only_looks_like_brackets_does_not_nest() {
    for piece in [
        "\"(\" ",
        "// ((\n",
        "\"\\\"(\" ",
        "-> ",
        "(d0 >= 0, d0 <= 5) ",
        "<(a -> b)> ",
        "<a -> b> ",
        "\"unended (\n",
        "]})> ",
        "(]) ",
    ] {
        assert_eq!(check_nesting(&piece.repeat(2 * MAX_NESTING)), Ok(()), "{piece}");
    }
    let deep = format!("// (\n\n{}", "<".repeat(MAX_NESTING + 1));
    assert_eq!(check_nesting(&deep), Err((3, MAX_NESTING + 1)));
}

#[test]
fn truncated_bytecode_is_refused() {
    let c = context();
    let m = module::parse(&c, b"%0 = demo.constant 1\ndemo.use @x\ndemo.named @x {}", "t.mlir").expect("it parses");
    let bytes = bytecode(m.as_operation());
    assert!(module::parse(&c, &bytes, "t").is_ok());
    for n in (4..bytes.len()).step_by(7) {
        let (m, found) = collect_diagnostics(&c, || module::parse(&c, &bytes[..n], "t"));
        assert!(m.is_err() && !found.is_empty(), "{n} bytes");
    }
}

#[test]
fn text_can_show_locations() {
    let c = context();
    let m = module::parse(&c, b"%0 = demo.constant 1", "t.mlir").expect("it parses");
    assert!(module::to_text(m.as_operation(), true).contains("loc(\"t.mlir\":1:6)"));
    assert!(!module::to_text(m.as_operation(), false).contains("loc"));
}

#[test]
fn diagnostics_of_one_context_stay_out_of_another() {
    let (a, b) = (context(), context());
    let ((), outer) = collect_diagnostics(&a, || {
        let ((), inner) = collect_diagnostics(&b, || drop(Diag::error(Location::unknown(&b), "b")));
        assert_eq!(texts(&inner), ["error: b"]);
        drop(Diag::error(Location::unknown(&a), "a"));
    });
    assert_eq!(texts(&outer), ["error: a"]);
}
