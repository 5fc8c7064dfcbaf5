//! Warpgroup matrix products (PTX ISA, wgmma). They are asynchronous: what they write is `!tile.in_flight` until
//! `tile.wgmma.wait` hands the tensor out, so that nothing can touch an accumulator too early.
use super::super::{
    layouts::{Fragment, layout_of},
    marks::ASYNC,
    spaces::{SHARED_MEMREF, shared_of, swizzle_of_rows},
    types::{ACCUMULATOR, IN_FLIGHT, InFlightType, accumulator_tensor},
    verify::{MAX_SHARED_BYTES, is_contiguous, memref_bytes, on_device, whole_warpgroups},
};
use super::mma::BitOp;
use girih_core::wgmma::{Accumulator, Instruction, Major as CoreMajor, Operand, OperandTile, Placement, Source};
use girih_ir::{
    attr_enum,
    constraint::Constraint,
    ext::DYNAMIC,
    kind::I64,
    op,
    op::{EffectKind, EffectSink, OpView},
    prelude::*,
};

attr_enum! {
    /// Which dimension of an operand is contiguous in shared memory.
    pub enum Major("a major") {
        /// The dimension that the product sums over.
        K = "k",
        /// The other: M or N.
        Mn = "mn",
    }
}
impl Major {
    /// As the core crate has it.
    pub fn core(self) -> CoreMajor {
        match self {
            Major::K => CoreMajor::K,
            Major::Mn => CoreMajor::Mn,
        }
    }
}

/// The first operand: shared memory or registers.
pub const A_OPERAND: Constraint =
    Constraint::new("a memref in #tile.shared or a tensor with #tile.layout<wgmma_a>", |t| {
        shared_of(t).is_some() || layout_of(t).is_some_and(|l| l.fragment() == Fragment::WgmmaA)
    });

op! {
    /// `acc + a b` on 64 rows, by one warpgroup: `wgmma.mma_async`, one instruction for each K step. `a` is 64 x K, `b` is K x
    /// N, `acc` is 64 x N. All four warps run it together, after a `tile.wgmma.fence`.
    ///
    /// | operand | in shared memory | type |
    /// |---|---|---|
    /// | K-major | rows are M or N, `memref<(panels x) rows x span>` | any |
    /// | MN-major | rows are K, panels go along M or N | f16, bf16 |
    ///
    /// f32 operands are tf32, i8 operands are signed unless `unsigned_a`, `unsigned_b`. With `popc and` each i8 is eight single
    /// bits along K, and the ones of their conjunction are counted.
    ///
    /// ```mlir
    /// %a = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
    /// %b = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = 128>>
    /// %zero = arith.constant dense<0.0> : tensor<64x128xf32, #tile.layout<wgmma_d>>
    /// tile.wgmma.fence
    /// %f = tile.wgmma %a, %b, %zero : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<128x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x128xf32, #tile.layout<wgmma_d>>
    /// tile.wgmma.commit
    /// %acc = tile.wgmma.wait 0 %f : !tile.in_flight<tensor<64x128xf32, #tile.layout<wgmma_d>>> -> tensor<64x128xf32, #tile.layout<wgmma_d>>
    /// ```
    pub struct Wgmma = "tile.wgmma" {
        operands { a: one(A_OPERAND), b: one(SHARED_MEMREF), acc: one(ACCUMULATOR) }
        results { result: one(IN_FLIGHT) }
        attributes {
            a_major: default(Major, Major::K),
            b_major: default(Major, Major::K),
            unsigned_a: unit,
            unsigned_b: unit,
            /// Of products of single bits.
            popc: optional(BitOp),
        }
        effects custom
        marks [ASYNC: a, ASYNC: b]
        format "$a `,` $b `,` $acc (`popc` $popc^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)"
        hooks {
            fn effects(self, sink: &EffectSink) {
                for (i, v) in self.op().operand_values().iter().enumerate().take(2) {
                    if v.r#type().is_memref_type() {
                        sink.operand(EffectKind::Read, i);
                    }
                }
                sink.anywhere(EffectKind::Read);
                sink.anywhere(EffectKind::Write);
            }
            fn verify(self) -> Res { verify_wgmma(self) }
            fn infer_results(p: &OpParser<'c>) -> Res<Vec<Type<'c>>> {
                let operands = p.operands();
                let t = operands[2].r#type();
                if InFlightType::of(t).is_some() {
                    return Ok(vec![t]);
                }
                if layout_of(t).is_none() {
                    return p.error(p.name_loc(), format!("expected an accumulator with a #tile.layout encoding, found {t}")).report();
                }
                Ok(vec![InFlightType::checked(p.op_location(), t)?.plain()])
            }
        }
    }
}

