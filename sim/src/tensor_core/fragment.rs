//! Which element of a matrix sits in which register of which lane (PTX ISA 9.4, "Matrix Fragments for mma").
//!
//! Every shape with 8 columns follows one pattern. With `g = lane / 4`, `t = lane % 4`, `e` elements in a register and
//! element `i` of register `r`:
//!
//! | matrix | row | column |
//! |---|---|---|
//! | A, 16 rows | `g + 8 * (r % 2)` | `t * e + i + 4 * e * (r / 2)` |
//! | A, 8 rows | `g` | `t * e + i + 4 * e * r` |
//! | B | `t * e + i + 4 * e * r` | `g` |
//! | C, D of 32 and 64 bits | `g + 8 * (r / 2)` | `2 * t + r % 2` |
//! | C, D of 16 bits | `g + 8 * r` | `2 * t + i` |
//!
//! `m8n8k4` for f16 is older and has patterns of its own: four products at once, each by 8 lanes.
use super::WarpRegister;

/// Elements in one register: as many as fit 32 bits, or one of 64.
pub const fn per_register(bits: usize) -> usize {
    if bits >= 32 { 1 } else { 32 / bits }
}

/// Registers of a lane that hold a matrix of `elements` in a warp.
pub const fn registers(elements: usize, bits: usize) -> usize {
    elements / 32 / per_register(bits)
}

/// Row and column of element `i` of register `r` of `lane` in A of `rows` (8 or 16).
pub const fn a_position(rows: usize, bits: usize, r: usize, lane: usize, i: usize) -> (usize, usize) {
    let (g, t, e) = (lane / 4, lane % 4, per_register(bits));
    if rows == 16 {
        (g + 8 * (r % 2), t * e + i + 4 * e * (r / 2))
    } else {
        (g, t * e + i + 4 * e * r)
    }
}

/// Row and column of element `i` of register `r` of `lane` in B.
pub const fn b_position(bits: usize, r: usize, lane: usize, i: usize) -> (usize, usize) {
    let (g, t, e) = (lane / 4, lane % 4, per_register(bits));
    (t * e + i + 4 * e * r, g)
}

/// Row and column of element `i` of register `r` of `lane` in C and D.
pub const fn c_position(bits: usize, r: usize, lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = (lane / 4, lane % 4);
    if bits == 16 {
        (g + 8 * r, 2 * t + i)
    } else {
        (g + 8 * (r / 2), 2 * t + r % 2)
    }
}

/// Element `i` of a register that holds elements of `bits`.
#[inline]
pub const fn element(register: u64, bits: usize, i: usize) -> u64 {
    let value = register >> (i * bits);
    if bits == 64 { value } else { value & ((1 << bits) - 1) }
}

/// Puts `value` (no bits above `bits`) into element `i` of a register.
#[inline]
pub const fn set_element(register: &mut u64, bits: usize, i: usize, value: u64) {
    let mask = if bits == 64 {
        u64::MAX
    } else {
        ((1 << bits) - 1) << (i * bits)
    };
    *register = *register & !mask | value << (i * bits);
}

/// The bits of a matrix of `rows * columns`, row by row, from registers and their position function.
pub fn gather(
    registers: &[WarpRegister],
    rows: usize,
    columns: usize,
    bits: usize,
    position: impl Fn(usize, usize, usize) -> (usize, usize),
) -> Vec<u64> {
    let mut matrix = vec![0; rows * columns];
    for (r, register) in registers.iter().enumerate() {
        for (lane, &register) in register.iter().enumerate() {
            for i in 0..per_register(bits) {
                let (row, column) = position(r, lane, i);
                matrix[row * columns + column] = element(register, bits, i);
            }
        }
    }
    matrix
}

/// Registers from a matrix: the inverse of [`gather`].
pub fn scatter(
    matrix: &[u64],
    columns: usize,
    bits: usize,
    registers: &mut [WarpRegister],
    position: impl Fn(usize, usize, usize) -> (usize, usize),
) {
    for (r, register) in registers.iter_mut().enumerate() {
        for (lane, register) in register.iter_mut().enumerate() {
            *register = 0;
            for i in 0..per_register(bits) {
                let (row, column) = position(r, lane, i);
                set_element(register, bits, i, matrix[row * columns + column]);
            }
        }
    }
}

/// Positions of `m8n8k4` with f16 factors: lanes `4q..4q+4` and `4q+16..4q+20` compute product `q`.
pub mod m8n8k4 {
    /// Lanes of product `q`, low four first.
    pub fn lanes(q: usize) -> [usize; 8] {
        std::array::from_fn(|i| 4 * q + i % 4 + 16 * (i / 4))
    }

    /// Row and column in A of half `i` (0 to 3) of lane `l` (0 to 7 of the product).
    pub fn a(column_major: bool, l: usize, i: usize) -> (usize, usize) {
        let (t, high) = (l % 4, 4 * (l / 4));
        if column_major { (i + high, t) } else { (t + high, i) }
    }

    /// Row and column in B of half `i` of lane `l`.
    pub fn b(column_major: bool, l: usize, i: usize) -> (usize, usize) {
        let (t, high) = (l % 4, 4 * (l / 4));
        if column_major { (i, t + high) } else { (t, i + high) }
    }

    /// Row and column in C and D of element `i` (0 to 7) of lane `l`.
    pub fn c(f16: bool, l: usize, i: usize) -> (usize, usize) {
        let (t, high) = (l % 4, 4 * (l / 4));
        if f16 {
            (t + high, i)
        } else {
            ((t & 1) + (i & 2) + high, (i & 4) + (t & 2) + (i & 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_has_one_place() {
        let check =
            |rows: usize, columns: usize, bits: usize, position: &dyn Fn(usize, usize, usize) -> (usize, usize)| {
                let mut seen = vec![0; rows * columns];
                for r in 0..registers(rows * columns, bits) {
                    for lane in 0..32 {
                        for i in 0..per_register(bits) {
                            let (row, column) = position(r, lane, i);
                            seen[row * columns + column] += 1;
                        }
                    }
                }
                assert!(seen.iter().all(|&n| n == 1), "{rows}x{columns} of {bits} bits");
            };
        for (rows, k, bits) in [
            (16, 16, 16),
            (16, 8, 16),
            (16, 4, 32),
            (16, 8, 32),
            (16, 64, 4),
            (16, 256, 1),
            (8, 16, 8),
            (16, 16, 64),
            (8, 4, 64),
        ] {
            check(rows, k, bits, &|r, l, i| a_position(rows, bits, r, l, i));
            check(k, 8, bits, &|r, l, i| b_position(bits, r, l, i));
        }
        for (rows, bits) in [(16, 32), (16, 16), (8, 32), (8, 64), (16, 64)] {
            check(rows, 8, bits, &|r, l, i| c_position(bits, r, l, i));
        }
    }

    #[test]
    fn every_element_of_m8n8k4_has_one_place() {
        for major in [false, true] {
            for f in [m8n8k4::a, m8n8k4::b] {
                let mut places: Vec<_> = (0..32).map(|n| f(major, n / 4, n % 4)).collect();
                places.sort();
                places.dedup();
                assert_eq!(places.len(), 32);
            }
            let mut places: Vec<_> = (0..64).map(|n| m8n8k4::c(major, n / 8, n % 8)).collect();
            places.sort();
            places.dedup();
            assert_eq!(places.len(), 64);
        }
    }
}
