//! From the tree of a PTX text to [`Program`]s: variables get addresses, registers slots, labels instruction numbers.
mod alu;
mod bits;
mod compare;
mod control;
mod convert;
mod float;
mod function;
mod half;
mod layout;
mod matrix;
mod memory;
mod mixed;
mod modifiers;
mod moves;
mod operand;
mod texture;
mod transfer;
mod types;
mod video;
mod warp;

pub use layout::{Layout, lay_out};

use crate::isa::{Program, SHARED_BASE};
use crate::ptx::{Function, Item, Module, Operand, PtxError, Space, Statement, Variable};
use function::FunctionDecoder;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Constants of a program, each in all lanes.
#[derive(Default)]
pub(crate) struct Pool {
    words: Vec<u64>,
    slots: HashMap<(u128, u8), u32>,
}

impl Pool {
    fn slot(&mut self, value: u128, bits: u8) -> crate::isa::Slot {
        let words = &mut self.words;
        let word = *self.slots.entry((value, bits)).or_insert_with(|| {
            let at = words.len() as u32;
            match bits {
                1 => words.push(if value != 0 { u64::from(u32::MAX) } else { 0 }),
                0..=32 => words.extend([value as u64 & 0xffff_ffff | (value as u64) << 32; 16]),
                64 => words.extend([value as u64; 32]),
                _ => {
                    words.extend([value as u64; 32]);
                    words.extend([(value >> 64) as u64; 32]);
                }
            }
            at
        });
        crate::isa::Slot::pool(word)
    }
}

/// What the functions of one program share while they are decoded.
pub(crate) struct Shared<'m> {
    pub text: &'m str,
    pub layout: &'m Layout<'m>,
    /// Byte offset of a `.shared` variable's declaration and its address.
    pub shared: HashMap<usize, u32>,
    pub pool: Pool,
}

/// Decodes a kernel and the functions that it can reach.
pub fn decode_entry(text: &str, layout: &Layout<'_>, entry: usize) -> Result<Program, PtxError> {
    let reach = reachable(layout, entry);
    let (shared, static_shared, dynamic_shared) = place_shared(text, layout, &reach)?;
    let mut shared = Shared {
        text,
        layout,
        shared,
        pool: Pool::default(),
    };
    let mut functions = vec![None; layout.functions.len()];
    for &index in &reach {
        functions[index] = Some(FunctionDecoder::decode(&mut shared, index)?);
    }
    let kernel = layout.functions[entry];
    let numbers = |name: &str| {
        kernel
            .directives
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| v.as_slice())
    };
    let triple = |v: &[u32]| [v.first(), v.get(1), v.get(2)].map(|n| n.copied().unwrap_or(1));
    Ok(Program {
        functions,
        entry: entry as u32,
        pool: shared.pool.words,
        static_shared,
        dynamic_shared,
        params: layout.params[entry].iter().map(|p| (p.offset, p.bytes)).collect(),
        param_block: layout.param_blocks[entry],
        required_block: numbers(".reqntid").map(triple),
        max_threads: numbers(".maxntid").map(|v| v.iter().product()),
        max_registers: numbers(".maxnreg").and_then(|v| v.first().copied()),
        min_blocks: numbers(".minnctapersm").and_then(|v| v.first().copied()).unwrap_or(1),
        required_cluster: numbers(".reqnctapercluster").map(triple),
        source: layout.source.clone(),
    })
}

/// Functions that a kernel calls or could call, itself first.
fn reachable(layout: &Layout<'_>, entry: usize) -> Vec<usize> {
    let mut seen = BTreeSet::from([entry]);
    let mut order = vec![entry];
    let mut next = 0;
    while next < order.len() {
        let function = layout.functions[order[next]];
        next += 1;
        let mut names = BTreeSet::new();
        let mut indirect = false;
        walk(function.body.as_deref().unwrap_or_default(), &mut |statement| {
            if let Statement::Instruction(inst) = statement {
                inst.operands.iter().for_each(|o| operand_names(o, &mut names));
                indirect |= inst.opcode.starts_with("call")
                    && inst.operands.len() > 1
                    && indirect_callee(layout, &inst.operands);
            }
        });
        let called = layout.functions.iter().enumerate().filter(|(_, f)| {
            f.body.is_some()
                && !f.entry
                && (indirect || names.contains(f.name) || names.iter().any(|n| layout.alias(n) == Some(f.name)))
        });
        for (index, _) in called {
            if seen.insert(index) {
                order.push(index);
            }
        }
    }
    order
}

fn indirect_callee(layout: &Layout<'_>, operands: &[Operand<'_>]) -> bool {
    operands
        .iter()
        .any(|o| matches!(o, Operand::Name(name, 0) if name.starts_with('%') && layout.function(name).is_none()))
}

