//! The program of a seed. Each op is interpreted as soon as it is drawn; one that has no one result is left out again.
//!
//! | module | what it draws |
//! |---|---|
//! | `memory` | arguments, loads, stores, rows, atomic operations, in shared memory too |
//! | `ops` | arithmetic, comparisons, conversions, other shapes, reductions, scans |
//! | `flow` | loops and branches |
//! | `product` | products of matrices |
mod flow;
mod memory;
mod ops;
mod product;

use super::{
    interpret::Machine,
    number::{rounded, wrapped},
    program::{Base, Dice, Id, Kind, Number, Op, Program, Tile},
};
use girih_core::dtype::DType;

const INTEGERS: [DType; 4] = [DType::I8, DType::I16, DType::I32, DType::I64];
const FLOATS: [DType; 4] = [DType::F16, DType::Bf16, DType::F32, DType::F64];
/// The target that multiplies floats of fewer bits than a byte.
pub const LATER: &str = "sm_120a";
const BYTE_FLOATS: [DType; 2] = [DType::E4m3, DType::E5m2];
/// Most axes of a tile.
const MOST_AXES: usize = 5;
/// Most tiles that are stored.
const MOST_STORES: usize = 4;

/// The program of a seed.
pub fn draw(seed: u64) -> Program {
    let mut dice = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(1));
    let threads = dice.pick(&[32, 32, 64, 64, 64, 128, 128, 128, 128, 256, 256, 512, 1024]);
    let blocks = dice.pick(&[1, 1, 2, 3]);
    // A thread's registers are few, and instructions cost time.
    let per_thread = dice.pick(&[1, 2, 4, 8, 8, 16, 32]);
    let mut d = Draw {
        most: (i64::from(threads) * per_thread).min(8192),
        odd: dice.chance(1, 3),
        machine: Machine::new(blocks),
        program: Program {
            seed,
            target: "sm_90a",
            threads,
            blocks,
            arguments: vec![],
            scalars: vec![],
            tiles: vec![],
            ops: vec![],
        },
        dice,
    };
    let mut pool = vec![];
    if threads <= 256 && d.dice.chance(1, 5) {
        d.program.target = d
            .dice
            .pick(&["sm_90a", "sm_90a", "sm_90a", "sm_90a", "sm_80", "sm_89", "sm_90"]);
        d.attempt(&mut pool, |d, _| d.product());
        for _ in 0..d.dice.pick(&[0, 0, 1, 3]) {
            d.attempt(&mut pool, |d, pool| d.again(pool, 0));
        }
        return d.finished(&mut pool);
    }
    let wanted = d.dice.range(3, 14) as usize;
    for _ in 0..60 {
        if d.program.ops.len() >= wanted {
            break;
        }
        d.attempt(&mut pool, |d, pool| d.some(pool, 0));
    }
    d.finished(&mut pool)
}

/// Tiles that an op takes, itself or inside.
pub fn uses(op: &Op) -> Vec<Id> {
    let inside = op
        .regions
        .iter()
        .flat_map(|r| r.ops.iter().flat_map(uses).chain(r.yields.iter().copied()));
    op.operands.iter().copied().chain(inside).collect()
}

struct Draw {
    dice: Dice,
    program: Program,
    machine: Machine,
    /// Most elements of a tile.
    most: i64,
    /// Whether sizes need not be powers of two.
    odd: bool,
}

impl Draw {
    /// The program, which shows what nothing has used.
    fn finished(mut self, pool: &mut Vec<Id>) -> Program {
        let used: Vec<Id> = self.program.ops.iter().flat_map(uses).collect();
        let mut leaves: Vec<Id> = pool.iter().copied().filter(|id| !used.contains(id)).collect();
        let shown = leaves.len().saturating_sub(MOST_STORES);
        leaves.drain(..shown);
        for leaf in leaves {
            self.attempt(pool, |d, _| Some(d.output(leaf, None)));
        }
        self.program
    }

    /// Draws ops and keeps them if they have one result; then their results are in the pool.
    fn attempt(&mut self, pool: &mut Vec<Id>, draw: impl Fn(&mut Self, &mut [Id]) -> Option<Vec<Op>>) {
        let (arguments, tiles, scalars) = (
            self.program.arguments.len(),
            self.program.tiles.len(),
            self.program.scalars.len(),
        );
        let before = self.machine.clone();
        let ops = draw(self, &mut pool.clone());
        match ops {
            Some(ops) if self.machine.run(&self.program, &ops).is_ok() => {
                pool.extend(ops.iter().flat_map(|op| op.results.iter().copied()));
                self.program.ops.extend(ops);
            }
            _ => {
                self.program.arguments.truncate(arguments);
                self.program.tiles.truncate(tiles);
                self.program.scalars.truncate(scalars);
                self.machine = before;
            }
        }
    }

    fn tile(&mut self, dtype: DType, shape: &[i64]) -> Id {
        self.program.tiles.push(Tile::new(dtype, shape));
        self.program.tiles.len() - 1
    }

    fn of(&self, id: Id) -> Tile {
        self.program.tiles[id].clone()
    }

