//! Where the elements of an array lie: sizes, element strides, and the byte offset of the first.
use girih_core::dtype::DType;
use thiserror::Error;

/// Sizes and element strides (outermost dimension first), and the byte offset of the first element. Construction
/// guarantees that every element's byte position fits in i64, so arithmetic on it cannot overflow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: Vec<u64>,
    strides: Vec<u64>,
    offset_bytes: u64,
}

/// Why a layout cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum LayoutError {
    #[error("the array has rank {found}, but the argument has rank {expected}")]
    Rank { expected: usize, found: usize },
    #[error("the array spans more than 2^63 bytes")]
    TooLarge,
    #[error("a pitch is given, but the argument has no stride that is known only at run time")]
    NoRuntimeStride,
    #[error("pitch = {pitch} elements, but a row has {row} elements; the pitch must not be smaller")]
    PitchTooSmall { pitch: u64, row: u64 },
}

impl Layout {
    /// A layout from all its parts; refused when ranks differ or an element would lie beyond 2^63 bytes.
    pub fn new(shape: &[u64], strides: &[u64], offset_bytes: u64) -> Result<Self, LayoutError> {
        if shape.len() != strides.len() {
            return Err(LayoutError::Rank {
                expected: shape.len(),
                found: strides.len(),
            });
        }
        let layout = Layout {
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            offset_bytes,
        };
        let widest = layout.span_bytes(DType::F64).filter(|&n| n <= i64::MAX as u64);
        let elements = shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size.max(1)));
        match (widest, elements) {
            (Some(_), Some(n)) if n <= i64::MAX as u64 => Ok(layout),
            _ => Err(LayoutError::TooLarge),
        }
    }

    /// Rows without gaps, last dimension innermost. `None` if it is too large.
    pub fn row_major(shape: &[u64]) -> Option<Self> {
        let unknown = vec![None; shape.len()];
        Layout::for_argument(shape, &unknown, None, 0).ok()
    }

    /// The tightest layout that a kernel argument accepts: static strides as they are; run-time strides as small as
    /// possible, the last dimension first. `pitch` (in elements) replaces the smallest run-time stride above 1, so that
    /// rows are padded.
    ///
    /// | argument's strides | shape | pitch | strides |
    /// |---|---|---|---|
    /// | `[?, 1]` | 512x256 | – | `[256, 1]` |
    /// | `[1, ?]` | 512x256 | – | `[1, 512]` |
    /// | `[?, 1]` | 512x256 | 264 | `[264, 1]` |
    /// | `[?, ?, 1]` | 2x3x4 | 8 | `[24, 8, 1]` |
    pub fn for_argument(
        shape: &[u64],
        static_strides: &[Option<u64>],
        pitch: Option<u64>,
        offset_bytes: u64,
    ) -> Result<Self, LayoutError> {
        if shape.len() != static_strides.len() {
            return Err(LayoutError::Rank {
                expected: static_strides.len(),
                found: shape.len(),
            });
        }
        let extent = |stride: u64, size: u64| stride.checked_mul(size.max(1)).ok_or(LayoutError::TooLarge);
        let mut tight = 1;
        let mut has_unit = false;
        for (&size, stride) in shape.iter().zip(static_strides) {
            if let Some(stride) = *stride {
                has_unit |= stride == 1;
                tight = tight.max(extent(stride, size)?);
            }
        }
        let mut strides = vec![0; shape.len()];
        let mut pitch_left = pitch;
        for dim in (0..shape.len()).rev() {
            strides[dim] = match static_strides[dim] {
                Some(stride) => stride,
                None if !has_unit => {
                    has_unit = true;
                    tight = tight.max(extent(1, shape[dim])?);
                    1
                }
                None => {
                    let stride = pitch_left.take().unwrap_or(tight);
                    if stride < tight {
                        return Err(LayoutError::PitchTooSmall {
                            pitch: stride,
                            row: tight,
                        });
                    }
                    tight = extent(stride, shape[dim])?;
                    stride
                }
            };
        }
        if pitch_left.is_some() {
            return Err(LayoutError::NoRuntimeStride);
        }
        Layout::new(shape, &strides, offset_bytes)
    }

    /// Size of each dimension, outermost first.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Stride of each dimension in elements.
    pub fn strides(&self) -> &[u64] {
        &self.strides
    }

    /// Byte offset of the first element.
    pub fn offset_bytes(&self) -> u64 {
        self.offset_bytes
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes from the start of the memory to the end of the last element; `None` beyond 2^64.
    pub fn span_bytes(&self, dtype: DType) -> Option<u64> {
        if self.shape.contains(&0) {
            return Some(self.offset_bytes);
        }
        let mut last = 0u64;
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            last = last.checked_add((size - 1).checked_mul(stride)?)?;
        }
        last.checked_add(1)?
            .checked_mul(dtype.bytes())?
            .checked_add(self.offset_bytes)
    }

    /// Byte position of an element; `None` when the index is outside.
    pub fn byte_position(&self, dtype: DType, index: &[u64]) -> Option<u64> {
        let inside = index.len() == self.shape.len() && index.iter().zip(&self.shape).all(|(i, size)| i < size);
        inside.then(|| {
            let elements: u64 = index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum();
            self.offset_bytes + elements * dtype.bytes()
        })
    }

    /// Calls `f` with the row-major number and the byte position of every element.
    pub fn for_each_position(&self, dtype: DType, mut f: impl FnMut(u64, usize)) {
        if self.is_empty() {
            return;
        }
        let size = dtype.bytes();
        let (inner_size, inner_step) = match (self.shape.last(), self.strides.last()) {
            (Some(&n), Some(&stride)) => (n, stride * size),
            _ => (1, 0),
        };
        let outer = self.shape.len().saturating_sub(1);
        let mut index = vec![0u64; outer];
        let mut n = 0;
        loop {
            let row: u64 = index
                .iter()
                .zip(&self.strides)
                .map(|(i, stride)| i * stride * size)
                .sum();
            for i in 0..inner_size {
                f(n, (self.offset_bytes + row + i * inner_step) as usize);
                n += 1;
            }
            let Some(dim) = (0..outer).rev().find(|&d| index[d] + 1 < self.shape[d]) else {
                return;
            };
            index[dim] += 1;
            index[dim + 1..].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strides(shape: &[u64], fixed: &[Option<u64>], pitch: Option<u64>) -> Result<Vec<u64>, LayoutError> {
        Layout::for_argument(shape, fixed, pitch, 0).map(|l| l.strides().to_vec())
    }

    #[test]
    fn the_unit_stride_goes_where_the_argument_has_it() {
        assert_eq!(strides(&[512, 256], &[None, Some(1)], None).unwrap(), [256, 1]);
        assert_eq!(strides(&[512, 256], &[Some(1), None], None).unwrap(), [1, 512]);
        assert_eq!(strides(&[512, 256], &[None, None], None).unwrap(), [256, 1]);
        assert_eq!(strides(&[512, 256], &[None, Some(1)], Some(264)).unwrap(), [264, 1]);
        assert_eq!(
            strides(&[2, 3, 4], &[None, None, Some(1)], Some(8)).unwrap(),
            [24, 8, 1]
        );
        assert_eq!(strides(&[4, 8], &[Some(8), Some(1)], None).unwrap(), [8, 1]);
        assert_eq!(strides(&[0, 8], &[None, Some(1)], None).unwrap(), [8, 1]);
    }

    #[test]
    fn a_pitch_that_cannot_be_had_is_refused_with_both_values() {
        let small = strides(&[512, 256], &[None, Some(1)], Some(255)).unwrap_err();
        assert_eq!(
            small.to_string(),
            "pitch = 255 elements, but a row has 256 elements; the pitch must not be smaller"
        );
        assert_eq!(
            strides(&[4, 8], &[Some(8), Some(1)], Some(9)),
            Err(LayoutError::NoRuntimeStride)
        );
        assert_eq!(
            strides(&[4], &[None, Some(1)], None),
            Err(LayoutError::Rank { expected: 2, found: 1 })
        );
    }

    #[test]
    fn elements_beyond_63_bits_are_refused() {
        assert_eq!(
            strides(&[1 << 40, 1 << 30], &[None, Some(1)], None),
            Err(LayoutError::TooLarge)
        );
        assert_eq!(Layout::new(&[2], &[u64::MAX], 0), Err(LayoutError::TooLarge));
        assert!(Layout::new(&[u64::MAX, u64::MAX], &[0, 0], 0).is_err());
    }
}
