//! A dialect of control flow, symbols and effects, which implements every interface.
use girih_ir::{
    attr_enum,
    constraint::{ANY, INDEX, MEMREF},
    dialect::Dialect,
    kind::{AnyAttr, AnyType, Kind, Str, SymbolName, SymbolRef},
    op,
    op::{Branch, EffectKind, EffectSink, Speculatability, Symbols},
    prelude::*,
};

op! {
    /// Repeats its body; the values go round and come out.
    pub struct Loop = "flow.loop" {
        operands { inits: variadic(ANY) }
        results { results: variadic(ANY) }
        regions { body: single }
        traits [SingleBlock, RecursiveMemoryEffects]
        interfaces [RegionBranch, LoopLike, BlockArgumentNames]
        hooks {
            fn successor_regions(self, _: Option<usize>) -> Vec<Branch> { vec![Branch::Region(0), Branch::Parent] }
            fn entry_operands(self, _: Branch) -> (usize, usize) { (0, self.inits().len()) }
            fn loop_regions(self) -> Vec<usize> { vec![0] }
            fn block_argument_names(self, region: RegionRef<'c, 'c>) -> Vec<(Value<'c, 'c>, String)> {
                let entry = region.entry().into_iter().flat_map(|b| girih_ir::ext::BlockExt::argument_values(&b));
                entry.map(|v| (v, "carried".into())).collect()
            }
        }
    }
}

op! {
    /// Enters the region that its number says; its results are what that region yields.
    pub struct Switch = "flow.switch" {
        operands { which: one(INDEX) }
        results { results: variadic(ANY) }
        regions { cases: variadic_single }
        traits [RecursiveMemoryEffects]
        interfaces [RegionBranch]
        hooks {
            fn successor_regions(self, from: Option<usize>) -> Vec<Branch> {
                match from {
                    None => (0..self.cases().len()).map(Branch::Region).collect(),
                    Some(_) => vec![Branch::Parent],
                }
            }
        }
    }
}

op! {
    /// Ends a region: the first operand is a tag, the others go on.
    pub struct Yield = "flow.yield" {
        operands { tag: one(INDEX), values: variadic(ANY) }
        traits [Terminator]
        interfaces [RegionTerminator]
        effects pure
        hooks {
            fn terminator_operands(self, _: Branch) -> (usize, usize) { (1, self.values().len()) }
        }
    }
}

op! {
    /// A function.
    pub struct Func = "flow.func" {
        attributes {
            sym_name: required(SymbolName),
            function_type: required(AnyType),
            sym_visibility: optional(Str),
            arg_attrs: optional(AnyAttr),
            res_attrs: optional(AnyAttr)
        }
        regions { body: any }
        traits [IsolatedFromAbove, AutomaticAllocationScope]
        interfaces [Function]
        format "$sym_name $function_type (`visibility` $sym_visibility^)? attr-dict-with-keyword $body"
    }
}

op! {
    /// Ends a function.
    pub struct Return = "flow.return" {
        operands { values: variadic(ANY) }
        traits [Terminator, ReturnLike]
        effects pure
        format "($values^ `:` type($values))? attr-dict"
    }
}

op! {
    /// Calls a function.
    pub struct Call = "flow.call" {
        operands { arguments: variadic(ANY) }
        results { results: variadic(ANY) }
        attributes { callee: required(SymbolRef), arg_attrs: optional(AnyAttr), res_attrs: optional(AnyAttr) }
        interfaces [Call, SymbolUser]
        format "$callee `(` $arguments `)` attr-dict `:` functional-type(operands, results)"
        hooks {
            fn verify_symbol_uses(self, symbols: &Symbols<'c>) -> Res {
                match symbols.lookup(&self.callee()) {
                    Some(f) if f.is::<Func>() || f.full_name() == "func.func" => Ok(()),
                    Some(f) => Diag::op(&self.op(), format!("calls '@{}', which is a {}", self.callee(), f.full_name()))
                        .note(f.location(), "defined here")
                        .report(),
                    None => Diag::op(&self.op(), format!("calls '@{}', which is not defined", self.callee())).report(),
                }
            }
        }
    }
}

