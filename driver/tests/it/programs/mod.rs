//! Programs of whole tiles, drawn: each is compiled in a variant that must not show, run on the simulator, and held, every
//! byte of every argument, against an interpreter that knows nothing of threads.
//!
//! | module | what it does |
//! |---|---|
//! | [`program`] | what a program is |
//! | [`draw`] | the program of a seed |
//! | [`text`] | a program as MLIR |
//! | [`number`], [`interpret`], [`pure`], [`atomics`] | what a program does |
//! | [`variant`] | ways to compile it |
//! | [`shrink`] | a small program that fails as a large one does |
//! | [`report`] | a failing program, and cases for a GPU, as files |
//!
//! `GIRIH_PROGRAMS=5000 GIRIH_PROGRAMS_SEED=7 cargo test -p girih --test it programs` draws others, and
//! `GIRIH_PROGRAMS_WRITE=DIR` writes them for `girih-diff-suite --programs DIR`, which needs no compiler.
mod atomics;
mod draw;
mod interpret;
mod number;
mod program;
mod pure;
mod report;
mod shrink;
mod text;
pub mod variant;

use draw::draw;
use girih::compile::compile;
use girih_codegen::ptxas::Ptxas;
use girih_core::{dtype::DType, target::Target};
use girih_diff::{
    compare::{Tolerance, differences},
    programs::Case,
};
use girih_runtime::{
    Program as Compiled,
    array::Array,
    launch::{HostValue, Session},
    spec::Scalar,
};
use girih_sim::Simulator;
use program::Program;
use std::{
    io::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};
use variant::Variant;

/// Programs that a plain run draws.
const USUAL: u64 = 500;
/// Of so many programs one is run with the simulator's checks on, and of so many one is given to ptxas.
const CHECKED: u64 = 8;
const ASSEMBLED: u64 = 16;
/// How many ptxas took: none where there is no ptxas.
static PROGRAMS_ASSEMBLED: AtomicU64 = AtomicU64::new(0);
/// Warp instructions after which a launch is taken to hang.
const INSTRUCTION_LIMIT: u64 = 20_000_000;
/// Failing programs that are made small; the others are only counted.
const SHRUNK: usize = 5;

/// How a program fails.
#[derive(Clone, Debug)]
pub struct Failure {
    /// In a word or two; the same for failures that have one cause.
    pub kind: String,
    pub text: String,
}

impl Failure {
    fn new(kind: &str, text: impl Into<String>) -> Self {
        let text = text.into();
        Failure {
            kind: kind.to_owned(),
            text,
        }
    }
    /// A refusal, told from others by its words without values.
    fn refused(text: String) -> Self {
        let message = text.split("error: ").nth(1).unwrap_or(&text);
        let words = message
            .split(' ')
            .filter(|w| w.chars().all(|c| c.is_ascii_lowercase()))
            .take(8);
        let kind = format!("refused: {}", words.collect::<Vec<_>>().join(" "));
        Failure { kind, text }
    }
}

/// What of a program is looked at besides its results.
#[derive(Clone, Copy, Debug, Default)]
pub struct Looks {
    pub checks: bool,
    pub assembles: bool,
}

/// The arguments of a program before and after its launch.
pub fn values(program: &Program, arrays: Vec<Array>) -> Vec<HostValue> {
    let scalars = program.scalars.iter().map(|n| {
        HostValue::Scalar(Scalar {
            dtype: DType::I64,
            bits: *n as u64,
        })
    });
    arrays.into_iter().map(HostValue::Array).chain(scalars).collect()
}

/// Compiles a program.
pub fn compiled(program: &Program, variant: &Variant) -> Result<Compiled, Failure> {
    let source = text::text(program);
    let done = catch_unwind(AssertUnwindSafe(|| {
        compile(source.as_bytes(), "program.mlir", &variant.options())
    }));
    let done = done.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let said = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Failure::new("panicked", said.unwrap_or_else(|| "the compiler panicked".to_owned()))
    })?;
    let done = done.map_err(|failure| {
        let said: Vec<_> = failure.messages.iter().map(ToString::to_string).collect();
        Failure::refused(said.join("\n"))
    })?;
    let ptx = String::from_utf8(done.content).map_err(|e| Failure::new("no text", e.to_string()))?;
    let manifest = done.manifest.ok_or_else(|| Failure::new("no manifest", ""))?;
    Compiled::new(ptx, manifest).map_err(|e| Failure::new("manifest", e.to_string()))
}

