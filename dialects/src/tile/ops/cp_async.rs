//! Copies of a few bytes from global to shared memory in the background, by each thread for itself (PTX ISA, `cp.async`).
//! They go through the generic proxy: what tensor copies or wgmma read of it passes a `tile.fence proxy_async_shared`.
//!
//! ```mlir
//! tile.cp_async %A[%row, %column], %slot[%r, %c], 16 src_size %n : ...
//! tile.cp_async.mbarrier_arrive %full[%slot] noinc : ...         // arrives when the thread's copies so far are over
//! tile.cp_async.wait_all                                         // or: the thread waits for them
//! tile.cp_async.commit_group                                     // or: for all but the last groups
//! tile.cp_async.wait_group 2
//! ```
use super::super::{
    marks::IN_FLIGHT,
    spaces::{GLOBAL_MEMREF, SHARED_MEMREF, shared_of},
    types::MBARRIERS,
    verify::{element_bits, index_count, indices_inside, is_contiguous, on_device},
};
use super::{bulk::misplaced, mbarrier::check_barrier, memory::known_alignment};
use girih_core::tensor_map::Swizzle;
use girih_ir::{
    constraint::{I32, INDEX},
    kind::I64,
    op,
    prelude::*,
};

op! {
    /// Copies `bytes` (4, 8 or 16) from the element at the first indices on to the element at the second on: `cp.async`. Both
    /// places are multiples of as many bytes, and the elements lie next to each other at both. With `src_size` only that many
    /// bytes are read, and the rest is zeros; with 0 the place in global memory may lie outside the memref, but is aligned.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %n: i32) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %m = tile.alloc : memref<32x64xbf16, #tile.shared<swizzle = 128>>
    ///   %c0 = arith.constant 0 : index
    ///   %t = tile.thread_id
    ///   tile.cp_async %A[%t, %c0], %m[%t, %c0], 16 src_size %n : memref<?x?xbf16, strided<[?, 1]>, #tile.global>, memref<32x64xbf16, #tile.shared<swizzle = 128>>
    ///   tile.cp_async.wait_all
    /// }
    /// ```
    pub struct CpAsync = "tile.cp_async" {
        operands {
            source: one(GLOBAL_MEMREF), indices: variadic(INDEX),
            destination: one(SHARED_MEMREF), destination_indices: variadic(INDEX),
            src_size: optional(I32),
        }
        attributes { bytes: required(I64) }
        effects [read source, write destination, read, write]
        marks [IN_FLIGHT: destination]
        format "$source `[` $indices `]` `,` $destination `[` $destination_indices `]` `,` $bytes (`src_size` $src_size^)? attr-dict `:` type($source) `,` type($destination)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (from, to, bytes) = (self.source().r#type(), self.destination().r#type(), self.bytes());
                if ![4, 8, 16].contains(&bytes) {
                    errors.op(&op, format!("copies {bytes} bytes, but cp.async copies 4, 8 or 16; write several copies"));
                }
                if from.element_type() != to.element_type() {
                    errors.op(&op, format!("copies from {from} to {to}, which has other elements; give both the same element type"));
                }
                index_count(op, &mut errors, "the memref in global memory", from.shape().unwrap_or_default().len(), self.indices().len());
                indices_inside(op, &mut errors, "the memref in shared memory", to, &self.destination_indices());
                if !is_contiguous(to) {
                    errors.op(&op, format!("copies to contiguous shared memory, found {to}; take a part with tile.slab"));
                }
                if let Some(element) = element_bits(to).map(|bits| bits as i64 / 8)
                    && bytes % element != 0
                {
                    errors.op(&op, format!("copies {bytes} bytes, which are no whole elements of {to}; copy a multiple of {element}"));
                }
                if shared_of(to).is_some_and(|s| s.mode() == Swizzle::B128Atom32Flip8) && bytes > 8 {
                    errors.op(&op, format!("copies {bytes} bytes that do not lie together in {to}, whose swizzle moves 8; copy 8"));
                }
                if [4, 8, 16].contains(&bytes) {
                    places(self, &mut errors);
                }
                if let Some(n) = self.src_size().and_then(|n| n.constant_int()).filter(|n| !(0..=bytes).contains(n)) {
                    errors.op(&op, format!("src_size = {n}, but of {bytes} bytes 0 to {bytes} can be read; take one of these"));
                }
                errors.result()
            }
        }
    }
}

