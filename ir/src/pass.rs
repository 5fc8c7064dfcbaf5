//! Passes with typed options and statistics, pipelines by name, and running them.
use crate::{
    diag::{Diag, Place, Reported, Res, guard, op_loc, panic_message, unless_panic},
    raw::{self, Ptr, sr},
};
use melior::{
    ContextRef,
    dialect::DialectRegistry,
    ir::{OperationRef, operation::OperationLike},
};
use mlir_sys::*;
use std::{
    any::{Any, TypeId},
    cell::RefCell,
    collections::BTreeMap,
    ffi::CString,
    sync::{Arc, Mutex, MutexGuard},
};

/// The type and default of a pass option.
#[derive(Clone, Debug)]
pub enum OptionDefault {
    /// Text.
    Str(&'static str),
    /// `true` or `false`.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A comma-separated list of integers, empty by default.
    Ints,
    /// A comma-separated list of strings, empty by default.
    Strs,
}

/// A pass option, typed as `--pass="name=value"`.
#[derive(Clone, Debug)]
pub struct OptionDef {
    /// Name.
    pub name: &'static str,
    /// For `--help`.
    pub description: &'static str,
    /// Type and default.
    pub default: OptionDefault,
}

/// A counter that `--mlir-pass-statistics` shows.
#[derive(Clone, Copy, Debug)]
pub struct Statistic {
    /// Name.
    pub name: &'static str,
    /// For people.
    pub description: &'static str,
}

/// What a pass is.
pub struct PassInfo {
    /// Name in pipelines and `--help`.
    pub argument: &'static str,
    /// One line for `--help`.
    pub description: &'static str,
    /// The op that it runs on, such as `builtin.module`; `None`: any.
    pub anchor: Option<&'static str>,
    /// Options.
    pub options: &'static [OptionDef],
    /// Statistics, counted by index.
    pub statistics: &'static [Statistic],
    /// Dialects whose ops it creates.
    pub dialects: &'static [DialectSource],
    /// The source file of its declaration, whose head describes it.
    pub file: &'static str,
}

impl PassInfo {
    /// A pass on any op without options.
    #[track_caller]
    pub const fn new(argument: &'static str, description: &'static str) -> Self {
        PassInfo {
            argument,
            description,
            anchor: None,
            options: &[],
            statistics: &[],
            dialects: &[],
            file: std::panic::Location::caller().file(),
        }
    }
}

/// Where a dialect that a pass creates ops of comes from.
#[derive(Clone, Copy)]
pub enum DialectSource {
    /// One of upstream's, by its C handle, such as `mlir_sys::mlirGetDialectHandle__scf__`.
    Upstream(unsafe extern "C" fn() -> MlirDialectHandle),
    /// One defined in Rust.
    Rust(&'static crate::dialect::Dialect),
}

/// A pass. It is shared by all threads, so its state is in the run.
pub trait Pass: Send + Sync + 'static {
    /// What it is.
    const INFO: PassInfo;
    /// Called once for each context before anything runs.
    fn initialize(&self, _context: ContextRef<'_>) -> Res {
        Ok(())
    }
    /// Does the work. `Err` fails the pipeline; the error has been reported.
    fn run<'c>(&self, op: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res;
}

/// What a running pass can ask and tell.
pub struct PassContext<'c> {
    pass: Ptr,
    info: &'static PassInfo,
    op: OperationRef<'c, 'c>,
    /// Analyses that the run refers to: MLIR may drop its own share before the run ends.
    analyses: RefCell<Vec<Arc<dyn Any + Send + Sync>>>,
}

