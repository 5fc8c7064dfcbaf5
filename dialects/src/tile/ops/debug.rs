//! What a kernel says while it runs: lines of text, and assertions that end it.
use super::{super::verify::on_device, kernel::MAX_THREADS};
use crate::nvvm::is_tf32;
use girih_ir::{
    asm::{OpParser, Printer, Token},
    constraint::{ANY, Constraint},
    kind::{I64, I64s, Kind, Str},
    op,
    op::OpView,
    prelude::*,
};

/// Most arguments of one `vprintf` (CUDA C++ Programming Guide, formatted output).
pub const MAX_ARGUMENTS: usize = 32;

/// A truth value, or a tile of them.
const TRUTH: Constraint = Constraint::new("i1 or a tile of i1", |t| {
    let is_truth = |t: Type<'_>| t.bit_width() == Some(1) && !t.is_float_type();
    match t.element_type() {
        Some(element) => t.is_ranked_tensor_type() && is_truth(element),
        None => is_truth(t),
    }
});

/// How an integer is written; a float has one way only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `{}`: signed decimal; an i1 is 0 or 1.
    Signed,
    /// `{:u}`: unsigned decimal.
    Unsigned,
    /// `{:x}`: hexadecimal.
    Hexadecimal,
}

/// A part of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands.
    Text(String),
    /// The next argument.
    Argument(Style),
}

