//! Operands: registers, constants, addresses.
use super::function::{FunctionDecoder, Place, Result, Symbol};
use super::types::{Class, Ty};
use crate::isa::{Address, Base, Clock, FUNCTION_BASE, Op, PARAM_BASE, Predicate, Slot, Special, Value, words};
use crate::ptx::{Expr, Operand};
use std::borrow::Cow;

impl<'m> FunctionDecoder<'_, 'm> {
    /// A constant.
    pub fn constant(&mut self, value: u128, bits: u8) -> Value {
        Value {
            slot: self.shared.pool.slot(value, bits),
            bits,
        }
    }

    /// The register of a name; special registers too.
    pub fn register(&mut self, name: &str) -> Result<Value> {
        match self.lookup(name) {
            Some(Symbol::Register(value, _)) => Ok(value),
            Some(_) => Err(format!("`{name}` is no register")),
            None => match special(name, "") {
                Some(special) => self.read_special(special),
                None => Err(format!("`{name}` is not declared")),
            },
        }
    }

    fn read_special(&mut self, special: SpecialName) -> Result<Value> {
        match special {
            SpecialName::Fixed(special) => Ok(Value {
                slot: self.special(special),
                bits: 32,
            }),
            SpecialName::Wide(special) => {
                let low = Value {
                    slot: self.special(special),
                    bits: 32,
                };
                let wide = self.temporary(64);
                let zero = self.constant(0, 32);
                self.emit(Op::Join(wide, Box::new([low, zero])));
                Ok(wide)
            }
            SpecialName::Clock(clock, bits) => {
                let value = self.temporary(bits);
                self.emit(Op::Clock(value, clock));
                Ok(value)
            }
        }
    }

    /// A source of exactly the type's width, or wider where `wider` (conversions, loads, stores).
    pub fn source_of(&mut self, operand: &Operand<'m>, ty: Ty, wider: bool) -> Result<Value> {
        let bits = ty.bits();
        let value = match operand {
            Operand::Literal(expr) => return self.literal(expr, ty),
            Operand::Name(name, 0) => match self.lookup(name) {
                Some(Symbol::Register(value, class)) => {
                    check_class(name, class, ty)?;
                    value
                }
                Some(Symbol::Variable { .. }) => return self.address_of(name, 0, bits),
                Some(_) => return Err(format!("`{name}` is no value")),
                None if self.shared.layout.function(name).is_some() => return self.address_of(name, 0, bits),
                None => self.register(name)?,
            },
            Operand::Name(name, offset) => return self.address_of(name, *offset, bits),
            Operand::Part(name, part, false) => match (self.component(name, part), special(name, part)) {
                (Some((value, class)), _) => {
                    check_class(name, class, ty)?;
                    value
                }
                (None, Some(special)) => self.read_special(special)?,
                (None, None) => return Err(format!("`{name}.{part}` is no value")),
            },
            Operand::Not(_) if ty == Ty::Pred => return Err("a negated predicate is not allowed here".to_owned()),
            Operand::Sink => return Err("`_` is no source".to_owned()),
            _ => return Err("expected a register or a constant".to_owned()),
        };
        if value.bits == bits || wider && value.bits > bits && bits > 1 {
            Ok(value)
        } else if value.bits == 32 && bits == 16 && matches!(operand, Operand::Part(..)) {
            // Special registers may be read in halves.
            Ok(Value { bits: 16, ..value })
        } else {
            Err(format!(
                "operand `{}` has {} bits, but type .{} needs {bits}",
                text(operand),
                value.bits,
                ty.name()
            ))
        }
    }

    /// A source of exactly the type's width.
    pub fn source(&mut self, operand: &Operand<'m>, ty: Ty) -> Result<Value> {
        self.source_of(operand, ty, false)
    }

    fn literal(&mut self, expr: &Expr<'m>, ty: Ty) -> Result<Value> {
        let bits = ty.bits();
        let value = match (expr, ty) {
            (Expr::Int(v), Ty::Pred) => u128::from(*v != 0),
            (Expr::Int(v), Ty::B128) => *v as i128 as u128,
            (Expr::Int(v), _) => u128::from(*v as u64 & mask(bits)),
            (Expr::F32(v), _) if bits == 64 => u128::from(f64::from(f32::from_bits(*v)).to_bits()),
            (Expr::F32(v), _) if bits == 32 => u128::from(*v),
            (Expr::F64(v), _) if bits == 64 => u128::from(*v),
            (Expr::F64(v), _) if bits == 32 => u128::from((f64::from_bits(*v) as f32).to_bits()),
            (Expr::F64(v), Ty::F16) => u128::from(crate::number::half::Half::F16.round(f64::from_bits(*v))),
            (Expr::Symbol(name, offset), _) => return self.address_of(name, *offset, bits),
            _ => return Err(format!("a constant of type .{} is expected", ty.name())),
        };
        Ok(self.constant(value, bits))
    }

    fn address_of(&mut self, name: &str, offset: i64, bits: u8) -> Result<Value> {
        if bits != 64 && bits != 32 {
            return Err(format!("the address of `{name}` needs 32 or 64 bits"));
        }
        match self.lookup(name) {
            Some(Symbol::Variable {
                space: Place::Frame,
                address,
                ..
            }) => {
                let value = self.temporary(bits);
                self.emit(Op::FrameAddress(value, (address as i64).wrapping_add(offset)));
                Ok(value)
            }
            Some(Symbol::Variable {
                space: Place::Param,
                address,
                ..
            }) => {
                // An address of the `.param` space: small, and of no use as a generic one.
                let inside = address.wrapping_sub(self.param_block).wrapping_add_signed(offset);
                Ok(self.constant(u128::from(PARAM_BASE.wrapping_add(inside) & mask(bits)), bits))
            }
            Some(Symbol::Variable { address, .. }) => {
                Ok(self.constant(u128::from(address.wrapping_add_signed(offset) & mask(bits)), bits))
            }
            Some(_) => Err(format!("`{name}` has no address")),
            None => match self.shared.layout.function(name) {
                Some(index) => Ok(self.constant(u128::from(FUNCTION_BASE + 16 * index as u64), bits)),
                None => Err(format!("`{name}` is not declared")),
            },
        }
    }

    /// A predicate source, `!p` included.
    pub fn predicate(&mut self, operand: &Operand<'m>) -> Result<Predicate> {
        let (value, negated) = match operand {
            Operand::Not(name) => (self.register(name)?, true),
            other => (self.source(other, Ty::Pred)?, false),
        };
        if value.bits == 1 {
            Ok(Predicate {
                slot: value.slot,
                negated,
            })
        } else {
            Err(format!("`{}` is no predicate", text(operand)))
        }
    }

    /// A destination of exactly the type's width, or wider where `wider`. `_` gets a register that nobody reads.
    pub fn destination_of(&mut self, operand: &Operand<'m>, ty: Ty, wider: bool) -> Result<Value> {
        let bits = ty.bits();
        let value = match operand {
            Operand::Sink => return Ok(self.temporary(bits)),
            Operand::Name(name, 0) => match self.lookup(name) {
                Some(Symbol::Register(value, class)) => {
                    check_class(name, class, ty)?;
                    value
                }
                _ => return Err(format!("destination `{name}` is no declared register")),
            },
            Operand::Part(name, part, false) => match self.component(name, part) {
                Some((value, class)) => {
                    check_class(name, class, ty)?;
                    value
                }
                None => return Err(format!("destination `{name}.{part}` is no register")),
            },
            _ => return Err(format!("destination `{}` is no register", text(operand))),
        };
        if value.bits == bits || wider && value.bits > bits && bits > 1 {
            Ok(value)
        } else {
            Err(format!(
                "destination `{}` has {} bits, but type .{} needs {bits}",
                text(operand),
                value.bits,
                ty.name()
            ))
        }
    }

    /// A destination of exactly the type's width.
    pub fn destination(&mut self, operand: &Operand<'m>, ty: Ty) -> Result<Value> {
        self.destination_of(operand, ty, false)
    }

    /// `[base + offset]`, with the place of a named variable.
    pub fn address(&mut self, operand: &Operand<'m>) -> Result<(Address, Option<Place>)> {
        match operand {
            Operand::Address(list) if list.len() == 1 => self.address_parts(&list[0]),
            _ => Err("expected an address in brackets".to_owned()),
        }
    }

    /// The inside of an address.
    pub fn address_parts(&mut self, inner: &Operand<'m>) -> Result<(Address, Option<Place>)> {
        match inner {
            Operand::Name(name, offset) => match self.lookup(name) {
                Some(Symbol::Register(value, _)) if value.bits >= 32 => Ok((
                    Address {
                        base: Base::Register(value),
                        offset: *offset,
                    },
                    None,
                )),
                Some(Symbol::Variable { space, address, .. }) => {
                    let base = if space == Place::Frame {
                        Base::Frame
                    } else {
                        Base::Absolute
                    };
                    Ok((
                        Address {
                            base,
                            offset: (address as i64).wrapping_add(*offset),
                        },
                        Some(space),
                    ))
                }
                Some(_) => Err(format!("`{name}` is no address")),
                None => {
                    let value = self.register(name)?;
                    Ok((
                        Address {
                            base: Base::Register(value),
                            offset: *offset,
                        },
                        None,
                    ))
                }
            },
            Operand::Literal(Expr::Int(v)) => Ok((
                Address {
                    base: Base::Absolute,
                    offset: *v,
                },
                None,
            )),
            other => Err(format!("`{}` is no address", text(other))),
        }
    }

    /// Elements of `{a, b}` or of a vector register, or the one operand itself.
    pub fn elements(&self, operand: &'m Operand<'m>) -> Cow<'m, [Operand<'m>]> {
        match operand {
            Operand::Vector(list) => Cow::Borrowed(list),
            Operand::Name(name, 0) => match self.lookup(name) {
                Some(Symbol::Vector { lanes, .. }) => COMPONENTS
                    .iter()
                    .take(lanes as usize)
                    .map(|part| Operand::Part(name, part, false))
                    .collect(),
                _ => Cow::Borrowed(std::slice::from_ref(operand)),
            },
            other => Cow::Borrowed(std::slice::from_ref(other)),
        }
    }

    /// A component of a vector register, such as `v.x` or `v.r`.
    fn component(&self, name: &str, part: &str) -> Option<(Value, Class)> {
        let Some(Symbol::Vector {
            first,
            lanes,
            bits,
            class,
        }) = self.lookup(name)
        else {
            return None;
        };
        let index = COMPONENTS
            .iter()
            .position(|c| *c == part)
            .or_else(|| COLOURS.iter().position(|c| *c == part))?;
        let slot = Slot::frame(first + index as u32 * words(bits));
        (index < lanes as usize).then_some((Value { slot, bits }, class))
    }

    /// A constant integer operand.
    pub fn immediate(&self, operand: &Operand<'m>) -> Result<i64> {
        match operand {
            Operand::Literal(Expr::Int(v)) => Ok(*v),
            other => Err(format!("`{}` must be an integer constant", text(other))),
        }
    }
}

