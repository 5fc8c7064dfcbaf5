//! The legality table against ptxas: each cell that says yes assembles at the version that the table names and not at the
//! one before, each cell that says no does not assemble at all.
use girih_core::target::{Feature, PtxVersion, Target};
use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

const VERSIONS: [PtxVersion; 24] = [
    PtxVersion(7, 0),
    PtxVersion(7, 1),
    PtxVersion(7, 2),
    PtxVersion(7, 3),
    PtxVersion(7, 4),
    PtxVersion(7, 5),
    PtxVersion(7, 6),
    PtxVersion(7, 7),
    PtxVersion(7, 8),
    PtxVersion(8, 0),
    PtxVersion(8, 1),
    PtxVersion(8, 2),
    PtxVersion(8, 3),
    PtxVersion(8, 4),
    PtxVersion(8, 5),
    PtxVersion(8, 6),
    PtxVersion(8, 7),
    PtxVersion(8, 8),
    PtxVersion(9, 0),
    PtxVersion(9, 1),
    PtxVersion(9, 2),
    PtxVersion(9, 3),
    PtxVersion(9, 4),
    PtxVersion(9, 5),
];

fn kernel(statement: &str, target: Target, version: PtxVersion) -> String {
    // Before 8.3 there are no 128-bit registers.
    let wide = if statement.contains("%q") {
        ".reg .b128 %q<4>;"
    } else {
        ""
    };
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n\
         .reg .pred %p<4>;\n.reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %d<8>;\n{wide}\n\
         {statement}\nret;\n}}\n"
    )
}

struct Ptxas {
    path: PathBuf,
    scratch: PathBuf,
    newest: PtxVersion,
}

impl Ptxas {
    fn run(&self, statement: &str, target: Target, version: PtxVersion, worker: usize) -> Output {
        let (input, output) = (
            self.scratch.join(format!("{worker}.ptx")),
            self.scratch.join(format!("{worker}.cubin")),
        );
        fs::write(&input, kernel(statement, target, version)).expect("a scratch file");
        let arch = format!("-arch={target}");
        Command::new(&self.path)
            .args([&arch, "-O0", "-o"])
            .arg(output)
            .arg(input)
            .output()
            .expect("ptxas runs")
    }

    /// What of the table ptxas contradicts for one feature on one target.
    fn contradiction(&self, feature: Feature, target: Target, worker: usize) -> Option<String> {
        let statement = feature.example();
        let check = |version, expected: bool| {
            let output = self.run(&statement, target, version, worker);
            (output.status.success() != expected).then(|| {
                let text = String::from_utf8_lossy(&output.stderr)
                    .lines()
                    .take(2)
                    .collect::<Vec<_>>()
                    .join(" | ");
                format!("{feature} on {target} with PTX {version}: expected {expected}; {text}")
            })
        };
        match feature.legal(target) {
            Ok(version) if version > self.newest => None,
            Ok(version) => {
                let before = VERSIONS
                    .into_iter()
                    .rev()
                    .find(|&v| v < version && v >= target.first_ptx());
                check(version, true).or_else(|| before.and_then(|before| check(before, false)))
            }
            Err(_) if target.first_ptx() > self.newest => None,
            Err(_) => check(self.newest, false),
        }
    }
}

#[test]
#[ignore = "thousands of runs of the ptxas that GIRIH_PTXAS names"]
fn table_agrees_with_ptxas() {
    let path = std::env::var_os("GIRIH_PTXAS")
        .map(PathBuf::from)
        .expect("GIRIH_PTXAS = path of a ptxas");
    let scratch = std::env::temp_dir().join(format!("girih-legality-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch folder");
    let mut ptxas = Ptxas {
        path,
        scratch,
        newest: PtxVersion(7, 0),
    };
    let knows = |version: &PtxVersion| ptxas.run("", Target::SM_90A, *version, 0).status.success();
    ptxas.newest = VERSIONS
        .into_iter()
        .rev()
        .find(knows)
        .expect("a version that this ptxas knows");

    let cells: Vec<_> = Feature::all()
        .into_iter()
        .flat_map(|feature| Target::all().map(move |target| (feature, target)))
        .collect();
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(2, usize::from);
    let mut contradictions: Vec<String> = thread::scope(|scope| {
        let (next, cells, ptxas) = (&next, &cells, &ptxas);
        let handles: Vec<_> = (0..workers)
            .map(|worker| {
                scope.spawn(move || {
                    let cell = || cells.get(next.fetch_add(1, Ordering::Relaxed));
                    std::iter::from_fn(cell)
                        .filter_map(|&(f, t)| ptxas.contradiction(f, t, worker))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        handles
            .into_iter()
            .flat_map(|handle| handle.join().expect("a worker"))
            .collect()
    });
    contradictions.sort();
    fs::remove_dir_all(&ptxas.scratch).expect("the scratch folder is ours");
    assert!(
        contradictions.is_empty(),
        "{} of {} cells differ from ptxas (newest PTX {}):\n{}",
        contradictions.len(),
        cells.len(),
        ptxas.newest,
        contradictions.join("\n")
    );
}
