//! The kinds of value that an op's attribute or a type's parameter can have: how each is held as an MLIR attribute,
//! read and written bare (`swizzle = 128`), and what it is called in messages.
use crate::{
    asm::{Parser, Printer, Token},
    diag::Res,
};
use melior::{
    Context,
    ir::{
        Attribute, AttributeLike, Type, TypeLike,
        attribute::{
            BoolAttribute, DenseI64ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute, StringAttribute,
            TypeAttribute,
        },
        r#type::IntegerType,
    },
};
use mlir_sys::*;

/// One kind of value.
pub trait Kind {
    /// What accessors give and builders take.
    type Value<'c>;
    /// For messages: "a 64-bit integer".
    const WHAT: &'static str;
    /// Spellings that are allowed, each with its documentation, where they can be listed.
    const VALUES: &'static [(&'static str, &'static [&'static str])] = &[];
    /// Reads it from an attribute; `None` where the attribute is of another kind.
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<Self::Value<'c>>;
    /// Holds it as an attribute.
    fn to_attribute<'c>(v: &Self::Value<'c>, context: &'c Context) -> Attribute<'c>;
    /// Reads its bare form.
    fn parse<'c>(p: &Parser<'c>) -> Res<Self::Value<'c>>;
    /// Writes its bare form.
    fn print(v: &Self::Value<'_>, p: &Printer);
}

/// A 64-bit integer.
pub struct I64;
impl Kind for I64 {
    type Value<'c> = i64;
    const WHAT: &'static str = "a 64-bit integer";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<i64> {
        integer(a, 64)
    }
    fn to_attribute<'c>(v: &i64, context: &'c Context) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(context, 64).into(), *v).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<i64> {
        p.integer()
    }
    fn print(v: &i64, p: &Printer) {
        p.text(v.to_string());
    }
}

/// A 32-bit integer.
pub struct I32;
impl Kind for I32 {
    type Value<'c> = i32;
    const WHAT: &'static str = "a 32-bit integer";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<i32> {
        integer(a, 32).map(|v| v as i32)
    }
    fn to_attribute<'c>(v: &i32, context: &'c Context) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(context, 32).into(), i64::from(*v)).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<i32> {
        let at = p.loc();
        let v = p.integer()?;
        match i32::try_from(v) {
            Ok(v) => Ok(v),
            Err(_) => p.error(at, format!("expected a 32-bit integer, found {v}")).report(),
        }
    }
    fn print(v: &i32, p: &Printer) {
        p.text(v.to_string());
    }
}

fn integer(a: Attribute<'_>, bits: u32) -> Option<i64> {
    unsafe {
        if !mlirAttributeIsAInteger(a.to_raw()) {
            return None;
        }
        let t = mlirAttributeGetType(a.to_raw());
        (mlirTypeIsAInteger(t) && mlirIntegerTypeGetWidth(t) == bits).then(|| mlirIntegerAttrGetValueInt(a.to_raw()))
    }
}

/// `true` or `false`.
pub struct Bool;
impl Kind for Bool {
    type Value<'c> = bool;
    const WHAT: &'static str = "true or false";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<bool> {
        unsafe { mlirAttributeIsABool(a.to_raw()).then(|| mlirBoolAttrGetValue(a.to_raw())) }
    }
    fn to_attribute<'c>(v: &bool, context: &'c Context) -> Attribute<'c> {
        BoolAttribute::new(context, *v).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<bool> {
        if p.optional_keyword("true") {
            return Ok(true);
        }
        p.keyword("false").map(|()| false)
    }
    fn print(v: &bool, p: &Printer) {
        p.text(if *v { "true" } else { "false" });
    }
}

/// A string in UTF-8, quoted in the source.
pub struct Str;
impl Kind for Str {
    type Value<'c> = String;
    const WHAT: &'static str = "a string";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<String> {
        unsafe {
            if !mlirAttributeIsAString(a.to_raw()) {
                return None;
            }
            let bytes = crate::raw::bytes(mlirStringAttrGetValue(a.to_raw()));
            std::str::from_utf8(bytes).ok().map(str::to_owned)
        }
    }
    fn to_attribute<'c>(v: &String, context: &'c Context) -> Attribute<'c> {
        StringAttribute::new(context, v).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<String> {
        p.string()
    }
    fn print(v: &String, p: &Printer) {
        p.string(v);
    }
}

