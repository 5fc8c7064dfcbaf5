//! Types and attributes: their textual form, verification, and the interfaces that upstream asks them for.
use crate::{
    demo::{Space, Swizzle, TileType},
    support::{context, errors, parsed, round_trips, run, texts},
};
use girih_ir::{ext::DYNAMIC, kind::Kind, module, prelude::*};
use pretty_assertions::assert_eq;

fn of_type(text: &str) -> String {
    format!("func.func private @f({text})")
}

#[test]
fn forms_round_trip() {
    for t in [
        "!demo.tile<8x8xbf16>",
        "!demo.tile<0x?xindex, swizzle = 64>",
        "!demo.tile<?x?xi4, swizzle = 128>",
        "memref<4x!demo.tile<1x1xf8E4M3FN>, #demo.space>",
        "tensor<2xf32, #demo.space<bank = -7>>",
        "tuple<!demo.tile<2x2xf32>, !demo.tile<2x2xf32, swizzle = 64>>",
    ] {
        round_trips(&format!("module {{\n  {}\n}}\n", of_type(t)));
    }
}

#[test]
fn defaults_may_be_written_and_are_not_printed() {
    let printed = parsed(&of_type(
        "!demo.tile<2x2xf32, swizzle = none>, memref<2xf32, #demo.space<>>",
    ));
    assert!(
        printed.contains("(!demo.tile<2x2xf32>, memref<2xf32, #demo.space>)"),
        "{printed}"
    );
}

#[test]
fn malformed_parameters_are_refused_where_they_stand() {
    let refused = [
        ("!demo.tile", "1:32: error: expected '<'"),
        (
            "!demo.tile<2x2xf32, swizzle = 32>",
            "1:52: error: expected a swizzle: one of none, 64, 128; found `32`",
        ),
        (
            "!demo.tile<2x2xf32, colour = 1>",
            "1:42: error: 'tile' has no parameter 'colour'; expected one of: swizzle",
        ),
        (
            "!demo.tile<2x2xf32, swizzle = 64, swizzle = 64>",
            "1:56: error: parameter 'swizzle' is given twice",
        ),
        (
            "!demo.tile<2x2xmemref<2xf32>>",
            "1:37: error: expected a number type as element, found memref<2xf32>",
        ),
        (
            "!demo.tile<2x2x2xf32>",
            "1:32: error: expected a tile of rank 2, found rank 3; reshape it",
        ),
        ("!demo.tail<2>", "1:28: error: unknown type 'demo.tail'; known: tile"),
    ];
    for (text, why) in refused {
        assert_eq!(errors(&of_type(text)), [format!("dir/t.mlir:{why}")], "{text}");
    }
}

#[test]
fn views_give_parameters_and_builders_verify() {
    let c = context();
    let loc = Location::new(&c, "here.py", 3, 4);
    let f32 = Type::float32(&c);
    let tile = TileType::get(&c, (vec![4, DYNAMIC], f32), Swizzle::B64);
    assert_eq!(tile.plain().to_string(), "!demo.tile<4x?xf32, swizzle = 64>");
    assert_eq!((tile.tile(), tile.swizzle()), ((vec![4, DYNAMIC], f32), Swizzle::B64));
    assert_eq!(TileType::of(tile.plain()), Some(tile));
    assert!(TileType::of(f32).is_none());
    assert!(Space::of(Attribute::unit(&c)).is_none());
    let as_attribute = <TileType as Kind>::to_attribute(&tile, &c);
    assert_eq!(<TileType as Kind>::from_attribute(as_attribute), Some(tile));

    let (bad, found) = module::collect_diagnostics(&c, || TileType::checked(loc, (vec![1], f32), Swizzle::None));
    assert!(bad.is_err());
    assert_eq!(
        texts(&found),
        ["here.py:3:4: error: expected a tile of rank 2, found rank 1; reshape it"]
    );
}

#[test]
fn types_are_unique_in_their_context() {
    let c = context();
    let a = TileType::get(&c, (vec![2, 2], Type::float32(&c)), Swizzle::None);
    assert_eq!(Type::parse(&c, "!demo.tile<2x2xf32, swizzle = none>"), Some(a.plain()));
    assert_ne!(Type::parse(&c, "!demo.tile<2x2xf32, swizzle = 64>"), Some(a.plain()));
}

#[test]
fn only_types_that_say_so_are_memref_elements() {
    parsed(&of_type("memref<2x!demo.tile<2x2xf32>>"));
    let found = errors(&of_type("memref<2x!pair.of<f32, f32>>"));
    assert!(found[0].contains("invalid memref element type"), "{found:?}");
}

#[test]
fn encodings_check_the_tensors_that_carry_them() {
    parsed(&of_type("tensor<4x6xf32, #demo.space>"));
    assert_eq!(
        errors(&of_type("tensor<4x5xf32, #demo.space>")),
        ["dir/t.mlir:1:49: error: size 5 is odd; this encoding needs even sizes"]
    );
}

#[test]
fn upstream_asks_for_the_size_of_a_type() {
    // Four elements of 64 bits fit into 32 bytes of stack and not into 31.
    let source = "func.func @f() {
      %0 = memref.alloc() : memref<4x!demo.tile<2x2xf32>>
      %1 = memref.load %0[] : memref<4x!demo.tile<2x2xf32>>
      return
    }"
    .replace("%0[]", "%0[%c0]")
    .replace("%1 =", "%c0 = arith.constant 0 : index\n %1 =");
    for (bytes, op) in [(32, "memref.alloca("), (31, "memref.alloc(")] {
        let found = run(
            &source,
            &format!("func.func(promote-buffers-to-stack{{max-alloc-size-in-bytes={bytes}}})"),
        );
        assert!(found.contains(op), "{bytes}: {found}");
    }
}