/// What a verified `tile.wgmma` is made of.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// The instruction.
    pub instruction: Instruction,
    /// How A is read from shared memory; `None` where it comes from registers.
    pub a: Option<Placement>,
    /// How B is read.
    pub b: Placement,
    /// Instructions along K.
    pub k_steps: u64,
}

/// The type of an operand whose elements are `t`; `None` where `tile.wgmma` has none.
pub fn operand_type(t: Type<'_>, unsigned: bool) -> Option<Operand> {
    Some(match t.to_string().as_str() {
        "f16" => Operand::F16,
        "bf16" => Operand::Bf16,
        "f32" | "tf32" => Operand::Tf32,
        "f8E4M3FN" => Operand::E4m3,
        "f8E5M2" => Operand::E5m2,
        "i8" if unsigned => Operand::U8,
        "i8" => Operand::S8,
        _ => return None,
    })
}

/// A shared memref as an operand: `rows x span` or `panels x rows x span`.
fn operand_tile(t: Type<'_>, major: Major) -> Result<OperandTile, String> {
    let shape = t
        .shape()
        .filter(|s| !s.contains(&DYNAMIC))
        .ok_or(format!("{t} must have static sizes"))?;
    let bits = t
        .element_type()
        .and_then(|e| e.bit_width())
        .ok_or(format!("{t} must hold numbers"))?;
    let (panels, rows, columns) = match shape[..] {
        [rows, columns] => (1, rows as u64, columns as u64),
        [panels, rows, columns] => (panels as u64, rows as u64, columns as u64),
        _ => return Err(format!("{t} must be rows x span or panels x rows x span")),
    };
    if !is_contiguous(t) {
        return Err(format!(
            "wgmma reads contiguous shared memory, found {t}; take a part with tile.slab"
        ));
    }
    if memref_bytes(t).is_none_or(|b| b > MAX_SHARED_BYTES) {
        return Err(format!(
            "{t} is larger than the {MAX_SHARED_BYTES} bytes of shared memory that a block has at most"
        ));
    }
    let space = shared_of(t).ok_or(format!("{t} must be in #tile.shared"))?;
    let bytes = u64::from(bits) / 8;
    // Rows say which swizzle it must be.
    let swizzle = match space.is_open() {
        true => swizzle_of_rows(columns * bytes),
        false => space.mode(),
    };
    let row = swizzle.span_bytes().unwrap_or(16);
    if columns * bytes != row {
        return Err(format!(
            "rows of {t} are {} bytes, but wgmma reads rows of {row} with this swizzle; use panels x rows x span",
            columns * bytes
        ));
    }
    let wide = panels * columns;
    let (mn, k) = if major == Major::K { (rows, wide) } else { (wide, rows) };
    Ok(OperandTile {
        mn,
        k,
        element_bytes: bytes,
        major: major.core(),
        swizzle,
    })
}

