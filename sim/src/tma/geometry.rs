//! Which bytes of the tensor meet which bytes of the shared image.
//!
//! A copy is a list of rows. A row is a run of elements that lie side by side both in global memory and (before the
//! swizzle) in shared memory: dimension 0 of the box, the channels of one pixel, or one interleaved slice. Row `r` begins
//! at `r * pitch` in the image. Notation below: `E` element bytes, `z` dims, `b` box, `e` element strides, `x`
//! coordinates, `N[i] = ceil(b[i] / e[i])`, `S[0] = E`, `S[i] = strides[i - 1]`, all innermost first.
use super::StoreMode;
use super::illegal;
use crate::memory::Fault;
use girih_core::tensor_map::{Format, Mode, TensorMap, WidePixels};
use std::ops::Range;

/// How a load walks the tensor (PTX `.load_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadMode {
    /// `.tile`: the box at the coordinates.
    Tile,
    /// `.tile::gather4`: coordinates are a column and four rows; each row is a one-row box.
    Gather4,
    /// `.im2col`: pixels of a convolution window, shifted by `offsets` (W first; rank - 2 of them count).
    Im2col {
        /// Offsets of the filter tap, W first.
        offsets: [u16; 3],
    },
    /// `.im2col::w`: pixels along W alone; `halo` more of them follow the column.
    Im2colW {
        /// `wHalo`: pixels after the column.
        halo: u16,
        /// `wOffset`: shift of the window in W.
        offset: u16,
    },
    /// `.im2col::w::128`: 128 pixels along W, then for each 32 of them the `halo` pixels that follow these 32. That the
    /// halos lie behind all 128 is assumed: the text of PTX leaves it to a figure.
    Im2colW128 {
        /// `wHalo`: pixels after each 32.
        halo: u16,
        /// `wOffset`: shift of the window in W.
        offset: u16,
    },
}

/// One row of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Bytes from the start of the image to the row, before the swizzle.
    pub image: u64,
    /// Global address of the row's first byte; means something only where `valid` is not empty.
    pub global: u64,
    /// Bytes of the row, counted in global memory, that lie inside the tensor.
    pub valid: Range<u32>,
}

/// What is the same for every row of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of a row in global memory, padding of sub-byte formats not counted.
    pub row_bytes: u32,
    /// Bytes between rows in shared memory.
    pub pitch: u64,
    /// Bytes in global memory that become one 16-byte piece in shared memory: 16, or 8 and 12 for padded sub-byte formats.
    pub piece_bytes: u32,
}

const fn piece_bytes(format: Format) -> u32 {
    match format {
        Format::B4x16P64 => 8,
        Format::B6x16P32 => 12,
        _ => 16,
    }
}

/// The walk of one copy: its layout and all of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// What the rows share.
    pub layout: Layout,
    /// The rows, in the order in which they are written.
    pub rows: Vec<Row>,
}

/// Direction-dependent rules of the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// Loads: an element is inside the tensor or it is not.
    Exact,
    /// Stores and reductions: in dimension 0 the tensor's end is rounded up to 16 bytes (without interleave).
    Granule,
}

/// The rows that a load reads.
///
/// Errors: `CUDA_ERROR_ILLEGAL_INSTRUCTION` where the innermost coordinate does not begin at a multiple of 16 bytes (no
/// interleave), where an im2col copy starts outside its window, and where map and mode do not fit together.
pub fn load_walk(map: &TensorMap, mode: LoadMode, coords: &[i32]) -> Result<Walk, Fault> {
    let walker = Walker::new(map, coords, matches!(mode, LoadMode::Gather4), Edge::Exact)?;
    match mode {
        LoadMode::Tile => walker.tile(),
        LoadMode::Gather4 => walker.four_rows(),
        LoadMode::Im2col { offsets } => walker.im2col(offsets),
        LoadMode::Im2colW { halo, offset } => {
            let pixels = walker.wide_box("im2col::w", |p| matches!(p, WidePixels::W(_)))?.pixels;
            walker.im2col_w((0..pixels + u32::from(halo)).collect(), offset, false)
        }
        LoadMode::Im2colW128 { halo, offset } => {
            walker.wide_box("im2col::w::128", |p| p == WidePixels::W128)?;
            let halos = (1..=4).flat_map(|group| (0..u32::from(halo)).map(move |h| group * 32 + h));
            walker.im2col_w((0..128).chain(halos).collect(), offset, false)
        }
    }
}

