//! Brings JSON Schemas into the form that every client understands: one plain object, everything inline, no
//! null types, no numeric formats.

use serde_json::{Map, Value, json};

use super::SchemaSource;

/// Which side of a tool a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Arguments: closed objects at every level.
    Input,
    /// Results.
    Output,
}

impl SchemaSource {
    /// The portable form, or what stands in its way.
    pub fn portable(&self, side: Side) -> Result<Map<String, Value>, String> {
        let schema = match self {
            Self::Json(text) => serde_json::from_str(text).map_err(|error| error.to_string())?,
            Self::Rust(derive) => derive().to_value(),
        };
        portable(schema, side)
    }
}

/// The portable form of `schema`.
pub fn portable(schema: Value, side: Side) -> Result<Map<String, Value>, String> {
    let Value::Object(root) = schema else {
        return Err("the root is not an object schema".to_owned());
    };
    let definitions = ["$defs", "definitions"]
        .iter()
        .filter_map(|key| root.get(*key).and_then(Value::as_object))
        .flat_map(|defs| defs.iter().map(|(name, schema)| (name.clone(), schema.clone())))
        .collect();
    let mut cleaner = Cleaner {
        definitions,
        open: Vec::new(),
        side,
    };
    let root = cleaner.clean(root, "")?;
    if root.get("type") != Some(&json!("object")) {
        return Err("the root is not of type object".to_owned());
    }
    Ok(root)
}

struct Cleaner {
    definitions: Map<String, Value>,
    /// References being resolved, to see recursion.
    open: Vec<String>,
    side: Side,
}

impl Cleaner {
    fn clean_value(&mut self, schema: Value, path: &str) -> Result<Map<String, Value>, String> {
        match schema {
            Value::Object(schema) => self.clean(schema, path),
            _ => Err(format!("{path}: a schema that is no object has no portable form")),
        }
    }

    fn clean(&mut self, mut schema: Map<String, Value>, path: &str) -> Result<Map<String, Value>, String> {
        if let Some(reference) = schema.remove("$ref") {
            return self.inline(&reference, schema, path);
        }
        for key in [
            "$schema",
            "$id",
            "$defs",
            "definitions",
            "title",
            "format",
            "examples",
            "deprecated",
            "writeOnly",
            "readOnly",
        ] {
            schema.remove(key);
        }
        if schema.get("default").is_some_and(Value::is_null) {
            schema.remove("default");
        }
        if let Some(constant) = schema.remove("const") {
            if !constant.is_string() {
                return Err(format!("{path}: only a constant string has a portable form"));
            }
            schema.insert("type".to_owned(), json!("string"));
            schema.insert("enum".to_owned(), json!([constant]));
        }
        if let Some(Value::Array(types)) = schema.get("type") {
            let types: Vec<Value> = types.iter().filter(|name| *name != "null").cloned().collect();
            let [single] = types.as_slice() else {
                return Err(format!("{path}: several types"));
            };
            let single = single.clone();
            schema.insert("type".to_owned(), single);
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            if let Some(branches) = schema.remove(key) {
                return self.merge(key, branches, schema, path);
            }
        }
        for key in [
            "not",
            "if",
            "patternProperties",
            "propertyNames",
            "prefixItems",
            "dependentRequired",
        ] {
            if schema.contains_key(key) {
                return Err(format!("{path}: `{key}` has no portable form"));
            }
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => self.clean_object(schema, path),
            Some("array") => {
                let items = schema
                    .remove("items")
                    .ok_or_else(|| format!("{path}: an array without items"))?;
                let items = self.clean_value(items, &format!("{path}[]"))?;
                schema.insert("items".to_owned(), Value::Object(items));
                Ok(schema)
            }
            Some("string" | "integer" | "number" | "boolean") => Ok(schema),
            other => Err(format!("{path}: type {other:?} has no portable form")),
        }
    }

