//! Arguments, and what is loaded from them and stored to them.
use super::{
    super::{
        number::wrapped,
        program::{Argument, Base, Content, Dice, Id, Index, Kind, Op, Start, Tile, View},
    },
    Draw,
};
use girih_core::dtype::DType;

/// Most elements of an argument.
const MOST_ELEMENTS: i64 = 1 << 15;
/// Most bytes of a buffer in shared memory, of which a program may have several.
const MOST_SHARED_BYTES: i64 = 1 << 13;

/// Whether memory of this type can be combined with.
fn takes_atomics(dtype: DType) -> bool {
    ![DType::I1, DType::I8, DType::E4m3, DType::E5m2].contains(&dtype)
}

/// Accesses of whole tiles by their places: the argument, where, and the tile.
fn accesses(ops: &[Op]) -> Vec<(usize, Vec<Index>, Id)> {
    let mut found = vec![];
    for op in ops.iter().filter(|op| op.view.is_none()) {
        let tile = op.results.first().or(op.operands.first());
        match (&op.kind, tile) {
            (Kind::Load { argument, at, .. }, Some(tile)) => found.push((*argument, at.clone(), *tile)),
            (Kind::Store { argument, at }, _) => found.push((*argument, at.clone(), op.operands[0])),
            _ => {}
        }
        found.extend(op.regions.iter().flat_map(|r| accesses(&r.ops)));
    }
    found
}

/// Sizes along a view's axes as sizes along its argument's.
fn turned_back(order: &[usize], sizes: &[i64]) -> Vec<i64> {
    let mut own = sizes.to_vec();
    order.iter().zip(sizes).for_each(|(axis, size)| own[*axis] = *size);
    own
}

/// Lets the last op, a load or store, go through a view.
fn see_through(ops: &mut [Op], view: Option<View>) {
    if let Some(access) = ops.last_mut() {
        access.view = view;
    }
}

impl Draw {
    pub(super) fn content(&mut self, dtype: DType) -> Content {
        let small = if matches!(dtype, DType::E4m3 | DType::E5m2 | DType::F16 | DType::Bf16) {
            2
        } else {
            9
        };
        if self.dice.chance(2, 3) {
            Content::Small(small)
        } else {
            Content::Wide
        }
    }

    /// A memref; `repeated` axes have no two elements at one place.
    pub(super) fn argument(&mut self, dtype: DType, shape: &[i64], content: Content) -> usize {
        let rank = shape.len();
        let mut order: Vec<usize> = (0..rank).rev().collect();
        match self.dice.below(6) {
            0 => order.reverse(),
            1 => {
                for i in (1..rank).rev() {
                    order.swap(i, self.dice.below(i + 1));
                }
            }
            _ => {}
        }
        let mut strides = vec![0; rank];
        let mut stride = if self.dice.chance(1, 12) {
            self.dice.range(2, 3)
        } else {
            1
        };
        for axis in &order {
            strides[*axis] = stride;
            stride *= shape[*axis].max(1);
            stride += match self.dice.below(6) {
                0 => self.dice.range(1, 5),
                1 => (stride + 15) / 16 * 16 - stride,
                _ => 0,
            };
        }
        let mut tight = vec![1; rank];
        for axis in (1..rank).rev() {
            tight[axis - 1] = tight[axis] * shape[axis].max(1);
        }
        let plain = strides == tight && self.dice.chance(1, 2);
        let mode = self.dice.below(4);
        let flags = |dice: &mut Dice, unit: bool| match mode {
            0 => false,
            1 => dice.chance(1, 2),
            _ => !unit || dice.chance(1, 20),
        };
        let dynamic_sizes = (0..rank).map(|_| flags(&mut self.dice, false)).collect();
        let dynamic_strides = strides.iter().map(|s| flags(&mut self.dice, *s == 1)).collect();
        let offset = if self.dice.chance(1, 4) {
            self.dice.below(9) as u64
        } else {
            0
        };
        let seed = self.dice.next();
        self.program.arguments.push(Argument {
            dtype,
            shape: shape.to_vec(),
            strides,
            dynamic_sizes,
            dynamic_strides,
            plain,
            offset_bytes: offset * dtype.bytes(),
            content,
            seed,
        });
        self.program.arguments.len() - 1
    }

