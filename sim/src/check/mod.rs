//! What a program does wrong though its results may be right: races, missing fences, reads of bytes that nothing wrote.
//!
//! A launch of a [`Simulator`](crate::Simulator) whose checks are on collects [`Finding`]s. What a GPU would report as a fault
//! is one too, and still ends the launch; everything else does not.
mod access;
mod agents;
mod clock;
mod collector;
mod finding;
mod memory;
pub mod progress;
mod race;
mod shadow;
mod site;
mod state;
mod sync;
mod words;

pub use access::{Finish, Piece, Step, merge};
pub use clock::Order;
pub use collector::Checks;
pub use finding::{Finding, Gravity, Kind, Place, SourcePlace};
pub use race::{At, Memories, Memory};
pub use site::Actor;
pub use state::{Setup, State, Who};
