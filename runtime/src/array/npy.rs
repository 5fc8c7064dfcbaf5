//! `.npy` files (NumPy format 1.0 to 3.0).
//!
//! NumPy has no bf16, e4m3 and e5m2. The `ml_dtypes` package saves them as opaque bytes (`<V2`, `|V1`), but e5m2 as a float of
//! one byte (`<f1`); others save the unsigned integers that hold the bits. All are read as the type that the caller wants, and
//! opaque bytes are written.
use super::{Array, Layout};
use crate::error::{Error, Result};
use girih_core::dtype::DType;
use npyz::{TypeChar, TypeStr, WriterBuilder};
use py_literal::Value;
use std::{
    fs::File,
    io::{BufReader, BufWriter, Read, Write},
    path::Path,
};

/// NumPy itself refuses longer headers; ours hold one type name and at most a few dozen sizes.
const MAX_HEADER_BYTES: usize = 10_000;

/// How the element type of a file is understood. No file is ever converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// The file must have this type; bits without a NumPy type are taken for it.
    Exactly(DType),
    /// Any type is fine; bits without a NumPy type are taken for this one.
    AnyOr(DType),
    /// Any type that NumPy has.
    Any,
}

/// Reads an array; `file_type` decides what its bits mean (bf16, e4m3, e5m2, tf32). The result is row-major.
pub fn read_npy(path: &Path, file_type: FileType) -> Result<Array> {
    let file = File::open(path).map_err(|e| Error::file(path, format_args!("cannot be opened: {e}")))?;
    let mut reader = BufReader::new(file);
    let header = read_header(&mut reader).map_err(|e| Error::file(path, e))?;
    let dtype = match header.is_e5m2 {
        true => e5m2(file_type),
        false => resolve(&header.descr, file_type),
    };
    let dtype = dtype.map_err(|message| Error::file(path, message))?;
    let too_large = || Error::file(path, format_args!("shape {:?} does not fit in memory", header.shape));
    let mut file_shape = header.shape.clone();
    if header.fortran_order {
        file_shape.reverse();
    }
    let layout = Layout::row_major(&file_shape).ok_or_else(too_large)?;
    let expected = layout.span_bytes(dtype).filter(|_| !layout.is_empty()).unwrap_or(0);
    let mut bytes = Vec::new();
    reader
        .take(expected.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|e| Error::file(path, format_args!("cannot be read: {e}")))?;
    if bytes.len() as u64 != expected {
        let relation = if (bytes.len() as u64) < expected {
            "only"
        } else {
            "more than"
        };
        let found = (bytes.len() as u64).min(expected);
        return Err(Error::file(
            path,
            format_args!(
                "shape {:?} of {dtype} takes {expected} bytes after the header, but the file has {relation} {found}",
                header.shape
            ),
        ));
    }
    let size = dtype.bytes() as usize;
    if header.descr.endianness() == npyz::Endianness::Big && size > 1 {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    let mut array = Array { dtype, layout, bytes };
    if header.fortran_order {
        array = transpose(&array).ok_or_else(too_large)?;
    }
    Ok(array)
}

/// Writes an array in row-major order, whatever its layout, so that the file appears whole or not at all. A link stays a
/// link; pipes and devices are written into.
pub fn write_npy(path: &Path, array: &Array) -> Result<()> {
    let fail = |e: std::io::Error| {
        // Of a temporary file only the cause is told: nobody knows its name.
        let text = e.to_string();
        let words = text.split(" at path ").next().unwrap_or(&text);
        let words = words.split(" (os error").next().unwrap_or(words);
        Error::file(path, format_args!("cannot be written: {words}"))
    };
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if std::fs::metadata(&target).is_ok_and(|found| !found.is_file()) {
        let device = File::options().write(true).open(&target).map_err(fail)?;
        return write(device, array).map_err(fail);
    }
    let directory = target
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".girih-")
        .tempfile_in(directory)
        .map_err(fail)?;
    write(file.as_file_mut(), array).map_err(fail)?;
    set_default_permissions(file.as_file()).map_err(fail)?;
    file.persist(&target).map_err(|e| fail(e.error))?;
    Ok(())
}

