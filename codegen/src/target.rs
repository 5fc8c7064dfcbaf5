//! Which GPU architectures and PTX versions the LLVM in this process can emit, and since which PTX version.
//!
//! LLVM answers an unknown architecture with a warning and older code, and a PTX version that is too low with a fatal
//! error; both are refused here first.
use crate::error::{Error, Result};
use std::fmt;

/// A PTX ISA version, such as 8.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
}

impl PtxVersion {
    /// The version `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        PtxVersion { major, minor }
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What PTX is emitted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    arch: &'static str,
    ptx: PtxVersion,
}

/// PTX versions that LLVM 22 emits and girih takes.
const PTX_VERSIONS: [(u32, u32); 19] = [
    (7, 0),
    (7, 1),
    (7, 2),
    (7, 3),
    (7, 4),
    (7, 5),
    (7, 6),
    (7, 7),
    (7, 8),
    (8, 0),
    (8, 1),
    (8, 2),
    (8, 3),
    (8, 4),
    (8, 5),
    (8, 6),
    (8, 7),
    (8, 8),
    (9, 0),
];

/// Architectures with the first PTX version that LLVM emits for each.
const ARCHS: [(&str, PtxVersion); 26] = [
    ("sm_75", PtxVersion::new(6, 3)),
    ("sm_80", PtxVersion::new(7, 0)),
    ("sm_86", PtxVersion::new(7, 1)),
    ("sm_87", PtxVersion::new(7, 4)),
    ("sm_88", PtxVersion::new(9, 0)),
    ("sm_89", PtxVersion::new(7, 8)),
    ("sm_90", PtxVersion::new(7, 8)),
    ("sm_90a", PtxVersion::new(8, 0)),
    ("sm_100", PtxVersion::new(8, 6)),
    ("sm_100a", PtxVersion::new(8, 6)),
    ("sm_100f", PtxVersion::new(8, 8)),
    ("sm_101", PtxVersion::new(8, 6)),
    ("sm_101a", PtxVersion::new(8, 6)),
    ("sm_101f", PtxVersion::new(8, 8)),
    ("sm_103", PtxVersion::new(8, 8)),
    ("sm_103a", PtxVersion::new(8, 8)),
    ("sm_103f", PtxVersion::new(8, 8)),
    ("sm_110", PtxVersion::new(9, 0)),
    ("sm_110a", PtxVersion::new(9, 0)),
    ("sm_110f", PtxVersion::new(9, 0)),
    ("sm_120", PtxVersion::new(8, 7)),
    ("sm_120a", PtxVersion::new(8, 7)),
    ("sm_120f", PtxVersion::new(8, 8)),
    ("sm_121", PtxVersion::new(8, 8)),
    ("sm_121a", PtxVersion::new(8, 8)),
    ("sm_121f", PtxVersion::new(8, 8)),
];

/// The version emitted where none is asked for and the architecture takes it: the first with every TMA form of Hopper.
const DEFAULT_PTX: PtxVersion = PtxVersion::new(8, 6);

impl Target {
    /// The architecture `arch` (as ptxas spells it) at a PTX version, or at the default one: 8.6, or the first that the
    /// architecture takes. Errors name what this LLVM knows.
    pub fn new(arch: &str, ptx: Option<PtxVersion>) -> Result<Self> {
        let Some(&(arch, least)) = ARCHS.iter().find(|(name, _)| *name == arch) else {
            let known: Vec<_> = ARCHS.iter().map(|(name, _)| *name).collect();
            return Err(Error::Target(format!(
                "target `{arch}`: LLVM 22 emits no code for it; expected one of {}",
                known.join(", ")
            )));
        };
        let ptx = ptx.unwrap_or(DEFAULT_PTX.max(least));
        if !PTX_VERSIONS.contains(&(ptx.major, ptx.minor)) {
            return Err(Error::Target(format!(
                "PTX version {ptx}: LLVM 22 emits 7.0 to 7.8, 8.0 to 8.8 and 9.0"
            )));
        }
        if ptx < least {
            return Err(Error::Target(format!(
                "target `{arch}` needs PTX {least} or later, found {ptx}"
            )));
        }
        Ok(Target { arch, ptx })
    }

    /// The architecture as ptxas spells it.
    pub fn arch(&self) -> &str {
        self.arch
    }

    /// The PTX version.
    pub fn ptx(&self) -> PtxVersion {
        self.ptx
    }

    /// LLVM's feature string.
    pub(crate) fn features(&self) -> String {
        format!("+ptx{}{}", self.ptx.major, self.ptx.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_to_the_first_version_that_the_architecture_takes() {
        let version = |arch| Target::new(arch, None).unwrap().ptx();
        assert_eq!(version("sm_90a"), PtxVersion::new(8, 6));
        assert_eq!(version("sm_103a"), PtxVersion::new(8, 8));
    }

    #[test]
    fn refuses_what_llvm_would_abort_on() {
        let words = |arch, version| Target::new(arch, version).unwrap_err().to_string();
        assert!(words("sm_107", None).starts_with("target `sm_107`: LLVM 22 emits no code for it; expected one of"));
        assert_eq!(
            words("sm_90a", Some(PtxVersion::new(7, 8))),
            "target `sm_90a` needs PTX 8.0 or later, found 7.8"
        );
        assert!(words("sm_90a", Some(PtxVersion::new(8, 9))).starts_with("PTX version 8.9: LLVM 22 emits"));
    }
}
