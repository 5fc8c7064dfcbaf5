//! `tile.atomic_rmw`: one instruction for each element, or a loop around `atom.cas` where PTX has none.
//!
//! | | |
//! |---|---|
//! | nobody wants the old value | `red`, where it has the operation and the ordering; else `atom` into `_` |
//! | nobody wants it, and 16 bits are swapped in | `st.relaxed`, `st.release` |
//! | 16-bit integers, `mul`, smaller and larger floats | `ld`, combine, `atom.cas` until nobody came in between |
//!
//! Of threads that hold copies of an element one does the operation. What it got goes to the others by a shuffle, or through
//! shared memory where they are in other warps.
use super::{
    access::Words,
    distributed::shuffle,
    fragment::zero_of,
    global_place::{Accessed, Rows, both},
    global_tile::{ROWS_ELSEWHERE, writes},
    group, lower, refuse,
    slices::{Memory, Order, bytes_of, memory_size},
    sync::meet,
};
use girih_core::layout::Dim;
use girih_core::target::{Feature, Op as Instruction};
use girih_dialects::{
    nvvm::{AsmOperand, Cmp, Emit, V},
    tile::{
        distribution::Distribution,
        ops::atomic::{AtomicKind, AtomicRmw, Semantics},
        spaces::shared_of,
        target_of,
    },
};
use girih_ir::{conversion::Conversion, op::OpView, prelude::*};

/// Bits of a thread's number that are its lane's.
const LANES: u64 = 31;

/// Bytes of scratch that an atomic operation needs: to tell the old values to other warps.
pub fn atomic_bytes(op: OperationRef<'_, '_>) -> u64 {
    let result = op.cast::<AtomicRmw>().and_then(|a| a.result()).map(|r| r.r#type());
    let Some((t, d)) = result.and_then(|t| Some((t, Distribution::of(t)?))) else {
        return 0;
    };
    match goes_between_warps(&d) {
        true => memory_size(&d.shape) * bytes_of(t),
        false => 0,
    }
}

/// Whether what one holder of an element got reaches the others by way of shared memory: where not all copies are those of
/// lanes that change nothing at all, another lane has the same register for another element.
fn goes_between_warps(d: &Distribution) -> bool {
    d.copy_bits() & !(d.linear.broadcast_bits(Dim::Lane) & LANES) != 0
}

/// Lowers the op.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, AtomicRmw, |op, operands, rewriter| {
        let t = op.value().r#type();
        let (Some(d), Some(element)) = (Distribution::of(t), t.element_type()) else {
            return Err(rewriter.no_match(op.op(), "no layout"));
        };
        let named = |name| group(op.op(), AtomicRmw::DEF, operands, name);
        let numbers = named("rows");
        let rows = match op.rows() {
            None => None,
            Some(rows) => match Distribution::of(rows.r#type()) {
                None => return Err(rewriter.no_match(op.op(), "no layout")),
                Some(distribution) => Some(Rows {
                    distribution,
                    values: &numbers,
                }),
            },
        };
        let e = Emit::new(rewriter, op.op().location());
        let memory = op.destination().r#type();
        let accessed = Accessed {
            memref: memory,
            memory: operands.get(1),
            indices: &named("indices"),
            rows,
        };
        let Some(place) = accessed.place(&e, d.clone()) else {
            return refuse(op.op(), ROWS_ELSEWHERE);
        };
        let place = place.masked(named("mask"));
        if op.sem().releases() {
            meet(&e, op.op());
        }
        let atomic = Atomic::new(&e, op, element);
        let (values, compare, writes) = (operands.get(0), named("compare"), writes(&e, &d));
        let mut old: Vec<V> = vec![];
        for (r, value) in values.iter().enumerate() {
            let predicate = both(&e, place.predicate(&e, r), writes);
            let other = compare.get(r).copied();
            let (pointer, offset) = place.address(&e, r);
            old.extend(atomic.element(e.byte_offset_by(pointer, offset), *value, other, predicate));
        }
        if op.sem().acquires() {
            meet(&e, op.op());
        }
        let Some(result) = op.result() else {
            rewriter.erase(op.op());
            return Ok(());
        };
        let copies = d.copy_bits();
        if goes_between_warps(&d) {
            let (scratch, order) = (named("scratch"), Order::of(&d));
            let Some(scratch) = scratch.first() else {
                return refuse(
                    op.op(),
                    "gives what one thread got to others, which needs scratch; run tile-allocate-scratch first",
                );
            };
            let memory = Memory {
                e: &e,
                base: *scratch,
                element,
                bytes: bytes_of(result.r#type()),
            };
            memory.write(&order, &d, &old, &vec![0; d.shape.len()]);
            meet(&e, op.op());
            old = memory.read_all(&order, &d);
        } else if copies != 0 {
            let speaker = e.mask(e.sreg("tid.x"), (LANES & !copies) as i64);
            old = old.into_iter().map(|v| shuffle(&e, v, speaker, "idx")).collect();
        }
        rewriter.replace_multiple(op.op(), &[old]);
        Ok(())
    });
}

