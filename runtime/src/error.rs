//! What can go wrong between a PTX file and a finished launch, one variant for each thing a person can act on.
use girih_core::device::DeviceError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Result of the runtime's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the runtime. The text says what was expected, what was found and what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// A file that cannot be read, written or understood.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A SPEC that does not parse or that does not fit its argument.
    #[error(transparent)]
    Spec(#[from] crate::spec::SpecError),
    /// PTX without a usable manifest, or a manifest that contradicts itself.
    #[error("{0}")]
    Manifest(String),
    /// Arguments that the kernel does not take, all of them.
    #[error("{}", join(kernel, problems))]
    Arguments {
        /// Kernel.
        kernel: String,
        /// One for each broken rule.
        problems: Vec<Problem>,
    },
    /// A launch that no device can make.
    #[error("kernel `{kernel}`: {message}")]
    Launch {
        /// Kernel.
        kernel: String,
        /// Rule, value found, remedy.
        message: String,
    },
    /// A grid that cannot be computed, or that no device can launch.
    #[error("kernel `{kernel}`: grid {axis}{message}")]
    Grid {
        /// Kernel.
        kernel: String,
        /// `x`, `y` or `z`.
        axis: char,
        /// What follows the axis: the value found, the rule, the remedy.
        message: String,
    },
    /// A reference result that cannot be computed.
    #[error("the reference cannot be computed: {0}")]
    Reference(String),
    /// A wrong request to the runtime itself, such as an unknown kernel name.
    #[error("{0}")]
    Usage(String),
    /// The device refused or failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// One rule that an argument breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Argument's name in the source.
    pub argument: String,
    /// Rule, value found, remedy.
    pub message: String,
}

fn join(kernel: &str, problems: &[Problem]) -> String {
    let line = |p: &Problem| format!("kernel `{kernel}`, argument {}: {}", p.argument, p.message);
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl Error {
    /// Whether the command line is at fault: its options, SPECs, names, or values that the kernel does not take. Programs
    /// end with exit code 2 then, and with 1 for everything else.
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Usage(_) | Error::Spec(_) | Error::Arguments { .. })
    }

    /// An error about `path`.
    pub fn file(path: &Path, message: impl ToString) -> Self {
        Error::File {
            path: path.to_owned(),
            message: message.to_string(),
        }
    }
}
