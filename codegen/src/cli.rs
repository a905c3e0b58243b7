//! The command line: one verb per file.

mod explain;
mod generate;
mod import;

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::diagnostic::{Diagnostic, Diagnostics};
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
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Read HyperDbg's SDK headers and write the catalog, api/mcp_api_meta.json.
    Import(import::Arguments),
    /// Write all generated files from api/.
    Generate(generate::Arguments),
    /// Tell all that is known of a function or tool.
    Explain(explain::Arguments),
}

/// How a verb ended, when it did not end well.
enum Failure {
    /// Committed files differ from what would be written: exit code 1.
    Stale(String),
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
    let root = arguments.root.unwrap_or_else(default_root);
    let result = match arguments.verb {
        Verb::Import(verb) => import::run(&root, &verb),
        Verb::Generate(verb) => generate::run(&root, verb),
        Verb::Explain(verb) => explain::run(&root, &verb),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Stale(message)) => {
            note(&message);
            ExitCode::from(1)
        }
        Err(Failure::Bad(findings)) => {
            for finding in &findings {
                note(finding);
            }
            let noun = if findings.len() == 1 {
                "finding"
            } else {
                "findings"
            };
            note(&format!("{} {noun}; nothing was written", findings.len()));
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

/// Says something to a person, on stderr. A closed stderr is no reason to fail.
fn note(text: &dyn Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes the answer to stdout. A reader that went away is no reason to fail.
fn answer(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Reads a file under the root.
fn read(root: &Path, path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(root.join(path)).map_err(|error| {
        Failure::from(
            Diagnostic::error("CLI001", format!("{path} cannot be read: {error}"))
                .help("run this in the workspace, or name its folder with --root"),
        )
    })
}

/// Catalog and annotations, resolved; the findings of both the files' form and their meaning come together.
fn surface(root: &Path) -> Result<Surface, Failure> {
    let text = read(root, CATALOG)?;
    let catalog = crate::import::read(&text, CATALOG)?;
    let (annotations, mut findings) = annotations::load(&root.join("api"));
    match resolve::resolve(&catalog, &annotations) {
        Ok(surface) if findings.is_empty() => Ok(surface),
        Ok(_) => Err(findings.into()),
        Err(more) => {
            findings.extend(more);
            Err(findings.into())
        }
    }
}
