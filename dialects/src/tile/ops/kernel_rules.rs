//! What a kernel, its launch and its roles must be.
use super::{
    super::{
        facts,
        spaces::is_global,
        types::TensorMapType,
        verify::{MAX_SHARED_BYTES, block_threads, dimension_exists, element_bits, enclosing},
    },
    kernel::{Entry, Grid, Kernel, MAX_THREADS, REGISTER_FILE, Return, WarpSpecialize, is_host_op},
};
use girih_ir::{
    ext::{BlockExt, DYNAMIC},
    op::OpView,
    prelude::*,
};

/// Most blocks of a cluster that every GPU with clusters launches.
const MAX_CLUSTER: i64 = 8;

/// `op` stands directly in one of these regions: op name and number.
pub(super) fn stands_in<'c>(op: OperationRef<'c, 'c>, places: &[(&str, usize)], what: &str) -> Res {
    let Some(parent) = op.parent() else { return Ok(()) };
    let region = op.block().and_then(|b| b.parent_region());
    let fits = places.iter().any(|(name, number)| {
        parent.full_name() == *name && parent.region_count() > *number && Some(parent.region_at(*number)) == region
    });
    match fits {
        true => Ok(()),
        false => Diag::op(&op, format!("{what}, and stands nowhere else")).report(),
    }
}

/// The part of a declaration that kernels and entries share.
struct Header<'c> {
    op: OperationRef<'c, 'c>,
    name: String,
    threads: i64,
    cluster: Option<Vec<i64>>,
    shared_bytes: Option<i64>,
    arguments: Vec<Value<'c, 'c>>,
    argument_names: Vec<String>,
}

impl<'c> Header<'c> {
    fn check(&self, errors: &mut Errors) {
        let op = self.op;
        if let Some(parent) = op.parent()
            && parent.full_name() != "builtin.module"
        {
            errors.op(
                &op,
                format!("stands in a module, but here it is inside '{}'", parent.full_name()),
            );
        }
        if !is_ptx_name(&self.name) {
            let m = format!(
                "is called '{}', but PTX takes letters, digits, _ and $, and no digit first",
                self.name
            );
            errors.op(&op, m);
        }
        let threads = self.threads;
        if !(32..=MAX_THREADS).contains(&threads) || threads % 32 != 0 {
            errors.op(
                &op,
                format!("threads = {threads}, but a block has whole warps: a multiple of 32 from 32 to {MAX_THREADS}"),
            );
        }
        if let Some(c) = &self.cluster {
            let blocks = c.iter().try_fold(1i64, |n, d| n.checked_mul(*d));
            if c.len() != 3 || c.iter().any(|d| *d < 1) || blocks.is_none_or(|n| n > MAX_CLUSTER) {
                errors.op(
                    &op,
                    format!(
                        "cluster = {c:?}, but a cluster has three sizes of at least 1 and at most {MAX_CLUSTER} blocks"
                    ),
                );
            }
        }
        if let Some(bytes) = self.shared_bytes
            && !(0..=MAX_SHARED_BYTES as i64).contains(&bytes)
        {
            errors.op(
                &op,
                format!("shared_bytes = {bytes}, but a block has 0 to {MAX_SHARED_BYTES} bytes of shared memory"),
            );
        }
        self.check_arguments(errors);
    }

