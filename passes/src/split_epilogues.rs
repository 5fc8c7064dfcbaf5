//! `tile-split-epilogues`: what is computed from a product goes to memory in pieces of its columns, in whole lines.
//!
//! ```mlir
//! %out = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xbf16>                                          // before
//! tile.store %out, %C[%row, %col] : tensor<128x256xbf16>, ...
//!
//! %lines = tile.is_aligned %C axis 1 by 8 : ...                                                                   // after
//! scf.if %lines {
//!   %sum_0 = tile.extract_slice %sum at [0, 0] : tensor<128x256xf32> -> tensor<128x64xf32>
//!   %out_0 = arith.truncf %sum_0 : tensor<128x64xf32> to tensor<128x64xbf16>
//!   %rows_0 = tile.convert_layout %out_0 : tensor<128x64xbf16> -> tensor<128x64xbf16, #rows>
//!   tile.store %rows_0, %C[%row, %col] {vector = 8 : i64} : tensor<128x64xbf16, #rows>, ...
//!   ... columns 64, 128 and 192
//! } else {
//!   tile.store %out, %C[%row, %col] : tensor<128x256xbf16>, ...
//! }
//! // #rows = #tile.blocked<per_thread = [4, 8], lanes = [4, 8], warps = [8, 1]>
//! ```
//!
//! Of an accumulator a thread has two neighbours, and a warp's store goes to eight rows: half sectors of numbers of 16 bits. So
//! each warp turns its own 16 rows around in shared memory, which no other warp waits for, and stores 16 bytes a thread, lines
//! of 128 bytes. Tiles that are loaded to go with the product (a residual, an old `C`) come the same way. 32-bit numbers fill
//! their sectors as they are.
//!
//! A whole tile of f32 takes half of a thread's registers, and what is computed from it, op by op, or with a loaded tile, would
//! take more than there are. Pieces are loaded, computed and stored one after the other; a load that nothing else in the kernel
//! writes to moves down to its piece.
//!
//! *Needs* products with operands in shared memory (`tile-plan-copies`). *Refuses* nothing: what is no epilogue stays as it is,
//! as does one of fewer than 16 columns. *Numbers* stay what they are.
use crate::{
    expand_mma::{Tiles, is_splat},
    global_order::has_overlaps,
    known::{known_multiple, rows_are_aligned},
    nest::{may_alias, may_write},
    plan_copies::written_between,
};
use girih_dialects::{
    nvvm::Emit,
    tile::{
        distribution::Blocked,
        layouts::is_laid_out,
        marks::releases,
        ops::{
            kernel::Kernel,
            memory::{Load, Store, VECTOR_BYTES},
            mma::Mma,
            slice::ExtractSlice,
            value::{ConvertLayout, IsAligned, Splat},
        },
        spaces::is_global,
        verify::element_bits,
    },
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    op::Trait,
    pass::{DialectSource, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::Before,
};
use std::collections::BTreeSet;

type V<'c> = Value<'c, 'c>;

/// Bytes of a line, as far as a piece goes.
const LINE_BYTES: i64 = 128;
/// Rows of a warp.
const WARP_ROWS: i64 = 16;
/// Columns of a piece where nothing asks for others.
const COLUMNS: i64 = 64;
/// Columns of the narrowest piece.
const FEWEST_COLUMNS: i64 = 16;
/// So many ops on a whole tile leave registers enough.
const FEW_OPS: usize = 3;

/// The pass.
pub struct SplitEpilogues;

impl Pass for SplitEpilogues {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[Statistic {
            name: "split",
            description: "Stores that go in pieces",
        }],
        dialects: &[
            DialectSource::Rust(&girih_dialects::tile::TILE),
            DialectSource::Upstream(mlirGetDialectHandle__scf__),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
        ],
        ..PassInfo::new(
            "tile-split-epilogues",
            "Store what is computed from products in pieces of columns",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        for kernel in crate::kernels(module) {
            let products: Vec<Mma> = kernel.op().nested::<Mma>().into_iter().collect();
            let staged: Vec<Mma> = products.into_iter().filter(|mma| mma.is_staged()).collect();
            if staged.is_empty() {
                continue;
            }
            let reached = Tiles::of(&staged);
            for stores in groups(kernel, &reached) {
                if let Some(epilogue) = Epilogue::of(kernel, stores) {
                    cx.count(0, epilogue.stores.len() as u64);
                    epilogue.rewrite();
                }
            }
        }
        Ok(())
    }
}

/// Stores of what products reach that follow each other in a block, with nothing but arithmetic and loads between them.
fn groups<'c>(kernel: Kernel<'c, 'c>, reached: &Tiles<'c>) -> Vec<Vec<Store<'c, 'c>>> {
    let mut found: Vec<Vec<Store>> = vec![];
    for store in kernel.op().nested::<Store>() {
        let t = store.value().r#type();
        let whole = store.mask().is_none() && is_global(store.destination().r#type());
        if is_laid_out(t) || !whole || !reached.values.contains(&store.value()) {
            continue;
        }
        let follows = |group: &Vec<Store<'c, 'c>>| {
            let last = group[group.len() - 1];
            let apart = group
                .iter()
                .all(|other| !may_alias(other.destination(), store.destination()));
            let alike = last.value().r#type().shape() == t.shape();
            apart && alike && last.op().block() == store.op().block() && only_quiet(group, store.op())
        };
        match found.last_mut().filter(|group| follows(group)) {
            Some(group) => group.push(store),
            None => found.push(vec![store]),
        }
    }
    found
}

/// Whether nothing but arithmetic, and loads of what the stores do not write, stands between stores of a block and an op.
fn only_quiet<'c>(stores: &[Store<'c, 'c>], to: OperationRef<'c, 'c>) -> bool {
    let from = stores[stores.len() - 1].op();
    let is_untouched = |load: Load<'c, 'c>| stores.iter().all(|s| !may_alias(s.destination(), load.source()));
    let ops = from.block().map(|b| b.op_list()).unwrap_or_default();
    let mut between = ops
        .iter()
        .skip_while(|op| **op != from)
        .skip(1)
        .take_while(|op| **op != to);
    between.all(|op| op.region_count() == 0 && (op.is_pure() || op.cast::<Load>().is_some_and(is_untouched)))
}

