//! Products of one warpgroup: every combination of types, and of ways to bring operands.
//!
//! Operands come by tensor copies into panels, as many as the tile is spans wide, or (A) from global memory into registers.
//! All numbers are small integers, so that sums are exact in every format and in every order.
use crate::support::*;
use girih_core::dtype::DType;
use std::fmt::Write;

/// How one operand reaches the tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// From shared memory with this swizzle, the summed dimension contiguous.
    K(u32),
    /// The other dimension contiguous.
    Mn(u32),
    /// From registers.
    Registers,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    a: DType,
    b: DType,
    d: DType,
    n: usize,
    k: usize,
    a_from: From,
    b_from: From,
    unsigned: (bool, bool),
}

impl Case {
    fn new(a: DType, b: DType, d: DType, n: usize) -> Self {
        Case {
            a,
            b,
            d,
            n,
            // Two panels of the widest swizzle.
            k: 256 / a.bytes() as usize,
            a_from: From::K(128),
            b_from: From::K(128),
            unsigned: (false, false),
        }
    }
}

fn shared(swizzle: u32) -> String {
    match swizzle {
        0 => "#tile.shared".to_owned(),
        s => format!("#tile.shared<swizzle = {s}>"),
    }
}

/// An operand in shared memory: `mn` rows (or columns) of `k`.
struct Tile {
    name: char,
    dtype: DType,
    swizzle: u32,
    /// Length of a row in memory, and number of rows.
    width: usize,
    rows: usize,
}

impl Tile {
    fn new(name: char, dtype: DType, from: From, mn: usize, k: usize) -> Option<Self> {
        let (swizzle, width, rows) = match from {
            From::K(s) => (s, k, mn),
            From::Mn(s) => (s, mn, k),
            From::Registers => return None,
        };
        Some(Tile {
            name,
            dtype,
            swizzle,
            width,
            rows,
        })
    }
    fn span(&self) -> usize {
        self.swizzle.max(16) as usize / self.dtype.bytes() as usize
    }
    fn panels(&self) -> usize {
        self.width / self.span()
    }
    fn bytes(&self) -> usize {
        self.width * self.rows * self.dtype.bytes() as usize
    }
    fn memref(&self) -> String {
        let (p, r, s, t) = (self.panels(), self.rows, self.span(), mlir(self.dtype));
        format!("memref<{p}x{r}x{s}x{t}, {}>", shared(self.swizzle))
    }
    fn map(&self) -> String {
        let swizzle = match self.swizzle {
            0 => String::new(),
            s => format!(", swizzle = {s}"),
        };
        format!(
            "!tile.tensor_map<{}x{}x{}{swizzle}>",
            self.rows,
            self.span(),
            mlir(self.dtype)
        )
    }
    fn loads(&self, out: &mut String) {
        let name = self.name;
        let part = format!(
            "memref<{}x{}x{}, {}>",
            self.rows,
            self.span(),
            mlir(self.dtype),
            shared(self.swizzle)
        );
        for panel in 0..self.panels() {
            let column = panel * self.span();
            writeln!(
                out,
                "    %{name}p{panel} = arith.constant {panel} : index
    %{name}c{panel} = arith.constant {column} : index
    %{name}s{panel} = tile.slab %{name}[%{name}p{panel}] : {} -> {part}
    tile.tma.load %map_{name}[%c0, %{name}c{panel}], %{name}s{panel}, %bar[] : {}, {part}, memref<!tile.mbarrier, #tile.shared>",
                self.memref(),
                self.map(),
            )
            .expect("strings grow");
        }
    }
}

