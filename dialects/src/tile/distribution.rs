//! Layouts that passes choose for register tiles, as encodings of tensors.
//!
//! All of them are linear maps over bits (`girih_core::layout`): the number of a register, a lane and a warp, bit by bit, to
//! the coordinates of an element. They differ in how they are written:
//!
//! | encoding | says | |
//! |---|---|---|
//! | `#tile.blocked<...>` | blocks of neighbours for each thread, threads side by side | fits tiles of any size |
//! | `#tile.sliced<axis = 1, of = #tile.blocked<...>>` | what is left of another layout without one axis | likewise |
//! | `#tile.linear<...>` | the images of all bits | of one tile, and smaller ones |
//!
//! A blocked layout that is larger than the tile holds copies: bits of lane or warp change nothing. Bits of the register
//! number never do; they are left out, so that a thread holds no element twice.
mod follow;
mod memo;
mod parts;

use super::verify::size_text;
pub use follow::{bitcast, refitted, reshaped, transposed, widened};
use girih_core::layout::{self, Dim, LinearLayout};
use girih_ir::{
    kind::{AnyAttr, I64, I64s, Kind},
    param_attr,
    prelude::*,
};
pub use parts::{parts_in_registers, registers_of_part};
use std::rc::Rc;

/// Lanes of a warp, as bits.
const LANE_BITS: usize = 5;

param_attr! {
    /// A tile dealt out in blocks: every thread has `per_thread` neighbours, the lanes of a warp lie side by side, then the
    /// warps; a tile larger than that repeats over registers. One number for each axis, outermost first; `order` lists the
    /// axes from fast to slow, the last axis fastest where it is left out.
    ///
    /// ```mlir
    /// tensor<64x128xf32, #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [4, 1]>>
    /// tensor<64x64xbf16, #tile.blocked<per_thread = [8, 1], lanes = [8, 4], warps = [1, 4], order = [0, 1]>>
    /// ```
    pub struct Blocked = "tile"."blocked" {
        params {
            per_thread: default(I64s, vec![]),
            lanes: default(I64s, vec![]),
            warps: default(I64s, vec![]),
            order: default(I64s, vec![]),
        }
        options [encoding]
        hooks {
            fn verify(&self, e: &Emitter) -> Res {
                let mut errors = Errors::default();
                let lists = [("per_thread", self.per_thread()), ("lanes", self.lanes()), ("warps", self.warps())];
                let rank = lists[0].1.len();
                for (name, list) in &lists {
                    if list.is_empty() || list.len() != rank {
                        let m = format!("{name} has {} numbers; write one for each axis in per_thread, lanes and warps", list.len());
                        errors.merge(e.error(m).report::<()>());
                    }
                    for n in list.iter().filter(|n| **n <= 0 || !(**n as u64).is_power_of_two() || **n > 1 << 16) {
                        errors.merge(e.error(format!("{name} has {n}, but layouts need powers of two up to 65536")).report::<()>());
                    }
                }
                let lanes = lists[1].1.iter().fold(1i64, |p, n| p.saturating_mul(*n));
                if !lists[1].1.is_empty() && lanes != 32 {
                    errors.merge(e.error(format!("lanes multiply to {lanes}, but a warp has 32")).report::<()>());
                }
                let warps = lists[2].1.iter().fold(1i64, |p, n| p.saturating_mul(*n));
                if warps > 32 {
                    errors.merge(e.error(format!("warps multiply to {warps}, but a block has at most 32")).report::<()>());
                }
                let mut order = self.order();
                order.sort_unstable();
                if !order.is_empty() && order != (0..rank as i64).collect::<Vec<_>>() {
                    let m = format!("order = {:?} does not list each of the {rank} axes once", self.order());
                    errors.merge(e.error(m).report::<()>());
                }
                errors.result()
            }
            fn verify_encoding(&self, shape: &[i64], element: Type<'c>, e: &Emitter) -> Res {
                fits(self.per_thread().len(), shape, element, e)
            }
        }
    }
}

