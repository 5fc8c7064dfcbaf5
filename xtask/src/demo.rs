//! `cargo xtask demo`: a GEMM from tile ops to PTX, each level shown, and run where it can be run.
use crate::{command, examples, report, setup, workspace};
use anyhow::{Context, Result, bail};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

/// The shape that the demo runs: one that no tile divides, so that the edges are at work too.
const SHAPE: [u32; 3] = [300, 200, 136];

/// How to run the demo.
#[derive(clap::Args)]
pub struct Args {
    /// Where to run: `auto` takes a GPU where there is one and the simulator otherwise.
    #[arg(long, default_value = "auto")]
    device: String,
}

/// Runs the demo; true if the GEMM compiled and gave the right result.
pub fn run(args: &Args) -> Result<bool> {
    println!("girih demo: a bf16 matrix product of whole tiles, in which no thread, copy or barrier is named,");
    println!("compiled pass by pass down to the tensor cores' own instructions in PTX, and run.");

    report::heading("set-up");
    setup::for_build_and_ptxas_if_possible()?;
    println!("all there");

    report::heading("build (the first time compiles all dependencies: a few minutes)");
    let start = Instant::now();
    command::run(&mut command::cargo(&["build", "--workspace", "--bin", "girih"])?)?;
    println!("girih is built, {}", report::seconds(start.elapsed()));

    let girih = workspace::binary("girih")?;
    let root = workspace::root()?;
    let source = Path::new("examples/gemm.mlir");
    let out = workspace::target_dir()?.join("demo");
    let levels = out.join("levels");
    if levels.exists() {
        fs::remove_dir_all(&levels).with_context(|| format!("cannot empty {}", levels.display()))?;
    }
    fs::create_dir_all(&levels).with_context(|| format!("cannot make {}", levels.display()))?;
    let ptx = out.join("gemm.ptx");

    let mut compile = command::program(&girih)?;
    compile
        .arg("compile")
        .arg(source)
        .arg("-o")
        .arg(&ptx)
        .arg("--dump")
        .arg(&levels)
        .arg("--timing")
        .current_dir(&root);
    report::heading("compile");
    println!("$ {}", command::display(&compile));
    let start = Instant::now();
    let output = command::output(&mut compile)?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if !output.status.success() {
        bail!("the example does not compile ({}):\n{}", output.status, said.trim());
    }
    println!(
        "done in {}, the start of the process included",
        report::seconds(start.elapsed())
    );
    show_levels(&levels, &step_times(&said))?;

    report::heading("assemble");
    let assembled = match workspace::tools_dir()?.join("ptxas").is_file() {
        true => {
            let assembly = examples::assemble(&ptx)?;
            println!(
                "ptxas for {}: {} registers a thread, {} bytes spilled, {} performance warnings",
                examples::TARGET,
                assembly.registers,
                assembly.spill_bytes,
                assembly.performance_warnings.len()
            );
            true
        }
        false => {
            println!("there is no ptxas here: not assembled");
            false
        }
    };

    report::heading("run");
    let [m, n, k] = SHAPE;
    let mut launch = command::program(&girih)?;
    launch
        .arg("run")
        .arg(source)
        .current_dir(&root)
        .args(["--kernel", "gemm", "--device", &args.device]);
    launch.args([
        "--arg",
        &format!("A=randn:bf16[{m},{k}]"),
        "--arg",
        &format!("B=randn:bf16[{k},{n}]"),
    ]);
    launch.args(["--arg", &format!("C=poison:bf16[{m},{n}]"), "--reference", "@gemm_ref"]);
    println!("$ {}", command::display(&launch));
    let start = Instant::now();
    let right = command::succeeds(&mut launch)?;
    println!("{}", report::seconds(start.elapsed()));

    report::heading("verdict");
    match (right, assembled) {
        (true, true) => println!("RIGHT: the {m}x{n}x{k} product matches its reference, and ptxas takes the PTX."),
        (true, false) => println!("RIGHT: the {m}x{n}x{k} product matches its reference. ptxas was not asked."),
        (false, _) => {
            println!("WRONG: it compiled, but the {m}x{n}x{k} product was not computed as its reference says.")
        }
    }
    println!(
        "The IR after each pass: {}",
        levels.strip_prefix(&root).unwrap_or(&levels).display()
    );
    Ok(right)
}

