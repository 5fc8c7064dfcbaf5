//! PTX from anywhere, with its launch given on the command line.
use crate::failure::{Failure, Result};
use girih_runtime::{explicit::Explicit, run::Named, spec::Spec};

/// The content of a file that is to be run: PTX gets a manifest that says what `explicit` says, if it says anything.
///
/// Errors: a launch for what is not PTX, which says its own; those of [`Explicit::manifest_for`].
pub fn with_manifest(
    content: Vec<u8>,
    is_ptx: bool,
    explicit: &Explicit,
    kernel: Option<&str>,
    args: &[Named<Spec>],
) -> Result<Vec<u8>> {
    if !explicit.is_given() {
        return Ok(content);
    }
    if !is_ptx {
        return Err(Failure::usage(
            "--block, --grid, --cluster and --shared are for PTX; the program says them in tile.kernel and tile.grid",
        ));
    }
    let text = String::from_utf8_lossy(&content);
    let kernel = kernel.map(|name| name.trim_start_matches('@'));
    Ok(explicit.manifest_for(&text, kernel, args)?.into_bytes())
}
