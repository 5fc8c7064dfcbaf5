//! `mov`: copies, and joining and splitting of registers.
use super::alu::bits_type;
use super::function::{FunctionDecoder, Operands, Result, Symbol};
use super::mixed::lanes32;
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{Op, Value};
use crate::ptx::Operand;

impl<'m> FunctionDecoder<'_, 'm> {
    /// `mov`.
    pub(super) fn mov(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let ty = mods.ty().ok_or("the type is missing")?;
        operands.count(2, 2)?;
        let (to, from) = (operands.get(0)?, operands.get(1)?);
        if ty == Ty::Pred {
            let d = self.destination(to, ty)?;
            let p = self.predicate(from)?;
            self.emit(Op::Predicate(d.slot, p));
            return Ok(());
        }
        if let Operand::Vector(parts) = to {
            let bits = ty.bits() / parts.len().max(1) as u8;
            let part_ty = bits_type(bits)
                .filter(|_| matches!(parts.len(), 2 | 4))
                .ok_or("the parts do not divide the type")?;
            let source = self.source(from, ty)?;
            let parts = parts
                .iter()
                .map(|p| {
                    if *p == Operand::Sink {
                        Ok(None)
                    } else {
                        self.destination(p, part_ty).map(Some)
                    }
                })
                .collect::<Result<Box<[_]>>>()?;
            self.emit(Op::Split(parts, source));
            return Ok(());
        }
        let d = self.destination(to, ty)?;
        if let Operand::Vector(parts) = from {
            let bits = ty.bits() / parts.len().max(1) as u8;
            let part_ty = bits_type(bits)
                .filter(|_| matches!(parts.len(), 2 | 4))
                .ok_or("the parts do not divide the type")?;
            let parts = parts
                .iter()
                .map(|p| self.source(p, part_ty))
                .collect::<Result<Box<[_]>>>()?;
            self.emit(Op::Join(d, parts));
            return Ok(());
        }
        if let Operand::Name(name, 0) = from
            && let Some(Symbol::Label(_)) = self.lookup(name)
        {
            return Err(format!("the address of label `{name}` cannot be taken"));
        }
        let s = self.source(from, ty)?;
        self.copy(d, s);
        Ok(())
    }

    /// Copies a register.
    pub(super) fn copy(&mut self, d: Value, s: Value) {
        match d.bits {
            64 => self.emit(Op::Copy64(d.slot, s.slot)),
            128 => self.emit(Op::Copy128(d.slot, s.slot)),
            16 => self.emit(Op::Unary32(lanes32!(|a| a & 0xffff), d.slot, s.slot)),
            _ => self.emit(Op::Copy32(d.slot, s.slot)),
        }
    }
}
