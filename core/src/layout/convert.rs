//! From one register layout to another: how far must the data move?
use super::{Dim, LayoutError, LinearLayout, Space, f2::Basis};

/// The farthest that data moves, near to far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Movement {
    /// Nowhere: every thread holds the same elements in the same registers.
    None,
    /// Between the registers of a thread.
    Registers,
    /// Between the lanes of a warp: shuffles.
    Lanes,
    /// Between the warps of a block: shared memory.
    Warps,
    /// Between the blocks of a cluster: distributed shared memory.
    Blocks,
}

/// A change of layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The farthest that data moves.
    pub movement: Movement,
    /// For each place of the destination, the place of the source that holds its element, the nearest one where several
    /// do.
    pub source: LinearLayout,
}

/// The cheapest way to give a tile that `from` distributes the layout `to`. Both map (register, lane, warp, block) to the
/// same tile. Copies in `from` are used wherever they save movement.
///
/// Errors: [`LayoutError::DifferentTiles`], and [`LayoutError::Incomplete`] if `from` lacks elements.
pub fn conversion(from: &LinearLayout, to: &LinearLayout) -> Result<Conversion, LayoutError> {
    let axes: Vec<Dim> = from.outputs().iter().map(|&(dim, _)| dim).collect();
    let same_tile = from.outputs.bits() == to.outputs.bits()
        && axes.iter().all(|&axis| from.output_bits(axis) == to.output_bits(axis));
    if !same_tile {
        return Err(LayoutError::DifferentTiles {
            left: from.outputs.to_string(),
            right: to.outputs.to_string(),
        });
    }
    let to = to.with_outputs(&axes);
    let levels = [
        (Movement::Registers, &[Dim::Register][..]),
        (Movement::Lanes, &[Dim::Register, Dim::Lane]),
        (Movement::Warps, &[Dim::Register, Dim::Lane, Dim::Warp]),
        (Movement::Blocks, &[Dim::Register, Dim::Lane, Dim::Warp, Dim::Block]),
    ];
    for (movement, movable) in levels {
        let Some(source) = source_map(from, &to, movable) else {
            continue;
        };
        // The identity also moves nothing where copies would allow other sources.
        let stays = from.same_map(&to);
        return Ok(if movement == Movement::Registers && stays {
            Conversion {
                movement: Movement::None,
                source: source_of_same(from),
            }
        } else {
            Conversion { movement, source }
        });
    }
    Err(LayoutError::Incomplete)
}

fn source_of_same(layout: &LinearLayout) -> LinearLayout {
    let columns = (0..layout.inputs.bits()).map(|bit| 1 << bit).collect();
    LinearLayout {
        inputs: layout.inputs.clone(),
        outputs: layout.inputs.clone(),
        columns,
    }
}

/// The linear map from places of `to` to places of `from` that leaves all dimensions but `movable` as they are.
fn source_map(from: &LinearLayout, to: &LinearLayout, movable: &[Dim]) -> Option<LinearLayout> {
    let reachable = from.with_inputs(movable);
    let basis = Basis::new(&reachable.columns);
    let mut columns = Vec::new();
    for &(dim, bits) in to.inputs() {
        for bit in 0..bits {
            let kept = if movable.contains(&dim) {
                None
            } else {
                Some(from.column(dim, bit)?)
            };
            let set = basis.solve(to.column(dim, bit)? ^ kept.unwrap_or(0))?;
            let mut place = reachable.inputs.unpack(set);
            if kept.is_some() {
                place.push((dim, 1 << bit));
            }
            place.retain(|&(_, value)| value != 0);
            columns.push(from.inputs.pack(&place).ok()?);
        }
    }
    Some(LinearLayout {
        inputs: Space(to.inputs().to_vec()),
        outputs: from.inputs.clone(),
        columns,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Blocked, mma_a, mma_accumulator, wgmma_accumulator};
    use super::*;

    fn blocked(per_thread: [u64; 2], lanes: [u64; 2], warps: [u64; 2], shape: [u64; 2]) -> LinearLayout {
        let (per_thread, lanes, warps) = (per_thread.to_vec(), lanes.to_vec(), warps.to_vec());
        Blocked {
            per_thread,
            lanes,
            warps,
            order: vec![1, 0],
        }
        .layout(&shape)
        .expect("legal")
    }

    fn check(from: &LinearLayout, to: &LinearLayout, movement: Movement) {
        let found = conversion(from, to).expect("same tile");
        assert_eq!(found.movement, movement);
        let arrived = found.source.then(from).expect("places of the source");
        assert!(
            arrived.same_map(to),
            "the source map must bring the destination's elements"
        );
    }

    #[test]
    fn each_movement_is_recognised() {
        let shape = [16, 64];
        let rows = blocked([1, 4], [2, 16], [4, 1], shape);
        check(&rows, &rows, Movement::None);
        // Registers in another order.
        let mut permuted = rows.clone();
        let last = permuted.columns_of(Dim::Register).len() - 1;
        permuted.columns.swap(0, last);
        check(&rows, &permuted, Movement::Registers);
        check(&rows, &blocked([1, 2], [1, 32], [4, 1], shape), Movement::Warps);
        check(
            &blocked([1, 2], [2, 16], [4, 1], [8, 32]),
            &blocked([1, 4], [4, 8], [2, 2], [8, 32]),
            Movement::Warps,
        );
        check(
            &blocked([1, 2], [2, 16], [1, 1], [2, 32]),
            &blocked([1, 1], [1, 32], [1, 1], [2, 32]),
            Movement::Lanes,
        );
    }

    #[test]
    fn copies_save_movement() {
        // Every warp holds the whole tile, so that any distribution over warps is at hand.
        let everywhere = blocked([1, 4], [4, 8], [4, 1], [4, 32]);
        assert_eq!(everywhere.copies(), 4);
        let mut split = everywhere.clone();
        let warp = split.inputs.find(Dim::Warp).expect("warps").0 as usize;
        split.columns[warp] = everywhere.column(Dim::Register, 0).expect("a register bit");
        check(&everywhere, &split, Movement::Registers);
    }

    #[test]
    fn accumulators_feed_the_next_product_from_registers() {
        // Two 8-column accumulators side by side are the A operand of a 16-deep product.
        let pair = mma_accumulator()
            .expect("legal")
            .product(&LinearLayout::identity(Dim::Register, Dim::Axis(1), 1))
            .expect("fits");
        assert!(pair.same_map(&mma_a(16).expect("legal")));
    }

    #[test]
    fn different_tiles_are_refused() {
        let error = conversion(
            &wgmma_accumulator(64, 1).expect("legal"),
            &wgmma_accumulator(128, 1).expect("legal"),
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "the layouts are of different tiles: (axis1: 64, axis0: 64) and (axis1: 128, axis0: 64)"
        );
    }
}
