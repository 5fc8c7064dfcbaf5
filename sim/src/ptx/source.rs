//! Lines of the program that a PTX text was made from, by line of the PTX (PTX ISA, "Debugging Directives").
//!
//! `.file 1 "a.mlir"` numbers a file, anywhere in the text; `.loc 1 20 3` says that the instructions from here to the next
//! `.loc`, or to the end of the function, came from line 20, column 3 of file 1. Line 0 says that they came from no line.
//! `.loc 1 20 3, function_name $L__info_string0, inlined_at 1 40 7` adds where the function was inlined, whose own inlining
//! is that of the `.loc` before with the same position.
use super::{Item, Module, Statement};
use crate::check::SourcePlace;
use std::collections::BTreeMap;

/// Operands of `.file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// By which `.loc` names it.
    pub number: u32,
    /// With its directory, where the directive gives one.
    pub name: String,
}

/// A file's number, a line and a column.
pub type Mark = (u32, u32, u32);

/// Operands of `.loc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Byte offset in the text.
    pub at: usize,
    /// Where the next instructions come from.
    pub mark: Mark,
    /// `inlined_at`
    pub inlined_at: Option<Mark>,
}

impl File {
    /// `.file number "name"`, or `.file number "directory" "name"`; strings as they are written, without their quotes.
    pub(super) fn new(number: u32, first: &str, second: Option<&str>) -> File {
        let first = unescape(first);
        let name = match second.map(unescape) {
            None => first,
            Some(name) if name.starts_with('/') || first.is_empty() => name,
            Some(name) => format!("{}/{name}", first.trim_end_matches('/')),
        };
        File { number, name }
    }
}

impl Location {
    /// `.loc file line` with the rest of its line.
    pub(super) fn new(at: usize, file: u32, line: u32, rest: &str) -> Location {
        let rest = rest.split("//").next().unwrap_or_default();
        let mut words = rest.split([' ', '\t', '\r', ',']).filter(|w| !w.is_empty());
        let column = words.next().and_then(|w| w.parse().ok()).unwrap_or(0);
        let inlined_at = words.find(|w| *w == "inlined_at").and_then(|_| {
            let mut number = || words.next()?.parse().ok();
            Some((number()?, number()?, number()?))
        });
        Location {
            at,
            mark: (file, line, column),
            inlined_at,
        }
    }
}

