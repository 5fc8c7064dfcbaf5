//! One launch of a kernel, and what is said of it.
use girih_core::device::{Device, DeviceError, Launch};
use girih_sim::Simulator;
use girih_sim::check::Finding;

/// How a kernel `k` is launched.
pub struct Setting<'a> {
    /// Warp instructions after which the launch is taken to hang; the simulator's own limit where there is none.
    pub limit: Option<u64>,
    pub checks: bool,
    /// What global memory holds; its address is the first parameter.
    pub memory: &'a [u8],
    /// The parameters after it.
    pub params: &'a [Vec<u8>],
    /// Blocks and threads of a block.
    pub grid: u32,
    pub threads: u32,
}

/// What came of a launch.
pub struct Outcome {
    pub error: Option<DeviceError>,
    pub findings: Vec<Finding>,
    /// The first word of global memory afterwards.
    #[allow(dead_code, reason = "not every test looks at results")]
    pub word: u32,
}

/// Runs the kernel `k` of a module. PTX that does not load is an error as well.
pub fn launch(text: &str, setting: &Setting<'_>) -> Outcome {
    let mut simulator = Simulator::new();
    if let Some(limit) = setting.limit {
        simulator.set_instruction_limit(limit);
    }
    simulator.set_checks(setting.checks);
    let module = match simulator.load(text) {
        Ok(module) => module,
        Err(error) => {
            return Outcome {
                error: Some(error),
                findings: Vec::new(),
                word: 0,
            };
        }
    };
    let memory = simulator.allocate(setting.memory.len()).expect("memory");
    simulator.write(memory, 0, setting.memory).expect("memory");
    let params = [&[memory.address.to_le_bytes().to_vec()], setting.params].concat();
    let launch = Launch {
        kernel: "k",
        grid: [setting.grid, 1, 1],
        block: [setting.threads, 1, 1],
        cluster: [1; 3],
        dynamic_shared_bytes: 0,
        cooperative: false,
        params: &params,
    };
    let error = simulator.launch(module, &launch).err();
    let mut word = [0; 4];
    simulator.read(memory, 0, &mut word).expect("memory");
    Outcome {
        error,
        findings: simulator.take_findings(),
        word: u32::from_le_bytes(word),
    }
}

/// Holds a text against the parts that it must have.
pub fn has_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}
