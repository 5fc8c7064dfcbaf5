//! `nvvm` ops, and inline PTX where upstream has no op or loses a data dependence.
use super::{Emit, V};
use girih_ir::prelude::*;

/// Predicates of `arith.cmpi`, in MLIR's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Cmp {
    Eq = 0,
    Ne = 1,
    Slt = 2,
    Sle = 3,
    Sgt = 4,
    Sge = 5,
    Ult = 6,
    Ule = 7,
    Ugt = 8,
    Uge = 9,
}

/// An input of inline PTX.
#[derive(Clone, Copy)]
pub struct AsmOperand<'c> {
    /// LLVM's constraint: `h` for 16 bits, `r` for 32, `l` for 64, `f` for f32, `d` for f64, a number for "the same register as
    /// that output".
    pub constraint: &'static str,
    /// The value.
    pub value: V<'c>,
}

/// Operands of a tensor load.
pub struct TmaLoad<'c, 'x> {
    /// Shared address.
    pub destination: V<'c>,
    /// Generic address of the map.
    pub map: V<'c>,
    /// `i32` coordinates, innermost first.
    pub coords: &'x [V<'c>],
    /// Shared address of the mbarrier.
    pub barrier: V<'c>,
    /// 64-bit cache policy.
    pub policy: Option<V<'c>>,
}

