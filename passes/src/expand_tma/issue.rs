//! Instructions along axes: written out, or in loops.
use girih_dialects::{
    nvvm::Emit,
    tile::{
        ops::{
            memory::{Slab, contiguous},
            part::Part,
        },
        spaces::shared_of,
        verify::memref_bytes,
    },
};
use girih_ir::{
    ext::{BlockExt, block},
    mlir_sys::*,
    prelude::*,
    rewrite::{AtEnd, Before, Builder},
};

/// Most instructions that are written out.
const WRITTEN_OUT: i64 = 8;

pub(super) type V<'c> = Value<'c, 'c>;

/// An axis of instructions.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Positions.
    pub(super) size: i64,
    /// What one position adds to each coordinate, in the order of `Issue::start`.
    pub(super) step: Vec<i64>,
    /// What one position adds to the place in shared memory, in elements.
    pub(super) shared_step: i64,
}

/// Where the images lie.
#[derive(Clone, Debug)]
pub(super) struct Images<'c> {
    pub(super) memory: V<'c>,
    /// Elements before the first one.
    pub(super) first: i64,
    /// Shape of one.
    pub(super) atom: Vec<i64>,
}

/// Equal instructions along axes.
pub(super) struct Issue<'c, 'x> {
    /// The op that they replace.
    pub(super) op: OperationRef<'c, 'c>,
    pub(super) axes: Vec<Axis>,
    pub(super) images: Option<Images<'c>>,
    /// Coordinates of the first, as the explicit ops take them.
    pub(super) start: Vec<V<'c>>,
    /// The op for one instruction, from its coordinates and its image.
    pub(super) one: &'x dyn Fn(&[V<'c>], Option<V<'c>>) -> Operation<'c>,
}

/// A position on an axis.
#[derive(Clone, Copy)]
enum At<'c> {
    Number(i64),
    Loop(V<'c>),
}

