//! Arrays and numbers that go into a compiled function and come out of it.
use crate::error::{Error, Result};
use girih_core::dtype::DType;
use std::{ffi::c_void, marker::PhantomData};

/// A strided view of memory, checked to lie within it.
#[derive(Debug)]
pub struct Array<'a> {
    /// Element type.
    pub(super) dtype: DType,
    /// Elements in each dimension, outermost first.
    pub(super) shape: Vec<i64>,
    /// Distance between neighbours in each dimension, in elements.
    pub(super) strides: Vec<i64>,
    /// Address of the element at index 0.
    first: *mut u8,
    data: PhantomData<&'a mut [u8]>,
}

impl<'a> Array<'a> {
    /// The view of `data` whose element 0 lies `offset` elements into it. Sizes are outermost first, strides in elements.
    pub fn new(data: &'a mut [u8], dtype: DType, offset: usize, shape: &[usize], strides: &[isize]) -> Result<Self> {
        if shape.len() != strides.len() {
            let (sizes, steps) = (shape.len(), strides.len());
            return Err(Error::Reference(format!(
                "an array has {sizes} sizes and {steps} strides; expected as many"
            )));
        }
        let bytes = dtype.bytes() as usize;
        if !data.is_empty() && data.as_ptr().align_offset(bytes) != 0 {
            return Err(Error::Reference(format!(
                "the address of an array of {dtype} is not a multiple of {bytes}"
            )));
        }
        if !fits(data.len() / bytes, offset, shape, strides) {
            return Err(Error::Reference(format!(
                "an array of shape {shape:?}, strides {strides:?} and offset {offset} does not lie within {} elements",
                data.len() / bytes
            )));
        }
        let shape = shape.iter().map(|size| *size as i64).collect();
        let strides = strides.iter().map(|stride| *stride as i64).collect();
        let first = data.as_mut_ptr().wrapping_add(offset * bytes);
        Ok(Array {
            dtype,
            shape,
            strides,
            first,
            data: PhantomData,
        })
    }

    /// A whole row-major array.
    pub fn row_major(data: &'a mut [u8], dtype: DType, shape: &[usize]) -> Result<Self> {
        let mut strides = vec![1isize; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim].saturating_mul(isize::try_from(shape[dim]).unwrap_or(isize::MAX));
        }
        Array::new(data, dtype, 0, shape, &strides)
    }
}

/// Whether every element lies in `0..elements`. An empty array always does.
fn fits(elements: usize, offset: usize, shape: &[usize], strides: &[isize]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let (mut least, mut greatest) = (offset as i128, offset as i128);
    for (size, stride) in shape.iter().zip(strides) {
        let span = (*size as i128 - 1) * *stride as i128;
        if span < 0 { least += span } else { greatest += span }
    }
    least >= 0 && greatest < elements as i128
}

/// One argument.
#[derive(Debug)]
pub enum Arg<'a> {
    /// For a memref or a tensor.
    Array(Array<'a>),
    /// For a number: its bits in the low bytes.
    Scalar(DType, u64),
}

impl Arg<'_> {
    /// What the compiled function is given a pointer to.
    pub(super) fn slot(&mut self) -> Slot {
        match self {
            Arg::Scalar(_, bits) => Slot::Scalar(*bits),
            Arg::Array(array) => {
                let mut descriptor = Vec::with_capacity(3 + 2 * array.shape.len());
                // Allocated and aligned pointer, and no offset: types without a dynamic offset would ignore one.
                descriptor.extend([array.first as u64, array.first as u64, 0]);
                descriptor.extend(array.shape.iter().chain(&array.strides).map(|value| *value as u64));
                Slot::Descriptor {
                    address: descriptor.as_mut_ptr().cast(),
                    _words: descriptor,
                }
            }
        }
    }
}

/// An argument in the form of MLIR's C interface.
pub(super) enum Slot {
    Scalar(u64),
    /// A memref descriptor, passed by pointer.
    Descriptor {
        address: *mut c_void,
        _words: Vec<u64>,
    },
}

impl Slot {
    /// The address of the argument's value: of the number, or of the pointer to the descriptor.
    pub(super) fn argument(&mut self) -> *mut c_void {
        match self {
            Slot::Scalar(bits) => (&raw mut *bits).cast(),
            Slot::Descriptor { address, .. } => (&raw mut *address).cast(),
        }
    }
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returned {
    /// A memref or tensor, copied to row-major order.
    Array {
        /// Element type.
        dtype: DType,
        /// Elements in each dimension, outermost first.
        shape: Vec<usize>,
        /// The elements.
        data: Vec<u8>,
    },
    /// A number: its bits in the low bytes, the others zero.
    Scalar(DType, u64),
}

impl Returned {
    pub(super) fn scalar(dtype: DType, word: u64) -> Self {
        let bits = 8 * dtype.bytes();
        Returned::Scalar(dtype, if bits == 64 { word } else { word & ((1 << bits) - 1) })
    }
}

unsafe extern "C" {
    /// The C library's, which compiled code allocates from.
    fn free(pointer: *mut c_void);
}

/// Copies a returned array out and, if the function gave it away, frees it.
///
/// # Safety
/// `descriptor` begins with a memref descriptor of `rank` that describes valid memory; with `owned`, its allocated
/// pointer is from the C library's `malloc` and nobody else frees it.
pub(super) unsafe fn take_array(dtype: DType, rank: usize, descriptor: &[u64], owned: bool) -> Returned {
    let element = dtype.bytes() as usize;
    let sizes = &descriptor[3..3 + rank];
    let strides = &descriptor[3 + rank..3 + 2 * rank];
    let shape: Vec<usize> = sizes.iter().map(|size| *size as usize).collect();
    let count: usize = shape.iter().product();
    let first = (descriptor[1] as *const u8).wrapping_offset(descriptor[2] as isize * element as isize);
    let mut data = vec![0u8; count * element];
    let mut index = vec![0usize; rank];
    for out in data.chunks_exact_mut(element) {
        let at: isize = index
            .iter()
            .zip(strides)
            .map(|(i, stride)| *i as isize * *stride as isize)
            .sum();
        // SAFETY: within the described array.
        unsafe {
            first
                .wrapping_offset(at * element as isize)
                .copy_to_nonoverlapping(out.as_mut_ptr(), element);
        }
        for dim in (0..rank).rev() {
            index[dim] += 1;
            if index[dim] < shape[dim] {
                break;
            }
            index[dim] = 0;
        }
    }
    if owned {
        // SAFETY: by contract.
        unsafe { free(descriptor[0] as *mut c_void) };
    }
    Returned::Array { dtype, shape, data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_stay_within_their_memory() {
        assert!(fits(6, 0, &[2, 3], &[3, 1]));
        assert!(!fits(5, 0, &[2, 3], &[3, 1]));
        assert!(fits(6, 5, &[6], &[-1]));
        assert!(!fits(6, 4, &[6], &[-1]));
        assert!(fits(0, 7, &[4, 0], &[1000, 1]));
        assert!(!fits(usize::MAX, 0, &[usize::MAX, usize::MAX], &[isize::MAX, 1]));
    }
}
