//! Transfers of tensor maps, and the driver's answers to their encoding.
use super::pattern::Patterned;
use super::{bytes_difference, hex};
use crate::memory::{Bytes, Fault};
use crate::tma::flat::Flat;
use crate::tma::{self, LoadMode, ReduceOp, StoreMode};
use girih_core::tensor_map::{
    Candidate, Caps, Code, Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap, Violation,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What the simulator does differently from the transfer in `line`, or why `line` is none.
pub(super) fn difference(line: &str) -> Result<Option<String>, String> {
    let case: Case = serde_json::from_str(line).map_err(|error| error.to_string())?;
    Ok(case
        .replay()?
        .map(|difference| format!("{} {}: {difference}", case.kind, case.i)))
}

/// As [`difference`], for the probe that lists the driver's answers to boxes of many sizes.
pub(super) fn size_limit_difference(line: &str) -> Result<Option<String>, String> {
    let probe: SizeLimit = serde_json::from_str(line).map_err(|error| error.to_string())?;
    Ok(size_limit(&probe.accepted))
}

/// Bytes of boxes and the driver's answer to each.
#[derive(Deserialize)]
struct SizeLimit {
    accepted: Vec<(u64, u32)>,
}

/// One line of a record file; fields of other kinds are absent.
#[derive(Deserialize)]
struct Case {
    kind: String,
    #[serde(default)]
    i: u64,
    #[serde(rename = "type")]
    format: String,
    dim: Vec<u64>,
    /// A negative one stands for its two's complement.
    stride: Vec<i128>,
    #[serde(rename = "box")]
    box_dims: Option<Vec<u32>>,
    #[serde(default)]
    lower: Vec<i32>,
    #[serde(default)]
    upper: Vec<i32>,
    #[serde(default)]
    channels_per_pixel: u32,
    #[serde(default)]
    pixels_per_column: u32,
    element_stride: Vec<u32>,
    interleave: u32,
    swizzle: u32,
    l2: u32,
    oob: u32,
    addr_off: u64,
    encode: u32,
    coord: Option<Vec<i32>>,
    #[serde(default)]
    offset: Vec<u16>,
    #[serde(default)]
    smem_off: u64,
    op: Option<String>,
    fault: Option<String>,
    // What a load gave.
    smem: Option<String>,
    tx_bytes: Option<u64>,
    // What a store or reduction started from and changed.
    #[serde(default)]
    src_rotate: usize,
    smem_bytes: Option<usize>,
    changed: Option<Vec<(u64, usize)>>,
    bytes: Option<String>,
    // Probes say contents instead of using the pattern.
    global: Option<String>,
    before: Option<String>,
    shared: Option<String>,
    after: Option<String>,
}

/// Bytes of shared memory that one block of the recording GPU has.
const SHARED_BYTES: usize = 227 * 1024;
/// What memory held before a transfer wrote to it.
const UNTOUCHED: u8 = 0xee;

impl Case {
    /// `None` for a match, words for a difference, an error for a record that makes no sense.
    fn replay(&self) -> Result<Option<String>, String> {
        let candidate = self.candidate()?;
        let violations = candidate.violations(&Caps::SM_90);
        if let Some(difference) = encode_difference(self.encode, &violations) {
            return Ok(Some(difference));
        }
        let (Some(coords), 0) = (&self.coord, self.encode) else {
            return Ok(None);
        };
        let map = self.map(&candidate)?;
        let map = match tma::decode(&tma::encode(&map)) {
            Ok(decoded) if decoded == map => decoded,
            Ok(decoded) => return Ok(Some(format!("descriptor of {map:?} reads back as {decoded:?}"))),
            Err(fault) => return Ok(Some(format!("descriptor does not read back: {fault}"))),
        };
        // A probe's `op` says nothing about loads, which have no operation.
        let load = self.smem.is_some() || self.op.is_none() || self.kind.starts_with("load") || self.is_im2col_load();
        if load {
            self.replay_load(&map, coords)
        } else {
            self.replay_store(&map, coords)
        }
    }

    fn is_im2col_load(&self) -> bool {
        self.kind.starts_with("im2col")
    }

    fn candidate(&self) -> Result<Candidate, String> {
        let format = match self.format.as_str() {
            "u4_align8" => Format::B4x16,
            "u4_align16" => Format::B4x16P64,
            "u6_align16" => Format::B6x16P32,
            name => Format::ALL
                .into_iter()
                .find(|f| f.name() == name)
                .ok_or_else(|| format!("unknown element type `{name}`"))?,
        };
        let mode = match &self.box_dims {
            Some(box_dims) => Mode::Tiled {
                box_dims: box_dims.clone(),
            },
            None => Mode::Im2col {
                lower: self.lower.clone(),
                upper: self.upper.clone(),
                channels_per_pixel: self.channels_per_pixel,
                pixels_per_column: self.pixels_per_column,
            },
        };
        Ok(Candidate {
            format: Code::Known(format),
            address: Some(self.addr_off),
            dims: self.dim.iter().copied().map(Some).collect(),
            strides: self.stride.iter().map(|&stride| Some(stride as u64)).collect(),
            mode,
            element_strides: self.element_stride.clone(),
            interleave: Interleave::from_driver_code(self.interleave),
            swizzle: Swizzle::from_driver_code(self.swizzle),
            fill: Fill::from_driver_code(self.oob),
            l2_promotion: L2Promotion::from_driver_code(self.l2),
        })
    }

    fn map(&self, c: &Candidate) -> Result<TensorMap, String> {
        fn known<T: Copy>(code: Code<T>, field: &str) -> Result<T, String> {
            code.known()
                .ok_or_else(|| format!("{field} has an unknown code in a map that was accepted"))
        }
        Ok(TensorMap {
            format: known(c.format, "type")?,
            address: self.addr_off,
            dims: self.dim.clone(),
            strides: self.stride.iter().map(|&stride| stride as u64).collect(),
            mode: c.mode.clone(),
            element_strides: c.element_strides.clone(),
            interleave: known(c.interleave, "interleave")?,
            swizzle: known(c.swizzle, "swizzle")?,
            fill: known(c.fill, "oob")?,
            l2_promotion: known(c.l2_promotion, "l2")?,
        })
    }

    fn replay_load(&self, map: &TensorMap, coords: &[i32]) -> Result<Option<String>, String> {
        let expected = self.smem.as_deref().map(hex).transpose()?;
        let shared_bytes = expected.as_ref().map_or(SHARED_BYTES, Vec::len);
        let shared = Flat::new(0, vec![UNTOUCHED; shared_bytes]);
        let mode = match map.mode {
            Mode::Tiled { .. } => LoadMode::Tile,
            Mode::Im2col { .. } | Mode::Im2colWide { .. } => {
                let offset = |k| self.offset.get(k).copied().unwrap_or(0);
                LoadMode::Im2col {
                    offsets: [offset(0), offset(1), offset(2)],
                }
            }
        };
        let result = match &self.global {
            Some(bytes) => tma::load(map, mode, coords, &Flat::new(0, hex(bytes)?), &shared, self.smem_off),
            None => tma::load(map, mode, coords, &Patterned::new(map.format), &shared, self.smem_off),
        };
        let tx = match (self.fault_difference(result.as_ref().err()), result) {
            (None, Ok(tx)) => tx,
            (difference, _) => return Ok(difference),
        };
        if let Some(recorded) = self.tx_bytes.filter(|&recorded| recorded != tx) {
            return Ok(Some(format!("{tx} transaction bytes, recorded were {recorded}")));
        }
        Ok(expected.and_then(|expected| bytes_difference("shared memory", &shared.into_bytes(), &expected)))
    }

    fn replay_store(&self, map: &TensorMap, coords: &[i32]) -> Result<Option<String>, String> {
        let shared = match (&self.shared, self.smem_bytes) {
            (Some(bytes), _) => hex(bytes)?,
            (None, bytes) => {
                let mut pattern = vec![0; bytes.unwrap_or(SHARED_BYTES)];
                Patterned::new(map.format)
                    .read(0, &mut pattern)
                    .map_err(|fault| fault.to_string())?;
                let rotate = self.src_rotate % pattern.len().max(1);
                pattern.rotate_left(rotate);
                pattern
            }
        };
        let shared = Flat::new(0, shared);
        let op = self.op.as_deref().unwrap_or("store");
        let run = |global: &dyn Bytes| {
            let mode = match map.mode {
                Mode::Tiled { .. } => StoreMode::Tile,
                Mode::Im2col { .. } | Mode::Im2colWide { .. } => StoreMode::Im2colNoOffs,
            };
            Ok(match ReduceOp::from_name(op) {
                Some(op) => tma::reduce(map, op, mode, coords, &shared, self.smem_off, global),
                None if op == "store" => tma::store(map, mode, coords, &shared, self.smem_off, global),
                None => return Err(format!("unknown operation `{op}`")),
            })
        };
        if let Some(before) = &self.before {
            let global = Flat::new(0, hex(before)?);
            let result = run(&global)?;
            let difference = self.fault_difference(result.err().as_ref());
            let after = self.after.as_deref().map(hex).transpose()?;
            return Ok(difference
                .or_else(|| after.and_then(|after| bytes_difference("global memory", &global.into_bytes(), &after))));
        }
        let global = if op == "store" {
            Patterned::constant(UNTOUCHED)
        } else {
            Patterned::new(map.format)
        };
        let result = run(&global)?;
        if let Some(difference) = self.fault_difference(result.err().as_ref()) {
            return Ok(Some(difference));
        }
        let (Some(changed), Some(bytes)) = (&self.changed, &self.bytes) else {
            return Ok(None);
        };
        let mut expected = BTreeMap::new();
        let mut bytes = hex(bytes)?.into_iter();
        for &(offset, length) in changed {
            expected.extend((offset..).zip(bytes.by_ref().take(length)));
        }
        Ok(changes_difference(&global.changes(), &expected))
    }

    /// Words where the simulator's fault is not the recorded one.
    fn fault_difference(&self, fault: Option<&Fault>) -> Option<String> {
        let recorded = self.fault.as_deref().map(|name| match name {
            "cudaErrorIllegalInstruction" => "CUDA_ERROR_ILLEGAL_INSTRUCTION",
            "cudaErrorMisalignedAddress" => "CUDA_ERROR_MISALIGNED_ADDRESS",
            "cudaErrorIllegalAddress" => "CUDA_ERROR_ILLEGAL_ADDRESS",
            other => other,
        });
        let found = fault.map(|fault| fault.kind.code());
        if recorded == found {
            return None;
        }
        let name = |code: Option<&str>| code.unwrap_or("no fault").to_string();
        let words = fault.map(|fault| format!(" ({fault})")).unwrap_or_default();
        Some(format!("{}{words}, recorded was {}", name(found), name(recorded)))
    }
}

fn encode_difference(recorded: u32, violations: &[Violation]) -> Option<String> {
    match (recorded, violations) {
        (0, []) => None,
        (0, violations) => {
            let words: Vec<String> = violations.iter().map(ToString::to_string).collect();
            Some(format!("the driver accepted a map that breaks: {}", words.join("; ")))
        }
        (_, []) => Some("the driver refused a map that breaks no rule".into()),
        (_, _) => None,
    }
}

/// The driver's answers to boxes of many sizes: the largest that was accepted, in one case.
fn size_limit(accepted: &[(u64, u32)]) -> Option<String> {
    accepted.iter().find_map(|&(bytes, answer)| {
        // Rows of 16 bytes, as many as three box dimensions of at most 256 can express.
        let rows = bytes / 16;
        let split = |n: u64| (1..=256u64).rev().find(|d| n.is_multiple_of(*d)).unwrap_or(1);
        let a = split(rows);
        let b = split(rows / a);
        let c = rows / a / b;
        if c > 256 {
            return None;
        }
        let map = TensorMap {
            format: Format::U8,
            address: 0,
            dims: vec![1024; 4],
            strides: vec![1024; 3],
            mode: Mode::Tiled {
                box_dims: vec![16, a as u32, b as u32, c as u32],
            },
            element_strides: vec![1; 4],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            fill: Fill::Zero,
            l2_promotion: L2Promotion::None,
        };
        let violations = Candidate::from(&map).violations(&Caps::SM_90);
        encode_difference(answer, &violations).map(|difference| format!("box of {bytes} bytes: {difference}"))
    })
}

fn changes_difference(found: &BTreeMap<u64, u8>, expected: &BTreeMap<u64, u8>) -> Option<String> {
    let word = |byte: Option<&u8>| byte.map_or("untouched".to_string(), |b| format!("{b:#04x}"));
    let differing: Vec<u64> = found
        .keys()
        .chain(expected.keys().filter(|at| !found.contains_key(at)))
        .copied()
        .filter(|at| found.get(at) != expected.get(at))
        .collect();
    let at = differing.iter().min()?;
    Some(format!(
        "global memory at byte {at} is {}, recorded was {}; {} bytes differ",
        word(found.get(at)),
        word(expected.get(at)),
        differing.len()
    ))
}
