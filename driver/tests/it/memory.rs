//! Register tiles and single elements to and from memory: edges, strides, alignment, swizzles.
use crate::support::*;
use girih_core::dtype::DType;

/// A copy of one tile between two matrices, at any place of each.
struct Copy {
    dtype: DType,
    layout: &'static str,
    columns: usize,
}

impl Copy {
    fn source(&self) -> String {
        let memref = format!("memref<?x?x{}, strided<[?, ?]>, #tile.global>", mlir(self.dtype));
        let tile = format!(
            "tensor<64x{}x{}, #tile.layout<{}>>",
            self.columns,
            mlir(self.dtype),
            self.layout
        );
        format!(
            "tile.kernel @copy(%A: {memref}, %i: i64, %j: i64, %k: i64, %l: i64, %B: {memref}) threads(128) launch {{
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}} body {{
  %from_row = arith.index_cast %i : i64 to index
  %from_column = arith.index_cast %j : i64 to index
  %to_row = arith.index_cast %k : i64 to index
  %to_column = arith.index_cast %l : i64 to index
  %tile = tile.load %A[%from_row, %from_column] : {memref} -> {tile}
  tile.store %tile, %B[%to_row, %to_column] : {tile}, {memref}
}}
"
        )
    }
}

/// Sizes, strides, byte offset of a matrix, and where the tile starts in it.
type Place = ((usize, usize), (u64, u64), u64, (i64, i64));

const PLACES: [Place; 10] = [
    // Inside, aligned: neighbours move together.
    ((64, 128), (128, 1), 0, (0, 0)),
    // Past both edges, from inside.
    ((61, 37), (37, 1), 0, (3, 5)),
    // Before the first element.
    ((70, 70), (72, 1), 0, (-7, -9)),
    // Rows that start anywhere.
    ((80, 131), (131, 1), 0, (0, 0)),
    ((80, 130), (133, 1), 0, (2, 1)),
    // An address that only one element is aligned for.
    ((64, 128), (128, 1), 4, (0, 0)),
    // Gaps between the elements of a row, and rows that are columns.
    ((64, 64), (200, 3), 0, (0, 0)),
    ((64, 64), (1, 67), 0, (1, 2)),
    // One element; and a tile that misses all of it.
    ((1, 1), (1, 1), 0, (0, 0)),
    ((5, 7), (7, 1), 0, (100, -300)),
];

#[test]
fn tiles_anywhere_in_global_memory() {
    let mut copies = vec![];
    for dtype in [DType::F32, DType::Bf16, DType::I8, DType::E4m3, DType::F16, DType::I32] {
        for (layout, columns) in [("wgmma_d", 8), ("wgmma_a", 64), ("wgmma_d", 64)] {
            copies.push(Copy { dtype, layout, columns });
        }
    }
    for copy in selection(copies, 4) {
        let program = program(&copy.source());
        for from in PLACES {
            for to in selection(PLACES.to_vec(), 3) {
                check_copy(&program, &copy, from, to);
            }
        }
    }
}

fn check_copy(program: &girih_runtime::Program, copy: &Copy, from: Place, to: Place) {
    let (value, old) = (noise(1, -8, 8), noise(2, 9, 15));
    let align = copy.dtype.bytes();
    let offset = |bytes: u64| bytes.min(align.max(4));
    let arguments = [
        pitched(copy.dtype, from.0, from.1, offset(from.2), &value),
        integer(from.3.0),
        integer(from.3.1),
        integer(to.3.0),
        integer(to.3.1),
        pitched(copy.dtype, to.0, to.1, offset(to.2), &old),
    ];
    let after = run_kernel(program, None, &arguments);
    let got = as_array(&after[5]).expect("an array");
    let inside = |(r, c): (i64, i64), (rows, columns): (usize, usize)| {
        r >= 0 && c >= 0 && (r as usize) < rows && (c as usize) < columns
    };
    let what = format!("{:?} {} from {from:?} to {to:?}", copy.dtype, copy.layout);
    assert_elements(&what, got, |row, column| {
        let (r, c) = (row as i64 - to.3.0, column as i64 - to.3.1);
        if !inside((r, c), (64, copy.columns)) {
            return old(row, column);
        }
        let source = (r + from.3.0, c + from.3.1);
        match inside(source, from.0) {
            true => value(source.0 as usize, source.1 as usize),
            false => 0.0,
        }
    });
    // Nothing between the elements has changed.
    let mut gaps = got.clone();
    let before = as_array(&arguments[5]).expect("an array");
    assert!(gaps.set_packed_bytes(&before.to_packed_bytes()));
    assert!(gaps == *before, "{what}: bytes outside the array were written");
}

