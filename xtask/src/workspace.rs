//! Where things lie: the repository, the build's output, the tools that set-up fetched.
use anyhow::{Context, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Prefix of Debian's LLVM 22.
pub const LLVM: &str = "/usr/lib/llvm-22";

/// The repository's root: the nearest folder upwards with an `xtask` in it.
///
/// Found when it runs, never baked in when it is built, so that a copy works from anywhere.
pub fn root() -> Result<PathBuf> {
    let start = match env::var_os("CARGO_MANIFEST_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => env::current_dir().context("the current folder is gone")?,
    };
    let found = start.ancestors().find(|dir| dir.join("xtask/Cargo.toml").is_file());
    Ok(found
        .with_context(|| format!("{} is not inside girih's repository", start.display()))?
        .to_path_buf())
}

/// Cargo's target folder.
pub fn target_dir() -> Result<PathBuf> {
    let root = root()?;
    Ok(env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir)))
}

/// Where set-up puts `ptxas` and `nvdisasm`.
pub fn tools_dir() -> Result<PathBuf> {
    Ok(target_dir()?.join("tools"))
}

/// A program of the development build, such as `girih`.
pub fn binary(name: &str) -> Result<PathBuf> {
    Ok(target_dir()?.join("debug").join(name))
}

/// `PATH` with the fetched tools and LLVM's programs in front; outside the repository, as in a `dist/`, with what lies beside
/// this program.
pub fn path_with_tools() -> Result<std::ffi::OsString> {
    let mut dirs = match tools_dir() {
        Ok(tools) => vec![tools, Path::new(LLVM).join("bin")],
        Err(_) => Vec::from_iter(env::current_exe()?.parent().map(Path::to_owned)),
    };
    dirs.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    Ok(env::join_paths(dirs)?)
}

/// Files of a folder with one extension, sorted by name; none where the folder is missing.
pub fn files_with_extension(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}