    /// A size of memory that a tile of `size` goes along, `reach` beyond it.
    pub(super) fn extent(&mut self, size: i64, reach: i64) -> i64 {
        let whole = size + reach;
        match self.dice.below(8) {
            0 => (whole - self.dice.range(0, 3)).max(1),
            1 => self.dice.range(1, whole),
            2 => whole + self.dice.range(1, 5),
            3 if self.dice.chance(1, 6) => 0,
            4 => (whole - size / 4).max(1),
            _ => whole,
        }
    }

    /// Sizes and indices of an access; `counted` with the number of passes of the loop around.
    pub(super) fn access(&mut self, shape: &[i64], passes: i64, disjoint: bool) -> (Vec<i64>, Vec<Index>) {
        let (blocks, rank) = (self.program.blocks, shape.len());
        let (mut sizes, mut at) = (vec![], vec![]);
        let block_axis = self.dice.below(rank);
        let loop_axis = self.dice.below(rank);
        let moves_block = blocks > 1 && (disjoint || self.dice.chance(1, 2));
        let moves_loop = passes > 0 && (disjoint || self.dice.chance(3, 4));
        for (axis, size) in shape.iter().copied().enumerate() {
            let mut index = Index {
                base: Base::Constant(0),
                block: 0,
                counter: 0,
            };
            let mut reach = 0;
            if moves_loop && axis == loop_axis {
                index.counter = size;
                reach += size * (passes - 1).max(0);
            }
            if moves_block && axis == block_axis {
                index.block = size + reach;
                reach += (size + reach) * (blocks - 1);
            }
            let start = match self.dice.below(8) {
                0 => self.dice.range(1, 4),
                1 => -self.dice.range(1, size + 1),
                2 => self.dice.pick(&[8, 16]),
                3 if self.dice.chance(1, 4) => size * 3,
                _ => 0,
            };
            if start != 0 || self.dice.chance(1, 4) {
                index.base = self.base(start);
            }
            sizes.push(self.extent(size, reach + start.max(0)));
            at.push(index);
        }
        (sizes, at)
    }

    pub(super) fn load(&mut self, ops: &mut Vec<Op>, tile: &Tile, passes: i64) -> Id {
        let (sizes, at) = self.access(&tile.shape, passes, false);
        let content = self.content(tile.dtype);
        let through = self.dice.chance(1, 7).then(|| self.order(tile.shape.len()));
        // A view's axes as those of its argument.
        let sizes = match &through {
            Some(order) => turned_back(order, &sizes),
            None => sizes,
        };
        let known: Vec<usize> = (0..self.program.arguments.len())
            .filter(|i| {
                let a = &self.program.arguments[*i];
                a.dtype == tile.dtype
                    && a.shape.len() == tile.shape.len()
                    && matches!(a.content, Content::Small(_) | Content::Wide)
            })
            .collect();
        let few = sizes.iter().product::<i64>() <= MOST_ELEMENTS;
        let argument = match known.is_empty() || few && self.dice.chance(2, 3) {
            true => self.argument(tile.dtype, &sizes, content),
            false => self.dice.pick(&known),
        };
        let view = through.and_then(|order| self.view(argument, order));
        let pad = self.dice.chance(1, 3).then(|| self.bits(tile.dtype));
        let pass_thru = (pad.is_none() && self.dice.chance(1, 6)).then(|| self.source(ops, tile));
        let kind = Kind::Load { argument, at, pad };
        let id = self.make(ops, kind, pass_thru.as_slice(), tile.dtype, &tile.shape);
        see_through(ops, view);
        self.may_mask(ops, &tile.shape);
        id
    }

