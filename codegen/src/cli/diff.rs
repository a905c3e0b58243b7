//! `diff`: what changed between two SDKs, and what it means.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{CATALOG, Failure, answer, read};
use crate::annotations;
use crate::diagnostic::Diagnostic;
use crate::diff::{self, Decisions, Report, Severity, Side};
use crate::import::{self, import_whole};

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder include/SDK of the new release.
    #[arg(long, value_name = "DIR", required_unless_present = "schema")]
    sdk: Option<PathBuf>,
    /// What to compare with: the committed catalog, or the folder include/SDK of another release.
    #[arg(long, value_name = "catalog|DIR", default_value = "catalog")]
    against: PathBuf,
    /// A HyperDbg checkout: compare its commands and script functions with api/commands.json and api/script.json.
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
    /// Form of the report.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The least change that makes the exit status 1.
    #[arg(long, value_enum, default_value = "any")]
    fail_on: Threshold,
    /// Print the JSON Schema of `--format json` and do nothing else.
    #[arg(long)]
    schema: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs; see --schema.
    Json,
    /// For an issue.
    Markdown,
    /// Annotations of a GitHub workflow, and markdown in its summary.
    Github,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Threshold {
    /// What makes the built server call wrongly.
    Breaking,
    /// And what someone must decide on.
    Decision,
    /// Any change at all.
    Any,
}

pub(super) fn run(root: &Path, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.schema {
        answer(diff::SCHEMA);
        return Ok(());
    }
    let Some(sdk) = &arguments.sdk else { return Ok(()) };
    let mut report = report(root, sdk, &arguments.against)?;
    if let Some(checkout) = &arguments.source {
        report.changes.extend(diff::commands(root, checkout)?);
        report.finish();
    }
    match arguments.format {
        Format::Text => answer(&diff::text(&report)),
        Format::Json => answer(&diff::json(&report)),
        Format::Markdown => answer(&diff::markdown(&report)),
        Format::Github => {
            answer(&diff::github(&report));
            summary(&report)?;
        }
    }
    let threshold = match arguments.fail_on {
        Threshold::Breaking => Severity::Breaking,
        Threshold::Decision => Severity::Decision,
        Threshold::Any => Severity::Harmless,
    };
    if report.reaches(threshold) {
        return Err(Failure::Differs);
    }
    Ok(())
}

fn report(root: &Path, sdk: &Path, against: &Path) -> Result<Report, Failure> {
    let prelude = read(root, "api/prelude.h")?;
    // What the annotations lack is the business of `generate`; what they have tells which tools a change touches. What is
    // retired was decided on as well: `sync` takes it back.
    let (annotations, _) = annotations::load_all(&root.join("api"));
    let decisions = Decisions::of(&annotations);
    let new = import_whole(sdk, &prelude)?;
    if against == Path::new("catalog") {
        let old = import::read(&read(root, CATALOG)?, CATALOG)?;
        return Ok(diff::compare(Side::from(&old), Side::from(&new), &decisions));
    }
    let old = import_whole(against, &prelude)?;
    Ok(diff::compare(Side::from(&old), Side::from(&new), &decisions))
}

/// Appends the report to the summary of a GitHub workflow, where there is one.
fn summary(report: &Report) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") else {
        return Ok(());
    };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let written = file.and_then(|mut file| file.write_all(diff::markdown(report).as_bytes()));
    written.map_err(|error| {
        Diagnostic::error("CLI002", format!("the summary cannot be written: {error}"))
            .help("GITHUB_STEP_SUMMARY must name a file that can be written, or not be set")
            .into()
    })
}
