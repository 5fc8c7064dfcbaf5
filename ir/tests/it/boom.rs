//! A dialect and passes whose callbacks panic where they are told to.
use girih_ir::{
    asm::Delimiter,
    constraint::{ANY, INDEX},
    dialect::Dialect,
    kind::{I64, Kind, Str},
    op,
    op::{Branch, EffectSink, Fold, Speculatability, Symbols},
    param_attr, param_type,
    pass::{self, Analysis, OptionDef, OptionDefault, Pass, PassContext, PassInfo},
    prelude::*,
    rewrite::PatternSet,
};

/// Panics if the op is told to panic here.
fn at(op: OperationRef<'_, '_>, place: &str) {
    let told = op.attr("at").and_then(Str::from_attribute);
    assert!(told.as_deref() != Some(place), "boom");
}

op! {
    /// Panics where it is told to.
    pub struct Boom = "boom.op" {
        operands { values: variadic(ANY) }
        results { results: variadic(ANY) }
        attributes { at: required(Str) }
        regions { bodies: variadic_any }
        interfaces [Speculatable, ResultNames, BlockArgumentNames, RegionBranch, LoopLike, SymbolUser]
        effects custom
        hooks {
            fn verify(self) -> Res { at(self.op(), "verify"); Ok(()) }
            fn verify_regions(self) -> Res { at(self.op(), "verify_regions"); Ok(()) }
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                at(self.op(), "fold");
                (self.at() == "fold count").then(|| vec![Fold::Value(self.values()[0]); 7])
            }
            fn effects(self, sink: &EffectSink) {
                at(self.op(), "effects");
                if self.at() == "legal_to_inline" { sink.anywhere(girih_ir::op::EffectKind::Write) }
                if self.at() == "effect of nothing" { sink.operand(girih_ir::op::EffectKind::Read, 9) }
            }
            fn speculatability(self) -> Speculatability { at(self.op(), "speculatability"); Speculatability::Always }
            fn result_names(self) -> Vec<(Value<'c, 'c>, String)> { at(self.op(), "result_names"); vec![] }
            fn block_argument_names(self, _: RegionRef<'c, 'c>) -> Vec<(Value<'c, 'c>, String)> {
                at(self.op(), "block_argument_names");
                vec![]
            }
            fn successor_regions(self, _: Option<usize>) -> Vec<Branch> {
                at(self.op(), "successor_regions");
                if self.at() == "no such region" { return vec![Branch::Region(8)]; }
                let inside = (0..self.bodies().len()).map(Branch::Region);
                inside.chain([Branch::Parent]).collect()
            }
            fn entry_operands(self, _: Branch) -> (usize, usize) {
                at(self.op(), "entry_operands");
                if self.at() == "no such operand" { (3, 4) } else { (0, self.values().len()) }
            }
            fn loop_regions(self) -> Vec<usize> { at(self.op(), "loop_regions"); vec![0] }
            fn verify_symbol_uses(self, _: &Symbols<'c>) -> Res { at(self.op(), "verify_symbol_uses"); Ok(()) }
        }
    }
}
op! {
    /// Ends its regions.
    pub struct End = "boom.end" {
        operands { values: variadic(ANY) }
        attributes { at: optional(Str) }
        traits [Terminator]
        interfaces [RegionTerminator]
        effects pure
        hooks {
            fn terminator_operands(self, _: Branch) -> (usize, usize) {
                at(self.op(), "terminator_operands");
                (0, self.values().len())
            }
        }
    }
}
op! {
    /// Panics in its parser.
    pub struct Parse = "boom.parse" {
        format custom
        hooks {
            fn parse(p: &OpParser<'c>) -> Res {
                if p.optional_keyword("list") {
                    p.list(Delimiter::Paren, || -> Res { panic!("boom in a list") })?;
                }
                panic!("boom")
            }
        }
    }
}
op! {
    /// Panics when its result types are asked for.
    pub struct Infer = "boom.infer" {
        results { r: one(ANY) }
        format "attr-dict"
        hooks { fn infer_results(_: &OpParser<'c>) -> Res<Vec<Type<'c>>> { panic!("boom") } }
    }
}
op! {
    /// Panics in its printer.
    pub struct Print = "boom.print" {
        format custom
        hooks {
            fn parse(_: &OpParser<'c>) -> Res { Ok(()) }
            fn print(self, _: &Printer) { panic!("boom") }
        }
    }
}
op! {
    /// Becomes a constant.
    pub struct FoldTo = "boom.fold_to" {
        results { r: one(INDEX) }
        attributes { value: required(I64) }
        effects pure
        format "$value attr-dict"
        hooks {
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                Some(vec![Fold::Constant(self.op().attr("value")?)])
            }
        }
    }
}
param_type! {
    /// Panics where it is told to.
    pub struct BoomType = "boom"."type" {
        params { at: required(Str) }
        options [memref_element, layout]
        hooks {
            fn verify(&self, _: &Emitter) -> Res { assert!(self.at() != "verify", "boom"); Ok(()) }
            fn parse(p: &Parser<'c>) -> Option<Res<Vec<Attribute<'c>>>> {
                assert!(!p.optional_token(Token::Star), "boom");
                None
            }
            fn print(&self, _: &Printer) -> bool { assert!(self.at() != "print", "boom"); false }
            fn layout(&self) -> (u64, u64) {
                assert!(self.at() != "layout", "boom");
                (8, if self.at() == "alignment" { 3 } else { 1 })
            }
        }
    }
}
param_attr! {
    /// Panics where it is told to.
    pub struct Encoding = "boom"."encoding" {
        options [encoding]
        hooks {
            fn verify_encoding(&self, _: &[i64], _: Type<'c>, _: &Emitter) -> Res { panic!("boom") }
        }
    }
}
/// The dialect.
pub static BOOM: Dialect = Dialect {
    ops: &[
        Boom::REGISTRATION,
        End::REGISTRATION,
        Parse::REGISTRATION,
        Infer::REGISTRATION,
        Print::REGISTRATION,
        FoldTo::REGISTRATION,
    ],
    types: &[BoomType::REGISTRATION],
    attributes: &[Encoding::REGISTRATION],
    materialize_constant: Some(|value, ty, loc| match I64::from_attribute(value) {
        Some(1) => panic!("boom"),
        // Two results of the wrong type.
        _ => Some(crate::demo::Split::build(loc, &[ty], &[ty], one(loc, ty))),
    }),
    legal_to_inline: |op| {
        at(op, "legal_to_inline");
        true
    },
    verify_attribute: Some(|_, _, _| panic!("boom")),
    ..Dialect::new("boom")
};
/// A value that is never used; it outlives the test in its own block.
fn one<'c>(loc: Location<'c>, ty: Type<'c>) -> Value<'c, 'c> {
    let op = Box::leak(Box::new(crate::demo::Constant::build(loc, ty, 1)));
    op.result0()
}

op! {
    /// Panics when its patterns are collected.
    pub struct Canonical = "canon.op" {
        format "attr-dict"
        hooks { fn canonicalize(_: &mut PatternSet<'c>) { panic!("boom") } }
    }
}
fn no_default() -> i64 {
    panic!("boom")
}
op! {
    /// Panics when its default is asked for.
    pub struct Defaulted = "canon.defaulted" {
        attributes { a: default(I64, no_default()) }
    }
}
/// What cannot be in a context together with anything that canonicalises.
pub static CANON: Dialect = Dialect {
    ops: &[Canonical::REGISTRATION, Defaulted::REGISTRATION],
    ..Dialect::new("canon")
};

struct BoomPass;
struct BoomAnalysis;
impl Analysis for BoomAnalysis {
    fn of(_: OperationRef<'_, '_>) -> Self {
        panic!("boom")
    }
}
impl Pass for BoomPass {
    const INFO: PassInfo = PassInfo {
        options: &[OptionDef {
            name: "in",
            description: "where to panic",
            default: OptionDefault::Str("run"),
        }],
        ..PassInfo::new("boom", "Panic")
    };
    fn run<'c>(&self, _: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        if cx.option_str("in") == "analysis" {
            cx.analysis::<BoomAnalysis>();
        }
        std::panic::panic_any(42)
    }
}
struct BoomEarly;
impl Pass for BoomEarly {
    const INFO: PassInfo = PassInfo::new("boom-early", "Panic before anything runs");
    fn initialize(&self, _: ContextRef<'_>) -> Res {
        panic!("boom")
    }
    fn run<'c>(&self, _: OperationRef<'c, 'c>, _: &PassContext<'c>) -> Res {
        Ok(())
    }
}

pub fn register_passes() {
    pass::register(BoomPass);
    pass::register(BoomEarly);
    pass::register_pipeline("boom-pipeline", "Panic while expanding", |_| panic!("boom"));
}
