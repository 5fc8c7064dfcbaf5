//! `tile-vectorize-accesses{guard=true report=false}`: how many neighbours each access of a tile moves at once.
//!
//! ```mlir
//! %x = tile.load %X[%i] : memref<?xf32, #tile.global> -> tensor<1024xf32, #L>                                // before
//! tile.store %x, %Y[%i] : ...
//!
//! %a = tile.is_aligned %X axis 0 by 4 : memref<?xf32, #tile.global>                                          // after
//! %b = tile.is_aligned %Y axis 0 by 4 : memref<?xf32, #tile.global>
//! %fast = arith.andi %a, %b : i1
//! scf.if %fast {
//!   %x = tile.load %X[%i] {vector = 4 : i64} : memref<?xf32, #tile.global> -> tensor<1024xf32, #L>
//!   tile.store %x, %Y[%i] {vector = 4 : i64} : ...
//! } else {
//!   %x = tile.load %X[%i] : memref<?xf32, #tile.global> -> tensor<1024xf32, #L>
//!   tile.store %x, %Y[%i] : ...
//! }
//! ```
//!
//! A thread moves up to 16 bytes at once: neighbours in its registers along the axis whose stride is 1, where the index along
//! it is a known multiple of their number. That rows start at such multiples, and that sizes are, is known of static sizes
//! and strides, and of arguments whose attributes say so (`tile.aligned`, `tile.divisible`); of the others, and of addresses,
//! the kernel asks once, when it starts, and has a body for either answer. A kernel that has shared memory of its own, or that
//! moves tiles of views (`memref.subview`), asks before the first of its accesses, and has what follows twice. So does each role
//! of warps. Of a kernel with roles, what stands before and after them is there twice, each by itself, and the roles once.
//!
//! Of a mask, one value stands for all of a vector. So it is as long as the mask is known to be the same: all along where it
//! is made of other axes alone, and between multiples where `tile.iota` along the axis is compared with one, as in `iota < 96`
//! (`uniform_run`). A remark says where it is shorter for that.
//!
//! In the other body, what is known is known too, and where several memrefs are asked for, each load and store goes by the
//! answer for its own: one that is not aligned does not slow down the others.
//!
//! ```mlir
//! } else {
//!   %x = tile.load %X[%i] vector_if %a {vector = 4 : i64} : memref<?xf32, #tile.global> -> tensor<1024xf32, #L>
//!   tile.store %x, %Y[%i] vector_if %b {vector = 4 : i64} : ...
//! }
//! ```
//!
//! What then moves one by one goes through the lanes of a warp, which move neighbours together (`convert-tile-to-nvvm`).
//!
//! An access that stands under `else` of such a question about its memref is left as it is, so that the pass may run again.
//!
//! *Needs* `tile-assign-layouts` to have run. With `guard=false` nothing is asked, and only accesses move vectors of which all
//! is known. With `report`, a remark says what is asked, and how accesses go by the answers. A kernel whose body is several
//! blocks is not split, which a remark says. *Numbers* stay what they are.
mod twice;

use crate::{
    global_views::Cut,
    known::{known_multiple, rows_are_aligned},
    shared_uses::{InRole, in_role},
    uniform_run::uniform_run,
};
use girih_dialects::tile::{
    distribution::Distribution,
    ops::{
        kernel::Kernel,
        memory::{Load, Store, VECTOR_BYTES},
        rows::{Gather, Scatter, masked},
        value::IsAligned,
    },
    spaces::is_global,
    verify::element_bits,
};
use girih_ir::{
    ext::BlockExt,
    kind::{I64, Kind},
    mlir_sys::*,
    pass::{DialectSource, OptionDef, OptionDefault, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
};

/// The region of a kernel that is its body.
const BODY: usize = 1;

/// The pass.
pub struct VectorizeAccesses;

impl Pass for VectorizeAccesses {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[
            OptionDef {
                name: "guard",
                description: "Ask when the kernel starts for what is not known",
                default: OptionDefault::Bool(true),
            },
            OptionDef {
                name: "report",
                description: "Give a remark for each kernel that says what it asks",
                default: OptionDefault::Bool(false),
            },
        ],
        statistics: &[
            Statistic {
                name: "vectorized",
                description: "Accesses that move several elements at once",
            },
            Statistic {
                name: "chosen",
                description: "Accesses that go by the answer for their own memref where not all are aligned",
            },
        ],
        dialects: &[
            DialectSource::Rust(&girih_dialects::tile::TILE),
            DialectSource::Upstream(mlirGetDialectHandle__scf__),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
        ],
        ..PassInfo::new(
            "tile-vectorize-accesses",
            "Find how many elements each access of a tile moves at once",
        )
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        for kernel in module.nested::<Kernel>() {
            vectorize(kernel, cx);
        }
        Ok(())
    }
}

