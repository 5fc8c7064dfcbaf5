//! From a declaration to the shim's table of C functions. Each function guards against panics.
use super::{
    Assembly, Branch, EffectSink, EffectsDef, Fold, Interface, OpRegistration, Presence, Speculatability, Symbols,
    Trait, verify,
};
use crate::{
    asm::{OpParser, Printer, format::Format},
    diag::{Place, guard, op_loc},
    raw::{self, Ptr, sr},
    rewrite::PatternSet,
};
use melior::{
    ContextRef,
    ir::{Attribute, AttributeLike, OperationRef, RegionRef, ValueLike},
};
use mlir_sys::*;

struct Registered {
    op: &'static OpRegistration,
    format: Option<Format>,
}

unsafe fn data<'a>(p: Ptr) -> &'a Registered {
    unsafe { &*p.cast::<Registered>() }
}
unsafe fn op<'c>(x: MlirOperation) -> OperationRef<'c, 'c> {
    unsafe { OperationRef::from_raw(x) }
}
fn branch_index(b: Branch) -> isize {
    match b {
        Branch::Parent => -1,
        Branch::Region(i) => i as isize,
    }
}
fn check_operands(x: MlirOperation, first: usize, count: usize) {
    let n = unsafe { mlirOperationGetNumOperands(x) } as usize;
    assert!(
        first + count <= n,
        "operands {first}..{} are to be passed on; the op has {n}",
        first + count
    );
}
fn index_branch(i: isize) -> Branch {
    if i < 0 {
        Branch::Parent
    } else {
        Branch::Region(i as usize)
    }
}

