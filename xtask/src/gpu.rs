//! `cargo xtask test-gpu`: GEMM shapes and every example on a CUDA device, through `girih run`.
//!
//! Also works as a copy inside `dist/`, on a machine with neither Rust nor the repository.
use crate::{
    command,
    report::{Report, Tally},
    test, workspace,
};
use anyhow::{Context, Result, bail};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Where the suite runs.
#[derive(clap::Args)]
pub struct Args {
    /// CUDA device number.
    #[arg(long, default_value_t = 0)]
    device: u32,
}

/// M, N, K of the GEMM: single rows and columns, primes, less than a tile, one past a tile, no K at all, and large.
/// A and B travel by TMA, which takes rows of a multiple of 16 bytes: K is a multiple of 8.
const GEMM_SHAPES: [[u32; 3]; 34] = [
    [1, 1, 16],
    [1, 1, 8],
    [1, 256, 64],
    [128, 1, 64],
    [2, 3, 8],
    [7, 5, 24],
    [13, 17, 40],
    [31, 37, 64],
    [61, 67, 72],
    [64, 64, 64],
    [127, 127, 128],
    [127, 257, 136],
    [128, 128, 0],
    [128, 128, 64],
    [128, 256, 64],
    [128, 256, 128],
    [129, 257, 72],
    [131, 263, 320],
    [191, 193, 192],
    [255, 511, 256],
    [256, 256, 256],
    [257, 509, 248],
    [300, 200, 136],
    [384, 640, 512],
    [509, 521, 520],
    [512, 512, 512],
    [513, 511, 1024],
    [640, 384, 2048],
    [769, 1031, 136],
    [1000, 1000, 1000],
    [1021, 1023, 8],
    [1024, 1024, 1024],
    [1, 1021, 4096],
    [2048, 64, 4096],
];

/// Too large for a reference on the CPU: with ones everywhere each element of the product is K, exactly.
const LARGE_SHAPES: [[u32; 3]; 4] = [
    [8192, 8192, 8192],
    [4096, 4096, 4096],
    [8191, 8193, 4096],
    [16384, 128, 8192],
];

