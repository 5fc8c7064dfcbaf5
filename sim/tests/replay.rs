//! Everything recorded on an H200, through the simulator: one expected result, many records.
use girih_sim::replay::{Outcome, replay_file, replay_files};
use std::io::Write;
use std::path::PathBuf;

fn records(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/hw").join(file)
}

fn all_match(file: &str, cases: usize) {
    let outcome = replay_file(&records(file)).expect("a readable record file");
    assert_eq!(
        outcome,
        Outcome {
            cases,
            matches: cases,
            first_difference: None
        }
    );
}

#[test]
fn tiled_loads() {
    all_match("load.jsonl.gz", 720);
}

#[test]
fn im2col_loads() {
    all_match("im2col.jsonl.gz", 300);
}

#[test]
fn tiled_stores() {
    all_match("store.jsonl.gz", 300);
}

#[test]
fn im2col_stores() {
    all_match("store_im2col.jsonl.gz", 96);
}

#[test]
fn reductions() {
    all_match("reduce.jsonl.gz", 360);
}

#[test]
fn driver_answers() {
    all_match("encode.jsonl.gz", 18_000);
}

#[test]
fn probes_of_special_values_and_limits() {
    all_match("probe.jsonl", 30);
}

#[test]
fn interleaved_slices_im2col_reductions_and_refusals() {
    all_match("mixed.jsonl.gz", 172);
}

#[test]
fn tensor_core_products() {
    all_match("product.jsonl.gz", 670);
}

#[test]
fn bank_conflicts() {
    all_match("banks.jsonl", 194);
}

#[test]
fn a_difference_is_told_in_words_and_fails() {
    let line = r#"{"kind":"load","i":7,"type":"u8","rank":1,"dim":[16],"stride":[],"box":[16],"element_stride":[1],
        "interleave":0,"swizzle":0,"l2":0,"oob":0,"addr_off":0,"encode":0,"coord":[0],"smem_off":0,"tx_bytes":16,
        "global":"000102030405060708090a0b0c0d0e0f","smem":"000102030405060708090a0b0c0d0eff"}"#;
    let mut file = tempfile::Builder::new().suffix(".jsonl").tempfile().expect("a file");
    writeln!(file, "{}", line.replace('\n', " ")).expect("written");
    let mut out = Vec::new();
    assert!(!replay_files(&[file.path().into()], &mut out).expect("written"));
    let out = String::from_utf8(out).expect("text");
    assert!(out.contains("0 of 1 match"), "{out}");
    assert!(
        out.contains("load 7: shared memory at byte 15 is 0x0f, recorded was 0xff; 1 of 16 bytes differ"),
        "{out}"
    );
}
