//! The compact form that PTX is decoded into once and executed from.
//!
//! A warp executes one instruction for up to 32 lanes at a time, so registers are stored lane by lane: a register of up to
//! 32 bits is a [`W32`], one of 64 bits a [`W64`], a predicate one bit of a word for each lane. Registers and constants
//! are named by [`Slot`]s; no name is looked up while executing.
use crate::collective::Collective;
use crate::ptx::SourceLines;
use crate::transfer::Transfer;
use std::sync::Arc;

/// Threads of a warp.
pub const LANES: usize = 32;
/// A register of up to 32 bits in all lanes, zero-extended.
pub type W32 = [u32; LANES];
/// A 64-bit register in all lanes.
pub type W64 = [u64; LANES];

/// Where a register or constant lies, in 64-bit words from the start of the frame's registers or of the constant pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

const POOL: u32 = 1 << 31;

impl Slot {
    /// A register of the frame.
    pub fn frame(word: u32) -> Self {
        Slot(word)
    }
    /// A constant of the pool.
    pub fn pool(word: u32) -> Self {
        Slot(word | POOL)
    }
    /// Whether it is a constant.
    #[inline(always)]
    pub fn is_pool(self) -> bool {
        self.0 & POOL != 0
    }
    /// First word.
    #[inline(always)]
    pub fn word(self) -> usize {
        (self.0 & !POOL) as usize
    }
}

/// A slot with the width of its register: 1 (predicate), 8, 16, 32, 64 or 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Where.
    pub slot: Slot,
    /// Width in bits.
    pub bits: u8,
}

/// 64-bit words that a register of this width takes.
pub fn words(bits: u8) -> u32 {
    match bits {
        1 => 1,
        0..=32 => LANES as u32 / 2,
        64 => LANES as u32,
        _ => 2 * LANES as u32,
    }
}

/// A function of whole 32-bit registers.
pub type F1 = fn(&W32) -> W32;
/// A function of two whole 32-bit registers.
pub type F2 = fn(&W32, &W32) -> W32;
/// A function of three whole 32-bit registers.
pub type F3 = fn(&W32, &W32, &W32) -> W32;
/// A function of a whole 64-bit register.
pub type G1 = fn(&W64) -> W64;
/// A function of two whole 64-bit registers.
pub type G2 = fn(&W64, &W64) -> W64;
/// A function of three whole 64-bit registers.
pub type G3 = fn(&W64, &W64, &W64) -> W64;
/// A function of up to four registers of any width, zero-extended; the result is cut to the destination's width.
pub type Mixed = fn(&[W64; 4]) -> W64;
/// A comparison, one bit for each lane.
pub type Cmp32 = fn(&W32, &W32) -> u32;
/// A comparison, one bit for each lane.
pub type Cmp64 = fn(&W64, &W64) -> u32;

/// Boolean operators on predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Logic {
    And,
    Or,
    Xor,
}

impl Logic {
    /// Applies it to lane masks.
    #[inline(always)]
    pub fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }
}

/// A predicate, perhaps negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Where.
    pub slot: Slot,
    /// `!p`
    pub negated: bool,
}

/// Destinations of a comparison: `p = t op c`, `q = !t op c`.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// First destination.
    pub p: Slot,
    /// Second destination.
    pub q: Option<Slot>,
    /// Boolean operator and third operand.
    pub combine: Option<(Logic, Predicate)>,
}

/// State spaces of memory instructions. Constants and kernel parameters are addressed as global memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Local,
}

/// Threads that an operation is strong towards (PTX ISA 8.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The block.
    Cta,
    /// The cluster.
    Cluster,
    /// The device.
    Gpu,
    /// Everything.
    Sys,
}

/// The memory order of a strong operation or a fence (PTX ISA 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// Whether it acquires.
    pub acquires: bool,
    /// Whether it releases.
    pub releases: bool,
    /// Towards whom.
    pub scope: Scope,
}

