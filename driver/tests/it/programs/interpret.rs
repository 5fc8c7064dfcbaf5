//! What a program does, by the meaning of its ops alone: tiles are row-major lists of numbers, blocks run one after the
//! other, and no thread is in sight.
//!
//! A program whose result would depend on an order that nothing prescribes, or on something undefined, is [`Invalid`]: a
//! store to what another block reads, two elements of a tile stored to one place, sums of floats that are rounded, a
//! conversion of what does not fit. What one block does to memory it does in the order of its ops.
use super::{
    atomics::{Atomic, in_shared},
    number::{self, signed, wrapped},
    program::{Argument, Base, Condition, Content, Dice, Id, Index, Kind, Number, Op, Program, Region, Start, View},
    pure::pure,
};
use girih_core::{dtype::DType, number::to_bits};
use girih_runtime::array::{Array, Layout};
use std::{collections::HashSet, rc::Rc};

/// Why a program has no one result.
#[derive(Debug)]
pub struct Invalid(pub String);

pub(super) type Result<T> = std::result::Result<T, Invalid>;

pub(super) fn invalid<T>(why: impl Into<String>) -> Result<T> {
    Err(Invalid(why.into()))
}

/// The argument as it is before the launch.
pub fn array(argument: &Argument) -> Array {
    let numbers = |list: &[i64]| list.iter().map(|n| *n as u64).collect::<Vec<_>>();
    let layout = Layout::new(
        &numbers(&argument.shape),
        &numbers(&argument.strides),
        argument.offset_bytes,
    );
    let layout = layout.expect("drawn sizes are small");
    let (dtype, bytes) = (argument.dtype, argument.dtype.bytes() as usize);
    let mut array = Array::filled(dtype, layout, 0xAA).expect("memory");
    if argument.content == Content::Poison {
        return array;
    }
    let mut dice = Dice(argument.seed);
    let [odd, first] = [dice.next() | 1, dice.next()];
    let mut packed = vec![];
    for n in 0..array.len() {
        let bits = match argument.content {
            Content::Small(_) | Content::Wide if dtype == DType::I1 => dice.next() & 1,
            Content::Small(m) => to_bits(dtype, dice.range(-m, m) as f64),
            Content::Wide if dtype.is_float() && dice.chance(2, 3) => {
                let step = dice.pick(&[1.0, 0.25, 1.0 / 1024.0, 1e-7]);
                number::rounded(dtype, dice.range(-4096, 4096) as f64 * step)
            }
            Content::Wide => dice.next(),
            Content::Rows(rows) => dice.range(-3, rows + 3) as u64,
            Content::Order(rows) => {
                let of = (rows.max(1) as u64).next_power_of_two();
                if n < of {
                    n.wrapping_mul(odd).wrapping_add(first) % of
                } else {
                    u64::MAX
                }
            }
            Content::Poison => 0,
        };
        packed.extend_from_slice(&bits.to_le_bytes()[..bytes]);
    }
    assert!(array.set_packed_bytes(&packed));
    array
}

/// All arguments before the launch.
pub fn arrays(program: &Program) -> Vec<Array> {
    program.arguments.iter().map(array).collect()
}

/// All arguments after the launch.
pub fn interpret(program: &Program) -> Result<Vec<Array>> {
    let mut machine = Machine::new(program.blocks);
    machine.run(program, &program.ops)?;
    Ok(machine.memory.iter().map(|m| m.array.clone()).collect())
}

pub(super) type Elements = Rc<Vec<u64>>;

/// What one block knows.
#[derive(Clone, Default)]
struct Block {
    number: i64,
    values: Vec<Option<Elements>>,
    counters: Vec<i64>,
}

/// Which blocks have been at a place, each a bit.
#[derive(Clone, Copy, Default)]
struct Visits {
    /// By loads, by stores, and by atomic operations that show which came first.
    ordered: u8,
    /// Of these, other than by loads.
    changed: u8,
    /// By atomic operations of one kind, in any order.
    combined: u8,
    /// That kind; none once there are two.
    kind: Option<&'static str>,
}

