//! Checks the arguments of a call against the tool's input schema: lenient about JSON form, strict about meaning.

use serde_json::{Map, Number, Value};

use super::shape::{Property, Shape};
use super::{Arguments, Category, ToolError};

/// Whole numbers are exact in JSON up to here.
const EXACT: u64 = 1 << 53;
/// Characters of a client's text that a message repeats.
const ECHO_CHARS: usize = 60;
/// Problems that one message lists.
const MAX_PROBLEMS: usize = 20;

/// The arguments in the schema's own form, or every problem in one message.
pub fn normalise(tool: &str, shape: &Shape, arguments: Map<String, Value>) -> Result<Arguments, ToolError> {
    let mut problems = Vec::new();
    let Shape::Object(properties) = shape else {
        return Err(ToolError::internal(format!(
            "the input schema of {tool} is not an object"
        )));
    };
    let arguments = object(properties, arguments, "", &mut problems);
    if problems.is_empty() {
        return Ok(Arguments(arguments));
    }
    let known: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    let more = problems.len().saturating_sub(MAX_PROBLEMS);
    problems.truncate(MAX_PROBLEMS);
    let mut message = match problems.as_slice() {
        [one] => format!("{tool}: {one}"),
        many => format!(
            "{tool}: the arguments have {} problems: {}",
            many.len() + more,
            many.join("; ")
        ),
    };
    if more > 0 {
        message.push_str(&format!("; and {more} more"));
    }
    let next_step = if known.is_empty() {
        "Call it again without arguments.".to_owned()
    } else {
        format!("Correct this and call again. {tool} takes: {}.", known.join(", "))
    };
    if !message.ends_with('?') {
        message.push('.');
    }
    Err(ToolError::new(Category::InvalidArgument, message).next_step(next_step))
}

fn object(
    properties: &[Property],
    mut given: Map<String, Value>,
    path: &str,
    problems: &mut Vec<String>,
) -> Map<String, Value> {
    let mut taken = Map::new();
    let missing_of = |property: &Property| {
        format!(
            "`{path}{}` is missing: it needs {}",
            property.name,
            form(&property.shape)
        )
    };
    for property in properties {
        match given.remove(&property.name) {
            // An optional field is absent, never null; a client that sends null means the same.
            None | Some(Value::Null) if property.required => problems.push(missing_of(property)),
            None | Some(Value::Null) => {}
            Some(value) => {
                let path = format!("{path}{}", property.name);
                if let Some(value) = convert(&property.shape, value, &path, problems) {
                    taken.insert(property.name.clone(), value);
                }
            }
        }
    }
    for name in given.keys() {
        problems.push(unknown(path, name, properties));
    }
    taken
}

fn unknown(path: &str, name: &str, properties: &[Property]) -> String {
    let nearest = properties
        .iter()
        .map(|property| {
            (
                strsim::damerau_levenshtein(&name.to_lowercase(), &property.name),
                &property.name,
            )
        })
        .min()
        .filter(|(distance, candidate)| *distance <= 1.max(candidate.len() / 3));
    let shown = echo(name);
    match nearest {
        Some((_, nearest)) => {
            format!("there is no argument `{path}{shown}`; did you mean `{path}{nearest}`?")
        }
        None => format!("there is no argument `{path}{shown}`"),
    }
}

fn convert(shape: &Shape, value: Value, path: &str, problems: &mut Vec<String>) -> Option<Value> {
    let converted = match (shape, value) {
        (Shape::String { .. }, Value::String(text)) => string(shape, text),
        (Shape::String { .. }, other) => Err(not_a_string(shape, &other)),
        (Shape::Integer { range }, Value::Number(number)) => {
            integer(&number).and_then(|value| in_range(value, *range))
        }
        (Shape::Integer { range }, Value::String(text)) => {
            whole(&text).and_then(|value| in_range(value, *range))
        }
        (Shape::Number, Value::Number(number)) => Ok(Value::Number(number)),
        (Shape::Number, Value::String(text)) => text
            .trim()
            .parse::<f64>()
            .ok()
            .and_then(Number::from_f64)
            .map(Value::Number)
            .ok_or_else(|| format!("takes a number, not \"{}\"", echo(&text))),
        (Shape::Boolean, Value::Bool(value)) => Ok(Value::Bool(value)),
        (Shape::Boolean, Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Value::Bool(true)),
        (Shape::Boolean, Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Value::Bool(false)),
        (Shape::Array { items, length }, Value::Array(values)) => {
            return list(items, *length, values, path, problems);
        }
        (Shape::Object(properties), Value::Object(given)) => {
            return Some(Value::Object(object(
                properties,
                given,
                &format!("{path}."),
                problems,
            )));
        }
        (_, other) => Err(format!("takes {}, not {}", form(shape), kind(&other))),
    };
    match converted {
        Ok(value) => Some(value),
        Err(problem) => {
            problems.push(format!("`{path}` {problem}"));
            None
        }
    }
}

