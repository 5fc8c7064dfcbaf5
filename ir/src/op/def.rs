//! The data of an op declaration.
use crate::{
    asm::{OpParser, Parser, Printer},
    diag::Res,
    kind::Kind,
    op::{Branch, EffectSink, Fold, Speculatability, Symbols},
    rewrite::PatternSet,
};
use melior::{
    Context,
    ir::{Attribute, OperationRef, RegionRef, Type, Value, operation::OperationLike},
};
use mlir_sys::*;
use std::ops::Range;

pub use crate::constraint::Constraint;

/// How many values a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly one.
    One,
    /// None or one.
    Optional,
    /// Any number.
    Variadic,
}

/// An operand or result group.
#[derive(Clone, Copy)]
pub struct OperandDef {
    /// Its name in the format, accessors and messages.
    pub name: &'static str,
    /// Documentation, line by line.
    pub doc: &'static [&'static str],
    /// How many values it has.
    pub arity: Arity,
    /// What each may be.
    pub constraint: Constraint,
}

/// Whether an attribute must be there.
#[derive(Clone, Copy)]
pub enum Presence {
    /// It must.
    Required,
    /// It may.
    Optional,
    /// Its presence is its value.
    Unit,
    /// It always is; a missing one is added, and the default is not printed.
    Default(for<'c> fn(&'c Context) -> Attribute<'c>),
}

/// An inherent attribute.
#[derive(Clone, Copy)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// Documentation, line by line.
    pub doc: &'static [&'static str],
    /// Whether it must be there.
    pub presence: Presence,
    /// For messages.
    pub what: &'static str,
    /// Spellings that are allowed, each with its documentation; empty where they cannot be listed.
    pub values: &'static [(&'static str, &'static [&'static str])],
    /// Whether an attribute is of the kind.
    pub check: for<'c> fn(Attribute<'c>) -> bool,
    /// Reads the bare form.
    pub parse: for<'c> fn(&Parser<'c>) -> Res<Attribute<'c>>,
    /// Writes the bare form.
    pub print: for<'c> fn(Attribute<'c>, &Printer),
}
impl AttrDef {
    /// An attribute of kind `K`.
    pub const fn of<K: Kind>(name: &'static str, doc: &'static [&'static str], presence: Presence) -> Self {
        AttrDef {
            name,
            doc,
            presence,
            what: K::WHAT,
            values: K::VALUES,
            check: |a| K::from_attribute(a).is_some(),
            parse: |p| Ok(K::to_attribute(&K::parse(p)?, p.context())),
            print: |a, p| {
                if let Some(v) = K::from_attribute(a) {
                    K::print(&v, p)
                }
            },
        }
    }
    /// An attribute whose presence is its value.
    pub const fn unit(name: &'static str, doc: &'static [&'static str]) -> Self {
        AttrDef {
            name,
            doc,
            presence: Presence::Unit,
            what: "a unit attribute",
            values: &[],
            check: |a| unsafe { mlirAttributeIsAUnit(melior::ir::AttributeLike::to_raw(&a)) },
            parse: |p| Ok(Attribute::unit(p.context())),
            print: |_, _| {},
        }
    }
}

/// What blocks a region may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionBlocks {
    /// Any number.
    Any,
    /// None or one.
    AtMostOne,
    /// Exactly one.
    One,
    /// At least one.
    Some,
}

/// A region, or with `variadic` all remaining ones.
#[derive(Clone, Copy, Debug)]
pub struct RegionDef {
    /// Its name.
    pub name: &'static str,
    /// What blocks it may have.
    pub blocks: RegionBlocks,
    /// Whether it stands for any number of regions; the last only.
    pub variadic: bool,
}

/// A successor block, or with `variadic` all remaining ones.
#[derive(Clone, Copy, Debug)]
pub struct SuccessorDef {
    /// Its name.
    pub name: &'static str,
    /// Whether it stands for any number of blocks; the last only.
    pub variadic: bool,
}

/// Traits. The order is the shim's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Trait {
    Terminator,
    IsolatedFromAbove,
    SingleBlock,
    NoTerminator,
    NoRegionArguments,
    ConstantLike,
    Commutative,
    SymbolTable,
    AffineScope,
    AutomaticAllocationScope,
    RecursiveMemoryEffects,
    RecursivelySpeculatable,
    ReturnLike,
    SameOperandsAndResultType,
    SameTypeOperands,
    SameOperandsAndResultShape,
    SameOperandsShape,
    SameOperandsElementType,
    SameOperandsAndResultElementType,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    Idempotent,
    Involution,
    Elementwise,
    Scalarizable,
    Vectorizable,
    Tensorizable,
}

