//! Texts that are no PTX, or not the PTX that was meant: an error with a line, never a panic, never a hang.
use girih_core::device::{Device, DeviceError, Launch, ModuleId};
use girih_sim::Simulator;

/// What is mutated: a little of everything that the grammar and the decoder know.
const SEED: &str = r#"//
.version 8.6
.target sm_90a
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.const .align 8 .f64 table[3] = {0d3FF0000000000000, 2.5, 1};
.global .align 4 .u32 data[2][2] = {{1, 0x10}, {3}};
.global .u64 pointer = generic(data)+4;
.global .u8 byte = 0xFF00(data);
.extern .shared .align 16 .b8 dynamic[];
.func (.param .align 8 .b8 r[16]) pair(.param .b64 a, .param .b32 b) {
	.reg .b64 %d<3>; .reg .b32 %r<2>;
	ld.param.u64 %d0, [a]; ld.param.u32 %r0, [b]; cvt.u64.u32 %d1, %r0;
	st.param.v2.b64 [r+0], {%d0, %d1};
	ret;
}
.visible .entry k(.param .u64 .ptr .global .align 4 out, .param .u32 n, .param .align 64 .b8 map[128])
.maxntid 128, 1, 1
{
	.local .align 8 .b8 stack[16];
	.shared .align 8 .b64 bar;
	.reg .pred %p<6>; .reg .b16 %h<6>; .reg .b32 %r<40>; .reg .f32 %f<8>; .reg .b64 %d<16>; .reg .f64 %e<4>; .reg .b128 %q;
	.loc 1 3 5
	ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
	mad.lo.s32 %r3, %r2, 4, %r1; and.b32 %r3, %r3, 0xfc; cvt.u64.u32 %d2, %r3; add.s64 %d3, %d1, %d2;
	setp.lt.and.s32 %p1|%p2, %r2, 16, %p0; @%p1 bra $A; @!%p2 bra $B;
$A:	.pragma "nounroll";
	fma.rn.ftz.f32 %f1, 0f3F800000, %f0, %f2; add.rz.f32 %f3, %f1, 0f40000000; div.full.f32 %f4, %f1, %f3;
	ex2.approx.ftz.f32 %f5, %f4; cvt.rni.s32.f32 %r4, %f5; cvt.rn.f16x2.f32 %r5, %f1, %f3; mov.b32 {%h1, %h2}, %r5;
	fma.rn.f64 %e1, %e0, %e2, 0d4000000000000000; cvt.rn.f32.f64 %f6, %e1; selp.f32 %f7, %f6, %f1, %p1;
$B:	lop3.b32 %r6, %r2, %r3, %r4, 0x96; prmt.b32 %r7, %r6, %r5, 0x5410; shf.l.wrap.b32 %r8, %r7, %r6, 3; bfe.u32 %r9, %r8, 4, 8;
	shfl.sync.bfly.b32 %r10|%p3, %r9, 1, 31, -1; vote.sync.ballot.b32 %r11, %p3, -1; redux.sync.add.u32 %r12, %r2, 0xffffffff;
	st.global.v2.u32 [%d1+8], {%r2, %r10}; ld.global.nc.v4.u32 {%r13, %r14, %r15, %r16}, [%d1]; atom.global.cas.b32 %r17, [%d3], %r2, %r1;
	mov.u64 %d4, stack; cvta.local.u64 %d5, %d4; st.u32 [%d5+4], %r2; ld.local.u32 %r18, [stack+4];
	mov.u32 %r19, bar; setp.eq.u32 %p4, %r2, 0; @%p4 mbarrier.init.shared::cta.b64 [%r19], 32; bar.sync 0;
	mbarrier.arrive.shared::cta.b64 %d6, [%r19];
$W:	mbarrier.try_wait.shared::cta.b64 %p5, [%r19], %d6; @!%p5 bra.uni $W;
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%r8, %r9, %r10, %r11};
	mov.u32 %r24, dynamic; shl.b32 %r25, %r2, 4; add.u32 %r24, %r24, %r25; cp.async.cg.shared.global [%r24], [%d1], 16; cp.async.commit_group;
	cp.async.wait_group 0; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r26, %r27}, [%r24];
	{ .param .b64 x; .param .b32 y; .param .align 8 .b8 z[16]; st.param.b64 [x], %d1; st.param.b32 [y], %r2; call.uni (z), pair, (x, y); ld.param.v2.b64 {%d7, %d8}, [z]; }
	rem.u32 %r28, %r2, 3; brx.idx %r28, T;
T: .branchtargets L0, L1, L2;
L0:	add.cc.u32 %r29, %r2, -1; addc.u32 %r30, 0, 0; bra E;
L1:	barrier.cta.arrive 2, 128; elect.sync _|%p3, -1; mov.b128 %q, {%d7, %d8}; mov.b128 {%d9, %d10}, %q;
L2:	activemask.b32 %r31; nanosleep.u32 20;
E:	st.global.u32 [%d3], %r29;
	ret;
}
.section .debug_abbrev { .b8 1, 2 .b32 .debug_abbrev }
"#;

/// Words that a mutation may put anywhere.
const WORDS: [&str; 40] = [
    "%r1",
    "%d1",
    "%p1",
    "%f1",
    "%h1",
    "%q",
    "%tid.x",
    "0",
    "-1",
    "0x7fffffff",
    "4294967296",
    "0f7FC00000",
    "1.0e39",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ";",
    ":",
    "@",
    ".u32",
    ".b64",
    ".f16x2",
    ".sat",
    ".shared",
    "ret;",
    "bra $A;",
    "trap;",
    "add.u32",
    "ld.global.v4.u64",
    "wgmma.fence.sync.aligned;",
    "tex.2d.v4.f32.f32",
    "cp.async.bulk.commit_group;",
    ".reg .b32 %z<99999999>;",
    ".local .b8 big[1000000000];",
    "<<",
    "$A:",
];

