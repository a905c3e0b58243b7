//! Enumerators, and the constants that the program knows by name: error codes and limits.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::shorten;
use super::offers::{self, Undecided};
use super::{Context, Draft, Kind, Layer, Severity};
use crate::catalog::{Constant, Enum};

/// Prefix of the error codes.
const ERROR_PREFIX: &str = "DEBUGGER_ERROR_";

pub(super) fn compare(cx: &mut Context<'_>) {
    let enums = cx.old.catalog.enums.iter().chain(&cx.new.catalog.enums);
    let names: BTreeSet<&str> = enums.map(|one| one.name.as_str()).collect();
    for name in names {
        if let (Some(old), Some(new)) = (cx.old_reach.find_enum(name), cx.new_reach.find_enum(name)) {
            enumerators(cx, old, new);
        }
    }
    constants(cx);
}

/// What differs between two enums, one a line.
pub(super) struct Changes {
    pub(super) moved: Vec<String>,
    pub(super) removed: Vec<String>,
    pub(super) renamed: Vec<Renamed>,
    pub(super) added: Vec<(String, i64)>,
}

/// An enumerator with another name for the same number.
pub(super) struct Renamed {
    pub(super) was: String,
    pub(super) name: String,
    pub(super) value: i64,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.moved.is_empty() && self.removed.is_empty() && self.renamed.is_empty() && self.added.is_empty()
    }
}

pub(super) fn changes(old: &Enum, new: &Enum) -> Changes {
    let by_name = |one: &Enum| -> BTreeMap<String, i64> {
        let values = one.values.iter();
        values.map(|value| (value.name.clone(), value.value)).collect()
    };
    let (before, after) = (by_name(old), by_name(new));
    let called = |one: &Enum, wanted: i64| {
        let found = one.values.iter().find(|value| value.value == wanted);
        found.map(|value| value.name.clone())
    };
    let mut changes = Changes {
        moved: Vec::new(),
        removed: Vec::new(),
        renamed: Vec::new(),
        added: Vec::new(),
    };
    let mut twins = BTreeSet::new();
    for value in &old.values {
        match after.get(&value.name) {
            Some(now) if *now == value.value => {}
            Some(now) => {
                let instead = match called(new, value.value) {
                    Some(name) => format!("; {} is `{name}` now", value.value),
                    None => format!("; {} has no meaning any more", value.value),
                };
                changes
                    .moved
                    .push(format!("`{}`: {} → {now}{instead}", value.name, value.value));
            }
            None => {
                let twin = new.values.iter().find(|other| {
                    other.value == value.value
                        && !before.contains_key(&other.name)
                        && !twins.contains(&other.name)
                });
                match twin {
                    Some(other) => {
                        twins.insert(other.name.clone());
                        changes.renamed.push(Renamed {
                            was: value.name.clone(),
                            name: other.name.clone(),
                            value: value.value,
                        });
                    }
                    None => changes
                        .removed
                        .push(format!("`{}` ({})", value.name, value.value)),
                }
            }
        }
    }
    for value in &new.values {
        if !before.contains_key(&value.name) && !twins.contains(&value.name) {
            changes.added.push((value.name.clone(), value.value));
        }
    }
    changes
}

fn enumerators(cx: &mut Context<'_>, old: &Enum, new: &Enum) {
    let changes = changes(old, new);
    let touched = cx.touched(&old.name);
    let unused = touched.is_empty();
    let weigh = |severity| if unused { Severity::Harmless } else { severity };
    let regenerate = if unused {
        "only functions that are new reach it: regenerate"
    } else {
        "regenerate: the numbers come from the header"
    };
    let count = |list: &[String]| match list.len() {
        1 => "one value".to_owned(),
        more => format!("{more} values"),
    };
    let (renamed_open, added_open): (Vec<Undecided>, Vec<Undecided>) = offers::of(cx, new, &changes)
        .into_iter()
        .partition(|one| one.was.is_some());
    let decision = |open: &[Undecided]| match open {
        [] => Severity::Harmless,
        _ => Severity::Decision,
    };
    let default_renamed = changes.renamed.iter().any(|one| {
        let mut users = touched.iter();
        users.any(|function| cx.decisions.has_default(function, &one.was))
    });
    let renamed: Vec<String> = changes
        .renamed
        .iter()
        .map(|one| format!("`{}` → `{}` ({})", one.was, one.name, one.value))
        .collect();
    let added: Vec<String> = changes
        .added
        .iter()
        .map(|(name, value)| format!("`{name}` = {value}"))
        .collect();
    let parts = [
        (
            Kind::EnumMoved,
            weigh(Severity::Breaking),
            format!("{} of `{}` moved", count(&changes.moved), new.name),
            changes.moved,
            regenerate,
        ),
        (
            Kind::EnumRemoved,
            weigh(Severity::Breaking),
            format!("`{}` lost {}", new.name, count(&changes.removed)),
            changes.removed,
            "regenerate; api/tools must not have them as defaults; `cargo codegen sync` retires them in `exclude` and `offer`",
        ),
        (
            Kind::EnumRenamed,
            match default_renamed {
                true => Severity::Decision,
                false => decision(&renamed_open),
            },
            format!("{} of `{}` renamed", count(&renamed), new.name),
            renamed,
            &match (offer(cx, &renamed_open), default_renamed) {
                (Some(advice), false) => advice,
                (Some(advice), true) => format!("{advice}; rename them where they are a `default`"),
                (None, true) => "rename them in api/tools, where one is a `default`".to_owned(),
                (None, false) => "regenerate".to_owned(),
            },
        ),
        (
            Kind::EnumAdded,
            decision(&added_open),
            format!("`{}` has {} more", new.name, count(&added)),
            added,
            &offer(cx, &added_open)
                .unwrap_or_else(|| "regenerate: no tool offers them that was not told to".to_owned()),
        ),
    ];
    for (kind, severity, message, details, advice) in parts {
        if details.is_empty() {
            continue;
        }
        let draft = Draft {
            severity,
            layer: Layer::Values,
            kind,
            subject: old.name.clone(),
            message,
            details: shorten(details),
            origin: Some(new.origin.clone()),
            advice: advice.to_owned(),
        };
        cx.add(draft, touched.clone());
    }
}

