//! How a tile goes from one layout to another, and where its elements lie on the way through shared memory.
//!
//! The place in shared memory is chosen among row-major orders with an exclusive or on top, which the layout algebra counts
//! bank conflicts of exactly: fewest wavefronts for the store and the load together, then fewest accesses. Loads may be
//! `ldmatrix`, which moves four registers at once where ordinary loads would move one. Where conflicts are left, it is the order
//! that the algebra makes for the two ([`layout::exchange`]), if that takes fewer.
use girih_core::layout::{
    self, BankCount, Dim, LayoutError, LinearLayout, MatrixLoad, Movement, cute_swizzle, matrix_load,
    shared_load_count, shared_store_count,
};
use girih_dialects::tile::{distribution::Distribution, layouts::layout_of, ops::value::ConvertLayout};
use girih_ir::prelude::*;
use std::{cell::RefCell, collections::HashMap, rc::Rc};

/// Banks of shared memory, as bits.
const BANK_BITS: u32 = 5;

/// A way from one layout to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// For each register of the destination the register of the source, in the same thread.
    Registers(Vec<usize>),
    /// For each register of the destination the register of the source and what the lane's number is combined with, by
    /// exclusive or; `lanes` gives what each bit of the thread's number contributes to the source's lane. Bits of the warp do
    /// where every warp has a copy.
    Lanes {
        /// (register of the source, constant part of the lane).
        registers: Vec<(usize, u32)>,
        /// Images of the bits of the thread's number, the lane's five first.
        lanes: Vec<u32>,
    },
    /// Through shared memory.
    Shared(Box<Trip>),
}

/// A way through shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trip {
    /// Coordinates to offset, in elements.
    pub offsets: LinearLayout,
    /// Cost of the store.
    pub store: BankCount,
    /// Cost of the load.
    pub load: BankCount,
    /// The load, where it is `ldmatrix`.
    pub matrix: Option<MatrixLoad>,
    /// Bytes of shared memory.
    pub bytes: u64,
    /// Whether every warp reads what it wrote itself, in as many bytes as the others, in their order.
    pub within_warps: bool,
}

impl Trip {
    /// Through memory in that order: coordinates to offset.
    pub fn through(
        from: &Distribution,
        to: &Distribution,
        offsets: LinearLayout,
        element_bytes: u64,
    ) -> Result<Trip, LayoutError> {
        let store = shared_store_count(&from.linear, &offsets, element_bytes, None)?;
        let load = shared_load_count(&to.linear, &offsets, element_bytes, None)?;
        let bits: u32 = from.shape.iter().map(|s| s.ilog2()).sum();
        let cost = |c: &BankCount| (c.wavefronts, c.accesses);
        let matrix = matrix_load(&to.linear, &offsets, element_bytes).filter(|m| cost(&m.count) < cost(&load));
        Ok(Trip {
            offsets,
            store,
            load: matrix.as_ref().map_or(load, |m| m.count),
            matrix,
            bytes: element_bytes << bits,
            within_warps: false,
        })
    }
    /// Wavefronts and accesses of the store and the load together.
    pub fn cost(&self) -> (u64, u64) {
        (
            self.store.wavefronts + self.load.wavefronts,
            self.store.accesses + self.load.accesses,
        )
    }
    /// Wavefronts more than without any conflict.
    pub fn excess(&self) -> u64 {
        self.store.wavefronts + self.load.wavefronts - self.store.ideal - self.load.ideal
    }
}