/// How the elements of a tile are combined with memory.
struct Atomic<'c, 'e, 'b> {
    e: &'e Emit<'c, 'b>,
    kind: AtomicKind,
    /// `relaxed.gpu`.
    order: String,
    scope: String,
    /// `global` or `shared`.
    space: &'static str,
    /// LLVM's constraint of an address there.
    address: &'static str,
    /// Whether an operation that would change nothing may be left out.
    is_relaxed: bool,
    /// `atom`, `red` or `st`.
    name: &'static str,
    /// The instruction's operation and type, if there is one.
    native: Option<String>,
    element: Type<'c>,
    words: Words<'c>,
    bits: u32,
    returns: bool,
    /// Whether what was there is not even read to acquire what others did: `_` takes it.
    sinks: bool,
}

impl<'c, 'e, 'b> Atomic<'c, 'e, 'b> {
    fn new(e: &'e Emit<'c, 'b>, op: AtomicRmw<'c, 'c>, element: Type<'c>) -> Self {
        let (kind, sem) = (op.kind(), op.sem());
        let bits = element.bit_width().unwrap_or(32);
        let adds_bf16 = target_of(op.op()).is_none_or(|t| Feature::Op(Instruction::AddBf16).legal(t).is_ok());
        let returns = op.result().is_some();
        let sinks = !returns && !sem.acquires();
        let reduces = sinks && kind.commutes();
        let stores = sinks && kind == AtomicKind::Exch && bits == 16;
        let (space, address) = match shared_of(op.destination().r#type()) {
            Some(_) => ("shared", "r"),
            None => ("global", "l"),
        };
        let scope = op.participants().to_string();
        Atomic {
            e,
            kind,
            order: format!("{sem}.{scope}"),
            scope,
            space,
            address,
            is_relaxed: sem == Semantics::Relaxed,
            name: match (stores, reduces) {
                (true, _) => "st",
                (_, true) => "red",
                _ => "atom",
            },
            native: match stores {
                true => Some(format!("b{bits}")),
                false => native(kind, element, bits, adds_bf16),
            },
            element,
            words: Words::new(element, u64::from(bits) / 8, 1),
            bits,
            returns,
            sinks,
        }
    }

    /// Combines one element; what was there, if somebody wants to know, and zero where the predicate is false.
    fn element(&self, pointer: V<'c>, value: V<'c>, compare: Option<V<'c>>, predicate: Option<V<'c>>) -> Option<V<'c>> {
        let e = self.e;
        let Some(native) = &self.native else {
            let word = e.int(self.bits);
            let old = match predicate {
                None => self.swapped(e, pointer, value),
                Some(p) => {
                    let (some, none) = (
                        |e: Emit<'c, '_>| vec![self.swapped(&e, pointer, value)],
                        |e: Emit<'c, '_>| vec![e.constant(0, word)],
                    );
                    e.if_else(p, &[word], some, none)[0]
                }
            };
            return self.returns.then(|| self.words.unpack(e, &[old])[0]);
        };
        // Registers of the type that the instruction wants.
        let (constraint, as_float) = match (self.element.is_float_type() && self.kind == AtomicKind::Add, self.bits) {
            (true, 32) => ("f", true),
            (true, 64) => ("d", true),
            _ => (self.words.constraint, false),
        };
        let register = |v: V<'c>| if as_float { v } else { self.words.pack(e, &[v])[0] };
        let outputs = match (self.name, self.sinks) {
            ("atom", false) => vec![(constraint, register(value).r#type())],
            _ => vec![],
        };
        let tied: Vec<V> = match outputs.is_empty() {
            true => vec![],
            false => vec![register(zero_of(e, self.element))],
        };
        let first = 2 * outputs.len();
        let mut inputs = vec![AsmOperand {
            constraint: self.address,
            value: pointer,
        }];
        inputs.extend(compare.into_iter().chain([value]).map(|v| AsmOperand {
            constraint,
            value: register(v),
        }));
        let listed: Vec<String> = (first + 1..first + inputs.len()).map(|i| format!("${i}")).collect();
        let guard = predicate.map_or(String::new(), |value| {
            inputs.push(AsmOperand { constraint: "b", value });
            format!("@${} ", first + inputs.len() - 1)
        });
        let into = match (self.name, self.sinks) {
            ("atom", true) => "_, ",
            ("atom", false) => "$0, ",
            _ => "",
        };
        let text = format!(
            "{guard}{}.{}.{}.{native} {into}[${first}], {};",
            self.name,
            self.order,
            self.space,
            listed.join(", ")
        );
        let old = e.inline_ptx(&text, &outputs, &tied, &inputs, true);
        let old = old.first().filter(|_| self.returns)?;
        Some(if as_float {
            *old
        } else {
            self.words.unpack(e, &[*old])[0]
        })
    }

    /// Swaps in what `value` makes of what is there, until nobody came in between; what was there, as a word.
    fn swapped(&self, e: &Emit<'c, '_>, pointer: V<'c>, value: V<'c>) -> V<'c> {
        let (bits, constraint, space) = (self.bits, self.words.constraint, self.space);
        let output = [(constraint, e.int(bits))];
        let address = || AsmOperand {
            constraint: self.address,
            value: pointer,
        };
        let load = format!("ld.relaxed.{}.{space}.b{bits} $0, [$1];", self.scope);
        let first = e.inline_ptx(&load, &output, &[], &[address()], true)[0];
        e.repeat(first, |e, expected| {
            let new = self.combined(e, self.words.unpack(e, &[expected])[0], value);
            let new = self.words.pack(e, &[new])[0];
            let mut inputs = vec![address()];
            inputs.extend([expected, new].map(|value| AsmOperand { constraint, value }));
            let guard = match self.is_relaxed {
                true => {
                    let value = e.cmp(Cmp::Ne, new, expected);
                    inputs.push(AsmOperand { constraint: "b", value });
                    "@$5 "
                }
                false => "",
            };
            let text = format!("{guard}atom.{}.{space}.cas.b{bits} $0, [$2], $3, $4;", self.order);
            let met = e.inline_ptx(&text, &output, &[expected], &inputs, true)[0];
            (e.cmp(Cmp::Ne, met, expected), met)
        })
    }

