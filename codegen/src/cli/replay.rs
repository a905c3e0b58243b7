//! `replay`: how the exports changed from release to release.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{Failure, answer, failed_write, read};
use crate::emit::{File, write};
use crate::replay;

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A git directory of HyperDbg with its tags, bare or not.
    #[arg(long, value_name = "GITDIR")]
    repo: PathBuf,
    /// The first release; by default the first one that has the header of the exports.
    #[arg(long, value_name = "TAG")]
    from: Option<String>,
    /// The last release, or any commit; by default the newest release.
    #[arg(long, value_name = "TAG")]
    to: Option<String>,
    /// Form of the answer.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write hyperdbg-mcp/docs/history.md instead of answering.
    #[arg(long, conflicts_with = "format")]
    write: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For documents.
    Markdown,
}

pub(super) fn run(root: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let prelude = read(root, "api/prelude.h")?;
    let (from, to) = (arguments.from.as_deref(), arguments.to.as_deref());
    let steps = replay::replay(&arguments.repo, from, to, &prelude)?;
    if arguments.write {
        let file = File {
            path: replay::DOCUMENT.to_owned(),
            contents: replay::document(&steps),
        };
        let changed = write::place(root, &[file]).map_err(|error| failed_write(&error))?;
        answer(&match changed.as_slice() {
            [] => format!("{} is up to date\n", replay::DOCUMENT),
            _ => format!("wrote {}\n", replay::DOCUMENT),
        });
        return Ok(());
    }
    answer(&match arguments.format {
        Format::Text => replay::text(&steps),
        Format::Json => replay::json(&steps),
        Format::Markdown => replay::markdown(&steps),
    });
    Ok(())
}
