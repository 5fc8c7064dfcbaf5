//! Tensor reductions and prefetches, and cache policies (PTX ISA 9.4 section 9.7.10.28). One op is one instruction.
use super::{
    super::{
        marks::{ASYNC, STORES_MAPPED},
        spaces::SHARED_MEMREF,
        types::{TENSOR_MAP, TensorMapType, sound_map},
        verify::on_device,
    },
    tma::{CachePolicy, CopyOptions},
    tma_override::Override,
    tma_rules::{Walk, no_negative_start, one_policy, store_rules, transfer, walks},
};
use girih_core::{target::ReduceOp, tensor_map::Format};
use girih_ir::{
    attr_enum,
    constraint::{F32, I16, I64 as ADDRESS, I64 as POLICY, INDEX},
    op,
    prelude::*,
};

attr_enum! {
    /// What a reduction does with each element of its destination.
    pub enum Reduction("a reduction") {
        /// Their sum.
        Add = "add",
        /// The smaller.
        Min = "min",
        /// The larger.
        Max = "max",
        /// The destination plus 1, or 0 where it has reached the source.
        Inc = "inc",
        /// The destination minus 1, or the source where it is 0 or past the source.
        Dec = "dec",
        /// Bits of both.
        And = "and",
        /// Bits of either.
        Or = "or",
        /// Bits of one.
        Xor = "xor",
    }
}

impl Reduction {
    /// The operator, as the core crate has it.
    pub const fn core(self) -> ReduceOp {
        match self {
            Reduction::Add => ReduceOp::Add,
            Reduction::Min => ReduceOp::Min,
            Reduction::Max => ReduceOp::Max,
            Reduction::Inc => ReduceOp::Inc,
            Reduction::Dec => ReduceOp::Dec,
            Reduction::And => ReduceOp::And,
            Reduction::Or => ReduceOp::Or,
            Reduction::Xor => ReduceOp::Xor,
        }
    }
}

op! {
    /// Combines shared memory into global memory, element by element, each atomically: `cp.reduce.async.bulk.tensor`. Modes,
    /// coordinates, row ends, overrides and completion are those of `tile.tma.store`; there is no scatter4.
    ///
    /// | operator | formats |
    /// |---|---|
    /// | `add` | u32, s32, u64, f16, bf16, f32, f32_ftz |
    /// | `min` `max` | u32, s32, u64, s64, f16, bf16 |
    /// | `inc` `dec` | u32 |
    /// | `and` `or` `xor` | u32, s32, u64 |
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   %map = tile.tensor_map %A : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x32xf32>
    ///   tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<64x32xf32>)
    /// } body args(%map: !tile.tensor_map<64x32xf32>) {
    ///   %c0 = arith.constant 0 : index
    ///   %m = tile.alloc : memref<64x32xf32, #tile.shared>
    ///   tile.tma.reduce add %m, %map[%c0, %c0] : memref<64x32xf32, #tile.shared>, !tile.tensor_map<64x32xf32>
    ///   tile.bulk.commit
    ///   tile.bulk.wait 0
    /// }
    /// ```
    pub struct TmaReduce = "tile.tma.reduce" {
        operands {
            source: one(SHARED_MEMREF), map: one(TENSOR_MAP), coords: variadic(INDEX), policy: optional(POLICY),
            address: optional(ADDRESS), dims: variadic(INDEX), strides: variadic(INDEX),
        }
        attributes { kind: required(Reduction), cache: optional(CachePolicy), overwrite: unit }
        effects [read source, read, write]
        marks [ASYNC: source, STORES_MAPPED]
        format "$kind $source `,` $map `[` $coords `]` (`cache` $cache^)? (`policy` $policy^)? (`override_address` $address^)? (`override_dims` `(` $dims^ `)`)? (`override_strides` `(` $strides^ `)`)? (`overwrite` $overwrite^)? attr-dict `:` type($source) `,` type($map)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                let Some(map) = sound_map(self.map()) else { return on_device(op) };
                transfer(op, &mut errors, map, &self.coords(), self.source(), &Walk { four_rows: false, offsets: &[] });
                no_negative_start(op, &mut errors, &self.coords());
                store_rules(op, &mut errors, self.map(), self.overwrite());
                one_policy(op, &mut errors, self.cache().is_some(), self.policy().is_some());
                reduction_format(op, &mut errors, self.kind().core(), map);
                let replaced = Override { address: self.address(), dims: &self.dims(), strides: &self.strides() };
                replaced.rules(op, &mut errors, map, &self.coords(), false, false);
                errors.result()
            }
        }
    }
}

/// The map holds a format that the operator takes.
pub fn reduction_format<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, kind: ReduceOp, map: TensorMapType<'c>) {
    let (name, formats) = (kind.name(), kind.formats());
    if let Some(format) = map.core_format().filter(|f| !formats.contains(f)) {
        let takes: Vec<_> = formats.iter().map(|f| f.name()).collect();
        let hint = match kind {
            ReduceOp::Inc | ReduceOp::Dec => "; write i32 with format = unsigned",
            ReduceOp::And | ReduceOp::Or | ReduceOp::Xor if format == Format::S64 => {
                "; write i64 with format = unsigned"
            }
            _ => "",
        };
        let m = format!(
            "the map holds {}, but {name} takes {}{hint}",
            format.name(),
            takes.join(", ")
        );
        errors.op(&op, m);
    }
}

