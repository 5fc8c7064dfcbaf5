//! `girih-diff`: holds two devices against each other with compiled PTX, on a machine without a compiler.
use clap::Parser;
use girih_diff::rounds::{self, HELP, Options};
use girih_runtime::{Program, Result, file::to_stdout};
use std::{path::PathBuf, process::ExitCode};

/// Runs the same PTX with the same arguments on two devices and compares every argument.
#[derive(Parser)]
#[command(version, after_help = HELP)]
struct Cli {
    /// PTX written by `girih compile`.
    file: PathBuf,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match diff(&cli) {
        Ok(outcome) => {
            if let Err(error) = to_stdout(format!("{}\n", outcome.text).as_bytes()) {
                eprintln!("error: standard output cannot be written: {error}");
                return ExitCode::FAILURE;
            }
            ExitCode::from(u8::from(!outcome.agrees))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if error.is_usage() { 2 } else { 1 })
        }
    }
}

fn diff(cli: &Cli) -> Result<rounds::Outcome> {
    let program = Program::load(&cli.file)?;
    rounds::run(&program, &cli.options, &mut cli.options.on.open()?)
}
