//! Holds a value against a portable JSON Schema, as a client that validates does.
#![allow(unreachable_pub, reason = "a module of test programs")]
#![allow(dead_code, reason = "each test program uses its part")]

use serde_json::{Value, json};

/// Everything in `value` that does not fit `schema`; names that the schema does not have count too.
pub fn misfits(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ => false,
    };
    if !fits {
        found.push(format!("{path}: {value} is not of type {}", schema["type"]));
        return;
    }
    if let Some(names) = schema["enum"].as_array()
        && !names.contains(value)
    {
        found.push(format!("{path}: {value} is not one of {}", schema["enum"]));
    }
    if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str()) {
        let matches = regex_lite::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
        if !matches {
            found.push(format!("{path}: {text:?} does not match {pattern}"));
        }
    }
    if let Some(number) = value.as_i64() {
        let below = schema["minimum"].as_i64().is_some_and(|least| number < least);
        let above = schema["maximum"].as_i64().is_some_and(|most| number > most);
        if below || above {
            found.push(format!("{path}: {number} is out of range"));
        }
    }
    for item in value.as_array().into_iter().flatten() {
        check(&schema["items"], item, &format!("{path}[]"), found);
    }
    let Some(fields) = value.as_object() else { return };
    for required in schema["required"].as_array().into_iter().flatten() {
        if !required.as_str().is_some_and(|name| fields.contains_key(name)) {
            found.push(format!("{path}: {required} is missing"));
        }
    }
    for (name, field) in fields {
        match schema["properties"].get(name) {
            Some(property) => check(property, field, &format!("{path}/{name}"), found),
            None => found.push(format!("{path}: {name} is not in the schema")),
        }
    }
}

/// Arguments that fit an input schema: what it requires, with the least of each.
pub fn sample(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("object") => {
            let mut object = json!({});
            for name in schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
            {
                object[name] = sample(&schema["properties"][name]);
            }
            object
        }
        Some("array") => json!([]),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        _ => match (schema["enum"].as_array(), schema["pattern"].as_str()) {
            (Some(names), _) => names[0].clone(),
            (None, Some(pattern)) if pattern.contains("0[xX]") => json!("0x1000"),
            _ => json!("nop"),
        },
    }
}