/// Stores, and what is computed for them alone.
struct Epilogue<'c> {
    stores: Vec<Store<'c, 'c>>,
    /// Ops that are done again for each piece, in the order of their block.
    ops: Vec<OperationRef<'c, 'c>>,
    rows: i64,
    columns: i64,
    /// Columns of a piece.
    width: i64,
    warps: i64,
    /// Accesses that go in whole lines, where tests say so: a memref and how many elements go together.
    lines: Vec<(V<'c>, i64)>,
    /// Whether pieces serve where there are no whole lines, too.
    is_heavy: bool,
}

impl<'c> Epilogue<'c> {
    fn of(kernel: Kernel<'c, 'c>, stores: Vec<Store<'c, 'c>>) -> Option<Self> {
        let last = *stores.last()?;
        let &[rows, columns] = &last.value().r#type().shape()?[..] else {
            return None;
        };
        let ops = slice(kernel, &stores);
        // What constants alone make is in no registers yet, and is made anew where it is stored.
        let tiles = ops
            .iter()
            .flat_map(|op| op.operand_values())
            .filter(|v| v.r#type().is_ranked_tensor_type());
        let mut tiles = tiles.chain(stores.iter().map(|s| s.value()));
        let is_made = |v: V<'c>| v.defining_op().is_some_and(|op| ops.contains(&op) && !op.is::<Load>());
        if tiles.all(is_made) {
            return None;
        }
        let warps = kernel.threads() / 32;
        let mut epilogue = Epilogue {
            rows,
            columns,
            width: 0,
            warps,
            lines: vec![],
            is_heavy: false,
            stores,
            ops,
        };
        let narrow = |v: V<'c>| (element_bits(v.r#type()).unwrap_or(32) / 8) as i64;
        let widths = epilogue.stores.iter().map(|s| narrow(s.value())).filter(|b| *b <= 2);
        let width = widths.map(|bytes| LINE_BYTES / bytes).min().unwrap_or(COLUMNS);
        epilogue.width = width.min(1 << columns.trailing_zeros());
        if epilogue.width < FEWEST_COLUMNS || !warps.unsigned_abs().is_power_of_two() {
            return None;
        }
        let accesses: Vec<Access> = epilogue
            .stores
            .iter()
            .map(|s| s.op())
            .chain(epilogue.ops.iter().copied())
            .filter_map(Access::of)
            .collect();
        for access in accesses.iter().filter(|a| a.fits_lines(epilogue.width)) {
            let line = (access.memory, access.vector());
            if !epilogue.lines.contains(&line) {
                epilogue.lines.push(line);
            }
        }
        let loads = epilogue.ops.iter().any(|op| op.is::<Load>());
        let computed = epilogue.ops.iter().filter(|op| op.has_trait(Trait::Elementwise));
        epilogue.is_heavy = columns > epilogue.width && (loads || computed.count() > FEW_OPS);
        (epilogue.is_heavy || !epilogue.lines.is_empty()).then_some(epilogue)
    }