/// The rows that a store or reduction writes.
///
/// Errors: as [`load_walk`], and `CUDA_ERROR_ILLEGAL_INSTRUCTION` for a negative coordinate in any dimension.
pub fn store_walk(map: &TensorMap, mode: StoreMode, coords: &[i32]) -> Result<Walk, Fault> {
    if let Some(d) = coords.iter().position(|&x| x < 0) {
        return Err(illegal(format!(
            "tensor store at coordinate {} in dimension {d}; stores and reductions need coordinates of at least 0",
            coords[d]
        )));
    }
    let walker = Walker::new(map, coords, matches!(mode, StoreMode::Scatter4), Edge::Granule)?;
    match mode {
        StoreMode::Tile => walker.tile(),
        StoreMode::Scatter4 => walker.four_rows(),
        StoreMode::Im2colNoOffs => walker.im2col([0; 3]),
        StoreMode::Im2colNoOffsW => {
            let pixels = walker
                .wide_box("im2col_no_offs::w", |p| matches!(p, WidePixels::W(_)))?
                .pixels;
            walker.im2col_w((0..pixels).collect(), 0, true)
        }
    }
}

/// Fields of an im2col map along W.
struct WideBox {
    lower: i32,
    upper: i32,
    channels: u32,
    pixels: u32,
}

/// Fields of an im2col map.
struct PixelBox<'a> {
    lower: &'a [i32],
    upper: &'a [i32],
    channels: u32,
    pixels: u32,
}

struct Walker<'a> {
    map: &'a TensorMap,
    coords: &'a [i32],
    edge: Edge,
    bits: u64,
    slice: Option<u64>,
}

impl<'a> Walker<'a> {
    fn new(map: &'a TensorMap, coords: &'a [i32], four_rows: bool, edge: Edge) -> Result<Self, Fault> {
        let rank = map.dims.len();
        let wanted = if four_rows { 5 } else { rank };
        if coords.len() != wanted {
            return Err(illegal(format!(
                "{} coordinates for a tensor map of rank {rank}; expected {wanted}",
                coords.len()
            )));
        }
        if rank == 0 || map.strides.len() + 1 != rank || map.element_strides.len() != rank {
            return Err(illegal(format!(
                "tensor map of rank {rank} with {} strides",
                map.strides.len()
            )));
        }
        let bits = map.format.global_bits();
        let slice = map.interleave.slice_bytes();
        if slice.is_some() && rank < 3 {
            return Err(illegal(format!(
                "interleaved tensor map of rank {rank}; interleave needs rank 3 to 5"
            )));
        }
        if slice.is_none() {
            let x = i64::from(coords[0]);
            let granule = if piece_bytes(map.format) == 16 {
                128
            } else {
                128 * bits as i64
            };
            if (x * bits as i64) % granule != 0 {
                return Err(illegal(format!(
                    "innermost coordinate {x} of {bits}-bit elements lies {} bits past a multiple of {} bytes; tensor \
                     copies without interleave begin at one",
                    (x * bits as i64).rem_euclid(granule),
                    granule / 8
                )));
            }
        }
        Ok(Walker {
            map,
            coords,
            edge,
            bits,
            slice,
        })
    }

    fn layout(&self, elements: u32) -> Layout {
        match self.slice {
            Some(bytes) => Layout {
                row_bytes: bytes as u32,
                pitch: bytes,
                piece_bytes: 16,
            },
            None => {
                let piece = piece_bytes(self.map.format);
                let row_bytes = (u64::from(elements) * self.bits / 8) as u32;
                let image_bytes = if piece == 16 {
                    row_bytes.into()
                } else {
                    u64::from(row_bytes.div_ceil(piece)) * 16
                };
                Layout {
                    row_bytes,
                    pitch: image_bytes.max(self.map.swizzle.span_bytes().unwrap_or(0)),
                    piece_bytes: piece,
                }
            }
        }
    }

    /// Byte distance of neighbours in dimension `d`.
    fn stride(&self, d: usize) -> u64 {
        match (d, self.slice) {
            (0, Some(bytes)) => bytes,
            (0, None) => self.bits / 8,
            (d, _) => self.map.strides[d - 1],
        }
    }

    fn inside(&self, d: usize, c: i64) -> bool {
        0 <= c && (c as u64) < self.map.dims[d]
    }

    /// The row at the start `c` of which dimensions from `first_outer` on have been checked.
    fn row(&self, image: u64, c: &[i64], first_outer: usize, layout: &Layout) -> Row {
        let outside = (first_outer..c.len()).any(|d| !self.inside(d, c[d]));
        let mut global = self.map.address;
        for (d, &c) in c.iter().enumerate() {
            // Dimension 0 of sub-byte formats has no byte stride; coordinates there are multiples of whole bytes.
            let offset = if d == 0 && self.slice.is_none() {
                ((c * self.bits as i64) / 8) as u64
            } else {
                (c as u64).wrapping_mul(self.stride(d))
            };
            global = global.wrapping_add(offset);
        }
        let valid = if outside {
            0..0
        } else if self.slice.is_some() {
            0..layout.row_bytes
        } else {
            let start = c[0] * self.bits as i64 / 8;
            let mut end = (self.map.dims[0] as i128 * self.bits as i128 / 8) as i64;
            if self.edge == Edge::Granule {
                end = (end + 15) & !15;
            }
            let clamp = |v: i64| v.clamp(0, layout.row_bytes.into()) as u32;
            let valid = clamp(-start)..clamp(end - start);
            if valid.is_empty() { 0..0 } else { valid }
        };
        Row { image, global, valid }
    }

