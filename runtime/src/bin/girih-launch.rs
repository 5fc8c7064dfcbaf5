//! `girih-launch`: runs a kernel that was compiled elsewhere, on a machine with a GPU and no compiler.
use clap::Parser;
use girih_runtime::{
    Error, Program, Result,
    check::CheckSpec,
    cuda::CudaDevice,
    file::{is_same, to_stdout},
    run::{DeviceChoice, Named, Request, run},
    spec::Spec,
};
use std::{path::PathBuf, process::ExitCode};

const SPECS: &str = "\
SPEC:
  randn:bf16[512,256]   normal; also uniform, zeros, ones, iota, full(3.5), poison
  randn(seed=3):f32[8]  own seed;  randn:bf16[512,256;pitch=264,offset=16] padded rows, moved start
  file.npy              an array in a file
  i32:42                a number

Exit codes: 0 right, 1 wrong result or error, 2 usage.";

/// Runs a compiled kernel (.ptx with its launch manifest) on a CUDA device.
#[derive(Parser)]
#[command(version, after_help = SPECS)]
struct Cli {
    /// PTX written by `girih compile`.
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
    /// Time this many launches, each with a cold L2 cache.
    #[arg(long, value_name = "N", default_value_t = 0)]
    time: usize,
    /// Leave the L2 cache as the last launch left it.
    #[arg(long)]
    warm: bool,
    /// Seed of random arguments.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Device: cuda or cuda:N.
    #[arg(long, default_value = "cuda")]
    device: DeviceChoice,
    /// Print the outcome as JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match launch(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if error.is_usage() { 2 } else { 1 })
        }
    }
}

/// Whether every check holds.
fn launch(cli: &Cli) -> Result<bool> {
    if let Some(out) = cli.outs.iter().find(|out| is_same(&cli.file, &out.value)) {
        return Err(Error::Usage(format!(
            "{}: would replace the program; write to another file",
            out.value.display()
        )));
    }
    let program = Program::load(&cli.file)?;
    let ordinal = match cli.device {
        DeviceChoice::Cuda(ordinal) => ordinal,
        DeviceChoice::Auto => 0,
        DeviceChoice::Sim => {
            return Err(Error::Usage(
                "girih-launch has no simulator; use `girih run --device sim`".to_owned(),
            ));
        }
    };
    let request = Request {
        args: cli.args.clone(),
        outs: cli.outs.clone(),
        checks: cli.checks.clone(),
        time: cli.time,
        seed: cli.seed,
    };
    let mut device = CudaDevice::new(ordinal)?;
    device.set_cold_cache(!cli.warm);
    let outcome = run(&mut device, &program, cli.kernel.as_deref(), &request)?;
    let text = match cli.json {
        true => serde_json::to_string(&outcome).map_err(|e| Error::Usage(e.to_string()))? + "\n",
        false => outcome.to_string(),
    };
    to_stdout(text.as_bytes()).map_err(|e| Error::File {
        path: "standard output".into(),
        message: format!("cannot be written: {e}"),
    })?;
    Ok(outcome.is_right())
}
