//! The tools of the first design, worked by a client over stdio: in every protocol revision, on both forms of the
//! simulator.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use hyperdbg_mcp_tests::{Client, Protocol, simulator_library};
use serde_json::{Value, json};

/// The pipe on which the simulated debuggee waits.
const PIPE: &str = r"debugger=\\.\pipe\HyperDbgPipe";

fn embedded(protocol: Protocol) -> Client {
    Client::start(protocol, &["--simulator", "--allow-writes"])
}

fn shared(protocol: Protocol) -> Client {
    let library = simulator_library();
    let library = library.to_str().expect("a path of this build is text");
    Client::start(
        protocol,
        &["--library", library, "--open", PIPE, "--allow-writes"],
    )
}

/// A `0x…` string as a number.
fn number(value: &Value) -> u64 {
    let text = value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is not a string"));
    let digits = text
        .strip_prefix("0x")
        .unwrap_or_else(|| panic!("{text} does not begin with 0x"));
    u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{text} is not hexadecimal"))
}

fn evaluate(client: &mut Client, expression: &str) -> u64 {
    let answer = client.call("hd_script_eval", json!({"expression": expression}));
    number(&answer.fields()["value"])
}

fn register(client: &mut Client, name: &str) -> u64 {
    let answer = client.call("hd_reg_read", json!({"register": name}));
    number(&answer.fields()["value"])
}

fn hex(address: u64) -> String {
    format!("{address:#x}")
}

