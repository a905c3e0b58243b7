//! Several sessions, events with budgets and the log, over stdio and the simulator.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::time::{Duration, Instant};

use hyperdbg_mcp_tests::{Client, Protocol};
use serde_json::{Value, json};

fn client() -> Client {
    Client::start(
        Protocol::V2025November,
        &["--simulator", "--allow-writes", "--tools", "all"],
    )
}

fn rip(client: &mut Client) -> Value {
    client.call("hd_reg_read", json!({"register": "rip"})).fields()["value"].clone()
}

#[test]
fn a_hung_session_does_not_slow_the_others() {
    let mut client = client();
    rip(&mut client);
    for _ in 0..2 {
        client
            .call(
                "hd_session_open",
                json!({"mode": "debugger", "pipe": r"\\.\pipe\HyperDbgPipe"}),
            )
            .fields();
    }
    // s1 hangs; its answer comes much later, and nobody waits for it.
    client.send(
        "tools/call",
        json!({"name": "hd_exec_command", "arguments": {"command": "!sim hang", "session_id": "s1"}}),
    );
    std::thread::sleep(Duration::from_millis(100));
    let started = Instant::now();
    for turn in 0..100 {
        let id = if turn % 2 == 0 { "s2" } else { "s3" };
        let answer = client.call("hd_reg_read", json!({"register": "rip", "session_id": id}));
        assert!(
            answer.fields()["session"]
                .as_str()
                .expect("a stamp")
                .starts_with(id)
        );
    }
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    let status = client.call("hd_session_status", json!({"session_id": "s1"}));
    assert_eq!(status.fields()["in_flight"]["function"], "hyperdbg_u_run_command");
}

#[test]
fn an_event_that_says_too_much_is_disabled_with_the_budget_that_ended_it() {
    let mut client = client();
    let here = rip(&mut client);
    let set = client.call(
        "hd_event_set",
        json!({"event": "epthook", "value": here, "script": "printf(\"hit %llx\\n\", @rip);", "max_hits": 100}),
    );
    let id = set.fields()["id"].clone();
    client.call("hd_exec_continue", json!({})).fields();
    // The budget halts the debuggee to disable the event; that stop is told like any other.
    let stop = client.call("hd_exec_wait", json!({"timeout_ms": 20_000}));
    assert_eq!(stop.fields()["state"], "stopped", "{}", stop.text());
    let until = Instant::now() + Duration::from_secs(10);
    let row = loop {
        let list = client.call("hd_event_list", json!({}));
        let row = list.fields()["events"][0].clone();
        if row["ended_by"].is_string() || Instant::now() > until {
            break row;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(
        (&row["id"], &row["enabled"], &row["ended_by"]),
        (&id, &json!(false), &json!("max_hits")),
        "{row}"
    );
    assert!(row["hits"].as_u64() >= Some(100), "{row}");
    let log = client.call("hd_event_read", json!({"filter": "HIT", "limit": 1}));
    assert_eq!(log.fields()["records"][0]["sequence"], 1, "{}", log.text());
    // The session is usable, and closing takes the event back.
    rip(&mut client);
    let closed = client.call("hd_session_close", json!({}));
    assert_eq!(
        closed.fields()["removed"],
        json!(["event 0x0"]),
        "{}",
        closed.text()
    );
}

#[test]
fn an_event_that_halts_the_target_counts_its_stops() {
    let mut client = client();
    let here = rip(&mut client);
    client
        .call(
            "hd_event_set",
            json!({"event": "epthook", "value": here, "max_hits": 1}),
        )
        .fields();
    let stop = client.call("hd_exec_continue", json!({"wait_ms": 20_000}));
    assert_eq!(
        (&stop.fields()["reason"], &stop.fields()["stage"]),
        (&json!("event"), &json!("pre")),
        "{}",
        stop.text()
    );
    assert!(stop.text().contains("max_hits"), "{}", stop.text());
    let list = client.call("hd_event_list", json!({}));
    assert_eq!(list.fields()["events"][0]["enabled"], false);
    client.call("hd_event_clear", json!({"id": "0x0"})).fields();
}

#[test]
fn the_same_input_does_not_end_a_third_worker() {
    let mut client = client();
    for _ in 0..2 {
        let crash = client.call("hd_exec_command", json!({"command": "!sim crash"}));
        assert!(crash.text().contains("worker_lost"), "{}", crash.text());
    }
    let refused = client.call("hd_exec_command", json!({"command": "!sim crash"}));
    assert!(
        refused.is_error() && refused.text().contains("has ended 2 workers"),
        "{}",
        refused.text()
    );
    rip(&mut client);
}

#[test]
fn a_run_to_an_address_reaches_it_and_leaves_nothing() {
    let mut client = client();
    let target = client.call("hd_script_eval", json!({"expression": "nt!NtCreateFile"}));
    let target = target.fields()["value"].clone();
    let stop = client.call("hd_exec_run_to", json!({"address": target, "timeout_ms": 20_000}));
    assert_eq!(
        (&stop.fields()["reached"], &stop.fields()["rip"]),
        (&json!(true), &target),
        "{}",
        stop.text()
    );
    assert!(
        stop.fields()["at"]
            .as_str()
            .is_some_and(|at| at.contains("NtCreateFile")),
        "{}",
        stop.text()
    );
    let listed = client.call("hd_exec_command", json!({"command": "bl"}));
    assert!(!listed.text().contains("enabled"), "{}", listed.text());
}
