//! `wgmma.mma_async` and its sparse form: operands from shared memory as the descriptors say, or from registers.
//!
//! The product happens at once; the executor decides when a program may see it. Shared memory is read in pieces of 16
//! bytes, the atoms of every layout, at the physical addresses.
use super::accumulate::{self, Factors, Model, Select};
use super::fragment;
use super::integer::{self, Integers};
use super::product::{sums_from_bits, sums_to_bits};
use super::sparse::Sparsity;
use super::{BitOp, Element, Undefined, WarpRegister};
use crate::memory::{Bytes, Fault, FaultKind};
use girih_core::tensor_map::Swizzle;
use girih_core::wgmma::{
    Accumulator, Descriptor, Instruction, M, Major, Operand, Source, a_fragment, a_fragment_len, accumulator,
    accumulator_len,
};

/// One register of a warpgroup, by thread.
pub type WarpgroupRegister = [u64; 128];

const ROWS: usize = M as usize;
/// Bytes of K of one dense instruction.
const K_BYTES: usize = 32;
/// Bytes that every layout keeps together.
const ATOM_BYTES: usize = 16;

/// One `wgmma.mma_async`, checked against what PTX defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wgmma {
    instruction: Instruction,
    options: Options,
}

/// Qualifiers and immediates of a `wgmma.mma_async`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `.sp`: A holds half of its elements, with metadata; K is twice that of the dense instruction.
    pub sparse: bool,
    /// `imm-scale-a` is -1.
    pub negate_a: bool,
    /// `imm-scale-b` is -1.
    pub negate_b: bool,
    /// `.satfinite` on s32 sums.
    pub saturate: bool,
}

/// Where the elements of A are.
#[derive(Clone, Copy, Debug)]
pub enum A<'a> {
    /// In registers of the warpgroup.
    Registers(&'a [WarpgroupRegister]),
    /// In shared memory, by descriptor.
    Shared(u64),
}

/// Metadata of a sparse A.
#[derive(Clone, Copy, Debug)]
pub struct Metadata<'a> {
    /// `sp-meta` of each thread.
    pub words: &'a WarpgroupRegister,
    /// `sp-sel`.
    pub selector: usize,
}

impl Wgmma {
    /// The instruction, or why PTX has none.
    pub fn new(instruction: Instruction, options: Options) -> Result<Wgmma, Undefined> {
        if let Err(reasons) = instruction.check() {
            let words: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            return Err(Undefined(words.join("; ")));
        }
        let float = !matches!(instruction.a, Operand::S8 | Operand::U8 | Operand::B1);
        if !float && (options.negate_a || options.negate_b) {
            return Err(Undefined(format!(
                "wgmma of {} takes no scale of A or B",
                instruction.a
            )));
        }
        if options.saturate && !matches!(instruction.a, Operand::S8 | Operand::U8) {
            return Err(Undefined(format!("wgmma of {} takes no .satfinite", instruction.a)));
        }
        if options.sparse && instruction.a == Operand::B1 {
            return Err(Undefined("wgmma.sp of b1 does not exist".into()));
        }
        Ok(Wgmma { instruction, options })
    }

    /// Registers of D of each thread.
    pub fn d_registers(&self) -> usize {
        (accumulator_len(self.instruction.n) * self.instruction.d.bits() / 32) as usize
    }

    /// Registers of A of each thread, where it comes from registers.
    pub fn a_registers(&self) -> usize {
        (a_fragment_len(self.instruction.a) * self.instruction.a.bits() / 32) as usize
    }

