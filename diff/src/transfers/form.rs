//! One kernel for each instruction: what differs from case to case is a parameter, so that a device compiles few kernels
//! for many cases.
//!
//! Every block copies its bytes into shared memory, thread 0 of one of them issues the instruction, every block that gets
//! bytes waits for them on its mbarrier, and every block copies its shared memory out. A wait gives up after many tries and
//! says so, so that a wrong count of bytes is a result like any other.
use girih_core::tensor_map::Format;
use girih_sim::tma::ReduceOp;
use std::fmt::{self, Write};

/// Threads of a block.
pub const THREADS: u32 = 64;
/// Name of the kernel.
pub const ENTRY: &str = "transfer";
/// Bytes that follow the shared bytes of each block in the results: whether its wait ended, then nothing.
pub const TRAILER: usize = 16;
/// Waits before a block gives up. Each may suspend the thread.
const TRIES: u32 = 2_000;

/// How a tensor copy walks the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Walk {
    /// `.tile`.
    Tile,
    /// `.im2col`, and `.im2col_no_offs` of stores.
    Columns,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// `cp.async.bulk.tensor`, global to shared.
    Load {
        /// Mode.
        walk: Walk,
        /// Dimensions.
        rank: usize,
        /// `.shared::cta` rather than `.shared::cluster`.
        own: bool,
        /// `.multicast::cluster`.
        multicast: bool,
        /// `.L2::cache_hint`.
        hint: bool,
    },
    /// `cp.async.bulk.tensor`, shared to global.
    Store {
        /// Mode.
        walk: Walk,
        /// Dimensions.
        rank: usize,
        /// `.L2::cache_hint`.
        hint: bool,
    },
    /// `cp.reduce.async.bulk.tensor`.
    Reduce {
        /// Operator.
        op: ReduceOp,
        /// Mode.
        walk: Walk,
        /// Dimensions.
        rank: usize,
    },
    /// `cp.async.bulk.prefetch.tensor`, which changes nothing.
    Prefetch {
        /// Mode.
        walk: Walk,
        /// Dimensions.
        rank: usize,
    },
    /// `cp.async.bulk`, global to shared.
    BulkLoad {
        /// `.shared::cta` rather than `.shared::cluster`.
        own: bool,
        /// `.multicast::cluster`.
        multicast: bool,
    },
    /// `cp.async.bulk`, shared to global.
    BulkStore,
    /// `cp.async.bulk`, to the shared memory of another block.
    BulkSend,
    /// `cp.reduce.async.bulk`, shared to global.
    BulkReduce(BulkType),
    /// `cp.reduce.async.bulk`, to the shared memory of another block.
    BulkSendReduce(BulkType),
    /// `cp.async.bulk.prefetch`, which changes nothing.
    BulkPrefetch,
    /// `cp.async` of every thread.
    Async {
        /// `.cg` rather than `.ca`.
        around_l1: bool,
        /// Bytes for each thread.
        bytes: u32,
    },
}

/// Operator and type of a reduction without a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BulkType {
    /// Operator.
    pub op: ReduceOp,
    /// PTX's type, `noftz` and all.
    pub ptx: &'static str,
    /// Bytes of an element.
    pub bytes: usize,
}

impl BulkType {
    /// The tensor map format with the same elements.
    pub fn format(self) -> Format {
        match self.ptx {
            "s32" => Format::S32,
            "u64" | "b64" => Format::U64,
            "s64" => Format::S64,
            "f16" | "noftz.f16" => Format::F16,
            "bf16" | "noftz.bf16" => Format::Bf16,
            "f32" => Format::F32,
            "f64" => Format::F64,
            _ => Format::U32,
        }
    }
}

impl Form {
    /// Blocks get bytes through an mbarrier.
    pub fn counts_bytes(self) -> bool {
        matches!(
            self,
            Form::Load { .. } | Form::BulkLoad { .. } | Form::BulkSend | Form::BulkSendReduce(_)
        )
    }

    /// Several blocks take part.
    pub fn clustered(self) -> bool {
        matches!(
            self,
            Form::Load { multicast: true, .. }
                | Form::BulkLoad { multicast: true, .. }
                | Form::BulkSend
                | Form::BulkSendReduce(_)
        )
    }

