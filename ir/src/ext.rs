//! Short forms of what melior says at length.
use crate::{op::OpView, raw};
use melior::{
    Context,
    ir::{
        Attribute, AttributeLike, Block, BlockLike, BlockRef, OperationRef, RegionLike, RegionRef, Type, TypeLike,
        Value, ValueLike, operation::OperationLike,
    },
};
use mlir_sys::*;

/// On every op.
pub trait OpExt<'c: 'a, 'a>: OperationLike<'c, 'a> {
    /// The op's context.
    fn ctx(&self) -> &'c Context {
        crate::context(self.context())
    }
    /// The op's full name, such as `tile.kernel`.
    fn full_name(&self) -> &'c str {
        // SAFETY: identifiers are uniqued in the context.
        unsafe { raw::from_sr(mlirIdentifierStr(mlirOperationGetName(self.to_raw()))) }
    }
    /// The namespace of the op's name.
    fn dialect_name(&self) -> &'c str {
        self.full_name().split('.').next().unwrap_or("")
    }
    /// All operands.
    fn operand_values(&self) -> Vec<Value<'c, 'a>> {
        let n = unsafe { mlirOperationGetNumOperands(self.to_raw()) };
        (0..n)
            .map(|i| unsafe { Value::from_raw(mlirOperationGetOperand(self.to_raw(), i)) })
            .collect()
    }
    /// All results.
    fn result_values(&self) -> Vec<Value<'c, 'a>> {
        let n = unsafe { mlirOperationGetNumResults(self.to_raw()) };
        (0..n)
            .map(|i| unsafe { Value::from_raw(mlirOperationGetResult(self.to_raw(), i)) })
            .collect()
    }
    /// Types of all results.
    fn result_types(&self) -> Vec<Type<'c>> {
        self.result_values().iter().map(|v| v.r#type()).collect()
    }
    /// The first result; the op must have one.
    fn result0(&self) -> Value<'c, 'a> {
        unsafe { Value::from_raw(mlirOperationGetResult(self.to_raw(), 0)) }
    }
    /// An attribute, inherent or discardable.
    fn attr(&self, name: &str) -> Option<Attribute<'c>> {
        unsafe { Attribute::from_option_raw(mlirOperationGetAttributeByName(self.to_raw(), raw::sr(name))) }
    }
    /// Sets an attribute, inherent if the op declares the name.
    fn set_attr(&self, name: &str, value: Attribute<'c>) {
        unsafe { mlirOperationSetAttributeByName(self.to_raw(), raw::sr(name), value.to_raw()) }
    }
    /// Removes an attribute.
    fn remove_attr(&self, name: &str) {
        unsafe { mlirOperationRemoveAttributeByName(self.to_raw(), raw::sr(name)) };
    }
    /// Whether the op is `outer`, or stands in it.
    fn is_in(&self, outer: OperationRef<'c, 'a>) -> bool {
        std::iter::successors(Some(self.op_ref()), |op| op.parent()).any(|op| op == outer)
    }
    /// Whether the op is a `V`.
    fn is<V: OpView<'c, 'a>>(&self) -> bool {
        self.full_name() == V::NAME
    }
    /// The op as a `V`, if it is one.
    fn cast<V: OpView<'c, 'a>>(&self) -> Option<V> {
        self.is::<V>().then(|| V::from_op(self.op_ref()))
    }
    /// The op as a reference.
    fn op_ref(&self) -> OperationRef<'c, 'a> {
        unsafe { OperationRef::from_raw(self.to_raw()) }
    }
    /// The op around this one.
    fn parent(&self) -> Option<OperationRef<'c, 'a>> {
        unsafe { OperationRef::from_option_raw(mlirOperationGetParentOperation(self.to_raw())) }
    }
    /// The nearest op around this one that is a `V`.
    fn ancestor<V: OpView<'c, 'a>>(&self) -> Option<V> {
        let mut at = self.parent();
        while let Some(op) = at {
            if let Some(v) = op.cast::<V>() {
                return Some(v);
            }
            at = op.parent();
        }
        None
    }
    /// The region at an index; the op must have it.
    fn region_at(&self, index: usize) -> RegionRef<'c, 'a> {
        unsafe { RegionRef::from_raw(mlirOperationGetRegion(self.to_raw(), index as isize)) }
    }
    /// Whether the op is pure: no effects and safe to speculate.
    fn is_pure(&self) -> bool {
        unsafe { raw::girih_op_is_pure(self.to_raw()) }
    }
    /// Whether the op has a trait.
    fn has_trait(&self, t: crate::op::Trait) -> bool {
        unsafe { raw::girih_op_has_trait(self.to_raw(), t as i32) }
    }
    /// Whether an op in `within` refers to this symbol: from wherever in an attribute, and by whatever path from the symbol
    /// table around it.
    fn is_symbol_named_in(&self, within: OperationRef<'c, 'a>) -> bool {
        unsafe { raw::girih_symbol_is_named(self.to_raw(), within.to_raw()) }
    }
    /// What the op says of memory, through its interface and recursively through regions; `None`: anything may happen.
    fn memory_effects(&self) -> Option<Vec<(crate::op::EffectKind, Option<Value<'c, 'a>>)>> {
        extern "C" fn push(sink: raw::Ptr, kind: i32, v: MlirValue) {
            unsafe { (*sink.cast::<Vec<(i32, MlirValue)>>()).push((kind, v)) }
        }
        let mut found: Vec<(i32, MlirValue)> = vec![];
        let known = unsafe { raw::girih_op_effects(self.to_raw(), (&raw mut found).cast(), push) };
        known.then(|| {
            found
                .into_iter()
                .map(|(k, v)| {
                    let value = (!v.ptr.is_null()).then(|| unsafe { Value::from_raw(v) });
                    (crate::op::EffectKind::from_code(k), value)
                })
                .collect()
        })
    }
    /// This op and every op nested in it that are a `V`, all looked up before the first is given: for loops that change what
    /// is in them.
    fn nested<V: OpView<'c, 'a>>(&self) -> Vec<V> {
        self.nested_ops().into_iter().filter_map(|op| op.cast::<V>()).collect()
    }
    /// This op and every op nested in it, parents first, in the order of the source. A loop over the list may erase the op
    /// that it is at, but must not look at an op after it was erased.
    fn nested_ops(&self) -> Vec<OperationRef<'c, 'a>> {
        let (mut out, mut open) = (vec![], vec![self.op_ref()]);
        while let Some(op) = open.pop() {
            out.push(op);
            let first = open.len();
            for r in 0..unsafe { mlirOperationGetNumRegions(op.to_raw()) } {
                for block in op.region_at(r as usize).block_list() {
                    open.extend(block.op_list());
                }
            }
            open[first..].reverse();
        }
        out
    }
}
impl<'c: 'a, 'a, T: OperationLike<'c, 'a>> OpExt<'c, 'a> for T {}