/// Names of a vector's components, by position.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];
const COLOURS: [&str; 4] = ["r", "g", "b", "a"];

fn check_class(name: &str, class: Class, ty: Ty) -> Result<()> {
    if class.fits(ty) {
        Ok(())
    } else {
        Err(format!(
            "`{name}` was declared to hold {}, but is used as .{}",
            class.name(),
            ty.name()
        ))
    }
}

fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// An operand for people.
pub(crate) fn text(operand: &Operand<'_>) -> String {
    match operand {
        Operand::Name(name, 0) => (*name).to_owned(),
        Operand::Name(name, offset) => format!("{name}+{offset}"),
        Operand::Part(name, part, _) => format!("{name}.{part}"),
        Operand::Not(name) => format!("!{name}"),
        Operand::Literal(Expr::Int(v)) => v.to_string(),
        Operand::Literal(_) => "constant".to_owned(),
        Operand::Pair(a, b) => format!("{}|{}", text(a), text(b)),
        Operand::Vector(_) => "{...}".to_owned(),
        Operand::List(_) => "(...)".to_owned(),
        Operand::Address(_) => "[...]".to_owned(),
        Operand::Sink => "_".to_owned(),
    }
}

enum SpecialName {
    Fixed(Special),
    /// 64 bits, the upper 32 of them 0.
    Wide(Special),
    Clock(Clock, u8),
}