/// What of the examples runs on the GPU and on the simulator, every bit compared, with sizes drawn anew for each seed.
const DIFFS: [(&str, &str, &str); 19] = [
    (
        "gemm_explicit.mlir",
        "--arg A=randn:bf16[M,K] --arg B=randn:bf16[K,N] --arg C=poison:bf16[M,N]",
        "--let M=1..300,N=1..520,K=0..256:8 --seeds 60",
    ),
    (
        "tma_copy.mlir",
        "--kernel copy_32 --arg A=randn:f32[M,N] --arg B=poison:f32[M,N]",
        "--let M=1..200,N=4..400:4 --seeds 40",
    ),
    (
        "tma_copy.mlir",
        "--kernel copy_64 --arg A=randn:f32[M,N] --arg B=poison:f32[M,N]",
        "--let M=1..200,N=4..400:4 --seeds 40",
    ),
    (
        "tma_copy.mlir",
        "--kernel copy_128 --arg A=randn:f32[M,N] --arg B=poison:f32[M,N]",
        "--let M=1..200,N=4..400:4 --seeds 40",
    ),
    (
        "vector_add.mlir",
        "--arg A=randn:f32[N] --arg B=randn:f32[N] --arg C=poison:f32[N]",
        "--let N=0..5000 --seeds 40",
    ),
    (
        "gemm.mlir",
        "--arg A=randn:bf16[M,K] --arg B=randn:bf16[K,N] --arg C=poison:bf16[M,N]",
        "--let M=1..300,N=1..520,K=0..256 --seeds 20",
    ),
    (
        "argmax.mlir",
        "--arg X=randn:f32[M,N] --arg Y=zeros:i32[M]",
        "--let M=1..8,N=1..5000 --seeds 20",
    ),
    (
        "col_sum.mlir",
        "--arg X=randn:bf16[M,N] --arg Y=poison:f32[N]",
        "--let M=1..300,N=1..300 --seeds 20",
    ),
    (
        "cumsum.mlir",
        "--arg X=randn:f32[M,N] --arg Y=poison:f32[M,N]",
        "--let M=1..8,N=1..5000 --seeds 20",
    ),
    (
        "gather.mlir",
        "--arg X=randn:bf16[M,N] --arg I=zeros:i32[K] --arg Y=poison:bf16[K,N]",
        "--let M=1..40,N=1..600,K=1..70 --seeds 20",
    ),
    (
        "scatter.mlir",
        "--arg X=randn:bf16[K,N] --arg I=iota:i32[K] --arg Y=zeros:bf16[M,N]",
        "--let M=1..90,N=1..600,K=1..70 --seeds 20",
    ),
    // Approximations of the hardware, which the simulator has within their bounds.
    (
        "gelu.mlir",
        "--arg X=randn:f32[N] --arg B=randn:bf16[N] --arg Y=poison:f32[N] --arg alpha=f32:1.5",
        "--let N=1..9000 --seeds 20 --tol 1e-3",
    ),
    (
        "histogram.mlir",
        "--arg X=iota:i32[N] --arg H=zeros:i32[M]",
        "--let N=1..5000,M=1..700 --seeds 20",
    ),
    (
        "layernorm.mlir",
        "--arg X=randn:bf16[M,N] --arg W=randn:bf16[N] --arg B=randn:bf16[N] --arg Y=poison:bf16[M,N] --arg eps=f32:1e-5",
        "--let M=1..4,N=1..10000 --seeds 10 --tol 1e-2",
    ),
    (
        "quantize.mlir",
        "--arg X=randn:bf16[M,N] --arg Q=zeros:e4m3[M,N] --arg S=poison:f32[M]",
        "--let M=1..4,N=1..5000 --seeds 10",
    ),
    (
        "rmsnorm.mlir",
        "--arg X=randn:bf16[M,N] --arg W=randn:bf16[N] --arg Y=poison:bf16[M,N] --arg eps=f32:1e-5",
        "--let M=1..4,N=1..10000 --seeds 10 --tol 1e-2",
    ),
    (
        "row_sum.mlir",
        "--arg X=randn:bf16[M,N] --arg Y=poison:f32[M]",
        "--let M=1..8,N=1..20000 --seeds 20",
    ),
    (
        "softmax.mlir",
        "--arg X=randn:bf16[M,N] --arg Y=poison:bf16[M,N]",
        "--let M=1..4,N=1..10000 --seeds 10 --tol 1e-2",
    ),
    (
        "transpose.mlir",
        "--arg X=randn:bf16[M,N] --arg Y=poison:bf16[N,M]",
        "--let M=1..300,N=1..300 --seeds 20",
    ),
];