impl Wgmma<'_, '_> {
    /// The instruction and its operands, or what is wrong with them.
    pub fn product(&self) -> Result<Product, Vec<String>> {
        let mut errors = vec![];
        let (ta, tb) = (self.a().r#type(), self.b().r#type());
        let tensor = accumulator_tensor(self.acc().r#type())
            .ok_or(vec!["the accumulator must be a laid-out tensor".to_owned()])?;
        let element = |t: Type<'_>| t.element_type().map(|e| e.to_string()).unwrap_or_default();
        let operand = |t, unsigned| match (self.popc(), operand_type_of(t, unsigned)) {
            (None, own) => own,
            (Some(_), Some(Operand::S8)) => Some(Operand::B1),
            (Some(_), _) => None,
        };
        if self.popc() == Some(BitOp::Xor) {
            errors.push("says popc xor, but wgmma has popc and alone; multiply tiles, by mma.sync".to_owned());
        }
        let (a, b) = (operand(ta, self.unsigned_a()), operand(tb, self.unsigned_b()));
        for (name, t, o) in [("a", ta, a), ("b", tb, b)] {
            if o.is_none() && self.popc().is_some() {
                errors.push(format!(
                    "operand '{name}' holds {}, but popc counts the bits of i8 without unsigned, eight in each",
                    element(t)
                ));
            } else if o.is_none() {
                errors.push(format!(
                    "operand '{name}' holds {}, but wgmma multiplies f16, bf16, f32 (as tf32), f8E4M3FN, f8E5M2 and i8",
                    element(t)
                ));
            }
        }
        let d = match element(tensor).as_str() {
            "f16" => Some(Accumulator::F16),
            "f32" => Some(Accumulator::F32),
            "i32" => Some(Accumulator::S32),
            other => {
                errors.push(format!(
                    "the accumulator holds {other}, but wgmma accumulates in f16, f32 or i32"
                ));
                None
            }
        };
        let shape = tensor.shape().unwrap_or_default();
        if layout_of(tensor).is_none_or(|l| l.fragment() != Fragment::WgmmaD) {
            errors.push(format!("the accumulator {tensor} must have #tile.layout<wgmma_d>"));
        }
        let n = shape.get(1).copied().unwrap_or(0) as u64;
        let place = |t, major: Major, errors: &mut Vec<String>| match operand_tile(t, major)
            .and_then(|tile| tile.placement().map_err(|e| e.to_string()))
        {
            Ok(p) => Some(p),
            Err(e) => {
                errors.push(e);
                None
            }
        };
        let from_registers = layout_of(ta).is_some();
        let pa = if from_registers {
            None
        } else {
            place(ta, self.a_major(), &mut errors)
        };
        let pb = place(tb, self.b_major(), &mut errors);
        let k = match (&pa, from_registers) {
            (Some(p), _) => Some(p.tile.k),
            (None, true) => ta.shape().and_then(|s| s.get(1).map(|k| *k as u64)),
            _ => None,
        };
        if let Some(p) = &pa
            && p.tile.mn != 64
        {
            errors.push(format!(
                "'a' has {} rows, but one warpgroup multiplies 64; take a slab of 64 rows",
                p.tile.mn
            ));
        }
        if let (Some(p), Some(k)) = (&pb, k) {
            if p.tile.k != k {
                errors.push(format!("'a' has K = {k}, but 'b' has K = {}", p.tile.k));
            }
            if p.tile.mn != n {
                errors.push(format!(
                    "'b' has N = {}, but the accumulator has {n} columns",
                    p.tile.mn
                ));
            }
        }
        let (Some(a), Some(b), Some(d), Some(pb), Some(k)) = (a, b, d, pb, k) else {
            return Err(errors);
        };
        let a_source = if from_registers {
            Source::Registers
        } else {
            Source::Shared(self.a_major().core())
        };
        let instruction = Instruction {
            a,
            b,
            d,
            n: n as u32,
            a_source,
            b_major: self.b_major().core(),
        };
        if let Err(e) = instruction.check() {
            errors.extend(e.iter().map(|e| e.to_string()));
        }
        // Of bits the memory has bytes.
        let per_step = match a {
            Operand::B1 => u64::from(a.k()) / 8,
            _ => u64::from(a.k()),
        };
        if !k.is_multiple_of(per_step) {
            errors.push(format!("K = {k}, but one instruction takes {per_step} of them"));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Product {
            instruction,
            a: pa,
            b: pb,
            k_steps: k / per_step,
        })
    }
}

fn operand_type_of(t: Type<'_>, unsigned: bool) -> Option<Operand> {
    operand_type(t.element_type()?, unsigned)
}

/// What is in flight is taken once: a second taker would read registers that are still being written.
fn taken_once<'c>(op: OperationRef<'c, 'c>, value: Value<'c, 'c>, errors: &mut Errors) {
    let others = value.users().into_iter().filter(|u| u.block() == op.block()).count();
    if InFlightType::of(value.r#type()).is_some() && others > 1 {
        errors.op(
            &op,
            format!(
                "takes an accumulator in flight that is taken {others} times here; pass on what the first taker gives"
            ),
        );
    }
}

fn verify_wgmma<'c>(w: Wgmma<'c, 'c>) -> Res {
    let (op, mut errors) = (w.op(), Errors::default());
    taken_once(op, w.acc(), &mut errors);
    errors.merge(on_device(op));
    errors.merge(whole_warpgroups(op));
    if let Err(messages) = w.product() {
        messages.iter().for_each(|m| errors.op(&op, m));
    }
    let acc = accumulator_tensor(w.acc().r#type());
    let result = InFlightType::of(w.result().r#type()).map(|f| f.tensor());
    if acc != result {
        errors.op(
            &op,
            format!(
                "the result {} must be the accumulator {} in flight",
                w.result().r#type(),
                w.acc().r#type()
            ),
        );
    }
    errors.result()
}

op! {
    /// Orders register and shared accesses of the warpgroup before the products after it: `wgmma.fence.sync.aligned`. Needed
    /// before the first product, and again whenever registers of an accumulator have been written.
    ///
    /// ```mlir
    /// tile.wgmma.fence
    /// ```
    pub struct Fence = "tile.wgmma.fence" {
        effects [read, write]
        format "attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()).and_then(|()| whole_warpgroups(self.op())) } }
    }
}
op! {
    /// Closes the current group of products: `wgmma.commit_group.sync.aligned`.
    ///
    /// ```mlir
    /// tile.wgmma.commit
    /// ```
    pub struct Commit = "tile.wgmma.commit" {
        effects [read, write]
        format "attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()).and_then(|()| whole_warpgroups(self.op())) } }
    }
}
op! {
    /// Waits until at most `pending` groups of products are unfinished: `wgmma.wait_group.sync.aligned`. With 0 pending,
    /// what goes in as `!tile.in_flight` comes out as the tensor; with more, it may stay in flight.
    ///
    /// ```mlir
    /// %a = tile.alloc : memref<64x64xbf16, #tile.shared<swizzle = 128>>
    /// %b = tile.alloc : memref<128x64xbf16, #tile.shared<swizzle = 128>>
    /// %zero = arith.constant dense<0.0> : tensor<64x128xf32, #tile.layout<wgmma_d>>
    /// tile.wgmma.fence
    /// %f = tile.wgmma %a, %b, %zero : memref<64x64xbf16, #tile.shared<swizzle = 128>>, memref<128x64xbf16, #tile.shared<swizzle = 128>>, tensor<64x128xf32, #tile.layout<wgmma_d>>
    /// tile.wgmma.commit
    /// %acc = tile.wgmma.wait 0 %f : !tile.in_flight<tensor<64x128xf32, #tile.layout<wgmma_d>>> -> tensor<64x128xf32, #tile.layout<wgmma_d>>
    /// ```
    pub struct Wait = "tile.wgmma.wait" {
        operands { inputs: variadic(IN_FLIGHT) }
        results { results: variadic(ACCUMULATOR) }
        attributes { pending: required(I64) }
        effects [read, write]
        format "$pending $inputs attr-dict (`:` type($inputs)^ `->` type($results))?"
        hooks {
            fn infer_results(_: &OpParser<'c>) -> Res<Vec<Type<'c>>> {
                // Types are left out where nothing is waited for by name.
                Ok(vec![])
            }
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                errors.merge(whole_warpgroups(op));
                if !(0..=7).contains(&self.pending()) {
                    errors.op(&op, format!("pending = {}, but wgmma.wait_group takes 0 to 7", self.pending()));
                }
                if self.inputs().len() != self.results().len() {
                    errors.op(&op, format!("takes {} accumulators, but gives {}", self.inputs().len(), self.results().len()));
                }
                for v in self.inputs() {
                    taken_once(op, v, &mut errors);
                }
                for (i, (a, r)) in self.inputs().iter().zip(self.results()).enumerate() {
                    let (a, r) = (a.r#type(), r.r#type());
                    if accumulator_tensor(a) != accumulator_tensor(r) {
                        errors.op(&op, format!("result #{i} is {r}, but must be {a} or its tensor"));
                    } else if self.pending() > 0 && InFlightType::of(r).is_none() {
                        errors.op(&op, format!("result #{i} is {r}, but {} groups may still write it; wait for 0 or keep it !tile.in_flight", self.pending()));
                    }
                }
                errors.result()
            }
        }
    }
}
