//! Shared-memory matrix descriptors, and what they must say for tiles that TMA wrote.
//!
//! ```text
//! bits[0..14]  address / 16          bits[49..52] base offset
//! bits[16..30] leading offset / 16   bits[62..64] swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//! bits[32..46] stride offset / 16
//! ```
//!
//! The hardware reads element (mn, k) of one instruction at `f(address + offset)`, `f` the swizzle of the absolute address
//! and `offset` (byte units, `span` the swizzle's width, `mn` and `k` in bytes where the operand is major in them):
//!
//! | major | swizzle | offset |
//! |---|---|---|
//! | K | none | `(mn % 8) 16 + (mn / 8) stride + (k / 16) leading + k % 16` |
//! | K | 32, 64, 128 | `(mn % 8) span + (mn / 8) stride + k` |
//! | MN | none | `mn % 16 + (mn / 16) stride + (k % 8) 16 + (k / 8) leading` |
//! | MN | 32, 64, 128 | `mn % span + (mn / span) leading + (k % 8) span + (k / 8) stride` |
use super::Major;
use crate::tensor_map::Swizzle;
use thiserror::Error;

/// Bytes of K that one instruction takes.
const STEP_BYTES: u64 = 32;
/// Largest address or offset plus one: 14 bits of 16-byte units.
const LIMIT: u64 = 1 << 18;

/// A shared-memory matrix descriptor. Addresses and offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Descriptor {
    /// Shared address of the first element.
    pub address: u64,
    /// Leading dimension byte offset.
    pub leading_byte_offset: u64,
    /// Stride dimension byte offset.
    pub stride_byte_offset: u64,
    /// `(start of the swizzle pattern / 128) % 8`; 0 where the pattern starts at a multiple of its period.
    pub base_offset: u8,
    /// None, 32, 64 or 128 bytes.
    pub swizzle: Swizzle,
}

