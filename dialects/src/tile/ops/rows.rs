//! Rows of a memref by their numbers.
use super::{
    super::{layouts::ANY_TILE, spaces::GLOBAL_MEMREF, verify::on_device},
    atomic::AtomicRmw,
    memory::{AccessTile, Load, Store},
    tma::CachePolicy,
};
use girih_ir::{
    constraint::INDEX,
    kind::{AnyAttr, I64},
    op,
    op::{OpDef, OpView},
    prelude::*,
};

op! {
    /// Loads the rows whose numbers `rows` has: element `(i, j)` of the tile is `source[rows[i], column + j]`. `columns` are
    /// the indices along all axes but the first. Rows and columns outside the memref read as `pad`, or as zero; `mask`, `vector`
    /// and `cache` are as in `tile.load`.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(128) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %rows = tile.iota axis 0 : tensor<64xi32>
    ///   %v = tile.gather %A[%c0] rows %rows : memref<?x?xf32, strided<[?, 1]>, #tile.global>, tensor<64xi32> -> tensor<64x128xf32>
    /// }
    /// ```
    pub struct Gather = "tile.gather" {
        operands { source: one(GLOBAL_MEMREF), columns: variadic(INDEX), rows: one(ANY_TILE), mask: optional(ANY_TILE) }
        results { result: one(ANY_TILE) }
        attributes { pad: optional(AnyAttr), vector: optional(I64), cache: optional(CachePolicy) }
        effects [read source]
        format "$source `[` $columns `]` `rows` $rows (`mask` $mask^ `:` type($mask))? (`cache` $cache^)? attr-dict `:` type($source) `,` type($rows) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let access = AccessTile { memory: self.source().r#type(), tile: self.result().r#type(), vector: self.vector(), pad: self.pad(), mask: self.mask() };
                let mut errors = Errors::default();
                errors.merge(access.verify(self.op(), self.columns().len() + 1));
                errors.merge(rows_fit(self.op(), self.rows().r#type(), self.result().r#type()));
                errors.result()
            }
        }
    }
}

op! {
    /// Stores rows at the numbers that `rows` has: the opposite of `tile.gather`. Where a number comes twice, one of its rows
    /// is stored, element by element either. Where `mask` is false nothing is stored.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?xf32, #tile.global>) threads(128) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %rows = tile.iota axis 0 : tensor<64xi32>
    ///   %v = arith.constant dense<1.0> : tensor<64xf32>
    ///   tile.scatter %v, %A[] rows %rows : tensor<64xf32>, memref<?xf32, #tile.global>, tensor<64xi32>
    /// }
    /// ```
    pub struct Scatter = "tile.scatter" {
        operands { value: one(ANY_TILE), destination: one(GLOBAL_MEMREF), columns: variadic(INDEX), rows: one(ANY_TILE), mask: optional(ANY_TILE) }
        attributes { vector: optional(I64), cache: optional(CachePolicy) }
        effects [write destination]
        format "$value `,` $destination `[` $columns `]` `rows` $rows (`mask` $mask^ `:` type($mask))? (`cache` $cache^)? attr-dict `:` type($value) `,` type($destination) `,` type($rows)"
        hooks {
            fn verify(self) -> Res {
                let access = AccessTile { memory: self.destination().r#type(), tile: self.value().r#type(), vector: self.vector(), pad: None, mask: self.mask() };
                let mut errors = Errors::default();
                errors.merge(access.verify(self.op(), self.columns().len() + 1));
                errors.merge(rows_fit(self.op(), self.rows().r#type(), self.value().r#type()));
                errors.result()
            }
        }
    }
}

/// The tile that an op moves, and the mask that says which of its elements.
pub fn masked<'c>(op: OperationRef<'c, 'c>) -> Option<(Value<'c, 'c>, Value<'c, 'c>)> {
    let (tile, mask) = if let Some(load) = op.cast::<Load>() {
        (load.result(), load.mask())
    } else if let Some(store) = op.cast::<Store>() {
        (store.value(), store.mask())
    } else if let Some(gather) = op.cast::<Gather>() {
        (gather.result(), gather.mask())
    } else if let Some(scatter) = op.cast::<Scatter>() {
        (scatter.value(), scatter.mask())
    } else {
        let atomic = op.cast::<AtomicRmw>()?;
        (atomic.tile(), atomic.mask())
    };
    Some((tile, mask?))
}

/// The definition of an op that moves a whole tile.
fn access_of(op: OperationRef<'_, '_>) -> Option<&'static OpDef> {
    let definitions = [Load::DEF, Store::DEF, Gather::DEF, Scatter::DEF, AtomicRmw::DEF];
    definitions.into_iter().find(|d| d.name == op.full_name())
}

/// Which operand of an op its mask is.
pub fn mask_operand(op: OperationRef<'_, '_>) -> Option<usize> {
    let mask = access_of(op)?.operand_range(op, "mask");
    mask.filter(|r| !r.is_empty()).map(|r| r.start)
}

/// Where an op that moves a whole tile does so: its indices, or its columns, and then its rows. `None` for other ops.
pub fn place_operands<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Vec<Value<'c, 'a>>> {
    let (own, operands) = (access_of(op)?, op.operand_values());
    let groups = ["indices", "columns", "rows"].into_iter();
    let places = groups.filter_map(|group| own.operand_range(op, group)).flatten();
    Some(places.map(|i| operands[i]).collect())
}

/// Numbers of rows: integers, one for each row of the tile.
pub(super) fn rows_fit<'c>(op: OperationRef<'c, 'c>, rows: Type<'c>, tile: Type<'c>) -> Res {
    let mut errors = Errors::default();
    errors.merge(on_device(op));
    let first = tile.shape().and_then(|s| s.first().copied());
    let integer = rows.element_type().is_some_and(|e| e.is_int(32) || e.is_int(64));
    if rows.shape() != first.map(|n| vec![n]) || !integer {
        let remedy = match rows.element_type().is_some_and(|e| e.is_index_type()) {
            true => "; cast them with arith.index_cast, to i64 where they may be large",
            false => "",
        };
        errors.op(
            &op,
            format!("takes rows from {rows}, but {tile} needs a number of 32 or 64 bits for each of its rows{remedy}"),
        );
    }
    errors.result()
}
