//! Tensor maps and the copies that use them (PTX ISA 9.4 sections 5.5 and 9.7.10.28). One op is one instruction.
use super::{
    super::{
        spaces::{GLOBAL_MEMREF, SHARED_MEMREF, shared_of},
        types::{FormatOverride, MBARRIERS, TENSOR_MAP, TensorMapType},
        verify::{element_bits, enclosing, index_count, is_contiguous, memref_bytes, on_device},
    },
    kernel::Kernel,
    mbarrier::check_barrier,
    memory::known_alignment,
};
use girih_core::tensor_map::{Candidate, Caps};
use girih_ir::{attr_enum, constraint::INDEX, ext::DYNAMIC, kind::I64, op, op::OpView, prelude::*};

op! {
    /// Makes a tensor map of a memref, on the host. Its innermost dimension has stride 1; `memref.transpose` brings the
    /// dimension with stride 1 innermost. The launcher checks what is known only then (addresses and strides on 16 bytes)
    /// and encodes the map; a memref with an empty dimension gets none.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   %map = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128>
    ///   tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<128x64xbf16, swizzle = 128>)
    /// } body args(%map: !tile.tensor_map<128x64xbf16, swizzle = 128>) {
    /// }
    /// ```
    pub struct MakeTensorMap = "tile.tensor_map" {
        operands { memory: one(GLOBAL_MEMREF) }
        results { map: one(TENSOR_MAP) }
        effects pure
        format "$memory attr-dict `:` type($memory) `->` type($map)"
        hooks { fn verify(self) -> Res { verify_map(self) } }
    }
}

fn verify_map<'c>(m: MakeTensorMap<'c, 'c>) -> Res {
    let (op, mut errors) = (m.op(), Errors::default());
    if let Some((_, 1)) = enclosing::<Kernel>(op) {
        errors.op(&op, "is made on the host, but stands in a kernel's body; make it in launch, and hand it on with tile.grid ... args(...)");
    }
    let t = m.memory().r#type();
    let map = TensorMapType::of(m.map().r#type()).expect("checked by the constraint");
    let shape = t.shape().unwrap_or_default();
    let (_, element) = map.tile();
    if Some(element) != t.element_type() {
        errors.op(&op, format!("the map {map} must have the element type of {t}"));
    }
    if map.rank() != shape.len() {
        errors.op(
            &op,
            format!(
                "the map {map} has {} dimensions, but {t} has {}",
                map.rank(),
                shape.len()
            ),
        );
        return errors.result();
    }
    let Some((strides, _)) = t.strides_and_offset() else {
        errors.op(&op, format!("a tensor map needs a strided memref, found {t}"));
        return errors.result();
    };
    if strides.last().is_some_and(|s| *s != 1) {
        let s = strides[strides.len() - 1];
        let s = if s == DYNAMIC {
            "known only at run time".into()
        } else {
            s.to_string()
        };
        errors.op(&op, format!("the innermost stride is {s}, but a tensor map needs 1; bring the dimension with stride 1 innermost with memref.transpose"));
    }
    if let Some(s) = strides.iter().find(|s| **s < 0 && **s != DYNAMIC) {
        errors.op(
            &op,
            format!("a stride is {s}, but a tensor map walks forwards: strides are at least 0"),
        );
        return errors.result();
    }
    let known = |v: i64| (v != DYNAMIC).then_some(v as u64);
    let bytes = element_bits(t).unwrap_or(8) / 8;
    let dims = shape.iter().rev().map(|d| known(*d)).collect();
    let byte_strides = strides
        .iter()
        .rev()
        .skip(1)
        .map(|s| known(*s).map(|s| s.saturating_mul(bytes)))
        .collect();
    let candidate: Candidate = map.candidate(Some((dims, byte_strides)));
    // The type has been checked by itself; only what the memory adds is new.
    let before = map.candidate(None).violations(&Caps::SM_103);
    for v in candidate.violations(&Caps::SM_103) {
        if !before.contains(&v) {
            errors.op(&op, v.to_string());
        }
    }
    errors.result()
}

