//! The structures of the header, and their way into the runtime's own.
use super::error::Failure;
use crate::{
    launch::{Map, Memref, Value},
    spec::Scalar,
};
use girih_core::{dtype::DType, manifest::Arg};
use std::ffi::c_char;

/// `GIRIH_ABI_VERSION`.
pub(super) const ABI_VERSION: u32 = 1;
/// `GIRIH_MAX_RANK`.
pub(super) const MAX_RANK: usize = 8;
/// `GIRIH_DYNAMIC`.
const DYNAMIC: i64 = i64::MIN;
/// `GIRIH_MEMREF`, `GIRIH_SCALAR` and `GIRIH_TENSOR_MAP`.
const MEMREF: i32 = 0;
const SCALAR: i32 = 1;
const TENSOR_MAP: i32 = 2;
/// `GIRIH_TENSOR_MAP_BYTES`.
const TENSOR_MAP_BYTES: usize = 128;

/// `girih_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Status {
    Ok = 0,
    InvalidCall = 1,
    InvalidProgram = 2,
    InvalidArgument = 3,
    DeviceError = 4,
    InternalError = 5,
}

/// `girih_arg_info`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct girih_arg_info {
    pub name: *const c_char,
    pub kind: i32,
    pub dtype: i32,
    pub rank: i32,
    pub reserved: i32,
    pub alignment: u64,
    pub shape: [i64; MAX_RANK],
    pub strides: [i64; MAX_RANK],
}

/// `girih_value`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct girih_value {
    pub kind: i32,
    pub dtype: i32,
    pub data: u64,
    pub rank: i32,
    pub reserved: i32,
    pub shape: *const i64,
    pub strides: *const i64,
}

/// `girih_dtype` of an element type: its place in [`DType::ALL`].
pub(super) fn dtype_code(dtype: DType) -> i32 {
    DType::ALL
        .iter()
        .position(|other| *other == dtype)
        .map_or(-1, |i| i as i32)
}

fn dtype_of(code: i32) -> Option<DType> {
    usize::try_from(code).ok().and_then(|i| DType::ALL.get(i).copied())
}

/// What an argument must be.
pub(super) fn arg_info(arg: &Arg, name: *const c_char) -> Result<girih_arg_info, Failure> {
    let none = [DYNAMIC; MAX_RANK];
    let mut info = girih_arg_info {
        name,
        kind: SCALAR,
        dtype: 0,
        rank: 0,
        reserved: 0,
        alignment: 0,
        shape: none,
        strides: none,
    };
    match arg {
        Arg::Scalar { dtype, .. } => {
            info.dtype = dtype_code(*dtype);
            info.alignment = dtype.bytes();
        }
        Arg::TensorMap { dtype, form, .. } => {
            (info.kind, info.dtype, info.rank) = (TENSOR_MAP, dtype_code(*dtype), form.rank as i32);
            info.alignment = 1;
        }
        Arg::Memref {
            dtype,
            shape,
            strides,
            align,
            ..
        } => {
            if shape.len() > MAX_RANK {
                let message = format!(
                    "argument {} has rank {}, but at most {MAX_RANK} fit",
                    arg.name(),
                    shape.len()
                );
                return Err(Failure::new(super::Status::InvalidProgram, message));
            }
            (info.kind, info.dtype, info.rank) = (MEMREF, dtype_code(*dtype), shape.len() as i32);
            info.alignment = *align;
            let known = |value: &Option<u64>| value.and_then(|value| i64::try_from(value).ok()).unwrap_or(DYNAMIC);
            for (out, size) in info.shape.iter_mut().zip(shape) {
                *out = known(size);
            }
            for (out, stride) in info.strides.iter_mut().zip(strides) {
                *out = known(stride);
            }
        }
    }
    Ok(info)
}

fn invalid(argument: usize, message: &str) -> Failure {
    Failure::new(super::Status::InvalidCall, format!("value {argument}: {message}"))
}

