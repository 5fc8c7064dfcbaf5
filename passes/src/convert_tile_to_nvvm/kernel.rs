//! Kernels: the launch region stays as a `tile.entry`, the body becomes an `llvm.func`.
use super::{DEVICE_MODULE, Matched, SHARED_SYMBOL, lower, types::type_converter};
use girih_dialects::{
    nvvm::Emit,
    tile::{
        facts::Facts,
        ops::{
            kernel::{Entry, Grid, Kernel, Return, WarpSpecialize},
            tma::{MakeTensorMap, TmaStore},
            tma_modes::TmaReduce,
        },
        target_of,
        types::TensorMapType,
    },
};
use girih_ir::{
    conversion::Conversion,
    ext::BlockExt,
    kind::{I32, Kind, SymbolName},
    melior::ir::attribute::{ArrayAttribute, DenseI32ArrayAttribute},
    mlir_sys::*,
    op::OpView,
    prelude::*,
    rewrite::{AtEnd, Before, Builder},
};

/// Most bytes of shared memory that the pointer into it is aligned to: the longest swizzle period.
const SHARED_ALIGNMENT: i64 = 1024;

fn attribute_dict<'c>(e: &Emit<'c, '_>, entries: &[(&str, Attribute<'c>)]) -> Attribute<'c> {
    let named: Vec<_> = entries
        .iter()
        .map(|(n, a)| unsafe {
            let name = MlirStringRef {
                data: n.as_ptr().cast(),
                length: n.len(),
            };
            mlirNamedAttributeGet(mlirIdentifierGet(e.context().to_raw(), name), a.to_raw())
        })
        .collect();
    unsafe {
        Attribute::from_raw(mlirDictionaryAttrGet(
            e.context().to_raw(),
            named.len() as isize,
            named.as_ptr(),
        ))
    }
}

/// The op that declares the block's dynamic shared memory; texts that kernels print are such ops in another space.
const SHARED_OP: &str = "llvm.mlir.global";
const SHARED_SPACE: i32 = 3;

/// Whether an op declares the block's dynamic shared memory.
fn is_shared(op: OperationRef<'_, '_>) -> bool {
    op.full_name() == SHARED_OP && op.attr("addr_space").and_then(I32::from_attribute) == Some(SHARED_SPACE)
}

/// Where a function says the sizes of its clusters.
const CLUSTER_ATTR: &str = "nvvm.cluster_dim";

/// Name of the dynamic shared memory in the module that `op` has been moved to.
pub(super) fn shared_symbol<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<String> {
    let mut at = op;
    while at.full_name() != "gpu.module" {
        at = at.parent()?;
    }
    let ops = at.region_at(0).entry()?.op_list();
    let declared = ops.iter().find(|o| is_shared(**o))?;
    declared.attr("sym_name").and_then(SymbolName::from_attribute)
}

/// Blocks of a cluster of the function that `op` has been moved to.
pub(super) fn cluster_blocks<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> i64 {
    let mut at = op;
    while at.full_name() != "llvm.func" {
        match at.parent() {
            Some(outer) => at = outer,
            None => return 1,
        }
    }
    let sizes = at
        .attr(CLUSTER_ATTR)
        .and_then(|a| DenseI32ArrayAttribute::try_from(a).ok());
    sizes.map_or(1, |s| {
        (0..s.len()).filter_map(|i| s.element(i).ok()).map(i64::from).product()
    })
}

/// Moves every kernel of a module into an entry and a function whose body still has tile types: the conversion that
/// follows changes them, entry arguments included.
pub fn outline<'c>(module: OperationRef<'c, 'c>) -> Res {
    let Some(top) = module.region_at(0).entry() else {
        return Ok(());
    };
    let kernels: Vec<Kernel> = top.op_list().iter().filter_map(|o| o.cast::<Kernel>()).collect();
    let mut errors = Errors::default();
    let nested = module.nested::<Kernel>();
    for kernel in nested.iter().filter(|k| k.op().parent() != Some(module)) {
        let m = "stands in a module inside of the one that is compiled, but the code of all kernels goes to one module of the \
                 device; write it in the outermost module, or compile the inner one alone";
        errors.op(&kernel.op(), m);
    }
    errors.result()?;
    let Some(first) = kernels.first() else { return Ok(()) };
    let taken: Vec<String> = top
        .op_list()
        .iter()
        .filter_map(|o| o.attr("sym_name").and_then(SymbolName::from_attribute))
        .collect();
    let free = |name: &str| {
        let mut name = name.to_owned();
        while taken.contains(&name) {
            name.push('_');
        }
        name
    };
    let (name, shared) = (free(DEVICE_MODULE), free(SHARED_SYMBOL));
    let mut errors = Errors::default();
    for kernel in &kernels {
        errors.merge(super::refuse::check(*kernel));
    }
    errors.result()?;
    let end = AtEnd(top);
    let e = Emit::new(&end, first.op().location());
    let region = Region::new();
    region.append_block(Block::new(&[]));
    let gpu = e.op_with_regions("gpu.module", &[], &[], &[("sym_name", e.str_attr(&name))], vec![region]);
    let device = gpu.region_at(0).entry().expect("just made");
    let mut taken = [taken, vec![shared.clone()]].concat();
    for kernel in kernels {
        super::debug::prepare(kernel, device, &mut taken);
        super::sync::prepare(kernel);
        super::constants::prepare(kernel, device, &mut taken);
        keep_ranges(kernel);
        outline_one(kernel, device, &name, &shared)?;
    }
    Ok(())
}

