//! Replays recorded kernel launches: bundles of PTX text, a launch recipe, and every buffer before and after, as a GPU
//! left them. The bundles stay outside the project; a folder of them is an argument.
//!
//! A bundle is a `.tar.gz` of `meta.json`, `kernel.ptx`, `in_K.bin` and `out_K.bin`. A kernel matches when each buffer
//! agrees with the recorded bytes by the buffer's own rule, or when the launch ends in the recorded error; and when the
//! checks of a second launch find what is known of it, and nothing else.
use crate::Simulator;
use crate::check::Kind;
use crate::number::{BF16, E4M3, E5M2, F16, F32, F64, Format as Float};
use crate::texture::{AddressMode, Surface, Texture};
use girih_core::device::{Buffer, Device, DeviceError, Launch};
use girih_core::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How one bundle went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Name of the bundle.
    pub name: String,
    /// Nothing when it matched, else the first difference in words.
    pub difference: Option<String>,
    /// Warp instructions executed.
    pub instructions: u64,
    /// Seconds that the launch took on the host.
    pub seconds: f64,
}

/// What the checks find in recorded kernels, and why it is there. None of it shows on the hardware.
const KNOWN: [(&str, Kind, &str); 3] = [
    (
        "cu_atomics_all",
        Kind::Race,
        "loops of compare-and-swap begin with a plain read of the word that other threads update",
    ),
    (
        "cu_ldmatrix_mma",
        Kind::Race,
        "the second stmatrix overwrites what other lanes read just before, with no bar.warp.sync between",
    ),
    (
        "tri_wgmma_bf16_regA",
        Kind::InFlightRegister,
        "the loop writes the A registers of its last product while that is in flight; the assembler gives them other names",
    ),
];

/// All bundles of a folder.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In order of name.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// Bundles that matched.
    pub fn matched(&self) -> usize {
        self.outcomes.iter().filter(|o| o.difference.is_none()).count()
    }
    /// Whether all matched.
    pub fn complete(&self) -> bool {
        self.matched() == self.outcomes.len()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outcome in &self.outcomes {
            if let Some(difference) = &outcome.difference {
                writeln!(f, "{}: {difference}", outcome.name)?;
            }
        }
        let instructions: u64 = self.outcomes.iter().map(|o| o.instructions).sum();
        let seconds: f64 = self.outcomes.iter().map(|o| o.seconds).sum();
        writeln!(f, "{instructions} warp instructions in {seconds:.2} s")?;
        write!(f, "{} of {} match", self.matched(), self.outcomes.len())
    }
}

/// Why a bundle could not be replayed at all.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The file system.
    #[error("{path}: {source}")]
    Io {
        /// File or folder.
        path: PathBuf,
        /// Reason.
        source: std::io::Error,
    },
    /// `meta.json` is not what is expected.
    #[error("{path}: meta.json: {source}")]
    Meta {
        /// Bundle.
        path: PathBuf,
        /// Reason.
        source: serde_json::Error,
    },
    /// A file that the recipe names is missing.
    #[error("{path}: no {name} in the bundle")]
    Missing {
        /// Bundle.
        path: PathBuf,
        /// File.
        name: String,
    },
}

#[derive(Deserialize)]
struct Meta {
    name: String,
    entry: String,
    grid: [u32; 3],
    block: [u32; 3],
    cluster: [u32; 3],
    dynamic_shared_bytes: u32,
    #[serde(default)]
    cooperative: bool,
    params: Vec<Param>,
    buffers: Vec<BufferMeta>,
    #[serde(default)]
    expected_error: Option<String>,
}

#[derive(Deserialize)]
struct Param {
    ptx_type: Option<String>,
    buf: Option<usize>,
    i32: Option<i64>,
    u32: Option<u64>,
    i64: Option<i64>,
    u64: Option<u64>,
    u8: Option<u64>,
    f32: Option<f64>,
    f64: Option<f64>,
    bytes: Option<String>,
    #[serde(default)]
    null_ptr: bool,
    tensormap: Option<TensorMapMeta>,
    texture: Option<TextureMeta>,
    surface: Option<SurfaceMeta>,
}

#[derive(Deserialize)]
struct TensorMapMeta {
    mode: String,
    dtype: String,
    dims: Vec<u64>,
    strides_bytes: Vec<u64>,
    #[serde(default, rename = "box")]
    box_dims: Vec<u32>,
    element_strides: Vec<u32>,
    interleave: String,
    swizzle: String,
    oob: String,
    buf: usize,
    #[serde(default)]
    pixel_box_lower: Vec<i32>,
    #[serde(default)]
    pixel_box_upper: Vec<i32>,
    #[serde(default)]
    channels_per_pixel: u32,
    #[serde(default)]
    pixels_per_column: u32,
}

