//! Copies of a region of a tensor: which boxes move it is planned, and the map is made by the launcher.
use super::{
    super::{
        marks::STORES_MAPPED,
        spaces::{Atom, GLOBAL_MEMREF, SHARED_MEMREF, Swizzle as SwizzleSpan, shared_of},
        types::{Fill, FormatOverride, Interleave, L2Promotion, MBARRIERS, MapMode, TensorMapType},
        verify::{element_bits, on_device},
    },
    mbarrier::check_barrier,
    tma::{CachePolicy, map_of_memory},
    tma_apply::CopyFormat,
    tma_modes::{Reduction, reduction_format},
    tma_rules::{
        aligned, bytes_of_rows, coordinates_fit, innermost, no_negative_start, one_policy, row_end, whole_piece,
    },
};
use girih_core::tensor_map::{Format, Plan, PlanPart, Region, RegionDim, Swizzle, WIDEST};
use girih_ir::{
    attr_enum,
    constraint::{I16, I64 as POLICY, INDEX},
    ext::DYNAMIC,
    kind::I64s,
    mlir_sys::*,
    op,
    op::OpView,
    prelude::*,
};
use std::ops::Range;

attr_enum! {
    /// Which way a copy goes.
    pub enum Direction("a direction") {
        /// Global to shared memory.
        Load = "load",
        /// Shared to global memory.
        Store = "store",
        /// Global memory to L2.
        Prefetch = "prefetch",
    }
}

op! {
    /// Copies a region between global and shared memory by tensor copies, as many as it takes: the largest legal boxes are
    /// chosen, their tensor maps are made in the launch region, and a remark says which. One thread runs it.
    ///
    /// The region starts at the indices and has `extents`, outermost first. In shared memory it lies row after row; with a
    /// swizzle rows lie at its span, and rows wider than the span are panels, so that 128 x 128 bf16 with swizzle 128 are
    /// `memref<2x128x64xbf16, #tile.shared<swizzle = 128>>`. Dimensions of size 1 may be left out or put in there.
    ///
    /// A prefetch brings the region to L2 and has no shared memref. With `format b4x16` global and shared memory are of i8, two
    /// elements in each; indices and extents count bytes then.
    ///
    /// Coordinates of the instructions are 32 bits, with a sign: constants past them are refused. An index at run time that is
    /// past them is brought back to the nearest, which is as far outside the tensor.
    ///
    /// What is outside the tensor reads as `fill`, and is dropped by stores. Loads count the bytes of the whole region on
    /// their mbarrier, fill included; stores complete in the thread's bulk group.
    ///
    /// | clause | meaning |
    /// |---|---|
    /// | `mbar` | mbarrier of a load |
    /// | `reduce` | what a store combines instead of overwriting; `unsigned` makes integers unsigned |
    /// | `multicast` | i16; blocks of the cluster that get the region |
    /// | `cache`, `policy` | a fixed cache policy, or an i64 such as `tile.create_policy` makes |
    /// | `format` | `tf32` and `tf32_ftz` (loads round f32), `f32_ftz` (reductions flush), `b4x16` |
    /// | `fill`, `l2` | fields of the map |
    /// | `overwrite` | a store may write up to 15 bytes past the end of each row |
    ///
    /// Tensor copies need stride 1 innermost, the other strides and the rows of the region a multiple of 16 bytes, and the
    /// region to start on 16 bytes in a row. What is known only at launch is checked there, the last not at all.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %m = tile.alloc : memref<2x128x64xbf16, #tile.shared<swizzle = 128>>
    ///   %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    ///   tile.tma.copy load %A[%c0, %c0] extents [128, 128], %m mbar %bar[] : memref<?x?xbf16, strided<[?, 1]>, #tile.global>, memref<2x128x64xbf16, #tile.shared<swizzle = 128>>, memref<!tile.mbarrier, #tile.shared>
    ///   tile.tma.copy store %A[%c0, %c0] extents [128, 128], %m reduce add : memref<?x?xbf16, strided<[?, 1]>, #tile.global>, memref<2x128x64xbf16, #tile.shared<swizzle = 128>>
    /// }
    /// ```
    pub struct RegionCopy = "tile.tma.copy" {
        operands {
            global: one(GLOBAL_MEMREF), indices: variadic(INDEX), shared: optional(SHARED_MEMREF),
            barrier: optional(MBARRIERS), barrier_indices: variadic(INDEX), mask: optional(I16), policy: optional(POLICY),
        }
        attributes {
            direction: required(Direction),
            extents: required(I64s),
            reduce: optional(Reduction),
            unsigned: unit,
            format: optional(CopyFormat),
            cache: optional(CachePolicy),
            fill: optional(Fill),
            l2: optional(L2Promotion),
            overwrite: unit,
        }
        effects [read, write]
        marks [STORES_MAPPED]
        format "$direction $global `[` $indices `]` `extents` $extents (`,` $shared^)? (`mbar` $barrier^ `[` $barrier_indices `]`)? (`reduce` $reduce^)? (`unsigned` $unsigned^)? (`format` $format^)? (`multicast` $mask^)? (`cache` $cache^)? (`policy` $policy^)? (`fill` $fill^)? (`l2` $l2^)? (`overwrite` $overwrite^)? attr-dict `:` type($global) (`,` type($shared)^)? (`,` type($barrier)^)?"
        hooks { fn verify(self) -> Res { verify(self) } }
    }
}

