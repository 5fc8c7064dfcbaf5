//! Diagnostics, and the guard that turns a panic in any callback into one.
use crate::raw::{self, sr};
use melior::ir::{Location, operation::OperationLike};
use mlir_sys::{MlirLocation, MlirOperation};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Proof that an error has been reported to the context's diagnostic handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

/// The result of whatever reports its own errors.
pub type Res<T = ()> = Result<T, Reported>;

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Severity {
    Note = 0,
    Warning = 1,
    Error = 2,
    Remark = 3,
}

/// A diagnostic under construction; reported by [`Diag::report`], or when dropped.
#[must_use = "a diagnostic is reported when it is dropped; call report() to say so"]
pub struct Diag(raw::Ptr);

impl Diag {
    pub(crate) fn from_raw(p: raw::Ptr) -> Self {
        Diag(p)
    }
    /// An error at a location.
    pub fn error(loc: Location<'_>, message: impl AsRef<str>) -> Self {
        Diag(unsafe { raw::girih_diag_emit(loc.to_raw(), Severity::Error as i32, sr(message.as_ref())) })
    }
    /// A diagnostic of any severity at a location.
    pub fn at(severity: Severity, loc: Location<'_>, message: impl AsRef<str>) -> Self {
        Diag(unsafe { raw::girih_diag_emit(loc.to_raw(), severity as i32, sr(message.as_ref())) })
    }
    /// An error at an op, opening with `'dialect.op' op `.
    pub fn op<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>, message: impl AsRef<str>) -> Self {
        Diag(unsafe { raw::girih_diag_op(op.to_raw(), Severity::Error as i32, sr(message.as_ref())) })
    }
    /// A remark at an op, for `-verify-diagnostics` and people.
    pub fn remark<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>, message: impl AsRef<str>) -> Self {
        Diag(unsafe { raw::girih_diag_op(op.to_raw(), Severity::Remark as i32, sr(message.as_ref())) })
    }
    /// Attaches a note.
    pub fn note(self, loc: Location<'_>, message: impl AsRef<str>) -> Self {
        unsafe { raw::girih_diag_note(self.0, loc.to_raw(), sr(message.as_ref())) };
        self
    }
    /// Reports it. The result is always an error, so that `return Diag::op(..).report()` reads well.
    pub fn report<T>(self) -> Res<T> {
        drop(self);
        Err(Reported)
    }
    /// Throws it away.
    pub fn abandon(self) {
        unsafe { raw::girih_diag_abandon(self.0) };
        std::mem::forget(self);
    }
}

impl Drop for Diag {
    fn drop(&mut self) {
        unsafe { raw::girih_diag_report(self.0) }
    }
}

/// Where a parameter verifier reports.
#[derive(Clone, Copy)]
pub struct Emitter(pub(crate) raw::Ptr);

impl Emitter {
    /// An error where the type or attribute was written or built.
    pub fn error(&self, message: impl AsRef<str>) -> Diag {
        Diag(unsafe { raw::girih_diag_emitter(self.0, sr(message.as_ref())) })
    }
}

/// Reports several errors at one op, and says whether there were any.
#[derive(Default)]
pub struct Errors(bool);

impl Errors {
    /// Reports one more error at `op`.
    pub fn op<'c: 'a, 'a>(&mut self, op: &impl OperationLike<'c, 'a>, message: impl AsRef<str>) {
        let _: Res = Diag::op(op, message).report();
        self.0 = true;
    }
    /// Notes that something else has reported an error.
    pub fn merge<T>(&mut self, r: Res<T>) -> Option<T> {
        self.0 |= r.is_err();
        r.ok()
    }
    /// `Err` if anything was reported.
    pub fn result(self) -> Res {
        if self.0 { Err(Reported) } else { Ok(()) }
    }
}

/// Runs a callback that C++ called. A panic becomes an error at `loc` that names `what`, and `on_panic` the result.
pub(crate) fn guard<T>(what: &str, loc: Option<MlirLocation>, on_panic: T, f: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| {
        let said = payload
            .downcast_ref::<&str>()
            .map(|s| s.to_string())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".into());
        if let Some(l) = loc {
            let text = format!("internal error: panic in {what}: {said}");
            unsafe { raw::girih_diag_report(raw::girih_diag_emit(l, Severity::Error as i32, sr(&text))) }
        } else {
            tracing::error!("panic in {what}: {said}");
        }
        on_panic
    })
}

pub(crate) fn op_loc(op: MlirOperation) -> Option<MlirLocation> {
    Some(unsafe { mlir_sys::mlirOperationGetLocation(op) })
}

/// Diagnostics stay short: errors do not quote the op that they are about. Call once for each context.
pub fn plain_diagnostics(context: &melior::Context) {
    unsafe { raw::girih_context_print_op_on_diagnostic(context.to_raw(), false) }
}
