//! `--dump DIR`: what each step left, numbered in order.
use crate::{
    failure::{Failure, Result},
    file,
};
use std::path::{Path, PathBuf};

/// Where dumps go, if anywhere.
pub(super) struct Dump {
    folder: Option<PathBuf>,
    source: PathBuf,
    count: usize,
}

impl Dump {
    /// Makes the folder; the program's own file, `source`, may lie in it, and stays.
    pub(super) fn new(folder: Option<&Path>, source: &Path) -> Result<Self> {
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::file(folder, format_args!("the folder cannot be made: {error}")))?;
        }
        Ok(Dump {
            folder: folder.map(Path::to_path_buf),
            source: source.to_path_buf(),
            count: 0,
        })
    }

    /// Whether anything is kept, so that text which nobody reads is not made.
    pub(super) fn is_on(&self) -> bool {
        self.folder.is_some()
    }

    /// Writes `NN-NAME.EXTENSION`.
    pub(super) fn write(&mut self, name: &str, extension: &str, text: impl FnOnce() -> Result<String>) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let path = folder.join(format!("{:02}-{name}.{extension}", self.count));
        self.count += 1;
        file::keep(&self.source, &path)?;
        file::write(&path, text()?.as_bytes())
    }
}