impl Blocked<'_> {
    /// The axes from fast to slow.
    pub fn axes(&self) -> Vec<usize> {
        match self.order() {
            o if o.is_empty() => (0..self.per_thread().len()).rev().collect(),
            o => o.iter().map(|a| *a as usize).collect(),
        }
    }
    fn core(&self) -> layout::Blocked {
        let numbers = |list: Vec<i64>| list.into_iter().map(|n| n as u64).collect();
        layout::Blocked {
            per_thread: numbers(self.per_thread()),
            lanes: numbers(self.lanes()),
            warps: numbers(self.warps()),
            order: self.axes(),
        }
    }
    /// The attribute of a blocked layout; `order` is left out where the last axis is the fastest.
    pub fn of_core<'c>(context: &'c Context, b: &layout::Blocked) -> Blocked<'c> {
        let numbers = |list: &[u64]| list.iter().map(|n| *n as i64).collect();
        let plain = b.order.iter().rev().copied().eq(0..b.order.len());
        let order = if plain {
            vec![]
        } else {
            b.order.iter().map(|a| *a as i64).collect()
        };
        Blocked::get(
            context,
            numbers(&b.per_thread),
            numbers(&b.lanes),
            numbers(&b.warps),
            order,
        )
    }
}

param_attr! {
    /// What is left of a layout when `axis` goes: what a reduction along it leaves, and what a tile needs that is to be
    /// repeated along a new axis. Threads that differed along the axis hold copies.
    ///
    /// ```mlir
    /// tensor<64xf32, #tile.sliced<axis = 1, of = #tile.blocked<per_thread = [1, 4], lanes = [1, 32], warps = [4, 1]>>>
    /// ```
    pub struct Sliced = "tile"."sliced" {
        params { axis: required(I64), parent: required(AnyAttr) }
        options [encoding]
        hooks {
            fn parse(p: &Parser<'c>) -> Option<Res<Vec<Attribute<'c>>>> { Some(parse_slice(p)) }
            fn print(&self, p: &Printer) -> bool {
                p.text(format!("<axis = {}, of = ", self.axis())).attribute(self.parent()).text(">");
                true
            }
            fn verify(&self, e: &Emitter) -> Res {
                let Some(rank) = rank_of(self.parent()) else {
                    let m = format!("of = {}, but a slice is of #tile.blocked, #tile.sliced or #tile.linear", self.parent());
                    return e.error(m).report();
                };
                if !(0..rank as i64).contains(&self.axis()) {
                    return e.error(format!("axis = {}, but {} has axes 0 to {}", self.axis(), self.parent(), rank - 1)).report();
                }
                Ok(())
            }
            fn verify_encoding(&self, shape: &[i64], element: Type<'c>, e: &Emitter) -> Res {
                fits(rank_of(self.parent()).unwrap_or(1) - 1, shape, element, e)
            }
        }
    }
}

param_attr! {
    /// A layout by the images of its bits: `register` lists the coordinates, outermost axis first, that bit 0, 1, ... of a
    /// register's number contributes, `lane` those of the five bits of a lane, `warp` those of a warp. An element's
    /// coordinates are the exclusive or of the images of all bits that are set. A smaller tile has the same layout, folded:
    /// bits that only lead past its edge hold copies, and those of registers are left out.
    ///
    /// ```mlir
    /// tensor<8x8xf32, #tile.linear<register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>>
    /// ```
    pub struct Linear = "tile"."linear" {
        params { register: required(I64s), lane: required(I64s), warp: required(I64s) }
        options [encoding]
        hooks {
            fn parse(p: &Parser<'c>) -> Option<Res<Vec<Attribute<'c>>>> { Some(parse_images(p)) }
            fn print(&self, p: &Printer) -> bool {
                let rank = (self.lane().len() / LANE_BITS).max(1);
                for (name, images) in [("<register = ", self.register()), (", lane = ", self.lane()), (", warp = ", self.warp())] {
                    let text: Vec<_> = images.chunks(rank).map(|image| format!("{image:?}")).collect();
                    p.text(format!("{name}[{}]", text.join(", ")));
                }
                p.text(">");
                true
            }
            fn verify(&self, e: &Emitter) -> Res {
                let (lane, rank) = (self.lane().len(), self.lane().len() / LANE_BITS);
                if rank == 0 || lane % LANE_BITS != 0 {
                    return e.error(format!("lane has {lane} numbers, but a lane has five bits, each with a number for each axis")).report();
                }
                for (name, list) in [("register", self.register()), ("lane", self.lane()), ("warp", self.warp())] {
                    if list.len() % rank != 0 || list.len() / rank > 16 {
                        return e.error(format!("{name} has {} numbers, which is no list of at most 16 images of {rank}", list.len())).report();
                    }
                    if let Some(n) = list.iter().find(|n| !(0..1 << 16).contains(*n)) {
                        return e.error(format!("{name} has {n}, but coordinates are from 0 to 65535")).report();
                    }
                }
                Ok(())
            }
            fn verify_encoding(&self, shape: &[i64], element: Type<'c>, e: &Emitter) -> Res {
                fits(self.lane().len() / LANE_BITS, shape, element, e)?;
                match self.map(shape) {
                    Some(l) if l.is_surjective() => Ok(()),
                    Some(l) => e.error(format!("the images reach 2^{} of the tensor's {} elements", l.rank(), shape.iter().product::<i64>())).report(),
                    None => Ok(()),
                }
            }
        }
    }
}

impl<'c> Linear<'c> {
    fn map(&self, shape: &[i64]) -> Option<LinearLayout> {
        let bits: Vec<u32> = shape.iter().map(|s| s.checked_ilog2()).collect::<Option<_>>()?;
        let images = |list: Vec<i64>| -> Vec<Vec<u32>> {
            let folded = |(v, size): (&i64, &i64)| (*v & (*size - 1)) as u32;
            let each = |image: &[i64]| image.iter().zip(shape).map(folded).collect();
            list.chunks(bits.len().max(1)).map(each).collect()
        };
        rebuilt(images(self.register()), images(self.lane()), images(self.warp()), &bits)
    }
    /// The attribute of a layout from (register, lane, warp) to the axes.
    pub fn of_core(context: &'c Context, layout: &LinearLayout, rank: usize) -> Linear<'c> {
        let images = |dim: Dim, least: u32| -> Vec<i64> {
            (0..layout.input_bits(dim).max(least))
                .flat_map(|bit| coordinates(&layout.image(dim, bit).unwrap_or_default(), rank))
                .map(i64::from)
                .collect()
        };
        Linear::get(
            context,
            images(Dim::Register, 0),
            images(Dim::Lane, LANE_BITS as u32),
            images(Dim::Warp, 0),
        )
    }
}

fn parse_slice<'c>(p: &Parser<'c>) -> Res<Vec<Attribute<'c>>> {
    p.token(Token::Less)?;
    p.keyword("axis")?;
    p.token(Token::Equal)?;
    let axis = p.integer()?;
    p.token(Token::Comma)?;
    p.keyword("of")?;
    p.token(Token::Equal)?;
    let of = p.attribute(None)?;
    p.token(Token::Greater)?;
    Ok(vec![I64::to_attribute(&axis, p.context()), of])
}

fn parse_images<'c>(p: &Parser<'c>) -> Res<Vec<Attribute<'c>>> {
    let mut out = vec![];
    let mut rank = None;
    for (name, open) in [
        ("register", Token::Less),
        ("lane", Token::Comma),
        ("warp", Token::Comma),
    ] {
        p.token(open)?;
        p.keyword(name)?;
        p.token(Token::Equal)?;
        let at = p.loc();
        let images = p.list(Delimiter::Square, || I64s::parse(p))?;
        let expected = *rank.get_or_insert(images.first().map_or(0, Vec::len));
        let expected = if expected == 0 {
            images.first().map_or(0, Vec::len)
        } else {
            expected
        };
        rank = Some(expected);
        if let Some(image) = images.iter().find(|image| image.len() != expected) {
            let m = format!("expected images of {expected} numbers, one for each axis, found {image:?}");
            return p.error(at, m).report();
        }
        out.push(I64s::to_attribute(&images.concat(), p.context()));
    }
    p.token(Token::Greater)?;
    Ok(out)
}

