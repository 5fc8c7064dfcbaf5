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
        if self.before.len() != self.after.len() {
            return Err(Error::Usage(format!(
                "{name}: {} arguments before the launch and {} after it; a case has the same before and after",
                self.before.len(),
                self.after.len()
            )));
        }
        let (mut forms, mut bytes) = (vec![], vec![]);
        for (before, after) in self.before.iter().zip(&self.after) {
            match (before, after) {
                (HostValue::Array(a), HostValue::Array(b)) => {
                    if (a.dtype(), a.layout()) != (b.dtype(), b.layout()) {
                        return Err(unequal(name, forms.len()));
                    }
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
                (HostValue::Scalar(s), HostValue::Scalar(after)) if s == after => forms.push(Form::Scalar {
                    dtype: s.dtype,
                    bits: s.bits,
                }),
                _ => return Err(unequal(name, forms.len())),
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
                        let i = list.len();
                        let mut array = Array::filled(dtype, layout.clone(), 0).ok_or_else(|| {
                            Error::file(
                                &ptx.with_extension("json"),
                                format_args!("argument {i} takes more memory than there is; write the case again"),
                            )
                        })?;
                        let wanted = array.bytes().len();
                        let (own, others) = rest.split_at_checked(wanted).ok_or_else(|| {
                            Error::file(
                                &path,
                                format_args!(
                                    "ends within argument {i}: expected {wanted} bytes of it, found {}; write the case again",
                                    rest.len()
                                ),
                            )
                        })?;
                        array.bytes_mut().copy_from_slice(own);
                        rest = others;
                        list.push(HostValue::Array(array));
                    }
                }
            }
        }
        if !rest.is_empty() {
            return Err(Error::file(
                &path,
                format_args!("has {} bytes after its last argument; write the case again", rest.len()),
            ));
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

fn unequal(name: &str, argument: usize) -> Error {
    Error::Usage(format!(
        "{name}: argument {argument} has another type, layout or number after the launch than before it; a launch changes \
         only what arrays hold"
    ))
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

#[cfg(test)]
mod tests {
    use super::*;
    use girih_core::manifest::{Arg, Expr, Kernel, Manifest, Param, SCHEMA};

    const PTX: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a) { ret; }\n";

    fn array(elements: u64) -> HostValue {
        let layout = Layout::new(&[elements], &[1], 0).unwrap();
        HostValue::Array(Array::filled(DType::I32, layout, 7).unwrap())
    }

    fn case(before: Vec<HostValue>, after: Vec<HostValue>) -> Case {
        let args = vec![Arg::Memref {
            name: "a".to_owned(),
            dtype: DType::I32,
            shape: vec![None],
            strides: vec![None],
            align: 4,
        }];
        let kernel = Kernel {
            name: "k".to_owned(),
            args,
            params: vec![Param::Pointer { arg: 0 }],
            tensor_maps: vec![],
            grid: [1; 3].map(Expr::Const),
            block: [32, 1, 1],
            cluster: [1; 3],
            dynamic_shared_bytes: 0,
            facts: vec![],
        };
        let manifest = Manifest {
            schema: SCHEMA,
            girih: "0".to_owned(),
            target: "sm_90a".to_owned(),
            kernels: vec![kernel],
        };
        let ptx = manifest.to_ptx_comment() + PTX;
        Case {
            program: Program::new(ptx, manifest).unwrap(),
            before,
            after,
        }
    }

    #[test]
    fn files_have_the_bytes_of_the_arguments_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, ptx) = (folder.path(), folder.path().join("c.ptx"));
        case(vec![array(4)], vec![array(4)]).write(dir, "c").unwrap();
        assert_eq!(Case::read(&ptx).unwrap().after.len(), 1);
        let said = || Case::read(&ptx).err().expect("the files are wrong").to_string();
        let bytes = fs::read(dir.join("c.bin")).unwrap();
        fs::write(dir.join("c.bin"), &bytes[1..]).unwrap();
        assert!(
            said().contains("c.bin: ends within argument 0: expected 16 bytes of it, found 15"),
            "{}",
            said()
        );
        fs::write(dir.join("c.bin"), [&bytes[..], b"x"].concat()).unwrap();
        assert!(
            said().contains("c.bin: has 1 bytes after its last argument"),
            "{}",
            said()
        );
        let json = fs::read_to_string(dir.join("c.json")).unwrap();
        let large = json.replacen('4', "1000000000000000000", 1);
        fs::write(dir.join("c.json"), large).unwrap();
        assert!(
            said().contains("c.json: argument 0 takes more memory than there is"),
            "{}",
            said()
        );
    }

    #[test]
    fn arguments_are_the_same_before_and_after() {
        let folder = tempfile::tempdir().unwrap();
        let said = |before, after| {
            let written = case(before, after).write(folder.path(), "c");
            written.expect_err("they differ").to_string()
        };
        let number = |bits| {
            HostValue::Scalar(Scalar {
                dtype: DType::I32,
                bits,
            })
        };
        let fewer = said(vec![array(4), number(1)], vec![array(4)]);
        assert!(
            fewer.starts_with("c: 2 arguments before the launch and 1 after it"),
            "{fewer}"
        );
        for (before, after) in [(array(4), array(5)), (number(1), number(2)), (array(4), number(1))] {
            let text = said(vec![before], vec![after]);
            assert!(text.starts_with("c: argument 0 has another type"), "{text}");
        }
    }
}
