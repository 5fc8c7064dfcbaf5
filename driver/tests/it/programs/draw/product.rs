//! Products of matrices: a loop along K, and a little done to the sum.
use super::{
    super::program::{Base, Content, Id, Index, Kind, Op, Region, Tile},
    Draw,
};
use girih_core::dtype::DType;

/// Element types of the operands and of the sum, with the elements of a row of 32 bytes.
const TYPES: [(DType, DType, i64); 6] = [
    (DType::F16, DType::F32, 16),
    (DType::F16, DType::F32, 16),
    (DType::F16, DType::F16, 16),
    (DType::Bf16, DType::F32, 16),
    (DType::F32, DType::F32, 8),
    (DType::I8, DType::I32, 32),
];
/// Rows of the sum for each warpgroup.
const ROWS: i64 = 64;
const WARPGROUP_THREADS: i64 = 128;

impl Draw {
    /// A whole program.
    pub(super) fn product(&mut self) -> Option<Vec<Op>> {
        let (operand, sum, step) = self.dice.pick(&TYPES);
        let mut m = i64::from(self.program.threads) / WARPGROUP_THREADS * ROWS;
        let mut n = self.dice.pick(&[8, 16, 32, 64]);
        let mut k = step * self.dice.pick(&[1, 2, 4]);
        if self.odd {
            n = self.dice.pick(&[8, 24, 40, 56]);
            // What wgmma does not take.
            if self.dice.chance(1, 2) {
                k = self.dice.range(1, 2 * step);
                n = self.dice.range(1, 40);
                m -= self.dice.pick(&[0, 0, 1, 27]);
            }
        }
        let passes = self.dice.pick(&[0, 1, 2, 3, 5]);
        let blocks = self.program.blocks;
        let plain = Index {
            base: Base::Constant(0),
            block: 0,
            counter: 0,
        };
        let start = if self.dice.chance(1, 4) {
            self.dice.range(-9, 9)
        } else {
            0
        };
        let row = Index {
            base: self.base(start),
            block: m,
            ..plain
        };
        let column = Index {
            base: Base::Constant(self.dice.pick(&[0, 0, 0, 8, 3])),
            ..plain
        };
        let along = Index { counter: k, ..plain };
        // What is past the edge adds nothing.
        let mut edge = |size: i64| (size + self.dice.pick(&[0, 0, 0, 8, 16, -1, -7, 5])).max(1);
        let (rows, columns, depth) = (edge(m * blocks), edge(n + 8), edge(k * passes));
        let content = Content::Small(2);
        let a_memory = self.argument(operand, &[rows, depth], content);
        let b_memory = self.argument(operand, &[depth, columns], content);

        let (mut ops, mut body) = (vec![], vec![]);
        let zero = self.make(&mut ops, Kind::Constant(0), &[], sum, &[m, n]);
        let carried = self.tile(sum, &[m, n]);
        let load = |argument: usize, at: [Index; 2]| Kind::Load {
            argument,
            at: at.to_vec(),
            pad: None,
        };
        let a = self.make(&mut body, load(a_memory, [row, along]), &[], operand, &[m, k]);
        let b = self.make(&mut body, load(b_memory, [along, column]), &[], operand, &[k, n]);
        let next = self.make(&mut body, Kind::Mma, &[a, b, carried], sum, &[m, n]);
        let trips = self.base(passes);
        let total = self.tile(sum, &[m, n]);
        ops.push(Op {
            regions: vec![Region {
                arguments: vec![carried],
                ops: body,
                yields: vec![next],
            }],
            ..Op::new(Kind::For { trips, is_while: false }, &[zero], &[total])
        });
        let (last, added) = self.epilogue(&mut ops, total, [row, column]);
        let dtype = self.of(last).dtype;
        let in_place = added.filter(|n| self.program.arguments[*n].dtype == dtype && self.dice.chance(1, 2));
        let c_memory = match in_place {
            Some(added) => added,
            None => self.argument(dtype, &[rows, columns], Content::Poison),
        };
        let at = vec![row, column];
        ops.push(Op::new(Kind::Store { argument: c_memory, at }, &[last], &[]));
        Some(ops)
    }

    /// Some ops, element by element, and the argument that they add, if there is one.
    fn epilogue(&mut self, ops: &mut Vec<Op>, total: Id, at: [Index; 2]) -> (Id, Option<usize>) {
        let Tile { dtype, shape } = self.of(total);
        let (mut last, mut added) = (total, None);
        if self.dice.chance(1, 3) {
            let bits = self.bits(dtype);
            let other = self.make(ops, Kind::Constant(bits), &[], dtype, &shape);
            let name = if dtype.is_float() {
                "arith.maximumf"
            } else {
                "arith.maxsi"
            };
            last = self.make(ops, Kind::Binary(name), &[last, other], dtype, &shape);
        }
        if self.dice.chance(1, 3) {
            let memory = self.argument(dtype, &[shape[0] * self.program.blocks, shape[1]], Content::Small(9));
            added = Some(memory);
            let pad = self.dice.chance(1, 4).then(|| self.bits(dtype));
            let kind = Kind::Load {
                argument: memory,
                at: at.to_vec(),
                pad,
            };
            let pass_thru = (pad.is_none() && self.dice.chance(1, 4)).then_some(last);
            let other = self.make(ops, kind, pass_thru.as_slice(), dtype, &shape);
            let name = if dtype.is_float() { "arith.addf" } else { "arith.addi" };
            last = self.make(ops, Kind::Binary(name), &[last, other], dtype, &shape);
        }
        if dtype == DType::F32 && self.dice.chance(1, 2) {
            let to = self.dice.pick(&[DType::F16, DType::Bf16]);
            last = self.make(ops, Kind::Cast("arith.truncf"), &[last], to, &shape);
        }
        (last, added)
    }
}