    /// An order of axes: as they are, or exchanged.
    fn order(&mut self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        if self.dice.chance(1, 2) {
            self.dice.shuffle(&mut order);
        }
        order
    }

    /// A view of an argument: all of it or a part, from a number that the text says or an index, in steps of either sign.
    pub(super) fn view(&mut self, argument: usize, order: Vec<usize>) -> Option<View> {
        let shape = self.program.arguments[argument].shape.clone();
        let blocks = self.program.blocks;
        let (mut at, mut sizes, mut steps) = (vec![], vec![], vec![]);
        for whole in shape {
            if whole == 0 {
                return None;
            }
            let step = self.dice.pick(&[1_i64, 1, 1, 1, 1, 1, 2, -1]);
            // From there to the end, and further on in each block.
            let skipped = self.dice.pick(&[0, 0, 0, 1, 3, 4, 8, 16]).min(whole - 1);
            let by_block = self.dice.pick(&[0, 0, 0, 0, 1, 8]);
            let rest = whole - skipped - by_block * (blocks - 1);
            if rest < 1 {
                return None;
            }
            let most = (rest - 1) / step.abs() + 1;
            let size = match self.dice.below(4) {
                0 => self.dice.range(1, most),
                _ => most,
            };
            let (start, by_block) = match step {
                -1 => (whole - 1 - skipped, -by_block),
                _ => (skipped, by_block),
            };
            at.push(match by_block == 0 && self.dice.chance(1, 2) {
                true => Start::Written(start),
                false => Start::Index(Index {
                    base: self.base(start),
                    block: by_block,
                    counter: 0,
                }),
            });
            sizes.push(self.base(size));
            steps.push(step);
        }
        Some(View {
            at,
            sizes,
            steps,
            order,
        })
    }

    /// Ops that read what the program stored, or change what it read: an access that there is already, or one near it.
    pub(super) fn again(&mut self, pool: &[Id], passes: i64) -> Option<Vec<Op>> {
        let mut known = accesses(&self.program.ops);
        let content = |argument: usize| self.program.arguments[argument].content;
        known.retain(|a| matches!(content(a.0), Content::Small(_) | Content::Wide | Content::Poison));
        let stored: Vec<_> = known
            .iter()
            .filter(|a| content(a.0) == Content::Poison)
            .cloned()
            .collect();
        if !stored.is_empty() && self.dice.chance(2, 3) {
            known = stored;
        } else if known.is_empty() {
            return None;
        }
        let (argument, at, tile) = known[self.dice.below(known.len())].clone();
        let Tile { dtype, mut shape } = self.of(tile);
        let mut at = self.near(&at, &mut shape, passes);
        let mut view = None;
        if self.dice.chance(1, 6) {
            let order = self.order(shape.len());
            view = self.view(argument, order);
        }
        if let Some(view) = &view {
            let start = |axis: usize| match view.at[axis] {
                Start::Written(n) => n,
                Start::Index(_) => 0,
            };
            // At the same place, as the view numbers it.
            for (axis, index) in at.iter_mut().enumerate() {
                if let Base::Constant(n) = index.base {
                    index.base = Base::Constant(n - start(axis));
                }
            }
            at = view.order.iter().map(|axis| at[*axis]).collect();
            shape = view.order.iter().map(|axis| shape[*axis]).collect();
        }
        let tile = Tile::new(dtype, &shape);
        let mut ops = vec![];
        let load = Kind::Load {
            argument,
            at: at.clone(),
            pad: self.dice.chance(1, 4).then(|| self.bits(dtype)),
        };
        match self.dice.below(6) {
            0 if takes_atomics(dtype) && view.is_none() => {
                let kind = self.atomic_kind(dtype);
                let mut operands = vec![self.like(&mut ops, pool, &tile)];
                if kind == "cas" {
                    operands.push(self.source(&mut ops, &tile));
                }
                let met = self.dice.chance(1, 2).then(|| self.tile(dtype, &shape));
                ops.push(Op::new(Kind::Atomic { argument, at, kind }, &operands, met.as_slice()));
                self.may_mask(&mut ops, &shape);
            }
            0 | 1 => {
                let new = self.like(&mut ops, pool, &tile);
                ops.push(Op::new(Kind::Store { argument, at }, &[new], &[]));
                see_through(&mut ops, view);
                self.may_mask(&mut ops, &shape);
            }
            2 | 3 => {
                // In place, or a little further on.
                let old = self.make(&mut ops, load, &[], dtype, &shape);
                see_through(&mut ops, view.clone());
                self.may_mask(&mut ops, &shape);
                let mut seen = pool.to_vec();
                seen.push(old);
                self.arithmetic(&mut ops, &seen, old)?;
                let made = ops.last()?.results.first().copied().filter(|id| self.of(*id) == tile)?;
                let at = match self.dice.chance(1, 2) {
                    true => at,
                    false => self.near(&at, &mut shape.clone(), passes),
                };
                ops.push(Op::new(Kind::Store { argument, at }, &[made], &[]));
                see_through(&mut ops, view);
                self.may_mask(&mut ops, &shape);
            }
            _ => {
                self.make(&mut ops, load, &[], dtype, &shape);
                see_through(&mut ops, view);
                self.may_mask(&mut ops, &shape);
            }
        }
        Some(ops)
    }

