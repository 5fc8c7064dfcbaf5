//! A program of whole tiles: what is drawn, printed, interpreted and made small.
pub use girih_core::draw::Dice;
use girih_core::{dtype::DType, number::Rounding};

/// Number of a tile in [`Program::tiles`].
pub type Id = usize;

/// A tile's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    pub dtype: DType,
    pub shape: Vec<i64>,
}

impl Tile {
    pub fn new(dtype: DType, shape: &[i64]) -> Self {
        Tile {
            dtype,
            shape: shape.to_vec(),
        }
    }
    pub fn elements(&self) -> i64 {
        self.shape.iter().product()
    }
    /// Elements with each size the next power of two.
    pub fn padded_elements(&self) -> i64 {
        let padded = self.shape.iter().map(|s| s.unsigned_abs().next_power_of_two() as i64);
        padded.product()
    }
}

/// What an argument holds before the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Integers of at most this magnitude.
    Small(i64),
    /// Any bits; of floats some are small, some ordinary, and some anything.
    Wide,
    /// Numbers from 3 below 0 to 3 past this.
    Rows(i64),
    /// Each number below this once, as long as there are any.
    Order(i64),
    /// 0xAA in every byte.
    Poison,
}

/// A memref argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub dtype: DType,
    pub shape: Vec<i64>,
    pub strides: Vec<i64>,
    /// Which sizes and strides the type leaves out.
    pub dynamic_sizes: Vec<bool>,
    pub dynamic_strides: Vec<bool>,
    /// Whether the type leaves the strides to be those of a row-major array.
    pub plain: bool,
    pub offset_bytes: u64,
    pub content: Content,
    /// Of the numbers that it holds.
    pub seed: u64,
}

/// Where an index starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Constant(i64),
    /// An argument of type i64.
    Scalar(usize),
}

/// `base + block * (number of the block) + counter * (counter of the loop around)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    pub base: Base,
    pub block: i64,
    pub counter: i64,
}

/// Where a part of a tile starts along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// As the text says.
    Written(i64),
    /// As an index says.
    Index(Index),
}

/// A number that all threads know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Scalar(usize),
    Counter,
    Block,
}

/// What a branch asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A number is odd.
    Odd(Number),
    /// The one element of the operand, of type i1.
    Tile,
}

/// How elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combiner {
    /// By one op.
    One(&'static str),
    /// Two tiles, each by its own op.
    Two(&'static str, &'static str),
    /// The larger of two numbers, with its place; of equals the one whose place is first.
    Largest,
    /// Composition of two maps `x -> a x + b`: associative, not commutative.
    Compose,
    /// What came first.
    First,
    /// What came last.
    Last,
}

/// What an op does. Ops of arith and math are called by their names.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// With an operand, elements outside are as its own.
    Load {
        argument: usize,
        at: Vec<Index>,
        pad: Option<u64>,
    },
    Store {
        argument: usize,
        at: Vec<Index>,
    },
    Gather {
        argument: usize,
        at: Vec<Index>,
        pad: Option<u64>,
    },
    Scatter {
        argument: usize,
        at: Vec<Index>,
    },
    /// Operands: a tile, what it is compared with if `cas`, and numbers of rows if there is one index less than axes. A result
    /// is what was there.
    Atomic {
        argument: usize,
        at: Vec<Index>,
        kind: &'static str,
    },
    /// A buffer in shared memory that a tile is combined with. Operands: what it holds before, then as for `Atomic`. Results:
    /// what it holds then, and what was there if there are two.
    Shared {
        at: Vec<Index>,
        kind: &'static str,
        swizzle: &'static str,
    },
    Constant(u64),
    Iota(usize),
    /// A tile of a number, of type i32 or i64.
    Spread(Number),
    /// A tile of the one element of a tile without axes.
    Extract,
    ExpandDims(usize),
    Broadcast,
    Reshape,
    /// The same bits as numbers of another width, along this axis.
    Bitcast(usize),
    Transpose(Vec<usize>),
    Concat(usize),
    Slice {
        at: Vec<Start>,
        strides: Vec<i64>,
    },
    /// Operands: the part, and the tile that it goes into.
    Insert {
        at: Vec<Start>,
        strides: Vec<i64>,
    },
    Reduce {
        axis: usize,
        combiner: Combiner,
    },
    Scan {
        axis: usize,
        combiner: Combiner,
    },
    Unary(&'static str),
    Binary(&'static str),
    Compare(&'static str),
    Select,
    Fma,
    Cast(&'static str),
    /// `arith.truncf` that says how it rounds.
    Truncate(Rounding),
    /// `tile.cvt`, and whether with `satfinite`.
    Convert(Rounding, bool),
    /// A product, and which of its operands hold unsigned integers.
    Mma {
        unsigned: [bool; 2],
    },
    /// A product of numbers that lie in the bytes of its operands, as MLIR calls them, and what `tile.mma` says of bits.
    Packed {
        elements: [&'static str; 2],
        popc: &'static str,
        unsigned: [bool; 2],
    },
    /// Operands are the first values of what its region takes and yields. As an `scf.while` that counts by itself, if so.
    For {
        trips: Base,
        is_while: bool,
    },
    If {
        condition: Condition,
    },
    /// The region of a number, counted from 0; the last for all others.
    Switch(Number),
}

/// How many numbers of a type lie in a byte.
pub fn in_a_byte(element: &str) -> i64 {
    match element {
        "i4" | "f4E2M1FN" => 2,
        "i1" => 8,
        _ => 1,
    }
}

/// Ops inside another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    pub arguments: Vec<Id>,
    pub ops: Vec<Op>,
    pub yields: Vec<Id>,
}

/// A part of an argument, with its axes in another order: `memref.subview`, then `memref.transpose`.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Where it starts along each axis of the argument, and how many elements it has there, so many apart.
    pub at: Vec<Start>,
    pub sizes: Vec<Base>,
    pub steps: Vec<i64>,
    /// Axis of the argument that each of the view's is.
    pub order: Vec<usize>,
}

/// An op.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    pub kind: Kind,
    pub operands: Vec<Id>,
    pub results: Vec<Id>,
    pub regions: Vec<Region>,
    /// Whether the last operand says which elements an access moves.
    pub masked: bool,
    /// What of its argument a load or store sees; all of it if there is none.
    pub view: Option<View>,
}

impl Op {
    pub fn new(kind: Kind, operands: &[Id], results: &[Id]) -> Self {
        Op {
            kind,
            operands: operands.to_vec(),
            results: results.to_vec(),
            regions: vec![],
            masked: false,
            view: None,
        }
    }
}

/// A kernel of one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub seed: u64,
    pub target: &'static str,
    pub threads: u32,
    pub blocks: i64,
    pub arguments: Vec<Argument>,
    pub scalars: Vec<i64>,
    pub tiles: Vec<Tile>,
    pub ops: Vec<Op>,
}
