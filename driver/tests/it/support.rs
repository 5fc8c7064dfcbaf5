//! Compiling, launching and comparing, for all tests here.
use girih::compile::{Compiled, Options, compile};
use girih_codegen::ptxas::Ptxas;
use girih_core::{dtype::DType, number};
use girih_runtime::{
    Program,
    array::{Array, Layout},
    launch::{HostValue, Session},
    spec::Scalar,
};
use girih_sim::{
    Simulator,
    profile::{self, banks::Cost},
};
use std::{io::Write as _, sync::Once};

/// Says once that there is no ptxas.
static WITHOUT_PTXAS: Once = Once::new();
/// Warp instructions after which a launch is taken to hang.
const INSTRUCTION_LIMIT: u64 = 200_000_000;

/// Whether every combination is to run, and not only the selection that fits into a minute.
pub fn all() -> bool {
    std::env::var_os("GIRIH_TEST_ALL").is_some()
}

/// What a test keeps of a list of combinations: all of them, or every `step`-th.
pub fn selection<T>(cases: Vec<T>, step: usize) -> impl Iterator<Item = T> {
    let step = if all() { 1 } else { step };
    cases.into_iter().step_by(step)
}

/// Compiles to PTX, and keeps what is said on the way.
pub fn compiled(source: &str) -> Compiled {
    compile(source.as_bytes(), "kernel.mlir", &Options::default()).unwrap_or_else(|failure| {
        let said: Vec<_> = failure.messages.iter().map(ToString::to_string).collect();
        panic!("{}\n{source}", said.join("\n"))
    })
}

/// PTX as a program that can be launched.
pub fn launchable(compiled: Compiled) -> Program {
    let ptx = String::from_utf8(compiled.content).expect("PTX is text");
    Program::new(ptx, compiled.manifest.expect("tile kernels have a manifest")).expect("a manifest that fits its PTX")
}

/// Runs the one kernel of a program: its arguments afterwards, and what its accesses to shared memory cost in all.
pub fn run_counting_banks(program: &Program, values: &[HostValue]) -> (Vec<HostValue>, Cost) {
    let mut device = Simulator::new();
    device.set_profile(profile::Options {
        banks: true,
        ..profile::Options::default()
    });
    let after = run_on(&mut device, program, None, values);
    let profile = device.take_profile().expect("a profile");
    let banks = profile.launches[0].banks.as_ref().expect("banks are counted");
    (after, banks.total)
}

/// Compiles to PTX. Where ptxas is found it must take the text without a warning: no serialised wgmma, no ignored
/// setmaxnreg; and nothing may spill.
pub fn program(source: &str) -> Program {
    let program = launchable(compiled(source));
    let ptx = program.ptx();
    match Ptxas::find(None) {
        Ok(ptxas) => {
            let cubin = ptxas.assemble(ptx, "sm_90a").unwrap_or_else(|e| panic!("{e}\n{ptx}"));
            assert!(
                cubin.report.warnings.is_empty(),
                "{:#?}\n{source}",
                cubin.report.warnings
            );
            // 256 columns of sums beside a first operand in registers are as large as a thread's registers.
            if !(source.contains("64x256x") && source.contains("wgmma_a")) {
                for kernel in &cubin.report.kernels {
                    let spills = kernel.spill_store_bytes + kernel.spill_load_bytes;
                    assert_eq!(spills, 0, "{} spills\n{source}", kernel.name);
                }
            }
        }
        // Past the harness, which keeps from the terminal what a test that passes prints.
        Err(error) => WITHOUT_PTXAS.call_once(|| {
            let _ = writeln!(std::io::stderr(), "nothing is assembled: {error}");
        }),
    }
    program
}

/// Runs one kernel on the simulator and gives its arguments as they are afterwards.
pub fn run_kernel(program: &Program, name: Option<&str>, values: &[HostValue]) -> Vec<HostValue> {
    run_on(&mut Simulator::new(), program, name, values)
}

