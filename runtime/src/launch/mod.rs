//! From a kernel's manifest entry and the values of its arguments to the bytes of its PTX parameters.
//!
//! [`Plan::new`] checks everything that can be checked without a device: number, kind, type, shape, strides and alignment
//! of each argument, the rules of the driver for each tensor map, grid and limits. [`Plan::encode`] then asks a device for
//! its tensor maps; nothing is launched before all of it holds.
mod arguments;
mod host;
mod maps;

pub use arguments::{Map, Memref, Value};
pub use host::{HostValue, Session, bind, on_device};

use crate::error::{Error, Result};
use girih_core::{
    device::{self, Device, DeviceError, Launch, ModuleId},
    manifest::{Kernel, Param},
    tensor_map::TensorMap,
};
use std::collections::BTreeSet;

/// Most blocks in x, y and z (CUDA C++ Programming Guide, compute capabilities).
const GRID_LIMITS: [i64; 3] = [0x7fff_ffff, 0xffff, 0xffff];
/// Most threads of a block in x, y and z.
const BLOCK_LIMITS: [u32; 3] = [1024, 1024, 64];
/// Most threads of a block.
const BLOCK_THREADS: u64 = 1024;
/// Most blocks of a cluster, with the non-portable size allowed.
const CLUSTER_BLOCKS: u64 = 16;

/// A checked launch that waits for its tensor maps.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    kernel: &'a Kernel,
    values: &'a [Value],
    grid: [u32; 3],
    maps: Vec<Option<TensorMap>>,
}

impl<'a> Plan<'a> {
    /// Checks `values`, in the order of the kernel's arguments, against the kernel; `target` is the manifest's.
    pub fn new(kernel: &'a Kernel, target: &str, values: &'a [Value]) -> Result<Self> {
        arguments::check(kernel, target, values)?;
        arguments::check_facts(kernel, values)?;
        check_shape(kernel, target)?;
        let env = arguments::Arguments(values);
        let grid = grid(kernel, &env)?;
        let maps = if grid.contains(&0) {
            Vec::new()
        } else {
            maps::instantiate(kernel, target, &env)?
        };
        Ok(Plan {
            kernel,
            values,
            grid,
            maps,
        })
    }

    /// Whether the grid is empty, so that nothing is launched.
    pub fn is_empty(&self) -> bool {
        self.grid.contains(&0)
    }

    /// Encodes the tensor maps with `encode` and lays out the parameters. A tensor with an empty dimension has no map;
    /// the kernel gets 128 zero bytes.
    pub fn encode(self, encode: impl Fn(&TensorMap) -> device::Result<[u8; 128]>) -> Result<Prepared> {
        let mapless = self.mapless();
        let mut encoded = Vec::with_capacity(self.maps.len());
        for map in &self.maps {
            encoded.push(map.as_ref().map_or(Ok([0; 128]), &encode)?);
        }
        let params = if self.is_empty() {
            Vec::new()
        } else {
            let mut given = Vec::with_capacity(self.values.len());
            for value in self.values {
                given.push(match value {
                    Value::Map(map) => Some(match &**map {
                        Map::Bytes(bytes) => *bytes,
                        Map::Fields(map) => map.as_ref().map_or(Ok([0; 128]), &encode)?,
                    }),
                    Value::Memref(_) | Value::Scalar(_) => None,
                });
            }
            let bytes = |param: &Param| match *param {
                Param::TensorMap { map } => encoded.get(map).map(|bytes| bytes.to_vec()),
                Param::Map { arg } => given.get(arg)?.map(|bytes| bytes.to_vec()),
                ref plain => arguments::parameter_bytes(plain, self.values),
            };
            self.kernel
                .params
                .iter()
                .map(bytes)
                .collect::<Option<_>>()
                .ok_or_else(|| Error::Launch {
                    kernel: self.kernel.name.clone(),
                    message: "a parameter of the manifest refers to nothing; compile the file again".to_owned(),
                })?
        };
        Ok(Prepared {
            kernel: self.kernel.name.clone(),
            grid: self.grid,
            block: self.kernel.block,
            cluster: self.kernel.cluster,
            dynamic_shared_bytes: self.kernel.dynamic_shared_bytes,
            params,
            mapless,
        })
    }

    /// Names of the empty arguments that the kernel wants a map of.
    fn mapless(&self) -> Vec<String> {
        let templates = self.kernel.tensor_maps.iter().zip(&self.maps);
        let of_maps = templates
            .filter(|(_, map)| map.is_none())
            .map(|(template, _)| template.arg);
        let is_empty = |value: &Value| match value {
            Value::Memref(memref) => memref.shape.contains(&0),
            Value::Map(map) => matches!(&**map, Map::Fields(None)),
            Value::Scalar(_) => false,
        };
        let given = (0..self.values.len()).filter(|&arg| matches!(self.values[arg], Value::Map(_)));
        let empty: BTreeSet<usize> = of_maps
            .chain(given)
            .filter(|&arg| self.values.get(arg).is_some_and(is_empty))
            .collect();
        let names = empty.into_iter().filter_map(|arg| self.kernel.args.get(arg));
        names.map(|arg| arg.name().to_owned()).collect()
    }
}

/// A launch that any number of times can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    cluster: [u32; 3],
    dynamic_shared_bytes: u32,
    params: Vec<Vec<u8>>,
    /// Empty arguments that the kernel wants a tensor map of.
    mapless: Vec<String>,
}

