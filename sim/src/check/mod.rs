//! What a program does wrong though its results may be right: races, missing fences, reads of bytes that nothing wrote.
//!
//! A launch of a [`Simulator`](crate::Simulator) whose checks are on collects [`Finding`]s. What a GPU would report as a fault
//! is one too, and still ends the launch; everything else does not.
//!
//! # Order
//!
//! An access is held against those before it of the same bytes. Two of them, one a write, have to be ordered by what the
//! program says, whatever order they had in this run: so one run finds what another schedule would show. Each thread has a
//! vector clock (`clock`); so has each kind of asynchronous work, which happens beside the thread that issued it
//! (`agents`). Order passes
//!
//! | from | to | by |
//! |---|---|---|
//! | arrival | end of the wait | `bar`, `barrier`, of their phase; `.arrive` passes on what came before it |
//! | arrival | end of the wait | `barrier.cluster`; with `.relaxed` only what a fence published before |
//! | arrival | successful wait | mbarrier, of the phase that is over; with `.relaxed` as above |
//! | each lane | each lane | `bar.warp.sync` |
//! | release | acquire | strong operations at one location (PTX ISA 8.8): `.release`, or a fence and then a relaxed one; `.acquire`, or a relaxed one and then a fence; atomic operations carry a release on; scopes are obeyed |
//! | copy | wait | `cp.async`: `wait_group`, `wait_all`, `cp.async.mbarrier.arrive`; bulk copies: their mbarrier's phase, or `wait_group`, of which `.read` covers the source alone |
//! | product | wait | `wgmma.wait_group`, for groups that were committed |
//! | the host | the kernel | the launch |
//!
//! and nothing else: not by `shfl` or `mma`, not by lanes running in step, not by the order in which warps happen to run.
//! Strong operations towards each other do not race. What a copy does is ordered after what its thread did before.
//!
//! # Proxies
//!
//! Bulk copies, tensor copies and `wgmma` go through the asynchronous proxy. A write of the generic proxy that they read or
//! overwrite has to pass a `fence.proxy.async` on the way, at the writer's side of the barrier or at the issuer's, of the
//! right space. A second clock in each thread counts what did (`clock::Order`). A read before an asynchronous write needs
//! order alone, as all libraries have it; nor do accesses behind the wait for a copy or product, which implies the fence.
//! `fence.mbarrier_init` is a clock of the same kind; `fence.proxy.tensormap` one for each map, shared by the block.
//!
//! # Registers, memory
//!
//! `registers` follows D and A of products in flight. `shadow` remembers the accesses, a cell for each piece of memory
//! that is always accessed as one. What nothing wrote, by the host or by a launch, is fresh, and reading it a finding;
//! copies and products read exactly the bytes that the hardware reads, so padding that nobody looks at is none.
//!
//! # What is not reported
//!
//! - Two plain stores of the same value by the same instruction, in whatever threads: compilers let all threads that hold a
//!   copy of a value store it. By different instructions they are a warning.
//! - `cp.async` and then `wgmma` with no proxy fence between: compilers and libraries rely on it.
//! - Reads of textures and surfaces, constants and parameters; prefetches.
//! - `ldmatrix` and `stmatrix` count as accesses by the lane that gives the address, `wmma` loads and stores by the warp.
//! - A location that very many threads read keeps the last of them (`shadow`), so a write that races with an early reader
//!   alone may go unseen; and an acquire of a location takes all that was released to it so far.
//! - `fence.proxy.async.shared::cta` and `::cluster` are one.
//!
//! A checked launch runs on one host thread and gives the same findings every time.
mod access;
mod agents;
mod clock;
mod collector;
mod finding;
mod memory;
pub mod progress;
mod race;
mod registers;
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
pub use registers::{Registers, Touch};
pub use site::Actor;
pub use state::{Setup, State, Who};
pub(crate) use words::between;
