//! `girih layout`: drawings of register layouts, swizzles, banks and tensor copies.
mod copy;
mod parse;
mod printed;
mod tile;

pub use printed::is_printed;

use crate::output;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use girih::{Failure, failure::Result, file};
use girih_core::{
    layout::{
        LayoutError,
        draw::{Drawing, Window},
    },
    tensor_map::Swizzle,
};
use serde_json::Value;
use std::{
    ops::Range,
    path::{Path, PathBuf},
};

const HELP: &str = "\
Examples:
  girih layout wgmma_d --shape 64x16 --type f32         which warp, lane and register holds each element
  girih layout wgmma_d --shape 64x16 --slice 1          what a reduction along the columns leaves
  girih layout blocked --shape 32x64 --per-thread 1x4 --lanes 4x8 --warps 4x1
  girih layout swizzle 128 --atom 32                    the table of the PTX manual
  girih layout banks --shape 64x64 --type bf16 --swizzle 128 --access column,ldmatrix.x4
  girih layout box --tensor 100x72 --box 16x32 --at 90,48 --type bf16 --swizzle 64
  girih layout im2col-w --tensor 2x6x8x32 --lower -1 --upper 1 --pixels 9 --halo 2 --at 0,2,-1,0 --swizzle 64 --target sm_100a
  girih layout im2col --tensor 1x6x8x16 --lower -1,-1 --upper -1,-1 --pixels 24 --at 0,-1,-1,0 --offsets 1,2
Types and encodings are drawn as the IR prints them:
  girih layout 'tensor<64x64xf32, #tile.blocked<per_thread = [1, 4], lanes = [2, 16], warps = [4, 1]>>'
  girih layout '#tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [2, 16], warps = [4, 1]>>' --shape 64
  girih layout 'memref<64x64xbf16, #tile.shared<swizzle = 128>>'     banks
Shapes and coordinates are outermost first, as in MLIR; PTX lists them the other way round.";

/// Options of `girih layout`.
#[derive(ClapArgs)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand)]
enum What {
    /// A type or encoding as the IR prints it, such as 'tensor<64x128xf32, #tile.blocked<...>>'; `of` may be left out.
    Of(printed::Printed),
    /// D of wgmma.mma_async: a warpgroup for every 64 rows.
    #[command(name = "wgmma_d")]
    WgmmaD(tile::Fragment),
    /// A of wgmma.mma_async from registers.
    #[command(name = "wgmma_a")]
    WgmmaA(tile::Fragment),
    /// C and D of mma.sync.m16n8.
    #[command(name = "mma_d")]
    MmaD(tile::Fragment),
    /// A of mma.sync.m16n8.
    #[command(name = "mma_a")]
    MmaA(tile::Fragment),
    /// B of mma.sync.m16n8, K x N.
    #[command(name = "mma_b")]
    MmaB(tile::Fragment),
    /// What ldmatrix.x4 loads and stmatrix.x4 stores.
    #[command(name = "ldmatrix", alias = "stmatrix")]
    Matrix(tile::Fragment),
    /// The same with .trans.
    #[command(name = "ldmatrix_trans", alias = "stmatrix_trans")]
    MatrixTransposed(tile::Fragment),
    /// A tile dealt out in blocks: neighbours in a thread, threads side by side, warps side by side.
    Blocked(tile::Blocked),
    /// Any linear map, from the images of the bits of register, lane and warp.
    Linear(tile::Linear),
    /// How a swizzle permutes 16-byte pieces in lines of 128 bytes.
    Swizzle(tile::SwizzleTable),
    /// Banks of a tile in shared memory, and what accesses cost.
    Banks(tile::Banks),
    /// A tensor copy: what a box takes from the tensor, and how it lies in shared memory.
    Box(copy::TiledBox),
    /// A tensor copy in mode im2col: the pixels of a column, in a tensor N x (D x H x) W x C.
    Im2col(copy::Im2col),
    /// A tensor copy in mode im2col_w or im2col_w_128: pixels along W, and their halos.
    #[command(name = "im2col-w")]
    Im2colW(copy::Im2colW),
}

