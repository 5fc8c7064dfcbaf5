//! How long shared buffers live, and which of them must not share bytes.
//!
//! A buffer lives from its first use to its last, in each branch of a test apart; where these lie in a loop, through the whole
//! outermost loop, since one pass may read what another left. Scratch lives in its ops alone. What `tile.cp_async` writes, and
//! what `tile.wgmma` reads, lives on to the wait for all such copies or products that comes after it. A buffer lives for the
//! whole kernel where its uses are not all known: it holds mbarriers, its address goes elsewhere, other asynchronous copies use
//! it, or products that are not all waited for, nothing does, or roles use it other than one that keeps a barrier for its
//! threads.
//!
//! Two buffers may share bytes if they never live at once, and if a barrier of the block lies on every path from a use of the
//! one to a use of the other.
use crate::shared_uses::{InRole, Use, Uses, Walk, Way, in_role, line};
use girih_dialects::tile::{
    ops::{
        cp_async::{WaitAll, WaitGroup},
        kernel::{Kernel, WarpSpecialize},
        wgmma::{Wait, Wgmma},
    },
    verify::role_of,
};
use girih_ir::{ext::BlockExt, prelude::*};
use std::{collections::BTreeMap, fmt};

/// When a buffer is in use.
pub enum Life<'c> {
    /// As long as its kernel, and why.
    Always(String),
    /// From one op to another.
    Between(OperationRef<'c, 'c>, OperationRef<'c, 'c>),
}

impl fmt::Display for Life<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Life::Always(why) => write!(f, "lives for the whole kernel: {why}"),
            Life::Between(first, last) if line(*first) == line(*last) => write!(f, "lives at {}", line(*first)),
            Life::Between(first, last) => write!(f, "lives from {} to {}", line(*first), line(*last)),
        }
    }
}

/// Of all buffers of a kernel, in the order of its allocations.
pub struct Lifetimes<'c> {
    lives: Vec<Life<'c>>,
    /// Whether two buffers need bytes of their own.
    apart: Vec<Vec<bool>>,
}

impl<'c> Lifetimes<'c> {
    /// Of a kernel.
    pub fn of(kernel: Kernel<'c, 'c>) -> Lifetimes<'c> {
        let uses = Uses::of(kernel);
        let ops = kernel.op().nested_ops();
        let mut numbers = BTreeMap::new();
        for (i, op) in ops.iter().enumerate() {
            numbers.insert(op.to_raw().ptr as usize, i);
        }
        let order = Order { kernel, numbers };
        let n = uses.buffers.len();
        let (mut lives, mut spans) = (vec![], vec![]);
        for buffer in 0..n {
            let (life, span) = order.life(&uses, buffer);
            lives.push(life);
            spans.push(span);
        }
        let meet = |a: &[Span], b: &[Span]| a.iter().any(|x| b.iter().any(|y| x.0 <= y.1 && y.0 <= x.1));
        // Roles run at once.
        let roles: Vec<InRole> = (0..n)
            .map(|buffer| uses.all.iter().find(|u| u.buffer == buffer).and_then(|u| in_role(u.op)))
            .collect();
        let at_once = |i: usize, j: usize| roles[i].is_some() && roles[j].is_some() && roles[i] != roles[j];
        let mut apart: Vec<Vec<bool>> = (0..n)
            .map(|i| {
                let with = |j: usize| i == j || at_once(i, j) || meet(&spans[i], &spans[j]);
                (0..n).map(with).collect()
            })
            .collect();
        // A barrier before the wait for a copy, or for a product, is met while those of other threads are still on their way.
        for u in uses.all.iter().filter(|u| u.in_flight) {
            let Some(wait) = order.wait_after(u) else { continue };
            for v in uses
                .all
                .iter()
                .filter(|v| v.buffer != u.buffer && order.number(v.op) > order.number(wait))
            {
                if !order.meet_between(&uses, wait, v.op) {
                    apart[u.buffer][v.buffer] = true;
                    apart[v.buffer][u.buffer] = true;
                }
            }
        }
        Walk::through(kernel, &uses, &[], &mut |pending, number| {
            let later = uses.all[number].buffer;
            for p in pending.iter().filter(|p| p.ordered.is_none()) {
                let earlier = uses.all[p.number].buffer;
                apart[earlier][later] = true;
                apart[later][earlier] = true;
            }
        });
        Lifetimes { lives, apart }
    }
    /// When a buffer is in use.
    pub fn life(&self, buffer: usize) -> &Life<'c> {
        &self.lives[buffer]
    }
    /// Whether two buffers need bytes of their own.
    pub fn are_apart(&self, a: usize, b: usize) -> bool {
        self.apart[a][b]
    }
}

/// First and last op of a stretch, by number.
type Span = (usize, usize);

/// The ops of a kernel, counted in the order of the source, parents first.
struct Order<'c> {
    kernel: Kernel<'c, 'c>,
    numbers: BTreeMap<usize, usize>,
}

impl<'c> Order<'c> {
    fn number(&self, op: OperationRef<'c, 'c>) -> usize {
        self.numbers.get(&(op.to_raw().ptr as usize)).copied().unwrap_or(0)
    }

    fn span(&self, op: OperationRef<'c, 'c>) -> Span {
        let first = self.number(op);
        (first, first + op.nested_ops().len() - 1)
    }