impl<'c> Issue<'c, '_> {
    /// Writes all before the op that they replace, and gives the number of ops.
    pub(super) fn all(&self) -> u64 {
        let total = self.axes.iter().try_fold(1i64, |n, axis| n.checked_mul(axis.size));
        let before = Before(self.op);
        match total {
            Some(total) if total <= WRITTEN_OUT => {
                for n in 0..total {
                    self.instruction(&before, &self.position(n));
                }
                total.unsigned_abs()
            }
            _ => {
                self.nest(&before, &mut vec![]);
                1
            }
        }
    }

    /// Position `n`, the last axis fastest.
    fn position(&self, n: i64) -> Vec<At<'c>> {
        let mut rest = n;
        let mut at = vec![];
        for axis in self.axes.iter().rev() {
            at.push(At::Number(rest % axis.size));
            rest /= axis.size;
        }
        at.reverse();
        at
    }

    /// Loops over the axes from the `at.len()`th on, and the instruction inside.
    fn nest(&self, builder: &dyn Builder<'c>, at: &mut Vec<At<'c>>) {
        let Some(axis) = self.axes.get(at.len()) else {
            return self.instruction(builder, at);
        };
        let place = self.at(builder);
        let bounds = [0, axis.size, 1].map(|n| place.index(n));
        let region = Region::new();
        region.append_block(block(&[place.e.index_type()], self.op.location()));
        let made = place.e.op_with_regions("scf.for", &bounds, &[], &[], vec![region]);
        let inside = made.region_at(0).entry().expect("it has the block that was just given");
        let end = AtEnd(inside);
        at.push(At::Loop(inside.argument_values()[0]));
        self.nest(&end, at);
        at.pop();
        self.at(&end).e.op("scf.yield", &[], &[], &[]);
    }

    fn at<'b>(&self, builder: &'b dyn Builder<'c>) -> Indices<'c, 'b> {
        Indices {
            e: Emit::new(builder, self.op.location()),
        }
    }

    /// The instruction of one position.
    fn instruction(&self, builder: &dyn Builder<'c>, at: &[At<'c>]) {
        let image = self.images.as_ref().map(|images| self.image(builder, images, at));
        let place = self.at(builder);
        let coords: Vec<_> = (0..self.start.len())
            .map(|d| {
                let steps = self.axes.iter().zip(at).map(|(axis, at)| (*at, axis.step[d]));
                place.along(self.start[d], steps)
            })
            .collect();
        builder.insert((self.one)(&coords, image));
    }

    /// The shared memory of one position: all of it, a slab, or where that is not whole periods of the swizzle, a part.
    fn image(&self, builder: &dyn Builder<'c>, images: &Images<'c>, at: &[At<'c>]) -> V<'c> {
        let t = images.memory.r#type();
        // SAFETY: element type and memory space are those of a memref that exists; the shape has static sizes.
        let part: Type<'c> = unsafe {
            let space = mlirMemRefTypeGetMemorySpace(t.to_raw());
            let element = mlirShapedTypeGetElementType(t.to_raw());
            let atom = &images.atom;
            Type::from_raw(mlirMemRefTypeContiguousGet(
                element,
                atom.len() as isize,
                atom.as_ptr(),
                space,
            ))
        };
        if at.is_empty() && memref_bytes(part) == memref_bytes(t) {
            return images.memory;
        }
        let space = shared_of(t).expect("checked by the op");
        let period = space.mode().span_bytes().map_or(1, |_| space.mode().period_bytes());
        let whole = period.max(space.align().unsigned_abs());
        let sizes: Vec<i64> = self.axes.iter().map(|axis| axis.size).collect();
        let steps: Vec<i64> = self.axes.iter().map(|axis| axis.shared_step).collect();
        let shape = [sizes, images.atom.clone()].concat();
        let leading = t.shape().as_ref() == Some(&shape) && contiguous(&shape).starts_with(&steps) && images.first == 0;
        let place = self.at(builder);
        if leading && memref_bytes(part).is_some_and(|bytes| bytes % whole == 0) {
            let indices: Vec<_> = at
                .iter()
                .map(|at| match at {
                    At::Number(n) => place.index(*n),
                    At::Loop(v) => *v,
                })
                .collect();
            return builder.value(Slab::build(self.op.location(), part, images.memory, &indices));
        }
        let first = place.index(images.first);
        let first = place.along(first, at.iter().copied().zip(steps));
        builder.value(Part::build(self.op.location(), part, images.memory, first))
    }
}

/// Index arithmetic that keeps constants constant.
pub(super) struct Indices<'c, 'b> {
    pub(super) e: Emit<'c, 'b>,
}

impl<'c> Indices<'c, '_> {
    pub(super) fn index(&self, n: i64) -> V<'c> {
        self.e.constant(n, self.e.index_type())
    }

    pub(super) fn sum(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        match (a.constant_int(), b.constant_int()) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(a), Some(b)) => self.index(a.wrapping_add(b)),
            _ => self.e.add(a, b),
        }
    }

    pub(super) fn product(&self, a: V<'c>, by: i64) -> V<'c> {
        match (a.constant_int(), by) {
            (_, 1) => a,
            (Some(a), by) => self.index(a.wrapping_mul(by)),
            _ => self.e.mul(a, self.index(by)),
        }
    }

    pub(super) fn plus(&self, a: V<'c>, n: i64) -> V<'c> {
        match n {
            0 => a,
            n => self.sum(a, self.index(n)),
        }
    }

    /// `first` and the sum of positions times steps.
    fn along(&self, first: V<'c>, steps: impl IntoIterator<Item = (At<'c>, i64)>) -> V<'c> {
        let mut moved = first;
        let mut known = 0i64;
        for (at, step) in steps {
            match (step, at) {
                (0, _) => {}
                (step, At::Number(n)) => known = known.wrapping_add(step.wrapping_mul(n)),
                (step, At::Loop(v)) => moved = self.sum(moved, self.product(v, step)),
            }
        }
        self.plus(moved, known)
    }
}
