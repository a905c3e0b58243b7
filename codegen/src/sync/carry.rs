//! Carries the entries in `api/tools` over to the new names of parameters: a name alone decides nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::diff::RenamedParameter;
use crate::emit::File;

/// Keys of a role that name another parameter.
const RELATIONS: [&str; 4] = ["of", "length", "capacity", "written"];

/// The files of `api/tools` that speak of a renamed parameter, with its new name.
///
/// A file that is no JSON is left out: reading it gives the finding.
///
/// # Errors
/// When the folder or a file cannot be read.
pub(super) fn files(api: &Path, renamed: &[RenamedParameter]) -> io::Result<Vec<File>> {
    let mut names: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for one in renamed {
        let of = names.entry(&one.function).or_default();
        of.insert(&one.was, &one.name);
    }
    let mut carried = Vec::new();
    if names.is_empty() {
        return Ok(carried);
    }
    for entry in fs::read_dir(api.join("tools"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".json") || name.starts_with('.') {
            continue;
        }
        let text = fs::read_to_string(api.join("tools").join(&name))?;
        if let Some(contents) = carry(&text, &names) {
            carried.push(File {
                path: format!("api/tools/{name}"),
                contents,
            });
        }
    }
    carried.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(carried)
}

/// The text with the new names; none where nothing changes. `names` are by function, old and new.
fn carry(text: &str, names: &BTreeMap<&str, BTreeMap<&str, &str>>) -> Option<String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?;
    let Some(Value::Object(file)) = &parsed.value else {
        return None;
    };
    let mut edits = Vec::new();
    for function in &file.get_object("functions")?.properties {
        if let (Some(names), Value::Object(body)) = (names.get(function.name.as_str()), &function.value) {
            entry(body, names, &mut edits);
        }
    }
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::new();
    let mut at = 0;
    for (range, name) in edits {
        out.push_str(text.get(at..range.start)?);
        out.push_str(&serde_json::Value::from(name).to_string());
        at = range.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// The edits in one function's entry.
fn entry(body: &Object<'_>, names: &BTreeMap<&str, &str>, edits: &mut Vec<(Range, String)>) {
    let mut reference = |prop: &ObjectProp<'_>| {
        if let Value::StringLit(said) = &prop.value
            && let Some(name) = names.get(&*said.value)
        {
            edits.push((said.range, (*name).to_owned()));
        }
    };
    if let Some(param) = body.get_object("status").and_then(|status| status.get("param")) {
        reference(param);
    }
    let Some(params) = body.get_object("params") else {
        return;
    };
    for param in &params.properties {
        if let Value::Object(role) = &param.value {
            let related = role.properties.iter();
            related
                .filter(|prop| RELATIONS.contains(&prop.name.as_str()))
                .for_each(&mut reference);
        }
    }
    for param in &params.properties {
        if let Some(name) = names.get(param.name.as_str()) {
            edits.push((param.name.range(), (*name).to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_goes_wherever_the_old_one_stood_and_nowhere_else() {
        let text = r#"{ "functions": {
  "f": { "params": { "size": { "role": "value", "doc": "size" }, "b": { "role": "out_bytes", "capacity": "size" } },
         "status": { "param": "b", "field": "size" } },
  "g": { "params": { "size": {} } }
} }"#;
        let names = BTreeMap::from([("f", BTreeMap::from([("size", "b"), ("b", "size")]))]);
        let carried = carry(text, &names).unwrap();
        assert_eq!(
            carried,
            r#"{ "functions": {
  "f": { "params": { "b": { "role": "value", "doc": "size" }, "size": { "role": "out_bytes", "capacity": "b" } },
         "status": { "param": "size", "field": "size" } },
  "g": { "params": { "size": {} } }
} }"#
        );
        assert_eq!(carry(&carried, &names).as_deref(), Some(text));
        assert_eq!(carry(text, &BTreeMap::from([("h", BTreeMap::new())])), None);
        assert_eq!(carry("{", &names), None);
    }
}