fn write(to: impl Write, array: &Array) -> std::io::Result<()> {
    let descr: TypeStr = descr_of(array.dtype()).parse().map_err(std::io::Error::other)?;
    let mut buffered = BufWriter::new(to);
    let mut writer = npyz::WriteOptions::new()
        .dtype(npyz::DType::new_scalar(descr))
        .shape(array.shape())
        .writer(&mut buffered)
        .begin_nd()?;
    let mut result = Ok(());
    array.for_each(|_, bytes| {
        if result.is_ok() {
            result = writer.push(&Element::from(bytes));
        }
    });
    result.and_then(|()| writer.finish())?;
    buffered.flush()
}

/// Temporary files are private to their owner; a result is an ordinary file.
#[cfg(unix)]
fn set_default_permissions(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_default_permissions(_: &File) -> std::io::Result<()> {
    Ok(())
}

/// What the header says.
struct Header {
    descr: TypeStr,
    /// Whether the type is a float of one byte, of which NumPy itself has none.
    is_e5m2: bool,
    fortran_order: bool,
    shape: Vec<u64>,
}

fn read_header(reader: &mut impl Read) -> std::result::Result<Header, String> {
    let truncated = |_| "is not an .npy file: it ends inside the header".to_owned();
    let mut head = [0; 8];
    reader.read_exact(&mut head).map_err(truncated)?;
    if head[..6] != *b"\x93NUMPY" {
        return Err("is not an .npy file: it does not begin with \\x93NUMPY".to_owned());
    }
    let length_bytes = if head[6] == 1 { 2 } else { 4 };
    let mut length = [0; 4];
    reader.read_exact(&mut length[..length_bytes]).map_err(truncated)?;
    let text_bytes = u32::from_le_bytes(length) as usize;
    if text_bytes > MAX_HEADER_BYTES {
        return Err(format!(
            "has a header of {text_bytes} bytes, but at most {MAX_HEADER_BYTES} are accepted"
        ));
    }
    let mut text = vec![0; text_bytes];
    reader.read_exact(&mut text).map_err(truncated)?;
    // The expression parser recurses; a header for numbers nests two deep.
    if text.iter().filter(|c| b"([{".contains(c)).count() > 16 {
        return Err("is not an .npy file of plain numbers: its header is nested too deeply".to_owned());
    }
    let text = String::from_utf8(text).map_err(|_| "has a header that is not UTF-8".to_owned())?;
    let value: Value = text
        .trim_end()
        .parse()
        .map_err(|e| format!("has an unreadable header: {e}"))?;
    parse_header(&value).ok_or_else(|| {
        format!(
            "has the header `{}`, but descr (a plain number), fortran_order and shape are needed",
            text.trim_end()
        )
    })
}

fn parse_header(value: &Value) -> Option<Header> {
    let entries = value.as_dict()?;
    let field = |name: &str| {
        entries
            .iter()
            .find(|(key, _)| key.as_string().is_some_and(|key| key == name))
    };
    let shape = field("shape")?.1.as_tuple()?;
    let descr = field("descr")?.1.as_string()?;
    let is_e5m2 = ["<f1", "|f1", ">f1"].contains(&descr.as_str());
    Some(Header {
        descr: if is_e5m2 { "|V1" } else { descr }.parse().ok()?,
        is_e5m2,
        fortran_order: field("fortran_order")?.1.as_boolean()?,
        shape: shape
            .iter()
            .map(|size| u64::try_from(size.as_integer()?).ok())
            .collect::<Option<_>>()?,
    })
}

/// The element type of a file of floats of one byte.
fn e5m2(file_type: FileType) -> std::result::Result<DType, String> {
    match file_type {
        FileType::Exactly(want) if want != DType::E5m2 => Err(format!(
            "has elements `<f1`, which is e5m2, but {want} is expected; convert the file"
        )),
        _ => Ok(DType::E5m2),
    }
}

/// The element type that a file's type means to the caller.
fn resolve(descr: &TypeStr, file_type: FileType) -> std::result::Result<DType, String> {
    match file_type {
        FileType::Exactly(dtype) => resolve_strictly(descr, Some(dtype)),
        FileType::Any => resolve_strictly(descr, None),
        FileType::AnyOr(dtype) => resolve_strictly(descr, Some(dtype)).or_else(|_| resolve_strictly(descr, None)),
    }
}

fn resolve_strictly(descr: &TypeStr, want: Option<DType>) -> std::result::Result<DType, String> {
    let own = match (descr.type_char(), descr.size_field()) {
        (TypeChar::Bool, 1) => Some(DType::I1),
        (TypeChar::Int | TypeChar::Uint, 1) => Some(DType::I8),
        (TypeChar::Int | TypeChar::Uint, 2) => Some(DType::I16),
        (TypeChar::Int | TypeChar::Uint, 4) => Some(DType::I32),
        (TypeChar::Int | TypeChar::Uint, 8) => Some(DType::I64),
        (TypeChar::Float, 2) => Some(DType::F16),
        (TypeChar::Float, 4) => Some(DType::F32),
        (TypeChar::Float, 8) => Some(DType::F64),
        (TypeChar::RawData, 1 | 2) => None,
        _ => return Err(format!("has element type `{descr}`, which no argument can have")),
    };
    let bits_only = match descr.type_char() {
        TypeChar::RawData | TypeChar::Uint => descr.size_field(),
        _ => 0,
    };
    match (own, want) {
        (Some(own), None) => Ok(own),
        (Some(own), Some(want)) if own == want => Ok(own),
        (Some(DType::F32), Some(DType::Tf32)) => Ok(DType::Tf32),
        (_, Some(want @ (DType::Bf16 | DType::E4m3 | DType::E5m2))) if bits_only == want.bytes() => Ok(want),
        (None, None) => Err(format!("has raw elements `{descr}`, so the element type must be given")),
        (_, Some(want)) => Err(format!(
            "has elements `{descr}`, but {want} is expected; convert the file (bf16, e4m3 and e5m2 are stored as \
             ml_dtypes does, or as the unsigned integers of their bits)"
        )),
    }
}

fn descr_of(dtype: DType) -> &'static str {
    match dtype {
        DType::I1 => "|b1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::F16 => "<f2",
        DType::Bf16 => "<V2",
        DType::F32 | DType::Tf32 => "<f4",
        DType::F64 => "<f8",
        DType::E4m3 | DType::E5m2 => "|V1",
    }
}