/// What a fence orders. Executing one has no effect here, where everything happens in order: the checks alone look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// `fence`, `membar`
    Memory(Strength),
    /// `fence.proxy.async`, for shared and for global memory.
    AsyncProxy {
        /// Shared memory.
        shared: bool,
        /// Global memory.
        global: bool,
    },
    /// `fence.proxy.tensormap`, of the map at an address where it acquires.
    TensorMap(Option<Address>),
    /// `fence.mbarrier_init`
    MbarrierInit,
    /// `wgmma.fence`
    Registers,
}

/// Where a kernel's parameters begin in the `.param` space, as addresses that `mov` takes there. Added to what `ld.param`
/// and `cvta.param` are given, they become addresses of global memory; used as generic ones they fault, as on hardware.
pub const PARAM_BASE: u64 = 0x210;

/// `barrier.cluster.arrive` or `.wait`.
#[derive(Clone, Copy, Debug)]
pub struct ClusterStep {
    /// Whether an arrival releases, a wait acquires.
    pub ordered: bool,
    /// Whether all lanes of a warp must execute it together.
    pub aligned: bool,
}

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Nothing: the offset is the address.
    Absolute,
    /// The local memory of the function's frame.
    Frame,
    /// A register.
    Register(Value),
}

/// An address operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// What it is relative to.
    pub base: Base,
    /// Bytes added.
    pub offset: i64,
}

/// A load or store of one element or a vector of elements.
#[derive(Clone, Debug)]
pub struct Access {
    /// State space.
    pub space: Space,
    /// Address of the first element.
    pub address: Address,
    /// Bytes of one element: 1, 2, 4, 8 or 16.
    pub bytes: u8,
    /// Whether loads extend the sign.
    pub signed: bool,
    /// The memory order of what is not weak.
    pub strength: Option<Strength>,
    /// Registers, or constants of a store.
    pub values: Box<[Value]>,
}

/// Element types of atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtomicType {
    Bits(u8),
    Unsigned(u8),
    Signed(u8),
    F32,
    F64,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
}

/// Atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub struct Atomic {
    /// Operation.
    pub op: AtomicOp,
    /// Element type.
    pub ty: AtomicType,
    /// Its memory order.
    pub strength: Strength,
    /// State space.
    pub space: Space,
    /// Address of the first element.
    pub address: Address,
    /// Destinations, one for each element; empty for `red`.
    pub old: Box<[Value]>,
    /// Whether what is there decides anything: what is stored, or what an instruction reads from a destination.
    pub wants_old: bool,
    /// First operands, one for each element.
    pub operands: Box<[Value]>,
    /// Second operand of compare-and-swap.
    pub swap: Option<Value>,
}

/// Where the value of a call's argument comes from, or its result goes to.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// `.param` memory of the frame: offset and length in bytes.
    Memory(u32, u32),
    /// A register or a constant.
    Register(Value),
}

/// What a call calls.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// A function of the program.
    Direct(u32),
    /// The address of a function.
    Indirect(Value),
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Called function.
    pub callee: Callee,
    /// Arguments in order.
    pub arguments: Box<[Argument]>,
    /// Results in order.
    pub results: Box<[Argument]>,
}

/// A call of `__assertfail`, as far as it is told.
#[derive(Clone, Copy, Debug)]
pub struct AssertFail {
    /// Address of the message.
    pub message: Argument,
}

/// A call of `vprintf`.
#[derive(Clone, Copy, Debug)]
pub struct Print {
    /// Address of the format.
    pub format: Argument,
    /// Address of the packed arguments.
    pub arguments: Argument,
    /// Where the number of arguments goes.
    pub result: Option<Argument>,
}

/// What `bar.red` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BarrierReduction {
    And,
    Or,
    Count,
}

