//! Passes: options, statistics, analyses, nested pipelines, pipelines by name, threads.
use crate::support::{attempt, context, errors_of, run, texts};
use girih_ir::{
    mlir_sys,
    pass::{
        self, Analysis, DialectSource, OptionDef, OptionDefault, Pass, PassContext, PassInfo, RunOptions, Statistic,
    },
    prelude::*,
};
use pretty_assertions::assert_eq;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Writes its options into the op that it runs on.
struct ShowOptions;
impl Pass for ShowOptions {
    const INFO: PassInfo = PassInfo {
        options: &[
            OptionDef {
                name: "text",
                description: "text",
                default: OptionDefault::Str("none"),
            },
            OptionDef {
                name: "flag",
                description: "a flag",
                default: OptionDefault::Bool(true),
            },
            OptionDef {
                name: "number",
                description: "a number",
                default: OptionDefault::Int(-7),
            },
            OptionDef {
                name: "numbers",
                description: "numbers",
                default: OptionDefault::Ints,
            },
            OptionDef {
                name: "words",
                description: "words",
                default: OptionDefault::Strs,
            },
        ],
        statistics: &[Statistic {
            name: "seen",
            description: "Ops that the pass has seen",
        }],
        ..PassInfo::new("show-options", "Write options into the op")
    };
    fn run<'c>(&self, op: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let text = format!(
            "{} {} {} {:?} {:?}",
            cx.option_str("text"),
            cx.option_bool("flag"),
            cx.option_int("number"),
            cx.option_ints("numbers"),
            cx.option_strs("words"),
        );
        cx.count(0, 3);
        op.set_attr(
            "demo.options",
            melior::ir::attribute::StringAttribute::new(op.ctx(), &text).into(),
        );
        Ok(())
    }
}

/// Asks for an option that it does not have, or counts what it does not count.
struct Forgetful(&'static str);
impl Pass for Forgetful {
    const INFO: PassInfo = PassInfo {
        options: &[OptionDef {
            name: "what",
            description: "what to forget",
            default: OptionDefault::Str("option"),
        }],
        ..PassInfo::new("forgetful", "Ask for what was not declared")
    };
    fn run<'c>(&self, _: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        match cx.option_str("what").as_str() {
            "option" => assert_eq!(cx.option_int(self.0), 0),
            "type" => assert_eq!(cx.option_int("what"), 0),
            _ => cx.count(0, 1),
        }
        Ok(())
    }
}

static COUNTED: AtomicUsize = AtomicUsize::new(0);
/// How many ops there are; counts how often it was computed.
struct OpCount(usize);
impl Analysis for OpCount {
    fn of(op: OperationRef<'_, '_>) -> Self {
        if op.attr("counted").is_some() {
            COUNTED.fetch_add(1, Ordering::SeqCst);
        }
        OpCount(op.nested_ops().len())
    }
}
struct Attributes(usize);
impl Analysis for Attributes {
    fn of(op: OperationRef<'_, '_>) -> Self {
        Attributes(op.attribute_count())
    }
}
/// Uses analyses, and keeps them or not.
struct Count;
impl Pass for Count {
    const INFO: PassInfo = PassInfo {
        options: &[OptionDef {
            name: "keep",
            description: "whether analyses stay",
            default: OptionDefault::Bool(true),
        }],
        ..PassInfo::new("count-ops", "Use an analysis twice")
    };
    fn run<'c>(&self, op: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let (a, n) = (cx.analysis::<OpCount>(), cx.analysis::<Attributes>());
        // What the inner pipeline invalidates stays valid here.
        cx.run_pipeline(op, "canonicalize")?;
        assert_eq!(a.0, op.nested_ops().len());
        assert_eq!(n.0, op.attribute_count());
        if cx.option_bool("keep") {
            cx.preserve_analyses();
        }
        Ok(())
    }
}

/// Runs a pipeline on each function in a module.
struct OnFunctions;
impl Pass for OnFunctions {
    const INFO: PassInfo = PassInfo {
        anchor: Some("builtin.module"),
        options: &[OptionDef {
            name: "pipeline",
            description: "what to run",
            default: OptionDefault::Str("canonicalize"),
        }],
        ..PassInfo::new("on-functions", "Run a pipeline on each function")
    };
    fn run<'c>(&self, m: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        let functions = m.nested_ops().into_iter().filter(|o| o.full_name() == "func.func");
        functions
            .into_iter()
            .try_for_each(|f| cx.run_pipeline(f, &cx.option_str("pipeline")))
    }
}

