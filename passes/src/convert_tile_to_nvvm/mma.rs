//! Products of tiles: `mma.sync`, one instruction for each 16 x 8 part of a warp's accumulator and each step along K.
//!
//! The instructions are inline PTX with side effects. LLVM's intrinsics for them are neither convergent nor have effects, so
//! that it moves them under branches that not all lanes of a warp take, such as the one around a store at an edge.
//!
//! Numbers below a byte are packed into bytes by shifts, which LLVM folds away where they were taken out of bytes.
//!
//! Floats of 4 and 6 bits have a byte each in registers: those of 6 its low bits, those of 4 the bits from the third on.
//!
//! Which element of K an instruction sees as its k-th does not matter as long as A and B agree: a thread's elements along K
//! are taken in their order, as many at a time as the instruction has in a thread (see `girih_core::layout::MmaTile`).
use super::{bits::joined, lower};
use crate::assign_layouts::factor;
use girih_core::{
    layout::{MMA_COLUMNS, MMA_ROWS, mma_neighbours, mma_operand},
    target::{Feature, Op},
};
use girih_dialects::{
    nvvm::{AsmOperand, Cmp, Emit, V},
    tile::{
        distribution::{Distribution, Linear},
        features::mma_sync_of,
        ops::mma::{BitOp, Mma, Side},
        target_of,
        verify::number_bits,
    },
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};
use std::rc::Rc;

/// An instruction, but for its K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Family {
    /// PTX's names of the types of D, A and B.
    names: [&'static str; 3],
    /// What stands before them in its name.
    kind: &'static str,
    /// Bits of an element of A or B in registers.
    bits: u64,
    /// Elements along K that a thread has of one row, for each instruction of the family, the longest first.
    lengths: &'static [u64],
    /// Rows of an instruction.
    rows: u64,
    /// What comes last in its name.
    suffix: &'static str,
}

impl Family {
    fn of(mma: Mma<'_, '_>) -> Option<Family> {
        let element = |v: Value<'_, '_>| v.r#type().element_type().map(|e| e.to_string());
        let name = |side| -> Option<&'static str> {
            Some(match element(mma.operand(side))?.as_str() {
                "f16" => "f16",
                "bf16" => "bf16",
                "f32" => "tf32",
                "f64" => "f64",
                "f8E4M3FN" => "e4m3",
                "f8E5M2" => "e5m2",
                "f6E2M3FN" => "e2m3",
                "f6E3M2FN" => "e3m2",
                "f4E2M1FN" => "e2m1",
                "i8" if mma.is_unsigned(side) => "u8",
                "i8" => "s8",
                "i4" if mma.is_unsigned(side) => "u4",
                "i4" => "s4",
                "i1" => "b1",
                _ => return None,
            })
        };
        let sum = match element(mma.acc())?.as_str() {
            "f16" => "f16",
            "f32" => "f32",
            "f64" => "f64",
            "i32" => "s32",
            _ => return None,
        };
        let names = [sum, name(Side::A)?, name(Side::B)?];
        let (bits, lengths): (u64, &[u64]) = match names[1] {
            "f16" | "bf16" => (16, &[4, 2]),
            "tf32" => (32, &[2, 1]),
            "s8" | "u8" => (8, &[8, 4]),
            "s4" | "u4" => (4, &[16, 8]),
            "b1" => (1, &[64, 32]),
            // Shorter ones need a later PTX.
            "e4m3" | "e5m2" | "e2m3" | "e3m2" | "e2m1" => (8, &[8]),
            _ if mma_sync_of(mma) == Op::MmaF64 => (64, &[1]),
            _ => (64, &[4, 2, 1]),
        };
        Some(Family {
            names,
            kind: match mma_sync_of(mma) {
                Op::MmaF8F6F4 => ".kind::f8f6f4",
                _ => "",
            },
            bits,
            lengths,
            rows: if mma_sync_of(mma) == Op::MmaF64 { 8 } else { MMA_ROWS },
            suffix: match mma.popc() {
                Some(BitOp::Xor) => ".xor.popc",
                Some(BitOp::And) => ".and.popc",
                None => "",
            },
        })
    }

    /// Numbers of A or B in a register.
    fn packed(&self) -> usize {
        (32 / self.bits).max(1) as usize
    }

    /// `mma.sync` on `length` elements along K of each thread, with operands from `$0` on: D, C in D's registers, A, B.
    fn text(&self, length: u64, sums: usize, a: usize, b: usize) -> String {
        let list = |first: usize, n: usize| {
            let names: Vec<_> = (first..first + n).map(|i| format!("${i}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let [d, first, second] = self.names;
        format!(
            "mma.sync.aligned.m{}n{MMA_COLUMNS}k{}.row.col{}.{d}.{first}.{second}.{d}{} {}, {}, {}, {};",
            self.rows,
            4 * length,
            self.kind,
            self.suffix,
            list(0, sums),
            list(2 * sums, a),
            list(2 * sums + a, b),
            list(0, sums),
        )
    }
}

/// What a thread has of an operand, by the coordinates that its registers contribute.
struct Held<'c> {
    distribution: Rc<Distribution>,
    values: Vec<V<'c>>,
}

impl<'c> Held<'c> {
    /// The register with an element; what lies past the tile's edge is a copy of what is inside.
    fn register(&self, row: u64, column: u64) -> Option<usize> {
        let folded = |axis: usize, at: u64| (at & (self.distribution.shape[axis] as u64 - 1)) as u32;
        let at = [folded(0, row), folded(1, column)];
        self.distribution.registers.iter().position(|r| r[..] == at)
    }
    fn at(&self, row: u64, column: u64) -> Option<V<'c>> {
        self.values.get(self.register(row, column)?).copied()
    }
}

