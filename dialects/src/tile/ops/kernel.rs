//! Kernels: how they are launched, what each block does, and which warps do what.
use super::{
    super::{facts, types::TensorMapType},
    kernel_rules,
};
use girih_ir::{
    asm::{OpParser, Printer, RegionArgument, Token},
    constraint::{ANY, INDEX},
    ext::{BlockExt, block},
    kind::{AnyAttr, I64, I64s, Kind, Strs, SymbolName, SymbolRef},
    melior::ir::attribute::ArrayAttribute,
    op,
    op::OpView,
    prelude::*,
};

/// Most threads of a block.
pub const MAX_THREADS: i64 = 1024;
/// 32-bit registers of a multiprocessor.
pub const REGISTER_FILE: i64 = 65536;

op! {
    /// A kernel.
    ///
    /// `launch` runs on the host, before the kernel: index arithmetic on the sizes of the arguments, and tensor maps; it
    /// ends with `tile.grid`, whose extra arguments the body sees after the kernel's own. `body` runs on the device, once
    /// in each thread of each block.
    ///
    /// | argument | becomes |
    /// |---|---|
    /// | a memref in `#tile.global` | an address, then each dynamic size, then each dynamic stride in elements, as i64 |
    /// | an integer or float | itself |
    /// | a `!tile.tensor_map` | a tensor map that the caller has encoded, 128 bytes by value, taken as it is |
    ///
    /// Attributes of an argument say what it is known to be, as in
    /// `%A: memref<...> {tile.aligned = 16, tile.divisible = [1, 64]}` ([`super::super::facts`]). Passes then do not ask for it
    /// at run time, and a launch that breaks it is refused.
    ///
    /// ```mlir
    /// tile.kernel @copy(%A: memref<?xf32, #tile.global>) threads(128) launch {
    ///   %c0 = arith.constant 0 : index
    ///   %c1 = arith.constant 1 : index
    ///   %c128 = arith.constant 128 : index
    ///   %n = memref.dim %A, %c0 : memref<?xf32, #tile.global>
    ///   %blocks = arith.ceildivui %n, %c128 : index
    ///   tile.grid %blocks, %c1, %c1
    /// } body {
    ///   %thread = tile.thread_id
    /// }
    /// ```
    pub struct Kernel = "tile.kernel" {
        attributes {
            sym_name: required(SymbolName),
            /// Names of the arguments, as the source has them.
            arg_names: required(Strs),
            /// What is known of the arguments: a dictionary for each; see [`super::super::facts`].
            arg_attrs: optional(AnyAttr),
            /// Threads of a block.
            threads: required(I64),
            /// Blocks of a cluster in x, y, z.
            cluster: optional(I64s),
            /// Bytes of shared memory; `tile-allocate-shared` sets it.
            shared_bytes: optional(I64),
            /// Blocks that a multiprocessor is to hold at once (`.minnctapersm`): it bounds the registers of a thread.
            min_blocks: optional(I64),
        }
        regions { launch: single, body: some }
        traits [IsolatedFromAbove]
        interfaces [Symbol, BlockArgumentNames]
        format custom
        hooks {
            fn verify(self) -> Res { kernel_rules::kernel(self) }
            fn verify_regions(self) -> Res { kernel_rules::kernel_regions(self) }
            fn parse(p: &OpParser<'c>) -> Res { parse_kernel(p) }
            fn print(self, p: &Printer) { print_kernel(self, p) }
            fn block_argument_names(self, region: RegionRef<'c, 'c>) -> Vec<(Value<'c, 'c>, String)> {
                named_arguments(self.op(), region)
            }
        }
    }
}

op! {
    /// Ends a kernel's launch region: blocks of the grid in x, y, z, and values that the body sees as extra arguments. A
    /// grid with no blocks launches nothing.
    ///
    /// ```mlir
    /// tile.kernel @nothing() threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    /// }
    /// ```
    pub struct Grid = "tile.grid" {
        operands { x: one(INDEX), y: one(INDEX), z: one(INDEX), args: variadic(ANY) }
        traits [Terminator]
        effects pure
        format "$x `,` $y `,` $z (`args` `(` $args^ `:` type($args) `)`)? attr-dict"
        hooks {
            fn verify(self) -> Res {
                let mut errors = Errors::default();
                let op = self.op();
                errors.merge(kernel_rules::stands_in(op, &[(Kernel::NAME, 0), (Entry::NAME, 0)], "ends the launch region of a tile.kernel"));
                for (i, v) in self.args().iter().enumerate() {
                    if TensorMapType::of(v.r#type()).is_none() {
                        errors.op(&op, format!("args[{i}] is {}, but only tensor maps are handed to the body", v.r#type()));
                    }
                }
                errors.result()
            }
        }
    }
}

op! {
    /// Ends a kernel's body.
    ///
    /// ```mlir
    /// tile.kernel @nothing() threads(32) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   tile.return
    /// }
    /// ```
    pub struct Return = "tile.return" {
        traits [Terminator]
        effects pure
        format "attr-dict"
        hooks {
            fn verify(self) -> Res { kernel_rules::stands_in(self.op(), &[(Kernel::NAME, 1)], "ends the body of a tile.kernel") }
        }
    }
}

op! {
    /// What stays of a kernel after its body has become an `llvm.func`: the launch region, from which the manifest is
    /// written. `convert-tile-to-nvvm` makes it.
    ///
    /// ```mlir
    /// tile.entry @copy in @copy_module(%A: memref<?xf32, #tile.global>) threads(128) launch {
    ///   %c0 = arith.constant 0 : index
    ///   %c1 = arith.constant 1 : index
    ///   %n = memref.dim %A, %c0 : memref<?xf32, #tile.global>
    ///   tile.grid %n, %c1, %c1
    /// }
    /// ```
    pub struct Entry = "tile.entry" {
        attributes {
            sym_name: required(SymbolName),
            arg_names: required(Strs),
            arg_attrs: optional(AnyAttr),
            threads: required(I64),
            cluster: optional(I64s),
            shared_bytes: optional(I64),
            /// The module with the lowered body.
            module: required(SymbolRef),
        }
        regions { launch: single }
        traits [IsolatedFromAbove]
        interfaces [Symbol, BlockArgumentNames]
        format custom
        hooks {
            fn verify(self) -> Res { kernel_rules::entry(self) }
            fn verify_regions(self) -> Res { kernel_rules::entry_regions(self) }
            fn parse(p: &OpParser<'c>) -> Res {
                let context = p.context();
                let name = p.symbol()?;
                p.set_attribute("sym_name", name);
                p.keyword("in")?;
                let module = SymbolRef::parse(p)?;
                p.set_attribute("module", SymbolRef::to_attribute(&module, context));
                let (args, facts) = parse_arguments(p)?;
                set_names(p, &args, facts);
                parse_shape(p)?;
                p.attr_dict_with_keyword()?;
                p.keyword("launch")?;
                p.region(&args)?;
                Ok(())
            }
            fn print(self, p: &Printer) {
                p.text(" ").symbol(&self.sym_name()).text(" in ").symbol(&self.module());
                print_arguments(p, self.launch(), self.op());
                print_shape(p, self.threads(), self.cluster());
                p.attr_dict_with_keyword(&self.op(), &["sym_name", "arg_names", "arg_attrs", "threads", "cluster", "module"]);
                p.text(" launch ").region(self.launch(), false, true);
            }
            fn block_argument_names(self, region: RegionRef<'c, 'c>) -> Vec<(Value<'c, 'c>, String)> {
                named_arguments(self.op(), region)
            }
        }
    }
}

op! {
    /// Gives each warp of the block one role, by its number: the first role gets the first warps. A role's region sees the
    /// thread's number within the role. With `registers`, the warps of a role take or give registers (`setmaxnreg`); such
    /// roles are whole warpgroups, and the block's budgets fit the register file. All warps meet again after the op.
    ///
    /// A role with `barrier(n)` keeps the named barrier `n` for all its threads together, and may then work on whole tiles as a
    /// block does: its threads hold them, and passes put barriers of the role where accesses need them. Its warps are a power
    /// of two, from a multiple of that.
    ///
    /// ```mlir
    /// tile.kernel @roles() threads(256) launch {
    ///   %c1 = arith.constant 1 : index
    ///   tile.grid %c1, %c1, %c1
    /// } body {
    ///   tile.warp_specialize
    ///   role producer(%t) warps(4) registers(40) {
    ///     %elected = tile.elect
    ///   } role consumer(%t) warps(4) registers(232) barrier(1) {
    ///     tile.barrier id 1 threads 128
    ///   }
    /// }
    /// ```
    pub struct WarpSpecialize = "tile.warp_specialize" {
        attributes {
            names: required(Strs),
            /// Warps of each role.
            warps: required(I64s),
            /// Registers a thread in each role; 0: as the compiler finds.
            registers: required(I64s),
            /// The barrier at which all threads of a role meet; 0: none. Left out where no role has one.
            barriers: optional(I64s),
        }
        regions { roles: variadic_single }
        traits [RecursiveMemoryEffects]
        format custom
        hooks {
            fn verify(self) -> Res { kernel_rules::roles(self) }
            fn parse(p: &OpParser<'c>) -> Res {
                let context = p.context();
                let (mut names, mut warps, mut registers, mut barriers) = (vec![], vec![], vec![], vec![]);
                while p.optional_keyword("role") {
                    names.push(p.any_keyword()?);
                    p.token(Token::LParen)?;
                    let argument = p.argument(false)?;
                    p.token(Token::RParen)?;
                    p.keyword("warps")?;
                    warps.push(parenthesised(p)?);
                    registers.push(if p.optional_keyword("registers") { parenthesised(p)? } else { 0 });
                    barriers.push(if p.optional_keyword("barrier") { parenthesised(p)? } else { 0 });
                    let index = Type::index(context);
                    let region = p.region(&[argument.with_type(index)])?;
                    p.ensure_terminator(region, EndRole::NAME);
                }
                if names.is_empty() {
                    return p.error(p.loc(), "expected `role name(%thread) warps(n) { ... }`").report();
                }
                p.set_attribute("names", Strs::to_attribute(&names, context));
                p.set_attribute("warps", I64s::to_attribute(&warps, context));
                p.set_attribute("registers", I64s::to_attribute(&registers, context));
                if barriers.iter().any(|b| *b != 0) {
                    p.set_attribute("barriers", I64s::to_attribute(&barriers, context));
                }
                p.attr_dict_with_keyword()
            }
            fn print(self, p: &Printer) {
                let (names, warps, registers) = (self.names(), self.warps(), self.registers());
                let barriers = self.barriers().unwrap_or_default();
                for (i, r) in self.roles().into_iter().enumerate() {
                    p.newline();
                    p.text(format!("role {}(", names[i]));
                    if let Some(t) = r.entry().and_then(|b| b.argument_values().first().copied()) {
                        p.argument(t, false);
                    }
                    p.text(format!(") warps({})", warps[i]));
                    if registers[i] > 0 {
                        p.text(format!(" registers({})", registers[i]));
                    }
                    if let Some(barrier) = barriers.get(i).filter(|b| **b != 0) {
                        p.text(format!(" barrier({barrier})"));
                    }
                    p.text(" ").region(r, false, !ends_plainly(r, EndRole::NAME));
                }
                p.attr_dict_with_keyword(&self.op(), &["names", "warps", "registers", "barriers"]);
            }
        }
    }
}

op! {
    /// Ends a role; it may be left out, and is not printed.
    ///
    /// ```mlir
    /// tile.warp_specialize
    /// role all(%t) warps(4) {
    ///   tile.end_role
    /// }
    /// ```
    pub struct EndRole = "tile.end_role" {
        traits [Terminator]
        effects pure
        format "attr-dict"
        hooks {
            fn verify(self) -> Res {
                let parent = self.op().parent();
                if parent.is_none_or(|p| p.is::<WarpSpecialize>()) {
                    return Ok(());
                }
                Diag::op(&self.op(), "ends a role of tile.warp_specialize, and stands nowhere else").report()
            }
        }
    }
}

/// Names for a kernel's arguments; asked also of ops that do not verify.
fn named_arguments<'c>(op: OperationRef<'c, 'c>, region: RegionRef<'c, 'c>) -> Vec<(Value<'c, 'c>, String)> {
    let names = op.attr("arg_names").and_then(Strs::from_attribute).unwrap_or_default();
    let arguments = region.entry().map(|b| b.argument_values()).unwrap_or_default();
    arguments.into_iter().zip(names).collect()
}

pub(super) fn parenthesised(p: &OpParser<'_>) -> Res<i64> {
    p.token(Token::LParen)?;
    let v = p.integer()?;
    p.token(Token::RParen)?;
    Ok(v)
}

/// Arguments in parentheses, and what is said of them: a dictionary for each, or nothing.
type Arguments<'c> = (Vec<RegionArgument<'c>>, Option<Attribute<'c>>);

fn parse_arguments<'c>(p: &OpParser<'c>) -> Res<Arguments<'c>> {
    let (mut args, mut facts) = (vec![], vec![]);
    p.token(Token::LParen)?;
    if p.optional_token(Token::RParen) {
        return Ok((args, None));
    }
    loop {
        args.push(p.argument(true)?);
        facts.push(p.optional_attribute(None)?);
        if !p.optional_token(Token::Comma) {
            break;
        }
    }
    p.token(Token::RParen)?;
    let said = facts.iter().any(Option::is_some);
    let nothing = Attribute::parse(p.context(), "{}").expect("an empty dictionary");
    let facts: Vec<_> = facts.into_iter().map(|f| f.unwrap_or(nothing)).collect();
    let facts = said.then(|| ArrayAttribute::new(p.context(), &facts).into());
    Ok((args, facts))
}
fn set_names<'c>(p: &OpParser<'c>, args: &[RegionArgument<'c>], facts: Option<Attribute<'c>>) {
    if let Some(facts) = facts {
        p.set_attribute("arg_attrs", facts);
    }
    let names: Vec<_> = args.iter().map(|a| a.name()).collect();
    p.set_attribute("arg_names", Strs::to_attribute(&names, p.context()));
}
fn parse_shape(p: &OpParser<'_>) -> Res {
    p.keyword("threads")?;
    let threads = parenthesised(p)?;
    p.set_attribute("threads", I64::to_attribute(&threads, p.context()));
    if p.optional_keyword("cluster") {
        p.token(Token::LParen)?;
        let mut cluster = vec![p.integer()?];
        while p.optional_token(Token::Comma) {
            cluster.push(p.integer()?);
        }
        p.token(Token::RParen)?;
        p.set_attribute("cluster", I64s::to_attribute(&cluster, p.context()));
    }
    Ok(())
}
fn print_arguments(p: &Printer, region: RegionRef<'_, '_>, op: OperationRef<'_, '_>) {
    p.text("(");
    let arguments = region.entry().map(|b| b.argument_values()).unwrap_or_default();
    for (i, a) in arguments.iter().enumerate() {
        if i > 0 {
            p.text(", ");
        }
        p.argument(*a, true);
        if let Some(said) = facts::said(op, i) {
            p.text(" ").attribute(said);
        }
    }
    p.text(")");
}
/// Whether a region is one block whose terminator `name` says nothing that leaving it out would lose.
pub(super) fn ends_plainly(region: RegionRef<'_, '_>, name: &str) -> bool {
    let blocks = region.block_list();
    let terminator = blocks.first().and_then(|b| b.terminator_op());
    blocks.len() == 1 && terminator.is_some_and(|t| t.full_name() == name && t.attribute_count() == 0)
}
fn print_shape(p: &Printer, threads: i64, cluster: Option<Vec<i64>>) {
    p.text(format!(" threads({threads})"));
    if let Some(c) = cluster {
        let c: Vec<_> = c.iter().map(i64::to_string).collect();
        p.text(format!(" cluster({})", c.join(", ")));
    }
}

