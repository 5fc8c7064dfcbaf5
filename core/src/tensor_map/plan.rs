//! Which boxes move a region of a strided tensor: the largest ones, by the fewest instructions.
//!
//! ```text
//! region 2 x 300 x 64 f16 of a tensor with strides 40000, 64, 1      shared memory 2 x 300 x 64, row after row
//!
//!   box                1 x 150 x 64       a box's image lies in one piece, so that what is outside a dimension that is
//!   instructions       2 x 2 x 1          cut has one position each
//! ```
//!
//! A dimension of a box has at most 256 elements, and with a swizzle a row is at most its span: wider rows are panels, one
//! after the other in shared memory. Dimensions that follow each other in memory without a gap can be one dimension of the
//! map, where the region takes all of the inner one; that makes more than 5 dimensions fit, rows out of short dimensions, and
//! sometimes fewer instructions. Where a dimension does not divide into equal boxes, its tail has a box of its own. Outside
//! the tensor nothing is to be planned for: the hardware fills and drops there.
use super::{Format, Swizzle};
use std::ops::Range;
use thiserror::Error;

/// Most elements of a box in one dimension.
pub const WIDEST: u64 = 256;
/// Most bytes of a box, by the driver's count.
const LARGEST: u64 = 228 * 1024;
/// Bytes that an image in shared memory starts on.
const ORIGIN: u64 = 128;
/// Most dimensions of a tensor map.
const RANK: usize = 5;

/// One dimension of a region of a tensor. What is known only at launch is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionDim {
    /// Elements of the tensor.
    pub size: Option<u64>,
    /// Elements from one position to the next.
    pub stride: Option<u64>,
    /// Where the region starts.
    pub start: Option<i64>,
    /// Elements of the region.
    pub extent: u64,
}

/// A region, and how it lies in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Element format; not one of the sub-byte formats, whose regions are of bytes.
    pub format: Format,
    /// Most elements in a row of a box: [`WIDEST`], and half of it where a byte is two elements of the map.
    pub widest_row: u64,
    /// Whether it goes to or comes from shared memory; a prefetch does not.
    pub in_shared: bool,
    /// Dimensions, outermost first.
    pub dims: Vec<RegionDim>,
    /// The permutation of shared memory. With one, rows lie at its span, and wider rows are panels.
    pub swizzle: Swizzle,
}

/// An axis of equal instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanAxis {
    /// Instructions along it.
    pub count: u64,
    /// Dimension of the map that moves.
    pub dim: usize,
    /// Elements that it moves by.
    pub step: u64,
    /// Elements of shared memory that the image moves by.
    pub shared_step: u64,
}

/// Instructions of one box, and so of one map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanPart {
    /// The box, outermost first.
    pub box_dims: Vec<u64>,
    /// Where the first one starts in the region, in elements of the map's dimensions.
    pub first: Vec<u64>,
    /// Elements of shared memory before the first image.
    pub shared_first: u64,
    /// Axes, outermost first; none for one instruction.
    pub axes: Vec<PlanAxis>,
}

impl PlanPart {
    /// Number of instructions.
    pub fn instructions(&self) -> u64 {
        product(self.axes.iter().map(|axis| axis.count))
    }
}

/// How a region is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Dimensions of the tensor that are one dimension of the map, outermost first.
    pub groups: Vec<Range<usize>>,
    /// Instructions, by box.
    pub parts: Vec<PlanPart>,
}

impl Plan {
    /// Number of instructions.
    pub fn instructions(&self) -> u64 {
        self.parts
            .iter()
            .map(PlanPart::instructions)
            .fold(0, u64::saturating_add)
    }
}

/// Why no tensor copies move a region. Dimensions count from the outermost, 0.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NoPlan {
    #[error(
        "the innermost stride is {}, but tensor copies need 1; bring the dimension with stride 1 innermost with \
         memref.transpose, and give shared memory that order",
        known(*stride)
    )]
    InnermostStride { stride: Option<u64> },
    #[error(
        "rows of the region are {elements} elements, {bytes} bytes, but tensor copies move rows of a multiple of 16 bytes; take a \
         multiple of {unit} elements, or move them with memref.load and memref.store"
    )]
    RowBytes { elements: u64, bytes: u64, unit: u64 },
    #[error(
        "dimension {dim} has a stride of {elements} elements, {bytes} bytes, but tensor copies need a multiple of 16 bytes; pad it to \
         {} elements, or move the region with memref.load and memref.store",
        elements.next_multiple_of(*unit)
    )]
    StrideBytes {
        dim: usize,
        elements: u64,
        bytes: u64,
        unit: u64,
    },
    #[error(
        "the region needs {needed} dimensions of a tensor map, but it has at most 5; dimensions join where the outer one's stride is \
         known to be the inner one's size times its stride, and the region takes all of the inner one"
    )]
    Rank { needed: usize },
    #[error(
        "rows of the region are {elements} elements, {bytes} bytes, but swizzle {swizzle} has panels of {span} bytes; take a multiple of them"
    )]
    Panels {
        elements: u64,
        bytes: u64,
        swizzle: &'static str,
        span: u64,
    },
    #[error(
        "boxes would start {bytes} bytes apart in shared memory, but each starts on a multiple of 128; make the dimensions inside the \
         one that is cut a multiple of 128 bytes together, or copy in pieces"
    )]
    Origin { bytes: u64 },
    #[error("dimension {dim} of the region has no elements; leave the copy out")]
    Empty { dim: usize },
}

