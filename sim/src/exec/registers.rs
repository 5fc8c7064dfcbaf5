//! Access to registers and constants by slot, and the instructions that touch nothing else.
use crate::isa::{LANES, Mixed, Op, Outcome, Predicate, Slot, Value, W32, W64};

const HALF: usize = LANES / 2;

/// The words that a slot names.
#[inline(always)]
fn words<'a>(regs: &'a [u64], pool: &'a [u64], slot: Slot) -> &'a [u64] {
    let from = if slot.is_pool() { pool } else { regs };
    &from[slot.word()..]
}

/// A 32-bit register in all lanes.
#[inline(always)]
pub fn get32<'a>(regs: &'a [u64], pool: &'a [u64], slot: Slot) -> &'a W32 {
    let words: &[u64; HALF] = words(regs, pool, slot).first_chunk().unwrap_or(&[0; HALF]);
    bytemuck::cast_ref(words)
}

/// A 64-bit register in all lanes.
#[inline(always)]
pub fn get64<'a>(regs: &'a [u64], pool: &'a [u64], slot: Slot) -> &'a W64 {
    words(regs, pool, slot).first_chunk().unwrap_or(&[0; LANES])
}

/// A register of any width in all lanes, zero-extended; the low 64 bits of wider ones.
#[inline(always)]
pub fn widen(regs: &[u64], pool: &[u64], value: Value) -> W64 {
    match value.bits {
        1 => {
            let mask = words(regs, pool, value.slot)[0];
            std::array::from_fn(|l| mask >> l & 1)
        }
        0..=32 => get32(regs, pool, value.slot).map(u64::from),
        _ => *get64(regs, pool, value.slot),
    }
}

/// Lanes where a predicate holds.
#[inline(always)]
pub fn holds(regs: &[u64], pool: &[u64], p: Predicate) -> u32 {
    let mask = words(regs, pool, p.slot)[0] as u32;
    if p.negated { !mask } else { mask }
}

/// Writes a predicate in the active lanes.
#[inline(always)]
pub fn put_mask(regs: &mut [u64], slot: Slot, mask: u32, active: u32) {
    let word = &mut regs[slot.word()];
    *word = u64::from(*word as u32 & !active | mask & active);
}

/// Writes a 32-bit register in the active lanes.
#[inline(always)]
pub fn put32(regs: &mut [u64], slot: Slot, value: &W32, active: u32) {
    let at = slot.word();
    let target: &mut [u32] = bytemuck::cast_slice_mut(&mut regs[at..at + HALF]);
    if active == u32::MAX {
        target.copy_from_slice(value);
    } else {
        for (lane, target) in target.iter_mut().enumerate() {
            if active >> lane & 1 != 0 {
                *target = value[lane];
            }
        }
    }
}

/// Writes a 64-bit register in the active lanes.
#[inline(always)]
pub fn put64(regs: &mut [u64], slot: Slot, value: &W64, active: u32) {
    let at = slot.word();
    let target = &mut regs[at..at + LANES];
    if active == u32::MAX {
        target.copy_from_slice(value);
    } else {
        for (lane, target) in target.iter_mut().enumerate() {
            if active >> lane & 1 != 0 {
                *target = value[lane];
            }
        }
    }
}

/// Writes a register of any width, cut to it, in the active lanes.
#[inline(always)]
pub fn put(regs: &mut [u64], d: Value, value: &W64, active: u32) {
    match d.bits {
        1 => {
            let mask = (0..LANES).fold(0, |m, l| m | u32::from(value[l] != 0) << l);
            put_mask(regs, d.slot, mask, active);
        }
        8 => put32(regs, d.slot, &value.map(|v| v as u32 & 0xff), active),
        16 => put32(regs, d.slot, &value.map(|v| v as u32 & 0xffff), active),
        32 => put32(regs, d.slot, &value.map(|v| v as u32), active),
        _ => put64(regs, d.slot, value, active),
    }
}

/// One lane of a register, zero-extended; the low 64 bits of wider ones.
#[inline(always)]
pub fn lane(regs: &[u64], pool: &[u64], value: Value, lane: usize) -> u64 {
    let words = words(regs, pool, value.slot);
    match value.bits {
        1 => words[0] >> lane & 1,
        0..=32 => words[lane / 2] >> (lane % 2 * 32) & 0xffff_ffff,
        _ => words[lane],
    }
}

