//! A flat piece of memory that begins at an address; for replays and tests.
use crate::memory::{Bytes, Fault, FaultKind, aligned};
use std::cell::RefCell;

/// Bytes from `base` on, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flat {
    base: u64,
    bytes: RefCell<Vec<u8>>,
}

impl Flat {
    /// Memory that holds `bytes` at `base`.
    pub fn new(base: u64, bytes: Vec<u8>) -> Self {
        Flat {
            base,
            bytes: RefCell::new(bytes),
        }
    }

    /// What the memory holds now.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_inner()
    }

    fn start(&self, address: u64, len: usize) -> Result<usize, Fault> {
        let start = address.wrapping_sub(self.base);
        let held = self.bytes.borrow().len();
        if u128::from(start) + len as u128 <= held as u128 {
            return Ok(start as usize);
        }
        Err(Fault::new(
            FaultKind::IllegalAddress,
            format!(
                "{len} bytes at {address:#x} lie outside the {held} bytes at {:#x}",
                self.base
            ),
        ))
    }
}

impl Bytes for Flat {
    fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Fault> {
        let start = self.start(address, out.len())?;
        out.copy_from_slice(&self.bytes.borrow()[start..start + out.len()]);
        Ok(())
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), Fault> {
        let start = self.start(address, data.len())?;
        self.bytes.borrow_mut()[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn update(&self, address: u64, size: usize, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        aligned(address, size as u64)?;
        let mut word = [0; 8];
        self.read(address, &mut word[..size])?;
        let old = u64::from_le_bytes(word);
        self.write(address, &f(old).to_le_bytes()[..size])?;
        Ok(old)
    }
}
