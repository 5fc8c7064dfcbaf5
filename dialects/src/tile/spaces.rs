//! State spaces of PTX (ISA 9.4 section 5.1) as memory spaces of memrefs.
//!
//! | attribute | PTX | number in LLVM and NVVM | `#gpu.address_space` |
//! |---|---|---|---|
//! | `#tile.generic` | generic addresses | 0 | |
//! | `#tile.global` | `.global` | 1 | `global` |
//! | `#tile.shared<...>` | `.shared::cta` | 3 | `workgroup` |
//! | `#tile.const` | `.const` | 4 | |
//! | `#tile.local` | `.local` | 5 | `private` |
//! | `#tile.shared_cluster` | `.shared::cluster` | 7 | |
//! | `#tile.param` | `.param` | 101 | |
//! | `#tile.reg` `#tile.sreg` `#tile.tex` | `.reg` `.sreg` `.tex` | not addressable | |
//!
//! A shared memref carries its swizzle, since the hardware applies it to absolute addresses: what is written by a tensor
//! copy must be read with the same permutation.
use girih_core::tensor_map::Swizzle as CoreSwizzle;
use girih_ir::{attr_enum, constraint::Constraint, kind::I64, param_attr, prelude::*};

attr_enum! {
    /// Bytes of a row that a swizzle permutes (PTX ISA 9.4 section 5.5.7).
    pub enum Swizzle("a swizzle") {
        /// Rows lie as they are.
        None = "none",
        /// 32-byte rows.
        B32 = "32",
        /// 64-byte rows.
        B64 = "64",
        /// 96-byte rows.
        B96 = "96",
        /// 128-byte rows.
        B128 = "128",
        /// `tile-swizzle-shared` chooses, for all who write and read the buffer; shared memory only.
        Auto = "auto",
    }
}

attr_enum! {
    /// The unit that a 128-byte swizzle moves.
    pub enum Atom("a swizzle atomicity") {
        /// 16 bytes.
        B16 = "16",
        /// 32 bytes.
        B32 = "32",
        /// 32 bytes, with the 8-byte halves of each 16 flipped in odd rows.
        B32Flip8 = "b32_flip_8",
        /// 64 bytes.
        B64 = "64",
    }
}

/// The swizzle and its atom as one mode; `None` where PTX has no such mode.
pub fn swizzle_mode(swizzle: Swizzle, atom: Atom) -> Option<CoreSwizzle> {
    Some(match (swizzle, atom) {
        (Swizzle::None, Atom::B16) => CoreSwizzle::None,
        (Swizzle::B32, Atom::B16) => CoreSwizzle::B32,
        (Swizzle::B64, Atom::B16) => CoreSwizzle::B64,
        (Swizzle::B96, Atom::B16) => CoreSwizzle::B96,
        (Swizzle::B128, Atom::B16) => CoreSwizzle::B128,
        (Swizzle::B128, Atom::B32) => CoreSwizzle::B128Atom32,
        (Swizzle::B128, Atom::B32Flip8) => CoreSwizzle::B128Atom32Flip8,
        (Swizzle::B128, Atom::B64) => CoreSwizzle::B128Atom64,
        _ => return None,
    })
}

/// The swizzle whose rows have so many bytes, with atoms of 16; none where there is no such swizzle.
pub fn swizzle_of_rows(row_bytes: u64) -> CoreSwizzle {
    let all = [CoreSwizzle::B32, CoreSwizzle::B64, CoreSwizzle::B128];
    let fits = all.into_iter().find(|mode| mode.span_bytes() == Some(row_bytes));
    fits.unwrap_or(CoreSwizzle::None)
}

/// What a swizzle with an atom that it does not have is told.
pub fn atom_error(swizzle: Swizzle, atom: Atom) -> String {
    format!("atom = {atom}, but swizzle {swizzle} moves 16 bytes at a time; use swizzle = 128 or atom = 16")
}

macro_rules! plain_spaces {
    ($($doc:literal $example:literal $name:ident $short:literal),+ $(,)?) => {
        $(param_attr! {
            #[doc = $doc]
            #[doc = ""]
            #[doc = " ```mlir"]
            #[doc = $example]
            #[doc = " ```"]
            pub struct $name = "tile".$short {}
        })+
    };
}

plain_spaces! {
    " Global memory: visible to all threads of a context." " memref<4xf32, #tile.global>" Global "global",
    " Shared memory of the blocks of a cluster, addressed across them." " memref<4xf32, #tile.shared_cluster>" SharedCluster "shared_cluster",
    " Constant memory: read-only, initialised by the host." " memref<4xf32, #tile.const>" Const "const",
    " Memory private to one thread." " memref<4xf32, #tile.local>" Local "local",
    " Parameters of a kernel or function." " memref<4xf32, #tile.param>" Param "param",
    " Any addressable space, by generic address." " memref<4xf32, #tile.generic>" Generic "generic",
    " Registers; not addressable." " memref<4xf32, #tile.reg>" Reg "reg",
    " Special registers; read-only and not addressable." " memref<4xf32, #tile.sreg>" Sreg "sreg",
    " Texture memory (deprecated in PTX); only texture instructions read it." " memref<4xf32, #tile.tex>" Tex "tex",
}