    fn rewrite(self) {
        let Some(last) = self.stores.last().map(|s| s.op()) else {
            return;
        };
        let at = Before(last);
        let e = Emit::new(&at, last.location());
        let tests: Vec<V> = self
            .lines
            .iter()
            .filter(|(memory, by)| !rows_are_aligned(*memory, 1, *by, true))
            .map(|(memory, by)| {
                let test = IsAligned::build(e.loc(), e.int(1), *memory, 1, *by, false);
                e.insert(test).result0()
            })
            .collect();
        match tests.into_iter().reduce(|a, b| e.and(a, b)) {
            None => self.pieces(&e, !self.lines.is_empty()),
            Some(test) => {
                let then = |e: Emit<'c, '_>| {
                    self.pieces(&e, true);
                    vec![]
                };
                let otherwise = |e: Emit<'c, '_>| {
                    match self.is_heavy {
                        true => self.pieces(&e, false),
                        false => self.stores.iter().for_each(|store| {
                            // SAFETY: the clone is detached, and its operands are known here.
                            e.insert(unsafe { Operation::from_raw(mlirOperationClone(store.op().to_raw())) });
                        }),
                    }
                    vec![]
                };
                e.if_else(test, &[], then, otherwise);
            }
        }
        let stores = self.stores.iter().map(|s| s.op());
        for op in stores.chain(self.ops.iter().rev().copied()) {
            if op.result_values().iter().all(|v| v.users().is_empty()) {
                // SAFETY: nothing uses what it gave, and it is visited once.
                unsafe { mlirOperationDestroy(op.to_raw()) };
            }
        }
    }

    /// All pieces one after the other.
    fn pieces(&self, e: &Emit<'c, '_>, lines: bool) {
        for column in (0..self.columns).step_by(self.width as usize) {
            let mut piece = Piece {
                of: self,
                column,
                lines,
                known: vec![],
            };
            for op in &self.ops {
                piece.again(e, *op);
            }
            for store in &self.stores {
                piece.store(e, *store);
            }
        }
    }

    /// The layout in which a warp's rows are whole lines.
    fn rows_layout(&self, e: &Emit<'c, '_>, vector: i64) -> Attribute<'c> {
        let along = self.width / vector;
        let down = 32 / along;
        let (per_thread, lanes) = (vec![WARP_ROWS / down, vector], vec![down, along]);
        Blocked::get(e.context(), per_thread, lanes, vec![self.warps, 1], vec![]).into()
    }
}

