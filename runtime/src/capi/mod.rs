//! The C interface, as `include/girih_runtime.h` documents it.
//!
//! Every function ends in `error::guard` or is too simple to fail: no panic and no error leaves it otherwise.
#![allow(non_camel_case_types)]
mod cache;
mod error;
mod types;

use crate::{
    error::{Error, Result},
    launch::Plan,
    program::Program,
};
use cache::State;
use error::{Failure, guard, with_last_error};
use girih_core::manifest::{Arg, Kernel};
use std::{
    ffi::{CStr, CString, c_char, c_void},
    path::Path,
    sync::{Mutex, PoisonError},
};
pub use types::{Status, girih_arg_info, girih_value};

/// `girih_program` of the header.
pub struct girih_program {
    program: Program,
    /// Names of kernels, each with those of its arguments.
    names: Vec<(CString, Vec<CString>)>,
    state: Mutex<State>,
}

impl girih_program {
    fn new(program: Program) -> std::result::Result<Self, Failure> {
        let c_string = |name: &str| {
            CString::new(name)
                .map_err(|_| Failure::new(Status::InvalidProgram, "a name in the manifest has a zero byte"))
        };
        let names = |kernel: &Kernel| {
            let arguments = kernel
                .args
                .iter()
                .map(|arg| c_string(arg.name()))
                .collect::<std::result::Result<_, _>>()?;
            Ok((c_string(&kernel.name)?, arguments))
        };
        let names = program
            .manifest()
            .kernels
            .iter()
            .map(names)
            .collect::<std::result::Result<_, Failure>>()?;
        Ok(girih_program {
            program,
            names,
            state: Mutex::default(),
        })
    }

    fn kernel(&self, index: usize) -> std::result::Result<&Kernel, Failure> {
        let kernels = &self.program.manifest().kernels;
        let message = || format!("kernel {index} is asked for, but the program has {}", kernels.len());
        kernels
            .get(index)
            .ok_or_else(|| Failure::new(Status::InvalidCall, message()))
    }
}

/// # Safety
/// `program` is null or comes from this library and was not freed.
unsafe fn program_ref<'a>(program: *const girih_program) -> std::result::Result<&'a girih_program, Failure> {
    // SAFETY: the caller's promise.
    unsafe { program.as_ref() }.ok_or_else(|| Failure::new(Status::InvalidCall, "the program is null"))
}

/// # Safety
/// `out` is null or writable.
unsafe fn give(program: Result<Program>, out: *mut *mut girih_program) -> std::result::Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::new(Status::InvalidCall, "the place for the program is null"));
    }
    let boxed = Box::new(girih_program::new(program?)?);
    // SAFETY: not null, and writable by the caller's promise.
    unsafe { *out = Box::into_raw(boxed) };
    Ok(())
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn girih_abi_version() -> u32 {
    types::ABI_VERSION
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn girih_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn girih_last_error() -> *const c_char {
    with_last_error(CStr::as_ptr)
}

/// See the header.
///
/// # Safety
/// `ptx` points to `size` readable bytes, `program` to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_program_from_text(
    ptx: *const c_char,
    size: usize,
    program: *mut *mut girih_program,
) -> Status {
    guard(|| {
        if ptx.is_null() {
            return Err(Failure::new(Status::InvalidCall, "the PTX text is null"));
        }
        // SAFETY: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts(ptx.cast::<u8>(), size) };
        // A terminating zero is often counted.
        let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Failure::new(Status::InvalidProgram, "the PTX text is not UTF-8"))?;
        // SAFETY: the caller's promise.
        unsafe { give(Program::from_text(text), program) }
    })
}

/// See the header.
///
/// # Safety
/// `path` is a string that ends in a zero byte, `program` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_program_from_file(path: *const c_char, program: *mut *mut girih_program) -> Status {
    guard(|| {
        if path.is_null() {
            return Err(Failure::new(Status::InvalidCall, "the path is null"));
        }
        // SAFETY: the caller's promise.
        let path = unsafe { CStr::from_ptr(path) };
        let path = path
            .to_str()
            .map_err(|_| Failure::new(Status::InvalidCall, "the path is not UTF-8"))?;
        // SAFETY: the caller's promise.
        unsafe { give(Program::load(Path::new(path)), program) }
    })
}

/// See the header.
///
/// # Safety
/// `program` is null or comes from this library, was not freed, and is used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_program_free(program: *mut girih_program) {
    if program.is_null() {
        return;
    }
    guard(|| {
        // SAFETY: the caller's promise.
        let program = unsafe { Box::from_raw(program) };
        program
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .unload();
        Ok(())
    });
}

