//! `tile-allocate-shared{report=true}`: a place in the block's shared memory for each `tile.alloc` of a kernel.
//!
//! ```mlir
//! tile.kernel @k() threads(128) launch { ... } body {                                      // before
//!   %bar = tile.alloc : memref<4x!tile.mbarrier, #tile.shared>
//!   %a = tile.alloc : memref<4x64x64xbf16, #tile.shared<swizzle = 128>>
//! }
//! tile.kernel @k() threads(128) attributes {shared_bytes = 32800 : i64} launch { ... } body {    // after
//!   %bar = tile.alloc {offset = 32768 : i64} : memref<4x!tile.mbarrier, #tile.shared>
//!   %a = tile.alloc {offset = 0 : i64} : memref<4x64x64xbf16, #tile.shared<swizzle = 128>>
//! }
//! ```
//!
//! Buffers that never live at once share bytes, where a barrier of the block lies between the uses of the one and those of the
//! other on every path (`shared_lifetimes`). No barrier is put there for it.
//!
//! ```mlir
//! %a = tile.alloc {offset = 0 : i64} : memref<128x64xf32, #tile.shared>
//! %b = tile.alloc {offset = 0 : i64} : memref<64x128xf32, #tile.shared>
//! ... loads and stores of %a
//! tile.barrier
//! ... loads and stores of %b
//! ```
//!
//! Offsets given by hand stay. The others are placed where they first fit, strictest alignment first, larger ones before
//! smaller ones, then in the order of the source: the period of the swizzle (1024, 512 or 256 bytes), 128 without one, which
//! tensor copies need, 8 for mbarriers, or more where the space says `align`. The same kernel always gets the same offsets.
//!
//! Needs a target, and that a block's shared memory starts on 1024 bytes, which `convert-tile-to-nvvm` asks for with the
//! alignment of its symbol. Refuses offsets by hand that overlap where the buffers may live at once, an `align` past 1024, and
//! kernels that need more than the target has; that error names each buffer. A `tile.alloc` outside kernels gets a remark. With
//! `report`, a remark for each kernel lists its buffers: bytes, how long they live, and who shares with whom. `reuse=false` gives
//! each bytes of its own.
use crate::{shared_lifetimes::Lifetimes, shared_uses::line, verify_target::required_target};
use girih_dialects::tile::{
    ops::{
        kernel::Kernel,
        memory::{Alloc, is_mbarrier},
    },
    spaces::shared_of,
    verify::memref_bytes,
};
use girih_ir::{
    kind::{I64, Kind},
    pass::{OptionDef, OptionDefault, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
};
use std::collections::BTreeSet;

/// Bytes that the start of a block's shared memory is a multiple of.
pub const BASE_ALIGNMENT: u64 = 1024;

/// More than any block can have, so that sums of sizes stay far from overflow.
const MOST_BYTES: u64 = 1 << 32;

/// `tile-allocate-shared`.
pub struct AllocateShared;

impl Pass for AllocateShared {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[
            OptionDef {
                name: "report",
                description: "Give a remark for each kernel with the bytes of each buffer",
                default: OptionDefault::Bool(false),
            },
            OptionDef {
                name: "reuse",
                description: "Let buffers share bytes that never live at once",
                default: OptionDefault::Bool(true),
            },
        ],
        statistics: &[
            Statistic {
                name: "shared-bytes",
                description: "Bytes of shared memory of all kernels",
            },
            Statistic {
                name: "padding-bytes",
                description: "Bytes between buffers that none uses",
            },
            Statistic {
                name: "reused-bytes",
                description: "Bytes that sharing saves",
            },
        ],
        ..PassInfo::new("tile-allocate-shared", "Places the shared buffers of each kernel")
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let mut errors = Errors::default();
        for op in module.nested_ops() {
            if let Some(kernel) = op.cast::<Kernel>() {
                errors.merge(allocate(kernel, cx));
            } else if op.is::<Alloc>() && op.ancestor::<Kernel>().is_none() {
                drop(Diag::remark(&op, "a tile.alloc outside kernels gets no offset"));
            }
        }
        errors.result()
    }
}

/// A buffer, with its offset once it has one.
struct Buffer<'c, 'a> {
    alloc: Alloc<'c, 'a>,
    bytes: u64,
    align: u64,
    offset: Option<u64>,
}

