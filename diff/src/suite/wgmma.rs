//! `wgmma.mma_async` in every type, N, source, major and swizzle (PTX ISA 9.4, section 9.7.15).
//!
//! The kernel copies bytes to shared memory as they are, and the descriptors come as numbers: what is compared is which
//! physical bytes an instruction reads, and how it adds.
use super::{
    Case,
    data::Numbers,
    kernel::{Operand, list, program, transfer},
};
use girih_core::{
    dtype::DType,
    tensor_map::Swizzle,
    wgmma::{self, Accumulator, Instruction, M, Major, OperandTile, Source, THREADS},
};
use girih_runtime::{Error, Result};

/// Bytes of A and B in shared memory: rows of at most 128 bytes.
const IMAGE_BYTES: [u64; 2] = [64 * 128, 256 * 128];
const SWIZZLES: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];

/// What varies beside the instruction.
#[derive(Clone, Copy)]
struct Ways {
    swizzles: [Swizzle; 2],
    /// `imm-scale-a` and `imm-scale-b` are -1.
    negate: [bool; 2],
    saturate: bool,
    /// `wgmma.mma_async.sp` with this selector.
    sparse: Option<usize>,
    /// Which step of the tile along K.
    step: u64,
}

const PLAIN: Ways = Ways {
    swizzles: [Swizzle::B128; 2],
    negate: [false; 2],
    saturate: false,
    sparse: None,
    step: 0,
};

/// Every case.
pub fn cases() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let all = wgmma::Operand::ALL;
    let mut count = 0u64;
    for a in all {
        for b in all {
            for &d in a.accumulators() {
                for n in a.legal_n() {
                    for a_source in [Source::Shared(Major::K), Source::Registers] {
                        let instruction = Instruction {
                            a,
                            b,
                            d,
                            n,
                            a_source,
                            b_major: Major::K,
                        };
                        if instruction.check().is_err() {
                            continue;
                        }
                        count += 1;
                        let integer = d == Accumulator::S32;
                        let ways = Ways {
                            negate: [count / 2 % 2 == 1 && !integer, count / 4 % 2 == 1 && !integer],
                            saturate: integer && a != wgmma::Operand::B1 && count / 2 % 2 == 1,
                            step: count / 8 % 4,
                            ..PLAIN
                        };
                        cases.push(case(instruction, ways)?);
                        let few = n % 64 == 8 || n == 256;
                        if few && a != wgmma::Operand::B1 {
                            for selector in 0..if a.bits() == 8 { 1 } else { 2 } {
                                cases.push(case(
                                    instruction,
                                    Ways {
                                        sparse: Some(selector),
                                        step: 2 * (count % 2),
                                        ..ways
                                    },
                                )?);
                            }
                        }
                    }
                }
            }
        }
    }
    places(&mut cases)?;
    Ok(cases)
}

