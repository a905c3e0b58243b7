//! The hand-written tools, over a fake machine and the real server path.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod fake;

use std::sync::atomic::Ordering;

use fake::{BASE, END, Fake, HOLE, Setup, Wire};
use hyperdbg_mcp::tool::surface::Selection;
use hyperdbg_mcp::tool::{Category, Connection, ToolError};
use serde_json::{Value, json};

fn hex(value: u64) -> Value {
    json!(format!("{value:#x}"))
}

#[tokio::test]
async fn a_read_gives_bytes_a_dump_and_its_address() {
    let mut wire = Wire::ready().await;
    let result = wire
        .call("hd_mem_read", json!({"address": hex(BASE), "size": "8"}))
        .await;
    let fields = &result["structuredContent"];
    assert_eq!(fields["address"], hex(BASE));
    assert_eq!((&fields["read"], &fields["size"]), (&json!(8), &json!(8)));
    assert_eq!(
        fields["segments"],
        json!([{"address": hex(BASE), "bytes": "4883ec289090ebfc"}])
    );
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("fffff80000000000  48 83 ec 28 90 90 eb fc"),
        "{text}"
    );
}

#[tokio::test]
async fn a_hole_is_named_and_what_surrounds_it_is_returned() {
    let mut wire = Wire::ready().await;
    let fields = wire
        .fields("hd_mem_read", json!({"address": hex(HOLE - 16), "size": 0x1020}))
        .await;
    assert_eq!(fields["read"], 32);
    assert_eq!(
        fields["segments"][0],
        json!({"address": hex(HOLE - 16), "bytes": "00".repeat(16)})
    );
    assert_eq!(fields["segments"][1]["address"], hex(HOLE + 0x1000));
    assert_eq!(
        fields["unreadable"],
        json!([{"address": hex(HOLE), "size": 0x1000}])
    );
    // What stops at the end says where.
    let fields = wire
        .fields("hd_mem_read", json!({"address": hex(END - 8), "size": 16}))
        .await;
    assert_eq!(
        (&fields["read"], &fields["unreadable"][0]["address"]),
        (&json!(8), &hex(END))
    );
}

#[tokio::test]
async fn large_reads_are_split_and_can_be_read_on() {
    let mut wire = Wire::ready().await;
    let fields = wire
        .fields(
            "hd_mem_read",
            json!({"address": hex(HOLE + 0x1000), "size": 0x2_0000}),
        )
        .await;
    assert_eq!(fields["read"], 0x2_0000);
    assert!(wire.fake.reads.lock().unwrap().iter().all(|size| *size <= 65_536));
    let output = fields["output"].clone();
    assert_eq!(output["truncated"], true);
    let mut rows = 0;
    let mut offset = json!(0);
    loop {
        let page = wire
            .fields("hd_output_read", json!({"id": output["id"], "offset": offset}))
            .await;
        rows += page["captured"].as_str().unwrap().lines().count();
        match page.get("next_offset") {
            Some(next) => offset = next.clone(),
            None => break,
        }
    }
    assert_eq!(rows, 0x2_0000 / 16);
    let text = wire
        .error("invalid_argument", "hd_output_read", json!({"id": "out-999"}))
        .await;
    assert!(text.contains("There is no output out-999"), "{text}");
}

#[tokio::test]
async fn what_cannot_be_read_at_all_is_an_error_with_the_code() {
    let mut wire = Wire::ready().await;
    let text = wire
        .error("unreadable", "hd_mem_read", json!({"address": "0x1000"}))
        .await;
    assert!(text.contains("code: 0xc0000005"), "{text}");
    wire.error(
        "invalid_argument",
        "hd_mem_read",
        json!({"address": "0xffffffffffffffff", "size": 2}),
    )
    .await;
    wire.error(
        "invalid_argument",
        "hd_mem_read",
        json!({"address": hex(BASE), "pid": 4}),
    )
    .await;
    wire.error("unreadable", "hd_mem_disassemble", json!({"address": hex(HOLE)}))
        .await;
}

