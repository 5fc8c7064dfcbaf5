//! What a thing that launches PTX must be able to do. The CUDA driver (`girih-runtime`) and the simulator (`girih-sim`)
//! are the two implementations; the code that checks arguments and the manifest knows neither.
use crate::tensor_map::TensorMap;
use thiserror::Error;

/// A failure of a device, in words for a person; `code` is the CUDA driver's name for it where there is one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct DeviceError {
    /// Such as `CUDA_ERROR_ILLEGAL_INSTRUCTION`.
    pub code: Option<String>,
    /// What happened, where, and what to do.
    pub message: String,
}

impl DeviceError {
    /// An error without a driver code.
    pub fn new(message: impl Into<String>) -> Self {
        DeviceError {
            code: None,
            message: message.into(),
        }
    }
    /// An error with the driver's name for it.
    pub fn with_code(code: impl Into<String>, message: impl Into<String>) -> Self {
        DeviceError {
            code: Some(code.into()),
            message: message.into(),
        }
    }
}

/// Result of a device call.
pub type Result<T> = std::result::Result<T, DeviceError>;

/// A range of device global memory. Freed by [`Device::free`] only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// Device address of the first byte, at least 256-byte aligned.
    pub address: u64,
    /// Length in bytes; may be 0.
    pub bytes: usize,
}

/// A loaded PTX module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub usize);

/// One launch of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch<'a> {
    /// Entry name in the PTX.
    pub kernel: &'a str,
    /// Blocks in x, y, z; none is 0.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y, z; all 1 when there are no clusters.
    pub cluster: [u32; 3],
    /// Dynamic shared memory, bytes for each block.
    pub dynamic_shared_bytes: u32,
    /// Whether all blocks must be resident together.
    pub cooperative: bool,
    /// The bytes of each PTX parameter, in order.
    pub params: &'a [Vec<u8>],
}

/// A device that runs PTX. All calls are synchronous as seen by the caller except [`Device::launch`], whose errors may
/// appear at [`Device::synchronize`].
pub trait Device {
    /// For people, such as `NVIDIA H200 (CUDA device 0)` or `simulator`.
    fn name(&self) -> String;
    /// Target that the device runs, such as `sm_90a`.
    fn target(&self) -> String;
    /// Allocates `bytes` of global memory, content unspecified.
    fn allocate(&mut self, bytes: usize) -> Result<Buffer>;
    /// Frees what [`Device::allocate`] gave.
    fn free(&mut self, buffer: Buffer) -> Result<()>;
    /// Copies from the host into a buffer at a byte offset.
    fn write(&mut self, buffer: Buffer, offset: usize, bytes: &[u8]) -> Result<()>;
    /// Copies from a buffer at a byte offset to the host.
    fn read(&mut self, buffer: Buffer, offset: usize, bytes: &mut [u8]) -> Result<()>;
    /// Loads PTX text.
    fn load(&mut self, ptx: &str) -> Result<ModuleId>;
    /// Frees a module.
    fn unload(&mut self, module: ModuleId) -> Result<()>;
    /// Encodes a tensor map that [`TensorMap`]'s validator accepted into the device's own 128 bytes.
    fn encode_tensor_map(&self, map: &TensorMap) -> Result<[u8; 128]>;
    /// Starts a kernel.
    fn launch(&mut self, module: ModuleId, launch: &Launch<'_>) -> Result<()>;
    /// Waits for all that was launched.
    fn synchronize(&mut self) -> Result<()>;
    /// Runs a launch `repetitions` times and gives the seconds of each by the device's own clock, or `None` where the
    /// device has no meaningful clock.
    fn time(&mut self, module: ModuleId, launch: &Launch<'_>, repetitions: usize) -> Result<Option<Vec<f64>>>;
}
