//! Compile, launch, check: against files and generators, and against a function in the same file.
//!
//! | part | what it does |
//! |---|---|
//! | this file | the whole of one run |
//! | `device` | a GPU if there is one, the simulator otherwise |
//! | `progress` | how far a long simulation has come |
//! | `reference` | what the kernel should have computed, by MLIR's JIT on the CPU |
//! | `work` | whether sizes fit each other, and how long a reference would take |
//! | `missing` | what to write for an argument that was forgotten |
mod device;
pub(crate) mod missing;
mod progress;
mod reference;
mod work;

pub use reference::{Choice, MULTIPLY_ADDS};

use crate::{
    compile::{self, Stage, Unit},
    failure::{Failure, Result},
    finding::Checks,
    registry,
};
use device::Opened;
use girih_core::{manifest::Manifest, target::Target};
use girih_ir::module::Message;
use girih_runtime::{
    Program,
    run::{DeviceChoice, Outcome, Request, run_and_judge},
};
use girih_sim::profile::{self, Profile};
use progress::Display;
use reference::Reference;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// What to run.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// MLIR text or bytecode, and how locations call it.
    Mlir(&'a [u8], &'a str),
    /// PTX, the file that it is from, and its manifest where the PTX carries none.
    Ptx(&'a [u8], &'a str, Option<Manifest>),
}

/// How to run it.
#[derive(Clone, Debug)]
pub struct Options {
    /// How to compile; always to PTX.
    pub compile: compile::Options,
    /// Kernel; may be left out when there is one.
    pub kernel: Option<String>,
    /// Arguments, outputs, checks, timing.
    pub request: Request,
    /// Where to run.
    pub device: DeviceChoice,
    /// Which function says what is right.
    pub reference: Choice,
    /// Whether the simulator looks for mistakes that a GPU would not report.
    pub check_memory: bool,
    /// What of a simulated launch's cost is counted.
    pub profile: profile::Options,
    /// Warp instructions after which the simulator gives a launch up; its own limit otherwise.
    pub instruction_limit: Option<u64>,
    /// Whether a long simulation shows on standard error, a terminal, how far it has come.
    pub shows_progress: bool,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Device, grid, checks, times.
    pub outcome: Outcome,
    /// What was chosen without being asked for, in sentences.
    pub remarks: Vec<String>,
    /// Warnings of the compilation.
    pub messages: Vec<Message>,
    /// Steps in order: of the compilation, the launch, the reference.
    pub stages: Vec<Stage>,
    /// What the simulator's checks found; `None` where they were not asked for.
    pub checks: Option<Checks>,
    /// What the launch cost; `None` where nothing was to be counted.
    pub profile: Option<Profile>,
    /// What the kernel printed, on the simulator; a GPU's driver writes it to standard output itself.
    pub printed: String,
}

impl Ran {
    /// Whether every comparison holds and no check found anything.
    pub fn is_right(&self) -> bool {
        self.outcome.is_right() && self.checks.as_ref().is_none_or(|checks| checks.findings.is_empty())
    }
}

/// Runs a kernel once and checks it.
pub fn run(input: Input<'_>, options: &Options) -> Result<Ran> {
    // A GPU that is asked for must exist before anything is compiled for it.
    let for_simulator = [
        (options.check_memory, "--check-memory"),
        (options.profile.any(), "--report"),
        (options.instruction_limit.is_some(), "--instruction-limit"),
    ];
    let for_simulator = for_simulator
        .into_iter()
        .find(|(given, _)| *given)
        .map(|(_, option)| option);
    let mut chosen = device::open(options.device, for_simulator)?;
    let context = registry::context();
    let mut ran = Messages {
        ptx_file: match input {
            Input::Ptx(_, name, _) => Some(name.to_owned()),
            Input::Mlir(..) => None,
        },
        ..Messages::default()
    };
    let (program, reference) = match input {
        Input::Ptx(content, name, manifest) => (from_ptx(content, name, manifest, &options.reference)?, None),
        Input::Mlir(source, name) => {
            let unit = Unit::parse(&context, source, name)?;
            ran.grids = reference::grid_places(unit.module());
            let start = Instant::now();
            let (reference, said) = girih_ir::module::collect_diagnostics(&context, || {
                Reference::choose(unit.module(), &options.reference, options.kernel.as_deref())
            });
            let reference = reference.map_err(|failure| failure.after(said))?;
            let reference_time = start.elapsed();
            let mut compile = options.compile.clone();
            compile.emit = compile::Emit::Ptx;
            // So that findings, reports and the simulator's faults name lines of the program.
            compile.line_info |= matches!(chosen.device, Opened::Simulator(_));
            if compile.default_target.is_none() {
                compile.default_target = chosen.device.target_to_compile_for();
            }
            let compiled = unit.compile(&compile)?;
            ran.stages = compiled.stages;
            ran.messages = compiled.messages;
            if reference.is_some() {
                ran.stage("reference, compiled", reference_time);
            }
            let Some(manifest) = compiled.manifest else {
                return Err(Failure::new(format!(
                    "{name}: no kernel can be launched: a launch manifest comes from a `tile.kernel`, and there is none"
                )));
            };
            if let Ok(target) = Target::parse(&manifest.target) {
                chosen.device.be(target);
            }
            let ptx = String::from_utf8_lossy(&compiled.content).into_owned();
            (Program::new(ptx, manifest)?, reference)
        }
    };
    if let Some(remark) = chosen.remark {
        ran.remarks.push(remark);
    }
    launch(&program, reference, options, &mut chosen.device, ran)
}

