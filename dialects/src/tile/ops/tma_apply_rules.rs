//! What `tile.tma.apply` must be, and which instructions it stands for.
use super::{
    super::{
        spaces::{Atom, Swizzle, shared_of},
        types::{Fill, FormatOverride, Interleave, L2Promotion, MapMode, TensorMapType},
        verify::{element_bits, memref_bytes, on_device},
    },
    mbarrier::check_barrier,
    tma::map_of_memory,
    tma_apply::{Apply, CopyFormat},
    tma_modes::reduction_format,
    tma_rules::{Walk, aligned, bytes_of_rows, row_end, shared_side, store_map, walks, whole_piece},
};
use girih_core::{
    target::{CopyKind, CopyOpcode, LoadMode, MaskWidth, StoreMode},
    tensor_map::{Format, Interleave as Slices},
};
use girih_ir::{op::OpView, prelude::*};

/// Bytes that every atom's origin is a multiple of.
const ORIGIN: u64 = 128;

/// The operands of a copy by role.
#[derive(Clone, Copy)]
pub struct Sides<'c> {
    /// The shared memref; none in prefetches.
    pub shared: Option<Value<'c, 'c>>,
    /// A memref, or a tensor map.
    pub global: Value<'c, 'c>,
}

/// A leading axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Positions.
    pub size: i64,
    /// Elements of each dimension that one position moves the box by, outermost first.
    pub step: Vec<i64>,
}

