//! Every example in every variant: what a pass that may be left out changes shows in no bit of the result, and layouts drawn at
//! random give results that hold against the reference. The simulator's checks find nothing.
use crate::programs::{on_all_cores, variant::Variant};
use girih::compile::compile;
use girih::run::{Choice, Input, Options, run};
use girih_runtime::run::{DeviceChoice, Named, Request};
use std::{fs, path::Path, sync::Mutex};

/// A run that an example's head shows.
struct Run {
    file: String,
    kernel: Option<String>,
    arguments: Vec<String>,
}

impl Run {
    /// From the words after `girih run`; `None` for runs that are not on the simulator.
    fn of(file: &str, words: &[String]) -> Option<Run> {
        let after = |option: &str| {
            let found = words.iter().enumerate().filter(move |(_, w)| *w == option);
            found.filter_map(|(i, _)| words.get(i + 1).cloned()).collect::<Vec<_>>()
        };
        after("--device").contains(&"sim".to_owned()).then(|| Run {
            file: file.to_owned(),
            kernel: after("--kernel").pop(),
            arguments: after("--arg"),
        })
    }
    /// Elements of all arguments.
    fn elements(&self) -> usize {
        let count = |argument: &String| {
            let sizes = argument.split(['[', ']', ';']).nth(1).unwrap_or("");
            sizes.split(',').map(|n| n.parse().unwrap_or(1)).product::<usize>()
        };
        self.arguments.iter().map(count).sum()
    }
}

/// The words of a command line: quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let quoted = line.split('"').enumerate();
    let parts = quoted.flat_map(|(i, part)| match i % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    parts.collect()
}

/// For each example and kernel the smallest run that is not trivial.
fn runs() -> Vec<Run> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the examples")
        .filter_map(|e| Some(e.ok()?.path()))
        .collect();
    files.sort();
    let mut chosen: Vec<Run> = vec![];
    for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "mlir")) {
        let text = fs::read_to_string(path).expect("an example");
        let lines = text.lines().filter_map(|l| l.strip_prefix("// RUN: girih run %s "));
        let mut all: Vec<Run> = lines
            .filter_map(|l| Run::of(&path.display().to_string(), &words(l)))
            .collect();
        all.retain(|r| r.elements() > 100);
        all.sort_by_key(Run::elements);
        for run in all {
            if chosen.iter().all(|c| (&c.file, &c.kernel) != (&run.file, &run.kernel)) {
                chosen.push(run);
            }
        }
    }
    chosen
}

/// Runs an example; the bytes of its arguments afterwards, or why it is wrong.
fn result(example: &Run, variant: &Variant, checks: bool) -> Result<Vec<Vec<u8>>, String> {
    let source = fs::read(&example.file).map_err(|e| e.to_string())?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let args = example
        .arguments
        .iter()
        .map(|a| a.parse())
        .collect::<Result<Vec<Named<_>>, String>>()?;
    let arrays = example.arguments.iter().filter(|a| a.contains('['));
    let names: Vec<String> = arrays.filter_map(|a| Some(a.split_once('=')?.0.to_owned())).collect();
    let out = |name: &String| Named {
        name: name.clone(),
        value: folder.path().join(format!("{name}.npy")),
    };
    let options = Options {
        compile: variant.options(),
        kernel: example.kernel.clone(),
        request: Request {
            args,
            outs: names.iter().map(out).collect(),
            ..Request::default()
        },
        device: DeviceChoice::Sim,
        reference: Choice::Default,
        check_memory: checks,
        profile: Default::default(),
        instruction_limit: None,
        shows_progress: false,
    };
    let ran = run(Input::Mlir(&source, &example.file), &options);
    let ran = ran.map_err(|f| f.messages.iter().map(|m| m.to_string() + "\n").collect::<String>())?;
    if !ran.is_right() {
        let found = ran.checks.map_or(0, |c| c.findings.len());
        return Err(format!("{}{found} findings of the checks", ran.outcome));
    }
    let read = |name: &String| fs::read(out(name).value).map_err(|e| e.to_string());
    names.iter().map(read).collect()
}

/// Passes that decide how a program runs, each with what runs in its place. Layouts are drawn below.
const PASSES: [(&str, &str); 5] = [
    ("tile-pipeline", "tile-pipeline{slots=1}"),
    ("tile-specialize-warps", "tile-specialize-warps{roles=false}"),
    ("tile-choose-occupancy", ""),
    ("tile-vectorize-accesses", ""),
    ("tile-allocate-shared", "tile-allocate-shared{reuse=false}"),
];

/// A program computes the same before and after each pass alone.
#[test]
fn no_pass_changes_what_an_example_computes() {
    let examples = runs();
    let (wrong, changed) = (Mutex::new(vec![]), Mutex::new(vec![]));
    on_all_cores(examples.len() as u64, |n| {
        let example = &examples[n as usize];
        let code = |variant: &Variant| {
            let source = fs::read(&example.file).map_err(|e| e.to_string())?;
            let compiled = compile(&source, &example.file, &variant.options());
            compiled.map(|c| c.content).map_err(|f| f.to_string())
        };
        let (usual, usual_code) = (result(example, &Variant::usual(), false), code(&Variant::usual()));
        for (pass, other) in PASSES {
            let variant = Variant {
                instead: Some((pass, other)),
                ..Variant::usual()
            };
            let other_code = code(&variant);
            if other_code.is_ok() && other_code == usual_code {
                continue;
            }
            changed.lock().expect("no thread panics with it").push(pass);
            let without = result(example, &variant, false);
            let why = match (&usual, &without) {
                (Ok(with), Ok(without)) if with != without => "gives other bits".to_owned(),
                (Ok(_), Ok(_)) => continue,
                (Err(why), _) | (_, Err(why)) => why.clone(),
            };
            let said = format!("{}, `{other}` in place of {pass}: {why}", example.file);
            wrong.lock().expect("no thread panics with it").push(said);
        }
    });
    let wrong = wrong.into_inner().expect("no thread panics with it");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let changed = changed.into_inner().expect("no thread panics with it");
    for (pass, _) in PASSES {
        assert!(changed.contains(&pass), "{pass} changes no example");
    }
}

#[test]
fn examples_are_right_in_every_variant() {
    let examples = runs();
    assert!(examples.len() > 12, "found {} examples", examples.len());
    let usual = Variant::usual;
    let plain = Variant {
        without: vec!["tile-vectorize-accesses", "tile-choose-occupancy", "cse"],
        slots: Some(1),
        no_roles: true,
        opt_level: Some(1),
        ..usual()
    };
    let other_layouts = Variant {
        layouts: Some(1),
        ..usual()
    };
    let wrong = Mutex::new(vec![]);
    on_all_cores(examples.len() as u64, |n| {
        let example = &examples[n as usize];
        let note = |variant: &Variant, why: String| {
            let kernel = example.kernel.clone().unwrap_or_default();
            let said = format!("{} {kernel} ({variant}): {why}", example.file);
            wrong.lock().expect("no thread panics with it").push(said);
        };
        let bits = match result(example, &usual(), true) {
            Ok(bits) => bits,
            Err(why) => return note(&usual(), why),
        };
        match result(example, &plain, false) {
            Ok(other) if other != bits => note(&plain, "other bits than as compiled usually".to_owned()),
            Ok(_) => {}
            Err(why) => note(&plain, why),
        }
        if let Err(why) = result(example, &other_layouts, false) {
            note(&other_layouts, why);
        }
    });
    let wrong = wrong.into_inner().expect("no thread panics with it");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
