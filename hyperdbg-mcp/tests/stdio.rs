//! The real program over standard input and output, on both forms of the simulator.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod conform;
mod process;

use std::time::Duration;

use process::{Server, is_gone, kill, program, shared_simulator};
use serde_json::{Value, json};

const PIPE: &str = r"debugger=\\.\pipe\HyperDbgPipe";

fn all_tools() -> Server {
    Server::start(&["--simulator", "--allow-writes"])
}

/// Works every hand-written tool once, as an agent would.
fn work_the_tools(server: &mut Server) {
    let registers = server.fields("hd_reg_read_all", json!({}));
    let find = |name: &str| {
        let list = registers["registers"].as_array().unwrap();
        list.iter().find(|register| register["name"] == name).unwrap()["value"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (rip, rsp) = (find("rip"), find("rsp"));
    assert_eq!(
        server.fields("hd_reg_read", json!({"register": "rip"}))["value"],
        json!(rip)
    );

    let read = server.fields("hd_mem_read", json!({"address": rip, "size": 32}));
    assert_eq!((&read["read"], &read["address"]), (&json!(32), &json!(rip)));
    let code = server.fields("hd_mem_disassemble", json!({"address": rip, "count": 3}));
    assert_eq!(code["instructions"][0]["address"], json!(rip));
    let first = code["instructions"][0]["bytes"].as_str().unwrap();
    assert!(read["segments"][0]["bytes"].as_str().unwrap().starts_with(first));

    let modules = server.fields("hd_mod_list", json!({}));
    assert!(
        modules["modules"]
            .as_array()
            .unwrap()
            .iter()
            .any(|module| module["name"] == "ntoskrnl.exe"),
        "{modules}"
    );

    let eval = server.fields("hd_script_eval", json!({"expression": "0x10 + 0x20"}));
    assert_eq!((&eval["value"], &eval["decimal"]), (&json!("0x30"), &json!("48")));
    let run = server.fields(
        "hd_script_run",
        json!({"script": "printf(\"seen %llx\\n\", @rip);"}),
    );
    assert!(
        run["output"]["captured"].as_str().unwrap().contains("seen"),
        "{run}"
    );
    let formats = server.fields("hd_exec_command", json!({"command": ".formats 0x41"}));
    assert!(
        formats["output"]["captured"].as_str().unwrap().contains("41"),
        "{formats}"
    );
    server.error(
        "invalid_argument",
        "hd_exec_command",
        json!({"command": "no_such_command"}),
    );

    let old =
        server.fields("hd_mem_read", json!({"address": rsp, "size": 8}))["segments"][0]["bytes"].clone();
    let written = server.fields(
        "hd_mem_write",
        json!({"address": rsp, "bytes": "1122334455667788"}),
    );
    assert_eq!(
        (&written["verified"], &written["old_bytes"]),
        (&json!(true), &old)
    );
    server.fields("hd_mem_write", json!({"address": rsp, "bytes": old}));
    let r15 = server.fields("hd_reg_write", json!({"register": "r15", "value": "0x1234"}));
    assert_eq!(
        (&r15["old_value"], &r15["value"]),
        (&json!("0x0"), &json!("0x1234"))
    );

    let stepped = server.fields("hd_exec_step", json!({"kind": "in"}));
    let after = stepped["path"][0]["rip"].as_str().unwrap().to_owned();
    assert_eq!(code["instructions"][1]["address"], json!(after));
    let bp = server.fields("hd_bp_set", json!({"address": rip}));
    let stop = server.fields("hd_exec_continue", json!({"wait_ms": 10_000}));
    assert_eq!(
        (&stop["state"], &stop["reason"], &stop["id"]),
        (&json!("stopped"), &json!("breakpoint"), &bp["id"]),
        "{stop}"
    );
    assert_eq!(stop["rip"], json!(rip));
    server.fields("hd_exec_step", json!({"kind": "over", "count": 2}));
    server.fields("hd_exec_step", json!({"kind": "instrumentation"}));

    server.fields(
        "hd_exec_command",
        json!({"command": format!("bc {}", bp["id"].as_str().unwrap())}),
    );
    let running = server.fields("hd_exec_continue", json!({"wait_ms": 50}));
    assert_eq!(running["state"], "running", "{running}");
    server.error("target_running", "hd_mem_read", json!({"address": rip}));
    assert_eq!(
        server.fields("hd_exec_wait", json!({"timeout_ms": 50}))["state"],
        "running"
    );
    assert_eq!(
        server.fields("hd_session_status", json!({}))["run_state"],
        "running"
    );
    let paused = server.fields("hd_exec_pause", json!({}));
    assert_eq!(paused["state"], "stopped", "{paused}");
    assert_eq!(
        server.fields("hd_session_status", json!({"probe": true}))["connected"],
        "debugger"
    );
    server.fields("hd_session_close", json!({}));
}

#[test]
fn every_tool_works_on_the_built_in_simulator() {
    work_the_tools(&mut all_tools());
}

#[test]
fn every_tool_works_on_the_simulator_as_a_library() {
    let library = shared_simulator();
    let mut command = program();
    command
        .arg("--library")
        .arg(&library)
        .args(["--open", PIPE, "--allow-writes"]);
    let mut server = Server::start_in("2025-11-25", &mut command);
    let status = server.fields("hd_session_status", json!({}));
    assert!(status["library"].as_str().unwrap().contains("hyperdbg_simulator"));
    work_the_tools(&mut server);
}

#[test]
fn a_session_opens_by_tool_where_no_flag_opens_it() {
    let library = shared_simulator();
    let mut command = program();
    command
        .env("HYPERDBG_LIBRARY", &library)
        .env("HYPERDBG_MCP_ALLOW_WRITES", "1");
    let mut server = Server::start_in("2024-11-05", &mut command);
    server.error("not_connected", "hd_reg_read", json!({"register": "rip"}));
    server.fields(
        "hd_session_open",
        json!({"mode": "debugger", "pipe": r"\\.\pipe\HyperDbgPipe"}),
    );
    server.fields("hd_reg_read", json!({"register": "rip"}));
    server.fields("hd_session_close", json!({}));
    server.fields("hd_session_open", json!({"mode": "offline"}));
    server.error("wrong_mode", "hd_reg_read", json!({"register": "rip"}));
}

#[test]
fn the_newest_protocol_works_over_pipes() {
    let mut server = Server::spawn(program().arg("--simulator"));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let list = server.request("tools/list", &json!({"_meta": meta}));
    assert_eq!(list["result"]["ttlMs"], 3_600_000);
    let read = server.request(
        "tools/call",
        &json!({"name": "hd_reg_read", "arguments": {"register": "rip"}, "_meta": meta}),
    );
    assert_eq!(read["result"]["structuredContent"]["register"], "rip");
    assert_eq!(read["result"]["resultType"], "complete");
}

#[test]
fn a_worker_that_dies_costs_its_call_and_not_the_server() {
    let mut server = all_tools();
    server.fields("hd_reg_read", json!({"register": "rip"}));
    for fault in ["crash", "abort", "exit"] {
        let pid = server.worker_pid();
        let text = server.error(
            "worker_lost",
            "hd_exec_command",
            json!({"command": format!("!sim {fault}")}),
        );
        assert!(text.contains("next step"), "{text}");
        assert!(is_gone(pid));
        server.fields("hd_reg_read", json!({"register": "rip"}));
    }
}

#[test]
fn a_worker_that_dies_between_calls_is_told_before_a_new_session_opens() {
    let mut server = all_tools();
    server.fields("hd_reg_read", json!({"register": "rip"}));
    let pid = server.worker_pid();
    kill(pid);
    assert!(is_gone(pid));
    let noticed = || {
        let status = server.fields("hd_session_status", json!({}));
        (status["open"] == false).then_some(status)
    };
    let status = std::iter::repeat_with(noticed).take(1_000).flatten().next();
    let status = status.expect("the server notices");
    assert!(status["last_end"].is_string(), "{status}");
    server.error("worker_lost", "hd_exec_pause", json!({}));
    server.fields("hd_reg_read", json!({"register": "rip"}));
}

#[test]
fn what_the_library_prints_elsewhere_does_not_reach_standard_output() {
    let mut server = all_tools();
    for fault in [
        "stdout",
        "stderr-flood",
        "long-chunk",
        "invalid-utf8",
        "split-utf8",
    ] {
        // Each answer is checked to be JSON-RPC, and the call to be answered.
        let result = server.call("hd_exec_command", json!({"command": format!("!sim {fault}")}));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(!text.contains('\u{1b}'), "{text}");
    }
    server.fields("hd_reg_read", json!({"register": "rip"}));
}

#[test]
fn at_the_end_of_input_nothing_is_left_also_with_the_target_running() {
    let mut server = all_tools();
    assert_eq!(
        server.fields("hd_exec_continue", json!({"wait_ms": 0}))["state"],
        "running"
    );
    let pid = server.worker_pid();
    let wait = json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "hd_exec_wait", "arguments": {"timeout_ms": 20_000}}});
    server.send(&wait.to_string());
    let (status, elapsed, _) = server.end();
    assert!(status.success());
    assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
    assert!(is_gone(pid));
}