/// Makes ops of a dialect that nothing has loaded yet.
struct MakeArith;
impl Pass for MakeArith {
    const INFO: PassInfo = PassInfo {
        dialects: &[
            DialectSource::Upstream(mlir_sys::mlirGetDialectHandle__arith__),
            DialectSource::Rust(&crate::demo::DEMO),
        ],
        ..PassInfo::new("make-arith", "Make an op of a dialect that it names")
    };
    fn run<'c>(&self, m: OperationRef<'c, 'c>, _: &PassContext<'c>) -> Res {
        let block = m.region_at(0).entry().ok_or(Reported)?;
        let at = girih_ir::rewrite::AtEnd(block);
        let index = melior::ir::attribute::IntegerAttribute::new(Type::index(m.ctx()), 5);
        girih_ir::rewrite::Builder::insert(
            &at,
            melior::dialect::arith::constant(m.ctx(), index.into(), m.location()),
        );
        let seven = crate::demo::Constant::build(m.location(), Type::index(m.ctx()), 7);
        girih_ir::rewrite::Builder::insert(&at, seven);
        Ok(())
    }
}

/// Counts; only one test runs it.
struct CountAttributes;
impl Pass for CountAttributes {
    const INFO: PassInfo = PassInfo {
        statistics: &[
            Statistic {
                name: "functions",
                description: "Functions that were looked at",
            },
            Statistic {
                name: "attributes",
                description: "Attributes that they have",
            },
        ],
        ..PassInfo::new("count-attributes", "Count attributes")
    };
    fn run<'c>(&self, op: OperationRef<'c, 'c>, cx: &PassContext<'c>) -> Res {
        cx.count(0, 1);
        cx.count(1, op.attribute_count() as u64);
        Ok(())
    }
}

/// Fails, with or without a word.
struct Fail;
impl Pass for Fail {
    const INFO: PassInfo = PassInfo::new("fail", "Fail with an error");
    fn run<'c>(&self, op: OperationRef<'c, 'c>, _: &PassContext<'c>) -> Res {
        Diag::op(&op, "is not liked").report()
    }
}
/// Refuses every context.
struct FailEarly;
impl Pass for FailEarly {
    const INFO: PassInfo = PassInfo::new("fail-early", "Fail before anything runs");
    fn initialize(&self, c: ContextRef<'_>) -> Res {
        Diag::error(Location::unknown(girih_ir::context(c)), "cannot start").report()
    }
    fn run<'c>(&self, _: OperationRef<'c, 'c>, _: &PassContext<'c>) -> Res {
        panic!("it must not run")
    }
}
/// Breaks the IR.
struct Corrupt;
impl Pass for Corrupt {
    const INFO: PassInfo = PassInfo::new("corrupt", "Leave IR that does not verify");
    fn run<'c>(&self, op: OperationRef<'c, 'c>, _: &PassContext<'c>) -> Res {
        let constants = op.nested_ops().into_iter().filter(|o| o.full_name() == "demo.constant");
        constants.for_each(|o| o.remove_attr("value"));
        Ok(())
    }
}

pub fn register_passes() {
    pass::register(ShowOptions);
    pass::register(Forgetful("colour"));
    pass::register(Count);
    pass::register(OnFunctions);
    pass::register(MakeArith);
    pass::register(CountAttributes);
    pass::register(Fail);
    pass::register(FailEarly);
    pass::register(Corrupt);
    pass::register_pipeline("twice", "Show options, then count", |options| match options {
        "" => Ok("show-options{number=1},func.func(count-ops)".into()),
        o if o.starts_with("text=") => Ok(format!("show-options{{{o}}}")),
        o => Err(format!("'{o}' is no option of twice; there is text=")),
    });
}

fn shown(options: &str) -> String {
    let found = run("", &format!("show-options{options}"));
    let (_, after) = found.split_once("demo.options = \"").expect("the attribute is there");
    after.split("\"}").next().expect("and ends").replace("\\22", "'")
}

#[test]
fn options_have_defaults_types_and_values() {
    assert_eq!(shown(""), "none true -7 [] []");
    assert_eq!(
        shown("{text=a-b flag=false number=12345678901 numbers=1,-2,3 words=x,yy}"),
        "a-b false 12345678901 [1, -2, 3] ['x', 'yy']"
    );
}

