//! The CUDA driver as a [`Device`]. Only this folder speaks cudarc.
//!
//! The driver is loaded when a device is first asked for. Without one, [`CudaDevice::new`] says so and everything else
//! works. Names of errors and attributes are the driver API's.
mod driver;
mod external;
mod launch;
mod parameters;
mod tensor_map;
mod timing;

pub use external::{Context, ExternalModule, current_context};

use cudarc::driver::{result, sys};
use driver::{check, context_of};
use girih_core::{
    device::{Buffer, Device, DeviceError, Launch, ModuleId, Result},
    tensor_map::TensorMap,
};
use launch::Module;

/// One GPU through its primary context, on the legacy default stream, so that copies and launches keep their order.
pub struct CudaDevice {
    ordinal: i32,
    handle: sys::CUdevice,
    context: sys::CUcontext,
    name: String,
    target: String,
    modules: Vec<Option<Module>>,
    flush: Option<Buffer>,
    cold_cache: bool,
}

/// Number of CUDA devices; an error says why there are none to count.
pub fn device_count() -> Result<usize> {
    driver::ensure()?;
    let count = check("cuDeviceGetCount", result::device::get_count())?;
    Ok(usize::try_from(count).unwrap_or(0))
}

impl CudaDevice {
    /// Device `ordinal`, as the driver counts.
    pub fn new(ordinal: usize) -> Result<Self> {
        let count = device_count()?;
        if ordinal >= count {
            return Err(DeviceError::new(format!(
                "there is no CUDA device {ordinal}; the driver sees {count} (CUDA_VISIBLE_DEVICES may hide some)"
            )));
        }
        let ordinal = ordinal as i32;
        let handle = check("cuDeviceGet", result::device::get(ordinal))?;
        let name = check("cuDeviceGetName", result::device::get_name(handle))?;
        let target = driver::target(handle)?;
        // SAFETY: `handle` comes from the driver; the context is released once, when this device is dropped.
        let context = check("cuDevicePrimaryCtxRetain", unsafe {
            result::primary_ctx::retain(handle)
        })?;
        let device = CudaDevice {
            ordinal,
            handle,
            context,
            name,
            target,
            modules: Vec::new(),
            flush: None,
            cold_cache: true,
        };
        device.enter()?;
        tracing::debug!(ordinal, device.name, device.target, "CUDA device");
        Ok(device)
    }

    /// Whether [`Device::time`] empties the L2 cache before each launch, which is how it begins.
    pub fn set_cold_cache(&mut self, cold: bool) {
        self.cold_cache = cold;
    }

    /// Makes the device's context current; another device, or another library on this thread, may have changed it.
    fn enter(&self) -> Result<()> {
        // SAFETY: the context was retained in `new` and is released when this device is dropped.
        check("cuCtxSetCurrent", unsafe { result::ctx::set_current(self.context) })
    }

    fn module(&mut self, id: ModuleId) -> Result<&mut Module> {
        let unknown = || DeviceError::new(format!("module {} is not loaded", id.0));
        self.modules.get_mut(id.0).and_then(Option::as_mut).ok_or_else(unknown)
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        report("cuCtxSetCurrent", self.enter());
        for module in self.modules.drain(..).flatten() {
            report("cuModuleUnload", module.unload());
        }
        if let Some(buffer) = self.flush.take() {
            report("cuMemFree", self.free(buffer));
        }
        // SAFETY: retained in `new`, released nowhere else.
        report(
            "cuDevicePrimaryCtxRelease",
            check("release", unsafe { result::primary_ctx::release(self.handle) }),
        );
    }
}

/// Errors that nobody waits for.
fn report(what: &str, result: Result<()>) {
    if let Err(error) = result {
        tracing::debug!("{what}: {error}");
    }
}

/// The part of a buffer that a copy covers, checked.
fn slice(buffer: Buffer, offset: usize, length: usize) -> Result<u64> {
    let fits = offset.checked_add(length).is_some_and(|end| end <= buffer.bytes);
    fits.then(|| buffer.address + offset as u64).ok_or_else(|| {
        DeviceError::new(format!(
            "a copy of {length} bytes at {offset} leaves a buffer of {} bytes",
            buffer.bytes
        ))
    })
}

