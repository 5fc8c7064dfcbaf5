//! The simulator's own 128 bytes of a tensor map, and `tensormap.replace` on them.
//!
//! The object is opaque to programs, which may copy it and replace its fields, starting from any map or from 128 zero
//! bytes. Integers are little-endian; counts are stored less one, so that zero bytes are a valid empty start.
//!
//! ```text
//! bytes   0.. 8  address               bytes  16.. 36  dims - 1, 5 x u32
//!         8      format                       40.. 72  strides, 4 x u64
//!         9      rank - 1                     72.. 82  box - 1, 5 x u16 (tiled)
//!        10      interleave                   82.. 87  element strides - 1, 5 x u8
//!        11      swizzle mode                 88.. 94  lower corner, 3 x i16 (im2col)
//!        12      swizzle atomicity            94..100  upper corner, 3 x i16 (im2col)
//!        13      fill                        100..102  channels per pixel - 1 (im2col)
//!        14      L2 promotion                102..104  pixels per column - 1 (im2col)
//!        15      0 tiled, 1 im2col,          the rest is zero
//!                2 im2col::w, 3 im2col::w::128
//! ```
//!
//! Formats, interleave, fill and promotion are the driver's numbers; the two swizzle fields are those of
//! `tensormap.replace`, which sets them one at a time.
use super::illegal;
use crate::memory::Fault;
use girih_core::tensor_map::{Caps, Code, Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap, WidePixels};

/// Bytes of a tensor map in memory.
pub const DESCRIPTOR_BYTES: usize = 128;

const FORMAT: usize = 8;
const RANK: usize = 9;
const INTERLEAVE: usize = 10;
const SWIZZLE_MODE: usize = 11;
const SWIZZLE_ATOMICITY: usize = 12;
const FILL: usize = 13;
const L2_PROMOTION: usize = 14;
const MODE: usize = 15;
const DIMS: usize = 16;
const STRIDES: usize = 40;
const BOX: usize = 72;
const ELEMENT_STRIDES: usize = 82;
const LOWER: usize = 88;
const UPPER: usize = 94;
const CHANNELS: usize = 100;
const PIXELS: usize = 102;
const END: usize = 104;

/// A field that `tensormap.replace` sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// `.global_address`, 64 bits.
    GlobalAddress,
    /// `.rank`: the rank less one.
    Rank,
    /// `.box_dim`, of the dimension that the ordinal names.
    BoxDim,
    /// `.global_dim`, of a dimension.
    GlobalDim,
    /// `.global_stride`, 64 bits, in bytes; ordinal 0 is the stride of dimension 1.
    GlobalStride,
    /// `.element_stride`, of a dimension.
    ElementStride,
    /// `.elemtype`.
    Elemtype,
    /// `.interleave_layout`.
    InterleaveLayout,
    /// `.swizzle_mode`.
    SwizzleMode,
    /// `.swizzle_atomicity`.
    SwizzleAtomicity,
    /// `.fill_mode`.
    FillMode,
}

impl Field {
    /// The field of this PTX name, without the dot.
    pub fn from_name(name: &str) -> Option<Field> {
        Some(match name {
            "global_address" => Field::GlobalAddress,
            "rank" => Field::Rank,
            "box_dim" => Field::BoxDim,
            "global_dim" => Field::GlobalDim,
            "global_stride" => Field::GlobalStride,
            "element_stride" => Field::ElementStride,
            "elemtype" => Field::Elemtype,
            "interleave_layout" => Field::InterleaveLayout,
            "swizzle_mode" => Field::SwizzleMode,
            "swizzle_atomicity" => Field::SwizzleAtomicity,
            "fill_mode" => Field::FillMode,
            _ => return None,
        })
    }

    /// How many ordinals the field has; `None` where the instruction takes none.
    pub fn ordinals(self) -> Option<usize> {
        match self {
            Field::BoxDim | Field::GlobalDim | Field::ElementStride => Some(5),
            Field::GlobalStride => Some(4),
            _ => None,
        }
    }
}

fn put<const N: usize>(bytes: &mut [u8; DESCRIPTOR_BYTES], at: usize, value: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&value);
}

