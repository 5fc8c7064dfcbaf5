//! Views of global memory: another pointer, other sizes, other strides.
//!
//! ```mlir
//! %v = memref.subview %A[%i, 2] [4, 8] [2, -1] : memref<?x?xf32, #tile.global> to memref<4x8xf32, strided<[?, -1], offset: ?>, #tile.global>
//! // pointer: A + 4 (%i strides[0] + 2); strides: 2 strides[0], -1
//! ```
use super::{Matched, memory::Global, refuse};
pub use crate::global_views::NAMES;
use crate::global_views::kept;
use girih_dialects::{
    nvvm::{Emit, V},
    tile::{
        host::{lists, permutation},
        spaces::is_global,
    },
};
use girih_ir::{
    conversion::{Conversion, ConversionRewriter, Operands},
    ext::DYNAMIC,
    kind::{I64s, Kind},
    prelude::*,
};

/// Whether an op sees strided global memory as strided global memory, by its types.
pub fn is_global_view(op: OperationRef<'_, '_>) -> bool {
    let is_strided = |t: Type<'_>| is_global(t) && t.shape().is_some() && t.strides_and_offset().is_some();
    let source = op.operand_values().first().map(|v| v.r#type());
    source.is_some_and(is_strided) && op.result_types().into_iter().all(is_strided)
}

/// Whether an op is lowered here: `memref.reinterpret_cast` counts from the start of memory, which a view no longer knows.
pub fn is_of_global(op: OperationRef<'_, '_>) -> bool {
    let offset = || {
        op.operand_values()[0]
            .r#type()
            .strides_and_offset()
            .map(|(_, offset)| offset)
    };
    is_global_view(op) && (op.full_name() != "memref.reinterpret_cast" || offset() == Some(0))
}

/// What a view became: pointer, then the sizes and strides that its type leaves open.
fn described<'c>(to: Type<'c>, pointer: V<'c>, sizes: &[V<'c>], strides: &[V<'c>]) -> Vec<V<'c>> {
    let (known, _) = to.strides_and_offset().unwrap_or_default();
    let open = |known: Vec<i64>, values: &[V<'c>]| -> Vec<V<'c>> {
        let pairs = known.into_iter().zip(values.to_vec());
        pairs.filter(|(n, _)| *n == DYNAMIC).map(|(_, v)| v).collect()
    };
    let shape = to.shape().unwrap_or_default();
    [vec![pointer], open(shape, sizes), open(known, strides)].concat()
}

/// The lists of an op, each of numbers and of operands from `from` on where it leaves them open, as i64.
fn mixed<'c, const N: usize>(
    e: &Emit<'c, '_>,
    op: OperationRef<'c, 'c>,
    operands: &Operands<'c, '_>,
    names: [&str; N],
) -> [Vec<V<'c>>; N] {
    let mut open = (1..operands.len()).map(|i| e.to_int(operands.one(i), 64));
    names.map(|name| {
        let given = op.attr(name).and_then(I64s::from_attribute).unwrap_or_default();
        let one = |n: i64| match n {
            DYNAMIC => open.next().unwrap_or_else(|| e.c64(0)),
            n => e.c64(n),
        };
        given.into_iter().map(one).collect()
    })
}

/// Lowers the family.
pub fn patterns(c: &mut Conversion<'_>) {
    for name in NAMES {
        c.pattern(name, 1, view);
    }
}

fn view<'c>(op: OperationRef<'c, 'c>, operands: &Operands<'c, '_>, rewriter: &ConversionRewriter<'c>) -> Matched {
    if !is_of_global(op) {
        return Err(rewriter.no_match(op, "not of global memory"));
    }
    let (from, to) = (op.operand_values()[0].r#type(), op.result0().r#type());
    let e = Emit::new(rewriter, op.location());
    let memory = Global::new(&e, from, operands.get(0));
    let groups = || op.attr("reassociation").and_then(lists);
    let product = |values: &[V<'c>]| values.iter().fold(e.c64(1), |all, v| e.mul(all, *v));
    let (pointer, sizes, strides) = match op.full_name() {
        "memref.cast" => (memory.pointer, memory.sizes, memory.strides),
        "memref.reinterpret_cast" => {
            let names = ["static_offsets", "static_sizes", "static_strides"];
            let [offset, sizes, strides] = mixed(&e, op, operands, names);
            let bytes = e.mul(
                offset.first().copied().unwrap_or_else(|| e.c64(0)),
                e.c64(memory.element_bytes as i64),
            );
            (e.byte_offset(memory.pointer, bytes), sizes, strides)
        }
        "memref.transpose" => {
            let Some(order) = op.attr("permutation").and_then(permutation) else {
                return refuse(op, "has no permutation of the memref's dimensions");
            };
            let ordered = |list: &[V<'c>]| order.iter().filter_map(|d| list.get(*d).copied()).collect();
            (memory.pointer, ordered(&memory.sizes), ordered(&memory.strides))
        }
        "memref.subview" => {
            let names = ["static_offsets", "static_sizes", "static_strides"];
            let [starts, sizes, steps] = mixed(&e, op, operands, names);
            let pointer = memory.element(&e, &starts);
            let strides: Vec<V> = memory
                .strides
                .iter()
                .zip(&steps)
                .map(|(s, by)| e.mul(*s, *by))
                .collect();
            let keep = kept(op);
            let left = |list: &[V<'c>]| keep.iter().filter_map(|d| list.get(*d).copied()).collect();
            (pointer, left(&sizes), left(&strides))
        }
        "memref.collapse_shape" => {
            let Some(groups) = groups() else {
                return refuse(op, "does not say which dimensions become one");
            };
            let shape = from.shape().unwrap_or_default();
            let of = |list: &[V<'c>], group: &[usize]| group.iter().map(|d| list[*d]).collect::<Vec<_>>();
            let sizes = groups.iter().map(|g| product(&of(&memory.sizes, g))).collect();
            // Of dimensions that follow each other without gaps the innermost has the stride, but one of size 1 has any.
            let inner = |g: &Vec<usize>| {
                g.iter()
                    .rev()
                    .find(|d| shape[**d] != 1)
                    .or(g.last())
                    .map(|d| memory.strides[*d])
            };
            (memory.pointer, sizes, groups.iter().filter_map(inner).collect())
        }
        _ => {
            let [sizes] = mixed(&e, op, operands, ["static_output_shape"]);
            let mut strides = vec![e.c64(1); sizes.len()];
            for (d, group) in groups().unwrap_or_default().into_iter().enumerate() {
                let mut stride = memory.strides[d];
                for inner in group.into_iter().rev() {
                    strides[inner] = stride;
                    stride = e.mul(stride, sizes[inner]);
                }
            }
            (memory.pointer, sizes, strides)
        }
    };
    rewriter.replace_multiple(op, &[described(to, pointer, &sizes, &strides)]);
    Ok(())
}
