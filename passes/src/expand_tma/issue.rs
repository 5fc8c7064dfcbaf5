//! One op for each instruction of a `tile.tma.apply`: written out, or in loops.
use girih_core::target::{CopyKind, SharedSpace};
use girih_dialects::{
    nvvm::Emit,
    tile::{
        ops::{
            memory::{Slab, contiguous},
            part::Part,
            tma::{CopySpace, TmaLoad, TmaStore},
            tma_apply::Apply,
            tma_apply_rules::{Axis, Sides},
            tma_modes::{Reduction, TmaPrefetch, TmaReduce},
        },
        spaces::shared_of,
        verify::memref_bytes,
    },
};
use girih_ir::{
    ext::{BlockExt, block},
    mlir_sys::*,
    op::OpView,
    prelude::*,
    rewrite::{AtEnd, Before, Builder},
};

/// Most instructions that are written out.
const WRITTEN_OUT: i64 = 8;

type V<'c> = Value<'c, 'c>;

/// Writes all instructions before `apply`, and gives the number of ops.
pub(super) fn all<'c>(apply: Apply<'c, 'c>, sides: &Sides<'c>, map: V<'c>, axes: &[Axis]) -> u64 {
    let issue = Issue {
        apply,
        map,
        shared: sides.shared,
        axes,
    };
    let total = axes.iter().try_fold(1i64, |n, axis| n.checked_mul(axis.size));
    let before = Before(apply.op());
    match total {
        Some(total) if total <= WRITTEN_OUT => {
            for n in 0..total {
                let at: Vec<_> = positions(axes, n).into_iter().map(At::Number).collect();
                issue.one(&before, &at);
            }
            total.unsigned_abs()
        }
        _ => {
            issue.nest(&before, &mut vec![]);
            1
        }
    }
}

/// Position `n` of the axes, the last of them fastest.
fn positions(axes: &[Axis], n: i64) -> Vec<i64> {
    let mut rest = n;
    let mut all: Vec<i64> = axes
        .iter()
        .rev()
        .map(|axis| {
            let at = rest % axis.size;
            rest /= axis.size;
            at
        })
        .collect();
    all.reverse();
    all
}

/// A position on an axis.
#[derive(Clone, Copy)]
enum At<'c> {
    Number(i64),
    Loop(V<'c>),
}

struct Issue<'c, 'x> {
    apply: Apply<'c, 'c>,
    map: V<'c>,
    shared: Option<V<'c>>,
    axes: &'x [Axis],
}

