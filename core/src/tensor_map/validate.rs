//! Every rule by which the driver accepts or refuses a tensor map, all violations at once.
//!
//! The rules were fitted to 18,000 answers of `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col` on an H200, and the
//! tests replay them. Three differ from NVIDIA's text: a dimension may be 2^32; strides have no relation to dimensions or
//! to each other (0 broadcasts); one transfer may not exceed 228 KiB.
mod extent;

use super::{Code, Fill, Format, Interleave, L2Promotion, Mode, Rule, Swizzle, TensorMap, Violation, WidePixels};
use extent::check_corner_range;

/// What a target's tensor maps can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// The target in words, for messages.
    pub target: &'static str,
    /// Whether the sub-byte formats exist.
    pub sub_byte: bool,
    /// Whether the 128-byte swizzles with 32- and 64-byte atoms exist.
    pub swizzle_atoms: bool,
    /// Whether the 96-byte swizzle exists.
    pub swizzle_96: bool,
    /// Whether im2col maps along W alone exist.
    pub im2col_wide: bool,
}

impl Caps {
    /// `sm_90` and `sm_90a`, as measured.
    pub const SM_90: Caps = Caps {
        target: "sm_90",
        sub_byte: false,
        swizzle_atoms: false,
        swizzle_96: false,
        im2col_wide: false,
    };
    /// `sm_100`, `sm_110` and `sm_120`, by NVIDIA's text.
    pub const SM_100: Caps = Caps {
        target: "sm_100",
        sub_byte: true,
        swizzle_atoms: true,
        swizzle_96: false,
        im2col_wide: true,
    };
    /// `sm_103` and `sm_107`, by NVIDIA's text.
    pub const SM_103: Caps = Caps {
        target: "sm_103",
        sub_byte: true,
        swizzle_atoms: true,
        swizzle_96: true,
        im2col_wide: true,
    };
}

/// A tensor map that may be wrong: numbers may have no name, and what is known only at launch may be missing. Fields are
/// those of [`TensorMap`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Candidate {
    pub format: Code<Format>,
    /// `None` where known only at launch; rules about it are skipped then. So also in `dims` and `strides`.
    pub address: Option<u64>,
    pub dims: Vec<Option<u64>>,
    pub strides: Vec<Option<u64>>,
    pub mode: Mode,
    pub element_strides: Vec<u32>,
    pub interleave: Code<Interleave>,
    pub swizzle: Code<Swizzle>,
    pub fill: Code<Fill>,
    pub l2_promotion: Code<L2Promotion>,
}

impl From<&TensorMap> for Candidate {
    fn from(map: &TensorMap) -> Self {
        Candidate {
            format: map.format.into(),
            address: Some(map.address),
            dims: map.dims.iter().copied().map(Some).collect(),
            strides: map.strides.iter().copied().map(Some).collect(),
            mode: map.mode.clone(),
            element_strides: map.element_strides.clone(),
            interleave: map.interleave.into(),
            swizzle: map.swizzle.into(),
            fill: map.fill.into(),
            l2_promotion: map.l2_promotion.into(),
        }
    }
}

impl TensorMap {
    /// Whether the driver of a target with `caps` encodes this map; all broken rules otherwise.
    pub fn validate(&self, caps: &Caps) -> Result<(), Vec<Violation>> {
        let violations = Candidate::from(self).violations(caps);
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }
}

/// Largest dimension.
const LARGEST_DIMENSION: u64 = 1 << 32;

impl Candidate {
    /// All rules of the driver that this candidate breaks, in a fixed order. Where a field is missing or broken so that
    /// another rule has no meaning, that other rule is not reported.
    pub fn violations(&self, caps: &Caps) -> Vec<Violation> {
        let mut out = Vec::new();
        self.check_mode(caps, &mut out);
        self.check_enums(caps, &mut out);
        if self.check_rank(&mut out) {
            self.check_lengths(&mut out);
        }
        self.check_global(&mut out);
        match &self.mode {
            Mode::Tiled { box_dims } => self.check_box(box_dims, &mut out),
            Mode::Im2col {
                lower,
                upper,
                channels_per_pixel,
                pixels_per_column,
            } => {
                self.check_pixels(*channels_per_pixel, *pixels_per_column, &mut out);
                self.check_corners(lower, upper, &mut out);
            }
            Mode::Im2colWide {
                lower,
                upper,
                channels_per_pixel,
                pixels,
            } => {
                self.check_pixels(*channels_per_pixel, pixels.count(), &mut out);
                // Only W has corners, and at every rank the range that rank 3 has.
                check_corner_range(
                    1 << 15,
                    "im2col along W",
                    ("lower", &[*lower]),
                    ("upper", &[*upper]),
                    &mut out,
                );
                self.check_corner_box(&[*lower], &[*upper], &mut out);
            }
        }
        out
    }

    fn is_im2col(&self) -> bool {
        matches!(self.mode, Mode::Im2col { .. } | Mode::Im2colWide { .. })
    }

