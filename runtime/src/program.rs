//! PTX with its launch manifest, before any device is asked.
use crate::{
    error::{Error, Result},
    file::read_program,
};
use girih_core::{
    device::{Device, ModuleId},
    manifest::{Kernel, Manifest},
};
use std::path::Path;

/// A compiled file.
#[derive(Clone, Debug)]
pub struct Program {
    ptx: String,
    manifest: Manifest,
}

impl Program {
    /// A program from PTX text that carries its manifest.
    pub fn from_text(ptx: impl Into<String>) -> Result<Self> {
        let ptx = ptx.into();
        let manifest = Manifest::from_ptx(&ptx).map_err(|error| Error::Manifest(error.to_string()))?;
        let manifest = manifest.ok_or_else(|| {
            Error::Manifest(
                "the PTX has no launch manifest in its leading comments; compile it with `girih compile`".to_owned(),
            )
        })?;
        Program::new(ptx, manifest)
    }

    /// A program from its parts.
    pub fn new(ptx: String, manifest: Manifest) -> Result<Self> {
        manifest.check().map_err(|error| Error::Manifest(error.to_string()))?;
        for kernel in &manifest.kernels {
            let is_entry = |line: &str| {
                let name = line.split_once(".entry").map(|(_, rest)| rest.trim_start());
                name.and_then(|name| name.strip_prefix(kernel.name.as_str()))
                    .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "_$".contains(c)))
            };
            if !ptx.lines().filter(|line| !line.starts_with("//")).any(is_entry) {
                return Err(Error::Manifest(format!(
                    "the launch manifest lists the kernel `{}`, but the PTX has no such .entry; the file is truncated or \
                     was edited, compile it again",
                    kernel.name
                )));
            }
        }
        Ok(Program { ptx, manifest })
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = read_program(path).map_err(|e| Error::file(path, format_args!("cannot be read: {e}")))?;
        let text = String::from_utf8(bytes).map_err(|_| Error::file(path, "is not PTX text: it is not UTF-8"))?;
        Program::from_text(text).map_err(|error| match error {
            Error::Manifest(message) => Error::file(path, message),
            other => other,
        })
    }

    /// The PTX text.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The kernel of that name, or the only one.
    pub fn kernel(&self, name: Option<&str>) -> Result<&Kernel> {
        let names = || {
            self.manifest
                .kernels
                .iter()
                .map(|k| k.name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        };
        match (name, &self.manifest.kernels[..]) {
            (_, []) => Err(Error::Usage("the file has no kernels".to_owned())),
            (None, [only]) => Ok(only),
            (None, _) => Err(Error::Usage(format!(
                "the file has several kernels; choose one of {}",
                names()
            ))),
            (Some(name), kernels) => kernels
                .iter()
                .find(|kernel| kernel.name == name)
                .ok_or_else(|| Error::Usage(format!("the file has no kernel `{name}`; it has {}", names()))),
        }
    }

    /// Whether a device of target `device` runs this PTX.
    pub fn check_target(&self, device: &str) -> Result<()> {
        if target_runs_on(&self.manifest.target, device) {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "the PTX is for {}, but the device is {device}; compile with --target {device}",
            self.manifest.target
        )))
    }

    /// Loads the PTX, after [`Program::check_target`].
    pub fn load_on(&self, device: &mut dyn Device) -> Result<ModuleId> {
        self.check_target(&device.target())?;
        Ok(device.load(&self.ptx)?)
    }
}

/// The number and the suffix of `sm_90a`.
fn parse_target(target: &str) -> Option<(u32, &str)> {
    let rest = target.strip_prefix("sm_")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    Some((rest[..digits].parse().ok()?, &rest[digits..]))
}

/// PTX ISA, `.target`: plain targets run on newer devices, `f` on the same family, `a` on the same device only.
fn target_runs_on(target: &str, device: &str) -> bool {
    let (Some((wanted, suffix)), Some((found, _))) = (parse_target(target), parse_target(device)) else {
        return target == device;
    };
    match suffix {
        "" => found >= wanted,
        "f" => found >= wanted && found / 10 == wanted / 10,
        _ => found == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_run_where_the_ptx_manual_says() {
        for (target, device, runs) in [
            ("sm_80", "sm_90a", true),
            ("sm_90", "sm_80", false),
            ("sm_90a", "sm_90a", true),
            ("sm_90a", "sm_100a", false),
            ("sm_100f", "sm_103a", true),
            ("sm_100f", "sm_120a", false),
            ("sm_100f", "sm_90a", false),
        ] {
            assert_eq!(target_runs_on(target, device), runs, "{target} on {device}");
        }
    }
}