op! {
    /// A named number.
    pub struct Global = "flow.global" {
        attributes { sym_name: required(SymbolName), sym_visibility: optional(Str) }
        interfaces [Symbol]
        format "(`visibility` $sym_visibility^)? $sym_name attr-dict"
    }
}

op! {
    /// Names a symbol.
    pub struct Refer = "flow.refer" {
        attributes { to: required(SymbolRef) }
        format "$to attr-dict"
    }
}

op! {
    /// A space of names.
    pub struct Table = "flow.table" {
        regions { body: single }
        traits [SymbolTable, SingleBlock, NoTerminator]
        format "$body attr-dict"
    }
}

attr_enum! {
    /// What an op does.
    pub enum Does("an effect") {
        /// Nothing.
        Nothing = "nothing",
        /// Reads.
        Read = "read",
        /// Writes.
        Write = "write",
        /// Makes memory.
        Allocate = "allocate",
        /// Ends memory.
        Free = "free",
        /// Writes memory that no value names.
        Anywhere = "anywhere",
    }
}

op! {
    /// Does to its memory, or its result, what it says.
    pub struct Touch = "flow.touch" {
        operands { memory: variadic(MEMREF) }
        results { results: variadic(ANY) }
        attributes { does: required(Does) }
        effects custom
        format "$does $memory attr-dict `:` functional-type(operands, results)"
        hooks {
            fn effects(self, sink: &EffectSink) {
                match self.does() {
                    Does::Nothing => {}
                    Does::Read => sink.operand(EffectKind::Read, 0),
                    Does::Write => sink.operand(EffectKind::Write, 0),
                    Does::Free => sink.operand(EffectKind::Free, 0),
                    Does::Allocate => sink.result(EffectKind::Allocate, 0),
                    Does::Anywhere => sink.anywhere(EffectKind::Write),
                }
            }
        }
    }
}

op! {
    /// Has no effect, and may run early if it says so.
    pub struct Speculate = "flow.speculate" {
        results { result: one(INDEX) }
        attributes { when: required(Str) }
        regions { body: any }
        traits [NoTerminator]
        interfaces [Speculatable]
        effects []
        format "$when $body attr-dict"
        hooks {
            fn speculatability(self) -> Speculatability {
                match self.when().as_str() {
                    "always" => Speculatability::Always,
                    "recursive" => Speculatability::Recursive,
                    _ => Speculatability::Never,
                }
            }
        }
    }
}

op! {
    /// Has no effect but its region's, and may run early if those may.
    pub struct Group = "flow.group" {
        results { result: one(INDEX) }
        regions { body: any }
        traits [NoTerminator, RecursiveMemoryEffects, RecursivelySpeculatable]
        format "$body attr-dict"
    }
}

op! {
    /// A constant, for propagation through calls and regions.
    pub struct Number = "flow.number" {
        results { result: one(INDEX) }
        attributes { value: required(girih_ir::kind::I64) }
        traits [ConstantLike]
        effects pure
        format "$value attr-dict"
        hooks {
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<girih_ir::op::Fold<'c, 'c>>> {
                Some(vec![girih_ir::op::Fold::Constant(self.op().attr("value")?)])
            }
        }
    }
}

/// The dialect.
pub static FLOW: Dialect = Dialect {
    ops: &[
        Loop::REGISTRATION,
        Switch::REGISTRATION,
        Yield::REGISTRATION,
        Func::REGISTRATION,
        Return::REGISTRATION,
        Call::REGISTRATION,
        Global::REGISTRATION,
        Refer::REGISTRATION,
        Table::REGISTRATION,
        Touch::REGISTRATION,
        Speculate::REGISTRATION,
        Group::REGISTRATION,
        Number::REGISTRATION,
    ],
    materialize_constant: Some(|value, ty, loc| {
        Some(Number::build(loc, ty, girih_ir::kind::I64::from_attribute(value)?))
    }),
    legal_to_inline: |op| op.attr("never_inline").is_none(),
    verify_attribute: Some(|op, name, value| match name {
        "flow.note" if girih_ir::kind::Str::from_attribute(value).is_some() => Ok(()),
        _ => Diag::op(
            &op,
            format!("carries '{name}' = {value}; the dialect only knows strings 'flow.note'"),
        )
        .report(),
    }),
    ..Dialect::new("flow")
};