#[test]
fn bad_options_are_refused() {
    for bad in [
        "{flag=maybe}",
        "{number=many}",
        "{numbers=1,x}",
        "{number=99999999999999999999}",
        "{colour=red}",
    ] {
        let found = errors_of("", |m| {
            pass::run_pipeline(m, &format!("show-options{bad}"), RunOptions::default())
        });
        assert!(
            found
                .iter()
                .any(|m| m.contains("bad pass pipeline") || m.contains("failed to add")),
            "{bad}: {found:?}"
        );
    }
    for bad in ["no-such-pass", "show-options{", "builtin.module(show-options"] {
        let found = errors_of("", |m| pass::run_pipeline(m, bad, RunOptions::default()));
        assert!(
            found[0].starts_with("dir/t.mlir: error: bad pass pipeline: "),
            "{bad}: {found:?}"
        );
    }
}

#[test]
fn passes_that_ask_for_what_they_do_not_declare_say_so() {
    for (what, why) in [
        ("option", "'forgetful' declares no Int option 'colour'"),
        ("type", "'forgetful' declares no Int option 'what'"),
        ("statistic", "statistic #0 of 0"),
    ] {
        let found = errors_of("", |m| {
            pass::run_pipeline(m, &format!("forgetful{{what={what}}}"), RunOptions::default())
        });
        assert_eq!(
            found,
            [format!(
                "dir/t.mlir: error: internal error: panic in pass 'forgetful': {why}"
            )]
        );
    }
}

#[test]
fn analyses_are_shared_until_an_op_changes() {
    // The other tests' functions do not have the attribute, so this one counts alone.
    let source = "func.func private @f() attributes {counted}";
    let count = |pipeline: &str| {
        COUNTED.store(0, Ordering::SeqCst);
        run(source, pipeline);
        COUNTED.load(Ordering::SeqCst)
    };
    assert_eq!(
        count("func.func(count-ops,count-ops,count-ops)"),
        3,
        "the inner pipeline drops them each time"
    );
    assert_eq!(count("func.func(count-ops)"), 1);
}

#[test]
fn pipelines_nest() {
    let source = "func.func @f() -> index {\n  %0 = demo.constant 1\n  %1 = demo.add %0, %0\n  return %1 : index\n}";
    for pipeline in [
        "on-functions",
        "func.func(canonicalize)",
        "any(canonicalize)",
        "on-functions{pipeline=canonicalize}",
    ] {
        let found = run(source, pipeline);
        assert!(found.contains("demo.constant 2"), "{pipeline}: {found}");
    }
    let found = errors_of(source, |m| {
        pass::run_pipeline(m, "on-functions{pipeline=nonsense}", RunOptions::default())
    });
    assert!(
        found[0].starts_with("dir/t.mlir:1:1: error: bad pass pipeline: "),
        "{found:?}"
    );
    assert!(found[0].contains("nonsense"), "{found:?}");
    let found = errors_of(source, |m| {
        pass::run_pipeline(m, "func.func(on-functions)", RunOptions::default())
    });
    assert!(
        found[0].contains("restricted to 'builtin.module'"),
        "a pass is anchored on its op: {found:?}"
    );
}

#[test]
fn pipelines_have_names_and_options() {
    assert!(
        pass::is_registered("twice") || {
            crate::support::register_all();
            pass::is_registered("twice")
        }
    );
    assert!(run("", "twice").contains("none true 1 [] []"));
    assert!(run("", "twice{text=hello}").contains("hello true -7 [] []"));
    let found = errors_of("", |m| pass::run_pipeline(m, "twice{size=3}", RunOptions::default()));
    assert!(
        found[0].contains("'size=3' is no option of twice; there is text="),
        "{found:?}"
    );
    assert!(!pass::is_registered("thrice"));
}

#[test]
fn a_pass_brings_its_dialects() {
    crate::support::register_all();
    let registry = melior::dialect::DialectRegistry::new();
    let c = Context::new();
    c.append_dialect_registry(&registry);
    let found = attempt(&c, "", |m| pass::run_pipeline(m, "make-arith", RunOptions::default()));
    let found = found.map_err(|m| texts(&m));
    assert_eq!(
        found.as_deref(),
        Ok("module {\n  %c5 = arith.constant 5 : index\n  %0 = demo.constant 7\n}\n")
    );
}