fn source(case: &Case) -> String {
    let Case { a, b, d, n, k, .. } = *case;
    let (ta, tb) = (
        Tile::new('a', a, case.a_from, 64, k),
        Tile::new('b', b, case.b_from, n, k).expect("b is in shared memory"),
    );
    let tiles: Vec<&Tile> = ta.iter().chain([&tb]).collect();
    let (mut maps, mut values, mut types, mut params) = (String::new(), vec![], vec![], vec![]);
    let (mut allocs, mut loads, mut bytes) = (String::new(), String::new(), 0);
    for t in &tiles {
        let name = t.name;
        let argument = rows_of(t.dtype);
        writeln!(
            maps,
            "  %map_{name} = tile.tensor_map %{} : {argument} -> {}",
            name.to_ascii_uppercase(),
            t.map()
        )
        .expect("strings grow");
        values.push(format!("%map_{name}"));
        types.push(t.map());
        params.push(format!("%map_{name}: {}", t.map()));
        writeln!(allocs, "  %{name} = tile.alloc : {}", t.memref()).expect("strings grow");
        t.loads(&mut loads);
        bytes += t.bytes();
    }
    let (mut a_type, mut load_a) = (
        format!("tensor<64x{k}x{}, #tile.layout<wgmma_a>>", mlir(a)),
        String::new(),
    );
    match &ta {
        Some(t) => a_type = t.memref(),
        None => load_a = format!("  %a = tile.load %A[%c0, %c0] : {} -> {a_type}\n", rows_of(a)),
    }
    let mut attributes = vec![];
    if matches!(case.a_from, From::Mn(_)) {
        attributes.push("a_major = \"mn\"");
    }
    if matches!(case.b_from, From::Mn(_)) {
        attributes.push("b_major = \"mn\"");
    }
    if case.unsigned.0 {
        attributes.push("unsigned_a");
    }
    if case.unsigned.1 {
        attributes.push("unsigned_b");
    }
    let attributes = match attributes[..] {
        [] => String::new(),
        _ => format!(" {{{}}}", attributes.join(", ")),
    };
    let acc = format!("tensor<64x{n}x{}, #tile.layout<wgmma_d>>", mlir(d));
    let (arg_a, arg_b, arg_c) = (rows_of(a), rows_of(b), rows_of(d));
    format!(
        "tile.kernel @product(%A: {arg_a}, %B: {arg_b}, %C: {arg_c}) threads(128) launch {{
  %c1 = arith.constant 1 : index
{maps}  tile.grid %c1, %c1, %c1 args({} : {})
}} body args({}) {{
  %c0 = arith.constant 0 : index
  %false = arith.constant false
{allocs}  %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {{
    %one = arith.constant 1 : i32
    %bytes = arith.constant {bytes} : i32
    tile.mbarrier.init %bar[], %one : memref<!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %bar[], %bytes : memref<!tile.mbarrier, #tile.shared>
{loads}  }}
  tile.barrier
  tile.mbarrier.wait %bar[], %false : memref<!tile.mbarrier, #tile.shared>
{load_a}  %start = tile.load %C[%c0, %c0] : {arg_c} -> {acc}
  tile.wgmma.fence
  %flying = tile.wgmma %a, %b, %start{attributes} : {a_type}, {}, {acc}
  tile.wgmma.commit
  %sum = tile.wgmma.wait 0 %flying : !tile.in_flight<{acc}> -> {acc}
  tile.store %sum, %C[%c0, %c0] : {acc}, {arg_c}
}}
",
        values.join(", "),
        types.join(", "),
        params.join(", "),
        tb.memref(),
    )
}

fn check(case: &Case) {
    let Case { a, b, d, n, k, .. } = *case;
    let range = |unsigned| if unsigned { (0, 200) } else { (-2, 2) };
    let ((a_low, a_high), (b_low, b_high)) = (range(case.unsigned.0), range(case.unsigned.1));
    let (left, right, start) = (noise(1, a_low, a_high), noise(2, b_low, b_high), noise(3, -9, 9));
    // An unsigned byte above 127 is a negative one to the array.
    let stored = |v: f64, unsigned: bool| if unsigned && v > 127.0 { v - 256.0 } else { v };
    let transposed = |from| matches!(from, From::Mn(_));
    let operand = |dtype, from, mn, f: &dyn Fn(usize, usize) -> f64| match transposed(from) {
        false => matrix(dtype, mn, k, f),
        true => matrix(dtype, k, mn, |row, column| f(column, row)),
    };
    let arguments = [
        operand(a, case.a_from, 64, &|m, k| stored(left(m, k), case.unsigned.0)),
        operand(b, case.b_from, n, &|n, k| stored(right(n, k), case.unsigned.1)),
        matrix(d, 64, n, &start),
    ];
    let got = run(&source(case), &arguments);
    assert_elements(&format!("{case:?}"), &got, |m, n| {
        start(m, n) + (0..k).map(|k| left(m, k) * right(n, k)).sum::<f64>()
    });
}

