//! The simulator as a [`Device`].
use crate::check::{Checks, Finding, Memories, Setup, State};
use crate::decode::{self, MAX_SHARED_BYTES};
use crate::exec::{self, Grid, LaunchError, LaunchShape};
use crate::isa::{Program, SHARED_BASE};
use crate::memory::{Access, Bytes, Fault, FaultKind, GlobalMemory};
use crate::profile::{LaunchProfile, Listing, Options, Profile, Recorder};
use crate::progress::Progress;
use crate::ptx::{self, PtxError};
use crate::texture::{Objects, Surface, Texture};
use crate::tma;
use girih_core::device::{Buffer, Device, DeviceError, Launch, ModuleId, Result};
use girih_core::target::Target;
use girih_core::tensor_map::TensorMap;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

/// Warp instructions that a launch may execute unless [`Simulator::set_instruction_limit`] says otherwise.
pub const DEFAULT_INSTRUCTION_LIMIT: u64 = 20_000_000_000;
/// Largest cluster.
const MAX_CLUSTER: u32 = 16;
const MAX_THREADS: u32 = 1024;

struct Module {
    text: String,
    kernels: BTreeMap<String, Program>,
    allocations: Vec<u64>,
}

/// A GPU in software, of target `sm_90a` unless it is asked to be another.
#[derive(Default)]
pub struct Simulator {
    memory: GlobalMemory,
    modules: Vec<Option<Module>>,
    objects: Objects,
    instruction_limit: Option<u64>,
    at_limit: bool,
    executed: u64,
    launches: u64,
    printed: String,
    shows_output: bool,
    target: Option<Target>,
    checks: bool,
    findings: Vec<Finding>,
    progress: Arc<Progress>,
    profiled: Options,
    profile: Profile,
}

fn fault(fault: Fault) -> DeviceError {
    DeviceError::with_code(fault.kind.code(), format!("{}: {}", fault.kind.code(), fault.detail))
}

fn invalid(message: impl Into<String>) -> DeviceError {
    let message: String = message.into();
    DeviceError::with_code(
        "CUDA_ERROR_INVALID_VALUE",
        format!("CUDA_ERROR_INVALID_VALUE: {message}"),
    )
}

fn bad_ptx(error: PtxError) -> DeviceError {
    DeviceError::with_code("CUDA_ERROR_INVALID_PTX", format!("CUDA_ERROR_INVALID_PTX: {error}"))
}

impl Simulator {
    /// A device without allocations.
    pub fn new() -> Self {
        Simulator {
            shows_output: true,
            ..Simulator::default()
        }
    }

    /// Whether the last launch was given up because it came to the limit of instructions.
    pub fn at_limit(&self) -> bool {
        self.at_limit
    }

    /// Keeps what kernels print from standard output, where it goes otherwise.
    pub fn hide_output(&mut self) {
        self.shows_output = false;
    }

    /// What kernels printed so far (`vprintf`): launch by launch, in each block by block, x fastest, and thread by thread.
    pub fn output(&self) -> &str {
        &self.printed
    }

    /// Whether launches from now on look for mistakes that a GPU would not report; see [`crate::check`].
    pub fn set_checks(&mut self, on: bool) {
        self.checks = on;
    }

    /// What the checks of the launches since the last call found: launch by launch, the gravest of each first.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// Whether launches from now on count what they cost; see [`crate::profile`].
    pub fn set_profile(&mut self, options: Options) {
        self.profiled = options;
    }

    /// What the launches since the last call cost that ended well while that was counted; nothing if there were none.
    pub fn take_profile(&mut self) -> Option<Profile> {
        let profile = std::mem::take(&mut self.profile);
        (!profile.launches.is_empty()).then_some(profile)
    }

    /// Takes programs for `target` from now on: the copies of later targets are known, and of their tensor cores `mma.sync`.
    pub fn set_target(&mut self, target: Target) {
        self.target = Some(target);
    }

    /// Limits the warp instructions of each launch; a launch that reaches the limit fails with
    /// `CUDA_ERROR_LAUNCH_TIMEOUT` and the lines that its threads were at.
    pub fn set_instruction_limit(&mut self, warp_instructions: u64) {
        self.instruction_limit = Some(warp_instructions);
    }

