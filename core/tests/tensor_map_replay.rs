//! The validator against the CUDA driver: every recorded answer of `cuTensorMapEncode*` on an H200, and the geometry of
//! the shared image against recorded transfers.
use flate2::read::GzDecoder;
use girih_core::tensor_map::{
    Access, Candidate, Caps, Code, Direction, Fill, Format, Interleave, L2Promotion, Mode, Rule, Swizzle, TensorMap,
};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
};

/// One line of a record file; fields of other kinds are absent.
#[derive(Debug, Deserialize)]
struct Record {
    kind: String,
    #[serde(default)]
    i: u64,
    #[serde(rename = "type")]
    format: String,
    dim: Vec<u64>,
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
    #[serde(default)]
    coord: Vec<i64>,
    smem_off: Option<u64>,
    tx_bytes: Option<u64>,
    smem: Option<String>,
    fault: Option<String>,
}

fn driver_type(name: &str) -> u32 {
    match name {
        "u4_align8" => 13,
        "u4_align16" => 14,
        "u6_align16" => 15,
        name => Format::ALL
            .into_iter()
            .find(|f| f.name() == name)
            .expect("a driver type")
            .driver_code(),
    }
}

impl Record {
    fn candidate(&self) -> Candidate {
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
        Candidate {
            format: Format::from_driver_code(driver_type(&self.format)),
            address: Some(self.addr_off),
            dims: self.dim.iter().copied().map(Some).collect(),
            strides: self.stride.iter().map(|&stride| Some(stride as u64)).collect(),
            mode,
            element_strides: self.element_stride.clone(),
            interleave: Interleave::from_driver_code(self.interleave),
            swizzle: Swizzle::from_driver_code(self.swizzle),
            fill: Fill::from_driver_code(self.oob),
            l2_promotion: L2Promotion::from_driver_code(self.l2),
        }
    }

    fn map(&self) -> Option<TensorMap> {
        let c = self.candidate();
        let (Code::Known(format), Code::Known(interleave), Code::Known(swizzle), Code::Known(fill), Code::Known(l2)) =
            (c.format, c.interleave, c.swizzle, c.fill, c.l2_promotion)
        else {
            return None;
        };
        Some(TensorMap {
            format,
            address: self.addr_off,
            dims: self.dim.clone(),
            strides: self.stride.iter().map(|&stride| stride as u64).collect(),
            mode: c.mode,
            element_strides: c.element_strides,
            interleave,
            swizzle,
            fill,
            l2_promotion: l2,
        })
    }

    fn access(&self, direction: Direction) -> Access {
        Access {
            direction,
            coords: self.coord.iter().copied().map(Some).collect(),
            shared_address: self.smem_off,
        }
    }
}

fn lines(file: &str) -> impl Iterator<Item = String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/hw").join(file);
    let opened = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let reader: Box<dyn Read> = if file.ends_with(".gz") {
        Box::new(GzDecoder::new(opened))
    } else {
        Box::new(opened)
    };
    BufReader::new(reader)
        .lines()
        .map(|line| line.expect("a readable line"))
}

