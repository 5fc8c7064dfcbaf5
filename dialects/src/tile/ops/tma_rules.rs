//! What tensor copies have in common: the rules that the driver does not check, as far as they are known at compile time.
use super::{
    super::{
        spaces::shared_of,
        types::{FormatOverride, MapMode, TensorMapType},
        verify::{index_count, is_contiguous, memref_bytes, on_device},
    },
    kernel::{Grid, Kernel},
    memory::known_alignment,
    tma::MakeTensorMap,
};
use girih_core::tensor_map::{Format, Interleave, Swizzle};
use girih_ir::{
    ext::{BlockExt, DYNAMIC},
    prelude::*,
};

/// How a copy walks the tensor, besides what its map says.
pub struct Walk<'c, 'x> {
    /// gather4 or scatter4.
    pub four_rows: bool,
    /// Offsets of a load in the modes im2col.
    pub offsets: &'x [Value<'c, 'c>],
}

/// Most pixels of a halo in mode im2col_w, and after each 32 pixels in mode im2col_w_128.
const HALO: (i64, i64) = (511, 31);

/// The rules of all tensor copies: coordinates, mode, and the image in shared memory.
pub fn transfer<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    map: TensorMapType<'c>,
    coords: &[Value<'c, 'c>],
    shared: Value<'c, 'c>,
    walk: &Walk<'c, '_>,
) {
    errors.merge(on_device(op));
    let memory = shared.r#type();
    if !whole_piece(op, errors, memory) {
        return;
    }
    walks(op, errors, map, coords, walk);
    shared_side(op, errors, map, memory);
    image(op, errors, map, memory, walk);
    aligned(op, errors, shared);
}

/// Whether the shared side lies in one piece.
pub fn whole_piece<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, memory: Type<'c>) -> bool {
    let whole = is_contiguous(memory);
    if !whole {
        errors.op(
            &op,
            format!("a tensor copy fills contiguous shared memory, found {memory}; take a part with tile.slab"),
        );
    }
    whole
}

/// Elements and swizzle of the shared side are those of the map.
pub fn shared_side<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, map: TensorMapType<'c>, memory: Type<'c>) {
    let format = map.core_format();
    let packed = format.is_some_and(|f| f.is_sub_byte());
    if packed && memory.element_type().is_none_or(|e| e.to_string() != "i8") {
        let m =
            format!("elements of {map} are packed in bytes, so that the shared memref must be of i8, found {memory}");
        errors.op(&op, m);
    } else if !packed && map.format() == FormatOverride::Natural && Some(map.tile().1) != memory.element_type() {
        errors.op(
            &op,
            format!("the shared memref {memory} must have the element type of {map}"),
        );
    }
    let space = shared_of(memory).expect("checked by the constraint");
    if !space.is_open() && space.mode() != map.permutation() {
        let m = format!(
            "the map has swizzle {}, but the shared memref has {}; give both the same, else rows come out permuted",
            map.permutation().name(),
            space.mode().name()
        );
        errors.op(&op, m);
    }
}

/// The shared address is as aligned as tensor copies need, as far as that is known.
pub fn aligned<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, shared: Value<'c, 'c>) {
    let align = known_alignment(shared);
    if align < 128 {
        let m = format!(
            "the shared address is a multiple of {align} bytes only, but tensor copies need 128; make each slab a multiple of 128 bytes, or say align = 128 where it is allocated"
        );
        errors.op(&op, m);
    }
}

