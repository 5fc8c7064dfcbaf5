//! Loops around a loop, and the number of a pass among all that the innermost one makes.
//!
//! What counts passes, as a ring of slots does, goes on counting when an outer loop enters the inner one again. The number is
//! arithmetic on the loops' counters, since how often the inner loops run does not change in the outermost one.
use crate::{
    global_views::argument_under,
    slice::{Slice, is_defined_in},
};
use girih_dialects::{
    nvvm::Emit,
    tile::{marks::may_change_unnamed, ops::kernel::Kernel, spaces::is_global},
};
use girih_ir::{ext::BlockExt, mlir_sys::*, op::EffectKind, prelude::*, rewrite::Before};

type V<'c> = Value<'c, 'c>;

/// Nested `scf.for`, the outermost first.
pub struct Nest<'c>(Vec<OperationRef<'c, 'c>>);

impl<'c> Nest<'c> {
    /// The loop `place` and those around it in `root`, or why their passes cannot be numbered.
    pub fn of(place: OperationRef<'c, 'c>, root: OperationRef<'c, 'c>) -> Result<Self, String> {
        let (mut loops, mut tests, mut at) = (vec![place], vec![], place);
        while let Some(outer) = at.parent().filter(|op| *op != root) {
            match outer.full_name() {
                "scf.for" => loops.push(outer),
                "scf.if" => tests.push(outer),
                name => return Err(format!("the loop stands inside '{name}'")),
            }
            at = outer;
        }
        loops.reverse();
        let nest = Nest(loops);
        let changes = |v: &V<'c>| !nest.slice().reaches(*v);
        if nest.0[1..].iter().any(|l| l.operand_values()[..3].iter().any(changes)) {
            return Err("the bounds of the loop change in the loop around it".to_owned());
        }
        let inside = |op: &OperationRef<'c, 'c>| op.parent().is_some_and(|p| nest.contains(p));
        if tests
            .iter()
            .filter(|op| inside(op))
            .any(|op| changes(&op.operand_values()[0]))
        {
            return Err("whether the loop is entered changes in the loop around it".to_owned());
        }
        Ok(nest)
    }
    fn contains(&self, op: OperationRef<'c, 'c>) -> bool {
        let mut at = Some(op);
        while let Some(here) = at {
            if here == self.outermost() {
                return true;
            }
            at = here.parent();
        }
        false
    }
    /// Passes of the innermost loop over all, where they are known: the bounds are constants.
    pub fn known_passes(&self) -> Option<i64> {
        let trips = |l: &OperationRef<'c, 'c>| {
            let bounds = l.operand_values();
            let [from, to, by] = [0, 1, 2].map(|i| bounds[i].constant_int());
            let by = by.filter(|by| *by > 0)?;
            Some(to?.checked_sub(from?)?.max(0).checked_add(by - 1)? / by)
        };
        self.0.iter().try_fold(1i64, |all, l| all.checked_mul(trips(l)?))
    }
    /// The loop with no loop around it.
    pub fn outermost(&self) -> OperationRef<'c, 'c> {
        self.0[0]
    }
    /// What can be computed before the outermost loop.
    pub fn slice(&self) -> Slice<'c, 'c> {
        let outermost = self.outermost();
        Slice::new(move |v| !is_defined_in(v, outermost))
    }
    /// Passes that the innermost loop has made when it is entered, written at a place before it; `None` where that is once.
    pub fn passes_before(&self, e: &Emit<'c, '_>) -> Option<V<'c>> {
        let (inner, outer) = self.0.split_last()?;
        let entered = outer.iter().fold(None, |before: Option<V<'c>>, l| {
            let (bounds, counter) = (l.operand_values(), counter(*l)?);
            let own = e.div_u(e.sub(counter, bounds[0]), bounds[2]);
            Some(before.map_or(own, |n| e.add(e.mul(n, trips(e, *l)), own)))
        })?;
        Some(e.mul(entered, trips(e, *inner)))
    }
}