/// Sizes and elements that every layout of this file asks of a tensor.
fn fits(rank: usize, shape: &[i64], element: Type<'_>, e: &Emitter) -> Res {
    let mut errors = Errors::default();
    if shape.len() != rank {
        let m = format!(
            "the layout is of tiles with {rank} axes, but the tensor has {}",
            shape.len()
        );
        errors.merge(e.error(m).report::<()>());
    }
    for size in shape.iter().filter(|s| **s <= 0 || !(**s as u64).is_power_of_two()) {
        let m = format!(
            "a tile's sizes are powers of two, but the tensor has {}; take the next larger one, reads past the edge give zero",
            size_text(*size)
        );
        errors.merge(e.error(m).report::<()>());
    }
    if element.bit_width().is_none() && !element.is_index_type() {
        errors.merge(
            e.error(format!("a tile holds numbers, but the tensor holds {element}"))
                .report::<()>(),
        );
    }
    errors.result()
}

/// Axes that a layout of this file has; `None` for other attributes.
pub fn rank_of(encoding: Attribute<'_>) -> Option<usize> {
    if let Some(b) = Blocked::of(encoding) {
        return Some(b.per_thread().len());
    }
    if let Some(s) = Sliced::of(encoding) {
        return rank_of(s.parent())?.checked_sub(1);
    }
    Linear::of(encoding).map(|l| l.lane().len() / LANE_BITS)
}

