//! Malformed input of every kind ends in a located message, never in a panic: the examples of all ops, in custom and in
//! generic form, with tokens left out, numbers made extreme and types exchanged.
use crate::{
    examples::wrapped,
    support::{context, generic, read, read_valid},
};
use girih_dialects::tile::op_definitions;
use girih_ir::prelude::*;
use std::collections::BTreeSet;

/// The examples in both textual forms, each once.
fn sources() -> BTreeSet<String> {
    let c = context();
    let mut out = BTreeSet::new();
    for def in op_definitions() {
        for example in def.examples() {
            let custom = wrapped(&example);
            out.insert(generic(&read_valid(&c, custom.as_bytes())));
            out.insert(custom);
        }
    }
    out
}

/// Reads `source`: a module that is accepted prints and reads back, anything else is reported where it is.
fn check(c: &Context, source: &str) {
    match read(c, source.as_bytes()) {
        Ok(module) => {
            let printed = module.as_operation().to_string();
            let again = read(c, printed.as_bytes());
            let same = again.as_ref().is_ok_and(|m| m.as_operation().to_string() == printed);
            assert!(
                same,
                "does not read back as it is printed:\n{source}\nprinted:\n{printed}\nbut: {:#?}",
                again.err()
            );
        }
        Err(messages) => {
            assert!(!messages.is_empty(), "refused without a word:\n{source}");
            for m in &messages {
                assert!(!m.text.contains("internal error"), "{m}\nin\n{source}");
                assert!(m.place.is_some(), "says no place: {m}\nin\n{source}");
            }
        }
    }
}

/// Byte ranges of the words and punctuation of a text.
fn tokens(text: &str) -> Vec<std::ops::Range<usize>> {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b"_.$%@#!^?+-".contains(&b);
    let bytes = text.as_bytes();
    let (mut out, mut at) = (vec![], 0);
    while at < bytes.len() {
        let start = at;
        at += 1;
        match bytes[start] {
            b if b.is_ascii_whitespace() => continue,
            b'"' => {
                at += bytes[at..].iter().take_while(|b| **b != b'"').count() + 1;
                at = at.min(bytes.len());
            }
            b if is_word(b) => {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
            }
            _ => {}
        }
        out.push(start..at);
    }
    out
}

fn replaced(text: &str, range: std::ops::Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..range.start], &text[range.end..])
}

#[test]
fn a_token_may_be_missing() {
    let c = context();
    for source in sources() {
        for token in tokens(&source) {
            check(&c, &replaced(&source, token, ""));
        }
    }
}

#[test]
fn numbers_may_be_extreme() {
    const NUMBERS: [&str; 8] = [
        "0",
        "3",
        "-1",
        "257",
        "4294967296",
        "9223372036854775807",
        "18446744073709551616",
        "?",
    ];
    let c = context();
    for source in sources() {
        let bytes = source.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
            if end > at {
                for number in NUMBERS {
                    check(&c, &replaced(&source, at..end, number));
                }
            }
            at = end.max(at + 1);
        }
    }
}

/// Where a type that opens with `name<` stands, for each different one.
fn types_in(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for name in ["memref<", "tensor<", "!tile.tensor_map<", "!tile.in_flight<"] {
        for (at, _) in text.match_indices(name) {
            let mut depth = 0;
            for (i, b) in text[at..].bytes().enumerate() {
                match b {
                    b'<' => depth += 1,
                    b'>' if text.as_bytes()[at + i - 1] != b'-' => depth -= 1,
                    _ => continue,
                }
                if depth == 0 {
                    out.insert(text[at..=at + i].to_owned());
                    break;
                }
            }
        }
    }
    out.insert("index".into());
    out
}

#[test]
fn types_may_be_any() {
    const TYPES: [&str; 34] = [
        "i1",
        "i128",
        "index",
        "none",
        "f32",
        "vector<4xf32>",
        "tensor<*xf32>",
        "memref<*xf32>",
        "memref<f32>",
        "memref<?x?xbf16>",
        "memref<4xindex, #tile.shared>",
        "memref<bf16, #tile.shared>",
        "memref<0x64xbf16, #tile.shared<swizzle = 128>>",
        "memref<?x64xbf16, #tile.shared<swizzle = 128>>",
        "memref<4294967296x4294967296xbf16, #tile.shared>",
        "memref<9223372036854775807x64xbf16, #tile.shared<swizzle = 128>>",
        "memref<8x9223372036854775807xbf16, #tile.shared<swizzle = 128>>",
        "memref<128x64xbf16, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, #tile.shared<swizzle = 128>>",
        "memref<128x64xbf16, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, #tile.global>",
        "memref<128x64xbf16, strided<[64, 1], offset: ?>, #tile.shared<swizzle = 128>>",
        "memref<128x64xbf16, strided<[-64, 1]>, #tile.global>",
        "memref<?x?xbf16, strided<[9223372036854775807, 1]>, #tile.global>",
        "memref<!tile.mbarrier, #tile.global>",
        "memref<!tile.mbarrier>",
        "memref<16x!tile.mbarrier, #tile.shared<swizzle = 128>>",
        "memref<2x!tile.mbarrier, affine_map<(d0) -> (d0 floordiv 2)>, #tile.shared>",
        "memref<64x16xf32, #tile.reg>",
        "memref<64x64xi4, #tile.shared>",
        "memref<64x32xtf32, #tile.shared<swizzle = 128>>",
        "tensor<64x128xf32>",
        "tensor<64x64xbf16, #tile.layout<wgmma_a>>",
        "tensor<64x8xi1, #tile.layout<wgmma_d>>",
        "!tile.mbarrier",
        "!tile.tensor_map<8xi8>",
    ];
    let c = context();
    for source in sources() {
        for old in types_in(&source) {
            for new in TYPES {
                check(&c, &source.replace(&old, new));
                if let Some(at) = source.rfind(&old) {
                    check(&c, &replaced(&source, at..at + old.len(), new));
                }
            }
        }
    }
}