/// `bar` and `barrier`.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// Barrier number, 0 to 15.
    pub id: Value,
    /// Participating threads; all of the block without it.
    pub threads: Option<Value>,
    /// Whether it waits (`sync`, `red`) or only arrives.
    pub waits: bool,
    /// Whether all threads of a warp execute it together: `.aligned`, and `bar`.
    pub aligned: bool,
    /// Reduction, its source and its destination.
    pub reduction: Option<(BarrierReduction, Predicate, Value)>,
}

/// `add.cc` and its kin: `d = a + b + carry`, carry kept in a predicate of the frame.
#[derive(Clone, Copy, Debug)]
pub struct Carry {
    /// Destination, 32 or 64 bits.
    pub d: Value,
    /// First operand.
    pub a: Value,
    /// Second operand.
    pub b: Value,
    /// Whether it subtracts.
    pub subtract: bool,
    /// Whether it takes the carry in.
    pub takes: bool,
    /// Whether it writes the carry out.
    pub gives: bool,
    /// The carry.
    pub carry: Slot,
}

/// Registers whose value changes while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Clock {
    Low,
    High,
    Full,
    Timer,
    TimerLow,
    TimerHigh,
}

/// Special registers that are constant in a thread; the index is the dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    WarpCount,
    LaneMaskEq,
    LaneMaskLt,
    LaneMaskLe,
    LaneMaskGt,
    LaneMaskGe,
    ClusterId(u8),
    ClusterCount(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtaRank,
    ClusterCtaCount,
    ExplicitCluster,
    SmId,
    SmCount,
    GridId,
    DynamicShared,
    TotalShared,
    Zero,
}

/// What an instruction does.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Nop,
    Unary32(F1, Slot, Slot),
    Binary32(F2, Slot, [Slot; 2]),
    Ternary32(F3, Slot, [Slot; 3]),
    Unary64(G1, Slot, Slot),
    Binary64(G2, Slot, [Slot; 2]),
    Ternary64(G3, Slot, [Slot; 3]),
    /// Function, destination, sources; unused sources repeat the first.
    Mixed(Box<(Mixed, Value, [Value; 4])>),
    Copy32(Slot, Slot),
    Copy64(Slot, Slot),
    Copy128(Slot, Slot),
    Compare32(Cmp32, [Slot; 2], Box<Outcome>),
    Compare64(Cmp64, [Slot; 2], Box<Outcome>),
    /// Comparison of operands given as for [`Op::Mixed`], nonzero for true.
    CompareMixed(Box<(Mixed, [Value; 4], Outcome)>),
    Select32(Slot, [Slot; 2], Predicate),
    Select64(Slot, [Slot; 2], Predicate),
    Logic(Logic, Slot, Predicate, Predicate),
    /// `mov.pred`, `not.pred`.
    Predicate(Slot, Predicate),
    /// Destination in 32 bits: 1 or 0.
    FromPredicate(Slot, Predicate),
    /// Joins the elements, lowest first, into one register.
    Join(Value, Box<[Value]>),
    /// Splits a register into elements, lowest first; `None` is `_`.
    Split(Box<[Option<Value>]>, Value),
    Carry(Box<Carry>),
    /// Destination: address in local memory of an offset in the frame.
    FrameAddress(Value, i64),
    Clock(Value, Clock),
    Load(Box<Access>),
    Store(Box<Access>),
    Atomic(Box<Atomic>),
    /// `isspacep`: destination, address, space, whether the block's own shared memory only.
    IsSpace(Slot, Value, Space, bool),
    /// `alloca`: destination, size, alignment in bytes.
    Alloca(Value, Value, u32),
    StackSave(Value),
    StackRestore(Value),
    Branch(u32),
    BranchIndexed(Value, Box<[u32]>),
    Call(Box<Call>),
    Print(Print),
    /// A call of `__assertfail`.
    AssertFail(AssertFail),
    Return,
    Exit,
    Trap,
    /// Gives way to other warps, as `nanosleep` does.
    Yield,
    Barrier(Box<Barrier>),
    ClusterArrive(ClusterStep),
    ClusterWait(ClusterStep),
    Fence(Fence),
    /// Lanes of a mask act together.
    Collective(Box<Collective>),
    /// Asynchronous copies, memory barrier objects, tensor maps.
    Transfer(Box<Transfer>),
    ActiveMask(Slot),
}