impl Visits {
    /// Whether a block may read the place.
    fn read(&mut self, block: u8) -> bool {
        self.ordered |= block;
        (self.changed | self.combined) & !block == 0
    }
    /// Whether a block may change it, all that it did there before being done.
    fn change(&mut self, block: u8) -> bool {
        let alone = (self.ordered | self.combined) & !block == 0;
        self.ordered |= block;
        self.changed |= block;
        alone
    }
    /// Whether a block may combine something with it, whatever others combine.
    fn combine(&mut self, block: u8, kind: &'static str) -> bool {
        if self.combined == 0 {
            self.kind = Some(kind);
        } else if self.kind != Some(kind) {
            self.kind = None;
        }
        self.combined |= block;
        self.ordered & !block == 0 && (self.combined == block || self.kind.is_some() && self.ordered == 0)
    }
}

/// An argument, and for each of its bytes who has been at the element that starts there.
#[derive(Clone)]
struct Memory {
    array: Array,
    visits: Vec<Visits>,
}

/// Memory and the blocks of a launch.
#[derive(Clone)]
pub struct Machine {
    /// The arguments; copies share what they do not change.
    memory: Vec<Rc<Memory>>,
    blocks: Vec<Block>,
}

impl Machine {
    /// Of a launch of so many blocks.
    pub fn new(blocks: i64) -> Self {
        let block = |number| Block {
            number,
            ..Block::default()
        };
        Machine {
            memory: vec![],
            blocks: (0..blocks).map(block).collect(),
        }
    }

    /// Runs ops in every block, after those that ran before.
    pub fn run(&mut self, program: &Program, ops: &[Op]) -> Result<()> {
        for argument in &program.arguments[self.memory.len()..] {
            let array = array(argument);
            let visits = vec![Visits::default(); array.bytes().len()];
            self.memory.push(Rc::new(Memory { array, visits }));
        }
        let mut blocks = std::mem::take(&mut self.blocks);
        let done = blocks.iter_mut().try_for_each(|block| {
            block.values.resize(program.tiles.len(), None);
            block.counters.clear();
            self.ops(program, block, ops)
        });
        self.blocks = blocks;
        done
    }

    fn ops(&mut self, p: &Program, block: &mut Block, ops: &[Op]) -> Result<()> {
        ops.iter().try_for_each(|op| self.op(p, block, op))
    }

