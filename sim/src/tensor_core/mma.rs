//! `mma.sync` and `mma.sp.sync` (PTX ISA 9.4, "Multiply-and-Accumulate Instruction: mma").
use super::accumulate::Select;
use super::fragment::{self, a_position, b_position, c_position, m8n8k4, registers};
use super::product::{Arithmetic, Shape, Unit};
use super::sparse::Sparsity;
use super::{BitOp, Element, Sum, Undefined, WarpRegister};

/// One `mma` instruction, checked against what PTX defines for sm_90, and with `.kind::f8f6f4` for sm_120.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mma {
    m: usize,
    n: usize,
    k: usize,
    a: Element,
    b: Element,
    c: Sum,
    d: Sum,
    options: Options,
}

/// Qualifiers of an `mma`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `mma.sp`: A holds half of its elements, with metadata.
    pub sparse: bool,
    /// `.satfinite` on s32 sums.
    pub saturate: bool,
    /// `.xor.popc` or `.and.popc`.
    pub bit_op: Option<BitOp>,
    /// `.kind::f8f6f4`: floats of 8, 6 and 4 bits, also mixed.
    pub f8f6f4: bool,
    /// `.col` for A; only `m8n8k4` of f16 has it.
    pub a_column_major: bool,
    /// `.row` for B; only `m8n8k4` of f16 has it.
    pub b_row_major: bool,
}

/// Registers of each operand of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Registers {
    pub a: usize,
    pub b: usize,
    pub c: usize,
    pub d: usize,
}

impl Mma {
    /// The instruction of `shape` (m, n, k) and types, or why PTX has none.
    pub fn new(
        shape: (usize, usize, usize),
        a: Element,
        b: Element,
        c: Sum,
        d: Sum,
        options: Options,
    ) -> Result<Mma, Undefined> {
        use Element as E;
        let (m, n, k) = shape;
        let old = shape == (8, 8, 4) && a == E::F16;
        // Factors of 8 rows and of 16 rows; a sparse A has twice the columns that its registers have.
        let depth = if options.sparse { k / 2 } else { k };
        let shapes: &[(usize, usize)] = match (a, options.sparse) {
            (E::F16, false) => &[(8, 4), (16, 8), (16, 16)],
            (E::Bf16, false) => &[(16, 8), (16, 16)],
            (E::Tf32, false) => &[(16, 4), (16, 8)],
            (E::F64, false) => &[(8, 4), (16, 4), (16, 8), (16, 16)],
            (E::S8 | E::U8, false) => &[(8, 16), (16, 16), (16, 32)],
            (E::S4 | E::U4, false) => &[(8, 32), (16, 32), (16, 64)],
            (E::B1, false) => &[(8, 128), (16, 128), (16, 256)],
            (E::E4m3 | E::E5m2 | E::E3m2 | E::E2m3 | E::E2m1, false) if options.f8f6f4 => &[(16, 32)],
            (E::E4m3 | E::E5m2, false) => &[(16, 16), (16, 32)],
            (E::F16 | E::Bf16, true) => &[(16, 8), (16, 16)],
            (E::Tf32, true) => &[(16, 4), (16, 8)],
            (E::S8 | E::U8, true) => &[(16, 16), (16, 32)],
            (E::S4 | E::U4, true) => &[(16, 32), (16, 64)],
            (E::E4m3 | E::E5m2, true) => &[(16, 32)],
            (E::F64 | E::B1, true) | (E::E3m2 | E::E2m3 | E::E2m1, _) => &[],
        };
        let small = |e: Element| e.is_8_bit_float() || e.is_below_a_byte();
        let pair = match options.f8f6f4 {
            true => small(a) && small(b) && !options.sparse,
            false => {
                a == b
                    || a.is_8_bit_float() && b.is_8_bit_float()
                    || a.is_integer() && b.is_integer() && a.bits() == b.bits()
            }
        };
        let sums = match a {
            E::F16 => {
                old && matches!((c, d), (Sum::F16 | Sum::F32, Sum::F16 | Sum::F32))
                    || c == d && c != Sum::S32 && c != Sum::F64
            }
            E::Bf16 | E::Tf32 => (c, d) == (Sum::F32, Sum::F32),
            E::E4m3 | E::E5m2 | E::E3m2 | E::E2m3 | E::E2m1 => c == d && matches!(c, Sum::F16 | Sum::F32),
            E::F64 => (c, d) == (Sum::F64, Sum::F64),
            E::S8 | E::U8 | E::S4 | E::U4 | E::B1 => (c, d) == (Sum::S32, Sum::S32),
        };
        let integer = a.is_integer();
        let fits = n == 8
            && shapes.contains(&(m, depth))
            && pair
            && sums
            && (old || !options.a_column_major && !options.b_row_major)
            && (!options.saturate || integer)
            && (a == E::B1) == options.bit_op.is_some();
        if !fits {
            let sparse = if options.sparse { ".sp" } else { "" };
            return Err(Undefined(format!(
                "mma{sparse}.m{m}n{n}k{k} of {a:?} and {b:?} with sums {c:?} and {d:?} and these qualifiers is not one that the simulator has"
            )));
        }
        Ok(Mma {
            m,
            n,
            k,
            a,
            b,
            c,
            d,
            options,
        })
    }

