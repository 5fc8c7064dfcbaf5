//! What a launch costs: bank conflicts of shared memory, instructions, traffic, and how many blocks a multiprocessor holds.
//!
//! [`Simulator::set_profile`](crate::Simulator::set_profile) turns it on, [`Simulator::take_profile`](crate::Simulator::take_profile)
//! gives a [`Profile`] of the launches since; [`render`] shows it to people. Results of a launch do not depend on it, and a
//! launch without it pays nothing: the loop over instructions is compiled twice.
//!
//! Everything is counted at the level of PTX, before `ptxas` joins, splits, moves or drops instructions.
//!
//! | module | what it says |
//! |---|---|
//! | [`banks`] | wavefronts of every access to shared memory, by line, and which layout of a buffer would save them |
//! | [`resources`] | warp instructions by kind, bytes by space, coalescing, divergence, occupancy |
//! | [`render`] | both as text |
pub mod banks;
mod collect;
mod opcode;
pub mod render;
pub mod resources;

pub use collect::{AgentKind, Collector, Place, Recorder, Shared, SharedKind};
pub use opcode::Class;

use crate::check::SourcePlace;
use crate::exec::LaunchShape;
use crate::isa::Program;
use serde::Serialize;

/// What to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Bank conflicts.
    pub banks: bool,
    /// Instructions, traffic and occupancy.
    pub resources: bool,
}

impl Options {
    /// Whether anything is counted.
    pub fn any(self) -> bool {
        self.banks || self.resources
    }
}

/// What launches cost, in their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// One for each launch.
    pub launches: Vec<LaunchProfile>,
}

/// What one launch cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchProfile {
    /// Name of the kernel.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    /// Bank conflicts, where they were asked for.
    pub banks: Option<banks::BankReport>,
    /// Instructions, traffic and occupancy, where they were asked for.
    pub resources: Option<resources::ResourceReport>,
}

/// A PTX instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodeLine {
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The instruction as written, without its guard.
    pub ptx: String,
    /// The line that it came from, where the PTX has line information.
    pub source: Option<SourcePlace>,
}

/// The code that places of a [`Collector`] are in.
pub(crate) struct Listing<'a> {
    pub program: &'a Program,
    pub text: &'a str,
}

impl Listing<'_> {
    /// The PTX instruction that an instruction of the compact form is a part of.
    pub fn at(&self, place: Place) -> CodeLine {
        let code = self
            .program
            .functions
            .get(place.function as usize)
            .and_then(Option::as_ref);
        let inst = code.and_then(|code| code.insts.get(place.inst as usize));
        let ptx_line = inst.map_or(0, |inst| inst.line);
        let ptx = code
            .and_then(|code| code.origin(place.inst))
            .map_or("", |at| self.instruction(at));
        CodeLine {
            ptx_line,
            ptx: ptx.split_whitespace().collect::<Vec<_>>().join(" "),
            source: self.program.source.place(ptx_line),
        }
    }

    /// The instruction at a byte offset: its text from the opcode to its semicolon.
    fn instruction(&self, at: u32) -> &str {
        let text = self.text.get(at as usize..).unwrap_or_default();
        let text = text.split(';').next().unwrap_or_default().trim_start();
        match text.strip_prefix('@') {
            Some(guarded) => {
                let guard = guarded.find(char::is_whitespace).unwrap_or(guarded.len());
                guarded[guard..].trim_start()
            }
            None => text,
        }
    }
}

impl LaunchProfile {
    /// The reports of a launch from what was collected.
    pub(crate) fn new(listing: &Listing<'_>, kernel: &str, shape: &LaunchShape, recorder: Recorder) -> Self {
        let (options, collector) = recorder.finish();
        LaunchProfile {
            kernel: kernel.to_owned(),
            grid: shape.grid,
            block: shape.block,
            cluster: shape.cluster,
            banks: options.banks.then(|| banks::report(listing, &collector)),
            resources: options.resources.then(|| resources::report(listing, shape, &collector)),
        }
    }
}
