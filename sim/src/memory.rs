//! Device memory: allocations at fixed addresses, read and written by many blocks at once.
//!
//! Every allocation is an array of 64-bit atomic words, so that racing blocks of a kernel give the outcomes that a GPU
//! could give and never undefined behaviour. Nothing beyond the end of an allocation can be touched.
use crate::ranges::Ranges;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// What a GPU reports for a faulting access; the names are those of the CUDA driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// `CUDA_ERROR_ILLEGAL_ADDRESS`.
    IllegalAddress,
    /// `CUDA_ERROR_ILLEGAL_ADDRESS` of an allocation that was freed.
    UseAfterFree,
    /// `CUDA_ERROR_ILLEGAL_ADDRESS` past the end of a thread's stack.
    StackOverflow,
    /// `CUDA_ERROR_MISALIGNED_ADDRESS`.
    MisalignedAddress,
    /// `CUDA_ERROR_ILLEGAL_INSTRUCTION`.
    IllegalInstruction,
    /// `CUDA_ERROR_ILLEGAL_INSTRUCTION` of an mbarrier that is none, or is told more than it takes.
    BarrierObject,
    /// `CUDA_ERROR_ILLEGAL_INSTRUCTION` of a transaction count out of range.
    TransactionCount,
    /// `CUDA_ERROR_ILLEGAL_INSTRUCTION` of threads that use a barrier in different ways.
    BarrierDivergence,
    /// `CUDA_ERROR_INVALID_ADDRESS_SPACE`.
    InvalidAddressSpace,
    /// `CUDA_ERROR_INVALID_PC`.
    InvalidPc,
    /// `CUDA_ERROR_LAUNCH_FAILED`: `trap`, and faults without a name of their own.
    LaunchFailed,
    /// `CUDA_ERROR_ASSERT`: an assertion of the kernel does not hold.
    Assert,
    /// `CUDA_ERROR_LAUNCH_TIMEOUT` of a deadlock.
    LaunchTimeout,
    /// `CUDA_ERROR_LAUNCH_TIMEOUT` of a launch that came to its limit of instructions.
    InstructionLimit,
    /// `CUDA_ERROR_NOT_SUPPORTED`: the simulator lacks what the instruction asks for.
    NotSupported,
}

impl FaultKind {
    /// The driver's name for it.
    pub fn code(self) -> &'static str {
        match self {
            FaultKind::IllegalAddress | FaultKind::UseAfterFree | FaultKind::StackOverflow => {
                "CUDA_ERROR_ILLEGAL_ADDRESS"
            }
            FaultKind::MisalignedAddress => "CUDA_ERROR_MISALIGNED_ADDRESS",
            FaultKind::IllegalInstruction
            | FaultKind::BarrierObject
            | FaultKind::TransactionCount
            | FaultKind::BarrierDivergence => "CUDA_ERROR_ILLEGAL_INSTRUCTION",
            FaultKind::InvalidAddressSpace => "CUDA_ERROR_INVALID_ADDRESS_SPACE",
            FaultKind::InvalidPc => "CUDA_ERROR_INVALID_PC",
            FaultKind::LaunchFailed => "CUDA_ERROR_LAUNCH_FAILED",
            FaultKind::Assert => "CUDA_ERROR_ASSERT",
            FaultKind::LaunchTimeout | FaultKind::InstructionLimit => "CUDA_ERROR_LAUNCH_TIMEOUT",
            FaultKind::NotSupported => "CUDA_ERROR_NOT_SUPPORTED",
        }
    }
}

/// An access or an instruction that a GPU would fault on.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{detail}")]
pub struct Fault {
    /// Which of the driver's errors it becomes.
    pub kind: FaultKind,
    /// Expected, found and remedy, without the place, which the caller adds.
    pub detail: String,
    /// What to do, where the kind alone does not say it.
    pub remedy: Option<&'static str>,
}

impl Fault {
    /// A fault with its words.
    pub fn new(kind: FaultKind, detail: impl Into<String>) -> Self {
        Fault {
            kind,
            detail: detail.into(),
            remedy: None,
        }
    }

    /// With what to do about it.
    pub fn with_remedy(self, remedy: &'static str) -> Self {
        let remedy = Some(remedy);
        Fault { remedy, ..self }
    }
}

