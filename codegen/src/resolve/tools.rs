//! Names, descriptions and hints of tools.

use std::collections::BTreeMap;

use super::{Context, codes, nearest};
use crate::annotations::{Annotations, At, Body, Place};
use crate::surface::{Served, Tier, Tool};

/// Longest tool name that clients take.
const NAME_LIMIT: usize = 32;
/// Longest description, in characters.
const DESCRIPTION_LIMIT: usize = 1_000;

/// The group that a tool name speaks of: `hd_<group>_<verb>`.
pub(super) fn group_of(name: &str) -> Option<&str> {
    let (group, verb) = name.strip_prefix("hd_")?.split_once('_')?;
    (!group.is_empty() && !verb.is_empty()).then_some(group)
}

/// Checks names and descriptions of all tools against each other.
pub(super) fn check_names(cx: &mut Context<'_>, annotations: &Annotations) {
    let groups: Vec<&str> = annotations
        .groups
        .iter()
        .map(|group| group.name.value.as_str())
        .collect();
    let mut generated: BTreeMap<&str, Place> = BTreeMap::new();
    let bodies = || {
        annotations
            .groups
            .iter()
            .flat_map(|group| group.functions.iter().map(move |function| (group, function)))
            .filter_map(|(group, function)| Some((group, function.body.as_ref()?)))
    };
    for (group, body) in bodies() {
        let Some(tool) = &body.tool else { continue };
        check_name(cx, &tool.name, &[group.name.value.as_str()]);
        match generated.get(tool.name.value.as_str()).copied() {
            Some(first) => cx.clash(
                codes::TOOL_TWICE,
                first,
                tool.name.place,
                format!("two tools are named `{}`", tool.name.value),
                "choose another verb for one of them",
            ),
            None => {
                generated.insert(&tool.name.value, tool.name.place);
            }
        }
        check_description(cx, &tool.name.value, &tool.description);
    }
    for (_, body) in bodies() {
        for name in body.composite.iter().flatten() {
            check_name(cx, name, &groups);
            if let Some(first) = generated.get(name.value.as_str()).copied() {
                cx.clash(
                    codes::TOOL_TWICE,
                    first,
                    name.place,
                    format!("`{}` is a generated tool and a hand-written one", name.value),
                    "choose another verb for one of them",
                );
            }
        }
    }
}

fn check_name(cx: &mut Context<'_>, name: &At<String>, groups: &[&str]) {
    let length = name.value.chars().count();
    if length > NAME_LIMIT {
        cx.fail(
            codes::TOOL_TOO_LONG,
            name.place,
            format!("the tool name has {length} characters, and clients take {NAME_LIMIT}"),
            "shorten the verb",
        );
    }
    let form = name
        .value
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let group = group_of(&name.value);
    if !form || !group.is_some_and(|group| groups.contains(&group)) {
        let wanted = match groups {
            [only] => format!("hd_{only}_<verb>"),
            _ => "hd_<group>_<verb> with a group of api/tools".to_owned(),
        };
        cx.fail(
            codes::TOOL_FORM,
            name.place,
            format!("the tool name `{}` is not of the form {wanted}", name.value),
            "use a to z, 0 to 9 and _, and begin with the group",
        );
    }
}

fn check_description(cx: &mut Context<'_>, tool: &str, description: &At<String>) {
    let length = description.value.chars().count();
    if length > DESCRIPTION_LIMIT {
        cx.fail(
            codes::DESCRIPTION_TOO_LONG,
            description.place,
            format!("the description has {length} characters, and clients take {DESCRIPTION_LIMIT}"),
            "keep what matters first; hazards go into `notes`",
        );
    }
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    for other in description.value.split(word) {
        if other.starts_with("hd_") && other != tool {
            cx.fail(
                codes::NAMES_TOOL,
                description.place,
                format!("the description of `{tool}` names `{other}`, which need not be served"),
                "say what to do in words that hold without that tool",
            );
        }
    }
}

/// What serves the function.
pub(super) fn served(cx: &mut Context<'_>, group: &str, body: &Body, symbol: &str) -> Option<Served> {
    match (&body.tool, &body.composite) {
        (Some(tool), None) => {
            let tier = body.tier.value;
            if let Some(hint) = &tool.idempotent
                && hint.value
                && tier == Tier::Destructive
            {
                cx.fail(
                    codes::HINT,
                    hint.place,
                    format!("`idempotent` promises more than the tier {} allows", tier.name()),
                    "leave the hint out, or give the function a lower tier with its reason",
                );
            }
            Some(Served::Tool(Tool {
                name: tool.name.value.clone(),
                title: tool.title.clone(),
                description: tool.description.value.clone(),
                idempotent: tool
                    .idempotent
                    .as_ref()
                    .map_or(tier == Tier::Read, |hint| hint.value),
                open_world: tool.open_world.unwrap_or(false),
            }))
        }
        (None, Some(names)) if !names.is_empty() => Some(Served::Composite(
            names.iter().map(|name| name.value.clone()).collect(),
        )),
        (Some(tool), Some(_)) => {
            cx.fail(
                codes::SERVED,
                tool.name.place,
                format!("`{symbol}` has both `tool` and `composite`"),
                "keep `tool` for a generated tool, or `composite` for hand-written ones",
            );
            None
        }
        (None, _) => {
            cx.fail(
                codes::SERVED,
                body.summary.place,
                format!("`{symbol}` has neither `tool` nor `composite`"),
                format!(
                    "add a `tool` named hd_{group}_…, the hand-written tools that call it, or exclude it"
                ),
            );
            None
        }
    }
}

/// Help that names the nearest of `known`, or lists them.
pub(super) fn did_you_mean<'a>(found: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(found, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let all: Vec<&str> = known.collect();
            if all.is_empty() {
                "there is none to name".to_owned()
            } else {
                format!("known are {}", all.join(", "))
            }
        }
    }
}
