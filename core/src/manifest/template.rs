//! Tensor maps from templates and arguments.
use super::{Env, EvalError, EvalErrorKind, Expr, TensorMapTemplate};
use crate::tensor_map::{Candidate, TensorMap};

impl TensorMapTemplate {
    /// The map for the arguments in `env`, not validated, or `None` if a dimension is 0: such a tensor has no map, and the
    /// kernel gets 128 zero bytes.
    ///
    /// Errors are those of [`Expr::eval`], and [`EvalErrorKind::Negative`] for a negative dimension or stride; an address
    /// that does not fit 64 bits is an overflow.
    pub fn instantiate(&self, env: &impl Env) -> Result<Option<TensorMap>, EvalError> {
        let dims = evaluate(&self.dims, env)?;
        if dims.contains(&0) {
            return Ok(None);
        }
        let missing = || EvalError {
            expression: format!("the address of arg{}", self.arg),
            operands: None,
            kind: EvalErrorKind::Missing,
        };
        let address = env.address(self.arg).ok_or_else(missing)?;
        let offset = self.offset.eval(env)?;
        let address = address
            .checked_add_signed(offset)
            .ok_or_else(|| self.offset.error(None, EvalErrorKind::Overflow))?;
        Ok(Some(TensorMap {
            format: self.format,
            address,
            dims,
            strides: evaluate(&self.strides, env)?,
            mode: self.mode.clone(),
            element_strides: self.element_strides.clone(),
            interleave: self.interleave,
            swizzle: self.swizzle,
            fill: self.fill,
            l2_promotion: self.l2_promotion,
        }))
    }

    /// What is known of the map before any launch: constant dimensions and strides. Its violations are those of every
    /// launch that has no empty dimension.
    pub fn candidate(&self) -> Candidate {
        let known = |expr: &Expr| match expr {
            Expr::Const(value) => Some(*value as u64),
            _ => None,
        };
        Candidate {
            format: self.format.into(),
            address: None,
            dims: self
                .dims
                .iter()
                .map(known)
                .map(|size| size.filter(|&size| size != 0))
                .collect(),
            strides: self.strides.iter().map(known).collect(),
            mode: self.mode.clone(),
            element_strides: self.element_strides.clone(),
            interleave: self.interleave.into(),
            swizzle: self.swizzle.into(),
            fill: self.fill.into(),
            l2_promotion: self.l2_promotion.into(),
        }
    }
}

fn evaluate(exprs: &[Expr], env: &impl Env) -> Result<Vec<u64>, EvalError> {
    exprs
        .iter()
        .map(|expr| u64::try_from(expr.eval(env)?).map_err(|_| expr.error(None, EvalErrorKind::Negative)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Arguments, example};
    use super::*;
    use crate::tensor_map::{Caps, Rule};

    #[test]
    fn fields_come_from_the_arguments() {
        let template = &example().kernels[0].tensor_maps[0];
        let map = template
            .instantiate(&Arguments::default())
            .expect("no error")
            .expect("not empty");
        assert_eq!(
            (map.address, &map.dims[..], &map.strides[..]),
            (0x1010, &[512, 256][..], &[1024][..])
        );
        assert_eq!(map.validate(&Caps::SM_90), Ok(()));
    }

    #[test]
    fn an_empty_tensor_has_no_map() {
        let template = &example().kernels[0].tensor_maps[0];
        let empty = Arguments {
            sizes: vec![0, 512],
            ..Arguments::default()
        };
        assert_eq!(template.instantiate(&empty), Ok(None));
    }

    #[test]
    fn negative_sizes_are_refused() {
        let template = &example().kernels[0].tensor_maps[0];
        let negative = Arguments {
            sizes: vec![-1, 512],
            ..Arguments::default()
        };
        assert_eq!(
            template.instantiate(&negative).unwrap_err().to_string(),
            "cannot compute arg0.size[0]: the value must not be negative"
        );
    }

    #[test]
    fn constants_are_checked_before_any_launch() {
        let mut template = example().kernels[0].tensor_maps[0].clone();
        assert_eq!(template.candidate().violations(&Caps::SM_90), []);
        template.strides = vec![Expr::Const(24)];
        let violations = template.candidate().violations(&Caps::SM_90);
        assert_eq!(
            violations.iter().map(|v| v.rule).collect::<Vec<_>>(),
            [Rule::StrideAlignment]
        );
    }
}
