//! Targets, and which instruction exists on which of them.
//!
//! | part | what it says |
//! |---|---|
//! | this file | architectures, their resources, PTX versions |
//! | `set` | groups of architectures, as NVIDIA's manuals name them |
//! | `ops` | the table: one row for each instruction family |
//! | `tma` | tensor copies, whose rows follow from mode, space and modifiers |
//! | `table` | all of it for readers: rows in sections |
//! | `legal` | the question: may this be used there, with which PTX version, and what else |
//! | `opcode` | opcodes of tensor copies, taken apart |
//!
//! `core/tests/legality_ptxas.rs` holds every cell of the table against a ptxas; 13.0 and 13.5 agree with all of them.
mod legal;
mod opcode;
mod ops;
mod set;
mod table;
mod tma;

pub use legal::{Feature, Illegal};
pub use opcode::{CopyKind, CopyOpcode, NotAnOpcode};
pub use ops::Op;
pub use set::Set;
pub use table::{MapField, Row, Section, map_fields};
pub use tma::{LoadMode, MaskWidth, ReduceOp, Report, SharedSpace, StoreMode};

use crate::tensor_map::Caps;
use std::{fmt, str::FromStr};
use thiserror::Error;

/// A version of the PTX language, as in `.version 8.6`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PtxVersion(pub u32, pub u32);

impl PtxVersion {
    /// The newest that LLVM 22 writes. Instructions that need more go through inline PTX and a rewritten header.
    pub const LLVM: PtxVersion = PtxVersion(9, 0);
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// What follows the number in a target's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Suffix {
    /// Runs on this and all later architectures.
    None,
    /// `f`: runs on this architecture's family, and may use what the family shares.
    Family,
    /// `a`: runs on this architecture alone, and may use all that it has.
    Specific,
}

/// A target as ptxas spells it, such as `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    arch: u32,
    suffix: Suffix,
}

/// A name that is no target of girih.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown target `{found}`; {hint}")]
pub struct UnknownTarget {
    /// What was given.
    pub found: String,
    /// What is close to it, or the list of targets.
    pub hint: String,
}

/// What one architecture has. Bytes of shared memory are those that a kernel can use.
struct Arch {
    number: u32,
    /// First PTX version that knows it: without suffix, `f`, `a`. `None` where the suffix does not exist.
    plain: PtxVersion,
    family: Option<PtxVersion>,
    specific: Option<PtxVersion>,
    dynamic_shared_kib: u32,
    warps: u32,
    blocks: u32,
}

const fn v(major: u32, minor: u32) -> PtxVersion {
    PtxVersion(major, minor)
}

const fn arch(
    number: u32,
    plain: PtxVersion,
    family: Option<PtxVersion>,
    specific: Option<PtxVersion>,
    dynamic_shared_kib: u32,
    warps: u32,
    blocks: u32,
) -> Arch {
    Arch {
        number,
        plain,
        family,
        specific,
        dynamic_shared_kib,
        warps,
        blocks,
    }
}

const ARCHS: [Arch; 12] = [
    arch(80, v(7, 0), None, None, 163, 64, 32),
    arch(86, v(7, 1), None, None, 99, 48, 16),
    arch(87, v(7, 4), None, None, 163, 48, 16),
    arch(88, v(9, 0), None, None, 99, 48, 16),
    arch(89, v(7, 8), None, None, 99, 48, 24),
    arch(90, v(7, 8), None, Some(v(8, 0)), 227, 64, 32),
    arch(100, v(8, 6), Some(v(8, 8)), Some(v(8, 6)), 227, 64, 32),
    arch(103, v(8, 8), Some(v(8, 8)), Some(v(8, 8)), 227, 64, 32),
    arch(107, v(9, 4), Some(v(9, 4)), Some(v(9, 4)), 227, 64, 32),
    arch(110, v(9, 0), Some(v(9, 0)), Some(v(9, 0)), 227, 48, 24),
    arch(120, v(8, 7), Some(v(8, 8)), Some(v(8, 7)), 99, 48, 24),
    arch(121, v(8, 8), Some(v(8, 8)), Some(v(8, 8)), 99, 48, 24),
];

impl Target {
    /// Hopper with all that it has; the default of girih.
    pub const SM_90A: Target = Target {
        arch: 90,
        suffix: Suffix::Specific,
    };

    /// Every target, ascending.
    pub fn all() -> impl Iterator<Item = Target> {
        ARCHS.iter().flat_map(|arch| {
            [
                (Suffix::None, Some(arch.plain)),
                (Suffix::Family, arch.family),
                (Suffix::Specific, arch.specific),
            ]
            .into_iter()
            .filter(|(_, version)| version.is_some())
            .map(|(suffix, _)| Target {
                arch: arch.number,
                suffix,
            })
        })
    }

    /// The target that `name` spells; `name.parse()` does the same.
    pub fn parse(name: &str) -> Result<Target, UnknownTarget> {
        if let Some(target) = Target::all().find(|target| target.to_string() == name) {
            return Ok(target);
        }
        // `sm90a`, `SM_90A`, `compute_90a` and `90a` are what people type.
        let digits = name
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .to_ascii_lowercase();
        let close = Target::all().find(|target| target.to_string()["sm_".len()..] == digits);
        let plain = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let same_arch = Target::all().find(|target| target.arch.to_string() == plain);
        let hint = match (close, same_arch) {
            (Some(target), _) => format!("did you mean `{target}`?"),
            (None, Some(target)) => format!("did you mean `{target}`? It has no such suffix"),
            _ => format!("expected one of {}", join(Target::all())),
        };
        Err(UnknownTarget {
            found: name.into(),
            hint,
        })
    }

