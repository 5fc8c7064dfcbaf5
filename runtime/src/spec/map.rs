//! Fields of a tensor map argument that a SPEC gives by themselves, as JSON in braces after the array.
use super::SpecError;
use crate::{
    error::{Error, Result},
    file::read_at_most,
};
use girih_core::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap};
use serde::Deserialize;
use std::path::PathBuf;

/// Longest file of fields; they take less than one kilobyte.
const MOST_BYTES: u64 = 1 << 20;

/// Fields of a tensor map; what is left out is as the kernel's argument and the array say. Lists are innermost first, as the
/// launch manifest has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapFields {
    /// Bytes from the array's first element to the tensor's.
    pub offset: Option<u64>,
    /// Element format.
    pub format: Option<Format>,
    /// Elements in each dimension.
    pub dims: Option<Vec<u64>>,
    /// Bytes from one position to the next in dimensions 1 and up.
    pub strides: Option<Vec<u64>>,
    /// `{"tiled": {"box_dims": [...]}}`, or `im2col` or `im2col_wide` with their corners.
    pub mode: Option<Mode>,
    /// Traversal strides.
    pub element_strides: Option<Vec<u32>>,
    /// Interleaved layout.
    pub interleave: Option<Interleave>,
    /// Swizzle.
    pub swizzle: Option<Swizzle>,
    /// Out-of-bounds fill.
    pub fill: Option<Fill>,
    /// L2 promotion.
    pub l2_promotion: Option<L2Promotion>,
}

impl MapFields {
    /// Puts the fields into a map, of an array of which `bytes` follow the map's address. The error says that the tensor does
    /// not lie in the array.
    pub fn apply(&self, map: &mut TensorMap, bytes: u64) -> std::result::Result<(), String> {
        fn put<T: Clone>(to: &mut T, given: &Option<T>) {
            if let Some(given) = given {
                *to = given.clone();
            }
        }
        let offset = self.offset.unwrap_or(0);
        map.address = map.address.saturating_add(offset);
        put(&mut map.format, &self.format);
        put(&mut map.dims, &self.dims);
        put(&mut map.strides, &self.strides);
        put(&mut map.mode, &self.mode);
        put(&mut map.element_strides, &self.element_strides);
        put(&mut map.interleave, &self.interleave);
        put(&mut map.swizzle, &self.swizzle);
        put(&mut map.fill, &self.fill);
        put(&mut map.l2_promotion, &self.l2_promotion);
        // Where a list has a wrong length, the driver's rules say so.
        let outer = map.dims.iter().skip(1).zip(&map.strides);
        let last = outer.fold(offset, |at, (size, stride)| {
            at.saturating_add(size.saturating_sub(1).saturating_mul(*stride))
        });
        let row = match (map.interleave.slice_bytes(), map.dims.first()) {
            (Some(slice), Some(n)) => n.saturating_mul(slice),
            (None, Some(n)) => n.saturating_mul(map.format.global_bits()).div_ceil(8),
            (_, None) => 0,
        };
        let end = last.saturating_add(row);
        match end <= bytes {
            true => Ok(()),
            false => Err(format!(
                "the tensor ends at byte {end} of an array of {bytes}; make the array larger, or dims, strides and offset smaller"
            )),
        }
    }
}

/// Where fields come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MapSource {
    Inline(MapFields),
    File(PathBuf),
}

impl MapSource {
    /// Parts a SPEC from fields at its end: `array{...}`. In the braces stands JSON or the path of a file with JSON.
    pub(super) fn split(text: &str) -> std::result::Result<(&str, Option<MapSource>), SpecError> {
        let Some((array, inside)) = text.strip_suffix('}').and_then(|t| t.split_once('{')) else {
            return Ok((text, None));
        };
        let trimmed = inside.trim();
        if !trimmed.is_empty() && !trimmed.starts_with('"') {
            return Ok((array, Some(MapSource::File(trimmed.into()))));
        }
        let json = &text[array.len()..];
        match serde_json::from_str(json) {
            Ok(fields) => Ok((array, Some(MapSource::Inline(fields)))),
            Err(error) => {
                let before = json.split('\n').take(error.line().saturating_sub(1));
                let at = before.map(|line| line.chars().count() + 1).sum::<usize>() + error.column();
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default().to_owned();
                Err(SpecError {
                    text: text.to_owned(),
                    column: array.chars().count() + at.max(1),
                    message: format!("fields of a tensor map: {message}"),
                })
            }
        }
    }

