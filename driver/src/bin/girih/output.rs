//! What the commands print: text for people on standard error, one JSON object for machines on standard output.
use girih::{
    Failure,
    compile::Stage,
    diagnostic::{Sources, to_json},
    file,
};
use serde_json::{Value, json};

/// Prints a failure and gives its exit code.
pub fn fail(failure: &Failure, sources: &Sources, json: bool) -> u8 {
    if json {
        let mut value = json!({"ok": false, "error": failure.to_json(), "diagnostics": diagnostics(&failure.messages)});
        if let Some(checks) = &failure.checks {
            value["findings"] = json!(checks.findings);
        }
        if !failure.printed.is_empty() {
            value["printed"] = json!(failure.printed);
        }
        return print_json(&value, failure.exit_code());
    }
    let code = print(&failure.printed, failure.exit_code());
    let Some(checks) = &failure.checks else {
        eprint!("{}", sources.render(&failure.messages));
        return code;
    };
    let (said, other): (Vec<_>, Vec<_>) = failure
        .messages
        .iter()
        .cloned()
        .partition(|message| checks.says(&message.text));
    eprint!("{}{}", checks.render(sources), sources.render(&other));
    let ended = if said.is_empty() {
        ""
    } else {
        "; the launch failed there"
    };
    eprintln!("{}{ended}", checks.summary());
    code
}

/// One JSON object on a line, and the exit code: `code`, or 1 where the object is lost.
pub fn print_json(value: &Value, code: u8) -> u8 {
    print(&format!("{value}\n"), code)
}

/// Text on standard output, and the exit code: `code`, or 1 where the text is lost.
pub fn print(text: &str, code: u8) -> u8 {
    match file::to_stdout(text.as_bytes()) {
        Ok(()) => code,
        Err(failure) => {
            eprintln!("{failure}");
            code.max(failure.exit_code())
        }
    }
}

/// Messages as a JSON array.
pub fn diagnostics(messages: &[girih::Message]) -> Value {
    messages.iter().map(to_json).collect()
}

/// Steps as a JSON array.
pub fn stages(stages: &[Stage]) -> Value {
    let milliseconds = |stage: &Stage| json!({"name": stage.name, "milliseconds": stage.time.as_secs_f64() * 1e3});
    stages.iter().map(milliseconds).collect()
}

/// Steps as a table.
pub fn timing(stages: &[Stage]) -> String {
    let width = stages.iter().map(|stage| stage.name.len()).max().unwrap_or(0).max(5);
    let line = |name: &str, seconds: f64| format!("{name:<width$} {:>9.2} ms\n", seconds * 1e3);
    let total: f64 = stages.iter().map(|stage| stage.time.as_secs_f64()).sum();
    let mut table: String = stages
        .iter()
        .map(|stage| line(&stage.name, stage.time.as_secs_f64()))
        .collect();
    table.push_str(&line("total", total));
    table
}
