//! Modes that no H200 has, held to the modes that were recorded and to the text of PTX.
use super::flat::Flat;
use super::{DESCRIPTOR_BYTES, LoadMode, ReduceOp, StoreMode, decode, encode, load, reduce, store};
use crate::memory::FaultKind;
use girih_core::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap, WidePixels};

fn map(format: Format, dims: &[u64], strides: &[u64], mode: Mode) -> TensorMap {
    TensorMap {
        format,
        address: 0,
        dims: dims.to_vec(),
        strides: strides.to_vec(),
        mode,
        element_strides: vec![1; dims.len()],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::None,
    }
}

fn tiled(format: Format, dims: &[u64], strides: &[u64], box_dims: &[u32]) -> TensorMap {
    map(
        format,
        dims,
        strides,
        Mode::Tiled {
            box_dims: box_dims.to_vec(),
        },
    )
}

/// NHWC images of 32 bytes a pixel, 8 wide, 4 high, 3 of them.
fn images(lower: i32, upper: i32, pixels: u32) -> TensorMap {
    let mode = Mode::Im2col {
        lower: vec![lower, 0],
        upper: vec![upper, 0],
        channels_per_pixel: 16,
        pixels_per_column: pixels,
    };
    map(Format::U16, &[16, 8, 4, 3], &[32, 256, 1024], mode)
}

/// The same images in the modes that walk along W alone.
fn wide(map: TensorMap, w128: bool) -> TensorMap {
    let Mode::Im2col {
        lower,
        upper,
        channels_per_pixel,
        pixels_per_column,
    } = map.mode
    else {
        panic!("an im2col map");
    };
    let pixels = if w128 {
        WidePixels::W128
    } else {
        WidePixels::W(pixels_per_column)
    };
    let mode = Mode::Im2colWide {
        lower: lower[0],
        upper: upper[0],
        channels_per_pixel,
        pixels,
    };
    TensorMap { mode, ..map }
}

fn numbered(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 256) as u8 | 1).collect()
}

/// Bytes that a load leaves in `len` bytes of 0xee at 0, and its transaction bytes.
fn loaded(map: &TensorMap, mode: LoadMode, coords: &[i32], len: usize) -> (Vec<u8>, u64) {
    let global = Flat::new(0, numbered(8192));
    let shared = Flat::new(0, vec![0xee; len]);
    let bytes = load(map, mode, coords, &global, &shared, 0).expect("a legal load");
    (shared.into_bytes(), bytes)
}

const SWIZZLES: [Swizzle; 8] = Swizzle::ALL;

#[test]
fn gather4_of_neighbouring_rows_is_a_box_of_four() {
    for swizzle in SWIZZLES {
        for row in [-2, 0, 5, 14] {
            let one = TensorMap {
                swizzle,
                ..tiled(Format::U16, &[40, 16], &[128], &[16, 1])
            };
            let four = TensorMap {
                swizzle,
                ..tiled(Format::U16, &[40, 16], &[128], &[16, 4])
            };
            let gathered = loaded(&one, LoadMode::Gather4, &[32, row, row + 1, row + 2, row + 3], 1024);
            assert_eq!(
                gathered,
                loaded(&four, LoadMode::Tile, &[32, row], 1024),
                "{swizzle:?} {row}"
            );
        }
    }
}

#[test]
fn scatter4_undoes_gather4() {
    let map = TensorMap {
        swizzle: Swizzle::B64,
        ..tiled(Format::U32, &[16, 16], &[64], &[16, 1])
    };
    let coords = [0, 9, 2, 7, 4];
    let source = Flat::new(0, numbered(1024));
    let shared = Flat::new(0, vec![0; 1024]);
    load(&map, LoadMode::Gather4, &coords, &source, &shared, 256).expect("a legal load");
    let target = Flat::new(0, vec![0; 1024]);
    store(&map, StoreMode::Scatter4, &coords, &shared, 256, &target).expect("a legal store");
    let (source, target) = (source.into_bytes(), target.into_bytes());
    for row in 0..16 {
        let range = row * 64..row * 64 + 64;
        let expected = if [9, 2, 7, 4].contains(&row) {
            &source[range.clone()]
        } else {
            &[0; 64][..]
        };
        assert_eq!(&target[range], expected, "row {row}");
    }
    let outside = store(
        &map,
        StoreMode::Scatter4,
        &[0, 9, -1, 7, 4],
        &shared,
        256,
        &target_of(1024),
    );
    assert_eq!(outside.unwrap_err().kind, FaultKind::IllegalInstruction);
}

