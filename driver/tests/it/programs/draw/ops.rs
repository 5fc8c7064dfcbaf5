//! Ops on what there is: arithmetic, comparisons, conversions, other shapes, reductions and scans.
use super::{
    super::{
        number::width,
        program::{Combiner, Id, Index, Kind, Op, Start, Tile},
    },
    BYTE_FLOATS, Draw, INTEGERS, MOST_AXES,
};
use girih_core::{dtype::DType, number::Rounding};

const INTEGER_OPS: [&str; 10] = [
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.maxsi",
    "arith.minsi",
    "arith.maxui",
    "arith.minui",
];
/// With a constant on the right.
const CONSTANT_OPS: [&str; 7] = [
    "arith.shli",
    "arith.shrui",
    "arith.shrsi",
    "arith.divui",
    "arith.divsi",
    "arith.remui",
    "arith.remsi",
];
const INTEGER_FUNCTIONS: [&str; 4] = ["math.absi", "math.ctpop", "math.ctlz", "math.cttz"];
const FLOAT_FUNCTIONS: [&str; 9] = [
    "arith.negf",
    "arith.negf",
    "math.absf",
    "math.absf",
    "math.ceil",
    "math.floor",
    "math.trunc",
    "math.round",
    "math.roundeven",
];
const FLOAT_OPS: [&str; 6] = [
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.maximumf",
    "arith.minimumf",
    "math.copysign",
];
const ROUNDINGS: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::NearestAway,
    Rounding::Zero,
    Rounding::Up,
    Rounding::Down,
];
const TRUTH_OPS: [&str; 3] = ["arith.andi", "arith.ori", "arith.xori"];

impl Draw {
    /// Ops that make something of the pool.
    pub(super) fn some(&mut self, pool: &mut [Id], depth: usize) -> Option<Vec<Op>> {
        let mut ops = vec![];
        let choice = self.dice.below(100);
        if pool.is_empty() || choice < 12 {
            let dtype = self.number_type();
            let rank = self.dice.pick(&[1, 1, 1, 2, 2, 2, 2, 3, 3, 4, MOST_AXES]);
            let shape = self.shape(rank);
            self.load(&mut ops, &Tile::new(dtype, &shape), 0);
            return Some(ops);
        }
        let id = self.recent(pool)?;
        match choice {
            12..14 => {
                let tile = self.of(id);
                self.source(&mut ops, &tile);
            }
            14..21 => return self.again(pool, 0),
            21..25 if depth == 0 => return Some(self.output(id, None)),
            21..34 => self.arithmetic(&mut ops, pool, id)?,
            34..42 => self.conversion(&mut ops, id)?,
            42..50 => {
                let tile = self.of(id);
                let condition = self.truth(&mut ops, pool, &tile);
                let other = self.like(&mut ops, pool, &tile);
                let operands = if self.dice.chance(1, 2) {
                    [condition, id, other]
                } else {
                    [condition, other, id]
                };
                self.make(&mut ops, Kind::Select, &operands, tile.dtype, &tile.shape);
            }
            50..66 => self.another_shape(&mut ops, pool, id)?,
            66..76 => self.along(&mut ops, id)?,
            76..82 => self.there_and_back(&mut ops, id)?,
            82..85 => self.gather(&mut ops)?,
            85..87 => self.shared(&mut ops, pool)?,
            87..89 => self.extract(&mut ops, pool)?,
            89..96 if depth < 2 => self.repeat(&mut ops, pool, depth)?,
            _ if depth < 2 => self.branch(&mut ops, pool, depth)?,
            _ => self.arithmetic(&mut ops, pool, id)?,
        }
        Some(ops)
    }