/// Interfaces that a declaration can list; the methods are in [`crate::op::OpHooks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Interface {
    Speculatable,
    ResultNames,
    BlockArgumentNames,
    RegionBranch,
    RegionTerminator,
    LoopLike,
    /// Has `sym_name` and, if not public, `sym_visibility`.
    Symbol,
    SymbolUser,
    /// Has `function_type`, `arg_attrs`, `res_attrs`, `sym_name` and a body as region 0.
    Function,
    /// Has `callee`; all operands are arguments.
    Call,
}

/// What an op does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum EffectKind {
    Read = 0,
    Write = 1,
    Allocate = 2,
    Free = 3,
}
impl EffectKind {
    pub(crate) fn from_code(code: i32) -> Self {
        match code {
            0 => EffectKind::Read,
            1 => EffectKind::Write,
            2 => EffectKind::Allocate,
            _ => EffectKind::Free,
        }
    }
}

/// An op's declared effects.
#[derive(Clone, Copy, Debug)]
pub enum EffectsDef {
    /// The op may do anything.
    Unknown,
    /// Exactly these, each on an operand or result group by name, or on unnamed memory (""). None: pure but for regions.
    Known(&'static [(EffectKind, &'static str)]),
    /// [`crate::op::OpHooks::effects`] says.
    Custom,
}

/// Something that a dialect's passes ask of its ops and that no trait of MLIR says, by name. An op's declaration lists the
/// marks that it has, each on an operand or result group, or on the op as a whole ([`OpDef::marks`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub &'static str);

/// An op's textual form.
#[derive(Clone, Copy, Debug)]
pub enum Assembly {
    /// The generic form only.
    Generic,
    /// [`crate::op::OpHooks::parse`] and `print`.
    Custom,
    /// A declarative format; see [`crate::asm::format`].
    Format(&'static str),
}

/// One op declaration.
pub struct OpDef {
    /// Full name.
    pub name: &'static str,
    /// Documentation, line by line.
    pub doc: &'static [&'static str],
    /// The source file that declares it.
    pub file: &'static str,
    /// Operand groups.
    pub operands: &'static [OperandDef],
    /// Result groups.
    pub results: &'static [OperandDef],
    /// Inherent attributes.
    pub attributes: &'static [AttrDef],
    /// Regions.
    pub regions: &'static [RegionDef],
    /// Successors.
    pub successors: &'static [SuccessorDef],
    /// Traits.
    pub traits: &'static [Trait],
    /// Interfaces.
    pub interfaces: &'static [Interface],
    /// Effects.
    pub effects: EffectsDef,
    /// Marks, each on an operand or result group by name, or on the op ("").
    pub marks: &'static [(Mark, &'static str)],
    /// Textual form.
    pub assembly: Assembly,
}

fn segmented(groups: &[OperandDef]) -> bool {
    groups.iter().filter(|g| g.arity != Arity::One).count() > 1
}

fn range(groups: &[OperandDef], name: &str, total: usize, sizes: Option<Vec<usize>>) -> Option<Range<usize>> {
    let at = groups.iter().position(|g| g.name == name)?;
    let size = |i: usize| match &sizes {
        Some(s) => s.get(i).copied().unwrap_or(0),
        None if groups[i].arity == Arity::One => 1,
        None => (total + 1).saturating_sub(groups.len()),
    };
    let start: usize = (0..at).map(size).sum();
    let end = start + size(at);
    (end <= total).then_some(start..end)
}