impl<'c> PassContext<'c> {
    /// The value of a `Bool` option.
    pub fn option_bool(&self, name: &str) -> bool {
        let mut v = false;
        self.found(name, "Bool", unsafe {
            raw::girih_pass_option_bool(self.pass, sr(name), &mut v)
        });
        v
    }
    /// The value of an `Int` option.
    pub fn option_int(&self, name: &str) -> i64 {
        let mut v = 0;
        self.found(name, "Int", unsafe {
            raw::girih_pass_option_int(self.pass, sr(name), &mut v)
        });
        v
    }
    /// The value of a `Str` option.
    pub fn option_str(&self, name: &str) -> String {
        let mut s = String::new();
        let sink = (&raw mut s).cast();
        let found = unsafe { raw::girih_pass_option_string(self.pass, sr(name), sink, raw::push_string) };
        self.found(name, "Str", found);
        s
    }
    /// The values of a `Strs` option.
    pub fn option_strs(&self, name: &str) -> Vec<String> {
        let mut s: Vec<String> = vec![];
        let sink = (&raw mut s).cast();
        let found = unsafe { raw::girih_pass_option_strings(self.pass, sr(name), sink, raw::push_string_item) };
        self.found(name, "Strs", found);
        s
    }
    /// The values of an `Ints` option.
    pub fn option_ints(&self, name: &str) -> Vec<i64> {
        let mut v: Vec<i64> = vec![];
        let sink = (&raw mut v).cast();
        let found = unsafe { raw::girih_pass_option_ints(self.pass, sr(name), sink, raw::push_i64) };
        self.found(name, "Ints", found);
        v
    }
    /// A pass that asks for what it does not declare is at fault itself.
    fn found(&self, name: &str, kind: &str, found: bool) {
        assert!(found, "'{}' declares no {kind} option '{name}'", self.info.argument);
    }
    /// Adds to the statistic at `index` of the pass's list.
    pub fn count(&self, index: usize, n: u64) {
        let n_statistics = self.info.statistics.len();
        assert!(index < n_statistics, "statistic #{index} of {n_statistics}");
        let statistic = &self.info.statistics[index];
        *statistics_so_far()
            .entry((self.info.argument, statistic.name))
            .or_default() += n;
        unsafe { raw::girih_pass_statistic_add(self.pass, index as isize, n) }
    }
    /// Says that nothing was changed, so that analyses stay.
    pub fn preserve_analyses(&self) {
        unsafe { raw::girih_pass_preserve_all(self.pass) }
    }
    /// An analysis of the op that the pass runs on: computed on first use, shared by the passes that follow, dropped
    /// when a pass changes the op. It must not borrow IR.
    pub fn analysis<A: Analysis>(&self) -> &A {
        type Shared = Arc<dyn Any + Send + Sync>;
        extern "C" fn create<A: Analysis>(data: Ptr) -> Ptr {
            let op = unsafe { *data.cast::<MlirOperation>() };
            guard("analysis", op_loc(op), std::ptr::null_mut(), || unsafe {
                let analysis: Shared = Arc::new(A::of(OperationRef::from_raw(op)));
                Box::into_raw(Box::new(analysis)).cast()
            })
        }
        // Two hashes for a key, and the downcast for certainty.
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        TypeId::of::<A>().hash(&mut h);
        let high = h.finish();
        std::any::type_name::<A>().hash(&mut h);
        let mut op = self.op.to_raw();
        let p = unsafe {
            let drop = raw::drop_box::<Shared>;
            raw::girih_pass_analysis(self.pass, high, h.finish(), (&raw mut op).cast(), create::<A>, drop)
        };
        assert!(
            !p.is_null(),
            "the analysis {} could not be computed",
            std::any::type_name::<A>()
        );
        // SAFETY: `create` made it, and MLIR's map holds it until a pass has run.
        let shared = Arc::clone(unsafe { &*p.cast::<Shared>() });
        let analysis: *const A = shared.downcast_ref().expect("two analyses have one key");
        self.analyses.borrow_mut().push(shared);
        // SAFETY: the share that was just kept lives as long as `self`.
        unsafe { &*analysis }
    }
    /// Runs a textual pipeline on `op`, which is the pass's op or nested in it.
    pub fn run_pipeline(&self, op: OperationRef<'c, '_>, text: &str) -> Res {
        let mut error = String::new();
        let ok = unsafe {
            raw::girih_pass_run_pipeline(
                self.pass,
                op.to_raw(),
                sr(text),
                (&raw mut error).cast(),
                raw::push_string,
            )
        };
        pipeline_result(op, ok, &error)
    }
}

