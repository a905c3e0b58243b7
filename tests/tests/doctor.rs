//! The doctor, with nothing to find, with rubbish, and with the simulator as a library.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use hyperdbg_mcp_tests::{program, simulator_library};
use serde_json::Value;

const FILE_NAME: &str = if cfg!(windows) {
    "libhyperdbg.dll"
} else {
    "libhyperdbg.so"
};

/// Runs the doctor in a folder that is the current one, in the search path as a relative entry, and home to nothing.
fn doctor(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.arg("doctor").args(arguments);
    command
        .env_remove("HYPERDBG_LIBRARY")
        .env("PATH", std::env::join_paths(["", "."]).expect("no separators"))
        .env("XDG_CONFIG_HOME", folder)
        .current_dir(folder)
        .stdin(Stdio::null());
    command.output().expect("the program runs")
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("the report is JSON")
}

fn level<'a>(report: &'a Value, id: &str) -> Option<&'a str> {
    let findings = report["findings"].as_array().expect("a list");
    findings.iter().find(|finding| finding["id"] == id)?["level"].as_str()
}

#[test]
fn a_text_file_of_the_librarys_name_is_a_problem_and_no_crash() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(FILE_NAME);
    std::fs::write(&file, "This is a note.\n").expect("written");
    let output = doctor(folder.path(), &["--library", file.to_str().expect("text")]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("a text file"), "{shown}");
}

#[test]
fn a_library_in_the_current_folder_is_not_considered() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(simulator_library(), folder.path().join(FILE_NAME)).expect("copied");
    let output = doctor(folder.path(), &["--json"]);
    let report = report(&output);
    let here = folder.path().to_str().expect("text");
    let candidates = report["candidates"].as_array().expect("a list");
    assert!(!candidates.is_empty());
    for candidate in candidates {
        let path = candidate["path"].as_str().expect("a path");
        assert!(Path::new(path).is_absolute() && !path.starts_with(here), "{path}");
    }
}

#[test]
fn the_simulator_as_a_library_loads_in_a_folder_with_spaces_and_foreign_letters() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("Hyper Dbg ü 日本");
    std::fs::create_dir(&folder).expect("made");
    std::fs::copy(simulator_library(), folder.join(FILE_NAME)).expect("copied");
    let named = folder.to_str().expect("text");
    let output = doctor(
        root.path(),
        &["--json", "--allow-writable-folder", "--library", named],
    );
    let report = report(&output);
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    assert_eq!(report["library"]["simulator"], true);
    assert_eq!(report["library"]["present"], 73);
    assert_eq!(level(&report, "library"), Some("ok"));
    assert_eq!(level(&report, "library.simulator"), Some("warning"));
    assert_eq!(level(&report, "library.load"), Some("ok"), "{report:#}");
}

#[test]
fn the_built_in_simulator_is_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = doctor(folder.path(), &["--simulator", "--json"]);
    let report = report(&output);
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    assert_eq!(level(&report, "library.load"), Some("ok"));
}

#[test]
fn a_command_line_that_cannot_be_understood_ends_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(doctor(folder.path(), &["--no-such-flag"]).status.code(), Some(2));
}
