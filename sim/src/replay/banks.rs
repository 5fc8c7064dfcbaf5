//! Recorded wavefronts of one access of one warp to shared memory.
use crate::Simulator;
use crate::profile::Options;
use girih_core::device::{Device, Launch};
use serde::Deserialize;

/// Bytes of dynamic shared memory of the recorded launches.
const SHARED_BYTES: u32 = 40_960;

#[derive(Deserialize)]
struct Record {
    name: String,
    /// The access, one PTX instruction.
    ptx: String,
    /// What comes after it.
    after: String,
    /// Offset in shared memory of each lane; a lane without one takes no part.
    addresses: [Option<u32>; 32],
    wavefronts: u64,
    /// Wavefronts beyond one for each part of the access, where the hardware counts those.
    conflicts: Option<u64>,
}

/// What the simulator counts otherwise than the hardware, if anything.
pub(super) fn difference(line: &str) -> Result<Option<String>, String> {
    let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let (wavefronts, ideal) = count(&record).map_err(|error| format!("{}: {error}", record.name))?;
    let conflicts = record.conflicts.unwrap_or(wavefronts - ideal);
    let same = (wavefronts, wavefronts - ideal) == (record.wavefronts, conflicts);
    Ok((!same).then(|| {
        format!(
            "{}: {wavefronts} wavefronts, {} of them conflicts; recorded were {} and {conflicts}",
            record.name,
            wavefronts - ideal,
            record.wavefronts
        )
    }))
}

/// The recorded kernel, whose access stands on a line of its own.
fn kernel(record: &Record) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n\
         .visible .entry k(.param .u64 table, .param .u64 data) {{\n\
         .reg .pred %p; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .f32 %f<8>;\n\
         ld.param.u64 %d1, [table]; ld.param.u64 %d2, [data]; mov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d1, %d3; ld.global.u32 %r2, [%d3];\n\
         setp.ne.u32 %p, %r2, 0xffffffff; mov.u32 %r3, smem; add.u32 %r2, %r3, %r2;\n\
         mul.wide.u32 %d4, %r1, 16; add.u64 %d2, %d2, %d4; ld.global.v4.b32 {{%r4, %r5, %r6, %r7}}, [%d2];\n\
         mov.b64 %d5, {{%r4, %r5}}; mov.b32 %f4, %r4; mov.b32 %f5, %r5;\n\
         {}\n{}\n\
         st.global.v4.b32 [%d2], {{%r4, %r5, %r6, %r7}}; ret;\n}}\n",
        record.ptx, record.after
    )
}

/// Wavefronts that the simulator counts for the access, and those without conflicts.
fn count(record: &Record) -> Result<(u64, u64), String> {
    let text = kernel(record);
    let access = 1 + text.lines().position(|line| line == record.ptx).ok_or("no access")? as u32;
    let mut simulator = Simulator::new();
    simulator.set_profile(Options {
        banks: true,
        resources: false,
    });
    let mut run = || {
        let module = simulator.load(&text)?;
        let table = simulator.allocate(128)?;
        let data = simulator.allocate(512)?;
        let offsets: Vec<u8> = record
            .addresses
            .iter()
            .flat_map(|offset| offset.unwrap_or(u32::MAX).to_le_bytes())
            .collect();
        simulator.write(table, 0, &offsets)?;
        simulator.write(data, 0, &[1; 512])?;
        let params = [table, data].map(|buffer| buffer.address.to_le_bytes().to_vec());
        simulator.launch(
            module,
            &Launch {
                kernel: "k",
                grid: [1; 3],
                block: [32, 1, 1],
                cluster: [1; 3],
                dynamic_shared_bytes: SHARED_BYTES,
                cooperative: false,
                params: &params,
            },
        )
    };
    run().map_err(|error| error.to_string())?;
    let profile = simulator.take_profile().ok_or("no profile")?;
    let report = profile.launches.first().and_then(|launch| launch.banks.as_ref());
    let line = report.and_then(|report| report.lines.iter().find(|line| line.code.ptx_line == access));
    let cost = line.ok_or("the access was not counted")?.cost;
    Ok((cost.wavefronts, cost.ideal_wavefronts))
}