impl Device for CudaDevice {
    fn name(&self) -> String {
        format!("{} (CUDA device {})", self.name, self.ordinal)
    }

    fn target(&self) -> String {
        self.target.clone()
    }

    fn allocate(&mut self, bytes: usize) -> Result<Buffer> {
        self.enter()?;
        // The driver refuses 0 bytes.
        // SAFETY: a context is current.
        let address = unsafe { result::malloc_sync(bytes.max(1)) };
        let address = check(&format!("allocating {bytes} bytes of device memory"), address)?;
        Ok(Buffer { address, bytes })
    }

    fn free(&mut self, buffer: Buffer) -> Result<()> {
        self.enter()?;
        // SAFETY: the address is one that `allocate` gave; the driver refuses any other.
        check("cuMemFree", unsafe { result::free_sync(buffer.address) })
    }

    fn write(&mut self, buffer: Buffer, offset: usize, bytes: &[u8]) -> Result<()> {
        let address = slice(buffer, offset, bytes.len())?;
        self.enter()?;
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the range lies in the buffer.
        check(&format!("copying {} bytes to the device", bytes.len()), unsafe {
            result::memcpy_htod_sync(address, bytes)
        })
    }

    fn read(&mut self, buffer: Buffer, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let address = slice(buffer, offset, bytes.len())?;
        self.enter()?;
        if bytes.is_empty() {
            return Ok(());
        }
        let what = format!("copying {} bytes from the device", bytes.len());
        // SAFETY: the range lies in the buffer.
        check(&what, unsafe { result::memcpy_dtoh_sync(bytes, address) })
    }

    fn load(&mut self, ptx: &str) -> Result<ModuleId> {
        self.enter()?;
        self.modules.push(Some(Module::load(ptx)?));
        Ok(ModuleId(self.modules.len() - 1))
    }

    fn unload(&mut self, module: ModuleId) -> Result<()> {
        self.enter()?;
        self.module(module)?;
        self.modules[module.0].take().map_or(Ok(()), Module::unload)
    }

    fn encode_tensor_map(&self, map: &TensorMap) -> Result<[u8; 128]> {
        tensor_map::encode(map)
    }

    fn launch(&mut self, module: ModuleId, launch: &Launch<'_>) -> Result<()> {
        self.enter()?;
        let function = self.module(module)?.function(launch)?;
        // SAFETY: the function belongs to a module of the current context; null is the legacy default stream.
        unsafe { function.launch(launch, std::ptr::null_mut()) }
    }

    fn synchronize(&mut self) -> Result<()> {
        self.enter()?;
        let done = context_of(check("", result::ctx::synchronize()), "the kernel failed");
        flush_printed();
        done
    }

    fn time(&mut self, module: ModuleId, launch: &Launch<'_>, repetitions: usize) -> Result<Option<Vec<f64>>> {
        self.enter()?;
        let function = self.module(module)?.function(launch)?;
        let flush = if self.cold_cache {
            Some(self.flush_buffer()?)
        } else {
            None
        };
        timing::time(&function, launch, repetitions, flush).map(Some)
    }
}

/// Shows what kernels printed: the driver writes it to C's standard output, which keeps it where that is no terminal.
fn flush_printed() {
    unsafe extern "C" {
        fn fflush(stream: *mut std::ffi::c_void) -> std::ffi::c_int;
    }
    // SAFETY: C's library flushes all streams for a null pointer; no stream is ours.
    unsafe { fflush(std::ptr::null_mut()) };
}

impl CudaDevice {
    /// Memory twice as large as the L2 cache; overwriting it leaves nothing else in there.
    fn flush_buffer(&mut self) -> Result<Buffer> {
        if let Some(buffer) = self.flush {
            return Ok(buffer);
        }
        let l2 = driver::attribute(self.handle, sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?;
        let buffer = self.allocate(2 * usize::try_from(l2).unwrap_or(0).max(1 << 20))?;
        self.flush = Some(buffer);
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests;
