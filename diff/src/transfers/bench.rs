//! A device with the memory that all cases share, and one module for each instruction.
use super::{
    GLOBAL_BYTES, MAX_BLOCKS, Outcome, Transfer,
    draw::MAX_SHARED_BYTES,
    form::{ENTRY, Form, PARAMETERS, THREADS, TRAILER},
};
use girih_core::{
    device::{Buffer, Device, DeviceError, Launch, ModuleId, Result},
    tensor_map::TensorMap,
};
use std::collections::BTreeMap;

/// Bytes of dynamic shared memory after those of a case: the mbarrier.
const BARRIER_BYTES: u32 = 16;

/// A device on which cases run.
pub struct Bench {
    device: Box<dyn Device>,
    modules: BTreeMap<Form, ModuleId>,
    global: Buffer,
    before: Buffer,
    after: Buffer,
}

impl Bench {
    /// Allocates on `device`, which frees all of it when it goes.
    pub fn new(mut device: Box<dyn Device>) -> Result<Self> {
        let shared = MAX_BLOCKS as usize * (MAX_SHARED_BYTES as usize + TRAILER);
        Ok(Bench {
            global: device.allocate(GLOBAL_BYTES)?,
            before: device.allocate(shared)?,
            after: device.allocate(shared)?,
            modules: BTreeMap::new(),
            device,
        })
    }

    /// The device's name.
    pub fn name(&self) -> String {
        self.device.name()
    }

    /// Runs one case.
    pub fn run(&mut self, case: &Transfer) -> Result<Outcome> {
        let (global, before) = case.data();
        self.device.write(self.global, 0, &global)?;
        self.device.write(self.before, 0, &before)?;
        let (length, blocks) = (case.shared_bytes as usize, case.blocks as usize);
        let mut after = vec![0; blocks * (length + TRAILER)];
        self.device.write(self.after, 0, &after)?;
        let params = self.parameters(case)?;
        let module = match self.modules.get(&case.form) {
            Some(module) => *module,
            None => {
                let module = self.device.load(&case.form.ptx())?;
                self.modules.insert(case.form, module);
                module
            }
        };
        let launch = Launch {
            kernel: ENTRY,
            grid: [case.blocks, 1, 1],
            block: [THREADS, 1, 1],
            cluster: [case.blocks, 1, 1],
            dynamic_shared_bytes: case.shared_bytes + BARRIER_BYTES,
            cooperative: false,
            params: &params,
        };
        self.device.launch(module, &launch)?;
        self.device.synchronize()?;
        self.device.read(self.after, 0, &mut after)?;
        let mut global = global;
        self.device.read(self.global, 0, &mut global)?;
        let pieces = || after.chunks_exact(length + TRAILER);
        Ok(Outcome {
            shared: pieces().flat_map(|piece| piece[..length].to_vec()).collect(),
            ended: pieces().map(|piece| piece[length] == 1).collect(),
            global,
        })
    }

    fn parameters(&self, case: &Transfer) -> Result<Vec<Vec<u8>>> {
        let tensor = match &case.map {
            Some(map) => self.device.encode_tensor_map(&TensorMap {
                address: map.address + self.global.address,
                ..map.clone()
            })?,
            None => [0; 128],
        };
        let coord = |i: usize| case.coords.get(i).map_or(0, |c| *c as u32);
        let value = |name: &str| {
            Some(match name {
                "global" => self.global.address,
                "before" => self.before.address,
                "after" => self.after.address,
                "distance" => case.distance,
                // All of the accesses, as usual.
                "policy" => 0x1000_0000_0000_0000,
                "length" => case.shared_bytes.into(),
                "at" => case.at.into(),
                "bytes" => case.bytes.into(),
                "mask" => case.mask.into(),
                "issuer" => case.issuer.into(),
                "size" => case.size.into(),
                "c0" => coord(0).into(),
                "c1" => coord(1).into(),
                "c2" => coord(2).into(),
                "c3" => coord(3).into(),
                "c4" => coord(4).into(),
                "o0" => case.offsets[0].into(),
                "o1" => case.offsets[1].into(),
                "o2" => case.offsets[2].into(),
                _ => return None,
            })
        };
        let mut params = vec![tensor.to_vec()];
        for (ty, name) in PARAMETERS {
            let value = value(name).ok_or_else(|| DeviceError::new(format!("no value for parameter {name}")))?;
            let bytes = if ty == "u64" { 8 } else { 4 };
            params.push(value.to_le_bytes()[..bytes].to_vec());
        }
        Ok(params)
    }
}