fn list(
    items: &Shape,
    length: (Option<u64>, Option<u64>),
    values: Vec<Value>,
    path: &str,
    problems: &mut Vec<String>,
) -> Option<Value> {
    let count = values.len() as u64;
    if length.0.is_some_and(|least| count < least) || length.1.is_some_and(|most| count > most) {
        problems.push(format!("`{path}` takes {} elements, not {count}", bounds(length)));
        return None;
    }
    let converted = values
        .into_iter()
        .enumerate()
        .filter_map(|(at, value)| convert(items, value, &format!("{path}[{at}]"), problems))
        .collect();
    Some(Value::Array(converted))
}

fn string(shape: &Shape, text: String) -> Result<Value, String> {
    let Shape::String {
        pattern,
        length,
        values,
    } = shape
    else {
        return Ok(Value::String(text));
    };
    if !values.is_empty() && !values.contains(&text) {
        // The names are ours; another case means the same one.
        if let Some(value) = values.iter().find(|value| value.eq_ignore_ascii_case(&text)) {
            return Ok(Value::String(value.clone()));
        }
        return Err(format!(
            "takes one of {}, not \"{}\"",
            values.join(", "),
            echo(&text)
        ));
    }
    let count = text.chars().count() as u64;
    if length.0.is_some_and(|least| count < least) || length.1.is_some_and(|most| count > most) {
        return Err(format!("takes {} characters, not {count}", bounds(*length)));
    }
    match pattern {
        Some(pattern) if !pattern.is_match(&text) => Err(if is_hex(pattern) {
            format!("is \"{}\": write it as \"0x…\" with hex digits", echo(&text))
        } else {
            format!("is \"{}\", which does not have the form {pattern}", echo(&text))
        }),
        _ => Ok(Value::String(text)),
    }
}

fn is_hex(pattern: &regex_lite::Regex) -> bool {
    let text = pattern.as_str();
    text.contains("0x") || text.contains("0[xX]")
}

fn not_a_string(shape: &Shape, value: &Value) -> String {
    match (shape, value) {
        (
            Shape::String {
                pattern: Some(pattern),
                ..
            },
            Value::Number(_),
        ) if is_hex(pattern) => {
            "is a JSON number, whose radix and size are not guessed: write it as \"0x…\"".to_owned()
        }
        (_, Value::Number(number)) => format!("takes a string: write it as \"{number}\""),
        (_, other) => format!("takes a string, not {}", kind(other)),
    }
}

fn integer(number: &Number) -> Result<i64, String> {
    const TOO_LARGE: &str = "is above 2^53, where JSON numbers are no longer exact";
    if let Some(value) = number.as_i64() {
        return if value.unsigned_abs() > EXACT {
            Err(TOO_LARGE.to_owned())
        } else {
            Ok(value)
        };
    }
    match number.as_f64() {
        Some(value) if value.fract() != 0.0 => Err(format!("takes a whole number, not {number}")),
        // A whole number that was written with a fraction of zero, as JSON Schema counts it.
        #[allow(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        Some(value) if value.abs() <= EXACT as f64 => Ok(value as i64),
        _ => Err(TOO_LARGE.to_owned()),
    }
}

fn whole(text: &str) -> Result<i64, String> {
    let trimmed = text.trim();
    let value = match trimmed.strip_prefix("0x").or_else(|| trimmed.strip_prefix("0X")) {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            i64::from_str_radix(digits, 16)
        }
        _ => trimmed.parse(),
    };
    match value {
        Ok(value) if value.unsigned_abs() <= EXACT => Ok(value),
        _ => Err(format!("takes a whole number, not \"{}\"", echo(text))),
    }
}

fn in_range(value: i64, range: (Option<i64>, Option<i64>)) -> Result<Value, String> {
    if range.0.is_some_and(|least| value < least) || range.1.is_some_and(|most| value > most) {
        return Err(format!("takes a number of {}, not {value}", bounds(range)));
    }
    Ok(Value::from(value))
}

fn bounds<T: std::fmt::Display>(range: (Option<T>, Option<T>)) -> String {
    match range {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "any".to_owned(),
    }
}