/// Compiles and runs a program, and holds its arguments against those of the interpreter.
pub fn holds(program: &Program, variant: &Variant, looks: Looks) -> Result<(), Failure> {
    let expected = interpret::interpret(program).map_err(|e| Failure::new("invalid", e.0))?;
    let compiled = compiled(program, variant)?;
    if looks.assembles
        && let Ok(ptxas) = Ptxas::find(None)
    {
        ptxas
            .assemble(compiled.ptx(), program.target)
            .map_err(|e| Failure::new("ptxas", e.to_string()))?;
        PROGRAMS_ASSEMBLED.fetch_add(1, Ordering::Relaxed);
    }
    let fault = |e: girih_runtime::Error| Failure::new("fault", e.to_string());
    let mut device = Simulator::new();
    if program.target == draw::LATER {
        device.set_target(Target::parse(program.target).map_err(|e| Failure::new("no target", e.to_string()))?);
    }
    device.set_instruction_limit(INSTRUCTION_LIMIT);
    device.set_checks(looks.checks);
    let kernel = compiled.kernel(None).map_err(fault)?;
    let before = values(program, interpret::arrays(program));
    let mut after = before.clone();
    {
        let mut session = Session::new(&mut device, &compiled, kernel, &before).map_err(fault)?;
        session.run().map_err(fault)?;
        for (i, value) in after.iter_mut().enumerate() {
            if let HostValue::Array(array) = value {
                session.read(i, array).map_err(fault)?;
            }
        }
    }
    let expected = values(program, expected);
    let differ = differences(kernel, &after, &expected, Tolerance::OneNan).map_err(fault)?;
    if !differ.is_empty() {
        let said: Vec<_> = differ.iter().map(|d| d.words(["the simulator", "paper"])).collect();
        return Err(Failure::new("wrong", said.join("\n")));
    }
    match &device.take_findings()[..] {
        [] => Ok(()),
        [first, ..] => Err(Failure::new("finding", format!("{first:?}"))),
    }
}

/// The seed, variant and looks of the `n`th program.
fn case(first: u64, n: u64) -> (Program, Variant, Looks) {
    let seed = first.wrapping_add(n);
    let looks = Looks {
        checks: n.is_multiple_of(CHECKED),
        assembles: n % ASSEMBLED == 1,
    };
    (draw(seed), Variant::draw(seed), looks)
}

/// A number from the environment, where it is set there.
fn setting(name: &str, otherwise: u64) -> u64 {
    let Some(given) = std::env::var_os(name) else {
        return otherwise;
    };
    let number = given.to_str().and_then(|n| n.parse().ok());
    number.unwrap_or_else(|| panic!("{name}={}: expected a number such as {otherwise}", given.display()))
}

/// Calls `f` with the numbers below `count`, on all cores.
pub fn on_all_cores(count: u64, f: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    f(n);
                }
            });
        }
    });
}

#[test]
fn random_whole_tile_programs() {
    let (count, first) = (setting("GIRIH_PROGRAMS", USUAL), setting("GIRIH_PROGRAMS_SEED", 0));
    let write = std::env::var_os("GIRIH_PROGRAMS_WRITE");
    let shows = std::env::var_os("GIRIH_PROGRAMS_SHOW").is_some();
    let failed: Mutex<Vec<(u64, Failure)>> = Mutex::default();
    on_all_cores(count, |n| {
        let (program, variant, looks) = case(first, n);
        if shows {
            eprintln!("{}: {variant}\n{}", program.seed, text::text(&program));
        }
        let found = match &write {
            Some(dir) => written(&program, &variant, std::path::Path::new(dir)),
            None => holds(&program, &variant, looks),
        };
        if let Err(failure) = found {
            failed.lock().expect("no thread panics with it").push((n, failure));
        }
    });
    let mut failed = failed.into_inner().expect("no thread panics with it");
    failed.sort_by_key(|(n, _)| *n);
    // Past the harness, which keeps from the terminal what a test that passes prints.
    let assembled = PROGRAMS_ASSEMBLED.load(Ordering::Relaxed);
    let _ = writeln!(
        std::io::stderr(),
        "{count} programs, of which ptxas assembled {assembled}"
    );
    if failed.is_empty() {
        return;
    }
    let mut kinds: Vec<&str> = failed.iter().map(|(_, f)| f.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let counts = kinds.iter().map(|k| {
        let with: Vec<u64> = failed
            .iter()
            .filter(|(_, f)| f.kind == *k)
            .map(|(n, _)| first + n)
            .collect();
        format!("{:6} {k}: seeds {:?}", with.len(), &with[..with.len().min(12)])
    });
    let counts: Vec<_> = counts.collect();
    eprintln!("{} of {count} programs fail\n{}", failed.len(), counts.join("\n"));
    for kind in kinds.into_iter().take(SHRUNK) {
        if let Some((n, failure)) = failed.iter().find(|(_, f)| f.kind == kind) {
            let (program, variant, looks) = case(first, *n);
            eprintln!("\n{}", report::small(&program, &variant, looks, failure));
        }
    }
    panic!("{} of {count} programs fail", failed.len());
}

/// Writes a program and what it does for a machine without a compiler.
fn written(program: &Program, variant: &Variant, dir: &std::path::Path) -> Result<(), Failure> {
    // Of a target with an `a` no other device takes it, and those that run programs are of sm_90a.
    if program.target == draw::LATER {
        return Ok(());
    }
    let expected = interpret::interpret(program).map_err(|e| Failure::new("invalid", e.0))?;
    let case = Case {
        program: compiled(program, variant)?,
        before: values(program, interpret::arrays(program)),
        after: values(program, expected),
    };
    case.write(dir, &format!("program-{:06}", program.seed))
        .map_err(|e| Failure::new("not written", e.to_string()))
}
