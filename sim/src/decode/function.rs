//! One function: scopes, registers, labels, and the dispatch of its instructions to the families.
use super::Shared;
use super::layout::{element_bytes, size_of};
use super::modifiers::Modifiers;
use super::types::{Class, Ty};
use crate::isa::{AtomicOp, Code, Formal, Inst, Op, Predicate, Slot, Special, Value, words};
use crate::operands::visit;
use crate::ptx::{Instruction, Operand, Prototype, PtxError, Space, Statement, Variable};
use std::collections::{HashMap, HashSet};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Symbol<'m> {
    Register(Value, Class),
    /// `name<n>`: `n` registers from a slot on.
    Registers {
        first: u32,
        count: u32,
        bits: u8,
        class: Class,
    },
    /// A vector of registers from a slot on.
    Vector {
        first: u32,
        lanes: u32,
        bits: u8,
        class: Class,
    },
    /// A variable of a state space: its address there.
    Variable {
        space: Place,
        address: u64,
        bytes: u64,
    },
    /// Number of a label.
    Label(u32),
    /// `.branchtargets` or `.calltargets`.
    Targets(Vec<&'m str>),
    Prototype,
}

/// Names of a block. `a` and `a<2>` do not collide.
#[derive(Default)]
struct Scope<'m> {
    names: HashMap<&'m str, Symbol<'m>>,
    ranges: HashMap<&'m str, Symbol<'m>>,
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `.global` and `.const`.
    Global,
    /// Parameters of a kernel, at an address of their own in global memory.
    Param,
    Shared,
    /// `.local`, and parameters of functions: an offset in the frame.
    Frame,
}

/// Error text without its place.
pub(crate) type Failure = String;
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Decodes one function.
pub(crate) struct FunctionDecoder<'s, 'm> {
    pub shared: &'s mut Shared<'m>,
    pub entry: bool,
    /// Address of a kernel's parameters; those of functions are in the frame.
    pub param_block: u64,
    scopes: Vec<Scope<'m>>,
    insts: Vec<Inst>,
    origins: Vec<(u32, u32)>,
    labels: Vec<Option<u32>>,
    frame_words: u32,
    local_bytes: u64,
    specials: Vec<(Special, Slot)>,
    guard: Option<Predicate>,
    line: u32,
    carry: Option<Slot>,
    declared_registers: u64,
}

/// Registers of one function; more would only exhaust the host.
const MAX_REGISTERS: u64 = 1 << 18;
const MAX_LOCAL_BYTES: u64 = 512 * 1024;

impl<'s, 'm> FunctionDecoder<'s, 'm> {
    /// Decodes function `index` of the module.
    pub fn decode(shared: &'s mut Shared<'m>, index: usize) -> std::result::Result<Code, PtxError> {
        let layout = shared.layout;
        let text = shared.text;
        let function = layout.functions[index];
        let at_function = |message: String| PtxError::new(text, function.at, message);
        let mut decoder = FunctionDecoder {
            shared,
            entry: function.entry,
            param_block: if function.entry { layout.param_blocks[index] } else { 0 },
            scopes: vec![Scope::default()],
            insts: Vec::new(),
            origins: Vec::new(),
            labels: Vec::new(),
            frame_words: 0,
            local_bytes: 0,
            specials: Vec::new(),
            guard: None,
            line: layout.lines.line(function.at),
            carry: None,
            declared_registers: 0,
        };
        let mut params = Vec::new();
        let mut returns = Vec::new();
        for (param, place) in function.params.iter().zip(&layout.params[index]) {
            if function.entry {
                let address = layout.param_blocks[index] + u64::from(place.offset);
                let symbol = Symbol::Variable {
                    space: Place::Param,
                    address,
                    bytes: place.bytes.into(),
                };
                decoder.scopes[0].names.insert(param.name, symbol);
            } else {
                params.push(decoder.formal(param)?);
            }
        }
        for param in &function.returns {
            returns.push(decoder.formal(param)?);
        }
        let Some(body) = &function.body else {
            return Err(at_function(format!(
                "function `{}` is declared but has no body in this module",
                function.name
            )));
        };
        decoder.block(body)?;
        decoder.emit(if function.entry { Op::Exit } else { Op::Return });
        decoder.patch().map_err(at_function)?;
        decoder.find_unread(&returns);
        if decoder.local_bytes > MAX_LOCAL_BYTES {
            return Err(at_function(format!(
                "`{}` needs {} bytes of local memory, at most {MAX_LOCAL_BYTES} are allowed",
                function.name, decoder.local_bytes
            )));
        }
        // Whole registers first, so that they stay aligned to cache lines.
        Ok(Code {
            name: function.name.to_owned(),
            insts: decoder.insts,
            origins: decoder.origins,
            frame_words: decoder.frame_words,
            local_bytes: decoder.local_bytes.next_multiple_of(16) as u32,
            specials: decoder.specials,
            params,
            returns,
        })
    }

