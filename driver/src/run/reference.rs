//! What a kernel should have computed: a function in the same file, run on the CPU by MLIR's JIT.
//!
//! The reference of `@gemm` is `@gemm_ref` where nothing else is said. It takes the kernel's arguments in the kernel's
//! order and overwrites those that the kernel overwrites; what it returns, if anything, are the new values of its last
//! array arguments. Every array is compared afterwards, so that a kernel which writes where it should not is found too.
use super::work::Work;
use crate::{
    annotation::{Annotation, string},
    failure::{Failure, Kind, Result},
    isolate,
};
use girih_codegen::jit::{self, Returned};
use girih_core::{
    dtype::DType,
    manifest::{Arg, Kernel},
};
use girih_ir::ext::OpExt;
use girih_runtime::{
    array::{Array, Layout},
    check::{Measure, compare},
    launch::HostValue,
    run::{Checked, Named},
    spec::Spec,
};
use melior::ir::{BlockLike, OperationRef, RegionLike, ValueLike, operation::OperationLike, r#type::MemRefType};
use std::collections::BTreeMap;

/// Most multiply-adds that a reference may take.
pub const MULTIPLY_ADDS: u128 = 1 << 31;

/// Which function says what is right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// `@KERNEL_ref` if the file has it.
    #[default]
    Default,
    /// None.
    None,
    /// The function of that name, without `@`.
    Named(String),
}

/// A compiled reference.
pub(super) struct Reference {
    name: String,
    by_default: bool,
    annotation: Annotation,
    work: Work,
    /// Whose types promise that elements follow each other in memory, argument by argument.
    contiguous: Vec<bool>,
    function: jit::Function,
}

impl Reference {
    /// Compiles the function that `choice` stands for; `kernel` is the one that was asked for.
    pub(super) fn choose(
        module: OperationRef<'_, '_>,
        choice: &Choice,
        kernel: Option<&str>,
    ) -> Result<Option<Reference>> {
        let (name, by_default) = match choice {
            Choice::None => return Ok(None),
            Choice::Named(name) => (name.clone(), false),
            Choice::Default => {
                let only = || only_kernel(module);
                let Some(kernel) = kernel.map(str::to_owned).or_else(only) else {
                    return Ok(None);
                };
                (format!("{kernel}_ref"), true)
            }
        };
        let found = symbols(module).find(|(symbol, op)| *symbol == name && is(*op, "func.func"));
        if by_default && found.is_none() {
            return Ok(None);
        }
        let function = jit::Function::compile(module, &name).map_err(|error| {
            let failure = Failure::from(error);
            match found {
                Some(_) => failure,
                // The name on the command line is nobody's.
                None => Failure {
                    kind: Kind::Usage,
                    ..failure
                },
            }
        })?;
        let source = found.map(|(_, op)| op);
        Ok(Some(Reference {
            name,
            by_default,
            annotation: source.map(Annotation::of).unwrap_or_default(),
            work: source.map(Work::of).unwrap_or_default(),
            contiguous: source.map(contiguous).unwrap_or_default(),
            function,
        }))
    }

    /// Says what was chosen without being asked for.
    pub(super) fn remark(&self) -> Option<String> {
        self.by_default
            .then(|| format!("checked against @{}; --no-reference leaves that out", self.name))
    }

