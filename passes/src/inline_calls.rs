//! `tile-inline-calls`: functions that kernels call are written into the kernels.
//!
//! ```mlir
//! func.func private @relu(%x: tensor<128x64xf32>) -> tensor<128x64xf32> { ... return %y : tensor<128x64xf32> }    // before
//! tile.kernel @k(...) threads(128) launch { ... } body {
//!   %y = func.call @relu(%x) : (tensor<128x64xf32>) -> tensor<128x64xf32>
//! }
//!
//! tile.kernel @k(...) threads(128) launch { ... } body {                                                          // after
//!   ... the body of @relu, with %x for its argument
//! }
//! ```
//!
//! A kernel is compiled alone, and its passes look at all that a block does; so a function of a kernel is a way to write
//! ops once. It may take and give tiles as values, hold any op that may stand in a kernel, and call others. One that holds ops
//! of the device is private. A call means the function of that name in the nearest symbol table around it, as everywhere in
//! MLIR: modules in a module have functions of their own. A private function that nothing refers to any more goes away, be it
//! by a call or from anywhere in an attribute; those that references call stay. Launch regions, which the host evaluates, call
//! nothing.
//!
//! *Refuses* calls of what has no body, of functions of several blocks, of functions that come back to themselves, and of
//! functions by value; and kernels that would become larger than `LARGEST` ops. *Numbers* stay what they are.
use girih_dialects::tile::ops::kernel::Kernel;
use girih_ir::{
    ext::BlockExt,
    kind::{Kind, Str, SymbolRef},
    mlir_sys::*,
    op::Trait,
    pass::{Pass, PassContext, PassInfo, Statistic},
    prelude::*,
};
use std::collections::BTreeMap;

/// Most ops that calls may bring into a kernel.
const LARGEST: usize = 1 << 20;

/// Most calls within calls.
const DEEPEST: usize = 256;

/// `tile-inline-calls`.
pub struct InlineCalls;

impl Pass for InlineCalls {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[Statistic {
            name: "calls",
            description: "Calls that were replaced by what they call",
        }],
        ..PassInfo::new(
            "tile-inline-calls",
            "Write the functions that kernels call into the kernels",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let kernels = module.nested::<Kernel>();
        let calls = |kernel: &Kernel<'c, 'c>| calls_in(kernel.op());
        if kernels.iter().all(|kernel| calls(kernel).is_empty()) {
            cx.preserve_analyses();
            return Ok(());
        }
        let mut functions = Functions::of(module);
        let mut errors = Errors::default();
        for kernel in &kernels {
            let mut size = 0usize;
            for call in calls(kernel) {
                size = size.saturating_add(errors.merge(functions.size(call)).unwrap_or(0));
            }
            if size > LARGEST {
                let m = format!(
                    "calls functions of {size} ops in all, as often as they are called, but a kernel may get {LARGEST} from them; \
                     call them in loops"
                );
                errors.op(&kernel.op(), m);
            }
        }
        errors.result()?;
        let mut inlined = 0;
        for kernel in &kernels {
            let mut open = calls(kernel);
            while let Some(call) = open.pop() {
                if let Some(function) = functions.called(call) {
                    open.extend(inline(call, function));
                    inlined += 1;
                }
            }
        }
        cx.count(0, inlined);
        functions.erase_unused(module);
        Ok(())
    }
}

fn is_call(op: OperationRef<'_, '_>) -> bool {
    matches!(op.full_name(), "func.call" | "func.call_indirect")
}

/// Calls in an op, in the order of the source.
fn calls_in<'c>(op: OperationRef<'c, 'c>) -> Vec<OperationRef<'c, 'c>> {
    op.nested_ops().into_iter().filter(|op| is_call(*op)).collect()
}

fn callee(call: OperationRef<'_, '_>) -> Option<String> {
    call.attr("callee").and_then(SymbolRef::from_attribute)
}

/// The functions of a module and of those in it.
struct Functions<'c> {
    /// By the symbol table that they stand in, and their names in it.
    by_name: BTreeMap<(usize, String), OperationRef<'c, 'c>>,
    /// Ops that a call of each brings, with those that its own calls bring.
    sizes: BTreeMap<usize, usize>,
    /// Functions that are being counted, each with the call that it is counted for, from the kernel's call inwards.
    open: Vec<(OperationRef<'c, 'c>, OperationRef<'c, 'c>)>,
    /// Those that kernels call.
    called: Vec<OperationRef<'c, 'c>>,
}

fn key(op: OperationRef<'_, '_>) -> usize {
    op.to_raw().ptr as usize
}

fn name_of(function: OperationRef<'_, '_>) -> String {
    function
        .attr("sym_name")
        .and_then(Str::from_attribute)
        .unwrap_or_default()
}

impl<'c> Functions<'c> {
    fn of(module: OperationRef<'c, 'c>) -> Self {
        let by_name = module
            .nested_ops()
            .into_iter()
            .filter(|op| op.full_name() == "func.func")
            .filter_map(|op| Some(((key(op.parent()?), name_of(op)), op)))
            .collect();
        Functions {
            by_name,
            sizes: BTreeMap::new(),
            open: vec![],
            called: vec![],
        }
    }

