//! A failing program, made small, for people: what is wrong, the file that shows it, and the command that runs it.
use super::{
    Failure, Looks, holds, interpret,
    program::{Argument, Program},
    shrink::smallest,
    text::{KERNEL, text},
    variant::Variant,
};
use girih_runtime::array::{Layout, write_npy};
use std::{fmt::Write, path::PathBuf};

/// Makes a failing program small, writes it with its arguments to files, and says all about it.
pub fn small(program: &Program, variant: &Variant, looks: Looks, failure: &Failure) -> String {
    let fails = |p: &Program, v: &Variant| holds(p, v, looks).is_err_and(|f| f.kind == failure.kind);
    let simple = variant.simpler().into_iter().find(|v| fails(program, v));
    let variant = simple.unwrap_or_else(|| variant.clone());
    let small = smallest(program, |p| fails(p, &variant));
    let last = holds(&small, &variant, looks).err();
    let said = last.map_or_else(|| failure.text.clone(), |f| f.text);
    let mut out = format!("{} (seed {}; {variant}):\n{said}\n", failure.kind, program.seed);
    let mut source = text(&small);
    match write(&small, &mut source) {
        Ok(folder) => writeln!(out, "in {}:\n{source}", folder.display()).expect("a string takes all"),
        Err(error) => writeln!(out, "{source}\n(not written: {error})").expect("a string takes all"),
    }
    out
}

/// Writes the program and its arguments before and after; the text gets its RUN line.
fn write(program: &Program, source: &mut String) -> std::result::Result<PathBuf, Box<dyn std::error::Error>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("program-{}", program.seed));
    std::fs::create_dir_all(&folder)?;
    let mut command = format!("girih run %s --kernel {KERNEL} --device sim");
    let before = interpret::arrays(program);
    let after = interpret::interpret(program).map_err(|e| e.0)?;
    for (i, argument) in program.arguments.iter().enumerate() {
        write_npy(&folder.join(format!("A{i}.npy")), &before[i])?;
        write!(command, " --arg A{i}=%S/A{i}.npy{}", memory(argument))?;
        if before[i] != after[i] {
            write_npy(&folder.join(format!("A{i}.after.npy")), &after[i])?;
            write!(command, " --check A{i}=%S/A{i}.after.npy")?;
        }
    }
    for (i, n) in program.scalars.iter().enumerate() {
        write!(command, " --arg n{i}=i64:{n}")?;
    }
    source.insert_str(0, &format!("// RUN: {command}\n"));
    std::fs::write(folder.join("program.mlir"), &*source)?;
    Ok(folder)
}

/// Pitch and offset of an argument in a SPEC.
fn memory(a: &Argument) -> String {
    let numbers = |list: &[i64]| list.iter().map(|n| *n as u64).collect::<Vec<_>>();
    let (shape, strides) = (numbers(&a.shape), numbers(&a.strides));
    let known: Vec<Option<u64>> = strides
        .iter()
        .zip(&a.dynamic_strides)
        .map(|(s, d)| (!d).then_some(*s))
        .collect();
    let fits = |pitch| Layout::for_argument(&shape, &known, pitch, 0).is_ok_and(|l| l.strides() == strides);
    let pitch = strides.iter().copied().find(|s| fits(Some(*s))).filter(|_| !fits(None));
    let mut parts = vec![];
    if let Some(pitch) = pitch {
        parts.push(format!("pitch={pitch}"));
    } else if !fits(None) {
        return format!("[strides={strides:?}, which no SPEC can say]");
    }
    if a.offset_bytes > 0 {
        parts.push(format!("offset={}", a.offset_bytes));
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!("[{}]", parts.join(","))
    }
}
