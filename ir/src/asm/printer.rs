//! MLIR's assembly printer.
use crate::raw::{self, Ptr, sr};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, AttributeLike, BlockLike, BlockRef, RegionLike, RegionRef, Type, TypeLike, ValueLike};

/// Where an op, a type or an attribute prints itself. Calls chain.
#[derive(Clone, Copy)]
pub struct Printer(Ptr);

impl Printer {
    pub(crate) fn new(raw: Ptr) -> Self {
        Printer(raw)
    }
    /// Raw text.
    pub fn text(&self, s: impl AsRef<str>) -> &Self {
        unsafe { raw::girih_print_str(self.0, sr(s.as_ref())) };
        self
    }
    /// A type.
    pub fn ty(&self, t: Type<'_>) -> &Self {
        unsafe { raw::girih_print_type(self.0, t.to_raw()) };
        self
    }
    /// Types, comma-separated.
    pub fn types<'c>(&self, types: impl IntoIterator<Item = Type<'c>>) -> &Self {
        for (i, t) in types.into_iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.ty(t);
        }
        self
    }
    /// An attribute with its type.
    pub fn attribute(&self, a: Attribute<'_>) -> &Self {
        unsafe { raw::girih_print_attribute(self.0, a.to_raw(), true) };
        self
    }
    /// An attribute without its type.
    pub fn attribute_without_type(&self, a: Attribute<'_>) -> &Self {
        unsafe { raw::girih_print_attribute(self.0, a.to_raw(), false) };
        self
    }
    /// A quoted, escaped string.
    pub fn string(&self, s: &str) -> &Self {
        unsafe { raw::girih_print_string(self.0, sr(s)) };
        self
    }
    /// `@name`, quoted where it must be.
    pub fn symbol(&self, name: &str) -> &Self {
        unsafe { raw::girih_print_symbol(self.0, sr(name)) };
        self
    }
    /// A new line at the current indentation.
    pub fn newline(&self) -> &Self {
        unsafe { raw::girih_print_newline(self.0) };
        self
    }
    /// `%value`.
    pub fn operand<'c>(&self, v: impl ValueLike<'c>) -> &Self {
        unsafe { raw::girih_print_operand(self.0, v.to_raw()) };
        self
    }
    /// `%a, %b`.
    pub fn operands<'c>(&self, values: impl IntoIterator<Item = impl ValueLike<'c>>) -> &Self {
        for (i, v) in values.into_iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.operand(v);
        }
        self
    }
    /// A block argument, with `: type` unless told otherwise.
    pub fn argument<'c>(&self, v: impl ValueLike<'c>, with_type: bool) -> &Self {
        unsafe { raw::girih_print_argument(self.0, v.to_raw(), !with_type) };
        self
    }
    /// `^block`.
    pub fn successor(&self, b: BlockRef<'_, '_>) -> &Self {
        unsafe { raw::girih_print_successor(self.0, b.to_raw()) };
        self
    }
    /// `{ ... }`.
    pub fn region(&self, r: RegionRef<'_, '_>, entry_arguments: bool, terminators: bool) -> &Self {
        unsafe { raw::girih_print_region(self.0, r.to_raw(), entry_arguments, terminators) };
        self
    }
    /// Prints the entry arguments of `r` under the names of `names`, for regions that share one written list.
    pub fn shadow_arguments<'c>(&self, r: RegionRef<'_, '_>, names: &[impl ValueLike<'c>]) -> &Self {
        let raw: Vec<_> = names.iter().map(|v| v.to_raw()).collect();
        unsafe { raw::girih_print_shadow_arguments(self.0, r.to_raw(), raw.len() as isize, raw.as_ptr()) };
        self
    }
    /// ` {attributes}` except those elided, or nothing.
    pub fn attr_dict<'c: 'a, 'a>(&self, op: &impl OperationLike<'c, 'a>, elided: &[&str]) -> &Self {
        self.dict(op, false, elided)
    }
    /// ` attributes {...}` except those elided, or nothing.
    pub fn attr_dict_with_keyword<'c: 'a, 'a>(&self, op: &impl OperationLike<'c, 'a>, elided: &[&str]) -> &Self {
        self.dict(op, true, elided)
    }
    fn dict<'c: 'a, 'a>(&self, op: &impl OperationLike<'c, 'a>, keyword: bool, elided: &[&str]) -> &Self {
        let names: Vec<_> = elided.iter().map(|s| sr(s)).collect();
        unsafe { raw::girih_print_attr_dict(self.0, op.to_raw(), keyword, names.len() as isize, names.as_ptr()) };
        self
    }
}