impl<'c> Apply<'c, 'c> {
    /// The operands by role, or what is wrong with them.
    pub fn sides(&self) -> Result<Sides<'c>, String> {
        let places = self.places();
        let (order, wanted) = match self.opcode().kind {
            CopyKind::Load { .. } => (
                "a load takes the shared memref, then the global side",
                [true, false].as_slice(),
            ),
            CopyKind::Store { .. } => (
                "a store takes the global side, then the shared memref",
                [false, true].as_slice(),
            ),
            CopyKind::Reduce { .. } => (
                "a reduction takes the global side, then the shared memref",
                [false, true].as_slice(),
            ),
            CopyKind::Prefetch { .. } => ("a prefetch takes the global side alone", [false].as_slice()),
        };
        let found: Vec<_> = places.iter().map(|v| shared_of(v.r#type()).is_some()).collect();
        if found != wanted {
            let types: Vec<_> = places.iter().map(|v| v.r#type().to_string()).collect();
            return Err(format!("{order}, found {}", types.join(", then ")));
        }
        Ok(match wanted {
            [true, false] => Sides {
                shared: Some(places[0]),
                global: places[1],
            },
            [false, true] => Sides {
                shared: Some(places[1]),
                global: places[0],
            },
            _ => Sides {
                shared: None,
                global: places[0],
            },
        })
    }

    /// The tensor map: that of the operand, or the one that the launcher makes of the memref. What is wrong with the latter is
    /// reported.
    pub fn map(&self, sides: &Sides<'c>) -> Res<TensorMapType<'c>> {
        let t = sides.global.r#type();
        if let Some(map) = TensorMapType::of(t) {
            return Ok(map);
        }
        let context = self.op().ctx();
        let own = t.element_type().unwrap_or_else(|| Type::index(context));
        let packed = |text| Type::parse(context, text).unwrap_or(own);
        let (element, format) = match self.format() {
            None => (own, FormatOverride::Natural),
            Some(CopyFormat::F32Ftz) => (own, FormatOverride::F32Ftz),
            Some(CopyFormat::Tf32) => (own, FormatOverride::Tf32),
            Some(CopyFormat::Tf32Ftz) => (own, FormatOverride::Tf32Ftz),
            Some(CopyFormat::Unsigned) => (own, FormatOverride::Unsigned),
            Some(CopyFormat::B4x16) => (packed("f4E2M1FN"), FormatOverride::Natural),
            Some(CopyFormat::B4x16P64) => (packed("f4E2M1FN"), FormatOverride::B4x16P64),
            Some(CopyFormat::B6x16P32) => (packed("f6E2M3FN"), FormatOverride::Natural),
        };
        let space = sides.shared.and_then(|v| shared_of(v.r#type()));
        TensorMapType::checked(
            self.op().location(),
            (self.box_dims(), element),
            space.map_or(Swizzle::None, |s| s.stated()),
            space.map_or(Atom::B16, |s| s.atom()),
            self.interleave().unwrap_or(Interleave::None),
            self.element_strides().unwrap_or_default(),
            self.oob_fill().unwrap_or(Fill::Zero),
            self.l2_promotion().unwrap_or(L2Promotion::None),
            format,
            MapMode::Tile,
            0,
            vec![],
            vec![],
        )
    }

    /// The shape of an atom, outermost first, as a shared memref has it: rows at the swizzle's span, and slices narrower than
    /// the span as lines of it. Pixels of a halo of unknown length count nothing.
    pub fn atom(&self, map: TensorMapType<'c>) -> Vec<i64> {
        let image = map.image();
        let element = image.format.bytes().unwrap_or(1);
        let span = image.swizzle.span_bytes().unwrap_or(0);
        if image.interleave != Slices::None && span > image.row_pitch_bytes() {
            return vec![image.image_bytes().div_ceil(span) as i64, (span / element) as i64];
        }
        let within = usize::from(image.interleave == Slices::None);
        let dims = image.image_dims();
        let mut shape: Vec<i64> = dims.iter().skip(within).rev().map(|n| *n as i64).collect();
        if self.opcode().four_rows() {
            shape = vec![4];
        }
        if let (Some(pixels), Some(halo)) = (shape.first_mut(), self.offsets().first()) {
            let each = match map.mode() {
                MapMode::Im2colW => 1,
                MapMode::Im2colW128 => 4,
                MapMode::Im2col | MapMode::Tile => 0,
            };
            *pixels += halo.constant_int().unwrap_or(0).clamp(0, 1 << 16) * each;
        }
        shape.push((image.row_pitch_bytes() / element) as i64);
        shape
    }

    /// The leading axes, outermost first; `None` where the shared memref does not end with an atom, or steps are missing.
    pub fn axes(&self, sides: &Sides<'c>, map: TensorMapType<'c>) -> Option<Vec<Axis>> {
        let sizes = match sides.shared {
            None => self.repeat().unwrap_or_default(),
            Some(shared) => {
                let (shape, atom) = (shared.r#type().shape()?, self.atom(map));
                let leading = shape.len().checked_sub(atom.len())?;
                (shape[leading..] == atom[..]).then(|| shape[..leading].to_vec())?
            }
        };
        let steps = self.steps().unwrap_or_default();
        (steps.len() == sizes.len()).then(|| {
            sizes
                .into_iter()
                .zip(steps)
                .map(|(size, step)| Axis { size, step })
                .collect()
        })
    }

    /// Coordinates as the instruction takes them: with four rows, those, then the column.
    pub fn start(&self) -> Vec<Value<'c, 'c>> {
        let coords = self.coords();
        match (self.opcode().four_rows(), coords.last()) {
            (true, Some(column)) => self.rows().into_iter().chain([*column]).collect(),
            _ => coords,
        }
    }
}

/// All rules, each with its own message.
pub(super) fn verify<'c>(apply: Apply<'c, 'c>) -> Res {
    let (op, mut errors) = (apply.op(), Errors::default());
    errors.merge(on_device(op));
    let opcode = apply.opcode();
    let sides = match apply.sides() {
        Ok(sides) => sides,
        Err(m) => return Diag::op(&op, m).report(),
    };
    operands(apply, &mut errors);
    let rank = usize::from(opcode.rank);
    let is_map = TensorMapType::of(sides.global.r#type()).is_some();
    let pixels = opcode.mode_name().starts_with("im2col");
    let box_rank = if pixels { 2 } else { rank };
    if apply.box_dims().len() != box_rank {
        let what = if pixels {
            "pixels and channels"
        } else {
            "its dimensions"
        };
        let m = format!(
            "box has {} sizes, but the opcode says {rank}d: {box_rank} of {what}",
            apply.box_dims().len()
        );
        errors.op(&op, m);
        return errors.result();
    }
    if !is_map {
        memory_fields(apply, &sides, &mut errors);
    } else {
        map_fields(apply, &mut errors);
    }
    if pixels && !is_map {
        let m = format!(
            "mode {} needs a map with corners of its window; make one with tile.tensor_map in launch and give that",
            opcode.mode_name()
        );
        errors.op(&op, m);
        return errors.result();
    }
    let Some(map) = errors.merge(apply.map(&sides)) else {
        return errors.result();
    };
    match is_map {
        false => map_of_memory(op, &mut errors, map, sides.global.r#type()),
        true => map_fits(apply, map, &mut errors),
    }
    // Other rules mean nothing for a map that breaks its own.
    if !map.violations().is_empty() {
        return errors.result();
    }
    let coords = apply.coords();
    if coords.len() != rank {
        errors.op(
            &op,
            format!("{} coordinates are given, but the opcode says {rank}d", coords.len()),
        );
        return errors.result();
    }
    if opcode.four_rows() && apply.rows().len() != 4 {
        return errors.result();
    }
    let offsets = apply.offsets();
    walks(
        op,
        &mut errors,
        map,
        &apply.start(),
        &Walk {
            four_rows: opcode.four_rows(),
            offsets: &offsets,
        },
    );
    if let Some(shared) = sides.shared
        && whole_piece(op, &mut errors, shared.r#type())
    {
        shared_side(op, &mut errors, map, shared.r#type());
        aligned(op, &mut errors, shared);
    }
    if let CopyKind::Store { .. } | CopyKind::Reduce { .. } = opcode.kind {
        store_map(op, &mut errors, map);
        if !is_map && !apply.overwrite() && map.core_interleave() == Slices::None {
            row_end(op, &mut errors, bytes_of_rows(sides.global.r#type()));
        }
    }
    if let CopyKind::Reduce { op: kind, .. } = opcode.kind {
        reduction_format(op, &mut errors, kind, map);
    }
    atoms(apply, &sides, map, &mut errors);
    errors.result()
}

/// Operands that the opcode asks for, and no others.
fn operands<'c>(apply: Apply<'c, 'c>, errors: &mut Errors) {
    let (op, opcode) = (apply.op(), apply.opcode());
    let (multicast, load) = match opcode.kind {
        CopyKind::Load { multicast, .. } => (multicast, true),
        _ => (None, false),
    };
    let im2col_load = matches!(
        opcode.kind,
        CopyKind::Load {
            mode: LoadMode::Im2col | LoadMode::Im2colW | LoadMode::Im2colW128,
            ..
        } | CopyKind::Prefetch {
            mode: LoadMode::Im2col | LoadMode::Im2colW | LoadMode::Im2colW128
        }
    );
    let rows = apply.rows().len();
    let four = opcode.four_rows();
    let needs = [
        (
            "mbar",
            load,
            apply.barrier().is_some(),
            "a load counts its bytes on one",
        ),
        (
            "cta_mask",
            multicast.is_some_and(|width| width != MaskWidth::B32),
            apply.mask().is_some(),
            ".multicast::cluster names the blocks by it",
        ),
        (
            "cta_mask_32b",
            multicast == Some(MaskWidth::B32),
            apply.mask_32b().is_some(),
            ".multicast::cluster::32b names the blocks by it",
        ),
        (
            "cache_policy",
            opcode.cache_hint,
            apply.policy().is_some(),
            ".L2::cache_hint takes it",
        ),
        (
            "gather4",
            four,
            rows > 0,
            "modes tile::gather4 and tile::scatter4 name four rows",
        ),
    ];
    for (name, wanted, given, why) in needs {
        match (wanted, given) {
            (true, false) => errors.op(&op, format!("needs `{name}`: {why}, and the opcode is {opcode}")),
            (false, true) => errors.op(
                &op,
                format!("has `{name}`, which the opcode {opcode} does not take; leave it out or add its qualifier"),
            ),
            _ => {}
        }
    }
    if four && rows > 0 && rows != 4 {
        errors.op(&op, format!("gather4 names {rows} rows, but takes 4"));
    }
    if !im2col_load && !apply.offsets().is_empty() {
        errors.op(
            &op,
            format!(
                "has `offsets`, which belong to loads and prefetches in the modes im2col, but the opcode is {opcode}"
            ),
        );
    }
    let stores = matches!(opcode.kind, CopyKind::Store { .. } | CopyKind::Reduce { .. });
    if apply.overwrite() && !stores {
        errors.op(&op, "has `overwrite`, which is about what stores and reductions write");
    }
    let prefetch = matches!(opcode.kind, CopyKind::Prefetch { .. });
    if apply.repeat().is_some() && !prefetch {
        errors.op(
            &op,
            "has `repeat`, but the leading axes of the shared memref say how often; leave it out",
        );
    }
    if let Some(n) = apply.repeat().into_iter().flatten().find(|n| *n < 1) {
        errors.op(&op, format!("repeat has {n}, but an axis has at least 1 position"));
    }
    if let Some(barrier) = apply.barrier() {
        check_barrier(op, errors, barrier, &apply.barrier_indices());
    }
}

/// Fields of a map that is made of a memref.
fn memory_fields<'c>(apply: Apply<'c, 'c>, sides: &Sides<'c>, errors: &mut Errors) {
    let (op, opcode) = (apply.op(), apply.opcode());
    let interleave = apply.interleave().unwrap_or(Interleave::None);
    if let Some(steps) = apply.element_strides() {
        let rank = usize::from(opcode.rank);
        if steps.len() != rank {
            let m = format!("element_strides has {} steps, but the opcode says {rank}d", steps.len());
            errors.op(&op, m);
        }
        if let (Interleave::None, Some(step)) = (interleave, steps.last().filter(|s| **s != 1)) {
            let m = format!(
                "the innermost element stride is {step}, but without interleave it must be 1: the hardware ignores it there"
            );
            errors.op(&op, m);
        }
    }
    let swizzle = sides.shared.and_then(|v| shared_of(v.r#type())).map(|s| s.swizzle());
    if interleave == Interleave::B32
        && let Some(swizzle) = swizzle.filter(|s| *s != Swizzle::B32)
    {
        let m = format!(
            "interleave 32 needs swizzle 32, found {swizzle}; write #tile.shared<swizzle = 32>, or give a tensor map of your own"
        );
        errors.op(&op, m);
    }
    if interleave != Interleave::None && opcode.four_rows() {
        errors.op(&op, "four rows cannot be interleaved; leave `interleave` out");
    }
}

/// Fields of a map that the caller made are its own.
fn map_fields<'c>(apply: Apply<'c, 'c>, errors: &mut Errors) {
    let given = [
        ("format", apply.format().is_some()),
        ("element_strides", apply.element_strides().is_some()),
        ("interleave", apply.interleave().is_some()),
        ("l2_promotion", apply.l2_promotion().is_some()),
        ("oob_fill", apply.oob_fill().is_some()),
    ];
    for (name, _) in given.iter().filter(|(_, given)| *given) {
        errors.op(
            &apply.op(),
            format!("has `{name}`, but the tensor map that is given has its own; leave it out"),
        );
    }
}

/// Rank, mode and box of a map that the caller made.
fn map_fits<'c>(apply: Apply<'c, 'c>, map: TensorMapType<'c>, errors: &mut Errors) {
    let (op, opcode) = (apply.op(), apply.opcode());
    if map.dimensions() != usize::from(opcode.rank) {
        let m = format!(
            "the opcode says {}d, but the map {map} has {} dimensions",
            opcode.rank,
            map.dimensions()
        );
        errors.op(&op, m);
    }
    if map.mode() != mode_of(opcode) {
        let m = format!(
            "the opcode says {}, but the map {map} has mode {}",
            opcode.mode_name(),
            map.mode()
        );
        errors.op(&op, m);
    }
    let (shape, _) = map.tile();
    if shape != apply.box_dims() {
        errors.op(
            &op,
            format!("box is {:?}, but that of the map {map} is {shape:?}", apply.box_dims()),
        );
    }
}

/// The mode of a map for an opcode.
fn mode_of(opcode: CopyOpcode) -> MapMode {
    match opcode.kind {
        CopyKind::Load { mode, .. } | CopyKind::Prefetch { mode } => match mode {
            LoadMode::Tile | LoadMode::Gather4 => MapMode::Tile,
            LoadMode::Im2col => MapMode::Im2col,
            LoadMode::Im2colW => MapMode::Im2colW,
            LoadMode::Im2colW128 => MapMode::Im2colW128,
        },
        CopyKind::Store { mode } | CopyKind::Reduce { mode, .. } => match mode {
            StoreMode::Tile | StoreMode::Scatter4 => MapMode::Tile,
            StoreMode::Im2colNoOffs => MapMode::Im2col,
            StoreMode::Im2colNoOffsW => MapMode::Im2colW,
        },
    }
}

/// Atoms, leading axes and steps.
fn atoms<'c>(apply: Apply<'c, 'c>, sides: &Sides<'c>, map: TensorMapType<'c>, errors: &mut Errors) {
    let (op, rank) = (apply.op(), usize::from(apply.opcode().rank));
    let steps = apply.steps().unwrap_or_default();
    if let Some((i, step)) = steps.iter().enumerate().find(|(_, step)| step.len() != rank) {
        let m = format!("steps[{i}] has {} values, but the opcode says {rank}d", step.len());
        return errors.op(&op, m);
    }
    let atom = apply.atom(map);
    let leading = match sides.shared {
        None => apply.repeat().unwrap_or_default().len(),
        Some(shared) => {
            let shape = shared.r#type().shape().unwrap_or_default();
            if !shape.ends_with(&atom) {
                let m = format!(
                    "box {:?} is an atom of {} in shared memory, but {} does not end with it",
                    apply.box_dims(),
                    by(&atom),
                    shared.r#type()
                );
                return errors.op(&op, m);
            }
            shape.len() - atom.len()
        }
    };
    if steps.len() != leading {
        let m = match (steps.len(), leading) {
            (0, _) => format!("needs `steps`: one vector of {rank} for each of the {leading} leading axes, found none"),
            (n, 0) => format!("has {n} vectors of steps, but no leading axes; leave `steps` out"),
            (n, _) => format!("has {n} vectors of steps, but {leading} leading axes; give one vector for each"),
        };
        return errors.op(&op, m);
    }
    let Some(axes) = apply.axes(sides, map) else { return };
    let moving: Vec<&Axis> = axes.iter().filter(|axis| axis.size > 1).collect();
    if let (Some(shared), false) = (sides.shared, moving.is_empty()) {
        let bits = element_bits(shared.r#type()).unwrap_or(8);
        let bytes = atom.iter().map(|n| n.unsigned_abs()).product::<u64>() * bits / 8;
        if !bytes.is_multiple_of(ORIGIN) {
            let m = format!(
                "an atom of {} is {bytes} bytes, so that the second starts at {bytes}, but every atom starts on a multiple of {ORIGIN}; \
                 choose a box whose bytes are one",
                by(&atom)
            );
            errors.op(&op, m);
        }
        if memref_bytes(shared.r#type()).is_none() {
            errors.op(
                &op,
                format!("a tensor copy needs static sizes, found {}", shared.r#type()),
            );
        }
    }
    for (i, axis) in axes.iter().enumerate() {
        for step in &axis.step {
            let last = step.checked_mul(axis.size - 1);
            if i32::try_from(*step).is_ok() && last.is_some_and(|n| i32::try_from(n).is_ok()) {
                continue;
            }
            let m = format!(
                "steps[{i}] moves a coordinate by {step} for each of {} atoms, but coordinates of tensor copies are {} to {}; take \
                 smaller steps",
                axis.size,
                i32::MIN,
                i32::MAX
            );
            errors.op(&op, m);
        }
    }
    let image = map.image();
    let stores = matches!(apply.opcode().kind, CopyKind::Store { .. } | CopyKind::Reduce { .. });
    for (i, axis) in axes.iter().enumerate().filter(|(_, axis)| axis.size > 1) {
        let Some(inner) = axis.step.last().filter(|_| image.interleave == Slices::None) else {
            continue;
        };
        let unit = match image.format {
            Format::B4x16P64 | Format::B6x16P32 => 128,
            other => (128 / other.global_bits()) as i64,
        };
        if inner % unit != 0 {
            let m = format!(
                "steps[{i}] moves the innermost coordinate by {inner} elements, but it must stay on multiples of {unit} (16 bytes)"
            );
            errors.op(&op, m);
        }
    }
    if !stores {
        return;
    }
    for (d, first) in apply.coords().iter().enumerate() {
        let Some(first) = first.constant_int() else { continue };
        let lowest = moving.iter().fold(first, |at, axis| {
            at.saturating_add(axis.step[d].saturating_mul(axis.size - 1).min(0))
        });
        if lowest < 0 {
            let m = format!(
                "coordinate #{d} gets down to {lowest}, but a store cannot start outside the tensor (an illegal instruction on the GPU); clip the box"
            );
            errors.op(&op, m);
        }
    }
}

/// `8x16`.
fn by(shape: &[i64]) -> String {
    shape.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}
