//! Writes the seeds of a target into a folder: `seeds TARGET FOLDER`.

#[path = "../../../hyperdbg-mcp/tests/fuzz/seeds.rs"]
mod seeds;
#[path = "../../../hyperdbg-mcp/tests/fuzz/targets.rs"]
#[allow(dead_code)]
mod targets;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, folder] = arguments.as_slice() else {
        eprintln!("usage: seeds TARGET FOLDER");
        return ExitCode::FAILURE;
    };
    if !targets::TARGETS.iter().any(|(name, _)| name == target) {
        eprintln!("there is no target `{target}`");
        return ExitCode::FAILURE;
    }
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut seeds = seeds::of(target).into_iter().enumerate();
        seeds.try_for_each(|(at, seed)| std::fs::write(Path::new(folder).join(format!("seed-{at:04}")), seed))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{folder}: {error}");
            ExitCode::FAILURE
        }
    }
}
