//! One line on the terminal that says how far a long simulation has come.
use girih_sim::progress::Progress;
use std::{
    io::{Write, stderr},
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::{JoinHandle, spawn},
    time::Duration,
};

/// A launch that takes less shows nothing.
const FIRST: Duration = Duration::from_secs(1);
const NEXT: Duration = Duration::from_millis(200);

/// The line, which is renewed from a thread of its own until this is dropped, and then wiped.
pub(super) struct Display {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Starts to show on standard error, which is a terminal.
    pub(super) fn start(progress: Arc<Progress>) -> Self {
        let (stop, stopped) = channel();
        let thread = spawn(move || {
            let mut shown = false;
            let mut wait = FIRST;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                if progress.blocks() > 0 {
                    // A terminal that is gone is nobody's to tell.
                    let _ = write!(stderr(), "\r{}\x1b[K", line(&progress)).and_then(|()| stderr().flush());
                    shown = true;
                }
                wait = NEXT;
            }
            if shown {
                let _ = write!(stderr(), "\r\x1b[K").and_then(|()| stderr().flush());
            }
        });
        Display {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has been reported, and took nothing but the line.
            let _ = thread.join();
        }
    }
}

fn line(progress: &Progress) -> String {
    format!(
        "simulator: {} of {} blocks done, {:.1} million warp instructions",
        progress.blocks_done(),
        progress.blocks(),
        progress.instructions() as f64 / 1e6
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_done_and_of_how_much() {
        assert_eq!(
            line(&Progress::default()),
            "simulator: 0 of 0 blocks done, 0.0 million warp instructions"
        );
    }

    #[test]
    fn a_short_launch_ends_its_display_at_once() {
        let started = std::time::Instant::now();
        drop(Display::start(Arc::default()));
        assert!(started.elapsed() < FIRST);
    }
}