fn statistics_so_far() -> MutexGuard<'static, BTreeMap<(&'static str, &'static str), u64>> {
    static SO_FAR: Mutex<BTreeMap<(&'static str, &'static str), u64>> = Mutex::new(BTreeMap::new());
    SO_FAR.lock().unwrap_or_else(|e| e.into_inner())
}

/// What passes have counted in this process, as pass, name and value. `-opt` tools print it for
/// `--mlir-pass-statistics`: an LLVM built for release counts nothing itself.
pub fn statistics() -> Vec<(&'static str, &'static str, u64)> {
    let so_far = statistics_so_far();
    so_far.iter().map(|((pass, name), n)| (*pass, *name, *n)).collect()
}

/// What [`PassContext::analysis`] computes and caches.
pub trait Analysis: Send + Sync + 'static {
    /// Computes it.
    fn of(op: OperationRef<'_, '_>) -> Self;
}

fn pipeline_result(op: OperationRef<'_, '_>, ok: bool, error: &str) -> Res {
    match (ok, error.is_empty()) {
        (true, _) => Ok(()),
        (false, true) => Err(Reported),
        (false, false) => Diag::error(op.location(), format!("bad pass pipeline: {}", error.trim())).report(),
    }
}

/// Runs a textual pipeline, without its anchor op, on any op, and verifies after every pass.
pub fn run_pipeline(op: OperationRef<'_, '_>, text: &str, options: RunOptions) -> Res {
    unless_panic(op.location().to_raw(), || {
        let mut error = String::new();
        let ok = unsafe {
            raw::girih_run_pipeline(
                op.to_raw(),
                sr(text),
                !options.skip_verifier,
                options.print_after_all,
                options.timing,
                (&raw mut error).cast(),
                raw::push_string,
            )
        };
        pipeline_result(op, ok, &error)
    })
}

/// How [`run_pipeline`] runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// Leave the verifier out between passes.
    pub skip_verifier: bool,
    /// Print the IR after every pass, to standard error.
    pub print_after_all: bool,
    /// Print a timing report when done, to standard error.
    pub timing: bool,
}

/// MLIR's registries are not locked; register everything before the first pipeline is parsed.
fn registry() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(|e| e.into_inner())
}

/// What [`register`] and [`register_pipeline`] have made known, in their order.
#[derive(Clone, Default)]
pub struct Registered {
    /// Passes.
    pub passes: Vec<&'static PassInfo>,
    /// Names of pipelines with their descriptions.
    pub pipelines: Vec<(&'static str, &'static str)>,
}

/// The passes and pipelines of this process that are defined in Rust; upstream's are not among them.
pub fn registered_here() -> Registered {
    so_far().clone()
}

fn so_far() -> MutexGuard<'static, Registered> {
    static SO_FAR: Mutex<Registered> = Mutex::new(Registered {
        passes: vec![],
        pipelines: vec![],
    });
    SO_FAR.lock().unwrap_or_else(|e| e.into_inner())
}

/// Whether a pass or pipeline of that name has been registered.
pub fn is_registered(name: &str) -> bool {
    let _lock = registry();
    registered(name)
}
fn registered(name: &str) -> bool {
    unsafe { raw::girih_pass_is_registered(sr(name)) }
}

fn leak_c(s: &str) -> *const std::ffi::c_char {
    // Names in declarations have no interior NUL; if one had, it would end there.
    CString::new(s.split('\0').next().unwrap_or(""))
        .unwrap_or_default()
        .into_raw()
}

