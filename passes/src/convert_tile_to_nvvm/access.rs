//! One access of a thread to global memory: several numbers that lie next to each other, under a predicate or with a cache
//! policy, for which LLVM has no load or store. `ld.global` and `st.global` are written as PTX.
use super::tma::{hint, policy};
use girih_dialects::{
    nvvm::{AsmOperand, Emit, V},
    tile::ops::tma::CachePolicy,
};
use girih_ir::prelude::*;

/// Registers of PTX that one access moves.
pub(super) struct Words<'c> {
    pub(super) count: usize,
    pub(super) bits: u32,
    /// LLVM's constraint.
    pub(super) constraint: &'static str,
    element: Type<'c>,
    elements: usize,
}

impl<'c> Words<'c> {
    pub(super) fn new(element: Type<'c>, element_bytes: u64, elements: usize) -> Self {
        let bytes = element_bytes * elements as u64;
        let (bits, constraint) = match (element_bytes, bytes) {
            (8, _) => (64, "l"),
            (_, 4..) => (32, "r"),
            _ => (16, "h"),
        };
        let count = (bytes * 8).div_ceil(u64::from(bits)) as usize;
        Words {
            count,
            bits,
            constraint,
            element,
            elements,
        }
    }
    /// Whether a register holds several elements.
    pub(super) fn are_packed(&self) -> bool {
        self.elements > self.count
    }
    /// Elements that they hold.
    pub(super) fn elements(&self) -> usize {
        self.elements
    }
    /// `.v4.b32`.
    fn suffix(&self, bytes: u64) -> String {
        let vector = if self.count > 1 {
            format!(".v{}", self.count)
        } else {
            String::new()
        };
        format!("{vector}.b{}", if bytes == 1 { 8 } else { self.bits })
    }
    /// Elements as words.
    pub(super) fn pack(&self, e: &Emit<'c, '_>, elements: &[V<'c>]) -> Vec<V<'c>> {
        let stored: Vec<V> = elements.iter().map(|v| e.to_storage(*v)).collect();
        let word = e.int(self.bits);
        stored
            .chunks(self.elements / self.count)
            .map(|part| match part {
                [one] => {
                    let bits = one.r#type().bit_width().unwrap_or(64);
                    let raw = if one.r#type().is_float_type() {
                        e.bitcast(*one, e.int(bits))
                    } else {
                        *one
                    };
                    if bits < self.bits { e.zext(raw, self.bits) } else { raw }
                }
                many => e.bitcast(e.pack(many), word),
            })
            .collect()
    }
    /// The elements of several accesses as words.
    pub(super) fn pack_all(&self, e: &Emit<'c, '_>, elements: &[V<'c>]) -> Vec<V<'c>> {
        elements
            .chunks(self.elements)
            .flat_map(|part| self.pack(e, part))
            .collect()
    }
    /// Words as elements.
    pub(super) fn unpack(&self, e: &Emit<'c, '_>, words: &[V<'c>]) -> Vec<V<'c>> {
        let stored = e.storage_type(self.element);
        let each = self.elements / self.count;
        words
            .iter()
            .flat_map(|w| {
                if each > 1 {
                    return e.unpack(e.bitcast(*w, e.vector(each as i64, stored)), each, stored);
                }
                let bits = stored.bit_width().unwrap_or(64);
                let raw = if bits < self.bits { e.to_int(*w, bits) } else { *w };
                vec![if stored.is_float_type() {
                    e.bitcast(raw, stored)
                } else {
                    raw
                }]
            })
            .map(|v| e.from_storage(v, self.element))
            .collect()
    }
}

fn register_list(count: usize, from: usize) -> String {
    let names: Vec<_> = (from..from + count).map(|i| format!("${i}")).collect();
    if count == 1 {
        names.concat()
    } else {
        format!("{{{}}}", names.join(", "))
    }
}

/// How one access goes: under a predicate, with a cache policy.
#[derive(Clone, Copy, Default)]
pub(super) struct How<'c> {
    pub predicate: Option<V<'c>>,
    /// 64-bit cache policy.
    pub policy: Option<V<'c>>,
}

impl<'c> How<'c> {
    /// Whether an ordinary load or store says as much.
    pub(super) fn is_plain(&self) -> bool {
        self.predicate.is_none() && self.policy.is_none()
    }
    /// `@$p name.global.L2::cache_hint`, ` , $policy`, and the operands after `before` others: pointer, policy, predicate.
    fn spell(&self, name: &str, pointer: V<'c>, before: usize) -> (String, String, Vec<AsmOperand<'c>>) {
        let mut inputs = vec![AsmOperand {
            constraint: "l",
            value: pointer,
        }];
        let mut add = |constraint, value: Option<V<'c>>| {
            let value = value?;
            inputs.push(AsmOperand { constraint, value });
            Some(before + inputs.len() - 1)
        };
        let policy = add("l", self.policy).map_or(String::new(), |i| format!(", ${i}"));
        let guard = add("b", self.predicate).map_or(String::new(), |i| format!("@${i} "));
        (format!("{guard}{name}.global{}", hint(self.policy)), policy, inputs)
    }
}

/// A place in memory: a pointer, and bytes behind it, which an instruction has room for.
pub(super) type At<'c> = (V<'c>, i64);

/// `[$n+offset]`.
pub(super) fn place_of(operand: usize, offset: i64) -> String {
    match offset {
        0 => format!("[${operand}]"),
        // PTX writes a negative offset after a plus.
        _ => format!("[${operand}+{offset}]"),
    }
}

/// `ld.global`, with what the registers hold where the predicate is false.
pub(super) fn load<'c>(
    e: &Emit<'c, '_>,
    w: &Words<'c>,
    bytes: u64,
    (pointer, offset): At<'c>,
    how: How<'c>,
    otherwise: &[V<'c>],
) -> Vec<V<'c>> {
    let n = w.count;
    // Outputs are numbered first, then the inputs that start in them.
    let at = n + otherwise.len();
    let (name, policy, inputs) = how.spell("ld", pointer, at);
    let place = place_of(at, offset);
    let text = format!("{name}{} {}, {place}{policy};", w.suffix(bytes), register_list(n, 0));
    let outputs = vec![(w.constraint, e.int(w.bits)); n];
    e.inline_ptx(&text, &outputs, otherwise, &inputs, false)
}

/// Where the second of two numbers lies.
pub(super) enum Second<'c> {
    /// Behind the first.
    Next,
    At(At<'c>),
}

/// Two numbers of 16 bits, each under a predicate, into the halves of one register, as a vector of two would be: so many
/// registers fewer are held. `otherwise` is what stands there where a predicate is false.
pub(super) fn load_pair<'c>(
    e: &Emit<'c, '_>,
    (first, second): (At<'c>, Second<'c>),
    predicates: [V<'c>; 2],
    policy: Option<V<'c>>,
    otherwise: V<'c>,
) -> V<'c> {
    let mut inputs: Vec<AsmOperand> = vec![];
    // Register 0 is the result, 1 what it starts as.
    let mut add = |constraint, value| {
        inputs.push(AsmOperand { constraint, value });
        inputs.len() + 1
    };
    let pointer = add("l", first.0);
    let at = place_of(pointer, first.1);
    let next = match second {
        Second::Next => place_of(pointer, first.1 + 2),
        Second::At((other, offset)) => place_of(add("l", other), offset),
    };
    let [p, q] = predicates.map(|predicate| add("b", predicate));
    let cache = policy.map_or(String::new(), |policy| format!(", ${}", add("l", policy)));
    let name = format!("ld.global{}.b16", hint(policy));
    let text = format!(
        "{{ .reg .b16 low, high; mov.b32 {{low, high}}, $0; @${p} {name} low, {at}{cache}; @${q} {name} high, {next}{cache}; \
         mov.b32 $0, {{low, high}}; }}"
    );
    e.inline_ptx(&text, &[("r", e.int(32))], &[otherwise], &inputs, false)[0]
}