impl<'c> TmaReduce<'c, 'c> {
    /// A reduction that replaces no fields of its map.
    pub fn plain(
        loc: Location<'c>,
        kind: Reduction,
        source: Value<'c, 'c>,
        map: Value<'c, 'c>,
        coords: &[Value<'c, 'c>],
        with: CopyOptions<'c>,
    ) -> Operation<'c> {
        let (policy, cache) = (with.policy, with.cache);
        TmaReduce::build(
            loc,
            source,
            map,
            coords,
            policy,
            None,
            &[],
            &[],
            kind,
            cache,
            with.overwrite,
        )
    }
}

impl<'c> TmaPrefetch<'c, 'c> {
    /// A prefetch that replaces no fields of its map.
    pub fn plain(
        loc: Location<'c>,
        map: Value<'c, 'c>,
        coords: &[Value<'c, 'c>],
        offsets: &[Value<'c, 'c>],
        with: CopyOptions<'c>,
    ) -> Operation<'c> {
        let (policy, cache) = (with.policy, with.cache);
        TmaPrefetch::build(
            loc,
            map,
            coords,
            offsets,
            policy,
            None,
            &[],
            &[],
            with.four_rows,
            cache,
            false,
        )
    }
}

op! {
    /// Brings what a load would read into L2: `cp.async.bulk.prefetch.tensor`. Coordinates, `gather4`, `offsets` and overrides
    /// are those of `tile.tma.load`. `evict_last` is PTX's `.L2::evict_last` (sm_107a), which needs no policy.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xf32, strided<[?, 1]>, #tile.global>) threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   %map = tile.tensor_map %A : memref<?x?xf32, strided<[?, 1]>, #tile.global> -> !tile.tensor_map<64x32xf32>
    ///   tile.grid %c1, %c1, %c1 args(%map : !tile.tensor_map<64x32xf32>)
    /// } body args(%map: !tile.tensor_map<64x32xf32>) {
    ///   %c0 = arith.constant 0 : index
    ///   tile.tma.prefetch %map[%c0, %c0] cache evict_last : !tile.tensor_map<64x32xf32>
    /// }
    /// ```
    pub struct TmaPrefetch = "tile.tma.prefetch" {
        operands {
            map: one(TENSOR_MAP), coords: variadic(INDEX), offsets: variadic(I16), policy: optional(POLICY),
            address: optional(ADDRESS), dims: variadic(INDEX), strides: variadic(INDEX),
        }
        attributes { gather4: unit, cache: optional(CachePolicy), evict_last: unit }
        effects [read, write]
        format "$map `[` $coords `]` (`gather4` $gather4^)? (`offsets` `(` $offsets^ `)`)? (`cache` $cache^)? (`policy` $policy^)? (`evict_last` $evict_last^)? (`override_address` $address^)? (`override_dims` `(` $dims^ `)`)? (`override_strides` `(` $strides^ `)`)? attr-dict `:` type($map)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                let Some(map) = sound_map(self.map()) else { return on_device(op) };
                errors.merge(on_device(op));
                walks(op, &mut errors, map, &self.coords(), &Walk { four_rows: self.gather4(), offsets: &self.offsets() });
                one_policy(op, &mut errors, self.cache().is_some(), self.policy().is_some());
                priority_or_policy(op, &mut errors, self.evict_last(), self.cache().is_some() || self.policy().is_some());
                let replaced = Override { address: self.address(), dims: &self.dims(), strides: &self.strides() };
                replaced.rules(op, &mut errors, map, &self.coords(), self.gather4(), false);
                errors.result()
            }
        }
    }
}

/// A prefetch has `.L2::evict_last` or a policy.
pub fn priority_or_policy<'c>(op: OperationRef<'c, 'c>, errors: &mut Errors, evict_last: bool, policy: bool) {
    if evict_last && policy {
        errors.op(&op, "has `evict_last` and a cache policy; give one of them");
    }
}

attr_enum! {
    /// Priority of lines in L2.
    pub enum Priority("an eviction priority") {
        /// They go last.
        EvictLast = "evict_last",
        /// As usual.
        EvictNormal = "evict_normal",
        /// They go first.
        EvictFirst = "evict_first",
        /// As they were.
        EvictUnchanged = "evict_unchanged",
    }
}

op! {
    /// A cache policy for copies: `primary` for a fraction of the accesses, `secondary` (evict_unchanged where it is left out)
    /// for the others: `createpolicy.fractional`.
    ///
    /// ```mlir
    /// %half = arith.constant 0.5 : f32
    /// %policy = tile.create_policy evict_first %half else evict_unchanged
    /// ```
    pub struct CreatePolicy = "tile.create_policy" {
        operands { fraction: one(F32) }
        results { policy: one(POLICY) }
        attributes { primary: required(Priority), secondary: optional(Priority) }
        effects pure
        format "$primary $fraction (`else` $secondary^)? attr-dict"
        hooks {
            fn verify(self) -> Res {
                on_device(self.op())?;
                match self.secondary() {
                    Some(other @ (Priority::EvictLast | Priority::EvictNormal)) => Diag::op(
                        &self.op(),
                        format!("the other accesses are {other}, but may be evict_first or evict_unchanged"),
                    ).report(),
                    _ => Ok(()),
                }
            }
        }
    }
}
