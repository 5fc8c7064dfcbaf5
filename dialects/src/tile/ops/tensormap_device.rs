//! Tensor maps that the device makes and changes: 128 bytes in memory, whose fields `tensormap.replace` sets one at a time
//! (PTX ISA 9.4 sections 9.7.9.27 and 9.7.13.15). One op is one instruction.
//!
//! ```text
//! shared bytes --replace--> ... --cp_fenceproxy--> global bytes      one warp, release
//!                                                      |
//!                              tensormap_fence acquire, in each block that uses the map
//!                                                      |
//!                              tensormap_at ---------> copies
//! ```
use super::super::{
    spaces::{GLOBAL_MEMREF, SHARED_MEMREF, is_global, shared_of},
    types::{TENSOR_MAP, TensorMapType},
    verify::{index_count, memref_bytes, on_device},
};
use girih_core::tensor_map::Format;
use girih_ir::{
    attr_enum,
    constraint::{Constraint, I64 as ADDRESS, INDEX},
    kind::I64,
    op,
    prelude::*,
};

/// 128 bytes of a tensor map.
pub const MAP_BYTES: Constraint = Constraint::new("a memref of 128 bytes in #tile.global or #tile.shared", |t| {
    (is_global(t) || shared_of(t).is_some()) && memref_bytes(t) == Some(128)
});

attr_enum! {
    /// A field of a tensor map, by PTX's name.
    pub enum MapField("a field of a tensor map") {
        /// Address of the first element (i64).
        GlobalAddress = "global_address",
        /// Number of dimensions less one (i32).
        Rank = "rank",
        /// Box of one dimension (i32).
        BoxDim = "box_dim",
        /// Size of one dimension (i32).
        GlobalDim = "global_dim",
        /// Stride of dimension `ordinal` + 1 in bytes (i64).
        GlobalStride = "global_stride",
        /// Traversal stride of one dimension (i32).
        ElementStride = "element_stride",
        /// Element format: a code.
        Elemtype = "elemtype",
        /// Interleave: 0 none, 1 16 bytes, 2 32 bytes.
        InterleaveLayout = "interleave_layout",
        /// Swizzle: 0 none, 1 32, 2 64, 3 128, 4 96 bytes.
        SwizzleMode = "swizzle_mode",
        /// Atom of the 128-byte swizzle: 0 16 bytes, 1 32, 2 32 with flip, 3 64.
        SwizzleAtomicity = "swizzle_atomicity",
        /// Fill: 0 zero, 1 NaN.
        FillMode = "fill_mode",
    }
}

impl MapField {
    /// Most values of `ordinal`; `None` where the field has none.
    pub const fn ordinals(self) -> Option<i64> {
        match self {
            MapField::BoxDim | MapField::GlobalDim | MapField::ElementStride => Some(5),
            MapField::GlobalStride => Some(4),
            _ => None,
        }
    }
    /// Largest code, for fields whose value is part of the instruction.
    pub const fn largest_code(self) -> Option<i64> {
        match self {
            MapField::Elemtype => Some(15),
            MapField::InterleaveLayout => Some(2),
            MapField::SwizzleMode => Some(4),
            MapField::SwizzleAtomicity => Some(3),
            MapField::FillMode => Some(1),
            _ => None,
        }
    }
    /// Why no map can hold a value in this field.
    pub fn value_error(self, value: i64) -> Option<String> {
        let (least, most, unit) = match self {
            // PTX counts ranks from 0.
            MapField::Rank => (0, 4, "0 to 4, one less than the rank"),
            MapField::BoxDim => (1, 256, "1 to 256"),
            MapField::ElementStride => (1, 8, "1 to 8"),
            MapField::GlobalStride if !(0..1 << 40).contains(&value) => (1, 0, "less than 2^40"),
            MapField::GlobalStride | MapField::GlobalAddress if value % 16 != 0 => (1, 0, "a multiple of 16"),
            _ => return None,
        };
        (!(least..=most).contains(&value)).then(|| format!("value = {value}, but {self} must be {unit}"))
    }
    /// Whether the value has 64 bits.
    pub const fn is_wide(self) -> bool {
        matches!(self, MapField::GlobalAddress | MapField::GlobalStride)
    }
}

