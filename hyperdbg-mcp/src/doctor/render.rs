//! The report for a person at a terminal.

use super::Report;

/// Width of the column of levels.
const LEVEL: usize = 9;

pub(super) fn text(report: &Report) -> String {
    let mut text = format!(
        "hyperdbg-mcp {} for HyperDbg {} ({} functions), {}\n\n",
        report.program,
        report.catalog_release.unwrap_or("of an unknown release"),
        report.catalog_functions,
        report.system
    );
    for finding in &report.findings {
        text.push_str(&format!("{:LEVEL$}{}: ", finding.level.name(), finding.id));
        push(&mut text, &finding.what);
        for (mark, more) in [("", &finding.why), ("→ ", &finding.what_to_do)] {
            if let Some(more) = more {
                text.push_str(&format!("{:LEVEL$}{mark}", ""));
                push(&mut text, more);
            }
        }
    }
    let count = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    };
    text.push_str(&format!(
        "\n{}, {}.\n",
        count(report.problems, "problem"),
        count(report.warnings, "warning")
    ));
    text
}

/// Adds text of possibly several lines, indented. Paths and names come from elsewhere: what would steer a terminal is
/// shown, not obeyed.
fn push(text: &mut String, more: &str) {
    for (index, line) in more.split('\n').enumerate() {
        if index > 0 {
            text.push_str(&format!("{:LEVEL$}", ""));
        }
        for letter in line.chars() {
            match letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
                true => text.extend(letter.escape_unicode()),
                false => text.push(letter),
            }
        }
        text.push('\n');
    }
}
