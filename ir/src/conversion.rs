//! Dialect conversion: type converters, targets, and patterns that see their operands already converted. A type may
//! become any number of types.
use crate::{
    diag::{Place, Reported, Res, guard, op_loc, unless_panic},
    ext::OpExt,
    raw::{self, Ptr, drop_box, sr},
    rewrite::{Matched, PatternSet, Rewriter},
};
use melior::{
    Context,
    ir::{
        BlockRef, Location, Operation, OperationRef, RegionLike, RegionRef, Type, TypeLike, Value, ValueLike,
        operation::OperationLike,
    },
};
use mlir_sys::*;
use std::{cell::RefCell, sync::Arc};

/// What a conversion rule makes of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Converted<'c> {
    /// The rule does not speak of this type.
    NotMine,
    /// These types; none drops the value.
    To(Vec<Type<'c>>),
    /// The type cannot be converted.
    Impossible,
}

/// Inserts ops where a materialisation must stand.
#[derive(Clone, Copy)]
pub struct MaterializationBuilder<'c> {
    raw: Ptr,
    context: &'c Context,
}
impl<'c> crate::rewrite::Builder<'c> for MaterializationBuilder<'c> {
    fn insert<'a>(&self, op: Operation<'c>) -> OperationRef<'c, 'a> {
        unsafe { OperationRef::from_raw(raw::girih_builder_insert(self.raw, op.into_raw())) }
    }
    fn context(&self) -> &'c Context {
        self.context
    }
}

struct Converter(Ptr);
// SAFETY: MLIR's TypeConverter guards its cache, and the rules added are Send + Sync.
unsafe impl Send for Converter {}
unsafe impl Sync for Converter {}
impl Drop for Converter {
    fn drop(&mut self) {
        unsafe { raw::girih_type_converter_destroy(self.0) }
    }
}

/// Rules from types to types. Types that no rule speaks of stay as they are. Clones share the rules; all are added
/// before the first conversion.
#[derive(Clone)]
pub struct TypeConverter(Arc<Converter>);

impl Default for TypeConverter {
    fn default() -> Self {
        Self::new()
    }
}

