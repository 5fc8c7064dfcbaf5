//! Loads, stores and atomics of a warp.
use super::Context;
use super::atomic;
use super::registers::{get32, get64, lane, lane_high, put_mask, set_lane, set_lane_high};
use super::shared::ClusterShared;
use super::spin::Look;
use super::warp::{STACK_BYTES, Warp, lanes, stack_fault};
use crate::isa::{
    Access, Address, Atomic, Base, LANES, LOCAL_WINDOW, RANK_SHIFT, SHARED_WINDOW, Slot, Space, Value, W64,
    WINDOW_BYTES,
};
use crate::memory::{Bytes, Fault, FaultKind, aligned};

/// The state space of a generic address and the address there.
pub fn resolve(space: Space, addr: u64) -> (Space, u64) {
    match space {
        Space::Generic if addr.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES => (Space::Shared, addr - SHARED_WINDOW),
        Space::Generic if addr.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES => (Space::Local, addr - LOCAL_WINDOW),
        Space::Generic => (Space::Global, addr),
        space => (space, addr),
    }
}

/// Global and shared memory under generic addresses, as instructions see them that take either.
pub struct Generic<'a> {
    /// Global memory.
    pub global: &'a dyn Bytes,
    /// Shared memory.
    pub shared: &'a dyn Bytes,
    /// Space of the addresses.
    pub space: Space,
}

impl Generic<'_> {
    fn pick(&self, addr: u64) -> Result<(&dyn Bytes, u64), Fault> {
        match resolve(self.space, addr) {
            (Space::Shared, addr) => Ok((self.shared, addr)),
            (Space::Local, _) => Err(Fault::new(
                FaultKind::InvalidAddressSpace,
                "local memory is not allowed here",
            )),
            (_, addr) => Ok((self.global, addr)),
        }
    }
}

impl Bytes for Generic<'_> {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        let (memory, addr) = self.pick(addr)?;
        memory.read(addr, out)
    }
    fn write(&self, addr: u64, data: &[u8]) -> Result<(), Fault> {
        let (memory, addr) = self.pick(addr)?;
        memory.write(addr, data)
    }
    fn update(&self, addr: u64, size: usize, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        let (memory, addr) = self.pick(addr)?;
        memory.update(addr, size, f)
    }
}

/// Most bytes of one access of a lane.
const MOST: usize = 32;

impl Warp {
    /// The addresses of all lanes.
    pub(super) fn addresses(&self, cx: &Context<'_, '_>, address: &Address, space: Space) -> W64 {
        let offset = address.offset as u64;
        let regs = &self.frame().regs;
        let pool = &cx.grid.program.pool;
        match address.base {
            Base::Absolute => [offset; LANES],
            Base::Frame => std::array::from_fn(|l| {
                let at = u64::from(self.frame_base(l)).wrapping_add(offset);
                if space == Space::Generic {
                    at.wrapping_add(LOCAL_WINDOW)
                } else {
                    at
                }
            }),
            Base::Register(value) if value.bits == 64 => get64(regs, pool, value.slot).map(|a| a.wrapping_add(offset)),
            // 32-bit addresses of shared and local memory wrap as such.
            Base::Register(value) => get32(regs, pool, value.slot).map(|a| u64::from(a.wrapping_add(offset as u32))),
        }
    }

    /// The address of one lane, in the frame that the lane is in.
    pub(super) fn address(&self, cx: &Context<'_, '_>, address: &Address, l: usize) -> u64 {
        let offset = address.offset as u64;
        match address.base {
            Base::Absolute => offset,
            Base::Frame => u64::from(self.frame_base(l)).wrapping_add(offset),
            Base::Register(value) if value.bits == 64 => self.read(cx.grid.program, l, value).wrapping_add(offset),
            Base::Register(value) => {
                u64::from((self.read(cx.grid.program, l, value) as u32).wrapping_add(offset as u32))
            }
        }
    }

    pub(super) fn read_local(&self, l: usize, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        let end = addr.saturating_add(out.len() as u64);
        if end > u64::from(STACK_BYTES) {
            return Err(outside_local(addr, out.len()));
        }
        let local = &self.local[l];
        let at = (addr as usize).min(local.len());
        let known = (local.len() - at).min(out.len());
        out[..known].copy_from_slice(&local[at..at + known]);
        out[known..].fill(0);
        Ok(())
    }

    fn write_local(&mut self, l: usize, addr: u64, data: &[u8]) -> Result<(), Fault> {
        let end = addr.saturating_add(data.len() as u64);
        if end > u64::from(STACK_BYTES) {
            return Err(outside_local(addr, data.len()));
        }
        let local = &mut self.local[l];
        if local.len() < end as usize {
            local.resize((end as usize).next_multiple_of(64), 0);
        }
        local[addr as usize..end as usize].copy_from_slice(data);
        Ok(())
    }

