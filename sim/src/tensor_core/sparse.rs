//! Structured sparsity: which places the stored elements of A take (PTX ISA 9.4, "Sparse matrix storage").
//!
//! Of four neighbours two are stored (tf32: of two one; 4-bit integers: of four pairs two). Metadata names the places with
//! 2 bits for each stored element or pair, in ascending order, and with 4 bits for each tf32 element.
use super::{Element, Undefined, WarpRegister};

/// The kind of sparsity of an element type.
#[derive(Clone, Copy, Debug)]
pub struct Sparsity {
    /// Elements of A, stored one after the other, that one index places.
    elements_per_index: usize,
    one_of_two: bool,
    /// Whether a word of metadata belongs to one row, and the next lane's to the row 8 below. Otherwise a word has 16 bits
    /// of either.
    whole_rows: bool,
}

impl Sparsity {
    /// The kind that a type of A has.
    pub const fn of(element: Element) -> Sparsity {
        match element {
            Element::Tf32 => Sparsity {
                elements_per_index: 1,
                one_of_two: true,
                whole_rows: false,
            },
            Element::F16 | Element::Bf16 => Sparsity {
                elements_per_index: 1,
                one_of_two: false,
                whole_rows: false,
            },
            Element::S4 | Element::U4 => Sparsity {
                elements_per_index: 2,
                one_of_two: false,
                whole_rows: true,
            },
            _ => Sparsity {
                elements_per_index: 1,
                one_of_two: false,
                whole_rows: true,
            },
        }
    }

    const fn index_bits(self) -> usize {
        if self.one_of_two { 4 } else { 2 }
    }

    /// For each of the `m` (16) rows and `depth` stored columns of A, the row of B that the element meets.
    ///
    /// Lanes of a quad, as many as the bits need, hold the metadata of rows `g` and `g + 8`, from lane
    /// `selector * lanes` of the quad on. Errors: a selector or a code that PTX does not define.
    pub fn selected_rows(
        self,
        m: usize,
        depth: usize,
        metadata: &WarpRegister,
        selector: usize,
    ) -> Result<Vec<u16>, Undefined> {
        let indices = depth / self.elements_per_index;
        let lanes = (m * indices * self.index_bits() / 256).max(1);
        if selector >= 4 / lanes {
            return Err(Undefined(format!(
                "sparsity selector {selector}; this shape has 0 to {}",
                4 / lanes - 1
            )));
        }
        let mut rows = vec![0; m * depth];
        for row in 0..m {
            for index in 0..indices {
                let (lane, bit) = self.place(row, index, indices, lanes, selector);
                let code = (metadata[4 * (row % 8) + lane] >> bit) as usize & ((1 << self.index_bits()) - 1);
                self.expand(index, code, &mut rows[row * depth + index * self.elements_per_index..])?;
            }
        }
        Ok(rows)
    }

    /// Lane within the quad and first bit of an index.
    fn place(self, row: usize, index: usize, indices: usize, lanes: usize, selector: usize) -> (usize, usize) {
        let bits = self.index_bits();
        let (high, word_indices) = (row / 8, 32 / bits);
        if self.whole_rows {
            return (
                selector * lanes + high + 2 * (index / word_indices),
                index % word_indices * bits,
            );
        }
        let run = indices / lanes;
        (selector * lanes + index / run, 16 * high + index % run * bits)
    }

    /// The rows of B of the elements that index number `index` with this code places.
    fn expand(self, index: usize, code: usize, rows: &mut [u16]) -> Result<(), Undefined> {
        if self.one_of_two {
            rows[0] = match code {
                0b0100 => 2 * index as u16,
                0b1110 => 2 * index as u16 + 1,
                code => {
                    return Err(Undefined(format!(
                        "sparsity metadata {code:#06b} for tf32; defined are 0b0100 (first of two) and 0b1110 (second)"
                    )));
                }
            };
            return Ok(());
        }
        // Two indices for each group of four places.
        let place = index / 2 * 4 + code;
        for (i, row) in rows.iter_mut().take(self.elements_per_index).enumerate() {
            *row = (place * self.elements_per_index + i) as u16;
        }
        Ok(())
    }
}