/// Lines `NAME MS ms` of `--timing`, in order.
fn step_times(said: &str) -> Vec<(String, f64)> {
    let time = |line: &str| -> Option<(String, f64)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [name, ms, "ms"] => Some((name.to_owned(), ms.parse().ok()?)),
            _ => None,
        }
    };
    said.lines().filter_map(time).collect()
}

/// The names of the steps whose times a dumped level sums up.
fn steps_of(level: &str) -> Vec<&str> {
    match level {
        "tile" => vec!["parse"],
        "llvm" => vec!["translate", "optimize"],
        "ptx" => vec!["emit"],
        pass => vec![pass],
    }
}

/// One line for each dumped level: the file, the time, its lines, and the ops of each dialect in it.
fn show_levels(dir: &Path, times: &[(String, f64)]) -> Result<()> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .with_context(|| format!("cannot list {}", dir.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    println!("\n{:<36} {:>8} {:>6}   what is in it", "after", "ms", "lines");
    let (mut times, mut before) = (times.iter(), String::new());
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let level = stem.split_once('-').map_or(stem.as_str(), |(_, level)| level);
        // Names repeat, so each step takes the next time of its name.
        let ms: f64 = steps_of(level)
            .iter()
            .filter_map(|step| times.by_ref().find(|(name, _)| name == step))
            .map(|(_, ms)| ms)
            .sum();
        let content = if text == before {
            "as before".to_owned()
        } else if file.extension().is_some_and(|e| e == "mlir") {
            census(&text)
        } else {
            instructions(&text)
        };
        println!("{name:<36} {ms:>8.1} {:>6}   {content}", text.lines().count());
        before = text;
    }
    Ok(())
}

/// Ops of each dialect in MLIR text, most frequent first.
fn census(mlir: &str) -> String {
    let dialects = mlir
        .lines()
        .filter_map(op_name)
        .filter_map(|op| op.split_once('.'))
        .map(|(dialect, _)| dialect);
    most_frequent(dialects)
}

/// The op that a line of MLIR starts with, past its results.
fn op_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = if line.starts_with('%') {
        line.split_once(" = ")?.1
    } else {
        line
    };
    let line = line.trim_start_matches('"');
    let end = line
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
        .unwrap_or(line.len());
    let name = &line[..end];
    (name.starts_with(|c: char| c.is_ascii_lowercase()) && name.contains('.')).then_some(name)
}

/// Instructions of PTX or calls of LLVM IR that say what the hardware will do.
fn instructions(text: &str) -> String {
    const TOLD: [&str; 8] = [
        "wgmma",
        "cp.async.bulk",
        "cp.async",
        "mbarrier",
        "setmaxnreg",
        "fence",
        "bar.sync",
        "st.global",
    ];
    let found = text
        .lines()
        .filter_map(|line| TOLD.into_iter().find(|told| line.contains(told)));
    most_frequent(found)
}

/// `a 12, b 3`, by count and then by name.
fn most_frequent<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    items.for_each(|item| *counts.entry(item).or_default() += 1);
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    sorted
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_are_counted_by_dialect() {
        let mlir = "module {\n  tile.kernel @k() launch {\n    %c0 = arith.constant 0 : index\n\
                    %a, %b = \"tile.pair\"() : () -> ()\n    // tile.comment\n    %c:2 = tile.wgmma %x\n}\n";
        assert_eq!(census(mlir), "tile 3, arith 1");
    }

    #[test]
    fn times_are_read_in_order() {
        let said = "start   1.28 ms\nparse 11.04 ms\nremark: 3 ms of nothing\ncse 0.18 ms\n";
        let names: Vec<String> = step_times(said).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["start", "parse", "cse"]);
    }

    #[test]
    fn instructions_are_counted_by_kind() {
        assert_eq!(
            instructions("wgmma.fence;\nwgmma.mma_async x;\nst.global.b32 [a], b;\n"),
            "wgmma 2, st.global 1"
        );
    }
}
