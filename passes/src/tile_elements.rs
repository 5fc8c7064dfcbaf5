//! What stands at a place of a tile of integers that is made of counts and constants, such as a mask.
//!
//! ```text
//! tile.iota axis 1 at (3, 5)                 5
//! tile.iota < 4                              0
//! loaded, or compared with an argument       not known
//! ```
use crate::{
    lane_values::arithmetic,
    uniform_run::{seen_through, splat, whole_number},
};
use girih_dialects::tile::ops::value::{Iota, Splat};
use girih_ir::{op::Trait, prelude::*};

type V<'c> = Value<'c, 'c>;

/// Ops between a tile and what it is made of that are looked through. What lies deeper is not known.
const DEEPEST: usize = 32;

/// Elements of tiles, as many as there are steps for.
pub(crate) struct Elements {
    steps: usize,
}

impl Elements {
    /// With so many steps: one for each op that is looked through for an element.
    pub fn new(steps: usize) -> Self {
        Elements { steps }
    }

    /// The element of `tile` at `place`; `None` where it is not known.
    pub fn at(&mut self, tile: V<'_>, place: &[i64]) -> Option<i64> {
        self.look(tile, place, 0)
    }

    fn look(&mut self, v: V<'_>, place: &[i64], depth: usize) -> Option<i64> {
        if !v.r#type().is_ranked_tensor_type() {
            return v.constant_int();
        }
        self.steps = self.steps.checked_sub(1)?;
        let op = v.defining_op().filter(|_| depth < DEEPEST)?;
        let operands = op.operand_values();
        if let Some(iota) = op.cast::<Iota>() {
            return place.get(usize::try_from(iota.axis()).ok()?).copied();
        }
        if op.is::<Splat>() {
            return operands.first()?.constant_int();
        }
        if let Some(number) = splat(op) {
            return whole_number(number);
        }
        if op.has_trait(Trait::Elementwise) {
            return arithmetic(op, &mut |i| self.look(*operands.get(i)?, place, depth + 1));
        }
        let (source, _) = seen_through(op, 0)?;
        let mut there = vec![0; source.r#type().shape()?.len()];
        for (axis, c) in place.iter().enumerate() {
            // Where the op repeats, the source has one element.
            if let (_, Some(from)) = seen_through(op, axis)? {
                *there.get_mut(from)? = *c;
            }
        }
        self.look(source, &there, depth + 1)
    }
}
