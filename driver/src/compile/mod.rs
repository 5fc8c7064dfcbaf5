//! From a tile program to any level below it.
//!
//! | [`Emit`] | what comes out |
//! |---|---|
//! | `Tile` | the program, parsed and verified |
//! | `Explicit` | tile ops of which each is one instruction |
//! | `Nvvm` | per-thread code in upstream dialects |
//! | `Llvm` | LLVM IR as instruction selection gets it |
//! | `Ptx` | PTX, headed by the launch manifest |
//! | `Cubin` | machine code, by NVIDIA's ptxas; the manifest comes beside it |
//!
//! A program may enter at each of the first three levels; passes leave alone what is lower already. LLVM IR is not read back:
//! what stands in it as attributes of the kernel is the manifest's by then. The same input gives the same bytes.
mod dump;
mod level;
mod steps;

use crate::{
    bytecode,
    failure::{Failure, Kind, Result, from_line},
    file, registry,
};
use dump::Dump;
use girih_codegen::{CompileOptions, OptLevel, PtxTarget, ptxas::Ptxas, ptxas::Report};
use girih_core::{
    manifest::Manifest,
    target::{PtxVersion, Target},
};
use girih_ir::{Reported, Severity, diag::Diag, module, module::Message, pass};
use melior::{
    Context,
    ir::{Attribute, BlockLike, Location, Module, OperationRef, attribute::AttributeLike, operation::OperationLike},
};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// What comes out of a compilation, from the highest level to the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Emit {
    Tile,
    Explicit,
    Nvvm,
    Llvm,
    Ptx,
    Cubin,
}

/// What to compile for, and how far.
#[derive(Clone, Debug)]
pub struct Options {
    /// Target of a module that names none itself, as the user asked for.
    pub target: Option<Target>,
    /// Target where neither the module nor the user names one; sm_90a where this is none either.
    pub default_target: Option<Target>,
    /// PTX version, unless the target's usual one.
    pub ptx: Option<PtxVersion>,
    /// Where to stop.
    pub emit: Emit,
    /// How much LLVM optimises.
    pub opt_level: OptLevel,
    /// Whether the PTX names the source line of each instruction.
    pub line_info: bool,
    /// Folder that gets what each step leaves.
    pub dump: Option<PathBuf>,
    /// ptxas, unless the one that is found.
    pub ptxas: Option<PathBuf>,
    /// Pairs of a pass's name and the textual pipeline that runs in its place; an empty one leaves the pass out. What must
    /// not depend on a pass is tested so, and which pass is to blame is found so. A name that no step has is an error.
    pub instead: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            target: None,
            default_target: None,
            ptx: None,
            emit: Emit::Ptx,
            opt_level: OptLevel::default(),
            line_info: false,
            dump: None,
            ptxas: None,
            instead: Vec::new(),
        }
    }
}

/// Wall time of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The pass or stage.
    pub name: String,
    /// How long it took.
    pub time: Duration,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Text, or machine code for [`Emit::Cubin`].
    pub content: Vec<u8>,
    /// How to launch it, from [`Emit::Ptx`] down, where the kernels came from the tile dialect.
    pub manifest: Option<Manifest>,
    /// Warnings and remarks.
    pub messages: Vec<Message>,
    /// Steps in order.
    pub stages: Vec<Stage>,
    /// What ptxas said, for [`Emit::Cubin`].
    pub report: Option<Report>,
}

/// Compiles one file; `name` is how locations call it.
pub fn compile(source: &[u8], name: &str, options: &Options) -> Result<Compiled> {
    if file::is_ptx(source) {
        return Err(Failure::new(format!(
            "{name}: is PTX already; `girih run` takes it as it is"
        )));
    }
    let start = Instant::now();
    let context = registry::context();
    let mut unit = Unit::parse(&context, source, name)?;
    unit.stages.insert(
        0,
        Stage {
            name: "start".to_owned(),
            time: start.elapsed().saturating_sub(unit.stages[0].time),
        },
    );
    unit.compile(options)
}

/// A parsed and verified module on its way down.
pub struct Unit<'c> {
    context: &'c Context,
    module: Module<'c>,
    name: String,
    messages: Vec<Message>,
    stages: Vec<Stage>,
}

impl<'c> Unit<'c> {
    /// Parses and verifies; everything that is wrong is in the failure.
    pub fn parse(context: &'c Context, source: &[u8], name: &str) -> Result<Self> {
        let start = Instant::now();
        if let Some(what) = foreign(source) {
            return Err(Failure::new(format!("{name}: {what}")));
        }
        bytecode::check(source, name)?;
        let (parsed, messages) = module::collect_diagnostics(context, || module::parse(context, source, name));
        let Ok(module) = parsed else {
            return Err(Failure::diagnosed(messages, "parsing"));
        };
        Ok(Unit {
            context,
            module,
            name: name.to_owned(),
            messages,
            stages: vec![Stage {
                name: "parse".to_owned(),
                time: start.elapsed(),
            }],
        })
    }

