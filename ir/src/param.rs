//! Types and attributes with typed parameters: one declaration each.
//!
//! The textual form is `!dialect.name<required, ..., key = value, ...>`: required parameters come first, bare and in
//! order; parameters with defaults follow by name, and are not printed at their default; without any there are no
//! brackets. `hooks` may read and write the form by hand.
use crate::{
    asm::{Parser, Printer, Token},
    diag::{Emitter, Errors, Place, Res, guard},
    op::{AttrDef, Presence},
    raw::{self, Ptr, sr},
};
use melior::{
    Context, ContextRef,
    ir::{Attribute, AttributeLike, Location, Type},
};
use mlir_sys::*;
use std::marker::PhantomData;

/// The parameters of one type or attribute, while it is verified or afterwards.
#[derive(Clone, Copy)]
pub struct Params<'c> {
    values: *const MlirAttribute,
    len: usize,
    context: MlirContext,
    _c: PhantomData<&'c ()>,
}
impl<'c> Params<'c> {
    /// The parameter at an index.
    pub fn get(&self, index: usize) -> Attribute<'c> {
        assert!(index < self.len, "parameter {index} of {}", self.len);
        unsafe { Attribute::from_raw(*self.values.add(index)) }
    }
    /// The context.
    pub fn context(&self) -> &'c Context {
        crate::context(unsafe { ContextRef::from_raw(self.context) })
    }
    fn all(&self) -> Vec<Attribute<'c>> {
        (0..self.len).map(|i| self.get(i)).collect()
    }
}

/// The behaviour of a type or attribute; every method has a default.
pub trait ParamHooks<'c>: Sized {
    /// Checks the parameters together. Report every violation. Only parameters may be asked for: the type or attribute
    /// does not exist yet.
    fn verify(&self, _e: &Emitter) -> Res {
        Ok(())
    }
    /// Reads the form by hand: all parameters, in order. `None`: the standard form.
    fn parse(_p: &Parser<'c>) -> Option<Res<Vec<Attribute<'c>>>> {
        None
    }
    /// Writes the form by hand; false: the standard form.
    fn print(&self, _p: &Printer) -> bool {
        false
    }
    /// Size in bits and alignment in bytes, for a type with `layout`.
    fn layout(&self) -> (u64, u64) {
        (0, 1)
    }
    /// Checks a tensor that has the attribute as its encoding, with `encoding`.
    fn verify_encoding(&self, _shape: &[i64], _element: Type<'c>, _e: &Emitter) -> Res {
        Ok(())
    }
}

/// Hooks as plain functions; [`param_type!`](crate::param_type) and [`param_attr!`](crate::param_attr) fill it.
#[allow(missing_docs, clippy::type_complexity)]
pub struct ParamRegistration {
    pub name: &'static str,
    pub doc: &'static [&'static str],
    pub file: &'static str,
    pub fields: &'static [AttrDef],
    pub memref_element: bool,
    pub has_layout: bool,
    pub is_encoding: bool,
    pub verify: for<'c> fn(Params<'c>, &Emitter) -> Res,
    pub parse: for<'c> fn(&Parser<'c>) -> Option<Res<Vec<Attribute<'c>>>>,
    pub print: for<'c> fn(Params<'c>, &Printer) -> bool,
    pub layout: for<'c> fn(Params<'c>) -> (u64, u64),
    pub verify_encoding: for<'c> fn(Params<'c>, &[i64], Type<'c>, &Emitter) -> Res,
}

struct Registered {
    param: &'static ParamRegistration,
    dialect: &'static str,
}
unsafe fn data<'a>(p: Ptr) -> &'a Registered {
    unsafe { &*p.cast::<Registered>() }
}
fn params<'c>(n: isize, values: *const MlirAttribute, context: MlirContext) -> Params<'c> {
    Params {
        values,
        len: n as usize,
        context,
        _c: PhantomData,
    }
}

