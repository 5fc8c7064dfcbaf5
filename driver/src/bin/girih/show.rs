//! `girih doctor`.
use clap::Args;
use girih::{failure::Result, file};
use girih_codegen::ptxas::Ptxas;
use girih_core::device::Device;
use girih_runtime::cuda::{CudaDevice, device_count};
use girih_sim::Simulator;
use serde_json::{Value, json};

/// Options of `girih doctor`.
#[derive(Args)]
pub struct Doctor {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Says what there is to work with.
pub fn doctor(args: &Doctor) -> Result<()> {
    let ptxas = Ptxas::find(None).and_then(|ptxas| Ok((ptxas.path().to_path_buf(), ptxas.version()?)));
    let gpus: std::result::Result<Vec<(String, String)>, String> = device_count()
        .and_then(|count| {
            (0..count)
                .map(|ordinal| CudaDevice::new(ordinal).map(|device| (device.name(), device.target())))
                .collect()
        })
        .map_err(|error| error.to_string());
    if args.json {
        let or_error =
            |value: std::result::Result<Value, String>| value.unwrap_or_else(|error| json!({"error": error}));
        let device = |(name, target): &(String, String)| json!({"name": name, "target": target});
        let value = json!({
            "girih": env!("CARGO_PKG_VERSION"),
            "llvm": girih_codegen::llvm_version(),
            "simulator": Simulator::new().target(),
            "ptxas": or_error(ptxas.map(|(path, version)| json!({"path": path, "version": version})).map_err(|e| e.to_string())),
            "gpus": or_error(gpus.map(|gpus| gpus.iter().map(device).collect())),
        });
        return file::to_stdout(format!("{value}\n").as_bytes());
    }
    let mut text = format!(
        "girih      {}\nLLVM       {}\nsimulator  {}\n",
        env!("CARGO_PKG_VERSION"),
        girih_codegen::llvm_version(),
        Simulator::new().target()
    );
    match ptxas {
        Ok((path, version)) => text.push_str(&format!("ptxas      {version}, {}\n", path.display())),
        Err(error) => text.push_str(&format!(
            "ptxas      {error}; --emit cubin needs it, nothing else does\n"
        )),
    }
    match gpus {
        Ok(gpus) if gpus.is_empty() => text.push_str("GPU        none; `girih run` uses the simulator\n"),
        Ok(gpus) => {
            for (name, target) in gpus {
                text.push_str(&format!("GPU        {name}, {target}\n"));
            }
        }
        Err(error) => text.push_str(&format!("GPU        none: {error}\n")),
    }
    file::to_stdout(text.as_bytes())
}