/// Runs the suite; an error where there is no GPU, since then nothing was tested.
pub fn run(args: &Args) -> Result<bool> {
    let gpus = command::capture(Command::new("nvidia-smi").arg("-L")).unwrap_or_default();
    if !gpus.contains("GPU ") {
        bail!("no GPU: nvidia-smi lists none here, and nothing was run");
    }
    print!("{gpus}");
    let Installation {
        girih,
        examples,
        mut driver_tests,
        diff_suite,
    } = installation()?;
    let device = format!("cuda:{}", args.device);
    let mut report = Report::default();
    report.stage("driver", "the runtime's own tests on a device", || {
        let (ok, lines) = command::tee(&mut driver_tests)?;
        Ok(test::closing_lines(ok, &lines))
    });
    report.stage("gemm", "gemm_explicit.mlir against its reference", || {
        let source = examples.join("gemm_explicit.mlir");
        let mut tally = Tally::default();
        for (seed, [m, n, k]) in (1..).zip(GEMM_SHAPES) {
            let mut launch = command::program(&girih)?;
            launch
                .arg("run")
                .arg(&source)
                .args(["--kernel", "gemm", "--device", &device]);
            launch.args([
                "--arg",
                &format!("A=randn:bf16[{m},{k}]"),
                "--arg",
                &format!("B=randn:bf16[{k},{n}]"),
            ]);
            launch.args(["--arg", &format!("C=poison:bf16[{m},{n}]"), "--reference", "@gemm_ref"]);
            launch.args(["--seed", &seed.to_string()]);
            tally.add(verdict(&format!("{m}x{n}x{k}"), &mut launch)?);
        }
        Ok(tally)
    });
    report.stage(
        "large",
        "gemm_explicit.mlir on ones, at sizes that fill the device",
        || {
            let source = examples.join("gemm_explicit.mlir");
            let mut tally = Tally::default();
            for [m, n, k] in LARGE_SHAPES {
                let mut launch = command::program(&girih)?;
                launch
                    .arg("run")
                    .arg(&source)
                    .args(["--kernel", "gemm", "--device", &device]);
                launch.args([
                    "--arg",
                    &format!("A=ones:bf16[{m},{k}]"),
                    "--arg",
                    &format!("B=ones:bf16[{k},{n}]"),
                ]);
                launch.args([
                    "--arg",
                    &format!("C=poison:bf16[{m},{n}]"),
                    "--check",
                    &format!("C=full({k}):bf16[{m},{n}]"),
                    "--no-reference",
                ]);
                tally.add(verdict(&format!("{m}x{n}x{k}"), &mut launch)?);
            }
            Ok(tally)
        },
    );
    report.stage("examples", "as their RUN lines say, on the GPU", || {
        let mut tally = Tally::default();
        let scratch = env::temp_dir().join(format!("girih-gpu-{}", std::process::id()));
        std::fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
        for source in workspace::files_with_extension(&examples, "mlir") {
            let text = std::fs::read_to_string(&source).with_context(|| format!("cannot read {}", source.display()))?;
            let name = source.file_name().unwrap_or_default().to_string_lossy();
            let own = scratch.join(&*name);
            let filled = |word: &str| {
                let word = word.replace("%s", &source.to_string_lossy());
                word.replace("%t", &own.to_string_lossy())
            };
            for line in run_lines(&text, &device) {
                let mut launch = match &line {
                    RunLine::Launch(words) => {
                        let mut launch = command::program(&girih)?;
                        launch.args(words.iter().map(|word| filled(word)));
                        launch
                    }
                    RunLine::Edit(line) => {
                        let mut sh = Command::new("sh");
                        sh.args(["-c", &filled(line)]);
                        sh
                    }
                };
                let done = verdict(&name, &mut launch)?;
                if matches!(line, RunLine::Launch(_)) || done.failed > 0 {
                    tally.add(done);
                }
            }
        }
        std::fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove {}", scratch.display()))?;
        Ok(tally)
    });
    let pair = format!("{device},sim");
    report.stage("diff", "examples on the GPU and the simulator, every bit", || {
        let mut tally = Tally::default();
        for (example, arguments, sizes) in DIFFS {
            let mut diff = command::program(&girih)?;
            diff.arg("diff").arg(examples.join(example)).args(["--on", &pair]);
            diff.args(arguments.split(' ')).args(sizes.split(' '));
            tally.add(verdict(&format!("{example} {arguments}"), &mut diff)?);
        }
        Ok(tally)
    });
    report.stage(
        "tensor cores",
        "every wgmma and mma.sync on the GPU and the simulator",
        || {
            let mut suite = command::program(&diff_suite)?;
            let (ok, _) = command::tee(suite.args(["--on", &pair]))?;
            Ok(Tally::one(ok))
        },
    );
    report.stage("copies", "drawn copies on the GPU and the simulator", || {
        let mut suite = command::program(&diff_suite)?;
        let (ok, _) = command::tee(suite.args(["--on", &pair, "--transfers", DRAWN_COPIES]))?;
        Ok(Tally::one(ok))
    });
    Ok(report.finish())
}

