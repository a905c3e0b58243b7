//! Return types and parameters of the functions that both sides export.

use super::reach::{Difference, Reach, difference};
use super::{Context, Draft, Kind, Layer, Severity};
use crate::catalog::{Callback, Function, Param, Type};

pub(super) fn compare(cx: &mut Context<'_>) {
    for (old, new) in cx.pairs.clone() {
        returns(cx, old, new);
        parameters(cx, old, new);
    }
    callbacks(cx);
}

/// Functions of the program that the library calls.
fn callbacks(cx: &mut Context<'_>) {
    let typedefs = cx.old.catalog.typedefs.iter();
    let names: Vec<&str> = typedefs
        .filter(|typedef| typedef.callback.is_some())
        .map(|typedef| typedef.name.as_str())
        .collect();
    for name in names {
        let (Some(old), Some(new)) = (cx.old_reach.callback(name), cx.new_reach.callback(name)) else {
            continue;
        };
        let (mut before, mut after) = (signature(old, &cx.old_reach), signature(new, &cx.new_reach));
        if before == after {
            if !reordered(&old.params, &new.params) {
                continue;
            }
            (before, after) = (listed(&old.params), listed(&new.params));
        }
        let touched = cx.touched(name);
        let draft = Draft {
            severity: Severity::Breaking,
            layer: Layer::Types,
            kind: Kind::Callback,
            subject: name.to_owned(),
            message: format!("the library calls functions of the type `{name}` otherwise"),
            details: vec![format!("{before} → {after}")],
            origin: None,
            advice: "change the function that the engine registers".to_owned(),
        };
        cx.add(draft, touched);
    }
}

/// What a callback takes and returns, without typedefs.
pub(super) fn signature(callback: &Callback, reach: &Reach<'_>) -> String {
    let params: Vec<String> = callback
        .params
        .iter()
        .map(|param| reach.plain(&param.ty).to_string())
        .collect();
    format!("{}({})", reach.plain(&callback.returns), params.join(", "))
}

/// How two types differ once typedefs are resolved.
fn differ(cx: &Context<'_>, old: &Type, new: &Type) -> Difference {
    let (before, after) = (cx.old_reach.plain(old), cx.new_reach.plain(new));
    difference(&before, &after, &cx.old_reach, &cx.new_reach)
}

fn file(cx: &Context<'_>, function: &Function) -> String {
    cx.decisions.file(&function.name).unwrap_or("api/").to_owned()
}

/// The type as declared, with what it stands for where that says more.
fn spelled(ty: &Type, plain: &Type) -> String {
    if ty == plain {
        format!("`{ty}`")
    } else {
        format!("`{ty}` ({plain})")
    }
}

fn draft(
    new: &Function,
    old: &Function,
    severity: Severity,
    kind: Kind,
    message: String,
    advice: String,
) -> Draft {
    Draft {
        severity,
        layer: Layer::Types,
        kind,
        subject: old.name.clone(),
        message,
        details: Vec::new(),
        origin: Some(new.origin.clone()),
        advice,
    }
}

fn returns(cx: &mut Context<'_>, old: &Function, new: &Function) {
    let severity = match differ(cx, &old.returns, &new.returns) {
        Difference::None => return,
        // What is behind a returned pointer is only read.
        Difference::ConstGained | Difference::ConstLost => Severity::Harmless,
        Difference::Meaning | Difference::Abi => Severity::Breaking,
    };
    let message = format!(
        "`{}` returns {} instead of {}",
        new.name,
        spelled(&new.returns, &cx.new_reach.plain(&new.returns)),
        spelled(&old.returns, &cx.old_reach.plain(&old.returns))
    );
    let advice = format!("say in {} what the result means now", file(cx, old));
    let draft = draft(new, old, severity, Kind::ReturnType, message, advice);
    cx.add(draft, vec![old.name.clone()]);
}

