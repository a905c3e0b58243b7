//! Lists the tools that a client would see.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;

use super::{ServeFlags, fail};
use crate::server::Registry;
use crate::tool::surface::{self, Standing};

#[derive(Debug, Args)]
pub(super) struct ToolsFlags {
    /// Print the list as clients get it, as JSON
    #[arg(long, env = "HYPERDBG_MCP_JSON", value_parser = clap::builder::FalseyValueParser::new())]
    json: bool,
}

pub(super) fn run(flags: &ServeFlags, verb: &ToolsFlags) -> ExitCode {
    let registry = match Registry::new(flags.selection()) {
        Ok(registry) => registry,
        Err(error) => return fail(&error),
    };
    let text = if verb.json {
        json(&registry)
    } else {
        Ok(list(&registry))
    };
    match text {
        Ok(text) => super::print(&text),
        Err(error) => fail(&error),
    }
}

fn json(registry: &Registry) -> Result<String, String> {
    let tools: Vec<_> = registry.served().iter().map(|served| &served.model).collect();
    serde_json::to_string_pretty(&serde_json::json!({ "tools": tools })).map_err(|error| error.to_string())
}

fn list(registry: &Registry) -> String {
    let mut text = String::new();
    let width = registry
        .served()
        .iter()
        .map(|served| served.tool.spec.name.len())
        .max()
        .unwrap_or(0);
    for served in registry.served() {
        let spec = served.tool.spec;
        let tier = spec.tier.to_string();
        let _ = writeln!(text, "{:width$}  {tier:11}  {}", spec.name, spec.title);
    }
    let selection = registry.selection();
    let mut hidden: Vec<(&str, usize, usize)> = Vec::new();
    for tool in surface::all() {
        let standing = selection.standing(tool);
        if standing == Standing::Served {
            continue;
        }
        let group = tool.spec.group;
        let at = match hidden.iter().position(|(name, _, _)| *name == group) {
            Some(at) => at,
            None => {
                hidden.push((group, 0, 0));
                hidden.len() - 1
            }
        };
        match standing {
            Standing::NeedsGroup => hidden[at].1 += 1,
            _ => hidden[at].2 += 1,
        }
    }
    if !hidden.is_empty() {
        text.push_str("\nNot served with these flags:\n");
    }
    for (group, by_group, by_tier) in hidden {
        let mut why = Vec::new();
        if by_group > 0 {
            why.push(format!("{by_group} with --tools {group}"));
        }
        if by_tier > 0 {
            why.push(format!("{by_tier} without --read-only"));
        }
        let _ = writeln!(text, "{group:width$}  {}", why.join(", "));
    }
    text
}
