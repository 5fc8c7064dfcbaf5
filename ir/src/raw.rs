//! The shim's C functions and tables, exactly as `ir/shim/*.cpp` declares them. Nothing outside this crate sees these.
#![allow(missing_docs)]
use mlir_sys::*;
use std::ffi::{c_char, c_int, c_void};

pub type Ptr = *mut c_void;
pub type Drop = extern "C" fn(Ptr);
pub type PushStr = extern "C" fn(Ptr, MlirStringRef);

#[repr(C)]
pub struct OpHooks {
    pub data: Ptr,
    pub drop: Drop,
    pub verify_declared: extern "C" fn(Ptr, MlirOperation) -> bool,
    pub verify: extern "C" fn(Ptr, MlirOperation) -> bool,
    pub verify_regions: extern "C" fn(Ptr, MlirOperation) -> bool,
    pub parse: Option<extern "C" fn(Ptr, Ptr, Ptr) -> bool>,
    pub print: Option<extern "C" fn(Ptr, MlirOperation, Ptr)>,
    pub fold: extern "C" fn(Ptr, MlirOperation, isize, *const MlirAttribute, Ptr) -> bool,
    pub canonicalizers: extern "C" fn(Ptr, MlirRewritePatternSet, MlirContext),
    pub defaults: Option<extern "C" fn(Ptr, MlirContext, Ptr, extern "C" fn(Ptr, MlirStringRef, MlirAttribute))>,
    pub effects: Option<extern "C" fn(Ptr, MlirOperation, Ptr)>,
    pub speculatability: Option<extern "C" fn(Ptr, MlirOperation) -> c_int>,
    pub result_names: Option<extern "C" fn(Ptr, MlirOperation, Ptr)>,
    pub block_argument_names: Option<extern "C" fn(Ptr, MlirOperation, MlirRegion, Ptr)>,
    pub successor_regions: Option<extern "C" fn(Ptr, MlirOperation, isize, Ptr)>,
    pub entry_operands: Option<extern "C" fn(Ptr, MlirOperation, isize, *mut isize, *mut isize)>,
    pub terminator_operands: Option<extern "C" fn(Ptr, MlirOperation, isize, *mut isize, *mut isize)>,
    pub loop_regions: Option<extern "C" fn(Ptr, MlirOperation) -> u64>,
    pub verify_symbol_uses: Option<extern "C" fn(Ptr, MlirOperation, Ptr) -> bool>,
    pub is_symbol: bool,
    pub is_function: bool,
    pub is_call: bool,
}

#[repr(C)]
pub struct ParamHooks {
    pub data: Ptr,
    pub drop: Drop,
    pub verify: extern "C" fn(Ptr, Ptr, MlirContext, isize, *const MlirAttribute) -> bool,
    pub parse: extern "C" fn(Ptr, Ptr, Ptr) -> bool,
    pub print: extern "C" fn(Ptr, Ptr, MlirContext, isize, *const MlirAttribute),
    pub is_memref_element: bool,
    pub layout: Option<extern "C" fn(Ptr, MlirType, *mut u64, *mut u64)>,
    pub verify_encoding: Option<extern "C" fn(Ptr, Ptr, MlirAttribute, isize, *const i64, MlirType) -> bool>,
}

#[repr(C)]
pub struct DialectHooks {
    pub data: Ptr,
    pub populate: extern "C" fn(Ptr, Ptr, MlirContext),
    pub materialize_constant: Option<extern "C" fn(Ptr, MlirAttribute, MlirType, MlirLocation) -> MlirOperation>,
    pub is_legal_to_inline: Option<extern "C" fn(Ptr, MlirOperation) -> bool>,
    pub verify_operation_attribute: Option<extern "C" fn(Ptr, MlirOperation, MlirStringRef, MlirAttribute) -> bool>,
}

#[repr(C)]
pub struct ConversionHooks {
    pub data: Ptr,
    pub drop: Drop,
    pub rewrite: extern "C" fn(Ptr, MlirOperation, isize, *const isize, *const MlirValue, MlirRewriterBase) -> bool,
}

/// An operand as written in the source, before its type is known.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    pub loc: *const c_char,
    pub name: MlirStringRef,
    pub number: u32,
}

/// A region argument as written in the source.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub name: Operand,
    pub ty: MlirType,
}

