//! Every example in every variant: what runs in a pass's place, and layouts drawn at random, show in no bit of the result, and
//! the simulator's checks find nothing.
//!
//! Examples run on integers drawn at random, whose sums are exact in any order, so that bits can be asked for. Softmax alone
//! adds up other numbers: its results may differ by one place of a bf16.
//!
//! | pass | what it is held against |
//! |---|---|
//! | `tile-plan-copies`, and so `tile-expand-mma` | products of tiles, by `mma.sync` |
//! | `tile-split-epilogues` | results stored as a whole |
//! | `tile-pipeline` | rings of one slot, of two and of three |
//! | `tile-specialize-warps` | threads that copy and multiply |
//! | `tile-assign-layouts` | layouts of several seeds |
//! | `tile-choose-occupancy`, `tile-vectorize-accesses` | nothing in their place |
//! | `tile-allocate-scratch` | no buffer shares bytes with another (`tile-allocate-shared{reuse=false}`), and the other scratch that other layouts need |
//! | `tile-allocate-shared` | the same |
//! | `tile-insert-sync` | each barrier and fence left out is a race, which the checks must find (`syncs`) |
//! | `tile-swizzle-shared`, `tile-pad-tiles` | what the program says: nothing compiles without them. Drawn programs (`programs`) have buffers with `swizzle = auto`, and tiles of any size, and an interpreter that knows of neither |
//! | `tile-expand-tma` | the host's formulas for single elements (`girih-diff`), for the same reason |
use crate::programs::{on_all_cores, variant::Variant};
use girih::compile::{Options, compile};
use girih::run::{self, Choice, Input, run};
use girih_core::{dtype::DType, manifest::Manifest};
use girih_runtime::{
    array::{Array, FileType, read_npy, write_npy},
    run::{DeviceChoice, Named, Request},
    spec::{Place, Spec},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

/// What an example runs on.
pub struct Runs {
    file: &'static str,
    /// Its name.
    pub kernel: &'static str,
    /// Each with arguments as `girih run` takes them. One without a generator holds integers from -4 to 4.
    of_one: &'static [&'static str],
    /// With `cluster(8, 1, 1)` in place of `cluster(1, 1, 1)`.
    of_a_cluster: &'static [&'static str],
}

const fn runs(file: &'static str, of_one: &'static [&'static str]) -> Runs {
    Runs {
        file,
        kernel: file,
        of_one,
        of_a_cluster: &[],
    }
}

const fn named(file: &'static str, kernel: &'static str, of_one: &'static [&'static str]) -> Runs {
    Runs {
        kernel,
        ..runs(file, of_one)
    }
}

const fn copies(kernel: &'static str) -> Runs {
    let of_one = &["A=f32[100,72] B=poison:f32[100,72]", "A=f32[67,44] B=poison:f32[67,44]"];
    named("tma_copy", kernel, of_one)
}

