//! `ldmatrix`, `stmatrix` and `movmatrix` of 8x8 matrices of 16-bit elements (PTX ISA 9.4).
//!
//! Lane `l` holds elements `2 * (l % 4)` and `+ 1` of row `l / 4` of each matrix, or of the transposed matrix with
//! `.trans`. Lane `8 * j + i` gives the shared address of row `i` of matrix `j`.
use super::WarpRegister;
use crate::memory::{Bytes, Fault, FaultKind};

/// Bytes of one row.
const ROW_BYTES: u64 = 16;

/// Reads `D.len()` matrices: one register for each.
///
/// Errors: `MisalignedAddress` for a row that does not start at a multiple of 16 bytes, and those of `shared`.
pub fn ldmatrix(
    shared: &dyn Bytes,
    addresses: &WarpRegister,
    transpose: bool,
    d: &mut [WarpRegister],
) -> Result<(), Fault> {
    for (j, register) in d.iter_mut().enumerate() {
        let mut matrix = [[0u16; 8]; 8];
        for (i, row) in matrix.iter_mut().enumerate() {
            let mut bytes = [0; ROW_BYTES as usize];
            shared.read(row_address(addresses, j, i)?, &mut bytes)?;
            *row = std::array::from_fn(|c| u16::from_le_bytes([bytes[2 * c], bytes[2 * c + 1]]));
        }
        *register = to_lanes(&matrix, transpose);
    }
    Ok(())
}

/// Writes one matrix for each register of `values`. Errors: as [`ldmatrix`].
pub fn stmatrix(
    shared: &dyn Bytes,
    addresses: &WarpRegister,
    transpose: bool,
    values: &[WarpRegister],
) -> Result<(), Fault> {
    for (j, register) in values.iter().enumerate() {
        let matrix = from_lanes(register, transpose);
        for (i, row) in matrix.iter().enumerate() {
            let mut bytes = [0; ROW_BYTES as usize];
            for (c, element) in row.iter().enumerate() {
                bytes[2 * c..2 * c + 2].copy_from_slice(&element.to_le_bytes());
            }
            shared.write(row_address(addresses, j, i)?, &bytes)?;
        }
    }
    Ok(())
}

/// The transposed matrix (`movmatrix.trans`).
pub fn movmatrix(a: &WarpRegister) -> WarpRegister {
    to_lanes(&from_lanes(a, false), true)
}

fn row_address(addresses: &WarpRegister, matrix: usize, row: usize) -> Result<u64, Fault> {
    let lane = 8 * matrix + row;
    let address = addresses[lane];
    if address.is_multiple_of(ROW_BYTES) {
        return Ok(address);
    }
    Err(Fault::new(
        FaultKind::MisalignedAddress,
        format!(
            "row {row} of matrix {matrix} at {address:#x} (lane {lane}); rows start at multiples of {ROW_BYTES} bytes"
        ),
    ))
}

fn to_lanes(matrix: &[[u16; 8]; 8], transpose: bool) -> WarpRegister {
    std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        let at = |c: usize| u64::from(if transpose { matrix[c][row] } else { matrix[row][c] });
        at(column) | at(column + 1) << 16
    })
}

fn from_lanes(register: &WarpRegister, transpose: bool) -> [[u16; 8]; 8] {
    let mut matrix = [[0; 8]; 8];
    for (lane, value) in register.iter().enumerate() {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        for i in 0..2 {
            let element = (value >> (16 * i)) as u16;
            if transpose {
                matrix[column + i][row] = element;
            } else {
                matrix[row][column + i] = element;
            }
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tma::flat::Flat;

    #[test]
    fn what_is_stored_is_loaded_and_transposition_is_its_own_inverse() {
        let addresses = std::array::from_fn(|lane| 16 * (31 - lane as u64));
        let values: Vec<WarpRegister> = (0..4u64)
            .map(|r| std::array::from_fn(|l| r << 20 | (l as u64) << 8 | 7))
            .collect();
        for transpose in [false, true] {
            let shared = Flat::new(0, vec![0; 512]);
            stmatrix(&shared, &addresses, transpose, &values).unwrap();
            let mut back = vec![[0; 32]; 4];
            ldmatrix(&shared, &addresses, transpose, &mut back).unwrap();
            assert_eq!(back, values);
            ldmatrix(&shared, &addresses, !transpose, &mut back).unwrap();
            assert_eq!(back.iter().map(movmatrix).collect::<Vec<_>>(), values);
        }
    }

    #[test]
    fn rows_are_aligned() {
        let shared = Flat::new(0, vec![0; 512]);
        let fault = ldmatrix(&shared, &[8; 32], false, &mut [[0; 32]]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::MisalignedAddress);
    }
}
