//! Instructions that lanes of a warp, or the warps of a warpgroup, execute together.
use super::Context;
use super::footprint::Log;
use super::memory::Generic;
use super::shared::ClusterShared;
use super::warp::{Flow, Warp, lanes};
use crate::collective::{Collective, Kind, Product, Redux, Shuffle, Vote};
use crate::isa::{LANES, Op, Program, Space, Value};
use crate::memory::{Fault, FaultKind};
use crate::profile::SharedKind;
use crate::tensor_core::WarpRegister;
use crate::tensor_core::matrix;

pub(super) fn illegal(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::IllegalInstruction, message)
}

impl Warp {
    fn members(&self, program: &Program, collective: &Collective, l: usize) -> u32 {
        collective.members.map_or(u32::MAX, |m| self.read(program, l, m) as u32)
    }

    /// Executes a collective when all its members are there, else lets the lanes wait.
    pub(super) fn collective(
        &mut self,
        cx: &mut Context<'_, '_>,
        collective: &Collective,
        active: u32,
    ) -> Result<Flow, Fault> {
        let program: &Program = cx.grid.program;
        // The whole warp at a full mask: nothing to gather.
        if active == self.alive && active == self.mask {
            let uniform = match collective.members {
                None => true,
                Some(m) => lanes(active).all(|l| self.read(program, l, m) as u32 & self.alive == self.alive),
            };
            if uniform {
                for l in lanes(active) {
                    self.pc[l] = self.at;
                }
                return self.perform(cx, &collective.kind, active);
            }
        }
        for l in lanes(self.mask) {
            self.pc[l] = if active >> l & 1 != 0 { self.at } else { self.at + 1 };
        }
        self.waiting |= active;
        let mut rest = active;
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            let members = self.members(program, collective, first);
            let here = lanes(rest).filter(|l| self.members(program, collective, *l) == members);
            let here = here.fold(0u32, |m, l| m | 1 << l);
            rest &= !here;
            self.lane = first;
            if here & !members != 0 {
                return Err(illegal(format!(
                    "a lane executes this with membermask {members:#010x}, which leaves it out"
                )));
            }
            // Others that wait at the same instruction, for the same members.
            let sync = matches!(collective.kind, Kind::WarpSync);
            let place = self.place(first);
            let mut gathered = 0;
            for l in lanes(self.waiting) {
                let (function, pc) = self.place(l);
                let Some(code) = &program.functions[function as usize] else {
                    continue;
                };
                let Op::Collective(other) = &code.insts[pc as usize].op else {
                    continue;
                };
                let same = (function, pc) == place || sync && matches!(other.kind, Kind::WarpSync);
                if same && self.members(program, other, l) == members {
                    gathered |= 1 << l;
                }
            }
            if members & self.alive & !gathered == 0 {
                match self.perform(cx, &collective.kind, gathered)? {
                    Flow::Stall => {
                        self.waiting &= !gathered;
                        self.stalled |= gathered;
                    }
                    _ => {
                        self.waiting &= !gathered;
                        lanes(gathered).for_each(|l| self.pc[l] += 1);
                    }
                }
            }
        }
        Ok(Flow::Split)
    }

    fn gather(&self, program: &Program, value: Value) -> WarpRegister {
        std::array::from_fn(|l| self.read(program, l, value))
    }

    fn gather_all(&self, program: &Program, values: &[Value]) -> Vec<WarpRegister> {
        values.iter().map(|v| self.gather(program, *v)).collect()
    }

    fn scatter(&mut self, values: &[Value], results: &[WarpRegister], active: u32) {
        for (value, result) in values.iter().zip(results) {
            lanes(active).for_each(|l| self.write(l, *value, result[l]));
        }
    }

    fn perform(&mut self, cx: &mut Context<'_, '_>, kind: &Kind, active: u32) -> Result<Flow, Fault> {
        let program: &Program = cx.grid.program;
        match kind {
            Kind::WarpSync => cx.check(|state, block| state.sync_warp(self.who(block, active))),
            Kind::Shuffle { mode, d, p, a, b, c } => {
                let source = self.gather(program, *a);
                for l in lanes(active) {
                    let b = self.read(program, l, *b) as usize & 31;
                    let c = self.read(program, l, *c) as usize;
                    let (segment, clamp) = (c >> 8 & 31, c & 31);
                    let max = l & segment | clamp & !segment & 31;
                    let min = l & segment;
                    let (from, valid) = match mode {
                        Shuffle::Up => (l.wrapping_sub(b), l as i64 - b as i64 >= max as i64),
                        Shuffle::Down => (l + b, l + b <= max),
                        Shuffle::Butterfly => (l ^ b, l ^ b <= max),
                        Shuffle::Index => (min | b & !segment & 31, min | b & !segment & 31 <= max),
                    };
                    let from = if valid { from } else { l };
                    // Reading a lane that does not take part gives an unspecified value; here the own one.
                    let value = if active >> (from & 31) & 1 != 0 {
                        source[from & 31]
                    } else {
                        source[l]
                    };
                    self.write(l, *d, value);
                    if let Some(p) = p {
                        self.write(l, Value { slot: *p, bits: 1 }, valid.into());
                    }
                }
            }
            Kind::Vote { mode, d, p } => {
                let holds = lanes(active)
                    .filter(|l| (self.read(program, *l, Value { slot: p.slot, bits: 1 }) != 0) != p.negated)
                    .fold(0u32, |m, l| m | 1 << l);
                let result = match mode {
                    Vote::All => u64::from(holds == active),
                    Vote::Any => u64::from(holds != 0),
                    Vote::Uniform => u64::from(holds == active || holds == 0),
                    Vote::Ballot => holds.into(),
                };
                lanes(active).for_each(|l| self.write(l, *d, result));
            }
            Kind::Match { all, d, p, a } => {
                let values = self.gather(program, *a);
                for l in lanes(active) {
                    let same = lanes(active)
                        .filter(|m| values[*m] == values[l])
                        .fold(0u32, |m, l| m | 1 << l);
                    let result = if !*all || same == active { same } else { 0 };
                    self.write(l, *d, result.into());
                    if let Some(p) = p {
                        self.write(l, Value { slot: *p, bits: 1 }, u64::from(same == active));
                    }
                }
            }
            Kind::Redux { op, d, a } => {
                let values = lanes(active).map(|l| self.read(program, l, *a) as u32);
                let result = values.reduce(|x, y| match op {
                    Redux::Add => x.wrapping_add(y),
                    Redux::MinUnsigned => x.min(y),
                    Redux::MaxUnsigned => x.max(y),
                    Redux::MinSigned => (x as i32).min(y as i32) as u32,
                    Redux::MaxSigned => (x as i32).max(y as i32) as u32,
                    Redux::And => x & y,
                    Redux::Or => x | y,
                    Redux::Xor => x ^ y,
                });
                let result = result.unwrap_or(0);
                lanes(active).for_each(|l| self.write(l, *d, result.into()));
            }
            Kind::Elect { d, p } => {
                let leader = active.trailing_zeros() as usize;
                for l in lanes(active) {
                    self.write(l, *d, leader as u64);
                    self.write(l, Value { slot: *p, bits: 1 }, u64::from(l == leader));
                }
            }
            Kind::LoadMatrix {
                d,
                transpose,
                space,
                address,
            } => {
                let addresses = std::array::from_fn(|l| shared_address(*space, self.address(cx, address, l)));
                self.observe_matrices(cx, SharedKind::LoadMatrix, d.len(), &addresses);
                if cx.grid.checks.is_some() {
                    self.check_rows(cx, &addresses, 8 * d.len(), active, false);
                }
                let shared = ClusterShared {
                    blocks: &cx.cluster.blocks,
                    own: cx.block,
                };
                let mut results = vec![[0; LANES]; d.len()];
                matrix::ldmatrix(&shared, &addresses, *transpose, &mut results)?;
                self.scatter(d, &results, active);
            }
            Kind::StoreMatrix {
                values,
                transpose,
                space,
                address,
            } => {
                let addresses = std::array::from_fn(|l| shared_address(*space, self.address(cx, address, l)));
                self.observe_matrices(cx, SharedKind::StoreMatrix, values.len(), &addresses);
                if cx.grid.checks.is_some() {
                    self.check_rows(cx, &addresses, 8 * values.len(), active, true);
                }
                let values = self.gather_all(program, values);
                let shared = ClusterShared {
                    blocks: &cx.cluster.blocks,
                    own: cx.block,
                };
                matrix::stmatrix(&shared, &addresses, *transpose, &values)?;
                cx.cluster.effects += 1;
            }
            Kind::MoveMatrix { d, a } => {
                let result = matrix::movmatrix(&self.gather(program, *a));
                self.scatter(&[*d], &[result], active);
            }
            Kind::Mma { mma, product, metadata } => {
                let (a, b, c) = self.factors(program, product);
                let (words, selector) = match metadata {
                    Some((value, selector)) => (self.gather(program, *value), *selector),
                    None => ([0; LANES], 0),
                };
                let mut d = vec![[0; LANES]; product.d.len()];
                mma.run(&a, &b, &c, &words, selector, &mut d)
                    .map_err(|e| illegal(e.to_string()))?;
                self.scatter(&product.d, &d, active);
            }
            Kind::WmmaLoad {
                wmma,
                fragment,
                layout,
                d,
                space,
                address,
                stride,
            } => {
                let first = active.trailing_zeros() as usize;
                let at = self.address(cx, address, first);
                let stride = self.read(program, first, *stride);
                let shared = ClusterShared {
                    blocks: &cx.cluster.blocks,
                    own: cx.block,
                };
                let memory = Generic {
                    global: cx.grid.memory,
                    shared: &shared,
                    space: *space,
                };
                let mut results = vec![[0; LANES]; d.len()];
                wmma.load(*fragment, *layout, &memory, at, stride, &mut results)?;
                if cx.grid.checks.is_some() {
                    let again = |log: &Log| wmma.load(*fragment, *layout, log, at, stride, &mut results.clone());
                    self.check_logged(cx, *space, active, again);
                }
                self.scatter(d, &results, active);
            }
            Kind::WmmaStore {
                wmma,
                layout,
                values,
                space,
                address,
                stride,
            } => {
                let first = active.trailing_zeros() as usize;
                let at = self.address(cx, address, first);
                let stride = self.read(program, first, *stride);
                let values = self.gather_all(program, values);
                let shared = ClusterShared {
                    blocks: &cx.cluster.blocks,
                    own: cx.block,
                };
                let memory = Generic {
                    global: cx.grid.memory,
                    shared: &shared,
                    space: *space,
                };
                if cx.grid.checks.is_some() {
                    let first = |log: &Log| wmma.store(*layout, log, at, stride, &values);
                    self.check_logged(cx, *space, active, first);
                }
                wmma.store(*layout, &memory, at, stride, &values)?;
                cx.cluster.effects += 1;
            }
            Kind::WmmaProduct { wmma, product } => {
                let (a, b, c) = self.factors(program, product);
                let mut d = vec![[0; LANES]; product.d.len()];
                wmma.multiply(&a, &b, &c, &mut d);
                self.scatter(&product.d, &d, active);
            }
            Kind::Wgmma(product) => return self.wgmma(cx, product, active),
            Kind::WgmmaCommit => self.wgmma_groups += 1,
            Kind::WgmmaWait(keep) => self.wgmma_wait(cx, *keep)?,
            Kind::Registers { count, grows } => {
                let (warp, line) = (self.number(), self.line(program, active.trailing_zeros() as usize));
                let pool = &mut cx.cluster.blocks[cx.block].registers;
                if !pool.change(warp, *count, *grows, line, cx.grid.checks.as_ref()) {
                    return Ok(Flow::Stall);
                }
                cx.cluster.effects += 1;
            }
        }
        Ok(Flow::Next)
    }

    fn factors(
        &self,
        program: &Program,
        product: &Product,
    ) -> (Vec<WarpRegister>, Vec<WarpRegister>, Vec<WarpRegister>) {
        (
            self.gather_all(program, &product.a),
            self.gather_all(program, &product.b),
            self.gather_all(program, &product.c),
        )
    }
}

/// Shared addresses may be given as generic ones.
fn shared_address(space: Space, addr: u64) -> u64 {
    match super::memory::resolve(space, addr) {
        (Space::Shared, addr) => addr,
        (_, addr) => addr,
    }
}
