//! Bulk copies without a tensor map: contiguous bytes between global memory, the block's shared memory and that of other
//! blocks of its cluster (PTX ISA 9.4 section 9.7.10.27). One op is one instruction.
//!
//! The shared memref is what is copied, all of it: its bytes are a multiple of 16, and so are the addresses at both ends.
use super::{
    super::{
        marks::ASYNC,
        spaces::{GLOBAL_MEMREF, SHARED_CLUSTER_MEMREF, SHARED_MEMREF, shared_of},
        types::{MBARRIERS, REMOTE_MBARRIERS},
        verify::{element_bits, index_count, is_contiguous, memref_bytes, on_device},
    },
    mbarrier::check_barrier,
    memory::known_alignment,
    tma::{CachePolicy, CopySpace},
    tma_modes::{Reduction, priority_or_policy},
    tma_override::{Masks, Report},
    tma_rules::{Remainder, one_policy},
};
use girih_core::tensor_map::Swizzle;
use girih_ir::{
    constraint::{I16, I32, I64 as POLICY, INDEX},
    ext::DYNAMIC,
    op,
    prelude::*,
};

op! {
    /// The same memory of block `rank` of the cluster: `mapa`. Blocks are numbered x first.
    ///
    /// ```mlir
    /// %m = tile.alloc : memref<64xf32, #tile.shared>
    /// %rank = arith.constant 1 : i32
    /// %there = tile.remote %m, %rank : memref<64xf32, #tile.shared> -> memref<64xf32, #tile.shared_cluster>
    /// ```
    pub struct Remote = "tile.remote" {
        operands { source: one(SHARED_MEMREF), rank: one(I32) }
        results { result: one(SHARED_CLUSTER_MEMREF) }
        effects pure
        format "$source `,` $rank attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                if from.shape() != to.shape() || from.element_type() != to.element_type() {
                    errors.op(&op, format!("the result {to} must have shape and elements of {from}"));
                }
                if let Some(n) = self.rank().constant_int().filter(|n| !(0..16).contains(n)) {
                    errors.op(&op, format!("rank = {n}, but a cluster has blocks 0 to 15"));
                }
                errors.result()
            }
        }
    }
}

op! {
    /// Copies from global to shared memory, from the element at the indices on: `cp.async.bulk`. The bytes are counted on the
    /// mbarrier. `multicast`, `multicast_32b`, `mask_16b`, `space` and `report` are those of `tile.tma.load`.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?xf32, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %m = tile.alloc : memref<256xf32, #tile.shared>
    ///   %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    ///   tile.bulk.load %A[%c0], %m, %bar[] : memref<?xf32, #tile.global>, memref<256xf32, #tile.shared>, memref<!tile.mbarrier, #tile.shared>
    /// }
    /// ```
    pub struct BulkLoad = "tile.bulk.load" {
        operands {
            source: one(GLOBAL_MEMREF), indices: variadic(INDEX),
            destination: one(SHARED_MEMREF),
            barrier: one(MBARRIERS), barrier_indices: variadic(INDEX),
            mask: optional(I16), mask_32b: optional(I32), policy: optional(POLICY),
        }
        attributes { mask_16b: unit, space: optional(CopySpace), cache: optional(CachePolicy), report: optional(Report) }
        effects [read source, write destination, write barrier, read, write]
        marks [ASYNC: destination]
        format "$source `[` $indices `]` `,` $destination `,` $barrier `[` $barrier_indices `]` (`multicast` $mask^)? (`mask_16b` $mask_16b^)? (`multicast_32b` $mask_32b^)? (`space` $space^)? (`cache` $cache^)? (`policy` $policy^)? (`report` $report^)? attr-dict `:` type($source) `,` type($destination) `,` type($barrier)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                piece(op, &mut errors, self.destination());
                global_side(op, &mut errors, self.source().r#type(), &self.indices(), self.destination().r#type());
                check_barrier(op, &mut errors, self.barrier(), &self.barrier_indices());
                self.masks().rules(op, &mut errors, self.space() == Some(CopySpace::Cta));
                one_policy(op, &mut errors, self.cache().is_some(), self.policy().is_some());
                errors.result()
            }
        }
    }
}