/// Whether a tensor has a layout of this file.
pub fn is_distributed(t: Type<'_>) -> bool {
    t.encoding().is_some_and(|e| rank_of(e).is_some())
}

/// The map of an encoding on a tile of `shape`: (register, lane, warp) to axes. Register bits that bring a thread nothing
/// new are left out.
pub fn linear_of(encoding: Attribute<'_>, shape: &[i64]) -> Option<LinearLayout> {
    memo::known(encoding, shape)?.linear().cloned()
}

/// [`linear_of`], computed.
fn computed(encoding: Attribute<'_>, shape: &[i64]) -> Option<LinearLayout> {
    let sizes: Vec<u64> = shape.iter().map(|s| u64::try_from(*s).ok()).collect::<Option<_>>()?;
    let layout = if let Some(b) = Blocked::of(encoding) {
        b.core().layout(&sizes).ok()?
    } else if let Some(s) = Sliced::of(encoding) {
        let axis = usize::try_from(s.axis()).ok()?;
        let mut whole = shape.to_vec();
        whole.insert(axis.min(shape.len()), sliced_size(s.parent(), axis));
        without_axis(&linear_of(s.parent(), &whole)?, axis, shape.len())?
    } else {
        Linear::of(encoding)?.map(shape)?
    };
    trimmed(&layout, shape.len())
}

/// A size of the axis that a slice leaves out: any will do for a layout that fits all tiles.
fn sliced_size(parent: Attribute<'_>, axis: usize) -> i64 {
    if let Some(slice) = Sliced::of(parent) {
        let gone = slice.axis().max(0) as usize;
        return sliced_size(slice.parent(), if axis < gone { axis } else { axis + 1 });
    }
    let Some(l) = Linear::of(parent) else { return 1 };
    let rank = (l.lane().len() / LANE_BITS).max(1);
    let largest = [l.register(), l.lane(), l.warp()]
        .concat()
        .iter()
        .skip(axis)
        .step_by(rank)
        .copied()
        .max();
    (largest.unwrap_or(0).max(0) as u64 + 1).next_power_of_two() as i64
}

/// Images of an input's bits, each with one number for each axis.
type Images = (Dim, Vec<Vec<u32>>);

/// The same as the layout algebra has them.
type Coordinates = Vec<(Dim, u64)>;

