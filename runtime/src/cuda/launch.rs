//! Modules, functions and launches in whatever context is current.
use super::{
    driver::{check, spell, version},
    parameters::entry_parameters,
};
use cudarc::driver::{result, sys};
use girih_core::device::{DeviceError, Launch, Result};
use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, c_void},
};

/// Bytes for the compiler's messages.
const LOG_BYTES: usize = 16 << 10;
/// Blocks of a cluster that every device with clusters takes.
const PORTABLE_CLUSTER: u32 = 8;

/// A kernel that is ready to be launched.
#[derive(Clone, Copy)]
pub(super) struct Function(sys::CUfunction);

// SAFETY: handles are plain names; the driver API may be called with them from any thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// PTX compiled by the driver into the context that was current then.
pub(super) struct Module {
    handle: sys::CUmodule,
    functions: BTreeMap<String, Entry>,
    /// Bytes of each parameter that each kernel declares.
    parameters: BTreeMap<String, Vec<usize>>,
}

/// A function and what it was set up for.
struct Entry {
    function: Function,
    dynamic_shared_bytes: u32,
}

// SAFETY: as for `Function`.
unsafe impl Send for Module {}

impl Module {
    /// Compiles PTX; the driver's log is in the error.
    pub(super) fn load(ptx: &str) -> Result<Self> {
        let text = CString::new(ptx).map_err(|_| DeviceError::new("the PTX text contains a zero byte"))?;
        let mut log = vec![0u8; LOG_BYTES];
        let mut options = [
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        // The driver takes the size in place of a pointer.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), (LOG_BYTES - 1) as *mut c_void];
        let mut handle = std::ptr::null_mut();
        // SAFETY: the text ends in a zero; two options with two values; the log outlives the call.
        let answer = unsafe {
            sys::cuModuleLoadDataEx(
                &mut handle,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if let Err(error) = check("the CUDA driver cannot compile the PTX", answer.result()) {
            let log =
                CStr::from_bytes_until_nul(&log).map_or(String::new(), |log| log.to_string_lossy().trim().to_owned());
            let mut message = error.message;
            if answer == sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION {
                message += &format!(
                    "; the driver is for CUDA {}: update it, or compile for an older PTX",
                    spell(version())
                );
            }
            if !log.is_empty() {
                message += &format!("\n{log}");
            }
            return Err(DeviceError {
                code: error.code,
                message,
            });
        }
        Ok(Module {
            handle,
            functions: BTreeMap::new(),
            parameters: entry_parameters(ptx),
        })
    }

    /// Frees the module in the current context.
    pub(super) fn unload(self) -> Result<()> {
        // SAFETY: loaded by `load`, and consumed here.
        check("cuModuleUnload", unsafe { result::module::unload(self.handle) })
    }

    /// The kernel of a launch, set up for the launch's shared memory and cluster.
    pub(super) fn function(&mut self, launch: &Launch<'_>) -> Result<Function> {
        if let Some(entry) = self.functions.get(launch.kernel)
            && entry.dynamic_shared_bytes == launch.dynamic_shared_bytes
        {
            check_parameters(launch, self.parameters.get(launch.kernel))?;
            return Ok(entry.function);
        }
        let name = CString::new(launch.kernel).map_err(|_| DeviceError::new("a kernel's name contains a zero byte"))?;
        // SAFETY: the module is loaded.
        let handle = unsafe { result::module::get_function(self.handle, name) };
        let handle = check(&format!("the module has no kernel `{}`", launch.kernel), handle)?;
        let set = |what: &str, attribute, value: u32| {
            let what = format!("kernel `{}`: {what}", launch.kernel);
            // SAFETY: the function belongs to the loaded module.
            check(
                &what,
                unsafe { sys::cuFuncSetAttribute(handle, attribute, value as i32) }.result(),
            )
        };
        use sys::CUfunction_attribute as A;
        if launch.dynamic_shared_bytes > 0 {
            set(
                &format!("{} bytes of dynamic shared memory", launch.dynamic_shared_bytes),
                A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                launch.dynamic_shared_bytes,
            )?;
        }
        let cluster: u32 = launch.cluster.iter().product();
        if cluster > PORTABLE_CLUSTER {
            set(
                &format!("a cluster of {cluster} blocks"),
                A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                1,
            )?;
        }
        let entry = Entry {
            function: Function(handle),
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
        };
        check_parameters(launch, self.parameters.get(launch.kernel))?;
        let function = entry.function;
        self.functions.insert(launch.kernel.to_owned(), entry);
        Ok(function)
    }
}

/// The driver reads as many parameters as the kernel has, whatever the launch gives, so the two must agree.
fn check_parameters(launch: &Launch<'_>, expected: Option<&Vec<usize>>) -> Result<()> {
    // A kernel that the driver finds and the text does not declare cannot be: names are looked up exactly.
    let expected = expected.map_or(&[][..], Vec::as_slice);
    if launch.params.iter().map(Vec::len).eq(expected.iter().copied()) {
        return Ok(());
    }
    let given: Vec<usize> = launch.params.iter().map(Vec::len).collect();
    Err(DeviceError::new(format!(
        "kernel `{}` has parameters of {expected:?} bytes, but the launch gives {given:?}; PTX and manifest do not belong \
         together, compile the file again",
        launch.kernel
    )))
}

impl Function {
    /// Starts the kernel on `stream` (null is the legacy default stream).
    ///
    /// # Safety
    /// The function's module is loaded in the current context, the stream is one of that context, and the parameters are
    /// those that the kernel has.
    pub(super) unsafe fn launch(self, launch: &Launch<'_>, stream: *mut c_void) -> Result<()> {
        // SAFETY: all-zero is a valid value of this plain C structure: the attribute IGNORE.
        let mut attributes: [sys::CUlaunchAttribute; 2] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        if launch.cluster != [1; 3] {
            let [x, y, z] = launch.cluster;
            attributes[count].id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attributes[count].value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            count += 1;
        }
        if launch.cooperative {
            attributes[count].id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
            attributes[count].value.cooperative = 1;
            count += 1;
        }
        let config = sys::CUlaunchConfig {
            gridDimX: launch.grid[0],
            gridDimY: launch.grid[1],
            gridDimZ: launch.grid[2],
            blockDimX: launch.block[0],
            blockDimY: launch.block[1],
            blockDimZ: launch.block[2],
            sharedMemBytes: launch.dynamic_shared_bytes,
            hStream: stream.cast(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: count as u32,
        };
        // The driver reads each parameter during the call and writes none.
        let mut params: Vec<*mut c_void> = launch
            .params
            .iter()
            .map(|bytes| bytes.as_ptr().cast_mut().cast::<c_void>())
            .collect();
        // SAFETY: config, attributes and parameters live across the call; the rest is the caller's promise.
        let answer = unsafe { sys::cuLaunchKernelEx(&config, self.0, params.as_mut_ptr(), std::ptr::null_mut()) };
        answer.result().or_else(|error| {
            let [grid, block, cluster] =
                [launch.grid, launch.block, launch.cluster].map(|[x, y, z]| format!("{x}x{y}x{z}"));
            let what = format!(
                "launching `{}` (grid {grid}, block {block}, cluster {cluster}, {} bytes of dynamic shared memory)",
                launch.kernel, launch.dynamic_shared_bytes
            );
            check(&what, Err(error))
        })
    }
}
