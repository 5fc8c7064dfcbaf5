//! Checks that several ops share.
//!
//! A verifier may see neighbours that have not been verified: what is asked of them here is answered for any op.
use super::{
    ops::{
        kernel::{Entry, Kernel, WarpSpecialize},
        memory::contiguous,
    },
    types::MBarrierType,
};
use girih_ir::{
    ext::DYNAMIC,
    kind::{I64, I64s, Kind, Str},
    op::OpView,
    prelude::*,
};

/// Most shared memory that a block has on any target, in bytes.
pub const MAX_SHARED_BYTES: u64 = 227 * 1024;

/// A static shape, or an error at the op.
pub fn static_shape<'c: 'a, 'a>(op: OperationRef<'c, 'a>, what: &str, t: Type<'c>) -> Res<Vec<i64>> {
    match t.shape() {
        Some(s) if !s.contains(&DYNAMIC) => Ok(s),
        _ => Diag::op(&op, format!("{what} must have static sizes, but is {t}")).report(),
    }
}

/// A size as the source has it.
pub fn size_text(size: i64) -> String {
    if size == DYNAMIC { "?".into() } else { size.to_string() }
}

/// One index for each dimension, each inside where both are known. `memory` is a memref whose accesses nothing clips.
pub fn indices_inside<'c>(
    op: OperationRef<'c, 'c>,
    errors: &mut Errors,
    what: &str,
    memory: Type<'c>,
    indices: &[Value<'c, 'c>],
) {
    let shape = memory.shape().unwrap_or_default();
    index_count(op, errors, what, shape.len(), indices.len());
    for (i, (size, index)) in shape.iter().zip(indices).enumerate() {
        if let Some(v) = index.constant_int()
            && *size != DYNAMIC
            && !(0..*size).contains(&v)
        {
            errors.op(&op, format!("index #{i} is {v}, but {what} has {size} there, from 0"));
        }
    }
}

/// One index for each dimension.
pub fn index_count(op: OperationRef<'_, '_>, errors: &mut Errors, what: &str, rank: usize, found: usize) {
    if rank != found {
        errors.op(
            &op,
            format!("{what} has {rank} dimensions, but {found} indices are given"),
        );
    }
}

/// Bits that an element takes in memory, whole bytes and a power of two; an mbarrier and an index take 64.
pub fn element_bits(t: Type<'_>) -> Option<u64> {
    let element = t.element_type()?;
    if MBarrierType::of(element).is_some() || element.is_index_type() {
        return Some(64);
    }
    element
        .bit_width()
        .and_then(u32::checked_next_power_of_two)
        .map(|bits| u64::from(bits).max(8))
}

/// Bits of a number that a tile holds, in a register of its own; in memory it takes [`element_bits`].
pub fn number_bits(t: Type<'_>) -> Option<u64> {
    t.element_type()?.bit_width().map(u64::from)
}

/// Bits that a number of a tile stands for where tiles are seen as other numbers: its own, but that floats of 6 bits lie in the
/// low bits of a byte each, as `cvt` and `mma` have them.
pub fn packed_bits(t: Type<'_>) -> Option<u64> {
    let is_float = t.element_type()?.is_float_type();
    number_bits(t).map(|bits| if is_float && bits == 6 { 8 } else { bits })
}

/// Bytes of a statically shaped memref; `None` also where they are too many to count.
pub fn memref_bytes(t: Type<'_>) -> Option<u64> {
    let shape = t.shape()?;
    if shape.contains(&DYNAMIC) {
        return None;
    }
    shape
        .iter()
        .try_fold(element_bits(t)? / 8, |n, d| n.checked_mul(u64::try_from(*d).ok()?))
}

/// Whether a statically shaped memref lies in one piece from its own start on.
pub fn is_contiguous(t: Type<'_>) -> bool {
    let Some(shape) = t.shape().filter(|s| !s.contains(&DYNAMIC)) else {
        return false;
    };
    t.strides_and_offset()
        .is_some_and(|(strides, offset)| offset == 0 && strides == contiguous(&shape))
}

/// A `memref.dim` with a constant asks for a dimension that the memref has: upstream's patterns take that for granted.
pub fn dimension_exists<'c>(op: OperationRef<'c, 'c>) -> Res {
    let operands = op.operand_values();
    if op.full_name() != "memref.dim" || operands.len() != 2 {
        return Ok(());
    }
    let t = operands[0].r#type();
    match (operands[1].constant_int(), t.shape()) {
        (Some(i), Some(shape)) if !(0..shape.len() as i64).contains(&i) => Diag::op(
            &op,
            format!("asks for dimension {i}, but {t} has {}, from 0", shape.len()),
        )
        .report(),
        _ => Ok(()),
    }
}

