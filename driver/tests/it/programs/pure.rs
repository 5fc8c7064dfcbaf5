//! What ops without effects make of row-major lists of numbers: elementwise ops, changes of shape, products, reductions
//! and scans.
use super::{
    interpret::{Elements, Invalid, Result, coordinates, invalid, place},
    number::{self, exact_integers, is_nan, signed, value, wrapped},
    program::{Combiner, Kind, Op, Program, Tile, in_a_byte},
};
use girih_core::{
    dtype::DType,
    number::{FloatFormat, to_bits},
};

/// Elements of a result that are elements of an operand: `from` gives their coordinates there.
fn moved(source: &[u64], from_shape: &[i64], shape: &[i64], from: impl Fn(&[i64]) -> Vec<i64>) -> Result<Vec<u64>> {
    (0..shape.iter().product())
        .map(|n| {
            let at = from(&coordinates(n, shape));
            let inside = at.len() == from_shape.len() && at.iter().zip(from_shape).all(|(c, s)| c < s);
            if inside {
                Ok(source[place(&at, from_shape)])
            } else {
                invalid("an element that is not there")
            }
        })
        .collect()
}

/// The same bits as numbers of another width, the first of those in one in its lowest bits.
fn bitcast(source: &[u64], dtype: DType, shape: &[i64], to: &Tile, axis: usize) -> Result<Vec<u64>> {
    let (a, b) = (i64::from(number::width(dtype)), i64::from(number::width(to.dtype)));
    let bit = |n: i64, bit: i64| {
        let mut at = coordinates(n, &to.shape);
        let place_of = at[axis] * b + bit;
        at[axis] = place_of / a;
        match at.len() == shape.len() && at.iter().zip(shape).all(|(c, s)| c < s) {
            true => Ok(source[place(&at, shape)] >> (place_of % a) & 1),
            false => invalid("an element that is not there"),
        }
    };
    (0..to.elements())
        .map(|n| (0..b).map(|i| Ok(bit(n, i)? << i)).sum())
        .collect()
}

pub(super) fn pure(p: &Program, op: &Op, operands: &[Elements]) -> Result<Vec<Vec<u64>>> {
    let types: Vec<_> = op.operands.iter().map(|id| &p.tiles[*id]).collect();
    let results: Vec<_> = op.results.iter().map(|id| &p.tiles[*id]).collect();
    let to = results[0];
    let undefined = || Invalid("undefined".into());
    let elementwise = |f: &dyn Fn(&[u64]) -> Option<u64>| -> Result<Vec<Vec<u64>>> {
        if operands.iter().any(|o| o.len() as i64 != to.elements()) {
            return invalid("operands of other sizes");
        }
        let one = |n: usize| {
            let numbers: Vec<u64> = operands.iter().map(|o| o[n]).collect();
            f(&numbers).ok_or_else(undefined)
        };
        Ok(vec![(0..to.elements() as usize).map(one).collect::<Result<_>>()?])
    };
    let dtype = types.first().map_or(to.dtype, |t| t.dtype);
    let source = operands.first().map(|o| o.as_slice()).unwrap_or_default();
    let shape = types.first().map(|t| t.shape.as_slice()).unwrap_or_default();
    let one = match &op.kind {
        Kind::Constant(bits) => vec![*bits; to.elements() as usize],
        Kind::Iota(axis) => (0..to.elements())
            .map(|n| wrapped(to.dtype, coordinates(n, &to.shape)[*axis] as u64))
            .collect(),
        Kind::Extract => vec![*source.first().ok_or_else(undefined)?; to.elements() as usize],
        Kind::ExpandDims(axis) => moved(source, shape, &to.shape, |at| {
            let mut at = at.to_vec();
            at.remove(*axis);
            at
        })?,
        Kind::Broadcast => moved(source, shape, &to.shape, |at| {
            at.iter()
                .zip(shape)
                .map(|(c, s)| if *s == 1 { 0 } else { *c })
                .collect()
        })?,
        Kind::Reshape => source.to_vec(),
        Kind::Bitcast(axis) => bitcast(source, dtype, shape, to, *axis)?,
        Kind::Transpose(order) => moved(source, shape, &to.shape, |at| {
            let mut from = vec![0; at.len()];
            order.iter().zip(at).for_each(|(axis, c)| from[*axis] = *c);
            from
        })?,
        Kind::Concat(axis) => {
            let element = |n: i64| {
                let mut at = coordinates(n, &to.shape);
                for (t, operand) in types.iter().zip(operands) {
                    if at[*axis] < t.shape[*axis] {
                        return operand.get(place(&at, &t.shape)).copied();
                    }
                    at[*axis] -= t.shape[*axis];
                }
                None
            };
            (0..to.elements())
                .map(|n| element(n).ok_or_else(undefined))
                .collect::<Result<_>>()?
        }
        Kind::Unary(name) => return elementwise(&|v| number::unary(name, dtype, v[0])),
        Kind::Binary(name) => return elementwise(&|v| number::binary(name, dtype, v[0], v[1])),
        Kind::Compare(predicate) => {
            return elementwise(&|v| Some(number::compare(predicate, dtype, v[0], v[1]).into()));
        }
        Kind::Select => return elementwise(&|v| Some(if v[0] != 0 { v[1] } else { v[2] })),
        Kind::Fma => return elementwise(&|v| Some(number::fma(dtype, v[0], v[1], v[2]))),
        Kind::Cast(name) => return elementwise(&|v| number::cast(name, dtype, to.dtype, v[0])),
        Kind::Truncate(rounding) => {
            return elementwise(&|v| Some(number::converted(dtype, to.dtype, v[0], *rounding, false)));
        }
        Kind::Convert(rounding, saturate) => {
            return elementwise(&|v| Some(number::converted(dtype, to.dtype, v[0], *rounding, *saturate)));
        }
        Kind::Mma { unsigned } => product(p, op, operands, *unsigned)?,
        Kind::Packed {
            elements,
            popc,
            unsigned,
        } => packed(p, op, operands, *elements, popc, *unsigned)?,
        Kind::Reduce { axis, combiner } => {
            let tiles: Vec<(DType, &[u64])> = types
                .iter()
                .zip(operands)
                .map(|(t, o)| (t.dtype, o.as_slice()))
                .collect();
            return along(&tiles, shape, *axis, *combiner, false);
        }
        Kind::Scan { axis, combiner } => {
            let tiles: Vec<(DType, &[u64])> = types
                .iter()
                .zip(operands)
                .map(|(t, o)| (t.dtype, o.as_slice()))
                .collect();
            return along(&tiles, shape, *axis, *combiner, true);
        }
        _ => return invalid("an op with effects"),
    };
    Ok(vec![one])
}