#[derive(Deserialize)]
struct TextureMeta {
    kind: String,
    channels: usize,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    width: u64,
    #[serde(default)]
    height: u64,
    #[serde(default)]
    pitch_bytes: u64,
    #[serde(default)]
    address_mode: Vec<String>,
    buf: usize,
}

#[derive(Deserialize)]
struct SurfaceMeta {
    #[serde(default)]
    width_bytes: u64,
    #[serde(default)]
    height: u64,
    buf: usize,
}

#[derive(Deserialize)]
struct BufferMeta {
    name: String,
    dtype: String,
    #[serde(rename = "in")]
    input: String,
    #[serde(rename = "out")]
    output: Option<String>,
    compare: Rule,
}

#[derive(Clone, Deserialize)]
struct Rule {
    mode: String,
    #[serde(default)]
    rtol: f64,
    #[serde(default)]
    atol: f64,
    #[serde(default)]
    sections: Vec<Section>,
}

#[derive(Clone, Deserialize)]
struct Section {
    bytes: [usize; 2],
    dtype: String,
    #[serde(flatten)]
    rule: SectionRule,
}

#[derive(Clone, Deserialize)]
struct SectionRule {
    mode: String,
    #[serde(default)]
    rtol: f64,
    #[serde(default)]
    atol: f64,
}

/// Replays every bundle of a folder whose name contains `filter`.
pub fn run(folder: &Path, filter: &str) -> Result<Report, CorpusError> {
    let io = |source| CorpusError::Io {
        path: folder.to_owned(),
        source,
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        if name.ends_with(".tar.gz") && name.contains(filter) {
            paths.push(path);
        }
    }
    paths.sort();
    let outcomes = paths.iter().map(|path| replay(path)).collect::<Result<_, _>>()?;
    Ok(Report { outcomes })
}

/// Replays one bundle.
pub fn replay(path: &Path) -> Result<Outcome, CorpusError> {
    let files = unpack(path)?;
    let file = |name: &str| {
        files.get(name).ok_or_else(|| CorpusError::Missing {
            path: path.to_owned(),
            name: name.to_owned(),
        })
    };
    let meta: Meta = serde_json::from_slice(file("meta.json")?).map_err(|source| CorpusError::Meta {
        path: path.to_owned(),
        source,
    })?;
    let ptx = String::from_utf8_lossy(file("kernel.ptx")?);
    let inputs = meta
        .buffers
        .iter()
        .map(|b| file(&b.input))
        .collect::<Result<Vec<_>, _>>()?;
    let mut simulator = Simulator::new();
    let started = std::time::Instant::now();
    let result = launch(&mut simulator, &meta, &ptx, &inputs);
    let seconds = started.elapsed().as_secs_f64();
    let difference = match (result, &meta.expected_error) {
        (Err(error), Some(expected)) if error.code.as_ref() == Some(expected) => None,
        (Err(error), Some(expected)) => Some(format!("expected {expected}, found: {error}")),
        (Err(error), None) => Some(error.to_string()),
        (Ok(_), Some(expected)) => Some(format!("expected {expected}, but the launch succeeded")),
        (Ok(buffers), None) => {
            let mut difference = None;
            for (buffer, meta) in buffers.iter().zip(&meta.buffers) {
                let Some(output) = &meta.output else { continue };
                let want = file(output)?;
                let mut got = vec![0; want.len()];
                let read = simulator.read(*buffer, 0, &mut got);
                difference = match read {
                    Err(error) => Some(error.to_string()),
                    Ok(()) => compare(want, &got, meta),
                };
                if difference.is_some() {
                    break;
                }
            }
            difference
        }
    };
    let mut checked = Simulator::new();
    checked.hide_output();
    checked.set_checks(true);
    // How the launch ends was held against the record above.
    let _ = launch(&mut checked, &meta, &ptx, &inputs);
    let difference = difference.or_else(|| unexpected(&meta, &mut checked));
    Ok(Outcome {
        name: meta.name,
        difference,
        instructions: simulator.executed_instructions(),
        seconds,
    })
}

/// A finding that is not known, or one that is known and missing.
fn unexpected(meta: &Meta, simulator: &mut Simulator) -> Option<String> {
    let mut findings = simulator.take_findings();
    if meta.expected_error.is_some() {
        // The fault itself.
        findings.retain(|finding| finding.places.len() != 1);
    }
    let known: Vec<Kind> = KNOWN.iter().filter(|k| k.0 == meta.name).map(|k| k.1).collect();
    let missing = known.iter().find(|kind| findings.iter().all(|f| f.kind != **kind));
    if let Some(kind) = missing {
        return Some(format!("the checks no longer find a {kind}"));
    }
    let new = findings.into_iter().find(|finding| !known.contains(&finding.kind))?;
    Some(format!("checks: {}: {}", new.kind, new.message))
}

