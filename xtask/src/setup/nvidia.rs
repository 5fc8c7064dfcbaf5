//! ptxas and nvdisasm, unpacked from NVIDIA's Python wheels into target/tools. No Python environment is touched.
use super::debian;
use crate::{command, workspace};
use anyhow::{Context, Result, bail};
use std::{fs, path::PathBuf, process::Command};

/// A program that a wheel holds.
pub struct Tool {
    pub name: &'static str,
    /// What `--version` prints for the version that `nvidia-tools.txt` asks for.
    version: &'static str,
}

/// The programs that set-up unpacks.
pub const TOOLS: [&Tool; 2] = [
    &Tool {
        name: "ptxas",
        version: "V13.0.88",
    },
    &Tool {
        name: "nvdisasm",
        version: "V13.2.51",
    },
];

/// pip's requirements: versions and hashes of the wheels.
const REQUIREMENTS: &str = include_str!("../../nvidia-tools.txt");

/// Unpacks every program of the wheels in `argv[1]` that `argv[3:]` names into the folder `argv[2]`.
const UNPACK: &str = "
import glob, os, sys, zipfile
wheels, out, names = sys.argv[1], sys.argv[2], sys.argv[3:]
for wheel in glob.glob(os.path.join(wheels, '*.whl')):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            folder, name = os.path.split(member)
            if name in names and folder.endswith('/bin'):
                partial = os.path.join(out, name + '.partial')
                with open(partial, 'wb') as file:
                    file.write(archive.read(member))
                os.chmod(partial, 0o755)
                os.replace(partial, os.path.join(out, name))
";

/// Where a tool lies once it is there.
pub fn path(tool: &Tool) -> Result<PathBuf> {
    Ok(workspace::tools_dir()?.join(tool.name))
}

/// Fetches the tools unless they are there in the right version.
pub fn ensure() -> Result<()> {
    if TOOLS.iter().all(|tool| is_current(tool)) {
        return Ok(());
    }
    if !cfg!(target_os = "linux") {
        bail!("NVIDIA ships ptxas for Linux and Windows only, and girih fetches the one for Linux");
    }
    println!(
        "Fetching ptxas {} and nvdisasm {} (42 MB)",
        TOOLS[0].version, TOOLS[1].version
    );
    if command::capture(Command::new("python3").args(["-m", "pip", "--version"])).is_err() {
        debian::ensure(debian::PIP)?;
    }
    let tools = workspace::tools_dir()?;
    let wheels = tools.join("wheels");
    fs::create_dir_all(&wheels).with_context(|| format!("cannot make {}", wheels.display()))?;
    let requirements = wheels.join("requirements.txt");
    fs::write(&requirements, REQUIREMENTS).with_context(|| format!("cannot write {}", requirements.display()))?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--disable-pip-version-check", "--quiet", "download"]);
    pip.args(["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement"]);
    pip.arg(&requirements).arg("--dest").arg(&wheels);
    command::run(&mut pip).context("pip could not fetch NVIDIA's assembler")?;
    let mut unpack = Command::new("python3");
    unpack.args(["-c", UNPACK]).arg(&wheels).arg(&tools);
    command::capture(unpack.args(TOOLS.iter().map(|tool| tool.name)))?;
    fs::remove_dir_all(&wheels).with_context(|| format!("cannot remove {}", wheels.display()))?;
    match TOOLS.iter().find(|tool| !is_current(tool)) {
        None => Ok(()),
        Some(tool) => bail!(
            "{} does not run as {} {}",
            path(tool)?.display(),
            tool.name,
            tool.version
        ),
    }
}

/// Whether the tool is there and says that it is the wanted version.
fn is_current(tool: &Tool) -> bool {
    path(tool)
        .and_then(|path| command::capture(Command::new(path).arg("--version")))
        .is_ok_and(|said| said.contains(tool.version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_requirements() {
        for tool in TOOLS {
            let version = format!("=={}", tool.version.trim_start_matches('V'));
            assert!(REQUIREMENTS.contains(&version), "{} {version}", tool.name);
        }
    }
}
