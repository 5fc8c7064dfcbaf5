//! A kernel in a few lines of PTX, and what it leaves.
use girih_core::device::{Buffer, Device, DeviceError, Launch};
use girih_sim::Simulator;

const HEAD: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n";

/// A kernel `k` over one output buffer of 32-bit words.
pub struct Program {
    pub simulator: Simulator,
    module: girih_core::device::ModuleId,
    pub out: Buffer,
}

pub struct Shape {
    pub grid: u32,
    pub block: u32,
    pub cluster: u32,
    pub dynamic_shared: u32,
}

pub const ONE_WARP: Shape = Shape {
    grid: 1,
    block: 32,
    cluster: 1,
    dynamic_shared: 0,
};

impl Program {
    /// `declarations` stand at module scope; `body` finds the buffer in `%out` and the thread in `%t`.
    pub fn new(declarations: &str, body: &str, words: usize) -> Program {
        let text = format!(
            "{HEAD}{declarations}\n.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128]) {{\n\
             .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %d<32>; .reg .b64 %out; .reg .b32 %t;\n\
             ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n{body}\n}}\n"
        );
        let mut simulator = Simulator::new();
        simulator.set_instruction_limit(5_000_000);
        let module = simulator.load(&text).unwrap_or_else(|e| panic!("{e}"));
        let out = simulator.allocate(4 * words).expect("memory");
        simulator.write(out, 0, &vec![0; 4 * words]).expect("memory");
        Program { simulator, module, out }
    }

    pub fn run(&mut self, shape: &Shape) -> Result<(), DeviceError> {
        self.run_with(shape, &[0; 128])
    }

    pub fn run_with(&mut self, shape: &Shape, map: &[u8]) -> Result<(), DeviceError> {
        let params = [self.out.address.to_le_bytes().to_vec(), map.to_vec()];
        self.simulator.launch(
            self.module,
            &Launch {
                kernel: "k",
                grid: [shape.grid, 1, 1],
                block: [shape.block, 1, 1],
                cluster: [shape.cluster, 1, 1],
                dynamic_shared_bytes: shape.dynamic_shared,
                cooperative: false,
                params: &params,
            },
        )?;
        self.simulator.synchronize()
    }

    pub fn words(&mut self) -> Vec<u32> {
        let mut bytes = vec![0; self.out.bytes];
        self.simulator.read(self.out, 0, &mut bytes).expect("memory");
        bytes
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect()
    }
}

/// Stores `%r1` at the thread's place in the output.
pub const STORE: &str = "mul.wide.u32 %d1, %t, 4; add.u64 %d1, %out, %d1; st.global.u32 [%d1], %r1; ret;";

pub fn warp(declarations: &str, body: &str) -> Vec<u32> {
    let mut program = Program::new(declarations, &format!("{body}\n{STORE}"), 32);
    program.run(&ONE_WARP).unwrap_or_else(|e| panic!("{e}"));
    program.words()
}

pub fn failure(declarations: &str, body: &str, shape: &Shape) -> DeviceError {
    Program::new(declarations, body, 1024)
        .run(shape)
        .expect_err("the launch fails")
}