    /// Warp instructions that all launches so far executed.
    pub fn executed_instructions(&self) -> u64 {
        self.executed
    }

    /// Launches that began: whose program, dimensions and parameters were fit.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// How far the current launch has come; another thread may look.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// Makes a texture object; the handle is what a kernel takes as its 64-bit parameter.
    pub fn create_texture(&mut self, texture: Texture) -> u64 {
        self.objects.add_texture(texture)
    }

    /// Makes a surface object; the handle is what a kernel takes as its 64-bit parameter.
    pub fn create_surface(&mut self, surface: Surface) -> u64 {
        self.objects.add_surface(surface)
    }

    /// Names of the kernels of a module, in order of name.
    pub fn kernels(&self, module: ModuleId) -> Vec<String> {
        self.modules
            .get(module.0)
            .and_then(Option::as_ref)
            .map_or(Vec::new(), |m| m.kernels.keys().cloned().collect())
    }

    fn before_launch(&self, shape: &LaunchShape, program: &Program) -> State {
        let setup = Setup {
            grid: shape.grid,
            threads: shape.block,
            cluster: shape.cluster,
            shared_end: shape.shared_end(program),
        };
        State::new(setup, Memories::new(self.memory.writable()))
    }

    fn range(buffer: Buffer, offset: usize, bytes: usize) -> Result<u64> {
        match offset.checked_add(bytes) {
            Some(end) if end <= buffer.bytes => Ok(buffer.address + offset as u64),
            _ => Err(invalid(format!(
                "{bytes} bytes at offset {offset} of a buffer of {} bytes",
                buffer.bytes
            ))),
        }
    }

    fn module(&self, module: ModuleId) -> Result<&Module> {
        self.modules.get(module.0).and_then(Option::as_ref).ok_or_else(|| {
            DeviceError::with_code(
                "CUDA_ERROR_INVALID_HANDLE",
                "CUDA_ERROR_INVALID_HANDLE: the module is not loaded",
            )
        })
    }
}

/// The checks that the driver makes before a kernel starts.
fn check(program: &Program, launch: &Launch<'_>) -> Result<LaunchShape> {
    let mut cluster = launch.cluster;
    let mut explicit = cluster != [1; 3];
    if let Some(required) = program.required_cluster {
        if explicit && cluster != required {
            return Err(invalid(format!(
                "cluster {cluster:?}, but the kernel was compiled for {required:?}"
            )));
        }
        cluster = required;
        explicit = true;
    }
    let shape = LaunchShape {
        grid: launch.grid,
        block: launch.block,
        cluster,
        explicit_cluster: explicit,
        dynamic_shared: launch.dynamic_shared_bytes,
    };
    let zero = |v: [u32; 3]| v.contains(&0);
    if zero(shape.grid) || zero(shape.block) || zero(shape.cluster) {
        return Err(invalid(format!(
            "grid {:?}, block {:?} or cluster {:?} has a 0",
            shape.grid, shape.block, shape.cluster
        )));
    }
    let threads = shape.block.iter().map(|v| u64::from(*v)).product::<u64>();
    if threads > u64::from(MAX_THREADS) || shape.block[2] > 64 {
        return Err(invalid(format!(
            "block {:?} has {threads} threads; at most 1024 are allowed, 64 in z",
            shape.block
        )));
    }
    if let Some(required) = program.required_block
        && required != shape.block
    {
        return Err(invalid(format!(
            "block {:?}, but the kernel was compiled for {required:?} (.reqntid)",
            shape.block
        )));
    }
    if let Some(most) = program.max_threads
        && threads > u64::from(most)
    {
        return Err(invalid(format!(
            "{threads} threads in a block, but the kernel was compiled for at most {most} (.maxntid)"
        )));
    }
    let size = shape.cluster.iter().map(|v| u64::from(*v)).product::<u64>();
    let divides = (0..3).all(|d| shape.grid[d].is_multiple_of(shape.cluster[d]));
    if size > u64::from(MAX_CLUSTER) || !divides {
        let message = format!(
            "CUDA_ERROR_INVALID_CLUSTER_SIZE: cluster {:?} of grid {:?}; it must divide the grid and have at most {MAX_CLUSTER} blocks",
            shape.cluster, shape.grid
        );
        return Err(DeviceError::with_code("CUDA_ERROR_INVALID_CLUSTER_SIZE", message));
    }
    let shared = u64::from(program.dynamic_shared - SHARED_BASE) + u64::from(launch.dynamic_shared_bytes);
    if launch.dynamic_shared_bytes > 0 && shared > u64::from(MAX_SHARED_BYTES) {
        return Err(invalid(format!(
            "{shared} bytes of shared memory for each block; a block has {MAX_SHARED_BYTES}"
        )));
    }
    let blocks = shape.grid.iter().map(|v| u64::from(*v)).product::<u64>();
    let resident = exec::resident_blocks(&shape, program);
    if launch.cooperative && blocks > resident {
        let message = format!(
            "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: {blocks} blocks of {threads} threads, but {resident} are resident together"
        );
        return Err(DeviceError::with_code(
            "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
            message,
        ));
    }
    if program.params.len() != launch.params.len() {
        return Err(invalid(format!(
            "{} parameters, but the kernel takes {}",
            launch.params.len(),
            program.params.len()
        )));
    }
    for (index, ((_, bytes), given)) in program.params.iter().zip(launch.params).enumerate() {
        if *bytes as usize != given.len() {
            return Err(invalid(format!(
                "parameter {index} has {} bytes, but the kernel takes {bytes}",
                given.len()
            )));
        }
    }
    Ok(shape)
}

