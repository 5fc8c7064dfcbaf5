//! Tensor copies (`cp.async.bulk.tensor` and its relatives): modes, spaces, and the types of reductions.
use super::{Op, PtxVersion, Set};
use crate::tensor_map::Format;

/// Mode of a tensor load or prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum LoadMode {
    Tile,
    Gather4,
    Im2col,
    Im2colW,
    Im2colW128,
}

/// How a tensor store or reduction walks the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreMode {
    /// A box.
    Tile,
    /// Four rows of a matrix, which need not be neighbours.
    Scatter4,
    /// Pixels.
    Im2colNoOffs,
    /// Pixels along W alone; nothing happens from the first pixel outside the tensor on.
    Im2colNoOffsW,
}

/// Shared state space of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedSpace {
    /// `.shared::cta`
    Cta,
    /// `.shared::cluster`
    Cluster,
}

/// Width of a multicast's mask, as the opcode spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskWidth {
    /// `.multicast::cluster`: 16 bits.
    Plain,
    /// `.multicast::cluster::16b`, which says the same.
    B16,
    /// `.multicast::cluster::32b`
    B32,
}

/// What a load reports on its mbarrier besides bytes: `.mbarrier::report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Report {
    /// `::disabled`
    Disabled,
    /// `::validity::per_16bytes::80000000`
    Per16Bytes80000000,
    /// `::validity::per_16bytes::8000`
    Per16Bytes8000,
    /// `::validity::per_16bytes::80`
    Per16Bytes80,
    /// `::validity::per_16bytes::8`
    Per16Bytes8,
    /// `::validity::per_element::ff`
    PerElementFf,
}

/// Operator of a tensor reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum ReduceOp {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
}

impl LoadMode {
    /// Every mode.
    pub const ALL: [LoadMode; 5] = [
        LoadMode::Tile,
        LoadMode::Gather4,
        LoadMode::Im2col,
        LoadMode::Im2colW,
        LoadMode::Im2colW128,
    ];

    /// PTX's qualifier without the leading dot.
    pub const fn name(self) -> &'static str {
        match self {
            LoadMode::Tile => "tile",
            LoadMode::Gather4 => "tile::gather4",
            LoadMode::Im2col => "im2col",
            LoadMode::Im2colW => "im2col::w",
            LoadMode::Im2colW128 => "im2col::w::128",
        }
    }

    pub(super) const fn load_needs(self, space: SharedSpace) -> &'static [(Set, PtxVersion)] {
        match (self, space) {
            (LoadMode::Tile | LoadMode::Im2col, SharedSpace::Cluster) => &[(Set::From90, PtxVersion(8, 0))],
            (LoadMode::Tile | LoadMode::Im2col, SharedSpace::Cta) => &[(Set::From90, PtxVersion(8, 6))],
            (LoadMode::Gather4 | LoadMode::Im2colW, SharedSpace::Cta) => &[(Set::From100, PtxVersion(8, 6))],
            _ => &[(Set::Blackwell, PtxVersion(8, 6))],
        }
    }

    pub(super) const fn prefetch_needs(self) -> &'static [(Set, PtxVersion)] {
        self.load_needs(SharedSpace::Cluster)
    }

    pub(super) const fn alternative(self, space: SharedSpace) -> Option<&'static str> {
        match (self, space) {
            (LoadMode::Gather4, _) => Some("load the four rows with four tile copies"),
            (LoadMode::Im2colW | LoadMode::Im2colW128, _) => Some("use mode im2col, one filter position for each copy"),
            (_, SharedSpace::Cta) => Some("load to shared::cluster, which includes the block's own memory"),
            _ => Some("use cp.async or ordinary loads"),
        }
    }
}

impl StoreMode {
    /// Every mode.
    pub const ALL: [StoreMode; 4] = [
        StoreMode::Tile,
        StoreMode::Scatter4,
        StoreMode::Im2colNoOffs,
        StoreMode::Im2colNoOffsW,
    ];

