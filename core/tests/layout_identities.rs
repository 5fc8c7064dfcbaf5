//! The laws of the layout algebra: on random layouts, and on every layout of three bits.
use girih_core::layout::{Conversion, Dim, LinearLayout, Movement, conversion};
use proptest::prelude::*;
use std::collections::BTreeSet;

const ROW: Dim = Dim::Axis(0);
const COLUMN: Dim = Dim::Axis(1);

/// The layout whose input bits, dimension by dimension, have these packed images.
fn layout(inputs: &[(Dim, u32)], outputs: &[(Dim, u32)], columns: &[u64]) -> LinearLayout {
    let unpack = |mut packed: u64| {
        let coordinates = outputs.iter().map(|&(dim, bits)| {
            let value = packed & ((1 << bits) - 1);
            packed >>= bits;
            (dim, value)
        });
        coordinates.collect::<Vec<_>>()
    };
    let images: Vec<_> = columns.iter().map(|&column| unpack(column)).collect();
    let mut rest: Vec<&[(Dim, u64)]> = images.iter().map(Vec::as_slice).collect();
    let mut bases = Vec::new();
    for &(dim, bits) in inputs {
        let tail = rest.split_off(bits as usize);
        bases.push((dim, rest));
        rest = tail;
    }
    let bases: Vec<_> = bases.iter().map(|(dim, images)| (*dim, images.as_slice())).collect();
    LinearLayout::from_bases(outputs, &bases).expect("within range")
}

const HOLDERS: [(Dim, u32); 3] = [(Dim::Register, 2), (Dim::Lane, 3), (Dim::Warp, 1)];
const TILE: [(Dim, u32); 2] = [(COLUMN, 3), (ROW, 3)];
const MEMORY: [(Dim, u32); 1] = [(Dim::Offset, 6)];

fn any_layout(inputs: &'static [(Dim, u32)], outputs: &'static [(Dim, u32)]) -> impl Strategy<Value = LinearLayout> {
    let bits = |dims: &[(Dim, u32)]| dims.iter().map(|(_, bits)| bits).sum::<u32>();
    let (count, end) = (bits(inputs) as usize, 1u64 << bits(outputs));
    proptest::collection::vec(0..end, count).prop_map(move |columns| layout(inputs, outputs, &columns))
}

/// A random bijection: the identity after random row operations.
fn any_bijection(inputs: &'static [(Dim, u32)], outputs: &'static [(Dim, u32)]) -> impl Strategy<Value = LinearLayout> {
    proptest::collection::vec((0usize..6, 0usize..6), 0..40).prop_map(move |steps| {
        let mut columns: Vec<u64> = (0..6).map(|bit| 1 << bit).collect();
        for (to, from) in steps {
            if to == from {
                columns.rotate_left(1);
            } else {
                columns[to] ^= columns[from];
            }
        }
        layout(inputs, outputs, &columns)
    })
}

