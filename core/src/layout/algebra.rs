//! Composition, inverses, products and quotients.
use super::{Dim, LayoutError, LinearLayout, Space, f2::Basis, mask};

impl LinearLayout {
    fn basis(&self) -> Basis {
        Basis::new(&self.columns)
    }

    /// `other` after this layout. Dimensions are matched by name; this layout's outputs must be inputs of `other`, and not
    /// larger.
    pub fn then(&self, other: &LinearLayout) -> Result<LinearLayout, LayoutError> {
        for &(dim, bits) in self.outputs() {
            if bits > other.input_bits(dim) {
                return Err(LayoutError::OutOfRange {
                    dim,
                    value: mask(bits),
                    bits: other.input_bits(dim),
                });
            }
        }
        // Where each output lies in a packed number, its bits, and where `other` has it.
        let mut low = 0;
        let moves: Vec<_> = self
            .outputs()
            .iter()
            .map(|&(dim, bits)| {
                let from = low;
                low += bits;
                (from, mask(bits), other.inputs.find(dim).map_or(0, |(to, _)| to))
            })
            .collect();
        let moved = |column: u64| {
            moves.iter().fold(0, |packed, &(from, mask, to)| {
                packed
                    ^ (column.checked_shr(from).unwrap_or(0) & mask)
                        .checked_shl(to)
                        .unwrap_or(0)
            })
        };
        Ok(LinearLayout {
            inputs: self.inputs.clone(),
            outputs: other.outputs.clone(),
            columns: self.columns.iter().map(|&c| other.apply_packed(moved(c))).collect(),
        })
    }

    /// The inverse of a bijection.
    pub fn invert(&self) -> Result<LinearLayout, LayoutError> {
        let (bits_in, rank, bits_out) = (self.inputs.bits(), self.basis().rank(), self.outputs.bits());
        if rank != bits_in || rank != bits_out {
            return Err(LayoutError::NotBijective {
                bits_in,
                rank,
                bits_out,
            });
        }
        Ok(self.pseudo_invert())
    }

    /// A map `r` with `self ∘ r ∘ self = self`. Where this layout reaches every output, `self ∘ r` is the identity: `r`
    /// finds a holder of every element, the one whose free bits are 0. Outputs that are not reached map like the nearest
    /// that are.
    pub fn pseudo_invert(&self) -> LinearLayout {
        let basis = self.basis();
        let columns = (0..self.outputs.bits())
            .map(|bit| basis.solve_up_to_complement(1 << bit))
            .collect();
        LinearLayout {
            inputs: self.outputs.clone(),
            outputs: self.inputs.clone(),
            columns,
        }
    }

    /// This layout inside `outer`: in every dimension that both have, the bits of `outer` lie above this layout's.
    pub fn product(&self, outer: &LinearLayout) -> Result<LinearLayout, LayoutError> {
        let stack = |inner: &Space, outer: &Space| {
            let mut dims = inner.0.clone();
            for &(dim, bits) in &outer.0 {
                match dims.iter_mut().find(|(d, _)| *d == dim) {
                    Some((_, sum)) => *sum += bits,
                    None => dims.push((dim, bits)),
                }
            }
            Space::new(dims)
        };
        let inputs = stack(&self.inputs, &outer.inputs)?;
        let outputs = stack(&self.outputs, &outer.outputs)?;
        let mut columns = Vec::with_capacity(inputs.bits() as usize);
        for &(dim, _) in &inputs.0 {
            for &column in self.columns_of(dim) {
                columns.push(outputs.pack(&self.outputs.unpack(column))?);
            }
            for &column in outer.columns_of(dim) {
                let mut image = outer.outputs.unpack(column);
                for (dim, value) in &mut image {
                    *value = value.checked_shl(self.output_bits(*dim)).unwrap_or(0);
                }
                columns.push(outputs.pack(&image)?);
            }
        }
        Ok(LinearLayout {
            inputs,
            outputs,
            columns,
        })
    }

