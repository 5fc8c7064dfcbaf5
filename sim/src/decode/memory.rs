//! Loads, stores, atomics and what goes with addresses (PTX ISA 9.7.9).
use super::function::{FunctionDecoder, Operands, Place, Result};
use super::modifiers::Modifiers;
use super::types::Ty;
use super::warp::scope;
use crate::isa::{Access, Address, Atomic, AtomicOp, AtomicType, Base, Op, PARAM_BASE, Scope, Space, Strength, Value};
use crate::ptx::Operand;
use crate::transfer::Transfer;

/// A state space modifier; parameters are in `None`, their space depends on the function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Space(Space),
    Param,
}

impl<'m> FunctionDecoder<'_, 'm> {
    /// The state space modifier, generic without one.
    pub(super) fn space(&self, mods: &mut Modifiers<'m>) -> Named {
        mods.find(|p| {
            Some(match p {
                "global" | "const" => Named::Space(Space::Global),
                "shared" | "shared::cta" | "shared::cluster" => Named::Space(Space::Shared),
                "local" => Named::Space(Space::Local),
                "param" | "param::entry" | "param::func" => Named::Param,
                _ => return None,
            })
        })
        .unwrap_or(Named::Space(Space::Generic))
    }

    /// An address operand with the space that it is in.
    pub(super) fn addressed(&mut self, named: Named, operand: &Operand<'m>) -> Result<(Space, Address)> {
        let (mut address, place) = self.address(operand)?;
        let space = match (named, place) {
            (Named::Param, Some(Place::Frame)) => Space::Local,
            (Named::Param, Some(_)) => Space::Global,
            (Named::Param, None) if self.entry => {
                address.offset = address
                    .offset
                    .wrapping_add_unsigned(self.param_block.wrapping_sub(PARAM_BASE));
                Space::Global
            }
            (Named::Param, None) => Space::Local,
            (Named::Space(Space::Generic), Some(Place::Param)) => Space::Global,
            (Named::Space(Space::Generic), Some(Place::Frame)) => Space::Local,
            (Named::Space(Space::Generic), Some(Place::Shared)) => Space::Shared,
            (Named::Space(Space::Generic), Some(Place::Global)) => Space::Global,
            (Named::Space(space), None) => space,
            (Named::Space(space), Some(place)) => {
                let fits = matches!(
                    (space, place),
                    (Space::Global, Place::Global) | (Space::Shared, Place::Shared) | (Space::Local, Place::Frame)
                );
                if !fits {
                    return Err("the variable is in another state space".to_owned());
                }
                space
            }
        };
        if let Base::Register(value) = address.base
            && value.bits == 32
            && space == Space::Generic
        {
            return Err("a generic address needs 64 bits".to_owned());
        }
        Ok((space, address))
    }

    /// The memory order of an operation, `None` for a weak one; `strong` ones are so without saying it.
    fn strength(mods: &mut Modifiers<'m>, strong: bool) -> Option<Strength> {
        let order = mods.one_of(&["weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc"]);
        let mmio = mods.take("mmio");
        let scope = scope(mods);
        let system = mmio || order == Some("volatile");
        let weak = matches!(order, None | Some("weak")) && !system;
        (strong || !weak).then(|| Strength {
            acquires: matches!(order, Some("acquire" | "acq_rel" | "sc")),
            releases: matches!(order, Some("release" | "acq_rel" | "sc")),
            scope: scope.unwrap_or(if system { Scope::Sys } else { Scope::Gpu }),
        })
    }

    fn ignore_hints(mods: &mut Modifiers<'m>) -> bool {
        mods.ignore(&["ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"]);
        let hint = mods.has("L2::cache_hint");
        mods.ignore_prefix("L1::");
        mods.ignore_prefix("L2::");
        hint
    }

    /// Loads, stores, atomics, and addresses.
    pub(super) fn memory(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        match name {
            "ld" | "ldu" | "st" => self.load_store(name, mods, operands),
            "atom" | "red" => self.atomic(name, mods, operands),
            "prefetch" | "prefetchu" | "applypriority" | "discard" => {
                mods.ignore(&["tensormap"]);
                mods.ignore_prefix("L1");
                mods.ignore_prefix("L2");
                let named = self.space(mods);
                self.addressed(named, operands.get(0)?)?;
                Ok(())
            }
            "createpolicy" => {
                // A policy is a hint: any value does.
                mods.ignore(&["fractional", "range", "global", "b64"]);
                mods.ignore_prefix("L2::");
                mods.take("cvt");
                let d = self.destination(operands.get(0)?, Ty::B64)?;
                let zero = self.constant(0, 64);
                self.copy(d, zero);
                Ok(())
            }
            "isspacep" => {
                // Constants live in the global window here, where the hardware has one of its own.
                if mods.has("const") {
                    return Err("isspacep.const is not simulated".to_owned());
                }
                let own = mods.has("shared::cta") || mods.has("shared");
                let space = match self.space(mods) {
                    Named::Space(space) => space,
                    Named::Param => return Err("isspacep.param is not simulated".to_owned()),
                };
                operands.count(2, 2)?;
                let a = self.source(operands.get(1)?, Ty::B64)?;
                let p = self.destination(operands.get(0)?, Ty::Pred)?;
                self.emit(Op::IsSpace(p.slot, a, space, own));
                Ok(())
            }
            "mapa" | "getctarank" => {
                let generic = !mods.take("shared::cluster");
                let ty = mods
                    .ty()
                    .filter(|t| matches!(t, Ty::U32 | Ty::U64))
                    .ok_or("the type must be .u32 or .u64")?;
                let address_ty = if generic { Ty::U64 } else { ty };
                let rank_of = name == "getctarank";
                operands.count(if rank_of { 2 } else { 3 }, if rank_of { 2 } else { 3 })?;
                let a = self.source(operands.get(1)?, if rank_of && !generic { Ty::U32 } else { address_ty })?;
                if rank_of {
                    let d = self.destination(operands.get(0)?, Ty::U32)?;
                    self.emit(Op::Transfer(Box::new(Transfer::Rank { d, a, generic })));
                } else {
                    let rank = self.source(operands.get(2)?, Ty::U32)?;
                    let d = self.destination(operands.get(0)?, ty)?;
                    self.emit(Op::Transfer(Box::new(Transfer::Map { d, a, rank, generic })));
                }
                Ok(())
            }
            "alloca" => {
                let ty = mods.ty().ok_or("the type is missing")?;
                operands.count(2, 3)?;
                let size = self.source(operands.get(1)?, ty)?;
                let align = if operands.len() == 3 {
                    self.immediate(operands.get(2)?)?
                } else {
                    8
                };
                if !(1..=1 << 16).contains(&align) || !(align as u64).is_power_of_two() {
                    return Err(format!("alignment {align} is no power of two up to 65536"));
                }
                let d = self.destination(operands.get(0)?, ty)?;
                self.emit(Op::Alloca(d, size, align as u32));
                Ok(())
            }
            "stacksave" | "stackrestore" => {
                let ty = mods.ty().ok_or("the type is missing")?;
                operands.count(1, 1)?;
                if name == "stacksave" {
                    let d = self.destination(operands.get(0)?, ty)?;
                    self.emit(Op::StackSave(d));
                } else {
                    let s = self.source(operands.get(0)?, ty)?;
                    self.emit(Op::StackRestore(s));
                }
                Ok(())
            }
            _ => Err("this instruction is not simulated".to_owned()),
        }
    }

    fn load_store(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let named = self.space(mods);
        let strength = Self::strength(mods, false);
        let hint = Self::ignore_hints(mods);
        if name == "st" && mods.take("async") {
            return self.store_async(mods, operands);
        }
        let lanes = match mods.one_of(&["v2", "v4", "v8"]) {
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
            None => 1,
        };
        let ty = mods.ty().ok_or("the type is missing")?;
        if ty == Ty::Pred || u32::from(ty.bits()) * lanes > 256 {
            return Err(format!(
                "{lanes} elements of type .{} are too much for one access",
                ty.name()
            ));
        }
        operands.count(2, 2 + usize::from(hint))?;
        let store = name == "st";
        let (value_at, address_at) = if store { (1, 0) } else { (0, 1) };
        let (space, address) = self.addressed(named, operands.get(address_at)?)?;
        let elements = self.elements(operands.get(value_at)?);
        if elements.len() != lanes as usize {
            return Err(format!("expected {lanes} elements, found {}", elements.len()));
        }
        let values = elements
            .iter()
            .map(|e| {
                if store {
                    self.source_of(e, ty, true)
                } else {
                    self.destination_of(e, ty, true)
                }
            })
            .collect::<Result<Box<[_]>>>()?;
        let access = Access {
            space,
            address,
            bytes: ty.bits() / 8,
            signed: ty.signed(),
            strength,
            values,
        };
        self.emit(if store {
            Op::Store(Box::new(access))
        } else {
            Op::Load(Box::new(access))
        });
        Ok(())
    }

    fn store_async(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        mods.take("mbarrier::complete_tx::bytes");
        let lanes = match mods.one_of(&["v2", "v4"]) {
            Some("v2") => 2,
            Some(_) => 4,
            None => 1,
        };
        let ty = mods.ty().ok_or("the type is missing")?;
        operands.count(3, 3)?;
        let (dst, _) = self.address(operands.get(0)?)?;
        let elements = self.elements(operands.get(1)?);
        if elements.len() != lanes {
            return Err(format!("expected {lanes} elements, found {}", elements.len()));
        }
        let values = elements
            .iter()
            .map(|e| self.source(e, ty))
            .collect::<Result<Box<[_]>>>()?;
        let (barrier, _) = self.address(operands.get(2)?)?;
        let transfer = Transfer::StoreAsync {
            dst,
            values,
            bytes: ty.bits() / 8,
            barrier,
        };
        self.emit(Op::Transfer(Box::new(transfer)));
        Ok(())
    }

    fn atomic(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let named = self.space(mods);
        let strength = Self::strength(mods, true).ok_or("an atomic operation is strong")?;
        let hint = Self::ignore_hints(mods);
        let asynchronous = mods.take("async");
        let op = match mods.one_of(&["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"]) {
            Some("add") => AtomicOp::Add,
            Some("min") => AtomicOp::Min,
            Some("max") => AtomicOp::Max,
            Some("and") => AtomicOp::And,
            Some("or") => AtomicOp::Or,
            Some("xor") => AtomicOp::Xor,
            Some("exch") => AtomicOp::Exchange,
            Some("cas") => AtomicOp::CompareAndSwap,
            Some("inc") => AtomicOp::Increment,
            Some(_) => AtomicOp::Decrement,
            None => return Err("the operation is missing".to_owned()),
        };
        mods.take("noftz");
        let lanes = match mods.one_of(&["v2", "v4", "v8"]) {
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
            None => 1,
        };
        let ty = mods.ty().ok_or("the type is missing")?;
        let atomic_ty = atomic_type(ty).ok_or_else(|| format!("type .{} is not simulated here", ty.name()))?;
        if asynchronous {
            mods.take("mbarrier::complete_tx::bytes");
            operands.count(3, 3)?;
            let (_, dst) = self.addressed(named, operands.get(0)?)?;
            let operand = self.source(operands.get(1)?, ty)?;
            let (_, barrier) = self.addressed(named, operands.get(2)?)?;
            let transfer = Transfer::ReduceAsync {
                op,
                ty: atomic_ty,
                dst,
                operand,
                barrier,
            };
            self.emit(Op::Transfer(Box::new(transfer)));
            return Ok(());
        }
        let swaps = op == AtomicOp::CompareAndSwap;
        let returns = name == "atom";
        let first = usize::from(returns);
        let wanted = first + 2 + usize::from(swaps);
        operands.count(wanted, wanted + usize::from(hint))?;
        let (space, address) = self.addressed(named, operands.get(first)?)?;
        let operand_ty = match ty {
            Ty::F16x2 | Ty::Bf16x2 => Ty::B32,
            Ty::F16 | Ty::Bf16 => Ty::B16,
            other => other,
        };
        let sources = self.elements(operands.get(first + 1)?);
        if sources.len() != lanes {
            return Err(format!("expected {lanes} elements, found {}", sources.len()));
        }
        let values = sources
            .iter()
            .map(|e| self.source(e, operand_ty))
            .collect::<Result<Box<[_]>>>()?;
        let swap = if swaps {
            Some(self.source(operands.get(first + 2)?, operand_ty)?)
        } else {
            None
        };
        let old: Box<[Value]> = if returns {
            self.elements(operands.get(0)?)
                .iter()
                .map(|e| self.destination(e, operand_ty))
                .collect::<Result<_>>()?
        } else {
            Box::new([])
        };
        if returns && old.len() != lanes {
            return Err(format!("expected {lanes} destinations, found {}", old.len()));
        }
        self.emit(Op::Atomic(Box::new(Atomic {
            op,
            ty: atomic_ty,
            strength,
            space,
            address,
            wants_old: op != AtomicOp::Exchange || !old.is_empty(),
            old,
            operands: values,
            swap,
        })));
        Ok(())
    }
}

/// The element type of an atomic operation or bulk reduction.
pub(super) fn atomic_type(ty: Ty) -> Option<AtomicType> {
    Some(match ty {
        Ty::F16 => AtomicType::F16,
        Ty::Bf16 => AtomicType::Bf16,
        Ty::F16x2 => AtomicType::F16x2,
        Ty::Bf16x2 => AtomicType::Bf16x2,
        Ty::F32 => AtomicType::F32,
        Ty::F64 => AtomicType::F64,
        Ty::B16 | Ty::B32 | Ty::B64 | Ty::B128 => AtomicType::Bits(ty.bits()),
        Ty::U32 | Ty::U64 => AtomicType::Unsigned(ty.bits()),
        Ty::S32 | Ty::S64 => AtomicType::Signed(ty.bits()),
        _ => return None,
    })
}
