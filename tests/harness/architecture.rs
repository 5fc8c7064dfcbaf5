//! The architecture's invariants that a test can hold: who may depend on whom, and where each foreign thing may be named.
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const LLVM_CRATES: [&str; 5] = ["mlir-sys", "melior", "melior-macro", "inkwell", "llvm-sys"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests lie in the repository")
        .to_path_buf()
}

/// The workspace as cargo resolves it.
struct Graph {
    names: BTreeMap<String, String>,
    /// Package id to its licence expression, for those that are in use on this platform and say one.
    licences: BTreeMap<String, String>,
    /// Package id to the ids that it depends on for running and building, tests left out.
    edges: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn read() -> Graph {
        let output = Command::new(env!("CARGO"))
            .args([
                "metadata",
                "--format-version",
                "1",
                "--filter-platform",
                "x86_64-unknown-linux-gnu",
            ])
            .current_dir(root())
            .output()
            .expect("cargo starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let list = |value: &Value| value.as_array().expect("a list").clone();
        let names = list(&metadata["packages"])
            .iter()
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let nodes = list(&metadata["resolve"]["nodes"]);
        let used: BTreeSet<String> = nodes.iter().map(|node| text(&node["id"])).collect();
        let licences = list(&metadata["packages"])
            .iter()
            .filter(|package| used.contains(&text(&package["id"])))
            .filter_map(|package| Some((text(&package["id"]), package["license"].as_str()?.to_owned())))
            .collect();
        let edges = nodes
            .iter()
            .map(|node| {
                let runs = |dep: &&Value| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev");
                let ids = list(&node["deps"])
                    .iter()
                    .filter(runs)
                    .map(|dep| text(&dep["pkg"]))
                    .collect();
                (text(&node["id"]), ids)
            })
            .collect();
        Graph { names, licences, edges }
    }

    fn id(&self, name: &str) -> &str {
        self.names
            .iter()
            .find(|(_, n)| *n == name)
            .map(|(id, _)| id.as_str())
            .expect("a package of the workspace")
    }

    /// Names of what a package depends on directly.
    fn direct(&self, name: &str) -> BTreeSet<&str> {
        self.edges[self.id(name)]
            .iter()
            .map(|id| self.names[id].as_str())
            .collect()
    }

    /// Names of all that a package depends on.
    fn closure(&self, name: &str) -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut open = vec![self.id(name)];
        while let Some(id) = open.pop() {
            for next in &self.edges[id] {
                if seen.insert(self.names[next].as_str()) {
                    open.push(next);
                }
            }
        }
        seen
    }

    /// Workspace crates that depend on `dependency` directly.
    fn dependents(&self, dependency: &str) -> BTreeSet<&str> {
        let ours = self
            .names
            .values()
            .map(String::as_str)
            .filter(|name| name.starts_with("girih") || *name == "xtask");
        ours.filter(|name| self.direct(name).contains(dependency)).collect()
    }
}

/// Files that git tracks or would track, relative to the root.
fn files() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files: Vec<String> = String::from_utf8(output.stdout)
        .expect("file names are UTF-8")
        .lines()
        .map(str::to_owned)
        .collect();
    assert!(
        files.iter().any(|file| file == "Cargo.toml"),
        "git lists the repository"
    );
    files
}

/// Code lines of tracked Rust files that contain `word`, as `file:line`; comments are left out.
fn mentions(word: &str, within: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for file in files().into_iter().filter(|file| file.ends_with(".rs") && within(file)) {
        let Ok(text) = fs::read_to_string(root().join(&file)) else {
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            let code = line.split("//").next().unwrap_or_default();
            if code.contains(word) {
                found.push(format!("{file}:{number}"));
            }
        }
    }
    found
}

#[test]
fn core_runtime_and_simulator_never_link_llvm() {
    let graph = Graph::read();
    for package in ["girih-core", "girih-runtime", "girih-sim", "girih-diff", "xtask"] {
        let closure = graph.closure(package);
        let llvm: Vec<_> = LLVM_CRATES.iter().filter(|name| closure.contains(**name)).collect();
        assert!(llvm.is_empty(), "{package} depends on {llvm:?}");
    }
    assert!(graph.closure("girih").contains("mlir-sys"), "the graph is read whole");
}

#[test]
fn core_and_simulator_know_no_cuda() {
    let graph = Graph::read();
    for package in [
        "girih-core",
        "girih-sim",
        "girih-ir",
        "girih-dialects",
        "girih-passes",
        "girih-codegen",
    ] {
        assert!(
            !graph.closure(package).contains("cudarc"),
            "{package} depends on cudarc"
        );
    }
}

