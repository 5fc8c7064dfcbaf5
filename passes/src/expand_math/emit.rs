//! [`Arith`] as ops of arith and math, on scalars, vectors and tiles.
use super::algebra::{Approximate, Arith};
use girih_dialects::nvvm::{Cmp, Emit, V};
use girih_ir::{
    kind::{I64s, Kind},
    melior::ir::attribute::{FloatAttribute, IntegerAttribute},
    mlir_sys::*,
    prelude::*,
    rewrite::{AtEnd, Before, Builder},
};

/// Where ops go: before an op, or to the end of a block.
#[derive(Clone, Copy)]
enum Place<'c> {
    Before(OperationRef<'c, 'c>),
    AtEnd(BlockRef<'c, 'c>),
}

impl<'c> Builder<'c> for Place<'c> {
    fn context(&self) -> &'c Context {
        match self {
            Place::Before(op) => Before(*op).context(),
            Place::AtEnd(block) => AtEnd(*block).context(),
        }
    }
    fn insert<'a>(&self, op: Operation<'c>) -> OperationRef<'c, 'a> {
        match self {
            Place::Before(at) => Before(*at).insert(op),
            Place::AtEnd(block) => AtEnd(*block).insert(op),
        }
    }
}

/// Ops at one place on numbers of one type.
#[derive(Clone, Copy)]
pub struct Ops<'c> {
    place: Place<'c>,
    loc: Location<'c>,
    float: Type<'c>,
    int: Type<'c>,
    truth: Type<'c>,
    bits: u32,
}

/// `shaped` with other elements, or the element itself where `shaped` is a scalar.
pub fn with_element<'c>(shaped: Type<'c>, element: Type<'c>) -> Type<'c> {
    let Some(shape) = shaped.shape() else { return element };
    let rank = shape.len() as isize;
    // SAFETY: the types are alive with their context; the shape's length is the rank that is given.
    unsafe {
        if shaped.is_ranked_tensor_type() {
            let encoding = mlirRankedTensorTypeGetEncoding(shaped.to_raw());
            return Type::from_raw(mlirRankedTensorTypeGet(
                rank,
                shape.as_ptr(),
                element.to_raw(),
                encoding,
            ));
        }
        Type::from_raw(mlirVectorTypeGet(rank, shape.as_ptr(), element.to_raw()))
    }
}

