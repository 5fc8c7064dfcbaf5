//! Holds the book to the programs: every `mlir` block of docs/ is compiled, every drawing is made again by the command
//! beside it, every link inside the repository leads somewhere.
//!
//! A block that begins with `// error: TEXT` must be refused with a message that holds the text. A drawing's command is a
//! line `girih layout ... -o docs/images/NAME.svg`, in a comment or in a block. With GIRIH_BLESS set, drawings are rewritten.
use std::{
    collections::BTreeSet,
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests lie in the repository")
        .to_path_buf()
}

/// Chapters by name, with their text.
fn chapters() -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(root().join("docs"))
        .expect("docs/ is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("it is text"))
    };
    paths.into_iter().map(read).collect()
}

/// The development build's `girih`: two folders above this test's own program.
fn girih(arguments: &[&str], input: &str) -> Output {
    let here = env::current_exe().expect("a test has a program");
    let program = here.ancestors().nth(2).expect("a target folder").join("girih");
    let mut child = Command::new(&program)
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            panic!(
                "{}: {error}; build it with `cargo build -p girih --bins`",
                program.display()
            )
        });
    let mut stdin = child.stdin.take().expect("it is piped");
    // A program that has refused its command line reads nothing.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

/// The `mlir` blocks of a chapter, each with the line that it begins at.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match &mut open {
            None if line == "```mlir" => open = Some((number + 1, String::new())),
            None => {}
            Some(_) if line == "```" => all.extend(open.take()),
            Some((_, block)) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    all
}

#[test]
fn programs_compile_or_give_the_error_that_they_announce() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (chapter, text) in chapters() {
        for (line, block) in blocks(&text) {
            count += 1;
            let output = girih(&["compile", "-", "-o", "-"], &block);
            let said = String::from_utf8_lossy(&output.stderr);
            let good = match block.lines().next().and_then(|first| first.strip_prefix("// error: ")) {
                Some(expected) => output.status.code() == Some(1) && said.contains(expected),
                None => output.status.success(),
            };
            if !good {
                faults.push(format!("docs/{chapter}:{line}: {}\n{said}", output.status));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 0, "no chapter has a program");
}

/// The commands that make drawings, as words, each with the name of its file.
fn commands(text: &str) -> Vec<(Vec<&str>, &str)> {
    let words = |line| {
        let start = str::find(line, "girih layout ")?;
        let words: Vec<&str> = line[start..]
            .split_whitespace()
            .take_while(|word| *word != "-->")
            .collect();
        let (file, rest) = words.split_last()?;
        let name = file.strip_prefix("docs/images/")?;
        Some((rest.strip_suffix(&["-o"])?[1..].to_vec(), name))
    };
    text.lines().filter_map(words).collect()
}

#[test]
fn drawings_are_what_their_commands_draw() {
    let bless = env::var_os("GIRIH_BLESS").is_some();
    let folder = root().join("docs/images");
    let mut made = BTreeSet::new();
    let mut faults = Vec::new();
    for (chapter, text) in chapters() {
        for (mut words, name) in commands(&text) {
            words.extend(["--format", "svg"]);
            let output = girih(&words, "");
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                faults.push(format!("docs/{chapter}: girih {}: {said}", words.join(" ")));
                continue;
            }
            made.insert(name.to_owned());
            let path = folder.join(name);
            if fs::read(&path).is_ok_and(|kept| kept == output.stdout) {
                continue;
            }
            match bless {
                true => fs::write(&path, &output.stdout).expect("docs/images can be written"),
                false => faults.push(format!("docs/images/{name} differs; `cargo xtask bless` draws it anew")),
            }
        }
    }
    let kept: BTreeSet<String> = fs::read_dir(&folder)
        .expect("docs/images is there")
        .map(|entry| {
            entry
                .expect("it can be listed")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(".svg"))
        .collect();
    faults.extend(
        kept.difference(&made)
            .map(|name| format!("docs/images/{name} is made by no command")),
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(!made.is_empty(), "no chapter has a drawing");
}

#[test]
fn links_lead_somewhere() {
    let mut faults = Vec::new();
    for (chapter, text) in chapters() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if !target.contains("://") && !file.is_empty() && !root().join("docs").join(file).exists() {
                faults.push(format!("docs/{chapter}: {target} is not there"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
