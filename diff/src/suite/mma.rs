//! `mma.sync` and `mma.sp.sync` in every type and shape of sm_90 (PTX ISA 9.4, section 9.7.14).
use super::{
    Case,
    data::Numbers,
    kernel::{Operand, list, program, transfer},
};
use girih_core::dtype::DType;
use girih_runtime::Result;

const THREADS: u32 = 32;

/// Types of A and B, types of C and D, and shapes, the sparse ones with the K of the instruction.
struct Family {
    pairs: &'static [(&'static str, &'static str)],
    /// Types of C and D.
    sums: &'static [(&'static str, &'static str)],
    shapes: &'static [(usize, usize, usize)],
    sparse: &'static [(usize, usize, usize)],
    /// What may stand after the layouts.
    qualifiers: &'static [&'static str],
    /// What must stand at the end.
    operations: &'static [&'static str],
}

const FAMILIES: [Family; 8] = [
    Family {
        pairs: &[("f16", "f16")],
        sums: &[("f16", "f16"), ("f32", "f32")],
        shapes: &[(16, 8, 8), (16, 8, 16)],
        sparse: &[(16, 8, 16), (16, 8, 32)],
        qualifiers: &[""],
        operations: &[""],
    },
    Family {
        pairs: &[("bf16", "bf16")],
        sums: &[("f32", "f32")],
        shapes: &[(16, 8, 8), (16, 8, 16)],
        sparse: &[(16, 8, 16), (16, 8, 32)],
        qualifiers: &[""],
        operations: &[""],
    },
    Family {
        pairs: &[("tf32", "tf32")],
        sums: &[("f32", "f32")],
        shapes: &[(16, 8, 4), (16, 8, 8)],
        sparse: &[(16, 8, 8), (16, 8, 16)],
        qualifiers: &[""],
        operations: &[""],
    },
    Family {
        pairs: &[("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2")],
        sums: &[("f32", "f32")],
        shapes: &[(16, 8, 16), (16, 8, 32)],
        sparse: &[(16, 8, 64)],
        qualifiers: &[""],
        operations: &[""],
    },
    Family {
        pairs: &[("f64", "f64")],
        sums: &[("f64", "f64")],
        shapes: &[(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)],
        sparse: &[],
        qualifiers: &[""],
        operations: &[""],
    },
    Family {
        pairs: &[("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8")],
        sums: &[("s32", "s32")],
        shapes: &[(8, 8, 16), (16, 8, 16), (16, 8, 32)],
        sparse: &[(16, 8, 32), (16, 8, 64)],
        qualifiers: &["", ".satfinite"],
        operations: &[""],
    },
    Family {
        pairs: &[("s4", "s4"), ("s4", "u4"), ("u4", "s4"), ("u4", "u4")],
        sums: &[("s32", "s32")],
        shapes: &[(8, 8, 32), (16, 8, 32), (16, 8, 64)],
        sparse: &[(16, 8, 64), (16, 8, 128)],
        qualifiers: &["", ".satfinite"],
        operations: &[""],
    },
    Family {
        pairs: &[("b1", "b1")],
        sums: &[("s32", "s32")],
        shapes: &[(8, 8, 128), (16, 8, 128), (16, 8, 256)],
        sparse: &[],
        qualifiers: &[""],
        operations: &[".xor.popc", ".and.popc"],
    },
];

/// Bits of an element, and the type of arrays of it.
fn element(name: &str) -> (usize, DType) {
    match name {
        "f16" => (16, DType::F16),
        "bf16" => (16, DType::Bf16),
        "tf32" | "f32" => (32, DType::F32),
        "f64" => (64, DType::F64),
        "e4m3" => (8, DType::E4m3),
        "e5m2" => (8, DType::E5m2),
        "s8" | "u8" => (8, DType::I8),
        "s4" | "u4" => (4, DType::I32),
        "b1" => (1, DType::I32),
        _ => (32, DType::I32),
    }
}

/// One instruction, with the registers of a thread that its operands take.
struct Instruction<'a> {
    text: String,
    types: [&'a str; 4],
    registers: [usize; 4],
    /// Metadata's numbers and the selector.
    sparse: Option<(Numbers, usize)>,
}

