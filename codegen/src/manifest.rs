//! The launch manifest of a lowered module, from the `tile.entry` ops that its kernels left.
//!
//! | `tile.entry` | manifest |
//! |---|---|
//! | the launch region's arguments | `args`, and `params` in the order of the ABI |
//! | what `tile.grid` depends on | `grid`, as expressions of sizes, strides and numbers |
//! | `args(...)` of `tile.grid` | `tensor_maps`, and the last `params` |
//! | `threads`, `cluster`, `shared_bytes` | `block`, `cluster`, `dynamic_shared_bytes` |
//!
//! The ABI: for each memref its address, then each dynamic size, then each dynamic stride; scalars and tensor map arguments
//! as themselves; then the tensor maps of the launch.
use girih_core::{
    dtype::DType,
    manifest::{Arg, Expr, Fact, Kernel, Manifest, MapForm, Param, SCHEMA},
    target::Target,
};
use girih_dialects::tile::{
    facts::Facts,
    host::{self, HostMap},
    ops::kernel::Entry,
    types::TensorMapType,
    verify::element_bits,
};
use girih_ir::{
    ext::{BlockExt, DYNAMIC},
    kind::{Kind, SymbolName},
    prelude::*,
};
use mlir_sys::{mlirAttributeIsAType, mlirLLVMFunctionTypeGetNumInputs, mlirTypeAttrGetValue};

/// How to launch the kernels of `module`, compiled for `target`; `None` where it has no `tile.entry`. What a launcher could
/// not do is reported at the op that asks for it, all of it at once.
pub fn manifest<'c: 'a, 'a>(module: OperationRef<'c, 'a>, target: Target) -> Res<Option<Manifest>> {
    let mut errors = Errors::default();
    let mut kernels = vec![];
    for op in module.nested_ops() {
        if let Some(entry) = op.cast::<Entry>() {
            kernels.extend(errors.merge(kernel(module, entry)));
        }
    }
    errors.result()?;
    if kernels.is_empty() {
        return Ok(None);
    }
    let manifest = Manifest {
        schema: SCHEMA,
        girih: env!("CARGO_PKG_VERSION").to_owned(),
        target: target.to_string(),
        kernels,
    };
    match manifest.check() {
        Ok(()) => Ok(Some(manifest)),
        Err(e) => Diag::error(module.location(), e.to_string()).report(),
    }
}

