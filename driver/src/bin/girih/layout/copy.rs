//! `girih layout box`, `im2col` and `im2col-w`: tensor copies.
use super::{SwizzleArgs, parse, usage};
use clap::Args;
use girih::{Failure, failure::Result};
use girih_core::{
    layout::draw::{self, Drawing},
    target::{Feature, LoadMode, SharedSpace, Target},
    tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Start, TensorMap, WidePixels},
};

/// What tiled and im2col copies have in common.
#[derive(Args)]
struct Map {
    /// Sizes of the tensor, outermost first.
    #[arg(long, value_name = "SIZES", value_parser = parse::shape)]
    tensor: parse::Shape,
    /// Byte strides of all dimensions but the innermost, outermost first; dense otherwise.
    #[arg(long, value_name = "BYTES", value_parser = parse::list)]
    strides: Option<parse::List>,
    /// Element type or format of the tensor map.
    #[arg(long = "type", value_name = "TYPE", default_value = "bf16", value_parser = parse::format)]
    element: Format,
    #[command(flatten)]
    swizzle: SwizzleArgs,
    /// Traversal strides, outermost first; 1 otherwise.
    #[arg(long, value_name = "STRIDES", value_parser = parse::list)]
    element_strides: Option<parse::List>,
    /// Slices of an interleaved tensor: none, 16 or 32 bytes. Its sizes are then N x slices x (D x H x) W.
    #[arg(long, value_name = "BYTES", default_value = "none", value_parser = parse::interleave)]
    interleave: Interleave,
    /// What is read outside the tensor: zero or nan.
    #[arg(long, value_name = "FILL", default_value = "zero", value_parser = parse::fill)]
    fill: Fill,
    /// Shared address of the image.
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = parse::address)]
    base: u64,
    /// Target whose rules for tensor maps are checked.
    #[arg(long, value_name = "TARGET", default_value = "sm_90a", value_parser = |text: &str| Target::parse(text))]
    target: Target,
}

/// Innermost first, as tensor maps list things.
fn reversed<T: Copy>(list: &[T]) -> Vec<T> {
    list.iter().rev().copied().collect()
}

/// A list of as many values as expected.
fn expect(what: &str, list: &parse::List, count: usize) -> Result<Vec<i64>> {
    match list.0.len() == count {
        true => Ok(reversed(&list.0)),
        false => Err(Failure::usage(format!(
            "{what} has {} values, but the tensor needs {count}",
            list.0.len()
        ))),
    }
}

fn narrow<T: TryFrom<i64>>(what: &str, list: Vec<i64>) -> Result<Vec<T>> {
    let number = |value| T::try_from(value).map_err(|_| Failure::usage(format!("{what}: {value} is out of range")));
    list.into_iter().map(number).collect()
}

impl Map {
    fn rank(&self) -> usize {
        self.tensor.0.len()
    }

    fn map(&self, mode: Mode) -> Result<TensorMap> {
        let dims = reversed(&self.tensor.0);
        let strides = match &self.strides {
            Some(strides) => narrow("--strides", expect("--strides", strides, self.rank() - 1)?)?,
            None => {
                // An interleaved dimension 0 counts slices.
                let first = self
                    .interleave
                    .slice_bytes()
                    .map_or(self.element.global_bits(), |bytes| 8 * bytes);
                let steps = dims[..dims.len() - 1].iter().scan(first, |bits, &size| {
                    *bits = bits.saturating_mul(size);
                    Some(*bits / 8)
                });
                steps.collect()
            }
        };
        let element_strides = match &self.element_strides {
            Some(strides) => narrow("--element-strides", expect("--element-strides", strides, self.rank())?)?,
            None => vec![1; self.rank()],
        };
        Ok(TensorMap {
            format: self.element,
            address: 0,
            dims,
            strides,
            mode,
            element_strides,
            interleave: self.interleave,
            swizzle: self.swizzle.mode()?,
            fill: self.fill,
            l2_promotion: L2Promotion::None,
        })
    }

