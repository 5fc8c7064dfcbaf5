//! Every mode against formulas of single elements over the logical tensor (PTX ISA 9.4 section 5.5), on drawn maps.
//!
//! The engine walks rows; here each element of the image is computed by itself: its place in the image, its coordinates in
//! closed form, whether it is inside, and the byte that it has in global memory. Maps grow with the case's number, so that
//! the first that differs is a small one. `GIRIH_TEST_CASES=n` draws n cases of each kind instead of the usual number.
use super::{LoadMode, ReduceOp, StoreMode, flat::Flat, load, reduce, store};
use girih_core::tensor_map::{Caps, Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap, WidePixels};
use std::ops::Range;

const GLOBAL_BYTES: usize = 1 << 18;
const SHARED_BYTES: usize = 1 << 18;
/// Formats whose elements are whole bytes and whose loads copy bits.
const PLAIN: [Format; 11] = [
    Format::U8,
    Format::U16,
    Format::U32,
    Format::S32,
    Format::U64,
    Format::S64,
    Format::F16,
    Format::F32,
    Format::F64,
    Format::Bf16,
    Format::F32Ftz,
];

fn cases(usual: usize) -> usize {
    let asked = std::env::var("GIRIH_TEST_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
    fn from(&mut self, range: Range<i64>) -> i64 {
        range.start + (self.next() % (range.end - range.start) as u64) as i64
    }
    fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.next() % list.len() as u64) as usize]
    }
}

/// An element of the image: where it lies, and which of the tensor's elements it is.
struct Element {
    /// Bytes from the start of the image, before the swizzle.
    image: u64,
    /// Coordinates, innermost first; the bytes of a slice share theirs.
    coords: Vec<i64>,
    /// Byte within the element or slice, and its size.
    byte: u64,
}

/// Bytes from one row of the image to the next (section 5.5.7: rows are padded to the span).
fn pitch(map: &TensorMap, row_bytes: u64) -> u64 {
    let span = match map.swizzle {
        Swizzle::None => 0,
        Swizzle::B32 => 32,
        Swizzle::B64 => 64,
        Swizzle::B96 => 96,
        _ => 128,
    };
    if map.interleave == Interleave::None {
        row_bytes.max(span)
    } else {
        row_bytes
    }
}

/// The permutation, bit by bit, as the manual's tables have it.
fn permuted(swizzle: Swizzle, address: u64) -> u64 {
    let bit = |n: u64| address >> n & 1;
    let flips: &[(u64, u64)] = match swizzle {
        Swizzle::None => &[],
        Swizzle::B32 | Swizzle::B96 => &[(4, 7)],
        Swizzle::B64 => &[(4, 7), (5, 8)],
        Swizzle::B128 => &[(4, 7), (5, 8), (6, 9)],
        Swizzle::B128Atom32 => &[(5, 7), (6, 8)],
        Swizzle::B128Atom32Flip8 => &[(5, 7), (6, 8), (3, 7)],
        Swizzle::B128Atom64 => &[(6, 7)],
    };
    flips.iter().fold(address, |a, (to, by)| a ^ bit(*by) << to)
}

/// The elements of a box whose start each row of `starts` gives: dimension 0 (or the slice) is a row.
fn of_rows(map: &TensorMap, inner: u64, starts: &[Vec<i64>]) -> Vec<Element> {
    let bytes = map.format.bytes().expect("whole bytes");
    let slice = map.interleave.slice_bytes();
    let row_bytes = slice.unwrap_or(inner * bytes);
    let mut out = vec![];
    for (r, start) in starts.iter().enumerate() {
        for at in 0..row_bytes {
            let mut coords = start.clone();
            let byte = match slice {
                Some(_) => at,
                None => {
                    coords[0] += (at / bytes) as i64;
                    at % bytes
                }
            };
            let image = r as u64 * pitch(map, row_bytes) + at;
            out.push(Element { image, coords, byte });
        }
    }
    out
}