fn target_of(len: usize) -> Flat {
    Flat::new(0, vec![0; len])
}

#[test]
fn im2col_w_walks_as_im2col_of_one_line() {
    // A tensor of height 1 has no other dimension to carry to but the image.
    let one_line = |lower, upper| TensorMap {
        dims: vec![16, 8, 1, 3],
        ..images(lower, upper, 13)
    };
    for (lower, upper, start) in [(0, 0, 3), (-1, 0, -1), (-1, -1, 6), (2, 1, 5)] {
        let map = one_line(lower, upper);
        let plain = loaded(&map, LoadMode::Im2col { offsets: [0; 3] }, &[0, start, 0, 1], 512);
        let w = loaded(
            &wide(map, false),
            LoadMode::Im2colW { halo: 0, offset: 0 },
            &[0, start, 0, 1],
            512,
        );
        assert_eq!(w, plain, "{lower} {upper} {start}");
    }
}

#[test]
fn im2col_w_stays_on_its_line_and_appends_the_halo() {
    let whole = loaded(
        &wide(images(0, 0, 10), false),
        LoadMode::Im2colW { halo: 0, offset: 0 },
        &[0, 5, 2, 0],
        512,
    );
    let split = loaded(
        &wide(images(0, 0, 7), false),
        LoadMode::Im2colW { halo: 3, offset: 0 },
        &[0, 5, 2, 0],
        512,
    );
    assert_eq!(split, whole);
    assert_eq!(whole.1, 10 * 32);
    // Pixel 3 is the first after W = 7: the same line of the next image.
    let start = 1024 + 2 * 256;
    assert_eq!(whole.0[3 * 32..4 * 32], numbered(8192)[start..start + 32]);
}

#[test]
fn im2col_steps_over_images_by_their_element_stride() {
    let every_other = TensorMap {
        element_strides: vec![1, 1, 1, 2],
        ..images(0, 0, 33)
    };
    let mode = LoadMode::Im2col { offsets: [0; 3] };
    // 8 x 4 pixels are an image; the pixel behind them is the first of the image after next. Measured on an H200.
    let (bytes, _) = loaded(&every_other, mode, &[0, 0, 0, 0], 33 * 32);
    assert_eq!(bytes[32 * 32..], numbered(8192)[2 * 1024..2 * 1024 + 32]);
    let (bytes, _) = loaded(&every_other, mode, &[0, 0, 0, 1], 33 * 32);
    assert_eq!(bytes[32 * 32..], [0; 32]);
}

#[test]
fn w_offset_moves_window_and_start() {
    let moved = loaded(
        &wide(images(-1, -1, 9), false),
        LoadMode::Im2colW { halo: 0, offset: 1 },
        &[0, 2, 1, 0],
        512,
    );
    let there = loaded(
        &wide(images(0, 0, 9), false),
        LoadMode::Im2colW { halo: 0, offset: 0 },
        &[0, 3, 1, 0],
        512,
    );
    assert_eq!(moved, there);
}

#[test]
fn w_128_brings_128_pixels_and_a_halo_for_each_32() {
    let global = Flat::new(0, numbered(1 << 16));
    let long = TensorMap {
        dims: vec![16, 200, 1, 3],
        strides: vec![32, 6400, 6400],
        ..images(0, 0, 1)
    };
    let long = wide(long, true);
    let shared = Flat::new(0, vec![0; 8192]);
    let mode = LoadMode::Im2colW128 { halo: 2, offset: 0 };
    let bytes = load(&long, mode, &[0, 4, 0, 0], &global, &shared, 0).expect("a legal load");
    assert_eq!(bytes, (128 + 4 * 2) * 32);
    let (image, tensor) = (shared.into_bytes(), numbered(1 << 16));
    let pixel = |p: usize| &tensor[(4 + p) * 32..(5 + p) * 32];
    for p in 0..128 {
        assert_eq!(&image[p * 32..p * 32 + 32], pixel(p));
    }
    for (i, p) in [32, 33, 64, 65, 96, 97, 128, 129].into_iter().enumerate() {
        assert_eq!(&image[(128 + i) * 32..(129 + i) * 32], pixel(p));
    }
}