#[derive(ClapArgs)]
struct Output {
    /// Where to write; standard output otherwise. A name that ends in .svg gets SVG, in .json JSON.
    #[arg(short, long, value_name = "OUT", global = true)]
    output: Option<PathBuf>,
    /// How to write: text, unless the name of the output says otherwise.
    #[arg(long, value_enum, global = true)]
    format: Option<Format>,
    /// The same as --format json: every cell as data, whatever --rows and --columns say.
    #[arg(long, global = true, conflicts_with = "format")]
    pub json: bool,
    /// Rows to draw, such as 0..16; as many as fit otherwise.
    #[arg(long, value_name = "A..B", value_parser = parse::range, global = true)]
    rows: Option<Range<usize>>,
    /// Columns to draw.
    #[arg(long, value_name = "A..B", value_parser = parse::range, global = true)]
    columns: Option<Range<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Svg,
    Json,
}

/// A swizzle on the command line.
#[derive(ClapArgs)]
pub struct SwizzleArgs {
    /// Swizzle: none, 32, 64, 96 or 128.
    #[arg(long, value_name = "BYTES", default_value = "none")]
    swizzle: String,
    /// Atom of swizzle 128: 16, 32, b32_flip_8 or 64.
    #[arg(long, value_name = "BYTES", default_value = "16")]
    atom: String,
}

impl SwizzleArgs {
    fn mode(&self) -> Result<Swizzle> {
        parse::swizzle(&self.swizzle, &self.atom).map_err(Failure::usage)
    }
}

/// Draws, and gives the exit code.
pub fn main(args: &Args) -> u8 {
    let format = args.output.format();
    let drawn = draw(&args.what).and_then(|drawing| {
        write(&drawing, &args.output, format)?;
        Ok(refusals(&drawing))
    });
    match drawn {
        Ok(refused) => {
            refused.iter().for_each(|words| eprintln!("error: {words}"));
            u8::from(!refused.is_empty())
        }
        Err(failure) => output::fail(
            &failure,
            &Default::default(),
            format == Format::Json && args.output.output.is_none(),
        ),
    }
}

fn draw(what: &What) -> Result<Drawing> {
    use girih_core::layout::Named;
    match what {
        What::Of(args) => args.draw(),
        What::WgmmaD(args) => args.draw(Named::WgmmaD),
        What::WgmmaA(args) => args.draw(Named::WgmmaA),
        What::MmaD(args) => args.draw(Named::MmaD),
        What::MmaA(args) => args.draw(Named::MmaA),
        What::MmaB(args) => args.draw(Named::MmaB),
        What::Matrix(args) => args.draw(Named::Matrix),
        What::MatrixTransposed(args) => args.draw(Named::MatrixTransposed),
        What::Blocked(args) => args.draw(),
        What::Linear(args) => args.draw(),
        What::Swizzle(args) => args.draw(),
        What::Banks(args) => args.draw(),
        What::Box(args) => args.draw(),
        What::Im2col(args) => args.draw(),
        What::Im2colW(args) => args.draw(),
    }
}

/// The rules by which the driver refuses the tensor map that is drawn.
fn refusals(drawing: &Drawing) -> Vec<String> {
    let refused = drawing.data.get("refused").and_then(Value::as_array);
    let words = |rule: &Value| Some(format!("the driver refuses the map: {}", rule["message"].as_str()?));
    refused.into_iter().flatten().filter_map(words).collect()
}

impl Output {
    fn format(&self) -> Format {
        let extension = self.output.as_deref().and_then(Path::extension);
        let named = match extension.and_then(|extension| extension.to_str()) {
            Some("svg") => Format::Svg,
            Some("json") => Format::Json,
            _ => Format::Text,
        };
        match self.json {
            true => Format::Json,
            false => self.format.unwrap_or(named),
        }
    }
}

fn write(drawing: &Drawing, output: &Output, format: Format) -> Result<()> {
    let window = Window {
        rows: output.rows.clone(),
        columns: output.columns.clone(),
    };
    if format != Format::Json {
        drawing.check_window(&window).map_err(usage)?;
    }
    let content = match format {
        Format::Text => drawing.text(&window),
        Format::Svg => drawing.svg(&window),
        Format::Json => format!("{}\n", drawing.json()),
    };
    file::write(output.output.as_deref().unwrap_or(Path::new("-")), content.as_bytes())
}

/// What does not fit together is a wrong command line.
fn usage(error: LayoutError) -> Failure {
    Failure::usage(error.to_string())
}
