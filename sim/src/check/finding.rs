//! What a check reports, as data: for people a program renders it, for programs it serialises.
use serde::Serialize;
use std::fmt;

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gravity {
    /// The program's result is undefined, or it never ends.
    Error,
    /// The program relies on what PTX does not promise.
    Warning,
}

/// What kind of mistake a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An access outside every allocation, or outside the block's shared memory.
    OutOfBounds,
    /// An address or a coordinate off its boundary.
    Misaligned,
    /// A read of shared, local or fresh global memory that nothing wrote.
    Uninitialised,
    /// A tensor store whose rows end off a 16-byte boundary, and so writes past them.
    RowEnd,
    /// An access to a buffer that was freed.
    UseAfterFree,
    /// A call that the thread's stack has no room for.
    StackOverflow,
    /// Two accesses, one a write, that nothing orders.
    Race,
    /// Two accesses through different proxies that are ordered, but with no proxy fence between.
    MissingProxyFence,
    /// An access to what an asynchronous copy or product still reads or writes, with no wait between.
    MissingWait,
    /// A register of a `wgmma` that is touched while the product is in flight.
    InFlightRegister,
    /// An access to the shared memory of a block of the cluster that may have exited.
    ExitedPeer,
    /// An access to the shared memory of a block of the cluster that may not have started.
    UnstartedPeer,
    /// Threads of a warp or a block that part at a barrier which needs them together.
    BarrierDivergence,
    /// A barrier object that is used before its initialisation, after its end, or initialised while in use.
    BarrierObject,
    /// Threads that wait for what can never come.
    Deadlock,
    /// A transaction count that can never become zero, or that overflows.
    TransactionCount,
    /// An instruction that the hardware refuses as it is given here.
    IllegalInstruction,
}

/// A position in the program that the PTX was made from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SourcePlace {
    /// As the PTX's `.file` directive has it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where the PTX does not say.
    pub column: u32,
}

/// `file:line:column`, without the column where it is not known.
impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            0 => Ok(()),
            column => write!(f, ":{column}"),
        }
    }
}

/// One access or wait that takes part in a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// What happened there, such as ``writes 16 bytes at shared address 0x480``.
    pub what: String,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The line that it came from, where the PTX has line information.
    pub source: Option<SourcePlace>,
    /// `%ctaid`
    pub block: Option<[u32; 3]>,
    /// `%tid`
    pub thread: Option<[u32; 3]>,
}

/// Something wrong. Reported once for each kind and pair of PTX lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub gravity: Gravity,
    /// What it is.
    pub kind: Kind,
    /// What was expected and what was found, with values.
    pub message: String,
    /// What to do: the fence, wait or barrier that is missing, and between which lines.
    pub remedy: String,
    /// Where: the access that shows it first, then the one it conflicts with.
    pub places: Vec<Place>,
    /// How often it happened.
    pub times: u64,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::OutOfBounds => "out of bounds",
            Kind::Misaligned => "misaligned",
            Kind::Uninitialised => "uninitialised read",
            Kind::RowEnd => "write past the end of a row",
            Kind::UseAfterFree => "use after free",
            Kind::StackOverflow => "stack overflow",
            Kind::Race => "race",
            Kind::MissingProxyFence => "missing proxy fence",
            Kind::MissingWait => "missing wait",
            Kind::InFlightRegister => "register in flight",
            Kind::ExitedPeer => "exited peer",
            Kind::UnstartedPeer => "unstarted peer",
            Kind::BarrierDivergence => "divergent barrier",
            Kind::BarrierObject => "barrier object",
            Kind::Deadlock => "deadlock",
            Kind::TransactionCount => "transaction count",
            Kind::IllegalInstruction => "illegal instruction",
        })
    }
}