param_attr! {
    /// Shared memory of a block, with the permutation that its rows are stored in.
    ///
    /// A row is the innermost dimension; with a swizzle it is exactly as many bytes as the swizzle spans, and wider tiles
    /// are several panels: `memref<2x128x64xbf16, #tile.shared<swizzle = 128>>` is 128 x 128 elements in two panels. The
    /// base address is a multiple of the permutation's period (256, 512 or 1024 bytes).
    ///
    /// `swizzle = auto` leaves the choice to `tile-swizzle-shared`, which looks at all uses: what tensor copies and wgmma
    /// ask for, and where neither does, the fewest bank conflicts. Whole tiles among them are counted when they have layouts.
    ///
    /// ```mlir
    /// memref<64x32xf32, #tile.shared>
    /// memref<2x128x64xbf16, #tile.shared<swizzle = 128>>
    /// memref<128x32xf32, #tile.shared<swizzle = 128, atom = 32, align = 2048>>
    /// memref<64x64xbf16, #tile.shared<swizzle = auto>>
    /// ```
    pub struct Shared = "tile"."shared" {
        params {
            swizzle: default(Swizzle, Swizzle::None),
            atom: default(Atom, Atom::B16),
            /// Bytes that the base address is at least a multiple of; 0: what the swizzle needs.
            align: default(I64, 0),
        }
        hooks {
            fn verify(&self, e: &Emitter) -> Res {
                let mut errors = Errors::default();
                if self.is_open() && self.atom() != Atom::B16 {
                    let m = format!("atom = {}, but swizzle = auto chooses the atom too; leave it out", self.atom());
                    errors.merge(e.error(m).report::<()>());
                } else if !self.is_open() && swizzle_mode(self.swizzle(), self.atom()).is_none() {
                    errors.merge(e.error(atom_error(self.swizzle(), self.atom())).report::<()>());
                }
                let align = self.align();
                if align < 0 || (align != 0 && !(align as u64).is_power_of_two()) {
                    let m = format!("align = {align}, but an alignment is a power of two; use 16, 128 or 1024");
                    errors.merge(e.error(m).report::<()>());
                }
                errors.result()
            }
        }
    }
}

impl Shared<'_> {
    /// Whether the permutation is still to be chosen.
    pub fn is_open(&self) -> bool {
        self.swizzle() == Swizzle::Auto
    }
    /// The swizzle that the type states; none where it is still to be chosen.
    pub fn stated(&self) -> Swizzle {
        if self.is_open() { Swizzle::None } else { self.swizzle() }
    }
    /// The permutation; none where it is still to be chosen.
    pub fn mode(&self) -> CoreSwizzle {
        swizzle_mode(self.swizzle(), self.atom()).unwrap_or(CoreSwizzle::None)
    }
    /// Bytes that the base address must be a multiple of: the swizzle's period, 128 without one (which is what tensor
    /// copies need), and what `align` asks for.
    pub fn alignment(&self) -> u64 {
        self.mode().period_bytes().max(128).max(self.align() as u64)
    }
}

/// The shared space of a memref type, if that is where it lies.
pub fn shared_of<'c>(t: Type<'c>) -> Option<Shared<'c>> {
    t.memory_space().and_then(Shared::of)
}
/// Whether a memref lies in global memory.
pub fn is_global(t: Type<'_>) -> bool {
    t.memory_space().is_some_and(|s| Global::of(s).is_some())
}

/// A memref in global memory.
pub const GLOBAL_MEMREF: Constraint = Constraint::new("a memref in #tile.global", is_global);
/// A memref in shared memory.
pub const SHARED_MEMREF: Constraint = Constraint::new("a memref in #tile.shared", |t| shared_of(t).is_some());

/// A memref in the shared memory of the cluster.
pub const SHARED_CLUSTER_MEMREF: Constraint = Constraint::new("a memref in #tile.shared_cluster", is_shared_cluster);

/// Whether a memref lies in the shared memory of the cluster.
pub fn is_shared_cluster(t: Type<'_>) -> bool {
    t.memory_space().is_some_and(|s| SharedCluster::of(s).is_some())
}

/// LLVM's number of an addressable space; `None` for other attributes, and for spaces that have no addresses.
pub fn address_space(space: Attribute<'_>) -> Option<u32> {
    Some(match () {
        _ if Generic::of(space).is_some() => 0,
        _ if Global::of(space).is_some() => 1,
        _ if Shared::of(space).is_some() => 3,
        _ if Const::of(space).is_some() => 4,
        _ if Local::of(space).is_some() => 5,
        _ if SharedCluster::of(space).is_some() => 7,
        _ if Param::of(space).is_some() => 101,
        _ => return None,
    })
}
/// The space that LLVM numbers so; shared memory comes without a swizzle.
pub fn from_address_space<'c>(context: &'c Context, number: u32) -> Option<Attribute<'c>> {
    Some(match number {
        0 => Generic::get(context).into(),
        1 => Global::get(context).into(),
        3 => Shared::get(context, Swizzle::None, Atom::B16, 0).into(),
        4 => Const::get(context).into(),
        5 => Local::get(context).into(),
        7 => SharedCluster::get(context).into(),
        101 => Param::get(context).into(),
        _ => return None,
    })
}
/// `#gpu.address_space<...>` for a space that has one. A swizzled shared space has none: the permutation would be lost.
pub fn to_gpu<'c>(context: &'c Context, space: Attribute<'c>) -> Option<Attribute<'c>> {
    let name = match address_space(space)? {
        1 => "global",
        3 if Shared::of(space)?.mode() == CoreSwizzle::None => "workgroup",
        5 => "private",
        _ => return None,
    };
    Attribute::parse(context, &format!("#gpu.address_space<{name}>"))
}
/// The space that a `#gpu.address_space<...>` means.
pub fn from_gpu<'c>(context: &'c Context, space: Attribute<'c>) -> Option<Attribute<'c>> {
    let number = match space.to_string().as_str() {
        "#gpu.address_space<global>" => 1,
        "#gpu.address_space<workgroup>" => 3,
        "#gpu.address_space<private>" => 5,
        _ => return None,
    };
    from_address_space(context, number)
}