    fn tile(&self) -> Result<Walk, Fault> {
        let Mode::Tiled { box_dims } = &self.map.mode else {
            return Err(illegal(
                "tile copy with an im2col tensor map; encode the map as tiled".into(),
            ));
        };
        let rank = self.map.dims.len();
        if box_dims.len() != rank {
            return Err(illegal(format!(
                "tensor map of rank {rank} with a box of rank {}",
                box_dims.len()
            )));
        }
        let e = |d: usize| i64::from(self.map.element_strides[d].max(1));
        let mut counts: Vec<u32> = (0..rank).map(|d| box_dims[d].div_ceil(e(d) as u32)).collect();
        // Without interleave dimension 0 is dense whatever its stride says; with it one issue moves one channel slice.
        let first_outer = if self.slice.is_some() { 0 } else { 1 };
        match self.slice {
            Some(_) => counts[rank - 2] = 1,
            None => counts[0] = box_dims[0],
        }
        let layout = self.layout(counts[0]);
        let total: u64 = counts[first_outer..].iter().map(|&n| u64::from(n)).product();
        let mut t = [0u32; 5];
        let mut rows = Vec::with_capacity(total as usize);
        let mut c: Vec<i64> = self.coords.iter().map(|&x| x.into()).collect();
        for r in 0..total {
            for d in first_outer..rank {
                c[d] = i64::from(self.coords[d]) + i64::from(t[d]) * e(d);
            }
            rows.push(self.row(r * layout.pitch, &c, first_outer, &layout));
            for d in first_outer..rank {
                t[d] += 1;
                if t[d] < counts[d] {
                    break;
                }
                t[d] = 0;
            }
        }
        Ok(Walk { layout, rows })
    }

    fn four_rows(&self) -> Result<Walk, Fault> {
        let box_dims = match &self.map.mode {
            Mode::Tiled { box_dims } if box_dims.len() == 2 && box_dims[1] == 1 && self.slice.is_none() => box_dims,
            other => {
                return Err(illegal(format!(
                    "gather4 and scatter4 need a tiled map of rank 2 with a box of one row and no interleave; found \
                     rank {} and {other:?}",
                    self.map.dims.len()
                )));
            }
        };
        let layout = self.layout(box_dims[0]);
        let rows = (0..4u64)
            .map(|r| {
                let c = [self.coords[0].into(), self.coords[1 + r as usize].into()];
                self.row(r * layout.pitch, &c, 1, &layout)
            })
            .collect();
        Ok(Walk { layout, rows })
    }

