//! Which tools a process serves: every tool that exists, and what the flags make of it.

use std::collections::BTreeSet;

use super::{Category, Tool, ToolError};
use crate::tier::Tier;
use crate::{composite, generated, policy};

/// Groups that are served whatever `--tools` says: without them nothing else can be used.
const ALWAYS: [&str; 2] = ["session", "output"];

/// Every tool of the program, generated and hand-written, in a fixed order.
pub fn all() -> impl Iterator<Item = &'static Tool> {
    composite::TOOLS.iter().chain(generated::TOOLS)
}

/// Every group that `--tools` takes, with whether it is part of the default surface.
pub fn groups() -> Vec<(&'static str, bool)> {
    let mut groups: Vec<(&'static str, bool)> = Vec::new();
    for tool in all() {
        if !groups.iter().any(|(name, _)| *name == tool.spec.group) {
            groups.push((tool.spec.group, is_default(tool)));
        }
    }
    groups
}

fn is_default(tool: &Tool) -> bool {
    tool.spec.default || ALWAYS.contains(&tool.spec.group)
}

/// What the flags say about the surface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Groups beside the default ones.
    pub groups: Groups,
    /// Only Read tools, and those whose texts are classified at each call; whatever else is said.
    pub read_only: bool,
}

/// Groups beside the default ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Groups {
    /// None.
    #[default]
    Default,
    /// These.
    These(BTreeSet<String>),
    /// All.
    All,
}

impl Groups {
    /// What `--tools` says: group names or `all`, separated by commas.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = groups();
        let mut names = BTreeSet::new();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name.eq_ignore_ascii_case("all") {
                return Ok(Self::All);
            }
            let lower = name.to_ascii_lowercase();
            if !known.iter().any(|(group, _)| *group == lower) {
                let list: Vec<&str> = known.iter().map(|(group, _)| *group).collect();
                return Err(format!(
                    "there is no group `{name}`; the groups are {}, or `all`",
                    list.join(", ")
                ));
            }
            names.insert(lower);
        }
        Ok(if names.is_empty() {
            Self::Default
        } else {
            Self::These(names)
        })
    }
}

/// What becomes of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is served.
    Served,
    /// Its group is not selected.
    NeedsGroup,
    /// It is above Read, and `--read-only` was given.
    ReadOnly,
}

impl Selection {
    /// What becomes of `tool`.
    pub fn standing(&self, tool: &Tool) -> Standing {
        // What takes a text is decided about at each call.
        let above_read = tool.spec.tier > Tier::Read && policy::text_of(tool.spec.name).is_none();
        let selected = match &self.groups {
            Groups::All => true,
            Groups::These(names) => names.contains(tool.spec.group),
            Groups::Default => false,
        };
        if above_read && self.read_only {
            Standing::ReadOnly
        } else if !selected && !is_default(tool) {
            Standing::NeedsGroup
        } else {
            Standing::Served
        }
    }

    /// The refusal of a tool that exists and is not served; `None` for one that is.
    pub fn refusal(&self, tool: &Tool) -> Option<ToolError> {
        let spec = tool.spec;
        let (message, step) = match self.standing(tool) {
            Standing::Served => return None,
            Standing::ReadOnly => (
                format!(
                    "{} is of tier {}, and this server runs with --read-only.",
                    spec.name, spec.tier
                ),
                "Only a person can change that: by starting hyperdbg-mcp without --read-only.".to_owned(),
            ),
            Standing::NeedsGroup => (
                format!(
                    "{} belongs to the group `{}`, which this server does not serve.",
                    spec.name, spec.group
                ),
                format!(
                    "Only a person can change that: by starting hyperdbg-mcp with --tools {}.",
                    spec.group
                ),
            ),
        };
        Some(ToolError::new(Category::PolicyDenied, message).next_step(step))
    }
}

/// The name among `names` that is closest to `name`, if one is close.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&name.to_lowercase(), candidate),
                candidate,
            )
        })
        .min()
        .filter(|(distance, candidate)| *distance <= 2.max(candidate.len() / 3))
        .map(|(_, candidate)| candidate)
}