/// An access that vectors would serve.
struct Candidate<'c> {
    op: OperationRef<'c, 'c>,
    memory: Value<'c, 'c>,
    axis: usize,
    vector: i64,
}

fn candidate<'c>(op: OperationRef<'c, 'c>) -> Option<Candidate<'c>> {
    // Axes whose index is not among `indices`.
    let mut rows = 0;
    let (tile, memory, indices, given) = if let Some(load) = op.cast::<Load>() {
        (load.result(), load.source(), load.indices(), load.vector())
    } else if let Some(store) = op.cast::<Store>() {
        (store.value(), store.destination(), store.indices(), store.vector())
    } else if let Some(gather) = op.cast::<Gather>() {
        rows = 1;
        (gather.result(), gather.source(), gather.columns(), gather.vector())
    } else {
        rows = 1;
        let scatter = op.cast::<Scatter>()?;
        (
            scatter.value(),
            scatter.destination(),
            scatter.columns(),
            scatter.vector(),
        )
    };
    let distribution = Distribution::of(tile.r#type())?;
    let (strides, _) = memory.r#type().strides_and_offset()?;
    let axis = (0..strides.len()).rev().find(|a| strides[*a] == 1)?;
    let bytes = element_bits(tile.r#type())? / 8;
    let run = (distribution.run(axis) as u64).min(VECTOR_BYTES / bytes.max(1)).max(1) as i64;
    let vector = run.min(known_multiple(*indices.get(axis.checked_sub(rows)?)?));
    if given.is_some() || vector < 2 || !is_global(memory.r#type()) || is_for_no(op, memory, axis) {
        return None;
    }
    let alike = masked(op).map_or(vector, |(_, mask)| uniform_run(mask, axis).min(vector));
    if alike < vector {
        let m = match alike {
            1 => "moves a tile element by element: its mask is not known to be one for neighbours".to_owned(),
            n => format!(
                "moves a tile by {n} elements at once, not {vector}: its mask is not known to be one for more neighbours"
            ),
        };
        drop(Diag::remark(&op, m));
    }
    (alike > 1).then_some(Candidate {
        op,
        memory,
        axis,
        vector: alike,
    })
}

/// Whether an access stands where an earlier question about its memref has the answer no.
fn is_for_no<'c>(op: OperationRef<'c, 'c>, memory: Value<'c, 'c>, axis: usize) -> bool {
    let asks = |condition: Value<'c, 'c>| {
        let mut open = vec![condition];
        while let Some(v) = open.pop() {
            let Some(by) = v.defining_op() else { continue };
            match by.cast::<IsAligned>() {
                Some(question) if question.memory() == memory && question.axis() == axis as i64 => return true,
                None if by.full_name() == "arith.andi" => open.extend(by.operand_values()),
                _ => {}
            }
        }
        false
    };
    let mut inner = op;
    while let Some(outer) = inner.parent() {
        let is_else = outer.full_name() == "scf.if" && outer.region_at(1).entry() == inner.block();
        if is_else && asks(outer.operand_values()[0]) {
            return true;
        }
        inner = outer;
    }
    false
}

fn set_vector(op: OperationRef<'_, '_>, vector: i64) {
    op.set_attr("vector", I64::to_attribute(&vector, op.ctx()));
}

/// What is asked when the kernel starts: whether vectors along an axis of a memref are aligned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Question {
    memory: usize,
    axis: usize,
    vector: i64,
}