    /// The module.
    pub fn module(&self) -> OperationRef<'c, '_> {
        self.module.as_operation()
    }

    /// Lowers to the level that the options ask for.
    pub fn compile(mut self, options: &Options) -> Result<Compiled> {
        if let Some(name) = steps::unknown(&options.instead, level::pipelines().map(|(_, pipeline)| pipeline)) {
            return Err(Failure::usage(format!(
                "no step of the compiler is called `{name}`, so nothing can run in its place; give a name that --timing shows"
            )));
        }
        let mut dump = Dump::new(options.dump.as_deref(), Path::new(&self.name))?;
        let target = self.choose_target(options)?;
        let target = self.choose_ptx(target, options.ptx)?;
        dump.write("tile", "mlir", || Ok(self.text()))?;
        for (level, pipeline) in level::pipelines() {
            if options.emit < level {
                return Ok(self.finish_text());
            }
            let steps: Vec<_> = steps::split(pipeline)
                .into_iter()
                .flat_map(|step| step.or(&options.instead))
                .collect();
            for (i, step) in steps.iter().enumerate() {
                // What a level's passes leave is verified once, at its end, where no one looks at what is between.
                let run = pass::RunOptions {
                    skip_verifier: !(cfg!(debug_assertions) || dump.is_on() || i + 1 == steps.len()),
                    ..Default::default()
                };
                self.step(&step.name, |module| pass::run_pipeline(module, &step.pipeline, run))?;
                dump.write(&step.name, "mlir", || Ok(self.text()))?;
            }
        }
        self.generate(options, target, &mut dump)
    }

    /// The module's target; the option's, which is then written into the module, where it names none.
    fn choose_target(&mut self, options: &Options) -> Result<Target> {
        let named = level::target_of(self.module());
        let asked = options.target;
        if let (Some(named), Some(asked)) = (named, asked)
            && named != asked
        {
            self.messages.push(Message {
                severity: Severity::Warning,
                place: module::place_of(self.module().location().to_raw()),
                text: format!("the module names {named} itself, so --target {asked} has no effect"),
                notes: Vec::new(),
            });
        }
        let target = named.or(asked).or(options.default_target).unwrap_or(Target::SM_90A);
        if named.is_none() {
            let attribute = Attribute::parse(self.context, &format!("\"{target}\""));
            if let Some(attribute) = attribute {
                // SAFETY: the module is alive, and the attribute is of its context.
                unsafe {
                    mlir_sys::mlirOperationSetDiscardableAttributeByName(
                        self.module().to_raw(),
                        melior::StringRef::new(level::TARGET_ATTR).to_raw(),
                        attribute.to_raw(),
                    );
                }
            }
        }
        Ok(target)
    }

    /// The PTX version that was asked for, if the module's instructions exist in it; else the usual one, or the first that
    /// has them all.
    fn choose_ptx(&mut self, target: Target, asked: Option<PtxVersion>) -> Result<PtxTarget> {
        let usual = PtxTarget::new(target, asked).map_err(|error| Failure {
            kind: if asked.is_some() { Kind::Usage } else { Kind::Failed },
            ..error.into()
        })?;
        match asked {
            Some(version) => {
                self.step("PTX version", |module| level::verify_ptx(module, version))?;
                Ok(usual)
            }
            None => match level::required_ptx(self.module()) {
                Some(needed) if needed > usual.ptx() => Ok(PtxTarget::new(target, Some(needed))?),
                _ => Ok(usual),
            },
        }
    }

    /// Runs one step on the module, times it and keeps what it says.
    fn step(
        &mut self,
        name: &str,
        run: impl FnOnce(OperationRef<'c, '_>) -> std::result::Result<(), Reported>,
    ) -> Result<()> {
        let start = Instant::now();
        let (result, said) = module::collect_diagnostics(self.context, || run(self.module.as_operation()));
        self.stage(name, start.elapsed());
        self.messages.extend(said);
        match result {
            Ok(()) => Ok(()),
            Err(Reported) => Err(Failure::diagnosed(
                std::mem::take(&mut self.messages),
                &format!("{}: `{name}`", self.name),
            )),
        }
    }

    fn stage(&mut self, name: &str, time: Duration) {
        tracing::debug!(name, ?time, "stage");
        self.stages.push(Stage {
            name: name.to_owned(),
            time,
        });
    }

