//! Barriers in shared memory (PTX ISA, mbarrier). An op addresses one barrier of a memref: `%full[%slot]`.
//!
//! A phase completes when all expected threads have arrived and all expected bytes have come. `parity` is that of the phase
//! to wait for: false for phases 0, 2, 4, ...; a fresh barrier lets a wait for parity true pass at once.
//!
//! Arrivals and expected bytes may go to a barrier of another block of the cluster, a memref in `#tile.shared_cluster` that
//! `tile.remote` gives; a block waits for its own barriers only. Threads of several blocks that hand data to each other
//! through a barrier do so at cluster scope: an arrival at another block's barrier always does, `cluster` says it of others.
use super::super::{
    marks::ORDERS,
    spaces::is_shared_cluster,
    types::{ANY_MBARRIERS, MBARRIERS},
    verify::{indices_inside, on_device},
};
use girih_ir::{
    constraint::{I1, I32, INDEX},
    op,
    prelude::*,
};

/// Whether `op` addresses one barrier of a memref.
pub(super) fn check_barrier<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    barrier: Value<'c, 'c>,
    indices: &[Value<'c, 'c>],
) {
    let t = barrier.r#type();
    if t.strides_and_offset().is_none() {
        errors.op(&op, format!("mbarriers lie in a strided memref, found {t}"));
    }
    indices_inside(op, errors, "the memref of mbarriers", t, indices);
}

fn check<'c>(op: OperationRef<'c, 'c>, barrier: Value<'c, 'c>, indices: &[Value<'c, 'c>]) -> Res {
    let mut errors = Errors::default();
    errors.merge(on_device(op));
    check_barrier(op, &mut errors, barrier, indices);
    errors.result()
}

/// The same for an arrival, which is at cluster scope anyway where the barrier is another block's.
fn check_scoped<'c>(op: OperationRef<'c, 'c>, barrier: Value<'c, 'c>, indices: &[Value<'c, 'c>], cluster: bool) -> Res {
    check(op, barrier, indices)?;
    match cluster && is_shared_cluster(barrier.r#type()) {
        true => Diag::op(
            &op,
            "arrives at another block's barrier, which is at cluster scope always; leave `cluster` out",
        )
        .report(),
        false => Ok(()),
    }
}

