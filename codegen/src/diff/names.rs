//! Exported names: which came, which went, and which are the same function under another name.

use std::collections::BTreeSet;

use heck::ToSnakeCase;

use super::reach::Reach;
use super::{Context, Draft, Kind, Layer, Severity, Side};
use crate::catalog::{Function, Type};

/// Least likeness of two names of one function. `install_vmm_driver` and `install_kd_driver` have 0.83.
const NEAR: f64 = 0.7;

/// Functions of the old side that the new side has under another name.
///
/// The types must be the same; the names must be near, or the places in the header the same.
pub(super) fn renamed<'a>(
    old: Side<'a>,
    new: Side<'a>,
    old_reach: &Reach<'a>,
    new_reach: &Reach<'a>,
) -> Vec<(&'a Function, &'a Function)> {
    let before = &old.catalog.functions;
    let after = &new.catalog.functions;
    let old_names: BTreeSet<&str> = before.iter().map(|one| one.name.as_str()).collect();
    let new_names: BTreeSet<&str> = after.iter().map(|one| one.name.as_str()).collect();
    let mut candidates = Vec::new();
    for (at, gone) in before.iter().enumerate() {
        if new_names.contains(gone.name.as_str()) {
            continue;
        }
        for (place, came) in after.iter().enumerate() {
            if old_names.contains(came.name.as_str())
                || signature(gone, old_reach) != signature(came, new_reach)
            {
                continue;
            }
            let likeness = likeness(&gone.name, &came.name);
            let same_place = same_place(
                neighbours(before, at, &new_names),
                neighbours(after, place, &old_names),
            );
            if likeness >= NEAR || same_place {
                candidates.push((likeness, same_place, at, place));
            }
        }
    }
    // The likest pair first; of equal ones the one in the same place, then the first in the header.
    candidates.sort_by(|a, b| {
        let near = |pair: &(f64, bool, usize, usize)| pair.0 >= NEAR;
        near(b)
            .cmp(&near(a))
            .then(b.0.total_cmp(&a.0))
            .then(b.1.cmp(&a.1))
            .then((a.2, a.3).cmp(&(b.2, b.3)))
    });
    let (mut used_old, mut used_new) = (BTreeSet::new(), BTreeSet::new());
    let mut found = Vec::new();
    for (_, _, at, place) in candidates {
        if !used_old.contains(&at) && !used_new.contains(&place) {
            used_old.insert(at);
            used_new.insert(place);
            found.push((&before[at], &after[place]));
        }
    }
    found
}

fn signature(function: &Function, reach: &Reach<'_>) -> (Type, Vec<Type>) {
    let params = function.params.iter().map(|param| reach.plain(&param.ty));
    (reach.plain(&function.returns), params.collect())
}

/// The functions right before and after the one at `at`, as far as they are in `known` too.
fn neighbours<'a>(functions: &'a [Function], at: usize, known: &BTreeSet<&str>) -> [Option<&'a str>; 2] {
    let name = |at: Option<usize>| {
        let name = functions.get(at?)?.name.as_str();
        known.contains(name).then_some(name)
    };
    [name(at.checked_sub(1)), name(at.checked_add(1))]
}

/// Whether two functions follow or precede the same one.
fn same_place(old: [Option<&str>; 2], new: [Option<&str>; 2]) -> bool {
    old.iter().zip(&new).any(|(a, b)| a.is_some() && a == b)
}

fn likeness(old: &str, new: &str) -> f64 {
    let short = |name: &str| {
        let name = name.to_snake_case();
        let prefixes = ["hyperdbg_u_", "hyper_dbg_", "hwdbg_"];
        let short = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
        short.map(str::to_owned).unwrap_or(name)
    };
    strsim::normalized_damerau_levenshtein(&short(old), &short(new))
}

