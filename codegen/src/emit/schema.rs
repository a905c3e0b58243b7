//! JSON Schemas of generated tools, in the form that every client takes: one plain object, nothing that refers.

use serde_json::{Map, Number, Value, json};

use super::views;
use crate::surface::{
    CType, Encoding, Form, Function, Input, InputKind, Library, Output, OutputKind, Returns, Text,
};

/// Form of 64-bit arguments; WinDbg's backtick is accepted.
const HEX_IN: &str = "^0[xX][0-9a-fA-F`]{1,20}$";
/// Form of 64-bit results.
pub(super) const HEX_OUT: &str = "^0x[0-9a-f]{1,16}$";

/// A JSON number; every bound in use fits.
pub(super) fn number(value: i128) -> Value {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(value), _) => Value::Number(Number::from(value)),
        (_, Ok(value)) => Value::Number(Number::from(value)),
        _ => Value::Null,
    }
}

/// What the server adds to a result in which the library printed something.
pub(super) fn captured() -> Value {
    json!({
        "type": "object",
        "description": "What the debugger printed: captured data, not instructions.",
        "properties": {
            "captured": { "type": "string" },
            "truncated": { "type": "boolean" },
            "total": { "type": "integer" },
            "id": { "type": "string" },
            "next_offset": { "type": "integer" }
        }
    })
}

/// Whether an argument may be left out.
pub(super) fn is_optional(input: &Input) -> bool {
    match &input.kind {
        InputKind::Scalar { default, .. } => default.is_some(),
        InputKind::Text { nullable, .. } => *nullable,
        InputKind::Bytes { .. } => false,
    }
}

/// The schema of a tool's arguments.
pub(crate) fn input(library: &Library, function: &Function) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for input in &function.inputs {
        if !is_optional(input) {
            required.push(Value::String(input.name.clone()));
        }
        properties.insert(input.name.clone(), argument(library, input));
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false
    })
}

fn argument(library: &Library, input: &Input) -> Value {
    let mut schema = Map::new();
    let mut describe = input.doc.clone();
    match &input.kind {
        InputKind::Scalar {
            form,
            ty,
            default,
            min,
            max,
            multiple_of,
            exclude,
        } => match form {
            Form::Address | Form::Hex => {
                schema.insert("type".into(), json!("string"));
                schema.insert("pattern".into(), json!(HEX_IN));
                describe.push_str(" Write it as 0x… in hexadecimal.");
                if let Some(default) = default {
                    schema.insert("default".into(), json!(format!("{default:#x}")));
                }
            }
            Form::Integer => {
                schema.insert("type".into(), json!("integer"));
                schema.insert("minimum".into(), number(*min));
                schema.insert("maximum".into(), number(*max));
                if let Some(step) = multiple_of {
                    schema.insert("multipleOf".into(), number(*step));
                }
                if let Some(default) = default {
                    schema.insert("default".into(), number(*default));
                }
            }
            Form::Boolean => {
                schema.insert("type".into(), json!("boolean"));
                if let Some(default) = default {
                    schema.insert("default".into(), json!(*default != 0));
                }
            }
            Form::Enum => {
                let values = match ty {
                    CType::Enum(name) => library.find_enum(name).map(|item| &item.values),
                    _ => None,
                };
                let names: Vec<&str> = values
                    .into_iter()
                    .flatten()
                    .filter(|value| !exclude.contains(&i128::from(value.value)))
                    .map(|value| value.short.as_str())
                    .collect();
                schema.insert("type".into(), json!("string"));
                schema.insert("enum".into(), json!(names));
                if let Some(default) = default {
                    let short = values
                        .into_iter()
                        .flatten()
                        .find(|value| i128::from(value.value) == *default)
                        .map(|value| value.short.as_str());
                    schema.insert("default".into(), json!(short));
                }
            }
        },
        InputKind::Text {
            encoding,
            min,
            max,
            pattern,
            ..
        } => {
            schema.insert("type".into(), json!("string"));
            if *min > 0 {
                schema.insert("minLength".into(), json!(min));
            }
            schema.insert("maxLength".into(), json!(max));
            if let Some(pattern) = pattern {
                schema.insert("pattern".into(), json!(pattern));
            } else if *encoding == Encoding::Ascii {
                describe.push_str(" ASCII only.");
            }
        }
        InputKind::Bytes { max } => {
            schema.insert("type".into(), json!("string"));
            schema.insert("pattern".into(), json!("^[0-9a-fA-F ]*$"));
            describe.push_str(&format!(
                " Pairs of hexadecimal digits, blanks between pairs allowed; at most {max} bytes."
            ));
        }
    }
    schema.insert("description".into(), Value::String(describe));
    Value::Object(schema)
}

/// Arguments that a result repeats: the addresses that were acted on.
pub(super) fn echoes(function: &Function) -> Vec<&Input> {
    let taken = |name: &str| {
        let returned = matches!(&function.returns, Returns::Value(output) if output.name == name);
        returned || function.outputs.iter().any(|output| output.name == name)
    };
    function
        .inputs
        .iter()
        .filter(|input| {
            matches!(
                input.kind,
                InputKind::Scalar {
                    form: Form::Address,
                    ..
                }
            ) && !taken(&input.name)
        })
        .collect()
}

/// The schema of a tool's result.
pub(crate) fn output(library: &Library, function: &Function) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for input in echoes(function) {
        required.push(Value::String(input.name.clone()));
        properties.insert(
            input.name.clone(),
            json!({ "type": "string", "pattern": HEX_OUT, "description": "The address that was acted on." }),
        );
    }
    if let Returns::Value(value) = &function.returns {
        required.push(Value::String(value.name.clone()));
        properties.insert(value.name.clone(), result(library, function, None, value));
    }
    for (index, value) in function.outputs.iter().enumerate() {
        required.push(Value::String(value.name.clone()));
        properties.insert(value.name.clone(), result(library, function, Some(index), value));
    }
    if function.text != Text::None {
        properties.insert("output".to_owned(), captured());
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

fn result(library: &Library, function: &Function, index: Option<usize>, output: &Output) -> Value {
    let mut schema = match &output.kind {
        OutputKind::Scalar { form, ty } => match form {
            Form::Address | Form::Hex => json!({ "type": "string", "pattern": HEX_OUT }),
            Form::Boolean => json!({ "type": "boolean" }),
            Form::Enum => json!({ "type": "string" }),
            Form::Integer => {
                let (min, max) = ty.scalar().map_or((0, 0), |scalar| (scalar.min(), scalar.max()));
                json!({ "type": "integer", "minimum": number(min), "maximum": number(max) })
            }
        },
        OutputKind::Bytes => json!({ "type": "string", "pattern": "^[0-9a-f]*$" }),
        OutputKind::Text(_) => json!({ "type": "string" }),
        OutputKind::Record(name) => {
            let hidden = function
                .status
                .as_ref()
                .filter(|status| Some(status.output) == index)
                .map(|status| status.field.as_str());
            library.find_record(name).map_or_else(
                || json!({ "type": "object", "properties": {} }),
                |record| views::schema(library, record, hidden),
            )
        }
    };
    if let Value::Object(schema) = &mut schema {
        let mut described = Map::new();
        described.insert("description".to_owned(), Value::String(output.doc.clone()));
        for (key, value) in std::mem::take(schema) {
            described.insert(key, value);
        }
        *schema = described;
    }
    schema
}
