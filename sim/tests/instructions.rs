//! Instructions against what an H200 answered: 1118 forms on 112 or 128 operand sets each, special values included.
//!
//! `data/instructions.jsonl.gz` begins with the operand sets by type; each line after it is one instruction (over `%r1` to
//! `%r3`, `%h1` to `%h3` or `%d1` to `%d3`, and counts derived from the second operand) with the results in hexadecimal.
//! Approximate instructions may differ by the tolerance that they name.
use flate2::read::GzDecoder;
use girih_core::device::{Device, Launch};
use girih_sim::Simulator;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;

#[derive(Deserialize)]
struct Operands {
    operands: BTreeMap<String, Vec<[String; 3]>>,
}

#[derive(Deserialize)]
struct Record {
    operands: String,
    result: String,
    tolerance: String,
    ptx: String,
    values: String,
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).expect("a hexadecimal number")
}

fn kernel(record: &Record) -> String {
    let widen = match record.result.as_str() {
        "r" => "cvt.u64.u32 %d30, %r9;",
        "h" => "cvt.u64.u16 %d30, %h9;",
        "d" => "mov.b64 %d30, %d9;",
        _ => "selp.b64 %d30, 1, 0, %p1;",
    };
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 a, .param .u64 o, .param .u64 s) {{\n\
         .reg .pred %p<4>; .reg .b16 %h<10>; .reg .b32 %r<32>; .reg .b64 %d<40>; .shared .align 8 .b8 sm[1024];\n\
         ld.param.u64 %d10, [a]; ld.param.u64 %d11, [o]; ld.param.u64 %d12, [s]; mov.u32 %r12, %tid.x;\n\
         mul.wide.u32 %d13, %r12, 24; add.u64 %d14, %d10, %d13;\n\
         ld.global.b64 %d1, [%d14]; ld.global.b64 %d2, [%d14+8]; ld.global.b64 %d3, [%d14+16];\n\
         cvt.u32.u64 %r1, %d1; cvt.u32.u64 %r2, %d2; cvt.u32.u64 %r3, %d3;\n\
         cvt.u16.u64 %h1, %d1; cvt.u16.u64 %h2, %d2; cvt.u16.u64 %h3, %d3;\n\
         and.b32 %r4, %r2, 127; and.b32 %r5, %r2, 63; shr.u32 %r6, %r2, 6; and.b32 %r6, %r6, 63;\n\
         shr.u32 %r7, %r3, 28; sub.s32 %r7, %r7, 8;\n\
         mul.wide.u32 %d21, %r12, 8; add.u64 %d20, %d12, %d21;\n\
         mov.u32 %r20, sm; shl.b32 %r21, %r12, 3; add.u32 %r20, %r20, %r21;\n\
         mov.b32 %r9, 0; mov.b16 %h9, 0; mov.b64 %d9, 0;\n{}\n{widen}\n\
         add.u64 %d31, %d11, %d21; st.global.b64 [%d31], %d30; ret;\n}}\n",
        record.ptx
    )
}

/// Absolute or relative difference, whichever is less; the bounds are those of PTX ISA 9.7.3.
fn close(tolerance: &str, want: u64, got: u64) -> bool {
    let near =
        |w: f64, g: f64, bound: f64| w.is_nan() && g.is_nan() || w == g || (w - g).abs() <= bound * w.abs().max(1.0);
    match tolerance {
        "single" => near(
            f32::from_bits(want as u32).into(),
            f32::from_bits(got as u32).into(),
            3e-6,
        ),
        "double" => near(f64::from_bits(want), f64::from_bits(got), 2e-6),
        "half" => [0, 16]
            .iter()
            .all(|s| ((want >> s & 0xffff) as i64 - (got >> s & 0xffff) as i64).abs() <= 1),
        _ => want == got,
    }
}

#[test]
fn instructions_answer_as_recorded() {
    let mut text = String::new();
    GzDecoder::new(&include_bytes!("data/instructions.jsonl.gz")[..])
        .read_to_string(&mut text)
        .expect("records");
    let mut lines = text.lines();
    let operands: Operands = serde_json::from_str(lines.next().expect("operands")).expect("operands");
    let mut differences = Vec::new();
    let mut count = 0;
    for line in lines {
        let record: Record = serde_json::from_str(line).expect("a record");
        let sets = &operands.operands[&record.operands];
        let n = sets.len();
        let mut simulator = Simulator::new();
        let bytes: Vec<u8> = sets.iter().flatten().flat_map(|v| hex(v).to_le_bytes()).collect();
        let input = simulator.allocate(bytes.len()).expect("memory");
        let output = simulator.allocate(8 * n).expect("memory");
        let scratch = simulator.allocate(8 * n).expect("memory");
        simulator.write(input, 0, &bytes).expect("memory");
        let module = simulator
            .load(&kernel(&record))
            .unwrap_or_else(|e| panic!("{}: {e}", record.ptx));
        let params: Vec<Vec<u8>> = [input, output, scratch]
            .iter()
            .map(|b| b.address.to_le_bytes().to_vec())
            .collect();
        let launch = Launch {
            kernel: "k",
            grid: [1; 3],
            block: [n as u32, 1, 1],
            cluster: [1; 3],
            dynamic_shared_bytes: 0,
            cooperative: false,
            params: &params,
        };
        simulator
            .launch(module, &launch)
            .unwrap_or_else(|e| panic!("{}: {e}", record.ptx));
        let mut results = vec![0; 8 * n];
        simulator.read(output, 0, &mut results).expect("memory");
        let mut word = [0; 8];
        for (i, (want, got)) in record
            .values
            .split(' ')
            .map(hex)
            .zip(results.chunks_exact(8))
            .enumerate()
        {
            word.copy_from_slice(got);
            let got = u64::from_le_bytes(word);
            if !close(&record.tolerance, want, got) {
                differences.push(format!(
                    "{} of {:?}: expected {want:#x}, found {got:#x}",
                    record.ptx, sets[i]
                ));
            }
        }
        count += 1;
    }
    assert!(count > 1100, "only {count} records");
    assert!(
        differences.is_empty(),
        "{} differ, first {}",
        differences.len(),
        differences[0]
    );
}
