//! `tile-allocate-shared`: alignment, no overlap, little waste, the same answer each time.
use crate::support::{kernel, run_ok, says};
use pretty_assertions::assert_eq;

/// Offsets in the order of the source, and the kernel's bytes.
fn allocate(target: &str, allocs: &[&str]) -> (Vec<u64>, u64) {
    let body: Vec<_> = allocs
        .iter()
        .enumerate()
        .map(|(i, t)| format!("%b{i} = tile.alloc {t}"))
        .collect();
    let text = run_ok(&kernel(target, &body.join("\n")), "tile-allocate-shared");
    let number = |line: &str, name: &str| -> Option<u64> {
        let (_, rest) = line.split_once(&format!("{name} = "))?;
        rest.split(' ').next()?.parse().ok()
    };
    let offsets = text.lines().filter(|line| line.contains("tile.alloc"));
    let offsets = offsets.map(|line| number(line, "offset").expect("an offset")).collect();
    let bytes = text.lines().find_map(|line| number(line, "shared_bytes"));
    (offsets, bytes.expect("the kernel's bytes"))
}

#[test]
fn strict_buffers_come_first_and_small_ones_fill_the_gaps() {
    let (offsets, bytes) = allocate(
        "sm_90a",
        &[
            ": memref<4x!tile.mbarrier, #tile.shared>",
            ": memref<3xf32, #tile.shared>",
            ": memref<64x64xbf16, #tile.shared<swizzle = 128>>",
            ": memref<8x32xbf16, #tile.shared<swizzle = 64>>",
            ": memref<8x16xbf16, #tile.shared<swizzle = 32>>",
        ],
    );
    // The 12-byte buffer ends at 8972, and the barriers follow on the next multiple of 8.
    assert_eq!(offsets, [8976, 8960, 0, 8192, 8704]);
    assert_eq!(bytes, 9008);
}

#[test]
fn offsets_by_hand_stay_and_the_rest_goes_around_them() {
    let (offsets, bytes) = allocate(
        "sm_90a",
        &[
            "{offset = 1024 : i64} : memref<128xi8, #tile.shared>",
            ": memref<16x64xbf16, #tile.shared<swizzle = 128>>",
            ": memref<512xi8, #tile.shared>",
        ],
    );
    assert_eq!((offsets, bytes), (vec![1024, 2048, 0], 4096));
}

#[test]
fn a_second_run_changes_nothing() {
    let source = kernel(
        "sm_90a",
        "%a = tile.alloc : memref<4x!tile.mbarrier, #tile.shared>\n\
         %b = tile.alloc : memref<2x128x64xbf16, #tile.shared<swizzle = 128>>",
    );
    let once = run_ok(&source, "tile-allocate-shared");
    assert_eq!(run_ok(&once, "tile-allocate-shared"), once);
    assert_eq!(run_ok(&source, "tile-allocate-shared"), once);
}

#[test]
fn a_kernel_without_buffers_has_no_bytes() {
    assert_eq!(allocate("sm_80", &[]), (vec![], 0));
}

#[test]
fn all_of_the_targets_memory_can_be_used_and_no_byte_more() {
    let (_, bytes) = allocate("sm_90a", &[": memref<232448xi8, #tile.shared>"]);
    assert_eq!(bytes, 232_448);
    let source = kernel(
        "sm_90a",
        "%a = tile.alloc : memref<232448xi8, #tile.shared>\n%b = tile.alloc : memref<!tile.mbarrier, #tile.shared>",
    );
    assert_eq!(
        says(&source, "tile-allocate-shared"),
        [
            "2:1: error: 'tile.kernel' op needs 232456 bytes of shared memory, but a block on sm_90a has at most 232448; use \
          fewer or smaller buffers\n\
          t.mlir:6:6: note: 232448 bytes at offset 0: memref<232448xi8, #tile.shared>; lives for the whole kernel: nothing \
          is known to use it\n\
          t.mlir:7:6: note: 8 bytes at offset 232448: memref<!tile.mbarrier, #tile.shared>; lives for the whole kernel: it holds mbarriers"
        ]
    );
}

#[test]
fn a_buffer_of_any_size_is_an_error_and_no_overflow() {
    let huge = kernel(
        "sm_90a",
        "%a = tile.alloc : memref<4294967296x1073741823xf32, #tile.shared>",
    );
    assert_eq!(
        says(&huge, "tile-allocate-shared"),
        [
            "6:6: error: 'tile.alloc' op takes 18446744056529682432 bytes, but no block has more than 232448 of shared memory; use smaller tiles or fewer stages"
        ]
    );
    let far = kernel(
        "sm_90a",
        "%a = tile.alloc {offset = 9223372036854774784 : i64} : memref<1024xi8, #tile.shared>\n\
         %b = tile.alloc : memref<8xi8, #tile.shared>",
    );
    let said = says(&far, "tile-allocate-shared");
    assert!(
        said[0].contains("offset = 9223372036854774784, but then it ends past"),
        "{said:?}"
    );
}
