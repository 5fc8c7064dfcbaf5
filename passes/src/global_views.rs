//! What a view of global memory is of.
//!
//! ```mlir
//! %M = memref.dim %A, %c1 : memref<?x?x?xbf16, strided<[?, ?, 1]>, #tile.global>
//! %K = memref.dim %A, %c2 : ...
//! %one = memref.subview %A[%b, 0, 0] [1, %M, %K] [1, 1, 1] : ... to memref<?x?xbf16, strided<[?, 1], offset: ?>, #tile.global>
//! ```
//!
//! Element `[%i, %k]` of `%one` is element `[%b, %i, %k]` of `%A`, and what lies outside of one lies outside of the other, so
//! that a tensor copy may take it from `%A` itself, and all rows are aligned where those of `%A` are. So it is where a
//! dimension's size is 0 as soon as `%b` is outside: `tile-drop-unit-axes` writes it so.
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{facts::argument, spaces::is_global},
};
use girih_ir::{
    ext::DYNAMIC,
    kind::{I64, I64s, Kind},
    mlir_sys::*,
    prelude::*,
};

type V<'c> = Value<'c, 'c>;

/// The ops that see global memory as global memory.
pub const NAMES: [&str; 6] = [
    "memref.cast",
    "memref.subview",
    "memref.reinterpret_cast",
    "memref.transpose",
    "memref.collapse_shape",
    "memref.expand_shape",
];

/// The argument that a memref is a view of, and the kernel whose it is.
pub fn argument_under<'c>(mut memref: V<'c>) -> Option<(OperationRef<'c, 'c>, usize)> {
    while let Some(op) = memref.defining_op().filter(|op| NAMES.contains(&op.full_name())) {
        memref = op.operand_values()[0];
    }
    argument(memref)
}

/// A number that an op has in a list of its own, or as an operand.
#[derive(Clone, Copy)]
pub enum Number<'c> {
    Known(i64),
    Value(V<'c>),
}

impl<'c> Number<'c> {
    /// Its value, if it is known now.
    fn known(self) -> Option<i64> {
        match self {
            Number::Known(n) => Some(n),
            Number::Value(v) => v.constant_int(),
        }
    }
    /// As a value.
    pub fn emit(self, e: &Emit<'c, '_>) -> V<'c> {
        match self {
            Number::Known(n) => e.index(n),
            Number::Value(v) => v,
        }
    }
    /// The operand that it is.
    pub fn value(self) -> Option<V<'c>> {
        match self {
            Number::Known(_) => None,
            Number::Value(v) => Some(v),
        }
    }
}