/// Why a tile or a field does not fit a descriptor.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DescriptorError {
    /// A field is off 16 bytes or too large.
    #[error("{field} = {value} bytes, but a matrix descriptor holds multiples of 16 below 262144")]
    Field {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// The swizzle is not one of wgmma's.
    #[error("swizzle {0}, but wgmma reads none, 32, 64 and 128; write the tile with one of them")]
    Swizzle(&'static str),
    /// An extent is not a multiple of what the layout needs.
    #[error("{dimension} = {value} elements, but {why} needs a multiple of {multiple}; pad the tile to {padded}")]
    Extent {
        /// `MN` or `K`.
        dimension: &'static str,
        /// Found.
        value: u64,
        /// Who needs it.
        why: &'static str,
        /// Needed multiple.
        multiple: u64,
        /// Next multiple.
        padded: u64,
    },
    /// An element size that no operand has.
    #[error("elements of {0} bytes, but wgmma operands have 1, 2 or 4")]
    ElementBytes(u64),
    /// MN-major with another size than 2 bytes.
    #[error("an MN-major tile of {0}-byte elements, but wgmma reads only 2-byte elements MN-major; store it K-major")]
    MnMajor(u64),
}

impl Descriptor {
    /// The 64 bits.
    pub fn encode(&self) -> Result<u64, DescriptorError> {
        let field = |field, value: u64| {
            if value.is_multiple_of(16) && value < LIMIT {
                Ok(value / 16)
            } else {
                Err(DescriptorError::Field { field, value })
            }
        };
        let swizzle = match self.swizzle {
            Swizzle::None => 0,
            Swizzle::B128 => 1,
            Swizzle::B64 => 2,
            Swizzle::B32 => 3,
            other => return Err(DescriptorError::Swizzle(other.name())),
        };
        Ok(field("address", self.address)?
            | field("leading byte offset", self.leading_byte_offset)? << 16
            | field("stride byte offset", self.stride_byte_offset)? << 32
            | u64::from(self.base_offset & 7) << 49
            | swizzle << 62)
    }

    /// The descriptor that `bits` hold; bits outside the fields are ignored, as the hardware does.
    pub fn decode(bits: u64) -> Descriptor {
        let field = |low: u32| (bits >> low & 0x3fff) * 16;
        Descriptor {
            address: field(0),
            leading_byte_offset: field(16),
            stride_byte_offset: field(32),
            base_offset: (bits >> 49 & 7) as u8,
            swizzle: match bits >> 62 {
                0 => Swizzle::None,
                1 => Swizzle::B128,
                2 => Swizzle::B64,
                _ => Swizzle::B32,
            },
        }
    }

    /// Shared address of the byte that holds element (`mn`, `k`) of one instruction, by the table at the head of this
    /// file. The base offset must be 0.
    pub fn element_address(&self, major: Major, element_bytes: u64, mn: u64, k: u64) -> u64 {
        let (leading, stride) = (self.leading_byte_offset, self.stride_byte_offset);
        let offset = match (major, self.swizzle.span_bytes()) {
            (Major::K, None) => {
                let k = k * element_bytes;
                mn % 8 * 16 + mn / 8 * stride + k / 16 * leading + k % 16
            }
            (Major::K, Some(span)) => mn % 8 * span + mn / 8 * stride + k * element_bytes,
            (Major::Mn, None) => {
                let mn = mn * element_bytes;
                mn % 16 + mn / 16 * stride + k % 8 * 16 + k / 8 * leading
            }
            (Major::Mn, Some(span)) => {
                let mn = mn * element_bytes;
                mn % span + mn / span * leading + k % 8 * span + k / 8 * stride
            }
        };
        self.swizzle.apply(self.address + offset)
    }
}

/// An operand tile in shared memory, as TMA boxes write it.
///
/// A *panel* is one box: rows of exactly the swizzle span (16 bytes without swizzle), one below the other. A K-major panel
/// has one row for each MN index, an MN-major panel one row for each K index. Wider tiles are several panels,
/// `panel_bytes` apart:
///
/// ```text
/// K-major, 128 x 128 bf16, swizzle 128:     panel 0: k 0..64     panel 1: k 64..128
///                                           128 rows x 128 bytes, 16384 bytes each
/// MN-major, 128 x 64 bf16, swizzle 128:     panel 0: mn 0..64    panel 1: mn 64..128
///                                           64 rows x 128 bytes, 8192 bytes each
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperandTile {
    /// Elements in M or N.
    pub mn: u64,
    /// Elements in K.
    pub k: u64,
    /// Bytes of an element: 1, 2 or 4.
    pub element_bytes: u64,
    /// Which of them is contiguous.
    pub major: Major,
    /// Swizzle that the tile was written with.
    pub swizzle: Swizzle,
}

/// How wgmma reads an [`OperandTile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// The tile.
    pub tile: OperandTile,
    /// Elements of the contiguous dimension in one panel.
    pub panel_width: u64,
    /// Panels.
    pub panels: u64,
    /// Bytes of one panel, and from one to the next.
    pub panel_bytes: u64,
    /// Leading dimension byte offset of every descriptor of the tile.
    pub leading_byte_offset: u64,
    /// Stride dimension byte offset of every descriptor of the tile.
    pub stride_byte_offset: u64,
    /// Instructions along K.
    pub k_steps: u64,
    /// Elements along K of one instruction.
    pub step_k: u64,
    /// MN indices that a descriptor may start at are multiples of this.
    pub mn_granule: u64,
}