impl Buffer<'_, '_> {
    /// First byte and the one past the last; `None` without an offset.
    fn span(&self) -> Option<(u64, u64)> {
        self.offset.map(|o| (o, o.saturating_add(self.bytes)))
    }
    /// Whether it is another one again, at the same bytes: the body of a kernel may stand there twice, for other alignments.
    fn is_again(&self, other: &Buffer<'_, '_>) -> bool {
        let (own, other_op) = (self.alloc.op(), other.alloc.op());
        self.offset == other.offset
            && own.location() == other_op.location()
            && self.alloc.result().r#type() == other.alloc.result().r#type()
    }
    /// Whether placed and sharing bytes with `start..end`.
    fn meets(&self, start: u64, end: u64) -> bool {
        self.span().is_some_and(|(s, e)| s < end && start < e)
    }
}

fn allocate<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) -> Res {
    let op = kernel.op();
    let allocs: Vec<_> = op.nested_ops().iter().filter_map(|op| op.cast::<Alloc>()).collect();
    let mut buffers = collect(allocs)?;
    let lifetimes = Lifetimes::of(kernel);
    by_hand(&buffers, &lifetimes)?;
    let reuse = cx.option_bool("reuse");
    place(&mut buffers, &|a, b| !reuse || lifetimes.are_apart(a, b));
    let total = buffers
        .iter()
        .filter_map(|b| b.span())
        .map(|(_, end)| end)
        .max()
        .unwrap_or(0);

    if total > 0 {
        let target = required_target(op)?;
        let most = u64::from(target.dynamic_shared_bytes());
        if total > most {
            let m = format!(
                "needs {total} bytes of shared memory, but a block on {target} has at most {most}; use fewer or smaller buffers"
            );
            return listed(Diag::op(&op, m), &buffers, &lifetimes).report();
        }
    }
    for b in &buffers {
        if let Some(offset) = b.offset {
            b.alloc
                .op()
                .set_attr("offset", I64::to_attribute(&(offset as i64), op.ctx()));
        }
    }
    op.set_attr("shared_bytes", I64::to_attribute(&(total as i64), op.ctx()));

    let sum: u64 = once(&buffers).map(|(_, b)| b.bytes).sum();
    let used = covered(&buffers);
    cx.count(0, total);
    cx.count(1, total - used);
    cx.count(2, sum - used);
    if cx.option_bool("report") {
        let m = format!(
            "kernel @{} has {total} bytes of shared memory, {} of them between buffers, and {} saved by sharing",
            kernel.sym_name(),
            total - used,
            sum - used
        );
        drop(listed(Diag::remark(&op, m), &buffers, &lifetimes));
    }
    Ok(())
}

/// The buffers with their numbers, those that stand there again left out.
fn once<'b, 'c, 'a>(buffers: &'b [Buffer<'c, 'a>]) -> impl Iterator<Item = (usize, &'b Buffer<'c, 'a>)> {
    let is_first = |(i, b): &(usize, &Buffer<'c, 'a>)| !buffers[..*i].iter().any(|earlier| b.is_again(earlier));
    buffers.iter().enumerate().filter(is_first)
}

/// Bytes that some buffer has.
fn covered(buffers: &[Buffer<'_, '_>]) -> u64 {
    let mut spans: Vec<(u64, u64)> = buffers.iter().filter_map(|b| b.span()).collect();
    spans.sort_unstable();
    let (mut bytes, mut end) = (0, 0);
    for (s, e) in spans {
        bytes += e.saturating_sub(s.max(end));
        end = end.max(e);
    }
    bytes
}

/// A note for each buffer, in the order of the source.
fn listed<'c>(mut diag: Diag, buffers: &[Buffer<'c, '_>], lifetimes: &Lifetimes<'c>) -> Diag {
    for (i, b) in once(buffers) {
        let (start, end) = b.span().unwrap_or_default();
        let others = once(buffers).filter(|(j, o)| *j != i && o.meets(start, end));
        let others: BTreeSet<String> = others.map(|(_, o)| line(o.alloc.op())).collect();
        let others: Vec<String> = others.into_iter().collect();
        let sharing = match others[..] {
            [] => String::new(),
            _ => format!("; shares bytes with the buffer at {}", others.join(" and ")),
        };
        let m = format!(
            "{} bytes at offset {start}: {}; {}{sharing}",
            b.bytes,
            b.alloc.result().r#type(),
            lifetimes.life(i)
        );
        diag = diag.note(b.alloc.op().location(), m);
    }
    diag
}

