//! Which device runs a kernel: a GPU if there is one, the simulator otherwise.
use crate::failure::{Failure, Result};
use girih_core::{device::Device, target::Target};
use girih_runtime::{
    cuda::{CudaDevice, device_count},
    run::DeviceChoice,
};
use girih_sim::Simulator;

/// A device, and why it was taken where nobody said which.
pub(super) struct Chosen {
    pub(super) device: Opened,
    pub(super) remark: Option<String>,
}

/// The device that runs.
pub(super) enum Opened {
    Cuda(CudaDevice),
    Simulator(Box<Simulator>),
}

impl Opened {
    pub(super) fn as_device(&mut self) -> &mut dyn Device {
        match self {
            Opened::Cuda(device) => device,
            Opened::Simulator(device) => &mut **device,
        }
    }

    /// A simulator is of the target that the program names; a GPU is what it is.
    pub(super) fn be(&mut self, target: Target) {
        if let Opened::Simulator(device) = self {
            device.set_target(target);
        }
    }

    /// What girih compiles for when nobody says: the device's own target, if girih knows it.
    pub(super) fn target_to_compile_for(&self) -> Option<Target> {
        let target = match self {
            Opened::Cuda(device) => device.target(),
            Opened::Simulator(device) => device.target(),
        };
        Target::parse(&target).ok().filter(|target| target.in_llvm())
    }
}

/// Opens the device that was asked for; `for_simulator` names an option that only the simulator obeys.
pub(super) fn open(choice: DeviceChoice, for_simulator: Option<&str>) -> Result<Chosen> {
    let chosen = |device, remark| Ok(Chosen { device, remark });
    match (choice, for_simulator) {
        (DeviceChoice::Cuda(_), Some(option)) => Err(Failure::usage(format!(
            "{option} looks into the simulator, so it cannot be had on a GPU; leave out --device, or use --device sim"
        ))),
        (DeviceChoice::Cuda(ordinal), None) => chosen(Opened::Cuda(CudaDevice::new(ordinal)?), None),
        (DeviceChoice::Sim, _) => chosen(simulator(), None),
        (DeviceChoice::Auto, Some(option)) => chosen(simulator(), Some(format!("on the simulator, for {option}"))),
        (DeviceChoice::Auto, None) => match device_count() {
            Ok(1..) => chosen(Opened::Cuda(CudaDevice::new(0)?), None),
            Ok(0) => chosen(
                simulator(),
                Some("on the simulator: the CUDA driver sees no GPU".to_owned()),
            ),
            // What follows the semicolon is advice on how to get a GPU.
            Err(error) => chosen(
                simulator(),
                error
                    .message
                    .split(';')
                    .next()
                    .map(|why| format!("on the simulator: {why}")),
            ),
        },
    }
}

fn simulator() -> Opened {
    Opened::Simulator(Box::new(Simulator::new()))
}
