//! Copies a function, and all that it calls or reads, into a module of its own, where memory has no spaces: on the CPU
//! there is one.
use crate::error::{Error, Result};
use melior::{
    StringRef,
    ir::{
        BlockLike, Module, Operation, OperationRef, RegionLike,
        attribute::AttributeLike,
        operation::{OperationLike, WalkOrder, WalkResult},
    },
};
use mlir_sys::*;
use std::collections::{BTreeMap, BTreeSet};

/// A module that holds `@name`, ready to be lowered and called.
pub(super) fn extract<'c>(module: OperationRef<'c, '_>, name: &str) -> Result<Module<'c>> {
    let symbols = symbols(module)?;
    let Some(&function) = symbols.get(name) else {
        let known: Vec<_> = functions(&symbols).map(|name| format!("`@{name}`")).collect();
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        return Err(Error::Reference(format!(
            "there is no function `@{name}` in the file; functions found: {known}"
        )));
    };
    expect_function(function, name)?;

    let extracted = Module::new(module.location());
    let mut seen = BTreeSet::from([name.to_owned()]);
    let mut queue = vec![(name.to_owned(), function)];
    while let Some((symbol, operation)) = queue.pop() {
        if is_function(operation) && is_declaration(operation) {
            return Err(Error::Reference(format!(
                "`@{name}` calls `@{symbol}`, which is declared but has no body; a reference calls functions of its file"
            )));
        }
        for used in symbols_used(operation) {
            let Some(&definition) = symbols.get(&used) else {
                continue;
            };
            if seen.insert(used.clone()) {
                queue.push((used, definition));
            }
        }
        // SAFETY: a clone is ours until the block takes it.
        let copy = unsafe { Operation::from_raw(mlirOperationClone(operation.to_raw())) };
        let copy = extracted.body().append_operation(copy);
        if is_function(copy) {
            forget_attributes(copy);
        }
        // SAFETY: the copy is alive, and no other reference to its types is held.
        unsafe { drop_memory_spaces(copy) };
    }
    expose(root(&extracted, name)?, module);
    Ok(extracted)
}

/// The function called `name` in a module that [`extract`] made.
pub(super) fn root<'c, 'a>(extracted: &'a Module<'c>, name: &str) -> Result<OperationRef<'c, 'a>> {
    symbols(extracted.as_operation())?
        .remove(name)
        .ok_or_else(|| Error::Reference(format!("`@{name}` was lost while it was lowered")))
}

fn symbols<'c, 'a>(module: OperationRef<'c, 'a>) -> Result<BTreeMap<String, OperationRef<'c, 'a>>> {
    let body = module.region(0).ok().and_then(|region| region.first_block());
    let body = body.ok_or_else(|| Error::WrongOperation {
        expected: "a `builtin.module`",
        found: operation_name(module),
    })?;
    let mut symbols = BTreeMap::new();
    let mut next = body.first_operation();
    while let Some(operation) = next {
        if let Some(name) = string_attribute(operation, "sym_name") {
            symbols.insert(name, operation);
        }
        next = operation.next_in_block();
    }
    Ok(symbols)
}

fn functions<'s>(symbols: &'s BTreeMap<String, OperationRef<'_, '_>>) -> impl Iterator<Item = &'s str> {
    symbols
        .iter()
        .filter(|(_, operation)| is_function(**operation))
        .map(|(name, _)| name.as_str())
}

fn expect_function(operation: OperationRef<'_, '_>, name: &str) -> Result<()> {
    if !is_function(operation) {
        return Err(Error::Reference(format!(
            "`@{name}` is a `{}`; a reference is a `func.func` of upstream operations",
            operation_name(operation)
        )));
    }
    if is_declaration(operation) {
        return Err(Error::Reference(format!(
            "`@{name}` is declared but has no body; there is nothing to run"
        )));
    }
    Ok(())
}

fn operation_name(operation: OperationRef<'_, '_>) -> String {
    operation.name().as_string_ref().as_str().unwrap_or_default().to_owned()
}

fn is_function(operation: OperationRef<'_, '_>) -> bool {
    operation_name(operation) == "func.func"
}

fn is_declaration(function: OperationRef<'_, '_>) -> bool {
    function.region(0).map_or(true, |body| body.first_block().is_none())
}

fn string_attribute(operation: OperationRef<'_, '_>, name: &str) -> Option<String> {
    let attribute = operation.attribute(name).ok()?;
    // SAFETY: the value is read only if the attribute is a string.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAString(raw).then(|| text(mlirStringAttrGetValue(raw)))
    }
}

/// # Safety
/// `string` points to live memory.
unsafe fn text(string: MlirStringRef) -> String {
    if string.length == 0 {
        return String::new();
    }
    // SAFETY: by contract.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(string.data.cast(), string.length) }).into_owned()
}

/// Every symbol that the operation, or one inside it, names.
fn symbols_used(operation: OperationRef<'_, '_>) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    operation.walk(WalkOrder::PreOrder, |inner| {
        for (_, attribute) in inner.attributes() {
            // SAFETY: the value is read only if the attribute is a symbol reference.
            unsafe {
                let raw = attribute.to_raw();
                if mlirAttributeIsASymbolRef(raw) {
                    used.insert(text(mlirSymbolRefAttrGetRootReference(raw)));
                }
            }
        }
        WalkResult::Advance
    });
    used
}