/// On every region.
pub trait RegionExt<'c: 'a, 'a>: RegionLike<'c, 'a> {
    /// The region's blocks.
    fn block_list(&self) -> Vec<BlockRef<'c, 'a>> {
        let mut out = vec![];
        let mut at = unsafe { mlirRegionGetFirstBlock(self.to_raw()) };
        while !at.ptr.is_null() {
            out.push(unsafe { BlockRef::from_raw(at) });
            at = unsafe { mlirBlockGetNextInRegion(at) };
        }
        out
    }
    /// The first block; `None` for an empty region.
    fn entry(&self) -> Option<BlockRef<'c, 'a>> {
        unsafe { BlockRef::from_option_raw(mlirRegionGetFirstBlock(self.to_raw())) }
    }
}
impl<'c: 'a, 'a, T: RegionLike<'c, 'a>> RegionExt<'c, 'a> for T {}

/// On every block.
pub trait BlockExt<'c: 'a, 'a>: BlockLike<'c, 'a> {
    /// The block's ops, terminator included.
    fn op_list(&self) -> Vec<OperationRef<'c, 'a>> {
        let mut out = vec![];
        let mut at = unsafe { mlirBlockGetFirstOperation(self.to_raw()) };
        while !at.ptr.is_null() {
            out.push(unsafe { OperationRef::from_raw(at) });
            at = unsafe { mlirOperationGetNextInBlock(at) };
        }
        out
    }
    /// The block's arguments.
    fn argument_values(&self) -> Vec<Value<'c, 'a>> {
        let n = unsafe { mlirBlockGetNumArguments(self.to_raw()) };
        (0..n)
            .map(|i| unsafe { Value::from_raw(mlirBlockGetArgument(self.to_raw(), i)) })
            .collect()
    }
    /// The block's terminator, if it ends with one.
    fn terminator_op(&self) -> Option<OperationRef<'c, 'a>> {
        unsafe { OperationRef::from_option_raw(mlirBlockGetTerminator(self.to_raw())) }
    }
}
impl<'c: 'a, 'a, T: BlockLike<'c, 'a>> BlockExt<'c, 'a> for T {}