fn unpack(path: &Path) -> Result<BTreeMap<String, Vec<u8>>, CorpusError> {
    let io = |source| CorpusError::Io {
        path: path.to_owned(),
        source,
    };
    let file = std::fs::File::open(path).map_err(io)?;
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut files = BTreeMap::new();
    for entry in archive.entries().map_err(io)? {
        let mut entry = entry.map_err(io)?;
        let name = entry.path().map_err(io)?.to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(io)?;
        files.insert(name, bytes);
    }
    Ok(files)
}

fn launch(simulator: &mut Simulator, meta: &Meta, ptx: &str, inputs: &[&Vec<u8>]) -> Result<Vec<Buffer>, DeviceError> {
    let mut buffers = Vec::new();
    for input in inputs {
        let buffer = simulator.allocate(input.len())?;
        simulator.write(buffer, 0, input)?;
        buffers.push(buffer);
    }
    let module = simulator.load(ptx)?;
    let params = meta
        .params
        .iter()
        .map(|p| param(simulator, p, &buffers))
        .collect::<Result<Vec<_>, _>>()?;
    let launch = Launch {
        kernel: &meta.entry,
        grid: meta.grid,
        block: meta.block,
        cluster: meta.cluster,
        dynamic_shared_bytes: meta.dynamic_shared_bytes,
        cooperative: meta.cooperative,
        params: &params,
    };
    simulator.launch(module, &launch)?;
    simulator.synchronize()?;
    Ok(buffers)
}

fn param(simulator: &mut Simulator, param: &Param, buffers: &[Buffer]) -> Result<Vec<u8>, DeviceError> {
    let at = |index: usize| {
        buffers
            .get(index)
            .copied()
            .ok_or_else(|| DeviceError::new(format!("the recipe names buffer {index} of {}", buffers.len())))
    };
    let bytes = match param.ptx_type.as_deref() {
        Some("u8" | "s8" | "b8") => 1,
        Some("u16" | "s16" | "b16" | "f16") => 2,
        Some("u64" | "s64" | "b64" | "f64") => 8,
        _ => 4,
    };
    let integer = param
        .i32
        .or(param.i64)
        .map(|v| v as u64)
        .or(param.u32)
        .or(param.u64)
        .or(param.u8);
    if let Some(value) = integer {
        return Ok(value.to_le_bytes()[..bytes].to_vec());
    }
    if let Some(index) = param.buf {
        return Ok(at(index)?.address.to_le_bytes().to_vec());
    }
    if let Some(value) = param.f32 {
        return Ok((value as f32).to_le_bytes().to_vec());
    }
    if let Some(value) = param.f64 {
        return Ok(value.to_le_bytes().to_vec());
    }
    if param.null_ptr {
        return Ok(vec![0; 8]);
    }
    if let Some(hex) = &param.bytes {
        let digit = |i: usize| hex.get(2 * i..2 * i + 2).and_then(|h| u8::from_str_radix(h, 16).ok());
        return (0..hex.len() / 2)
            .map(digit)
            .collect::<Option<_>>()
            .ok_or_else(|| DeviceError::new("bad hex in the recipe"));
    }
    if let Some(map) = &param.tensormap {
        let map = tensor_map(map, at(map.buf)?.address)
            .ok_or_else(|| DeviceError::new("a tensor map of the recipe is unknown"))?;
        return Ok(simulator.encode_tensor_map(&map)?.to_vec());
    }
    if let Some(texture) = &param.texture {
        let mode = |axis: usize| match texture.address_mode.get(axis).map(String::as_str) {
            Some("clamp") => AddressMode::Clamp,
            _ => AddressMode::Border,
        };
        let element = 4 * texture.channels as u64;
        let linear = texture.kind == "linear";
        let handle = simulator.create_texture(Texture {
            address: at(texture.buf)?.address,
            width: if linear {
                texture.bytes / element.max(1)
            } else {
                texture.width
            },
            height: if linear { 1 } else { texture.height },
            pitch_bytes: texture.pitch_bytes,
            channels: texture.channels,
            address_mode: [mode(0), mode(1)],
        });
        return Ok(handle.to_le_bytes().to_vec());
    }
    if let Some(surface) = &param.surface {
        let (address, width_bytes, height) = (at(surface.buf)?.address, surface.width_bytes, surface.height);
        let handle = simulator.create_surface(Surface {
            address,
            width_bytes,
            height,
        });
        return Ok(handle.to_le_bytes().to_vec());
    }
    Err(DeviceError::new("a parameter of the recipe has no value"))
}

