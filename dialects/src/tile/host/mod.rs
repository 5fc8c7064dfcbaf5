//! What a launch region computes, as the launcher will: expressions of the arguments' sizes, strides and numbers.
//!
//! ```text
//!   %m = memref.dim %C, %c0                              size 0 of argument C
//!   %t = memref.transpose %B (i, j) -> (j, i)            argument B, its dimensions exchanged
//!   %map = tile.tensor_map %t                            a template: dims, strides in bytes, box, swizzle
//!   %gm = arith.ceildivui %m, %c128                      ceil_div_u(C.size[0], 128)
//!   %k = tile.cluster_size                               what the kernel says
//!   tile.grid %gm, %c1, %c1 args(%map)                   the grid, and the maps in this order
//! ```
//!
//! An integer of n bits is held as its value, sign-extended to 64 bits; an i1 as 0 or 1. What arithmetic in n bits would
//! wrap around wraps around here too. In 64 bits the launcher reports an overflow instead.
mod arithmetic;
mod views;
pub use views::lists;

use super::{
    ops::{
        cluster::{ClusterDim, cluster_of},
        kernel::Grid,
        tma::MakeTensorMap,
    },
    types::TensorMapType,
};
use arithmetic::{Number, binary};
use girih_core::manifest::{BinaryOp, DEEPEST, Expr, TensorMapTemplate};
use girih_ir::{
    ext::{BlockExt, DYNAMIC},
    op::OpView,
    prelude::*,
};
use mlir_sys::*;
use std::collections::BTreeMap;

/// Most terms of one expression. Expressions are trees, and a value that is used twice is written twice.
const MOST_TERMS: usize = 1024;

/// What a launch region hands to the device.
#[derive(Clone, Debug)]
pub struct Launch<'c, 'a> {
    /// Blocks in x, y, z.
    pub grid: [Expr; 3],
    /// The extra arguments of the body, in order.
    pub maps: Vec<HostMap<'c, 'a>>,
}

/// A tensor map of a launch.
#[derive(Clone, Debug)]
pub struct HostMap<'c, 'a> {
    /// The op that makes it.
    pub op: OperationRef<'c, 'a>,
    /// What the launcher encodes.
    pub template: TensorMapTemplate,
}

/// A memref as the launcher sees it: an argument's memory with sizes and strides in elements, outermost first.
#[derive(Clone)]
struct View {
    arg: usize,
    /// Elements before the first one.
    offset: Expr,
    sizes: Vec<Expr>,
    strides: Vec<Expr>,
}

/// A value of a launch region.
#[derive(Clone)]
enum Host<'c, 'a> {
    Number(Expr),
    Memory(View),
    Map(HostMap<'c, 'a>),
    /// Not computable; `op` is what is to blame, or nothing where an argument is.
    Unknown {
        op: Option<OperationRef<'c, 'a>>,
        why: String,
    },
}

/// Evaluates the launch region of `owner`, which ends with `tile.grid`. Only what the grid and its arguments depend on must
/// be computable; each op that is in the way is reported, with a note at the use.
pub fn launch<'c: 'a, 'a>(owner: OperationRef<'c, 'a>, region: RegionRef<'c, 'a>) -> Res<Launch<'c, 'a>> {
    let (arguments, ops) = match region.entry() {
        Some(block) => (block.argument_values(), block.op_list()),
        None => (vec![], vec![]),
    };
    let Some(grid) = ops.last().and_then(|op| op.cast::<Grid>()) else {
        return Diag::op(&owner, "has a launch region that does not end with tile.grid").report();
    };
    let mut values: BTreeMap<usize, Host<'c, 'a>> = BTreeMap::new();
    for (arg, v) in arguments.into_iter().enumerate() {
        values.insert(key(v), argument(arg, v.r#type()));
    }
    for op in &ops[..ops.len() - 1] {
        match op.result_values()[..] {
            [result] => {
                let host = evaluate(*op, &values);
                values.insert(key(result), host);
            }
            ref results => {
                for r in results {
                    values.insert(
                        key(*r),
                        unknown(*op, "gives several values, which the launcher cannot follow"),
                    );
                }
            }
        }
    }
    Results {
        grid,
        values,
        blamed: vec![],
        errors: Errors::default(),
    }
    .collect()
}

/// Collects what the grid uses.
struct Results<'c, 'a> {
    grid: Grid<'c, 'a>,
    values: BTreeMap<usize, Host<'c, 'a>>,
    /// Ops that have been reported already.
    blamed: Vec<usize>,
    errors: Errors,
}

impl<'c: 'a, 'a> Results<'c, 'a> {
    fn collect(mut self) -> Res<Launch<'c, 'a>> {
        let grid = [("x", self.grid.x()), ("y", self.grid.y()), ("z", self.grid.z())].map(|(axis, v)| {
            match self.value(v, &format!("the grid's {axis}")) {
                Some(Host::Number(expr)) => expr,
                _ => Expr::Const(0),
            }
        });
        let mut maps = vec![];
        for (i, v) in self.grid.args().into_iter().enumerate() {
            if let Some(Host::Map(map)) = self.value(v, &format!("args[{i}]")) {
                maps.push(map);
            }
        }
        self.errors.result().map(|()| Launch { grid, maps })
    }

    fn value(&mut self, v: Value<'c, 'a>, what: &str) -> Option<Host<'c, 'a>> {
        let grid = self.grid.op();
        match self.values.get(&key(v)) {
            Some(Host::Unknown { op, why }) => {
                let op = op.unwrap_or(grid);
                if !self.blamed.contains(&(op.to_raw().ptr as usize)) {
                    self.blamed.push(op.to_raw().ptr as usize);
                    let r: Res = Diag::op(&op, why)
                        .note(grid.location(), format!("{what} depends on it"))
                        .report();
                    self.errors.merge(r);
                }
                None
            }
            Some(known) => Some(known.clone()),
            None => {
                self.errors
                    .op(&grid, format!("{what} is no value of the launch region"));
                None
            }
        }
    }
}

