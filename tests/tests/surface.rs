//! What agents see: one golden per tool, and the rules that keep clients from choking on it.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::collections::BTreeSet;

use hyperdbg_mcp_tests::{Client, Protocol, bless, golden};
use serde_json::Value;

fn tools(arguments: &[&str]) -> Vec<Value> {
    Client::start(Protocol::V2025November, arguments).tools()
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().expect("a tool has a name")
}

#[test]
fn every_tool_shows_what_its_golden_says() {
    let tools = tools(&["--simulator", "--tools", "all", "--allow-writes"]);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens/tools");
    let served: BTreeSet<String> = tools.iter().map(|tool| format!("{}.json", name(tool))).collect();
    if bless() && folder.is_dir() {
        std::fs::remove_dir_all(&folder).expect("old goldens are removed");
    }
    for tool in &tools {
        let shown = serde_json::to_string_pretty(tool).expect("JSON can be written") + "\n";
        golden(&format!("tools/{}.json", name(tool)), &shown);
    }
    let kept: BTreeSet<String> = std::fs::read_dir(&folder)
        .expect("there are goldens")
        .map(|entry| {
            entry
                .expect("a folder can be listed")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(
        kept, served,
        "goldens of tools that are not served: remove them, or bless"
    );
}

#[test]
fn the_default_surface_is_small() {
    for arguments in [&["--simulator"][..], &["--simulator", "--read-only"]] {
        let tools = tools(arguments);
        let bytes = serde_json::to_string(&tools).expect("JSON can be written").len();
        assert!(tools.len() <= 25, "{} tools by default", tools.len());
        assert!(bytes <= 30_000, "{bytes} bytes of model-visible JSON by default");
    }
}

#[test]
fn read_only_lists_nothing_that_changes_anything() {
    let read_only = tools(&["--simulator", "--tools", "all", "--allow-writes", "--read-only"]);
    assert!(read_only.len() > 10);
    for tool in &read_only {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{}", name(tool));
    }
    for (tool, listed) in [
        ("hd_mem_write", false),
        ("hd_exec_continue", false),
        ("hd_exec_command", true),
    ] {
        assert_eq!(
            read_only.iter().any(|known| name(known) == tool),
            listed,
            "{tool}"
        );
    }
}

#[test]
fn no_description_names_a_tool() {
    let tools = tools(&["--simulator", "--tools", "all", "--allow-writes"]);
    let names: Vec<&str> = tools.iter().map(name).collect();
    for tool in &tools {
        let description = tool["description"].as_str().expect("a tool has a description");
        assert!(
            description.chars().count() <= 1_000,
            "{} is described too long",
            name(tool)
        );
        for other in &names {
            assert!(!description.contains(other), "{} names {other}", name(tool));
        }
    }
}

#[test]
fn every_schema_is_portable() {
    for tool in tools(&["--simulator", "--tools", "all", "--allow-writes"]) {
        for half in ["inputSchema", "outputSchema"] {
            let schema = &tool[half];
            assert_eq!(schema["type"], "object", "{} {half}", name(&tool));
            for word in ["oneOf", "anyOf", "allOf", "not", "enum"] {
                assert!(
                    schema.get(word).is_none(),
                    "{} {half} has {word} at its root",
                    name(&tool)
                );
            }
            walk(schema, &format!("{} {half}", name(&tool)), half == "inputSchema");
        }
    }
}

/// Walks one schema; `place` names it in failures.
fn walk(schema: &Value, place: &str, input: bool) {
    let object = schema
        .as_object()
        .unwrap_or_else(|| panic!("{place} is not an object: {schema}"));
    for word in ["$ref", "$defs", "definitions", "$schema", "$id"] {
        assert!(!object.contains_key(word), "{place} has {word}");
    }
    let kind = object
        .get("type")
        .unwrap_or_else(|| panic!("{place} has no type: {schema}"));
    let kind = kind
        .as_str()
        .unwrap_or_else(|| panic!("{place} has several types: {kind}"));
    if let Some(format) = object.get("format") {
        assert!(
            !matches!(kind, "integer" | "number"),
            "{place} has the numeric format {format}"
        );
    }
    match kind {
        "object" => {
            let properties = object.get("properties").and_then(Value::as_object);
            let properties = properties.unwrap_or_else(|| panic!("{place} lists no properties"));
            if input {
                assert_eq!(
                    object.get("additionalProperties"),
                    Some(&Value::Bool(false)),
                    "{place}"
                );
            }
            for (property, schema) in properties {
                walk(schema, &format!("{place}.{property}"), input);
            }
        }
        "array" => {
            let items = object
                .get("items")
                .unwrap_or_else(|| panic!("{place} has untyped items"));
            walk(items, &format!("{place}[]"), input);
        }
        "string" | "integer" | "number" | "boolean" => {}
        other => panic!("{place} has type {other}"),
    }
}
