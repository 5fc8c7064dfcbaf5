//! LLVM module -> PTX text.
use crate::{
    CompileOptions,
    diagnostics::{CollectingContext, LlvmDiagnostic, Severity},
    error::{Error, Result},
    fatal,
    locate::Places,
    translate,
};
use inkwell::{
    llvm_sys::support::LLVMParseCommandLineOptions,
    module::Module,
    passes::PassBuilderOptions,
    targets::{
        CodeModel, FileType, InitializationConfig, RelocMode, Target as LlvmTarget, TargetMachine, TargetTriple,
    },
};
use melior::ir::OperationRef;
use std::{
    sync::Once,
    time::{Duration, Instant},
};

/// Calling convention of PTX entries (`ptx_kernel` in LLVM IR).
const PTX_KERNEL: u32 = 71;
const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// Wall time of each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// MLIR's llvm dialect to an LLVM module, line information included.
    pub translate: Duration,
    /// LLVM's passes.
    pub optimize: Duration,
    /// Instruction selection and printing.
    pub emit: Duration,
}

impl StageTimes {
    /// All stages together.
    pub fn total(&self) -> Duration {
        self.translate + self.optimize + self.emit
    }
}

/// PTX and what was learnt on the way.
#[derive(Clone, Debug)]
pub struct Ptx {
    /// The text, with nothing before `.version` but LLVM's own comment.
    pub text: String,
    /// Names of the entries, in the order of the module.
    pub kernels: Vec<String>,
    /// Warnings of LLVM.
    pub warnings: Vec<LlvmDiagnostic>,
    /// Wall time of each stage.
    pub times: StageTimes,
}

/// Compiles a `gpu.module` whose contents are already of the llvm and nvvm dialects. The operation is not changed.
pub fn emit(gpu_module: OperationRef<'_, '_>, options: &CompileOptions) -> Result<Ptx> {
    let result = with_module(gpu_module, options, |job| {
        let start = Instant::now();
        let buffer =
            tracing::info_span!("emit").in_scope(|| job.machine.write_to_memory_buffer(job.module, FileType::Assembly));
        let times = StageTimes {
            emit: start.elapsed(),
            ..job.times
        };
        let buffer = buffer.map_err(|error| llvm_error(error.to_string()))?;
        let text = String::from_utf8_lossy(&buffer.as_slice()[..buffer.get_size()]).into_owned();
        let text = options.target.set_header(text);
        tracing::debug!(?times, bytes = text.len(), "emitted PTX");
        Ok(Ptx {
            text,
            kernels: job.kernels,
            warnings: Vec::new(),
            times,
        })
    });
    let (mut ptx, warnings) = result?;
    ptx.warnings = warnings;
    Ok(ptx)
}

/// The LLVM IR that instruction selection would get, as text.
pub fn llvm_ir(gpu_module: OperationRef<'_, '_>, options: &CompileOptions) -> Result<String> {
    let (text, _) = with_module(gpu_module, options, |job| Ok(job.module.print_to_string().to_string()))?;
    Ok(text)
}

/// An optimised module.
struct Job<'j, 'l> {
    module: &'j Module<'l>,
    machine: &'j TargetMachine,
    kernels: Vec<String>,
    times: StageTimes,
}

/// Translates and optimises, then hands the module on; gives LLVM's warnings beside the result. Where LLVM reports
/// errors, it is asked again for their positions in the source.
fn with_module<R>(
    gpu_module: OperationRef<'_, '_>,
    options: &CompileOptions,
    finish: impl Fn(Job<'_, '_>) -> Result<R>,
) -> Result<(R, Vec<LlvmDiagnostic>)> {
    let plain = attempt(gpu_module, options, false, &finish);
    if matches!(plain, Err(Error::Llvm(_))) {
        let located = attempt(
            gpu_module,
            &CompileOptions {
                line_info: true,
                ..options.clone()
            },
            true,
            &finish,
        );
        if matches!(located, Err(Error::Llvm(_))) {
            return located;
        }
    }
    plain
}

/// One run of [`with_module`]. A fatal error of LLVM anywhere in here ends the process as [`fatal`] says.
fn attempt<R>(
    gpu_module: OperationRef<'_, '_>,
    options: &CompileOptions,
    locate: bool,
    finish: &impl Fn(Job<'_, '_>) -> Result<R>,
) -> Result<(R, Vec<LlvmDiagnostic>)> {
    fatal::install();
    let mut times = StageTimes::default();
    let context = CollectingContext::new();

    let start = Instant::now();
    let module =
        tracing::info_span!("translate").in_scope(|| translate::to_llvm(gpu_module, options.line_info, &context))?;
    let machine = target_machine(options)?;
    module.set_triple(&TargetTriple::create(TRIPLE));
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.verify().map_err(|message| Error::Malformed {
        module: translate::symbol(gpu_module),
        message: message.to_string(),
    })?;
    let places = locate.then(|| Places::mark(&module));

    let kernels = kernels(&module);
    let _job = fatal::working_on(
        &module,
        kernels.clone(),
        &options.target,
        options.reproducer_dir.clone(),
    );
    times.translate = start.elapsed();
    let start = Instant::now();
    let passes = options.opt_level.llvm_passes();
    if !passes.is_empty() {
        tracing::info_span!("optimize")
            .in_scope(|| module.run_passes(passes, &machine, PassBuilderOptions::create()))
            .map_err(|error| llvm_error(error.to_string()))?;
    }
    times.optimize = start.elapsed();
    let result = finish(Job {
        module: &module,
        machine: &machine,
        kernels,
        times,
    });
    let mut diagnostics = context.take();
    if let Some(places) = places {
        diagnostics = places.resolve(diagnostics);
    }
    if diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error)
    {
        return Err(Error::Llvm(diagnostics));
    }
    Ok((result?, diagnostics))
}

/// Makes LLVM take pointers into shared, constant and local memory as 32-bit numbers, which is what the hardware has:
/// matrix descriptors and addresses in rings of buffers are then 32-bit arithmetic. LLVM has no other way to say so.
fn use_short_pointers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let arguments = [c"girih".as_ptr(), c"-nvptx-short-ptr".as_ptr()];
        // SAFETY: two strings that live for ever, and an option that the NVPTX backend of this process registers.
        unsafe { LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) };
    });
}

fn target_machine(options: &CompileOptions) -> Result<TargetMachine> {
    LlvmTarget::initialize_nvptx(&InitializationConfig::default());
    use_short_pointers();
    let triple = TargetTriple::create(TRIPLE);
    let target = options.target.llvm_target().to_string();
    LlvmTarget::from_triple(&triple)
        .map_err(|error| Error::Target(error.to_string()))?
        .create_target_machine(
            &triple,
            &target,
            &options.target.features(),
            options.opt_level.codegen(),
            RelocMode::Default,
            CodeModel::Default,
        )
        .ok_or_else(|| Error::Target(format!("LLVM refuses to make code for `{target}`")))
}

fn kernels(module: &Module<'_>) -> Vec<String> {
    module
        .get_functions()
        .filter(|function| function.get_call_conventions() == PTX_KERNEL)
        .map(|function| function.get_name().to_string_lossy().into_owned())
        .collect()
}

fn llvm_error(message: String) -> Error {
    Error::Llvm(vec![LlvmDiagnostic {
        severity: Severity::Error,
        message,
    }])
}