fn kernel<'c: 'a, 'a>(module: OperationRef<'c, 'a>, entry: Entry<'c, 'a>) -> Res<Kernel> {
    let (op, mut errors) = (entry.op(), Errors::default());
    let launch = errors.merge(host::launch(op, entry.launch()));
    let maps = launch.as_ref().map(|l| &l.maps[..]).unwrap_or_default();
    let arguments = entry.launch().entry().map(|b| b.argument_values()).unwrap_or_default();
    let names = entry.arg_names();
    if names.len() != arguments.len() {
        errors.op(
            &op,
            format!("has {} arguments, but names {}", arguments.len(), names.len()),
        );
    }
    let (mut args, mut params) = (vec![], vec![]);
    for (i, (value, name)) in arguments.iter().zip(&names).enumerate() {
        let alignment = map_alignment(maps, i).max(Facts::of(op, i).aligned as u64);
        match argument(i, value.r#type(), name, alignment, &mut params) {
            Ok(arg) => args.push(arg),
            Err(why) => errors.op(&op, format!("argument '{name}' is {}, {why}", value.r#type())),
        }
    }
    params.extend((0..maps.len()).map(|map| Param::TensorMap { map }));

    let block = positive(entry.threads()).ok_or(("threads", entry.threads()));
    let shared = entry.shared_bytes().unwrap_or(0);
    let shared = u32::try_from(shared).map_err(|_| ("shared_bytes", shared));
    for (name, value) in [block.err(), shared.err()].into_iter().flatten() {
        errors.op(&op, format!("{name} = {value}, which no launch can have"));
    }
    let cluster = entry.cluster().unwrap_or_else(|| vec![1, 1, 1]);
    let sizes: Vec<u32> = cluster.iter().filter_map(|n| positive(*n)).collect();
    let sizes: Option<[u32; 3]> = sizes.try_into().ok().filter(|_| cluster.len() == 3);
    if sizes.is_none() {
        errors.op(
            &op,
            format!("cluster = {cluster:?}, but a cluster has three sizes of at least 1"),
        );
    }
    errors.merge(check_function(module, entry, params.len()));
    errors.result()?;
    let (Some(launch), Ok(threads), Ok(dynamic_shared_bytes), Some(cluster)) = (launch, block, shared, sizes) else {
        return Err(Reported);
    };
    Ok(Kernel {
        name: entry.sym_name(),
        args,
        params,
        tensor_maps: launch.maps.into_iter().map(|map| map.template).collect(),
        grid: launch.grid,
        block: [threads, 1, 1],
        cluster,
        dynamic_shared_bytes,
        facts: facts(op, &arguments),
    })
}

/// What the attributes of the arguments say of sizes, strides and numbers; what they say of an address is its alignment.
fn facts<'c>(op: OperationRef<'c, '_>, arguments: &[Value<'c, '_>]) -> Vec<Fact> {
    let mut all = vec![];
    for (arg, argument) in arguments.iter().enumerate() {
        let (t, said) = (argument.r#type(), Facts::of(op, arg));
        if !t.is_memref_type() {
            let (multiple, range) = (said.multiple(0) as u64, said.range);
            if multiple > 1 || range.is_some() {
                let value = Expr::Scalar { arg };
                all.push(Fact { value, multiple, range });
            }
            continue;
        }
        let bytes = element_bits(t).unwrap_or(8) / 8;
        let rows = (said.aligned as u64 / bytes).max(1);
        let (strides, _) = t.strides_and_offset().unwrap_or_default();
        let sizes = (0..strides.len()).map(|dim| (Expr::Size { arg, dim }, said.multiple(dim) as u64));
        let dynamic = (0..strides.len()).filter(|dim| strides[*dim] == DYNAMIC);
        let strides = dynamic.map(|dim| (Expr::Stride { arg, dim }, rows));
        let asked = sizes.chain(strides).filter(|(_, multiple)| *multiple > 1);
        all.extend(asked.map(|(value, multiple)| Fact {
            value,
            multiple,
            range: None,
        }));
    }
    all
}

fn positive(n: i64) -> Option<u32> {
    u32::try_from(n).ok().filter(|n| *n > 0)
}

/// Bytes that the tensor maps of an argument need its address to be a multiple of; 1 where it has none that must be.
fn map_alignment(maps: &[HostMap<'_, '_>], arg: usize) -> u64 {
    let of_arg = maps
        .iter()
        .filter(|map| map.template.arg == arg && !map.template.optional);
    of_arg.map(|map| map.template.interleave.alignment()).max().unwrap_or(1)
}

/// The logical argument; its parameters are appended to `params`.
fn argument(arg: usize, t: Type<'_>, name: &str, alignment: u64, params: &mut Vec<Param>) -> Result<Arg, String> {
    if let Some(map) = TensorMapType::of(t) {
        params.push(Param::Map { arg });
        return map_argument(map, name);
    }
    let element = t.element_type().unwrap_or(t);
    let dtype = dtype(element).ok_or_else(|| format!("but a launcher knows no {element}"))?;
    if !t.is_memref_type() {
        params.push(Param::Scalar { arg });
        return Ok(Arg::Scalar {
            name: name.to_owned(),
            dtype,
        });
    }
    let (Some(shape), Some((strides, _))) = (t.shape(), t.strides_and_offset()) else {
        return Err("but a launcher knows strided memrefs only".to_owned());
    };
    params.push(Param::Pointer { arg });
    let dynamic = |values: &[i64]| -> Vec<usize> { (0..values.len()).filter(|i| values[*i] == DYNAMIC).collect() };
    params.extend(dynamic(&shape).into_iter().map(|dim| Param::Size { arg, dim }));
    params.extend(dynamic(&strides).into_iter().map(|dim| Param::Stride { arg, dim }));
    let fixed = |values: Vec<i64>, what: &str| -> Result<Vec<Option<u64>>, String> {
        let one = |v: i64| match v {
            DYNAMIC => Ok(None),
            v => u64::try_from(v)
                .map(Some)
                .map_err(|_| format!("but a {what} of {v} is negative")),
        };
        values.into_iter().map(one).collect()
    };
    Ok(Arg::Memref {
        name: name.to_owned(),
        dtype,
        shape: fixed(shape, "size")?,
        strides: fixed(strides, "stride")?,
        align: dtype.bytes().max(alignment),
    })
}

/// A tensor map that the caller makes; what its type says goes to the launcher.
fn map_argument(map: TensorMapType<'_>, name: &str) -> Result<Arg, String> {
    let format = map
        .core_format()
        .ok_or_else(|| "whose elements no tensor map holds".to_owned())?;
    let element = map.tile().1;
    let dtype = match format.is_sub_byte() {
        true => DType::I8,
        false => dtype(element).ok_or_else(|| format!("but a launcher knows no {element}"))?,
    };
    Ok(Arg::TensorMap {
        name: name.to_owned(),
        dtype,
        form: MapForm {
            format,
            rank: map.dimensions(),
            mode: map.core_mode(),
            element_strides: map.traversal(),
            interleave: map.core_interleave(),
            swizzle: map.permutation(),
            fill: map.core_fill(),
            l2_promotion: map.core_l2(),
        },
    })
}

fn dtype(t: Type<'_>) -> Option<DType> {
    match t.to_string().as_str() {
        "f8E4M3FN" => Some(DType::E4m3),
        "f8E5M2" => Some(DType::E5m2),
        name => DType::ALL
            .into_iter()
            .find(|d| !matches!(d, DType::E4m3 | DType::E5m2) && d.name() == name),
    }
}

/// The function that the launcher will start must be there and take what it will be given.
fn check_function<'c: 'a, 'a>(module: OperationRef<'c, 'a>, entry: Entry<'c, 'a>, given: usize) -> Res {
    let named = |op: OperationRef<'c, 'a>, kind: &str, name: &str| {
        op.full_name() == kind && op.attr("sym_name").and_then(SymbolName::from_attribute).as_deref() == Some(name)
    };
    let (home, name) = (entry.module(), entry.sym_name());
    let function = module
        .nested_ops()
        .into_iter()
        .find(|op| named(*op, "gpu.module", &home))
        .and_then(|home| home.nested_ops().into_iter().find(|op| named(*op, "llvm.func", &name)));
    let Some(function) = function else {
        let m = format!("launches llvm.func @{name}, but there is none in gpu.module @{home}");
        return Diag::op(&entry.op(), m).report();
    };
    let taken = function.attr("function_type").and_then(|a| {
        // SAFETY: the type of an llvm.func is an LLVM function type, which its verifier has checked.
        unsafe {
            mlirAttributeIsAType(a.to_raw()).then(|| mlirLLVMFunctionTypeGetNumInputs(mlirTypeAttrGetValue(a.to_raw())))
        }
    });
    if taken != Some(given as isize) {
        let m = format!(
            "gives {given} parameters, but the function takes {}",
            taken.unwrap_or_default()
        );
        return Diag::op(&entry.op(), m)
            .note(function.location(), "the function is here")
            .report();
    }
    Ok(())
}
