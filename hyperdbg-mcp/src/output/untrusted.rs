//! [`Untrusted`]: bytes that the target or the library chose.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::decode::decode;
use super::escape::escape;
use crate::engine::active_code_page;

/// Text or bytes that come from the target or from the library, in the order in which they arrived.
///
/// There is no way to format it, compare it with a string or turn it into one: it leaves the program only in the
/// envelope of a text half, as a [`Captured`] field, or through [`bytes`](Self::bytes) for a parser.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Untrusted {
    bytes: Vec<u8>,
    /// The bytes are escaped text already: a part of a kept output.
    is_escaped: bool,
}

impl Untrusted {
    /// Marks `bytes` as untrusted.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            is_escaped: false,
        }
    }

    /// Text that left the output store, which holds it escaped.
    pub(crate) fn kept(text: String) -> Self {
        Self {
            bytes: text.into_bytes(),
            is_escaped: true,
        }
    }

    /// The bytes as hexadecimal digits, 32 bytes a line.
    #[must_use]
    pub fn hex(&self) -> Self {
        let line = |bytes: &[u8]| {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            digits.join(" ") + "\n"
        };
        Self::new(self.bytes.chunks(32).map(line).collect::<String>())
    }

    /// For parsers, and for nothing that reaches a reader.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Puts `more` behind this.
    pub fn append(&mut self, more: &Self) {
        if self.is_escaped != more.is_escaped {
            self.bytes = self.escaped().into_bytes();
            self.bytes.extend_from_slice(more.escaped().as_bytes());
            self.is_escaped = true;
        } else {
            self.bytes.extend_from_slice(&more.bytes);
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Length of the form in which it is shown, in bytes.
    pub fn shown_len(&self) -> usize {
        self.escaped().len()
    }

    /// The escaped form, for the envelope and the output store only.
    pub(super) fn escaped(&self) -> String {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) if self.is_escaped => text.to_owned(),
            _ => readable(&self.bytes),
        }
    }
}

impl From<Vec<u8>> for Untrusted {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted({} bytes)", self.bytes.len())
    }
}

/// The characters of `bytes` on this system, escaped.
fn readable(bytes: &[u8]) -> String {
    escape(&decode(bytes, active_code_page()))
}

/// A short piece of captured data as a field of a structured result: escaped, bounded, and declared as captured
/// data in the schema.
#[derive(Clone, PartialEq, Eq)]
pub struct Captured(String);

impl Captured {
    /// Characters that a field holds at most.
    pub const MAX_CHARS: usize = 512;

    /// The field for `bytes`; what is cut off is shown by a final `…`.
    pub fn new(bytes: &[u8]) -> Self {
        let escaped = readable(bytes);
        match escaped.char_indices().nth(Self::MAX_CHARS) {
            Some((cut, _)) => Self(format!("{}…", &escaped[..cut])),
            None => Self(escaped),
        }
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Captured({} bytes)", self.0.len())
    }
}

impl Serialize for Captured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl JsonSchema for Captured {
    fn schema_name() -> Cow<'static, str> {
        "Captured".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "Captured data." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does not compile when the type has the trait: two implementations then fit, and neither is chosen.
    macro_rules! lacks {
        ($ty:ty: $($bound:path),+) => {$({
            struct Has;
            trait Choice<A> {
                fn chosen() {}
            }
            impl<T: ?Sized> Choice<()> for T {}
            impl<T: ?Sized + $bound> Choice<Has> for T {}
            <$ty as Choice<_>>::chosen();
        })+};
    }

    #[test]
    fn what_the_target_says_has_no_way_to_become_text() {
        use std::borrow::Borrow;
        use std::ops::Deref;
        lacks!(Untrusted: fmt::Display, Deref, Into<String>, Into<Cow<'static, str>>, AsRef<str>, AsRef<[u8]>);
        lacks!(Untrusted: Borrow<str>, PartialEq<str>, PartialEq<String>, Serialize);
        lacks!(Captured: fmt::Display, Deref, Into<String>, Into<Cow<'static, str>>, AsRef<str>, Borrow<str>);
    }

    #[test]
    fn every_byte_can_be_had_as_digits() {
        let all: Vec<u8> = (0..=255).collect();
        let hex = Untrusted::new(all.clone()).hex().escaped();
        assert!(hex.starts_with("00 01 02 ") && hex.lines().count() == 8);
        let digits: Vec<u8> = hex
            .split_ascii_whitespace()
            .map(|digits| u8::from_str_radix(digits, 16).unwrap())
            .collect();
        assert_eq!(digits, all);
        assert!(Untrusted::default().hex().is_empty());
    }

    #[test]
    fn what_is_appended_to_escaped_text_is_escaped_once() {
        let mut text = Untrusted::kept("a\\x1b".to_owned());
        text.append(&Untrusted::new(*b"\x1b\\x41"));
        assert_eq!(text.escaped(), "a\\x1b\\x1b\\x5cx41");
    }

    #[test]
    fn debug_output_does_not_show_the_content() {
        assert_eq!(
            format!("{:?}", Untrusted::new(b"secret".to_vec())),
            "Untrusted(6 bytes)"
        );
        assert_eq!(format!("{:?}", Captured::new(b"secret")), "Captured(6 bytes)");
    }

    #[test]
    fn a_field_is_escaped_and_bounded() {
        let field = serde_json::to_value(Captured::new(b"a\x1b[0m")).unwrap();
        assert_eq!(field, "a\\x1b[0m");
        let long = serde_json::to_value(Captured::new(&vec![b'a'; 4_000])).unwrap();
        assert_eq!(long.as_str().unwrap().chars().count(), Captured::MAX_CHARS + 1);
    }
}