    pub(super) fn arithmetic(&mut self, ops: &mut Vec<Op>, pool: &[Id], id: Id) -> Option<()> {
        let tile = self.of(id);
        let (dtype, shape) = (tile.dtype, tile.shape.clone());
        let is_byte = BYTE_FLOATS.contains(&dtype);
        if is_byte && self.dice.chance(1, 3) {
            return self.conversion(ops, id);
        }
        if dtype.is_float() && self.dice.chance(1, 6) {
            let name = self.dice.pick(&FLOAT_FUNCTIONS);
            self.make(ops, Kind::Unary(name), &[id], dtype, &shape);
            return Some(());
        }
        if INTEGERS.contains(&dtype) && self.dice.chance(1, 8) {
            let name = self.dice.pick(&INTEGER_FUNCTIONS);
            self.make(ops, Kind::Unary(name), &[id], dtype, &shape);
            return Some(());
        }
        if INTEGERS.contains(&dtype) && self.dice.chance(1, 4) {
            let name = self.dice.pick(&CONSTANT_OPS);
            let shift = name.starts_with("arith.sh");
            let bits = if shift {
                self.dice.below(width(dtype) as usize) as i64
            } else {
                self.dice.range(1, 100)
            };
            let right = self.make(ops, Kind::Constant(bits as u64), &[], dtype, &shape);
            self.make(ops, Kind::Binary(name), &[id, right], dtype, &shape);
            return Some(());
        }
        let other = self.like(ops, pool, &tile);
        let operands = if self.dice.chance(1, 2) {
            [id, other]
        } else {
            [other, id]
        };
        match dtype {
            DType::I1 => {
                let name = self.dice.pick(&TRUTH_OPS);
                self.make(ops, Kind::Binary(name), &operands, dtype, &shape);
            }
            _ if !dtype.is_float() => {
                let name = self.dice.pick(&INTEGER_OPS);
                self.make(ops, Kind::Binary(name), &operands, dtype, &shape);
            }
            // Of 8-bit floats it is rounded twice.
            _ if !is_byte && self.dice.chance(1, 5) => {
                let third = self.like(ops, pool, &tile);
                self.make(ops, Kind::Fma, &[id, other, third], dtype, &shape);
            }
            DType::F32 | DType::F64 if self.dice.chance(1, 6) => {
                self.make(ops, Kind::Binary("arith.divf"), &operands, dtype, &shape);
            }
            _ => {
                let name = self.dice.pick(&FLOAT_OPS);
                self.make(ops, Kind::Binary(name), &operands, dtype, &shape);
            }
        }
        Some(())
    }

    pub(super) fn conversion(&mut self, ops: &mut Vec<Op>, id: Id) -> Option<()> {
        let tile = self.of(id);
        let from = tile.dtype;
        let to = self.number_type();
        let (a, b) = (width(from), width(to));
        let rounding = self.dice.pick(&ROUNDINGS);
        let kind = match (from.is_float(), to.is_float()) {
            (false, false) if a < b => Kind::Cast(self.dice.pick(&["arith.extsi", "arith.extui"])),
            (false, false) if a > b => Kind::Cast("arith.trunci"),
            (false, true) if a == b && self.dice.chance(1, 3) && a > 8 => Kind::Cast("arith.bitcast"),
            (false, true) => Kind::Cast(self.dice.pick(&["arith.sitofp", "arith.uitofp"])),
            (true, false) => Kind::Cast(self.dice.pick(&["arith.fptosi", "arith.fptosi", "arith.fptoui"])),
            (true, true) if from != to && self.dice.chance(1, 3) => Kind::Convert(rounding, self.dice.chance(1, 2)),
            (true, true) if a < b => Kind::Cast("arith.extf"),
            (true, true) if a > b && self.dice.chance(1, 2) => Kind::Truncate(rounding),
            (true, true) if a > b => Kind::Cast("arith.truncf"),
            _ => return None,
        };
        self.make(ops, kind, &[id], to, &tile.shape);
        Some(())
    }