    /// Indices at or near others, for a tile of this shape, which may become another one.
    fn near(&mut self, at: &[Index], shape: &mut [i64], passes: i64) -> Vec<Index> {
        let mut at = at.to_vec();
        let axis = self.dice.below(shape.len());
        match self.dice.below(8) {
            0 => {
                let by = self.dice.pick(&[-1, 1, 3, shape[axis] / 2, -shape[axis], shape[axis]]);
                if let Base::Constant(n) = at[axis].base {
                    at[axis].base = self.base(n + by);
                }
            }
            1 => shape[axis] = (shape[axis] / 2).max(1),
            2 if shape.iter().product::<i64>() * 2 <= self.most => shape[axis] *= 2,
            3 => at[axis].block = 0,
            _ => {}
        }
        if passes > 0 && self.dice.chance(1, 2) {
            at[axis].counter = self.dice.pick(&[shape[axis], shape[axis], -shape[axis], 1, 0]);
        }
        at
    }

    /// Gives the last op, an access of a tile, a mask now and then.
    pub(super) fn may_mask(&mut self, ops: &mut Vec<Op>, shape: &[i64]) {
        if !self.dice.chance(1, 5) {
            return;
        }
        let Some(mut access) = ops.pop() else { return };
        let mask = self.mask(ops, shape);
        access.operands.push(mask);
        access.masked = true;
        ops.push(access);
    }

