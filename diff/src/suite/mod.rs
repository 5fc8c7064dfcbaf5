//! Generated kernels, each of one instruction: every `mma.sync` and every `wgmma` of sm_90a.
//!
//! Each kernel runs several rounds with other [`data::Numbers`], all compared bit for bit: the order in which a tensor
//! core adds, and what it drops on the way, are part of the comparison.
pub mod data;
mod kernel;
mod mma;
mod wgmma;

use crate::compare::{Difference, Loaded, Tolerance, differences};
use data::Numbers;
use girih_core::device::Device;
use girih_runtime::{Error, Program, Result, launch::HostValue, spec::Scalar};
use kernel::Operand;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// One kernel of the suite.
pub struct Case {
    /// The instruction and what else tells the case from others, such as `mma.m16n8k8.row.col.f32.f16.f16.f32`.
    pub name: String,
    /// PTX and manifest.
    pub program: Program,
    operands: Vec<Operand>,
}

/// One launch of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Which numbers A, B and C hold.
    pub numbers: Numbers,
    /// Whether the product is added to C; `wgmma` alone asks.
    pub add: bool,
}

/// The launches of every case.
pub const ROUNDS: [Round; 5] = [
    Round::new(Numbers::Small, true),
    Round::new(Numbers::Ordinary, true),
    Round::new(Numbers::Wide, true),
    Round::new(Numbers::Bits, true),
    Round::new(Numbers::Ordinary, false),
];

impl Round {
    const fn new(numbers: Numbers, add: bool) -> Self {
        Round { numbers, add }
    }
}

/// Every case, in a fixed order.
pub fn cases() -> Result<Vec<Case>> {
    let mut cases = mma::cases()?;
    cases.extend(wgmma::cases()?);
    Ok(cases)
}

impl Case {
    /// The arguments of a round; the same for the same seed, on every machine.
    pub fn values(&self, round: Round, seed: u64) -> Result<Vec<HostValue>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let value = |operand: &Operand| match operand {
            Operand::Array {
                name,
                dtype,
                shape,
                numbers,
            } => {
                // What the kernel only writes begins as something that no result is.
                let numbers = numbers.unwrap_or(if *name == "D" { Numbers::Bits } else { round.numbers });
                data::array(*dtype, shape, numbers, &mut rng)
                    .map(HostValue::Array)
                    .ok_or_else(|| Error::Usage(format!("no memory for argument {name} of {}", self.name)))
            }
            Operand::Scalar { name, dtype, bits } => Ok(HostValue::Scalar(Scalar {
                dtype: *dtype,
                bits: if *name == "scale" { u64::from(round.add) } else { *bits },
            })),
        };
        self.operands.iter().map(value).collect()
    }

    /// The rounds in which two devices differ.
    pub fn run(
        &self,
        devices: &mut [Box<dyn Device>; 2],
        seed: u64,
        tolerance: Tolerance,
    ) -> Result<Vec<(Round, Vec<Difference>)>> {
        let kernel = self.program.kernel(None)?;
        let [first, second] = devices;
        let mut first = Loaded::new(&mut **first, &self.program)?;
        let mut second = Loaded::new(&mut **second, &self.program)?;
        let mut found = Vec::new();
        for round in ROUNDS {
            let values = self.values(round, seed)?;
            let after = [first.launch(kernel, &values)?, second.launch(kernel, &values)?];
            let different = differences(kernel, &after[0], &after[1], tolerance)?;
            if !different.is_empty() {
                found.push((round, different));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_case_has_its_own_name_and_every_type_is_there() {
        let cases = cases().unwrap();
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        let with = |words: &[&str]| {
            names
                .iter()
                .filter(|name| words.iter().all(|word| name.contains(word)))
                .count()
        };
        for operand in girih_core::wgmma::Operand::ALL {
            for n in operand.legal_n() {
                let shape = format!("wgmma.m64n{n}k");
                assert!(
                    with(&[&shape, &format!(".{operand}."), "a_registers"]) > 0,
                    "{operand} {n}"
                );
                assert!(with(&[&shape, &format!(".{operand}."), "a_k128"]) > 0, "{operand} {n}");
            }
        }
        assert!(with(&["mma.sp.", "selector3"]) > 0 && with(&["wgmma.sp."]) > 0);
    }
}
