//! Frames of calls: the registers of a function, with the special values that it reads.
use super::Context;
use super::registers::set_lane;
use super::warp::Warp;
use crate::isa::{Code, LANES, Special, Value};

/// Registers of one call, for all lanes that made it together.
pub struct Frame {
    pub function: u32,
    pub regs: Vec<u64>,
    /// Start of the frame in local memory, the same in all lanes.
    pub local_base: u32,
    pub parent: u32,
    pub return_pc: u32,
    /// Instruction of the parent that called.
    pub call_pc: u32,
    pub live: u32,
    pub depth: u32,
}

/// The parent of a kernel's frame.
pub const NO_FRAME: u32 = u32::MAX;

impl Warp {
    pub(super) fn make_frame(
        &mut self,
        cx: &Context<'_, '_>,
        code: &Code,
        function: u32,
        live: u32,
        (parent, call_pc, return_pc): (u32, u32, u32),
        local_base: u32,
    ) -> u32 {
        let depth = self.frames.get(parent as usize).map_or(0, |p| p.depth + 1);
        let words = code.frame_words as usize;
        let (id, mut regs) = match self.free.pop() {
            Some(id) => {
                let mut regs = std::mem::take(&mut self.frames[id as usize].regs);
                regs.clear();
                regs.resize(words, 0);
                (id, regs)
            }
            // Zeroed by the host, which gives memory only as it is touched.
            None => (self.frames.len() as u32, vec![0; words]),
        };
        for (special, slot) in &code.specials {
            let value = Value { slot: *slot, bits: 32 };
            for l in 0..LANES {
                set_lane(&mut regs, value, l, self.special(cx, *special, l).into());
            }
        }
        let frame = Frame {
            function,
            regs,
            local_base,
            parent,
            return_pc,
            call_pc,
            live,
            depth,
        };
        if id as usize == self.frames.len() {
            self.frames.push(frame);
        } else {
            self.frames[id as usize] = frame;
        }
        id
    }

    fn special(&self, cx: &Context<'_, '_>, special: Special, l: usize) -> u32 {
        let shape = &cx.grid.shape;
        let block = &cx.cluster.blocks[cx.block];
        let Some(identity) = &self.identity else { return 0 };
        let dim = |d: u8, v: &[u32; 3]| v[usize::from(d) % 3];
        let bit = 1u32 << l;
        match special {
            Special::Tid(d) => dim(d, &identity.tid[l]),
            Special::Ntid(d) => dim(d, &shape.block),
            Special::Ctaid(d) => dim(d, &block.index),
            Special::Nctaid(d) => dim(d, &shape.grid),
            Special::LaneId => l as u32,
            Special::WarpId => identity.warp,
            Special::WarpCount => shape.warps(),
            Special::LaneMaskEq => bit,
            Special::LaneMaskLt => bit - 1,
            Special::LaneMaskLe => bit | (bit - 1),
            Special::LaneMaskGt => !(bit | (bit - 1)),
            Special::LaneMaskGe => !(bit - 1),
            Special::ClusterId(d) => dim(d, &cx.cluster.index),
            Special::ClusterCount(d) => dim(d, &shape.grid) / dim(d, &shape.cluster).max(1),
            Special::ClusterCtaid(d) => dim(d, &block.index) % dim(d, &shape.cluster).max(1),
            Special::ClusterNctaid(d) => dim(d, &shape.cluster),
            Special::ClusterCtaRank => block.rank,
            Special::ClusterCtaCount => shape.cluster.iter().product(),
            Special::ExplicitCluster => u32::from(shape.explicit_cluster),
            Special::SmId => {
                let [x, y, _] = shape.grid;
                (block.index[0] + x * (block.index[1] + y * block.index[2])) % super::launch::MULTIPROCESSORS
            }
            Special::SmCount => super::launch::MULTIPROCESSORS,
            Special::GridId => 1,
            Special::DynamicShared => shape.dynamic_shared,
            Special::TotalShared => shape.shared_end(cx.grid.program) - crate::isa::SHARED_BASE,
            Special::Zero => 0,
        }
    }
}