const FLOAT_TYPES: [(DType, DType, DType); 12] = [
    (DType::F16, DType::F16, DType::F16),
    (DType::F16, DType::F16, DType::F32),
    (DType::Bf16, DType::Bf16, DType::F32),
    (DType::F32, DType::F32, DType::F32),
    (DType::E4m3, DType::E4m3, DType::F16),
    (DType::E4m3, DType::E4m3, DType::F32),
    (DType::E4m3, DType::E5m2, DType::F16),
    (DType::E4m3, DType::E5m2, DType::F32),
    (DType::E5m2, DType::E4m3, DType::F16),
    (DType::E5m2, DType::E4m3, DType::F32),
    (DType::E5m2, DType::E5m2, DType::F16),
    (DType::E5m2, DType::E5m2, DType::F32),
];

#[test]
fn every_float_type_at_the_smallest_and_largest_n() {
    for (i, (a, b, d)) in FLOAT_TYPES.into_iter().enumerate() {
        let sizes: &[usize] = match (all(), i % 3) {
            (true, _) => &[8, 24, 136, 256],
            (_, 0) => &[8],
            (_, 1) => &[24],
            _ => &[256],
        };
        for n in sizes {
            check(&Case::new(a, b, d, *n));
        }
    }
}

#[test]
fn integers_signed_and_unsigned() {
    for (n, unsigned) in [
        (8, (false, false)),
        (24, (false, true)),
        (48, (true, false)),
        (256, (true, true)),
    ] {
        check(&Case {
            unsigned,
            ..Case::new(DType::I8, DType::I8, DType::I32, n)
        });
    }
}

#[test]
fn every_swizzle_and_major_of_16_bit_operands() {
    let mut cases = vec![];
    for dtype in [DType::F16, DType::Bf16] {
        for a in [0, 32, 64, 128] {
            for b in [0, 32, 64, 128] {
                for (a_from, b_from) in [
                    (From::K(a), From::K(b)),
                    (From::Mn(a), From::K(b)),
                    (From::K(a), From::Mn(b)),
                    (From::Mn(a), From::Mn(b)),
                ] {
                    cases.push(Case {
                        a_from,
                        b_from,
                        ..Case::new(dtype, dtype, DType::F32, 128)
                    });
                }
            }
        }
    }
    for case in selection(cases, 7) {
        check(&case);
    }
}

#[test]
fn every_swizzle_of_narrow_and_wide_operands() {
    let mut cases = vec![];
    for (dtype, d) in [
        (DType::E4m3, DType::F32),
        (DType::F32, DType::F32),
        (DType::I8, DType::I32),
    ] {
        for a in [0, 32, 64, 128] {
            for b in [0, 32, 64, 128] {
                cases.push(Case {
                    a_from: From::K(a),
                    b_from: From::K(b),
                    ..Case::new(dtype, dtype, d, 64)
                });
            }
        }
    }
    for case in selection(cases, 5) {
        check(&case);
    }
}

#[test]
fn the_first_operand_from_registers() {
    let mut types = FLOAT_TYPES.to_vec();
    types.push((DType::I8, DType::I8, DType::I32));
    for (i, (a, b, d)) in types.into_iter().enumerate() {
        for n in if all() {
            vec![8, 24, 64, 256]
        } else {
            vec![[8, 48][i % 2]]
        } {
            if a == DType::I8 && n == 24 && !all() {
                continue;
            }
            check(&Case {
                a_from: From::Registers,
                ..Case::new(a, b, d, n)
            });
        }
    }
    for (dtype, b) in [(DType::F16, 128), (DType::Bf16, 64)] {
        check(&Case {
            a_from: From::Registers,
            b_from: From::Mn(b),
            ..Case::new(dtype, dtype, DType::F32, 64)
        });
    }
}

#[test]
fn one_step_and_many() {
    for k in [16, 64, 256] {
        check(&Case {
            k,
            a_from: From::K(32),
            b_from: From::K(32),
            ..Case::new(DType::Bf16, DType::Bf16, DType::F32, 64)
        });
    }
}
