//! Which device runs a kernel: a GPU if there is one, the simulator otherwise.
use crate::failure::Result;
use girih_core::{device::Device, target::Target};
use girih_runtime::{
    cuda::{CudaDevice, device_count},
    run::DeviceChoice,
};

/// A device, and why it was taken where nobody said which.
pub(super) struct Chosen {
    pub(super) device: Box<dyn Device>,
    pub(super) remark: Option<String>,
}

/// Opens the device that was asked for.
pub(super) fn open(choice: DeviceChoice) -> Result<Chosen> {
    let asked = |device| Ok(Chosen { device, remark: None });
    match choice {
        DeviceChoice::Cuda(ordinal) => asked(Box::new(CudaDevice::new(ordinal)?)),
        DeviceChoice::Sim => asked(simulator()),
        DeviceChoice::Auto => match device_count() {
            Ok(1..) => asked(Box::new(CudaDevice::new(0)?)),
            Ok(0) => Ok(Chosen {
                device: simulator(),
                remark: Some("on the simulator: the CUDA driver sees no GPU".to_owned()),
            }),
            Err(error) => Ok(Chosen {
                device: simulator(),
                // What follows the semicolon is advice on how to get a GPU.
                remark: error
                    .message
                    .split(';')
                    .next()
                    .map(|why| format!("on the simulator: {why}")),
            }),
        },
    }
}

fn simulator() -> Box<dyn Device> {
    Box::new(girih_sim::Simulator::new())
}

/// What to compile for when nobody says: the device's own target, if girih knows it.
pub(super) fn target_to_compile_for(device: &dyn Device) -> Option<Target> {
    Target::parse(&device.target()).ok().filter(|target| target.in_llvm())
}
