//! The audit log of the real program: kept through a kill, verified from outside, and demanded for what changes things.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use hyperdbg_mcp_tests::{Client, Protocol, program};
use serde_json::{Value, json};

const CALLS: u64 = 10_000;
/// The call at whose answer the server is killed, with others in flight.
const KILLED_AT: u64 = 5_000;
/// Calls that are sent before the answer of the first of them is read.
const IN_FLIGHT: u64 = 50;

fn start(log: &Path, more: &[&str], environment: &[(&str, &str)]) -> Client {
    let log = log.to_str().expect("text");
    let mut arguments = vec!["--simulator", "--audit", log];
    arguments.extend(more);
    let mut client = Client::start_raw(Protocol::V2025November, &arguments, environment);
    client.handshake();
    client
}

fn audit(arguments: &[&str]) -> Output {
    Command::new(program())
        .arg("audit")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

fn verify(log: &Path) -> (Option<i32>, String) {
    let output = audit(&["verify", log.to_str().expect("text")]);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text.into_owned())
}

fn records(log: &Path) -> Vec<Value> {
    let output = audit(&["show", "--json", log.to_str().expect("text")]);
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record is JSON"))
        .collect()
}

fn count(records: &[Value], kind: &str, tool: &str) -> u64 {
    records
        .iter()
        .filter(|record| record["kind"] == kind && record["tool"] == tool)
        .count() as u64
}

fn send(client: &mut Client) -> u64 {
    client.send(
        "tools/call",
        json!({"name": "hd_session_status", "arguments": {}}),
    )
}

/// Makes calls `from..to`, many of them in flight at once.
fn calls(client: &mut Client, from: u64, to: u64) {
    let mut sent = Vec::new();
    let mut ids = (from..to).map(|_| ());
    loop {
        while (sent.len() as u64) < IN_FLIGHT && ids.next().is_some() {
            sent.push(send(client));
        }
        if sent.is_empty() {
            return;
        }
        for id in sent.drain(..) {
            client.wait(id);
        }
    }
}

#[test]
fn ten_thousand_calls_with_a_kill_in_the_middle_leave_a_log_that_verifies() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("audit.jsonl");
    let mut client = start(&log, &[], &[]);
    calls(&mut client, 0, KILLED_AT);
    for _ in 0..IN_FLIGHT {
        send(&mut client);
    }
    // Dropping kills at once (SIGKILL), with calls being recorded.
    drop(client);

    let (code, text) = verify(&log);
    assert_eq!(code, Some(0), "{text}");
    let before = records(&log);
    assert!(count(&before, "outcome", "hd_session_status") >= KILLED_AT);

    let mut client = start(&log, &[], &[]);
    calls(&mut client, KILLED_AT, CALLS);
    assert!(client.finish(Duration::from_secs(20)).success());
    let (code, text) = verify(&log);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("did not end in order"), "{text}");
    let all = records(&log);
    assert!(count(&all, "outcome", "hd_session_status") >= CALLS);
    let recovered: Vec<&Value> = all
        .iter()
        .filter(|record| record["kind"] == "recovered")
        .collect();
    assert_eq!(recovered.len(), 1);
    let unfinished = recovered[0]["unfinished"].as_array().expect("a list").len() as u64;
    let open = count(&before, "intent", "hd_session_status") - count(&before, "outcome", "hd_session_status");
    assert_eq!(unfinished, open);
    assert_eq!(all.last().expect("records")["kind"], "end");
}

#[test]
fn an_altered_log_is_told_with_its_place_and_a_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("audit.jsonl");
    let mut client = start(&log, &[], &[]);
    calls(&mut client, 0, 5);
    assert!(client.finish(Duration::from_secs(20)).success());
    let text = std::fs::read_to_string(&log).expect("a log");
    let lines: Vec<&str> = text.lines().collect();
    type Tampering<'a> = (&'a str, Vec<String>, &'a str);
    let owned = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<String>>()
    };
    let without = [&lines[..4], &lines[5..]].concat();
    let mut changed = owned(&lines);
    changed[4] = changed[4].replace("hd_session_status", "hd_session_closed");
    let mut swapped = owned(&lines);
    swapped.swap(4, 5);
    let appended = [&lines[..], &lines[1..2]].concat();
    let cases: [Tampering<'_>; 5] = [
        ("deleted", owned(&without), "audit.jsonl:5: "),
        ("changed", changed, "audit.jsonl:5: "),
        ("swapped", swapped, "audit.jsonl:6: "),
        ("truncated", owned(&lines[..lines.len() - 1]), "cut off its end"),
        ("appended", owned(&appended), "put in"),
    ];
    for (how, lines, place) in cases {
        std::fs::write(&log, lines.join("\n") + "\n").expect("written");
        let (code, text) = verify(&log);
        assert_eq!(code, Some(1), "{how}: {text}");
        assert!(text.contains(place), "{how}: {text}");
    }
    assert_eq!(verify(&folder.path().join("none")).0, Some(2));
    assert_eq!(audit(&["verify"]).status.code(), Some(2));
}