/// Starts of the parts that a thread has along an axis.
fn parts(d: &Distribution, axis: usize, size: u64) -> Vec<u64> {
    let mut starts: Vec<u64> = d.registers.iter().map(|r| u64::from(r[axis]) & !(size - 1)).collect();
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Elements along K of a thread in lane 0.
fn along_k(k: u64, neighbours: u64) -> Vec<u64> {
    (0..k).filter(|at| at % (4 * neighbours) < neighbours).collect()
}

/// The numbers of one row or column of an operand, for one instruction.
type Numbers<'c> = Vec<V<'c>>;

/// The layouts of A, B and the accumulator, and the neighbours along K that a thread has; or why they are none of a product.
fn distributions(op: Mma<'_, '_>) -> Result<([Rc<Distribution>; 3], u64), String> {
    let acc_type = op.acc().r#type();
    let unknown = |t: Type<'_>| format!("works on {t}, whose layout is not known; run tile-assign-layouts first");
    let acc = Distribution::of(acc_type).ok_or_else(|| unknown(acc_type))?;
    let k = op.a().r#type().shape().unwrap_or_default()[1].unsigned_abs();
    let operand = |side, neighbours| {
        let t = op.operand(side).r#type();
        let linear = mma_operand(&acc.linear, factor(side), k, neighbours)
            .map_err(|error| format!("{error}; found {acc_type}"))?;
        let found = Distribution::of(t).ok_or_else(|| unknown(t))?;
        let expected = Distribution::of_linear(&linear, &found.shape).ok_or_else(|| unknown(t))?;
        if found.linear.same_map(&expected.linear) {
            return Ok(found);
        }
        Err(format!(
            "operand {side} is {t}, but with {acc_type} it must lie as {}; convert it with tile.convert_layout",
            Attribute::from(Linear::of_core(op.op().ctx(), &expected.linear, 2))
        ))
    };
    let both = |neighbours| Ok((operand(Side::A, neighbours)?, operand(Side::B, neighbours)?));
    let bits = |side| number_bits(op.operand(side).r#type()).unwrap_or(0);
    let bits = bits(Side::A).min(bits(Side::B));
    let usual = mma_neighbours(bits);
    let (neighbours, (a, b)) = match both(usual) {
        Ok(found) => (usual, found),
        // As ldmatrix gives numbers of 32 bits.
        Err(why) => match both(1) {
            Ok(found) if bits == 32 => (1, found),
            _ => return Err(why),
        },
    };
    Ok(([a, b, acc], neighbours))
}

/// Why a product of tiles cannot be lowered; `None` where it can.
pub(super) fn why_not(op: Mma<'_, '_>) -> Option<String> {
    let target = target_of(op.op());
    if let Some(Err(illegal)) = target.map(|t| Feature::Op(mma_sync_of(op)).legal(t)) {
        return Some(illegal.to_string());
    }
    distributions(op).err()
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Mma, |op, operands, rewriter| {
        let (Some(family), Ok(([a, b, acc], neighbours))) = (Family::of(op), distributions(op)) else {
            return Err(rewriter.no_match(op.op(), "no product of tiles that are laid out"));
        };
        let k = a.shape[1].unsigned_abs();
        let held = |distribution, operand| Held {
            distribution,
            values: operands.get(operand).to_vec(),
        };
        let (a, b, mut sums) = (held(a, 0), held(b, 1), held(acc, 2));
        let e = Emit::new(rewriter, op.op().location());
        let Some(()) = multiply(&e, family, [k, neighbours], &a, &b, &mut sums) else {
            return Err(rewriter.no_match(op.op(), "no register holds an element"));
        };
        rewriter.replace_multiple(op.op(), &[sums.values]);
        Ok(())
    });
}

/// All instructions of one product; `None` if a register is missing, which no verified layout has.
fn multiply<'c>(
    e: &Emit<'c, '_>,
    family: Family,
    [k, neighbours]: [u64; 2],
    a: &Held<'c>,
    b: &Held<'c>,
    sums: &mut Held<'c>,
) -> Option<()> {
    let mut places: Vec<Option<u64>> = along_k(k, neighbours).into_iter().map(Some).collect();
    let fits = |length: &&u64| **length <= places.len() as u64;
    let length = *family.lengths.iter().find(fits).or(family.lengths.last())?;
    places.resize(places.len().next_multiple_of(length as usize), None);
    // Lanes past the end of K have copies, which must not count.
    let exists = (k < 4 * neighbours).then(|| {
        let first = e.mul(e.mask(e.sreg("tid.x"), 3), e.c32(neighbours as i64));
        e.cmp(Cmp::Ult, first, e.c32(k as i64))
    });
    let element = a.values.first()?.r#type();
    let number = |v: Option<V<'c>>, element: Type<'c>| match (v, exists) {
        (Some(v), None) => v,
        (Some(v), Some(exists)) => e.value(
            "arith.select",
            &[exists, v, super::fragment::zero_of(e, element)],
            element,
            &[],
        ),
        (None, _) => super::fragment::zero_of(e, element),
    };
    let of_b = b.values.first()?.r#type();
    let (rows, columns) = (
        parts(&sums.distribution, 0, MMA_ROWS),
        parts(&sums.distribution, 1, MMA_COLUMNS),
    );
    for step in places.chunks(length as usize) {
        let take = |get: &dyn Fn(u64) -> Option<V<'c>>, element| -> Option<Numbers<'c>> {
            step.iter()
                .map(|place| match place {
                    Some(place) => Some(number(Some(get(*place)?), element)),
                    None => Some(number(None, element)),
                })
                .collect()
        };
        // Registers of the rows of each part, and of the columns of each.
        let mut left = vec![];
        for row in &rows {
            let of_row = |row: u64| Some(registers(e, family, Side::A, &take(&|k| a.at(row, k), element)?));
            left.push([of_row(*row)?, of_row(*row + 8)?]);
        }
        let mut right = vec![];
        for column in &columns {
            right.push(registers(e, family, Side::B, &take(&|k| b.at(k, *column), of_b)?));
        }
        for (row, [upper, lower]) in rows.iter().zip(&left) {
            for (column, right) in columns.iter().zip(&right) {
                if family.rows == MMA_ROWS {
                    // Rows take turns.
                    let both: Vec<V> = upper.iter().zip(lower).flat_map(|(u, l)| [*u, *l]).collect();
                    instruction(e, family, length, &both, right, sums, &[*row, *row + 8], *column)?;
                } else {
                    instruction(e, family, length, upper, right, sums, &[*row], *column)?;
                    // Of fewer rows there are no others, and sums would count twice.
                    if sums.distribution.shape[0] > 8 {
                        instruction(e, family, length, lower, right, sums, &[*row + 8], *column)?;
                    }
                }
            }
        }
    }
    Some(())
}