    fn op(&mut self, p: &Program, block: &mut Block, op: &Op) -> Result<()> {
        let mut operands: Vec<Elements> = op.operands.iter().map(|id| block.get(*id)).collect::<Result<_>>()?;
        let tile = |id: &Id| &p.tiles[*id];
        let from = op.operands.first().map(tile);
        let to = op.results.first().map(tile);
        let in_type = |n: usize| tile(&op.operands[n]).dtype;
        let mask = if op.masked { operands.pop() } else { None };
        let mask = mask.as_deref().map(|m| &m[..]);
        let view = op.view.as_ref().map(|view| block.seen(p, view));
        let results: Vec<Vec<u64>> = match &op.kind {
            Kind::Load { argument, at, pad } => {
                let to = to.expect("a load has a result");
                let places = self.places(*argument, &block.place(p, at), view, None, &to.shape, mask)?;
                let outside = operands.first().map(|other| &other[..]);
                vec![self.load(block, *argument, places, pad.unwrap_or(0), outside)?]
            }
            Kind::Gather { argument, at, pad } => {
                let to = to.expect("a gather has a result");
                let rows = (in_type(0), &**operands.first().expect("rows"));
                let places = self.places(*argument, &block.place(p, at), None, Some(rows), &to.shape, mask)?;
                vec![self.load(block, *argument, places, pad.unwrap_or(0), None)?]
            }
            Kind::Store { argument, at } => {
                let shape = &from.expect("a tile").shape;
                let places = self.places(*argument, &block.place(p, at), view, None, shape, mask)?;
                self.store(block, *argument, places, &operands[0], None)?;
                vec![]
            }
            Kind::Scatter { argument, at } => {
                let (shape, rows) = (&from.expect("a tile").shape, (in_type(1), &*operands[1]));
                let places = self.places(*argument, &block.place(p, at), None, Some(rows), shape, mask)?;
                self.store(block, *argument, places, &operands[0], None)?;
                vec![]
            }
            Kind::Atomic { argument, at, kind } => {
                let others = 1 + usize::from(*kind == "cas");
                let rows = operands.get(others).map(|r| (in_type(others), &**r));
                let atomic = Atomic {
                    kind,
                    compare: operands.get(1).filter(|_| *kind == "cas").map(|c| c.as_slice()),
                    is_seen: !op.results.is_empty(),
                };
                let shape = &from.expect("a tile").shape;
                let places = self.places(*argument, &block.place(p, at), None, rows, shape, mask)?;
                vec![self.store(block, *argument, places, &operands[0], Some(atomic))?]
            }
            Kind::Shared { at, kind, .. } => {
                let others = 2 + usize::from(*kind == "cas");
                let rows = operands.get(others).map(|r| (in_type(others), &r[..]));
                let atomic = Atomic {
                    kind,
                    compare: operands.get(2).filter(|_| *kind == "cas").map(|c| c.as_slice()),
                    is_seen: op.results.len() > 1,
                };
                let (memory, tile) = (from.expect("a buffer"), tile(&op.operands[1]));
                let starts = block.place(p, at);
                let (after, met) = in_shared(
                    &atomic,
                    (memory, &operands[0]),
                    (tile, &operands[1]),
                    &starts,
                    rows,
                    mask,
                )?;
                [after, met].into_iter().take(op.results.len()).collect()
            }
            Kind::For { trips, .. } => {
                let region = &op.regions[0];
                let mut carried = operands;
                for i in 0..block.base(p, *trips) {
                    block.counters.push(i);
                    carried = self.region(p, block, region, &carried)?;
                    block.counters.pop();
                }
                carried.iter().map(|c| c.to_vec()).collect()
            }
            Kind::If { condition } => {
                let holds = match condition {
                    Condition::Odd(number) => block.number(p, *number) & 1 == 1,
                    Condition::Tile => operands[0][0] != 0,
                };
                let chosen = self.region(p, block, &op.regions[usize::from(!holds)], &[])?;
                chosen.iter().map(|c| c.to_vec()).collect()
            }
            Kind::Switch(number) => {
                let last = op.regions.len() - 1;
                let case = usize::try_from(block.number(p, *number)).map_or(last, |n| n.min(last));
                let chosen = self.region(p, block, &op.regions[case], &[])?;
                chosen.iter().map(|c| c.to_vec()).collect()
            }
            Kind::Spread(number) => {
                let to = to.expect("a splat has a result");
                vec![vec![
                    wrapped(to.dtype, block.number(p, *number) as u64);
                    to.elements() as usize
                ]]
            }
            Kind::Slice { at, strides } => {
                let (shape, part) = (&from.expect("a tile").shape, &to.expect("a part").shape);
                let starts = block.starts(p, at);
                let one = |n: i64| {
                    let place = inside(&coordinates(n, part), &starts, strides, shape)?;
                    Some(operands[0][place])
                };
                vec![(0..part.iter().product()).map(|n| one(n).unwrap_or(0)).collect()]
            }
            Kind::Insert { at, strides } => {
                let (part, shape) = (&from.expect("a part").shape, &to.expect("a tile").shape);
                let starts = block.starts(p, at);
                let mut all = operands[1].to_vec();
                for (n, bits) in operands[0].iter().enumerate() {
                    if let Some(place) = inside(&coordinates(n as i64, part), &starts, strides, shape) {
                        all[place] = *bits;
                    }
                }
                vec![all]
            }
            _ => pure(p, op, &operands)?,
        };
        for (id, list) in op.results.iter().zip(results) {
            if list.len() as i64 != p.tiles[*id].elements() {
                return invalid("a result of another size");
            }
            block.values[*id] = Some(Rc::new(list));
        }
        Ok(())
    }

