//! How far a launch has come, for another thread to look at.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts of the current launch, or of the last one. They are read without a lock, so they may be of different moments.
#[derive(Debug, Default)]
pub struct Progress {
    instructions: AtomicU64,
    blocks_done: AtomicU64,
    blocks: AtomicU64,
}

impl Progress {
    /// Warp instructions executed.
    pub fn instructions(&self) -> u64 {
        self.instructions.load(Relaxed)
    }

    /// Blocks that have ended.
    pub fn blocks_done(&self) -> u64 {
        self.blocks_done.load(Relaxed)
    }

    /// Blocks of the grid; 0 before the first launch.
    pub fn blocks(&self) -> u64 {
        self.blocks.load(Relaxed)
    }

    pub(crate) fn begin(&self, blocks: u64) {
        self.instructions.store(0, Relaxed);
        self.blocks_done.store(0, Relaxed);
        self.blocks.store(blocks, Relaxed);
    }

    pub(crate) fn add_instructions(&self, count: u64) {
        self.instructions.fetch_add(count, Relaxed);
    }

    pub(crate) fn add_blocks(&self, count: u64) {
        self.blocks_done.fetch_add(count, Relaxed);
    }
}
