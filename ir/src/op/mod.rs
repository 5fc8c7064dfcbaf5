//! Ops: one op is one declaration.
//!
//! [`op!`](crate::op!) declares an op's operands, results, attributes, regions, successors, traits, effects and assembly
//! format, and generates a typed view with accessors and a builder. Behaviour that data cannot say goes into `hooks`, a
//! block of [`OpHooks`] methods.
mod def;
mod erase;
mod macros;
mod verify;
pub use def::{
    Arity, Assembly, AttrDef, EffectKind, EffectsDef, Interface, Mark, OpDef, OpFns, OpRegistration, OperandDef,
    Presence, RegionBlocks, RegionDef, SuccessorDef, Trait,
};
pub(crate) use erase::register;

use crate::{
    asm::{OpParser, Printer},
    diag::Res,
    ext::OpExt,
    raw,
    rewrite::PatternSet,
};
use melior::ir::{
    Attribute, AttributeLike, Location, Operation, OperationRef, Region, RegionRef, Type, Value, ValueLike,
    operation::{OperationBuilder, OperationLike},
};
use mlir_sys::*;

/// A typed view of an op, whether girih or upstream defines it.
pub trait OpView<'c: 'a, 'a>: Sized + Copy {
    /// Full name, such as `tile.kernel`.
    const NAME: &'static str;
    /// The view of an op, whose name is [`Self::NAME`].
    fn from_op(op: OperationRef<'c, 'a>) -> Self;
    /// The op.
    fn op(&self) -> OperationRef<'c, 'a>;
}

/// A declared op: what [`op!`](crate::op!) implements.
pub trait Op {
    /// Declaration and behaviour, for [`crate::dialect::Dialect`].
    const REGISTRATION: OpRegistration;
}

/// A folded result.
#[derive(Clone, Copy)]
pub enum Fold<'c, 'a> {
    /// An existing value.
    Value(Value<'c, 'a>),
    /// A constant, which the dialect's `materialize_constant` makes an op of.
    Constant(Attribute<'c>),
}

/// What control flow between an op and its regions can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// Enter a region.
    Region(usize),
    /// Go on after the op.
    Parent,
}

/// Whether an op may run where it would not have run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speculatability {
    /// Never.
    Never = 0,
    /// Always.
    Always = 1,
    /// If everything in its regions may.
    Recursive = 2,
}

/// Where an op with `effects custom` says what it does.
pub struct EffectSink {
    sink: raw::Ptr,
    op: MlirOperation,
}
impl EffectSink {
    /// An effect on the memory that an operand points to.
    pub fn operand(&self, kind: EffectKind, index: usize) {
        let n = unsafe { mlirOperationGetNumOperands(self.op) };
        assert!(index < n as usize, "an effect on operand #{index}; the op has {n}");
        unsafe { raw::girih_effect_push(self.sink, self.op, kind as i32, index as isize, -1) }
    }
    /// An effect on the memory that a result points to.
    pub fn result(&self, kind: EffectKind, index: usize) {
        let n = unsafe { mlirOperationGetNumResults(self.op) };
        assert!(index < n as usize, "an effect on result #{index}; the op has {n}");
        unsafe { raw::girih_effect_push(self.sink, self.op, kind as i32, -1, index as isize) }
    }
    /// An effect on memory that no value names.
    pub fn anywhere(&self, kind: EffectKind) {
        unsafe { raw::girih_effect_push(self.sink, self.op, kind as i32, -1, -1) }
    }
}

/// Looks symbols up, with the tables cached for the whole verification.
pub struct Symbols<'c> {
    tables: raw::Ptr,
    from: OperationRef<'c, 'c>,
}
impl<'c> Symbols<'c> {
    /// The op that `name` means at the op being verified.
    pub fn lookup(&self, name: &str) -> Option<OperationRef<'c, 'c>> {
        let a = melior::ir::attribute::FlatSymbolRefAttribute::new(self.from.ctx(), name);
        unsafe { OperationRef::from_option_raw(raw::girih_symbols_lookup(self.tables, self.from.to_raw(), a.to_raw())) }
    }
}

