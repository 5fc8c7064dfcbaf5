//! The order in which a tensor copy goes through the tensor: the coordinates of each row of its image.
//!
//! A row is what lies side by side in shared memory before the swizzle: dimension 0 of the box, the channels of one pixel,
//! or one slice where the tensor is interleaved. Row `r` begins at `r * row_pitch_bytes` in the image.
use super::{Interleave, Mode, TensorMap, WidePixels};

/// How a copy's coordinates are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// `.tile`: where the box begins.
    Tile(Vec<i64>),
    /// `.tile::gather4` and `.tile::scatter4`: a column, and four rows.
    Rows(i64, [i64; 4]),
    /// `.im2col` and `.im2col_no_offs`: where the walk begins, and the offset of the filter tap in each spatial dimension.
    Im2col {
        /// Coordinates of the first pixel, before the offsets.
        coords: Vec<i64>,
        /// Offsets, W first.
        offsets: Vec<u16>,
    },
    /// `.im2col::w` and `.im2col::w::128`.
    Im2colWide {
        /// Coordinates of the first pixel, before the shift.
        coords: Vec<i64>,
        /// Pixels after the column, or after each 32 of 128.
        halo: u16,
        /// Shift of the window in W.
        shift: u16,
    },
}

impl TensorMap {
    /// Coordinates of the first element of each row of the image, innermost first, whether inside the tensor or not; with
    /// interleave those of the slice. `None` where start and map do not fit each other. That the halos of `.im2col::w::128`
    /// lie behind all 128 pixels is assumed.
    pub fn walk(&self, start: &Start) -> Option<Vec<Vec<i64>>> {
        let step = |dim: usize| i64::from(self.element_strides.get(dim).copied().unwrap_or(1).max(1));
        match (start, &self.mode) {
            (Start::Tile(coords), Mode::Tiled { .. }) if coords.len() == self.rank() => {
                let first = usize::from(self.interleave == Interleave::None);
                let counts = self.image_dims();
                let mut rows = vec![coords.clone()];
                for dim in (first..self.rank()).rev() {
                    let along = |row: &Vec<i64>| {
                        let row = row.clone();
                        (0..counts[dim] as i64).map(move |t| {
                            let mut row = row.clone();
                            row[dim] = row[dim].saturating_add(t * step(dim));
                            row
                        })
                    };
                    rows = rows.iter().flat_map(along).collect();
                }
                Some(rows)
            }
            (Start::Rows(column, rows), Mode::Tiled { .. }) if self.rank() == 2 => {
                Some(rows.iter().map(|&row| vec![*column, row]).collect())
            }
            (
                Start::Im2col { coords, offsets },
                Mode::Im2col {
                    lower,
                    upper,
                    pixels_per_column,
                    ..
                },
            ) => {
                let rank = self.rank();
                let spatial = rank.checked_sub(2)?;
                let lengths = [coords.len(), offsets.len() + 2, lower.len() + 2, upper.len() + 2];
                if rank < 3 || lengths != [rank; 4] {
                    return None;
                }
                let w = usize::from(self.interleave == Interleave::None);
                let mut at = coords.clone();
                let mut rows = Vec::new();
                for _ in 0..*pixels_per_column {
                    let mut row = at.clone();
                    for (k, &offset) in offsets.iter().enumerate() {
                        row[w + k] = row[w + k].saturating_add(i64::from(offset));
                    }
                    rows.push(row);
                    // The window ends before dimension + upper; behind it the next line, plane or image begins at lower.
                    let mut carry = true;
                    for k in 0..spatial {
                        let dim = w + k;
                        at[dim] = at[dim].saturating_add(step(dim));
                        let size = i64::try_from(self.dims[dim]).unwrap_or(i64::MAX);
                        carry = at[dim] >= size.saturating_add(i64::from(upper[k]));
                        if !carry {
                            break;
                        }
                        at[dim] = i64::from(lower[k]);
                    }
                    if carry {
                        at[rank - 1] = at[rank - 1].saturating_add(step(rank - 1));
                    }
                }
                Some(rows)
            }
            (
                Start::Im2colWide { coords, halo, shift },
                Mode::Im2colWide {
                    lower, upper, pixels, ..
                },
            ) if self.rank() >= 3 && coords.len() == self.rank() => {
                let (column, halo, shift) = (pixels.count(), u32::from(*halo), i64::from(*shift));
                let order: Vec<u32> = match pixels {
                    WidePixels::W(_) => (0..column.saturating_add(halo)).collect(),
                    WidePixels::W128 => {
                        let halos = (1..=4).flat_map(|group| (0..halo).map(move |h| group * 32 + h));
                        (0..128).chain(halos).collect()
                    }
                };
                // Window and walk are shifted together; behind its end the same line of the next image begins.
                let size = i64::try_from(self.dims[1]).unwrap_or(i64::MAX);
                let end = size.saturating_add(i64::from(*upper)).saturating_add(shift);
                let mut at = coords.clone();
                at[1] = at[1].saturating_add(shift);
                let mut along = Vec::new();
                for _ in 0..=order.iter().copied().max().unwrap_or(0) {
                    along.push(at.clone());
                    at[1] = at[1].saturating_add(step(1));
                    if at[1] >= end {
                        at[1] = i64::from(*lower) + shift;
                        let n = self.rank() - 1;
                        at[n] = at[n].saturating_add(step(n));
                    }
                }
                Some(order.into_iter().map(|pixel| along[pixel as usize].clone()).collect())
            }
            _ => None,
        }
    }