    /// `ld`
    pub(super) fn load(&mut self, cx: &mut Context<'_, '_>, access: &Access, active: u32) -> Result<(), Fault> {
        let addresses = self.addresses(cx, &access.address, access.space);
        if cx.grid.checks.is_some() {
            self.check_access(cx, access, &addresses, active, false);
        }
        if self.load_together(cx, access, &addresses, active) {
            self.trace(cx, access, &addresses, active);
            return Ok(());
        }
        let size = usize::from(access.bytes);
        let total = size * access.values.len();
        debug_assert!(total <= MOST);
        for l in lanes(active) {
            self.lane = l;
            let (space, addr) = resolve(access.space, addresses[l]);
            aligned(addr, total as u64)?;
            let mut buffer = [0u8; MOST];
            match space {
                Space::Shared => {
                    let shared = ClusterShared {
                        blocks: &cx.cluster.blocks,
                        own: cx.block,
                    };
                    let (memory, addr) = shared.locate(addr)?;
                    memory.read(addr, &mut buffer[..total])?;
                }
                Space::Local => self.read_local(l, addr, &mut buffer[..total])?,
                _ if total <= 8 => {
                    let word = cx.grid.memory.load(addr, total as u64)?;
                    buffer[..8].copy_from_slice(&word.to_le_bytes());
                }
                _ => cx.grid.memory.read(addr, &mut buffer[..total])?,
            }
            let regs = &mut self.frame_mut().regs;
            for (i, value) in access.values.iter().enumerate() {
                let part = &buffer[i * size..];
                let mut word = [0; 8];
                word[..size.min(8)].copy_from_slice(&part[..size.min(8)]);
                let mut x = u64::from_le_bytes(word);
                if access.signed && size < 8 {
                    let shift = 64 - 8 * size;
                    x = ((x << shift) as i64 >> shift) as u64;
                }
                set_lane(regs, *value, l, x);
                if size == 16 {
                    word.copy_from_slice(&part[8..16]);
                    set_lane_high(regs, *value, l, u64::from_le_bytes(word));
                }
            }
        }
        self.trace(cx, access, &addresses, active);
        Ok(())
    }

    /// What a store writes for a lane, and its bytes.
    pub(super) fn stored(&self, pool: &[u64], access: &Access, l: usize) -> ([u8; MOST], usize) {
        let size = usize::from(access.bytes);
        let mut buffer = [0u8; MOST];
        let regs = &self.frame().regs;
        for (i, value) in access.values.iter().enumerate() {
            let word = lane(regs, pool, *value, l).to_le_bytes();
            buffer[i * size..i * size + size.min(8)].copy_from_slice(&word[..size.min(8)]);
            if size == 16 {
                let high = lane_high(regs, pool, *value, l).to_le_bytes();
                buffer[i * size + 8..i * size + 16].copy_from_slice(&high);
            }
        }
        (buffer, size * access.values.len())
    }

    /// `st`
    pub(super) fn store(&mut self, cx: &mut Context<'_, '_>, access: &Access, active: u32) -> Result<(), Fault> {
        let addresses = self.addresses(cx, &access.address, access.space);
        cx.cluster.effects += 1;
        if cx.grid.checks.is_some() {
            self.check_access(cx, access, &addresses, active, true);
        }
        if cx.cluster.spin.is_some() && self.store_is_harmless(cx, access, &addresses, active) {
            cx.cluster.spin.iter_mut().for_each(|spin| spin.harmless());
        }
        if self.store_together(cx, access, &addresses, active) {
            return Ok(());
        }
        for l in lanes(active) {
            self.lane = l;
            let (space, addr) = resolve(access.space, addresses[l]);
            let (buffer, total) = self.stored(&cx.grid.program.pool, access, l);
            aligned(addr, total as u64)?;
            match space {
                Space::Shared => {
                    let shared = ClusterShared {
                        blocks: &cx.cluster.blocks,
                        own: cx.block,
                    };
                    let (memory, addr) = shared.locate(addr)?;
                    memory.write(addr, &buffer[..total])?;
                }
                Space::Local => self.write_local(l, addr, &buffer[..total])?,
                _ => cx.grid.memory.write(addr, &buffer[..total])?,
            }
        }
        Ok(())
    }

