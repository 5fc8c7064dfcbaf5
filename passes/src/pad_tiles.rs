//! `tile-pad-tiles`: tiles whose sizes are not powers of two, in tiles whose sizes are.
//!
//! ```mlir
//! %x = tile.load %X[%i, %j] : memref<?x?xf32, #tile.global> -> tensor<3x5xf32>                                 // before
//! %y = math.exp %x : tensor<3x5xf32>
//! %s = tile.reduce %y axis 1 (%a: f32, %b: f32) {
//!   %t = arith.addf %a, %b : f32
//!   tile.yield %t : f32
//! } : tensor<3x5xf32> -> tensor<3xf32>
//!
//! %m = ...                                             // rows below 3 and columns below 5 : tensor<4x8xi1>     // after
//! %x = tile.load %X[%i, %j] mask %m : tensor<4x8xi1> : memref<?x?xf32, #tile.global> -> tensor<4x8xf32>
//! %y = math.exp %x : tensor<4x8xf32>
//! %n = ...                                             // columns below 5 : tensor<4x8xi1>
//! %z = arith.select %n, %y, %zeros : tensor<4x8xi1>, tensor<4x8xf32>                             // of -0.0
//! %s = tile.reduce %z axis 1 ... : tensor<4x8xf32> -> tensor<4xf32>
//! ```
//!
//! Each size becomes the next power of two, and what a tile has there beyond its own elements, its *padding*, is of no account:
//!
//! | op | what it does about the padding |
//! |---|---|
//! | loads, stores, gathers, scatters, atomics | a mask: nothing outside the tile's own extent is touched |
//! | elementwise | nothing; integers are divided by 1 there |
//! | `tile.reduce` by one op that has a neutral element | the neutral element stands there |
//! | `tile.reduce` by any other combiner | truth values go along: of two elements that count, both are combined, else the one that counts is taken |
//! | `tile.scan` | nothing: what comes after an element does not reach it |
//! | `tile.mma` | zeros along K, unless loads have put them there |
//! | `tile.reshape`, `tile.concat` | nothing where elements keep their places; else `tile.repack`, through shared memory |
//! | `tile.extract_slice` | zeros, where an index may take the part there |
//! | `tile.insert_slice` | the part's own elements are inserted, no others |
//! | `tile.print`, `tile.assert` | is not printed, and holds |
//! | others | nothing |
//!
//! A kernel whose tiles are of powers of two alone stays as it is, and so does what warpgroups hold, in whatever sizes wgmma has.
//!
//! *Needs* to run before `tile-assign-layouts`, and after what makes wgmma of products. *Numbers* stay what they are.
use girih_core::layout::Padded;
use girih_dialects::{
    nvvm::Emit,
    tile::{
        layouts::is_laid_out,
        ops::{
            atomic::AtomicRmw,
            debug::{Assert, Print},
            kernel::Kernel,
            memory::{Load, Store},
            mma::{Mma, Side},
            reduce::{Reduce, Yield},
            repack::Repack,
            rows::{Gather, Scatter, masked},
            shape::Reshape,
            slice::{Concat, ExtractSlice, InsertSlice},
            value::{Iota, Splat},
        },
    },
};
use girih_ir::{
    ext::{BlockExt, DYNAMIC, block},
    kind::{I64s, Kind},
    mlir_sys::*,
    op::OpView,
    pass::{DialectSource, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::{AtEnd, Before},
};
use std::collections::BTreeMap;

type V<'c> = Value<'c, 'c>;

/// The pass.
pub struct PadTiles;

impl Pass for PadTiles {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[
            Statistic {
                name: "padded",
                description: "Tiles that were padded",
            },
            Statistic {
                name: "repacked",
                description: "Tiles that go through shared memory because padding is in the way",
            },
        ],
        dialects: &[
            DialectSource::Rust(&girih_dialects::tile::TILE),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
        ],
        ..PassInfo::new("tile-pad-tiles", "Pad tiles to sizes that are powers of two")
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let mut errors = Errors::default();
        for kernel in crate::kernels(module) {
            errors.merge(pad(kernel, cx));
        }
        errors.result()
    }
}

