//! Reading input, and writing output as a whole or not at all.
use crate::failure::{Failure, Result};
use girih_runtime::file::{is_same, read_bounded, read_program};
use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::Path,
};

/// The content of a program's file, or of standard input for `-`; longer ones than programs are refused.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        return read_bounded(io::stdin().lock())
            .map_err(|e| Failure::new(format!("standard input cannot be read: {}", words(&e))));
    }
    read_program(path).map_err(|e| Failure::file(path, format_args!("cannot be read: {}", words(&e))))
}

/// Refuses a file that MLIR's own reader would read without an end, or take too much memory for: what is longer than a
/// program, and bytecode that is corrupt. A file that is not there is left to the reader, and so is a pipe, which can be read
/// once only.
pub fn check_readable(path: &Path) -> Result<()> {
    let Ok(found) = fs::metadata(path) else { return Ok(()) };
    let is_device = !found.is_file() && !found.is_dir() && !is_pipe(&found);
    if !(found.is_file() || is_device && !is_terminal(path)) {
        return Ok(());
    }
    crate::bytecode::check(&read(path)?, &name_of(path))
}

#[cfg(unix)]
fn is_pipe(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_fifo() || found.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

fn is_terminal(path: &Path) -> bool {
    fs::File::open(path).is_ok_and(|file| file.is_terminal())
}

/// The name that locations carry: the path as given, or `<stdin>`.
pub fn name_of(path: &Path) -> String {
    match path == Path::new("-") {
        true => "<stdin>".to_owned(),
        false => path.to_string_lossy().into_owned(),
    }
}

/// Whether the content is PTX: its first line outside comments is the version.
pub fn is_ptx(content: &[u8]) -> bool {
    let mut lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
    lines
        .find(|line| !line.is_empty() && !line.starts_with(b"//"))
        .is_some_and(|line| line.starts_with(b".version"))
}

/// Writes a file, or standard output for `-`. Whoever reads the file meanwhile sees all of the old content or all of the
/// new; a failure leaves the old.
pub fn write(path: &Path, content: &[u8]) -> Result<()> {
    let fail = |e: io::Error| Failure::file(path, format_args!("cannot be written: {}", words(&e)));
    if path == Path::new("-") {
        return to_stdout(content);
    }
    // A link stays a link, and its target is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
        // Pipes and devices are written into.
        Ok(found) if !found.is_file() => {
            return fs::OpenOptions::new()
                .write(true)
                .open(&target)
                .and_then(|mut file| file.write_all(content))
                .map_err(fail);
        }
        _ => {}
    }
    let folder = target
        .parent()
        .filter(|parent| *parent != Path::new(""))
        .unwrap_or(Path::new("."));
    fs::metadata(folder).map_err(fail)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".girih-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The user's own mask takes away from it, as for any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(fail)?;
    file.write_all(content).map_err(fail)?;
    file.persist(&target).map_err(|e| fail(e.error))?;
    Ok(())
}

/// Writes to standard output. A reader that has seen enough is no error.
pub fn to_stdout(content: &[u8]) -> Result<()> {
    girih_runtime::file::to_stdout(content)
        .map_err(|e| Failure::new(format!("standard output cannot be written: {}", words(&e))))
}

/// Refuses output that would replace what is read.
pub fn keep(input: &Path, output: &Path) -> Result<()> {
    match output != Path::new("-") && is_same(input, output) {
        true => Err(Failure::usage(format!(
            "{}: would replace {}, which is read; write to another file",
            output.display(),
            name_of(input)
        ))),
        false => Ok(()),
    }
}

/// A system error without its number: `No such file or directory`.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    // Of a temporary file only the cause is told: nobody knows its name.
    let text = text.split(" at path ").next().unwrap_or(&text);
    text.split(" (os error").next().unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_begins_with_its_version() {
        assert!(is_ptx(b"// girih manifest 1\n// {}\n\n  .version 8.6\n"));
        assert!(!is_ptx(b"// .version 8.6\nmodule {}\n"));
        assert!(!is_ptx(b"// girih manifest 1"));
    }

    #[test]
    fn content_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.ptx");
        for content in [&b"long content"[..], b"short"] {
            write(&path, content).unwrap();
            assert_eq!(fs::read(&path).unwrap(), content);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(folder.path(), b"").unwrap_err().to_string();
        assert!(error.ends_with("cannot be written: is a directory"), "{error}");
        let error = write(&folder.path().join("no/such/file"), b"").unwrap_err().to_string();
        assert!(error.contains("no/such/file: cannot be written: "), "{error}");
        assert!(
            read(&folder.path().join("none"))
                .unwrap_err()
                .to_string()
                .ends_with("No such file or directory")
        );
    }
}