/// Dimensions of an argument of a kernel, at one index of each other dimension.
pub struct Cut<'c> {
    /// The argument.
    pub memory: V<'c>,
    /// Its dimensions that the view has, in their order.
    pub axes: Vec<usize>,
    /// Its other dimensions, and the index there.
    pub at: Vec<(usize, Number<'c>)>,
    /// Sizes that the view has along dimensions of the argument, of which is not known that they are the argument's.
    pub asked: Vec<(usize, Number<'c>)>,
}

impl<'c> Cut<'c> {
    /// Of an argument, or of a `memref.subview` of one in steps of 1 which starts at 0 along each dimension that it has.
    pub fn of(view: V<'c>) -> Option<Self> {
        if argument(view).is_some() {
            return Some(Cut {
                memory: view,
                axes: (0..view.r#type().shape()?.len()).collect(),
                at: vec![],
                asked: vec![],
            });
        }
        let op = view.defining_op().filter(|op| op.full_name() == "memref.subview")?;
        let memory = op.operand_values()[0];
        argument(memory).filter(|_| is_global(memory.r#type()))?;
        let [starts, sizes, steps] = lists(op)?;
        let axes = kept(op);
        if steps.iter().any(|s| s.known() != Some(1)) || axes.len() != view.r#type().shape()?.len() {
            return None;
        }
        let at: Vec<_> = (0..starts.len())
            .filter(|d| !axes.contains(d))
            .map(|d| (d, starts[d]))
            .collect();
        let mut asked = vec![];
        for axis in &axes {
            let size = sizes[*axis];
            if starts[*axis].known() != Some(0) {
                return None;
            }
            match (size.known(), memory.r#type().shape()?[*axis]) {
                (Some(own), all) if all != DYNAMIC && own != all => return None,
                _ if is_size(size, memory, *axis) || is_size_inside(size, memory, *axis, &at) => {}
                _ => asked.push((*axis, size)),
            }
        }
        Some(Cut {
            memory,
            axes,
            at,
            asked,
        })
    }
    /// The same, but for views that may end before the argument does.
    pub fn whole(view: V<'c>) -> Option<Self> {
        Cut::of(view).filter(|cut| cut.asked.is_empty())
    }
}

/// Whether a number is the size of a memref along a dimension.
fn is_size<'c>(n: Number<'c>, memory: V<'c>, axis: usize) -> bool {
    let known = memory.r#type().shape().and_then(|shape| shape.get(axis).copied());
    if known.is_some_and(|size| size != DYNAMIC && n.known() == Some(size)) {
        return true;
    }
    let dim = n
        .value()
        .and_then(|v| v.defining_op())
        .filter(|op| op.full_name() == "memref.dim");
    dim.is_some_and(|op| {
        let operands = op.operand_values();
        operands[0] == memory && operands[1].constant_int() == i64::try_from(axis).ok()
    })
}

/// Whether a number is that size while the indices `at` are inside the memref, and 0 otherwise.
fn is_size_inside<'c>(n: Number<'c>, memory: V<'c>, axis: usize, at: &[(usize, Number<'c>)]) -> bool {
    let select = n
        .value()
        .and_then(|v| v.defining_op())
        .filter(|op| op.full_name() == "arith.select");
    let Some(&[condition, size, zero]) = select.map(|op| op.operand_values()).as_deref() else {
        return false;
    };
    let mut open = vec![condition];
    while let Some(test) = open.pop() {
        let Some(by) = test.defining_op() else { return false };
        let operands = by.operand_values();
        match by.full_name() {
            "arith.andi" => open.extend(operands),
            "arith.cmpi" => {
                let unsigned_less = by.attr("predicate").and_then(I64::from_attribute) == Some(Cmp::Ult as i64);
                let is_one = |(d, start): &(usize, Number<'c>)| {
                    start.value() == Some(operands[0]) && is_size(Number::Value(operands[1]), memory, *d)
                };
                if !unsigned_less || !at.iter().any(is_one) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    zero.constant_int() == Some(0) && is_size(Number::Value(size), memory, axis)
}

/// Offsets, sizes and steps of a `memref.subview`.
fn lists<'c>(op: OperationRef<'c, 'c>) -> Option<[Vec<Number<'c>>; 3]> {
    let mut open = op.operand_values().into_iter().skip(1);
    let mut list = |name: &str| -> Option<Vec<Number<'c>>> {
        let given = op.attr(name).and_then(I64s::from_attribute)?;
        let one = |n| match n {
            DYNAMIC => open.next().map(Number::Value),
            n => Some(Number::Known(n)),
        };
        given.into_iter().map(one).collect()
    };
    Some([list("static_offsets")?, list("static_sizes")?, list("static_strides")?])
}

/// Which dimensions of its source a `memref.subview` has: it may leave out some of size 1.
pub fn kept(op: OperationRef<'_, '_>) -> Vec<usize> {
    let (from, to) = (op.operand_values()[0].r#type(), op.result0().r#type());
    let numbers = |name: &str| op.attr(name).and_then(I64s::from_attribute).unwrap_or_default();
    let (own, _) = from.strides_and_offset().unwrap_or_default();
    let strides = own.iter().zip(numbers("static_strides")).map(|(s, by)| match (*s, by) {
        (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
        (s, by) => s.saturating_mul(by),
    });
    fn search(from: &[(i64, i64)], to: &[(i64, i64)], at: usize) -> Option<Vec<usize>> {
        let Some(((size, stride), rest)) = from.split_first() else {
            return to.is_empty().then(Vec::new);
        };
        if let Some(((s, t), others)) = to.split_first()
            && size == s
            && (stride == t || *stride == DYNAMIC || *t == DYNAMIC)
            && let Some(mut found) = search(rest, others, at + 1)
        {
            found.insert(0, at);
            return Some(found);
        }
        (*size == 1).then(|| search(rest, to, at + 1)).flatten()
    }
    let from: Vec<(i64, i64)> = numbers("static_sizes").into_iter().zip(strides).collect();
    let (known, _) = to.strides_and_offset().unwrap_or_default();
    let to: Vec<(i64, i64)> = to.shape().unwrap_or_default().into_iter().zip(known).collect();
    search(&from, &to, 0).unwrap_or_default()
}

/// A memref of the same elements and space as `t`, with sizes and strides of its own.
pub fn strided<'c>(t: Type<'c>, shape: &[i64], strides: &[i64], offset: i64) -> Type<'c> {
    // SAFETY: element type and space are those of a memref that exists; there is a stride for each size.
    unsafe {
        let context = mlirTypeGetContext(t.to_raw());
        let layout = mlirStridedLayoutAttrGet(context, offset, strides.len() as isize, strides.as_ptr());
        Type::from_raw(mlirMemRefTypeGet(
            mlirShapedTypeGetElementType(t.to_raw()),
            shape.len() as isize,
            shape.as_ptr(),
            layout,
            mlirMemRefTypeGetMemorySpace(t.to_raw()),
        ))
    }
}