fn pad<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) -> Res {
    let body: Vec<_> = kernel
        .body()
        .block_list()
        .iter()
        .flat_map(|b| b.op_list())
        .flat_map(|op| op.nested_ops())
        // Combiners are of numbers, and may be written anew.
        .filter(|op| op.parent().is_none_or(|p| !p.is::<Reduce>()))
        .collect();
    let arguments = |op: &OperationRef<'c, 'c>| {
        let op = *op;
        let blocks = (0..op.region_count()).flat_map(move |r| op.region_at(r).block_list());
        blocks.flat_map(|b| b.argument_values()).collect::<Vec<_>>()
    };
    let values = body.iter().flat_map(|op| [op.result_values(), arguments(op)].concat());
    let tiles: Vec<V> = values.filter(|v| needs_padding(v.r#type())).collect();
    if tiles.is_empty() {
        return Ok(());
    }
    let mut padding = Padding {
        sizes: BTreeMap::new(),
        cx,
    };
    for tile in &tiles {
        let t = tile.r#type();
        let sizes = t.shape().unwrap_or_default();
        let padded = tile_type(&padded(&sizes), t.element_type().unwrap_or(t));
        padding.sizes.insert(key(*tile), sizes);
        // SAFETY: every use of the tile is seen to below.
        unsafe { mlirValueSetType(tile.to_raw(), padded.to_raw()) };
        let constant = tile.defining_op().filter(|by| by.full_name() == "arith.constant");
        if let Some((by, value)) = constant.and_then(|by| Some((by, by.attr("value")?))) {
            by.set_attr("value", padded_constant(padded, value, &padding.sizes[&key(*tile)]));
        }
    }
    cx.count(0, tiles.len() as u64);
    for op in body {
        padding.rewrite(op);
    }
    Ok(())
}

fn key(v: V<'_>) -> usize {
    v.to_raw().ptr as usize
}

fn is_padded(size: i64) -> bool {
    size > 0 && !size.unsigned_abs().is_power_of_two()
}

/// Whether a type is that of a tile that passes lay out, and not of powers of two. Sizes below 1 are left to be refused.
fn needs_padding(t: Type<'_>) -> bool {
    let shape = t.shape().unwrap_or_default();
    t.is_ranked_tensor_type() && !is_laid_out(t) && shape.iter().all(|s| *s > 0) && shape.iter().any(|s| is_padded(*s))
}

fn padded(sizes: &[i64]) -> Vec<i64> {
    let sizes: Vec<u64> = sizes.iter().map(|s| s.unsigned_abs()).collect();
    Padded::shape(&sizes).into_iter().map(|s| s as i64).collect()
}

fn tile_type<'c>(shape: &[i64], element: Type<'c>) -> Type<'c> {
    // SAFETY: no encoding is the null attribute.
    unsafe {
        let none = mlirAttributeGetNull();
        let (rank, shape) = (shape.len() as isize, shape.as_ptr());
        Type::from_raw(mlirRankedTensorTypeGet(rank, shape, element.to_raw(), none))
    }
}

/// The one value of a constant tile.
fn splat_of<'c>(op: OperationRef<'c, 'c>) -> Option<Attribute<'c>> {
    let value = op.attr("value").filter(|_| op.full_name() == "arith.constant")?;
    // SAFETY: only a splat is asked for its value.
    unsafe {
        (mlirAttributeIsADenseElements(value.to_raw()) && mlirDenseElementsAttrIsSplat(value.to_raw()))
            .then(|| Attribute::from_raw(mlirDenseElementsAttrGetSplatValue(value.to_raw())))
    }
}