/// Makes a pass known by its name. Registering a name again has no effect.
pub fn register<P: Pass>(pass: P) {
    extern "C" fn run<P: Pass>(p: Ptr, handle: Ptr, x: MlirOperation) -> bool {
        let what = format!("pass '{}'", P::INFO.argument);
        guard(&what, op_loc(x), false, || unsafe {
            let op = OperationRef::from_raw(x);
            (*p.cast::<P>())
                .run(
                    op,
                    &PassContext {
                        pass: handle,
                        info: const { &P::INFO },
                        op,
                        analyses: RefCell::default(),
                    },
                )
                .is_ok()
        })
    }
    extern "C" fn initialize<P: Pass>(p: Ptr, c: MlirContext) -> bool {
        let what = format!("initialisation of pass '{}'", P::INFO.argument);
        guard(&what, Place::In(c), false, || unsafe {
            (*p.cast::<P>()).initialize(ContextRef::from_raw(c)).is_ok()
        })
    }
    extern "C" fn dialects<P: Pass>(_: Ptr, registry: MlirDialectRegistry) {
        for d in P::INFO.dialects {
            match d {
                DialectSource::Upstream(handle) => unsafe { mlirDialectHandleInsertDialect(handle(), registry) },
                DialectSource::Rust(d) => d.register_raw(registry),
            }
        }
    }
    let _lock = registry();
    if registered(P::INFO.argument) {
        return;
    }
    let info = const { &P::INFO };
    so_far().passes.push(info);
    // The registry is global and keeps all of this for ever.
    let options: Vec<raw::PassOption> = info
        .options
        .iter()
        .map(|o| {
            let (kind, default): (i32, &'static str) = match o.default {
                OptionDefault::Str(s) => (0, s),
                OptionDefault::Bool(b) => (1, if b { "true" } else { "false" }),
                OptionDefault::Int(i) => (2, Box::leak(i.to_string().into_boxed_str())),
                OptionDefault::Ints => (3, ""),
                OptionDefault::Strs => (4, ""),
            };
            raw::PassOption {
                name: sr(o.name),
                description: sr(o.description),
                default_value: sr(default),
                kind,
            }
        })
        .collect();
    let statistics: Vec<raw::PassStatistic> = info
        .statistics
        .iter()
        .map(|s| raw::PassStatistic {
            name: leak_c(s.name),
            description: leak_c(s.description),
        })
        .collect();
    let (options, statistics) = (options.leak(), statistics.leak());
    let table = raw::PassInfo {
        data: Box::into_raw(Box::new(pass)).cast(),
        argument: sr(info.argument),
        description: sr(info.description),
        op_name: sr(info.anchor.unwrap_or("")),
        n_options: options.len() as isize,
        options: options.as_ptr(),
        n_statistics: statistics.len() as isize,
        statistics: statistics.as_ptr(),
        run: run::<P>,
        initialize: Some(initialize::<P>),
        dialects: Some(dialects::<P>),
    };
    unsafe { raw::girih_register_pass(Box::leak(Box::new(table))) }
}

/// Makes a pipeline known by its name. `expand` turns the text between the braces of `name{...}` into the textual
/// pipeline that it stands for, or says what is wrong with it.
pub fn register_pipeline(
    name: &'static str,
    description: &'static str,
    expand: fn(options: &str) -> Result<String, String>,
) {
    extern "C" fn run(p: Ptr, options: MlirStringRef, sink: Ptr, push: raw::PushStr) -> bool {
        let expand = unsafe { std::mem::transmute::<Ptr, fn(&str) -> Result<String, String>>(p) };
        // No context yet: the parser of pipelines reports what is wrong.
        let expanded = std::panic::catch_unwind(|| expand(&String::from_utf8_lossy(unsafe { raw::bytes(options) })));
        let expanded = expanded.unwrap_or_else(|payload| {
            let said = panic_message(&*payload);
            Err(format!("internal error: panic while expanding the pipeline: {said}"))
        });
        match expanded {
            Ok(text) => {
                push(sink, sr(&text));
                true
            }
            Err(e) => {
                push(sink, sr(&e));
                false
            }
        }
    }
    let _lock = registry();
    if !registered(name) {
        so_far().pipelines.push((name, description));
        unsafe { raw::girih_register_pipeline(sr(name), sr(description), expand as Ptr, run) }
    }
}

/// Every upstream dialect, extension and translation interface.
pub fn register_all_upstream_dialects(registry: &DialectRegistry) {
    unsafe { mlirRegisterAllDialects(registry.to_raw()) }
}

/// Every upstream pass; once for the process.
pub fn register_all_upstream_passes() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    let _lock = registry();
    ONCE.call_once(|| unsafe { mlirRegisterAllPasses() });
}
