//! The kernels, and what each should compute.
use crate::{
    annotate::{Note, annotate},
    kernel::Kernel,
};
use clap::Parser;
use girih_core::manifest::Manifest;
use girih_runtime::{
    explicit::Explicit,
    launch::HostValue,
    run::{Named, make_values},
    spec::Spec,
};

/// A kernel that is ready to run.
pub struct Case {
    pub kernel: Kernel,
    pub entry: String,
    pub manifest: Manifest,
    pub values: Vec<HostValue>,
    /// What each argument is afterwards, `None` where it stays as it was.
    expected: Vec<Option<Vec<f64>>>,
}

/// The options of a `// launch:` line.
#[derive(Parser)]
struct Launch {
    #[command(flatten)]
    explicit: Explicit,
    #[arg(long)]
    kernel: Option<String>,
    #[arg(long = "arg")]
    args: Vec<Named<Spec>>,
}

/// The arguments as numbers, by position.
type Numbers = Vec<Vec<f64>>;

/// The arguments that a kernel writes, and what it should write.
type Results = Vec<(usize, Vec<f64>)>;

fn case(name: &str, text: &str, compute: fn(&Numbers) -> Results) -> Case {
    let kernel = Kernel::parse(name, text);
    let launch = Launch::parse_from(["launch".to_owned()].iter().chain(&kernel.launch));
    let manifest = match launch.explicit.is_given() {
        true => launch
            .explicit
            .manifest_for(text, launch.kernel.as_deref(), &launch.args)
            .expect("a launch"),
        false => Manifest::from_ptx(text).expect("a manifest").expect("a manifest"),
    };
    let entry = launch.kernel.unwrap_or_else(|| manifest.kernels[0].name.clone());
    let known = manifest
        .kernels
        .iter()
        .find(|kernel| kernel.name == entry)
        .expect("the kernel");
    let values = make_values(known, &launch.args, 7).expect("arguments");
    let numbers: Numbers = values.iter().map(numbers).collect();
    let mut expected = vec![None; values.len()];
    for (argument, result) in compute(&numbers) {
        expected[argument] = Some(result);
    }
    Case {
        kernel,
        entry,
        manifest,
        values,
        expected,
    }
}

fn numbers(value: &HostValue) -> Vec<f64> {
    match value {
        HostValue::Array(array) => array.to_f64(),
        HostValue::Scalar(_) => Vec::new(),
    }
}

impl Case {
    /// The first number that is not what it should be.
    fn wrong(&self, after: &[HostValue]) -> Option<String> {
        for (i, (got, before)) in after.iter().zip(&self.values).enumerate() {
            let (got, before) = (numbers(got), numbers(before));
            let want = self.expected[i].as_ref().unwrap_or(&before);
            let is_near = |a: f64, b: f64| {
                (a - b).abs() <= 1e-2 * b.abs().max(1.0) && (a == b || a.fract() != 0.0 || b.fract() != 0.0)
            };
            if let Some(at) = (0..want.len()).find(|at| !is_near(got[*at], want[*at])) {
                return Some(format!("argument {i} at {at}: {} instead of {}", got[at], want[at]));
            }
        }
        None
    }

    pub fn is_right(&self, after: &[HostValue]) -> bool {
        self.wrong(after).is_none()
    }

    pub fn check(&self, after: &[HostValue]) {
        if let Some(wrong) = self.wrong(after) {
            panic!("{}: {wrong}", self.kernel.name);
        }
    }
}

