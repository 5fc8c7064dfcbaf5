//! Matrix instructions (PTX ISA 9.7.14 and 9.7.15).
use super::function::{FunctionDecoder, Operands, Result};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::collective::{Kind, Product, WarpgroupProduct};
use crate::isa::{Fence, Op, Predicate, Value};
use crate::number::Rounding;
use crate::ptx::Operand;
use crate::tensor_core::mma::{self, Mma};
use crate::tensor_core::wgmma::{self, Wgmma};
use crate::tensor_core::wmma::{Fragment, Layout, Wmma};
use crate::tensor_core::{BitOp, Element, Sum};
use girih_core::wgmma::{Accumulator, Instruction, Major, Operand as Factor, Source};

fn shape(part: &str) -> Option<(usize, usize, usize)> {
    let (m, rest) = part.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

fn factor(name: &str) -> Option<Factor> {
    Factor::ALL.into_iter().find(|f| f.name() == name)
}

impl<'m> FunctionDecoder<'_, 'm> {
    /// Matrix loads, stores and products.
    pub(super) fn matrix(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        match name {
            "ldmatrix" | "stmatrix" | "movmatrix" => self.matrix_move(name, mods, operands),
            "mma" => self.mma(mods, operands),
            "wmma" => self.wmma(mods, operands),
            _ => self.wgmma(mods, operands),
        }
    }

    fn registers(&mut self, operand: &'m Operand<'m>, bits: usize, write: bool) -> Result<Box<[Value]>> {
        let ty = if bits == 64 { Ty::B64 } else { Ty::B32 };
        self.elements(operand)
            .iter()
            .map(|e| {
                if write {
                    self.destination(e, ty)
                } else {
                    self.source(e, ty)
                }
            })
            .collect()
    }

    fn counted(what: &str, found: &[Value], wanted: usize) -> Result<()> {
        if found.len() == wanted {
            Ok(())
        } else {
            Err(format!("{what} needs {wanted} registers, found {}", found.len()))
        }
    }

    fn matrix_move(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        mods.ignore(&["sync", "aligned"]);
        mods.take("m8n8")
            .then_some(())
            .ok_or("only the shape `.m8n8` is simulated")?;
        let transpose = mods.take("trans");
        if name == "movmatrix" {
            mods.take("b16");
            operands.count(2, 2)?;
            let a = self.source(operands.get(1)?, Ty::B32)?;
            let d = self.destination(operands.get(0)?, Ty::B32)?;
            if !transpose {
                return Err("`.trans` is missing".to_owned());
            }
            self.collective(None, Kind::MoveMatrix { d, a });
            return Ok(());
        }
        let count = match mods.one_of(&["x1", "x2", "x4"]) {
            Some("x1") => 1,
            Some("x2") => 2,
            Some(_) => 4,
            None => return Err("the number of matrices is missing".to_owned()),
        };
        let named = self.space(mods);
        mods.take("b16").then_some(()).ok_or("the type must be .b16")?;
        operands.count(2, 2)?;
        let load = name == "ldmatrix";
        let (space, address) = self.addressed(named, operands.get(usize::from(load))?)?;
        let values = self.registers(operands.get(usize::from(!load))?, 32, load)?;
        Self::counted("the matrix list", &values, count)?;
        self.collective(
            None,
            if load {
                Kind::LoadMatrix {
                    d: values,
                    transpose,
                    space,
                    address,
                }
            } else {
                Kind::StoreMatrix {
                    values,
                    transpose,
                    space,
                    address,
                }
            },
        );
        Ok(())
    }

    fn mma(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let sparse = mods.take("sp") || mods.take("sp::ordered_metadata");
        mods.ignore(&["sync", "aligned"]);
        let shape = mods.find(shape).ok_or("the shape is missing")?;
        let a_column_major = mods.one_of(&["row", "col"]).ok_or("the layout of A is missing")? == "col";
        let b_row_major = mods.one_of(&["col", "row"]).ok_or("the layout of B is missing")? == "row";
        let saturate = mods.take("satfinite");
        let f8f6f4 = mods.take("kind::f8f6f4");
        let d = mods.find(Sum::from_name).ok_or("the type of D is missing")?;
        let a = mods.find(Element::from_name).ok_or("the type of A is missing")?;
        let b = mods.find(Element::from_name).ok_or("the type of B is missing")?;
        let c = mods.find(Sum::from_name).ok_or("the type of C is missing")?;
        let bit_op = match mods.one_of(&["xor", "and"]) {
            Some("xor") => Some(BitOp::Xor),
            Some(_) => Some(BitOp::And),
            None => None,
        };
        mods.take("popc");
        let options = mma::Options {
            sparse,
            saturate,
            bit_op,
            f8f6f4,
            a_column_major,
            b_row_major,
        };
        let mma = Mma::new(shape, a, b, c, d, options).map_err(|e| e.to_string())?;
        let wanted = if sparse { 6 } else { 4 };
        operands.count(wanted, wanted)?;
        let counts = mma.registers();
        let product = Product {
            a: self.registers(operands.get(1)?, a.bits(), false)?,
            b: self.registers(operands.get(2)?, b.bits(), false)?,
            c: self.registers(operands.get(3)?, c.bits(), false)?,
            d: self.registers(operands.get(0)?, d.bits(), true)?,
        };
        Self::counted("A", &product.a, counts.a)?;
        Self::counted("B", &product.b, counts.b)?;
        Self::counted("C", &product.c, counts.c)?;
        Self::counted("D", &product.d, counts.d)?;
        let metadata = if sparse {
            let words = self.source(operands.get(4)?, Ty::B32)?;
            Some((words, self.immediate(operands.get(5)?)?.clamp(0, 255) as usize))
        } else {
            None
        };
        self.collective(
            None,
            Kind::Mma {
                mma: Box::new(mma),
                product: Box::new(product),
                metadata,
            },
        );
        Ok(())
    }

    fn wmma(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let what = mods
            .one_of(&["load", "store", "mma"])
            .ok_or("`.load`, `.store` or `.mma` is missing")?;
        let bit_op = if what != "mma" {
            None
        } else if mods.take("xor") {
            Some(BitOp::Xor)
        } else if mods.take("and") {
            Some(BitOp::And)
        } else {
            None
        };
        mods.take("popc");
        let layout = |name: &str| if name == "row" { Layout::Row } else { Layout::Column };
        if what == "mma" {
            mods.ignore(&["sync", "aligned"]);
            let a_layout = mods.one_of(&["row", "col"]).ok_or("the layout of A is missing")?;
            mods.one_of(&["col", "row"])
                .or(Some(a_layout))
                .ok_or("the layout of B is missing")?;
            let shape = mods.find(shape).ok_or("the shape is missing")?;
            // f16 products name the sums alone; others name D, A, B, C.
            let first = mods.find(Sum::from_name).ok_or("the type of D is missing")?;
            let wide = mods.find(|p| Element::from_name(p).filter(|e| *e != Element::F16 && *e != Element::F64));
            let (a, b, d, c) = match wide {
                Some(a) => {
                    let b = mods.find(Element::from_name).ok_or("the type of B is missing")?;
                    (
                        a,
                        b,
                        first,
                        mods.find(Sum::from_name).ok_or("the type of C is missing")?,
                    )
                }
                None if first == Sum::F64 => {
                    while mods.take("f64") {}
                    (Element::F64, Element::F64, first, first)
                }
                None => (
                    Element::F16,
                    Element::F16,
                    first,
                    mods.find(Sum::from_name).ok_or("the type of C is missing")?,
                ),
            };
            let saturate = mods.take("satfinite");
            if let Some(other) = mods.rounding().filter(|r| *r != Rounding::Nearest) {
                return Err(format!(
                    "products rounded other than .rn are not simulated, found {other:?}"
                ));
            }
            let wmma = Wmma::new(shape, a, b, c, d, saturate, bit_op).map_err(|e| e.to_string())?;
            operands.count(4, 4)?;
            let product = Product {
                a: self.registers(operands.get(1)?, a.bits(), false)?,
                b: self.registers(operands.get(2)?, b.bits(), false)?,
                c: self.registers(operands.get(3)?, c.bits(), false)?,
                d: self.registers(operands.get(0)?, d.bits(), true)?,
            };
            Self::counted("A", &product.a, wmma.registers(Fragment::A))?;
            Self::counted("B", &product.b, wmma.registers(Fragment::B))?;
            Self::counted("C", &product.c, wmma.registers(Fragment::C))?;
            Self::counted("D", &product.d, wmma.registers(Fragment::D))?;
            self.collective(
                None,
                Kind::WmmaProduct {
                    wmma: Box::new(wmma),
                    product: Box::new(product),
                },
            );
            return Ok(());
        }
        let fragment = match mods.one_of(&["a", "b", "c", "d"]) {
            Some("a") => Fragment::A,
            Some("b") => Fragment::B,
            Some("c") => Fragment::C,
            Some(_) => Fragment::D,
            None => return Err("the operand is missing".to_owned()),
        };
        mods.ignore(&["sync", "aligned"]);
        let layout = layout(mods.one_of(&["row", "col"]).ok_or("the layout is missing")?);
        let shape = mods.find(shape).ok_or("the shape is missing")?;
        let named = self.space(mods);
        let ty = mods.find(Some).ok_or("the type is missing")?;
        let wmma = fragment_of(shape, fragment, ty)?;
        let load = what == "load";
        operands.count(2, 3)?;
        let (space, address) = self.addressed(named, operands.get(usize::from(load))?)?;
        let bits = if ty == "f64" { 64 } else { 32 };
        let values = self.registers(operands.get(usize::from(!load))?, bits, load)?;
        Self::counted("the fragment", &values, wmma.registers(fragment))?;
        let stride = if operands.len() == 3 {
            self.source(operands.get(2)?, Ty::U32)?
        } else {
            // Without a stride the matrix is dense.
            let (m, n, k) = shape;
            let dense = match (fragment, layout) {
                (Fragment::A, Layout::Row) | (Fragment::B, Layout::Column) => k,
                (Fragment::A, Layout::Column) | (Fragment::C | Fragment::D, Layout::Column) => m,
                (Fragment::B | Fragment::C | Fragment::D, Layout::Row) => n,
            };
            self.constant(dense as u128, 32)
        };
        let wmma = Box::new(wmma);
        self.collective(
            None,
            if load {
                Kind::WmmaLoad {
                    wmma,
                    fragment,
                    layout,
                    d: values,
                    space,
                    address,
                    stride,
                }
            } else {
                Kind::WmmaStore {
                    wmma,
                    layout,
                    values,
                    space,
                    address,
                    stride,
                }
            },
        );
        Ok(())
    }

    fn wgmma(&mut self, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let what = mods
            .one_of(&["fence", "commit_group", "wait_group", "mma_async"])
            .ok_or("the operation is missing")?;
        let sparse = mods.take("sp");
        mods.ignore(&["sync", "aligned"]);
        if what != "mma_async" {
            let waits = what == "wait_group";
            operands.count(usize::from(waits), usize::from(waits))?;
            match what {
                "fence" => self.emit(Op::Fence(Fence::Registers)),
                "commit_group" => self.collective(None, Kind::WgmmaCommit),
                _ => {
                    let keep = self.immediate(operands.get(0)?)?.clamp(0, i64::from(u32::MAX)) as u32;
                    self.collective(None, Kind::WgmmaWait(keep));
                }
            }
            return Ok(());
        }
        let (m, n, k) = mods.find(shape).ok_or("the shape is missing")?;
        let saturate = mods.take("satfinite");
        let d = match mods.one_of(&["f16", "f32", "s32"]) {
            Some("f16") => Accumulator::F16,
            Some("f32") => Accumulator::F32,
            Some(_) => Accumulator::S32,
            None => return Err("the type of D is missing".to_owned()),
        };
        let a = mods.find(factor).ok_or("the type of A is missing")?;
        let b = mods.find(factor).ok_or("the type of B is missing")?;
        mods.ignore(&["and", "popc"]);
        mods.take("satfinite");
        let first = 3 + if sparse { 2 } else { 0 };
        let a_shared = !matches!(operands.get(1)?, Operand::Vector(_));
        let scale_d = match operands.get(first)? {
            literal @ Operand::Literal(_) => {
                let on = self.immediate(literal)? != 0;
                Predicate {
                    slot: self.constant(u128::from(on), 1).slot,
                    negated: false,
                }
            }
            other => self.predicate(other)?,
        };
        let flags = operands.list[first + 1..]
            .iter()
            .map(|o| self.immediate(o))
            .collect::<Result<Vec<_>>>()?;
        let sign = |at: usize| match flags.get(at) {
            None | Some(1) => Ok(false),
            Some(-1) => Ok(true),
            Some(v) => Err(format!("scale {v} is neither 1 nor -1")),
        };
        let (negate_a, negate_b) = (sign(0)?, sign(1)?);
        let major = |at: usize| match flags.get(at) {
            None | Some(0) => Ok(Major::K),
            Some(1) => Ok(Major::Mn),
            Some(v) => Err(format!("transposition {v} is neither 0 nor 1")),
        };
        let (a_source, b_major) = if a_shared {
            (Source::Shared(major(2)?), major(3)?)
        } else {
            (Source::Registers, major(2)?)
        };
        let most = if a_shared { 4 } else { 3 };
        if flags.len() > most {
            return Err(format!(
                "at most {most} immediates follow scale-d, found {}",
                flags.len()
            ));
        }
        let instruction = Instruction {
            a,
            b,
            d,
            n: n as u32,
            a_source,
            b_major,
        };
        let depth = if sparse { k / 2 } else { k };
        if m != 64 || depth != a.k() as usize {
            return Err(format!(
                "m64 and k{} are expected for {}, found m{m} and k{k}",
                a.k() * if sparse { 2 } else { 1 },
                a.name()
            ));
        }
        let options = wgmma::Options {
            sparse,
            negate_a,
            negate_b,
            saturate,
        };
        let product = Wgmma::new(instruction, options).map_err(|e| e.to_string())?;
        let registers = self.registers(operands.get(0)?, 32, true)?;
        Self::counted("D", &registers, product.d_registers())?;
        let a = if a_shared {
            Box::new([self.source(operands.get(1)?, Ty::B64)?])
        } else {
            let a = self.registers(operands.get(1)?, 32, false)?;
            Self::counted("A", &a, product.a_registers())?;
            a
        };
        let b = self.source(operands.get(2)?, Ty::B64)?;
        let metadata = if sparse {
            let words = self.source(operands.get(3)?, Ty::B32)?;
            Some((words, self.immediate(operands.get(4)?)?.clamp(0, 255) as usize))
        } else {
            None
        };
        self.collective(
            None,
            Kind::Wgmma(Box::new(WarpgroupProduct {
                product,
                d: registers,
                a,
                a_shared,
                b,
                scale_d,
                metadata,
            })),
        );
        Ok(())
    }
}