/// The upper 64 bits of one lane of a 128-bit register.
#[inline(always)]
pub fn lane_high(regs: &[u64], pool: &[u64], value: Value, lane: usize) -> u64 {
    words(regs, pool, value.slot)[LANES + lane]
}

/// Writes one lane of a register, cut to its width.
#[inline(always)]
pub fn set_lane(regs: &mut [u64], value: Value, lane: usize, x: u64) {
    let at = value.slot.word();
    match value.bits {
        1 => {
            let word = &mut regs[at];
            *word = *word & !(1 << lane) | u64::from(x != 0) << lane;
        }
        64..=128 => regs[at + lane] = x,
        bits => {
            let x = x & (u64::MAX >> (64 - bits));
            let word = &mut regs[at + lane / 2];
            let shift = lane % 2 * 32;
            *word = *word & !(0xffff_ffff << shift) | x << shift;
        }
    }
}

/// Writes the upper 64 bits of one lane of a 128-bit register.
#[inline(always)]
pub fn set_lane_high(regs: &mut [u64], value: Value, lane: usize, x: u64) {
    regs[value.slot.word() + LANES + lane] = x;
}

fn finish(regs: &mut [u64], pool: &[u64], outcome: &Outcome, mask: u32, active: u32) {
    let (mut p, mut q) = (mask, !mask);
    if let Some((logic, c)) = outcome.combine {
        let c = holds(regs, pool, c);
        (p, q) = (logic.apply(p, c), logic.apply(q, c));
    }
    put_mask(regs, outcome.p, p, active);
    if let Some(slot) = outcome.q {
        put_mask(regs, slot, q, active);
    }
}

fn mixed(regs: &[u64], pool: &[u64], f: Mixed, sources: &[Value; 4]) -> W64 {
    f(&sources.map(|s| widen(regs, pool, s)))
}

