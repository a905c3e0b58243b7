//! Verifies the log of calls, and shows it.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::FalseyValueParser;
use clap::{Args, Subcommand};
use jiff::Timestamp;

use super::{USAGE, print};
use crate::audit::{Report, ShowOptions, show, verify};

#[derive(Debug, Args)]
pub(super) struct AuditFlags {
    #[command(subcommand)]
    verb: AuditVerb,
}

#[derive(Debug, Subcommand)]
enum AuditVerb {
    /// Find what was altered in a log: exit code 0 when nothing was, 1 when something was, 2 when it cannot be read
    Verify {
        /// The log; the closed files beside it (FILE.1, FILE.2, …) are verified with it
        file: PathBuf,
        /// Do not hold the log's end against FILE.head: for a copy that lacks it
        #[arg(long, env = "HYPERDBG_MCP_WITHOUT_HEAD", value_parser = FalseyValueParser::new())]
        without_head: bool,
    },
    /// Show a log
    Show {
        /// The log
        file: PathBuf,
        /// Only from this time on: 2026-01-31T12:00:00Z, 2026-01-31, or how long ago, as 30m, 2h or 7d
        #[arg(long, env = "HYPERDBG_MCP_SINCE", value_name = "TIME", value_parser = ShowOptions::point)]
        since: Option<Timestamp>,
        /// Print the records as they are, one a line
        #[arg(long, env = "HYPERDBG_MCP_JSON", value_parser = FalseyValueParser::new())]
        json: bool,
    },
}

pub(super) fn run(flags: &AuditFlags) -> ExitCode {
    let (file, result) = match &flags.verb {
        AuditVerb::Verify { file, without_head } => {
            (file, verify(file, !without_head).map(|report| told(&report)))
        }
        AuditVerb::Show { file, since, json } => {
            let options = ShowOptions {
                since: *since,
                json: *json,
            };
            (file, show(file, &options).map(|text| print(&text)))
        }
    };
    result.unwrap_or_else(|error| {
        eprintln!("hyperdbg-mcp: {} cannot be read: {error}", file.display());
        ExitCode::from(USAGE)
    })
}

fn told(report: &Report) -> ExitCode {
    let mut text = String::new();
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for finding in &report.findings {
        let _ = writeln!(text, "altered: {finding}");
    }
    let files = report.files.len();
    let _ = writeln!(
        text,
        "{} lines in {files} file{}: {}",
        report.lines,
        if files == 1 { "" } else { "s" },
        match report.findings.len() {
            0 => "nothing was altered".to_owned(),
            count => format!("{count} finding{}", if count == 1 { "" } else { "s" }),
        }
    );
    let printed = print(&text);
    if report.findings.is_empty() {
        printed
    } else {
        ExitCode::FAILURE
    }
}