/// Threads of the block that runs `op`; `None` outside kernels.
pub fn block_threads(op: OperationRef<'_, '_>) -> Option<i64> {
    let kernel = op.ancestor::<Kernel>()?;
    kernel.op().attr("threads").and_then(I64::from_attribute)
}

/// The role that `op` runs in.
pub struct Role {
    /// Its name, for messages.
    pub name: String,
    /// Number of its first warp in the block.
    pub first_warp: i64,
    /// Number of its warps.
    pub warps: i64,
    /// The barrier at which all its threads meet, where it keeps one.
    pub barrier: Option<i64>,
}

/// The innermost role around `op`.
pub fn role_of<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Role> {
    let (specialize, region) = enclosing::<WarpSpecialize>(op)?;
    let list = specialize.op().attr("warps").and_then(I64s::from_attribute)?;
    let names = specialize
        .op()
        .attr("names")
        .and_then(girih_ir::kind::Strs::from_attribute)?;
    let barriers = specialize.op().attr("barriers").and_then(I64s::from_attribute);
    let barriers = barriers.unwrap_or_default();
    Some(Role {
        name: names.get(region)?.clone(),
        first_warp: list.get(..region)?.iter().fold(0i64, |n, w| n.saturating_add(*w)),
        warps: *list.get(region)?,
        barrier: barriers.get(region).copied().filter(|b| *b != 0),
    })
}

/// Threads that hold the whole tiles at `op`: those of the role around it, else of the block. `None` outside kernels.
pub fn holders(op: OperationRef<'_, '_>) -> Option<i64> {
    role_of(op).map_or_else(|| block_threads(op), |role| Some(role.warps.saturating_mul(32)))
}

/// The nearest `V` around `op`, and which of its regions `op` is in.
pub fn enclosing<'c: 'a, 'a, V: OpView<'c, 'a>>(op: OperationRef<'c, 'a>) -> Option<(V, usize)> {
    let mut inner = op;
    loop {
        let outer = inner.parent()?;
        if let Some(v) = outer.cast::<V>() {
            return Some((v, region_number(outer, inner)?));
        }
        inner = outer;
    }
}

/// Which region of `outer` its child `inner` is in.
fn region_number<'c: 'a, 'a>(outer: OperationRef<'c, 'a>, inner: OperationRef<'c, 'a>) -> Option<usize> {
    let own = inner.block()?.parent_region()?;
    (0..outer.region_count()).find(|i| outer.region_at(*i) == own)
}

/// What runs on the device stands in a kernel's body; private functions may hold parts of one for passes to work on.
pub fn on_device<'c>(op: OperationRef<'c, 'c>) -> Res {
    if let Some((_, region)) = enclosing::<Kernel>(op) {
        return match region {
            0 => Diag::op(
                &op,
                "runs on the device, but stands in a launch region, which the host evaluates",
            )
            .report(),
            _ => Ok(()),
        };
    }
    if op.ancestor::<Entry>().is_some() {
        return Diag::op(
            &op,
            "runs on the device, but stands in a launch region, which the host evaluates",
        )
        .report();
    }
    let mut at = op;
    while let Some(outer) = at.parent() {
        at = outer;
        match at.full_name() {
            "func.func" if at.attr("sym_visibility").and_then(Str::from_attribute).as_deref() != Some("private") => {
                let name = at.attr("sym_name").and_then(Str::from_attribute).unwrap_or_default();
                let m = format!(
                    "runs on the device, but '@{name}' is a public function; write it in the body of a tile.kernel"
                );
                return Diag::op(&op, m).note(at.location(), "the function").report();
            }
            "builtin.module" => {
                return match at == op.parent().unwrap_or(at) {
                    true => Diag::op(
                        &op,
                        "runs on the device, but stands in no kernel; write it in the body of a tile.kernel",
                    )
                    .report(),
                    false => Ok(()),
                };
            }
            _ => {}
        }
    }
    Ok(())
}

/// What a whole warpgroup does together cannot stand where part of one runs.
pub fn whole_warpgroups(op: OperationRef<'_, '_>) -> Res {
    if let Some(role) = role_of(op) {
        if role.warps % 4 != 0 || role.first_warp % 4 != 0 {
            let m = format!(
                "is done by whole warpgroups, but role '{}' has warps {} to {}; give it 4 warps from a multiple of 4",
                role.name,
                role.first_warp,
                role.first_warp.saturating_add(role.warps).saturating_sub(1)
            );
            return Diag::op(&op, m).report();
        }
        return Ok(());
    }
    match block_threads(op) {
        Some(threads) if threads % 128 != 0 => {
            let m = format!("is done by whole warpgroups of 128 threads, but the kernel has threads({threads})");
            Diag::op(&op, m).report()
        }
        _ => Ok(()),
    }
}