extern "C" fn verify_declared(p: Ptr, x: MlirOperation) -> bool {
    guard("verifier", op_loc(x), false, || unsafe {
        verify::verify(op(x), data(p).op.def).is_ok()
    })
}
extern "C" fn verify_op(p: Ptr, x: MlirOperation) -> bool {
    guard("verifier", op_loc(x), false, || unsafe {
        (data(p).op.fns.verify)(op(x)).is_ok()
    })
}
extern "C" fn verify_regions(p: Ptr, x: MlirOperation) -> bool {
    guard("region verifier", op_loc(x), false, || unsafe {
        (data(p).op.fns.verify_regions)(op(x)).is_ok()
    })
}
extern "C" fn parse(p: Ptr, parser: Ptr, state: Ptr) -> bool {
    guard(
        "parser",
        Place::At(unsafe { raw::girih_state_loc(state) }),
        false,
        || unsafe {
            let (d, parser) = (data(p), OpParser::new(parser, state));
            match &d.format {
                Some(f) => f.parse(d.op, &parser),
                None => (d.op.fns.parse)(&parser),
            }
            .is_ok()
        },
    )
}
extern "C" fn print(p: Ptr, x: MlirOperation, printer: Ptr) {
    guard("printer", op_loc(x), (), || unsafe {
        let (d, printer) = (data(p), Printer::new(printer));
        match &d.format {
            Some(f) => f.print(d.op.def, op(x), &printer),
            None => (d.op.fns.print)(op(x), &printer),
        }
    })
}
extern "C" fn fold(p: Ptr, x: MlirOperation, n: isize, operands: *const MlirAttribute, sink: Ptr) -> bool {
    guard("folder", op_loc(x), false, || unsafe {
        let operands: Vec<_> = (0..n as usize)
            .map(|i| Attribute::from_option_raw(*operands.add(i)))
            .collect();
        let Some(results) = (data(p).op.fns.fold)(op(x), &operands) else {
            return false;
        };
        let want = mlirOperationGetNumResults(x) as usize;
        assert!(
            results.is_empty() || results.len() == want,
            "the folder gave {} results; the op has {want}",
            results.len()
        );
        for r in results {
            match r {
                Fold::Value(v) => raw::girih_fold_push_value(sink, v.to_raw()),
                Fold::Constant(a) => raw::girih_fold_push_attr(sink, a.to_raw()),
            }
        }
        true
    })
}
extern "C" fn canonicalizers(p: Ptr, set: MlirRewritePatternSet, c: MlirContext) {
    let what = unsafe { format!("canonicalisation patterns of '{}'", data(p).op.def.name) };
    guard(&what, Place::In(c), (), || unsafe {
        let mut set = PatternSet::borrowed(set, crate::context(ContextRef::from_raw(c)));
        (data(p).op.fns.canonicalize)(&mut set);
    })
}
extern "C" fn defaults(p: Ptr, c: MlirContext, sink: Ptr, set: extern "C" fn(Ptr, MlirStringRef, MlirAttribute)) {
    let what = unsafe { format!("default attributes of '{}'", data(p).op.def.name) };
    guard(&what, Place::In(c), (), || unsafe {
        let context = crate::context(ContextRef::from_raw(c));
        for a in data(p).op.def.attributes {
            if let Presence::Default(value) = a.presence {
                set(sink, sr(a.name), value(context).to_raw());
            }
        }
    })
}
extern "C" fn effects(p: Ptr, x: MlirOperation, sink: Ptr) {
    guard("memory effects", op_loc(x), (), || unsafe {
        let d = data(p);
        match d.op.def.effects {
            EffectsDef::Unknown => {}
            EffectsDef::Custom => (d.op.fns.effects)(op(x), &EffectSink { sink, op: x }),
            EffectsDef::Known(list) => {
                for (kind, on) in list {
                    let k = *kind as i32;
                    if on.is_empty() {
                        raw::girih_effect_push(sink, x, k, -1, -1);
                    } else if let Some(r) = d.op.def.operand_range(op(x), on) {
                        r.for_each(|i| raw::girih_effect_push(sink, x, k, i as isize, -1));
                    } else if let Some(r) = d.op.def.result_range(op(x), on) {
                        r.for_each(|i| raw::girih_effect_push(sink, x, k, -1, i as isize));
                    }
                }
            }
        }
    })
}
extern "C" fn speculatability(p: Ptr, x: MlirOperation) -> i32 {
    guard("speculatability", op_loc(x), 0, || unsafe {
        let d = data(p);
        if d.op.def.implements(Interface::Speculatable) {
            (d.op.fns.speculatability)(op(x)) as i32
        } else if d.op.def.traits.contains(&Trait::RecursivelySpeculatable) {
            Speculatability::Recursive as i32
        } else {
            Speculatability::Always as i32 // declared pure: nothing keeps it from being speculated
        }
    })
}
extern "C" fn result_names(p: Ptr, x: MlirOperation, namer: Ptr) {
    guard("result names", op_loc(x), (), || unsafe {
        for (v, name) in (data(p).op.fns.result_names)(op(x)) {
            raw::girih_name_value(namer, v.to_raw(), sr(&name));
        }
    })
}
extern "C" fn block_argument_names(p: Ptr, x: MlirOperation, r: MlirRegion, namer: Ptr) {
    guard("block argument names", op_loc(x), (), || unsafe {
        for (v, name) in (data(p).op.fns.block_argument_names)(op(x), RegionRef::from_raw(r)) {
            raw::girih_name_value(namer, v.to_raw(), sr(&name));
        }
    })
}
extern "C" fn successor_regions(p: Ptr, x: MlirOperation, from: isize, sink: Ptr) {
    guard("region successors", op_loc(x), (), || unsafe {
        let from = (from >= 0).then_some(from as usize);
        let regions = mlirOperationGetNumRegions(x);
        for b in (data(p).op.fns.successor_regions)(op(x), from) {
            let i = branch_index(b);
            assert!(i < regions, "the op has no region #{i} to go to");
            raw::girih_successor_push(sink, x, branch_index(b));
        }
    })
}
extern "C" fn entry_operands(p: Ptr, x: MlirOperation, to: isize, first: *mut isize, count: *mut isize) {
    guard("entry operands", op_loc(x), (), || unsafe {
        let (f, n) = (data(p).op.fns.entry_operands)(op(x), index_branch(to));
        check_operands(x, f, n);
        (*first, *count) = (f as isize, n as isize);
    })
}
extern "C" fn terminator_operands(p: Ptr, x: MlirOperation, to: isize, first: *mut isize, count: *mut isize) {
    guard("terminator operands", op_loc(x), (), || unsafe {
        let (f, n) = (data(p).op.fns.terminator_operands)(op(x), index_branch(to));
        check_operands(x, f, n);
        (*first, *count) = (f as isize, n as isize);
    })
}
extern "C" fn loop_regions(p: Ptr, x: MlirOperation) -> u64 {
    guard("loop regions", op_loc(x), 0, || unsafe {
        (data(p).op.fns.loop_regions)(op(x))
            .into_iter()
            .filter(|i| *i < 64)
            .fold(0, |m, i| m | 1 << i)
    })
}
extern "C" fn verify_symbol_uses(p: Ptr, x: MlirOperation, tables: Ptr) -> bool {
    guard("symbol verifier", op_loc(x), false, || unsafe {
        (data(p).op.fns.verify_symbol_uses)(op(x), &Symbols { tables, from: op(x) }).is_ok()
    })
}