    /// `atom` and `red`
    pub(super) fn atomic(&mut self, cx: &mut Context<'_, '_>, a: &Atomic, active: u32) -> Result<(), Fault> {
        let addresses = self.addresses(cx, &a.address, a.space);
        let size = atomic::bytes(a.ty);
        let pool = &cx.grid.program.pool;
        let mut changes = false;
        let mut looks = Vec::new();
        let traces = cx.cluster.spin.as_ref().is_some_and(|spin| spin.traces());
        cx.cluster.effects += 1;
        if cx.grid.checks.is_some() {
            self.check_atomic(cx, a, &addresses, active);
        }
        for l in lanes(active) {
            self.lane = l;
            for (i, operand) in a.operands.iter().enumerate() {
                let regs = &self.frame().regs;
                let operand_low = lane(regs, pool, *operand, l);
                let (space, addr) = resolve(a.space, addresses[l]);
                let addr = addr.wrapping_add((i * size) as u64);
                if size == 16 {
                    let wide =
                        |v: Value| u128::from(lane(regs, pool, v, l)) | u128::from(lane_high(regs, pool, v, l)) << 64;
                    let (operand, swap) = (wide(*operand), a.swap.map(wide));
                    let mut f = |old: u128| {
                        let new = match swap {
                            Some(swap) if old == operand => swap,
                            Some(_) => old,
                            None => operand,
                        };
                        changes |= new != old;
                        new
                    };
                    let old = match space {
                        Space::Global => cx.grid.memory.update_wide(addr, &mut f)?,
                        _ => {
                            return Err(Fault::new(
                                FaultKind::NotSupported,
                                "128-bit atomics are simulated for global memory only",
                            ));
                        }
                    };
                    if let Some(d) = a.old.get(i) {
                        let regs = &mut self.frame_mut().regs;
                        set_lane(regs, *d, l, old as u64);
                        set_lane_high(regs, *d, l, (old >> 64) as u64);
                    }
                    continue;
                }
                let swap = a.swap.map_or(0, |s| lane(regs, pool, s, l));
                let global = space == Space::Global;
                let mut undefined = false;
                let mut f = |old: u64| {
                    let new = atomic::apply(a.op, a.ty, global, old, operand_low, swap).unwrap_or_else(|| {
                        undefined = true;
                        old
                    });
                    changes |= (new ^ old) << (64 - 8 * size) != 0;
                    new
                };
                let old = match space {
                    Space::Shared => {
                        let shared = ClusterShared {
                            blocks: &cx.cluster.blocks,
                            own: cx.block,
                        };
                        shared.update(addr, size, &mut f)?
                    }
                    Space::Local => {
                        return Err(Fault::new(
                            FaultKind::InvalidAddressSpace,
                            "atomic operation on local memory",
                        ));
                    }
                    _ => cx.grid.memory.update(addr, size, &mut f)?,
                };
                if undefined {
                    return Err(Fault::new(
                        FaultKind::IllegalInstruction,
                        "the atomic operation does not go with its type",
                    ));
                }
                if let Some(d) = a.old.get(i) {
                    set_lane(&mut self.frame_mut().regs, *d, l, old);
                }
                if traces {
                    looks.push((l, (space, addr), old));
                }
            }
        }
        if let Some(spin) = &mut cx.cluster.spin {
            if !changes {
                spin.harmless();
            }
            let (line, at) = (self.here(cx.grid.program), (cx.block, self.number()));
            for (l, (space, address), value) in looks {
                let bytes = size as u8;
                spin.look(
                    at,
                    l,
                    Look {
                        line,
                        space,
                        address,
                        bytes,
                        value,
                    },
                );
            }
        }
        Ok(())
    }

    /// `isspacep`
    pub(super) fn is_space(
        &mut self,
        cx: &Context<'_, '_>,
        p: Slot,
        address: Value,
        space: Space,
        own: bool,
        active: u32,
    ) {
        let rank = cx.cluster.blocks[cx.block].rank + 1;
        let mut mask = 0;
        for l in lanes(active) {
            let (found, addr) = resolve(Space::Generic, self.read(cx.grid.program, l, address));
            let block = (addr >> RANK_SHIFT) as u32;
            let inside = found == space && (space != Space::Shared || !own || block == 0 || block == rank);
            mask |= u32::from(inside) << l;
        }
        put_mask(&mut self.frame_mut().regs, p, mask, active);
    }
}

fn outside_local(addr: u64, bytes: usize) -> Fault {
    if addr <= u64::from(STACK_BYTES) {
        return stack_fault(addr + bytes as u64);
    }
    Fault::new(
        FaultKind::IllegalAddress,
        format!("{bytes} bytes at local address {addr:#x}; a thread has {STACK_BYTES}"),
    )
}
