//! Neighbours that go to memory one by one: before they are stored, or after they were loaded, threads of a warp exchange them,
//! so that a warp moves what lies side by side.
//!
//! A thread that holds eight numbers of 16 bits in a row moves them at once where rows are aligned. Where they are not, each
//! instruction of a warp would touch 32 numbers that lie 16 bytes apart. So bits of the register's number change places with
//! bits of the lane's: those that lead to other rows, or furthest along the row.
//!
//! ```text
//! columns of        register bits 0..3    lane bits 0..5        a warp's instruction touches
//! in the tile       1, 2, 4               8, 16, 32, 64, 128    16 sectors, 512 bytes from end to end
//! in memory         128, 64, 32           8, 16, 4, 2, 1        2 sectors, 64 bytes in a row
//! ```
//!
//! One bit changes places in a butterfly: of two registers that differ in it each lane keeps one, and gets for the other what
//! the lane across holds. Numbers of 8 and 16 bits share registers on the way.
use super::{access::Words, distributed::shuffle_xor};
use girih_dialects::{
    nvvm::{AsmOperand, Cmp, Emit, V},
    tile::{
        distribution::Distribution,
        ops::memory::{Load, Store},
        spaces::is_global,
        verify::element_bits,
    },
};
use girih_ir::prelude::*;
use std::{collections::BTreeSet, rc::Rc};

/// Bits of a lane's number.
const LANE_BITS: usize = 5;

/// Which way a tile goes, and what that costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    /// What a warp reads of a line, L1 keeps for the instructions that follow.
    Load,
    /// What a warp writes goes on to L2, a sector at a time.
    Store,
}

impl Way {
    /// Bytes that cost as much as one.
    fn unit(self) -> u64 {
        match self {
            Way::Load => 128,
            Way::Store => 32,
        }
    }
}

/// Bits of registers and lanes that change places.
pub(super) struct Exchange {
    /// What threads hold afterwards.
    pub(super) distribution: Rc<Distribution>,
    /// For bit 0, 1, ... of the register's number the bit of the lane's.
    lanes: Vec<usize>,
}

impl Exchange {
    /// The exchanges for elements of `bytes` in a memref of type `memory` by which a warp touches fewer lines or sectors, the
    /// best first.
    pub(super) fn all(d: &Distribution, memory: Type<'_>, bytes: u64, way: Way) -> Vec<Exchange> {
        let axis = (memory.strides_and_offset()).and_then(|(strides, _)| strides.iter().rposition(|s| *s == 1));
        axis.map_or(vec![], |axis| Exchange::along(d, axis, bytes, way))
    }

    /// The same for memory whose elements lie side by side along an axis.
    fn along(d: &Distribution, axis: usize, bytes: u64, way: Way) -> Vec<Exchange> {
        let is_along = |image: &[u32]| image.iter().enumerate().all(|(a, c)| (a == axis) == (*c != 0));
        // Lanes that hold copies stay.
        let moves = |bit: &usize| d.threads[*bit].iter().any(|c| *c != 0);
        let (mut along, other): (Vec<_>, Vec<_>) =
            (0..LANE_BITS).filter(moves).partition(|bit| is_along(&d.threads[*bit]));
        along.sort_by_key(|bit| std::cmp::Reverse(d.threads[*bit][axis]));
        let cost = |d: &Distribution| touched(d, axis, bytes, way.unit());
        let before = cost(d);
        let mut orders = vec![along.clone()];
        // Registers that lead to other rows would need addresses of their own, which loads have not the room for.
        if way == Way::Store {
            orders.push([other, along].concat());
        }
        let mut found: Vec<(usize, Exchange)> = (orders.into_iter())
            .filter_map(|lanes| Exchange::with(d, axis, lanes))
            .map(|x| (cost(&x.distribution), x))
            .filter(|(after, _)| *after < before)
            .collect();
        found.sort_by_key(|(after, _)| *after);
        found.into_iter().map(|(_, x)| x).collect()
    }

