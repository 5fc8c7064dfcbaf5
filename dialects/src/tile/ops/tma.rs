//! Tensor maps, and loads and stores that use them (PTX ISA 9.4 sections 5.5 and 9.7.10.28). One op is one instruction.
//! How a copy walks the tensor is the map's mode; gather4 and scatter4 are said at the op.
use super::{
    super::{
        marks::{ASYNC, STORES_MAPPED},
        spaces::{GLOBAL_MEMREF, SHARED_MEMREF},
        types::{MBARRIERS, TENSOR_MAP, TensorMapType, sound_map},
        verify::{element_bits, enclosing, on_device},
    },
    kernel::Kernel,
    mbarrier::check_barrier,
    tma_override::{Masks, Override, Report},
    tma_rules::{Walk, no_negative_start, one_policy, store_rules, transfer},
};
use girih_core::tensor_map::{Candidate, Caps};
use girih_ir::{
    attr_enum,
    constraint::{I16, I32, I64 as ADDRESS, I64 as POLICY, INDEX},
    ext::DYNAMIC,
    kind::I64,
    op,
    op::OpView,
    prelude::*,
};

op! {
    /// Makes a tensor map of a memref, on the host. Its innermost dimension has stride 1; `memref.transpose` brings the
    /// dimension with stride 1 innermost. The launcher checks what is known only then (addresses and strides on 16 bytes)
    /// and encodes the map; a memref with an empty dimension gets none. Elements of 4 and 6 bits are packed in a memref of i8.
    /// An interleaved map is of a memref with one dimension more: N, channel slices, spatial dimensions, and the slice.
    ///
    /// With `exact_rows` a launch is refused whose rows do not end on 16 bytes: what is stored through such a map would be
    /// written past them. `convert-tile-to-nvvm` adds it to the maps of stores and reductions that do not say `overwrite`.
    ///
    /// With `optional` a memref whose address or strides are not multiples of 16 bytes gets no map either: the kernel has
    /// another way, and finds out by itself (`tile.is_aligned`).
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
        attributes { exact_rows: unit, optional: unit }
        effects pure
        format "$memory (`exact_rows` $exact_rows^)? (`optional` $optional^)? attr-dict `:` type($memory) `->` type($map)"
        hooks { fn verify(self) -> Res { verify_map(self) } }
    }
}