/// Ops that are done again for each piece: what leads to the stores in their block, as far as it goes column by column.
fn slice<'c>(kernel: Kernel<'c, 'c>, stores: &[Store<'c, 'c>]) -> Vec<OperationRef<'c, 'c>> {
    let Some(last) = stores.last().map(|s| s.op()) else {
        return vec![];
    };
    let block = last.block();
    let mut open: Vec<V> = stores.iter().map(|s| s.value()).collect();
    let mut found: BTreeSet<usize> = BTreeSet::new();
    let key = |op: OperationRef<'c, 'c>| op.to_raw().ptr as usize;
    while let Some(v) = open.pop() {
        let Some(op) = v.defining_op().filter(|op| op.block() == block) else {
            continue;
        };
        let tiles: Vec<V> = op
            .operand_values()
            .into_iter()
            .filter(|o| o.r#type().is_ranked_tensor_type())
            .collect();
        let by_columns = op.has_trait(Trait::Elementwise)
            && op.region_count() == 0
            && op.result_count() == 1
            && tiles.iter().all(|t| t.r#type().shape() == v.r#type().shape());
        let made_anew = op.is::<Splat>() || op.full_name() == "arith.constant" && is_splat(op);
        let moves = || {
            op.cast::<Load>().is_some_and(|load| {
                let is_plain = load.pad().is_none() && load.mask().is_none() && load.pass_thru().is_none();
                is_plain && may_move(kernel, load, stores)
            })
        };
        if (by_columns || made_anew || moves()) && found.insert(key(op)) {
            open.extend(tiles);
        }
    }
    let ops = block.map(|b| b.op_list()).unwrap_or_default();
    ops.into_iter().filter(|op| found.contains(&key(*op))).collect()
}

/// Whether pieces of a tile may be loaded between the stores of pieces: the kernel writes there nothing else than these do, at
/// the same place, or nothing between the load and the stores.
fn may_move<'c>(kernel: Kernel<'c, 'c>, load: Load<'c, 'c>, stores: &[Store<'c, 'c>]) -> bool {
    let memory = load.source();
    if !is_global(memory.r#type()) || has_overlaps(memory) {
        return false;
    }
    let meets = stores.iter().filter(|store| may_alias(store.destination(), memory));
    let in_place = |store: &Store<'c, 'c>| store.destination() == memory && store.indices() == load.indices();
    let in_place = meets.into_iter().all(in_place);
    let is_own = |op: OperationRef<'c, 'c>| stores.iter().any(|s| s.op() == op);
    let ops = kernel.op().nested_ops().into_iter();
    let mut writers = ops.filter(|op| op.region_count() == 0 && may_write(*op, memory));
    let first = stores[0].op();
    let between = load.op().block().map(|b| b.op_list()).unwrap_or_default();
    let mut between = between
        .into_iter()
        .skip_while(|op| *op != load.op())
        .take_while(|op| *op != first);
    let is_released = between.any(|op| op.nested_ops().into_iter().any(releases));
    in_place && (writers.all(is_own) && !is_released || written_between(load.op(), first).is_none())
}

/// A load or a store of a tile.
struct Access<'c> {
    memory: V<'c>,
    /// The index along the columns.
    column: V<'c>,
    bytes: i64,
}