    /// The exchange with the first of some lanes' bits.
    fn with(d: &Distribution, axis: usize, mut lanes: Vec<usize>) -> Option<Exchange> {
        lanes.truncate(d.run(axis).ilog2() as usize);
        let (mut registers, mut threads) = (d.register_images(), d.threads.clone());
        for (register, lane) in lanes.iter().enumerate() {
            std::mem::swap(&mut registers[register], &mut threads[*lane]);
        }
        let distribution = Rc::new(Distribution::of_images(&registers, &threads, &d.shape)?);
        // A lane's bit whose image others give together is no bit to change places with.
        let is_alike = distribution.registers.len() == d.registers.len() && distribution.copy_bits() == d.copy_bits();
        is_alike.then_some(Exchange { distribution, lanes })
    }

    /// The registers that numbers share on the way.
    pub(super) fn words<'c>(&self, element: Type<'c>, bytes: u64) -> Words<'c> {
        let together = (4 / bytes).max(1) as usize;
        Words::new(
            element,
            bytes,
            if together <= 1 << self.lanes.len() { together } else { 1 },
        )
    }

    /// Lets the bits change places: from the one distribution to the other, and back.
    pub(super) fn apply<'c>(&self, e: &Emit<'c, '_>, words: &Words<'c>, mut values: Vec<V<'c>>) -> Vec<V<'c>> {
        let thread = e.sreg("tid.x");
        for (bit, lane) in self.lanes.iter().enumerate() {
            let mask = 1i64 << lane;
            let is_second = e.cmp(Cmp::Ne, e.mask(thread, mask), e.c32(0));
            match (1usize << bit).checked_div(words.elements()).filter(|step| *step > 0) {
                None => {
                    let [first, second] = inside(32 / words.elements(), bit);
                    let bytes = e.select(is_second, e.c32(second), e.c32(first));
                    for v in &mut values {
                        *v = permute(e, *v, shuffle_xor(e, *v, mask), bytes);
                    }
                }
                Some(step) => {
                    for i in (0..values.len()).filter(|i| i & step == 0) {
                        let (a, b) = (values[i], values[i | step]);
                        let got = shuffle_xor(e, e.select(is_second, a, b), mask);
                        values[i] = e.select(is_second, got, a);
                        values[i | step] = e.select(is_second, b, got);
                    }
                }
            }
        }
        values
    }
}