/// A kernel that brings a 64-row panel of `dtype` into shared memory by a tensor copy, runs `body`, and has the matrix
/// `%C` for results. `%panel` is the panel, `%to` a map of `%C`.
fn with_panel(dtype: DType, swizzle: u32, columns: usize, body: &str) -> String {
    let (element, space, suffix) = match swizzle {
        0 => (mlir(dtype), "#tile.shared".to_owned(), String::new()),
        s => (
            mlir(dtype),
            format!("#tile.shared<swizzle = {s}>"),
            format!(", swizzle = {s}"),
        ),
    };
    let panel = format!("memref<64x{columns}x{element}, {space}>");
    let map = format!("!tile.tensor_map<64x{columns}x{element}{suffix}>");
    let rows = rows_of(dtype);
    let bytes = 64 * columns * dtype.bytes() as usize;
    let body = body
        .replace("PANEL", &panel)
        .replace("MAP", &map)
        .replace("ROWS", &rows)
        .replace("COLUMNS", &columns.to_string())
        .replace("ELEMENT", element);
    format!(
        "tile.kernel @panel(%A: {rows}, %C: {rows}) threads(128) launch {{
  %c1 = arith.constant 1 : index
  %from = tile.tensor_map %A : {rows} -> {map}
  %to = tile.tensor_map %C : {rows} -> {map}
  tile.grid %c1, %c1, %c1 args(%from, %to : {map}, {map})
}} body args(%from: {map}, %to: {map}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %false = arith.constant false
  // Something in front, so that the panel does not start at 0.
  %before = tile.alloc : memref<3x!tile.mbarrier, #tile.shared>
  %panel = tile.alloc : {panel}
  %thread = tile.thread_id
  %first = arith.cmpi eq, %thread, %c0 : index
  scf.if %first {{
    %one = arith.constant 1 : i32
    %bytes = arith.constant {bytes} : i32
    tile.mbarrier.init %before[%c1], %one : memref<3x!tile.mbarrier, #tile.shared>
    tile.fence mbarrier_init
    tile.mbarrier.arrive_expect_tx %before[%c1], %bytes : memref<3x!tile.mbarrier, #tile.shared>
    tile.tma.load %from[%c0, %c0], %panel, %before[%c1] : {map}, {panel}, memref<3x!tile.mbarrier, #tile.shared>
  }}
  tile.barrier
  tile.mbarrier.wait %before[%c1], %false : memref<3x!tile.mbarrier, #tile.shared>
{body}}}
"
    )
}

/// Each thread of the first 64 copies one row.
const ELEMENTS_OUT: &str = "  %mine = arith.cmpi ult, %thread, %c64 : index
  scf.if %mine {
    %n = arith.constant COLUMNS : index
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %panel[%thread, %j] : PANEL
      memref.store %v, %C[%thread, %j] : ROWS
    }
  }
";

