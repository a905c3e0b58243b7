//! The log for people: one short line a record.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};
use serde_json::Value;

use super::chain::{Line, canonical, open};

/// What to show of a log.
#[derive(Debug, Clone, Default)]
pub struct ShowOptions {
    /// Only records from this time on.
    pub since: Option<Timestamp>,
    /// The records as they are, one a line.
    pub json: bool,
}

impl ShowOptions {
    /// A point in time: RFC 3339 (`2026-01-31T12:00:00Z`), a day with or without a time of UTC (`2026-01-31`,
    /// `2026-01-31 12:00`), or how long ago (`2h`, `30m`, `7d`).
    ///
    /// # Errors
    /// When it is none of these.
    pub fn point(text: &str) -> Result<Timestamp, String> {
        if let Ok(time) = text.parse::<Timestamp>() {
            return Ok(time);
        }
        if let Ok(time) = text
            .parse::<DateTime>()
            .and_then(|time| TimeZone::UTC.to_timestamp(time))
        {
            return Ok(time);
        }
        let ago = text
            .parse::<Span>()
            .and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()));
        ago.ok()
            .filter(|ago| !ago.is_negative())
            .and_then(|ago| Timestamp::now().checked_sub(ago).ok())
            .ok_or_else(|| {
                format!(
                    "`{text}` is no time: write 2026-01-31T12:00:00Z, 2026-01-31, or how long ago, as 30m, 2h or 7d"
                )
            })
    }
}

/// The records of the file at `path`; what is no line is shown as such. Nothing is verified.
///
/// # Errors
/// When the file cannot be read.
pub fn show(path: &Path, options: &ShowOptions) -> io::Result<String> {
    let bytes = fs::read(path)?;
    let mut text = String::new();
    for (at, bytes) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if bytes.is_empty() {
            continue;
        }
        match open(bytes) {
            Ok(line) => {
                let time = line.text("time").and_then(|time| time.parse::<Timestamp>().ok());
                if options
                    .since
                    .is_some_and(|since| time.is_some_and(|time| time < since))
                {
                    continue;
                }
                if options.json {
                    text.push_str(&String::from_utf8_lossy(bytes));
                    text.push('\n');
                } else {
                    describe(&line, &mut text);
                }
            }
            Err(_) if options.json => {}
            Err(_) => {
                let _ = writeln!(
                    text,
                    "   ?  line {} of the file was changed or is torn; see `audit verify`",
                    at + 1
                );
            }
        }
    }
    Ok(text)
}

fn describe(line: &Line, text: &mut String) {
    let word = |name: &str| line.fields.get(name).map(plain).unwrap_or_default();
    let _ = write!(text, "{:>6}  {}  {:<9} ", line.seq, word("time"), word("kind"));
    let _ = match line.kind() {
        "start" => write!(
            text,
            "hyperdbg-mcp {} (process {}) over {}",
            word("version"),
            word("server_pid"),
            word("library")
        ),
        "intent" => {
            let tier = line
                .text("tier")
                .map(|_| format!(" [{}]", word("tier")))
                .unwrap_or_default();
            let _ = write!(
                text,
                "{}{tier} {} by {}",
                word("tool"),
                word("decision"),
                word("decided_by")
            );
            if line.text("reason").is_some() {
                let _ = write!(text, " ({})", word("reason"));
            }
            match line.fields.get("arguments") {
                Some(arguments) => write!(text, " {}", canonical(arguments)),
                None => write!(
                    text,
                    " arguments of {} bytes, sha256 {}",
                    word("arguments_bytes"),
                    word("arguments_sha256")
                ),
            }
        }
        "outcome" => write!(
            text,
            "{} of {}: {} after {} us",
            word("tool"),
            word("intent"),
            word("outcome"),
            word("elapsed_us")
        ),
        "recovered" => {
            if line.fields.contains_key("ended") {
                let _ = write!(
                    text,
                    "the server before did not end in order; unfinished: {} ",
                    word("unfinished")
                );
            }
            if line.fields.contains_key("torn") {
                let _ = write!(text, "torn: {} ", word("torn"));
            }
            write!(text, "{}", word("problem"))
        }
        "rotated" => write!(text, "goes on in the next file; this one becomes {}", word("to")),
        "continued" => write!(text, "goes on from {}", word("from")),
        _ => Ok(()),
    };
    text.truncate(text.trim_end().len());
    text.push('\n');
}

/// A value in ASCII, so that it cannot act on a terminal.
fn plain(value: &Value) -> String {
    let text = canonical(value);
    match value {
        Value::String(_) => text[1..text.len() - 1].to_owned(),
        _ => text,
    }
}