/// A constant tile in a larger one, which has its first value in the padding.
fn padded_constant<'c>(tile: Type<'c>, value: Attribute<'c>, sizes: &[i64]) -> Attribute<'c> {
    let shape = tile.shape().unwrap_or_default();
    let count: i64 = shape.iter().product();
    // SAFETY: places lie inside the sizes that the constant has, and values are of its element type.
    unsafe {
        let at = |place: &mut [u64]| mlirElementsAttrGetValue(value.to_raw(), place.len() as isize, place.as_mut_ptr());
        let values: Vec<_> = (0..count)
            .map(|mut n| {
                let mut place = vec![0; shape.len()];
                for (axis, size) in shape.iter().enumerate().rev() {
                    place[axis] = (n % size) as u64;
                    n /= size;
                }
                if place.iter().zip(sizes).any(|(c, size)| *c >= size.unsigned_abs()) {
                    place.fill(0);
                }
                at(&mut place)
            })
            .collect();
        Attribute::from_raw(mlirDenseElementsAttrGet(
            tile.to_raw(),
            values.len() as isize,
            values.as_ptr(),
        ))
    }
}

fn splat<'c>(tile: Type<'c>, value: Attribute<'c>) -> Attribute<'c> {
    // SAFETY: the tile has sizes, and the value is of its element type.
    unsafe { Attribute::from_raw(mlirDenseElementsAttrSplatGet(tile.to_raw(), value.to_raw())) }
}

fn set_operand<'c>(op: OperationRef<'c, 'c>, i: usize, v: V<'c>) {
    // SAFETY: the index is that of an operand, and the type stays.
    unsafe { mlirOperationSetOperand(op.to_raw(), i as isize, v.to_raw()) };
}

/// A constant tile of a number, written as MLIR writes it.
fn constant<'c>(e: &Emit<'c, '_>, tile: Type<'c>, number: &str) -> V<'c> {
    let element = tile.element_type().unwrap_or(tile);
    let number = match element.is_int(1) {
        true => number.to_owned(),
        false => format!("{number} : {element}"),
    };
    let value = splat(tile, e.attr(&number));
    e.value("arith.constant", &[], tile, &[("value", value)])
}

fn select<'c>(e: &Emit<'c, '_>, condition: V<'c>, yes: V<'c>, no: V<'c>) -> V<'c> {
    e.value("arith.select", &[condition, yes, no], yes.r#type(), &[])
}

/// Which elements of a padded tile are its own along some axes: truth values, one for each. `None` where all are.
fn own<'c>(e: &Emit<'c, '_>, sizes: &[i64], axes: impl IntoIterator<Item = usize>) -> Option<V<'c>> {
    let shape = padded(sizes);
    let (places, truths) = (tile_type(&shape, e.i32_type()), tile_type(&shape, e.int(1)));
    let mut all: Option<V> = None;
    for axis in axes.into_iter().filter(|a| is_padded(sizes[*a])) {
        let place = e.insert(Iota::build(e.loc(), places, axis as i64)).result0();
        let size = constant(e, places, &sizes[axis].to_string());
        let below = e.value("arith.cmpi", &[place, size], truths, &[("predicate", e.i64_attr(2))]);
        all = Some(all.map_or(below, |a| e.value("arith.andi", &[a, below], truths, &[])));
    }
    all
}

/// The sizes that padded tiles had, for as long as they are there.
struct Padding<'c, 'a> {
    sizes: BTreeMap<usize, Vec<i64>>,
    cx: &'a PassContext<'c>,
}