fn verify_map<'c>(m: MakeTensorMap<'c, 'c>) -> Res {
    let (op, mut errors) = (m.op(), Errors::default());
    if let Some((_, 1)) = enclosing::<Kernel>(op) {
        errors.op(&op, "is made on the host, but stands in a kernel's body; make it in launch, and hand it on with tile.grid ... args(...)");
    }
    let map = TensorMapType::of(m.map().r#type()).expect("checked by the constraint");
    map_of_memory(op, &mut errors, map, m.memory().r#type());
    errors.result()
}

/// The rules of a map that is made of a memref of type `t`, as far as they are known at compile time.
pub fn map_of_memory<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, map: TensorMapType<'c>, t: Type<'c>) {
    let own = map.violations();
    for violation in &own {
        errors.op(&op, violation.to_string());
    }
    let shape = t.shape().unwrap_or_default();
    let (_, element) = map.tile();
    let packed = map.core_format().filter(|f| f.is_sub_byte());
    match packed {
        Some(_) if t.element_type().is_none_or(|e| e.to_string() != "i8") => {
            errors.op(
                &op,
                format!("the map {map} packs its elements in bytes, so that it needs a memref of i8, found {t}"),
            );
        }
        None if Some(element) != t.element_type() => {
            errors.op(&op, format!("the map {map} must have the element type of {t}"));
        }
        _ => {}
    }
    let slice = map.core_interleave().slice_bytes();
    if map.dimensions() + usize::from(slice.is_some()) != shape.len() {
        errors.op(
            &op,
            format!(
                "the map {map} has {} dimensions{}, but {t} has {}",
                map.dimensions(),
                if slice.is_some() { " and slices" } else { "" },
                shape.len()
            ),
        );
        return;
    }
    let Some((strides, _)) = t.strides_and_offset() else {
        errors.op(&op, format!("a tensor map needs a strided memref, found {t}"));
        return;
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
        return;
    }
    let known = |v: i64| (v != DYNAMIC).then_some(v as u64);
    let bytes = element_bits(t).unwrap_or(8) / 8;
    // A slice is one position of the map, and positions along W follow each other.
    let within = usize::from(slice.is_some());
    if let (Some(slice), [.., channels], [.., step, _]) = (slice, &shape[..], &strides[..]) {
        if known(*channels).map(|n| n.saturating_mul(bytes)) != Some(slice) {
            let m = format!(
                "interleave {slice} needs slices of {} elements innermost, found {t}",
                slice / bytes
            );
            errors.op(&op, m);
        } else if known(*step).is_some_and(|s| s.saturating_mul(bytes) != slice) {
            errors.op(
                &op,
                format!("slices of an interleaved tensor follow each other, but are {step} elements apart in {t}"),
            );
        }
    }
    let mut dims: Vec<Option<u64>> = shape.iter().rev().skip(within).map(|d| known(*d)).collect();
    if let (Some(format), Some(Some(inner))) = (packed, dims.first_mut()) {
        *inner = inner.saturating_mul(8) / format.global_bits();
    }
    let byte_strides = strides
        .iter()
        .rev()
        .skip(1 + within)
        .map(|s| known(*s).map(|s| s.saturating_mul(bytes)))
        .collect();
    let candidate: Candidate = map.candidate(Some((dims, byte_strides)));
    for v in candidate.violations(&Caps::SM_103) {
        if !own.contains(&v) {
            errors.op(&op, v.to_string());
        }
    }
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

attr_enum! {
    /// Through which window a load names its destination.
    pub enum CopySpace("a shared state space") {
        /// `.shared::cta`: the block's own memory.
        Cta = "cta",
        /// `.shared::cluster`: the memory of all blocks of the cluster, the block's own included.
        Cluster = "cluster",
    }
}

op! {
    /// Copies from global to shared memory: `cp.async.bulk.tensor`. One thread issues it. Coordinates are those of the first
    /// element, outermost first; they may be negative or past the end, and what lies outside reads as the map's fill. The
    /// bytes of the box (all of them, fill included) are counted on the mbarrier.
    ///
    /// | clause | meaning |
    /// |---|---|
    /// | `gather4` | four rows: coordinates are the rows, then the column; the map's box has one row |
    /// | `offsets(...)` | mode im2col: the filter tap, one i16 for each spatial dimension, outermost first. Along W: `halo` (pixels after the column, or after each 32 of 128), then the shift in W |
    /// | `multicast` | i16 mask of the cluster's blocks that get the box, each at the same offset, with its own mbarrier; with `mask_16b` PTX's `::16b` says so |
    /// | `multicast_32b` | the same for a mask of i32: `::32b` |
    /// | `cta_group` | 1 or 2: whose mbarrier counts, in pairs of blocks |
    /// | `space` | `cta` or `cluster` (the default), as PTX spells it |
    /// | `cache`, `policy` | a fixed cache policy, or one that `tile.create_policy` made |
    /// | `report` | sm_107a: what the mbarrier is told besides bytes, `.mbarrier::report`: `disabled`, validity `per_16bytes_80000000`, `_8000`, `_80`, `_8`, or `per_element_ff` |
    /// | `override_address` | sm_107a: i64, where the tensor lies, instead of the map's address; 128 KiB from it on must be readable |
    /// | `override_dims`, `override_strides` | with an address, in mode tile: sizes up to 255, and bytes from one position to the next, outermost first, instead of the map's. Coordinates are 0 then |
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
    ///
    /// A filter tap of a convolution, for two blocks:
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   %map = tile.tensor_map %A : memref<?x?x?x?xbf16, strided<[?, ?, ?, 1]>, #tile.global> -> !tile.tensor_map<64x64xbf16, swizzle = 128, mode = im2col, lower = [-1, -1], upper = [-1, -1]>
    ///   tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<64x64xbf16, swizzle = 128, mode = im2col, lower = [-1, -1], upper = [-1, -1]>)
    /// } body args(%map: !tile.tensor_map<64x64xbf16, swizzle = 128, mode = im2col, lower = [-1, -1], upper = [-1, -1]>) {
    ///   %c0 = arith.constant 0 : index
    ///   %both = arith.constant 3 : i16
    ///   %r = arith.constant 2 : i16
    ///   %m = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
    ///   %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    ///   tile.tma.load %map[%c0, %c0, %c0, %c0], %m, %bar[] offsets(%r, %r) multicast %both cache evict_last : !tile.tensor_map<64x64xbf16, swizzle = 128, mode = im2col, lower = [-1, -1], upper = [-1, -1]>, memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
    /// }
    /// ```
    pub struct TmaLoad = "tile.tma.load" {
        operands {
            map: one(TENSOR_MAP), coords: variadic(INDEX),
            destination: one(SHARED_MEMREF),
            barrier: one(MBARRIERS), barrier_indices: variadic(INDEX),
            offsets: variadic(I16), mask: optional(I16), mask_32b: optional(I32), policy: optional(POLICY),
            address: optional(ADDRESS), dims: variadic(INDEX), strides: variadic(INDEX),
        }
        attributes {
            gather4: unit,
            mask_16b: unit,
            cta_group: optional(I64),
            space: optional(CopySpace),
            cache: optional(CachePolicy),
            report: optional(Report),
        }
        effects [write destination, write barrier, read, write]
        marks [ASYNC: destination]
        format "$map `[` $coords `]` `,` $destination `,` $barrier `[` $barrier_indices `]` (`gather4` $gather4^)? (`offsets` `(` $offsets^ `)`)? (`multicast` $mask^)? (`mask_16b` $mask_16b^)? (`multicast_32b` $mask_32b^)? (`cta_group` $cta_group^)? (`space` $space^)? (`cache` $cache^)? (`policy` $policy^)? (`report` $report^)? (`override_address` $address^)? (`override_dims` `(` $dims^ `)`)? (`override_strides` `(` $strides^ `)`)? attr-dict `:` type($map) `,` type($destination) `,` type($barrier)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                let Some(map) = sound_map(self.map()) else { return on_device(op) };
                let walk = Walk { four_rows: self.gather4(), offsets: &self.offsets() };
                transfer(op, &mut errors, map, &self.coords(), self.destination(), &walk);
                check_barrier(op, &mut errors, self.barrier(), &self.barrier_indices());
                if let Some(n) = self.cta_group().filter(|n| ![1, 2].contains(n)) {
                    errors.op(&op, format!("cta_group = {n}, but a group is 1 or 2 blocks"));
                }
                let cta = self.space() == Some(CopySpace::Cta);
                self.masks().rules(op, &mut errors, cta);
                let replaced = Override { address: self.address(), dims: &self.dims(), strides: &self.strides() };
                replaced.rules(op, &mut errors, map, &self.coords(), self.gather4(), self.masks().narrow);
                one_policy(op, &mut errors, self.cache().is_some(), self.policy().is_some());
                errors.result()
            }
        }
    }
}