fn key(v: Value<'_, '_>) -> usize {
    v.to_raw().ptr as usize
}

fn unknown<'c, 'a>(op: OperationRef<'c, 'a>, why: impl Into<String>) -> Host<'c, 'a> {
    Host::Unknown {
        op: Some(op),
        why: why.into(),
    }
}

fn argument<'c, 'a>(arg: usize, t: Type<'c>) -> Host<'c, 'a> {
    let why = |what: &str| Host::Unknown {
        op: None,
        why: format!("depends on argument #{arg} of type {t}, but {what}"),
    };
    if !t.is_memref_type() {
        return match arithmetic::bits(t) {
            Some(_) => Host::Number(Expr::Scalar { arg }),
            None if TensorMapType::of(t).is_some() => {
                why("the body sees tensor map arguments as they are; leave it out")
            }
            None => why("the launcher computes with integers only"),
        };
    }
    let (Some(shape), Some((strides, _))) = (t.shape(), t.strides_and_offset()) else {
        return why("the launcher knows strided memrefs only");
    };
    let known = |v: i64, other: Expr| if v == DYNAMIC { other } else { Expr::Const(v) };
    let sizes = shape.iter().enumerate();
    let steps = strides.iter().enumerate();
    Host::Memory(View {
        arg,
        offset: Expr::Const(0),
        sizes: sizes.map(|(dim, v)| known(*v, Expr::Size { arg, dim })).collect(),
        strides: steps.map(|(dim, v)| known(*v, Expr::Stride { arg, dim })).collect(),
    })
}

/// The value of an op with one result.
fn evaluate<'c: 'a, 'a>(op: OperationRef<'c, 'a>, values: &BTreeMap<usize, Host<'c, 'a>>) -> Host<'c, 'a> {
    let mut operands = vec![];
    for v in op.operand_values() {
        match values.get(&key(v)) {
            Some(Host::Unknown { op: blamed, why }) => {
                return unknown(blamed.unwrap_or(op), why.clone());
            }
            Some(known) => operands.push(known),
            None => return unknown(op, "uses a value from outside the launch region"),
        }
    }
    let host = match (op.full_name(), &operands[..]) {
        ("memref.dim", [Host::Memory(view), Host::Number(index)]) => dimension(view, index),
        ("memref.cast", [Host::Memory(view)]) => {
            if op
                .result0()
                .r#type()
                .shape()
                .is_some_and(|s| s.len() == view.sizes.len())
            {
                Ok(Host::Memory(view.clone()))
            } else {
                Err("casts to another rank, which the launcher cannot follow".to_owned())
            }
        }
        ("memref.transpose", [Host::Memory(view)]) => transpose(op, view),
        ("memref.subview", [Host::Memory(view), open @ ..]) => views::subview(op, view, open),
        ("memref.collapse_shape", [Host::Memory(view)]) => views::collapse(op, view),
        ("tile.tensor_map", [Host::Memory(view)]) => map(op, view),
        ("tile.cluster_size" | "tile.cluster_dim", []) => {
            let sizes = cluster_of(op).unwrap_or_else(|| vec![1; 3]);
            let blocks = match op.cast::<ClusterDim>() {
                Some(one) => sizes.get(one.dim() as usize).copied().unwrap_or(1),
                None => sizes.iter().product(),
            };
            Ok(Host::Number(Expr::Const(blocks)))
        }
        _ => number(op, &operands),
    };
    match host {
        Ok(host) => host,
        Err(why) => unknown(op, why),
    }
}

