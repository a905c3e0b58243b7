//! Several sessions, events with budgets and the log, over stdio and the simulator.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hyperdbg_mcp_tests::{Client, Protocol, exists, kill};
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
    // 200 calls in flight at once, a third of them to the session that hangs.
    let started = Instant::now();
    let mut sent: BTreeMap<u64, &str> = (0..200)
        .map(|turn| {
            let session = ["s1", "s2", "s3"][turn % 3];
            let call =
                json!({"name": "hd_reg_read", "arguments": {"register": "rip", "session_id": session}});
            (client.send("tools/call", call), session)
        })
        .collect();
    let mut last: BTreeMap<&str, Duration> = BTreeMap::new();
    while !sent.is_empty() {
        let message = client
            .next_message(Duration::from_secs(20))
            .expect("every call is answered");
        let Some(session) = message["id"].as_u64().and_then(|id| sent.remove(&id)) else {
            continue;
        };
        last.insert(session, started.elapsed());
        let result = &message["result"];
        if session == "s1" {
            let text = result["content"][0]["text"].as_str().expect("a text");
            assert!(
                text.starts_with("error: busy") && text.contains("run_command"),
                "{text}"
            );
        } else {
            let stamp = result["structuredContent"]["session"].as_str();
            assert!(stamp.is_some_and(|stamp| stamp.starts_with(session)), "{result}");
        }
    }
    // Those of the others do not wait for it, and its own are told soon that nothing is queued.
    assert!(last["s2"] < last["s1"] && last["s3"] < last["s1"], "{last:?}");
    assert!(last["s1"] < Duration::from_secs(8), "{last:?}");
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
    assert_eq!(row["hits"], 100, "{row}");
    // What it said up to the budget is in the log, and why it ended; what came later is not.
    let log = client.call("hd_event_read", json!({"limit": 200}));
    let records = log.fields()["records"].as_array().expect("records").clone();
    let hits = records
        .iter()
        .filter(|record| {
            record["text"]
                .as_str()
                .is_some_and(|text| text.starts_with("hit "))
        })
        .count();
    assert_eq!(hits, 100, "{}", log.text());
    let last = records.last().expect("the reason");
    assert_eq!(last["origin"], "server", "{last}");
    assert!(
        log.text().contains("its budget max_hits is used up"),
        "{}",
        log.text()
    );
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
fn what_a_line_of_text_sets_is_known_and_taken_back_as_well() {
    let mut client = client();
    let here = rip(&mut client);
    let here = here.as_str().expect("an address");
    for line in [
        format!("bp {here}"),
        "!cpuid script { printf(\"x\\n\"); }".to_owned(),
        "!tsc script { printf(\"y\\n\"); }".to_owned(),
        "events c 1".to_owned(),
    ] {
        client.call("hd_exec_command", json!({"command": line})).fields();
    }
    let status = client.call("hd_session_status", json!({}));
    assert_eq!(
        status.fields()["set"],
        json!([format!("breakpoint 0x1 at {here}"), "event 0x0"])
    );
    let closed = client.call("hd_session_close", json!({}));
    assert_eq!(
        closed.fields()["removed"],
        json!(["breakpoint 0x1", "event 0x0"]),
        "{}",
        closed.text()
    );
}

#[test]
fn an_event_of_an_earlier_epoch_is_stale() {
    let mut client = client();
    rip(&mut client);
    client
        .call(
            "hd_event_set",
            json!({"event": "cpuid", "script": "printf(\"x\\n\");"}),
        )
        .fields();
    // Symbols do not touch it, and it is known again.
    client
        .call("hd_exec_command", json!({"command": ".sym reload"}))
        .fields();
    client.call("hd_event_disable", json!({"id": "0x0"})).fields();
    client.call("hd_session_close", json!({})).fields();

    let run = |client: &mut Client, line: &str| {
        client.call("hd_exec_command", json!({"command": line})).fields();
    };
    client.call("hd_session_open", json!({"mode": "local"})).fields();
    run(&mut client, "load vmm");
    client
        .call(
            "hd_event_set",
            json!({"event": "cpuid", "script": "printf(\"x\\n\");"}),
        )
        .fields();
    run(&mut client, "unload vmm");
    run(&mut client, "load vmm");
    let stale = client.call("hd_event_clear", json!({"id": "0x0"}));
    assert!(
        stale.is_error() && stale.text().contains("stale"),
        "{}",
        stale.text()
    );
}

#[test]
fn a_caller_can_lower_the_deadline_of_a_call() {
    let mut client = client();
    rip(&mut client);
    let started = Instant::now();
    let answer = client.call(
        "hd_exec_command",
        json!({"command": "!sim hang", "deadline_ms": 500}),
    );
    assert!(answer.text().contains("timeout"), "{}", answer.text());
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn an_opening_tells_its_steps() {
    let mut client = client();
    let id = client.send(
        "tools/call",
        json!({
            "name": "hd_session_open",
            "arguments": {"mode": "debugger", "pipe": r"\\.\pipe\HyperDbgPipe"},
            "_meta": {"progressToken": "opening"},
        }),
    );
    let mut told = Vec::new();
    loop {
        let message = client.next_message(Duration::from_secs(20)).expect("an answer");
        if message["id"] == id {
            break;
        }
        told.push(
            message["params"]["message"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    assert!(
        told.iter().any(|text| text.contains("starting a worker")),
        "{told:?}"
    );
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

#[test]
fn a_server_that_is_killed_is_told_of_by_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().to_str().expect("text");
    let start = || {
        let mut client = Client::start_raw(
            Protocol::V2025November,
            &["--simulator", "--allow-writes", "--tools", "all"],
            &[("HYPERDBG_MCP_STATE", state)],
        );
        client.handshake();
        client
    };
    let mut client = start();
    let here = rip(&mut client);
    client.call("hd_bp_set", json!({"address": here})).fields();
    client
        .call(
            "hd_event_set",
            json!({"event": "cpuid", "script": "printf(\"x\\n\");"}),
        )
        .fields();
    client.send("tools/call", json!({"name": "hd_exec_continue", "arguments": {}}));
    let status = client.call("hd_session_status", json!({}));
    let worker = status.fields()["worker_pid"].as_u64().expect("a process id");
    let worker = u32::try_from(worker).expect("a process id");
    let pid = client.pid();
    kill(pid);
    client.finish(Duration::from_secs(5));
    let until = Instant::now() + Duration::from_secs(2);
    while exists(worker) {
        assert!(Instant::now() < until, "worker {worker} outlived its server");
        std::thread::sleep(Duration::from_millis(20));
    }

    let mut next = start();
    let told = next.stderr_so_far();
    let status = next.call("hd_session_status", json!({}));
    let left = status.fields()["left_before"].to_string();
    for words in [
        &format!("process id {pid} "),
        "session s1",
        "breakpoint 0x1",
        "event 0x0",
    ] {
        assert!(told.contains(words), "{words}: {told}");
        assert!(left.contains(words), "{words}: {left}");
    }
    // A server that lives is no business of a third one, and one that ends cleanly leaves nothing to tell.
    rip(&mut next);
    let mut third = start();
    assert_eq!(
        third
            .call("hd_session_status", json!({}))
            .fields()
            .get("left_before"),
        None
    );
    third.finish(Duration::from_secs(5));
    next.finish(Duration::from_secs(5));
    let files = std::fs::read_dir(folder.path()).expect("the folder can be listed");
    assert_eq!(files.count(), 0);
}
