//! A small dialect that uses every part of the declarative layer; the tests are about it.
use girih_ir::{
    attr_enum,
    constraint::{ANY, Constraint, I1, INDEX, MEMREF},
    dialect::Dialect,
    kind::{Bool, I64, I64s, Shaped, Str, SymbolName},
    op,
    op::{Branch, Fold},
    param_attr, param_type,
    prelude::*,
    rewrite::PatternSet,
};

attr_enum! {
    /// How bytes are permuted.
    pub enum Swizzle("a swizzle") {
        /// Not at all.
        None = "none",
        /// Within 64 bytes.
        B64 = "64",
        /// Within 128 bytes.
        B128 = "128",
    }
}

param_type! {
    /// A tile of elements.
    pub struct TileType = "demo"."tile" {
        params { tile: required(Shaped), swizzle: default(Swizzle, Swizzle::None) }
        options [memref_element, layout]
        hooks {
            fn verify(&self, e: &Emitter) -> Res {
                let (shape, _) = self.tile();
                if shape.len() != 2 {
                    return e.error(format!("expected a tile of rank 2, found rank {}; reshape it", shape.len())).report();
                }
                Ok(())
            }
            fn layout(&self) -> (u64, u64) { (64, 8) }
        }
    }
}

param_attr! {
    /// A memory space, and a tensor encoding for even sizes.
    pub struct Space = "demo"."space" {
        params { bank: default(I64, 0) }
        options [encoding]
        hooks {
            fn verify_encoding(&self, shape: &[i64], _element: Type<'c>, e: &Emitter) -> Res {
                match shape.iter().find(|d| *d % 2 != 0) {
                    Some(d) => e.error(format!("size {d} is odd; this encoding needs even sizes")).report(),
                    None => Ok(()),
                }
            }
        }
    }
}

const TILE: Constraint = Constraint::new("a demo tile", |t| TileType::of(t).is_some());

op! {
    /// A constant.
    ///
    /// ```mlir
    /// %c = demo.constant 7
    /// ```
    pub struct Constant = "demo.constant" {
        results { result: one(INDEX) }
        attributes { value: required(I64) }
        traits [ConstantLike]
        effects pure
        format "$value attr-dict"
        hooks {
            fn fold(self, _: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                Some(vec![Fold::Constant(self.op().attr("value")?)])
            }
        }
    }
}

