//! Reductions of tiles along an axis, with a combiner of the programmer's.
use super::{
    super::{
        layouts::ANY_TILE,
        marks::{COLLECTIVE, VARIES, has_mark},
        verify::on_device,
    },
    value::scratch_effects,
};
use girih_ir::{
    asm::RegionArgument,
    constraint::ANY,
    ext::BlockExt,
    kind::{I64, Kind},
    op,
    op::{EffectKind, EffectSink, OpView},
    prelude::*,
};

op! {
    /// Combines all elements along `axis`, which the result does not have. Several tiles of one shape go together: the
    /// combiner sees an element of each, then another of each, and yields one of each. In what order it is applied is not
    /// said, so it is associative and commutative (or near enough to it, as floating-point sums are). It is made of ops on
    /// numbers, `scf.if` and loops among them, which write nothing and give the same in all threads.
    ///
    /// ```mlir
    /// %c = arith.constant 1.0 : f32
    /// %x = tile.splat %c : f32 -> tensor<4x1024xf32>
    /// %sum = tile.reduce %x axis 1 (%a: f32, %b: f32) {
    ///   %s = arith.addf %a, %b : f32
    ///   tile.yield %s : f32
    /// } : tensor<4x1024xf32> -> tensor<4xf32>
    /// ```
    pub struct Reduce = "tile.reduce" {
        operands { sources: variadic(ANY_TILE), scratch: optional(ANY) }
        results { results: variadic(ANY_TILE) }
        attributes { axis: required(I64) }
        regions { combiner: single }
        effects custom
        marks [COLLECTIVE: scratch]
        format custom
        hooks {
            fn effects(self, sink: &EffectSink) { scratch_effects(self.op(), self.scratch(), sink) }
            fn verify(self) -> Res { verify_reduce(self) }
            fn verify_regions(self) -> Res {
                let sources = self.sources();
                let elements: Vec<_> = sources.iter().filter_map(|s| s.r#type().element_type()).collect();
                combiner(self.op(), self.combiner(), &elements)
            }
            fn parse(p: &OpParser<'c>) -> Res { parse_with_combiner(p, true) }
            fn print(self, p: &Printer) {
                let results = self.results();
                let scratch = [("scratch", self.scratch())];
                print_with_combiner(p, self.op(), &self.sources(), &scratch, self.combiner(), Some((self.axis(), &results)));
            }
        }
    }
}

op! {
    /// Ends a combiner: what two elements become.
    ///
    /// ```mlir
    /// %c = arith.constant 1 : i32
    /// %x = tile.splat %c : i32 -> tensor<64xi32>
    /// %m = tile.reduce %x axis 0 (%a: i32, %b: i32) {
    ///   %s = arith.maxsi %a, %b : i32
    ///   tile.yield %s : i32
    /// } : tensor<64xi32> -> tensor<i32>
    /// ```
    pub struct Yield = "tile.yield" {
        operands { values: variadic(ANY) }
        traits [Terminator]
        effects pure
        format "$values attr-dict `:` type($values)"
    }
}

fn verify_reduce<'c>(op: Reduce<'c, 'c>) -> Res {
    let mut errors = Errors::default();
    errors.merge(on_device(op.op()));
    let (sources, results) = (op.sources(), op.results());
    if sources.is_empty() || sources.len() != results.len() {
        let m = format!(
            "reduces {} tiles to {}; one result for each source",
            sources.len(),
            results.len()
        );
        errors.op(&op.op(), m);
        return errors.result();
    }
    let shape = sources[0].r#type().shape().unwrap_or_default();
    let axis = op.axis();
    if !(0..shape.len() as i64).contains(&axis) {
        errors.op(
            &op.op(),
            format!(
                "axis {axis}, but {} has {} axes, from 0",
                sources[0].r#type(),
                shape.len()
            ),
        );
        return errors.result();
    }
    let mut left = shape.clone();
    left.remove(axis as usize);
    for (s, r) in sources.iter().zip(&results) {
        let (s, r) = (s.r#type(), r.r#type());
        if s.shape().as_ref() != Some(&shape) {
            errors.op(
                &op.op(),
                format!(
                    "reduces {s} together with {}; tiles that go together have one shape",
                    sources[0].r#type()
                ),
            );
        }
        if r.shape().as_ref() != Some(&left) || r.element_type() != s.element_type() {
            errors.op(
                &op.op(),
                format!("reduces {s} along axis {axis} to {r}; the result has sizes {left:?} and the same elements"),
            );
        }
    }
    errors.result()
}

/// A combiner of tiles with these elements: twice as many arguments, and as many numbers yielded.
pub(super) fn combiner<'c>(op: OperationRef<'c, 'c>, region: RegionRef<'c, 'c>, elements: &[Type<'c>]) -> Res {
    let mut errors = Errors::default();
    let Some(block) = region.entry() else { return Ok(()) };
    let arguments: Vec<_> = block.argument_values().iter().map(|a| a.r#type()).collect();
    let expected = [elements, elements].concat();
    if arguments != expected {
        errors.op(
            &op,
            format!(
                "its combiner takes {}, but two of each element are {}",
                list(&arguments),
                list(&expected)
            ),
        );
    }
    for inner in block.op_list() {
        if let Some(y) = inner.cast::<Yield>() {
            let given: Vec<_> = y.values().iter().map(|v| v.r#type()).collect();
            if given != elements {
                errors.op(
                    &inner,
                    format!("yields {}, but one of each element is {}", list(&given), list(elements)),
                );
            }
        } else {
            inner
                .nested_ops()
                .into_iter()
                .for_each(|op| on_numbers(op, &mut errors));
        }
    }
    if block.terminator_op().is_none_or(|t| !t.is::<Yield>()) {
        errors.op(&op, "its combiner must end with tile.yield");
    }
    errors.result()
}

/// What a combiner is made of: ops whose results are numbers and depend on numbers alone, for it is applied as often, and by
/// whichever threads, as the layout of the tile asks.
fn on_numbers<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors) {
    let branches = ["scf.if", "scf.for", "scf.while", "scf.index_switch"].contains(&op.full_name());
    let mut refuse = |why: &str| {
        errors.op(&op, format!("stands in a combiner, {why}"));
    };
    if op.result_types().iter().any(|t| t.is_ranked_tensor_type()) {
        refuse("which is made of ops on numbers; make the tile before it");
    } else if op.region_count() > 0 && !branches {
        refuse(
            "whose ops have no regions but those of scf.if, scf.for, scf.while and scf.index_switch; use one of them",
        );
    } else if has_mark(op, VARIES) {
        refuse(
            "but gives other numbers in other threads, and which of them combine two elements is not said; combine numbers that are the same in all, or tiles",
        );
    } else if !branches
        && op
            .memory_effects()
            .is_none_or(|effects| effects.iter().any(|(kind, _)| *kind != EffectKind::Read))
    {
        refuse("but does more than to compute, and how often a combiner is applied is not said; do it before or after");
    }
}

fn list(types: &[Type<'_>]) -> String {
    let text: Vec<_> = types.iter().map(|t| t.to_string()).collect();
    format!("({})", text.join(", "))
}

/// `%a, %b (scratch %s : T)? axis N (%x: f32, ...) { ... } attr-dict : types -> types`. Without `along_axis` there is no axis,
/// results have the types of the sources, and `(barrier %m : T)?` may stand after the scratch.
pub(super) fn parse_with_combiner<'c>(p: &OpParser<'c>, along_axis: bool) -> Res {
    let mut sources = vec![p.operand()?];
    while p.optional_token(Token::Comma) {
        sources.push(p.operand()?);
    }
    let scratch = if p.optional_keyword("scratch") {
        let scratch = p.operand()?;
        p.token(Token::Colon)?;
        Some((scratch, p.ty()?))
    } else {
        None
    };
    let barrier = if !along_axis && p.optional_keyword("barrier") {
        let barrier = p.operand()?;
        p.token(Token::Colon)?;
        Some((barrier, p.ty()?))
    } else {
        None
    };
    if along_axis {
        p.keyword("axis")?;
        let axis = p.integer()?;
        p.set_attribute("axis", I64::to_attribute(&axis, p.context()));
    }
    p.token(Token::LParen)?;
    let mut arguments: Vec<RegionArgument<'c>> = vec![p.argument(true)?];
    while p.optional_token(Token::Comma) {
        arguments.push(p.argument(true)?);
    }
    p.token(Token::RParen)?;
    p.region(&arguments)?;
    p.attr_dict()?;
    p.token(Token::Colon)?;
    let n = sources.len();
    for (i, source) in sources.into_iter().enumerate() {
        if i > 0 {
            p.token(Token::Comma)?;
        }
        let t = p.ty()?;
        p.resolve(source, t)?;
        if !along_axis {
            p.add_result(t);
        }
    }
    let mut segments = vec![n as i32, i32::from(scratch.is_some())];
    if !along_axis {
        segments.push(i32::from(barrier.is_some()));
    }
    for (operand, t) in scratch.into_iter().chain(barrier) {
        p.resolve(operand, t)?;
    }
    let segments = girih_ir::melior::ir::attribute::DenseI32ArrayAttribute::new(p.context(), &segments);
    p.set_attribute("operandSegmentSizes", segments.into());
    if !along_axis {
        return Ok(());
    }
    p.token(Token::Arrow)?;
    p.add_result(p.ty()?);
    while p.optional_token(Token::Comma) {
        p.add_result(p.ty()?);
    }
    Ok(())
}

/// Prints what [`parse_with_combiner`] reads; `along` is the axis, with the results, where there is one. `others` are operands
/// after the sources, by their keywords.
pub(super) fn print_with_combiner<'c>(
    p: &Printer,
    op: OperationRef<'c, 'c>,
    sources: &[Value<'c, 'c>],
    others: &[(&str, Option<Value<'c, 'c>>)],
    region: RegionRef<'c, 'c>,
    along: Option<(i64, &[Value<'c, 'c>])>,
) {
    p.text(" ").operands(sources.iter().copied());
    for (keyword, operand) in others {
        if let Some(o) = operand {
            p.text(format!(" {keyword} ")).operand(*o).text(" : ").ty(o.r#type());
        }
    }
    if let Some((axis, _)) = along {
        p.text(format!(" axis {axis}"));
    }
    p.text(" (");
    let arguments = region.entry().map(|b| b.argument_values()).unwrap_or_default();
    for (i, a) in arguments.iter().enumerate() {
        if i > 0 {
            p.text(", ");
        }
        p.argument(*a, true);
    }
    p.text(") ").region(region, false, true);
    p.attr_dict(&op, &["axis", "operandSegmentSizes"]);
    p.text(" : ").types(sources.iter().map(|s| s.r#type()));
    if let Some((_, results)) = along {
        p.text(" -> ").types(results.iter().map(|r| r.r#type()));
    }
}