    /// What im2col along W asks for besides the rules of every map (`cuTensorMapEncodeIm2colWide`).
    fn check_mode(&self, caps: &Caps, out: &mut Vec<Violation>) {
        let Mode::Im2colWide { pixels, .. } = self.mode else {
            return;
        };
        if !caps.im2col_wide {
            out.push(Violation::new(
                Rule::Mode,
                "mode",
                "im2col along W",
                format!("{} has none", caps.target),
                "use mode im2col, or compile for sm_100a or later",
            ));
        }
        if let Some(interleave) = self.interleave.known().filter(|i| *i != Interleave::None) {
            out.push(Violation::new(
                Rule::Interleave,
                "interleave",
                format!("{} bytes", interleave.slice_bytes().unwrap_or(0)),
                "im2col along W allows none",
                "use interleave none",
            ));
        }
        let narrow = matches!(pixels, WidePixels::W(_));
        if let Some(swizzle) = self.swizzle.known() {
            let legal = match swizzle {
                Swizzle::B64 | Swizzle::B128 | Swizzle::B128Atom32 => true,
                Swizzle::B96 => narrow,
                _ => false,
            };
            if !legal {
                let bound = if narrow {
                    "im2col along W allows 64, 96, 128 and 128 (32-byte atoms)"
                } else {
                    "im2col along W of 128 pixels allows 64, 128 and 128 (32-byte atoms)"
                };
                out.push(Violation::new(
                    Rule::Swizzle,
                    "swizzle",
                    swizzle.name(),
                    bound,
                    "use swizzle 128",
                ));
            }
        }
    }

    fn sub_byte(&self) -> Option<Format> {
        self.format.known().filter(|format| format.is_sub_byte())
    }

    fn check_enums(&self, caps: &Caps, out: &mut Vec<Violation>) {
        let mut report = |rule, field: &str, value: String, bound: String, remedy: &str| {
            out.push(Violation::new(rule, field, value, bound, remedy));
        };
        match self.format {
            Code::Unknown(code) => report(
                Rule::Format,
                "format",
                format!("driver code {code}"),
                "the driver knows 0 (u8) to 15 (b6x16)".into(),
                "use one of them",
            ),
            Code::Known(format) if format.is_sub_byte() && !caps.sub_byte => report(
                Rule::Format,
                "format",
                format.name().into(),
                format!("{} has no sub-byte tensor maps", caps.target),
                "move the bytes as u8, or compile for sm_100a or later",
            ),
            Code::Known(_) => {}
        }
        match self.interleave {
            Code::Unknown(code) => report(
                Rule::Interleave,
                "interleave",
                format!("driver code {code}"),
                "the driver knows 0 (none), 1 (16 bytes) and 2 (32 bytes)".into(),
                "use one of them",
            ),
            Code::Known(interleave) => {
                if let (true, Some(format)) = (interleave != Interleave::None, self.sub_byte()) {
                    report(
                        Rule::Interleave,
                        "interleave",
                        format!("{} bytes", interleave.alignment()),
                        format!("format {} allows none", format.name()),
                        "use interleave none",
                    );
                }
            }
        }
        match self.swizzle {
            Code::Unknown(code) => report(
                Rule::Swizzle,
                "swizzle",
                format!("driver code {code}"),
                "the driver knows 0 (none) to 3 (128), and 4 to 6 (128 with larger atoms)".into(),
                "use one of them",
            ),
            Code::Known(Swizzle::B96) if !caps.swizzle_96 => report(
                Rule::Swizzle,
                "swizzle",
                "96".into(),
                format!("{} has no 96-byte swizzle", caps.target),
                "use swizzle 32, 64 or 128, or compile for sm_103a",
            ),
            Code::Known(swizzle) if swizzle.atom_bytes() != 16 && !caps.swizzle_atoms => report(
                Rule::Swizzle,
                "swizzle",
                swizzle.name().into(),
                format!("{} has only 16-byte atoms", caps.target),
                "use swizzle 128, or compile for sm_100a or later",
            ),
            Code::Known(swizzle) => {
                if let Some(format) = self
                    .sub_byte()
                    .filter(|&format| !swizzle_fits_sub_byte(swizzle, format))
                {
                    report(
                        Rule::Swizzle,
                        "swizzle",
                        swizzle.name().into(),
                        format!("format {} allows none and 128", format.name()),
                        "use swizzle 128 or none",
                    );
                }
            }
        }
        if let Code::Unknown(code) = self.l2_promotion {
            report(
                Rule::L2Promotion,
                "l2_promotion",
                format!("driver code {code}"),
                "the driver knows 0 (none) to 3 (256 bytes)".into(),
                "use one of them",
            );
        }
        match (self.fill, self.format) {
            (Code::Unknown(code), _) => report(
                Rule::Fill,
                "fill",
                format!("driver code {code}"),
                "the driver knows 0 (zero) and 1 (NaN)".into(),
                "use one of them",
            ),
            (Code::Known(Fill::Nan), Code::Known(format)) if !format.is_float() => report(
                Rule::Fill,
                "fill",
                "NaN".into(),
                format!("format {} has no NaN", format.name()),
                "use fill zero or a floating-point format",
            ),
            _ => {}
        }
    }