/// Backslash escapes of a quoted name: `\\`, `\"`, and bytes as three octal digits.
fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes
            .get(at + 1..at + 4)
            .filter(|d| d.iter().all(|d| (b'0'..=b'7').contains(d)));
        match (bytes[at], octal, bytes.get(at + 1)) {
            (b'\\', Some(digits), _) => {
                let value = digits.iter().fold(0u32, |v, d| v * 8 + u32::from(d - b'0'));
                out.push(value as u8);
                at += 4;
            }
            (b'\\', None, Some(byte)) => {
                out.push(*byte);
                at += 2;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The line table of a PTX text.
#[derive(Clone, Debug, Default)]
pub struct SourceLines {
    files: BTreeMap<u32, String>,
    /// From a line of the PTX on: the position, then where it was inlined, innermost first; nothing where none is known.
    marks: Vec<(u32, Vec<Mark>)>,
}

impl SourceLines {
    /// The table of a text and its tree.
    pub fn new(text: &str, module: &Module<'_>) -> SourceLines {
        let mut table = SourceLines::default();
        let lines = crate::decode::Lines::new(text);
        for item in &module.items {
            match item {
                Item::File(file) => table.add_file(file),
                Item::Function(function) => {
                    // A function without `.loc` is not the continuation of the one before.
                    table.marks.push((lines.line(function.at), Vec::new()));
                    let mut inlined: BTreeMap<Mark, Vec<Mark>> = BTreeMap::new();
                    crate::decode::walk(
                        function.body.as_deref().unwrap_or_default(),
                        &mut |statement| match statement {
                            Statement::File(file) => table.add_file(file),
                            Statement::Location(location) => {
                                let mut chain = vec![location.mark];
                                if let Some(at) = location.inlined_at {
                                    match inlined.get(&at) {
                                        Some(outer) => chain.extend(outer),
                                        None => chain.push(at),
                                    }
                                }
                                inlined.insert(location.mark, chain.clone());
                                table.marks.push((lines.line(location.at), chain));
                            }
                            _ => {}
                        },
                    );
                }
                _ => {}
            }
        }
        table
    }

    /// A line of the PTX in words: `line 12`, or `line 12 (a.mlir:5:3)` where it is known what it came from.
    pub fn line(&self, ptx_line: u32) -> String {
        match self.place(ptx_line) {
            Some(place) => format!("line {ptx_line} ({place})"),
            None => format!("line {ptx_line}"),
        }
    }

    fn add_file(&mut self, file: &File) {
        self.files.insert(file.number, file.name.clone());
    }

    /// Where the instructions of a line of the PTX (from 1) came from; nothing where the text does not say.
    pub fn place(&self, ptx_line: u32) -> Option<SourcePlace> {
        self.places(ptx_line).next()
    }

    /// The same, then the calls that were inlined on the way, innermost first.
    pub fn places(&self, ptx_line: u32) -> impl Iterator<Item = SourcePlace> + '_ {
        let after = self.marks.partition_point(|(line, _)| *line <= ptx_line);
        let marks = after.checked_sub(1).map_or(&[][..], |i| &self.marks[i].1);
        let known = marks.iter().take_while(|(_, line, _)| *line > 0);
        known.filter_map(|(file, line, column)| {
            Some(SourcePlace {
                file: self.files.get(file)?.clone(),
                line: *line,
                column: *column,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const TEXT: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n\
        .visible .entry f() {\n.loc 1 20 3\nret;\n\
        .loc\t2 7 0 // b.cu:7:0\nret;\n\
        .loc 1 0 9\nret;\n\
        .loc 1 30 5, function_name $L__info_string0, inlined_at 2 7 0\nret;\n\
        .loc 1 31 6, function_name $L__info_string0+4, inlined_at 1 30 5\nret; }\n\
        .visible .entry g() {\nret; }\n\
        .file 1 \"a.mlir\"\n.file\t2 \"/src\" \"b \\\"\\303\\251.cu\"\n";

    fn shown(table: &SourceLines, line: u32) -> Vec<String> {
        table.places(line).map(|p| p.to_string()).collect()
    }

    #[test]
    fn a_location_holds_until_the_next() {
        let tree = parse(TEXT).unwrap_or_else(|e| panic!("{e}"));
        let table = SourceLines::new(TEXT, &tree);
        let none: [&str; 0] = [];
        assert_eq!(shown(&table, 4), none);
        assert_eq!(shown(&table, 6), ["a.mlir:20:3"]);
        assert_eq!(shown(&table, 8), ["/src/b \"é.cu:7"]);
        assert_eq!(shown(&table, 10), none, "line 0 is no line");
        assert_eq!(shown(&table, 16), none, "the next function");
        assert_eq!(table.place(6).map(|p| p.line), Some(20));
    }

    #[test]
    fn inlined_lines_name_their_calls() {
        let tree = parse(TEXT).unwrap_or_else(|e| panic!("{e}"));
        let table = SourceLines::new(TEXT, &tree);
        assert_eq!(shown(&table, 12), ["a.mlir:30:5", "/src/b \"é.cu:7"]);
        assert_eq!(shown(&table, 14), ["a.mlir:31:6", "a.mlir:30:5", "/src/b \"é.cu:7"]);
    }

    #[test]
    fn a_file_without_a_name_gives_no_place() {
        let text = ".version 8.6\n.target sm_90a\n.func f() {\n.loc 3 1 1\nret; }\n.file 4 \"x\", 1234567, 99\n";
        let tree = parse(text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(SourceLines::new(text, &tree).place(5), None);
    }
}
