//! Groups of targets.
use super::{Suffix, Target};

/// A group of targets that share an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Set {
    /// All that girih knows: sm_80 and later.
    All,
    /// sm_89 and later.
    From89,
    /// sm_90 and later.
    From90,
    /// sm_100 and later.
    From100,
    /// `sm_90a` alone.
    Only90a,
    /// The data-centre and automotive Blackwells, specific or by family: sm_100, sm_103, sm_107, sm_110 with `a` or `f`.
    Blackwell,
    /// The same with `a` only.
    BlackwellSpecific,
    /// sm_100, sm_103 and sm_107 with `a` or `f`.
    Datacentre,
    /// sm_103 and sm_107 with `a` only.
    Only103a107a,
    /// `sm_100a`, `sm_103a` and `sm_107a`.
    Only100a103a107a,
    /// `sm_100a` and `sm_110a`.
    Only100a110a,
    /// sm_107 with `a` or `f`.
    Family107,
    /// sm_120 and sm_121, specific or by family.
    Family120,
    /// sm_120 and sm_121 with `a` only.
    Family120Specific,
}

impl Set {
    /// Whether `target` is in the group.
    pub const fn contains(self, target: Target) -> bool {
        let arch = target.arch;
        let specific = matches!(target.suffix, Suffix::Specific);
        let suffixed = !matches!(target.suffix, Suffix::None);
        let blackwell = matches!(arch, 100 | 103 | 107 | 110);
        match self {
            Set::All => true,
            Set::From89 => arch >= 89,
            Set::From90 => arch >= 90,
            Set::From100 => arch >= 100,
            Set::Only90a => arch == 90 && specific,
            Set::Blackwell => blackwell && suffixed,
            Set::BlackwellSpecific => blackwell && specific,
            Set::Datacentre => matches!(arch, 100 | 103 | 107) && suffixed,
            Set::Only103a107a => matches!(arch, 103 | 107) && specific,
            Set::Only100a103a107a => matches!(arch, 100 | 103 | 107) && specific,
            Set::Only100a110a => matches!(arch, 100 | 110) && specific,
            Set::Family107 => arch == 107 && suffixed,
            Set::Family120 => matches!(arch, 120 | 121) && suffixed,
            Set::Family120Specific => matches!(arch, 120 | 121) && specific,
        }
    }

    /// The group in words, for messages.
    pub const fn label(self) -> &'static str {
        match self {
            Set::All => "any target",
            Set::From89 => "sm_89 or later",
            Set::From90 => "sm_90 or later",
            Set::From100 => "sm_100 or later",
            Set::Only90a => "sm_90a",
            Set::Blackwell => "sm_100a, sm_103a, sm_107a or sm_110a (or `f`)",
            Set::BlackwellSpecific => "sm_100a, sm_103a, sm_107a or sm_110a",
            Set::Datacentre => "sm_100a, sm_103a or sm_107a (or `f`)",
            Set::Only103a107a => "sm_103a or sm_107a",
            Set::Only100a103a107a => "sm_100a, sm_103a or sm_107a",
            Set::Only100a110a => "sm_100a or sm_110a",
            Set::Family107 => "sm_107a or sm_107f",
            Set::Family120 => "sm_120a or sm_121a (or `f`)",
            Set::Family120Specific => "sm_120a or sm_121a",
        }
    }
}
