//! Shared allocations and parts of them, and register tiles to and from memory. Single elements are upstream's
//! `memref.load` and `memref.store`, on any space.
use super::super::{
    distribution::Distribution,
    layouts::{ANY_TILE, layout_of},
    spaces::{SHARED_MEMREF, Shared, is_global, shared_of},
    types::MBarrierType,
    verify::{
        MAX_SHARED_BYTES, element_bits, index_count, is_contiguous, memref_bytes, number_bits, on_device, static_shape,
        whole_warpgroups,
    },
};
use super::{part::Part, rows::masked, tma::CachePolicy};
use girih_ir::{
    constraint::{Constraint, I1, INDEX},
    ext::DYNAMIC,
    kind::{AnyAttr, I64},
    op,
    op::{Fold, OpView},
    prelude::*,
    rewrite::PatternSet,
};

/// Bytes that one access of a thread moves at most.
pub const VECTOR_BYTES: u64 = 16;

/// A memref whose elements threads can load and store.
pub const MEMORY: Constraint = Constraint::new("a memref in #tile.global or #tile.shared", |t| {
    is_global(t) || shared_of(t).is_some()
});

op! {
    /// Memory of the block, shared by its threads, for the kernel's whole life. Content is undefined.
    ///
    /// With a swizzle, the innermost dimension is exactly as many bytes as the swizzle spans. `offset`, the bytes from the
    /// start of the block's shared memory, is given by `tile-allocate-shared`, or by hand. Where the program orders all uses of
    /// the buffer itself, as by mbarriers around the slots of a ring, `ordered` says so, and `tile-insert-sync` leaves them
    /// alone. To wait for mbarriers that say `ordered` is an agreement about such buffers, and orders no others.
    ///
    /// ```mlir
    /// %tile = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = 128>>
    /// %ring = tile.alloc ordered : memref<4x128x64xbf16, #tile.shared<swizzle = 128>>
    /// ```
    pub struct Alloc = "tile.alloc" {
        results { result: one(SHARED_MEMREF) }
        attributes { offset: optional(I64), ordered: unit }
        effects [allocate result]
        format "(`ordered` $ordered^)? attr-dict `:` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let t = self.result().r#type();
                let shape = static_shape(op, "a shared allocation", t)?;
                let shared = shared_of(t).expect("checked by the constraint");
                if !is_contiguous(t) {
                    errors.op(&op, format!("a shared allocation is contiguous, but has type {t}"));
                }
                let Some(bits) = element_bits(t) else {
                    errors.op(&op, format!("elements of a shared allocation are numbers or mbarriers, but it has type {t}"));
                    return errors.result();
                };
                if memref_bytes(t).is_none_or(|b| b > MAX_SHARED_BYTES) {
                    let bytes = memref_bytes(t).map_or("more than 2^64".to_owned(), |b| b.to_string());
                    errors.op(&op, format!("takes {bytes} bytes, but no block has more than {MAX_SHARED_BYTES} of shared memory; use smaller tiles or fewer stages"));
                    return errors.result();
                }
                if is_mbarrier(t) && shared.mode().span_bytes().is_some() {
                    errors.op(&op, format!("mbarriers lie as they are, but {t} has swizzle {}; leave the swizzle out", shared.swizzle()));
                } else if let Some(span) = shared.mode().span_bytes() {
                    let row = shape.last().map_or(1, |d| *d as u64) * bits / 8;
                    if row != span {
                        errors.op(&op, format!("rows are {row} bytes, but swizzle {} permutes rows of exactly {span}; split wider tiles into panels, pad narrower ones", shared.swizzle()));
                    }
                }
                if let Some(offset) = self.offset() {
                    let align = if is_mbarrier(t) { 8 } else { shared.alignment() };
                    let end = u64::try_from(offset).ok().and_then(|o| o.checked_add(memref_bytes(t)?));
                    if offset >= 0 && end.is_none_or(|e| e > MAX_SHARED_BYTES) {
                        errors.op(&op, format!("offset = {offset}, but then it ends past the {MAX_SHARED_BYTES} bytes of shared memory that a block has at most"));
                    }
                    if offset < 0 || !(offset as u64).is_multiple_of(align) {
                        errors.op(&op, format!("offset = {offset}, but the buffer must start at a multiple of {align} bytes; leave the offset out and let tile-allocate-shared choose"));
                    }
                }
                errors.result()
            }
        }
    }
}

