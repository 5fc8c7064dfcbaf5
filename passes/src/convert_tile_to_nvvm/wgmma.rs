//! Warpgroup matrix products.
//!
//! Products and waits are inline PTX whose accumulators are tied from input to output register, so that LLVM sees the data
//! dependence and moves nothing above a wait. What a product reads from registers is written before the fence in front of
//! it: packing and constants are pinned there, else ptxas adds a fence of its own (C7519) or serialises products (C7514).
use super::{lower, types::in_flight};
use girih_core::wgmma::{Major, Operand, Placement, Source, a_fragment_len};
use girih_dialects::{
    nvvm::{AsmOperand, Emit, V},
    tile::{
        layouts::layout_of,
        ops::wgmma::{Commit, Fence, Product, Wait, Wgmma},
        types::{InFlightType, accumulator_tensor},
    },
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter},
    ext::BlockExt,
    op::OpView,
    prelude::*,
};

/// The lowered fence in front of a product, if all of `values` are made before it.
fn fence_before<'c>(op: OperationRef<'c, 'c>, values: &[V<'c>]) -> Option<OperationRef<'c, 'c>> {
    let same = |a: OperationRef<'c, 'c>, b: OperationRef<'c, 'c>| a.to_raw().ptr == b.to_raw().ptr;
    let mut before = op.block()?.op_list();
    before.truncate(before.iter().position(|o| same(*o, op))?);
    let at = before
        .iter()
        .rposition(|o| o.full_name() == "nvvm.wgmma.fence.aligned")?;
    let late = |v: &V<'c>| {
        v.defining_op()
            .is_some_and(|d| before[at..].iter().any(|o| same(*o, d)))
    };
    (!values.iter().any(late)).then_some(before[at])
}

