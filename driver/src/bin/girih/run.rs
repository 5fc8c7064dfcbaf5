//! `girih run`.
use crate::{compile::Compilation, output};
use clap::{Args as ClapArgs, ValueEnum};
use girih::{
    compile::Emit,
    diagnostic::Sources,
    explicit,
    failure::Result,
    file,
    run::{self, Choice, Input, Options, Ran},
};
use girih_runtime::{
    check::CheckSpec,
    explicit::{Explicit, number},
    run::{DeviceChoice, Named, Request},
    spec::Spec,
};
use girih_sim::{check::SourcePlace, profile};
use serde_json::{Value, json};
use std::{
    io::{IsTerminal, stderr},
    path::PathBuf,
};

const HELP: &str = "\
SPEC:
  randn:bf16[512,256]   normal, mean 0, deviation 1; randn(mean=1,std=0.5)
  uniform:f32[8]        in [-1, 1), integers in [-8, 8); uniform(low=0,high=1)
  iota:i32[8]           0, 1, 2, ...; zeros, ones and full(3.5) are one value everywhere
  poison:f32[8]         for outputs, so that what is not written shows: NaN in every float,
                        bytes 0xee in every integer; empty is the same
  randn(seed=3):f32[8]  own seed;  randn:bf16[512,256;pitch=264,offset=16] padded rows, moved start
  file.npy              an array in a file
  i32:42                a number
  randn:f32[8,40]{\"fill\":\"nan\"}  an array, and fields of the tensor map made of it;
                        {map.json} reads them from a file
  types                 i1, i8, i16, i32, i64, f16, bf16, f32, tf32, f64, e4m3, e5m2

A reference is a func.func in the same file that takes the kernel's arguments and overwrites what
the kernel overwrites. The attribute girih.measure = \"product\" holds errors against |A||B| instead
of |AB|. What counts as right, and the tolerance of each type: docs/checking.md.

Exit codes: 0 right, 1 wrong result, finding or diagnostic, 2 usage: options, names, and values
that the kernel does not take.";

/// Options of `girih run`.
#[derive(ClapArgs)]
#[command(after_help = HELP)]
pub struct Args {
    /// Program as MLIR, or PTX, which `girih compile` wrote or --block tells how to launch; `-` reads standard input.
    file: PathBuf,
    /// Kernel to run; may be left out when the file has one.
    #[arg(long)]
    kernel: Option<String>,
    /// Value of an argument.
    #[arg(long = "arg", value_name = "NAME=SPEC")]
    args: Vec<Named<Spec>>,
    /// Write an argument to a file after the launch.
    #[arg(long = "out", value_name = "NAME=FILE.npy")]
    outs: Vec<Named<PathBuf>>,
    /// Compare an argument after the launch; `,tol=T,scale=SPEC` is the measure for products.
    #[arg(long = "check", value_name = "NAME=SPEC[,rtol=R][,atol=A]")]
    checks: Vec<Named<CheckSpec>>,
    /// Function of the same file to compare all arguments with; @KERNEL_ref if there is one.
    #[arg(long, value_name = "@FUNCTION", conflicts_with = "no_reference")]
    reference: Option<String>,
    /// Look for races, missing fences and waits, misused barriers and reads of what nothing wrote; on the simulator.
    #[arg(long, conflicts_with = "time")]
    check_memory: bool,
    /// Say what the launch costs: bank conflicts of shared memory, or instructions, traffic and occupancy; on the simulator.
    #[arg(long = "report", value_name = "WHAT", value_enum, conflicts_with = "time")]
    reports: Vec<Report>,
    /// Warp instructions after which the simulator gives the launch up and says where it is; 20000000000 otherwise.
    #[arg(long, value_name = "N", value_parser = number::<u64>(1, u64::MAX), allow_hyphen_values = true)]
    instruction_limit: Option<u64>,
    /// Compare with no function.
    #[arg(long)]
    no_reference: bool,
    /// Device: auto (a GPU if there is one, else the simulator), cuda, cuda:N or sim.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Time this many launches, each with a cold L2 cache.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number::<usize>(0, u32::MAX.into()), allow_hyphen_values = true)]
    time: usize,
    /// Seed of random arguments.
    #[arg(long, default_value_t = 0, value_parser = number::<u64>(0, u64::MAX), allow_hyphen_values = true)]
    seed: u64,
    #[command(flatten)]
    explicit: Explicit,
    #[command(flatten)]
    compilation: Compilation,
    /// Print the outcome as one JSON object.
    #[arg(long)]
    json: bool,
}

/// What a launch costs.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Report {
    /// Wavefronts of every access to shared memory, and the layouts that would save some.
    Banks,
    /// Warp instructions by kind, bytes by space, coalescing, occupancy.
    Resources,
}