    /// PTX's qualifier without the leading dot.
    pub const fn name(self) -> &'static str {
        match self {
            StoreMode::Tile => "tile",
            StoreMode::Scatter4 => "tile::scatter4",
            StoreMode::Im2colNoOffs => "im2col_no_offs",
            StoreMode::Im2colNoOffsW => "im2col_no_offs::w",
        }
    }

    pub(super) const fn needs(self) -> &'static [(Set, PtxVersion)] {
        match self {
            StoreMode::Tile | StoreMode::Im2colNoOffs => &[(Set::From90, PtxVersion(8, 0))],
            StoreMode::Scatter4 => &[(Set::Blackwell, PtxVersion(8, 6))],
            StoreMode::Im2colNoOffsW => &[(Set::Family107, PtxVersion(9, 4))],
        }
    }

    pub(super) const fn alternative(self) -> Option<&'static str> {
        match self {
            StoreMode::Scatter4 => Some("store the four rows with four tile copies"),
            StoreMode::Im2colNoOffsW => Some("use mode im2col_no_offs"),
            _ => Some("use ordinary stores"),
        }
    }
}

impl MaskWidth {
    /// Every spelling.
    pub const ALL: [MaskWidth; 3] = [MaskWidth::Plain, MaskWidth::B16, MaskWidth::B32];

    /// PTX's qualifier without the leading dot.
    pub const fn name(self) -> &'static str {
        match self {
            MaskWidth::Plain => "multicast::cluster",
            MaskWidth::B16 => "multicast::cluster::16b",
            MaskWidth::B32 => "multicast::cluster::32b",
        }
    }

    /// What the spelling needs of a target besides a multicast.
    pub const fn op(self) -> Option<Op> {
        match self {
            MaskWidth::Plain => None,
            MaskWidth::B16 => Some(Op::Multicast16),
            MaskWidth::B32 => Some(Op::Multicast32),
        }
    }
}

impl Report {
    /// Every mechanism.
    pub const ALL: [Report; 6] = [
        Report::Disabled,
        Report::Per16Bytes80000000,
        Report::Per16Bytes8000,
        Report::Per16Bytes80,
        Report::Per16Bytes8,
        Report::PerElementFf,
    ];

    /// PTX's qualifier without the leading dot.
    pub const fn name(self) -> &'static str {
        match self {
            Report::Disabled => "mbarrier::report::disabled",
            Report::Per16Bytes80000000 => "mbarrier::report::validity::per_16bytes::80000000",
            Report::Per16Bytes8000 => "mbarrier::report::validity::per_16bytes::8000",
            Report::Per16Bytes80 => "mbarrier::report::validity::per_16bytes::80",
            Report::Per16Bytes8 => "mbarrier::report::validity::per_16bytes::8",
            Report::PerElementFf => "mbarrier::report::validity::per_element::ff",
        }
    }
}

impl SharedSpace {
    /// PTX's qualifier without the leading dot.
    pub const fn name(self) -> &'static str {
        match self {
            SharedSpace::Cta => "shared::cta",
            SharedSpace::Cluster => "shared::cluster",
        }
    }
}

impl ReduceOp {
    /// Every operator.
    pub const ALL: [ReduceOp; 8] = [
        ReduceOp::Add,
        ReduceOp::Min,
        ReduceOp::Max,
        ReduceOp::Inc,
        ReduceOp::Dec,
        ReduceOp::And,
        ReduceOp::Or,
        ReduceOp::Xor,
    ];

    /// PTX's qualifier without the leading dot.
    pub const fn name(self) -> &'static str {
        match self {
            ReduceOp::Add => "add",
            ReduceOp::Min => "min",
            ReduceOp::Max => "max",
            ReduceOp::Inc => "inc",
            ReduceOp::Dec => "dec",
            ReduceOp::And => "and",
            ReduceOp::Or => "or",
            ReduceOp::Xor => "xor",
        }
    }

    /// The operator of this name.
    pub fn from_name(name: &str) -> Option<ReduceOp> {
        ReduceOp::ALL.into_iter().find(|op| op.name() == name)
    }

    /// Element formats of the tensor map that the operator takes. The instruction itself has no type, so that ptxas
    /// cannot check it.
    pub const fn formats(self) -> &'static [Format] {
        match self {
            ReduceOp::Add => &[
                Format::U32,
                Format::S32,
                Format::U64,
                Format::F16,
                Format::Bf16,
                Format::F32,
                Format::F32Ftz,
            ],
            ReduceOp::Min | ReduceOp::Max => &[
                Format::U32,
                Format::S32,
                Format::U64,
                Format::S64,
                Format::F16,
                Format::Bf16,
            ],
            ReduceOp::Inc | ReduceOp::Dec => &[Format::U32],
            // Of s64, an H200 refuses them as an illegal instruction.
            ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => &[Format::U32, Format::S32, Format::U64],
        }
    }
}
