//! `girih layout of`: types and encodings as the IR has them, so that what a pass printed can be drawn as it is.
//!
//! | what is given | drawing |
//! |---|---|
//! | `tensor<64x128xf32, #tile.blocked<...>>`, or another layout | who holds which element |
//! | `#tile.blocked<...>` alone, with `--shape` | the same |
//! | `memref<64x64xbf16, #tile.shared<swizzle = 128>>` | banks |
//! | `#tile.shared<swizzle = 128>` alone | the table of the swizzle |
use super::{parse, tile, usage};
use clap::Args;
use girih::{Failure, failure::Result};
use girih_core::{
    dtype::DType,
    layout::{
        Named, Repeated,
        draw::{self, Drawing},
    },
};
use girih_dialects::tile::{
    distribution::{Linear, linear_of, reshaped},
    layouts::{Fragment, Layout},
    ops::memory::contiguous,
    spaces::{Shared, shared_of},
};
use girih_ir::{
    ext::{DYNAMIC, TypeExt},
    module::{self, Message},
};
use melior::{
    Context,
    ir::{Attribute, Type},
};

/// Whether a word of the command line begins as something that the IR prints.
pub fn is_printed(word: &str) -> bool {
    ["#", "!", "tensor<", "memref<"]
        .iter()
        .any(|start| word.trim_start().starts_with(start))
}

/// A type or encoding.
#[derive(Args)]
pub struct Printed {
    /// A tensor or memref type, or an attribute such as #tile.blocked<...>, in quotes.
    #[arg(value_name = "TYPE")]
    text: String,
    /// Sizes of the tile, where the encoding of a tensor stands alone; as far as the images reach for #tile.linear otherwise.
    #[arg(long, value_name = "SIZES", value_parser = parse::shape)]
    shape: Option<parse::Shape>,
    /// Element type, where the encoding of a tensor stands alone; f32 otherwise, bf16 for #tile.layout<wgmma_a>.
    #[arg(long = "type", value_name = "TYPE")]
    dtype: Option<DType>,
    /// Accesses to count in a memref, as for banks.
    #[arg(long, value_name = "ACCESS", value_delimiter = ',')]
    access: Vec<String>,
}

const EXPECTED: &str = "expected a tensor with a layout, a memref in #tile.shared, or an attribute #tile.blocked, #tile.sliced, \
                        #tile.linear, #tile.layout or #tile.shared";

impl Printed {
    pub fn draw(&self) -> Result<Drawing> {
        let context = girih::registry::context();
        context.load_all_available_dialects();
        let text = self.text.trim();
        // The definition of an alias, `#L = #tile.blocked<...>`, says what it stands for.
        let text = match text.split_once('=') {
            Some((alias, meaning)) if !alias.contains('<') => meaning.trim(),
            _ => text,
        };
        if !text.starts_with('#') {
            self.only_with(self.shape.is_some(), "--shape", "an encoding alone")?;
            self.only_with(self.dtype.is_some(), "--type", "an encoding alone")?;
            return self.ty(read(&context, text, Type::parse)?);
        }
        let attribute: Attribute<'_> = read(&context, text, Attribute::parse)?;
        if let Some(space) = Shared::of(attribute) {
            let alone = "the encoding of a tensor; write memref<ROWSxCOLUMNSxTYPE, ...> for banks";
            self.only_with(self.shape.is_some(), "--shape", alone)?;
            self.only_with(self.dtype.is_some(), "--type", alone)?;
            self.only_with(!self.access.is_empty(), "--access", "a memref")?;
            return draw::swizzle(chosen(space)?, 0).map_err(usage);
        }
        let Some(shape) = self
            .shape
            .as_ref()
            .map(|shape| shape.0.clone())
            .or_else(|| reach(attribute))
        else {
            return Err(Failure::usage(format!(
                "{text} fits tiles of many sizes; say which with --shape, such as --shape 64x128, or give the whole type, such as \
                 tensor<64x128xf32, ...>"
            )));
        };
        let is_operand = Layout::of(attribute).is_some_and(|layout| layout.fragment() == Fragment::WgmmaA);
        let dtype = self.dtype.unwrap_or(if is_operand { DType::Bf16 } else { DType::F32 });
        let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
        let element = match dtype {
            DType::E4m3 => "f8E4M3FN",
            DType::E5m2 => "f8E5M2",
            named => named.name(),
        };
        let whole = format!("tensor<{sizes}{element}, {attribute}>");
        self.ty(read(&context, &whole, Type::parse)?)
    }

    /// An option that belongs to something else is no option here.
    fn only_with(&self, given: bool, option: &str, with: &str) -> Result<()> {
        match given {
            true => Err(Failure::usage(format!("{option} goes with {with}; leave it out"))),
            false => Ok(()),
        }
    }

