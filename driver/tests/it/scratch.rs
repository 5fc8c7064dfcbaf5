//! What warps tell each other in reductions and scans goes through shared memory without bank conflicts, whichever axis it is
//! along.
use crate::support::*;
use girih_core::dtype::DType;
use girih_runtime::launch::HostValue;

/// An op that tells warps something, on a tile of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    /// Sums of columns.
    Columns,
    /// Sums of rows.
    Rows,
    /// Sums of columns of four tiles on top of each other.
    Middle,
    /// Sums of columns so far.
    ScanColumns,
    /// Sums of rows so far.
    ScanRows,
}

impl Told {
    const ALL: [Told; 5] = [
        Told::Columns,
        Told::Rows,
        Told::Middle,
        Told::ScanColumns,
        Told::ScanRows,
    ];

    /// The op's lines from `%x` to `%y`, and the sizes of its result.
    fn lines(self, element: &str, (rows, columns): (usize, usize)) -> (String, (usize, usize)) {
        let add = if element.starts_with('i') { "addi" } else { "addf" };
        let combiner = format!(
            "(%a: {element}, %b: {element}) {{
    %s = arith.{add} %a, %b : {element}
    tile.yield %s : {element}
  }}"
        );
        let whole = format!("tensor<{rows}x{columns}x{element}>");
        let part = rows / 4;
        match self {
            Told::Columns => (
                format!(
                    "  %r = tile.reduce %x axis 0 {combiner} : {whole} -> tensor<{columns}x{element}>
  %y = tile.expand_dims %r axis 0 : tensor<{columns}x{element}> -> tensor<1x{columns}x{element}>\n"
                ),
                (1, columns),
            ),
            Told::Rows => (
                format!(
                    "  %r = tile.reduce %x axis 1 {combiner} : {whole} -> tensor<{rows}x{element}>
  %y = tile.expand_dims %r axis 1 : tensor<{rows}x{element}> -> tensor<{rows}x1x{element}>\n"
                ),
                (rows, 1),
            ),
            Told::Middle => (
                format!(
                    "  %t = tile.reshape %x : {whole} -> tensor<4x{part}x{columns}x{element}>
  %y = tile.reduce %t axis 1 {combiner} : tensor<4x{part}x{columns}x{element}> -> tensor<4x{columns}x{element}>\n"
                ),
                (4, columns),
            ),
            Told::ScanColumns | Told::ScanRows => {
                let axis = usize::from(self == Told::ScanRows);
                let line = format!("  %y = tile.scan %x axis {axis} {combiner} : {whole} -> {whole}\n");
                (line, (rows, columns))
            }
        }
    }

    /// What the result has at a place.
    fn want(self, (rows, columns): (usize, usize), at: (usize, usize), x: &dyn Fn(usize, usize) -> f64) -> f64 {
        let sum = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| -> f64 {
            rows.flat_map(|r| columns.clone().map(move |c| (r, c)))
                .map(|(r, c)| x(r, c))
                .sum()
        };
        let (r, c) = at;
        match self {
            Told::Columns => sum(0..rows, c..c + 1),
            Told::Rows => sum(r..r + 1, 0..columns),
            Told::Middle => sum(r * rows / 4..(r + 1) * rows / 4, c..c + 1),
            Told::ScanColumns => sum(0..r + 1, c..c + 1),
            Told::ScanRows => sum(r..r + 1, 0..c + 1),
        }
    }
}

/// Runs one kernel: its result is right, and a conflict that it has is in a remark. Gives wavefronts beyond those without
/// conflicts.
fn wasted(told: Told, dtype: DType, threads: usize, shape: (usize, usize)) -> u64 {
    let element = dtype.name();
    let (lines, result) = told.lines(element, shape);
    let (rows, columns) = shape;
    let memory = format!("memref<?x?x{element}, strided<[?, 1]>, #tile.global>");
    let source = format!(
        "tile.kernel @told(%X: {memory}, %Y: {memory}) threads({threads}) launch {{
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}} body {{
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : {memory} -> tensor<{rows}x{columns}x{element}>
{lines}  tile.store %y, %Y[%c0, %c0] : tensor<{}x{}x{element}>, {memory}
}}
",
        result.0, result.1
    );
    let what = format!("{told:?} of {rows}x{columns} {element}, {threads} threads");
    let program = launchable(compiled(&source));
    // Sums stay where every format here is exact.
    let x = noise(1, -1, 1);
    let values: [HostValue; 2] = [
        matrix(dtype, rows, columns, &x),
        matrix(dtype, result.0, result.1, |_, _| 77.0),
    ];
    let (after, banks) = run_counting_banks(&program, &values);
    let got = after.last().and_then(as_array).expect("an array");
    assert_elements(&what, got, |r, c| told.want(shape, (r, c), &x));
    banks.wasted_wavefronts
}

#[test]
fn what_warps_tell_each_other_has_no_bank_conflicts() {
    let mut cases = vec![];
    for told in Told::ALL {
        for dtype in [DType::F32, DType::Bf16, DType::F64, DType::I8] {
            for threads in [128, 512] {
                for shape in [(64, 64), (32, 128), (128, 32)] {
                    cases.push((told, dtype, threads, shape));
                }
            }
        }
    }
    for (told, dtype, threads, shape) in selection(cases, 7) {
        let wasted = wasted(told, dtype, threads, shape);
        assert_eq!(wasted, 0, "{told:?} of {shape:?} {dtype}, {threads} threads");
    }
}
