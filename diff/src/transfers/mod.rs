//! Drawn transfers: tensor copies with drawn maps, boxes and coordinates, bulk copies and `cp.async`, each as PTX with the
//! tensor map that the device itself encodes. All of shared memory and all of global memory are compared, byte for byte.
//!
//! | module | what it does |
//! |---|---|
//! | [`draw`] | the case of a number: instruction, map, coordinates, data |
//! | [`form`] | the kernel of an instruction |
//! | [`mod@bench`] | runs a case on a device |
//! | [`expected`] | what a case does by the formulas of [`girih_sim::tma::formula`] |
//! | [`shrink`] | the smallest case that still differs |
pub mod bench;
pub mod draw;
pub mod expected;
pub mod form;
pub mod shrink;

use form::Form;
use girih_core::tensor_map::{Format, TensorMap};
use std::fmt;

/// Bytes of global memory that a case sees, addresses of whose map count from its start.
pub const GLOBAL_BYTES: usize = 1 << 17;
/// Most blocks of a case.
pub const MAX_BLOCKS: u32 = 4;

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The instruction.
    pub form: Form,
    /// The tensor, for those that use one; its address counts from the start of the global bytes.
    pub map: Option<TensorMap>,
    /// Coordinates, innermost first.
    pub coords: Vec<i32>,
    /// Offsets of im2col, W first.
    pub offsets: [u16; 3],
    /// Bytes from the start of shared memory to the image.
    pub at: u32,
    /// Bytes that each block in `mask` waits for.
    pub bytes: u32,
    /// Blocks of the cluster.
    pub blocks: u32,
    /// Blocks that get bytes, the lowest bit is block 0.
    pub mask: u32,
    /// The block that issues.
    pub issuer: u32,
    /// Without a map: bytes to the global piece, or to the piece in the other block's shared memory.
    pub distance: u64,
    /// Bytes that a copy without a map moves; for `cp.async`, that it reads.
    pub size: u32,
    /// Bytes of shared memory of each block, a multiple of 1024.
    pub shared_bytes: u32,
    /// Format that the data is drawn for.
    pub format: Format,
    /// Seed of the data.
    pub seed: u64,
}

/// What a case leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Shared memory of the blocks, one after the other.
    pub shared: Vec<u8>,
    /// Which blocks' waits ended.
    pub ended: Vec<bool>,
    /// All of global memory.
    pub global: Vec<u8>,
}

impl Transfer {
    /// Global memory and the blocks' shared memory before.
    pub fn data(&self) -> (Vec<u8>, Vec<u8>) {
        draw::data(self)
    }

    /// Where two outcomes of this case differ, in words; `None` where nothing does.
    pub fn difference(&self, a: &Outcome, b: &Outcome, names: [&str; 2]) -> Option<String> {
        let mut lines = Vec::new();
        for (block, (a, b)) in a.ended.iter().zip(&b.ended).enumerate() {
            if a != b {
                lines.push(format!(
                    "block {block}: the bytes came, all {}: {a} on {}, {b} on {}",
                    self.bytes, names[0], names[1]
                ));
            }
        }
        let length = self.shared_bytes as usize;
        let shared = |at: usize| {
            let place = (at % length) as i64 - i64::from(self.at);
            format!("shared memory of block {}, byte {place} of the image", at / length)
        };
        let address = self.map.as_ref().map_or(0, |map| map.address);
        let global = |at: usize| format!("global memory, byte {} of the tensor", at as i64 - address as i64);
        for (a, b, place) in [
            (&a.shared, &b.shared, &shared as &dyn Fn(usize) -> String),
            (&a.global, &b.global, &global),
        ] {
            let differ: Vec<usize> = (0..a.len().max(b.len())).filter(|i| a.get(*i) != b.get(*i)).collect();
            if let [first, ..] = differ[..] {
                let show = |bytes: &[u8]| {
                    let end = bytes.len().min(first + 8);
                    let text: Vec<String> = bytes[first.min(end)..end].iter().map(|b| format!("{b:02x}")).collect();
                    text.join(" ")
                };
                lines.push(format!(
                    "{} bytes differ, first in {}: {} on {}, {} on {}",
                    differ.len(),
                    place(first),
                    show(a),
                    names[0],
                    show(b),
                    names[1]
                ));
            }
        }
        (!lines.is_empty()).then(|| lines.join("\n  "))
    }
}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.form)?;
        if let Some(map) = &self.map {
            write!(
                f,
                "\n  map of {}: dims {:?}, strides {:?}, {:?}, element strides {:?}, interleave {:?}, swizzle {}, fill {:?}, \
                 address {}",
                map.format.name(),
                map.dims,
                map.strides,
                map.mode,
                map.element_strides,
                map.interleave,
                map.swizzle.name(),
                map.fill,
                map.address
            )?;
            write!(f, "\n  coordinates {:?}, offsets {:?}", self.coords, self.offsets)?;
        } else {
            write!(
                f,
                "\n  {} bytes, {} bytes into global memory or the other block's",
                self.size, self.distance
            )?;
        }
        write!(f, "\n  image {} bytes into shared memory", self.at)?;
        if self.blocks > 1 {
            write!(
                f,
                ", {} blocks, block {} issues, mask {:#b}",
                self.blocks, self.issuer, self.mask
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
