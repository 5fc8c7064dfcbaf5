//! Every pair of types that PTX multiplies: the tables of mma.sync and wgmma are walked, and each pair is a `tile.mma` that
//! becomes the instruction.
use girih::compile::{Emit, Options, compile};
use girih_core::{
    target::Target,
    wgmma::{self, Instruction, Operand, Source},
};
use girih_sim::tensor_core::{
    BitOp, Element, Sum,
    mma::{Mma, Options as Qualifiers},
};
use std::fmt::Write as _;

/// A pair of factors with their sum, as MLIR and as PTX write them.
struct Product {
    /// Element types of a, b and the sum.
    types: [&'static str; 3],
    /// What `tile.mma` says beside its operands.
    clauses: String,
    /// PTX's types of a, b and the sum, and what follows them.
    ptx: [&'static str; 3],
    suffix: &'static str,
}

fn element(e: Element) -> (&'static str, &'static str, bool) {
    match e {
        Element::F16 => ("f16", "f16", false),
        Element::Bf16 => ("bf16", "bf16", false),
        Element::Tf32 => ("f32", "tf32", false),
        Element::F64 => ("f64", "f64", false),
        Element::E4m3 => ("f8E4M3FN", "e4m3", false),
        Element::E5m2 => ("f8E5M2", "e5m2", false),
        Element::E3m2 => ("f6E3M2FN", "e3m2", false),
        Element::E2m3 => ("f6E2M3FN", "e2m3", false),
        Element::E2m1 => ("f4E2M1FN", "e2m1", false),
        Element::S8 => ("i8", "s8", false),
        Element::U8 => ("i8", "u8", true),
        Element::S4 => ("i4", "s4", false),
        Element::U4 => ("i4", "u4", true),
        Element::B1 => ("i1", "b1", false),
    }
}

fn sum(s: Sum) -> (&'static str, &'static str) {
    match s {
        Sum::F16 => ("f16", "f16"),
        Sum::F32 => ("f32", "f32"),
        Sum::F64 => ("f64", "f64"),
        Sum::S32 => ("i32", "s32"),
    }
}

fn product(a: Element, b: Element, d: Sum, bits: Option<BitOp>) -> Product {
    let ((a, pa, ua), (b, pb, ub), (d, pd)) = (element(a), element(b), sum(d));
    let (popc, suffix) = match bits {
        Some(BitOp::Xor) => (" popc xor", ".xor.popc"),
        Some(BitOp::And) => (" popc and", ".and.popc"),
        None => ("", ""),
    };
    let signs: Vec<_> = [("unsigned_a", ua), ("unsigned_b", ub)]
        .iter()
        .filter(|s| s.1)
        .map(|s| s.0)
        .collect();
    let signs = if signs.is_empty() {
        String::new()
    } else {
        format!(" {{{}}}", signs.join(", "))
    };
    Product {
        types: [a, b, d],
        clauses: format!("{popc}{signs}"),
        ptx: [pa, pb, pd],
        suffix,
    }
}

const ELEMENTS: [Element; 14] = [
    Element::F16,
    Element::Bf16,
    Element::Tf32,
    Element::F64,
    Element::E4m3,
    Element::E5m2,
    Element::E3m2,
    Element::E2m3,
    Element::E2m1,
    Element::S8,
    Element::U8,
    Element::S4,
    Element::U4,
    Element::B1,
];
const SUMS: [Sum; 4] = [Sum::F16, Sum::F32, Sum::F64, Sum::S32];

/// Whether an operand's numbers take less than a byte.
fn is_small_float(e: Element) -> bool {
    matches!(e, Element::E3m2 | Element::E2m3 | Element::E2m1)
}

/// Whether PTX has a dense `mma.sync` of 8 or 16 rows of these types.
fn exists(a: Element, b: Element, d: Sum, bit_op: Option<BitOp>) -> bool {
    let qualifiers = Qualifiers {
        bit_op,
        f8f6f4: is_small_float(a) || is_small_float(b),
        ..Qualifiers::default()
    };
    let shapes = [8, 16].into_iter().flat_map(|m| (2..9).map(move |k| (m, 8, 1 << k)));
    shapes
        .into_iter()
        .any(|shape| Mma::new(shape, a, b, d, d, qualifiers).is_ok())
}

/// All combinations, with whether PTX has them.
fn combinations() -> Vec<(Product, bool)> {
    let mut all = vec![];
    for a in ELEMENTS {
        for b in ELEMENTS {
            for d in SUMS {
                let kinds: &[_] = match (a, b) {
                    (Element::B1, Element::B1) => &[Some(BitOp::Xor), Some(BitOp::And)],
                    _ => &[None],
                };
                all.extend(
                    kinds
                        .iter()
                        .map(|bits| (product(a, b, d, *bits), exists(a, b, d, *bits))),
                );
            }
        }
    }
    all
}

/// How many numbers of an operand a kernel of bytes is loaded as, where memory has no such numbers.
fn in_a_byte(element: &str) -> i64 {
    match element {
        "i4" | "f4E2M1FN" => 2,
        "i1" => 8,
        _ => 1,
    }
}

/// What memory has for an operand's numbers.
fn in_memory(element: &'static str) -> &'static str {
    match element {
        "f6E3M2FN" | "f6E2M3FN" => "i8",
        _ if in_a_byte(element) > 1 => "i8",
        _ => element,
    }
}

/// A loop along K with tiles of `m` x `n`, `depth` bytes or numbers of K at a time; of operands of different widths as many bytes
/// of the narrower.
fn kernel(name: &str, p: &Product, [m, n, depth, threads]: [i64; 4]) -> String {
    let [a, b, d] = p.types;
    let (sa, sb, k) = (in_memory(a), in_memory(b), depth * in_a_byte(a).max(in_a_byte(b)));
    let (ka, kb) = (k / in_a_byte(a), k / in_a_byte(b));
    let zero = if d.starts_with('i') { "0" } else { "0.0" };
    let rows = format!("memref<?x?x{sa}, strided<[?, 1]>, #tile.global>");
    let columns = format!("memref<?x?x{sb}, strided<[1, ?]>, #tile.global>");
    let sums = format!("memref<?x?x{d}, strided<[?, 1]>, #tile.global>");
    let mut taken = String::new();
    let (mut x, mut y) = ("%a", "%b");
    if sa != a {
        let _ = writeln!(
            taken,
            "    %x = tile.bitcast %a : tensor<{m}x{ka}x{sa}> -> tensor<{m}x{k}x{a}>"
        );
        x = "%x";
    }
    if sb != b {
        let _ = writeln!(
            taken,
            "    %y = tile.bitcast %b : tensor<{kb}x{n}x{sb}> -> tensor<{k}x{n}x{b}>"
        );
        y = "%y";
    }
    let (times_a, times_b) = (ka / depth, kb / depth);
    format!(
        "tile.kernel @{name}(%A: {rows}, %B: {columns}, %C: {sums}) threads({threads}) launch {{
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}} body {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %times_a = arith.constant {times_a} : index
  %times_b = arith.constant {times_b} : index
  %step = arith.constant {depth} : index
  %all = memref.dim %A, %c1 : {rows}
  %K = arith.divui %all, %times_a : index
  %zero = arith.constant dense<{zero}> : tensor<{m}x{n}x{d}>
  %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero) -> (tensor<{m}x{n}x{d}>) {{
    %k_a = arith.muli %k, %times_a : index
    %k_b = arith.muli %k, %times_b : index
    %a = tile.load %A[%c0, %k_a] : {rows} -> tensor<{m}x{ka}x{sa}>
    %b = tile.load %B[%k_b, %c0] : {columns} -> tensor<{kb}x{n}x{sb}>
{taken}    %next = tile.mma {x}, {y}, %acc{} : tensor<{m}x{k}x{a}>, tensor<{k}x{n}x{b}>, tensor<{m}x{n}x{d}>
    scf.yield %next : tensor<{m}x{n}x{d}>
  }}
  tile.store %sum, %C[%c0, %c0] : tensor<{m}x{n}x{d}>, {sums}
}}
",
        p.clauses
    )
}

