//! The case of a number: the same for the same seed, on every machine. Sizes grow with the number.
use super::{
    GLOBAL_BYTES, MAX_BLOCKS, Transfer,
    form::{BulkType, Form, THREADS, Walk},
};
use girih_core::tensor_map::{Caps, Format, Interleave, L2Promotion, Mode, TensorMap};
use girih_sim::tma::{
    ReduceOp,
    formula::draw::{Draw, IMAGE_BYTES, Maps, start, start_in_window},
};

/// Most bytes of shared memory of a block.
pub const MAX_SHARED_BYTES: u32 = IMAGE_BYTES as u32 + 4096;

/// What a map of an H200 may be.
const MAPS: Maps = Maps {
    caps: Caps::SM_90,
    formats: &[
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
        Format::Tf32,
        Format::Tf32Ftz,
    ],
};

/// Operators of `cp.reduce.async.bulk` to global memory with the types that each takes.
const BULK_REDUCTIONS: [(ReduceOp, &[(&str, usize)]); 8] = [
    (
        ReduceOp::Add,
        &[
            ("u32", 4),
            ("s32", 4),
            ("u64", 8),
            ("noftz.f16", 2),
            ("noftz.bf16", 2),
            ("f32", 4),
            ("f64", 8),
        ],
    ),
    (
        ReduceOp::Min,
        &[("u32", 4), ("s32", 4), ("u64", 8), ("s64", 8), ("f16", 2), ("bf16", 2)],
    ),
    (
        ReduceOp::Max,
        &[("u32", 4), ("s32", 4), ("u64", 8), ("s64", 8), ("f16", 2), ("bf16", 2)],
    ),
    (ReduceOp::Inc, &[("u32", 4)]),
    (ReduceOp::Dec, &[("u32", 4)]),
    (ReduceOp::And, &[("b32", 4), ("b64", 8)]),
    (ReduceOp::Or, &[("b32", 4), ("b64", 8)]),
    (ReduceOp::Xor, &[("b32", 4), ("b64", 8)]),
];

/// The same to another block's shared memory.
const SEND_REDUCTIONS: [(ReduceOp, &[(&str, usize)]); 8] = [
    (ReduceOp::Add, &[("u32", 4), ("s32", 4), ("u64", 8)]),
    (ReduceOp::Min, &[("u32", 4), ("s32", 4)]),
    (ReduceOp::Max, &[("u32", 4), ("s32", 4)]),
    (ReduceOp::Inc, &[("u32", 4)]),
    (ReduceOp::Dec, &[("u32", 4)]),
    (ReduceOp::And, &[("b32", 4)]),
    (ReduceOp::Or, &[("b32", 4)]),
    (ReduceOp::Xor, &[("b32", 4)]),
];

/// Case `number` of the series that `seed` begins.
pub fn case(seed: u64, number: u64) -> Transfer {
    let mut d = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03));
    let size = 2 + (number % 1024 / 80) as i64;
    loop {
        let kind = d.from(0..100);
        if let Some(case) = one(&mut d, kind, size) {
            return case;
        }
    }
}

fn one(d: &mut Draw, kind: i64, size: i64) -> Option<Transfer> {
    match kind {
        0..30 => load(d, size, Walk::Tile),
        30..44 => load(d, size, Walk::Columns),
        44..58 => store(d, size, Walk::Tile),
        58..66 => store(d, size, Walk::Columns),
        66..80 => reduce(d, size),
        80..83 => prefetch(d, size),
        _ => Some(without_map(d, kind - 83, size)),
    }
}

/// A case of one block that moves nothing yet.
fn still(d: &mut Draw, form: Form, format: Format) -> Transfer {
    Transfer {
        form,
        map: None,
        coords: vec![],
        offsets: [0; 3],
        at: 0,
        bytes: 0,
        blocks: 1,
        mask: 1,
        issuer: 0,
        distance: 0,
        size: 0,
        shared_bytes: 0,
        format,
        seed: d.next(),
    }
}

/// Shared memory around an image: a start on 128 bytes, and the swizzle's period whole at the end.
fn place(d: &mut Draw, case: &mut Transfer, image_bytes: u64) {
    case.at = 128 * d.from(0..9) as u32;
    case.shared_bytes = room(case.at, image_bytes);
}

/// Bytes of shared memory for an image at `at`.
pub fn room(at: u32, image_bytes: u64) -> u32 {
    (at + image_bytes as u32 + 128).next_multiple_of(1024)
}

/// Blocks of a cluster, who issues and who gets bytes.
fn cluster(d: &mut Draw, case: &mut Transfer, receivers: Option<u32>) {
    case.blocks = d.pick(&[2, MAX_BLOCKS]);
    case.issuer = d.from(0..case.blocks.into()) as u32;
    case.mask = match receivers {
        Some(_) => {
            let other = (case.issuer + d.from(1..case.blocks.into()) as u32) % case.blocks;
            1 << other
        }
        None => d.from(1..1 << case.blocks) as u32,
    };
}