/// The bytes of the shared memref, which are those of the image.
fn image<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    map: TensorMapType<'c>,
    memory: Type<'c>,
    walk: &Walk<'c, '_>,
) {
    let image = map.image();
    // What a halo brings is known where its length is.
    let halo = match (map.mode(), walk.offsets.first()) {
        (MapMode::Im2colW, Some(halo)) => halo.constant_int(),
        (MapMode::Im2colW128, Some(halo)) => halo.constant_int().map(|n| n.saturating_mul(4)),
        _ => Some(0),
    };
    let rows = if walk.four_rows { 4 } else { 1 };
    let of_halo = halo.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let least = (image.image_bytes() * rows).saturating_add(image.row_pitch_bytes().saturating_mul(of_halo));
    let bytes = memref_bytes(memory);
    let fits = match halo {
        Some(_) => bytes == Some(least),
        None => bytes.is_some_and(|b| b >= least),
    };
    if !fits {
        let found = bytes.map_or("an unknown number of".to_owned(), |b| b.to_string());
        let what = match (walk.four_rows, map.mode()) {
            (true, _) => "four rows are",
            (_, MapMode::Tile) => "a box is",
            _ => "a column is",
        };
        let m = format!("{what} {least} bytes of shared memory, but {memory} is {found}");
        errors.op(&op, m);
    }
}

/// Number and values of coordinates and offsets, and what gather4 and scatter4 need of the map.
pub fn walks<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    map: TensorMapType<'c>,
    coords: &[Value<'c, 'c>],
    walk: &Walk<'c, '_>,
) {
    if walk.four_rows {
        if coords.len() != 5 {
            let m = format!(
                "four rows need 5 coordinates, the rows and then the column, but {} are given",
                coords.len()
            );
            errors.op(&op, m);
        }
        let shape = map.tile().0;
        if map.mode() != MapMode::Tile || shape.len() != 2 || shape[0] != 1 {
            let m =
                format!("four rows need a map of two dimensions whose box has one row, such as 1x64xbf16, found {map}");
            errors.op(&op, m);
        }
        if map.core_interleave() != Interleave::None {
            errors.op(&op, "four rows cannot be interleaved; use interleave = none");
        }
    } else {
        index_count(op, errors, "the tensor map", map.dimensions(), coords.len());
    }
    coordinates_fit(op, errors, coords);
    if map.core_interleave() == Interleave::None
        && let (Some(inner), Some(format)) = (coords.last(), map.core_format())
    {
        innermost(op, errors, *inner, format);
    }
    offsets(op, errors, map, walk);
}

/// Coordinates of an instruction are 32 bits, with a sign.
pub(super) fn coordinates_fit<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, coords: &[Value<'c, 'c>]) {
    for (i, c) in coords.iter().enumerate() {
        if let Some(v) = c.constant_int().filter(|v| i32::try_from(*v).is_err()) {
            let m = format!(
                "coordinate #{i} is {v}, but coordinates of tensor copies are {} to {}; split the tensor's dimension, or start its \
                 memref nearer",
                i32::MIN,
                i32::MAX
            );
            errors.op(&op, m);
        }
    }
}

/// The innermost coordinate lies on 16 bytes, as far as it is known. The padded formats count whole groups of 128 elements.
pub(super) fn innermost<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, inner: Value<'c, 'c>, format: Format) {
    let padded = matches!(format, Format::B4x16P64 | Format::B6x16P32);
    let granule = if padded { 128 } else { 128 / format.global_bits() as i64 };
    let Remainder { modulus, rest } = Remainder::of(inner, granule, 0);
    if rest == 0 {
        return;
    }
    let found = match inner.constant_int() {
        Some(v) if !padded => {
            let bits = i128::from(v) * i128::from(format.global_bits());
            format!("is {v} elements, {} bytes", bits / 8)
        }
        Some(v) => format!("is {v} elements"),
        None => format!("is {rest} more than a multiple of {modulus} elements"),
    };
    let m = match padded {
        true => format!(
            "the innermost coordinate {found}, but format {} needs a multiple of 128",
            format.name()
        ),
        false => {
            format!("the innermost coordinate {found}, but must lie on 16 bytes (an illegal instruction on the GPU)")
        }
    };
    errors.op(&op, m);
}

/// What is known of a number: `rest` more than a multiple of `modulus`, a power of two; 0 of 1 where nothing is.
#[derive(Clone, Copy)]
pub(super) struct Remainder {
    pub(super) modulus: i64,
    pub(super) rest: i64,
}