attr_enum! {
    /// How long a copy's lines should stay in L2.
    pub enum CachePolicy("a cache policy") {
        /// As usual.
        Normal = "evict_normal",
        /// They go first.
        EvictFirst = "evict_first",
        /// They go last.
        EvictLast = "evict_last",
    }
}

impl CachePolicy {
    /// The 64-bit policy that `createpolicy.fractional` gives for all of a copy.
    pub const fn bits(self) -> u64 {
        match self {
            CachePolicy::Normal => 0x1000_0000_0000_0000,
            CachePolicy::EvictFirst => 0x12F0_0000_0000_0000,
            CachePolicy::EvictLast => 0x14F0_0000_0000_0000,
        }
    }
}

op! {
    /// Copies a box from global to shared memory: `cp.async.bulk.tensor`, tile mode. One thread issues it. Coordinates are
    /// those of the box's first element, outermost first; they may be negative or past the end, and what lies outside reads
    /// as the map's fill. The box's bytes (all of them, fill included) are counted on the mbarrier.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   %map = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128>
    ///   tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<128x64xbf16, swizzle = 128>)
    /// } body args(%map: !tile.tensor_map<128x64xbf16, swizzle = 128>) {
    ///   %c0 = arith.constant 0 : index
    ///   %m = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = 128>>
    ///   %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    ///   tile.tma.load %map[%c0, %c0], %m, %bar[] : !tile.tensor_map<128x64xbf16, swizzle = 128>, memref<128x64xbf16, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
    /// }
    /// ```
    pub struct TmaLoad = "tile.tma.load" {
        operands {
            map: one(TENSOR_MAP), coords: variadic(INDEX),
            destination: one(SHARED_MEMREF),
            barrier: one(MBARRIERS), barrier_indices: variadic(INDEX),
        }
        attributes { cache: optional(CachePolicy) }
        effects [write destination, write barrier, read, write]
        format "$map `[` $coords `]` `,` $destination `,` $barrier `[` $barrier_indices `]` (`cache` $cache^)? attr-dict `:` type($map) `,` type($destination) `,` type($barrier)"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                transfer(self.op(), &mut errors, self.map(), &self.coords(), self.destination());
                check_barrier(self.op(), &mut errors, self.barrier(), &self.barrier_indices());
                errors.result()
            }
        }
    }
}

op! {
    /// Copies a box from shared to global memory: `cp.async.bulk.tensor`, tile mode. One thread issues it, after a
    /// `tile.fence proxy_async_shared` in the threads that wrote the source. It completes in the thread's bulk group.
    /// Coordinates are not negative. What lies past the end is dropped, except that each row is written up to a multiple of
    /// 16 bytes: rows must end on one, or `overwrite` accepts up to 15 more bytes.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   %map = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128>
    ///   tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<128x64xbf16, swizzle = 128>)
    /// } body args(%map: !tile.tensor_map<128x64xbf16, swizzle = 128>) {
    ///   %c0 = arith.constant 0 : index
    ///   %m = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = 128>>
    ///   tile.tma.store %m, %map[%c0, %c0] : memref<128x64xbf16, #tile.shared<swizzle = 128>>, !tile.tensor_map<128x64xbf16, swizzle = 128>
    ///   tile.bulk.commit
    ///   tile.bulk.wait 0
    /// }
    /// ```
    pub struct TmaStore = "tile.tma.store" {
        operands { source: one(SHARED_MEMREF), map: one(TENSOR_MAP), coords: variadic(INDEX) }
        attributes { cache: optional(CachePolicy), overwrite: unit }
        effects [read source, read, write]
        format "$source `,` $map `[` $coords `]` (`cache` $cache^)? (`overwrite` $overwrite^)? attr-dict `:` type($source) `,` type($map)"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                transfer(self.op(), &mut errors, self.map(), &self.coords(), self.source());
                for (i, c) in self.coords().iter().enumerate() {
                    if let Some(v) = c.constant_int().filter(|v| *v < 0) {
                        errors.op(&self.op(), format!("coordinate #{i} is {v}, but a store cannot start outside the tensor (an illegal instruction on the GPU); clip the box"));
                    }
                }
                errors.result()
            }
        }
    }
}

