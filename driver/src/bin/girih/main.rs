//! `girih`: compiles tile programs, runs them, and holds results against references.
//!
//! Exit codes: 0 right, 1 wrong result or diagnostic, 2 usage.
mod compile;
mod diff;
mod guard;
mod layout;
mod output;
mod run;
mod show;
mod targets;

use clap::{Parser, Subcommand};
use girih::{Failure, failure::Result};
use std::{ffi::OsString, process::ExitCode};

/// A compiler for GPU tile programs: from .mlir through NVVM to PTX, and onto a GPU or a simulator of one.
#[derive(Parser)]
#[command(name = "girih", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 right, 1 wrong result or diagnostic, 2 usage.\n\
    RUST_LOG=debug shows what happens inside. `girih-opt` runs single passes.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile a program to PTX, or to any level above or below it.
    Compile(compile::Args),
    /// Compile, launch, and check: against files, generators, or a function in the same file.
    Run(run::Args),
    /// Run the same kernel on two devices and compare every argument.
    Diff(diff::Args),
    /// Draw who holds which element, a swizzle, the banks of a tile, or what a tensor copy takes: as text, SVG or JSON.
    Layout(layout::Args),
    /// List what --target takes, and which instruction each target has from which PTX version on.
    Targets(targets::Args),
    /// Say what girih finds on this machine: ptxas, driver, GPUs.
    Doctor(show::Doctor),
}

fn main() -> ExitCode {
    girih::bytecode::answer();
    let cli = match Cli::try_parse_from(arguments()) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(misused(&error)),
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    ExitCode::from(guard::guarded(move || match &cli.command {
        Command::Compile(args) => compile::main(args),
        Command::Run(args) => run::main(args),
        Command::Diff(args) => diff::main(args),
        Command::Layout(args) => layout::main(args),
        Command::Targets(args) => end(targets::main(args), args.json),
        Command::Doctor(args) => end(show::doctor(args), args.json),
    }))
}

/// The command line, where a type of the IR after `layout` stands for `layout of TYPE`.
fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let after_layout = arguments.get(1).is_some_and(|command| command == "layout");
    if after_layout
        && arguments
            .get(2)
            .and_then(|word| word.to_str())
            .is_some_and(layout::is_printed)
    {
        arguments.insert(2, "of".into());
    }
    arguments
}

/// The exit code of a command that has no source to quote.
fn end(result: Result<()>, json: bool) -> u8 {
    match result {
        Ok(()) => 0,
        Err(failure) => output::fail(&failure, &Default::default(), json),
    }
}

/// Says what is wrong with the command line, or gives the help that it asks for: exit code 2, or 0. Where the arguments ask
/// for JSON, it is JSON.
fn misused(error: &clap::Error) -> u8 {
    let asks = std::env::args_os()
        .skip(1)
        .take_while(|arg| arg != "--")
        .any(|arg| arg == "--json");
    if !(asks && error.use_stderr()) {
        return match error.print() {
            Ok(()) => error.exit_code() as u8,
            Err(_) => 1,
        };
    }
    let text = error.render().to_string();
    let message = text.trim_end().strip_prefix("error: ").unwrap_or(&text);
    output::fail(&Failure::usage(message), &Default::default(), true)
}