    /// A tile of truth values: mostly places along an axis, compared with one of them.
    fn mask(&mut self, ops: &mut Vec<Op>, shape: &[i64]) -> Id {
        if self.dice.chance(1, 4) {
            return self.source(ops, &Tile::new(DType::I1, shape));
        }
        let axis = self.dice.below(shape.len());
        let dtype = self
            .dice
            .pick(&[DType::I8, DType::I16, DType::I32, DType::I32, DType::I64]);
        let is_column = self.dice.chance(1, 3);
        let mut own = shape.to_vec();
        if is_column {
            own.fill(1);
            own[axis] = shape[axis];
        }
        let size = shape[axis];
        let bound = match self.dice.below(3) {
            0 => self.dice.range(-1, size + 1),
            1 => size / 4 * self.dice.range(0, 4),
            _ => self.dice.range(0, size) / 4 * 4,
        };
        let mut places = self.make(ops, Kind::Iota(axis), &[], dtype, &own);
        if self.dice.chance(1, 4) {
            let start = self.dice.pick(&[-8, 4, 3, 64]);
            let start = self.make(ops, Kind::Constant(wrapped(dtype, start as u64)), &[], dtype, &own);
            places = self.make(ops, Kind::Binary("arith.addi"), &[places, start], dtype, &own);
        }
        let bound = self.make(ops, Kind::Constant(wrapped(dtype, bound as u64)), &[], dtype, &own);
        let operands = match self.dice.chance(3, 4) {
            true => [places, bound],
            false => [bound, places],
        };
        let predicate = self.dice.pick(&[
            "slt", "slt", "ult", "sge", "uge", "sle", "ule", "sgt", "ugt", "ne", "eq",
        ]);
        let mut mask = self.make(ops, Kind::Compare(predicate), &operands, DType::I1, &own);
        if is_column {
            mask = self.make(ops, Kind::Broadcast, &[mask], DType::I1, shape);
        }
        if self.dice.chance(1, 4) {
            let other = self.mask(ops, shape);
            let name = self.dice.pick(&["arith.andi", "arith.ori", "arith.xori"]);
            mask = self.make(ops, Kind::Binary(name), &[mask, other], DType::I1, shape);
        }
        mask
    }

    /// Ops that store a tile to a new argument.
    pub(super) fn output(&mut self, id: Id, passes: Option<i64>) -> Vec<Op> {
        let mut ops = vec![];
        let (mut id, tile) = (id, self.of(id));
        let mut shape = tile.shape.clone();
        if shape.is_empty() {
            shape = vec![1];
            id = self.make(&mut ops, Kind::ExpandDims(0), &[id], tile.dtype, &shape);
        }
        let passes = passes.unwrap_or(0);
        let (sizes, at) = self.access(&shape, passes, true);
        let atomic = takes_atomics(tile.dtype) && self.dice.chance(1, 4);
        let by_rows = shape[0] > 1 && passes == 0 && self.dice.chance(1, 5);
        if atomic {
            let kind = self.atomic_kind(tile.dtype);
            let argument = self.argument(tile.dtype, &sizes, Content::Small(9));
            let mut operands = vec![id];
            let mut at = at;
            if kind == "cas" {
                let bits = self.bits(tile.dtype);
                operands.push(self.make(&mut ops, Kind::Constant(bits), &[], tile.dtype, &shape));
            }
            if by_rows {
                operands.push(self.rows(&mut ops, shape[0], Content::Rows(sizes[0])));
                at.remove(0);
            }
            let met = self.dice.chance(1, 2).then(|| self.tile(tile.dtype, &shape));
            ops.push(Op::new(Kind::Atomic { argument, at, kind }, &operands, met.as_slice()));
            self.may_mask(&mut ops, &shape);
            if let Some(met) = met {
                let (sizes, at) = self.access(&shape, passes, true);
                let argument = self.argument(tile.dtype, &sizes, Content::Poison);
                ops.push(Op::new(Kind::Store { argument, at }, &[met], &[]));
            }
        } else if by_rows && self.program.blocks == 1 {
            let rows = self.rows(&mut ops, shape[0], Content::Order(sizes[0].max(shape[0])));
            let argument = self.argument(tile.dtype, &sizes, Content::Poison);
            ops.push(Op::new(
                Kind::Scatter {
                    argument,
                    at: at[1..].to_vec(),
                },
                &[id, rows],
                &[],
            ));
            self.may_mask(&mut ops, &shape);
        } else {
            let through = self.dice.chance(1, 7).then(|| self.order(shape.len()));
            let sizes = match &through {
                Some(order) => turned_back(order, &sizes),
                None => sizes,
            };
            let argument = self.argument(tile.dtype, &sizes, Content::Poison);
            let view = through.and_then(|order| self.view(argument, order));
            ops.push(Op::new(Kind::Store { argument, at }, &[id], &[]));
            see_through(&mut ops, view);
            self.may_mask(&mut ops, &shape);
        }
        ops
    }