fn special(name: &str, part: &str) -> Option<SpecialName> {
    use Special::*;
    let dim = match part {
        "x" => 0,
        "y" => 1,
        "z" => 2,
        "w" => 3,
        _ => u8::MAX,
    };
    if dim < 3 {
        let make: fn(u8) -> Special = match name {
            "%tid" => Tid,
            "%ntid" => Ntid,
            "%ctaid" => Ctaid,
            "%nctaid" => Nctaid,
            "%clusterid" => ClusterId,
            "%nclusterid" => ClusterCount,
            "%cluster_ctaid" => ClusterCtaid,
            "%cluster_nctaid" => ClusterNctaid,
            _ => return None,
        };
        return Some(SpecialName::Fixed(make(dim)));
    }
    if dim == 3 {
        return matches!(name, "%tid" | "%ntid" | "%ctaid" | "%nctaid").then_some(SpecialName::Fixed(Zero));
    }
    Some(match name {
        "%laneid" => SpecialName::Fixed(LaneId),
        "%warpid" => SpecialName::Fixed(WarpId),
        "%nwarpid" => SpecialName::Fixed(WarpCount),
        "%lanemask_eq" => SpecialName::Fixed(LaneMaskEq),
        "%lanemask_lt" => SpecialName::Fixed(LaneMaskLt),
        "%lanemask_le" => SpecialName::Fixed(LaneMaskLe),
        "%lanemask_gt" => SpecialName::Fixed(LaneMaskGt),
        "%lanemask_ge" => SpecialName::Fixed(LaneMaskGe),
        "%cluster_ctarank" => SpecialName::Fixed(ClusterCtaRank),
        "%cluster_nctarank" => SpecialName::Fixed(ClusterCtaCount),
        "%is_explicit_cluster" => SpecialName::Fixed(ExplicitCluster),
        "%smid" => SpecialName::Fixed(SmId),
        "%nsmid" => SpecialName::Fixed(SmCount),
        "%gridid" => SpecialName::Wide(GridId),
        "%dynamic_smem_size" => SpecialName::Fixed(DynamicShared),
        "%total_smem_size" | "%aggr_smem_size" => SpecialName::Fixed(TotalShared),
        "%clock" => SpecialName::Clock(Clock::Low, 32),
        "%clock_hi" => SpecialName::Clock(Clock::High, 32),
        "%clock64" => SpecialName::Clock(Clock::Full, 64),
        "%globaltimer" => SpecialName::Clock(Clock::Timer, 64),
        "%globaltimer_lo" => SpecialName::Clock(Clock::TimerLow, 32),
        "%globaltimer_hi" => SpecialName::Clock(Clock::TimerHigh, 32),
        _ if name.starts_with("%envreg") => SpecialName::Fixed(Zero),
        _ => return None,
    })
}