    /// `d = a * b + d`, or `a * b` where `scale_d` is false. `shared` is the block's window: addresses are those of the
    /// descriptors, from its first byte on.
    ///
    /// Panics unless register operands have the counts above. Errors: `IllegalInstruction` for metadata that PTX does not
    /// define or is missing, and those of `shared`.
    pub fn run(
        &self,
        shared: &dyn Bytes,
        a: A<'_>,
        b: u64,
        scale_d: bool,
        metadata: Option<Metadata<'_>>,
        d: &mut [WarpgroupRegister],
    ) -> Result<(), Fault> {
        assert_eq!(d.len(), self.d_registers());
        let i = &self.instruction;
        let n = i.n as usize;
        let bits = i.a.bits() as usize;
        let depth = i.a.k() as usize;
        let a = match (a, i.a_source) {
            (A::Registers(registers), _) => self.a_from_registers(registers),
            (A::Shared(bits), Source::Shared(major)) => read_operand(shared, bits, major, ROWS, K_BYTES)?,
            (A::Shared(bits), Source::Registers) => read_operand(shared, bits, Major::K, ROWS, K_BYTES)?,
        };
        let selected = self.selected_rows(metadata)?;
        let (select, b_rows) = match &selected {
            Some(rows) => (Select::Sparse(rows), 2 * depth),
            None => (Select::Dense, depth),
        };
        let b = read_operand(shared, b, i.b_major, n, b_rows * bits / 8)?;
        let halves = if i.d == Accumulator::F16 { 2 } else { 1 };
        // Where an element lies in D, row by row, is the sum of a part for its thread and one for its number.
        let place = |thread, index| {
            let (row, column) = accumulator(thread, index);
            row as usize * n + column as usize
        };
        let of_thread: [usize; 128] = std::array::from_fn(|thread| place(thread as u32, 0));
        let of_element: Vec<usize> = (0..accumulator_len(i.n)).map(|index| place(0, index)).collect();
        let mut sums = vec![0; ROWS * n];
        if scale_d {
            for (register, elements) in d.iter().zip(of_element.chunks_exact(halves)) {
                for (&register, thread) in register.iter().zip(of_thread) {
                    for (half, &element) in elements.iter().enumerate() {
                        sums[thread + element] = fragment::element(register, 32 / halves, half);
                    }
                }
            }
        }
        let sums = self.product(depth, b_rows, &a, select, &b, &sums);
        for (register, elements) in d.iter_mut().zip(of_element.chunks_exact(halves)) {
            for (register, thread) in register.iter_mut().zip(of_thread) {
                *register = 0;
                for (half, &element) in elements.iter().enumerate() {
                    fragment::set_element(register, 32 / halves, half, sums[thread + element]);
                }
            }
        }
        Ok(())
    }

    fn product(
        &self,
        depth: usize,
        b_rows: usize,
        a: &Operands,
        select: Select<'_>,
        b: &Operands,
        sums: &[u64],
    ) -> Vec<u64> {
        let i = &self.instruction;
        let n = i.n as usize;
        let bits = i.a.bits() as usize;
        let (left, right) = (element(i.a), element(i.b));
        if let (Some(left), Some(right)) = (left.number(), right.number()) {
            let f16 = i.d == Accumulator::F16;
            let left_factors = Factors::gather(left, ROWS, depth, self.options.negate_a, |row, k| {
                a.element(bits, row, k)
            });
            let right_factors = Factors::gather(right, b_rows, n, self.options.negate_b, |k, column| {
                b.element(bits, column, k)
            });
            let mut sums = sums_from_bits(f16, sums);
            let model = Model::wgmma(left, f16);
            accumulate::multiply_accumulate(model, &left_factors, select, &right_factors, &mut sums);
            return sums_to_bits(f16, &sums);
        }
        let mut sums: Vec<i32> = sums.iter().map(|&c| c as u32 as i32).collect();
        if i.a == Operand::B1 {
            integer::count_ones(BitOp::And, K_BYTES / 4, &a.words(), &b.words(), &mut sums);
        } else {
            let value = |element: Element, bits: u64| element.integer(bits).unwrap_or(0);
            let a = Integers::gather(ROWS, depth, |row, k| value(left, a.element(bits, row, k)));
            let b = Integers::gather(b_rows, n, |k, column| value(right, b.element(bits, column, k)));
            integer::multiply_accumulate(&a, select, &b, self.options.saturate, &mut sums);
        }
        sums.into_iter().map(|v| u64::from(v as u32)).collect()
    }

    fn a_from_registers(&self, registers: &[WarpgroupRegister]) -> Operands {
        assert_eq!(registers.len(), self.a_registers());
        let operand = self.instruction.a;
        let bits = operand.bits() as usize;
        let per_register = 32 / bits;
        let mut bytes = vec![0u8; ROWS * K_BYTES];
        for thread in 0..128 {
            for (r, register) in registers.iter().enumerate() {
                // The elements of one register are neighbours in K.
                let (row, k) = a_fragment(operand, thread as u32, (r * per_register) as u32);
                let at = row as usize * K_BYTES + k as usize * bits / 8;
                bytes[at..at + 4].copy_from_slice(&(register[thread] as u32).to_le_bytes());
            }
        }
        Operands {
            k_bytes: K_BYTES,
            bytes,
        }
    }

