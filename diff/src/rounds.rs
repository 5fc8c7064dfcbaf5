//! Many rounds of one kernel on two devices: other numbers in each round, and other sizes where the SPECs leave them open.
use crate::{
    Pair,
    compare::{self, Difference, Loaded, Tolerance},
    template::{Range, Sizes, Template, draw},
};
use clap::Args;
use girih_core::device::Device;
use girih_runtime::{Error, Program, Result, run::make_values};
use serde::Serialize;

/// What a user says about a comparison.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// The two devices: any of cuda, cuda:N and sim.
    #[arg(long, value_name = "DEVICE,DEVICE", default_value = "cuda,sim")]
    pub on: Pair,
    /// Kernel to run; may be left out when the file has one.
    #[arg(long)]
    pub kernel: Option<String>,
    /// Value of an argument; sizes may be names that --let declares.
    #[arg(long = "arg", value_name = "NAME=SPEC")]
    pub args: Vec<Template>,
    /// Sizes to draw for each round, both ends included.
    #[arg(long = "let", value_name = "M=LOW..HIGH[:STEP],...", value_delimiter = ',')]
    pub ranges: Vec<Range>,
    /// Rounds, each with its own random numbers and sizes.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// Seed of the first round; the next have the next.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Let floats differ by T + T |value|; every bit counts otherwise.
    #[arg(long, value_name = "T", value_parser = tolerance)]
    pub tol: Option<f64>,
}

/// What command lines that take [`Options`] say after them.
pub const HELP: &str = "\
SPEC:
  randn:bf16[512,256]   normal; also uniform, zeros, ones, iota, full(3.5), poison
  randn:bf16[M,K]       sizes drawn for each round: --let M=1..300,K=8..256:8
  file.npy, i32:42      an array in a file, a number

Exit codes: 0 the same, 1 different or an error, 2 usage.";

fn tolerance(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|t| *t >= 0.0 && t.is_finite());
    number.ok_or_else(|| format!("expected a number of 0 or more, found `{text}`"))
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Kernel.
    pub kernel: String,
    /// The devices in words.
    pub devices: [String; 2],
    /// Whether every round agreed.
    pub agrees: bool,
    /// Rounds that agreed.
    pub rounds: u64,
    /// Elements compared in them.
    pub elements: u64,
    /// The round that did not agree.
    pub difference: Option<Round>,
    /// In words, lines without a newline at the end.
    #[serde(skip)]
    pub text: String,
}

/// A round in which the devices differ.
#[derive(Clone, Debug, Serialize)]
pub struct Round {
    /// Seed of its random numbers.
    pub seed: u64,
    /// What the names of --let stood for.
    pub sizes: Sizes,
    /// The arguments that differ.
    pub arguments: Vec<Difference>,
    /// Options that run this round alone.
    pub again: Vec<String>,
}

/// Runs the rounds until one differs.
pub fn run(program: &Program, options: &Options, devices: &mut [Box<dyn Device>; 2]) -> Result<Outcome> {
    let kernel = program.kernel(options.kernel.as_deref().map(|name| name.trim_start_matches('@')))?;
    for (i, range) in options.ranges.iter().enumerate() {
        if !options.args.iter().any(|arg| arg.uses(&range.name)) {
            return Err(Error::Usage(format!("no --arg uses {} of --let", range.name)));
        }
        if options.ranges[..i].iter().any(|earlier| earlier.name == range.name) {
            return Err(Error::Usage(format!("--let gives {} twice", range.name)));
        }
    }
    let tolerance = options.tol.map_or(Tolerance::Bits, Tolerance::Within);
    let names = [devices[0].name(), devices[1].name()];
    let names = [names[0].as_str(), names[1].as_str()];
    let mut outcome = Outcome {
        kernel: kernel.name.clone(),
        devices: names.map(str::to_owned),
        agrees: true,
        rounds: 0,
        elements: 0,
        difference: None,
        text: String::new(),
    };
    let [first, second] = devices;
    let mut loaded = [
        Loaded::new(&mut **first, program)?,
        Loaded::new(&mut **second, program)?,
    ];
    for round in 0..options.seeds {
        let seed = options.seed.wrapping_add(round);
        let sizes = draw(&options.ranges, seed);
        let args = options.args.iter().map(|arg| arg.resolve(&sizes));
        let args = args.collect::<std::result::Result<Vec<_>, _>>().map_err(Error::Usage)?;
        let values = make_values(kernel, &args, seed)?;
        let mut after = Vec::new();
        for (device, name) in loaded.iter_mut().zip(names) {
            after.push(device.launch(kernel, &values).map_err(|error| match error {
                Error::Device(mut error) => {
                    error.message = format!("{}: {name}: {}", words(&kernel.name, seed, &sizes), error.message);
                    Error::Device(error)
                }
                other => other,
            })?);
        }
        let found = compare::differences(kernel, &after[0], &after[1], tolerance)?;
        if !found.is_empty() {
            let mut text = format!("DIFFERENT: {}", words(&kernel.name, seed, &sizes));
            for difference in &found {
                text.push('\n');
                text.push_str(&difference.words(names));
            }
            let given = options.args.iter().map(|arg| arg.fill(&sizes));
            let quoted: Vec<String> = given.clone().map(|arg| format!("--arg '{arg}'")).collect();
            text.push_str(&format!("\nagain: {} --seed {seed}", quoted.join(" ")));
            let mut again: Vec<String> = given.flat_map(|arg| ["--arg".to_owned(), arg]).collect();
            again.extend(["--seed".to_owned(), seed.to_string()]);
            outcome.difference = Some(Round {
                seed,
                sizes,
                arguments: found,
                again,
            });
            return Ok(Outcome {
                agrees: false,
                text,
                ..outcome
            });
        }
        outcome.rounds += 1;
        outcome.elements += values
            .iter()
            .map(|value| match value {
                girih_runtime::launch::HostValue::Array(array) => array.len(),
                girih_runtime::launch::HostValue::Scalar(_) => 0,
            })
            .sum::<u64>();
    }
    let how = match tolerance {
        Tolerance::Bits => "every bit".to_owned(),
        Tolerance::OneNan => "every bit of what is a number".to_owned(),
        Tolerance::Within(t) => format!("floats within {t}"),
    };
    outcome.text = format!(
        "same: {}: {} rounds on {} and {}, {} elements, {how}",
        kernel.name, options.seeds, names[0], names[1], outcome.elements
    );
    Ok(outcome)
}

fn words(kernel: &str, seed: u64, sizes: &Sizes) -> String {
    let sizes: String = sizes.iter().map(|(name, size)| format!(", {name} = {size}")).collect();
    format!("{kernel}, seed {seed}{sizes}")
}
