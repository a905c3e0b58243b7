//! A debuggee that lies: what it puts into names, memory and printed text reaches the client marked and disarmed, and
//! nothing else of the program at all.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::collections::BTreeSet;
use std::time::Duration;

use hyperdbg_mcp_tests::{Client, Protocol, ToolAnswer};
use serde_json::{Map, Value, json};

/// Stands in every text of the hostile debuggee.
const CANARY: &str = "HOSTILE-CANARY";
/// Where its text lies in memory.
const ADDRESS: &str = "0xfffff80340008200";

/// Whether a text can act on its reader or on a terminal.
fn is_armed(text: &str) -> bool {
    text.chars().any(|ch| {
        let hidden = matches!(ch, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffd}');
        hidden || (ch.is_control() && ch != '\n' && ch != '\t')
    })
}

fn has_marker(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("<captured-") || lower.contains("</captured-")
}

/// Splits a text half into our words and what stands in envelopes; each with a nonce that was never seen.
fn split(text: &str, nonces: &mut BTreeSet<String>) -> (String, String) {
    let (mut own, mut captured, mut rest) = (String::new(), String::new(), text);
    while let Some(at) = rest.find("<captured-") {
        own.push_str(&rest[..at]);
        let tail = &rest[at + "<captured-".len()..];
        let (nonce, tail) = tail.split_once('>').expect("a marker ends");
        assert!(
            nonce.len() == 16 && nonces.insert(nonce.to_owned()),
            "nonce {nonce} in {text}"
        );
        let (content, tail) = tail
            .split_once(&format!("</captured-{nonce}>"))
            .unwrap_or_else(|| panic!("an envelope is not closed: {text}"));
        captured.push_str(content);
        rest = tail;
    }
    own.push_str(rest);
    (own, captured)
}

/// Every string of a structured half is disarmed, and holds the target's words only where the schema says so.
fn check_fields(path: &str, value: &Value, schema: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                assert!(!name.contains(CANARY));
                let inner = format!("{path}.{name}");
                check_fields(&inner, value, &schema["properties"][name]);
            }
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| check_fields(path, value, &schema["items"])),
        Value::String(text) => {
            assert!(!is_armed(text) && !has_marker(text), "{path}: {text:?}");
            let described = schema["description"].as_str().unwrap_or_default();
            let is_declared = described.starts_with("Captured data") || path.ends_with(".output.captured");
            assert!(
                is_declared || !text.contains(CANARY),
                "{path} is not declared as captured data: {text:?}"
            );
        }
        _ => {}
    }
}

struct Watch {
    client: Client,
    nonces: BTreeSet<String>,
    schemas: Map<String, Value>,
}

impl Watch {
    /// Calls a tool and checks both halves; gives back what it captured.
    fn call(&mut self, tool: &str, arguments: Value) -> (ToolAnswer, String) {
        let answer = self.client.call(tool, arguments);
        let text = answer.text();
        assert!(!is_armed(&text), "{tool}: {text:?}");
        let (own, captured) = split(&text, &mut self.nonces);
        assert!(
            !own.contains(CANARY) && !has_marker(&own),
            "{tool}: unmarked in {text}"
        );
        assert!(!has_marker(&captured), "{tool}: a forged marker in {text}");
        check_fields("", &answer.result["structuredContent"], &self.schemas[tool]);
        (answer, captured)
    }
}

/// An argument that fits a schema, so that most tools get as far as the library.
fn argument(name: &str, schema: &Value) -> Value {
    match (name, schema["type"].as_str()) {
        ("command", _) => json!("lm"),
        ("expression", _) => json!("0x1 + 0x2"),
        ("script", _) => json!("printf(\"seen\\n\");"),
        ("register", _) => json!("rax"),
        ("mode", _) => json!("offline"),
        ("bytes", _) => json!("90"),
        ("id", _) => json!("out-1"),
        ("assembly" | "code" | "text", _) => json!("nop"),
        (_, Some("integer")) => schema.get("minimum").cloned().unwrap_or(json!(1)),
        (_, Some("boolean")) => json!(false),
        (_, Some("array")) => json!([]),
        (_, Some("object")) => json!({}),
        _ => match schema["enum"].as_array().and_then(|values| values.first()) {
            Some(first) => first.clone(),
            None => json!(ADDRESS),
        },
    }
}

