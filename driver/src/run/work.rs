//! What a reference would do with arrays of given sizes, before it is begun: whether they fit each other, and how long it
//! would take.
//!
//! Looked at are the loops of linalg's structured operations. A loop's length comes from static types and
//! from the function's arguments, and all that tell it must agree: compiled code checks nothing, and would read past the
//! end of the shorter one. A loop that nothing tells counts as one step, and so does everything outside linalg: the
//! estimate is low rather than wrong, and only ever refuses what is hopeless.
use girih_ir::module::place_of;
use melior::ir::{
    BlockLike, OperationRef, RegionLike, Value, ValueLike,
    attribute::AttributeLike,
    operation::{OperationLike, WalkOrder, WalkResult},
};
use mlir_sys::*;

/// The loops of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Work(Vec<Nest>);

/// The loops of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Nest {
    operation: String,
    place: Option<(String, u32, u32)>,
    /// For each loop, everything that tells its length.
    loops: Vec<Vec<Size>>,
}

/// One thing that tells the length of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Static(u64),
    Argument { number: usize, dim: usize },
}

/// Two sizes that should be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// What walks both in one loop.
    pub(super) operation: String,
    /// Where it is.
    pub(super) place: Option<(String, u32, u32)>,
    /// The sizes in words.
    pub(super) sizes: [String; 2],
}

impl Work {
    /// The work of a verified function.
    pub(super) fn of(function: OperationRef<'_, '_>) -> Self {
        let mut nests = Vec::new();
        let Some(entry) = function.region(0).ok().and_then(|body| body.first_block()) else {
            return Work(nests);
        };
        function.walk(WalkOrder::PreOrder, |op| {
            let name = op.name();
            let name = name.as_string_ref().as_str().unwrap_or_default();
            if name.starts_with("linalg.") {
                // SAFETY: the operation is verified and alive, and so is the block.
                nests.extend(unsafe { loops(op, entry.to_raw()) }.map(|loops| Nest {
                    operation: name.to_owned(),
                    place: place_of(op.location().to_raw()),
                    loops,
                }));
            }
            WalkResult::Advance
        });
        Work(nests)
    }

    /// Multiply-adds of a call with arrays of these shapes (numbers have none); `names` are those of the arguments.
    pub(super) fn multiply_adds(&self, shapes: &[Vec<u64>], names: &[&str]) -> Result<u128, Mismatch> {
        let length = |size: &Size| match *size {
            Size::Static(size) => Some(size),
            Size::Argument { number, dim } => shapes.get(number)?.get(dim).copied(),
        };
        let words = |size: &Size| match *size {
            Size::Static(size) => format!("{size}"),
            Size::Argument { number, dim } => format!(
                "dimension {dim} of {} is {}",
                names.get(number).unwrap_or(&"an argument"),
                length(size).unwrap_or_default()
            ),
        };
        let mut total = 0u128;
        for nest in &self.0 {
            let mut steps = 1u128;
            for sizes in &nest.loops {
                let mut known = sizes.iter().filter_map(|size| Some((size, length(size)?)));
                let Some((first, expected)) = known.next() else {
                    continue;
                };
                if let Some((other, _)) = known.find(|(_, found)| *found != expected) {
                    return Err(Mismatch {
                        operation: nest.operation.clone(),
                        place: nest.place.clone(),
                        sizes: [words(first), words(other)],
                    });
                }
                steps = steps.saturating_mul(u128::from(expected));
            }
            total = total.saturating_add(steps);
        }
        Ok(total)
    }
}

/// The loops of one structured operation.
///
/// # Safety
/// `op` is a verified operation of the function whose entry block is `entry`.
unsafe fn loops(op: OperationRef<'_, '_>, entry: MlirBlock) -> Option<Vec<Vec<Size>>> {
    // SAFETY: each query follows the check that it needs; a verified op has one map for each operand.
    unsafe {
        let maps = mlirLinalgGetIndexingMapsAttribute(op.to_raw());
        if maps.ptr.is_null() || !mlirAttributeIsAArray(maps) {
            return None;
        }
        let mut loops: Vec<Vec<Size>> = Vec::new();
        for (i, operand) in (0..mlirArrayAttrGetNumElements(maps)).zip(op.operands()) {
            let map = mlirArrayAttrGetElement(maps, i);
            if !mlirAttributeIsAAffineMap(map) {
                return None;
            }
            let map = mlirAffineMapAttrGetValue(map);
            loops.resize(mlirAffineMapGetNumDims(map) as usize, Vec::new());
            for dim in 0..mlirAffineMapGetNumResults(map) {
                let expr = mlirAffineMapGetResult(map, dim);
                if mlirAffineExprIsADim(expr) {
                    loops[mlirAffineDimExprGetPosition(expr) as usize].extend(size(operand, dim, entry));
                }
            }
        }
        Some(loops)
    }
}

