//! Time of each step to PTX in a process that has compiled before, as JSON: a line for each file, with the milliseconds of each
//! step in each run, and `cpu`, those of the processor for the run. `cargo bench -p girih --bench compile -- RUNS FILE...`
use girih::compile::{Options, compile};
use std::{collections::BTreeMap, process::ExitCode};

/// Milliseconds that this process has had a processor.
fn cpu_ms() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on Linux, and writes the time it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 * 1e-6
}

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let Some((runs, files)) = arguments
        .split_first()
        .and_then(|(runs, files)| Some((runs.parse::<usize>().ok()?, files)))
    else {
        eprintln!("usage: compile RUNS FILE...");
        return ExitCode::from(2);
    };
    for file in files {
        let source = match std::fs::read(file) {
            Ok(source) => source,
            Err(error) => {
                eprintln!("{file}: {error}");
                return ExitCode::FAILURE;
            }
        };
        let mut times = vec![];
        // The first run is not counted: it is what a fresh process does.
        for run in 0..=runs {
            let start = cpu_ms();
            match compile(&source, file, &Options::default()) {
                Ok(compiled) if run > 0 => {
                    let mut steps: BTreeMap<String, f64> = BTreeMap::new();
                    for stage in compiled.stages {
                        *steps.entry(stage.name).or_default() += stage.time.as_secs_f64() * 1e3;
                    }
                    steps.insert("cpu".to_owned(), cpu_ms() - start);
                    times.push(steps);
                }
                Ok(_) => {}
                Err(failure) => {
                    let messages: Vec<String> = failure.messages.iter().map(|m| m.to_string()).collect();
                    eprintln!("{file}: {}", messages.join("\n"));
                    return ExitCode::FAILURE;
                }
            }
        }
        println!("{}", serde_json::json!({ "file": file, "runs": times }));
    }
    ExitCode::SUCCESS
}