/// What loads and stores have in common.
fn transfer<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    map: Value<'c, 'c>,
    coords: &[Value<'c, 'c>],
    shared: Value<'c, 'c>,
) {
    errors.merge(on_device(op));
    let map = TensorMapType::of(map.r#type()).expect("checked by the constraint");
    let memory = shared.r#type();
    if !is_contiguous(memory) {
        errors.op(
            &op,
            format!("a tensor copy fills contiguous shared memory, found {memory}; take a part with tile.slab"),
        );
        return;
    }
    index_count(op, errors, "the tensor map", map.rank(), coords.len());
    if map.format() == FormatOverride::Natural && Some(map.tile().1) != memory.element_type() {
        errors.op(
            &op,
            format!("the shared memref {memory} must have the element type of {map}"),
        );
    }
    let space = shared_of(memory).expect("checked by the constraint");
    if space.mode() != map.mode() {
        let m = format!(
            "the map has swizzle {}, but the shared memref has {}; give both the same, else rows come out permuted",
            map.mode().name(),
            space.mode().name()
        );
        errors.op(&op, m);
    }
    let image = map.image();
    let bytes = memref_bytes(memory);
    if bytes.is_none_or(|b| b != image.image_bytes()) {
        let found = bytes.map_or("an unknown number of".to_owned(), |b| b.to_string());
        let m = format!(
            "a box is {} bytes of shared memory, but {memory} is {found}",
            image.image_bytes()
        );
        errors.op(&op, m);
    }
    let align = known_alignment(shared);
    if align < 128 {
        let m = format!(
            "the shared address is a multiple of {align} bytes only, but tensor copies need 128; make each slab a multiple of 128 bytes, or say align = 128 where it is allocated"
        );
        errors.op(&op, m);
    }
    if let Some(element) = image.format.bytes()
        && image.interleave == girih_core::tensor_map::Interleave::None
        && let Some(v) = coords.last().and_then(|c| c.constant_int())
        && let bytes = i128::from(v) * i128::from(element)
        && bytes % 16 != 0
    {
        let m = format!(
            "the innermost coordinate is {v} elements, {bytes} bytes, but must lie on 16 bytes (an illegal instruction on the GPU)"
        );
        errors.op(&op, m);
    }
}

op! {
    /// Brings a tensor map into the descriptor cache: `prefetch.tensormap`.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   %map = tile.tensor_map %A : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<128x64xbf16, swizzle = 128>
    ///   tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<128x64xbf16, swizzle = 128>)
    /// } body args(%map: !tile.tensor_map<128x64xbf16, swizzle = 128>) {
    ///   tile.prefetch_tensor_map %map : !tile.tensor_map<128x64xbf16, swizzle = 128>
    /// }
    /// ```
    pub struct PrefetchTensorMap = "tile.prefetch_tensor_map" {
        operands { map: one(TENSOR_MAP) }
        effects [read, write]
        format "$map attr-dict `:` type($map)"
        hooks { fn verify(self) -> Res { on_device(self.op()) } }
    }
}

op! {
    /// Closes the thread's current group of bulk stores: `cp.async.bulk.commit_group`.
    ///
    /// ```mlir
    /// tile.bulk.commit
    /// ```
    pub struct BulkCommit = "tile.bulk.commit" {
        effects [read, write]
        format "attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()) } }
    }
}

op! {
    /// Waits until at most `pending` of the thread's groups of bulk stores are unfinished: `cp.async.bulk.wait_group`. With
    /// `read`, until their sources have been read.
    ///
    /// ```mlir
    /// tile.bulk.wait 0 read
    /// ```
    pub struct BulkWait = "tile.bulk.wait" {
        attributes { pending: required(I64), read: unit }
        effects [read, write]
        format "$pending (`read` $read^)? attr-dict"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                errors.merge(on_device(self.op()));
                if !(0..=i64::from(u32::MAX)).contains(&self.pending()) {
                    errors.op(&self.op(), format!("pending = {}, but a number of groups is at least 0 and has 32 bits", self.pending()));
                }
                errors.result()
            }
        }
    }
}
