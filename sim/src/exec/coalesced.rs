//! The common case of loads and stores: every active lane within one allocation, or within the block's own shared memory.
//!
//! Checks come first and nothing is touched when one fails: the general path then finds the lane at fault, or the several
//! places that the lanes go to.
use super::Context;
use super::memory::resolve;
use super::registers::{put, widen};
use super::warp::{Warp, lanes};
use crate::isa::{Access, LANES, RANK_SHIFT, Space, W64};

impl Warp {
    /// Loads for all active lanes; false when the general path must.
    pub(super) fn load_together(
        &mut self,
        cx: &Context<'_, '_>,
        access: &Access,
        addresses: &W64,
        active: u32,
    ) -> bool {
        let size = u64::from(access.bytes);
        let total = size * access.values.len() as u64;
        let first = active.trailing_zeros() as usize;
        if size > 8 {
            return false;
        }
        let mut results = [[0u64; LANES]; 8];
        match resolve(access.space, addresses[first]).0 {
            Space::Global => {
                let Some(view) = cx.grid.memory.view(addresses[first]) else {
                    return false;
                };
                for l in lanes(active) {
                    let offset = addresses[l].wrapping_sub(view.base);
                    if !view.holds(offset, total) || !addresses[l].is_multiple_of(total) {
                        return false;
                    }
                }
                for (i, result) in results.iter_mut().take(access.values.len()).enumerate() {
                    for l in lanes(active) {
                        result[l] = view.load(addresses[l] - view.base + i as u64 * size, size);
                    }
                }
            }
            Space::Shared => {
                let block = &cx.cluster.blocks[cx.block];
                let Some(offsets) = own_offsets(access.space, addresses, block.rank, total, active) else {
                    return false;
                };
                let done = block.shared.with(|bytes| {
                    if lanes(active).any(|l| !inside(bytes, offsets[l], total)) {
                        return false;
                    }
                    for (i, result) in results.iter_mut().take(access.values.len()).enumerate() {
                        for l in lanes(active) {
                            let at = (offsets[l] + i as u64 * size) as usize;
                            let mut word = [0; 8];
                            word[..size as usize].copy_from_slice(&bytes[at..at + size as usize]);
                            result[l] = u64::from_le_bytes(word);
                        }
                    }
                    true
                });
                if !done {
                    return false;
                }
            }
            _ => return false,
        }
        let regs = &mut self.frame_mut().regs;
        for (value, result) in access.values.iter().zip(&mut results) {
            if access.signed && size < 8 {
                let shift = 64 - 8 * size;
                for x in result.iter_mut() {
                    *x = ((*x << shift) as i64 >> shift) as u64;
                }
            }
            put(regs, *value, result, active);
        }
        true
    }

    /// Stores for all active lanes; false when the general path must.
    pub(super) fn store_together(
        &mut self,
        cx: &Context<'_, '_>,
        access: &Access,
        addresses: &W64,
        active: u32,
    ) -> bool {
        let size = u64::from(access.bytes);
        let total = size * access.values.len() as u64;
        let first = active.trailing_zeros() as usize;
        if size > 8 {
            return false;
        }
        let regs = &self.frame().regs;
        let pool = &cx.grid.program.pool;
        match resolve(access.space, addresses[first]).0 {
            Space::Global => {
                let Some(view) = cx.grid.memory.view(addresses[first]).filter(|v| v.writable) else {
                    return false;
                };
                for l in lanes(active) {
                    let offset = addresses[l].wrapping_sub(view.base);
                    if !view.holds(offset, total) || !addresses[l].is_multiple_of(total) {
                        return false;
                    }
                }
                let neighbours = size == 4 && total == 4;
                for (i, value) in access.values.iter().enumerate() {
                    let data = widen(regs, pool, *value);
                    let mut rest = active;
                    while rest != 0 {
                        let l = rest.trailing_zeros() as usize;
                        rest &= rest - 1;
                        let offset = addresses[l] - view.base + i as u64 * size;
                        // Two lanes side by side fill a word at once.
                        let next = l + 1;
                        if neighbours
                            && next < LANES
                            && rest >> next & 1 != 0
                            && offset.is_multiple_of(8)
                            && addresses[next] == addresses[l] + 4
                        {
                            rest &= rest - 1;
                            view.store(offset, 8, data[l] & 0xffff_ffff | data[next] << 32);
                        } else {
                            view.store(offset, size, data[l]);
                        }
                    }
                }
            }
            Space::Shared => {
                let block = &cx.cluster.blocks[cx.block];
                let Some(offsets) = own_offsets(access.space, addresses, block.rank, total, active) else {
                    return false;
                };
                return block.shared.with(|bytes| {
                    if lanes(active).any(|l| !inside(bytes, offsets[l], total)) {
                        return false;
                    }
                    for (i, value) in access.values.iter().enumerate() {
                        let data = widen(regs, pool, *value);
                        for l in lanes(active) {
                            let at = (offsets[l] + i as u64 * size) as usize;
                            bytes[at..at + size as usize].copy_from_slice(&data[l].to_le_bytes()[..size as usize]);
                        }
                    }
                    true
                });
            }
            _ => return false,
        }
        true
    }
}

fn inside(bytes: &[u8], offset: u64, total: u64) -> bool {
    offset >= u64::from(crate::isa::SHARED_BASE) && offset + total <= bytes.len() as u64
}

/// Addresses in the block's own shared memory, or nothing where a lane goes elsewhere or is not aligned.
fn own_offsets(space: Space, addresses: &W64, rank: u32, total: u64, active: u32) -> Option<W64> {
    let mut offsets = [0; LANES];
    for l in lanes(active) {
        let (space, addr) = resolve(space, addresses[l]);
        let block = addr >> RANK_SHIFT;
        if space != Space::Shared || block != 0 && block != u64::from(rank) + 1 || !addr.is_multiple_of(total) {
            return None;
        }
        offsets[l] = addr & ((1 << RANK_SHIFT) - 1);
    }
    Some(offsets)
}