    fn region(
        &mut self,
        p: &Program,
        block: &mut Block,
        region: &Region,
        arguments: &[Elements],
    ) -> Result<Vec<Elements>> {
        for (id, list) in region.arguments.iter().zip(arguments) {
            block.values[*id] = Some(list.clone());
        }
        self.ops(p, block, &region.ops)?;
        region.yields.iter().map(|id| block.get(*id)).collect()
    }

    /// Byte position of each element of a tile in an argument; `None` for what is outside or masked off.
    fn places(
        &self,
        n: usize,
        at: &[i64],
        view: Option<Seen<'_>>,
        rows: Option<(DType, &Vec<u64>)>,
        shape: &[i64],
        mask: Option<&[u64]>,
    ) -> Result<Vec<Option<usize>>> {
        let array = &self.memory[n].array;
        let rank = array.shape().len();
        if shape.len() != rank || at.len() + usize::from(rows.is_some()) != rank {
            return invalid("a tile of another rank");
        }
        if view.as_ref().is_some_and(|view| !view.is_inside(array.shape())) {
            return invalid("a view of what is not there");
        }
        let count: i64 = shape.iter().product();
        Ok((0..count)
            .map(|e| {
                if mask.is_some_and(|m| m[e as usize] & 1 == 0) {
                    return None;
                }
                let own = coordinates(e, shape);
                let index: Vec<i64> = match rows {
                    Some((dtype, numbers)) => {
                        let row = signed(dtype, *numbers.get(own[0] as usize)?);
                        [row]
                            .into_iter()
                            .chain(own[1..].iter().zip(at).map(|(c, a)| c + a))
                            .collect()
                    }
                    None => own.iter().zip(at).map(|(c, a)| c + a).collect(),
                };
                let index = match &view {
                    Some(view) => view.index(&index)?,
                    None => index,
                };
                let index: Option<Vec<u64>> = index.iter().map(|i| u64::try_from(*i).ok()).collect();
                let place = array.layout().byte_position(array.dtype(), &index?)?;
                Some(place as usize)
            })
            .collect())
    }

    /// Elements outside are as those of another tile, if there is one, or the padding.
    fn load(
        &mut self,
        block: &Block,
        n: usize,
        places: Vec<Option<usize>>,
        pad: u64,
        outside: Option<&[u64]>,
    ) -> Result<Vec<u64>> {
        let Memory { array, visits } = Rc::make_mut(&mut self.memory[n]);
        let size = array.dtype().bytes() as usize;
        let mut list = vec![pad; places.len()];
        for (i, place) in places.into_iter().enumerate() {
            list[i] = match place {
                None => outside.map_or(pad, |tile| tile[i]),
                Some(place) if !visits[place].read(block.bit()) => return invalid("reads what another block writes"),
                Some(place) => number_at(&array.bytes()[place..place + size]),
            };
            if array.dtype() == DType::I1 && list[i] > 1 {
                return invalid("neither true nor false");
            }
        }
        Ok(list)
    }

    fn store(
        &mut self,
        block: &Block,
        n: usize,
        places: Vec<Option<usize>>,
        from: &[u64],
        atomic: Option<Atomic<'_>>,
    ) -> Result<Vec<u64>> {
        let Memory { array, visits } = Rc::make_mut(&mut self.memory[n]);
        let (dtype, size) = (array.dtype(), array.dtype().bytes() as usize);
        let mut met = vec![0; from.len()];
        let mut touched = HashSet::new();
        for (i, (bits, place)) in from.iter().zip(places).enumerate() {
            let Some(place) = place else { continue };
            let free = match atomic.as_ref().filter(|a| !a.shows_order()) {
                Some(a) => visits[place].combine(block.bit(), a.kind),
                None => visits[place].change(block.bit()) && touched.insert(place),
            };
            if !free {
                return invalid("what nothing orders changes one place");
            }
            let bytes = &mut array.bytes_mut()[place..place + size];
            met[i] = number_at(bytes);
            let new = match &atomic {
                None => *bits,
                Some(a) => a.combined(dtype, met[i], *bits, i)?,
            };
            bytes.copy_from_slice(&new.to_le_bytes()[..size]);
        }
        Ok(met)
    }
}

