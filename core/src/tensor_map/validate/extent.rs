//! Rules about what one copy takes: the sizes of a box, pixels and channels, the corners of a window.
use super::Candidate;
use crate::tensor_map::{Format, Interleave, Rule, Swizzle, Violation, image::widest_inner};

/// Bytes of the largest transfer that the driver encodes, by its own count (see [`Candidate::violations`]).
const LARGEST_IMAGE: u64 = 228 * 1024;

impl Candidate {
    pub(super) fn check_box(&self, box_dims: &[u32], out: &mut Vec<Violation>) {
        for (i, &size) in box_dims.iter().enumerate() {
            if !(1..=256).contains(&size) {
                let remedy = if size == 0 {
                    "use at least 1"
                } else {
                    "split the box into several transfers"
                };
                let field = format!("box[{i}]");
                out.push(Violation::new(
                    Rule::BoxDimension,
                    field,
                    size,
                    "1 to 256 is allowed",
                    remedy,
                ));
            }
        }
        let Some(&inner) = box_dims.first() else { return };
        self.check_inner("box[0]", inner, out);

        // The driver counts whole steps of the traversal stride, in every dimension, and neither gaps between rows nor
        // the bytes of interleaved slices.
        let Some(format) = self.format.known() else { return };
        if self.element_strides.len() != box_dims.len() || self.element_strides.contains(&0) {
            return;
        }
        let steps = box_dims
            .iter()
            .zip(&self.element_strides)
            .map(|(&size, &stride)| u64::from(size / stride));
        let elements = steps.fold(1, u64::saturating_mul);
        self.check_size("box", elements, format, out);
    }

    fn check_size(&self, field: &str, elements: u64, format: Format, out: &mut Vec<Violation>) {
        let bytes = elements.saturating_mul(format.shared_bits()) / 8;
        if bytes > LARGEST_IMAGE {
            out.push(Violation::new(
                Rule::ImageSize,
                field,
                format!("{bytes} bytes"),
                format!("one transfer moves at most {LARGEST_IMAGE} (228 KiB)"),
                "split it into several transfers",
            ));
        }
    }

    /// Rules about the bytes of the innermost box dimension.
    fn check_inner(&self, field: &str, elements: u32, out: &mut Vec<Violation>) {
        let Some(format) = self.format.known() else { return };
        if matches!(format, Format::B4x16P64 | Format::B6x16P32) {
            if elements != 128 {
                let bound = format!("format {} needs exactly 128", format.name());
                let value = format!("{elements} elements");
                out.push(Violation::new(Rule::InnerMultiple, field, value, bound, "use 128"));
            }
            return;
        }
        let bits = u64::from(elements) * format.shared_bits();
        let value = format!("{} bytes", bits / 8);
        if !bits.is_multiple_of(128) {
            let step = 128 / format.shared_bits();
            let next = u64::from(elements).div_ceil(step) * step;
            let remedy = match next <= 256 {
                true => format!("use {next} elements; what lies outside the tensor is filled"),
                false => format!("split it into parts of a multiple of {step} elements, 256 at most"),
            };
            out.push(Violation::new(
                Rule::InnerMultiple,
                field,
                value.clone(),
                "must be a multiple of 16",
                remedy,
            ));
        }
        let (Some(swizzle), Some(Interleave::None)) = (self.swizzle.known(), self.interleave.known()) else {
            return;
        };
        let Some(span) = swizzle.span_bytes().filter(|span| bits > span * 8) else {
            return;
        };
        let wider = [Swizzle::B64, Swizzle::B128]
            .into_iter()
            .find(|wider| wider.span_bytes() >= Some(bits.div_ceil(8)));
        let split = match field {
            "box[0]" => "split the box",
            _ => "bring fewer channels",
        };
        let remedy = match wider {
            Some(wider) => format!("use swizzle {} or {split}", wider.name()),
            None => format!(
                "{split} into parts of at most {} elements",
                widest_inner(format, swizzle)
            ),
        };
        let bound = format!("swizzle {} allows at most {span}", swizzle.name());
        out.push(Violation::new(Rule::InnerSpan, field, value, bound, remedy));
    }

    pub(super) fn check_pixels(&self, channels: u32, pixels: u32, out: &mut Vec<Violation>) {
        let (fewer, shorter) = (
            "bring the channels by several transfers",
            "split the column into several transfers",
        );
        for (rule, field, value, most, remedy) in [
            (Rule::ChannelsPerPixel, "channels_per_pixel", channels, 256, fewer),
            (Rule::PixelsPerColumn, "pixels_per_column", pixels, 1024, shorter),
        ] {
            if !(1..=most).contains(&value) {
                let remedy = if value == 0 { "use at least 1" } else { remedy };
                out.push(Violation::new(
                    rule,
                    field,
                    value,
                    format!("1 to {most} is allowed"),
                    remedy,
                ));
            }
        }
        self.check_inner("channels_per_pixel", channels, out);
        if let Some(format) = self.format.known() {
            let elements = u64::from(channels) * u64::from(pixels);
            self.check_size("channels_per_pixel x pixels_per_column", elements, format, out);
        }
    }

    pub(super) fn check_corners(&self, lower: &[i32], upper: &[i32], out: &mut Vec<Violation>) {
        let rank = self.dims.len();
        let limit: i32 = match rank {
            3 => 1 << 15,
            4 => 1 << 7,
            5 => 1 << 4,
            _ => return,
        };
        check_corner_range(limit, &format!("rank {rank}"), ("lower", lower), ("upper", upper), out);
        self.check_corner_box(lower, upper, out);
    }

    pub(super) fn check_corner_box(&self, lower: &[i32], upper: &[i32], out: &mut Vec<Violation>) {
        let first_spatial = usize::from(self.interleave.known().is_none_or(|i| i == Interleave::None));
        for (k, (&low, &high)) in lower.iter().zip(upper).enumerate() {
            let Some(&Some(size)) = self.dims.get(first_spatial + k) else {
                continue;
            };
            // The driver computes this in 32 bits and wraps, so that a dimension of 2^32 - 1 counts as -1.
            let end = (size as i32).wrapping_add(high);
            if end <= low {
                out.push(Violation::new(
                    Rule::CornerBox,
                    format!("upper[{k}]"),
                    high,
                    format!(
                        "dims[{}] + upper = {end} must be greater than lower = {low}",
                        first_spatial + k
                    ),
                    "make the pixel box at least one pixel wide",
                ));
            }
        }
    }
}

pub(super) fn check_corner_range(
    limit: i32,
    what: &str,
    lower: (&str, &[i32]),
    upper: (&str, &[i32]),
    out: &mut Vec<Violation>,
) {
    for (name, corners) in [lower, upper] {
        for (k, &corner) in corners.iter().enumerate() {
            if !(-limit..limit).contains(&corner) {
                out.push(Violation::new(
                    Rule::CornerRange,
                    format!("{name}[{k}]"),
                    corner,
                    format!("{what} allows {} to {}", -limit, limit - 1),
                    "move the rest of the corner into the tensor's address or dimensions",
                ));
            }
        }
    }
}