/// Each thread mirrors one row in place; a tensor copy brings the panel out.
const ELEMENTS_IN: &str = "  %mine = arith.cmpi ult, %thread, %c64 : index
  scf.if %mine {
    %n = arith.constant COLUMNS : index
    %half = arith.shrui %n, %c1 : index
    %last = arith.subi %n, %c1 : index
    scf.for %j = %c0 to %half step %c1 {
      %k = arith.subi %last, %j : index
      %v = memref.load %panel[%thread, %j] : PANEL
      %w = memref.load %panel[%thread, %k] : PANEL
      memref.store %v, %panel[%thread, %k] : PANEL
      memref.store %w, %panel[%thread, %j] : PANEL
    }
  }
  tile.fence proxy_async_shared
  tile.barrier
  scf.if %first {
    tile.tma.store %panel, %to[%c0, %c0] : PANEL, MAP
    tile.bulk.commit
    tile.bulk.wait 0
  }
";

#[test]
fn single_elements_of_every_swizzle() {
    let mut cases = vec![];
    for dtype in [DType::F32, DType::Bf16, DType::I8, DType::E5m2, DType::I16, DType::I64] {
        for swizzle in [0, 32, 64, 128] {
            cases.push((dtype, swizzle));
        }
    }
    for (dtype, swizzle) in selection(cases, 3) {
        let columns = swizzle.max(16) as usize / dtype.bytes() as usize;
        let value = noise(7, -8, 8);
        let arguments = [
            matrix(dtype, 64, columns, &value),
            matrix(dtype, 64, columns, |_, _| 1.0),
        ];
        let what = format!("{dtype:?} with swizzle {swizzle}");
        let got = run(&with_panel(dtype, swizzle, columns, ELEMENTS_OUT), &arguments);
        assert_elements(&what, &got, &value);
        let got = run(&with_panel(dtype, swizzle, columns, ELEMENTS_IN), &arguments);
        assert_elements(&what, &got, |row, column| value(row, columns - 1 - column));
    }
}

/// A tile from one column of the panel to another, and out by a tensor copy.
fn tiles_through(layout: &str, width: usize, from: usize, to: usize) -> String {
    let tile = format!("tensor<64x{width}xELEMENT, #tile.layout<{layout}>>");
    format!(
        "  %from_column = arith.constant {from} : index
  %to_column = arith.constant {to} : index
  %tile = tile.load %panel[%c0, %from_column] : PANEL -> {tile}
  tile.barrier
  tile.store %tile, %panel[%c0, %to_column] : {tile}, PANEL
  tile.fence proxy_async_shared
  tile.barrier
  scf.if %first {{
    tile.tma.store %panel, %to[%c0, %c0] : PANEL, MAP
    tile.bulk.commit
    tile.bulk.wait 0
  }}
"
    )
}

#[test]
fn tiles_of_swizzled_shared_memory() {
    let mut cases = vec![];
    for dtype in [DType::F32, DType::Bf16, DType::I8, DType::E4m3] {
        for swizzle in [0, 32, 64, 128] {
            for (layout, width) in [("wgmma_d", 8), ("wgmma_a", 32 / dtype.bytes() as usize)] {
                // Odd columns: neighbours do not go together.
                for (from, to) in [(0, 8), (3, 0), (5, 7)] {
                    let columns = swizzle.max(16) as usize / dtype.bytes() as usize;
                    if from.max(to) + width <= columns {
                        cases.push((dtype, swizzle, columns, layout, width, from, to));
                    }
                }
            }
        }
    }
    for (dtype, swizzle, columns, layout, width, from, to) in selection(cases, 3) {
        let value = noise(8, -8, 8);
        let arguments = [
            matrix(dtype, 64, columns, &value),
            matrix(dtype, 64, columns, |_, _| 1.0),
        ];
        let body = tiles_through(layout, width, from, to);
        let got = run(&with_panel(dtype, swizzle, columns, &body), &arguments);
        let what = format!("{dtype:?}, swizzle {swizzle}, {layout}, {width} columns from {from} to {to}");
        assert_elements(&what, &got, |row, column| match (to..to + width).contains(&column) {
            true => value(row, column - to + from),
            false => value(row, column),
        });
    }
}