/// The same on a simulator that is there already.
pub fn run_on(device: &mut Simulator, program: &Program, name: Option<&str>, values: &[HostValue]) -> Vec<HostValue> {
    device.set_instruction_limit(INSTRUCTION_LIMIT);
    let kernel = program.kernel(name).expect("a kernel");
    let fail = |error: girih_runtime::Error| -> ! { panic!("{error}\n{}", program.ptx()) };
    let mut session = Session::new(device, program, kernel, values).unwrap_or_else(|e| fail(e));
    session.run().unwrap_or_else(|e| fail(e));
    let mut after = values.to_vec();
    for (i, value) in after.iter_mut().enumerate() {
        if let HostValue::Array(array) = value {
            session.read(i, array).unwrap_or_else(|e| fail(e));
        }
    }
    after
}

/// Compiles a module of one kernel, runs it, and gives its last array afterwards.
pub fn run(source: &str, values: &[HostValue]) -> Array {
    let program = program(source);
    let after = run_kernel(&program, None, values);
    after.iter().rev().find_map(as_array).expect("an array").clone()
}

/// The array that an argument is.
pub fn as_array(value: &HostValue) -> Option<&Array> {
    match value {
        HostValue::Array(array) => Some(array),
        HostValue::Scalar(_) => None,
    }
}

/// A 64-bit integer argument.
pub fn integer(value: i64) -> HostValue {
    HostValue::Scalar(Scalar {
        dtype: DType::I64,
        bits: value as u64,
    })
}

/// A row-major matrix, as an argument.
pub fn matrix(dtype: DType, rows: usize, columns: usize, element: impl Fn(usize, usize) -> f64) -> HostValue {
    pitched(dtype, (rows, columns), (columns as u64, 1), 0, element)
}

/// A matrix with any strides and start, as an argument. Bytes between its elements are 0xAA.
pub fn pitched(
    dtype: DType,
    (rows, columns): (usize, usize),
    (row_stride, column_stride): (u64, u64),
    offset_bytes: u64,
    element: impl Fn(usize, usize) -> f64,
) -> HostValue {
    let shape = [rows as u64, columns as u64];
    let layout = Layout::new(&shape, &[row_stride, column_stride], offset_bytes).expect("a layout");
    let mut array = Array::filled(dtype, layout, 0xAA).expect("memory");
    let bytes = dtype.bytes() as usize;
    let mut packed = Vec::with_capacity(rows * columns * bytes);
    for row in 0..rows {
        for column in 0..columns {
            packed.extend_from_slice(&number::to_bits(dtype, element(row, column)).to_le_bytes()[..bytes]);
        }
    }
    assert!(array.set_packed_bytes(&packed));
    HostValue::Array(array)
}

/// Small integers that look random, from `low` to `high`: every format here holds them and their sums exactly.
pub fn noise(seed: u64, low: i64, high: i64) -> impl Fn(usize, usize) -> f64 {
    move |row, column| {
        let mut x = seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add((row as u64) << 32 | column as u64);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        (low + (x % (high - low + 1) as u64) as i64) as f64
    }
}

/// Fails at the first element that is not exactly what was expected.
#[track_caller]
pub fn assert_elements(what: &str, got: &Array, expected: impl Fn(usize, usize) -> f64) {
    let columns = got.shape()[1];
    for (n, value) in got.to_f64().into_iter().enumerate() {
        let (row, column) = (n as u64 / columns, n as u64 % columns);
        let wanted = expected(row as usize, column as usize);
        assert!(
            value == wanted,
            "{what}: [{row}, {column}] = {value}, expected {wanted}"
        );
    }
}

/// MLIR's name of an element type.
pub fn mlir(dtype: DType) -> &'static str {
    match dtype {
        DType::I1 => "i1",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::F16 => "f16",
        DType::Bf16 => "bf16",
        DType::F32 | DType::Tf32 => "f32",
        DType::F64 => "f64",
        DType::E4m3 => "f8E4M3FN",
        DType::E5m2 => "f8E5M2",
    }
}

/// A matrix argument's type with the last stride 1.
pub fn rows_of(dtype: DType) -> String {
    format!("memref<?x?x{}, strided<[?, 1]>, #tile.global>", mlir(dtype))
}
