//! MLIR's assembly parser, for types and attributes ([`Parser`]) and for ops ([`OpParser`]).
use crate::{
    diag::{Diag, Place, Reported, Res, guard},
    raw::{self, Ptr, sr},
};
use melior::{
    ContextRef,
    ir::{Attribute, AttributeLike, Location, RegionRef, Type, TypeLike, Value},
};
use mlir_sys::*;
use std::{ffi::c_char, marker::PhantomData};

/// Punctuation. The order is the shim's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Token {
    Arrow,
    LBrace,
    RBrace,
    Colon,
    Comma,
    Equal,
    Less,
    Greater,
    Question,
    Plus,
    Slash,
    Minus,
    Star,
    VerticalBar,
    LParen,
    RParen,
    LSquare,
    RSquare,
    Ellipsis,
}

impl Token {
    /// Every token with its spelling.
    pub const ALL: [(Token, &'static str); 19] = [
        (Token::Arrow, "->"),
        (Token::LBrace, "{"),
        (Token::RBrace, "}"),
        (Token::Colon, ":"),
        (Token::Comma, ","),
        (Token::Equal, "="),
        (Token::Less, "<"),
        (Token::Greater, ">"),
        (Token::Question, "?"),
        (Token::Plus, "+"),
        (Token::Slash, "/"),
        (Token::Minus, "-"),
        (Token::Star, "*"),
        (Token::VerticalBar, "|"),
        (Token::LParen, "("),
        (Token::RParen, ")"),
        (Token::LSquare, "["),
        (Token::RSquare, "]"),
        (Token::Ellipsis, "..."),
    ];
    /// The token spelled `s`.
    pub fn from_spelling(s: &str) -> Option<Token> {
        Token::ALL.iter().find(|(_, x)| *x == s).map(|(t, _)| *t)
    }
}

/// Brackets around a list. The order is MLIR's `AsmParser::Delimiter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Delimiter {
    None,
    Paren,
    Square,
    LessGreater,
    Braces,
    OptionalParen,
    OptionalSquare,
    OptionalLessGreater,
    OptionalBraces,
}

/// A place in the source text.
#[derive(Clone, Copy, Debug)]
pub struct SourceLoc(*const c_char);

/// An operand as written, before its type is known.
#[derive(Clone, Copy, Debug)]
pub struct Operand(pub(crate) raw::Operand);

/// A region argument as written.
#[derive(Clone, Copy, Debug)]
pub struct RegionArgument<'c>(pub(crate) raw::Argument, PhantomData<&'c ()>);

impl<'c> RegionArgument<'c> {
    /// An argument that takes its name from an operand-like `%name` and its type from elsewhere.
    pub fn new(name: Operand, ty: Type<'c>) -> Self {
        RegionArgument(
            raw::Argument {
                name: name.0,
                ty: ty.to_raw(),
            },
            PhantomData,
        )
    }
    /// The same argument with a type.
    pub fn with_type(self, ty: Type<'c>) -> Self {
        RegionArgument(
            raw::Argument {
                ty: ty.to_raw(),
                ..self.0
            },
            PhantomData,
        )
    }
    /// The argument's name without `%`.
    pub fn name(&self) -> String {
        unsafe { raw::from_sr(self.0.name.name) }
            .trim_start_matches('%')
            .to_owned()
    }
    /// The argument's type, if it was written with one.
    pub fn ty(&self) -> Option<Type<'c>> {
        (!self.0.ty.ptr.is_null()).then(|| unsafe { Type::from_raw(self.0.ty) })
    }
}

fn ok(b: bool) -> Res {
    if b { Ok(()) } else { Err(Reported) }
}
fn tri(r: i32) -> Res<bool> {
    match r {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Reported),
    }
}
const NO_TYPE: MlirType = MlirType { ptr: std::ptr::null() };
const NO_ATTR: MlirAttribute = MlirAttribute { ptr: std::ptr::null() };

/// A parser within a type, an attribute or an op. Whatever fails has reported its error.
#[derive(Clone, Copy)]
pub struct Parser<'c> {
    raw: Ptr,
    _context: PhantomData<&'c ()>,
}