    /// Number of the architecture: 90 for `sm_90a`.
    pub const fn arch(self) -> u32 {
        self.arch
    }

    /// What follows the number.
    pub const fn suffix(self) -> Suffix {
        self.suffix
    }

    fn row(self) -> &'static Arch {
        ARCHS
            .iter()
            .find(|arch| arch.number == self.arch)
            .expect("targets are made from the table")
    }

    /// First PTX version that knows the target.
    pub fn first_ptx(self) -> PtxVersion {
        let row = self.row();
        match self.suffix {
            Suffix::None => row.plain,
            Suffix::Family => row.family.unwrap_or(row.plain),
            Suffix::Specific => row.specific.unwrap_or(row.plain),
        }
    }

    /// Whether LLVM 22 generates code for it.
    pub fn in_llvm(self) -> bool {
        self.first_ptx() <= PtxVersion::LLVM
    }

    /// Whether code for this target runs on a device whose architecture is `device`, such as 90, through PTX.
    pub const fn runs_on(self, device: u32) -> bool {
        match self.suffix {
            Suffix::None => device >= self.arch,
            Suffix::Family => device >= self.arch && device / 10 == self.arch / 10,
            Suffix::Specific => device == self.arch,
        }
    }

    /// Bytes of shared memory that one block can have when it asks for dynamic shared memory.
    pub fn dynamic_shared_bytes(self) -> u32 {
        self.row().dynamic_shared_kib * 1024
    }

    /// Bytes of static `.shared` variables that ptxas takes: 48 KiB, and all of it for the `a` targets of sm_90 and later.
    pub fn static_shared_bytes(self) -> u32 {
        match self.suffix {
            Suffix::Specific => self.dynamic_shared_bytes(),
            _ => 48 * 1024,
        }
    }

    /// 32-bit registers of one thread.
    pub const fn registers_per_thread(self) -> u32 {
        255
    }

    /// 32-bit registers of one SM, a quarter for each of its four parts.
    pub const fn registers_per_sm(self) -> u32 {
        65_536
    }

    /// Threads of one block.
    pub const fn threads_per_block(self) -> u32 {
        1024
    }

    /// Warps that one SM keeps.
    pub fn warps_per_sm(self) -> u32 {
        self.row().warps
    }

    /// Blocks of so many threads that one SM keeps at once, as far as threads and blocks go: at least 1.
    pub fn blocks_per_sm(self, threads: u32) -> u32 {
        let row = self.row();
        (32 * row.warps / threads.max(1)).clamp(1, row.blocks)
    }

    /// Blocks of a cluster that every launch may have; 1 where there are no clusters. A kernel that opts in may have 16 on
    /// sm_90 and sm_100.
    pub const fn portable_cluster_blocks(self) -> u32 {
        if self.arch >= 90 { 8 } else { 1 }
    }

    /// What its tensor maps can do; `None` where there are none.
    pub const fn tensor_map_caps(self) -> Option<Caps> {
        match self.arch {
            0..90 => None,
            90 => Some(Caps::SM_90),
            103 | 107 => Some(Caps::SM_103),
            _ => Some(Caps::SM_100),
        }
    }
}

fn join<T: fmt::Display>(items: impl Iterator<Item = T>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.suffix {
            Suffix::None => "",
            Suffix::Family => "f",
            Suffix::Specific => "a",
        };
        write!(f, "sm_{}{suffix}", self.arch)
    }
}

impl FromStr for Target {
    type Err = UnknownTarget;
    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        Target::parse(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> Target {
        Target::parse(name).expect("a target")
    }

    #[test]
    fn names_round_trip() {
        let names = join(Target::all());
        assert!(names.starts_with("sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_90a, sm_100, sm_100f, sm_100a"));
        for target in Target::all() {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
    }

    #[test]
    fn near_misses_are_helped() {
        let message = |name: &str| Target::parse(name).unwrap_err().to_string();
        assert_eq!(message("sm90a"), "unknown target `sm90a`; did you mean `sm_90a`?");
        assert_eq!(message("SM_90A"), "unknown target `SM_90A`; did you mean `sm_90a`?");
        assert_eq!(
            message("sm_90f"),
            "unknown target `sm_90f`; did you mean `sm_90`? It has no such suffix"
        );
        assert!(message("hopper").starts_with("unknown target `hopper`; expected one of sm_80, sm_86"));
        assert!(message("").contains("expected one of"));
    }

    #[test]
    fn shared_memory_is_what_ptxas_takes() {
        for (name, static_bytes, dynamic_bytes) in [
            ("sm_80", 49_152, 166_912),
            ("sm_90", 49_152, 232_448),
            ("sm_90a", 232_448, 232_448),
            ("sm_100f", 49_152, 232_448),
            ("sm_120a", 101_376, 101_376),
        ] {
            let target = target(name);
            assert_eq!(
                (target.static_shared_bytes(), target.dynamic_shared_bytes()),
                (static_bytes, dynamic_bytes)
            );
        }
    }

    #[test]
    fn suffixes_decide_where_code_runs() {
        assert!(target("sm_90").runs_on(100) && !target("sm_90a").runs_on(100) && target("sm_90a").runs_on(90));
        assert!(target("sm_100f").runs_on(103) && !target("sm_100f").runs_on(120));
    }
}