    fn text(&self) -> String {
        let mut text = module::to_text(self.module.as_operation(), false);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    fn finish_text(self) -> Compiled {
        Compiled {
            content: self.text().into_bytes(),
            manifest: None,
            messages: self.messages,
            stages: self.stages,
            report: None,
        }
    }

    /// From per-thread code down.
    fn generate(mut self, options: &Options, target: PtxTarget, dump: &mut Dump) -> Result<Compiled> {
        let codegen = CompileOptions {
            opt_level: options.opt_level,
            line_info: options.line_info,
            ..CompileOptions::new(target)
        };
        let mut manifest = None;
        self.step("manifest", |module| {
            manifest = level::manifest(module, target.target())?;
            Ok(())
        })?;
        if options.emit == Emit::Llvm || dump.is_on() {
            let start = Instant::now();
            let text = self.codegen(|gpu_module| girih_codegen::ptx::llvm_ir(gpu_module, &codegen))?;
            dump.write("llvm", "ll", || Ok(text.clone()))?;
            if options.emit == Emit::Llvm {
                self.stage("llvm", start.elapsed());
                return Ok(Compiled {
                    content: text.into_bytes(),
                    ..self.finish_text()
                });
            }
        }
        let ptx = self.codegen(|gpu_module| girih_codegen::compile(gpu_module, manifest.as_ref(), &codegen))?;
        self.stage("translate", ptx.times.translate);
        self.stage("optimize", ptx.times.optimize);
        self.stage("emit", ptx.times.emit);
        self.messages
            .extend(ptx.warnings.iter().map(|said| from_line(&said.to_string())));
        dump.write("ptx", "ptx", || Ok(ptx.text.clone()))?;
        let mut compiled = Compiled {
            content: ptx.text.into_bytes(),
            manifest,
            messages: self.messages,
            stages: self.stages,
            report: None,
        };
        if options.emit == Emit::Cubin {
            assemble(&mut compiled, options, target.target())?;
        }
        Ok(compiled)
    }

    /// Runs code generation on the module's one `gpu.module`.
    fn codegen<T>(&mut self, run: impl FnOnce(OperationRef<'c, '_>) -> girih_codegen::Result<T>) -> Result<T> {
        let mut result = None;
        let (found, said) = module::collect_diagnostics(self.context, || {
            let gpu_module = only_gpu_module(self.context, &self.module, &self.name)?;
            result = Some(run(gpu_module));
            Ok::<_, Reported>(())
        });
        self.messages.extend(said);
        match (found, result) {
            (Ok(()), Some(Ok(value))) => Ok(value),
            (Ok(()), Some(Err(error))) => Err(Failure::from(error).after(std::mem::take(&mut self.messages))),
            _ => Err(Failure::diagnosed(
                std::mem::take(&mut self.messages),
                "code generation",
            )),
        }
    }
}

/// One PTX file holds one `gpu.module`.
fn only_gpu_module<'c, 'a>(
    context: &'c Context,
    module: &'a Module<'c>,
    name: &str,
) -> std::result::Result<OperationRef<'c, 'a>, Reported> {
    let mut found = Vec::new();
    let mut next = module.body().first_operation();
    while let Some(op) = next {
        if op.name().as_string_ref().as_str() == Ok("gpu.module") {
            found.push(op);
        }
        next = op.next_in_block();
    }
    match found[..] {
        [only] => Ok(only),
        [] => {
            let message = format!("nothing to compile: {name} has neither a `tile.kernel` nor a `gpu.module`");
            Diag::error(Location::unknown(context), message).report()
        }
        [first, second, ..] => Diag::op(
            &second,
            "a second gpu.module; a PTX file holds one, so put all kernels into it",
        )
        .note(first.location(), "the first is here")
        .report(),
    }
}

fn assemble(compiled: &mut Compiled, options: &Options, target: Target) -> Result<()> {
    let start = Instant::now();
    let ptx = String::from_utf8_lossy(&compiled.content).into_owned();
    let cubin = Ptxas::find(options.ptxas.as_deref())
        .and_then(|ptxas| ptxas.assemble(&ptx, &target.to_string()))
        .map_err(|error| Failure {
            kind: Kind::Failed,
            ..Failure::from(error).after(std::mem::take(&mut compiled.messages))
        })?;
    compiled.stages.push(Stage {
        name: "ptxas".to_owned(),
        time: start.elapsed(),
    });
    compiled
        .messages
        .extend(cubin.report.warnings.iter().map(|line| from_line(line)));
    compiled.content = cubin.bytes;
    compiled.report = Some(cubin.report);
    Ok(())
}

/// What is no MLIR, but what girih or a like tool wrote, in words; `None` where it may be MLIR.
fn foreign(source: &[u8]) -> Option<&'static str> {
    let lines = source.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines
        .filter(|line| !line.is_empty() && !line.starts_with(b"//"))
        .take(64)
        .collect::<Vec<_>>();
    let begins = |with: &[&str]| {
        first
            .first()
            .is_some_and(|line| with.iter().any(|with| line.starts_with(with.as_bytes())))
    };
    match () {
        _ if source.trim_ascii().is_empty() => Some("the file is empty; expected a program as MLIR text or bytecode"),
        _ if source.starts_with(b"\x7fELF") => {
            Some("is machine code (--emit cubin), which nothing compiles any further")
        }
        _ if source.starts_with(b"BC\xc0\xde")
            || begins(&[
                "; ModuleID",
                "source_filename =",
                "target triple =",
                "target datalayout =",
            ]) =>
        {
            Some(
                "is LLVM IR (--emit llvm), which girih does not read; compile what --emit tile, explicit or nvvm writes, or \
                 give this to LLVM's llc",
            )
        }
        _ => None,
    }
}
