//! The registers of a block (PTX ISA, "setmaxnreg"): what the launch gave each warp, and the pool between them.
//!
//! A launch gives each thread at most as many registers as `.maxnreg` says, or as fit the largest block that the kernel was
//! compiled for; here it gives so many. `setmaxnreg.dec` gives some to the pool, `setmaxnreg.inc` waits until the pool has
//! enough. Where the kernel says neither, ptxas leaves the instruction out, and so does this.
use crate::check::progress::at;
use crate::check::{Checks, Finding, Gravity, Kind, Place};
use crate::isa::{LANES, Program};
use std::collections::BTreeMap;

/// Registers of a multiprocessor.
const REGISTERS: u32 = 65_536;
/// Most registers of a thread that `setmaxnreg` can name.
const MOST: u32 = 256;

/// Registers of one block.
#[derive(Default)]
pub struct RegisterPool {
    /// Registers of the block; 0 where the kernel does not say how many a thread has.
    pub total: u32,
    /// Registers in the pool.
    pub free: u32,
    /// Registers of a thread of each warp, and lines of the instructions that changed them.
    warps: Vec<(u32, Vec<u32>)>,
}

/// Registers that a launch gives a thread, where the kernel says so.
fn at_entry(program: &Program) -> Option<u32> {
    let threads = program
        .required_block
        .map(|b| b.iter().product())
        .or(program.max_threads);
    let fit = threads.map(|t: u32| {
        let warps = t.div_ceil(LANES as u32).max(1) * program.min_blocks.max(1);
        (REGISTERS / LANES as u32 / warps / 8 * 8).min(MOST)
    });
    match (program.max_registers, fit) {
        (Some(most), Some(fit)) => Some(most.min(fit)),
        (most, fit) => most.or(fit),
    }
}

impl RegisterPool {
    /// What a launch gives a block of so many warps.
    pub fn new(program: &Program, warps: u32) -> RegisterPool {
        let each = at_entry(program).unwrap_or(0);
        RegisterPool {
            total: each * LANES as u32 * warps,
            free: 0,
            warps: vec![(each, Vec::new()); warps as usize],
        }
    }

    /// `setmaxnreg` of a warp; false when the pool has too few and the warp waits.
    pub fn change(&mut self, warp: usize, count: u32, grows: bool, line: u32, checks: Option<&Checks>) -> bool {
        let (total, free) = (self.total, self.free);
        let Some((has, lines)) = self.warps.get_mut(warp).filter(|_| total > 0) else {
            return true;
        };
        if *has != count && (count > *has) != grows {
            // At entry the warp may have fewer registers than its upper bound says.
            if let (Some(checks), false) = (checks, lines.is_empty()) {
                checks.report(wrong_way(*has, count, grows, line));
            }
            lines.push(line);
            return true;
        }
        let difference = count.abs_diff(*has) * LANES as u32;
        if grows && difference > free {
            return false;
        }
        self.free = if grows { free - difference } else { free + difference };
        *has = count;
        lines.push(line);
        true
    }

    /// Registers that a warp that wants `count` for each thread needs of the pool; of the warps that have fewer, the nearest.
    pub fn need(&self, count: u32) -> u32 {
        let has = self
            .warps
            .iter()
            .map(|(has, _)| *has)
            .filter(|has| *has < count)
            .max()
            .unwrap_or(count);
        (count - has) * LANES as u32
    }

    /// Reports warpgroups whose warps changed their registers differently.
    pub fn judge(&self, checks: &Checks, block: [u32; 3]) {
        for (group, warps) in self.warps.chunks(4).enumerate() {
            let mut ways: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
            for (i, (_, lines)) in warps.iter().enumerate() {
                ways.entry(lines).or_default().push(4 * group + i);
            }
            let most = ways.keys().map(|lines| lines.len()).max().unwrap_or(0);
            if ways.len() < 2 {
                continue;
            }
            // The first instruction that only some of them executed.
            let step = (0..most).find(|i| {
                let mut lines = ways.keys().map(|lines| lines.get(*i));
                let first = lines.next();
                lines.any(|line| Some(line) != first)
            });
            let Some(step) = step else { continue };
            let mut by_line: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
            for (lines, warps) in &ways {
                by_line.entry(lines.get(step).copied()).or_default().extend(warps);
            }
            let told = |(line, warps): (&Option<u32>, &Vec<usize>)| -> Option<Place> {
                let mut place = at((*line)?, &format!("warps {warps:?} change their registers"));
                place.block = Some(block);
                Some(place)
            };
            let without = by_line
                .get(&None)
                .map_or(String::new(), |w| format!("; warps {w:?} do not execute it"));
            checks.report(Finding::new(
                Kind::BarrierDivergence,
                format!(
                    "all four warps of a warpgroup must execute the same setmaxnreg, but those of warps {} to {} part{without}",
                    4 * group,
                    4 * group + warps.len() - 1
                ),
                "execute setmaxnreg in whole warpgroups: branch by the number of the thread divided by 128",
                by_line.iter().filter_map(told).collect(),
            ));
        }
    }
}

fn wrong_way(has: u32, count: u32, grows: bool, line: u32) -> Finding {
    let (word, other) = if grows { ("inc", "dec") } else { ("dec", "inc") };
    let places = vec![at(line, &format!("asks for {count} registers"))];
    let message = format!("setmaxnreg.{word} to {count} registers, but a thread of the warp has {has}");
    let remedy = format!("use setmaxnreg.{other}, or name a count on the other side of {has}");
    Finding::new(Kind::IllegalInstruction, message, remedy, places).with_gravity(Gravity::Warning)
}
