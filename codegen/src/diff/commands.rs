//! The commands and script functions of a HyperDbg checkout against `api/commands.json` and `api/script.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::source::{self, Command};
use super::{Change, Kind, Layer, Severity};
use crate::diagnostic::Diagnostics;

const COMMANDS: &str = "api/commands.json";
const SCRIPT: &str = "api/script.json";

/// Compares a checkout with the tables under `root`.
///
/// A table that is missing or unreadable is a change that says so.
///
/// # Errors
/// When the checkout cannot be read.
pub fn commands(root: &Path, checkout: &Path) -> Result<Vec<Change>, Diagnostics> {
    let mut findings = Diagnostics::new();
    let mut keep = |finding| findings.push(finding);
    let commands = source::commands(checkout).map_err(|finding| keep(*finding)).ok();
    let script = source::script(checkout).map_err(|finding| keep(*finding)).ok();
    let (Some(commands), Some(script)) = (commands, script) else {
        return Err(findings);
    };
    let mut changes = Vec::new();
    match table(root, COMMANDS).and_then(|value| Known::read(&value)) {
        Ok(known) => compare(&commands, &known, &mut changes),
        Err(what) => changes.push(unreadable(Layer::Commands, COMMANDS, &what)),
    }
    match table(root, SCRIPT) {
        Ok(value) => {
            for (key, what, found) in [
                ("functions", "script function", &script.functions),
                ("registers", "script register", &script.registers),
                (
                    "pseudo_registers",
                    "script pseudo-register",
                    &script.pseudo_registers,
                ),
                ("types", "script type", &script.types),
            ] {
                names(&value, key, what, found, &mut changes);
            }
        }
        Err(what) => changes.push(unreadable(Layer::Script, SCRIPT, &what)),
    }
    Ok(changes)
}

fn table(root: &Path, path: &str) -> Result<Value, String> {
    let text =
        fs::read_to_string(root.join(path)).map_err(|error| format!("cannot be read: {}", error.kind()))?;
    serde_json::from_str(&text).map_err(|error| format!("is not JSON: {error}"))
}

fn unreadable(layer: Layer, path: &str, what: &str) -> Change {
    change(
        layer,
        Kind::NotReadable,
        path,
        format!("`{path}` {what}"),
        None,
        "restore the file: without it nothing is known of what it should say",
    )
}

fn change(
    layer: Layer,
    kind: Kind,
    subject: &str,
    message: String,
    origin: Option<&str>,
    advice: &str,
) -> Change {
    Change {
        severity: Severity::Decision,
        layer,
        kind,
        subject: subject.to_owned(),
        message,
        details: Vec::new(),
        origin: origin.map(str::to_owned),
        functions: Vec::new(),
        tools: Vec::new(),
        advice: advice.to_owned(),
    }
}

/// What `api/commands.json` says of the spellings.
struct Known {
    spellings: BTreeMap<String, Attributes>,
}

#[derive(Clone, Copy)]
struct Attributes {
    forwarded: bool,
    resumes: bool,
}

impl Known {
    fn read(value: &Value) -> Result<Self, String> {
        let list = value.get("commands").and_then(Value::as_array);
        let list = list.ok_or("has no list `commands`")?;
        let mut spellings = BTreeMap::new();
        for command in list {
            let flag = |key: &str| command.get(key).and_then(Value::as_bool).unwrap_or(false);
            let attributes = Attributes {
                forwarded: flag("forwarded"),
                resumes: flag("resumes"),
            };
            let names = command.get("names").and_then(Value::as_array);
            let names = names.ok_or("has a command without `names`")?;
            for name in names.iter().filter_map(Value::as_str) {
                spellings.insert(name.to_owned(), attributes);
            }
        }
        Ok(Self { spellings })
    }
}

fn compare(found: &[Command], known: &Known, changes: &mut Vec<Change>) {
    for command in found {
        let name = command.spelling.as_str();
        let Some(attributes) = known.spellings.get(name) else {
            let same: Vec<String> = found
                .iter()
                .filter(|other| other.handler == command.handler && other.spelling != command.spelling)
                .map(|other| format!("`{}`", other.spelling))
                .collect();
            let mut new = change(
                Layer::Commands,
                Kind::CommandAdded,
                name,
                format!("the command `{name}` is new"),
                Some(&command.origin),
                "classify it in api/commands.json: until then it is refused",
            );
            if !same.is_empty() {
                new.details
                    .push(format!("runs the same code as {}", same.join(", ")));
            }
            changes.push(new);
            continue;
        };
        // A command that resumes the debuggee is sent to it as well.
        let sent = attributes.forwarded || attributes.resumes;
        let mut details = Vec::new();
        if attributes.resumes != command.resumes {
            details.push(if command.resumes {
                "the debuggee runs on after it"
            } else {
                "the debuggee no longer runs on after it"
            });
        }
        if sent != command.forwarded {
            details.push(if command.forwarded {
                "in debugger mode it is sent to the debuggee"
            } else {
                "in debugger mode it is no longer sent to the debuggee"
            });
        }
        if !details.is_empty() {
            let mut other = change(
                Layer::Commands,
                Kind::CommandAttributes,
                name,
                format!("the command `{name}` has other attributes"),
                Some(&command.origin),
                "check its tiers in api/commands.json, and correct `forwarded` and `resumes`",
            );
            other.details = details.into_iter().map(str::to_owned).collect();
            changes.push(other);
        }
    }
    let spellings: BTreeSet<&str> = found.iter().map(|command| command.spelling.as_str()).collect();
    for name in known
        .spellings
        .keys()
        .filter(|name| !spellings.contains(name.as_str()))
    {
        changes.push(change(
            Layer::Commands,
            Kind::CommandRemoved,
            name,
            format!("the command `{name}` is gone"),
            None,
            "remove it from api/commands.json",
        ));
    }
}

/// Compares one set of names; the table has a list or an object of them.
fn names(value: &Value, key: &str, what: &str, found: &BTreeMap<String, String>, changes: &mut Vec<Change>) {
    let known: BTreeSet<&str> = match value.get(key) {
        Some(Value::Object(map)) => map.keys().map(String::as_str).collect(),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => {
            changes.push(unreadable(Layer::Script, SCRIPT, &format!("has no `{key}`")));
            return;
        }
    };
    for (name, origin) in found {
        if !known.contains(name.as_str()) {
            changes.push(change(
                Layer::Script,
                Kind::ScriptAdded,
                name,
                format!("the {what} `{name}` is new"),
                Some(origin),
                "classify it in api/script.json: until then scripts that use it are refused",
            ));
        }
    }
    for name in known {
        if !found.contains_key(name) {
            changes.push(change(
                Layer::Script,
                Kind::ScriptRemoved,
                name,
                format!("the {what} `{name}` is gone"),
                None,
                "remove it from api/script.json",
            ));
        }
    }
}
