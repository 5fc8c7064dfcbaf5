//! Consistency of a manifest: every reference is to something that is there.
use super::{Arg, Expr, Kernel, Manifest, ManifestError, Param};
use crate::tensor_map::Mode;

/// Most levels of operators in one expression. Readers of JSON stop at 128 levels of nesting, two for each operator.
pub const DEEPEST: usize = 48;

impl Manifest {
    /// The first reference that leads nowhere, list of a wrong length, or launch shape that no device takes.
    pub fn check(&self) -> Result<(), ManifestError> {
        for (i, kernel) in self.kernels.iter().enumerate() {
            if self.kernels[..i].iter().any(|other| other.name == kernel.name) {
                return Err(inconsistent(kernel, "name", "two kernels have this name"));
            }
            kernel.check()?;
        }
        Ok(())
    }
}

fn inconsistent(kernel: &Kernel, place: impl Into<String>, message: impl Into<String>) -> ManifestError {
    ManifestError::Inconsistent {
        kernel: kernel.name.clone(),
        place: place.into(),
        message: message.into(),
    }
}

impl Kernel {
    fn check(&self) -> Result<(), ManifestError> {
        for (i, arg) in self.args.iter().enumerate() {
            if let Arg::Memref {
                shape, strides, align, ..
            } = arg
            {
                if shape.len() != strides.len() {
                    let message = format!("{} sizes but {} strides", shape.len(), strides.len());
                    return Err(inconsistent(self, format!("args[{i}]"), message));
                }
                if !align.is_power_of_two() {
                    return Err(inconsistent(
                        self,
                        format!("args[{i}].align"),
                        format!("{align} is not a power of two"),
                    ));
                }
            }
        }
        for (i, param) in self.params.iter().enumerate() {
            let place = format!("params[{i}]");
            match *param {
                Param::Pointer { arg } => self.expect_memref(&place, arg, None)?,
                Param::Size { arg, dim } | Param::Stride { arg, dim } => self.expect_memref(&place, arg, Some(dim))?,
                Param::Scalar { arg } => self.expect_scalar(&place, arg)?,
                Param::Map { arg } => self.expect_map(&place, arg)?,
                Param::TensorMap { map } => {
                    if map >= self.tensor_maps.len() {
                        let message = format!("tensor map {map} of {}", self.tensor_maps.len());
                        return Err(inconsistent(self, place, message));
                    }
                }
            }
        }
        for (i, map) in self.tensor_maps.iter().enumerate() {
            let place = |field: &str| format!("tensor_maps[{i}].{field}");
            self.expect_memref(&place("arg"), map.arg, None)?;
            self.expect_expr(&place("offset"), &map.offset)?;
            for expr in &map.dims {
                self.expect_expr(&place("dims"), expr)?;
            }
            for expr in &map.strides {
                self.expect_expr(&place("strides"), expr)?;
            }
            let rank = map.dims.len();
            let mut lengths = vec![
                ("strides", map.strides.len() + 1),
                ("element_strides", map.element_strides.len()),
            ];
            match &map.mode {
                Mode::Tiled { box_dims } => lengths.push(("mode.box_dims", box_dims.len())),
                Mode::Im2col { lower, upper, .. } => {
                    lengths.extend([("mode.lower", lower.len() + 2), ("mode.upper", upper.len() + 2)]);
                }
                Mode::Im2colWide { .. } => {}
            }
            if let Some((field, _)) = lengths.into_iter().find(|&(_, length)| length != rank) {
                return Err(inconsistent(
                    self,
                    place(field),
                    format!("the length does not fit rank {rank}"),
                ));
            }
        }
        for (i, expr) in self.grid.iter().enumerate() {
            self.expect_expr(&format!("grid[{i}]"), expr)?;
        }
        for (i, fact) in self.facts.iter().enumerate() {
            let place = format!("facts[{i}]");
            self.expect_expr(&place, &fact.value)?;
            if fact.argument().is_none() || fact.multiple == 0 {
                let message = "a fact says of a size, a stride or a number what it is a multiple of, at least 1";
                return Err(inconsistent(self, place, message));
            }
        }
        for (place, counts) in [("block", self.block), ("cluster", self.cluster)] {
            if counts.contains(&0) {
                return Err(inconsistent(self, place, format!("{counts:?} has a zero")));
            }
        }
        Ok(())
    }

