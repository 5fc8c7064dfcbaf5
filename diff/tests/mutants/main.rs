//! What the simulator's checks are worth: right kernels are made wrong in every way that an operator knows, and each wrong
//! kernel must be reported, with the right kind and the right lines.
//!
//! | part | what it does |
//! |---|---|
//! | `kernel` | a right kernel and the facts that its text holds about itself |
//! | `kernels` | the kernels and what they should compute |
//! | `annotate` | facts for kernels that the compiler made |
//! | `edit` | changes of single lines |
//! | `operators` | which changes make which mistake |
//! | `mutant` | a wrong kernel and what must be said of it |
//! | `judge` | runs one, and holds what is said against what must be |
//!
//! `cargo test -p girih-diff --test mutants -- --nocapture` prints the table. `misses.txt` lists the mutants that are not
//! reported, each with the reason.
mod annotate;
mod edit;
mod judge;
mod kernel;
mod kernels;
mod mutant;
mod operators;

use judge::Verdict;
use mutant::{Class, Mutant};
use operators::{OPERATORS, mutants};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What of the checker's business must be reported, in percent.
const REPORTED: usize = 95;
/// How many mutants there are at least.
const MADE: usize = 200;

/// Mutants that are not reported, and why: `kernel: operator: site = reason`.
fn misses() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("misses.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split_once(" = ").expect("each miss has its reason"))
        .collect()
}

/// Runs all, side by side.
fn judge_all(all: &[(usize, Mutant)], kernels: &[kernels::Case]) -> Vec<Verdict> {
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some((case, mutant)) = all.get(i) else { return };
                    let verdict = judge::judge(&kernels[*case], mutant);
                    verdicts
                        .lock()
                        .expect("no judge panics with the lock")
                        .insert(i, verdict);
                }
            });
        }
    });
    verdicts
        .into_inner()
        .expect("all judges are done")
        .into_values()
        .collect()
}

#[test]
fn right_kernels_are_right_and_nothing_is_reported_of_them() {
    for case in kernels::cases() {
        let ran = judge::run(&case, &case.kernel.text);
        let after = ran
            .after
            .unwrap_or_else(|error| panic!("{}: {error}", case.kernel.name));
        case.check(&after);
        assert!(ran.findings.is_empty(), "{}: {:#?}", case.kernel.name, ran.findings);
    }
}

#[test]
fn wrong_kernels_are_reported() {
    let cases = kernels::cases();
    let all: Vec<(usize, Mutant)> = (0..)
        .zip(&cases)
        .flat_map(|(i, case)| mutants(&case.kernel).into_iter().map(move |mutant| (i, mutant)))
        .collect();
    let verdicts = judge_all(&all, &cases);
    let misses = misses();

    let mut table = String::from("operator                         made  reported  wrong result  missed\n");
    let mut faults = Vec::new();
    let (mut business, mut reported) = (0, 0);
    for operator in OPERATORS {
        let (mut made, mut named, mut wrong, mut missed) = (0, 0, 0, 0);
        for ((_, mutant), verdict) in all
            .iter()
            .zip(&verdicts)
            .filter(|((_, m), _)| m.operator == operator.name)
        {
            made += 1;
            let is_business = mutant.class != Class::Wrong;
            business += usize::from(is_business);
            match verdict {
                Verdict::Reported => named += 1,
                Verdict::WrongResult if !is_business => wrong += 1,
                Verdict::WrongResult | Verdict::Missed(_) => missed += 1,
            }
            reported += usize::from(is_business && *verdict == Verdict::Reported);
            let is_missed = match verdict {
                Verdict::Reported => false,
                Verdict::WrongResult => is_business,
                Verdict::Missed(_) => true,
            };
            match (is_missed, misses.get(mutant.id.as_str())) {
                (true, None) => faults.push(format!(
                    "missed: {}\n    expected {}\n    {verdict}",
                    mutant.id,
                    mutant.expectation()
                )),
                (false, Some(_)) => faults.push(format!("no longer missed, take it from misses.txt: {}", mutant.id)),
                _ => {}
            }
        }
        table += &format!(
            "{:<32} {made:>4}  {named:>8}  {wrong:>12}  {missed:>6}\n",
            operator.name
        );
    }
    for id in misses
        .keys()
        .filter(|id| !all.iter().any(|(_, mutant)| mutant.id == **id))
    {
        faults.push(format!("no such mutant, take it from misses.txt: {id}"));
    }
    println!(
        "{table}{} made, {business} of them a check's business, {reported} reported",
        all.len()
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(all.len() >= MADE, "only {} mutants", all.len());
    assert!(
        reported * 100 >= business * REPORTED,
        "{reported} of {business} reported"
    );
}

/// The mutant of that name, which must be reported as it should be.
fn must_be_reported(id: &str) {
    let name = id.split(':').next().unwrap_or_default();
    let cases = kernels::cases();
    let case = cases.iter().find(|case| case.kernel.name == name);
    let case = case.unwrap_or_else(|| panic!("no kernel {name}"));
    let mutant = mutants(&case.kernel).into_iter().find(|mutant| mutant.id == id);
    let mutant = mutant.unwrap_or_else(|| panic!("no mutant {id}"));
    let verdict = judge::judge(case, &mutant);
    assert!(
        verdict == Verdict::Reported,
        "{id}: expected {}; {verdict}",
        mutant.expectation()
    );
}

#[test]
fn a_removed_fence_is_reported() {
    must_be_reported("product: drop proxy fence: fence");
}

#[test]
fn a_removed_barrier_is_reported() {
    must_be_reported("transpose: drop barrier: full");
}

#[test]
fn an_unaligned_address_of_a_copy_is_reported() {
    must_be_reported("ring: misaligned address: copy");
}

#[test]
fn a_divergent_barrier_is_reported() {
    must_be_reported("transpose: divergent barrier: full");
}

#[test]
fn a_slot_that_is_freed_early_is_reported() {
    must_be_reported("ring: free slot early: arrive");
}

#[test]
fn an_accumulator_in_flight_that_is_touched_is_reported() {
    must_be_reported("product: write accumulator in flight: mma");
}