op! {
    /// The part of a shared memref that leading indices select, such as one slot of a ring. In a swizzled memref each part
    /// is whole periods of the swizzle, so that it is swizzled as if it were allocated alone.
    ///
    /// ```mlir
    /// %ring = tile.alloc : memref<4x128x64xbf16, #tile.shared<swizzle = 128>>
    /// %i = arith.constant 2 : index
    /// %slot = tile.slab %ring[%i] : memref<4x128x64xbf16, #tile.shared<swizzle = 128>> -> memref<128x64xbf16, #tile.shared<swizzle = 128>>
    /// ```
    pub struct Slab = "tile.slab" {
        operands { source: one(SHARED_MEMREF), indices: variadic(INDEX) }
        results { result: one(SHARED_MEMREF) }
        effects pure
        format "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                let (s, r) = (static_shape(op, "the source", from)?, static_shape(op, "the result", to)?);
                let n = self.indices().len();
                for t in [from, to] {
                    if !is_contiguous(t) {
                        errors.op(&op, format!("slabs are cut out of contiguous memrefs and are contiguous, found {t}"));
                    }
                }
                if n <= s.len() {
                    leading_indices_inside(op, &mut errors, &s, &self.indices());
                }
                if n > s.len() || s[n..] != r[..] {
                    errors.op(&op, format!("{n} indices into {from} leave {:?}, but the result is {to}", s.get(n..).unwrap_or(&[])));
                }
                if from.element_type() != to.element_type() || from.memory_space() != to.memory_space() {
                    errors.op(&op, format!("the result {to} must have the element type and the memory space of {from}"));
                }
                if n > 0
                    && let Some(bytes) = memref_bytes(to)
                    && let Some(space) = shared_of(from)
                {
                    let period = space.mode().period_bytes();
                    if space.mode().span_bytes().is_some() && bytes % period != 0 {
                        errors.op(&op, format!("a part is {bytes} bytes, but the swizzle repeats every {period}; parts must be multiples of it"));
                    }
                    let align = space.align() as u64;
                    if align > 0 && bytes % align != 0 {
                        errors.op(&op, format!("a part is {bytes} bytes, but its space says align = {align}; parts must be multiples of it"));
                    }
                }
                errors.result()
            }
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                let whole = self.indices().is_empty() && self.source().r#type() == self.result().r#type();
                whole.then(|| vec![Fold::Value(self.source())])
            }
            fn canonicalize(patterns: &mut PatternSet<'c>) {
                // A part of a part is one part.
                patterns.add(Slab::NAME, 1, |op, rw| {
                    let part = Slab::from_op(op);
                    let Some(whole) = part.source().defining_op().and_then(|d| d.cast::<Slab>()) else {
                        return Err(rw.no_match(op, "the source is no slab"));
                    };
                    let indices = [whole.indices(), part.indices()].concat();
                    let result = part.result().r#type();
                    rw.replace_with(op, Slab::build(op.location(), result, whole.source(), &indices));
                    Ok(())
                });
            }
        }
    }
}

