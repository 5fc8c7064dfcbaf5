//! Set-up and habits of the project as `cargo xtask ...`. `cargo xtask --help` lists them.
//!
//! The crate links neither LLVM nor CUDA: it is what installs the one and looks for the other.
mod bench;
mod command;
mod demo;
mod dist;
mod examples;
mod gpu;
mod hygiene;
mod records;
mod report;
mod setup;
mod test;
mod workspace;

use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

/// Set-up, tests and distribution of girih.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what is missing: LLVM's Debian packages, and ptxas under target/tools.
    Setup,
    /// Compile a GEMM, show each level on its way to PTX, and run it where that is possible.
    Demo(demo::Args),
    /// Everything that continuous integration checks.
    Test(test::Args),
    /// Rewrite the expected output that tests keep in files, from what the code does now.
    Bless,
    /// The GPU suite: every example and many GEMM shapes on a CUDA device.
    TestGpu(gpu::Args),
    /// Replay recorded hardware cases through the simulator and the tensor-map validator.
    Replay {
        /// Records (`.jsonl` or `.jsonl.gz`); without any, those under tests/hw.
        files: Vec<PathBuf>,
    },
    /// Run recorded PTX kernels on the simulator and compare with what the hardware gave.
    Corpus {
        /// Folder of recorded kernels.
        dir: PathBuf,
    },
    /// Make dist/, a self-contained folder that runs on a machine with no toolchain.
    Dist(dist::Args),
    /// Measure compile times and the simulator's speed on this machine.
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Setup => setup::everything().map(|()| true),
        Command::Demo(args) => demo::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Bless => test::bless(),
        Command::TestGpu(args) => gpu::run(&args),
        Command::Replay { files } => records::replay(&files),
        Command::Corpus { dir } => records::corpus(&dir),
        Command::Dist(args) => dist::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
