//! Reading an op by its format.
use super::{Element, Format};
use crate::{
    asm::{Delimiter, OpParser, Operand, Token},
    diag::Res,
    ext::DYNAMIC,
    kind::{I64s, Kind},
    op::{Arity, OpDef, OpRegistration, Presence},
};
use melior::ir::{Type, TypeLike, attribute::DenseI32ArrayAttribute};
use mlir_sys::*;

/// What has been read so far.
struct State<'c> {
    operands: Vec<Vec<Operand>>,
    operand_types: Vec<Option<Vec<Type<'c>>>>,
    result_types: Vec<Option<Vec<Type<'c>>>>,
    all_operand_types: Option<Vec<Type<'c>>>,
    all_result_types: Option<Vec<Type<'c>>>,
}

impl Format {
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
        Element::Mixed { operands, attribute } => {
            let list = &mut s.operands[*operands];
            let numbers = p.list(Delimiter::Square, || match p.optional_operand()? {
                Some(o) => {
                    list.push(o);
                    Ok(DYNAMIC)
                }
                None => p.integer(),
            })?;
            p.set_attribute(
                def.attributes[*attribute].name,
                I64s::to_attribute(&numbers, p.context()),
            );
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
                // What is not spelled is not there.
                for e in &then[1..] {
                    if let Element::ResultType(i) = e {
                        s.result_types[*i] = Some(vec![]);
                    }
                }
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