/// Bits of a byte in which a float of 4 bits lies, of each byte of a register.
const FOUR_BITS: i64 = 0x3c3c3c3c;
/// The first of them.
const FOUR_BITS_FROM: i64 = 2;

/// Floats of 4 bits as the instruction takes them: eight are a word, of which every other one is a register. `in_order`, they
/// then go to where their numbers are; both operands may as well have the even ones first.
fn spread<'c>(e: &Emit<'c, '_>, numbers: &[V<'c>], in_order: bool) -> Vec<V<'c>> {
    let words = numbers.chunks(8).map(|eight| joined(e, eight, e.i32_type()));
    words
        .flat_map(|word| {
            let even = e.mask(e.shl(word, FOUR_BITS_FROM), FOUR_BITS);
            let odd = e.mask(e.shr(word, FOUR_BITS_FROM), FOUR_BITS);
            match in_order {
                true => [take_turns(e, even, odd, 0x5140), take_turns(e, even, odd, 0x7362)],
                false => [even, odd],
            }
        })
        .collect()
}

/// `prmt`: bytes of two registers.
fn take_turns<'c>(e: &Emit<'c, '_>, even: V<'c>, odd: V<'c>, selector: i64) -> V<'c> {
    e.intrinsic("llvm.nvvm.prmt", &[even, odd, e.c32(selector)], e.i32_type())
}