/// Executes an instruction of registers alone; false when it is none.
#[inline(always)]
pub fn execute(op: &Op, regs: &mut [u64], pool: &[u64], active: u32) -> bool {
    match op {
        Op::Unary32(f, d, a) => {
            let result = f(get32(regs, pool, *a));
            put32(regs, *d, &result, active);
        }
        Op::Binary32(f, d, [a, b]) => {
            let result = f(get32(regs, pool, *a), get32(regs, pool, *b));
            put32(regs, *d, &result, active);
        }
        Op::Ternary32(f, d, [a, b, c]) => {
            let result = f(get32(regs, pool, *a), get32(regs, pool, *b), get32(regs, pool, *c));
            put32(regs, *d, &result, active);
        }
        Op::Unary64(f, d, a) => {
            let result = f(get64(regs, pool, *a));
            put64(regs, *d, &result, active);
        }
        Op::Binary64(f, d, [a, b]) => {
            let result = f(get64(regs, pool, *a), get64(regs, pool, *b));
            put64(regs, *d, &result, active);
        }
        Op::Ternary64(f, d, [a, b, c]) => {
            let result = f(get64(regs, pool, *a), get64(regs, pool, *b), get64(regs, pool, *c));
            put64(regs, *d, &result, active);
        }
        Op::Mixed(boxed) => {
            let (f, d, sources) = &**boxed;
            let result = mixed(regs, pool, *f, sources);
            put(regs, *d, &result, active);
        }
        Op::Copy32(d, a) => {
            let value = *get32(regs, pool, *a);
            put32(regs, *d, &value, active);
        }
        Op::Copy64(d, a) => {
            let value = *get64(regs, pool, *a);
            put64(regs, *d, &value, active);
        }
        Op::Copy128(d, a) => {
            let (d, a) = (Value { slot: *d, bits: 128 }, Value { slot: *a, bits: 128 });
            for l in (0..LANES).filter(|l| active >> l & 1 != 0) {
                let (low, high) = (lane(regs, pool, a, l), lane_high(regs, pool, a, l));
                set_lane(regs, d, l, low);
                set_lane_high(regs, d, l, high);
            }
        }
        Op::Compare32(f, [a, b], outcome) => {
            let mask = f(get32(regs, pool, *a), get32(regs, pool, *b));
            finish(regs, pool, outcome, mask, active);
        }
        Op::Compare64(f, [a, b], outcome) => {
            let mask = f(get64(regs, pool, *a), get64(regs, pool, *b));
            finish(regs, pool, outcome, mask, active);
        }
        Op::CompareMixed(boxed) => {
            let (f, sources, outcome) = &**boxed;
            let result = mixed(regs, pool, *f, sources);
            let mask = (0..LANES).fold(0, |m, l| m | u32::from(result[l] != 0) << l);
            finish(regs, pool, outcome, mask, active);
        }
        Op::Select32(d, [a, b], p) => {
            let p = holds(regs, pool, *p);
            let (a, b) = (get32(regs, pool, *a), get32(regs, pool, *b));
            let result: W32 = std::array::from_fn(|l| if p >> l & 1 != 0 { a[l] } else { b[l] });
            put32(regs, *d, &result, active);
        }
        Op::Select64(d, [a, b], p) => {
            let p = holds(regs, pool, *p);
            let (a, b) = (get64(regs, pool, *a), get64(regs, pool, *b));
            let result: W64 = std::array::from_fn(|l| if p >> l & 1 != 0 { a[l] } else { b[l] });
            put64(regs, *d, &result, active);
        }
        Op::Logic(logic, d, a, b) => {
            let mask = logic.apply(holds(regs, pool, *a), holds(regs, pool, *b));
            put_mask(regs, *d, mask, active);
        }
        Op::Predicate(d, a) => {
            let mask = holds(regs, pool, *a);
            put_mask(regs, *d, mask, active);
        }
        Op::FromPredicate(d, a) => {
            let mask = holds(regs, pool, *a);
            put32(regs, *d, &std::array::from_fn(|l| mask >> l & 1), active);
        }
        Op::Join(d, parts) => join(regs, pool, *d, parts, active),
        Op::Split(parts, a) => split(regs, pool, parts, *a, active),
        Op::Carry(carry) => {
            for l in (0..LANES).filter(|l| active >> l & 1 != 0) {
                let a = u128::from(lane(regs, pool, carry.a, l));
                let b = lane(regs, pool, carry.b, l);
                let bits = u32::from(carry.d.bits);
                let b = if carry.subtract {
                    !b & (u64::MAX >> (64 - bits))
                } else {
                    b
                };
                let flag = regs[carry.carry.word()] >> l & 1;
                // A subtraction adds the complement: without a borrow the carry in is 1.
                let carry_in = match (carry.takes, carry.subtract) {
                    (true, false) => flag,
                    (true, true) => 1 - flag,
                    (false, subtract) => u64::from(subtract),
                };
                let sum = a + u128::from(b) + u128::from(carry_in);
                set_lane(regs, carry.d, l, sum as u64);
                if carry.gives {
                    let out = (sum >> bits) as u64 & 1;
                    let flag = if carry.subtract { 1 - out } else { out };
                    let word = &mut regs[carry.carry.word()];
                    *word = *word & !(1 << l) | flag << l;
                }
            }
        }
        _ => return false,
    }
    true
}

fn join(regs: &mut [u64], pool: &[u64], d: Value, parts: &[Value], active: u32) {
    let bits = usize::from(d.bits) / parts.len();
    for l in (0..LANES).filter(|l| active >> l & 1 != 0) {
        let value = parts.iter().enumerate().fold(0u128, |v, (i, part)| {
            v | u128::from(lane(regs, pool, *part, l)) << (i * bits)
        });
        set_lane(regs, d, l, value as u64);
        if d.bits == 128 {
            set_lane_high(regs, d, l, (value >> 64) as u64);
        }
    }
}

fn split(regs: &mut [u64], pool: &[u64], parts: &[Option<Value>], a: Value, active: u32) {
    let bits = usize::from(a.bits) / parts.len();
    for l in (0..LANES).filter(|l| active >> l & 1 != 0) {
        let mut value = u128::from(lane(regs, pool, a, l));
        if a.bits == 128 {
            value |= u128::from(lane_high(regs, pool, a, l)) << 64;
        }
        for (i, part) in parts.iter().enumerate() {
            if let Some(part) = part {
                set_lane(regs, *part, l, (value >> (i * bits)) as u64 & (u64::MAX >> (64 - bits)));
            }
        }
    }
}
