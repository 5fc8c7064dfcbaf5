//! The manifest as the leading comment block of a PTX file:
//!
//! ```text
//! // girih manifest 1
//! // {
//! //   "schema": 1,
//! //   ...
//! // }
//! // end of girih manifest
//! ```
//!
//! The number in the first line is the schema, so that a reader knows before parsing whether it understands the rest. The
//! last line tells a complete block from a truncated one.
use super::{Manifest, SCHEMA};
use std::fmt::Write;
use thiserror::Error;

const HEADER: &str = "// girih manifest ";
const FOOTER: &str = "// end of girih manifest";

/// Why a file's manifest cannot be used. Lines count from 1.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ManifestError {
    /// The block has no end.
    #[error(
        "line {line}: the launch manifest that starts in line {start} ends before `{FOOTER}`; the file is truncated, compile it again"
    )]
    Truncated {
        /// Line of the header.
        start: usize,
        /// First line that is no longer part of the block.
        line: usize,
    },
    /// Another schema.
    #[error(
        "line {line}: the launch manifest has schema {found}, this girih reads {SCHEMA}; compile the file again, or use the girih that wrote it"
    )]
    Schema {
        /// Line of the number.
        line: usize,
        /// The schema as it stands there.
        found: String,
    },
    /// The JSON does not parse or does not have the schema's fields.
    #[error("line {line}: the launch manifest is malformed: {message}")]
    Malformed {
        /// Line in the file.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// The parts do not fit each other.
    #[error("the launch manifest is inconsistent: kernel `{kernel}`, {place}: {message}")]
    Inconsistent {
        /// Kernel's name.
        kernel: String,
        /// Field, such as `params[2]`.
        place: String,
        /// What is wrong.
        message: String,
    },
}

impl Manifest {
    /// The manifest as a block of comment lines, each ended by a newline; the same manifest always gives the same bytes,
    /// all of them ASCII.
    pub fn to_ptx_comment(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("a manifest has only string keys and finite numbers");
        let mut out = format!("{HEADER}{}\n", self.schema);
        for line in json.lines() {
            out.push_str("// ");
            let mut units = [0; 2];
            for c in line.chars() {
                if c.is_ascii() {
                    out.push(c);
                } else {
                    for unit in c.encode_utf16(&mut units) {
                        write!(out, "\\u{unit:04x}").expect("writing to a string succeeds");
                    }
                }
            }
            out.push('\n');
        }
        out.push_str(FOOTER);
        out.push('\n');
        out
    }

    /// The manifest in the leading comment block of `ptx`, or `None` if the block has none. What is found is checked by
    /// [`Manifest::check`].
    pub fn from_ptx(ptx: &str) -> Result<Option<Manifest>, ManifestError> {
        let mut lines = ptx
            .lines()
            .map(str::trim_end)
            .enumerate()
            .map(|(i, line)| (i + 1, line));
        let leading = lines
            .by_ref()
            .take_while(|(_, line)| line.is_empty() || line.starts_with("//"));
        let Some((start, schema)) = leading
            .filter_map(|(i, line)| Some((i, line.strip_prefix(HEADER)?)))
            .next()
        else {
            return Ok(None);
        };
        if schema.parse() != Ok(SCHEMA) {
            return Err(ManifestError::Schema {
                line: start,
                found: schema.into(),
            });
        }
        let mut json = String::new();
        let mut last = start;
        for (i, line) in lines {
            last = i;
            if line == FOOTER {
                return Manifest::parse(&json, start).map(Some);
            }
            let Some(text) = line.strip_prefix("//") else { break };
            json.push_str(text);
            json.push('\n');
        }
        Err(ManifestError::Truncated { start, line: last })
    }

    /// The manifest in a sidecar file that holds the JSON alone.
    pub fn from_json(json: &str) -> Result<Manifest, ManifestError> {
        Manifest::parse(json, 0)
    }