fn identity(dims: &[(Dim, u32)]) -> LinearLayout {
    let bits = dims.iter().map(|(_, bits)| bits).sum::<u32>();
    layout(dims, dims, &(0..bits).map(|bit| 1 << bit).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn maps_are_linear(a in any_layout(&HOLDERS, &TILE), x in 0u64..64, y in 0u64..64) {
        prop_assert_eq!(a.apply_packed(x ^ y), a.apply_packed(x) ^ a.apply_packed(y));
        prop_assert_eq!(a.apply_packed(0), 0);
    }

    #[test]
    fn composition_is_composition_and_associative(
        a in any_layout(&HOLDERS, &TILE), b in any_layout(&TILE, &MEMORY), c in any_layout(&MEMORY, &HOLDERS), x in 0u64..64,
    ) {
        let ab = a.then(&b).unwrap();
        prop_assert_eq!(ab.apply_packed(x), b.apply_packed(a.apply_packed(x)));
        prop_assert_eq!(ab.then(&c).unwrap(), a.then(&b.then(&c).unwrap()).unwrap());
    }

    #[test]
    fn inverses_undo(a in any_bijection(&HOLDERS, &TILE), b in any_bijection(&TILE, &MEMORY)) {
        let inverse = a.invert().unwrap();
        prop_assert_eq!(a.then(&inverse).unwrap(), identity(&HOLDERS));
        prop_assert_eq!(inverse.then(&a).unwrap(), identity(&TILE));
        prop_assert_eq!(&inverse.invert().unwrap(), &a);
        let both = a.then(&b).unwrap();
        prop_assert_eq!(both.invert().unwrap(), b.invert().unwrap().then(&inverse).unwrap());
    }

    #[test]
    fn pseudo_inverses_find_a_holder_without_free_bits(a in any_layout(&HOLDERS, &TILE), x in 0u64..64) {
        let pseudo = a.pseudo_invert();
        prop_assert_eq!(&a.then(&pseudo).unwrap().then(&a).unwrap(), &a);
        let holder = pseudo.apply(&a.apply(&[(Dim::Register, x & 3), (Dim::Lane, x >> 2 & 7), (Dim::Warp, x >> 5)]));
        for (dim, value) in holder {
            prop_assert_eq!(value & a.free_bits(dim), 0);
        }
        if a.is_surjective() {
            prop_assert_eq!(pseudo.then(&a).unwrap(), identity(&TILE));
        }
    }

    #[test]
    fn division_undoes_products(a in any_layout(&HOLDERS, &TILE), b in any_layout(&HOLDERS, &TILE)) {
        let product = a.product(&b).unwrap();
        prop_assert!(product.divide(&a).unwrap().same_map(&b));
        prop_assert_eq!(product.rank(), a.rank() + b.rank());
        prop_assert_eq!(a.product(&LinearLayout::unit()).unwrap(), a);
    }

    #[test]
    fn products_put_one_layout_inside_the_other(
        a in any_layout(&HOLDERS, &TILE), b in any_layout(&HOLDERS, &TILE), x in 0u64..64, y in 0u64..64,
    ) {
        let inputs = |z: u64| [(Dim::Register, z & 3), (Dim::Lane, z >> 2 & 7), (Dim::Warp, z >> 5)];
        let bits = [2, 3, 1];
        let joint: Vec<_> =
            inputs(x).iter().zip(inputs(y)).zip(bits).map(|((low, high), bits)| (low.0, low.1 | high.1 << bits)).collect();
        let product = a.product(&b).unwrap();
        for axis in [ROW, COLUMN] {
            let expected = a.coordinate(&inputs(x), axis) | b.coordinate(&inputs(y), axis) << 3;
            prop_assert_eq!(product.coordinate(&joint, axis), expected);
        }
    }

    #[test]
    fn order_of_dimensions_is_no_part_of_the_map(a in any_layout(&HOLDERS, &TILE)) {
        let turned = a.with_outputs(&[ROW, COLUMN]).with_inputs(&[Dim::Warp, Dim::Register, Dim::Lane]);
        prop_assert!(turned.same_map(&a));
        prop_assert_eq!(turned.with_outputs(&[COLUMN, ROW]).with_inputs(&[Dim::Register, Dim::Lane, Dim::Warp]), a);
    }

    #[test]
    fn conversions_bring_every_element_from_the_nearest_place(
        a in any_bijection(&HOLDERS, &TILE), b in any_layout(&HOLDERS, &TILE),
    ) {
        let Conversion { movement, source } = conversion(&a, &b).unwrap();
        prop_assert!(source.then(&a).unwrap().same_map(&b));
        // A bijection leaves no choice of the source, so that the farthest move is what it is.
        let moves = |dim: Dim| {
            (0..64u64).any(|x| {
                let place = [(Dim::Register, x & 3), (Dim::Lane, x >> 2 & 7), (Dim::Warp, x >> 5)];
                let stays = place.iter().find(|(d, _)| *d == dim).map_or(0, |&(_, value)| value);
                source.coordinate(&place, dim) != stays
            })
        };
        let farthest = match (moves(Dim::Warp), moves(Dim::Lane), moves(Dim::Register)) {
            (true, _, _) => Movement::Warps,
            (_, true, _) => Movement::Lanes,
            (_, _, true) => Movement::Registers,
            _ => Movement::None,
        };
        prop_assert_eq!(movement, farthest);
    }
}

/// All 512 maps of three bits to three bits.
fn small() -> impl Iterator<Item = LinearLayout> {
    (0..512u64).map(|code| {
        let columns = [code & 7, code >> 3 & 7, code >> 6];
        layout(
            &[(Dim::Register, 1), (Dim::Lane, 2)],
            &[(COLUMN, 2), (ROW, 1)],
            &columns,
        )
    })
}

#[test]
fn rank_bijectivity_and_copies_are_those_of_the_image() {
    let mut bijections = 0;
    for layout in small() {
        let image: BTreeSet<_> = (0..8).map(|x| layout.apply_packed(x)).collect();
        assert_eq!(image.len(), 1 << layout.rank());
        assert_eq!(layout.copies(), 8 / image.len() as u64);
        assert_eq!(layout.is_bijective(), image.len() == 8);
        assert_eq!(layout.invert().is_ok(), layout.is_bijective());
        bijections += u32::from(layout.is_bijective());
    }
    // The invertible 3x3 matrices over F2: (8 - 1)(8 - 2)(8 - 4).
    assert_eq!(bijections, 168);
}

#[test]
fn free_and_broadcast_bits_are_those_that_change_no_image() {
    for layout in small() {
        let image = |bits: &[usize]| {
            let sums = (0..8u64).filter(|x| (0..3).all(|bit| x >> bit & 1 == 0 || bits.contains(&bit)));
            sums.map(|x| layout.apply_packed(x)).collect::<BTreeSet<_>>()
        };
        let free = layout.free_bits(Dim::Register) | layout.free_bits(Dim::Lane) << 1;
        let broadcast = layout.broadcast_bits(Dim::Register) | layout.broadcast_bits(Dim::Lane) << 1;
        for bit in 0..3 {
            let before: Vec<_> = (0..bit).collect();
            let with: Vec<_> = (0..=bit).collect();
            assert_eq!(free >> bit & 1 != 0, image(&before) == image(&with), "{layout}");
            assert_eq!(
                broadcast >> bit & 1 != 0,
                (0..8).all(|x| layout.apply_packed(x) == layout.apply_packed(x ^ 1 << bit))
            );
        }
    }
}

#[test]
fn contiguity_is_the_widest_aligned_run() {
    let inputs = [(Dim::Lane, 2), (Dim::Warp, 1)];
    for code in 0..512u64 {
        let columns = [code & 7, code >> 3 & 7, code >> 6];
        let layout = layout(&inputs, &[(COLUMN, 2), (ROW, 1)], &columns);
        let is_run = |width: u64| {
            (0..8u64)
                .step_by(width as usize)
                .filter(|x| x & 3 <= 4 - width)
                .all(|x| {
                    let at = |i| layout.apply(&[(Dim::Lane, (x + i) & 3), (Dim::Warp, x >> 2)]);
                    let start = at(0);
                    start[0].1 % width == 0 && (0..width).all(|i| at(i) == [(COLUMN, start[0].1 + i), start[1]])
                })
        };
        let widest = [4, 2, 1]
            .into_iter()
            .find(|&width| is_run(width))
            .expect("one element is a run");
        assert_eq!(layout.contiguity(Dim::Lane, COLUMN), widest, "{layout}");
    }
}
