//! Writing an op by its format.
use super::{Element, Format, walk};
use crate::{
    asm::Printer,
    ext::{DYNAMIC, OpExt, RegionExt},
    kind::{I64s, Kind},
    op::{OpDef, Presence},
};
use melior::ir::{AttributeLike, OperationRef, Type, TypeLike, ValueLike, operation::OperationLike};
use mlir_sys::*;

impl Format {
    pub(crate) fn print(&self, def: &OpDef, op: OperationRef<'_, '_>, p: &Printer) {
        let mut elided = vec!["operandSegmentSizes", "resultSegmentSizes"];
        walk(&self.0, &mut |e| {
            if let Element::Attribute(i) | Element::Mixed { attribute: i, .. } = e {
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
            Element::Mixed { operands, attribute } => {
                let mut values = crate::op::operand_group(op, def, def.operands[*operands].name).into_iter();
                let numbers = op.attr(def.attributes[*attribute].name).and_then(I64s::from_attribute);
                self.gap();
                p.text("[");
                for (i, n) in numbers.unwrap_or_default().into_iter().enumerate() {
                    if i > 0 {
                        p.text(", ");
                    }
                    match (n == DYNAMIC).then(|| values.next()).flatten() {
                        Some(v) => p.operand(v),
                        None => p.text(n.to_string()),
                    };
                }
                p.text("]");
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