#[test]
fn at_the_end_of_input_nothing_is_left_also_with_the_library_hung() {
    let mut server = all_tools();
    server.fields("hd_reg_read", json!({"register": "rip"}));
    let pid = server.worker_pid();
    let hang = json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "hd_exec_command", "arguments": {"command": "!sim hang"}}});
    server.send(&hang.to_string());
    std::thread::sleep(Duration::from_millis(200));
    let (_, elapsed, _) = server.end();
    assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
    assert!(is_gone(pid));
}

#[test]
fn a_killed_server_leaves_no_worker_also_with_the_library_hung() {
    for hung in [false, true] {
        let mut server = all_tools();
        server.fields("hd_reg_read", json!({"register": "rip"}));
        let pid = server.worker_pid();
        if hung {
            let hang = json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "hd_exec_command", "arguments": {"command": "!sim hang"}}});
            server.send(&hang.to_string());
            std::thread::sleep(Duration::from_millis(300));
        }
        server.kill();
        assert!(is_gone(pid), "hung: {hung}");
    }
}

#[test]
fn requests_that_end_with_the_input_are_still_answered() {
    let mut server = all_tools();
    let read = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "hd_reg_read", "arguments": {"register": "rip"}}});
    server.send(&read.to_string());
    let mut input = program();
    drop(server);
    let request = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        &read.to_string(),
    ]
    .join("\n");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), request).unwrap();
    let output = input
        .arg("--simulator")
        .stdin(std::fs::File::open(file.path()).unwrap())
        .output()
        .unwrap();
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[1]["result"]["structuredContent"]["register"], "rip");
}