/// Whether a load or store at indices may go through the lanes of a warp, so that other threads reach what a thread holds.
pub fn goes_through_lanes(op: OperationRef<'_, '_>) -> bool {
    let (tile, memory, mask, vector, condition, way) = if let Some(l) = op.cast::<Load>() {
        (l.result(), l.source(), l.mask(), l.vector(), l.vector_if(), Way::Load)
    } else if let Some(s) = op.cast::<Store>() {
        (
            s.value(),
            s.destination(),
            s.mask(),
            s.vector(),
            s.vector_if(),
            Way::Store,
        )
    } else {
        return false;
    };
    let (tile, memory) = (tile.r#type(), memory.r#type());
    let is_one_by_one = condition.is_some() || vector.is_none_or(|n| n < 2);
    let bytes = element_bits(memory).unwrap_or(8) / 8;
    let moves = |d: Rc<Distribution>| !Exchange::all(&d, memory, bytes, way).is_empty();
    is_one_by_one && mask.is_none() && is_global(memory) && Distribution::of(tile).is_some_and(moves)
}

/// Lines or sectors, of `unit` bytes along the axis, that a warp touches for one register.
fn touched(d: &Distribution, axis: usize, bytes: u64, unit: u64) -> usize {
    let place = |lane: usize| {
        let mut at = vec![0u32; d.shape.len()];
        for (bit, image) in d.threads.iter().take(LANE_BITS).enumerate() {
            if lane >> bit & 1 == 1 {
                at.iter_mut().zip(image).for_each(|(c, i)| *c ^= i);
            }
        }
        at[axis] = (u64::from(at[axis]) * bytes / unit) as u32;
        at
    };
    (0..1 << LANE_BITS).map(place).collect::<BTreeSet<_>>().len()
}

/// Which bytes of a register and of the one across, in the four digits of `prmt`, a lane has afterwards where `bit` of the number
/// of an element changes places: for lanes whose own bit is 0, and for the others.
fn inside(element_bits: usize, bit: usize) -> [i64; 2] {
    let step = (element_bits / 8) << bit;
    [0, step].map(|own| {
        let byte = |i: usize| match i & step == own {
            true => i,
            // The other of the two, from across.
            false => 4 + (i ^ step),
        };
        (0..4).map(|i| (byte(i) << (4 * i)) as i64).sum()
    })
}

/// `prmt`.
fn permute<'c>(e: &Emit<'c, '_>, own: V<'c>, other: V<'c>, bytes: V<'c>) -> V<'c> {
    let inputs = [own, other, bytes].map(|value| AsmOperand { constraint: "r", value });
    e.pure_ptx("prmt.b32 $0, $1, $2, $3;", ("r", e.i32_type()), &inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_change_places() {
        // Two halves, and in four bytes neighbours and pairs.
        assert_eq!(inside(16, 0), [0x5410, 0x3276]);
        assert_eq!(inside(8, 0), [0x6240, 0x3715]);
        assert_eq!(inside(8, 1), [0x5410, 0x3276]);
    }

    /// Coordinates of what a thread of the first warp holds in a register.
    fn held(d: &Distribution, register: usize, lane: usize) -> Vec<u32> {
        let mut at = d.registers[register].clone();
        for bit in (0..LANE_BITS).filter(|bit| lane >> bit & 1 == 1) {
            at.iter_mut().zip(&d.threads[bit]).for_each(|(c, i)| *c ^= i);
        }
        at
    }

    fn images(list: &[[u32; 2]]) -> Vec<Vec<u32>> {
        list.iter().map(|i| i.to_vec()).collect()
    }

    #[test]
    fn bits_change_places_and_nothing_else_moves() {
        let run = [[0, 1], [0, 2], [0, 4]];
        let row = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]];
        let rows = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]];
        let turned = [[1, 0], [0, 64], [0, 16], [2, 0], [0, 8]];
        let cases = [
            (run.to_vec(), row, [1, 256]),
            (run.to_vec(), rows, [4, 64]),
            (vec![run[0], run[1], run[2], [1, 0]], row, [2, 256]),
            (vec![run[0], run[1], run[2], [0, 32]], turned, [4, 128]),
            // Copies, and bits that others give together.
            (run[..2].to_vec(), [[0, 4], [0, 8], [0, 0], [1, 0], [0, 0]], [2, 16]),
            (run[..2].to_vec(), [[0, 4], [0, 8], [0, 16], [0, 32], [0, 48]], [1, 64]),
            (run[..2].to_vec(), [[0, 4], [0, 8], [0, 16], [0, 32], [0, 32]], [1, 64]),
        ];
        for (registers, lanes, shape) in cases {
            let d = Distribution::of_images(&images(&registers), &images(&lanes), &shape).expect("a layout");
            for (way, bytes) in [(Way::Load, 8), (Way::Load, 2), (Way::Store, 4), (Way::Store, 1)] {
                for x in Exchange::along(&d, 1, bytes, way) {
                    assert!(touched(&x.distribution, 1, bytes, way.unit()) < touched(&d, 1, bytes, way.unit()));
                    for (register, lane) in (0..d.registers.len()).flat_map(|r| (0..32).map(move |l| (r, l))) {
                        let (mut r, mut l) = (register, lane);
                        for (bit, other) in x.lanes.iter().enumerate() {
                            let (of_register, of_lane) = (register >> bit & 1, lane >> other & 1);
                            r = r & !(1 << bit) | of_lane << bit;
                            l = l & !(1 << other) | of_register << other;
                        }
                        assert_eq!(
                            held(&x.distribution, register, lane),
                            held(&d, r, l),
                            "{lanes:?} {way:?} {bytes}"
                        );
                    }
                }
            }
        }
        let whole_row = Distribution::of_images(&images(&run), &images(&rows), &[4, 64]).expect("a layout");
        assert_eq!(Exchange::along(&whole_row, 1, 2, Way::Store)[0].lanes, [3, 4, 2]);
        assert!(Exchange::along(&whole_row, 1, 2, Way::Load).is_empty());
    }
}
