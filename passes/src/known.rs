//! What is known of an index before the kernel runs.
use girih_ir::prelude::*;

/// The largest power of two that an index is known to be a multiple of.
pub fn known_multiple(v: Value<'_, '_>) -> i64 {
    /// As much as anyone asks for.
    const MOST: u32 = 30;
    fn bits(v: Value<'_, '_>) -> u32 {
        if let Some(c) = v.constant_int() {
            return c.trailing_zeros().min(MOST);
        }
        let Some(op) = v.defining_op() else {
            return match v.argument_of() {
                // A loop's counter is its start and a number of steps.
                Some((op, 0)) if op.full_name() == "scf.for" => {
                    let operands = op.operand_values();
                    bits(operands[0]).min(bits(operands[2]))
                }
                _ => 0,
            };
        };
        let operands = op.operand_values();
        let each = || operands.iter().map(|o| bits(*o));
        match op.full_name() {
            "arith.muli" | "index.mul" => each().sum::<u32>().min(MOST),
            "arith.addi" | "arith.subi" | "arith.minsi" | "arith.minui" | "arith.maxsi" | "arith.maxui"
            | "index.add" | "index.sub" => each().min().unwrap_or(0),
            "arith.select" => bits(operands[1]).min(bits(operands[2])),
            "arith.shli" => match operands[1].constant_int() {
                Some(n) if (0..i64::from(MOST)).contains(&n) => (bits(operands[0]) + n as u32).min(MOST),
                _ => bits(operands[0]),
            },
            "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" => bits(operands[0]),
            _ => 0,
        }
    }
    1 << bits(v)
}