/// Who holds a tile before and after a change of layout. What warpgroups hold after a product is seen as one tile of all.
pub fn ends(op: ConvertLayout<'_, '_>) -> Option<(Rc<Distribution>, Rc<Distribution>)> {
    let (from, to) = (op.source().r#type(), op.result().r#type());
    let of = |t: Type<'_>, other: Type<'_>| match layout_of(t) {
        Some(_) => of_warpgroups(&other.shape()?).map(Rc::new),
        None => Distribution::of(t),
    };
    Some((of(from, to)?, of(to, from)?))
}

/// The distribution of an accumulator of `shape`, 64 rows of it in each warpgroup.
pub fn of_warpgroups(shape: &[i64]) -> Option<Distribution> {
    let &[rows, columns] = shape else { return None };
    let warpgroups = u64::try_from(rows).ok()? / u64::from(girih_core::wgmma::M);
    let linear = layout::wgmma_accumulator(u64::try_from(columns).ok()?, warpgroups).ok()?;
    Distribution::of_linear(&linear, shape)
}

/// How many plans are kept; a kernel has fewer.
const MOST_PLANS: usize = 256;

thread_local! {
    /// Plans that have been made, since a search is long, and the same few are asked for by every pass.
    static PLANS: RefCell<HashMap<(LinearLayout, LinearLayout, u64), Plan>> = RefCell::default();
}

/// The way from `from` to `to` for elements of `element_bytes`.
pub fn plan(from: &Distribution, to: &Distribution, element_bytes: u64) -> Result<Plan, LayoutError> {
    let key = (from.linear.clone(), to.linear.clone(), element_bytes);
    if let Some(known) = PLANS.with_borrow(|plans| plans.get(&key).cloned()) {
        return Ok(known);
    }
    let plan = search(from, to, element_bytes)?;
    PLANS.with_borrow_mut(|plans| {
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.insert(key, plan.clone());
    });
    Ok(plan)
}

fn search(from: &Distribution, to: &Distribution, element_bytes: u64) -> Result<Plan, LayoutError> {
    let conversion = layout::conversion(&from.linear, &to.linear)?;
    let registers = to.registers.len() as u64;
    let source = |from: Dim, n: u64, dim: Dim| conversion.source.coordinate(&[(from, n)], dim);
    let thread_bits: Vec<(Dim, u64)> = [Dim::Lane, Dim::Warp]
        .into_iter()
        .flat_map(|dim| (0..to.linear.input_bits(dim)).map(move |bit| (dim, 1 << bit)))
        .collect();
    // A register is chosen when the program is compiled, the same in all threads.
    let same_registers = thread_bits
        .iter()
        .all(|(dim, bit)| source(*dim, *bit, Dim::Register) == 0);
    let register = |r: u64| source(Dim::Register, r, Dim::Register) as usize;
    Ok(match conversion.movement {
        Movement::None => Plan::Registers((0..registers as usize).collect()),
        Movement::Registers if same_registers => Plan::Registers((0..registers).map(register).collect()),
        Movement::Lanes if same_registers => Plan::Lanes {
            registers: (0..registers)
                .map(|r| (register(r), source(Dim::Register, r, Dim::Lane) as u32))
                .collect(),
            lanes: thread_bits
                .iter()
                .map(|(dim, bit)| source(*dim, *bit, Dim::Lane) as u32)
                .collect(),
        },
        movement => {
            let within = movement <= Movement::Lanes;
            let own = within
                .then(|| trip(from, to, element_bytes, true))
                .transpose()?
                .flatten();
            // To wait for the block costs more than some conflicts, but not than any.
            let own = own.filter(|t| t.excess() <= t.store.ideal + t.load.ideal);
            Plan::Shared(Box::new(match own {
                Some(own) => own,
                None => trip(from, to, element_bytes, false)?.ok_or(LayoutError::Incomplete)?,
            }))
        }
    })
}

/// Whether each warp has bytes of its own under `offsets`, those of warp 0 first.
fn is_by_warps(d: &Distribution, offsets: &LinearLayout) -> Result<bool, LayoutError> {
    let places = d.linear.then(offsets)?;
    let bits = |dim: Dim| places.input_bits(dim);
    let own = places.output_bits(Dim::Offset).saturating_sub(bits(Dim::Warp));
    let image = |dim: Dim, bit: u32| places.coordinate(&[(dim, 1 << bit)], Dim::Offset);
    let stays = |dim: Dim| (0..bits(dim)).all(|bit| image(dim, bit) >> own == 0);
    Ok(stays(Dim::Register)
        && stays(Dim::Lane)
        && (0..bits(Dim::Warp)).all(|bit| image(Dim::Warp, bit) >> own == 1 << bit))
}

/// The best way through shared memory; with `within_warps` among those on which each warp has bytes of its own, if there is one.
pub fn trip(
    from: &Distribution,
    to: &Distribution,
    element_bytes: u64,
    within_warps: bool,
) -> Result<Option<Trip>, LayoutError> {
    let rank = from.shape.len();
    let fast_first = |d: &Distribution| {
        let mut axes: Vec<usize> = (0..rank).rev().collect();
        axes.sort_by_key(|a| std::cmp::Reverse(d.run(*a)));
        axes
    };
    let bits: u32 = from.shape.iter().map(|s| s.ilog2()).sum();
    let mut best: Option<Trip> = None;
    for order in [fast_first(from), fast_first(to)] {
        let plain = in_order(&from.shape, &order)?;
        for swizzle in swizzles(bits, element_bytes) {
            let offsets = plain.then(&swizzle)?;
            if within_warps && !(is_by_warps(from, &offsets)? && is_by_warps(to, &offsets)?) {
                continue;
            }
            let trip = Trip::through(from, to, offsets, element_bytes)?;
            if best.as_ref().is_none_or(|b| trip.cost() < b.cost()) {
                best = Some(trip);
            }
        }
    }
    if let Some(best) = best.as_mut() {
        best.within_warps = within_warps;
    }
    let best = match best {
        Some(best) if best.excess() > 0 && !within_warps => best,
        _ => return Ok(best),
    };
    // Tiles that several threads hold copies of have no such order.
    let Ok(found) = layout::exchange(&[&from.linear, &to.linear], element_bytes) else {
        return Ok(Some(best));
    };
    let made = Trip::through(from, to, found.memory.invert()?, element_bytes)?;
    Ok(Some(if made.cost().0 < best.cost().0 { made } else { best }))
}

/// Coordinates to offset, the axes of `order` from fast to slow.
pub fn in_order(shape: &[i64], order: &[usize]) -> Result<LinearLayout, LayoutError> {
    let forward = order.iter().try_fold(LinearLayout::unit(), |l, axis| {
        l.product(&LinearLayout::identity(
            Dim::Offset,
            Dim::Axis(*axis as u8),
            shape[*axis].ilog2(),
        ))
    })?;
    forward.invert()
}

/// Permutations of offsets to try: none first, then exclusive ors of up to all banks.
fn swizzles(bits: u32, element_bytes: u64) -> Vec<LinearLayout> {
    let mut found = vec![LinearLayout::identity(Dim::Offset, Dim::Offset, bits)];
    let word = 2u32.saturating_sub(element_bytes.ilog2());
    let row = BANK_BITS + word.max(2u32.saturating_sub(element_bytes.ilog2()));
    for width in 1..=BANK_BITS {
        for low in 0..=row.saturating_sub(width) {
            for shift in width..bits {
                if let Ok(l) = cute_swizzle(width, low, shift, bits) {
                    found.push(l);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use girih_core::layout::Blocked;

    fn distribution(
        per_thread: [u64; 2],
        lanes: [u64; 2],
        warps: [u64; 2],
        order: [usize; 2],
        shape: [i64; 2],
    ) -> Distribution {
        let blocked = Blocked {
            per_thread: per_thread.to_vec(),
            lanes: lanes.to_vec(),
            warps: warps.to_vec(),
            order: order.to_vec(),
        };
        let sizes = shape.map(|s| s as u64);
        Distribution::of_linear(&blocked.layout(&sizes).expect("legal"), &shape).expect("a tile")
    }

    /// Follows a plan, and says whether every thread gets what the destination has there.
    fn arrives(from: &Distribution, to: &Distribution) -> bool {
        let threads = from.thread_count();
        let at = |d: &Distribution, thread: u64, register: usize| {
            let bits = d.threads.iter().enumerate().filter(|(bit, _)| thread >> bit & 1 == 1);
            bits.fold(d.registers[register].clone(), |at, (_, image)| {
                at.iter().zip(image).map(|(a, i)| a ^ i).collect()
            })
        };
        let (lanes, registers): (Vec<u32>, Vec<(usize, u32)>) = match plan(from, to, 4).expect("one tile") {
            // Through memory every element has its place.
            Plan::Shared(trip) => return trip.offsets.is_bijective(),
            Plan::Registers(registers) => {
                let own = (0..to.threads.len())
                    .map(|bit| if bit < 5 { 1 << bit } else { 0 })
                    .collect();
                (own, registers.into_iter().map(|r| (r, 0)).collect())
            }
            Plan::Lanes { registers, lanes } => (lanes, registers),
        };
        (0..threads).all(|thread| {
            let bits = lanes.iter().enumerate().filter(|(bit, _)| thread >> bit & 1 == 1);
            let lane = bits.fold(0, |lane, (_, image)| lane ^ image);
            registers.iter().enumerate().all(|(r, (of, constant))| {
                let source = thread & !31 | u64::from(lane ^ constant);
                at(from, source, *of) == at(to, thread, r)
            })
        })
    }

    #[test]
    fn copies_are_taken_from_where_they_are() {
        // Every warp has all rows in its lanes; then a warp has 16 of them, its lanes 8 and its registers 2.
        let all = distribution([1, 1], [32, 1], [1, 4], [1, 0], [32, 1]);
        let divided = girih_core::layout::MmaTile::choose(32, 1, 4, true);
        let divided = divided.accumulator(32, 1).expect("powers of two");
        let linear =
            girih_core::layout::mma_operand(&divided, girih_core::layout::Factor::A, 1, 2).expect("an accumulator");
        let divided = Distribution::of_linear(&linear, &[32, 1]).expect("a tile");
        assert!(matches!(plan(&all, &divided, 2), Ok(Plan::Lanes { .. })));
        assert!(arrives(&all, &divided) && arrives(&divided, &all));
        // Every thread has everything; then each has one.
        let everything = distribution([32, 1], [1, 32], [1, 4], [1, 0], [32, 1]);
        let one = distribution([1, 1], [32, 1], [1, 4], [1, 0], [32, 1]);
        assert!(arrives(&everything, &one) && arrives(&one, &everything));
    }

    #[test]
    fn transpositions_have_no_conflicts() {
        for (bytes, vector) in [(1, 16), (2, 8), (4, 4), (8, 2)] {
            let along = (64 / vector).min(8);
            let rows = distribution([1, vector], [32 / along, along], [4, 1], [1, 0], [64, 64]);
            let columns = distribution([vector, 1], [along, 32 / along], [1, 4], [0, 1], [64, 64]);
            let Ok(Plan::Shared(trip)) = plan(&rows, &columns, bytes) else {
                panic!("elements must cross warps");
            };
            assert!(trip.offsets.is_bijective());
            assert_eq!(
                trip.excess(),
                0,
                "{bytes} bytes: store {:?}, load {:?}",
                trip.store,
                trip.load
            );
        }
    }
}