/// On every value.
pub trait ValueExt<'c>: ValueLike<'c> {
    /// The value as melior's plain value type.
    fn value<'a>(&self) -> Value<'c, 'a> {
        unsafe { Value::from_raw(self.to_raw()) }
    }
    /// The op that defines the value; `None` for a block argument.
    fn defining_op<'a>(&self) -> Option<OperationRef<'c, 'a>>
    where
        'c: 'a,
    {
        if !unsafe { mlirValueIsAOpResult(self.to_raw()) } {
            return None;
        }
        Some(unsafe { OperationRef::from_raw(mlirOpResultGetOwner(self.to_raw())) })
    }
    /// The op whose region has the value as a block's argument, and which argument it is; `None` for an op's result.
    fn argument_of<'a>(&self) -> Option<(OperationRef<'c, 'a>, usize)>
    where
        'c: 'a,
    {
        unsafe {
            if !mlirValueIsABlockArgument(self.to_raw()) {
                return None;
            }
            let block = mlirBlockArgumentGetOwner(self.to_raw());
            let op = OperationRef::from_option_raw(mlirBlockGetParentOperation(block))?;
            Some((op, mlirBlockArgumentGetArgNumber(self.to_raw()) as usize))
        }
    }
    /// The ops that use the value, once for each use.
    fn users<'a>(&self) -> Vec<OperationRef<'c, 'a>>
    where
        'c: 'a,
    {
        let mut out = vec![];
        let mut u = unsafe { mlirValueGetFirstUse(self.to_raw()) };
        while !u.ptr.is_null() {
            out.push(unsafe { OperationRef::from_raw(mlirOpOperandGetOwner(u)) });
            u = unsafe { mlirOpOperandGetNextUse(u) };
        }
        out
    }
    /// Lets everyone use `other` instead.
    fn replace_all_uses_with(&self, other: &impl ValueLike<'c>) {
        unsafe { mlirValueReplaceAllUsesOfWith(self.to_raw(), other.to_raw()) }
    }
    /// The value's integer, where an `arith.constant` or the like defines it.
    fn constant_int(&self) -> Option<i64> {
        let op = self.defining_op()?;
        if op.full_name() != "arith.constant" && op.full_name() != "llvm.mlir.constant" {
            return None;
        }
        let value = op.attr("value")?;
        unsafe { mlirAttributeIsAInteger(value.to_raw()) }.then(|| unsafe {
            let t = mlirAttributeGetType(value.to_raw());
            if mlirTypeIsAInteger(t) && mlirIntegerTypeGetWidth(t) == 1 {
                i64::from(mlirIntegerAttrGetValueInt(value.to_raw()) != 0)
            } else {
                mlirIntegerAttrGetValueInt(value.to_raw())
            }
        })
    }
}
impl<'c, T: ValueLike<'c>> ValueExt<'c> for T {}

/// A dynamic size or stride in a shape, as MLIR encodes it.
pub const DYNAMIC: i64 = i64::MIN;

