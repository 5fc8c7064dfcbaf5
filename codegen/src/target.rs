//! What the LLVM in this process can emit for a [`Target`], and at which PTX versions.
//!
//! LLVM answers an unknown architecture with a warning and older code, and a PTX version that is too low with a fatal
//! error; both are refused here first. Versions past [`PtxVersion::LLVM`] are LLVM's newest with another `.version` line:
//! what is new in them reaches the PTX as inline assembly, which LLVM does not read. In the same way targets that LLVM does
//! not know get the code of their nearest relative under another `.target` line.
use crate::error::{Error, Result};
use girih_core::target::{PtxVersion, Target};

/// A target and the PTX version that it is emitted at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxTarget {
    target: Target,
    ptx: PtxVersion,
}

/// The version emitted where none is asked for and the target takes it: the first with every TMA form of Hopper.
const DEFAULT: PtxVersion = PtxVersion(8, 6);

/// The last minor version of each major one.
const LAST_MINOR: [(u32, u32); 3] = [(7, 8), (8, 8), (9, 4)];

impl PtxTarget {
    /// `target` at a PTX version, or at the default one: 8.6, or the first that the target takes.
    pub fn new(target: Target, ptx: Option<PtxVersion>) -> Result<Self> {
        if !target.in_llvm() && relative(target).is_none() {
            return Err(Error::Target(format!(
                "target `{target}`: LLVM 22 emits no code for it"
            )));
        }
        let least = target.first_ptx();
        let ptx = ptx.unwrap_or(DEFAULT.max(least));
        if !LAST_MINOR
            .iter()
            .any(|(major, minor)| ptx.0 == *major && ptx.1 <= *minor)
        {
            return Err(Error::Target(format!(
                "PTX version {ptx}: expected 7.0 to 7.8, 8.0 to 8.8 or 9.0 to 9.4"
            )));
        }
        if ptx < least {
            return Err(Error::Target(format!(
                "target `{target}` needs PTX {least} or later, found {ptx}"
            )));
        }
        Ok(PtxTarget { target, ptx })
    }

    /// The target.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The PTX version of the emitted text.
    pub fn ptx(&self) -> PtxVersion {
        self.ptx
    }

    /// LLVM's feature string.
    pub(crate) fn features(&self) -> String {
        let PtxVersion(major, minor) = self.ptx.min(PtxVersion::LLVM);
        format!("+ptx{major}{minor}")
    }

    /// The target that LLVM makes code for: this one, or its nearest relative.
    pub(crate) fn llvm_target(&self) -> Target {
        match relative(self.target) {
            Some(relative) if !self.target.in_llvm() => relative,
            _ => self.target,
        }
    }

    /// Puts version and target in the text if LLVM could not.
    pub(crate) fn set_header(&self, mut ptx: String) -> String {
        if self.ptx > PtxVersion::LLVM {
            ptx = ptx.replacen(
                &format!(".version {}\n", PtxVersion::LLVM),
                &format!(".version {}\n", self.ptx),
                1,
            );
        }
        let known = self.llvm_target();
        if known != self.target {
            ptx = ptx.replacen(&format!(".target {known}"), &format!(".target {}", self.target), 1);
        }
        ptx
    }
}

/// The older target whose instructions one that LLVM does not know has too: sm_107 has those of sm_100.
fn relative(target: Target) -> Option<Target> {
    let name = target.to_string();
    let suffix = name.strip_prefix("sm_107")?;
    Target::parse(&format!("sm_100{suffix}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> Target {
        Target::parse(name).unwrap()
    }

    #[test]
    fn defaults_to_the_first_version_that_the_target_takes() {
        let version = |name| PtxTarget::new(target(name), None).unwrap().ptx();
        assert_eq!(version("sm_90a"), PtxVersion(8, 6));
        assert_eq!(version("sm_103a"), PtxVersion(8, 8));
    }

    #[test]
    fn what_llvm_does_not_know_gets_the_header_of_its_own() {
        let made = PtxTarget::new(target("sm_107a"), None).unwrap();
        assert_eq!((made.ptx(), made.llvm_target()), (PtxVersion(9, 4), target("sm_100a")));
        assert_eq!(
            made.set_header("//\n.version 9.0\n.target sm_100a\n.address_size 64\n".into()),
            "//\n.version 9.4\n.target sm_107a\n.address_size 64\n"
        );
        let known = PtxTarget::new(target("sm_90a"), None).unwrap();
        assert_eq!(known.llvm_target(), target("sm_90a"));
    }

    #[test]
    fn refuses_what_llvm_would_abort_on() {
        let words = |name, version| PtxTarget::new(target(name), version).unwrap_err().to_string();
        assert_eq!(
            words("sm_90a", Some(PtxVersion(7, 8))),
            "target `sm_90a` needs PTX 8.0 or later, found 7.8"
        );
        assert_eq!(
            words("sm_90a", Some(PtxVersion(8, 9))),
            "PTX version 8.9: expected 7.0 to 7.8, 8.0 to 8.8 or 9.0 to 9.4"
        );
    }
}