#[test]
fn every_kind_of_call_is_recorded_without_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("audit.jsonl");
    let secret = "sk-0123456789-very-secret";
    let environment = [
        ("LAB_API_TOKEN", secret),
        ("OTHER", "another-secret-value"),
        ("HYPERDBG_MCP_MASK_ENV", "OTHER"),
    ];
    let mut client = start(&log, &["--read-only"], &environment);
    let answer = client.call(
        "hd_mod_list",
        json!({"filter": format!("{secret} another-secret-value")}),
    );
    assert!(!answer.is_error());
    let answer = client.call("hd_reg_read", json!({"register": "none"}));
    assert!(answer.is_error());
    assert!(
        client
            .call("hd_mem_write", json!({"address": "0x1000", "bytes": "90"}))
            .is_error()
    );
    let refused = client.refused("tools/call", json!({"name": "hd_no_such", "arguments": {}}));
    assert!(refused["message"].as_str().is_some());
    assert!(client.finish(Duration::from_secs(20)).success());

    let records = records(&log);
    let outcomes: Vec<(&str, &str)> = records
        .iter()
        .filter(|record| record["kind"] == "outcome")
        .map(|record| {
            let word = |name: &str| record[name].as_str().expect("text");
            (word("tool"), word("outcome"))
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("hd_mod_list", "ok"),
            ("hd_reg_read", "invalid_argument"),
            ("hd_mem_write", "policy_denied"),
            ("hd_no_such", "unknown_tool"),
        ]
    );
    let refused = records
        .iter()
        .find(|record| record["kind"] == "intent" && record["tool"] == "hd_mem_write")
        .expect("an intent");
    assert_eq!(refused["decision"], "refused");
    assert!(refused["reason"].as_str().expect("a reason").contains("tier"));
    let read = records
        .iter()
        .find(|record| record["kind"] == "intent" && record["tool"] == "hd_reg_read")
        .expect("an intent");
    assert_eq!(
        (&read["mode"], &read["tier"]),
        (&json!("debugger"), &json!("read"))
    );
    assert!(read["worker_pid"].as_u64().is_some());
    let text = std::fs::read_to_string(&log).expect("a log");
    assert!(
        !text.contains(secret) && !text.contains("another-secret-value"),
        "{text}"
    );
    assert!(text.contains("[masked] [masked]"), "{text}");
}

#[test]
fn without_a_writable_log_only_what_observes_is_done() {
    let folder = tempfile::tempdir().expect("a folder");
    // A folder stands where the file should be.
    let mut client = start(folder.path(), &["--allow-writes", "--confirm", "never"], &[]);
    let rip = client.call("hd_reg_read", json!({"register": "rip"})).fields()["value"].clone();
    let refused = client.call("hd_mem_write", json!({"address": rip, "bytes": "90"}));
    assert!(refused.is_error(), "{}", refused.text());
    assert!(
        refused.text().contains("audit log cannot be written"),
        "{}",
        refused.text()
    );
    let stderr = client.stderr_so_far();
    assert!(stderr.contains("calls cannot be recorded"), "{stderr}");
    assert_eq!(stderr.matches("go on unrecorded").count(), 1, "{stderr}");
}

#[test]
fn the_log_is_named_at_start_and_two_servers_keep_one_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().to_str().expect("text");
    let environment = [
        ("XDG_STATE_HOME", state),
        ("LOCALAPPDATA", state),
        ("HYPERDBG_MCP_AUDIT", ""),
    ];
    let mut named = Vec::new();
    let mut clients = Vec::new();
    for _ in 0..2 {
        let mut client = Client::start_raw(Protocol::V2025November, &["--simulator"], &environment);
        client.handshake();
        let stderr = client.stderr_so_far();
        let path = stderr
            .lines()
            .find_map(|line| line.split_once("calls are recorded in "))
            .map(|(_, path)| path.to_owned())
            .unwrap_or_else(|| panic!("{stderr}"));
        named.push(path);
        clients.push(client);
    }
    assert_ne!(named[0], named[1]);
    for client in clients {
        assert!(client.finish(Duration::from_secs(20)).success());
    }
    for path in named {
        assert!(verify(Path::new(&path)).0 == Some(0), "{path}");
    }
}