/// Attributes of parameters and results speak of kernels; LLVM would not know them.
fn forget_attributes(function: OperationRef<'_, '_>) {
    for name in ["arg_attrs", "res_attrs"] {
        // SAFETY: the operation is alive; removing what is not there does nothing.
        unsafe { mlirOperationRemoveAttributeByName(function.to_raw(), string(name)) };
    }
}

/// Makes the function callable from outside, and its tensors read-only.
fn expose(function: OperationRef<'_, '_>, module: OperationRef<'_, '_>) {
    // SAFETY: the operation is alive, and the attributes are of its context.
    unsafe {
        let context = mlirOperationGetContext(module.to_raw());
        mlirOperationRemoveAttributeByName(function.to_raw(), string("sym_visibility"));
        mlirOperationSetDiscardableAttributeByName(
            function.to_raw(),
            string("llvm.emit_c_interface"),
            mlirUnitAttrGet(context),
        );
        let ty = mlirTypeAttrGetValue(mlirOperationGetInherentAttributeByName(
            function.to_raw(),
            string("function_type"),
        ));
        let params: Vec<_> = (0..mlirFunctionTypeGetNumInputs(ty))
            .map(|i| match mlirTypeIsARankedTensor(mlirFunctionTypeGetInput(ty, i)) {
                true => "{bufferization.writable = false}",
                false => "{}",
            })
            .collect();
        let attributes = format!("[{}]", params.join(", "));
        let attributes = mlirAttributeParseGet(context, string(&attributes));
        mlirOperationSetInherentAttributeByName(function.to_raw(), string("arg_attrs"), attributes);
    }
}

/// The reference must be used before `text` goes.
fn string(text: &str) -> MlirStringRef {
    StringRef::new(text).to_raw()
}

/// Rewrites every memref type in an operation, in the types of its values and in its type attributes.
///
/// # Safety
/// Nothing else looks at the operation meanwhile.
unsafe fn drop_memory_spaces(operation: OperationRef<'_, '_>) {
    operation.walk(WalkOrder::PreOrder, |inner| {
        // SAFETY: by contract; types are replaced by types of the same rank and element type.
        unsafe {
            for result in inner.results() {
                use melior::ir::ValueLike;
                let raw = result.to_raw();
                mlirValueSetType(raw, plain(mlirValueGetType(raw)));
            }
            for region in inner.regions() {
                let mut block = region.first_block();
                while let Some(current) = block {
                    for i in 0..mlirBlockGetNumArguments(current.to_raw()) {
                        let argument = mlirBlockGetArgument(current.to_raw(), i);
                        mlirValueSetType(argument, plain(mlirValueGetType(argument)));
                    }
                    block = current.next_in_region();
                }
            }
            let attributes: Vec<_> = inner.attributes().collect();
            for (name, attribute) in attributes {
                if mlirAttributeIsAType(attribute.to_raw()) {
                    let old = mlirTypeAttrGetValue(attribute.to_raw());
                    let new = plain(old);
                    if !mlirTypeEqual(old, new) {
                        let name = name.as_string_ref();
                        mlirOperationSetAttributeByName(inner.to_raw(), name.to_raw(), mlirTypeAttrGet(new));
                    }
                }
            }
        }
        WalkResult::Advance
    });
}

/// The type with no memory space in it.
///
/// # Safety
/// `ty` is a live type.
unsafe fn plain(ty: MlirType) -> MlirType {
    // SAFETY: each query follows the check that it needs.
    unsafe {
        if mlirTypeIsAMemRef(ty) {
            let none = MlirAttribute {
                ptr: std::ptr::null_mut(),
            };
            if mlirAttributeEqual(mlirMemRefTypeGetMemorySpace(ty), none) {
                return ty;
            }
            let rank = mlirShapedTypeGetRank(ty);
            let sizes: Vec<_> = (0..rank as isize)
                .map(|dim| mlirShapedTypeGetDimSize(ty, dim))
                .collect();
            let (element, layout) = (mlirShapedTypeGetElementType(ty), mlirMemRefTypeGetLayout(ty));
            return mlirMemRefTypeGet(element, rank as isize, sizes.as_ptr(), layout, none);
        }
        if mlirTypeIsAFunction(ty) {
            let inputs: Vec<_> = (0..mlirFunctionTypeGetNumInputs(ty))
                .map(|i| plain(mlirFunctionTypeGetInput(ty, i)))
                .collect();
            let results: Vec<_> = (0..mlirFunctionTypeGetNumResults(ty))
                .map(|i| plain(mlirFunctionTypeGetResult(ty, i)))
                .collect();
            let context = mlirTypeGetContext(ty);
            let (ins, outs) = (inputs.len() as isize, results.len() as isize);
            return mlirFunctionTypeGet(context, ins, inputs.as_ptr(), outs, results.as_ptr());
        }
        ty
    }
}