/// Every swizzle of A and B in every major that the type has.
fn places(cases: &mut Vec<Case>) -> Result<()> {
    for a in wgmma::Operand::ALL {
        let d = *a.accumulators().last().unwrap_or(&Accumulator::F32);
        for n in [64, 192] {
            for a_source in [Source::Shared(Major::K), Source::Shared(Major::Mn), Source::Registers] {
                for b_major in [Major::K, Major::Mn] {
                    let instruction = Instruction {
                        a,
                        b: a,
                        d,
                        n,
                        a_source,
                        b_major,
                    };
                    if instruction.check().is_err() {
                        continue;
                    }
                    for (i, left) in SWIZZLES.into_iter().enumerate() {
                        if a_source == Source::Registers && i > 0 {
                            continue;
                        }
                        for right in SWIZZLES {
                            let swizzles = [left, right];
                            cases.push(case(instruction, Ways { swizzles, ..PLAIN })?);
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// The element type of arrays; bits and signs do not matter to bytes.
fn dtype(operand: wgmma::Operand) -> DType {
    match operand {
        wgmma::Operand::F16 => DType::F16,
        wgmma::Operand::Bf16 => DType::Bf16,
        wgmma::Operand::Tf32 => DType::F32,
        wgmma::Operand::E4m3 => DType::E4m3,
        wgmma::Operand::E5m2 => DType::E5m2,
        wgmma::Operand::S8 | wgmma::Operand::U8 | wgmma::Operand::B1 => DType::I8,
    }
}

/// The descriptor of an operand whose tile begins at the block's shared address 0.
fn descriptor(operand: wgmma::Operand, mn: u32, major: Major, swizzle: Swizzle, step: u64) -> Result<u64> {
    let element_bytes = u64::from(operand.bits()).div_ceil(8);
    let span = swizzle.span_bytes().unwrap_or(16) / element_bytes;
    // The tile is as deep as its span, and at least 64 bytes: two steps.
    let k = match major {
        Major::K => span.max(64 / element_bytes),
        Major::Mn => 2 * 32 / element_bytes,
    };
    let tile = OperandTile {
        mn: match major {
            Major::K => u64::from(mn),
            Major::Mn => u64::from(mn).next_multiple_of(span),
        },
        k,
        element_bytes,
        major,
        swizzle,
    };
    let wrong = |error: wgmma::DescriptorError| Error::Usage(error.to_string());
    let placement = tile.placement().map_err(wrong)?;
    let step = step % placement.k_steps;
    placement.descriptor(0, 0, step).encode().map_err(wrong)
}

fn case(instruction: Instruction, ways: Ways) -> Result<Case> {
    let Instruction {
        a,
        b,
        d,
        n,
        a_source,
        b_major,
    } = instruction;
    let count = (wgmma::accumulator_len(n) * d.bits() / 32) as usize;
    let image = |name, operand, bytes: u64| Operand::Array {
        name,
        dtype: dtype(operand),
        shape: vec![bytes / dtype(operand).bytes()],
        numbers: None,
    };
    let sum = match d {
        Accumulator::F16 => DType::F16,
        Accumulator::F32 => DType::F32,
        Accumulator::S32 => DType::I32,
    };
    let threads = THREADS as usize;
    let mut operands = vec![
        match a_source {
            Source::Registers => Operand::words("A", dtype(a), 4, threads),
            Source::Shared(_) => image("A", a, IMAGE_BYTES[0]),
        },
        image("B", b, IMAGE_BYTES[1]),
        Operand::words("C", sum, count, threads),
        Operand::words("D", sum, count, threads),
    ];
    let (sum_register, mut registers) = (if d == Accumulator::F32 { "f32" } else { "b32" }, String::new());
    registers.push_str(&format!(
        "\t.shared .align 1024 .b8 tile[{}];\n\t.reg .{sum_register} %d<{count}>;\n\t.reg .b32 %a<4>;\n\t.reg .b32 \
         %v<4>;\n\t.reg .b32 %s, %i, %e0, %x;\n\t.reg .b64 %base, %g, %desc_a, %desc_b;\n\t.reg .pred %more, %scale_d;\n",
        IMAGE_BYTES[0] + IMAGE_BYTES[1]
    ));
    let mut body = String::from("\tmov.u32 %s, tile;\n");
    if a_source != Source::Registers {
        body.push_str(&copy("A", 0, IMAGE_BYTES[0]));
    }
    body.push_str(&copy("B", IMAGE_BYTES[0], IMAGE_BYTES[1]));
    body.push_str("\tfence.proxy.async.shared::cta;\n\tbar.sync 0;\n");
    body.push_str(
        "\tand.b32 %x, %s, 262143;\n\tshr.u32 %x, %x, 4;\n\tcvt.u64.u32 %base, %x;\n\tsetp.ne.u32 %scale_d, \
         %s_scale, 0;\n",
    );
    let scalar = |name, dtype, bits| Operand::Scalar { name, dtype, bits };
    let left = match a_source {
        Source::Registers => {
            body.push_str(&transfer(true, "A", "a", "b32", 4, THREADS));
            list("a", 4)
        }
        Source::Shared(major) => {
            operands.push(scalar(
                "left",
                DType::I64,
                descriptor(a, M, major, ways.swizzles[0], ways.step)?,
            ));
            body.push_str("\tadd.u64 %desc_a, %base, %s_left;\n");
            "%desc_a".to_owned()
        }
    };
    operands.push(scalar(
        "right",
        DType::I64,
        descriptor(b, n, b_major, ways.swizzles[1], ways.step)? + IMAGE_BYTES[0] / 16,
    ));
    operands.push(scalar("scale", DType::I32, 1));
    body.push_str("\tadd.u64 %desc_b, %base, %s_right;\n");
    body.push_str(&transfer(true, "C", "d", sum_register, count, THREADS));

    let k = a.k() * if ways.sparse.is_some() { 2 } else { 1 };
    let mut metadata = String::new();
    if let Some(selector) = ways.sparse {
        operands.push(Operand::Array {
            name: "E",
            dtype: DType::I32,
            shape: vec![1, u64::from(THREADS)],
            numbers: Some(if a == wgmma::Operand::Tf32 {
                Numbers::OneOfTwo
            } else {
                Numbers::PairsOfFour
            }),
        });
        body.push_str(&transfer(true, "E", "e", "b32", 1, THREADS));
        metadata = format!(", %e0, {selector}");
    }
    let mut immediates = String::new();
    if d != Accumulator::S32 {
        for negate in ways.negate {
            immediates.push_str(if negate { ", -1" } else { ", 1" });
        }
    }
    let transposed = |major| if major == Major::Mn { ", 1" } else { ", 0" };
    if a.allows_mn_major() {
        if let Source::Shared(major) = a_source {
            immediates.push_str(transposed(major));
        }
        immediates.push_str(transposed(b_major));
    }
    let text = format!(
        "wgmma.mma_async{}.sync.aligned.m{M}n{n}k{k}{}.{d}.{a}.{b}{}",
        if ways.sparse.is_some() { ".sp" } else { "" },
        if ways.saturate { ".satfinite" } else { "" },
        if a == wgmma::Operand::B1 { ".and.popc" } else { "" },
    );
    body.push_str(&format!(
        "\twgmma.fence.sync.aligned;\n\t{text} {}, {left}, %desc_b{metadata}, \
         %scale_d{immediates};\n\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n",
        list("d", count)
    ));
    body.push_str(&transfer(false, "D", "d", sum_register, count, THREADS));
    let name = name(&text, &instruction, &ways);
    Ok(Case {
        program: program(&name.replace('.', "_"), THREADS, &operands, &registers, &body)?,
        name,
        operands,
    })
}

/// What tells the case from all others.
fn name(text: &str, instruction: &Instruction, ways: &Ways) -> String {
    let major = |major| if major == Major::Mn { "mn" } else { "k" };
    let span = |swizzle: Swizzle| swizzle.span_bytes().unwrap_or(0);
    let mut name = text.replace(".mma_async", "").replace(".sync.aligned", "");
    match instruction.a_source {
        Source::Registers => name.push_str(".a_registers"),
        Source::Shared(m) => name.push_str(&format!(".a_{}{}", major(m), span(ways.swizzles[0]))),
    }
    name.push_str(&format!(".b_{}{}", major(instruction.b_major), span(ways.swizzles[1])));
    for (negate, operand) in ways.negate.into_iter().zip(["a", "b"]) {
        if negate {
            name.push_str(&format!(".minus_{operand}"));
        }
    }
    if ways.step > 0 {
        name.push_str(&format!(".step{}", ways.step));
    }
    if let Some(selector) = ways.sparse {
        name.push_str(&format!(".selector{selector}"));
    }
    name
}

/// Copies `bytes` from an argument to the block's tile, 16 bytes for each thread at a time.
fn copy(pointer: &str, offset: u64, bytes: u64) -> String {
    let stride = 16 * THREADS;
    format!(
        "\tshl.b32 %i, %t, 4;\n$copy_{pointer}:\n\tcvt.u64.u32 %g, %i;\n\tadd.u64 %g, %g, %p_{pointer};\n\t\
         ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%g];\n\tadd.u32 %x, %s, %i;\n\tst.shared.v4.b32 [%x+{offset}], \
         {{%v0, %v1, %v2, %v3}};\n\tadd.u32 %i, %i, {stride};\n\tsetp.lt.u32 %more, %i, {bytes};\n\t@%more bra \
         $copy_{pointer};\n"
    )
}
