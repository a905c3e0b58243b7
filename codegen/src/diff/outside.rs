//! What the headers declare and no exported function reaches: its changes are one harmless line.

use std::collections::BTreeMap;

use super::reach::Reach;
use super::{Context, Draft, Kind, Layer, Severity};
use super::{layout, types, values};
use crate::catalog::Catalog;

/// Names after which the rest of a kind is only counted.
const MAX_NAMES: usize = 6;

pub(super) fn compare(cx: &mut Context<'_>) {
    let (Some(old), Some(new)) = (cx.old.everything, cx.new.everything) else {
        return;
    };
    let mut details = Vec::new();
    let mut total = 0;
    for (what, names) in [
        ("records", records(cx, old, new)),
        ("enums", enums(cx, old, new)),
        ("types", typedefs(cx, old, new)),
        ("constants", constants(cx, old, new)),
    ] {
        if names.is_empty() {
            continue;
        }
        total += names.len();
        let mut line = format!("{what}: {}", names[..names.len().min(MAX_NAMES)].join(", "));
        if names.len() > MAX_NAMES {
            line.push_str(&format!(" and {} more", names.len() - MAX_NAMES));
        }
        details.push(line);
    }
    if total == 0 {
        return;
    }
    let noun = if total == 1 { "declaration" } else { "declarations" };
    let draft = Draft {
        severity: Severity::Harmless,
        layer: Layer::Outside,
        kind: Kind::Outside,
        subject: "outside".to_owned(),
        message: format!("{total} {noun} that no exported function reaches came, went or changed"),
        details,
        origin: None,
        advice: "nothing to do".to_owned(),
    };
    cx.add(draft, Vec::new());
}

/// Names of what differs, with `-` before what went and `+` before what came.
fn differing<'a, T: 'a>(
    old: impl Iterator<Item = (&'a String, &'a T)>,
    new: impl Iterator<Item = (&'a String, &'a T)>,
    same: impl Fn(&T, &T) -> bool,
) -> Vec<String> {
    let old: BTreeMap<&String, &T> = old.collect();
    let new: BTreeMap<&String, &T> = new.collect();
    let mut names: Vec<&String> = old.keys().chain(new.keys()).copied().collect();
    names.sort();
    names.dedup();
    names
        .into_iter()
        .filter_map(|name| match (old.get(name), new.get(name)) {
            (Some(a), Some(b)) if same(a, b) => None,
            (Some(_), Some(_)) => Some(format!("`{name}`")),
            (Some(_), None) => Some(format!("-`{name}`")),
            _ => Some(format!("+`{name}`")),
        })
        .collect()
}

fn records(cx: &Context<'_>, old: &Catalog, new: &Catalog) -> Vec<String> {
    let reached = |name: &String| {
        let reached = |catalog: &Catalog| catalog.records.iter().any(|one| one.name == *name);
        reached(cx.old.catalog) || reached(cx.new.catalog)
    };
    let own = |catalog: &'_ Catalog| {
        let records = catalog.records.iter().filter(|one| !reached(&one.name));
        records.cloned().collect::<Vec<_>>()
    };
    let (old, new) = (own(old), own(new));
    differing(
        old.iter().map(|one| (&one.name, one)),
        new.iter().map(|one| (&one.name, one)),
        |a, b| {
            let changes = layout::changes(a, b, &cx.old_reach, &cx.new_reach);
            changes.moved.is_empty() && changes.renamed.is_empty()
        },
    )
}

fn enums(cx: &Context<'_>, old: &Catalog, new: &Catalog) -> Vec<String> {
    let reached = |name: &String| {
        let reached = |catalog: &Catalog| catalog.enums.iter().any(|one| one.name == *name);
        reached(cx.old.catalog) || reached(cx.new.catalog)
    };
    let own = |catalog: &'_ Catalog| {
        let enums = catalog.enums.iter().filter(|one| !reached(&one.name));
        enums.cloned().collect::<Vec<_>>()
    };
    let (old, new) = (own(old), own(new));
    differing(
        old.iter().map(|one| (&one.name, one)),
        new.iter().map(|one| (&one.name, one)),
        |a, b| values::changes(a, b).is_empty(),
    )
}

fn typedefs(cx: &Context<'_>, old: &Catalog, new: &Catalog) -> Vec<String> {
    let reached = |name: &String| {
        let reached = |catalog: &Catalog| catalog.typedefs.iter().any(|one| one.name == *name);
        reached(cx.old.catalog) || reached(cx.new.catalog)
    };
    let own = |catalog: &'_ Catalog, reach: &Reach<'_>| {
        let typedefs = catalog.typedefs.iter().filter(|one| !reached(&one.name));
        let plain = typedefs.map(|one| match &one.callback {
            Some(callback) => (one.name.clone(), types::signature(callback, reach)),
            None => (one.name.clone(), reach.plain(&one.ty).to_string()),
        });
        plain.collect::<Vec<_>>()
    };
    let (old, new) = (own(old, &cx.old_reach), own(new, &cx.new_reach));
    differing(
        old.iter().map(|(name, meaning)| (name, meaning)),
        new.iter().map(|(name, meaning)| (name, meaning)),
        |a, b| a == b,
    )
}

fn constants(cx: &Context<'_>, old: &Catalog, new: &Catalog) -> Vec<String> {
    // The version has a line of its own.
    let apart = |name: &str| {
        let known = |catalog: &Catalog| catalog.constants.iter().any(|one| one.name == name);
        name.starts_with("VERSION_") || known(cx.old.catalog) || known(cx.new.catalog)
    };
    let own = |catalog: &'_ Catalog| {
        let constants = catalog.constants.iter().filter(|one| !apart(&one.name));
        constants.cloned().collect::<Vec<_>>()
    };
    let (old, new) = (own(old), own(new));
    differing(
        old.iter().map(|one| (&one.name, one)),
        new.iter().map(|one| (&one.name, one)),
        |a, b| a.value == b.value,
    )
}
