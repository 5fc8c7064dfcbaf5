//! The last net under LLVM: its fatal errors (`Cannot select`, an unsupported constant) end the process whatever we do,
//! so they end it with the kernel's name, a file that reproduces the failure, and exit code 1.
//!
//! Legality is decided before LLVM is entered; whatever arrives here is a gap in that decision.
use crate::target::PtxTarget;
use inkwell::{
    context::Context, llvm_sys::error_handling::LLVMInstallFatalErrorHandler, memory_buffer::MemoryBuffer,
    module::Module,
};
use std::{
    cell::RefCell,
    ffi::{CStr, c_char, c_int, c_void},
    io::Write,
    path::{Path, PathBuf},
    sync::Once,
};

/// What LLVM is working on in this thread.
struct Job {
    kernels: Vec<String>,
    target: PtxTarget,
    /// The module as it entered LLVM, in bitcode: cheap to make, and untouched by half-done passes.
    bitcode: Vec<u8>,
    directory: PathBuf,
}

thread_local! {
    static JOB: RefCell<Option<Job>> = const { RefCell::new(None) };
}

/// Installs the handler for the whole process; later calls do nothing. [`crate::compile`] does this itself.
pub fn install() {
    static ONCE: Once = Once::new();
    // SAFETY: `on_fatal_error` is a plain function that never returns to LLVM.
    ONCE.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(on_fatal_error)) });
}

/// Says what this thread gives to LLVM until the guard is dropped.
pub(crate) fn working_on(module: &Module<'_>, kernels: Vec<String>, target: &PtxTarget, directory: PathBuf) -> Guard {
    let buffer = module.write_bitcode_to_memory();
    let bitcode = buffer.as_slice()[..buffer.get_size()].to_vec();
    let job = Job {
        kernels,
        target: *target,
        bitcode,
        directory,
    };
    JOB.set(Some(job));
    Guard
}

/// Ends the job of [`working_on`].
pub(crate) struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        JOB.set(None);
    }
}

unsafe extern "C" {
    /// POSIX: ends the process without running destructors, which LLVM's half-done state would not survive.
    fn _exit(status: c_int) -> !;
    /// C's own.
    fn fflush(stream: *mut c_void) -> c_int;
}

extern "C" fn on_fatal_error(reason: *const c_char) {
    // SAFETY: LLVM passes a C string that lives through this call.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    // Taking the job makes a second failure, inside the code below, a plain one.
    let job = JOB
        .try_with(|job| job.try_borrow_mut().ok().and_then(|mut job| job.take()))
        .ok()
        .flatten();
    let mut words = String::new();
    match job {
        Some(job) => {
            let noun = if job.kernels.len() == 1 { "kernel" } else { "kernels" };
            words += &format!(
                "error: LLVM cannot compile {noun} `{}` for {} at PTX {}: {}\n",
                job.kernels.join("`, `"),
                job.target.target(),
                job.target.ptx(),
                reason.trim_end()
            );
            match write_reproducer(&job) {
                Ok(path) => words += &format!("note: the LLVM IR that shows this was written to {}\n", path.display()),
                Err(error) => words += &format!("note: no reproducer was written: {error}\n"),
            }
        }
        None => words += &format!("error: LLVM failed: {}\n", reason.trim_end()),
    }
    end(&words)
}

/// Ends the process with exit code 1.
pub(crate) fn end(words: &str) -> ! {
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().write_all(words.as_bytes());
    // SAFETY: always sound. The null pointer flushes what compiled code has printed through C's own buffers.
    unsafe {
        fflush(std::ptr::null_mut());
        _exit(1)
    }
}

/// Writes `girih-reproducer-KERNEL-PID.ll` as a whole or not at all.
fn write_reproducer(job: &Job) -> Result<PathBuf, String> {
    let context = Context::create();
    let module = Module::parse_bitcode_from_buffer(
        &MemoryBuffer::create_from_memory_range_copy(&job.bitcode, "girih"),
        &context,
    )
    .map_err(|error| error.to_string())?;
    let kernel = job.kernels.first().map_or("module", String::as_str);
    let safe: String = kernel
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
        .collect();
    let path = job
        .directory
        .join(format!("girih-reproducer-{safe}-{}.ll", std::process::id()));
    let features = job.target.features();
    let text = format!(
        "; llc -mcpu={} -mattr={features} THIS_FILE\n{}",
        job.target.target(),
        module.print_to_string()
    );
    write_atomically(&path, text.as_bytes()).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Writes a file so that no reader ever sees a part of it.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    std::fs::write(&partial, bytes)?;
    std::fs::rename(&partial, path).inspect_err(|_| {
        let _ = std::fs::remove_file(&partial);
    })
}