fn boxed(map: &TensorMap, x: &[i64]) -> Vec<Element> {
    let Mode::Tiled { box_dims } = &map.mode else {
        panic!("a tiled map")
    };
    let interleaved = map.interleave != Interleave::None;
    let first = if interleaved { 0 } else { 1 };
    let rank = x.len();
    let count = |i: usize| match interleaved && i == rank - 2 {
        true => 1,
        false => u64::from(box_dims[i].div_ceil(map.element_strides[i])),
    };
    let rows: u64 = (first..rank).map(count).product();
    let starts: Vec<Vec<i64>> = (0..rows)
        .map(|r| {
            let mut below = 1;
            let mut c = x.to_vec();
            for (i, at) in c.iter_mut().enumerate().skip(first) {
                *at += (r / below % count(i)) as i64 * i64::from(map.element_strides[i]);
                below *= count(i);
            }
            c
        })
        .collect();
    of_rows(map, box_dims[0].into(), &starts)
}

fn four_rows(map: &TensorMap, x: &[i64]) -> Vec<Element> {
    let Mode::Tiled { box_dims } = &map.mode else {
        panic!("a tiled map")
    };
    let starts: Vec<_> = x[1..].iter().map(|row| vec![x[0], *row]).collect();
    of_rows(map, box_dims[0].into(), &starts)
}

/// The coordinate after `steps` steps of `by` in `lo..hi`, and how often it has wrapped.
fn wrapped(at: i64, (lo, hi): (i64, i64), by: i64, steps: i64) -> (i64, i64) {
    let before = (hi - at + by - 1) / by;
    if steps < before {
        return (at + steps * by, 0);
    }
    let (rest, round) = (steps - before, (hi - lo + by - 1) / by);
    (lo + rest % round * by, 1 + rest / round)
}

/// Pixels `order` of a walk through the window of `spatial` dimensions, shifted as a whole by `shift` in W, each seen
/// `offsets` further on.
fn pixels(
    map: &TensorMap,
    x: &[i64],
    window: &[(i64, i64)],
    shift: i64,
    offsets: &[i64],
    channels: u32,
    order: impl Iterator<Item = i64>,
) -> Vec<Element> {
    let starts: Vec<Vec<i64>> = order
        .map(|p| {
            let mut c = x.to_vec();
            let mut steps = p;
            for (k, (lo, upper)) in window.iter().enumerate() {
                let d = k + 1;
                let shift = if k == 0 { shift } else { 0 };
                let hi = map.dims[d] as i64 + upper;
                let by = i64::from(map.element_strides[d]);
                (c[d], steps) = wrapped(x[d] + shift, (lo + shift, hi + shift), by, steps);
            }
            *c.last_mut().expect("a rank") += steps;
            for (k, offset) in offsets.iter().enumerate() {
                c[k + 1] += offset;
            }
            c
        })
        .collect();
    of_rows(map, channels.into(), &starts)
}

fn window(map: &TensorMap) -> (Vec<(i64, i64)>, u32, u32) {
    match &map.mode {
        Mode::Im2col {
            lower,
            upper,
            channels_per_pixel,
            pixels_per_column,
        } => {
            let corners = lower.iter().zip(upper).map(|(l, u)| (i64::from(*l), i64::from(*u)));
            (corners.collect(), *channels_per_pixel, *pixels_per_column)
        }
        Mode::Im2colWide {
            lower,
            upper,
            channels_per_pixel,
            pixels,
        } => (
            vec![(i64::from(*lower), i64::from(*upper))],
            *channels_per_pixel,
            pixels.count(),
        ),
        Mode::Tiled { .. } => panic!("an im2col map"),
    }
}

fn loaded(map: &TensorMap, mode: LoadMode, x: &[i64]) -> Vec<Element> {
    match mode {
        LoadMode::Tile => boxed(map, x),
        LoadMode::Gather4 => four_rows(map, x),
        LoadMode::Im2col { offsets } => {
            let (window, channels, count) = window(map);
            let offsets: Vec<i64> = offsets[..window.len()].iter().map(|o| i64::from(*o)).collect();
            pixels(map, x, &window, 0, &offsets, channels, 0..count.into())
        }
        LoadMode::Im2colW { halo, offset } => {
            let (window, channels, count) = window(map);
            let order = 0..i64::from(count) + i64::from(halo);
            pixels(map, x, &window, offset.into(), &[], channels, order)
        }
        LoadMode::Im2colW128 { halo, offset } => {
            let (window, channels, _) = window(map);
            let halos = (0..4).flat_map(|group| (0..i64::from(halo)).map(move |h| group * 32 + 32 + h));
            pixels(map, x, &window, offset.into(), &[], channels, (0..128).chain(halos))
        }
    }
}