fn parameters(cx: &mut Context<'_>, old: &Function, new: &Function) {
    let alignment = align(cx, &old.params, &new.params);
    let mut removed = Vec::new();
    let mut added = Vec::new();
    for step in alignment {
        match step {
            Step::Both(at, to) => parameter(cx, old, new, at, to),
            Step::Removed(at) => removed.push(at),
            Step::Added(to) => added.push(to),
        }
    }
    count(cx, old, new, &removed, &old.params, Kind::ParameterRemoved);
    count(cx, old, new, &added, &new.params, Kind::ParameterAdded);
    if reordered(&old.params, &new.params) {
        let message = format!(
            "`{}` takes its parameters in another order: {} instead of {}",
            new.name,
            listed(&new.params),
            listed(&old.params)
        );
        let advice = format!(
            "regenerate: roles go by name; check them in {}, and that no two names were just swapped",
            file(cx, old)
        );
        let draft = draft(
            new,
            old,
            Severity::Breaking,
            Kind::ParameterOrder,
            message,
            advice,
        );
        cx.add(draft, vec![old.name.clone()]);
    }
}

/// A parameter that has another name at the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedParameter {
    /// The function, which kept its name.
    pub function: String,
    /// Name in the old SDK.
    pub was: String,
    /// Name in the new one.
    pub name: String,
}

/// The renamed parameters of the functions that both sides export.
pub(super) fn renamed_parameters(cx: &Context<'_>) -> Vec<RenamedParameter> {
    let mut found = Vec::new();
    for (old, new) in cx.pairs.iter().filter(|(old, new)| old.name == new.name) {
        if old.params.len() != new.params.len() {
            continue;
        }
        for (before, after) in old.params.iter().zip(&new.params) {
            if is_renamed(old, before, after) {
                found.push(RenamedParameter {
                    function: old.name.clone(),
                    was: before.name.clone(),
                    name: after.name.clone(),
                });
            }
        }
    }
    found
}

/// Whether `after` at the place of `before` is a name that came, and not one that moved there.
fn is_renamed(old: &Function, before: &Param, after: &Param) -> bool {
    before.name != after.name && !moved_here(&old.params, before, after)
}

/// Whether a name stands at the place of another one that both lists have. Where the lists are of one length, types
/// alone may not tell.
fn reordered(old: &[Param], new: &[Param]) -> bool {
    old.len() == new.len()
        && old
            .iter()
            .zip(new)
            .any(|(before, after)| moved_here(old, before, after))
}

/// Whether `after` stands where `before` stood, and stood elsewhere.
fn moved_here(old: &[Param], before: &Param, after: &Param) -> bool {
    !after.unnamed
        && before.name != after.name
        && old.iter().any(|one| !one.unnamed && one.name == after.name)
}

fn listed(params: &[Param]) -> String {
    let names: Vec<String> = params.iter().map(|param| format!("`{}`", param.name)).collect();
    names.join(", ")
}

/// What became of one parameter.
enum Step {
    Both(usize, usize),
    Removed(usize),
    Added(usize),
}

/// Pairs parameters by position; where their numbers differ, those of the same name and type first.
fn align(cx: &Context<'_>, old: &[Param], new: &[Param]) -> Vec<Step> {
    if old.len() == new.len() {
        return (0..old.len()).map(|at| Step::Both(at, at)).collect();
    }
    let same = |a: &Param, b: &Param| a.name == b.name && differ(cx, &a.ty, &b.ty) != Difference::Abi;
    // The longest common subsequence; lists are a handful of entries long.
    let mut longest = vec![vec![0usize; new.len() + 1]; old.len() + 1];
    for at in (0..old.len()).rev() {
        for to in (0..new.len()).rev() {
            longest[at][to] = if same(&old[at], &new[to]) {
                longest[at + 1][to + 1] + 1
            } else {
                longest[at + 1][to].max(longest[at][to + 1])
            };
        }
    }
    let (mut at, mut to) = (0, 0);
    let mut steps = Vec::new();
    while at < old.len() || to < new.len() {
        if at < old.len() && to < new.len() && same(&old[at], &new[to]) {
            steps.push(Step::Both(at, to));
            (at, to) = (at + 1, to + 1);
        } else if to == new.len() || at < old.len() && longest[at + 1][to] >= longest[at][to + 1] {
            steps.push(Step::Removed(at));
            at += 1;
        } else {
            steps.push(Step::Added(to));
            to += 1;
        }
    }
    steps
}

