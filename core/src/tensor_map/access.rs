//! What the driver does not check: the ways in which one transfer faults, or writes where it should not, although its
//! map is valid. All were seen on an H200.
use super::{Format, Interleave, Mode, Rule, TensorMap, Violation};

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Global to shared.
    Load,
    /// Shared to global.
    Store,
    /// Shared combined into global.
    Reduce,
}

/// One transfer, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Direction.
    pub direction: Direction,
    /// Coordinates, innermost first; `None` where not known.
    pub coords: Vec<Option<i64>>,
    /// Absolute shared address of the image, or `None` where not known.
    pub shared_address: Option<u64>,
}

impl TensorMap {
    /// All that goes wrong in this transfer with a valid map. Faults are listed before stray writes.
    pub fn access_violations(&self, access: &Access) -> Vec<Violation> {
        let mut out = Vec::new();
        let stores = access.direction != Direction::Load;
        if access.coords.len() != self.rank() {
            out.push(Violation::new(
                Rule::ListLength,
                "coords",
                format!("a list of {}", access.coords.len()),
                format!("rank {} needs {}", self.rank(), self.rank()),
                "give one coordinate for each dimension",
            ));
        }
        if let (Interleave::None, Some(&Some(inner))) = (self.interleave, access.coords.first()) {
            let bits = i128::from(inner) * i128::from(self.format.global_bits());
            if bits % 128 != 0 {
                out.push(Violation::new(
                    Rule::CoordinateAlignment,
                    "coords[0]",
                    inner,
                    format!(
                        "the innermost coordinate must lie on 16 bytes, {} elements",
                        elements_of_16_bytes(self.format)
                    ),
                    "start the box at a multiple of them; it may reach outside the tensor",
                ));
            }
        }
        if stores {
            for (i, coord) in access.coords.iter().enumerate() {
                if let Some(coord) = coord.filter(|&coord| coord < 0) {
                    out.push(Violation::new(
                        Rule::NegativeCoordinate,
                        format!("coords[{i}]"),
                        coord,
                        "a store or reduction must start inside the tensor",
                        "start at 0 and store fewer elements",
                    ));
                }
            }
        }
        if let Some(address) = access.shared_address {
            let period = self.shared_alignment();
            if !address.is_multiple_of(128) {
                out.push(Violation::new(
                    Rule::SharedAlignment,
                    "shared address",
                    format!("{address:#x}"),
                    "tensor copies need a multiple of 128",
                    "align the buffer",
                ));
            } else if !address.is_multiple_of(period) {
                out.push(Violation::new(
                    Rule::SwizzlePeriod,
                    "shared address",
                    format!("{address:#x}"),
                    format!(
                        "the pattern of swizzle {} starts at multiples of {period}",
                        self.swizzle.name()
                    ),
                    format!("align the buffer to {period} bytes"),
                ));
            }
        }
        if stores {
            out.extend(self.store_row_end());
        }
        out
    }

    /// Whether a store or reduction can write past the end of rows: without interleave the hardware rounds the innermost
    /// size up to 16 bytes, so that up to 15 bytes after each row receive shared data when the box reaches them.
    pub fn store_row_end(&self) -> Option<Violation> {
        let inner = *self.dims.first()?;
        let bits = u128::from(inner) * u128::from(self.format.global_bits());
        if self.interleave != Interleave::None || bits.is_multiple_of(128) {
            return None;
        }
        let field = match self.mode {
            Mode::Tiled { .. } => "dims[0]",
            Mode::Im2col { .. } | Mode::Im2colWide { .. } => "dims[0] (channels)",
        };
        Some(Violation::new(
            Rule::StoreRowEnd,
            field,
            format!("{} bytes", bits / 8),
            format!(
                "stores round rows up to 16 bytes, so that {} bytes after each row are overwritten",
                bits.div_ceil(128) * 16 - bits / 8
            ),
            "use guarded stores, or pad the rows and say that the padding may be written",
        ))
    }
}

fn elements_of_16_bytes(format: Format) -> u64 {
    128 / format.global_bits()
}

#[cfg(test)]
mod tests {
    use super::super::{Fill, L2Promotion, Swizzle};
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            format: Format::U16,
            address: 0,
            dims: vec![20, 8],
            strides: vec![64],
            mode: Mode::Tiled { box_dims: vec![32, 2] },
            element_strides: vec![1, 1],
            interleave: Interleave::None,
            swizzle: Swizzle::B64,
            fill: Fill::Zero,
            l2_promotion: L2Promotion::None,
        }
    }

    #[test]
    fn all_faults_of_a_store_are_reported() {
        let access = Access {
            direction: Direction::Store,
            coords: vec![Some(4), Some(-1)],
            shared_address: Some(0x110),
        };
        let rules: Vec<_> = map().access_violations(&access).iter().map(|v| v.rule).collect();
        assert_eq!(
            rules,
            [
                Rule::CoordinateAlignment,
                Rule::NegativeCoordinate,
                Rule::SharedAlignment,
                Rule::StoreRowEnd
            ]
        );
    }

    #[test]
    fn a_load_may_start_outside_and_ends_where_it_likes() {
        let access = Access {
            direction: Direction::Load,
            coords: vec![Some(-8), Some(-1)],
            shared_address: Some(512),
        };
        assert_eq!(map().access_violations(&access), []);
    }

    #[test]
    fn a_base_off_the_period_is_named() {
        let access = Access {
            direction: Direction::Load,
            coords: vec![None, None],
            shared_address: Some(0x80),
        };
        let found = map().access_violations(&access);
        assert_eq!(
            found[0].to_string(),
            "shared address = 0x80, but the pattern of swizzle 64 starts at multiples of 512; align the buffer to 512 bytes"
        );
    }

    #[test]
    fn stray_bytes_after_a_row_are_counted() {
        let found = map().store_row_end().expect("40 bytes are not a multiple of 16");
        assert!(found.to_string().contains("dims[0] = 40 bytes"));
        assert!(found.to_string().contains("8 bytes after each row are overwritten"));
    }
}
