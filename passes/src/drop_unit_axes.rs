//! `tile-drop-unit-axes`: matrices of a batch are loaded and stored as matrices.
//!
//! ```mlir
//! %a1 = tile.load %A[%b, %row, %k] : memref<?x?x?xbf16, strided<[?, ?, 1]>, #tile.global> -> tensor<1x128x64xbf16>   // before
//! %a = tile.reshape %a1 : tensor<1x128x64xbf16> -> tensor<128x64xbf16>
//!
//! %B = memref.dim %A, %c0 : ...                                                                                       // after
//! %M = memref.dim %A, %c1 : ...
//! %K = memref.dim %A, %c2 : ...
//! %inside = arith.cmpi ult, %b, %B : index
//! %rows = arith.select %inside, %M, %c0 : index
//! %one = memref.subview %A[%b, 0, 0] [1, %rows, %K] [1, 1, 1] : ... to memref<?x?xbf16, strided<[?, 1], offset: ?>, #tile.global>
//! %a = tile.load %one[%row, %k] : memref<?x?xbf16, strided<[?, 1], offset: ?>, #tile.global> -> tensor<128x64xbf16>
//! ```
//!
//! So is what a `tile.reshape` or `tile.expand_dims` gives axes of size 1 for a store. Whatever the index is: outside of the
//! memref the matrix has no rows, is padded all over, and is not stored. Passes after this one know matrices alone, and see
//! through the view (`global_views`): tensor copies are made from `%A` itself.
//!
//! *Needs* kernels that multiply (`tile.mma`); others keep their axes. *Refuses* nothing: accesses with a mask or `pass_thru`
//! stay as they are. *Numbers* stay what they are.
use crate::global_views::strided;
use girih_dialects::{
    nvvm::{Cmp, Emit},
    tile::{
        layouts::is_laid_out,
        ops::{
            kernel::Kernel,
            memory::{Load, Store},
            mma::Mma,
            shape::{ExpandDims, Reshape},
        },
        spaces::is_global,
    },
};
use girih_ir::{
    ext::DYNAMIC,
    mlir_sys::*,
    pass::{DialectSource, Pass, PassContext, PassInfo, Statistic},
    prelude::*,
    rewrite::Before,
};

type V<'c> = Value<'c, 'c>;

/// Axes of a matrix.
const MATRIX: usize = 2;

/// The pass.
pub struct DropUnitAxes;

impl Pass for DropUnitAxes {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        statistics: &[Statistic {
            name: "matrices",
            description: "Accesses that move matrices of a batch as matrices",
        }],
        dialects: &[
            DialectSource::Rust(&girih_dialects::tile::TILE),
            DialectSource::Upstream(mlirGetDialectHandle__memref__),
            DialectSource::Upstream(mlirGetDialectHandle__arith__),
        ],
        ..PassInfo::new("tile-drop-unit-axes", "Load and store matrices of a batch as matrices")
    };

    fn run<'c>(&self, module: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        for kernel in crate::kernels(module) {
            if !kernel.op().nested::<Mma>().is_empty() {
                cx.count(0, drop_axes(kernel));
            }
        }
        Ok(())
    }
}

/// A view that was made, and where: others see it, too.
struct Made<'c> {
    block: Option<BlockRef<'c, 'c>>,
    memory: V<'c>,
    axes: Vec<usize>,
    at: Vec<V<'c>>,
    view: V<'c>,
}

fn drop_axes<'c>(kernel: Kernel<'c, 'c>) -> u64 {
    let mut made: Vec<Made<'c>> = vec![];
    let mut count = 0;
    let accesses = kernel.op().nested_ops().into_iter();
    let accesses: Vec<_> = accesses.filter(|op| op.is::<Load>() || op.is::<Store>()).collect();
    for op in accesses {
        let done = match (op.cast::<Load>(), op.cast::<Store>()) {
            (Some(l), _) => load(l, &mut made),
            (_, Some(s)) => store(s, &mut made),
            _ => None,
        };
        count += u64::from(done.is_some());
    }
    count
}

/// The axes that stay where a tile of `from` becomes one of `to`, a matrix, by axes of size 1 alone.
fn matrix_axes(from: &[i64], to: &[i64]) -> Option<Vec<usize>> {
    if to.len() != MATRIX || from.len() <= to.len() {
        return None;
    }
    let (mut axes, mut rest) = (vec![], to);
    for (axis, size) in from.iter().enumerate().rev() {
        match rest.split_last() {
            Some((last, others)) if last == size => {
                axes.insert(0, axis);
                rest = others;
            }
            _ if *size == 1 => {}
            _ => return None,
        }
    }
    rest.is_empty().then_some(axes)
}

