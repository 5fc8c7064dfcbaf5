//! What tests of this crate share: a device that records, and a manifest that uses every kind of field.
use girih_core::{
    device::{Buffer, Device, DeviceError, Launch, ModuleId, Result},
    dtype::DType,
    manifest::{Arg, BinaryOp, Expr, Kernel, Manifest, Param, SCHEMA, TensorMapTemplate},
    tensor_map::{Fill, Format, Interleave, L2Promotion, Mode, Swizzle, TensorMap},
};
use std::{cell::RefCell, collections::BTreeMap};

/// A launch as the recorder saw it.
pub struct Recorded {
    pub kernel: String,
    pub grid: [u32; 3],
    pub params: Vec<Vec<u8>>,
}

/// What a test does to memory in place of a kernel.
pub type PlayKernel = fn(&mut BTreeMap<u64, Vec<u8>>, &Recorded);

/// A device with memory but no execution.
#[derive(Default)]
pub struct Recorder {
    pub memory: BTreeMap<u64, Vec<u8>>,
    pub allocations: u64,
    pub modules: usize,
    pub launches: Vec<Recorded>,
    pub maps: RefCell<Vec<TensorMap>>,
    pub fail_launch: bool,
    /// Called at each launch, so that a test can play the kernel.
    pub kernel: Option<PlayKernel>,
}

impl Recorder {
    fn buffer(&mut self, buffer: Buffer) -> Result<&mut Vec<u8>> {
        self.memory
            .get_mut(&buffer.address)
            .ok_or_else(|| DeviceError::new("no such buffer"))
    }
}

impl Device for Recorder {
    fn name(&self) -> String {
        "recorder".into()
    }
    fn target(&self) -> String {
        "sm_90a".into()
    }
    fn allocate(&mut self, bytes: usize) -> Result<Buffer> {
        self.allocations += 1;
        let address = self.allocations << 32;
        self.memory.insert(address, vec![0xcd; bytes]);
        Ok(Buffer { address, bytes })
    }
    fn free(&mut self, buffer: Buffer) -> Result<()> {
        self.memory
            .remove(&buffer.address)
            .map(drop)
            .ok_or_else(|| DeviceError::new("no such buffer"))
    }
    fn write(&mut self, buffer: Buffer, offset: usize, bytes: &[u8]) -> Result<()> {
        self.buffer(buffer)?[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
    fn read(&mut self, buffer: Buffer, offset: usize, bytes: &mut [u8]) -> Result<()> {
        bytes.copy_from_slice(&self.buffer(buffer)?[offset..offset + bytes.len()]);
        Ok(())
    }
    fn load(&mut self, _: &str) -> Result<ModuleId> {
        self.modules += 1;
        Ok(ModuleId(self.modules))
    }
    fn unload(&mut self, _: ModuleId) -> Result<()> {
        self.modules -= 1;
        Ok(())
    }
    fn encode_tensor_map(&self, map: &TensorMap) -> Result<[u8; 128]> {
        self.maps.borrow_mut().push(map.clone());
        Ok([0xa5; 128])
    }
    fn launch(&mut self, _: ModuleId, launch: &Launch<'_>) -> Result<()> {
        if self.fail_launch {
            return Err(DeviceError::new("the recorder refuses"));
        }
        let recorded = Recorded {
            kernel: launch.kernel.into(),
            grid: launch.grid,
            params: launch.params.to_vec(),
        };
        if let Some(kernel) = self.kernel {
            kernel(&mut self.memory, &recorded);
        }
        self.launches.push(recorded);
        Ok(())
    }
    fn synchronize(&mut self) -> Result<()> {
        Ok(())
    }
    fn time(&mut self, module: ModuleId, launch: &Launch<'_>, repetitions: usize) -> Result<Option<Vec<f64>>> {
        for _ in 0..repetitions {
            self.launch(module, launch)?;
        }
        Ok(Some(vec![1e-3; repetitions]))
    }
}

/// `gemm(A: MxK row-major, B: KxN column-major, C: MxN row-major, alpha: i32)` with tensor maps of A and B, tiles of
/// 128x128, clusters of 2.
pub fn gemm_manifest() -> Manifest {
    let memref = |name: &str, strides: [Option<u64>; 2], align| Arg::Memref {
        name: name.into(),
        dtype: DType::Bf16,
        shape: vec![None, None],
        strides: strides.to_vec(),
        align,
    };
    let size = |arg, dim| Expr::Size { arg, dim };
    let binary = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
    let map = |arg, dims: [Expr; 2], stride_dim| TensorMapTemplate {
        arg,
        offset: Expr::Const(0),
        format: Format::Bf16,
        dims: dims.into(),
        strides: vec![binary(
            BinaryOp::Mul,
            Expr::Stride { arg, dim: stride_dim },
            Expr::Const(2),
        )],
        mode: Mode::Tiled {
            box_dims: vec![64, 128],
        },
        element_strides: vec![1, 1],
        interleave: Interleave::None,
        swizzle: Swizzle::B128,
        fill: Fill::Zero,
        l2_promotion: L2Promotion::B128,
        exact_rows: false,
        optional: false,
    };
    Manifest {
        schema: SCHEMA,
        girih: "0.1.0".into(),
        target: "sm_90a".into(),
        kernels: vec![Kernel {
            name: "gemm".into(),
            args: vec![
                memref("A", [None, Some(1)], 16),
                memref("B", [Some(1), None], 2),
                memref("C", [None, Some(1)], 2),
                Arg::Scalar {
                    name: "alpha".into(),
                    dtype: DType::I32,
                },
            ],
            params: vec![
                Param::Pointer { arg: 2 },
                Param::Size { arg: 0, dim: 0 },
                Param::Stride { arg: 0, dim: 0 },
                Param::Scalar { arg: 3 },
                Param::TensorMap { map: 0 },
                Param::TensorMap { map: 1 },
            ],
            tensor_maps: vec![map(0, [size(0, 1), size(0, 0)], 0), map(1, [size(1, 0), size(1, 1)], 1)],
            grid: [
                binary(
                    BinaryOp::Mul,
                    binary(BinaryOp::CeilDivS, size(2, 0), Expr::Const(256)),
                    Expr::Const(2),
                ),
                binary(BinaryOp::CeilDivS, size(2, 1), Expr::Const(128)),
                Expr::Const(1),
            ],
            block: [288, 1, 1],
            cluster: [2, 1, 1],
            dynamic_shared_bytes: 200 << 10,
            facts: vec![],
        }],
    }
}

/// PTX text with [`gemm_manifest`].
pub fn gemm_ptx() -> String {
    gemm_manifest().to_ptx_comment() + "\n.version 8.0\n.target sm_90a\n\n.visible .entry gemm(\n)\n{\n\tret;\n}\n"
}
