//! `explain`: what is known of a function or tool.

use std::path::Path;

use clap::Args;

use super::{Failure, answer, surface};
use crate::diagnostic::Diagnostic;
use crate::explain;

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// An exported function, a tool, or a function's earlier name.
    #[arg(required_unless_present = "summary")]
    name: Option<String>,
    /// Count exports, tools and exclusions, by group.
    #[arg(long, conflicts_with = "name")]
    summary: bool,
}

pub(super) fn run(root: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let surface = surface(root)?;
    match &arguments.name {
        None => answer(&explain::summary(&surface)),
        Some(name) => {
            let text = explain::explain(&surface, name).map_err(|message| {
                Diagnostic::error("CLI003", message).help("name a symbol, a tool or an alias")
            })?;
            answer(&text);
        }
    }
    Ok(())
}