fn load<'c>(load: Load<'c, 'c>, made: &mut Vec<Made<'c>>) -> Option<()> {
    let (t, users) = (load.result().r#type(), load.result().users());
    let is_plain = load.mask().is_none() && load.pass_thru().is_none() && load.vector().is_none();
    let to = users.first()?.result_types().first().copied()?;
    let alike = |op: &OperationRef<'c, 'c>| op.is::<Reshape>() && op.result0().r#type() == to;
    if !is_plain || !is_global(load.source().r#type()) || is_laid_out(t) || is_laid_out(to) || !users.iter().all(alike)
    {
        return None;
    }
    let axes = matrix_axes(&t.shape()?, &to.shape()?)?;
    let (at, indices) = (Before(load.op()), load.indices());
    let e = Emit::new(&at, load.op().location());
    let view = matrix(&e, load.op(), load.source(), &axes, &indices, made)?;
    let own: Vec<V> = axes.iter().map(|axis| indices[*axis]).collect();
    let new = Load::build(
        e.loc(),
        to,
        view,
        &own,
        None,
        None,
        None,
        load.pad(),
        None,
        load.cache(),
    );
    let new = e.insert(new).result0();
    for user in users {
        user.result0().replace_all_uses_with(&new);
        // SAFETY: nothing uses it any more, and each op is listed once, since it has one operand.
        unsafe { mlirOperationDestroy(user.to_raw()) };
    }
    // SAFETY: its users are gone.
    unsafe { mlirOperationDestroy(load.op().to_raw()) };
    Some(())
}

fn store<'c>(store: Store<'c, 'c>, made: &mut Vec<Made<'c>>) -> Option<()> {
    let t = store.value().r#type();
    let is_plain = store.mask().is_none() && store.vector().is_none();
    if !is_plain || !is_global(store.destination().r#type()) || is_laid_out(t) {
        return None;
    }
    // What the tile was with fewer axes.
    let mut matrix_tile = store.value();
    let mut wider = vec![];
    while matrix_tile.r#type().shape()?.len() > MATRIX {
        let by = matrix_tile
            .defining_op()
            .filter(|op| op.is::<Reshape>() || op.is::<ExpandDims>())?;
        wider.push(by);
        matrix_tile = by.operand_values()[0];
    }
    let axes = matrix_axes(&t.shape()?, &matrix_tile.r#type().shape()?)?;
    if is_laid_out(matrix_tile.r#type()) {
        return None;
    }
    let (at, indices) = (Before(store.op()), store.indices());
    let e = Emit::new(&at, store.op().location());
    let view = matrix(&e, store.op(), store.destination(), &axes, &indices, made)?;
    let own: Vec<V> = axes.iter().map(|axis| indices[*axis]).collect();
    e.insert(Store::build(
        e.loc(),
        matrix_tile,
        view,
        &own,
        None,
        None,
        None,
        store.cache(),
    ));
    // SAFETY: a store has no results.
    unsafe { mlirOperationDestroy(store.op().to_raw()) };
    for op in wider.into_iter().filter(|op| op.result0().users().is_empty()) {
        // SAFETY: nothing uses it, and its users in the list are gone before it.
        unsafe { mlirOperationDestroy(op.to_raw()) };
    }
    Some(())
}

/// The dimensions `axes` of a memref at the indices of the others; without rows where those are outside.
fn matrix<'c>(
    e: &Emit<'c, '_>,
    user: OperationRef<'c, 'c>,
    memory: V<'c>,
    axes: &[usize],
    indices: &[V<'c>],
    made: &mut Vec<Made<'c>>,
) -> Option<V<'c>> {
    let t = memory.r#type();
    let (shape, (strides, _)) = (t.shape()?, t.strides_and_offset()?);
    let others: Vec<usize> = (0..shape.len()).filter(|d| !axes.contains(d)).collect();
    let at: Vec<V> = others.iter().map(|d| indices[*d]).collect();
    let same = |m: &&Made<'c>| m.block == user.block() && m.memory == memory && m.axes == axes && m.at == at;
    if let Some(m) = made.iter().find(same) {
        return Some(m.view);
    }
    let size = |d: usize| match shape[d] {
        DYNAMIC => e.value("memref.dim", &[memory, e.index(d as i64)], e.index_type(), &[]),
        n => e.index(n),
    };
    let inside = others.iter().map(|d| e.cmp(Cmp::Ult, indices[*d], size(*d)));
    let inside = inside.reduce(|a, b| e.and(a, b))?;
    // What vectors go along keeps its size.
    let rows = axes.iter().copied().find(|axis| strides[*axis] != 1)?;
    let own_size = |axis: usize| match axis == rows {
        true => e.value("arith.select", &[inside, size(axis), e.index(0)], e.index_type(), &[]),
        false => size(axis),
    };
    let is_open = |d: usize| d == rows || shape[d] == DYNAMIC;
    let sizes: Vec<V> = axes.iter().copied().filter(|d| is_open(*d)).map(own_size).collect();
    let list = |of: &dyn Fn(usize) -> i64| {
        let all: Vec<String> = (0..shape.len()).map(|d| of(d).to_string()).collect();
        e.attr(&format!("array<i64: {}>", all.join(", ")))
    };
    let static_size = |d: usize| match axes.contains(&d) {
        true if is_open(d) => DYNAMIC,
        true => shape[d],
        false => 1,
    };
    let of = |list: &dyn Fn(usize) -> i64| axes.iter().map(|axis| list(*axis)).collect::<Vec<_>>();
    let to = strided(t, &of(&static_size), &of(&|d| strides[d]), DYNAMIC);
    let segments = e.attr(&format!("array<i32: 1, {}, {}, 0>", at.len(), sizes.len()));
    let attributes = [
        ("operandSegmentSizes", segments),
        ("static_offsets", list(&|d| if axes.contains(&d) { 0 } else { DYNAMIC })),
        ("static_sizes", list(&static_size)),
        ("static_strides", list(&|_| 1)),
    ];
    let view = e.value(
        "memref.subview",
        &[vec![memory], at.clone(), sizes].concat(),
        to,
        &attributes,
    );
    made.push(Made {
        block: user.block(),
        memory,
        axes: axes.to_vec(),
        at,
        view,
    });
    Some(view)
}