/// # Safety
/// `values` is null or points to `count` values.
pub(super) unsafe fn values<'a>(values: *const girih_value, count: usize) -> Result<&'a [girih_value], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if values.is_null() {
        return Err(Failure::new(
            super::Status::InvalidCall,
            format!("the list of {count} values is null"),
        ));
    }
    // SAFETY: not null, and as long as the caller promises.
    Ok(unsafe { std::slice::from_raw_parts(values, count) })
}

impl girih_value {
    /// The bytes of a tensor map; `None` for other kinds.
    ///
    /// # Safety
    /// The data of a tensor map points to 128 readable bytes, or is null.
    pub(super) unsafe fn tensor_map(&self, argument: usize) -> Result<Option<[u8; TENSOR_MAP_BYTES]>, Failure> {
        if self.kind != TENSOR_MAP {
            return Ok(None);
        }
        let bytes = self.data as *const [u8; TENSOR_MAP_BYTES];
        if bytes.is_null() {
            return Err(invalid(argument, "the address of the tensor map is null"));
        }
        // SAFETY: not null, and readable by the caller's promise.
        Ok(Some(unsafe { *bytes }))
    }

    /// Sizes and strides of value `argument`.
    ///
    /// # Safety
    /// The lists are as long as the rank says, or null.
    pub(super) unsafe fn lists(&self, argument: usize) -> Result<(&[i64], &[i64]), Failure> {
        if self.kind == TENSOR_MAP {
            return Ok((&[], &[]));
        }
        let rank = match usize::try_from(self.rank) {
            Ok(rank) if rank <= MAX_RANK => rank,
            _ => {
                return Err(invalid(
                    argument,
                    &format!("rank = {}, but 0 to {MAX_RANK} are allowed", self.rank),
                ));
            }
        };
        if rank == 0 || self.kind != MEMREF {
            return Ok((&[], &[]));
        }
        if self.shape.is_null() || self.strides.is_null() {
            return Err(invalid(argument, "the list of sizes or of strides is null"));
        }
        // SAFETY: not null, and as long as the caller promises.
        Ok(unsafe {
            (
                std::slice::from_raw_parts(self.shape, rank),
                std::slice::from_raw_parts(self.strides, rank),
            )
        })
    }
}

/// # Safety
/// The lists of each value are as long as its rank says.
pub(super) unsafe fn decode(values: &[girih_value]) -> Result<Vec<Value>, Failure> {
    let mut out = Vec::with_capacity(values.len());
    for (i, value) in values.iter().enumerate() {
        let unknown = || invalid(i, &format!("{} is no girih_dtype", value.dtype));
        let dtype = match value.kind {
            TENSOR_MAP => DType::I8,
            _ => dtype_of(value.dtype).ok_or_else(unknown)?,
        };
        // SAFETY: the caller's promise.
        let (shape, strides) = unsafe { value.lists(i) }?;
        let unsigned = |what: &str, list: &[i64]| {
            let convert = |&n: &i64| u64::try_from(n).map_err(|_| invalid(i, &format!("{what} = {n} is negative")));
            list.iter().map(convert).collect::<Result<Vec<u64>, Failure>>()
        };
        out.push(match value.kind {
            MEMREF => Value::Memref(Memref {
                dtype,
                address: value.data,
                shape: unsigned("a size", shape)?,
                strides: unsigned("a stride", strides)?,
            }),
            SCALAR => {
                let bits = dtype.bytes() * 8;
                let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                Value::Scalar(Scalar {
                    dtype,
                    bits: value.data & mask,
                })
            }
            // SAFETY: the caller's promise.
            TENSOR_MAP => match unsafe { value.tensor_map(i) }? {
                Some(bytes) => Value::Map(Box::new(Map::Bytes(bytes))),
                None => return Err(invalid(i, "a tensor map is expected")),
            },
            other => return Err(invalid(i, &format!("{other} is no girih_kind"))),
        });
    }
    Ok(out)
}