op! {
    /// Sets one field of a tiled tensor map in memory: `tensormap.replace.tile`. Dimensions are PTX's: ordinal 0 is innermost.
    ///
    /// | fields | value |
    /// |---|---|
    /// | `global_address`, `global_stride` | an i64 after `value` |
    /// | `rank`, `box_dim`, `global_dim`, `element_stride` | an i32 after `value` |
    /// | `elemtype`, `interleave_layout`, `swizzle_mode`, `swizzle_atomicity`, `fill_mode` | a code after `code` |
    ///
    /// ```mlir
    /// %m = tile.alloc : memref<128xi8, #tile.shared<align = 128>>
    /// %size = arith.constant 512 : i32
    /// tile.tensormap.replace global_dim %m ordinal 1 value %size : memref<128xi8, #tile.shared<align = 128>>, i32
    /// tile.tensormap.replace swizzle_mode %m code 3 : memref<128xi8, #tile.shared<align = 128>>
    /// ```
    pub struct Replace = "tile.tensormap.replace" {
        operands { map: one(MAP_BYTES), value: optional(REPLACEMENT) }
        attributes { field: required(MapField), ordinal: optional(I64), code: optional(I64) }
        effects [read map, write map]
        format "$field $map (`ordinal` $ordinal^)? (`code` $code^)? (`value` $value^)? attr-dict `:` type($map) (`,` type($value)^)?"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let field = self.field();
                match (field.ordinals(), self.ordinal()) {
                    (Some(n), Some(i)) if !(0..n).contains(&i) => {
                        errors.op(&op, format!("ordinal = {i}, but {field} has ordinals 0 to {}", n - 1));
                    }
                    (Some(n), None) => errors.op(&op, format!("{field} needs an ordinal, 0 to {}", n - 1)),
                    (None, Some(i)) => errors.op(&op, format!("ordinal = {i}, but {field} has none")),
                    _ => {}
                }
                match (field.largest_code(), self.code(), self.value()) {
                    (Some(most), Some(code), None) => {
                        if !(0..=most).contains(&code) {
                            errors.op(&op, format!("code = {code}, but {field} has codes 0 to {most}"));
                        }
                    }
                    (Some(most), ..) => errors.op(&op, format!("{field} needs a code, 0 to {most}, and no value")),
                    (None, None, Some(v)) => {
                        let bits = if field.is_wide() { 64 } else { 32 };
                        if !v.r#type().is_int(bits) {
                            errors.op(&op, format!("{field} needs a value of type i{bits}, found {}", v.r#type()));
                        } else if let Some(m) = v.constant_int().and_then(|n| field.value_error(n)) {
                            errors.op(&op, m);
                        }
                    }
                    (None, ..) => errors.op(&op, format!("{field} needs a value, and no code")),
                }
                errors.result()
            }
        }
    }
}

/// What a field is set to.
const REPLACEMENT: Constraint = Constraint::new("i32 or i64", |t| t.is_int(32) || t.is_int(64));

impl<'c: 'a, 'a> Replace<'c, 'a> {
    /// Whether the code is one that only targets with sub-byte formats have.
    pub fn is_sub_byte(&self) -> bool {
        self.field() == MapField::Elemtype
            && self.code().is_some_and(|code| {
                let of_code = |f: &&Format| i64::from(f.replace_code()) == code;
                Format::ALL.iter().find(of_code).is_some_and(|f| f.is_sub_byte())
            })
    }
}

op! {
    /// The 64-bit address of an element of global memory, for the field `global_address`.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %address = tile.global_address %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>, #tile.global>
    /// }
    /// ```
    pub struct GlobalAddress = "tile.global_address" {
        operands { memory: one(GLOBAL_MEMREF), indices: variadic(INDEX) }
        results { address: one(ADDRESS) }
        effects pure
        format "$memory `[` $indices `]` attr-dict `:` type($memory)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let rank = self.memory().r#type().shape().map_or(0, |s| s.len());
                index_count(op, &mut errors, "the global memref", rank, self.indices().len());
                errors.result()
            }
        }
    }
}