fn from_images(images: &[Images], bits: &[u32]) -> Option<LinearLayout> {
    let outputs: Vec<(Dim, u32)> = bits.iter().enumerate().map(|(a, b)| (axis(a), *b)).collect();
    let named = |image: &Vec<u32>| -> Coordinates {
        image
            .iter()
            .enumerate()
            .map(|(a, v)| (axis(a), u64::from(*v)))
            .collect()
    };
    let lists: Vec<Vec<Coordinates>> = images
        .iter()
        .map(|(_, list)| list.iter().map(named).collect())
        .collect();
    let slices: Vec<Vec<&[(Dim, u64)]>> = lists.iter().map(|l| l.iter().map(Vec::as_slice).collect()).collect();
    let bases: Vec<_> = images
        .iter()
        .zip(&slices)
        .map(|((d, _), s)| (*d, s.as_slice()))
        .collect();
    LinearLayout::from_bases(&outputs, &bases).ok()
}

fn axis(a: usize) -> Dim {
    Dim::Axis(a as u8)
}

/// An image as one number for each axis.
fn coordinates(image: &[(Dim, u64)], rank: usize) -> Vec<u32> {
    let of = |a: usize| image.iter().find(|(d, _)| *d == axis(a)).map_or(0, |(_, v)| *v as u32);
    (0..rank).map(of).collect()
}

/// Images of all bits of an input.
fn images_of(layout: &LinearLayout, dim: Dim, rank: usize) -> Vec<Vec<u32>> {
    (0..layout.input_bits(dim))
        .map(|bit| coordinates(&layout.image(dim, bit).unwrap_or_default(), rank))
        .collect()
}

fn rebuilt(register: Vec<Vec<u32>>, lane: Vec<Vec<u32>>, warp: Vec<Vec<u32>>, bits: &[u32]) -> Option<LinearLayout> {
    from_images(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)], bits)
}

fn bits_of(layout: &LinearLayout, rank: usize) -> Vec<u32> {
    (0..rank).map(|a| layout.output_bits(axis(a))).collect()
}

/// The layout with one axis projected away; axes above it move down.
fn without_axis(layout: &LinearLayout, gone: usize, rank: usize) -> Option<LinearLayout> {
    let cut = |dim| -> Vec<Vec<u32>> {
        let mut images = images_of(layout, dim, rank + 1);
        for image in &mut images {
            image.remove(gone);
        }
        images
    };
    let mut bits = bits_of(layout, rank + 1);
    bits.remove(gone);
    rebuilt(cut(Dim::Register), cut(Dim::Lane), cut(Dim::Warp), &bits)
}

/// Whether a layout fits tiles of any size: blocks do, and what is left of them without an axis.
pub fn is_elastic(layout: Attribute<'_>) -> bool {
    match Sliced::of(layout) {
        Some(slice) => is_elastic(slice.parent()),
        None => Blocked::of(layout).is_some(),
    }
}

/// Whether every element of a tile of `shape` has a place in a layout.
fn fits_shape(layout: Attribute<'_>, shape: &[i64]) -> bool {
    let same_rank = |l: &Linear<'_>| !shape.is_empty() && l.lane().len() == LANE_BITS * shape.len();
    is_elastic(layout)
        || Linear::of(layout)
            .filter(same_rank)
            .and_then(|l| l.map(shape))
            .is_some_and(|m| m.is_surjective())
}

/// Place of an element in the row-major list of a tile's elements.
pub fn flattened(at: &[u32], shape: &[i64]) -> u64 {
    at.iter()
        .zip(shape)
        .fold(0, |n, (c, size)| n * *size as u64 + u64::from(*c))
}

/// Coordinates of the element at a place of the row-major list.
pub fn unflattened(mut place: u64, shape: &[i64]) -> Vec<u32> {
    let mut at = vec![0; shape.len()];
    for (c, size) in at.iter_mut().zip(shape).rev() {
        *c = (place % *size as u64) as u32;
        place /= *size as u64;
    }
    at
}