op! {
    /// Loads a tile; its upper left element is at the indices. Each thread of the layout loads what it holds. Elements
    /// outside a memref in global memory read as `pad`, as those of the tile `pass_thru` at their places, or as zero. In shared
    /// memory the tile lies inside, or what its mask is true for, under whatever swizzle the memref has.
    ///
    /// Where `mask` is false nothing is read, whatever is there, and the element is what those outside are. The mask is a tile of
    /// `i1` of the same shape; fragments of instructions have none.
    ///
    /// `cache` says how long its lines should stay in L2: a policy for global memory, which changes no result
    /// (`.L2::cache_hint`, with what `createpolicy.fractional` gives for all of an access).
    ///
    /// `vector`, which `tile-vectorize-accesses` finds, is how many neighbours go in one access: so many that lie next to
    /// each other in memory and in a thread's registers, start at a multiple of their bytes, and lie inside together or
    /// outside together. With `vector_if` they do where it is true (an example is at `tile.store`); elsewhere elements go one by
    /// one. The mask has one value for all of them.
    ///
    /// ```mlir
    /// %m = tile.alloc : memref<64x16xf32, #tile.shared>
    /// %i = arith.constant 0 : index
    /// %v = tile.load %m[%i, %i] : memref<64x16xf32, #tile.shared> -> tensor<64x16xf32, #tile.layout<wgmma_d>>
    /// ```
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %v = tile.load %A[%c0, %c0] {pad = 0xFF800000 : f32} : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x1024xf32>
    ///   %w = tile.load %A[%c0, %c0] cache evict_last : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x1024xf32>
    ///   %i = tile.iota axis 1 : tensor<4x1024xi32>
    ///   %n = arith.constant dense<1000> : tensor<4x1024xi32>
    ///   %m = arith.cmpi slt, %i, %n : tensor<4x1024xi32>
    ///   %u = tile.load %A[%c0, %c0] mask %m : tensor<4x1024xi1> : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x1024xf32>
    ///   %first = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x1xf32>
    ///   %firsts = tile.broadcast %first : tensor<4x1xf32> -> tensor<4x1024xf32>
    ///   %p = tile.load %A[%c0, %c0] pass_thru %firsts : tensor<4x1024xf32> : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> tensor<4x1024xf32>
    /// }
    /// ```
    pub struct Load = "tile.load" {
        operands { source: one(MEMORY), indices: variadic(INDEX), mask: optional(ANY_TILE), pass_thru: optional(ANY_TILE), vector_if: optional(I1) }
        results { result: one(ANY_TILE) }
        attributes {
            /// What elements outside read as: a number of the element type.
            pad: optional(AnyAttr),
            /// Elements of one access.
            vector: optional(I64),
            /// How long its lines should stay in L2.
            cache: optional(CachePolicy),
        }
        effects [read source]
        format "$source `[` $indices `]` (`mask` $mask^ `:` type($mask))? (`pass_thru` $pass_thru^ `:` type($pass_thru))? (`vector_if` $vector_if^)? (`cache` $cache^)? attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                errors.merge(access(self.op(), self.source().r#type(), self.result().r#type(), &self.indices(), self.vector()));
                pad_fits(self.op(), &mut errors, self.result().r#type(), self.pad());
                mask_fits(self.op(), &mut errors, self.result().r#type(), self.mask());
                pass_thru_fits(self, &mut errors);
                vector_if_fits(self.op(), &mut errors, self.vector_if().is_some(), self.vector());
                cache_fits(self.op(), &mut errors, self.source().r#type(), self.cache());
                let named = [(self.pad().is_some(), "pad"), (self.pass_thru().is_some(), "pass_thru")];
                let lies_inside = self.mask().is_none() && shared_of(self.source().r#type()).is_some();
                for (_, name) in named.into_iter().filter(|(is_said, _)| *is_said && lies_inside) {
                    errors.op(&self.op(), format!("says {name}, but a tile lies inside its shared memory; leave {name} out, or give a mask"));
                }
                errors.result()
            }
        }
    }
}

op! {
    /// Stores a tile; its upper left element goes to the indices. Each thread of the layout stores what it holds; of
    /// threads that hold copies, one does. Elements outside a memref in global memory are dropped, and so are those where
    /// `mask` is false. `mask`, `vector`, `vector_if` and `cache` are as in `tile.load`. What the block loads later from the same
    /// argument sees it, since `tile-insert-sync` puts a barrier between the two where one is needed; other blocks, and other
    /// arguments that name the same memory, may see it at any time.
    ///
    /// ```mlir
    /// %m = tile.alloc : memref<64x16xf32, #tile.shared>
    /// %i = arith.constant 0 : index
    /// %v = tile.load %m[%i, %i] : memref<64x16xf32, #tile.shared> -> tensor<64x16xf32, #tile.layout<wgmma_d>>
    /// tile.store %v, %m[%i, %i] : tensor<64x16xf32, #tile.layout<wgmma_d>>, memref<64x16xf32, #tile.shared>
    /// ```
    /// ```mlir
    /// tile.kernel @k(%A: memref<?xf32, #tile.global>, %B: memref<?xf32, #tile.global>) threads(128) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %from = tile.is_aligned %A axis 0 by 4 : memref<?xf32, #tile.global>
    ///   %to = tile.is_aligned %B axis 0 by 4 : memref<?xf32, #tile.global>
    ///   %v = tile.load %A[%c0] vector_if %from {vector = 4} : memref<?xf32, #tile.global> -> tensor<512xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>>
    ///   tile.store %v, %B[%c0] vector_if %to cache evict_first {vector = 4} : tensor<512xf32, #tile.blocked<per_thread = [4], lanes = [32], warps = [4]>>, memref<?xf32, #tile.global>
    /// }
    /// ```
    pub struct Store = "tile.store" {
        operands { value: one(ANY_TILE), destination: one(MEMORY), indices: variadic(INDEX), mask: optional(ANY_TILE), vector_if: optional(I1) }
        attributes { vector: optional(I64), cache: optional(CachePolicy) }
        effects [write destination]
        format "$value `,` $destination `[` $indices `]` (`mask` $mask^ `:` type($mask))? (`vector_if` $vector_if^)? (`cache` $cache^)? attr-dict `:` type($value) `,` type($destination)"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                errors.merge(access(self.op(), self.destination().r#type(), self.value().r#type(), &self.indices(), self.vector()));
                mask_fits(self.op(), &mut errors, self.value().r#type(), self.mask());
                vector_if_fits(self.op(), &mut errors, self.vector_if().is_some(), self.vector());
                cache_fits(self.op(), &mut errors, self.destination().r#type(), self.cache());
                errors.result()
            }
        }
    }
}

/// A mask is as its tile is, of truth values.
fn mask_fits<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, tile: Type<'c>, mask: Option<Value<'c, 'c>>) {
    let Some(mask) = mask.map(|m| m.r#type()) else { return };
    if layout_of(tile).is_some() {
        errors.op(
            &op,
            format!("has a mask, but {tile} is a fragment of an instruction, which goes as a whole; leave the layout out, or the mask"),
        );
        return;
    }
    let truth = mask.element_type().is_some_and(|e| e.is_int(1));
    if !truth || mask.shape() != tile.shape() || mask.encoding() != tile.encoding() {
        errors.op(
            &op,
            format!("has the mask {mask}, but {tile} needs one of its own shape and layout, of i1; tile.broadcast repeats one along an axis"),
        );
    }
}

/// Policies are of L2, which shared memory does not go through.
fn cache_fits(op: OperationRef<'_, '_>, errors: &mut Errors, memory: Type<'_>, cache: Option<CachePolicy>) {
    if cache.is_some() && !is_global(memory) {
        errors.op(
            &op,
            format!("has a cache policy, which is for global memory, but goes to {memory}; leave `cache` out"),
        );
    }
}

fn leading_indices_inside<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, shape: &[i64], indices: &[Value<'c, 'c>]) {
    for (i, (size, index)) in shape.iter().zip(indices).enumerate() {
        if let Some(v) = index.constant_int()
            && !(0..*size).contains(&v)
        {
            errors.op(
                &op,
                format!("index #{i} is {v}, but the memref has {size} slabs there, from 0"),
            );
        }
    }
}

fn access<'c>(
    op: OperationRef<'c, 'c>,
    memory: Type<'c>,
    tile: Type<'c>,
    indices: &[Value<'c, 'c>],
    vector: Option<i64>,
) -> Res {
    let mut errors = Errors::default();
    errors.merge(on_device(op));
    if layout_of(tile).is_some() {
        errors.merge(whole_warpgroups(op));
    } else {
        value_sizes(op, &mut errors, tile);
    }
    vector_fits(op, &mut errors, memory, tile, vector);
    if vector.is_some() && shared_of(memory).is_some() {
        errors.op(
            &op,
            "says vector, but in shared memory the layout and the swizzle say what goes together; leave vector out",
        );
    }
    types_fit(op, &mut errors, memory, tile);
    let (shape, tile_shape) = (memory.shape().unwrap_or_default(), tile.shape().unwrap_or_default());
    if shared_of(memory).is_some() && !is_contiguous(memory) {
        let m = format!(
            "tiles are loaded from and stored to contiguous shared memory, found {memory}; take a part with tile.slab"
        );
        errors.op(&op, m);
        return errors.result();
    }
    if memory.strides_and_offset().is_none() {
        errors.op(
            &op,
            format!("tiles are loaded from and stored to strided memrefs, found {memory}"),
        );
    }
    index_count(op, &mut errors, "the memref", shape.len(), indices.len());
    // What is masked off may lie anywhere.
    let clips = is_global(memory) || masked(op).is_some();
    if !clips && shape.len() == tile_shape.len() && shape.len() == indices.len() {
        tile_inside(op, &mut errors, memory, &tile_shape, indices);
    }
    errors.result()
}

/// A tile whose layout passes choose, moved to or from global memory by another op than `tile.load` and `tile.store`.
pub(super) struct AccessTile<'c> {
    pub memory: Type<'c>,
    pub tile: Type<'c>,
    pub vector: Option<i64>,
    pub pad: Option<Attribute<'c>>,
    pub mask: Option<Value<'c, 'c>>,
}

impl<'c> AccessTile<'c> {
    /// What all of them ask; `places` is how many of the memref's axes have an index.
    pub fn verify(&self, op: OperationRef<'c, 'c>, places: usize) -> Res {
        let mut errors = Errors::default();
        value_sizes(op, &mut errors, self.tile);
        vector_fits(op, &mut errors, self.memory, self.tile, self.vector);
        types_fit(op, &mut errors, self.memory, self.tile);
        pad_fits(op, &mut errors, self.tile, self.pad);
        mask_fits(op, &mut errors, self.tile, self.mask);
        if layout_of(self.tile).is_some() {
            errors.op(
                &op,
                format!(
                    "moves {}, but fragments of instructions go with tile.load and tile.store",
                    self.tile
                ),
            );
        }
        index_count(
            op,
            &mut errors,
            "the memref",
            self.memory.shape().unwrap_or_default().len(),
            places,
        );
        errors.result()
    }
}

/// Vectors are what a thread holds side by side along the axis whose stride is 1, and an instruction moves.
fn vector_fits<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    memory: Type<'c>,
    tile: Type<'c>,
    vector: Option<i64>,
) {
    let Some(v) = vector else { return };
    let distribution = Distribution::of(tile).filter(|_| v > 0 && (v as u64).is_power_of_two());
    let Some(d) = distribution else {
        let m = format!("vector = {v} on {tile}; it is a power of two, on tiles that tile-assign-layouts has laid out");
        errors.op(&op, m);
        return;
    };
    let strides = memory.strides_and_offset().map_or(vec![], |(strides, _)| strides);
    let axis = strides.iter().rposition(|s| *s == 1);
    let run = axis.filter(|a| *a < d.shape.len()).map_or(1, |a| d.run(a)) as u64;
    let fits = run.min(VECTOR_BYTES * 8 / element_bits(tile).unwrap_or(8).max(1));
    if v as u64 > fits {
        let m = format!(
            "vector = {v}, but a thread holds {run} of {tile} side by side in {memory}, and moves {VECTOR_BYTES} bytes at \
             once at most; say vector = {fits} or less"
        );
        errors.op(&op, m);
    }
}

