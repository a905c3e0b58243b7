//! The program as people and scripts use it.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use hyperdbg_mcp_tests::{Client, Protocol, program};
use serde_json::{Value, json};

fn run(arguments: &[&str]) -> Output {
    Command::new(program())
        .args(arguments)
        .env_remove("HYPERDBG_LIBRARY")
        .env("HYPERDBG_MCP_AUDIT", "off")
        .env("HYPERDBG_MCP_STATE", "off")
        .env("PATH", "")
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_demo_shows_a_whole_session() {
    let output = run(&["demo"]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{shown}\n{}", text(&output.stderr));
    for word in ["rip", "breakpoint", "policy_denied", "hd_mem_disassemble"] {
        assert!(shown.contains(word), "the demo does not show {word}:\n{shown}");
    }
}

#[test]
fn the_version_names_the_sdk() {
    let output = run(&["--version"]);
    assert!(output.status.success());
    let catalog: serde_json::Value =
        serde_json::from_str(include_str!("../../api/mcp_api_meta.json")).unwrap();
    let version = catalog["sdk_version"].as_str().unwrap();
    assert!(text(&output.stdout).contains(version), "{}", text(&output.stdout));
}

#[test]
fn a_library_that_is_nowhere_is_an_error_that_lists_the_places() {
    let output = run(&["call", "hd_session_status"]);
    assert!(!output.status.success());
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    let shown = text(&output.stderr);
    assert!(
        shown.contains("libhyperdbg") && shown.contains("--simulator"),
        "{shown}"
    );
}

#[test]
fn one_call_answers_as_text_or_json() {
    let arguments = ["call", "hd_reg_read", r#"{"register": "rip"}"#, "--simulator"];
    let output = run(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("rip = 0x"),
        "{}",
        text(&output.stdout)
    );
    let output = run(&[&arguments[..], &["--json"]].concat());
    let value: Value = serde_json::from_slice(&output.stdout).expect("--json prints JSON");
    assert!(value.to_string().contains("\"rip\""), "{value}");
}

#[test]
fn a_call_that_nobody_can_confirm_says_which_flag_allows_it() {
    let output = run(&[
        "call",
        "hd_reg_write",
        r#"{"register": "rax", "value": "0x1"}"#,
        "--simulator",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(
        shown.contains("not_confirmed") && shown.contains("--allow hd_reg_write"),
        "{shown}"
    );
}

#[test]
fn wrong_usage_is_told_apart_from_a_failed_call() {
    assert_eq!(
        run(&["call", "hd_mem_read", "not json", "--simulator"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(run(&["--no-such-flag"]).status.code(), Some(2));
}

#[test]
fn the_list_of_tools_follows_the_serving_flags() {
    let output = run(&[
        "tools",
        "--simulator",
        "--tools",
        "all",
        "--allow-writes",
        "--json",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let listed: Value = serde_json::from_slice(&output.stdout).expect("--json prints JSON");
    let served = Client::start(
        Protocol::V2025November,
        &["--simulator", "--tools", "all", "--allow-writes"],
    )
    .tools();
    let listed = listed
        .get("tools")
        .unwrap_or(&listed)
        .as_array()
        .cloned()
        .expect("a list");
    let names = |tools: &[Value]| tools.iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(&listed), names(&served));
}

#[test]
fn the_server_leaves_at_the_end_of_its_input_also_during_a_call() {
    let mut client = Client::start(Protocol::V2025November, &["--simulator", "--allow-writes"]);
    client.call("hd_reg_read", json!({"register": "rip"})).fields();
    client.send(
        "tools/call",
        json!({"name": "hd_exec_command", "arguments": {"command": "!sim hang"}}),
    );
    std::thread::sleep(Duration::from_millis(300));
    client.finish(Duration::from_secs(20));
}

#[test]
fn carriage_returns_and_a_byte_order_mark_are_accepted() {
    let mut client = Client::start_raw(Protocol::V2025November, &["--simulator"], &[]);
    client.send_line(
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"x\",\"version\":\"1\"}}}\r",
    );
    assert_eq!(client.wait(77)["result"]["protocolVersion"], "2025-11-25");
    client.send_line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r");
    assert!(!client.tools().is_empty());
}

#[test]
fn what_is_no_message_is_survived() {
    let mut client = Client::start_raw(Protocol::V2025November, &["--simulator"], &[]);
    client.send_line("this is not JSON");
    client.notify("notifications/cancelled", json!({"requestId": 5}));
    client.handshake();
    client.send_line("{\"jsonrpc\":\"2.0\",\"id\":12,\"result\":{}}");
    assert!(!client.tools().is_empty());
}

#[test]
fn calls_without_the_right_form_are_refused_as_such() {
    let mut client = Client::start(Protocol::V2025November, &["--simulator"]);
    let error = client.refused("tools/call", json!({"name": "hd_reg_read", "arguments": [1]}));
    assert_eq!(error["code"], -32602, "{error}");
    let error = client.refused("tools/call", json!({"arguments": {}}));
    assert_eq!(error["code"], -32602, "{error}");
    let error = client.refused("tools/call", json!({"name": "hd_reg_raed", "arguments": {}}));
    assert!(
        error["message"]
            .as_str()
            .expect("a message")
            .contains("hd_reg_read"),
        "{error}"
    );
}