fn number<'c: 'a, 'a>(op: OperationRef<'c, 'a>, operands: &[&Host<'c, 'a>]) -> Result<Host<'c, 'a>, String> {
    let mut numbers = vec![];
    for (host, v) in operands.iter().zip(op.operand_values()) {
        match (host, arithmetic::bits(v.r#type())) {
            (Host::Number(expr), Some(bits)) => numbers.push(Number { expr, bits }),
            _ => {
                return Err(format!(
                    "takes {}, but the launcher computes with integers only",
                    v.r#type()
                ));
            }
        }
    }
    let terms: usize = numbers.iter().map(|n| arithmetic::terms(n.expr)).sum();
    let expr = arithmetic::evaluate(op, &numbers)?;
    if terms > MOST_TERMS || arithmetic::depth(&expr) > DEEPEST {
        return Err(format!(
            "gives an expression of more than {MOST_TERMS} terms or {DEEPEST} nested operators; compute less in the launch region"
        ));
    }
    Ok(Host::Number(expr))
}

fn dimension<'c, 'a>(view: &View, index: &Expr) -> Result<Host<'c, 'a>, String> {
    let rank = view.sizes.len();
    match index {
        Expr::Const(dim) => match usize::try_from(*dim).ok().and_then(|dim| view.sizes.get(dim)) {
            Some(size) => Ok(Host::Number(size.clone())),
            None => Err(format!(
                "asks for dimension {dim}, but the memref has dimensions 0 to {}",
                rank - 1
            )),
        },
        _ => Err("asks for a dimension that is known only at run time; use a constant".to_owned()),
    }
}

fn transpose<'c: 'a, 'a>(op: OperationRef<'c, 'a>, view: &View) -> Result<Host<'c, 'a>, String> {
    let order = op.attr("permutation").and_then(permutation);
    match order.filter(|order| order.len() == view.sizes.len()) {
        Some(order) => Ok(Host::Memory(View {
            arg: view.arg,
            offset: view.offset.clone(),
            sizes: order.iter().map(|d| view.sizes[*d].clone()).collect(),
            strides: order.iter().map(|d| view.strides[*d].clone()).collect(),
        })),
        None => Err("has no permutation of the memref's dimensions".to_owned()),
    }
}

/// Dimension of the source that each dimension of the result is.
pub fn permutation(a: Attribute<'_>) -> Option<Vec<usize>> {
    // SAFETY: each accessor follows the test of its kind.
    unsafe {
        if !mlirAttributeIsAAffineMap(a.to_raw()) {
            return None;
        }
        let map = mlirAffineMapAttrGetValue(a.to_raw());
        if !mlirAffineMapIsPermutation(map) {
            return None;
        }
        (0..mlirAffineMapGetNumResults(map))
            .map(|i| {
                let expr = mlirAffineMapGetResult(map, i);
                mlirAffineExprIsADim(expr).then(|| mlirAffineDimExprGetPosition(expr) as usize)
            })
            .collect()
    }
}

fn map<'c: 'a, 'a>(op: OperationRef<'c, 'a>, view: &View) -> Result<Host<'c, 'a>, String> {
    let t = MakeTensorMap::from_op(op).map().r#type();
    let map = TensorMapType::of(t).ok_or_else(|| format!("gives {t}, expected a !tile.tensor_map"))?;
    let format = map
        .core_format()
        .ok_or_else(|| format!("gives {t}, whose elements no tensor map holds"))?;
    if view.strides.last().is_some_and(|s| *s != Expr::Const(1)) {
        return Err(
            "takes a memref whose innermost stride is known only at run time; give the kernel's argument stride 1 there, \
             as in strided<[?, 1]>"
                .to_owned(),
        );
    }
    // Elements smaller than a byte are packed in bytes: sizes and strides of the memref count those.
    let packed = format.is_sub_byte();
    let bits = format.global_bits() as i64;
    let bytes = |stride: &Expr| match packed {
        true => stride.clone(),
        false => binary(BinaryOp::Mul, stride.clone(), Expr::Const(bits / 8)),
    };
    // The slice of an interleaved tensor is no dimension of the map.
    let within = usize::from(map.core_interleave().slice_bytes().is_some());
    let mut dims: Vec<Expr> = view.sizes.iter().rev().skip(within).cloned().collect();
    if let (true, Some(inner)) = (packed, dims.first_mut()) {
        let all = binary(BinaryOp::Mul, inner.clone(), Expr::Const(8));
        *inner = binary(BinaryOp::DivU, all, Expr::Const(bits));
    }
    Ok(Host::Map(HostMap {
        op,
        template: TensorMapTemplate {
            arg: view.arg,
            offset: bytes(&view.offset),
            format,
            dims,
            strides: view.strides.iter().rev().skip(1 + within).map(bytes).collect(),
            mode: map.core_mode(),
            element_strides: map.traversal(),
            interleave: map.core_interleave(),
            swizzle: map.permutation(),
            fill: map.core_fill(),
            l2_promotion: map.core_l2(),
            exact_rows: MakeTensorMap::from_op(op).exact_rows(),
            optional: MakeTensorMap::from_op(op).optional(),
        },
    }))
}