impl<'c> RegionCopy<'c, 'c> {
    /// The region and how it lies in shared memory, with what is known of the tensor now. What is wrong where there is none.
    pub fn region(&self) -> Result<Region, String> {
        let t = self.global().r#type();
        let shape = t.shape().unwrap_or_default();
        let Some((strides, _)) = t.strides_and_offset().filter(|_| !shape.is_empty()) else {
            return Err(format!(
                "tensor copies move regions of strided memrefs of at least one dimension, found {t}"
            ));
        };
        let extents = self.extents();
        if extents.len() != shape.len() || self.indices().len() != shape.len() {
            return Err(format!(
                "{t} has {} dimensions, but {} indices and {} extents are given",
                shape.len(),
                self.indices().len(),
                extents.len()
            ));
        }
        if let Some(stride) = strides.iter().find(|s| **s < 0 && **s != DYNAMIC) {
            return Err(format!(
                "a stride is {stride}, but tensor copies walk forwards: strides are at least 0"
            ));
        }
        if let Some(extent) = extents.iter().find(|e| **e < 0) {
            return Err(format!(
                "an extent is {extent}, but a region has at least 1 element in each dimension"
            ));
        }
        let format = match element_bits(t) {
            Some(8) => Format::U8,
            Some(16) => Format::U16,
            Some(32) => Format::U32,
            Some(64) => Format::U64,
            _ => return Err(format!("tensor copies move numbers of 8 to 64 bits, found {t}")),
        };
        let known = |v: i64| u64::try_from(v).ok();
        let dims = (0..shape.len()).map(|d| RegionDim {
            size: known(shape[d]),
            stride: known(strides[d]),
            start: self.indices()[d].constant_int(),
            extent: extents[d].unsigned_abs(),
        });
        let space = self.shared().and_then(|shared| shared_of(shared.r#type()));
        Ok(Region {
            format,
            widest_row: WIDEST / self.per_element(),
            in_shared: space.is_some(),
            dims: dims.collect(),
            swizzle: space.map_or(Swizzle::None, |s| s.mode()),
        })
    }

    /// Elements of the map in one of the memrefs: 2 where a byte packs them.
    pub fn per_element(&self) -> u64 {
        if self.format() == Some(CopyFormat::B4x16) { 2 } else { 1 }
    }

    /// The tensor map for the boxes of a part. What is wrong with it is reported.
    pub fn map(&self, part: &PlanPart) -> Res<TensorMapType<'c>> {
        let t = self.global().r#type();
        let own = t.element_type().expect("a memref has elements");
        let space = self.shared().and_then(|shared| shared_of(shared.r#type()));
        let (element, format) = match (self.unsigned(), self.format()) {
            (true, _) => (own, FormatOverride::Unsigned),
            (false, Some(CopyFormat::F32Ftz)) => (own, FormatOverride::F32Ftz),
            (false, Some(CopyFormat::Tf32)) => (own, FormatOverride::Tf32),
            (false, Some(CopyFormat::Tf32Ftz)) => (own, FormatOverride::Tf32Ftz),
            (false, Some(CopyFormat::B4x16)) => (
                Type::parse(self.op().ctx(), "f4E2M1FN").expect("a builtin type"),
                FormatOverride::Natural,
            ),
            (false, _) => (own, FormatOverride::Natural),
        };
        let mut sizes: Vec<i64> = part
            .box_dims
            .iter()
            .map(|n| i64::try_from(*n).unwrap_or(i64::MAX))
            .collect();
        if let Some(row) = sizes.last_mut() {
            *row = row.saturating_mul(self.per_element() as i64);
        }
        TensorMapType::checked(
            self.op().location(),
            (sizes, element),
            space.map_or(SwizzleSpan::None, |s| s.stated()),
            space.map_or(Atom::B16, |s| s.atom()),
            Interleave::None,
            vec![],
            self.fill().unwrap_or(Fill::Zero),
            self.l2().unwrap_or(L2Promotion::None),
            format,
            MapMode::Tile,
            0,
            vec![],
            vec![],
        )
    }

    /// The type of the global memref with joined dimensions, as `memref.collapse_shape` gives it.
    pub fn joined(&self, groups: &[Range<usize>]) -> Type<'c> {
        let t = self.global().r#type();
        let shape = t.shape().unwrap_or_default();
        if groups.len() == shape.len() {
            return t;
        }
        let (strides, offset) = t.strides_and_offset().unwrap_or_default();
        let joined = |group: &Range<usize>| match shape[group.clone()].contains(&DYNAMIC) {
            true => DYNAMIC,
            false => shape[group.clone()].iter().fold(1i64, |n, d| n.saturating_mul(*d)),
        };
        let sizes: Vec<i64> = groups.iter().map(joined).collect();
        // The innermost stride of each group, of dimensions of size 1 only where there are no others.
        let step = |group: &Range<usize>| {
            let inner = group.clone().rev().find(|d| shape[*d] != 1);
            strides[inner.unwrap_or(group.start)]
        };
        let steps: Vec<i64> = groups.iter().map(step).collect();
        // SAFETY: shape and strides are of one length, and element type and space are those of a memref that exists.
        unsafe {
            let (element, space) = (
                mlirShapedTypeGetElementType(t.to_raw()),
                mlirMemRefTypeGetMemorySpace(t.to_raw()),
            );
            let rank = sizes.len() as isize;
            if mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(t.to_raw())) {
                return Type::from_raw(mlirMemRefTypeContiguousGet(element, rank, sizes.as_ptr(), space));
            }
            let layout = mlirStridedLayoutAttrGet(self.op().ctx().to_raw(), offset, rank, steps.as_ptr());
            Type::from_raw(mlirMemRefTypeGet(element, rank, sizes.as_ptr(), layout, space))
        }
    }
}

