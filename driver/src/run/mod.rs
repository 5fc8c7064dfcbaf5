//! Compile, launch, check: against files and generators, and against a function in the same file.
//!
//! | part | what it does |
//! |---|---|
//! | this file | the whole of one run |
//! | `device` | a GPU if there is one, the simulator otherwise |
//! | `reference` | what the kernel should have computed, by MLIR's JIT on the CPU |
//! | `work` | whether sizes fit each other, and how long a reference would take |
//! | `missing` | what to write for an argument that was forgotten |
mod device;
mod isolate;
mod missing;
mod reference;
mod work;

pub use reference::{Choice, MULTIPLY_ADDS};

use crate::{
    compile::{self, Stage, Unit},
    failure::{Failure, Result},
    registry,
};
use girih_ir::module::Message;
use girih_runtime::{
    Program,
    run::{DeviceChoice, Outcome, Request, run_and_judge},
};
use reference::Reference;
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// MLIR text or bytecode, and how locations call it.
    Mlir(&'a [u8], &'a str),
    /// PTX with its manifest, and the file that it is from.
    Ptx(&'a [u8], &'a str),
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
}

/// Runs a kernel once and checks it.
pub fn run(input: Input<'_>, options: &Options) -> Result<Ran> {
    // A GPU that is asked for must exist before anything is compiled for it.
    let mut chosen = device::open(options.device)?;
    let context = registry::context();
    let mut ran = Messages::default();
    let (program, reference) = match input {
        Input::Ptx(content, name) => (from_ptx(content, name, &options.reference)?, None),
        Input::Mlir(source, name) => {
            let unit = Unit::parse(&context, source, name)?;
            let start = Instant::now();
            let (reference, said) = girih_ir::module::collect_diagnostics(&context, || {
                Reference::choose(unit.module(), &options.reference, options.kernel.as_deref())
            });
            let reference = reference.map_err(|failure| failure.after(said))?;
            let reference_time = start.elapsed();
            let mut compile = options.compile.clone();
            compile.emit = compile::Emit::Ptx;
            if compile.default_target.is_none() {
                compile.default_target = device::target_to_compile_for(&*chosen.device);
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
            let ptx = String::from_utf8_lossy(&compiled.content).into_owned();
            (Program::new(ptx, manifest)?, reference)
        }
    };
    if let Some(remark) = chosen.remark {
        ran.remarks.push(remark);
    }
    launch(&program, reference, options, &mut *chosen.device, ran)
}

/// The parts of [`Ran`] that grow on the way.
#[derive(Default)]
struct Messages {
    remarks: Vec<String>,
    messages: Vec<Message>,
    stages: Vec<Stage>,
}

impl Messages {
    fn stage(&mut self, name: &str, time: Duration) {
        self.stages.push(Stage {
            name: name.to_owned(),
            time,
        });
    }
}

fn from_ptx(content: &[u8], name: &str, reference: &Choice) -> Result<Program> {
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
    Program::from_text(text).map_err(|error| {
        let failure = Failure::from(error);
        let with_name = |mut message: Message| {
            message.text = format!("{name}: {}", message.text);
            message
        };
        Failure {
            kind: failure.kind,
            messages: failure.messages.into_iter().map(with_name).collect(),
        }
    })
}

fn launch(
    program: &Program,
    reference: Option<Reference>,
    options: &Options,
    device: &mut dyn girih_core::device::Device,
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
    let outcome = match &reference {
        None => run_and_judge(device, program, kernel, &options.request, None),
        Some(reference) => run_and_judge(
            device,
            program,
            kernel,
            &options.request,
            Some(&mut |kernel, before, after| {
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
    if let Some(failure) = failed {
        return Err(failure.after(ran.messages));
    }
    let outcome = outcome.map_err(|error| Failure::from(error).after(std::mem::take(&mut ran.messages)))?;
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
    })
}
