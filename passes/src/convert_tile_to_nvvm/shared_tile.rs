//! Tiles whose layout passes chose, to and from shared memory, whatever its swizzle.
//!
//! Strides and swizzles are linear over the bits of coordinates, where these do not run into each other: a bit of the thread's
//! number or of a register's moves an address by an exclusive or. So the bits of the thread give one part of the address, and
//! each access adds what its register gives, most of it as a constant beside the address:
//!
//! ```text
//! 64x64xbf16, swizzle 128      bits of the row 7..13, of the column 1..6; f(a) = a ^ ((a >> 3) & 0x70)
//!   thread: row 0..7, column 0, 8, .. 56                f gives its 16 bytes another place in the row
//!   register: rows 8, 16, ..                            f leaves them alone: + 1024 bytes each
//! ```
//!
//! What the tile's indices add is added behind that where it is whole periods of the swizzle. Where it is not, and where strides
//! are no powers of two, each access computes its address and permutes it. Under a mask each access is a branch.
use super::{
    distributed::{Coordinates, thread_part},
    global_tile::{Outside, writes},
    memory::{shared_offset, swizzled},
};
use crate::{
    known::known_multiple,
    shared_access::{alignment, alike, byte_strides, run},
};
use girih_core::tensor_map::Swizzle;
use girih_dialects::{
    nvvm::{Emit, V},
    tile::{distribution::Distribution, spaces::shared_of, verify::element_bits},
};
use girih_ir::prelude::*;

/// A tile's place in shared memory.
pub(super) struct Place<'c> {
    /// Type of the memref.
    pub memory: Type<'c>,
    /// Address of its first element.
    pub base: V<'c>,
    /// Indices of the tile's first element.
    pub indices: Vec<V<'c>>,
    /// Bytes that the address of the tile's first element is known to be a multiple of.
    pub alignment: u64,
    /// For each register whether it is moved at all; none where all are.
    pub mask: Vec<V<'c>>,
    /// Neighbours along the last axis for which the mask is known to be one.
    pub alike: i64,
}

