//! What must be told before anything is lowered, because later its place in the source is lost or LLVM gives up.
use super::{elementwise::moved, mma};
use girih_core::tensor_map::Swizzle;
use girih_dialects::tile::{
    distribution::Distribution,
    layouts::is_laid_out,
    ops::{bulk::Remote, kernel::Kernel, memory::Alloc, mma::Mma},
    spaces::{is_shared_cluster, shared_of},
    verify::{enclosing, memref_bytes, role_of},
};
use girih_ir::{op::OpView, prelude::*};

/// Checks a kernel; every violation is reported.
pub fn check(kernel: Kernel<'_, '_>) -> Res {
    let mut errors = Errors::default();
    for op in kernel.op().nested_ops() {
        if let Some(alloc) = op.cast::<Alloc>() {
            place(kernel, alloc, &mut errors);
        }
        if is_byte_float_arithmetic(op) {
            errors.op(
                &op,
                "computes with 8-bit floats, which only products do; widen a tile of them with arith.extf, load the numbers as i8, or multiply them with tile.mma",
            );
        }
        laid_out(kernel, op, &mut errors);
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
        if let Some(why) = vector(op).filter(|_| !on_host) {
            errors.op(&op, why);
        }
        if let Some(remedy) = no_way_down(op).filter(|_| !on_host) {
            errors.op(&op, remedy);
        }
    }
    errors.result()
}

/// Every tile says which of the kernel's threads hold it.
fn laid_out<'c>(kernel: Kernel<'c, '_>, op: OperationRef<'c, '_>, errors: &mut Errors) {
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
        if d.thread_count() != kernel.threads() as u64 {
            let m = format!(
                "works on {t}, which {} threads hold, but the kernel has threads({}); a layout's warps are those of the block",
                d.thread_count(),
                kernel.threads()
            );
            errors.op(&op, m);
            return;
        }
        if let Some(role) = role_of(op) {
            errors.op(
                &op,
                format!(
                    "works on {t}, which the whole block holds, but only role '{}' comes here",
                    role.name
                ),
            );
            return;
        }
    }
}

/// Whether an op of arith or math takes or gives 8-bit floats, other than moving them.
fn is_byte_float_arithmetic(op: OperationRef<'_, '_>) -> bool {
    let byte_float = |t: Type<'_>| {
        let number = t.element_type().unwrap_or(t.plain());
        number.is_float_type() && number.bit_width() == Some(8)
    };
    // Tiles are converted two numbers at a time.
    let converts = matches!(
        op.full_name(),
        "arith.extf" | "arith.truncf" | "arith.sitofp" | "arith.uitofp"
    ) && op.result_types().first().is_some_and(|t| t.is_ranked_tensor_type());
    !converts
        && matches!(op.dialect_name(), "arith" | "math")
        && !matches!(op.full_name(), "arith.constant" | "arith.select" | "arith.bitcast")
        && op
            .operand_values()
            .into_iter()
            .map(|v| v.r#type())
            .chain(op.result_types())
            .any(byte_float)
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
        "tensor.splat" | "memref.load" | "memref.store" | "memref.dim" | "memref.transpose" | "memref.cast" => None,
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
        "cf.assert" => Some("is not lowered in kernels; write tile.assert %condition, \"message\" : i1"),
        "func.call" | "func.call_indirect" => {
            Some("calls a function, but kernels are compiled alone; write its ops into the kernel")
        }
        _ => match op.dialect_name() {
            "tile" | "arith" | "math" | "scf" | "cf" | "index" | "llvm" | "nvvm" | "vector" | "ub" | "builtin" => None,
            "memref" => Some("is not lowered in kernels; memref.load, memref.store and memref.dim are"),
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
