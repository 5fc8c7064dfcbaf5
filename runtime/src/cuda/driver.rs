//! The driver library itself: whether it is there, and what its errors mean.
use cudarc::driver::{
    result::{self, DriverError},
    sys,
};
use girih_core::device::{DeviceError, Result};
use std::sync::OnceLock;

/// `cuTensorMapEncode*` needs 12.0; the version of event timing that cudarc binds needs 12.8.
const OLDEST_DRIVER: i32 = 12080;

/// Loads and initialises the driver once; the first answer stays.
pub(super) fn ensure() -> Result<()> {
    static STATE: OnceLock<Result<()>> = OnceLock::new();
    STATE.get_or_init(initialise).clone()
}

fn initialise() -> Result<()> {
    // SAFETY: loads the library and lets go of it again.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::new(
            "no CUDA driver (libcuda.so.1) on this machine; install NVIDIA's driver, or run on the simulator",
        ));
    }
    let mut version = 0;
    // SAFETY: writes one integer; legal before cuInit.
    check(
        "cuDriverGetVersion",
        unsafe { sys::cuDriverGetVersion(&mut version) }.result(),
    )?;
    if version < OLDEST_DRIVER {
        return Err(DeviceError::new(format!(
            "the CUDA driver is for CUDA {}, but {} or later is needed; update NVIDIA's driver",
            spell(version),
            spell(OLDEST_DRIVER)
        )));
    }
    context_of(
        check("cuInit", result::init()),
        "the CUDA driver is installed but finds no usable GPU",
    )
}

/// `13.0` for 13000.
pub(super) fn spell(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// CUDA version of the driver, such as 13000.
pub(super) fn version() -> i32 {
    let mut version = 0;
    // SAFETY: writes one integer. On failure it stays 0.
    let _ = unsafe { sys::cuDriverGetVersion(&mut version) };
    version
}

/// Turns the driver's answer into words; `what` says what was tried.
pub(super) fn check<T>(what: &str, answer: std::result::Result<T, DriverError>) -> Result<T> {
    answer.map_err(|error| {
        let text = |answer: std::result::Result<&std::ffi::CStr, DriverError>| {
            answer.map_or_else(
                |_| format!("error {}", error.0 as u32),
                |text| text.to_string_lossy().into_owned(),
            )
        };
        let (name, description) = (text(error.error_name()), text(error.error_string()));
        let what = if what.is_empty() {
            String::new()
        } else {
            format!("{what}: ")
        };
        let hint = hint(error.0).map_or(String::new(), |hint| format!("; {hint}"));
        DeviceError::with_code(name.clone(), format!("{what}{description} ({name}){hint}"))
    })
}

/// Puts `context` before a failure's message.
pub(super) fn context_of<T>(result: Result<T>, context: &str) -> Result<T> {
    result.map_err(|error| DeviceError {
        code: error.code,
        message: format!("{context}: {}", error.message),
    })
}

/// What usually stands behind an error, where the driver's words do not say it.
fn hint(code: sys::CUresult) -> Option<&'static str> {
    use sys::CUresult as E;
    Some(match code {
        E::CUDA_ERROR_ILLEGAL_INSTRUCTION => {
            "often a TMA coordinate off 16 bytes in the innermost dimension, or a TMA store at a negative coordinate"
        }
        E::CUDA_ERROR_MISALIGNED_ADDRESS => "often a TMA shared address that is not a multiple of 128",
        E::CUDA_ERROR_ILLEGAL_ADDRESS => "run under compute-sanitizer, or on the simulator with --check-memory",
        E::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
            "the block needs more registers or shared memory than an SM has; use fewer threads or stages"
        }
        E::CUDA_ERROR_OUT_OF_MEMORY => "use smaller arrays or another GPU",
        E::CUDA_ERROR_NO_DEVICE => "check that nvidia-smi lists one, and CUDA_VISIBLE_DEVICES",
        _ => return None,
    })
}

/// One integer that the driver knows about a device.
pub(super) fn attribute(device: sys::CUdevice, attribute: sys::CUdevice_attribute) -> Result<i32> {
    // SAFETY: reads an attribute of a device that the driver gave.
    check("cuDeviceGetAttribute", unsafe {
        result::device::get_attribute(device, attribute)
    })
}

/// The target that a device runs: architecture-specific from compute capability 9.0 on.
pub(super) fn target(device: sys::CUdevice) -> Result<String> {
    use sys::CUdevice_attribute as A;
    let major = attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Ok(format!("sm_{major}{minor}{}", if major >= 9 { "a" } else { "" }))
}