impl<'c> Place<'c> {
    /// Where an op's tile lies. `source` and `at` are the memref and the indices as the op has them.
    pub fn new(source: V<'c>, at: &[V<'c>], base: V<'c>, indices: Vec<V<'c>>) -> Self {
        Place {
            memory: source.r#type(),
            base,
            indices,
            alignment: alignment(source, at),
            mask: vec![],
            alike: i64::MAX,
        }
    }
    /// Only what a mask is true for: as the op has it, and a value for each register.
    pub fn masked(self, given: Option<V<'c>>, mask: Vec<V<'c>>) -> Self {
        Place {
            mask,
            alike: alike(given),
            ..self
        }
    }
    fn mode(&self) -> Swizzle {
        shared_of(self.memory).map_or(Swizzle::None, |s| s.mode())
    }
    fn element_bytes(&self) -> i64 {
        element_bits(self.memory).unwrap_or(8) as i64 / 8
    }

    /// Registers that one access moves.
    fn run(&self, d: &Distribution) -> usize {
        run(self.memory, self.alignment, self.alike, d)
    }

    /// The addresses of all accesses, one for each run of registers.
    fn pointers(&self, e: &Emit<'c, '_>, d: &Distribution, run: usize) -> Vec<V<'c>> {
        let strides: Vec<i64> = byte_strides(self.memory).collect();
        let first = d.registers.iter().step_by(run);
        let place = |at: &[u32]| at.iter().zip(&strides).map(|(c, s)| i64::from(*c) * s).sum::<i64>();
        let threads: Vec<i64> = d.threads.iter().map(|image| place(image)).collect();
        let registers: Vec<i64> = first.clone().map(|at| place(at)).collect();
        let period = match self.mode() {
            Swizzle::None => 1,
            mode => mode.period_bytes() as i64,
        };
        let mut indices = self.indices.iter().zip(&strides);
        let whole = |i: &V<'c>, stride: i64| known_multiple(*i).saturating_mul(stride) % period == 0;
        if indices.all(|(i, s)| whole(i, *s)) && is_linear(&threads, &registers) {
            return self.linear(e, &threads, &registers);
        }
        let coordinates = Coordinates::new(e, d.clone());
        let start = shared_offset(e, self.memory, &self.indices);
        (0..d.registers.len())
            .step_by(run)
            .map(|register| {
                let own = strides.iter().enumerate().map(|(axis, stride)| {
                    let c = coordinates.at(e, register, axis);
                    e.mul(c, e.c32(*stride))
                });
                let offset = own.fold(start, |sum, term| e.add(sum, term));
                e.byte_offset(self.base, swizzled(e, offset, self.mode()))
            })
            .collect()
    }

    /// Addresses where bits do not run into each other; `threads` and `registers` are bytes before the swizzle.
    fn linear(&self, e: &Emit<'c, '_>, threads: &[i64], registers: &[i64]) -> Vec<V<'c>> {
        let mode = self.mode();
        let permuted = |bytes: &i64| mode.apply(*bytes as u64) as i64;
        let images: Vec<Vec<u32>> = threads.iter().map(|t| vec![permuted(t) as u32]).collect();
        let taken = images.iter().fold(0, |all, image| all | i64::from(image[0]));
        let thread = thread_part(e, e.sreg("tid.x"), &images, 0);
        let start = e.byte_offset(self.base, shared_offset(e, self.memory, &self.indices));
        registers
            .iter()
            .map(|register| {
                // What meets bits of the thread is combined with them, the rest goes beside the address.
                let own = permuted(register);
                let near = if own & taken == 0 {
                    0
                } else {
                    own & (mode.period_bytes() as i64 - 1)
                };
                let at = if near == 0 { thread } else { e.xor(thread, e.c32(near)) };
                e.byte_offset_by(e.byte_offset(start, at), own - near)
            })
            .collect()
    }

    /// What each register of a tile holds; what is said of those outside where the mask is false.
    pub fn load(&self, e: &Emit<'c, '_>, tile: Type<'c>, d: &Distribution, outside: Outside<'c, '_>) -> Vec<V<'c>> {
        let run = self.run(d);
        let element = tile.element_type().unwrap_or(tile);
        let bytes = self.element_bytes() as u64 * run as u64;
        let pointers = self.pointers(e, d, run);
        let load = |e: &Emit<'c, '_>, pointer: V<'c>| e.load_many(pointer, run, element, bytes);
        if self.mask.is_empty() {
            return pointers.into_iter().flat_map(|p| load(e, p)).collect();
        }
        let pad = outside.number(e, element);
        let parts = pointers.into_iter().enumerate();
        parts
            .flat_map(|(i, pointer)| {
                let first = i * run;
                let otherwise = match outside {
                    Outside::Tile(others) => others[first..first + run].to_vec(),
                    Outside::Number(_) => vec![pad; run],
                };
                let types = vec![element; run];
                e.if_else(self.mask[first], &types, |e| load(&e, pointer), |_| otherwise)
            })
            .collect()
    }

    /// Stores what the registers hold; of threads that hold copies, one does.
    pub fn store(&self, e: &Emit<'c, '_>, values: &[V<'c>], d: &Distribution) {
        let run = self.run(d);
        let bytes = self.element_bytes() as u64 * run as u64;
        let pointers = self.pointers(e, d, run);
        let all = |e: &Emit<'c, '_>| {
            for (i, (pointer, part)) in pointers.iter().zip(values.chunks(run)).enumerate() {
                match self.mask.get(i * run) {
                    None => e.store(part, *pointer, bytes),
                    Some(mask) => e.if_then(*mask, |e| e.store(part, *pointer, bytes)),
                }
            }
        };
        match writes(e, d) {
            Some(speaks) => e.if_then(speaks, |e| all(&e)),
            None => all(e),
        }
    }
}

/// Whether no bit of an offset comes from two bits of thread and register, so that sums are exclusive ors.
fn is_linear(threads: &[i64], registers: &[i64]) -> bool {
    let mut taken = 0i64;
    let apart = threads.iter().all(|t| {
        let fits = taken & t == 0;
        taken |= t;
        fits
    });
    let of_registers = registers.iter().fold(0, |all, r| all | r);
    // Registers' numbers are bits: the offset of each is the exclusive or of those of its bits.
    let bits = (0..registers.len()).all(|r| {
        let mut parts = (0..usize::BITS).filter(|bit| r >> bit & 1 == 1);
        let sum = parts.try_fold(0, |sum: i64, bit| Some(sum ^ registers.get(1 << bit)?));
        sum == Some(registers[r])
    });
    apart && bits && taken & of_registers == 0
}
