//! Rows of a memref by their numbers, and additions to memory that others add to as well.
use super::{
    super::{layouts::ANY_TILE, spaces::GLOBAL_MEMREF, verify::on_device},
    memory::AccessTile,
    tma::CachePolicy,
};
use girih_ir::{
    attr_enum,
    constraint::INDEX,
    kind::{AnyAttr, I64},
    op,
    op::OpView,
    prelude::*,
};

op! {
    /// Loads the rows whose numbers `rows` has: element `(i, j)` of the tile is `source[rows[i], column + j]`. `columns` are
    /// the indices along all axes but the first. Rows and columns outside the memref read as `pad`, or as zero; `vector` and
    /// `cache` are as in `tile.load`.
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
        operands { source: one(GLOBAL_MEMREF), columns: variadic(INDEX), rows: one(ANY_TILE) }
        results { result: one(ANY_TILE) }
        attributes { pad: optional(AnyAttr), vector: optional(I64), cache: optional(CachePolicy) }
        effects [read source]
        format "$source `[` $columns `]` `rows` $rows (`cache` $cache^)? attr-dict `:` type($source) `,` type($rows) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let access = AccessTile { memory: self.source().r#type(), tile: self.result().r#type(), vector: self.vector(), pad: self.pad() };
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
    /// is stored, element by element either.
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
        operands { value: one(ANY_TILE), destination: one(GLOBAL_MEMREF), columns: variadic(INDEX), rows: one(ANY_TILE) }
        attributes { vector: optional(I64), cache: optional(CachePolicy) }
        effects [write destination]
        format "$value `,` $destination `[` $columns `]` `rows` $rows (`cache` $cache^)? attr-dict `:` type($value) `,` type($destination) `,` type($rows)"
        hooks {
            fn verify(self) -> Res {
                let access = AccessTile { memory: self.destination().r#type(), tile: self.value().r#type(), vector: self.vector(), pad: None };
                let mut errors = Errors::default();
                errors.merge(access.verify(self.op(), self.columns().len() + 1));
                errors.merge(rows_fit(self.op(), self.rows().r#type(), self.value().r#type()));
                errors.result()
            }
        }
    }
}

attr_enum! {
    /// What an atomic operation on memory does.
    pub enum AtomicKind("an atomic operation") {
        /// Adds numbers of 32 or 64 bits, or floats of 16, 32 or 64.
        Add = "add",
        /// The smaller of two signed integers.
        MinS = "mins",
        /// The larger of two signed integers.
        MaxS = "maxs",
        /// The smaller of two unsigned integers.
        MinU = "minu",
        /// The larger of two unsigned integers.
        MaxU = "maxu",
        /// Bits that both have.
        And = "and",
        /// Bits that either has.
        Or = "or",
        /// Bits that one has.
        Xor = "xor",
    }
}

op! {
    /// Combines each element of a tile with the one in memory, each as if alone (`red.global`). What is outside the memref is
    /// dropped. With `rows`, element `(i, j)` goes to row `rows[i]`, and `indices` are those of the other axes. In what order
    /// elements come is not said, so sums of floats differ from run to run in their last bits.
    ///
    /// ```mlir
    /// tile.kernel @k(%H: memref<?xi32, #tile.global>) threads(128) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %one = arith.constant dense<1> : tensor<64xi32>
    ///   %rows = tile.iota axis 0 : tensor<64xi32>
    ///   tile.atomic_rmw add %one, %H[%c0] : tensor<64xi32>, memref<?xi32, #tile.global>
    ///   tile.atomic_rmw add %one, %H[] rows %rows : tensor<64xi32> : tensor<64xi32>, memref<?xi32, #tile.global>
    /// }
    /// ```
    pub struct AtomicRmw = "tile.atomic_rmw" {
        operands { value: one(ANY_TILE), destination: one(GLOBAL_MEMREF), indices: variadic(INDEX), rows: optional(ANY_TILE) }
        attributes { kind: required(AtomicKind) }
        effects [read destination, write destination]
        format "$kind $value `,` $destination `[` $indices `]` (`rows` $rows^ `:` type($rows))? attr-dict `:` type($value) `,` type($destination)"
        hooks {
            fn verify(self) -> Res {
                let tile = self.value().r#type();
                let access = AccessTile { memory: self.destination().r#type(), tile, vector: None, pad: None };
                let mut errors = Errors::default();
                errors.merge(access.verify(self.op(), self.indices().len() + usize::from(self.rows().is_some())));
                if let Some(rows) = self.rows() {
                    errors.merge(rows_fit(self.op(), rows.r#type(), tile));
                }
                if let Some(element) = tile.element_type() {
                    let (float, bits) = (element.is_float_type(), element.bit_width().unwrap_or(0));
                    let text = element.to_string();
                    let fits = match self.kind() {
                        AtomicKind::Add if float => matches!(text.as_str(), "f16" | "bf16" | "f32" | "f64"),
                        _ => !float && matches!(bits, 32 | 64),
                    };
                    if !fits {
                        let m = format!("does {} on {element}; add takes i32, i64, f16, bf16, f32 and f64, the others i32 and i64", self.kind());
                        errors.op(&self.op(), m);
                    }
                }
                errors.result()
            }
        }
    }
}

/// Numbers of rows: integers, one for each row of the tile.
fn rows_fit<'c>(op: OperationRef<'c, 'c>, rows: Type<'c>, tile: Type<'c>) -> Res {
    let mut errors = Errors::default();
    errors.merge(on_device(op));
    let first = tile.shape().and_then(|s| s.first().copied());
    let integer = rows.element_type().is_some_and(|e| e.is_int(32) || e.is_int(64));
    if rows.shape() != first.map(|n| vec![n]) || !integer {
        errors.op(
            &op,
            format!("takes rows from {rows}, but {tile} needs a number of 32 or 64 bits for each of its rows"),
        );
    }
    errors.result()
}
