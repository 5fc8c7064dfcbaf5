//! Barriers among threads of a block or of a warp, and fences between ways to reach memory.
use super::super::verify::{block_threads, on_device, role_of};
use girih_ir::{attr_enum, kind::I64, op, op::OpView, prelude::*};

op! {
    /// Waits for all threads of the block, or for `threads` threads (a multiple of 32) at the named barrier `id` (1 to 15);
    /// orders ordinary accesses to shared and global memory among them: `barrier.cta.sync`. Other blocks do not wait.
    ///
    /// ```mlir
    /// tile.barrier
    /// tile.barrier id 1 threads 128
    /// ```
    pub struct Barrier = "tile.barrier" {
        attributes { id: optional(I64), threads: optional(I64) }
        effects [read, write]
        format "(`id` $id^)? (`threads` $threads^)? attr-dict"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                let op = self.op();
                errors.merge(on_device(op));
                if let Some(id) = self.id().filter(|id| !(0..16).contains(id)) {
                    errors.op(&op, format!("id = {id}, but a block has barriers 0 to 15"));
                }
                if let Some(n) = self.threads().filter(|n| *n <= 0 || n % 32 != 0 || *n > 1024) {
                    errors.op(&op, format!("threads = {n}, but a barrier counts whole warps: a multiple of 32 up to 1024"));
                }
                if self.threads().is_some() && self.id().is_none_or(|id| id == 0) {
                    errors.op(&op, "counts threads, but names no barrier; barrier 0 is for the whole block, use id 1 to 15");
                }
                let block = block_threads(op);
                if let (Some(n), Some(block)) = (self.threads(), block)
                    && n > block
                {
                    errors.op(&op, format!("waits for threads {n}, but the kernel has threads({block}): it would wait for ever"));
                }
                if let (None, Some(role)) = (self.threads(), role_of(op)) {
                    let threads = role.warps.saturating_mul(32);
                    errors.op(&op, format!("waits for the whole block, but only role '{}' comes here: it would wait for ever; write id 1 threads {threads}, with an id for each role", role.name));
                }
                errors.result()
            }
        }
    }
}

op! {
    /// Waits for all lanes of the warp, which must all come here; orders ordinary accesses to shared and global memory among
    /// them: `bar.warp.sync`.
    ///
    /// ```mlir
    /// tile.warp_sync
    /// ```
    pub struct WarpSync = "tile.warp_sync" {
        effects [read, write]
        format "attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()) } }
    }
}

attr_enum! {
    /// What a fence orders.
    pub enum FenceKind("a fence") {
        /// Makes initialised mbarriers visible to the other blocks of the cluster: `fence.mbarrier_init.release.cluster`. Within
        /// the block a barrier does.
        MbarrierInit = "mbarrier_init",
        /// Ordinary accesses before, async-proxy accesses (tensor copies, wgmma) after: `fence.proxy.async`.
        ProxyAsync = "proxy_async",
        /// The same for shared memory of the block only: `fence.proxy.async.shared::cta`.
        ProxyAsyncShared = "proxy_async_shared",
        /// The same for global memory only: `fence.proxy.async.global`.
        ProxyAsyncGlobal = "proxy_async_global",
        /// All accesses of the thread, as seen by its block: `fence.acq_rel.cta`.
        Block = "block",
        /// As seen by the cluster: `fence.acq_rel.cluster`.
        Cluster = "cluster",
        /// As seen by the GPU: `fence.acq_rel.gpu`.
        Gpu = "gpu",
        /// As seen by the system: `fence.acq_rel.sys`.
        System = "system",
    }
}

op! {
    /// Orders this thread's accesses before it with those after it.
    ///
    /// ```mlir
    /// tile.fence proxy_async_shared
    /// ```
    pub struct Fence = "tile.fence" {
        attributes { kind: required(FenceKind) }
        effects [read, write]
        format "$kind attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()) } }
    }
}
