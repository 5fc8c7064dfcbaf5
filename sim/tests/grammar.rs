//! PTX text to tree: what is written is what the tree says.
use girih_sim::ptx::{Expr, Init, Item, Operand, Space, Statement, parse};

fn initialiser(text: &str) -> Expr<'static> {
    let source = format!(".global .u64 x = {text};").leak();
    let module = parse(source).unwrap_or_else(|e| panic!("{e}"));
    match module.items.into_iter().next() {
        Some(Item::Variables(list)) => match list.into_iter().next().and_then(|v| v.init) {
            Some(Init::Value(expr)) => expr,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn constant_expressions_follow_c() {
    let cases = [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("1 << 4 | 0x3", 0x13),
        ("-7 / 2", -3),
        ("10 % 4 == 2 && 3 > 2", 1),
        ("1 ? 5 : 6", 5),
        ("0 ? 5 : 1 ? 7 : 8", 7),
        ("~0", -1),
        ("!3 || 0", 0),
        ("017 + 0b101 + 0x1FU", 15 + 5 + 31),
        ("WARP_SZ * 2", 64),
        ("(.s64) 0xffffffffffffffff >> 1", -1),
        ("5 ^ 3 & 1", 4),
    ];
    for (text, value) in cases {
        assert_eq!(initialiser(text), Expr::Int(value), "{text}");
    }
}

#[test]
fn addresses_are_a_symbol_and_an_offset() {
    assert_eq!(initialiser("table + 4 * 2"), Expr::Symbol("table", 8));
    assert_eq!(initialiser("generic(table) - 4"), Expr::Generic("table", -4));
    assert_eq!(
        initialiser("0xFF00(table)"),
        Expr::Mask(0xff00, Box::new(Expr::Symbol("table", 0)))
    );
}

#[test]
fn an_offset_of_an_operand_stands_after_a_plus() {
    for (text, is_ptx) in [
        ("[%rd1+-8]", true),
        ("[%rd1+4-8]", true),
        ("[%rd1-8]", false),
        ("[table - 8]", false),
    ] {
        let text = format!(".func f() {{ ld.u32 %r1, {text}; }}");
        let parsed = parse(&text);
        assert_eq!(
            parsed.is_ok(),
            is_ptx,
            "{text}: {:?}",
            parsed.err().map(|e| e.to_string())
        );
    }
}

#[test]
fn literals_of_floating_point_keep_their_bits() {
    assert_eq!(initialiser("0f7FC00001"), Expr::F32(0x7fc0_0001));
    assert_eq!(initialiser("-0d3FF0000000000000"), Expr::F64((-1f64).to_bits()));
    assert_eq!(initialiser("2.5e1"), Expr::F64(25f64.to_bits()));
}

#[test]
fn declarations_list_registers_and_arrays() {
    let text = ".global .align 16 .v4 .f32 a[2][3], b; .func f() { .reg .b32 %r<10>, x; { .reg .pred x; } ret; }";
    let module = parse(text).unwrap_or_else(|e| panic!("{e}"));
    let Item::Variables(list) = &module.items[0] else {
        panic!("variables")
    };
    assert_eq!(
        (list[0].name, list[0].lanes, list[0].align, list[0].dims.as_slice()),
        ("a", 4, Some(16), &[Some(2), Some(3)][..])
    );
    assert_eq!((list[1].name, list[1].space), ("b", Space::Global));
    let Item::Function(function) = &module.items[1] else {
        panic!("a function")
    };
    let body = function.body.as_deref().expect("a body");
    let Statement::Variables(registers) = &body[0] else {
        panic!("registers")
    };
    assert_eq!(
        (registers[0].name, registers[0].count, registers[1].count),
        ("%r", Some(10), None)
    );
    assert!(matches!(&body[1], Statement::Block(inner) if inner.len() == 1));
}

#[test]
fn operands_of_every_kind() {
    let text = ".func f() { @!%p op.a::b.v2 {%r1, _}, [%rd1+-8], !%q, a|b, %tid.x, (x, y), [m, {%r1, 2}], -3; }";
    let module = parse(text).unwrap_or_else(|e| panic!("{e}"));
    let Item::Function(function) = &module.items[0] else {
        panic!("a function")
    };
    let Some([Statement::Instruction(inst)]) = function.body.as_deref() else {
        panic!("an instruction")
    };
    assert_eq!((inst.guard, inst.opcode), (Some(("%p", true)), "op.a::b.v2"));
    use Operand::*;
    let expected = vec![
        Vector(vec![Name("%r1", 0), Sink]),
        Address(vec![Name("%rd1", -8)]),
        Not("%q"),
        Pair(Box::new(Name("a", 0)), Box::new(Name("b", 0))),
        Part("%tid", "x", false),
        List(vec![Name("x", 0), Name("y", 0)]),
        Address(vec![Name("m", 0), Vector(vec![Name("%r1", 0), Literal(Expr::Int(2))])]),
        Literal(Expr::Int(-3)),
    ];
    assert_eq!(inst.operands, expected);
}

#[test]
fn comments_locations_and_sections_are_passed_over() {
    let text = "/* a */ .version 8.0 // b\n.target sm_90a, debug\n.address_size 64\n.file 1 \"x.cu\", 1, 2\n\
        .func f() { .loc 1 2 3, function_name $L, inlined_at 1 4 5\n .pragma \"nounroll\"; ret; }\n.section .debug_str { .b8 1 // }\n }";
    let module = parse(text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((module.version, module.targets), ((8, 0), vec!["sm_90a", "debug"]));
}

#[test]
fn errors_point_at_the_place() {
    let error = parse(".version 8.0\n.target sm_90a\n.func f() {\n\tadd.u32 %r1, , %r2;\n}")
        .expect_err("an operand is missing");
    assert_eq!((error.position.line, error.position.column), (4, 15));
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1].find(", %r2"), lines[2].find('^'), "{text}");
}