/// Numbers as the instruction takes them: several in 32 bits, or one in a register.
fn registers<'c>(e: &Emit<'c, '_>, family: Family, side: Side, numbers: &[V<'c>]) -> Vec<V<'c>> {
    let [_, a, b] = family.names;
    let name = if side == Side::A { a } else { b };
    if name == "e2m1" {
        return spread(e, numbers, a != b);
    }
    numbers
        .chunks(family.packed())
        .map(|group| match family.bits {
            64 => group[0],
            32 => e.bitcast(group[0], e.i32_type()),
            1 | 4 => {
                let bytes: Vec<V> = group
                    .chunks(8 / family.bits as usize)
                    .map(|parts| joined(e, parts, e.int(8)))
                    .collect();
                e.bitcast(e.pack(&bytes), e.i32_type())
            }
            _ => e.bitcast(e.pack(group), e.i32_type()),
        })
        .collect()
}

/// One instruction, whose sums are columns `column` and `column + 1` of `rows`.
#[allow(
    clippy::too_many_arguments,
    reason = "the operands of one instruction, and where its sums lie"
)]
fn instruction<'c>(
    e: &Emit<'c, '_>,
    family: Family,
    length: u64,
    a: &[V<'c>],
    b: &[V<'c>],
    sums: &mut Held<'c>,
    rows: &[u64],
    column: u64,
) -> Option<()> {
    let places: Vec<usize> = rows
        .iter()
        .flat_map(|row| [sums.register(*row, column), sums.register(*row, column + 1)])
        .collect::<Option<_>>()?;
    let old: Vec<V> = places.iter().map(|place| sums.values[*place]).collect();
    let element = old.first()?.r#type();
    // f16 sums travel two in a register.
    let pairs = family.names[0] == "f16";
    let tied: Vec<V> = match pairs {
        true => old
            .chunks(2)
            .map(|pair| e.bitcast(e.pack(pair), e.i32_type()))
            .collect(),
        false => old,
    };
    let constraint = |t: Type<'c>| match (t.is_float_type(), t.bit_width()) {
        (true, Some(64)) => "d",
        (true, _) => "f",
        _ => "r",
    };
    let outputs: Vec<_> = tied.iter().map(|v| (constraint(v.r#type()), v.r#type())).collect();
    let inputs: Vec<_> = a
        .iter()
        .chain(b)
        .map(|value| AsmOperand {
            constraint: constraint(value.r#type()),
            value: *value,
        })
        .collect();
    let text = family.text(length, tied.len(), a.len(), b.len());
    let new = e.inline_ptx(&text, &outputs, &tied, &inputs, false);
    let new: Vec<V> = match pairs {
        true => new
            .into_iter()
            .flat_map(|pair| e.unpack(e.bitcast(pair, e.vector(2, element)), 2, element))
            .collect(),
        false => new,
    };
    // A number that the tile has once is computed several times; all are the same.
    for (place, v) in places.into_iter().zip(new).rev() {
        sums.values[place] = v;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_their_neighbours_in_order() {
        assert_eq!(along_k(16, 2), [0, 1, 8, 9]);
        assert_eq!(along_k(32, 4), [0, 1, 2, 3, 16, 17, 18, 19]);
        assert_eq!(along_k(2, 4), [0, 1]);
    }
}
