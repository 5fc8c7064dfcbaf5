//! Questions about one layout.
use super::{Dim, LinearLayout, f2::Basis, mask};

impl LinearLayout {
    /// Output bits that the inputs reach.
    pub fn rank(&self) -> u32 {
        Basis::new(&self.columns).rank()
    }

    /// Whether every output has an input.
    pub fn is_surjective(&self) -> bool {
        self.rank() == self.outputs.bits()
    }

    /// Whether no two inputs have the same output.
    pub fn is_injective(&self) -> bool {
        self.rank() == self.inputs.bits()
    }

    /// Whether outputs and inputs pair up.
    pub fn is_bijective(&self) -> bool {
        self.is_injective() && self.is_surjective()
    }

    /// Bits of input `dim` that bring no element that earlier bits do not bring already, as a mask. Earlier are the lower
    /// bits of the dimension and all bits of the dimensions before it.
    pub fn free_bits(&self, dim: Dim) -> u64 {
        let free = Basis::new(&self.columns).free;
        self.inputs
            .find(dim)
            .map_or(0, |(low, bits)| free.checked_shr(low).unwrap_or(0) & mask(bits))
    }

    /// Bits of input `dim` that change nothing at all, as a mask.
    pub fn broadcast_bits(&self, dim: Dim) -> u64 {
        self.columns_of(dim)
            .iter()
            .enumerate()
            .filter(|(_, column)| **column == 0)
            .map(|(bit, _)| 1 << bit)
            .sum()
    }

    /// Inputs that hold each element: 2 to the number of free bits.
    pub fn copies(&self) -> u64 {
        1u64.checked_shl(self.inputs.bits() - self.rank()).unwrap_or(u64::MAX)
    }

    /// How many neighbours along output `axis` consecutive values of input `dim` hold, aligned to their number: the widest
    /// vector that one access can move. 1 where there are none.
    pub fn contiguity(&self, dim: Dim, axis: Dim) -> u64 {
        let (Some((low, bits)), Some((first, _))) = (self.outputs.find(axis), self.inputs.find(dim)) else {
            return 1;
        };
        let columns = self.columns_of(dim);
        let steps = |k: u32| columns.get(k as usize) == Some(&(1 << (low + k)));
        let mut run = (0..bits).take_while(|&k| steps(k)).count() as u32;
        // No other input may move the start of the run off its alignment.
        for (i, &column) in self.columns.iter().enumerate() {
            if !(first..first + run).contains(&(i as u32)) {
                run = run.min((column.checked_shr(low).unwrap_or(0) & mask(bits)).trailing_zeros());
            }
        }
        1 << run
    }

    /// As [`contiguity`](LinearLayout::contiguity), but the values of `dim` may be taken in any fixed order: how many
    /// neighbours along `axis` one access can move when the registers of a thread are rearranged first, the same way in
    /// every thread.
    pub fn vector(&self, dim: Dim, axis: Dim) -> u64 {
        let (Some((low, bits)), Some((first, count))) = (self.outputs.find(axis), self.inputs.find(dim)) else {
            return 1;
        };
        let held = Basis::new(self.columns_of(dim));
        let mut run = (0..bits).take_while(|&k| held.solve(1 << (low + k)).is_some()).count() as u32;
        for (i, &column) in self.columns.iter().enumerate() {
            if !(first..first + count).contains(&(i as u32)) {
                run = run.min((column.checked_shr(low).unwrap_or(0) & mask(bits)).trailing_zeros());
            }
        }
        1 << run
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LinearLayout, row_major};
    use super::*;

    const ROW: Dim = Dim::Axis(0);
    const COLUMN: Dim = Dim::Axis(1);

    #[test]
    fn a_duplicated_tile_has_free_and_broadcast_bits() {
        let layout = LinearLayout::from_bases(
            &[(COLUMN, 2)],
            &[
                (Dim::Register, &[&[(COLUMN, 1)]]),
                (Dim::Lane, &[&[(COLUMN, 2)], &[], &[(COLUMN, 3)]]),
            ],
        )
        .expect("a layout");
        assert_eq!(
            (layout.free_bits(Dim::Register), layout.free_bits(Dim::Lane)),
            (0, 0b110)
        );
        assert_eq!(layout.broadcast_bits(Dim::Lane), 0b010);
        assert_eq!((layout.rank(), layout.copies()), (2, 4));
        assert!(layout.is_surjective() && !layout.is_injective());
    }

    #[test]
    fn contiguity_respects_alignment() {
        let columns = row_major(Dim::Register, &[4, 8]).expect("powers of two");
        assert_eq!(columns.contiguity(Dim::Register, COLUMN), 8);
        assert_eq!(columns.contiguity(Dim::Register, ROW), 1);
        // Another input that moves the start by 2 leaves aligned pairs only.
        let shifted = LinearLayout::from_bases(
            &[(COLUMN, 3)],
            &[
                (Dim::Register, &[&[(COLUMN, 1)], &[(COLUMN, 2)], &[(COLUMN, 4)]]),
                (Dim::Lane, &[&[(COLUMN, 2)]]),
            ],
        )
        .expect("a layout");
        assert_eq!(shifted.contiguity(Dim::Register, COLUMN), 2);
        assert_eq!(shifted.vector(Dim::Register, COLUMN), 2);
    }

    #[test]
    fn vectors_may_take_registers_in_another_order() {
        let swapped = LinearLayout::from_bases(
            &[(COLUMN, 3)],
            &[
                (Dim::Register, &[&[(COLUMN, 2)], &[(COLUMN, 3)]]),
                (Dim::Lane, &[&[(COLUMN, 4)]]),
            ],
        )
        .expect("a layout");
        assert_eq!(swapped.contiguity(Dim::Register, COLUMN), 1);
        assert_eq!(swapped.vector(Dim::Register, COLUMN), 4);
    }
}
