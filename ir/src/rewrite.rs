//! Rewriting: [`Rewriter`], sets of patterns, and the greedy driver.
use crate::{
    diag::{Reported, Res, guard, op_loc, unless_panic},
    ext::{OpExt, ValueExt},
    raw::{self, Ptr, sr},
};
use melior::{
    Context,
    ir::{
        Block, BlockLike, BlockRef, Location, Operation, OperationRef, RegionLike, RegionRef, Type, TypeLike, Value,
        ValueLike, operation::OperationLike,
    },
};
use mlir_sys::*;
use std::{
    marker::PhantomData,
    sync::atomic::{AtomicBool, Ordering},
};

/// Where ops are inserted: a rewriter, or the end of a block.
pub trait Builder<'c> {
    /// Inserts a detached op.
    fn insert<'a>(&self, op: Operation<'c>) -> OperationRef<'c, 'a>;
    /// The context.
    fn context(&self) -> &'c Context;
    /// Lets `fill` insert at the end of a block of `outer`, an op that was inserted here; insertion goes on after `outer`.
    fn inside(&self, outer: OperationRef<'c, 'c>, block: BlockRef<'c, 'c>, fill: &mut dyn FnMut(&dyn Builder<'c>)) {
        let _ = outer;
        fill(&AtEnd(block));
    }
    /// Inserts an op that has one result, and gives it.
    fn value<'a>(&self, op: Operation<'c>) -> Value<'c, 'a>
    where
        'c: 'a,
    {
        self.insert(op).result0()
    }
}

/// Inserts at the end of a block, before nothing.
#[derive(Clone, Copy)]
pub struct AtEnd<'c, 'a>(pub BlockRef<'c, 'a>);
impl<'c: 'b, 'b> Builder<'c> for AtEnd<'c, 'b> {
    fn insert<'a>(&self, op: Operation<'c>) -> OperationRef<'c, 'a> {
        let raw = op.into_raw();
        unsafe {
            mlirBlockAppendOwnedOperation(self.0.to_raw(), raw);
            OperationRef::from_raw(raw)
        }
    }
    /// The block's context; it is not known of a detached block with neither arguments nor ops.
    fn context(&self) -> &'c Context {
        let block = self.0.to_raw();
        let raw = unsafe {
            let (parent, first) = (mlirBlockGetParentOperation(block), mlirBlockGetFirstOperation(block));
            if !parent.ptr.is_null() {
                mlirOperationGetContext(parent)
            } else if !first.ptr.is_null() {
                mlirOperationGetContext(first)
            } else {
                let n = mlirBlockGetNumArguments(block);
                assert!(n > 0, "a detached block with neither arguments nor ops has no context");
                mlirTypeGetContext(mlirValueGetType(mlirBlockGetArgument(block, 0)))
            }
        };
        crate::context(unsafe { melior::ContextRef::from_raw(raw) })
    }
}

/// Inserts before an op.
#[derive(Clone, Copy)]
pub struct Before<'c, 'a>(pub OperationRef<'c, 'a>);
impl<'c: 'b, 'b> Builder<'c> for Before<'c, 'b> {
    fn insert<'a>(&self, op: Operation<'c>) -> OperationRef<'c, 'a> {
        let raw = op.into_raw();
        unsafe {
            let block = mlirOperationGetBlock(self.0.to_raw());
            assert!(
                !block.ptr.is_null(),
                "nothing can stand before an op that is in no block"
            );
            mlirBlockInsertOwnedOperationBefore(block, self.0.to_raw(), raw);
            OperationRef::from_raw(raw)
        }
    }
    fn context(&self) -> &'c Context {
        self.0.ctx()
    }
}

/// Changes IR under a driver that must hear of every change. Also a [`Builder`].
#[derive(Clone, Copy)]
pub struct Rewriter<'c> {
    pub(crate) raw: MlirRewriterBase,
    /// In a conversion an op can be erased while it still has uses, and replaced by values of other types.
    conversion: bool,
    _c: PhantomData<&'c ()>,
}

impl<'c> Builder<'c> for Rewriter<'c> {
    fn insert<'a>(&self, op: Operation<'c>) -> OperationRef<'c, 'a> {
        unsafe { OperationRef::from_raw(mlirRewriterBaseInsert(self.raw, op.into_raw())) }
    }
    fn inside(&self, outer: OperationRef<'c, 'c>, block: BlockRef<'c, 'c>, fill: &mut dyn FnMut(&dyn Builder<'c>)) {
        self.set_insertion_end(block);
        fill(self);
        self.set_insertion_after(outer);
    }
    fn context(&self) -> &'c Context {
        crate::context(unsafe { melior::ContextRef::from_raw(mlirRewriterBaseGetContext(self.raw)) })
    }
}

