//! Every example compiled by `girih`, assembled by ptxas, and compiled again to the same bytes.
use crate::{command, report::Tally, workspace};
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The target that examples are assembled for.
pub const TARGET: &str = "sm_90a";

/// The `.mlir` files that people start from.
pub fn all() -> Result<Vec<PathBuf>> {
    let dir = workspace::root()?.join("examples");
    let files = workspace::files_with_extension(&dir, "mlir");
    if files.is_empty() {
        bail!("no examples in {}", dir.display());
    }
    Ok(files)
}

/// Compiles a `.mlir` file to PTX, with the working folder `cwd`.
fn compile(girih: &Path, source: &Path, ptx: &Path, cwd: &Path) -> Result<()> {
    let mut girih = command::program(girih)?;
    girih.arg("compile").arg(source).arg("-o").arg(ptx).current_dir(cwd);
    command::capture(&mut girih).map(drop)
}

/// What ptxas said about one PTX file.
pub struct Assembly {
    /// Registers of a thread, the most of any kernel.
    pub registers: u32,
    /// Bytes spilled, stores and loads together, over all kernels.
    pub spill_bytes: u32,
    /// Lines that say that ptxas gave up speed (C75xx), such as wgmma instructions that it serialised.
    pub performance_warnings: Vec<String>,
}

/// Assembles PTX for [`TARGET`]; the error quotes ptxas.
pub fn assemble(ptx: &Path) -> Result<Assembly> {
    let ptxas = workspace::tools_dir()?.join("ptxas");
    let mut command = Command::new(&ptxas);
    command
        .args(["-v", "-arch", TARGET, "-o"])
        .arg(ptx.with_extension("cubin"))
        .arg(ptx);
    let output = command::output(&mut command)?;
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    if !output.status.success() {
        bail!("ptxas refused {}: {}", ptx.display(), said.trim());
    }
    Ok(read_ptxas(&said))
}

/// Reads the lines that `ptxas -v` prints.
fn read_ptxas(said: &str) -> Assembly {
    let mut assembly = Assembly {
        registers: 0,
        spill_bytes: 0,
        performance_warnings: Vec::new(),
    };
    for line in said.lines() {
        if line.contains("(C75") {
            assembly.performance_warnings.push(line.trim().to_owned());
        }
        // `0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads` and `Used 168 registers, ...`
        for part in line.split(',') {
            let number =
                |before: &str| -> Option<u32> { part.split(before).next()?.split_whitespace().last()?.parse().ok() };
            if part.contains("bytes spill") {
                assembly.spill_bytes += number("bytes spill").unwrap_or(0);
            } else if part.contains(" registers") && part.contains("Used") {
                assembly.registers = assembly.registers.max(number(" registers").unwrap_or(0));
            }
        }
    }
    assembly
}

/// Compiles and assembles every example: ptxas must accept it, keep all its speed, and spill nothing.
pub fn check_assembly() -> Result<Tally> {
    let out = workspace::target_dir()?.join("examples-ptx");
    fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let root = workspace::root()?;
    let girih = workspace::binary("girih")?;
    let mut tally = Tally::default();
    for source in all()? {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ptx = out.join(&name).with_extension("ptx");
        let verdict = compile(&girih, &source, &ptx, &root)
            .and_then(|()| assemble(&ptx))
            .and_then(|assembly| {
                if let Some(warning) = assembly.performance_warnings.first() {
                    bail!("ptxas gave up speed: {warning}");
                }
                if assembly.spill_bytes > 0 {
                    bail!("ptxas spilled {} bytes; expected none", assembly.spill_bytes);
                }
                Ok(assembly.registers)
            });
        match &verdict {
            Ok(registers) => println!("{name}: {registers} registers, nothing spilled"),
            Err(error) => println!("{name}: {error:#}"),
        }
        tally.add(Tally::one(verdict.is_ok()));
    }
    Ok(tally)
}

/// Compiles every example twice, the second time from another folder: the bytes must be the same.
pub fn check_determinism() -> Result<Tally> {
    let out = workspace::target_dir()?.join("determinism");
    let elsewhere = out.join("elsewhere");
    fs::create_dir_all(&elsewhere).with_context(|| format!("cannot make {}", elsewhere.display()))?;
    let root = workspace::root()?;
    let girih = workspace::binary("girih")?;
    let mut tally = Tally::default();
    for source in all()? {
        let name = source.file_name().context("an example has a name")?;
        let copy = elsewhere.join(name);
        fs::copy(&source, &copy).with_context(|| format!("cannot copy {}", source.display()))?;
        let (first, second) = (out.join("first.ptx"), out.join("second.ptx"));
        let same = compile(&girih, &source, &first, &root)
            .and_then(|()| compile(&girih, Path::new(name), &second, &elsewhere))
            .and_then(|()| Ok(fs::read(&first)? == fs::read(&second)?));
        match &same {
            Ok(true) => println!("{}: the same bytes", name.display()),
            Ok(false) => println!("{}: compiled twice, the PTX differs", name.display()),
            Err(error) => println!("{}: {error:#}", name.display()),
        }
        tally.add(Tally::one(matches!(same, Ok(true))));
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptxas_lines_are_read() {
        let said = "ptxas info    : Compiling entry function 'gemm' for 'sm_90a'\n\
                    ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\n\
                    \x20   0 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads\n\
                    ptxas info    : Used 168 registers, used 1 barriers\n\
                    ptxas info    : Used 40 registers, used 0 barriers\n";
        let assembly = read_ptxas(said);
        assert_eq!((assembly.registers, assembly.spill_bytes), (168, 24));
        assert_eq!(assembly.performance_warnings.len(), 1);
    }
}