/// The family of a load or store, which names one type alone.
fn fragment_of(shape: (usize, usize, usize), fragment: Fragment, ty: &str) -> Result<Wmma> {
    let element = Element::from_name(ty);
    let sum = Sum::from_name(ty);
    let candidates: Vec<(Element, Sum)> = match fragment {
        Fragment::A | Fragment::B => {
            let e = element.ok_or_else(|| format!("type .{ty} is not simulated here"))?;
            [Sum::F32, Sum::S32, Sum::F64, Sum::F16]
                .into_iter()
                .map(|s| (e, s))
                .collect()
        }
        Fragment::C | Fragment::D => {
            let s = sum.ok_or_else(|| format!("type .{ty} is not simulated here"))?;
            [
                Element::F16,
                Element::Bf16,
                Element::Tf32,
                Element::S8,
                Element::S4,
                Element::B1,
                Element::F64,
            ]
            .into_iter()
            .map(|e| (e, s))
            .collect()
        }
    };
    let mut last = String::new();
    for (e, s) in candidates {
        let bit_op = (e == Element::B1).then_some(BitOp::Xor);
        match Wmma::new(shape, e, e, s, s, false, bit_op) {
            Ok(wmma) => return Ok(wmma),
            Err(error) => last = error.to_string(),
        }
    }
    Err(last)
}
