//! Debian's packages: says which are missing and why they are needed, and installs them with apt-get.
use crate::{command, workspace::LLVM};
use anyhow::{Context, Result, bail};
use std::{path::Path, process::Command};

/// A package and what it is for.
pub struct Package {
    pub name: &'static str,
    pub why: &'static str,
}

const fn package(name: &'static str, why: &'static str) -> Package {
    Package { name, why }
}

/// What a build needs beside Rust.
pub const BUILD: &[Package] = &[
    package("llvm-22-dev", "LLVM 22: turns NVVM into PTX"),
    package("libmlir-22-dev", "MLIR 22: what the dialects and passes stand on"),
    package("mlir-22-tools", "mlir-tblgen, which MLIR's Rust bindings run"),
    package("llvm-22-tools", "lit, FileCheck, not, split-file: the text tests"),
    package(
        "clang-22",
        "compiles the C++ shim, as LLVM's own packages were compiled",
    ),
    package("libclang-22-dev", "reads MLIR's C headers for its Rust bindings"),
    package("libpolly-22-dev", "named by the static LLVM libraries"),
    package("libzstd-dev", "named by the static LLVM libraries"),
    package("zlib1g-dev", "named by the static LLVM libraries"),
    package("libxml2-dev", "named by the static LLVM libraries"),
    package("libz3-dev", "named by the static LLVM libraries"),
    package("libffi-dev", "named by the static LLVM libraries"),
    package("g++", "the C++ library, and the compiler of crates with C++ in them"),
    package("python3", "runs lit"),
];

/// Fetches Python wheels, for a Python that has no pip of its own.
pub const PIP: &[Package] = &[package("python3-pip", "fetches ptxas")];

/// Installs those of `packages` that are missing.
pub fn ensure(packages: &[Package]) -> Result<()> {
    let Some(missing) = missing(packages)? else {
        return ensure_without_dpkg(packages);
    };
    if missing.is_empty() {
        return Ok(());
    }
    println!("Missing Debian packages:");
    for package in &missing {
        println!("  {:<16} {}", package.name, package.why);
    }
    if !has("apt-get") {
        bail!("this system has no apt-get; install the packages named above, then run this again");
    }
    println!("Installing them with apt-get; this needs root and takes a minute or two.");
    if let Err(error) = apt_get(&["update", "-qq"]) {
        // One unreachable source of many is no reason to stop: the install says whether it mattered.
        println!("{error:#}; going on with the lists that are here");
    }
    let mut args = vec!["install", "--yes", "--no-install-recommends", "-qq"];
    args.extend(missing.iter().map(|package| package.name));
    apt_get(&args).with_context(|| {
        format!(
            "apt-get could not install {}. LLVM 22 is in Debian 12 and newer; on another release add LLVM's own apt \
             repository first, then run this again",
            missing.iter().map(|p| p.name).collect::<Vec<_>>().join(" ")
        )
    })
}

/// Packages that dpkg does not have installed, or `None` on a system without dpkg.
fn missing(packages: &[Package]) -> Result<Option<Vec<&Package>>> {
    if !has("dpkg-query") {
        return Ok(None);
    }
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat=${db:Status-Status} ${Package}\n"]);
    query.args(packages.iter().map(|package| package.name));
    // A package that dpkg never heard of makes it exit 1 after it has listed the others.
    let listed = String::from_utf8_lossy(&command::output(&mut query)?.stdout).into_owned();
    Ok(Some(not_installed(packages, &listed)))
}

/// Those of `packages` that no line `installed NAME` names.
fn not_installed<'a>(packages: &'a [Package], listed: &str) -> Vec<&'a Package> {
    let installed: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("installed "))
        .collect();
    packages
        .iter()
        .filter(|package| !installed.contains(&package.name))
        .collect()
}

/// A system with neither dpkg nor apt may still have LLVM where the build looks for it.
fn ensure_without_dpkg(packages: &[Package]) -> Result<()> {
    let needed = [
        "bin/llvm-config",
        "bin/mlir-tblgen",
        "bin/clang++",
        "bin/FileCheck",
        "lib/libMLIRIR.a",
    ];
    let absent: Vec<&str> = needed
        .into_iter()
        .filter(|file| !Path::new(LLVM).join(file).exists())
        .collect();
    if absent.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = packages.iter().map(|package| package.name).collect();
    bail!(
        "this system has no apt, and {LLVM} lacks {}. girih needs LLVM and MLIR 22.1 with static libraries, clang 22 and \
         lit there (on Debian these are {}); install or link them at {LLVM}, then run this again",
        absent.join(", "),
        names.join(" ")
    )
}

/// Runs apt-get as root, through sudo where this is not root.
fn apt_get(args: &[&str]) -> Result<()> {
    let root = command::capture(Command::new("id").arg("-u"))?.trim() == "0";
    let mut apt = if root {
        Command::new("apt-get")
    } else if has("sudo") {
        let mut sudo = Command::new("sudo");
        sudo.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        sudo
    } else {
        bail!(
            "not root, and there is no sudo; as root, run: apt-get {}",
            args.join(" ")
        );
    };
    apt.env("DEBIAN_FRONTEND", "noninteractive").args(args);
    println!("$ {}", command::display(&apt));
    // Hundreds of lines that nobody reads, unless it fails.
    let output = command::output(&mut apt)?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        bail!(
            "apt-get failed ({}):\n{}",
            output.status,
            String::from_utf8_lossy(&said).trim()
        );
    }
    Ok(())
}

/// Whether a program is on `PATH`.
fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dpkg_does_not_list_as_installed_is_missing() {
        let listed = "installed llvm-22-dev\nconfig-files libmlir-22-dev\nnot-installed clang-22\n";
        let packages = [
            package("llvm-22-dev", ""),
            package("libmlir-22-dev", ""),
            package("clang-22", ""),
        ];
        let names: Vec<&str> = not_installed(&packages, listed).iter().map(|p| p.name).collect();
        assert_eq!(names, ["libmlir-22-dev", "clang-22"]);
    }
}
