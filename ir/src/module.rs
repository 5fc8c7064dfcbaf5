//! Whole modules: reading text or bytecode with a file name, verifying everything, collecting diagnostics.
use crate::{
    diag::{Reported, Res, Severity},
    raw::{self, sr},
};
use melior::{
    Context,
    ir::{Module, OperationRef, operation::OperationLike},
};
use mlir_sys::*;

/// Brackets may nest this deep; MLIR's parser, printer and passes recurse, and would overflow the stack far below the
/// nesting that a hostile file can have.
pub const MAX_NESTING: usize = 400;

/// A diagnostic as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// How grave it is.
    pub severity: Severity,
    /// File as given, line and column from 1, or both 0 for the file as a whole; none for an unknown location.
    pub place: Option<(String, u32, u32)>,
    /// What it says.
    pub text: String,
    /// Attached notes.
    pub notes: Vec<Message>,
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Some((file, 0, _)) => write!(f, "{file}: ")?,
            Some((file, line, column)) => write!(f, "{file}:{line}:{column}: ")?,
            None => {}
        }
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Remark => "remark",
        };
        write!(f, "{severity}: {}", self.text)?;
        for n in &self.notes {
            write!(f, "\n{n}")?;
        }
        Ok(())
    }
}

/// The file, line and column that a location comes down to: through names, call sites (where the callee was written, as
/// MLIR's own messages say) and fusions.
pub fn place_of(loc: MlirLocation) -> Option<(String, u32, u32)> {
    unsafe {
        if mlirLocationIsAFileLineColRange(loc) {
            let file = raw::from_sr(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(loc)));
            let line = mlirLocationFileLineColRangeGetStartLine(loc) as u32;
            let column = mlirLocationFileLineColRangeGetStartColumn(loc) as u32;
            return Some((file.to_owned(), line, column));
        }
        if mlirLocationIsAName(loc) {
            return place_of(mlirLocationNameGetChildLoc(loc));
        }
        if mlirLocationIsACallSite(loc) {
            return place_of(mlirLocationCallSiteGetCallee(loc));
        }
        if mlirLocationIsAFused(loc) {
            let n = mlirLocationFusedGetNumLocations(loc) as usize;
            let mut parts = vec![
                MlirLocation {
                    ptr: std::ptr::null_mut()
                };
                n
            ];
            mlirLocationFusedGetLocations(loc, parts.as_mut_ptr());
            return parts.into_iter().find_map(place_of);
        }
    }
    None
}

/// Runs `f` and gives the diagnostics that it caused in `context`, instead of printing them.
pub fn collect_diagnostics<T>(context: &Context, f: impl FnOnce() -> T) -> (T, Vec<Message>) {
    unsafe fn message(d: MlirDiagnostic) -> Message {
        unsafe {
            let mut text = String::new();
            extern "C" fn push(s: MlirStringRef, sink: *mut std::ffi::c_void) {
                raw::push_string(sink, s)
            }
            mlirDiagnosticPrint(d, Some(push), (&raw mut text).cast());
            // MLIR's order: error, warning, note, remark.
            let severity = match mlirDiagnosticGetSeverity(d) {
                0 => Severity::Error,
                1 => Severity::Warning,
                2 => Severity::Note,
                _ => Severity::Remark,
            };
            let notes = (0..mlirDiagnosticGetNumNotes(d))
                .map(|i| message(mlirDiagnosticGetNote(d, i)))
                .collect();
            Message {
                severity,
                place: place_of(mlirDiagnosticGetLocation(d)),
                text,
                notes,
            }
        }
    }
    extern "C" fn handle(d: MlirDiagnostic, data: *mut std::ffi::c_void) -> MlirLogicalResult {
        let sink = unsafe { &*data.cast::<std::sync::Mutex<Vec<Message>>>() };
        let m = unsafe { message(d) };
        sink.lock().unwrap_or_else(|e| e.into_inner()).push(m);
        MlirLogicalResult { value: 1 }
    }
    let sink = std::sync::Mutex::new(vec![]);
    let id = unsafe {
        let data = (&raw const sink).cast_mut().cast();
        mlirContextAttachDiagnosticHandler(context.to_raw(), Some(handle), data, None)
    };
    struct Detach<'c>(&'c Context, MlirDiagnosticHandlerID);
    impl Drop for Detach<'_> {
        fn drop(&mut self) {
            unsafe { mlirContextDetachDiagnosticHandler(self.0.to_raw(), self.1) }
        }
    }
    let detach = Detach(context, id);
    let result = f();
    drop(detach);
    (result, sink.into_inner().unwrap_or_else(|e| e.into_inner()))
}

