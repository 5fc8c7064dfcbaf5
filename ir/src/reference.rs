//! References for users, as Markdown, from declarations alone: ops, types, attributes and passes.
//!
//! A program that has dialects of its own writes its reference in the same way: one call for each declaration, in whatever
//! order and under whatever headings it likes.
use crate::{
    op::{Arity, Assembly, AttrDef, EffectKind, EffectsDef, OpDef, OperandDef, Presence, RegionBlocks},
    param::ParamRegistration,
    pass::{OptionDefault, PassInfo},
};
use melior::Context;
use std::fmt::Write;

/// Doc comments as Markdown: without the space after the slashes, and with rustdoc's links as plain code.
pub fn prose(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&unlinked(line.strip_prefix(' ').unwrap_or(line)));
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// The `//!` lines at the head of a Rust file, as [`prose`].
pub fn head(source: &str) -> String {
    let lines: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//!")).collect();
    prose(&lines)
}

/// The first sentence of documentation, on one line.
pub fn summary(text: &str) -> String {
    let first: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).collect();
    let first = first.join(" ");
    // A list that ends with dots goes on.
    let mut ends = first.match_indices(". ").map(|(end, _)| end);
    match ends.find(|end| !first[..*end].ends_with('.')) {
        Some(end) => first[..=end].to_owned(),
        None => first,
    }
}

/// What follows `#` in a link to a heading, as GitHub forms it.
pub fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect()
}

/// ``[`a::b::C`]`` as `` `C` ``.
fn unlinked(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((path, after)) = link.split_once("`]") else {
            break;
        };
        let name = path.rsplit("::").next().unwrap_or(path);
        let _ = write!(text, "{before}`{name}`");
        rest = after;
    }
    text + rest
}

/// The contents of the ```` ```mlir ```` blocks of documentation.
pub fn examples(doc: &[&str]) -> Vec<String> {
    let mut out = vec![];
    let mut open: Option<Vec<&str>> = None;
    for line in doc {
        let text = line.strip_prefix(' ').unwrap_or(line);
        match (&mut open, text.trim()) {
            (None, "```mlir") => open = Some(vec![]),
            (Some(lines), "```") => {
                out.push(lines.join("\n"));
                open = None;
            }
            (Some(lines), _) => lines.push(text),
            _ => {}
        }
    }
    out
}

/// A table of Markdown, or nothing where it has no rows.
pub fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// One op: what it says of itself, its assembly, its parts, what it does to memory.
pub fn op(context: &Context, def: &OpDef) -> String {
    let mut text = format!("{}\n", prose(def.doc));
    if let Assembly::Format(format) = def.assembly {
        let _ = write!(text, "\n```text\n{} {format}\n```\n", def.name);
    }
    let mut rows = vec![];
    rows.extend(def.operands.iter().map(|o| value_row("operand", o)));
    rows.extend(def.attributes.iter().map(|a| attribute_row("attribute", context, a)));
    for region in def.regions {
        let blocks = match region.blocks {
            RegionBlocks::Any => "any number of blocks",
            RegionBlocks::AtMostOne => "at most one block",
            RegionBlocks::One => "one block",
            RegionBlocks::Some => "one block or more",
        };
        let many = if region.variadic {
            "regions, any number"
        } else {
            "region"
        };
        rows.push(vec![code(region.name), many.into(), blocks.into()]);
    }
    for successor in def.successors {
        let many = if successor.variadic {
            "successors, any number"
        } else {
            "successor"
        };
        rows.push(vec![code(successor.name), many.into(), "a block".into()]);
    }
    rows.extend(def.results.iter().map(|r| value_row("result", r)));
    let rows = table(&["name", "is", "what"], &rows);
    if !rows.is_empty() {
        let _ = write!(text, "\n{rows}");
    }
    text.push_str(&values(def.attributes));
    let _ = write!(text, "\n{}\n", behaviour(def));
    text
}

/// One type or attribute, whose parameters with defaults are named in its form.
pub fn parameters(context: &Context, registration: &ParamRegistration) -> String {
    let mut text = format!("{}\n", prose(registration.doc));
    let fields = registration.fields.iter();
    let rows: Vec<_> = fields.map(|f| attribute_row("parameter", context, f)).collect();
    let rows = table(&["name", "is", "what"], &rows);
    if !rows.is_empty() {
        let _ = write!(text, "\n{rows}");
    }
    text.push_str(&values(registration.fields));
    if registration.is_encoding {
        text.push_str("\nIt is an encoding of tensors.\n");
    }
    text
}

/// Options and statistics of one pass, and what it runs on. What it does stands at the head of its file ([`head`]).
pub fn pass(info: &PassInfo) -> String {
    let mut text = format!(
        "Runs on {}.\n",
        info.anchor.map_or("any op".into(), |a| format!("`{a}`"))
    );
    let options: Vec<_> = info
        .options
        .iter()
        .map(|o| {
            let default = match o.default {
                OptionDefault::Str(s) => code(s),
                OptionDefault::Bool(b) => code(&b.to_string()),
                OptionDefault::Int(i) => code(&i.to_string()),
                OptionDefault::Ints => "no integers".into(),
                OptionDefault::Strs => "no strings".into(),
            };
            vec![code(o.name), default, o.description.into()]
        })
        .collect();
    let statistics: Vec<_> = info
        .statistics
        .iter()
        .map(|s| vec![code(s.name), s.description.into()])
        .collect();
    for table in [
        table(&["option", "default", "what"], &options),
        table(&["statistic", "what"], &statistics),
    ] {
        if !table.is_empty() {
            let _ = write!(text, "\n{table}");
        }
    }
    text
}

