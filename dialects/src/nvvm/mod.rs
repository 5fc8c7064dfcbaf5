//! Builders for the upstream dialects that tile programs are lowered to: `llvm`, `nvvm`, `arith` and `scf`.
//!
//! [`Emit`] puts ops at one place with one location, and has a method for each op that lowering needs. Names are the
//! upstream ops' own.
mod ptx;
pub mod switches;
mod tma;
pub use ptx::{AsmOperand, Cmp, TmaLoad};
pub use tma::Statement;

use girih_ir::{
    kind::{I32, I64, Kind},
    melior::ir::{
        Identifier,
        attribute::{
            DenseI32ArrayAttribute, FlatSymbolRefAttribute, FloatAttribute, IntegerAttribute, StringAttribute,
            TypeAttribute,
        },
        operation::OperationBuilder,
        r#type::IntegerType,
    },
    mlir_sys::*,
    prelude::*,
    rewrite::Builder,
};
use std::{cell::RefCell, rc::Rc};

/// Whether a type is `tf32`, of which LLVM has none.
pub fn is_tf32(t: Type<'_>) -> bool {
    t.is_float_type() && t.bit_width() == Some(19)
}

/// Emits ops at a builder's place, all with one location. Arithmetic on numbers that are known now is done now, and a number
/// becomes a constant once, so that what is emitted needs no cleaning up: the builder must not move back while ops are
/// emitted, since what comes later uses earlier constants.
#[derive(Clone)]
pub struct Emit<'c, 'b> {
    builder: &'b dyn Builder<'c>,
    loc: Location<'c>,
    /// Integer constants at this place, in order.
    constants: Rc<RefCell<Vec<(i64, V<'c>)>>>,
}

/// A value, or a number that is known now.
pub type V<'c> = Value<'c, 'c>;

impl<'c, 'b> Emit<'c, 'b> {
    /// Emits through `builder`.
    pub fn new(builder: &'b dyn Builder<'c>, loc: Location<'c>) -> Self {
        Emit {
            builder,
            loc,
            constants: Rc::default(),
        }
    }
    /// The context.
    pub fn context(&self) -> &'c Context {
        self.builder.context()
    }
    /// The location that ops get.
    pub fn loc(&self) -> Location<'c> {
        self.loc
    }

    /// Where ops go.
    pub fn builder(&self) -> &'b dyn Builder<'c> {
        self.builder
    }
    /// Inserts an op that was built elsewhere.
    pub fn insert(&self, op: Operation<'c>) -> OperationRef<'c, 'c> {
        self.builder.insert(op)
    }
    /// Emits at the end of a block of `outer`, an op that was emitted here.
    pub fn inside(&self, outer: OperationRef<'c, 'c>, block: BlockRef<'c, 'c>, mut fill: impl FnMut(Emit<'c, '_>)) {
        self.builder
            .inside(outer, block, &mut |builder| fill(Emit::new(builder, self.loc)));
    }
    /// An `index` constant.
    pub fn index(&self, n: i64) -> V<'c> {
        self.constant(n, self.index_type())
    }
    /// Any op.
    pub fn op(
        &self,
        name: &str,
        operands: &[V<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> OperationRef<'c, 'c> {
        self.op_with_regions(name, operands, results, attributes, vec![])
    }
    /// Any op with regions.
    pub fn op_with_regions(
        &self,
        name: &str,
        operands: &[V<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
        regions: Vec<Region<'c>>,
    ) -> OperationRef<'c, 'c> {
        let attributes: Vec<_> = attributes
            .iter()
            .map(|(n, a)| (Identifier::new(self.context(), n), *a))
            .collect();
        let op = OperationBuilder::new(name, self.loc)
            .add_operands(operands)
            .add_results(results)
            .add_attributes(&attributes)
            .add_regions_vec(regions)
            .build()
            // Only result type inference can fail, and it is never asked for.
            .expect("an op with explicit result types can be built");
        self.builder.insert(op)
    }
    /// Any op with one result.
    pub fn value(
        &self,
        name: &str,
        operands: &[V<'c>],
        result: Type<'c>,
        attributes: &[(&str, Attribute<'c>)],
    ) -> V<'c> {
        self.op(name, operands, &[result], attributes).result0()
    }
    /// An attribute from its text, which is written in this code and parses.
    pub fn attr(&self, text: &str) -> Attribute<'c> {
        Attribute::parse(self.context(), text).unwrap_or_else(|| panic!("attribute `{text}` does not parse"))
    }

    // ------------------------------------------------------------------------------------------------ types

    /// `iN`.
    pub fn int(&self, bits: u32) -> Type<'c> {
        IntegerType::new(self.context(), bits).into()
    }
    /// `i32`.
    pub fn i32_type(&self) -> Type<'c> {
        self.int(32)
    }
    /// `i64`.
    pub fn i64_type(&self) -> Type<'c> {
        self.int(64)
    }
    /// `index`.
    pub fn index_type(&self) -> Type<'c> {
        Type::index(self.context())
    }
    /// `!llvm.ptr<space>`.
    pub fn ptr(&self, space: u32) -> Type<'c> {
        unsafe { Type::from_raw(mlirLLVMPointerTypeGet(self.context().to_raw(), space)) }
    }
    /// `!llvm.struct<(...)>`.
    pub fn struct_type(&self, fields: &[Type<'c>]) -> Type<'c> {
        let raw: Vec<_> = fields.iter().map(|t| t.to_raw()).collect();
        unsafe {
            Type::from_raw(mlirLLVMStructTypeLiteralGet(
                self.context().to_raw(),
                raw.len() as isize,
                raw.as_ptr(),
                false,
            ))
        }
    }
    /// `vector<Nxelement>`.
    pub fn vector(&self, n: i64, element: Type<'c>) -> Type<'c> {
        unsafe { Type::from_raw(mlirVectorTypeGet(1, &n, element.to_raw())) }
    }
    /// `!llvm.func<void (...)>`.
    pub fn function_type(&self, arguments: &[Type<'c>]) -> Type<'c> {
        let raw: Vec<_> = arguments.iter().map(|t| t.to_raw()).collect();
        unsafe {
            let void = mlirLLVMVoidTypeGet(self.context().to_raw());
            Type::from_raw(mlirLLVMFunctionTypeGet(void, raw.len() as isize, raw.as_ptr(), false))
        }
    }

    // ------------------------------------------------------------------------------------------------ attributes

    /// A number as an `i32` attribute.
    pub fn i32_attr(&self, v: i32) -> Attribute<'c> {
        I32::to_attribute(&v, self.context())
    }
    /// A number as an `i64` attribute.
    pub fn i64_attr(&self, v: i64) -> Attribute<'c> {
        I64::to_attribute(&v, self.context())
    }
    /// A string attribute.
    pub fn str_attr(&self, s: &str) -> Attribute<'c> {
        StringAttribute::new(self.context(), s).into()
    }
    /// `array<i32: ...>`.
    pub fn i32s_attr(&self, v: &[i32]) -> Attribute<'c> {
        DenseI32ArrayAttribute::new(self.context(), v).into()
    }
    /// A type attribute.
    pub fn type_attr(&self, t: Type<'c>) -> Attribute<'c> {
        TypeAttribute::new(t).into()
    }
    /// `@name`.
    pub fn symbol_attr(&self, name: &str) -> Attribute<'c> {
        FlatSymbolRefAttribute::new(self.context(), name).into()
    }
    /// `unit`.
    pub fn unit_attr(&self) -> Attribute<'c> {
        Attribute::unit(self.context())
    }

    // ------------------------------------------------------------------------------------------------ arith

    /// An integer or `index` constant.
    pub fn constant(&self, v: i64, t: Type<'c>) -> V<'c> {
        let known = |(n, c): &&(i64, V<'c>)| *n == v && c.r#type() == t;
        if let Some((_, c)) = self.constants.borrow().iter().find(known) {
            return *c;
        }
        let attributes = [("value", IntegerAttribute::new(t, v).into())];
        let c = self.value("arith.constant", &[], t, &attributes);
        self.constants.borrow_mut().push((v, c));
        c
    }
    /// `operation` of two numbers, in the width of `t`; `None` where one of them is not known now.
    fn folded(&self, a: V<'c>, b: V<'c>, operation: impl Fn(i64, i64) -> i64) -> Option<V<'c>> {
        let t = a.r#type();
        let unused = 64 - t.bit_width().filter(|bits| (1..64).contains(bits)).unwrap_or(64);
        let v = operation(a.constant_int()?, b.constant_int()?) << unused >> unused;
        // A truth value is 0 or 1.
        Some(self.constant(if t.is_int(1) { v & 1 } else { v }, t))
    }
    /// A floating-point constant.
    pub fn constant_float(&self, v: f64, t: Type<'c>) -> V<'c> {
        self.value(
            "arith.constant",
            &[],
            t,
            &[("value", FloatAttribute::new(self.context(), t, v).into())],
        )
    }
    /// An `i32` constant.
    pub fn c32(&self, v: i64) -> V<'c> {
        self.constant(v, self.i32_type())
    }
    /// An `i64` constant.
    pub fn c64(&self, v: i64) -> V<'c> {
        self.constant(v, self.i64_type())
    }
    fn binary(&self, name: &str, a: V<'c>, b: V<'c>) -> V<'c> {
        self.value(name, &[a, b], a.r#type(), &[])
    }
    /// `a + b`.
    pub fn add(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        match (a.constant_int(), b.constant_int()) {
            (_, Some(0)) => a,
            (Some(0), _) => b,
            _ => self
                .folded(a, b, i64::wrapping_add)
                .unwrap_or_else(|| self.binary("arith.addi", a, b)),
        }
    }
    /// `a - b`.
    pub fn sub(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        match b.constant_int() {
            Some(0) => a,
            _ => self
                .folded(a, b, i64::wrapping_sub)
                .unwrap_or_else(|| self.binary("arith.subi", a, b)),
        }
    }
    /// `a * b`.
    pub fn mul(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        match (a.constant_int(), b.constant_int()) {
            (_, Some(1)) | (Some(0), _) => a,
            (Some(1), _) | (_, Some(0)) => b,
            _ => self
                .folded(a, b, i64::wrapping_mul)
                .unwrap_or_else(|| self.binary("arith.muli", a, b)),
        }
    }
    /// `a / b`, unsigned.
    pub fn div_u(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary("arith.divui", a, b)
    }
    /// What is left of `a / b`, unsigned.
    pub fn rem_u(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary("arith.remui", a, b)
    }
    /// `a & b`.
    pub fn and(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        let all = if a.r#type().is_int(1) { 1 } else { -1 };
        match (a.constant_int(), b.constant_int()) {
            (Some(0), _) => a,
            (_, Some(0)) => b,
            (_, Some(n)) if n == all => a,
            (Some(n), _) if n == all => b,
            _ => self
                .folded(a, b, |a, b| a & b)
                .unwrap_or_else(|| self.binary("arith.andi", a, b)),
        }
    }
    /// `a | b`.
    pub fn or(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        match (a.constant_int(), b.constant_int()) {
            (_, Some(0)) => a,
            (Some(0), _) => b,
            _ => self
                .folded(a, b, |a, b| a | b)
                .unwrap_or_else(|| self.binary("arith.ori", a, b)),
        }
    }
    /// `a ^ b`.
    pub fn xor(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        match (a.constant_int(), b.constant_int()) {
            (_, Some(0)) => a,
            (Some(0), _) => b,
            _ => self
                .folded(a, b, |a, b| a ^ b)
                .unwrap_or_else(|| self.binary("arith.xori", a, b)),
        }
    }
    /// `a << n`.
    pub fn shl(&self, a: V<'c>, n: i64) -> V<'c> {
        match n {
            0 => a,
            _ => self.binary("arith.shli", a, self.constant(n, a.r#type())),
        }
    }
    /// Logical `a >> n`.
    pub fn shr(&self, a: V<'c>, n: i64) -> V<'c> {
        match n {
            0 => a,
            _ => self.binary("arith.shrui", a, self.constant(n, a.r#type())),
        }
    }
    /// `a & mask`.
    pub fn mask(&self, a: V<'c>, mask: i64) -> V<'c> {
        self.and(a, self.constant(mask, a.r#type()))
    }
    /// `a + n`, or `a` itself for 0.
    pub fn offset(&self, a: V<'c>, n: i64) -> V<'c> {
        if n == 0 {
            a
        } else {
            self.add(a, self.constant(n, a.r#type()))
        }
    }
    /// A comparison of integers.
    pub fn cmp(&self, predicate: Cmp, a: V<'c>, b: V<'c>) -> V<'c> {
        self.value(
            "arith.cmpi",
            &[a, b],
            self.int(1),
            &[("predicate", self.i64_attr(predicate as i64))],
        )
    }
    /// `yes` where a condition (`i1`, or a tile of them) is true, and `no`, of the same type, elsewhere.
    pub fn select(&self, condition: V<'c>, yes: V<'c>, no: V<'c>) -> V<'c> {
        self.value("arith.select", &[condition, yes, no], yes.r#type(), &[])
    }
    /// `index` to an integer, or one integer width to another; signed.
    pub fn to_int(&self, v: V<'c>, bits: u32) -> V<'c> {
        let (from, to) = (v.r#type(), self.int(bits));
        if from == to {
            return v;
        }
        if let Some(n) = v
            .constant_int()
            .filter(|n| !from.is_int(1) && i32::try_from(*n).is_ok() && bits >= 32)
        {
            return self.constant(n, to);
        }
        let name = match from.bit_width() {
            None => "arith.index_cast",
            Some(b) if b > bits => "arith.trunci",
            Some(_) => "arith.extsi",
        };
        self.value(name, &[v], to, &[])
    }
    /// An unsigned 32-bit number as `index`.
    pub fn to_index(&self, v: V<'c>) -> V<'c> {
        if v.r#type().is_index_type() {
            return v;
        }
        self.value("arith.index_castui", &[v], self.index_type(), &[])
    }
    /// `i1` to 0 or 1.
    pub fn zext(&self, v: V<'c>, bits: u32) -> V<'c> {
        if let Some(n) = v.constant_int().filter(|n| *n >= 0) {
            return self.constant(n, self.int(bits));
        }
        self.value("arith.extui", &[v], self.int(bits), &[])
    }

    // ------------------------------------------------------------------------------------------------ llvm

    /// `pointer + bytes`.
    pub fn byte_offset(&self, pointer: V<'c>, bytes: V<'c>) -> V<'c> {
        let attributes = [
            ("elem_type", self.type_attr(self.int(8))),
            // i32::MIN marks an index that is an operand.
            ("rawConstantIndices", self.i32s_attr(&[i32::MIN])),
        ];
        self.value("llvm.getelementptr", &[pointer, bytes], pointer.r#type(), &attributes)
    }
    /// `pointer + bytes`, a number known now.
    pub fn byte_offset_by(&self, pointer: V<'c>, bytes: i64) -> V<'c> {
        if bytes == 0 {
            return pointer;
        }
        let Ok(n) = i32::try_from(bytes) else {
            return self.byte_offset(pointer, self.c64(bytes));
        };
        let attributes = [
            ("elem_type", self.type_attr(self.int(8))),
            ("rawConstantIndices", self.i32s_attr(&[n])),
        ];
        self.value("llvm.getelementptr", &[pointer], pointer.r#type(), &attributes)
    }
    /// A call of one of LLVM's intrinsics, by its whole name.
    pub fn intrinsic(&self, name: &str, operands: &[V<'c>], result: Type<'c>) -> V<'c> {
        let attributes = [
            ("intrin", self.str_attr(name)),
            ("operandSegmentSizes", self.i32s_attr(&[operands.len() as i32, 0])),
            ("op_bundle_sizes", self.i32s_attr(&[])),
        ];
        self.value("llvm.call_intrinsic", operands, result, &attributes)
    }
    /// What a number is in memory: itself, but for floats of 8 bits and less, which are bytes, tf32, whose bits travel as f32,
    /// and integers of odd widths, which are as wide as the next that memory has.
    pub fn storage_type(&self, t: Type<'c>) -> Type<'c> {
        if is_tf32(t) {
            return Type::float32(self.context());
        }
        if t.is_float_type() && t.bit_width().is_some_and(|bits| bits <= 8) {
            return self.int(8);
        }
        if let Some(bits) = t.bit_width().filter(|_| t.is_integer()) {
            return self.int(bits.checked_next_power_of_two().unwrap_or(bits).max(8));
        }
        if t.is_index_type() {
            return self.int(64);
        }
        t
    }
    /// A number as it is stored, or a stored number as what it is: truth values are bytes that are 0 or not.
    fn convert_storage(&self, v: V<'c>, t: Type<'c>) -> V<'c> {
        let from = v.r#type();
        if from == t || is_tf32(t) {
            v
        } else if from.is_integer() && t.is_integer() && from.bit_width() < t.bit_width() {
            self.value("arith.extui", &[v], t, &[])
        } else if from.is_index_type() || t.is_index_type() {
            self.value("arith.index_cast", &[v], t, &[])
        } else if t.is_int(1) {
            self.cmp(Cmp::Ne, v, self.constant(0, from))
        } else if from.is_integer() && t.is_integer() {
            self.value("arith.trunci", &[v], t, &[])
        } else {
            // A float of 4 or 6 bits lies in the low bits of its byte.
            let [own, wanted] = [from, t].map(|t| t.bit_width().unwrap_or(8));
            let narrow = if own > wanted {
                self.value("arith.trunci", &[v], self.int(wanted), &[])
            } else {
                v
            };
            let bits = if own < wanted { self.int(own) } else { t };
            let same = self.value("arith.bitcast", &[narrow], bits, &[]);
            if own < wanted { self.zext(same, wanted) } else { same }
        }
    }
    /// A number of type `t` from what [`Emit::storage_type`] of it holds.
    pub fn from_storage(&self, v: V<'c>, t: Type<'c>) -> V<'c> {
        self.convert_storage(v, t)
    }
    /// A number as LLVM has it.
    pub fn to_storage(&self, v: V<'c>) -> V<'c> {
        self.convert_storage(v, self.storage_type(v.r#type()))
    }
    /// Loads a number; `align` in bytes.
    pub fn load(&self, pointer: V<'c>, t: Type<'c>, align: u64) -> V<'c> {
        let attributes = [("alignment", self.i64_attr(align as i64))];
        let v = self.value("llvm.load", &[pointer], self.storage_type(t), &attributes);
        self.convert_storage(v, t)
    }
    /// Loads `n` numbers that lie next to each other; `align` in bytes.
    pub fn load_many(&self, pointer: V<'c>, n: usize, t: Type<'c>, align: u64) -> Vec<V<'c>> {
        if n == 1 {
            return vec![self.load(pointer, t, align)];
        }
        let stored = self.storage_type(t);
        let v = self.load(pointer, self.vector(n as i64, stored), align);
        let numbers = self.unpack(v, n, stored);
        numbers.into_iter().map(|v| self.convert_storage(v, t)).collect()
    }
    /// Stores a number, or several of one type next to each other; `align` in bytes.
    pub fn store(&self, numbers: &[V<'c>], pointer: V<'c>, align: u64) {
        let v = match numbers {
            [one] => self.to_storage(*one),
            many => self.pack(many),
        };
        let attributes = [("alignment", self.i64_attr(align as i64))];
        self.op("llvm.store", &[v, pointer], &[], &attributes);
    }
    /// A pointer as an integer: 32 bits for shared memory, else 64.
    pub fn ptr_to_int(&self, pointer: V<'c>, bits: u32) -> V<'c> {
        self.value("llvm.ptrtoint", &[pointer], self.int(bits), &[])
    }
    /// An integer as a pointer.
    pub fn int_to_ptr(&self, v: V<'c>, space: u32) -> V<'c> {
        self.value("llvm.inttoptr", &[v], self.ptr(space), &[])
    }
    /// A pointer in another space.
    pub fn addrspace_cast(&self, pointer: V<'c>, space: u32) -> V<'c> {
        self.value("llvm.addrspacecast", &[pointer], self.ptr(space), &[])
    }
    /// Field `index` of a struct.
    pub fn extract(&self, v: V<'c>, index: usize, t: Type<'c>) -> V<'c> {
        let position = girih_ir::kind::I64s::to_attribute(&vec![index as i64], self.context());
        self.value("llvm.extractvalue", &[v], t, &[("position", position)])
    }
    /// Scalars, as LLVM has them, as a vector.
    pub fn pack(&self, scalars: &[V<'c>]) -> V<'c> {
        let t = self.vector(scalars.len() as i64, self.storage_type(scalars[0].r#type()));
        let mut v = self.value("llvm.mlir.undef", &[], t, &[]);
        for (i, s) in scalars.iter().enumerate() {
            let s = self.to_storage(*s);
            v = self.value("llvm.insertelement", &[v, s, self.c32(i as i64)], t, &[]);
        }
        v
    }
    /// A vector as scalars.
    pub fn unpack(&self, v: V<'c>, n: usize, element: Type<'c>) -> Vec<V<'c>> {
        (0..n)
            .map(|i| self.value("llvm.extractelement", &[v, self.c32(i as i64)], element, &[]))
            .collect()
    }
    /// The same bits as another type.
    pub fn bitcast(&self, v: V<'c>, t: Type<'c>) -> V<'c> {
        self.value("llvm.bitcast", &[v], t, &[])
    }

    // ------------------------------------------------------------------------------------------------ scf

    /// `scf.if condition { then } else { otherwise }`; both branches give values of the types `results`.
    pub fn if_else(
        &self,
        condition: V<'c>,
        results: &[Type<'c>],
        then: impl FnOnce(Emit<'c, '_>) -> Vec<V<'c>>,
        otherwise: impl FnOnce(Emit<'c, '_>) -> Vec<V<'c>>,
    ) -> Vec<V<'c>> {
        let (a, b) = (Region::new(), Region::new());
        a.append_block(Block::new(&[]));
        b.append_block(Block::new(&[]));
        let op = self.op_with_regions("scf.if", &[condition], results, &[], vec![a, b]);
        let fill = |i: usize, f: &mut dyn FnMut(Emit<'c, '_>) -> Vec<V<'c>>| {
            let block = op.region_at(i).entry().expect("just made");
            let end = girih_ir::rewrite::AtEnd(block);
            let emit = Emit::new(&end, self.loc);
            let values = f(emit.clone());
            emit.op("scf.yield", &values, &[], &[]);
        };
        let (mut then, mut otherwise) = (Some(then), Some(otherwise));
        fill(0, &mut |e| then.take().map(|f| f(e)).unwrap_or_default());
        fill(1, &mut |e| otherwise.take().map(|f| f(e)).unwrap_or_default());
        op.result_values()
    }
    /// `scf.for` from `from` to below `to`; `body` gets the counter.
    pub fn for_loop(&self, from: V<'c>, to: V<'c>, step: V<'c>, body: impl FnOnce(Emit<'c, '_>, V<'c>)) {
        use girih_ir::ext::{BlockExt, block};
        let region = Region::new();
        region.append_block(block(&[from.r#type()], self.loc));
        let op = self.op_with_regions("scf.for", &[from, to, step], &[], &[], vec![region]);
        let inside = op.region_at(0).entry().expect("just made");
        let end = girih_ir::rewrite::AtEnd(inside);
        let emit = Emit::new(&end, self.loc);
        body(emit.clone(), inside.argument_values()[0]);
        emit.op("scf.yield", &[], &[], &[]);
    }
    /// A loop that starts with `first` and goes on with what `pass` gives, as long as it says so; gives the last.
    pub fn repeat(&self, first: V<'c>, pass: impl FnOnce(&Emit<'c, '_>, V<'c>) -> (V<'c>, V<'c>)) -> V<'c> {
        use girih_ir::ext::{BlockExt, block};
        let t = first.r#type();
        let regions = [(); 2].map(|()| {
            let region = Region::new();
            region.append_block(block(&[t], self.loc));
            region
        });
        let op = self.op_with_regions("scf.while", &[first], &[t], &[], regions.into());
        let [before, after] = [0, 1].map(|i| op.region_at(i).entry().expect("just made"));
        let end = girih_ir::rewrite::AtEnd(before);
        let emit = Emit::new(&end, self.loc);
        let (again, next) = pass(&emit, before.argument_values()[0]);
        emit.op("scf.condition", &[again, next], &[], &[]);
        let end = girih_ir::rewrite::AtEnd(after);
        Emit::new(&end, self.loc).op("scf.yield", &[after.argument_values()[0]], &[], &[]);
        op.result0()
    }
    /// `scf.if condition { then }`.
    pub fn if_then(&self, condition: V<'c>, then: impl FnOnce(Emit<'c, '_>)) {
        self.if_else(
            condition,
            &[],
            |e| {
                then(e);
                vec![]
            },
            |_| vec![],
        );
    }
}
