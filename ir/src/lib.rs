//! Define MLIR dialects, patterns, conversions and passes in Rust, over real MLIR.
//!
//! A thin generic C++ shim (`ir/shim`) knows none of the dialects; its hooks call Rust. Above it, one op is one
//! declaration ([`op!`]), one type or attribute is one declaration ([`param_type!`], [`param_attr!`]), and a dialect is a
//! list of them ([`dialect::Dialect`]). Every callback is guarded: a panic becomes a located diagnostic.
//!
//! | module | what it gives |
//! |---|---|
//! | [`op`] | op declarations, hooks, traits, effects, interfaces |
//! | [`param`] | types and attributes with typed parameters |
//! | [`kind`] | the Rust types that attributes and parameters can have |
//! | [`constraint`] | what operands and results may be |
//! | [`asm`] | parser, printer, declarative assembly format |
//! | [`dialect`] | registration |
//! | [`rewrite`], [`conversion`] | patterns, greedy rewriting, dialect conversion |
//! | [`pass`] | passes, options, statistics, pipelines |
//! | [`module`] | reading files with names and columns, verifying everything |
//! | [`tools`] | the mains of `-opt` and the language server |
//! | [`upstream`] | the small part of upstream MLIR that a compiler registers |
pub mod asm;
pub mod constraint;
pub mod conversion;
pub mod diag;
pub mod dialect;
pub mod ext;
pub mod kind;
pub mod module;
pub mod op;
pub mod param;
pub mod pass;
mod raw;
pub mod rewrite;
pub mod tools;
pub mod upstream;

pub use diag::{Diag, Emitter, Errors, Reported, Res, Severity};
pub use melior;
pub use mlir_sys;

/// What dialects and passes import.
pub mod prelude {
    pub use crate::{
        Diag, Emitter, Errors, Reported, Res, Severity,
        asm::{Delimiter, OpParser, Parser, Printer, Token},
        context,
        ext::{OpExt, RegionExt, TypeExt, ValueExt},
        op::{Op, OpHooks, OpView},
    };
    pub use melior::{
        Context, ContextRef,
        ir::{
            Attribute, AttributeLike, Block, BlockLike, BlockRef, Location, Operation, OperationRef, Region,
            RegionLike, RegionRef, Type, TypeLike, Value, ValueLike,
            operation::{OperationLike, OperationMutLike},
        },
    };
}

use melior::{Context, ContextRef};
use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex},
};

/// A context reference as a plain reference, which most of melior's constructors want.
///
/// `ContextRef::to_ref` gives a reference *into the `ContextRef` value*; this one points into a value that lives for
/// ever, one for each context address.
pub fn context<'c>(c: ContextRef<'c>) -> &'c Context {
    // Context address -> address of its leaked reference.
    static SEEN: LazyLock<Mutex<BTreeMap<usize, usize>>> = LazyLock::new(Default::default);
    // SAFETY: `c` lives through this statement.
    let raw = unsafe { c.to_ref() }.to_raw();
    let mut seen = SEEN.lock().unwrap_or_else(|e| e.into_inner());
    let entry = seen
        .entry(raw.ptr as usize)
        // SAFETY: a ContextRef is the context's address alone, and the leaked value never changes.
        .or_insert_with(|| Box::into_raw(Box::new(unsafe { ContextRef::from_raw(raw) })) as usize);
    // SAFETY: the address is that of a leaked ContextRef; 'c, which the caller has, bounds the context's life.
    unsafe { (*(*entry as *const ContextRef<'c>)).to_ref() }
}
