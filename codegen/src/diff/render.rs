//! A report as text, JSON, markdown, and as annotations of GitHub.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Change, Report, Severity};
use crate::diagnostic::github_line;

/// Version of the JSON form; it goes up when a key goes away or changes its meaning.
pub const FORMAT: u32 = 1;

/// JSON Schema of the JSON form.
pub const SCHEMA: &str = include_str!("report.schema.json");

const SEVERITIES: [Severity; 3] = [Severity::Breaking, Severity::Decision, Severity::Harmless];

fn heading(report: &Report) -> String {
    let exports = |count: usize| match count {
        1 => "1 export".to_owned(),
        more => format!("{more} exports"),
    };
    format!(
        "HyperDbg SDK {} ({}) → {} ({})",
        report.old_version,
        exports(report.old_exports),
        report.new_version,
        exports(report.new_exports)
    )
}

/// `2 breaking, 1 decision, 3 harmless`, or that nothing differs.
fn counts(report: &Report) -> String {
    if report.changes.is_empty() {
        return "in step: nothing differs".to_owned();
    }
    let counts = SEVERITIES.map(|severity| format!("{} {}", report.count(severity), severity.word()));
    counts.join(", ")
}

/// The tools a change touches, or else its functions.
fn touches(change: &Change) -> Option<String> {
    match (change.tools.as_slice(), change.functions.as_slice()) {
        ([], []) => None,
        ([], functions) if functions == [change.subject.as_str()] => None,
        ([], functions) => Some(format!("functions {}", functions.join(", "))),
        (tools, _) => Some(format!("tools {}", tools.join(", "))),
    }
}

/// For people, on a terminal.
pub fn text(report: &Report) -> String {
    let mut out = format!("{}\n{}\n", heading(report), counts(report));
    for change in &report.changes {
        let _ = writeln!(
            out,
            "\n{} ({}): {}",
            change.severity.word(),
            change.layer.word(),
            change.message
        );
        for detail in &change.details {
            let _ = writeln!(out, "    {detail}");
        }
        if let Some(origin) = &change.origin {
            let _ = writeln!(out, "  at {origin}");
        }
        if let Some(touches) = touches(change) {
            let _ = writeln!(out, "  touches {touches}");
        }
        let _ = writeln!(out, "  do: {}", change.advice);
    }
    out
}

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    old: Version<'a>,
    new: Version<'a>,
    counts: Counts,
    changes: &'a [Change],
}

#[derive(Serialize)]
struct Version<'a> {
    version: &'a str,
    exports: usize,
}

#[derive(Serialize)]
struct Counts {
    breaking: usize,
    decision: usize,
    harmless: usize,
}

/// For programs; [`SCHEMA`] describes it.
pub fn json(report: &Report) -> String {
    let document = Document {
        format: FORMAT,
        old: Version {
            version: &report.old_version,
            exports: report.old_exports,
        },
        new: Version {
            version: &report.new_version,
            exports: report.new_exports,
        },
        counts: Counts {
            breaking: report.count(Severity::Breaking),
            decision: report.count(Severity::Decision),
            harmless: report.count(Severity::Harmless),
        },
        changes: &report.changes,
    };
    // The document is made of strings, numbers and lists: it always is JSON.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// For an issue or a summary of a run.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("## {}\n\n{}\n", heading(report), counts(report));
    for severity in SEVERITIES {
        let mut changes = report
            .changes
            .iter()
            .filter(|change| change.severity == severity)
            .peekable();
        if changes.peek().is_none() {
            continue;
        }
        let title = match severity {
            Severity::Breaking => "Breaking",
            Severity::Decision => "To be decided",
            Severity::Harmless => "Harmless",
        };
        let _ = writeln!(out, "\n### {title}\n");
        for change in changes {
            let _ = write!(out, "- **{}**: {}", change.layer.word(), change.message);
            if let Some(origin) = &change.origin {
                let _ = write!(out, " (`{origin}`)");
            }
            out.push('\n');
            for detail in &change.details {
                let _ = writeln!(out, "  - {}", code_unless_marked(detail));
            }
            if let Some(touches) = touches(change) {
                let _ = writeln!(out, "  - touches {touches}");
            }
            let _ = writeln!(out, "  - **do:** {}", change.advice);
        }
    }
    out
}

/// A line with stars (a C declaration) would be read as emphasis.
fn code_unless_marked(detail: &str) -> String {
    if detail.contains('`') || !detail.contains(['*', '_']) {
        detail.to_owned()
    } else {
        format!("`{detail}`")
    }
}

/// For a run on GitHub: one annotation for each change.
pub fn github(report: &Report) -> String {
    let mut out = String::new();
    for change in &report.changes {
        let level = match change.severity {
            Severity::Breaking => "error",
            Severity::Decision => "warning",
            Severity::Harmless => "notice",
        };
        let place = change.origin.as_deref().and_then(|origin| {
            let (file, line) = origin.rsplit_once(':')?;
            Some((file, line.parse().ok()?, None))
        });
        let mut message = change.message.clone();
        for detail in &change.details {
            let _ = write!(message, "\n{detail}");
        }
        if let Some(touches) = touches(change) {
            let _ = write!(message, "\ntouches {touches}");
        }
        let _ = write!(message, "\ndo: {}", change.advice);
        let title = format!("{}, {}", change.severity.word(), change.layer.word());
        out.push_str(&github_line(level, place, &title, &message));
    }
    let _ = writeln!(out, "{}: {}", heading(report), counts(report));
    out
}