#[repr(C)]
pub struct PassOption {
    pub name: MlirStringRef,
    pub description: MlirStringRef,
    pub default_value: MlirStringRef,
    pub kind: c_int,
}
#[repr(C)]
pub struct PassStatistic {
    pub name: *const c_char,
    pub description: *const c_char,
}
#[repr(C)]
pub struct PassInfo {
    pub data: Ptr,
    pub argument: MlirStringRef,
    pub description: MlirStringRef,
    pub op_name: MlirStringRef,
    pub n_options: isize,
    pub options: *const PassOption,
    pub n_statistics: isize,
    pub statistics: *const PassStatistic,
    pub run: extern "C" fn(Ptr, Ptr, MlirOperation) -> bool,
    pub initialize: Option<extern "C" fn(Ptr, MlirContext) -> bool>,
    pub dialects: Option<extern "C" fn(Ptr, MlirDialectRegistry)>,
}

unsafe extern "C" {
    // dialect.cpp
    pub fn girih_register_dialect(registry: MlirDialectRegistry, name: MlirStringRef, hooks: DialectHooks);
    pub fn girih_dialect_add_type(dialect: Ptr, name: MlirStringRef, hooks: ParamHooks);
    pub fn girih_dialect_add_attribute(dialect: Ptr, name: MlirStringRef, hooks: ParamHooks);
    pub fn girih_type_get(
        l: MlirLocation,
        d: MlirStringRef,
        name: MlirStringRef,
        n: isize,
        p: *const MlirAttribute,
    ) -> MlirType;
    pub fn girih_attr_get(
        l: MlirLocation,
        d: MlirStringRef,
        name: MlirStringRef,
        n: isize,
        p: *const MlirAttribute,
    ) -> MlirAttribute;
    pub fn girih_type_params(
        t: MlirType,
        d: MlirStringRef,
        name: MlirStringRef,
        out: *mut *const MlirAttribute,
    ) -> isize;
    pub fn girih_attr_params(
        a: MlirAttribute,
        d: MlirStringRef,
        name: MlirStringRef,
        out: *mut *const MlirAttribute,
    ) -> isize;
    pub fn girih_attrs_push(sink: Ptr, a: MlirAttribute);
    // op.cpp
    pub fn girih_dialect_add_op(
        dialect: Ptr,
        name: MlirStringRef,
        hooks: OpHooks,
        n_traits: isize,
        traits: *const c_int,
        n_attrs: isize,
        attrs: *const MlirStringRef,
    );
    pub fn girih_fold_push_value(sink: Ptr, v: MlirValue);
    pub fn girih_fold_push_attr(sink: Ptr, a: MlirAttribute);
    pub fn girih_effect_push(sink: Ptr, op: MlirOperation, kind: c_int, operand: isize, result: isize);
    pub fn girih_name_value(namer: Ptr, v: MlirValue, name: MlirStringRef);
    pub fn girih_successor_push(sink: Ptr, op: MlirOperation, region: isize);
    pub fn girih_symbols_lookup(tables: Ptr, from: MlirOperation, symbol: MlirAttribute) -> MlirOperation;
    pub fn girih_symbol_is_named(symbol: MlirOperation, within: MlirOperation) -> bool;
    pub fn girih_op_effects(op: MlirOperation, data: Ptr, push: extern "C" fn(Ptr, c_int, MlirValue)) -> bool;
    pub fn girih_op_is_pure(op: MlirOperation) -> bool;
    pub fn girih_op_has_trait(op: MlirOperation, code: c_int) -> bool;
    // asm.cpp
    pub fn girih_diag_emit(l: MlirLocation, severity: c_int, m: MlirStringRef) -> Ptr;
    pub fn girih_diag_op(op: MlirOperation, severity: c_int, m: MlirStringRef) -> Ptr;
    pub fn girih_diag_emitter(e: Ptr, m: MlirStringRef) -> Ptr;
    pub fn girih_diag_parser(p: Ptr, loc: *const c_char, m: MlirStringRef) -> Ptr;
    pub fn girih_diag_note(d: Ptr, l: MlirLocation, m: MlirStringRef);
    pub fn girih_diag_report(d: Ptr);
    pub fn girih_diag_abandon(d: Ptr);
    pub fn girih_context_print_op_on_diagnostic(c: MlirContext, on: bool);
    pub fn girih_parse_token(p: Ptr, token: c_int, optional: bool) -> bool;
    pub fn girih_parse_keyword(p: Ptr, k: MlirStringRef, optional: bool) -> bool;
    pub fn girih_parse_any_keyword(p: Ptr, optional: bool, out: *mut MlirStringRef) -> c_int;
    pub fn girih_parse_integer(p: Ptr, optional: bool, out: *mut i64) -> c_int;
    pub fn girih_parse_float(p: Ptr, out: *mut f64) -> bool;
    pub fn girih_parse_string(p: Ptr, optional: bool, data: Ptr, push: PushStr) -> c_int;
    pub fn girih_parse_symbol(p: Ptr, optional: bool, out: *mut MlirAttribute) -> c_int;
    pub fn girih_parse_dims(
        p: Ptr,
        allow_dynamic: bool,
        trailing_x: bool,
        data: Ptr,
        push: extern "C" fn(Ptr, i64),
    ) -> bool;
    pub fn girih_parse_type(p: Ptr, optional: bool, out: *mut MlirType) -> c_int;
    pub fn girih_parse_attribute(p: Ptr, optional: bool, ty: MlirType, out: *mut MlirAttribute) -> c_int;
    pub fn girih_parse_list(p: Ptr, delimiter: c_int, data: Ptr, element: extern "C" fn(Ptr) -> bool) -> bool;
    pub fn girih_parser_loc(p: Ptr) -> *const c_char;
    pub fn girih_parser_name_loc(p: Ptr) -> *const c_char;
    pub fn girih_parser_encode_loc(p: Ptr, l: *const c_char) -> MlirLocation;
    pub fn girih_parser_context(p: Ptr) -> MlirContext;
    pub fn girih_parse_operand(p: Ptr, optional: bool, out: *mut Operand) -> c_int;
    pub fn girih_resolve_operand(p: Ptr, state: Ptr, o: Operand, t: MlirType) -> bool;
    pub fn girih_parse_argument(p: Ptr, allow_type: bool, out: *mut Argument) -> bool;
    pub fn girih_parse_optional_argument(p: Ptr, allow_type: bool, out: *mut Argument) -> c_int;
    pub fn girih_parse_region(p: Ptr, state: Ptr, optional: bool, n: isize, args: *const Argument) -> c_int;
    pub fn girih_state_add_region(state: Ptr);
    pub fn girih_parse_successor(p: Ptr, state: Ptr, optional: bool) -> c_int;
    pub fn girih_parse_attr_dict(p: Ptr, state: Ptr, with_keyword: bool) -> bool;
    pub fn girih_state_add_type(state: Ptr, t: MlirType);
    pub fn girih_state_add_attr(state: Ptr, name: MlirStringRef, a: MlirAttribute);
    pub fn girih_state_attr(state: Ptr, name: MlirStringRef) -> MlirAttribute;
    pub fn girih_state_operands(state: Ptr, out: *mut *const MlirValue) -> isize;
    pub fn girih_state_region(state: Ptr, i: isize) -> MlirRegion;
    pub fn girih_state_loc(state: Ptr) -> MlirLocation;
    pub fn girih_region_ensure_terminator(r: MlirRegion, name: MlirStringRef, l: MlirLocation);
    pub fn girih_print_str(p: Ptr, s: MlirStringRef);
    pub fn girih_print_type(p: Ptr, t: MlirType);
    pub fn girih_print_attribute(p: Ptr, a: MlirAttribute, with_type: bool);
    pub fn girih_print_string(p: Ptr, s: MlirStringRef);
    pub fn girih_print_symbol(p: Ptr, s: MlirStringRef);
    pub fn girih_print_newline(p: Ptr);
    pub fn girih_print_operand(p: Ptr, v: MlirValue);
    pub fn girih_print_argument(p: Ptr, v: MlirValue, omit_type: bool);
    pub fn girih_print_successor(p: Ptr, b: MlirBlock);
    pub fn girih_print_region(p: Ptr, r: MlirRegion, entry_args: bool, terminators: bool);
    pub fn girih_print_shadow_arguments(p: Ptr, r: MlirRegion, n: isize, names: *const MlirValue);
    pub fn girih_print_attr_dict(p: Ptr, op: MlirOperation, with_keyword: bool, n: isize, elided: *const MlirStringRef);
    pub fn girih_parse_module(c: MlirContext, src: MlirStringRef, file: MlirStringRef, verify: bool) -> MlirOperation;
    pub fn girih_verify_all(root: MlirOperation) -> isize;
    // rewrite.cpp
    pub fn girih_type_converter_create() -> Ptr;
    pub fn girih_type_converter_destroy(t: Ptr);
    pub fn girih_type_converter_add(
        t: Ptr,
        data: Ptr,
        drop: Drop,
        convert: extern "C" fn(Ptr, MlirType, Ptr, extern "C" fn(Ptr, MlirType)) -> c_int,
    );
    pub fn girih_type_converter_add_materialization(
        t: Ptr,
        kind: c_int,
        data: Ptr,
        drop: Drop,
        build: extern "C" fn(
            Ptr,
            Ptr,
            isize,
            *const MlirType,
            isize,
            *const MlirValue,
            MlirLocation,
            Ptr,
            extern "C" fn(Ptr, MlirValue),
        ) -> bool,
    );
    pub fn girih_type_converter_convert(t: Ptr, ty: MlirType, sink: Ptr, push: extern "C" fn(Ptr, MlirType)) -> bool;
    pub fn girih_type_converter_is_legal_type(t: Ptr, ty: MlirType) -> bool;
    pub fn girih_type_converter_is_legal_op(t: Ptr, op: MlirOperation) -> bool;
    pub fn girih_target_create(c: MlirContext) -> Ptr;
    pub fn girih_target_destroy(t: Ptr);
    pub fn girih_target_dialect(t: Ptr, d: MlirStringRef, legal: bool);
    pub fn girih_target_op(t: Ptr, c: MlirContext, name: MlirStringRef, legal: bool);
    pub fn girih_target_dynamic(
        t: Ptr,
        c: MlirContext,
        name: MlirStringRef,
        data: Ptr,
        drop: Drop,
        legal: extern "C" fn(Ptr, MlirOperation) -> c_int,
    );
    pub fn girih_target_dynamic_dialect(
        t: Ptr,
        dialect: MlirStringRef,
        data: Ptr,
        drop: Drop,
        legal: extern "C" fn(Ptr, MlirOperation) -> c_int,
    );
    pub fn girih_patterns_add_conversion(
        s: MlirRewritePatternSet,
        tc: Ptr,
        root: MlirStringRef,
        benefit: u32,
        hooks: ConversionHooks,
    );
    pub fn girih_patterns_add_scf(s: MlirRewritePatternSet, tc: Ptr, t: Ptr);
    pub fn girih_patterns_add_func(s: MlirRewritePatternSet, tc: Ptr, t: Ptr);
    pub fn girih_apply_conversion(root: MlirOperation, t: Ptr, p: MlirFrozenRewritePatternSet, full: bool) -> bool;
    pub fn girih_conversion_convert_region_types(r: MlirRewriterBase, region: MlirRegion, tc: Ptr) -> bool;
    pub fn girih_conversion_replace_multiple(
        r: MlirRewriterBase,
        op: MlirOperation,
        n: isize,
        sizes: *const isize,
        values: *const MlirValue,
    );
    pub fn girih_rewriter_create_block(
        r: MlirRewriterBase,
        region: MlirRegion,
        n: isize,
        types: *const MlirType,
        l: MlirLocation,
    ) -> MlirBlock;
    pub fn girih_rewriter_inline_region(r: MlirRewriterBase, from: MlirRegion, to: MlirRegion);
    pub fn girih_rewriter_inline_block(
        r: MlirRewriterBase,
        from: MlirBlock,
        before: MlirOperation,
        n: isize,
        values: *const MlirValue,
    );
    pub fn girih_notify_match_failure(r: MlirRewriterBase, op: MlirOperation, why: MlirStringRef);
    pub fn girih_builder_insert(b: Ptr, op: MlirOperation) -> MlirOperation;
    // pass.cpp
    pub fn girih_register_pass(info: *const PassInfo);
    pub fn girih_register_pipeline(
        name: MlirStringRef,
        description: MlirStringRef,
        data: Ptr,
        expand: extern "C" fn(Ptr, MlirStringRef, Ptr, PushStr) -> bool,
    );
    pub fn girih_pass_is_registered(name: MlirStringRef) -> bool;
    pub fn girih_pass_option_bool(pass: Ptr, name: MlirStringRef, out: *mut bool) -> bool;
    pub fn girih_pass_option_int(pass: Ptr, name: MlirStringRef, out: *mut i64) -> bool;
    pub fn girih_pass_option_string(pass: Ptr, name: MlirStringRef, sink: Ptr, push: PushStr) -> bool;
    pub fn girih_pass_option_strings(pass: Ptr, name: MlirStringRef, sink: Ptr, push: PushStr) -> bool;
    pub fn girih_pass_option_ints(pass: Ptr, name: MlirStringRef, sink: Ptr, push: extern "C" fn(Ptr, i64)) -> bool;
    pub fn girih_pass_statistic_add(pass: Ptr, index: isize, n: u64);
    pub fn girih_pass_preserve_all(pass: Ptr);
    pub fn girih_pass_analysis(
        pass: Ptr,
        high: u64,
        low: u64,
        data: Ptr,
        create: extern "C" fn(Ptr) -> Ptr,
        drop: Drop,
    ) -> Ptr;
    pub fn girih_pass_run_pipeline(pass: Ptr, op: MlirOperation, text: MlirStringRef, sink: Ptr, push: PushStr)
    -> bool;
    pub fn girih_run_pipeline(
        op: MlirOperation,
        text: MlirStringRef,
        verify: bool,
        print_after_all: bool,
        timing: bool,
        sink: Ptr,
        push: PushStr,
    ) -> bool;
    // minimal.cpp
    pub fn girih_register_minimal_interfaces(registry: MlirDialectRegistry);
    // tools.cpp
    pub fn girih_opt_main(
        argc: c_int,
        argv: *mut *mut c_char,
        tool: MlirStringRef,
        registry: MlirDialectRegistry,
        check: extern "C" fn(name: MlirStringRef, text: MlirStringRef) -> bool,
    ) -> c_int;
    pub fn girih_lsp_main(argc: c_int, argv: *mut *mut c_char, registry: MlirDialectRegistry) -> c_int;
}