/// Memory addressed by 64-bit addresses and shared by whoever holds a reference.
///
/// An access of 1, 2, 4 or 8 bytes at a multiple of its size is atomic; a longer one is a sequence of such.
pub trait Bytes {
    /// Fills `out` from `addr`. [`FaultKind::IllegalAddress`] when any byte lies outside what is allocated.
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault>;
    /// Writes `data` at `addr`. [`FaultKind::IllegalAddress`] as for reads, and for memory that is read-only.
    fn write(&self, addr: u64, data: &[u8]) -> Result<(), Fault>;
    /// Replaces the `size` (1, 2, 4 or 8) bytes at `addr`, a multiple of `size`, by `f` of them in one step and gives the
    /// old value, zero-extended. `f` may run several times. [`FaultKind::MisalignedAddress`] when `addr` is unaligned.
    fn update(&self, addr: u64, size: usize, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault>;
}

/// Whether the program may write a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `.global`.
    ReadWrite,
    /// `.const` and kernel parameters.
    ReadOnly,
}

struct Region {
    base: u64,
    bytes: u64,
    access: Access,
    /// Offsets that were written, by the host or by launches that kept count.
    written: Ranges,
    words: Box<[AtomicU64]>,
}

impl Region {
    fn end(&self) -> u64 {
        self.base + self.bytes
    }

    fn read(&self, offset: u64, out: &mut [u8]) {
        let mut index = (offset / 8) as usize;
        let skip = (offset % 8) as usize;
        let mut done = 0;
        if skip != 0 {
            let word = self.words[index].load(Ordering::Acquire).to_le_bytes();
            done = out.len().min(8 - skip);
            out[..done].copy_from_slice(&word[skip..skip + done]);
            index += 1;
        }
        let mut chunks = out[done..].chunks_exact_mut(8);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.words[index].load(Ordering::Acquire).to_le_bytes());
            index += 1;
        }
        let rest = chunks.into_remainder();
        if !rest.is_empty() {
            let word = self.words[index].load(Ordering::Acquire).to_le_bytes();
            rest.copy_from_slice(&word[..rest.len()]);
        }
    }

    fn write(&self, offset: u64, data: &[u8]) {
        let mut index = (offset / 8) as usize;
        let skip = (offset % 8) as usize;
        let mut done = 0;
        if skip != 0 {
            done = data.len().min(8 - skip);
            self.merge(index, skip, &data[..done]);
            index += 1;
        }
        let mut chunks = data[done..].chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.words[index].store(u64::from_le_bytes(word), Ordering::Release);
            index += 1;
        }
        if !chunks.remainder().is_empty() {
            self.merge(index, 0, chunks.remainder());
        }
    }

    /// Replaces less than a word, leaving its other bytes to whoever writes them at the same time.
    fn merge(&self, index: usize, skip: usize, data: &[u8]) {
        let (mut mask, mut value) = ([0u8; 8], [0u8; 8]);
        mask[skip..skip + data.len()].fill(0xff);
        value[skip..skip + data.len()].copy_from_slice(data);
        let (mask, value) = (u64::from_le_bytes(mask), u64::from_le_bytes(value));
        let word = &self.words[index];
        let mut old = word.load(Ordering::Relaxed);
        while let Err(now) = word.compare_exchange_weak(old, old & !mask | value, Ordering::AcqRel, Ordering::Relaxed) {
            old = now;
        }
    }
}

/// One allocation.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Address of the first byte.
    pub base: u64,
    /// Whether the program may write it.
    pub writable: bool,
    region: &'a Region,
}

impl View<'_> {
    /// Whether bytes at an offset lie inside.
    #[inline]
    pub fn holds(&self, offset: u64, bytes: u64) -> bool {
        offset < self.region.bytes && bytes <= self.region.bytes - offset
    }

    /// Loads 1, 2, 4 or 8 bytes inside, at a multiple of their number.
    #[inline]
    pub fn load(&self, offset: u64, bytes: u64) -> u64 {
        let word = self.region.words[(offset / 8) as usize].load(Ordering::Acquire) >> (offset % 8 * 8);
        if bytes == 8 {
            word
        } else {
            word & ((1 << (bytes * 8)) - 1)
        }
    }

    /// Stores 1, 2, 4 or 8 bytes inside, at a multiple of their number.
    #[inline]
    pub fn store(&self, offset: u64, bytes: u64, value: u64) {
        if bytes == 8 {
            self.region.words[(offset / 8) as usize].store(value, Ordering::Release);
        } else {
            let (index, skip) = ((offset / 8) as usize, (offset % 8) as usize);
            self.region.merge(index, skip, &value.to_le_bytes()[..bytes as usize]);
        }
    }
}

