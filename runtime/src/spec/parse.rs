//! The grammar of SPEC:
//!
//! ```text
//! spec      = path [ "[" memory "]" ] | dtype ":" number | generator ":" dtype "[" [ sizes ] [ ";" memory ] "]"
//! path      = text that ends in ".npy"
//! generator = name [ "(" [ name "=" ] number { "," ... } ")" ]
//! sizes     = integer { "," integer }
//! memory    = ( "pitch" | "offset" ) "=" integer { "," ... }
//! ```
use super::{Generator, Kind, Memory, Number, Scalar, SpecError};
use crate::array::{encode_f64, encode_i64};
use girih_core::dtype::DType;

const GENERATORS: &str = "randn, uniform, zeros, ones, iota, full, poison, empty";

/// A place in the text. Columns count characters.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

type Result<T> = std::result::Result<T, SpecError>;

pub(super) fn parse(text: &str) -> Result<Kind> {
    let mut cursor = Cursor { text, at: 0 };
    if let Some(end) = text.find(".npy") {
        let (path, rest) = text.split_at(end + 4);
        if rest.is_empty() || rest.starts_with('[') {
            cursor.at = path.len();
            let mut memory = Memory::default();
            if cursor.eat('[') {
                memory = cursor.memory()?;
            }
            cursor.end()?;
            return Ok(Kind::File {
                path: path.into(),
                memory,
            });
        }
    }
    let head = cursor.word();
    if head.is_empty() {
        return cursor.fail(
            0,
            format!("expected a generator ({GENERATORS}), an element type or a .npy file"),
        );
    }
    if let Ok(dtype) = head.parse::<DType>() {
        cursor.expect(':')?;
        return cursor.scalar(dtype).map(Kind::Scalar);
    }
    let parameters = cursor.parameters()?;
    let generator = generator(&cursor, head, parameters)?;
    cursor.expect(':')?;
    let start = cursor.at;
    let name = cursor.word();
    let dtype = name.parse::<DType>().or_else(|message| cursor.fail(start, message))?;
    cursor.expect('[')?;
    let mut shape = Vec::new();
    let mut memory = Memory::default();
    if !cursor.peek_is(';') && !cursor.peek_is(']') {
        shape.push(cursor.integer("a size")?);
        while cursor.eat(',') {
            shape.push(cursor.integer("a size")?);
        }
    }
    if cursor.eat(';') {
        memory = cursor.memory()?;
    } else {
        cursor.expect(']')?;
    }
    cursor.end()?;
    Ok(Kind::Generated {
        generator,
        dtype,
        shape,
        memory,
    })
}

/// One parameter: name (empty when positional), value, where each begins.
struct Parameter<'a> {
    name: &'a str,
    value: &'a str,
    name_at: usize,
    value_at: usize,
}

fn generator(cursor: &Cursor<'_>, name: &str, parameters: Vec<Parameter<'_>>) -> Result<Generator> {
    let names: &[&str] = match name {
        "randn" => &["mean", "std", "seed"],
        "uniform" => &["low", "high", "seed"],
        "iota" => &["start", "step"],
        "full" => &["value"],
        "zeros" | "ones" | "poison" | "empty" => &[],
        _ if cursor.text.contains('/') || cursor.text.contains('\\') => {
            return cursor.fail(
                0,
                format!("expected a generator ({GENERATORS}) or a file that ends in .npy"),
            );
        }
        _ => return cursor.fail(0, format!("unknown generator `{name}`; expected one of {GENERATORS}")),
    };
    let mut values: [Option<(Number, usize)>; 3] = [None; 3];
    for (position, parameter) in parameters.iter().enumerate() {
        let slot = match parameter.name {
            "" => (position < names.len()).then_some(position),
            given => names.iter().position(|known| *known == given),
        };
        let Some(slot) = slot else {
            let known = if names.is_empty() {
                "nothing".to_owned()
            } else {
                names.join(", ")
            };
            return cursor.fail(parameter.name_at, format!("`{name}` takes {known} in its parentheses"));
        };
        if values[slot].is_some() {
            return cursor.fail(parameter.name_at, format!("{} is given twice", names[slot]));
        }
        let Some(number) = number(parameter.value) else {
            return cursor.fail(
                parameter.value_at,
                format!("expected a number, found `{}`", parameter.value),
            );
        };
        values[slot] = Some((number, parameter.value_at));
    }
    let float = |slot: usize| values[slot].map(|(number, _)| number.to_f64());
    let seed = || match values[2] {
        None => Ok(None),
        Some((Number::Integer(seed), _)) if seed >= 0 => Ok(Some(seed as u64)),
        Some((_, at)) => cursor.fail(at, "seed must be an integer of 0 or more".to_owned()),
    };
    Ok(match name {
        "randn" => Generator::Randn {
            mean: float(0).unwrap_or(0.0),
            std: float(1).unwrap_or(1.0),
            seed: seed()?,
        },
        "uniform" => {
            let (low, high) = (float(0), float(1));
            if [low, high].into_iter().flatten().any(|bound| !bound.is_finite()) {
                return cursor.fail(0, "low and high must be finite".to_owned());
            }
            if low.zip(high).is_some_and(|(low, high)| low > high) {
                return cursor.fail(0, "low must not be above high".to_owned());
            }
            Generator::Uniform {
                low,
                high,
                seed: seed()?,
            }
        }
        "iota" => {
            let number = |slot: usize, default| values[slot].map_or(Number::Integer(default), |(number, _)| number);
            Generator::Iota {
                start: number(0, 0),
                step: number(1, 1),
            }
        }
        "zeros" => Generator::Full(Number::Integer(0)),
        "ones" => Generator::Full(Number::Integer(1)),
        "full" => match values[0] {
            Some((value, _)) => Generator::Full(value),
            None => return cursor.fail(0, "`full` needs its value: full(3.5):f32[8]".to_owned()),
        },
        _ => Generator::Poison,
    })
}

