//! `--transfers`: drawn copies on both devices, byte for byte; each that differs is made small before it is shown.
//!
//! A fault leaves a CUDA context that refuses everything from then on, and so does its process: what is left to do is done
//! by a process of its own then.
use crate::{Cli, MOST_ERRORS};
use girih_core::device::DeviceError;
use girih_diff::transfers::{Transfer, bench::Bench, draw, shrink::smallest};
use girih_runtime::{Error, Result};
use std::{collections::BTreeMap, path::Path, process::Command};

/// Cases that are made small; the others are only named.
const SHRUNK: usize = 20;

/// Counts of a run.
#[derive(Default)]
struct Tally {
    same: usize,
    different: usize,
    errors: usize,
    /// Cases of each kind of instruction, and how many of them differ.
    kinds: BTreeMap<String, [usize; 2]>,
}

/// Runs `count` cases from `cli.first` on; whether all are the same.
pub fn run(cli: &Cli, count: u64) -> Result<bool> {
    let numbers = cli.first..cli.first.saturating_add(count);
    if let Some(dir) = &cli.write {
        return write(cli, numbers, dir).map(|()| true);
    }
    let [first, second] = cli.on.open()?;
    let mut benches = [Bench::new(first)?, Bench::new(second)?];
    let names = [benches[0].name(), benches[1].name()];
    let names = [names[0].as_str(), names[1].as_str()];
    let mut tally = Tally::default();
    let mut rest = None;
    for number in numbers.clone().filter(|n| chosen(cli, *n)) {
        let case = draw::case(cli.seed, number);
        let kind = tally.kinds.entry(kind(&case)).or_default();
        kind[0] += 1;
        match differs(&mut benches, &case, names) {
            Ok(None) => tally.same += 1,
            Ok(Some(difference)) => {
                kind[1] += 1;
                tally.different += 1;
                println!("DIFFERENT: seed {} case {number}: {case}\n  {difference}", cli.seed);
                if tally.different <= SHRUNK && !show_smallest(&mut benches, &case, names) {
                    rest = Some(number + 1);
                    break;
                }
            }
            Err(error) => {
                kind[1] += 1;
                tally.errors += 1;
                println!("ERROR: seed {} case {number}: {case}\n  {error}", cli.seed);
                rest = Some(number + 1);
                break;
            }
        }
    }
    let run = tally.same + tally.different + tally.errors;
    if run == 0 {
        return Err(Error::Usage(format!("no case has `{}` in its instruction", cli.only)));
    }
    for (kind, [cases, differ]) in &tally.kinds {
        println!(
            "{cases:6} {kind}{}",
            if *differ > 0 {
                format!(": {differ} differ")
            } else {
                String::new()
            }
        );
    }
    println!(
        "{} of {run} transfers are the same on {} and {} (seed {})",
        tally.same, names[0], names[1], cli.seed
    );
    let all = tally.same == run;
    match rest.filter(|next| *next < numbers.end) {
        Some(next) => go_on(cli, next, numbers.end - next),
        None => Ok(all),
    }
}

fn chosen(cli: &Cli, number: u64) -> bool {
    let part = number % cli.part.step as u64 == cli.part.first as u64;
    part && draw::case(cli.seed, number).form.to_string().contains(&cli.only)
}

/// What the case differs in, in words.
fn differs(
    benches: &mut [Bench; 2],
    case: &Transfer,
    names: [&str; 2],
) -> std::result::Result<Option<String>, DeviceError> {
    let [first, second] = benches;
    let named = |name: &str| {
        let name = name.to_owned();
        move |error: DeviceError| DeviceError::new(format!("{name}: {error}"))
    };
    // The simulator says why where hardware would only fault.
    let b = second.run(case).map_err(named(names[1]))?;
    let a = first.run(case).map_err(named(names[0]))?;
    Ok(case.difference(&a, &b, names))
}

/// Shows the smallest case that differs; false where a device was lost on the way.
fn show_smallest(benches: &mut [Bench; 2], case: &Transfer, names: [&str; 2]) -> bool {
    let mut lost = None;
    let small = smallest(case, |candidate| match differs(benches, candidate, names) {
        Ok(difference) => lost.is_none() && difference.is_some(),
        Err(error) => {
            lost.get_or_insert_with(|| format!("{candidate}\n  {error}"));
            false
        }
    });
    if let Some(error) = &lost {
        println!("ERROR: while making it smaller: {error}");
        return false;
    }
    match differs(benches, &small, names) {
        Ok(difference) => {
            println!("  smallest: {small}\n  {}", difference.unwrap_or_default());
            true
        }
        Err(_) => false,
    }
}

/// The rest of the cases, in a new process.
fn go_on(cli: &Cli, first: u64, count: u64) -> Result<bool> {
    let left = std::env::var(LEFT)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(MOST_ERRORS);
    if left == 0 {
        println!("{MOST_ERRORS} launches failed; the rest is left out");
        return Ok(false);
    }
    let program = std::env::current_exe().map_err(|error| Error::file(Path::new("girih-diff-suite"), error))?;
    let mut arguments: Vec<String> = Vec::new();
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        if argument == "--transfers" || argument == "--first" {
            given.next();
        } else if !argument.starts_with("--transfers=") && !argument.starts_with("--first=") {
            arguments.push(argument);
        }
    }
    arguments.extend([format!("--transfers={count}"), format!("--first={first}")]);
    println!("going on from case {first} in a new process (seed {})", cli.seed);
    let status = Command::new(&program)
        .args(arguments)
        .env(LEFT, (left - 1).to_string())
        .status();
    status.map_err(|error| Error::file(&program, error))?;
    Ok(false)
}

/// How many new processes may still be started.
const LEFT: &str = "GIRIH_DIFF_RESTARTS";

/// The instruction without rank, place, cache hint and types.
fn kind(case: &Transfer) -> String {
    let text = case.form.to_string();
    let keep = |part: &&str| {
        let rank = part.len() == 2 && part.ends_with('d');
        !rank && !matches!(*part, "L2::cache_hint" | "mbarrier::complete_tx::bytes" | "bulk_group")
    };
    text.split('.').filter(keep).collect::<Vec<_>>().join(".")
}

fn write(cli: &Cli, numbers: std::ops::Range<u64>, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|error| Error::file(dir, error))?;
    let mut forms: BTreeMap<String, String> = BTreeMap::new();
    for number in numbers.filter(|n| chosen(cli, *n)) {
        let form = draw::case(cli.seed, number).form;
        forms.entry(form.to_string()).or_insert_with(|| form.ptx());
    }
    for (name, ptx) in &forms {
        let path = dir.join(format!("{}.ptx", name.replace(' ', "_")));
        std::fs::write(&path, ptx).map_err(|error| Error::file(&path, error))?;
    }
    println!("{} files in {}", forms.len(), dir.display());
    Ok(())
}