/// An access of the body for other answers, and the question that it goes by; `None` where the answer is known.
struct Choice<'c> {
    op: OperationRef<'c, 'c>,
    vector: i64,
    question: Option<usize>,
}

fn vectorize<'c>(kernel: Kernel<'c, 'c>, cx: &PassContext<'c>) {
    let blocks = kernel.body().block_list();
    let ops: Vec<_> = blocks
        .iter()
        .flat_map(|b| b.op_list())
        .flat_map(|op| op.nested_ops())
        .collect();
    // By who runs them.
    let mut places: Vec<(InRole, Vec<Candidate>)> = vec![];
    for found in ops.into_iter().filter_map(candidate) {
        let role = in_role(found.op);
        match places.iter_mut().find(|(r, _)| *r == role) {
            Some((_, all)) => all.push(found),
            None => places.push((role, vec![found])),
        }
    }
    for (role, found) in places {
        vectorize_in(kernel, role, found, cx);
    }
}

/// The accesses of the block, or of a role.
fn vectorize_in<'c>(kernel: Kernel<'c, 'c>, role: InRole<'c>, mut found: Vec<Candidate<'c>>, cx: &PassContext<'c>) {
    let blocks = kernel.body().block_list();
    let Some(body) = blocks.first() else { return };
    // What the arguments' attributes say is not asked.
    let is_known = |c: &Candidate<'c>| rows_are_aligned(c.memory, c.axis, c.vector, true);
    let set = |accesses: &[Candidate<'c>]| {
        accesses.iter().for_each(|c| set_vector(c.op, c.vector));
        cx.count(0, accesses.len() as u64);
    };
    let all_known = |mut accesses: Vec<Candidate<'c>>| {
        accesses.retain(is_known);
        set(&accesses);
    };
    if found.iter().all(is_known) || !cx.option_bool("guard") {
        return all_known(found);
    }
    if blocks.len() != 1 {
        let m = "moves tiles element by element: its body is several blocks, which are not made twice; write scf.if and scf.for";
        drop(Diag::remark(&kernel.op(), m));
        return all_known(found);
    }
    if role.is_none() {
        twice::hoist(*body, &found);
    }
    // What is asked of is there before the first access: an argument, or a view made in front.
    let arguments = body.argument_values();
    let (root, region) = role.unwrap_or((kernel.op(), BODY));
    let Some(entry) = root.region_at(region).entry() else {
        return;
    };
    let in_front = |block: BlockRef<'c, 'c>| -> Vec<Value<'c, 'c>> {
        let ops = block.op_list();
        let first = twice::first_access(&ops, &found);
        ops[..first].iter().flat_map(|op| op.result_values()).collect()
    };
    let own = role.map(|_| entry);
    let views: Vec<Value> = [*body].into_iter().chain(own).flat_map(in_front).collect();
    let memories = [arguments, views].concat();
    // Rows of a matrix of a batch, whichever it is, are aligned where all are.
    for c in &mut found {
        let cut = Cut::whole(c.memory).filter(|_| !memories.contains(&c.memory));
        if let Some(cut) = cut {
            (c.memory, c.axis) = (cut.memory, cut.axes[c.axis]);
        }
    }
    let memory_of = |c: &Candidate<'c>| memories.iter().position(|m| *m == c.memory);
    let (served, other): (Vec<_>, Vec<_>) = found.into_iter().partition(|c| memory_of(c).is_some());
    for c in other {
        drop(Diag::remark(
            &c.op,
            "moves a tile element by element: the memref is no argument of the kernel, nor a view of one that is made before all \
             accesses, outside of loops and branches",
        ));
    }
    let asks = |c: &Candidate<'c>| !is_known(c);
    let of_view = served.iter().any(|c| asks(c) && c.memory.defining_op().is_some());
    let (runs, stay) = twice::made_twice(&entry.op_list(), &served, asks, role.is_some() || of_view);
    let (other, served): (Vec<_>, Vec<_>) = served.into_iter().partition(|c| asks(c) && stay.contains(&c.op));
    for c in other {
        drop(Diag::remark(
            &c.op,
            "moves a tile element by element: roles use memory that is made after it, and what is between is not made twice; make \
             the memory first",
        ));
    }
    // For each memref and axis the widest vector.
    let mut asked: Vec<Question> = vec![];
    for c in served.iter().filter(|c| asks(c)) {
        let (memory, axis, vector) = (memory_of(c).unwrap_or(0), c.axis, c.vector);
        match asked.iter_mut().find(|q| (q.memory, q.axis) == (memory, axis)) {
            Some(question) => question.vector = question.vector.max(vector),
            None => asked.push(Question { memory, axis, vector }),
        }
    }
    if asked.is_empty() {
        return set(&served);
    }
    asked.sort_unstable();
    // The other body is made while no access says vector.
    // SAFETY: the clone is detached, and is dropped with what is left in it.
    let spare = unsafe { Operation::from_raw(mlirOperationClone(root.to_raw())) };
    // SAFETY: the clone is there until the end of this function, and what is moved out of it is the kernel's.
    let other = unsafe { OperationRef::from_raw(spare.to_raw()) };
    let choices: Vec<Choice> = moves(root.region_at(region))
        .zip(moves(other.region_at(region)))
        .filter_map(|(own, other)| {
            let c = served.iter().find(|c| c.op == own)?;
            // Where one question is asked alone, the other body is for the answer no.
            let goes_by_answer = asked.len() > 1 && (other.is::<Load>() || other.is::<Store>());
            let is_own = |q: &Question| (Some(q.memory), q.axis) == (memory_of(c), c.axis);
            let question = asked.iter().position(is_own).filter(|_| asks(c));
            (is_known(c) || goes_by_answer).then_some(Choice {
                op: other,
                vector: c.vector,
                question,
            })
        })
        .collect();
    cx.count(1, choices.iter().filter(|c| c.question.is_some()).count() as u64);
    if cx.option_bool("report") {
        report(kernel, &asked, served.len(), &choices);
    }
    set(&served);
    let answers = twice::split(
        kernel,
        (root.region_at(region), other.region_at(region)),
        &runs,
        (&asked, &memories),
    );
    for choice in choices {
        match choice.question.map(|question| answers.get(question)) {
            None => set_vector(choice.op, choice.vector),
            Some(answer) => answer
                .into_iter()
                .for_each(|a| twice::choose(choice.op, choice.vector, *a)),
        }
    }
}

