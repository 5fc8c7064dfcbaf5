//! Every mode as formulas of single elements over the logical tensor (PTX ISA 9.4 section 5.5): what the engine, which
//! walks rows, is held to, here and by programs that compare devices.
//!
//! Each element of the image is computed by itself: its place in the image, its coordinates in closed form, whether it is
//! inside, and the byte that it has in global memory. Formats are those whose elements are whole bytes; maps and modes must
//! fit each other, which the functions take for granted.
pub mod draw;
#[cfg(test)]
mod tests;

use super::{LoadMode, ReduceOp, StoreMode};
use girih_core::{
    number::{FloatFormat, Overflow, Rounding},
    tensor_map::{Format, Interleave, Mode, Swizzle, TensorMap},
};

/// An element of the image: where it lies, and which of the tensor's elements it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Bytes from the start of the image, before the swizzle.
    pub image: u64,
    /// Coordinates, innermost first; the bytes of a slice share theirs.
    pub coords: Vec<i64>,
    /// Byte within the element or slice.
    pub byte: u64,
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
pub fn permuted(swizzle: Swizzle, address: u64) -> u64 {
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
            let images = i64::from(*map.element_strides.last().expect("a rank"));
            *c.last_mut().expect("a rank") += steps * images;
            for (k, offset) in offsets.iter().enumerate() {
                c[k + 1] += offset;
            }
            c
        })
        .collect();
    of_rows(map, channels.into(), &starts)
}

/// Corners of the window in each spatial dimension, channels of a pixel, pixels of a column.
pub(super) fn window(map: &TensorMap) -> (Vec<(i64, i64)>, u32, u32) {
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

/// The elements of the image that a load makes.
pub fn loaded(map: &TensorMap, mode: LoadMode, x: &[i64]) -> Vec<Element> {
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
    pub fn global(&self, map: &TensorMap, granule: bool) -> Option<usize> {
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

/// The elements of the image that a store or a reduction reads.
pub fn stored(map: &TensorMap, mode: StoreMode, x: &[i64]) -> Vec<Element> {
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
    elements
}

/// A reduction of two elements, zero-extended, by definition: numbers as their values, rounded once.
pub fn combined(op: ReduceOp, format: Format, d: u64, s: u64) -> u64 {
    if let Some(float) = float(format) {
        return combined_floats(op, format, float, d, s);
    }
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

fn float(format: Format) -> Option<FloatFormat> {
    match format {
        Format::F16 => Some(FloatFormat::F16),
        Format::Bf16 => Some(FloatFormat::BF16),
        Format::F32 | Format::F32Ftz => Some(FloatFormat::F32),
        _ => None,
    }
}

/// Sums are rounded to nearest even, NaN is all ones but the sign; in a minimum or maximum a NaN loses, and -0 is below +0.
fn combined_floats(op: ReduceOp, format: Format, float: FloatFormat, d: u64, s: u64) -> u64 {
    let (width, nan) = match format {
        Format::F16 | Format::Bf16 => (16, 0x7fff),
        _ => (32, 0x7fff_ffff),
    };
    let value = |bits: u64| {
        let v = float.decode(bits);
        // 2^-126 is the least normal number of f32.
        let denormal = v != 0.0 && v.abs() < 2f64.powi(-126);
        if format == Format::F32Ftz && denormal {
            v * 0.0
        } else {
            v
        }
    };
    let (a, b) = (value(d), value(s));
    if op == ReduceOp::Add {
        // Exact in f64, or so close that rounding twice is rounding once: 53 bits are at least twice 24 and two more.
        let sum = a + b;
        let bits = float.encode(sum, Rounding::NearestEven, Overflow::Special);
        return match sum.is_nan() {
            true => nan,
            false if format == Format::F32Ftz && bits & 0x7f80_0000 == 0 => bits & 0x8000_0000,
            false => bits,
        };
    }
    let less = a < b || a == b && d >> (width - 1) > s >> (width - 1);
    match (a.is_nan(), b.is_nan()) {
        (true, true) => nan,
        (true, false) => s,
        (false, true) => d,
        (false, false) if less == (op == ReduceOp::Min) => d,
        (false, false) => s,
    }
}

/// What a load makes of an element of tf32: ten bits of mantissa, nearest even, and one NaN.
pub fn rounded_to_tf32(bits: u32) -> u32 {
    if f32::from_bits(bits).is_nan() {
        return 0x7fff_e000;
    }
    if bits & 0x7f80_0000 == 0x7f80_0000 {
        return bits;
    }
    let below = bits & 0x1fff;
    let up = below > 0x1000 || below == 0x1000 && bits & 0x2000 != 0;
    (bits & !0x1fff) + if up { 0x2000 } else { 0 }
}