extern "C" fn verify(p: Ptr, e: Ptr, c: MlirContext, n: isize, a: *const MlirAttribute) -> bool {
    guard("parameter verifier", Place::Emitter(e, c), false, || unsafe {
        let (def, e, values) = (data(p).param, Emitter(e), params(n, a, c));
        let mut errors = Errors::default();
        if values.len != def.fields.len() {
            let m = format!(
                "'{}' takes {} parameters, found {}",
                def.name,
                def.fields.len(),
                values.len
            );
            return e.error(m).report::<()>().is_ok();
        }
        for (f, v) in def.fields.iter().zip(values.all()) {
            if !(f.check)(v) {
                errors.merge(
                    e.error(format!("parameter '{}' must be {}, but is {v}", f.name, f.what))
                        .report::<()>(),
                );
            }
        }
        errors.result().and_then(|()| (def.verify)(values, &e)).is_ok()
    })
}
extern "C" fn parse(p: Ptr, parser: Ptr, sink: Ptr) -> bool {
    guard("parameter parser", Place::Parser(parser), false, || unsafe {
        let (def, parser) = (data(p).param, Parser::new(parser));
        let values = match (def.parse)(&parser) {
            Some(r) => r,
            None => parse_standard(def, &parser),
        };
        let Ok(values) = values else { return false };
        values.into_iter().for_each(|a| raw::girih_attrs_push(sink, a.to_raw()));
        true
    })
}
fn parse_standard<'c>(def: &ParamRegistration, p: &Parser<'c>) -> Res<Vec<Attribute<'c>>> {
    let mut values: Vec<Option<Attribute<'c>>> = vec![None; def.fields.len()];
    let any_required = def.fields.iter().any(|f| matches!(f.presence, Presence::Required));
    let open = if any_required {
        p.token(Token::Less)?;
        true
    } else {
        !def.fields.is_empty() && p.optional_token(Token::Less)
    };
    if open {
        let mut first = true;
        for (f, v) in def.fields.iter().zip(&mut values) {
            if matches!(f.presence, Presence::Required) {
                if !first {
                    p.token(Token::Comma)?;
                }
                first = false;
                *v = Some((f.parse)(p)?);
            }
        }
        while !p.optional_token(Token::Greater) {
            if !first {
                p.token(Token::Comma)?;
            }
            first = false;
            let at = p.loc();
            let key = p.any_keyword()?;
            let Some(i) = def
                .fields
                .iter()
                .position(|f| f.name == key && !matches!(f.presence, Presence::Required))
            else {
                let known: Vec<_> = def
                    .fields
                    .iter()
                    .filter(|f| !matches!(f.presence, Presence::Required))
                    .map(|f| f.name)
                    .collect();
                let m = format!(
                    "'{}' has no parameter '{key}'; expected one of: {}",
                    def.name,
                    known.join(", ")
                );
                return p.error(at, m).report();
            };
            if values[i].is_some() {
                return p.error(at, format!("parameter '{key}' is given twice")).report();
            }
            crate::kind::equal(p)?;
            values[i] = Some((def.fields[i].parse)(p)?);
        }
    }
    let context = p.context();
    Ok(def
        .fields
        .iter()
        .zip(values)
        .filter_map(|(f, v)| match (v, f.presence) {
            (Some(v), _) => Some(v),
            (None, Presence::Default(d)) => Some(d(context)),
            (None, _) => None,
        })
        .collect())
}
extern "C" fn print(p: Ptr, printer: Ptr, c: MlirContext, n: isize, a: *const MlirAttribute) {
    guard("parameter printer", Place::In(c), (), || unsafe {
        let (def, printer) = (data(p).param, Printer::new(printer));
        let values = params(n, a, c);
        if (def.print)(values, &printer) {
            return;
        }
        let mut open = false;
        for (f, v) in def.fields.iter().zip(values.all()) {
            let named = match f.presence {
                Presence::Default(d) if mlirAttributeEqual(d(values.context()).to_raw(), v.to_raw()) => continue,
                Presence::Default(_) => true,
                _ => false,
            };
            printer.text(if open { ", " } else { "<" });
            open = true;
            if named {
                printer.text(f.name).text(" = ");
            }
            (f.print)(v, &printer);
        }
        if open {
            printer.text(">");
        }
    })
}
extern "C" fn layout(p: Ptr, t: MlirType, bits: *mut u64, align: *mut u64) {
    let c = unsafe { mlirTypeGetContext(t) };
    guard("type layout", Place::In(c), (), || unsafe {
        let d = data(p);
        let mut a = std::ptr::null();
        let n = raw::girih_type_params(t, sr(d.dialect), sr(d.param.name), &mut a);
        let (size, alignment) = (d.param.layout)(params(n, a, c));
        assert!(
            alignment.is_power_of_two(),
            "alignment {alignment} of '{}' is no power of two",
            d.param.name
        );
        (*bits, *align) = (size, alignment);
    })
}
extern "C" fn verify_encoding(
    p: Ptr,
    e: Ptr,
    attr: MlirAttribute,
    rank: isize,
    shape: *const i64,
    element: MlirType,
) -> bool {
    // An element type that does not parse has been reported, and MLIR asks all the same.
    if element.ptr.is_null() {
        return false;
    }
    let c = unsafe { mlirAttributeGetContext(attr) };
    guard("encoding verifier", Place::Emitter(e, c), false, || unsafe {
        let d = data(p);
        let mut a = std::ptr::null();
        let n = raw::girih_attr_params(attr, sr(d.dialect), sr(d.param.name), &mut a);
        let shape = if rank == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(shape, rank as usize)
        };
        let values = params(n, a, c);
        (d.param.verify_encoding)(values, shape, Type::from_raw(element), &Emitter(e)).is_ok()
    })
}

