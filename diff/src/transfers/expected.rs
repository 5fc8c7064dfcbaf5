//! What a case does by the formulas: the independent side where there is one device only.
use super::{
    Outcome, Transfer,
    form::{Form, THREADS, Walk},
};
use girih_core::tensor_map::{Fill, Format, TensorMap};
use girih_sim::tma::{
    LoadMode, ReduceOp, StoreMode,
    formula::{Element, combined, loaded, permuted, rounded_to_tf32, stored},
};

/// The memories after a case; `None` where no formula says what happens: sums of f32 and f64 without a tensor map.
pub fn outcome(case: &Transfer) -> Option<Outcome> {
    let (global, shared) = case.data();
    let mut memory = Memory { case, global, shared };
    match (case.form, &case.map) {
        (Form::Load { walk, .. }, Some(map)) => memory.load(map, walk),
        (Form::Store { walk, .. }, Some(map)) => memory.store(map, walk, None),
        (Form::Reduce { op, walk, .. }, Some(map)) => memory.store(map, walk, Some(op)),
        (Form::BulkReduce(t) | Form::BulkSendReduce(t), _) => {
            if matches!(t.format(), Format::F32 | Format::F64) {
                return None;
            }
            memory.combine(t.op, t.format(), t.bytes);
        }
        _ => memory.copy(),
    }
    Some(Outcome {
        shared: memory.shared,
        ended: vec![true; case.blocks as usize],
        global: memory.global,
    })
}

struct Memory<'a> {
    case: &'a Transfer,
    global: Vec<u8>,
    shared: Vec<u8>,
}

impl Memory<'_> {
    fn block(&self, rank: u32) -> usize {
        (rank * self.case.shared_bytes) as usize
    }

    fn receivers(&self) -> Vec<u32> {
        (0..self.case.blocks).filter(|b| self.case.mask >> b & 1 != 0).collect()
    }

    fn coordinates(&self) -> Vec<i64> {
        self.case.coords.iter().map(|c| i64::from(*c)).collect()
    }

    /// The block's shared memory begins at a multiple of every swizzle's period.
    fn place(&self, map: &TensorMap, element: &Element, byte: u64) -> usize {
        permuted(map.swizzle, u64::from(self.case.at) + element.image + byte) as usize
    }

    fn load(&mut self, map: &TensorMap, walk: Walk) {
        let offsets = self.case.offsets;
        let mode = match walk {
            Walk::Tile => LoadMode::Tile,
            Walk::Columns => LoadMode::Im2col { offsets },
        };
        let elements = loaded(map, mode, &self.coordinates());
        let rounds = matches!(map.format, Format::Tf32 | Format::Tf32Ftz);
        for element in &elements {
            let byte = match element.global(map, false) {
                Some(at) if rounds => {
                    let within = element.byte as usize % 4;
                    let first = at - within;
                    let word = u32::from_le_bytes(std::array::from_fn(|i| self.global[first + i]));
                    rounded_to_tf32(word).to_le_bytes()[within]
                }
                Some(at) => self.global[at],
                None if map.fill == Fill::Nan => [0xf7, 0x7f][element.byte as usize % 2],
                None => 0,
            };
            let place = self.place(map, element, 0);
            for block in self.receivers() {
                let at = self.block(block) + place;
                self.shared[at] = byte;
            }
        }
    }

    fn store(&mut self, map: &TensorMap, walk: Walk, op: Option<ReduceOp>) {
        let mode = match walk {
            Walk::Tile => StoreMode::Tile,
            Walk::Columns => StoreMode::Im2colNoOffs,
        };
        let width = if op.is_some() {
            map.format.bytes().unwrap_or(1)
        } else {
            1
        };
        for element in stored(map, mode, &self.coordinates()) {
            let Some(at) = element.global(map, true).filter(|_| element.byte % width == 0) else {
                continue;
            };
            let source: Vec<u8> = (0..width)
                .map(|byte| self.shared[self.place(map, &element, byte)])
                .collect();
            let target = &mut self.global[at..at + width as usize];
            match op {
                None => target.copy_from_slice(&source),
                Some(op) => apply(op, map.format, target, &source),
            }
        }
    }

    /// The bytes that a copy without a map takes, and where it puts them.
    fn combine(&mut self, op: ReduceOp, format: Format, width: usize) {
        let case = self.case;
        let from = self.block(case.issuer) + case.at as usize;
        let source = self.shared[from..from + case.size as usize].to_vec();
        let at = case.distance as usize;
        let target = match case.form {
            Form::BulkReduce(_) => &mut self.global[at..at + source.len()],
            _ => {
                let at = self.block(case.mask.ilog2()) + at;
                &mut self.shared[at..at + source.len()]
            }
        };
        for (target, source) in target.chunks_exact_mut(width).zip(source.chunks_exact(width)) {
            apply(op, format, target, source);
        }
    }

    fn copy(&mut self) {
        let case = self.case;
        let (size, outer, at) = (case.size as usize, case.distance as usize, case.at as usize);
        match case.form {
            Form::BulkLoad { .. } => {
                for block in self.receivers() {
                    let at = self.block(block) + at;
                    self.shared[at..at + size].copy_from_slice(&self.global[outer..outer + size]);
                }
            }
            Form::BulkStore => {
                let at = self.block(case.issuer) + at;
                self.global[outer..outer + size].copy_from_slice(&self.shared[at..at + size]);
            }
            Form::BulkSend => {
                let from = self.block(case.issuer) + at;
                let to = self.block(case.mask.ilog2()) + outer;
                self.shared.copy_within(from..from + size, to);
            }
            Form::Async { bytes, .. } => {
                // What is not read is zero.
                for thread in 0..THREADS as usize {
                    let shift = thread * bytes as usize;
                    let (from, to) = (outer + shift, at + shift);
                    self.shared[to..to + bytes as usize].fill(0);
                    self.shared[to..to + size].copy_from_slice(&self.global[from..from + size]);
                }
            }
            _ => {}
        }
    }
}

/// Combines one element.
fn apply(op: ReduceOp, format: Format, target: &mut [u8], source: &[u8]) {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
    let new = combined(op, format, number(target), number(source));
    target.copy_from_slice(&new.to_le_bytes()[..source.len()]);
}