impl<'c> Issue<'c, '_> {
    fn loc(&self) -> Location<'c> {
        self.apply.op().location()
    }

    fn index(&self, builder: &dyn Builder<'c>, n: i64) -> V<'c> {
        let e = Emit::new(builder, self.loc());
        e.constant(n, e.index_type())
    }

    /// Loops over the axes from the `at.len()`th on, and the instruction inside.
    fn nest(&self, builder: &dyn Builder<'c>, at: &mut Vec<At<'c>>) {
        let Some(axis) = self.axes.get(at.len()) else {
            return self.one(builder, at);
        };
        let bounds = [0, axis.size, 1].map(|n| self.index(builder, n));
        let e = Emit::new(builder, self.loc());
        let region = Region::new();
        region.append_block(block(&[e.index_type()], self.loc()));
        let made = e.op_with_regions("scf.for", &bounds, &[], &[], vec![region]);
        let inside = made.region_at(0).entry().expect("it has the block that was just given");
        let end = AtEnd(inside);
        at.push(At::Loop(inside.argument_values()[0]));
        self.nest(&end, at);
        at.pop();
        Emit::new(&end, self.loc()).op("scf.yield", &[], &[], &[]);
    }

    /// The instruction of one position.
    fn one(&self, builder: &dyn Builder<'c>, at: &[At<'c>]) {
        let (apply, opcode) = (self.apply, self.apply.opcode());
        let shared = self.shared.map(|shared| self.atom(builder, shared, at));
        let coords = self.coordinates(builder, at);
        let (policy, loc) = (apply.policy(), self.loc());
        let four_rows = opcode.four_rows();
        let offsets = apply.offsets();
        let op = match (opcode.kind, shared) {
            (CopyKind::Load { space, cta_group, .. }, Some(shared)) => {
                let space = (space == SharedSpace::Cta).then_some(CopySpace::Cta);
                let barrier = apply.barrier().expect("a load that verifies has an mbarrier");
                let group = cta_group.map(i64::from);
                TmaLoad::build(
                    loc,
                    self.map,
                    &coords,
                    shared,
                    barrier,
                    &apply.barrier_indices(),
                    &offsets,
                    apply.mask(),
                    policy,
                    four_rows,
                    group,
                    space,
                    None,
                )
            }
            (CopyKind::Store { .. }, Some(shared)) => TmaStore::build(
                loc,
                shared,
                self.map,
                &coords,
                policy,
                four_rows,
                None,
                apply.overwrite(),
            ),
            (CopyKind::Reduce { op, .. }, Some(shared)) => {
                let kind = Reduction::ALL.iter().copied().find(|kind| kind.core() == op);
                let kind = kind.expect("every operator has its keyword");
                TmaReduce::build(loc, shared, self.map, &coords, policy, kind, None, apply.overwrite())
            }
            _ => TmaPrefetch::build(loc, self.map, &coords, &offsets, policy, four_rows, None),
        };
        builder.insert(op);
    }

    /// The shared memory of one position: a slab, or where an atom is not whole periods of the swizzle, a part.
    fn atom(&self, builder: &dyn Builder<'c>, shared: V<'c>, at: &[At<'c>]) -> V<'c> {
        if at.is_empty() {
            return shared;
        }
        let t = shared.r#type();
        let shape = t.shape().unwrap_or_default();
        let atom = &shape[at.len()..];
        // SAFETY: element type and memory space are those of a memref that exists; the shape has static sizes.
        let part: Type<'c> = unsafe {
            let space = mlirMemRefTypeGetMemorySpace(t.to_raw());
            let element = mlirShapedTypeGetElementType(t.to_raw());
            Type::from_raw(mlirMemRefTypeContiguousGet(
                element,
                atom.len() as isize,
                atom.as_ptr(),
                space,
            ))
        };
        let space = shared_of(t).expect("checked by the op");
        let period = space.mode().span_bytes().map_or(1, |_| space.mode().period_bytes());
        let whole = period.max(space.align().unsigned_abs());
        if memref_bytes(part).is_some_and(|bytes| bytes % whole == 0) {
            let indices: Vec<_> = at
                .iter()
                .map(|at| match at {
                    At::Number(n) => self.index(builder, *n),
                    At::Loop(v) => *v,
                })
                .collect();
            return builder.value(Slab::build(self.loc(), part, shared, &indices));
        }
        let strides = contiguous(&shape);
        let zero = self.index(builder, 0);
        let first = self.along(builder, zero, at.iter().zip(strides).map(|(at, stride)| (*at, stride)));
        builder.value(Part::build(self.loc(), part, shared, first))
    }

    /// Coordinates of one position, as the explicit ops take them.
    fn coordinates(&self, builder: &dyn Builder<'c>, at: &[At<'c>]) -> Vec<V<'c>> {
        let coords = self.apply.coords();
        if !self.apply.opcode().four_rows() {
            return (0..coords.len())
                .map(|d| self.moved(builder, coords[d], d, at))
                .collect();
        }
        // All four rows are counted from the first coordinate, and move together.
        let first = self.moved(builder, coords[0], 0, at);
        let rows = self.apply.rows().into_iter();
        let mut all: Vec<_> = rows.map(|row| self.sum(builder, first, row)).collect();
        all.push(self.moved(builder, coords[1], 1, at));
        all
    }

    /// Coordinate `d` of one position, from that of the first.
    fn moved(&self, builder: &dyn Builder<'c>, first: V<'c>, d: usize, at: &[At<'c>]) -> V<'c> {
        let steps = self.axes.iter().zip(at).map(|(axis, at)| (*at, axis.step[d]));
        self.along(builder, first, steps)
    }

    /// `first` and the sum of positions times steps.
    fn along(&self, builder: &dyn Builder<'c>, first: V<'c>, steps: impl Iterator<Item = (At<'c>, i64)>) -> V<'c> {
        let mut moved = first;
        let mut known = 0i64;
        for (at, step) in steps {
            match (step, at) {
                (0, _) => {}
                (step, At::Number(n)) => known = known.wrapping_add(step.wrapping_mul(n)),
                (1, At::Loop(v)) => moved = self.sum(builder, moved, v),
                (step, At::Loop(v)) => {
                    let step = self.index(builder, step);
                    let by = Emit::new(builder, self.loc()).mul(v, step);
                    moved = self.sum(builder, moved, by);
                }
            }
        }
        match (known, moved.constant_int()) {
            (0, _) => moved,
            (_, Some(n)) => self.index(builder, n.wrapping_add(known)),
            _ => {
                let known = self.index(builder, known);
                self.sum(builder, moved, known)
            }
        }
    }

    fn sum(&self, builder: &dyn Builder<'c>, a: V<'c>, b: V<'c>) -> V<'c> {
        match (a.constant_int(), b.constant_int()) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(a), Some(b)) => self.index(builder, a.wrapping_add(b)),
            _ => Emit::new(builder, self.loc()).add(a, b),
        }
    }
}
