//! `girih targets`: targets with their resources, and the legality table.
use clap::Args as ClapArgs;
use girih::{Failure, failure::Result, file};
use girih_core::target::{PtxVersion, Row, Section, Target, map_fields};
use serde_json::{Value, json};
use std::fmt::Write;

const HELP: &str = "\
Examples:
  girih targets                                    everything
  girih targets --op tma.load                      tensor loads on all targets
  girih targets --target sm_90a                    what sm_90a has, and what to use for what it has not
  girih targets --op wgmma --target sm_90a --target sm_100a
A number is the PTX version from which the target has the instruction.";

/// Options of `girih targets`.
#[derive(ClapArgs)]
#[command(after_help = HELP)]
pub struct Args {
    /// Only these instructions: a section of the table (tma.load, mbarrier, ...) or a part of a name.
    #[arg(long, value_name = "OP")]
    op: Vec<String>,
    /// Only these targets.
    #[arg(long, value_name = "TARGET", value_parser = |text: &str| Target::parse(text))]
    target: Vec<Target>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Lists what was asked for.
pub fn main(args: &Args) -> Result<()> {
    let targets: Vec<Target> = Target::all()
        .filter(|target| args.target.is_empty() || args.target.contains(target))
        .collect();
    for word in &args.op {
        if !Row::all().iter().any(|row| row.matches(word)) {
            let sections: Vec<_> = Section::all().map(|section| section.name).collect();
            return Err(Failure::usage(format!(
                "--op {word}: no instruction has this in its name; expected a part of one, or a section: {}",
                sections.join(", ")
            )));
        }
    }
    let mut rows = Row::all();
    rows.retain(|row| args.op.is_empty() || args.op.iter().any(|word| row.matches(word)));
    if args.json {
        return file::to_stdout(format!("{}\n", as_json(&targets, &rows)).as_bytes());
    }
    let mut text = String::new();
    if args.op.is_empty() {
        text.push_str(&resources(&targets));
    }
    match targets.as_slice() {
        &[target] => text.push_str(&of_one(target, &rows)),
        _ => text.push_str(&matrix(&targets, &rows)),
    }
    if args.op.is_empty() {
        text.push_str(&fields(&targets));
    }
    file::to_stdout(text.trim_start().as_bytes())
}

/// What each target has of everything that counts.
fn resources(targets: &[Target]) -> String {
    let mut text = "target    from PTX  shared memory of a block  warps of an SM  tensor maps\n".to_owned();
    for &target in targets {
        let mut line = format!(
            "{:<9} {:<9} {:<25} {:<15} {}",
            target.to_string(),
            target.first_ptx().to_string(),
            format!("{} KiB", target.dynamic_shared_bytes() >> 10),
            target.warps_per_sm(),
            if target.tensor_map_caps().is_some() {
                "yes"
            } else {
                "no"
            },
        );
        if target == Target::SM_90A {
            line.push_str("  (default)");
        }
        if !target.in_llvm() {
            line.push_str("  (LLVM 22 does not know it: the code is that of sm_100)");
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn cell(version: Option<PtxVersion>) -> String {
    version.map_or("-".into(), |version| version.to_string())
}

/// Types of a row in brackets, where it is for some only.
fn label(row: &Row) -> String {
    let types: Vec<_> = row.types.iter().map(|format| format.name()).collect();
    match types.is_empty() {
        true => row.name.clone(),
        false => format!("{} ({})", row.name, types.join(" ")),
    }
}

/// Rows in sections, a column for each target.
fn matrix(targets: &[Target], rows: &[Row]) -> String {
    let width = rows.iter().map(|row| label(row).chars().count()).max().unwrap_or(0);
    // Without the `sm_` that all have.
    let heads: Vec<String> = targets
        .iter()
        .map(|target| target.to_string().replace("sm_", ""))
        .collect();
    let mut text = String::new();
    for section in Section::all() {
        let mut of = rows.iter().filter(|row| row.section == section).peekable();
        if of.peek().is_none() {
            continue;
        }
        let _ = write!(text, "\n{}: {}\n{:<width$}", section.name, section.title, "  sm_");
        for head in &heads {
            let _ = write!(text, " {head:>4}");
        }
        text.push('\n');
        for row in of {
            let _ = write!(text, "{:<width$}", label(row));
            for &target in targets {
                let _ = write!(text, " {:>4}", cell(row.cell(target)));
            }
            text.push('\n');
        }
    }
    text
}

/// Rows in sections for one target: the PTX version, or who has it and what to use instead.
fn of_one(target: Target, rows: &[Row]) -> String {
    let width = rows.iter().map(|row| label(row).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for section in Section::all() {
        let mut of = rows.iter().filter(|row| row.section == section).peekable();
        if of.peek().is_none() {
            continue;
        }
        let _ = writeln!(text, "\n{}: {}, on {target}", section.name, section.title);
        for row in of {
            let said = match row.feature.legal(target) {
                Ok(version) => version.to_string(),
                Err(illegal) => {
                    let instead = illegal.alternative.map(|way| format!("; {way}")).unwrap_or_default();
                    format!("-    needs {}{instead}", illegal.needs.join(", or "))
                }
            };
            let _ = writeln!(text, "{:<width$} {said}", label(row));
        }
    }
    text
}

/// What tensor maps hold on some targets only.
fn fields(targets: &[Target]) -> String {
    let fields = map_fields();
    let width = fields.iter().map(|field| field.name.chars().count()).max().unwrap_or(0);
    let mut text = format!("\ntensor map: fields that not every target has\n{:<width$}", "  sm_");
    for target in targets {
        let _ = write!(text, " {:>4}", target.to_string().replace("sm_", ""));
    }
    text.push('\n');
    for field in &fields {
        let _ = write!(text, "{:<width$}", field.name);
        for target in targets {
            let has = target.tensor_map_caps().is_some_and(|caps| (field.has)(&caps));
            let _ = write!(text, " {:>4}", if has { "yes" } else { "-" });
        }
        text.push('\n');
    }
    text
}

fn as_json(targets: &[Target], rows: &[Row]) -> Value {
    let target = |target: &Target| {
        json!({"target": target.to_string(), "ptx": target.first_ptx().to_string(), "compiles": true,
               "dynamic_shared_bytes": target.dynamic_shared_bytes(), "warps_per_sm": target.warps_per_sm(),
               "tensor_maps": target.tensor_map_caps().is_some(),
               "tensor_map_fields": map_fields().into_iter()
                   .filter(|field| target.tensor_map_caps().is_some_and(|caps| (field.has)(&caps)))
                   .map(|field| field.name.clone()).collect::<Vec<_>>()})
    };
    let row = |row: &Row| {
        let legal = targets.iter().map(|&target| {
            let version = row.cell(target).map(|version| version.to_string());
            (target.to_string(), json!(version))
        });
        let alternatives = targets
            .iter()
            .filter_map(|&target| row.feature.legal(target).err()?.alternative);
        json!({"section": row.section.name, "name": row.name, "feature": row.feature.to_string(),
               "types": row.types.iter().map(|format| format.name()).collect::<Vec<_>>(),
               "ptx": legal.collect::<serde_json::Map<_, _>>(), "alternative": alternatives.clone().next(),
               "example": row.feature.example()})
    };
    json!({"targets": targets.iter().map(target).collect::<Vec<_>>(),
           "operations": rows.iter().map(row).collect::<Vec<_>>()})
}