impl<'c: 'a, 'a> BulkLoad<'c, 'a> {
    /// How the blocks of a multicast are named.
    pub fn masks(&self) -> Masks {
        Masks {
            narrow: self.mask().is_some(),
            spelt_16b: self.mask_16b(),
            wide: self.mask_32b().is_some(),
        }
    }
}

op! {
    /// Copies from shared to global memory, to the element at the indices on: `cp.async.bulk`. It completes in the thread's
    /// bulk group. `bytes` is an i16 mask of the bytes that are written, out of each 16.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?xf32, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %m = tile.alloc : memref<256xf32, #tile.shared>
    ///   tile.bulk.store %m, %A[%c0] : memref<256xf32, #tile.shared>, memref<?xf32, #tile.global>
    ///   tile.bulk.commit
    ///   tile.bulk.wait 0
    /// }
    /// ```
    pub struct BulkStore = "tile.bulk.store" {
        operands {
            source: one(SHARED_MEMREF), destination: one(GLOBAL_MEMREF), indices: variadic(INDEX),
            bytes: optional(I16), policy: optional(POLICY),
        }
        attributes { cache: optional(CachePolicy) }
        effects [read source, write destination, read, write]
        marks [ASYNC: source]
        format "$source `,` $destination `[` $indices `]` (`bytes` $bytes^)? (`cache` $cache^)? (`policy` $policy^)? attr-dict `:` type($source) `,` type($destination)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                piece(op, &mut errors, self.source());
                global_side(op, &mut errors, self.destination().r#type(), &self.indices(), self.source().r#type());
                one_policy(op, &mut errors, self.cache().is_some(), self.policy().is_some());
                errors.result()
            }
        }
    }
}

op! {
    /// Copies from the block's shared memory to that of another block, whose mbarrier counts the bytes: `cp.async.bulk`.
    ///
    /// ```mlir
    /// %m = tile.alloc : memref<256xf32, #tile.shared>
    /// %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    /// %rank = arith.constant 1 : i32
    /// %there = tile.remote %m, %rank : memref<256xf32, #tile.shared> -> memref<256xf32, #tile.shared_cluster>
    /// %its_bar = tile.remote %bar, %rank : memref<!tile.mbarrier, #tile.shared> -> memref<!tile.mbarrier, #tile.shared_cluster>
    /// tile.bulk.send %m, %there, %its_bar : memref<256xf32, #tile.shared>, memref<256xf32, #tile.shared_cluster>, memref<!tile.mbarrier, #tile.shared_cluster>
    /// ```
    pub struct BulkSend = "tile.bulk.send" {
        operands { source: one(SHARED_MEMREF), destination: one(SHARED_CLUSTER_MEMREF), barrier: one(REMOTE_MBARRIERS) }
        effects [read source, write destination, write barrier, read, write]
        marks [ASYNC: source]
        format "$source `,` $destination `,` $barrier attr-dict `:` type($source) `,` type($destination) `,` type($barrier)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                remote_side(op, &mut errors, self.source(), self.destination().r#type(), self.barrier().r#type());
                errors.result()
            }
        }
    }
}

op! {
    /// Combines the block's shared memory into global memory, from the element at the indices on, each element atomically:
    /// `cp.reduce.async.bulk`. It completes in the thread's bulk group. After the indices `unsigned` makes integers unsigned.
    ///
    /// | operator | elements |
    /// |---|---|
    /// | `add` | i32, i64 (unsigned), f16, bf16, f32, f64 |
    /// | `min` `max` | i32, i64, f16, bf16 |
    /// | `inc` `dec` | i32 (unsigned) |
    /// | `and` `or` `xor` | i32, i64 |
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?xf32, #tile.global>, %B: memref<?xi32, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %m = tile.alloc : memref<256xf32, #tile.shared>
    ///   %i = tile.alloc : memref<256xi32, #tile.shared>
    ///   tile.bulk.reduce add %m, %A[%c0] : memref<256xf32, #tile.shared>, memref<?xf32, #tile.global>
    ///   tile.bulk.reduce min %i, %B[%c0] unsigned : memref<256xi32, #tile.shared>, memref<?xi32, #tile.global>
    ///   tile.bulk.commit
    ///   tile.bulk.wait 0
    /// }
    /// ```
    pub struct BulkReduce = "tile.bulk.reduce" {
        operands { source: one(SHARED_MEMREF), destination: one(GLOBAL_MEMREF), indices: variadic(INDEX), policy: optional(POLICY) }
        attributes { kind: required(Reduction), unsigned: unit, cache: optional(CachePolicy) }
        effects [read source, read destination, write destination, read, write]
        marks [ASYNC: source]
        format "$kind $source `,` $destination `[` $indices `]` (`unsigned` $unsigned^)? (`cache` $cache^)? (`policy` $policy^)? attr-dict `:` type($source) `,` type($destination)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let t = self.source().r#type();
                piece(op, &mut errors, self.source());
                global_side(op, &mut errors, self.destination().r#type(), &self.indices(), t);
                one_policy(op, &mut errors, self.cache().is_some(), self.policy().is_some());
                if let Err(m) = reduction_type(self.kind(), t, self.unsigned(), false) {
                    errors.op(&op, m);
                }
                errors.result()
            }
        }
    }
}

