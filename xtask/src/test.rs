//! `cargo xtask test`: everything that continuous integration checks, in an order that fails early and builds once.
use crate::{command, examples, hygiene, records, report::Report, report::Tally, setup, workspace};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use std::{path::PathBuf, process::Command};

/// Which checks to make.
#[derive(clap::Args)]
pub struct Args {
    /// Leave out what takes longest: lints, doc tests, the out-of-tree crate, recorded cases.
    #[arg(long)]
    quick: bool,
    /// Make only these checks (comma-separated).
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Stage>,
    /// Also run the recorded PTX kernels in this folder, where it exists.
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
}

/// One group of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// White space, unfinished work and machine paths in tracked files.
    Text,
    /// rustfmt.
    Format,
    /// clippy, warnings denied.
    Lint,
    /// Rust unit and integration tests.
    Unit,
    /// lit files under tests/.
    Lit,
    /// rustdoc, warnings denied, and code in documentation, the recipes of CONTRIBUTING.md included.
    Doc,
    /// Examples assembled by ptxas.
    Examples,
    /// Examples compiled twice, byte for byte.
    Determinism,
    /// The out-of-tree crate in examples/standalone.
    Standalone,
    /// Recorded hardware cases.
    Records,
}

impl Stage {
    /// Whether `--quick` leaves it out.
    fn is_slow(self) -> bool {
        matches!(self, Stage::Lint | Stage::Doc | Stage::Standalone | Stage::Records)
    }

    /// Whether it needs what the build makes.
    fn needs_build(self) -> bool {
        !matches!(self, Stage::Text | Stage::Format | Stage::Lint)
    }
}

/// Whether cargo-nextest is here.
pub fn has_nextest() -> bool {
    command::cargo(&["nextest", "--version"])
        .and_then(|mut c| command::capture(&mut c))
        .is_ok()
}

/// Runs the chosen stages; true if nothing failed.
pub fn run(args: &Args) -> Result<bool> {
    let stages: Vec<Stage> = Stage::value_variants()
        .iter()
        .copied()
        .filter(|stage| {
            if args.only.is_empty() {
                !(args.quick && stage.is_slow())
            } else {
                args.only.contains(stage)
            }
        })
        .collect();
    setup::for_tests()?;
    let mut report = Report::default();
    let mut built = None;
    for stage in stages {
        if stage.needs_build() && built.is_none() {
            let tally = report.stage("build", "libraries, programs and tests", || {
                Ok(Tally::one(command::succeeds(&mut command::cargo(&BUILD)?)?))
            });
            built = Some(tally.failed == 0);
        }
        if stage.needs_build() && built == Some(false) {
            break;
        }
        match stage {
            Stage::Text => report.stage("text", "tracked files", hygiene::check),
            Stage::Format => report.stage("format", "cargo fmt --all --check", || {
                check(&["fmt", "--all", "--check"])
            }),
            Stage::Lint => report.stage("lint", "clippy, warnings denied", || check(&LINT)),
            Stage::Unit => report.stage("unit", "Rust unit and integration tests", unit),
            Stage::Lit => report.stage("lit", "text tests", || counted(&LIT)),
            Stage::Doc => report.stage("doc", "documentation: its links, and its code", || {
                let mut tally = documentation()?;
                tally.add(counted(&["test", "--workspace", "--doc"])?);
                Ok(tally)
            }),
            Stage::Examples => report.stage("examples", "assembled by ptxas", examples::check_assembly),
            Stage::Determinism => report.stage("determinism", "compiled twice", examples::check_determinism),
            Stage::Standalone => report.stage("standalone", "the out-of-tree crate", standalone),
            Stage::Records => report.stage("records", "recorded hardware cases", || {
                records::run("girih-replay", &records::default_records()?)
            }),
        };
    }
    if let Some(dir) = args
        .corpus
        .as_deref()
        .filter(|_| args.only.is_empty() && built != Some(false))
    {
        report.stage("corpus", "recorded PTX kernels", || match dir.is_dir() {
            true => records::run("girih-corpus", &[dir]),
            false => {
                println!("{} is not here: the recorded kernels were not run", dir.display());
                Ok(Tally {
                    skipped: 1,
                    ..Tally::default()
                })
            }
        });
    }
    Ok(report.finish())
}

// Every build names the whole workspace, so that features unify the same way and nothing is built twice.
const BUILD: [&str; 5] = ["build", "--workspace", "--bins", "--tests", "--examples"];
const LINT: [&str; 8] = [
    "clippy",
    "--workspace",
    "--all-targets",
    "--features",
    "girih-runtime/gpu-tests",
    "--",
    "-D",
    "warnings",
];
const LIT: [&str; 4] = ["test", "--workspace", "--test", "lit"];

/// One cargo command is one check.
fn check(args: &[&str]) -> Result<Tally> {
    Ok(Tally::one(command::succeeds(&mut command::cargo(args)?)?))
}

/// rustdoc over every crate, with links that lead nowhere denied.
fn documentation() -> Result<Tally> {
    let mut command = command::cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"])?;
    command.env("RUSTDOCFLAGS", "-D warnings");
    Ok(Tally::one(command::succeeds(&mut command)?))
}

/// A cargo command whose output says how many tests ran.
fn counted(args: &[&str]) -> Result<Tally> {
    let (ok, lines) = command::tee(&mut command::cargo(args)?)?;
    Ok(closing_lines(ok, &lines))
}

