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
//! | `( ... $x^ ... )?` | there if the anchor `$x` is; `(...)? : (...)` has an else |
//!
//! Operand types that are not spelled come from constraints that only one type meets; result types that are not spelled
//! come from such constraints or from [`crate::op::OpHooks::infer_results`].
use super::{OpParser, Operand, Printer, Token};
use crate::{
    diag::Res,
    ext::{OpExt, RegionExt},
    op::{Arity, OpDef, OpRegistration, OperandDef, Presence},
};
use melior::ir::{
    AttributeLike, OperationRef, Type, TypeLike, ValueLike, attribute::DenseI32ArrayAttribute, operation::OperationLike,
};
use mlir_sys::*;

#[derive(Debug)]
enum Element {
    Literal(String),
    Operand(usize),
    Attribute(usize),
    Region(usize),
    Successor(usize),
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

/// What has been read so far.
struct State<'c> {
    operands: Vec<Vec<Operand>>,
    operand_types: Vec<Option<Vec<Type<'c>>>>,
    result_types: Vec<Option<Vec<Type<'c>>>>,
    all_operand_types: Option<Vec<Type<'c>>>,
    all_result_types: Option<Vec<Type<'c>>>,
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
            Element::Operand(i) => mentioned[*i] = true,
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

    // ---------------------------------------------------------------------------------------------- reading

    pub(crate) fn parse<'c>(&self, op: &OpRegistration, p: &OpParser<'c>) -> Res {
        let def = op.def;
        let mut s = State {
            operands: vec![vec![]; def.operands.len()],
            operand_types: vec![None; def.operands.len()],
            result_types: vec![None; def.results.len()],
            all_operand_types: None,
            all_result_types: None,
        };
        for e in &self.0 {
            read(e, def, p, &mut s)?;
        }
        self.resolve(op, p, s)
    }

    fn resolve<'c>(&self, op: &OpRegistration, p: &OpParser<'c>, s: State<'c>) -> Res {
        let def = op.def;
        let context = p.context();
        if let Some(types) = &s.all_operand_types {
            let operands: Vec<_> = s.operands.iter().flatten().copied().collect();
            if operands.len() != types.len() {
                let m = format!("expected {} operand types, found {}", operands.len(), types.len());
                return p.error(p.name_loc(), m).report();
            }
            for (o, t) in operands.into_iter().zip(types) {
                p.resolve(o, *t)?;
            }
        } else {
            for (i, d) in def.operands.iter().enumerate() {
                let operands = &s.operands[i];
                let types = match (&s.operand_types[i], d.constraint.only) {
                    (Some(t), _) => t.clone(),
                    (None, Some(only)) => vec![only(context); operands.len()],
                    (None, None) => vec![],
                };
                if operands.len() != types.len() {
                    let m = format!(
                        "operand '{}' has {} values, but {} types are given",
                        d.name,
                        operands.len(),
                        types.len()
                    );
                    return p.error(p.name_loc(), m).report();
                }
                for (o, t) in operands.iter().zip(types) {
                    p.resolve(*o, t)?;
                }
            }
        }
        if def.has_operand_segments() {
            let sizes: Vec<_> = s.operands.iter().map(|o| o.len() as i32).collect();
            p.set_attribute(
                "operandSegmentSizes",
                DenseI32ArrayAttribute::new(context, &sizes).into(),
            );
        }
        let mut results = vec![];
        if let Some(types) = &s.all_result_types {
            results.extend_from_slice(types);
        } else if s.result_types.iter().all(Option::is_some) {
            results.extend(s.result_types.iter().flatten().flatten());
        } else {
            let only: Option<Vec<_>> = def
                .results
                .iter()
                .zip(&s.result_types)
                .map(|(d, given)| match (given, d.constraint.only, d.arity) {
                    (Some(t), _, _) => Some(t.clone()),
                    (None, Some(only), Arity::One) => Some(vec![only(context)]),
                    _ => None,
                })
                .collect();
            match only {
                Some(types) => results.extend(types.into_iter().flatten()),
                None => results = (op.fns.infer_results)(p)?,
            }
        }
        if def.has_result_segments() {
            // The format spells every group's types: `check` saw to it.
            let sizes: Vec<_> = s
                .result_types
                .iter()
                .map(|t| t.as_ref().map_or(0, |t| t.len() as i32))
                .collect();
            p.set_attribute(
                "resultSegmentSizes",
                DenseI32ArrayAttribute::new(context, &sizes).into(),
            );
        }
        for t in results {
            p.add_result(t);
        }
        Ok(())
    }

    // ---------------------------------------------------------------------------------------------- writing

    pub(crate) fn print(&self, def: &OpDef, op: OperationRef<'_, '_>, p: &Printer) {
        let mut elided = vec!["operandSegmentSizes", "resultSegmentSizes"];
        walk(&self.0, &mut |e| {
            if let Element::Attribute(i) = e {
                elided.push(def.attributes[*i].name);
            }
        });
        for a in def.attributes {
            if is_default(op, a) {
                elided.push(a.name);
            }
        }
        let mut w = Writer {
            def,
            op,
            p,
            space: true,
            punctuation: false,
            elided: &elided,
        };
        w.sequence(&self.0);
    }
}