    /// How many registers each operand takes.
    pub fn registers(&self) -> Registers {
        if self.is_old() {
            let sum = |sum: Sum| if sum == Sum::F16 { 4 } else { 8 };
            return Registers {
                a: 2,
                b: 2,
                c: sum(self.c),
                d: sum(self.d),
            };
        }
        Registers {
            a: registers(self.m * self.depth(), self.a.bits()),
            b: registers(self.k * self.n, self.b.bits()),
            c: registers(self.m * self.n, self.c.bits()),
            d: registers(self.m * self.n, self.d.bits()),
        }
    }

    fn is_old(&self) -> bool {
        (self.m, self.k, self.a) == (8, 4, Element::F16)
    }

    fn arithmetic(&self) -> Arithmetic {
        Arithmetic {
            unit: match self.is_old() {
                true => Unit::M8n8k4,
                false if self.options.f8f6f4 => Unit::MmaF8f6f4,
                false => Unit::Mma,
            },
            a: self.a,
            b: self.b,
            c: self.c,
            d: self.d,
            saturate: self.options.saturate,
            bit_op: self.options.bit_op,
        }
    }

    /// Columns of A that its registers hold.
    fn depth(&self) -> usize {
        if self.options.sparse { self.k / 2 } else { self.k }
    }

    /// `d = a * b + c`. `metadata` and `selector` count for sparse instructions alone.
    ///
    /// Panics unless the operands have [`Mma::registers`]. Errors: metadata or a selector that PTX does not define.
    pub fn run(
        &self,
        a: &[WarpRegister],
        b: &[WarpRegister],
        c: &[WarpRegister],
        metadata: &WarpRegister,
        selector: usize,
        d: &mut [WarpRegister],
    ) -> Result<(), Undefined> {
        let counts = self.registers();
        assert_eq!(
            (a.len(), b.len(), c.len(), d.len()),
            (counts.a, counts.b, counts.c, counts.d)
        );
        if self.is_old() {
            self.run_old(a, b, c, d);
            return Ok(());
        }
        let (m, n, k, depth) = (self.m, self.n, self.k, self.depth());
        let rows = match self.options.sparse {
            true => Some(Sparsity::of(self.a).selected_rows(m, depth, metadata, selector)?),
            false => None,
        };
        let select = rows.as_deref().map_or(Select::Dense, Select::Sparse);
        let a = fragment::gather(a, m, depth, self.a.bits(), |r, l, i| {
            a_position(m, self.a.bits(), r, l, i)
        });
        let b = fragment::gather(b, k, n, self.b.bits(), |r, l, i| b_position(self.b.bits(), r, l, i));
        let c = fragment::gather(c, m, n, self.c.bits(), |r, l, i| c_position(self.c.bits(), r, l, i));
        let shape = Shape { m, n, k: depth };
        let product = self.arithmetic().product(shape, &a, select, &b, &c);
        fragment::scatter(&product, n, self.d.bits(), d, |r, l, i| {
            c_position(self.d.bits(), r, l, i)
        });
        Ok(())
    }

