//! Tiles to and from shared memory, each element at the place that a linear map gives it: changes of layout, and operands that
//! are staged. `ldmatrix` loads what it can.
//!
//! It is inline PTX with side effects, as `mma.sync` is: LLVM would move it under branches that not all lanes take.
use super::{
    distributed::thread_part,
    group, lower, refuse,
    route::{Held, once, together},
    sync::meet,
};
use crate::{layout_conversion::Trip, shared_uses::is_within_warps};
use girih_core::layout::{Dim, LinearLayout, MatrixLoad, matrix_load, shared_offsets};
use girih_dialects::{
    nvvm::{AsmOperand, Emit, V},
    tile::{distribution::Distribution, ops::mma::LoadStaged, spaces::shared_of, verify::element_bits},
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, LoadStaged, |op, operands, rewriter| {
        let t = op.result().r#type();
        let (Some(to), Some(element), Some(bits)) = (Distribution::of(t), t.element_type(), element_bits(t)) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let offsets = match staged_offsets(op) {
            Ok(offsets) => offsets,
            Err(why) => return refuse(op.op(), format!("cannot be loaded: {why}")),
        };
        let e = Emit::new(rewriter, op.op().location());
        let matrix = matrix_load(&to.linear, &offsets, bits / 8);
        let base = group(op.op(), LoadStaged::DEF, operands, "source")[0];
        let Some(values) = load(&e, &to, &offsets, matrix.as_ref(), base, element, bits / 8) else {
            return Err(rewriter.no_match(op.op(), "other axes"));
        };
        rewriter.replace_multiple(op.op(), &[values]);
        Ok(())
    });
}

/// Where the elements of a staged operand lie: coordinates to offset, in elements.
fn staged_offsets(op: LoadStaged<'_, '_>) -> Result<LinearLayout, String> {
    let (staging, t) = (op.staging(), op.source().r#type());
    let swizzle = shared_of(t).filter(|s| !s.is_open()).map(|s| s.mode());
    let swizzle =
        swizzle.ok_or_else(|| format!("nobody has chosen the swizzle of {t} yet; run tile-swizzle-shared first"))?;
    let row_axis = staging.row_axis(op.side());
    let size = |n: i64| n.unsigned_abs();
    shared_offsets(
        (Dim::Axis(row_axis as u8), size(staging.rows)),
        (Dim::Axis(1 - row_axis as u8), size(staging.panels * staging.span)),
        element_bits(t).unwrap_or(8) / 8,
        swizzle,
    )
    .map_err(|error| error.to_string())
}

/// Places in memory of what a thread holds.
struct Places {
    /// What each bit of the thread's number contributes, in elements.
    threads: Vec<Vec<u32>>,
    /// What each register contributes.
    registers: Vec<u32>,
    /// Neighbours in memory that a thread holds, taken in some order.
    run: usize,
}

impl Places {
    fn new(d: &Distribution, offsets: &LinearLayout) -> Option<Places> {
        let places = d.linear.then(offsets).ok()?;
        let image = |dim, bit: u32| places.coordinate(&[(dim, 1u64 << bit)], Dim::Offset) as u32;
        let threads = [Dim::Lane, Dim::Warp]
            .into_iter()
            .flat_map(|dim| (0..places.input_bits(dim)).map(move |bit| (dim, bit)))
            .map(|(dim, bit)| vec![image(dim, bit)])
            .collect();
        Some(Places {
            threads,
            registers: (0..d.registers.len() as u64)
                .map(|r| places.coordinate(&[(Dim::Register, r)], Dim::Offset) as u32)
                .collect(),
            run: places.vector(Dim::Register, Dim::Offset) as usize,
        })
    }
    /// Registers that one access of at most 16 bytes moves.
    fn accesses(&self, element_bytes: u64) -> Vec<Vec<usize>> {
        together(&self.registers, self.run.min(16 / element_bytes as usize).max(1))
    }
}

/// A tile through shared memory: stored as `from` has it, loaded as `to` wants it, a barrier between.
#[allow(clippy::too_many_arguments, reason = "a tile with both its ends")]
pub(super) fn through_shared<'c>(
    e: &Emit<'c, '_>,
    op: OperationRef<'c, '_>,
    values: &[V<'c>],
    element: Type<'c>,
    bytes: u64,
    from: &Distribution,
    to: &Distribution,
    trip: &Trip,
    scratch: V<'c>,
) -> Vec<V<'c>> {
    let Some(places) = Places::new(from, &trip.offsets) else {
        return vec![];
    };
    let stored = places.accesses(bytes);
    let store = Held::of(e, places.threads, places.registers);
    let write = |e: &Emit<'c, '_>| {
        for part in &stored {
            let pointer = store.pointer(e, scratch, part[0], bytes as i64, 0);
            let part: Vec<V> = part.iter().map(|r| values[*r]).collect();
            e.store(&part, pointer, bytes * part.len() as u64);
        }
    };
    once(e, from, write);
    match is_within_warps(op) {
        true => e.warp_sync(),
        false => meet(e, op),
    }
    load(e, to, &trip.offsets, trip.matrix.as_ref(), scratch, element, bytes).unwrap_or_default()
}

