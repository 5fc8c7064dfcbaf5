//! Constant tiles whose elements differ: a list in global memory, of which each thread loads what it holds.
//!
//! ```mlir
//! %c = arith.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32, #L>                // before
//!
//! llvm.mlir.global internal constant @constant_0(dense<"0x0000803F..."> : tensor<16xi8>) {addr_space = 1, alignment = 16}
//! %p = llvm.mlir.addressof @constant_0                                               // after, in the thread
//! %c = llvm.load %p[%held] : f32
//! ```
use super::route::{Held, element_pointer};
use girih_dialects::{
    nvvm::{Emit, V},
    tile::{distribution::Distribution, ops::kernel::Kernel, verify::element_bits},
};
use girih_ir::{
    ext::BlockExt,
    kind::{Kind, SymbolName},
    mlir_sys::*,
    prelude::*,
    rewrite::AtEnd,
};

/// Where an op says which global has its elements, until it is lowered.
const LIST: &str = "list";
/// Address space of the lists.
const GLOBAL_SPACE: i32 = 1;

/// The elements of a constant tile that differ; `None` for other ops, and for tiles that hold one value everywhere.
fn elements<'c>(op: OperationRef<'c, '_>) -> Option<Attribute<'c>> {
    let value = op.attr("value").filter(|_| op.full_name() == "arith.constant")?;
    let is_tile = op.result_types().first().is_some_and(|t| t.is_ranked_tensor_type());
    // SAFETY: the attribute is alive.
    let is_splat =
        unsafe { mlirAttributeIsADenseElements(value.to_raw()) && mlirDenseElementsAttrIsSplat(value.to_raw()) };
    (is_tile && !is_splat).then_some(value)
}

/// Why a constant tile cannot be lowered; `None` for those that can, and for other ops.
pub(super) fn why_not(op: OperationRef<'_, '_>) -> Option<String> {
    let value = elements(op)?;
    let t = op.result0().r#type();
    if bytes_of(value, t).is_none() {
        return Some(format!(
            "is {t} whose elements are not written out as numbers of 8 bits or more, or as truth values; write dense<[...]>"
        ));
    }
    Distribution::of(t)
        .is_none()
        .then(|| format!("is {t} with several values, but only tiles that tile-assign-layouts lays out have those; load it from memory"))
}

/// The elements as they lie in memory, in row-major order.
fn bytes_of(value: Attribute<'_>, t: Type<'_>) -> Option<Vec<u8>> {
    let raw = value.to_raw();
    let element = t.element_type()?;
    // SAFETY: the attribute is alive, and checked to hold its elements before they are read; there are `n` of them, of
    // the element type's width.
    unsafe {
        if !mlirAttributeIsADenseElements(raw) {
            return None;
        }
        let n = usize::try_from(mlirElementsAttrGetNumElements(raw)).ok()?;
        if element.is_int(1) {
            return Some(
                (0..n)
                    .map(|i| mlirDenseElementsAttrGetBoolValue(raw, i as isize).into())
                    .collect(),
            );
        }
        let bits = if element.is_index_type() {
            64
        } else {
            element.bit_width()?
        };
        if ![8, 16, 32, 64].contains(&bits) {
            return None;
        }
        let start = mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
        Some(std::slice::from_raw_parts(start, n * bits as usize / 8).to_vec())
    }
}

/// Puts the lists that a kernel's constants need into the module of lowered bodies.
pub(super) fn prepare<'c>(kernel: Kernel<'c, 'c>, device: BlockRef<'c, 'c>, taken: &mut Vec<String>) {
    for op in kernel.op().nested_ops() {
        let Some(bytes) = elements(op).and_then(|value| bytes_of(value, op.result0().r#type())) else {
            continue;
        };
        let inside = AtEnd(device);
        let e = Emit::new(&inside, op.location());
        let list = i8_list(&e, &bytes);
        let same = device
            .op_list()
            .into_iter()
            .find(|o| o.full_name() == "llvm.mlir.global" && o.attr("value") == Some(list));
        let known = same.and_then(|o| o.attr("sym_name").and_then(SymbolName::from_attribute));
        let name = known.unwrap_or_else(|| {
            let number = taken.iter().filter(|name| name.starts_with("constant_")).count();
            let mut name = format!("constant_{number}");
            while taken.contains(&name) {
                name.push('_');
            }
            taken.push(name.clone());
            define(&e, &name, list, bytes.len());
            name
        });
        op.set_attr(LIST, e.str_attr(&name));
    }
}

fn i8_list<'c>(e: &Emit<'c, '_>, bytes: &[u8]) -> Attribute<'c> {
    let n = bytes.len() as i64;
    // SAFETY: the type is that of a list of as many bytes as are given.
    unsafe {
        let none = MlirAttribute {
            ptr: std::ptr::null_mut(),
        };
        let t = mlirRankedTensorTypeGet(1, &n, e.int(8).to_raw(), none);
        Attribute::from_raw(mlirDenseElementsAttrInt8Get(t, n as isize, bytes.as_ptr().cast()))
    }
}

fn define<'c>(e: &Emit<'c, '_>, name: &str, list: Attribute<'c>, bytes: usize) {
    let array = Type::parse(e.context(), &format!("!llvm.array<{bytes} x i8>")).expect("a type of this code");
    let attributes = [
        ("sym_name", e.str_attr(name)),
        ("global_type", e.type_attr(array)),
        ("linkage", e.attr("#llvm.linkage<internal>")),
        ("addr_space", e.i32_attr(GLOBAL_SPACE)),
        ("alignment", e.i64_attr(16)),
        ("constant", e.unit_attr()),
        ("value", list),
    ];
    e.op_with_regions("llvm.mlir.global", &[], &[], &attributes, vec![Region::new()]);
}

/// What a thread holds of a constant tile whose elements differ; `None` where [`prepare`] has not seen it.
pub(super) fn load<'c>(e: &Emit<'c, '_>, op: OperationRef<'c, 'c>) -> Option<Vec<V<'c>>> {
    let t = op.result0().r#type();
    let name = op.attr(LIST).and_then(SymbolName::from_attribute)?;
    let (d, element) = (Distribution::of(t)?, t.element_type()?);
    let bytes = element_bits(t).unwrap_or(8) as i64 / 8;
    let symbol = [("global_name", e.symbol_attr(&name))];
    let base = e.value("llvm.mlir.addressof", &[], e.ptr(GLOBAL_SPACE as u32), &symbol);
    let held = Held::new(e, &d);
    let at = |register| element_pointer(e, base, held.offset(e, register), bytes, 0);
    Some(
        (0..d.registers.len())
            .map(|r| e.load(at(r), element, bytes as u64))
            .collect(),
    )
}
