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
//! *Refuses* what `tile-assign-layouts` has no rule for, and tiles that are too large, before any size changes.
//!
//! *Needs* to run before `tile-assign-layouts`, and after what makes wgmma of products. *Numbers* stay what they are.
mod numbers;
mod places;

use crate::{assign_layouts::Graph, constant_tiles, role_tiles, whole_tiles};
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
            value::Iota,
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
use numbers::{constant, neutral, padded_constant, splat_of, zero_of};
use places::{doubled, inserted, is_padded, keeps_places, lies_inside, moving, own, padded, tile_type};
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
    let blocks = kernel.body().block_list();
    let entered = blocks.iter().flat_map(|b| b.argument_values());
    let values = body.iter().flat_map(|op| [op.result_values(), arguments(op)].concat());
    let tiles: Vec<V> = entered.chain(values).filter(|v| needs_padding(v.r#type())).collect();
    if tiles.is_empty() {
        return Ok(());
    }
    // What no layout is found for, nothing is known of: its verifier might not take the larger tiles.
    role_tiles::make_anew(kernel);
    whole_tiles::check(kernel)?;
    Graph::of(&body)?;
    constant_tiles::write_out(kernel)?;
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

/// Whether a type is that of a tile that passes lay out, and not of powers of two. Sizes below 1 are left to be refused.
fn needs_padding(t: Type<'_>) -> bool {
    let shape = t.shape().unwrap_or_default();
    t.is_ranked_tensor_type() && !is_laid_out(t) && shape.iter().all(|s| *s > 0) && shape.iter().any(|s| is_padded(*s))
}

fn set_operand<'c>(op: OperationRef<'c, 'c>, i: usize, v: V<'c>) {
    // SAFETY: the index is that of an operand, and the type stays.
    unsafe { mlirOperationSetOperand(op.to_raw(), i as isize, v.to_raw()) };
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
                    set_operand(op, 0, e.select(own, condition, holds));
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
                    set_operand(op, 1, e.select(own, by, one));
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
            mask = e.select(mask, given, no);
        }
        let (loc, mask) = (e.loc(), Some(mask));
        let new = if let Some(l) = op.cast::<Load>() {
            Load::build(
                loc,
                tile.r#type(),
                l.source(),
                &l.indices(),
                mask,
                l.pass_thru(),
                l.vector_if(),
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
                s.vector_if(),
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
            set_operand(op.op(), 0, e.select(own, sources[0], neutral));
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
            .map(|i| c.select(both, combined[i], c.select(first[n], first[i], second[i])))
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
                by.cast::<Load>()
                    .is_some_and(|l| l.pad().is_none() && l.pass_thru().is_none())
                    || by.cast::<Gather>().is_some_and(|g| g.pad().is_none())
            };
            if operand.defining_op().is_some_and(is_zero) {
                continue;
            }
            if let Some(own) = own(e, sizes, [side.k_axis()]) {
                let zero = constant(e, operand.r#type(), zero_of(operand.r#type()));
                set_operand(mma.op(), side as usize, e.select(own, operand, zero));
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
            source = e.select(own, source, zero);
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
        let both = own.map_or(made, |own| e.select(own, made, whole));
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
                    e.select(is_before, before, part)
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