/// The number that these bytes are, the lowest first.
fn number_at(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, b| bits << 8 | u64::from(*b))
}

/// Coordinates of the element with this number in the row-major list.
pub(super) fn coordinates(mut n: i64, shape: &[i64]) -> Vec<i64> {
    let mut at = vec![0; shape.len()];
    for (c, size) in at.iter_mut().zip(shape).rev() {
        *c = n % size;
        n /= size;
    }
    at
}

/// Number of an element in the row-major list.
pub(super) fn place(at: &[i64], shape: &[i64]) -> usize {
    at.iter().zip(shape).fold(0, |n, (c, size)| n * size + c) as usize
}

/// Number of the element of a tile that an element of a part of it is.
pub(super) fn inside(at: &[i64], starts: &[i64], strides: &[i64], shape: &[i64]) -> Option<usize> {
    let at: Vec<i64> = at
        .iter()
        .zip(starts)
        .zip(strides)
        .map(|((c, start), by)| start.saturating_add(by * c))
        .collect();
    at.iter()
        .zip(shape)
        .all(|(c, size)| (0..*size).contains(c))
        .then(|| place(&at, shape))
}

/// A view as a block sees it: where it starts, and its sizes, along the axes of the argument.
struct Seen<'p> {
    view: &'p View,
    at: Vec<i64>,
    sizes: Vec<i64>,
}

impl Seen<'_> {
    /// Whether all of its elements are those of an argument with these sizes.
    fn is_inside(&self, shape: &[u64]) -> bool {
        let axes = self.at.iter().zip(&self.sizes).zip(&self.view.steps);
        axes.zip(shape).all(|(((at, size), step), whole)| {
            let last = at + step * (size - 1);
            *size > 0 && [*at, last].iter().all(|c| (0..*whole as i64).contains(c))
        }) && self.at.len() == shape.len()
    }
    /// The index in the argument of an element of the view, if it has it.
    fn index(&self, of: &[i64]) -> Option<Vec<i64>> {
        let mut index = vec![0; of.len()];
        for (axis, i) in self.view.order.iter().zip(of) {
            if !(0..self.sizes[*axis]).contains(i) {
                return None;
            }
            index[*axis] = self.at[*axis] + self.view.steps[*axis] * i;
        }
        Some(index)
    }
}

impl Block {
    fn seen<'p>(&self, p: &Program, view: &'p View) -> Seen<'p> {
        Seen {
            view,
            at: self.starts(p, &view.at),
            sizes: view.sizes.iter().map(|size| self.base(p, *size)).collect(),
        }
    }
    /// The bit that stands for it.
    fn bit(&self) -> u8 {
        1 << self.number
    }
    fn starts(&self, p: &Program, at: &[Start]) -> Vec<i64> {
        let start = |s: &Start| match s {
            Start::Written(n) => *n,
            Start::Index(index) => self.place(p, &[*index])[0],
        };
        at.iter().map(start).collect()
    }
    fn get(&self, id: Id) -> Result<Elements> {
        let found = self.values.get(id).and_then(Clone::clone);
        found.ok_or_else(|| Invalid("a tile that is not there".into()))
    }
    fn base(&self, p: &Program, base: Base) -> i64 {
        match base {
            Base::Constant(n) => n,
            Base::Scalar(n) => p.scalars[n],
        }
    }
    fn number(&self, p: &Program, number: Number) -> i64 {
        match number {
            Number::Scalar(n) => p.scalars[n],
            Number::Counter => self.counters.last().copied().unwrap_or(0),
            Number::Block => self.number,
        }
    }
    fn place(&self, p: &Program, at: &[Index]) -> Vec<i64> {
        let counter = self.counters.last().copied().unwrap_or(0);
        let index = |i: &Index| self.base(p, i.base) + i.block * self.number + i.counter * counter;
        at.iter().map(index).collect()
    }
}