    fn expect_memref(&self, place: &str, arg: usize, dim: Option<usize>) -> Result<(), ManifestError> {
        let message = match (self.args.get(arg), dim) {
            (Some(Arg::Memref { shape, .. }), Some(dim)) if dim >= shape.len() => {
                format!("dimension {dim} of argument {arg}, which has {}", shape.len())
            }
            (Some(Arg::Memref { .. }), _) => return Ok(()),
            (Some(Arg::Scalar { .. }), _) => format!("argument {arg} is a scalar, expected a memref"),
            (Some(Arg::TensorMap { .. }), _) => format!("argument {arg} is a tensor map, expected a memref"),
            (None, _) => format!("argument {arg} of {}", self.args.len()),
        };
        Err(inconsistent(self, place, message))
    }

    fn expect_scalar(&self, place: &str, arg: usize) -> Result<(), ManifestError> {
        let message = match self.args.get(arg) {
            Some(Arg::Scalar { .. }) => return Ok(()),
            Some(Arg::Memref { .. }) => format!("argument {arg} is a memref, expected a scalar"),
            Some(Arg::TensorMap { .. }) => format!("argument {arg} is a tensor map, expected a scalar"),
            None => format!("argument {arg} of {}", self.args.len()),
        };
        Err(inconsistent(self, place, message))
    }

    fn expect_map(&self, place: &str, arg: usize) -> Result<(), ManifestError> {
        let message = match self.args.get(arg) {
            Some(Arg::TensorMap { .. }) => return Ok(()),
            Some(_) => format!("argument {arg} is no tensor map"),
            None => format!("argument {arg} of {}", self.args.len()),
        };
        Err(inconsistent(self, place, message))
    }

    fn expect_expr(&self, place: &str, expr: &Expr) -> Result<(), ManifestError> {
        if !expr.fits_depth(DEEPEST) {
            let message = format!("an expression of more than {DEEPEST} nested operators; balance it");
            return Err(inconsistent(self, place, message));
        }
        let mut result = Ok(());
        expr.walk(&mut |part| {
            let found = match *part {
                Expr::Size { arg, dim } | Expr::Stride { arg, dim } => self.expect_memref(place, arg, Some(dim)),
                Expr::Scalar { arg } => match self.args.get(arg) {
                    Some(Arg::Scalar { dtype, .. }) if dtype.is_float() => Err(inconsistent(
                        self,
                        place,
                        format!("argument {arg} is {dtype}, expected an integer"),
                    )),
                    _ => self.expect_scalar(place, arg),
                },
                _ => Ok(()),
            };
            if result.is_ok() {
                result = found;
            }
        });
        result
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    fn message(change: impl FnOnce(&mut Kernel)) -> String {
        let mut manifest = example();
        change(&mut manifest.kernels[0]);
        manifest.check().expect_err("inconsistent").to_string()
    }

    #[test]
    fn references_that_lead_nowhere_are_named() {
        assert_eq!(example().check(), Ok(()));
        assert_eq!(
            message(|k| k.params.push(Param::TensorMap { map: 3 })),
            "the launch manifest is inconsistent: kernel `scale`, params[4]: tensor map 3 of 1"
        );
        assert!(message(|k| k.params[0] = Param::Pointer { arg: 1 }).contains("argument 1 is a scalar"));
        assert!(
            message(|k| k.grid[2] = Expr::Size { arg: 0, dim: 2 }).contains("dimension 2 of argument 0, which has 2")
        );
        assert!(message(|k| k.params[0] = Param::Map { arg: 0 }).contains("argument 0 is no tensor map"));
        assert!(message(|k| k.grid[0] = Expr::Scalar { arg: 9 }).contains("argument 9 of 2"));
        assert!(message(|k| k.tensor_maps[0].element_strides = vec![1]).contains("does not fit rank 2"));
        assert!(message(|k| k.block[1] = 0).contains("has a zero"));
    }

    #[test]
    fn what_is_consistent_can_be_read_back_however_deep() {
        use crate::manifest::BinaryOp;
        let nested = |depth| {
            (0..depth).fold(Expr::Const(1), |inner, _| {
                Expr::Binary(BinaryOp::Add, Box::new(inner), Box::new(Expr::Const(1)))
            })
        };
        let mut manifest = example();
        manifest.kernels[0].tensor_maps[0].dims[0] = nested(DEEPEST);
        assert_eq!(Manifest::from_ptx(&manifest.to_ptx_comment()), Ok(Some(manifest)));
        assert!(message(|k| k.grid[0] = nested(DEEPEST + 1)).contains("more than 48 nested operators"));
    }
}
