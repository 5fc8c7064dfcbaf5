//! The last error of each thread, and the wall that panics do not pass.
use super::Status;
use std::{
    cell::RefCell,
    ffi::{CStr, CString},
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Why a call fails.
#[derive(Debug)]
pub(super) struct Failure {
    status: Status,
    message: String,
}

impl Failure {
    pub(super) fn new(status: Status, message: impl Into<String>) -> Self {
        Failure {
            status,
            message: message.into(),
        }
    }
}

/// Runs a call, remembers its error, and turns a panic into [`Status::InternalError`].
pub(super) fn guard(call: impl FnOnce() -> Result<(), Failure>) -> Status {
    // What a panic leaves half done is a program's cache, and every entry of it is written last.
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Err(Failure::new(Status::InternalError, format!("a bug in girih: {text}")))
    });
    let (status, message) = match outcome {
        Ok(()) => (Status::Ok, String::new()),
        Err(failure) => (failure.status, failure.message),
    };
    LAST_ERROR.with_borrow_mut(|last| {
        // A success after a success has nothing to forget.
        if !(message.is_empty() && last.is_empty()) {
            *last = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        }
    });
    status
}

/// The text of the thread's last error.
pub(super) fn with_last_error<T>(read: impl FnOnce(&CStr) -> T) -> T {
    LAST_ERROR.with_borrow(|last| read(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status_and_a_success_clears_the_message() {
        assert_eq!(guard(|| panic!("on purpose")), Status::InternalError);
        assert_eq!(
            with_last_error(|text| text.to_owned()),
            c"a bug in girih: on purpose".to_owned()
        );
        assert_eq!(guard(|| Ok(())), Status::Ok);
        assert!(with_last_error(|text| text.is_empty()));
    }
}
