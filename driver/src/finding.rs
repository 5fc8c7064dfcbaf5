//! What the simulator's checks found, for people: each with the lines that take part in it, quoted from the program and from
//! its PTX.
//!
//! ```text
//! k.mlir:21:5: error: missing proxy fence: ...
//!   21 |     tile.tma.store %s, %to[%c0] : ...
//!      |     ^
//! k.mlir:21:5: note: first: reads 1024 bytes at shared address 0x400; block (0, 0, 0), thread (0, 0, 0)
//!   PTX 48 | cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r5}], [shared_memory];
//! k.mlir:18:3: note: conflicts with: writes 4 bytes at shared address 0x400; block (0, 0, 0), thread (7, 0, 0)
//!   18 |   memref.store %v, %s[%t] : ...
//!      |   ^
//!   PTX 40 | st.shared.b32 [%r4], %f1;
//! note: remedy: ...
//! ```
use crate::diagnostic::Sources;
use girih_ir::{Severity, module::Message};
use girih_sim::check::{Finding, Gravity, Kind, Place};
use std::fmt::Write;

/// Most characters of a PTX line that are shown.
const WIDTH: usize = 120;

/// The findings of a run and the PTX that they speak of.
#[derive(Clone, Debug)]
pub struct Checks {
    /// The gravest first.
    pub findings: Vec<Finding>,
    ptx: String,
    /// How the PTX is called where it is what the user gave.
    ptx_file: Option<String>,
}

impl Checks {
    /// Findings of a run of `ptx`; `ptx_file` is the file that holds it, if any does.
    pub fn new(mut findings: Vec<Finding>, ptx: &str, ptx_file: Option<&str>) -> Self {
        findings.sort_by_key(|finding| finding.gravity);
        Checks {
            findings,
            ptx: ptx.to_owned(),
            ptx_file: ptx_file.map(str::to_owned),
        }
    }

    /// All findings as text, each line ended by a newline.
    pub fn render(&self, sources: &Sources) -> String {
        let mut out = String::new();
        for finding in &self.findings {
            self.render_one(finding, sources, &mut out);
        }
        out
    }

    /// How many there are, in one line.
    pub fn summary(&self) -> String {
        let count = |gravity| self.findings.iter().filter(|found| found.gravity == gravity).count();
        let words = |count, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            _ => Some(format!("{count} {what}s")),
        };
        let parts = [
            words(count(Gravity::Error), "error"),
            words(count(Gravity::Warning), "warning"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => "checked memory, barriers and waits: no findings".to_owned(),
            false => format!("checked memory, barriers and waits: {}", parts.join(", ")),
        }
    }

    /// Whether a finding says what this message of the device says.
    pub fn says(&self, message: &str) -> bool {
        self.findings.iter().any(|finding| message.contains(&finding.message))
    }

    fn render_one(&self, finding: &Finding, sources: &Sources, out: &mut String) {
        let severity = match finding.gravity {
            Gravity::Error => Severity::Error,
            Gravity::Warning => Severity::Warning,
        };
        let times = match finding.times {
            0 | 1 => String::new(),
            times => format!(" ({times} times)"),
        };
        let head = self.message(
            severity,
            finding.places.first(),
            format!("{}: {}{times}", finding.kind, finding.message),
        );
        out.push_str(&sources.render(std::slice::from_ref(&head)));
        for (i, place) in finding.places.iter().enumerate() {
            let text = format!("{}{}{}", label(finding, i), place.what, threads(place));
            let note = self.message(Severity::Note, Some(place), text);
            // The head has quoted the line already where it is the same.
            match note.place == head.place {
                true => {
                    let _ = writeln!(out, "{note}");
                }
                false => out.push_str(&sources.render(&[note])),
            }
            self.quote_ptx(place, out);
        }
        if !finding.remedy.is_empty() {
            let _ = writeln!(out, "note: remedy: {}", finding.remedy);
        }
    }

    fn message(&self, severity: Severity, place: Option<&Place>, text: String) -> Message {
        Message {
            severity,
            place: place.and_then(|place| self.location(place)),
            text,
            notes: Vec::new(),
        }
    }

    /// Where a place is in what the user gave: by the PTX's line information, or in the PTX itself.
    fn location(&self, place: &Place) -> Option<(String, u32, u32)> {
        match (&place.source, &self.ptx_file) {
            (Some(source), _) => Some((source.file.clone(), source.line, source.column.max(1))),
            (None, Some(file)) => {
                let line = self.ptx_line(place)?;
                let indent = line.len() - line.trim_start().len();
                Some((file.clone(), place.ptx_line, indent as u32 + 1))
            }
            (None, None) => None,
        }
    }