op! {
    /// Combines the block's shared memory into that of another block, whose mbarrier counts the bytes:
    /// `cp.reduce.async.bulk`. Elements are i32, and i64 for `add` (unsigned).
    ///
    /// ```mlir
    /// %m = tile.alloc : memref<256xi32, #tile.shared>
    /// %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    /// %rank = arith.constant 1 : i32
    /// %there = tile.remote %m, %rank : memref<256xi32, #tile.shared> -> memref<256xi32, #tile.shared_cluster>
    /// %its_bar = tile.remote %bar, %rank : memref<!tile.mbarrier, #tile.shared> -> memref<!tile.mbarrier, #tile.shared_cluster>
    /// tile.bulk.send_reduce add %m, %there, %its_bar : memref<256xi32, #tile.shared>, memref<256xi32, #tile.shared_cluster>, memref<!tile.mbarrier, #tile.shared_cluster>
    /// ```
    pub struct BulkSendReduce = "tile.bulk.send_reduce" {
        operands { source: one(SHARED_MEMREF), destination: one(SHARED_CLUSTER_MEMREF), barrier: one(REMOTE_MBARRIERS) }
        attributes { kind: required(Reduction), unsigned: unit }
        effects [read source, read destination, write destination, write barrier, read, write]
        marks [ASYNC: source]
        format "$kind $source `,` $destination `,` $barrier (`unsigned` $unsigned^)? attr-dict `:` type($source) `,` type($destination) `,` type($barrier)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let t = self.source().r#type();
                remote_side(op, &mut errors, self.source(), self.destination().r#type(), self.barrier().r#type());
                if let Err(m) = reduction_type(self.kind(), t, self.unsigned(), true) {
                    errors.op(&op, m);
                }
                errors.result()
            }
        }
    }
}

op! {
    /// Brings `size` bytes (i32, a multiple of 16) of global memory into L2, from the element at the indices on:
    /// `cp.async.bulk.prefetch`. `evict_last` is PTX's `.L2::evict_last` (sm_107a), which needs no policy.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?xf32, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %size = arith.constant 1024 : i32
    ///   tile.bulk.prefetch %A[%c0], %size : memref<?xf32, #tile.global>
    /// }
    /// ```
    pub struct BulkPrefetch = "tile.bulk.prefetch" {
        operands { source: one(GLOBAL_MEMREF), indices: variadic(INDEX), size: one(I32), policy: optional(POLICY) }
        attributes { cache: optional(CachePolicy), evict_last: unit }
        effects [read source, read, write]
        format "$source `[` $indices `]` `,` $size (`cache` $cache^)? (`policy` $policy^)? (`evict_last` $evict_last^)? attr-dict `:` type($source)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let rank = self.source().r#type().shape().map_or(0, |s| s.len());
                index_count(op, &mut errors, "the global memref", rank, self.indices().len());
                if let Some(n) = self.size().constant_int().filter(|n| *n <= 0 || n % 16 != 0) {
                    errors.op(&op, format!("size = {n} bytes, but bulk copies move multiples of 16"));
                }
                let size = self.size().constant_int().and_then(|n| u64::try_from(n).ok());
                let elements = size.zip(element_bits(self.source().r#type())).map(|(bytes, bits)| bytes * 8 / bits);
                run(op, &mut errors, self.source().r#type(), &self.indices(), elements);
                one_policy(op, &mut errors, self.cache().is_some(), self.policy().is_some());
                priority_or_policy(op, &mut errors, self.evict_last(), self.cache().is_some() || self.policy().is_some());
                errors.result()
            }
        }
    }
}

/// The shared memref of a copy: contiguous, as it lies, a multiple of 16 bytes, on 16 bytes.
fn piece<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, shared: Value<'c, 'c>) {
    let t = shared.r#type();
    let align = known_alignment(shared);
    if align < 16 {
        let m = format!(
            "the shared address is a multiple of {align} bytes only, but bulk copies need 16; say align = 16 where it is allocated"
        );
        errors.op(&op, m);
    }
    match memref_bytes(t) {
        Some(bytes) if bytes > 0 && bytes % 16 == 0 => {}
        Some(bytes) => errors.op(
            &op,
            format!("{t} is {bytes} bytes, but bulk copies move multiples of 16; pad it"),
        ),
        None => errors.op(&op, format!("bulk copies move memrefs of static sizes, found {t}")),
    }
    if memref_bytes(t).is_some() && !is_contiguous(t) {
        errors.op(&op, format!("bulk copies move contiguous bytes, found {t}"));
    }
}