/// A linear congruential generator: the set of texts is the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

fn mutate(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    // One change, now and then up to three: more would leave little that is still PTX.
    for _ in 0..=random.below(4).saturating_sub(1) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let word = WORDS[random.below(WORDS.len())].bytes();
        let is_space = |b: &u8| b.is_ascii_whitespace();
        let start = bytes[..at].iter().rposition(is_space).map_or(0, |i| i + 1);
        let end = bytes[at..]
            .iter()
            .position(is_space)
            .map_or(bytes.len(), |i| at + i)
            .max(start);
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => bytes[at] = 32 + random.below(96) as u8,
            2 => drop(bytes.remove(at)),
            3 => drop(bytes.splice(at..at, word)),
            4 => drop(bytes.splice(start..end, word)),
            5 => drop(bytes.drain(start..end)),
            6 => {
                if let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) {
                    bytes[at + digit] = b'0' + random.below(10) as u8;
                }
            }
            _ => {
                let mut parts: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b';').collect();
                let (i, j) = (random.below(parts.len()), random.below(parts.len()));
                parts.swap(i, j);
                bytes = parts.concat();
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn launch(simulator: &mut Simulator, module: ModuleId, kernel: &str) -> Result<(), DeviceError> {
    let out = simulator.allocate(1 << 12)?;
    let mut params = vec![
        out.address.to_le_bytes().to_vec(),
        8u32.to_le_bytes().to_vec(),
        vec![0; 128],
    ];
    loop {
        let launch = Launch {
            kernel,
            grid: [1; 3],
            block: [32, 1, 1],
            cluster: [1; 3],
            dynamic_shared_bytes: 1024,
            cooperative: false,
            params: &params,
        };
        match simulator.launch(module, &launch) {
            // A mutated parameter list takes fewer of them.
            Err(error) if error.code.as_deref() == Some("CUDA_ERROR_INVALID_VALUE") && params.pop().is_some() => {}
            result => return result,
        }
    }
}

fn survive(texts: usize, seed: u64) -> (usize, usize) {
    let mut random = Random(seed);
    let (mut refused, mut executed) = (0, 0);
    for _ in 0..texts {
        let text = mutate(SEED, &mut random);
        let mut simulator = Simulator::new();
        simulator.set_instruction_limit(5_000);
        match simulator.load(&text) {
            Ok(module) => {
                for kernel in simulator.kernels(module) {
                    if let Err(error) = launch(&mut simulator, module, &kernel) {
                        assert!(error.code.is_some(), "{error}\n{text}");
                    }
                }
                executed += 1;
            }
            Err(error) => {
                assert!(
                    error.message.contains("PTX ") && error.message.contains('^'),
                    "{error}\n{text}"
                );
                refused += 1;
            }
        }
    }
    (refused, executed)
}

#[test]
fn the_seed_itself_runs() {
    let mut simulator = Simulator::new();
    let module = simulator.load(SEED).unwrap_or_else(|e| panic!("{e}"));
    launch(&mut simulator, module, "k").unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn mutated_texts_end_in_errors_or_run() {
    let workers: Vec<_> = (1..=4)
        .map(|seed| std::thread::spawn(move || survive(25_000, seed)))
        .collect();
    let (mut refused, mut executed) = (0, 0);
    for worker in workers {
        let (r, e) = worker.join().expect("no panic");
        refused += r;
        executed += e;
    }
    // Both kinds must be many, or the mutations test nothing.
    assert!(
        refused > 5_000 && executed > 5_000,
        "{refused} refused, {executed} executed"
    );
}

#[test]
fn every_prefix_is_refused_or_runs() {
    for end in (0..SEED.len()).step_by(3) {
        if let Err(error) = Simulator::new().load(&SEED[..end]) {
            assert!(error.message.contains("PTX "), "{error}");
        }
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for text in [
        "{".repeat(100_000),
        format!(".global .u32 x = {}1;", "-".repeat(100_000)),
        format!(".global .u32 x = {}1;", "1?".repeat(50_000)),
        "(".repeat(100_000),
    ] {
        let error = Simulator::new().load(&text).expect_err("too deep");
        assert!(error.message.contains("nest"), "{error}");
    }
}

/// A modifier that changes the result and is not simulated is an error with its line, never a result.
#[test]
fn modifiers_that_are_not_simulated_are_refused() {
    let refused = |instruction: &str, says: &str| {
        let ptx = format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() {{\n.reg .pred %p<2>;\n.reg .b64 %d<9>;\n\
             .reg .f64 %f<9>;\n{instruction}\nret;\n}}\n"
        );
        let error = Simulator::new().load(&ptx).expect_err(instruction).message;
        assert!(error.contains(says) && error.contains('8'), "{instruction}: {error}");
    };
    refused("isspacep.const %p1, %d1;", "isspacep.const is not simulated");
    refused(
        "wmma.mma.sync.aligned.row.col.m8n8k4.rp.f64.f64.f64.f64 {%f1, %f2}, {%f3}, {%f4}, {%f5, %f6};",
        "products rounded other than .rn are not simulated",
    );
}