    /// A new tile made by an op.
    fn make(&mut self, ops: &mut Vec<Op>, kind: Kind, operands: &[Id], dtype: DType, shape: &[i64]) -> Id {
        let id = self.tile(dtype, shape);
        ops.push(Op::new(kind, operands, &[id]));
        id
    }

    fn number_type(&mut self) -> DType {
        match self.dice.below(10) {
            0..4 => self.dice.pick(&INTEGERS),
            4..8 => self.dice.pick(&FLOATS),
            8 => self.dice.pick(&BYTE_FLOATS),
            _ => self.dice.pick(&[DType::I1, DType::F32, DType::I32]),
        }
    }

    /// A shape, of powers of two in most programs.
    fn shape(&mut self, rank: usize) -> Vec<i64> {
        let largest = self.most.ilog2() as i64;
        let bits = match self.dice.below(4) {
            0 => self.dice.range(0, largest),
            1 => (largest - self.dice.range(0, 3)).max(0),
            _ => self.dice.range(largest / 2, largest),
        };
        let mut shape = vec![1; rank];
        for _ in 0..bits {
            shape[self.dice.below(rank)] *= 2;
        }
        for size in &mut shape {
            *size = self.size(*size);
        }
        shape
    }

    /// A power of two, or a size that is padded to it.
    fn size(&mut self, power: i64) -> i64 {
        match self.odd && power > 2 && self.dice.chance(1, 2) {
            true => self.dice.range(power / 2 + 1, power - 1),
            false => power,
        }
    }

    fn bits(&mut self, dtype: DType) -> u64 {
        if dtype.is_float() && !self.dice.chance(1, 8) {
            let v = self.dice.range(-16, 16) as f64 * self.dice.pick(&[1.0, 0.5, 0.125]);
            return rounded(dtype, v);
        }
        let v = match self.dice.below(3) {
            _ if dtype.is_float() => self.dice.next(),
            0 => self.dice.next(),
            _ => self.dice.range(-9, 9) as u64,
        };
        wrapped(dtype, v)
    }

    fn recent(&mut self, pool: &[Id]) -> Option<Id> {
        if pool.is_empty() {
            return None;
        }
        let last = self.dice.chance(1, 2);
        let from = if last { pool.len().saturating_sub(4) } else { 0 };
        Some(pool[from + self.dice.below(pool.len() - from)])
    }

    /// One of the pool that is so, if any is.
    fn such(&mut self, pool: &[Id], is: impl Fn(&Tile) -> bool) -> Option<Id> {
        let found: Vec<Id> = pool.iter().copied().filter(|id| is(&self.program.tiles[*id])).collect();
        if found.is_empty() {
            None
        } else {
            Some(self.dice.pick(&found))
        }
    }

    /// A tile of this type: of the pool, or a new one.
    fn like(&mut self, ops: &mut Vec<Op>, pool: &[Id], tile: &Tile) -> Id {
        if let Some(id) = self.such(pool, |t| t == tile).filter(|_| !self.dice.chance(1, 5)) {
            return id;
        }
        // Of a part of it, repeated.
        let mut part = tile.clone();
        for s in &mut part.shape {
            if self.dice.chance(1, 2) {
                *s = 1;
            }
        }
        if let Some(id) = self.such(pool, |t| *t == part) {
            return if part == *tile {
                id
            } else {
                self.make(ops, Kind::Broadcast, &[id], tile.dtype, &tile.shape)
            };
        }
        self.source(ops, tile)
    }

    /// A new tile of this type.
    fn source(&mut self, ops: &mut Vec<Op>, tile: &Tile) -> Id {
        let (dtype, shape) = (tile.dtype, tile.shape.clone());
        let integer = INTEGERS.contains(&dtype);
        match self.dice.below(4) {
            0 if integer && !shape.is_empty() => {
                let axis = self.dice.below(shape.len());
                self.make(ops, Kind::Iota(axis), &[], dtype, &shape)
            }
            1 if matches!(dtype, DType::I32 | DType::I64) => {
                let number = self.number();
                self.make(ops, Kind::Spread(number), &[], dtype, &shape)
            }
            2 | 3 if !shape.is_empty() => self.load(ops, tile, 0),
            _ => {
                let bits = self.bits(dtype);
                self.make(ops, Kind::Constant(bits), &[], dtype, &shape)
            }
        }
    }

    fn scalar(&mut self, value: i64) -> usize {
        if let Some(n) = self.program.scalars.iter().position(|s| *s == value) {
            return n;
        }
        self.program.scalars.push(value);
        self.program.scalars.len() - 1
    }

    fn base(&mut self, value: i64) -> Base {
        if self.dice.chance(1, 2) {
            Base::Constant(value)
        } else {
            Base::Scalar(self.scalar(value))
        }
    }

    fn number(&mut self) -> Number {
        match self.dice.below(3) {
            0 => Number::Counter,
            1 => Number::Block,
            _ => {
                let value = self.dice.range(-5, 40);
                Number::Scalar(self.scalar(value))
            }
        }
    }
}
