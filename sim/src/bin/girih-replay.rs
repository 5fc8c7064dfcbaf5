//! `girih-replay FILE...`: replays recorded tensor-map transfers through the simulator. Exit 0 when all match, 1 when one
//! differs, 2 without files.
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        eprintln!("usage: girih-replay FILE.jsonl[.gz] ...");
        return ExitCode::from(2);
    }
    let mut out = io::stdout().lock();
    match girih_sim::replay::replay_files(&files, &mut out).and_then(|good| out.flush().map(|()| good)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot write the report: {error}");
            ExitCode::FAILURE
        }
    }
}