/// The buffers of a kernel in the order of the source, with the offsets that were given by hand.
fn collect<'c: 'a, 'a>(allocs: Vec<Alloc<'c, 'a>>) -> Res<Vec<Buffer<'c, 'a>>> {
    let mut errors = Errors::default();
    let mut buffers: Vec<Buffer<'c, 'a>> = vec![];
    for alloc in allocs {
        let t = alloc.result().r#type();
        let (Some(bytes), Some(space)) = (memref_bytes(t), shared_of(t)) else {
            errors.op(&alloc.op(), format!("has type {t}, whose bytes are not known"));
            continue;
        };
        if space.is_open() {
            let m = format!(
                "has type {t}, whose swizzle nobody has chosen yet; run tile-swizzle-shared first, after tile-assign-layouts \
                 where whole tiles use it"
            );
            errors.op(&alloc.op(), m);
            continue;
        }
        let align = if is_mbarrier(t) {
            8.max(space.align() as u64)
        } else {
            space.alignment()
        };
        if bytes > MOST_BYTES {
            errors.op(
                &alloc.op(),
                format!("is {bytes} bytes, but a block has less than 1 MiB of shared memory"),
            );
            continue;
        }
        if align > BASE_ALIGNMENT {
            let m = format!(
                "asks for align = {align}, but a block's shared memory starts on {BASE_ALIGNMENT} bytes only; ask for at most that"
            );
            errors.op(&alloc.op(), m);
            continue;
        }
        let offset = alloc.offset().and_then(|o| u64::try_from(o).ok());
        buffers.push(Buffer {
            alloc,
            bytes,
            align,
            offset,
        });
    }
    errors.result().map(|()| buffers)
}

/// Offsets that were given by hand: buffers that live at once have bytes of their own.
fn by_hand<'c>(buffers: &[Buffer<'c, '_>], lifetimes: &Lifetimes<'c>) -> Res {
    let mut errors = Errors::default();
    for (i, b) in buffers.iter().enumerate() {
        let Some((start, end)) = b.span() else { continue };
        let others = buffers.iter().enumerate().take(i);
        for (j, other) in others.filter(|(_, o)| o.meets(start, end)) {
            if !lifetimes.are_apart(i, j) {
                continue;
            }
            let (s, e) = other.span().unwrap_or_default();
            let m = format!(
                "has bytes {start} to {end} by hand, but another buffer has {s} to {e}, and the two may be in use at once; leave \
                 the offset out and let tile-allocate-shared choose"
            );
            let r: Res = Diag::op(&b.alloc.op(), m)
                .note(other.alloc.op().location(), "the other one is here")
                .report();
            errors.merge(r);
        }
    }
    errors.result()
}

/// Gives each buffer without an offset the first one that fits. `are_apart` says which two need bytes of their own.
fn place(buffers: &mut [Buffer<'_, '_>], are_apart: &dyn Fn(usize, usize) -> bool) {
    let mut order: Vec<usize> = (0..buffers.len()).filter(|i| buffers[*i].offset.is_none()).collect();
    order.sort_by_key(|i| {
        let b = &buffers[*i];
        (std::cmp::Reverse(b.align), std::cmp::Reverse(b.bytes), *i)
    });
    for i in order {
        let (bytes, align) = (buffers[i].bytes, buffers[i].align);
        let others = || {
            buffers
                .iter()
                .enumerate()
                .filter(|(j, _)| are_apart(i, *j))
                .map(|(_, b)| b)
        };
        // The lowest start is 0 or just past some buffer.
        let ends = others().filter_map(|b| b.span()).map(|(_, end)| end);
        let mut starts: Vec<u64> = std::iter::once(0)
            .chain(ends)
            .map(|end| end.next_multiple_of(align))
            .collect();
        starts.sort_unstable();
        let free = |start: &u64| !others().any(|b| b.meets(*start, start.saturating_add(bytes)));
        buffers[i].offset = starts.into_iter().find(free);
    }
}