/// See the header.
///
/// # Safety
/// `program` is null or a live program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_kernel_count(program: *const girih_program) -> usize {
    // SAFETY: the caller's promise.
    unsafe { program.as_ref() }.map_or(0, |program| program.names.len())
}

/// See the header.
///
/// # Safety
/// `program` is null or a live program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_kernel_name(program: *const girih_program, kernel: usize) -> *const c_char {
    // SAFETY: the caller's promise.
    let program = unsafe { program.as_ref() };
    program
        .and_then(|program| program.names.get(kernel))
        .map_or(std::ptr::null(), |(name, _)| name.as_ptr())
}

/// See the header.
///
/// # Safety
/// `program` is null or a live program, `name` null or a string, `kernel` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_kernel_find(
    program: *const girih_program,
    name: *const c_char,
    kernel: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let program = unsafe { program_ref(program) }?;
        // SAFETY: the caller's promise.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy());
        let found = program.program.kernel(name.as_deref())?;
        let index = program
            .program
            .manifest()
            .kernels
            .iter()
            .position(|other| other.name == found.name);
        // SAFETY: the caller's promise.
        match (unsafe { kernel.as_mut() }, index) {
            (Some(out), Some(index)) => *out = index,
            _ => return Err(Failure::new(Status::InvalidCall, "the place for the index is null")),
        }
        Ok(())
    })
}

/// See the header.
///
/// # Safety
/// `program` is null or a live program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_arg_count(program: *const girih_program, kernel: usize) -> usize {
    // SAFETY: the caller's promise.
    let program = unsafe { program.as_ref() };
    program
        .and_then(|program| program.names.get(kernel))
        .map_or(0, |(_, arguments)| arguments.len())
}

/// See the header.
///
/// # Safety
/// `program` is null or a live program, `info` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_arg_info_get(
    program: *const girih_program,
    kernel: usize,
    arg: usize,
    info: *mut girih_arg_info,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let program = unsafe { program_ref(program) }?;
        let args: &[Arg] = &program.kernel(kernel)?.args;
        let message = || format!("argument {arg} is asked for, but the kernel has {}", args.len());
        let found = args
            .get(arg)
            .ok_or_else(|| Failure::new(Status::InvalidCall, message()))?;
        let filled = types::arg_info(found, program.names[kernel].1[arg].as_ptr())?;
        // SAFETY: the caller's promise.
        let out = unsafe { info.as_mut() };
        *out.ok_or_else(|| Failure::new(Status::InvalidCall, "the place for the argument's info is null"))? = filled;
        Ok(())
    })
}

/// See the header.
///
/// # Safety
/// `program` is null or a live program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_program_load(program: *mut girih_program) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let program = unsafe { program_ref(program) }?;
        let mut state = program.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.load(&program.program)
    })
}

/// See the header.
///
/// # Safety
/// `program` is null or a live program; `values` points to `count` values whose lists are as long as their ranks; the
/// addresses among them are good for what the kernel does, and the stream is null or one of the current context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_launch(
    program: *mut girih_program,
    kernel: usize,
    values: *const girih_value,
    count: usize,
    stream: *mut c_void,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let program = unsafe { program_ref(program) }?;
        let found = program.kernel(kernel)?;
        // SAFETY: the caller's promise.
        let values = unsafe { types::values(values, count) }?;
        let mut state = program.state.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's promise.
        unsafe { state.launch(&program.program, kernel, found, values, stream) }
    })
}

/// See the header.
///
/// # Safety
/// As for [`girih_launch`], but addresses are not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn girih_check(
    program: *mut girih_program,
    kernel: usize,
    values: *const girih_value,
    count: usize,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let program = unsafe { program_ref(program) }?;
        let found = program.kernel(kernel)?;
        // SAFETY: the caller's promise.
        let values = unsafe { types::values(values, count) }?;
        // SAFETY: the caller's promise.
        let values = unsafe { types::decode(values) }?;
        Plan::new(found, &program.program.manifest().target, &values)?;
        Ok(())
    })
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error {
            Error::File { .. } | Error::Manifest(_) => Status::InvalidProgram,
            Error::Arguments { .. } | Error::Launch { .. } | Error::Grid { .. } | Error::Spec(_) => {
                Status::InvalidArgument
            }
            Error::Usage(_) | Error::Reference(_) => Status::InvalidCall,
            Error::Device(_) => Status::DeviceError,
        };
        Failure::new(status, error.to_string())
    }
}

#[cfg(test)]
mod tests;