/// The ops of a region that vectors may serve, in the order of the source.
fn moves<'c>(region: RegionRef<'c, 'c>) -> impl Iterator<Item = OperationRef<'c, 'c>> {
    let is_access =
        |op: &OperationRef<'c, 'c>| op.is::<Load>() || op.is::<Store>() || op.is::<Gather>() || op.is::<Scatter>();
    let ops: Vec<_> = region
        .block_list()
        .iter()
        .flat_map(|b| b.op_list())
        .flat_map(|op| op.nested_ops())
        .collect();
    ops.into_iter().filter(is_access)
}

/// Says what a kernel asks, and what its accesses do where an answer is no.
fn report<'c>(kernel: Kernel<'c, 'c>, asked: &[Question], accesses: usize, choices: &[Choice<'c>]) {
    let names = kernel.arg_names();
    let questions: Vec<String> = asked
        .iter()
        .map(|q| {
            let name = names.get(q.memory).map_or("a view", String::as_str);
            format!("{name} along axis {} by {}", q.axis, q.vector)
        })
        .collect();
    let (known, chosen) = (
        choices.iter().filter(|c| c.question.is_none()).count(),
        choices.iter().filter(|c| c.question.is_some()).count(),
    );
    let m = format!(
        "asks when it starts whether vectors are aligned: {}; where not all are, of {accesses} accesses {chosen} go by the answer \
         for their own memref, {known} are vectors all the same, and {} move element by element",
        questions.join(", "),
        accesses - chosen - known
    );
    drop(Diag::remark(&kernel.op(), m));
}