    /// Compares every array that the kernel or the reference has changed.
    pub(super) fn judge(&self, kernel: &Kernel, before: &[HostValue], after: &[HostValue]) -> Result<Vec<Checked>> {
        let shape = |value: &HostValue| match value {
            HostValue::Array(array) => array.shape().to_vec(),
            HostValue::Scalar(_) => Vec::new(),
        };
        self.check_work(kernel, &before.iter().map(shape).collect::<Vec<_>>())?;
        let want = self.call(before)?;
        let scale = match self.annotation.is_product {
            true => Some(self.call(&before.iter().map(absolute).collect::<Vec<_>>())?),
            false => None,
        };
        let mut changed = Vec::new();
        let mut unchanged = Vec::new();
        for (i, arg) in kernel.args.iter().enumerate() {
            let (HostValue::Array(old), HostValue::Array(got), HostValue::Array(want)) =
                (&before[i], &after[i], &want[i])
            else {
                continue;
            };
            check_gaps(arg.name(), old, got)?;
            let scale = match scale.as_ref().map(|scale| &scale[i]) {
                Some(HostValue::Array(scale)) => Some(scale),
                _ => None,
            };
            let is_same = |array: &Array| array.to_packed_bytes() == old.to_packed_bytes();
            // What the reference leaves alone, the kernel leaves alone, to the bit.
            let measure = match is_same(want) {
                true => Measure::Elementwise { rtol: 0.0, atol: 0.0 },
                false => self.measure(arg.name(), want, scale)?,
            };
            let checked = Checked::new(arg.name(), compare(got, want, &measure)?);
            match is_same(got) && is_same(want) {
                true => unchanged.push(checked),
                false => changed.push(checked),
            }
        }
        // Where nothing at all has changed, that is the result.
        Ok(if changed.is_empty() { unchanged } else { changed })
    }

