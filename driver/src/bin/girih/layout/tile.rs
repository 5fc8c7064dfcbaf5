//! `girih layout` of tiles in registers and in shared memory.
use super::{SwizzleArgs, parse, usage};
use clap::Args;
use girih::{Failure, failure::Result};
use girih_core::{
    dtype::DType,
    layout::{
        self, Dim, LinearLayout, Named, Padded, Repeated, SharedTile,
        draw::{self, Access, Drawing},
    },
    tensor_map::Swizzle,
};

/// A layout that an instruction prescribes.
#[derive(Args)]
pub struct Fragment {
    /// Rows x columns of the tile; one instruction's otherwise.
    #[arg(long, value_name = "ROWSxCOLUMNS", value_parser = parse::shape)]
    shape: Option<parse::Shape>,
    /// Element type; f32 for accumulators, bf16 for operands otherwise.
    #[arg(long = "type", value_name = "TYPE")]
    dtype: Option<DType>,
    /// Drop an axis (0: rows, 1: columns): what a reduction along it leaves.
    #[arg(long, value_name = "AXIS", value_parser = clap::value_parser!(u8).range(0..2))]
    slice: Option<u8>,
}

impl Fragment {
    pub fn draw(&self, named: Named) -> Result<Drawing> {
        let natural = match named {
            Named::WgmmaD | Named::MmaD => DType::F32,
            _ => DType::Bf16,
        };
        let dtype = self.dtype.unwrap_or(natural);
        let bits = 8 * dtype.bytes();
        let shape = match &self.shape {
            Some(shape) => shape.0.clone(),
            None => named.instruction_shape(bits).map_err(usage)?.to_vec(),
        };
        let threads = named.tile(&shape, bits).map_err(usage)?;
        registers(named.name(), &shape, dtype, threads, self.slice)
    }
}

/// Draws a register tile, or the slice of it.
fn registers(name: &str, shape: &[u64], dtype: DType, threads: Repeated, slice: Option<u8>) -> Result<Drawing> {
    let sizes = |shape: &[u64]| shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
    let bits = 8 * dtype.bytes();
    let whole = format!("{name} of {} {dtype}", sizes(shape));
    let Some(axis) = slice else {
        return draw::registers(&format!("{whole}: who holds which element"), &threads, shape, bits).map_err(usage);
    };
    let mut left = shape.to_vec();
    if usize::from(axis) >= left.len() {
        return Err(Failure::usage(format!(
            "--slice {axis}: the tile {} has no such axis",
            sizes(shape)
        )));
    }
    left.remove(usize::from(axis));
    let sliced = threads.sliced(axis);
    let title = format!("{whole} without axis {axis}: who holds which element");
    draw::registers(&title, &sliced, &left, bits).map_err(usage)
}

/// A tile dealt out in blocks.
#[derive(Args)]
pub struct Blocked {
    /// Sizes of the tile, outermost first; what is no power of two is padded.
    #[arg(long, value_name = "SIZES", value_parser = parse::shape)]
    shape: parse::Shape,
    /// Neighbours that a thread holds along each axis.
    #[arg(long, value_name = "SIZES", value_parser = parse::shape)]
    per_thread: parse::Shape,
    /// Threads of a warp along each axis; 32 in all.
    #[arg(long, value_name = "SIZES", value_parser = parse::shape)]
    lanes: parse::Shape,
    /// Warps along each axis.
    #[arg(long, value_name = "SIZES", value_parser = parse::shape)]
    warps: parse::Shape,
    /// Axes from fast to slow; the last axis first otherwise.
    #[arg(long, value_name = "AXES", value_parser = parse::list)]
    order: Option<parse::List>,
    /// Element type.
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    dtype: DType,
    /// Drop an axis: what a reduction along it leaves.
    #[arg(long, value_name = "AXIS")]
    slice: Option<u8>,
}

impl Blocked {
    pub fn draw(&self) -> Result<Drawing> {
        let shape = &self.shape.0;
        let order = match &self.order {
            // A negative axis is none, and said to be none by the layout.
            Some(order) => order
                .0
                .iter()
                .map(|&axis| usize::try_from(axis).unwrap_or(usize::MAX))
                .collect(),
            None => (0..shape.len()).rev().collect(),
        };
        let blocked = layout::Blocked {
            per_thread: self.per_thread.0.clone(),
            lanes: self.lanes.0.clone(),
            warps: self.warps.0.clone(),
            order,
        };
        let threads = blocked.layout(&Padded::shape(shape)).map_err(usage)?;
        registers("blocked", shape, self.dtype, threads.into(), self.slice)
    }
}