    /// What an operation without an instruction makes of two numbers.
    fn combined(&self, e: &Emit<'c, '_>, old: V<'c>, value: V<'c>) -> V<'c> {
        let float = self.element.is_float_type();
        let name = match self.kind {
            AtomicKind::Add if float => "arith.addf",
            AtomicKind::Add => "arith.addi",
            AtomicKind::Mul if float => "arith.mulf",
            AtomicKind::Mul => "arith.muli",
            AtomicKind::MinS => "arith.minsi",
            AtomicKind::MaxS => "arith.maxsi",
            AtomicKind::MinU => "arith.minui",
            AtomicKind::MaxU => "arith.maxui",
            AtomicKind::MinimumF => "arith.minimumf",
            AtomicKind::MaximumF => "arith.maximumf",
            AtomicKind::MinNumF => "arith.minnumf",
            AtomicKind::MaxNumF => "arith.maxnumf",
            AtomicKind::And => "arith.andi",
            AtomicKind::Or => "arith.ori",
            AtomicKind::Xor => "arith.xori",
            AtomicKind::Exch | AtomicKind::Cas => return value,
        };
        e.value(name, &[old, value], self.element, &[])
    }
}

/// The operation and type of an instruction; `None` where PTX has none.
fn native(kind: AtomicKind, element: Type<'_>, bits: u32, adds_bf16: bool) -> Option<String> {
    let is_bf16 = element.float_name() == Some("bf16");
    match (kind, element.is_float_type(), bits) {
        (AtomicKind::Cas, ..) => Some(format!("cas.b{bits}")),
        (AtomicKind::Add, true, 16) => (!is_bf16 || adds_bf16).then(|| format!("add.noftz.{element}")),
        (AtomicKind::Add, true, _) => Some(format!("add.f{bits}")),
        (_, _, 16) | (AtomicKind::Mul, ..) => None,
        (AtomicKind::Exch, ..) => Some(format!("exch.b{bits}")),
        (AtomicKind::Add, ..) => Some(format!("add.u{bits}")),
        (AtomicKind::MinS, ..) => Some(format!("min.s{bits}")),
        (AtomicKind::MaxS, ..) => Some(format!("max.s{bits}")),
        (AtomicKind::MinU, ..) => Some(format!("min.u{bits}")),
        (AtomicKind::MaxU, ..) => Some(format!("max.u{bits}")),
        (AtomicKind::And, ..) => Some(format!("and.b{bits}")),
        (AtomicKind::Or, ..) => Some(format!("or.b{bits}")),
        (AtomicKind::Xor, ..) => Some(format!("xor.b{bits}")),
        _ => None,
    }
}