fn describe(text: &str, program: &Program, kernel: &str, error: LaunchError) -> DeviceError {
    let code = error.fault.kind.code();
    let mut message = format!("{code}: {}", error.fault.detail);
    if error.line > 0 {
        let source = text.lines().nth(error.line as usize - 1).unwrap_or_default().trim();
        let shown: String = source.chars().take(120).collect();
        message += &format!("\n  at PTX line {}: {shown}", error.line);
        for (i, place) in program.source.places(error.line).enumerate() {
            message += &format!("\n  {} {place}", if i == 0 { "from" } else { "inlined at" });
        }
    }
    match error.place {
        Some((block, thread)) => message += &format!("\n  in `{kernel}`, block {block:?}, thread {thread:?}"),
        None => message += &format!("\n  in `{kernel}`"),
    }
    DeviceError::with_code(code, message)
}

impl Device for Simulator {
    fn name(&self) -> String {
        "simulator".to_owned()
    }

    fn target(&self) -> String {
        self.target.unwrap_or(Target::SM_90A).to_string()
    }

    fn allocate(&mut self, bytes: usize) -> Result<Buffer> {
        let address = self
            .memory
            .allocate(bytes as u64, 256, Access::ReadWrite)
            .map_err(|f| {
                DeviceError::with_code(
                    "CUDA_ERROR_OUT_OF_MEMORY",
                    format!("CUDA_ERROR_OUT_OF_MEMORY: {}", f.detail),
                )
            })?;
        Ok(Buffer { address, bytes })
    }

    fn free(&mut self, buffer: Buffer) -> Result<()> {
        if self.memory.free(buffer.address) {
            Ok(())
        } else {
            Err(invalid(format!("no allocation at {:#x}", buffer.address)))
        }
    }

    fn write(&mut self, buffer: Buffer, offset: usize, bytes: &[u8]) -> Result<()> {
        let address = Self::range(buffer, offset, bytes.len())?;
        self.memory.write(address, bytes).map_err(fault)?;
        self.memory.mark_written(address, bytes.len() as u64);
        Ok(())
    }

    fn read(&mut self, buffer: Buffer, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let address = Self::range(buffer, offset, bytes.len())?;
        self.memory.read(address, bytes).map_err(fault)
    }