fn is_default(op: OperationRef<'_, '_>, a: &crate::op::AttrDef) -> bool {
    match (a.presence, op.attr(a.name)) {
        (Presence::Default(value), Some(v)) => unsafe { mlirAttributeEqual(v.to_raw(), value(op.ctx()).to_raw()) },
        _ => false,
    }
}

fn read<'c>(e: &Element, def: &OpDef, p: &OpParser<'c>, s: &mut State<'c>) -> Res {
    match e {
        Element::Literal(text) => match Token::from_spelling(text) {
            Some(t) => p.token(t),
            None => p.keyword(text),
        },
        Element::Operand(i) => read_operands(def.operands[*i].arity, p, &mut s.operands[*i]),
        Element::Attribute(i) => {
            let a = &def.attributes[*i];
            let v = (a.parse)(p)?;
            p.set_attribute(a.name, v);
            Ok(())
        }
        Element::Region(i) => {
            let d = def.regions[*i];
            if d.variadic {
                while p.region_if_present(&[])?.is_some() {}
                return Ok(());
            }
            p.region(&[]).map(|_| ())
        }
        Element::Successor(i) => {
            if !def.successors[*i].variadic {
                return p.successor();
            }
            if p.optional_successor()? {
                while p.optional_token(Token::Comma) {
                    p.successor()?;
                }
            }
            Ok(())
        }
        Element::OperandType(i) => {
            s.operand_types[*i] = Some(read_types(def.operands[*i].arity, p)?);
            Ok(())
        }
        Element::ResultType(i) => {
            s.result_types[*i] = Some(read_types(def.results[*i].arity, p)?);
            Ok(())
        }
        Element::AllOperandTypes => {
            s.all_operand_types = Some(read_types(Arity::Variadic, p)?);
            Ok(())
        }
        Element::AllResultTypes => {
            s.all_result_types = Some(read_types(Arity::Variadic, p)?);
            Ok(())
        }
        Element::FunctionalType => {
            let at = p.loc();
            let t = p.ty()?;
            unsafe {
                if !mlirTypeIsAFunction(t.to_raw()) {
                    return p.error(at, format!("expected a function type, found {t}")).report();
                }
                let inputs = (0..mlirFunctionTypeGetNumInputs(t.to_raw()))
                    .map(|i| Type::from_raw(mlirFunctionTypeGetInput(t.to_raw(), i)))
                    .collect();
                let results = (0..mlirFunctionTypeGetNumResults(t.to_raw()))
                    .map(|i| Type::from_raw(mlirFunctionTypeGetResult(t.to_raw(), i)))
                    .collect();
                (s.all_operand_types, s.all_result_types) = (Some(inputs), Some(results));
            }
            Ok(())
        }
        Element::AttrDict => p.attr_dict(),
        Element::AttrDictWithKeyword => p.attr_dict_with_keyword(),
        Element::Group { then, otherwise, .. } => {
            let present = match &then[0] {
                Element::Literal(text) => match Token::from_spelling(text) {
                    Some(t) => p.optional_token(t),
                    None => p.optional_keyword(text),
                },
                Element::Operand(i) => {
                    let list = &mut s.operands[*i];
                    match p.optional_operand()? {
                        Some(o) => {
                            list.push(o);
                            read_more_operands(def.operands[*i].arity, p, list)?;
                            true
                        }
                        None => false,
                    }
                }
                Element::Region(_) => p.optional_region(&[])?.is_some(),
                _ => false,
            };
            if !present {
                // An absent region is still a region; one that opens the group has been added already.
                for e in &then[1..] {
                    if let Element::Region(i) = e
                        && !def.regions[*i].variadic
                    {
                        p.empty_region();
                    }
                }
                return otherwise.iter().try_for_each(|e| read(e, def, p, s));
            }
            for e in &then[1..] {
                // A unit attribute is there because its group is.
                if let Element::Attribute(i) = e
                    && matches!(def.attributes[*i].presence, Presence::Unit)
                {
                    p.set_attribute(def.attributes[*i].name, melior::ir::Attribute::unit(p.context()));
                    continue;
                }
                read(e, def, p, s)?;
            }
            Ok(())
        }
    }
}

fn read_operands(arity: Arity, p: &OpParser<'_>, out: &mut Vec<Operand>) -> Res {
    if arity == Arity::One {
        out.push(p.operand()?);
        return Ok(());
    }
    if let Some(o) = p.optional_operand()? {
        out.push(o);
        read_more_operands(arity, p, out)?;
    }
    Ok(())
}
fn read_more_operands(arity: Arity, p: &OpParser<'_>, out: &mut Vec<Operand>) -> Res {
    while arity == Arity::Variadic && p.optional_token(Token::Comma) {
        out.push(p.operand()?);
    }
    Ok(())
}
fn read_types<'c>(arity: Arity, p: &OpParser<'c>) -> Res<Vec<Type<'c>>> {
    if arity == Arity::One {
        return Ok(vec![p.ty()?]);
    }
    let mut out = vec![];
    if let Some(t) = p.optional_ty()? {
        out.push(t);
        while arity == Arity::Variadic && p.optional_token(Token::Comma) {
            out.push(p.ty()?);
        }
    }
    Ok(out)
}