/// The sum of all closing lines. A run that failed without saying so in them counts as one failure.
pub fn closing_lines(ok: bool, lines: &[String]) -> Tally {
    let mut tally = Tally::default();
    lines
        .iter()
        .filter_map(|line| closing_line(line))
        .for_each(|counted| tally.add(counted));
    if !ok && tally.failed == 0 {
        tally.failed = 1;
    }
    tally
}

/// Everything but the lit files, which the lit stage runs in one go.
fn unit() -> Result<Tally> {
    if has_nextest() {
        let filter = "not (package(girih-tests) and binary(lit))";
        return counted(&["nextest", "run", "--workspace", "--profile", "ci", "-E", filter]);
    }
    let mut args: Vec<String> = ["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--examples"]
        .map(String::from)
        .into();
    for test in integration_tests()?.into_iter().filter(|test| test != "lit") {
        args.extend(["--test".to_owned(), test]);
    }
    counted(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Names of the workspace's integration tests; those that ask for a feature, such as a GPU's, are left out.
fn integration_tests() -> Result<Vec<String>> {
    let metadata = command::capture(&mut command::cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
    ])?)?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).context("cargo metadata is not JSON")?;
    let is_test =
        |target: &&serde_json::Value| target["kind"][0] == "test" && target.get("required-features").is_none();
    let mut names: Vec<String> = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|package| package["targets"].as_array().into_iter().flatten().filter(is_test))
        .filter_map(|target| target["name"].as_str().map(str::to_owned))
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// Builds and tests the out-of-tree crate in the same target folder, so that it shares what is built.
fn standalone() -> Result<Tally> {
    let dir = workspace::root()?.join("examples/standalone");
    if !dir.is_dir() {
        bail!("{} is missing", dir.display());
    }
    let mut cargo = command::cargo(&["test"])?;
    cargo
        .current_dir(&dir)
        .env("CARGO_TARGET_DIR", workspace::target_dir()?);
    let (ok, lines) = command::tee(&mut cargo)?;
    Ok(closing_lines(ok, &lines))
}

/// The tests that keep what they expect in files, each with the file that it is in: what is named as cargo's arguments is run.
const BLESSED: [(&str, &[&str]); 3] = [
    (
        "driver/tests/it/reference.rs",
        &["-p", "girih", "--test", "it", "--", "reference::"],
    ),
    (
        "driver/tests/it/mutated.rs",
        &["-p", "girih", "--test", "it", "--", "mutated::"],
    ),
    (
        "tests/harness/docs.rs",
        &["-p", "girih-tests", "--test", "docs", "--", "drawings"],
    ),
];

/// `cargo xtask bless`: lets the tests that keep what they expect in files rewrite them, and shows what that changed.
pub fn bless() -> Result<bool> {
    setup::for_tests()?;
    // The drawings are made by the program itself.
    command::run(&mut command::cargo(&["build", "-p", "girih", "--bins"])?)?;
    let mut ok = true;
    for (_, test) in BLESSED {
        let mut cargo = command::cargo(&["test"])?;
        ok &= command::succeeds(cargo.args(test).env("GIRIH_BLESS", "1"))?;
    }
    println!("What differs from the last commit now:");
    command::succeeds(
        Command::new("git")
            .args(["status", "--short"])
            .current_dir(workspace::root()?),
    )?;
    Ok(ok)
}

/// The counts in the closing line of `cargo test` or `cargo nextest`.
///
/// `test result: ok. 3 passed; 0 failed; 1 ignored; ...`
/// `Summary [ 0.1s] 5 tests run: 4 passed (1 slow), 1 failed, 2 skipped`
fn closing_line(line: &str) -> Option<Tally> {
    let line = line.trim_start();
    if !line.starts_with("test result:") && !line.starts_with("Summary [") {
        return None;
    }
    let mut tally = Tally::default();
    let words: Vec<&str> = line.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
    for pair in words.windows(2) {
        let Ok(count) = pair[0].parse::<usize>() else { continue };
        match pair[1] {
            "passed" => tally.passed += count,
            "failed" | "timed" => tally.failed += count,
            "ignored" => tally.skipped += count,
            _ => {}
        }
    }
    Some(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_of_both_runners_are_read() {
        let cargo = "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(
            closing_line(cargo),
            Some(Tally {
                passed: 3,
                failed: 2,
                skipped: 1
            })
        );
        let nextest = "     Summary [   0.008s] 5 tests run: 4 passed (1 slow), 1 failed, 7 skipped";
        assert_eq!(
            closing_line(nextest),
            Some(Tally {
                passed: 4,
                failed: 1,
                skipped: 0
            })
        );
        assert_eq!(closing_line("running 3 tests"), None);
    }

    #[test]
    fn every_test_that_writes_files_is_blessed() {
        let root = workspace::root().expect("the repository");
        let mut grep = Command::new("git");
        grep.args(["grep", "-l", concat!("GIRIH_", "BLESS"), "--", "*.rs"])
            .current_dir(root);
        let found = command::capture(&mut grep).expect("git grep finds some");
        let mut listed: Vec<&str> = BLESSED.iter().map(|(file, _)| *file).collect();
        listed.push("xtask/src/test.rs");
        listed.sort_unstable();
        assert_eq!(found.lines().collect::<Vec<_>>(), listed);
    }

    #[test]
    fn quick_keeps_the_text_tests() {
        assert!(!Stage::Lit.is_slow() && !Stage::Unit.is_slow());
    }
}