fn count(
    cx: &mut Context<'_>,
    old: &Function,
    new: &Function,
    places: &[usize],
    params: &[Param],
    kind: Kind,
) {
    if places.is_empty() {
        return;
    }
    let shown: Vec<String> = places
        .iter()
        .filter_map(|at| Some((at, params.get(*at)?)))
        .map(|(at, param)| format!("{} `{}` `{}`", at + 1, param.ty, param.name))
        .collect();
    let (verb, advice) = match kind {
        Kind::ParameterAdded => ("takes more parameters", "give each new parameter a role in"),
        _ => (
            "takes fewer parameters",
            "remove the parameters that are gone from",
        ),
    };
    let message = format!(
        "`{}` {verb}: {} instead of {}",
        new.name,
        new.params.len(),
        old.params.len()
    );
    let advice = format!("{advice} {}", file(cx, old));
    let mut draft = draft(new, old, Severity::Breaking, kind, message, advice);
    let word = if kind == Kind::ParameterAdded {
        "new"
    } else {
        "gone"
    };
    draft.details = shown
        .into_iter()
        .map(|one| format!("{word}: parameter {one}"))
        .collect();
    cx.add(draft, vec![old.name.clone()]);
}

fn parameter(cx: &mut Context<'_>, old: &Function, new: &Function, at: usize, to: usize) {
    let (Some(before), Some(after)) = (old.params.get(at), new.params.get(to)) else {
        return;
    };
    let place = format!("parameter {} (`{}`) of `{}`", to + 1, after.name, new.name);
    let file = file(cx, old);
    // `sync` has given the entry the new name already.
    let names = [&before.name, &after.name];
    let gives_result = names
        .iter()
        .any(|name| cx.decisions.reads_result(&old.name, name));
    let (severity, kind, message, advice) = match differ(cx, &before.ty, &after.ty) {
        Difference::None => return renamed(cx, old, new, before, after),
        Difference::ConstGained => (
            if gives_result {
                Severity::Decision
            } else {
                Severity::Harmless
            },
            Kind::ParameterConst,
            format!("{place}: the library promises not to write through it any more"),
            if gives_result {
                format!("it gives no result any more: give it another role in {file}")
            } else {
                "regenerate".to_owned()
            },
        ),
        Difference::ConstLost => (
            Severity::Breaking,
            Kind::ParameterConst,
            format!("{place}: the library may write through it now"),
            format!("check its role in {file}"),
        ),
        Difference::Meaning | Difference::Abi => (
            Severity::Breaking,
            Kind::ParameterType,
            format!(
                "{place} is {} instead of {}",
                spelled(&after.ty, &cx.new_reach.plain(&after.ty)),
                spelled(&before.ty, &cx.old_reach.plain(&before.ty))
            ),
            format!("check its role in {file}"),
        ),
    };
    let change = draft(new, old, severity, kind, message, advice);
    cx.add(change, vec![old.name.clone()]);
    renamed(cx, old, new, before, after);
}

fn renamed(cx: &mut Context<'_>, old: &Function, new: &Function, before: &Param, after: &Param) {
    if !is_renamed(old, before, after) {
        return;
    }
    let message = format!(
        "the parameter `{}` of `{}` is now called `{}`",
        before.name, new.name, after.name
    );
    let advice = format!(
        "regenerate; `cargo codegen sync` renames it in {}, where it has an entry",
        file(cx, old)
    );
    let draft = draft(
        new,
        old,
        Severity::Harmless,
        Kind::ParameterRenamed,
        message,
        advice,
    );
    cx.add(draft, vec![old.name.clone()]);
}