struct Writer<'w, 'c, 'a> {
    def: &'w OpDef,
    op: OperationRef<'c, 'a>,
    p: &'w Printer,
    space: bool,
    punctuation: bool,
    elided: &'w [&'w str],
}

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    fn gap(&mut self) {
        if self.space || !self.punctuation {
            self.p.text(" ");
        }
        (self.space, self.punctuation) = (true, false);
    }
    fn sequence(&mut self, elements: &[Element]) {
        for e in elements {
            self.element(e);
        }
    }
    fn is_there(&self, e: &Element) -> bool {
        match e {
            Element::Operand(i) => !crate::op::operand_group(self.op, self.def, self.def.operands[*i].name).is_empty(),
            Element::Attribute(i) => {
                let a = &self.def.attributes[*i];
                self.op.attr(a.name).is_some() && !is_default(self.op, a)
            }
            Element::Region(i) => self.op.region_at(*i).entry().is_some(),
            Element::OperandType(i) => {
                !crate::op::operand_group(self.op, self.def, self.def.operands[*i].name).is_empty()
            }
            Element::ResultType(i) => !crate::op::result_group(self.op, self.def, self.def.results[*i].name).is_empty(),
            Element::AllResultTypes => self.op.result_count() > 0,
            Element::AllOperandTypes => self.op.operand_count() > 0,
            Element::Successor(i) => self.op.successor_count() > *i,
            _ => true,
        }
    }
    fn element(&mut self, e: &Element) {
        let (p, op, def) = (self.p, self.op, self.def);
        match e {
            Element::Literal(text) => {
                let first = text.chars().next().unwrap_or(' ');
                let space_before = if text.chars().count() != 1 {
                    true
                } else if self.punctuation {
                    !">)}],".contains(first)
                } else {
                    !"<>(){}[],".contains(first)
                };
                if self.space && space_before {
                    p.text(" ");
                }
                p.text(text);
                self.space = text.chars().count() != 1 || !"<({[".contains(first);
                self.punctuation = first != '_' && !first.is_alphabetic();
            }
            Element::Operand(i) => {
                let values = crate::op::operand_group(op, def, def.operands[*i].name);
                if !values.is_empty() {
                    self.gap();
                    p.operands(values);
                }
            }
            Element::Attribute(i) => {
                let a = &def.attributes[*i];
                if matches!(a.presence, Presence::Unit) {
                    return;
                }
                if let Some(v) = op.attr(a.name) {
                    self.gap();
                    (a.print)(v, p);
                }
            }
            Element::Region(i) => {
                let last = if def.regions[*i].variadic {
                    op.region_count()
                } else {
                    i + 1
                };
                for r in *i..last {
                    self.gap();
                    p.region(op.region_at(r), true, true);
                }
            }
            Element::Successor(i) => {
                let last = if def.successors[*i].variadic {
                    op.successor_count()
                } else {
                    i + 1
                };
                if last > *i {
                    self.gap();
                }
                for (k, b) in op.successors().enumerate().take(last).skip(*i) {
                    if k > *i {
                        p.text(", ");
                    }
                    p.successor(b);
                }
            }
            Element::OperandType(i) => {
                let values = crate::op::operand_group(op, def, def.operands[*i].name);
                self.types(values.iter().map(|v| v.r#type()).collect());
            }
            Element::ResultType(i) => {
                let values = crate::op::result_group(op, def, def.results[*i].name);
                self.types(values.iter().map(|v| v.r#type()).collect());
            }
            Element::AllOperandTypes => self.types(op.operand_values().iter().map(|v| v.r#type()).collect()),
            Element::AllResultTypes => self.types(op.result_types()),
            Element::FunctionalType => {
                self.gap();
                p.text("(")
                    .types(op.operand_values().iter().map(|v| v.r#type()))
                    .text(") -> ");
                let results = op.result_types();
                if results.len() == 1 && !unsafe { mlirTypeIsAFunction(results[0].to_raw()) } {
                    p.ty(results[0]);
                } else {
                    p.text("(").types(results).text(")");
                }
            }
            Element::AttrDict => {
                p.attr_dict(&op, self.elided);
            }
            Element::AttrDictWithKeyword => {
                p.attr_dict_with_keyword(&op, self.elided);
            }
            Element::Group {
                then,
                anchor,
                otherwise,
            } => {
                if self.is_there(&then[*anchor]) {
                    self.sequence(then);
                } else {
                    self.sequence(otherwise);
                }
            }
        }
    }
    fn types(&mut self, types: Vec<Type<'c>>) {
        if !types.is_empty() {
            self.gap();
            self.p.types(types);
        }
    }
}