/// One element as the little-endian bytes that it already is: the first `length` of `bytes`.
struct Element {
    bytes: [u8; 8],
    length: usize,
}

impl From<&[u8]> for Element {
    fn from(source: &[u8]) -> Self {
        let mut bytes = [0; 8];
        bytes[..source.len()].copy_from_slice(source);
        Element {
            bytes,
            length: source.len(),
        }
    }
}

/// Writes [`Element`]s under any type string.
struct ElementWriter;

impl npyz::Serialize for Element {
    type TypeWriter = ElementWriter;
    fn writer(_: &npyz::DType) -> std::result::Result<ElementWriter, npyz::DTypeError> {
        Ok(ElementWriter)
    }
}

impl npyz::TypeWrite for ElementWriter {
    type Value = Element;
    fn write_one<W: Write>(&self, mut writer: W, value: &Element) -> std::io::Result<()> {
        writer.write_all(&value.bytes[..value.length])
    }
}

/// The array with its dimensions reversed, row-major again.
fn transpose(array: &Array) -> Option<Array> {
    let reversed = |values: &[u64]| values.iter().rev().copied().collect::<Vec<_>>();
    let view = Array {
        dtype: array.dtype,
        layout: Layout::new(&reversed(array.shape()), &reversed(array.layout.strides()), 0).ok()?,
        bytes: array.bytes.clone(),
    };
    let layout = Layout::row_major(view.shape())?;
    view.with_layout(layout, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn npy(dict: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(dict.len() as u16).to_le_bytes());
        bytes.extend_from_slice(dict.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn message(bytes: &[u8], want: FileType) -> String {
        let file = file(bytes);
        let text = read_npy(file.path(), want).unwrap_err().to_string();
        text.strip_prefix(&format!("{}: ", file.path().display()))
            .unwrap()
            .to_owned()
    }

    #[test]
    fn every_type_survives_a_round_trip_from_a_padded_layout() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.npy");
        for dtype in DType::ALL {
            let dense = Array::from_f64(dtype, &[2, 3], &[0., 1., 0., 1., 1., 0.]).unwrap();
            let padded = dense
                .with_layout(Layout::new(&[2, 3], &[1, 5], 8).unwrap(), 0xff)
                .unwrap();
            write_npy(&path, &padded).unwrap();
            assert_eq!(read_npy(&path, FileType::Exactly(dtype)).unwrap(), dense, "{dtype}");
        }
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            1,
            "temporary files remain"
        );
    }

    #[test]
    fn opaque_bytes_and_unsigned_bits_are_read_as_the_wanted_type() {
        let bits = [0x80, 0x3f, 0x00, 0x40];
        for descr in ["<V2", "|V2", "<u2"] {
            let bytes = npy(
                &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}\n"),
                &bits,
            );
            let array = read_npy(file(&bytes).path(), FileType::Exactly(DType::Bf16)).unwrap();
            assert_eq!(array.to_f64(), [1.0, 2.0], "{descr}");
        }
        // What ml_dtypes calls e5m2.
        let bytes = npy(
            "{'descr': '<f1', 'fortran_order': False, 'shape': (2,), }\n",
            &[0x3c, 0x40],
        );
        for want in [FileType::Exactly(DType::E5m2), FileType::Any] {
            assert_eq!(read_npy(file(&bytes).path(), want).unwrap().to_f64(), [1.0, 2.0]);
        }
        assert!(
            message(&bytes, FileType::Exactly(DType::E4m3)).starts_with("has elements `<f1`, which is e5m2, but e4m3")
        );
        let bytes = npy("{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }\n", &bits);
        assert_eq!(
            message(&bytes, FileType::Any),
            "has raw elements `<V2`, so the element type must be given"
        );
    }

    #[test]
    fn fortran_order_and_big_endian_files_are_turned() {
        let dict = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let bytes = npy(dict, &[0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6]);
        let array = read_npy(file(&bytes).path(), FileType::Any).unwrap();
        assert_eq!(
            (array.shape(), array.to_f64()),
            (&[2, 3][..], vec![1., 2., 3., 4., 5., 6.])
        );
    }

    #[test]
    fn broken_files_are_named_with_what_is_wrong() {
        let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
        assert_eq!(
            message(b"PK\x03\x04abcdefgh", FileType::Any),
            "is not an .npy file: it does not begin with \\x93NUMPY"
        );
        assert_eq!(
            message(b"\x93NUM", FileType::Any),
            "is not an .npy file: it ends inside the header"
        );
        assert_eq!(
            message(&npy(dict, &[0; 20]), FileType::Any),
            "shape [2, 3] of f32 takes 24 bytes after the header, but the file has only 20"
        );
        assert_eq!(
            message(&npy(dict, &[0; 25]), FileType::Any),
            "shape [2, 3] of f32 takes 24 bytes after the header, but the file has more than 24"
        );
        assert!(
            message(&npy(dict, &[0; 24]), FileType::Exactly(DType::Bf16))
                .starts_with("has elements `<f4`, but bf16 is expected")
        );
        let huge = dict.replace("(2, 3)", "(4294967296, 4294967296, 4294967296)");
        assert!(message(&npy(&huge, &[]), FileType::Any).contains("does not fit in memory"));
        let deep = format!("{{'descr': {}", "(".repeat(5000));
        assert!(message(&npy(&deep, &[]), FileType::Any).contains("nested too deeply"));
        assert!(message(&npy(&dict.replace("'<f4'", "[('a', '<f4')]"), &[]), FileType::Any).contains("a plain number"));
        assert!(
            message(&npy(&dict.replace("<f4", "<c8"), &[]), FileType::Any)
                .contains("`<c8`, which no argument can have")
        );
        let missing = read_npy(Path::new("/nonexistent/x.npy"), FileType::Any)
            .unwrap_err()
            .to_string();
        assert!(missing.starts_with("/nonexistent/x.npy: cannot be opened"), "{missing}");
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_devices_stay_devices() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let array = Array::from_f64(DType::F32, &[2], &[1.0, 2.0]).unwrap();
        let (file, link) = (folder.path().join("file.npy"), folder.path().join("link.npy"));
        std::fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        write_npy(&link, &array).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read_npy(&file, FileType::Any).unwrap(), array);

        let device = folder.path().join("device.npy");
        symlink("/dev/null", &device).unwrap();
        write_npy(&device, &array).unwrap();
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let error = write_npy(folder.path(), &array).unwrap_err().to_string();
        assert!(error.contains("cannot be written: Is a directory"), "{error}");
    }
}