/// # Safety
/// `operand` and `entry` are alive.
unsafe fn size(operand: Value<'_, '_>, dim: isize, entry: MlirBlock) -> Option<Size> {
    // SAFETY: each query follows the check that it needs.
    unsafe {
        let (raw, ty) = (operand.to_raw(), mlirValueGetType(operand.to_raw()));
        if !mlirTypeIsAShaped(ty) || !mlirShapedTypeHasRank(ty) || dim >= mlirShapedTypeGetRank(ty) as isize {
            return None;
        }
        if !mlirShapedTypeIsDynamicDim(ty, dim) {
            return u64::try_from(mlirShapedTypeGetDimSize(ty, dim)).ok().map(Size::Static);
        }
        if mlirValueIsABlockArgument(raw) && mlirBlockEqual(mlirBlockArgumentGetOwner(raw), entry) {
            return Some(Size::Argument {
                number: mlirBlockArgumentGetArgNumber(raw) as usize,
                dim: dim as usize,
            });
        }
        allocated(raw, ty, dim, entry)
    }
}

/// The size of an array that the function makes itself, where it is a dimension of an argument.
///
/// # Safety
/// `value` is alive and of the ranked type `ty`, whose dimension `dim` is dynamic.
unsafe fn allocated(value: MlirValue, ty: MlirType, dim: isize, entry: MlirBlock) -> Option<Size> {
    // SAFETY: each query follows the check that it needs.
    unsafe {
        let maker = defining(value)?;
        if !["memref.alloc", "memref.alloca", "tensor.empty"].contains(&name(&maker)) {
            return None;
        }
        let number = (0..dim).filter(|d| mlirShapedTypeIsDynamicDim(ty, *d)).count();
        let asks = defining(maker.operand(number).ok()?.to_raw())?;
        if !["memref.dim", "tensor.dim"].contains(&name(&asks)) {
            return None;
        }
        let of = asks.operand(0).ok()?.to_raw();
        let index = defining(asks.operand(1).ok()?.to_raw())?;
        let index = index.attribute("value").ok()?.to_raw();
        if !mlirAttributeIsAInteger(index)
            || !mlirValueIsABlockArgument(of)
            || !mlirBlockEqual(mlirBlockArgumentGetOwner(of), entry)
        {
            return None;
        }
        Some(Size::Argument {
            number: mlirBlockArgumentGetArgNumber(of) as usize,
            dim: usize::try_from(mlirIntegerAttrGetValueInt(index)).ok()?,
        })
    }
}

fn name<'a>(op: &OperationRef<'a, '_>) -> &'a str {
    // SAFETY: names of operations live as long as their context.
    unsafe {
        let name = mlirIdentifierStr(mlirOperationGetName(op.to_raw()));
        std::str::from_utf8(std::slice::from_raw_parts(name.data.cast(), name.length)).unwrap_or_default()
    }
}

/// # Safety
/// `value` is alive.
unsafe fn defining<'c, 'a>(value: MlirValue) -> Option<OperationRef<'c, 'a>> {
    // SAFETY: a result knows the operation that gives it.
    unsafe { mlirValueIsAOpResult(value).then(|| OperationRef::from_raw(mlirOpResultGetOwner(value))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use melior::ir::Module;
    use pretty_assertions::assert_eq;

    fn work(source: &str, shapes: &[Vec<u64>]) -> Result<u128, Mismatch> {
        let context = registry::context();
        let module = Module::parse(&context, source).expect("a module");
        Work::of(module.body().first_operation().expect("a function")).multiply_adds(shapes, &["A", "B", "C"])
    }

    const MATMUL: &str = "func.func @f(%a: memref<?x?xf32>, %b: memref<?x32xf32>, %c: memref<?x32xf32>) {
        linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x32xf32>) outs(%c : memref<?x32xf32>)
        return }";

    #[test]
    fn products_take_the_volume_of_their_loops() {
        let shapes = |k| [vec![8, 16], vec![k, 32], vec![8, 32]];
        assert_eq!(work(MATMUL, &shapes(16)), Ok(8 * 16 * 32));
        let huge = [vec![1 << 40, 1 << 50], vec![1 << 50, 32], vec![1 << 40, 32]];
        assert_eq!(work(MATMUL, &huge), Ok(1u128 << 95));
    }

    #[test]
    fn sizes_that_one_loop_walks_must_agree() {
        let mismatch = work(MATMUL, &[vec![8, 16], vec![17, 32], vec![8, 32]]).unwrap_err();
        assert_eq!(mismatch.operation, "linalg.matmul");
        assert_eq!(mismatch.sizes, ["dimension 1 of A is 16", "dimension 0 of B is 17"]);
    }

    #[test]
    fn arrays_that_the_function_makes_have_the_sizes_of_its_arguments() {
        let source = "func.func @f(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
            %c0 = arith.constant 0 : index
            %n = memref.dim %b, %c0 : memref<?x4xf32>
            %t = memref.alloc(%n) : memref<?x4xf32>
            linalg.abs ins(%a : memref<?x4xf32>) outs(%t : memref<?x4xf32>)
            return }";
        assert!(work(source, &[vec![5, 4], vec![5, 4]]) == Ok(20));
        assert!(work(source, &[vec![6, 4], vec![5, 4]]).is_err());
    }
}
