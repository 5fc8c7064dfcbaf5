//! Checks on the text of every tracked file: what a formatter does not see and a reviewer should not have to.
use crate::{command, report::Tally, workspace};
use anyhow::{Context, Result};
use std::{fs, path::Path, process::Command};

/// Words that mark unfinished work, split here so that this file does not find itself.
const UNFINISHED: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
    concat!("to", "do!("),
    concat!("unimplement", "ed!("),
    concat!("dbg", "!("),
];

/// Binary kinds, and texts that are recorded or fixed by others.
const NOT_OURS: [&str; 8] = [
    ".gz",
    ".npy",
    ".png",
    ".cubin",
    ".bin",
    ".mlirbc",
    "LICENSE",
    "Cargo.lock",
];

/// Checks every file that git tracks or would track.
pub fn check() -> Result<Tally> {
    let root = workspace::root()?;
    let listed = command::capture(
        Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(&root),
    )
    .context("the text check reads the list of files from git")?;
    let machine_paths = machine_paths(&root);
    let mut tally = Tally::default();
    for name in listed.lines() {
        let path = root.join(name);
        if NOT_OURS.iter().any(|end| name.ends_with(end)) || !path.is_file() {
            continue;
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read {name}"))?;
        let faults = match std::str::from_utf8(&bytes) {
            Ok(text) => faults(name, text, &machine_paths),
            Err(error) => vec![format!("{name}: not UTF-8 at byte {}", error.valid_up_to())],
        };
        for fault in &faults {
            println!("{fault}");
        }
        tally.add(Tally::one(faults.is_empty()));
    }
    Ok(tally)
}

/// Folders of this machine that no file may name.
fn machine_paths(root: &Path) -> Vec<String> {
    let mut paths = vec![format!("{}/", root.display())];
    // The parent of a checkout in `/` or `/tmp` is too common a name to look for.
    if let Some(parent) = root
        .parent()
        .filter(|parent| parent.components().count() > 1 && *parent != Path::new("/tmp"))
    {
        paths.push(format!("{}/", parent.display()));
    }
    // One name between slashes, such as `/girih/`, can stand in any path.
    paths.retain(|path| path.matches('/').count() > 2);
    paths.extend([concat!("/ro", "ot/").to_owned(), concat!("/ho", "me/").to_owned()]);
    paths
}

/// Columns that a line of a comment may have, which rustfmt does not break.
const COMMENT_COLUMNS: usize = 130;

/// Everything that is wrong with one file, as `name:line: what`.
fn faults(name: &str, text: &str, machine_paths: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |line: usize, what: &str| faults.push(format!("{name}:{line}: {what}"));
    let is_rust = name.ends_with(".rs");
    let mut in_example = false;
    for (number, line) in (1..).zip(text.lines()) {
        let comment = line
            .trim_start()
            .strip_prefix("//")
            .map(|c| c.trim_start_matches(['/', '!', ' ']));
        in_example ^= comment.is_some_and(|c| c.starts_with("```"));
        // Examples, tables and links are not broken.
        let is_prose = comment.is_some_and(|c| !in_example && !c.starts_with('|') && !c.contains("]("));
        if is_rust && is_prose && line.chars().count() > COMMENT_COLUMNS {
            fault(
                number,
                &format!("a comment of more than {COMMENT_COLUMNS} columns; break the line"),
            );
        }
        if line.ends_with([' ', '\t']) || line.ends_with('\r') {
            fault(number, "ends in white space");
        }
        if let Some(word) = UNFINISHED.iter().find(|word| line.contains(**word)) {
            fault(
                number,
                &format!("`{word}` marks unfinished work; finish it or say what is the case"),
            );
        }
        if let Some(path) = machine_paths.iter().find(|path| line.contains(path.as_str())) {
            fault(number, &format!("names `{path}`, a folder of one machine"));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        fault(text.lines().count(), "no newline at the end of the file");
    }
    if is_rust && !text.starts_with("//!") {
        fault(1, "a Rust file opens with a `//!` that says what it does");
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        faults(name, text, &["/build/place/".to_owned()])
    }

    #[test]
    fn clean_text_passes() {
        assert_eq!(found("a.rs", "//! What it does.\nfn f() {}\n"), [""; 0]);
        assert_eq!(found("a.mlir", "// RUN: true\n"), [""; 0]);
    }

    #[test]
    fn each_fault_is_named_with_its_line() {
        assert!(found("a.md", "x \n")[0].starts_with("a.md:1: ends in white space"));
        assert!(found("a.md", "x")[0].contains("no newline"));
        assert!(found("a.rs", "fn f() {}\n")[0].contains("opens with"));
        let long = format!("//! {}\n", "word ".repeat(30));
        assert!(found("a.rs", &long.replace(" \n", "\n"))[0].contains("columns"));
        assert!(found("a.md", &format!("{} later\n", UNFINISHED[0]))[0].contains("unfinished"));
        assert!(found("a.md", "in /build/place/x\n")[0].contains("one machine"));
    }
}