#[test]
fn failures_are_reported_once_where_they_happen() {
    let source = "func.func private @f()\nfunc.func private @g()";
    let found = errors_of(source, |m| {
        pass::run_pipeline(m, "func.func(fail)", RunOptions::default())
    });
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], "dir/t.mlir:1:1: error: 'func.func' op is not liked");
    assert_eq!(found[1], "dir/t.mlir:2:1: error: 'func.func' op is not liked");
    let found = errors_of(source, |m| pass::run_pipeline(m, "fail-early", RunOptions::default()));
    assert_eq!(found, ["error: cannot start"]);
}

#[test]
fn what_a_pass_leaves_is_verified_unless_told_otherwise() {
    let source = "%0 = demo.constant 1";
    let found = errors_of(source, |m| pass::run_pipeline(m, "corrupt", RunOptions::default()));
    assert_eq!(
        found,
        ["dir/t.mlir:1:6: error: 'demo.constant' op requires attribute 'value', a 64-bit integer"]
    );
    let c = context();
    let r = attempt(&c, source, |m| {
        let skip = RunOptions {
            skip_verifier: true,
            ..RunOptions::default()
        };
        assert_eq!(pass::run_pipeline(m, "corrupt", skip), Ok(()));
        Ok(())
    });
    assert!(r.is_err(), "the test's own verification sees it");
}

#[test]
fn many_functions_on_all_threads_give_the_same_as_on_one() {
    let function = |i: usize| {
        format!(
            "func.func @f{i}(%m: memref<?xf32>, %i: index) -> (index, !demo.tile<{}x2xf32>) {{
  %a = demo.constant {i}
  %b = demo.constant 1
  %c = demo.add %a, %b
  %d = demo.add %c, %i
  %t = demo.load %m[%i] : memref<?xf32> -> !demo.tile<{}x2xf32>
  return %d, %t : index, !demo.tile<{}x2xf32>
}}\n",
            i + 1,
            i + 1,
            i + 1
        )
    };
    let source: String = (0..300).map(function).collect();
    let pipeline = "func.func(canonicalize,cse,show-options{number=4},count-ops)";
    let parallel = run(&source, pipeline);
    let c = context();
    c.enable_multi_threading(false);
    let serial = attempt(&c, &source, |m| pass::run_pipeline(m, pipeline, RunOptions::default()));
    assert_eq!(serial.map_err(|m| texts(&m)), Ok(parallel.clone()));
    assert_eq!(parallel.matches("demo.add").count(), 300);
}

#[test]
fn errors_on_all_threads_come_in_the_order_of_the_source() {
    let source: String = (0..200).map(|i| format!("func.func private @f{i}()\n")).collect();
    let found = errors_of(&source, |m| {
        pass::run_pipeline(m, "func.func(fail)", RunOptions::default())
    });
    let lines: Vec<_> = found
        .iter()
        .filter_map(|m| m.split(':').nth(1)?.parse::<usize>().ok())
        .collect();
    assert!(!lines.is_empty() && lines.is_sorted(), "{lines:?}");
}

#[test]
fn rust_threads_have_contexts_of_their_own() {
    crate::support::register_all();
    let done = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for i in 0..5 {
                    let found = run(
                        &format!("%0 = demo.constant {i}\ndemo.use @x\ndemo.named @x {{}}"),
                        "show-options",
                    );
                    assert!(found.contains("demo.use @x"));
                    done.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(done.load(Ordering::SeqCst), 20);
}

#[test]
fn statistics_add_up_over_runs_and_threads() {
    let of = |name| {
        let all = pass::statistics();
        all.iter()
            .find(|(p, n, _)| (*p, *n) == ("count-attributes", name))
            .map_or(0, |s| s.2)
    };
    let source: String = (0..50)
        .map(|i| format!("func.func private @f{i}() attributes {{a = 1, b = 2}}\n"))
        .collect();
    assert_eq!((of("functions"), of("attributes")), (0, 0));
    run(&source, "func.func(count-attributes)");
    assert_eq!(of("functions"), 50);
    let once = of("attributes");
    run(&source, "func.func(count-attributes,count-attributes)");
    assert_eq!((of("functions"), of("attributes")), (150, 3 * once));
    assert!(once >= 100);
}