/// What each register holds of a tile whose elements lie at `offsets` from `base` on.
fn load<'c>(
    e: &Emit<'c, '_>,
    to: &Distribution,
    offsets: &LinearLayout,
    matrix: Option<&MatrixLoad>,
    base: V<'c>,
    element: Type<'c>,
    bytes: u64,
) -> Option<Vec<V<'c>>> {
    let places = Places::new(to, offsets)?;
    if let Some(matrix) = matrix {
        return load_matrices(e, places, matrix, base, element, bytes);
    }
    let (accesses, offsets) = (places.accesses(bytes), places.registers.clone());
    let held = Held::of(e, places.threads, places.registers);
    let mut found: Vec<(u32, V)> = vec![];
    for part in &accesses {
        let pointer = held.pointer(e, base, part[0], bytes as i64, 0);
        let values = e.load_many(pointer, part.len(), element, bytes * part.len() as u64);
        found.extend(part.iter().map(|r| offsets[*r]).zip(values));
    }
    let at = |offset: &u32| found.iter().find(|(o, _)| o == offset).map(|(_, v)| *v);
    offsets.iter().map(at).collect()
}

/// The register with bits `own` of `set`, the bits of `n` in order.
fn spread(own: &[u32], n: usize) -> usize {
    own.iter().enumerate().map(|(i, bit)| (n >> i & 1) << bit).sum()
}

/// The same by `ldmatrix`.
fn load_matrices<'c>(
    e: &Emit<'c, '_>,
    places: Places,
    matrix: &MatrixLoad,
    base: V<'c>,
    element: Type<'c>,
    bytes: u64,
) -> Option<Vec<V<'c>>> {
    // In bytes. A lane names a row, not what it gets.
    let scaled = |image: u32| vec![image * bytes as u32];
    let lanes = matrix.lanes.iter().map(|image| scaled(*image as u32));
    let warps = places.threads[matrix.lanes.len()..]
        .iter()
        .map(|image| scaled(image[0]));
    let threads: Vec<Vec<u32>> = lanes.chain(warps).collect();
    let of_threads = threads.iter().fold(0, |all, image| all | image[0]);
    let thread = thread_part(e, e.sreg("tid.x"), &threads, 0);
    let taken = matrix
        .word
        .iter()
        .chain(&matrix.matrices)
        .fold(0, |all, bit| all | 1 << bit);
    let (matrices, in_word) = (1usize << matrix.matrices.len(), 1usize << matrix.word.len());
    let trans = if matrix.transposed { ".trans" } else { "" };
    let names: Vec<String> = (0..matrices).map(|i| format!("${i}")).collect();
    let text = format!(
        "ldmatrix.sync.aligned.m8n8.x{matrices}{trans}.shared.b16 {{{}}}, [${matrices}];",
        names.join(", ")
    );
    let mut values: Vec<Option<V>> = vec![None; places.registers.len()];
    for first in (0..places.registers.len()).filter(|r| r & taken == 0) {
        let own = places.registers[first] * bytes as u32;
        let (mixed, apart) = (own & of_threads, own & !of_threads);
        let at = match mixed {
            0 => thread,
            _ => e.xor(thread, e.c32(i64::from(mixed))),
        };
        let pointer = e.byte_offset_by(e.byte_offset(base, at), i64::from(apart));
        let address = AsmOperand {
            constraint: "r",
            value: e.ptr_to_int(pointer, 32),
        };
        let outputs = vec![("r", e.i32_type()); matrices];
        let words = e.inline_ptx(&text, &outputs, &[], &[address], true);
        for (i, word) in words.into_iter().enumerate() {
            for (k, v) in numbers(e, word, element, in_word).into_iter().enumerate() {
                values[first | spread(&matrix.matrices, i) | spread(&matrix.word, k)] = Some(v);
            }
        }
    }
    values.into_iter().collect()
}

/// The numbers in 4 bytes.
fn numbers<'c>(e: &Emit<'c, '_>, word: V<'c>, element: Type<'c>, n: usize) -> Vec<V<'c>> {
    let stored = e.storage_type(element);
    let parts = match n {
        1 if stored == word.r#type() => vec![word],
        1 => vec![e.bitcast(word, stored)],
        _ => e.unpack(e.bitcast(word, e.vector(n as i64, stored)), n, stored),
    };
    parts.into_iter().map(|v| e.from_storage(v, element)).collect()
}
