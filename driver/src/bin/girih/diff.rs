//! `girih diff`.
use crate::{compile::Compilation, output};
use clap::Args as ClapArgs;
use girih::{compile::Emit, diagnostic::Sources, diff, file, run::Input};
use girih_diff::rounds::{HELP, Options};
use std::path::PathBuf;

/// Options of `girih diff`.
#[derive(ClapArgs)]
#[command(after_help = HELP)]
pub struct Args {
    /// Program as MLIR, or PTX written by `girih compile`.
    file: PathBuf,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    compilation: Compilation,
}

/// Compares, and gives the exit code.
pub fn main(args: &Args) -> u8 {
    let name = file::name_of(&args.file);
    let content = match file::read(&args.file) {
        Ok(content) => content,
        Err(failure) => return output::fail(&failure, &Sources::default(), false),
    };
    let sources = Sources::of(&name, &content);
    let input = match args.file.extension().is_some_and(|extension| extension == "ptx") {
        true => Input::Ptx(&content, &name),
        false => Input::Mlir(&content, &name),
    };
    match diff::run(input, &args.compilation.options(Emit::Ptx), &args.options) {
        Ok((outcome, messages)) => {
            eprint!("{}", sources.render(&messages));
            // Nobody is left to hear that standard output is gone.
            let _ = file::to_stdout(format!("{}\n", outcome.text).as_bytes());
            u8::from(!outcome.agrees)
        }
        Err(failure) => output::fail(&failure, &sources, false),
    }
}
