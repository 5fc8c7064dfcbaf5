//! Recorded hardware behaviour, replayed by the simulator's own binaries; this file only starts them and counts.
use crate::{
    command,
    report::Tally,
    workspace::{self, files_with_extension},
};
use anyhow::{Result, bail};
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

/// Where the project keeps its records.
pub fn default_records() -> Result<Vec<PathBuf>> {
    let dir = workspace::root()?.join("tests/hw");
    let mut files = files_with_extension(&dir, "gz");
    files.extend(files_with_extension(&dir, "jsonl"));
    if files.is_empty() {
        bail!("no records (*.jsonl, *.jsonl.gz) in {}", dir.display());
    }
    // Shorter names in the report, where the working folder is above them.
    let here = std::env::current_dir()?;
    Ok(files
        .into_iter()
        .map(|file| file.strip_prefix(&here).map(Path::to_path_buf).unwrap_or(file))
        .collect())
}

/// `cargo xtask replay`.
pub fn replay(files: &[PathBuf]) -> Result<bool> {
    let files = if files.is_empty() {
        default_records()?
    } else {
        files.to_vec()
    };
    build("girih-replay")?;
    Ok(run("girih-replay", &files)?.failed == 0)
}

/// `cargo xtask corpus`.
pub fn corpus(dir: &Path) -> Result<bool> {
    build("girih-corpus")?;
    Ok(run("girih-corpus", &[dir])?.failed == 0)
}

/// Builds a program of `girih-sim`, which needs no LLVM.
fn build(binary: &str) -> Result<()> {
    command::run(&mut command::cargo(&[
        "build",
        "--quiet",
        "--package",
        "girih-sim",
        "--bin",
        binary,
    ])?)
}

/// Runs a program of `girih-sim` that is already built, counting its `N of M match` lines.
pub fn run(binary: &str, args: &[impl AsRef<OsStr>]) -> Result<Tally> {
    let (ok, lines) = command::tee(Command::new(workspace::binary(binary)?).args(args))?;
    let mut tally = count_matches(&lines);
    // An exit status that contradicts the counts is a failure of its own.
    if !ok && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

/// Sums the lines that say `N of M match`.
fn count_matches(lines: &[String]) -> Tally {
    let mut tally = Tally::default();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        for window in words.windows(4) {
            if let [n, "of", m, last] = window
                && last.starts_with("match")
                && let (Ok(n), Ok(m)) = (n.parse::<usize>(), m.parse::<usize>())
            {
                tally.add(Tally {
                    passed: n,
                    failed: m.saturating_sub(n),
                    skipped: 0,
                });
            }
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_summed_over_files() {
        let lines = [
            "load.jsonl.gz: 720 of 720 match",
            "reduce: 358 of 360 match",
            "noise 1 of 2",
        ]
        .map(String::from);
        assert_eq!(
            count_matches(&lines),
            Tally {
                passed: 1078,
                failed: 2,
                skipped: 0
            }
        );
    }
}