fn verify<'c>(copy: RegionCopy<'c, 'c>) -> Res {
    let (op, mut errors) = (copy.op(), Errors::default());
    errors.merge(on_device(op));
    clauses(copy, &mut errors);
    let prefetches = copy.direction() == Direction::Prefetch;
    if prefetches != copy.shared().is_none() || !format(copy, &mut errors) {
        return errors.result();
    }
    let global = copy.global().r#type();
    if let Some(shared) = copy.shared().map(|shared| shared.r#type()) {
        if global.element_type() != shared.element_type() {
            errors.op(
                &op,
                format!("the shared memref {shared} must have the element type of {global}"),
            );
            return errors.result();
        }
        if !whole_piece(op, &mut errors, shared) {
            return errors.result();
        }
    }
    let region = match copy.region() {
        Ok(region) => region,
        Err(m) => return Diag::op(&op, m).report(),
    };
    if let Some(shared) = copy.shared() {
        aligned(op, &mut errors, shared);
    }
    let plan = match region.plan() {
        Ok(plan) => plan,
        Err(refusal) => return Diag::op(&op, refusal.to_string()).report(),
    };
    if let Some(shared) = copy.shared() {
        lies(copy, shared.r#type(), &region, &mut errors);
    }
    let memory = copy.joined(&plan.groups);
    let stores = copy.direction() == Direction::Store;
    for part in &plan.parts {
        let Some(map) = errors.merge(copy.map(part)) else {
            continue;
        };
        map_of_memory(op, &mut errors, map, memory);
        if let Some(kind) = copy.reduce().filter(|_| stores) {
            reduction_format(op, &mut errors, kind.core(), map);
        }
    }
    innermost_start(copy, &plan, &region, &mut errors);
    coordinates_fit(op, &mut errors, &copy.indices());
    if stores {
        no_negative_start(op, &mut errors, &copy.indices());
        if !copy.overwrite() {
            row_end(op, &mut errors, bytes_of_rows(memory));
        }
    }
    errors.result()
}