/// `st.global`.
pub(super) fn store<'c>(
    e: &Emit<'c, '_>,
    w: &Words<'c>,
    bytes: u64,
    (pointer, offset): At<'c>,
    how: How<'c>,
    words: &[V<'c>],
) {
    let n = w.count;
    let (name, policy, address) = how.spell("st", pointer, n);
    let place = place_of(n, offset);
    let text = format!("{name}{} {place}, {}{policy};", w.suffix(bytes), register_list(n, 0));
    let mut inputs: Vec<_> = words
        .iter()
        .map(|value| AsmOperand {
            constraint: w.constraint,
            value: *value,
        })
        .collect();
    inputs.extend(address);
    e.inline_ptx(&text, &[], &[], &inputs, true);
}

/// Loads numbers that lie next to each other, all inside, with a cache policy.
pub(super) fn load_many<'c>(
    e: &Emit<'c, '_>,
    pointer: V<'c>,
    n: usize,
    element: Type<'c>,
    bytes: u64,
    cache: Option<CachePolicy>,
) -> Vec<V<'c>> {
    let policy = policy(e, cache, &[]);
    if policy.is_none() {
        return e.load_many(pointer, n, element, bytes);
    }
    let words = Words::new(element, bytes / n as u64, n);
    let how = How {
        policy,
        ..How::default()
    };
    words.unpack(e, &load(e, &words, bytes, (pointer, 0), how, &[]))
}

/// Stores numbers next to each other, all inside, with a cache policy.
pub(super) fn store_many<'c>(
    e: &Emit<'c, '_>,
    values: &[V<'c>],
    pointer: V<'c>,
    element: Type<'c>,
    bytes: u64,
    cache: Option<CachePolicy>,
) {
    let policy = policy(e, cache, &[]);
    if policy.is_none() {
        return e.store(values, pointer, bytes);
    }
    let words = Words::new(element, bytes / values.len() as u64, values.len());
    let how = How {
        policy,
        ..How::default()
    };
    store(e, &words, bytes, (pointer, 0), how, &words.pack(e, values));
}
