//! Instructions that lanes of a warp execute together, in the compact form.
use crate::isa::{Address, Predicate, Slot, Space, Value};
use crate::tensor_core::mma::Mma;
use crate::tensor_core::wgmma::Wgmma;
use crate::tensor_core::wmma::{Fragment, Layout, Wmma};

/// A collective instruction with the lanes that it waits for.
#[derive(Clone, Debug)]
pub struct Collective {
    /// The `membermask`; all lanes of the warp without one.
    pub members: Option<Value>,
    /// What it does.
    pub kind: Kind,
}

/// Ways of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// Ways of `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// Ways of `redux`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Redux {
    Add,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
    Xor,
}

/// Operands of a matrix product in registers.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Product {
    pub d: Box<[Value]>,
    pub a: Box<[Value]>,
    pub b: Box<[Value]>,
    pub c: Box<[Value]>,
}

/// A `wgmma.mma_async`.
#[derive(Clone, Debug)]
pub struct WarpgroupProduct {
    /// The checked instruction.
    pub product: Wgmma,
    /// Sums, read and written.
    pub d: Box<[Value]>,
    /// Registers of A, or its one descriptor.
    pub a: Box<[Value]>,
    /// Whether `a` is a descriptor.
    pub a_shared: bool,
    /// Descriptor of B.
    pub b: Value,
    /// `scale-d`.
    pub scale_d: Predicate,
    /// Metadata register and selector of the sparse form.
    pub metadata: Option<(Value, usize)>,
}

/// What a collective does.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    WarpSync,
    Shuffle {
        mode: Shuffle,
        d: Value,
        p: Option<Slot>,
        a: Value,
        b: Value,
        c: Value,
    },
    Vote {
        mode: Vote,
        d: Value,
        p: Predicate,
    },
    Match {
        all: bool,
        d: Value,
        p: Option<Slot>,
        a: Value,
    },
    Redux {
        op: Redux,
        d: Value,
        a: Value,
    },
    Elect {
        d: Value,
        p: Slot,
    },
    LoadMatrix {
        d: Box<[Value]>,
        transpose: bool,
        space: Space,
        address: Address,
    },
    StoreMatrix {
        values: Box<[Value]>,
        transpose: bool,
        space: Space,
        address: Address,
    },
    MoveMatrix {
        d: Value,
        a: Value,
    },
    Mma {
        mma: Box<Mma>,
        product: Box<Product>,
        metadata: Option<(Value, usize)>,
    },
    WmmaLoad {
        wmma: Box<Wmma>,
        fragment: Fragment,
        layout: Layout,
        d: Box<[Value]>,
        space: Space,
        address: Address,
        stride: Value,
    },
    WmmaStore {
        wmma: Box<Wmma>,
        layout: Layout,
        values: Box<[Value]>,
        space: Space,
        address: Address,
        stride: Value,
    },
    WmmaProduct {
        wmma: Box<Wmma>,
        product: Box<Product>,
    },
    Wgmma(Box<WarpgroupProduct>),
    WgmmaCommit,
    /// Groups that may stay in flight.
    WgmmaWait(u32),
    /// `setmaxnreg`: registers of a thread, and whether it is `.inc`.
    Registers {
        count: u32,
        grows: bool,
    },
}
