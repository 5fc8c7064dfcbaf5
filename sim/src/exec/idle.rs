//! Registers that decide nothing of what is executed again and again: counters of loops that wait, sums that nobody looks at.
//!
//! ```text
//! L: ld.global.u32 %r3, [%rd1];      %r3 decides by %p1, %rd1 as an address
//!    add.u32 %r4, %r4, 1;            %r4 only goes into itself
//!    setp.eq.u32 %p1, %r3, 0;
//! @%p1 bra L;                        %p1 decides
//! ```
//!
//! What an instruction reads decides if it is more than arithmetic, or if what it writes decides. Two states that differ in
//! registers beside those are followed by the same instructions, on the same addresses, with the same values stored, as long as
//! only instructions are executed that were looked at.
use crate::isa::{Code, Op, Program};
use crate::operands::visit;
use std::collections::BTreeSet;

/// The instructions that were executed, by function and number.
#[derive(Default)]
pub(super) struct Executed {
    functions: Vec<Vec<u64>>,
    grew: bool,
}

impl Executed {
    /// Takes note of an instruction.
    pub fn note(&mut self, function: u32, at: u32) {
        let (function, word, bit) = (function as usize, at as usize / 64, 1 << (at % 64));
        if self.functions.len() <= function {
            self.functions.resize_with(function + 1, Vec::new);
        }
        let words = &mut self.functions[function];
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        self.grew |= words[word] & bit == 0;
        words[word] |= bit;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.functions.clear();
        self.grew = true;
    }

    /// Whether there are new ones since this was last asked.
    pub fn has_grown(&mut self) -> bool {
        std::mem::take(&mut self.grew)
    }

    fn of(&self, function: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.functions.get(function).into_iter().flatten().enumerate();
        words.flat_map(|(i, word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 != 0)
                .map(move |bit| 64 * i + bit)
        })
    }
}

/// Words of frames that decide nothing, as ranges by function.
#[derive(Default)]
pub(super) struct Idle(Vec<Vec<std::ops::Range<usize>>>);

impl Idle {
    /// Those of a program of which these instructions are executed.
    pub fn new(program: &Program, executed: &Executed) -> Idle {
        let functions = program.functions.iter().enumerate();
        Idle(
            functions
                .map(|(i, code)| code.as_ref().map_or_else(Vec::new, |code| idle(code, executed.of(i))))
                .collect(),
        )
    }

    /// The words of a frame's registers that decide something, piece by piece.
    pub fn rest<'r>(&self, function: u32, regs: &'r [u64]) -> impl Iterator<Item = &'r [u64]> {
        let idle = self.0.get(function as usize).map_or(&[][..], Vec::as_slice);
        let starts: Vec<usize> = [0].into_iter().chain(idle.iter().map(|r| r.end)).collect();
        let ends: Vec<usize> = idle.iter().map(|r| r.start).chain([regs.len()]).collect();
        starts
            .into_iter()
            .zip(ends)
            .filter_map(|(start, end)| regs.get(start..end))
    }
}

/// The ranges of one function, ascending.
fn idle(code: &Code, executed: impl Iterator<Item = usize>) -> Vec<std::ops::Range<usize>> {
    let insts: Vec<_> = executed.filter_map(|at| code.insts.get(at)).collect();
    // Arguments and results go by other ways than the operands.
    if insts.iter().any(|inst| matches!(inst.op, Op::Call(_) | Op::Return)) {
        return vec![];
    }
    let operands: Vec<(bool, Vec<usize>, Vec<usize>)> = insts
        .iter()
        .map(|inst| {
            let (mut reads, mut writes) = (vec![], vec![]);
            visit(inst, &mut |slot, write| match write {
                true => writes.push(slot.word()),
                false => reads.push(slot.word()),
            });
            (is_arithmetic(&inst.op), reads, writes)
        })
        .collect();
    let mut decisive: BTreeSet<usize> = BTreeSet::new();
    loop {
        let known = decisive.len();
        for (arithmetic, reads, writes) in &operands {
            if !arithmetic || writes.iter().any(|word| decisive.contains(word)) {
                decisive.extend(reads);
            }
        }
        if decisive.len() == known {
            break;
        }
    }
    // A register reaches to the next one.
    let mut starts: BTreeSet<usize> = code.specials.iter().map(|(_, slot)| slot.word()).collect();
    for inst in &code.insts {
        visit(inst, &mut |slot, _| {
            starts.insert(slot.word());
        });
    }
    let written: BTreeSet<usize> = operands
        .iter()
        .flat_map(|(_, _, writes)| writes.iter().copied())
        .collect();
    let next = |word: usize| {
        starts
            .range(word + 1..)
            .next()
            .copied()
            .unwrap_or(code.frame_words as usize)
    };
    written.difference(&decisive).map(|word| *word..next(*word)).collect()
}

/// Whether an op does nothing but compute registers from registers.
fn is_arithmetic(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary32(..)
            | Op::Binary32(..)
            | Op::Ternary32(..)
            | Op::Unary64(..)
            | Op::Binary64(..)
            | Op::Ternary64(..)
            | Op::Mixed(_)
            | Op::Copy32(..)
            | Op::Copy64(..)
            | Op::Copy128(..)
            | Op::Compare32(..)
            | Op::Compare64(..)
            | Op::CompareMixed(_)
            | Op::Select32(..)
            | Op::Select64(..)
            | Op::Logic(..)
            | Op::Predicate(..)
            | Op::FromPredicate(..)
            | Op::Join(..)
            | Op::Split(..)
            | Op::Carry(_)
            | Op::IsSpace(..)
    )
}