    fn draw(&self, what: &str, mode: Mode, start: &Start) -> Result<Drawing> {
        let Some(caps) = self.target.tensor_map_caps() else {
            return Err(Failure::usage(format!(
                "{} has no tensor maps; use sm_90 or later",
                self.target
            )));
        };
        let map = self.map(mode)?;
        let sizes = self.tensor.0.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let title = format!(
            "{what} of a tensor of {sizes} {}, swizzle {}",
            self.element.name(),
            map.swizzle.name()
        );
        draw::tensor_box(&title, &map, start, self.base, &caps).map_err(usage)
    }
}

/// A box.
#[derive(Args)]
pub struct TiledBox {
    #[command(flatten)]
    map: Map,
    /// Sizes of the box, outermost first.
    #[arg(long = "box", value_name = "SIZES", value_parser = parse::shape)]
    size: parse::Shape,
    /// Coordinates of the box, outermost first; the tensor's first element otherwise. With --gather4 the column alone.
    #[arg(long, value_name = "COORDINATES", value_parser = parse::list, allow_hyphen_values = true)]
    at: Option<parse::List>,
    /// The four rows of a gather4.
    #[arg(long, value_name = "ROWS", value_parser = parse::list, allow_hyphen_values = true)]
    gather4: Option<parse::List>,
}

impl TiledBox {
    pub fn draw(&self) -> Result<Drawing> {
        let rank = self.map.rank();
        if self.size.0.len() != rank {
            return Err(Failure::usage(format!(
                "--box has {} sizes, but the tensor has {rank}",
                self.size.0.len()
            )));
        }
        let sizes = reversed(&self.size.0)
            .into_iter()
            .map(|size| i64::try_from(size).unwrap_or(i64::MAX));
        let mode = Mode::Tiled {
            box_dims: narrow("--box", sizes.collect())?,
        };
        let at = |count| match &self.at {
            Some(at) => expect("--at", at, count),
            None => Ok(vec![0; count]),
        };
        let Some(rows) = &self.gather4 else {
            return self.map.draw("a box", mode, &Start::Tile(at(rank)?));
        };
        let &[a, b, c, d] = rows.0.as_slice() else {
            return Err(Failure::usage(format!(
                "--gather4 has {} rows; expected four",
                rows.0.len()
            )));
        };
        if rank != 2 || self.size.0[0] != 1 {
            return Err(Failure::usage(
                "--gather4 takes four rows of a matrix; use a tensor of two sizes and a box of one row, such as --box 1x64",
            ));
        }
        let load = Feature::TmaLoad {
            mode: LoadMode::Gather4,
            space: SharedSpace::Cluster,
            multicast: false,
            cta_group: false,
        };
        if let Err(illegal) = load.legal(self.map.target) {
            return Err(Failure::usage(format!("--gather4: {illegal}")));
        }
        self.map.draw("gather4", mode, &Start::Rows(at(1)?[0], [a, b, c, d]))
    }
}

/// A column of pixels.
#[derive(Args)]
pub struct Im2col {
    #[command(flatten)]
    map: Map,
    /// Lower corner of the bounding box in D, H, W, as far as the tensor has them.
    #[arg(long, value_name = "CORNER", value_parser = parse::list, allow_hyphen_values = true)]
    lower: parse::List,
    /// Upper corner of the bounding box, counted from the tensor's last element.
    #[arg(long, value_name = "CORNER", value_parser = parse::list, allow_hyphen_values = true)]
    upper: parse::List,
    /// Pixels of the column.
    #[arg(long, value_name = "COUNT")]
    pixels: u32,
    /// Channels of a pixel; all that the tensor has, up to 256, otherwise.
    #[arg(long, value_name = "COUNT")]
    channels: Option<u32>,
    /// Where the walk begins: N, (D, H,) W, C; the lower corner of the first image otherwise.
    #[arg(long, value_name = "COORDINATES", value_parser = parse::list, allow_hyphen_values = true)]
    at: Option<parse::List>,
    /// Position of the filter tap in (D, H,) W; 0 otherwise.
    #[arg(long, value_name = "OFFSETS", value_parser = parse::list)]
    offsets: Option<parse::List>,
}

