//! Walks a JSON value and collects every finding instead of stopping at the first.

use std::collections::BTreeSet;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::model::Literal;
use super::sources::{At, Place, Sources};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::resolve::{codes, nearest};

/// Shared state of reading one file.
pub(super) struct Reader<'a> {
    pub(super) sources: &'a Sources,
    pub(super) file: usize,
    pub(super) errors: &'a mut Diagnostics,
}

/// Strict JSON: no comment, no trailing comma, nothing of JSON5.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

impl Reader<'_> {
    fn place(&self, range: Range) -> Place {
        Place {
            file: self.file,
            start: range.start,
            end: range.end,
        }
    }

    /// Records a finding at a place.
    pub(super) fn fail(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let finding = Diagnostic::error(code, message)
            .at(self.sources.span(place))
            .help(help);
        self.errors.push(finding);
    }

    /// The file's value; a syntax error is recorded.
    pub(super) fn parse<'t>(&mut self, text: &'t str) -> Option<Value<'t>> {
        match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
            Ok(parsed) => {
                if parsed.value.is_none() {
                    let place = self.place(Range { start: 0, end: 0 });
                    self.fail(codes::SYNTAX, place, "the file is empty", "write a JSON object");
                }
                parsed.value
            }
            Err(error) => {
                let place = self.place(error.range());
                let message = format!("this is not JSON: {}", error.kind());
                self.fail(
                    codes::SYNTAX,
                    place,
                    message,
                    "correct the syntax; comments and trailing commas are not JSON",
                );
                None
            }
        }
    }

    /// An object; anything else is recorded as `what` being wrong.
    pub(super) fn object<'v, 't>(&mut self, value: &'v Value<'t>, what: &str) -> Option<Fields<'v, 't>> {
        let Value::Object(object) = value else {
            self.wrong(value, what, "an object");
            return None;
        };
        let mut seen = BTreeSet::new();
        for prop in &object.properties {
            let name = prop.name.as_str().to_owned();
            if !seen.insert(name.clone()) {
                let place = self.place(prop.name.range());
                self.fail(
                    codes::DUPLICATE_KEY,
                    place,
                    format!("`{name}` stands twice in {what}"),
                    "remove one of the two",
                );
            }
        }
        Some(Fields {
            object,
            what: what.to_owned(),
            used: BTreeSet::new(),
            marks: false,
        })
    }

    fn wrong(&mut self, value: &Value<'_>, what: &str, expected: &str) {
        let place = self.place(value.range());
        self.fail(
            codes::WRONG_FORM,
            place,
            format!("{what} is not {expected}"),
            format!("write {expected} here"),
        );
    }

    /// A string.
    pub(super) fn string(&mut self, value: &Value<'_>, what: &str) -> Option<At<String>> {
        match value {
            Value::StringLit(text) => Some(At::new(text.value.to_string(), self.place(text.range))),
            _ => {
                self.wrong(value, what, "a string");
                None
            }
        }
    }

    /// A string that says something.
    pub(super) fn prose(&mut self, value: &Value<'_>, what: &str) -> Option<At<String>> {
        let text = self.string(value, what)?;
        if text.value.trim().is_empty() {
            self.fail(
                codes::EMPTY,
                text.place,
                format!("{what} is empty"),
                "say in a sentence what it is",
            );
            return None;
        }
        Some(text)
    }

    /// A truth value.
    pub(super) fn boolean(&mut self, value: &Value<'_>, what: &str) -> Option<At<bool>> {
        match value {
            Value::BooleanLit(literal) => Some(At::new(literal.value, self.place(literal.range))),
            _ => {
                self.wrong(value, what, "true or false");
                None
            }
        }
    }

    /// An integer.
    pub(super) fn integer(&mut self, value: &Value<'_>, what: &str) -> Option<At<i128>> {
        let number = match value {
            Value::NumberLit(literal) => literal.value.parse::<i128>().ok(),
            _ => None,
        };
        if number.is_none() {
            self.wrong(value, what, "an integer");
        }
        Some(At::new(number?, self.place(value.range())))
    }

    /// An integer that is not negative.
    pub(super) fn count(&mut self, value: &Value<'_>, what: &str) -> Option<At<u64>> {
        let number = self.integer(value, what)?;
        let Ok(count) = u64::try_from(number.value) else {
            self.wrong(value, what, "a count from 0");
            return None;
        };
        Some(At::new(count, number.place))
    }

    /// An integer or null.
    pub(super) fn integer_or_null(&mut self, value: &Value<'_>, what: &str) -> Option<At<Option<i128>>> {
        if let Value::NullKeyword(null) = value {
            return Some(At::new(None, self.place(null.range)));
        }
        let number = self.integer(value, what)?;
        Some(At::new(Some(number.value), number.place))
    }

    /// A literal.
    pub(super) fn literal(&mut self, value: &Value<'_>, what: &str) -> Option<At<Literal>> {
        let place = self.place(value.range());
        let literal = match value {
            Value::StringLit(text) => Literal::Text(text.value.to_string()),
            Value::BooleanLit(literal) => Literal::Boolean(literal.value),
            Value::NumberLit(_) => Literal::Integer(self.integer(value, what)?.value),
            _ => {
                self.wrong(value, what, "a number, a string, true or false");
                return None;
            }
        };
        Some(At::new(literal, place))
    }

    /// One of the names of a table.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        value: &Value<'_>,
        what: &str,
        names: &[(&'static str, T)],
    ) -> Option<At<T>> {
        let text = self.string(value, what)?;
        match names.iter().find(|(name, _)| *name == text.value) {
            Some((_, meaning)) => Some(At::new(*meaning, text.place)),
            None => {
                let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
                self.fail(
                    codes::WRONG_FORM,
                    text.place,
                    format!(
                        "{what} is `{}`, which is none of {}",
                        text.value,
                        known.join(", ")
                    ),
                    suggestion(&text.value, &known),
                );
                None
            }
        }
    }

    /// A list of strings.
    pub(super) fn strings(&mut self, value: &Value<'_>, what: &str) -> Option<Vec<At<String>>> {
        let Value::Array(array) = value else {
            self.wrong(value, what, "a list of strings");
            return None;
        };
        array
            .elements
            .iter()
            .map(|element| self.string(element, what))
            .collect()
    }
}