fn known(stride: Option<u64>) -> String {
    stride.map_or("known only at run time".to_owned(), |s| s.to_string())
}

impl Region {
    fn element_bytes(&self) -> u64 {
        self.format.bytes().unwrap_or(1)
    }

    /// Elements of 16 bytes.
    fn unit(&self) -> u64 {
        (16 / self.element_bytes()).max(1)
    }

    /// The shape of the region in shared memory, outermost first: panels, where the swizzle makes some, then its dimensions
    /// with rows at the swizzle's span.
    pub fn shared_shape(&self) -> Vec<u64> {
        let mut shape: Vec<u64> = self.dims.iter().map(|dim| dim.extent).collect();
        let Some(span) = self.swizzle.span_bytes().map(|bytes| bytes / self.element_bytes()) else {
            return shape;
        };
        if let Some(row) = shape.last_mut() {
            let panels = row.div_ceil(span);
            *row = span;
            if panels > 1 {
                shape.insert(0, panels);
            }
        }
        shape
    }

    /// The boxes with the fewest instructions, then with the fewest dimensions.
    pub fn plan(&self) -> Result<Plan, NoPlan> {
        self.check()?;
        let borders = self.dims.len().saturating_sub(1);
        let joinable: Vec<usize> = (0..borders).filter(|i| self.joins(*i)).collect();
        let mut best: Option<Plan> = None;
        let mut first_refusal = None;
        // Each set of borders that vanish; few dimensions have many borders.
        for set in 0..1u32 << joinable.len().min(16) {
            let gone = |border: usize| {
                joinable
                    .iter()
                    .position(|b| *b == border)
                    .is_some_and(|i| set >> i & 1 == 1)
            };
            let mut groups: Vec<Range<usize>> = vec![];
            for dim in 0..self.dims.len() {
                match groups.last_mut() {
                    Some(group) if gone(dim - 1) => group.end = dim + 1,
                    _ => groups.push(dim..dim + 1),
                }
            }
            match self.with(groups) {
                Ok(plan) => {
                    let key = |plan: &Plan| (plan.instructions(), plan.groups.len());
                    if best.as_ref().is_none_or(|best| key(&plan) < key(best)) {
                        best = Some(plan);
                    }
                }
                Err(refusal) => {
                    first_refusal.get_or_insert(refusal);
                }
            }
        }
        match (best, first_refusal) {
            (Some(plan), _) => Ok(plan),
            (None, Some(refusal)) => Err(refusal),
            (None, None) => Err(NoPlan::Rank { needed: 0 }),
        }
    }

    /// What no joining of dimensions changes.
    fn check(&self) -> Result<(), NoPlan> {
        if let Some(dim) = self.dims.iter().position(|dim| dim.extent == 0) {
            return Err(NoPlan::Empty { dim });
        }
        match self.dims.last() {
            Some(dim) if dim.stride != Some(1) => Err(NoPlan::InnermostStride { stride: dim.stride }),
            _ => Ok(()),
        }
    }

    /// Whether dimension `i` and the next can be one.
    fn joins(&self, i: usize) -> bool {
        let (outer, inner) = (self.dims[i], self.dims[i + 1]);
        let follows = match (outer.stride, inner.size, inner.stride) {
            (Some(outer), Some(size), Some(inner)) => size.checked_mul(inner) == Some(outer),
            _ => false,
        };
        // Rows of a swizzled image lie at its span each.
        let row = i + 2 == self.dims.len() && self.swizzle.span_bytes().is_some();
        follows && inner.start == Some(0) && inner.size == Some(inner.extent) && !row
    }