    /// A tile of truth values of the shape of another.
    pub(super) fn truth(&mut self, ops: &mut Vec<Op>, pool: &[Id], tile: &Tile) -> Id {
        let wanted = Tile::new(DType::I1, &tile.shape);
        if let Some(id) = self.such(pool, |t| *t == wanted).filter(|_| self.dice.chance(1, 2)) {
            return id;
        }
        let other = self.such(pool, |t| t.shape == tile.shape && t.dtype != DType::I1);
        let Some(a) = other else {
            return self.source(ops, &wanted);
        };
        let compared = self.of(a);
        let b = self.like(ops, pool, &compared);
        let predicate = match compared.dtype.is_float() {
            true => self
                .dice
                .pick(&["oeq", "ogt", "oge", "olt", "ole", "one", "une", "ult", "uno", "ord"]),
            false => self
                .dice
                .pick(&["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]),
        };
        self.make(ops, Kind::Compare(predicate), &[a, b], DType::I1, &tile.shape)
    }

    pub(super) fn another_shape(&mut self, ops: &mut Vec<Op>, pool: &[Id], id: Id) -> Option<()> {
        let tile = self.of(id);
        let (dtype, shape, rank) = (tile.dtype, tile.shape.clone(), tile.shape.len());
        match self.dice.below(9) {
            0 if rank < MOST_AXES => {
                let axis = self.dice.below(rank + 1);
                let mut wider = shape;
                wider.insert(axis, 1);
                self.make(ops, Kind::ExpandDims(axis), &[id], dtype, &wider);
            }
            1 => {
                let mut wide = shape.clone();
                for axis in 0..rank {
                    if shape[axis] == 1 && wide.iter().product::<i64>() < self.most {
                        let size = 1 << self.dice.below(5);
                        wide[axis] = self.size(size);
                    }
                }
                if wide == shape || Tile::new(dtype, &wide).padded_elements() > self.most {
                    return None;
                }
                self.make(ops, Kind::Broadcast, &[id], dtype, &wide);
            }
            2 | 3 if rank > 1 => {
                let mut order: Vec<usize> = (0..rank).collect();
                for i in (1..rank).rev() {
                    order.swap(i, self.dice.below(i + 1));
                }
                let turned: Vec<i64> = order.iter().map(|a| shape[*a]).collect();
                self.make(ops, Kind::Transpose(order), &[id], dtype, &turned);
            }
            4 => {
                let rank = self.dice.range(1, 4) as usize;
                let mut seen = vec![1; rank];
                let mut left = tile.elements();
                while left > 1 {
                    let prime = (2..=left).find(|p| left % p == 0).unwrap_or(left);
                    seen[self.dice.below(rank)] *= prime;
                    left /= prime;
                }
                if Tile::new(dtype, &seen).padded_elements() > self.most {
                    return None;
                }
                self.make(ops, Kind::Reshape, &[id], dtype, &seen);
            }
            8 if rank > 0 && !dtype.is_float() => {
                let to = self
                    .dice
                    .pick(&[DType::I1, DType::I8, DType::I16, DType::I32, DType::I64]);
                let (axis, a, b) = (self.dice.below(rank), i64::from(width(dtype)), i64::from(width(to)));
                let mut other = shape;
                let bits = other[axis] * a;
                other[axis] = bits / b;
                if a == b || bits % b != 0 || other[axis] == 0 || other.iter().product::<i64>() > self.most {
                    return None;
                }
                self.make(ops, Kind::Bitcast(axis), &[id], to, &other);
            }
            5 if rank > 0 => {
                // As many more as reach a power of two.
                let axis = self.dice.below(rank);
                let bits = shape[axis].ilog2() as i64 + self.dice.range(1, 2);
                let mut left = (1 << bits) - shape[axis];
                let mut operands = vec![id];
                let mut joined = shape.clone();
                joined[axis] = 1 << bits;
                if Tile::new(dtype, &joined).padded_elements() > self.most {
                    return None;
                }
                if self.odd && self.dice.chance(1, 2) {
                    left = self.dice.range(1, left);
                    joined[axis] = shape[axis] + left;
                }
                while left > 0 {
                    let mut part = shape.clone();
                    part[axis] = (1 << self.dice.below(left.ilog2() as usize + 1)).max(left / 8);
                    if self.odd && self.dice.chance(1, 2) {
                        part[axis] = self.dice.range(1, left);
                    } else if !(part[axis] as u64).is_power_of_two() {
                        part[axis] = 1 << left.ilog2();
                    }
                    left -= part[axis];
                    operands.push(self.like(ops, pool, &Tile::new(dtype, &part)));
                }
                let first = self.dice.below(operands.len());
                operands.swap(0, first);
                self.make(ops, Kind::Concat(axis), &operands, dtype, &joined);
            }
            6 if rank > 0 => {
                let mut part = shape.clone();
                for size in &mut part {
                    if self.dice.chance(1, 2) {
                        *size /= 1 << self.dice.below(size.ilog2() as usize + 1);
                        if self.odd && self.dice.chance(1, 2) {
                            *size = self.dice.range(1, *size);
                        }
                    }
                }
                let (at, strides) = self.part_at(&part, &shape);
                self.make(ops, Kind::Slice { at, strides }, &[id], dtype, &part);
            }
            7 if rank > 0 => {
                let mut part = shape.clone();
                for size in &mut part {
                    *size /= 1 << self.dice.below(size.ilog2() as usize + 1);
                }
                let (at, strides) = self.part_at(&part, &shape);
                let source = self.like(ops, pool, &Tile::new(dtype, &part));
                self.make(ops, Kind::Insert { at, strides }, &[source, id], dtype, &shape);
            }
            _ => return None,
        }
        Some(())
    }

    /// Where a part lies in a tile: at multiples of its sizes, anywhere inside, or where an index says, also past the edge.
    fn part_at(&mut self, part: &[i64], whole: &[i64]) -> (Vec<Start>, Vec<i64>) {
        let (aligned, dense) = (self.dice.chance(1, 3), self.dice.chance(2, 3));
        let (mut at, mut strides) = (vec![], vec![]);
        for (part, whole) in part.iter().copied().zip(whole.iter().copied()) {
            let most = if part > 1 { (whole - 1) / (part - 1) } else { 3 };
            let mut by = if aligned || dense {
                1
            } else {
                self.dice.range(1, most.clamp(1, 4))
            };
            if !aligned && !dense && self.dice.chance(1, 4) {
                by = -by;
            }
            let reach = by * (part - 1);
            let (low, high) = (-reach.min(0), whole - 1 - reach.max(0));
            let start = match aligned {
                true => part * self.dice.range(0, whole / part - 1),
                false => self.dice.range(low, high),
            };
            strides.push(by);
            if aligned || self.dice.chance(1, 2) {
                at.push(Start::Written(start));
                continue;
            }
            let start = match self.dice.below(4) {
                0 => self.dice.range(-part - 1, whole + 1),
                1 => self.dice.pick(&[i64::MAX, i64::MIN, 1 << 32, -(1 << 32)]),
                _ => start,
            };
            let far = start.unsigned_abs() >= 1 << 32;
            at.push(Start::Index(Index {
                base: self.base(start),
                block: if far { 0 } else { self.dice.range(0, 1) },
                counter: if far { 0 } else { self.dice.range(0, 1) },
            }));
        }
        (at, strides)
    }

    /// A combiner of elements of this type alone.
    pub(super) fn own_combiner(&mut self, dtype: DType) -> &'static str {
        match dtype {
            DType::I1 => self.dice.pick(&TRUTH_OPS),
            _ if dtype.is_float() => self.dice.pick(&["arith.addf", "arith.maximumf", "arith.minimumf"]),
            _ => self.dice.pick(&[
                "arith.addi",
                "arith.muli",
                "arith.andi",
                "arith.ori",
                "arith.xori",
                "arith.maxsi",
                "arith.minsi",
                "arith.maxui",
                "arith.minui",
            ]),
        }
    }

    /// Reductions and scans.
    pub(super) fn along(&mut self, ops: &mut Vec<Op>, id: Id) -> Option<()> {
        let tile = self.of(id);
        if tile.shape.is_empty() {
            return None;
        }
        let axis = self.dice.below(tile.shape.len());
        let scan = self.dice.chance(2, 5);
        let (mut operands, mut types) = (vec![id], vec![tile.dtype]);
        let mut second = |d: &mut Self, ops: &mut Vec<Op>, kind: Kind, dtype: DType| {
            let other = d.make(ops, kind, &[], dtype, &tile.shape);
            operands.push(other);
            types.push(dtype);
        };
        let combiner = match self.dice.below(6) {
            0 if tile.dtype != DType::I1 => {
                let place = self.dice.pick(&[DType::I16, DType::I32, DType::I32, DType::I64]);
                second(self, ops, Kind::Iota(axis), place);
                Combiner::Largest
            }
            1 => {
                let f = self.own_combiner(tile.dtype);
                let dtype = self.dice.pick(&INTEGERS);
                let other = self.dice.below(tile.shape.len());
                second(self, ops, Kind::Iota(other), dtype);
                Combiner::Two(f, self.own_combiner(dtype))
            }
            2 if scan && INTEGERS.contains(&tile.dtype) => {
                second(self, ops, Kind::Iota(axis), tile.dtype);
                Combiner::Compose
            }
            3 if scan => self.dice.pick(&[Combiner::First, Combiner::Last]),
            _ => Combiner::One(self.own_combiner(tile.dtype)),
        };
        let mut shape = tile.shape.clone();
        if !scan {
            shape.remove(axis);
        }
        let results: Vec<Id> = types.iter().map(|t| self.tile(*t, &shape)).collect();
        let kind = if scan {
            Kind::Scan { axis, combiner }
        } else {
            Kind::Reduce { axis, combiner }
        };
        ops.push(Op::new(kind, &operands, &results));
        Some(())
    }

    /// A reduction whose result goes back to where it is from, as softmax does it.
    pub(super) fn there_and_back(&mut self, ops: &mut Vec<Op>, id: Id) -> Option<()> {
        let tile = self.of(id);
        let (dtype, shape) = (tile.dtype, tile.shape.clone());
        if shape.is_empty() {
            return None;
        }
        let axis = self.dice.below(shape.len());
        let combiner = Combiner::One(self.own_combiner(dtype));
        let mut less = shape.clone();
        less.remove(axis);
        let reduced = self.make(ops, Kind::Reduce { axis, combiner }, &[id], dtype, &less);
        let mut one = shape.clone();
        one[axis] = 1;
        let column = self.make(ops, Kind::ExpandDims(axis), &[reduced], dtype, &one);
        let wide = self.make(ops, Kind::Broadcast, &[column], dtype, &shape);
        let name = match dtype {
            DType::I1 => "arith.xori",
            _ if dtype.is_float() => self.dice.pick(&["arith.subf", "arith.addf"]),
            _ => "arith.subi",
        };
        self.make(ops, Kind::Binary(name), &[id, wide], dtype, &shape);
        Some(())
    }

    pub(super) fn extract(&mut self, ops: &mut Vec<Op>, pool: &[Id]) -> Option<()> {
        let id = self.such(pool, |t| t.shape.is_empty())?;
        let (dtype, rank) = (self.of(id).dtype, self.dice.range(1, 3) as usize);
        let shape = self.shape(rank);
        self.make(ops, Kind::Extract, &[id], dtype, &shape);
        Some(())
    }
}
