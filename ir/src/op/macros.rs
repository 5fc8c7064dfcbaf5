//! [`op!`](crate::op!), and the small macros that it expands through.

/// Declares an op. Every section but the name is optional, in this order:
///
/// ```text
/// /// Documentation; its ```mlir blocks are tests.
/// pub struct Name = "dialect.name" {
///     operands { a: one(INDEX), b: optional(I32), c: variadic(ANY) }
///     results { r: one(ANY) }
///     attributes { x: required(I64), y: optional(Str), z: unit, w: default(Bool, true) }
///     regions { body: single }              // any, single, at_most_one, some; the last may be variadic_any, ...
///     successors { dest: one }              // one, variadic
///     traits [Terminator]
///     interfaces [Symbol]
///     effects [read a, write]               // or: pure, unknown, custom
///     marks [ASYNC: a, ORDERS]              // constants of the dialect, of type Mark: of an operand or result, or of the op
///     format "$a `,` $b attr-dict `:` type($r)"   // or: custom, generic
///     hooks { fn verify(self) -> Res { ... } }
/// }
/// ```
///
/// It generates a view `Name<'c, 'a>` with one accessor for each operand, result, attribute and region, and
/// `Name::build(loc, result types, operands, attributes, regions, successors)`, which gives a detached op.
#[macro_export]
macro_rules! op {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident = $full:literal {
            $(operands { $($(#[doc = $om:literal])* $oname:ident : $oar:ident ( $ocon:expr )),* $(,)? })?
            $(results { $($(#[doc = $rm:literal])* $rname:ident : $rar:ident ( $rcon:expr )),* $(,)? })?
            $(attributes { $($(#[doc = $am:literal])* $aname:ident : $apres:ident $(( $($aarg:tt)* ))?),* $(,)? })?
            $(regions { $($gname:ident : $gkind:ident),* $(,)? })?
            $(successors { $($sname:ident : $skind:ident),* $(,)? })?
            $(traits [ $($tr:ident),* $(,)? ])?
            $(interfaces [ $($if:ident),* $(,)? ])?
            $(effects $eff:tt)?
            $(marks [ $($mark:ident $(: $mon:ident)?),* $(,)? ])?
            $(format $fmt:tt)?
            $(hooks { $($hooks:tt)* })?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy)]
        $vis struct $name<'c, 'a>($crate::melior::ir::OperationRef<'c, 'a>);

        impl<'c: 'a, 'a> $crate::op::OpView<'c, 'a> for $name<'c, 'a> {
            const NAME: &'static str = $full;
            fn from_op(op: $crate::melior::ir::OperationRef<'c, 'a>) -> Self { $name(op) }
            fn op(&self) -> $crate::melior::ir::OperationRef<'c, 'a> { self.0 }
        }

        impl $name<'_, '_> {
            /// The declaration.
            pub const DEF: &'static $crate::op::OpDef = &$crate::op::OpDef {
                name: $full,
                doc: &[$($doc),*],
                file: file!(),
                operands: &[$($($crate::op::OperandDef {
                    name: stringify!($oname), doc: &[$($om),*], arity: $crate::__arity!($oar), constraint: $ocon }),*)?],
                results: &[$($($crate::op::OperandDef {
                    name: stringify!($rname), doc: &[$($rm),*], arity: $crate::__arity!($rar), constraint: $rcon }),*)?],
                attributes: &[$($($crate::__attr_def!(stringify!($aname), &[$($am),*], $apres $(( $($aarg)* ))?)),*)?],
                regions: &[$($($crate::__region_def!(stringify!($gname), $gkind)),*)?],
                successors: &[$($($crate::op::SuccessorDef {
                    name: stringify!($sname), variadic: $crate::__is_variadic!($skind) }),*)?],
                traits: &[$($($crate::op::Trait::$tr),*)?],
                interfaces: &[$($($crate::op::Interface::$if),*)?],
                effects: $crate::__effects!($($eff)?),
                marks: &[$($(($mark, concat!($(stringify!($mon))?))),*)?],
                assembly: $crate::__assembly!($($fmt)?),
            };
        }

        impl<'c: 'a, 'a> $name<'c, 'a> {
            $($($crate::__operand_accessor!($(#[doc = $om])* $oar $oname operand_group);)*)?
            $($($crate::__operand_accessor!($(#[doc = $rm])* $rar $rname result_group);)*)?
            $($($crate::__attr_accessor!($(#[doc = $am])* $aname $apres $(( $($aarg)* ))?);)*)?
            $crate::__region_accessors!(0usize; $($($gname $gkind,)*)?);

            /// Builds the op, detached: result types, operands, attributes, regions, successors, as declared.
            #[allow(clippy::too_many_arguments, unused_mut, unused_variables)]
            pub fn build<'v>(
                loc: $crate::melior::ir::Location<'c>,
                $($($rname: $crate::__result_ty!($rar 'c),)*)?
                $($($oname: $crate::__operand_ty!($oar 'c 'v),)*)?
                $($($aname: $crate::__attr_ty!('c $apres $(( $($aarg)* ))?),)*)?
                $($($gname: $crate::__region_ty!($gkind 'c),)*)?
                $($($sname: $crate::__successor_ty!($skind 'c 'v),)*)?
            ) -> $crate::melior::ir::Operation<'c> {
                let mut build = $crate::op::OpBuild::new(Self::DEF, loc);
                $($(build.results($crate::__slice!($rar $rname));)*)?
                $($(build.operands($crate::__slice!($oar $oname));)*)?
                $($($crate::__attr_build!(build $aname $apres $(( $($aarg)* ))?);)*)?
                $($($crate::__region_build!(build $gname $gkind);)*)?
                $($($crate::__successor_build!(build $sname $skind);)*)?
                build.finish()
            }
        }

        #[allow(clippy::elidable_lifetime_names)]
        impl<'c> $crate::op::OpHooks<'c> for $name<'c, 'c> {
            $($($hooks)*)?
        }

        impl $crate::op::Op for $name<'_, '_> {
            const REGISTRATION: $crate::op::OpRegistration = $crate::op::OpRegistration {
                def: Self::DEF,
                fns: $crate::op::OpFns {
                    verify: |op| $crate::op::OpHooks::verify($name(op)),
                    verify_regions: |op| $crate::op::OpHooks::verify_regions($name(op)),
                    parse: |p| <$name as $crate::op::OpHooks>::parse(p),
                    print: |op, p| $crate::op::OpHooks::print($name(op), p),
                    infer_results: |p| <$name as $crate::op::OpHooks>::infer_results(p),
                    fold: |op, operands| $crate::op::OpHooks::fold($name(op), operands),
                    canonicalize: |set| <$name as $crate::op::OpHooks>::canonicalize(set),
                    effects: |op, sink| $crate::op::OpHooks::effects($name(op), sink),
                    speculatability: |op| $crate::op::OpHooks::speculatability($name(op)),
                    result_names: |op| $crate::op::OpHooks::result_names($name(op)),
                    block_argument_names: |op, r| $crate::op::OpHooks::block_argument_names($name(op), r),
                    successor_regions: |op, from| $crate::op::OpHooks::successor_regions($name(op), from),
                    entry_operands: |op, to| $crate::op::OpHooks::entry_operands($name(op), to),
                    terminator_operands: |op, to| $crate::op::OpHooks::terminator_operands($name(op), to),
                    loop_regions: |op| $crate::op::OpHooks::loop_regions($name(op)),
                    verify_symbol_uses: |op, s| $crate::op::OpHooks::verify_symbol_uses($name(op), s),
                },
            };
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __arity {
    (one) => {
        $crate::op::Arity::One
    };
    (optional) => {
        $crate::op::Arity::Optional
    };
    (variadic) => {
        $crate::op::Arity::Variadic
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __is_variadic {
    (one) => {
        false
    };
    (variadic) => {
        true
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __attr_def {
    ($name:expr, $doc:expr, required($k:ty)) => {
        $crate::op::AttrDef::of::<$k>($name, $doc, $crate::op::Presence::Required)
    };
    ($name:expr, $doc:expr, optional($k:ty)) => {
        $crate::op::AttrDef::of::<$k>($name, $doc, $crate::op::Presence::Optional)
    };
    ($name:expr, $doc:expr, default($k:ty, $v:expr)) => {
        $crate::op::AttrDef::of::<$k>(
            $name,
            $doc,
            $crate::op::Presence::Default(|c| <$k as $crate::kind::Kind>::to_attribute(&$v, c)),
        )
    };
    ($name:expr, $doc:expr, unit) => {
        $crate::op::AttrDef::unit($name, $doc)
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __region_def {
    ($name:expr, any) => { $crate::__region_def!(@ $name, Any, false) };
    ($name:expr, single) => { $crate::__region_def!(@ $name, One, false) };
    ($name:expr, at_most_one) => { $crate::__region_def!(@ $name, AtMostOne, false) };
    ($name:expr, some) => { $crate::__region_def!(@ $name, Some, false) };
    ($name:expr, variadic_any) => { $crate::__region_def!(@ $name, Any, true) };
    ($name:expr, variadic_single) => { $crate::__region_def!(@ $name, One, true) };
    (@ $name:expr, $blocks:ident, $variadic:literal) => {
        $crate::op::RegionDef { name: $name, blocks: $crate::op::RegionBlocks::$blocks, variadic: $variadic }
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __effects {
    () => { $crate::op::EffectsDef::Unknown };
    (unknown) => { $crate::op::EffectsDef::Unknown };
    (pure) => { $crate::op::EffectsDef::Known(&[]) };
    (custom) => { $crate::op::EffectsDef::Custom };
    ([$($kind:ident $($on:ident)?),* $(,)?]) => {
        $crate::op::EffectsDef::Known(&[$(($crate::__effect_kind!($kind), concat!($(stringify!($on))?))),*])
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __effect_kind {
    (read) => {
        $crate::op::EffectKind::Read
    };
    (write) => {
        $crate::op::EffectKind::Write
    };
    (allocate) => {
        $crate::op::EffectKind::Allocate
    };
    (free) => {
        $crate::op::EffectKind::Free
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __assembly {
    () => {
        $crate::op::Assembly::Generic
    };
    (generic) => {
        $crate::op::Assembly::Generic
    };
    (custom) => {
        $crate::op::Assembly::Custom
    };
    ($f:literal) => {
        $crate::op::Assembly::Format($f)
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __operand_accessor {
    ($(#[$m:meta])* one $name:ident $group:ident) => {
        $(#[$m])*
        #[doc = concat!("The op's `", stringify!($name), "`.")]
        pub fn $name(&self) -> $crate::melior::ir::Value<'c, 'a> {
            // A verified op has exactly one; on an op that is not verified yet this is MLIR's own bounds.
            $crate::op::$group(self.0, Self::DEF, stringify!($name))[0]
        }
    };
    ($(#[$m:meta])* optional $name:ident $group:ident) => {
        $(#[$m])*
        #[doc = concat!("The op's `", stringify!($name), "`, if there is one.")]
        pub fn $name(&self) -> Option<$crate::melior::ir::Value<'c, 'a>> {
            $crate::op::$group(self.0, Self::DEF, stringify!($name)).first().copied()
        }
    };
    ($(#[$m:meta])* variadic $name:ident $group:ident) => {
        $(#[$m])*
        #[doc = concat!("The op's `", stringify!($name), "`.")]
        pub fn $name(&self) -> Vec<$crate::melior::ir::Value<'c, 'a>> {
            $crate::op::$group(self.0, Self::DEF, stringify!($name))
        }
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __attr_accessor {
    ($(#[$m:meta])* $name:ident required($k:ty)) => {
        $(#[$m])*
        #[doc = concat!("The attribute `", stringify!($name), "`.")]
        pub fn $name(&self) -> <$k as $crate::kind::Kind>::Value<'c> {
            $crate::ext::OpExt::attr(&self.0, stringify!($name))
                .and_then(<$k as $crate::kind::Kind>::from_attribute)
                .expect(concat!("a verified op has `", stringify!($name), "`"))
        }
    };
    ($(#[$m:meta])* $name:ident optional($k:ty)) => {
        $(#[$m])*
        #[doc = concat!("The attribute `", stringify!($name), "`, if it is there.")]
        pub fn $name(&self) -> Option<<$k as $crate::kind::Kind>::Value<'c>> {
            $crate::ext::OpExt::attr(&self.0, stringify!($name))
                .and_then(<$k as $crate::kind::Kind>::from_attribute)
        }
    };
    ($(#[$m:meta])* $name:ident default($k:ty, $v:expr)) => {
        $(#[$m])*
        #[doc = concat!("The attribute `", stringify!($name), "`.")]
        pub fn $name(&self) -> <$k as $crate::kind::Kind>::Value<'c> {
            $crate::ext::OpExt::attr(&self.0, stringify!($name))
                .and_then(<$k as $crate::kind::Kind>::from_attribute)
                .unwrap_or_else(|| $v)
        }
    };
    ($(#[$m:meta])* $name:ident unit) => {
        $(#[$m])*
        #[doc = concat!("Whether `", stringify!($name), "` is set.")]
        pub fn $name(&self) -> bool {
            $crate::ext::OpExt::attr(&self.0, stringify!($name)).is_some()
        }
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __region_accessors {
    ($i:expr;) => {};
    ($i:expr; $name:ident variadic_any, $($rest:tt)*) => { $crate::__region_accessors!(@ variadic $i; $name); };
    ($i:expr; $name:ident variadic_single, $($rest:tt)*) => { $crate::__region_accessors!(@ variadic $i; $name); };
    ($i:expr; $name:ident $kind:ident, $($rest:tt)*) => {
        #[doc = concat!("The region `", stringify!($name), "`.")]
        pub fn $name(&self) -> $crate::melior::ir::RegionRef<'c, 'a> {
            $crate::ext::OpExt::region_at(&self.0, $i)
        }
        $crate::__region_accessors!($i + 1; $($rest)*);
    };
    (@ variadic $i:expr; $name:ident) => {
        #[doc = concat!("The regions `", stringify!($name), "`.")]
        pub fn $name(&self) -> Vec<$crate::melior::ir::RegionRef<'c, 'a>> {
            use $crate::melior::ir::operation::OperationLike;
            ($i..self.0.region_count()).map(|i| $crate::ext::OpExt::region_at(&self.0, i)).collect()
        }
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __operand_ty {
    (one $c:lifetime $v:lifetime) => { $crate::melior::ir::Value<$c, $v> };
    (optional $c:lifetime $v:lifetime) => { Option<$crate::melior::ir::Value<$c, $v>> };
    (variadic $c:lifetime $v:lifetime) => { &[$crate::melior::ir::Value<$c, $v>] };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __result_ty {
    (one $c:lifetime) => { $crate::melior::ir::Type<$c> };
    (optional $c:lifetime) => { Option<$crate::melior::ir::Type<$c>> };
    (variadic $c:lifetime) => { &[$crate::melior::ir::Type<$c>] };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __slice {
    (one $x:ident) => {
        &[$x]
    };
    (optional $x:ident) => {
        $x.as_slice()
    };
    (variadic $x:ident) => {
        $x
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __attr_ty {
    ($c:lifetime required($k:ty)) => { <$k as $crate::kind::Kind>::Value<$c> };
    ($c:lifetime optional($k:ty)) => { Option<<$k as $crate::kind::Kind>::Value<$c>> };
    ($c:lifetime default($k:ty, $v:expr)) => { <$k as $crate::kind::Kind>::Value<$c> };
    ($c:lifetime unit) => { bool };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __attr_build {
    ($b:ident $name:ident required($k:ty)) => {
        let a = <$k as $crate::kind::Kind>::to_attribute(&$name, $b.context());
        $b.attribute(stringify!($name), a);
    };
    ($b:ident $name:ident default($k:ty, $v:expr)) => {
        let a = <$k as $crate::kind::Kind>::to_attribute(&$name, $b.context());
        $b.attribute(stringify!($name), a);
    };
    ($b:ident $name:ident optional($k:ty)) => {
        if let Some(v) = &$name {
            let a = <$k as $crate::kind::Kind>::to_attribute(v, $b.context());
            $b.attribute(stringify!($name), a);
        }
    };
    ($b:ident $name:ident unit) => {
        if $name {
            let a = $crate::melior::ir::Attribute::unit($b.context());
            $b.attribute(stringify!($name), a);
        }
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __region_ty {
    (variadic_any $c:lifetime) => { Vec<$crate::melior::ir::Region<$c>> };
    (variadic_single $c:lifetime) => { Vec<$crate::melior::ir::Region<$c>> };
    ($k:ident $c:lifetime) => { $crate::melior::ir::Region<$c> };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __region_build {
    ($b:ident $name:ident variadic_any) => {
        for r in $name {
            $b.region(r);
        }
    };
    ($b:ident $name:ident variadic_single) => {
        for r in $name {
            $b.region(r);
        }
    };
    ($b:ident $name:ident $k:ident) => {
        $b.region($name);
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __successor_ty {
    (one $c:lifetime $v:lifetime) => { $crate::melior::ir::BlockRef<$c, $v> };
    (variadic $c:lifetime $v:lifetime) => { &[$crate::melior::ir::BlockRef<$c, $v>] };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __successor_build {
    ($b:ident $name:ident one) => {
        $b.successor($crate::melior::ir::BlockLike::to_raw(&$name));
    };
    ($b:ident $name:ident variadic) => {
        for s in $name {
            $b.successor($crate::melior::ir::BlockLike::to_raw(s));
        }
    };
}
