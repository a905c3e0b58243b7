//! What went wrong, where, and what to do about it: the one error type of the generator.
//!
//! A [`Diagnostic`] is data. It is rendered at the edge of the program only ([`Diagnostic`]'s `Display` is the
//! plain-text form that a terminal shows).

mod render;

use std::fmt;

pub use render::{Style, github_line, render};

/// How much a diagnostic weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The run goes on; someone should look.
    Warning,
    /// The run produces nothing.
    Error,
}

/// A place in an input file, with the text that stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Path as it should be shown: relative to the folder that the user named.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// Number of characters to underline; at least 1.
    pub length: u32,
    /// The whole source line, without its line ending.
    pub source_line: String,
}

impl Span {
    /// The span that starts at byte `offset` of `text` and covers `length` bytes of one line.
    ///
    /// Offsets past the end are clamped to the end, so that a span can always be shown.
    pub fn of(file: &str, text: &str, offset: usize, length: usize) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[offset..]
            .find('\n')
            .map_or(text.len(), |newline| offset + newline);
        let mut stop = (offset + length).min(end);
        while !text.is_char_boundary(stop) {
            stop -= 1;
        }
        let count = |slice: &str| u32::try_from(slice.chars().count()).unwrap_or(u32::MAX);
        Self {
            file: file.to_owned(),
            line: count_lines(&text[..start]),
            column: count(&text[start..offset]).saturating_add(1),
            length: count(&text[offset..stop]).max(1),
            source_line: text[start..end].trim_end_matches('\r').to_owned(),
        }
    }
}

fn count_lines(before: &str) -> u32 {
    let lines = before.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(lines).unwrap_or(u32::MAX - 1) + 1
}

/// One finding: stable code, message, the place, further facts, and the edit to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable identifier such as `HDR012`; never reused for another meaning.
    pub code: &'static str,
    /// One sentence that says what is wrong.
    pub message: String,
    /// Where, unless the problem has no place (an empty directory).
    pub span: Option<Span>,
    /// Further facts, such as the other place that is involved.
    pub notes: Vec<String>,
    /// What to do now.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: None,
            notes: Vec::new(),
            help: None,
        }
    }

    /// The same diagnostic at a place.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// The same diagnostic with one more fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The same diagnostic with what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        writeln!(f, "{severity}[{}]: {}", self.code, self.message)?;
        if let Some(span) = &self.span {
            let gutter = " ".repeat(span.line.to_string().len());
            writeln!(f, "{gutter}--> {}:{}:{}", span.file, span.line, span.column)?;
            writeln!(f, "{gutter} |")?;
            writeln!(f, "{} | {}", span.line, span.source_line.replace('\t', " "))?;
            let pad = " ".repeat(span.column.saturating_sub(1) as usize);
            writeln!(f, "{gutter} | {pad}{}", "^".repeat(span.length as usize))?;
        }
        for note in &self.notes {
            writeln!(f, "  = note: {note}")?;
        }
        if let Some(help) = &self.help {
            writeln!(f, "  = help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// Several diagnostics that were found in one run; never empty.
pub type Diagnostics = Vec<Diagnostic>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_counts_lines_and_characters() {
        let text = "one\ntwö = 3;\r\nlast";
        let span = Span::of("a.h", text, text.find('3').unwrap(), 1);
        assert_eq!((span.line, span.column, span.length), (2, 7, 1));
        assert_eq!(span.source_line, "twö = 3;");
    }

    #[test]
    fn span_past_the_end_is_clamped() {
        let span = Span::of("a.h", "one\ntwo", 99, 5);
        assert_eq!((span.line, span.column, span.length), (2, 4, 1));
    }

    #[test]
    fn display_shows_place_and_help() {
        let shown = Diagnostic::error("T001", "no such thing")
            .at(Span::of("a.h", "int x;\n", 4, 1))
            .note("seen before at b.h:1")
            .help("write y")
            .to_string();
        assert_eq!(
            shown,
            "error[T001]: no such thing\n --> a.h:1:5\n  |\n1 | int x;\n  |     ^\n  = note: seen before at b.h:1\n  = help: write y\n"
        );
    }
}
