//! The declarative assembly format: one string from which an op is both read and written, as in MLIR's ODS.
//!
//! | element | meaning |
//! |---|---|
//! | `` `,` `` `` `keyword` `` | punctuation or a keyword, as is |
//! | `$name` | an operand group, an attribute in its bare form, a region or a successor |
//! | `type($name)` | the types of an operand or result group |
//! | `type(operands)` `type(results)` | the types of all operands or results |
//! | `functional-type(operands, results)` | `(T, U) -> V` |
//! | `attr-dict` `attr-dict-with-keyword` | all attributes that the format does not mention |
//! | `mixed($operands, $attribute)` | `[%i, 5]`: operands and integers; in the attribute [`DYNAMIC`] stands for an operand |
//! | `( ... $x^ ... )?` | there if the anchor `$x` is; `(...)? : (...)` has an else |
//!
//! Operand types that are not spelled come from constraints that only one type meets; result types that are not spelled
//! come from such constraints or from [`crate::op::OpHooks::infer_results`].
mod read;
mod write;

#[cfg(doc)]
use crate::ext::DYNAMIC;
use crate::op::{Arity, OpDef, OperandDef, Presence};

#[derive(Debug)]
enum Element {
    Literal(String),
    Operand(usize),
    Attribute(usize),
    Region(usize),
    Successor(usize),
    Mixed {
        operands: usize,
        attribute: usize,
    },
    OperandType(usize),
    ResultType(usize),
    AllOperandTypes,
    AllResultTypes,
    FunctionalType,
    AttrDict,
    AttrDictWithKeyword,
    Group {
        then: Vec<Element>,
        anchor: usize,
        otherwise: Vec<Element>,
    },
}

/// A parsed format.
#[derive(Debug)]
pub(crate) struct Format(Vec<Element>);

fn lex(text: &str) -> Result<Vec<String>, String> {
    let mut out = vec![];
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        match c {
            c if c.is_whitespace() => {
                chars.next();
            }
            '`' => {
                chars.next();
                let mut s = String::from("`");
                loop {
                    match chars.next() {
                        Some('`') => break,
                        Some(c) => s.push(c),
                        None => return Err("unterminated literal".into()),
                    }
                }
                out.push(s);
            }
            '(' | ')' | '?' | ':' | '^' | ',' => {
                chars.next();
                out.push(c.into());
            }
            c if c == '$' || c.is_alphanumeric() || c == '_' || c == '-' => {
                let mut s = String::new();
                while let Some(&c) = chars.peek() {
                    if c == '$' || c.is_alphanumeric() || c == '_' || c == '-' {
                        s.push(c);
                        chars.next();
                    } else {
                        break;
                    }
                }
                out.push(s);
            }
            c => return Err(format!("unexpected `{c}`")),
        }
    }
    Ok(out)
}

struct Reader<'d> {
    tokens: std::iter::Peekable<std::vec::IntoIter<String>>,
    def: &'d OpDef,
}

impl Reader<'_> {
    fn expect(&mut self, t: &str) -> Result<(), String> {
        match self.tokens.next() {
            Some(x) if x == t => Ok(()),
            other => Err(format!("expected `{t}`, found {other:?}")),
        }
    }
    fn variable(&self, name: &str) -> Result<Element, String> {
        let d = self.def;
        let at = |names: Vec<&str>| names.iter().position(|n| *n == name);
        if let Some(i) = at(d.operands.iter().map(|o| o.name).collect()) {
            return Ok(Element::Operand(i));
        }
        if let Some(i) = at(d.attributes.iter().map(|a| a.name).collect()) {
            return Ok(Element::Attribute(i));
        }
        if let Some(i) = at(d.regions.iter().map(|r| r.name).collect()) {
            return Ok(Element::Region(i));
        }
        if let Some(i) = at(d.successors.iter().map(|s| s.name).collect()) {
            return Ok(Element::Successor(i));
        }
        Err(format!("`${name}` is no operand, attribute, region or successor"))
    }
    /// Elements up to the end or a `)`, and the index of the one marked `^`.
    fn sequence(&mut self) -> Result<(Vec<Element>, Option<usize>), String> {
        let (mut out, mut anchor) = (vec![], None);
        while let Some(t) = self.tokens.peek().cloned() {
            if t == ")" {
                break;
            }
            self.tokens.next();
            let element = match t.as_str() {
                "^" => {
                    anchor = Some(out.len().checked_sub(1).ok_or("`^` follows nothing")?);
                    continue;
                }
                "(" => {
                    let (then, anchor) = self.sequence()?;
                    self.expect(")")?;
                    self.expect("?")?;
                    let mut otherwise = vec![];
                    if self.tokens.peek().is_some_and(|t| t == ":") {
                        self.tokens.next();
                        self.expect("(")?;
                        otherwise = self.sequence()?.0;
                        self.expect(")")?;
                    }
                    Element::Group {
                        then,
                        anchor: anchor.ok_or("an optional group needs an anchor `^`")?,
                        otherwise,
                    }
                }
                "attr-dict" => Element::AttrDict,
                "attr-dict-with-keyword" => Element::AttrDictWithKeyword,
                "functional-type" => {
                    for t in ["(", "operands", ",", "results", ")"] {
                        self.expect(t)?;
                    }
                    Element::FunctionalType
                }
                "mixed" => {
                    self.expect("(")?;
                    let operands = self.tokens.next().unwrap_or_default();
                    self.expect(",")?;
                    let attribute = self.tokens.next().unwrap_or_default();
                    self.expect(")")?;
                    let of = |name: &str| self.variable(name.trim_start_matches('$'));
                    match (of(&operands)?, of(&attribute)?) {
                        (Element::Operand(operands), Element::Attribute(attribute)) => {
                            Element::Mixed { operands, attribute }
                        }
                        _ => return Err("mixed($operands, $attribute) takes operands and an attribute".into()),
                    }
                }
                "type" => {
                    self.expect("(")?;
                    let name = self.tokens.next().ok_or("expected a name in type(...)")?;
                    self.expect(")")?;
                    match name.as_str() {
                        "operands" => Element::AllOperandTypes,
                        "results" => Element::AllResultTypes,
                        _ => {
                            let name = name.trim_start_matches('$');
                            let find = |g: &[OperandDef]| g.iter().position(|o| o.name == name);
                            match (find(self.def.operands), find(self.def.results)) {
                                (Some(i), _) => Element::OperandType(i),
                                (_, Some(i)) => Element::ResultType(i),
                                _ => return Err(format!("type(${name}) names no operand or result")),
                            }
                        }
                    }
                }
                s if s.starts_with('`') => Element::Literal(s[1..].to_owned()),
                s if s.starts_with('$') => self.variable(&s[1..])?,
                s => return Err(format!("unexpected `{s}`")),
            };
            out.push(element);
        }
        Ok((out, anchor))
    }
}