/// Uses every one of the twelve and holds what they say against each other.
fn work(client: &mut Client) {
    // The command: text as captured data, and the failure form with its meaning.
    let formats = client.call("hd_exec_command", json!({"command": ".formats 0x41"}));
    assert!(
        formats.fields()["output"]["captured"]
            .as_str()
            .expect("text")
            .contains("65")
    );
    assert!(formats.text().contains("65"));
    let unknown = client.call("hd_exec_command", json!({"command": "nosuchcommand"}));
    assert!(
        unknown.is_error() && unknown.text().contains("debugger"),
        "{}",
        unknown.text()
    );

    // Registers: one and all agree.
    let all = client.call("hd_reg_read_all", json!({}));
    let registers = all.fields()["registers"].as_array().cloned().expect("a list");
    let rip = register(client, "rip");
    let listed = registers
        .iter()
        .find(|one| one["name"] == "rip")
        .expect("rip is listed");
    assert_eq!(number(&listed["value"]), rip);

    // Memory and disassembly at the instruction pointer agree.
    let memory = client.call("hd_mem_read", json!({"address": hex(rip), "size": 16}));
    let bytes = memory.fields()["segments"][0]["bytes"]
        .as_str()
        .expect("bytes")
        .replace(' ', "");
    assert_eq!(bytes.len(), 32);
    let code = client.call("hd_mem_disassemble", json!({"address": hex(rip), "count": 1}));
    let first = &code.fields()["instructions"][0];
    assert_eq!(number(&first["address"]), rip);
    assert!(bytes.starts_with(&first["bytes"].as_str().expect("bytes").replace(' ', "")));

    // Expressions.
    assert_eq!(evaluate(client, "1+2"), 3);
    assert_eq!(evaluate(client, "@rip"), rip);

    // Modules.
    let modules = client.call("hd_mod_list", json!({"which": "kernel"}));
    let modules = modules.fields()["modules"].as_array().cloned().expect("a list");
    assert!(modules.iter().any(|module| {
        let base = number(&module["base"]);
        let size = number(&module["size"]);
        (base..base + size).contains(&evaluate(client, "nt!NtCreateFile"))
    }));

    // A step moves the instruction pointer to where it says.
    let step = client.call("hd_exec_step", json!({"kind": "in"}));
    let after = number(&step.fields()["path"][0]["rip"]);
    assert_eq!(register(client, "rip"), after);
    client
        .call("hd_exec_step", json!({"kind": "over", "count": 2}))
        .fields();
    client
        .call("hd_exec_step", json!({"kind": "instrumentation"}))
        .fields();

    // A breakpoint, and the target runs into it.
    let target = evaluate(client, "nt!NtCreateFile");
    let set = client.call("hd_bp_set", json!({"address": hex(target)}));
    let id = set.fields()["id"].clone();
    let stop = client.call("hd_exec_continue", json!({"wait_ms": 20_000}));
    assert_eq!(stop.fields()["state"], "stopped", "{}", stop.text());
    assert_eq!(stop.fields()["reason"], "breakpoint");
    assert_eq!(stop.fields()["id"], id);
    assert_eq!(number(&stop.fields()["rip"]), target);
    assert_eq!(register(client, "rip"), target);
    client
        .call(
            "hd_exec_command",
            json!({"command": format!("bc {}", id.as_str().expect("an id"))}),
        )
        .fields();

    // Without a breakpoint it runs on, and a pause halts it.
    let running = client.call("hd_exec_continue", json!({"wait_ms": 0}));
    assert_eq!(running.fields()["state"], "running", "{}", running.text());
    let refused = client.call("hd_reg_read_all", json!({}));
    assert!(
        refused.is_error() && refused.text().contains("target_running"),
        "{}",
        refused.text()
    );
    let paused = client.call("hd_exec_pause", json!({}));
    assert_eq!(paused.fields()["state"], "stopped", "{}", paused.text());

    // Writes, read back through the other tools.
    let old = register(client, "rax");
    client
        .call(
            "hd_reg_write",
            json!({"register": "rax", "value": "0x1122334455667788"}),
        )
        .fields();
    assert_eq!(register(client, "rax"), 0x1122_3344_5566_7788);
    assert_eq!(evaluate(client, "@rax"), 0x1122_3344_5566_7788);
    client
        .call("hd_reg_write", json!({"register": "rax", "value": hex(old)}))
        .fields();
    let stack = register(client, "rsp") - 0x40;
    let written = client.call(
        "hd_mem_write",
        json!({"address": hex(stack), "bytes": "de ad be ef"}),
    );
    assert_eq!(written.fields()["verified"], true, "{}", written.text());
    let read = client.call("hd_mem_read", json!({"address": hex(stack), "size": 4}));
    assert_eq!(read.fields()["segments"][0]["bytes"], "deadbeef");

    // A script prints.
    let script = client.call("hd_script_run", json!({"script": "printf(\"%llx\\n\", @rsp);"}));
    let printed = script.fields()["output"]["captured"]
        .as_str()
        .expect("text")
        .to_owned();
    assert!(printed.contains(&format!("{:x}", stack + 0x40)), "{printed}");

    // The session is still the one that was opened, and ends when told.
    let status = client.call("hd_session_status", json!({"probe": true}));
    assert_eq!(status.fields()["open"], true);
    assert_eq!(status.fields()["run_state"], "paused");
    client.call("hd_session_close", json!({})).fields();
    let status = client.call("hd_session_status", json!({}));
    assert_eq!(status.fields()["open"], false);
}

#[test]
fn the_embedded_simulator_serves_all_in_2025_06_18() {
    work(&mut embedded(Protocol::V2025June));
}

#[test]
fn the_embedded_simulator_serves_all_in_2025_11_25() {
    work(&mut embedded(Protocol::V2025November));
}

#[test]
fn the_embedded_simulator_serves_all_in_2026_07_28() {
    work(&mut embedded(Protocol::V2026July));
}

#[test]
fn the_shared_simulator_serves_all_in_2025_06_18() {
    work(&mut shared(Protocol::V2025June));
}

#[test]
fn the_shared_simulator_serves_all_in_2025_11_25() {
    work(&mut shared(Protocol::V2025November));
}

#[test]
fn the_shared_simulator_serves_all_in_2026_07_28() {
    work(&mut shared(Protocol::V2026July));
}