impl<'c> Parser<'c> {
    pub(crate) fn new(raw: Ptr) -> Self {
        Parser {
            raw,
            _context: PhantomData,
        }
    }
    /// The context that types and attributes are made in.
    pub fn context(&self) -> &'c melior::Context {
        crate::context(unsafe { ContextRef::from_raw(raw::girih_parser_context(self.raw)) })
    }
    /// Requires a token.
    pub fn token(&self, t: Token) -> Res {
        ok(unsafe { raw::girih_parse_token(self.raw, t as i32, false) })
    }
    /// Takes a token if it is next.
    pub fn optional_token(&self, t: Token) -> bool {
        unsafe { raw::girih_parse_token(self.raw, t as i32, true) }
    }
    /// Requires a keyword.
    pub fn keyword(&self, k: &str) -> Res {
        ok(unsafe { raw::girih_parse_keyword(self.raw, sr(k), false) })
    }
    /// Takes a keyword if it is next.
    pub fn optional_keyword(&self, k: &str) -> bool {
        unsafe { raw::girih_parse_keyword(self.raw, sr(k), true) }
    }
    /// Requires any keyword.
    pub fn any_keyword(&self) -> Res<String> {
        let mut s = sr("");
        tri(unsafe { raw::girih_parse_any_keyword(self.raw, false, &mut s) })?;
        Ok(unsafe { raw::from_sr(s) }.to_owned())
    }
    /// Takes a keyword if one is next.
    pub fn optional_any_keyword(&self) -> Res<Option<String>> {
        let mut s = sr("");
        let found = tri(unsafe { raw::girih_parse_any_keyword(self.raw, true, &mut s) })?;
        Ok(found.then(|| unsafe { raw::from_sr(s) }.to_owned()))
    }
    /// Requires an integer, decimal or hexadecimal, possibly negative, that fits i64.
    pub fn integer(&self) -> Res<i64> {
        let mut v = 0;
        tri(unsafe { raw::girih_parse_integer(self.raw, false, &mut v) })?;
        Ok(v)
    }
    /// Takes an integer if one is next.
    pub fn optional_integer(&self) -> Res<Option<i64>> {
        let mut v = 0;
        Ok(tri(unsafe { raw::girih_parse_integer(self.raw, true, &mut v) })?.then_some(v))
    }
    /// Requires a floating-point literal.
    pub fn float(&self) -> Res<f64> {
        let mut v = 0.0;
        ok(unsafe { raw::girih_parse_float(self.raw, &mut v) })?;
        Ok(v)
    }
    /// Requires a quoted string that is UTF-8.
    pub fn string(&self) -> Res<String> {
        let at = self.loc();
        let mut s: Vec<u8> = vec![];
        tri(unsafe { raw::girih_parse_string(self.raw, false, (&raw mut s).cast(), raw::push_bytes) })?;
        String::from_utf8(s).or_else(|_| self.error(at, "expected a string in UTF-8").report())
    }
    /// Requires `@name`; gives the name as a string attribute.
    pub fn symbol(&self) -> Res<Attribute<'c>> {
        let mut a = NO_ATTR;
        tri(unsafe { raw::girih_parse_symbol(self.raw, false, &mut a) })?;
        Ok(unsafe { Attribute::from_raw(a) })
    }
    /// Takes `@name` if it is next.
    pub fn optional_symbol(&self) -> Res<Option<Attribute<'c>>> {
        let mut a = NO_ATTR;
        let found = tri(unsafe { raw::girih_parse_symbol(self.raw, true, &mut a) })?;
        Ok(found.then(|| unsafe { Attribute::from_raw(a) }))
    }
    /// Requires a dimension list such as `4x?x8x` (trailing `x` if asked). A dynamic size is `i64::MIN`.
    pub fn dims(&self, allow_dynamic: bool, trailing_x: bool) -> Res<Vec<i64>> {
        let mut v: Vec<i64> = vec![];
        let sink = (&raw mut v).cast();
        ok(unsafe { raw::girih_parse_dims(self.raw, allow_dynamic, trailing_x, sink, raw::push_i64) })?;
        Ok(v)
    }
    /// Requires a type.
    pub fn ty(&self) -> Res<Type<'c>> {
        let mut t = NO_TYPE;
        tri(unsafe { raw::girih_parse_type(self.raw, false, &mut t) })?;
        Ok(unsafe { Type::from_raw(t) })
    }
    /// Takes a type if one is next.
    pub fn optional_ty(&self) -> Res<Option<Type<'c>>> {
        let mut t = NO_TYPE;
        let found = tri(unsafe { raw::girih_parse_type(self.raw, true, &mut t) })?;
        Ok(found.then(|| unsafe { Type::from_raw(t) }))
    }
    /// Requires an attribute; a number without a type gets `ty`.
    pub fn attribute(&self, ty: Option<Type<'c>>) -> Res<Attribute<'c>> {
        let mut a = NO_ATTR;
        let ty = ty.map_or(NO_TYPE, |t| t.to_raw());
        tri(unsafe { raw::girih_parse_attribute(self.raw, false, ty, &mut a) })?;
        Ok(unsafe { Attribute::from_raw(a) })
    }
    /// Takes an attribute if one is next.
    pub fn optional_attribute(&self, ty: Option<Type<'c>>) -> Res<Option<Attribute<'c>>> {
        let mut a = NO_ATTR;
        let ty = ty.map_or(NO_TYPE, |t| t.to_raw());
        let found = tri(unsafe { raw::girih_parse_attribute(self.raw, true, ty, &mut a) })?;
        Ok(found.then(|| unsafe { Attribute::from_raw(a) }))
    }
    /// A comma-separated list.
    pub fn list<T>(&self, delimiter: Delimiter, element: impl FnMut() -> Res<T>) -> Res<Vec<T>> {
        struct State<T, F> {
            parser: Ptr,
            items: Vec<T>,
            element: F,
        }
        extern "C" fn call<T, F: FnMut() -> Res<T>>(data: Ptr) -> bool {
            let s = unsafe { &mut *data.cast::<State<T, F>>() };
            guard("list parser", Place::Parser(s.parser), false, || {
                (s.element)().map(|x| s.items.push(x)).is_ok()
            })
        }
        fn run<T, F: FnMut() -> Res<T>>(p: Ptr, delimiter: Delimiter, element: F) -> Res<Vec<T>> {
            let mut s = State {
                parser: p,
                items: vec![],
                element,
            };
            ok(unsafe { raw::girih_parse_list(p, delimiter as i32, (&raw mut s).cast(), call::<T, F>) })?;
            Ok(s.items)
        }
        run(self.raw, delimiter, element)
    }
    /// Where the next token starts.
    pub fn loc(&self) -> SourceLoc {
        SourceLoc(unsafe { raw::girih_parser_loc(self.raw) })
    }
    /// Where the name of what is being parsed starts.
    pub fn name_loc(&self) -> SourceLoc {
        SourceLoc(unsafe { raw::girih_parser_name_loc(self.raw) })
    }
    /// A place as a location attribute.
    pub fn location(&self, at: SourceLoc) -> Location<'c> {
        unsafe { Location::from_raw(raw::girih_parser_encode_loc(self.raw, at.0)) }
    }
    /// An error at a place.
    pub fn error(&self, at: SourceLoc, message: impl AsRef<str>) -> Diag {
        Diag::from_raw(unsafe { raw::girih_diag_parser(self.raw, at.0, sr(message.as_ref())) })
    }
}

