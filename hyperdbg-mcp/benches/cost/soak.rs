//! Many mixed calls: neither the server nor its worker grows.

use serde_json::{Value, json};

use super::Effort;
use super::client::Client;

/// Growth above this, in percent of what it was after the first tenth, is a leak.
const GROWTH_PERCENT: u64 = 15;
/// Growth below this is none, in KiB: allocators keep what they have.
const NOISE_KIB: u64 = 4096;

pub(crate) fn run(
    effort: &Effort,
    client: &mut Client,
    base: &Value,
    row: &mut impl FnMut(&str, String, &str, String),
) {
    let calls = mixed(base);
    let mut turn = calls.iter().cycle();
    let mut make = |client: &mut Client, count: usize| {
        for (tool, arguments) in turn.by_ref().take(count) {
            drop(client.call(tool, arguments));
        }
    };
    // What is kept for later, such as cut outputs and the event log, fills its bounds first.
    make(client, effort.soak / 10);
    let status = client.call("hd_session_status", &json!({}));
    let worker = status["result"]["structuredContent"]["worker_pid"].as_u64();
    let processes = [
        ("the server", Some(u64::from(client.pid()))),
        ("its worker", worker),
    ];
    let before = processes.map(|(_, pid)| pid.and_then(resident));
    make(client, effort.soak);
    for ((name, pid), before) in processes.into_iter().zip(before) {
        let (Some(before), Some(after)) = (before, pid.and_then(resident)) else {
            continue;
        };
        #[allow(clippy::cast_precision_loss, reason = "a ratio for people")]
        let ratio = after as f64 / before as f64;
        row(
            &format!("resident memory of {name} after {} mixed calls", effort.soak),
            format!("{after} KiB"),
            "before them",
            format!("{ratio:.2}"),
        );
        let grown = after.saturating_sub(before);
        assert!(
            grown < NOISE_KIB || grown * 100 < before * GROWTH_PERCENT,
            "{name} grew from {before} to {after} KiB"
        );
    }
}

/// One of each kind of call that an agent makes all the time, errors among them.
fn mixed(base: &Value) -> Vec<(&'static str, Value)> {
    vec![
        ("hd_session_status", json!({})),
        ("hd_reg_read", json!({"register": "rip"})),
        ("hd_reg_read_all", json!({})),
        ("hd_mem_read", json!({"address": base, "size": 256})),
        ("hd_mem_disassemble", json!({"address": base, "count": 4})),
        ("hd_exec_command", json!({"command": "cpu"})),
        ("hd_script_eval", json!({"expression": "@rax + 0x10"})),
        ("hd_script_run", json!({"script": "printf(\"%llx\\n\", @rip);"})),
        ("hd_exec_step", json!({"kind": "in"})),
        ("hd_mem_read", json!({"address": base, "size": 65_536})),
    ]
}

/// Resident memory of a process in KiB, where the system tells it.
fn resident(pid: u64) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
