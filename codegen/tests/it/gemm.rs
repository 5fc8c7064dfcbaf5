//! A GEMM as the lowering of tile kernels makes it: producer warp, two consumer warpgroups, a ring of four stages, 128
//! accumulators a thread that stay in flight around the loop, and guarded stores.
//!
//! Accumulators are block arguments, one for each register. `wgmma.mma_async` and `wgmma.wait_group` are inline assembly
//! whose accumulators are tied operands: so nothing that reads them can move above the wait, and the first product of a
//! tile starts from zero by a predicate, without writing 128 zeros.
use std::fmt::Write;

/// Accumulators of one thread: 64 x 256 elements over 128 threads.
const ACCUMULATORS: usize = 128;

/// The text of a `gpu.module` with the kernel `@gemm`, in upstream dialects that need no more lowering than nvvm's own.
pub fn gemm() -> String {
    let mut kernel = Kernel::default();
    kernel.text.push_str(HEAD);
    kernel.consumer();
    kernel
        .text
        .push_str("    llvm.br ^done\n  ^done:\n    llvm.return\n  }\n}\n");
    kernel.text
}

#[derive(Default)]
struct Kernel {
    text: String,
    values: usize,
    blocks: usize,
}

impl Kernel {
    fn op(&mut self, text: &str) -> String {
        self.values += 1;
        let name = format!("%v{}", self.values);
        let _ = writeln!(self.text, "    {name} = {text}");
        name
    }

    fn i64(&mut self, value: usize) -> String {
        self.op(&format!("llvm.mlir.constant({value} : i64) : i64"))
    }

    /// Inline assembly that reads and writes all accumulators in place.
    fn tied(&mut self, assembly: &str, accumulators: &[String], inputs: &[(&str, &str, &str)]) -> Vec<String> {
        let mut constraints = vec!["=f".to_owned(); ACCUMULATORS];
        constraints.extend((0..ACCUMULATORS).map(|number| number.to_string()));
        constraints.extend(inputs.iter().map(|(_, _, constraint)| (*constraint).to_owned()));
        constraints.push("~{memory}".to_owned());
        let operands: Vec<&str> = accumulators
            .iter()
            .map(String::as_str)
            .chain(inputs.iter().map(|i| i.0))
            .collect();
        let mut types = vec!["f32"; ACCUMULATORS];
        types.extend(inputs.iter().map(|input| input.1));
        let results = format!("!llvm.struct<({})>", vec!["f32"; ACCUMULATORS].join(", "));
        let all = self.op(&format!(
            "llvm.inline_asm has_side_effects \"{assembly}\", \"{}\" {} : ({}) -> {results}",
            constraints.join(","),
            operands.join(", "),
            types.join(", "),
        ));
        (0..ACCUMULATORS)
            .map(|i| self.op(&format!("llvm.extractvalue {all}[{i}] : {results}")))
            .collect()
    }

    fn wgmma(&mut self, accumulators: &[String], a: &str, b: &str, scale: &str) -> Vec<String> {
        let registers: Vec<_> = (0..ACCUMULATORS).map(|i| format!("${i}")).collect();
        let (a_at, b_at, scale_at) = (2 * ACCUMULATORS, 2 * ACCUMULATORS + 1, 2 * ACCUMULATORS + 2);
        let assembly = format!(
            "{{ .reg .pred p; setp.ne.b32 p, ${scale_at}, 0; \
             wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{{}}}, ${a_at}, ${b_at}, p, 1, 1, 0, 0; }}",
            registers.join(", ")
        );
        self.tied(
            &assembly,
            accumulators,
            &[(a, "i64", "l"), (b, "i64", "l"), (scale, "i32", "r")],
        )
    }

