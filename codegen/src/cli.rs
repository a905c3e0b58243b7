//! The command line: one verb per file.

mod diff;
mod explain;
mod generate;
mod import;
mod replay;
mod sync;

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::annotations::Retired;
use crate::diagnostic::{Diagnostic, Diagnostics, Style, render};
use crate::fixups::Fixups;
use crate::surface::Surface;
use crate::{annotations, resolve};

/// The catalog's place under the root.
const CATALOG: &str = "api/mcp_api_meta.json";

/// Imports HyperDbg's headers and generates the code of hyperdbg-mcp.
#[derive(Debug, Parser)]
#[command(name = "cargo codegen", bin_name = "cargo codegen", version)]
struct Arguments {
    /// The workspace's folder; by default the one that this program belongs to.
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,
    /// How findings are printed.
    #[arg(long, global = true, value_name = "FORM", default_value = "text")]
    messages: Messages,
    #[command(subcommand)]
    verb: Verb,
}

/// Form of the findings on stderr.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Messages {
    /// For people; in colour on a terminal.
    Text,
    /// One JSON object a line.
    Json,
    /// Annotations of a GitHub workflow.
    Github,
}

impl From<Messages> for Style {
    fn from(messages: Messages) -> Self {
        match messages {
            Messages::Text => Self::Text {
                colour: std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            },
            Messages::Json => Self::Json,
            Messages::Github => Self::Github,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Read HyperDbg's SDK headers and write the catalog, api/mcp_api_meta.json.
    Import(import::Arguments),
    /// Write all generated files from api/.
    Generate(generate::Arguments),
    /// Tell what changed between two SDKs, and what it means.
    Diff(diff::Arguments),
    /// Bring everything in step with an SDK, or say what must be decided first.
    Sync(sync::Arguments),
    /// Tell how the exports changed from release to release.
    Replay(replay::Arguments),
    /// Tell all that is known of a function, a tool, or the code of a finding.
    Explain(explain::Arguments),
}

impl Verb {
    /// Whether it can change files: then a person wants to know that it did not.
    fn writes(&self) -> bool {
        match self {
            Self::Import(_) | Self::Generate(_) | Self::Sync(_) | Self::Replay(_) => true,
            Self::Diff(_) | Self::Explain(_) => false,
        }
    }
}

/// How a verb ended, when it did not end well.
enum Failure {
    /// Committed files differ from what would be written: exit code 1.
    Stale(String),
    /// The answer was given, and it is no: exit code 1.
    Differs,
    /// Someone must decide on these places: exit code 1.
    Open(Diagnostics),
    /// Bad input or usage, or a file that cannot be read or written: exit code 2.
    Bad(Diagnostics),
}

impl From<Diagnostic> for Failure {
    fn from(finding: Diagnostic) -> Self {
        Self::Bad(vec![finding])
    }
}

impl From<Diagnostics> for Failure {
    fn from(findings: Diagnostics) -> Self {
        Self::Bad(findings)
    }
}

/// Runs the program with the arguments of its process.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let messages = arguments.messages;
    let root = arguments.root.unwrap_or_else(default_root);
    let writes = arguments.verb.writes();
    let result = match arguments.verb {
        Verb::Import(verb) => import::run(&root, &verb),
        Verb::Generate(verb) => generate::run(&root, verb),
        Verb::Diff(verb) => diff::run(&root, &verb),
        Verb::Sync(verb) => sync::run(&root, &verb),
        Verb::Replay(verb) => replay::run(&root, &verb),
        Verb::Explain(verb) => explain::run(&root, &verb),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Stale(message)) => {
            note(&message);
            ExitCode::from(1)
        }
        Err(Failure::Differs) => ExitCode::from(1),
        Err(Failure::Open(places)) => {
            show(&places, messages);
            if matches!(messages, Messages::Text) {
                note(&format!(
                    "{} to fill in; then run the command again",
                    match places.len() {
                        1 => "one place".to_owned(),
                        count => format!("{count} places"),
                    }
                ));
            }
            ExitCode::from(1)
        }
        Err(Failure::Bad(findings)) => {
            show(&findings, messages);
            if !matches!(messages, Messages::Text) {
                return ExitCode::from(2);
            }
            let noun = if findings.len() == 1 {
                "finding"
            } else {
                "findings"
            };
            let end = if writes { "; nothing was written" } else { "" };
            note(&format!("{} {noun}{end}", findings.len()));
            ExitCode::from(2)
        }
    }
}

/// `cargo run` names the package's folder, which lies in the workspace's.
fn default_root() -> PathBuf {
    match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(folder) => Path::new(&folder).join(".."),
        None => PathBuf::from("."),
    }
}

fn show(findings: &[Diagnostic], messages: Messages) {
    let text = render(findings, messages.into());
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Says something to a person, on stderr. A closed stderr is no reason to fail.
fn note(text: &dyn Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes the answer to stdout. A reader that went away is no reason to fail.
fn answer(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// A file could not be written.
fn failed_write(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("CLI002", format!("the files cannot be written: {error}"))
        .help("check the folder's permissions and free space")
}

/// Reads a file under the root.
fn read(root: &Path, path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(root.join(path)).map_err(|error| {
        Failure::from(
            Diagnostic::error("CLI001", format!("{path} cannot be read: {}", error.kind()))
                .help("run this in the workspace, or name its folder with --root"),
        )
    })
}

/// Catalog and annotations, resolved; the findings of both the files' form and their meaning come together.
fn surface(root: &Path) -> Result<Surface, Failure> {
    let api = root.join("api");
    let text = read(root, CATALOG)?;
    let mut catalog = crate::import::read(&text, CATALOG)?;
    Fixups::load(&api)?.apply(&mut catalog)?;
    let (mut annotations, mut findings) = annotations::load_all(&api);
    let retired = Retired::load(&api).map_err(|finding| *finding)?;
    findings.extend(retired.check(&catalog, &annotations));
    retired.apply(&mut annotations);
    match resolve::resolve(&catalog, &annotations) {
        Ok(surface) if findings.is_empty() => Ok(surface),
        Ok(_) => Err(findings.into()),
        Err(more) => {
            findings.extend(more);
            Err(findings.into())
        }
    }
}