fn pad_fits<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, tile: Type<'c>, pad: Option<Attribute<'c>>) {
    let Some(pad) = pad else { return };
    // SAFETY: every attribute has a type, NoneType where it has no other.
    let t = unsafe { Type::from_raw(girih_ir::mlir_sys::mlirAttributeGetType(pad.to_raw())) };
    if Some(t) != tile.element_type() {
        errors.op(
            &op,
            format!("pad = {pad}, but the tile is {tile}; write a number of its element type"),
        );
    }
    if layout_of(tile).is_some() {
        errors.op(
            &op,
            "pads, but fragments of instructions read as zero outside; leave pad out",
        );
    }
}

/// A condition is for vectors.
fn vector_if_fits(op: OperationRef<'_, '_>, errors: &mut Errors, has_condition: bool, vector: Option<i64>) {
    if has_condition && vector.is_none_or(|n| n < 2) {
        let m = "has vector_if, but moves no vectors; say vector, or leave vector_if out";
        errors.op(&op, m);
    }
}

/// What elements outside read as is a tile like the one that is loaded.
fn pass_thru_fits(load: Load<'_, '_>, errors: &mut Errors) {
    let (op, tile) = (load.op(), load.result().r#type());
    let Some(other) = load.pass_thru().map(|v| v.r#type()) else {
        return;
    };
    if other != tile {
        errors.op(
            &op,
            format!("pass_thru is {other}, but the tile is {tile}; take a tile of the same type"),
        );
    }
    if let Some(pad) = load.pad() {
        errors.op(
            &op,
            format!("has both pad = {pad} and pass_thru; leave one of them out"),
        );
    }
    if layout_of(tile).is_some() {
        let m = "has pass_thru, but fragments of instructions read as zero outside; leave pass_thru out";
        errors.op(&op, m);
    }
}

/// One rank and one element type.
fn types_fit<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, memory: Type<'c>, tile: Type<'c>) {
    let (of_memory, of_tile) = (
        memory.shape().unwrap_or_default().len(),
        tile.shape().unwrap_or_default().len(),
    );
    if of_memory != of_tile {
        errors.op(
            &op,
            format!("the tile has rank {of_tile}, but the memref has rank {of_memory}"),
        );
    }
    if memory.element_type() != tile.element_type() {
        errors.op(&op, format!("the tile {tile} must have the element type of {memory}"));
    }
}

