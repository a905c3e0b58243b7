//! What a program that was built for one SDK may call in a library of another, and how it must speak to it.
//!
//! Types decide first: a function that takes or returns something else is not called. Numbers and places that only
//! moved can be translated; see [`Relocation`].

use std::collections::BTreeMap;

use super::relocate::{self, Placement, Relocation, Standing};
use super::{Change, Context, Decisions, Kind, Layer, Severity, Side};
use super::{layout, names, types, values};

/// How the records of a library lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// Microsoft's.
    Windows,
    /// Linux's.
    SystemV,
}

impl Abi {
    /// The one that this program is compiled for.
    pub const THIS: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::SystemV
    };
}

/// The verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fit {
    /// Functions that must not be called, each with its reasons.
    pub disabled: BTreeMap<String, Vec<String>>,
    /// What moved and is translated, one sentence each.
    pub moved: Vec<String>,
    /// What differs otherwise and touches no call: numbers of constants.
    pub notes: Vec<String>,
    /// How to translate.
    pub relocation: Relocation,
}

impl Fit {
    fn disable(&mut self, functions: &[String], why: &str) {
        for function in functions {
            let reasons = self.disabled.entry(function.clone()).or_default();
            if !reasons.iter().any(|reason| reason == why) {
                reasons.push(why.to_owned());
            }
        }
    }
}

/// Judges a library of the SDK `new` for a program that was built for `old`.
///
/// Without `translate`, what moved disables what reaches it. Functions that `new` lacks are no matter of this: their
/// symbols are not there. `sent` are the records that the program fills in before a function gets them, by function and
/// record: the library reads such a record, and a member of it that the program does not know would be a guess.
pub fn fit(old: Side<'_>, new: Side<'_>, abi: Abi, translate: bool, sent: &[(&str, &str)]) -> Fit {
    let decisions = Decisions::none();
    let mut cx = Context::new(old, new, &decisions);
    names::compare(&mut cx);
    types::compare(&mut cx);
    layout::compare(&mut cx);
    values::compare(&mut cx);
    let changes = std::mem::take(&mut cx.changes);
    let mut fit = Fit::default();
    for change in &changes {
        match change.layer {
            Layer::Types if change.severity != Severity::Harmless => {
                fit.disable(&change.functions, &sentence(change));
            }
            Layer::Values
                if matches!(change.kind, Kind::ConstantChanged | Kind::ConstantRenamed)
                    && change.severity != Severity::Harmless =>
            {
                fit.notes.push(sentence(change));
            }
            _ => {}
        }
    }
    let enums = relocate::enums(&cx);
    for name in enums.keys() {
        let what = changes
            .iter()
            .filter(|change| {
                change.subject == *name && matches!(change.kind, Kind::EnumMoved | Kind::EnumRemoved)
            })
            .map(sentence);
        let what = what.collect::<Vec<_>>().join("; ");
        match translate {
            true => fit.moved.push(what),
            false => fit.disable(&cx.touched(name), &what),
        }
    }
    let (mut records, mut moved) = (BTreeMap::new(), Vec::new());
    for record in &cx.old.catalog.records {
        let said = changes
            .iter()
            .find(|change| change.subject == record.name && change.kind == Kind::RecordLayout);
        let what = match said {
            Some(change) => sentence(change),
            None => format!("`{}` holds values that moved", record.name),
        };
        match relocate::record(&cx, record, abi, &enums) {
            Standing::Same => {}
            Standing::Cannot(why) => fit.disable(&cx.touched(&record.name), &format!("{why}; {what}")),
            Standing::Moved(_) if !translate => fit.disable(&cx.touched(&record.name), &what),
            Standing::Moved(placement) => {
                if !placement.unknown.is_empty() {
                    let mut read = cx.touched(&record.name);
                    read.retain(|function| sent.contains(&(function, &record.name)));
                    fit.disable(&read, &format!("{}; {what}", grew(&record.name, &placement)));
                }
                moved.push((&record.name, what));
                records.insert(record.name.clone(), placement);
            }
        }
    }
    // What no call needs any more is not worth a word.
    let needed = |name: &str| {
        let mut users = cx.touched(name).into_iter();
        users.any(|function| !fit.disabled.contains_key(&function))
    };
    let moved = moved.into_iter().filter(|(name, _)| needed(name));
    let moved: Vec<String> = moved.map(|(_, what)| what).collect();
    fit.moved.extend(moved);
    if translate {
        fit.relocation = Relocation { enums, records };
    }
    fit
}

/// Why a record with members that this program does not know is not sent.
fn grew(record: &str, placement: &Placement) -> String {
    format!(
        "the library reads `{record}`, which has members there that this program cannot fill in: {}",
        placement.unknown.join(", ")
    )
}

/// A change in one line.
fn sentence(change: &Change) -> String {
    match change.details.as_slice() {
        [] => change.message.clone(),
        details => format!("{} ({})", change.message, details.join(", ")),
    }
}
