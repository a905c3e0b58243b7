//! Entries of `api/` for what the imported SDK does not have: kept, and not used.
//!
//! The step from one release to another must be reversible, and what people wrote must not get lost with a function
//! that vanished. So `sync` leaves such entries where they are and names them in `api/retired.json`, with the place of
//! the last declaration; the file goes away with its last name. A person removes an entry when it is gone for good.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Annotations, At, Body};
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};

/// `api/retired.json` is unreadable, or not of its form.
pub const FORM: &str = "RET001";
/// What is retired is exported again.
pub const EXPORTED: &str = "RET002";
/// What is retired has no entry anywhere.
pub const NOTHING: &str = "RET003";

/// The file's place under the root.
pub const PATH: &str = "api/retired.json";

/// Names with the place of the last declaration, `file:line of VERSION`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    /// Exported functions.
    #[serde(default)]
    pub functions: BTreeMap<String, String>,
    /// Error codes.
    #[serde(default)]
    pub errors: BTreeMap<String, String>,
    /// Enumerators that `exclude` and `offer` speak of.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub enumerators: BTreeMap<String, String>,
}

impl Retired {
    /// Reads the file in the folder `api`; without it, nothing is retired.
    pub fn load(api: &Path) -> Result<Self, Box<Diagnostic>> {
        let again = "restore the file from version control; `cargo codegen sync` writes it";
        let text = match fs::read_to_string(api.join("retired.json")) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                let message = format!("{PATH} cannot be read: {}", error.kind());
                return Err(Box::new(Diagnostic::error(FORM, message).help(again)));
            }
        };
        serde_json::from_str(&text).map_err(|error| {
            let before = text.split_inclusive('\n').take(error.line().saturating_sub(1));
            let offset = before.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
            Box::new(
                Diagnostic::error(FORM, format!("{PATH} is not of its form: {error}"))
                    .at(Span::of(PATH, &text, offset, 1))
                    .help(again),
            )
        })
    }

    /// Whether nothing is retired; then there is no file.
    pub fn is_empty(&self) -> bool {
        self.names().next().is_none()
    }

    /// Everything that is retired.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        let functions = self.functions.keys();
        functions.chain(self.errors.keys()).chain(self.enumerators.keys())
    }

    /// The file's text.
    pub fn render(&self) -> String {
        // Maps of strings always are JSON.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Takes the retired entries away.
    pub fn apply(&self, annotations: &mut Annotations) {
        for group in &mut annotations.groups {
            group
                .functions
                .retain(|one| !self.functions.contains_key(&one.symbol.value));
            let bodies = group.functions.iter_mut().filter_map(|one| one.body.as_mut());
            for said in bodies.flat_map(Body::scalars_mut) {
                for names in [&mut said.exclude, &mut said.offer] {
                    names.retain(|name| !self.enumerators.contains_key(&name.value));
                }
            }
        }
        annotations
            .exclusions
            .retain(|one| !self.functions.contains_key(&one.symbol.value));
        annotations
            .errors
            .retain(|one| !self.errors.contains_key(&one.name.value));
    }

    /// What the catalog has and what nothing speaks of must not be retired. `annotations` are those of the files.
    pub fn check(&self, catalog: &Catalog, annotations: &Annotations) -> Diagnostics {
        let exported = catalog
            .functions
            .iter()
            .map(|one| (one.name.as_str(), one.origin.as_str()));
        let defined = catalog
            .constants
            .iter()
            .map(|one| (one.name.as_str(), one.origin.as_str()));
        let enums = catalog.enums.iter();
        let numbered = enums.flat_map(|one| {
            let values = one.values.iter();
            values.map(|value| (value.name.as_str(), one.origin.as_str()))
        });
        let declared: BTreeMap<&str, &str> = exported.chain(defined).chain(numbered).collect();
        let mut findings = Diagnostics::new();
        for name in self.names() {
            if let Some(origin) = declared.get(name.as_str()) {
                findings.push(
                    Diagnostic::error(
                        EXPORTED,
                        format!("`{name}` is retired in {PATH}, but the SDK has it"),
                    )
                    .note(format!("declared at {origin}"))
                    .help("run `cargo codegen sync --sdk DIR`, which takes its entry back"),
                );
            } else if !annotations.speaks_of(name) {
                findings.push(
                    Diagnostic::error(
                        NOTHING,
                        format!("`{name}` is retired in {PATH}, but no file has an entry for it"),
                    )
                    .help(format!("remove it from {PATH}")),
                );
            }
        }
        findings
    }
}

impl Annotations {
    /// Whether a function or error code has an entry, or an enumerator is named in one.
    pub fn speaks_of(&self, name: &str) -> bool {
        let mut functions = self.groups.iter().flat_map(|group| &group.functions);
        functions.any(|one| one.symbol.value == name)
            || self.exclusions.iter().any(|one| one.symbol.value == name)
            || self.errors.iter().any(|one| one.name.value == name)
            || self.enumerators().any(|one| one.value == name)
    }

    /// Enumerators that entries decide on.
    pub fn enumerators(&self) -> impl Iterator<Item = &At<String>> {
        let functions = self.groups.iter().flat_map(|group| &group.functions);
        let bodies = functions.filter_map(|one| one.body.as_ref());
        bodies.flat_map(|body| body.scalars().flat_map(|(_, _, said)| said.enumerators()))
    }
}
