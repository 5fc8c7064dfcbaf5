//! Kernels with their arguments before and after a launch, as files: for machines that have a GPU and no compiler.
//!
//! ```text
//! NAME.ptx    PTX with its manifest
//! NAME.json   types and layouts of the arguments, and numbers
//! NAME.bin    for each array its bytes before, then after
//! ```
use crate::compare::{Difference, Loaded, Tolerance, differences};
use girih_core::{device::Device, dtype::DType};
use girih_runtime::{
    Error, Program, Result,
    array::{Array, Layout},
    launch::HostValue,
    spec::Scalar,
};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A kernel, what it is given, and what it leaves.
pub struct Case {
    /// PTX of one kernel.
    pub program: Program,
    /// Its arguments before the launch.
    pub before: Vec<HostValue>,
    /// Its arguments after it.
    pub after: Vec<HostValue>,
}

/// An argument without its bytes.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    Array {
        dtype: DType,
        shape: Vec<u64>,
        strides: Vec<u64>,
        offset_bytes: u64,
    },
    Scalar {
        dtype: DType,
        bits: u64,
    },
}

impl Case {
    /// Writes the three files.
    pub fn write(&self, dir: &Path, name: &str) -> Result<()> {
        fs::create_dir_all(dir).map_err(|e| Error::file(dir, e))?;
        let put = |ending: &str, bytes: &[u8]| {
            let path = dir.join(format!("{name}.{ending}"));
            fs::write(&path, bytes).map_err(|e| Error::file(&path, e))
        };
        let (mut forms, mut bytes) = (vec![], vec![]);
        for (before, after) in self.before.iter().zip(&self.after) {
            match (before, after) {
                (HostValue::Array(a), HostValue::Array(b)) => {
                    bytes.extend_from_slice(a.bytes());
                    bytes.extend_from_slice(b.bytes());
                    let layout = a.layout();
                    forms.push(Form::Array {
                        dtype: a.dtype(),
                        shape: layout.shape().to_vec(),
                        strides: layout.strides().to_vec(),
                        offset_bytes: layout.offset_bytes(),
                    });
                }
                (HostValue::Scalar(s), _) | (_, HostValue::Scalar(s)) => forms.push(Form::Scalar {
                    dtype: s.dtype,
                    bits: s.bits,
                }),
            }
        }
        let json = serde_json::to_string_pretty(&forms).map_err(|e| Error::Usage(e.to_string()))?;
        put("ptx", self.program.ptx().as_bytes())?;
        put("json", json.as_bytes())?;
        put("bin", &bytes)
    }

    /// Reads the three files; `ptx` is the path of the first.
    pub fn read(ptx: &Path) -> Result<Case> {
        let get = |ending: &str| {
            let path = ptx.with_extension(ending);
            fs::read(&path)
                .map_err(|e| Error::file(&path, e))
                .map(|bytes| (path, bytes))
        };
        let (path, json) = get("json")?;
        let forms: Vec<Form> = serde_json::from_slice(&json).map_err(|e| Error::file(&path, e))?;
        let (path, bytes) = get("bin")?;
        let mut rest = bytes.as_slice();
        let (mut before, mut after) = (vec![], vec![]);
        for form in forms {
            match form {
                Form::Scalar { dtype, bits } => {
                    before.push(HostValue::Scalar(Scalar { dtype, bits }));
                    after.push(HostValue::Scalar(Scalar { dtype, bits }));
                }
                Form::Array {
                    dtype,
                    shape,
                    strides,
                    offset_bytes,
                } => {
                    let layout = Layout::new(&shape, &strides, offset_bytes).map_err(|e| Error::file(&path, e))?;
                    for list in [&mut before, &mut after] {
                        let too_short = || Error::file(&path, "has fewer bytes than its arguments take");
                        let mut array = Array::filled(dtype, layout.clone(), 0).ok_or_else(too_short)?;
                        let (own, others) = rest.split_at_checked(array.bytes().len()).ok_or_else(too_short)?;
                        array.bytes_mut().copy_from_slice(own);
                        rest = others;
                        list.push(HostValue::Array(array));
                    }
                }
            }
        }
        Ok(Case {
            program: Program::load(ptx)?,
            before,
            after,
        })
    }

    /// Runs the kernel on a device and gives the arguments that differ from what they should be.
    pub fn run(&self, device: &mut dyn Device) -> Result<Vec<Difference>> {
        let kernel = self.program.kernel(None)?;
        let after = Loaded::new(device, &self.program)?.launch(kernel, &self.before)?;
        differences(kernel, &after, &self.after, Tolerance::OneNan)
    }
}

/// The cases of a folder, by name.
pub fn cases(dir: &Path) -> Result<Vec<PathBuf>> {
    let fail = |e| Error::file(dir, e);
    let mut found = vec![];
    for entry in fs::read_dir(dir).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|e| e == "ptx") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