impl<'c> Emit<'c, '_> {
    /// `llvm.inline_asm` with side effects. Outputs come first in the numbering; `tied` gives for each output the input
    /// that starts in its register.
    pub fn inline_ptx(
        &self,
        text: &str,
        outputs: &[(&'static str, Type<'c>)],
        tied: &[V<'c>],
        inputs: &[AsmOperand<'c>],
        clobbers_memory: bool,
    ) -> Vec<V<'c>> {
        let mut constraints: Vec<String> = outputs.iter().map(|(c, _)| format!("={c}")).collect();
        constraints.extend((0..tied.len()).map(|i| i.to_string()));
        constraints.extend(inputs.iter().map(|i| i.constraint.to_owned()));
        if clobbers_memory {
            constraints.push("~{memory}".into());
        }
        let operands: Vec<_> = tied.iter().copied().chain(inputs.iter().map(|i| i.value)).collect();
        let types: Vec<_> = outputs.iter().map(|(_, t)| *t).collect();
        let results = match types.len() {
            0 => vec![],
            1 => types.clone(),
            _ => vec![self.struct_type(&types)],
        };
        let op = self.op(
            "llvm.inline_asm",
            &operands,
            &results,
            &[
                ("asm_string", self.str_attr(text)),
                ("constraints", self.str_attr(&constraints.join(","))),
                ("has_side_effects", self.unit_attr()),
            ],
        );
        match types.len() {
            0 => vec![],
            1 => vec![op.result0()],
            _ => types
                .iter()
                .enumerate()
                .map(|(i, t)| self.extract(op.result0(), i, *t))
                .collect(),
        }
    }
    /// `llvm.inline_asm` with one result, which is made of the inputs alone: it may be left out, moved and merged.
    pub fn pure_ptx(&self, text: &str, output: (&'static str, Type<'c>), inputs: &[AsmOperand<'c>]) -> V<'c> {
        let constraints: Vec<String> = std::iter::once(format!("={}", output.0))
            .chain(inputs.iter().map(|i| i.constraint.to_owned()))
            .collect();
        let operands: Vec<_> = inputs.iter().map(|i| i.value).collect();
        let attributes = [
            ("asm_string", self.str_attr(text)),
            ("constraints", self.str_attr(&constraints.join(","))),
        ];
        self.value("llvm.inline_asm", &operands, output.1, &attributes)
    }
    /// A 32-bit special register, such as `tid.x`.
    pub fn sreg(&self, name: &str) -> V<'c> {
        self.value(&format!("nvvm.read.ptx.sreg.{name}"), &[], self.i32_type(), &[])
    }
    /// Number of the warp, in a register that ptxas knows to be the same in all lanes.
    pub fn uniform_warp(&self) -> V<'c> {
        let warp = self.shr(self.sreg("tid.x"), 5);
        let operands = [self.c32(-1), warp, self.c32(0), self.c32(31)];
        self.value(
            "nvvm.shfl.sync",
            &operands,
            self.i32_type(),
            &[("kind", self.attr("#nvvm<shfl_kind idx>"))],
        )
    }
    /// One lane of the warp.
    pub fn elect(&self) -> V<'c> {
        self.value("nvvm.elect.sync", &[], self.int(1), &[])
    }
    /// Waits until the phase of `parity` (`i1`) has completed, and acquires in the block or the cluster: try_wait in a loop.
    pub fn mbarrier_wait(&self, barrier: V<'c>, parity: V<'c>, cluster: bool) {
        let scope = if cluster { ".acquire.cluster" } else { "" };
        let text = format!(
            "{{\n\t.reg .pred done;\n\tagain:\n\tmbarrier.try_wait.parity{scope}.shared::cta.b64 done, [$0], $1;\n\t@!done bra again;\n\t}}"
        );
        let inputs = [
            AsmOperand {
                constraint: "r",
                value: self.ptr_to_int(barrier, 32),
            },
            AsmOperand {
                constraint: "r",
                value: self.zext(parity, 32),
            },
        ];
        self.inline_ptx(&text, &[], &[], &inputs, true);
    }
    /// Whether the phase of `parity` (`i1`) has completed; acquires in the block or the cluster.
    pub fn mbarrier_test_wait(&self, barrier: V<'c>, parity: V<'c>, cluster: bool) -> V<'c> {
        // The short spelling is that of targets before sm_90, which have no cluster.
        let place = if cluster {
            ".acquire.cluster.shared::cta"
        } else {
            ".shared"
        };
        let text = format!(
            "{{\n\t.reg .pred done;\n\tmbarrier.test_wait.parity{place}.b64 done, [$1], $2;\n\tselp.b32 $0, 1, 0, done;\n\t}}"
        );
        let inputs = [
            AsmOperand {
                constraint: "r",
                value: self.ptr_to_int(barrier, 32),
            },
            AsmOperand {
                constraint: "r",
                value: self.zext(parity, 32),
            },
        ];
        let done = self.inline_ptx(&text, &[("r", self.i32_type())], &[], &inputs, true)[0];
        self.cmp(Cmp::Ne, done, self.c32(0))
    }
    /// A tensor load in tile mode. The destination is named through `shared::cluster`, whose window contains the block's:
    /// the number is the same.
    pub fn tma_load(&self, load: &TmaLoad<'c, '_>) {
        let destination = self.int_to_ptr(self.ptr_to_int(load.destination, 32), 7);
        let mut operands = vec![destination, load.map];
        operands.extend_from_slice(load.coords);
        operands.push(load.barrier);
        operands.extend(load.policy);
        let sizes = [
            1,
            1,
            load.coords.len() as i32,
            1,
            0,
            0,
            i32::from(load.policy.is_some()),
            0,
        ];
        self.op(
            "nvvm.cp.async.bulk.tensor.shared.cluster.global",
            &operands,
            &[],
            &[("operandSegmentSizes", self.i32s_attr(&sizes))],
        );
    }
    /// A tensor store in tile mode.
    pub fn tma_store(&self, map: V<'c>, source: V<'c>, coords: &[V<'c>], policy: Option<V<'c>>) {
        let mut operands = vec![map, source];
        operands.extend_from_slice(coords);
        operands.extend(policy);
        let sizes = [1, 1, coords.len() as i32, i32::from(policy.is_some()), 0];
        self.op(
            "nvvm.cp.async.bulk.tensor.global.shared.cta",
            &operands,
            &[],
            &[("operandSegmentSizes", self.i32s_attr(&sizes))],
        );
    }
    /// A barrier of the whole block, or of `threads` threads at barrier `id`.
    pub fn barrier(&self, id: Option<i64>, threads: Option<i64>) {
        let id_value = id.map(|v| self.c32(v));
        let threads_value = threads.map(|v| self.c32(v));
        let operands: Vec<_> = id_value.into_iter().chain(threads_value).collect();
        let sizes = [i32::from(id.is_some()), i32::from(threads.is_some()), 0];
        self.op(
            "nvvm.barrier",
            &operands,
            &[],
            &[("operandSegmentSizes", self.i32s_attr(&sizes))],
        );
    }
    /// `bar.warp.sync` of all lanes.
    pub fn warp_sync(&self) {
        self.op("nvvm.bar.warp.sync", &[self.c32(-1)], &[], &[]);
    }
    /// `setmaxnreg`.
    pub fn set_max_registers(&self, registers: i64, increase: bool) {
        let action = if increase { "increase" } else { "decrease" };
        self.op(
            "nvvm.setmaxregister",
            &[],
            &[],
            &[
                ("regCount", self.i32_attr(registers as i32)),
                ("action", self.attr(&format!("#nvvm<action {action}>"))),
            ],
        );
    }
}
