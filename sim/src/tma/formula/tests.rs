//! The engine against the formulas, on drawn maps. `GIRIH_TEST_CASES=n` draws n cases of each kind instead of the usual
//! number.
use super::{
    combined,
    draw::{Draw, Maps, PLAIN, start, start_in_window},
    loaded, permuted, stored,
};
use crate::tma::{LoadMode, ReduceOp, StoreMode, flat::Flat, load, reduce, store};
use girih_core::tensor_map::{Caps, Fill, Mode, TensorMap};

const GLOBAL_BYTES: usize = 1 << 18;
const SHARED_BYTES: usize = 1 << 18;
/// Every mode that there is.
const LATER: Maps = Maps {
    caps: Caps::SM_103,
    formats: &PLAIN,
};

fn cases(usual: usize) -> usize {
    let asked = std::env::var("GIRIH_TEST_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn random_bytes(d: &mut Draw, len: usize) -> Vec<u8> {
    (0..len / 8).flat_map(|_| d.next().to_le_bytes()).collect()
}

fn narrow(x: &[i64]) -> Vec<i32> {
    x.iter().map(|v| *v as i32).collect()
}

/// Holds one load to the formula: every byte of shared memory, and the transaction.
fn check_load(d: &mut Draw, map: &TensorMap, mode: LoadMode, x: &[i64]) {
    let source = random_bytes(d, GLOBAL_BYTES);
    let dst = 128 * d.from(0..9) as u64;
    let mut expected = vec![0xee; SHARED_BYTES];
    let elements = loaded(map, mode, x);
    for e in &elements {
        let fill = match map.fill {
            Fill::Zero => 0,
            Fill::Nan => [0xf7, 0x7f][(e.byte % 2) as usize],
        };
        let byte = e.global(map, false).map_or(fill, |at| source[at]);
        expected[permuted(map.swizzle, dst + e.image) as usize] = byte;
    }
    let (global, shared) = (Flat::new(0, source), Flat::new(0, vec![0xee; SHARED_BYTES]));
    let done = load(map, mode, &narrow(x), &global, &shared, dst);
    assert_eq!(done, Ok(elements.len() as u64), "{mode:?} at {x:?} of {map:?}");
    same(
        &shared.into_bytes(),
        &expected,
        &format!("{mode:?} at {x:?} to {dst} of {map:?}"),
    );
}

/// Holds one store, or one reduction, to the formula.
fn check_store(d: &mut Draw, map: &TensorMap, mode: StoreMode, op: Option<ReduceOp>, x: &[i64]) {
    let (before, source) = (random_bytes(d, GLOBAL_BYTES), random_bytes(d, SHARED_BYTES));
    let src = 128 * d.from(0..9) as u64;
    let elements = stored(map, mode, x);
    let mut expected = before.clone();
    let width = map.format.bytes().expect("whole bytes") as usize;
    match op {
        None => {
            for e in &elements {
                if let Some(at) = e.global(map, true) {
                    expected[at] = source[permuted(map.swizzle, src + e.image) as usize];
                }
            }
        }
        Some(op) => {
            for e in elements.iter().filter(|e| (e.byte as usize).is_multiple_of(width)) {
                let Some(at) = e.global(map, true) else { continue };
                let from = |i: u64| source[permuted(map.swizzle, src + e.image + i) as usize];
                let operand = u64::from_le_bytes(std::array::from_fn(|i| if i < width { from(i as u64) } else { 0 }));
                let old = u64::from_le_bytes(std::array::from_fn(|i| if i < width { expected[at + i] } else { 0 }));
                let new = combined(op, map.format, old, operand);
                expected[at..at + width].copy_from_slice(&new.to_le_bytes()[..width]);
            }
        }
    }
    let (global, shared) = (Flat::new(0, before), Flat::new(0, source));
    let done = match op {
        None => store(map, mode, &narrow(x), &shared, src, &global),
        Some(op) => reduce(map, op, mode, &narrow(x), &shared, src, &global),
    };
    let what = format!("{mode:?} {op:?} at {x:?} from {src} of {map:?}");
    assert_eq!(done, Ok(()), "{what}");
    same(&global.into_bytes(), &expected, &what);
}

fn same(got: &[u8], expected: &[u8], what: &str) {
    if let Some(at) = (0..got.len()).find(|i| got[*i] != expected[*i]) {
        panic!("byte {at} is {:#x}, by formula {:#x}: {what}", got[at], expected[at]);
    }
}

/// Draws until `count` cases have run; the sizes grow.
fn run(seed: u64, count: usize, mut one: impl FnMut(&mut Draw, i64) -> Option<()>) {
    let mut d = Draw(seed);
    let (mut done, mut drawn) = (0, 0);
    while done < count {
        let size = 2 + (done * 12 / count.max(1)) as i64;
        done += usize::from(one(&mut d, size).is_some());
        drawn += 1;
        assert!(drawn < 1000 * count, "{done} of {drawn} drawn maps are legal");
    }
}

#[test]
fn boxes_of_every_rank_interleave_and_swizzle() {
    run(1, cases(700), |d, size| {
        let map = LATER.tiled(d, size, true)?;
        let x = start(d, &map, true);
        check_load(d, &map, LoadMode::Tile, &x);
        Some(())
    });
}

#[test]
fn four_rows_anywhere() {
    let rows = |d: &mut Draw, size: i64, outside: bool| {
        let mut map = LATER.tiled(d, size, false)?;
        let Mode::Tiled { box_dims } = &mut map.mode else {
            return None;
        };
        if box_dims.len() != 2 {
            return None;
        }
        box_dims[1] = 1;
        let mut x = start(d, &map, outside);
        let size = map.dims[1] as i64;
        // Distinct rows, so that the order of stores does not matter.
        let first = d.from(if outside { -4 } else { 0 }..size + 1);
        let order = d.pick(&[[0, 1, 2, 3], [3, 1, 0, 2], [5, 2, 9, 0]]);
        x.truncate(1);
        x.extend(order.map(|row| first + row));
        Some((map, x))
    };
    run(2, cases(250), |d, size| {
        let (map, x) = rows(d, size, true)?;
        check_load(d, &map, LoadMode::Gather4, &x);
        Some(())
    });
    run(3, cases(250), |d, size| {
        let (map, x) = rows(d, size, false)?;
        check_store(d, &map, StoreMode::Scatter4, None, &x);
        Some(())
    });
}

#[test]
fn columns_of_pixels() {
    run(4, cases(500), |d, size| {
        let map = LATER.images(d, size, None, false)?;
        let x = start_in_window(d, &map, true)?;
        let offsets = std::array::from_fn(|_| d.from(0..4) as u16);
        check_load(d, &map, LoadMode::Im2col { offsets }, &x);
        Some(())
    });
}

#[test]
fn columns_along_w_with_halos() {
    run(5, cases(300), |d, size| {
        let map = LATER.images(d, size, Some(false), false)?;
        let x = start_in_window(d, &map, true)?;
        let (halo, offset) = (d.from(0..9) as u16, d.from(0..4) as u16);
        check_load(d, &map, LoadMode::Im2colW { halo, offset }, &x);
        Some(())
    });
    run(6, cases(150), |d, size| {
        let map = LATER.images(d, size, Some(true), false)?;
        let x = start_in_window(d, &map, true)?;
        let (halo, offset) = (d.from(0..9) as u16, d.from(0..4) as u16);
        check_load(d, &map, LoadMode::Im2colW128 { halo, offset }, &x);
        Some(())
    });
}

#[test]
fn stores_of_boxes_and_pixels() {
    run(7, cases(400), |d, size| {
        let map = LATER.tiled(d, size, true)?;
        let x = start(d, &map, false);
        check_store(d, &map, StoreMode::Tile, None, &x);
        Some(())
    });
    for (seed, wide, mode) in [
        (8, None, StoreMode::Im2colNoOffs),
        (9, Some(false), StoreMode::Im2colNoOffsW),
    ] {
        run(seed, cases(200), |d, size| {
            let map = LATER.images(d, size, wide, true)?;
            let x = start_in_window(d, &map, false)?;
            check_store(d, &map, mode, None, &x);
            Some(())
        });
    }
}

#[test]
fn reductions_of_boxes_and_pixels() {
    run(10, cases(500), |d, size| {
        let op = d.pick(&ReduceOp::ALL);
        let (mode, map) = match d.from(0..3) {
            0 => (StoreMode::Im2colNoOffs, LATER.images(d, size, None, true)?),
            _ => (StoreMode::Tile, LATER.tiled(d, size, false)?),
        };
        let core = girih_core::target::ReduceOp::ALL
            .into_iter()
            .find(|o| o.name() == op.name())?;
        if !core.formats().contains(&map.format) {
            return None;
        }
        let x = match mode {
            StoreMode::Tile => start(d, &map, false),
            _ => start_in_window(d, &map, false)?,
        };
        check_store(d, &map, mode, Some(op), &x);
        Some(())
    });
}