/// The global memref, where the piece must lie in one row.
fn global_side<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    global: Type<'c>,
    indices: &[Value<'c, 'c>],
    shared: Type<'c>,
) {
    let shape = global.shape().unwrap_or_default();
    index_count(op, errors, "the global memref", shape.len(), indices.len());
    if global.element_type() != shared.element_type() {
        errors.op(
            &op,
            format!("the shared memref {shared} must have the element type of {global}"),
        );
    }
    if shared_of(shared).is_some_and(|s| s.mode() != Swizzle::None) {
        errors.op(
            &op,
            format!("bulk copies do not permute bytes, but {shared} is swizzled; use a tensor copy"),
        );
    }
    let Some((strides, _)) = global.strides_and_offset() else {
        return;
    };
    match strides.last() {
        None | Some(1) => {}
        Some(&DYNAMIC) => errors.op(
            &op,
            format!(
                "bulk copies move contiguous bytes, but the innermost stride of {global} is known only at run time; give it \
                 stride 1, as in strided<[?, 1]>"
            ),
        ),
        Some(stride) => errors.op(
            &op,
            format!("bulk copies move contiguous bytes, but {global} has stride {stride} innermost"),
        ),
    }
    let elements = memref_bytes(shared)
        .zip(element_bits(shared))
        .map(|(bytes, bits)| bytes * 8 / bits);
    run(op, errors, global, indices, elements);
}

/// Where the element at `indices` of a memref lies, if that is known to be no multiple of `unit` bytes past its start, a power
/// of two up to 128: so many bytes more than a multiple of so many.
pub(super) fn misplaced(t: Type<'_>, indices: &[Value<'_, '_>], unit: i64) -> Option<(i64, i64)> {
    let (strides, _) = t
        .strides_and_offset()
        .filter(|(strides, _)| strides.len() == indices.len())?;
    let bits = i64::try_from(element_bits(t)?).ok()?;
    let granule = (8 * unit / bits).max(1);
    let mut at = Remainder {
        modulus: granule,
        rest: 0,
    };
    for (index, stride) in indices.iter().zip(&strides) {
        let stride = match *stride {
            DYNAMIC => Remainder { modulus: 1, rest: 0 },
            stride => Remainder::known(granule, stride),
        };
        at = at.plus(Remainder::of(*index, granule, 0).times(stride, granule));
    }
    (at.rest != 0).then_some((at.rest * bits / 8, at.modulus * bits / 8))
}