op! {
    /// Prepares a barrier for phases of `count` arrivals, 1 to 2^20 - 1: `mbarrier.init`.
    ///
    /// ```mlir
    /// %bar = tile.alloc : memref<2x!tile.mbarrier, #tile.shared>
    /// %i = arith.constant 0 : index
    /// %n = arith.constant 1 : i32
    /// tile.mbarrier.init %bar[%i], %n : memref<2x!tile.mbarrier, #tile.shared>
    /// ```
    pub struct Init = "tile.mbarrier.init" {
        operands { barrier: one(MBARRIERS), indices: variadic(INDEX), count: one(I32) }
        effects [write barrier]
        format "$barrier `[` $indices `]` `,` $count attr-dict `:` type($barrier)"
        hooks {
            fn verify(self) -> Res {
                check(self.op(), self.barrier(), &self.indices())?;
                match self.count().constant_int() {
                    Some(n) if !(1..1 << 20).contains(&n) => {
                        Diag::op(&self.op(), format!("count = {n}, but a phase has 1 to 1048575 arrivals")).report()
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}
op! {
    /// Ends a barrier's life, so that its memory can be used for something else: `mbarrier.inval`.
    ///
    /// ```mlir
    /// %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    /// tile.mbarrier.inval %bar[] : memref<!tile.mbarrier, #tile.shared>
    /// ```
    pub struct Inval = "tile.mbarrier.inval" {
        operands { barrier: one(MBARRIERS), indices: variadic(INDEX) }
        effects [write barrier]
        format "$barrier `[` $indices `]` attr-dict `:` type($barrier)"
        hooks {
            fn verify(self) -> Res { check(self.op(), self.barrier(), &self.indices()) }
        }
    }
}
op! {
    /// Arrives once, with release semantics in the block, or in the cluster with `cluster` and at another block's barrier:
    /// `mbarrier.arrive`.
    ///
    /// ```mlir
    /// %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    /// tile.mbarrier.arrive %bar[] : memref<!tile.mbarrier, #tile.shared>
    /// %rank = arith.constant 1 : i32
    /// %its_bar = tile.remote %bar, %rank : memref<!tile.mbarrier, #tile.shared> -> memref<!tile.mbarrier, #tile.shared_cluster>
    /// tile.mbarrier.arrive %its_bar[] : memref<!tile.mbarrier, #tile.shared_cluster>
    /// ```
    pub struct Arrive = "tile.mbarrier.arrive" {
        operands { barrier: one(ANY_MBARRIERS), indices: variadic(INDEX) }
        attributes { cluster: unit }
        effects [read barrier, write barrier, read, write]
        format "$barrier `[` $indices `]` (`cluster` $cluster^)? attr-dict `:` type($barrier)"
        hooks {
            fn verify(self) -> Res { check_scoped(self.op(), self.barrier(), &self.indices(), self.cluster()) }
        }
    }
}
op! {
    /// Expects `bytes` more bytes in this phase, then arrives once, as `tile.mbarrier.arrive` does:
    /// `mbarrier.arrive.expect_tx`.
    ///
    /// ```mlir
    /// %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    /// %n = arith.constant 16384 : i32
    /// tile.mbarrier.arrive_expect_tx %bar[], %n : memref<!tile.mbarrier, #tile.shared>
    /// ```
    pub struct ArriveExpectTx = "tile.mbarrier.arrive_expect_tx" {
        operands { barrier: one(ANY_MBARRIERS), indices: variadic(INDEX), bytes: one(I32) }
        attributes { cluster: unit }
        effects [read barrier, write barrier, read, write]
        format "$barrier `[` $indices `]` `,` $bytes (`cluster` $cluster^)? attr-dict `:` type($barrier)"
        hooks {
            fn verify(self) -> Res {
                check_scoped(self.op(), self.barrier(), &self.indices(), self.cluster())
                    .and_then(|()| check_bytes(self.op(), self.bytes()))
            }
        }
    }
}
op! {
    /// Expects `bytes` more bytes in this phase, without arriving: `mbarrier.expect_tx`.
    ///
    /// ```mlir
    /// %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    /// %n = arith.constant 16384 : i32
    /// tile.mbarrier.expect_tx %bar[], %n : memref<!tile.mbarrier, #tile.shared>
    /// ```
    pub struct ExpectTx = "tile.mbarrier.expect_tx" {
        operands { barrier: one(ANY_MBARRIERS), indices: variadic(INDEX), bytes: one(I32) }
        effects [read barrier, write barrier]
        format "$barrier `[` $indices `]` `,` $bytes attr-dict `:` type($barrier)"
        hooks {
            fn verify(self) -> Res { check(self.op(), self.barrier(), &self.indices()).and_then(|()| check_bytes(self.op(), self.bytes())) }
        }
    }
}
op! {
    /// Whether the phase of that parity has completed; does not wait: `mbarrier.test_wait.parity`. Acquires in the block, or
    /// in the cluster with `cluster`.
    ///
    /// ```mlir
    /// %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    /// %p = arith.constant false
    /// %done = tile.mbarrier.test_wait %bar[], %p : memref<!tile.mbarrier, #tile.shared>
    /// ```
    pub struct TestWait = "tile.mbarrier.test_wait" {
        operands { barrier: one(MBARRIERS), indices: variadic(INDEX), parity: one(I1) }
        results { done: one(I1) }
        attributes { cluster: unit }
        effects [read barrier, read, write]
        marks [ORDERS]
        format "$barrier `[` $indices `]` `,` $parity (`cluster` $cluster^)? attr-dict `:` type($barrier)"
        hooks {
            fn verify(self) -> Res { check(self.op(), self.barrier(), &self.indices()) }
        }
    }
}
op! {
    /// Waits until the phase of that parity has completed, with acquire semantics in the block, or in the cluster with
    /// `cluster`: a loop around `mbarrier.try_wait.parity`.
    ///
    /// ```mlir
    /// %bar = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    /// %p = arith.constant false
    /// tile.mbarrier.wait %bar[], %p : memref<!tile.mbarrier, #tile.shared>
    /// ```
    pub struct Wait = "tile.mbarrier.wait" {
        operands { barrier: one(MBARRIERS), indices: variadic(INDEX), parity: one(I1) }
        attributes { cluster: unit }
        effects [read barrier, read, write]
        marks [ORDERS]
        format "$barrier `[` $indices `]` `,` $parity (`cluster` $cluster^)? attr-dict `:` type($barrier)"
        hooks {
            fn verify(self) -> Res { check(self.op(), self.barrier(), &self.indices()) }
        }
    }
}

fn check_bytes<'c>(op: OperationRef<'c, 'c>, bytes: Value<'c, 'c>) -> Res {
    match bytes.constant_int() {
        Some(n) if !(0..1 << 20).contains(&n) => Diag::op(
            &op,
            format!("{n} bytes, but a phase counts at most 1048575; split the transfer"),
        )
        .report(),
        _ => Ok(()),
    }
}