/// Every case.
pub fn cases() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for family in &FAMILIES {
        for &(a, b) in family.pairs {
            for &(c, d) in family.sums {
                for qualifier in family.qualifiers {
                    for operation in family.operations {
                        for &shape in family.shapes {
                            let text = format!(
                                "mma.sync.aligned.{}.row.col{qualifier}.{d}.{a}.{b}.{c}{operation}",
                                name(shape)
                            );
                            cases.push(case(&dense(text, [a, b, c, d], shape, false))?);
                        }
                        for &shape in family.sparse {
                            for selector in 0..selectors(a, shape) {
                                let text = format!(
                                    "mma.sp::ordered_metadata.sync.aligned.{}.row.col{qualifier}.{d}.{a}.{b}.{c}",
                                    name(shape)
                                );
                                let codes = if a == "tf32" {
                                    Numbers::OneOfTwo
                                } else {
                                    Numbers::PairsOfFour
                                };
                                cases.push(case(&Instruction {
                                    sparse: Some((codes, selector)),
                                    ..dense(text, [a, b, c, d], shape, true)
                                })?);
                            }
                        }
                    }
                }
            }
        }
    }
    // Four products at once, one for each quarter of the warp.
    for layouts in ["row.row", "row.col", "col.row", "col.col"] {
        for (c, d) in [("f16", "f16"), ("f16", "f32"), ("f32", "f32")] {
            let sum = |ty| if ty == "f16" { 4 } else { 8 };
            cases.push(case(&Instruction {
                text: format!("mma.sync.aligned.m8n8k4.{layouts}.{d}.f16.f16.{c}"),
                types: ["f16", "f16", c, d],
                registers: [2, 2, sum(c), sum(d)],
                sparse: None,
            })?);
        }
    }
    Ok(cases)
}

fn name((m, n, k): (usize, usize, usize)) -> String {
    format!("m{m}n{n}k{k}")
}

fn dense<'a>(text: String, types: [&'a str; 4], (m, n, k): (usize, usize, usize), sparse: bool) -> Instruction<'a> {
    let depth = if sparse { k / 2 } else { k };
    let registers = |elements: usize, ty: &str| {
        let (bits, _) = element(ty);
        elements * bits / bits.max(32) / 32
    };
    Instruction {
        registers: [
            registers(m * depth, types[0]),
            registers(k * n, types[1]),
            registers(m * n, types[2]),
            registers(m * n, types[3]),
        ],
        text,
        types,
        sparse: None,
    }
}

/// How many selectors there are: lanes of a quad over those that the metadata fills.
fn selectors(a: &str, (m, _, k): (usize, usize, usize)) -> usize {
    let bits = match a {
        "tf32" => k / 2 * 4,
        "s4" | "u4" => k / 4 * 2,
        _ => k / 2 * 2,
    };
    4 / (m * bits / 256).max(1)
}

fn case(instruction: &Instruction<'_>) -> Result<Case> {
    let [a, b, c, d] = instruction.registers;
    let types = instruction.types;
    let operand = |name, ty: &str, registers| Operand::words(name, element(ty).1, registers, THREADS as usize);
    let mut operands = vec![
        operand("A", types[0], a),
        operand("B", types[1], b),
        operand("C", types[2], c),
        operand("D", types[3], d),
    ];
    let register = |ty: &str| match ty {
        "f64" => "f64",
        "f32" => "f32",
        _ => "b32",
    };
    let mut registers = String::new();
    let mut body = String::new();
    for (pointer, prefix, ty, count) in [
        ("A", "a", types[0], a),
        ("B", "b", types[1], b),
        ("C", "c", types[2], c),
        ("D", "d", types[3], d),
    ] {
        registers.push_str(&format!("\t.reg .{} %{prefix}<{count}>;\n", register(ty)));
        if pointer != "D" {
            body.push_str(&transfer(true, pointer, prefix, register(ty), count, THREADS));
        }
    }
    let mut rest = String::new();
    let mut name = instruction
        .text
        .replace("::ordered_metadata", "")
        .replace(".sync.aligned", "");
    if let Some((codes, selector)) = instruction.sparse {
        operands.push(Operand::Array {
            name: "E",
            dtype: DType::I32,
            shape: vec![1, u64::from(THREADS)],
            numbers: Some(codes),
        });
        registers.push_str("\t.reg .b32 %e<1>;\n");
        body.push_str(&transfer(true, "E", "e", "b32", 1, THREADS));
        rest = format!(", %e0, {selector}");
        name.push_str(&format!(".selector{selector}"));
    }
    body.push_str(&format!(
        "\t{} {}, {}, {}, {}{rest};\n",
        instruction.text,
        list("d", d),
        list("a", a),
        list("b", b),
        list("c", c)
    ));
    body.push_str(&transfer(false, "D", "d", register(types[3]), d, THREADS));
    let entry = name.replace('.', "_");
    Ok(Case {
        program: program(&entry, THREADS, &operands, &registers, &body)?,
        name,
        operands,
    })
}
