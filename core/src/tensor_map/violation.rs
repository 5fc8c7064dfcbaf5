//! What a broken rule looks like to a person.
use std::fmt;

/// A rule that a tensor map, or a transfer with it, can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Rank 1 to 5; 3 to 5 with im2col or interleave.
    Rank,
    /// A list has one entry for each dimension (strides: one less, corners: two less).
    ListLength,
    /// The access mode is one that the target has.
    Mode,
    /// The element format is one that the target has.
    Format,
    /// The interleave is none, 16 or 32 bytes.
    Interleave,
    /// The swizzle is one that the target and the format have.
    Swizzle,
    /// The L2 promotion is none, 64, 128 or 256 bytes.
    L2Promotion,
    /// The fill is zero or NaN, and NaN only for floating-point formats.
    Fill,
    /// The global address is a multiple of 16 bytes, or of 32.
    AddressAlignment,
    /// Each dimension is 1 to 2^32, and a multiple of what the format needs.
    Dimension,
    /// Each stride is a multiple of 16 bytes, or of 32.
    StrideAlignment,
    /// Each stride is less than 2^40.
    StrideRange,
    /// Each element stride is 1 to 8.
    ElementStride,
    /// Each box dimension is 1 to 256.
    BoxDimension,
    /// Channels per pixel are 1 to 256.
    ChannelsPerPixel,
    /// Pixels per column are 1 to 1024.
    PixelsPerColumn,
    /// The bytes of the innermost box dimension are a multiple of 16.
    InnerMultiple,
    /// The bytes of the innermost box dimension fit the swizzle span.
    InnerSpan,
    /// Im2col corners are within the range of their rank.
    CornerRange,
    /// The im2col pixel box is not empty.
    CornerBox,
    /// One transfer is at most 228 KiB.
    ImageSize,
    /// The innermost coordinate lies on 16 bytes (else an illegal instruction at run time).
    CoordinateAlignment,
    /// Stores and reductions start inside the tensor (else an illegal instruction at run time).
    NegativeCoordinate,
    /// The shared address is a multiple of 128 bytes (else a misaligned address at run time).
    SharedAlignment,
    /// The shared address is a multiple of the swizzle's period, so that the pattern starts where readers expect it.
    SwizzlePeriod,
    /// Rows that are stored end on 16 bytes, else up to 15 bytes after each are overwritten.
    StoreRowEnd,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 26] = [
        Rule::Rank,
        Rule::ListLength,
        Rule::Mode,
        Rule::Format,
        Rule::Interleave,
        Rule::Swizzle,
        Rule::L2Promotion,
        Rule::Fill,
        Rule::AddressAlignment,
        Rule::Dimension,
        Rule::StrideAlignment,
        Rule::StrideRange,
        Rule::ElementStride,
        Rule::BoxDimension,
        Rule::ChannelsPerPixel,
        Rule::PixelsPerColumn,
        Rule::InnerMultiple,
        Rule::InnerSpan,
        Rule::CornerRange,
        Rule::CornerBox,
        Rule::ImageSize,
        Rule::CoordinateAlignment,
        Rule::NegativeCoordinate,
        Rule::SharedAlignment,
        Rule::SwizzlePeriod,
        Rule::StoreRowEnd,
    ];

    /// A name that stays the same across versions, for tools and documentation.
    pub const fn id(self) -> &'static str {
        match self {
            Rule::Rank => "rank",
            Rule::ListLength => "list-length",
            Rule::Mode => "mode",
            Rule::Format => "format",
            Rule::Interleave => "interleave",
            Rule::Swizzle => "swizzle",
            Rule::L2Promotion => "l2-promotion",
            Rule::Fill => "fill",
            Rule::AddressAlignment => "address-alignment",
            Rule::Dimension => "dimension",
            Rule::StrideAlignment => "stride-alignment",
            Rule::StrideRange => "stride-range",
            Rule::ElementStride => "element-stride",
            Rule::BoxDimension => "box-dimension",
            Rule::ChannelsPerPixel => "channels-per-pixel",
            Rule::PixelsPerColumn => "pixels-per-column",
            Rule::InnerMultiple => "inner-multiple",
            Rule::InnerSpan => "inner-span",
            Rule::CornerRange => "corner-range",
            Rule::CornerBox => "corner-box",
            Rule::ImageSize => "image-size",
            Rule::CoordinateAlignment => "coordinate-alignment",
            Rule::NegativeCoordinate => "negative-coordinate",
            Rule::SharedAlignment => "shared-alignment",
            Rule::SwizzlePeriod => "swizzle-period",
            Rule::StoreRowEnd => "store-row-end",
        }
    }
}

/// One broken rule: which field has which value, what the rule allows, and what to do.
///
/// Displays as `box[0] = 48 bytes, but swizzle 32 allows at most 32; use swizzle 64 or split the box`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The field as users write it, such as `box[0]`.
    pub field: String,
    /// Its value, with a unit where it has one.
    pub value: String,
    /// What the rule allows.
    pub bound: String,
    /// What to do about it.
    pub remedy: String,
}

impl Violation {
    /// A violation of `rule` by `field`.
    pub(super) fn new(
        rule: Rule,
        field: impl Into<String>,
        value: impl fmt::Display,
        bound: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Violation {
            rule,
            field: field.into(),
            value: value.to_string(),
            bound: bound.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} = {}, but {}; {}",
            self.field, self.value, self.bound, self.remedy
        )
    }
}

impl std::error::Error for Violation {}
