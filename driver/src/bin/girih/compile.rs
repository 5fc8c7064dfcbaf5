//! `girih compile`.
use crate::output;
use clap::{Args as ClapArgs, ValueEnum};
use girih::{
    Failure,
    compile::{self, Compiled, Emit, Options, Stage},
    diagnostic::Sources,
    failure::Result,
    file,
};
use girih_codegen::OptLevel;
use girih_core::target::{PtxVersion, Target};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

/// How to compile; `girih run` takes these too.
#[derive(ClapArgs)]
pub struct Compilation {
    /// Target of a module that names none itself (tile.target); sm_90a by default. `girih targets` lists them.
    #[arg(long, value_name = "TARGET", value_parser = |text: &str| Target::parse(text))]
    pub target: Option<Target>,
    /// PTX version to write, such as 8.6.
    #[arg(long, value_name = "MAJOR.MINOR", value_parser = ptx_version)]
    pub ptx: Option<PtxVersion>,
    /// How much LLVM optimises: 0 (not at all) to 3.
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = opt_level)]
    pub opt: OptLevel,
    /// Let the PTX name the source line of each instruction (.loc), for profilers and debuggers.
    #[arg(long)]
    pub lineinfo: bool,
    /// Write what each step leaves to DIR/NN-STEP.mlir.
    #[arg(long, value_name = "DIR")]
    pub dump: Option<PathBuf>,
    /// ptxas to use; found beside girih, on PATH or in CUDA_HOME otherwise.
    #[arg(long, value_name = "PATH")]
    pub ptxas: Option<PathBuf>,
    /// Say how long each step took.
    #[arg(long)]
    pub timing: bool,
}

impl Compilation {
    /// As the library takes it.
    pub fn options(&self, emit: Emit) -> Options {
        Options {
            default_target: None,
            target: self.target,
            ptx: self.ptx,
            emit,
            opt_level: self.opt,
            line_info: self.lineinfo,
            dump: self.dump.clone(),
            ptxas: self.ptxas.clone(),
            instead: Vec::new(),
        }
    }
}

/// Options of `girih compile`.
#[derive(ClapArgs)]
pub struct Args {
    /// Program as MLIR text or bytecode; `-` reads standard input.
    file: PathBuf,
    /// Where to write; standard output otherwise. Beside a cubin, the launch manifest goes to OUT.json.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Level to stop at; what the first three write can be compiled further.
    #[arg(long, value_enum, default_value = "ptx")]
    emit: Level,
    /// Say what a kernel takes, on standard error.
    #[arg(long, value_enum, value_name = "WHAT")]
    report: Option<Report>,
    #[command(flatten)]
    compilation: Compilation,
    /// Print one JSON object with diagnostics and times; needs -o.
    #[arg(long, requires = "output")]
    json: bool,
}

/// What `--report` says of kernels.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Report {
    /// Shared memory: each buffer's bytes, how long it lives, and which buffers share bytes.
    Shared,
}

/// As the command line spells levels.
#[derive(Clone, Copy, ValueEnum)]
enum Level {
    /// The program, parsed and verified.
    Tile,
    /// Tile ops of which each is one instruction.
    Explicit,
    /// Per-thread code in upstream dialects.
    Nvvm,
    /// LLVM IR.
    Llvm,
    /// PTX, headed by the launch manifest.
    Ptx,
    /// Machine code, by NVIDIA's ptxas.
    Cubin,
}

impl From<Level> for Emit {
    fn from(level: Level) -> Emit {
        match level {
            Level::Tile => Emit::Tile,
            Level::Explicit => Emit::Explicit,
            Level::Nvvm => Emit::Nvvm,
            Level::Llvm => Emit::Llvm,
            Level::Ptx => Emit::Ptx,
            Level::Cubin => Emit::Cubin,
        }
    }
}

