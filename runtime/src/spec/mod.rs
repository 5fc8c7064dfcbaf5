//! SPEC: what a user writes for an argument on the command line.
//!
//! | SPEC | meaning |
//! |---|---|
//! | `randn:bf16[512,256]` | normal, mean 0, deviation 1; `randn(mean=1,std=0.5,seed=3):...` |
//! | `uniform:f32[8]` | uniform in [low, high): [-1, 1), for integers [-8, 8); `uniform(low=0,high=1,seed=3):...` |
//! | `zeros:f32[8]`, `ones:f32[8]`, `full(3.5):f32[8]` | one value everywhere |
//! | `iota:i32[8]` | 0, 1, 2, ... in row-major order; `iota(start=5,step=-1):...` |
//! | `poison:f32[8]`, `empty:f32[8]` | for outputs: NaN in every float, bytes 0xee in every integer |
//! | `randn:bf16[512,256;pitch=264,offset=16]` | rows 264 elements apart, first element 16 bytes into the memory |
//! | `file.npy`, `dir/file.npy[pitch=264]` | the array in a file |
//! | `i32:42`, `f32:1.5`, `i1:true` | a number |
//! | `iota:f32[8,40]{"fill":"nan","dims":[32,8]}`, `x.npy{map.json}` | an array, and fields of the tensor map that is made of it |
//!
//! For a tensor map argument it is the array that the map is made of, in the form that the argument's type says. Fields in
//! braces ([`MapFields`], as JSON or in a file) go before that.
//!
//! The shape is the logical one, outermost dimension first; where the elements lie follows the kernel's argument (see
//! [`Layout::for_argument`](crate::array::Layout::for_argument)). Random values depend on the seed, the argument's name
//! and the shape's element count alone, never on the machine: see `generate`.
mod generate;
mod map;
mod parse;

pub use map::MapFields;

use crate::{
    array::{Array, FileType, Layout, read_npy},
    error::{Error, Result},
};
use girih_core::dtype::DType;
use std::path::{Path, PathBuf};
use thiserror::Error as ThisError;

/// A SPEC that does not parse or cannot be had. `column` counts characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("SPEC `{text}`, column {column}: {message}")]
pub struct SpecError {
    /// The whole SPEC.
    pub text: String,
    /// Where in it.
    pub column: usize,
    /// Expected, found, remedy.
    pub message: String,
}

/// A number of an element type, as its bits in the low bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// Its type.
    pub dtype: DType,
    /// Its bits, zero above the type's width.
    pub bits: u64,
}

impl Scalar {
    /// The little-endian bytes, as many as the type has.
    pub fn to_bytes(self) -> Vec<u8> {
        self.bits.to_le_bytes()[..self.dtype.bytes() as usize].to_vec()
    }
}

/// A generator's parameter, exact where it was written as an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Written as an integer that fits.
    Integer(i64),
    /// Anything else.
    Float(f64),
}

impl Number {
    /// The value, rounded beyond 2^53.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}

/// How the elements of a generated array come about; `seed` wins over the command's.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Generator {
    Randn {
        mean: f64,
        std: f64,
        seed: Option<u64>,
    },
    Uniform {
        low: Option<f64>,
        high: Option<f64>,
        seed: Option<u64>,
    },
    Iota {
        start: Number,
        step: Number,
    },
    Full(Number),
    Poison,
}

/// A parsed SPEC.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    text: String,
    kind: Kind,
    map: Option<map::MapSource>,
}

/// What a SPEC asks for.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Scalar(Scalar),
    Generated {
        generator: Generator,
        dtype: DType,
        shape: Vec<u64>,
        memory: Memory,
    },
    File {
        path: PathBuf,
        memory: Memory,
    },
}

/// What a SPEC says about memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Memory {
    /// Elements from row to row, and its column in the text.
    pitch: Option<(u64, usize)>,
    /// Bytes before the first element.
    offset_bytes: u64,
}

/// What the place where a SPEC is used asks of the array.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Name of the argument; gives arguments with the same SPEC different random values.
    pub name: &'a str,
    /// How the element type of a file is understood.
    pub file_type: FileType,
    /// Static element strides of the kernel's argument; `None` means row-major.
    pub strides: Option<&'a [Option<u64>]>,
    /// Seed of the command.
    pub seed: u64,
}

impl std::str::FromStr for Spec {
    type Err = SpecError;
    fn from_str(text: &str) -> std::result::Result<Self, SpecError> {
        let (array, map) = map::MapSource::split(text)?;
        Ok(Spec {
            text: text.to_owned(),
            kind: parse::parse(array)?,
            map,
        })
    }
}

impl std::fmt::Display for Spec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Spec {
    /// The number, if this is one.
    pub fn scalar(&self) -> Option<Scalar> {
        match self.kind {
            Kind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Fields of a tensor map that are given by themselves.
    pub fn map_fields(&self) -> Result<Option<MapFields>> {
        self.map.as_ref().map(map::MapSource::fields).transpose()
    }

    /// Sizes of the array, outermost first, where they are known without reading a file.
    pub fn shape(&self) -> Option<&[u64]> {
        match &self.kind {
            Kind::Scalar(_) => Some(&[]),
            Kind::Generated { shape, .. } => Some(shape),
            Kind::File { .. } => None,
        }
    }

    /// The file that holds the array, if one does.
    pub fn file(&self) -> Option<&Path> {
        match &self.kind {
            Kind::File { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Makes the array. A number is an array of rank 0.
    pub fn array(&self, place: &Place<'_>) -> Result<Array> {
        match &self.kind {
            Kind::Scalar(scalar) => {
                let mut array = Array::zeros(scalar.dtype, &[]).ok_or_else(|| self.too_large(&[]))?;
                array.set_packed_bytes(&scalar.to_bytes());
                Ok(array)
            }
            Kind::File { path, memory } => {
                let array = read_npy(path, place.file_type)?;
                let layout = self.layout(array.shape(), memory, place)?;
                array
                    .with_layout(layout, GAP)
                    .ok_or_else(|| self.too_large(array.shape()))
            }
            Kind::Generated {
                generator,
                dtype,
                shape,
                memory,
            } => {
                let layout = self.layout(shape, memory, place)?;
                let mut array = Array::filled(*dtype, layout, GAP).ok_or_else(|| self.too_large(shape))?;
                generate::fill(&mut array, generator, place).ok_or_else(|| self.too_large(shape))?;
                Ok(array)
            }
        }
    }

    fn layout(&self, shape: &[u64], memory: &Memory, place: &Place<'_>) -> Result<Layout> {
        let row_major: Vec<Option<u64>> = (0..shape.len())
            .map(|dim| (dim + 1 == shape.len()).then_some(1))
            .collect();
        let strides = place.strides.unwrap_or(&row_major);
        let pitch = memory.pitch.map(|(pitch, _)| pitch);
        Layout::for_argument(shape, strides, pitch, memory.offset_bytes).map_err(|error| {
            let column = memory.pitch.map_or(1, |(_, column)| column);
            Error::Spec(SpecError {
                text: self.text.clone(),
                column,
                message: error.to_string(),
            })
        })
    }

    fn too_large(&self, shape: &[u64]) -> Error {
        let message = format!("an array of shape {shape:?} does not fit in memory");
        Error::Spec(SpecError {
            text: self.text.clone(),
            column: 1,
            message,
        })
    }
}

/// What the gaps of a padded layout hold: never zero, so that a kernel which reads them shows it.
const GAP: u8 = 0xee;
