//! What a program does wrong though its results may be right: races, missing fences, reads of bytes that nothing wrote.
//!
//! A launch of a [`Simulator`](crate::Simulator) whose checks are on collects [`Finding`]s. What a GPU would report as a fault
//! is one too, and still ends the launch; everything else does not.
mod collector;
mod finding;
pub mod progress;

pub use collector::Checks;
pub use finding::{Finding, Gravity, Kind, Place, SourcePlace};