    /// Ops around an op and the op itself, from the kernel's body inwards.
    fn path(&self, op: OperationRef<'c, 'c>) -> Vec<OperationRef<'c, 'c>> {
        let mut path = vec![];
        let mut at = Some(op);
        while let Some(op) = at.filter(|op| *op != self.kernel.op()) {
            path.push(op);
            at = op.parent();
        }
        path.reverse();
        path
    }

    fn life(&self, uses: &Uses<'c>, buffer: usize) -> (Life<'c>, Vec<Span>) {
        let b = &uses.buffers[buffer];
        let mut ops: Vec<OperationRef> = uses.all.iter().filter(|u| u.buffer == buffer).map(|u| u.op).collect();
        ops.sort_by_key(|op| self.number(*op));
        let mut roles: Vec<_> = ops.iter().map(|op| in_role(*op)).collect();
        roles.dedup();
        let barrier = |op: &OperationRef<'c, 'c>| role_of(*op).is_none_or(|role| role.barrier.is_some());
        let in_roles = roles.len() > 1 || !ops.iter().all(barrier);
        // Where the last of the waits for copies into it and products of it stands.
        let in_flight = uses.all.iter().filter(|u| u.buffer == buffer && u.in_flight);
        let waits: Option<Vec<_>> = in_flight.map(|u| self.wait_after(u)).collect();
        let why = if b.is_mbarrier {
            "it holds mbarriers".to_owned()
        } else if let Some(op) = b.lost {
            format!(
                "'{}' at {} takes it where its uses cannot be followed",
                op.full_name(),
                line(op)
            )
        } else if waits.is_none() {
            "asynchronous copies or products use it".to_owned()
        } else if in_roles {
            "roles use it".to_owned()
        } else if ops.is_empty() {
            "nothing is known to use it".to_owned()
        } else if self.kernel.body().block_list().len() > 1 {
            "the kernel's body has several blocks".to_owned()
        } else {
            let (first, last) = (ops[0], ops[ops.len() - 1]);
            let is_scratch = uses
                .all
                .iter()
                .filter(|u| u.buffer == buffer)
                .all(|u| u.way == Way::Collective);
            let spans = match is_scratch {
                true => ops.iter().map(|op| self.span(*op)).collect(),
                false => {
                    let all: Vec<_> = ops.iter().copied().chain(waits.unwrap_or_default()).collect();
                    self.stretches(&all.iter().map(|op| self.path(*op)).collect::<Vec<_>>(), 0)
                }
            };
            return (Life::Between(first, last), spans);
        };
        (Life::Always(why), vec![(0, usize::MAX)])
    }

    /// The first op after a use that goes on after its op, in a block around it, that waits for all of the thread's of its kind;
    /// `None` where no such op is known.
    fn wait_after(&self, of: &Use<'c>) -> Option<OperationRef<'c, 'c>> {
        let waits = |op: &OperationRef<'c, 'c>| match of.way {
            Way::Async if of.op.is::<Wgmma>() => op.cast::<Wait>().is_some_and(|wait| wait.pending() == 0),
            Way::Plain => op.is::<WaitAll>() || op.cast::<WaitGroup>().is_some_and(|wait| wait.pending() == 0),
            _ => false,
        };
        self.path(of.op).into_iter().rev().find_map(|inner| {
            let ops = inner.block()?.op_list();
            ops.into_iter().skip_while(|other| *other != inner).find(waits)
        })
    }

    /// Whether all threads meet after `first`, whichever way they take from there, or before `last`, whichever way they came.
    fn meet_between(&self, uses: &Uses<'c>, first: OperationRef<'c, 'c>, last: OperationRef<'c, 'c>) -> bool {
        let (from, to) = (self.number(first), self.number(last));
        let meets = |op: &OperationRef<'c, 'c>| (from + 1..to).contains(&self.number(*op)) && uses.meet_at(*op);
        let around = [first, last].map(|op| self.path(op)).concat();
        let mut blocks = around.into_iter().filter_map(|op| op.block());
        blocks.any(|block| block.op_list().iter().any(meets))
    }

    /// From the first to the last of ops that share what they read and write, in each branch apart; given by their paths, of
    /// which `depth` steps are the same.
    fn stretches(&self, paths: &[Vec<OperationRef<'c, 'c>>], depth: usize) -> Vec<Span> {
        let Some(outer) = paths.first().and_then(|p| p.get(depth)).copied() else {
            return vec![];
        };
        if !paths
            .iter()
            .all(|p| p.get(depth) == Some(&outer) && p.len() > depth + 1)
        {
            let spans = paths.iter().filter_map(|p| p.get(depth)).map(|op| self.span(*op));
            return vec![spans.fold((usize::MAX, 0), |(a, b), (c, d)| (a.min(c), b.max(d)))];
        }
        // A loop: what is not a branch, nor a role, which runs once.
        if !outer.is::<WarpSpecialize>() && outer.full_name() != "scf.if" {
            return vec![self.span(outer)];
        }
        let branches = (0..outer.region_count()).map(|r| outer.region_at(r).block_list());
        branches
            .flat_map(|blocks| {
                let is_here =
                    |p: &&Vec<OperationRef<'c, 'c>>| p[depth + 1].block().is_some_and(|b| blocks.contains(&b));
                let here: Vec<_> = paths.iter().filter(is_here).cloned().collect();
                self.stretches(&here, depth + 1)
            })
            .collect()
    }
}