/// The parts of a format, or what is wrong with it.
pub fn pieces(format: &str) -> Result<Vec<Piece>, String> {
    if format.contains('\0') {
        return Err("has a zero byte, at which text ends on the device; leave it out".to_owned());
    }
    let (mut pieces, mut text, mut rest) = (vec![], String::new(), format);
    while let Some(c) = rest.chars().next() {
        let styles = [
            ("{}", Style::Signed),
            ("{:u}", Style::Unsigned),
            ("{:x}", Style::Hexadecimal),
        ];
        if let Some((spelling, style)) = styles.into_iter().find(|(s, _)| rest.starts_with(s)) {
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(Piece::Argument(style));
            rest = &rest[spelling.len()..];
            continue;
        }
        if matches!(c, '{' | '}') {
            if !rest[1..].starts_with(c) {
                return Err(format!(
                    "has '{c}' at byte {}; write {{}}, {{:u}} or {{:x}} where an argument goes, and {c}{c} for the character",
                    format.len() - rest.len()
                ));
            }
            rest = &rest[1..];
        }
        text.push(c);
        rest = &rest[c.len_utf8()..];
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

op! {
    /// Prints lines of text from the device. Each `{}` of the format is the next argument: an integer of up to 64 bits
    /// (signed; `{:u}` unsigned, `{:x}` hexadecimal), an `index`, or a float of 16, 32 or 64 bits, with as many digits as tell
    /// different numbers apart. `{{` and `}}` are braces.
    ///
    /// With tiles it prints a line for each element, once, with its coordinates; the tiles have one shape. With numbers alone
    /// it prints one line where these and the way here are the same for all threads of the block or role (`speaker`, the thread
    /// that prints, which `convert-tile-to-nvvm` finds), else one for each thread that comes here. Lines say where they are from:
    ///
    /// ```text
    /// block (0, 0, 0): n = 4
    /// block (0, 0, 0), thread 5: t = 5
    /// block (0, 0, 0), [3]: x = 1.5
    /// ```
    ///
    /// A GPU writes them to standard output when the launch has ended, in any order, and drops the first where they are more
    /// than a megabyte; the simulator writes all, block by block and thread by thread. It becomes calls of `vprintf`.
    ///
    /// ```mlir
    /// %n = arith.constant 4 : index
    /// %i = tile.iota axis 0 : tensor<4xi32>
    /// tile.print "n = {}, i = {}, again {:x}", %n, %i, %i : index, tensor<4xi32>, tensor<4xi32>
    /// ```
    pub struct Print = "tile.print" {
        operands { arguments: variadic(ANY) }
        attributes {
            format: required(Str),
            /// The thread of the block that speaks for all.
            speaker: optional(I64),
            /// How many elements along each axis of the tiles are printed; all where it is left out. `tile-pad-tiles` sets it.
            extent: optional(I64s),
        }
        effects [read, write]
        format custom
        hooks {
            fn verify(self) -> Res { verify_print(self) }
            fn parse(p: &OpParser<'c>) -> Res {
                let format = p.string()?;
                p.set_attribute("format", Str::to_attribute(&format, p.context()));
                let mut arguments = vec![];
                while p.optional_token(Token::Comma) {
                    arguments.push(p.operand()?);
                }
                p.attr_dict()?;
                if !arguments.is_empty() {
                    p.token(Token::Colon)?;
                }
                for (i, argument) in arguments.into_iter().enumerate() {
                    if i > 0 {
                        p.token(Token::Comma)?;
                    }
                    let t = p.ty()?;
                    p.resolve(argument, t)?;
                }
                Ok(())
            }
            fn print(self, p: &Printer) {
                p.text(" ").string(&self.format());
                let arguments = self.arguments();
                for argument in &arguments {
                    p.text(", ").operand(*argument);
                }
                p.attr_dict(&self.op(), &["format"]);
                if !arguments.is_empty() {
                    p.text(" : ").types(arguments.iter().map(|a| a.r#type()));
                }
            }
        }
    }
}

op! {
    /// Ends the kernel where a condition is false, or an element of a tile of conditions: prints the message with its place in
    /// the source, the block, and the coordinates or the thread, and traps. `girih run` then fails. A launch with an assertion
    /// that fails leaves a GPU's context unusable, as CUDA's `assert` does. It becomes calls of `vprintf` and `__assertfail`.
    ///
    /// ```mlir
    /// %i = tile.iota axis 0 : tensor<4xi32>
    /// %limit = arith.constant dense<4> : tensor<4xi32>
    /// %inside = arith.cmpi slt, %i, %limit : tensor<4xi32>
    /// tile.assert %inside, "the row is inside" : tensor<4xi1>
    /// ```
    pub struct Assert = "tile.assert" {
        operands { condition: one(TRUTH) }
        attributes {
            message: required(Str),
            /// The thread of the block that speaks for all.
            speaker: optional(I64),
        }
        effects [read, write]
        format "$condition `,` $message attr-dict `:` type($condition)"
        hooks {
            fn verify(self) -> Res {
                let (op, mut errors) = (self.op(), Errors::default());
                errors.merge(on_device(op));
                if self.message().contains('\0') {
                    errors.op(&op, "the message has a zero byte, at which text ends on the device; leave it out");
                }
                check_speaker(op, self.speaker(), &[self.condition()], &mut errors);
                errors.result()
            }
        }
    }
}

fn check_speaker<'c>(op: OperationRef<'c, 'c>, speaker: Option<i64>, arguments: &[Value<'c, 'c>], errors: &mut Errors) {
    let Some(speaker) = speaker else { return };
    if arguments.iter().any(|a| a.r#type().is_ranked_tensor_type()) {
        let m = format!(
            "speaker = {speaker}, but it has tiles, each element of which is looked at once anyway; leave it out"
        );
        errors.op(&op, m);
    }
    if !(0..MAX_THREADS).contains(&speaker) {
        errors.op(
            &op,
            format!(
                "speaker = {speaker}, but the threads of a block are 0 to {}",
                MAX_THREADS - 1
            ),
        );
    }
}

/// Arguments of its own that a line has: the block, and a thread or coordinates.
pub fn own_arguments(rank: usize) -> usize {
    3 + rank.max(1)
}

fn verify_print<'c>(print: Print<'c, 'c>) -> Res {
    let (op, mut errors) = (print.op(), Errors::default());
    errors.merge(on_device(op));
    let arguments = print.arguments();
    let mut styles = vec![];
    match pieces(&print.format()) {
        Err(why) => errors.op(&op, format!("the format {why}")),
        Ok(pieces) => {
            styles.extend(pieces.iter().filter_map(|p| match p {
                Piece::Argument(style) => Some(*style),
                Piece::Text(_) => None,
            }));
            if styles.len() != arguments.len() {
                let m = format!(
                    "the format takes {} arguments, but {} are given",
                    styles.len(),
                    arguments.len()
                );
                errors.op(&op, m);
            }
        }
    }
    let mut tile: Option<Type> = None;
    for (i, argument) in arguments.iter().enumerate() {
        let t = argument.r#type();
        let number = if t.is_ranked_tensor_type() {
            t.element_type().unwrap_or(t)
        } else {
            t
        };
        let is_float = number.is_float_type();
        let printable = match number.bit_width() {
            Some(bits) => bits <= 64 && !is_tf32(number),
            None => number.is_index_type(),
        };
        if !printable {
            let remedy = if is_tf32(number) {
                "; widen it with arith.extf"
            } else {
                ""
            };
            let m = format!("prints integers and floats of up to 64 bits, and index, but argument {i} is {t}{remedy}");
            errors.op(&op, m);
        }
        if is_float && styles.get(i).is_some_and(|s| *s != Style::Signed) {
            errors.op(
                &op,
                format!("argument {i} is {t}, but {{:u}} and {{:x}} write integers; write {{}}"),
            );
        }
        if t.is_ranked_tensor_type() {
            match tile {
                Some(first) if first.shape() != t.shape() => {
                    errors.op(
                        &op,
                        format!("prints {first} and {t} in one line; the tiles must have one shape"),
                    );
                }
                _ => tile = Some(tile.unwrap_or(t)),
            }
        }
    }
    let own = own_arguments(tile.and_then(|t| t.shape()).map_or(0, |s| s.len()));
    if arguments.len() + own > MAX_ARGUMENTS {
        let m = format!(
            "has {} arguments, and {own} more say where the line is from, but a line has at most {MAX_ARGUMENTS}; print several",
            arguments.len()
        );
        errors.op(&op, m);
    }
    if let Some(extent) = print.extent() {
        let shape = tile.and_then(|t| t.shape()).unwrap_or_default();
        let inside = extent.iter().zip(&shape).all(|(n, size)| (0..=*size).contains(n));
        if extent.len() != shape.len() || !inside {
            errors.op(
                &op,
                format!("has extent {extent:?}, but prints tiles of {shape:?}; leave it out"),
            );
        }
    }
    check_speaker(op, print.speaker(), &arguments, &mut errors);
    errors.result()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_text_and_arguments() {
        let text = |t: &str| Piece::Text(t.to_owned());
        let parts = pieces("a{} {{x}} {:x}é").unwrap_or_default();
        let expected = [
            text("a"),
            Piece::Argument(Style::Signed),
            text(" {x} "),
            Piece::Argument(Style::Hexadecimal),
            text("é"),
        ];
        assert_eq!(parts, expected);
        assert_eq!(pieces(""), Ok(vec![]));
        for bad in ["{", "a}", "{y}", "{:d}"] {
            assert!(pieces(bad).is_err_and(|why| why.contains("at byte")), "{bad}");
        }
    }
}
