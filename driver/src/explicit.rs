//! PTX from anywhere, with its launch given on the command line.
use crate::failure::{Failure, Result};
use girih_core::manifest::Manifest;
use girih_runtime::{explicit::Explicit, run::Named, spec::Spec};

/// The manifest of a file that is to be run, if `explicit` says how it is launched; `None` where it says nothing.
///
/// Errors: a launch for what is not PTX, which says its own; those of [`Explicit::manifest_for`].
pub fn manifest(
    content: &[u8],
    is_ptx: bool,
    explicit: &Explicit,
    kernel: Option<&str>,
    args: &[Named<Spec>],
) -> Result<Option<Manifest>> {
    if !explicit.is_given() {
        return Ok(None);
    }
    if !is_ptx {
        return Err(Failure::usage(
            "--block, --grid, --cluster and --shared are for PTX; the program says them in tile.kernel and tile.grid",
        ));
    }
    let text = String::from_utf8_lossy(content);
    let kernel = kernel.map(|name| name.trim_start_matches('@'));
    Ok(Some(explicit.manifest_for(&text, kernel, args)?))
}