pub(super) fn compare(cx: &mut Context<'_>) {
    let (old, new) = (cx.old.catalog, cx.new.catalog);
    let pairs = cx.pairs.clone();
    let kept_old: BTreeSet<&str> = pairs.iter().map(|(old, _)| old.name.as_str()).collect();
    let kept_new: BTreeSet<&str> = pairs.iter().map(|(_, new)| new.name.as_str()).collect();
    for gone in old
        .functions
        .iter()
        .filter(|one| !kept_old.contains(one.name.as_str()))
    {
        removed(cx, gone);
    }
    for came in new
        .functions
        .iter()
        .filter(|one| !kept_new.contains(one.name.as_str()))
    {
        added(cx, came);
    }
    for (before, after) in pairs {
        if before.name != after.name {
            let file = cx.decisions.file(&before.name).unwrap_or("api/tools");
            let draft = Draft {
                severity: Severity::Breaking,
                layer: Layer::Names,
                kind: Kind::FunctionRenamed,
                subject: before.name.clone(),
                message: format!("`{}` is now called `{}`", before.name, after.name),
                details: vec![format!("was declared at {}", before.origin), prototype(after)],
                origin: Some(after.origin.clone()),
                advice: format!(
                    "check that it still does the same, and give its entry in {file} the new name"
                ),
            };
            cx.add(draft, vec![before.name.clone(), after.name.clone()]);
        }
        visibility(cx, before, after);
    }
}

fn removed(cx: &mut Context<'_>, gone: &Function) {
    let file = cx.decisions.file(&gone.name);
    let unused = cx
        .decisions
        .excluded(&gone.name)
        .is_some_and(|kind| kind != "engine");
    let draft = Draft {
        severity: if unused {
            Severity::Harmless
        } else {
            Severity::Breaking
        },
        layer: Layer::Names,
        kind: Kind::FunctionRemoved,
        subject: gone.name.clone(),
        message: format!("`{}` is no longer exported", gone.name),
        details: vec![prototype(gone)],
        origin: Some(gone.origin.clone()),
        advice: match file {
            Some(file) => format!(
                "`cargo codegen sync` retires its entry in {file}; remove the entry when the function is gone for good"
            ),
            None => "nothing in api/ speaks of it: regenerate".to_owned(),
        },
    };
    cx.add(draft, vec![gone.name.clone()]);
}

fn added(cx: &mut Context<'_>, came: &Function) {
    let file = cx.decisions.file(&came.name);
    let draft = Draft {
        severity: if file.is_some() {
            Severity::Harmless
        } else {
            Severity::Decision
        },
        layer: Layer::Names,
        kind: Kind::FunctionAdded,
        subject: came.name.clone(),
        message: format!("`{}` is new", came.name),
        details: vec![prototype(came)],
        origin: Some(came.origin.clone()),
        advice: match file {
            Some(file) => format!("it is decided on in {file} already: run `cargo codegen sync --sdk DIR`"),
            None => "give it a tier and a tool in api/tools, or a reason in api/exclusions.json; \
                     `cargo codegen sync --sdk DIR` writes the entry to fill in"
                .to_owned(),
        },
    };
    cx.add(draft, vec![came.name.clone()]);
}

fn visibility(cx: &mut Context<'_>, before: &Function, after: &Function) {
    let (severity, message, advice) = match (before.unmarked, after.unmarked) {
        (false, true) => (
            Severity::Breaking,
            format!("`{}` is declared without the macro that exports it", after.name),
            "check whether the library still exports it; exclude it when it does not",
        ),
        (true, false) => (
            Severity::Harmless,
            format!("`{}` now carries the macro that exports it", after.name),
            "regenerate",
        ),
        _ => return,
    };
    let draft = Draft {
        severity,
        layer: Layer::Names,
        kind: Kind::Visibility,
        subject: before.name.clone(),
        message,
        details: Vec::new(),
        origin: Some(after.origin.clone()),
        advice: advice.to_owned(),
    };
    cx.add(draft, vec![before.name.clone()]);
}

/// The function as C declares it.
pub(super) fn prototype(function: &Function) -> String {
    let params: Vec<String> = function
        .params
        .iter()
        .map(|param| {
            let ty = param.ty.to_string();
            match (param.unnamed, ty.ends_with('*')) {
                (true, _) => ty,
                (false, true) => format!("{ty}{}", param.name),
                (false, false) => format!("{ty} {}", param.name),
            }
        })
        .collect();
    let returns = function.returns.to_string();
    let space = if returns.ends_with('*') { "" } else { " " };
    format!("{returns}{space}{}({})", function.name, params.join(", "))
}
