//! Reading a program as a whole, and no more of it than a program can have; and what output may not do: replace an input,
//! or be lost unnoticed.
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::Path,
};

/// Longest program that is read, as text or bytecode. What is longer is no program: a device without an end, or data.
pub const MOST_PROGRAM_BYTES: u64 = 256 << 20;

/// The content of a file or a pipe, of at most [`MOST_PROGRAM_BYTES`].
///
/// Errors: those of the system; a folder; more bytes.
pub fn read_program(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, MOST_PROGRAM_BYTES, PROGRAM)
}

/// The same of an open pipe.
pub fn read_bounded(from: impl Read) -> io::Result<Vec<u8>> {
    take_at_most(from, MOST_PROGRAM_BYTES, PROGRAM)
}

const PROGRAM: &str = "a program";

/// The content of a file or a pipe of at most `most` bytes, whole MiB; `what` it is for the error of a longer one.
pub(crate) fn read_at_most(path: &Path, most: u64, what: &str) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    match file.metadata()?.len() {
        bytes if bytes > most => Err(too_long(most, what, &format!("has {bytes} bytes"))),
        _ => take_at_most(file, most, what),
    }
}

fn take_at_most(from: impl Read, most: u64, what: &str) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    from.take(most + 1).read_to_end(&mut content)?;
    match content.len() as u64 > most {
        true => Err(too_long(most, what, "does not end there")),
        false => Ok(content),
    }
}

fn too_long(most: u64, what: &str, found: &str) -> io::Error {
    io::Error::new(
        ErrorKind::FileTooLarge,
        format!(
            "{what} has at most {} MiB, and this {found}; give the file of {what}",
            most >> 20
        ),
    )
}

/// Whether both name one regular file, through links too; `-` is whatever standard input reads. Pipes and devices can be
/// read and written at once.
pub fn is_same(input: &Path, output: &Path) -> bool {
    let input = match input == Path::new("-") {
        true => Path::new("/dev/stdin"),
        false => input,
    };
    let (Ok(from), Ok(to)) = (fs::metadata(input), fs::metadata(output)) else {
        return false;
    };
    from.is_file() && to.is_file() && is_same_file((input, &from), (output, &to))
}

#[cfg(unix)]
fn is_same_file((_, from): (&Path, &fs::Metadata), (_, to): (&Path, &fs::Metadata)) -> bool {
    use std::os::unix::fs::MetadataExt;
    (from.dev(), from.ino()) == (to.dev(), to.ino())
}

#[cfg(not(unix))]
fn is_same_file((input, _): (&Path, &fs::Metadata), (output, _): (&Path, &fs::Metadata)) -> bool {
    matches!((input.canonicalize(), output.canonicalize()), (Ok(from), Ok(to)) if from == to)
}

/// Writes all of it to standard output. A reader that has seen enough is no error.
pub fn to_stdout(content: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(content).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let endless = read_bounded(io::repeat(0)).unwrap_err().to_string();
        assert_eq!(
            endless,
            "a program has at most 256 MiB, and this does not end there; give the file of a program"
        );
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_program(folder.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        let long = folder.path().join("long");
        File::create(&long).unwrap().set_len(MOST_PROGRAM_BYTES + 1).unwrap();
        let text = read_program(&long).unwrap_err().to_string();
        assert!(text.contains("and this has 268435457 bytes"), "{text}");
        std::fs::write(&long, "text").unwrap();
        assert_eq!(read_program(&long).unwrap(), b"text");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_the_same_through_links_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "b"] {
            std::fs::write(at(name), "text").unwrap();
        }
        std::fs::create_dir(at("d")).unwrap();
        std::os::unix::fs::symlink(at("a"), at("soft")).unwrap();
        std::fs::hard_link(at("a"), at("hard")).unwrap();
        for same in ["a", "soft", "hard", "d/../a"] {
            assert!(is_same(&at("a"), &at(same)), "{same}");
        }
        for other in ["b", "d", "none"] {
            assert!(!is_same(&at("a"), &at(other)), "{other}");
        }
        assert!(!is_same(Path::new("/dev/null"), Path::new("/dev/null")));
    }
}