impl Element {
    /// Where the byte is in global memory, if the element is inside; `granule` rounds the innermost size up to 16 bytes.
    fn global(&self, map: &TensorMap, granule: bool) -> Option<usize> {
        let bytes = map
            .interleave
            .slice_bytes()
            .or(map.format.bytes())
            .expect("whole bytes");
        let mut at = map.address as i64 + self.byte as i64;
        for (d, c) in self.coords.iter().enumerate() {
            let size = map.dims[d] as i64;
            let rounded = granule && d == 0 && map.interleave == Interleave::None;
            let inside = match rounded {
                true => *c >= 0 && c * bytes as i64 / 16 * 16 < size * bytes as i64,
                false => (0..size).contains(c),
            };
            if !inside {
                return None;
            }
            at += c * if d == 0 {
                bytes as i64
            } else {
                map.strides[d - 1] as i64
            };
        }
        Some(at as usize)
    }
}

/// Strides with room after each dimension, so that nothing overlaps, even rows that are rounded up.
fn strides(d: &mut Draw, dims: &[u64], inner_bytes: u64, unit: u64) -> Vec<u64> {
    let mut extent = dims[0] * inner_bytes;
    dims[1..]
        .iter()
        .map(|size| {
            let stride = extent.div_ceil(unit) * unit + unit * d.from(0..3) as u64;
            extent = stride * size;
            stride
        })
        .collect()
}

fn random_bytes(d: &mut Draw, len: usize) -> Vec<u8> {
    (0..len / 8).flat_map(|_| d.next().to_le_bytes()).collect()
}

/// Elements of 16 bytes.
fn granule(format: Format) -> i64 {
    16 / format.bytes().expect("whole bytes") as i64
}

fn tiled(d: &mut Draw, size: i64, with_interleave: bool) -> Option<TensorMap> {
    let format = d.one(&PLAIN);
    let interleave = match with_interleave {
        true => d.one(&[Interleave::None, Interleave::None, Interleave::B16, Interleave::B32]),
        false => Interleave::None,
    };
    let rank = d.from(if interleave == Interleave::None { 1..6 } else { 3..6 }) as usize;
    let dims: Vec<u64> = (0..rank).map(|_| d.from(1..size + 2) as u64).collect();
    let inner = interleave.slice_bytes().or(format.bytes())?;
    let mut box_dims: Vec<u32> = (0..rank).map(|_| d.from(1..size.min(6) + 1) as u32).collect();
    let g = granule(format);
    box_dims[0] = (d.from(1..9) * g) as u32;
    let map = TensorMap {
        format,
        address: 4096,
        strides: strides(d, &dims, inner, interleave.alignment()),
        mode: Mode::Tiled { box_dims },
        element_strides: (0..rank).map(|_| d.one(&[1, 1, 2, 3])).collect(),
        interleave,
        swizzle: d.one(&Swizzle::ALL),
        fill: if format.is_float() {
            d.one(&[Fill::Zero, Fill::Nan])
        } else {
            Fill::Zero
        },
        l2_promotion: L2Promotion::None,
        dims,
    };
    fits(&map).then_some(map)
}