    /// The instruction, operands left out.
    fn opcode(self) -> String {
        let place = |own| if own { "shared::cta" } else { "shared::cluster" };
        let cast = |multicast| if multicast { ".multicast::cluster" } else { "" };
        let cached = |hint| if hint { ".L2::cache_hint" } else { "" };
        let load = |walk| if walk == Walk::Tile { "tile" } else { "im2col" };
        let store = |walk| if walk == Walk::Tile { "tile" } else { "im2col_no_offs" };
        match self {
            Form::Load {
                walk,
                rank,
                own,
                multicast,
                hint,
            } => format!(
                "cp.async.bulk.tensor.{rank}d.{}.global.{}.mbarrier::complete_tx::bytes{}{}",
                place(own),
                load(walk),
                cast(multicast),
                cached(hint)
            ),
            Form::Store { walk, rank, hint } => format!(
                "cp.async.bulk.tensor.{rank}d.global.shared::cta.{}.bulk_group{}",
                store(walk),
                cached(hint)
            ),
            Form::Reduce { op, walk, rank } => format!(
                "cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{}.{}.bulk_group",
                op.name(),
                store(walk)
            ),
            Form::Prefetch { walk, rank } => {
                format!("cp.async.bulk.prefetch.tensor.{rank}d.L2.global.{}", load(walk))
            }
            Form::BulkLoad { own, multicast } => format!(
                "cp.async.bulk.{}.global.mbarrier::complete_tx::bytes{}",
                place(own),
                cast(multicast)
            ),
            Form::BulkStore => "cp.async.bulk.global.shared::cta.bulk_group".to_owned(),
            Form::BulkSend => "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes".to_owned(),
            Form::BulkReduce(t) => format!(
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.{}.{}",
                t.op.name(),
                t.ptx
            ),
            Form::BulkSendReduce(t) => format!(
                "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{}.{}",
                t.op.name(),
                t.ptx
            ),
            Form::BulkPrefetch => "cp.async.bulk.prefetch.L2.global".to_owned(),
            Form::Async { around_l1, .. } => {
                format!("cp.async.{}.shared.global", if around_l1 { "cg" } else { "ca" })
            }
        }
    }

    /// The instruction with its operands, in the kernel's registers.
    fn statement(self) -> String {
        let opcode = self.opcode();
        let list = |prefix: &str, count: usize| {
            let names: Vec<String> = (0..count).map(|i| format!("%{prefix}{i}")).collect();
            names.join(", ")
        };
        let offsets = |walk, rank: usize| match walk {
            Walk::Tile => String::new(),
            Walk::Columns => format!(", {{{}}}", list("h", rank - 2)),
        };
        let policy = |hint| if hint { ", %policy" } else { "" };
        match self {
            Form::Load {
                walk,
                rank,
                multicast,
                hint,
                ..
            } => {
                let mask = if multicast { ", %mask16" } else { "" };
                format!(
                    "{opcode} [%there], [%map, {{{}}}], [%bar]{}{mask}{};",
                    list("c", rank),
                    offsets(walk, rank),
                    policy(hint)
                )
            }
            Form::Store { rank, hint, .. } => {
                format!("{opcode} [%map, {{{}}}], [%there]{};", list("c", rank), policy(hint))
            }
            Form::Reduce { rank, .. } => format!("{opcode} [%map, {{{}}}], [%there];", list("c", rank)),
            Form::Prefetch { walk, rank } => {
                format!("{opcode} [%map, {{{}}}]{};", list("c", rank), offsets(walk, rank))
            }
            Form::BulkLoad { multicast, .. } => {
                let mask = if multicast { ", %mask16" } else { "" };
                format!("{opcode} [%there], [%outer], %size, [%bar]{mask};")
            }
            Form::BulkStore | Form::BulkReduce(_) => format!("{opcode} [%outer], [%there], %size;"),
            Form::BulkSend | Form::BulkSendReduce(_) => format!(
                "cvt.u32.u64 %x, %distance;
    add.u32 %x, %x, %buffer;
    mapa.shared::cluster.u32 %x, %x, %peer;
    mapa.shared::cluster.u32 %y, %bar, %peer;
    {opcode} [%x], [%there], %size, [%y];"
            ),
            Form::BulkPrefetch => format!("{opcode} [%outer], %size;"),
            Form::Async { bytes, .. } => format!(
                "mul.lo.u32 %x, %t, {bytes};
    cvt.u64.u32 %g, %x;
    add.u64 %g, %g, %outer;
    add.u32 %x, %x, %there;
    {opcode} [%x], [%g], {bytes}, %size;"
            ),
        }
    }

    /// PTX of the kernel.
    pub fn ptx(self) -> String {
        let (mut parameters, mut loads) = (String::new(), String::new());
        for (ty, name) in PARAMETERS {
            let bits = if ty == "u64" { "b64" } else { "b32" };
            let _ = write!(parameters, ",\n    .param .{ty} {name}");
            let _ = write!(
                loads,
                "    .reg .{bits} %{name};\n    ld.param.{ty} %{name}, [{name}];\n"
            );
        }
        let meet = if self.clustered() { MEET } else { "" };
        let issue = match self {
            Form::Async { .. } => {
                "    ISSUE
    cp.async.commit_group;
    cp.async.wait_group 0;
    mov.u32 %ended, 1;"
            }
            Form::Prefetch { .. } | Form::BulkPrefetch => {
                "    @%others bra $issued;
    ISSUE
    mov.u32 %ended, 1;
$issued:"
            }
            _ if self.counts_bytes() => COUNTED,
            _ => {
                "    @%others bra $issued;
    ISSUE
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    mov.u32 %ended, 1;
$issued:"
            }
        };
        let issue = issue
            .replace("ISSUE", &self.statement())
            .replace("TRIES", &TRIES.to_string());
        FRAME
            .replace("PARAMETERS", &parameters)
            .replace("LOADS", &loads)
            .replace("TRAILER", &TRAILER.to_string())
            .replace("STEP", &(THREADS * 16).to_string())
            .replace("MEET", meet)
            .replace("ACTION", &issue)
    }
}

