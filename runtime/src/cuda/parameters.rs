//! Sizes of the parameters that each kernel of a PTX text declares.
//!
//! The driver reads as many parameters as the kernel has, whatever a launch gives, so the two must agree before it is asked.
//! The driver's own count is no help: it ends with a failed call, which memory checkers report.
use std::collections::BTreeMap;

/// Bytes of each parameter of each `.entry`, by name (PTX ISA, kernel function parameters). Text that is not PTX gives
/// fewer entries, and the driver says what is wrong with it.
pub(super) fn entry_parameters(ptx: &str) -> BTreeMap<String, Vec<usize>> {
    let tokens = tokens(ptx);
    let mut out = BTreeMap::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] != ".entry" {
            at += 1;
            continue;
        }
        let Some(name) = tokens.get(at + 1) else { break };
        at += 2;
        let mut sizes = Vec::new();
        if tokens.get(at).copied() == Some("(") {
            let end = tokens[at..]
                .iter()
                .position(|t| *t == ")")
                .map_or(tokens.len(), |n| at + n);
            sizes = tokens[at + 1..end]
                .split(|t| *t == ",")
                .filter(|p| !p.is_empty())
                .map(parameter_bytes)
                .collect();
            at = end;
        }
        out.insert((*name).to_owned(), sizes);
    }
    out
}

/// Bytes of one declaration: `.param .align 64 .b8 name[128]`, `.param .u64 .ptr .global .align 16 name`.
fn parameter_bytes(declaration: &[&str]) -> usize {
    let element = declaration.iter().find_map(|t| type_bytes(t)).unwrap_or(0);
    let lanes = declaration
        .iter()
        .find_map(|t| t.strip_prefix(".v").and_then(|n| n.parse().ok()))
        .unwrap_or(1);
    let mut count = 1;
    for window in declaration.windows(3) {
        if let ["[", n, "]"] = window {
            count *= n.parse().unwrap_or(0);
        }
    }
    element * lanes * count
}

/// `.u64` is 8.
fn type_bytes(token: &str) -> Option<usize> {
    let digits = token
        .strip_prefix('.')?
        .trim_start_matches("bf")
        .trim_start_matches(['b', 'u', 's', 'f']);
    let bits: usize = digits.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(bits / 8)
}

/// Words and the punctuation that declarations have; comments left out.
fn tokens(ptx: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = ptx;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |n| n + 2)
        } else if c.is_whitespace() {
            c.len_utf8()
        } else {
            let word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '$' | '%');
            let n = if word(c) {
                rest.find(|c| !word(c)).unwrap_or(rest.len())
            } else {
                c.len_utf8()
            };
            out.push(&rest[..n]);
            n
        };
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn declarations_of_every_shape_have_a_size() {
        let ptx = "
            // .entry commented(.param .u64 x)
            .visible .entry gemm( /* a comment, with a comma */
                .param .u64 .ptr .global .align 2 gemm_param_0,
                .param .u32 n, .param .f64 x, .param .b8 byte,
                .param .align 64 .b8 map[128],
                .param .align 8 .b16 table[2][3]
            ) .reqntid 384, 1, 1 { ret; }
            .visible .entry nothing() { ret; }
            .entry bare { ret; }
            .func (.param .b32 r) callee(.param .b64 a) { ret; }";
        let expected = [
            ("bare", vec![]),
            ("gemm", vec![8, 4, 8, 1, 128, 12]),
            ("nothing", vec![]),
        ];
        let expected: BTreeMap<String, Vec<usize>> = expected
            .into_iter()
            .map(|(name, sizes)| (name.to_owned(), sizes))
            .collect();
        assert_eq!(entry_parameters(ptx), expected);
    }

    #[test]
    fn text_that_stops_anywhere_is_read_without_a_fault() {
        let ptx = "// é\n.visible .entry k(.param .u64 a, .param .align 64 .b8 m[128]) { ret; }";
        for end in (0..ptx.len()).filter(|n| ptx.is_char_boundary(*n)) {
            entry_parameters(&ptx[..end]);
        }
    }
}
