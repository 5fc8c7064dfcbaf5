//! Reads what `ptxas -v` prints. Its format is not documented; lines that are not understood are warnings if they say so
//! and are passed over otherwise.

/// What ptxas said about one PTX file that it took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// One for each entry, in the order of ptxas.
    pub kernels: Vec<KernelReport>,
    /// Warnings, located in the source where the PTX has line information. Performance advisories (`C75xx`: serialised
    /// wgmma, ignored setmaxnreg) are among them, although ptxas calls them information.
    pub warnings: Vec<String>,
}

/// Resources of one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelReport {
    /// Entry name.
    pub name: String,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of local memory that spills write, for each thread.
    pub spill_store_bytes: u32,
    /// Bytes of local memory that reloads read, for each thread.
    pub spill_load_bytes: u32,
    /// Bytes of stack, for each thread.
    pub stack_bytes: u32,
    /// Bytes of static shared memory, for each block.
    pub static_shared_bytes: u32,
    /// Named barriers, for each block.
    pub barriers: u32,
}

impl Report {
    /// The performance advisories among the warnings.
    pub fn advisories(&self) -> impl Iterator<Item = &str> {
        self.warnings
            .iter()
            .map(String::as_str)
            .filter(|warning| is_advisory(warning))
    }
}

/// The lines of a run that succeeded.
pub(super) fn read(said: &str, ptx: &str) -> Report {
    let mut report = Report::default();
    for line in said.lines() {
        if let Some(rest) = line.strip_prefix("ptxas info    : Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            report.kernels.push(KernelReport {
                name,
                ..KernelReport::default()
            });
        } else if is_advisory(line) || severity(line) == Some("warning") {
            report.warnings.push(located(line, ptx));
        } else if let Some(kernel) = report.kernels.last_mut() {
            let number = |unit: &str| number_before(line, unit);
            if line.contains("bytes stack frame") {
                kernel.stack_bytes = number("bytes stack frame").unwrap_or(0);
                kernel.spill_store_bytes = number("bytes spill stores").unwrap_or(0);
                kernel.spill_load_bytes = number("bytes spill loads").unwrap_or(0);
            } else if line.contains("Used ") {
                kernel.registers = number("registers").unwrap_or(0);
                kernel.barriers = number("barriers").unwrap_or(0);
                kernel.static_shared_bytes = number("bytes smem").unwrap_or(0);
            }
        }
    }
    report
}

/// The errors of a run that failed; never empty.
pub(super) fn errors(said: &str, ptx: &str) -> Vec<String> {
    let mut errors: Vec<_> = said
        .lines()
        .filter(|line| severity(line) == Some("error"))
        .map(|line| located(line, ptx))
        .collect();
    if errors.is_empty() {
        // Not what it said on the way: warnings are none.
        let rest = said
            .lines()
            .filter(|line| !is_advisory(line) && !matches!(severity(line), Some("warning" | "info")));
        let rest: Vec<_> = rest.collect();
        errors.push(match rest.join("\n").trim() {
            "" => "ptxas failed and said nothing; is it NVIDIA's? `PATH --version` tells".to_owned(),
            said => said.to_owned(),
        });
    }
    errors
}

/// Errors and warnings of a run that a signal ended.
pub(super) fn until_signal(said: &str, ptx: &str) -> Vec<String> {
    said.lines()
        .filter(|line| is_advisory(line) || matches!(severity(line), Some("error" | "fatal" | "warning")))
        .map(|line| located(line, ptx))
        .collect()
}

/// The entry that a run which did not end was at, in backquotes; all entries of the file where it did not say.
pub(super) fn in_progress(said: &str, ptx: &str) -> Vec<String> {
    let last = read(said, ptx).kernels.pop().map(|kernel| vec![kernel.name]);
    let entries = || {
        let code = ptx.lines().filter(|line| !line.trim_start().starts_with("//"));
        let lines = code.filter_map(|line| line.split_once(".entry "));
        lines
            .map(|(_, rest)| rest.trim_start().split(|c: char| c == '(' || c.is_whitespace()).next())
            .map(|name| name.unwrap_or_default().to_owned())
            .collect()
    };
    let names: Vec<String> = last.unwrap_or_else(entries);
    names.into_iter().map(|name| format!("`{name}`")).collect()
}

/// `error`, `warning`, `fatal`, `info`: the last word before the first colon that ends a padded word.
fn severity(line: &str) -> Option<&str> {
    let head = line.split(" : ").next().filter(|head| head.starts_with("ptxas"))?;
    head.split_whitespace().last().map(|word| word.trim_end_matches(':'))
}

