//! Products of matrices: in a loop along K, or alone, of one product's result too, and a little done to what comes out.
use super::{
    super::program::{Base, Content, Id, Index, Kind, Op, Region, Tile, in_a_byte},
    Draw, LATER,
};
use girih_core::{dtype::DType, number::Rounding};

/// Element types of the operands and of the sum, with the elements of a row of 32 bytes.
const TYPES: [([DType; 2], DType, i64); 13] = [
    ([DType::F16; 2], DType::F32, 16),
    ([DType::F16; 2], DType::F32, 16),
    ([DType::F16; 2], DType::F16, 16),
    ([DType::Bf16; 2], DType::F32, 16),
    ([DType::Bf16; 2], DType::F32, 16),
    ([DType::F32; 2], DType::F32, 8),
    ([DType::I8; 2], DType::I32, 32),
    ([DType::I8; 2], DType::I32, 32),
    ([DType::F64; 2], DType::F64, 4),
    ([DType::F64; 2], DType::F64, 4),
    ([DType::E4m3; 2], DType::F32, 32),
    ([DType::E4m3, DType::E5m2], DType::F16, 32),
    ([DType::E5m2, DType::E4m3], DType::F32, 32),
];
/// How many of them sm_80 multiplies.
const WITHOUT_BYTE_FLOATS: usize = 10;
/// Numbers that lie in bytes, what `tile.mma` says of them, and the type of the sum.
const PACKED: [([&str; 2], &str, DType); 10] = [
    (["i1"; 2], "and", DType::I32),
    (["i1"; 2], "and", DType::I32),
    (["i1"; 2], "xor", DType::I32),
    (["i4"; 2], "", DType::I32),
    (["i4"; 2], "", DType::I32),
    (["f4E2M1FN"; 2], "", DType::F32),
    (["f4E2M1FN", "f6E3M2FN"], "", DType::F32),
    (["f6E2M3FN", "f4E2M1FN"], "", DType::F32),
    (["f6E3M2FN", "f6E2M3FN"], "", DType::F32),
    (["f6E2M3FN"; 2], "", DType::F32),
];
/// Rows of the sum for each warpgroup.
const ROWS: i64 = 64;
const WARPGROUP_THREADS: i64 = 128;
const PLAIN: Index = Index {
    base: Base::Constant(0),
    block: 0,
    counter: 0,
};

/// Where a second product stands, whose first operand is what the first one gave.
#[derive(Clone, Copy, PartialEq)]
enum Second {
    /// There is none.
    None,
    /// Behind the loop.
    After,
    /// In the loop, which goes along the columns of the first product, as attention does.
    Inside,
}

