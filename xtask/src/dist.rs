//! `cargo xtask dist`: folders that run on a machine with no toolchain.
//!
//! `dist/` holds the compiler and everything around it; `dist-runtime/` only what launches PTX compiled before. The
//! programs link LLVM, the C++ library, zlib and zstd statically; what is left is the C library of Debian 12 or newer.
use crate::{command, examples, gpu, report, setup, workspace};
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What to put into it.
#[derive(clap::Args)]
pub struct Args {
    /// Only what needs no compiler: libgirih_runtime.so, girih-launch, girih-diff, and the examples as PTX.
    #[arg(long)]
    runtime: bool,
    /// Also girih-opt and girih-lsp-server, some 180 MB each.
    #[arg(long, conflicts_with = "runtime")]
    tools: bool,
}

/// Libraries that are linked statically, by the file that the compiler is asked for.
const STATIC_LIBRARIES: [&str; 3] = ["libstdc++.a", "libz.a", "libzstd.a"];

/// Shared objects that a distributed program may need: the C library, its loader, and the unwinder.
const ALLOWED_NEEDED: [&str; 6] = [
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libdl.so.2",
    "libpthread.so.0",
    "ld-linux-x86-64.so.2",
];

/// Builds and fills the folder.
pub fn run(args: &Args) -> Result<bool> {
    setup::for_build()?;
    let root = workspace::root()?;
    let out = root
        .join("dist")
        .join(if args.runtime { "girih-runtime" } else { "girih" });
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    let (bin, lib) = (out.join("bin"), out.join("lib"));
    for dir in [&bin, &lib] {
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }

    report::heading("runtime");
    let release = workspace::target_dir()?.join("release");
    command::run(&mut command::cargo(&[
        "build",
        "--release",
        "--package",
        "girih-runtime",
    ])?)?;
    install(&release.join("libgirih_runtime.so"), &lib)?;
    install(&release.join("girih-launch"), &bin)?;
    command::run(&mut command::cargo(&["build", "--release", "--package", "girih-diff"])?)?;
    for program in ["girih-diff", gpu::DIFF_SUITE] {
        install(&release.join(program), &bin)?;
    }
    for header in workspace::files_with_extension(&root.join("runtime/include"), "h") {
        copy(&header, &out.join("include"))?;
    }

    let archives = static_libraries()?;
    let mut programs = vec!["girih"];
    if args.tools {
        programs.extend(["girih-opt", "girih-lsp-server"]);
    }
    for program in programs {
        report::heading(program);
        link(program, &archives)?;
        if !args.runtime {
            install(&release.join(program), &bin)?;
        }
    }

    if args.runtime {
        report::heading("examples, compiled");
        for source in examples::all()? {
            let ptx = out
                .join("examples")
                .join(source.file_stem().unwrap_or_default())
                .with_extension("ptx");
            fs::create_dir_all(out.join("examples"))?;
            let mut compile = command::program(&release.join("girih"))?;
            command::capture(
                compile
                    .arg("compile")
                    .arg(&source)
                    .arg("-o")
                    .arg(&ptx)
                    .current_dir(&root),
            )?;
        }
    } else {
        for source in examples::all()? {
            copy(&source, &out.join("examples"))?;
        }
        copy_tree(&root.join("benches"), &out.join("benches"))?;
        command::run(&mut command::cargo(&["build", "--release", "--package", "xtask"])?)?;
        install(&release.join("xtask"), &bin)?;
        install_driver_tests(&bin)?;
    }
    for text in ["LICENSE", "README.md"] {
        copy(&root.join(text), &out)?;
    }

    report::heading("result");
    let mut portable = true;
    for program in files_under(&bin)?.into_iter().chain(files_under(&lib)?) {
        let foreign: Vec<String> = needed(&program)?
            .into_iter()
            .filter(|name| !ALLOWED_NEEDED.contains(&name.as_str()))
            .collect();
        let mb = fs::metadata(&program)?.len() as f64 / 1e6;
        println!("{:<40} {mb:>8.1} MB", program.strip_prefix(&out)?.display());
        if !foreign.is_empty() {
            println!("  needs {}, which a bare machine may lack", foreign.join(", "));
            portable = false;
        }
    }
    println!("{}", out.display());
    Ok(portable)
}

/// Links one program of the `girih` package for release. Arguments after `--` reach this program alone, so that no
/// dependency is built again for them.
fn link(program: &str, archives: &Path) -> Result<()> {
    let native = format!("native={}", archives.display());
    let mut cargo = command::cargo(&["rustc", "--release", "--package", "girih", "--bin", program, "--"])?;
    cargo.args(["-L", &native, "-C", "strip=symbols", "-C", "link-arg=-Wl,--icf=safe"]);
    command::run(&mut cargo)
}

/// The runtime's device tests, which `xtask test-gpu` runs on the other machine.
fn install_driver_tests(bin: &Path) -> Result<()> {
    let mut cargo = command::cargo(&gpu::CARGO_DRIVER_TESTS)?;
    cargo.args(["--release", "--no-run", "--message-format", "json-render-diagnostics"]);
    let built = command::capture(&mut cargo)?;
    let executable = built
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "gpu")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("cargo named no executable for the runtime's device tests")?;
    let installed = bin.join(gpu::DRIVER_TESTS);
    fs::copy(&executable, &installed).with_context(|| format!("cannot copy {}", executable.display()))?;
    command::run(Command::new("strip").arg("--strip-unneeded").arg(installed))
}

/// A folder with nothing but links to static archives: searched first, it makes the linker take those.
fn static_libraries() -> Result<PathBuf> {
    let dir = workspace::target_dir()?.join("static-libraries");
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    for name in STATIC_LIBRARIES {
        let found = command::capture(Command::new("clang++-22").arg(format!("--print-file-name={name}")))?;
        let archive = Path::new(found.trim());
        if !archive.is_absolute() {
            bail!("clang++-22 finds no {name}; it comes with Debian's g++, zlib1g-dev and libzstd-dev");
        }
        let link = dir.join(name);
        if fs::symlink_metadata(&link).is_ok() {
            fs::remove_file(&link)?;
        }
        std::os::unix::fs::symlink(archive, &link).with_context(|| format!("cannot link {}", link.display()))?;
    }
    Ok(dir)
}

/// Shared objects that a program names.
fn needed(program: &Path) -> Result<Vec<String>> {
    let said = command::capture(Command::new("readelf").arg("--dynamic").arg("--wide").arg(program))?;
    Ok(said
        .lines()
        .filter(|line| line.contains("(NEEDED)"))
        .filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned()))
        .collect())
}

/// Copies a program and strips it.
fn install(program: &Path, dir: &Path) -> Result<()> {
    copy(program, dir)?;
    let installed = dir.join(program.file_name().unwrap_or_default());
    command::run(Command::new("strip").arg("--strip-unneeded").arg(installed))
}

/// Copies a file into a folder, made where it is missing.
fn copy(file: &Path, dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let to = dir.join(file.file_name().unwrap_or_default());
    fs::copy(file, &to).with_context(|| format!("cannot copy {} to {}", file.display(), to.display()))?;
    Ok(())
}

/// Copies a folder with all that git would take of it.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let mut list = Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(from);
    for name in command::capture(&mut list)?.lines() {
        let to = to.join(name);
        copy(&from.join(name), to.parent().unwrap_or(&to))?;
    }
    Ok(())
}

/// Files of a folder, sorted.
fn files_under(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    Ok(files)
}