fn map(d: &mut Draw, size: i64, walk: Walk, inside: bool) -> Option<TensorMap> {
    let mut map = match walk {
        Walk::Tile => MAPS.tiled(d, size, true)?,
        Walk::Columns => MAPS.images(d, size, None, inside)?,
    };
    map.address += map.interleave.alignment() * d.from(0..9) as u64;
    map.l2_promotion = d.pick(&[
        L2Promotion::None,
        L2Promotion::B64,
        L2Promotion::B128,
        L2Promotion::B256,
    ]);
    MAPS.fits(&map).then_some(map)
}

fn coordinates(d: &mut Draw, map: &TensorMap, walk: Walk, outside: bool) -> Option<Vec<i32>> {
    let x = match walk {
        Walk::Tile => start(d, map, outside),
        Walk::Columns => start_in_window(d, map, outside)?,
    };
    Some(x.into_iter().map(|v| v as i32).collect())
}

fn load(d: &mut Draw, size: i64, walk: Walk) -> Option<Transfer> {
    let mut map = map(d, size, walk, false)?;
    let fewer = map.strides.len();
    if fewer > 0 && d.from(0..6) == 0 {
        // Rows that overlap, or are all the same.
        let (i, of) = (d.from(0..fewer as i64) as usize, d.from(0..3) as u64);
        map.strides[i] = of * map.interleave.alignment();
    }
    let coords = coordinates(d, &map, walk, true)?;
    let multicast = d.from(0..4) == 0;
    let form = Form::Load {
        walk,
        rank: map.rank(),
        own: !multicast && d.from(0..4) == 0,
        multicast,
        hint: d.from(0..4) == 0,
    };
    let mut case = still(d, form, map.format);
    place(d, &mut case, map.image_bytes());
    if multicast {
        cluster(d, &mut case, None);
    }
    if walk == Walk::Columns {
        let most = [4, 4, 4];
        case.offsets = std::array::from_fn(|i| {
            if i + 2 < map.rank() {
                d.from(0..most[i]) as u16
            } else {
                0
            }
        });
    }
    case.bytes = map.transaction_bytes() as u32;
    case.coords = coords;
    case.map = Some(map);
    Some(case)
}

fn store(d: &mut Draw, size: i64, walk: Walk) -> Option<Transfer> {
    let map = map(d, size, walk, true)?;
    let form = Form::Store {
        walk,
        rank: map.rank(),
        hint: d.from(0..4) == 0,
    };
    outward(d, form, map, walk)
}

fn reduce(d: &mut Draw, size: i64) -> Option<Transfer> {
    let walk = d.pick(&[Walk::Tile, Walk::Tile, Walk::Tile, Walk::Columns]);
    let op = d.pick(&ReduceOp::ALL);
    let mut map = map(d, size, walk, true)?;
    if map.interleave != Interleave::None {
        return None;
    }
    let core = girih_core::target::ReduceOp::ALL
        .into_iter()
        .find(|o| o.name() == op.name())?;
    map.format = d.pick(core.formats());
    if !MAPS.fits(&map) {
        return None;
    }
    let form = Form::Reduce {
        op,
        walk,
        rank: map.rank(),
    };
    outward(d, form, map, walk)
}

fn outward(d: &mut Draw, form: Form, map: TensorMap, walk: Walk) -> Option<Transfer> {
    let coords = coordinates(d, &map, walk, false)?;
    let mut case = still(d, form, map.format);
    place(d, &mut case, map.image_bytes());
    case.coords = coords;
    case.map = Some(map);
    Some(case)
}

fn prefetch(d: &mut Draw, size: i64) -> Option<Transfer> {
    let walk = d.pick(&[Walk::Tile, Walk::Columns]);
    let map = map(d, size, walk, false)?;
    let coords = coordinates(d, &map, walk, true)?;
    let mut case = still(d, Form::Prefetch { walk, rank: map.rank() }, map.format);
    case.shared_bytes = 1024;
    case.coords = coords;
    case.map = Some(map);
    Some(case)
}

/// A copy of contiguous bytes.
fn without_map(d: &mut Draw, kind: i64, size: i64) -> Transfer {
    let multicast = d.from(0..3) == 0;
    let own = !multicast && d.from(0..3) == 0;
    let form = match kind {
        0..4 => Form::BulkLoad { own, multicast },
        4..6 => Form::BulkStore,
        6..8 => Form::BulkSend,
        8..12 => Form::BulkReduce(bulk_type(d, &BULK_REDUCTIONS)),
        12..14 => Form::BulkSendReduce(bulk_type(d, &SEND_REDUCTIONS)),
        14 => Form::BulkPrefetch,
        _ => {
            let around_l1 = d.from(0..2) == 0;
            Form::Async {
                around_l1,
                bytes: if around_l1 { 16 } else { d.pick(&[4, 8, 16]) },
            }
        }
    };
    let format = match form {
        Form::BulkReduce(t) | Form::BulkSendReduce(t) => t.format(),
        _ => Format::U8,
    };
    let mut case = still(d, form, format);
    case.size = 16 * d.from(1..1 + 16 * size) as u32;
    case.at = 16 * d.from(0..70) as u32;
    case.distance = 16 * d.from(0..(GLOBAL_BYTES as i64 - 4096 * size) / 16) as u64;
    if form.clustered() {
        let one = matches!(form, Form::BulkSend | Form::BulkSendReduce(_)).then_some(1);
        cluster(d, &mut case, one);
    }
    let mut inside = u64::from(case.size);
    match form {
        Form::BulkSend | Form::BulkSendReduce(_) => {
            case.distance = 16 * d.from(0..70) as u64;
            inside += case.distance;
            case.bytes = case.size;
        }
        Form::BulkLoad { .. } => case.bytes = case.size,
        Form::Async { bytes, .. } => {
            case.size = d.pick(&[bytes, bytes, 0, bytes / 2, bytes - 1]);
            inside = u64::from(bytes * THREADS);
        }
        _ => {}
    }
    case.shared_bytes = room(case.at, inside);
    case
}

