//! The shared-memory image of one transfer: rows, pitch, bytes.
//!
//! Without interleave a row is the innermost dimension of the box, and rows follow each other at the pitch, which is the
//! row's bytes, or the swizzle span where that is wider (the gap keeps its old bytes). With interleave every position of
//! the box holds one channel slice, and slices are packed.
use super::{Format, Interleave, Mode, Swizzle, TensorMap};

impl TensorMap {
    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Elements of the image in each dimension after traversal strides, innermost first: `ceil(box / element stride)`.
    /// Without interleave the innermost stride has no effect; with it one transfer brings one channel slice, whatever the
    /// box says. For im2col: channels, then pixels, without the halos that a load may ask for.
    pub fn image_dims(&self) -> Vec<u64> {
        match &self.mode {
            Mode::Tiled { box_dims } => box_dims
                .iter()
                .enumerate()
                .map(|(i, &size)| {
                    if self.interleave != Interleave::None && i + 2 == box_dims.len() {
                        return 1;
                    }
                    let stride = match (i, self.interleave) {
                        (0, Interleave::None) => 1,
                        _ => self.element_strides.get(i).copied().unwrap_or(1).max(1),
                    };
                    u64::from(size.div_ceil(stride))
                })
                .collect(),
            Mode::Im2col {
                channels_per_pixel,
                pixels_per_column,
                ..
            } => {
                vec![u64::from(*channels_per_pixel), u64::from(*pixels_per_column)]
            }
            Mode::Im2colWide {
                channels_per_pixel,
                pixels,
                ..
            } => {
                vec![u64::from(*channels_per_pixel), u64::from(pixels.count())]
            }
        }
    }

    /// Bytes that one row holds in shared memory, without the gap after it.
    pub fn row_bytes(&self) -> u64 {
        match self.interleave.slice_bytes() {
            Some(slice) => slice,
            None => self
                .image_dims()
                .first()
                .map_or(0, |inner| inner * self.format.shared_bits() / 8),
        }
    }

    /// Rows of the image.
    pub fn rows(&self) -> u64 {
        let skipped = usize::from(self.interleave == Interleave::None);
        self.image_dims().iter().skip(skipped).product()
    }

    /// Bytes from one row to the next.
    pub fn row_pitch_bytes(&self) -> u64 {
        match (self.interleave, self.swizzle.span_bytes()) {
            (Interleave::None, Some(span)) => self.row_bytes().max(span),
            _ => self.row_bytes(),
        }
    }

    /// Bytes by which a load completes its mbarrier, elements out of bounds included, gaps and padding excluded. This is
    /// also the payload of a store.
    pub fn transaction_bytes(&self) -> u64 {
        match self.interleave.slice_bytes() {
            Some(slice) => slice * self.rows(),
            None => self.image_dims().iter().product::<u64>() * self.format.global_bits() / 8,
        }
    }

    /// Bytes of shared memory that the image takes, all rows at full pitch. A buffer of this size at an address that is a
    /// multiple of [`TensorMap::shared_alignment`] holds every byte that a transfer touches.
    pub fn image_bytes(&self) -> u64 {
        self.rows() * self.row_pitch_bytes()
    }

    /// Bytes that the shared address should be a multiple of: the swizzle's period, at least 128.
    pub fn shared_alignment(&self) -> u64 {
        self.swizzle.period_bytes()
    }

    /// Offset in the image, before the swizzle, of an element of the box; `position` counts image elements, innermost
    /// first (see [`TensorMap::image_dims`]). With interleave it is the offset of the slice. The stored address is
    /// `swizzle.apply(shared_address + offset)`. `None` for the sub-byte formats, whose elements have no byte address.
    pub fn image_offset(&self, position: &[u64]) -> Option<u64> {
        let dims = self.image_dims();
        let skipped = usize::from(self.interleave == Interleave::None);
        let inner = match self.interleave {
            Interleave::None => position.first().copied().unwrap_or(0) * self.format.bytes()?,
            _ => 0,
        };
        let row = dims
            .iter()
            .zip(position)
            .skip(skipped)
            .rev()
            .fold(0, |row, (&size, &at)| row * size + at);
        Some(row * self.row_pitch_bytes() + inner)
    }
}

/// The widest innermost box, in elements, that `swizzle` allows for `format`; 256 at most.
pub(super) fn widest_inner(format: Format, swizzle: Swizzle) -> u64 {
    swizzle
        .span_bytes()
        .map_or(256, |span| (span * 8 / format.shared_bits()).min(256))
}

#[cfg(test)]
mod tests {
    use super::super::{Fill, L2Promotion};
    use super::*;

    fn tiled(format: Format, box_dims: &[u32], swizzle: Swizzle) -> TensorMap {
        TensorMap {
            format,
            address: 0,
            dims: vec![1024; box_dims.len()],
            strides: vec![4096; box_dims.len() - 1],
            mode: Mode::Tiled {
                box_dims: box_dims.to_vec(),
            },
            element_strides: vec![1; box_dims.len()],
            interleave: Interleave::None,
            swizzle,
            fill: Fill::Zero,
            l2_promotion: L2Promotion::None,
        }
    }

    #[test]
    fn rows_narrower_than_the_span_leave_gaps() {
        let map = tiled(Format::F32, &[8, 3], Swizzle::B128);
        assert_eq!(
            (map.row_bytes(), map.row_pitch_bytes(), map.image_bytes()),
            (32, 128, 384)
        );
        assert_eq!(map.transaction_bytes(), 96);
    }

    #[test]
    fn element_strides_shrink_the_image_except_innermost() {
        let mut map = tiled(Format::F32, &[32, 5], Swizzle::None);
        map.element_strides = vec![2, 2];
        assert_eq!(map.image_dims(), [32, 3]);
        assert_eq!(map.transaction_bytes(), 32 * 3 * 4);
    }

    #[test]
    fn interleaved_slices_are_packed() {
        let mut map = tiled(Format::U16, &[8, 1, 2], Swizzle::B128);
        map.interleave = Interleave::B32;
        assert_eq!((map.rows(), map.row_pitch_bytes(), map.image_bytes()), (16, 32, 512));
    }

    #[test]
    fn one_transfer_brings_one_channel_slice() {
        let mut map = tiled(Format::U16, &[8, 3, 2], Swizzle::None);
        map.interleave = Interleave::B16;
        assert_eq!((map.rows(), map.transaction_bytes()), (16, 256));
    }

    #[test]
    fn padded_four_bit_elements_count_only_their_payload() {
        let map = tiled(Format::B4x16P64, &[128, 2], Swizzle::None);
        assert_eq!(
            (map.row_bytes(), map.transaction_bytes(), map.image_bytes()),
            (128, 128, 256)
        );
        let map = tiled(Format::B6x16P32, &[128, 2], Swizzle::None);
        assert_eq!(map.transaction_bytes(), 192);
    }
}
