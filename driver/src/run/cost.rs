//! How much work a reference would be, before it is begun.
//!
//! Counted are the points of the iteration spaces of linalg operations whose indexing maps are known. A dimension's size
//! comes from a static type or from the function's arguments; a dimension that neither tells counts as 1, and so does
//! everything outside linalg: the estimate is low rather than wrong, and only ever refuses what is hopeless.
use melior::ir::{
    BlockLike, OperationRef, RegionLike, Value, ValueLike,
    attribute::AttributeLike,
    operation::{OperationLike, WalkOrder, WalkResult},
};
use mlir_sys::*;

/// The multiply-adds of a function, as a sum of products.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost(Vec<Vec<Size>>);

/// The size of one loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Known(u64),
    Argument { number: usize, dim: usize },
    Unknown,
}

impl Cost {
    /// The cost of a verified function.
    pub(super) fn of(function: OperationRef<'_, '_>) -> Self {
        let mut cost = Cost::default();
        let Some(entry) = function.region(0).ok().and_then(|body| body.first_block()) else {
            return cost;
        };
        function.walk(WalkOrder::PreOrder, |op| {
            if op
                .name()
                .as_string_ref()
                .as_str()
                .is_ok_and(|name| name.starts_with("linalg."))
            {
                // SAFETY: the operation is verified and alive, and so is the block.
                cost.0.extend(unsafe { loops(op, entry.to_raw()) });
            }
            WalkResult::Advance
        });
        cost
    }

    /// Multiply-adds of a call with arrays of these shapes; numbers have none.
    pub(super) fn multiply_adds(&self, shapes: &[Vec<u64>]) -> u128 {
        let value = |size: &Size| match *size {
            Size::Known(size) => size,
            Size::Argument { number, dim } => shapes
                .get(number)
                .and_then(|shape| shape.get(dim))
                .copied()
                .unwrap_or(1),
            Size::Unknown => 1,
        };
        let product = |sizes: &Vec<Size>| {
            sizes
                .iter()
                .fold(1u128, |n, size| n.saturating_mul(u128::from(value(size))))
        };
        self.0.iter().fold(0, |sum, sizes| sum.saturating_add(product(sizes)))
    }
}

/// The loops of one structured operation.
///
/// # Safety
/// `op` is a verified operation of the function whose entry block is `entry`.
unsafe fn loops(op: OperationRef<'_, '_>, entry: MlirBlock) -> Option<Vec<Size>> {
    let maps = op.attribute("indexing_maps").ok()?.to_raw();
    // SAFETY: each query follows the check that it needs; a verified op has one map for each operand.
    unsafe {
        if !mlirAttributeIsAArray(maps) {
            return None;
        }
        let mut sizes = Vec::new();
        for (i, operand) in (0..mlirArrayAttrGetNumElements(maps)).zip(op.operands()) {
            let map = mlirArrayAttrGetElement(maps, i);
            if !mlirAttributeIsAAffineMap(map) {
                return None;
            }
            let map = mlirAffineMapAttrGetValue(map);
            sizes.resize(mlirAffineMapGetNumDims(map) as usize, Size::Unknown);
            for dim in 0..mlirAffineMapGetNumResults(map) {
                let expr = mlirAffineMapGetResult(map, dim);
                if mlirAffineExprIsADim(expr) {
                    let place = &mut sizes[mlirAffineDimExprGetPosition(expr) as usize];
                    if *place == Size::Unknown {
                        *place = size(operand, dim, entry);
                    }
                }
            }
        }
        Some(sizes)
    }
}

/// # Safety
/// `operand` and `entry` are alive.
unsafe fn size(operand: Value<'_, '_>, dim: isize, entry: MlirBlock) -> Size {
    // SAFETY: each query follows the check that it needs.
    unsafe {
        let (raw, ty) = (operand.to_raw(), mlirValueGetType(operand.to_raw()));
        if !mlirTypeIsAShaped(ty) || !mlirShapedTypeHasRank(ty) || dim >= mlirShapedTypeGetRank(ty) as isize {
            return Size::Unknown;
        }
        if !mlirShapedTypeIsDynamicDim(ty, dim) {
            return u64::try_from(mlirShapedTypeGetDimSize(ty, dim)).map_or(Size::Unknown, Size::Known);
        }
        if mlirValueIsABlockArgument(raw) && mlirBlockEqual(mlirBlockArgumentGetOwner(raw), entry) {
            return Size::Argument {
                number: mlirBlockArgumentGetArgNumber(raw) as usize,
                dim: dim as usize,
            };
        }
        Size::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use melior::ir::Module;

    #[test]
    fn products_cost_the_volume_of_their_loops() {
        let context = registry::context();
        let source = "func.func @f(%a: memref<?x?xf32>, %b: memref<?x32xf32>, %c: memref<?x32xf32>) {
            linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x32xf32>) outs(%c : memref<?x32xf32>)
            return }";
        let module = Module::parse(&context, source).expect("a module");
        let function = module.body().first_operation().expect("a function");
        let cost = Cost::of(function);
        assert_eq!(
            cost.multiply_adds(&[vec![8, 16], vec![16, 32], vec![8, 32]]),
            8 * 16 * 32
        );
        assert_eq!(cost.multiply_adds(&[vec![1 << 40, 1 << 50]]), 1u128 << 95);
    }
}
