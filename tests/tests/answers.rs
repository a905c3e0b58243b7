//! Answers that must be true where it would be easy to be wrong: names of sessions, races, profiles, floods.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::time::{Duration, Instant};

use hyperdbg_mcp_tests::{Client, Protocol};
use serde_json::{Value, json};

const FLAGS: [&str; 4] = ["--simulator", "--allow-writes", "--tools", "all"];

fn client() -> Client {
    Client::start(Protocol::V2025November, &FLAGS)
}

fn halted() -> Client {
    let mut client = client();
    client.call("hd_reg_read", json!({"register": "rip"})).fields();
    client
}

fn refusal(client: &mut Client, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments);
    assert!(answer.is_error(), "{}", answer.text());
    answer.text()
}

#[test]
fn a_session_that_is_named_and_not_open_is_told_from_none_by_every_tool() {
    let mut client = client();
    client
        .call("hd_session_open", json!({"mode": "offline"}))
        .fields();
    client.call("hd_session_close", json!({})).fields();
    client
        .call("hd_session_open", json!({"mode": "offline"}))
        .fields();
    for tool in [
        "hd_session_status",
        "hd_session_close",
        "hd_exec_wait",
        "hd_event_read",
    ] {
        let ended = refusal(&mut client, tool, json!({"session_id": "s1"}));
        assert!(
            ended.contains("Session s1 has ended. Open now: s2."),
            "{tool}: {ended}"
        );
        let never = refusal(&mut client, tool, json!({"session_id": "s9"}));
        assert!(
            never.contains("There has never been a session s9"),
            "{tool}: {never}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_session_whose_worker_died_is_named_as_such_while_another_is_open() {
    let mut client = halted();
    client.call("hd_exec_command", json!({"command": "!sim crash"}));
    client
        .call("hd_session_open", json!({"mode": "offline"}))
        .fields();
    let status = client.call("hd_session_status", json!({"session_id": "s1"}));
    let text = status.text();
    assert!(
        text.contains("Session s1 has ended: its worker ") && text.contains("Open now: s2."),
        "{text}"
    );
    assert!(!text.contains("No session is open"), "{text}");
    let close = refusal(&mut client, "hd_session_close", json!({"session_id": "s1"}));
    assert!(close.contains("Session s1 has ended already"), "{close}");
}

#[test]
fn what_belongs_to_another_mode_is_refused() {
    let mut client = client();
    for (arguments, word) in [
        (json!({"mode": "local", "address": "10.0.0.1"}), "`address`"),
        (json!({"mode": "offline", "pipe": r"\\.\pipe\x"}), "`pipe`"),
        (
            json!({"mode": "remote", "address": "192.0.2.1", "serial_port": "COM1"}),
            "`serial_port`",
        ),
        (
            json!({"mode": "debugger", "pipe": r"\\.\pipe\x", "address": "10.0.0.1"}),
            "`address`",
        ),
        (json!({"profile": "lab", "pipe": r"\\.\pipe\x"}), "`pipe`"),
    ] {
        let text = refusal(&mut client, "hd_session_open", arguments.clone());
        assert!(
            text.contains("invalid_argument") && text.contains(word),
            "{arguments}: {text}"
        );
    }
    let status = client.call("hd_session_status", json!({}));
    assert_eq!(status.fields()["open"], false);
}

/// A server with this configuration. On Windows the folder of the configuration is not named by the environment.
#[cfg(unix)]
fn configured(config: &str) -> (Client, tempfile::TempDir) {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("hyperdbg-mcp");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), config).expect("a file");
    let mut command = std::process::Command::new(hyperdbg_mcp_tests::program());
    command
        .args(FLAGS)
        .args(["--audit", "off", "--state", "off"])
        .env("XDG_CONFIG_HOME", home.path());
    let mut client = Client::start_command(Protocol::V2025November, &mut command);
    client.handshake();
    (client, home)
}

#[cfg(unix)]
#[test]
fn a_profile_that_is_wrong_leaves_the_others_and_tells_no_secret() {
    let (mut client, _home) = configured(
        "[profiles.good]\nmode = 'offline'\n[profiles.bad]\nmode = 'offline'\nsecrets = 'correct horse'\n",
    );
    let bad = refusal(&mut client, "hd_session_open", json!({"profile": "bad"}));
    assert!(bad.contains("The profile bad") && !bad.contains("horse"), "{bad}");
    client
        .call("hd_session_open", json!({"profile": "good"}))
        .fields();
}