impl<'c> Access<'c> {
    fn of(op: OperationRef<'c, 'c>) -> Option<Self> {
        let (memory, indices, tile) = if let Some(load) = op.cast::<Load>() {
            (load.source(), load.indices(), load.result())
        } else {
            let store = op.cast::<Store>()?;
            (store.destination(), store.indices(), store.value())
        };
        Some(Access {
            memory,
            column: *indices.get(1)?,
            bytes: element_bits(tile.r#type())? as i64 / 8,
        })
    }
    /// Elements that a thread moves at once.
    fn vector(&self) -> i64 {
        VECTOR_BYTES as i64 / self.bytes
    }
    /// Whether whole lines serve pieces of so many columns, as far as is known before the kernel runs.
    fn fits_lines(&self, width: i64) -> bool {
        let strides = self.memory.r#type().strides_and_offset().map(|(strides, _)| strides);
        let along = width / self.vector();
        self.bytes <= 2
            && (2..=32).contains(&along)
            && strides.is_some_and(|s| s.get(1) == Some(&1))
            && known_multiple(self.column) % self.vector() == 0
    }
}

/// A piece while it is written.
struct Piece<'c, 'e> {
    of: &'e Epilogue<'c>,
    /// Its first column.
    column: i64,
    lines: bool,
    /// Values of the whole, and of the piece.
    known: Vec<(V<'c>, V<'c>)>,
}

impl<'c> Piece<'c, '_> {
    /// `t` with the piece's columns, and a layout where one is given.
    fn part(&self, t: Type<'c>, layout: Option<Attribute<'c>>) -> Type<'c> {
        let (shape, element) = ([self.of.rows, self.of.width], t.element_type().unwrap_or(t));
        // SAFETY: the element type is that of a ranked tensor, and a layout has two axes.
        unsafe {
            let layout = layout.map_or(mlirAttributeGetNull(), |l| l.to_raw());
            Type::from_raw(mlirRankedTensorTypeGet(2, shape.as_ptr(), element.to_raw(), layout))
        }
    }
    fn get(&mut self, e: &Emit<'c, '_>, v: V<'c>) -> V<'c> {
        if let Some((_, piece)) = self.known.iter().find(|(whole, _)| *whole == v) {
            return *piece;
        }
        let t = self.part(v.r#type(), None);
        let piece = match self.of.width == self.of.columns {
            true => v,
            false => e
                .insert(ExtractSlice::build(
                    e.loc(),
                    t,
                    v,
                    &[],
                    None,
                    vec![0, self.column],
                    None,
                ))
                .result0(),
        };
        self.known.push((v, piece));
        piece
    }
    fn indices(&self, e: &Emit<'c, '_>, whole: &[V<'c>]) -> Vec<V<'c>> {
        vec![whole[0], e.offset(whole[1], self.column)]
    }
    /// The elements that go together where an access goes in lines.
    fn vector(&self, op: OperationRef<'c, 'c>) -> Option<i64> {
        let access = Access::of(op).filter(|a| self.lines && a.fits_lines(self.of.width))?;
        Some(access.vector())
    }

    /// Does an op of the whole for the piece.
    fn again(&mut self, e: &Emit<'c, '_>, op: OperationRef<'c, 'c>) {
        let whole = op.result0();
        let t = self.part(whole.r#type(), None);
        let loc = op.location();
        if let Some(load) = op.cast::<Load>() {
            let at = self.indices(e, &load.indices());
            let vector = self.vector(op);
            let own = vector.map_or(t, |v| self.part(t, Some(self.of.rows_layout(e, v))));
            let made = Load::build(
                loc,
                own,
                load.source(),
                &at,
                None,
                None,
                None,
                None,
                vector,
                load.cache(),
            );
            let mut piece = e.insert(made).result0();
            if vector.is_some() {
                piece = e.insert(ConvertLayout::build(loc, t, piece, None, false)).result0();
            }
            return self.known.push((whole, piece));
        }
        let operands = op.operand_values();
        let operands: Vec<V> = operands
            .into_iter()
            .map(|v| match v.r#type().is_ranked_tensor_type() {
                true => self.get(e, v),
                false => v,
            })
            .collect();
        // SAFETY: the clone is detached; operands and the result get the piece's type together.
        let copy = unsafe {
            let copy = Operation::from_raw(mlirOperationClone(op.to_raw()));
            for (i, v) in operands.iter().enumerate() {
                mlirOperationSetOperand(copy.to_raw(), i as isize, v.to_raw());
            }
            mlirValueSetType(mlirOperationGetResult(copy.to_raw(), 0), t.to_raw());
            if let Some(value) = copy.attr("value").filter(|_| op.full_name() == "arith.constant") {
                let one = mlirDenseElementsAttrGetSplatValue(value.to_raw());
                copy.set_attr(
                    "value",
                    Attribute::from_raw(mlirDenseElementsAttrSplatGet(t.to_raw(), one)),
                );
            }
            copy
        };
        self.known.push((whole, e.insert(copy).result0()));
    }

    fn store(&mut self, e: &Emit<'c, '_>, store: Store<'c, 'c>) {
        let (loc, vector) = (store.op().location(), self.vector(store.op()));
        let mut piece = self.get(e, store.value());
        if let Some(v) = vector {
            let t = self.part(piece.r#type(), Some(self.of.rows_layout(e, v)));
            piece = e.insert(ConvertLayout::build(loc, t, piece, None, false)).result0();
        }
        let at = self.indices(e, &store.indices());
        e.insert(Store::build(
            loc,
            piece,
            store.destination(),
            &at,
            None,
            None,
            vector,
            store.cache(),
        ));
    }
}
