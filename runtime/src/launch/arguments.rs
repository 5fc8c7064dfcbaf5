//! Values of logical arguments, and every rule that one must keep before the kernel may see it.
use super::maps;
use crate::{
    error::{Error, Problem, Result},
    spec::Scalar,
};
use girih_core::{
    dtype::DType,
    manifest::{Arg, Env, Kernel, Param},
    tensor_map::TensorMap,
};

/// An array in the device's memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Memref {
    /// Element type.
    pub dtype: DType,
    /// Device address of the first element; anything when there are no elements.
    pub address: u64,
    /// Size of each dimension, outermost first.
    pub shape: Vec<u64>,
    /// Stride of each dimension in elements.
    pub strides: Vec<u64>,
}

/// A tensor map that a caller makes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Map {
    /// Encoded for the device by whoever gives it. Nothing of it is checked.
    Bytes([u8; 128]),
    /// Fields, checked by the driver's rules and encoded at launch; `None` for an empty tensor, which has no map.
    Fields(Option<TensorMap>),
}

/// The value of one argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// An array.
    Memref(Memref),
    /// A number.
    Scalar(Scalar),
    /// A tensor map.
    Map(Box<Map>),
}

/// Values as the manifest's expressions see them. [`check`] must have accepted them: sizes and strides fit i64.
pub(super) struct Arguments<'a>(pub &'a [Value]);

impl Arguments<'_> {
    fn memref(&self, arg: usize) -> Option<&Memref> {
        match self.0.get(arg)? {
            Value::Memref(memref) => Some(memref),
            Value::Scalar(_) | Value::Map(_) => None,
        }
    }
}

impl Env for Arguments<'_> {
    fn size(&self, arg: usize, dim: usize) -> Option<i64> {
        i64::try_from(*self.memref(arg)?.shape.get(dim)?).ok()
    }

    fn stride(&self, arg: usize, dim: usize) -> Option<i64> {
        i64::try_from(*self.memref(arg)?.strides.get(dim)?).ok()
    }

    fn scalar(&self, arg: usize) -> Option<i64> {
        let Value::Scalar(scalar) = self.0.get(arg)? else {
            return None;
        };
        crate::array::decode_i64(scalar.dtype, &scalar.to_bytes())
    }

    fn address(&self, arg: usize) -> Option<u64> {
        self.memref(arg).map(|memref| memref.address)
    }
}

/// The bytes of a parameter that is no tensor map; `None` if it refers to nothing.
pub(super) fn parameter_bytes(param: &Param, values: &[Value]) -> Option<Vec<u8>> {
    let env = Arguments(values);
    let bytes = match *param {
        Param::Pointer { arg } => env.address(arg)?.to_le_bytes().to_vec(),
        Param::Size { arg, dim } => env.size(arg, dim)?.to_le_bytes().to_vec(),
        Param::Stride { arg, dim } => env.stride(arg, dim)?.to_le_bytes().to_vec(),
        Param::Scalar { arg } => match values.get(arg)? {
            Value::Scalar(scalar) => scalar.to_bytes(),
            Value::Memref(_) | Value::Map(_) => return None,
        },
        Param::TensorMap { .. } | Param::Map { .. } => return None,
    };
    Some(bytes)
}

/// Checks every argument and reports every problem.
pub(super) fn check(kernel: &Kernel, target: &str, values: &[Value]) -> Result<()> {
    if values.len() != kernel.args.len() {
        let names: Vec<_> = kernel.args.iter().map(Arg::name).collect();
        return Err(Error::Launch {
            kernel: kernel.name.clone(),
            message: format!(
                "takes {} arguments ({}), but {} are given",
                kernel.args.len(),
                names.join(", "),
                values.len()
            ),
        });
    }
    let mut problems = Vec::new();
    for (arg, value) in kernel.args.iter().zip(values) {
        let mut report = |message| {
            problems.push(Problem {
                argument: arg.name().to_owned(),
                message,
            })
        };
        match (arg, value) {
            (
                Arg::Memref {
                    dtype,
                    shape,
                    strides,
                    align,
                    ..
                },
                Value::Memref(memref),
            ) => {
                check_memref(
                    &Expected {
                        dtype: *dtype,
                        shape,
                        strides,
                        align: *align,
                    },
                    memref,
                    &mut report,
                );
            }
            (Arg::Scalar { dtype, .. }, Value::Scalar(scalar)) if scalar.dtype != *dtype => {
                report(format!("a number of type {dtype} is expected, found {}", scalar.dtype));
            }
            (Arg::Scalar { .. }, Value::Scalar(_)) => {}
            (Arg::TensorMap { form, .. }, Value::Map(map)) => {
                if let Map::Fields(Some(map)) = &**map {
                    for violation in maps::violations(map, target) {
                        report(format!("the tensor map has {violation}"));
                    }
                    if map.rank() != form.rank || map.mode != form.mode || map.swizzle != form.swizzle {
                        report(format!(
                            "a tensor map of {} dimensions, {}, swizzle {} is expected, found {} dimensions, {}, swizzle {}",
                            form.rank,
                            form.mode,
                            form.swizzle.name(),
                            map.rank(),
                            map.mode,
                            map.swizzle.name()
                        ));
                    }
                }
            }
            (Arg::Memref { dtype, .. }, other) => {
                report(format!("an array of {dtype} is expected, found {}", kind(other)));
            }
            (Arg::Scalar { dtype, .. }, other) => {
                report(format!("a number of type {dtype} is expected, found {}", kind(other)));
            }
            (Arg::TensorMap { .. }, other) => {
                report(format!("a tensor map is expected, found {}", kind(other)));
            }
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Arguments {
            kernel: kernel.name.clone(),
            problems,
        })
    }
}