/// The name that a symbol op defines: `@name` in the source, a string attribute `sym_name` in the IR.
pub struct SymbolName;
impl Kind for SymbolName {
    type Value<'c> = String;
    const WHAT: &'static str = "a symbol name";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<String> {
        Str::from_attribute(a)
    }
    fn to_attribute<'c>(v: &String, context: &'c Context) -> Attribute<'c> {
        Str::to_attribute(v, context)
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<String> {
        Ok(Str::from_attribute(p.symbol()?).unwrap_or_default())
    }
    fn print(v: &String, p: &Printer) {
        p.symbol(v);
    }
}

/// A reference to a symbol: `@name`.
pub struct SymbolRef;
impl Kind for SymbolRef {
    type Value<'c> = String;
    const WHAT: &'static str = "a symbol reference";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<String> {
        unsafe {
            mlirAttributeIsAFlatSymbolRef(a.to_raw())
                .then(|| crate::raw::from_sr(mlirFlatSymbolRefAttrGetValue(a.to_raw())).to_owned())
        }
    }
    fn to_attribute<'c>(v: &String, context: &'c Context) -> Attribute<'c> {
        FlatSymbolRefAttribute::new(context, v).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<String> {
        SymbolName::parse(p)
    }
    fn print(v: &String, p: &Printer) {
        p.symbol(v);
    }
}

/// A list of 64-bit integers: `[1, 2, 3]`.
pub struct I64s;
impl Kind for I64s {
    type Value<'c> = Vec<i64>;
    const WHAT: &'static str = "a list of integers";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<Vec<i64>> {
        unsafe {
            mlirAttributeIsADenseI64Array(a.to_raw()).then(|| {
                (0..mlirDenseArrayGetNumElements(a.to_raw()))
                    .map(|i| mlirDenseI64ArrayGetElement(a.to_raw(), i))
                    .collect()
            })
        }
    }
    fn to_attribute<'c>(v: &Vec<i64>, context: &'c Context) -> Attribute<'c> {
        DenseI64ArrayAttribute::new(context, v).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<Vec<i64>> {
        p.list(crate::asm::Delimiter::Square, || p.integer())
    }
    fn print(v: &Vec<i64>, p: &Printer) {
        let items: Vec<_> = v.iter().map(i64::to_string).collect();
        p.text(format!("[{}]", items.join(", ")));
    }
}

/// A list of strings: `["a", "b"]`.
pub struct Strs;
impl Kind for Strs {
    type Value<'c> = Vec<String>;
    const WHAT: &'static str = "a list of strings";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<Vec<String>> {
        unsafe {
            if !mlirAttributeIsAArray(a.to_raw()) {
                return None;
            }
            (0..mlirArrayAttrGetNumElements(a.to_raw()))
                .map(|i| Str::from_attribute(Attribute::from_raw(mlirArrayAttrGetElement(a.to_raw(), i))))
                .collect()
        }
    }
    fn to_attribute<'c>(v: &Vec<String>, context: &'c Context) -> Attribute<'c> {
        let items: Vec<Attribute> = v.iter().map(|s| StringAttribute::new(context, s).into()).collect();
        melior::ir::attribute::ArrayAttribute::new(context, &items).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<Vec<String>> {
        p.list(crate::asm::Delimiter::Square, || p.string())
    }
    fn print(v: &Vec<String>, p: &Printer) {
        p.text("[");
        for (i, s) in v.iter().enumerate() {
            if i > 0 {
                p.text(", ");
            }
            p.string(s);
        }
        p.text("]");
    }
}

/// A type.
pub struct AnyType;
impl Kind for AnyType {
    type Value<'c> = Type<'c>;
    const WHAT: &'static str = "a type";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<Type<'c>> {
        unsafe { mlirAttributeIsAType(a.to_raw()).then(|| Type::from_raw(mlirTypeAttrGetValue(a.to_raw()))) }
    }
    fn to_attribute<'c>(v: &Type<'c>, _: &'c Context) -> Attribute<'c> {
        TypeAttribute::new(*v).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<Type<'c>> {
        p.ty()
    }
    fn print(v: &Type<'_>, p: &Printer) {
        p.ty(*v);
    }
}

/// Any attribute.
pub struct AnyAttr;
impl Kind for AnyAttr {
    type Value<'c> = Attribute<'c>;
    const WHAT: &'static str = "an attribute";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<Attribute<'c>> {
        Some(a)
    }
    fn to_attribute<'c>(v: &Attribute<'c>, _: &'c Context) -> Attribute<'c> {
        *v
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<Attribute<'c>> {
        p.attribute(None)
    }
    fn print(v: &Attribute<'_>, p: &Printer) {
        p.attribute(*v);
    }
}