    fn ty(&self, ty: Type<'_>) -> Result<Drawing> {
        if let Some(space) = shared_of(ty) {
            return self.banks(ty, space);
        }
        self.only_with(!self.access.is_empty(), "--access", "a memref in #tile.shared")?;
        let title = |what: &str| format!("{what}: who holds which element");
        let bits = match ty
            .element_type()
            .map(|element| (element.bit_width(), element.is_index_type()))
        {
            Some((Some(bits), _)) => u64::from(bits),
            Some((None, true)) => 64,
            _ => return Err(Failure::usage(format!("{ty} is no tile; {EXPECTED}"))),
        };
        let (Some(encoding), Some(shape)) = (ty.encoding(), ty.shape()) else {
            let hint = match ty.is_ranked_tensor_type() {
                true => "has no layout yet: tile-assign-layouts gives it one, so take it from what that pass leaves"
                    .to_owned(),
                false => format!("is no tile; {EXPECTED}"),
            };
            return Err(Failure::usage(format!("{ty} {hint}")));
        };
        // Verified tiles have static sizes.
        let sizes: Vec<u64> = shape.iter().filter_map(|size| u64::try_from(*size).ok()).collect();
        if let Some(layout) = Layout::of(encoding) {
            let named = match layout.fragment() {
                Fragment::WgmmaD => Named::WgmmaD,
                Fragment::WgmmaA => Named::WgmmaA,
            };
            let threads = named.tile(&sizes, bits).map_err(usage)?;
            return draw::registers(&title(&ty.to_string()), &threads, &sizes, bits).map_err(usage);
        }
        // A drawing has rows and columns: axes before the last are one.
        let columns = sizes.last().copied().unwrap_or(1);
        let flat = [sizes.iter().rev().skip(1).product::<u64>(), columns];
        let (flat, name) = match sizes.len() {
            1 | 2 => (sizes.clone(), ty.to_string()),
            _ => (flat.to_vec(), format!("{ty} as {}x{columns}", flat[0])),
        };
        let seen: Vec<i64> = flat.iter().filter_map(|size| i64::try_from(*size).ok()).collect();
        let map = match sizes.len() {
            1 | 2 => linear_of(encoding, &shape),
            _ => reshaped(encoding, &shape, &seen).and_then(|encoding| linear_of(encoding, &seen)),
        };
        let Some(map) = map else {
            return Err(Failure::usage(format!("{encoding} is no layout of girih; {EXPECTED}")));
        };
        draw::registers(&title(&name), &Repeated::from(map), &flat, bits).map_err(usage)
    }

    fn banks(&self, ty: Type<'_>, space: Shared<'_>) -> Result<Drawing> {
        let mode = chosen(space)?;
        let shape = ty.shape().unwrap_or_default();
        let bits = ty.element_type().and_then(|element| element.bit_width());
        let Some(bits) = bits.filter(|bits| bits % 8 == 0) else {
            return Err(Failure::usage(format!(
                "{ty} holds no numbers of whole bytes, whose banks could be drawn"
            )));
        };
        let dense = contiguous(&shape);
        let strides = ty.strides_and_offset().map(|(strides, _)| strides);
        if shape.contains(&DYNAMIC) || strides != Some(dense) {
            return Err(Failure::usage(format!(
                "{ty} has sizes or strides that the drawing cannot have; give the buffer's own type, that of its tile.alloc"
            )));
        }
        let sizes: Vec<u64> = shape.iter().filter_map(|size| u64::try_from(*size).ok()).collect();
        let rows = sizes.iter().rev().skip(1).product();
        let columns = sizes.last().copied().unwrap_or(1);
        tile::banks(
            &format!("banks of {ty}"),
            [rows, columns],
            u64::from(bits) / 8,
            mode,
            &self.access,
        )
    }
}

/// The permutation of a shared space; an error where it is still to be chosen.
fn chosen(space: Shared<'_>) -> Result<girih_core::tensor_map::Swizzle> {
    match space.is_open() {
        true => Err(Failure::usage(
            "swizzle = auto is still to be chosen: tile-swizzle-shared does it, so take the type from what that pass leaves",
        )),
        false => Ok(space.mode()),
    }
}

/// The smallest tile that all images of a linear layout lie in.
fn reach(attribute: Attribute<'_>) -> Option<Vec<u64>> {
    let linear = Linear::of(attribute)?;
    let rank = girih_dialects::tile::distribution::rank_of(attribute)?;
    let images = [linear.register(), linear.lane(), linear.warp()].concat();
    let size = |axis: usize| {
        let all = images.iter().skip(axis).step_by(rank.max(1));
        all.fold(0u64, |reach, image| reach | image.unsigned_abs())
            .wrapping_add(1)
            .next_power_of_two()
    };
    Some((0..rank).map(size).collect())
}

/// Reads a type or attribute; an error quotes the text with a caret.
fn read<'c, T>(context: &'c Context, text: &str, parse: impl FnOnce(&'c Context, &str) -> Option<T>) -> Result<T> {
    if text.contains('\0') || module::check_nesting(text).is_err() {
        return Err(Failure::usage(format!("no type or attribute; {EXPECTED}")));
    }
    let (parsed, said) = module::collect_diagnostics(context, || parse(context, text));
    parsed.ok_or_else(|| Failure::usage(explained(text, &said)))
}

/// What the parser says, below the text.
fn explained(text: &str, said: &[Message]) -> String {
    let Some(first) = said.first() else {
        return format!("`{text}` is no type or attribute; {EXPECTED}");
    };
    let alias = first.text.contains("undefined symbol alias");
    let hint = match alias {
        true => "; an alias is defined at the top of the file: give what stands behind its `=`",
        false => "",
    };
    let column = first.place.as_ref().map_or(1, |(_, _, column)| *column).max(1) as usize;
    let line = text.lines().next().unwrap_or_default();
    format!("{}{hint}\n  {line}\n  {:>column$}", first.text, "^")
}
