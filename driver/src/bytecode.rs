//! MLIR bytecode is read in a process of its own first: its reader believes the counts that stand in it, and a corrupt one
//! asks for any amount of memory, which ends the process.
//!
//! That process is the same program, started once more with `FLAG`. A copy of the running one would have the locks that its
//! other threads hold, and wait for them for ever. Where that cannot be had, because the program does not [`answer`] the flag
//! or the system starts no process, bytecode is read without the check.
use crate::{
    STACK_BYTES,
    failure::{Failure, Result},
    file, registry,
};
use girih_ir::module;
use std::{
    env,
    io::{self, Write},
    path::Path,
    process::{self, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// First bytes of MLIR bytecode.
const MAGIC: &[u8] = b"ML\xefR";
/// The one argument with which a program reads bytecode from standard input, and says nothing.
const FLAG: &str = "--read-bytecode-and-exit";
/// Whether this program answers it.
static ANSWERS: AtomicBool = AtomicBool::new(false);
/// Memory that reading bytecode may take beside what the process has: so much, and for each byte so much more.
#[cfg(target_os = "linux")]
const MOST_BYTES: u64 = 1 << 30;
#[cfg(target_os = "linux")]
const MOST_TIMES: u64 = 64;

/// What a program does first that wants corrupt bytecode to be refused: where it was started to read some, it does and ends.
pub fn answer() {
    let mut args = env::args_os().skip(1);
    if args.next().is_some_and(|arg| arg == FLAG) && args.next().is_none() {
        // As deep a stack as the bytecode is read with afterwards.
        let reader = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(read_standard_input);
        let read = reader.is_ok_and(|reader| reader.join().is_ok());
        process::exit(i32::from(!read));
    }
    ANSWERS.store(true, Ordering::Relaxed);
}

/// Refuses bytecode that cannot be read in a bounded amount of memory. What is wrong with it otherwise is left to its reader.
pub(crate) fn check(content: &[u8], name: &str) -> Result<()> {
    if !content.starts_with(MAGIC) || !ANSWERS.load(Ordering::Relaxed) {
        return Ok(());
    }
    let what = match read_apart(content).map(Read::from) {
        Ok(Read::Ended) => return Ok(()),
        Ok(Read::TookAllMemory) => "a count in it asks for more memory than there is",
        Ok(Read::Crashed) => "its reader crashes",
        Err(error) => {
            tracing::debug!(%error, name, "bytecode is read without a check");
            return Ok(());
        }
    };
    Err(Failure::new(format!(
        "{name}: the bytecode is corrupt: {what}; write the file again"
    )))
}

/// What became of the process that read.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    /// It came to an end, with an error or without, or somebody ended it.
    Ended,
    /// Memory that the limit does not allow.
    TookAllMemory,
    /// The processor stopped it.
    Crashed,
}

impl From<ExitStatus> for Read {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::process::ExitStatusExt;
            match status.signal() {
                Some(libc::SIGABRT) => return Read::TookAllMemory,
                Some(libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGTRAP | libc::SIGFPE) => {
                    return Read::Crashed;
                }
                _ => {}
            }
        }
        let _ = status;
        Read::Ended
    }
}

/// Reads bytecode in a process of its own. The error says why there is none.
fn read_apart(content: &[u8]) -> io::Result<ExitStatus> {
    let mut child = Command::new(env::current_exe()?)
        .arg(FLAG)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        // What a dying reader says is of no use.
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut to) = child.stdin.take() {
        // One that has ended before it took all says why by its status.
        let _ = to.write_all(content);
    }
    child.wait()
}

/// The child's work.
fn read_standard_input() {
    let Ok(content) = file::read(Path::new("-")) else {
        return;
    };
    limit_memory(content.len() as u64);
    let context = registry::context();
    context.enable_multi_threading(false);
    let _ = module::collect_diagnostics(&context, || module::parse(&context, &content, "-").map(drop));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_what_the_bytecode_did_is_held_against_it() {
        use std::os::unix::process::ExitStatusExt;
        let read = |status| Read::from(ExitStatus::from_raw(status));
        assert_eq!(read(libc::SIGABRT), Read::TookAllMemory);
        assert_eq!(read(libc::SIGSEGV), Read::Crashed);
        // Another's signal, a loader that finds no library, a panic.
        for status in [libc::SIGKILL, libc::SIGTERM, 127 << 8, 101 << 8, 0] {
            assert_eq!(read(status), Read::Ended);
        }
    }

    #[test]
    fn a_program_that_does_not_answer_reads_without_a_check() {
        // The test's own program is one: started once more, it would run all tests.
        assert!(!ANSWERS.load(Ordering::Relaxed));
        check(b"ML\xefR and no more", "x.mlirbc").unwrap();
    }

    #[test]
    fn threads_read_bytecode_at_the_same_time() {
        use crate::compile::{Emit, Options, compile};
        // `module {}`.
        let module = b"ML\xefR\rMLIR22.1.8\0\x01\r\x03\x01\x03\x01\x03\x07\x03\r\x05\x01\x01\x05\x13\x0b\x02\r\x17\x03\x03\x03\x05\x05\x04\x17\x05\x01\
            P\x01\x01\x07\x04\x07\x03\x01\x01\x06\x03\x01\x05\x01\x007\x07\x11\x0f\x11builtin\0module\0<stdin>\0\x08\t\x03\x05\x01\x01";
        let options = Options {
            emit: Emit::Tile,
            ..Options::default()
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..8 {
                        let compiled = compile(module, "x.mlirbc", &options).expect("it is read");
                        assert!(compiled.content.starts_with(b"module"));
                    }
                });
            }
        });
    }
}