impl TypeConverter {
    /// A converter that keeps every type.
    pub fn new() -> Self {
        TypeConverter(Arc::new(Converter(unsafe { raw::girih_type_converter_create() })))
    }
    pub(crate) fn raw(&self) -> Ptr {
        self.0.0
    }
    /// Adds a rule; later rules are asked first.
    pub fn add<F>(&self, rule: F)
    where
        F: for<'x> Fn(Type<'x>) -> Converted<'x> + Send + Sync + 'static,
    {
        extern "C" fn run<F>(p: Ptr, t: MlirType, sink: Ptr, push: extern "C" fn(Ptr, MlirType)) -> i32
        where
            F: for<'x> Fn(Type<'x>) -> Converted<'x>,
        {
            let c = unsafe { mlirTypeGetContext(t) };
            guard("type conversion", Place::In(c), -1, || unsafe {
                match (*p.cast::<F>())(Type::from_raw(t)) {
                    Converted::NotMine => 0,
                    Converted::Impossible => -1,
                    Converted::To(types) => {
                        types.iter().for_each(|t| push(sink, t.to_raw()));
                        1
                    }
                }
            })
        }
        let data = Box::into_raw(Box::new(rule)).cast();
        unsafe { raw::girih_type_converter_add(self.raw(), data, drop_box::<F>, run::<F>) }
    }
    /// Says how converted values become one value of the old type again, for ops that stay.
    pub fn add_source_materialization<F>(&self, build: F)
    where
        F: for<'x> Fn(
                &MaterializationBuilder<'x>,
                &[Type<'x>],
                &[Value<'x, 'x>],
                Location<'x>,
            ) -> Option<Vec<Value<'x, 'x>>>
            + Send
            + Sync
            + 'static,
    {
        self.add_materialization(0, build)
    }
    /// Says how values of the old type become values of the converted types.
    pub fn add_target_materialization<F>(&self, build: F)
    where
        F: for<'x> Fn(
                &MaterializationBuilder<'x>,
                &[Type<'x>],
                &[Value<'x, 'x>],
                Location<'x>,
            ) -> Option<Vec<Value<'x, 'x>>>
            + Send
            + Sync
            + 'static,
    {
        self.add_materialization(1, build)
    }
    fn add_materialization<F>(&self, kind: i32, build: F)
    where
        F: for<'x> Fn(
                &MaterializationBuilder<'x>,
                &[Type<'x>],
                &[Value<'x, 'x>],
                Location<'x>,
            ) -> Option<Vec<Value<'x, 'x>>>
            + Send
            + Sync
            + 'static,
    {
        #[allow(clippy::too_many_arguments)]
        extern "C" fn run<F>(
            p: Ptr,
            builder: Ptr,
            n_types: isize,
            types: *const MlirType,
            n_values: isize,
            values: *const MlirValue,
            loc: MlirLocation,
            sink: Ptr,
            push: extern "C" fn(Ptr, MlirValue),
        ) -> bool
        where
            F: for<'x> Fn(
                &MaterializationBuilder<'x>,
                &[Type<'x>],
                &[Value<'x, 'x>],
                Location<'x>,
            ) -> Option<Vec<Value<'x, 'x>>>,
        {
            guard("materialisation", Place::At(loc), false, || unsafe {
                let types: Vec<_> = (0..n_types as usize).map(|i| Type::from_raw(*types.add(i))).collect();
                let values: Vec<_> = (0..n_values as usize)
                    .map(|i| Value::from_raw(*values.add(i)))
                    .collect();
                let loc = Location::from_raw(loc);
                let builder = MaterializationBuilder {
                    raw: builder,
                    context: crate::context(loc.context()),
                };
                match (*p.cast::<F>())(&builder, &types, &values, loc) {
                    Some(out) => {
                        let found: Vec<_> = out.iter().map(|v| v.r#type()).collect();
                        assert!(found == types, "values of types {found:?} were given for {types:?}");
                        out.iter().for_each(|v| push(sink, v.to_raw()));
                        true
                    }
                    None => false,
                }
            })
        }
        let data = Box::into_raw(Box::new(build)).cast();
        unsafe { raw::girih_type_converter_add_materialization(self.raw(), kind, data, drop_box::<F>, run::<F>) }
    }
    /// What a type becomes; `None` where it cannot be converted.
    pub fn convert<'c>(&self, t: Type<'c>) -> Option<Vec<Type<'c>>> {
        extern "C" fn push(sink: Ptr, t: MlirType) {
            unsafe { (*sink.cast::<Vec<MlirType>>()).push(t) }
        }
        let mut out: Vec<MlirType> = vec![];
        let ok = unsafe { raw::girih_type_converter_convert(self.raw(), t.to_raw(), (&raw mut out).cast(), push) };
        ok.then(|| out.into_iter().map(|t| unsafe { Type::from_raw(t) }).collect())
    }
    /// Whether a type stays as it is.
    pub fn is_legal_type(&self, t: Type<'_>) -> bool {
        unsafe { raw::girih_type_converter_is_legal_type(self.raw(), t.to_raw()) }
    }
    /// Whether all of an op's operand and result types stay as they are.
    pub fn is_legal_op<'c: 'a, 'a>(&self, op: &impl OperationLike<'c, 'a>) -> bool {
        unsafe { raw::girih_type_converter_is_legal_op(self.raw(), op.to_raw()) }
    }
}

/// What an op with converted operands looks like to a pattern.
pub struct Operands<'c, 'n> {
    sizes: &'n [isize],
    values: Vec<Value<'c, 'c>>,
}
impl<'c> Operands<'c, '_> {
    /// The values that operand `index` became.
    pub fn get(&self, index: usize) -> &[Value<'c, 'c>] {
        let start: isize = self.sizes[..index].iter().sum();
        &self.values[start as usize..(start + self.sizes[index]) as usize]
    }
    /// The one value that operand `index` became.
    pub fn one(&self, index: usize) -> Value<'c, 'c> {
        self.get(index)[0]
    }
    /// Number of operands of the op before conversion.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }
    /// Whether the op has no operands.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }
    /// All values, in order.
    pub fn all(&self) -> &[Value<'c, 'c>] {
        &self.values
    }
}