    /// The function that a call is of; `None` for one by value.
    fn called(&self, call: OperationRef<'c, 'c>) -> Option<OperationRef<'c, 'c>> {
        let mut table = call.parent()?;
        while !table.has_trait(Trait::SymbolTable) {
            table = table.parent()?;
        }
        self.by_name.get(&(key(table), callee(call)?)).copied()
    }

    /// Ops that a call brings. An error where it cannot be inlined.
    fn size(&mut self, call: OperationRef<'c, 'c>) -> Res<usize> {
        let Some(name) = callee(call) else {
            return Diag::op(
                &call,
                "calls a function by value, but a kernel has no table of functions; call it by its name",
            )
            .report();
        };
        let Some(function) = self.called(call) else {
            let m = format!("calls '@{name}', which is no function of the module around it; write it there");
            return Diag::op(&call, m).report();
        };
        if let Some(first) = self.open.iter().position(|(open, _)| *open == function) {
            return self.recursion(first, call, &name);
        }
        if let Some(size) = self.sizes.get(&key(function)) {
            return Ok(*size);
        }
        let blocks = function.region_at(0).block_list();
        let [block] = blocks.as_slice() else {
            let m = match blocks.is_empty() {
                true => format!(
                    "calls '@{name}', which has no body: kernels are linked with nothing; write its body, or use an op of math in its \
                     place"
                ),
                false => format!(
                    "calls '@{name}', which has {} blocks, but calls of kernels are replaced by one; write its branches with scf.if \
                     and its loops with scf.for or scf.while",
                    blocks.len()
                ),
            };
            return Diag::op(&call, m).note(function.location(), "the function").report();
        };
        if self.open.len() == DEEPEST {
            return Diag::op(
                &call,
                format!("is the last of {DEEPEST} calls within calls, the most that a kernel may have"),
            )
            .report();
        }
        self.open.push((function, call));
        let mut size = 0usize;
        let mut failed = false;
        for op in block.op_list().into_iter().flat_map(|op| op.nested_ops()) {
            size = size.saturating_add(1);
            if is_call(op) {
                match self.size(op) {
                    Ok(inner) => size = size.saturating_add(inner),
                    Err(Reported) => failed = true,
                }
            }
        }
        self.open.pop();
        // One that failed has been reported, and is not gone through again.
        self.sizes.insert(key(function), size);
        self.called.push(function);
        if failed { Err(Reported) } else { Ok(size) }
    }

    /// A call of a function that is on the way to it, the one at `first` of the open ones.
    fn recursion(&self, first: usize, call: OperationRef<'c, 'c>, name: &str) -> Res<usize> {
        let open = self.open[first..].iter();
        let way: Vec<String> = open.map(|(open, _)| format!("@{}", name_of(*open))).collect();
        let m = format!(
            "calls '@{name}' again ({} -> @{name}), but a kernel has no stack of calls; write a loop, with scf.for or scf.while",
            way.join(" -> ")
        );
        let mut diag = Diag::op(&call, m);
        for (open, from) in &self.open {
            diag = diag.note(from.location(), format!("'@{}' is called here", name_of(*open)));
        }
        diag.report()
    }

    /// Erases private functions that kernels called and nothing names any more.
    fn erase_unused(&self, module: OperationRef<'c, 'c>) {
        // Callers before those that they call: the list has them the other way round.
        for function in self.called.iter().rev() {
            let visibility = function.attr("sym_visibility").and_then(Str::from_attribute);
            if visibility.as_deref() == Some("private") && !function.is_symbol_named_in(module) {
                // SAFETY: the function stands in the module, and nothing refers to it.
                unsafe { mlirOperationDestroy(function.to_raw()) };
            }
        }
    }
}

/// Puts a function of one block in the place of a call; calls that came with it.
fn inline<'c>(call: OperationRef<'c, 'c>, function: OperationRef<'c, 'c>) -> Vec<OperationRef<'c, 'c>> {
    // SAFETY: the clone is detached and owned here; its ops move in front of the call, before which their operands are.
    let copy = unsafe { Operation::from_raw(mlirOperationClone(function.to_raw())) };
    let block = copy
        .region_at(0)
        .entry()
        .expect("functions without a body have been refused");
    for (argument, operand) in block.argument_values().iter().zip(call.operand_values()) {
        argument.replace_all_uses_with(&operand);
    }
    let mut inner = vec![];
    for op in block.op_list() {
        if op.full_name() == "func.return" {
            for (result, returned) in call.result_values().iter().zip(op.operand_values()) {
                result.replace_all_uses_with(&returned);
            }
            // SAFETY: a terminator has no uses.
            unsafe { mlirOperationDestroy(op.to_raw()) };
            continue;
        }
        for op in op.nested_ops() {
            // SAFETY: both locations are of this context.
            unsafe {
                let at = mlirLocationCallSiteGet(op.location().to_raw(), call.location().to_raw());
                mlirOperationSetLocation(op.to_raw(), at);
            }
        }
        // SAFETY: the call stands in a block.
        unsafe { mlirOperationMoveBefore(op.to_raw(), call.to_raw()) };
        inner.extend(calls_in(op.op_ref()));
    }
    // SAFETY: the call's results have no uses any more.
    unsafe { mlirOperationDestroy(call.to_raw()) };
    inner
}