const MEET: &str = "    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
";

/// Thread 0 of each block expects its bytes, that of one block issues, and all of them wait.
const COUNTED: &str = "    @%others bra $issued;
    shr.u32 %x, %mask, %rank;
    and.b32 %x, %x, 1;
    mul.lo.u32 %x, %x, %bytes;
    mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%bar], %x;
    setp.ne.u32 %p, %rank, %issuer;
    @%p bra $wait;
    ISSUE
$wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;
    @%p bra $ended;
    add.u32 %tries, %tries, 1;
    setp.lt.u32 %p, %tries, TRIES;
    @%p bra $wait;
    bra $issued;
$ended:
    mov.u32 %ended, 1;
$issued:";

const FRAME: &str = ".version 8.6
.target sm_90a
.address_size 64

.extern .shared .align 1024 .b8 memory[];

.visible .entry transfer(
    .param .align 64 .b8 tensor[128]PARAMETERS
)
{
    .reg .pred %p, %others;
    .reg .b16 %h0, %h1, %h2, %mask16;
    .reg .b32 %t, %rank, %buffer, %bar, %there, %i, %x, %y, %peer, %tries, %ended;
    .reg .b32 %v0, %v1, %v2, %v3;
    .reg .b64 %map, %g, %from, %to, %outer, %state;
LOADS    mov.b64 %map, tensor;
    cvta.param.u64 %map, %map;
    cvt.u16.u32 %h0, %o0;
    cvt.u16.u32 %h1, %o1;
    cvt.u16.u32 %h2, %o2;
    cvt.u16.u32 %mask16, %mask;
    mov.u32 %t, %tid.x;
    mov.u32 %rank, %cluster_ctarank;
    mov.u32 %buffer, memory;
    add.u32 %bar, %buffer, %length;
    add.u32 %there, %buffer, %at;
    add.u64 %outer, %global, %distance;
    bfind.u32 %peer, %mask;
    mov.u32 %tries, 0;
    mov.u32 %ended, 0;
    mul.wide.u32 %from, %rank, %length;
    add.u64 %from, %from, %before;
    add.u32 %x, %length, TRAILER;
    mul.wide.u32 %to, %rank, %x;
    add.u64 %to, %to, %after;
    shl.b32 %i, %t, 4;
$in:
    cvt.u64.u32 %g, %i;
    add.u64 %g, %g, %from;
    ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%g];
    add.u32 %x, %buffer, %i;
    st.shared.v4.b32 [%x], {%v0, %v1, %v2, %v3};
    add.u32 %i, %i, STEP;
    setp.lt.u32 %p, %i, %length;
    @%p bra $in;
    setp.ne.u32 %others, %t, 0;
    @%others bra $ready;
    mbarrier.init.shared::cta.b64 [%bar], 1;
    fence.mbarrier_init.release.cluster;
$ready:
    fence.proxy.async;
    bar.sync 0;
MEETACTION
    bar.sync 0;
MEET    shl.b32 %i, %t, 4;
$out:
    add.u32 %x, %buffer, %i;
    ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%x];
    cvt.u64.u32 %g, %i;
    add.u64 %g, %g, %to;
    st.global.v4.b32 [%g], {%v0, %v1, %v2, %v3};
    add.u32 %i, %i, STEP;
    setp.lt.u32 %p, %i, %length;
    @%p bra $out;
    @%others bra $end;
    cvt.u64.u32 %g, %length;
    add.u64 %g, %g, %to;
    st.global.u32 [%g], %ended;
$end:
    ret;
}
";

/// Parameters after the map: type and name, which is also that of the register.
pub const PARAMETERS: [(&str, &str); 19] = [
    ("u64", "global"),
    ("u64", "before"),
    ("u64", "after"),
    ("u64", "distance"),
    ("u64", "policy"),
    ("u32", "length"),
    ("u32", "at"),
    ("u32", "bytes"),
    ("u32", "mask"),
    ("u32", "issuer"),
    ("u32", "size"),
    ("s32", "c0"),
    ("s32", "c1"),
    ("s32", "c2"),
    ("s32", "c3"),
    ("s32", "c4"),
    ("u32", "o0"),
    ("u32", "o1"),
    ("u32", "o2"),
];

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.opcode())?;
        if let Form::Async { bytes, .. } = self {
            write!(f, " {bytes}")?;
        }
        Ok(())
    }
}