/// A rewriter within a conversion.
#[derive(Clone, Copy)]
pub struct ConversionRewriter<'c>(Rewriter<'c>);
impl<'c> std::ops::Deref for ConversionRewriter<'c> {
    type Target = Rewriter<'c>;
    fn deref(&self) -> &Rewriter<'c> {
        &self.0
    }
}
impl<'c> crate::rewrite::Builder<'c> for ConversionRewriter<'c> {
    fn insert<'a>(&self, op: Operation<'c>) -> OperationRef<'c, 'a> {
        self.0.insert(op)
    }
    fn context(&self) -> &'c Context {
        crate::rewrite::Builder::context(&self.0)
    }
    fn inside(
        &self,
        outer: OperationRef<'c, 'c>,
        block: BlockRef<'c, 'c>,
        fill: &mut dyn FnMut(&dyn crate::rewrite::Builder<'c>),
    ) {
        self.0.inside(outer, block, fill);
    }
}
impl<'c> ConversionRewriter<'c> {
    /// Replaces each result by the values that its type converts to.
    pub fn replace_multiple(&self, op: OperationRef<'c, '_>, results: &[Vec<Value<'c, '_>>]) {
        let sizes: Vec<_> = results.iter().map(|r| r.len() as isize).collect();
        let n = op.result_count();
        assert!(
            n == sizes.len(),
            "{} groups of values cannot replace the {n} results of '{}'",
            sizes.len(),
            op.full_name()
        );
        let values: Vec<_> = results.iter().flatten().map(|v| v.to_raw()).collect();
        unsafe {
            raw::girih_conversion_replace_multiple(
                self.0.raw,
                op.to_raw(),
                sizes.len() as isize,
                sizes.as_ptr(),
                values.as_ptr(),
            )
        }
    }
    /// Converts the types of a region's block arguments.
    pub fn convert_region_types(&self, region: RegionRef<'c, '_>, types: &TypeConverter) -> Matched {
        // The driver keeps asking the converter after the pattern has returned.
        IN_USE.with_borrow_mut(|all| all.push(types.clone()));
        let ok = unsafe { raw::girih_conversion_convert_region_types(self.0.raw, region.to_raw(), types.raw()) };
        if ok { Ok(()) } else { Err(Reported) }
    }
}

thread_local! {
    /// Converters that the conversion running on this thread refers to beyond its own.
    static IN_USE: RefCell<Vec<TypeConverter>> = const { RefCell::new(vec![]) };
}

/// Patterns, a type converter and a target.
pub struct Conversion<'c> {
    patterns: PatternSet<'c>,
    types: TypeConverter,
    target: Ptr,
}

impl Drop for Conversion<'_> {
    fn drop(&mut self) {
        unsafe { raw::girih_target_destroy(self.target) }
    }
}