const fn clusters(file: &'static str, of_one: &'static [&'static str], of_a_cluster: &'static [&'static str]) -> Runs {
    Runs {
        of_a_cluster,
        ..runs(file, of_one)
    }
}

/// Each example on sizes that let vectors run, whole tiles and a part of one, and on odd ones.
const RUNS: [Runs; 19] = [
    runs(
        "gemm",
        &[
            "A=bf16[150,136] B=bf16[136,264] C=poison:bf16[150,264]",
            "A=bf16[131,67] B=bf16[67,257] C=poison:bf16[131,257]",
        ],
    ),
    named(
        "gemm_explicit",
        "gemm",
        &[
            "A=bf16[130,200] B=bf16[200,264] C=poison:bf16[130,264]",
            "A=bf16[97,72] B=bf16[72,45] C=poison:bf16[97,45]",
        ],
    ),
    clusters(
        "layernorm",
        &[
            "X=bf16[2,1000] W=bf16[1000] B=bf16[1000] Y=poison:bf16[2,1000] eps=f32:1e-5",
            "X=bf16[1,9001] W=bf16[9001] B=bf16[9001] Y=poison:bf16[1,9001] eps=f32:1e-5",
        ],
        &["X=bf16[1,20008] W=bf16[20008] B=bf16[20008] Y=poison:bf16[1,20008] eps=f32:1e-5"],
    ),
    clusters(
        "rmsnorm",
        &[
            "X=bf16[2,1000] W=bf16[1000] Y=poison:bf16[2,1000] eps=f32:1e-5",
            "X=bf16[1,9001] W=bf16[9001] Y=poison:bf16[1,9001] eps=f32:1e-5",
        ],
        &["X=bf16[1,20008] W=bf16[20008] Y=poison:bf16[1,20008] eps=f32:1e-5"],
    ),
    clusters(
        "softmax",
        &[
            "X=bf16[2,1000] Y=poison:bf16[2,1000]",
            "X=bf16[1,9001] Y=poison:bf16[1,9001]",
        ],
        &["X=bf16[1,20008] Y=poison:bf16[1,20008]"],
    ),
    runs(
        "argmax",
        &["X=f32[2,5000] Y=poison:i32[2]", "X=randn:f32[3,4501] Y=poison:i32[3]"],
    ),
    runs(
        "col_sum",
        &["X=bf16[256,128] Y=poison:f32[128]", "X=bf16[129,67] Y=poison:f32[67]"],
    ),
    runs(
        "cumsum",
        &[
            "X=f32[2,8192] Y=poison:f32[2,8192]",
            "X=f32[1,9001] Y=poison:f32[1,9001]",
        ],
    ),
    runs(
        "gather",
        &[
            "X=randn:bf16[20,256] I=uniform(low=-2,high=22):i32[32] Y=poison:bf16[32,256]",
            "X=randn:bf16[40,301] I=uniform(low=-2,high=42):i32[33] Y=poison:bf16[33,301]",
        ],
    ),
    runs(
        "gelu",
        &[
            "X=randn:f32[4000] B=randn:bf16[4000] Y=poison:f32[4000] alpha=f32:1.5",
            "X=randn:f32[1101] B=randn:bf16[1101] Y=poison:f32[1101] alpha=f32:-0.5",
        ],
    ),
    runs(
        "histogram",
        &[
            "X=uniform(low=-9,high=900):i32[9000] H=zeros:i32[700]",
            "X=uniform(low=-9,high=1301):i32[3001] H=zeros:i32[1301]",
        ],
    ),
    runs(
        "quantize",
        &[
            "X=randn:bf16[2,4000] Q=poison:e4m3[2,4000] S=poison:f32[2]",
            "X=randn:bf16[3,999] Q=poison:e4m3[3,999] S=poison:f32[3]",
        ],
    ),
    runs(
        "row_sum",
        &["X=bf16[2,8200] Y=poison:f32[2]", "X=bf16[3,9001] Y=poison:f32[3]"],
    ),
    // No two rows of X may go to one of Y, so their numbers are not drawn.
    runs(
        "scatter",
        &[
            "X=randn:bf16[32,256] I=iota(start=-3,step=7):i32[32] Y=poison:bf16[200,256]",
            "X=randn:bf16[33,301] I=iota(start=90,step=-3):i32[33] Y=poison:bf16[80,301]",
        ],
    ),
    copies("copy_32"),
    copies("copy_64"),
    copies("copy_128"),
    runs(
        "transpose",
        &[
            "X=randn:bf16[128,200] Y=poison:bf16[200,128]",
            "X=randn:bf16[129,67] Y=poison:bf16[67,129]",
        ],
    ),
    named(
        "vector_add",
        "add",
        &[
            "A=randn:f32[1000] B=randn:f32[1000] C=poison:f32[1000]",
            "A=randn:f32[301] B=randn:f32[301] C=poison:f32[301]",
        ],
    ),
];

/// Where the examples are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

/// An example as a program, with what it runs on.
pub struct Form {
    /// What it runs on.
    pub runs: &'static Runs,
    source: String,
    /// The kernel, and what was changed.
    pub name: String,
    /// Arguments of each launch.
    pub of: &'static [&'static str],
}

/// Every example, and those of clusters in one.
pub fn forms() -> Vec<Form> {
    let (written, wanted) = ("cluster(1, 1, 1)", "cluster(8, 1, 1)");
    let mut forms = vec![];
    for runs in &RUNS {
        let path = folder().join(format!("{}.mlir", runs.file));
        let source = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let has_cluster = source
            .lines()
            .any(|l| l.starts_with("tile.kernel") && l.contains(written));
        assert!(
            has_cluster != runs.of_a_cluster.is_empty(),
            "{}: the runs of a cluster are those of kernels with {written}",
            runs.file
        );
        if has_cluster {
            forms.push(Form {
                runs,
                source: source.replace(written, wanted),
                name: format!("{} with {wanted}", runs.kernel),
                of: runs.of_a_cluster,
            });
        }
        forms.push(Form {
            runs,
            source,
            name: runs.kernel.to_owned(),
            of: runs.of_one,
        });
    }
    forms
}

/// The arguments of a launch, and files for what they hold before and afterwards.
pub struct Arguments {
    args: Vec<Named<Spec>>,
    outs: Vec<Named<PathBuf>>,
    types: Vec<DType>,
    _folder: tempfile::TempDir,
}

impl Arguments {
    pub fn of(words: &str) -> Result<Arguments, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (mut args, mut outs, mut types) = (vec![], vec![], vec![]);
        for word in words.split(' ') {
            let (name, text) = word.split_once('=').ok_or("expected NAME=VALUE")?;
            let mut value: Spec = match text.contains(':') {
                true => text.parse().map_err(said)?,
                false => format!("uniform(low=-4,high=5):{text}").parse().map_err(said)?,
            };
            if text.contains('[') {
                let place = Place {
                    name,
                    file_type: FileType::Any,
                    strides: None,
                    seed: 0,
                };
                let array = value.array(&place).map_err(said)?;
                if !text.contains(':') {
                    let whole: Vec<f64> = array.to_f64().into_iter().map(f64::floor).collect();
                    let whole = Array::from_f64(array.dtype(), array.shape(), &whole).ok_or("no memory")?;
                    let path = folder.path().join(format!("{name}.npy"));
                    write_npy(&path, &whole).map_err(said)?;
                    value = path.display().to_string().parse().map_err(said)?;
                }
                types.push(array.dtype());
                outs.push(Named {
                    name: name.to_owned(),
                    value: folder.path().join(format!("{name}.after.npy")),
                });
            }
            args.push(Named {
                name: name.to_owned(),
                value,
            });
        }
        Ok(Arguments {
            args,
            outs,
            types,
            _folder: folder,
        })
    }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Form {
    /// The PTX and its manifest.
    pub fn compiled(&self, options: &Options) -> Result<(Vec<u8>, Manifest), String> {
        let compiled = compile(self.source.as_bytes(), self.runs.file, options).map_err(said)?;
        Ok((compiled.content, compiled.manifest.ok_or("no manifest")?))
    }

    /// What a program runs as in place of the example.
    pub fn input<'a>(&self, ptx: &'a [u8], manifest: &Manifest) -> Input<'a> {
        Input::Ptx(ptx, self.runs.file, Some(manifest.clone()))
    }

    /// Runs a program; its arrays afterwards, and what the checks found.
    pub fn run(&self, input: Input<'_>, on: &Arguments, checks: bool) -> Result<(Vec<Array>, usize), String> {
        let options = run::Options {
            compile: Options::default(),
            kernel: Some(self.runs.kernel.to_owned()),
            request: Request {
                args: on.args.clone(),
                outs: on.outs.clone(),
                ..Request::default()
            },
            device: DeviceChoice::Sim,
            reference: Choice::Default,
            check_memory: checks,
            profile: Default::default(),
            instruction_limit: None,
            shows_progress: false,
        };
        let ran = run(input, &options);
        let ran = ran.map_err(|f| f.messages.iter().map(|m| m.to_string() + "\n").collect::<String>())?;
        if !ran.outcome.is_right() {
            return Err(ran.outcome.to_string());
        }
        let files = on.outs.iter().zip(&on.types);
        let read = files.map(|(out, dtype)| read_npy(&out.value, FileType::Exactly(*dtype)));
        let arrays = read.collect::<Result<_, _>>().map_err(said)?;
        Ok((arrays, ran.checks.map_or(0, |c| c.findings.len())))
    }

    /// Whether results are the same.
    fn agree(&self, a: &[Array], b: &[Array]) -> bool {
        let near = |(a, b): (f64, f64)| (a - b).abs() <= b.abs() / 128.0;
        a.iter().zip(b).all(|(a, b)| match self.runs.file {
            "softmax" => a.to_f64().into_iter().zip(b.to_f64()).all(near),
            _ => a.to_packed_bytes() == b.to_packed_bytes(),
        })
    }

    /// What is wrong with an example: as it is compiled usually, where the checks look on unless it is of a cluster (its own
    /// RUN lines let them), and then in each variant; `changes` gets the number of
    /// each variant that is other code.
    fn wrong(&self, variants: &[Variant], changes: &mut dyn FnMut(usize)) -> Result<Vec<String>, String> {
        let (mut wrong, mut usual) = (vec![], vec![]);
        let is_of_cluster = self.of != self.runs.of_one;
        for words in self.of {
            let on = Arguments::of(words)?;
            let source = Input::Mlir(self.source.as_bytes(), self.runs.file);
            let (arrays, findings) = self
                .run(source, &on, !is_of_cluster)
                .map_err(|why| format!("{words}: {why}"))?;
            if findings > 0 {
                wrong.push(format!("{words}: {findings} findings of the checks"));
            }
            usual.push((words, on, arrays));
        }
        let (code, _) = self.compiled(&Options::default())?;
        // Of a cluster, whose eight blocks take eight times as long, every other one: no vectors, other layouts, the last.
        let step = if is_of_cluster { 2 } else { 1 };
        for (n, variant) in variants.iter().enumerate().rev().step_by(step) {
            let (other, manifest) = match self.compiled(&variant.options()) {
                Ok((other, _)) if other == code => continue,
                Ok(other) => other,
                Err(why) => {
                    wrong.push(format!("{variant}: {why}"));
                    continue;
                }
            };
            changes(n);
            for (words, on, arrays) in &usual {
                let input = self.input(&other, &manifest);
                match self.run(input, on, false) {
                    Ok((found, _)) if self.agree(&found, arrays) => {}
                    Ok(_) => wrong.push(format!("{variant}: {words}: gives other bits")),
                    Err(why) => wrong.push(format!("{variant}: {words}: {why}")),
                }
            }
        }
        Ok(wrong)
    }
}