/// The parts of [`Ran`] that grow on the way.
#[derive(Default)]
struct Messages {
    remarks: Vec<String>,
    messages: Vec<Message>,
    stages: Vec<Stage>,
    ptx_file: Option<String>,
    /// Where each kernel says what its grid is.
    grids: BTreeMap<String, (String, u32, u32)>,
}

impl Messages {
    fn stage(&mut self, name: &str, time: Duration) {
        self.stages.push(Stage {
            name: name.to_owned(),
            time,
        });
    }
}

fn from_ptx(content: &[u8], name: &str, manifest: Option<Manifest>, reference: &Choice) -> Result<Program> {
    if let Choice::Named(function) = reference {
        return Err(Failure::usage(format!(
            "--reference {function}: PTX holds no functions to check against; run the .mlir, or use --check"
        )));
    }
    let text = std::str::from_utf8(content).map_err(|error| {
        Failure::new(format!(
            "{name}: is not PTX text: byte {} is not UTF-8",
            error.valid_up_to()
        ))
    })?;
    if text.trim().is_empty() {
        return Err(Failure::new(format!("{name}: the file is empty; expected PTX")));
    }
    let program = match manifest {
        Some(manifest) => Program::new(text.to_owned(), manifest),
        None => Program::from_text(text),
    };
    program.map_err(|error| {
        let failure = Failure::from(error);
        let with_name = |mut message: Message| {
            message.text = format!("{name}: {}", message.text);
            message
        };
        Failure {
            messages: failure.messages.into_iter().map(with_name).collect(),
            ..failure
        }
    })
}

fn launch(
    program: &Program,
    reference: Option<Reference>,
    options: &Options,
    device: &mut Opened,
    mut ran: Messages,
) -> Result<Ran> {
    let kernel = options.kernel.as_deref();
    missing::check(program.kernel(kernel)?, &options.request.args)?;
    if let Some(reference) = &reference {
        reference.check_specs(program.kernel(kernel)?, &options.request.args)?;
        ran.remarks.extend(reference.remark());
    }
    let start = Instant::now();
    let mut failed = None;
    let mut reference_time = Duration::ZERO;
    let mut display = None;
    if let Opened::Simulator(simulator) = device {
        simulator.set_checks(options.check_memory);
        simulator.set_profile(options.profile);
        if let Some(limit) = options.instruction_limit {
            simulator.set_instruction_limit(limit);
        }
        simulator.hide_output();
        display = options.shows_progress.then(|| Display::start(simulator.progress()));
    }
    let outcome = match &reference {
        None => run_and_judge(device.as_device(), program, kernel, &options.request, None),
        Some(reference) => run_and_judge(
            device.as_device(),
            program,
            kernel,
            &options.request,
            Some(&mut |kernel, before, after| {
                // The reference runs in a copy of this process, which has this thread alone.
                drop(display.take());
                let start = Instant::now();
                let checks = reference.judge(kernel, before, after).or_else(|failure| {
                    failed = Some(failure);
                    Ok(Vec::new())
                });
                reference_time = start.elapsed();
                checks
            }),
        ),
    };
    drop(display);
    let checks = match device {
        Opened::Simulator(simulator) if options.check_memory && simulator.launches() > 0 => Some(Checks::new(
            simulator.take_findings(),
            program.ptx(),
            ran.ptx_file.as_deref(),
        )),
        _ => None,
    };
    let profile = match device {
        Opened::Simulator(simulator) => simulator.take_profile(),
        Opened::Cuda(_) => None,
    };
    let printed = match device {
        Opened::Simulator(simulator) => simulator.output().to_owned(),
        Opened::Cuda(_) => String::new(),
    };
    let failure = match (outcome, failed) {
        (Ok(outcome), None) => Ok(outcome),
        (_, Some(failure)) => Err(failure),
        (Err(error), None) => {
            let grid = match &error {
                girih_runtime::Error::Grid { kernel, .. } => ran.grids.get(kernel),
                _ => None,
            };
            let mut failure = Failure::from(error).in_ptx(ran.ptx_file.as_deref());
            if let (Some(place), [message]) = (grid, &mut failure.messages[..]) {
                message.place = Some(place.clone());
            }
            let at_limit = matches!(device, Opened::Simulator(simulator) if simulator.at_limit());
            if let Some(message) = failure.messages.last_mut().filter(|_| at_limit) {
                message.notes.push(Message {
                    severity: girih_ir::Severity::Note,
                    place: None,
                    text: "--instruction-limit N allows more".to_owned(),
                    notes: vec![],
                });
            }
            Err(failure)
        }
    };
    let outcome = match failure {
        Ok(outcome) => outcome,
        Err(failure) => return Err(failure.after(ran.messages).with_checks(checks).with_printed(printed)),
    };
    if options.check_memory && checks.is_none() {
        ran.remarks
            .push("nothing was launched, so no memory, barriers or waits were checked".to_owned());
    }
    if options.request.time > 0 && outcome.seconds.is_none() {
        ran.remarks.push(match outcome.grid.contains(&0) {
            true => "nothing was timed: the grid is empty".to_owned(),
            false => format!("nothing was timed: {} has no clock that means anything", outcome.device),
        });
    }
    ran.stage("launch", start.elapsed().saturating_sub(reference_time));
    if reference.is_some() {
        ran.stage("reference, run", reference_time);
    }
    Ok(Ran {
        outcome,
        remarks: ran.remarks,
        messages: ran.messages,
        stages: ran.stages,
        checks,
        profile,
        printed,
    })
}