#[cfg(unix)]
#[test]
fn a_configuration_that_cannot_be_read_is_not_told_as_one_without_profiles() {
    let (mut client, _home) = configured("[profiles.lab]\nmode = \n");
    let text = refusal(&mut client, "hd_session_open", json!({"profile": "lab"}));
    assert!(
        text.contains("The configuration cannot be used") && text.contains("line 2"),
        "{text}"
    );
}

#[test]
fn a_pause_whose_stop_another_call_tells_still_says_that_the_target_is_halted() {
    let mut client = halted();
    for turn in 0..20 {
        client.call("hd_exec_continue", json!({})).fields();
        let waits: Vec<u64> = (0..2)
            .map(|_| client.send("tools/call", json!({"name": "hd_exec_wait", "arguments": {}})))
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        let pause = client.send("tools/call", json!({"name": "hd_exec_pause", "arguments": {}}));
        let mut told = 0;
        for id in waits.into_iter().chain([pause]) {
            let result = client.wait(id)["result"].clone();
            let text = result["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            told += usize::from(result["structuredContent"]["reason"].is_string());
            assert!(
                !text.contains("was not set running, so there is no stop"),
                "turn {turn}: {text}"
            );
            if id == pause {
                let busy = text.contains("another call is about to tell");
                assert!(
                    busy || result["structuredContent"]["state"] == "stopped",
                    "turn {turn}: {text}"
                );
            }
        }
        assert_eq!(told, 1, "turn {turn}");
    }
}

#[test]
fn a_pause_does_not_call_a_target_halted_that_a_hung_command_may_have_let_run() {
    let mut client = halted();
    client.send(
        "tools/call",
        json!({"name": "hd_exec_command", "arguments": {"command": "!sim hang"}}),
    );
    std::thread::sleep(Duration::from_millis(300));
    let text = refusal(&mut client, "hd_exec_pause", json!({}));
    assert!(text.contains("busy") && text.contains("is not known"), "{text}");
    let close = client.call("hd_session_close", json!({}));
    assert!(close.text().contains("is not known"), "{}", close.text());
}

#[test]
fn stops_are_counted_as_stops_and_other_stops_not_at_all() {
    let mut client = halted();
    for (event, value) in [("cpuid", "0x7777"), ("epthook", "0xfffff80330200a00")] {
        client
            .call(
                "hd_event_set",
                json!({"event": event, "value": value, "max_hits": 3}),
            )
            .fields();
    }
    for hits in 1..=2 {
        let stop = client.call("hd_exec_continue", json!({"wait_ms": 20_000}));
        assert_eq!(stop.fields()["id"], "0x1", "{}", stop.text());
        let list = client.call("hd_event_list", json!({}));
        let events = &list.fields()["events"];
        assert_eq!(
            (&events[0]["hits"], &events[1]["hits"]),
            (&json!(0), &json!(hits)),
            "{events}"
        );
        assert_eq!(events[1]["enabled"], true, "{events}");
    }
    let stop = client.call("hd_exec_continue", json!({"wait_ms": 20_000}));
    assert!(
        stop.text().contains("was disabled by its budget max_hits"),
        "{}",
        stop.text()
    );
}

#[test]
fn a_flood_does_not_make_the_record_of_its_stop_long() {
    let mut client = halted();
    let script = "for (i = 0; i < 1000; i++) { printf(\"flood %d\\n\", i); }";
    client
        .call(
            "hd_event_set",
            json!({"event": "cpuid", "script": script, "max_hits": 10}),
        )
        .fields();
    let stop = client.call("hd_exec_continue", json!({"wait_ms": 20_000}));
    assert_eq!(stop.fields()["state"], "stopped", "{}", stop.text());
    let text = stop.text();
    assert!(text.len() < 3_000, "{} bytes", text.len());
    assert!(text.contains("more lines were printed in this run"), "{text}");
}

#[test]
fn an_event_that_a_line_enables_again_has_its_budget_anew() {
    let mut client = halted();
    client
        .call(
            "hd_event_set",
            json!({"event": "cpuid", "script": "printf(\"x\\n\");", "max_hits": 3}),
        )
        .fields();
    for _ in 0..2 {
        client
            .call("hd_exec_continue", json!({"wait_ms": 20_000}))
            .fields();
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let status = client.call("hd_session_status", json!({}));
            if status.fields()["set"] == json!(["event 0x0, disabled by max_hits"]) {
                break;
            }
            assert!(Instant::now() < until, "{}", status.text());
            std::thread::sleep(Duration::from_millis(20));
        }
        client
            .call("hd_exec_command", json!({"command": "events e 0"}))
            .fields();
        let list = client.call("hd_event_list", json!({}));
        let event = &list.fields()["events"][0];
        assert_eq!(
            (&event["enabled"], &event["hits"]),
            (&json!(true), &json!(0)),
            "{event}"
        );
        assert_eq!(event.get("ended_by"), None, "{event}");
    }
}

