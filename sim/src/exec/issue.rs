//! What an asynchronous copy is when it is issued: addresses, coordinates, the map, and how to wait for it.
use super::Context;
use super::asynchronous::{Completion, Copy, named};
use super::memory::Generic;
use super::registers::holds;
use super::shared::ClusterShared;
use super::transfer::{illegal, in_block};
use super::warp::Warp;
use crate::isa::{Address, Program, SHARED_WINDOW, Space, Value};
use crate::memory::{Bytes, Fault, aligned};
use crate::tma::{self, LoadMode};
use crate::transfer::{Replaced, TensorMode, Transfer};
use girih_core::tensor_map::TensorMap;

impl Warp {
    /// The copy that an instruction issues, with the way to wait for it; nothing for other instructions.
    pub(super) fn copy(
        &self,
        cx: &Context<'_, '_>,
        transfer: &Transfer,
        l: usize,
    ) -> Result<Option<(Completion, Copy)>, Fault> {
        let program: &Program = cx.grid.program;
        let value = |v: Value| self.read(program, l, v);
        let at = |a: &Address| self.address(cx, a, l);
        // A shared address of a bulk instruction, however it was written.
        let shared_at = |a: &Address| {
            let addr = at(a);
            named(
                if addr >= SHARED_WINDOW {
                    addr - SHARED_WINDOW
                } else {
                    addr
                },
                cx.block,
            )
        };
        let coordinates = |coords: &[Value]| coords.iter().map(|c| value(*c) as i32).collect::<Vec<_>>();
        let tensor_map = |map: &Address, replaced: &Option<Box<Replaced>>, coords: &[i32]| {
            self.tensor_map(cx, at(map), l, replaced.as_deref(), coords)
                .map(Box::new)
        };
        Ok(Some(match transfer {
            Transfer::Copy {
                dst,
                src,
                src_space,
                bytes,
                src_bytes,
                ignore,
            } => {
                let (dst, src, total) = (shared_at(dst), at(src), *bytes as usize);
                aligned(dst, total as u64)?;
                let skip = ignore.is_some_and(|p| holds(&self.frame().regs, &program.pool, p) >> l & 1 != 0);
                let bytes = if skip {
                    0
                } else {
                    src_bytes.map_or(total as u64, value) as usize
                };
                if bytes > total {
                    return Err(illegal(format!(
                        "cp.async of {total} bytes with a source size of {bytes}"
                    )));
                }
                if bytes > 0 {
                    aligned(src, total as u64)?;
                }
                (
                    Completion::Group,
                    Copy::Small {
                        dst,
                        src,
                        space: *src_space,
                        bytes,
                        total,
                    },
                )
            }
            Transfer::BulkLoad {
                dst,
                src,
                bytes,
                barrier,
                blocks,
            } => {
                let (dst, src, bytes, barrier) = (shared_at(dst), at(src), value(*bytes), shared_at(barrier));
                check_bulk(dst, src, bytes)?;
                let targets = destinations(cx, dst, barrier, blocks.map(value))?;
                (Completion::Barrier, Copy::Load { src, bytes, targets })
            }
            Transfer::BulkStore {
                dst,
                src,
                bytes,
                byte_mask,
            } => {
                let (dst, src, bytes) = (at(dst), shared_at(src), value(*bytes));
                check_bulk(src, dst, bytes)?;
                (
                    Completion::BulkGroup,
                    Copy::Store {
                        dst,
                        src,
                        bytes,
                        mask: byte_mask.map(value),
                    },
                )
            }
            Transfer::BulkSend {
                dst,
                src,
                bytes,
                barrier,
            } => {
                let (dst, src, bytes, barrier) = (shared_at(dst), shared_at(src), value(*bytes), shared_at(barrier));
                check_bulk(dst, src, bytes)?;
                (
                    Completion::Barrier,
                    Copy::Send {
                        dst,
                        src,
                        bytes,
                        barrier,
                    },
                )
            }
            Transfer::BulkReduce {
                op,
                ty,
                dst,
                src,
                bytes,
                barrier,
            } => {
                let (src, bytes) = (shared_at(src), value(*bytes));
                let barrier = barrier.as_ref().map(shared_at);
                let dst = if barrier.is_some() { shared_at(dst) } else { at(dst) };
                check_bulk(src, dst, bytes)?;
                let completion = if barrier.is_some() {
                    Completion::Barrier
                } else {
                    Completion::BulkGroup
                };
                (
                    completion,
                    Copy::Reduce {
                        op: *op,
                        ty: *ty,
                        dst,
                        src,
                        bytes,
                        barrier,
                    },
                )
            }
            Transfer::StoreAsync {
                dst,
                values,
                bytes,
                barrier,
            } => {
                let dst = shared_at(dst);
                let data: Vec<u8> = values
                    .iter()
                    .flat_map(|v| value(*v).to_le_bytes()[..usize::from(*bytes)].to_vec())
                    .collect();
                aligned(dst, data.len() as u64)?;
                (
                    Completion::Barrier,
                    Copy::Registers {
                        dst,
                        data,
                        barrier: shared_at(barrier),
                    },
                )
            }
            Transfer::ReduceAsync {
                op,
                ty,
                dst,
                operand,
                barrier,
            } => {
                let (dst, operand, barrier) = (shared_at(dst), value(*operand), shared_at(barrier));
                (
                    Completion::Barrier,
                    Copy::Update {
                        op: *op,
                        ty: *ty,
                        dst,
                        operand,
                        barrier,
                    },
                )
            }
            Transfer::TensorLoad {
                mode,
                map,
                coords,
                replaced,
                offsets,
                dst,
                barrier,
                blocks,
            } => {
                let coords = coordinates(coords);
                let map = tensor_map(map, replaced, &coords)?;
                let offset = |i: usize| offsets.get(i).map_or(0, |o| value(*o) as u16);
                let mode = match mode {
                    TensorMode::Tile => LoadMode::Tile,
                    TensorMode::Gather4 => LoadMode::Gather4,
                    TensorMode::Im2col => LoadMode::Im2col {
                        offsets: [offset(0), offset(1), offset(2)],
                    },
                    TensorMode::Im2colW => LoadMode::Im2colW {
                        halo: offset(0),
                        offset: offset(1),
                    },
                    TensorMode::Im2colW128 => LoadMode::Im2colW128 {
                        halo: offset(0),
                        offset: offset(1),
                    },
                };
                let targets = destinations(cx, shared_at(dst), shared_at(barrier), blocks.map(value))?;
                (
                    Completion::Barrier,
                    Copy::TensorLoad {
                        map,
                        mode,
                        coords,
                        targets,
                    },
                )
            }
            Transfer::TensorStore {
                mode,
                map,
                coords,
                replaced,
                src,
            } => {
                let (coords, src) = (coordinates(coords), shared_at(src));
                let map = tensor_map(map, replaced, &coords)?;
                (
                    Completion::BulkGroup,
                    Copy::TensorStore {
                        map,
                        mode: *mode,
                        coords,
                        src,
                    },
                )
            }
            Transfer::TensorReduce {
                op,
                mode,
                map,
                coords,
                replaced,
                src,
            } => {
                let (coords, src) = (coordinates(coords), shared_at(src));
                let map = tensor_map(map, replaced, &coords)?;
                (
                    Completion::BulkGroup,
                    Copy::TensorReduce {
                        map,
                        op: *op,
                        mode: *mode,
                        coords,
                        src,
                    },
                )
            }
            _ => return Ok(None),
        }))
    }