    fn check_arguments(&self, errors: &mut Errors) {
        let (op, names) = (self.op, &self.argument_names);
        if names.len() != self.arguments.len() {
            errors.op(
                &op,
                format!("has {} arguments, but names {}", self.arguments.len(), names.len()),
            );
        }
        for (i, name) in names.iter().enumerate() {
            if !is_value_name(name) {
                let m = format!(
                    "argument #{i} is called '{name}', but a name has letters, digits, _ $ . - and no digit first"
                );
                errors.op(&op, m);
            }
            if names[..i].contains(name) {
                errors.op(&op, format!("two arguments are called '{name}'"));
            }
        }
        facts::verify(op, names, &self.arguments, errors);
        for (argument, name) in self.arguments.iter().zip(names) {
            let t = argument.r#type();
            if let Some(map) = TensorMapType::of(t) {
                for violation in map.violations() {
                    errors.op(&op, format!("argument '{name}': {violation}"));
                }
                continue;
            }
            let element = if t.is_memref_type() { t.element_type() } else { Some(t) };
            let is_number = element.is_some_and(|e| is_launch_number(e, t.is_memref_type()));
            if !is_number || t.is_memref_type() && !is_global(t) {
                let remedy = match t.to_string().as_str() {
                    "index" => "; take an i64 and convert it with arith.index_cast",
                    "i1" => "; take an i32 and compare it with 0",
                    "f8E4M3FN" | "f8E5M2" => {
                        "; take an f32 and convert it with arith.truncf, or an i8 and arith.bitcast"
                    }
                    "tf32" => "; take an f32",
                    _ => "",
                };
                let m = format!(
                    "argument '{name}' is {t}, but a kernel takes memrefs in #tile.global, tensor maps, and numbers: i8 to i64, f16, bf16, f32, f64, in memrefs also i1, f8E4M3FN and f8E5M2{remedy}"
                );
                errors.op(&op, m);
            } else if t.is_memref_type() && t.strides_and_offset().is_none_or(|(_, offset)| offset != 0) {
                let m = format!(
                    "argument '{name}' is {t}, but a kernel's memrefs are strided with offset 0; take a plain one, and \
                     memref.subview or memref.reinterpret_cast of it in the body"
                );
                errors.op(&op, m);
            } else if let Some(stride) = backwards(t) {
                let m = format!(
                    "argument '{name}' is {t}, which has a stride of {stride}, but arrays go forwards: strides are at least 0; take a \
                     plain one, and memref.subview or memref.reinterpret_cast of it in the body"
                );
                errors.op(&op, m);
            } else if t.is_memref_type() && least_bytes(t) > i64::MAX as u128 {
                let m = format!(
                    "argument '{name}' is {t}, which reaches over {} bytes or more, but addresses have room for {}",
                    least_bytes(t),
                    i64::MAX
                );
                errors.op(&op, m);
            }
        }
    }
}

/// A stride of a memref that is known to be negative.
fn backwards(t: Type<'_>) -> Option<i64> {
    let (strides, _) = Some(t).filter(|t| t.is_memref_type())?.strides_and_offset()?;
    strides.into_iter().find(|s| *s < 0 && *s != DYNAMIC)
}

/// Bytes from the first to the last element of a memref, at least: a run-time stride may be 0, and one with a run-time size
/// may have no elements.
fn least_bytes(t: Type<'_>) -> u128 {
    let (Some(shape), Some((strides, _))) = (t.shape(), t.strides_and_offset()) else {
        return 0;
    };
    if shape.iter().any(|size| *size <= 0) {
        return 0;
    }
    let steps = shape.iter().zip(&strides).filter(|(_, stride)| **stride != DYNAMIC);
    let last = steps.fold(0u128, |sum, (size, stride)| {
        sum.saturating_add((size.unsigned_abs() as u128 - 1).saturating_mul(stride.unsigned_abs() as u128))
    });
    last.saturating_add(1)
        .saturating_mul(u128::from(element_bits(t).unwrap_or(8) / 8))
}

/// Types that a launcher can hand over: by value, or as elements in memory.
fn is_launch_number(t: Type<'_>, in_memory: bool) -> bool {
    match t.to_string().as_str() {
        "i8" | "i16" | "i32" | "i64" | "f16" | "bf16" | "f32" | "f64" => true,
        "i1" | "tf32" | "f8E4M3FN" | "f8E5M2" => in_memory,
        _ => false,
    }
}
fn is_ptx_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
        && name.len() > usize::from(!name.starts_with(|c: char| c.is_ascii_alphabetic()))
}
/// What can follow `%` in the source.
fn is_value_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || "_$.-".contains(c))
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_$.-".contains(c))
}
/// What is read back as one keyword.
fn is_keyword(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_$.".contains(c))
}

fn arguments<'c>(region: RegionRef<'c, 'c>) -> Vec<Value<'c, 'c>> {
    region.entry().map(|b| b.argument_values()).unwrap_or_default()
}

