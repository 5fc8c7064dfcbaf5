//! Switches on all 64 bits of an index.
//!
//! ```mlir
//! scf.index_switch %i -> ... case 0 { ... }             // before
//!
//! %l = arith.index_cast %i : index to i64               // after: a number that i32 has not is none of the cases
//! %w = arith.trunci %l : i64 to i32
//! %b = arith.extsi %w : i32 to i64
//! %own = arith.cmpi eq, %b, %l : i64
//! %j = arith.select %own, %i, %c1 : index
//! scf.index_switch %j -> ... case 0 { ... }
//! ```
//!
//! On the way to `cf.switch` upstream cuts the number and the cases to 32 bits. Cases that i32 has not are counted instead.
use super::{Cmp, Emit, V};
use girih_ir::{
    kind::{I64s, Kind},
    mlir_sys::mlirOperationSetOperand,
    prelude::*,
    rewrite::Before,
};

/// Lets every `scf.index_switch` in `root` be cut to 32 bits.
pub fn narrow(root: OperationRef<'_, '_>) {
    let ops = root.nested_ops().into_iter();
    for switch in ops.filter(|op| op.full_name() == "scf.index_switch") {
        let Some(number) = switch.operand_values().first().copied() else {
            continue;
        };
        let cases = switch.attr("cases").and_then(I64s::from_attribute).unwrap_or_default();
        let are_narrow = cases.iter().all(|case| i32::try_from(*case).is_ok());
        if are_narrow && is_narrow(number) {
            continue;
        }
        let place = Before(switch);
        let e = Emit::new(&place, switch.location());
        let index = number.r#type();
        let constant = |n: i64| e.constant(n, index);
        let select = |condition, a, b| e.value("arith.select", &[condition, a, b], index, &[]);
        let narrowed = if are_narrow {
            let none = (0..).find(|n| !cases.contains(n)).unwrap_or(-1);
            // Not by index_cast alone, of which upstream takes two for none.
            let long = e.value("arith.index_cast", &[number], e.int(64), &[]);
            let word = e.value("arith.trunci", &[long], e.int(32), &[]);
            let same = e.cmp(Cmp::Eq, e.value("arith.extsi", &[word], e.int(64), &[]), long);
            select(same, number, constant(none))
        } else {
            let counted = cases.iter().zip(0..).fold(constant(-1), |n, (case, place)| {
                select(e.cmp(Cmp::Eq, number, constant(*case)), constant(place), n)
            });
            let counts = (0..cases.len() as i64).collect();
            switch.set_attr("cases", I64s::to_attribute(&counts, switch.ctx()));
            counted
        };
        // SAFETY: the op has that operand, of that type.
        unsafe { mlirOperationSetOperand(switch.to_raw(), 0, narrowed.to_raw()) };
    }
}

/// Whether a number is one of i32.
fn is_narrow(number: V<'_>) -> bool {
    if let Some(n) = number.constant_int() {
        return i32::try_from(n).is_ok();
    }
    let Some(by) = number.defining_op() else { return false };
    let bits = || by.operand_values().first().and_then(|v| v.r#type().bit_width());
    match by.full_name() {
        "arith.index_cast" => bits().is_some_and(|bits| bits <= 32),
        "arith.index_castui" => bits().is_some_and(|bits| bits < 32),
        _ => false,
    }
}