impl Prepared {
    /// Checks `values` against `kernel` and encodes the tensor maps on `device`. `target` is the manifest's.
    pub fn new(kernel: &Kernel, target: &str, values: &[Value], device: &dyn Device) -> Result<Self> {
        Plan::new(kernel, target, values)?.encode(|map| device.encode_tensor_map(map))
    }

    /// Blocks in x, y, z.
    pub fn grid(&self) -> [u32; 3] {
        self.grid
    }

    /// Whether the grid is empty, so that nothing is launched.
    pub fn is_empty(&self) -> bool {
        self.grid.contains(&0)
    }

    /// The launch as a device takes it; not to be given to one when [`Prepared::is_empty`].
    pub fn as_launch(&self) -> Launch<'_> {
        Launch {
            kernel: &self.kernel,
            grid: self.grid,
            block: self.block,
            cluster: self.cluster,
            dynamic_shared_bytes: self.dynamic_shared_bytes,
            cooperative: false,
            params: &self.params,
        }
    }

    /// Starts the kernel, or does nothing when the grid is empty.
    pub fn launch(&self, device: &mut dyn Device, module: ModuleId) -> Result<()> {
        if self.is_empty() {
            tracing::debug!(kernel = self.kernel, grid = ?self.grid, "empty grid, nothing to launch");
            return Ok(());
        }
        tracing::debug!(kernel = self.kernel, grid = ?self.grid, block = ?self.block, cluster = ?self.cluster, "launch");
        device
            .launch(module, &self.as_launch())
            .map_err(|error| self.explain(error))
    }

    /// Names the empty arguments where a launch ends with a fault: a copy may have used the map that they have not.
    fn explain(&self, mut error: DeviceError) -> Error {
        let is_fault = error
            .code
            .as_deref()
            .is_some_and(|code| code.starts_with("CUDA_ERROR_ILLEGAL"));
        for name in self.mapless.iter().filter(|_| is_fault) {
            error.message.push_str(&format!(
                "\n  argument {name} is empty and has no tensor map, so that no copy may use it"
            ));
        }
        error.into()
    }

    /// Seconds of each of `repetitions` launches, `None` where the device has no clock or the grid is empty.
    pub fn time(&self, device: &mut dyn Device, module: ModuleId, repetitions: usize) -> Result<Option<Vec<f64>>> {
        if self.is_empty() {
            return Ok(None);
        }
        Ok(device.time(module, &self.as_launch(), repetitions)?)
    }
}

fn launch_error(kernel: &Kernel, message: String) -> Error {
    Error::Launch {
        kernel: kernel.name.clone(),
        message,
    }
}

/// What of the launch does not depend on arguments.
fn check_shape(kernel: &Kernel, target: &str) -> Result<()> {
    let product = |counts: [u32; 3]| counts.iter().map(|&n| u64::from(n)).product::<u64>();
    for ((axis, threads), limit) in ["x", "y", "z"].iter().zip(kernel.block).zip(BLOCK_LIMITS) {
        if !(1..=limit).contains(&threads) {
            let message = format!("block {axis} = {threads} threads, but 1 to {limit} are allowed");
            return Err(launch_error(kernel, message));
        }
    }
    let threads = product(kernel.block);
    if threads > BLOCK_THREADS {
        return Err(launch_error(
            kernel,
            format!("a block has {threads} threads, but at most {BLOCK_THREADS} are allowed"),
        ));
    }
    let cluster = product(kernel.cluster);
    if !(1..=CLUSTER_BLOCKS).contains(&cluster) {
        let message = format!("a cluster has {cluster} blocks, but 1 to {CLUSTER_BLOCKS} are allowed");
        return Err(launch_error(kernel, message));
    }
    let limit = max_shared_bytes(target);
    if kernel.dynamic_shared_bytes > limit {
        let message = format!(
            "dynamic shared memory = {} bytes, but a block on {target} has at most {limit}; use fewer stages or smaller \
             tiles",
            kernel.dynamic_shared_bytes
        );
        return Err(launch_error(kernel, message));
    }
    Ok(())
}

/// Most shared memory of one block, in bytes (CUDA C++ Programming Guide, compute capabilities).
fn max_shared_bytes(target: &str) -> u32 {
    let digits: String = target.chars().filter(char::is_ascii_digit).collect();
    match digits.parse::<u32>().unwrap_or(0) {
        80 | 87 => 163 << 10,
        90..=119 => 227 << 10,
        _ => 99 << 10,
    }
}

/// The number of blocks; 0 in any direction means that nothing is launched.
fn grid(kernel: &Kernel, env: &arguments::Arguments<'_>) -> Result<[u32; 3]> {
    let mut grid = [0; 3];
    let wrong = |axis: char, message: String| Error::Grid {
        kernel: kernel.name.clone(),
        axis,
        message,
    };
    for (i, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
        let blocks = kernel.grid[i].eval(env).map_err(|error| {
            let why = maps::name_arguments(kernel, &error.to_string());
            wrong(axis, format!(": {why}"))
        })?;
        if !(0..=GRID_LIMITS[i]).contains(&blocks) {
            let message = format!(" = {blocks} blocks, but 0 to {} are allowed", GRID_LIMITS[i]);
            return Err(wrong(axis, message));
        }
        grid[i] = blocks as u32;
    }
    for (i, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
        if grid[i] % kernel.cluster[i].max(1) != 0 {
            let message = format!(
                " = {} blocks, but the cluster needs a multiple of {}; round the grid up in the launch region",
                grid[i], kernel.cluster[i]
            );
            return Err(wrong(axis, message));
        }
    }
    Ok(grid)
}

#[cfg(test)]
mod tests;