/// Tells the launcher which maps are stored through by ops that accept no byte past a row. A map that comes to its store
/// in another way than straight from the kernel's arguments may be any of its type.
fn mark_exact_rows(kernel: Kernel<'_, '_>) {
    let arguments = kernel.body().entry().map(|b| b.argument_values()).unwrap_or_default();
    let Some(host) = kernel.launch().entry() else { return };
    let own = host.argument_values().len();
    let maps = host
        .op_list()
        .last()
        .and_then(|op| op.cast::<Grid>())
        .map(|grid| grid.args());
    for op in kernel.op().nested_ops() {
        let (store, reduce) = (op.cast::<TmaStore>(), op.cast::<TmaReduce>());
        let exact = store
            .filter(|op| !op.overwrite())
            .map(|op| op.map())
            .or(reduce.filter(|op| !op.overwrite()).map(|op| op.map()));
        let Some(stored) = exact else { continue };
        let known = arguments.contains(&stored);
        let candidates = arguments.iter().skip(own).zip(maps.iter().flatten());
        for (argument, made) in candidates {
            let is_it = if known {
                *argument == stored
            } else {
                argument.r#type() == stored.r#type()
            };
            if let Some(made) = made.defining_op().filter(|op| is_it && op.is::<MakeTensorMap>()) {
                made.set_attr("exact_rows", Attribute::unit(made.ctx()));
            }
        }
    }
}

