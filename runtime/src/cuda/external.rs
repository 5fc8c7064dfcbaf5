//! Launches in a context and on a stream that belong to somebody else, such as PyTorch.
use super::{
    driver::{self, check, ensure},
    launch::Module,
    tensor_map,
};
use cudarc::driver::{result, sys};
use girih_core::{
    device::{DeviceError, Launch, Result},
    tensor_map::TensorMap,
};
use std::ffi::c_void;

/// The context that is current on the calling thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The driver's number for it, never used twice in a process.
    pub id: u64,
}

/// The caller's current context; an error says how to get one.
pub fn current_context() -> Result<Context> {
    ensure()?;
    let context = check("cuCtxGetCurrent", result::ctx::get_current())?.ok_or_else(|| {
        DeviceError::new(
            "no CUDA context is current on this thread; make one first (cuCtxSetCurrent, cudaSetDevice, or in PyTorch any \
             operation on the GPU)",
        )
    })?;
    let mut id = 0;
    // SAFETY: the context is current.
    check("cuCtxGetId", unsafe { sys::cuCtxGetId(context, &mut id) }.result())?;
    Ok(Context { id })
}

impl Context {
    /// The target that the context's device runs. The context must be current.
    pub fn target(&self) -> Result<String> {
        let mut device = 0;
        // SAFETY: writes one integer.
        check("cuCtxGetDevice", unsafe { sys::cuCtxGetDevice(&mut device) }.result())?;
        driver::target(device)
    }

    /// Encodes a tensor map; see [`girih_core::device::Device::encode_tensor_map`].
    pub fn encode_tensor_map(&self, map: &TensorMap) -> Result<[u8; 128]> {
        tensor_map::encode(map)
    }
}

/// A program in the context that was current when it was loaded.
pub struct ExternalModule(Module);

impl ExternalModule {
    /// Compiles PTX into the current context.
    pub fn load(ptx: &str) -> Result<Self> {
        ensure()?;
        Module::load(ptx).map(ExternalModule)
    }

    /// Frees it. Its context must be current.
    pub fn unload(self) -> Result<()> {
        self.0.unload()
    }

    /// Starts a kernel of this module; the launch is not waited for.
    ///
    /// # Safety
    /// The module's context is current, `stream` is null or a `CUstream` of that context, and the pointers among the
    /// parameters are good for what the kernel does.
    pub unsafe fn launch(&mut self, launch: &Launch<'_>, stream: *mut c_void) -> Result<()> {
        let function = self.0.function(launch)?;
        // SAFETY: the caller's promise.
        unsafe { function.launch(launch, stream) }
    }
}
