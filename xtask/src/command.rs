//! Running programs: shown, captured, or shown and read at the same time.
use anyhow::{Context, Result, bail};
use std::{
    io::{BufRead, BufReader, IsTerminal, Write},
    process::{Command, Output, Stdio},
    sync::mpsc,
    thread,
};

/// The command as a person in the repository's root would type it.
pub fn display(command: &Command) -> String {
    let root = crate::workspace::root()
        .map(|root| format!("{}/", root.display()))
        .unwrap_or_default();
    let words = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| {
            let word = word.to_string_lossy();
            let word = word.strip_prefix(root.as_str()).unwrap_or(&word);
            match word.is_empty() || word.contains(|c: char| c.is_whitespace() || "()|&*'\"".contains(c)) {
                true => format!("'{word}'"),
                false => word.to_owned(),
            }
        });
    words.collect::<Vec<_>>().join(" ")
}

/// A program of this workspace, which finds the fetched tools on its `PATH`.
pub fn program(path: &std::path::Path) -> Result<Command> {
    let mut command = Command::new(path);
    command.env("PATH", crate::workspace::path_with_tools()?);
    Ok(command)
}

/// `cargo` in the repository's root, with the fetched tools on its `PATH`.
pub fn cargo(args: &[&str]) -> Result<Command> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = program(cargo.as_ref())?;
    command.args(args).current_dir(crate::workspace::root()?);
    // What `cargo run` set for this program is not meant for those that it starts.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    Ok(command)
}

/// Runs with the output shown; false if it failed.
pub fn succeeds(command: &mut Command) -> Result<bool> {
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", display(command)))?;
    Ok(status.success())
}

/// Runs with the output shown; an error if it failed.
pub fn run(command: &mut Command) -> Result<()> {
    if !succeeds(command)? {
        bail!("`{}` failed", display(command));
    }
    Ok(())
}

/// Runs with the output kept, whatever the exit status.
pub fn output(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", display(command)))
}

/// Runs with the output kept; standard output if it succeeded, else an error that quotes what it said.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed ({}): {}", display(command), output.status, said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs with both streams shown as they come, and returns whether it succeeded with the lines, free of colour.
pub fn tee(command: &mut Command) -> Result<(bool, Vec<String>)> {
    if std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", display(command)))?;
    let (sender, receiver) = mpsc::channel();
    let mut readers = Vec::new();
    let streams: [Option<Box<dyn std::io::Read + Send>>; 2] = [
        child.stdout.take().map(|s| Box::new(s) as _),
        child.stderr.take().map(|s| Box::new(s) as _),
    ];
    for stream in streams.into_iter().flatten() {
        let sender = sender.clone();
        readers.push(thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n').map_while(|line| line.ok()) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        }));
    }
    drop(sender);
    let mut lines = Vec::new();
    for line in receiver {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").context("standard output is closed")?;
        lines.push(without_colour(&line));
    }
    for reader in readers {
        reader
            .join()
            .map_err(|_| anyhow::anyhow!("reading the output of `{}` failed", display(command)))?;
    }
    Ok((child.wait()?.success(), lines))
}

/// The text without ANSI colour sequences.
pub fn without_colour(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().find(|c| c.is_ascii_alphabetic());
        } else if c != '\r' {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_removed_and_text_kept() {
        assert_eq!(
            without_colour("\u{1b}[32;1m  Summary\u{1b}[0m [ 1s]\r"),
            "  Summary [ 1s]"
        );
    }

    #[test]
    fn both_streams_are_read_and_the_status_kept() {
        let (ok, mut lines) = tee(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"])).unwrap();
        lines.sort();
        assert!(!ok);
        assert_eq!(lines, ["err", "out"]);
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = capture(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.to_string().contains("no-such-program-here"), "{error}");
    }

    #[test]
    fn a_failing_program_is_quoted() {
        let error = capture(Command::new("sh").args(["-c", "echo because >&2; exit 2"])).unwrap_err();
        assert!(error.to_string().contains("because"), "{error}");
    }
}