/// A parser within an op: what it finds goes into the op under construction.
#[derive(Clone, Copy)]
pub struct OpParser<'c> {
    parser: Parser<'c>,
    state: Ptr,
}

impl<'c> std::ops::Deref for OpParser<'c> {
    type Target = Parser<'c>;
    fn deref(&self) -> &Parser<'c> {
        &self.parser
    }
}

impl<'c> OpParser<'c> {
    pub(crate) fn new(parser: Ptr, state: Ptr) -> Self {
        OpParser {
            parser: Parser::new(parser),
            state,
        }
    }
    /// Requires `%operand`.
    pub fn operand(&self) -> Res<Operand> {
        let mut o = std::mem::MaybeUninit::uninit();
        tri(unsafe { raw::girih_parse_operand(self.parser.raw, false, o.as_mut_ptr()) })?;
        Ok(Operand(unsafe { o.assume_init() }))
    }
    /// Takes `%operand` if it is next.
    pub fn optional_operand(&self) -> Res<Option<Operand>> {
        let mut o = std::mem::MaybeUninit::uninit();
        let found = tri(unsafe { raw::girih_parse_operand(self.parser.raw, true, o.as_mut_ptr()) })?;
        Ok(found.then(|| Operand(unsafe { o.assume_init() })))
    }
    /// Adds an operand to the op, with its type.
    pub fn resolve(&self, operand: Operand, ty: Type<'c>) -> Res {
        ok(unsafe { raw::girih_resolve_operand(self.parser.raw, self.state, operand.0, ty.to_raw()) })
    }
    /// Requires `%argument`, with `: type` if asked.
    pub fn argument(&self, with_type: bool) -> Res<RegionArgument<'c>> {
        let mut a = std::mem::MaybeUninit::uninit();
        ok(unsafe { raw::girih_parse_argument(self.parser.raw, with_type, a.as_mut_ptr()) })?;
        Ok(RegionArgument(unsafe { a.assume_init() }, PhantomData))
    }
    /// Takes `%argument` if it is next.
    pub fn optional_argument(&self, with_type: bool) -> Res<Option<RegionArgument<'c>>> {
        let mut a = std::mem::MaybeUninit::uninit();
        let found = tri(unsafe { raw::girih_parse_optional_argument(self.parser.raw, with_type, a.as_mut_ptr()) })?;
        Ok(found.then(|| RegionArgument(unsafe { a.assume_init() }, PhantomData)))
    }
    /// Adds a region whose entry block has these arguments, and parses its body.
    pub fn region(&self, arguments: &[RegionArgument<'c>]) -> Res<RegionRef<'c, 'c>> {
        let args: Vec<_> = arguments.iter().map(|a| a.0).collect();
        let n = self.region_count();
        tri(unsafe {
            raw::girih_parse_region(self.parser.raw, self.state, false, args.len() as isize, args.as_ptr())
        })?;
        Ok(self.region_at(n))
    }
    /// Adds a region that stays empty.
    pub fn empty_region(&self) -> RegionRef<'c, 'c> {
        let n = self.region_count();
        unsafe { raw::girih_state_add_region(self.state) };
        self.region_at(n)
    }
    /// Adds a region and parses its body if a `{` is next; else adds none.
    pub fn region_if_present(&self, arguments: &[RegionArgument<'c>]) -> Res<Option<RegionRef<'c, 'c>>> {
        let args: Vec<_> = arguments.iter().map(|a| a.0).collect();
        let n = self.region_count();
        let found = tri(unsafe {
            raw::girih_parse_region(self.parser.raw, self.state, true, args.len() as isize, args.as_ptr())
        })?;
        Ok(found.then(|| self.region_at(n)))
    }
    /// Adds a region, and parses its body if a `{` is next; else it stays empty.
    pub fn optional_region(&self, arguments: &[RegionArgument<'c>]) -> Res<Option<RegionRef<'c, 'c>>> {
        let found = self.region_if_present(arguments)?;
        if found.is_none() {
            self.empty_region();
        }
        Ok(found)
    }
    fn region_count(&self) -> usize {
        let mut n = 0;
        while unsafe { !raw::girih_state_region(self.state, n).ptr.is_null() } {
            n += 1;
        }
        n as usize
    }
    /// The region that was added `index`-th.
    pub fn region_at(&self, index: usize) -> RegionRef<'c, 'c> {
        unsafe { RegionRef::from_raw(raw::girih_state_region(self.state, index as isize)) }
    }
    /// Gives a region the terminator `op_name` where it has none.
    pub fn ensure_terminator(&self, region: RegionRef<'c, '_>, op_name: &str) {
        use melior::ir::RegionLike;
        unsafe { raw::girih_region_ensure_terminator(region.to_raw(), sr(op_name), raw::girih_state_loc(self.state)) }
    }
    /// Requires `^block`.
    pub fn successor(&self) -> Res {
        tri(unsafe { raw::girih_parse_successor(self.parser.raw, self.state, false) }).map(|_| ())
    }
    /// Takes `^block` if it is next.
    pub fn optional_successor(&self) -> Res<bool> {
        tri(unsafe { raw::girih_parse_successor(self.parser.raw, self.state, true) })
    }
    /// Takes `{attributes}` if it is next.
    pub fn attr_dict(&self) -> Res {
        ok(unsafe { raw::girih_parse_attr_dict(self.parser.raw, self.state, false) })
    }
    /// Takes `attributes {...}` if it is next.
    pub fn attr_dict_with_keyword(&self) -> Res {
        ok(unsafe { raw::girih_parse_attr_dict(self.parser.raw, self.state, true) })
    }
    /// Adds a result.
    pub fn add_result(&self, ty: Type<'c>) {
        unsafe { raw::girih_state_add_type(self.state, ty.to_raw()) }
    }
    /// Sets an attribute.
    pub fn set_attribute(&self, name: &str, value: Attribute<'c>) {
        unsafe { raw::girih_state_add_attr(self.state, sr(name), value.to_raw()) }
    }
    /// An attribute set so far.
    pub fn get_attribute(&self, name: &str) -> Option<Attribute<'c>> {
        unsafe { Attribute::from_option_raw(raw::girih_state_attr(self.state, sr(name))) }
    }
    /// The operands resolved so far.
    pub fn operands(&self) -> Vec<Value<'c, 'c>> {
        let mut p = std::ptr::null();
        let n = unsafe { raw::girih_state_operands(self.state, &mut p) };
        (0..n as usize).map(|i| unsafe { Value::from_raw(*p.add(i)) }).collect()
    }
    /// The location of the op being parsed.
    pub fn op_location(&self) -> Location<'c> {
        unsafe { Location::from_raw(raw::girih_state_loc(self.state)) }
    }
}
