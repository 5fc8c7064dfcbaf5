//! What must be told before anything is lowered, because later its place in the source is lost or LLVM gives up.
use super::{constants, elementwise::moved, mma, views};
use crate::expand_conversions::floats::is_small;
use girih_core::tensor_map::Swizzle;
use girih_dialects::{
    nvvm::is_tf32,
    tile::{
        distribution::Distribution,
        layouts::is_laid_out,
        ops::{bulk::Remote, cvt::Cvt, kernel::Kernel, memory::Alloc, mma::Mma, value::ConvertLayout, wgmma::Wgmma},
        spaces::{is_shared_cluster, shared_of},
        types::accumulator_tensor,
        verify::{element_bits, enclosing, holders, memref_bytes, role_of},
    },
};
use girih_ir::{op::OpView, prelude::*};

/// Checks a kernel; every violation is reported.
pub fn check(kernel: Kernel<'_, '_>) -> Res {
    let mut errors = Errors::default();
    for op in kernel.op().nested_ops() {
        // The op around it has been told.
        let inside = |outer: OperationRef<'_, '_>| no_way_down(outer).is_some();
        if std::iter::successors(op.parent(), |o| o.parent()).any(inside) {
            continue;
        }
        if let Some(alloc) = op.cast::<Alloc>() {
            place(kernel, alloc, &mut errors);
        }
        if let Some(t) = vector_of_bytes(op) {
            errors.op(
                &op,
                format!(
                    "computes with {t}, but floats of 8 bits are computed with as numbers and as tiles; take one of those"
                ),
            );
        }
        if let Some(t) = kept_tf32(op) {
            errors.op(
                &op,
                format!(
                    "has {t}, but tf32 is a format to round to, not to compute with: arith.truncf and tile.cvt give it, arith.extf \
                     and tile.cvt take it; go on in f32, of which it is a part"
                ),
            );
        }
        if let Some(t) = unknown_float(op) {
            let m = format!(
                "has {t}, a format that numbers and tiles of kernels do not have: they are of f16, bf16, f32, f64, f8E4M3FN, \
                 f8E5M2, f6E2M3FN, f6E3M2FN and f4E2M1FN, and vectors of those of 8 bits or more; take integers of as many bits, \
                 which tensor copies move as well"
            );
            errors.op(&op, m);
        }
        if let Some(t) = below_a_byte_in_memory(op) {
            let m = format!(
                "has {t}, but memory has no numbers below a byte; move bytes, and make floats of tiles of them with tile.bitcast"
            );
            errors.op(&op, m);
        }
        if let Some(t) = too_wide(op) {
            let m = format!("has {t}, but integers in kernels have at most {MOST_BITS} bits; take several i64");
            errors.op(&op, m);
        }
        if let Some(m) = needs_library(op).or_else(|| constants::why_not(op)) {
            errors.op(&op, m);
        }
        if let Some(m) = op.cast::<Wgmma>().and_then(|w| too_few_registers(kernel, w)) {
            errors.op(&op, m);
        }
        laid_out(op, &mut errors);
        if let Some((from, to)) = moved(op) {
            let m = format!(
                "takes {from} to {to}, whose threads hold other elements; go through memory with tile.store and tile.load"
            );
            errors.op(&op, m);
        }
        if let Some(why) = op
            .cast::<Mma>()
            .filter(|m| !m.is_staged() && is_laid_out(m.acc().r#type()))
            .and_then(mma::why_not)
        {
            errors.op(&op, why);
        }
        remote_element(op, &mut errors);
        let on_host = matches!(enclosing::<Kernel>(op), Some((_, 0)));
        if let Some(why) = vector(op).filter(|_| !on_host && no_way_down(op).is_none()) {
            errors.op(&op, why);
        }
        if let Some(remedy) = no_way_down(op).filter(|_| !on_host) {
            errors.op(&op, remedy);
        }
    }
    errors.result()
}

/// Every tile says which threads of the block, or of the role around, hold it.
fn laid_out<'c>(op: OperationRef<'c, '_>, errors: &mut Errors) {
    let tiles = op
        .result_types()
        .into_iter()
        .chain(op.operand_values().into_iter().map(|v| v.r#type()));
    for t in tiles.filter(|t| t.is_ranked_tensor_type()) {
        if !is_laid_out(t) {
            errors.op(
                &op,
                format!("works on {t}, whose layout is not known; run tile-assign-layouts first"),
            );
            return;
        }
        let Some(d) = Distribution::of(t) else { continue };
        let held = d.thread_count() as i64;
        if holders(op) == Some(held) {
            continue;
        }
        let m = match role_of(op) {
            Some(role) => format!(
                "works on {t}, which {held} threads hold, but only role '{}' comes here, which has {}; a layout's warps are those of \
                 the role",
                role.name,
                32 * role.warps
            ),
            None => format!(
                "works on {t}, which {held} threads hold, but the kernel has threads({}); a layout's warps are those of the block",
                holders(op).unwrap_or(0)
            ),
        };
        errors.op(&op, m);
        return;
    }
}

/// The types of what an op takes and gives.
fn types_of<'c>(op: OperationRef<'c, '_>) -> Vec<Type<'c>> {
    let operands = op.operand_values().into_iter().map(|v| v.r#type());
    operands.chain(op.result_types()).collect()
}

/// A vector of small floats that an op of arith or math computes with.
fn vector_of_bytes<'c>(op: OperationRef<'c, '_>) -> Option<Type<'c>> {
    let moves = matches!(op.full_name(), "arith.constant" | "arith.select" | "arith.bitcast");
    let is_one =
        |t: &Type<'c>| t.shape().is_some() && !t.is_ranked_tensor_type() && t.element_type().is_some_and(is_small);
    let types = types_of(op).into_iter();
    types
        .filter(|_| !moves && matches!(op.dialect_name(), "arith" | "math"))
        .find(is_one)
}

/// A number or tile of tf32 with which an op does something else than to make it or to widen it.
fn kept_tf32<'c>(op: OperationRef<'c, '_>) -> Option<Type<'c>> {
    let passes = matches!(
        op.full_name(),
        "arith.truncf" | "arith.extf" | "arith.constant" | Cvt::NAME | ConvertLayout::NAME
    );
    if passes || op.dialect_name() == "scf" {
        return None;
    }
    let is_one = |t: &Type<'c>| !t.is_memref_type() && is_tf32(t.element_type().unwrap_or(*t));
    types_of(op).into_iter().find(is_one)
}

/// A number or tile of at most a byte in a format that nothing converts, computes with or moves.
fn unknown_float<'c>(op: OperationRef<'c, '_>) -> Option<Type<'c>> {
    let is_one = |t: &Type<'c>| {
        let element = t.element_type().unwrap_or(*t);
        let bits = element.bit_width().filter(|bits| element.is_float_type() && *bits <= 8);
        // Vectors are of bytes or more.
        let is_vector = t.shape().is_some() && !t.is_ranked_tensor_type();
        bits.is_some_and(|bits| !t.is_memref_type() && (!is_small(element) || bits < 8 && is_vector))
    };
    types_of(op).into_iter().find(is_one)
}

/// A float of 4 or 6 bits that an access to memory gives or takes.
fn below_a_byte_in_memory<'c>(op: OperationRef<'c, '_>) -> Option<Type<'c>> {
    let is_one = |t: &Type<'c>| t.is_float_type() && t.bit_width().is_some_and(|bits| bits < 8);
    types_of(op)
        .into_iter()
        .filter(|_| op.dialect_name() == "memref")
        .find(is_one)
}

/// Most bits of an integer. LLVM makes code for each of its registers, and takes minutes for millions.
const MOST_BITS: u32 = 1024;

/// An integer, or a tile of some, of more bits.
fn too_wide<'c>(op: OperationRef<'c, '_>) -> Option<Type<'c>> {
    let is_one = |t: &Type<'c>| {
        let element = t.element_type().unwrap_or(*t);
        element.is_integer() && element.bit_width().is_some_and(|bits| bits > MOST_BITS)
    };
    types_of(op).into_iter().find(is_one)
}

/// What GPUs have no instruction for, and LLVM no code but a call into a library that is not there.
fn needs_library(op: OperationRef<'_, '_>) -> Option<String> {
    if !matches!(op.dialect_name(), "arith" | "math") || op.full_name() == "arith.constant" {
        return None;
    }
    let types = types_of(op);
    let numbers = || types.iter().map(|t| t.element_type().unwrap_or(t.plain()));
    if let Some(t) = numbers().find(|t| t.is_float_type() && t.bit_width().is_some_and(|bits| bits > 64)) {
        return Some(format!(
            "computes with {t}, but GPUs have no floats past 64 bits; use f64"
        ));
    }
    let wide = numbers().find(|t| t.is_integer() && t.bit_width().is_some_and(|bits| bits > 64))?;
    let name = op.full_name().split_once('.').map_or("", |(_, name)| name);
    let divides = ["div", "rem"].iter().any(|part| name.contains(part));
    let by_constant = op.operand_values().get(1).is_some_and(|v| v.constant_int().is_some());
    if divides && !by_constant {
        return Some(format!(
            "divides {wide} by a number that is no constant, for which there is no code past 64 bits; divide i64"
        ));
    }
    matches!(name, "sitofp" | "uitofp" | "fptosi" | "fptoui").then(|| {
        format!("converts {wide} to or from a float, for which there is no code past 64 bits; convert i64, in two halves if need be")
    })
}

/// 32-bit registers of an SM, which the threads of a block divide among them.
const REGISTER_FILE: i64 = 65536;

/// Registers that ptxas keeps beside an accumulator, whatever its size.
const BESIDE_ACCUMULATOR: i64 = 26;

/// Registers of sums that a thread has of a product, and those that it has in a block of so many threads, where these are too
/// few: ptxas gives up on a product (its error C7602), since one instruction has all its sums in registers at once.
pub(crate) fn lacks_registers(acc: Type<'_>, threads: i64) -> Option<(i64, i64)> {
    let (columns, bits) = (*acc.shape()?.last()?, element_bits(acc)? as i64);
    // 64 rows on 128 threads.
    let held = columns.checked_mul(bits)? / 64;
    let left = (REGISTER_FILE / threads.max(1) / 8 * 8).min(255);
    (held + BESIDE_ACCUMULATOR > left).then_some((held, left))
}

/// Why a product has too few registers, and what would fit.
fn too_few_registers(kernel: Kernel<'_, '_>, product: Wgmma<'_, '_>) -> Option<String> {
    let threads = kernel.threads();
    let acc = accumulator_tensor(product.acc().r#type())?;
    let ((held, left), bits) = (lacks_registers(acc, threads)?, element_bits(acc)? as i64);
    let fitting = (left - BESIDE_ACCUMULATOR).max(0) * 64 / bits / 8 * 8;
    Some(format!(
        "has {held} registers of sums in each thread and needs {BESIDE_ACCUMULATOR} beside them, but the {threads} threads of the \
         block have {left} each; multiply tiles of at most {fitting} columns, or with fewer threads",
    ))
}

/// Single elements of another block's shared memory lie as they are only where nothing permutes them, which the type of such
/// memory does not say: it must be seen where it comes from.
fn remote_element<'c>(op: OperationRef<'c, '_>, errors: &mut Errors) {
    let memory = match (op.full_name(), &op.operand_values()[..]) {
        ("memref.load", [memory, ..]) | ("memref.store", [_, memory, ..]) => *memory,
        _ => return,
    };
    if !is_shared_cluster(memory.r#type()) {
        return;
    }
    let source = memory
        .defining_op()
        .and_then(|op| op.cast::<Remote>())
        .map(|r| r.source());
    match source.and_then(|source| shared_of(source.r#type())) {
        None => errors.op(
            &op,
            "reaches another block's shared memory, but not through a tile.remote in the same kernel; use its result directly",
        ),
        Some(space) if space.mode() != Swizzle::None => errors.op(
            &op,
            format!(
                "reaches elements of another block's memory that has swizzle {}; copy it with tile.bulk.send and read the \
                 copy, or leave the swizzle out",
                space.swizzle()
            ),
        ),
        Some(_) => {}
    }
}

/// Why an op in a kernel cannot be lowered, and what to write instead; `None` where it can. Launch regions have rules of
/// their own.
fn no_way_down(op: OperationRef<'_, '_>) -> Option<&'static str> {
    match op.full_name() {
        "tensor.splat" | "memref.load" | "memref.store" | "memref.dim" => None,
        name if views::NAMES.contains(&name) && views::is_of_global(op) => None,
        "memref.reinterpret_cast" if views::is_global_view(op) => Some(
            "is of a view that starts somewhere, but its offset counts from the start of the whole memory; take it of the \
             argument of the kernel",
        ),
        // Of a tile without axes.
        "tensor.extract" if op.operand_count() == 1 => None,
        "tensor.extract" => Some(
            "takes one element of a tile by its place, which some thread holds; load it with memref.load, or select it with \
             tile.iota, arith.cmpi and arith.select and reduce the tile to a number",
        ),
        "tile.mma" if op.cast::<Mma>().is_some_and(|mma| mma.is_staged()) => {
            Some("multiplies what is in shared memory as a whole; run tile-expand-mma first")
        }
        "tile.stage" => Some("has no memory yet; run tile-pipeline first"),
        "tile.produce" => Some("runs ahead of its loop, but in no thread yet; run tile-specialize-warps first"),
        "gpu.printf" => Some("is not lowered in kernels; write tile.print \"x = {}\", %x : f32"),
        "vector.load"
        | "vector.maskedload"
        | "vector.maskedstore"
        | "vector.gather"
        | "vector.scatter"
        | "vector.transfer_read"
        | "vector.transfer_write" => Some(
            "is not lowered in kernels; load and store a tile with tile.load and tile.store, which choose vectors by themselves, or \
             single elements with memref.load and memref.store",
        ),
        "vector.reduction" | "vector.multi_reduction" | "vector.contract" => {
            Some("is not lowered in kernels; reduce a tile with tile.reduce, or combine the numbers that it is made of")
        }
        "vector.print" => Some("is not lowered in kernels; write tile.print \"x = {}\", %x : f32"),
        "memref.cast"
        | "memref.transpose"
        | "memref.subview"
        | "memref.collapse_shape"
        | "memref.expand_shape"
        | "memref.reinterpret_cast" => Some(
            "is lowered of strided memrefs in global memory alone; take a part of shared memory with tile.slab, or compute the indices \
             of memref.load and memref.store",
        ),
        "memref.reshape" | "memref.view" => Some(
            "is not lowered in kernels; see the memref in another shape with memref.expand_shape, memref.collapse_shape or \
             memref.reinterpret_cast",
        ),
        "memref.alloc" | "memref.alloca" | "memref.dealloc" => Some(
            "is not lowered in kernels; memory of the block is tile.alloc, and values that a thread keeps are SSA values",
        ),
        "memref.copy" => Some("is not lowered in kernels; load the tile with tile.load and store it with tile.store"),
        "arith.scaling_truncf" | "arith.scaling_extf" => Some(
            "is not lowered in kernels; divide by the scale, or multiply by it, with arith.divf and arith.mulf, and convert with \
             tile.cvt or arith.extf",
        ),
        "affine.for" | "affine.if" | "affine.parallel" => {
            Some("is not lowered in kernels; write scf.for or scf.if, or run lower-affine before")
        }
        "gpu.thread_id" => Some("is not lowered in kernels; write tile.thread_id"),
        "gpu.block_id" => Some("is not lowered in kernels; write tile.block_id"),
        "gpu.barrier" => Some("is not lowered in kernels; write tile.barrier"),
        "cf.assert" => Some("is not lowered in kernels; write tile.assert %condition, \"message\" : i1"),
        "func.call" | "func.call_indirect" => {
            Some("calls a function, but kernels are compiled alone; run tile-inline-calls first")
        }
        _ => match op.dialect_name() {
            "tile" | "arith" | "math" | "scf" | "cf" | "index" | "llvm" | "nvvm" | "vector" | "ub" | "builtin" => None,
            "memref" => {
                Some("is not lowered in kernels; memref.load, memref.store, memref.dim and views of global memory are")
            }
            _ => Some(
                "is not lowered in kernels; write it with tile ops, memref.load and memref.store, and the arith, math, scf and \
                 cf dialects",
            ),
        },
    }
}

/// Why an op of the vector dialect cannot be lowered: vectors are made of numbers to be stored to shared memory.
fn vector(op: OperationRef<'_, '_>) -> Option<String> {
    if op.dialect_name() != "vector" {
        return None;
    }
    let operands = op.operand_values();
    let t = match op.full_name() {
        "vector.from_elements" => op.result0().r#type(),
        "vector.broadcast" => {
            let from = operands[0].r#type();
            if from.shape().is_some() {
                return Some(format!(
                    "repeats {from}, but only numbers become vectors; repeat a number"
                ));
            }
            op.result0().r#type()
        }
        "vector.store" => {
            let to = operands[1].r#type();
            if shared_of(to).is_none() {
                return Some(format!(
                    "stores a vector to {to}, but vectors are stored to #tile.shared; store numbers with memref.store"
                ));
            }
            operands[0].r#type()
        }
        _ => {
            let m = "is not lowered in kernels; vector.from_elements, vector.broadcast and vector.store to shared memory are";
            return Some(m.to_owned());
        }
    };
    if t.shape().is_none_or(|shape| shape.len() != 1) {
        return Some(format!(
            "has {t}, but vectors of a kernel are one run of elements; take vectors of rank 1"
        ));
    }
    t.element_type().is_some_and(|e| e.is_index_type()).then(|| {
        format!("has {t}, but vectors of a kernel hold numbers of a known width; take i64 with arith.index_cast")
    })
}

/// Every buffer lies in the shared memory that the kernel asks for.
fn place<'c>(kernel: Kernel<'c, '_>, alloc: Alloc<'c, '_>, errors: &mut Errors) {
    let (Some(offset), Some(total)) = (alloc.offset(), kernel.shared_bytes()) else {
        errors.op(
            &alloc.op(),
            "has no place in shared memory yet; run tile-allocate-shared first",
        );
        return;
    };
    let bytes = memref_bytes(alloc.result().r#type()).unwrap_or(0);
    let end = (offset.max(0) as u64).saturating_add(bytes);
    if end > total.max(0) as u64 {
        errors.op(
            &alloc.op(),
            format!("ends at byte {end} of shared memory, but the kernel has shared_bytes = {total}; run tile-allocate-shared"),
        );
    }
}