#[test]
fn noise_is_said_once_on_standard_error() {
    let mut server = all_tools();
    for _ in 0..5 {
        server.send("noise");
    }
    server.fields("hd_reg_read", json!({"register": "rip"}));
    let (_, _, stderr) = server.end();
    assert_eq!(stderr.matches("is not JSON").count(), 1, "{stderr}");
    assert!(stderr.contains("lines=5"), "{stderr}");
}

#[test]
fn many_calls_in_flight_are_all_answered() {
    let mut server = all_tools();
    server.fields("hd_reg_read", json!({"register": "rip"}));
    for id in 1_000..1_200 {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "hd_reg_read", "arguments": {"register": "rax"}}});
        server.send(&call.to_string());
    }
    let mut ids: Vec<u64> = (0..200)
        .map(|_| {
            let answer = server.receive();
            assert!(
                answer["result"]["structuredContent"]["value"].is_string(),
                "{answer}"
            );
            answer["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (1_000..1_200).collect::<Vec<_>>());
}

#[test]
fn every_tool_answers_in_the_form_that_it_promises() {
    let mut server = Server::start(&["--simulator", "--allow-writes", "--tools", "all"]);
    let list = server.request("tools/list", &json!({}))["result"]["tools"].clone();
    let mut succeeded = Vec::new();
    for tool in list.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        // One of them offers this machine as a debuggee and stays; the other lets the target run.
        if ["hd_link_become_debuggee", "hd_exec_continue"].contains(&name) {
            continue;
        }
        let result = server.call(name, conform::sample(&tool["inputSchema"]));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(!text.is_empty() && text.chars().count() <= 24_000, "{name}");
        if result["isError"] == true {
            assert!(
                text.starts_with("error: ") && !text.starts_with("error: internal"),
                "{name}: {text}"
            );
            assert!(!text.starts_with("error: worker_lost"), "{name}: {text}");
            assert!(result.get("structuredContent").is_none(), "{name}");
        } else {
            let fields = &result["structuredContent"];
            assert_eq!(
                conform::misfits(&tool["outputSchema"], fields),
                Vec::<String>::new(),
                "{name}: {fields}"
            );
            assert!(fields.to_string().chars().count() <= 24_000, "{name}");
            succeeded.push(name.to_owned());
        }
    }
    assert!(
        succeeded.len() > 30,
        "{} succeeded: {succeeded:?}",
        succeeded.len()
    );
}