    /// Whether coordinates, innermost first, are those of an element of the tensor.
    pub fn contains(&self, coords: &[i64]) -> bool {
        let inside = |(&at, &size): (&i64, &u64)| u64::try_from(at).is_ok_and(|at| at < size);
        coords.len() == self.rank() && coords.iter().zip(&self.dims).all(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fill, Format, L2Promotion, Swizzle};
    use super::*;

    fn map(dims: &[u64], mode: Mode) -> TensorMap {
        TensorMap {
            format: Format::U16,
            address: 0,
            dims: dims.to_vec(),
            strides: vec![1 << 12; dims.len() - 1],
            mode,
            element_strides: vec![1; dims.len()],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            fill: Fill::Zero,
            l2_promotion: L2Promotion::None,
        }
    }

    #[test]
    fn a_box_goes_through_its_dimensions_inner_first() {
        let mode = Mode::Tiled {
            box_dims: vec![8, 2, 3],
        };
        let mut map = map(&[64, 8, 8], mode);
        map.element_strides = vec![1, 1, 2];
        let rows = map.walk(&Start::Tile(vec![8, -1, 4])).expect("fits");
        assert_eq!(rows, [[8, -1, 4], [8, 0, 4], [8, -1, 6], [8, 0, 6]]);
        assert!(!map.contains(&rows[0]) && map.contains(&rows[1]));
        assert_eq!(map.walk(&Start::Tile(vec![8, -1])), None);
    }

    #[test]
    fn pixels_wrap_to_the_lower_corner_and_to_the_next_image() {
        let mode = Mode::Im2col {
            lower: vec![-1, -1],
            upper: vec![-1, -1],
            channels_per_pixel: 8,
            pixels_per_column: 7,
        };
        // W = 3 and H = 2: the window is -1 to 1 by -1 to 0.
        let map = map(&[8, 3, 2, 2], mode);
        let start = Start::Im2col {
            coords: vec![0, 0, -1, 0],
            offsets: vec![2, 1],
        };
        let rows = map.walk(&start).expect("fits");
        let expected = [
            [2, 0, 0],
            [3, 0, 0],
            [1, 1, 0],
            [2, 1, 0],
            [3, 1, 0],
            [1, 0, 1],
            [2, 0, 1],
        ];
        assert_eq!(rows, expected.map(|[w, h, n]| [0, w, h, n]));
    }

    #[test]
    fn pixels_along_w_go_on_with_the_same_line_of_the_next_image() {
        let wide = |pixels| Mode::Im2colWide {
            lower: -1,
            upper: -1,
            channels_per_pixel: 8,
            pixels,
        };
        // W = 4: the window is -1 to 2, and 0 to 3 where it is shifted by 1.
        let start = |halo, shift| Start::Im2colWide {
            coords: vec![0, 1, 3, 0],
            halo,
            shift,
        };
        let rows = map(&[8, 4, 5, 2], wide(WidePixels::W(3)))
            .walk(&start(2, 1))
            .expect("fits");
        let expected = [[2, 3, 0], [3, 3, 0], [0, 3, 1], [1, 3, 1], [2, 3, 1]];
        assert_eq!(rows, expected.map(|[w, h, n]| [0, w, h, n]));
        let rows = map(&[8, 200, 5, 2], wide(WidePixels::W128))
            .walk(&start(2, 0))
            .expect("fits");
        let places: Vec<i64> = rows.iter().map(|row| row[1]).collect();
        assert_eq!(places[..128], (1..129).collect::<Vec<_>>());
        assert_eq!(places[128..], [33, 34, 65, 66, 97, 98, 129, 130]);
    }
}