fn images(d: &mut Draw, size: i64, wide: Option<bool>, inside: bool) -> Option<TensorMap> {
    let format = d.one(&PLAIN);
    let rank = if wide == Some(true) { 3 } else { d.from(3..6) as usize };
    let g = granule(format);
    let dims: Vec<u64> = (0..rank).map(|_| d.from(1..size + 3) as u64).collect();
    let channels_per_pixel = (d.from(1..5) * g) as u32;
    let (low, high) = if inside { (0..2, -1..1) } else { (-2..2, -2..3) };
    let mode = match wide {
        None => Mode::Im2col {
            lower: (2..rank).map(|_| d.from(low.clone()) as i32).collect(),
            upper: (2..rank).map(|_| d.from(high.clone()) as i32).collect(),
            channels_per_pixel,
            pixels_per_column: d.from(1..size * 4) as u32,
        },
        Some(w128) => Mode::Im2colWide {
            lower: d.from(low) as i32,
            upper: d.from(high) as i32,
            channels_per_pixel,
            pixels: if w128 {
                WidePixels::W128
            } else {
                WidePixels::W(d.from(1..size * 4) as u32)
            },
        },
    };
    let map = TensorMap {
        format,
        address: 4096,
        strides: strides(d, &dims, format.bytes()?, 16),
        mode,
        element_strides: (0..rank).map(|_| d.one(&[1, 1, 2])).collect(),
        interleave: Interleave::None,
        swizzle: d.one(&Swizzle::ALL),
        fill: if format.is_float() {
            d.one(&[Fill::Zero, Fill::Nan])
        } else {
            Fill::Zero
        },
        l2_promotion: L2Promotion::None,
        dims,
    };
    fits(&map).then_some(map)
}

fn fits(map: &TensorMap) -> bool {
    let last = map.strides.last().copied().unwrap_or(0) * map.dims.last().copied().unwrap_or(1);
    map.validate(&Caps::SM_103).is_ok() && last + 4096 < GLOBAL_BYTES as u64 / 2 && map.image_bytes() < 1 << 16
}

/// A start on 16 bytes, near the tensor.
fn start(d: &mut Draw, map: &TensorMap, outside: bool) -> Vec<i64> {
    let mut x: Vec<i64> = map
        .dims
        .iter()
        .map(|size| d.from(if outside { -3 } else { 0 }..*size as i64 + 2))
        .collect();
    if map.interleave == Interleave::None {
        let g = granule(map.format);
        x[0] = x[0].div_euclid(g) * g;
    }
    x
}

/// A start inside the window in every spatial dimension.
fn start_in_window(d: &mut Draw, map: &TensorMap, outside: bool) -> Option<Vec<i64>> {
    let mut x = start(d, map, outside);
    let (window, ..) = window(map);
    for (k, (low, high)) in window.iter().enumerate() {
        let end = map.dims[k + 1] as i64 + high;
        let low = if outside { *low } else { (*low).max(0) };
        if low >= end {
            return None;
        }
        x[k + 1] = d.from(low..end);
    }
    Some(x)
}

fn narrow(x: &[i64]) -> Vec<i32> {
    x.iter().map(|v| *v as i32).collect()
}

/// Holds one load to the formula: every byte of shared memory, and the transaction.
fn check_load(d: &mut Draw, map: &TensorMap, mode: LoadMode, x: &[i64]) {
    let source = random_bytes(d, GLOBAL_BYTES);
    let dst = 128 * d.from(0..9) as u64;
    let mut expected = vec![0xee; SHARED_BYTES];
    let elements = loaded(map, mode, x);
    for e in &elements {
        let fill = match map.fill {
            Fill::Zero => 0,
            Fill::Nan => [0xf7, 0x7f][(e.byte % 2) as usize],
        };
        let byte = e.global(map, false).map_or(fill, |at| source[at]);
        expected[permuted(map.swizzle, dst + e.image) as usize] = byte;
    }
    let (global, shared) = (Flat::new(0, source), Flat::new(0, vec![0xee; SHARED_BYTES]));
    let done = load(map, mode, &narrow(x), &global, &shared, dst);
    assert_eq!(done, Ok(elements.len() as u64), "{mode:?} at {x:?} of {map:?}");
    same(
        &shared.into_bytes(),
        &expected,
        &format!("{mode:?} at {x:?} to {dst} of {map:?}"),
    );
}

