//! Strided arrays in host memory: what a SPEC makes, what a launch copies in and out, and what a check compares.
mod element;
mod layout;
mod npy;

pub use element::{decode_f64, decode_i64, encode_f64, encode_i64};
pub use layout::{Layout, LayoutError};
pub use npy::{FileType, read_npy, write_npy};

use girih_core::dtype::DType;

/// An array of any rank (0 too) with element strides, as a memref sees it: element `i` lives at
/// `offset_bytes + sum(i[d] * strides[d]) * dtype.bytes()` of [`Array::bytes`], little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    dtype: DType,
    layout: Layout,
    bytes: Vec<u8>,
}

impl Array {
    /// An array whose bytes, gaps of the layout included, are all `byte`. `None` if it does not fit the address space.
    pub fn filled(dtype: DType, layout: Layout, byte: u8) -> Option<Self> {
        let length = usize::try_from(layout.span_bytes(dtype)?)
            .ok()
            .filter(|&n| n <= isize::MAX as usize)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).ok()?;
        bytes.resize(length, byte);
        Some(Array { dtype, layout, bytes })
    }

    /// An array of zeros, rows without gaps, last dimension innermost. `None` if it does not fit the address space.
    pub fn zeros(dtype: DType, shape: &[u64]) -> Option<Self> {
        Array::filled(dtype, Layout::row_major(shape)?, 0)
    }

    /// A row-major array of the given values, rounded to `dtype`. `None` unless there is one value for each element.
    pub fn from_f64(dtype: DType, shape: &[u64], values: &[f64]) -> Option<Self> {
        let mut array = Array::zeros(dtype, shape)?;
        if array.len() != values.len() as u64 {
            return None;
        }
        for (cell, value) in array.bytes.chunks_exact_mut(dtype.bytes() as usize).zip(values) {
            encode_f64(dtype, *value, cell);
        }
        Some(array)
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes, strides and offset.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Size of each dimension, outermost first.
    pub fn shape(&self) -> &[u64] {
        self.layout.shape()
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.layout.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory, gaps between rows included.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The memory, to be overwritten.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Byte position of an element; `None` when the index is outside.
    fn position(&self, index: &[u64]) -> Option<std::ops::Range<usize>> {
        let start = self.layout.byte_position(self.dtype, index)? as usize;
        Some(start..start + self.dtype.bytes() as usize)
    }

    /// The element at `index` as f64 (i64 beyond 2^53 is rounded); `None` when the index is outside.
    pub fn get_f64(&self, index: &[u64]) -> Option<f64> {
        Some(decode_f64(self.dtype, &self.bytes[self.position(index)?]))
    }

    /// The element at `index` as an integer, or `None` when the index is outside or the type is a float.
    pub fn get_i64(&self, index: &[u64]) -> Option<i64> {
        decode_i64(self.dtype, &self.bytes[self.position(index)?])
    }

    /// Calls `f` with the position in row-major order and the bytes of every element.
    pub fn for_each(&self, mut f: impl FnMut(u64, &[u8])) {
        let size = self.dtype.bytes() as usize;
        self.layout
            .for_each_position(self.dtype, |n, start| f(n, &self.bytes[start..start + size]));
    }

    /// All elements as f64 in row-major order.
    pub fn to_f64(&self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.len() as usize);
        self.for_each(|_, bytes| values.push(decode_f64(self.dtype, bytes)));
        values
    }

    /// The elements' bytes in row-major order without gaps.
    pub fn to_packed_bytes(&self) -> Vec<u8> {
        let mut packed = Vec::with_capacity((self.len() * self.dtype.bytes()) as usize);
        self.for_each(|_, bytes| packed.extend_from_slice(bytes));
        packed
    }

    /// Overwrites every element from bytes in row-major order without gaps; `false` when their number is wrong.
    pub fn set_packed_bytes(&mut self, packed: &[u8]) -> bool {
        let size = self.dtype.bytes() as usize;
        if packed.len() as u64 != self.len() * self.dtype.bytes() {
            return false;
        }
        let (layout, bytes) = (&self.layout, &mut self.bytes);
        layout.for_each_position(self.dtype, |n, start| {
            let from = n as usize * size;
            bytes[start..start + size].copy_from_slice(&packed[from..from + size]);
        });
        true
    }

    /// The same elements in another layout, whose gaps and offset get `gap` bytes. `None` if the shapes differ or the
    /// layout does not fit the address space.
    pub fn with_layout(&self, layout: Layout, gap: u8) -> Option<Self> {
        if layout.shape() != self.shape() {
            return None;
        }
        if layout == self.layout {
            return Some(self.clone());
        }
        let mut other = Array::filled(self.dtype, layout, gap)?;
        other.set_packed_bytes(&self.to_packed_bytes()).then_some(other)
    }

    /// The index of the `n`th element in row-major order.
    pub fn index_of(&self, n: u64) -> Vec<u64> {
        let mut rest = n;
        let mut index: Vec<u64> = self
            .shape()
            .iter()
            .rev()
            .map(|&size| {
                let size = size.max(1);
                let i = rest % size;
                rest /= size;
                i
            })
            .collect();
        index.reverse();
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_padded_column_major_array_keeps_its_elements_and_its_gaps() {
        let dense = Array::from_f64(DType::I16, &[2, 3], &[0., 1., 2., 3., 4., 5.]).unwrap();
        let layout = Layout::new(&[2, 3], &[1, 4], 6).unwrap();
        let padded = dense.with_layout(layout, 0xee).unwrap();
        assert_eq!(padded.bytes().len(), 6 + 2 * (1 + 2 * 4 + 1));
        assert_eq!(padded.get_i64(&[1, 2]), Some(5));
        assert_eq!(padded.get_i64(&[2, 0]), None);
        assert_eq!(&padded.bytes()[..6], [0xee; 6]);
        assert_eq!(&padded.bytes()[10..14], [0xee; 4]);
        assert_eq!(padded.to_packed_bytes(), dense.to_packed_bytes());
        assert_eq!(padded.index_of(4), [1, 1]);
    }

    #[test]
    fn a_scalar_array_has_one_element_and_an_empty_one_none() {
        let scalar = Array::from_f64(DType::F32, &[], &[2.5]).unwrap();
        assert_eq!((scalar.len(), scalar.get_f64(&[])), (1, Some(2.5)));
        let empty = Array::zeros(DType::F32, &[4, 0]).unwrap();
        assert!(empty.is_empty() && empty.bytes().is_empty() && empty.to_f64().is_empty());
    }

    #[test]
    fn what_exceeds_the_address_space_is_refused() {
        assert!(Array::zeros(DType::F64, &[1 << 40, 1 << 40]).is_none());
        assert!(Array::zeros(DType::F64, &[1 << 62]).is_none());
    }
}
