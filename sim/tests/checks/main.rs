//! What the checks of memory find: each kernel has one mistake, and is clean without it.
mod block;
mod cluster;
mod grid;
mod memory;
mod product;
mod support;
