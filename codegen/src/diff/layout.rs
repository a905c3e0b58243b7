//! Size, alignment and fields of the records that exported functions reach.

use std::collections::{BTreeMap, BTreeSet};

use super::reach::{Difference, Reach, difference};
use super::{Context, Draft, Kind, Layer, Severity};
use crate::catalog::{Field, Record};

/// Details of one record after which the rest is only counted.
const MAX_DETAILS: usize = 12;

pub(super) fn compare(cx: &mut Context<'_>) {
    let records = cx.old.catalog.records.iter().chain(&cx.new.catalog.records);
    let names: BTreeSet<&str> = records.map(|record| record.name.as_str()).collect();
    for name in names {
        let (Some(old), Some(new)) = (cx.old_reach.record(name), cx.new_reach.record(name)) else {
            continue;
        };
        record(cx, old, new);
    }
}

fn record(cx: &mut Context<'_>, old: &Record, new: &Record) {
    let changes = changes(old, new, &cx.old_reach, &cx.new_reach);
    let touched = cx.touched(&old.name);
    let (severity, advice) = if touched.is_empty() {
        (
            Severity::Harmless,
            "only functions that are new reach it: regenerate",
        )
    } else {
        (
            Severity::Breaking,
            "regenerate; check what api/tools says of its fields",
        )
    };
    if !changes.moved.is_empty() {
        // What is placed stricter than needed still lies right.
        let looser = changes.moved.len() == 1 && new.size == old.size && new.align < old.align;
        let severity = if looser { Severity::Harmless } else { severity };
        let message = if old.size == new.size {
            format!(
                "`{}` still has {} bytes, laid out differently",
                new.name, new.size
            )
        } else {
            format!("`{}` went from {} to {} bytes", new.name, old.size, new.size)
        };
        let draft = Draft {
            severity,
            layer: Layer::Layout,
            kind: Kind::RecordLayout,
            subject: old.name.clone(),
            message,
            details: shorten(changes.moved),
            origin: Some(new.origin.clone()),
            advice: advice.to_owned(),
        };
        cx.add(draft, touched.clone());
    }
    if !changes.renamed.is_empty() {
        let spoken_of = |(was, _): &(String, String)| {
            let mut users = touched.iter();
            users.any(|function| cx.decisions.names_field(function, was))
        };
        let (severity, advice) = match changes.renamed.iter().any(spoken_of) {
            true => (
                Severity::Decision,
                "check that they mean the same, and rename them in api/tools, where arguments or a status name them",
            ),
            false => (Severity::Harmless, "regenerate; results show the new names"),
        };
        let renamed = changes.renamed.iter();
        let renamed = renamed.map(|(was, now)| format!("`{was}` → `{now}`"));
        let draft = Draft {
            severity,
            layer: Layer::Layout,
            kind: Kind::FieldRenamed,
            subject: old.name.clone(),
            message: format!("fields of `{}` have other names at the same place", new.name),
            details: shorten(renamed.collect()),
            origin: Some(new.origin.clone()),
            advice: advice.to_owned(),
        };
        cx.add(draft, touched);
    }
}

/// What differs between two layouts, one a line.
pub(super) struct Changes {
    pub(super) moved: Vec<String>,
    /// Old and new names.
    pub(super) renamed: Vec<(String, String)>,
}

pub(super) fn changes(old: &Record, new: &Record, old_reach: &Reach<'_>, new_reach: &Reach<'_>) -> Changes {
    let mut moved = Vec::new();
    if old.kind != new.kind {
        moved.push("it is a struct on one side and a union on the other".to_owned());
    }
    if old.size != new.size {
        moved.push(format!("size: {} → {} bytes", old.size, new.size));
    }
    if old.align != new.align {
        moved.push(format!("alignment: {} → {} bytes", old.align, new.align));
    }
    let differ = |a: &Field, b: &Field| {
        let (before, after) = (old_reach.plain(&a.ty), new_reach.plain(&b.ty));
        difference(&before, &after, old_reach, new_reach)
    };
    let place = |field: &Field| (field.offset, field.bits);
    let keyed = |record: &'_ Record| -> Vec<(String, usize)> {
        // Anonymous members are told apart by their number.
        let mut anonymous = 0;
        let fields = record.fields.iter().enumerate();
        fields
            .map(|(at, field)| {
                if field.name.is_empty() {
                    anonymous += 1;
                    (format!("(anonymous {})", anonymous - 1), at)
                } else {
                    (field.name.clone(), at)
                }
            })
            .collect()
    };
    let (before, after) = (keyed(old), keyed(new));
    let new_places: BTreeMap<&str, usize> = after.iter().map(|(name, at)| (name.as_str(), *at)).collect();
    let old_names: BTreeSet<&str> = before.iter().map(|(name, _)| name.as_str()).collect();
    let mut taken = BTreeSet::new();
    let mut renamed = Vec::new();
    for (name, at) in &before {
        let field = &old.fields[*at];
        if let Some(to) = new_places.get(name.as_str()) {
            let other = &new.fields[*to];
            if !matches!(
                differ(field, other),
                Difference::None | Difference::ConstGained | Difference::ConstLost
            ) {
                moved.push(format!("`{name}` is {} instead of {}", other.ty, field.ty));
            }
            if place(field) != place(other) {
                moved.push(format!("`{name}`: {} → {}", shown(field), shown(other)));
            }
            continue;
        }
        let twin = after.iter().find(|(other, to)| {
            let candidate = &new.fields[*to];
            !old_names.contains(other.as_str())
                && !taken.contains(to)
                && place(candidate) == place(field)
                && differ(field, candidate) == Difference::None
        });
        match twin {
            Some((other, to)) => {
                taken.insert(*to);
                renamed.push((name.clone(), other.clone()));
            }
            None => moved.push(format!("`{name}` is gone ({} at {})", field.ty, shown(field))),
        }
    }
    for (name, at) in &after {
        if !old_names.contains(name.as_str()) && !taken.contains(at) {
            let field = &new.fields[*at];
            moved.push(format!("`{name}` is new ({} at {})", field.ty, shown(field)));
        }
    }
    let linux = |record: &Record| {
        record
            .sysv
            .as_ref()
            .map(|sysv| (sysv.size, sysv.align, sysv.bit_offsets.clone()))
    };
    if moved.is_empty() && linux(old) != linux(new) {
        moved.push("only its layout on Linux changed".to_owned());
    }
    Changes { moved, renamed }
}

fn shown(field: &Field) -> String {
    match field.bits {
        None => format!("offset {}", field.offset),
        Some(bits) if bits.width == 1 => format!("offset {} bit {}", field.offset, bits.start),
        Some(bits) => format!(
            "offset {} bits {}-{}",
            field.offset,
            bits.start,
            bits.start + bits.width - 1
        ),
    }
}

/// The first lines, and how many there are beyond.
pub(super) fn shorten(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MAX_DETAILS);
    if more > 0 {
        lines.truncate(MAX_DETAILS);
        lines.push(format!("and {more} more"));
    }
    lines
}