#[tokio::test]
async fn the_targets_bytes_cannot_leave_the_envelope() {
    let mut wire = Wire::ready().await;
    let result = wire
        .call("hd_mem_read", json!({"address": hex(BASE + 0x100), "size": 16}))
        .await;
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.matches("</captured-").count(), 1, "{text}");
    let fields = wire.fields("hd_mod_list", json!({})).await;
    assert_eq!(fields["modules"][0]["name"], "nt\\x1b.exe");
    assert_eq!(fields["modules"][0]["base"], hex(BASE));
    let listed = wire.call("hd_mod_list", json!({"filter": "NT"})).await;
    assert!(!listed.to_string().contains("\u{1b}"));
    assert_eq!(
        wire.fields("hd_mod_list", json!({"filter": "none"})).await["total"],
        0
    );
}

#[tokio::test]
async fn a_write_is_read_back_and_gives_the_old_bytes() {
    let mut wire = Wire::ready().await;
    let fields = wire
        .fields("hd_mem_write", json!({"address": hex(BASE), "bytes": "cc 90"}))
        .await;
    assert_eq!(
        (&fields["old_bytes"], &fields["verified"], &fields["written"]),
        (&json!("4883"), &json!(true), &json!(2))
    );
    wire.error(
        "unreadable",
        "hd_mem_write",
        json!({"address": hex(HOLE), "bytes": "90"}),
    )
    .await;
    wire.error(
        "invalid_argument",
        "hd_mem_write",
        json!({"address": hex(BASE), "bytes": "9"}),
    )
    .await;
    wire.error(
        "invalid_argument",
        "hd_mem_write",
        json!({"address": hex(BASE), "bytes": "90".repeat(4_097)}),
    )
    .await;
}