/// The form of a value, for messages.
fn form(shape: &Shape) -> String {
    match shape {
        Shape::String { values, .. } if !values.is_empty() => format!("one of {}", values.join(", ")),
        Shape::String {
            pattern: Some(pattern),
            ..
        } if is_hex(pattern) => "a string \"0x…\"".to_owned(),
        Shape::String { .. } => "a string".to_owned(),
        Shape::Integer { range: (None, None) } => "a whole number".to_owned(),
        Shape::Integer { range } => format!("a whole number of {}", bounds(*range)),
        Shape::Number => "a number".to_owned(),
        Shape::Boolean => "true or false".to_owned(),
        Shape::Array { .. } => "a list".to_owned(),
        Shape::Object(_) => "an object".to_owned(),
    }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("\"{}\"", echo(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A client's text, shortened and without characters that act on a reader.
pub(crate) fn echo(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(ECHO_CHARS)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(ECHO_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape() -> Shape {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["address"],
            "properties": {
                "address": {"type": "string", "pattern": "^0[xX][0-9a-fA-F`]{1,20}$"},
                "size": {"type": "integer", "minimum": 1, "maximum": 1_048_576},
                "space": {"type": "string", "enum": ["virtual", "physical"]},
                "deep": {"type": "object", "required": ["flag"], "additionalProperties": false,
                         "properties": {"flag": {"type": "boolean"}}},
                "list": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
                "text": {"type": "string", "maxLength": 4}
            }
        });
        Shape::of(schema.as_object().unwrap()).unwrap()
    }

    fn check(arguments: Value) -> Result<Value, String> {
        let Value::Object(arguments) = arguments else {
            panic!()
        };
        normalise("hd_x_y", &shape(), arguments)
            .map(|arguments| Value::Object(arguments.0))
            .map_err(|error| {
                assert_eq!(error.category, Category::InvalidArgument);
                error.message
            })
    }

    #[test]
    fn lenient_about_json_form() {
        let given = json!({"address": "0x10", "size": "5", "space": "Physical", "deep": {"flag": "true"}, "list": [1, "2"], "text": null});
        let taken = json!({"address": "0x10", "size": 5, "space": "physical", "deep": {"flag": true}, "list": [1, 2]});
        assert_eq!(check(given), Ok(taken));
        assert_eq!(
            check(json!({"address": "0x1", "size": "0x10"})),
            Ok(json!({"address": "0x1", "size": 16}))
        );
        assert_eq!(
            check(json!({"address": "0x1", "size": 4.0})),
            Ok(json!({"address": "0x1", "size": 4}))
        );
    }

    #[test]
    fn unknown_arguments_are_refused_by_name_with_the_nearest() {
        let message = check(json!({"adress": "0x10"})).unwrap_err();
        assert!(
            message.contains("no argument `adress`; did you mean `address`?"),
            "{message}"
        );
        assert!(
            message.contains("`address` is missing: it needs a string \"0x…\""),
            "{message}"
        );
        assert!(message.contains("2 problems"), "{message}");
        assert!(
            check(json!({"address": "0x1", "zzzzzzzz": 1}))
                .unwrap_err()
                .contains("no argument `zzzzzzzz`.")
        );
        assert!(
            check(json!({"address": "0x1", "deep": {"flag": true, "flg": 1}}))
                .unwrap_err()
                .contains("`deep.flg`; did you mean `deep.flag`")
        );
    }

    #[test]
    fn radix_and_size_are_never_guessed() {
        assert!(
            check(json!({"address": 4096}))
                .unwrap_err()
                .contains("write it as \"0x…\"")
        );
        assert!(
            check(json!({"address": "1000"}))
                .unwrap_err()
                .contains("write it as \"0x…\"")
        );
        assert!(
            check(json!({"address": "0x1", "size": 9_007_199_254_740_993_u64}))
                .unwrap_err()
                .contains("2^53")
        );
        assert!(
            check(json!({"address": "0x1", "size": 1e300}))
                .unwrap_err()
                .contains("2^53")
        );
        assert!(
            check(json!({"address": "0x1", "size": u64::MAX}))
                .unwrap_err()
                .contains("2^53")
        );
    }

    #[test]
    fn meaning_is_strict() {
        for (given, part) in [
            (json!({"address": "0x1", "size": 1.5}), "whole number, not 1.5"),
            (
                json!({"address": "0x1", "size": "1e3"}),
                "whole number, not \"1e3\"",
            ),
            (json!({"address": "0x1", "size": ""}), "whole number"),
            (json!({"address": "0x1", "size": 0}), "1 to 1048576, not 0"),
            (
                json!({"address": "0x1", "size": true}),
                "a whole number of 1 to 1048576, not true",
            ),
            (
                json!({"address": "0x1", "space": "io"}),
                "one of virtual, physical, not \"io\"",
            ),
            (json!({"address": "0x1", "deep": {}}), "`deep.flag` is missing"),
            (
                json!({"address": "0x1", "deep": []}),
                "takes an object, not a list",
            ),
            (
                json!({"address": "0x1", "list": [1, 2, 3]}),
                "at most 2 elements, not 3",
            ),
            (json!({"address": "0x1", "list": [1, {}]}), "`list[1]`"),
            (
                json!({"address": "0x1", "text": "12345"}),
                "at most 4 characters, not 5",
            ),
            (json!({"address": "0x1", "text": 5}), "write it as \"5\""),
            (json!({"address": null}), "`address` is missing"),
        ] {
            let message = check(given.clone()).unwrap_err();
            assert!(message.contains(part), "{given}: {message}");
        }
    }

    #[test]
    fn a_message_stays_short_and_harmless() {
        let mut given = json!({"address": "0x1"});
        for at in 0..500 {
            given[format!("\u{1b}[2J{at}{}", "x".repeat(500))] = json!(1);
        }
        let message = check(given).unwrap_err();
        assert!(
            message.len() < 4_000 && message.contains("480 more") && !message.contains('\u{1b}'),
            "{message}"
        );
    }
}