fn suggestion(found: &str, known: &[&str]) -> String {
    match nearest(found, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known are {}", known.join(", ")),
    }
}

/// The keys of one object; those that are never asked for are unknown.
pub(super) struct Fields<'v, 't> {
    object: &'v Object<'t>,
    what: String,
    used: BTreeSet<&'static str>,
    /// Whether a mark of a guess was looked for.
    marks: bool,
}

impl<'v, 't> Fields<'v, 't> {
    /// The value of an optional key.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<&'v Value<'t>> {
        self.used.insert(key);
        self.object
            .properties
            .iter()
            .find(|prop| prop.name.as_str() == key)
            .map(|prop| &prop.value)
    }

    /// The value of a required key; its absence is recorded.
    pub(super) fn required(&mut self, reader: &mut Reader<'_>, key: &'static str) -> Option<&'v Value<'t>> {
        let value = self.optional(key);
        if value.is_none() {
            let place = self.place(reader);
            reader.fail(
                codes::MISSING_KEY,
                place,
                format!("{} lacks `{key}`", self.what),
                format!("add \"{key}\""),
            );
        }
        value
    }

    /// Records the mark of something that was guessed and that nobody has checked.
    pub(super) fn guess(&mut self, reader: &mut Reader<'_>) {
        self.marks = true;
        let mark = self
            .object
            .properties
            .iter()
            .find(|prop| prop.name.as_str() == "guess");
        if let Some(prop) = mark {
            let place = reader.place(prop.name.range());
            reader.fail(
                codes::GUESS,
                place,
                format!("{} is still a guess", self.what),
                "check it, correct it, then remove the key `guess`",
            );
        }
    }

    /// Place of the opening brace.
    pub(super) fn place(&self, reader: &Reader<'_>) -> Place {
        let range = self.object.range;
        reader.place(Range {
            start: range.start,
            end: range.start + 1,
        })
    }

    /// Name for a message about a key of this object.
    pub(super) fn key(&self, key: &str) -> String {
        format!("`{key}` of {}", self.what)
    }

    /// All keys, where they are names of things.
    pub(super) fn entries(&self, reader: &Reader<'_>) -> Vec<(At<String>, &'v Value<'t>)> {
        self.object
            .properties
            .iter()
            .map(|prop: &ObjectProp<'_>| {
                let name = At::new(prop.name.as_str().to_owned(), reader.place(prop.name.range()));
                (name, &prop.value)
            })
            .collect()
    }

    /// Records every key that was not asked for.
    pub(super) fn finish(self, reader: &mut Reader<'_>) {
        for prop in &self.object.properties {
            let name = prop.name.as_str();
            if self.used.contains(name) || self.marks && name == "guess" {
                continue;
            }
            let known: Vec<&str> = self.used.iter().copied().collect();
            let place = reader.place(prop.name.range());
            reader.fail(
                codes::UNKNOWN_KEY,
                place,
                format!("{} has no key `{name}`", self.what),
                suggestion(name, &known),
            );
        }
    }
}