/// Holds one store, or one reduction, to the formula.
fn check_store(d: &mut Draw, map: &TensorMap, mode: StoreMode, op: Option<ReduceOp>, x: &[i64]) {
    let (before, source) = (random_bytes(d, GLOBAL_BYTES), random_bytes(d, SHARED_BYTES));
    let src = 128 * d.from(0..9) as u64;
    let mut elements = match mode {
        StoreMode::Tile => boxed(map, x),
        StoreMode::Scatter4 => four_rows(map, x),
        StoreMode::Im2colNoOffs => loaded(map, LoadMode::Im2col { offsets: [0; 3] }, x),
        StoreMode::Im2colNoOffsW => loaded(map, LoadMode::Im2colW { halo: 0, offset: 0 }, x),
    };
    if mode == StoreMode::Im2colNoOffsW {
        // Nothing happens from the first pixel outside on.
        let outer_inside = |e: &Element| (1..e.coords.len()).all(|i| (0..map.dims[i] as i64).contains(&e.coords[i]));
        let row_inside = |e: &Element| outer_inside(e) && x[0] < map.dims[0] as i64;
        let end = elements.iter().position(|e| !row_inside(e)).unwrap_or(elements.len());
        elements.truncate(end);
    }
    let mut expected = before.clone();
    let width = map.format.bytes().expect("whole bytes") as usize;
    match op {
        None => {
            for e in &elements {
                if let Some(at) = e.global(map, true) {
                    expected[at] = source[permuted(map.swizzle, src + e.image) as usize];
                }
            }
        }
        Some(op) => {
            for e in elements.iter().filter(|e| (e.byte as usize).is_multiple_of(width)) {
                let Some(at) = e.global(map, true) else { continue };
                let from = |i: u64| source[permuted(map.swizzle, src + e.image + i) as usize];
                let operand = u64::from_le_bytes(std::array::from_fn(|i| if i < width { from(i as u64) } else { 0 }));
                let old = u64::from_le_bytes(std::array::from_fn(|i| if i < width { expected[at + i] } else { 0 }));
                let new = combined(op, map.format, old, operand);
                expected[at..at + width].copy_from_slice(&new.to_le_bytes()[..width]);
            }
        }
    }
    let (global, shared) = (Flat::new(0, before), Flat::new(0, source));
    let done = match op {
        None => store(map, mode, &narrow(x), &shared, src, &global),
        Some(op) => reduce(map, op, mode, &narrow(x), &shared, src, &global),
    };
    let what = format!("{mode:?} {op:?} at {x:?} from {src} of {map:?}");
    assert_eq!(done, Ok(()), "{what}");
    same(&global.into_bytes(), &expected, &what);
}

/// Reductions of integers.
fn combined(op: ReduceOp, format: Format, d: u64, s: u64) -> u64 {
    let signed = |v: u64| match format {
        Format::S32 => i128::from(v as u32 as i32),
        Format::S64 => i128::from(v as i64),
        _ => i128::from(v),
    };
    match op {
        ReduceOp::Add => d.wrapping_add(s),
        ReduceOp::Min => signed(d).min(signed(s)) as u64,
        ReduceOp::Max => signed(d).max(signed(s)) as u64,
        ReduceOp::Inc => {
            if d >= s {
                0
            } else {
                d + 1
            }
        }
        ReduceOp::Dec => {
            if d == 0 || d > s {
                s
            } else {
                d - 1
            }
        }
        ReduceOp::And => d & s,
        ReduceOp::Or => d | s,
        ReduceOp::Xor => d ^ s,
    }
}

fn same(got: &[u8], expected: &[u8], what: &str) {
    if let Some(at) = (0..got.len()).find(|i| got[*i] != expected[*i]) {
        panic!("byte {at} is {:#x}, by formula {:#x}: {what}", got[at], expected[at]);
    }
}

/// Draws until `count` cases have run; the sizes grow.
fn run(seed: u64, count: usize, mut one: impl FnMut(&mut Draw, i64) -> Option<()>) {
    let mut d = Draw(seed);
    let (mut done, mut drawn) = (0, 0);
    while done < count {
        let size = 2 + (done * 12 / count.max(1)) as i64;
        done += usize::from(one(&mut d, size).is_some());
        drawn += 1;
        assert!(drawn < 1000 * count, "{done} of {drawn} drawn maps are legal");
    }
}