#[test]
fn a_note_about_a_command_does_not_stand_among_registers() {
    let mut client = halted();
    client
        .call("hd_bp_set", json!({"address": "0xfffff80330200280"}))
        .fields();
    for _ in 0..2 {
        let ran = client.call("hd_exec_command", json!({"command": "g"}));
        let text = ran.text();
        let note = text.find("It can wait long").expect("the note");
        assert!(
            note < text.find("The target stopped").expect("the stop"),
            "{text}"
        );
    }
}

#[test]
fn behind_an_opening_that_hangs_no_call_waits_for_long() {
    let mut client = Client::start_raw(
        Protocol::V2025November,
        &FLAGS,
        &[(
            "HYPERDBG_SIM_FAULT",
            "hang@hyperdbg_u_connect_remote_debugger_using_named_pipe",
        )],
    );
    client.handshake();
    let first = json!({"name": "hd_reg_read", "arguments": {"register": "rip"}});
    client.send("tools/call", first);
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    let text = refusal(&mut client, "hd_reg_read", json!({"register": "rip"}));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(
        text.contains("busy") && text.contains("connecting to the target"),
        "{text}"
    );
}

#[test]
fn an_opening_can_be_given_less_time_and_leaves_nothing_behind() {
    let mut client = client();
    let silent = json!({"mode": "debugger", "serial_port": "COM4", "deadline_ms": 700});
    let began = Instant::now();
    let text = refusal(&mut client, "hd_session_open", silent);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert!(
        text.contains("error: timeout") && text.contains("given up"),
        "{text}"
    );
    let status = client.call("hd_session_status", json!({})).text();
    assert!(
        status.starts_with("No session is open.") && !status.contains("being opened"),
        "{status}"
    );
    client
        .call("hd_session_open", json!({"mode": "offline"}))
        .fields();
}

#[test]
fn a_pipe_that_does_not_exist_is_a_target_that_is_not_connected() {
    let mut client = client();
    let absent = json!({"mode": "debugger", "pipe": r"\\.\pipe\absent"});
    let text = refusal(&mut client, "hd_session_open", absent);
    assert!(
        text.contains("error: not_connected") && text.contains("Check that the target is up"),
        "{text}"
    );
}

/// A target that has stopped at a breakpoint, and nobody has been told.
fn stopped_untold() -> Client {
    let mut client = halted();
    client
        .call("hd_bp_set", json!({"address": "0xfffff80330200280"}))
        .fields();
    client.call("hd_exec_continue", json!({})).fields();
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let status = client.call("hd_session_status", json!({}));
        if status.fields()["pending_stop"].is_string() {
            return client;
        }
        assert!(Instant::now() < until, "{}", status.text());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_stop_is_told_with_the_place_where_it_was_before_anything_steps() {
    let mut client = stopped_untold();
    let text = refusal(&mut client, "hd_exec_step", json!({}));
    assert!(
        text.contains("error: busy") && text.contains("has not been read"),
        "{text}"
    );
    let stop = client.call("hd_exec_wait", json!({}));
    assert_eq!(stop.fields()["rip"], "0xfffff80330200280", "{}", stop.text());
    client.call("hd_exec_step", json!({})).fields();
}

#[test]
fn a_stop_that_nobody_was_told_is_told_by_the_close() {
    let mut client = stopped_untold();
    let text = client.call("hd_session_close", json!({})).text();
    assert!(text.contains("breakpoint 0x1 hit"), "{text}");
}
