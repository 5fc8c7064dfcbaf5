//! The commands that README.md and docs/ show, run as they stand there: each line that a guide shows is printed.
//!
//! `kernel.mlir` is the last block of MLIR before the command that holds a kernel. Commands of other programs, and those on
//! other files that a guide does not show, are left out.
use std::{fs, path::Path, process::Command};

/// A fenced block of a guide.
struct Block<'t> {
    language: &'t str,
    text: String,
}

fn blocks(guide: &str) -> Vec<Block<'_>> {
    let mut found = vec![];
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            continue;
        };
        let inside = lines.by_ref().take_while(|l| *l != "```");
        let text = inside.flat_map(|l| [l, "\n"]).collect();
        found.push(Block { language, text });
    }
    found
}

/// Commands, each with what is shown below it.
fn commands(console: &str) -> Vec<(String, Vec<&str>)> {
    let mut found: Vec<(String, Vec<&str>)> = vec![];
    let mut goes_on = false;
    for line in console.lines() {
        let text = line.trim_end_matches('\\');
        match (line.strip_prefix("$ "), found.last_mut()) {
            (_, Some((command, _))) if goes_on => command.push_str(text),
            (Some(_), _) => found.push((text["$ ".len()..].to_owned(), vec![])),
            (None, Some((_, shown))) => shown.push(line),
            (None, None) => panic!("a console block starts with a command; found `{line}`"),
        }
        goes_on = line.ends_with('\\');
    }
    found
}

/// The program that a command starts, if it is one of ours.
fn program(command: &str) -> Option<(&'static str, &str)> {
    let (name, rest) = command.split_once(' ')?;
    match name.rsplit('/').next()? {
        "girih" => Some((env!("CARGO_BIN_EXE_girih"), rest)),
        "girih-opt" => Some((env!("CARGO_BIN_EXE_girih-opt"), rest)),
        _ => None,
    }
}

/// Runs the commands of a guide, and says how many there were.
fn run(guide: &Path) -> usize {
    let text = fs::read_to_string(guide).expect("a guide is text");
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::os::unix::fs::symlink(root.join("examples"), folder.path().join("examples")).expect("a link");
    let (mut kernel, mut count) = (None, 0);
    for Block { language, text } in blocks(&text) {
        if language == "mlir" && text.contains("tile.kernel") {
            kernel = Some(text.clone());
        }
        if language != "console" {
            continue;
        }
        for (command, shown) in commands(&text) {
            let Some((path, arguments)) = program(&command) else {
                continue;
            };
            let files = arguments.split([' ', '=', '\'', '{', '}']);
            let mut files = files.filter(|a| [".mlir", ".npy", ".json"].iter().any(|end| a.ends_with(end)));
            let is_here = |file: &str| file.contains('/') || file == "kernel.mlir" && kernel.is_some();
            if !files.all(is_here) {
                continue;
            }
            if let Some(text) = &kernel {
                fs::write(folder.path().join("kernel.mlir"), text).expect("written");
            }
            count += 1;
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{path} {arguments}")]).current_dir(&folder);
            let out = shell.env("CUDA_VISIBLE_DEVICES", "").output().expect("sh runs");
            let printed = [out.stderr, out.stdout].map(|t| String::from_utf8(t).expect("text"));
            let printed = printed.concat();
            let fails = shown.iter().any(|line| line.contains("error: "));
            assert_eq!(
                out.status.success(),
                !fails,
                "{}: {command}\n{printed}",
                guide.display()
            );
            // Lines of the program are shown on terminals alone, and why there is no GPU depends on the machine.
            let depends = |line: &str| line.starts_with("  ") || line.starts_with("on the simulator: ");
            for line in shown.iter().filter(|l| !depends(l)) {
                let is_there = printed.lines().any(|l| l == *line);
                assert!(
                    is_there,
                    "{}: {command}\nshown: {line}\nprinted:\n{printed}",
                    guide.display()
                );
            }
        }
    }
    count
}

#[test]
fn the_commands_of_the_guides_print_what_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut count = run(&root.join("README.md"));
    assert!(count >= 4, "the README shows {count} commands");
    for entry in fs::read_dir(root.join("docs")).expect("docs/") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "md") {
            count += run(&path);
        }
    }
    assert!(count >= 9, "the guides show {count} commands");
}