pub(super) fn kernel<'c>(k: Kernel<'c, 'c>) -> Res {
    let (op, mut errors) = (k.op(), Errors::default());
    let (own, all) = (arguments(k.launch()), arguments(k.body()));
    for (i, (a, b)) in own.iter().zip(&all).enumerate() {
        if a.r#type() != b.r#type() {
            errors.op(
                &op,
                format!("argument #{i} is {} in launch, but {} in body", a.r#type(), b.r#type()),
            );
        }
    }
    if all.len() < own.len() {
        errors.op(
            &op,
            format!("launch has {} arguments, but body only {}", own.len(), all.len()),
        );
    }
    Header {
        op,
        name: k.sym_name(),
        threads: k.threads(),
        cluster: k.cluster(),
        shared_bytes: k.shared_bytes(),
        arguments: own,
        argument_names: k.arg_names(),
    }
    .check(&mut errors);
    if let Some(n) = k
        .min_blocks()
        .filter(|n| !(1..=32).contains(n) || n.saturating_mul(k.threads()) > 2048)
    {
        let m = format!(
            "min_blocks = {n} of {} threads, but a multiprocessor holds 1 to 32 blocks and 2048 threads; ask for fewer",
            k.threads()
        );
        errors.op(&op, m);
    }
    errors.result()
}

pub(super) fn entry<'c>(e: Entry<'c, 'c>) -> Res {
    let mut errors = Errors::default();
    Header {
        op: e.op(),
        name: e.sym_name(),
        threads: e.threads(),
        cluster: e.cluster(),
        shared_bytes: e.shared_bytes(),
        arguments: arguments(e.launch()),
        argument_names: e.arg_names(),
    }
    .check(&mut errors);
    errors.result()
}

/// What a launch region does: arithmetic, then the grid.
fn launch<'c>(op: OperationRef<'c, 'c>, region: RegionRef<'c, 'c>, errors: &mut Errors) -> Option<Grid<'c, 'c>> {
    let ops = region.entry()?.op_list();
    for host in &ops {
        if !is_host_op(host.full_name()) {
            errors.op(host, "cannot run on the host; launch takes index arithmetic, memref.dim, views of memrefs (transpose, subview, collapse_shape, cast), tile.cluster_size and tile.tensor_map");
        }
    }
    let grid = ops.last().and_then(|o| o.cast::<Grid>());
    if grid.is_none() {
        errors.op(&op, "launch must end with tile.grid");
    }
    grid
}

/// Which dimension a `memref.dim` asks for is known in a kernel, since launchers evaluate it, and the memref has it.
fn dimensions<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors) {
    for dim in op.nested_ops() {
        errors.merge(dimension_exists(dim));
        if dim.full_name() == "memref.dim" && dim.operand_values().get(1).is_some_and(|i| i.constant_int().is_none()) {
            errors.op(
                &dim,
                "asks for a dimension that is known only at run time; use a constant",
            );
        }
    }
}

pub(super) fn entry_regions<'c>(e: Entry<'c, 'c>) -> Res {
    let mut errors = Errors::default();
    dimensions(e.op(), &mut errors);
    launch(e.op(), e.launch(), &mut errors);
    errors.result()
}