    fn run_old(&self, a: &[WarpRegister], b: &[WarpRegister], c: &[WarpRegister], d: &mut [WarpRegister]) {
        let half =
            |registers: &[WarpRegister], lane: usize, i: usize| fragment::element(registers[i / 2][lane], 16, i % 2);
        let f16 = |sum: Sum| sum == Sum::F16;
        for q in 0..4 {
            let lanes = m8n8k4::lanes(q);
            let (mut left, mut right, mut sum) = (vec![0; 32], vec![0; 32], vec![0; 64]);
            for (l, &lane) in lanes.iter().enumerate() {
                for i in 0..4 {
                    let (row, column) = m8n8k4::a(self.options.a_column_major, l, i);
                    left[row * 4 + column] = half(a, lane, i);
                    let (row, column) = m8n8k4::b(!self.options.b_row_major, l, i);
                    right[row * 8 + column] = half(b, lane, i);
                }
                for i in 0..8 {
                    let (row, column) = m8n8k4::c(f16(self.c), l, i);
                    sum[row * 8 + column] = if f16(self.c) { half(c, lane, i) } else { c[i][lane] };
                }
            }
            let shape = Shape { m: 8, n: 8, k: 4 };
            let sum = self.arithmetic().product(shape, &left, Select::Dense, &right, &sum);
            for (l, &lane) in lanes.iter().enumerate() {
                for i in 0..8 {
                    let (row, column) = m8n8k4::c(f16(self.d), l, i);
                    let value = sum[row * 8 + column];
                    if f16(self.d) {
                        fragment::set_element(&mut d[i / 2][lane], 16, i % 2, value);
                        d[i / 2][lane] &= 0xffff_ffff;
                    } else {
                        d[i][lane] = value;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f8f6f4(a: Element, b: Element) -> Result<Mma, Undefined> {
        let options = Options {
            f8f6f4: true,
            ..Options::default()
        };
        Mma::new((16, 8, 32), a, b, Sum::F32, Sum::F32, options)
    }

    /// The sum of 32 equal products, by the bytes of the factors.
    fn sum(a: (Element, u64), b: (Element, u64)) -> f32 {
        let every = |byte: u64| [byte * 0x0101_0101; 32];
        let mut d = vec![[0; 32]; 4];
        let product = f8f6f4(a.0, b.0).expect("PTX has it");
        product
            .run(&[every(a.1); 4], &[every(b.1); 2], &[[0; 32]; 4], &[0; 32], 0, &mut d)
            .expect("nothing is sparse");
        assert!(d.iter().flatten().all(|sum| *sum == d[0][0]));
        f32::from_bits(d[0][0] as u32)
    }

    #[test]
    fn small_floats_lie_in_bytes_whose_other_bits_are_ignored() {
        // 6, of 4 bits: between the second and the sixth bit.
        assert_eq!(sum((Element::E2m1, 0x7 << 2), (Element::E4m3, 0x38)), 32.0 * 6.0);
        assert_eq!(sum((Element::E2m1, 0x7 << 2 | 0xc3), (Element::E5m2, 0x3c)), 32.0 * 6.0);
        // -28 and 7.5, of 6 bits: the low ones.
        assert_eq!(sum((Element::E3m2, 0x3f), (Element::E2m3, 0x1f)), 32.0 * -28.0 * 7.5);
        assert_eq!(sum((Element::E3m2, 0xff), (Element::E2m3, 0xdf)), 32.0 * -28.0 * 7.5);
        // The smallest of each: subnormal.
        assert_eq!(sum((Element::E3m2, 0x1), (Element::E2m3, 0x1)), 32.0 / 16.0 / 8.0);
    }

    #[test]
    fn small_floats_need_their_kind() {
        assert!(f8f6f4(Element::F16, Element::E2m1).is_err());
        assert!(f8f6f4(Element::E2m1, Element::S8).is_err());
        let plain = Mma::new(
            (16, 8, 32),
            Element::E2m1,
            Element::E2m1,
            Sum::F32,
            Sum::F32,
            Options::default(),
        );
        assert!(plain.is_err());
    }
}