/// Without register bits whose elements the thread's lower bits hold already.
fn trimmed(layout: &LinearLayout, rank: usize) -> Option<LinearLayout> {
    let alone = layout.with_inputs(&[Dim::Register]);
    let free = alone.free_bits(Dim::Register);
    let register: Vec<_> = images_of(layout, Dim::Register, rank)
        .into_iter()
        .enumerate()
        .filter(|(bit, _)| free >> bit & 1 == 0)
        .map(|(_, image)| image)
        .collect();
    let (lane, warp) = (images_of(layout, Dim::Lane, rank), images_of(layout, Dim::Warp, rank));
    rebuilt(register, lane, warp, &bits_of(layout, rank))
}

/// Who holds which element of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Sizes of the tile.
    pub shape: Vec<i64>,
    /// Coordinates of each register's element in thread 0.
    pub registers: Vec<Vec<u32>>,
    /// What each bit of a thread's number in the block contributes by exclusive or, the lane's five bits first.
    pub threads: Vec<Vec<u32>>,
    /// The same as a linear map.
    pub linear: LinearLayout,
}

impl Distribution {
    /// That of a tensor with a layout of this file.
    pub fn of(t: Type<'_>) -> Option<Rc<Distribution>> {
        Distribution::new(t.encoding()?, &t.shape()?)
    }
    /// That of a tile of `shape` under `encoding`. Few are asked for again and again, so they are kept.
    pub fn new(encoding: Attribute<'_>, shape: &[i64]) -> Option<Rc<Distribution>> {
        memo::known(encoding, shape)?.distribution()
    }
    /// That of a tile of `shape` under a map from (register, lane, warp) to its axes.
    pub fn of_linear(linear: &LinearLayout, shape: &[i64]) -> Option<Distribution> {
        let linear = trimmed(linear, shape.len())?;
        let rank = shape.len();
        let registers = (0..1u64 << linear.input_bits(Dim::Register))
            .map(|r| coordinates(&linear.apply(&[(Dim::Register, r)]), rank))
            .collect();
        let threads = [images_of(&linear, Dim::Lane, rank), images_of(&linear, Dim::Warp, rank)].concat();
        Some(Distribution {
            shape: shape.to_vec(),
            registers,
            threads,
            linear,
        })
    }
    /// That of a tile of `shape` with these images of the bits of a register's and a thread's number, the lane's five bits
    /// first.
    pub fn of_images(registers: &[Vec<u32>], threads: &[Vec<u32>], shape: &[i64]) -> Option<Distribution> {
        let bits: Vec<u32> = shape.iter().map(|s| s.checked_ilog2()).collect::<Option<_>>()?;
        let (lane, warp) = threads.split_at_checked(LANE_BITS)?;
        Distribution::of_linear(
            &rebuilt(registers.to_vec(), lane.to_vec(), warp.to_vec(), &bits)?,
            shape,
        )
    }
    /// Images of the bits of a register's number.
    pub fn register_images(&self) -> Vec<Vec<u32>> {
        (0..self.linear.input_bits(Dim::Register))
            .map(|bit| self.registers[1 << bit].clone())
            .collect()
    }
    /// Threads of the block.
    pub fn thread_count(&self) -> u64 {
        1 << self.threads.len()
    }
    /// Bits of a thread's number that bring no new element: threads that differ in them only hold copies.
    pub fn copy_bits(&self) -> u64 {
        self.linear.free_bits(Dim::Lane) | self.linear.free_bits(Dim::Warp) << LANE_BITS
    }
    /// Registers that hold neighbours along `axis`, aligned to their number.
    pub fn run(&self, axis: usize) -> usize {
        self.linear.contiguity(Dim::Register, Dim::Axis(axis as u8)) as usize
    }
    /// Whether no bit of a coordinate comes both from the register and from the thread, so that the two can be added.
    pub fn is_disjoint(&self, axis: usize) -> bool {
        let all = |images: &[Vec<u32>]| images.iter().fold(0, |m, i| m | i[axis]);
        all(&self.registers) & all(&self.threads) == 0
    }
}