/// All global, constant and kernel-parameter memory of a simulated device.
pub struct GlobalMemory {
    /// Sorted by base address.
    regions: Vec<Region>,
    next: u64,
    /// Base and bytes of what was freed, in order of base; addresses are not given out again.
    freed: BTreeMap<u64, u64>,
    /// Serialises 16-byte updates, which no 64-bit word can hold.
    wide: Mutex<()>,
}

impl Default for GlobalMemory {
    fn default() -> Self {
        GlobalMemory {
            regions: Vec::new(),
            next: FIRST_ADDRESS,
            freed: BTreeMap::new(),
            wide: Mutex::new(()),
        }
    }
}

/// Addresses of the state spaces other than global memory are below it.
const SMALL: u64 = 1 << 20;
/// Address of the first allocation; all below it, and the windows of `memory_map`, stay unmapped.
const FIRST_ADDRESS: u64 = 0x7f00_0000_0000;
/// Unmapped bytes after each allocation, so that running past an end never reaches a neighbour.
const GUARD_BYTES: u64 = 4096;

impl GlobalMemory {
    /// Allocates zeroed bytes at an address that is a multiple of `align` (a power of two, at least 256 is used).
    /// Host memory is taken only as it is touched. An error when the host cannot give it.
    pub fn allocate(&mut self, bytes: u64, align: u64, access: Access) -> Result<u64, Fault> {
        let align = align.max(256);
        let base = self.next.next_multiple_of(align);
        let words = bytes.div_ceil(8) as usize;
        let mut storage: Vec<u64> = Vec::new();
        if words.checked_mul(8).is_none_or(|n| n > isize::MAX as usize) || storage.try_reserve_exact(words).is_err() {
            return Err(Fault::new(
                FaultKind::IllegalAddress,
                format!("the host has no {bytes} bytes for an allocation"),
            ));
        }
        drop(storage);
        let words = into_atomic(vec![0u64; words].into_boxed_slice());
        self.regions.push(Region {
            base,
            bytes,
            access,
            written: Ranges::default(),
            words,
        });
        self.next = (base + bytes + GUARD_BYTES).next_multiple_of(256);
        Ok(base)
    }

    /// Frees the allocation that starts at `base`; false when there is none.
    pub fn free(&mut self, base: u64) -> bool {
        match self.regions.binary_search_by_key(&base, |region| region.base) {
            Ok(index) => {
                let region = self.regions.remove(index);
                self.freed.insert(region.base, region.bytes);
                true
            }
            Err(_) => false,
        }
    }

    /// Counts bytes of an allocation as written.
    pub fn mark_written(&mut self, addr: u64, bytes: u64) {
        let above = self.regions.partition_point(|region| region.base <= addr);
        if let Some(region) = above.checked_sub(1).and_then(|index| self.regions.get_mut(index)) {
            let offset = addr - region.base;
            region
                .written
                .insert(offset, offset.saturating_add(bytes).min(region.bytes));
        }
    }

    /// Counts everything as written: a launch ran that did not keep count.
    pub fn mark_all_written(&mut self) {
        for region in &mut self.regions {
            region.written.insert(0, region.bytes);
        }
    }

    /// What of the allocation at `base` was written.
    pub fn set_written(&mut self, base: u64, written: Ranges) {
        if let Ok(index) = self.regions.binary_search_by_key(&base, |region| region.base) {
            self.regions[index].written = written;
        }
    }

    /// The allocations that a program may write, in order of address: base, bytes, and offsets that were written.
    pub fn writable(&self) -> impl Iterator<Item = (u64, u64, Ranges)> {
        let writable = self.regions.iter().filter(|region| region.access == Access::ReadWrite);
        writable.map(|region| (region.base, region.bytes, region.written.clone()))
    }