    fn ptx_line(&self, place: &Place) -> Option<&str> {
        self.ptx.lines().nth((place.ptx_line as usize).checked_sub(1)?)
    }

    /// The PTX line, unless it is the line that has been quoted as the program's.
    fn quote_ptx(&self, place: &Place, out: &mut String) {
        if place.source.is_none() && self.ptx_file.is_some() {
            return;
        }
        let Some(line) = self.ptx_line(place) else { return };
        let mut shown: String = line
            .trim()
            .chars()
            .take(WIDTH)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if line.trim().chars().count() > WIDTH {
            shown.push_str("...");
        }
        let _ = writeln!(out, "  PTX {} | {shown}", place.ptx_line);
    }
}

/// What a place is in its finding, where there are several.
fn label(finding: &Finding, index: usize) -> &'static str {
    let waits = matches!(
        finding.kind,
        Kind::Deadlock | Kind::BarrierDivergence | Kind::TransactionCount
    );
    match (finding.places.len(), index, waits) {
        (1, ..) => "",
        (_, 0, _) => "first: ",
        (_, _, true) => "and: ",
        _ => "conflicts with: ",
    }
}

/// Block and thread in words.
fn threads(place: &Place) -> String {
    let words = |what: &str, at: Option<[u32; 3]>| at.map(|[x, y, z]| format!("{what} ({x}, {y}, {z})"));
    let parts: Vec<String> = [words("block", place.block), words("thread", place.thread)]
        .into_iter()
        .flatten()
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("; {}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use girih_sim::check::SourcePlace;
    use pretty_assertions::assert_eq;

    const PTX: &str = ".version 8.0\n\tst.shared.u32 [%r1], %r2;\n\tld.shared.u32 %r3, [%r4];\n";

    fn place(what: &str, ptx_line: u32, source: Option<(u32, u32)>) -> Place {
        Place {
            what: what.into(),
            ptx_line,
            source: source.map(|(line, column)| SourcePlace {
                file: "a.mlir".into(),
                line,
                column,
            }),
            block: Some([1, 0, 0]),
            thread: Some([7, 0, 0]),
        }
    }

    fn race(sources: [Option<(u32, u32)>; 2]) -> Finding {
        Finding {
            gravity: Gravity::Error,
            kind: Kind::Race,
            message: "nothing orders them".into(),
            remedy: "a barrier between lines 2 and 3".into(),
            places: vec![
                place("reads 4 bytes", 3, sources[0]),
                place("writes 4 bytes", 2, sources[1]),
            ],
            times: 12,
        }
    }

    #[test]
    fn both_lines_are_quoted_from_the_program_and_from_its_ptx() {
        let checks = Checks::new(vec![race([Some((2, 3)), Some((1, 0))])], PTX, None);
        let sources = Sources::of("a.mlir", b"store\n  load\n");
        assert_eq!(
            checks.render(&sources),
            "a.mlir:2:3: error: race: nothing orders them (12 times)\n  2 |   load\n    |   ^\n\
             a.mlir:2:3: note: first: reads 4 bytes; block (1, 0, 0), thread (7, 0, 0)\n  \
             PTX 3 | ld.shared.u32 %r3, [%r4];\n\
             a.mlir:1:1: note: conflicts with: writes 4 bytes; block (1, 0, 0), thread (7, 0, 0)\n  \
             1 | store\n    | ^\n  PTX 2 | st.shared.u32 [%r1], %r2;\n\
             note: remedy: a barrier between lines 2 and 3\n"
        );
    }

    #[test]
    fn ptx_without_line_information_is_the_program() {
        let checks = Checks::new(vec![race([None, None])], PTX, Some("a.ptx"));
        let text = checks.render(&Sources::of("a.ptx", PTX.as_bytes()));
        assert!(
            text.starts_with(
                "a.ptx:3:2: error: race: nothing orders them (12 times)\n  3 |  ld.shared.u32 %r3, [%r4];\n    |  ^\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("a.ptx:2:2: note: conflicts with: writes") && !text.contains("PTX 2"),
            "{text}"
        );
    }

    #[test]
    fn the_gravest_come_first_and_are_counted() {
        let warning = Finding {
            gravity: Gravity::Warning,
            ..race([None, None])
        };
        let checks = Checks::new(vec![warning.clone(), race([None, None]), warning], PTX, None);
        assert_eq!(checks.findings[0].gravity, Gravity::Error);
        assert_eq!(
            checks.summary(),
            "checked memory, barriers and waits: 1 error, 2 warnings"
        );
        let clean = Checks::new(Vec::new(), PTX, None);
        assert_eq!(clean.summary(), "checked memory, barriers and waits: no findings");
        assert_eq!(clean.render(&Sources::default()), "");
    }
}
