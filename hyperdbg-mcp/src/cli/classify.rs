//! Tells what a command, an expression or a script can do, without sending it anywhere.

use std::fmt::Write as _;
use std::io::{BufRead, Read, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::{USAGE, fail};
use crate::policy::{self, Kind, Level, Options, Verdict};

#[derive(Debug, Args)]
pub(super) struct ClassifyFlags {
    /// What the text is
    #[arg(long, value_enum, default_value = "command", env = "HYPERDBG_MCP_KIND")]
    kind: KindFlag,
    /// Print the verdict as a JSON object; with `-`, read lines of {"input": "…"} and answer each with one
    #[arg(long, env = "HYPERDBG_MCP_JSON", value_parser = clap::builder::FalseyValueParser::new())]
    json: bool,
    /// Whether a debuggee evaluates expressions; unknown when absent
    #[arg(long, value_name = "YES|NO", env = "HYPERDBG_MCP_ATTACHED", value_parser = clap::builder::BoolishValueParser::new())]
    attached: Option<bool>,
    /// Read the files of `.script` commands on this machine
    #[arg(long, env = "HYPERDBG_MCP_READ_FILES", value_parser = clap::builder::FalseyValueParser::new())]
    read_files: bool,
    /// The text; `-` reads it from standard input
    text: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindFlag {
    /// A command line
    Command,
    /// An expression
    Expression,
    /// Statements
    Script,
}

impl From<KindFlag> for Kind {
    fn from(kind: KindFlag) -> Self {
        match kind {
            KindFlag::Command => Self::Command,
            KindFlag::Expression => Self::Expression,
            KindFlag::Script => Self::Script,
        }
    }
}

#[derive(Deserialize)]
struct Line {
    input: String,
    /// Instead of the flag's.
    kind: Option<Kind>,
}

pub(super) fn run(flags: &ClassifyFlags) -> ExitCode {
    let read = |path: &str| std::fs::read(path).map_err(|error| error.to_string());
    let options = Options {
        attached: flags.attached,
        read_file: flags.read_files.then_some(&read),
        ..Options::default()
    };
    let kind = Kind::from(flags.kind);
    if flags.text != "-" {
        return show(&policy::classify(kind, &flags.text, &options), flags.json);
    }
    if flags.json {
        return lines(kind, &options);
    }
    let mut text = Vec::new();
    match std::io::stdin().lock().read_to_end(&mut text) {
        Ok(_) => show(&policy::classify(kind, &text, &options), flags.json),
        Err(error) => fail(&format!("the text cannot be read from standard input: {error}")),
    }
}

fn show(verdict: &Verdict, json: bool) -> ExitCode {
    if json {
        return match serde_json::to_string(verdict) {
            Ok(text) => super::print(&text),
            Err(error) => fail(&error.to_string()),
        };
    }
    let mut text = String::new();
    let level = match verdict.level {
        Level::Read => "read",
        Level::State => "state",
        Level::Destructive => "destructive",
        Level::Never => "never",
    };
    let _ = writeln!(text, "{level}: {}", verdict.reason);
    for note in &verdict.notes {
        let _ = writeln!(text, "  {}", note.text);
    }
    super::print(&text)
}

/// Answers each line of standard input with one line, at once.
fn lines(kind: Kind, options: &Options<'_>) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let mut code = ExitCode::SUCCESS;
    for line in std::io::stdin().lock().split(b'\n') {
        let line = match line {
            Ok(line) => line,
            Err(error) => return fail(&format!("standard input cannot be read: {error}")),
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        // A file that begins with a byte order mark is piped in as it is.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        let verdict = match serde_json::from_slice::<Line>(line) {
            Ok(line) => policy::classify(line.kind.unwrap_or(kind), &line.input, options),
            Err(error) => {
                code = ExitCode::from(USAGE);
                Verdict::unreadable(&format!("the line is no object with the text `input`: {error}"))
            }
        };
        let written = serde_json::to_string(&verdict)
            .map_err(std::io::Error::other)
            .and_then(|text| writeln!(out, "{text}").and_then(|()| out.flush()));
        match written {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return code,
            Err(error) => return fail(&format!("the answer cannot be written: {error}")),
        }
    }
    code
}
