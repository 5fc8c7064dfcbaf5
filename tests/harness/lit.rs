//! Every lit file as a single named test, run by LLVM's own lit.
//!
//! One lit process runs all the selected files at once, so a whole run pays for Python's start once. Under cargo-nextest
//! each file is selected alone. `cargo test --test lit -- tile/` runs one suite.
use libtest_mimic::{Arguments, Failed, Trial};
use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    thread,
};

/// Kept in step with `suffixes` and `excludes` of lit.cfg.py; lit says so if a file that is named here is none of its own.
const SUFFIXES: [&str; 3] = ["mlir", "test", "ptx"];
const EXCLUDED: [&str; 4] = ["Inputs", "hw", "standalone", "harness"];

/// What lit said about one file.
struct Outcome {
    /// lit's code, such as `PASS`, `FAIL` or `UNSUPPORTED`.
    code: String,
    output: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or_else(|| io::Error::other("the tests lie in no repository"))?;
    let mut files = BTreeMap::new();
    find(&root.join("tests"), "", &mut files)?;
    find(&root.join("examples"), "examples/", &mut files)?;

    let selected: Vec<&Path> = files
        .iter()
        .filter(|(name, _)| is_selected(arguments, name))
        .map(|(_, path)| path.as_path())
        .collect();
    let mut outcomes = match arguments.list || selected.is_empty() {
        true => BTreeMap::new(),
        false => run_lit(root, &selected)?,
    };
    let trials = files
        .into_iter()
        .map(|(name, path)| {
            let outcome = outcomes.remove(&path);
            let ignored = match &outcome {
                Some(outcome) => outcome.code == "UNSUPPORTED",
                None => lacks_gpu(&path),
            };
            Trial::test(name, move || verdict(outcome)).with_ignored_flag(ignored)
        })
        .collect();
    Ok(libtest_mimic::run(arguments, trials).exit_code())
}

/// A lit code as the result of a test.
fn verdict(outcome: Option<Outcome>) -> Result<(), Failed> {
    match outcome {
        None => Err("lit did not run this file; lit.cfg.py and the harness disagree on what a test is".into()),
        Some(outcome) => match outcome.code.as_str() {
            "PASS" | "XFAIL" | "FLAKYPASS" => Ok(()),
            code => Err(format!("{code}\n{}", outcome.output).into()),
        },
    }
}

/// Whether the file asks for a GPU where there is none. Read from its text, since a runner that lists the tests wants to
/// know before lit has seen the file.
fn lacks_gpu(path: &Path) -> bool {
    let asks = |line: &str| line.contains("REQUIRES:") && line.split([' ', ',']).any(|word| word == "gpu");
    !Path::new("/dev/nvidia0").exists() && fs::read_to_string(path).is_ok_and(|text| text.lines().any(asks))
}

/// The files below `dir` that lit would run, by their names relative to it.
fn find(dir: &Path, prefix: &str, files: &mut BTreeMap<String, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if EXCLUDED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            find(&path, &format!("{prefix}{name}/"), files)?;
        } else if path
            .extension()
            .is_some_and(|e| SUFFIXES.iter().any(|suffix| e == *suffix))
        {
            files.insert(format!("{prefix}{name}"), path);
        }
    }
    Ok(())
}

/// Whether the command line asks for this test.
fn is_selected(arguments: &Arguments, name: &str) -> bool {
    let matches = |filter: &String| {
        if arguments.exact {
            name == filter
        } else {
            name.contains(filter.as_str())
        }
    };
    arguments.filter.as_ref().is_none_or(matches) && !arguments.skip.iter().any(matches)
}

/// Runs lit once over `files`. Its outcomes are read from the JSON that it writes; what it prints is shown only if there
/// is none.
fn run_lit(root: &Path, files: &[&Path]) -> io::Result<BTreeMap<PathBuf, Outcome>> {
    let bin_dir = programs_dir()?;
    let scratch = tempfile::tempdir()?;
    let report = scratch.path().join("lit.json");
    let mut lit = Command::new("/usr/lib/llvm-22/bin/lit");
    lit.args(["--quiet", "--param"])
        .arg(format!("bin_dir={}", bin_dir.display()));
    if let Some(target) = bin_dir.parent() {
        lit.arg("--param").arg(format!("target_dir={}", target.display()));
    }
    lit.arg(format!("-j{}", thread::available_parallelism()?))
        .arg("--output")
        .arg(&report)
        .args(files);
    let output = lit.stdin(Stdio::null()).output().map_err(|error| {
        io::Error::other(format!(
            "cannot start LLVM's lit ({error}); `cargo xtask setup` installs it"
        ))
    })?;
    let Ok(json) = fs::read_to_string(&report) else {
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        return Err(io::Error::other(format!(
            "lit stopped before it ran a test: {}",
            said.trim()
        )));
    };
    let json: serde_json::Value = serde_json::from_str(&json)?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let tests = json["tests"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(tests
        .iter()
        .filter_map(|test| {
            // `tests :: tile/a.mlir`: the suite is a folder of the repository, the rest a path in it.
            let name = text(&test["name"]);
            let (suite, file) = name.split_once(" :: ")?;
            Some((
                root.join(suite).join(file),
                Outcome {
                    code: text(&test["code"]),
                    output: text(&test["output"]),
                },
            ))
        })
        .collect())
}

/// Where the development build's programs lie: two folders above this test's own.
fn programs_dir() -> io::Result<PathBuf> {
    let here = env::current_exe()?;
    let dir = here.parent().and_then(Path::parent).map(Path::to_path_buf);
    dir.ok_or_else(|| io::Error::other(format!("{} lies in no target folder", here.display())))
}