/// Clauses that go with the direction.
fn clauses<'c>(copy: RegionCopy<'c, 'c>, errors: &mut Errors) {
    let (op, direction) = (copy.op(), copy.direction());
    let loads = direction == Direction::Load;
    match (copy.shared(), direction) {
        (Some(_), Direction::Prefetch) => {
            errors.op(&op, "has a shared memref, but a prefetch goes to L2; leave it out");
        }
        (None, Direction::Load | Direction::Store) => {
            errors.op(
                &op,
                format!("needs a shared memref: a {direction} moves the region from or to one"),
            );
        }
        _ => {}
    }
    match (copy.barrier(), loads) {
        (None, true) => errors.op(&op, "needs `mbar`: a load counts its bytes on one"),
        (Some(_), false) if direction == Direction::Prefetch => {
            errors.op(&op, "has `mbar`, but nobody hears of a prefetch's end; leave it out");
        }
        (Some(_), false) => errors.op(
            &op,
            "has `mbar`, but a store completes in the thread's bulk group; leave it out",
        ),
        (Some(barrier), true) => check_barrier(op, errors, barrier, &copy.barrier_indices()),
        (None, false) => {}
    }
    let of_stores = [("reduce", copy.reduce().is_some()), ("overwrite", copy.overwrite())];
    for (name, _) in of_stores
        .iter()
        .filter(|(_, given)| direction != Direction::Store && *given)
    {
        errors.op(&op, format!("has `{name}`, which belongs to stores"));
    }
    let of_loads = [("multicast", copy.mask().is_some()), ("fill", copy.fill().is_some())];
    for (name, _) in of_loads.iter().filter(|(_, given)| !loads && *given) {
        errors.op(&op, format!("has `{name}`, which belongs to loads"));
    }
    if copy.unsigned() && copy.reduce().is_none() {
        errors.op(&op, "has `unsigned`, which says how `reduce` takes integers");
    }
    one_policy(op, errors, copy.cache().is_some(), copy.policy().is_some());
}

/// Whether the regions of the format that is asked for can be planned.
fn format<'c>(copy: RegionCopy<'c, 'c>, errors: &mut Errors) -> bool {
    let (op, t) = (copy.op(), copy.global().r#type());
    let Some(format) = copy.format() else { return true };
    let element = t.element_type().map(|e| e.to_string()).unwrap_or_default();
    let m = match format {
        CopyFormat::Unsigned => "has `format unsigned`; say `unsigned`, which goes with `reduce`".to_owned(),
        CopyFormat::B4x16P64 | CopyFormat::B6x16P32 => format!(
            "format {format} spreads each 16 elements over 16 bytes of shared memory, where the region has another shape \
             than in global memory; use tile.tma.apply, which takes box and coordinates as they are"
        ),
        CopyFormat::B4x16 if element != "i8" => {
            format!("format b4x16 packs its elements in bytes, so that it needs memrefs of i8, found {t}")
        }
        CopyFormat::F32Ftz | CopyFormat::Tf32 | CopyFormat::Tf32Ftz if element != "f32" => {
            format!("format {format} needs memrefs of f32, found {t}")
        }
        _ if copy.unsigned() => format!("has `unsigned`, and format {format}, which is no integer; give one of them"),
        _ => return true,
    };
    errors.op(&op, m);
    false
}

/// The shared memref has the region's shape there.
fn lies<'c>(copy: RegionCopy<'c, 'c>, t: Type<'c>, region: &Region, errors: &mut Errors) {
    let wanted = region.shared_shape();
    let found: Vec<u64> = t.shape().unwrap_or_default().iter().map(|d| d.unsigned_abs()).collect();
    let without_ones = |shape: &[u64]| -> Vec<u64> { shape.iter().copied().filter(|d| *d != 1).collect() };
    if without_ones(&wanted) != without_ones(&found) {
        let by = |shape: &[u64]| shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let extents: Vec<u64> = region.dims.iter().map(|d| d.extent).collect();
        let swizzle = match region.swizzle.span_bytes() {
            Some(_) => format!(" with swizzle {}", region.swizzle.name()),
            None => String::new(),
        };
        let m = format!(
            "a region of {} lies as {} in shared memory{swizzle}, but the shared memref is {t}",
            by(&extents),
            by(&wanted)
        );
        errors.op(&copy.op(), m);
    }
}

/// The region starts on 16 bytes in a row, as far as that is known.
fn innermost_start<'c>(copy: RegionCopy<'c, 'c>, plan: &Plan, region: &Region, errors: &mut Errors) {
    let Some(group) = plan.groups.last() else { return };
    // Joined dimensions inside the first start at 0.
    if group.len() == 1 {
        innermost(copy.op(), errors, copy.indices()[group.start], region.format);
        return;
    }
    let inside: u64 = region.dims[group.start + 1..group.end]
        .iter()
        .fold(1u64, |n, d| n.saturating_mul(d.extent));
    let bytes = inside.saturating_mul(region.format.bytes().unwrap_or(1));
    if let Some(start) = region.dims[group.start].start
        && i128::from(start) * i128::from(bytes) % 16 != 0
    {
        let m = format!(
            "the region starts at {start} in dimension {}, {} bytes from a row's start, but must start on 16 bytes (an illegal instruction on the GPU)",
            group.start,
            i128::from(start) * i128::from(bytes)
        );
        errors.op(&copy.op(), m);
    }
}