/// Adds an op to the dialect that is being populated. A format string that does not fit its declaration panics: it is a
/// fault of the declaration, and every dialect's test registers it.
pub(crate) fn register(dialect: Ptr, registration: &'static OpRegistration) {
    let def = registration.def;
    let format = match def.assembly {
        Assembly::Format(text) => {
            Some(Format::parse_text(text, def).unwrap_or_else(|e| panic!("format of '{}': {e}", def.name)))
        }
        _ => None,
    };
    let has = |i| def.implements(i);
    let known = !matches!(def.effects, EffectsDef::Unknown);
    let speculates = matches!(def.effects, EffectsDef::Known([]))
        || has(Interface::Speculatable)
        || def.traits.contains(&Trait::RecursivelySpeculatable);
    if let Some(fault) = def.fault() {
        panic!("declaration of '{}': {fault}", def.name);
    }
    let hooks = raw::OpHooks {
        data: Box::into_raw(Box::new(Registered {
            op: registration,
            format,
        }))
        .cast(),
        drop: raw::drop_box::<Registered>,
        verify_declared,
        verify: verify_op,
        verify_regions,
        parse: (!matches!(def.assembly, Assembly::Generic)).then_some(parse),
        print: (!matches!(def.assembly, Assembly::Generic)).then_some(print),
        fold,
        canonicalizers,
        defaults: def
            .attributes
            .iter()
            .any(|a| matches!(a.presence, Presence::Default(_)))
            .then_some(defaults),
        effects: known.then_some(effects),
        speculatability: speculates.then_some(speculatability),
        result_names: has(Interface::ResultNames).then_some(result_names),
        block_argument_names: has(Interface::BlockArgumentNames).then_some(block_argument_names),
        successor_regions: has(Interface::RegionBranch).then_some(successor_regions),
        entry_operands: has(Interface::RegionBranch).then_some(entry_operands),
        terminator_operands: has(Interface::RegionTerminator).then_some(terminator_operands),
        loop_regions: has(Interface::LoopLike).then_some(loop_regions),
        verify_symbol_uses: has(Interface::SymbolUser).then_some(verify_symbol_uses),
        is_symbol: has(Interface::Symbol),
        is_function: has(Interface::Function),
        is_call: has(Interface::Call),
    };
    let mut traits: Vec<i32> = def.traits.iter().map(|t| *t as i32).collect();
    let mut names: Vec<_> = def.attributes.iter().map(|a| a.name).collect();
    if def.has_operand_segments() {
        traits.push(Trait::AttrSizedOperandSegments as i32);
        names.push("operandSegmentSizes");
    }
    if def.has_result_segments() {
        traits.push(Trait::AttrSizedResultSegments as i32);
        names.push("resultSegmentSizes");
    }
    let names: Vec<_> = names.into_iter().map(sr).collect();
    unsafe {
        raw::girih_dialect_add_op(
            dialect,
            sr(def.name),
            hooks,
            traits.len() as isize,
            traits.as_ptr(),
            names.len() as isize,
            names.as_ptr(),
        )
    }
}