impl<'c> Padding<'c, '_> {
    fn sizes(&self, v: V<'c>) -> Option<&Vec<i64>> {
        self.sizes.get(&key(v))
    }
    /// The sizes that a tile had, padded or not.
    fn any_sizes(&self, v: V<'c>) -> Vec<i64> {
        self.sizes(v)
            .cloned()
            .unwrap_or_else(|| v.r#type().shape().unwrap_or_default())
    }

    fn rewrite(&mut self, op: OperationRef<'c, 'c>) {
        let at = Before(op);
        let e = Emit::new(&at, op.location());
        match op.full_name() {
            Load::NAME | Store::NAME | Gather::NAME | Scatter::NAME | AtomicRmw::NAME => self.access(&e, op),
            Reduce::NAME => self.reduce(&e, Reduce::from_op(op)),
            Mma::NAME => self.product(&e, Mma::from_op(op)),
            Reshape::NAME => self.reshape(&e, Reshape::from_op(op)),
            ExtractSlice::NAME => self.extract(&e, ExtractSlice::from_op(op)),
            InsertSlice::NAME => self.insert(&e, InsertSlice::from_op(op)),
            Concat::NAME => self.concat(&e, Concat::from_op(op)),
            Print::NAME => {
                if let Some(sizes) = op.operand_values().iter().find_map(|v| self.sizes(*v)) {
                    op.set_attr("extent", I64s::to_attribute(sizes, op.ctx()));
                }
            }
            Assert::NAME => {
                let condition = op.operand_values()[0];
                if let Some(own) = self.sizes(condition).and_then(|s| own(&e, s, 0..s.len())) {
                    let holds = constant(&e, condition.r#type(), "true");
                    set_operand(op, 0, select(&e, own, condition, holds));
                }
            }
            "arith.divsi" | "arith.divui" | "arith.remsi" | "arith.remui" | "arith.ceildivsi" | "arith.ceildivui"
            | "arith.floordivsi" => {
                let by = op.operand_values()[1];
                let is_constant = by.defining_op().is_some_and(|by| splat_of(by).is_some());
                if let Some(own) = self
                    .sizes(by)
                    .filter(|_| !is_constant)
                    .and_then(|s| own(&e, s, 0..s.len()))
                {
                    let one = constant(&e, by.r#type(), "1");
                    set_operand(op, 1, select(&e, own, by, one));
                }
            }
            _ => {}
        }
    }

    /// A mask of the tile's own elements, with the one that there is.
    fn access(&mut self, e: &Emit<'c, '_>, op: OperationRef<'c, 'c>) {
        let tile = op.result_values().first().copied().unwrap_or(op.operand_values()[0]);
        let Some(mut mask) = self.sizes(tile).and_then(|s| own(e, s, 0..s.len())) else {
            return;
        };
        if let Some((_, given)) = masked(op) {
            // Whatever the given one is in the padding, also where it is no value at all.
            let no = constant(e, given.r#type(), "false");
            mask = select(e, mask, given, no);
        }
        let (loc, mask) = (e.loc(), Some(mask));
        let new = if let Some(l) = op.cast::<Load>() {
            Load::build(
                loc,
                tile.r#type(),
                l.source(),
                &l.indices(),
                mask,
                l.pad(),
                l.vector(),
                l.cache(),
            )
        } else if let Some(s) = op.cast::<Store>() {
            Store::build(
                loc,
                s.value(),
                s.destination(),
                &s.indices(),
                mask,
                s.vector(),
                s.cache(),
            )
        } else if let Some(g) = op.cast::<Gather>() {
            let (source, columns, rows) = (g.source(), g.columns(), g.rows());
            Gather::build(
                loc,
                tile.r#type(),
                source,
                &columns,
                rows,
                mask,
                g.pad(),
                g.vector(),
                g.cache(),
            )
        } else if let Some(s) = op.cast::<Scatter>() {
            let (value, to, columns) = (s.value(), s.destination(), s.columns());
            Scatter::build(loc, value, to, &columns, s.rows(), mask, s.vector(), s.cache())
        } else if let Some(a) = op.cast::<AtomicRmw>() {
            let (t, value, memory) = (a.result().map(|r| r.r#type()), a.value(), a.destination());
            let (indices, compare, rows) = (a.indices(), a.compare(), a.rows());
            let (kind, sem, scope) = (a.kind(), a.sem(), a.scope());
            AtomicRmw::build(
                loc, t, value, memory, &indices, compare, rows, mask, None, kind, sem, scope,
            )
        } else {
            return;
        };
        self.replace(e, op, new);
    }

    /// Puts `new` in the place of an op.
    fn replace(&mut self, e: &Emit<'c, '_>, op: OperationRef<'c, 'c>, new: Operation<'c>) {
        let new = e.insert(new).result_values();
        self.replace_with(op, &new);
    }

    /// Erases an op whose results others are. Their sizes are known from then on.
    fn replace_with(&mut self, op: OperationRef<'c, 'c>, new: &[V<'c>]) {
        for (old, new) in op.result_values().iter().zip(new) {
            old.replace_all_uses_with(new);
            if let Some(sizes) = self.sizes.remove(&key(*old)) {
                self.sizes.insert(key(*new), sizes);
            }
        }
        // SAFETY: its results have no uses, and the list of ops has come to it.
        unsafe { mlirOperationDestroy(op.to_raw()) };
    }

    fn reduce(&mut self, e: &Emit<'c, '_>, op: Reduce<'c, 'c>) {
        let sources = op.sources();
        let Some(sizes) = sources.first().and_then(|s| self.sizes(*s)) else {
            return;
        };
        let Some(own) = own(e, sizes, [op.axis() as usize]) else {
            return;
        };
        if let Some(neutral) = neutral(op) {
            let neutral = constant(e, sources[0].r#type(), &neutral);
            set_operand(op.op(), 0, select(e, own, sources[0], neutral));
            return;
        }
        let Some(old) = op.combiner().entry() else { return };
        let Some(end) = old.terminator_op() else { return };
        let n = sources.len();
        let elements: Vec<Type> = sources.iter().filter_map(|s| s.r#type().element_type()).collect();
        let side = [&elements[..], &[e.int(1)]].concat();
        let region = Region::new();
        region.append_block(block(&[&side[..], &side[..]].concat(), e.loc()));
        let mut types: Vec<Type> = op.results().iter().map(|r| r.r#type()).collect();
        types.push(tile_type(&types[0].shape().unwrap_or_default(), e.int(1)));
        let segments = e.attr(&format!("array<i32: {}, 0>", n + 1));
        let attributes = [("axis", e.i64_attr(op.axis())), ("operandSegmentSizes", segments)];
        let operands = [&sources[..], &[own]].concat();
        let new = e.op_with_regions(Reduce::NAME, &operands, &types, &attributes, vec![region]);
        let Some(inside) = new.region_at(0).entry() else { return };
        let arguments = inside.argument_values();
        let (first, second) = arguments.split_at(n + 1);
        let places = [&first[..n], &second[..n]].concat();
        for (was, is) in old.argument_values().iter().zip(places) {
            was.replace_all_uses_with(&is);
        }
        let combined = end.operand_values();
        for inner in old.op_list().into_iter().filter(|inner| *inner != end) {
            // SAFETY: the op leaves its block before it enters the other.
            unsafe {
                mlirOperationRemoveFromParent(inner.to_raw());
                mlirBlockAppendOwnedOperation(inside.to_raw(), inner.to_raw());
            }
        }
        let at = AtEnd(inside);
        let c = Emit::new(&at, e.loc());
        let both = c.and(first[n], second[n]);
        let mut yields: Vec<V> = (0..n)
            .map(|i| select(&c, both, combined[i], select(&c, first[n], first[i], second[i])))
            .collect();
        yields.push(c.or(first[n], second[n]));
        c.insert(Yield::build(c.loc(), &yields));
        self.replace_with(op.op(), &new.result_values());
    }

    /// Zeros along K.
    fn product(&self, e: &Emit<'c, '_>, mma: Mma<'c, 'c>) {
        for side in [Side::A, Side::B] {
            let operand = mma.operand(side);
            let Some(sizes) = self.sizes(operand).filter(|s| s.len() == 2) else {
                continue;
            };
            let is_zero = |by: OperationRef<'c, 'c>| {
                by.cast::<Load>().is_some_and(|l| l.pad().is_none())
                    || by.cast::<Gather>().is_some_and(|g| g.pad().is_none())
            };
            if operand.defining_op().is_some_and(is_zero) {
                continue;
            }
            if let Some(own) = own(e, sizes, [side.k_axis()]) {
                let zero = constant(e, operand.r#type(), zero_of(operand.r#type()));
                set_operand(mma.op(), side as usize, select(e, own, operand, zero));
            }
        }
    }

    fn reshape(&mut self, e: &Emit<'c, '_>, op: Reshape<'c, 'c>) {
        let (from, into) = (self.any_sizes(op.source()), self.any_sizes(op.result()));
        if keeps_places(&from, &into) {
            return;
        }
        let start = |sizes: &[i64]| vec![0; sizes.len()];
        let (at, to) = (start(&from), start(&into));
        self.repack(e, op.op(), op.source(), [at, from, to, into]);
    }

    fn extract(&mut self, e: &Emit<'c, '_>, op: ExtractSlice<'c, 'c>) {
        if self.sizes(op.source()).is_none() && self.sizes(op.result()).is_none() {
            return;
        }
        let (mut source, part) = (op.source(), op.result().r#type());
        if lies_inside(&op.at(), op.strides().as_deref(), part, source.r#type()) {
            return;
        }
        // An index may take the part past the edge, where it reads as zero.
        if op.at().contains(&DYNAMIC)
            && let Some(own) = self.sizes(source).and_then(|s| own(e, s, 0..s.len()))
        {
            let zero = constant(e, source.r#type(), zero_of(source.r#type()));
            source = select(e, own, source, zero);
        }
        let steps = op.strides();
        let source = doubled(e, source, part, steps.as_deref());
        let (at, offsets) = moving(e, &op.at(), &op.offsets());
        let new = ExtractSlice::build(e.loc(), part, source, &offsets, None, at, steps);
        self.replace(e, op.op(), new);
    }

    /// The part's own elements are told from its padding by their places in the whole.
    fn insert(&mut self, e: &Emit<'c, '_>, op: InsertSlice<'c, 'c>) {
        let (part, whole) = (op.source(), op.destination());
        // What is put into padding does no harm.
        if self.sizes(part).is_none() {
            return;
        }
        let (steps, t) = (op.strides(), whole.r#type());
        let into = doubled(e, whole, part.r#type(), steps.as_deref());
        let (at, offsets) = moving(e, &op.at(), &op.offsets());
        let made = InsertSlice::build(e.loc(), into.r#type(), part, into, &offsets, None, at, steps.clone());
        let mut made = e.insert(made).result0();
        if into != whole {
            let start = vec![0; t.shape().unwrap_or_default().len()];
            made = e
                .insert(ExtractSlice::build(e.loc(), t, made, &[], None, start, None))
                .result0();
        }
        let sizes = self.any_sizes(part);
        let steps = steps.unwrap_or_else(|| vec![1; sizes.len()]);
        let own = inserted(e, t, &sizes, &op.at(), &op.offsets(), &steps);
        let both = own.map_or(made, |own| select(e, own, made, whole));
        self.replace_with(op.op(), &[both]);
    }

    fn concat(&mut self, e: &Emit<'c, '_>, op: Concat<'c, 'c>) {
        let (axis, sources, t) = (op.axis() as usize, op.sources(), op.result().r#type());
        let sizes: Vec<Vec<i64>> = sources.iter().map(|s| self.any_sizes(*s)).collect();
        if !is_padded(self.any_sizes(op.result())[axis]) && !sizes.iter().any(|s| is_padded(s[axis])) {
            return;
        }
        self.cx.count(1, sources.len() as u64);
        let shape = t.shape().unwrap_or_default();
        let (places, truths) = (tile_type(&shape, e.i32_type()), tile_type(&shape, e.int(1)));
        let place = e.insert(Iota::build(e.loc(), places, op.axis())).result0();
        let mut end = 0;
        let mut whole: Option<V> = None;
        for (source, sizes) in sources.iter().zip(sizes) {
            let (zero, mut onto) = (vec![0; sizes.len()], vec![0; sizes.len()]);
            onto[axis] = end;
            let part = Repack::build(e.loc(), t, *source, None, zero, sizes.clone(), onto, sizes.clone());
            let part = e.insert(part).result0();
            whole = Some(match whole {
                None => part,
                Some(before) => {
                    let start = constant(e, places, &end.to_string());
                    let is_before = [("predicate", e.i64_attr(2))];
                    let is_before = e.value("arith.cmpi", &[place, start], truths, &is_before);
                    select(e, is_before, before, part)
                }
            });
            end += sizes[axis];
        }
        if let Some(whole) = whole {
            self.replace_with(op.op(), &[whole]);
        }
    }

    fn repack(
        &mut self,
        e: &Emit<'c, '_>,
        op: OperationRef<'c, 'c>,
        source: V<'c>,
        [from, sizes, to, into]: [Vec<i64>; 4],
    ) {
        self.cx.count(1, 1);
        let t = op.result0().r#type();
        self.replace(e, op, Repack::build(e.loc(), t, source, None, from, sizes, to, into));
    }
}

/// Whether starts are known, and a part of that size ends inside.
fn lies_inside(at: &[i64], steps: Option<&[i64]>, part: Type<'_>, whole: Type<'_>) -> bool {
    let (part, whole) = (part.shape().unwrap_or_default(), whole.shape().unwrap_or_default());
    let fits = |axis: usize| {
        let step = steps.map_or(1, |s| s[axis]);
        let last = (part[axis] - 1).saturating_mul(step).saturating_add(at[axis]);
        at[axis] != DYNAMIC && (0..whole[axis]).contains(&last)
    };
    (0..part.len()).all(fits)
}

/// Starts as indices, which may take a part past the edge.
fn moving<'c>(e: &Emit<'c, '_>, at: &[i64], offsets: &[V<'c>]) -> (Vec<i64>, Vec<V<'c>>) {
    let mut offsets = offsets.iter();
    let all = at.iter().filter_map(|at| match *at {
        DYNAMIC => offsets.next().copied(),
        n => Some(e.index(n)),
    });
    (vec![DYNAMIC; at.len()], all.collect())
}

/// A tile with zeros beside it until a part in such steps is not longer than it.
fn doubled<'c>(e: &Emit<'c, '_>, mut tile: V<'c>, part: Type<'c>, steps: Option<&[i64]>) -> V<'c> {
    let part = part.shape().unwrap_or_default();
    for (axis, size) in part.iter().enumerate() {
        let step = steps.map_or(1, |s| s[axis].saturating_abs());
        let reach = (size - 1).saturating_mul(step);
        loop {
            let mut shape = tile.r#type().shape().unwrap_or_default();
            if reach < shape[axis] {
                break;
            }
            shape[axis] *= 2;
            let wide = tile_type(&shape, tile.r#type().element_type().unwrap_or(tile.r#type()));
            let zero = constant(e, tile.r#type(), zero_of(tile.r#type()));
            let both = Concat::build(e.loc(), wide, &[tile, zero], None, axis as i64);
            tile = e.insert(both).result0();
        }
    }
    tile
}

/// Which elements of a tile of type `whole` a part of `sizes` replaces; `None`: all.
fn inserted<'c>(
    e: &Emit<'c, '_>,
    whole: Type<'c>,
    sizes: &[i64],
    at: &[i64],
    offsets: &[V<'c>],
    steps: &[i64],
) -> Option<V<'c>> {
    let shape = whole.shape().unwrap_or_default();
    let (places, truths) = (tile_type(&shape, e.i64_type()), tile_type(&shape, e.int(1)));
    let mut offsets = offsets.iter();
    let mut all: Option<V> = None;
    for (axis, size) in sizes.iter().enumerate() {
        let start = match at[axis] {
            DYNAMIC => e.to_int(*offsets.next()?, 64),
            n => e.c64(n),
        };
        if !is_padded(*size) {
            continue;
        }
        let start = e.insert(Splat::build(e.loc(), places, start)).result0();
        let place = e.insert(Iota::build(e.loc(), places, axis as i64)).result0();
        let way = if steps[axis] < 0 {
            [start, place]
        } else {
            [place, start]
        };
        let way = e.value("arith.subi", &way, places, &[]);
        let step = steps[axis].saturating_abs();
        // Unsigned, so that what lies before the start is outside too.
        let end = constant(e, places, &size.saturating_mul(step).to_string());
        let mut own = e.value("arith.cmpi", &[way, end], truths, &[("predicate", e.i64_attr(6))]);
        if step != 1 {
            let by = constant(e, places, &step.to_string());
            let rest = e.value("arith.remui", &[way, by], places, &[]);
            let zero = constant(e, places, "0");
            let meets = e.value("arith.cmpi", &[rest, zero], truths, &[("predicate", e.i64_attr(0))]);
            own = e.value("arith.andi", &[own, meets], truths, &[]);
        }
        all = Some(all.map_or(own, |a| e.value("arith.andi", &[a, own], truths, &[])));
    }
    all
}

fn zero_of(t: Type<'_>) -> &'static str {
    match t.element_type().is_some_and(|e| e.is_float_type()) {
        true => "0.0",
        false => "0",
    }
}

/// Whether elements of a tile have the same numbers, padded, in two shapes.
fn keeps_places(from: &[i64], into: &[i64]) -> bool {
    let (a, b) = (padded(from), padded(into));
    let count = |sizes: &[i64]| sizes.iter().product::<i64>();
    if count(&a) != count(&b) {
        return false;
    }
    // The number of an element among the padded ones.
    let number = |mut n: i64, sizes: &[i64], padded: &[i64]| {
        let (mut at, mut stride) = (0, 1);
        for (size, whole) in sizes.iter().zip(padded).rev() {
            at += n % size * stride;
            n /= size;
            stride *= whole;
        }
        at
    };
    (0..count(from)).all(|n| number(n, from, &a) == number(n, into, &b))
}

/// What leaves every other number as it is under a combiner of one op, as MLIR writes it.
fn neutral(op: Reduce<'_, '_>) -> Option<String> {
    let block = op.combiner().entry()?;
    let (arguments, ops) = (block.argument_values(), block.op_list());
    let [by, end] = ops[..] else { return None };
    let [a, b] = arguments[..] else { return None };
    let operands = by.operand_values();
    let takes_both = operands == [a, b] || operands == [b, a];
    if !takes_both || end.operand_values() != by.result_values() {
        return None;
    }
    let t = a.r#type();
    let bits = t.bit_width()?;
    let infinity = match (t.to_string().as_str(), bits) {
        ("bf16", _) => Some(0x7F80u64),
        ("f16", _) => Some(0x7C00),
        ("f32", _) => Some(0x7F80_0000),
        ("f64", _) => Some(0x7FF0_0000_0000_0000),
        _ => None,
    };
    // No infinity where the op says that there is none.
    let infinity = infinity.filter(|_| by.attr("fastmath").is_none_or(|f| f.to_string().contains("none")));
    let hexadecimal = |n: u64| format!("0x{n:0width$X}", width = bits as usize / 4);
    let is_float = matches!(t.to_string().as_str(), "f16" | "bf16" | "f32" | "f64");
    let signed = |n: i128| (bits > 1).then(|| n.to_string());
    let half = 1i128 << (bits - 1);
    match by.full_name() {
        "arith.addf" if is_float => Some("-0.0".to_owned()),
        "arith.mulf" if is_float => Some("1.0".to_owned()),
        "arith.maximumf" => Some(hexadecimal(infinity? | 1 << (bits - 1))),
        "arith.minimumf" => Some(hexadecimal(infinity?)),
        "arith.addi" | "arith.ori" | "arith.xori" | "arith.maxui" if bits > 1 => Some("0".to_owned()),
        "arith.muli" if bits > 1 => Some("1".to_owned()),
        "arith.andi" | "arith.minui" => signed(-1),
        "arith.maxsi" => signed(-half),
        "arith.minsi" => signed(half - 1),
        _ => None,
    }
}
