//! The frame of a generated kernel: one block, arguments as arrays of one word for each register and thread, and the
//! manifest that a launch needs.
use super::data::Numbers;
use girih_core::{
    dtype::DType,
    manifest::{Arg, Expr, Kernel, Manifest, Param, SCHEMA},
};
use girih_runtime::{Program, Result};
use std::fmt::Write;

/// An argument of a generated kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// An array.
    Array {
        /// Name of the argument, and of its pointer register `%p_NAME`.
        name: &'static str,
        /// Element type.
        dtype: DType,
        /// Sizes: registers, threads, and elements of a word where there are several.
        shape: Vec<u64>,
        /// Metadata has numbers of its own; `None` takes the round's.
        numbers: Option<Numbers>,
    },
    /// A number in the register `%s_NAME`.
    Scalar {
        /// Name of the argument.
        name: &'static str,
        /// I32 or I64.
        dtype: DType,
        /// Its bits.
        bits: u64,
    },
}

impl Operand {
    /// The words of `registers` registers of `threads` threads, elements of `dtype` in them.
    pub fn words(name: &'static str, dtype: DType, registers: usize, threads: usize) -> Self {
        let mut shape = vec![registers as u64, threads as u64];
        if dtype.bytes() < 4 {
            shape.push(4 / dtype.bytes());
        }
        Operand::Array {
            name,
            dtype,
            shape,
            numbers: None,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Operand::Array { name, .. } | Operand::Scalar { name, .. } => name,
        }
    }
}

/// PTX that loads the parameters and then does what `body` says, with its manifest.
pub fn program(name: &str, threads: u32, operands: &[Operand], registers: &str, body: &str) -> Result<Program> {
    let (mut params, mut loads) = (Vec::new(), String::new());
    for operand in operands {
        let name = operand.name();
        let (ty, register) = match operand {
            Operand::Array { .. } => ("u64", format!("%p_{name}")),
            Operand::Scalar { dtype, .. } if *dtype == DType::I64 => ("u64", format!("%s_{name}")),
            Operand::Scalar { .. } => ("u32", format!("%s_{name}")),
        };
        params.push(format!("\t.param .{ty} {name}"));
        let bits = if ty == "u64" { "b64" } else { "b32" };
        let _ = write!(
            loads,
            "\t.reg .{bits} {register};\n\tld.param.{ty} {register}, [{name}];\n"
        );
        if matches!(operand, Operand::Array { .. }) {
            let _ = writeln!(loads, "\tcvta.to.global.u64 {register}, {register};");
        }
    }
    let ptx = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n\n.visible .entry {name}(\n{}\n)\n{{\n\t.reg .b32 \
         %t;\n\t.reg .b64 %o;\n{registers}\tmov.u32 %t, %tid.x;\n{loads}{body}\tret;\n}}\n",
        params.join(",\n"),
    );
    let args = operands.iter().map(|operand| match operand {
        Operand::Array { name, dtype, shape, .. } => Arg::Memref {
            name: (*name).to_owned(),
            dtype: *dtype,
            shape: shape.iter().map(|size| Some(*size)).collect(),
            strides: (1..=shape.len())
                .map(|dim| Some(shape[dim..].iter().product()))
                .collect(),
            align: 16,
        },
        Operand::Scalar { name, dtype, .. } => Arg::Scalar {
            name: (*name).to_owned(),
            dtype: *dtype,
        },
    });
    let parameter = |(arg, operand): (usize, &Operand)| match operand {
        Operand::Array { .. } => Param::Pointer { arg },
        Operand::Scalar { .. } => Param::Scalar { arg },
    };
    let manifest = Manifest {
        schema: SCHEMA,
        girih: env!("CARGO_PKG_VERSION").to_owned(),
        target: "sm_90a".to_owned(),
        kernels: vec![Kernel {
            name: name.to_owned(),
            args: args.collect(),
            params: operands.iter().enumerate().map(parameter).collect(),
            tensor_maps: Vec::new(),
            grid: [1, 1, 1].map(Expr::Const),
            block: [threads, 1, 1],
            cluster: [1; 3],
            dynamic_shared_bytes: 0,
            facts: vec![],
        }],
    };
    Program::new(manifest.to_ptx_comment() + &ptx, manifest)
}

/// Loads or stores of registers `%PREFIX0`, `%PREFIX1`, ... of every thread from or to an array of words.
pub fn transfer(load: bool, pointer: &str, prefix: &str, ty: &str, count: usize, threads: u32) -> String {
    let size = if ty.ends_with("64") { 8 } else { 4 };
    let mut text = format!("\tmul.wide.u32 %o, %t, {size};\n\tadd.u64 %o, %o, %p_{pointer};\n");
    for register in 0..count {
        let offset = register as u32 * threads * size;
        let _ = match load {
            true => writeln!(text, "\tld.global.{ty} %{prefix}{register}, [%o+{offset}];"),
            false => writeln!(text, "\tst.global.{ty} [%o+{offset}], %{prefix}{register};"),
        };
    }
    text
}

/// `{%a0, %a1}`
pub fn list(prefix: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("%{prefix}{i}")).collect();
    format!("{{{}}}", names.join(", "))
}