impl Remainder {
    /// Most ops between a number and what it is made of that are looked through.
    const DEEPEST: usize = 8;

    /// `rest` more than a multiple of `modulus`.
    pub(super) fn known(modulus: i64, rest: i64) -> Self {
        Remainder {
            modulus,
            rest: rest.rem_euclid(modulus),
        }
    }

    /// Of a sum.
    pub(super) fn plus(self, other: Remainder) -> Self {
        Self::known(self.modulus.min(other.modulus), self.rest + other.rest)
    }

    /// Of a product, to the modulus `most`: (modulus i + rest) (modulus j + rest) has the highest power of two in all its terms
    /// but the last.
    pub(super) fn times(self, other: Remainder, most: i64) -> Self {
        let terms = (self.modulus * other.modulus) | (self.modulus * other.rest) | (other.modulus * self.rest) | most;
        Self::known(1 << terms.trailing_zeros(), self.rest * other.rest)
    }

    /// What the arithmetic that gives `v` says, to the modulus `most`, which is at most 128.
    pub(super) fn of(v: Value<'_, '_>, most: i64, depth: usize) -> Self {
        let known = Self::known;
        if let Some(v) = v.constant_int() {
            return known(most, v.rem_euclid(most));
        }
        // Narrower types wrap around within the modulus.
        let narrow = v.r#type().bit_width().is_some_and(|bits| bits < 8);
        let Some(op) = v.defining_op().filter(|_| depth < Self::DEEPEST && !narrow) else {
            return known(1, 0);
        };
        let operands: Vec<_> = op.operand_values();
        let of = |i: usize| operands.get(i).map_or(known(1, 0), |v| Self::of(*v, most, depth + 1));
        let times = |a: Remainder, b: Remainder| a.times(b, most);
        match op.full_name() {
            "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" => of(0),
            "arith.addi" | "arith.subi" => {
                let (a, b) = (of(0), of(1));
                let sign = if op.full_name() == "arith.subi" { -1 } else { 1 };
                known(a.modulus.min(b.modulus), a.rest + sign * b.rest)
            }
            "arith.muli" => times(of(0), of(1)),
            "arith.shli" => match operands.get(1).and_then(|by| by.constant_int()) {
                Some(by @ 0..=7) => times(of(0), known(most, 1 << by)),
                Some(8..=31) => known(most, 0),
                _ => known(1, 0),
            },
            _ => known(1, 0),
        }
    }
}

fn offsets<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, map: TensorMapType<'c>, walk: &Walk<'c, '_>) {
    let values: Vec<_> = walk.offsets.iter().map(|v| v.constant_int()).collect();
    let out_of = |errors: &mut Errors, what: &str, value: Option<i64>, most: i64| {
        // An i16 holds offsets up to 65535 as negative numbers.
        if let Some(v) = value.map(|v| v & 0xffff).filter(|v| *v > most) {
            errors.op(&op, format!("{what} is {v}, but may be 0 to {most}"));
        }
    };
    match map.mode() {
        MapMode::Tile => {
            if !values.is_empty() {
                errors.op(&op, format!("offsets belong to the modes im2col, but the map is {map}"));
            }
        }
        MapMode::Im2col => {
            let spatial = map.dimensions().saturating_sub(2);
            if !values.is_empty() && values.len() != spatial {
                let m = format!(
                    "{} offsets are given, but the map has {spatial} spatial dimensions",
                    values.len()
                );
                errors.op(&op, m);
            }
            let most = [65535, 255, 31][spatial.clamp(1, 3) - 1];
            for (i, v) in values.iter().enumerate() {
                out_of(errors, &format!("offset #{i}"), *v, most);
            }
        }
        mode @ (MapMode::Im2colW | MapMode::Im2colW128) => {
            if !values.is_empty() && values.len() != 2 {
                let m = format!(
                    "{} offsets are given, but mode {mode} has two: the halo and the shift in W",
                    values.len()
                );
                errors.op(&op, m);
            }
            let halo = if mode == MapMode::Im2colW { HALO.0 } else { HALO.1 };
            out_of(errors, "the halo", values.first().copied().flatten(), halo);
            out_of(errors, "the shift in W", values.get(1).copied().flatten(), 31);
        }
    }
}

