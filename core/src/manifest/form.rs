//! Tensor maps of arrays, in the form that a kernel's argument has.
use super::MapForm;
use crate::tensor_map::TensorMap;

impl MapForm {
    /// The map of an array at `address`, not validated: sizes and strides in elements, outermost dimension first, as those
    /// of a memref that `tile.tensor_map` takes (elements smaller than a byte are packed in bytes; an interleaved map has
    /// the slice as innermost dimension). `None` where a dimension is 0: such a tensor has no map.
    ///
    /// The error says what does not fit.
    pub fn map_of(&self, address: u64, shape: &[u64], strides: &[u64]) -> Result<Option<TensorMap>, String> {
        let within = usize::from(self.interleave.slice_bytes().is_some());
        if shape.len() != self.rank + within || strides.len() != shape.len() {
            return Err(format!(
                "the tensor map has {} dimensions{}, but the array has shape {shape:?}",
                self.rank,
                if within > 0 { " and slices" } else { "" }
            ));
        }
        if let (Some(&stride), Some(&size)) = (strides.last(), shape.last())
            && stride != 1
            && size > 1
        {
            return Err(format!(
                "the innermost stride is {stride} elements, but a tensor map needs 1; copy the array to that layout"
            ));
        }
        if shape.contains(&0) {
            return Ok(None);
        }
        let packed = self.format.is_sub_byte();
        let element_bytes = if packed { 1 } else { self.format.global_bits() / 8 };
        let mut dims: Vec<u64> = shape.iter().rev().skip(within).copied().collect();
        if let (true, Some(inner)) = (packed, dims.first_mut()) {
            *inner = inner.saturating_mul(8) / self.format.global_bits();
        }
        let strides = strides.iter().rev().skip(1 + within);
        Ok(Some(TensorMap {
            format: self.format,
            address,
            dims,
            strides: strides.map(|stride| stride.saturating_mul(element_bytes)).collect(),
            mode: self.mode.clone(),
            element_strides: self.element_strides.clone(),
            interleave: self.interleave,
            swizzle: self.swizzle,
            fill: self.fill,
            l2_promotion: self.l2_promotion,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle};

    fn form(format: Format, rank: usize, interleave: Interleave) -> MapForm {
        MapForm {
            format,
            rank,
            mode: Mode::Tiled {
                box_dims: vec![16; rank],
            },
            element_strides: vec![1; rank],
            interleave,
            swizzle: Swizzle::None,
            fill: Fill::Zero,
            l2_promotion: L2Promotion::None,
        }
    }

    #[test]
    fn sizes_and_strides_are_those_of_the_array() {
        let fields = |form: &MapForm, shape: &[u64], strides: &[u64]| {
            let map = form.map_of(64, shape, strides).expect("it fits").expect("not empty");
            (map.dims, map.strides)
        };
        let plain = form(Format::Bf16, 2, Interleave::None);
        assert_eq!(fields(&plain, &[5, 40], &[64, 1]), (vec![40, 5], vec![128]));
        let packed = form(Format::B4x16, 2, Interleave::None);
        assert_eq!(fields(&packed, &[5, 16], &[32, 1]), (vec![32, 5], vec![32]));
        let sliced = form(Format::U16, 3, Interleave::B16);
        assert_eq!(
            fields(&sliced, &[2, 3, 4, 8], &[96, 32, 8, 1]),
            (vec![4, 3, 2], vec![64, 192])
        );
        assert_eq!(plain.map_of(64, &[0, 40], &[64, 1]), Ok(None));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let plain = form(Format::Bf16, 2, Interleave::None);
        assert_eq!(
            plain.map_of(64, &[40], &[1]).unwrap_err(),
            "the tensor map has 2 dimensions, but the array has shape [40]"
        );
        assert!(
            plain
                .map_of(64, &[40, 5], &[1, 40])
                .unwrap_err()
                .starts_with("the innermost stride is 40 elements")
        );
    }
}