    fn measure<'s>(&self, argument: &str, want: &Array, scale: Option<&'s Array>) -> Result<Measure<'s>> {
        let dtype = want.dtype();
        match scale {
            None => Ok(match self.annotation.tol {
                None => Measure::default_for(dtype, want),
                Some(tol) => Measure::relative_to(want, tol),
            }),
            Some(scale) if scale.to_f64().iter().any(|value| value.is_infinite()) => Err(Failure::new(format!(
                "@{}: argument {argument}: the sum of absolute products overflows {dtype}, so errors cannot be \
                 measured; use smaller values",
                self.name
            ))),
            Some(scale) => Ok(Measure::Product {
                tol: self.annotation.tol.unwrap_or_else(|| Measure::product_tolerance(dtype)),
                scale,
            }),
        }
    }

    /// Refuses arguments that the reference cannot be called with, before anything is launched, where their sizes can be
    /// seen on the command line.
    pub(super) fn check_specs(&self, kernel: &Kernel, args: &[Named<Spec>]) -> Result<()> {
        let shape = |arg: &Arg| args.iter().find(|named| named.name == arg.name())?.value.shape();
        let shapes: Option<Vec<_>> = kernel.args.iter().map(|arg| shape(arg).map(<[u64]>::to_vec)).collect();
        shapes.map_or(Ok(()), |shapes| self.check_work(kernel, &shapes))
    }

    /// Compiled code checks no sizes and cannot be stopped.
    fn check_work(&self, kernel: &Kernel, shapes: &[Vec<u64>]) -> Result<()> {
        let names: Vec<_> = kernel.args.iter().map(Arg::name).collect();
        let work = self.work.multiply_adds(shapes, &names).map_err(|mismatch| {
            let [first, second] = mismatch.sizes;
            let mut failure = Failure::usage(format!(
                "{first}, but {second}; `{}` of @{} needs them to be equal",
                mismatch.operation, self.name
            ));
            failure.messages[0].place = mismatch.place;
            failure
        })?;
        if work <= MULTIPLY_ADDS {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "@{}: about {work} multiply-adds on the CPU, and at most {MULTIPLY_ADDS} are worth waiting for; use smaller \
             arrays, or --check NAME=file.npy with a result from elsewhere, or --no-reference",
            self.name
        )))
    }

    /// The values of all arguments after a call. A reference that faults is an error like any other.
    fn call(&self, arguments: &[HostValue]) -> Result<Vec<HostValue>> {
        let is_contiguous = |i| self.contiguous.get(i).copied().unwrap_or(false);
        let seen = |(i, value)| as_seen(value, is_contiguous(i));
        let mut values = arguments.iter().enumerate().map(seen).collect::<Result<Vec<_>>>()?;
        let bytes = isolate::in_child(|| {
            let mut own = values.clone();
            self.call_here(&mut own).map_err(|failure| failure.to_string())?;
            Ok(own
                .iter_mut()
                .filter_map(array_bytes)
                .flat_map(|bytes| bytes.to_vec())
                .collect())
        });
        let bytes = bytes.map_err(|ended| match ended {
            isolate::Ended::Said(text) => Failure::new(text),
            isolate::Ended::Stopped(text) => Failure::new(format!("@{}: the reference {text}", self.name)),
            isolate::Ended::NotMade(error) => Failure::new(format!(
                "@{}: the reference runs in a process of its own, and the system starts none: {error}; end other processes, \
                 or use --no-reference",
                self.name
            )),
        })?;
        let mut rest = &bytes[..];
        for array in values.iter_mut().filter_map(array_bytes) {
            let Some((own, more)) = rest.split_at_checked(array.len()) else {
                return Err(Failure::new(format!(
                    "@{}: the reference stopped before its results were out",
                    self.name
                )));
            };
            array.copy_from_slice(own);
            rest = more;
        }
        // What was made contiguous goes back to where it lies.
        for (i, value) in values.iter_mut().enumerate().filter(|(i, _)| is_contiguous(*i)) {
            if let (HostValue::Array(packed), Ok(HostValue::Array(mut array))) =
                (&*value, as_seen(&arguments[i], false))
            {
                array.set_packed_bytes(&packed.to_packed_bytes());
                *value = HostValue::Array(array);
            }
        }
        Ok(values)
    }

    /// Calls the compiled function in this process.
    fn call_here(&self, values: &mut [HostValue]) -> Result<()> {
        let mut args = Vec::new();
        for value in values.iter_mut() {
            args.push(match value {
                HostValue::Scalar(scalar) => jit::Arg::Scalar(scalar.dtype, scalar.bits),
                HostValue::Array(array) => {
                    let shape: Vec<_> = array.shape().iter().map(|size| *size as usize).collect();
                    let strides: Vec<_> = array.layout().strides().iter().map(|stride| *stride as isize).collect();
                    let dtype = array.dtype();
                    jit::Arg::Array(jit::Array::new(array.bytes_mut(), dtype, 0, &shape, &strides)?)
                }
            });
        }
        let results = self.function.call(&mut args)?;
        drop(args);
        self.store(results, values)
    }

    /// Results are the last array arguments.
    fn store(&self, results: Vec<Returned>, values: &mut [HostValue]) -> Result<()> {
        let mut arrays: Vec<&mut Array> = values
            .iter_mut()
            .filter_map(|value| match value {
                HostValue::Array(array) => Some(array),
                HostValue::Scalar(_) => None,
            })
            .collect();
        let wrong = |what: String| Failure::new(format!("@{}: {what}", self.name));
        if results.len() > arrays.len() {
            return Err(wrong(format!(
                "returns {} values, but takes {} arrays; results stand for the last arrays",
                results.len(),
                arrays.len()
            )));
        }
        let first = arrays.len() - results.len();
        for (array, result) in arrays[first..].iter_mut().zip(results) {
            match result {
                Returned::Array { dtype, shape, data }
                    if is_type_of(dtype, array.dtype())
                        && shape.iter().map(|size| *size as u64).eq(array.shape().iter().copied()) =>
                {
                    array.set_packed_bytes(&data);
                }
                Returned::Array { dtype, shape, .. } => {
                    return Err(wrong(format!(
                        "returns {dtype}{shape:?} for an argument of type {}{:?}",
                        array.dtype(),
                        array.shape()
                    )));
                }
                Returned::Scalar(dtype, _) => {
                    return Err(wrong(format!("returns a number of type {dtype}; results are arrays")));
                }
            }
        }
        Ok(())
    }
}

/// The memory of an array; `None` for a number.
fn array_bytes(value: &mut HostValue) -> Option<&mut [u8]> {
    match value {
        HostValue::Array(array) => Some(array.bytes_mut()),
        HostValue::Scalar(_) => None,
    }
}

/// Whether a reference's result of type `from` stands for an argument of type `to`: tf32 is f32 to the CPU.
fn is_type_of(from: DType, to: DType) -> bool {
    let plain = |t| if t == DType::Tf32 { DType::F32 } else { t };
    plain(from) == plain(to)
}

