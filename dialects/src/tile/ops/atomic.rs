//! Whole tiles combined with memory that others change as well.
use super::{
    super::{
        layouts::ANY_TILE,
        marks::COLLECTIVE,
        spaces::shared_of,
        verify::{is_contiguous, on_device},
    },
    memory::{AccessTile, MEMORY},
    rows::rows_fit,
    tensormap_device::Scope,
};
use girih_ir::{
    attr_enum,
    constraint::{ANY, INDEX},
    op,
    op::{EffectKind, EffectSink, OpView},
    prelude::*,
};

attr_enum! {
    /// What an atomic operation on memory does.
    pub enum AtomicKind("an atomic operation") {
        /// Adds.
        Add = "add",
        /// Multiplies.
        Mul = "mul",
        /// The smaller of two signed integers.
        MinS = "mins",
        /// The larger of two signed integers.
        MaxS = "maxs",
        /// The smaller of two unsigned integers.
        MinU = "minu",
        /// The larger of two unsigned integers.
        MaxU = "maxu",
        /// The smaller of two floats; what is no number wins.
        MinimumF = "minimumf",
        /// The larger of two floats; what is no number wins.
        MaximumF = "maximumf",
        /// The smaller of two floats; a number wins.
        MinNumF = "minnumf",
        /// The larger of two floats; a number wins.
        MaxNumF = "maxnumf",
        /// Bits that both have.
        And = "and",
        /// Bits that either has.
        Or = "or",
        /// Bits that one has.
        Xor = "xor",
        /// What is new, whatever was there.
        Exch = "exch",
        /// What is new where memory holds the bits of `compare`, else what was there.
        Cas = "cas",
    }
}

impl AtomicKind {
    /// Whether operations of this kind leave the same, whichever comes first.
    pub fn commutes(self) -> bool {
        !matches!(self, AtomicKind::Exch | AtomicKind::Cas)
    }
}

attr_enum! {
    /// How an atomic operation orders other accesses (PTX ISA 9.4, section 8).
    pub enum Semantics("an ordering") {
        /// Not at all.
        Relaxed = "relaxed",
        /// What comes after it sees what was done before the release that it saw.
        Acquire = "acquire",
        /// Who acquires it sees what was done before.
        Release = "release",
        /// Both.
        AcqRel = "acq_rel",
    }
}

impl Semantics {
    /// Whether accesses before it stay before it.
    pub fn releases(self) -> bool {
        matches!(self, Semantics::Release | Semantics::AcqRel)
    }
    /// Whether accesses after it stay after it.
    pub fn acquires(self) -> bool {
        matches!(self, Semantics::Acquire | Semantics::AcqRel)
    }
}

op! {
    /// Combines each element of a tile with the one in global or shared memory, each as if alone (`red`, `atom`). What is outside
    /// the memref is dropped, and so is what `mask` is false for; in shared memory too, which is contiguous and may have any
    /// swizzle. With `rows`, element `(i, j)` goes to row `rows[i]`, and `indices` are those of the other axes. In what order
    /// elements come is not said, so sums of floats differ from run to run in their last bits.
    ///
    /// A result is what memory held before, zero where nothing was done. It is the same in all threads that hold an element, of
    /// which one does the operation; where they are in several warps it goes through shared memory (`scratch`, which
    /// `tile-allocate-scratch` gives it).
    ///
    /// | kind | elements |
    /// |---|---|
    /// | `add`, `mul` | integers and floats |
    /// | `mins`, `maxs`, `minu`, `maxu`, `and`, `or`, `xor` | integers |
    /// | `minimumf`, `maximumf`, `minnumf`, `maxnumf` | floats, as in arith |
    /// | `exch`, `cas` | any, bit by bit; `cas` has `compare` |
    ///
    /// Elements have 16, 32 or 64 bits. What PTX has no instruction for is a loop around `atom.cas`: 16-bit integers, `mul`,
    /// the smaller or larger float, bf16 before sm_90.
    ///
    /// `sem` orders the whole block: what it did before a release comes before, what it does after an acquire comes after.
    /// `scope` says who takes part; where it is left out the GPU, and in shared memory the block (`cta`).
    ///
    /// ```mlir
    /// tile.kernel @k(%H: memref<?xi32, #tile.global>, %N: memref<i32, #tile.global>) threads(128) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %one = arith.constant dense<1> : tensor<64xi32>
    ///   %rows = tile.iota axis 0 : tensor<64xi32>
    ///   tile.atomic_rmw add %one, %H[%c0] : tensor<64xi32>, memref<?xi32, #tile.global>
    ///   tile.atomic_rmw add %one, %H[] rows %rows : tensor<64xi32> : tensor<64xi32>, memref<?xi32, #tile.global>
    ///   %next = arith.constant dense<1> : tensor<i32>
    ///   %ticket = tile.atomic_rmw add %next, %N[] sem acq_rel : tensor<i32>, memref<i32, #tile.global> -> tensor<i32>
    ///   %old = tile.atomic_rmw cas %rows, %H[%c0] compare %one : tensor<64xi32> scope sys : tensor<64xi32>, memref<?xi32, #tile.global> -> tensor<64xi32>
    ///   %counts = tile.alloc : memref<64xi32, #tile.shared>
    ///   tile.store %one, %counts[%c0] : tensor<64xi32>, memref<64xi32, #tile.shared>
    ///   tile.atomic_rmw add %one, %counts[] rows %old : tensor<64xi32> : tensor<64xi32>, memref<64xi32, #tile.shared>
    /// }
    /// ```
    pub struct AtomicRmw = "tile.atomic_rmw" {
        operands {
            value: one(ANY_TILE), destination: one(MEMORY), indices: variadic(INDEX), compare: optional(ANY_TILE),
            rows: optional(ANY_TILE), mask: optional(ANY_TILE), scratch: optional(ANY),
        }
        results { result: optional(ANY_TILE) }
        attributes {
            kind: required(AtomicKind),
            sem: default(Semantics, Semantics::Relaxed),
            scope: optional(Scope),
        }
        effects custom
        marks [COLLECTIVE: scratch]
        format "$kind $value `,` $destination `[` $indices `]` (`compare` $compare^ `:` type($compare))? (`rows` $rows^ `:` type($rows))? (`mask` $mask^ `:` type($mask))? (`sem` $sem^)? (`scope` $scope^)? (`scratch` $scratch^ `:` type($scratch))? attr-dict `:` type($value) `,` type($destination) (`->` type($result)^)?"
        hooks {
            fn effects(self, sink: &EffectSink) {
                for kind in [EffectKind::Read, EffectKind::Write] {
                    sink.operand(kind, 1);
                    if self.sem() != Semantics::Relaxed {
                        sink.anywhere(kind);
                    }
                    if self.scratch().is_some() {
                        sink.operand(kind, self.op().operand_count() - 1);
                    }
                }
            }
            fn verify(self) -> Res { verify(self) }
        }
    }
}