    fn load(&mut self, ptx: &str) -> Result<ModuleId> {
        let tree = ptx::parse(ptx).map_err(bad_ptx)?;
        let layout = decode::lay_out(ptx, &tree, &mut self.memory).map_err(bad_ptx)?;
        let mut kernels = BTreeMap::new();
        for (index, function) in layout.functions.iter().enumerate() {
            if function.entry && function.body.is_some() {
                match decode::decode_entry(ptx, &layout, index) {
                    Ok(program) => {
                        kernels.insert(function.name.to_owned(), program);
                    }
                    Err(error) => {
                        layout.allocations.iter().for_each(|base| {
                            self.memory.free(*base);
                        });
                        return Err(bad_ptx(error));
                    }
                }
            }
        }
        let allocations = layout.allocations.clone();
        // Variables without an initialiser are zero.
        for base in &allocations {
            self.memory.mark_written(*base, u64::MAX);
        }
        self.modules.push(Some(Module {
            text: ptx.to_owned(),
            kernels,
            allocations,
        }));
        Ok(ModuleId(self.modules.len() - 1))
    }

    fn unload(&mut self, module: ModuleId) -> Result<()> {
        self.module(module)?;
        if let Some(module) = self.modules[module.0].take() {
            for base in module.allocations {
                self.memory.free(base);
            }
        }
        Ok(())
    }

    fn encode_tensor_map(&self, map: &TensorMap) -> Result<[u8; 128]> {
        Ok(tma::encode(map))
    }

    fn launch(&mut self, module: ModuleId, launch: &Launch<'_>) -> Result<()> {
        self.at_limit = false;
        let module = self.module(module)?;
        let program = module.kernels.get(launch.kernel).ok_or_else(|| {
            let names: Vec<&str> = module.kernels.keys().map(String::as_str).collect();
            DeviceError::with_code(
                "CUDA_ERROR_NOT_FOUND",
                format!(
                    "CUDA_ERROR_NOT_FOUND: no kernel `{}`; the module has {}",
                    launch.kernel,
                    names.join(", ")
                ),
            )
        })?;
        let shape = check(program, launch)?;
        for ((offset, _), bytes) in program.params.iter().zip(launch.params) {
            self.memory
                .initialise(program.param_block + u64::from(*offset), bytes)
                .map_err(fault)?;
        }
        let limit = self.instruction_limit.unwrap_or(DEFAULT_INSTRUCTION_LIMIT);
        let grid = Grid {
            program,
            memory: &self.memory,
            objects: &self.objects,
            shape,
            limit,
            budget: AtomicU64::new(limit),
            left_at_end: AtomicU64::new(limit),
            epoch: AtomicU64::new(0),
            output: Mutex::default(),
            checks: self
                .checks
                .then(|| Checks::new(self.before_launch(&shape, program), program)),
            profile: self.profiled.any().then(|| Recorder::new(self.profiled)),
            started: std::time::Instant::now(),
            progress: &self.progress,
        };
        self.progress.begin(shape.grid.iter().map(|v| u64::from(*v)).product());
        let result = exec::run(&grid);
        let printed = grid.output.into_inner().unwrap_or_else(PoisonError::into_inner);
        let printed: String = printed.into_values().collect();
        let left = grid.budget.into_inner();
        let findings = grid.checks.map(|checks| {
            if let Err(error) = &result {
                checks.report_fault(error);
            }
            let written = checks.written();
            (checks.into_findings(&program.source), written)
        });
        let profile = grid.profile.filter(|_| result.is_ok()).map(|recorder| {
            let text = &module.text;
            LaunchProfile::new(&Listing { program, text }, launch.kernel, &shape, recorder)
        });
        let at_limit = matches!(&result, Err(error) if error.fault.kind == FaultKind::InstructionLimit);
        let result = result.map_err(|error| describe(&module.text, program, launch.kernel, error));
        self.at_limit = at_limit;
        self.profile.launches.extend(profile);
        match findings {
            Some((findings, written)) => {
                self.findings.extend(findings);
                for (base, ranges) in written {
                    self.memory.set_written(base, ranges);
                }
            }
            None => self.memory.mark_all_written(),
        }
        self.launches += 1;
        self.executed += limit - left.min(limit);
        if self.shows_output {
            print!("{printed}");
        }
        self.printed.push_str(&printed);
        result
    }

    fn synchronize(&mut self) -> Result<()> {
        Ok(())
    }

    /// Runs nothing: there is no clock that means anything.
    fn time(&mut self, _: ModuleId, _: &Launch<'_>, _: usize) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }
}