op! {
    /// Adds.
    ///
    /// ```mlir
    /// %a = demo.constant 7
    /// %b = demo.add %a, %a
    /// ```
    pub struct Add = "demo.add" {
        operands { lhs: one(INDEX), rhs: one(INDEX) }
        results { result: one(INDEX) }
        traits [Commutative]
        interfaces [ResultNames]
        effects pure
        format "$lhs `,` $rhs attr-dict"
        hooks {
            fn fold(self, operands: &[Option<Attribute<'c>>]) -> Option<Vec<Fold<'c, 'c>>> {
                use girih_ir::kind::Kind;
                let a = I64::from_attribute(operands[0]?)?;
                let b = I64::from_attribute(operands[1]?)?;
                Some(vec![Fold::Constant(I64::to_attribute(&(a + b), self.op().ctx()))])
            }
            fn canonicalize(patterns: &mut PatternSet<'c>) {
                patterns.add("demo.add", 1, |op, rw| {
                    let add = Add::from_op(op);
                    let zero = add.rhs().defining_op().and_then(|d| d.cast::<Constant>()).is_some_and(|c| c.value() == 0);
                    if !zero { return Err(rw.no_match(op, "not + 0")) }
                    rw.replace(op, &[add.lhs()]);
                    Ok(())
                });
            }
            fn result_names(self) -> Vec<(Value<'c, 'c>, String)> { vec![(self.result(), "sum".into())] }
        }
    }
}

op! {
    /// Loads a tile.
    pub struct Load = "demo.load" {
        operands { source: one(MEMREF), indices: variadic(INDEX), mask: optional(ANY) }
        results { result: one(TILE) }
        attributes { volatile: unit, align: default(I64, 16), cached: optional(Bool) }
        effects [read source]
        format "(`volatile` $volatile^)? $source `[` $indices `]` (`mask` $mask^ `:` type($mask))? (`cached` $cached^)? attr-dict `:` type($source) `->` type($result)"
        hooks {
            fn verify(self) -> Res {
                let (_, element) = TileType::of(self.result().r#type()).expect("a tile").tile();
                let memory = self.source().r#type().element_type().expect("an element type");
                if element != memory {
                    return Diag::op(&self.op(), format!("element type {element} of the tile does not match the memory's {memory}"))
                        .note(self.source().location(), "memory defined here").report();
                }
                Ok(())
            }
        }
    }
}

op! {
    /// Stores a tile.
    pub struct Store = "demo.store" {
        operands { value: one(TILE), destination: one(MEMREF) }
        effects [write destination]
        format "$value `,` $destination attr-dict `:` type(operands)"
    }
}

op! {
    /// Runs its body once.
    pub struct Scope = "demo.scope" {
        operands { inputs: variadic(ANY) }
        results { results: variadic(ANY) }
        regions { body: single }
        traits [SingleBlock, RecursiveMemoryEffects]
        interfaces [RegionBranch]
        format "`(` $inputs `)` $body attr-dict `:` functional-type(operands, results)"
        hooks {
            fn successor_regions(self, from: Option<usize>) -> Vec<Branch> {
                match from { None => vec![Branch::Region(0)], Some(_) => vec![Branch::Parent] }
            }
            fn entry_operands(self, _: Branch) -> (usize, usize) { (0, self.inputs().len()) }
        }
    }
}

op! {
    /// Ends a scope.
    pub struct Yield = "demo.yield" {
        operands { values: variadic(ANY) }
        traits [Terminator, ReturnLike]
        interfaces [RegionTerminator]
        effects pure
        format "($values^ `:` type($values))? attr-dict"
    }
}

op! {
    /// A named thing.
    pub struct Named = "demo.named" {
        attributes { sym_name: required(SymbolName) }
        regions { body: any }
        traits [IsolatedFromAbove]
        interfaces [Symbol]
        format "$sym_name $body attr-dict"
    }
}

op! {
    /// Refers to a named thing.
    pub struct Use = "demo.use" {
        attributes { target: required(girih_ir::kind::SymbolRef) }
        interfaces [SymbolUser]
        format "$target attr-dict"
        hooks {
            fn verify_symbol_uses(self, symbols: &girih_ir::op::Symbols<'c>) -> Res {
                if symbols.lookup(&self.target()).is_none() {
                    return Diag::op(&self.op(), format!("refers to '@{}', which is not defined", self.target())).report();
                }
                Ok(())
            }
        }
    }
}

op! {
    /// Goes on in a block.
    pub struct Jump = "demo.jump" {
        operands { condition: optional(I1), values: variadic(ANY) }
        successors { to: one, others: variadic }
        traits [Terminator]
        format "($condition^ `,`)? $to (`or` $others^)? `(` ($values^ `:` type($values))? `)` attr-dict"
    }
}

op! {
    /// Any number of regions, after one that may be empty.
    pub struct Many = "demo.many" {
        attributes { label: optional(Str), quiet: unit, order: default(Swizzle, Swizzle::None), sizes: default(I64s, vec![1, 2]) }
        regions { head: at_most_one, rest: variadic_any }
        traits [NoTerminator]
        format "(`quiet` $quiet^)? (`label` `=` $label^)? (`order` $order^)? (`sizes` $sizes^)? attr-dict (`head` $head^)? $rest"
    }
}

op! {
    /// Two variadic results.
    pub struct Split = "demo.split" {
        operands { input: one(INDEX) }
        results { left: variadic(INDEX), right: variadic(INDEX) }
        effects pure
        format "$input attr-dict `->` type($left) `and` type($right)"
    }
}

pub static DEMO: Dialect = Dialect {
    ops: &[
        Constant::REGISTRATION,
        Add::REGISTRATION,
        Load::REGISTRATION,
        Store::REGISTRATION,
        Scope::REGISTRATION,
        Yield::REGISTRATION,
        Named::REGISTRATION,
        Use::REGISTRATION,
        Jump::REGISTRATION,
        Many::REGISTRATION,
        Split::REGISTRATION,
    ],
    types: &[TileType::REGISTRATION],
    attributes: &[Space::REGISTRATION],
    materialize_constant: Some(|value, ty, loc| {
        use girih_ir::kind::Kind;
        Some(Constant::build(loc, ty, I64::from_attribute(value)?))
    }),
    ..Dialect::new("demo")
};
