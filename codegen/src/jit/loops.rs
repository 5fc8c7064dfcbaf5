//! Chooses the innermost loop of every `linalg.generic`, so that a reference of a useful size ends within seconds.
//!
//! ```mlir
//! // C[i, j] += A[i, k] * B[k, j], all row-major: walking k strides through B a row at a time.
//! iterator_types = ["parallel", "parallel", "reduction"]     // before: i, j, k
//! iterator_types = ["parallel", "reduction", "parallel"]     // after:  i, k, j; B and C are walked along rows
//! ```
//!
//! Only a parallel loop is moved, so every element's sum runs in the same order as before and no result changes. The
//! order stays as it is where the body asks for its indices (`linalg.index`), or where no move helps.
use melior::ir::{
    BlockLike, Module, OperationRef, RegionLike, ValueLike,
    attribute::AttributeLike,
    operation::{OperationLike, WalkOrder, WalkResult},
};
use mlir_sys::*;

/// Reorders the loops of every generic operation in the module.
pub(super) fn order(module: &Module<'_>) {
    module.as_operation().walk(WalkOrder::PreOrder, |operation| {
        if is(operation, "linalg.generic") && !asks_for_indices(operation) {
            reorder(operation);
        }
        WalkResult::Advance
    });
}

fn is(operation: OperationRef<'_, '_>, name: &str) -> bool {
    operation.name().as_string_ref().as_str() == Ok(name)
}

fn asks_for_indices(generic: OperationRef<'_, '_>) -> bool {
    let body = generic.region(0).ok().and_then(|region| region.first_block());
    let mut next = body.and_then(|block| block.first_operation());
    while let Some(operation) = next {
        if is(operation, "linalg.index") {
            return true;
        }
        next = operation.next_in_block();
    }
    false
}

fn reorder(generic: OperationRef<'_, '_>) -> Option<()> {
    let maps = generic.attribute("indexing_maps").ok()?.to_raw();
    let iterators = generic.attribute("iterator_types").ok()?.to_raw();
    // SAFETY: the operation has been verified: one map for each operand, one iterator type for each dimension of each
    // map, and a map has one result for each dimension of its operand.
    unsafe {
        let iterators: Vec<_> = (0..mlirArrayAttrGetNumElements(iterators))
            .map(|i| mlirArrayAttrGetElement(iterators, i))
            .collect();
        let maps: Vec<_> = (0..mlirArrayAttrGetNumElements(maps))
            .map(|i| mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i)))
            .collect();
        let last = iterators.len().checked_sub(1)?;
        let operands: Vec<_> = generic
            .operands()
            .map(|operand| mlirValueGetType(operand.to_raw()))
            .collect();
        let jumps = |dim: usize| {
            operands
                .iter()
                .zip(&maps)
                .filter(|(ty, map)| jumps(**ty, **map, dim))
                .count()
        };
        // The present innermost loop wins ties.
        let parallel = |dim: &usize| iterator_is_parallel(iterators[*dim]);
        let best = (0..last)
            .filter(parallel)
            .min_by_key(|dim| jumps(*dim))
            .filter(|dim| jumps(*dim) < jumps(last))?;

        let mut order: Vec<usize> = (0..=last).filter(|dim| *dim != best).collect();
        order.push(best);
        let context = mlirOperationGetContext(generic.to_raw());
        let mut places = vec![MlirAffineExpr { ptr: std::ptr::null() }; last + 1];
        for (place, dim) in order.iter().enumerate() {
            places[*dim] = mlirAffineDimExprGet(context, place as isize);
        }
        let dims = last as isize + 1;
        let permutation = mlirAffineMapGet(context, dims, 0, dims, places.as_mut_ptr());
        let new_maps: Vec<_> = maps
            .iter()
            .map(|map| {
                let mut results: Vec<_> = (0..mlirAffineMapGetNumResults(*map))
                    .map(|i| mlirAffineExprCompose(mlirAffineMapGetResult(*map, i), permutation))
                    .collect();
                mlirAffineMapAttrGet(mlirAffineMapGet(
                    context,
                    dims,
                    0,
                    results.len() as isize,
                    results.as_mut_ptr(),
                ))
            })
            .collect();
        let new_iterators: Vec<_> = order.iter().map(|dim| iterators[*dim]).collect();
        let set = |name: &str, values: &[MlirAttribute]| {
            let array = mlirArrayAttrGet(context, values.len() as isize, values.as_ptr());
            mlirOperationSetInherentAttributeByName(generic.to_raw(), melior::StringRef::new(name).to_raw(), array);
        };
        set("indexing_maps", &new_maps);
        set("iterator_types", &new_iterators);
    }
    Some(())
}

/// # Safety
/// `attribute` is alive.
unsafe fn iterator_is_parallel(attribute: MlirAttribute) -> bool {
    // SAFETY: by contract.
    unsafe { melior::ir::Attribute::from_raw(attribute) }.to_string() == "#linalg.iterator_type<parallel>"
}

/// Whether an operand is walked neither in place nor from one element to the next when only loop `dim` advances.
///
/// # Safety
/// `ty` and `map` are alive and belong together.
unsafe fn jumps(ty: MlirType, map: MlirAffineMap, dim: usize) -> bool {
    // SAFETY: each query follows the check that it needs.
    unsafe {
        if !mlirTypeIsAMemRef(ty) {
            return false;
        }
        let rank = mlirShapedTypeGetRank(ty) as usize;
        let (mut strides, mut offset) = (vec![0i64; rank], 0i64);
        if mlirMemRefTypeGetStridesAndOffset(ty, strides.as_mut_ptr(), &mut offset).value == 0 {
            return true;
        }
        let unit = strides.contains(&1);
        (0..rank).any(|at| {
            let moved = mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, at as isize), dim as isize);
            // With nothing known at all, memory is most likely row-major.
            let contiguous = strides[at] == 1 || (!unit && at + 1 == rank);
            moved && !contiguous
        })
    }
}
