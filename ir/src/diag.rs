//! Diagnostics, and the guard that turns a panic in any callback into one.
use crate::raw::{self, sr};
use melior::ir::{Location, operation::OperationLike};
use mlir_sys::*;
use std::{
    cell::RefCell,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard},
};

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

/// Where a callback's panic is reported.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// At a location, which is also where callbacks within this one report that know none of their own.
    At(MlirLocation),
    /// At the innermost enclosing [`Place::At`] of the context, or at no location.
    In(MlirContext),
    /// Where an `AsmParser` stands.
    Parser(raw::Ptr),
    /// Where an emitter reports, and the context.
    Emitter(raw::Ptr, MlirContext),
}

impl Place {
    fn context(self) -> MlirContext {
        unsafe {
            match self {
                Place::At(l) => mlirLocationGetContext(l),
                Place::In(c) | Place::Emitter(_, c) => c,
                Place::Parser(p) => raw::girih_parser_context(p),
            }
        }
    }
    fn emit(self, message: &str) {
        let m = sr(message);
        unsafe {
            raw::girih_diag_report(match self {
                Place::At(l) => raw::girih_diag_emit(l, Severity::Error as i32, m),
                Place::In(c) => raw::girih_diag_emit(enclosing(c), Severity::Error as i32, m),
                Place::Parser(p) => raw::girih_diag_parser(p, raw::girih_parser_loc(p), m),
                Place::Emitter(e, _) => raw::girih_diag_emitter(e, m),
            })
        }
    }
}

thread_local! {
    /// Locations of the callbacks that this thread is in, outermost first.
    static ENCLOSING: RefCell<Vec<MlirLocation>> = const { RefCell::new(vec![]) };
}

fn enclosing(context: MlirContext) -> MlirLocation {
    let of_context = |l: &&MlirLocation| unsafe { mlirContextEqual(mlirLocationGetContext(**l), context) };
    ENCLOSING
        .with_borrow(|all| all.iter().rev().find(of_context).copied())
        .unwrap_or_else(|| unsafe { mlirLocationUnknownGet(context) })
}

/// Runs `f`; what fails within and has no location of its own reports at `loc`.
pub(crate) fn reporting_at<T>(loc: MlirLocation, f: impl FnOnce() -> T) -> T {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            ENCLOSING.with_borrow_mut(|all| all.pop());
        }
    }
    ENCLOSING.with_borrow_mut(|all| all.push(loc));
    let _leave = Leave;
    f()
}

/// What a panic said.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| s.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into())
}

/// Runs a callback that C++ called. A panic becomes an error that names `what`, and `on_panic` the result.
pub(crate) fn guard<T>(what: &str, place: Place, on_panic: T, f: impl FnOnce() -> T) -> T {
    let run = || match place {
        Place::At(l) => reporting_at(l, f),
        _ => f(),
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        *panics().entry(place.context().ptr as usize).or_default() += 1;
        place.emit(&format!(
            "internal error: panic in {what}: {}",
            panic_message(&*payload)
        ));
        on_panic
    })
}

/// Panics caught so far, by context address.
fn panics() -> MutexGuard<'static, BTreeMap<usize, u64>> {
    static PANICS: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());
    PANICS.lock().unwrap_or_else(|e| e.into_inner())
}

/// Whether a callback has panicked in this process.
pub(crate) fn any_panic() -> bool {
    !panics().is_empty()
}

/// Runs `f`, and fails if a callback panicked meanwhile: drivers of MLIR go on where a pattern or a folder failed.
pub(crate) fn unless_panic(loc: MlirLocation, f: impl FnOnce() -> Res) -> Res {
    let context = unsafe { mlirLocationGetContext(loc) }.ptr as usize;
    let count = || panics().get(&context).copied();
    let before = count();
    let result = reporting_at(loc, f);
    if count() == before { result } else { Err(Reported) }
}

pub(crate) fn op_loc(op: MlirOperation) -> Place {
    Place::At(unsafe { mlirOperationGetLocation(op) })
}

/// Diagnostics stay short: errors do not quote the op that they are about. Call once for each context.
pub fn plain_diagnostics(context: &melior::Context) {
    unsafe { raw::girih_context_print_op_on_diagnostic(context.to_raw(), false) }
}