impl Draw {
    /// A whole program.
    pub(super) fn product(&mut self) -> Option<Vec<Op>> {
        let types = match self.program.target {
            "sm_80" => &TYPES[..WITHOUT_BYTE_FLOATS],
            _ => &TYPES[..],
        };
        if self.dice.chance(1, 5) {
            return self.packed_product();
        }
        let (operands, sum, step) = self.dice.pick(types);
        let (mut m, mut n, mut k) = self.sizes(step);
        if self.odd {
            n = self.dice.pick(&[8, 24, 40, 56]);
            // What wgmma does not take.
            if self.dice.chance(1, 2) {
                k = self.dice.range(1, 2 * step);
                n = self.dice.range(1, 40);
                m = (m - self.dice.pick(&[0, 0, 1, 27])).max(1);
            }
        }
        let second = match operands[0] {
            // A tf32 has not the bits of a sum.
            DType::F32 => Second::None,
            _ => self
                .dice
                .pick(&[Second::None, Second::None, Second::After, Second::Inside]),
        };
        let looped = second == Second::Inside || self.dice.chance(4, 5);
        let passes = if looped { self.dice.pick(&[0, 1, 2, 3, 5]) } else { 1 };
        let blocks = self.program.blocks;
        let start = if self.dice.chance(1, 4) {
            self.dice.range(-9, 9)
        } else {
            0
        };
        let row = Index {
            base: self.base(start),
            block: m,
            ..PLAIN
        };
        let column = Index {
            base: Base::Constant(self.dice.pick(&[0, 0, 0, 8, 3])),
            ..PLAIN
        };
        let counted = |size: i64| Index {
            counter: if looped { size } else { 0 },
            ..PLAIN
        };
        let [first, other] = [(); 2].map(|()| Kind::Mma {
            unsigned: [(); 2].map(|()| operands[0] == DType::I8 && self.dice.chance(1, 3)),
        });
        let wide = self.dice.pick(&[8, 16, 32]);
        let (mut ops, mut body) = (vec![], vec![]);

        if second == Second::Inside {
            let zero = self.make(&mut ops, Kind::Constant(0), &[], sum, &[m, wide]);
            let carried = self.tile(sum, &[m, wide]);
            // What stands still is loaded ahead of the loop, or in it.
            let place = if self.dice.chance(1, 2) { &mut ops } else { &mut body };
            let a = self.operand(place, operands[0], [m, k], [row, PLAIN], [m * blocks, k]);
            let b = self.operand(&mut body, operands[1], [k, n], [PLAIN, counted(n)], [k, n * passes]);
            let none = self.make(&mut body, Kind::Constant(0), &[], sum, &[m, n]);
            let scores = self.make(&mut body, first, &[a, b, none], sum, &[m, n]);
            let weights = self.as_operand(&mut body, scores, operands[0]);
            let whole = [n * passes, wide + 8];
            let v = self.operand(&mut body, operands[1], [n, wide], [counted(n), column], whole);
            let next = self.make(&mut body, other, &[weights, v, carried], sum, &[m, wide]);
            let total = self.repeated(&mut ops, body, passes, [zero, carried, next]);
            return Some(self.shown(ops, total, [row, column]));
        }

        let zero = self.make(&mut ops, Kind::Constant(0), &[], sum, &[m, n]);
        let carried = match looped {
            true => self.tile(sum, &[m, n]),
            false => zero,
        };
        let whole = [m * blocks, k * passes];
        let a = self.operand(&mut body, operands[0], [m, k], [row, counted(k)], whole);
        let whole = [k * passes, n + 8];
        let b = self.operand(&mut body, operands[1], [k, n], [counted(k), column], whole);
        let next = self.make(&mut body, first, &[a, b, carried], sum, &[m, n]);
        let mut total = match looped {
            true => self.repeated(&mut ops, body, passes, [zero, carried, next]),
            false => {
                ops.extend(body);
                next
            }
        };
        if second == Second::After {
            let weights = self.as_operand(&mut ops, total, operands[0]);
            let v = self.operand(&mut ops, operands[1], [n, wide], [PLAIN, column], [n, wide + 8]);
            let none = self.make(&mut ops, Kind::Constant(0), &[], sum, &[m, wide]);
            total = self.make(&mut ops, other, &[weights, v, none], sum, &[m, wide]);
        }
        Some(self.shown(ops, total, [row, column]))
    }

    /// A product of numbers below a byte, of which arguments have bytes.
    fn packed_product(&mut self) -> Option<Vec<Op>> {
        let (elements, popc, sum) = self.dice.pick(&PACKED);
        if sum == DType::F32 {
            self.program.target = LATER;
        }
        let (m, n, mut bytes) = self.sizes(32);
        if self.odd && self.dice.chance(1, 2) {
            bytes = self.dice.range(1, 48);
        }
        let numbers = bytes * elements.map(in_a_byte).into_iter().max()?;
        let [k_a, k_b] = elements.map(|e| numbers / in_a_byte(e));
        let looped = self.dice.chance(4, 5);
        let passes = if looped { self.dice.pick(&[1, 2, 3]) } else { 1 };
        let blocks = self.program.blocks;
        let row = Index { block: m, ..PLAIN };
        let counted = |size: i64| Index {
            counter: if looped { size } else { 0 },
            ..PLAIN
        };
        let (mut ops, mut body) = (vec![], vec![]);
        let zero = self.make(&mut ops, Kind::Constant(0), &[], sum, &[m, n]);
        let carried = match looped {
            true => self.tile(sum, &[m, n]),
            false => zero,
        };
        let [a_whole, b_whole] = [[m * blocks, k_a * passes], [k_b * passes, n + 8]];
        let a = self.operand(&mut body, DType::I8, [m, k_a], [row, counted(k_a)], a_whole);
        let b = self.operand(&mut body, DType::I8, [k_b, n], [counted(k_b), PLAIN], b_whole);
        let kind = Kind::Packed {
            elements,
            popc,
            unsigned: [(); 2].map(|()| elements[0] == "i4" && self.dice.chance(1, 3)),
        };
        let next = self.make(&mut body, kind, &[a, b, carried], sum, &[m, n]);
        let total = match looped {
            true => self.repeated(&mut ops, body, passes, [zero, carried, next]),
            false => {
                ops.extend(body);
                next
            }
        };
        Some(self.shown(ops, total, [row, PLAIN]))
    }