#[test]
fn a_store_along_w_ends_at_the_first_pixel_outside() {
    // Six pixels from the fourth-last of the last image.
    let map = wide(images(0, 0, 6), false);
    let shared = Flat::new(0, vec![5; 256]);
    let global = target_of(4096);
    store(&map, StoreMode::Im2colNoOffsW, &[0, 4, 3, 2], &shared, 0, &global).expect("a legal store");
    let bytes = global.into_bytes();
    let start = 2 * 1024 + 3 * 256 + 4 * 32;
    assert!(bytes[start..start + 4 * 32].iter().all(|&b| b == 5));
    assert_eq!(bytes.iter().filter(|&&b| b == 5).count(), 4 * 32);
}

#[test]
fn sub_byte_formats_spread_sixteen_elements_over_sixteen_bytes() {
    for (format, piece) in [(Format::B4x16P64, 8), (Format::B6x16P32, 12)] {
        for swizzle in [Swizzle::None, Swizzle::B128] {
            let row = piece * 8;
            let map = TensorMap {
                swizzle,
                ..tiled(format, &[256, 3], &[2 * row as u64], &[128, 2])
            };
            let (image, bytes) = loaded(&map, LoadMode::Tile, &[128, 1], 256);
            assert_eq!(bytes, 2 * row as u64, "padding is not counted");
            let tensor = numbered(8192);
            for (i, &byte) in image.iter().enumerate() {
                let logical = swizzle.apply(i as u64) as usize;
                let (r, p, at) = (logical / 128, logical % 128 / 16, logical % 16);
                let expected = if at < piece {
                    tensor[(1 + r) * 2 * row + row + p * piece + at]
                } else {
                    0xee
                };
                assert_eq!(byte, expected, "{format:?} {swizzle:?} byte {i}");
            }
        }
    }
}

#[test]
fn six_bit_stores_drop_the_padding_bits() {
    let map = tiled(Format::B6x16P32, &[128, 2], &[96], &[128, 1]);
    let elements: Vec<u8> = (0..128).map(|i| 0xc0 | (i * 5) as u8 & 0x3f).collect();
    let shared = Flat::new(0, elements.clone());
    let global = target_of(192);
    store(&map, StoreMode::Tile, &[0, 1], &shared, 0, &global).expect("a legal store");
    let bytes = global.into_bytes();
    assert!(bytes[..96].iter().all(|&b| b == 0));
    for (i, element) in elements.iter().enumerate() {
        let bit = i * 6;
        let word = u16::from_le_bytes([bytes[96 + bit / 8], *bytes.get(97 + bit / 8).unwrap_or(&0)]);
        assert_eq!((word >> (bit % 8)) as u8 & 0x3f, element & 0x3f);
    }
    let padded = tiled(Format::B4x16P64, &[128, 2], &[64], &[128, 1]);
    let refused = store(&padded, StoreMode::Tile, &[0, 1], &shared, 0, &target_of(192));
    assert_eq!(refused.unwrap_err().kind, FaultKind::IllegalInstruction);
}

#[test]
fn packed_four_bit_elements_move_as_bytes() {
    let nibbles = tiled(Format::B4x16, &[64, 8], &[32], &[32, 4]);
    let bytes = tiled(Format::U8, &[32, 8], &[32], &[16, 4]);
    assert_eq!(
        loaded(&nibbles, LoadMode::Tile, &[32, 6], 128),
        loaded(&bytes, LoadMode::Tile, &[16, 6], 128)
    );
}

#[test]
fn rows_of_a_96_byte_swizzle_are_96_bytes_apart() {
    let map = TensorMap {
        swizzle: Swizzle::B96,
        ..tiled(Format::U8, &[64, 4], &[64], &[32, 2])
    };
    let (image, bytes) = loaded(&map, LoadMode::Tile, &[0, 0], 256);
    assert_eq!(bytes, 64);
    let tensor = numbered(8192);
    for (row, at) in (0..2).flat_map(|row| (0..32).map(move |at| (row, at))) {
        let stored = Swizzle::B96.apply((row * 96 + at) as u64) as usize;
        assert_eq!(image[stored], tensor[row * 64 + at]);
    }
}

