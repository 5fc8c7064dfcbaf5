//! Matrix products of whole tiles, and what lies between them and the explicit level: operands staged in shared memory,
//! and the part of a loop that runs ahead of it.
use super::super::{
    layouts::ANY_TILE,
    marks::ASYNC,
    spaces::{GLOBAL_MEMREF, SHARED_MEMREF, shared_of},
    verify::{block_threads, element_bits, index_count, on_device, static_shape},
};
use super::{
    kernel::{ends_plainly, parenthesised},
    tma::CachePolicy,
    wgmma::Major,
};
use girih_ir::{
    attr_enum,
    constraint::{Constraint, I1, INDEX},
    kind::{I64, Kind},
    op,
    op::{EffectKind, EffectSink, OpView},
    prelude::*,
};

/// An operand of a product: a tile, or one that is staged in shared memory.
pub const OPERAND: Constraint = Constraint::new("a ranked tensor with static sizes or a memref in #tile.shared", |t| {
    (ANY_TILE.check)(t) || shared_of(t).is_some()
});

attr_enum! {
    /// Which operand of a product.
    pub enum Side("a side of a product") {
        /// The first: M x K.
        A = "a",
        /// The second: K x N.
        B = "b",
    }
}

impl Side {
    /// The axis of the operand's tile that the product sums over.
    pub const fn k_axis(self) -> usize {
        match self {
            Side::A => 1,
            Side::B => 0,
        }
    }
    /// The other axis: M or N.
    pub const fn mn_axis(self) -> usize {
        1 - self.k_axis()
    }
}

attr_enum! {
    /// Who moves a staged tile.
    pub enum Mover("who copies") {
        /// Tensor copies.
        Tma = "tma",
        /// The block's threads ahead of the loop, by `cp.async` of 16 bytes, for products of tiles.
        CpAsync = "cp_async",
        /// The block's threads.
        Threads = "threads",
    }
}

attr_enum! {
    /// What stands for the product of two bits; a sum counts the ones.
    pub enum BitOp("an operation on bits") {
        /// One where the bits differ: PTX's `.xor.popc`.
        Xor = "xor",
        /// One where both bits are ones: PTX's `.and.popc`.
        And = "and",
    }
}

/// How an operand lies in shared memory: `blocks x panels x rows x span` elements.
///
/// ```text
/// K-major    element (mn, k)   at [mn / rows] [k / span] [mn % rows] [k % span]
/// MN-major   element (mn, k)   at [mn / (panels * span)] [mn / span % panels] [k] [mn % span]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staging {
    /// Which dimension is contiguous.
    pub major: Major,
    /// Parts along M or N, one for each warpgroup.
    pub blocks: i64,
    /// Parts as wide as the swizzle spans.
    pub panels: i64,
    /// Rows of a panel.
    pub rows: i64,
    /// Elements of a row of a panel.
    pub span: i64,
}

impl Staging {
    /// Of a shared memref with static sizes; `None` where its rank is another.
    pub fn of(t: Type<'_>, major: Major) -> Option<Staging> {
        match t.shape()?[..] {
            [blocks, panels, rows, span] => Some(Staging {
                major,
                blocks,
                panels,
                rows,
                span,
            }),
            _ => None,
        }
    }
    /// Sizes, outermost first.
    pub fn shape(&self) -> [i64; 4] {
        [self.blocks, self.panels, self.rows, self.span]
    }
    /// M or N of the operand.
    pub fn mn(&self) -> i64 {
        match self.major {
            Major::K => self.blocks * self.rows,
            Major::Mn => self.blocks * self.panels * self.span,
        }
    }
    /// K of the operand.
    pub fn k(&self) -> i64 {
        match self.major {
            Major::K => self.panels * self.span,
            Major::Mn => self.rows,
        }
    }
    /// The axis of the operand's tile that rows go along.
    pub fn row_axis(&self, side: Side) -> usize {
        match self.major {
            Major::K => side.mn_axis(),
            Major::Mn => side.k_axis(),
        }
    }
    /// Row and column in the operand's tile of the first element of a panel.
    pub fn panel_origin(&self, block: i64, panel: i64) -> (i64, i64) {
        match self.major {
            Major::K => (block * self.rows, panel * self.span),
            Major::Mn => (0, (block * self.panels + panel) * self.span),
        }
    }
}

