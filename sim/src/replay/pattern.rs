//! What the memory of recorded transfers held before.
use crate::memory::{Bytes, Fault};
use girih_core::tensor_map::Format;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Endless memory that holds a function of the address, and remembers what was written to it.
pub(super) struct Patterned {
    content: Content,
    written: RefCell<BTreeMap<u64, u8>>,
}

enum Content {
    Constant(u8),
    Pattern(Format),
}

impl Patterned {
    /// The pattern of a format.
    pub fn new(format: Format) -> Self {
        Patterned {
            content: Content::Pattern(format),
            written: RefCell::default(),
        }
    }

    /// The same byte everywhere.
    pub fn constant(byte: u8) -> Self {
        Patterned {
            content: Content::Constant(byte),
            written: RefCell::default(),
        }
    }

    fn original(&self, address: u64) -> u8 {
        let format = match self.content {
            Content::Constant(byte) => return byte,
            Content::Pattern(format) => format,
        };
        let width = format.bytes().unwrap_or(1);
        let value = ((address / width % 509) as f64 - 254.0) * 0.25;
        let byte = (address % width) as usize;
        match format {
            Format::F16 => half::f16::from_f64(value).to_le_bytes()[byte],
            Format::Bf16 => half::bf16::from_f64(value).to_le_bytes()[byte],
            Format::F32 | Format::F32Ftz => (value as f32).to_le_bytes()[byte],
            Format::F64 => value.to_le_bytes()[byte],
            Format::Tf32 | Format::Tf32Ftz => (value as f32 * (1.0009765625f64 * 1.0001) as f32).to_le_bytes()[byte],
            _ => (address.wrapping_mul(2_654_435_761) >> 13 ^ address >> 8) as u8,
        }
    }

    /// Bytes that are not what they were.
    pub fn changes(&self) -> BTreeMap<u64, u8> {
        let written = self.written.borrow();
        written
            .iter()
            .filter(|&(&at, &byte)| self.original(at) != byte)
            .map(|(&at, &byte)| (at, byte))
            .collect()
    }
}

impl Bytes for Patterned {
    fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Fault> {
        let written = self.written.borrow();
        for (at, byte) in (address..).zip(out) {
            *byte = written.get(&at).copied().unwrap_or_else(|| self.original(at));
        }
        Ok(())
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), Fault> {
        self.written.borrow_mut().extend((address..).zip(data.iter().copied()));
        Ok(())
    }

    fn update(&self, address: u64, size: usize, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        let mut word = [0; 8];
        self.read(address, &mut word[..size])?;
        let old = u64::from_le_bytes(word);
        self.write(address, &f(old).to_le_bytes()[..size])?;
        Ok(old)
    }
}
