//! LLVM's errors and warnings while it optimises and emits, kept as data instead of being printed (or, for errors, ending the
//! process, which is what a context without a handler does).
use inkwell::{
    context::Context,
    llvm_sys::{
        LLVMDiagnosticSeverity,
        core::{
            LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
        },
        prelude::LLVMDiagnosticInfoRef,
    },
};
use std::{
    cell::RefCell,
    ffi::{CStr, c_void},
    fmt,
    rc::Rc,
};

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing usable was made.
    Error,
    /// Something was made, but perhaps not what was meant.
    Warning,
}

/// One diagnostic of LLVM. Where the module has line information, the message begins with `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlvmDiagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// LLVM's words.
    pub message: String,
}

impl fmt::Display for LlvmDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}", self.message)
    }
}

/// An LLVM context whose diagnostics are collected.
pub(crate) struct CollectingContext {
    /// Dropped before the sink that its handler points to.
    context: Context,
    sink: Rc<RefCell<Vec<LlvmDiagnostic>>>,
}

impl CollectingContext {
    pub(crate) fn new() -> Self {
        let context = Context::create();
        let sink = Rc::new(RefCell::new(Vec::new()));
        // SAFETY: the handler runs only while `context` lives, and `sink` outlives it (see the field order).
        unsafe {
            LLVMContextSetDiagnosticHandler(context.raw(), Some(collect), Rc::as_ptr(&sink) as *mut c_void);
        }
        CollectingContext { context, sink }
    }

    pub(crate) fn llvm(&self) -> &Context {
        &self.context
    }

    /// Takes what was said since the last call.
    pub(crate) fn take(&self) -> Vec<LlvmDiagnostic> {
        std::mem::take(&mut self.sink.borrow_mut())
    }
}

extern "C" fn collect(info: LLVMDiagnosticInfoRef, sink: *mut c_void) {
    // SAFETY: LLVM passes a live diagnostic; `sink` is the `RefCell` registered above, used on one thread only. The
    // description is a C string that we own.
    unsafe {
        let severity = match LLVMGetDiagInfoSeverity(info) {
            LLVMDiagnosticSeverity::LLVMDSError => Severity::Error,
            LLVMDiagnosticSeverity::LLVMDSWarning => Severity::Warning,
            // Remarks count instructions and register use; nobody asked.
            _ => return,
        };
        let description = LLVMGetDiagInfoDescription(info);
        let message = CStr::from_ptr(description).to_string_lossy().trim_end().to_owned();
        LLVMDisposeMessage(description);
        (*(sink as *const RefCell<Vec<LlvmDiagnostic>>))
            .borrow_mut()
            .push(LlvmDiagnostic { severity, message });
    }
}
