//! Diagnostics for a terminal, for programs, and for GitHub.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Diagnostic, Severity};

/// How findings are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For people; colour is for terminals only.
    Text {
        /// With escape sequences.
        colour: bool,
    },
    /// One JSON object a line.
    Json,
    /// Workflow commands that become annotations.
    Github,
}

/// The findings in a style; every form ends in a newline.
pub fn render(findings: &[Diagnostic], style: Style) -> String {
    let mut out = String::new();
    for finding in findings {
        match style {
            Style::Text { colour } => {
                out.push_str(&text(finding, colour));
                out.push('\n');
            }
            Style::Json => {
                // A finding is made of strings and numbers: it always is JSON.
                out.push_str(&serde_json::to_string(&Line::of(finding)).unwrap_or_default());
                out.push('\n');
            }
            Style::Github => out.push_str(&github(finding)),
        }
    }
    out
}

const BOLD: &str = "\u{1b}[1m";
const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[1;33m";
const BLUE: &str = "\u{1b}[1;34m";
const RESET: &str = "\u{1b}[0m";

fn text(finding: &Diagnostic, colour: bool) -> String {
    let plain = finding.to_string();
    if !colour {
        return plain;
    }
    let head = match finding.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
    };
    let mut out = String::new();
    for (number, line) in plain.lines().enumerate() {
        let trimmed = line.trim_start();
        if number == 0 {
            let (label, message) = line.split_once(": ").unwrap_or((line, ""));
            let _ = writeln!(out, "{head}{label}{RESET}{BOLD}: {message}{RESET}");
        } else if let Some((gutter, code)) = line.split_once(" | ").filter(|_| !trimmed.starts_with('=')) {
            let marks = code.trim_start().starts_with('^');
            let (on, off) = if marks { (head, RESET) } else { ("", "") };
            let _ = writeln!(out, "{BLUE}{gutter} |{RESET} {on}{code}{off}");
        } else if trimmed.starts_with("-->") || trimmed == "|" {
            let _ = writeln!(out, "{BLUE}{line}{RESET}");
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

#[derive(Serialize)]
struct Line<'a> {
    severity: &'static str,
    code: &'a str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    length: Option<u32>,
    source_line: Option<&'a str>,
    notes: &'a [String],
    help: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(finding: &'a Diagnostic) -> Self {
        let span = finding.span.as_ref();
        Self {
            severity: match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: finding.code,
            message: &finding.message,
            file: span.map(|span| span.file.as_str()),
            line: span.map(|span| span.line),
            column: span.map(|span| span.column),
            length: span.map(|span| span.length),
            source_line: span.map(|span| span.source_line.as_str()),
            notes: &finding.notes,
            help: finding.help.as_deref(),
        }
    }
}

fn github(finding: &Diagnostic) -> String {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = finding
        .span
        .as_ref()
        .map(|span| (span.file.as_str(), span.line, Some(span.column)));
    let mut message = finding.message.clone();
    for note in &finding.notes {
        let _ = write!(message, "\nnote: {note}");
    }
    if let Some(help) = &finding.help {
        let _ = write!(message, "\nhelp: {help}");
    }
    github_line(level, place, finding.code, &message)
}

/// One workflow command of GitHub; `place` is file, line and column.
pub fn github_line(
    level: &str,
    place: Option<(&str, u32, Option<u32>)>,
    title: &str,
    message: &str,
) -> String {
    let mut out = format!("::{level} ");
    if let Some((file, line, column)) = place {
        let _ = write!(out, "file={},line={line},", property(file));
        if let Some(column) = column {
            let _ = write!(out, "col={column},");
        }
    }
    let _ = writeln!(out, "title={}::{}", property(title), data(message));
    out
}

/// What a workflow command's message must not hold.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What a workflow command's property must not hold.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Span;

    fn finding() -> Diagnostic {
        Diagnostic::error("T001", "100% wrong")
            .at(Span::of("a.h", "int x;\n", 4, 1))
            .note("see b.h:1")
            .help("write y")
    }

    #[test]
    fn json_has_one_finding_a_line() {
        let findings = [finding(), Diagnostic::error("T002", "two")];
        assert_eq!(
            render(&findings, Style::Json),
            "{\"severity\":\"error\",\"code\":\"T001\",\"message\":\"100% wrong\",\"file\":\"a.h\",\"line\":1,\"column\":5,\
             \"length\":1,\"source_line\":\"int x;\",\"notes\":[\"see b.h:1\"],\"help\":\"write y\"}\n\
             {\"severity\":\"error\",\"code\":\"T002\",\"message\":\"two\",\"file\":null,\"line\":null,\"column\":null,\
             \"length\":null,\"source_line\":null,\"notes\":[],\"help\":null}\n"
        );
    }

    #[test]
    fn github_escapes_what_would_end_a_command() {
        assert_eq!(
            render(&[finding()], Style::Github),
            "::error file=a.h,line=1,col=5,title=T001::100%25 wrong%0Anote: see b.h:1%0Ahelp: write y\n"
        );
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let plain = render(&[finding()], Style::Text { colour: false });
        let mut coloured = render(&[finding()], Style::Text { colour: true });
        assert_ne!(plain, coloured);
        for escape in [BOLD, RED, YELLOW, BLUE, RESET] {
            coloured = coloured.replace(escape, "");
        }
        assert_eq!(plain, coloured);
    }
}
