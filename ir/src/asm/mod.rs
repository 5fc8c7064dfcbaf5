//! Reading and writing the textual form: [`Parser`] and [`OpParser`], [`Printer`], and the declarative [`format`](mod@format).
pub mod format;
mod parser;
mod printer;
pub use parser::{Delimiter, OpParser, Operand, Parser, RegionArgument, SourceLoc, Token};
pub use printer::Printer;
