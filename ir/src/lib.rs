//! Define MLIR dialects, patterns, conversions and passes in Rust, over real MLIR.
//!
//! A thin generic C++ shim (`ir/shim`) knows none of the dialects; its hooks call Rust. Above it, one op is one
//! declaration ([`op!`]), one type or attribute is one declaration ([`param_type!`], [`param_attr!`]), and a dialect is a
//! list of them ([`dialect::Dialect`]). Every callback is guarded: a panic becomes a located diagnostic.
//!
//! | module | what it gives |
//! |---|---|
//! | [`op`](mod@op) | op declarations, hooks, traits, effects, interfaces |
//! | [`param`] | types and attributes with typed parameters |
//! | [`kind`] | the Rust types that attributes and parameters can have |
//! | [`constraint`] | what operands and results may be |
//! | [`asm`] | parser, printer, declarative assembly format |
//! | [`dialect`] | registration |
//! | [`rewrite`], [`conversion`] | patterns, greedy rewriting, dialect conversion |
//! | [`pass`] | passes, options, statistics, pipelines |
//! | [`module`] | reading files with names and columns, verifying everything |
//! | [`mod@reference`] | documentation of ops, types, attributes and passes, from their declarations |
//! | [`tools`] | the mains of `-opt` and the language server |
//!
//! # A dialect, complete
//!
//! A type, two ops, a folder, a pattern and a pass. To add an op to a dialect is to write one more [`op!`] and to name its
//! `REGISTRATION` in the dialect's list; to add a pass is to implement [`pass::Pass`] and to [`pass::register`] it.
//!
//! ```
//! use girih_ir::{
//!     constraint::Constraint,
//!     dialect::Dialect,
//!     kind::{I64, Kind},
//!     melior::dialect::DialectRegistry,
//!     module, op,
//!     op::Fold,
//!     param_type,
//!     pass::{self, OptionDef, OptionDefault, Pass, PassContext, PassInfo, RunOptions},
//!     prelude::*,
//!     rewrite::{PatternSet, apply_greedily},
//! };
//!
//! param_type! {
//!     /// A number below a bound: `!ring.below<12>`.
//!     pub struct Below = "ring"."below" {
//!         params { bound: required(I64) }
//!         hooks {
//!             fn verify(&self, e: &Emitter) -> Res {
//!                 match self.bound() {
//!                     1.. => Ok(()),
//!                     b => e.error(format!("bound {b} leaves no number; expected 1 or more")).report(),
//!                 }
//!             }
//!         }
//!     }
//! }
//!
//! const BELOW: Constraint = Constraint::new("a bounded number", |t| Below::of(t).is_some());
//!
//! op! {
//!     /// A constant.
//!     ///
//!     /// ```mlir
//!     /// %0 = ring.constant 7 : !ring.below<12>
//!     /// ```
//!     pub struct Constant = "ring.constant" {
//!         results { result: one(BELOW) }
//!         attributes { value: required(I64) }
//!         traits [ConstantLike]
//!         effects pure
//!         format "$value attr-dict `:` type($result)"
//!         hooks {
//!             fn verify(self) -> Res {
//!                 let bound = Below::of(self.result().r#type()).map_or(i64::MAX, |b| b.bound());
//!                 if (0..bound).contains(&self.value()) {
//!                     return Ok(());
//!                 }
//!                 Diag::op(&self.op(), format!("value {} is not in 0..{bound}", self.value())).report()
//!             }
//!             fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
//!                 Some(vec![Fold::Constant(self.op().attr("value")?)])
//!             }
//!         }
//!     }
//! }
//!
//! op! {
//!     /// What is missing to the bound.
//!     ///
//!     /// ```mlir
//!     /// %1 = ring.negate %0 : !ring.below<12>
//!     /// ```
//!     pub struct Negate = "ring.negate" {
//!         operands { input: one(BELOW) }
//!         results { result: one(BELOW) }
//!         traits [SameOperandsAndResultType]
//!         effects pure
//!         format custom
//!         hooks {
//!             fn parse(p: &OpParser<'c>) -> Res {
//!                 let input = p.operand()?;
//!                 p.attr_dict()?;
//!                 p.token(Token::Colon)?;
//!                 let ty = p.ty()?;
//!                 p.resolve(input, ty)?;
//!                 p.add_result(ty);
//!                 Ok(())
//!             }
//!             fn print(self, p: &Printer) {
//!                 p.text(" ").operand(self.input()).attr_dict(&self.op(), &[]);
//!                 p.text(" : ").ty(self.input().r#type());
//!             }
//!             fn canonicalize(patterns: &mut PatternSet<'c>) {
//!                 negate_twice(patterns);
//!             }
//!         }
//!     }
//! }
//!
//! /// `-(-x)` is `x`.
//! fn negate_twice(patterns: &mut PatternSet<'_>) {
//!     patterns.add(Negate::NAME, 1, |op, rewriter| {
//!         let inner = Negate::from_op(op).input().defining_op().and_then(|d| d.cast::<Negate>());
//!         let Some(inner) = inner else {
//!             return Err(rewriter.no_match(op, "not the negation of a negation"));
//!         };
//!         rewriter.replace(op, &[inner.input()]);
//!         Ok(())
//!     });
//! }
//!
//! static RING: Dialect = Dialect {
//!     ops: &[Constant::REGISTRATION, Negate::REGISTRATION],
//!     types: &[Below::REGISTRATION],
//!     materialize_constant: Some(|value, ty, loc| Some(Constant::build(loc, ty, I64::from_attribute(value)?))),
//!     ..Dialect::new("ring")
//! };
//!
//! /// `ring-simplify`: applies the dialect's patterns, and warns of what is left if asked.
//! struct Simplify;
//! impl Pass for Simplify {
//!     const INFO: PassInfo = PassInfo {
//!         options: &[OptionDef {
//!             name: "strict",
//!             description: "Refuse negations that are left",
//!             default: OptionDefault::Bool(false),
//!         }],
//!         ..PassInfo::new("ring-simplify", "Apply the patterns of the ring dialect")
//!     };
//!     fn run<'c>(&self, op: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
//!         let mut patterns = PatternSet::new(op.ctx());
//!         negate_twice(&mut patterns);
//!         apply_greedily(op, patterns)?;
//!         let mut errors = Errors::default();
//!         if cx.option_bool("strict") {
//!             for left in op.nested_ops().into_iter().filter(|o| o.is::<Negate>()) {
//!                 errors.op(&left, "is left; negate it once more");
//!             }
//!         }
//!         errors.result()
//!     }
//! }
//!
//! // Once for the process, then once for each context.
//! pass::register(Simplify);
//! let registry = DialectRegistry::new();
//! pass::register_all_upstream_dialects(&registry);
//! RING.register(&registry);
//! let context = Context::new();
//! context.append_dialect_registry(&registry);
//! context.load_all_available_dialects();
//! girih_ir::diag::plain_diagnostics(&context);
//!
//! let source = b"func.func @f(%a: !ring.below<12>) -> !ring.below<12> {
//!   %0 = ring.negate %a : !ring.below<12>
//!   %1 = ring.negate %0 : !ring.below<12>
//!   %2 = ring.negate %1 : !ring.below<12>
//!   return %2 : !ring.below<12>
//! }";
//! let m = module::parse(&context, source, "f.mlir").expect("it is well formed");
//! let simplify = |text| {
//!     module::collect_diagnostics(&context, || pass::run_pipeline(m.as_operation(), text, RunOptions::default()))
//! };
//! assert_eq!(simplify("ring-simplify"), (Ok(()), vec![]));
//! assert_eq!(m.as_operation().to_string().matches("ring.negate").count(), 1);
//! let (result, messages) = simplify("ring-simplify{strict=true}");
//! assert!(result.is_err());
//! assert_eq!(messages[0].to_string(), "f.mlir:2:8: error: 'ring.negate' op is left; negate it once more");
//!
//! let bad = b"%0 = ring.constant 12 : !ring.below<12>";
//! let (_, messages) = module::collect_diagnostics(&context, || module::parse(&context, bad, "g.mlir").map(|_| ()));
//! assert_eq!(messages[0].to_string(), "g.mlir:1:6: error: 'ring.constant' op value 12 is not in 0..12");
//! ```
//!
//! A crate outside this repository does the same; `examples/standalone` adds an `-opt`, a language server and lit tests.
//! | [`upstream`] | the small part of upstream MLIR that a compiler registers |
pub mod asm;
pub mod constraint;
pub mod conversion;
pub mod diag;
pub mod dialect;
pub mod ext;
pub mod kind;
pub mod module;
pub mod op;
pub mod param;
pub mod pass;
mod raw;
pub mod reference;
pub mod rewrite;
pub mod tools;
pub mod upstream;

