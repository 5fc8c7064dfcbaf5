//! The same PTX with the same arguments on two devices, compared argument by argument: what holds the simulator against
//! hardware. Links no LLVM, so that it can be carried to a machine with a GPU and nothing else.
//!
//! | module | what it does |
//! |---|---|
//! | [`compare`] | where two results differ, in words |
//! | [`template`] | SPECs with sizes that are drawn anew for each round |
//! | [`rounds`] | many rounds of one kernel, with other numbers and sizes each time |
//! | [`suite`] | generated kernels, one instruction each: every `wgmma` and every `mma.sync` |
//! | [`programs`] | kernels that were compiled elsewhere, with what they should leave |
//! | [`transfers`] | drawn copies, with and without tensor maps |
pub mod compare;
pub mod programs;
pub mod rounds;
pub mod suite;
pub mod template;
pub mod transfers;

use girih_core::device::Device;
use girih_runtime::{Error, Result, cuda::CudaDevice, run::DeviceChoice};
use girih_sim::Simulator;
use std::str::FromStr;

/// Two devices, as the command line names them: `cuda,sim`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair(pub DeviceChoice, pub DeviceChoice);

impl FromStr for Pair {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (first, second) = text.split_once(',').ok_or_else(|| {
            format!("expected two devices with a comma between them, such as cuda,sim; found `{text}`")
        })?;
        let device = |name: &str| match name.parse()? {
            DeviceChoice::Auto => Err("auto may be either device; name cuda, cuda:N or sim".to_owned()),
            device => Ok(device),
        };
        Ok(Pair(device(first)?, device(second)?))
    }
}

impl Pair {
    /// Opens both. An error where one is not there: nothing is compared then.
    pub fn open(self) -> Result<[Box<dyn Device>; 2]> {
        Ok([open(self.0)?, open(self.1)?])
    }
}

fn open(choice: DeviceChoice) -> Result<Box<dyn Device>> {
    match choice {
        DeviceChoice::Cuda(ordinal) => Ok(Box::new(CudaDevice::new(ordinal)?)),
        DeviceChoice::Sim => Ok(Box::new(Simulator::new())),
        DeviceChoice::Auto => Err(Error::Usage(
            "auto may be either device; name cuda, cuda:N or sim".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_name_both_devices() {
        assert_eq!("cuda:1,sim".parse(), Ok(Pair(DeviceChoice::Cuda(1), DeviceChoice::Sim)));
        assert!("sim".parse::<Pair>().unwrap_err().starts_with("expected two devices"));
        assert!(
            "auto,sim"
                .parse::<Pair>()
                .unwrap_err()
                .starts_with("auto may be either")
        );
    }
}
