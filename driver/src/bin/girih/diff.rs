//! `girih diff`.
use crate::{compile::Compilation, output};
use clap::Args as ClapArgs;
use girih::{Failure, compile::Emit, diagnostic::Sources, diff, explicit, failure::Result, file, run::Input};
use girih_core::manifest::Manifest;
use girih_diff::{
    rounds::{HELP, Options},
    template::draw,
};
use girih_runtime::explicit::Explicit;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Options of `girih diff`.
#[derive(ClapArgs)]
#[command(after_help = HELP)]
pub struct Args {
    /// Program as MLIR, or PTX, which `girih compile` wrote or --block tells how to launch.
    file: PathBuf,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    explicit: Explicit,
    #[command(flatten)]
    compilation: Compilation,
    /// Print the outcome as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Compares, and gives the exit code.
pub fn main(args: &Args) -> u8 {
    let name = file::name_of(&args.file);
    let content = match file::read(&args.file) {
        Ok(content) => content,
        Err(failure) => return output::fail(&failure, &Sources::default(), args.json),
    };
    let sources = Sources::of(&name, &content);
    let is_named_ptx = args.file.extension().is_some_and(|extension| extension == "ptx");
    let is_ptx = is_named_ptx || file::is_ptx(&content);
    let manifest = match manifest(args, &content, is_ptx) {
        Ok(manifest) => manifest,
        Err(failure) => return output::fail(&failure, &sources, args.json),
    };
    let input = match is_ptx {
        true => Input::Ptx(&content, &name, manifest),
        false => Input::Mlir(&content, &name),
    };
    match diff::run(input, &args.compilation.options(Emit::Ptx), &args.options) {
        Ok((outcome, messages)) if args.json => {
            let mut value = serde_json::to_value(&outcome).unwrap_or(Value::Null);
            value["ok"] = json!(outcome.agrees);
            value["diagnostics"] = output::diagnostics(&messages);
            output::print_json(&value, u8::from(!outcome.agrees))
        }
        Ok((outcome, messages)) => {
            eprint!("{}", sources.render(&messages));
            output::print(&format!("{}\n", outcome.text), u8::from(!outcome.agrees))
        }
        Err(failure) => output::fail(&failure, &sources, args.json),
    }
}

fn manifest(args: &Args, content: &[u8], is_ptx: bool) -> Result<Option<Manifest>> {
    // Sizes do not matter to a manifest, only how many there are.
    let sizes = draw(&args.options.ranges, args.options.seed);
    let specs = args.options.args.iter().map(|arg| arg.resolve(&sizes));
    let specs = specs
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    explicit::manifest(content, is_ptx, &args.explicit, args.options.kernel.as_deref(), &specs)
}
