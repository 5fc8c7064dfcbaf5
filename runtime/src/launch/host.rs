//! Launches on arrays in host memory: copied to the device before, and back on request.
use super::{Map, Memref, Plan, Prepared, Value};
use crate::{
    array::Array,
    error::{Error, Problem, Result},
    program::Program,
    spec::{MapFields, Scalar},
};
use girih_core::{
    device::{Buffer, Device, ModuleId},
    manifest::{Arg, Kernel},
};

/// The value of one argument in host memory.
#[derive(Clone, Debug, PartialEq)]
pub enum HostValue {
    /// An array; for a tensor map argument the one that the map is made of, in the form that the kernel wants.
    Array(Array),
    /// A number.
    Scalar(Scalar),
}

/// Puts named values into the order of the kernel's arguments. Every name must be an argument's, once.
pub fn bind<T>(kernel: &Kernel, named: Vec<(String, T)>) -> Result<Vec<T>> {
    let names = || match &kernel.args[..] {
        [] => "none".to_owned(),
        args => args.iter().map(Arg::name).collect::<Vec<_>>().join(", "),
    };
    let mut slots: Vec<Option<T>> = kernel.args.iter().map(|_| None).collect();
    let mut problems = Vec::new();
    for (name, value) in named {
        let mut report = |message| {
            problems.push(Problem {
                argument: name.clone(),
                message,
            })
        };
        match kernel.args.iter().position(|arg| arg.name() == name) {
            None => report(format!("the kernel has no such argument; it has {}", names())),
            Some(slot) if slots[slot].is_some() => report("it is given twice; leave one --arg out".to_owned()),
            Some(slot) => slots[slot] = Some(value),
        }
    }
    for (arg, slot) in kernel.args.iter().zip(&slots) {
        if slot.is_none() {
            let message = format!("it is missing; give --arg {}=SPEC", arg.name());
            problems.push(Problem {
                argument: arg.name().to_owned(),
                message,
            });
        }
    }
    if problems.is_empty() {
        return Ok(slots.into_iter().flatten().collect());
    }
    Err(Error::Arguments {
        kernel: kernel.name.clone(),
        problems,
    })
}

/// A kernel on a device with its arguments uploaded. Dropping it frees what it allocated.
pub struct Session<'d> {
    device: &'d mut dyn Device,
    module: Option<ModuleId>,
    buffers: Vec<Option<Buffer>>,
    prepared: Prepared,
}

impl<'d> Session<'d> {
    /// Checks the arguments, then loads the program, uploads the arrays and encodes the tensor maps.
    pub fn new(device: &'d mut dyn Device, program: &Program, kernel: &Kernel, values: &[HostValue]) -> Result<Self> {
        Self::with_maps(device, program, kernel, values, &vec![None; values.len()])
    }

    /// The same, with fields of tensor maps for arguments that have them: one place for each argument.
    pub fn with_maps(
        device: &'d mut dyn Device,
        program: &Program,
        kernel: &Kernel,
        values: &[HostValue],
        maps: &[Option<MapFields>],
    ) -> Result<Self> {
        let target = &program.manifest().target;
        program.check_target(&device.target())?;
        // Every rule depends on an address only through its low bits, which an aligned stand-in shares with a buffer.
        let stand_ins = device_values(
            kernel,
            values,
            maps,
            &vec![
                Some(Buffer {
                    address: 1 << 32,
                    bytes: 0
                });
                values.len()
            ],
        )?;
        Plan::new(kernel, target, &stand_ins)?;
        let empty = Prepared {
            kernel: String::new(),
            grid: [0; 3],
            block: [1; 3],
            cluster: [1; 3],
            dynamic_shared_bytes: 0,
            params: Vec::new(),
            mapless: Vec::new(),
        };
        let mut session = Session {
            device,
            module: None,
            buffers: Vec::new(),
            prepared: empty,
        };
        session.module = Some(program.load_on(session.device)?);
        for value in values {
            let HostValue::Array(array) = value else {
                session.buffers.push(None);
                continue;
            };
            let buffer = session.device.allocate(array.bytes().len())?;
            session.buffers.push(Some(buffer));
            session.device.write(buffer, 0, array.bytes())?;
        }
        let values = device_values(kernel, values, maps, &session.buffers)?;
        session.prepared = Prepared::new(kernel, target, &values, session.device)?;
        Ok(session)
    }