/// A number; integers also in hexadecimal.
fn number(text: &str) -> Option<Number> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    if let Some(hex) = digits.strip_prefix("0x") {
        let value = i64::try_from(u64::from_str_radix(hex, 16).ok()?).ok()?;
        return Some(Number::Integer(if negative { -value } else { value }));
    }
    text.parse()
        .map(Number::Integer)
        .or_else(|_| text.parse().map(Number::Float))
        .ok()
}

impl<'a> Cursor<'a> {
    fn fail<T>(&self, at: usize, message: String) -> Result<T> {
        let column = self.text[..at].chars().count() + 1;
        Err(SpecError {
            text: self.text.to_owned(),
            column,
            message,
        })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek_is(&self, c: char) -> bool {
        self.rest().starts_with(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek_is(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn found(&self) -> String {
        self.rest()
            .chars()
            .next()
            .map_or("the end".to_owned(), |c| format!("`{c}`"))
    }

    fn expect(&mut self, c: char) -> Result<()> {
        if self.eat(c) {
            Ok(())
        } else {
            self.fail(self.at, format!("expected `{c}`, found {}", self.found()))
        }
    }

    fn end(&self) -> Result<()> {
        if self.rest().is_empty() {
            return Ok(());
        }
        self.fail(self.at, format!("expected the end, found {}", self.found()))
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn word(&mut self) -> &'a str {
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    fn integer(&mut self, what: &str) -> Result<u64> {
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_alphanumeric() || "-+._".contains(c));
        if digits.is_empty() {
            return self.fail(start, format!("expected {what}, found {}", self.found()));
        }
        match digits.parse::<u64>() {
            Ok(value) if value <= i64::MAX as u64 => Ok(value),
            _ => self.fail(
                start,
                format!("expected {what} between 0 and {}, found `{digits}`", i64::MAX),
            ),
        }
    }

    /// `pitch=264,offset=16]`
    fn memory(&mut self) -> Result<Memory> {
        let mut memory = Memory::default();
        loop {
            let start = self.at;
            let key = self.word();
            if !["pitch", "offset"].contains(&key) {
                return self.fail(start, "expected pitch=ELEMENTS or offset=BYTES".to_owned());
            }
            self.expect('=')?;
            let at = self.at;
            match key {
                "pitch" => {
                    memory.pitch = Some((
                        self.integer("a pitch in elements")?,
                        self.text[..at].chars().count() + 1,
                    ))
                }
                _ => memory.offset_bytes = self.integer("an offset in bytes")?,
            }
            if self.eat(',') {
                continue;
            }
            return self.expect(']').map(|()| memory);
        }
    }

    fn parameters(&mut self) -> Result<Vec<Parameter<'a>>> {
        let mut parameters = Vec::new();
        if !self.eat('(') {
            return Ok(parameters);
        }
        while !self.eat(')') {
            let name_at = self.at;
            let mut value_at = self.at;
            let accept = |c: char| c.is_ascii_alphanumeric() || "-+._".contains(c);
            let mut value = self.take_while(accept);
            let mut name = "";
            if self.eat('=') {
                name = value;
                value_at = self.at;
                value = self.take_while(accept);
            }
            parameters.push(Parameter {
                name,
                value,
                name_at,
                value_at,
            });
            if !self.eat(',') && !self.peek_is(')') {
                return self.fail(self.at, format!("expected `,` or `)`, found {}", self.found()));
            }
        }
        Ok(parameters)
    }

    fn scalar(&mut self, dtype: DType) -> Result<Scalar> {
        let (start, text) = (self.at, self.rest());
        let mut bytes = [0u8; 8];
        let out = &mut bytes[..dtype.bytes() as usize];
        let value = match text {
            "true" if dtype == DType::I1 => Some(Number::Integer(1)),
            "false" if dtype == DType::I1 => Some(Number::Integer(0)),
            _ => number(text),
        };
        let fits = match value {
            Some(Number::Integer(value)) => encode_i64(dtype, value, out),
            Some(Number::Float(value)) if dtype.is_float() => {
                encode_f64(dtype, value, out);
                true
            }
            _ => return self.fail(start, format!("expected a number of type {dtype}, found `{text}`")),
        };
        if !fits {
            return self.fail(start, format!("`{text}` does not fit in {dtype}"));
        }
        Ok(Scalar {
            dtype,
            bits: u64::from_le_bytes(bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn errors_point_at_the_column() {
        for (text, column, message) in [
            ("", 1, "expected a generator"),
            (
                "randm:f32[4]",
                1,
                "unknown generator `randm`; expected one of randn, uniform",
            ),
            (
                "dir/x.bin",
                1,
                "expected a generator (randn, uniform, zeros, ones, iota, full, poison, empty) or a file",
            ),
            ("randn f32[4]", 6, "expected `:`, found ` `"),
            (
                "randn:bf17[4]",
                7,
                "unknown element type `bf17`; expected one of i1, i8",
            ),
            ("randn:f32", 10, "expected `[`, found the end"),
            ("randn:f32[4,]", 13, "expected a size, found `]`"),
            (
                "randn:f32[-4]",
                11,
                "expected a size between 0 and 9223372036854775807, found `-4`",
            ),
            ("randn:f32[4", 12, "expected `]`, found the end"),
            ("randn:f32[4]x", 13, "expected the end, found `x`"),
            ("randn:f32[4;pich=4]", 13, "expected pitch=ELEMENTS or offset=BYTES"),
            ("randn:f32[4;pitch=]", 19, "expected a pitch in elements, found `]`"),
            (
                "randn(sed=3):f32[4]",
                7,
                "`randn` takes mean, std, seed in its parentheses",
            ),
            ("zeros(3):f32[4]", 7, "`zeros` takes nothing in its parentheses"),
            ("randn(seed=x):f32[4]", 12, "expected a number, found `x`"),
            ("randn(seed=1.5):f32[4]", 12, "seed must be an integer of 0 or more"),
            ("randn(1,2", 10, "expected `,` or `)`, found the end"),
            ("randn(std=1,std=2):f32[4]", 13, "std is given twice"),
            ("uniform(2,1):f32[4]", 1, "low must not be above high"),
            ("uniform(nan,1):f32[4]", 1, "low and high must be finite"),
            ("uniform(0,1e400):f32[4]", 1, "low and high must be finite"),
            ("full:f32[4]", 1, "`full` needs its value"),
            ("i32:4x", 5, "expected a number of type i32, found `4x`"),
            ("i32:1.5", 5, "expected a number of type i32, found `1.5`"),
            ("i8:256", 4, "`256` does not fit in i8"),
            ("i32:", 5, "expected a number of type i32, found ``"),
            ("x.npy[pitch=8", 14, "expected `]`, found the end"),
            ("ｒandn:f32[4]", 1, "expected a generator"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message.starts_with(message), "{text}: {error}");
            assert_eq!(error.column, column, "{error}");
        }
    }

    #[test]
    fn numbers_keep_their_bits() {
        let bits = |text: &str| match parse(text).unwrap() {
            Kind::Scalar(scalar) => scalar.bits,
            other => panic!("{other:?}"),
        };
        assert_eq!(bits("i32:-1"), 0xffff_ffff);
        assert_eq!(bits("i64:9223372036854775807"), i64::MAX as u64);
        assert_eq!(bits("i8:0xff"), 0xff);
        assert_eq!(bits("i1:true"), 1);
        assert_eq!(bits("f32:1.5"), 0x3fc0_0000);
        assert_eq!(bits("bf16:2"), 0x4000);
        assert_eq!(bits("f32:inf"), 0x7f80_0000);
    }

    proptest! {
        #[test]
        fn no_text_brings_the_parser_down(text in "\\PC{0,40}") {
            if let Err(error) = parse(&text) {
                prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1, "{error}");
            }
        }

        #[test]
        fn nor_does_one_that_looks_like_a_spec(text in "[rand]{0,5}[(]?[se=d0-9,.]{0,6}[)]?:?(bf16|i8|x)?[\\[]?[0-9,;pitch=]{0,12}]?") {
            if let Err(error) = parse(&text) {
                prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1, "{error}");
            }
        }
    }
}