    fn formal(&mut self, param: &'m Variable<'m>) -> std::result::Result<Formal, PtxError> {
        let symbol = self.declare(param)?;
        Ok(match symbol {
            Symbol::Register(value, _) => Formal::Register(value),
            Symbol::Variable { address, bytes, .. } => Formal::Memory(address as u32, bytes as u32),
            _ => {
                return Err(PtxError::new(
                    self.shared.text,
                    param.at,
                    "a parameter is one variable".to_owned(),
                ));
            }
        })
    }

    fn block(&mut self, statements: &'m [Statement<'m>]) -> std::result::Result<(), PtxError> {
        let text = self.shared.text;
        for statement in statements {
            match statement {
                Statement::Label(name, at) => {
                    let id = self.labels.len() as u32;
                    self.labels.push(None);
                    if let Some(Symbol::Label(_)) = self.scope().names.insert(name, Symbol::Label(id)) {
                        return Err(PtxError::new(text, *at, format!("label `{name}` is defined twice")));
                    }
                }
                Statement::Targets(name, targets) => {
                    self.scope().names.insert(name, Symbol::Targets(targets.clone()));
                }
                Statement::Prototype(name, Prototype { .. }) => {
                    self.scope().names.insert(name, Symbol::Prototype);
                }
                _ => {}
            }
        }
        for statement in statements {
            match statement {
                Statement::Label(name, _) => {
                    if let Some(Symbol::Label(id)) = self.scopes.last().and_then(|s| s.names.get(name)) {
                        self.labels[*id as usize] = Some(self.insts.len() as u32);
                    }
                }
                Statement::Variables(list) => {
                    for variable in list {
                        self.declare(variable)?;
                    }
                }
                Statement::Block(inner) => {
                    self.scopes.push(Scope::default());
                    let result = self.block(inner);
                    self.scopes.pop();
                    result?;
                }
                Statement::Instruction(inst) => {
                    self.line = self.shared.layout.lines.line(inst.at);
                    let first = self.insts.len() as u32;
                    self.instruction(inst)
                        .map_err(|message| PtxError::new(text, inst.at, format!("`{}`: {message}", inst.opcode)))?;
                    if self.insts.len() as u32 > first {
                        self.origins.push((first, inst.at as u32));
                    }
                }
                Statement::Targets(..)
                | Statement::Prototype(..)
                | Statement::Location(..)
                | Statement::File(..)
                | Statement::Ignored => {}
            }
        }
        Ok(())
    }

    fn scope(&mut self) -> &mut Scope<'m> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn declare(&mut self, variable: &'m Variable<'m>) -> std::result::Result<Symbol<'m>, PtxError> {
        let text = self.shared.text;
        let fail = |message: String| PtxError::new(text, variable.at, message);
        let symbol = match variable.space {
            Space::Reg => {
                let (bits, class) = Ty::parse(variable.ty)
                    .map(|ty| (ty.bits(), ty.class()))
                    .ok_or_else(|| fail(format!("`{}`: no registers of type .{}", variable.name, variable.ty)))?;
                let lanes = variable.lanes;
                if lanes != 1 && (variable.count.is_some() || lanes * u32::from(bits) > 128 || bits == 1) {
                    return Err(fail(format!(
                        "`{}`: a vector register has at most 128 bits, no predicates and no `<n>`",
                        variable.name
                    )));
                }
                let count = variable.count.unwrap_or(lanes);
                self.declared_registers += u64::from(count);
                if self.declared_registers > MAX_REGISTERS {
                    return Err(fail(format!("more than {MAX_REGISTERS} registers in one function")));
                }
                let first = self.frame_words;
                self.frame_words += count * words(bits);
                if bits == 1 {
                    // The next register starts on a cache line again.
                    self.frame_words = self.frame_words.next_multiple_of(16);
                }
                match variable.count {
                    Some(count) => {
                        let symbol = Symbol::Registers {
                            first,
                            count,
                            bits,
                            class,
                        };
                        self.scope().ranges.insert(variable.name, symbol.clone());
                        return Ok(symbol);
                    }
                    None if lanes > 1 => Symbol::Vector {
                        first,
                        lanes,
                        bits,
                        class,
                    },
                    None => Symbol::Register(
                        Value {
                            slot: Slot::frame(first),
                            bits,
                        },
                        class,
                    ),
                }
            }
            Space::Local | Space::Param => {
                let (bytes, align) = size_of(text, variable)?;
                let bytes = bytes.ok_or_else(|| fail(format!("`{}` needs a size", variable.name)))?;
                let address = self.local_bytes.next_multiple_of(align.max(4));
                self.local_bytes = address + bytes * u64::from(variable.count.unwrap_or(1));
                if self.local_bytes > MAX_LOCAL_BYTES {
                    return Err(fail(format!(
                        "`{}` brings local memory above {MAX_LOCAL_BYTES} bytes",
                        variable.name
                    )));
                }
                Symbol::Variable {
                    space: Place::Frame,
                    address,
                    bytes,
                }
            }
            Space::Global | Space::Const | Space::Shared => self
                .module_variable(variable)
                .ok_or_else(|| fail(format!("`{}` has no address", variable.name)))?,
        };
        self.scope().names.insert(variable.name, symbol.clone());
        Ok(symbol)
    }

    fn module_variable(&self, variable: &Variable<'_>) -> Option<Symbol<'m>> {
        let bytes = element_bytes(variable.ty).unwrap_or(1);
        if variable.space == Space::Shared {
            let address = u64::from(*self.shared.shared.get(&variable.at)?);
            Some(Symbol::Variable {
                space: Place::Shared,
                address,
                bytes,
            })
        } else {
            let address = *self.shared.layout.addresses.get(&variable.at)?;
            Some(Symbol::Variable {
                space: Place::Global,
                address,
                bytes,
            })
        }
    }

    /// What a name stands for here, innermost scope first.
    pub fn lookup(&self, name: &str) -> Option<Symbol<'m>> {
        for scope in self.scopes.iter().rev() {
            if let Some(symbol) = scope.names.get(name) {
                return Some(symbol.clone());
            }
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        if digits > 0 && digits < name.len() {
            // `name<n>` makes name0 to name(n-1); the longest prefix that was declared so wins.
            for split in (name.len() - digits..name.len()).rev() {
                let (prefix, number) = name.split_at(split);
                if number.len() > 1 && number.starts_with('0') {
                    continue;
                }
                let Ok(number) = number.parse::<u32>() else { continue };
                for scope in self.scopes.iter().rev() {
                    if let Some(Symbol::Registers {
                        first,
                        count,
                        bits,
                        class,
                    }) = scope.ranges.get(prefix)
                        && number < *count
                    {
                        let slot = Slot::frame(first + number * words(*bits));
                        return Some(Symbol::Register(Value { slot, bits: *bits }, *class));
                    }
                }
            }
        }
        self.shared.layout.module.items.iter().find_map(|item| match item {
            crate::ptx::Item::Variables(list) => list
                .iter()
                .rev()
                .find(|v| v.name == name)
                .and_then(|v| self.module_variable(v)),
            _ => None,
        })
    }

    /// Appends an instruction under the current guard.
    pub fn emit(&mut self, op: Op) {
        self.insts.push(Inst {
            op,
            guard: self.guard,
            line: self.line,
        });
    }

    /// Finds exchanges whose old value no instruction reads.
    fn find_unread(&mut self, returns: &[Formal]) {
        let exchange = |op: &Op| matches!(op, Op::Atomic(a) if a.op == AtomicOp::Exchange);
        if !self.insts.iter().any(|inst| exchange(&inst.op)) {
            return;
        }
        let mut read = HashSet::new();
        for formal in returns {
            if let Formal::Register(value) = formal {
                read.insert(value.slot.word());
            }
        }
        for inst in &self.insts {
            visit(inst, &mut |slot, writes| {
                if !writes {
                    read.insert(slot.word());
                }
            });
        }
        for inst in &mut self.insts {
            if let Op::Atomic(a) = &mut inst.op
                && a.op == AtomicOp::Exchange
            {
                a.wants_old = a.old.iter().any(|value| read.contains(&value.slot.word()));
            }
        }
    }

    /// A fresh register.
    pub fn temporary(&mut self, bits: u8) -> Value {
        let slot = Slot::frame(self.frame_words);
        self.frame_words = (self.frame_words + words(bits)).next_multiple_of(16);
        Value { slot, bits }
    }

    /// The condition code register.
    pub fn carry(&mut self) -> Slot {
        if let Some(slot) = self.carry {
            return slot;
        }
        let slot = self.temporary(1).slot;
        self.carry = Some(slot);
        slot
    }

    /// The register of a special value, filled when a frame is made.
    pub fn special(&mut self, special: Special) -> Slot {
        if let Some((_, slot)) = self.specials.iter().find(|(s, _)| *s == special) {
            return *slot;
        }
        let slot = self.temporary(32).slot;
        self.specials.push((special, slot));
        slot
    }

    /// Number of a label.
    pub fn label(&self, name: &str) -> Result<u32> {
        match self.lookup(name) {
            Some(Symbol::Label(id)) => Ok(id),
            _ => Err(format!("`{name}` is no label here")),
        }
    }

    fn patch(&mut self) -> Result<()> {
        let labels = &self.labels;
        let at = |id: u32| {
            labels
                .get(id as usize)
                .copied()
                .flatten()
                .ok_or_else(|| "a label without a place".to_owned())
        };
        for inst in &mut self.insts {
            match &mut inst.op {
                Op::Branch(target) => *target = at(*target)?,
                Op::BranchIndexed(_, targets) => {
                    for target in targets.iter_mut() {
                        *target = at(*target)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn instruction(&mut self, inst: &'m Instruction<'m>) -> Result<()> {
        self.guard = match inst.guard {
            Some((name, negated)) => {
                let value = self.register(name)?;
                if value.bits != 1 {
                    return Err(format!("guard `{name}` is no predicate"));
                }
                Some(Predicate {
                    slot: value.slot,
                    negated,
                })
            }
            None => None,
        };
        let (mnemonic, mut mods) = Modifiers::split(inst.opcode);
        let operands = Operands { list: &inst.operands };
        self.dispatch(mnemonic, &mut mods, &operands)?;
        match mods.unknown() {
            Some(part) => Err(format!("modifier `.{part}` is not simulated here")),
            None => Ok(()),
        }
    }

    fn dispatch(&mut self, mnemonic: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        match mnemonic {
            "add" | "sub" | "mul" | "fma" | "mad" | "div" | "min" | "max" | "abs" | "neg" | "rcp" | "sqrt"
            | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "copysign" | "testp"
                if self.float(mnemonic, mods, operands)? =>
            {
                Ok(())
            }
            "add" | "sub" | "addc" | "subc" | "mul" | "mad" | "madc" | "mul24" | "mad24" | "sad" | "div" | "rem"
            | "abs" | "neg" | "min" | "max" | "popc" | "clz" | "bfind" | "fns" | "brev" | "bfe" | "bfi" | "szext"
            | "bmsk" | "dp4a" | "dp2a" | "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "shl" | "shr" | "shf"
            | "prmt" => self.integer(mnemonic, mods, operands),
            "setp" | "set" | "selp" | "slct" => self.comparison(mnemonic, mods, operands),
            "cvt" | "cvta" => self.conversion(mnemonic, mods, operands),
            "mov" => self.mov(mods, operands),
            "ld" | "ldu" | "st" | "atom" | "red" | "prefetch" | "prefetchu" | "applypriority" | "discard"
            | "createpolicy" | "isspacep" | "mapa" | "getctarank" | "alloca" | "stacksave" | "stackrestore"
            | "istypep" => self.memory(mnemonic, mods, operands),
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "pmevent" => {
                self.control(mnemonic, mods, operands)
            }
            "bar" | "barrier" | "membar" | "fence" | "griddepcontrol" | "setmaxnreg" | "shfl" | "vote" | "match"
            | "activemask" | "redux" | "elect" => self.warp(mnemonic, mods, operands),
            "ldmatrix" | "stmatrix" | "movmatrix" | "mma" | "wmma" | "wgmma" => self.matrix(mnemonic, mods, operands),
            "cp" | "mbarrier" | "tensormap" => self.transfer(mnemonic, mods, operands),
            "tex" | "tld4" | "txq" | "suld" | "sust" | "sured" | "suq" => self.texture(mnemonic, mods, operands),
            m if m.starts_with('v') => self.video(m, mods, operands),
            _ => Err("this instruction is not simulated".to_owned()),
        }
    }
}

/// Operands of an instruction by position.
pub(crate) struct Operands<'m> {
    pub list: &'m [Operand<'m>],
}

impl<'m> Operands<'m> {
    /// Number of operands.
    pub fn len(&self) -> usize {
        self.list.len()
    }
    /// One of them.
    pub fn get(&self, index: usize) -> Result<&'m Operand<'m>> {
        self.list
            .get(index)
            .ok_or_else(|| format!("operand {} is missing", index + 1))
    }
    /// An error unless there are between `least` and `most`.
    pub fn count(&self, least: usize, most: usize) -> Result<()> {
        if (least..=most).contains(&self.len()) {
            Ok(())
        } else if least == most {
            Err(format!("expected {least} operands, found {}", self.len()))
        } else {
            Err(format!("expected {least} to {most} operands, found {}", self.len()))
        }
    }
}