    fn selected_rows(&self, metadata: Option<Metadata<'_>>) -> Result<Option<Vec<u16>>, Fault> {
        if !self.options.sparse {
            return Ok(None);
        }
        let illegal = |message: String| Fault::new(FaultKind::IllegalInstruction, message);
        let metadata = metadata.ok_or_else(|| illegal("sparse wgmma without metadata".into()))?;
        let sparsity = Sparsity::of(element(self.instruction.a));
        let mut rows = Vec::new();
        for warp in 0..4 {
            // Each warp has 16 rows of A, and the metadata layout of `mma.sp` for them.
            let words: WarpRegister = std::array::from_fn(|lane| metadata.words[32 * warp + lane]);
            let depth = self.instruction.a.k() as usize;
            rows.extend(
                sparsity
                    .selected_rows(16, depth, &words, metadata.selector)
                    .map_err(|e| illegal(e.to_string()))?,
            );
        }
        Ok(Some(rows))
    }
}

const fn element(operand: Operand) -> Element {
    match operand {
        Operand::F16 => Element::F16,
        Operand::Bf16 => Element::Bf16,
        Operand::Tf32 => Element::Tf32,
        Operand::E4m3 => Element::E4m3,
        Operand::E5m2 => Element::E5m2,
        Operand::S8 => Element::S8,
        Operand::U8 => Element::U8,
        Operand::B1 => Element::B1,
    }
}

/// An operand, K contiguous: `k_bytes` for each index of M or N.
struct Operands {
    k_bytes: usize,
    bytes: Vec<u8>,
}

impl Operands {
    #[inline]
    fn element(&self, bits: usize, mn: usize, k: usize) -> u64 {
        let at = mn * self.k_bytes + k * bits / 8;
        let b = &self.bytes;
        match bits {
            8 => b[at].into(),
            16 => u16::from_le_bytes([b[at], b[at + 1]]).into(),
            _ => u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]).into(),
        }
    }

    fn words(&self) -> Vec<u32> {
        self.bytes
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect()
    }
}

/// Reads `extent` rows of `k_bytes` bytes of K each. MN-major operands have elements of 2 bytes.
fn read_operand(shared: &dyn Bytes, bits: u64, major: Major, extent: usize, k_bytes: usize) -> Result<Operands, Fault> {
    let descriptor = Descriptor::decode(bits);
    let mut bytes = vec![0; extent * k_bytes];
    let mut atom = [0; ATOM_BYTES];
    match major {
        Major::K => {
            for mn in 0..extent {
                for k in (0..k_bytes).step_by(ATOM_BYTES) {
                    shared.read(address(&descriptor, major, 1, mn, k), &mut atom)?;
                    bytes[mn * k_bytes + k..][..ATOM_BYTES].copy_from_slice(&atom);
                }
            }
        }
        Major::Mn => {
            for k in 0..k_bytes / 2 {
                for mn in (0..extent).step_by(ATOM_BYTES / 2) {
                    shared.read(address(&descriptor, major, 2, mn, k), &mut atom)?;
                    for (i, element) in atom.chunks_exact(2).enumerate() {
                        bytes[(mn + i) * k_bytes + 2 * k..][..2].copy_from_slice(element);
                    }
                }
            }
        }
    }
    Ok(Operands { k_bytes, bytes })
}

/// Physical address of an element. A base offset shifts the phase of the swizzle by that many 128-byte lines.
///
/// The 64 bytes of K of a sparse instruction's B are two spans of the 32-byte swizzle, `leading_byte_offset` apart.
fn address(descriptor: &Descriptor, major: Major, element_bytes: u64, mn: usize, k: usize) -> u64 {
    let (mn, mut k) = (mn as u64, k as u64);
    let mut descriptor = *descriptor;
    if let (Major::K, Some(span)) = (major, descriptor.swizzle.span_bytes()) {
        descriptor.address += k * element_bytes / span * descriptor.leading_byte_offset;
        k %= span / element_bytes;
    }
    let shift = u64::from(descriptor.base_offset) * 128;
    if shift == 0 || descriptor.swizzle == Swizzle::None {
        return descriptor.element_address(major, element_bytes, mn, k);
    }
    descriptor.address += 1024 - shift;
    descriptor.element_address(major, element_bytes, mn, k) + shift - 1024
}
