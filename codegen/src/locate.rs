//! Gives LLVM's errors about inline assembly the position in the source that they lack.
//!
//! LLVM prints them as `message at line COOKIE`, where the cookie is the `!srcloc` metadata of the call. Only when
//! something has failed is the module made again, with line information and with cookies that index [`Places`].
use crate::diagnostics::LlvmDiagnostic;
use inkwell::{
    llvm_sys::core::{
        LLVMGetCalledValue, LLVMGetDebugLocColumn, LLVMGetDebugLocDirectory, LLVMGetDebugLocFilename,
        LLVMGetDebugLocLine, LLVMIsACallInst, LLVMIsAInlineAsm,
    },
    llvm_sys::prelude::LLVMValueRef,
    module::Module,
    values::AsValueRef,
};
use std::ffi::{c_char, c_uint};

/// `file:line:column` of every piece of inline assembly; a cookie is an index plus one.
pub(crate) struct Places(Vec<String>);

impl Places {
    /// Marks all inline assembly of a module that has line information.
    pub(crate) fn mark(module: &Module<'_>) -> Self {
        let context = module.get_context();
        let kind = context.get_kind_id("srcloc");
        let mut places = Vec::new();
        for block in module
            .get_functions()
            .flat_map(|function| function.get_basic_block_iter())
        {
            for instruction in block.get_instructions() {
                let raw = instruction.as_value_ref();
                // SAFETY: the instruction is alive, and its callee is asked for only if it is a call.
                let place = unsafe {
                    let assembly =
                        !LLVMIsACallInst(raw).is_null() && !LLVMIsAInlineAsm(LLVMGetCalledValue(raw)).is_null();
                    if !assembly {
                        continue;
                    }
                    place(raw)
                };
                places.push(place);
                let cookie = context.i64_type().const_int(places.len() as u64, false);
                // Only instructions that cannot carry metadata refuse it, and then the error has no position.
                let _ = instruction.set_metadata(context.metadata_node(&[cookie.into()]), kind);
            }
        }
        Places(places)
    }

    /// Puts positions where cookies were.
    pub(crate) fn resolve(&self, diagnostics: Vec<LlvmDiagnostic>) -> Vec<LlvmDiagnostic> {
        diagnostics
            .into_iter()
            .map(|diagnostic| self.resolve_one(diagnostic))
            .collect()
    }

    fn resolve_one(&self, mut diagnostic: LlvmDiagnostic) -> LlvmDiagnostic {
        let Some((words, cookie)) = diagnostic.message.rsplit_once(" at line ") else {
            return diagnostic;
        };
        let place = cookie
            .parse::<usize>()
            .ok()
            .and_then(|cookie| self.0.get(cookie.checked_sub(1)?));
        if let Some(place) = place {
            let separator = if place.is_empty() { "" } else { ": " };
            diagnostic.message = format!("{place}{separator}{words}");
        }
        diagnostic
    }
}

/// # Safety
/// `instruction` is alive.
unsafe fn place(instruction: LLVMValueRef) -> String {
    // SAFETY: by contract.
    let (directory, file, line, column) = unsafe {
        (
            text(|length| LLVMGetDebugLocDirectory(instruction, length)),
            text(|length| LLVMGetDebugLocFilename(instruction, length)),
            LLVMGetDebugLocLine(instruction),
            LLVMGetDebugLocColumn(instruction),
        )
    };
    match (directory.as_str(), file.as_str()) {
        (_, "") => String::new(),
        ("", file) => format!("{file}:{line}:{column}"),
        (directory, file) => format!("{directory}/{file}:{line}:{column}"),
    }
}

fn text(get: impl FnOnce(*mut c_uint) -> *const c_char) -> String {
    let mut length = 0;
    let start = get(&mut length);
    if start.is_null() || length == 0 {
        return String::new();
    }
    // SAFETY: LLVM gives the start and the length of a string of its own.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length as usize) };
    String::from_utf8_lossy(bytes).into_owned()
}