fn walk<'e>(elements: &'e [Element], f: &mut impl FnMut(&'e Element)) {
    for e in elements {
        f(e);
        if let Element::Group { then, otherwise, .. } = e {
            walk(then, f);
            walk(otherwise, f);
        }
    }
}

/// Refuses what would print a text that does not read back. `anchor` is the index of a group's anchor.
fn check(elements: &[Element], def: &OpDef, anchor: Option<usize>) -> Result<(), String> {
    for (i, e) in elements.iter().enumerate() {
        match e {
            Element::Attribute(a) if anchor != Some(i) => {
                let a = &def.attributes[*a];
                if matches!(a.presence, Presence::Optional | Presence::Unit) {
                    let m = format!(
                        "`${}` need not be there; make it the anchor `^` of a group `(...)?`",
                        a.name
                    );
                    return Err(m);
                }
            }
            Element::Region(r) => {
                let ambiguous = matches!(elements.get(i + 1), Some(Element::AttrDict));
                if ambiguous && (def.regions[*r].variadic || anchor.is_some()) {
                    return Err(
                        "an attribute dictionary after regions that need not be there reads as one of them; \
                                write `attr-dict` before, or `attr-dict-with-keyword`"
                            .into(),
                    );
                }
            }
            Element::Group {
                then,
                anchor,
                otherwise,
            } => {
                let starts = match then.first() {
                    Some(Element::Literal(_)) => true,
                    Some(Element::Operand(o)) => def.operands[*o].arity != Arity::One,
                    Some(Element::Region(r)) => !def.regions[*r].variadic,
                    _ => false,
                };
                if !starts {
                    return Err(
                        "a group `(...)?` must start with a literal, a region, or an operand that need not \
                                be there"
                            .into(),
                    );
                }
                check(then, def, Some(*anchor))?;
                check(otherwise, def, None)?;
            }
            _ => {}
        }
    }
    Ok(())
}

impl Format {
    /// Reads a format and checks it against its declaration.
    pub(crate) fn parse_text(text: &str, def: &OpDef) -> Result<Format, String> {
        let mut r = Reader {
            tokens: lex(text)?.into_iter().peekable(),
            def,
        };
        let (elements, _) = r.sequence()?;
        if let Some(t) = r.tokens.next() {
            return Err(format!("unmatched `{t}`"));
        }
        let mut mentioned = vec![false; def.operands.len()];
        let mut typed = vec![false; def.operands.len()];
        let (mut result_typed, mut all) = (vec![false; def.results.len()], (false, false));
        let mut regions = 0;
        let mut dict = false;
        walk(&elements, &mut |e| match e {
            Element::Operand(i) | Element::Mixed { operands: i, .. } => mentioned[*i] = true,
            Element::OperandType(i) => typed[*i] = true,
            Element::ResultType(i) => result_typed[*i] = true,
            Element::AllOperandTypes => all.0 = true,
            Element::AllResultTypes => all.1 = true,
            Element::FunctionalType => all = (true, true),
            Element::Region(_) => regions += 1,
            Element::AttrDict | Element::AttrDictWithKeyword => dict = true,
            _ => {}
        });
        for (i, o) in def.operands.iter().enumerate() {
            if !mentioned[i] {
                return Err(format!("operand `${}` is missing", o.name));
            }
            if !typed[i] && !all.0 && o.constraint.only.is_none() {
                return Err(format!(
                    "the type of operand `${}` is neither spelled nor fixed by its constraint",
                    o.name
                ));
            }
        }
        if regions != def.regions.len() {
            return Err(format!("{regions} regions, but {} are declared", def.regions.len()));
        }
        if !dict {
            return Err("`attr-dict` is missing".into());
        }
        if def.has_result_segments() && !result_typed.iter().all(|t| *t) {
            return Err("several result groups vary in size, so each needs its own `type(...)`".into());
        }
        check(&elements, def, None)?;
        Ok(Format(elements))
    }
}
