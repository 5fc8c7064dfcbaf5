//! Tiles of narrower or wider numbers with the same bits: shifts in a thread's registers.
use super::{lower, refuse};
use girih_dialects::{
    nvvm::{Emit, V},
    tile::{distribution::Distribution, ops::shape::Bitcast, verify::packed_bits},
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Bitcast, |op, operands, rewriter| {
        let (from, to) = (op.source().r#type(), op.result().r#type());
        let (Some(source), Some(result)) = (Distribution::of(from), Distribution::of(to)) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let (Some(a), Some(b), Some(element)) = (packed_bits(from), packed_bits(to), to.element_type()) else {
            return Err(rewriter.no_match(op.op(), "no numbers"));
        };
        // Numbers of which each is the part of one stay where they are along any axis.
        let axis = (0..from.shape().unwrap_or_default().len())
            .find(|axis| source.shape[*axis] != result.shape[*axis])
            .unwrap_or(0);
        let (e, values) = (Emit::new(rewriter, op.op().location()), operands.get(0));
        let parts = (a.max(b) / a.min(b)) as u32;
        let (whole, divided) = if a > b { (&source, &result) } else { (&result, &source) };
        let place = |at: &[u32]| {
            let mut at = at.to_vec();
            if let Some(at) = at.get_mut(axis) {
                *at /= parts;
            }
            at
        };
        let find = |d: &Distribution, at: &[u32]| d.registers.iter().position(|f| f[..] == *at);
        let threads = divided.threads.iter().map(|t| place(t));
        let scaled = divided.threads.iter().all(|t| t[axis] % parts == 0);
        let moved = if !scaled || !threads.eq(whole.threads.iter().cloned()) {
            None
        } else if a > b {
            let part = |at: &Vec<u32>| {
                let number = values[find(&source, &place(at))?];
                Some(taken(&e, number, u64::from(at[axis] % parts) * b, element))
            };
            result.registers.iter().map(part).collect::<Option<Vec<_>>>()
        } else {
            let number = |at: &Vec<u32>| {
                let part = |i: u32| {
                    let mut at = at.clone();
                    at[axis] = at[axis] * parts + i;
                    find(&source, &at).map(|r| values[r])
                };
                let parts = (0..parts).map(part).collect::<Option<Vec<_>>>()?;
                Some(joined(&e, &parts, element))
            };
            result.registers.iter().map(number).collect()
        };
        match moved {
            Some(moved) => rewriter.replace_multiple(op.op(), &[moved]),
            None => return refuse(op.op(), "divides numbers among threads; run tile-assign-layouts"),
        }
        Ok(())
    });
}

/// Bits that a number takes among others: see `packed_bits`.
fn bits_of(t: Type<'_>) -> u32 {
    let bits = t.bit_width().unwrap_or(8);
    if t.is_float_type() && bits == 6 { 8 } else { bits }
}

/// Whether a type is a float of fewer bits than a byte.
fn is_below_a_byte(t: Type<'_>) -> bool {
    t.is_float_type() && t.bit_width().is_some_and(|bits| bits < 8)
}

/// A number's bits as an integer of as many as it takes.
fn as_integer<'c>(e: &Emit<'c, '_>, v: V<'c>) -> V<'c> {
    let t = v.r#type();
    if t.is_integer() {
        return v;
    }
    let v = e.to_storage(v);
    if is_below_a_byte(t) {
        return e.to_int(v, bits_of(t));
    }
    match v.r#type().bit_width() {
        Some(bits) if !v.r#type().is_integer() => e.bitcast(v, e.int(bits)),
        _ => v,
    }
}

/// An integer as a number that takes as many bits.
fn as_number<'c>(e: &Emit<'c, '_>, v: V<'c>, element: Type<'c>) -> V<'c> {
    if element.is_integer() {
        return v;
    }
    let stored = e.storage_type(element);
    if is_below_a_byte(element) {
        let byte = if v.r#type() == stored { v } else { e.zext(v, 8) };
        return e.from_storage(byte, element);
    }
    e.from_storage(if v.r#type() == stored { v } else { e.bitcast(v, stored) }, element)
}

/// The number that lies in another from a bit on.
fn taken<'c>(e: &Emit<'c, '_>, whole: V<'c>, bit: u64, element: Type<'c>) -> V<'c> {
    let whole = as_integer(e, whole);
    let t = whole.r#type();
    let moved = match bit {
        0 => whole,
        _ => e.value("arith.shrui", &[whole, e.constant(bit as i64, t)], t, &[]),
    };
    as_number(
        e,
        e.value("arith.trunci", &[moved], e.int(bits_of(element)), &[]),
        element,
    )
}

/// The number that others are the parts of, the first in its lowest bits.
pub(super) fn joined<'c>(e: &Emit<'c, '_>, parts: &[V<'c>], element: Type<'c>) -> V<'c> {
    if let [same] = parts {
        return as_number(e, as_integer(e, *same), element);
    }
    let word = e.int(bits_of(element));
    let mut whole = None;
    for (i, part) in parts.iter().enumerate() {
        let part = as_integer(e, *part);
        let bits = i64::from(part.r#type().bit_width().unwrap_or(8));
        let wide = e.value("arith.extui", &[part], word, &[]);
        let term = match i {
            0 => wide,
            _ => e.value("arith.shli", &[wide, e.constant(i as i64 * bits, word)], word, &[]),
        };
        whole = Some(whole.map_or(term, |w| e.or(w, term)));
    }
    as_number(e, whole.unwrap_or_else(|| e.constant(0, word)), element)
}
