//! Recorded hardware behaviour, done again by the simulator and compared byte by byte.
//!
//! A record file holds one JSON object a line, gzip'ed where its name ends in `.gz`; `tests/hw/README.md` says what the
//! fields mean.
//!
//! | records | a case matches when |
//! |---|---|
//! | transfers of tensor maps | the map is accepted or refused as the driver did, the same fault comes, the same bytes change and no others, and the mbarrier gets the same transaction bytes |
//! | products of tensor cores | every result register or byte is the same |
//! | accesses of a warp to shared memory | they take as many wavefronts, and as many of those are conflicts |
mod banks;
mod pattern;
mod product;
mod transfer;

use flate2::read::GzDecoder;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A record file that cannot be replayed at all.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line is not a record.
    #[error("{}:{line}: not a record: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

/// What came of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Cases that the file holds.
    pub cases: usize,
    /// Cases in which the simulator did what the hardware did.
    pub matches: usize,
    /// The first case that differs, in words.
    pub first_difference: Option<String>,
}

/// Replays each file, writes `FILE: N of M match` for it and the first difference below, and says whether all matched.
pub fn replay_files(files: &[PathBuf], out: &mut dyn Write) -> io::Result<bool> {
    let mut good = true;
    for path in files {
        match replay_file(path) {
            Ok(outcome) => {
                writeln!(
                    out,
                    "{}: {} of {} match",
                    path.display(),
                    outcome.matches,
                    outcome.cases
                )?;
                if let Some(difference) = &outcome.first_difference {
                    writeln!(out, "  first difference: {difference}")?;
                }
                good &= outcome.matches == outcome.cases && outcome.cases > 0;
            }
            Err(error) => {
                writeln!(out, "{error}")?;
                good = false;
            }
        }
    }
    Ok(good)
}

/// Replays one file.
pub fn replay_file(path: &Path) -> Result<Outcome, ReplayError> {
    let read = |source| ReplayError::Read {
        path: path.into(),
        source,
    };
    let file = File::open(path).map_err(read)?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|e| e == "gz") {
        Box::new(GzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut outcome = Outcome::default();
    for (i, line) in BufReader::new(reader).lines().enumerate() {
        let line = line.map_err(read)?;
        if line.trim().is_empty() {
            continue;
        }
        let parse = |message: String| ReplayError::Parse {
            path: path.into(),
            line: i + 1,
            message,
        };
        let difference = difference(&line).map_err(parse)?;
        outcome.cases += 1;
        match difference {
            None => outcome.matches += 1,
            Some(difference) => {
                outcome
                    .first_difference
                    .get_or_insert(format!("line {}, {difference}", i + 1));
            }
        }
    }
    Ok(outcome)
}

/// What the simulator does differently from the record in `line`, or why `line` is no record.
fn difference(line: &str) -> Result<Option<String>, String> {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    let Kind { kind } = serde_json::from_str(line).map_err(|error| error.to_string())?;
    match kind.as_str() {
        "mma" | "wgmma" | "wmma" => product::difference(line),
        "banks" => banks::difference(line),
        "size limit" => transfer::size_limit_difference(line),
        _ => transfer::difference(line),
    }
}

/// The first byte that differs, in words.
fn bytes_difference(what: &str, found: &[u8], expected: &[u8]) -> Option<String> {
    let count = found.iter().zip(expected).filter(|(f, e)| f != e).count();
    let at = found.iter().zip(expected).position(|(f, e)| f != e)?;
    Some(format!(
        "{what} at byte {at} is {:#04x}, recorded was {:#04x}; {count} of {} bytes differ",
        found[at],
        expected[at],
        expected.len()
    ))
}

/// The bytes that hexadecimal digits spell.
fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digit = |b: u8| {
        char::from(b)
            .to_digit(16)
            .ok_or_else(|| format!("`{}` is no hexadecimal digit", char::from(b)))
    };
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Ok((digit(*high)? << 4 | digit(*low)?) as u8),
            _ => Err("an odd number of hexadecimal digits".to_string()),
        })
        .collect()
}