fn bulk_type(d: &mut Draw, table: &[(ReduceOp, &'static [(&'static str, usize)])]) -> BulkType {
    let (op, types) = d.pick(table);
    let (ptx, bytes) = d.pick(types);
    BulkType { op, ptx, bytes }
}

/// Whether a case may be run: the device's driver takes the map, nothing faults, and all of it fits the memories.
pub fn legal(case: &Transfer) -> bool {
    let fits = case.shared_bytes <= MAX_SHARED_BYTES;
    let Some(map) = &case.map else {
        return fits
            && match case.form {
                Form::Async { bytes, .. } => case.size <= bytes,
                _ => case.size > 0 && case.size.is_multiple_of(16),
            };
    };
    if !fits || !MAPS.fits(map) || case.coords.len() != map.rank() {
        return false;
    }
    let aligned = map.interleave != Interleave::None
        || map
            .format
            .bytes()
            .is_some_and(|bytes| i64::from(case.coords[0]) * bytes as i64 % 16 == 0);
    let outward = matches!(case.form, Form::Store { .. } | Form::Reduce { .. });
    let inside = case.coords.iter().all(|c| *c >= 0);
    // A walk starts in its window.
    let walks = match &map.mode {
        Mode::Im2col { lower, upper, .. } => lower.iter().zip(upper).enumerate().all(|(k, (low, high))| {
            (i64::from(*low)..map.dims[k + 1] as i64 + i64::from(*high)).contains(&case.coords[k + 1].into())
                && (!outward || *low >= 0 && *high <= 0)
        }),
        _ => true,
    };
    aligned && walks && (inside || !outward)
}

/// Global memory, and the shared memory of all blocks.
pub(super) fn data(case: &Transfer) -> (Vec<u8>, Vec<u8>) {
    let mut d = Draw(case.seed);
    let mut bytes = |count: usize| {
        let mut out = Vec::with_capacity(count + 8);
        while out.len() < count {
            element(&mut d, case.format, &mut out);
        }
        out.truncate(count);
        out
    };
    let global = bytes(GLOBAL_BYTES);
    (global, bytes((case.blocks * case.shared_bytes) as usize))
}

/// Eight bytes: any bits, small numbers, or special ones.
fn element(d: &mut Draw, format: Format, out: &mut Vec<u8>) {
    let bits = d.next();
    let small = (bits >> 8 & 7) as i64 - 3;
    let word = match (bits & 7, format) {
        (0..=4, _) => d.next(),
        (5 | 6, Format::F32 | Format::F32Ftz | Format::Tf32 | Format::Tf32Ftz) => {
            let value = u64::from((small as f32 * 0.75).to_bits());
            value | value << 32
        }
        (5 | 6, Format::F64) => (small as f64 * 0.75).to_bits(),
        (5 | 6, Format::U32 | Format::S32) => small as u32 as u64 * 0x1_0000_0001,
        (5 | 6, Format::U64 | Format::S64) => small as u64,
        // Zeros, infinities, NaN, the least and the largest, for floats of 16, 32 and 64 bits.
        (7, Format::F16) => d.pick(&SPECIAL_16).wrapping_mul(0x0001_0001_0001_0001) | d.pick(&[0, 0x7c00_fc00]),
        (7, Format::Bf16) => d.pick(&SPECIAL_16).wrapping_mul(0x0001_0001_0001_0001) | d.pick(&[0, 0x7f80_ff80]),
        (7, Format::F64) => d.pick(&SPECIAL_64),
        (7, _) => d.pick(&SPECIAL_32).wrapping_mul(0x1_0000_0001),
        (_, _) => d.next(),
    };
    out.extend(word.to_le_bytes());
}

const SPECIAL_16: [u64; 8] = [0, 0x8000, 0x0001, 0x8001, 0x0400, 0x7bff, 0x7fff, 0x3c01];
const SPECIAL_32: [u64; 12] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x0080_0000,
    0x8080_0001,
    0x007f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0001,
    0x7f7f_ffff,
    0x0000_1000,
];
const SPECIAL_64: [u64; 7] = [
    0,
    0x8000_0000_0000_0000,
    1,
    0x000f_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0x7ff8_0000_0000_0001,
    0x7fef_ffff_ffff_ffff,
];
