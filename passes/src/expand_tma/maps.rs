//! The tensor maps that a kernel's copies need, made in its launch region and handed to its body.
use girih_dialects::{
    nvvm::Emit,
    tile::{
        ops::{
            kernel::{Grid, Kernel, is_host_op},
            tma::MakeTensorMap,
        },
        types::TensorMapType,
    },
};
use girih_ir::{
    ext::BlockExt,
    mlir_sys::*,
    op::OpView,
    prelude::*,
    rewrite::{Before, Builder},
};
use std::ops::Range;

/// The maps of one kernel.
pub(crate) struct Maps<'c> {
    kernel: Kernel<'c, 'c>,
    /// Values of the body, and what they are in the launch region.
    known: Vec<(Value<'c, 'c>, Value<'c, 'c>)>,
    made: Vec<Made<'c>>,
}

/// Dimensions of a memref that are seen as one, and the type then.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Joined<'c> {
    pub(super) t: Type<'c>,
    pub(super) groups: Vec<Range<usize>>,
}

struct Made<'c> {
    global: Value<'c, 'c>,
    joined: Option<Joined<'c>>,
    t: TensorMapType<'c>,
    optional: bool,
    host: Value<'c, 'c>,
    argument: Value<'c, 'c>,
}

impl<'c> Maps<'c> {
    pub(crate) fn new(kernel: Kernel<'c, 'c>) -> Self {
        let arguments = |region: RegionRef<'c, 'c>| region.entry().map(|b| b.argument_values()).unwrap_or_default();
        let known = arguments(kernel.body()).into_iter().zip(arguments(kernel.launch()));
        Maps {
            kernel,
            known: known.collect(),
            made: vec![],
        }
    }

    /// The body's argument that is a map of type `t` of the memref `global` of the body, seen as `joined`; `user` is who asks.
    /// An `optional` map is none where the memref lies so that it cannot be.
    pub(crate) fn of(
        &mut self,
        user: OperationRef<'c, 'c>,
        global: Value<'c, 'c>,
        joined: Option<Joined<'c>>,
        t: TensorMapType<'c>,
        optional: bool,
    ) -> Res<Value<'c, 'c>> {
        let same = |m: &&Made<'c>| m.global == global && m.joined == joined && m.t == t && m.optional == optional;
        if let Some(made) = self.made.iter().find(same) {
            return Ok(made.argument);
        }
        let Some(grid) = self.grid() else {
            return Diag::op(
                &self.kernel.op(),
                "has a launch region that does not end with tile.grid",
            )
            .report();
        };
        let mut memory = self.on_host(user, global, grid)?;
        if let Some(joined) = &joined {
            memory = collapse(user, memory, joined, grid);
        }
        let map = MakeTensorMap::build(user.location(), t.plain(), memory, false, optional);
        let host = Before(grid.op()).value(map);
        let Some(body) = self.kernel.body().entry() else {
            return Diag::op(&self.kernel.op(), "has no body").report();
        };
        // SAFETY: the block, the type and the location are of one context, and alive.
        let argument = unsafe {
            let raw = mlirBlockAddArgument(body.to_raw(), t.plain().to_raw(), user.location().to_raw());
            Value::from_raw(raw)
        };
        self.made.push(Made {
            global,
            joined,
            t,
            optional,
            host,
            argument,
        });
        Ok(argument)
    }

    /// Hands the maps to the body, and gives their number.
    pub(crate) fn finish(self) -> u64 {
        let Some(grid) = self.grid().filter(|_| !self.made.is_empty()) else {
            return 0;
        };
        let mut all = grid.args();
        all.extend(self.made.iter().map(|m| m.host));
        let new = Grid::build(grid.op().location(), grid.x(), grid.y(), grid.z(), &all);
        Before(grid.op()).insert(new);
        // SAFETY: a terminator has no uses, and its place has been taken.
        unsafe { mlirOperationDestroy(grid.op().to_raw()) };
        self.made.len() as u64
    }

    fn grid(&self) -> Option<Grid<'c, 'c>> {
        self.kernel.launch().entry()?.op_list().last()?.cast::<Grid>()
    }

    /// A value of the body in the launch region: what computes it is written there again, before `grid`.
    fn on_host(&mut self, user: OperationRef<'c, 'c>, value: Value<'c, 'c>, grid: Grid<'c, 'c>) -> Res<Value<'c, 'c>> {
        if let Some((_, host)) = self.known.iter().find(|(device, _)| *device == value) {
            return Ok(*host);
        }
        let from = value
            .defining_op()
            .filter(|op| op.is_pure() && is_host_op(op.full_name()));
        let Some(from) = from.filter(|op| op.result_count() == 1) else {
            let what = "the launcher makes the tensor map, so that the global side is the kernel's arguments and views of them; \
                        put what a block or thread computes into the coordinates";
            return match value.defining_op() {
                Some(by) => Diag::op(&user, what)
                    .note(
                        by.location(),
                        format!("'{}' is computed on the device only", by.full_name()),
                    )
                    .report(),
                None => Diag::op(&user, format!("{what}; this one is an argument of a block")).report(),
            };
        };
        let mut operands = vec![];
        for operand in from.operand_values() {
            operands.push(self.on_host(user, operand, grid)?);
        }
        // SAFETY: the copy has as many operands as the op.
        let copy = unsafe {
            let copy = mlirOperationClone(from.to_raw());
            for (i, operand) in operands.iter().enumerate() {
                mlirOperationSetOperand(copy, i as isize, operand.to_raw());
            }
            girih_ir::melior::ir::Operation::from_raw(copy)
        };
        let host = Before(grid.op()).value(copy);
        self.known.push((value, host));
        Ok(host)
    }
}

/// `memref.collapse_shape`, before `grid`.
fn collapse<'c>(
    user: OperationRef<'c, 'c>,
    memory: Value<'c, 'c>,
    joined: &Joined<'c>,
    grid: Grid<'c, 'c>,
) -> Value<'c, 'c> {
    let before = Before(grid.op());
    let e = Emit::new(&before, user.location());
    let lists = joined.groups.iter().map(|group| {
        let dims: Vec<_> = group.clone().map(|d| format!("{d} : i64")).collect();
        format!("[{}]", dims.join(", "))
    });
    let reassociation = e.attr(&format!("[{}]", lists.collect::<Vec<_>>().join(", ")));
    e.value(
        "memref.collapse_shape",
        &[memory],
        joined.t,
        &[("reassociation", reassociation)],
    )
}
