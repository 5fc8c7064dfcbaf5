//! Tiles whose sizes are no powers of two.
use super::{Dim, LayoutError, LinearLayout, wgmma_accumulator};

/// Copies of one linear tile side by side, held in further registers: a wgmma accumulator with n = 192 is three of n = 64.
///
/// Register `r` is register `r % atom` of copy `r / atom`; copies count along `counts`, the first fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The tile that repeats.
    pub atom: LinearLayout,
    /// Copies along each axis.
    pub counts: Vec<(Dim, u64)>,
}

impl From<LinearLayout> for Repeated {
    /// One copy.
    fn from(atom: LinearLayout) -> Self {
        Repeated {
            atom,
            counts: Vec::new(),
        }
    }
}

impl Repeated {
    /// D of one `wgmma` for any n that is a multiple of 8; see [`wgmma_accumulator`].
    pub fn wgmma_accumulator(n: u64, warpgroups: u64) -> Result<Repeated, LayoutError> {
        if n == 0 || !n.is_multiple_of(8) {
            return Err(LayoutError::Shape(format!("n = {n}, but wgmma takes multiples of 8")));
        }
        let width = 1 << n.trailing_zeros();
        Ok(Repeated {
            atom: wgmma_accumulator(width, warpgroups)?,
            counts: vec![(Dim::Axis(1), n / width)],
        })
    }

    /// What a reduction along `axis` leaves; see [`LinearLayout::sliced`]. Copies along the axis go with it.
    pub fn sliced(&self, axis: u8) -> Repeated {
        let counts = self.counts.iter().filter(|(dim, _)| *dim != Dim::Axis(axis));
        let moved = counts.map(|&(dim, count)| match dim {
            Dim::Axis(above) if above > axis => (Dim::Axis(above - 1), count),
            _ => (dim, count),
        });
        Repeated {
            atom: self.atom.sliced(axis),
            counts: moved.collect(),
        }
    }

    /// Registers of a thread, in elements.
    pub fn registers(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).product::<u64>() << self.atom.input_bits(Dim::Register)
    }

    /// Size of the tile along `axis`.
    pub fn size(&self, axis: Dim) -> u64 {
        self.copies(axis) << self.atom.output_bits(axis)
    }

    fn copies(&self, axis: Dim) -> u64 {
        self.counts
            .iter()
            .filter(|(dim, _)| *dim == axis)
            .map(|(_, count)| count)
            .product()
    }

    /// Coordinates of the element that these inputs hold; what is not named is 0.
    pub fn apply(&self, inputs: &[(Dim, u64)]) -> Vec<(Dim, u64)> {
        let register = inputs
            .iter()
            .find(|(dim, _)| *dim == Dim::Register)
            .map_or(0, |&(_, value)| value);
        let mut coordinates = self.atom.apply(inputs);
        let mut copy = register >> self.atom.input_bits(Dim::Register);
        for &(axis, count) in &self.counts {
            if let Some((_, value)) = coordinates.iter_mut().find(|(dim, _)| *dim == axis) {
                *value += (copy % count) << self.atom.output_bits(axis);
            }
            copy /= count;
        }
        coordinates
    }

    /// The inputs that hold the element at these coordinates, the ones whose free bits are 0; `None` outside the tile or
    /// where the atom does not hold it.
    pub fn holder(&self, coordinates: &[(Dim, u64)]) -> Option<Vec<(Dim, u64)>> {
        let mut copy = 0;
        let mut weight = 1;
        let mut within = coordinates.to_vec();
        for (axis, value) in &mut within {
            if *value >= self.size(*axis) {
                return None;
            }
            *value &= (1 << self.atom.output_bits(*axis)) - 1;
        }
        for &(axis, count) in &self.counts {
            let value = coordinates
                .iter()
                .find(|(dim, _)| *dim == axis)
                .map_or(0, |&(_, value)| value);
            copy += weight * (value >> self.atom.output_bits(axis));
            weight *= count;
        }
        let mut inputs = self.atom.pseudo_invert().apply(&within);
        let reached = self.atom.apply(&inputs);
        let expected = |dim| within.iter().find(|(d, _)| *d == dim).map_or(0, |&(_, value)| value);
        if reached.iter().any(|&(dim, value)| value != expected(dim)) {
            return None;
        }
        for (dim, value) in &mut inputs {
            if *dim == Dim::Register {
                *value += copy << self.atom.input_bits(Dim::Register);
            }
        }
        Some(inputs)
    }
}

/// A tile padded to powers of two: the layout is that of the padded tile, and a mask says what is real.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padded {
    /// Layout of the padded tile.
    pub layout: LinearLayout,
    /// True sizes, outermost axis first.
    pub shape: Vec<u64>,
}

impl Padded {
    /// `shape` with each size rounded up to a power of two.
    pub fn shape(shape: &[u64]) -> Vec<u64> {
        shape.iter().map(|&size| size.max(1).next_power_of_two()).collect()
    }

    /// Whether these inputs hold an element of the true tile.
    pub fn holds(&self, inputs: &[(Dim, u64)]) -> bool {
        let inside = |(dim, value): (Dim, u64)| match dim {
            Dim::Axis(axis) => self.shape.get(usize::from(axis)).is_some_and(|&size| value < size),
            _ => true,
        };
        self.layout.apply(inputs).into_iter().all(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Blocked;
    use super::*;
    use crate::wgmma;

    #[test]
    fn every_n_of_wgmma_has_its_accumulator() {
        for n in wgmma::Operand::F16.legal_n() {
            let tile = Repeated::wgmma_accumulator(n.into(), 1).expect("legal");
            assert_eq!(tile.registers(), u64::from(wgmma::accumulator_len(n)));
            assert_eq!((tile.size(Dim::Axis(0)), tile.size(Dim::Axis(1))), (64, u64::from(n)));
            for thread in (0..128).step_by(7) {
                for index in 0..wgmma::accumulator_len(n) {
                    let inputs = [
                        (Dim::Register, index.into()),
                        (Dim::Lane, (thread % 32).into()),
                        (Dim::Warp, (thread / 32).into()),
                    ];
                    let (row, column) = wgmma::accumulator(thread, index);
                    let coordinates = tile.apply(&inputs);
                    assert_eq!(coordinates, [(Dim::Axis(1), column.into()), (Dim::Axis(0), row.into())]);
                    let mut holder = tile.holder(&coordinates).expect("inside");
                    holder.sort_unstable();
                    assert_eq!(holder, inputs);
                }
            }
            assert_eq!(tile.holder(&[(Dim::Axis(1), n.into())]), None);
        }
        assert!(Repeated::wgmma_accumulator(20, 1).is_err());
    }

    #[test]
    fn padding_is_masked() {
        let blocked = Blocked {
            per_thread: vec![1, 2],
            lanes: vec![4, 8],
            warps: vec![1, 1],
            order: vec![1, 0],
        };
        let shape = vec![3, 20];
        let padded = Padded {
            layout: blocked.layout(&Padded::shape(&shape)).expect("powers of two"),
            shape,
        };
        let registers = 1 << padded.layout.input_bits(Dim::Register);
        let held = (0..registers)
            .flat_map(|register| (0..32).map(move |lane| [(Dim::Register, register), (Dim::Lane, lane)]))
            .filter(|inputs| padded.holds(inputs))
            .count();
        assert_eq!(held, 60);
    }
}
