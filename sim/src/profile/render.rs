//! A profile as text for people: tables with what is worst on top, each line with its source quoted.
use super::banks::{BankLine, BankReport};
use super::collect::SharedKind;
use super::resources::ResourceReport;
use super::{CodeLine, LaunchProfile, Profile};
use crate::check::SourcePlace;
use std::fmt::Write;

/// Gives the text of a source line, where it is at hand.
pub type Quote<'a> = &'a dyn Fn(&SourcePlace) -> Option<String>;

/// Lines of a table at most; the rest is summed up.
const MOST_ROWS: usize = 20;
/// Characters of a quoted line at most.
const MOST_QUOTED: usize = 100;

/// Everything, launch by launch.
pub fn profile(profile: &Profile, quote: Quote<'_>) -> String {
    let mut out = String::new();
    for launch in &profile.launches {
        out += &self::launch(launch, quote);
    }
    out
}

/// One launch.
pub fn launch(launch: &LaunchProfile, quote: Quote<'_>) -> String {
    let mut out = String::new();
    let title = format!(
        "`{}` (grid {}, block {}, cluster {})",
        launch.kernel,
        dims(launch.grid),
        dims(launch.block),
        dims(launch.cluster)
    );
    if let Some(report) = &launch.banks {
        banks(&mut out, &title, report, quote);
    }
    if let Some(report) = &launch.resources {
        resources(&mut out, &title, report, quote);
    }
    out
}

fn dims(d: [u32; 3]) -> String {
    d.map(|n| n.to_string()).join("x")
}

/// A number with its thousands apart.
fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn cut(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= MOST_QUOTED {
        return text.to_owned();
    }
    text.chars().take(MOST_QUOTED - 3).chain("...".chars()).collect()
}

/// The instruction and its source, indented.
fn code(out: &mut String, code: &CodeLine, quote: Quote<'_>) {
    let _ = writeln!(out, "      PTX line {}: {}", code.ptx_line, cut(&code.ptx));
    if let Some(place) = &code.source {
        let text = quote(place).map_or(String::new(), |text| format!(": {}", cut(&text)));
        let _ = writeln!(out, "      {place}{text}");
    }
}

fn access_name(line: &BankLine) -> String {
    let name = match line.kind {
        SharedKind::Load => "ld",
        SharedKind::Store => "st",
        SharedKind::LoadMatrix => "ldmatrix",
        SharedKind::StoreMatrix => "stmatrix",
        SharedKind::Atomic => "atomic",
        SharedKind::AsyncCopy => "cp.async",
    };
    format!("{name} of {} bytes", line.bytes)
}

fn banks(out: &mut String, title: &str, report: &BankReport, quote: Quote<'_>) {
    let total = &report.total;
    let _ = writeln!(
        out,
        "shared memory banks of {title}\n  {} accesses take {} wavefronts; without conflicts {} ({} wasted, {:.2} for each)",
        number(total.accesses),
        number(total.wavefronts),
        number(total.ideal_wavefronts),
        number(total.wasted_wavefronts),
        total.mean_degree
    );
    let (bad, good): (Vec<&BankLine>, Vec<&BankLine>) =
        report.lines.iter().partition(|line| line.cost.wasted_wavefronts > 0);
    if !bad.is_empty() {
        let _ = writeln!(
            out,
            "  {:>12} {:>12} {:>12} {:>8} {:>6}  access",
            "wasted", "wavefronts", "accesses", "worst", "mean"
        );
    }
    for line in bad.iter().take(MOST_ROWS) {
        let cost = &line.cost;
        let _ = writeln!(
            out,
            "  {:>12} {:>12} {:>12} {:>8} {:>6.2}  {}",
            number(cost.wasted_wavefronts),
            number(cost.wavefronts),
            number(cost.accesses),
            format!("{}-way", cost.worst_degree),
            cost.mean_degree,
            access_name(line)
        );
        code(out, &line.code, quote);
        remedy(out, line, report);
    }
    if bad.len() > MOST_ROWS {
        let _ = writeln!(out, "  and {} more lines with conflicts", bad.len() - MOST_ROWS);
    }
    if !good.is_empty() {
        let lines: Vec<String> = good.iter().map(|line| line.code.ptx_line.to_string()).collect();
        let _ = writeln!(out, "  without conflicts: PTX lines {}", shorten(&lines));
    }
    if !report.uncounted.is_empty() {
        let mut reasons: std::collections::BTreeMap<&str, Vec<String>> = std::collections::BTreeMap::new();
        for line in &report.uncounted {
            reasons
                .entry(&line.why)
                .or_default()
                .push(line.code.ptx_line.to_string());
        }
        for (why, lines) in reasons {
            let _ = writeln!(out, "  not counted: PTX lines {} ({why})", shorten(&lines));
        }
    }
}

