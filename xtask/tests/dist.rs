//! `xtask test-gpu` in a `dist/`: a machine with neither the repository nor a toolchain has it beside the compiler. The GPU and
//! the programs it starts are stand-ins here; what counts is that each is found and started.
use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("a folder of the test's own");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of the test's own");
}

/// Runs the suite in a `dist/` of its own whose compiler does `girih`.
fn suite(name: &str, girih: &str) -> Output {
    let dist = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dist);
    let bin = dist.join("bin");
    fs::create_dir_all(&bin).expect("the target folder can be written");
    fs::create_dir_all(dist.join("examples")).expect("the target folder can be written");
    fs::copy(env!("CARGO_BIN_EXE_xtask"), bin.join("xtask")).expect("the program is built");
    script(&bin.join("nvidia-smi"), "echo GPU 0: a stand-in");
    script(&bin.join("girih"), girih);
    for other in ["girih-diff-suite", "runtime-gpu-tests"] {
        script(
            &bin.join(other),
            "echo 'test result: ok. 1 passed; 0 failed; 0 ignored'",
        );
    }
    let path = env::join_paths([bin.clone(), "/usr/bin".into(), "/bin".into()]).expect("no colon in the target folder");
    // The system's root, where nobody keeps a repository.
    let mut run = Command::new(bin.join("xtask"));
    run.arg("test-gpu")
        .current_dir("/")
        .env("PATH", path)
        .env_remove("CARGO_MANIFEST_DIR");
    run.output().expect("the copy starts")
}

#[test]
fn the_gpu_suite_runs_without_the_repository() {
    let right = suite("right", "exit 0");
    let said = String::from_utf8_lossy(&right.stdout).into_owned() + &String::from_utf8_lossy(&right.stderr);
    assert!(right.status.success(), "{said}");
    assert!(said.contains(" 0 failed") && said.contains("1x1x16: ok"), "{said}");

    let wrong = suite("wrong", "exit 1");
    let said = String::from_utf8_lossy(&wrong.stdout).into_owned();
    assert!(!wrong.status.success() && said.contains("1x1x16: FAILED"), "{said}");
}