/// The behaviour of an op; every method has a default. Methods that belong to an interface are called only if the op's
/// declaration lists that [`Interface`].
pub trait OpHooks<'c>: OpView<'c, 'c> {
    /// Checks what the declaration cannot say. Called after the declaration's own checks have passed. Report every
    /// violation ([`crate::Errors`]).
    fn verify(self) -> Res {
        Ok(())
    }
    /// Checks that need the ops in the regions, called after those have been verified.
    fn verify_regions(self) -> Res {
        Ok(())
    }
    /// Reads the op with `format custom`.
    fn parse(p: &OpParser<'c>) -> Res {
        p.error(p.name_loc(), "has no custom assembly form; use the generic one")
            .report()
    }
    /// Writes the op with `format custom`.
    fn print(self, _p: &Printer) {}
    /// Result types, where the assembly format does not spell them: from the operands and attributes parsed so far.
    fn infer_results(p: &OpParser<'c>) -> Res<Vec<Type<'c>>> {
        p.error(p.name_loc(), "result types cannot be inferred").report()
    }
    /// Folds the op; one entry for each result. `operands[i]` is the constant that operand i is known to be. An op that
    /// changed itself in place gives an empty list.
    fn fold(self, _operands: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
        None
    }
    /// Adds canonicalisation patterns.
    fn canonicalize(_patterns: &mut PatternSet<'c>) {}
    /// Says what it reads and writes, with `effects custom`.
    fn effects(self, _sink: &EffectSink) {}
    /// [`Interface::Speculatable`].
    fn speculatability(self) -> Speculatability {
        Speculatability::Never
    }
    /// [`Interface::ResultNames`]: names for results in the printed form.
    fn result_names(self) -> Vec<(Value<'c, 'c>, String)> {
        vec![]
    }
    /// [`Interface::BlockArgumentNames`]: names for a region's entry arguments in the printed form.
    fn block_argument_names(self, _region: RegionRef<'c, 'c>) -> Vec<(Value<'c, 'c>, String)> {
        vec![]
    }
    /// [`Interface::RegionBranch`]: where control can go from the op itself (`None`) or from a region.
    fn successor_regions(self, _from: Option<usize>) -> Vec<Branch> {
        vec![Branch::Parent]
    }
    /// [`Interface::RegionBranch`]: operands passed on entry, as (first, count).
    fn entry_operands(self, _to: Branch) -> (usize, usize) {
        (0, 0)
    }
    /// [`Interface::RegionTerminator`]: operands passed to a successor, as (first, count).
    fn terminator_operands(self, _to: Branch) -> (usize, usize) {
        (0, self.op().operand_count())
    }
    /// [`Interface::LoopLike`]: regions that are loop bodies.
    fn loop_regions(self) -> Vec<usize> {
        vec![]
    }
    /// [`Interface::SymbolUser`].
    fn verify_symbol_uses(self, _symbols: &Symbols<'c>) -> Res {
        Ok(())
    }
}

/// The operands of one declared group.
pub fn operand_group<'c: 'a, 'a>(op: OperationRef<'c, 'a>, def: &OpDef, name: &str) -> Vec<Value<'c, 'a>> {
    let Some(range) = def.operand_range(op, name) else {
        return vec![];
    };
    range
        .map(|i| unsafe { Value::from_raw(mlirOperationGetOperand(op.to_raw(), i as isize)) })
        .collect()
}
/// The results of one declared group.
pub fn result_group<'c: 'a, 'a>(op: OperationRef<'c, 'a>, def: &OpDef, name: &str) -> Vec<Value<'c, 'a>> {
    let Some(range) = def.result_range(op, name) else {
        return vec![];
    };
    range
        .map(|i| unsafe { Value::from_raw(mlirOperationGetResult(op.to_raw(), i as isize)) })
        .collect()
}

/// Collects the parts of a declared op; what the generated `build` functions use.
pub struct OpBuild<'c> {
    def: &'static OpDef,
    loc: Location<'c>,
    operands: Vec<MlirValue>,
    operand_sizes: Vec<i32>,
    results: Vec<Type<'c>>,
    result_sizes: Vec<i32>,
    attributes: Vec<(&'static str, Attribute<'c>)>,
    regions: Vec<Region<'c>>,
    successors: Vec<MlirBlock>,
}
impl<'c> OpBuild<'c> {
    /// Starts an op.
    pub fn new(def: &'static OpDef, loc: Location<'c>) -> Self {
        OpBuild {
            def,
            loc,
            operands: vec![],
            operand_sizes: vec![],
            results: vec![],
            result_sizes: vec![],
            attributes: vec![],
            regions: vec![],
            successors: vec![],
        }
    }
    /// Adds the next declared operand group.
    pub fn operands<'v>(&mut self, values: &[Value<'c, 'v>]) {
        self.operands.extend(values.iter().map(|v| v.to_raw()));
        self.operand_sizes.push(values.len() as i32);
    }
    /// Adds the next declared result group.
    pub fn results(&mut self, types: &[Type<'c>]) {
        self.results.extend_from_slice(types);
        self.result_sizes.push(types.len() as i32);
    }
    /// Sets an attribute.
    pub fn attribute(&mut self, name: &'static str, value: Attribute<'c>) {
        self.attributes.push((name, value));
    }
    /// Adds the next region.
    pub fn region(&mut self, region: Region<'c>) {
        self.regions.push(region);
    }
    /// Adds the next successor.
    pub fn successor(&mut self, block: MlirBlock) {
        self.successors.push(block);
    }
    /// The context of the op's location.
    pub fn context(&self) -> &'c melior::Context {
        crate::context(self.loc.context())
    }
    /// The op, detached.
    pub fn finish(self) -> Operation<'c> {
        let context = self.context();
        let id = |name: &str| melior::ir::Identifier::new(context, name);
        let mut attributes: Vec<_> = self.attributes.iter().map(|(n, a)| (id(n), *a)).collect();
        let segments = |v: &[i32]| melior::ir::attribute::DenseI32ArrayAttribute::new(context, v).into();
        if self.def.has_operand_segments() {
            attributes.push((id("operandSegmentSizes"), segments(&self.operand_sizes)));
        }
        if self.def.has_result_segments() {
            attributes.push((id("resultSegmentSizes"), segments(&self.result_sizes)));
        }
        let operands: Vec<Value> = self.operands.iter().map(|v| unsafe { Value::from_raw(*v) }).collect();
        let blocks: Vec<_> = self
            .successors
            .iter()
            .map(|b| unsafe { melior::ir::BlockRef::from_raw(*b) })
            .collect();
        let successors: Vec<&melior::ir::Block> = blocks.iter().map(|b| &**b).collect();
        OperationBuilder::new(self.def.name, self.loc)
            .add_operands(&operands)
            .add_results(&self.results)
            .add_attributes(&attributes)
            .add_regions_vec(self.regions)
            .add_successors(&successors)
            .build()
            // Building fails only where result types are to be inferred, which is never asked for here.
            .expect("an op with explicit result types can be built")
    }
}
