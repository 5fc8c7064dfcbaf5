//! Constant tiles as passes want them: the element of every place stands in the constant.
use crate::assign_layouts::is_open;
use girih_dialects::tile::ops::kernel::Kernel;
use girih_ir::{ext::BlockExt, mlir_sys::*, prelude::*};

/// Writes out the constant tiles of a kernel whose layout is open: `sparse` ones become `dense` ones. Those that have their
/// elements elsewhere, in a resource, are refused, since not every reader of a file has it.
pub fn write_out<'c>(kernel: Kernel<'c, 'c>) -> Res {
    let mut errors = Errors::default();
    let body = kernel.body().block_list();
    let ops = body.iter().flat_map(|b| b.op_list()).flat_map(|op| op.nested_ops());
    for op in ops.filter(|op| op.full_name() == "arith.constant" && is_open(op.result0())) {
        let t = op.result0().r#type();
        let written = |v: &Attribute| unsafe { mlirAttributeIsADenseElements(v.to_raw()) };
        let Some(value) = op.attr("value").filter(|v| !written(v)) else {
            continue;
        };
        if unsafe { mlirAttributeIsASparseElements(value.to_raw()) } {
            op.set_attr("value", each(t, &t.shape().unwrap_or_default(), value));
        } else {
            let m = format!(
                "takes the elements of {t} from a resource, but those of a tile stand in the constant itself; write dense<[...]>, or \
                 load them from an argument of the kernel"
            );
            errors.op(&op, m);
        }
    }
    errors.result()
}

/// The elements that `value` has at the places below `sizes`, in a constant of type `tile`; what lies outside has the first.
pub fn each<'c>(tile: Type<'c>, sizes: &[i64], value: Attribute<'c>) -> Attribute<'c> {
    let shape = tile.shape().unwrap_or_default();
    let count: i64 = shape.iter().product();
    // SAFETY: places lie inside the sizes that the constant has, and values are of its element type.
    unsafe {
        let at = |place: &mut [u64]| mlirElementsAttrGetValue(value.to_raw(), place.len() as isize, place.as_mut_ptr());
        let values: Vec<_> = (0..count)
            .map(|mut n| {
                let mut place = vec![0; shape.len()];
                for (axis, size) in shape.iter().enumerate().rev() {
                    place[axis] = (n % size) as u64;
                    n /= size;
                }
                if place.iter().zip(sizes).any(|(c, size)| *c >= size.unsigned_abs()) {
                    place.fill(0);
                }
                at(&mut place)
            })
            .collect();
        Attribute::from_raw(mlirDenseElementsAttrGet(
            tile.to_raw(),
            values.len() as isize,
            values.as_ptr(),
        ))
    }
}