    /// Reports a bad rank; whether the rank is good.
    fn check_rank(&self, out: &mut Vec<Violation>) -> bool {
        let rank = self.dims.len();
        let interleaved = self
            .interleave
            .known()
            .is_some_and(|interleave| interleave != Interleave::None);
        let (least, what) = match (self.is_im2col(), interleaved) {
            (true, _) => (3, "im2col needs 3 to 5"),
            (false, true) => (3, "interleave needs 3 to 5"),
            (false, false) => (1, "a tensor map has 1 to 5 dimensions"),
        };
        let good = (least..=5).contains(&rank);
        if !good {
            let remedy = if rank < least {
                "add dimensions of size 1"
            } else {
                "fold dimensions or split the tensor"
            };
            out.push(Violation::new(Rule::Rank, "rank", rank, what, remedy));
        }
        good
    }

    fn check_lengths(&self, out: &mut Vec<Violation>) {
        let rank = self.dims.len();
        let mut expect = |field: &str, found: usize, expected: usize| {
            if found != expected {
                out.push(Violation::new(
                    Rule::ListLength,
                    field,
                    format!("a list of {found}"),
                    format!("rank {rank} needs {expected}"),
                    "give one value for each, innermost first",
                ));
            }
        };
        expect("strides", self.strides.len(), rank - 1);
        expect("element_strides", self.element_strides.len(), rank);
        match &self.mode {
            Mode::Tiled { box_dims } => expect("box", box_dims.len(), rank),
            Mode::Im2col { lower, upper, .. } => {
                expect("lower", lower.len(), rank - 2);
                expect("upper", upper.len(), rank - 2);
            }
            Mode::Im2colWide { .. } => {}
        }
    }

    fn check_global(&self, out: &mut Vec<Violation>) {
        let wide = matches!(self.format, Code::Known(Format::B4x16P64 | Format::B6x16P32));
        let interleave = self.interleave.known().unwrap_or(Interleave::None);
        let alignment = if wide { 32 } else { interleave.alignment() };
        let why = match (alignment, wide) {
            (16, _) => "must be a multiple of 16".to_string(),
            (_, false) => "interleave 32 needs a multiple of 32".to_string(),
            (_, true) => "this format needs a multiple of 32".to_string(),
        };
        if let Some(address) = self.address.filter(|address| address % alignment != 0) {
            out.push(Violation::new(
                Rule::AddressAlignment,
                "address",
                format!("{address:#x}"),
                why.clone(),
                "start the tensor at an aligned element",
            ));
        }
        for (i, &size) in self.dims.iter().enumerate() {
            let Some(size) = size else { continue };
            if !(1..=LARGEST_DIMENSION).contains(&size) {
                let remedy = if size == 0 {
                    "launch nothing for an empty tensor"
                } else {
                    "split the tensor"
                };
                out.push(Violation::new(
                    Rule::Dimension,
                    format!("dims[{i}]"),
                    size,
                    "1 to 2^32 is allowed",
                    remedy,
                ));
            }
        }
        if let (Some(format), Some(&Some(inner))) = (self.sub_byte(), self.dims.first()) {
            let multiple = if format == Format::B4x16 { 2 } else { 128 };
            if inner % multiple != 0 {
                out.push(Violation::new(
                    Rule::Dimension,
                    "dims[0]",
                    inner,
                    format!("format {} needs a multiple of {multiple}", format.name()),
                    "pad the rows of the tensor",
                ));
            }
        }
        for (i, &stride) in self.strides.iter().enumerate() {
            let Some(stride) = stride else { continue };
            let field = format!("strides[{i}]");
            if stride % alignment != 0 {
                let remedy = format!("pad to {} bytes", stride.div_ceil(alignment).saturating_mul(alignment));
                out.push(Violation::new(
                    Rule::StrideAlignment,
                    field.clone(),
                    format!("{stride} bytes"),
                    why.clone(),
                    remedy,
                ));
            }
            if stride >= 1 << 40 {
                let remedy = "split the tensor along this dimension";
                let value = format!("{stride} bytes");
                out.push(Violation::new(
                    Rule::StrideRange,
                    field,
                    value,
                    "must be less than 2^40",
                    remedy,
                ));
            }
        }
        for (i, &stride) in self.element_strides.iter().enumerate() {
            if !(1..=8).contains(&stride) {
                let field = format!("element_strides[{i}]");
                let remedy = "use 1 for a dense box, or put the step into the tensor's stride";
                out.push(Violation::new(
                    Rule::ElementStride,
                    field,
                    stride,
                    "1 to 8 is allowed",
                    remedy,
                ));
            }
        }
    }
}

/// Which swizzles the driver allows for a sub-byte format.
fn swizzle_fits_sub_byte(swizzle: Swizzle, format: Format) -> bool {
    match format {
        Format::B4x16 => true,
        Format::B4x16P64 => matches!(swizzle, Swizzle::None | Swizzle::B128 | Swizzle::B128Atom32),
        _ => matches!(
            swizzle,
            Swizzle::None | Swizzle::B128 | Swizzle::B128Atom32 | Swizzle::B128Atom64
        ),
    }
}
