//! What a function takes and gives, and how results lie in memory in MLIR's C interface.
use super::value::Arg;
use crate::error::{Error, Result};
use girih_core::dtype::DType;
use melior::ir::{OperationRef, Type, operation::OperationLike};
use mlir_sys::*;

/// Parameters and results of a function.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) params: Vec<Kind>,
    pub(super) results: Vec<Kind>,
}

/// One parameter or result.
#[derive(Debug)]
pub(super) enum Kind {
    Array(ArrayKind),
    Scalar(DType),
}

/// A memref or tensor; `None` is a size or stride known at run time only.
#[derive(Debug)]
pub(super) struct ArrayKind {
    pub(super) dtype: DType,
    pub(super) sizes: Vec<Option<i64>>,
    /// Free for tensors.
    strides: Vec<Option<i64>>,
}

impl Signature {
    pub(super) fn of(function: OperationRef<'_, '_>) -> Result<Self> {
        let attribute = function
            .attribute("function_type")
            .map_err(|_| Error::Reference("a function without a type cannot be called".to_owned()))?;
        // SAFETY: `function_type` of a verified function is a type attribute with a function type.
        unsafe {
            use melior::ir::attribute::AttributeLike;
            let ty = mlirTypeAttrGetValue(attribute.to_raw());
            let params = (0..mlirFunctionTypeGetNumInputs(ty)).map(|i| kind(mlirFunctionTypeGetInput(ty, i)));
            let results = (0..mlirFunctionTypeGetNumResults(ty)).map(|i| kind(mlirFunctionTypeGetResult(ty, i)));
            Ok(Signature {
                params: params.collect::<Result<_>>()?,
                results: results.collect::<Result<_>>()?,
            })
        }
    }

    /// Holds the arguments against the parameters; every mismatch is named.
    pub(super) fn check(&self, function: &str, args: &[Arg<'_>]) -> Result<()> {
        if args.len() != self.params.len() {
            let (expected, found) = (self.params.len(), args.len());
            return Err(Error::Reference(format!(
                "`@{function}` takes {expected} arguments, found {found}"
            )));
        }
        let mut wrong = Vec::new();
        for (number, (kind, arg)) in self.params.iter().zip(args).enumerate() {
            if let Err(words) = kind.check(arg) {
                wrong.push(format!("argument {number} of `@{function}`: {words}"));
            }
        }
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(Error::Reference(wrong.join("\n")))
        }
    }

    pub(super) fn result_layout(&self) -> ResultLayout {
        let mut bytes = 0u64;
        let mut offsets = Vec::new();
        for kind in &self.results {
            let (size, align) = match kind {
                Kind::Array(array) => (8 * (3 + 2 * array.sizes.len() as u64), 8),
                Kind::Scalar(dtype) => (dtype.bytes(), dtype.bytes()),
            };
            bytes = bytes.next_multiple_of(align);
            offsets.push(bytes);
            bytes += size;
        }
        let by_pointer = self.results.len() > 1 || matches!(self.results.first(), Some(Kind::Array(_)));
        ResultLayout {
            offsets,
            bytes,
            by_pointer,
        }
    }
}

/// Where the results lie in the struct that a function stores.
pub(super) struct ResultLayout {
    offsets: Vec<u64>,
    bytes: u64,
    by_pointer: bool,
}

impl ResultLayout {
    pub(super) fn words(&self) -> usize {
        self.bytes.div_ceil(8) as usize
    }
    pub(super) fn by_pointer(&self) -> bool {
        self.by_pointer
    }
    pub(super) fn byte_offsets(&self) -> impl Iterator<Item = usize> {
        self.offsets.iter().map(|offset| *offset as usize)
    }
}

