//! Words of the command line of `girih layout`: shapes, coordinates, ranges, modes.
use girih_core::{
    dtype::DType,
    layout::draw::SWIZZLES,
    tensor_map::{Fill, Format, Interleave, Swizzle},
};
use std::ops::Range;

/// Sizes such as `64x16`.
#[derive(Clone, Debug)]
pub struct Shape(pub Vec<u64>);

/// Numbers such as `0,-1,8`.
#[derive(Clone, Debug)]
pub struct List(pub Vec<i64>);

/// Images such as `0x1,8x0`: row x column of each bit.
#[derive(Clone, Debug)]
pub struct Images(pub Vec<(u64, u64)>);

/// `64x16`; a number alone is a tile of one dimension.
pub fn shape(text: &str) -> Result<Shape, String> {
    let sizes: Option<Vec<u64>> = text
        .split('x')
        .map(|size| size.parse().ok().filter(|&size| size > 0))
        .collect();
    let sizes = sizes.ok_or_else(|| format!("expected sizes such as 64x16, outermost first, found `{text}`"))?;
    match sizes.len() {
        1..=5 => Ok(Shape(sizes)),
        rank => Err(format!("expected one to five sizes, found {rank}")),
    }
}

/// `0,-1,8`, each within 32 bits.
pub fn list(text: &str) -> Result<List, String> {
    let numbers: Option<Vec<i64>> = text.split(',').map(|n| n.parse::<i32>().ok().map(i64::from)).collect();
    numbers
        .map(List)
        .ok_or_else(|| format!("expected numbers such as 0,-1,8, outermost first, found `{text}`"))
}

/// `0x1,8x0`.
pub fn images(text: &str) -> Result<Images, String> {
    let image = |image: &str| -> Option<(u64, u64)> {
        let (row, column) = image.split_once('x')?;
        Some((row.parse().ok()?, column.parse().ok()?))
    };
    let images: Option<Vec<_>> = text.split(',').filter(|image| !image.is_empty()).map(image).collect();
    images
        .map(Images)
        .ok_or_else(|| format!("expected an image ROWxCOLUMN for each bit, such as 0x1,8x0, found `{text}`"))
}

/// `0..16`.
pub fn range(text: &str) -> Result<Range<usize>, String> {
    let parse = || {
        let (start, end) = text.split_once("..")?;
        let (start, end): (usize, usize) = (start.parse().ok()?, end.parse().ok()?);
        (start < end).then_some(start..end)
    };
    parse().ok_or_else(|| format!("expected a range such as 0..16, found `{text}`"))
}

/// An address, decimal or `0x...`.
pub fn address(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    // A block's shared memory ends far below.
    parsed
        .ok()
        .filter(|&address| address < 1 << 32)
        .ok_or_else(|| format!("expected an address such as 1024 or 0x400, found `{text}`"))
}

/// The mode of these words, spelled as in `#tile.shared<swizzle = 128, atom = 32>`.
pub fn swizzle(swizzle: &str, atom: &str) -> Result<Swizzle, String> {
    let modes = || SWIZZLES.iter().filter(|(name, _, _)| *name == swizzle);
    let found = modes().find(|(_, name, _)| *name == atom);
    found.map(|&(_, _, mode)| mode).ok_or_else(|| match modes().next() {
        None => format!("unknown swizzle `{swizzle}`; expected none, 32, 64, 96 or 128"),
        Some(_) if SWIZZLES.iter().any(|(_, name, _)| *name == atom) => {
            format!("swizzle {swizzle} moves 16 bytes at a time; use swizzle 128 for atom {atom}, or atom 16")
        }
        Some(_) => format!("unknown atom `{atom}`; expected 16, 32, b32_flip_8 or 64"),
    })
}

/// An element type of tiles, or a format that only tensor maps have.
pub fn format(text: &str) -> Result<Format, String> {
    let named = Format::ALL.into_iter().find(|format| format.name() == text);
    match (named, text.parse::<DType>()) {
        (Some(format), _) => Ok(format),
        (None, Ok(dtype)) => Ok(Format::of(dtype)),
        (None, Err(error)) => {
            let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
            Err(format!("{error}, {}", names.join(", ")))
        }
    }
}

/// `none`, `16` or `32`.
pub fn interleave(text: &str) -> Result<Interleave, String> {
    match text {
        "none" => Ok(Interleave::None),
        "16" => Ok(Interleave::B16),
        "32" => Ok(Interleave::B32),
        _ => Err("expected none, 16 or 32".into()),
    }
}

/// `zero` or `nan`.
pub fn fill(text: &str) -> Result<Fill, String> {
    match text {
        "zero" => Ok(Fill::Zero),
        "nan" => Ok(Fill::Nan),
        _ => Err("expected zero or nan".into()),
    }
}
