//! Ways between the registers of threads and a list in shared memory.
use super::distributed::thread_part;
use girih_core::layout::{Dim, LinearLayout};
use girih_dialects::{
    nvvm::{Cmp, Emit, V},
    tile::distribution::Distribution,
};

/// Where the elements that a thread holds lie in a list of all elements of a tile.
pub struct Held<'c> {
    thread: V<'c>,
    registers: Vec<u32>,
    disjoint: bool,
}

impl<'c> Held<'c> {
    /// In a row-major list.
    pub fn new(e: &Emit<'c, '_>, d: &Distribution) -> Self {
        let flat = |at: &[u32]| at.iter().zip(&d.shape).fold(0, |n, (c, size)| n * *size as u32 + c);
        let threads: Vec<Vec<u32>> = d.threads.iter().map(|image| vec![flat(image)]).collect();
        Held::of(e, threads, d.registers.iter().map(|at| flat(at)).collect())
    }
    /// At the places that bits of the thread's number and registers give, combined by exclusive or.
    pub fn of(e: &Emit<'c, '_>, threads: Vec<Vec<u32>>, registers: Vec<u32>) -> Self {
        let all = |list: &mut dyn Iterator<Item = u32>| list.fold(0, |a, b| a | b);
        let disjoint = all(&mut threads.iter().map(|t| t[0])) & all(&mut registers.iter().copied()) == 0;
        Held {
            thread: thread_part(e, e.sreg("tid.x"), &threads, 0),
            registers,
            disjoint,
        }
    }
    /// Offset of what a register holds, in elements, i32.
    pub fn offset(&self, e: &Emit<'c, '_>, register: usize) -> V<'c> {
        let own = i64::from(self.registers[register]);
        match self.disjoint {
            _ if own == 0 => self.thread,
            true => e.add(self.thread, e.c32(own)),
            false => e.xor(self.thread, e.c32(own)),
        }
    }
    /// Its address in shared memory, in a list that starts `start` elements after `base`.
    pub fn pointer(&self, e: &Emit<'c, '_>, base: V<'c>, register: usize, bytes: i64, start: i64) -> V<'c> {
        if self.disjoint {
            let own = i64::from(self.registers[register]);
            return element_pointer(e, base, self.thread, bytes, (own + start) * bytes);
        }
        element_pointer(e, base, self.offset(e, register), bytes, start * bytes)
    }
}

/// Address of element `index` (i32) of a list at `base + start` bytes.
pub fn element_pointer<'c>(e: &Emit<'c, '_>, base: V<'c>, index: V<'c>, bytes: i64, start: i64) -> V<'c> {
    let at = if bytes == 1 {
        index
    } else {
        e.shl(index, i64::from(bytes.trailing_zeros()))
    };
    e.byte_offset_by(e.byte_offset(base, at), start)
}

/// What a thread of a tile's distribution reaches in shared memory, with the widest accesses that its registers have.
pub struct Route<'c> {
    held: Held<'c>,
    /// Registers that one access moves.
    accesses: Vec<Vec<usize>>,
    bytes: u64,
}

impl<'c> Route<'c> {
    /// For a tile whose elements, of `bytes`, lie at `offsets` (coordinates to offset in elements); `None` for another tile.
    pub fn new(e: &Emit<'c, '_>, d: &Distribution, offsets: &LinearLayout, bytes: u64) -> Option<Self> {
        let places = d.linear.then(offsets).ok()?;
        let image = |dim, bit| {
            places
                .image(dim, bit)
                .and_then(|i| i.first().map(|(_, v)| *v as u32))
                .unwrap_or(0)
        };
        let threads = [Dim::Lane, Dim::Warp]
            .into_iter()
            .flat_map(|dim| (0..places.input_bits(dim)).map(move |bit| (dim, bit)))
            .map(|(dim, bit)| vec![image(dim, bit)])
            .collect();
        let registers: Vec<u32> = (0..d.registers.len() as u64)
            .map(|r| places.coordinate(&[(Dim::Register, r)], Dim::Offset) as u32)
            .collect();
        let run = places.vector(Dim::Register, Dim::Offset).min(16 / bytes).max(1) as usize;
        let accesses = together(&registers, run);
        Some(Route {
            held: Held::of(e, threads, registers),
            accesses,
            bytes,
        })
    }
    /// Stores a thread's elements, one of each register, into the tile at `base + start` bytes, a multiple of an element's.
    pub fn store(&self, e: &Emit<'c, '_>, values: &[V<'c>], base: V<'c>, start: i64) {
        for access in &self.accesses {
            let pointer = self
                .held
                .pointer(e, base, access[0], self.bytes as i64, start / self.bytes as i64);
            let part: Vec<V> = access.iter().map(|r| values[*r]).collect();
            e.store(&part, pointer, self.bytes * part.len() as u64);
        }
    }
    /// Loads a thread's elements of type `element`, one for each register.
    pub fn load(
        &self,
        e: &Emit<'c, '_>,
        element: girih_ir::melior::ir::Type<'c>,
        base: V<'c>,
        start: i64,
    ) -> Vec<V<'c>> {
        let mut found: Vec<(u32, V)> = vec![];
        for access in &self.accesses {
            let pointer = self
                .held
                .pointer(e, base, access[0], self.bytes as i64, start / self.bytes as i64);
            let part = e.load_many(pointer, access.len(), element, self.bytes * access.len() as u64);
            found.extend(access.iter().map(|r| self.held.registers[*r]).zip(part));
        }
        let at = |offset: u32| found.iter().find(|(o, _)| *o == offset).map(|(_, v)| *v);
        self.held.registers.iter().filter_map(|offset| at(*offset)).collect()
    }
}

/// Lets one of all threads that hold an element do something.
pub fn once<'c>(e: &Emit<'c, '_>, d: &Distribution, code: impl FnOnce(&Emit<'c, '_>)) {
    match d.copy_bits() as i64 {
        0 => code(e),
        copies => {
            let speaks = e.cmp(Cmp::Eq, e.mask(e.sreg("tid.x"), copies), e.c32(0));
            e.if_then(speaks, |e| code(&e));
        }
    }
}

/// Registers that one access moves, `run` of them whose offsets follow each other, lowest first. Of registers that hold the
/// same element one is moved.
pub fn together(offsets: &[u32], run: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by_key(|r| (offsets[*r], *r));
    order.dedup_by_key(|r| offsets[*r]);
    let mut parts: Vec<Vec<usize>> = order.chunks(run).map(<[usize]>::to_vec).collect();
    parts.sort_by_key(|part| part.iter().min().copied());
    parts
}