pub(super) fn kernel_regions<'c>(k: Kernel<'c, 'c>) -> Res {
    let mut errors = Errors::default();
    dimensions(k.op(), &mut errors);
    if let Some(grid) = launch(k.op(), k.launch(), &mut errors) {
        let own = arguments(k.launch()).len();
        let given: Vec<_> = grid.args().iter().map(|v| v.r#type()).collect();
        let wanted: Vec<_> = arguments(k.body()).iter().skip(own).map(|v| v.r#type()).collect();
        if given != wanted {
            let text = |types: &[Type]| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
            let m = format!(
                "hands ({}) to the body, but body has args({})",
                text(&given),
                text(&wanted)
            );
            errors.op(&grid.op(), m);
        }
    }
    for block in k.body().block_list() {
        if let Some(t) = block.terminator_op()
            && t.successor_count() == 0
            && !t.is::<Return>()
        {
            errors.op(&t, "cannot end a kernel's body; use tile.return");
        }
    }
    errors.result()
}

pub(super) fn roles<'c>(w: WarpSpecialize<'c, 'c>) -> Res {
    let (op, mut errors) = (w.op(), Errors::default());
    let (names, warps, registers) = (w.names(), w.warps(), w.registers());
    let n = w.roles().len();
    let barriers = w.barriers().unwrap_or_else(|| vec![0; n]);
    if barriers.len() != n {
        let m = format!(
            "has {n} roles, but {} barriers; give one for each role, 0 for none",
            barriers.len()
        );
        return Diag::op(&op, m).report();
    }
    if names.len() != n || warps.len() != n || registers.len() != n || n == 0 {
        let m = format!(
            "has {n} roles, but {} names, {} warps and {} registers; give one of each for each role, and at least one role",
            names.len(),
            warps.len(),
            registers.len()
        );
        return Diag::op(&op, m).report();
    }
    if let Some(parent) = op.parent()
        && !matches!(enclosing::<Kernel>(op), Some((k, 1)) if k.op() == parent)
    {
        let m = format!(
            "must stand in the body of a tile.kernel itself, where all warps come by, but here it is inside '{}'",
            parent.full_name()
        );
        errors.op(&op, m);
    } else if let Some((kernel, _)) = enclosing::<Kernel>(op)
        && op.block() != kernel.body().entry()
    {
        let m = "must stand in the first block of the kernel's body, where all warps come by, but here it is behind a branch";
        errors.op(&op, m);
    }
    for (i, r) in w.roles().iter().enumerate() {
        let arguments = arguments(*r);
        if arguments.len() != 1 || !arguments[0].r#type().is_index_type() {
            errors.op(
                &op,
                format!(
                    "role '{}' must take one index, the thread's number in the role",
                    names[i]
                ),
            );
        }
        if !is_keyword(&names[i]) {
            let m = format!(
                "role #{i} is called '{}', but a name has letters, digits and _ and no digit first",
                names[i]
            );
            errors.op(&op, m);
        }
        if names[..i].contains(&names[i]) {
            errors.op(&op, format!("two roles are called '{}'", names[i]));
        }
    }
    if let Some(i) = warps.iter().position(|w| !(1..=MAX_THREADS / 32).contains(w)) {
        let m = format!(
            "role '{}' has {} warps, but a role has 1 to {}",
            names[i],
            warps[i],
            MAX_THREADS / 32
        );
        return Diag::op(&op, m).report();
    }
    budgets(op, &mut errors, &names, &warps, &registers);
    for (i, barrier) in barriers.iter().enumerate().filter(|(_, b)| **b != 0) {
        if !(1..16).contains(barrier) {
            let m = format!(
                "role '{}' has barrier({barrier}), but the named barriers of a block are 1 to 15",
                names[i]
            );
            errors.op(&op, m);
        }
        if let Some(other) = (0..i).find(|j| barriers[*j] == *barrier) {
            let m = format!(
                "roles '{}' and '{}' both have barrier({barrier}); give each its own",
                names[other], names[i]
            );
            errors.op(&op, m);
        }
    }
    let total = warps.iter().fold(0i64, |n, w| n.saturating_add(*w));
    if let Some(threads) = block_threads(op)
        && total.saturating_mul(32) != threads
    {
        let m = format!(
            "roles have {total} warps, but the kernel has threads({threads}), which are {} warps",
            threads / 32
        );
        errors.op(&op, m);
    }
    errors.result()
}

/// Register budgets; `warps` are known to be small.
fn budgets<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, names: &[String], warps: &[i64], registers: &[i64]) {
    let (mut first, mut budget) = (0i64, 0i64);
    for ((name, warps), r) in names.iter().zip(warps).zip(registers) {
        if *r != 0 {
            if !(24..=256).contains(r) || r % 8 != 0 {
                errors.op(
                    &op,
                    format!("role '{name}' has registers({r}), but setmaxnreg takes multiples of 8 from 24 to 256"),
                );
            }
            if warps % 4 != 0 || first % 4 != 0 {
                let m = format!(
                    "role '{name}' has warps {first} to {}, but registers are given to whole warpgroups: 4 warps from a multiple of 4",
                    first + warps - 1
                );
                errors.op(&op, m);
            }
        }
        budget = budget.saturating_add(r.saturating_mul(warps * 32));
        first = first.saturating_add(*warps);
    }
    if budget > REGISTER_FILE {
        errors.op(
            &op,
            format!("roles ask for {budget} registers, but a multiprocessor has {REGISTER_FILE}"),
        );
    }
    if registers.iter().any(|r| *r != 0) && registers.contains(&0) {
        errors.op(
            &op,
            "some roles have registers(...) and some have not; give them to all roles or to none",
        );
    }
}
