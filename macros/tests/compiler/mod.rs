//! Runs cases that a cargo compiles at run time.
//!
//! Where the tests were built on another system (for Windows, run under wine) there is none that fits; the tests then
//! count as ignored, and a line says why.
#![allow(clippy::print_stderr, reason = "people are to see it")]

use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};

/// Adds the cases of one test: patterns of what must be refused, or accepted.
type Add = fn(&trybuild::TestCases);

/// The `main` of a test program: each test with its name.
pub(crate) fn run(cases: Vec<(&str, Add)>) -> ExitCode {
    let cargo = cargo_of_this_system();
    if let Err(why) = &cargo {
        eprintln!("note: the cases cannot be compiled here: {why}");
    }
    let trials = cases
        .into_iter()
        .map(|(name, add)| {
            let test = move || {
                // Compiles and compares as it is dropped, and panics when a case fails.
                add(&trybuild::TestCases::new());
                Ok(())
            };
            Trial::test(name, test).with_ignored_flag(cargo.is_err())
        })
        .collect();
    // One after the other: they share the folder in which they compile.
    let arguments = Arguments {
        test_threads: Some(1),
        ..Arguments::from_args()
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Whether the cargo that runs this test compiles for the system on which it runs; else why not.
fn cargo_of_this_system() -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(&cargo)
        .args(["--version", "--verbose"])
        .output()
        .map_err(|error| format!("{} does not start: {error}", cargo.display()))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let host = told
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap_or("unknown");
    match host.contains(std::env::consts::OS) || cfg!(target_os = "macos") && host.contains("darwin") {
        true => Ok(()),
        false => Err(format!("{} is for {host}", cargo.display())),
    }
}
