//! Texture and surface fetches (PTX ISA 9.7.10, 9.7.11), as far as texture objects of 1D linear and 2D pitched memory and
//! 2D surface objects go.
use super::function::{FunctionDecoder, Operands, Result};
use super::modifiers::Modifiers;
use super::types::Ty;
use crate::isa::{Op, Value};
use crate::ptx::Operand;
use crate::transfer::Transfer;

impl<'m> FunctionDecoder<'_, 'm> {
    /// `tex`, `suld`, `sust`.
    pub(super) fn texture(&mut self, name: &str, mods: &mut Modifiers<'m>, operands: &Operands<'m>) -> Result<()> {
        let tex = name == "tex";
        if !tex && !matches!(name, "suld" | "sust") {
            return Err("this instruction is not simulated".to_owned());
        }
        let rank = match mods.one_of(&["1d", "2d"]) {
            Some("1d") => 1,
            Some(_) => 2,
            None => return Err("only 1d and 2d are simulated".to_owned()),
        };
        if !tex {
            mods.take("b")
                .then_some(())
                .ok_or("only the unformatted `.b` form is simulated")?;
            mods.ignore(&["ca", "cg", "cs", "cv", "wb", "wt"]);
        }
        let lanes = match mods.one_of(&["v4", "v2"]) {
            Some("v4") => 4,
            Some(_) => 2,
            None => 1,
        };
        let ty = mods.ty().ok_or("the type is missing")?;
        let coordinate_ty = if tex {
            mods.ty().ok_or("the type of the coordinates is missing")?
        } else {
            Ty::S32
        };
        if !tex {
            mods.one_of(&["trap", "clamp", "zero"]);
        }
        operands.count(2, 2)?;
        let store = name == "sust";
        let Operand::Address(parts) = operands.get(usize::from(!store))? else {
            return Err("expected `[object, {coordinates}]`".to_owned());
        };
        let [object, coords] = parts.as_slice() else {
            return Err("expected `[object, {coordinates}]`".to_owned());
        };
        let object = self.source(object, Ty::B64)?;
        let coords = self
            .elements(coords)
            .iter()
            .map(|c| self.source(c, coordinate_ty))
            .collect::<Result<Box<[Value]>>>()?;
        if coords.len() < rank {
            return Err(format!("expected {rank} coordinates, found {}", coords.len()));
        }
        let coords: Box<[Value]> = coords[..rank].into();
        let values = self
            .elements(operands.get(usize::from(store))?)
            .iter()
            .map(|v| {
                if store {
                    self.source_of(v, ty, true)
                } else {
                    self.destination_of(v, ty, true)
                }
            })
            .collect::<Result<Box<[Value]>>>()?;
        if values.len() != lanes {
            return Err(format!("expected {lanes} elements, found {}", values.len()));
        }
        let transfer = if tex {
            if ty.bits() != 32 {
                return Err("texture elements of 32 bits are expected".to_owned());
            }
            Transfer::Texture {
                d: values,
                texture: object,
                coords,
                float_coords: coordinate_ty == Ty::F32,
            }
        } else {
            Transfer::Surface {
                values,
                surface: object,
                coords,
                bytes: ty.bits() / 8,
                store,
            }
        };
        self.emit(Op::Transfer(Box::new(transfer)));
        Ok(())
    }
}