impl OperandTile {
    /// Offsets of the descriptors for this tile.
    pub fn placement(&self) -> Result<Placement, DescriptorError> {
        let OperandTile {
            mn,
            k,
            element_bytes,
            major,
            swizzle,
        } = *self;
        if !matches!(element_bytes, 1 | 2 | 4) {
            return Err(DescriptorError::ElementBytes(element_bytes));
        }
        if major == Major::Mn && element_bytes != 2 {
            return Err(DescriptorError::MnMajor(element_bytes));
        }
        let row_bytes = match swizzle {
            Swizzle::None => 16,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 => 128,
            other => return Err(DescriptorError::Swizzle(other.name())),
        };
        let panel_width = row_bytes / element_bytes;
        let step_k = STEP_BYTES / element_bytes;
        let extent = |dimension, value: u64, why, multiple: u64| {
            if value > 0 && value.is_multiple_of(multiple) {
                return Ok(());
            }
            let padded = value.max(1).next_multiple_of(multiple);
            Err(DescriptorError::Extent {
                dimension,
                value,
                why,
                multiple,
                padded,
            })
        };
        extent("K", k, "one instruction", step_k)?;
        let (width, rows) = match major {
            Major::K => {
                extent("MN", mn, "a group of 8 rows", 8)?;
                extent("K", k, "the swizzle", panel_width)?;
                (k, mn)
            }
            Major::Mn => {
                extent("MN", mn, "the swizzle", panel_width)?;
                (mn, k)
            }
        };
        let panel_bytes = rows * row_bytes;
        let group_bytes = 8 * row_bytes;
        let (leading_byte_offset, stride_byte_offset) = match (major, swizzle) {
            (Major::K, Swizzle::None) => (panel_bytes, group_bytes),
            // The hardware ignores the leading offset here; 16 is what other compilers write.
            (Major::K, _) => (16, group_bytes),
            (Major::Mn, Swizzle::None) => (group_bytes, panel_bytes),
            // Unused where the tile is one panel wide; the encoding must fit all the same.
            (Major::Mn, _) => (panel_bytes, group_bytes),
        };
        Ok(Placement {
            tile: *self,
            panel_width,
            panels: width / panel_width,
            panel_bytes,
            leading_byte_offset,
            stride_byte_offset,
            k_steps: k / step_k,
            step_k,
            mn_granule: if major == Major::K { 8 } else { panel_width },
        })
    }
}

impl Placement {
    /// Bytes of the whole tile.
    pub const fn bytes(&self) -> u64 {
        self.panels * self.panel_bytes
    }

    /// Bytes that the tile's shared address must be a multiple of.
    pub const fn alignment(&self) -> u64 {
        self.tile.swizzle.period_bytes()
    }

    /// Byte offset of element (`mn`, `k`) in the tile before the swizzle.
    pub const fn logical_offset(&self, mn: u64, k: u64) -> u64 {
        let (along, row) = match self.tile.major {
            Major::K => (k, mn),
            Major::Mn => (mn, k),
        };
        let row_bytes = self.panel_width * self.tile.element_bytes;
        along / self.panel_width * self.panel_bytes
            + row * row_bytes
            + along % self.panel_width * self.tile.element_bytes
    }

    /// Bytes to add to the tile's address for the instruction at K step `step` whose rows (or columns) start at `mn`, a
    /// multiple of [`Placement::mn_granule`]. The swizzle acts on the absolute address, so that a step inside the span is a
    /// plain addition.
    pub const fn advance(&self, mn: u64, step: u64) -> u64 {
        self.logical_offset(mn, step * self.step_k)
    }