impl ParamRegistration {
    fn hooks(&'static self, dialect: &'static str) -> raw::ParamHooks {
        raw::ParamHooks {
            data: Box::into_raw(Box::new(Registered { param: self, dialect })).cast(),
            drop: raw::drop_box::<Registered>,
            verify,
            parse,
            print,
            is_memref_element: self.memref_element,
            layout: self.has_layout.then_some(layout),
            verify_encoding: self.is_encoding.then_some(verify_encoding),
        }
    }
    pub(crate) fn register_type(&'static self, dialect: Ptr, name: &'static str) {
        unsafe { raw::girih_dialect_add_type(dialect, sr(self.name), self.hooks(name)) }
    }
    pub(crate) fn register_attribute(&'static self, dialect: Ptr, name: &'static str) {
        unsafe { raw::girih_dialect_add_attribute(dialect, sr(self.name), self.hooks(name)) }
    }
}

/// Parameters of `t`, if it is `!dialect.name`.
pub fn type_params<'c>(t: Type<'c>, dialect: &str, name: &str) -> Option<Params<'c>> {
    use melior::ir::TypeLike;
    let mut a = std::ptr::null();
    let n = unsafe { raw::girih_type_params(t.to_raw(), sr(dialect), sr(name), &mut a) };
    (n >= 0).then(|| params(n, a, unsafe { mlirTypeGetContext(t.to_raw()) }))
}
/// Parameters of `x`, if it is `#dialect.name`.
pub fn attr_params<'c>(x: Attribute<'c>, dialect: &str, name: &str) -> Option<Params<'c>> {
    let mut a = std::ptr::null();
    let n = unsafe { raw::girih_attr_params(x.to_raw(), sr(dialect), sr(name), &mut a) };
    (n >= 0).then(|| params(n, a, unsafe { mlirAttributeGetContext(x.to_raw()) }))
}
/// Builds `!dialect.name`; what does not verify is reported at `loc`.
pub fn build_type<'c>(loc: Location<'c>, dialect: &str, name: &str, values: &[Attribute<'c>]) -> Res<Type<'c>> {
    let v: Vec<_> = values.iter().map(|a| a.to_raw()).collect();
    let t = unsafe { raw::girih_type_get(loc.to_raw(), sr(dialect), sr(name), v.len() as isize, v.as_ptr()) };
    if t.ptr.is_null() {
        Err(crate::Reported)
    } else {
        Ok(unsafe { Type::from_raw(t) })
    }
}
/// Builds `#dialect.name`; what does not verify is reported at `loc`.
pub fn build_attr<'c>(loc: Location<'c>, dialect: &str, name: &str, values: &[Attribute<'c>]) -> Res<Attribute<'c>> {
    let v: Vec<_> = values.iter().map(|a| a.to_raw()).collect();
    let a = unsafe { raw::girih_attr_get(loc.to_raw(), sr(dialect), sr(name), v.len() as isize, v.as_ptr()) };
    if a.ptr.is_null() {
        Err(crate::Reported)
    } else {
        Ok(unsafe { Attribute::from_raw(a) })
    }
}

/// Declares a type.
///
/// ```text
/// /// Documentation.
/// pub struct TensorMapType = "tile" . "tensor_map" {
///     params { tile: required(Shaped), swizzle: default(Swizzle, Swizzle::None) }
///     options [memref_element, layout]
///     hooks { fn verify(&self, e: &Emitter) -> Res { ... } }
/// }
/// ```
///
/// It generates a view `TensorMapType<'c>` with `of(Type)`, `get(context, params...)`, `checked(loc, params...)`, an
/// accessor for each parameter, and `From` for the plain type. The view is also a [`crate::kind::Kind`].
#[macro_export]
macro_rules! param_type {
    ($($t:tt)*) => { $crate::__param!(Type type_params build_type [$crate::melior::ir::Type] ty "a type of this kind"; $($t)*); };
}
/// Declares an attribute; as [`param_type!`](crate::param_type), with `options [encoding]` for tensor encodings.
#[macro_export]
macro_rules! param_attr {
    ($($t:tt)*) => {
        $crate::__param!(Attribute attr_params build_attr [$crate::melior::ir::Attribute] attribute "an attribute of this kind"; $($t)*);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __param {
    ($entity:ident $params:ident $build:ident [$raw:ty] $parse:ident $fallback:literal;
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident = $dialect:literal . $short:literal {
            $(params { $($(#[doc = $pm:literal])* $pname:ident : $pres:ident ( $($parg:tt)* )),* $(,)? })?
            $(options [ $($opt:ident),* $(,)? ])?
            $(hooks { $($hooks:tt)* })?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy)]
        #[allow(dead_code)]
        $vis struct $name<'c> {
            raw: Option<$crate::melior::ir::$entity<'c>>,
            params: $crate::param::Params<'c>,
        }
        #[allow(dead_code)]
        impl<'c> $name<'c> {
            /// The view of a type or attribute, if it is one of these.
            pub fn of(x: $crate::melior::ir::$entity<'c>) -> Option<Self> {
                $crate::param::$params(x, $dialect, $short).map(|params| $name { raw: Some(x), params })
            }
            /// Builds one; what does not verify is reported at `loc`.
            #[allow(clippy::too_many_arguments)]
            pub fn checked(
                loc: $crate::melior::ir::Location<'c>,
                $($($pname: $crate::__attr_ty!('c $pres($($parg)*)),)*)?
            ) -> $crate::Res<Self> {
                let _context = $crate::context(loc.context());
                let values: &[$crate::melior::ir::Attribute<'c>] =
                    &[$($($crate::__param_value!(_context $pname $pres($($parg)*))),*)?];
                let x = $crate::param::$build(loc, $dialect, $short, values)?;
                Ok(Self::of(x).expect("what was just built is of its own kind"))
            }
            /// Builds one from parameters that are known to verify.
            #[allow(clippy::too_many_arguments)]
            pub fn get(
                context: &'c $crate::melior::Context,
                $($($pname: $crate::__attr_ty!('c $pres($($parg)*)),)*)?
            ) -> Self {
                Self::checked($crate::melior::ir::Location::unknown(context), $($($pname),*)?)
                    .expect("parameters that verify")
            }
            $crate::__param_accessors!(0usize; $($($(#[doc = $pm])* $pname $pres($($parg)*);)*)?);
            /// The plain type or attribute.
            pub fn plain(&self) -> $crate::melior::ir::$entity<'c> {
                self.raw.expect("only a verifier sees one that does not exist yet")
            }
            /// Declaration and behaviour, for the dialect.
            pub const REGISTRATION: $crate::param::ParamRegistration = $crate::param::ParamRegistration {
                name: $short,
                doc: &[$($doc),*],
                file: file!(),
                fields: &[$($($crate::__attr_def!(stringify!($pname), &[$($pm),*], $pres($($parg)*))),*)?],
                memref_element: false $($(|| $crate::__param_option!(memref_element $opt))*)?,
                has_layout: false $($(|| $crate::__param_option!(layout $opt))*)?,
                is_encoding: false $($(|| $crate::__param_option!(encoding $opt))*)?,
                verify: |params, e| $crate::param::ParamHooks::verify(&$name { raw: None, params }, e),
                parse: |p| <$name as $crate::param::ParamHooks>::parse(p),
                print: |params, p| $crate::param::ParamHooks::print(&$name { raw: None, params }, p),
                layout: |params| $crate::param::ParamHooks::layout(&$name { raw: None, params }),
                verify_encoding: |params, shape, element, e| {
                    $crate::param::ParamHooks::verify_encoding(&$name { raw: None, params }, shape, element, e)
                },
            };
        }
        impl<'c> $crate::param::ParamHooks<'c> for $name<'c> { $($($hooks)*)? }
        impl<'c> From<$name<'c>> for $crate::melior::ir::$entity<'c> {
            fn from(x: $name<'c>) -> Self { x.plain() }
        }
        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool { self.raw == other.raw }
        }
        impl ::std::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self.raw { Some(x) => write!(f, "{x}"), None => f.write_str(stringify!($name)) }
            }
        }
        impl ::std::fmt::Display for $name<'_> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result { write!(f, "{self:?}") }
        }
        $crate::__param_kind!($entity $name $dialect $short);
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __param_kind {
    (Type $name:ident $dialect:literal $short:literal) => {
        impl $crate::kind::Kind for $name<'_> {
            type Value<'c> = $name<'c>;
            const WHAT: &'static str = concat!("a !", $dialect, ".", $short, " type");
            fn from_attribute<'c>(a: $crate::melior::ir::Attribute<'c>) -> Option<$name<'c>> {
                <$crate::kind::AnyType as $crate::kind::Kind>::from_attribute(a).and_then($name::of)
            }
            fn to_attribute<'c>(v: &$name<'c>, c: &'c $crate::melior::Context) -> $crate::melior::ir::Attribute<'c> {
                <$crate::kind::AnyType as $crate::kind::Kind>::to_attribute(&v.plain(), c)
            }
            fn parse<'c>(p: &$crate::asm::Parser<'c>) -> $crate::Res<$name<'c>> {
                let at = p.loc();
                let t = p.ty()?;
                match $name::of(t) {
                    Some(v) => Ok(v),
                    None => p
                        .error(at, format!("expected {}, found {t}", Self::WHAT))
                        .report(),
                }
            }
            fn print(v: &$name<'_>, p: &$crate::asm::Printer) {
                p.ty(v.plain());
            }
        }
    };
    (Attribute $name:ident $dialect:literal $short:literal) => {
        impl $crate::kind::Kind for $name<'_> {
            type Value<'c> = $name<'c>;
            const WHAT: &'static str = concat!("a #", $dialect, ".", $short, " attribute");
            fn from_attribute<'c>(a: $crate::melior::ir::Attribute<'c>) -> Option<$name<'c>> {
                $name::of(a)
            }
            fn to_attribute<'c>(v: &$name<'c>, _: &'c $crate::melior::Context) -> $crate::melior::ir::Attribute<'c> {
                v.plain()
            }
            fn parse<'c>(p: &$crate::asm::Parser<'c>) -> $crate::Res<$name<'c>> {
                let at = p.loc();
                let a = p.attribute(None)?;
                match $name::of(a) {
                    Some(v) => Ok(v),
                    None => p
                        .error(at, format!("expected {}, found {a}", Self::WHAT))
                        .report(),
                }
            }
            fn print(v: &$name<'_>, p: &$crate::asm::Printer) {
                p.attribute(v.plain());
            }
        }
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __param_option {
    (memref_element memref_element) => {
        true
    };
    (layout layout) => {
        true
    };
    (encoding encoding) => {
        true
    };
    ($a:ident memref_element) => {
        false
    };
    ($a:ident layout) => {
        false
    };
    ($a:ident encoding) => {
        false
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __param_value {
    ($c:ident $name:ident $pres:ident($k:ty $(, $v:expr)?)) => {
        <$k as $crate::kind::Kind>::to_attribute(&$name, $c)
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __param_accessors {
    ($i:expr;) => {};
    ($i:expr; $(#[$m:meta])* $name:ident $pres:ident($k:ty $(, $v:expr)?); $($rest:tt)*) => {
        $(#[$m])*
        #[doc = concat!("The parameter `", stringify!($name), "`.")]
        pub fn $name(&self) -> <$k as $crate::kind::Kind>::Value<'c> {
            <$k as $crate::kind::Kind>::from_attribute(self.params.get($i)).expect("a verified parameter")
        }
        $crate::__param_accessors!($i + 1; $($rest)*);
    };
}
