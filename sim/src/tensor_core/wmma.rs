//! `wmma.load`, `wmma.mma` and `wmma.store` (PTX ISA 9.4, "Warp-level Matrix Instructions: wmma").
//!
//! How a fragment's elements are spread over registers is unspecified by PTX; here element number
//! `(r * 32 + lane) * p + i`, row by row, sits in place `i` of register `r`, `p` elements to a register. f16 factors have
//! more places than elements and repeat.
use super::accumulate::Select;
use super::fragment::{element, per_register, set_element};
use super::product::{Arithmetic, Shape, Unit};
use super::{BitOp, Element, Sum, Undefined, WarpRegister};
use crate::memory::{Bytes, Fault};

/// One family of `wmma` instructions: shape and types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wmma {
    m: usize,
    n: usize,
    k: usize,
    a: Element,
    b: Element,
    c: Sum,
    d: Sum,
    saturate: bool,
    bit_op: Option<BitOp>,
}

/// Role of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Fragment {
    A,
    B,
    C,
    D,
}

/// Order of a matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `.row`: neighbours differ in the column.
    Row,
    /// `.col`: neighbours differ in the row.
    Column,
}

impl Wmma {
    /// The instructions of `shape` (m, n, k) and types, or why PTX has none.
    ///
    /// Loads and stores name one type alone: pass any that goes with it for the others.
    pub fn new(
        shape: (usize, usize, usize),
        a: Element,
        b: Element,
        c: Sum,
        d: Sum,
        saturate: bool,
        bit_op: Option<BitOp>,
    ) -> Result<Wmma, Undefined> {
        use Element as E;
        let shapes: &[(usize, usize, usize)] = match a {
            E::F16 | E::Bf16 | E::S8 | E::U8 => &[(16, 16, 16), (32, 8, 16), (8, 32, 16)],
            E::Tf32 => &[(16, 16, 8)],
            E::F64 => &[(8, 8, 4)],
            E::S4 | E::U4 => &[(8, 8, 32)],
            E::B1 => &[(8, 8, 128)],
            E::E4m3 | E::E5m2 | E::E3m2 | E::E2m3 | E::E2m1 => &[],
        };
        let sums = match a {
            E::F16 => matches!((c, d), (Sum::F16 | Sum::F32, Sum::F16 | Sum::F32)),
            E::Bf16 | E::Tf32 => (c, d) == (Sum::F32, Sum::F32),
            E::F64 => (c, d) == (Sum::F64, Sum::F64),
            _ => (c, d) == (Sum::S32, Sum::S32),
        };
        let integer = a.is_integer();
        if a != b || !shapes.contains(&shape) || !sums || saturate && !integer || bit_op.is_some() && a != E::B1 {
            let (m, n, k) = shape;
            return Err(Undefined(format!(
                "wmma.m{m}n{n}k{k} of {a:?} and {b:?} with sums {c:?} and {d:?} and these qualifiers is not defined for sm_90"
            )));
        }
        let (m, n, k) = shape;
        Ok(Wmma {
            m,
            n,
            k,
            a,
            b,
            c,
            d,
            saturate,
            bit_op,
        })
    }

    /// Rows, columns and element bits of a fragment.
    fn extent(&self, fragment: Fragment) -> (usize, usize, usize) {
        match fragment {
            Fragment::A => (self.m, self.k, self.a.bits()),
            Fragment::B => (self.k, self.n, self.b.bits()),
            Fragment::C => (self.m, self.n, self.c.bits()),
            Fragment::D => (self.m, self.n, self.d.bits()),
        }
    }

    /// Registers of a lane that hold a fragment.
    pub fn registers(&self, fragment: Fragment) -> usize {
        match fragment {
            Fragment::A | Fragment::B if self.a == Element::F16 => 8,
            _ => {
                let (rows, columns, bits) = self.extent(fragment);
                rows * columns / 32 / per_register(bits)
            }
        }
    }

    /// Loads a fragment from `address`; `stride` is the distance of rows (or columns) in elements.
    ///
    /// Panics unless `registers` has [`Wmma::registers`]. Errors: those of `memory`.
    pub fn load(
        &self,
        fragment: Fragment,
        layout: Layout,
        memory: &dyn Bytes,
        address: u64,
        stride: u64,
        registers: &mut [WarpRegister],
    ) -> Result<(), Fault> {
        assert_eq!(registers.len(), self.registers(fragment));
        let (rows, columns, bits) = self.extent(fragment);
        let mut matrix = vec![0; rows * columns];
        for_each_line(rows, columns, layout, |line, elements| {
            let mut bytes = vec![0; elements.len() * bits / 8];
            memory.read(address.wrapping_add(line * stride * bits as u64 / 8), &mut bytes)?;
            for (i, at) in elements.into_iter().enumerate() {
                let mut word = [0; 8];
                let start = i * bits / 8;
                let end = (start + bits.div_ceil(8)).min(bytes.len());
                word[..end - start].copy_from_slice(&bytes[start..end]);
                matrix[at] = element(u64::from_le_bytes(word) >> (i * bits % 8), bits, 0);
            }
            Ok(())
        })?;
        to_registers(&matrix, bits, registers);
        Ok(())
    }

