//! MLIR bytecode is read in a process of its own first: its reader believes the counts that stand in it, and a corrupt one
//! asks for any amount of memory, which ends the process.
use crate::{
    failure::{Failure, Result},
    isolate::{Ended, in_child},
    registry,
};
use girih_ir::module;

/// First bytes of MLIR bytecode.
const MAGIC: &[u8] = b"ML\xefR";
/// Memory that reading bytecode may take beside what the process has: so much, and for each byte so much more.
#[cfg(target_os = "linux")]
const MOST_BYTES: u64 = 1 << 30;
#[cfg(target_os = "linux")]
const MOST_TIMES: u64 = 64;

/// Refuses bytecode that cannot be read in a bounded amount of memory. What is wrong with it otherwise is left to its reader.
pub(crate) fn check(content: &[u8], name: &str) -> Result<()> {
    if !content.starts_with(MAGIC) {
        return Ok(());
    }
    let read = in_child(|| {
        limit_memory(content.len() as u64);
        silence();
        let context = registry::context();
        // The child has one thread.
        context.enable_multi_threading(false);
        let (read, _) = module::collect_diagnostics(&context, || module::parse(&context, content, name).map(drop));
        Ok(vec![u8::from(read.is_ok())])
    });
    match read {
        Err(Ended::Stopped(_)) => Err(Failure::new(format!(
            "{name}: the bytecode is corrupt: a count in it asks for more memory than there is; write the file again"
        ))),
        Err(Ended::Said(_)) | Ok(_) => Ok(()),
    }
}

/// Lets allocations fail that are far beyond what a program needs.
fn limit_memory(#[cfg_attr(not(target_os = "linux"), allow(unused))] content_bytes: u64) {
    #[cfg(target_os = "linux")]
    {
        let pages = std::fs::read_to_string("/proc/self/statm");
        let pages: Option<u64> = pages.ok().and_then(|text| text.split(' ').next()?.parse().ok());
        // SAFETY: asks for a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        if let (Some(pages), Ok(page)) = (pages, u64::try_from(page)) {
            let own = MOST_BYTES.saturating_add(content_bytes.saturating_mul(MOST_TIMES));
            let most = pages.saturating_mul(page).saturating_add(own);
            let limit = libc::rlimit {
                rlim_cur: most,
                rlim_max: most,
            };
            // SAFETY: the structure is complete; a refusal leaves the process without a limit, as it was.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
        }
    }
}

/// Keeps what a dying reader says from standard error.
fn silence() {
    if let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        use std::os::fd::AsRawFd;
        // SAFETY: both descriptors are open.
        unsafe { libc::dup2(null.as_raw_fd(), libc::STDERR_FILENO) };
    }
}
