//! Inserts a member into a JSON file without touching anything else.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The object `functions` of a file of `api/tools`.
fn with_functions<T>(text: &str, take: impl FnOnce(&Object<'_>) -> Option<T>) -> Option<T> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?;
    let Some(Value::Object(file)) = parsed.value else {
        return None;
    };
    take(file.get_object("functions")?)
}

fn find<'o, 't>(functions: &'o Object<'t>, name: &str) -> Option<&'o ObjectProp<'t>> {
    functions
        .properties
        .iter()
        .find(|prop| prop.name.as_str() == name)
}

/// Inserts `member`, written for an indentation of four, after the member `after`, or else as the last one.
pub(super) fn insert(text: &str, after: Option<&str>, member: &str) -> Option<String> {
    let (at, empty) = with_functions(text, |functions| {
        let before = after.and_then(|name| find(functions, name));
        match before.or(functions.properties.last()) {
            Some(prop) => Some((prop.range().end, false)),
            None => Some((functions.range.start + 1, true)),
        }
    })?;
    let (head, tail) = (text.get(..at)?, text.get(at..)?);
    Some(if empty {
        format!("{head}\n    {member}\n  {}", tail.trim_start())
    } else {
        format!("{head},\n    {member}{tail}")
    })
}

/// A copy of the member `name` as `as_name`, with another tier; and the tier that it had.
pub(super) fn copy(text: &str, name: &str, as_name: &str, tier: &str) -> Option<(String, String)> {
    with_functions(text, |functions| {
        let prop = find(functions, name)?;
        let Value::Object(body) = &prop.value else {
            return None;
        };
        let old_tier = body.get("tier")?;
        let Value::StringLit(was) = &old_tier.value else {
            return None;
        };
        let range = old_tier.value.range();
        let body_start = body.range.start;
        let head = text.get(body_start..range.start)?;
        let tail = text.get(range.end..body.range.end)?;
        let entry = format!("{}: {head}{}{tail}", quoted(as_name), quoted(tier));
        Some((entry, was.value.to_string()))
    })
}

/// The first member of an object that is written over several lines.
pub(super) fn lead(member: &str, key: &str, value: &str) -> String {
    match member.split_once('{') {
        Some((head, tail)) => format!("{head}{{\n      {}: {},{tail}", quoted(key), quoted(value)),
        None => member.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "{\n  \"group\": \"g\",\n  \"functions\": {\n    \"a\": { \"tier\": \"read\" },\n    \"b\": {}\n  }\n}\n";

    #[test]
    fn a_member_goes_behind_the_one_that_is_named() {
        let first = insert(FILE, Some("a"), "\"x\": {}").unwrap();
        assert!(
            first.contains("\"read\" },\n    \"x\": {},\n    \"b\": {}\n  }"),
            "{first}"
        );
        let last = insert(FILE, None, "\"x\": {}").unwrap();
        assert!(last.contains("\"b\": {},\n    \"x\": {}\n  }"), "{last}");
        let only = insert("{\n  \"functions\": {}\n}\n", None, "\"x\": {}").unwrap();
        assert_eq!(only, "{\n  \"functions\": {\n    \"x\": {}\n  }\n}\n");
    }

    #[test]
    fn a_copy_has_another_name_and_tier() {
        let (copied, tier) = copy(FILE, "a", "z", "undecided").unwrap();
        assert_eq!(copied, "\"z\": { \"tier\": \"undecided\" }");
        assert_eq!(tier, "read");
    }
}
