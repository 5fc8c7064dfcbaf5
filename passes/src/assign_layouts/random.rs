//! Layouts drawn at random, for tests of what is made of layouts: blocks in any order and shape, slices, single bits in any
//! order, with copies in some threads.
use super::graph::sliced;
use girih_core::{draw::Dice, layout::Blocked as CoreBlocked};
use girih_dialects::tile::distribution::{Blocked, Linear};
use girih_ir::prelude::*;

/// Bits of a lane's number.
const LANE_BITS: usize = 5;
/// Elements for each thread up to which some have copies.
const MOST_REGISTERS: u64 = 8;

/// A layout of `shape` over so many warps.
pub fn layout<'c>(dice: &mut Dice, context: &'c Context, shape: &[i64], warps: u64) -> Attribute<'c> {
    match dice.below(4) {
        0 if !shape.is_empty() => linear(dice, context, shape, warps).into(),
        n if n == 1 || shape.is_empty() => {
            let axis = dice.below(shape.len() + 1);
            let mut whole = shape.to_vec();
            whole.insert(axis, 1 << dice.below(6));
            sliced(blocked(dice, context, &whole, warps).into(), axis)
        }
        _ => blocked(dice, context, shape, warps).into(),
    }
}

/// Whether threads may hold copies that they need not: a thread's registers are few.
pub fn may_copy(shape: &[i64], warps: u64) -> bool {
    shape.iter().product::<i64>() as u64 <= warps * 32 * MOST_REGISTERS
}

fn blocked<'c>(dice: &mut Dice, context: &'c Context, shape: &[i64], warps: u64) -> Blocked<'c> {
    let rank = shape.len();
    let mut room: Vec<u64> = shape.iter().map(|s| *s as u64).collect();
    let spare = may_copy(shape, warps);
    // Where there is room, as a rule; other threads hold copies.
    let mut deal = |bits: usize, dice: &mut Dice| {
        let mut dealt = vec![1; rank];
        for _ in 0..bits {
            let open: Vec<usize> = (0..rank).filter(|a| room[*a] > 1).collect();
            let any = open.is_empty() || spare && dice.below(12) == 0;
            let axis = if any {
                dice.below(rank)
            } else {
                open[dice.below(open.len())]
            };
            dealt[axis] *= 2;
            room[axis] = (room[axis] / 2).max(1);
        }
        dealt
    };
    let lanes = deal(LANE_BITS, dice);
    let warps = deal(warps.ilog2() as usize, dice);
    let per_thread = room.iter().map(|r| 1 << dice.below(r.ilog2() as usize + 1)).collect();
    let mut order: Vec<usize> = (0..rank).collect();
    dice.shuffle(&mut order);
    Blocked::of_core(
        context,
        &CoreBlocked {
            per_thread,
            lanes,
            warps,
            order,
        },
    )
}

fn linear<'c>(dice: &mut Dice, context: &'c Context, shape: &[i64], warps: u64) -> Linear<'c> {
    let (rank, spare) = (shape.len(), may_copy(shape, warps));
    let mut bits: Vec<Vec<i64>> = vec![];
    for (axis, size) in shape.iter().enumerate() {
        for bit in 0..size.ilog2() {
            let mut image = vec![0; rank];
            image[axis] = 1 << bit;
            bits.push(image);
        }
    }
    dice.shuffle(&mut bits);
    let mut threads = |count: usize, dice: &mut Dice| -> Vec<i64> {
        (0..count)
            .flat_map(|_| match dice.below(12) {
                0 if spare => vec![0; rank],
                _ => bits.pop().unwrap_or_else(|| vec![0; rank]),
            })
            .collect()
    };
    let lane = threads(LANE_BITS, dice);
    let warp = threads(warps.ilog2() as usize, dice);
    Linear::get(context, bits.concat(), lane, warp)
}
