//! Runs a piece of work in a child process, so that compiled code that faults ends the child and not the program.
use std::{
    io::{Read, Write, pipe},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// What became of the work, where it gave no bytes.
pub(crate) enum Ended {
    /// It said this itself.
    Said(String),
    /// The child ended by itself, after whatever it printed.
    Stopped(String),
    /// There is no child, or nothing was heard of it.
    NotMade(std::io::Error),
}

/// First byte of what the child sends.
const DONE: u8 = 1;
const FAILED: u8 = 2;

/// Runs `work` in a copy of this process and gives its bytes. The copy has one thread, and the locks that others hold at this
/// time for ever: `work` may allocate and compute, but must not compile or log.
pub(crate) fn in_child(work: impl FnOnce() -> Result<Vec<u8>, String>) -> Result<Vec<u8>, Ended> {
    let (mut reader, mut writer) = pipe().map_err(Ended::NotMade)?;
    // SAFETY: the child runs `work` on the one thread that it has, sends bytes, and leaves without unwinding or running
    // exit handlers; the C library keeps its allocator usable across fork.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(Ended::NotMade(std::io::Error::last_os_error())),
        0 => {
            drop(reader);
            let answer =
                catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("internal error: panic".to_owned()));
            let (tag, bytes) = match answer {
                Ok(bytes) => (DONE, bytes),
                Err(message) => (FAILED, message.into_bytes()),
            };
            let sent = writer.write_all(&[tag]).and_then(|()| writer.write_all(&bytes));
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(sent.is_err())) }
        }
        child => {
            drop(writer);
            let mut bytes = Vec::new();
            let read = reader.read_to_end(&mut bytes);
            let status = wait(child);
            read.map_err(Ended::NotMade)?;
            match (bytes.split_first(), libc::WIFSIGNALED(status)) {
                (_, true) => Err(Ended::Stopped(signal(libc::WTERMSIG(status)))),
                (Some((&DONE, rest)), _) => Ok(rest.to_vec()),
                (Some((_, rest)), _) => Err(Ended::Said(String::from_utf8_lossy(rest).into_owned())),
                (None, _) => Err(Ended::Stopped("ended by itself, after what it printed".to_owned())),
            }
        }
    }
}

fn wait(child: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    loop {
        // SAFETY: `child` is a child of this process that nobody else waits for; the status is written there.
        let answer = unsafe { libc::waitpid(child, &mut status, 0) };
        if answer == child || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return status;
        }
    }
}

/// A deadly signal in words.
fn signal(number: libc::c_int) -> String {
    match number {
        libc::SIGFPE => "divides an integer by zero, or its smallest value by -1".to_owned(),
        libc::SIGSEGV | libc::SIGBUS => "reads or writes outside its arrays".to_owned(),
        libc::SIGABRT => {
            "was stopped by the C library: it wrote outside its arrays, or freed what is not its own".to_owned()
        }
        libc::SIGKILL => "was killed; it may have taken more memory than there is".to_owned(),
        other => format!("was ended by signal {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_errors_and_signals_come_back() {
        assert!(matches!(in_child(|| Ok(vec![7; 1 << 20])), Ok(bytes) if bytes == vec![7; 1 << 20]));
        assert!(matches!(in_child(|| Err("no".to_owned())), Err(Ended::Said(text)) if text == "no"));
        // SAFETY: ends the child only.
        let fault = in_child(|| {
            unsafe { libc::raise(libc::SIGFPE) }
                .to_string()
                .parse::<u8>()
                .map(|b| vec![b])
                .map_err(|e| e.to_string())
        });
        assert!(matches!(fault, Err(Ended::Stopped(text)) if text.starts_with("divides an integer by zero")));
        // SAFETY: as above.
        let quiet = in_child(|| unsafe { libc::_exit(3) });
        assert!(matches!(quiet, Err(Ended::Stopped(text)) if text == "ended by itself, after what it printed"));
    }
}