/// The PTX of a kernel each, in a module for `target`.
fn ptx(target: &str, kernels: &[String]) -> Vec<String> {
    let source = format!(
        "module attributes {{tile.target = \"{target}\"}} {{\n{}}}\n",
        kernels.concat()
    );
    let options = Options {
        emit: Emit::Ptx,
        ..Options::default()
    };
    let compiled = compile(source.as_bytes(), "products.mlir", &options).unwrap_or_else(|failure| {
        let said: Vec<_> = failure.messages.iter().map(ToString::to_string).collect();
        panic!("{}", said.join("\n"))
    });
    let text = String::from_utf8(compiled.content).expect("PTX is text");
    let entries: Vec<String> = text.split(".visible .entry ").skip(1).map(str::to_owned).collect();
    assert_eq!(entries.len(), kernels.len());
    entries
}

#[test]
fn every_pair_of_mma_sync_is_a_product_of_tiles() {
    let small = |p: &Product| p.ptx.iter().any(|name| matches!(*name, "e3m2" | "e2m3" | "e2m1"));
    let (later, there): (Vec<Product>, Vec<Product>) = combinations()
        .into_iter()
        .filter(|(_, exists)| *exists)
        .map(|(p, _)| p)
        .partition(small);
    // f16 twice, bf16, tf32, f64, four of 8-bit floats twice, four of either sign of i8 and of i4, two of bits.
    assert_eq!(there.len(), 2 + 3 + 8 + 4 + 4 + 2);
    // Of five floats of at most 8 bits each with each, but those two of 8 bits among themselves, twice.
    assert_eq!(later.len(), (25 - 4) * 2);
    for (target, kind, products) in [("sm_90", "", there), ("sm_120a", ".kind::f8f6f4", later)] {
        let kernels: Vec<String> = products
            .iter()
            .enumerate()
            .map(|(i, p)| kernel(&format!("k{i}"), p, [16, 8, 32, 32]))
            .collect();
        for (p, text) in products.iter().zip(ptx(target, &kernels)) {
            let [a, b, d] = p.ptx;
            let name = format!(".row.col{kind}.{d}.{a}.{b}.{d}{} ", p.suffix);
            let found = text
                .lines()
                .any(|line| line.contains("mma.sync.aligned.m16n8k") && line.contains(&name));
            assert!(found, "no mma.sync of {name}in\n{text}");
        }
    }
}