    /// The fields.
    pub(super) fn fields(&self) -> Result<MapFields> {
        let path = match self {
            MapSource::Inline(fields) => return Ok(fields.clone()),
            MapSource::File(path) => path,
        };
        let text = read_at_most(path, MOST_BYTES, "a file of a tensor map's fields")
            .map_err(|error| Error::file(path, format_args!("cannot be read: {error}")))?;
        serde_json::from_slice(&text)
            .map_err(|error| Error::file(path, format_args!("fields of a tensor map: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_json_or_a_file() {
        let split = |text| MapSource::split(text).expect("it parses");
        assert_eq!(split("iota:f32[8]"), ("iota:f32[8]", None));
        let (array, source) = split(r#"iota:f32[8,40]{"fill": "nan", "dims": [40, 6]}"#);
        assert_eq!(array, "iota:f32[8,40]");
        let wanted = MapFields {
            fill: Some(Fill::Nan),
            dims: Some(vec![40, 6]),
            ..MapFields::default()
        };
        assert_eq!(source, Some(MapSource::Inline(wanted)));
        assert_eq!(
            split("x.npy{a/map.json}"),
            ("x.npy", Some(MapSource::File("a/map.json".into())))
        );
    }

    #[test]
    fn a_file_is_read_as_far_as_fields_can_reach() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map.json");
        let said = |path: &std::path::Path| {
            let error = MapSource::File(path.to_owned()).fields().expect_err("no fields");
            assert!(!error.is_usage(), "{error}");
            error.to_string()
        };
        assert!(said(&path).contains("map.json: cannot be read: No such file"));
        #[cfg(unix)]
        assert!(
            said("/dev/zero".as_ref())
                .contains("a file of a tensor map's fields has at most 1 MiB, and this does not end there")
        );
        std::fs::write(&path, r#"{"fil": "nan"}"#).unwrap();
        assert!(said(&path).contains("map.json: fields of a tensor map: unknown field `fil`"));
        std::fs::write(&path, r#"{"fill": "nan"}"#).unwrap();
        let fields = MapSource::File(path).fields().expect("fields");
        assert_eq!(fields.fill, Some(Fill::Nan));
    }

    #[test]
    fn errors_point_into_the_json() {
        let said = MapSource::split(r#"iota:f32[8]{"fil": "nan"}"#).expect_err("no such field");
        assert_eq!(said.column, 17, "{said}");
        assert!(
            said.message
                .starts_with("fields of a tensor map: unknown field `fil`, expected one of `offset`")
        );
    }

    #[test]
    fn a_tensor_must_lie_in_its_array() {
        let mut map = TensorMap {
            format: Format::F32,
            address: 0,
            dims: vec![40, 8],
            strides: vec![160],
            mode: Mode::Tiled { box_dims: vec![4, 4] },
            element_strides: vec![1, 1],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            fill: Fill::Zero,
            l2_promotion: L2Promotion::None,
        };
        let fields = |offset| MapFields {
            offset: Some(offset),
            ..MapFields::default()
        };
        assert_eq!(fields(0).apply(&mut map.clone(), 1280), Ok(()));
        let said = fields(16).apply(&mut map, 1280).expect_err("16 bytes too far");
        assert!(
            said.starts_with("the tensor ends at byte 1296 of an array of 1280"),
            "{said}"
        );
        assert_eq!(map.address, 16);
    }
}
