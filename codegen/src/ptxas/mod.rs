//! PTX -> cubin, by NVIDIA's `ptxas` where one is found.
mod report;

pub use report::{KernelReport, Report};

use crate::error::{Error, PtxasCrash, Result};
use std::{
    env,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::Command,
};

/// A `ptxas` on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptxas {
    path: PathBuf,
}

/// Machine code and what ptxas said about it.
#[derive(Clone, Debug)]
pub struct Cubin {
    /// The ELF file.
    pub bytes: Vec<u8>,
    /// Registers, spills, warnings.
    pub report: Report,
}

impl Ptxas {
    /// The ptxas at `path`.
    pub fn at(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if path.is_file() {
            Ok(Ptxas { path })
        } else {
            Err(Error::NoPtxas { looked_at: vec![path] })
        }
    }

    /// Looks in this order: `explicit` (and nowhere else if it is given), beside this program (`tools/ptxas` in its
    /// folder or one above, as `cargo xtask` lays it out), `target/tools/ptxas` below the working directory or one above
    /// it, PATH, `CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`.
    pub fn find(explicit: Option<&Path>) -> Result<Self> {
        if let Some(path) = explicit {
            return Ptxas::at(path);
        }
        let candidates = candidates();
        match candidates.iter().find(|path| path.is_file()) {
            Some(path) => Ok(Ptxas { path: path.clone() }),
            None => Err(Error::NoPtxas { looked_at: candidates }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The release that it says it is, such as `13.0, V13.0.88`.
    pub fn version(&self) -> Result<String> {
        let run = Command::new(&self.path).arg("--version").output();
        let run = run.map_err(|error| Error::Io {
            what: format!("running {}", self.path.display()),
            error,
        })?;
        let said = String::from_utf8_lossy(&run.stdout);
        let release = said
            .lines()
            .find_map(|line| line.split_once("release "))
            .map(|(_, release)| release.trim());
        Ok(release.unwrap_or("of unknown release").to_owned())
    }

    /// Assembles `ptx` for `arch`, such as `sm_90a`. Line information is kept where the PTX has some, and errors then
    /// name the line of the source.
    pub fn assemble(&self, ptx: &str, arch: &str) -> Result<Cubin> {
        let io = |what: String| move |error| Error::Io { what, error };
        let folder = tempfile::Builder::new()
            .prefix("girih-ptxas-")
            .tempdir()
            .map_err(io("temporary folder".into()))?;
        let input = folder.path().join("kernel.ptx");
        let output = folder.path().join("kernel.cubin");
        std::fs::write(&input, ptx).map_err(io(format!("writing {}", input.display())))?;
        let mut command = Command::new(&self.path);
        command.args(["-v", "-arch", arch, "-o"]).arg(&output).arg(&input);
        if ptx.lines().any(|line| line.trim_start().starts_with(".loc")) {
            command.arg("-lineinfo");
        }
        let run = tracing::info_span!("ptxas").in_scope(|| command.output());
        let run = run.map_err(io(format!("running {}", self.path.display())))?;
        let said = [
            String::from_utf8_lossy(&run.stdout),
            String::from_utf8_lossy(&run.stderr),
        ]
        .concat();
        if let Some(signal) = run.status.signal() {
            return Err(Error::PtxasSignal(Box::new(PtxasCrash {
                signal,
                path: self.path.clone(),
                release: self.version().unwrap_or_else(|_| "that it does not say".to_owned()),
                arch: arch.to_owned(),
                kernels: report::in_progress(&said, ptx),
                messages: report::until_signal(&said, ptx),
            })));
        }
        if !run.status.success() {
            return Err(Error::Ptxas {
                arch: arch.to_owned(),
                messages: report::errors(&said, ptx),
            });
        }
        let bytes = std::fs::read(&output).map_err(io(format!("reading {}", output.display())))?;
        Ok(Cubin {
            bytes,
            report: report::read(&said, ptx),
        })
    }
}

fn candidates() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    if let Ok(program) = env::current_exe() {
        paths.extend(
            program
                .ancestors()
                .skip(1)
                .take(3)
                .map(|folder| folder.join("tools/ptxas")),
        );
    }
    if let Ok(folder) = env::current_dir() {
        paths.extend(
            folder
                .ancestors()
                .take(4)
                .map(|folder| folder.join("target/tools/ptxas")),
        );
    }
    if let Some(path) = env::var_os("PATH") {
        paths.extend(env::split_paths(&path).map(|folder| folder.join("ptxas")));
    }
    paths.extend(
        ["CUDA_HOME", "CUDA_PATH"]
            .iter()
            .filter_map(env::var_os)
            .map(|cuda| Path::new(&cuda).join("bin/ptxas")),
    );
    paths.push("/usr/local/cuda/bin/ptxas".into());
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}
