//! What a run says: a heading for each stage, and a tally that ends in `N passed, N failed`.
use std::time::{Duration, Instant};

/// Outcomes of checks, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Checks that held.
    pub passed: usize,
    /// Checks that did not.
    pub failed: usize,
    /// Checks that could not be made here.
    pub skipped: usize,
}

impl Tally {
    /// One check.
    pub fn one(ok: bool) -> Self {
        Tally {
            passed: ok.into(),
            failed: (!ok).into(),
            skipped: 0,
        }
    }

    /// Sums another tally into this one.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

/// Seconds for people: `0.3 s`, `2 min 05 s`.
pub fn seconds(duration: Duration) -> String {
    let s = duration.as_secs_f64();
    if s < 60.0 {
        format!("{s:.1} s")
    } else {
        format!("{} min {:02} s", s as u64 / 60, s as u64 % 60)
    }
}

/// A heading on a line of its own.
pub fn heading(text: &str) {
    println!("\n==> {text}");
}

/// Stages of a run, each with its tally and time.
#[derive(Default)]
pub struct Report {
    stages: Vec<(String, Tally, Duration)>,
}

impl Report {
    /// Runs one stage. An error counts as one failed check and is printed.
    pub fn stage(&mut self, name: &str, what: &str, body: impl FnOnce() -> anyhow::Result<Tally>) -> Tally {
        heading(&format!("{name}: {what}"));
        let start = Instant::now();
        let tally = body().unwrap_or_else(|error| {
            println!("error: {error:#}");
            Tally::one(false)
        });
        self.stages.push((name.to_owned(), tally, start.elapsed()));
        tally
    }

    /// Prints the table and the closing line; true if nothing failed and something was checked.
    pub fn finish(&self) -> bool {
        heading("summary");
        let mut total = Tally::default();
        for (name, tally, time) in &self.stages {
            total.add(*tally);
            println!("{name:<12} {:>12}   {tally}", seconds(*time));
        }
        println!("{total}");
        total.failed == 0 && total.passed > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_names_skips_only_where_there_are_some() {
        assert_eq!(
            Tally {
                passed: 3,
                failed: 1,
                skipped: 0
            }
            .to_string(),
            "3 passed, 1 failed"
        );
        assert_eq!(
            Tally {
                passed: 3,
                failed: 0,
                skipped: 2
            }
            .to_string(),
            "3 passed, 0 failed, 2 skipped"
        );
    }

    #[test]
    fn an_error_in_a_stage_is_a_failed_check() {
        let mut report = Report::default();
        report.stage("a", "holds", || Ok(Tally::one(true)));
        assert!(report.finish());
        report.stage("b", "breaks", || anyhow::bail!("no"));
        assert!(!report.finish());
    }

    #[test]
    fn a_run_without_any_check_does_not_pass() {
        assert!(!Report::default().finish());
    }

    #[test]
    fn long_times_are_in_minutes() {
        assert_eq!(seconds(Duration::from_millis(340)), "0.3 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 05 s");
    }
}