fn product(p: &Program, op: &Op, operands: &[Elements], unsigned: [bool; 2]) -> Result<Vec<u64>> {
    let tiles: Vec<_> = op.operands.iter().map(|id| &p.tiles[*id]).collect();
    let (m, n, k) = (tiles[2].shape[0], tiles[2].shape[1], tiles[0].shape[1]);
    let value = |t: usize, at: i64| match (operands[t][at as usize], unsigned.get(t)) {
        (bits, Some(true)) => bits as f64,
        (bits, _) => number::value(tiles[t].dtype, bits),
    };
    let mut out = vec![];
    for (row, column) in (0..m).flat_map(|r| (0..n).map(move |c| (r, c))) {
        let (mut sum, mut size) = (0.0, 0.0);
        let mut add = |v: f64| {
            sum += v;
            size += v.abs();
            v.fract() == 0.0
        };
        let mut whole = add(value(2, row * n + column));
        for i in 0..k {
            whole &= add(value(0, row * k + i) * value(1, i * n + column));
        }
        let limit = if tiles[2].dtype == DType::I32 {
            2f64.powi(31)
        } else {
            exact_integers(tiles[2].dtype)
        };
        if !whole || size >= limit {
            return invalid("a product that may be rounded");
        }
        out.push(to_bits(tiles[2].dtype, sum));
    }
    Ok(out)
}

/// A number that lies in a byte from number `part` on.
fn number_in(byte: u64, part: i64, element: &str, unsigned: bool) -> f64 {
    match element {
        "i1" => (byte >> part & 1) as f64,
        "i4" if unsigned => (byte >> (4 * part) & 0xf) as f64,
        "i4" => ((byte >> (4 * part) << 4) as i8 >> 4).into(),
        "f4E2M1FN" => FloatFormat::E2M1.decode(byte >> (4 * part) & 0xf),
        "f6E2M3FN" => FloatFormat::E2M3.decode(byte & 0x3f),
        _ => FloatFormat::E3M2.decode(byte & 0x3f),
    }
}

