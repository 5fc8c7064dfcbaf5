//! Shared memory of a block, and how a cluster's blocks see each other's.
use super::Block;
use crate::isa::{RANK_SHIFT, SHARED_BASE};
use crate::memory::{Bytes, Fault, FaultKind, aligned};
use std::cell::RefCell;

/// Shared memory of one block. Addresses start at [`SHARED_BASE`].
pub struct SharedMemory(RefCell<Vec<u8>>);

impl SharedMemory {
    /// Zeroed memory that ends at an address.
    pub fn new(end: u32) -> Self {
        SharedMemory(RefCell::new(vec![0; end as usize]))
    }

    /// The bytes by address, those below [`SHARED_BASE`] included.
    pub fn with<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T {
        f(&mut self.0.borrow_mut())
    }

    fn range(&self, addr: u64, bytes: usize) -> Result<std::ops::Range<usize>, Fault> {
        let size = self.0.borrow().len() as u64;
        if addr >= SHARED_BASE.into() && addr.checked_add(bytes as u64).is_some_and(|end| end <= size) {
            Ok(addr as usize..addr as usize + bytes)
        } else {
            Err(Fault::new(FaultKind::IllegalAddress, outside(addr, bytes as u64, size)))
        }
    }
}

/// Words for bytes outside the shared memory of a block, which ends at `size`.
fn outside(addr: u64, bytes: u64, size: u64) -> String {
    let base = u64::from(SHARED_BASE);
    let how_far = match addr.checked_sub(size) {
        Some(past) => format!("{past} bytes past its end"),
        None if addr < base => format!("{} bytes before its start", base - addr),
        None => format!("ends {} bytes past its end", addr.saturating_add(bytes) - size),
    };
    format!("{bytes} bytes at shared address {addr:#x}, {how_far}; the block's shared memory is {base:#x} to {size:#x}")
}

impl Bytes for SharedMemory {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        let range = self.range(addr, out.len())?;
        out.copy_from_slice(&self.0.borrow()[range]);
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), Fault> {
        let range = self.range(addr, data.len())?;
        self.0.borrow_mut()[range].copy_from_slice(data);
        Ok(())
    }

    fn update(&self, addr: u64, size: usize, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        aligned(addr, size as u64)?;
        let mut bytes = [0; 8];
        self.read(addr, &mut bytes[..size])?;
        let old = u64::from_le_bytes(bytes);
        self.write(addr, &f(old).to_le_bytes()[..size])?;
        Ok(old)
    }
}

/// Shared memory as one block of a cluster addresses it.
pub struct ClusterShared<'a> {
    /// The cluster's blocks by rank.
    pub blocks: &'a [Block],
    /// Rank of the block that addresses.
    pub own: usize,
}

impl ClusterShared<'_> {
    /// The block that an address is in, and the address there.
    pub fn locate(&self, addr: u64) -> Result<(&SharedMemory, u64), Fault> {
        let rank = (addr >> RANK_SHIFT) as usize;
        let index = if rank == 0 { self.own } else { rank - 1 };
        match self.blocks.get(index) {
            Some(block) => Ok((&block.shared, addr & ((1 << RANK_SHIFT) - 1))),
            None => Err(Fault::new(
                FaultKind::IllegalAddress,
                format!(
                    "shared address {addr:#x} is in block {index} of a cluster of {}",
                    self.blocks.len()
                ),
            )),
        }
    }
}

impl Bytes for ClusterShared<'_> {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        let (memory, addr) = self.locate(addr)?;
        memory.read(addr, out)
    }
    fn write(&self, addr: u64, data: &[u8]) -> Result<(), Fault> {
        let (memory, addr) = self.locate(addr)?;
        memory.write(addr, data)
    }
    fn update(&self, addr: u64, size: usize, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        let (memory, addr) = self.locate(addr)?;
        memory.update(addr, size, f)
    }
}
