//! What changed between two SDKs, by meaning: names, types, layout, values, and commands.
//!
//! ```text
//! Side (old), Side (new) ─► reach ─► names ─► types, layout, values, outside ─┐
//! HyperDbg checkout ─► source ─► commands ────────────────────────────────────┴► Report ─► text | json | markdown | github
//! ```
//!
//! A change weighs what it does to a server that was built for the old side: see [`Severity`].

mod commands;
mod decisions;
mod fit;
mod layout;
mod names;
mod offers;
mod outside;
mod reach;
mod relocate;
mod render;
mod source;
mod types;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::catalog::{Catalog, Function};
use crate::import::Whole;
pub use commands::commands;
pub use decisions::Decisions;
pub use fit::{Abi, Fit, fit};
pub use offers::Undecided;
use reach::Reach;
pub use relocate::{Numbers, Piece, Placement, Relocation};
pub use render::{FORMAT, SCHEMA, github, json, markdown, text};
pub use types::RenamedParameter;

/// What a change means for a server that was built for the old side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It would call the library wrongly, or not find what it calls.
    Breaking,
    /// Someone must choose: a tier, a tool, a role, an exclusion.
    Decision,
    /// Nothing but names and places; regenerating is enough.
    Harmless,
}

impl Severity {
    /// The word that reports use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Decision => "decision",
            Self::Harmless => "harmless",
        }
    }
}

/// The layer that a change belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The version that the headers claim.
    Version,
    /// Exported names.
    Names,
    /// Return types and parameters.
    Types,
    /// Size, alignment and fields of records.
    Layout,
    /// Enumerators and constants.
    Values,
    /// The interpreter's commands.
    Commands,
    /// The script language.
    Script,
    /// What no export reaches.
    Outside,
}

impl Layer {
    /// The word that reports use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Names => "names",
            Self::Types => "types",
            Self::Layout => "layout",
            Self::Values => "values",
            Self::Commands => "commands",
            Self::Script => "script",
            Self::Outside => "outside",
        }
    }
}

/// What exactly happened. The JSON report uses these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say all there is.
pub enum Kind {
    SameVersion,
    OtherVersion,
    FunctionRemoved,
    FunctionRenamed,
    FunctionAdded,
    Visibility,
    ReturnType,
    ParameterRemoved,
    ParameterAdded,
    ParameterType,
    ParameterConst,
    ParameterRenamed,
    ParameterOrder,
    Callback,
    RecordLayout,
    FieldRenamed,
    EnumMoved,
    EnumRemoved,
    EnumRenamed,
    EnumAdded,
    ConstantChanged,
    ConstantRemoved,
    ConstantRenamed,
    ConstantAdded,
    NotReadable,
    CommandAdded,
    CommandRemoved,
    CommandAttributes,
    ScriptAdded,
    ScriptRemoved,
    Outside,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What it does to a server that was built before.
    pub severity: Severity,
    /// Layer.
    pub layer: Layer,
    /// What happened.
    pub kind: Kind,
    /// Function, record, enum, constant, command or script function; the old name of a renamed one.
    pub subject: String,
    /// One sentence.
    pub message: String,
    /// More facts, one a line.
    pub details: Vec<String>,
    /// `file:line` in the new SDK; of what is gone: in the old one.
    pub origin: Option<String>,
    /// Exported functions that it touches.
    pub functions: Vec<String>,
    /// Tools that it touches, by name.
    pub tools: Vec<String>,
    /// What to do.
    pub advice: String,
}

/// All changes from one SDK to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Version that the old side claims.
    pub old_version: String,
    /// Version that the new side claims.
    pub new_version: String,
    /// Exported functions of the old side.
    pub old_exports: usize,
    /// Exported functions of the new side.
    pub new_exports: usize,
    /// Gravest first, then by layer, subject and kind.
    pub changes: Vec<Change>,
}

impl Report {
    /// Puts the changes in their order, and adds what follows from all of them.
    pub fn finish(&mut self) {
        let tells_apart =
            |change: &&Change| !matches!(change.layer, Layer::Version | Layer::Commands | Layer::Script);
        let differing = self.changes.iter().filter(tells_apart).count();
        self.changes.retain(|change| change.layer != Layer::Version);
        if self.old_version == self.new_version && differing > 0 {
            self.changes.push(version(
                Kind::SameVersion,
                format!("two different headers claim the version {}", self.new_version),
                "do not tell these two apart by the version: compare layouts and values",
            ));
        }
        if self.old_version != self.new_version && differing == 0 {
            self.changes.push(version(
                Kind::OtherVersion,
                format!(
                    "the version went from {} to {}, and nothing else changed",
                    self.old_version, self.new_version
                ),
                "run `cargo codegen sync --sdk DIR`",
            ));
        }
        let key = |change: &Change| (change.severity, change.layer, change.subject.clone(), change.kind);
        self.changes
            .sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message)));
    }

    /// Number of changes of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.changes
            .iter()
            .filter(|change| change.severity == severity)
            .count()
    }

    /// Whether a change weighs at least as much as `threshold`.
    pub fn reaches(&self, threshold: Severity) -> bool {
        self.changes.iter().any(|change| change.severity <= threshold)
    }
}