    fn atomic_kind(&mut self, dtype: DType) -> &'static str {
        match dtype.is_float() {
            true => self.dice.pick(&["add", "mul", "minimumf", "maximumf", "exch", "cas"]),
            false => self.dice.pick(&[
                "add", "add", "mul", "mins", "maxs", "minu", "maxu", "and", "or", "xor", "exch", "cas",
            ]),
        }
    }

    /// A tile that goes to shared memory and comes back, combined there with another one.
    pub(super) fn shared(&mut self, ops: &mut Vec<Op>, pool: &[Id]) -> Option<()> {
        let fits = |t: &Tile| {
            let bytes = t.elements() * t.dtype.bytes() as i64;
            takes_atomics(t.dtype) && !t.shape.is_empty() && bytes <= MOST_SHARED_BYTES
        };
        let buffer = self.such(pool, fits)?;
        let Tile { dtype, shape } = self.of(buffer);
        let kind = self.atomic_kind(dtype);
        let row_bytes = shape.last().copied().unwrap_or(1) * dtype.bytes() as i64;
        let swizzle = match row_bytes {
            32 => self.dice.pick(&["none", "auto", "32"]),
            64 => self.dice.pick(&["none", "auto", "64"]),
            128 => self.dice.pick(&["none", "auto", "128"]),
            _ => self.dice.pick(&["none", "auto"]),
        };
        let mut own = shape.clone();
        let by_rows = self.dice.chance(1, 2);
        if by_rows {
            own[0] = self.dice.pick(&[shape[0], 4, 16, 64]).min(shape[0] * 4);
        }
        let value = self.like(ops, pool, &Tile::new(dtype, &own));
        let mut operands = vec![buffer, value];
        if kind == "cas" {
            let bits = self.bits(dtype);
            operands.push(self.make(ops, Kind::Constant(bits), &[], dtype, &own));
        }
        let (_, mut at) = self.access(&own, 0, false);
        if by_rows {
            operands.push(self.rows(ops, own[0], Content::Rows(shape[0])));
            at.remove(0);
        }
        let after = self.tile(dtype, &shape);
        let mut results = vec![after];
        if self.dice.chance(1, 3) {
            results.push(self.tile(dtype, &own));
        }
        ops.push(Op::new(Kind::Shared { at, kind, swizzle }, &operands, &results));
        self.may_mask(ops, &own);
        Some(())
    }

    /// Numbers of rows.
    pub(super) fn rows(&mut self, ops: &mut Vec<Op>, count: i64, content: Content) -> Id {
        let dtype = self.dice.pick(&[DType::I32, DType::I32, DType::I64]);
        if self.dice.chance(1, 4) {
            return self.make(ops, Kind::Iota(0), &[], dtype, &[count]);
        }
        let argument = self.argument(dtype, &[count], content);
        let at = vec![Index {
            base: Base::Constant(0),
            block: 0,
            counter: 0,
        }];
        self.make(
            ops,
            Kind::Load {
                argument,
                at,
                pad: None,
            },
            &[],
            dtype,
            &[count],
        )
    }

    pub(super) fn gather(&mut self, ops: &mut Vec<Op>) -> Option<()> {
        let dtype = self.number_type();
        let rank = self.dice.pick(&[1, 2, 2, 2, 3]);
        let shape = self.shape(rank);
        let (mut sizes, mut at) = self.access(&shape, 0, false);
        sizes[0] = self.dice.range(1, 40);
        at.remove(0);
        let content = self.content(dtype);
        let argument = self.argument(dtype, &sizes, content);
        let rows = self.rows(ops, shape[0], Content::Rows(sizes[0]));
        let pad = self.dice.chance(1, 3).then(|| self.bits(dtype));
        self.make(ops, Kind::Gather { argument, at, pad }, &[rows], dtype, &shape);
        self.may_mask(ops, &shape);
        Some(())
    }
}
