//! girih's runtime.
pub mod array;
pub mod error;
pub mod spec;
pub use error::{Error, Result};
