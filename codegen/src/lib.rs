//! From MLIR's llvm and nvvm dialects to PTX and cubin, and from upstream MLIR to the CPU. The only crate that speaks
//! LLVM's own API.
//!
//! | module | what it does |
//! |---|---|
//! | [`ptx`] | `gpu.module` -> LLVM IR -> PTX, in process |
//! | [`passes`] | which LLVM passes run at which level |
//! | [`target`] | which targets and PTX versions can be emitted |
//! | [`ptxas`] | finds ptxas, assembles, reads its report |
//! | [`manifest`] | how the kernels of a module are launched |
//! | [`jit`] | runs a `func.func` on the CPU, as the reference of a kernel |
//! | [`fatal`] | what happens when LLVM gives up |
pub mod diagnostics;
pub mod error;
pub mod fatal;
pub mod jit;
mod locate;
pub mod manifest;
pub mod passes;
pub mod ptx;
pub mod ptxas;
pub mod target;
mod translate;

pub use error::{Error, PtxasCrash, Result};
pub use passes::OptLevel;
pub use target::PtxTarget;

use girih_core::manifest::Manifest;
use melior::ir::OperationRef;
use std::path::PathBuf;

/// What to compile for, and how.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// Architecture and PTX version.
    pub target: PtxTarget,
    /// How much LLVM optimises.
    pub opt_level: OptLevel,
    /// Whether the PTX says with `.loc` which line of the source each instruction came from.
    pub line_info: bool,
    /// Where LLVM IR is written when LLVM fails fatally.
    pub reproducer_dir: PathBuf,
}

impl CompileOptions {
    /// The defaults for a target: `-O2`, no line information, reproducers in the system's temporary folder.
    pub fn new(target: PtxTarget) -> Self {
        CompileOptions {
            target,
            opt_level: OptLevel::default(),
            line_info: false,
            reproducer_dir: std::env::temp_dir(),
        }
    }
}

/// Compiles a `gpu.module` whose contents are already of the llvm and nvvm dialects to PTX, headed by `manifest` where
/// there is one. The same input gives the same bytes, on every run and every machine.
pub fn compile(
    gpu_module: OperationRef<'_, '_>,
    manifest: Option<&Manifest>,
    options: &CompileOptions,
) -> Result<ptx::Ptx> {
    let mut compiled = ptx::emit(gpu_module, options)?;
    if let Some(manifest) = manifest {
        compiled.text.insert_str(0, &manifest.to_ptx_comment());
    }
    Ok(compiled)
}

/// Version of the LLVM in this process, such as `22.1.8`.
pub fn llvm_version() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{major}.{minor}.{patch}")
}
