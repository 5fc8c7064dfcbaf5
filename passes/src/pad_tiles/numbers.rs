//! The numbers that stand in padding: constants in larger tiles, and what leaves the others as they are.
use crate::constant_tiles;
use girih_dialects::{nvvm::Emit, tile::ops::reduce::Reduce};
use girih_ir::{ext::BlockExt, mlir_sys::*, prelude::*};

type V<'c> = Value<'c, 'c>;

/// The one value of a constant tile.
pub fn splat_of<'c>(op: OperationRef<'c, 'c>) -> Option<Attribute<'c>> {
    let value = op.attr("value").filter(|_| op.full_name() == "arith.constant")?;
    // SAFETY: only a splat is asked for its value.
    unsafe {
        (mlirAttributeIsADenseElements(value.to_raw()) && mlirDenseElementsAttrIsSplat(value.to_raw()))
            .then(|| Attribute::from_raw(mlirDenseElementsAttrGetSplatValue(value.to_raw())))
    }
}

/// A constant tile in a larger one, which has its first value in the padding.
pub fn padded_constant<'c>(tile: Type<'c>, value: Attribute<'c>, sizes: &[i64]) -> Attribute<'c> {
    // SAFETY: only a splat is asked for its value.
    let one = unsafe {
        mlirDenseElementsAttrIsSplat(value.to_raw())
            .then(|| Attribute::from_raw(mlirDenseElementsAttrGetSplatValue(value.to_raw())))
    };
    match one {
        Some(one) => splat(tile, one),
        None => constant_tiles::each(tile, sizes, value),
    }
}

fn splat<'c>(tile: Type<'c>, value: Attribute<'c>) -> Attribute<'c> {
    // SAFETY: the tile has sizes, and the value is of its element type.
    unsafe { Attribute::from_raw(mlirDenseElementsAttrSplatGet(tile.to_raw(), value.to_raw())) }
}

/// A constant tile of a number, written as MLIR writes it; of truth values, 0 and 1 do as well.
pub fn constant<'c>(e: &Emit<'c, '_>, tile: Type<'c>, number: &str) -> V<'c> {
    let element = tile.element_type().unwrap_or(tile);
    let number = match (element.is_int(1), number) {
        (true, "0" | "false") => "false".to_owned(),
        (true, _) => "true".to_owned(),
        (false, number) => format!("{number} : {element}"),
    };
    let value = splat(tile, e.attr(&number));
    e.value("arith.constant", &[], tile, &[("value", value)])
}

pub fn zero_of(t: Type<'_>) -> &'static str {
    match t.element_type().is_some_and(|e| e.is_float_type()) {
        true => "0.0",
        false => "0",
    }
}

/// What leaves every other number as it is under a combiner of one op, as MLIR writes it.
pub fn neutral(op: Reduce<'_, '_>) -> Option<String> {
    let block = op.combiner().entry()?;
    let (arguments, ops) = (block.argument_values(), block.op_list());
    let [by, end] = ops[..] else { return None };
    let [a, b] = arguments[..] else { return None };
    let operands = by.operand_values();
    let takes_both = operands == [a, b] || operands == [b, a];
    if !takes_both || end.operand_values() != by.result_values() {
        return None;
    }
    let t = a.r#type();
    let bits = t.bit_width()?;
    let infinity = match (t.to_string().as_str(), bits) {
        ("bf16", _) => Some(0x7F80u64),
        ("f16", _) => Some(0x7C00),
        ("f32", _) => Some(0x7F80_0000),
        ("f64", _) => Some(0x7FF0_0000_0000_0000),
        _ => None,
    };
    // No infinity where the op says that there is none.
    let infinity = infinity.filter(|_| by.attr("fastmath").is_none_or(|f| f.to_string().contains("none")));
    let hexadecimal = |n: u64| format!("0x{n:0width$X}", width = bits as usize / 4);
    let is_float = matches!(t.to_string().as_str(), "f16" | "bf16" | "f32" | "f64");
    let signed = |n: i128| (bits > 1).then(|| n.to_string());
    let half = 1i128 << (bits - 1);
    match by.full_name() {
        "arith.addf" if is_float => Some("-0.0".to_owned()),
        "arith.mulf" if is_float => Some("1.0".to_owned()),
        "arith.maximumf" => Some(hexadecimal(infinity? | 1 << (bits - 1))),
        "arith.minimumf" => Some(hexadecimal(infinity?)),
        "arith.addi" | "arith.ori" | "arith.xori" | "arith.maxui" if bits > 1 => Some("0".to_owned()),
        "arith.muli" if bits > 1 => Some("1".to_owned()),
        "arith.andi" | "arith.minui" => signed(-1),
        "arith.maxsi" => signed(-half),
        "arith.minsi" => signed(half - 1),
        _ => None,
    }
}
