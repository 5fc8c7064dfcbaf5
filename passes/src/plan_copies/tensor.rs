//! What tensor copies of an operand ask for.
use super::{COPY_BYTES, Plan};
use crate::{
    global_views::{Cut, Number, argument_under},
    known::{known_multiple, rows_are_aligned, unknown_parts},
    nest::{Nest, counter, written_before},
    shared_uses::line,
    slice::{Slice, is_defined_in},
};
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        ops::{kernel::Kernel, mma::Side, value::IsAligned, wgmma::Major},
        target_of,
    },
};
use girih_ir::{ext::DYNAMIC, prelude::*, rewrite::Before};

type V<'c> = Value<'c, 'c>;

/// What must hold for tensor copies.
pub(super) struct Test<'c> {
    nest: Nest<'c>,
    /// `tile.is_aligned memory axis .. by .. any_size`
    memory: V<'c>,
    axis: usize,
    by: i64,
    /// Indices that must be multiples of `by` too.
    multiples: Vec<V<'c>>,
    /// Numbers that must be the sizes of the memref along dimensions.
    sizes: Vec<(usize, Number<'c>)>,
}

impl<'c> Test<'c> {
    /// Whether the attributes of the argument say it all. Where rows end does not matter to a tensor copy.
    pub(super) fn is_known(&self) -> bool {
        self.multiples.is_empty() && self.sizes.is_empty() && rows_are_aligned(self.memory, self.axis, self.by, false)
    }
    /// The truth value, computed before all loops.
    pub(super) fn emit(&self, loc: Location<'c>) -> V<'c> {
        let at = Before(self.nest.outermost());
        let e = Emit::new(&at, loc);
        if self.is_known() {
            return e.constant(1, e.int(1));
        }
        let aligned = IsAligned::build(loc, e.int(1), self.memory, self.axis as i64, self.by, true);
        let mut slice = self.nest.slice();
        // What is asked of can be had: see `tensor_copy`.
        let mut get = |v: V<'c>| slice.get(v, &at).unwrap_or(v);
        let fits = self.multiples.iter().fold(e.insert(aligned).result0(), |all, v| {
            e.and(all, e.cmp(Cmp::Eq, e.rem_u(get(*v), e.index(self.by)), e.index(0)))
        });
        self.sizes.iter().fold(fits, |all, (axis, size)| {
            let size = size.value().map_or_else(|| size.emit(&e), &mut get);
            let whole = e.value("memref.dim", &[self.memory, e.index(*axis as i64)], e.index_type(), &[]);
            e.and(all, e.cmp(Cmp::Eq, size, whole))
        })
    }
}

/// What tensor copies of an operand ask for, or why it cannot have any.
pub(super) fn tensor_copy<'c>(
    kernel: Kernel<'c, 'c>,
    plan: &Plan<'c>,
    bytes: i64,
    strides: &[i64],
) -> Result<Test<'c>, String> {
    let (mma, load, side) = (plan.mma, plan.load, plan.side);
    if target_of(mma.op()).is_none_or(|t| t.tensor_map_caps().is_none()) {
        return Err("the target has no tensor copies".to_owned());
    }
    let cut = cut(load.source())?;
    let memory = cut.memory;
    let other = plan.staging.row_axis(side) ^ usize::from(plan.transposed);
    let axis = 1 - other;
    if strides[axis] != 1 {
        return Err(not_contiguous(plan, bytes, strides));
    }
    let (all, _) = memory.r#type().strides_and_offset().unwrap_or_default();
    let never = |d: usize| d != cut.axes[axis] && all[d] != DYNAMIC && all[d] * bytes % COPY_BYTES != 0;
    if let Some(other) = (0..all.len()).find(|d| never(*d)) {
        return Err(format!(
            "tensor copies take strides that are multiples of {COPY_BYTES} bytes, but that of axis {other} is {}",
            all[other] * bytes
        ));
    }
    let Some(place) = mma.op().parent().filter(|p| p.full_name() == "scf.for") else {
        let m = "the product stands in no loop, and shared memory has no room for its operands beside those of others";
        return Err(m.to_owned());
    };
    let nest = Nest::of(place, kernel.op())?;
    if let Some(write) = written_before(kernel, load.op(), memory) {
        return Err(format!(
            "what the memref holds may change at {}, which a copy that runs ahead would not see",
            line(write)
        ));
    }
    let mut slice = Slice::new(|v| !is_defined_in(v, place));
    if let Some(counter) = counter(place) {
        slice.set(counter, counter);
    }
    let at = cut.at.iter().filter_map(|(_, n)| n.value());
    if !load.indices().into_iter().chain(at).all(|i| slice.reaches(i)) {
        return Err("the indices depend on more than the loop's counter".to_owned());
    }
    let (column, by) = (load.indices()[axis], COPY_BYTES / bytes);
    let multiples = unknown_parts(column, by);
    if let Some(never) = multiples.iter().find_map(|v| v.constant_int()) {
        return Err(format!(
            "tensor copies start at multiples of {COPY_BYTES} bytes, but a part of the index along axis {axis} is {never} elements"
        ));
    }
    if !multiples.iter().all(|v| nest.slice().reaches(*v)) {
        return Err(format!(
            "tensor copies start at multiples of {COPY_BYTES} bytes, but the index along axis {axis} is known to be a multiple of \
             {} elements only, and no test before the loop can tell",
            known_multiple(column)
        ));
    }
    if !cut
        .asked
        .iter()
        .filter_map(|(_, n)| n.value())
        .all(|v| nest.slice().reaches(v))
    {
        return Err(format!(
            "{PART}, and no test before the loop can tell whether this one does"
        ));
    }
    Ok(Test {
        nest,
        memory,
        axis: cut.axes[axis],
        by,
        multiples,
        sizes: cut.asked,
    })
}

