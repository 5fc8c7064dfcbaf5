//! `girih-diff-suite`: every tensor-core instruction of sm_90a, or drawn transfers, on two devices.
mod transfers;

use clap::Parser;
use girih_diff::{
    Pair,
    compare::Tolerance,
    programs,
    suite::{self, Case, ROUNDS},
};
use girih_runtime::{Error, Result};
use std::{path::PathBuf, process::ExitCode, str::FromStr};

/// Runs a generated kernel for each wgmma and mma.sync instruction, or with --transfers for drawn copies of all kinds, on two
/// devices and compares every bit.
#[derive(Parser)]
#[command(version, after_help = "Exit codes: 0 the same, 1 different or an error, 2 usage.")]
struct Cli {
    /// The two devices: any of cuda, cuda:N and sim.
    #[arg(long, value_name = "DEVICE,DEVICE", default_value = "cuda,sim")]
    on: Pair,
    /// Only the cases whose names contain TEXT.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Only every N-th case, from number I on; for several processes at once.
    #[arg(long, value_name = "I/N", default_value = "0/1")]
    part: Part,
    /// Seed of the numbers.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Let floats differ by T + T |value|; every bit counts otherwise.
    #[arg(long, value_name = "T")]
    tol: Option<f64>,
    /// Run N drawn transfers instead: copies with and without tensor maps.
    #[arg(long, value_name = "N")]
    transfers: Option<u64>,
    /// Number of the first transfer; case I of a seed is always the same.
    #[arg(long, value_name = "I", default_value_t = 0)]
    first: u64,
    /// Run the kernels in DIR instead, each with its arguments, and compare them with what they should be afterwards: what
    /// `GIRIH_PROGRAMS_WRITE=DIR` makes the compiler's own tests write.
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
    /// Write the PTX of each case to DIR and run nothing.
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

#[derive(Clone, Copy)]
struct Part {
    first: usize,
    step: usize,
}

impl FromStr for Part {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(first, step)| Some((first.parse().ok()?, step.parse().ok()?)));
        match numbers {
            Some((first, step)) if first < step => Ok(Part { first, step }),
            _ => Err(format!("expected I/N with I below N, such as 0/8; found `{text}`")),
        }
    }
}

/// Failed launches after which a device is taken to be lost.
const MOST_ERRORS: usize = 20;

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if matches!(error, Error::Usage(_)) { 2 } else { 1 })
        }
    }
}

fn run(cli: &Cli) -> Result<bool> {
    if let Some(count) = cli.transfers {
        return transfers::run(cli, count);
    }
    if let Some(dir) = &cli.programs {
        return programs(cli, dir);
    }
    let cases: Vec<Case> = suite::cases()?
        .into_iter()
        .filter(|case| case.name.contains(&cli.only))
        .skip(cli.part.first)
        .step_by(cli.part.step)
        .collect();
    if cases.is_empty() {
        return Err(Error::Usage(format!("no case has `{}` in its name", cli.only)));
    }
    if let Some(dir) = &cli.write {
        return write(&cases, dir).map(|()| true);
    }
    let mut devices = cli.on.open()?;
    let names = [devices[0].name(), devices[1].name()];
    let names = [names[0].as_str(), names[1].as_str()];
    let tolerance = cli.tol.map_or(Tolerance::Bits, Tolerance::Within);
    let (mut same, mut errors) = (0, 0);
    for case in &cases {
        match case.run(&mut devices, cli.seed, tolerance) {
            Ok(found) if found.is_empty() => same += 1,
            Ok(found) => {
                for (round, differences) in found {
                    let added = if round.add { "" } else { ", nothing added" };
                    println!("DIFFERENT: {}: {:?} numbers{added}", case.name, round.numbers);
                    for difference in differences {
                        println!("{}", difference.words(names));
                    }
                }
            }
            Err(error) => {
                println!("ERROR: {}: {error}", case.name);
                errors += 1;
                if errors == MOST_ERRORS {
                    println!("{errors} launches failed; the rest is left out");
                    break;
                }
            }
        }
    }
    println!(
        "{same} of {} instructions are the same on {} and {}, {} rounds each",
        cases.len(),
        names[0],
        names[1],
        ROUNDS.len()
    );
    Ok(same == cases.len())
}

/// Whether all kernels of a folder leave on both devices what they should.
fn programs(cli: &Cli, dir: &std::path::Path) -> Result<bool> {
    let paths = programs::cases(dir)?;
    let chosen: Vec<_> = paths.iter().skip(cli.part.first).step_by(cli.part.step).collect();
    if chosen.is_empty() {
        return Err(Error::Usage(format!("no .ptx file is in {}", dir.display())));
    }
    let mut devices = cli.on.open()?;
    let (mut right, mut errors) = (0, 0);
    'all: for path in &chosen {
        let case = programs::Case::read(path)?;
        let mut good = true;
        for device in &mut devices {
            let name = device.name();
            match case.run(&mut **device) {
                Ok(found) => {
                    for difference in &found {
                        println!(
                            "WRONG: {}: {}",
                            path.display(),
                            difference.words([name.as_str(), "paper"])
                        );
                    }
                    good &= found.is_empty();
                }
                Err(error) => {
                    println!("ERROR: {} on {name}: {error}", path.display());
                    good = false;
                    errors += 1;
                    if errors == MOST_ERRORS {
                        println!("{errors} launches failed; the rest is left out");
                        break 'all;
                    }
                }
            }
        }
        right += usize::from(good);
    }
    println!(
        "{right} of {} programs leave what they should on both devices",
        chosen.len()
    );
    Ok(right == chosen.len())
}

fn write(cases: &[Case], dir: &std::path::Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|error| Error::file(dir, error))?;
    for case in cases {
        let path = dir.join(format!("{}.ptx", case.name));
        std::fs::write(&path, case.program.ptx()).map_err(|error| Error::file(&path, error))?;
    }
    println!("{} files in {}", cases.len(), dir.display());
    Ok(())
}
