//! What can go wrong between MLIR and a cubin, in words for a person.
use crate::diagnostics::LlvmDiagnostic;
use std::path::PathBuf;
use thiserror::Error;

/// A failure of code generation. MLIR's own diagnostics have already gone to the context's handlers; everything else is
/// in the message.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The operation handed in is not what the entry point takes.
    #[error("expected {expected}, found `{found}`")]
    WrongOperation {
        /// What the entry point takes.
        expected: &'static str,
        /// Name of the operation found.
        found: String,
    },
    /// An operation that LLVM IR has no form for was left in the module. MLIR's diagnostic names it.
    #[error(
        "`{module}` cannot be translated to LLVM IR: every operation in it must be of the llvm or nvvm dialect; \
         the diagnostics before this one name what was left"
    )]
    Translation {
        /// Symbol of the module.
        module: String,
    },
    /// An MLIR pass pipeline failed. MLIR's diagnostic says where.
    #[error("{stage} failed; the diagnostics before this one say where")]
    Pipeline {
        /// What the pipeline does, in words.
        stage: String,
    },
    /// The target is one that this LLVM cannot emit code for.
    #[error("{0}")]
    Target(String),
    /// LLVM reported errors while it optimised or emitted.
    #[error("{}", list(.0))]
    Llvm(Vec<LlvmDiagnostic>),
    /// LLVM's verifier found the translated module malformed.
    #[error("the LLVM module made from `{module}` is malformed: {message}")]
    Malformed {
        /// Symbol of the module.
        module: String,
        /// The verifier's words.
        message: String,
    },
    /// No ptxas was found.
    #[error(
        "no ptxas found: looked at {}. Name one with `--ptxas`, set CUDA_HOME, put it on PATH, or run \
         `cargo xtask setup`, which fetches the one that girih is tested with", paths(.looked_at)
    )]
    NoPtxas {
        /// Paths that were looked at, in order.
        looked_at: Vec<PathBuf>,
    },
    /// ptxas refused the PTX.
    #[error("ptxas refused the PTX for {arch}:\n{}", .messages.join("\n"))]
    Ptxas {
        /// Target architecture.
        arch: String,
        /// One line for each error, located in the source where the PTX has line information.
        messages: Vec<String>,
    },
    /// ptxas ended by a signal: a defect of ptxas, whatever the PTX is.
    #[error("{0}")]
    PtxasSignal(Box<PtxasCrash>),
    /// A file or process could not be used.
    #[error("{what}: {error}")]
    Io {
        /// What was tried, with the path.
        what: String,
        /// The system's answer.
        error: std::io::Error,
    },
    /// A reference function cannot be compiled or called as asked.
    #[error("{0}")]
    Reference(String),
}

/// Result of code generation.
pub type Result<T> = std::result::Result<T, Error>;

fn list(diagnostics: &[LlvmDiagnostic]) -> String {
    diagnostics
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

fn paths(paths: &[PathBuf]) -> String {
    paths
        .iter()
        .map(|p| format!("`{}`", p.display()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// How ptxas ended by a signal.
#[derive(Debug, Error)]
#[error("ptxas ended by signal {signal} while it compiled {} for {arch}; it is {} of release {release}. Name another \
         ptxas with `--ptxas`, or write PTX with `--emit ptx` and let the driver compile it",
        kernels.join(", "), .path.display())]
pub struct PtxasCrash {
    /// Number of the signal.
    pub signal: i32,
    /// The program.
    pub path: PathBuf,
    /// The release that it says it is.
    pub release: String,
    /// Target architecture.
    pub arch: String,
    /// The entry that it was at, or all of the file.
    pub kernels: Vec<String>,
    /// What it had said by then that is an error or a warning, located as far as can be.
    pub messages: Vec<String>,
}