impl<'c> Rewriter<'c> {
    pub(crate) fn from_raw(raw: MlirRewriterBase, conversion: bool) -> Self {
        Rewriter {
            raw,
            conversion,
            _c: PhantomData,
        }
    }
    /// Replaces an op's results by values; the op goes away.
    pub fn replace(&self, op: OperationRef<'c, '_>, values: &[Value<'c, '_>]) {
        let v: Vec<_> = values.iter().map(|x| x.to_raw()).collect();
        let n = op.result_count();
        assert!(
            n == v.len(),
            "{} values cannot replace the {n} results of '{}'",
            v.len(),
            op.full_name()
        );
        unsafe { mlirRewriterBaseReplaceOpWithValues(self.raw, op.to_raw(), v.len() as isize, v.as_ptr()) }
    }
    /// Inserts `new` and replaces `op` by its results.
    pub fn replace_with<'a>(&self, op: OperationRef<'c, '_>, new: Operation<'c>) -> OperationRef<'c, 'a> {
        let new = self.insert(new);
        self.replace(op, &new.result_values());
        new
    }
    /// Erases an op without uses; in a conversion, one whose uses go away too.
    pub fn erase(&self, op: OperationRef<'c, '_>) {
        let used = || op.result_values().iter().any(|r| !r.users().is_empty());
        assert!(
            self.conversion || !used(),
            "'{}' is still used and cannot be erased",
            op.full_name()
        );
        unsafe { mlirRewriterBaseEraseOp(self.raw, op.to_raw()) }
    }
    /// Lets everyone use `to` instead of `from`.
    pub fn replace_all_uses(&self, from: Value<'c, '_>, to: Value<'c, '_>) {
        unsafe { mlirRewriterBaseReplaceAllUsesWith(self.raw, from.to_raw(), to.to_raw()) }
    }
    /// Changes an op in place.
    pub fn modify(&self, op: OperationRef<'c, '_>, change: impl FnOnce()) {
        /// Tells the driver whether the change went through.
        struct Modification(MlirRewriterBase, MlirOperation);
        impl Drop for Modification {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    unsafe { mlirRewriterBaseCancelOpModification(self.0, self.1) }
                } else {
                    unsafe { mlirRewriterBaseFinalizeOpModification(self.0, self.1) }
                }
            }
        }
        unsafe { mlirRewriterBaseStartOpModification(self.raw, op.to_raw()) }
        let _done = Modification(self.raw, op.to_raw());
        change();
    }
    /// Goes on inserting before an op.
    pub fn set_insertion_before(&self, op: OperationRef<'c, '_>) {
        unsafe { mlirRewriterBaseSetInsertionPointBefore(self.raw, op.to_raw()) }
    }
    /// Goes on inserting after an op.
    pub fn set_insertion_after(&self, op: OperationRef<'c, '_>) {
        unsafe { mlirRewriterBaseSetInsertionPointAfter(self.raw, op.to_raw()) }
    }
    /// Goes on inserting at the start of a block.
    pub fn set_insertion_start(&self, block: BlockRef<'c, '_>) {
        unsafe { mlirRewriterBaseSetInsertionPointToStart(self.raw, block.to_raw()) }
    }
    /// Goes on inserting at the end of a block.
    pub fn set_insertion_end(&self, block: BlockRef<'c, '_>) {
        unsafe { mlirRewriterBaseSetInsertionPointToEnd(self.raw, block.to_raw()) }
    }
    /// A new block at the end of a region; insertion goes on in it.
    pub fn create_block<'a>(
        &self,
        region: RegionRef<'c, '_>,
        arguments: &[Type<'c>],
        loc: Location<'c>,
    ) -> BlockRef<'c, 'a> {
        let t: Vec<_> = arguments.iter().map(|t| t.to_raw()).collect();
        let n = t.len() as isize;
        unsafe {
            BlockRef::from_raw(raw::girih_rewriter_create_block(
                self.raw,
                region.to_raw(),
                n,
                t.as_ptr(),
                loc.to_raw(),
            ))
        }
    }
    /// Moves the blocks of `from` to the end of `to`.
    pub fn inline_region(&self, from: RegionRef<'c, '_>, to: RegionRef<'c, '_>) {
        unsafe { raw::girih_rewriter_inline_region(self.raw, from.to_raw(), to.to_raw()) }
    }
    /// Moves the ops of a block before an op, with values for the block's arguments; the block goes away.
    pub fn inline_block(&self, block: BlockRef<'c, '_>, before: OperationRef<'c, '_>, arguments: &[Value<'c, '_>]) {
        let v: Vec<_> = arguments.iter().map(|x| x.to_raw()).collect();
        unsafe {
            raw::girih_rewriter_inline_block(self.raw, block.to_raw(), before.to_raw(), v.len() as isize, v.as_ptr())
        }
    }
    /// Says, for `-debug` and for failed conversions, why a pattern did not apply.
    pub fn no_match(&self, op: OperationRef<'c, '_>, why: impl AsRef<str>) -> Reported {
        unsafe { raw::girih_notify_match_failure(self.raw, op.to_raw(), sr(why.as_ref())) };
        Reported
    }
}