impl OpDef {
    /// Whether operand groups need `operandSegmentSizes`.
    pub fn has_operand_segments(&self) -> bool {
        segmented(self.operands)
    }
    /// Whether result groups need `resultSegmentSizes`.
    pub fn has_result_segments(&self) -> bool {
        segmented(self.results)
    }
    /// Indices of an operand group's values.
    pub fn operand_range(&self, op: OperationRef<'_, '_>, name: &str) -> Option<Range<usize>> {
        let sizes = if self.has_operand_segments() {
            Some(segments(op, "operandSegmentSizes")?)
        } else {
            None
        };
        range(self.operands, name, op.operand_count(), sizes)
    }
    /// Indices of a result group's values.
    pub fn result_range(&self, op: OperationRef<'_, '_>, name: &str) -> Option<Range<usize>> {
        let sizes = if self.has_result_segments() {
            Some(segments(op, "resultSegmentSizes")?)
        } else {
            None
        };
        range(self.results, name, op.result_count(), sizes)
    }
    /// What an interface needs and the declaration lacks.
    pub(crate) fn fault(&self) -> Option<String> {
        let attribute = |name: &str| self.attributes.iter().any(|a| a.name == name);
        let (function, symbol) = (self.implements(Interface::Function), self.implements(Interface::Symbol));
        if (function || symbol) && !attribute("sym_name") {
            return Some("a symbol needs the attribute `sym_name`".into());
        }
        if function && !attribute("function_type") {
            return Some("a function needs the attribute `function_type`".into());
        }
        if function && (self.regions.len() != 1 || self.regions[0].variadic) {
            return Some("a function needs exactly one region".into());
        }
        if self.implements(Interface::Call) && !attribute("callee") {
            return Some("a call needs the attribute `callee`".into());
        }
        let before_last = |variadic: &mut dyn Iterator<Item = bool>| {
            let all: Vec<_> = variadic.collect();
            all.iter().rev().skip(1).any(|v| *v)
        };
        if before_last(&mut self.regions.iter().map(|r| r.variadic)) {
            return Some("only the last region can be variadic".into());
        }
        if before_last(&mut self.successors.iter().map(|s| s.variadic)) {
            return Some("only the last successor can be variadic".into());
        }
        None
    }
    /// Whether the declaration lists a mark, on whatever.
    pub fn has_mark(&self, mark: Mark) -> bool {
        self.marks.iter().any(|(m, _)| *m == mark)
    }
    /// Operands that a mark is on.
    pub fn marked_operands<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>, mark: Mark) -> Vec<Value<'c, 'a>> {
        let groups = self.marks.iter().filter(|(m, _)| *m == mark);
        groups
            .filter_map(|(_, name)| self.operand_range(op, name))
            .flatten()
            .map(|i| crate::ext::OpExt::operand_values(&op)[i])
            .collect()
    }
    /// Whether the declaration lists an interface.
    pub fn implements(&self, i: Interface) -> bool {
        self.interfaces.contains(&i)
    }
    /// The MLIR examples in the documentation: the contents of its ```` ```mlir ```` blocks.
    pub fn examples(&self) -> Vec<String> {
        crate::reference::examples(self.doc)
    }
}

fn segments(op: OperationRef<'_, '_>, name: &str) -> Option<Vec<usize>> {
    use crate::ext::OpExt;
    use melior::ir::AttributeLike;
    let a = op.attr(name)?.to_raw();
    unsafe {
        mlirAttributeIsADenseI32Array(a).then(|| {
            (0..mlirDenseArrayGetNumElements(a))
                .map(|i| mlirDenseI32ArrayGetElement(a, i).max(0) as usize)
                .collect()
        })
    }
}

/// An op's hooks as plain functions; [`crate::op!`] fills it.
#[allow(missing_docs, clippy::type_complexity)]
pub struct OpFns {
    pub verify: for<'c> fn(OperationRef<'c, 'c>) -> Res,
    pub verify_regions: for<'c> fn(OperationRef<'c, 'c>) -> Res,
    pub parse: for<'c> fn(&OpParser<'c>) -> Res,
    pub print: for<'c> fn(OperationRef<'c, 'c>, &Printer),
    pub infer_results: for<'c> fn(&OpParser<'c>) -> Res<Vec<Type<'c>>>,
    pub fold: for<'c> fn(OperationRef<'c, 'c>, &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>>,
    pub canonicalize: for<'c> fn(&mut PatternSet<'c>),
    pub effects: for<'c> fn(OperationRef<'c, 'c>, &EffectSink),
    pub speculatability: for<'c> fn(OperationRef<'c, 'c>) -> Speculatability,
    pub result_names: for<'c> fn(OperationRef<'c, 'c>) -> Vec<(Value<'c, 'c>, String)>,
    pub block_argument_names: for<'c> fn(OperationRef<'c, 'c>, RegionRef<'c, 'c>) -> Vec<(Value<'c, 'c>, String)>,
    pub successor_regions: for<'c> fn(OperationRef<'c, 'c>, Option<usize>) -> Vec<Branch>,
    pub entry_operands: for<'c> fn(OperationRef<'c, 'c>, Branch) -> (usize, usize),
    pub terminator_operands: for<'c> fn(OperationRef<'c, 'c>, Branch) -> (usize, usize),
    pub loop_regions: for<'c> fn(OperationRef<'c, 'c>) -> Vec<usize>,
    pub verify_symbol_uses: for<'c> fn(OperationRef<'c, 'c>, &Symbols<'c>) -> Res,
}

/// A declaration with its behaviour.
pub struct OpRegistration {
    /// The data.
    pub def: &'static OpDef,
    /// The hooks.
    pub fns: OpFns,
}