    fn im2col_box(&self) -> Result<PixelBox<'a>, Fault> {
        let rank = self.map.dims.len();
        match &self.map.mode {
            Mode::Im2col {
                lower,
                upper,
                channels_per_pixel,
                pixels_per_column,
            } if rank >= 3 && lower.len() == rank - 2 && upper.len() == rank - 2 => Ok(PixelBox {
                lower,
                upper,
                channels: *channels_per_pixel,
                pixels: *pixels_per_column,
            }),
            Mode::Im2col { lower, .. } => Err(illegal(format!(
                "im2col map of rank {rank} with {} corner values; expected rank - 2",
                lower.len()
            ))),
            Mode::Tiled { .. } | Mode::Im2colWide { .. } => Err(illegal(
                "im2col copy with a tensor map of another mode; encode the map as im2col".into(),
            )),
        }
    }

    fn wide_box(&self, name: &str, takes: impl Fn(WidePixels) -> bool) -> Result<WideBox, Fault> {
        let rank = self.map.dims.len();
        match self.map.mode {
            Mode::Im2colWide {
                lower,
                upper,
                channels_per_pixel,
                pixels,
            } if rank >= 3 && takes(pixels) => Ok(WideBox {
                lower,
                upper,
                channels: channels_per_pixel,
                pixels: pixels.count(),
            }),
            _ => Err(illegal(format!(
                "{name} copy with a tensor map of another mode; encode the map as im2col wide"
            ))),
        }
    }

    /// First spatial dimension: W comes after C, or first where the channels of a slice are implicit.
    fn w(&self) -> usize {
        if self.slice.is_some() { 0 } else { 1 }
    }

    /// The filter base must lie in the window, and a window to store through must lie in the tensor.
    fn check_window(&self, lower: &[i32], upper: &[i32]) -> Result<(), Fault> {
        for k in 0..lower.len() {
            let d = self.w() + k;
            let start = i64::from(self.coords[d]);
            let window = i64::from(lower[k])..(self.map.dims[d] as i64).saturating_add(upper[k].into());
            if !window.contains(&start) {
                return Err(illegal(format!(
                    "im2col copy at coordinate {start} in dimension {d}, outside the window {} to {}; start inside it",
                    window.start,
                    window.end - 1
                )));
            }
            if self.edge == Edge::Granule && (lower[k] < 0 || upper[k] > 0) {
                return Err(self.window_outside(d, lower[k], upper[k]));
            }
        }
        Ok(())
    }

    fn window_outside(&self, d: usize, lower: i32, upper: i32) -> Fault {
        illegal(format!(
            "im2col store with corners {lower} and {upper} in dimension {d}; stores and reductions need a window inside the \
             tensor, corners of at least 0 and at most 0"
        ))
    }

    fn im2col(&self, offsets: [u16; 3]) -> Result<Walk, Fault> {
        let PixelBox {
            lower,
            upper,
            channels,
            pixels,
        } = self.im2col_box()?;
        let (rank, w) = (self.map.dims.len(), self.w());
        self.check_window(lower, upper)?;
        // The instruction has 16 bits for all offsets together. What is too large is cut, at rank 5 it runs into the next.
        let packed = offsets
            .iter()
            .enumerate()
            .fold(0u16, |sum, (k, offset)| sum.wrapping_add(offset << (5 * k)));
        let offset = |k: usize| match rank {
            3 => offsets[k],
            4 => offsets[k] & 0xff,
            _ => packed >> (5 * k) & 0x1f,
        };
        let layout = self.layout(channels);
        let mut q: Vec<i64> = self.coords.iter().map(|&x| x.into()).collect();
        let mut rows = Vec::with_capacity(pixels as usize);
        for p in 0..pixels {
            let mut c = q.clone();
            for k in 0..rank - 2 {
                c[w + k] += i64::from(offset(k));
            }
            rows.push(self.row(u64::from(p) * layout.pitch, &c, w, &layout));
            self.advance(&mut q, lower, upper, rank - 2, 0);
        }
        Ok(Walk { layout, rows })
    }

    /// Moves `q` to the next pixel of a walk over the first `spatial` dimensions of the window shifted by `shift` in W.
    fn advance(&self, q: &mut [i64], lower: &[i32], upper: &[i32], spatial: usize, shift: i64) {
        let w = self.w();
        for k in 0..spatial {
            let d = w + k;
            let step = i64::from(self.map.element_strides[d].max(1));
            let shift = if k == 0 { shift } else { 0 };
            q[d] += step;
            if q[d]
                < (self.map.dims[d] as i64)
                    .saturating_add(upper[k].into())
                    .saturating_add(shift)
            {
                return;
            }
            q[d] = i64::from(lower[k]) + shift;
        }
        // Images are stepped over too, as an H200 does.
        let n = q.len() - 1;
        q[n] += i64::from(self.map.element_strides[n].max(1));
    }

    /// Pixels `order` of the walk along W, in shared memory one after the other.
    fn im2col_w(&self, order: Vec<u32>, offset: u16, stop_outside: bool) -> Result<Walk, Fault> {
        let WideBox {
            lower, upper, channels, ..
        } = self.wide_box("im2col::w", |_| true)?;
        let (lower, upper) = ([lower], [upper]);
        if self.slice.is_some() {
            return Err(illegal(
                "im2col::w with an interleaved tensor map; these modes have no interleave".into(),
            ));
        }
        // W may start before the window, not behind it.
        let window_end = (self.map.dims[1] as i64).saturating_add(upper[0].into());
        if i64::from(self.coords[1]) >= window_end {
            return Err(illegal(format!(
                "im2col::w copy at W = {}, behind the window, which ends at {}; start before its end",
                self.coords[1],
                window_end - 1
            )));
        }
        if self.edge == Edge::Granule && (lower[0] < 0 || upper[0] > 0) {
            return Err(self.window_outside(1, lower[0], upper[0]));
        }
        let layout = self.layout(channels);
        let mut q: Vec<i64> = self.coords.iter().map(|&x| x.into()).collect();
        q[1] += i64::from(offset);
        let last = order.iter().copied().max().unwrap_or(0);
        let mut pixels = Vec::with_capacity(last as usize + 1);
        for _ in 0..=last {
            pixels.push(self.row(0, &q, 1, &layout));
            self.advance(&mut q, &lower, &upper, 1, offset.into());
        }
        let mut rows = Vec::with_capacity(order.len());
        for (r, p) in order.into_iter().enumerate() {
            let row = Row {
                image: r as u64 * layout.pitch,
                ..pixels[p as usize].clone()
            };
            if stop_outside && row.valid.is_empty() {
                break;
            }
            rows.push(row);
        }
        Ok(Walk { layout, rows })
    }
}
