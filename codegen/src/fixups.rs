//! Corrections to what upstream's headers say, each with its reason.
//!
//! The catalog stays what C says; corrections are applied on the way to [`resolve`](mod@crate::resolve). Each states what
//! it expects to find, so that it fails as soon as upstream says something else.

use std::fs;
use std::io;
use std::path::Path;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Deserialize;

use crate::catalog::{Catalog, Type};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};

/// `api/fixups.json` is unreadable, or not of its form.
pub const FORM: &str = "FIX001";
/// The catalog does not have what the correction is for.
pub const NOTHING: &str = "FIX002";
/// The header no longer says what the correction expects.
pub const STALE: &str = "FIX003";

/// The file's place under the root.
pub const PATH: &str = "api/fixups.json";

/// The corrections with the file's text.
#[derive(Debug, Default)]
pub struct Fixups {
    text: String,
    entries: Vec<(Fixup, Place)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    start: usize,
    length: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    fixups: Vec<Fixup>,
}

/// One correction.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixup {
    /// Exported function.
    function: String,
    /// Position of a parameter, from 0; without it the return type is meant.
    param: Option<usize>,
    /// Another type.
    #[serde(rename = "type")]
    ty: Option<Change<Type>>,
    /// Another name of the parameter.
    name: Option<Change<String>>,
    /// Why.
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change<T> {
    is: T,
    becomes: T,
}

impl Fixups {
    /// Reads the file in the folder `api`; without it, nothing is corrected.
    pub fn load(api: &Path) -> Result<Self, Diagnostics> {
        let text = match fs::read_to_string(api.join("fixups.json")) {
            Ok(text) => text.replace("\r\n", "\n"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                let message = format!("{PATH} cannot be read: {}", error.kind());
                return Err(vec![
                    Diagnostic::error(FORM, message).help("restore the file from version control"),
                ]);
            }
        };
        let fail = |offset: usize, message: String| {
            vec![
                Diagnostic::error(FORM, message)
                    .at(Span::of(PATH, &text, offset, 1))
                    .help("a correction has `function`, `param` for a parameter, `type` or `name` with `is` and `becomes`, and `reason`"),
            ]
        };
        let file: File = serde_json::from_str(&text).map_err(|error| {
            let before = text.split_inclusive('\n').take(error.line().saturating_sub(1));
            let offset = before.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
            fail(offset, format!("{PATH} is not of its form: {error}"))
        })?;
        let places = places(&text);
        let mut entries = Vec::new();
        for (at, fixup) in file.fixups.into_iter().enumerate() {
            let place = places.get(at).copied().unwrap_or_default();
            let one = usize::from(fixup.ty.is_some()) + usize::from(fixup.name.is_some());
            if one != 1 || fixup.name.is_some() && fixup.param.is_none() || fixup.reason.trim().is_empty() {
                return Err(fail(
                    place.start,
                    format!(
                        "the correction of `{}` does not say one thing and why",
                        fixup.function
                    ),
                ));
            }
            entries.push((fixup, place));
        }
        Ok(Self { text, entries })
    }

    /// Corrects a catalog.
    ///
    /// # Errors
    /// Each correction that does not apply, with the line of the header.
    pub fn apply(&self, catalog: &mut Catalog) -> Result<(), Diagnostics> {
        let mut findings = Diagnostics::new();
        for (fixup, place) in &self.entries {
            if let Err(finding) = apply(fixup, catalog) {
                findings.push(finding.at(Span::of(PATH, &self.text, place.start, place.length)));
            }
        }
        if findings.is_empty() {
            Ok(())
        } else {
            Err(findings)
        }
    }
}

/// Where the name of each correction's function stands.
fn places(text: &str) -> Vec<Place> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let Some(Value::Object(file)) = parsed.ok().and_then(|parsed| parsed.value) else {
        return Vec::new();
    };
    let Some(list) = file.get_array("fixups") else {
        return Vec::new();
    };
    let place = |value: &Value<'_>| {
        let name = match value {
            Value::Object(object) => object.get("function").map(|prop| prop.value.range()),
            _ => None,
        };
        let range = name.unwrap_or_else(|| value.range());
        Place {
            start: range.start,
            length: range.end - range.start,
        }
    };
    list.elements.iter().map(place).collect()
}

fn apply(fixup: &Fixup, catalog: &mut Catalog) -> Result<(), Box<Diagnostic>> {
    let remove = "remove the correction, or correct what it expects";
    let Some(function) = catalog
        .functions
        .iter_mut()
        .find(|one| one.name == fixup.function)
    else {
        let message = format!("the SDK exports no function `{}` to correct", fixup.function);
        return Err(Box::new(Diagnostic::error(NOTHING, message).help(remove)));
    };
    let origin = function.origin.clone();
    let subject = match fixup.param {
        None => format!("the return type of `{}`", function.name),
        Some(at) => format!("parameter {} of `{}`", at + 1, function.name),
    };
    let refuse = |code, message: String| {
        let finding = Diagnostic::error(code, message).note(format!("declared at {origin}"));
        Err(Box::new(finding.help(remove)))
    };
    let stale = |found: String, expected: String| {
        refuse(
            STALE,
            format!("{subject} is `{found}`, and no longer `{expected}`"),
        )
    };
    let (ty, name) = match fixup.param {
        None => (&mut function.returns, None),
        Some(at) => match function.params.get_mut(at) {
            Some(param) => (&mut param.ty, Some((&mut param.name, &mut param.unnamed))),
            None => return refuse(NOTHING, format!("there is no {subject}")),
        },
    };
    if let Some(change) = &fixup.ty {
        if *ty != change.is {
            return stale(ty.to_string(), change.is.to_string());
        }
        *ty = change.becomes.clone();
    }
    if let (Some(change), Some((name, unnamed))) = (&fixup.name, name) {
        if *name != change.is {
            return stale(name.clone(), change.is.clone());
        }
        name.clone_from(&change.becomes);
        *unnamed = false;
    }
    Ok(())
}