/// Writes what is known of numbers as bounds in the body, where it is still known when the body has no arguments that say it.
/// LLVM, which knows the same of the function's arguments, leaves them out.
fn keep_ranges(kernel: Kernel<'_, '_>) {
    let Some(body) = kernel.body().entry() else { return };
    let Some(first) = body.op_list().into_iter().next() else {
        return;
    };
    let start = Before(first);
    let e = Emit::new(&start, kernel.op().location());
    for (n, argument) in body.argument_values().into_iter().enumerate() {
        let (facts, t) = (Facts::of(kernel.op(), n), argument.r#type());
        let Some([least, most]) = facts.range.filter(|_| facts.llvm_range(t).is_some()) else {
            continue;
        };
        let above = e.value("arith.maxsi", &[argument, e.constant(least, t)], t, &[]);
        let bounded = e.value("arith.minsi", &[above, e.constant(most, t)], t, &[]);
        argument.replace_all_uses_with(&bounded);
        let above = above.defining_op().expect("just made");
        // SAFETY: the op has two operands.
        unsafe { mlirOperationSetOperand(above.to_raw(), 0, argument.to_raw()) };
    }
}

fn outline_one<'c>(kernel: Kernel<'c, 'c>, device: BlockRef<'c, 'c>, module_name: &str, shared_symbol: &str) -> Res {
    let op = kernel.op();
    mark_exact_rows(kernel);
    let inside = AtEnd(device);
    let e = Emit::new(&inside, op.location());
    let uses_shared = kernel.shared_bytes().unwrap_or(0) > 0;
    let has_shared = device.op_list().iter().any(|o| is_shared(*o));
    if uses_shared && !has_shared {
        let array = Type::parse(e.context(), "!llvm.array<0 x i8>").expect("a type of this code");
        let attributes = [
            ("sym_name", e.str_attr(shared_symbol)),
            ("global_type", e.type_attr(array)),
            ("linkage", e.attr("#llvm.linkage<external>")),
            ("addr_space", e.i32_attr(SHARED_SPACE)),
            ("alignment", e.i64_attr(SHARED_ALIGNMENT)),
        ];
        e.op_with_regions(SHARED_OP, &[], &[], &attributes, vec![Region::new()]);
    }

    // The function: its signature is what the body's arguments convert to.
    let types = type_converter();
    let (mut signature, mut arg_attrs) = (vec![], vec![]);
    let arguments = kernel.body().entry().map(|b| b.argument_values()).unwrap_or_default();
    for (n, a) in arguments.iter().enumerate() {
        let t = a.r#type();
        let Some(converted) = types.convert(t) else {
            return Diag::op(&op, format!("an argument of type {t} has no form in PTX")).report();
        };
        for (i, c) in converted.iter().enumerate() {
            signature.push(*c);
            arg_attrs.push(if TensorMapType::of(t).is_some() {
                let bytes = Type::parse(e.context(), "!llvm.array<128 x i8>").expect("a type of this code");
                attribute_dict(
                    &e,
                    &[
                        ("llvm.byval", e.type_attr(bytes)),
                        ("llvm.align", e.i64_attr(64)),
                        ("nvvm.grid_constant", e.unit_attr()),
                    ],
                )
            } else if i == 0 && t.is_memref_type() {
                let bytes = t
                    .element_type()
                    .and_then(|x| x.bit_width())
                    .map_or(1, |b| i64::from(b).max(8) / 8);
                attribute_dict(
                    &e,
                    &[("llvm.align", e.i64_attr(bytes)), ("llvm.noundef", e.unit_attr())],
                )
            } else {
                let mut said = vec![("llvm.noundef", e.unit_attr())];
                if let Some(range) = Facts::of(op, n).llvm_range(t) {
                    said.push(("llvm.range", e.attr(&range)));
                }
                attribute_dict(&e, &said)
            });
        }
    }
    let threads = kernel.threads() as i32;
    let mut attributes = vec![
        ("sym_name", e.str_attr(&kernel.sym_name())),
        ("function_type", e.type_attr(e.function_type(&signature))),
        ("nvvm.kernel", e.unit_attr()),
        ("nvvm.reqntid", e.i32s_attr(&[threads, 1, 1])),
        ("arg_attrs", ArrayAttribute::new(e.context(), &arg_attrs).into()),
        ("CConv", e.attr("#llvm.cconv<ccc>")),
        ("linkage", e.attr("#llvm.linkage<external>")),
        ("visibility_", e.i64_attr(0)),
    ];
    // setmaxnreg is ignored without a bound on registers at entry.
    let takes_registers = op
        .nested_ops()
        .iter()
        .filter_map(|o| o.cast::<WarpSpecialize>())
        .any(|w| w.registers().iter().any(|r| *r != 0));
    match kernel.min_blocks() {
        // ptxas drops what a multiprocessor of the target does not hold.
        Some(n) => {
            let most = target_of(op).map_or(n, |t| i64::from(t.blocks_per_sm(kernel.threads() as u32)));
            attributes.push(("nvvm.minctasm", e.i32_attr(n.min(most) as i32)));
        }
        None if takes_registers => attributes.push(("nvvm.minctasm", e.i32_attr(1))),
        None => {}
    }
    // Blocks that work alone are launched as blocks.
    if let Some(c) = kernel.cluster().filter(|c| c.iter().any(|d| *d != 1)) {
        let c: Vec<i32> = c.iter().map(|d| *d as i32).collect();
        attributes.push((CLUSTER_ATTR, e.i32s_attr(&c)));
    }
    let function = e.op_with_regions("llvm.func", &[], &[], &attributes, vec![Region::new()]);
    unsafe {
        mlirRegionTakeBody(function.region_at(0).to_raw(), kernel.body().to_raw());
    }

    // The entry, in the kernel's place.
    let at = Before(op);
    let launch = Region::new();
    unsafe { mlirRegionTakeBody(launch.to_raw(), kernel.launch().to_raw()) };
    let entry = Entry::build(
        op.location(),
        kernel.sym_name(),
        kernel.arg_names(),
        kernel.arg_attrs(),
        kernel.threads(),
        kernel.cluster(),
        kernel.shared_bytes(),
        module_name.to_owned(),
        launch,
    );
    at.insert(entry);
    unsafe { mlirOperationDestroy(op.to_raw()) };
    Ok(())
}

/// `llvm.func` bodies and their ends.
pub fn patterns(c: &mut Conversion<'_>) {
    let types = c.types().clone();
    let legal = types.clone();
    c.dynamic_op("llvm.func", move |f| {
        let arguments = f.region_at(0).entry().map(|b| b.argument_values()).unwrap_or_default();
        Some(arguments.iter().all(|a| legal.is_legal_type(a.r#type())))
    });
    c.pattern("llvm.func", 1, move |op, _, rewriter| -> Matched {
        let mut converted = Ok(());
        rewriter.modify(op, || {
            converted = rewriter.convert_region_types(op.region_at(0), &types)
        });
        converted
    });
    lower!(c, Return, |op, _, rewriter| {
        let e = Emit::new(rewriter, op.op().location());
        e.op("llvm.return", &[], &[], &[]);
        rewriter.erase(op.op());
        Ok(())
    });
}