    /// Stores a fragment (D) at `address`. As [`Wmma::load`].
    pub fn store(
        &self,
        layout: Layout,
        memory: &dyn Bytes,
        address: u64,
        stride: u64,
        registers: &[WarpRegister],
    ) -> Result<(), Fault> {
        let (rows, columns, bits) = self.extent(Fragment::D);
        let matrix = from_registers(registers, rows * columns, bits);
        for_each_line(rows, columns, layout, |line, elements| {
            let bytes: Vec<u8> = elements
                .into_iter()
                .flat_map(|at| matrix[at].to_le_bytes()[..bits / 8].to_vec())
                .collect();
            memory.write(address.wrapping_add(line * stride * bits as u64 / 8), &bytes)
        })
    }

    /// `d = a * b + c` on fragments. Panics unless the operands have [`Wmma::registers`].
    pub fn multiply(&self, a: &[WarpRegister], b: &[WarpRegister], c: &[WarpRegister], d: &mut [WarpRegister]) {
        let matrix = |fragment: Fragment, registers: &[WarpRegister]| {
            assert_eq!(registers.len(), self.registers(fragment));
            let (rows, columns, bits) = self.extent(fragment);
            from_registers(registers, rows * columns, bits)
        };
        let (a, b, c) = (matrix(Fragment::A, a), matrix(Fragment::B, b), matrix(Fragment::C, c));
        let shape = Shape {
            m: self.m,
            n: self.n,
            k: self.k,
        };
        let Wmma {
            a: a_type,
            b: b_type,
            c: c_type,
            d: d_type,
            saturate,
            bit_op,
            ..
        } = *self;
        let arithmetic = Arithmetic {
            unit: Unit::Wmma,
            a: a_type,
            b: b_type,
            c: c_type,
            d: d_type,
            saturate,
            bit_op,
        };
        let product = arithmetic.product(shape, &a, Select::Dense, &b, &c);
        to_registers(&product, self.d.bits(), d);
    }
}

/// Calls `each` with the number of every row (or column) and the indices, row by row, of its elements.
fn for_each_line(
    rows: usize,
    columns: usize,
    layout: Layout,
    mut each: impl FnMut(u64, Vec<usize>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (lines, length) = if layout == Layout::Row {
        (rows, columns)
    } else {
        (columns, rows)
    };
    for line in 0..lines {
        let index = |i| {
            if layout == Layout::Row {
                line * columns + i
            } else {
                i * columns + line
            }
        };
        each(line as u64, (0..length).map(index).collect())?;
    }
    Ok(())
}

fn to_registers(matrix: &[u64], bits: usize, registers: &mut [WarpRegister]) {
    let p = per_register(bits);
    for (r, register) in registers.iter_mut().enumerate() {
        for (lane, register) in register.iter_mut().enumerate() {
            *register = 0;
            for i in 0..p {
                set_element(register, bits, i, matrix[((r * 32 + lane) * p + i) % matrix.len()]);
            }
        }
    }
}

fn from_registers(registers: &[WarpRegister], elements: usize, bits: usize) -> Vec<u64> {
    let p = per_register(bits);
    let place = |at: usize| element(registers[at / p / 32][at / p % 32], bits, at % p);
    (0..elements).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tma::flat::Flat;

    #[test]
    fn product_of_loaded_fragments_is_the_product_of_the_matrices() {
        for shape in [(16, 16, 16), (32, 8, 16), (8, 32, 16)] {
            for layout in [Layout::Row, Layout::Column] {
                let wmma = Wmma::new(shape, Element::F16, Element::F16, Sum::F32, Sum::F32, false, None).unwrap();
                let (m, n, k) = shape;
                let value = |i: usize, j: usize| ((i * 7 + j * 3) % 11) as f32 - 5.0;
                let place = |i: usize, j: usize, rows: usize, columns: usize| match layout {
                    Layout::Row => i * columns + j,
                    Layout::Column => j * rows + i,
                };
                let memory = |rows: usize, columns: usize| {
                    let mut bytes = vec![0; rows * columns * 2];
                    for i in 0..rows {
                        for j in 0..columns {
                            let at = 2 * place(i, j, rows, columns);
                            bytes[at..at + 2].copy_from_slice(&half::f16::from_f32(value(i, j)).to_le_bytes());
                        }
                    }
                    Flat::new(0, bytes)
                };
                let stride = |rows: usize, columns: usize| if layout == Layout::Row { columns } else { rows } as u64;
                let (mut a, mut b) = (vec![[0; 32]; 8], vec![[0; 32]; 8]);
                wmma.load(Fragment::A, layout, &memory(m, k), 0, stride(m, k), &mut a)
                    .unwrap();
                wmma.load(Fragment::B, layout, &memory(k, n), 0, stride(k, n), &mut b)
                    .unwrap();
                let c = vec![[0; 32]; wmma.registers(Fragment::C)];
                let mut d = c.clone();
                wmma.multiply(&a, &b, &c, &mut d);
                let out = Flat::new(0, vec![0; m * n * 4]);
                wmma.store(layout, &out, 0, stride(m, n), &d).unwrap();
                let out = out.into_bytes();
                for i in 0..m {
                    for j in 0..n {
                        let want: f32 = (0..k).map(|p| value(i, p) * value(p, j)).sum();
                        let at = 4 * place(i, j, m, n);
                        let got = f32::from_le_bytes([out[at], out[at + 1], out[at + 2], out[at + 3]]);
                        assert_eq!(got, want);
                    }
                }
            }
        }
    }
}