/// A tile whose layout passes choose.
fn value_sizes<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, tile: Type<'c>) {
    if let Some(bits @ 2..8) = number_bits(tile) {
        let m = format!(
            "moves {tile}, but memory has no numbers of {bits} bits; move bytes, a tile of i8, and make {} of them with tile.bitcast",
            tile.element_type().map_or_else(String::new, |e| e.to_string())
        );
        errors.op(&op, m);
    }
    let shape = tile.shape().unwrap_or_default();
    if shape.len() > 5 {
        errors.op(&op, format!("moves {tile}, but tiles have at most five axes"));
    }
    if shape.iter().any(|s| *s < 1) {
        errors.op(
            &op,
            format!("moves {tile}, but a tile has one element or more along each axis, as many as the type says"),
        );
    }
}

/// Nothing clips an access to shared memory: the tile must lie inside, as far as that is known.
fn tile_inside<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    memory: Type<'c>,
    tile: &[i64],
    indices: &[Value<'c, 'c>],
) {
    for (i, ((size, extent), index)) in memory
        .shape()
        .unwrap_or_default()
        .iter()
        .zip(tile)
        .zip(indices)
        .enumerate()
    {
        if *size == DYNAMIC {
            continue;
        }
        let first = index.constant_int();
        let (low, high) = (first.unwrap_or(0), first.unwrap_or(0).saturating_add(*extent));
        if low < 0 || high > *size {
            let at = first.map_or("at least".to_owned(), |v| format!("from {v} on"));
            let m = format!(
                "the tile takes {extent} elements {at} in dimension #{i}, but {memory} has {size}; nothing clips accesses to shared memory"
            );
            errors.op(&op, m);
        }
    }
}