attr_enum! {
    /// Threads that a fence is for.
    pub enum Scope("a scope") {
        /// The block.
        Cta = "cta",
        /// The cluster.
        Cluster = "cluster",
        /// The GPU.
        Gpu = "gpu",
        /// The system.
        Sys = "sys",
    }
}

op! {
    /// Copies a tensor map from shared to global memory and releases it to the tensor-map proxy: `tensormap.cp_fenceproxy`.
    /// All lanes of a warp execute it together.
    ///
    /// ```mlir
    /// tile.kernel @k(%map: memref<128xi8, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %m = tile.alloc : memref<128xi8, #tile.shared<align = 128>>
    ///   tile.tensormap.cp_fenceproxy %m, %map gpu : memref<128xi8, #tile.shared<align = 128>>, memref<128xi8, #tile.global>
    /// }
    /// ```
    pub struct CpFenceProxy = "tile.tensormap.cp_fenceproxy" {
        operands { source: one(SHARED_MEMREF), destination: one(GLOBAL_MEMREF) }
        attributes { scope: required(Scope) }
        effects [read source, write destination, read, write]
        format "$source `,` $destination $scope attr-dict `:` type($source) `,` type($destination)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                for t in [self.source().r#type(), self.destination().r#type()] {
                    if memref_bytes(t) != Some(128) {
                        errors.op(&op, format!("a tensor map is 128 bytes, found {t}"));
                    }
                }
                errors.result()
            }
        }
    }
}

op! {
    /// Makes a tensor map that was written elsewhere usable by this block's copies: `fence.proxy.tensormap::generic.acquire`.
    ///
    /// ```mlir
    /// tile.kernel @k(%map: memref<128xi8, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   tile.tensormap.acquire %map gpu : memref<128xi8, #tile.global>
    /// }
    /// ```
    pub struct Acquire = "tile.tensormap.acquire" {
        operands { map: one(GLOBAL_MEMREF) }
        attributes { scope: required(Scope) }
        effects [read, write]
        format "$map $scope attr-dict `:` type($map)"
        hooks {
            fn verify(self) -> Res {
                on_device(self.op())?;
                match memref_bytes(self.map().r#type()) {
                    Some(128) => Ok(()),
                    _ => Diag::op(&self.op(), format!("a tensor map is 128 bytes, found {}", self.map().r#type())).report(),
                }
            }
        }
    }
}

op! {
    /// Releases this thread's writes to tensor maps: `fence.proxy.tensormap::generic.release`.
    ///
    /// ```mlir
    /// tile.tensormap.release gpu
    /// ```
    pub struct Release = "tile.tensormap.release" {
        attributes { scope: required(Scope) }
        effects [read, write]
        format "$scope attr-dict"
        hooks { fn verify(self) -> Res { on_device(self.op()) } }
    }
}

op! {
    /// Takes 128 bytes of global memory as a tensor map: one that the device made, or that the caller encoded. Nothing looks
    /// into it; its fields must be those of the type. The address is a multiple of 64.
    ///
    /// ```mlir
    /// tile.kernel @k(%bytes: memref<128xi8, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %map = tile.tensormap.at %bytes : memref<128xi8, #tile.global> -> !tile.tensor_map<64x32xf32>
    /// }
    /// ```
    pub struct At = "tile.tensormap.at" {
        operands { bytes: one(GLOBAL_MEMREF) }
        results { map: one(TENSOR_MAP) }
        effects pure
        format "$bytes attr-dict `:` type($bytes) `->` type($map)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                on_device(op)?;
                if memref_bytes(self.bytes().r#type()) != Some(128) {
                    errors.op(&op, format!("a tensor map is 128 bytes, found {}", self.bytes().r#type()));
                }
                for violation in TensorMapType::of(self.map().r#type()).iter().flat_map(TensorMapType::violations) {
                    errors.op(&op, violation.to_string());
                }
                errors.result()
            }
        }
    }
}