/// Whether the type of each argument is a memref without strides, whose elements follow each other.
fn contiguous(function: OperationRef<'_, '_>) -> Vec<bool> {
    let body = function.regions().next().and_then(|region| region.first_block());
    let Some(body) = body else { return vec![] };
    let types = (0..body.argument_count())
        .filter_map(|i| body.argument(i).ok())
        .map(|v| v.r#type());
    types
        .map(|t| MemRefType::try_from(t).is_ok_and(|t| t.affine_map().is_identity()))
        .collect()
}

/// What the reference sees: the first element is at the start of the memory, and where its type says so there are no gaps.
fn as_seen(value: &HostValue, is_contiguous: bool) -> Result<HostValue> {
    let HostValue::Array(array) = value else {
        return Ok(value.clone());
    };
    let layout = match is_contiguous {
        true => Layout::row_major(array.shape()),
        false => Layout::new(array.shape(), array.layout().strides(), 0).ok(),
    };
    layout
        .and_then(|layout| array.with_layout(layout, 0))
        .map(HostValue::Array)
        .ok_or_else(|| Failure::new("an argument does not fit in memory a second time, for the reference"))
}

/// The value with every sign bit cleared.
fn absolute(value: &HostValue) -> HostValue {
    let HostValue::Array(array) = value else {
        return value.clone();
    };
    let mut array = array.clone();
    if array.dtype().is_float() {
        let mut packed = array.to_packed_bytes();
        // Float formats are sign and magnitude, little-endian.
        for element in packed.chunks_exact_mut(array.dtype().bytes() as usize) {
            if let Some(last) = element.last_mut() {
                *last &= 0x7f;
            }
        }
        array.set_packed_bytes(&packed);
    }
    HostValue::Array(array)
}

/// Padding between rows and before the first element is nobody's to write.
fn check_gaps(argument: &str, before: &Array, after: &Array) -> Result<()> {
    let mut expected = before.clone();
    expected.set_packed_bytes(&after.to_packed_bytes());
    let touched = expected
        .bytes()
        .iter()
        .zip(after.bytes())
        .filter(|(a, b)| a != b)
        .count();
    let first = expected.bytes().iter().zip(after.bytes()).position(|(a, b)| a != b);
    match first {
        None => Ok(()),
        Some(first) => Err(Failure::new(format!(
            "argument {argument}: the kernel wrote {touched} bytes of padding that belongs to no element, first at byte \
             {first} of the memory"
        ))),
    }
}

fn only_kernel(module: OperationRef<'_, '_>) -> Option<String> {
    let mut kernels = symbols(module).filter(|(_, op)| is(*op, "tile.kernel"));
    match (kernels.next(), kernels.next()) {
        (Some((name, _)), None) => Some(name),
        _ => None,
    }
}

/// Where each kernel says what its grid is.
pub(super) fn grid_places(module: OperationRef<'_, '_>) -> BTreeMap<String, (String, u32, u32)> {
    let kernels = symbols(module).filter(|(_, op)| is(*op, "tile.kernel"));
    let places = kernels.filter_map(|(name, kernel)| {
        let grid = kernel.nested_ops().into_iter().find(|op| is(*op, "tile.grid"))?;
        Some((name, girih_ir::module::place_of(grid.location().to_raw())?))
    });
    places.collect()
}

fn is(op: OperationRef<'_, '_>, name: &str) -> bool {
    op.name().as_string_ref().as_str() == Ok(name)
}

/// The named operations of a module's body.
fn symbols<'c: 'a, 'a>(module: OperationRef<'c, 'a>) -> impl Iterator<Item = (String, OperationRef<'c, 'a>)> {
    let body = module.region(0).ok().and_then(|region| region.first_block());
    std::iter::successors(body.and_then(|body| body.first_operation()), |op| op.next_in_block())
        .filter_map(|op| Some((string(op.attribute("sym_name").ok()?)?, op)))
}

#[cfg(test)]
mod tests;