/// Visits all statements, blocks' too.
pub(crate) fn walk<'s, 'a>(statements: &'s [Statement<'a>], visit: &mut impl FnMut(&'s Statement<'a>)) {
    for statement in statements {
        visit(statement);
        if let Statement::Block(inner) = statement {
            walk(inner, visit);
        }
    }
}

fn operand_names<'a>(operand: &Operand<'a>, names: &mut BTreeSet<&'a str>) {
    match operand {
        Operand::Name(name, _) | Operand::Part(name, _, _) | Operand::Not(name) => {
            names.insert(name);
        }
        Operand::Pair(a, b) => {
            operand_names(a, names);
            operand_names(b, names);
        }
        Operand::Vector(list) | Operand::List(list) | Operand::Address(list) => {
            list.iter().for_each(|o| operand_names(o, names));
        }
        Operand::Literal(_) | Operand::Sink => {}
    }
}

/// Most static and dynamic shared memory of a block, in bytes.
pub const MAX_SHARED_BYTES: u32 = 232_448;

/// Addresses of the `.shared` variables that the reachable functions name, by the offset of their declaration; the end of
/// them; and the address of dynamic shared memory.
fn place_shared(text: &str, layout: &Layout<'_>, reach: &[usize]) -> Result<(HashMap<usize, u32>, u32, u32), PtxError> {
    let mut names = BTreeSet::new();
    let mut local: Vec<&Variable<'_>> = Vec::new();
    for &index in reach {
        walk(
            layout.functions[index].body.as_deref().unwrap_or_default(),
            &mut |statement| match statement {
                Statement::Instruction(inst) => inst.operands.iter().for_each(|o| operand_names(o, &mut names)),
                Statement::Variables(list) => local.extend(list.iter().filter(|v| v.space == Space::Shared)),
                _ => {}
            },
        );
    }
    let module = layout.module.items.iter().filter_map(|item| match item {
        Item::Variables(list) => Some(
            list.iter()
                .filter(|v| v.space == Space::Shared && names.contains(v.name)),
        ),
        _ => None,
    });
    let all: Vec<&Variable<'_>> = module.flatten().chain(local).collect();
    let mut addresses = HashMap::new();
    let mut end = u64::from(SHARED_BASE);
    let mut dynamic_align = 16;
    for variable in &all {
        if variable.init.is_some() {
            return Err(PtxError::new(
                text,
                variable.at,
                format!("`{}`: a .shared variable takes no initialiser", variable.name),
            ));
        }
        let (bytes, align) = layout::size_of(text, variable)?;
        let Some(bytes) = bytes else {
            dynamic_align = dynamic_align.max(align);
            continue;
        };
        let count = u64::from(variable.count.unwrap_or(1));
        end = end.next_multiple_of(align);
        addresses.insert(variable.at, end as u32);
        end += bytes.next_multiple_of(align) * (count - u64::from(count > 0)) + bytes;
        if end > u64::from(MAX_SHARED_BYTES + SHARED_BASE) {
            return Err(PtxError::new(
                text,
                variable.at,
                format!(
                    "`{}` brings static shared memory to {} bytes, but a block has {MAX_SHARED_BYTES}",
                    variable.name,
                    end - u64::from(SHARED_BASE)
                ),
            ));
        }
    }
    let dynamic = end.next_multiple_of(dynamic_align) as u32;
    for variable in &all {
        addresses.entry(variable.at).or_insert(dynamic);
    }
    Ok((addresses, end as u32, dynamic))
}

/// Lines of a text by byte offset, found by bisection.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        Lines(
            text.bytes()
                .enumerate()
                .filter(|(_, b)| *b == b'\n')
                .map(|(i, _)| i)
                .collect(),
        )
    }
    pub(crate) fn line(&self, at: usize) -> u32 {
        self.0.partition_point(|&end| end < at) as u32 + 1
    }
}

/// Functions of a module by name.
pub(crate) type FunctionTable<'m> = (Vec<&'m Function<'m>>, BTreeMap<&'m str, usize>);

/// Functions of a module by name; a definition replaces declarations.
///
/// Errors: two definitions of one name.
pub(crate) fn function_table<'m>(text: &str, module: &'m Module<'m>) -> Result<FunctionTable<'m>, PtxError> {
    let mut functions: Vec<&Function<'_>> = Vec::new();
    let mut names = BTreeMap::new();
    for item in &module.items {
        let Item::Function(function) = item else { continue };
        let Some(&index) = names.get(function.name) else {
            names.insert(function.name, functions.len());
            functions.push(function);
            continue;
        };
        if function.body.is_none() {
            continue;
        }
        let earlier: &Function<'_> = functions[index];
        if earlier.body.is_some() {
            let line = Lines::new(text).line(earlier.at);
            let message = format!(
                "`{}` is defined a second time, first at line {line}; give one of them another name, or remove it",
                function.name
            );
            return Err(PtxError::new(text, function.at, message));
        }
        functions[index] = function;
    }
    Ok((functions, names))
}