fn shorten(lines: &[String]) -> String {
    if lines.len() <= MOST_ROWS {
        return lines.join(", ");
    }
    format!("{} and {} more", lines[..MOST_ROWS].join(", "), lines.len() - MOST_ROWS)
}

fn remedy(out: &mut String, line: &BankLine, report: &BankReport) {
    let pattern = line.pattern.as_deref().unwrap_or("not in the first cluster");
    let Some(buffer) = line.buffer.and_then(|index| report.buffers.get(index)) else {
        let _ = writeln!(out, "      {pattern}");
        return;
    };
    let place = format!("shared {:#x} to {:#x}", buffer.first_address, buffer.end_address);
    let advice = match (&buffer.remedy, &buffer.fixed_by) {
        (Some(remedy), _) => remedy.message.clone(),
        (None, Some(why)) => format!("no other layout is possible: {why}"),
        (None, None) => "no swizzle, exclusive or or padding takes less".to_owned(),
    };
    let sampled = if buffer.sampled {
        " (tried on a part of its accesses)"
    } else {
        ""
    };
    let _ = writeln!(out, "      {pattern}; {place}: {advice}{sampled}");
}

fn resources(out: &mut String, title: &str, report: &ResourceReport, quote: Quote<'_>) {
    let _ = writeln!(out, "resources of {title}");
    let registers = match report.registers {
        Some(registers) => format!("{registers} registers"),
        None => "registers unknown to PTX".to_owned(),
    };
    let _ = writeln!(
        out,
        "  a block: {} threads ({} warps), {} + {} bytes of shared memory (static + dynamic), {registers}",
        report.threads,
        report.warps,
        number(report.static_shared_bytes.into()),
        number(report.dynamic_shared_bytes.into())
    );
    let occupancy = &report.occupancy;
    let by_registers = occupancy
        .by_registers
        .map_or(String::new(), |blocks| format!(", registers {blocks}"));
    let _ = writeln!(
        out,
        "  occupancy: {} blocks, {} of {} warps of a multiprocessor; limited by {} (warps allow {}, shared memory {}, block slots {}{by_registers})",
        occupancy.blocks,
        occupancy.warps,
        super::resources::Occupancy::MOST_WARPS,
        occupancy.limited_by.join(" and "),
        occupancy.by_warps,
        occupancy.by_shared,
        occupancy.by_slots
    );
    let _ = writeln!(
        out,
        "  {} warp instructions, {:.1} of 32 lanes active; {} branches, {} divergent",
        number(report.warp_instructions),
        report.mean_active_lanes,
        number(report.branches.executed),
        number(report.branches.divergent)
    );
    if report.matrix_multiply_adds > 0 {
        let _ = writeln!(
            out,
            "  {} multiply-adds of tensor cores",
            number(report.matrix_multiply_adds)
        );
    }
    for kind in &report.instructions {
        let class = serde_json::to_string(&kind.class).unwrap_or_default();
        let _ = writeln!(
            out,
            "  {:>14}  {:<12} {}",
            number(kind.warp_instructions),
            class.trim_matches('"'),
            kind.name
        );
    }
    for bytes in &report.traffic {
        let _ = writeln!(out, "  {:>14}  bytes {}", number(bytes.bytes), bytes.what);
    }
    let loose: Vec<_> = report.global.iter().filter(|line| line.efficiency < 1.0).collect();
    if !loose.is_empty() {
        let _ = writeln!(out, "  global accesses that use only a part of their sectors:");
    }
    for line in loose.iter().take(MOST_ROWS) {
        let _ = writeln!(
            out,
            "    {:.0} % of {} sectors in {} accesses",
            100.0 * line.efficiency,
            number(line.sectors),
            number(line.accesses)
        );
        code(out, &line.code, quote);
    }
    for line in report.branches.lines.iter().take(MOST_ROWS) {
        let _ = writeln!(
            out,
            "    lanes part {} of {} times at this branch",
            number(line.divergent),
            number(line.executed)
        );
        code(out, &line.code, quote);
    }
}