/// Strides of a contiguous shape, in elements; far past any memory they stay at the largest number.
pub fn contiguous(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for i in (0..shape.len().saturating_sub(1)).rev() {
        strides[i] = strides[i + 1].saturating_mul(shape[i + 1]);
    }
    strides
}

/// Whether a memref holds mbarriers.
pub fn is_mbarrier(t: Type<'_>) -> bool {
    t.element_type().is_some_and(|e| MBarrierType::of(e).is_some())
}

/// Bytes that the address of a shared memref is known to be a multiple of: what its space says, and where it comes from
/// an allocation, through slabs, what follows from that.
pub fn known_alignment(v: Value<'_, '_>) -> u64 {
    let t = v.r#type();
    let element = element_bits(t).map_or(1, |bits| bits / 8);
    if !is_contiguous(t) {
        return element;
    }
    let declared = shared_of(t).map_or(1, |s| declared_alignment(s)).max(element);
    let Some(op) = v.defining_op() else { return declared };
    if op.is::<Alloc>() {
        return shared_of(t).map_or(declared, |s| s.alignment());
    }
    if let Some(part) = op.cast::<Part>().filter(|p| p.op().operand_count() == 2) {
        return part.alignment(known_alignment(part.source()));
    }
    // A slab that does not verify may have no operand.
    let Some(source) = op.cast::<Slab>().and_then(|s| s.op().operand_values().first().copied()) else {
        return declared;
    };
    let bytes = memref_bytes(t).filter(|b| *b > 0).unwrap_or(1);
    let part = 1 << bytes.trailing_zeros();
    known_alignment(source).min(part).max(declared)
}

/// What a space by itself says of every contiguous memref in it: whole periods of the swizzle, and what `align` asks for.
fn declared_alignment(space: Shared<'_>) -> u64 {
    let period = space.mode().span_bytes().map_or(1, |_| space.mode().period_bytes());
    period.max(space.align() as u64)
}
