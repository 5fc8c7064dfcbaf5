//! Canonical forms of `tile.slab`.
use crate::support::{kernel, run_ok};
use pretty_assertions::assert_eq;

#[test]
fn a_part_of_a_part_is_one_part_and_the_whole_is_none() {
    let body = "%i = tile.warp_id\n%j = tile.lane_id\n\
        %a = tile.alloc : memref<4x8x16xf32, #tile.shared>\n\
        %b = tile.slab %a[] : memref<4x8x16xf32, #tile.shared> -> memref<4x8x16xf32, #tile.shared>\n\
        %c = tile.slab %b[%i] : memref<4x8x16xf32, #tile.shared> -> memref<8x16xf32, #tile.shared>\n\
        %d = tile.slab %c[%j] : memref<8x16xf32, #tile.shared> -> memref<16xf32, #tile.shared>\n\
        %z = arith.constant 0 : index\n\
        %v = memref.load %d[%z] : memref<16xf32, #tile.shared>\n\
        memref.store %v, %d[%z] : memref<16xf32, #tile.shared>";
    let text = run_ok(&kernel("sm_90a", body), "canonicalize");
    let slabs: Vec<_> = text.lines().filter(|line| line.contains("tile.slab")).collect();
    assert_eq!(slabs.len(), 1, "{text}");
    assert!(
        slabs[0].contains("[%warp, %lane] : memref<4x8x16xf32, #tile.shared>"),
        "{text}"
    );
}