/// Whether values sit in registers already: a loop carries them, or an instruction wrote them.
fn are_in_registers(values: &[V<'_>]) -> bool {
    values
        .iter()
        .all(|v| v.defining_op().is_none_or(|d| d.full_name() == "llvm.extractvalue"))
}

/// What `make` gives for `values`, in registers before the fence in front of `op`.
fn in_registers<'c>(
    op: OperationRef<'c, 'c>,
    rewriter: &ConversionRewriter<'c>,
    values: &[V<'c>],
    make: impl FnOnce(&Emit<'c, '_>, &[V<'c>]) -> Vec<V<'c>>,
) -> Vec<V<'c>> {
    let fence = fence_before(op, values);
    if let Some(fence) = fence {
        rewriter.set_insertion_before(fence);
    }
    let e = Emit::new(rewriter, op.location());
    let mut made = make(&e, values);
    if fence.is_some() && !are_in_registers(&made) {
        made = e.inline_ptx("", &outputs(&made), &made, &[], false);
    }
    rewriter.set_insertion_before(op);
    made
}

/// Constraint and type of each of `values`, as outputs of inline PTX.
fn outputs<'c>(values: &[V<'c>]) -> Vec<(&'static str, Type<'c>)> {
    let constraint = |t: Type<'c>| if t.is_float_type() { "f" } else { "r" };
    values.iter().map(|v| (constraint(v.r#type()), v.r#type())).collect()
}

/// Registers from elements: f16 accumulators travel two in one.
fn to_registers<'c>(e: &Emit<'c, '_>, tensor: Type<'c>, values: &[V<'c>]) -> Vec<V<'c>> {
    let Some(f) = in_flight(tensor) else {
        return values.to_vec();
    };
    if f.packed == 1 {
        return values.to_vec();
    }
    values
        .chunks(f.packed)
        .map(|pair| e.bitcast(e.pack(pair), f.register))
        .collect()
}
/// Elements from registers.
fn from_registers<'c>(e: &Emit<'c, '_>, tensor: Type<'c>, values: &[V<'c>]) -> Vec<V<'c>> {
    let (Some(f), Some(element)) = (in_flight(tensor), tensor.element_type()) else {
        return values.to_vec();
    };
    if f.packed == 1 {
        return values.to_vec();
    }
    let pair = e.vector(f.packed as i64, element);
    values
        .iter()
        .flat_map(|v| e.unpack(e.bitcast(*v, pair), f.packed, element))
        .collect()
}

/// The 64-bit matrix descriptor of a tile at a shared address: `(address & 0x3ffff) >> 4` and constant fields.
fn descriptor<'c>(e: &Emit<'c, '_>, base: V<'c>, p: &Placement) -> V<'c> {
    // A placement's fields fit by construction; the address is filled in at run time.
    let fields = p.descriptor(0, 0, 0).encode().expect("a verified placement");
    let address = e.shr(e.mask(e.ptr_to_int(base, 32), 0x3ffff), 4);
    e.or(
        e.value("arith.extui", &[address], e.i64_type(), &[]),
        e.c64(fields as i64),
    )
}

/// `{$first, $first+1, ...}`.
fn registers(first: usize, n: usize) -> String {
    let names: Vec<_> = (first..first + n).map(|i| format!("${i}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// The instruction: outputs `$0..`, tied inputs, then A (registers or a descriptor) and B's descriptor.
fn text(p: &Product, d: usize, a_registers: usize) -> String {
    let i = &p.instruction;
    let a_at = 2 * d;
    let (a, b_at) = match a_registers {
        0 => (format!("${a_at}"), a_at + 1),
        n => (registers(a_at, n), a_at + n),
    };
    let trans = |m: Major| u8::from(m == Major::Mn);
    let tail = match i.a {
        Operand::F16 | Operand::Bf16 => match i.a_source {
            Source::Shared(m) => format!(", 1, 1, {}, {}", trans(m), trans(i.b_major)),
            Source::Registers => format!(", 1, 1, {}", trans(i.b_major)),
        },
        Operand::Tf32 | Operand::E4m3 | Operand::E5m2 => ", 1, 1".into(),
        Operand::S8 | Operand::U8 | Operand::B1 => String::new(),
    };
    let counted = if i.a == Operand::B1 { ".and.popc" } else { "" };
    format!(
        "{{\n\t.reg .pred accumulate;\n\tsetp.eq.b32 accumulate, 0, 0;\n\twgmma.mma_async.sync.aligned.{}.{}.{}.{}{counted} {}, {a}, ${b_at}, accumulate{tail};\n\t}}",
        i.shape(),
        i.d.name(),
        i.a.name(),
        i.b.name(),
        registers(0, d),
    )
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    lower!(c, Wgmma, |op, operands, rewriter| {
        let Ok(product) = op.product() else {
            return Err(rewriter.no_match(op.op(), "does not verify"));
        };
        let e = Emit::new(rewriter, op.op().location());
        let Some(tensor) = accumulator_tensor(op.acc().r#type()) else {
            return Err(rewriter.no_match(op.op(), "no accumulator"));
        };
        let mut acc = operands.get(2).to_vec();
        if InFlightType::of(op.acc().r#type()).is_none() {
            acc = in_registers(op.op(), rewriter, &acc, |e, v| to_registers(e, tensor, v));
        }
        let b = descriptor(&e, operands.one(1), &product.b);
        let a_shared = product.a.as_ref().map(|p| (p, descriptor(&e, operands.one(0), p)));
        let a_values = if a_shared.is_none() {
            let a_type = op.a().r#type();
            in_registers(op.op(), rewriter, operands.get(0), |e, v| pack_a(e, a_type, v))
        } else {
            vec![]
        };
        let outputs = outputs(&acc);
        let per_step = 4;
        for step in 0..product.k_steps {
            let mut inputs = vec![];
            match &a_shared {
                Some((p, base)) => {
                    let advance = (p.advance(0, step) >> 4) as i64;
                    inputs.push(AsmOperand {
                        constraint: "l",
                        value: e.offset(*base, advance),
                    });
                }
                None => {
                    let from = step as usize * per_step;
                    inputs.extend(a_values[from..from + per_step].iter().map(|v| AsmOperand {
                        constraint: "r",
                        value: *v,
                    }));
                }
            }
            let advance = (product.b.advance(0, step) >> 4) as i64;
            inputs.push(AsmOperand {
                constraint: "l",
                value: e.offset(b, advance),
            });
            let a_registers = if a_shared.is_some() { 0 } else { per_step };
            acc = e.inline_ptx(&text(&product, acc.len(), a_registers), &outputs, &acc, &inputs, false);
        }
        rewriter.replace_multiple(op.op(), &[acc]);
        Ok(())
    });
    lower!(c, Fence, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op("nvvm.wgmma.fence.aligned", &[], &[], &[]);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, Commit, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op("nvvm.wgmma.commit.group.sync.aligned", &[], &[], &[]);
        rewriter.erase(op.op());
        Ok(())
    });
    lower!(c, Wait, |op, operands, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        let all = operands.all();
        let text = format!("wgmma.wait_group.sync.aligned {};", op.pending());
        let mut done = e.inline_ptx(&text, &outputs(all), all, &[], true).into_iter();
        let mut results = vec![];
        for (i, r) in op.results().iter().enumerate() {
            let values: Vec<_> = done.by_ref().take(operands.get(i).len()).collect();
            let t = r.r#type();
            results.push(if layout_of(t).is_some() {
                from_registers(&e, t, &values)
            } else {
                values
            });
        }
        rewriter.replace_multiple(op.op(), &results);
        Ok(())
    });
}

/// A from registers: 32-bit registers of packed elements, four for each K step.
fn pack_a<'c>(e: &Emit<'c, '_>, t: Type<'c>, values: &[V<'c>]) -> Vec<V<'c>> {
    let bits = t.element_type().and_then(|x| x.bit_width()).unwrap_or(32);
    let per_register = (32 / bits) as usize;
    debug_assert_eq!(a_fragment_len(Operand::F16), 8);
    values
        .chunks(per_register)
        .map(|group| match per_register {
            1 => e.bitcast(group[0], e.i32_type()),
            _ => e.bitcast(e.pack(group), e.i32_type()),
        })
        .collect()
}