/// A shape and an element type, written `128x64xbf16`. Sizes are static unless `?` is written ([`crate::ext::DYNAMIC`]).
pub struct Shaped;
impl Kind for Shaped {
    type Value<'c> = (Vec<i64>, Type<'c>);
    const WHAT: &'static str = "a shape and an element type, such as 128x64xbf16";
    fn from_attribute<'c>(a: Attribute<'c>) -> Option<(Vec<i64>, Type<'c>)> {
        use crate::ext::TypeExt;
        let t = AnyType::from_attribute(a)?;
        Some((t.shape()?, t.element_type()?))
    }
    fn to_attribute<'c>(v: &(Vec<i64>, Type<'c>), _: &'c Context) -> Attribute<'c> {
        let dims: Vec<i64> = v.0.clone();
        // A ranked tensor type holds exactly a shape and an element type.
        let t = unsafe {
            Type::from_raw(mlirRankedTensorTypeGet(
                dims.len() as isize,
                dims.as_ptr(),
                v.1.to_raw(),
                mlirAttributeGetNull(),
            ))
        };
        TypeAttribute::new(t).into()
    }
    fn parse<'c>(p: &Parser<'c>) -> Res<(Vec<i64>, Type<'c>)> {
        let dims = p.dims(true, true)?;
        let at = p.loc();
        let element = p.ty()?;
        let fits = unsafe {
            mlirTypeIsAInteger(element.to_raw())
                || mlirTypeIsAFloat(element.to_raw())
                || mlirTypeIsAIndex(element.to_raw())
        };
        if !fits {
            return p
                .error(at, format!("expected a number type as element, found {element}"))
                .report();
        }
        Ok((dims, element))
    }
    fn print(v: &(Vec<i64>, Type<'_>), p: &Printer) {
        for d in &v.0 {
            p.text(if *d == crate::ext::DYNAMIC {
                "?x".into()
            } else {
                format!("{d}x")
            });
        }
        p.ty(v.1);
    }
}

/// Consumes an `=`.
pub(crate) fn equal(p: &Parser<'_>) -> Res {
    p.token(Token::Equal)
}

/// Declares an enum that ops, types and attributes can carry, with its spellings. It is held as a string attribute.
///
/// A spelling is a keyword (`"relaxed"`) or a number (`"128"`); the source has it bare.
///
/// ```
/// girih_ir::attr_enum! {
///     /// A memory order of PTX.
///     pub enum Order("a memory order") {
///         /// No ordering.
///         Relaxed = "relaxed",
///         /// Orders what follows.
///         Acquire = "acquire",
///     }
/// }
/// assert_eq!(Order::Acquire.spelling(), "acquire");
/// assert_eq!(Order::from_spelling("relaxed"), Some(Order::Relaxed));
/// ```
#[macro_export]
macro_rules! attr_enum {
    ($(#[$m:meta])* $vis:vis enum $name:ident($what:literal) {
        $($(#[doc = $vm:literal])* $variant:ident = $text:literal),+ $(,)?
    }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[doc = $vm])* $variant),+ }
        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// As written in the source.
            pub const fn spelling(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
            /// The value with that spelling.
            pub fn from_spelling(s: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.spelling() == s)
            }
        }
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result { f.write_str(self.spelling()) }
        }
        impl $crate::kind::Kind for $name {
            type Value<'c> = $name;
            const WHAT: &'static str = $what;
            const VALUES: &'static [(&'static str, &'static [&'static str])] = &[$(($text, &[$($vm),*])),+];
            fn from_attribute<'c>(a: $crate::melior::ir::Attribute<'c>) -> Option<$name> {
                <$crate::kind::Str as $crate::kind::Kind>::from_attribute(a).and_then(|s| $name::from_spelling(&s))
            }
            fn to_attribute<'c>(v: &$name, context: &'c $crate::melior::Context) -> $crate::melior::ir::Attribute<'c> {
                <$crate::kind::Str as $crate::kind::Kind>::to_attribute(&v.spelling().to_owned(), context)
            }
            fn parse<'c>(p: &$crate::asm::Parser<'c>) -> $crate::Res<$name> {
                let at = p.loc();
                let found = match p.optional_integer()? {
                    Some(v) => v.to_string(),
                    None => match p.optional_any_keyword()? { Some(k) => k, None => String::new() },
                };
                match $name::from_spelling(&found) {
                    Some(v) => Ok(v),
                    None => {
                        let all: Vec<_> = $name::ALL.iter().map(|v| v.spelling()).collect();
                        let found = if found.is_empty() { "something else".to_owned() } else { format!("`{found}`") };
                        p.error(at, format!("expected {}: one of {}; found {found}", $what, all.join(", "))).report()
                    }
                }
            }
            fn print(v: &$name, p: &$crate::asm::Printer) { p.text(v.spelling()); }
        }
    };
}
