//! Maps and starts at random, for tests and for comparisons of devices. Sizes grow with `size`, so that of a series that
//! grows the first that differs is a small one.
use super::window;
use girih_core::tensor_map::{Caps, Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap, WidePixels};

/// Bytes from 0 on that no map's tensor reaches past.
pub const TENSOR_BYTES: u64 = 1 << 17;
/// Bytes that no image of a map reaches.
pub const IMAGE_BYTES: u64 = 1 << 16;

/// Formats whose elements are whole bytes and whose loads copy bits.
pub const PLAIN: [Format; 11] = [
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

/// Which maps are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Maps {
    /// What the target's maps can do.
    pub caps: Caps,
    /// Formats, of whole bytes.
    pub formats: &'static [Format],
}

/// Numbers at random.
pub use girih_core::draw::Dice as Draw;

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

/// Elements of 16 bytes.
pub fn granule(format: Format) -> i64 {
    16 / format.bytes().expect("whole bytes") as i64
}

impl Maps {
    /// A tiled map of a tensor of `size` or so in each dimension; `None` where what was drawn is not legal.
    pub fn tiled(&self, d: &mut Draw, size: i64, with_interleave: bool) -> Option<TensorMap> {
        let format = d.pick(self.formats);
        let interleave = match with_interleave {
            true => d.pick(&[Interleave::None, Interleave::None, Interleave::B16, Interleave::B32]),
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
            element_strides: (0..rank).map(|_| d.pick(&[1, 1, 2, 3])).collect(),
            interleave,
            swizzle: d.pick(&Swizzle::ALL),
            fill: if format.is_float() {
                d.pick(&[Fill::Zero, Fill::Nan])
            } else {
                Fill::Zero
            },
            l2_promotion: L2Promotion::None,
            dims,
        };
        self.fits(&map).then_some(map)
    }

    /// A map of images: `wide` as `im2col::w` (false) or `im2col::w::128` (true), `inside` with windows that stores may have.
    pub fn images(&self, d: &mut Draw, size: i64, wide: Option<bool>, inside: bool) -> Option<TensorMap> {
        let format = d.pick(self.formats);
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
            element_strides: (0..rank).map(|_| d.pick(&[1, 1, 2])).collect(),
            interleave: Interleave::None,
            swizzle: d.pick(&Swizzle::ALL),
            fill: if format.is_float() {
                d.pick(&[Fill::Zero, Fill::Nan])
            } else {
                Fill::Zero
            },
            l2_promotion: L2Promotion::None,
            dims,
        };
        self.fits(&map).then_some(map)
    }

    /// Whether the target takes the map and its tensor and image fit the memories that tests have.
    pub fn fits(&self, map: &TensorMap) -> bool {
        let last = map.strides.last().copied().unwrap_or(0) * map.dims.last().copied().unwrap_or(1);
        map.validate(&self.caps).is_ok() && last + 4096 < TENSOR_BYTES && map.image_bytes() < IMAGE_BYTES
    }
}

/// A start on 16 bytes, near the tensor; inside it, or past its end, unless `outside`.
pub fn start(d: &mut Draw, map: &TensorMap, outside: bool) -> Vec<i64> {
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
pub fn start_in_window(d: &mut Draw, map: &TensorMap, outside: bool) -> Option<Vec<i64>> {
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