fn parse_kernel<'c>(p: &OpParser<'c>) -> Res {
    let name = p.symbol()?;
    p.set_attribute("sym_name", name);
    let (mut args, facts) = parse_arguments(p)?;
    set_names(p, &args, facts);
    parse_shape(p)?;
    p.attr_dict_with_keyword()?;
    p.keyword("launch")?;
    p.region(&args)?;
    p.keyword("body")?;
    if p.optional_keyword("args") {
        let at = p.loc();
        let (maps, facts) = parse_arguments(p)?;
        if facts.is_some() {
            return p
                .error(at, "attributes are said of the kernel's own arguments, in its header")
                .report();
        }
        args.extend(maps);
    }
    let body = p.region(&args)?;
    p.ensure_terminator(body, Return::NAME);
    Ok(())
}

fn print_kernel<'c>(k: Kernel<'c, 'c>, p: &Printer) {
    p.text(" ").symbol(&k.sym_name());
    print_arguments(p, k.launch(), k.op());
    print_shape(p, k.threads(), k.cluster());
    p.attr_dict_with_keyword(&k.op(), &["sym_name", "arg_names", "arg_attrs", "threads", "cluster"]);
    p.text(" launch ").region(k.launch(), false, true).text(" body ");
    let own = k.launch().entry().map(|b| b.argument_values()).unwrap_or_default();
    let all = k.body().entry().map(|b| b.argument_values()).unwrap_or_default();
    // Both regions see the kernel's arguments under the names in its header.
    if !own.is_empty() {
        let names: Vec<_> = own.iter().chain(all.iter().skip(own.len())).copied().collect();
        p.shadow_arguments(k.body(), &names);
    }
    if all.len() > own.len() {
        p.text("args(");
        for (i, a) in all[own.len()..].iter().enumerate() {
            if i > 0 {
                p.text(", ");
            }
            p.argument(*a, true);
        }
        p.text(") ");
    }
    p.region(k.body(), false, !ends_plainly(k.body(), Return::NAME));
}

/// Whether an op may stand in a launch region.
pub fn is_host_op(name: &str) -> bool {
    matches!(
        name,
        "memref.dim"
            | "memref.transpose"
            | "memref.subview"
            | "memref.collapse_shape"
            | "memref.cast"
            | "tile.tensor_map"
            | "tile.cluster_size"
            | "tile.cluster_dim"
            | "tile.grid"
    ) || name.starts_with("arith.")
        || name.starts_with("index.")
}

/// A block with the arguments of a role.
pub fn role_block<'c>(loc: Location<'c>) -> Block<'c> {
    let context = girih_ir::context(loc.context());
    block(&[Type::index(context)], loc)
}