/// What a pattern's body gives: `Ok` when it changed the IR, `Err` when it did not apply.
pub type Matched = Result<(), Reported>;

/// Rewrite patterns under collection.
pub struct PatternSet<'c> {
    pub(crate) raw: MlirRewritePatternSet,
    pub(crate) context: &'c Context,
    owned: bool,
}

impl<'c> PatternSet<'c> {
    /// An empty set.
    pub fn new(context: &'c Context) -> Self {
        PatternSet {
            raw: unsafe { mlirRewritePatternSetCreate(context.to_raw()) },
            context,
            owned: true,
        }
    }
    pub(crate) fn borrowed(raw: MlirRewritePatternSet, context: &'c Context) -> Self {
        PatternSet {
            raw,
            context,
            owned: false,
        }
    }
    /// Adds a pattern for ops named `root`. It must not change anything before it is sure to apply.
    pub fn add<F>(&mut self, root: &str, benefit: u32, body: F)
    where
        F: for<'x> Fn(OperationRef<'x, 'x>, &Rewriter<'x>) -> Matched + Send + Sync + 'static,
    {
        /// A body that has panicked is not run again: it may have changed the op that it matches.
        struct Body<F> {
            run: F,
            broken: AtomicBool,
        }
        extern "C" fn destruct<F>(p: Ptr) {
            raw::drop_box::<Body<F>>(p)
        }
        extern "C" fn run<F>(
            _: MlirRewritePattern,
            x: MlirOperation,
            r: MlirPatternRewriter,
            p: Ptr,
        ) -> MlirLogicalResult
        where
            F: for<'x> Fn(OperationRef<'x, 'x>, &Rewriter<'x>) -> Matched,
        {
            let body = unsafe { &*p.cast::<Body<F>>() };
            if body.broken.load(Ordering::Relaxed) {
                return MlirLogicalResult { value: 0 };
            }
            let matched = guard("rewrite pattern", op_loc(x), None, || unsafe {
                let rewriter = Rewriter::from_raw(mlirPatternRewriterAsBase(r), false);
                Some((body.run)(OperationRef::from_raw(x), &rewriter).is_ok())
            });
            body.broken.fetch_or(matched.is_none(), Ordering::Relaxed);
            MlirLogicalResult {
                value: i8::from(matched == Some(true)),
            }
        }
        let callbacks = MlirRewritePatternCallbacks {
            construct: None,
            destruct: Some(destruct::<F>),
            matchAndRewrite: Some(run::<F>),
        };
        unsafe {
            let pattern = mlirOpRewritePatternCreate(
                sr(root),
                benefit,
                self.context.to_raw(),
                callbacks,
                Box::into_raw(Box::new(Body {
                    run: body,
                    broken: AtomicBool::new(false),
                }))
                .cast(),
                0,
                std::ptr::null_mut(),
            );
            mlirRewritePatternSetAdd(self.raw, pattern);
        }
    }
    /// Freezes the set.
    pub(crate) fn freeze(self) -> Frozen {
        // Freezing takes the patterns over and leaves an empty set behind, which `drop` destroys.
        Frozen(unsafe { mlirFreezeRewritePattern(self.raw) })
    }
}
impl Drop for PatternSet<'_> {
    fn drop(&mut self) {
        if self.owned {
            unsafe { mlirRewritePatternSetDestroy(self.raw) }
        }
    }
}

pub(crate) struct Frozen(pub(crate) MlirFrozenRewritePatternSet);
impl Drop for Frozen {
    fn drop(&mut self) {
        unsafe { mlirFrozenRewritePatternSetDestroy(self.0) }
    }
}

/// Applies patterns (and folding, and the erasure of dead ops) to everything in `op` until nothing changes. Far more
/// rewrites than there are ops are an error.
pub fn apply_greedily<'c>(op: OperationRef<'c, '_>, patterns: PatternSet<'c>) -> Res {
    let frozen = patterns.freeze();
    // Patterns that undo each other would go on for ever.
    let most = 10_000 + 100 * op.nested_ops().len() as i64;
    unless_panic(op.location().to_raw(), || unsafe {
        let config = mlirGreedyRewriteDriverConfigCreate();
        mlirGreedyRewriteDriverConfigSetMaxNumRewrites(config, most);
        let r = mlirApplyPatternsAndFoldGreedilyWithOp(op.to_raw(), frozen.0, config);
        mlirGreedyRewriteDriverConfigDestroy(config);
        if r.value != 0 {
            return Ok(());
        }
        crate::Diag::op(&op, "the rewriting of what is in it does not come to an end").report()
    })
}

/// A detached block; see [`crate::ext::block`].
pub fn new_block<'c>(arguments: &[Type<'c>], loc: Location<'c>) -> Block<'c> {
    crate::ext::block(arguments, loc)
}
