//! What breaks: the library, the worker, the arguments. The server answers before and after.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::time::{Duration, Instant};

use hyperdbg_mcp_tests::{Client, Protocol, ToolAnswer, kill, simulator_library};
use serde_json::json;

fn client() -> Client {
    Client::start(Protocol::V2025November, &["--simulator", "--allow-writes"])
}

/// The call failed, in that category, and says what to do.
fn failed(answer: &ToolAnswer, category: &str) {
    assert!(answer.is_error(), "{}", answer.text());
    assert!(
        answer.text().contains(category),
        "not {category}: {}",
        answer.text()
    );
}

fn works(client: &mut Client) {
    client.call("hd_reg_read", json!({"register": "rip"})).fields();
}

#[test]
fn a_library_that_ends_its_process_costs_the_worker_only() {
    for fault in ["crash", "abort", "exit"] {
        let mut client = client();
        works(&mut client);
        let lost = client.call("hd_exec_command", json!({"command": format!("!sim {fault}")}));
        failed(&lost, "worker_lost");
        assert!(!client.tools().is_empty());
        // The simulator's session opens by itself again, after it was told that the last one ended.
        let pipe = json!({"mode": "debugger", "pipe": r"\\.\pipe\HyperDbgPipe"});
        client.call("hd_session_open", pipe).fields();
        works(&mut client);
    }
}

#[test]
fn what_the_library_prints_to_stdout_never_reaches_the_protocol() {
    let mut client = client();
    client.call("hd_exec_command", json!({"command": "!sim stdout"}));
    works(&mut client);
}

#[test]
fn a_killed_worker_is_reported_and_the_next_session_works() {
    let mut client = client();
    works(&mut client);
    let status = client.call("hd_session_status", json!({}));
    let pid = status.fields()["worker_pid"]
        .as_u64()
        .expect("the worker has a pid");
    kill(u32::try_from(pid).expect("a process id"));
    let deadline = Instant::now() + Duration::from_secs(20);
    let answer = client.call("hd_reg_read", json!({"register": "rip"}));
    failed(&answer, "worker_lost");
    assert!(Instant::now() < deadline);
    client
        .call(
            "hd_session_open",
            json!({"mode": "debugger", "pipe": r"\\.\pipe\HyperDbgPipe"}),
        )
        .fields();
    works(&mut client);
}

#[test]
fn with_a_library_nothing_is_opened_unasked() {
    let library = simulator_library();
    let library = library.to_str().expect("a path of this build is text");
    let mut client = Client::start(Protocol::V2025November, &["--library", library, "--allow-writes"]);
    let answer = client.call("hd_reg_read", json!({"register": "rip"}));
    failed(&answer, "not_connected");
    client
        .call("hd_session_open", json!({"mode": "offline"}))
        .fields();
    let answer = client.call("hd_script_eval", json!({"expression": "1+2"}));
    assert_eq!(answer.fields()["value"], "0x3");
}

#[test]
fn a_dereference_with_nothing_attached_costs_a_worker() {
    let library = simulator_library();
    let library = library.to_str().expect("a path of this build is text");
    let arguments = [
        "--library",
        library,
        "--open",
        "offline",
        "--allow-writes",
        "--unclassified",
    ];
    let mut client = Client::start(Protocol::V2025November, &arguments);
    failed(
        &client.call("hd_script_eval", json!({"expression": "poi(1)"})),
        "worker_lost",
    );
    client
        .call("hd_session_open", json!({"mode": "offline"}))
        .fields();
    assert_eq!(
        client
            .call("hd_script_eval", json!({"expression": "1+2"}))
            .fields()["value"],
        "0x3"
    );
}

#[test]
fn wrong_arguments_are_named() {
    let mut client = client();
    for (tool, arguments, word) in [
        (
            "hd_mem_read",
            json!({"address": "0x1000", "size": 16, "lenght": 3}),
            "lenght",
        ),
        ("hd_mem_read", json!({"size": 16}), "address"),
        ("hd_mem_read", json!({"address": "1000", "size": 16}), "0x"),
        ("hd_mem_read", json!({"address": 4096, "size": 16}), "0x"),
        (
            "hd_mem_read",
            json!({"address": "0xffffffffffffffff", "size": 16}),
            "address",
        ),
        ("hd_mem_read", json!({"address": "0x1000", "size": -1}), "size"),
        ("hd_mem_read", json!({"address": "0x1000", "size": 1.5}), "size"),
        ("hd_reg_read", json!({"register": "rpi"}), "rip"),
        ("hd_exec_step", json!({"kind": "sideways"}), "over"),
        (
            "hd_mem_write",
            json!({"address": "0x1000", "bytes": "901"}),
            "digit",
        ),
        ("hd_exec_command", json!({"command": "a\u{0}b"}), "U+0000"),
        ("hd_exec_command", json!({"command": "print {1"}), "brace"),
    ] {
        let answer = client.call(tool, arguments.clone());
        failed(&answer, "invalid_argument");
        assert!(
            answer.text().contains(word),
            "{tool} {arguments}: {}",
            answer.text()
        );
    }
    // Lenient about the JSON form.
    client.call("hd_reg_read", json!({"register": "rip"})).fields();
    client.call("hd_exec_step", json!({"count": "1"})).fields();
}

#[test]
fn what_ends_the_process_is_never_sent() {
    let mut client = client();
    works(&mut client);
    for command in [
        "exit", ".exit", "EXIT", "cls", "clear", ".cls", ".listen", " exit ",
    ] {
        failed(
            &client.call("hd_exec_command", json!({"command": command})),
            "policy_denied",
        );
    }
    works(&mut client);
}

#[test]
fn a_hole_in_a_range_is_named_and_the_rest_is_read() {
    let mut client = client();
    let rip = client.call("hd_reg_read", json!({"register": "rip"}));
    let rip = rip.fields()["value"].as_str().expect("a value").to_owned();
    let unreadable = client.call("hd_mem_read", json!({"address": "0x10", "size": 16}));
    failed(&unreadable, "unreadable");
    let whole = client.call("hd_mem_read", json!({"address": rip, "size": 0x10}));
    assert_eq!(whole.fields()["holes"].as_array().map_or(0, Vec::len), 0);
}
