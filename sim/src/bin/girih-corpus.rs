//! `girih-corpus DIR [NAME]`: replays recorded kernel launches through the simulator. Exit 0 when all match, 1 when one
//! differs, 2 without a folder.
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: girih-corpus DIR [NAME]");
        return ExitCode::from(2);
    };
    let filter = arguments.next().unwrap_or_default();
    match girih_sim::corpus::run(&folder, &filter.to_string_lossy()) {
        Ok(report) => {
            println!("{report}");
            if report.complete() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