    fn consumer(&mut self) {
        let carried: Vec<_> = (0..ACCUMULATORS).map(|i| format!("%acc{i}")).collect();
        let types = vec!["f32"; ACCUMULATORS].join(", ");
        let undefined = vec!["%undef"; ACCUMULATORS].join(", ");
        let arguments: Vec<_> = carried.iter().map(|name| format!("{name}: f32")).collect();
        let _ = write!(
            self.text,
            "    llvm.br ^head(%zero, %zero, %zero, {undefined} : i32, i32, i32, {types})\n  \
             ^head(%i: i32, %stage: i32, %phase: i32, {}):\n",
            arguments.join(", ")
        );
        self.text.push_str(LOOP);
        let mut accumulators = carried.clone();
        for step in 0..4 {
            let offset = self.i64(2 * step);
            let a = self.op(&format!("llvm.add %a_stage, {offset} : i64"));
            let b = self.op(&format!("llvm.add %b_stage, {offset} : i64"));
            accumulators = self.wgmma(&accumulators, &a, &b, if step == 0 { "%scale" } else { "%one" });
        }
        self.text.push_str("    nvvm.wgmma.commit.group.sync.aligned\n");
        accumulators = self.tied("wgmma.wait_group.sync.aligned 1;", &accumulators, &[]);
        self.text.push_str(RELEASE);
        let _ = write!(
            self.text,
            "    llvm.br ^head(%i1, %stage1, %phase1, {} : i32, i32, i32, {types})\n  ^exit:\n",
            accumulators.join(", ")
        );
        let finished = self.tied("wgmma.wait_group.sync.aligned 0;", &carried, &[]);
        self.text.push_str(EPILOGUE);
        self.stores(&finished);
    }

    /// Element `i` of a thread lies at row `8 * (i / 2 % 2)`, column `8 * (i / 4) + i % 2` of its fragment.
    fn stores(&mut self, accumulators: &[String]) {
        for (i, value) in accumulators.iter().enumerate() {
            let (pointer, row_inside) = if i / 2 % 2 == 0 {
                ("%o", "%in0")
            } else {
                ("%o8", "%in8")
            };
            let column = 8 * (i / 4) + i % 2;
            let zeroed = self.op(&format!("llvm.select %empty_k, %fzero, {value} : i1, f32"));
            let rounded = self.op(&format!("llvm.fptrunc {zeroed} : f32 to bf16"));
            let offset = self.i64(column);
            let at = self.op(&format!("llvm.add %col, {offset} : i64"));
            let column_inside = self.op(&format!("llvm.icmp \"slt\" {at}, %N : i64"));
            let inside = self.op(&format!("llvm.and {column_inside}, {row_inside} : i1"));
            self.blocks += 1;
            let n = self.blocks;
            let _ = writeln!(
                self.text,
                "    llvm.cond_br {inside}, ^store{n}, ^next{n}\n  ^store{n}:"
            );
            let at = self.op(&format!(
                "llvm.getelementptr {pointer}[{column}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, bf16"
            ));
            let _ = write!(
                self.text,
                "    llvm.store {rounded}, {at} : bf16, !llvm.ptr<1>\n    llvm.br ^next{n}\n  ^next{n}:\n"
            );
        }
    }
}