fn is_advisory(line: &str) -> bool {
    line.contains("(C75")
}

fn number_before(line: &str, unit: &str) -> Option<u32> {
    let before = line[..line.find(unit)?].trim_end();
    before.rsplit([' ', ',']).next()?.parse().ok()
}

/// `ptxas /tmp/x/kernel.ptx, line 7; error   : words` -> `gemm.mlir:3:5: error: words (PTX line 7: the instruction)`.
fn located(line: &str, ptx: &str) -> String {
    let words = line.split_once(" : ").map_or(line, |(_, words)| words).trim();
    let severity = if is_advisory(line) {
        "warning"
    } else {
        severity(line).unwrap_or("error")
    };
    let number = line
        .split_once(", line ")
        .and_then(|(_, rest)| rest.split(';').next()?.trim().parse::<usize>().ok())
        .filter(|number| *number > 0);
    let Some(number) = number else {
        return format!("{severity}: {words}");
    };
    let source = source_of(ptx, number).map_or_else(String::new, |place| format!("{place}: "));
    let text = ptx.lines().nth(number - 1).unwrap_or_default().trim();
    format!("{source}{severity}: {words} (PTX line {number}: `{text}`)")
}

/// `file:line:column` of the `.loc` that governs a 1-based line of PTX.
fn source_of(ptx: &str, line: usize) -> Option<String> {
    let loc = ptx
        .lines()
        .take(line)
        .filter(|line| line.trim_start().starts_with(".loc"))
        .last()?;
    let mut fields = loc.split_whitespace().skip(1);
    let (file, line, column) = (fields.next()?, fields.next()?, fields.next()?);
    let name = ptx.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(".file")?.trim_start();
        let (number, name) = rest.split_once(char::is_whitespace)?;
        (number == file).then(|| name.split('"').nth(1)).flatten()
    })?;
    Some(format!("{name}:{line}:{column}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.6\n.file 1 \"dir/gemm.mlir\"\n.loc 1 3 5\nadd.s32 %r1, %r2;\n";

    #[test]
    fn resources_of_each_entry() {
        let said = "ptxas info    : 0 bytes gmem\n\
                    ptxas info    : Compiling entry function 'a' for 'sm_90a'\n\
                    ptxas info    : Function properties for a\n    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n\
                    ptxas info    : Used 154 registers, used 2 barriers, 8 bytes cumulative stack size, 1024 bytes smem\n\
                    ptxas info    : Compile time = 3.5 ms\n\
                    ptxas info    : Compiling entry function 'b' for 'sm_90a'\n\
                    ptxas info    : Used 24 registers, used 0 barriers\n";
        let a = KernelReport {
            name: "a".into(),
            registers: 154,
            spill_store_bytes: 16,
            spill_load_bytes: 24,
            stack_bytes: 8,
            static_shared_bytes: 1024,
            barriers: 2,
        };
        let b = KernelReport {
            name: "b".into(),
            registers: 24,
            ..KernelReport::default()
        };
        assert_eq!(
            read(said, PTX),
            Report {
                kernels: vec![a, b],
                warnings: vec![]
            }
        );
    }

    #[test]
    fn advisories_are_warnings() {
        let said = "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized\n";
        let report = read(said, PTX);
        let words = "warning: (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized";
        assert_eq!(report.advisories().collect::<Vec<_>>(), [words]);
    }

    #[test]
    fn errors_name_the_source_line() {
        let said = "ptxas /tmp/x/kernel.ptx, line 4; error   : Arguments mismatch for instruction 'add'\n\
                    ptxas fatal   : Ptx assembly aborted due to errors\n";
        assert_eq!(
            errors(said, PTX),
            ["dir/gemm.mlir:3:5: error: Arguments mismatch for instruction 'add' (PTX line 4: `add.s32 %r1, %r2;`)"]
        );
    }

    #[test]
    fn words_that_are_not_understood_are_still_an_error() {
        assert_eq!(errors("killed\n", PTX), ["killed"]);
        // Neither a warning nor information is one.
        let said =
            "ptxas warning : Stack size cannot be told\nptxas info    : 0 bytes gmem\nptxas fatal   : no memory\n";
        assert_eq!(errors(said, PTX), ["ptxas fatal   : no memory"]);
        assert!(errors("\n", PTX)[0].starts_with("ptxas failed and said nothing"));
    }
}