impl<'c> Conversion<'c> {
    /// An empty conversion.
    pub fn new(context: &'c Context, types: TypeConverter) -> Self {
        Conversion {
            patterns: PatternSet::new(context),
            types,
            target: unsafe { raw::girih_target_create(context.to_raw()) },
        }
    }
    /// The type converter.
    pub fn types(&self) -> &TypeConverter {
        &self.types
    }
    /// Ops of a dialect are what the conversion aims at.
    pub fn legal_dialects(&mut self, names: &[&str]) -> &mut Self {
        names
            .iter()
            .for_each(|n| unsafe { raw::girih_target_dialect(self.target, sr(n), true) });
        self
    }
    /// Ops of a dialect must go.
    pub fn illegal_dialects(&mut self, names: &[&str]) -> &mut Self {
        names
            .iter()
            .for_each(|n| unsafe { raw::girih_target_dialect(self.target, sr(n), false) });
        self
    }
    /// Ops of that name are what the conversion aims at.
    pub fn legal_ops(&mut self, names: &[&str]) -> &mut Self {
        let c = self.patterns.context.to_raw();
        names
            .iter()
            .for_each(|n| unsafe { raw::girih_target_op(self.target, c, sr(n), true) });
        self
    }
    /// Ops of that name must go.
    pub fn illegal_ops(&mut self, names: &[&str]) -> &mut Self {
        let c = self.patterns.context.to_raw();
        names
            .iter()
            .for_each(|n| unsafe { raw::girih_target_op(self.target, c, sr(n), false) });
        self
    }
    /// Ops of that name are legal if the function says so; `None`: no opinion. An empty name: every op without a rule.
    pub fn dynamic_op<F>(&mut self, name: &str, legal: F) -> &mut Self
    where
        F: for<'x> Fn(OperationRef<'x, 'x>) -> Option<bool> + Send + Sync + 'static,
    {
        let data = Box::into_raw(Box::new(legal)).cast();
        let c = self.patterns.context.to_raw();
        unsafe { raw::girih_target_dynamic(self.target, c, sr(name), data, drop_box::<F>, is_legal::<F>) };
        self
    }
    /// Ops of a dialect are legal if the function says so; `None`: no opinion.
    pub fn dynamic_dialect<F>(&mut self, dialect: &str, legal: F) -> &mut Self
    where
        F: for<'x> Fn(OperationRef<'x, 'x>) -> Option<bool> + Send + Sync + 'static,
    {
        let data = Box::into_raw(Box::new(legal)).cast();
        unsafe { raw::girih_target_dynamic_dialect(self.target, sr(dialect), data, drop_box::<F>, is_legal::<F>) };
        self
    }
    /// Adds a pattern for ops named `root` (empty: any op). The body gets the op, its operands converted, and the
    /// rewriter; it must not change anything before it is sure to apply.
    pub fn pattern<F>(&mut self, root: &str, benefit: u32, body: F) -> &mut Self
    where
        F: for<'x> Fn(OperationRef<'x, 'x>, &Operands<'x, '_>, &ConversionRewriter<'x>) -> Matched
            + Send
            + Sync
            + 'static,
    {
        extern "C" fn run<F>(
            p: Ptr,
            x: MlirOperation,
            n: isize,
            sizes: *const isize,
            values: *const MlirValue,
            r: MlirRewriterBase,
        ) -> bool
        where
            F: for<'x> Fn(OperationRef<'x, 'x>, &Operands<'x, '_>, &ConversionRewriter<'x>) -> Matched,
        {
            guard("conversion pattern", op_loc(x), false, || unsafe {
                let sizes = if n == 0 {
                    &[]
                } else {
                    std::slice::from_raw_parts(sizes, n as usize)
                };
                let total: isize = sizes.iter().sum();
                let values = (0..total as usize).map(|i| Value::from_raw(*values.add(i))).collect();
                let rewriter = ConversionRewriter(Rewriter::from_raw(r, true));
                (*p.cast::<F>())(OperationRef::from_raw(x), &Operands { sizes, values }, &rewriter).is_ok()
            })
        }
        let hooks = raw::ConversionHooks {
            data: Box::into_raw(Box::new(body)).cast(),
            drop: drop_box::<F>,
            rewrite: run::<F>,
        };
        unsafe { raw::girih_patterns_add_conversion(self.patterns.raw, self.types.raw(), sr(root), benefit, hooks) };
        self
    }
    /// Lets `scf` ops carry converted types.
    pub fn with_scf(&mut self) -> &mut Self {
        unsafe { raw::girih_patterns_add_scf(self.patterns.raw, self.types.raw(), self.target) };
        self
    }
    /// Lets `func` ops and `cf` branches carry converted types; `cf.br`, `cf.cond_br` and `cf.switch` are legal once they
    /// do, so rules for them come after this call.
    pub fn with_func(&mut self) -> &mut Self {
        unsafe { raw::girih_patterns_add_func(self.patterns.raw, self.types.raw(), self.target) };
        self
    }
    /// Converts what is illegal in `op`, and leaves what no rule speaks of.
    pub fn apply_partially(self, op: OperationRef<'c, '_>) -> Res {
        self.apply(op, false)
    }
    /// Converts everything in `op` to what is legal.
    pub fn apply_fully(self, op: OperationRef<'c, '_>) -> Res {
        self.apply(op, true)
    }
    fn apply(mut self, op: OperationRef<'c, '_>, full: bool) -> Res {
        let empty = PatternSet::new(self.patterns.context);
        let frozen = std::mem::replace(&mut self.patterns, empty).freeze();
        let outer = IN_USE.take();
        let result = unless_panic(op.location().to_raw(), || {
            let ok = unsafe { raw::girih_apply_conversion(op.to_raw(), self.target, frozen.0, full) };
            if ok { Ok(()) } else { Err(Reported) }
        });
        IN_USE.set(outer);
        result
    }
}

extern "C" fn is_legal<F>(p: Ptr, x: MlirOperation) -> i32
where
    F: for<'x> Fn(OperationRef<'x, 'x>) -> Option<bool>,
{
    guard("legality check", op_loc(x), 0, || unsafe {
        match (*p.cast::<F>())(OperationRef::from_raw(x)) {
            None => -1,
            Some(false) => 0,
            Some(true) => 1,
        }
    })
}