    /// The layout `q` with `inner.product(&q)` the same map as this one; `None` where there is none.
    pub fn divide(&self, inner: &LinearLayout) -> Option<LinearLayout> {
        let quotient = |all: &Space, inner: &Space| -> Option<Space> {
            let fits = inner.0.iter().all(|&(dim, bits)| bits <= all.bits_of(dim));
            fits.then(|| {
                Space(
                    all.0
                        .iter()
                        .map(|&(dim, bits)| (dim, bits - inner.bits_of(dim)))
                        .collect(),
                )
            })
        };
        let inputs = quotient(&self.inputs, &inner.inputs)?;
        let outputs = quotient(&self.outputs, &inner.outputs)?;
        let mut columns = Vec::new();
        for &(dim, _) in self.inputs() {
            let inner_columns = inner.columns_of(dim);
            for (bit, &column) in self.columns_of(dim).iter().enumerate() {
                let mut image = self.outputs.unpack(column);
                if let Some(&expected) = inner_columns.get(bit) {
                    if self.outputs.pack(&inner.outputs.unpack(expected)).ok()? != column {
                        return None;
                    }
                    continue;
                }
                for (dim, value) in &mut image {
                    let below = inner.output_bits(*dim);
                    if *value & mask(below) != 0 {
                        return None;
                    }
                    *value = value.checked_shr(below).unwrap_or(0);
                }
                columns.push(outputs.pack(&image).ok()?);
            }
        }
        Some(LinearLayout {
            inputs,
            outputs,
            columns,
        })
    }

    /// Whether both map the same named inputs to the same named outputs, whatever the order of the dimensions and
    /// whether dimensions without bits are listed.
    pub fn same_map(&self, other: &LinearLayout) -> bool {
        let dims = |space: &Space| {
            let mut dims: Vec<_> = space.0.iter().copied().filter(|&(_, bits)| bits > 0).collect();
            dims.sort_unstable();
            dims
        };
        let named = |layout: &LinearLayout, column| {
            let mut image: Vec<_> = layout
                .outputs
                .unpack(column)
                .into_iter()
                .filter(|&(_, value)| value > 0)
                .collect();
            image.sort_unstable();
            image
        };
        dims(&self.inputs) == dims(&other.inputs)
            && dims(&self.outputs) == dims(&other.outputs)
            && self.inputs().iter().all(|&(dim, _)| {
                let pairs = self.columns_of(dim).iter().zip(other.columns_of(dim));
                pairs.into_iter().all(|(&a, &b)| named(self, a) == named(other, b))
            })
    }

    /// The same map with its outputs in this order. Dimensions that are left out are dropped: the tile is projected, as a
    /// reduction along them does.
    pub fn with_outputs(&self, order: &[Dim]) -> LinearLayout {
        let outputs = Space(order.iter().map(|&dim| (dim, self.output_bits(dim))).collect());
        let columns = self
            .columns
            .iter()
            .map(|&column| {
                let kept: Vec<_> = self
                    .outputs
                    .unpack(column)
                    .into_iter()
                    .filter(|(dim, _)| order.contains(dim))
                    .collect();
                outputs
                    .pack(&kept)
                    .expect("values are within the dimension that they come from")
            })
            .collect();
        LinearLayout {
            inputs: self.inputs.clone(),
            outputs,
            columns,
        }
    }

    /// The map restricted to these inputs, in this order; the others are 0.
    pub fn with_inputs(&self, order: &[Dim]) -> LinearLayout {
        LinearLayout {
            inputs: Space(order.iter().map(|&dim| (dim, self.input_bits(dim))).collect()),
            outputs: self.outputs.clone(),
            columns: order
                .iter()
                .flat_map(|&dim| self.columns_of(dim).iter().copied())
                .collect(),
        }
    }

    /// The same map of a tile grown or cut to `bits` bits along output `dim`. New bits become new bits of input `repeat`;
    /// where bits are cut, the inputs that held them hold copies.
    pub(super) fn resized(&self, dim: Dim, bits: u32, repeat: Dim) -> Result<LinearLayout, LayoutError> {
        let present = self.output_bits(dim);
        if present <= bits {
            return self.product(&LinearLayout::identity(repeat, dim, bits - present));
        }
        let outputs = Space(
            self.outputs()
                .iter()
                .map(|&(d, b)| (d, if d == dim { bits } else { b }))
                .collect(),
        );
        let columns = self
            .columns
            .iter()
            .map(|&column| {
                let mut image = self.outputs.unpack(column);
                for (_, value) in image.iter_mut().filter(|(d, _)| *d == dim) {
                    *value &= mask(bits);
                }
                outputs.pack(&image)
            })
            .collect::<Result<_, _>>()?;
        Ok(LinearLayout {
            inputs: self.inputs.clone(),
            outputs,
            columns,
        })
    }
}
