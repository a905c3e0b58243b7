//! Makes a structured result fit a page: long lists and texts in it are cut from their ends.

use serde_json::{Map, Value};

/// Values below this many characters are left alone.
const SMALL: usize = 64;

/// Cuts the largest values of `fields` until their JSON text has at most `budget` characters. Says whether it cut.
pub(super) fn shrink(fields: &mut Map<String, Value>, budget: usize) -> bool {
    let mut cut = false;
    loop {
        let size = size_of_map(fields);
        if size <= budget {
            return cut;
        }
        let Some(largest) = fields
            .values_mut()
            .filter_map(largest_in)
            .max_by_key(|(size, _)| *size)
        else {
            return cut;
        };
        halve(largest.1, size - budget);
        cut = true;
    }
}

pub(super) fn size_of_map(fields: &Map<String, Value>) -> usize {
    2 + fields
        .iter()
        .map(|(name, value)| name.len() + 4 + size_of(value))
        .sum::<usize>()
}

/// Characters of a value's JSON text; escapes count.
fn size_of(value: &Value) -> usize {
    match value {
        Value::Object(fields) => size_of_map(fields),
        Value::Array(values) => 2 + values.iter().map(|value| 1 + size_of(value)).sum::<usize>(),
        Value::String(text) => text_size(text),
        other => other.to_string().len(),
    }
}

/// Characters of a string's JSON text.
pub(super) fn text_size(text: &str) -> usize {
    2 + text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\t' => 2,
            0..=31 => 6,
            _ => 1,
        })
        .sum::<usize>()
}

/// The largest list or text at or below `value`, whichever is deepest among those that hold most of it.
fn largest_in(value: &mut Value) -> Option<(usize, &mut Value)> {
    let size = size_of(value);
    if size < SMALL {
        return None;
    }
    if value.is_string() || value.as_array().is_some_and(|values| values.len() > 1) {
        return Some((size, value));
    }
    match value {
        Value::Object(fields) => fields
            .values_mut()
            .filter_map(largest_in)
            .max_by_key(|(size, _)| *size),
        Value::Array(values) => values
            .iter_mut()
            .filter_map(largest_in)
            .max_by_key(|(size, _)| *size),
        _ => None,
    }
}

fn halve(value: &mut Value, excess: usize) {
    match value {
        Value::Array(values) => {
            let mut freed = 0;
            let least = values.len() / 2;
            while freed < excess && values.len() > least.max(1) {
                freed += values.pop().map_or(0, |value| 1 + size_of(&value));
            }
        }
        Value::String(text) => {
            let keep = text.len().saturating_sub(excess).max(text.len() / 2);
            // Even, so that a string of hex digit pairs stays one.
            text.truncate(text.floor_char_boundary(keep & !1));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_result_fits_and_keeps_its_form() {
        let Value::Object(mut fields) = json!({
            "address": "0x1000",
            "bytes": "ab".repeat(30_000),
            "rows": (0..5_000).map(|row| json!({"row": row, "text": "\"quoted\""})).collect::<Vec<_>>(),
        }) else {
            panic!()
        };
        assert!(shrink(&mut fields, 10_000));
        assert!(serde_json::to_string(&fields).unwrap().len() <= 10_000);
        assert_eq!(fields["address"], "0x1000");
        assert_eq!(fields["bytes"].as_str().unwrap().len() % 2, 0);
        assert!(fields["rows"].as_array().unwrap().len() > 10);
        assert_eq!(fields["rows"][0]["row"], 0);
        assert!(!shrink(&mut fields, 10_000));
    }

    #[test]
    fn what_cannot_shrink_ends() {
        let Value::Object(mut fields) = json!({"a": 1, "b": "short"}) else {
            panic!()
        };
        assert!(!shrink(&mut fields, 1));
    }
}