fn version(kind: Kind, message: String, advice: &str) -> Change {
    Change {
        severity: Severity::Harmless,
        layer: Layer::Version,
        kind,
        subject: "version".to_owned(),
        message,
        details: Vec::new(),
        origin: None,
        functions: Vec::new(),
        tools: Vec::new(),
        advice: advice.to_owned(),
    }
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// What the exports reach.
    pub catalog: &'a Catalog,
    /// What the headers declare beyond that; a committed catalog does not know.
    pub everything: Option<&'a Catalog>,
}

impl<'a> From<&'a Whole> for Side<'a> {
    fn from(whole: &'a Whole) -> Self {
        Self {
            catalog: &whole.catalog,
            everything: Some(&whole.everything),
        }
    }
}

impl<'a> From<&'a Catalog> for Side<'a> {
    fn from(catalog: &'a Catalog) -> Self {
        Self {
            catalog,
            everything: None,
        }
    }
}

/// Compares two SDKs. `decisions` tell what the tools make of each function.
pub fn compare(old: Side<'_>, new: Side<'_>, decisions: &Decisions) -> Report {
    let mut cx = Context::new(old, new, decisions);
    names::compare(&mut cx);
    types::compare(&mut cx);
    layout::compare(&mut cx);
    values::compare(&mut cx);
    outside::compare(&mut cx);
    let mut report = Report {
        old_version: old.catalog.sdk_version.clone(),
        new_version: new.catalog.sdk_version.clone(),
        old_exports: old.catalog.functions.len(),
        new_exports: new.catalog.functions.len(),
        changes: cx.changes,
    };
    report.finish();
    report
}

/// New enumerators of `new` that `decisions` say nothing about, at each argument that would offer them.
pub fn undecided(old: Side<'_>, new: Side<'_>, decisions: &Decisions) -> Vec<Undecided> {
    offers::all(&Context::new(old, new, decisions))
}

/// Parameters of functions that both sides export that have another name and nothing else.
pub fn renamed_parameters(old: Side<'_>, new: Side<'_>) -> Vec<RenamedParameter> {
    types::renamed_parameters(&Context::new(old, new, &Decisions::none()))
}

/// What the comparisons share.
struct Context<'a> {
    old: Side<'a>,
    new: Side<'a>,
    old_reach: Reach<'a>,
    new_reach: Reach<'a>,
    decisions: &'a Decisions,
    /// Functions of both sides, with the old and the new declaration. Renamed ones are among them.
    pairs: Vec<(&'a Function, &'a Function)>,
    changes: Vec<Change>,
}

impl<'a> Context<'a> {
    fn new(old: Side<'a>, new: Side<'a>, decisions: &'a Decisions) -> Self {
        let old_names: BTreeMap<&str, &Function> = old
            .catalog
            .functions
            .iter()
            .map(|function| (function.name.as_str(), function))
            .collect();
        let pairs = new.catalog.functions.iter();
        let mut pairs: Vec<_> = pairs
            .filter_map(|function| Some((*old_names.get(function.name.as_str())?, function)))
            .collect();
        let (old_reach, new_reach) = (Reach::new(old), Reach::new(new));
        pairs.extend(names::renamed(old, new, &old_reach, &new_reach));
        Self {
            old,
            new,
            old_reach,
            new_reach,
            decisions,
            pairs,
            changes: Vec::new(),
        }
    }

    /// Functions that a change of the type `name` touches: those of both sides that reach it, by their old names.
    fn touched(&self, name: &str) -> Vec<String> {
        let users = self.old_reach.users(name);
        let still = self.pairs.iter().map(|(old, _)| old.name.as_str());
        let still: BTreeSet<&str> = still.filter(|name| users.contains(name)).collect();
        still.into_iter().map(str::to_owned).collect()
    }

    /// Adds a change that touches `functions`.
    fn add(&mut self, change: Draft, functions: Vec<String>) {
        let tools = self.decisions.tools(&functions);
        let mut details = change.details;
        details.retain(|detail| !detail.is_empty());
        self.changes.push(Change {
            severity: change.severity,
            layer: change.layer,
            kind: change.kind,
            subject: change.subject,
            message: change.message,
            details,
            origin: change.origin,
            functions,
            tools,
            advice: change.advice,
        });
    }
}

/// A change before it is known what it touches.
struct Draft {
    severity: Severity,
    layer: Layer,
    kind: Kind,
    subject: String,
    message: String,
    details: Vec<String>,
    origin: Option<String>,
    advice: String,
}
