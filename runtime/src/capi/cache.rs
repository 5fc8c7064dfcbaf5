//! What a program keeps for each CUDA context: its module, and launches that were checked and encoded.
use super::{
    error::Failure,
    types::{self, girih_value},
};
use crate::{
    cuda::{Context, ExternalModule, current_context},
    error::Error,
    launch::{Plan, Prepared},
    program::Program,
};
use girih_core::manifest::Kernel;
use std::{
    collections::{BTreeMap, HashMap, btree_map::Entry},
    ffi::c_void,
};

/// Launches that are remembered; when there are more, all are forgotten.
const CAPACITY: usize = 1024;

/// A program's part that changes.
#[derive(Default)]
pub(super) struct State {
    /// By the context's number.
    modules: BTreeMap<u64, ExternalModule>,
    /// By context, kernel and every word of the values.
    launches: HashMap<Box<[u64]>, Prepared>,
    /// The key of the call that is served, kept for its memory.
    key: Vec<u64>,
}

fn device_failure(error: girih_core::device::DeviceError) -> Failure {
    Error::Device(error).into()
}

impl State {
    /// Compiles the program for the current context unless that is done.
    pub(super) fn load(&mut self, program: &Program) -> Result<(), Failure> {
        let context = current_context().map_err(device_failure)?;
        self.module(program, &context).map(drop)
    }

    fn module(&mut self, program: &Program, context: &Context) -> Result<&mut ExternalModule, Failure> {
        match self.modules.entry(context.id) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                program.check_target(&context.target().map_err(device_failure)?)?;
                let module = ExternalModule::load(program.ptx()).map_err(device_failure)?;
                Ok(entry.insert(module))
            }
        }
    }

    /// Checks, or remembers having checked, and launches.
    ///
    /// # Safety
    /// As for `girih_launch`.
    pub(super) unsafe fn launch(
        &mut self,
        program: &Program,
        index: usize,
        kernel: &Kernel,
        values: &[girih_value],
        stream: *mut c_void,
    ) -> Result<(), Failure> {
        let context = match current_context() {
            Ok(context) => context,
            Err(error) => {
                // A wrong argument is the better news where there is no GPU.
                // SAFETY: the caller's promise.
                Plan::new(kernel, &program.manifest().target, &unsafe { types::decode(values) }?)?;
                return Err(device_failure(error));
            }
        };
        let mut key = std::mem::take(&mut self.key);
        // SAFETY: the caller's promise.
        unsafe { write_key(&mut key, context.id, index, values) }?;
        if !self.launches.contains_key(&key[..]) {
            // SAFETY: the caller's promise.
            let decoded = unsafe { types::decode(values) }?;
            let plan = Plan::new(kernel, &program.manifest().target, &decoded)?;
            let prepared = plan.encode(|map| context.encode_tensor_map(map))?;
            if self.launches.len() >= CAPACITY {
                self.launches.clear();
            }
            self.launches.insert(key.clone().into_boxed_slice(), prepared);
        }
        self.module(program, &context)?;
        let outcome = match (self.launches.get(&key[..]), self.modules.get_mut(&context.id)) {
            (Some(prepared), Some(module)) if !prepared.is_empty() => {
                // SAFETY: the module was loaded in this context; the rest is the caller's promise.
                unsafe { module.launch(&prepared.as_launch(), stream) }.map_err(device_failure)
            }
            _ => Ok(()),
        };
        self.key = key;
        outcome
    }

    /// Unloads the module of the current context; a context that is gone took its modules with it.
    pub(super) fn unload(mut self) {
        let module = current_context()
            .ok()
            .and_then(|context| self.modules.remove(&context.id));
        if let Some(Err(error)) = module.map(ExternalModule::unload) {
            tracing::debug!("cannot unload a module: {error}");
        }
    }
}

/// Every word that a launch depends on, lengths first so that no two launches share a key.
///
/// # Safety
/// The lists of each value are as long as its rank says.
unsafe fn write_key(key: &mut Vec<u64>, context: u64, kernel: usize, values: &[girih_value]) -> Result<(), Failure> {
    key.clear();
    key.extend([context, kernel as u64, values.len() as u64]);
    for (i, value) in values.iter().enumerate() {
        // SAFETY: the caller's promise.
        let (shape, strides) = unsafe { value.lists(i) }?;
        let head = u64::from(value.kind as u32) << 32 | u64::from(value.dtype as u32);
        key.extend([head, value.data, shape.len() as u64]);
        key.extend(shape.iter().chain(strides).map(|&n| n as u64));
        // A tensor map is its bytes, wherever they lie.
        // SAFETY: the caller's promise.
        if let Some(bytes) = unsafe { value.tensor_map(i) }? {
            key.extend(
                bytes
                    .chunks_exact(8)
                    .map(|word| word.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))),
            );
        }
    }
    Ok(())
}
