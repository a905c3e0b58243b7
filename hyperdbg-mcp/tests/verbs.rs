//! The verbs of the command line.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod process;

use std::process::Output;

use process::program;
use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_demo_goes_as_it_should() {
    let output = run(&["demo"]);
    assert!(
        output.status.success(),
        "{}\n{}",
        stdout(&output),
        stderr(&output)
    );
    let text = stdout(&output);
    for part in [
        "rip",
        "hd_mem_disassemble",
        "stopped at breakpoint",
        "Took 3 steps",
        "policy_denied",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(stderr(&output), "");
}

#[test]
fn one_call_prints_its_result_and_tells_by_its_exit_code() {
    let output = run(&[
        "call",
        "hd_mem_read",
        r#"{"address": "0xfffff80330000000", "size": 16}"#,
        "--simulator",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("fffff80330000000  4d 5a"),
        "{}",
        stdout(&output)
    );
    let output = run(&[
        "--simulator",
        "call",
        "--json",
        "hd_reg_read",
        r#"{"register": "rip"}"#,
    ]);
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(result["structuredContent"]["register"], "rip");

    let output = run(&["--simulator", "call", "hd_mem_read", r#"{"address": "0x10"}"#]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).starts_with("error: unreadable"),
        "{}",
        stdout(&output)
    );
    let output = run(&["--simulator", "call", "hd_mem_write", "{}"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("`address` is missing"),
        "{}",
        stdout(&output)
    );
    let write = r#"{"register": "rax", "value": "0x1"}"#;
    let output = run(&["--simulator", "call", "hd_reg_write", write]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("--allow hd_reg_write"),
        "{}",
        stdout(&output)
    );

    for usage in [
        &["--simulator", "call", "hd_mem_raed"][..],
        &["--simulator", "call", "hd_mem_read", "[]"],
        &["--simulator", "call", "hd_mem_read", "{"],
        &["--simulator", "call"],
        &["--nothing"],
    ] {
        let output = run(usage);
        assert_eq!(output.status.code(), Some(2), "{usage:?}");
        assert_eq!(stdout(&output), "", "{usage:?}");
        assert!(!stderr(&output).is_empty());
    }
}

#[test]
fn the_list_of_tools_needs_no_library_and_takes_the_serving_flags() {
    let count = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success());
        let list: Value = serde_json::from_str(&stdout(&output)).unwrap();
        list["tools"].as_array().unwrap().len()
    };
    let default = count(&["tools", "--json"]);
    let read_only = count(&["--read-only", "tools", "--json"]);
    let all = count(&[
        "tools",
        "--simulator",
        "--tools",
        "all",
        "--allow-writes",
        "--json",
    ]);
    assert!(read_only < default && default < all);
    assert_eq!(
        count(&["tools", "--json", "--allow-writes", "--read-only"]),
        read_only
    );
    let output = program()
        .env("HYPERDBG_MCP_TOOLS", "all")
        .env("HYPERDBG_MCP_ALLOW_WRITES", "true")
        .args(["tools", "--json"])
        .output()
        .unwrap();
    let list: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(list["tools"].as_array().unwrap().len(), all);
    let text = stdout(&run(&["tools"]));
    assert!(
        text.contains("hd_mem_read") && text.contains("with --tools hardware"),
        "{text}"
    );
}

#[test]
fn the_version_names_the_sdk() {
    let text = stdout(&run(&["--version"]));
    assert!(
        text.starts_with(&format!("hyperdbg-mcp {}", env!("CARGO_PKG_VERSION"))),
        "{text}"
    );
    assert!(text.contains("HyperDbg SDK 0."), "{text}");
}

#[test]
fn a_library_that_is_not_there_is_a_loud_error_that_lists_the_places() {
    let folder = tempfile::tempdir().unwrap();
    let output = program().env("PATH", folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "");
    let text = stderr(&output);
    assert!(
        text.contains(folder.path().to_str().unwrap()) && text.contains("--simulator"),
        "{text}"
    );
    let output = run(&["--library", "/nowhere/at/all"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("nowhere"), "{}", stderr(&output));
}

#[test]
fn a_file_that_is_no_library_is_refused_before_anything_is_served() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let output = run(&[
        "--library",
        path,
        "--allow-writable-folder",
        "call",
        "--json",
        "hd_mod_list",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains(path), "{}", stderr(&output));
}
