//! Asynchronous copies, mbarrier and tensor-map instructions, in the compact form.
use crate::isa::{Address, AtomicOp, AtomicType, Predicate, Slot, Space, Value};
use crate::tma::{Field, ReduceOp, StoreMode};

/// How a tensor load walks; offsets come from registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TensorMode {
    Tile,
    Gather4,
    Im2col,
    Im2colW,
    Im2colW128,
}

/// What a tensor copy takes instead of its map's fields: `.override::global_address` and its kin.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// Where the tensor lies.
    pub address: Value,
    /// Sizes, 8 bits each, innermost first; none where they are the map's.
    pub dims: Box<[Value]>,
    /// Strides in units of 16 bytes, their low 32 bits; none for one dimension.
    pub lower: Box<[Value]>,
    /// The four bits above, one stride after the other.
    pub upper: Option<Value>,
}

/// What an mbarrier instruction does.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum MbarrierOp {
    Init(Value),
    Invalidate,
    /// Arrivals, announced bytes, whether later phases expect fewer, whether it must not complete, and where the token goes.
    Arrive {
        count: Option<Value>,
        expect: Option<Value>,
        drop: bool,
        no_complete: bool,
        token: Option<Value>,
    },
    ExpectTx(Value),
    CompleteTx(Value),
    /// Destination, token or parity, whether it may suspend the thread.
    Wait {
        p: Slot,
        token: Value,
        parity: bool,
        suspends: bool,
    },
}

/// An instruction that each active lane executes by itself.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Transfer {
    /// `cp.async`
    Copy {
        dst: Address,
        src: Address,
        src_space: Space,
        bytes: u32,
        src_bytes: Option<Value>,
        ignore: Option<Predicate>,
    },
    Commit,
    /// Groups that may stay pending.
    Wait(u32),
    WaitAll,
    /// `cp.async.mbarrier.arrive`
    ArriveAfterCopies {
        address: Address,
        space: Space,
        increment: bool,
    },
    BulkCommit,
    /// Groups that may stay pending, and whether only their sources are awaited (`.read`).
    BulkWait {
        keep: u32,
        sources: bool,
    },
    /// Global to shared memory, to the blocks of a mask.
    BulkLoad {
        dst: Address,
        src: Address,
        bytes: Value,
        barrier: Address,
        blocks: Option<Value>,
    },
    /// Shared to global memory; the mask names the bytes of each 16 that are written.
    BulkStore {
        dst: Address,
        src: Address,
        bytes: Value,
        byte_mask: Option<Value>,
    },
    /// Shared memory to another block's.
    BulkSend {
        dst: Address,
        src: Address,
        bytes: Value,
        barrier: Address,
    },
    /// `st.async`: registers to another block's shared memory.
    StoreAsync {
        dst: Address,
        values: Box<[Value]>,
        bytes: u8,
        barrier: Address,
    },
    /// `red.async`: a register into another block's shared memory.
    ReduceAsync {
        op: AtomicOp,
        ty: AtomicType,
        dst: Address,
        operand: Value,
        barrier: Address,
    },
    /// Shared memory into global memory, or with a barrier into another block's.
    BulkReduce {
        op: AtomicOp,
        ty: AtomicType,
        dst: Address,
        src: Address,
        bytes: Value,
        barrier: Option<Address>,
    },
    TensorLoad {
        mode: TensorMode,
        map: Address,
        coords: Box<[Value]>,
        replaced: Option<Box<Replaced>>,
        offsets: Box<[Value]>,
        dst: Address,
        barrier: Address,
        blocks: Option<Value>,
    },
    TensorStore {
        mode: StoreMode,
        map: Address,
        coords: Box<[Value]>,
        replaced: Option<Box<Replaced>>,
        src: Address,
    },
    TensorReduce {
        op: ReduceOp,
        mode: StoreMode,
        map: Address,
        coords: Box<[Value]>,
        replaced: Option<Box<Replaced>>,
        src: Address,
    },
    Mbarrier {
        op: MbarrierOp,
        /// Whether an arrival releases and a wait acquires.
        ordered: bool,
        space: Space,
        address: Address,
    },
    /// `mbarrier.pending_count`
    PendingCount(Value, Value),
    Replace {
        space: Space,
        address: Address,
        field: Field,
        ordinal: u32,
        value: Value,
    },
    /// `tensormap.cp_fenceproxy`: 128 bytes from shared to global memory.
    CopyMap {
        dst: Address,
        src: Address,
    },
    /// `mapa`: destination, address, rank, whether addresses are generic.
    Map {
        d: Value,
        a: Value,
        rank: Value,
        generic: bool,
    },
    /// `getctarank`
    Rank {
        d: Value,
        a: Value,
        generic: bool,
    },
    /// `tex` of a 1D linear or 2D pitched texture object.
    Texture {
        d: Box<[Value]>,
        texture: Value,
        coords: Box<[Value]>,
        float_coords: bool,
    },
    /// `suld`, `sust` of a 2D surface object.
    Surface {
        values: Box<[Value]>,
        surface: Value,
        coords: Box<[Value]>,
        bytes: u8,
        store: bool,
    },
}
