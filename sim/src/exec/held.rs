//! Sources of bulk copies that have been read while their data is still on its way.
//!
//! `cp.async.bulk.wait_group.read` frees the source and promises nothing of the destination. So the source's bytes are held
//! from then on, and the copy happens as late as any other.
use crate::isa::RANK_SHIFT;
use crate::memory::{Bytes, Fault, FaultKind};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Shared memory as a copy found it: pieces by address in their block.
#[derive(Debug, Default)]
pub struct Held(BTreeMap<u64, Vec<u8>>);

fn local(addr: u64) -> u64 {
    addr & ((1 << RANK_SHIFT) - 1)
}

fn read_only() -> Fault {
    Fault::new(FaultKind::IllegalAddress, "the source of a copy is only read")
}

impl Bytes for Held {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        let addr = local(addr);
        let piece = self.0.range(..=addr).next_back().and_then(|(start, bytes)| {
            let from = (addr - start) as usize;
            bytes.get(from..from.checked_add(out.len())?)
        });
        match piece {
            Some(piece) => {
                out.copy_from_slice(piece);
                Ok(())
            }
            None => Err(Fault::new(
                FaultKind::IllegalAddress,
                format!(
                    "{} bytes at shared address {addr:#x} are no source of this copy",
                    out.len()
                ),
            )),
        }
    }

    fn write(&self, _: u64, _: &[u8]) -> Result<(), Fault> {
        Err(read_only())
    }

    fn update(&self, _: u64, _: usize, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        Err(read_only())
    }
}

/// Shared memory that holds what is read of it.
pub struct Holder<'a> {
    memory: &'a dyn Bytes,
    held: RefCell<Held>,
}

impl<'a> Holder<'a> {
    /// Holds nothing yet.
    pub fn new(memory: &'a dyn Bytes) -> Self {
        Holder {
            memory,
            held: RefCell::default(),
        }
    }

    /// What was read.
    pub fn finish(self) -> Held {
        self.held.into_inner()
    }
}

impl Bytes for Holder<'_> {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        self.memory.read(addr, out)?;
        let mut held = self.held.borrow_mut();
        let piece = held.0.entry(local(addr)).or_default();
        if piece.len() < out.len() {
            *piece = out.to_vec();
        }
        Ok(())
    }

    fn write(&self, _: u64, _: &[u8]) -> Result<(), Fault> {
        Err(read_only())
    }

    fn update(&self, _: u64, _: usize, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        Err(read_only())
    }
}

/// A destination that keeps nothing, for copies that only read their source.
pub struct Nowhere;

impl Bytes for Nowhere {
    fn read(&self, _: u64, out: &mut [u8]) -> Result<(), Fault> {
        out.fill(0);
        Ok(())
    }

    fn write(&self, _: u64, _: &[u8]) -> Result<(), Fault> {
        Ok(())
    }

    fn update(&self, _: u64, _: usize, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        f(0);
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_stays_as_it_was() {
        let memory = RefCell::new(vec![7u8; 64]);
        struct Plain<'a>(&'a RefCell<Vec<u8>>);
        impl Bytes for Plain<'_> {
            fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
                out.copy_from_slice(&self.0.borrow()[addr as usize..][..out.len()]);
                Ok(())
            }
            fn write(&self, addr: u64, data: &[u8]) -> Result<(), Fault> {
                self.0.borrow_mut()[addr as usize..][..data.len()].copy_from_slice(data);
                Ok(())
            }
            fn update(&self, _: u64, _: usize, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
                Ok(0)
            }
        }
        let plain = Plain(&memory);
        let holder = Holder::new(&plain);
        holder.read(16, &mut [0; 16]).expect("it is there");
        let held = holder.finish();
        plain.write(16, &[9; 16]).expect("it is there");
        let mut out = [0; 8];
        held.read(20, &mut out).expect("it is held");
        assert_eq!(out, [7; 8]);
        assert!(held.read(28, &mut out).is_err() && held.write(16, &[1]).is_err());
    }
}
