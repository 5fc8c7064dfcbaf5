//! Which registers an instruction reads and writes.
use crate::collective::{Collective, Kind, Product};
use crate::isa::{Address, Argument, Base, Callee, Fence, Inst, Op, Outcome, Predicate, Slot, Value};
use crate::transfer::{MbarrierOp, Replaced, Transfer};

/// Gives each register of an instruction to `f`, with whether it is written. Constants are left out; a register that is
/// read and written comes twice.
pub fn visit(inst: &Inst, f: &mut dyn FnMut(Slot, bool)) {
    let mut visitor = Visitor(&mut |slot: Slot, write| {
        if !slot.is_pool() {
            f(slot, write);
        }
    });
    if let Some(guard) = inst.guard {
        visitor.predicate(guard);
    }
    visitor.op(&inst.op);
}

struct Visitor<'a>(&'a mut dyn FnMut(Slot, bool));

impl Visitor<'_> {
    fn reads(&mut self, slots: &[Slot]) {
        slots.iter().for_each(|slot| (self.0)(*slot, false));
    }

    fn writes(&mut self, slot: Slot) {
        (self.0)(slot, true);
    }

    fn values(&mut self, values: &[Value], write: bool) {
        values.iter().for_each(|value| (self.0)(value.slot, write));
    }

    fn predicate(&mut self, predicate: Predicate) {
        (self.0)(predicate.slot, false);
    }

    fn outcome(&mut self, outcome: &Outcome) {
        if let Some((_, predicate)) = outcome.combine {
            self.predicate(predicate);
        }
        self.writes(outcome.p);
        outcome.q.into_iter().for_each(|q| self.writes(q));
    }

    fn addresses(&mut self, addresses: &[&Address]) {
        for address in addresses {
            if let Base::Register(value) = address.base {
                self.reads(&[value.slot]);
            }
        }
    }

    fn replaced(&mut self, replaced: Option<&Replaced>) {
        if let Some(r) = replaced {
            self.values(&[r.address], false);
            self.values(&r.dims, false);
            self.values(&r.lower, false);
            self.values(r.upper.as_slice(), false);
        }
    }

    fn arguments(&mut self, arguments: &[Argument], write: bool) {
        for argument in arguments {
            if let Argument::Register(value) = argument {
                (self.0)(value.slot, write);
            }
        }
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Unary32(_, d, a) | Op::Unary64(_, d, a) | Op::Copy32(d, a) | Op::Copy64(d, a) | Op::Copy128(d, a) => {
                self.reads(&[*a]);
                self.writes(*d);
            }
            Op::Binary32(_, d, sources) => {
                self.reads(sources);
                self.writes(*d);
            }
            Op::Binary64(_, d, sources) => {
                self.reads(sources);
                self.writes(*d);
            }
            Op::Ternary32(_, d, sources) => {
                self.reads(sources);
                self.writes(*d);
            }
            Op::Ternary64(_, d, sources) => {
                self.reads(sources);
                self.writes(*d);
            }
            Op::Mixed(mixed) => {
                self.values(&mixed.2, false);
                self.writes(mixed.1.slot);
            }
            Op::Compare32(_, sources, outcome) => {
                self.reads(sources);
                self.outcome(outcome);
            }
            Op::Compare64(_, sources, outcome) => {
                self.reads(sources);
                self.outcome(outcome);
            }
            Op::CompareMixed(compare) => {
                self.values(&compare.1, false);
                self.outcome(&compare.2);
            }
            Op::Select32(d, sources, p) | Op::Select64(d, sources, p) => {
                self.reads(sources);
                self.predicate(*p);
                self.writes(*d);
            }
            Op::Logic(_, d, a, b) => {
                self.predicate(*a);
                self.predicate(*b);
                self.writes(*d);
            }
            Op::Predicate(d, p) | Op::FromPredicate(d, p) => {
                self.predicate(*p);
                self.writes(*d);
            }
            Op::Join(d, parts) => {
                self.values(parts, false);
                self.writes(d.slot);
            }
            Op::Split(parts, a) => {
                self.reads(&[a.slot]);
                parts.iter().flatten().for_each(|part| self.writes(part.slot));
            }
            Op::Carry(carry) => {
                self.values(&[carry.a, carry.b], false);
                if carry.takes {
                    self.reads(&[carry.carry]);
                }
                self.writes(carry.d.slot);
                if carry.gives {
                    self.writes(carry.carry);
                }
            }
            Op::FrameAddress(d, _) | Op::Clock(d, _) | Op::StackSave(d) => self.writes(d.slot),
            Op::Load(access) => {
                self.addresses(&[&access.address]);
                self.values(&access.values, true);
            }
            Op::Store(access) => {
                self.addresses(&[&access.address]);
                self.values(&access.values, false);
            }
            Op::Atomic(atomic) => {
                self.addresses(&[&atomic.address]);
                self.values(&atomic.operands, false);
                self.values(atomic.swap.as_slice(), false);
                self.values(&atomic.old, true);
            }
            Op::IsSpace(d, a, ..) => {
                self.reads(&[a.slot]);
                self.writes(*d);
            }
            Op::Alloca(d, a, _) => {
                self.reads(&[a.slot]);
                self.writes(d.slot);
            }
            Op::StackRestore(a) | Op::BranchIndexed(a, _) => self.reads(&[a.slot]),
            Op::Call(call) => {
                if let Callee::Indirect(value) = call.callee {
                    self.reads(&[value.slot]);
                }
                self.arguments(&call.arguments, false);
                self.arguments(&call.results, true);
            }
            Op::Print(print) => {
                self.arguments(&[print.format, print.arguments], false);
                self.arguments(print.result.as_slice(), true);
            }
            Op::AssertFail(failed) => self.arguments(&[failed.message], false),
            Op::Barrier(barrier) => {
                self.reads(&[barrier.id.slot]);
                self.values(barrier.threads.as_slice(), false);
                if let Some((_, p, d)) = barrier.reduction {
                    self.predicate(p);
                    self.writes(d.slot);
                }
            }
            Op::Collective(collective) => self.collective(collective),
            Op::Transfer(transfer) => self.transfer(transfer),
            Op::ActiveMask(d) => self.writes(*d),
            Op::Fence(Fence::TensorMap(map)) => map.iter().for_each(|map| self.addresses(&[map])),
            Op::Nop
            | Op::Branch(_)
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::Yield
            | Op::ClusterArrive(_)
            | Op::ClusterWait(_)
            | Op::Fence(_) => {}
        }
    }

    fn product(&mut self, product: &Product) {
        self.values(&product.a, false);
        self.values(&product.b, false);
        self.values(&product.c, false);
        self.values(&product.d, true);
    }

    fn collective(&mut self, collective: &Collective) {
        self.values(collective.members.as_slice(), false);
        match &collective.kind {
            Kind::WarpSync | Kind::WgmmaCommit | Kind::WgmmaWait(_) | Kind::Registers { .. } => {}
            Kind::Shuffle { d, p, a, b, c, .. } => {
                self.values(&[*a, *b, *c], false);
                self.writes(d.slot);
                p.iter().for_each(|p| self.writes(*p));
            }
            Kind::Vote { d, p, .. } => {
                self.predicate(*p);
                self.writes(d.slot);
            }
            Kind::Match { d, p, a, .. } => {
                self.reads(&[a.slot]);
                self.writes(d.slot);
                p.iter().for_each(|p| self.writes(*p));
            }
            Kind::Redux { d, a, .. } | Kind::MoveMatrix { d, a } => {
                self.reads(&[a.slot]);
                self.writes(d.slot);
            }
            Kind::Elect { d, p } => {
                self.writes(d.slot);
                self.writes(*p);
            }
            Kind::LoadMatrix { d, address, .. } => {
                self.addresses(&[address]);
                self.values(d, true);
            }
            Kind::StoreMatrix { values, address, .. } => {
                self.addresses(&[address]);
                self.values(values, false);
            }
            Kind::Mma { product, metadata, .. } => {
                self.product(product);
                metadata.iter().for_each(|(value, _)| self.reads(&[value.slot]));
            }
            Kind::WmmaLoad { d, address, stride, .. } => {
                self.addresses(&[address]);
                self.reads(&[stride.slot]);
                self.values(d, true);
            }
            Kind::WmmaStore {
                values,
                address,
                stride,
                ..
            } => {
                self.addresses(&[address]);
                self.reads(&[stride.slot]);
                self.values(values, false);
            }
            Kind::WmmaProduct { product, .. } => self.product(product),
            Kind::Wgmma(product) => {
                self.values(&product.a, false);
                self.reads(&[product.b.slot]);
                self.predicate(product.scale_d);
                product.metadata.iter().for_each(|(value, _)| self.reads(&[value.slot]));
                self.values(&product.d, false);
                self.values(&product.d, true);
            }
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        match transfer {
            Transfer::Copy {
                dst,
                src,
                src_bytes,
                ignore,
                ..
            } => {
                self.addresses(&[dst, src]);
                self.values(src_bytes.as_slice(), false);
                ignore.iter().for_each(|p| self.predicate(*p));
            }
            Transfer::Commit
            | Transfer::Wait(_)
            | Transfer::WaitAll
            | Transfer::BulkCommit
            | Transfer::BulkWait { .. } => {}
            Transfer::ArriveAfterCopies { address, .. } => self.addresses(&[address]),
            Transfer::BulkLoad {
                dst,
                src,
                bytes,
                barrier,
                blocks,
            } => {
                self.addresses(&[dst, src, barrier]);
                self.reads(&[bytes.slot]);
                self.values(blocks.as_slice(), false);
            }
            Transfer::BulkStore {
                dst,
                src,
                bytes,
                byte_mask,
            } => {
                self.addresses(&[dst, src]);
                self.reads(&[bytes.slot]);
                self.values(byte_mask.as_slice(), false);
            }
            Transfer::BulkSend {
                dst,
                src,
                bytes,
                barrier,
            } => {
                self.addresses(&[dst, src, barrier]);
                self.reads(&[bytes.slot]);
            }
            Transfer::StoreAsync {
                dst, values, barrier, ..
            } => {
                self.addresses(&[dst, barrier]);
                self.values(values, false);
            }
            Transfer::ReduceAsync {
                dst, operand, barrier, ..
            } => {
                self.addresses(&[dst, barrier]);
                self.reads(&[operand.slot]);
            }
            Transfer::BulkReduce {
                dst,
                src,
                bytes,
                barrier,
                ..
            } => {
                self.addresses(&[dst, src]);
                self.reads(&[bytes.slot]);
                barrier.iter().for_each(|barrier| self.addresses(&[barrier]));
            }
            Transfer::TensorLoad {
                map,
                coords,
                replaced,
                offsets,
                dst,
                barrier,
                blocks,
                ..
            } => {
                self.addresses(&[map, dst, barrier]);
                self.values(coords, false);
                self.replaced(replaced.as_deref());
                self.values(offsets, false);
                self.values(blocks.as_slice(), false);
            }
            Transfer::TensorStore {
                map,
                coords,
                replaced,
                src,
                ..
            }
            | Transfer::TensorReduce {
                map,
                coords,
                replaced,
                src,
                ..
            } => {
                self.addresses(&[map, src]);
                self.values(coords, false);
                self.replaced(replaced.as_deref());
            }
            Transfer::Mbarrier { op, address, .. } => {
                self.addresses(&[address]);
                match op {
                    MbarrierOp::Init(value) | MbarrierOp::ExpectTx(value) | MbarrierOp::CompleteTx(value) => {
                        self.reads(&[value.slot]);
                    }
                    MbarrierOp::Invalidate => {}
                    MbarrierOp::Arrive {
                        count, expect, token, ..
                    } => {
                        self.values(count.as_slice(), false);
                        self.values(expect.as_slice(), false);
                        self.values(token.as_slice(), true);
                    }
                    MbarrierOp::Wait { p, token, .. } => {
                        self.reads(&[token.slot]);
                        self.writes(*p);
                    }
                }
            }
            Transfer::PendingCount(d, a) => {
                self.reads(&[a.slot]);
                self.writes(d.slot);
            }
            Transfer::Replace { address, value, .. } => {
                self.addresses(&[address]);
                self.reads(&[value.slot]);
            }
            Transfer::CopyMap { dst, src } => self.addresses(&[dst, src]),
            Transfer::Map { d, a, rank, .. } => {
                self.values(&[*a, *rank], false);
                self.writes(d.slot);
            }
            Transfer::Rank { d, a, .. } => {
                self.reads(&[a.slot]);
                self.writes(d.slot);
            }
            Transfer::Texture { d, texture, coords, .. } => {
                self.reads(&[texture.slot]);
                self.values(coords, false);
                self.values(d, true);
            }
            Transfer::Surface {
                values,
                surface,
                coords,
                store,
                ..
            } => {
                self.reads(&[surface.slot]);
                self.values(coords, false);
                self.values(values, !store);
            }
        }
    }
}
