//! Dialects: a name and the lists of what it defines.
use crate::{
    diag::{Diag, Place, Res, guard, op_loc, panic_message},
    ext::OpExt,
    op::{self, OpRegistration},
    param::ParamRegistration,
    raw::{self, Ptr, sr},
};
use melior::{
    ContextRef,
    dialect::DialectRegistry,
    ir::{Attribute, Location, Operation, OperationRef, Type, ValueLike, operation::OperationLike},
};
use mlir_sys::*;

/// Makes an op of a constant that folding found: value, type, location.
pub type MaterializeConstant = for<'c> fn(Attribute<'c>, Type<'c>, Location<'c>) -> Option<Operation<'c>>;

/// A dialect: a static, filled by struct update from [`Dialect::new`]. The [crate's documentation](crate) has a complete one.
pub struct Dialect {
    /// Namespace: `tile`.
    pub name: &'static str,
    /// Ops.
    pub ops: &'static [OpRegistration],
    /// Types.
    pub types: &'static [ParamRegistration],
    /// Attributes.
    pub attributes: &'static [ParamRegistration],
    /// How constants become ops.
    pub materialize_constant: Option<MaterializeConstant>,
    /// Whether an op of the dialect may be inlined, or inlined into.
    pub legal_to_inline: for<'c> fn(OperationRef<'c, 'c>) -> bool,
    /// Checks a discardable attribute `dialect.name` on any op.
    pub verify_attribute: Option<for<'c> fn(OperationRef<'c, 'c>, &str, Attribute<'c>) -> Res>,
    /// Dialects that ops of this one build (folding, canonicalisation); loaded with it.
    pub dependencies: &'static [&'static str],
}

impl Dialect {
    /// An empty dialect, to be filled by struct update.
    pub const fn new(name: &'static str) -> Self {
        Dialect {
            name,
            ops: &[],
            types: &[],
            attributes: &[],
            materialize_constant: None,
            legal_to_inline: |_| true,
            verify_attribute: None,
            dependencies: &[],
        }
    }

    /// Puts the dialect into a registry. Contexts load it when they meet its name, or by
    /// `context.get_or_load_dialect(name)`.
    pub fn register(&'static self, registry: &DialectRegistry) {
        self.register_raw(registry.to_raw());
    }

    pub(crate) fn register_raw(&'static self, registry: MlirDialectRegistry) {
        let hooks = raw::DialectHooks {
            data: (self as *const Dialect).cast_mut().cast(),
            populate,
            materialize_constant: self.materialize_constant.is_some().then_some(materialize),
            is_legal_to_inline: Some(legal_to_inline),
            verify_operation_attribute: self.verify_attribute.is_some().then_some(verify_attribute),
        };
        unsafe { raw::girih_register_dialect(registry, sr(self.name), hooks) }
    }
}

unsafe fn this(p: Ptr) -> &'static Dialect {
    unsafe { &*p.cast::<Dialect>() }
}
extern "C" fn populate(p: Ptr, dialect: Ptr, context: MlirContext) {
    // Not guarded: a declaration that does not hold together must stop the program, not half-register a dialect.
    let d = unsafe { this(p) };
    let run = || {
        for name in d.dependencies {
            if unsafe { mlirContextGetOrLoadDialect(context, sr(name)) }.ptr.is_null() {
                let unknown = unsafe { Location::from_raw(mlirLocationUnknownGet(context)) };
                let m = format!("dialect '{}' needs dialect '{name}', which is not registered", d.name);
                drop(Diag::error(unknown, m));
            }
        }
        for t in d.types {
            t.register_type(dialect, d.name);
        }
        for a in d.attributes {
            a.register_attribute(dialect, d.name);
        }
        for o in d.ops {
            op::register(dialect, o);
        }
    };
    if let Err(payload) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        eprintln!(
            "dialect '{}' cannot be registered: {}",
            d.name,
            panic_message(&*payload)
        );
        std::process::abort();
    }
}
extern "C" fn materialize(p: Ptr, value: MlirAttribute, ty: MlirType, loc: MlirLocation) -> MlirOperation {
    let none = MlirOperation {
        ptr: std::ptr::null_mut(),
    };
    guard("constant materialisation", Place::At(loc), none, || unsafe {
        let make = this(p).materialize_constant;
        let ty = Type::from_raw(ty);
        let Some(op) = make.and_then(|f| f(Attribute::from_raw(value), ty, Location::from_raw(loc))) else {
            return none;
        };
        let fits = op.result_count() == 1 && op.result(0).is_ok_and(|r| r.r#type() == ty);
        assert!(fits, "'{}' does not have one result of type {ty}", op.full_name());
        op.into_raw()
    })
}
extern "C" fn legal_to_inline(p: Ptr, x: MlirOperation) -> bool {
    guard("inliner interface", op_loc(x), false, || unsafe {
        (this(p).legal_to_inline)(OperationRef::from_raw(x))
    })
}
extern "C" fn verify_attribute(p: Ptr, x: MlirOperation, name: MlirStringRef, value: MlirAttribute) -> bool {
    guard("attribute verifier", op_loc(x), false, || unsafe {
        let f = this(p).verify_attribute;
        f.is_none_or(|f| {
            f(
                OperationRef::from_raw(x),
                raw::from_sr(name),
                Attribute::from_raw(value),
            )
            .is_ok()
        })
    })
}

/// Whether `context` knows the dialect.
pub fn is_loaded(context: ContextRef<'_>, name: &str) -> bool {
    unsafe {
        !mlirContextGetOrLoadDialect(crate::context(context).to_raw(), sr(name))
            .ptr
            .is_null()
    }
}