#[test]
fn boxes_of_every_rank_interleave_and_swizzle() {
    run(1, cases(700), |d, size| {
        let map = tiled(d, size, true)?;
        let x = start(d, &map, true);
        check_load(d, &map, LoadMode::Tile, &x);
        Some(())
    });
}

#[test]
fn four_rows_anywhere() {
    let rows = |d: &mut Draw, size: i64, outside: bool| {
        let mut map = tiled(d, size, false)?;
        let Mode::Tiled { box_dims } = &mut map.mode else {
            return None;
        };
        if box_dims.len() != 2 {
            return None;
        }
        box_dims[1] = 1;
        let mut x = start(d, &map, outside);
        let size = map.dims[1] as i64;
        // Distinct rows, so that the order of stores does not matter.
        let first = d.from(if outside { -4 } else { 0 }..size + 1);
        let order = d.one(&[[0, 1, 2, 3], [3, 1, 0, 2], [5, 2, 9, 0]]);
        x.truncate(1);
        x.extend(order.map(|row| first + row));
        Some((map, x))
    };
    run(2, cases(250), |d, size| {
        let (map, x) = rows(d, size, true)?;
        check_load(d, &map, LoadMode::Gather4, &x);
        Some(())
    });
    run(3, cases(250), |d, size| {
        let (map, x) = rows(d, size, false)?;
        check_store(d, &map, StoreMode::Scatter4, None, &x);
        Some(())
    });
}

#[test]
fn columns_of_pixels() {
    run(4, cases(500), |d, size| {
        let map = images(d, size, None, false)?;
        let x = start_in_window(d, &map, true)?;
        let offsets = std::array::from_fn(|_| d.from(0..4) as u16);
        check_load(d, &map, LoadMode::Im2col { offsets }, &x);
        Some(())
    });
}

#[test]
fn columns_along_w_with_halos() {
    run(5, cases(300), |d, size| {
        let map = images(d, size, Some(false), false)?;
        let x = start_in_window(d, &map, true)?;
        let (halo, offset) = (d.from(0..9) as u16, d.from(0..4) as u16);
        check_load(d, &map, LoadMode::Im2colW { halo, offset }, &x);
        Some(())
    });
    run(6, cases(150), |d, size| {
        let map = images(d, size, Some(true), false)?;
        let x = start_in_window(d, &map, true)?;
        let (halo, offset) = (d.from(0..9) as u16, d.from(0..4) as u16);
        check_load(d, &map, LoadMode::Im2colW128 { halo, offset }, &x);
        Some(())
    });
}

#[test]
fn stores_of_boxes_and_pixels() {
    run(7, cases(400), |d, size| {
        let map = tiled(d, size, true)?;
        let x = start(d, &map, false);
        check_store(d, &map, StoreMode::Tile, None, &x);
        Some(())
    });
    for (seed, wide, mode) in [
        (8, None, StoreMode::Im2colNoOffs),
        (9, Some(false), StoreMode::Im2colNoOffsW),
    ] {
        run(seed, cases(200), |d, size| {
            let map = images(d, size, wide, true)?;
            let x = start_in_window(d, &map, false)?;
            check_store(d, &map, mode, None, &x);
            Some(())
        });
    }
}

#[test]
fn reductions_of_boxes_and_pixels() {
    run(10, cases(500), |d, size| {
        let op = d.one(&ReduceOp::ALL);
        let (mode, map) = match d.from(0..3) {
            0 => (StoreMode::Im2colNoOffs, images(d, size, None, true)?),
            _ => (StoreMode::Tile, tiled(d, size, false)?),
        };
        let integer = matches!(map.format, Format::U32 | Format::S32 | Format::U64 | Format::S64);
        let core = girih_core::target::ReduceOp::ALL
            .into_iter()
            .find(|o| o.name() == op.name())?;
        if !integer || !core.formats().contains(&map.format) {
            return None;
        }
        let x = match mode {
            StoreMode::Tile => start(d, &map, false),
            _ => start_in_window(d, &map, false)?,
        };
        check_store(d, &map, mode, Some(op), &x);
        Some(())
    });
}
