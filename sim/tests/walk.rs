//! The order in which the tensor-map crate says that a copy goes through a tensor, held against what the simulator does, which
//! is held against recordings of hardware.
use girih_core::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Start, Swizzle, TensorMap};
use girih_sim::tma::{LoadMode, geometry::load_walk};
use proptest::prelude::*;

/// A map of this mode over a tensor of 4-byte elements, with strides of its own in each dimension.
fn map(dims: &[u64], mode: Mode, element_strides: &[u32], interleave: Interleave) -> TensorMap {
    TensorMap {
        format: Format::U32,
        address: 1 << 40,
        dims: dims.to_vec(),
        strides: (1..dims.len()).map(|dim| 1 << (8 + 6 * dim)).collect(),
        mode,
        element_strides: element_strides[..dims.len()].to_vec(),
        interleave,
        swizzle: Swizzle::None,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::None,
    }
}

/// Rows of both walks begin at the same global address, wherever the simulator's row is inside the tensor, and are outside
/// together.
fn same(map: &TensorMap, start: &Start, mode: LoadMode, coords: &[i32]) -> Result<(), TestCaseError> {
    let rows = map.walk(start).expect("start and map fit");
    let Ok(walk) = load_walk(map, mode, coords) else {
        // The simulator refuses what the hardware faults on; a drawing shows it all the same.
        return Ok(());
    };
    prop_assert_eq!(rows.len(), walk.rows.len());
    let inner = map.interleave.slice_bytes().unwrap_or(4) as i64;
    for (i, (at, row)) in rows.iter().zip(&walk.rows).enumerate() {
        prop_assert_eq!(row.image, i as u64 * map.row_pitch_bytes());
        let outer = at[1..]
            .iter()
            .zip(&map.strides)
            .map(|(&at, &stride)| at * stride as i64);
        let address = (map.address as i64) + at[0] * inner + outer.sum::<i64>();
        prop_assert_eq!(row.global as i64, address);
        let width = map.row_bytes() as i64 / inner;
        let inside = (0..width).any(|i| {
            let mut at = at.clone();
            at[0] += i;
            map.contains(&at)
        });
        prop_assert_eq!(inside, !row.valid.is_empty(), "{:?}", at);
    }
    Ok(())
}

fn wide(coords: &[i32]) -> Vec<i64> {
    coords.iter().map(|&at| at.into()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn boxes(
        rank in 1usize..6, dims in proptest::collection::vec(1u64..9, 5), sizes in proptest::collection::vec(1u32..5, 5),
        strides in proptest::collection::vec(1u32..4, 5), starts in proptest::collection::vec(-3i32..9, 5), slices: bool,
    ) {
        let interleave = if slices && rank >= 3 { Interleave::B16 } else { Interleave::None };
        let mut sizes = sizes[..rank].to_vec();
        sizes[0] *= 4;
        let mut coords = starts[..rank].to_vec();
        coords[0] *= 4;
        let map = map(&dims[..rank], Mode::Tiled { box_dims: sizes }, &strides, interleave);
        same(&map, &Start::Tile(wide(&coords)), LoadMode::Tile, &coords)?;
    }

    #[test]
    fn four_rows(rows in proptest::array::uniform4(-2i32..9), column in -2i32..4) {
        let map = map(&[16, 7], Mode::Tiled { box_dims: vec![8, 1] }, &[1, 1], Interleave::None);
        let coords = [4 * column, rows[0], rows[1], rows[2], rows[3]];
        let start = Start::Rows((4 * column).into(), rows.map(i64::from));
        same(&map, &start, LoadMode::Gather4, &coords)?;
    }

    #[test]
    fn pixels(
        rank in 3usize..6, dims in proptest::collection::vec(2u64..7, 5), corners in proptest::collection::vec(-2i32..2, 6),
        offsets in proptest::array::uniform3(0u16..4), strides in proptest::collection::vec(1u32..4, 5), pixels in 1u32..40,
        image in 0i32..2,
    ) {
        let spatial = rank - 2;
        let (lower, upper) = (corners[..spatial].to_vec(), corners[3..3 + spatial].to_vec());
        let mut coords = vec![0];
        coords.extend(&lower);
        coords.push(image);
        let mode = Mode::Im2col { lower, upper, channels_per_pixel: 8, pixels_per_column: pixels };
        let map = map(&dims[..rank], mode, &strides, Interleave::None);
        let start = Start::Im2col { coords: wide(&coords), offsets: offsets[..spatial].to_vec() };
        same(&map, &start, LoadMode::Im2col { offsets }, &coords)?;
    }
}
