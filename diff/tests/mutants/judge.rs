//! Runs a kernel under the checks, and says whether what they found is what had to be found.
use crate::{
    kernels::Case,
    mutant::{Class, Mutant},
};
use girih_diff::compare::Loaded;
use girih_runtime::{Program, launch::HostValue};
use girih_sim::{Simulator, check::Finding};
use std::fmt;

/// Warp instructions of a launch: a hundred times what the longest right kernel takes.
const LIMIT: u64 = 3_000_000;

/// What came of a run.
pub struct Ran {
    pub after: Result<Vec<HostValue>, String>,
    pub findings: Vec<Finding>,
}

/// Runs `text` in place of the case's own kernel, checked.
pub fn run(case: &Case, text: &str) -> Ran {
    let mut simulator = Simulator::new();
    simulator.set_checks(true);
    simulator.set_instruction_limit(LIMIT);
    let program = Program::new(text.to_owned(), case.manifest.clone()).map_err(|error| error.to_string());
    let after = program.and_then(|program| {
        let kernel = program.kernel(Some(&case.entry)).map_err(|error| error.to_string())?;
        let mut loaded = Loaded::new(&mut simulator, &program).map_err(|error| error.to_string())?;
        loaded.launch(kernel, &case.values).map_err(|error| error.to_string())
    });
    Ran {
        after,
        findings: simulator.take_findings(),
    }
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A finding of the right kind names the right lines; of a wrong computation, any finding.
    Reported,
    /// No such finding, but the results differ from those of the right kernel.
    WrongResult,
    /// Neither; what was said instead.
    Missed(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Reported => f.write_str("reported"),
            Verdict::WrongResult => f.write_str("only the result is wrong"),
            Verdict::Missed(said) => f.write_str(said),
        }
    }
}

/// Runs a mutant and judges what is said of it.
pub fn judge(case: &Case, mutant: &Mutant) -> Verdict {
    let ran = run(case, &mutant.text);
    // What does not assemble is no mutant.
    if let Err(error) = &ran.after
        && error.contains("INVALID_PTX")
    {
        return Verdict::Missed(error.clone());
    }
    let is_reported = match &mutant.class {
        Class::Wrong => !ran.findings.is_empty() || ran.after.is_err(),
        Class::Reported(..) => ran.findings.iter().any(|finding| mutant.is_named_by(finding)),
    };
    let is_wrong = matches!(&ran.after, Ok(after) if !case.is_right(after));
    match (is_reported, is_wrong && mutant.class == Class::Wrong) {
        (true, _) => Verdict::Reported,
        (_, true) => Verdict::WrongResult,
        _ => Verdict::Missed(words(&ran, is_wrong)),
    }
}

fn words(ran: &Ran, is_wrong: bool) -> String {
    let mut said: Vec<String> = ran
        .findings
        .iter()
        .map(|finding| {
            let lines: Vec<u32> = finding.places.iter().map(|place| place.ptx_line).collect();
            format!("{} at {lines:?}: {}", finding.kind, finding.message)
        })
        .collect();
    match &ran.after {
        Err(error) => said.push(format!("error: {}", error.replace('\n', " "))),
        Ok(_) if is_wrong => said.push("the result is wrong".to_owned()),
        Ok(_) => said.push("the result is right".to_owned()),
    }
    format!("found {}", said.join("; "))
}
