//! The layouts that instructions prescribe, by name and for tiles of many instructions.
use super::{Dim, LayoutError, LinearLayout, Repeated, log2, matrix_fragment, mma_a, mma_accumulator, mma_b, wgmma_a};
use crate::wgmma;

/// A layout that an instruction prescribes; names are those of `#tile.layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// C and D of `wgmma.mma_async`: a warpgroup for every 64 rows, columns in eights.
    WgmmaD,
    /// A of `wgmma.mma_async` from registers: a warpgroup for every 64 rows, 32 bytes of K at a time.
    WgmmaA,
    /// C and D of `mma.sync.m16n8`, in one warp.
    MmaD,
    /// A of `mma.sync.m16n8` with 32 bytes of K, in one warp.
    MmaA,
    /// B of `mma.sync.m16n8` with 32 bytes of K, in one warp: K x N.
    MmaB,
    /// What `ldmatrix.x4` loads and `stmatrix.x4` stores: 16 x 16 elements of 16 bits, in one warp.
    Matrix,
    /// The same with `.trans`.
    MatrixTransposed,
}

impl Named {
    /// Every layout.
    pub const ALL: [Named; 7] = [
        Named::WgmmaD,
        Named::WgmmaA,
        Named::MmaD,
        Named::MmaA,
        Named::MmaB,
        Named::Matrix,
        Named::MatrixTransposed,
    ];

    /// The name that users type.
    pub const fn name(self) -> &'static str {
        match self {
            Named::WgmmaD => "wgmma_d",
            Named::WgmmaA => "wgmma_a",
            Named::MmaD => "mma_d",
            Named::MmaA => "mma_a",
            Named::MmaB => "mma_b",
            Named::Matrix => "ldmatrix",
            Named::MatrixTransposed => "ldmatrix_trans",
        }
    }

    /// The layout of this name.
    ///
    /// Errors: [`LayoutError::Shape`] with all the names.
    pub fn parse(name: &str) -> Result<Named, LayoutError> {
        Named::ALL
            .into_iter()
            .find(|named| named.name() == name)
            .ok_or_else(|| {
                let all: Vec<_> = Named::ALL.iter().map(|named| named.name()).collect();
                LayoutError::Shape(format!("unknown layout `{name}`; expected one of {}", all.join(", ")))
            })
    }

    /// The layout of one instruction, with one warp or warpgroup. Accumulators have their narrowest n, 8.
    fn atom(self, element_bits: u64) -> Result<LinearLayout, LayoutError> {
        match self {
            Named::WgmmaD => Ok(Repeated::wgmma_accumulator(8, 1)?.atom),
            Named::WgmmaA => wgmma_a(element_bits, 1),
            Named::MmaD => mma_accumulator(),
            Named::MmaA => mma_a(element_bits),
            Named::MmaB => mma_b(element_bits),
            Named::Matrix | Named::MatrixTransposed if element_bits != 16 => Err(LayoutError::Shape(format!(
                "elements of {element_bits} bits; ldmatrix and stmatrix have 8x8 matrices of 16"
            ))),
            Named::Matrix => matrix_fragment(2, false),
            Named::MatrixTransposed => matrix_fragment(2, true),
        }
    }

    /// Rows and columns of one instruction's tile.
    pub fn instruction_shape(self, element_bits: u64) -> Result<[u64; 2], LayoutError> {
        let atom = self.atom(element_bits)?;
        Ok([0, 1].map(|axis| 1 << atom.output_bits(Dim::Axis(axis))))
    }

    /// The layout of a tile of `shape` (rows, columns): instructions side by side in further registers, first along the
    /// columns. Rows of wgmma layouts go over more warpgroups instead.
    ///
    /// Errors: [`LayoutError::Shape`] where the tile is no whole number of instructions, and [`LayoutError::NotPowerOfTwo`]
    /// for other numbers of warpgroups.
    pub fn tile(self, shape: &[u64], element_bits: u64) -> Result<Repeated, LayoutError> {
        let [high, wide] = self.instruction_shape(element_bits)?;
        let &[rows, columns] = shape else {
            return Err(LayoutError::Shape(format!(
                "{} lays out matrices, but the tile has {} dimensions",
                self.name(),
                shape.len()
            )));
        };
        if rows == 0 || columns == 0 || !rows.is_multiple_of(high) || !columns.is_multiple_of(wide) {
            return Err(LayoutError::Shape(format!(
                "{} of {element_bits}-bit elements has multiples of {high} x {wide} elements, but the tile is {rows} x {columns}",
                self.name()
            )));
        }
        let warpgroups = rows / u64::from(wgmma::M);
        if matches!(self, Named::WgmmaD | Named::WgmmaA) {
            log2("warpgroups", warpgroups)?;
        }
        match self {
            Named::WgmmaD => Repeated::wgmma_accumulator(columns, warpgroups),
            Named::WgmmaA => Ok(Repeated {
                atom: wgmma_a(element_bits, warpgroups)?,
                counts: vec![(Dim::Axis(1), columns / wide)],
            }),
            _ => Ok(Repeated {
                atom: self.atom(element_bits)?,
                counts: vec![(Dim::Axis(1), columns / wide), (Dim::Axis(0), rows / high)],
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_element_of_a_tile_has_one_holder() {
        for named in Named::ALL {
            let [high, wide] = named.instruction_shape(16).expect("16 bits");
            assert_eq!(Named::parse(named.name()), Ok(named));
            for (down, across) in [(1, 1), (2, 3), (1, 4)] {
                let shape = [down * high, across * wide];
                let tile = named.tile(&shape, 16).expect("whole instructions");
                let bits = |dim| 1u64 << tile.atom.input_bits(dim);
                let mut held = BTreeSet::new();
                for warp in 0..bits(Dim::Warp) {
                    for lane in 0..bits(Dim::Lane) {
                        for register in 0..tile.registers() {
                            let inputs = [(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)];
                            let mut at = tile.apply(&inputs);
                            at.sort_unstable();
                            assert!(at[0].1 < shape[0] && at[1].1 < shape[1], "{named:?} {at:?}");
                            assert!(held.insert(at), "{named:?} holds an element twice");
                        }
                    }
                }
                assert_eq!(held.len() as u64, shape[0] * shape[1], "{named:?}");
            }
        }
    }

    #[test]
    fn what_an_instruction_has_not_is_said() {
        let error = |named: Named, shape: &[u64], bits| named.tile(shape, bits).unwrap_err().to_string();
        assert_eq!(
            error(Named::WgmmaD, &[60, 8], 32),
            "wgmma_d of 32-bit elements has multiples of 64 x 8 elements, but the tile is 60 x 8"
        );
        assert!(error(Named::WgmmaD, &[192, 8], 32).contains("warpgroups = 3, but layouts need powers of two"));
        assert!(error(Named::MmaA, &[16], 16).contains("1 dimensions"));
        assert!(error(Named::Matrix, &[16, 16], 8).contains("8 bits"));
        assert!(error(Named::WgmmaA, &[64, 16], 64).contains("64 bits"));
        assert!(error(Named::MmaA, &[16, 16], 2).contains("2 bits"));
        assert!(
            Named::parse("wgmma")
                .unwrap_err()
                .to_string()
                .contains("wgmma_d, wgmma_a")
        );
    }
}
