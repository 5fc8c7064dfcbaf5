//! Control flow (PTX ISA 9.7.12).
use super::function::{FunctionDecoder, Operands, Place, Result, Symbol};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{Argument, AssertFail, Call, Callee, Op, Print};
use crate::ptx::Operand;

impl<'m> FunctionDecoder<'_, 'm> {
    /// Branches, calls, and ways to end.
    pub(super) fn control(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        mods.take("uni");
        match name {
            "bra" => {
                operands.count(1, 1)?;
                let Operand::Name(target, 0) = operands.get(0)? else {
                    return Err("the target must be a label".to_owned());
                };
                let label = self.label(target)?;
                self.emit(Op::Branch(label));
            }
            "brx" => {
                mods.take("idx");
                operands.count(2, 2)?;
                let index = self.source(operands.get(0)?, Ty::U32)?;
                let Operand::Name(list, 0) = operands.get(1)? else {
                    return Err("the second operand must name .branchtargets".to_owned());
                };
                let Some(Symbol::Targets(targets)) = self.lookup(list) else {
                    return Err(format!("`{list}` names no .branchtargets"));
                };
                let labels = targets.iter().map(|t| self.label(t)).collect::<Result<Box<[_]>>>()?;
                self.emit(Op::BranchIndexed(index, labels));
            }
            "call" => self.call(operands)?,
            "ret" => {
                operands.count(0, 0)?;
                let op = if self.entry { Op::Exit } else { Op::Return };
                self.emit(op);
            }
            "exit" => self.emit(Op::Exit),
            "trap" => self.emit(Op::Trap),
            "brkpt" | "pmevent" => {
                mods.take("mask");
                self.emit(Op::Nop);
            }
            _ => {
                mods.ty();
                operands.count(1, 1)?;
                self.source(operands.get(0)?, Ty::U32)?;
                self.emit(Op::Yield);
            }
        }
        Ok(())
    }

    fn call(&mut self, operands: &Operands<'m>) -> Result<()> {
        let mut rest = operands.list;
        let results = match rest {
            [Operand::List(list), Operand::Name(..), ..] => {
                rest = &rest[1..];
                list.as_slice()
            }
            _ => &[],
        };
        let [Operand::Name(name, 0), tail @ ..] = rest else {
            return Err("the called function must be a name".to_owned());
        };
        let arguments = match tail {
            [Operand::List(list), ..] => list.as_slice(),
            _ => &[],
        };
        let layout = self.shared.layout;
        let callee = match self.lookup(name) {
            Some(Symbol::Register(value, _)) if value.bits == 64 => Callee::Indirect(value),
            Some(_) => return Err(format!("`{name}` is no function")),
            None => Callee::Direct(
                layout
                    .function(name)
                    .ok_or_else(|| format!("`{name}` is not declared"))? as u32,
            ),
        };
        if let Callee::Direct(index) = callee {
            let function = layout.functions[index as usize];
            if function.entry {
                return Err(format!("`{name}` is a kernel; only functions can be called"));
            }
            if function.body.is_none() {
                return self.intrinsic(name, arguments, results);
            }
            if function.params.len() != arguments.len() || function.returns.len() != results.len() {
                return Err(format!(
                    "`{name}` takes {} arguments and gives {} results, found {} and {}",
                    function.params.len(),
                    function.returns.len(),
                    arguments.len(),
                    results.len()
                ));
            }
        }
        let arguments = arguments
            .iter()
            .map(|a| self.argument(a))
            .collect::<Result<Box<[_]>>>()?;
        let results = results.iter().map(|a| self.argument(a)).collect::<Result<Box<[_]>>>()?;
        self.emit(Op::Call(Box::new(Call {
            callee,
            arguments,
            results,
        })));
        Ok(())
    }

    /// Functions that the driver provides.
    fn intrinsic(&mut self, name: &str, arguments: &'m [Operand<'m>], results: &'m [Operand<'m>]) -> Result<()> {
        match name {
            "vprintf" => {
                let [format, values] = arguments else {
                    return Err(format!("vprintf takes 2 arguments, found {}", arguments.len()));
                };
                let (format, values) = (self.argument(format)?, self.argument(values)?);
                let result = results.first().map(|r| self.argument(r)).transpose()?;
                self.emit(Op::Print(Print {
                    format,
                    arguments: values,
                    result,
                }));
                Ok(())
            }
            "__assertfail" => {
                let [message, ..] = arguments else {
                    return Err("__assertfail takes 5 arguments, found none".to_owned());
                };
                let message = self.argument(message)?;
                self.emit(Op::AssertFail(AssertFail { message }));
                Ok(())
            }
            _ => Err(format!("function `{name}` is declared but has no body in this module")),
        }
    }

    fn argument(&mut self, operand: &Operand<'m>) -> Result<Argument> {
        if let Operand::Name(name, 0) = operand {
            match self.lookup(name) {
                Some(Symbol::Variable {
                    space: Place::Frame,
                    address,
                    bytes,
                }) => {
                    return Ok(Argument::Memory(address as u32, bytes as u32));
                }
                Some(Symbol::Register(value, _)) if value.bits != 1 => return Ok(Argument::Register(value)),
                _ => {}
            }
        }
        if let Operand::Literal(_) = operand {
            return Ok(Argument::Register(self.source(operand, Ty::B64)?));
        }
        Err(format!(
            "argument `{}` is no .param variable, register or constant",
            super::operand::text(operand)
        ))
    }
}