#[test]
fn maps_and_modes_must_fit() {
    let (shared, global) = (target_of(1024), target_of(1024));
    let tiled = tiled(Format::U32, &[16, 16], &[64], &[16, 2]);
    let kind = |result: Result<u64, crate::memory::Fault>| result.unwrap_err().kind;
    let run = |map: &TensorMap, mode, coords: &[i32]| kind(load(map, mode, coords, &global, &shared, 0));
    for (map, mode, coords) in [
        (&tiled, LoadMode::Gather4, &[0, 0, 1, 2, 3][..]),
        (&tiled, LoadMode::Tile, &[0][..]),
        (&tiled, LoadMode::Im2col { offsets: [0; 3] }, &[0, 0][..]),
        (&images(0, 0, 4), LoadMode::Tile, &[0, 0, 0, 0][..]),
        (
            &images(0, 0, 4),
            LoadMode::Im2colW { halo: 0, offset: 0 },
            &[0, 0, 0, 0][..],
        ),
        (
            &wide(images(0, 0, 4), true),
            LoadMode::Im2colW { halo: 0, offset: 0 },
            &[0, 0, 0, 0][..],
        ),
        (
            &images(0, 0, 4),
            LoadMode::Im2col { offsets: [0; 3] },
            &[0, 8, 0, 0][..],
        ),
    ] {
        assert_eq!(
            run(map, mode, coords),
            FaultKind::IllegalInstruction,
            "{mode:?} {coords:?}"
        );
    }
    let fault = reduce(&tiled, ReduceOp::Add, StoreMode::Tile, &[0, 0], &shared, 64, &global).unwrap_err();
    assert_eq!(fault.kind, FaultKind::MisalignedAddress);
    assert!(fault.detail.contains("0x40") && fault.detail.contains("128"), "{fault}");
}

#[test]
fn no_descriptor_and_no_coordinate_panics() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let seeds = [
        encode(&tiled(Format::Bf16, &[64, 9, 5], &[128, 1152], &[16, 4, 2])),
        encode(&images(-1, 0, 9)),
        encode(&TensorMap {
            swizzle: Swizzle::B64,
            ..wide(images(-1, 0, 9), false)
        }),
        encode(&TensorMap {
            swizzle: Swizzle::B128,
            ..wide(images(-1, 0, 9), true)
        }),
        encode(&TensorMap {
            interleave: Interleave::B32,
            swizzle: Swizzle::B32,
            ..tiled(Format::F32, &[8, 4, 3, 2], &[256, 1024, 3072], &[8, 2, 1, 2])
        }),
        [0; DESCRIPTOR_BYTES],
    ];
    let mut copies = 0;
    for round in 0..40_000 {
        let mut bytes = seeds[round % seeds.len()];
        for _ in 0..random() % 4 {
            bytes[(random() % 104) as usize] = random() as u8;
        }
        let Ok(map) = decode(&bytes) else { continue };
        copies += 1;
        let coords: Vec<i32> = (0..5)
            .map(|_| match random() % 4 {
                0 => random() as i32,
                1 => 0,
                _ => (random() % 32) as i32 * 8 - 64,
            })
            .collect();
        let rank = map.dims.len();
        let (global, shared) = (target_of(1 << 16), target_of(1 << 18));
        let offsets = [random() as u16; 3];
        let (halo, offset) = ((random() % 512) as u16, (random() % 32) as u16);
        let modes = [
            (LoadMode::Tile, rank),
            (LoadMode::Gather4, 5),
            (LoadMode::Im2col { offsets }, rank),
            (LoadMode::Im2colW { halo, offset }, rank),
            (
                LoadMode::Im2colW128 {
                    halo: halo % 32,
                    offset,
                },
                rank,
            ),
        ];
        for (mode, count) in modes {
            // Any error will do: the memories are small.
            let _ = load(&map, mode, &coords[..count], &global, &shared, 1024);
        }
        let modes = [
            (StoreMode::Tile, rank),
            (StoreMode::Scatter4, 5),
            (StoreMode::Im2colNoOffs, rank),
            (StoreMode::Im2colNoOffsW, rank),
        ];
        let op = ReduceOp::ALL[(random() % 8) as usize];
        for (mode, count) in modes {
            let _ = store(&map, mode, &coords[..count], &shared, 1024, &global);
            let _ = reduce(&map, op, mode, &coords[..count], &shared, 1024, &global);
        }
    }
    assert!(copies > 5_000, "{copies}");
}