    /// The descriptor for the instruction at K step `step` and MN index `mn` of the tile at shared `address`.
    pub fn descriptor(&self, address: u64, mn: u64, step: u64) -> Descriptor {
        Descriptor {
            address: address + self.advance(mn, step),
            leading_byte_offset: self.leading_byte_offset,
            stride_byte_offset: self.stride_byte_offset,
            base_offset: 0,
            swizzle: self.tile.swizzle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, TensorMap};

    fn tile(mn: u64, k: u64, element_bytes: u64, major: Major, swizzle: Swizzle) -> OperandTile {
        OperandTile {
            mn,
            k,
            element_bytes,
            major,
            swizzle,
        }
    }

    fn legal_tiles() -> impl Iterator<Item = OperandTile> {
        let swizzles = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
        swizzles.into_iter().flat_map(|swizzle| {
            [1, 2, 4].into_iter().flat_map(move |bytes| {
                [Major::K, Major::Mn]
                    .into_iter()
                    .filter(move |&major| major == Major::K || bytes == 2)
                    .flat_map(move |major| {
                        [(64, 256 / bytes), (128, 128 / bytes), (192, 512 / bytes)]
                            .into_iter()
                            .map(move |(mn, k)| tile(mn, k, bytes, major, swizzle))
                    })
            })
        })
    }

    /// The bytes that TMA writes for a panel are those that wgmma reads through the descriptors.
    #[test]
    fn wgmma_reads_what_tensor_copies_wrote() {
        let address = 4096;
        for tile in legal_tiles() {
            let placement = tile.placement().expect("legal");
            let rows = if tile.major == Major::K { tile.mn } else { tile.k };
            let panel = TensorMap {
                format: [Format::U8, Format::U16, Format::U32][tile.element_bytes.ilog2() as usize],
                address: 0,
                dims: vec![1 << 20, 1 << 20],
                strides: vec![1 << 20],
                mode: Mode::Tiled {
                    box_dims: vec![placement.panel_width as u32, rows as u32],
                },
                element_strides: vec![1, 1],
                interleave: Interleave::None,
                swizzle: tile.swizzle,
                fill: Fill::Zero,
                l2_promotion: L2Promotion::None,
            };
            assert_eq!(panel.image_bytes(), placement.panel_bytes);
            let written = |mn: u64, k: u64| {
                let (along, row) = if tile.major == Major::K { (k, mn) } else { (mn, k) };
                let start = address + along / placement.panel_width * placement.panel_bytes;
                let offset = panel
                    .image_offset(&[along % placement.panel_width, row])
                    .expect("whole bytes");
                tile.swizzle.apply(start + offset)
            };
            for step in 0..placement.k_steps {
                for mn_start in (0..tile.mn).step_by(64) {
                    let descriptor = placement.descriptor(address, mn_start, step);
                    for mn in 0..64 {
                        for k in 0..placement.step_k {
                            let read = descriptor.element_address(tile.major, tile.element_bytes, mn, k);
                            let expected = written(mn_start + mn, step * placement.step_k + k);
                            assert_eq!(read, expected, "{tile:?} step {step} mn {} k {k}", mn_start + mn);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn offsets_of_common_tiles() {
        let placement = tile(128, 64, 2, Major::K, Swizzle::B128).placement().expect("legal");
        assert_eq!(
            (placement.leading_byte_offset, placement.stride_byte_offset),
            (16, 1024)
        );
        assert_eq!(
            (0..4).map(|step| placement.advance(0, step)).collect::<Vec<_>>(),
            [0, 32, 64, 96]
        );
        assert_eq!(placement.advance(64, 0), 8192);

        let placement = tile(256, 64, 2, Major::Mn, Swizzle::B128).placement().expect("legal");
        assert_eq!(
            (placement.leading_byte_offset, placement.stride_byte_offset),
            (8192, 1024)
        );
        assert_eq!(
            (placement.panels, placement.advance(64, 0), placement.advance(0, 1)),
            (4, 8192, 2048)
        );
    }

    #[test]
    fn descriptors_encode_where_the_manual_draws_them() {
        let descriptor = Descriptor {
            address: 0x12340,
            leading_byte_offset: 16,
            stride_byte_offset: 1024,
            base_offset: 0,
            swizzle: Swizzle::B128,
        };
        let bits = descriptor.encode().expect("fits");
        assert_eq!(bits, 0x1234 | 1 << 16 | 64 << 32 | 1 << 62);
        assert_eq!(Descriptor::decode(bits), descriptor);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let misplaced = Descriptor {
            address: 8,
            leading_byte_offset: 16,
            stride_byte_offset: 1024,
            base_offset: 0,
            swizzle: Swizzle::None,
        };
        assert_eq!(
            misplaced.encode().unwrap_err().to_string(),
            "address = 8 bytes, but a matrix descriptor holds multiples of 16 below 262144"
        );
        let message = |tile: OperandTile| tile.placement().unwrap_err().to_string();
        assert_eq!(
            message(tile(64, 48, 2, Major::K, Swizzle::B128)),
            "K = 48 elements, but the swizzle needs a multiple of 64; pad the tile to 64"
        );
        assert_eq!(
            message(tile(60, 64, 2, Major::K, Swizzle::B128)),
            "MN = 60 elements, but a group of 8 rows needs a multiple of 8; pad the tile to 64"
        );
        assert!(message(tile(64, 64, 4, Major::Mn, Swizzle::B128)).contains("only 2-byte elements MN-major"));
        assert!(message(tile(64, 64, 2, Major::K, Swizzle::B128Atom32)).contains("wgmma reads none, 32, 64 and 128"));
    }
}
