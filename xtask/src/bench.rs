//! `cargo xtask bench`: how long a cold `girih compile` takes on this machine, with the release build, then the crates' own
//! benchmarks, then the comparison with cuBLAS where there is a GPU.
use crate::{command, examples, setup, workspace};
use anyhow::{Context, Result};
use std::{
    process::Command,
    time::{Duration, Instant},
};

/// What to measure.
#[derive(clap::Args)]
pub struct Args {
    /// Cold processes for each example.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

/// Measures every example; true when all compiled.
pub fn run(args: &Args) -> Result<bool> {
    setup::for_build()?;
    command::run(&mut command::cargo(&[
        "build",
        "--release",
        "--package",
        "girih",
        "--bin",
        "girih",
    ])?)?;
    let girih = workspace::target_dir()?.join("release/girih");
    let out = workspace::target_dir()?.join("bench.ptx");
    println!("cold process, .mlir to PTX, {} runs each", args.runs);
    println!(
        "{:<28} {:>10} {:>10} {:>10}",
        "example", "min ms", "median ms", "max ms"
    );
    for source in examples::all()? {
        let mut times = Vec::new();
        for _ in 0..args.runs {
            let mut compile = command::program(&girih)?;
            compile.arg("compile").arg(&source).arg("-o").arg(&out);
            let start = Instant::now();
            command::capture(&mut compile)?;
            times.push(start.elapsed());
        }
        times.sort();
        let name = source.file_stem().context("an example has a name")?.to_string_lossy();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{name:<28} {:>10.1} {:>10.1} {:>10.1}",
            ms(times[0]),
            ms(times[times.len() / 2]),
            ms(times[times.len() - 1])
        );
    }
    command::run(&mut command::cargo(&["bench", "--workspace", "--bench", "*"])?)?;
    let gpus = command::capture(Command::new("nvidia-smi").arg("-L")).unwrap_or_default();
    if !gpus.contains("GPU ") {
        println!("no GPU here: benches/gemm.py, which compares with cuBLAS, was not run");
        return Ok(true);
    }
    let root = workspace::root()?;
    let gemm = workspace::target_dir()?.join("gemm.ptx");
    let mut compile = command::program(&girih)?;
    command::run(
        compile
            .arg("compile")
            .arg(root.join("examples/gemm_explicit.mlir"))
            .arg("-o")
            .arg(&gemm),
    )?;
    command::succeeds(Command::new("python3").arg(root.join("benches/gemm.py")).arg(&gemm))
}