impl Im2col {
    pub fn draw(&self) -> Result<Drawing> {
        let rank = self.map.rank();
        let Some(spatial) = rank.checked_sub(2).filter(|&spatial| spatial > 0) else {
            return Err(Failure::usage(format!(
                "--tensor has {rank} sizes; im2col needs N x (D x H x) W x C, three to five"
            )));
        };
        let lower: Vec<i32> = narrow("--lower", expect("--lower", &self.lower, spatial)?)?;
        let upper: Vec<i32> = narrow("--upper", expect("--upper", &self.upper, spatial)?)?;
        let interleaved = self.map.interleave != Interleave::None;
        let coords = match &self.at {
            Some(at) => expect("--at", at, rank)?,
            None => {
                let mut coords = vec![0; rank];
                let w = usize::from(!interleaved);
                for (k, &low) in lower.iter().enumerate() {
                    coords[w + k] = low.into();
                }
                coords
            }
        };
        let offsets = match &self.offsets {
            Some(offsets) => {
                // The instruction has 16 bits for all of them.
                let most = [65535, 255, 31][spatial.clamp(1, 3) - 1];
                if let Some(value) = offsets.0.iter().find(|value| !(0..=most).contains(*value)) {
                    return Err(Failure::usage(format!(
                        "--offsets: {value}, but {spatial} spatial dimensions allow 0 to {most}"
                    )));
                }
                narrow("--offsets", expect("--offsets", offsets, spatial)?)?
            }
            None => vec![0; spatial],
        };
        let all = self.map.tensor.0.last().map_or(1, |&channels| channels.min(256) as u32);
        let mode = Mode::Im2col {
            lower,
            upper,
            channels_per_pixel: self.channels.unwrap_or(all),
            pixels_per_column: self.pixels,
        };
        self.map.draw("im2col", mode, &Start::Im2col { coords, offsets })
    }
}

/// A column of pixels along W.
#[derive(Args)]
pub struct Im2colW {
    #[command(flatten)]
    map: Map,
    /// First position of the window in W.
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    lower: i32,
    /// Last position of the window in W, counted from the tensor's last.
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    upper: i32,
    /// Pixels of the column; mode im2col_w.
    #[arg(long, value_name = "COUNT", required_unless_present = "w128")]
    pixels: Option<u32>,
    /// Mode im2col_w_128: 128 pixels, and a halo for each 32 of them.
    #[arg(long, conflicts_with = "pixels")]
    w128: bool,
    /// Channels of a pixel; all that the tensor has, up to 256, otherwise.
    #[arg(long, value_name = "COUNT")]
    channels: Option<u32>,
    /// Where the walk begins: N, (D, H,) W, C; the window's first position in the first line otherwise.
    #[arg(long, value_name = "COORDINATES", value_parser = parse::list, allow_hyphen_values = true)]
    at: Option<parse::List>,
    /// Pixels after the column, 0 to 511, or after each 32 of 128, 0 to 31.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    halo: u16,
    /// Shift of the window in W, 0 to 31.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    shift: u16,
}

impl Im2colW {
    pub fn draw(&self) -> Result<Drawing> {
        let rank = self.map.rank();
        if !(3..=5).contains(&rank) {
            return Err(Failure::usage(format!(
                "--tensor has {rank} sizes; im2col-w needs N x (D x H x) W x C, three to five"
            )));
        }
        if self.map.interleave != Interleave::None {
            return Err(Failure::usage(
                "--interleave is not for im2col along W; leave it out, or draw im2col",
            ));
        }
        let most = if self.w128 { 31 } else { 511 };
        for (what, value, most) in [("--halo", self.halo, most), ("--shift", self.shift, 31)] {
            if value > most {
                return Err(Failure::usage(format!("{what} is {value}, but may be 0 to {most}")));
            }
        }
        let coords = match &self.at {
            Some(at) => expect("--at", at, rank)?,
            None => {
                let mut coords = vec![0; rank];
                coords[1] = i64::from(self.lower);
                coords
            }
        };
        let all = self.map.tensor.0.last().map_or(1, |&channels| channels.min(256) as u32);
        let mode = Mode::Im2colWide {
            lower: self.lower,
            upper: self.upper,
            channels_per_pixel: self.channels.unwrap_or(all),
            pixels: self.pixels.map_or(WidePixels::W128, WidePixels::W),
        };
        let (halo, shift) = (self.halo, self.shift);
        let what = if self.w128 { "im2col::w::128" } else { "im2col::w" };
        self.map.draw(what, mode, &Start::Im2colWide { coords, halo, shift })
    }
}