impl Args {
    /// Where the launch manifest goes: a cubin has no comments that it could travel in.
    fn manifest_path(&self) -> Option<PathBuf> {
        let (Level::Cubin, Some(output)) = (self.emit, &self.output) else {
            return None;
        };
        let mut path = output.clone().into_os_string();
        path.push(".json");
        Some(path.into())
    }
}

/// Compiles, and gives the exit code.
pub fn main(args: &Args) -> u8 {
    let name = file::name_of(&args.file);
    let source = match file::read(&args.file) {
        Ok(source) => source,
        Err(failure) => return output::fail(&failure, &Sources::default(), args.json),
    };
    let sources = Sources::of(&name, &source);
    let compiled = match compile_to_file(args, &source, &name) {
        Ok(compiled) => compiled,
        Err(failure) => return output::fail(&failure, &sources, args.json),
    };
    let resources = compiled.report.iter().flat_map(|report| &report.kernels);
    if args.json {
        let kernel = |kernel: &girih_codegen::ptxas::KernelReport| {
            json!({"name": kernel.name, "registers": kernel.registers,
                   "spill_bytes": kernel.spill_store_bytes + kernel.spill_load_bytes,
                   "static_shared_bytes": kernel.static_shared_bytes})
        };
        let value = json!({
            "ok": true,
            "output": args.output,
            "diagnostics": output::diagnostics(&compiled.messages),
            "stages": output::stages(&compiled.stages),
            "kernels": resources.map(kernel).collect::<Vec<_>>(),
        });
        return output::print_json(&value, 0);
    }
    eprint!("{}", sources.render(&compiled.messages));
    for kernel in resources.filter(|_| args.compilation.timing) {
        eprintln!(
            "{}: {} registers, {} bytes spilled, {} bytes of static shared memory",
            kernel.name,
            kernel.registers,
            kernel.spill_store_bytes + kernel.spill_load_bytes,
            kernel.static_shared_bytes
        );
    }
    if args.compilation.timing {
        eprint!("{}", output::timing(&compiled.stages));
    }
    0
}

fn compile_to_file(args: &Args, source: &[u8], name: &str) -> Result<Compiled> {
    for output in args.output.iter().cloned().chain(args.manifest_path()) {
        file::keep(&args.file, &output)?;
    }
    let mut options = args.compilation.options(args.emit.into());
    if args.report == Some(Report::Shared) {
        let pass = "tile-allocate-shared";
        options
            .instead
            .push((pass.to_owned(), format!("{pass}{{report=true}}")));
    }
    let mut compiled = compile::compile(source, name, &options)?;
    let start = Instant::now();
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    let written = file::write(output, &compiled.content).and_then(|()| write_manifest(args, &compiled));
    compiled.stages.push(Stage {
        name: "write".to_owned(),
        time: start.elapsed(),
    });
    match written {
        Ok(()) => Ok(compiled),
        Err(failure) => Err(failure.after(compiled.messages)),
    }
}

/// Beside a cubin.
fn write_manifest(args: &Args, compiled: &Compiled) -> Result<()> {
    let (Some(path), Some(manifest)) = (args.manifest_path(), &compiled.manifest) else {
        return Ok(());
    };
    let json = serde_json::to_string_pretty(manifest)
        .map_err(|error| Failure::new(format!("the launch manifest cannot be written as JSON: {error}")))?;
    file::write(&path, format!("{json}\n").as_bytes())
}

fn opt_level(text: &str) -> std::result::Result<OptLevel, String> {
    text.parse()
        .ok()
        .and_then(OptLevel::from_number)
        .ok_or_else(|| "expected 0, 1, 2 or 3".to_owned())
}

fn ptx_version(text: &str) -> std::result::Result<PtxVersion, String> {
    let parse = || {
        let (major, minor) = text.split_once('.')?;
        Some(PtxVersion(major.parse().ok()?, minor.parse().ok()?))
    };
    parse().ok_or_else(|| "expected a version such as 8.6".to_owned())
}