/// Checks what the kernel was compiled for beside the types of its arguments, which [`check`] has accepted.
pub(super) fn check_facts(kernel: &Kernel, values: &[Value]) -> Result<()> {
    let env = Arguments(values);
    let mut problems = Vec::new();
    for fact in &kernel.facts {
        let (Some(arg), Ok(value)) = (fact.argument(), fact.value.eval(&env)) else {
            continue;
        };
        if let (Some(message), Some(arg)) = (fact.broken_by(value), kernel.args.get(arg)) {
            problems.push(Problem {
                argument: arg.name().to_owned(),
                message,
            });
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Error::Arguments {
            kernel: kernel.name.clone(),
            problems,
        }),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Memref(_) => "an array",
        Value::Scalar(_) => "a number",
        Value::Map(_) => "a tensor map",
    }
}

/// What a memref argument's type says.
struct Expected<'a> {
    dtype: DType,
    shape: &'a [Option<u64>],
    strides: &'a [Option<u64>],
    align: u64,
}

fn check_memref(expected: &Expected<'_>, found: &Memref, report: &mut impl FnMut(String)) {
    // tf32 is how the tensor cores read an f32 in memory; both are the same bytes.
    let storage = |dtype| if dtype == DType::Tf32 { DType::F32 } else { dtype };
    if storage(expected.dtype) != storage(found.dtype) {
        report(format!(
            "elements of type {} are expected, found {}",
            expected.dtype, found.dtype
        ));
    }
    let rank = expected.shape.len();
    if found.shape.len() != rank || found.strides.len() != rank {
        report(format!(
            "rank {rank} is expected, found rank {} (shape {:?})",
            found.shape.len(),
            found.shape
        ));
        return;
    }
    for (dim, (&size, &stride)) in found.shape.iter().zip(&found.strides).enumerate() {
        if let Some(fixed) = expected.shape[dim].filter(|&fixed| fixed != size) {
            report(format!(
                "size of dimension {dim} = {size}, but the kernel was compiled for {fixed}"
            ));
        }
        // The stride of a dimension with one element is never used.
        if let Some(fixed) = expected.strides[dim].filter(|&fixed| fixed != stride && size > 1) {
            report(format!(
                "stride of dimension {dim} = {stride} elements, but the kernel was compiled for {fixed}; copy the array \
                 to that layout"
            ));
        }
    }
    let empty = found.shape.contains(&0);
    let last = found
        .shape
        .iter()
        .zip(&found.strides)
        .try_fold(0u64, |sum, (&size, &stride)| {
            let fits = size <= i64::MAX as u64 && stride <= i64::MAX as u64;
            let term = size.saturating_sub(1).checked_mul(stride).filter(|_| fits)?;
            sum.checked_add(term)
        });
    let end = last
        .and_then(|last| last.checked_add(1)?.checked_mul(expected.dtype.bytes()))
        .filter(|&bytes| bytes <= i64::MAX as u64)
        .and_then(|bytes| {
            if empty {
                Some(0)
            } else {
                found.address.checked_add(bytes)
            }
        });
    if end.is_none() {
        report(format!(
            "shape {:?} with strides {:?} at {:#x} reaches past the 64-bit address space",
            found.shape, found.strides, found.address
        ));
    }
    if empty {
        return;
    }
    if found.address == 0 {
        report(format!("the address is null, but shape {:?} has elements", found.shape));
    } else if expected.align > 1 && !found.address.is_multiple_of(expected.align) {
        report(format!(
            "address = {:#x}, but the kernel needs a multiple of {}; start the array at an aligned element",
            found.address, expected.align
        ));
    }
}