fn tensor_map(meta: &TensorMapMeta, address: u64) -> Option<TensorMap> {
    let format = match meta.dtype.as_str() {
        "u8" | "i8" | "f8e4m3" | "f8e5m2" => Format::U8,
        "u16" | "i16" => Format::U16,
        "u32" => Format::U32,
        "i32" => Format::S32,
        "u64" => Format::U64,
        "i64" => Format::S64,
        "f16" => Format::F16,
        "f32" => Format::F32,
        "f64" => Format::F64,
        "bf16" => Format::Bf16,
        "tf32" => Format::Tf32,
        _ => return None,
    };
    Some(TensorMap {
        format,
        address,
        dims: meta.dims.clone(),
        strides: meta.strides_bytes.clone(),
        mode: match meta.mode.as_str() {
            "tiled" => Mode::Tiled {
                box_dims: meta.box_dims.clone(),
            },
            "im2col" => Mode::Im2col {
                lower: meta.pixel_box_lower.clone(),
                upper: meta.pixel_box_upper.clone(),
                channels_per_pixel: meta.channels_per_pixel,
                pixels_per_column: meta.pixels_per_column,
            },
            _ => return None,
        },
        element_strides: meta.element_strides.clone(),
        interleave: match meta.interleave.as_str() {
            "none" => Interleave::None,
            "16B" => Interleave::B16,
            "32B" => Interleave::B32,
            _ => return None,
        },
        swizzle: match meta.swizzle.as_str() {
            "none" => Swizzle::None,
            "32B" => Swizzle::B32,
            "64B" => Swizzle::B64,
            "128B" => Swizzle::B128,
            _ => return None,
        },
        fill: if meta.oob == "nan" { Fill::Nan } else { Fill::Zero },
        l2_promotion: L2Promotion::None,
    })
}

fn compare(want: &[u8], got: &[u8], meta: &BufferMeta) -> Option<String> {
    let part = |want: &[u8], got: &[u8], dtype: &str, mode: &str, rtol: f64, atol: f64| match mode {
        "ignore" => None,
        "approx" => approximately(want, got, dtype, rtol, atol),
        _ => {
            let count = want.iter().zip(got).filter(|(w, g)| w != g).count();
            let first = want.iter().zip(got).position(|(w, g)| w != g)?;
            let size = element_bytes(dtype);
            let element = first / size;
            let show = |bytes: &[u8]| {
                let bytes = &bytes[element * size..(element + 1) * size];
                format!(
                    "{:#x} ({})",
                    bytes.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b)),
                    number(bytes, dtype)
                )
            };
            Some(format!(
                "{count} of {} bytes differ, first in element {element}: expected {}, found {}",
                want.len(),
                show(want),
                show(got)
            ))
        }
    };
    let rule = &meta.compare;
    let found = if rule.mode == "sections" {
        rule.sections.iter().find_map(|s| {
            let [from, to] = s.bytes;
            let (want, got) = (want.get(from..to)?, got.get(from..to)?);
            part(want, got, &s.dtype, &s.rule.mode, s.rule.rtol, s.rule.atol)
                .map(|d| format!("bytes {from}..{to}: {d}"))
        })
    } else {
        part(want, got, &meta.dtype, &rule.mode, rule.rtol, rule.atol)
    };
    found.map(|difference| format!("buffer `{}` ({}): {difference}", meta.name, meta.dtype))
}

fn element_bytes(dtype: &str) -> usize {
    match dtype {
        "f64" | "i64" | "u64" => 8,
        "f32" | "i32" | "u32" => 4,
        "f16" | "bf16" | "i16" | "u16" => 2,
        _ => 1,
    }
}

fn number(bytes: &[u8], dtype: &str) -> f64 {
    let bits = bytes.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
    let float = |format: Float| format.to_f64(bits);
    match dtype {
        "f64" => float(F64),
        "f32" => float(F32),
        "f16" => float(F16),
        "bf16" => float(BF16),
        "f8e4m3" => float(E4M3),
        "f8e5m2" => float(E5M2),
        "i64" => bits as i64 as f64,
        "i32" => f64::from(bits as i32),
        "i16" => f64::from(bits as i16),
        "i8" => f64::from(bits as i8),
        _ => bits as f64,
    }
}

fn approximately(want: &[u8], got: &[u8], dtype: &str, rtol: f64, atol: f64) -> Option<String> {
    let size = element_bytes(dtype);
    let values = |bytes: &[u8]| bytes.chunks_exact(size).map(|c| number(c, dtype)).collect::<Vec<_>>();
    let (want, got) = (values(want), values(got));
    let close = |(w, g): (&f64, &f64)| w == g || w.is_nan() && g.is_nan() || (w - g).abs() <= atol + rtol * w.abs();
    let off = want.iter().zip(&got).filter(|p| !close(*p)).count();
    let first = want.iter().zip(&got).position(|p| !close(p))?;
    Some(format!(
        "{off} of {} elements off, first [{first}]: expected {:e}, found {:e}",
        want.len(),
        want[first],
        got[first]
    ))
}