/// Stores and reductions start inside the tensor.
pub fn no_negative_start<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, coords: &[Value<'c, 'c>]) {
    for (i, c) in coords.iter().enumerate() {
        if let Some(v) = c.constant_int().filter(|v| *v < 0) {
            errors.op(&op, format!("coordinate #{i} is {v}, but a store cannot start outside the tensor (an illegal instruction on the GPU); clip the box"));
        }
    }
}

/// What only stores and reductions ask of their map.
pub fn store_rules<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, map: Value<'c, 'c>, overwrite: bool) {
    let t = TensorMapType::of(map.r#type()).expect("checked by the constraint");
    store_map(op, errors, t);
    if !overwrite && t.core_interleave() == Interleave::None {
        row_end(op, errors, row_bytes(op, map));
    }
}

/// What a map must be, so that stores and reductions take it.
pub fn store_map<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, t: TensorMapType<'c>) {
    if t.core_format() == Some(Format::B4x16P64) {
        errors.op(
            &op,
            "format b4x16_p64 is for loads only; store with the natural format, whose rows are packed",
        );
    }
    if t.permutation() == Swizzle::B128Atom32Flip8 {
        errors.op(&op, "atom = b32_flip_8 is for loads only; use atom = 32");
    }
    if t.mode() == MapMode::Im2colW128 {
        errors.op(&op, "mode im2col_w_128 is for loads only; use mode im2col_w");
    }
    for (name, corner, inside) in [("lower", t.lower(), 0..=i64::MAX), ("upper", t.upper(), i64::MIN..=0)] {
        if let Some(v) = corner.iter().find(|v| !inside.contains(v)) {
            let m = format!(
                "{name} = {v}, but a store needs its window inside the tensor: lower at least 0, upper at most 0"
            );
            errors.op(&op, m);
        }
    }
}

/// Stores round rows up to 16 bytes; `bytes` are those of a row of the tensor, where they are known.
pub fn row_end<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, bytes: Option<u64>) {
    let Some(bytes) = bytes.filter(|b| b % 16 != 0) else {
        return;
    };
    let m = format!(
        "rows of the tensor are {bytes} bytes, and stores round them up to 16: {} bytes after each row are overwritten; \
         pad the rows, or say `overwrite`",
        bytes.div_ceil(16) * 16 - bytes
    );
    errors.op(&op, m);
}

/// Bytes of a row of the tensor that a map of the kernel's launch is made of, where the launch says.
fn row_bytes<'c>(op: OperationRef<'c, 'c>, map: Value<'c, 'c>) -> Option<u64> {
    let kernel = op.ancestor::<Kernel>()?;
    let all = kernel.body().entry()?.argument_values();
    let own = kernel.launch().entry()?.argument_values().len();
    let index = all.iter().position(|a| *a == map)?.checked_sub(own)?;
    let grid = kernel.launch().entry()?.op_list().last()?.cast::<Grid>()?;
    let made = grid.args().get(index)?.defining_op()?.cast::<MakeTensorMap>()?;
    bytes_of_rows(made.memory().r#type())
}

/// Bytes of the innermost dimension of a memref, where they are known.
pub fn bytes_of_rows(memory: Type<'_>) -> Option<u64> {
    let inner = memory.shape()?.last().copied().filter(|d| *d != DYNAMIC)?;
    let bits = u64::from(memory.element_type()?.bit_width()?);
    Some(u64::try_from(inner).ok()?.checked_mul(bits)? / 8)
}

/// A copy has one cache policy.
pub fn one_policy<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, fixed: bool, made: bool) {
    if fixed && made {
        errors.op(
            &op,
            "has a fixed cache policy and one that is a value; give one of them",
        );
    }
}
