//! Tiles with an axis less or an axis more: what a reduction leaves, and what a broadcast starts from.
use super::{Dim, LinearLayout, Space, f2::Basis};

impl LinearLayout {
    /// The layout of what a reduction along `axis` leaves: the axis is dropped, the axes above it move down by one, and
    /// registers that would only repeat lower ones are dropped too. Lanes and warps that differed along `axis` alone hold
    /// copies.
    ///
    /// ```
    /// use girih_core::layout::{Dim, wgmma_accumulator};
    /// let rows = wgmma_accumulator(64, 1)?.sliced(1);
    /// // Two of 32 registers are left: rows l / 4 and l / 4 + 8. The four lanes of a row hold the same.
    /// assert_eq!(rows.input_bits(Dim::Register), 1);
    /// assert_eq!(rows.broadcast_bits(Dim::Lane), 0b11);
    /// # Ok::<(), girih_core::layout::LayoutError>(())
    /// ```
    pub fn sliced(&self, axis: u8) -> LinearLayout {
        let order: Vec<Dim> = self.outputs().iter().map(|&(dim, _)| dim).collect();
        let kept: Vec<Dim> = order.into_iter().filter(|&dim| dim != Dim::Axis(axis)).collect();
        let mut sliced = self.with_outputs(&kept);
        for (dim, _) in &mut sliced.outputs.0 {
            if let Dim::Axis(above) = *dim
                && above > axis
            {
                *dim = Dim::Axis(above - 1);
            }
        }
        sliced.without_repeated_registers()
    }

    /// The same tile with a new axis of size 1 at `axis`; axes from there on move up by one. Undoes [`sliced`] on the
    /// shape, not on the registers that were dropped.
    ///
    /// [`sliced`]: LinearLayout::sliced
    pub fn expanded(&self, axis: u8) -> LinearLayout {
        let mut expanded = self.clone();
        for (dim, _) in &mut expanded.outputs.0 {
            if let Dim::Axis(above) = *dim
                && above >= axis
            {
                *dim = Dim::Axis(above.saturating_add(1));
            }
        }
        expanded.outputs.0.push((Dim::Axis(axis), 0));
        expanded
    }

    /// Bits of the register index, as a mask, that bring a thread nothing that its lower registers do not hold.
    pub fn repeated_registers(&self) -> u64 {
        Basis::new(self.columns_of(Dim::Register)).free
    }

    /// The layout without the registers that repeat lower ones. The bits that stay keep their order.
    pub fn without_repeated_registers(&self) -> LinearLayout {
        let repeated = self.repeated_registers();
        let Some((low, bits)) = self.inputs.find(Dim::Register) else {
            return self.clone();
        };
        let registers = low as usize..(low + bits) as usize;
        let columns = self.columns.iter().copied().enumerate().filter(|&(i, _)| {
            let drop = registers.contains(&i) && repeated >> (i - registers.start) & 1 != 0;
            !drop
        });
        let left = bits - repeated.count_ones();
        let inputs = self.inputs.0.iter();
        LinearLayout {
            columns: columns.map(|(_, column)| column).collect(),
            inputs: Space(
                inputs
                    .map(|&(dim, bits)| (dim, if dim == Dim::Register { left } else { bits }))
                    .collect(),
            ),
            outputs: self.outputs.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Blocked, Repeated, wgmma_accumulator};
    use super::*;
    use std::collections::BTreeSet;

    /// What a thread holds, as a set.
    fn held(layout: &LinearLayout, lane: u64, warp: u64) -> BTreeSet<Vec<(Dim, u64)>> {
        let registers = 0..1u64 << layout.input_bits(Dim::Register);
        registers
            .map(|register| {
                let mut at = layout.apply(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)]);
                at.sort_unstable();
                at
            })
            .collect()
    }

    #[test]
    fn a_slice_holds_the_projection_of_what_the_tile_holds() {
        let blocked = Blocked {
            per_thread: vec![2, 4],
            lanes: vec![8, 4],
            warps: vec![2, 2],
            order: vec![1, 0],
        };
        let layouts = [
            wgmma_accumulator(32, 1).expect("legal"),
            blocked.layout(&[64, 16]).expect("legal"),
            blocked.layout(&[32, 128]).expect("legal"),
        ];
        for layout in layouts {
            for axis in [0u8, 1] {
                let sliced = layout.sliced(axis);
                for (lane, warp) in (0..32).flat_map(|lane| (0..4).map(move |warp| (lane, warp))) {
                    let projected: BTreeSet<_> = held(&layout, lane, warp)
                        .into_iter()
                        .map(|at| vec![(Dim::Axis(0), at[1 - usize::from(axis)].1)])
                        .collect();
                    assert_eq!(held(&sliced, lane, warp), projected);
                    let registers = 1 << sliced.input_bits(Dim::Register);
                    assert_eq!(projected.len(), registers, "no register repeats another");
                }
                assert_eq!(sliced.repeated_registers(), 0);
                let back = sliced.expanded(axis);
                assert_eq!(back.output_bits(Dim::Axis(axis)), 0);
                assert!(back.sliced(axis).same_map(&sliced));
            }
        }
    }

    #[test]
    fn the_last_axis_leaves_a_scalar() {
        let scalar = wgmma_accumulator(8, 1).expect("legal").sliced(1).sliced(0);
        assert_eq!((scalar.input_bits(Dim::Register), scalar.outputs().len()), (0, 0));
        assert_eq!(scalar.copies(), 128);
    }

    #[test]
    fn repeated_tiles_slice_through_their_atom() {
        // Along its copies, a repeated tile leaves what its atom leaves.
        let tile = Repeated::wgmma_accumulator(24, 1).expect("legal");
        assert!(
            tile.atom
                .sliced(1)
                .same_map(&wgmma_accumulator(64, 1).expect("legal").sliced(1))
        );
    }
}