/// What is known of the places of a copy: the elements lie next to each other, and both ends on a multiple of its bytes.
fn places<'c>(copy: CpAsync<'c, 'c>, errors: &mut Errors) {
    let (op, bytes) = (copy.op(), copy.bytes());
    let (from, to) = (copy.source().r#type(), copy.destination().r#type());
    let strides = from
        .strides_and_offset()
        .map(|(strides, _)| strides)
        .unwrap_or_default();
    let is_one = element_bits(from).is_some_and(|bits| bits as i64 == 8 * bytes);
    if !is_one && !strides.is_empty() && !strides.contains(&1) {
        let m = format!(
            "copies {bytes} bytes that lie together, but no dimension of {from} is known to have stride 1; give one of them \
             stride 1, as in strided<[?, 1]>"
        );
        errors.op(&op, m);
    }
    let align = known_alignment(copy.destination());
    if is_contiguous(to) && align < bytes.unsigned_abs() {
        let m = format!(
            "copies {bytes} bytes to shared memory that starts on a multiple of {align} only; say align = {bytes} where it is \
             allocated, or copy fewer"
        );
        errors.op(&op, m);
    }
    // A branch that asks at run time is not taken where the places do not fit, whatever is known of them.
    if std::iter::successors(op.parent(), |outer| outer.parent()).any(|outer| outer.full_name() == "scf.if") {
        return;
    }
    let ends = [
        ("global", from, copy.indices()),
        ("shared", to, copy.destination_indices()),
    ];
    for (space, t, indices) in ends {
        if let Some((rest, modulus)) = misplaced(t, &indices, bytes) {
            let m = format!(
                "the {space} address is {rest} bytes more than a multiple of {modulus} past the start, but {bytes} bytes are copied \
                 from a multiple of {bytes} to one; copy fewer, or start elsewhere"
            );
            errors.op(&op, m);
        }
    }
}

op! {
    /// Arrives at an mbarrier when all copies that the thread has issued with `tile.cp_async` are over, without waiting for
    /// them: `cp.async.mbarrier.arrive`. With `noinc` it is one of the arrivals that the phase expects; without, the phase
    /// expects one more, so that nothing changes for the others. It says nothing about the thread's ordinary stores.
    ///
    /// ```mlir
    /// %full = tile.alloc : memref<4x!tile.mbarrier, #tile.shared>
    /// %slot = arith.constant 0 : index
    /// tile.cp_async.mbarrier_arrive %full[%slot] noinc : memref<4x!tile.mbarrier, #tile.shared>
    /// ```
    pub struct MbarrierArrive = "tile.cp_async.mbarrier_arrive" {
        operands { barrier: one(MBARRIERS), indices: variadic(INDEX) }
        attributes { noinc: unit }
        effects [read barrier, write barrier, read, write]
        format "$barrier `[` $indices `]` (`noinc` $noinc^)? attr-dict `:` type($barrier)"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                errors.merge(on_device(self.op()));
                check_barrier(self.op(), &mut errors, self.barrier(), &self.indices());
                errors.result()
            }
        }
    }
}

op! {
    /// Waits until all copies that the thread has issued with `tile.cp_async` are over: `cp.async.wait_all`.
    ///
    /// ```mlir
    /// tile.cp_async.wait_all
    /// ```
    pub struct WaitAll = "tile.cp_async.wait_all" {
        effects [read, write]
        format "attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()) } }
    }
}

op! {
    /// Makes a group of the copies that the thread has issued with `tile.cp_async` since the last group, of none if there are
    /// none: `cp.async.commit_group`.
    ///
    /// ```mlir
    /// tile.cp_async.commit_group
    /// ```
    pub struct CommitGroup = "tile.cp_async.commit_group" {
        effects [read, write]
        format "attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()) } }
    }
}

op! {
    /// Waits until of the thread's groups of `tile.cp_async` at most the last `pending` are in flight: `cp.async.wait_group`.
    /// What other threads copied is there after a barrier.
    ///
    /// ```mlir
    /// tile.cp_async.wait_group 2
    /// tile.barrier
    /// ```
    pub struct WaitGroup = "tile.cp_async.wait_group" {
        attributes { pending: required(I64) }
        effects [read, write]
        format "$pending attr-dict"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                errors.merge(on_device(self.op()));
                if !(0..=MOST_PENDING).contains(&self.pending()) {
                    errors.op(&self.op(), format!("leaves {} groups in flight; write 0 to {MOST_PENDING}", self.pending()));
                }
                errors.result()
            }
        }
    }
}

/// Most groups that a wait leaves in flight: ptxas takes no larger number.
const MOST_PENDING: i64 = 7;