pub use diag::{Diag, Emitter, Errors, Reported, Res, Severity};
pub use melior;
pub use mlir_sys;

/// What dialects and passes import.
pub mod prelude {
    pub use crate::{
        Diag, Emitter, Errors, Reported, Res, Severity,
        asm::{Delimiter, OpParser, Parser, Printer, Token},
        context,
        ext::{OpExt, RegionExt, TypeExt, ValueExt},
        op::{Op, OpHooks, OpView},
    };
    pub use melior::{
        Context, ContextRef,
        ir::{
            Attribute, AttributeLike, Block, BlockLike, BlockRef, Location, Operation, OperationRef, Region,
            RegionLike, RegionRef, Type, TypeLike, Value, ValueLike,
            operation::{OperationLike, OperationMutLike},
        },
    };
}

use melior::{Context, ContextRef};
use std::{
    cell::Cell,
    collections::BTreeMap,
    sync::{LazyLock, Mutex},
};

/// A context reference as a plain reference, which most of melior's constructors want.
///
/// `ContextRef::to_ref` gives a reference *into the `ContextRef` value*; this one points into a value that lives for
/// ever, one for each context address.
pub fn context<'c>(c: ContextRef<'c>) -> &'c Context {
    // Context address -> address of its leaked reference.
    static SEEN: LazyLock<Mutex<BTreeMap<usize, usize>>> = LazyLock::new(Default::default);
    thread_local! {
        /// The last pair of this thread: most ask for one context again and again.
        static LAST: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }
    // SAFETY: `c` lives through this statement.
    let raw = unsafe { c.to_ref() }.to_raw();
    let (address, leaked) = LAST.get();
    if address == raw.ptr as usize {
        // SAFETY: as at the end of this function.
        return unsafe { (*(leaked as *const ContextRef<'c>)).to_ref() };
    }
    let mut seen = SEEN.lock().unwrap_or_else(|e| e.into_inner());
    let entry = seen
        .entry(raw.ptr as usize)
        // SAFETY: a ContextRef is the context's address alone, and the leaked value never changes.
        .or_insert_with(|| Box::into_raw(Box::new(unsafe { ContextRef::from_raw(raw) })) as usize);
    LAST.set((raw.ptr as usize, *entry));
    // SAFETY: the address is that of a leaked ContextRef; 'c, which the caller has, bounds the context's life.
    unsafe { (*(*entry as *const ContextRef<'c>)).to_ref() }
}