#[tokio::test]
async fn code_is_decoded_from_what_was_read() {
    let mut wire = Wire::ready().await;
    let fields = wire
        .fields("hd_mem_disassemble", json!({"address": hex(BASE), "count": 4}))
        .await;
    let texts: Vec<&Value> = fields["instructions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| &line["text"])
        .collect();
    assert_eq!(
        texts,
        ["sub rsp, 0x28", "nop", "nop", "jmp short 0xfffff80000000004"]
    );
    assert_eq!(
        (&fields["ended"], &fields["next"]),
        (&json!("count"), &hex(BASE + 8))
    );
    let fields = wire
        .fields(
            "hd_mem_disassemble",
            json!({"address": hex(HOLE - 3), "count": 9}),
        )
        .await;
    assert_eq!(fields["ended"], "unreadable");
    wire.error(
        "invalid_argument",
        "hd_mem_disassemble",
        json!({"address": hex(BASE), "bits": 16}),
    )
    .await;
}

#[tokio::test]
async fn registers_are_read_by_name_and_written_with_the_old_value() {
    let mut wire = Wire::ready().await;
    let fields = wire.fields("hd_reg_read_all", json!({})).await;
    let rip = fields["registers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|register| register["name"] == "rip")
        .unwrap();
    assert_eq!(rip["value"], hex(BASE));
    assert_eq!(
        wire.fields("hd_reg_read", json!({"register": "RIP"})).await,
        json!({"register": "rip", "value": hex(BASE), "session": "s1, epoch 1, paused"})
    );
    let fields = wire
        .fields(
            "hd_reg_write",
            json!({"register": "rax", "value": "0xffffffff`ffffffff"}),
        )
        .await;
    assert_eq!(
        (&fields["old_value"], &fields["value"]),
        (&json!("0x0"), &hex(u64::MAX))
    );
    let text = wire
        .error("invalid_argument", "hd_reg_read", json!({"register": "rxa"}))
        .await;
    assert!(text.contains("did you mean"), "{text}");
    wire.error(
        "invalid_argument",
        "hd_reg_write",
        json!({"register": "rax", "value": 5}),
    )
    .await;
}

#[tokio::test]
async fn expressions_and_scripts_answer_or_say_why() {
    let mut wire = Wire::ready().await;
    let fields = wire
        .fields("hd_script_eval", json!({"expression": "@rax + 20"}))
        .await;
    assert_eq!(
        (&fields["value"], &fields["decimal"]),
        (&json!("0x2a"), &json!("42"))
    );
    assert!(fields["note"].as_str().unwrap().contains("0x20"));
    let text = wire
        .error("invalid_argument", "hd_script_eval", json!({"expression": "bad"}))
        .await;
    assert!(
        text.contains("could not evaluate") && text.contains("syntax error") && !text.contains("0x2a"),
        "{text}"
    );
    let fields = wire
        .fields("hd_script_run", json!({"script": "printf(\"x\");"}))
        .await;
    assert_eq!(fields["output"]["captured"], "script says\n");
}

#[tokio::test]
async fn commands_return_their_text_or_the_meaning_of_their_error() {
    let mut wire = Wire::ready().await;
    let result = wire.call("hd_exec_command", json!({"command": "db 1000"})).await;
    assert_eq!(result["structuredContent"]["output"]["captured"], "ran db 1000\n");
    assert!(
        result["structuredContent"]["note"]
            .as_str()
            .unwrap()
            .contains("0x1000")
    );
    wire.error(
        "invalid_argument",
        "hd_exec_command",
        json!({"command": "unknown"}),
    )
    .await;
    wire.error("policy_denied", "hd_exec_command", json!({"command": "exit"}))
        .await;
    wire.error(
        "invalid_argument",
        "hd_exec_command",
        json!({"command": "lm\u{0}"}),
    )
    .await;
    assert_eq!(*wire.fake.commands.lock().unwrap(), ["db 1000", "unknown"]);
    *wire.fake.prints.lock().unwrap() = Some(b"err, no such event (c0000000)\n".to_vec());
    let text = wire.call("hd_exec_command", json!({"command": "be 9"})).await;
    assert!(
        text["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("code: 0xc0000000")
    );
}

#[tokio::test]
async fn a_breakpoint_gets_its_number() {
    let mut wire = Wire::ready().await;
    let fields = wire.fields("hd_bp_set", json!({"address": hex(BASE)})).await;
    assert_eq!(
        (&fields["id"], &fields["address"], &fields["enabled"]),
        (&json!("0x1"), &hex(BASE), &json!(true))
    );
    assert_eq!(
        wire.fields("hd_bp_set", json!({"address": hex(BASE + 4)})).await["id"],
        "0x2"
    );
    // The library says success for one that is there already.
    wire.error("debugger", "hd_bp_set", json!({"address": hex(BASE)}))
        .await;
}

#[tokio::test]
async fn a_running_target_is_a_normal_answer_and_its_stop_is_told_once() {
    let mut wire = Wire::ready().await;
    let fields = wire.fields("hd_exec_continue", json!({"wait_ms": 20})).await;
    assert_eq!(fields["state"], "running");
    wire.error("target_running", "hd_mem_read", json!({"address": hex(BASE)}))
        .await;
    wire.error("target_running", "hd_exec_continue", json!({})).await;
    assert_eq!(
        wire.fields("hd_exec_wait", json!({"timeout_ms": 10})).await["state"],
        "running"
    );
    let status = wire.fields("hd_session_status", json!({})).await;
    assert_eq!(
        (&status["run_state"], &status["mode"]),
        (&json!("running"), &json!("debugger"))
    );
    wire.fake
        .stop_with("breakpoint 0x1 hit\nfffff800`00000000  90  nop\n");
    let fields = wire.fields("hd_exec_wait", json!({})).await;
    assert_eq!(
        (&fields["state"], &fields["reason"], &fields["id"]),
        (&json!("stopped"), &json!("breakpoint"), &json!("0x1"))
    );
    assert_eq!(
        (&fields["rip"], &fields["next"][0], &fields["core"]),
        (&hex(BASE), &json!("sub rsp, 0x28"), &json!(0))
    );
    assert_eq!(fields["exec_id"], "s1.1");
    wire.error("wrong_mode", "hd_exec_wait", json!({})).await;
}

#[tokio::test]
async fn a_pause_reports_the_stop_that_it_brought_about() {
    let mut wire = Wire::ready().await;
    let fields = wire.fields("hd_exec_pause", json!({})).await;
    assert_eq!(
        (&fields["state"], &fields["waited_ms"]),
        (&json!("stopped"), &json!(0))
    );
    wire.fields("hd_exec_continue", json!({"wait_ms": 0})).await;
    let fields = wire.fields("hd_exec_pause", json!({})).await;
    assert_eq!(
        (&fields["state"], &fields["reason"]),
        (&json!("stopped"), &json!("user"))
    );
    let fields = wire.fields("hd_exec_command", json!({"command": "lm"})).await;
    assert_eq!(fields["forwarded"], false);
}

#[tokio::test]
async fn steps_report_where_each_one_ended() {
    let mut wire = Wire::ready().await;
    let fields = wire.fields("hd_exec_step", json!({"count": 2})).await;
    assert_eq!(fields["steps"], 2);
    assert_eq!(
        fields["path"][0],
        json!({"rip": hex(BASE + 4), "instruction": "nop"})
    );
    wire.error("invalid_argument", "hd_exec_step", json!({"count": 65}))
        .await;
    wire.error("invalid_argument", "hd_exec_step", json!({"kind": "out"}))
        .await;
}

#[tokio::test]
async fn a_session_opens_as_asked_and_asks_back_for_what_is_missing() {
    let mut wire = Wire::start(Setup {
        opens: None,
        ..Setup::default()
    });
    wire.shake_hands().await;
    let text = wire
        .error("not_connected", "hd_mem_read", json!({"address": hex(BASE)}))
        .await;
    assert!(text.contains("hd_session_open"), "{text}");
    assert_eq!(wire.fields("hd_session_status", json!({})).await["open"], false);
    let text = wire
        .error("invalid_argument", "hd_session_open", json!({"mode": "debugger"}))
        .await;
    assert!(text.contains("Ask the person"), "{text}");
    wire.error(
        "invalid_argument",
        "hd_session_open",
        json!({"mode": "debugger", "serial_port": "COM7"}),
    )
    .await;
    // A connection that the library calls a success and that its prompt belies.
    wire.error(
        "not_connected",
        "hd_session_open",
        json!({"mode": "remote", "address": "10.0.0.1"}),
    )
    .await;
    let fields = wire
        .fields(
            "hd_session_open",
            json!({"mode": "debugger", "pipe": r"\\.\pipe\x"}),
        )
        .await;
    assert_eq!(fields["mode"], "debugger");
    wire.fields("hd_mem_read", json!({"address": hex(BASE)})).await;
    let fields = wire.fields("hd_session_close", json!({})).await;
    assert_eq!(
        (&fields["requested"], &fields["observed"]),
        (&json!("keep"), &json!("paused"))
    );
    wire.error("not_connected", "hd_session_close", json!({})).await;
    wire.fields("hd_session_open", json!({"mode": "offline"})).await;
    wire.error("wrong_mode", "hd_reg_read", json!({"register": "rip"}))
        .await;
    wire.error("wrong_mode", "hd_bp_set", json!({"address": hex(BASE)}))
        .await;
}

#[tokio::test]
async fn local_reads_go_page_by_page() {
    let mut wire = Wire::start(Setup {
        opens: Some(Connection::Local),
        ..Setup::default()
    });
    wire.shake_hands().await;
    // The fake has no local machine: only the sizes of the requests matter here.
    *wire.fake.refuses_memory.lock().unwrap() = Some(ToolError::new(Category::Unreadable, "No."));
    wire.call(
        "hd_mem_read",
        json!({"address": hex(BASE + 0x800), "size": 0x1800}),
    )
    .await;
    let reads = wire.fake.reads.lock().unwrap().clone();
    assert!(reads.iter().all(|size| *size <= 0x1000), "{reads:?}");
}

#[tokio::test]
async fn errors_of_every_category_are_readable_by_every_client() {
    for category in Category::ALL {
        let mut wire = Wire::ready().await;
        let error = ToolError::new(category, "It failed.").next_step("Do this.");
        *wire.fake.refuses_memory.lock().unwrap() = Some(error);
        // `call` checks that an error carries no structured half, so that none is held against the output schema.
        let text = wire
            .error(category.name(), "hd_mem_read", json!({"address": hex(BASE)}))
            .await;
        assert!(text.contains("It failed.\nnext step: Do this."), "{text}");
    }
}

#[tokio::test]
async fn a_tool_that_is_not_served_says_which_flag_serves_it() {
    let mut wire = Wire::start(Setup {
        selection: Selection {
            read_only: true,
            ..Selection::default()
        },
        ..Setup::default()
    });
    wire.shake_hands().await;
    let text = wire.error("policy_denied", "hd_mem_write", json!({})).await;
    assert!(text.contains("without --read-only"), "{text}");
}

#[tokio::test]
async fn a_call_that_hangs_is_given_up_with_its_client() {
    let mut wire = Wire::ready().await;
    wire.fields("hd_mem_read", json!({"address": hex(BASE)})).await;
    wire.fake.hangs.store(true, Ordering::SeqCst);
    let fake: std::sync::Arc<Fake> = wire.fake.clone();
    wire.send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hd_mem_read","arguments":{"address":"0xfffff80000000000"}}}"#).await;
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#)
        .await;
    assert!(
        wire.is_silent(std::time::Duration::from_millis(500)).await,
        "nothing is sent after a cancel"
    );
    assert_eq!(fake.dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_stop_goes_to_the_next_who_waits_when_its_caller_goes_away_and_names_its_run() {
    let mut wire = Wire::ready().await;
    let fields = wire.fields("hd_exec_continue", json!({})).await;
    assert_eq!(
        (&fields["state"], &fields["exec_id"]),
        (&json!("running"), &json!("s1.1"))
    );
    wire.error("invalid_argument", "hd_exec_wait", json!({"exec_id": "s1.9"}))
        .await;
    wire.error("invalid_argument", "hd_exec_wait", json!({"exec_id": "s7.1"}))
        .await;
    wire.error("invalid_argument", "hd_exec_wait", json!({"exec_id": "x"}))
        .await;
    wire.fake
        .stop_with("event 0x2 triggered (post)\nfffff800`00000000  90  nop\n");
    let fields = wire.fields("hd_exec_wait", json!({"exec_id": "s1.1"})).await;
    assert_eq!(
        (
            &fields["reason"],
            &fields["id"],
            &fields["stage"],
            &fields["exec_id"]
        ),
        (&json!("event"), &json!("0x2"), &json!("post"), &json!("s1.1"))
    );
    wire.error("wrong_mode", "hd_exec_wait", json!({"exec_id": "s1.1"}))
        .await;
    wire.fields("hd_exec_continue", json!({})).await;
    let text = wire
        .error("wrong_mode", "hd_exec_wait", json!({"exec_id": "s1.1"}))
        .await;
    assert!(text.contains("s1.2"), "{text}");
}

#[tokio::test]
async fn registers_that_changed_since_the_last_stop_are_told() {
    let mut wire = Wire::ready().await;
    for (rax, changed) in [(0, json!(null)), (7, json!(["rax=0x7"]))] {
        wire.fields("hd_exec_continue", json!({})).await;
        *wire.fake.rax.lock().unwrap() = rax;
        wire.fake.stop_with("fffff800`00000000  90  nop\n");
        let fields = wire.fields("hd_exec_wait", json!({})).await;
        assert_eq!(fields["changed"], changed);
    }
}

#[tokio::test]
async fn sessions_are_named_and_ended_ones_are_told_from_those_that_never_were() {
    let mut wire = Wire::ready().await;
    wire.fields("hd_mem_read", json!({"address": hex(BASE)})).await;
    let second = wire.fields("hd_session_open", json!({"mode": "offline"})).await;
    assert_eq!(second["session_id"], "s2");
    assert_eq!(second["session"], "s2, epoch 2, not_applicable");
    // Without a name it is the one that was opened last.
    wire.error("wrong_mode", "hd_reg_read", json!({"register": "rip"}))
        .await;
    let first = wire
        .fields("hd_reg_read", json!({"register": "rip", "session_id": "s1"}))
        .await;
    assert_eq!(first["session"], "s1, epoch 1, paused");
    let status = wire
        .fields("hd_session_status", json!({"session_id": "s1"}))
        .await;
    assert_eq!(status["sessions"].as_array().unwrap().len(), 2);
    wire.fields("hd_session_close", json!({"session_id": "s1"})).await;
    let text = wire
        .error(
            "not_connected",
            "hd_mem_read",
            json!({"address": hex(BASE), "session_id": "s1"}),
        )
        .await;
    assert!(text.contains("has ended") && text.contains("s2"), "{text}");
    let text = wire
        .error(
            "invalid_argument",
            "hd_mem_read",
            json!({"address": hex(BASE), "session_id": "s9"}),
        )
        .await;
    assert!(text.contains("never"), "{text}");
    for _ in 0..3 {
        wire.fields("hd_session_open", json!({"mode": "offline"})).await;
    }
    let text = wire
        .error("busy", "hd_session_open", json!({"mode": "offline"}))
        .await;
    assert!(text.contains("4 sessions are open"), "{text}");
}

#[tokio::test]
async fn a_run_to_an_address_leaves_no_breakpoint_whether_it_is_reached_or_not() {
    let mut wire = Wire::ready().await;
    let fake = wire.fake.clone();
    let stop = tokio::spawn(async move {
        while !fake.running.load(std::sync::atomic::Ordering::SeqCst) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        *fake.rip.lock().unwrap() = BASE + 4;
        fake.stop_with("breakpoint 0x1 hit\nfffff800`00000004  90  nop\n");
    });
    let fields = wire
        .fields("hd_exec_run_to", json!({"address": hex(BASE + 4)}))
        .await;
    stop.await.unwrap();
    assert_eq!(
        (&fields["reached"], &fields["reason"]),
        (&json!(true), &json!("breakpoint"))
    );
    assert!(wire.fake.breakpoints.lock().unwrap().is_empty());
    // Nothing comes by: it is halted, and says so.
    let fields = wire
        .fields(
            "hd_exec_run_to",
            json!({"address": hex(BASE + 8), "timeout_ms": 20}),
        )
        .await;
    assert_eq!(
        (&fields["reached"], &fields["reason"]),
        (&json!(false), &json!("user"))
    );
    assert!(wire.fake.breakpoints.lock().unwrap().is_empty());
}

#[tokio::test]
async fn closing_takes_back_what_the_session_set_and_says_how_the_debuggee_is_left() {
    let mut wire = Wire::ready().await;
    wire.fields("hd_bp_set", json!({"address": hex(BASE)})).await;
    let status = wire.fields("hd_session_status", json!({})).await;
    assert_eq!(status["set"].as_array().unwrap().len(), 1, "{status}");
    let closed = wire
        .fields("hd_session_close", json!({"debuggee": "continue"}))
        .await;
    assert_eq!(
        (&closed["requested"], &closed["observed"], &closed["removed"]),
        (&json!("continue"), &json!("running"), &json!(["breakpoint 0x1"]))
    );
    assert!(wire.fake.breakpoints.lock().unwrap().is_empty());
}
