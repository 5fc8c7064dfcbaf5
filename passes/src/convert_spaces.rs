//! `tile-convert-spaces{to=gpu}`: memory spaces of memrefs as another dialect has them.
//!
//! ```mlir
//! func.func @f(%a: memref<4xf32, #tile.shared>) { ... }                    // before
//! func.func @f(%a: memref<4xf32, #gpu.address_space<workgroup>>) { ... }   // after, to=gpu
//! func.func @f(%a: memref<4xf32, 3>) { ... }                               // after, to=nvvm
//! func.func @f(%a: memref<4xf32, #tile.shared>) { ... }                    // after, to=tile, from either
//! ```
//!
//! It changes types wherever they stand: values, function signatures, block arguments, types in attributes. The table of
//! spaces is in `girih_dialects::tile::spaces`. A memref without a space keeps none, and `#tile.generic` becomes none in
//! the other dialects, whose default space is the generic one. An `align` is dropped; it binds whoever allocates.
//!
//! Needs nothing. Refuses, before it changes anything: swizzled shared memory, since no other dialect says how its rows
//! are permuted and plain accesses would touch other elements; spaces that the other dialect lacks; and ops of `tile` on
//! memrefs where `to` is not `tile`, since they know their own spaces only.
use girih_dialects::tile::spaces::{
    Generic, Shared, address_space, from_address_space, from_gpu, swizzle_mode, to_gpu,
};
use girih_ir::{
    ext::BlockExt,
    kind::{AnyType, I64, Kind},
    pass::{OptionDef, OptionDefault, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
};
use mlir_sys::*;

/// `tile-convert-spaces`.
pub struct ConvertSpaces;

/// The dialect whose spaces are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Gpu,
    Nvvm,
    Tile,
}

impl Pass for ConvertSpaces {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[OptionDef {
            name: "to",
            description: "gpu: #gpu.address_space<...>, nvvm: LLVM's numbers, tile: #tile.<space>",
            default: OptionDefault::Str("gpu"),
        }],
        statistics: &[Statistic {
            name: "types",
            description: "Types of values and in attributes that were changed",
        }],
        dialects: &[
            girih_ir::pass::DialectSource::Upstream(mlirGetDialectHandle__gpu__),
            girih_ir::pass::DialectSource::Rust(&girih_dialects::tile::TILE),
        ],
        ..PassInfo::new(
            "tile-convert-spaces",
            "Converts memory spaces of memrefs between tile, gpu and NVVM's numbers",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let to = match cx.option_str("to").as_str() {
            "gpu" => To::Gpu,
            "nvvm" => To::Nvvm,
            "tile" => To::Tile,
            other => {
                let m = format!("option 'to' of tile-convert-spaces is gpu, nvvm or tile, but is '{other}'");
                return Diag::error(module.location(), m).report();
            }
        };
        let (mut errors, mut changes) = (Errors::default(), vec![]);
        for op in module.nested_ops() {
            collect(op, to, &mut changes, &mut errors);
        }
        errors.result()?;
        cx.count(0, changes.len() as u64);
        for change in changes {
            change.apply();
        }
        Ok(())
    }
}

/// One type that becomes another.
enum Change<'c> {
    Value(Value<'c, 'c>, Type<'c>),
    Attribute(OperationRef<'c, 'c>, String, Type<'c>),
}

impl<'c> Change<'c> {
    fn apply(self) {
        match self {
            // SAFETY: the value is alive, and its owner's type is checked by the verifier that follows every pass.
            Change::Value(v, t) => unsafe { mlirValueSetType(v.to_raw(), t.to_raw()) },
            Change::Attribute(op, name, t) => op.set_attr(&name, AnyType::to_attribute(&t, op.ctx())),
        }
    }
}

fn collect<'c>(op: OperationRef<'c, 'c>, to: To, changes: &mut Vec<Change<'c>>, errors: &mut Errors) {
    let arguments: Vec<_> = (0..op.region_count())
        .flat_map(|i| op.region_at(i).block_list())
        .flat_map(|b| b.argument_values())
        .collect();
    if to != To::Tile && op.dialect_name() == "tile" {
        let own = op.operand_values().into_iter().chain(op.result_values());
        if own.chain(arguments).any(|v| v.r#type().is_memref_type()) {
            errors.op(
                &op,
                "knows memrefs in tile's own spaces only; lower it first, with convert-tile-to-nvvm",
            );
        }
        return;
    }
    // A type that several values of one op have is refused once.
    let mut refused: Vec<Type<'c>> = vec![];
    let mut converted = |t: Type<'c>| match convert(t, to) {
        Ok(new) => Some(new).filter(|new| *new != t),
        Err(Refusal { memref, why }) => {
            if !refused.contains(&memref) {
                errors.op(&op, format!("has {memref}, but {why}"));
                refused.push(memref);
            }
            None
        }
    };
    for v in op.result_values().into_iter().chain(arguments) {
        if let Some(t) = converted(v.r#type()) {
            changes.push(Change::Value(v, t));
        }
    }
    for i in 0..op.attribute_count() {
        let Ok((name, value)) = op.attribute_at(i) else {
            continue;
        };
        if let Some(t) = AnyType::from_attribute(value).and_then(&mut converted) {
            changes.push(Change::Attribute(
                op,
                name.as_string_ref().as_str().unwrap_or_default().to_owned(),
                t,
            ));
        }
    }
}