impl Kind {
    fn check(&self, arg: &Arg<'_>) -> std::result::Result<(), String> {
        match (self, arg) {
            (Kind::Scalar(expected), Arg::Scalar(found, _)) => same_type(*expected, *found),
            (Kind::Scalar(dtype), Arg::Array(_)) => Err(format!("expected a number of type {dtype}, found an array")),
            (Kind::Array(_), Arg::Scalar(dtype, _)) => {
                Err(format!("expected an array, found a number of type {dtype}"))
            }
            (Kind::Array(kind), Arg::Array(array)) => {
                same_type(kind.dtype, array.dtype)?;
                if kind.sizes.len() != array.shape.len() {
                    return Err(format!(
                        "expected rank {}, found {}",
                        kind.sizes.len(),
                        array.shape.len()
                    ));
                }
                for (dim, (expected, found)) in kind.sizes.iter().zip(&array.shape).enumerate() {
                    if expected.is_some_and(|expected| expected != *found) {
                        let expected = expected.unwrap_or_default();
                        return Err(format!("expected size {expected} in dimension {dim}, found {found}"));
                    }
                }
                for (dim, (expected, found)) in kind.strides.iter().zip(&array.strides).enumerate() {
                    // The stride of a dimension with one element or none is never used.
                    if expected.is_some_and(|expected| expected != *found) && array.shape[dim] > 1 {
                        let expected = expected.unwrap_or_default();
                        return Err(format!("expected stride {expected} in dimension {dim}, found {found}"));
                    }
                }
                Ok(())
            }
        }
    }
}

/// tf32 lies in memory as f32 does, and a reference declares it so.
fn same_type(expected: DType, found: DType) -> std::result::Result<(), String> {
    let storage = |dtype| if dtype == DType::Tf32 { DType::F32 } else { dtype };
    if storage(expected) == storage(found) {
        Ok(())
    } else {
        Err(format!("expected element type {expected}, found {found}"))
    }
}

/// # Safety
/// `ty` is a live type.
unsafe fn kind(ty: MlirType) -> Result<Kind> {
    // SAFETY: each query below follows the check that it needs.
    unsafe {
        let (memref, tensor) = (mlirTypeIsAMemRef(ty), mlirTypeIsARankedTensor(ty));
        if !memref && !tensor {
            return Ok(Kind::Scalar(dtype(ty)?));
        }
        let rank = mlirShapedTypeGetRank(ty) as usize;
        let sizes = (0..rank as isize)
            .map(|dim| (!mlirShapedTypeIsDynamicDim(ty, dim)).then(|| mlirShapedTypeGetDimSize(ty, dim)))
            .collect();
        let mut strides = vec![None; rank];
        if memref {
            let (mut values, mut offset) = (vec![0i64; rank], 0i64);
            if mlirMemRefTypeGetStridesAndOffset(ty, values.as_mut_ptr(), &mut offset).value == 0 {
                return Err(unsupported(ty, "its layout is not strided"));
            }
            if offset != 0 && !mlirShapedTypeIsDynamicStrideOrOffset(offset) {
                return Err(unsupported(ty, "its offset must be 0 or dynamic"));
            }
            for (stride, value) in strides.iter_mut().zip(values) {
                *stride = (!mlirShapedTypeIsDynamicStrideOrOffset(value)).then_some(value);
            }
        }
        Ok(Kind::Array(ArrayKind {
            dtype: dtype(mlirShapedTypeGetElementType(ty))?,
            sizes,
            strides,
        }))
    }
}

/// # Safety
/// `ty` is a live type.
unsafe fn dtype(ty: MlirType) -> Result<DType> {
    // SAFETY: by contract.
    let words = unsafe { Type::from_raw(ty) }.to_string();
    match words.as_str() {
        "i1" => Ok(DType::I1),
        "i8" => Ok(DType::I8),
        "i16" => Ok(DType::I16),
        "i32" => Ok(DType::I32),
        "i64" | "index" => Ok(DType::I64),
        "f16" => Ok(DType::F16),
        "bf16" => Ok(DType::Bf16),
        "f32" => Ok(DType::F32),
        "f64" => Ok(DType::F64),
        "f8E4M3FN" => Ok(DType::E4m3),
        "f8E5M2" => Ok(DType::E5m2),
        "tf32" => Err(unsupported_words(&words, "declare it f32, as it lies in memory")),
        _ => Err(unsupported_words(
            &words,
            "expected an integer of 1 to 64 bits, a float, a memref or a ranked tensor",
        )),
    }
}

/// # Safety
/// `ty` is a live type.
unsafe fn unsupported(ty: MlirType, why: &str) -> Error {
    // SAFETY: by contract.
    unsupported_words(&unsafe { Type::from_raw(ty) }.to_string(), why)
}

fn unsupported_words(ty: &str, why: &str) -> Error {
    Error::Reference(format!("a reference function cannot take or give `{ty}`: {why}"))
}