/// All kernels.
pub fn cases() -> Vec<Case> {
    vec![
        case("double_buffer", include_str!("kernels/double_buffer.ptx"), |a| {
            vec![(1, in_reversed_groups(&a[0], 64, 4))]
        }),
        case("transpose", include_str!("kernels/transpose.ptx"), transposed),
        case("block_sum", include_str!("kernels/block_sum.ptx"), |a| {
            vec![
                (1, a[0].chunks(512).map(|row| row.iter().sum()).collect()),
                (2, vec![64.0; 16]),
            ]
        }),
        case("flag", include_str!("kernels/flag.ptx"), |_| {
            let x = (0..64).map(|t| f64::from(3 * t + 7));
            vec![
                (0, x.clone().collect()),
                (1, x.map(|v| v + 1.0).collect()),
                (2, vec![1.0, 64.0]),
            ]
        }),
        case("fence_flag", include_str!("kernels/fence_flag.ptx"), |_| {
            vec![(1, vec![0.0, 0.0, 1.0, 3.0, 6.0]), (2, vec![0.0, 1.0, 1.0, 1.0, 1.0])]
        }),
        case("cluster_sum", include_str!("kernels/cluster_sum.ptx"), |a| {
            let sum = |t: usize| (0..4).map(|b| a[0][32 * b + t]).sum::<f64>();
            vec![(1, (0..128).map(|i| sum(i % 32)).collect()), (2, vec![sum(0); 4])]
        }),
        case("cluster_push", include_str!("kernels/cluster_push.ptx"), |a| {
            vec![(1, (0..64).map(|i| a[0][(1 - i / 32) * 32 + 31 - i % 32]).collect())]
        }),
        case("ring", include_str!("kernels/ring.ptx"), |a| {
            vec![(1, a[0].iter().map(|v| v + 1.0).collect())]
        }),
        case("handoff", include_str!("kernels/handoff.ptx"), |a| {
            vec![(1, in_reversed_groups(&a[0], 32, 1))]
        }),
        case("named", include_str!("kernels/named.ptx"), |a| {
            vec![(1, in_reversed_groups(&a[0], 32, 1))]
        }),
        case("matrix", include_str!("kernels/matrix.ptx"), |a| {
            vec![(1, [&a[0][128..], &a[0][..128]].concat())]
        }),
        case("product", include_str!("kernels/product.ptx"), |a| {
            vec![(1, product(&a[0]))]
        }),
        case("epilogue", include_str!("kernels/epilogue.ptx"), |a| {
            vec![(
                1,
                (0..)
                    .zip(&a[0])
                    .map(|(i, v)| v + f64::from(u8::from(i % 4 == 0)))
                    .collect(),
            )]
        }),
        case("vector_add", &vector_add(), |a| {
            vec![(2, a[0].iter().zip(&a[1]).map(|(a, b)| a + b).collect())]
        }),
        case("tma_copy", &tma_copy(), |a| vec![(1, a[0].clone())]),
        case("gemm_explicit", &gemm_explicit(), |a| {
            vec![(2, matrix_product(&a[0], &a[1], 64))]
        }),
    ]
}

fn vector_add() -> String {
    let launch = "--arg A=iota:f32[300] --arg B=iota:f32[300] --arg C=zeros:f32[300]";
    let notes = [
        Note("bra", 0, "guard guards=in_a,in_b,out"),
        Note("ld.global", 0, "in_a misalign bounds"),
        Note("ld.global", 1, "in_b misalign bounds"),
        Note("st.global", 0, "out misalign bounds"),
    ];
    annotate(include_str!("kernels/vector_add.ptx"), "add", launch, &notes)
}

fn tma_copy() -> String {
    let launch = "--arg A=iota:f32[100,72] --arg B=zeros:f32[100,72]";
    let notes = [
        Note(
            "mbarrier.init.",
            0,
            "init count=$last waits=wait used=expect,load,wait misalign",
        ),
        Note("expect_tx", 0, "expect bytes=$last waits=wait misalign"),
        Note(
            "cp.async.bulk.tensor.2d.shared",
            0,
            "load coordinate misalign bounds waits=wait",
        ),
        Note("try_wait", 0, "wait flip=early orders=load>store"),
        Note("cp.async.bulk.tensor.2d.global", 0, "store coordinate source"),
        Note("wait_group", 0, "drain drains=store"),
    ];
    annotate(include_str!("kernels/tma_copy.ptx"), "copy_128", launch, &notes)
}