    /// M, N and K of a product that warpgroups may take, where there are any.
    fn sizes(&mut self, step: i64) -> (i64, i64, i64) {
        let m = match i64::from(self.program.threads) / WARPGROUP_THREADS {
            0 => self.dice.pick(&[16, 32]),
            warpgroups => warpgroups * ROWS,
        };
        let n = self.dice.pick(&[8, 16, 32, 64]);
        (m, n, step * self.dice.pick(&[1, 2, 4]))
    }

    /// A size of memory near another one.
    fn edge(&mut self, size: i64) -> i64 {
        (size + self.dice.pick(&[0, 0, 0, 8, 16, -1, -7, 5])).max(1)
    }

    /// An operand: loaded, as it is or from an argument whose axes are exchanged. What is past the edge adds nothing.
    fn operand(&mut self, ops: &mut Vec<Op>, dtype: DType, shape: [i64; 2], mut at: [Index; 2], whole: [i64; 2]) -> Id {
        let content = match dtype {
            DType::I8 => self.dice.pick(&[Content::Small(2), Content::Wide]),
            _ => Content::Small(2),
        };
        let mut sizes = whole.map(|size| self.edge(size));
        let mut loaded = shape;
        let is_turned = self.dice.chance(1, 4);
        if is_turned {
            sizes.reverse();
            loaded.reverse();
            at.reverse();
        }
        let argument = self.argument(dtype, &sizes, content);
        let kind = Kind::Load {
            argument,
            at: at.to_vec(),
            pad: None,
        };
        let tile = self.make(ops, kind, &[], dtype, &loaded);
        if self.dice.chance(1, 3) {
            self.may_mask(ops, &loaded);
        }
        match is_turned {
            true => self.make(ops, Kind::Transpose(vec![1, 0]), &[tile], dtype, &shape),
            false => tile,
        }
    }

    /// A sum as the first operand of a product.
    fn as_operand(&mut self, ops: &mut Vec<Op>, sum: Id, to: DType) -> Id {
        let Tile { dtype, shape } = self.of(sum);
        let kind = match to {
            _ if to == dtype => return sum,
            DType::E4m3 | DType::E5m2 => Kind::Convert(Rounding::NearestEven, true),
            _ if to.is_float() => Kind::Cast("arith.truncf"),
            _ => Kind::Cast("arith.trunci"),
        };
        self.make(ops, kind, &[sum], to, &shape)
    }

    /// A loop that carries a sum: as it starts, as it is carried, and as it is yielded.
    fn repeated(&mut self, ops: &mut Vec<Op>, body: Vec<Op>, passes: i64, [zero, carried, next]: [Id; 3]) -> Id {
        let Tile { dtype, shape } = self.of(zero);
        let trips = self.base(passes);
        let total = self.tile(dtype, &shape);
        ops.push(Op {
            regions: vec![Region {
                arguments: vec![carried],
                ops: body,
                yields: vec![next],
            }],
            ..Op::new(Kind::For { trips, is_while: false }, &[zero], &[total])
        });
        total
    }

    /// The ops, a little done to the sum, and its store.
    fn shown(&mut self, mut ops: Vec<Op>, total: Id, at: [Index; 2]) -> Vec<Op> {
        let (last, added) = self.epilogue(&mut ops, total, at);
        let Tile { dtype, shape } = self.of(last);
        let in_place = added.filter(|n| self.program.arguments[*n].dtype == dtype && self.dice.chance(1, 2));
        let sizes = [shape[0] * self.program.blocks, shape[1] + 8].map(|size| self.edge(size));
        let c_memory = match in_place {
            Some(added) => added,
            None => self.argument(dtype, &sizes, Content::Poison),
        };
        let at = at.to_vec();
        ops.push(Op::new(Kind::Store { argument: c_memory, at }, &[last], &[]));
        ops
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