    /// The launch that [`Session::run`] makes.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        self.device
    }

    /// Launches once and waits.
    pub fn run(&mut self) -> Result<()> {
        let Some(module) = self.module else { return Ok(()) };
        self.prepared.launch(self.device, module)?;
        let ended = self.device.synchronize();
        ended.map_err(|error| self.prepared.explain(error))
    }

    /// Seconds of each of `repetitions` launches; see [`Device::time`]. The arrays keep changing if the kernel reads what
    /// it writes, so read results before.
    pub fn time(&mut self, repetitions: usize) -> Result<Option<Vec<f64>>> {
        let Some(module) = self.module else { return Ok(None) };
        self.prepared.time(self.device, module, repetitions)
    }

    /// Copies argument `index`, gaps of its layout included, from the device into `array`, which must be as long as the
    /// one that was uploaded.
    pub fn read(&mut self, index: usize, array: &mut Array) -> Result<()> {
        match self.buffers.get(index).copied().flatten() {
            Some(buffer) if buffer.bytes == array.bytes().len() => {
                Ok(self.device.read(buffer, 0, array.bytes_mut())?)
            }
            Some(buffer) => Err(Error::Usage(format!(
                "argument {index} has {} bytes on the device, but the host array has {}",
                buffer.bytes,
                array.bytes().len()
            ))),
            None => Err(Error::Usage(format!("argument {index} is not an array"))),
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        for buffer in self.buffers.drain(..).flatten() {
            if let Err(error) = self.device.free(buffer) {
                tracing::warn!("cannot free device memory: {error}");
            }
        }
        if let Some(error) = self.module.take().and_then(|module| self.device.unload(module).err()) {
            tracing::warn!("cannot unload the module: {error}");
        }
    }
}

/// What the kernel gets for a value whose array, if it is one, has been copied to `buffer`.
///
/// The error is that of an array that no tensor map of the argument's form can have.
pub fn on_device(kernel: &Kernel, arg: usize, value: &HostValue, buffer: Option<Buffer>) -> Result<Value> {
    let array = match value {
        HostValue::Scalar(scalar) => return Ok(Value::Scalar(*scalar)),
        HostValue::Array(array) => array,
    };
    let address = buffer.map_or(0, |b| b.address) + array.layout().offset_bytes();
    let (shape, strides) = (array.shape(), array.layout().strides());
    let Some(Arg::TensorMap { name, dtype, form }) = kernel.args.get(arg) else {
        return Ok(Value::Memref(Memref {
            dtype: array.dtype(),
            address,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        }));
    };
    let same = dtype.bytes() == array.dtype().bytes();
    let message = match form.map_of(address, shape, strides) {
        Ok(map) if same => return Ok(Value::Map(Box::new(Map::Fields(map)))),
        Ok(_) => format!("elements of type {dtype} are expected, found {}", array.dtype()),
        Err(message) => message,
    };
    Err(Error::Arguments {
        kernel: kernel.name.clone(),
        problems: vec![Problem {
            argument: name.clone(),
            message,
        }],
    })
}

fn device_values(
    kernel: &Kernel,
    values: &[HostValue],
    maps: &[Option<MapFields>],
    buffers: &[Option<Buffer>],
) -> Result<Vec<Value>> {
    let one = |(arg, (value, buffer)): (usize, (&HostValue, &Option<Buffer>))| {
        let mut given = on_device(kernel, arg, value, *buffer)?;
        let (Some(Some(fields)), HostValue::Array(array)) = (maps.get(arg), value) else {
            return Ok(given);
        };
        if let Value::Map(map) = &mut given
            && let Map::Fields(Some(map)) = &mut **map
        {
            let bytes = (array.bytes().len() as u64).saturating_sub(array.layout().offset_bytes());
            fields.apply(map, bytes).map_err(|message| Error::Arguments {
                kernel: kernel.name.clone(),
                problems: vec![Problem {
                    argument: kernel.args[arg].name().to_owned(),
                    message,
                }],
            })?;
        }
        Ok(given)
    };
    values.iter().zip(buffers).enumerate().map(one).collect()
}