/// `init_empty` says nothing of an order: with one arrival less, the two rounds of this launch still wait for a warp of each
/// warpgroup, and a product is one operation of its warpgroup, which has read everything when one warp has waited for it.
fn gemm_explicit() -> String {
    let launch = "--arg A=uniform:bf16[128,384] --arg B=uniform:bf16[384,64] --arg C=zeros:bf16[128,64]";
    // Start addresses are put to these bits: swizzle of 128 bytes, 1024 bytes between groups of eight rows.
    let describe = "or.b64";
    let notes = [
        Note(
            "mbarrier.init.",
            0,
            "init_full count=$last waits=wait_full used=expect,wait_full misalign",
        ),
        Note(
            "mbarrier.init.",
            1,
            "init_empty count=$last waits=wait_empty used=arrive,wait_empty misalign",
        ),
        Note("bar.sync", 0, "start starts=init_full>wait_full,init_empty>wait_empty"),
        Note(
            "try_wait",
            0,
            "wait_empty overruns=expect flip=stuck orders=mma>copy_a,mma>copy_b",
        ),
        Note("expect_tx", 0, "expect bytes=$last waits=wait_full misalign"),
        Note(
            "cp.async.bulk.tensor",
            0,
            "copy_a coordinate misalign bounds waits=wait_full",
        ),
        Note(
            "cp.async.bulk.tensor",
            1,
            "copy_b coordinate misalign bounds waits=wait_full",
        ),
        Note("try_wait", 1, "wait_full flip=early orders=copy_a>mma,copy_b>mma"),
        Note("wgmma.fence", 0, "order registers=mma,mma"),
        Note(
            describe,
            0,
            "describe_b stride=0x4000002000010000 swizzle=0x8000004000010000",
        ),
        Note(
            describe,
            1,
            "describe_a stride=0x4000002000010000 swizzle=0x8000004000010000",
        ),
        Note("wgmma.mma_async", 0, "mma touches=$register"),
        Note("wgmma.mma_async", 1, "mma"),
        Note("wgmma.mma_async", 2, "mma"),
        Note("wgmma.mma_async", 3, "mma touches=$register"),
        Note("commit_group", 0, "commit orders=mma>out,mma>copy_a,mma>copy_b"),
        Note("wait_group", 0, "wait orders=mma>out,mma>copy_a,mma>copy_b"),
        Note("mbarrier.arrive.shared", 0, "arrive waits=wait_empty misalign"),
        Note("cvt.rn.bf16.f32", 0, "out"),
        Note("st.global.b16", 0, "store misalign bounds"),
    ];
    annotate(include_str!("kernels/gemm_explicit.ptx"), "gemm", launch, &notes)
}

/// A (M x K) times B (K x N), both in rows.
fn matrix_product(a: &[f64], b: &[f64], columns: usize) -> Vec<f64> {
    let inner = b.len() / columns;
    let element = |i: usize| {
        (0..inner)
            .map(|k| a[i / columns * inner + k] * b[k * columns + i % columns])
            .sum()
    };
    (0..a.len() / inner * columns).map(element).collect()
}

/// In each group of `groups * size` numbers the pieces of `size` in reverse order.
fn in_reversed_groups(x: &[f64], groups: usize, size: usize) -> Vec<f64> {
    x.chunks(groups * size)
        .flat_map(|group| group.chunks(size).rev().flatten().copied())
        .collect()
}

fn transposed(a: &Numbers) -> Results {
    vec![(1, (0..128 * 32).map(|i| a[0][i % 32 * 128 + i / 32]).collect())]
}

/// `x` holds A (64 x 16) and B (16 x 8) of each product in 8 x 8 core matrices; the result is in the order of wgmma's
/// accumulator, four numbers of each thread.
fn product(x: &[f64]) -> Vec<f64> {
    let a = |step: &[f64], row: usize, k: usize| step[(row / 8 * 2 + k / 8) * 64 + row % 8 * 8 + k % 8];
    let b = |step: &[f64], k: usize, n: usize| step[1024 + k / 8 * 64 + n * 8 + k % 8];
    let element = |row: usize, n: usize| -> f64 {
        let steps = x.chunks(1152);
        steps
            .map(|step| (0..16).map(|k| a(step, row, k) * b(step, k, n)).sum::<f64>())
            .sum()
    };
    (0..128 * 4)
        .map(|i| {
            let (thread, register) = (i / 4, i % 4);
            let row = thread / 32 * 16 + thread % 32 / 4 + register / 2 * 8;
            element(row, thread % 4 * 2 + register % 2)
        })
        .collect()
}