impl<'c: 'a, 'a> TmaLoad<'c, 'a> {
    /// How the blocks of a multicast are named.
    pub fn masks(&self) -> Masks {
        Masks {
            narrow: self.mask().is_some(),
            spelt_16b: self.mask_16b(),
            wide: self.mask_32b().is_some(),
        }
    }
}

/// What a load has besides a map, a place, a destination and an mbarrier: as a rule, nothing.
#[derive(Clone, Copy, Default)]
pub struct LoadOptions<'c, 'x> {
    /// Of `gather4` and of images.
    pub offsets: &'x [Value<'c, 'c>],
    /// A multicast's 16 bits.
    pub mask: Option<Value<'c, 'c>>,
    /// A multicast's 32 bits.
    pub mask_32b: Option<Value<'c, 'c>>,
    /// A cache policy.
    pub policy: Option<Value<'c, 'c>>,
    /// Four rows.
    pub gather4: bool,
    /// How the mask is spelt.
    pub mask_16b: bool,
    /// Blocks that signal together.
    pub cta_group: Option<i64>,
    /// Through which window the destination is named.
    pub space: Option<CopySpace>,
    /// What the caches are told.
    pub cache: Option<CachePolicy>,
    /// What is reported on the mbarrier.
    pub report: Option<Report>,
}