/// Passes that decide how a program runs, each with what runs in its place.
const INSTEAD: [(&str, &str); 9] = [
    ("tile-plan-copies", ""),
    ("tile-split-epilogues", ""),
    ("tile-pipeline", "tile-pipeline{slots=1}"),
    ("tile-pipeline", "tile-pipeline{slots=2}"),
    ("tile-pipeline", "tile-pipeline{slots=3}"),
    ("tile-specialize-warps", "tile-specialize-warps{roles=false}"),
    ("tile-choose-occupancy", ""),
    ("tile-vectorize-accesses", ""),
    ("tile-allocate-shared", "tile-allocate-shared{reuse=false}"),
];
const LAYOUT_SEEDS: [u64; 2] = [1, 2];

#[test]
fn no_pass_and_no_layout_shows_in_what_an_example_computes() {
    let usual = Variant::usual;
    let mut variants: Vec<Variant> = INSTEAD
        .iter()
        .map(|instead| Variant {
            instead: Some(*instead),
            ..usual()
        })
        .collect();
    variants.extend(LAYOUT_SEEDS.map(|seed| Variant {
        layouts: Some(seed),
        ..usual()
    }));
    variants.push(Variant {
        without: vec!["tile-vectorize-accesses", "tile-choose-occupancy", "cse"],
        slots: Some(1),
        no_roles: true,
        opt_level: Some(1),
        ..usual()
    });
    let forms = forms();
    let (wrong, changed) = (Mutex::new(vec![]), Mutex::new(BTreeSet::new()));
    on_all_cores(forms.len() as u64, |n| {
        let form = &forms[n as usize];
        let found = form.wrong(&variants, &mut |n| {
            changed.lock().expect("no thread panics with it").insert(n);
        });
        let found = found.unwrap_or_else(|why| vec![why]);
        let found = found.into_iter().map(|why| format!("{}: {why}", form.name));
        wrong.lock().expect("no thread panics with it").extend(found);
    });
    let wrong = wrong.into_inner().expect("no thread panics with it");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let changed = changed.into_inner().expect("no thread panics with it");
    for (n, variant) in variants.iter().enumerate() {
        assert!(changed.contains(&n), "no example is other code with {variant}");
    }
}

#[test]
fn every_example_runs_in_variants() {
    let mut files: BTreeSet<String> = fs::read_dir(folder())
        .expect("the examples")
        .filter_map(|e| Some(e.ok()?.file_name().to_str()?.strip_suffix(".mlir")?.to_owned()))
        .collect();
    for runs in &RUNS {
        files.remove(runs.file);
        assert!(runs.of_one.len() > 1, "{}: aligned sizes and odd ones", runs.file);
    }
    assert!(files.is_empty(), "{files:?} run in no variant: add them to RUNS");
}
