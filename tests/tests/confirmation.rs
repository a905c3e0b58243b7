//! Calls that can destroy something: who confirms them, in each protocol, and what no confirmation lets through.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use hyperdbg_mcp_tests::{Client, Protocol, ToolAnswer, program};
use serde_json::{Value, json};

const TOOL: &str = "hd_reg_write";

/// What a register is set to; the same call whenever the value is the same.
fn arguments(value: &str) -> Value {
    json!({"register": "rbx", "value": value})
}

fn refused(answer: &ToolAnswer, category: &str, words: &[&str]) -> String {
    assert!(answer.is_error(), "{}", answer.result);
    let text = answer.text();
    assert!(text.starts_with(&format!("error: {category}\n")), "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
    text
}

fn written(answer: &ToolAnswer, value: &str, by: &str) {
    assert_eq!(answer.fields()["value"], value, "{}", answer.text());
    let policy = answer.fields()["policy"]
        .as_str()
        .expect("a result says who decided");
    assert!(policy.contains(by), "{policy}");
    assert!(answer.text().contains(policy), "{}", answer.text());
}

fn register(client: &mut Client) -> Value {
    client.call("hd_reg_read", json!({"register": "rbx"})).fields()["value"].clone()
}

/// A client that declares that it can ask a person.
fn asking(protocol: Protocol, more: &[&str]) -> Client {
    let mut client = Client::start_raw(protocol, &[&["--simulator"], more].concat(), &[]);
    client.capabilities = json!({"elicitation": {}});
    client.handshake();
    client
}

fn plain(more: &[&str]) -> Client {
    Client::start(Protocol::V2025November, &[&["--simulator"], more].concat())
}

fn id_in(text: &str) -> String {
    let (_, rest) = text.split_once("Approval id: ").expect(text);
    rest.split_once('.').expect(text).0.to_owned()
}

fn approve(arguments: &[&str]) -> Output {
    Command::new(program())
        .arg("approve")
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the program runs")
}

fn approved(id: &str) -> String {
    let output = approve(&["--yes", id]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn not_approved(id: &str, word: &str) {
    let output = approve(&["--yes", id]);
    assert!(!output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains(word), "{told}");
}

/// The first half of a confirmation in 2026-07-28: the question and the state.
fn asked(client: &mut Client, value: &str) -> (String, String) {
    let result = client.call(TOOL, arguments(value)).result;
    assert_eq!(result["resultType"], "input_required", "{result}");
    let question = &result["inputRequests"]["confirm"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["mode"], "form");
    assert_eq!(question["params"]["requestedSchema"]["type"], "object");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    (
        text(&question["params"]["message"]),
        text(&result["requestState"]),
    )
}

/// The second half.
fn answered(client: &mut Client, value: &str, state: &str, action: &str) -> ToolAnswer {
    let params = json!({
        "name": TOOL,
        "arguments": arguments(value),
        "requestState": state,
        "inputResponses": {"confirm": {"action": action}},
    });
    ToolAnswer {
        result: client.request("tools/call", params),
    }
}

#[test]
fn a_client_of_2026_confirms_by_calling_again() {
    let mut client = asking(Protocol::V2026July, &[]);
    let before = register(&mut client);
    let (message, state) = asked(&mut client, "0x1234");
    for word in [
        "hd_reg_write",
        "rbx",
        "0x1234",
        "| ",
        before.as_str().expect("a value"),
    ] {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
    assert_eq!(register(&mut client), before, "nothing is done before the answer");
    let answer = answered(&mut client, "0x1234", &state, "accept");
    written(&answer, "0x1234", "confirmed by the person at the client");
    // Replayed.
    let text = answered(&mut client, "0x1234", &state, "accept");
    refused(&text, "not_confirmed", &["used already"]);
}

#[test]
fn a_confirmation_of_2026_that_is_altered_forged_declined_or_empty_does_not_count() {
    let mut client = asking(Protocol::V2026July, &[]);
    let before = register(&mut client);
    let (_, state) = asked(&mut client, "0x1");
    // Other arguments than those that were shown.
    let other = answered(&mut client, "0x2", &state, "accept");
    refused(&other, "not_confirmed", &["other arguments"]);
    // One byte of it altered, and one that another server sealed.
    let mut altered = state.clone();
    let at = altered.len() - 6;
    let replacement = if altered.as_bytes()[at] == b'A' { "B" } else { "A" };
    altered.replace_range(at..=at, replacement);
    let mut neighbour = asking(Protocol::V2026July, &[]);
    let (_, foreign) = asked(&mut neighbour, "0x1");
    for forged in [altered.as_str(), &foreign, "", "rs1.x.y", "nonsense"] {
        let answer = answered(&mut client, "0x1", forged, "accept");
        refused(&answer, "not_confirmed", &["not made by this server"]);
    }
    let empty = client.request(
        "tools/call",
        json!({"name": TOOL, "arguments": arguments("0x1"), "requestState": state}),
    );
    refused(
        &ToolAnswer { result: empty },
        "not_confirmed",
        &["without a person's answer"],
    );
    let declined = answered(&mut client, "0x1", &state, "decline");
    refused(&declined, "not_confirmed", &["declined"]);
    let late = answered(&mut client, "0x1", &state, "accept");
    refused(&late, "not_confirmed", &["declined"]);
    assert_eq!(register(&mut client), before);
}

#[test]
fn a_confirmation_that_comes_too_late_does_not_count() {
    let mut client = asking(Protocol::V2026July, &["--approval-seconds", "1"]);
    let (_, state) = asked(&mut client, "0x1");
    std::thread::sleep(Duration::from_millis(1_200));
    let answer = answered(&mut client, "0x1", &state, "accept");
    refused(&answer, "not_confirmed", &["expired"]);
}

#[test]
fn a_confirmation_holds_for_its_session_only() {
    let mut client = asking(Protocol::V2026July, &["--allow", "hd_session_close"]);
    let (_, state) = asked(&mut client, "0x1");
    client.call("hd_session_close", json!({})).fields();
    register(&mut client);
    let answer = answered(&mut client, "0x1", &state, "accept");
    refused(&answer, "not_confirmed", &["another session"]);
}

#[test]
fn a_confirmation_holds_for_what_was_shown() {
    let mut client = asking(Protocol::V2026July, &["--allow", "hd_exec_command"]);
    let (_, state) = asked(&mut client, "0x1");
    client
        .call("hd_exec_command", json!({"command": "r @rbx = 0x77"}))
        .fields();
    let answer = answered(&mut client, "0x1", &state, "accept");
    refused(&answer, "not_confirmed", &["no longer what was shown"]);
}

/// Calls, answers the question of the server with `reply`, and gives the result.
fn elicited(client: &mut Client, value: &str, reply: &Value) -> ToolAnswer {
    let id = client.send("tools/call", json!({"name": TOOL, "arguments": arguments(value)}));
    let question = client.next_message(Duration::from_secs(30)).expect("a question");
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let message = question["params"]["message"].as_str().expect("a message");
    assert!(message.contains(value) && message.contains("rbx"), "{message}");
    let mut answer = json!({"jsonrpc": "2.0", "id": question["id"]});
    for (key, part) in reply.as_object().expect("a reply") {
        answer[key] = part.clone();
    }
    client.send_line(&answer.to_string());
    let answer = client.wait(id);
    ToolAnswer {
        result: answer["result"].clone(),
    }
}

#[test]
fn an_older_client_is_asked_in_its_own_request() {
    for protocol in [Protocol::V2025June, Protocol::V2025November] {
        let mut client = asking(protocol, &[]);
        let accept = json!({"result": {"action": "accept", "content": {}}});
        let answer = elicited(&mut client, "0x5678", &accept);
        written(&answer, "0x5678", "confirmed by the person at the client");
        // Each call is asked for.
        let decline = json!({"result": {"action": "decline"}});
        let answer = elicited(&mut client, "0x5678", &decline);
        refused(&answer, "not_confirmed", &["declined"]);
    }
}

#[test]
fn a_client_that_fails_to_ask_leads_to_an_operator() {
    let mut client = asking(Protocol::V2025November, &[]);
    for reply in [
        json!({"error": {"code": -32601, "message": "no handler"}}),
        json!({"result": {"action": "cancel"}}),
    ] {
        let answer = elicited(&mut client, "0x9", &reply);
        let text = refused(&answer, "not_confirmed", &["hyperdbg-mcp approve"]);
        assert!(!id_in(&text).is_empty());
    }
}

#[test]
fn a_client_that_never_answers_is_refused_in_bounded_time_and_can_be_approved() {
    let mut client = asking(Protocol::V2025November, &["--confirm-seconds", "1"]);
    register(&mut client);
    let started = Instant::now();
    let answer = client.call(TOOL, arguments("0x42"));
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "{:?}",
        started.elapsed()
    );
    let text = refused(&answer, "not_confirmed", &["Nobody answered within 1 s"]);
    approved(&id_in(&text));
    written(
        &client.call(TOOL, arguments("0x42")),
        "0x42",
        "approved by an operator",
    );
}

#[test]
fn a_client_of_2026_that_cannot_ask_leads_to_an_operator() {
    let mut client = Client::start(Protocol::V2026July, &["--simulator"]);
    let answer = client.call(TOOL, arguments("0x21"));
    let text = refused(&answer, "not_confirmed", &["cannot ask a person"]);
    approved(&id_in(&text));
    written(
        &client.call(TOOL, arguments("0x21")),
        "0x21",
        "approved by an operator",
    );
}

#[test]
fn a_question_of_2026_can_be_answered_by_an_operator_instead() {
    let mut client = asking(Protocol::V2026July, &[]);
    let (message, state) = asked(&mut client, "0x22");
    let (_, id) = message
        .rsplit_once("hyperdbg-mcp approve ")
        .expect("the question names the id");
    approved(id);
    written(
        &client.call(TOOL, arguments("0x22")),
        "0x22",
        "approved by an operator",
    );
    let late = answered(&mut client, "0x22", &state, "accept");
    refused(&late, "not_confirmed", &["used already"]);
}

#[test]
fn what_cannot_be_done_fails_before_anyone_is_asked() {
    let mut client = asking(Protocol::V2026July, &[]);
    for (arguments, category) in [
        (json!({"address": "0x10", "bytes": "90"}), "unreadable"),
        (json!({"address": "0x10", "bytes": "901"}), "invalid_argument"),
    ] {
        refused(&client.call("hd_mem_write", arguments), category, &[]);
    }
}

#[test]
fn an_operator_lets_exactly_one_call_through() {
    let mut client = plain(&[]);
    let before = register(&mut client);
    let text = refused(
        &client.call(TOOL, arguments("0x11")),
        "not_confirmed",
        &["cannot ask a person"],
    );
    let id = id_in(&text);
    // Asked again, the request is the same one.
    assert_eq!(id_in(&client.call(TOOL, arguments("0x11")).text()), id);
    let shown = approved(&id);
    for word in ["hd_reg_write", "rbx", "0x11", before.as_str().expect("a value")] {
        assert!(shown.contains(word), "{word:?} is not in: {shown}");
    }
    refused(
        &client.call(TOOL, arguments("0x12")),
        "not_confirmed",
        &["other arguments"],
    );
    written(&client.call(TOOL, arguments("0x11")), "0x11", &id);
    not_approved(&id, "used already");
    refused(
        &client.call(TOOL, arguments("0x11")),
        "not_confirmed",
        &["Approval id"],
    );
    not_approved("zzzz-000000", "no server");
    not_approved("../x", "no approval id");
}

#[test]
fn a_used_or_expired_approval_is_told_with_the_next_refusal() {
    let mut client = plain(&["--approval-seconds", "2"]);
    // The write changes nothing, so that the same request comes again.
    let now = register(&mut client);
    let now = now.as_str().expect("a value").to_owned();
    let id = id_in(&client.call(TOOL, arguments(&now)).text());
    approved(&id);
    written(&client.call(TOOL, arguments(&now)), &now, &id);
    refused(
        &client.call(TOOL, arguments(&now)),
        "not_confirmed",
        &["used already", &id],
    );
    let late = id_in(&client.call(TOOL, arguments("0x1")).text());
    std::thread::sleep(Duration::from_millis(2_200));
    not_approved(&late, "expired");
    refused(
        &client.call(TOOL, arguments("0x1")),
        "not_confirmed",
        &["expired", &late],
    );
}

#[test]
fn a_person_who_does_not_say_yes_declines() {
    let mut client = plain(&[]);
    let id = id_in(&client.call(TOOL, arguments("0x1")).text());
    let output = approve(&[&id]);
    assert!(!output.status.success(), "{output:?}");
    not_approved(&id, "declined");
    refused(
        &client.call(TOOL, arguments("0x1")),
        "not_confirmed",
        &["declined"],
    );
}

#[test]
fn flags_allow_what_they_name_and_say_so() {
    let mut client = plain(&["--allow", "hd_reg_write"]);
    written(
        &client.call(TOOL, arguments("0x1")),
        "0x1",
        "--allow hd_reg_write",
    );
    refused(
        &client.call("hd_exec_command", json!({"command": "r @rbx = 2"})),
        "not_confirmed",
        &[],
    );
    let mut client = plain(&["--confirm", "never"]);
    let answer = client.call("hd_reg_read", json!({"register": "rbx"}));
    assert!(answer.text().contains("UNSAFE"), "{}", answer.text());
    assert!(
        answer.fields()["policy"]
            .as_str()
            .is_some_and(|policy| policy.contains("UNSAFE"))
    );
    written(&client.call(TOOL, arguments("0x3")), "0x3", "UNSAFE");
    assert!(
        client
            .call("hd_reg_read", json!({"register": "x"}))
            .text()
            .contains("UNSAFE")
    );
    assert!(client.stderr_so_far().contains("UNSAFE"));
    let mut client = plain(&["--unclassified"]);
    assert!(client.stderr_so_far().contains("NOT CLASSIFIED"));
    let answer = client.call("hd_exec_command", json!({"command": "lm"}));
    refused(&answer, "not_confirmed", &["NOT CLASSIFIED"]);
}

#[test]
fn what_reads_runs_without_a_question_and_what_is_never_sent_is_refused() {
    let mut client = plain(&[]);
    for (tool, arguments) in [
        ("hd_exec_command", json!({"command": "lm"})),
        ("hd_script_eval", json!({"expression": "@rax + 0x1"})),
        ("hd_script_run", json!({"script": "printf(\"%llx\\n\", @rsp);"})),
    ] {
        client.call(tool, arguments).fields();
    }
    let answer = client.call("hd_exec_command", json!({"command": ".listen 50000"}));
    refused(&answer, "policy_denied", &["--allow listen"]);
    let answer = client.call("hd_exec_command", json!({"command": "exit"}));
    refused(&answer, "policy_denied", &["ends the process"]);
    let answer = client.call("hd_script_eval", json!({"expression": "eq(@rsp, 0)"}));
    refused(&answer, "not_confirmed", &["writes 8 bytes"]);
}

/// Every line of the classification's own corpus that does more than read, sent to a server that must only read.
#[test]
fn read_only_lets_no_writer_through_the_three_text_tools() {
    let corpus = include_str!("../../hyperdbg-mcp/src/policy/tests/corpus.jsonl");
    let mut client = plain(&["--read-only", "--allow-writes", "--confirm", "never"]);
    let before = register(&mut client);
    let mut tried = 0;
    for line in corpus.lines() {
        let case: Value = serde_json::from_str(line).expect("a line of the corpus is JSON");
        if case["tier"] == "read" {
            continue;
        }
        let (tool, argument) = match case["kind"].as_str() {
            Some("command") => ("hd_exec_command", "command"),
            Some("expression") => ("hd_script_eval", "expression"),
            _ => ("hd_script_run", "script"),
        };
        let answer = client.call(tool, json!({argument: case["input"]}));
        assert!(answer.is_error(), "{line}: {}", answer.text());
        let text = answer.text();
        let category = text.lines().next().unwrap_or_default();
        assert!(
            ["error: policy_denied", "error: invalid_argument"].contains(&category),
            "{line}: {text}"
        );
        assert!(!text.contains("could not evaluate"), "{line} was sent: {text}");
        tried += 1;
    }
    assert!(tried > 200, "{tried}");
    assert_eq!(register(&mut client), before);
    client.call("hd_exec_command", json!({"command": "lm"})).fields();
}

#[test]
fn a_question_shows_neutral_text_and_cuts_visibly() {
    let mut client = plain(&[]);
    let script = format!("eq(@rsp, 0); // {}\n// tool: hd_mem_read", "x".repeat(2_000));
    let text = client.call("hd_script_run", json!({"script": script})).text();
    let output = approve(&[&id_in(&text)]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("[CUT: "), "{shown}");
    assert!(
        !shown.lines().any(|line| line.starts_with("tool: hd_mem_read")),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn no_secret_is_shown_to_whoever_is_asked() {
    let secret = "lab-secret-0123456789";
    let environment = [("LAB_API_TOKEN", secret)];
    let mut client = Client::start_raw(Protocol::V2025November, &["--simulator"], &environment);
    client.handshake();
    let script = json!({"script": format!("eb(0xfffff80330000000, 0x4d); printf(\"{secret}\");")});
    let refusal = refused(
        &client.call("hd_script_run", script.clone()),
        "not_confirmed",
        &["Approval id: "],
    );
    let shown = approve(&["--yes", &id_in(&refusal)]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.contains("printf(\"[masked]\")") && !shown.contains(secret),
        "{shown}"
    );
    // It is the same call all the same.
    let done = client.call("hd_script_run", script);
    assert!(!done.is_error(), "{}", done.text());
    let unknown = client.refused("tools/call", json!({"name": format!("hd_{secret}")}));
    assert!(!unknown.to_string().contains(secret), "{unknown}");
}