/// A memref that has no form in the other dialect.
struct Refusal<'c> {
    memref: Type<'c>,
    why: String,
}

/// The type with other spaces, or the memref in it for which there are none.
fn convert<'c>(t: Type<'c>, to: To) -> Result<Type<'c>, Refusal<'c>> {
    let refused = |why| Refusal { memref: t, why };
    let raw = t.to_raw();
    // SAFETY: each accessor is called on a type of its kind, and what is built differs from a valid type in spaces only.
    unsafe {
        if mlirTypeIsAMemRef(raw) {
            let element = convert(Type::from_raw(mlirShapedTypeGetElementType(raw)), to)?;
            let space =
                convert_space(t, Attribute::from_option_raw(mlirMemRefTypeGetMemorySpace(raw)), to).map_err(refused)?;
            let shape = t.shape().unwrap_or_default();
            return Ok(Type::from_raw(mlirMemRefTypeGet(
                element.to_raw(),
                shape.len() as isize,
                shape.as_ptr(),
                mlirMemRefTypeGetLayout(raw),
                raw_space(space),
            )));
        }
        if mlirTypeIsAUnrankedMemRef(raw) {
            let element = convert(Type::from_raw(mlirShapedTypeGetElementType(raw)), to)?;
            let space = convert_space(t, Attribute::from_option_raw(mlirUnrankedMemrefGetMemorySpace(raw)), to)
                .map_err(refused)?;
            return Ok(Type::from_raw(mlirUnrankedMemRefTypeGet(
                element.to_raw(),
                raw_space(space),
            )));
        }
        let all = |n: isize, get: unsafe extern "C" fn(MlirType, isize) -> MlirType| {
            (0..n)
                .map(|i| convert(Type::from_raw(get(raw, i)), to).map(|t| t.to_raw()))
                .collect::<Result<Vec<_>, _>>()
        };
        let context = mlirTypeGetContext(raw);
        if mlirTypeIsAFunction(raw) {
            let inputs = all(mlirFunctionTypeGetNumInputs(raw), mlirFunctionTypeGetInput)?;
            let results = all(mlirFunctionTypeGetNumResults(raw), mlirFunctionTypeGetResult)?;
            return Ok(Type::from_raw(mlirFunctionTypeGet(
                context,
                inputs.len() as isize,
                inputs.as_ptr(),
                results.len() as isize,
                results.as_ptr(),
            )));
        }
        if mlirTypeIsATuple(raw) {
            let elements = all(mlirTupleTypeGetNumTypes(raw), mlirTupleTypeGetType)?;
            return Ok(Type::from_raw(mlirTupleTypeGet(
                context,
                elements.len() as isize,
                elements.as_ptr(),
            )));
        }
    }
    Ok(t)
}

fn raw_space(space: Option<Attribute<'_>>) -> MlirAttribute {
    space.map_or(unsafe { mlirAttributeGetNull() }, |s| s.to_raw())
}

/// The space as `to` has it; `None` is the default space.
fn convert_space<'c>(memref: Type<'c>, space: Option<Attribute<'c>>, to: To) -> Result<Option<Attribute<'c>>, String> {
    let Some(space) = space else { return Ok(None) };
    // SAFETY: the type is alive.
    let context = girih_ir::context(unsafe { ContextRef::from_raw(mlirTypeGetContext(memref.to_raw())) });
    let tile = as_tile(context, space)?;
    if to == To::Tile {
        return Ok(Some(tile));
    }
    if Generic::of(tile).is_some() {
        return Ok(None);
    }
    if let Some(shared) = Shared::of(tile)
        && let Some(mode) = swizzle_mode(shared.swizzle(), shared.atom())
        && mode.span_bytes().is_some()
    {
        return Err(format!(
            "no other dialect says that its rows are permuted (swizzle = {}), and plain accesses would touch other elements; lower it with convert-tile-to-nvvm, or store the rows without a swizzle",
            shared.swizzle()
        ));
    }
    match to {
        To::Gpu => to_gpu(context, tile).map(Some).ok_or_else(|| {
            format!("#gpu.address_space has no counterpart of {tile}; convert to nvvm, whose numbers cover more")
        }),
        _ => address_space(tile)
            .map(|n| Some(I64::to_attribute(&i64::from(n), context)))
            .ok_or_else(|| format!("{tile} has no addresses, and so no number")),
    }
}

/// The space of a memref as one of tile's.
fn as_tile<'c>(context: &'c Context, space: Attribute<'c>) -> Result<Attribute<'c>, String> {
    if let Some(number) = I64::from_attribute(space) {
        return u32::try_from(number)
            .ok()
            .and_then(|n| from_address_space(context, n))
            .ok_or_else(|| {
                format!("{number} is the number of no state space of PTX; it has 0, 1, 3, 4, 5, 7 and 101")
            });
    }
    let text = space.to_string();
    if text.starts_with("#tile.") {
        return Ok(space);
    }
    from_gpu(context, space).ok_or_else(|| {
        format!("{text} is no space that this pass knows: #tile.<space>, #gpu.address_space<...> or a number")
    })
}