#[test]
fn every_pair_of_wgmma_is_a_product_of_warpgroups() {
    let operands = [
        (Operand::F16, Element::F16),
        (Operand::Bf16, Element::Bf16),
        (Operand::Tf32, Element::Tf32),
        (Operand::E4m3, Element::E4m3),
        (Operand::E5m2, Element::E5m2),
        (Operand::S8, Element::S8),
        (Operand::U8, Element::U8),
        (Operand::B1, Element::B1),
    ];
    let sums = [
        (wgmma::Accumulator::F16, Sum::F16),
        (wgmma::Accumulator::F32, Sum::F32),
        (wgmma::Accumulator::S32, Sum::S32),
    ];
    let mut there = vec![];
    for (oa, a) in operands {
        for (ob, b) in operands {
            for (od, d) in sums {
                let instruction = Instruction {
                    a: oa,
                    b: ob,
                    d: od,
                    n: 8,
                    a_source: Source::Shared(wgmma::Major::K),
                    b_major: wgmma::Major::K,
                };
                if instruction.check().is_ok() {
                    there.push(product(a, b, d, (a == Element::B1).then_some(BitOp::And)));
                }
            }
        }
    }
    // As above, without f64 and i4, and of bits `and` alone.
    assert_eq!(there.len(), 2 + 2 + 8 + 4 + 1);
    let kernels: Vec<String> = there
        .iter()
        .enumerate()
        .map(|(i, p)| kernel(&format!("k{i}"), p, [64, 8, 32, 128]))
        .collect();
    for (p, text) in there.iter().zip(ptx("sm_90a", &kernels)) {
        let [a, b, d] = p.ptx;
        let types = format!(".{d}.{a}.{b}{} ", p.suffix);
        let name = "wgmma.mma_async.sync.aligned.m64n8k";
        let found = text.lines().any(|line| line.contains(name) && line.contains(&types));
        assert!(found, "no {name} of {types} in\n{text}");
    }
}

#[test]
fn what_ptx_does_not_multiply_is_refused() {
    let target = Target::parse("sm_90").expect("a target");
    for (p, exists) in combinations() {
        // Signs are no types.
        if exists || p.ptx[0].starts_with('u') || p.ptx[1].starts_with('u') {
            continue;
        }
        let source = format!(
            "module attributes {{tile.target = \"{target}\"}} {{\n{}}}\n",
            kernel("k", &p, [16, 8, 32, 32])
        );
        let failure = compile(source.as_bytes(), "products.mlir", &Options::default());
        let said = failure
            .err()
            .map(|f| f.messages.iter().map(ToString::to_string).collect::<String>());
        let said = said.unwrap_or_else(|| panic!("takes {:?}", p.types));
        assert!(said.contains("tensor cores multiply"), "{:?}: {said}", p.types);
    }
}
