//! Entries to fill in for functions that nobody has decided on.

use std::collections::BTreeMap;

use heck::ToSnakeCase;
use serde_json::json;

use super::{NO_GROUP, edit, guess};
use crate::annotations::{Annotations, Group};
use crate::catalog::{Catalog, Function};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::diff::{Kind, Report};
use crate::emit::File;
use crate::import::pretty;

/// The tier of a scaffold.
pub(crate) const UNDECIDED: &str = "undecided";

/// What scaffolds are made from.
pub(super) struct Context<'a> {
    pub(super) annotations: &'a Annotations,
    pub(super) old: &'a Catalog,
    pub(super) new: &'a Catalog,
    pub(super) report: &'a Report,
}

/// The files of `api/tools` with a scaffold for each function of the new catalog that has no entry.
pub(super) fn files(cx: &Context<'_>) -> Result<Vec<File>, Diagnostics> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let types = guess::Types::new(cx.new);
    for function in &cx.new.functions {
        if cx.annotations.speaks_of(&function.name) {
            continue;
        }
        let (group, after) = match renamed_from(cx, function) {
            Some((group, old)) => (group, Some(old)),
            None => (
                neighbour(cx, function).ok_or_else(|| vec![no_group(function)])?,
                None,
            ),
        };
        let sources = &cx.annotations.sources;
        let path = sources.path_of(group.name.place).to_owned();
        let text = texts
            .entry(path)
            .or_insert_with(|| sources.text_of(group.name.place).replace("\r\n", "\n"));
        let entry = after
            .and_then(|old| inherited(text, old, function))
            .unwrap_or_else(|| fresh(&types, group, function));
        if let Some(longer) = edit::insert(text, after, &entry) {
            *text = longer;
        }
    }
    let files = texts.into_iter();
    Ok(files.map(|(path, contents)| File { path, contents }).collect())
}

fn no_group(function: &Function) -> Diagnostic {
    Diagnostic::error(
        NO_GROUP,
        format!(
            "there is no group that an entry for `{}` could go into",
            function.name
        ),
    )
    .note(format!("declared at {}", function.origin))
    .help("write a file in api/tools with an empty object `functions`, or exclude the function")
}

/// The group that describes the function under its former name, and that name.
fn renamed_from<'a>(cx: &Context<'a>, function: &Function) -> Option<(&'a Group, &'a str)> {
    let renamed = cx
        .report
        .changes
        .iter()
        .filter(|change| change.kind == Kind::FunctionRenamed);
    let old = renamed
        .filter(|change| change.functions.get(1) == Some(&function.name))
        .map(|change| change.subject.as_str())
        .next()?;
    let described = |group: &&Group| group.functions.iter().any(|one| one.symbol.value == old);
    Some((cx.annotations.groups.iter().find(described)?, old))
}

/// The group of the nearest function in the header, above before below.
fn neighbour<'a>(cx: &Context<'a>, function: &Function) -> Option<&'a Group> {
    let at = cx
        .new
        .functions
        .iter()
        .position(|one| one.name == function.name)?;
    let group = |name: &str| {
        let described = |group: &&Group| group.functions.iter().any(|one| one.symbol.value == name);
        cx.annotations.groups.iter().find(described)
    };
    let above = cx.new.functions[..at].iter().rev();
    let below = cx.new.functions[at + 1..].iter();
    let old = cx.old.functions.iter();
    let nearest = above.chain(below).chain(old).find_map(|one| group(&one.name));
    nearest.or(cx.annotations.groups.first())
}

/// The entry of the former name, with everything but the tier.
fn inherited(text: &str, old: &str, function: &Function) -> Option<String> {
    let (entry, tier) = edit::copy(text, old, &function.name, UNDECIDED)?;
    let guess = format!(
        "this was `{old}` with the tier {tier}: same types, and a near name or the same place in the header; \
         check it, decide on the tier, and remove the old entry when it is gone for good"
    );
    Some(edit::lead(&entry, "guess", &guess))
}

/// An entry made of guesses.
fn fresh(types: &guess::Types<'_>, group: &Group, function: &Function) -> String {
    let short = function.name.to_snake_case();
    let short = short.strip_prefix("hyperdbg_u_").unwrap_or(&short).to_owned();
    let group = &group.name.value;
    let entry = json!({
        "guess": format!("declared at {}: check each guess and remove its mark, or exclude the function", function.origin),
        "summary": "",
        "tier": UNDECIDED,
        "tier_reason": "",
        "alias": null,
        "tool": { "name": format!("hd_{group}_{short}"), "title": "", "description": "" },
        "params": guess::params(types, function),
        "returns": guess::returns(types, function),
        "text": "status",
        "blocking": { "kind": "reply", "deadline_ms": 10_000, "note": "" },
    });
    format!("\"{}\": {}", function.name, pretty(&entry, 4))
}
