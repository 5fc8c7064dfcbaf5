//! Warp instructions that the simulator executes in a second, for kernels that stress one part each. Numbers are printed,
//! never judged: they depend on the machine and on what else it does.
use girih_core::device::{Device, Launch, Result};
use girih_sim::Simulator;
use std::time::Instant;

struct Kernel {
    name: &'static str,
    registers: &'static str,
    setup: &'static str,
    /// Repeated [`STEPS`] times within the loop.
    step: &'static str,
    threads: u32,
    repetitions: u32,
}

/// Instructions between branches.
const STEPS: usize = 16;
const BLOCKS: u32 = 64;

const KERNELS: [Kernel; 4] = [
    Kernel {
        name: "integer and float arithmetic",
        registers: ".reg .b32 %a; .reg .f32 %f;",
        setup: "mov.b32 %a, 3; mov.f32 %f, 0f3F800000;",
        step: "mad.lo.u32 %a, %a, 5, %i; fma.rn.f32 %f, %f, 0f3F000000, 0f3F800000;",
        threads: 256,
        repetitions: 2000,
    },
    Kernel {
        name: "global memory",
        registers: ".reg .b32 %a;",
        setup: "",
        step: "ld.global.u32 %a, [%p]; st.global.u32 [%p], %a;",
        threads: 256,
        repetitions: 300,
    },
    Kernel {
        name: "shared memory and barriers",
        registers: ".shared .align 16 .b8 tile[1024]; .reg .b32 %a, %s;",
        setup: "mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s;",
        step: "st.shared.u32 [%s], %i; bar.sync 0; ld.shared.u32 %a, [%s];",
        threads: 256,
        repetitions: 200,
    },
    Kernel {
        name: "mma.m16n8k16 of bf16",
        registers: ".reg .b32 %a; .reg .f32 %d<4>;",
        setup: "mov.b32 %a, 0x3f803f80; mov.f32 %d0, 0f00000000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;",
        step: "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a, %a, %a, %a}, {%a, %a}, \
               {%d0, %d1, %d2, %d3};",
        threads: 128,
        repetitions: 20,
    },
];

fn ptx(kernel: &Kernel) -> String {
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry bench(.param .u64 memory)\n{{\n.reg .b32 %t, %i, \
         %b, %n;\n.reg .b64 %p, %o;\n.reg .pred %more;\n{}\nld.param.u64 %p, [memory];\nmov.u32 %t, %tid.x;\nmov.u32 %b, \
         %ctaid.x;\nmov.u32 %n, %ntid.x;\nmad.lo.u32 %n, %b, %n, %t;\nmul.wide.u32 %o, %n, 4;\nadd.u64 %p, %p, \
         %o;\nmov.u32 %i, 0;\n{}\nloop:\n{}add.u32 %i, %i, 1;\nsetp.lt.u32 %more, %i, {};\n@%more bra loop;\nret;\n}}\n",
        kernel.registers,
        kernel.setup,
        format!("{}\n", kernel.step).repeat(STEPS),
        kernel.repetitions,
    )
}

fn measure(kernel: &Kernel, checked: bool) -> Result<()> {
    let mut device = Simulator::new();
    device.set_checks(checked);
    let memory = device.allocate((BLOCKS * kernel.threads * 4) as usize)?;
    device.write(memory, 0, &vec![0; memory.bytes])?;
    let module = device.load(&ptx(kernel))?;
    let start = Instant::now();
    device.launch(
        module,
        &Launch {
            kernel: "bench",
            grid: [BLOCKS, 1, 1],
            block: [kernel.threads, 1, 1],
            cluster: [1; 3],
            dynamic_shared_bytes: 0,
            cooperative: false,
            params: &[memory.address.to_le_bytes().to_vec()],
        },
    )?;
    device.synchronize()?;
    let seconds = start.elapsed().as_secs_f64();
    let executed = device.executed_instructions() as f64;
    println!(
        "{:<30} {:<8} {:>8.2} million warp instructions in {:>6.3} s: {:>8.2} million a second",
        kernel.name,
        if checked { "checked" } else { "plain" },
        executed / 1e6,
        seconds,
        executed / 1e6 / seconds
    );
    Ok(())
}

fn main() -> Result<()> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    println!("simulator, {BLOCKS} blocks on {workers} threads");
    for kernel in &KERNELS {
        measure(kernel, false)?;
        measure(kernel, true)?;
    }
    Ok(())
}
