//! `explain`: what is known of a function, a tool, or the code of a finding.

use std::path::Path;

use clap::Args;

use super::{Failure, answer, surface};
use crate::diagnostic::Diagnostic;
use crate::{codes, explain};

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// An exported function, a tool, a function's earlier name, or the code of a finding.
    #[arg(required_unless_present = "summary")]
    name: Option<String>,
    /// Count exports, tools and exclusions, by group.
    #[arg(long, conflicts_with = "name")]
    summary: bool,
}

pub(super) fn run(root: &Path, arguments: &Arguments) -> Result<(), Failure> {
    if let Some(code) = arguments.name.as_deref().filter(|name| codes::is_code(name)) {
        // A code is explained whatever state the workspace is in: that state may be what the code is about.
        let text = codes::explain(code).ok_or_else(|| {
            Diagnostic::error("CLI003", format!("there is no finding with the code `{code}`"))
                .help("codes are printed with each finding, such as HDR021 or RES031")
        })?;
        answer(&text);
        return Ok(());
    }
    let surface = surface(root)?;
    match &arguments.name {
        None => answer(&explain::summary(&surface)),
        Some(name) => {
            let text = explain::explain(&surface, name, &|tool| served(root, tool)).map_err(|message| {
                Diagnostic::error("CLI003", message).help("name a symbol, a tool or an alias")
            })?;
            answer(&text);
        }
    }
    Ok(())
}

/// What the server's tests hold of a hand-written tool: the golden of its entry in `tools/list`.
fn served(root: &Path, tool: &str) -> Option<serde_json::Value> {
    let golden = root.join("tests/goldens/tools").join(format!("{tool}.json"));
    serde_json::from_str(&std::fs::read_to_string(golden).ok()?).ok()
}