#[test]
fn only_codegen_speaks_inkwell_and_only_the_runtime_speaks_cudarc() {
    let graph = Graph::read();
    assert_eq!(graph.dependents("inkwell"), BTreeSet::from(["girih-codegen"]));
    assert_eq!(graph.dependents("cudarc"), BTreeSet::from(["girih-runtime"]));
}

#[test]
fn crates_depend_downwards_only() {
    let graph = Graph::read();
    let allowed: [(&str, &[&str]); 8] = [
        ("girih-core", &[]),
        ("girih-ir", &[]),
        ("girih-dialects", &["girih-core", "girih-ir"]),
        ("girih-passes", &["girih-core", "girih-ir", "girih-dialects"]),
        (
            "girih-codegen",
            &["girih-core", "girih-ir", "girih-dialects", "girih-passes"],
        ),
        ("girih-runtime", &["girih-core"]),
        ("girih-sim", &["girih-core"]),
        ("girih-diff", &["girih-core", "girih-runtime", "girih-sim"]),
    ];
    for (package, allowed) in allowed {
        let direct = graph.direct(package);
        let ours: Vec<_> = direct
            .iter()
            .filter(|name| name.starts_with("girih") && !allowed.contains(name))
            .collect();
        assert!(ours.is_empty(), "{package} depends on {ours:?}");
    }
}

#[test]
fn cudarc_is_named_only_where_the_driver_is_spoken_to() {
    let elsewhere = mentions("cudarc", |file| {
        !file.starts_with("runtime/src/cuda") && !file.starts_with("tests/harness/")
    });
    assert!(elsewhere.is_empty(), "cudarc outside runtime/src/cuda*: {elsewhere:?}");
}

#[test]
fn inkwell_is_named_only_in_codegen() {
    let elsewhere = mentions("inkwell", |file| {
        !file.starts_with("codegen/") && !file.starts_with("tests/harness/")
    });
    assert!(elsewhere.is_empty(), "inkwell outside codegen: {elsewhere:?}");
}

#[test]
fn only_the_shim_is_cpp() {
    let cpp = [".cpp", ".cc", ".cxx", ".hpp", ".hxx", ".td", ".cu"];
    let elsewhere: Vec<String> = files()
        .into_iter()
        .filter(|file| cpp.iter().any(|end| file.ends_with(end)) && !file.starts_with("ir/shim/"))
        .filter(|file| !file.starts_with("benches/"))
        .collect();
    assert!(elsewhere.is_empty(), "C++ outside ir/shim: {elsewhere:?}");
}

#[test]
fn the_shim_knows_no_dialect_of_girih() {
    for file in files().into_iter().filter(|file| file.starts_with("ir/shim/")) {
        let text = fs::read_to_string(root().join(&file)).expect("the shim is text");
        for line in text.lines().map(|line| line.split("//").next().unwrap_or_default()) {
            assert!(
                !line.contains("\"tile") && !line.contains("girih_tile"),
                "{file} names the tile dialect: {line}"
            );
        }
    }
}

#[test]
fn passes_do_no_io() {
    let passes =
        |file: &str| file.starts_with("passes/src/") && !file.ends_with("/tests.rs") && !file.contains("/tests/");
    for word in [
        "std::fs",
        "std::net",
        "std::process",
        "std::env",
        "println!(",
        "print!(",
        "File::",
    ] {
        let found = mentions(word, passes);
        assert!(found.is_empty(), "`{word}` in a pass: {found:?}");
    }
}

#[test]
fn dependencies_have_licences_that_go_with_ours() {
    const PERMISSIVE: [&str; 9] = [
        "MIT",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "0BSD",
        "ISC",
        "Zlib",
        "Unicode-3.0",
        "CC0-1.0",
    ];
    let graph = Graph::read();
    let foreign: Vec<_> = graph
        .licences
        .iter()
        .filter(|(_, licence)| !PERMISSIVE.iter().any(|name| licence.contains(name)))
        .map(|(id, licence)| format!("{}: {licence}", graph.names[id]))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

#[test]
fn the_readme_shows_examples_as_they_are() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README.md");
    let examples: Vec<String> = files()
        .into_iter()
        .filter(|file| file.starts_with("examples/") && file.ends_with(".mlir"))
        .map(|file| fs::read_to_string(root().join(file)).expect("an example is text"))
        .collect();
    let blocks: Vec<&str> = readme
        .split("```mlir\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default())
        .collect();
    assert!(!blocks.is_empty(), "the README shows a program");
    for block in blocks {
        assert!(
            examples.iter().any(|example| example.contains(block)),
            "no example contains\n{block}"
        );
    }
}

#[test]
fn guides_name_files_that_exist() {
    for guide in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(guide)).expect("a guide is text");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(
                root().join(link).exists(),
                "{guide} links to {link}, which is not there"
            );
        }
    }
}