    /// The boxes for given dimensions of the map.
    fn with(&self, groups: Vec<Range<usize>>) -> Result<Plan, NoPlan> {
        let (element, unit) = (self.element_bytes(), self.unit());
        if groups.len() > RANK {
            return Err(NoPlan::Rank { needed: groups.len() });
        }
        for group in &groups[..groups.len().saturating_sub(1)] {
            let dim = group.end - 1;
            if let Some(elements) = self.dims[dim]
                .stride
                .filter(|s| !s.saturating_mul(element).is_multiple_of(16))
            {
                let bytes = elements.saturating_mul(element);
                return Err(NoPlan::StrideBytes {
                    dim,
                    elements,
                    bytes,
                    unit,
                });
            }
        }
        let extent = |group: &Range<usize>| product(self.dims[group.clone()].iter().map(|dim| dim.extent));
        let mut extents: Vec<u64> = groups.iter().map(extent).collect();
        let row = extents.last().copied().unwrap_or(1);
        let bytes = row.saturating_mul(element);
        if !bytes.is_multiple_of(16) {
            return Err(NoPlan::RowBytes {
                elements: row,
                bytes,
                unit,
            });
        }
        let span = self.swizzle.span_bytes().map(|bytes| bytes / element);
        let panels = match span.filter(|span| row > *span) {
            Some(span) if !row.is_multiple_of(span) => {
                return Err(NoPlan::Panels {
                    elements: row,
                    bytes,
                    swizzle: self.swizzle.name(),
                    span: span * element,
                });
            }
            Some(span) => row / span,
            None => 1,
        };
        let innermost = extents.len().saturating_sub(1);
        if let (Some(last), true) = (extents.last_mut(), panels > 1) {
            *last /= panels;
        }
        // Elements of shared memory from one position of each dimension to the next.
        let mut pitch = vec![1u64; extents.len()];
        for dim in (0..innermost).rev() {
            let inner = match (dim + 1 == innermost, span) {
                (true, Some(span)) => span,
                _ => extents[dim + 1],
            };
            pitch[dim] = pitch[dim + 1].saturating_mul(inner);
        }
        let panel = match innermost {
            0 => span.unwrap_or(extents[0]),
            _ => pitch[0].saturating_mul(extents[0]),
        };
        let mut parts = self.cut(&extents, &pitch)?;
        if panels > 1 {
            let axis = PlanAxis {
                count: panels,
                dim: innermost,
                step: extents[innermost],
                shared_step: panel,
            };
            for part in &mut parts {
                part.axes.insert(0, axis.clone());
            }
        }
        let plan = Plan { groups, parts };
        self.origins(&plan)?;
        Ok(plan)
    }

    /// Boxes of one panel. All dimensions inside the one that is cut are whole, and those outside have one position a box.
    fn cut(&self, extents: &[u64], pitch: &[u64]) -> Result<Vec<PlanPart>, NoPlan> {
        let rank = extents.len();
        let image = |dim: usize| pitch[dim].saturating_mul(self.element_bytes());
        // The outermost dimension inside which all are whole and fit.
        let widest = |dim: usize| if dim + 1 == rank { self.widest_row } else { WIDEST };
        let fits = |dim: usize| (dim + 1..rank).all(|inner| extents[inner] <= widest(inner)) && image(dim) <= LARGEST;
        let at = (0..rank).find(|dim| fits(*dim)).unwrap_or(rank - 1);
        let extent = extents[at];
        let most = widest(at).min((LARGEST / image(at).max(1)).max(1));
        // What is cut off starts on an origin of its own, and rows stay multiples of 16 bytes.
        let origin = if self.in_shared {
            ORIGIN / gcd(ORIGIN, image(at))
        } else {
            1
        };
        let granule = origin.max(if at + 1 == rank { self.unit() } else { 1 });
        let pieces = |width: u64| extent.div_ceil(width);
        let (width, tail) = if extent <= most {
            (extent, 0)
        } else if most < granule {
            return Err(NoPlan::Origin { bytes: image(at) });
        } else {
            let widest = most / granule * granule;
            let fewest = pieces(widest);
            match (widest / 2..=widest).rev().find(|width| {
                extent.is_multiple_of(*width) && width.is_multiple_of(granule) && pieces(*width) == fewest
            }) {
                Some(equal) => (equal, 0),
                None => (widest, extent % widest),
            }
        };
        let part = |first: u64, width: u64, count: u64| {
            let mut box_dims = vec![1; rank];
            box_dims[at..].copy_from_slice(&extents[at..]);
            box_dims[at] = width;
            let mut start = vec![0; rank];
            start[at] = first;
            let outside = (0..at).map(|dim| (dim, extents[dim], 1));
            let axes = outside
                .chain([(at, count, width)])
                .filter(|(_, count, _)| *count > 1)
                .map(|(dim, count, step)| PlanAxis {
                    count,
                    dim,
                    step,
                    shared_step: pitch[dim].saturating_mul(step),
                });
            PlanPart {
                box_dims,
                first: start,
                shared_first: first.saturating_mul(pitch[at]),
                axes: axes.collect(),
            }
        };
        let mut parts = vec![part(0, width, extent / width)];
        if tail > 0 {
            parts.push(part(extent - tail, tail, 1));
        }
        Ok(parts)
    }

    /// Every image starts on a multiple of 128 bytes.
    fn origins(&self, plan: &Plan) -> Result<(), NoPlan> {
        let element = self.element_bytes();
        for part in plan.parts.iter().filter(|_| self.in_shared) {
            let steps = part.axes.iter().map(|axis| axis.shared_step);
            for shared in steps.chain([part.shared_first]) {
                let bytes = shared.saturating_mul(element);
                if !bytes.is_multiple_of(ORIGIN) {
                    return Err(NoPlan::Origin { bytes });
                }
            }
        }
        Ok(())
    }
}

/// Their product, or the largest number where that is more.
fn product(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(1, u64::saturating_mul)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