/// On every type.
pub trait TypeExt<'c>: TypeLike<'c> {
    /// The type as melior's plain type.
    fn plain(&self) -> Type<'c> {
        unsafe { Type::from_raw(self.to_raw()) }
    }
    /// The type as written.
    fn text(&self) -> String {
        self.plain().to_string()
    }
    /// Sizes of a ranked shaped type; [`DYNAMIC`] where not static.
    fn shape(&self) -> Option<Vec<i64>> {
        let t = self.to_raw();
        unsafe {
            if !mlirTypeIsAShaped(t) || !mlirShapedTypeHasRank(t) {
                return None;
            }
            Some(
                (0..mlirShapedTypeGetRank(t))
                    .map(|i| mlirShapedTypeGetDimSize(t, i as isize))
                    .collect(),
            )
        }
    }
    /// Element type of a shaped type.
    fn element_type(&self) -> Option<Type<'c>> {
        let t = self.to_raw();
        unsafe { mlirTypeIsAShaped(t).then(|| Type::from_raw(mlirShapedTypeGetElementType(t))) }
    }
    /// Whether it is a ranked tensor.
    fn is_ranked_tensor_type(&self) -> bool {
        unsafe { mlirTypeIsARankedTensor(self.to_raw()) }
    }
    /// Encoding of a ranked tensor.
    fn encoding(&self) -> Option<Attribute<'c>> {
        if !self.is_ranked_tensor_type() {
            return None;
        }
        unsafe { Attribute::from_option_raw(mlirRankedTensorTypeGetEncoding(self.to_raw())) }
    }
    /// Whether it is a ranked memref.
    fn is_memref_type(&self) -> bool {
        unsafe { mlirTypeIsAMemRef(self.to_raw()) }
    }
    /// Memory space of a memref; `None` for the default space and for what is no memref.
    fn memory_space(&self) -> Option<Attribute<'c>> {
        if !self.is_memref_type() {
            return None;
        }
        unsafe { Attribute::from_option_raw(mlirMemRefTypeGetMemorySpace(self.to_raw())) }
    }
    /// Strides in elements and offset of a strided memref; [`DYNAMIC`] where not static.
    fn strides_and_offset(&self) -> Option<(Vec<i64>, i64)> {
        let t = self.to_raw();
        unsafe {
            if !mlirTypeIsAMemRef(t) {
                return None;
            }
            let rank = mlirShapedTypeGetRank(t) as usize;
            let (mut strides, mut offset) = (vec![0i64; rank.max(1)], 0i64);
            let r = mlirMemRefTypeGetStridesAndOffset(t, strides.as_mut_ptr(), &mut offset);
            strides.truncate(rank);
            (r.value != 0).then_some((strides, offset))
        }
    }
    /// Width in bits of an integer or float type.
    fn bit_width(&self) -> Option<u32> {
        let t = self.to_raw();
        unsafe {
            if mlirTypeIsAInteger(t) {
                Some(mlirIntegerTypeGetWidth(t))
            } else if mlirTypeIsAFloat(t) {
                Some(mlirFloatTypeGetWidth(t))
            } else {
                None
            }
        }
    }
    /// Whether it is `index`.
    fn is_index_type(&self) -> bool {
        unsafe { mlirTypeIsAIndex(self.to_raw()) }
    }
    /// Whether it is an integer of that width.
    fn is_int(&self, bits: u32) -> bool {
        unsafe { mlirTypeIsAInteger(self.to_raw()) && mlirIntegerTypeGetWidth(self.to_raw()) == bits }
    }
    /// Its keyword, where it is one of the formats that PTX computes or converts with: what printing it gives, without the cost.
    fn float_name(&self) -> Option<&'static str> {
        type Is = unsafe extern "C" fn(MlirType) -> bool;
        let names: [(Is, &str); 12] = [
            (mlirTypeIsAF32, "f32"),
            (mlirTypeIsABF16, "bf16"),
            (mlirTypeIsAF16, "f16"),
            (mlirTypeIsAF64, "f64"),
            (mlirTypeIsATF32, "tf32"),
            (mlirTypeIsAFloat8E4M3FN, "f8E4M3FN"),
            (mlirTypeIsAFloat8E5M2, "f8E5M2"),
            (mlirTypeIsAFloat8E8M0FNU, "f8E8M0FNU"),
            (mlirTypeIsAFloat6E2M3FN, "f6E2M3FN"),
            (mlirTypeIsAFloat6E3M2FN, "f6E3M2FN"),
            (mlirTypeIsAFloat4E2M1FN, "f4E2M1FN"),
            (mlirTypeIsAFloat8E4M3, "f8E4M3"),
        ];
        let t = self.to_raw();
        // SAFETY: each takes any type.
        names.into_iter().find(|(is, _)| unsafe { is(t) }).map(|(_, name)| name)
    }
    /// Whether it is a floating-point type.
    fn is_float_type(&self) -> bool {
        unsafe { mlirTypeIsAFloat(self.to_raw()) }
    }
}
impl<'c, T: TypeLike<'c>> TypeExt<'c> for T {}

/// A new block with arguments.
pub fn block<'c>(arguments: &[Type<'c>], loc: melior::ir::Location<'c>) -> Block<'c> {
    Block::new(&arguments.iter().map(|t| (*t, loc)).collect::<Vec<_>>())
}
