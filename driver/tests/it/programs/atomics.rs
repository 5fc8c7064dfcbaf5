//! What atomic operations make of memory, element by element, in whatever order.
use super::{
    interpret::{Invalid, Result, coordinates, inside, invalid},
    number::{self, exact_integers, signed, value},
    program::Tile,
};
use girih_core::dtype::DType;

/// An atomic operation on elements.
pub(super) struct Atomic<'p> {
    pub(super) kind: &'static str,
    pub(super) compare: Option<&'p [u64]>,
    /// Whether somebody asks for what was there.
    pub(super) is_seen: bool,
}

impl Atomic<'_> {
    /// Whether it matters which operation on a place comes first.
    pub(super) fn shows_order(&self) -> bool {
        self.is_seen || matches!(self.kind, "exch" | "cas")
    }
    /// What element `i` makes of what was there.
    pub(super) fn combined(&self, dtype: DType, old: u64, new: u64, i: usize) -> Result<u64> {
        let float = dtype.is_float();
        let op = match self.kind {
            "exch" => return Ok(new),
            "cas" => {
                return Ok(if self.compare.is_some_and(|c| c[i] == old) {
                    new
                } else {
                    old
                });
            }
            "add" if float => "arith.addf",
            "add" => "arith.addi",
            "mul" if float => "arith.mulf",
            "mul" => "arith.muli",
            "mins" => "arith.minsi",
            "maxs" => "arith.maxsi",
            "minu" => "arith.minui",
            "maxu" => "arith.maxui",
            "minimumf" => "arith.minimumf",
            "maximumf" => "arith.maximumf",
            "and" => "arith.andi",
            "or" => "arith.ori",
            _ => "arith.xori",
        };
        if float && matches!(self.kind, "add" | "mul") {
            let whole = |v: f64, most: f64| v.fract() == 0.0 && v.abs() <= most;
            let most = exact_integers(dtype);
            if !whole(value(dtype, new), 256.0) || !whole(value(dtype, old), most / 256.0) || most < 1e6 {
                return invalid("a sum of floats that may be rounded");
            }
        }
        number::binary(op, dtype, old, new).ok_or_else(|| Invalid("undefined".into()))
    }
}

/// What a buffer of the block holds, and what was there, after each element of a tile is combined with it: from `starts` on, or
/// in the rows with these numbers.
pub(super) fn in_shared(
    atomic: &Atomic<'_>,
    (memory, before): (&Tile, &[u64]),
    (tile, elements): (&Tile, &[u64]),
    starts: &[i64],
    rows: Option<(DType, &[u64])>,
    mask: Option<&[u64]>,
) -> Result<(Vec<u64>, Vec<u64>)> {
    let (mut after, mut met) = (before.to_vec(), vec![0; elements.len()]);
    let mut touched = vec![false; before.len()];
    let rank = memory.shape.len();
    if tile.shape.len() != rank || starts.len() + usize::from(rows.is_some()) != rank {
        return invalid("a tile of another rank");
    }
    for (i, new) in elements.iter().enumerate() {
        if mask.is_some_and(|m| m[i] & 1 == 0) {
            continue;
        }
        let mut at = coordinates(i as i64, &tile.shape);
        let mut first = starts.to_vec();
        if let Some((dtype, numbers)) = rows {
            at[0] = signed(dtype, numbers[at[0] as usize]);
            first.insert(0, 0);
        }
        let Some(place) = inside(&at, &first, &vec![1; rank], &memory.shape) else {
            continue;
        };
        if touched[place] && atomic.shows_order() {
            return invalid("two operations in some order");
        }
        touched[place] = true;
        met[i] = after[place];
        after[place] = atomic.combined(tile.dtype, after[place], *new, i)?;
    }
    Ok((after, met))
}
