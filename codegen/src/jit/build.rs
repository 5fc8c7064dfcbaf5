//! Builds operations beside another one, from names and text.
use crate::error::{Error, Result};
use melior::ir::{
    Attribute, BlockLike, Identifier, OperationRef, Type, TypeLike, Value,
    attribute::AttributeLike,
    operation::{OperationBuilder, OperationLike},
};

/// Builds before one operation.
pub(super) struct Builder<'c, 'a> {
    pub(super) operation: OperationRef<'c, 'a>,
}

impl<'c: 'a, 'a> Builder<'c, 'a> {
    /// An operation with one result of type `ty`; attributes are pairs of a name and MLIR's text.
    pub(super) fn value(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        ty: &str,
        attributes: &[(&str, &str)],
    ) -> Result<Value<'c, 'a>> {
        let built = self.build(name, operands, Some(ty), attributes)?;
        Ok(built.result(0).map_err(|_| failed(name))?.into())
    }

    /// An operation without results.
    pub(super) fn effect(&self, name: &str, operands: &[Value<'c, 'a>]) -> Result<OperationRef<'c, 'a>> {
        self.build(name, operands, None, &[])
    }

    fn build(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        ty: Option<&str>,
        attributes: &[(&str, &str)],
    ) -> Result<OperationRef<'c, 'a>> {
        let context = girih_ir::context(self.operation.context());
        let mut builder = OperationBuilder::new(name, self.operation.location()).add_operands(operands);
        if let Some(ty) = ty {
            let ty = Type::parse(context, ty).ok_or_else(|| failed(name))?;
            // SAFETY: types are owned by the context, which outlives the module.
            builder = builder.add_results(&[unsafe { Type::from_raw(ty.to_raw()) }]);
        }
        for (key, value) in attributes {
            let key = Identifier::new(context, key);
            let value = Attribute::parse(context, value).ok_or_else(|| failed(name))?;
            // SAFETY: as for the type.
            let pair = unsafe { (Identifier::from_raw(key.to_raw()), Attribute::from_raw(value.to_raw())) };
            builder = builder.add_attributes(&[pair]);
        }
        let built = builder.build().map_err(|_| failed(name))?;
        let block = self.operation.block().ok_or_else(|| failed(name))?;
        Ok(block.insert_operation_before(self.operation, built))
    }
}

fn failed(name: &str) -> Error {
    Error::Reference(format!("`{name}` could not be built while the reference was lowered"))
}