/// Lets a loop over integers count by an index, which its body sees as the integer that it was. One whose numbers an index may
/// not have is refused.
pub fn count_by_index(place: OperationRef<'_, '_>) -> Res {
    let Some(counter) = counter(place).filter(|c| !c.r#type().is_index_type()) else {
        return Ok(());
    };
    let Some(first) = place.region_at(0).entry().and_then(|b| b.op_list().first().copied()) else {
        return Ok(());
    };
    let bits = counter.r#type().bit_width().unwrap_or(64);
    if bits > 64 || bits == 64 && place.attr("unsignedCmp").is_some() {
        let m = format!(
            "counts by {} {}, which an index does not hold, around a product; count by index, or by integers of fewer bits",
            if place.attr("unsignedCmp").is_some() {
                "unsigned"
            } else {
                "signed"
            },
            counter.r#type()
        );
        return Diag::op(&place, m).report();
    }
    // With more bits, what is compared without a sign needs no mark of it.
    let cast = match place.attr("unsignedCmp") {
        Some(_) => "arith.index_castui",
        None => "arith.index_cast",
    };
    place.remove_attr("unsignedCmp");
    let (outside, inside) = (Before(place), Before(first));
    let (e, own) = (
        Emit::new(&outside, place.location()),
        Emit::new(&inside, place.location()),
    );
    let (integer, index) = (counter.r#type(), e.index_type());
    for (i, bound) in place.operand_values().into_iter().take(3).enumerate() {
        let bound = e.value(cast, &[bound], index, &[]);
        // SAFETY: the bounds and the counter are changed together.
        unsafe { mlirOperationSetOperand(place.to_raw(), i as isize, bound.to_raw()) };
    }
    // SAFETY: as above; all uses get what has the old type.
    unsafe { mlirValueSetType(counter.to_raw(), index.to_raw()) };
    let number = own.value(cast, &[counter], integer, &[]);
    counter.replace_all_uses_with(&number);
    if let Some(op) = number.defining_op() {
        // SAFETY: the cast takes the counter itself.
        unsafe { mlirOperationSetOperand(op.to_raw(), 0, counter.to_raw()) };
    }
    Ok(())
}

/// The counter of a loop.
pub fn counter<'c>(place: OperationRef<'c, 'c>) -> Option<V<'c>> {
    let body = place.region_at(0).entry()?;
    body.argument_values().first().copied()
}

/// An op that may write `memory` before `read` reads it in the order of the source: it stands before it, or in a loop around
/// both. A copy of what `read` reads that runs ahead might come before the write.
pub fn written_before<'c>(
    kernel: Kernel<'c, 'c>,
    read: OperationRef<'c, 'c>,
    memory: V<'c>,
) -> Option<OperationRef<'c, 'c>> {
    let loops = |op: OperationRef<'c, 'c>| {
        std::iter::successors(op.parent(), |op| op.parent())
            .take_while(|op| !op.is::<Kernel>())
            .filter(|op| op.full_name() != "scf.if")
            .collect::<Vec<_>>()
    };
    let around = loops(read);
    let mut before = true;
    kernel.op().nested_ops().into_iter().find(|op| {
        before &= *op != read;
        may_write(*op, memory) && op.region_count() == 0 && (before || loops(*op).iter().any(|l| around.contains(l)))
    })
}

/// An op in a loop that may write memory.
pub fn writer<'c>(place: OperationRef<'c, 'c>, memory: V<'c>) -> Option<OperationRef<'c, 'c>> {
    place.nested_ops().into_iter().find(|op| may_write(*op, memory))
}

/// Whether two memrefs in global memory may be the same memory. Arguments of the kernel do not overlap, nor do views of them.
pub fn may_alias<'c>(a: V<'c>, b: V<'c>) -> bool {
    let (own, other) = (argument_under(a), argument_under(b));
    is_global(a.r#type()) && is_global(b.r#type()) && (own.is_none() || other.is_none() || own == other)
}

/// Whether `memory`, in global memory, may be other after an op than before: the op writes it, or lets its threads see what
/// other blocks wrote. What stands in its regions speaks for itself.
pub fn may_write<'c>(op: OperationRef<'c, 'c>, memory: V<'c>) -> bool {
    let is_ours = op.dialect_name() == "tile";
    match op.memory_effects() {
        Some(effects) => {
            may_change_unnamed(op)
                || effects
                    .iter()
                    .any(|(kind, v)| *kind == EffectKind::Write && v.map_or(!is_ours, |v| may_alias(v, memory)))
        }
        None => op.region_count() == 0,
    }
}

/// How often a loop runs.
fn trips<'c>(e: &Emit<'c, '_>, place: OperationRef<'c, 'c>) -> V<'c> {
    let bounds = place.operand_values();
    let way = e.value(
        "arith.maxsi",
        &[e.sub(bounds[1], bounds[0]), e.index(0)],
        e.index_type(),
        &[],
    );
    e.value("arith.ceildivui", &[way, bounds[2]], e.index_type(), &[])
}