/// Which views tensor copies take.
const PART: &str = "tensor copies pad past the edge of an argument, so that a view of one has each of its dimensions whole or at \
                    one index";
/// Most dimensions of a tensor map.
const MOST_DIMENSIONS: usize = 5;

/// What tensor copies may take an argument of the kernel for, or why they may not.
fn cut<'c>(memref: V<'c>) -> Result<Cut<'c>, String> {
    if argument_under(memref).is_none() {
        return Err("the memref is no argument of the kernel".to_owned());
    }
    // Where nothing is left out, the sizes alone would tell the view from its argument.
    let cut = Cut::of(memref).filter(|cut| cut.asked.is_empty() || !cut.at.is_empty());
    let cut = cut.ok_or_else(|| format!("{PART}, and this one has not"))?;
    let dimensions = cut.axes.len() + cut.at.len();
    if dimensions > MOST_DIMENSIONS {
        return Err(format!(
            "tensor maps have at most {MOST_DIMENSIONS} dimensions, but the argument has {dimensions}"
        ));
    }
    Ok(cut)
}

/// Why the axis that is contiguous in shared memory is not so in global memory, and what to do.
fn not_contiguous(plan: &Plan<'_>, bytes: i64, strides: &[i64]) -> String {
    let (side, t) = (plan.side, plan.load.source().r#type());
    let mn = match side {
        Side::A => "M",
        Side::B => "N",
    };
    if bytes != 2 && strides[side.mn_axis() ^ usize::from(plan.transposed)] == 1 {
        let (bits, remedy) = match side {
            Side::A => (8 * bytes, "keep it M x K with strided<[?, 1]>"),
            Side::B => (
                8 * bytes,
                "keep it K x N with strided<[1, ?]>, or N x K with strided<[?, 1]> and tile.transpose what is loaded",
            ),
        };
        return format!(
            "{t} is contiguous along {mn}, but wgmma reads {bits}-bit numbers along K only, so that threads transpose on the way; \
             {remedy}"
        );
    }
    let contiguous = match plan.staging.major {
        Major::K => "K",
        Major::Mn => mn,
    };
    format!("{contiguous} is contiguous in shared memory, but {t} is not known to have stride 1 along it")
}
