//! Errors of PTX text, with the line they are on.
use std::fmt;

/// A place in PTX text; both counts start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column in bytes.
    pub column: u32,
}

/// Something wrong with a PTX text. Its display shows the line and a caret under the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxError {
    /// Where.
    pub position: Position,
    /// Expected, found, remedy.
    pub message: String,
    /// The line itself, shortened around the column.
    pub excerpt: String,
    /// Column of the caret in the excerpt, from 0.
    caret: usize,
}

const EXCERPT_BYTES: usize = 160;

impl PtxError {
    /// An error at a byte offset of `text`.
    pub fn new(text: &str, at: usize, message: impl Into<String>) -> Self {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        let position = Position {
            line: before.matches('\n').count() as u32 + 1,
            column: (at - start) as u32 + 1,
        };
        let mut from = if at - start > EXCERPT_BYTES / 2 {
            at - EXCERPT_BYTES / 2
        } else {
            start
        };
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let mut to = end.min(from + EXCERPT_BYTES);
        while !text.is_char_boundary(to) {
            to -= 1;
        }
        let excerpt: String = text[from..to]
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let caret = text[from..at].chars().count();
        PtxError {
            position,
            message: message.into(),
            excerpt,
            caret,
        }
    }
}

impl fmt::Display for PtxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position;
        write!(
            f,
            "PTX {line}:{column}: {}\n  {}\n  {:caret$}^",
            self.message,
            self.excerpt,
            "",
            caret = self.caret
        )
    }
}

impl std::error::Error for PtxError {}