impl<'c> Ops<'c> {
    /// Emits before `op` on numbers of `float`, an `f32` or `f64` or a vector or tile of those.
    pub fn new(op: OperationRef<'c, 'c>, float: Type<'c>) -> Self {
        let place = Place::Before(op);
        let e = Emit::new(&place, op.location());
        let bits = float
            .element_type()
            .unwrap_or(float)
            .bit_width()
            .map_or(32, |bits| bits.min(64));
        let (int, truth) = (with_element(float, e.int(bits)), with_element(float, e.int(1)));
        Ops {
            place,
            loc: op.location(),
            float,
            int,
            truth,
            bits,
        }
    }
    fn e(&self) -> Emit<'c, '_> {
        Emit::new(&self.place, self.loc)
    }
    /// A constant of any type, the same in all elements.
    pub fn constant(&self, t: Type<'c>, scalar: Attribute<'c>) -> V<'c> {
        let value = if t.shape().is_some() {
            // SAFETY: the attribute's type is the element type of `t`.
            unsafe { Attribute::from_raw(mlirDenseElementsAttrSplatGet(t.to_raw(), scalar.to_raw())) }
        } else {
            scalar
        };
        self.e().value("arith.constant", &[], t, &[("value", value)])
    }
    /// An integer constant of a type of integers, the same in all elements.
    pub fn integer(&self, t: Type<'c>, v: i64) -> V<'c> {
        let element = t.element_type().unwrap_or(t);
        self.constant(t, IntegerAttribute::new(element, v).into())
    }
    /// A comparison of integers, element by element.
    pub fn compare_integers(&self, predicate: Cmp, a: V<'c>, b: V<'c>) -> V<'c> {
        let truth = with_element(a.r#type(), self.e().int(1));
        let predicate = self.e().i64_attr(predicate as i64);
        self.e()
            .value("arith.cmpi", &[a, b], truth, &[("predicate", predicate)])
    }
    /// The same at the end of a block.
    pub fn at_end(&self, block: BlockRef<'c, 'c>) -> Self {
        Ops {
            place: Place::AtEnd(block),
            ..*self
        }
    }
    /// Does something with a scalar, or with each element of a vector.
    fn each(&self, a: V<'c>, one: impl Fn(V<'c>) -> V<'c>) -> V<'c> {
        let t = a.r#type();
        let (Some(shape), Some(element)) = (t.shape(), t.element_type()) else {
            return one(a);
        };
        let mut result = a;
        for flat in 0..shape.iter().product::<i64>() {
            let mut place = vec![0; shape.len()];
            let mut rest = flat;
            for (p, size) in place.iter_mut().zip(&shape).rev() {
                *p = rest % size;
                rest /= size;
            }
            let place = [("static_position", I64s::to_attribute(&place, self.e().context()))];
            let x = self.e().value("vector.extract", &[a], element, &place);
            result = self.e().value("vector.insert", &[one(x), result], t, &place);
        }
        result
    }
    fn float(&self, name: &str, operands: &[V<'c>]) -> V<'c> {
        self.e().value(name, operands, self.float, &[])
    }
    fn int(&self, name: &str, operands: &[V<'c>]) -> V<'c> {
        self.e().value(name, operands, self.int, &[])
    }
    /// Predicates are numbered as in arith's CmpFPredicate and CmpIPredicate.
    fn compare(&self, name: &str, predicate: i64, a: V<'c>, b: V<'c>) -> V<'c> {
        let predicate = self.e().i64_attr(predicate);
        self.e().value(name, &[a, b], self.truth, &[("predicate", predicate)])
    }
}

impl<'c> Arith for Ops<'c> {
    type F = V<'c>;
    type I = V<'c>;
    type B = V<'c>;

    fn bits(&self) -> u32 {
        self.bits
    }
    fn f(&self, v: f64) -> V<'c> {
        let element = self.float.element_type().unwrap_or(self.float);
        let v = if self.bits == 32 { f64::from(v as f32) } else { v };
        self.constant(self.float, FloatAttribute::new(self.e().context(), element, v).into())
    }
    fn i(&self, v: i64) -> V<'c> {
        let element = self.int.element_type().unwrap_or(self.int);
        self.constant(self.int, IntegerAttribute::new(element, v).into())
    }
    fn add(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.float("arith.addf", &[a, b])
    }
    fn sub(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.float("arith.subf", &[a, b])
    }
    fn mul(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.float("arith.mulf", &[a, b])
    }
    fn div(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.float("arith.divf", &[a, b])
    }
    fn fma(&self, a: V<'c>, b: V<'c>, c: V<'c>) -> V<'c> {
        self.float("math.fma", &[a, b, c])
    }
    fn sqrt(&self, a: V<'c>) -> V<'c> {
        self.float("math.sqrt", &[a])
    }
    fn trunc(&self, a: V<'c>) -> V<'c> {
        self.float("math.trunc", &[a])
    }
    fn lt(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.compare("arith.cmpf", 4, a, b)
    }
    fn le(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.compare("arith.cmpf", 5, a, b)
    }
    fn eq(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.compare("arith.cmpf", 1, a, b)
    }
    fn ne(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.compare("arith.cmpf", 13, a, b)
    }
    fn select(&self, c: V<'c>, a: V<'c>, b: V<'c>) -> V<'c> {
        self.float("arith.select", &[c, a, b])
    }
    fn select_int(&self, c: V<'c>, a: V<'c>, b: V<'c>) -> V<'c> {
        self.int("arith.select", &[c, a, b])
    }
    fn both(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.e().value("arith.andi", &[a, b], self.truth, &[])
    }
    fn either(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.e().value("arith.ori", &[a, b], self.truth, &[])
    }
    fn to_bits(&self, a: V<'c>) -> V<'c> {
        self.int("arith.bitcast", &[a])
    }
    fn of_bits(&self, a: V<'c>) -> V<'c> {
        self.float("arith.bitcast", &[a])
    }
    fn iadd(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.int("arith.addi", &[a, b])
    }
    fn isub(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.int("arith.subi", &[a, b])
    }
    fn iand(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.int("arith.andi", &[a, b])
    }
    fn ior(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.int("arith.ori", &[a, b])
    }
    fn ixor(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.int("arith.xori", &[a, b])
    }
    fn ishl(&self, a: V<'c>, n: V<'c>) -> V<'c> {
        self.int("arith.shli", &[a, n])
    }
    fn ishr(&self, a: V<'c>, n: V<'c>) -> V<'c> {
        self.int("arith.shrui", &[a, n])
    }
    fn isar(&self, a: V<'c>, n: V<'c>) -> V<'c> {
        self.int("arith.shrsi", &[a, n])
    }
    fn ilt(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.compare("arith.cmpi", 2, a, b)
    }
    fn ieq(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.compare("arith.cmpi", 0, a, b)
    }
    fn to_float(&self, a: V<'c>) -> V<'c> {
        self.float("arith.sitofp", &[a])
    }
    fn mul_wide(&self, a: V<'c>, b: V<'c>) -> (V<'c>, V<'c>) {
        let both = self.e().op("arith.mului_extended", &[a, b], &[self.int, self.int], &[]);
        let both = both.result_values();
        (both[0], both[1])
    }
    fn scaled(&self, high: V<'c>, low: V<'c>, scale: f64) -> V<'c> {
        let wide = with_element(self.float, self.e().int(2 * self.bits));
        let double = with_element(self.float, Type::float64(self.e().context()));
        let extended = |v| self.e().value("arith.extui", &[v], wide, &[]);
        let element = self.e().int(2 * self.bits);
        let width = self.constant(wide, IntegerAttribute::new(element, i64::from(self.bits)).into());
        let high = self.e().value("arith.shli", &[extended(high), width], wide, &[]);
        let whole = self.e().value("arith.ori", &[high, extended(low)], wide, &[]);
        let number = self.e().value("arith.sitofp", &[whole], double, &[]);
        let f64_type = Type::float64(self.e().context());
        let scale = self.constant(double, FloatAttribute::new(self.e().context(), f64_type, scale).into());
        let product = self.e().value("arith.mulf", &[number, scale], double, &[]);
        if self.bits == 64 {
            product
        } else {
            self.float("arith.truncf", &[product])
        }
    }
    fn approximate(&self, function: Approximate, a: V<'c>) -> V<'c> {
        let name = match function {
            Approximate::Exp2 => "math.exp2",
            // LLVM selects no instruction for its own logarithm. A tile's becomes one when it is in registers.
            Approximate::Log2 if self.float.is_ranked_tensor_type() => "math.log2",
            Approximate::Log2 => {
                return self.each(a, |a| self.e().intrinsic("llvm.nvvm.lg2.approx.f", &[a], a.r#type()));
            }
            Approximate::Sin => "math.sin",
            Approximate::Cos => "math.cos",
            Approximate::Tanh => "math.tanh",
            Approximate::Rsqrt => "math.rsqrt",
        };
        let flags = self.e().attr("#arith.fastmath<afn>");
        self.e().value(name, &[a], self.float, &[("fastmath", flags)])
    }
    fn branch<const N: usize>(
        &self,
        c: V<'c>,
        then: impl FnOnce(&Self) -> [V<'c>; N],
        otherwise: impl FnOnce(&Self) -> [V<'c>; N],
    ) -> [V<'c>; N] {
        if self.float.shape().is_some() {
            let (a, b) = (then(self), otherwise(self));
            return std::array::from_fn(|i| self.select(c, a[i], b[i]));
        }
        let op = self
            .e()
            .op_with_regions("scf.if", &[c], &[self.float; N], &[], vec![region(), region()]);
        let inside = |i: usize| {
            op.region_at(i).entry().map(|block| Ops {
                place: Place::AtEnd(block),
                ..*self
            })
        };
        if let Some(ops) = inside(0) {
            let values = then(&ops);
            ops.e().op("scf.yield", &values, &[], &[]);
        }
        if let Some(ops) = inside(1) {
            let values = otherwise(&ops);
            ops.e().op("scf.yield", &values, &[], &[]);
        }
        let values = op.result_values();
        std::array::from_fn(|i| values[i])
    }
}

/// A region of one empty block.
fn region<'c>() -> Region<'c> {
    let region = Region::new();
    region.append_block(Block::new(&[]));
    region
}