    fn clean_object(
        &mut self,
        mut schema: Map<String, Value>,
        path: &str,
    ) -> Result<Map<String, Value>, String> {
        if schema
            .get("additionalProperties")
            .is_some_and(|value| *value != json!(false))
        {
            return Err(format!(
                "{path}: an object with names of its own choice has no portable form"
            ));
        }
        schema.remove("additionalProperties");
        let Some(Value::Object(properties)) = schema.remove("properties").or_else(|| Some(json!({}))) else {
            return Err(format!("{path}: `properties` is not an object"));
        };
        let mut clean = Map::new();
        for (name, property) in properties {
            let property = self.clean_value(property, &format!("{path}/{name}"))?;
            clean.insert(name, Value::Object(property));
        }
        schema.insert("properties".to_owned(), Value::Object(clean));
        if let Some(required) = schema.remove("required")
            && required.as_array().is_some_and(|names| !names.is_empty())
        {
            schema.insert("required".to_owned(), required);
        }
        if self.side == Side::Input {
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
        Ok(schema)
    }

    fn inline(
        &mut self,
        reference: &Value,
        beside: Map<String, Value>,
        path: &str,
    ) -> Result<Map<String, Value>, String> {
        let name = reference
            .as_str()
            .and_then(|reference| reference.rsplit('/').next())
            .unwrap_or_default()
            .to_owned();
        let Some(Value::Object(target)) = self.definitions.get(&name).cloned() else {
            return Err(format!("{path}: the reference `{name}` leads nowhere"));
        };
        if self.open.contains(&name) {
            return Err(format!("{path}: `{name}` is recursive"));
        }
        self.open.push(name);
        let mut schema = target;
        schema.extend(beside);
        let schema = self.clean(schema, path);
        self.open.pop();
        schema
    }

    /// Branches have a portable form where one is left without null, or where all are names of one enumeration.
    fn merge(
        &mut self,
        key: &str,
        branches: Value,
        beside: Map<String, Value>,
        path: &str,
    ) -> Result<Map<String, Value>, String> {
        let Value::Array(branches) = branches else {
            return Err(format!("{path}: `{key}` is not a list"));
        };
        let mut branches: Vec<Map<String, Value>> = branches
            .into_iter()
            .filter(|branch| branch.get("type") != Some(&json!("null")))
            .map(|branch| self.clean_value(branch, path))
            .collect::<Result<_, _>>()?;
        if branches.len() == 1 {
            let mut schema = branches.remove(0);
            schema.extend(beside);
            return Ok(schema);
        }
        let names: Option<Vec<Value>> = branches
            .iter()
            .map(|branch| branch.get("enum").and_then(Value::as_array).cloned())
            .collect::<Option<Vec<_>>>()
            .map(|lists| lists.concat());
        match names {
            Some(names) if key != "allOf" => {
                let mut schema = beside;
                schema.insert("type".to_owned(), json!("string"));
                schema.insert("enum".to_owned(), Value::Array(names));
                Ok(schema)
            }
            _ => Err(format!("{path}: `{key}` has no portable form here")),
        }
    }
}

/// Everything in a served schema that breaks the rules for portable schemas; empty when there is nothing.
pub fn violations(schema: &Value, side: Side) -> Vec<String> {
    let mut found = Vec::new();
    if schema.get("type") != Some(&json!("object")) {
        found.push("the root is not of type object".to_owned());
    }
    walk(schema, side, "", &mut found);
    found
}

fn walk(schema: &Value, side: Side, path: &str, found: &mut Vec<String>) {
    const ALLOWED: [&str; 17] = [
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "default",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "multipleOf",
        "uniqueItems",
    ];
    let Some(object) = schema.as_object() else {
        found.push(format!("{path}: not an object"));
        return;
    };
    for key in object.keys().filter(|key| !ALLOWED.contains(&key.as_str())) {
        found.push(format!("{path}: keyword `{key}`"));
    }
    if object.get("default").is_some_and(Value::is_null) {
        found.push(format!("{path}: a default of null"));
    }
    match object.get("type").and_then(Value::as_str) {
        Some("object") => {
            let Some(properties) = object.get("properties").and_then(Value::as_object) else {
                found.push(format!("{path}: an object without properties"));
                return;
            };
            if side == Side::Input && object.get("additionalProperties") != Some(&json!(false)) {
                found.push(format!("{path}: an open input object"));
            }
            for name in object
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                if !name.as_str().is_some_and(|name| properties.contains_key(name)) {
                    found.push(format!("{path}: requires {name}, which it does not have"));
                }
            }
            for (name, property) in properties {
                walk(property, side, &format!("{path}/{name}"), found);
            }
        }
        Some("array") => match object.get("items") {
            Some(items) => walk(items, side, &format!("{path}[]"), found),
            None => found.push(format!("{path}: an array without items")),
        },
        Some("string" | "integer" | "number" | "boolean") => {}
        other => found.push(format!("{path}: type {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use schemars::{JsonSchema, schema_for};
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Nested {
        /// How many.
        count: Option<u32>,
        mode: Option<Mode>,
        described: Described,
        list: Vec<u64>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Mode {
        In,
        Over,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Described {
        /// The first.
        A,
        /// The second.
        B,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Root {
        #[serde(default)]
        nested: Option<Nested>,
        flag: bool,
    }

    #[test]
    fn what_schemars_derives_becomes_portable() {
        let schema = portable(schema_for!(Root).to_value(), Side::Input).unwrap();
        let schema = Value::Object(schema);
        assert_eq!(violations(&schema, Side::Input), Vec::<String>::new());
        let nested = &schema["properties"]["nested"];
        assert_eq!(nested["type"], "object");
        assert_eq!(nested["additionalProperties"], false);
        assert_eq!(
            nested["properties"]["count"],
            json!({"description": "How many.", "type": "integer", "minimum": 0})
        );
        assert_eq!(nested["properties"]["mode"]["enum"], json!(["in", "over"]));
        assert_eq!(nested["properties"]["described"]["enum"], json!(["a", "b"]));
        assert_eq!(schema["required"], json!(["flag"]));
    }

    #[test]
    fn what_has_no_portable_form_is_refused_with_its_place() {
        let check = |schema| portable(schema, Side::Input).unwrap_err();
        let recursive = json!({
            "type": "object", "properties": {"next": {"$ref": "#/$defs/N"}},
            "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}}
        });
        assert!(check(recursive).contains("/next/next: `N` is recursive"));
        assert!(
            check(json!({"type": "object", "properties": {"a": {"type": ["string", "integer"]}}}))
                .contains("/a: several")
        );
        assert!(check(json!({"type": "object", "properties": {"a": true}})).contains("/a"));
        assert!(
            check(json!({"type": "object", "properties": {"a": {"type": "array"}}}))
                .contains("without items")
        );
        assert!(
            check(json!({"type": "object", "additionalProperties": {"type": "string"}}))
                .contains("own choice")
        );
        assert!(check(json!({"type": "string"})).contains("root"));
        assert!(check(json!([])).contains("root"));
    }

    #[test]
    fn the_walker_names_every_violation() {
        let schema = json!({
            "type": "object", "$schema": "x", "required": ["b"],
            "properties": {"a": {"type": "integer", "format": "uint32"}, "c": {"type": "array"}}
        });
        let found = violations(&schema, Side::Input).join("\n");
        for part in [
            "`$schema`",
            "open input",
            "requires \"b\"",
            "/a: keyword `format`",
            "/c: an array",
        ] {
            assert!(found.contains(part), "{part} in {found}");
        }
    }
}
