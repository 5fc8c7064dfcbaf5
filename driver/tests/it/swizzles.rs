//! What `tile-swizzle-shared` says of the bank conflicts of whole tiles is what the simulator counts, and the tiles arrive.
use crate::support::*;
use girih_core::dtype::DType;
use girih_ir::diag::Severity;
use girih_runtime::launch::HostValue;

/// Elements of a thread, lanes and warps, each along rows and columns, and the axis that is fast.
type Blocks = ([u64; 2], [u64; 2], [u64; 2], usize);

/// Layouts of four warps.
const LAYOUTS: [Blocks; 7] = [
    ([1, 4], [4, 8], [4, 1], 1),
    ([4, 1], [8, 4], [1, 4], 0),
    ([1, 1], [32, 1], [1, 4], 0),
    ([2, 2], [16, 2], [2, 2], 1),
    ([1, 2], [8, 4], [4, 1], 1),
    ([1, 8], [2, 16], [2, 2], 1),
    ([2, 1], [4, 8], [1, 4], 0),
];

/// A layout as MLIR.
fn encoding(n: usize) -> String {
    let (per_thread, lanes, warps, fast) = LAYOUTS[n];
    let order = [fast, 1 - fast];
    format!("#tile.blocked<per_thread = {per_thread:?}, lanes = {lanes:?}, warps = {warps:?}, order = {order:?}>")
}

/// Ways of the worst conflict that is left, as a remark on the buffer says; 1 where it says of none.
fn said(remark: Option<&str>) -> u64 {
    let Some(text) = remark else { return 1 };
    let ways = |before: &str| {
        let rest = text.split(before).nth(1)?;
        rest.split("-way").next()?.parse().ok()
    };
    if text.contains("no access has a bank conflict") || text.ends_with(" removes it") && !text.contains("no swizzle") {
        return 1;
    }
    let left = ways("leaves it at ").or_else(|| ways("left at "));
    left.or_else(|| text.split("-way").next()?.parse().ok())
        .unwrap_or_else(|| panic!("{text}"))
}

/// A tile goes into a buffer as one layout has it, and comes back as another does. Gives the wavefronts that it takes.
fn check(dtype: DType, (rows, columns): (usize, usize), swizzle: &str, (from, to): (usize, usize)) -> u64 {
    let element = mlir(dtype);
    let global = format!("memref<{rows}x{columns}x{element}, #tile.global>");
    let shared = format!("memref<{rows}x{columns}x{element}, #tile.shared<swizzle = {swizzle}>>");
    let tile = |n: usize| format!("tensor<{rows}x{columns}x{element}, {}>", encoding(n));
    let (written, read) = (tile(from), tile(to));
    let source = format!(
        "tile.kernel @through(%X: {global}, %Y: {global}) threads(128) launch {{
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}} body {{
  %c0 = arith.constant 0 : index
  %m = tile.alloc : {shared}
  %x = tile.load %X[%c0, %c0] : {global} -> {written}
  tile.store %x, %m[%c0, %c0] : {written}, {shared}
  %y = tile.load %m[%c0, %c0] : {shared} -> {read}
  tile.store %y, %Y[%c0, %c0] : {read}, {global}
}}
"
    );
    let compiled = compiled(&source);
    let on_buffer: Vec<&str> = (compiled.messages.iter())
        .filter(|m| m.severity == Severity::Remark && m.place.as_ref().is_some_and(|(_, line, _)| *line == 6))
        .map(|m| m.text.as_str())
        .collect();
    assert!(on_buffer.len() <= 1, "{on_buffer:?}\n{source}");
    let remark = on_buffer.first().map(|text| text.to_string());
    let program = launchable(compiled);
    let x = noise(3, -8, 8);
    let values: [HostValue; 2] = [
        matrix(dtype, rows, columns, &x),
        matrix(dtype, rows, columns, |_, _| 77.0),
    ];
    let (after, banks) = run_counting_banks(&program, &values);
    assert_elements(&source, after.last().and_then(as_array).expect("an array"), x);
    assert_eq!(said(remark.as_deref()), banks.worst_degree, "{remark:?}\n{source}");
    if swizzle == "auto" {
        assert!(remark.is_some(), "{source}");
    }
    banks.wavefronts
}

#[test]
fn conflicts_of_whole_tiles_are_those_that_remarks_count() {
    let mut cases = vec![];
    for dtype in [DType::F32, DType::Bf16, DType::F64, DType::I8] {
        for shape in [(32, 32), (64, 64), (128, 16), (16, 128)] {
            for from in 0..LAYOUTS.len() {
                for to in 0..LAYOUTS.len() {
                    cases.push((dtype, shape, (from, to)));
                }
            }
        }
    }
    for (dtype, shape, layouts) in selection(cases, 11) {
        let row_bytes = shape.1 as u64 * dtype.bytes();
        let auto = check(dtype, shape, "auto", layouts);
        let none = check(dtype, shape, "none", layouts);
        assert!(auto <= none, "{dtype} {shape:?} {layouts:?}");
        if [32, 64, 128].contains(&row_bytes) {
            let spans = check(dtype, shape, &row_bytes.to_string(), layouts);
            assert!(auto <= spans, "{dtype} {shape:?} {layouts:?}");
        }
    }
}