impl Args {
    fn options(&self) -> Options {
        let function = |name: &String| Choice::Named(name.trim_start_matches('@').to_owned());
        Options {
            compile: self.compilation.options(Emit::Ptx),
            kernel: self.kernel.as_ref().map(|name| name.trim_start_matches('@').to_owned()),
            request: Request {
                args: self.args.clone(),
                outs: self.outs.clone(),
                checks: self.checks.clone(),
                time: self.time,
                seed: self.seed,
            },
            device: self.device,
            check_memory: self.check_memory,
            profile: profile::Options {
                banks: self.reports.contains(&Report::Banks),
                resources: self.reports.contains(&Report::Resources),
            },
            instruction_limit: self.instruction_limit,
            shows_progress: stderr().is_terminal(),
            reference: match (&self.reference, self.no_reference) {
                (Some(name), _) => function(name),
                (None, true) => Choice::None,
                (None, false) => Choice::Default,
            },
        }
    }
}

impl Args {
    /// Refuses results that would replace the program.
    fn keep_inputs(&self) -> Result<()> {
        self.outs.iter().try_for_each(|out| file::keep(&self.file, &out.value))
    }
}

/// Runs, and gives the exit code.
pub fn main(args: &Args) -> u8 {
    let name = file::name_of(&args.file);
    let content = match file::read(&args.file) {
        Ok(content) => content,
        Err(failure) => return output::fail(&failure, &Sources::default(), args.json),
    };
    let sources = Sources::of(&name, &content);
    // A file that was cut short is still called what it was.
    let is_named_ptx = args.file.extension().is_some_and(|extension| extension == "ptx");
    let is_ptx = is_named_ptx || file::is_ptx(&content);
    if let Err(failure) = args.keep_inputs() {
        return output::fail(&failure, &sources, args.json);
    }
    let manifest = explicit::manifest(&content, is_ptx, &args.explicit, args.kernel.as_deref(), &args.args);
    let manifest = match manifest {
        Ok(manifest) => manifest,
        Err(failure) => return output::fail(&failure, &sources, args.json),
    };
    let input = match is_ptx {
        true => Input::Ptx(&content, &name, manifest),
        false => Input::Mlir(&content, &name),
    };
    match run::run(input, &args.options()) {
        Ok(ran) => report(args, &ran, &sources),
        Err(failure) => output::fail(&failure, &sources, args.json),
    }
}

fn report(args: &Args, ran: &Ran, sources: &Sources) -> u8 {
    let right = ran.is_right();
    let code = u8::from(!right);
    if args.json {
        let mut value = serde_json::to_value(&ran.outcome).unwrap_or(Value::Null);
        value["ok"] = json!(right);
        value["remarks"] = json!(ran.remarks);
        value["diagnostics"] = output::diagnostics(&ran.messages);
        value["stages"] = output::stages(&ran.stages);
        if let Some(checks) = &ran.checks {
            value["findings"] = json!(checks.findings);
        }
        if let Some(profile) = &ran.profile {
            value["profile"] = json!(profile);
        }
        if !ran.printed.is_empty() {
            value["printed"] = json!(ran.printed);
        }
        return output::print_json(&value, code);
    }
    eprint!("{}", sources.render(&ran.messages));
    if let Some(checks) = &ran.checks {
        eprint!("{}", checks.render(sources));
    }
    let mut text = format!("{}{}", ran.printed, ran.outcome);
    for remark in &ran.remarks {
        text.push_str(&format!("{remark}\n"));
    }
    if let Some(checks) = &ran.checks {
        text.push_str(&format!("{}\n", checks.summary()));
    }
    if let Some(profile) = &ran.profile {
        let quote = |place: &SourcePlace| sources.line(&place.file, place.line).map(str::to_owned);
        text.push_str(&profile::render::profile(profile, &quote));
    }
    if ran.outcome.checks.is_empty() {
        text.push_str(match ran.checks {
            Some(_) => "the results were compared with nothing: give --check NAME=SPEC or --reference @FUNCTION\n",
            None => "nothing was checked: give --check NAME=SPEC or --reference @FUNCTION\n",
        });
    }
    let code = output::print(&text, code);
    if args.compilation.timing {
        eprint!("{}", output::timing(&ran.stages));
    }
    code
}