fn records(file: &str) -> impl Iterator<Item = Record> {
    lines(file).map(|line| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
}

#[test]
fn validator_agrees_with_every_recorded_driver_answer() {
    let (mut count, mut wrong) = (0, Vec::new());
    let mut deciding: BTreeMap<Rule, u32> = BTreeMap::new();
    for record in records("encode.jsonl.gz") {
        count += 1;
        let violations = record.candidate().violations(&Caps::SM_90);
        if violations.is_empty() != (record.encode == 0) {
            wrong.push(format!(
                "{}: driver {}, validator {violations:?}",
                record.i, record.encode
            ));
        }
        if let [only] = &violations[..] {
            *deciding.entry(only.rule).or_default() += 1;
        }
    }
    assert_eq!(count, 18_000);
    assert!(
        wrong.is_empty(),
        "{} of {count} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(10)].join("\n")
    );
    // Every rule of the driver decides at least one case alone: none could be dropped. The maps of the records are of modes
    // that the GPU has, with lists as long as their rank.
    let driver_rules = Rule::ALL[..Rule::ALL.len() - 5]
        .iter()
        .filter(|&&rule| !matches!(rule, Rule::ListLength | Rule::Mode));
    let idle: Vec<_> = driver_rules.filter(|rule| !deciding.contains_key(rule)).collect();
    assert!(idle.is_empty(), "rules that no record needs: {idle:?}");
}

#[test]
fn transfers_and_probes_encode_as_recorded() {
    for file in ["load", "im2col", "store", "store_im2col", "reduce"] {
        for record in records(&format!("{file}.jsonl.gz")) {
            let violations = record.candidate().violations(&Caps::SM_90);
            assert_eq!(
                violations.is_empty(),
                record.encode == 0,
                "{file} {}: {violations:?}",
                record.i
            );
        }
    }
    for line in lines("probe.jsonl").filter(|line| !line.contains("\"size limit\"")) {
        let record: Record = serde_json::from_str(&line).expect("a probe");
        let violations = record.candidate().violations(&Caps::SM_90);
        assert_eq!(
            violations.is_empty(),
            record.encode == 0,
            "{}: {violations:?}",
            record.kind
        );
    }
}

/// The probe lists the bytes of one-row-per-16-bytes boxes and whether each was accepted.
#[test]
fn size_limit_is_where_the_probe_found_it() {
    #[derive(Deserialize)]
    struct SizeLimit {
        accepted: Vec<(u64, u32)>,
    }
    let line = lines("probe.jsonl")
        .find(|line| line.contains("\"size limit\""))
        .expect("the probe");
    let probe: SizeLimit = serde_json::from_str(&line).expect("pairs");
    let mut tried = 0;
    for (bytes, answer) in probe.accepted {
        let elements = bytes / 16;
        let factors = (1..=256).rev().filter(|a| elements % a == 0).find_map(|a| {
            let rest = elements / a;
            (1..=256)
                .rev()
                .find(|b| rest % b == 0 && rest / b <= 256)
                .map(|b| [a, b, rest / b])
        });
        let Some([a, b, c]) = factors else { continue };
        tried += 1;
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
        assert_eq!(map.validate(&Caps::SM_90).is_ok(), answer == 0, "{bytes} bytes");
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn faults_are_predicted() {
    let mut faults = 0;
    let files = [
        ("load", Direction::Load),
        ("im2col", Direction::Load),
        ("store", Direction::Store),
        ("store_im2col", Direction::Store),
        ("reduce", Direction::Reduce),
    ];
    for (file, direction) in files {
        for record in records(&format!("{file}.jsonl.gz")).filter(|record| record.encode == 0) {
            let map = record.map().expect("an accepted map has only known codes");
            let harmless = [Rule::SwizzlePeriod, Rule::StoreRowEnd];
            let fatal: Vec<_> = map
                .access_violations(&record.access(direction))
                .into_iter()
                .filter(|violation| !harmless.contains(&violation.rule))
                .collect();
            assert_eq!(
                fatal.is_empty(),
                record.fault.is_none(),
                "{file} {}: {fatal:?}",
                record.i
            );
            faults += u32::from(record.fault.is_some());
        }
    }
    assert!(faults > 0);
}

#[test]
fn transaction_bytes_and_image_match_recorded_loads() {
    let mut seen = 0;
    for file in ["load.jsonl.gz", "im2col.jsonl.gz"] {
        for record in records(file) {
            let (Some(tx), Some(smem), Some(offset)) = (record.tx_bytes, &record.smem, record.smem_off) else {
                continue;
            };
            let map = record.map().expect("a map");
            assert_eq!(map.transaction_bytes(), tx, "{file} {}", record.i);
            // Nothing outside the image was written.
            let bytes: Vec<u8> = (0..smem.len() / 2)
                .map(|i| u8::from_str_radix(&smem[2 * i..2 * i + 2], 16).expect("hex"))
                .collect();
            let end = (offset + map.image_bytes()) as usize;
            // The swizzle permutes whole 128-byte lines, so the last, partly used line may be touched throughout.
            let end = if map.swizzle == Swizzle::None {
                end
            } else {
                end.next_multiple_of(128)
            };
            assert!(
                bytes[..offset as usize].iter().all(|&b| b == 0xee),
                "{file} {} before",
                record.i
            );
            assert!(
                bytes[end.min(bytes.len())..].iter().all(|&b| b == 0xee),
                "{file} {} after",
                record.i
            );
            seen += 1;
        }
    }
    assert!(seen > 800, "{seen}");
}

#[test]
fn messages_give_value_bound_and_remedy() {
    let good = TensorMap {
        format: Format::Bf16,
        address: 0x1000,
        dims: vec![4096, 4096],
        strides: vec![8192],
        mode: Mode::Tiled {
            box_dims: vec![64, 128],
        },
        element_strides: vec![1, 1],
        interleave: Interleave::None,
        swizzle: Swizzle::B128,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::None,
    };
    assert_eq!(good.validate(&Caps::SM_90), Ok(()));
    let with = |change: &dyn Fn(&mut TensorMap)| {
        let mut map = good.clone();
        change(&mut map);
        let violations = map.validate(&Caps::SM_90).expect_err("a broken rule");
        violations
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    type Change<'a> = &'a dyn Fn(&mut TensorMap);
    let cases: [(Change<'_>, &str); 12] = [
        (
            &|m| {
                (m.mode, m.swizzle) = (
                    Mode::Tiled {
                        box_dims: vec![24, 128],
                    },
                    Swizzle::B32,
                )
            },
            "box[0] = 48 bytes, but swizzle 32 allows at most 32; use swizzle 64 or split the box",
        ),
        (
            &|m| {
                m.mode = Mode::Tiled {
                    box_dims: vec![128, 64],
                }
            },
            "box[0] = 256 bytes, but swizzle 128 allows at most 128; split the box into parts of at most 64 elements",
        ),
        (
            &|m| {
                m.mode = Mode::Tiled {
                    box_dims: vec![60, 257],
                }
            },
            "box[1] = 257, but 1 to 256 is allowed; split the box into several transfers\n\
             box[0] = 120 bytes, but must be a multiple of 16; use 64 elements; what lies outside the tensor is filled",
        ),
        (
            &|m| m.address = 0x1008,
            "address = 0x1008, but must be a multiple of 16; start the tensor at an aligned element",
        ),
        (
            &|m| m.strides[0] = 8200,
            "strides[0] = 8200 bytes, but must be a multiple of 16; pad to 8208 bytes",
        ),
        (
            &|m| m.strides[0] = 1 << 40,
            "strides[0] = 1099511627776 bytes, but must be less than 2^40; split the tensor along this dimension",
        ),
        (
            &|m| m.dims[1] = 0,
            "dims[1] = 0, but 1 to 2^32 is allowed; launch nothing for an empty tensor",
        ),
        (
            &|m| m.element_strides[1] = 9,
            "element_strides[1] = 9, but 1 to 8 is allowed; use 1 for a dense box, or put the step into the tensor's stride",
        ),
        (
            &|m| (m.format, m.fill) = (Format::U16, Fill::Nan),
            "fill = NaN, but format u16 has no NaN; use fill zero or a floating-point format",
        ),
        (
            &|m| m.swizzle = Swizzle::B128Atom32,
            "swizzle = 128 (32-byte atoms), but sm_90 has only 16-byte atoms; use swizzle 128, or compile for sm_100a or later",
        ),
        (
            &|m| m.interleave = Interleave::B32,
            "rank = 2, but interleave needs 3 to 5; add dimensions of size 1",
        ),
        (
            &|m| m.element_strides = vec![1],
            "element_strides = a list of 1, but rank 2 needs 2; give one value for each, innermost first",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(with(change), expected);
    }
}

#[test]
fn what_is_known_only_at_launch_is_not_reported() {
    let mut candidate = records("encode.jsonl.gz")
        .find(|r| r.encode == 0 && r.dim.len() == 3)
        .expect("one")
        .candidate();
    candidate.address = None;
    candidate.dims = vec![None; 3];
    candidate.strides = vec![None; 2];
    assert_eq!(candidate.violations(&Caps::SM_90), []);
}