op! {
    /// `acc + a b` on whole tiles, by all threads of the block: `a` is M x K, `b` is K x N, `acc` is M x N, whatever lies
    /// contiguous in memory, however small. f32 operands are tf32: the last 13 bits are cut off. i8 and i4 operands are signed
    /// unless `unsigned_a`, `unsigned_b`. Of single bits `popc` says what stands for the product: `xor` or `and`.
    ///
    /// | a, b | acc | mma.sync | wgmma |
    /// |---|---|---|---|
    /// | f16 | f32, f16 | every target | sm_90a |
    /// | bf16, f32 | f32 | every target | sm_90a |
    /// | f8E4M3FN, f8E5M2, also mixed | f32, f16 | sm_89 and later | sm_90a |
    /// | f6E2M3FN, f6E3M2FN, f4E2M1FN, also mixed, with f8 too | f32, f16 | sm_120a, sm_121a | |
    /// | i8, of either sign, also mixed | i32 | every target | sm_90a |
    /// | i4, of either sign, also mixed | i32 | every target | |
    /// | i1, with `popc xor` or `popc and` | i32 | every target | sm_90a, `and` alone |
    /// | f64 | f64 | every target, from sm_90 on 16 rows at once | |
    ///
    /// Memory has no numbers below a byte: i4, f4 and i1 are loaded as bytes along K, f6 as a byte each, and `tile.bitcast` makes
    /// tiles of them; in shared memory operands of single bits are memrefs of i8. Products with a scale for each block of
    /// operands are not here: scale what is added, or operands beforehand.
    ///
    /// Two ways lead down. `tile-plan-copies` stages operands that are loaded just before the product in shared memory; there
    /// they are `blocks x panels x rows x span` ([`Staging`]), `a_major`, `b_major` say what a row is, and `tile-expand-mma`
    /// makes `tile.wgmma` of it. All other products stay on tiles: `tile-assign-layouts` lays them out as `mma.sync` has its
    /// fragments, each warp with a part of the accumulator. What a loop loads for these is staged ahead, too, and comes back as a
    /// tile by `tile.load_staged`.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>, %B: memref<?x?xbf16, strided<[1, ?]>, #tile.global>) threads(128) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    ///   %a = tile.load %A[%c0, %c0] : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> tensor<64x32xbf16>
    ///   %b = tile.load %B[%c0, %c0] : memref<?x?xbf16, strided<[1, ?]>, #tile.global> -> tensor<32x128xbf16>
    ///   %c = tile.mma %a, %b, %zero : tensor<64x32xbf16>, tensor<32x128xbf16>, tensor<64x128xf32>
    /// }
    /// ```
    pub struct Mma = "tile.mma" {
        operands { a: one(OPERAND), b: one(OPERAND), acc: one(ANY_TILE) }
        results { result: one(ANY_TILE) }
        attributes {
            a_major: default(Major, Major::K),
            b_major: default(Major, Major::K),
            unsigned_a: unit,
            unsigned_b: unit,
            /// Of products of single bits.
            popc: optional(BitOp),
        }
        effects custom
        marks [ASYNC: a, ASYNC: b]
        format "$a `,` $b `,` $acc (`popc` $popc^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)"
        hooks {
            fn effects(self, sink: &EffectSink) {
                for (i, v) in self.op().operand_values().iter().enumerate().take(2) {
                    if v.r#type().is_memref_type() {
                        sink.operand(EffectKind::Read, i);
                    }
                }
            }
            fn verify(self) -> Res { verify_mma(self) }
            fn infer_results(p: &OpParser<'c>) -> Res<Vec<Type<'c>>> {
                Ok(p.operands().last().map(|acc| vec![acc.r#type()]).unwrap_or_default())
            }
        }
    }
}

impl<'c, 'a> Mma<'c, 'a> {
    /// An operand.
    pub fn operand(&self, side: Side) -> Value<'c, 'a> {
        match side {
            Side::A => self.a(),
            Side::B => self.b(),
        }
    }
    /// Whether any operand is in shared memory, where only wgmma reads it.
    pub fn is_staged(&self) -> bool {
        [Side::A, Side::B]
            .iter()
            .any(|side| self.operand(*side).r#type().is_memref_type())
    }
    /// What wgmma has not: an element type of the operands, or the way in which bits are counted.
    pub fn without_wgmma(&self) -> Option<String> {
        if self.popc() == Some(BitOp::Xor) {
            return Some("popc xor".to_owned());
        }
        let elements = [self.a(), self.b()].map(|v| v.r#type().element_type());
        let mut names = elements.into_iter().flatten().map(|e| e.to_string());
        names.find(|name| matches!(name.as_str(), "f64" | "i4" | "f6E2M3FN" | "f6E3M2FN" | "f4E2M1FN"))
    }
    /// Whether operands are bytes in shared memory that are eight single bits each.
    fn is_of_staged_bits(&self) -> bool {
        let are_bytes = |v: Value<'c, 'a>| {
            let t = v.r#type();
            t.is_memref_type() && t.element_type().is_some_and(|e| e.is_int(8))
        };
        self.popc().is_some() && are_bytes(self.a()) && are_bytes(self.b())
    }
    /// Whether an operand's numbers are unsigned.
    pub fn is_unsigned(&self, side: Side) -> bool {
        match side {
            Side::A => self.unsigned_a(),
            Side::B => self.unsigned_b(),
        }
    }
    /// Which dimension of an operand is contiguous in shared memory.
    pub fn major(&self, side: Side) -> Major {
        match side {
            Side::A => self.a_major(),
            Side::B => self.b_major(),
        }
    }
}

/// M or N, and K of an operand.
fn extents(t: Type<'_>, side: Side, major: Major) -> Option<(i64, i64)> {
    if let Some(shape) = t.shape().filter(|_| t.is_ranked_tensor_type()) {
        return (shape.len() == 2).then(|| (shape[side.mn_axis()], shape[side.k_axis()]));
    }
    Staging::of(t, major).map(|s| (s.mn(), s.k()))
}

fn verify_mma<'c>(m: Mma<'c, 'c>) -> Res {
    let (op, mut errors) = (m.op(), Errors::default());
    errors.merge(on_device(op));
    let (ta, tb, acc) = (m.a().r#type(), m.b().r#type(), m.acc().r#type());
    if m.result().r#type() != acc {
        errors.op(&op, format!("gives {}, but adds to {acc}", m.result().r#type()));
    }
    let shape = acc.shape().unwrap_or_default();
    if shape.len() != 2 {
        errors.op(
            &op,
            format!("adds to {acc}, but a product of matrices is a matrix: M x N"),
        );
        return errors.result();
    }
    let sides = [(Side::A, ta, shape[0], "M"), (Side::B, tb, shape[1], "N")];
    let mut depths = vec![];
    for (side, t, size, name) in sides {
        static_shape(op, "an operand", t)?;
        let Some((mn, k)) = extents(t, side, m.major(side)) else {
            let m = format!(
                "operand {side} is {t}, expected a matrix, or blocks x panels x rows x span elements in shared memory"
            );
            errors.op(&op, m);
            continue;
        };
        if mn != size {
            errors.op(
                &op,
                format!("operand {side} has {name} = {mn}, but {acc} has {name} = {size}; a is M x K, b is K x N"),
            );
        }
        depths.push(k);
    }
    if let [a, b] = depths[..]
        && a != b
    {
        errors.op(
            &op,
            format!("operand a has K = {a}, but operand b has K = {b}; a is M x K, b is K x N"),
        );
    }
    let text = |t: Type<'c>| t.element_type().map(|e| e.to_string()).unwrap_or_default();
    let (a, b, d) = (text(ta), text(tb), text(acc));
    let small = |e: &str| matches!(e, "f8E4M3FN" | "f8E5M2" | "f6E2M3FN" | "f6E3M2FN" | "f4E2M1FN");
    let fits = match (a.as_str(), b.as_str()) {
        ("f16", "f16") => matches!(d.as_str(), "f32" | "f16"),
        ("bf16", "bf16") | ("f32", "f32") => d == "f32",
        ("f64", "f64") => d == "f64",
        ("i8", "i8") | ("i4", "i4") | ("i1", "i1") => d == "i32",
        (a, b) if small(a) && small(b) => matches!(d.as_str(), "f32" | "f16"),
        _ => false,
    };
    if !fits {
        errors.op(
            &op,
            format!(
                "multiplies {a} by {b} into {d}; tensor cores multiply f16 into f32 or f16, bf16 and f32 into f32, floats of 8, 6 and 4 \
                 bits into f32 or f16, i8, i4 and i1 into i32, f64 into f64"
            ),
        );
    } else if m.is_staged() && a == "i1" {
        errors.op(
            &op,
            "multiplies i1 from shared memory, which has no single bits; take memrefs of i8, of eight bits each",
        );
    } else if m.is_staged() && m.popc() == Some(BitOp::Xor) {
        errors.op(
            &op,
            "counts popc xor in shared memory, where only wgmma reads, which has popc and alone; multiply tiles",
        );
    } else if let Some(lacking) = m.without_wgmma().filter(|_| m.is_staged()) {
        errors.op(
            &op,
            format!("multiplies {lacking} from shared memory, where only wgmma reads, which has no {lacking}; multiply tiles"),
        );
    }
    match m.popc() {
        None if a == "i1" && b == "i1" => {
            errors.op(
                &op,
                "multiplies i1, but does not say what stands for the product of two bits; write popc xor or popc and",
            );
        }
        Some(_) if (a != "i1" || b != "i1") && !m.is_of_staged_bits() => {
            errors.op(
                &op,
                format!("says popc, but multiplies {a} by {b}; only i1 has a choice"),
            );
        }
        _ => {}
    }
    for (side, element) in [(Side::A, &a), (Side::B, &b)] {
        if m.is_unsigned(side) && m.is_of_staged_bits() {
            errors.op(
                &op,
                format!("says unsigned_{side}, but counts single bits, which have no sign"),
            );
        } else if m.is_unsigned(side) && !matches!(element.as_str(), "i8" | "i4") {
            errors.op(
                &op,
                format!("says unsigned_{side}, but operand {side} holds {element}; only i8 and i4 have two readings"),
            );
        }
    }
    errors.result()
}

op! {
    /// A tile of global memory, staged in shared memory as operand `side` of a product: a copy of its own, complete when the
    /// op is done. Elements outside the memref are zero. `major` says which dimension is contiguous, the result's type the
    /// rest ([`Staging`]); `by` says who copies, and with `tma where` tensor copies do where a truth value holds, which is the
    /// same for all threads and every pass of the loops around, and threads elsewhere. So does `cp_async where`: copies of 16
    /// bytes where it holds, narrower ones elsewhere. All threads of the block come by. With `transposed` the operand is the
    /// tile of the memref with its axes exchanged: `B` may be N x K in memory. `cache` is the policy of the tensor copies.
    /// A `memref.subview` that leaves out dimensions of an argument is as large as the argument along the others where tensor
    /// copies take it: they go by the edges of the argument.
    ///
    /// `tile-plan-copies` makes it of a `tile.load`; `tile-pipeline` gives it memory and copies.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(256) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %a = tile.stage %A[%c0, %c0] side a major k by tma : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> memref<2x1x64x64xbf16, #tile.shared<swizzle = 128>>
    /// }
    /// ```
    pub struct Stage = "tile.stage" {
        operands { source: one(GLOBAL_MEMREF), indices: variadic(INDEX), condition: optional(I1) }
        results { result: one(SHARED_MEMREF) }
        attributes { side: required(Side), major: required(Major), by: required(Mover), cache: optional(CachePolicy), transposed: unit }
        effects [read source, allocate result]
        format "$source `[` $indices `]` (`transposed` $transposed^)? `side` $side `major` $major `by` $by (`where` $condition^)? (`cache` $cache^)? attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                let rank = from.shape().unwrap_or_default().len();
                if rank != 2 {
                    errors.op(&op, format!("stages a part of {from}, but operands are matrices: rank 2"));
                }
                index_count(op, &mut errors, "the memref", rank, self.indices().len());
                if from.element_type() != to.element_type() {
                    errors.op(&op, format!("the result {to} must have the element type of {from}"));
                }
                if self.condition().is_some() && self.by() == Mover::Threads {
                    errors.op(&op, "is by threads, which can always copy; write `by tma where` or `by cp_async where` a truth value, or no truth value");
                }
                static_shape(op, "a staged tile", to)?;
                if Staging::of(to, self.major()).is_none() {
                    errors.op(&op, format!("gives {to}, expected blocks x panels x rows x span elements"));
                }
                if element_bits(to).is_none() {
                    errors.op(&op, format!("gives {to}, but operands hold numbers"));
                }
                errors.result()
            }
        }
    }
}

impl Stage<'_, '_> {
    /// How the operand lies in shared memory.
    pub fn staging(&self) -> Staging {
        Staging::of(self.result().r#type(), self.major()).expect("checked by the verifier")
    }
    /// The axis of the memref that rows in shared memory go along.
    pub fn row_axis(&self) -> usize {
        self.staging().row_axis(self.side()) ^ usize::from(self.transposed())
    }
}

op! {
    /// A staged operand as a tile in registers: `source` lies as `tile.stage` puts operand `side`, one block of it. Where the
    /// tile's layout gives threads what `ldmatrix` gives them, it is that instruction, with `.trans` where neighbours in a
    /// register lie in different rows; else ordinary loads.
    ///
    /// ```mlir
    /// tile.kernel @k(%A: memref<?x?xbf16, strided<[?, 1]>, #tile.global>) threads(128) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   %c0 = arith.constant 0 : index
    ///   %staged = tile.stage %A[%c0, %c0] side a major k by threads : memref<?x?xbf16, strided<[?, 1]>, #tile.global> -> memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>>
    ///   %a = tile.load_staged %staged side a major k : memref<1x2x64x64xbf16, #tile.shared<swizzle = 128>> -> tensor<64x128xbf16>
    /// }
    /// ```
    pub struct LoadStaged = "tile.load_staged" {
        operands { source: one(SHARED_MEMREF) }
        results { result: one(ANY_TILE) }
        attributes { side: required(Side), major: required(Major) }
        effects [read source]
        format "$source `side` $side `major` $major attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                let (from, to) = (self.source().r#type(), self.result().r#type());
                static_shape(op, "a staged operand", from)?;
                let Some(staging) = Staging::of(from, self.major()).filter(|s| s.blocks == 1) else {
                    errors.op(&op, format!("loads {from}, expected 1 x panels x rows x span elements"));
                    return errors.result();
                };
                let mut sizes = [0; 2];
                sizes[self.side().mn_axis()] = staging.mn();
                sizes[self.side().k_axis()] = staging.k();
                if to.shape() != Some(sizes.to_vec()) || to.element_type() != from.element_type() {
                    errors.op(&op, format!("makes {to} of {from}; the result has sizes {sizes:?} and the same elements"));
                }
                errors.result()
            }
        }
    }
}

impl LoadStaged<'_, '_> {
    /// How the operand lies in shared memory.
    pub fn staging(&self) -> Staging {
        Staging::of(self.source().r#type(), self.major()).expect("checked by the verifier")
    }
}

op! {
    /// The part of the loop around it that runs ahead: its region, which gets the loop's counter, runs once for each pass of
    /// the loop, in one thread of the block, up to `ahead` - 1 passes before the others get there. What it waits for must
    /// come from passes that are at least `ahead` back. It stands in the body of an `scf.for` itself. With `threads` that many
    /// threads of the block run it, whole warps, and it also gets the thread's number among them.
    ///
    /// `tile-pipeline` puts copies into it; `tile-specialize-warps` gives it warps of its own, or writes it into the loop.
    ///
    /// ```mlir
    /// %c0 = arith.constant 0 : index
    /// %c1 = arith.constant 1 : index
    /// %c8 = arith.constant 8 : index
    /// %full = tile.alloc : memref<!tile.mbarrier, #tile.shared>
    /// scf.for %i = %c0 to %c8 step %c1 {
    ///   tile.produce(%j) ahead(1) {
    ///     tile.mbarrier.arrive %full[] : memref<!tile.mbarrier, #tile.shared>
    ///   }
    ///   tile.produce(%j, %thread) ahead(1) threads(128) {
    ///     tile.cp_async.mbarrier_arrive %full[] noinc : memref<!tile.mbarrier, #tile.shared>
    ///   }
    /// }
    /// ```
    pub struct Produce = "tile.produce" {
        attributes {
            /// Passes of the loop that it is ahead at most, its own included.
            ahead: required(I64),
            /// Threads that run it; one thread where it is left out.
            threads: optional(I64),
        }
        regions { copies: single }
        traits [RecursiveMemoryEffects]
        format custom
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                if self.ahead() < 1 {
                    errors.op(&op, format!("ahead({}), but the pass that the loop is in counts: at least 1", self.ahead()));
                }
                if let Some(n) = self.threads() {
                    let all = block_threads(op);
                    if n <= 0 || n % 32 != 0 || all.is_some_and(|all| n > all) {
                        let block = all.map_or(String::new(), |all| format!(", and the block has {all}"));
                        errors.op(&op, format!("threads({n}), but whole warps of the block run it: a multiple of 32{block}"));
                    }
                }
                if op.parent().is_some_and(|p| p.full_name() != "scf.for") {
                    errors.op(&op, "runs ahead of a loop, but does not stand in the body of an scf.for itself");
                }
                errors.result()
            }
            fn verify_regions(self) -> Res {
                use girih_ir::ext::BlockExt;
                let arguments = self.copies().entry().map(|b| b.argument_values()).unwrap_or_default();
                let takes = 1 + usize::from(self.threads().is_some());
                if arguments.len() != takes || !arguments.iter().all(|a| a.r#type().is_index_type()) {
                    let m = match takes {
                        1 => "has a region that takes one index, the loop's counter",
                        _ => "has a region that takes two of index, the loop's counter and the number of the thread",
                    };
                    return Diag::op(&self.op(), m).report();
                }
                Ok(())
            }
            fn parse(p: &OpParser<'c>) -> Res {
                p.token(Token::LParen)?;
                let mut arguments = vec![p.argument(false)?];
                if p.optional_token(Token::Comma) {
                    arguments.push(p.argument(false)?);
                }
                p.token(Token::RParen)?;
                p.keyword("ahead")?;
                let ahead = parenthesised(p)?;
                p.set_attribute("ahead", I64::to_attribute(&ahead, p.context()));
                if p.optional_keyword("threads") {
                    let threads = parenthesised(p)?;
                    p.set_attribute("threads", I64::to_attribute(&threads, p.context()));
                }
                let arguments: Vec<_> = arguments.into_iter().map(|a| a.with_type(Type::index(p.context()))).collect();
                let region = p.region(&arguments)?;
                p.ensure_terminator(region, EndProduce::NAME);
                p.attr_dict_with_keyword()
            }
            fn print(self, p: &Printer) {
                use girih_ir::ext::BlockExt;
                p.text("(");
                for (i, argument) in self.copies().entry().map(|b| b.argument_values()).unwrap_or_default().iter().enumerate() {
                    if i > 0 {
                        p.text(", ");
                    }
                    p.argument(*argument, false);
                }
                p.text(format!(") ahead({}) ", self.ahead()));
                if let Some(threads) = self.threads() {
                    p.text(format!("threads({threads}) "));
                }
                p.region(self.copies(), false, !ends_plainly(self.copies(), EndProduce::NAME));
                p.attr_dict_with_keyword(&self.op(), &["ahead", "threads"]);
            }
        }
    }
}

op! {
    /// Ends the region of `tile.produce`; it may be left out, and is not printed.
    ///
    /// ```mlir
    /// %c0 = arith.constant 0 : index
    /// %c1 = arith.constant 1 : index
    /// scf.for %i = %c0 to %c1 step %c1 {
    ///   tile.produce(%j) ahead(2) {
    ///     tile.end_produce
    ///   }
    /// }
    /// ```
    pub struct EndProduce = "tile.end_produce" {
        traits [Terminator]
        effects pure
        format "attr-dict"
        hooks {
            fn verify(self) -> Res {
                if self.op().parent().is_none_or(|p| p.is::<Produce>()) {
                    return Ok(());
                }
                Diag::op(&self.op(), "ends the region of tile.produce, and stands nowhere else").report()
            }
        }
    }
}