/// A layout from its images.
#[derive(Args)]
pub struct Linear {
    /// Rows x columns of the tile; as many as the images reach otherwise.
    #[arg(long, value_name = "ROWSxCOLUMNS", value_parser = parse::shape)]
    shape: Option<parse::Shape>,
    /// Row x column of each bit of the register, low to high, such as 0x1,8x0.
    #[arg(long, value_name = "IMAGES", value_parser = parse::images, default_value = "")]
    register: parse::Images,
    /// Row x column of each bit of the lane; 0x0 for copies.
    #[arg(long, value_name = "IMAGES", value_parser = parse::images, default_value = "")]
    lane: parse::Images,
    /// Row x column of each bit of the warp.
    #[arg(long, value_name = "IMAGES", value_parser = parse::images, default_value = "")]
    warp: parse::Images,
    /// Element type.
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    dtype: DType,
    /// Drop an axis (0: rows, 1: columns): what a reduction along it leaves.
    #[arg(long, value_name = "AXIS", value_parser = clap::value_parser!(u8).range(0..2))]
    slice: Option<u8>,
}

impl Linear {
    pub fn draw(&self) -> Result<Drawing> {
        let all = || self.register.0.iter().chain(&self.lane.0).chain(&self.warp.0);
        let reach = all().fold((0, 0), |reach, image| (reach.0 | image.0, reach.1 | image.1));
        let bits = |value: u64| u64::BITS - value.leading_zeros();
        let images = |images: &parse::Images| -> Vec<Vec<(Dim, u64)>> {
            let image = |&(row, column): &(u64, u64)| vec![(Dim::Axis(0), row), (Dim::Axis(1), column)];
            images.0.iter().map(image).collect()
        };
        let [register, lane, warp] = [&self.register, &self.lane, &self.warp].map(images);
        fn slices(images: &[Vec<(Dim, u64)>]) -> Vec<layout::Image<'_>> {
            images.iter().map(Vec::as_slice).collect()
        }
        let threads = LinearLayout::from_bases(
            &[(Dim::Axis(1), bits(reach.1)), (Dim::Axis(0), bits(reach.0))],
            &[
                (Dim::Register, &slices(&register)),
                (Dim::Lane, &slices(&lane)),
                (Dim::Warp, &slices(&warp)),
            ],
        )
        .map_err(usage)?;
        let shape = match &self.shape {
            Some(shape) => shape.0.clone(),
            None => [reach.0, reach.1]
                .map(|reach| 1u64.checked_shl(bits(reach)).unwrap_or(u64::MAX))
                .to_vec(),
        };
        registers("linear", &shape, self.dtype, threads.into(), self.slice)
    }
}

/// The table of a swizzle.
#[derive(Args)]
pub struct SwizzleTable {
    /// Swizzle: none, 32, 64, 96 or 128.
    #[arg(value_name = "BYTES")]
    swizzle: String,
    /// Atom of swizzle 128: 16, 32, b32_flip_8 or 64.
    #[arg(long, value_name = "BYTES", default_value = "16")]
    atom: String,
    /// Shared address of the first line, a multiple of 128.
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = parse::address)]
    base: u64,
}

impl SwizzleTable {
    pub fn draw(&self) -> Result<Drawing> {
        let mode = parse::swizzle(&self.swizzle, &self.atom).map_err(Failure::usage)?;
        draw::swizzle(mode, self.base).map_err(usage)
    }
}

/// Banks of a tile.
#[derive(Args)]
pub struct Banks {
    /// Rows x columns of the tile.
    #[arg(long, value_name = "ROWSxCOLUMNS", value_parser = parse::shape)]
    shape: parse::Shape,
    /// Element type.
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    dtype: DType,
    #[command(flatten)]
    swizzle: SwizzleArgs,
    /// Accesses to count: row, row:BYTES, column, ldmatrix.x1, .x2, .x4, wgmma_d, mma_d, mma_a, ...; the usual ones otherwise.
    #[arg(long, value_name = "ACCESS", value_delimiter = ',')]
    access: Vec<String>,
}

impl Banks {
    pub fn draw(&self) -> Result<Drawing> {
        let &[rows, columns] = self.shape.0.as_slice() else {
            return Err(Failure::usage(format!(
                "--shape has {} sizes; expected two, rows x columns",
                self.shape.0.len()
            )));
        };
        let mode = self.swizzle.mode()?;
        let title = format!("banks of {rows}x{columns} {}, swizzle {}", self.dtype, mode.name());
        banks(&title, [rows, columns], self.dtype.bytes(), mode, &self.access)
    }
}

/// Draws a tile in shared memory, with the accesses that are named, or the usual ones.
pub fn banks(title: &str, [rows, columns]: [u64; 2], bytes: u64, mode: Swizzle, names: &[String]) -> Result<Drawing> {
    let tile = SharedTile::new(rows, columns, bytes, mode).map_err(usage)?;
    let accesses = match names.is_empty() {
        true => Access::usual(&tile),
        false => {
            let parsed = names.iter().map(|text| {
                let access = Access::parse(text, &tile).map_err(usage)?;
                match access.count(&tile) {
                    Some(_) => Ok(access),
                    None => Err(Failure::usage(format!(
                        "--access {text}: a tile of {rows} x {columns} elements of {bytes} bytes under swizzle {} cannot be accessed so",
                        mode.name()
                    ))),
                }
            });
            parsed.collect::<Result<_>>()?
        }
    };
    draw::banks(title, &tile, &accesses).map_err(usage)
}
