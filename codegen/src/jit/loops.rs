//! Chooses the innermost loop of every `linalg.generic`, so that a reference of a useful size ends within seconds.
//!
//! ```mlir
//! // C[i, j] += A[i, k] * B[k, j], all row-major: walking k strides through B a row at a time.
//! iterator_types = ["parallel", "parallel", "reduction"]     // before: i, j, k
//! iterator_types = ["parallel", "reduction", "parallel"]     // after:  i, k, j; B and C are walked along rows
//! ```
//!
//! Only a parallel loop is moved, so every element's sum runs in the same order as before and no result changes. Where a
//! sum has an operand that is used many times but lies across the loop (a column-major B), the operand is first copied
//! to row-major order: a loop over independent sums is vectorised, a loop along one sum must not be. The order stays as
//! it is where the body asks for its indices (`linalg.index`), or where no move helps.
use super::build::Builder;
use crate::error::Result;
use melior::{
    StringRef,
    ir::{
        Attribute, BlockLike, Module, OperationRef, RegionLike, Type, Value, ValueLike,
        attribute::AttributeLike,
        operation::{OperationLike, WalkOrder, WalkResult},
    },
};
use mlir_sys::*;

/// Reorders the loops of every generic operation in the module.
pub(super) fn order(module: &Module<'_>) -> Result<()> {
    let mut generics = Vec::new();
    module.as_operation().walk(WalkOrder::PreOrder, |operation| {
        if is(operation, "linalg.generic") && !asks_for_indices(operation) {
            generics.push(operation.to_raw());
        }
        WalkResult::Advance
    });
    for generic in generics {
        // SAFETY: no step below destroys a generic operation.
        let generic = unsafe { OperationRef::from_raw(generic) };
        if let Some(nest) = Nest::of(generic) {
            reorder(generic, &nest)?;
        }
    }
    Ok(())
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

/// The loops of a generic operation and how they walk its operands.
struct Nest {
    /// One for each loop, outermost first.
    iterators: Vec<MlirAttribute>,
    operands: Vec<Operand>,
}

struct Operand {
    map: MlirAffineMap,
    /// What each loop does to the position in memory.
    walks: Vec<Walk>,
    /// Whether it is only read.
    input: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    /// Nothing.
    Stays,
    /// On to the neighbour.
    Steps,
    /// Somewhere else, but a row-major copy would be stepped through.
    JumpsUnlessCopied,
    /// Somewhere else.
    Jumps,
}

impl Nest {
    fn of(generic: OperationRef<'_, '_>) -> Option<Nest> {
        let maps = generic.attribute("indexing_maps").ok()?.to_raw();
        let iterators = generic.attribute("iterator_types").ok()?.to_raw();
        let segments = generic.attribute("operandSegmentSizes").ok()?.to_raw();
        // SAFETY: the operation has been verified: one map for each operand, one iterator type for each dimension of
        // each map, inputs before outputs.
        unsafe {
            let iterators: Vec<_> = (0..mlirArrayAttrGetNumElements(iterators))
                .map(|i| mlirArrayAttrGetElement(iterators, i))
                .collect();
            let inputs = mlirDenseI32ArrayGetElement(segments, 0) as usize;
            let operands = generic
                .operands()
                .enumerate()
                .map(|(number, operand)| {
                    let map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, number as isize));
                    let ty = mlirValueGetType(operand.to_raw());
                    let walks = (0..iterators.len()).map(|dim| walk(ty, map, dim)).collect();
                    Operand {
                        map,
                        walks,
                        input: number < inputs,
                    }
                })
                .collect();
            Some(Nest { iterators, operands })
        }
    }

    fn is_parallel(&self, dim: usize) -> bool {
        // SAFETY: attributes live as long as their context.
        let attribute = unsafe { Attribute::from_raw(self.iterators[dim]) };
        attribute.to_string() == "#linalg.iterator_type<parallel>"
    }

    /// Operands that jump when loop `dim` is innermost, copies made.
    fn jumps(&self, dim: usize) -> usize {
        self.operands
            .iter()
            .filter(|operand| operand.jumps(dim, self.has_sums()))
            .count()
    }

    fn has_sums(&self) -> bool {
        (0..self.iterators.len()).any(|dim| !self.is_parallel(dim))
    }
}

impl Operand {
    fn jumps(&self, dim: usize, sums: bool) -> bool {
        match self.walks[dim] {
            Walk::Stays | Walk::Steps => false,
            Walk::Jumps => true,
            Walk::JumpsUnlessCopied => !(sums && self.is_worth_copying()),
        }
    }

    /// Read many times, because some loop does not move it.
    fn is_worth_copying(&self) -> bool {
        self.input && self.walks.contains(&Walk::Stays)
    }
}

fn reorder(generic: OperationRef<'_, '_>, nest: &Nest) -> Result<()> {
    let Some(last) = nest.iterators.len().checked_sub(1) else {
        return Ok(());
    };
    // A parallel loop wins over a reduction that jumps as little: its iterations do not wait for each other.
    let rank = |dim: usize| (nest.jumps(dim), !nest.is_parallel(dim), dim != last);
    let candidates = (0..=last).filter(|dim| *dim == last || nest.is_parallel(*dim));
    let Some(best) = candidates.min_by_key(|dim| rank(*dim)) else {
        return Ok(());
    };
    for (number, operand) in nest.operands.iter().enumerate() {
        if operand.walks[best] == Walk::JumpsUnlessCopied && nest.has_sums() && operand.is_worth_copying() {
            copy_to_row_major(generic, number)?;
        }
    }
    if best != last {
        make_innermost(generic, nest, best);
    }
    Ok(())
}

