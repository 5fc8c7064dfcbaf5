//! Whole programs: what they leave in memory, and how they fail.
mod asynchronous;
mod failures;
mod flow;
mod support;
mod values;