/// A product of numbers that lie in bytes along K.
fn packed(
    p: &Program,
    op: &Op,
    operands: &[Elements],
    elements: [&str; 2],
    popc: &str,
    unsigned: [bool; 2],
) -> Result<Vec<u64>> {
    /// Of two floats of 6 bits what every product is a multiple of.
    const PARTS: f64 = 256.0;
    let tiles: Vec<_> = op.operands.iter().map(|id| &p.tiles[*id]).collect();
    let (m, n) = (tiles[2].shape[0], tiles[2].shape[1]);
    let depth = [0, 1].map(|t| tiles[t].shape[1 - t]);
    let k = depth[0] * in_a_byte(elements[0]);
    if k != depth[1] * in_a_byte(elements[1]) || tiles[0].shape[0] != m || tiles[1].shape[1] != n {
        return invalid("operands of other sizes");
    }
    let sum_type = tiles[2].dtype;
    let limit = match sum_type {
        DType::I32 => 2f64.powi(31),
        _ => exact_integers(sum_type),
    };
    let parts = if sum_type.is_float() { PARTS } else { 1.0 };
    let mut out = vec![];
    for (row, column) in (0..m).flat_map(|r| (0..n).map(move |c| (r, c))) {
        let mut sum = value(sum_type, operands[2][(row * n + column) as usize]);
        let (mut size, mut whole) = (sum.abs(), (sum * parts).fract() == 0.0);
        for i in 0..k {
            let at = [0, 1].map(|t| i / in_a_byte(elements[t]));
            let places = [row * depth[0] + at[0], at[1] * n + column];
            let [x, y] = [0, 1].map(|t| {
                let part = i % in_a_byte(elements[t]);
                number_in(operands[t][places[t] as usize], part, elements[t], unsigned[t])
            });
            let v = if popc == "xor" { (x - y).abs() } else { x * y };
            sum += v;
            size += v.abs();
            whole &= (v * parts).fract() == 0.0;
        }
        if !whole || size * parts >= limit {
            return invalid("a product that may be rounded");
        }
        out.push(to_bits(sum_type, sum));
    }
    Ok(out)
}

/// Reduces or scans tiles of one shape.
fn along(
    tiles: &[(DType, &[u64])],
    shape: &[i64],
    axis: usize,
    combiner: Combiner,
    scan: bool,
) -> Result<Vec<Vec<u64>>> {
    let types: Vec<DType> = tiles.iter().map(|t| t.0).collect();
    let inner: i64 = shape[axis + 1..].iter().product();
    let (size, outer): (i64, i64) = (shape[axis], shape[..axis].iter().product());
    let mut out = vec![vec![]; tiles.len()];
    for part in &mut out {
        part.resize((if scan { outer * size * inner } else { outer * inner }) as usize, 0);
    }
    for line in 0..outer * inner {
        let (o, i) = (line / inner, line % inner);
        let at = |k: i64| ((o * size + k) * inner + i) as usize;
        let element = |k: i64| tiles.iter().map(|t| t.1[at(k)]).collect::<Vec<_>>();
        any_order(&types, combiner, (0..size).map(element))?;
        let mut sum = element(0);
        for k in 0..size {
            if k > 0 {
                sum = combine(&types, combiner, &sum, &element(k))?;
            }
            if scan {
                out.iter_mut().zip(&sum).for_each(|(part, v)| part[at(k)] = *v);
            }
        }
        if !scan {
            out.iter_mut().zip(&sum).for_each(|(part, v)| part[line as usize] = *v);
        }
    }
    Ok(out)
}

/// Whether elements combine to the same bits in any order.
fn any_order(types: &[DType], combiner: Combiner, elements: impl Iterator<Item = Vec<u64>>) -> Result<()> {
    let sums: Vec<bool> = match combiner {
        Combiner::One(f) => vec![f == "arith.addf"],
        Combiner::Two(f, g) => vec![f == "arith.addf", g == "arith.addf"],
        Combiner::Largest => vec![false, false],
        _ => return Ok(()),
    };
    let mut sizes = vec![0.0; types.len()];
    for element in elements {
        if combiner == Combiner::Largest && is_nan(types[0], element[0]) {
            return invalid("the largest of what is no number");
        }
        for i in (0..types.len()).filter(|i| sums[*i]) {
            let v = value(types[i], element[i]);
            sizes[i] += v.abs();
            if v.fract() != 0.0 || sizes[i] > exact_integers(types[i]) {
                return invalid("a sum of floats that may be rounded");
            }
        }
    }
    Ok(())
}

fn combine(types: &[DType], combiner: Combiner, l: &[u64], r: &[u64]) -> Result<Vec<u64>> {
    let by = |op: &str, n: usize, a: u64, b: u64| {
        number::binary(op, types[n], a, b).ok_or_else(|| Invalid("undefined".into()))
    };
    Ok(match combiner {
        Combiner::One(f) => vec![by(f, 0, l[0], r[0])?],
        Combiner::Two(f, g) => vec![by(f, 0, l[0], r[0])?, by(g, 1, l[1], r[1])?],
        Combiner::Largest => {
            let [more, equal] = if types[0].is_float() {
                ["ogt", "oeq"]
            } else {
                ["sgt", "eq"]
            };
            let equal = number::compare(equal, types[0], l[0], r[0]);
            if equal && l[1] == r[1] && l[0] != r[0] {
                return invalid("two zeros at one place");
            }
            let left =
                number::compare(more, types[0], l[0], r[0]) || equal && signed(types[1], l[1]) < signed(types[1], r[1]);
            if left { l.to_vec() } else { r.to_vec() }
        }
        Combiner::Compose => {
            let scaled = by("arith.muli", 0, r[0], l[1])?;
            vec![by("arith.muli", 0, l[0], r[0])?, by("arith.addi", 0, scaled, r[1])?]
        }
        Combiner::First => l.to_vec(),
        Combiner::Last => r.to_vec(),
    })
}