fn make_innermost(generic: OperationRef<'_, '_>, nest: &Nest, best: usize) {
    let mut order: Vec<usize> = (0..nest.iterators.len()).filter(|dim| *dim != best).collect();
    order.push(best);
    // SAFETY: maps and attributes are of the operation's context; each new map has the dimensions of the old.
    unsafe {
        let context = mlirOperationGetContext(generic.to_raw());
        let mut places = vec![MlirAffineExpr { ptr: std::ptr::null() }; order.len()];
        for (place, dim) in order.iter().enumerate() {
            places[*dim] = mlirAffineDimExprGet(context, place as isize);
        }
        let dims = order.len() as isize;
        let permutation = mlirAffineMapGet(context, dims, 0, dims, places.as_mut_ptr());
        let compose = |map: MlirAffineMap| {
            let mut results: Vec<_> = (0..mlirAffineMapGetNumResults(map))
                .map(|i| mlirAffineExprCompose(mlirAffineMapGetResult(map, i), permutation))
                .collect();
            mlirAffineMapAttrGet(mlirAffineMapGet(
                context,
                dims,
                0,
                results.len() as isize,
                results.as_mut_ptr(),
            ))
        };
        let set = |name: &str, values: Vec<MlirAttribute>| {
            let array = mlirArrayAttrGet(context, values.len() as isize, values.as_ptr());
            mlirOperationSetInherentAttributeByName(generic.to_raw(), StringRef::new(name).to_raw(), array);
        };
        set(
            "indexing_maps",
            nest.operands.iter().map(|operand| compose(operand.map)).collect(),
        );
        set("iterator_types", order.iter().map(|dim| nest.iterators[*dim]).collect());
    }
}

/// Puts a row-major copy of operand `number` in its place, for this operation only.
fn copy_to_row_major<'c: 'a, 'a>(generic: OperationRef<'c, 'a>, number: usize) -> Result<()> {
    let lost = |_| crate::Error::Reference("an operand was lost while the reference was lowered".to_owned());
    let build = Builder { operation: generic };
    let operand: Value<'c, 'a> = generic.operand(number).map_err(lost)?;
    let (mut dynamic, mut sizes) = (Vec::new(), String::new());
    // SAFETY: only memrefs are copied (see `walk`).
    let element = unsafe {
        let ty = mlirValueGetType(operand.to_raw());
        for dim in 0..mlirShapedTypeGetRank(ty) as isize {
            if mlirShapedTypeIsDynamicDim(ty, dim) {
                let index = format!("{dim} : index");
                let index = build.value("arith.constant", &[], "index", &[("value", &index)])?;
                dynamic.push(build.value("memref.dim", &[operand, index], "index", &[])?);
                sizes += "?x";
            } else {
                sizes += &format!("{}x", mlirShapedTypeGetDimSize(ty, dim));
            }
        }
        Type::from_raw(mlirShapedTypeGetElementType(ty))
    };
    let segments = format!("array<i32: {}, 0>", dynamic.len());
    let ty = format!("memref<{sizes}{element}>");
    let copy = build.value("memref.alloc", &dynamic, &ty, &[("operandSegmentSizes", &segments)])?;
    build.effect("memref.copy", &[operand, copy])?;
    let free = build.effect("memref.dealloc", &[copy])?;
    // SAFETY: all three are alive, in one block; the copy is freed after its one use.
    unsafe {
        mlirOperationSetOperand(generic.to_raw(), number as isize, copy.to_raw());
        mlirOperationMoveAfter(free.to_raw(), generic.to_raw());
    }
    Ok(())
}

/// What loop `dim` does to an operand.
///
/// # Safety
/// `ty` and `map` are alive and belong together.
unsafe fn walk(ty: MlirType, map: MlirAffineMap, dim: usize) -> Walk {
    // SAFETY: each query follows the check that it needs.
    unsafe {
        let moved = |at: usize| mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, at as isize), dim as isize);
        let moved: Vec<usize> = (0..mlirAffineMapGetNumResults(map) as usize)
            .filter(|at| moved(*at))
            .collect();
        if moved.is_empty() {
            return Walk::Stays;
        }
        if !mlirTypeIsAMemRef(ty) {
            return Walk::Jumps;
        }
        let rank = mlirShapedTypeGetRank(ty) as usize;
        let (mut strides, mut offset) = (vec![0i64; rank], 0i64);
        let strided = mlirMemRefTypeGetStridesAndOffset(ty, strides.as_mut_ptr(), &mut offset).value != 0;
        // With nothing known at all, memory is most likely row-major.
        let unknown = strided && !strides.contains(&1);
        let contiguous = |at: usize| strided && (strides[at] == 1 || (unknown && at + 1 == rank));
        match moved.as_slice() {
            [at] if contiguous(*at) => Walk::Steps,
            [at] if at + 1 == rank => Walk::JumpsUnlessCopied,
            _ => Walk::Jumps,
        }
    }
}
