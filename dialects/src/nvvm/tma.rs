//! Bulk and tensor copies as inline PTX: upstream lacks part of them, and LLVM refuses some on targets that have them.
use super::{AsmOperand, Emit, V};

/// A PTX statement under construction: text with registers for operands.
pub struct Statement<'c> {
    text: String,
    inputs: Vec<AsmOperand<'c>>,
}

impl<'c> Statement<'c> {
    /// A statement that starts with its opcode.
    pub fn new(opcode: impl Into<String>) -> Self {
        Statement {
            text: opcode.into(),
            inputs: vec![],
        }
    }
    /// More text.
    pub fn text(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }
    /// A register: `h` 16 bits, `r` 32, `l` 64, `f` f32.
    pub fn register(mut self, constraint: &'static str, value: V<'c>) -> Self {
        self.text.push_str(&format!("${}", self.inputs.len()));
        self.inputs.push(AsmOperand { constraint, value });
        self
    }
    /// `{$0, $1, ...}`.
    pub fn list(mut self, constraint: &'static str, values: &[V<'c>]) -> Self {
        self.text.push('{');
        for (i, v) in values.iter().enumerate() {
            if i > 0 {
                self.text.push_str(", ");
            }
            self = self.register(constraint, *v);
        }
        self.text.push('}');
        self
    }
    /// `, $n`, where there is a value.
    pub fn optional(self, constraint: &'static str, value: Option<V<'c>>) -> Self {
        match value {
            Some(v) => self.text(", ").register(constraint, v),
            None => self,
        }
    }
    /// Emits it. It may touch any memory.
    pub fn emit(self, e: &Emit<'c, '_>) {
        e.inline_ptx(&format!("{};", self.text), &[], &[], &self.inputs, true);
    }
}