/// One launch; what it said is shown only if it failed.
fn verdict(name: &str, launch: &mut Command) -> Result<Tally> {
    let output = command::output(launch)?;
    let ok = output.status.success();
    println!("{name}: {}", if ok { "ok" } else { "FAILED" });
    if !ok {
        println!("$ {}", command::display(launch));
        print!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(Tally::one(ok))
}

/// What a RUN line does on the GPU.
#[derive(Debug, PartialEq)]
enum RunLine {
    /// Words after `girih`.
    Launch(Vec<String>),
    /// Makes another program of an example: a `sed` of the shell.
    Edit(String),
}

/// The lines among a file's lit RUN lines that launch kernels, moved to `device`, and those that make what is launched. A GPU
/// has no checks of memory.
fn run_lines(text: &str, device: &str) -> Vec<RunLine> {
    let mut joined = String::new();
    for line in text.lines() {
        if let Some((_, command)) = line.split_once("RUN:") {
            match command.trim_end().strip_suffix('\\') {
                Some(part) => joined.push_str(part),
                None => joined.push_str(&format!("{}\n", command.trim_end())),
            }
        }
    }
    let mut found = Vec::new();
    for command in joined.lines() {
        let command = command.split('|').next().unwrap_or_default().trim();
        let mut words = command.split_whitespace().map(str::to_owned);
        let (Some(program), Some(verb)) = (words.next(), words.next()) else {
            continue;
        };
        if program == "sed" {
            found.push(RunLine::Edit(command.to_owned()));
            continue;
        }
        if !matches!(program.as_str(), "girih" | "%girih") || verb != "run" {
            continue;
        }
        let mut arguments = vec![verb];
        while let Some(word) = words.next() {
            match word.as_str() {
                "--device" => drop(words.next()),
                "--check-memory" => {}
                _ if word.starts_with("--device=") => {}
                _ => arguments.push(word.trim_matches(['\'', '"']).to_owned()),
            }
        }
        arguments.extend(["--device".to_owned(), device.to_owned()]);
        found.push(RunLine::Launch(arguments));
    }
    found
}

/// What the suite runs.
struct Installation {
    girih: PathBuf,
    examples: PathBuf,
    /// The tests of `girih-runtime` that need a device.
    driver_tests: Command,
    /// Compares two devices on generated kernels.
    diff_suite: PathBuf,
}

/// Copies that are drawn; some ten seconds.
const DRAWN_COPIES: &str = "4000";

/// Name of the program that runs generated kernels on two devices.
pub const DIFF_SUITE: &str = "girih-diff-suite";

/// Name of the runtime's device tests in `dist/`.
pub const DRIVER_TESTS: &str = "runtime-gpu-tests";

/// Cargo's arguments for the runtime's device tests.
pub const CARGO_DRIVER_TESTS: [&str; 7] = [
    "test",
    "--package",
    "girih-runtime",
    "--features",
    "gpu-tests",
    "--test",
    "gpu",
];

/// What lies beside this program in a `dist/`, or else in the repository.
fn installation() -> Result<Installation> {
    let here = env::current_exe().context("where this program lies is unknown")?;
    let dist = here
        .parent()
        .and_then(Path::parent)
        .map(|dir| dir.join("examples"))
        .filter(|dir| dir.is_dir());
    if let Some(examples) = dist {
        return Ok(Installation {
            girih: here.with_file_name("girih"),
            examples,
            driver_tests: Command::new(here.with_file_name(DRIVER_TESTS)),
            diff_suite: here.with_file_name(DIFF_SUITE),
        });
    }
    command::run(&mut command::cargo(&[
        "build",
        "--workspace",
        "--bin",
        "girih",
        "--bin",
        DIFF_SUITE,
    ])?)?;
    Ok(Installation {
        girih: workspace::binary("girih")?,
        examples: workspace::root()?.join("examples"),
        driver_tests: command::cargo(&CARGO_DRIVER_TESTS)?,
        diff_suite: workspace::binary(DIFF_SUITE)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_lines_move_to_the_gpu() {
        let text = "// RUN: girih compile %s\n// RUN: girih run %s --device sim --check-memory \\\n\
                    // RUN:   --arg 'x=iota:i32[8]' | FileCheck %s\n\
                    // RUN: sed 's/(1, 1)/(8, 1)/' %s > %t.mlir\n// RUN: girih run %t.mlir | FileCheck %s\n";
        let launch = |words: &[&str]| RunLine::Launch(words.iter().map(|word| word.to_string()).collect());
        assert_eq!(
            run_lines(text, "cuda:1"),
            [
                launch(&["run", "%s", "--arg", "x=iota:i32[8]", "--device", "cuda:1"]),
                RunLine::Edit("sed 's/(1, 1)/(8, 1)/' %s > %t.mlir".to_owned()),
                launch(&["run", "%t.mlir", "--device", "cuda:1"]),
            ]
        );
    }

    #[test]
    fn every_example_is_compared_on_two_devices() {
        for source in crate::examples::all().expect("there are examples") {
            let name = source.file_name().unwrap_or_default();
            assert!(
                DIFFS.iter().any(|(example, ..)| *example == name),
                "DIFFS leaves {} out",
                source.display()
            );
        }
    }

    #[test]
    fn every_gemm_shape_has_rows_that_tma_takes() {
        assert!(GEMM_SHAPES.len() >= 30);
        assert!(GEMM_SHAPES.iter().all(|[_, _, k]| k % 8 == 0));
    }
}