fn get<const N: usize>(bytes: &[u8; DESCRIPTOR_BYTES], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

/// The 128 bytes of a map that [`TensorMap::validate`] accepts. Values out of range wrap.
pub fn encode(map: &TensorMap) -> [u8; DESCRIPTOR_BYTES] {
    let mut b = [0; DESCRIPTOR_BYTES];
    put(&mut b, 0, map.address.to_le_bytes());
    b[FORMAT] = map.format.driver_code() as u8;
    b[RANK] = map.dims.len().wrapping_sub(1) as u8;
    b[INTERLEAVE] = map.interleave.driver_code() as u8;
    let (mode, atomicity) = map.swizzle.replace_codes();
    b[SWIZZLE_MODE] = mode as u8;
    b[SWIZZLE_ATOMICITY] = atomicity as u8;
    b[FILL] = map.fill.driver_code() as u8;
    b[L2_PROMOTION] = map.l2_promotion.driver_code() as u8;
    for (i, &size) in map.dims.iter().take(5).enumerate() {
        put(&mut b, DIMS + 4 * i, (size.wrapping_sub(1) as u32).to_le_bytes());
    }
    for (i, &stride) in map.strides.iter().take(4).enumerate() {
        put(&mut b, STRIDES + 8 * i, stride.to_le_bytes());
    }
    for (i, &stride) in map.element_strides.iter().take(5).enumerate() {
        b[ELEMENT_STRIDES + i] = stride.wrapping_sub(1) as u8;
    }
    match &map.mode {
        Mode::Tiled { box_dims } => {
            for (i, &size) in box_dims.iter().take(5).enumerate() {
                put(&mut b, BOX + 2 * i, (size.wrapping_sub(1) as u16).to_le_bytes());
            }
        }
        Mode::Im2col {
            lower,
            upper,
            channels_per_pixel,
            pixels_per_column,
        } => {
            b[MODE] = 1;
            for (at, corner) in [(LOWER, lower), (UPPER, upper)] {
                for (i, &c) in corner.iter().take(3).enumerate() {
                    put(&mut b, at + 2 * i, (c as i16).to_le_bytes());
                }
            }
            put(
                &mut b,
                CHANNELS,
                (channels_per_pixel.wrapping_sub(1) as u16).to_le_bytes(),
            );
            put(&mut b, PIXELS, (pixels_per_column.wrapping_sub(1) as u16).to_le_bytes());
        }
        Mode::Im2colWide {
            lower,
            upper,
            channels_per_pixel,
            pixels,
        } => {
            b[MODE] = match pixels {
                WidePixels::W(_) => 2,
                WidePixels::W128 => 3,
            };
            put(&mut b, LOWER, (*lower as i16).to_le_bytes());
            put(&mut b, UPPER, (*upper as i16).to_le_bytes());
            let channels = channels_per_pixel.wrapping_sub(1) as u16;
            put(&mut b, CHANNELS, channels.to_le_bytes());
            put(&mut b, PIXELS, (pixels.count().wrapping_sub(1) as u16).to_le_bytes());
        }
    }
    b
}

fn known<T: Copy>(code: Code<T>, field: &str) -> Result<T, Fault> {
    match code {
        Code::Known(value) => Ok(value),
        Code::Unknown(code) => Err(malformed(format!("{field} {code} has no meaning"))),
    }
}

fn malformed(what: String) -> Fault {
    illegal(format!(
        "these 128 bytes are no tensor map of the simulator ({what}); pass what the device encoded, or set every field \
         with tensormap.replace"
    ))
}

/// The map that 128 bytes hold, checked by the rules that the driver's encoder applies (those of the targets with all
/// modes; a map made by `tensormap.replace` has passed no encoder).
///
/// Errors: `IllegalInstruction`, in words.
pub fn decode(bytes: &[u8; DESCRIPTOR_BYTES]) -> Result<TensorMap, Fault> {
    if bytes.iter().all(|&b| b == 0) {
        let fault = illegal("a copy by a tensor map of 128 zero bytes: an empty tensor has no map".into());
        return Err(
            fault.with_remedy("launch an empty grid for an empty tensor, or leave out the copies that use its map")
        );
    }
    if bytes[END..].iter().any(|&b| b != 0) {
        return Err(malformed("its last bytes are not zero".into()));
    }
    let rank = usize::from(bytes[RANK]) + 1;
    if rank > 5 {
        return Err(malformed(format!("rank {rank} is more than 5")));
    }
    let swizzle_codes = (u32::from(bytes[SWIZZLE_MODE]), u32::from(bytes[SWIZZLE_ATOMICITY]));
    let swizzle = Swizzle::ALL
        .into_iter()
        .find(|s| s.replace_codes() == swizzle_codes)
        .ok_or_else(|| {
            malformed(format!(
                "swizzle mode {} with atomicity {}",
                swizzle_codes.0, swizzle_codes.1
            ))
        })?;
    let mode = match bytes[MODE] {
        0 => Mode::Tiled {
            box_dims: (0..rank)
                .map(|i| u32::from(u16::from_le_bytes(get(bytes, BOX + 2 * i))) + 1)
                .collect(),
        },
        1 if rank >= 3 => {
            let corner = |at| {
                (0..rank - 2)
                    .map(|i| i16::from_le_bytes(get(bytes, at + 2 * i)).into())
                    .collect()
            };
            Mode::Im2col {
                lower: corner(LOWER),
                upper: corner(UPPER),
                channels_per_pixel: u32::from(u16::from_le_bytes(get(bytes, CHANNELS))) + 1,
                pixels_per_column: u32::from(u16::from_le_bytes(get(bytes, PIXELS))) + 1,
            }
        }
        code @ (2 | 3) if rank >= 3 => Mode::Im2colWide {
            lower: i16::from_le_bytes(get(bytes, LOWER)).into(),
            upper: i16::from_le_bytes(get(bytes, UPPER)).into(),
            channels_per_pixel: u32::from(u16::from_le_bytes(get(bytes, CHANNELS))) + 1,
            pixels: match code {
                2 => WidePixels::W(u32::from(u16::from_le_bytes(get(bytes, PIXELS))) + 1),
                _ => WidePixels::W128,
            },
        },
        code => return Err(malformed(format!("mode {code} at rank {rank}"))),
    };
    let map = TensorMap {
        format: known(Format::from_driver_code(bytes[FORMAT].into()), "format")?,
        address: u64::from_le_bytes(get(bytes, 0)),
        dims: (0..rank)
            .map(|i| u64::from(u32::from_le_bytes(get(bytes, DIMS + 4 * i))) + 1)
            .collect(),
        strides: (0..rank - 1)
            .map(|i| u64::from_le_bytes(get(bytes, STRIDES + 8 * i)))
            .collect(),
        mode,
        element_strides: (0..rank).map(|i| u32::from(bytes[ELEMENT_STRIDES + i]) + 1).collect(),
        interleave: known(Interleave::from_driver_code(bytes[INTERLEAVE].into()), "interleave")?,
        swizzle,
        fill: known(Fill::from_driver_code(bytes[FILL].into()), "fill")?,
        l2_promotion: known(
            L2Promotion::from_driver_code(bytes[L2_PROMOTION].into()),
            "L2 promotion",
        )?,
    };
    match map.validate(&Caps::SM_103) {
        Ok(()) => Ok(map),
        Err(violations) => {
            let words: Vec<String> = violations.iter().map(ToString::to_string).collect();
            Err(illegal(format!(
                "tensor map that no driver would encode: {}",
                words.join("; ")
            )))
        }
    }
}

/// `tensormap.replace.tile`: sets one field in place. `ordinal` counts for the fields that have [`Field::ordinals`].
///
/// A value that the field cannot hold is kept modulo its width; [`decode`] says later what is wrong with it.
///
/// Errors: `IllegalInstruction` for an im2col map and for an ordinal out of range.
pub fn replace(bytes: &mut [u8; DESCRIPTOR_BYTES], field: Field, ordinal: usize, value: u64) -> Result<(), Fault> {
    if bytes[MODE] != 0 {
        return Err(illegal(
            "tensormap.replace.tile on an im2col tensor map; only tiled maps can be modified".into(),
        ));
    }
    let limit = field.ordinals().unwrap_or(1);
    let i = if field.ordinals().is_some() { ordinal } else { 0 };
    if i >= limit {
        return Err(illegal(format!(
            "tensormap.replace with ordinal {i}; this field has {limit}"
        )));
    }
    let low = value as u8;
    match field {
        Field::GlobalAddress => put(bytes, 0, value.to_le_bytes()),
        Field::Rank => bytes[RANK] = low,
        Field::BoxDim => put(bytes, BOX + 2 * i, (value.wrapping_sub(1) as u16).to_le_bytes()),
        Field::GlobalDim => put(bytes, DIMS + 4 * i, (value.wrapping_sub(1) as u32).to_le_bytes()),
        Field::GlobalStride => put(bytes, STRIDES + 8 * i, value.to_le_bytes()),
        Field::ElementStride => bytes[ELEMENT_STRIDES + i] = low.wrapping_sub(1),
        Field::Elemtype => {
            let format = Format::ALL.into_iter().find(|f| u64::from(f.replace_code()) == value);
            bytes[FORMAT] = format.map_or(u8::MAX, |f| f.driver_code() as u8);
        }
        Field::InterleaveLayout => bytes[INTERLEAVE] = low,
        Field::SwizzleMode => bytes[SWIZZLE_MODE] = low,
        Field::SwizzleAtomicity => bytes[SWIZZLE_ATOMICITY] = low,
        Field::FillMode => bytes[FILL] = low,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiled() -> TensorMap {
        TensorMap {
            format: Format::Bf16,
            address: 0x7f00_0000_0100,
            dims: vec![1 << 32, 100, 7],
            strides: vec![1 << 34, 0],
            mode: Mode::Tiled {
                box_dims: vec![64, 256, 1],
            },
            element_strides: vec![1, 8, 2],
            interleave: Interleave::None,
            swizzle: Swizzle::B128,
            fill: Fill::Nan,
            l2_promotion: L2Promotion::B256,
        }
    }

    #[test]
    fn maps_survive_encoding() {
        let im2col = TensorMap {
            dims: vec![64, 9, 14, 64],
            strides: vec![128, 1152, 16128],
            mode: Mode::Im2col {
                lower: vec![-1, -2],
                upper: vec![0, -1],
                channels_per_pixel: 64,
                pixels_per_column: 1024,
            },
            element_strides: vec![1, 2, 1, 1],
            ..tiled()
        };
        let flip = TensorMap {
            swizzle: Swizzle::B128Atom32Flip8,
            ..tiled()
        };
        let wide = |pixels| TensorMap {
            mode: Mode::Im2colWide {
                lower: -1,
                upper: 0,
                channels_per_pixel: 64,
                pixels,
            },
            ..im2col.clone()
        };
        for map in [tiled(), wide(WidePixels::W(1000)), wide(WidePixels::W128), im2col, flip] {
            assert_eq!(decode(&encode(&map)), Ok(map));
        }
    }

    #[test]
    fn replacing_every_field_of_zero_bytes_makes_a_map() {
        let map = tiled();
        let mut bytes = [0; DESCRIPTOR_BYTES];
        let mut set = |field, ordinal, value| replace(&mut bytes, field, ordinal, value).unwrap();
        set(Field::GlobalAddress, 0, map.address);
        set(Field::Rank, 0, 2);
        set(Field::Elemtype, 0, 10);
        set(Field::SwizzleMode, 0, 3);
        set(Field::SwizzleAtomicity, 0, 0);
        set(Field::FillMode, 0, 1);
        set(Field::InterleaveLayout, 0, 0);
        for i in 0..3 {
            set(Field::GlobalDim, i, map.dims[i]);
            set(Field::BoxDim, i, [64, 256, 1][i]);
            set(Field::ElementStride, i, map.element_strides[i].into());
        }
        set(Field::GlobalStride, 0, map.strides[0]);
        set(Field::GlobalStride, 1, map.strides[1]);
        assert_eq!(
            decode(&bytes),
            Ok(TensorMap {
                l2_promotion: L2Promotion::None,
                ..map
            })
        );
    }

    #[test]
    fn nonsense_is_refused_in_words() {
        let mut bytes = encode(&tiled());
        replace(&mut bytes, Field::SwizzleMode, 0, 9).unwrap();
        assert!(decode(&bytes).unwrap_err().detail.contains("swizzle mode 9"));
        let mut bytes = encode(&tiled());
        replace(&mut bytes, Field::BoxDim, 0, 300).unwrap();
        assert!(decode(&bytes).unwrap_err().detail.contains("300"));
        assert!(replace(&mut bytes, Field::GlobalStride, 4, 0).is_err());
        assert!(decode(&[0xff; DESCRIPTOR_BYTES]).is_err());
        let none = decode(&[0; DESCRIPTOR_BYTES]).unwrap_err().detail;
        assert!(none.contains("an empty tensor has no map"), "{none}");
    }
}