    /// Writes regardless of [`Access`], for module loading and parameters.
    pub fn initialise(&self, addr: u64, data: &[u8]) -> Result<(), Fault> {
        let region = self.find(addr, data.len() as u64)?;
        region.write(addr - region.base, data);
        Ok(())
    }

    /// Replaces the 16 bytes at `addr`, a multiple of 16, in one step with respect to other calls of this function.
    pub fn update_wide(&self, addr: u64, f: &mut dyn FnMut(u128) -> u128) -> Result<u128, Fault> {
        aligned(addr, 16)?;
        let _guard = self.wide.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut bytes = [0; 16];
        self.read(addr, &mut bytes)?;
        let old = u128::from_le_bytes(bytes);
        self.write(addr, &f(old).to_le_bytes())?;
        Ok(old)
    }

    fn find(&self, addr: u64, bytes: u64) -> Result<&Region, Fault> {
        let index = self.regions.partition_point(|region| region.base <= addr);
        if let Some(region) = index.checked_sub(1).map(|i| &self.regions[i])
            && addr.checked_add(bytes).is_some_and(|end| end <= region.end())
        {
            return Ok(region);
        }
        Err(self.outside(addr, bytes))
    }

    #[cold]
    fn outside(&self, addr: u64, bytes: u64) -> Fault {
        let freed = self.freed.range(..=addr).next_back();
        if let Some((base, freed)) = freed.filter(|(base, freed)| addr - *base < **freed) {
            return Fault::new(
                FaultKind::UseAfterFree,
                format!(
                    "{bytes} bytes at address {addr:#x} are {} bytes into an allocation of {freed} bytes at {base:#x} that was freed",
                    addr - base
                ),
            );
        }
        let index = self.regions.partition_point(|region| region.base <= addr);
        let below = index.checked_sub(1).map(|i| &self.regions[i]);
        let near = match (below, self.regions.get(index)) {
            (Some(region), _) if addr < region.end() => format!(
                "; the allocation of {} bytes at {:#x} ends {} bytes after their begin",
                region.bytes,
                region.base,
                region.end() - addr
            ),
            (Some(region), _) if addr - region.end() < GUARD_BYTES => format!(
                "; they begin {} bytes past the end of the allocation of {} bytes at {:#x}",
                addr - region.end(),
                region.bytes,
                region.base
            ),
            (_, Some(region)) if region.base - addr <= GUARD_BYTES => format!(
                "; they begin {} bytes before the allocation of {} bytes at {:#x}",
                region.base - addr,
                region.bytes,
                region.base
            ),
            _ if addr < SMALL => {
                "; an address so small is null, or of the .shared, .local or .param space without a cvta that makes it generic"
                    .to_owned()
            }
            _ => String::new(),
        };
        Fault::new(
            FaultKind::IllegalAddress,
            format!("{bytes} bytes at address {addr:#x} are not allocated{near}"),
        )
    }

    /// Loads 1, 2, 4 or 8 bytes at a multiple of their number, zero-extended.
    #[inline]
    pub fn load(&self, addr: u64, bytes: u64) -> Result<u64, Fault> {
        let region = self.find(addr, bytes)?;
        let offset = addr - region.base;
        let word = region.words[(offset / 8) as usize].load(Ordering::Acquire) >> (offset % 8 * 8);
        Ok(if bytes == 8 {
            word
        } else {
            word & ((1 << (bytes * 8)) - 1)
        })
    }

    /// The allocation that an address is in.
    #[inline]
    pub fn view(&self, addr: u64) -> Option<View<'_>> {
        let index = self.regions.partition_point(|region| region.base <= addr);
        let region = &self.regions[index.checked_sub(1)?];
        (addr < region.end()).then(|| View {
            base: region.base,
            writable: region.access == Access::ReadWrite,
            region,
        })
    }

    fn find_writable(&self, addr: u64, bytes: u64) -> Result<&Region, Fault> {
        let region = self.find(addr, bytes)?;
        match region.access {
            Access::ReadWrite => Ok(region),
            Access::ReadOnly => Err(Fault::new(
                FaultKind::IllegalAddress,
                format!("write of {bytes} bytes to read-only memory at {addr:#x}"),
            )),
        }
    }
}