fn code(text: &str) -> String {
    match text {
        "" => "empty".into(),
        text => format!("`{text}`"),
    }
}

/// What a field is, and what its declaration says about it.
fn described(what: &str, doc: &[&str]) -> String {
    let said = prose(doc).replace('\n', " ");
    if said.is_empty() {
        what.to_owned()
    } else {
        format!("{what}. {said}")
    }
}

fn value_row(role: &str, def: &OperandDef) -> Vec<String> {
    let role = match def.arity {
        Arity::One => role.to_owned(),
        Arity::Optional => format!("{role}, optional"),
        Arity::Variadic => format!("{role}s, any number"),
    };
    vec![code(def.name), role, described(def.constraint.what, def.doc)]
}

fn attribute_row(role: &str, context: &Context, def: &AttrDef) -> Vec<String> {
    let role = match def.presence {
        Presence::Required => role.to_owned(),
        Presence::Optional => format!("{role}, optional"),
        Presence::Unit => format!("{role}, there or not"),
        Presence::Default(default) => {
            let default = default(context).to_string();
            // As it is written in the source: 128, none, [].
            let bare = default.split(" : i").next().unwrap_or(&default).trim_matches('"');
            let bare = match bare.strip_prefix("array<i64").and_then(|list| list.strip_suffix('>')) {
                Some(list) => format!("[{}]", list.trim_start_matches([':', ' '])),
                None => bare.to_owned(),
            };
            format!("{role}, {} unless said", code(&bare))
        }
    };
    vec![code(def.name), role, described(def.what, def.doc)]
}

/// Lists of spellings, for attributes whose spellings are a list.
fn values(attributes: &[AttrDef]) -> String {
    let mut text = String::new();
    for def in attributes.iter().filter(|def| !def.values.is_empty()) {
        let _ = write!(text, "\n`{}` is one of\n\n", def.name);
        for (spelling, doc) in def.values {
            let said = prose(doc).replace('\n', " ");
            let _ = match said.is_empty() {
                true => writeln!(text, "- `{spelling}`"),
                false => writeln!(text, "- `{spelling}`: {said}"),
            };
        }
    }
    text
}

/// Effects, traits, interfaces and marks in a sentence each.
fn behaviour(def: &OpDef) -> String {
    let on = |name: &str| {
        if name.is_empty() {
            "memory that no operand names".to_owned()
        } else {
            code(name)
        }
    };
    let mut said = vec![match def.effects {
        EffectsDef::Unknown => "Effects: not declared, so anything.".to_owned(),
        EffectsDef::Custom => "Effects: by its operands and attributes.".to_owned(),
        EffectsDef::Known([]) => "Effects: none.".to_owned(),
        EffectsDef::Known(list) => {
            let each = list.iter().map(|(kind, name)| {
                let verb = match kind {
                    EffectKind::Read => "reads",
                    EffectKind::Write => "writes",
                    EffectKind::Allocate => "allocates",
                    EffectKind::Free => "frees",
                };
                format!("{verb} {}", on(name))
            });
            format!("Effects: {}.", each.collect::<Vec<_>>().join(", "))
        }
    }];
    let listed = |what: &str, names: Vec<String>| (!names.is_empty()).then(|| format!("{what}: {}.", names.join(", ")));
    said.extend(listed(
        "Traits",
        def.traits.iter().map(|t| format!("`{t:?}`")).collect(),
    ));
    said.extend(listed(
        "Interfaces",
        def.interfaces.iter().map(|i| format!("`{i:?}`")).collect(),
    ));
    let marks = def.marks.iter().map(|(mark, name)| match *name {
        "" => code(mark.0),
        name => format!("{} on {}", code(mark.0), code(name)),
    });
    said.extend(listed("Marks", marks.collect()));
    said.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rustdoc_links_become_code() {
        assert_eq!(
            prose(&[" As [`super::a::B`], or [`C`].", " `[x]` stays."]),
            "As `B`, or `C`.\n`[x]` stays."
        );
    }

    #[test]
    fn a_summary_is_the_first_sentence() {
        assert_eq!(summary("One thing:\n`a.b`. Another."), "One thing: `a.b`.");
        assert_eq!(summary("One line\n\nmore"), "One line");
        assert_eq!(summary("Bits 0, 1, ... of it. More."), "Bits 0, 1, ... of it.");
    }

    #[test]
    fn anchors_are_githubs() {
        assert_eq!(
            anchor("`tile.mbarrier.arrive_expect_tx`"),
            "tilembarrierarrive_expect_tx"
        );
        assert_eq!(anchor("Two words"), "two-words");
    }

    #[test]
    fn the_head_of_a_file_ends_with_its_comment() {
        assert_eq!(head("//! One.\n//!\n//! Two.\nuse x;\n//! no\n"), "One.\n\nTwo.");
    }
}