#[test]
fn nothing_that_the_debuggee_says_leaves_unmarked() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("audit.jsonl");
    let arguments = [
        "--simulator",
        "--allow-writes",
        "--confirm",
        "never",
        "--tools",
        "all",
        "--audit",
        log.to_str().expect("text"),
    ];
    let environment = [
        ("HYPERDBG_SIM_FAULT", "hostile"),
        ("HYPERDBG_MCP_LOG", "debug,rmcp=warn"),
    ];
    let mut client = Client::start_raw(Protocol::V2025November, &arguments, &environment);
    let greeting = client.handshake();
    let instructions = greeting["instructions"].as_str().expect("instructions");
    assert!(instructions.contains("<captured-NONCE>") && instructions.chars().count() <= 2_000);
    let tools = client.tools();
    let schemas = tools
        .iter()
        .map(|tool| {
            (
                tool["name"].as_str().expect("a name").to_owned(),
                tool["outputSchema"].clone(),
            )
        })
        .collect();
    let mut watch = Watch {
        client,
        nonces: BTreeSet::new(),
        schemas,
    };

    // Names, memory, a command's text, a script's text, an error's text, and a part that is read on.
    let (modules, seen) = watch.call("hd_mod_list", json!({"which": "kernel"}));
    assert!(
        seen.contains("\\x3c/captured-1>\\x1b[31mHOSTILE-CANARY\\u{202e}"),
        "{seen}"
    );
    assert!(modules.fields().to_string().contains(CANARY));
    let (memory, _) = watch.call("hd_mem_read", json!({"address": ADDRESS, "size": 600}));
    assert!(!memory.is_error());
    let (_, seen) = watch.call("hd_exec_command", json!({"command": format!("da {ADDRESS}")}));
    assert!(seen.contains(CANARY), "{seen}");
    let script = json!({"script": format!("printf(\"%s\\n\", {ADDRESS});")});
    let (_, seen) = watch.call("hd_script_run", script);
    assert!(seen.contains(CANARY), "{seen}");
    let (error, seen) = watch.call("hd_exec_command", json!({"command": "bc 0x77"}));
    assert!(error.is_error() && seen.contains(CANARY), "{}", error.text());
    let script =
        json!({"script": format!("for (i = 0; i < 0x40; i = i + 1) {{ printf(\"%s\\n\", {ADDRESS}); }}")});
    let (long, _) = watch.call("hd_script_run", script);
    let id = long.fields()["output"]["id"]
        .as_str()
        .expect("more than a page")
        .to_owned();
    let (_, seen) = watch.call("hd_output_read", json!({"id": id, "offset": 0}));
    assert!(seen.contains(CANARY), "{seen}");

    // Every other tool, whatever it makes of its arguments.
    let last = "hd_session_close";
    let mut marked = 0;
    for tool in tools.iter().filter(|tool| tool["name"] != last) {
        let name = tool["name"].as_str().expect("a name");
        let schema = &tool["inputSchema"];
        let mut given: Map<String, Value> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|property| {
                (
                    property.to_owned(),
                    argument(property, &schema["properties"][property]),
                )
            })
            .collect();
        if schema["properties"].get("wait_ms").is_some() {
            given.insert("wait_ms".to_owned(), json!(0));
        }
        let (_, seen) = watch.call(name, Value::Object(given));
        marked += usize::from(seen.contains(CANARY));
    }
    assert!(marked > 30, "only {marked} tools were lied to");
    watch.call(last, json!({}));

    let Watch { mut client, .. } = watch;
    assert!(
        client.others.is_empty(),
        "messages of the debuggee: {:?}",
        client.others
    );
    let stderr = client.stderr_so_far();
    assert!(!stderr.contains(CANARY) && !is_armed(&stderr), "{stderr}");
    assert!(client.finish(Duration::from_secs(20)).success());
    let audit = std::fs::read_to_string(&log).expect("a log");
    assert!(audit.lines().count() > 2 * tools.len());
    assert!(!audit.contains(CANARY) && !has_marker(&audit) && !is_armed(&audit));
}
