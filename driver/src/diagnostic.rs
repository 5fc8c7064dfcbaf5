//! Messages for people, with the source line and a caret below the first line that editors and FileCheck know, and for
//! machines as JSON.
//!
//! ```text
//! gemm.mlir:7:10: error: 'tile.wgmma' op expected n to be a multiple of 8, found 12; use 8 or 16
//!   7 |     %d = tile.wgmma %a, %b, %c : ...
//!     |          ^
//! gemm.mlir:3:5: note: the accumulator is made here
//! ```
use girih_ir::{Severity, module::Message};
use serde_json::{Value, json};
use std::fmt::Write;

/// Most characters of a source line that are shown.
const WIDTH: usize = 120;

/// The texts that messages can quote from.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<(String, String)>);

impl Sources {
    /// One file, by the name that locations give it. What is not UTF-8 is not quoted.
    pub fn of(name: &str, content: &[u8]) -> Self {
        let text = std::str::from_utf8(content).unwrap_or_default();
        Sources(vec![(name.to_owned(), text.to_owned())])
    }

    /// All messages as text, each ended by a newline. What is said twice is shown once.
    pub fn render(&self, messages: &[Message]) -> String {
        let mut out = String::new();
        for (i, message) in messages.iter().enumerate() {
            if !messages[..i].contains(message) {
                self.render_one(message, &mut out);
            }
        }
        out
    }

    fn render_one(&self, message: &Message, out: &mut String) {
        let head = Message {
            notes: Vec::new(),
            ..message.clone()
        };
        let _ = writeln!(out, "{head}");
        if let Some((file, line, column)) = &message.place {
            self.quote(file, *line, *column, out);
        }
        for note in &message.notes {
            self.render_one(note, out);
        }
    }

    /// A line of a file, from 1.
    pub fn line(&self, file: &str, line: u32) -> Option<&str> {
        let (_, text) = self.0.iter().find(|(name, _)| name == file)?;
        text.lines().nth((line as usize).checked_sub(1)?)
    }

    fn quote(&self, file: &str, line: u32, column: u32, out: &mut String) {
        let Some(text) = self.line(file, line) else { return };
        // MLIR's columns count bytes from 1; a column may lie one past the end.
        let before = text
            .char_indices()
            .take_while(|(at, _)| at + 1 < column as usize)
            .count();
        let mut shown: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut caret = before.min(shown.len());
        if shown.len() > WIDTH {
            let start = caret.saturating_sub(WIDTH / 2).min(shown.len() - WIDTH);
            let cut_end = start + WIDTH < shown.len();
            shown = shown[start..start + WIDTH].to_vec();
            caret -= start;
            if start > 0 {
                shown[..3].fill('.');
            }
            if cut_end {
                shown[WIDTH - 3..].fill('.');
            }
        }
        let shown: String = shown.into_iter().collect();
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let _ = writeln!(out, "  {number} | {}", shown.trim_end());
        let _ = writeln!(out, "  {margin} | {}^", " ".repeat(caret));
    }
}

/// One message as JSON: `severity`, `message`, and where known `file`, `line`, `column` and `notes`.
pub fn to_json(message: &Message) -> Value {
    let severity = match message.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
        Severity::Remark => "remark",
    };
    let mut value = json!({"severity": severity, "message": message.text});
    if let Some((file, line, column)) = &message.place {
        value["file"] = json!(file);
        value["line"] = json!(line);
        value["column"] = json!(column);
    }
    if !message.notes.is_empty() {
        value["notes"] = message.notes.iter().map(to_json).collect();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn message(line: u32, column: u32) -> Message {
        Message {
            severity: Severity::Error,
            place: Some(("a.mlir".into(), line, column)),
            text: "no".into(),
            notes: Vec::new(),
        }
    }

    fn render(text: &str, message: Message) -> String {
        Sources::of("a.mlir", text.as_bytes()).render(&[message])
    }

    #[test]
    fn the_caret_stands_below_its_column() {
        assert_eq!(
            render("first\n\tab cd\n", message(2, 5)),
            "a.mlir:2:5: error: no\n  2 |  ab cd\n    |     ^\n"
        );
        // Columns count bytes, carets characters.
        assert_eq!(
            render("äb", message(1, 3)),
            "a.mlir:1:3: error: no\n  1 | äb\n    |  ^\n"
        );
    }

    #[test]
    fn places_outside_the_text_are_only_named() {
        assert_eq!(render("x\n", message(9, 1)), "a.mlir:9:1: error: no\n");
        // Bytecode and whole files have no line.
        assert_eq!(render("x\n", message(0, 0)), "a.mlir: error: no\n");
        assert_eq!(
            render("x", message(1, 99)),
            "a.mlir:1:99: error: no\n  1 | x\n    |  ^\n"
        );
        assert_eq!(render("\n", message(1, 1)), "a.mlir:1:1: error: no\n  1 | \n    | ^\n");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let shown = render(&text, message(1, 501));
        let lines: Vec<_> = shown.lines().collect();
        let column = lines[2].find('^').unwrap();
        assert_eq!(&lines[1][column..column + 1], "X");
        assert!(lines[1].len() < 130, "{}", lines[1]);
    }

    #[test]
    fn what_is_said_twice_is_shown_once() {
        let sources = Sources::of("a.mlir", b"");
        assert_eq!(sources.render(&[message(9, 9), message(9, 9)]).lines().count(), 1);
    }

    #[test]
    fn machines_get_every_field() {
        let mut said = message(2, 5);
        said.notes.push(Message {
            severity: Severity::Note,
            place: None,
            text: "because".into(),
            notes: Vec::new(),
        });
        assert_eq!(
            to_json(&said),
            json!({"severity": "error", "message": "no", "file": "a.mlir", "line": 2, "column": 5,
                   "notes": [{"severity": "note", "message": "because"}]})
        );
    }
}
