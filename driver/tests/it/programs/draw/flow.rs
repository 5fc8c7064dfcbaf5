//! Loops and branches, with tiles carried.
use super::{
    super::program::{Condition, Id, Kind, Op, Region, Tile},
    Draw,
};
use girih_core::dtype::DType;

impl Draw {
    /// Ops of a region, whose results are in the pool then.
    pub(super) fn inside(&mut self, pool: &mut Vec<Id>, depth: usize, passes: i64) -> Vec<Op> {
        let mut ops = vec![];
        for _ in 0..self.dice.range(1, 4) {
            let new = match passes > 0 && self.dice.chance(1, 3) {
                true => {
                    let mut list = vec![];
                    let rank = self.dice.pick(&[1, 2, 2, 3]);
                    let tile = match self.recent(pool) {
                        Some(id) if self.dice.chance(2, 3) && !self.of(id).shape.is_empty() => self.of(id),
                        _ => Tile::new(self.number_type(), &self.shape(rank)),
                    };
                    self.load(&mut list, &tile, passes);
                    Some(list)
                }
                false if passes > 0 && self.dice.chance(1, 6) => self.again(pool, passes),
                false => self.some(pool, depth + 1),
            };
            for op in new.into_iter().flatten() {
                pool.extend(op.results.iter().copied());
                ops.push(op);
            }
        }
        ops
    }

    /// Values of these types, as new as can be.
    pub(super) fn yields(&mut self, ops: &mut Vec<Op>, pool: &[Id], tiles: &[Tile]) -> Vec<Id> {
        let newest = |d: &Self, tile: &Tile| pool.iter().rev().copied().find(|id| d.program.tiles[*id] == *tile);
        tiles
            .iter()
            .map(|tile| match newest(self, tile).filter(|_| !self.dice.chance(1, 6)) {
                Some(id) => id,
                None => self.like(ops, pool, tile),
            })
            .collect()
    }

    pub(super) fn repeat(&mut self, ops: &mut Vec<Op>, pool: &[Id], depth: usize) -> Option<()> {
        let passes = self.dice.pick(&[0, 1, 2, 2, 3, 5]);
        let trips = self.base(passes);
        let carried: Vec<Id> = (0..self.dice.range(1, 3)).filter_map(|_| self.recent(pool)).collect();
        let tiles: Vec<Tile> = carried.iter().map(|id| self.of(*id)).collect();
        let arguments: Vec<Id> = tiles.iter().map(|t| self.tile(t.dtype, &t.shape)).collect();
        let mut seen = pool.to_vec();
        seen.extend(&arguments);
        let mut body = self.inside(&mut seen, depth, passes);
        // Something is done to what is carried.
        let first = arguments[0];
        let mark = body.len();
        if self.arithmetic(&mut body, &seen, first).is_some() {
            seen.extend(body[mark..].iter().flat_map(|op| op.results.iter().copied()));
        }
        if depth == 0 && self.dice.chance(1, 4) {
            let shown = self.recent(&seen)?;
            body.extend(self.output(shown, Some(passes)));
        }
        let yields = self.yields(&mut body, &seen, &tiles);
        let results: Vec<Id> = tiles.iter().map(|t| self.tile(t.dtype, &t.shape)).collect();
        ops.push(Op {
            regions: vec![Region {
                arguments,
                ops: body,
                yields,
            }],
            ..Op::new(
                Kind::For {
                    trips,
                    is_while: self.dice.chance(1, 4),
                },
                &carried,
                &results,
            )
        });
        Some(())
    }

    pub(super) fn branch(&mut self, ops: &mut Vec<Op>, pool: &[Id], depth: usize) -> Option<()> {
        let ids: Vec<Id> = (0..self.dice.range(1, 2)).filter_map(|_| self.recent(pool)).collect();
        let tiles: Vec<Tile> = ids.iter().map(|id| self.of(*id)).collect();
        let asked = self.such(pool, |t| t.shape.is_empty() && t.dtype == DType::I1);
        let (condition, operands) = match asked {
            Some(id) => (Condition::Tile, vec![id]),
            None => (Condition::Odd(self.number()), vec![]),
        };
        let switch = asked.is_none() && self.dice.chance(1, 3);
        let count = if switch { self.dice.range(1, 4) } else { 2 };
        let regions = (0..count)
            .map(|_| {
                let mut seen = pool.to_vec();
                let mut body = match self.dice.chance(1, 4) {
                    true => vec![],
                    false => self.inside(&mut seen, depth, 0),
                };
                let yields = self.yields(&mut body, &seen, &tiles);
                Region {
                    arguments: vec![],
                    ops: body,
                    yields,
                }
            })
            .collect();
        let results: Vec<Id> = tiles.iter().map(|t| self.tile(t.dtype, &t.shape)).collect();
        let kind = match condition {
            Condition::Odd(number) if switch => Kind::Switch(number),
            condition => Kind::If { condition },
        };
        ops.push(Op {
            regions,
            ..Op::new(kind, &operands, &results)
        });
        Some(())
    }
}
