//! [`Masker`]: takes secret values out of everything that leaves the program in its own words.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// What stands in the place of a secret.
const MASK: &str = "[masked]";
/// Values below this length are words that occur by chance.
const SHORTEST: usize = 8;
/// Endings of the names of environment variables that hold secrets.
const ENDINGS: [&str; 8] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "APIKEY",
    "API_KEY",
    "ACCESS_KEY",
    "CREDENTIALS",
];

/// Secret values, and what replaces them.
#[derive(Clone, Default)]
pub struct Masker {
    /// Longest first, so that a secret within a secret does not leave a part behind.
    secrets: Vec<String>,
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Masker({} secrets)", self.secrets.len())
    }
}

impl Masker {
    /// A masker of these values; those shorter than eight bytes are left out.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> = secrets
            .into_iter()
            .filter(|secret| secret.len() >= SHORTEST && !secret.trim().is_empty())
            .collect();
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self { secrets }
    }

    /// The values of this process's environment variables that are called like secrets (`…TOKEN`, `…SECRET`,
    /// `…PASSWORD`, `…API_KEY`, …), and of those in `more`.
    pub fn of_environment(more: &[String]) -> Self {
        Self::new(std::env::vars_os().filter_map(|(name, value)| {
            let name = name.to_str()?;
            let upper = name.to_ascii_uppercase();
            let is_secret =
                ENDINGS.iter().any(|ending| upper.ends_with(ending)) || more.iter().any(|more| more == name);
            is_secret.then(|| value.into_string().ok()).flatten()
        }))
    }

    /// The same masker with further values.
    #[must_use]
    pub fn and(self, more: impl IntoIterator<Item = String>) -> Self {
        Self::new(self.secrets.into_iter().chain(more))
    }

    /// `text` with every secret replaced.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for secret in &self.secrets {
            if masked.contains(secret.as_str()) {
                masked = Cow::Owned(masked.replace(secret.as_str(), MASK));
            }
        }
        masked
    }

    /// Replaces every secret in the strings and keys of `value`.
    pub fn mask_value(&self, value: &mut Value) {
        if self.secrets.is_empty() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.mask_value(value)),
            Value::Object(fields) => self.mask_fields(fields),
            _ => {}
        }
    }

    /// The same for the fields of an object.
    pub fn mask_fields(&self, fields: &mut Map<String, Value>) {
        if self.secrets.is_empty() {
            return;
        }
        if fields.keys().any(|name| matches!(self.mask(name), Cow::Owned(_))) {
            *fields = std::mem::take(fields)
                .into_iter()
                .map(|(name, value)| (self.mask(&name).into_owned(), value))
                .collect();
        }
        fields.values_mut().for_each(|value| self.mask_value(value));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_masked_by_its_value_wherever_it_stands() {
        let masker = Masker::new(["hunter2-hunter2".to_owned(), "hunter2-hunter2-long".to_owned()]);
        assert_eq!(masker.mask("a hunter2-hunter2-long b"), "a [masked] b");
        let mut value = json!({"k": ["x hunter2-hunter2"], "hunter2-hunter2": {"d": 1}});
        masker.mask_value(&mut value);
        assert_eq!(value, json!({"k": ["x [masked]"], "[masked]": {"d": 1}}));
        assert_eq!(format!("{masker:?}"), "Masker(2 secrets)");
    }

    #[test]
    fn short_values_are_no_secrets() {
        let masker = Masker::new(["1".to_owned(), String::new(), "        ".to_owned()]);
        assert_eq!(masker.mask("0x1111         1"), "0x1111         1");
    }
}