    /// The tensor map at a generic address.
    fn tensor_map(
        &self,
        cx: &Context<'_, '_>,
        addr: u64,
        l: usize,
        replaced: Option<&Replaced>,
        coords: &[i32],
    ) -> Result<TensorMap, Fault> {
        aligned(addr, 64)?;
        if cx.grid.checks.is_some() {
            self.check_tensor_map(cx, l, addr);
        }
        let shared = ClusterShared {
            blocks: &cx.cluster.blocks,
            own: cx.block,
        };
        let memory = Generic {
            global: cx.grid.memory,
            shared: &shared,
            space: Space::Generic,
        };
        let mut bytes = [0; tma::DESCRIPTOR_BYTES];
        memory.read(addr, &mut bytes)?;
        with(
            tma::decode(&bytes)?,
            replaced,
            &|v| self.read(cx.grid.program, l, v),
            coords,
        )
    }
}

/// A map with the fields that one copy from `coords` on replaces.
fn with(
    mut map: TensorMap,
    replaced: Option<&Replaced>,
    value: &dyn Fn(Value) -> u64,
    coords: &[i32],
) -> Result<TensorMap, Fault> {
    let Some(replaced) = replaced else { return Ok(map) };
    map.address = value(replaced.address);
    aligned(map.address, 16)?;
    if !replaced.dims.is_empty() {
        if let Some(at) = coords.iter().find(|at| **at != 0) {
            return Err(illegal(format!(
                "a tensor copy that replaces sizes of its map starts at {at}; it must start at 0, by an address of its own"
            )));
        }
        let upper = replaced.upper.map_or(0, value);
        let stride = |(i, lower): (usize, &Value)| (value(*lower) & 0xffff_ffff | (upper >> (4 * i) & 0xf) << 32) << 4;
        map.dims = replaced.dims.iter().map(|d| value(*d) & 0xff).collect();
        map.strides = replaced.lower.iter().enumerate().map(stride).collect();
    }
    Ok(map)
}

/// Where a load goes to: data and barrier, in the block that the addresses name or in those of a mask.
fn destinations(cx: &Context<'_, '_>, dst: u64, barrier: u64, mask: Option<u64>) -> Result<Vec<(u64, u64)>, Fault> {
    let blocks = cx.cluster.blocks.len();
    match mask {
        None => Ok(vec![(dst, barrier)]),
        Some(mask) if mask >> blocks != 0 => Err(illegal(format!(
            "a multicast to blocks {mask:#x} of a cluster of {blocks}; expected a mask of at most {:#x}, one bit for each block: \
             clear the others, or launch larger clusters",
            (1u64 << blocks) - 1
        ))),
        Some(mask) => {
            let ranks = (0..blocks as u64).filter(|r| mask >> r & 1 != 0);
            Ok(ranks.map(|r| (in_block(dst, r), in_block(barrier, r))).collect())
        }
    }
}

fn check_bulk(shared: u64, other: u64, bytes: u64) -> Result<(), Fault> {
    if !bytes.is_multiple_of(16) {
        return Err(illegal(format!(
            "a bulk copy of {bytes} bytes; the number must be a multiple of 16"
        )));
    }
    aligned(shared, 16)?;
    aligned(other, 16)
}
