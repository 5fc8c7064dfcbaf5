//! The last net: a panic becomes a sentence and exit code 1, and deep recursion gets a deep stack.
use girih::STACK_BYTES;
use std::{
    panic::{self, PanicHookInfo},
    thread,
};

/// Runs `main`, whose result is an exit code.
pub fn guarded(main: impl FnOnce() -> u8 + Send + 'static) -> u8 {
    panic::set_hook(Box::new(report));
    let thread = thread::Builder::new()
        .name("girih".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(main);
    match thread {
        Ok(thread) => thread.join().unwrap_or(1),
        Err(error) => {
            eprintln!("error: no thread can be started: {error}");
            1
        }
    }
}

/// Panics are this program's own mistakes, whatever it was given.
fn report(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let said = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let place = info
        .location()
        .map_or(String::new(), |place| format!(" ({}:{})", place.file(), place.line()));
    eprintln!("error: internal error: {said}{place}");
    eprintln!("note: this is a mistake in girih, not in your program; please report it with the input");
}