/// What is known of where a piece of so many elements lies in a global memref: its address is a multiple of 16 bytes, and no
/// gap comes before its end, nor the memref's.
fn run<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    global: Type<'c>,
    indices: &[Value<'c, 'c>],
    elements: Option<u64>,
) {
    let (Some(shape), Some((strides, _))) = (global.shape(), global.strides_and_offset()) else {
        return;
    };
    if indices.len() != shape.len() {
        return;
    }
    if let Some((rest, modulus)) = misplaced(global, indices, 16) {
        let m = format!(
            "the global address is {rest} bytes more than a multiple of {modulus} past the start, but bulk copies need a multiple of 16"
        );
        errors.op(&op, m);
    }
    // Dimensions that follow each other without a gap, from the innermost on, and the least that lies before the piece.
    let (mut whole, mut before) = (1i128, 0i128);
    let mut gap = None;
    for (dim, size) in shape.iter().enumerate().rev() {
        if strides[dim] == DYNAMIC || *size == DYNAMIC {
            return;
        }
        if i128::from(strides[dim]) != whole && *size != 1 {
            gap = Some(dim);
            break;
        }
        before += i128::from(indices[dim].constant_int().unwrap_or(0).max(0)) * whole;
        whole = whole.saturating_mul(i128::from(*size));
    }
    let Some(elements) = elements.map(i128::from) else {
        return;
    };
    if elements <= whole - before {
        return;
    }
    let m = match gap {
        Some(dim) => format!(
            "bulk copies move contiguous bytes, but the piece of {elements} elements from element {before} of a run on is more than one \
             run of {global}: {whole} elements follow each other, and dimension {dim} has stride {}; copy each run by itself, or \
             use a tensor copy",
            strides[dim]
        ),
        None => format!(
            "the piece of {elements} elements from element {before} on ends behind {global}, which has {whole}; make it shorter"
        ),
    };
    errors.op(&op, m);
}

fn remote_side<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    from: Value<'c, 'c>,
    to: Type<'c>,
    barrier: Type<'c>,
) {
    piece(op, errors, from);
    let from = from.r#type();
    if from.shape() != to.shape() || from.element_type() != to.element_type() {
        errors.op(
            &op,
            format!("the destination {to} must have shape and elements of {from}"),
        );
    }
    if barrier.shape().is_none_or(|s| !s.is_empty()) {
        errors.op(
            &op,
            format!("one mbarrier counts the bytes, but {barrier} may hold several; take a tile.slab of it first"),
        );
    }
}

/// PTX's type of a bulk reduction; why there is none.
pub fn reduction_type(kind: Reduction, t: Type<'_>, unsigned: bool, remote: bool) -> Result<&'static str, String> {
    use Reduction as R;
    let element = t.element_type().map(|e| e.to_string()).unwrap_or_default();
    let found = match (kind, element.as_str(), unsigned) {
        (R::And | R::Or | R::Xor, "i32", _) => Some("b32"),
        (R::And | R::Or | R::Xor, "i64", _) if !remote => Some("b64"),
        (R::Inc | R::Dec, "i32", true) => Some("u32"),
        (R::Add | R::Min | R::Max, "i32", true) => Some("u32"),
        (R::Add | R::Min | R::Max, "i32", false) => Some("s32"),
        (R::Add, "i64", true) => Some("u64"),
        (R::Min | R::Max, "i64", true) if !remote => Some("u64"),
        (R::Min | R::Max, "i64", false) if !remote => Some("s64"),
        (R::Add | R::Min | R::Max, "f16", false) if !remote => Some("f16"),
        (R::Add | R::Min | R::Max, "bf16", false) if !remote => Some("bf16"),
        (R::Add, "f32", false) if !remote => Some("f32"),
        (R::Add, "f64", false) if !remote => Some("f64"),
        _ => None,
    };
    found.ok_or_else(|| {
        let takes = match (kind, remote) {
            (R::Add, false) => "i32, i64 with `unsigned`, f16, bf16, f32 and f64",
            (R::Add, true) => "i32, and i64 with `unsigned`",
            (R::Min | R::Max, false) => "i32, i64, f16 and bf16",
            (R::Min | R::Max, true) => "i32",
            (R::Inc | R::Dec, _) => "i32 with `unsigned`",
            (R::And | R::Or | R::Xor, false) => "i32 and i64",
            (R::And | R::Or | R::Xor, true) => "i32",
        };
        let signed = if unsigned { "unsigned " } else { "" };
        let place = if remote {
            "another block's shared memory"
        } else {
            "global memory"
        };
        format!("{kind} of {signed}{element} does not exist in {place}; it takes {takes}")
    })
}