/// A borrowed string as MLIR's C API takes it.
pub fn sr(s: &str) -> MlirStringRef {
    MlirStringRef {
        data: s.as_ptr().cast(),
        length: s.len(),
    }
}

/// # Safety
/// `s` must point to bytes that outlive the result.
pub unsafe fn bytes<'a>(s: MlirStringRef) -> &'a [u8] {
    if s.data.is_null() {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(s.data.cast(), s.length) }
}

/// The name of something; one that is not UTF-8 equals no name that Rust code can ask for.
///
/// # Safety
/// `s` must point to bytes that outlive the result.
pub unsafe fn from_sr<'a>(s: MlirStringRef) -> &'a str {
    std::str::from_utf8(unsafe { bytes(s) }).unwrap_or("\u{fffd}")
}

/// Appends to the `String` that `sink` points to.
pub extern "C" fn push_string(sink: Ptr, s: MlirStringRef) {
    unsafe { (*sink.cast::<String>()).push_str(&String::from_utf8_lossy(bytes(s))) }
}
/// Appends to the `Vec<u8>` that `sink` points to.
pub extern "C" fn push_bytes(sink: Ptr, s: MlirStringRef) {
    unsafe { (*sink.cast::<Vec<u8>>()).extend_from_slice(bytes(s)) }
}
/// Appends to the `Vec<String>` that `sink` points to.
pub extern "C" fn push_string_item(sink: Ptr, s: MlirStringRef) {
    unsafe { (*sink.cast::<Vec<String>>()).push(String::from_utf8_lossy(bytes(s)).into_owned()) }
}
/// Appends to the `Vec<i64>` that `sink` points to.
pub extern "C" fn push_i64(sink: Ptr, v: i64) {
    unsafe { (*sink.cast::<Vec<i64>>()).push(v) }
}
/// Drops the `Box<T>` that `p` came from.
pub extern "C" fn drop_box<T>(p: Ptr) {
    drop(unsafe { Box::from_raw(p.cast::<T>()) })
}