/// Reads a module; every op that breaks its own rules is reported, not only the first. Locations carry `file_name` as
/// given. Bytecode is recognised by its first bytes.
pub fn parse<'c>(context: &'c Context, source: &[u8], file_name: &str) -> Res<Module<'c>> {
    let module = parse_unverified(context, source, file_name)?;
    verify_all(module.as_operation())?;
    Ok(module)
}

/// Reads a module without verifying it.
pub fn parse_unverified<'c>(context: &'c Context, source: &[u8], file_name: &str) -> Res<Module<'c>> {
    if let Err((line, column, what)) = check_source(source) {
        let loc = melior::ir::Location::new(context, file_name, line, column);
        return crate::Diag::error(loc, what).report();
    }
    let src = MlirStringRef {
        data: source.as_ptr().cast(),
        length: source.len(),
    };
    let op = unsafe { raw::girih_parse_module(context.to_raw(), src, sr(file_name), false) };
    if op.ptr.is_null() {
        return Err(Reported);
    }
    unsafe { Module::from_operation(melior::ir::Operation::from_raw(op)).ok_or(Reported) }
}

/// What keeps a source from the parser: line, column and message. Bytecode passes.
pub(crate) fn check_source(source: &[u8]) -> Result<(), (usize, usize, String)> {
    if source.starts_with(b"ML\xefR") {
        return Ok(());
    }
    let text = std::str::from_utf8(source).map_err(|e| {
        let before = &source[..e.valid_up_to()];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|b| **b != b'\n').count();
        (line, column, "expected UTF-8 text or MLIR bytecode".to_owned())
    })?;
    check_nesting(text).map_err(|(line, column)| {
        let m = format!("brackets nest more than {MAX_NESTING} deep; flatten the regions or types here");
        (line, column, m)
    })
}

/// Where brackets outside strings and comments first nest deeper than [`MAX_NESTING`], as line and column.
pub fn check_nesting(text: &str) -> Result<(), (usize, usize)> {
    let (mut open, mut line, mut line_start) = (vec![], 1, 0);
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'\n' => {
                line += 1;
                line_start = i + 1;
            }
            b'/' if bytes.get(i + 1) == Some(&b'/') => {
                while i + 1 < bytes.len() && bytes[i + 1] != b'\n' {
                    i += 1;
                }
            }
            b'"' => {
                i += 1;
                while i < bytes.len() && bytes[i] != b'"' && bytes[i] != b'\n' {
                    i += if bytes[i] == b'\\' { 2 } else { 1 };
                }
                continue_string_newline(bytes, &mut i);
            }
            // `<=` of affine constraints opens nothing, and `>=` and `->` close nothing.
            b'<' | b'>' if bytes.get(i + 1) == Some(&b'=') => i += 1,
            b'>' if i > 0 && bytes[i - 1] == b'-' => {}
            b @ (b'{' | b'(' | b'[' | b'<') => {
                open.push(b);
                if open.len() > MAX_NESTING {
                    return Err((line, i - line_start + 1));
                }
            }
            b @ (b'}' | b')' | b']' | b'>') => {
                let opener = match b {
                    b'}' => b'{',
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'<',
                };
                // What was opened within and not closed was no bracket, or is the parser's to report.
                if let Some(at) = open.iter().rposition(|o| *o == opener) {
                    open.truncate(at);
                }
            }
            _ => {}
        }
        i += 1;
    }
    Ok(())
}

/// A string that a line end cuts short is the parser's to report; the line end itself must still be counted.
fn continue_string_newline(bytes: &[u8], i: &mut usize) {
    if bytes.get(*i) == Some(&b'\n') {
        *i -= 1;
    }
}

/// Verifies everything in `op`, and goes on after a failure.
pub fn verify_all<'c: 'a, 'a>(op: impl OperationLike<'c, 'a>) -> Res {
    crate::diag::unless_panic(op.location().to_raw(), || {
        if unsafe { raw::girih_verify_all(op.to_raw()) } == 0 {
            Ok(())
        } else {
            Err(Reported)
        }
    })
}

/// The op as text, with locations if asked.
pub fn to_text(op: OperationRef<'_, '_>, with_locations: bool) -> String {
    if with_locations {
        let flags = melior::ir::operation::OperationPrintingFlags::new().enable_debug_info(true, false);
        op.to_string_with_flags(flags).unwrap_or_default()
    } else {
        op.to_string()
    }
}
