//! Wall time of each stage from the llvm dialect to a cubin, at each level, for a GEMM kernel with 128 accumulators a
//! thread. `cargo bench -p girih-codegen --bench stages`.
#[path = "../tests/it/gemm.rs"]
mod gemm;
#[path = "../tests/it/support.rs"]
#[allow(dead_code)]
mod support;

use girih_codegen::{CompileOptions, OptLevel, compile, ptxas::Ptxas};
use std::time::{Duration, Instant};

const RUNS: usize = 11;

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn main() {
    let start = Instant::now();
    let context = support::context();
    println!("context        {:8.2} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let module = support::gemm(&context);
    println!("parse, nvvm    {:8.2} ms", start.elapsed().as_secs_f64() * 1e3);
    let ptxas = Ptxas::find(None).ok();
    println!("milliseconds, median of {RUNS}");
    println!("level line-info translate optimize     emit    total    ptxas registers PTX-bytes");
    for opt_level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
        for line_info in [false, true] {
            let options = CompileOptions {
                opt_level,
                line_info,
                ..support::hopper()
            };
            let runs: Vec<_> = (0..RUNS)
                .map(|_| compile(support::first(&module), None, &options).expect("the kernel compiles"))
                .collect();
            let stage = |of: fn(&girih_codegen::ptx::StageTimes) -> Duration| {
                median(runs.iter().map(|run| of(&run.times)).collect())
            };
            let start = Instant::now();
            let assembled = ptxas
                .as_ref()
                .map(|ptxas| ptxas.assemble(&runs[0].text, "sm_90a").expect("ptxas takes it"));
            let assembly = start.elapsed().as_secs_f64() * 1e3;
            println!(
                "{:<5} {line_info:<9} {:9.2} {:8.2} {:8.2} {:8.2} {assembly:8.1} {:9} {:9}",
                format!("{opt_level:?}"),
                stage(|times| times.translate),
                stage(|times| times.optimize),
                stage(|times| times.emit),
                stage(|times| times.total()),
                assembled.as_ref().map_or(0, |cubin| cubin.report.kernels[0].registers),
                runs[0].text.len(),
            );
            for warning in assembled.iter().flat_map(|cubin| &cubin.report.warnings) {
                println!("      {warning}");
            }
        }
    }
}
