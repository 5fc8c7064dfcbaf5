//! Replays recorded kernels: `corpus DIR [FILTER]`.
fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: corpus DIR [FILTER]");
        return std::process::ExitCode::FAILURE;
    };
    match girih_sim::corpus::run(folder.as_ref(), &arguments.next().unwrap_or_default()) {
        Ok(report) => {
            for o in &report.outcomes {
                if o.seconds > 0.5 {
                    println!("{}: {} warp instructions in {:.2} s", o.name, o.instructions, o.seconds);
                }
            }
            println!("{report}");
            if report.complete() {
                std::process::ExitCode::SUCCESS
            } else {
                std::process::ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}