impl<'c> TmaLoad<'c, 'c> {
    /// A load that replaces no fields of its map; `barrier` is an mbarrier's memref and the indices there.
    pub fn plain(
        loc: Location<'c>,
        map: Value<'c, 'c>,
        coords: &[Value<'c, 'c>],
        destination: Value<'c, 'c>,
        (barrier, barrier_indices): (Value<'c, 'c>, &[Value<'c, 'c>]),
        with: LoadOptions<'c, '_>,
    ) -> Operation<'c> {
        TmaLoad::build(
            loc,
            map,
            coords,
            destination,
            barrier,
            barrier_indices,
            with.offsets,
            with.mask,
            with.mask_32b,
            with.policy,
            None,
            &[],
            &[],
            with.gather4,
            with.mask_16b,
            with.cta_group,
            with.space,
            with.cache,
            with.report,
        )
    }
}

/// What a store, a reduction or a prefetch has besides its map and its places: as a rule, nothing.
#[derive(Clone, Copy, Default)]
pub struct CopyOptions<'c> {
    /// A cache policy.
    pub policy: Option<Value<'c, 'c>>,
    /// What the caches are told.
    pub cache: Option<CachePolicy>,
    /// Four rows: `scatter4` or `gather4`; no reduction has them.
    pub four_rows: bool,
    /// What lies past the ends of rows may be written; a prefetch writes nothing.
    pub overwrite: bool,
}

impl<'c> TmaStore<'c, 'c> {
    /// A store that replaces no fields of its map.
    pub fn plain(
        loc: Location<'c>,
        source: Value<'c, 'c>,
        map: Value<'c, 'c>,
        coords: &[Value<'c, 'c>],
        with: CopyOptions<'c>,
    ) -> Operation<'c> {
        let (policy, cache) = (with.policy, with.cache);
        TmaStore::build(
            loc,
            source,
            map,
            coords,
            policy,
            None,
            &[],
            &[],
            with.four_rows,
            cache,
            with.overwrite,
        )
    }
}

op! {
    /// Copies from shared to global memory: `cp.async.bulk.tensor`. One thread issues it, after a
    /// `tile.fence proxy_async_shared` in the threads that wrote the source. It completes in the thread's bulk group.
    /// Coordinates are not negative. What lies past the end is dropped, except that each row is written up to a multiple of
    /// 16 bytes: rows must end on one, or `overwrite` accepts up to 15 more bytes. Rows whose length is known only at launch
    /// are checked there.
    ///
    /// With a map of mode im2col it stores pixels (`im2col_no_offs`), along W with mode im2col_w. `scatter4` stores four rows
    /// of a map whose box has one: coordinates are the rows, then the column. `override_address`, `override_dims` and
    /// `override_strides` are those of `tile.tma.load`.
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
        operands {
            source: one(SHARED_MEMREF), map: one(TENSOR_MAP), coords: variadic(INDEX), policy: optional(POLICY),
            address: optional(ADDRESS), dims: variadic(INDEX), strides: variadic(INDEX),
        }
        attributes { scatter4: unit, cache: optional(CachePolicy), overwrite: unit }
        effects [read source, read, write]
        marks [ASYNC: source, STORES_MAPPED]
        format "$source `,` $map `[` $coords `]` (`scatter4` $scatter4^)? (`cache` $cache^)? (`policy` $policy^)? (`override_address` $address^)? (`override_dims` `(` $dims^ `)`)? (`override_strides` `(` $strides^ `)`)? (`overwrite` $overwrite^)? attr-dict `:` type($source) `,` type($map)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                let Some(map) = sound_map(self.map()) else { return on_device(op) };
                let walk = Walk { four_rows: self.scatter4(), offsets: &[] };
                transfer(op, &mut errors, map, &self.coords(), self.source(), &walk);
                no_negative_start(op, &mut errors, &self.coords());
                store_rules(op, &mut errors, self.map(), self.overwrite());
                let replaced = Override { address: self.address(), dims: &self.dims(), strides: &self.strides() };
                replaced.rules(op, &mut errors, map, &self.coords(), self.scatter4(), false);
                one_policy(op, &mut errors, self.cache().is_some(), self.policy().is_some());
                errors.result()
            }
        }
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
                if !(0..=i64::from(i32::MAX)).contains(&self.pending()) {
                    errors.op(&self.op(), format!("pending = {}, but a number of groups is 0 to 2147483647", self.pending()));
                }
                errors.result()
            }
        }
    }
}
