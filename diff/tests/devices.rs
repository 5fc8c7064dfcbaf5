//! Two devices of which one is wrong in one bit.
use clap::Parser;
use girih_core::{
    device::{Buffer, Device, DeviceError, Launch, ModuleId, Result},
    tensor_map::TensorMap,
};
use girih_diff::{
    compare::Tolerance,
    rounds::{self, Options, Outcome},
    suite::{self, ROUNDS},
};
use girih_runtime::{Error, Program};
use girih_sim::Simulator;
use std::path::Path;

/// The simulator, except that the last bit of the second word that is read is another, or that launches fail.
struct Wrong {
    simulator: Simulator,
    fails: bool,
}

impl Device for Wrong {
    fn name(&self) -> String {
        "the wrong device".into()
    }
    fn target(&self) -> String {
        self.simulator.target()
    }
    fn allocate(&mut self, bytes: usize) -> Result<Buffer> {
        self.simulator.allocate(bytes)
    }
    fn free(&mut self, buffer: Buffer) -> Result<()> {
        self.simulator.free(buffer)
    }
    fn write(&mut self, buffer: Buffer, offset: usize, bytes: &[u8]) -> Result<()> {
        self.simulator.write(buffer, offset, bytes)
    }
    fn read(&mut self, buffer: Buffer, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.simulator.read(buffer, offset, bytes)?;
        if let Some(byte) = bytes.get_mut(4) {
            *byte ^= 1;
        }
        Ok(())
    }
    fn load(&mut self, ptx: &str) -> Result<ModuleId> {
        self.simulator.load(ptx)
    }
    fn unload(&mut self, module: ModuleId) -> Result<()> {
        self.simulator.unload(module)
    }
    fn encode_tensor_map(&self, map: &TensorMap) -> Result<[u8; 128]> {
        self.simulator.encode_tensor_map(map)
    }
    fn launch(&mut self, module: ModuleId, launch: &Launch<'_>) -> Result<()> {
        if self.fails {
            return Err(DeviceError::new("CUDA_ERROR_LAUNCH_FAILED"));
        }
        self.simulator.launch(module, launch)
    }
    fn synchronize(&mut self) -> Result<()> {
        self.simulator.synchronize()
    }
    fn time(&mut self, _: ModuleId, _: &Launch<'_>, _: usize) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }
}

fn devices(fails: bool) -> [Box<dyn Device>; 2] {
    let simulator = Simulator::new();
    [Box::new(Simulator::new()), Box::new(Wrong { simulator, fails })]
}

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

/// Doubles an array of floats of any length.
fn scale(devices: &mut [Box<dyn Device>; 2], options: &[&str]) -> std::result::Result<Outcome, Error> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/driver/Inputs/scale.ptx");
    let program = Program::load(&file).unwrap();
    let cli = Cli::try_parse_from(["diff"].iter().chain(options)).unwrap();
    rounds::run(&program, &cli.options, devices)
}

#[test]
fn one_bit_is_found_and_named_with_the_round_that_shows_it() {
    let options = [
        "--arg",
        "x=iota(start=1):f32[N]",
        "--let",
        "N=3..4",
        "--seed",
        "7",
        "--seeds",
        "9",
    ];
    let outcome = scale(&mut devices(false), &options).unwrap();
    assert!(!outcome.agrees);
    let lines: Vec<&str> = outcome.text.lines().collect();
    assert!(lines[0].starts_with("DIFFERENT: scale, seed 7, N = "), "{lines:?}");
    assert!(lines[1].starts_with("x: 1 of "), "{lines:?}");
    assert_eq!(
        lines[2],
        "  at [1]: 4 (0x40800000) on simulator, 4.000000476837158 (0x40800001) on the wrong device"
    );
    assert!(lines[3].starts_with("again: --arg 'x=iota(start=1):f32["), "{lines:?}");
}

#[test]
fn a_tolerance_lets_it_pass_and_so_do_arrays_that_are_too_short() {
    let mut devices = devices(false);
    let outcome = scale(&mut devices, &["--arg", "x=iota:f32[9]", "--tol", "1e-6"]).unwrap();
    assert!(
        outcome.agrees && outcome.text.ends_with("floats within 0.000001"),
        "{}",
        outcome.text
    );
    let outcome = scale(&mut devices, &["--arg", "x=iota:f32[1]"]).unwrap();
    assert!(
        outcome.agrees && outcome.text.ends_with("1 elements, every bit"),
        "{}",
        outcome.text
    );
}

#[test]
fn a_launch_that_fails_names_its_device_and_round() {
    let error = scale(&mut devices(true), &["--arg", "x=iota:f32[N]", "--let", "N=5"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "scale, seed 0, N = 5: the wrong device: CUDA_ERROR_LAUNCH_FAILED"
    );
}

#[test]
fn the_suite_finds_it_in_every_instruction() {
    let cases = suite::cases().unwrap();
    for case in cases.iter().step_by(61) {
        let found = case.run(&mut devices(false), 1, Tolerance::Bits).unwrap();
        assert_eq!(found.len(), ROUNDS.len(), "{}", case.name);
        let mut same: [Box<dyn Device>; 2] = [Box::new(Simulator::new()), Box::new(Simulator::new())];
        assert_eq!(case.run(&mut same, 1, Tolerance::Bits).unwrap(), [], "{}", case.name);
    }
}