impl Bytes for GlobalMemory {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Fault> {
        let region = self.find(addr, out.len() as u64)?;
        region.read(addr - region.base, out);
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), Fault> {
        let region = self.find_writable(addr, data.len() as u64)?;
        region.write(addr - region.base, data);
        Ok(())
    }

    fn update(&self, addr: u64, size: usize, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, Fault> {
        aligned(addr, size as u64)?;
        let region = self.find_writable(addr, size as u64)?;
        let offset = addr - region.base;
        let shift = offset % 8 * 8;
        let mask = if size == 8 { u64::MAX } else { (1u64 << (size * 8)) - 1 };
        let word = &region.words[(offset / 8) as usize];
        let mut old = word.load(Ordering::Acquire);
        loop {
            let value = old >> shift & mask;
            let new = old & !(mask << shift) | (f(value) & mask) << shift;
            match word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(value),
                Err(now) => old = now,
            }
        }
    }
}

/// [`FaultKind::MisalignedAddress`] unless `addr` is a multiple of `size`.
pub fn aligned(addr: u64, size: u64) -> Result<(), Fault> {
    if addr.is_multiple_of(size) {
        Ok(())
    } else {
        Err(Fault::new(
            FaultKind::MisalignedAddress,
            format!("address {addr:#x} is no multiple of the access size of {size} bytes"),
        ))
    }
}

fn into_atomic(words: Box<[u64]>) -> Box<[AtomicU64]> {
    let raw = Box::into_raw(words) as *mut [AtomicU64];
    // SAFETY: `AtomicU64` has the size, alignment and bit validity of `u64`, and the box is owned here alone. Going this
    // way rather than element by element keeps untouched pages of a large allocation unmapped.
    unsafe { Box::from_raw(raw) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unaligned_bytes_are_written_and_read_back() {
        let mut memory = GlobalMemory::default();
        let base = memory.allocate(100, 1, Access::ReadWrite).unwrap();
        let data: Vec<u8> = (1..=61).collect();
        for skip in 0..9 {
            memory.write(base, &[0; 100]).unwrap();
            memory.write(base + skip, &data).unwrap();
            let mut all = [0; 100];
            memory.read(base, &mut all).unwrap();
            let mut expected = [0; 100];
            expected[skip as usize..skip as usize + 61].copy_from_slice(&data);
            assert_eq!(all, expected);
            let mut part = vec![0; 61];
            memory.read(base + skip, &mut part).unwrap();
            assert_eq!(part, data);
        }
    }

    #[test]
    fn the_end_of_an_allocation_is_a_wall() {
        let mut memory = GlobalMemory::default();
        let base = memory.allocate(10, 1, Access::ReadWrite).unwrap();
        let next = memory.allocate(10, 1024, Access::ReadOnly).unwrap();
        assert_eq!(next % 1024, 0);
        assert!(memory.read(base + 9, &mut [0]).is_ok());
        assert_eq!(
            memory.read(base + 9, &mut [0; 2]).unwrap_err().kind,
            FaultKind::IllegalAddress
        );
        assert_eq!(memory.read(0, &mut [0]).unwrap_err().kind, FaultKind::IllegalAddress);
        assert_eq!(memory.write(next, &[1]).unwrap_err().kind, FaultKind::IllegalAddress);
        assert!(memory.free(base) && !memory.free(base));
        assert_eq!(memory.read(base, &mut [0]).unwrap_err().kind, FaultKind::UseAfterFree);
    }

    #[test]
    fn updates_leave_neighbours_alone() {
        let mut memory = GlobalMemory::default();
        let base = memory.allocate(16, 1, Access::ReadWrite).unwrap();
        memory.write(base, &[0xff; 16]).unwrap();
        assert_eq!(memory.update(base + 2, 2, &mut |v| v + 1).unwrap(), 0xffff);
        let mut all = [0; 8];
        memory.read(base, &mut all).unwrap();
        assert_eq!(all, [0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(
            memory.update(base + 1, 2, &mut |v| v).unwrap_err().kind,
            FaultKind::MisalignedAddress
        );
    }
}