    /// `start` is the line before the first of `json`.
    fn parse(json: &str, start: usize) -> Result<Manifest, ManifestError> {
        let manifest: Manifest = serde_json::from_str(json).map_err(|error| ManifestError::Malformed {
            line: start + error.line(),
            message: in_own_words(error.to_string().split(" at line ").next().unwrap_or_default()),
        })?;
        if manifest.schema != SCHEMA {
            return Err(ManifestError::Schema {
                line: start,
                found: manifest.schema.to_string(),
            });
        }
        manifest.check()?;
        Ok(manifest)
    }
}

/// What the parser says, in words of JSON and of the manifest rather than of the types that it is read into.
fn in_own_words(said: &str) -> String {
    let mut text = said
        .replace("unknown variant", "unknown name")
        .replace("invalid type:", "found");
    text = text
        .replace("invalid value:", "found")
        .replace("invalid length", "found a list of length");
    let (head, expected) = match text.rsplit_once("expected ") {
        Some((head, expected)) => (head.to_owned(), expected.to_owned()),
        None => return text,
    };
    let kind = expected.split(' ').next().unwrap_or_default();
    let words = match (kind, expected.as_str()) {
        ("struct" | "map" | "enum" | "internally" | "adjacently" | "variant", _) => {
            "an object with the fields that it needs"
        }
        ("u8" | "u16" | "u32" | "u64" | "usize", _) => "a number that is not negative",
        ("i8" | "i16" | "i32" | "i64" | "isize", _) => "a whole number",
        ("f32" | "f64", _) => "a number",
        (_, "a sequence") => "a list",
        (_, "a boolean") => "true or false",
        (_, "an array of length 3") => "a list of three",
        _ => &expected,
    };
    format!("{head}expected {words}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use pretty_assertions::assert_eq;

    const BODY: &str = "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 8.0\n.target sm_90a\n";

    #[test]
    fn a_manifest_survives_the_trip_through_ptx() {
        let manifest = example();
        let ptx = manifest.to_ptx_comment() + BODY;
        assert_eq!(Manifest::from_ptx(&ptx), Ok(Some(manifest.clone())));
        assert_eq!(
            Manifest::from_ptx(&ptx.replace('\n', "\r\n")),
            Ok(Some(manifest.clone()))
        );
        assert_eq!(
            Manifest::from_ptx(&format!("// Other words\n\n{ptx}")),
            Ok(Some(manifest))
        );
    }

    #[test]
    fn the_block_is_deterministic_ascii_comment_lines() {
        let mut manifest = example();
        manifest.kernels[0].name = "gußstück𝄞".into();
        let block = manifest.to_ptx_comment();
        assert_eq!(block, manifest.clone().to_ptx_comment());
        assert!(block.is_ascii() && block.lines().all(|line| line.starts_with("// ")));
        assert!(block.starts_with("// girih manifest 1\n// {\n//   \"schema\": 1,\n"));
        assert_eq!(Manifest::from_ptx(&block), Ok(Some(manifest)));
    }

    #[test]
    fn faults_are_told_in_words_of_json() {
        let block = example().to_ptx_comment();
        let said = |from: &str, to: &str| {
            assert!(block.contains(from), "{block}");
            Manifest::from_ptx(&block.replacen(from, to, 1))
                .unwrap_err()
                .to_string()
        };
        let text = said("\"kernels\": [", "\"kernels\": 7, \"x\": [");
        assert!(
            text.ends_with("malformed: found integer `7`, expected a list"),
            "{text}"
        );
        let text = said("\"dynamic_shared_bytes\": ", "\"dynamic_shared_bytes\": -");
        assert!(
            text.contains("expected ") && !text.contains("u64") && !text.contains("u32"),
            "{text}"
        );
        let text = said("\"name\": \"", "\"name\": 1, \"y\": \"");
        assert!(text.ends_with("found integer `1`, expected a string"), "{text}");
    }

    #[test]
    fn ptx_without_a_manifest_has_none() {
        assert_eq!(Manifest::from_ptx(BODY), Ok(None));
        assert_eq!(Manifest::from_ptx(""), Ok(None));
        let later = format!("{BODY}{}", example().to_ptx_comment());
        assert_eq!(Manifest::from_ptx(&later), Ok(None));
    }

    #[test]
    fn every_truncation_is_noticed() {
        let block = example().to_ptx_comment();
        let lines: Vec<_> = block.lines().collect();
        for kept in 1..lines.len() {
            let cut = lines[..kept].join("\n");
            let error = Manifest::from_ptx(&cut).expect_err("truncated");
            assert_eq!(error, ManifestError::Truncated { start: 1, line: kept }, "{kept} lines");
            let error = Manifest::from_ptx(&format!("{cut}\n{BODY}")).expect_err("truncated");
            assert!(
                matches!(error, ManifestError::Truncated { .. }),
                "{kept} lines: {error}"
            );
        }
    }

    #[test]
    fn malformed_json_is_located() {
        let block = example().to_ptx_comment();
        let (before, after) = block.split_once("\"kernels\"").expect("a field");
        let line = before.lines().count();
        let broken = format!("{before}\"kernel\"{after}");
        let error = Manifest::from_ptx(&broken).expect_err("an unknown field").to_string();
        assert!(
            error.starts_with(&format!(
                "line {line}: the launch manifest is malformed: unknown field `kernel`"
            )),
            "{error}"
        );
    }

    /// Every manifest that has one value of `value` replaced by `wrong`.
    fn with_one_wrong(value: &serde_json::Value, wrong: &serde_json::Value) -> Vec<serde_json::Value> {
        use serde_json::Value;
        let mut all = vec![wrong.clone()];
        match value {
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    all.extend(with_one_wrong(item, wrong).into_iter().map(|item| {
                        let mut items = items.clone();
                        items[i] = item;
                        Value::Array(items)
                    }));
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    all.extend(with_one_wrong(field, wrong).into_iter().map(|field| {
                        let mut fields = fields.clone();
                        fields.insert(name.clone(), field);
                        Value::Object(fields)
                    }));
                }
            }
            _ => {}
        }
        all
    }

    #[test]
    fn messages_speak_of_the_manifest_and_not_of_types_in_rust() {
        let example = serde_json::to_value(example()).expect("a manifest is JSON");
        let wrong = [
            serde_json::json!(1.5),
            serde_json::json!("x"),
            serde_json::json!([7]),
            serde_json::json!({"x": 1}),
            serde_json::json!({"memref": 1}),
            serde_json::json!({"binary": ["add"]}),
            serde_json::json!(null),
        ];
        let mut refused = 0;
        for wrong in wrong.iter().flat_map(|wrong| with_one_wrong(&example, wrong)) {
            let Err(error) = Manifest::from_json(&wrong.to_string()) else {
                continue;
            };
            refused += 1;
            let text = error.to_string();
            let is_internal = [
                "struct",
                "enum",
                "variant ",
                "::",
                "Expr",
                "TensorMap",
                "DType",
                "Kernel",
            ]
            .iter()
            .any(|word| text.contains(word));
            assert!(!is_internal, "{text}");
        }
        assert!(refused > 300, "{refused} manifests were refused");
    }

    #[test]
    fn other_schemas_are_refused() {
        let other = example().to_ptx_comment().replacen("manifest 1", "manifest 2", 1);
        assert_eq!(
            Manifest::from_ptx(&other).unwrap_err().to_string(),
            "line 1: the launch manifest has schema 2, this girih reads 1; compile the file again, or use the girih that wrote it"
        );
        let inner = example().to_ptx_comment().replacen("\"schema\": 1", "\"schema\": 7", 1);
        assert!(matches!(Manifest::from_ptx(&inner), Err(ManifestError::Schema { .. })));
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        let deep = format!("// girih manifest 1\n// {}\n{FOOTER}\n", "[".repeat(100_000));
        assert!(matches!(
            Manifest::from_ptx(&deep),
            Err(ManifestError::Malformed { line: 2, .. })
        ));
    }
}