/// Entry: barriers, roles, and all of the producer.
const HEAD: &str = r#"
gpu.module @kernels {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @gemm(%ma: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %mb: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1> {llvm.align = 16 : i64}, %M: i64, %N: i64, %K: i64, %ldc: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 288, 1, 1>, nvvm.minctasm = 1 : i32} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %fzero = llvm.mlir.constant(0.0 : f32) : f32
    %undef = llvm.mlir.undef : f32
    %ticks = llvm.mlir.constant(10000000 : i32) : i32
    %hi = llvm.mlir.constant(4611686293305360384 : i64) : i64
    %m18 = llvm.mlir.constant(262143 : i64) : i64
    %s4 = llvm.mlir.constant(4 : i64) : i64
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %bxx = llvm.sext %bx : i32 to i64
    %byy = llvm.sext %by : i32 to i64
    %c128 = llvm.mlir.constant(128 : i64) : i64
    %c256l = llvm.mlir.constant(256 : i64) : i64
    %row0 = llvm.mul %bxx, %c128 : i64
    %col0 = llvm.mul %byy, %c256l : i64
    %c63 = llvm.mlir.constant(63 : i64) : i64
    %c6 = llvm.mlir.constant(6 : i64) : i64
    %kk = llvm.add %K, %c63 : i64
    %kt64 = llvm.ashr %kk, %c6 : i64
    %kt = llvm.trunc %kt64 : i64 to i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bars = llvm.getelementptr %smem[196608] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %t0 = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %t0, ^init, ^inited
  ^init:
    %h1 = llvm.mlir.constant(2 : i32) : i32
    %h2 = llvm.getelementptr %bars[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.init %h2, %one : !llvm.ptr<3>, i32
    %h3 = llvm.getelementptr %bars[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.init %h3, %h1 : !llvm.ptr<3>, i32
    %h4 = llvm.getelementptr %bars[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.init %h4, %one : !llvm.ptr<3>, i32
    %h5 = llvm.getelementptr %bars[5] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.init %h5, %h1 : !llvm.ptr<3>, i32
    %h6 = llvm.getelementptr %bars[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.init %h6, %one : !llvm.ptr<3>, i32
    %h7 = llvm.getelementptr %bars[6] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.init %h7, %h1 : !llvm.ptr<3>, i32
    %h8 = llvm.getelementptr %bars[3] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.init %h8, %one : !llvm.ptr<3>, i32
    %h9 = llvm.getelementptr %bars[7] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.init %h9, %h1 : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    llvm.br ^inited
  ^inited:
    nvvm.barrier
    %c256 = llvm.mlir.constant(256 : i32) : i32
    %isp = llvm.icmp "sge" %tid, %c256 : i32
    llvm.cond_br %isp, ^prod, ^cons
  ^prod:
    %pt0 = llvm.icmp "eq" %tid, %c256 : i32
    llvm.cond_br %pt0, ^ploop(%zero, %zero, %one : i32, i32, i32), ^done
  ^ploop(%pi: i32, %pstage: i32, %pphase: i32):
    %pc = llvm.icmp "slt" %pi, %kt : i32
    llvm.cond_br %pc, ^pbody, ^done
  ^pbody:
    %pfull = llvm.getelementptr %bars[%pstage] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %pempty = llvm.getelementptr %pfull[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.try_wait.parity %pempty, %pphase, %ticks : !llvm.ptr<3>, i32, i32
    %bytes = llvm.mlir.constant(49152 : i32) : i32
    nvvm.mbarrier.arrive.expect_tx %pfull, %bytes : !llvm.ptr<3>, i32
    %c16384 = llvm.mlir.constant(16384 : i32) : i32
    %c32768 = llvm.mlir.constant(32768 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %sao = llvm.mul %pstage, %c16384 : i32
    %sbo0 = llvm.mul %pstage, %c32768 : i32
    %c65536 = llvm.mlir.constant(65536 : i32) : i32
    %sbo = llvm.add %sbo0, %c65536 : i32
    %sA = llvm.getelementptr %smem[%sao] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %sB = llvm.getelementptr %smem[%sbo] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %kx = llvm.mul %pi, %c64 : i32
    %r32 = llvm.trunc %row0 : i64 to i32
    %n32 = llvm.trunc %col0 : i64 to i32
    %sAc = llvm.addrspacecast %sA : !llvm.ptr<3> to !llvm.ptr<7>
    %sBc = llvm.addrspacecast %sB : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %sAc, %ma, %pfull, box [%kx, %r32] : !llvm.ptr<7>, !llvm.ptr
    nvvm.cp.async.bulk.tensor.shared.cluster.global %sBc, %mb, %pfull, box [%kx, %n32] : !llvm.ptr<7>, !llvm.ptr
    %pi1 = llvm.add %pi, %one : i32
    %psn = llvm.add %pstage, %one : i32
    %pwrap = llvm.icmp "eq" %psn, %four : i32
    %pstage1 = llvm.select %pwrap, %zero, %psn : i1, i32
    %pph1 = llvm.xor %pphase, %one : i32
    %pphase1 = llvm.select %pwrap, %pph1, %pphase : i1, i32
    llvm.br ^ploop(%pi1, %pstage1, %pphase1 : i32, i32, i32)
  ^cons:
    %c7 = llvm.mlir.constant(7 : i32) : i32
    %wg = llvm.lshr %tid, %c7 : i32
    %wg64 = llvm.zext %wg : i32 to i64
    %ia = llvm.ptrtoint %smem : !llvm.ptr<3> to i64
    %ia1 = llvm.and %ia, %m18 : i64
    %ia2 = llvm.lshr %ia1, %s4 : i64
    %dA0 = llvm.or %ia2, %hi : i64
    %c512 = llvm.mlir.constant(512 : i64) : i64
    %wgo = llvm.mul %wg64, %c512 : i64
    %dA = llvm.add %dA0, %wgo : i64
    %c4096 = llvm.mlir.constant(4096 : i64) : i64
    %dB = llvm.add %dA0, %c4096 : i64
"#;

/// One step of a consumer up to its products.
const LOOP: &str = r#"    %c = llvm.icmp "slt" %i, %kt : i32
    llvm.cond_br %c, ^body, ^exit
  ^body:
    %sc = llvm.icmp "ne" %i, %zero : i32
    %scale = llvm.zext %sc : i1 to i32
    %full = llvm.getelementptr %bars[%stage] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.try_wait.parity %full, %phase, %ticks : !llvm.ptr<3>, i32, i32
    %st64 = llvm.zext %stage : i32 to i64
    %pitchA = llvm.mlir.constant(1024 : i64) : i64
    %pitchB = llvm.mlir.constant(2048 : i64) : i64
    %oa = llvm.mul %st64, %pitchA : i64
    %ob = llvm.mul %st64, %pitchB : i64
    %a_stage = llvm.add %dA, %oa : i64
    %b_stage = llvm.add %dB, %ob : i64
    nvvm.wgmma.fence.aligned
"#;

/// Gives the stage before back to the producer, and moves on.
const RELEASE: &str = r#"    %c3x = llvm.mlir.constant(3 : i32) : i32
    %prev0 = llvm.add %stage, %c3x : i32
    %prev = llvm.and %prev0, %c3x : i32
    %t127 = llvm.mlir.constant(127 : i32) : i32
    %tl = llvm.and %tid, %t127 : i32
    %l0 = llvm.icmp "eq" %tl, %zero : i32
    %gt = llvm.icmp "sgt" %i, %zero : i32
    %lg = llvm.and %l0, %gt : i1
    llvm.cond_br %lg, ^arr, ^latch
  ^arr:
    %pf = llvm.getelementptr %bars[%prev] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %pe = llvm.getelementptr %pf[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    %arrt = nvvm.mbarrier.arrive %pe : !llvm.ptr<3> -> i64
    llvm.br ^latch
  ^latch:
    %i1 = llvm.add %i, %one : i32
    %sn = llvm.add %stage, %one : i32
    %wrap = llvm.icmp "eq" %sn, %four : i32
    %stage1 = llvm.select %wrap, %zero, %sn : i1, i32
    %ph1 = llvm.xor %phase, %one : i32
    %phase1 = llvm.select %wrap, %ph1, %phase : i1, i32
"#;

/// Where this thread stores.
const EPILOGUE: &str = r#"    %empty_k = llvm.icmp "eq" %kt, %zero : i32
    %c5 = llvm.mlir.constant(5 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %c2i = llvm.mlir.constant(2 : i32) : i32
    %wl = llvm.lshr %tid, %c5 : i32
    %lane = llvm.and %tid, %c31 : i32
    %c4i = llvm.mlir.constant(4 : i32) : i32
    %r1 = llvm.shl %wl, %c4i : i32
    %r2 = llvm.lshr %lane, %c2i : i32
    %r3 = llvm.add %r1, %r2 : i32
    %q1 = llvm.and %lane, %c3 : i32
    %q2 = llvm.shl %q1, %one : i32
    %r3l = llvm.zext %r3 : i32 to i64
    %q2l = llvm.zext %q2 : i32 to i64
    %row = llvm.add %row0, %r3l : i64
    %col = llvm.add %col0, %q2l : i64
    %ro = llvm.mul %row, %ldc : i64
    %off = llvm.add %ro, %col : i64
    %o = llvm.getelementptr %out[%off] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %c8 = llvm.mlir.constant(8 : i64) : i64
    %ld8 = llvm.mul %ldc, %c8 : i64
    %o8 = llvm.getelementptr %o[%ld8] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %row8 = llvm.add %row, %c8 : i64
    %in0 = llvm.icmp "slt" %row, %M : i64
    %in8 = llvm.icmp "slt" %row8, %M : i64
"#;