/// One instruction of the compact form. One PTX instruction may become several.
#[derive(Clone, Debug)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Guard predicate.
    pub guard: Option<Predicate>,
    /// Line of the PTX text, from 1.
    pub line: u32,
}

/// A parameter or result of a function.
#[derive(Clone, Copy, Debug)]
pub enum Formal {
    /// Offset in the frame's local memory and length in bytes.
    Memory(u32, u32),
    /// A register of the frame.
    Register(Value),
}

/// A decoded function.
#[derive(Clone, Debug)]
pub struct Code {
    /// Name.
    pub name: String,
    /// Instructions; the last is a return.
    pub insts: Vec<Inst>,
    /// For each PTX instruction in order, the first of `insts` that it became and its byte offset in the text.
    pub origins: Vec<(u32, u32)>,
    /// 64-bit words of a frame's registers for all lanes.
    pub frame_words: u32,
    /// Bytes of local memory of one lane's frame.
    pub local_bytes: u32,
    /// Registers to fill when a frame is made.
    pub specials: Vec<(Special, Slot)>,
    /// Parameters in order.
    pub params: Vec<Formal>,
    /// Results in order.
    pub returns: Vec<Formal>,
}

impl Code {
    /// Byte offset in the text of the PTX instruction that an instruction is a part of.
    pub fn origin(&self, inst: u32) -> Option<u32> {
        let after = self.origins.partition_point(|(first, _)| *first <= inst);
        Some(self.origins.get(after.checked_sub(1)?)?.1)
    }
}

/// A kernel with all that it can call.
#[derive(Clone, Debug)]
pub struct Program {
    /// Functions by the module's numbering; `None` where the kernel cannot reach it.
    pub functions: Vec<Option<Code>>,
    /// The kernel.
    pub entry: u32,
    /// Constants.
    pub pool: Vec<u64>,
    /// Bytes of shared memory of one block before the dynamic part, the reserved kilobyte included.
    pub static_shared: u32,
    /// Address in shared memory of the dynamic part.
    pub dynamic_shared: u32,
    /// Offset and length in the parameter block, in order.
    pub params: Vec<(u32, u32)>,
    /// Address of the parameter block.
    pub param_block: u64,
    /// `.reqntid`: required block size.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`: largest number of threads.
    pub max_threads: Option<u32>,
    /// `.maxnreg`: registers of a thread.
    pub max_registers: Option<u32>,
    /// `.minnctapersm`: blocks that a multiprocessor shall hold at once, 1 where it does not say.
    pub min_blocks: u32,
    /// `.reqnctapercluster`: required cluster size.
    pub required_cluster: Option<[u32; 3]>,
    /// Where the lines of the PTX came from.
    pub source: Arc<SourceLines>,
}

impl Program {
    /// A line of the PTX in words: `line 12`, or `line 12 (a.mlir:5:3)` where it is known what it came from.
    pub fn line(&self, ptx_line: u32) -> String {
        self.source.line(ptx_line)
    }
}

/// First shared address of a program: the hardware keeps the kilobyte before it.
pub const SHARED_BASE: u32 = 1024;
/// Generic addresses of shared memory.
pub const SHARED_WINDOW: u64 = 0x0100_0000_0000;
/// Generic addresses of local memory.
pub const LOCAL_WINDOW: u64 = 0x0200_0000_0000;
/// Bytes of either window.
pub const WINDOW_BYTES: u64 = 1 << 32;
/// Addresses of functions: this plus their number times 16.
pub const FUNCTION_BASE: u64 = 0x0300_0000_0000;
/// Shared addresses of the cluster's block `r` have `r + 1` above this bit; a block's own may have 0 there.
pub const RANK_SHIFT: u32 = 24;
