//! PTX text as a tree: what the grammar gives and the decoder takes. Names borrow from the text.
mod error;
mod grammar;
mod source;

pub use error::{Position, PtxError};
pub use grammar::parse;
pub use source::{File, Location, Mark, SourceLines};

/// One `.ptx` text.
#[derive(Clone, Debug, Default)]
pub struct Module<'a> {
    /// Operands of `.version`, such as `(9, 0)`.
    pub version: (u32, u32),
    /// Operands of `.target`.
    pub targets: Vec<&'a str>,
    /// Variables and functions in order.
    pub items: Vec<Item<'a>>,
}

/// What stands at module scope.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// Variables of one declaration.
    Variables(Vec<Variable<'a>>),
    /// A kernel or a function, perhaps only declared.
    Function(Function<'a>),
    /// `.alias new, old`.
    Alias(&'a str, &'a str),
    /// `.file`
    File(File),
    /// A directive without effect on execution.
    Ignored,
}

/// State spaces that variables are declared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Space {
    Reg,
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// A declared variable.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// State space.
    pub space: Space,
    /// `.extern`, `.common` or `.weak` stood before it.
    pub external: bool,
    /// Operand of `.align`.
    pub align: Option<u32>,
    /// 1, 2 or 4.
    pub lanes: u32,
    /// Type without its dot, such as `b32` or `texref`.
    pub ty: &'a str,
    /// Name as written.
    pub name: &'a str,
    /// `n` of `name<n>`: the variables `name0` to `name(n-1)`.
    pub count: Option<u32>,
    /// Array dimensions; `None` is `[]`.
    pub dims: Vec<Option<u64>>,
    /// Initialiser.
    pub init: Option<Init<'a>>,
    /// Byte offset in the text.
    pub at: usize,
}

/// An initialiser.
#[derive(Clone, Debug)]
pub enum Init<'a> {
    /// One element.
    Value(Expr<'a>),
    /// `{ ... }`
    List(Vec<Init<'a>>),
}

/// A constant expression, at most one symbol plus a number once folded.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr<'a> {
    /// An integer literal or folded expression.
    Int(i64),
    /// Single-precision bits (`0f3F800000`).
    F32(u32),
    /// Double-precision bits (`0d...`, or a decimal float).
    F64(u64),
    /// A symbol's address plus an offset in bytes.
    Symbol(&'a str, i64),
    /// `generic(symbol)` plus an offset in bytes.
    Generic(&'a str, i64),
    /// `mask(expr)`: one byte of an address.
    Mask(u64, Box<Expr<'a>>),
}

/// A kernel (`.entry`) or function (`.func`).
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Whether it is `.entry`.
    pub entry: bool,
    /// Name.
    pub name: &'a str,
    /// Return parameters.
    pub returns: Vec<Variable<'a>>,
    /// Parameters.
    pub params: Vec<Variable<'a>>,
    /// Directives such as `.reqntid` with their numbers.
    pub directives: Vec<(&'a str, Vec<u32>)>,
    /// Statements; `None` for a declaration.
    pub body: Option<Vec<Statement<'a>>>,
    /// Byte offset in the text.
    pub at: usize,
}

/// A statement of a function body.
#[derive(Clone, Debug)]
pub enum Statement<'a> {
    /// `name:`
    Label(&'a str, usize),
    /// Variables and registers.
    Variables(Vec<Variable<'a>>),
    /// `{ ... }`
    Block(Vec<Statement<'a>>),
    /// `name: .branchtargets a, b;` or `.calltargets`.
    Targets(&'a str, Vec<&'a str>),
    /// `name: .callprototype ...;`
    Prototype(&'a str, Prototype<'a>),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// `.loc`
    Location(Location),
    /// `.file`
    File(File),
    /// A directive without effect on execution.
    Ignored,
}

/// A call prototype.
#[derive(Clone, Debug)]
pub struct Prototype<'a> {
    /// Return parameters.
    pub returns: Vec<Variable<'a>>,
    /// Parameters.
    pub params: Vec<Variable<'a>>,
}

/// An instruction as written.
#[derive(Clone, Debug)]
pub struct Instruction<'a> {
    /// `@p` or `@!p`: name and negation.
    pub guard: Option<(&'a str, bool)>,
    /// Opcode with all modifiers, such as `ld.global.v2.b32`.
    pub opcode: &'a str,
    /// Operands in order.
    pub operands: Vec<Operand<'a>>,
    /// Byte offset in the text.
    pub at: usize,
}

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A register, special register, label, variable or function, with an offset (0 when none is written).
    Name(&'a str, i64),
    /// `name.x`, `name.h0`, also `-name` (true) of the SIMD-within-scalar instructions.
    Part(&'a str, &'a str, bool),
    /// `!name`
    Not(&'a str),
    /// A literal.
    Literal(Expr<'a>),
    /// `a|b`
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `{a, b}`
    Vector(Vec<Operand<'a>>),
    /// `(a, b)`
    List(Vec<Operand<'a>>),
    /// `[a, b, ...]`
    Address(Vec<Operand<'a>>),
    /// `_`
    Sink,
}