/// Where new enumerators must be decided on.
fn offer(cx: &Context<'_>, undecided: &[Undecided]) -> Option<String> {
    let places: BTreeSet<String> = undecided
        .iter()
        .map(|one| {
            let file = cx.decisions.file(&one.function).unwrap_or("api/tools");
            format!("`{}` of `{}` in {file}", one.argument.join("."), one.function)
        })
        .collect();
    let places: Vec<String> = places.into_iter().collect();
    let advice = || {
        format!(
            "write each into `offer` or `exclude` at {}",
            places.join(", and at ")
        )
    };
    (!places.is_empty()).then(advice)
}

fn constants(cx: &mut Context<'_>) {
    let by_name = |list: &'_ [Constant]| -> BTreeMap<String, Constant> {
        list.iter().map(|one| (one.name.clone(), one.clone())).collect()
    };
    let (old, new) = (
        by_name(&cx.old.catalog.constants),
        by_name(&cx.new.catalog.constants),
    );
    let renamed = renamed(&old, &new);
    let came: BTreeSet<&str> = renamed.values().copied().collect();
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let error = name.starts_with(ERROR_PREFIX);
        let shown = |value: u64| {
            if error {
                format!("{value:#x}")
            } else {
                value.to_string()
            }
        };
        let (severity, kind, message, at, advice) = match (old.get(name), new.get(name)) {
            (Some(before), Some(after)) if before.value != after.value => (
                Severity::Breaking,
                Kind::ConstantChanged,
                format!(
                    "`{name}` went from {} to {}",
                    shown(before.value),
                    shown(after.value)
                ),
                after,
                if error {
                    "regenerate: a code that means something else would be explained wrongly"
                } else {
                    "regenerate; check the limits in api/tools that follow from it"
                },
            ),
            (Some(before), None) if renamed.contains_key(name.as_str()) => {
                let other = renamed.get(name.as_str()).copied().unwrap_or_default();
                (
                    if cx.decisions.explains(other) {
                        Severity::Harmless
                    } else {
                        Severity::Decision
                    },
                    Kind::ConstantRenamed,
                    format!("`{name}` ({}) is now called `{other}`", shown(before.value)),
                    new.get(other).unwrap_or(before),
                    "`cargo codegen sync` retires its entry in api/errors.json: give the new name one",
                )
            }
            (None, Some(_)) if came.contains(name.as_str()) => continue,
            (Some(before), None) => (
                // A code that never comes harms nobody; a limit that the server keeps to may be another now.
                if error {
                    Severity::Harmless
                } else {
                    Severity::Breaking
                },
                Kind::ConstantRemoved,
                format!("`{name}` ({}) is gone", shown(before.value)),
                before,
                if error {
                    "`cargo codegen sync` retires its entry in api/errors.json"
                } else {
                    "check what relied on this limit"
                },
            ),
            (None, Some(after)) => (
                if error && !cx.decisions.explains(name) {
                    Severity::Decision
                } else {
                    Severity::Harmless
                },
                Kind::ConstantAdded,
                format!("`{name}` = {} is new", shown(after.value)),
                after,
                if error {
                    "say in api/errors.json what it means and what to do next"
                } else {
                    "regenerate"
                },
            ),
            _ => continue,
        };
        let draft = Draft {
            severity,
            layer: Layer::Values,
            kind,
            subject: name.clone(),
            message,
            details: Vec::new(),
            origin: Some(at.origin.clone()),
            advice: advice.to_owned(),
        };
        cx.add(draft, Vec::new());
    }
}

/// Error codes that have another name: the same number, one name gone and one come.
fn renamed<'a>(
    old: &'a BTreeMap<String, Constant>,
    new: &'a BTreeMap<String, Constant>,
) -> BTreeMap<&'a str, &'a str> {
    let error = |one: &&Constant| one.name.starts_with(ERROR_PREFIX);
    let gone = old
        .values()
        .filter(|one| !new.contains_key(&one.name))
        .filter(error);
    let mut found = BTreeMap::new();
    for one in gone {
        let mut twins = new
            .values()
            .filter(|other| other.value == one.value && !old.contains_key(&other.name))
            .filter(error);
        if let (Some(twin), None) = (twins.next(), twins.next()) {
            found.insert(one.name.as_str(), twin.name.as_str());
        }
    }
    found
}