impl<'c: 'a, 'a> AtomicRmw<'c, 'a> {
    /// The tile that says who holds what: the result, if there is one.
    pub fn tile(&self) -> Value<'c, 'a> {
        self.result().unwrap_or_else(|| self.value())
    }
    /// Who takes part, where the op does not say so too.
    pub fn participants(&self) -> Scope {
        let own = || match shared_of(self.destination().r#type()) {
            Some(_) => Scope::Cta,
            None => Scope::Gpu,
        };
        self.scope().unwrap_or_else(own)
    }
}

fn verify<'c>(atomic: AtomicRmw<'c, 'c>) -> Res {
    let (op, mut errors) = (atomic.op(), Errors::default());
    errors.merge(on_device(op));
    let (tile, memory) = (atomic.value().r#type(), atomic.destination().r#type());
    if shared_of(memory).is_some() && !is_contiguous(memory) {
        let is_static = memory.shape().is_some_and(|sizes| sizes.iter().all(|n| *n >= 0));
        let remedy = match is_static {
            true => "take a part with tile.slab, or give the indices of the whole",
            false => {
                "combine with the buffer that tile.alloc gives, whose type has its sizes, and mask what is past the part"
            }
        };
        let m = format!(
            "combines a tile with {memory}, but in shared memory atomic operations go to contiguous memrefs of static sizes; \
             {remedy}"
        );
        errors.op(&op, m);
    }
    let access = AccessTile {
        memory,
        tile,
        vector: None,
        pad: None,
        mask: atomic.mask(),
    };
    errors.merge(access.verify(op, atomic.indices().len() + usize::from(atomic.rows().is_some())));
    if let Some(rows) = atomic.rows() {
        errors.merge(rows_fit(op, rows.r#type(), tile));
    }
    if let Some(result) = atomic.result().filter(|r| r.r#type() != tile) {
        errors.op(
            &op,
            format!("gives {} of {tile}; the result has its type", result.r#type()),
        );
    }
    let kind = atomic.kind();
    match atomic.compare() {
        Some(_) if kind != AtomicKind::Cas => {
            errors.op(&op, format!("has `compare`, which {kind} has no use for; leave it out"))
        }
        None if kind == AtomicKind::Cas => {
            errors.op(&op, "swaps where memory holds something; say what with `compare`")
        }
        Some(c) if c.r#type() != tile => errors.op(
            &op,
            format!("compares with {}, but swaps in {tile}; both have one type", c.r#type()),
        ),
        _ => {}
    }
    let Some(element) = tile.element_type() else {
        return errors.result();
    };
    let float = element.is_float_type();
    let fits = match kind {
        AtomicKind::Add | AtomicKind::Mul | AtomicKind::Exch | AtomicKind::Cas => true,
        AtomicKind::MinimumF | AtomicKind::MaximumF | AtomicKind::MinNumF | AtomicKind::MaxNumF => float,
        _ => !float,
    };
    let known = match float {
        true => matches!(element.to_string().as_str(), "f16" | "bf16" | "f32" | "f64"),
        false => matches!(element.bit_width(), Some(16 | 32 | 64)),
    };
    if !known {
        let m = format!(
            "does {kind} on {element}, but atomic operations take i16, i32, i64, f16, bf16, f32 and f64; keep the numbers in \
             memory as one of these"
        );
        errors.op(&op, m);
    } else if !fits {
        let others = match float {
            true => "floats take add, mul, minimumf, maximumf, minnumf, maxnumf, exch and cas",
            false => "integers take add, mul, mins, maxs, minu, maxu, and, or, xor, exch and cas",
        };
        errors.op(&op, format!("does {kind} on {element}; {others}"));
    }
    errors.result()
}
