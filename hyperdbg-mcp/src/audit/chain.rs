//! The canonical form of a line, and the hash that ties it to the line before.

use std::io;

use serde_json::ser::Formatter;
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

/// What the first line of a log gives as the hash of the line before.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Key of a line's own hash.
pub(super) const HASH: &str = "hash";
/// Key of the hash of the line before.
pub(super) const PREV: &str = "prev";

/// SHA-256 in lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// The canonical form: keys sorted by bytes, no space, only ASCII, numbers only integers.
///
/// Everything outside printable ASCII is a `\uXXXX` escape, so a line cannot act on a terminal that shows it.
pub(crate) fn canonical(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, Ascii);
    // Writing to memory does not fail, and every value has string keys.
    let _ = serde::Serialize::serialize(&sorted(value), &mut writer);
    String::from_utf8(bytes).unwrap_or_default()
}

/// A record as it is written: `fields` with the hash of the line before and, over the canonical form of both, its own.
pub(super) fn seal(mut fields: Map<String, Value>, prev: &str) -> (String, String) {
    fields.insert(PREV.to_owned(), prev.into());
    let mut value = Value::Object(fields);
    let hash = sha256(canonical(&value).as_bytes());
    if let Value::Object(fields) = &mut value {
        fields.insert(HASH.to_owned(), hash.clone().into());
    }
    (canonical(&value), hash)
}

/// What is wrong with one line by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It is no JSON object with the fields of a line.
    NotALine,
    /// It is not in the canonical form, or its hash is not that of its content.
    Changed,
}

/// A line whose content fits its own hash.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) fields: Map<String, Value>,
    pub(super) seq: u64,
    pub(super) prev: String,
    pub(super) hash: String,
}

impl Line {
    /// A field that is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// A field that is a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.fields.get(name)?.as_u64()
    }

    /// What kind of record it is.
    pub(super) fn kind(&self) -> &str {
        self.text("kind").unwrap_or_default()
    }
}

/// Takes a line apart and holds it against its own hash.
pub(super) fn open(bytes: &[u8]) -> Result<Line, Flaw> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice::<Value>(bytes) else {
        return Err(Flaw::NotALine);
    };
    let whole = canonical(&Value::Object(fields.clone()));
    let (Some(Value::String(hash)), Some(prev), Some(seq)) = (
        fields.shift_remove(HASH),
        fields.get(PREV).and_then(Value::as_str).map(str::to_owned),
        fields.get("seq").and_then(Value::as_u64),
    ) else {
        return Err(Flaw::NotALine);
    };
    if whole.as_bytes() != bytes || sha256(canonical(&Value::Object(fields.clone())).as_bytes()) != hash {
        return Err(Flaw::Changed);
    }
    Ok(Line {
        fields,
        seq,
        prev,
        hash,
    })
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut entries: Vec<(&String, &Value)> = fields.iter().collect();
            entries.sort_by_key(|(name, _)| name.as_bytes());
            Value::Object(
                entries
                    .into_iter()
                    .map(|(name, value)| (name.clone(), sorted(value)))
                    .collect(),
            )
        }
        Value::Array(values) => Value::Array(values.iter().map(sorted).collect()),
        // Readers do not agree on how a fraction is written.
        Value::Number(number) if !is_integer(number) => Value::String(number.to_string()),
        other => other.clone(),
    }
}

fn is_integer(number: &Number) -> bool {
    number.is_u64() || number.is_i64()
}

/// Writes strings in ASCII.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|ch: char| !matches!(ch, ' '..='~')) {
            let (plain, tail) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let Some(ch) = tail.chars().next() else { break };
            for unit in ch.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &tail[ch.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(fields) => fields,
            _ => panic!("no object"),
        }
    }

    #[test]
    fn the_canonical_form_does_not_depend_on_the_order_of_keys_and_is_ascii() {
        let one = json!({"b": 1, "a": {"d": "ü\u{202e}\u{1f600}\u{7f}\n", "c": [1.5, -2, null, true]}});
        let other = json!({"a": {"c": [1.5, -2, null, true], "d": "ü\u{202e}\u{1f600}\u{7f}\n"}, "b": 1});
        let text = canonical(&one);
        assert_eq!(text, canonical(&other));
        assert_eq!(
            text,
            r#"{"a":{"c":["1.5",-2,null,true],"d":"\u00fc\u202e\ud83d\ude00\u007f\n"},"b":1}"#
        );
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["a"]["d"], "ü\u{202e}\u{1f600}\u{7f}\n");
        assert_eq!(canonical(&back), text);
    }

    #[test]
    fn a_sealed_line_opens_and_an_altered_one_does_not() {
        let (line, hash) = seal(object(json!({"seq": 1, "kind": "start"})), GENESIS);
        let opened = open(line.as_bytes()).unwrap();
        assert_eq!(
            (opened.seq, opened.prev.as_str(), opened.hash),
            (1, GENESIS, hash)
        );
        assert_eq!(
            open(line.replace("start", "stars").as_bytes()).unwrap_err(),
            Flaw::Changed
        );
        assert_eq!(
            open(line.replace(':', ": ").as_bytes()).unwrap_err(),
            Flaw::Changed
        );
        assert_eq!(
            open(&line.as_bytes()[..line.len() - 1]).unwrap_err(),
            Flaw::NotALine
        );
    }
}
