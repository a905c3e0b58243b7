//! Finds what was altered in a log, and where.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::chain::{Flaw, GENESIS, Line, open, sha256};
use super::head::{Found, Head};
use super::place::beside;
use super::recovery::Fit;

/// How often a log that is being written is read again until it and its head fit.
const ATTEMPTS: u32 = 50;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);
/// How often a log must be found altered while nobody writes it.
const STILL: u32 = 4;

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// File name.
    pub file: String,
    /// Number of the line in it, from 1; none where it is about the file.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were read, in order.
    pub files: Vec<String>,
    /// Lines that fit the chain.
    pub lines: u64,
    /// What was altered.
    pub findings: Vec<Finding>,
    /// What is worth knowing and no alteration.
    pub notes: Vec<Finding>,
}

/// Verifies the log at `path` and the closed files before it that are still there. `with_head` holds its end against
/// the head file.
///
/// # Errors
/// When a file cannot be read.
pub fn verify(path: &Path, with_head: bool) -> io::Result<Report> {
    let (mut attempts, mut still) = (0, 0);
    loop {
        let before = Found::read(&beside(path, "head"))?;
        let result = verify_once(path, with_head.then_some(&before));
        if matches!(&result, Ok(report) if report.findings.is_empty()) {
            return result;
        }
        // Lines that came while the file was read are no finding, and neither is a file that just makes room for the next.
        attempts += 1;
        still += u32::from(before == Found::read(&beside(path, "head"))?);
        if still >= STILL || attempts >= ATTEMPTS {
            return result;
        }
        std::thread::sleep(BETWEEN_ATTEMPTS);
    }
}

fn verify_once(path: &Path, head: Option<&Found>) -> io::Result<Report> {
    let mut files = vec![(path.to_owned(), fs::read(path)?)];
    let mut missing = None;
    while let Some((_, bytes)) = files.last() {
        let Some(previous) = previous_name(bytes) else {
            break;
        };
        let previous_path = path.with_file_name(&previous);
        match fs::read(&previous_path) {
            Ok(bytes) if files.iter().all(|(known, _)| *known != previous_path) => {
                files.push((previous_path, bytes));
            }
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                missing = Some(previous);
                break;
            }
            Err(error) => return Err(error),
        }
    }
    files.reverse();
    let mut check = Check::default();
    if let Some(missing) = missing {
        check.begin_at_first_line();
        check.file = name_of(&files[0].0);
        check.note(
            None,
            format!("the file before, {missing}, is not here: what it holds is not verified"),
        );
    }
    let count = files.len();
    for (at, (path, bytes)) in files.iter().enumerate() {
        check.file(path, bytes, at + 1 == count);
    }
    check.end(head);
    Ok(check.report)
}

/// The file that comes before one that begins with these bytes.
fn previous_name(bytes: &[u8]) -> Option<String> {
    let first = bytes.split(|byte| *byte == b'\n').next()?;
    let line = open(first).ok().filter(|line| line.kind() == "continued")?;
    let name = line.text("from")?;
    // A name and no path: a log cannot send its reader elsewhere.
    let is_plain = !name.contains(['/', '\\', ':']) && name != ".." && name != ".";
    is_plain.then(|| name.to_owned())
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The state of a walk along the chain.
struct Check {
    report: Report,
    file: String,
    /// Sequence number and hash that the next line builds on; the hash is unknown after a line that is no line.
    seq: u64,
    hash: Option<String>,
    /// The chain may begin anywhere.
    open_start: bool,
    /// Numbers that were skipped, with the place.
    gaps: BTreeSet<(u64, u64, String, usize)>,
    /// A line before was no line: it may stand for one.
    stands_for_one: bool,
    last: Option<Line>,
    /// Bytes after the last newline of the last file, and the line's number.
    torn: Option<usize>,
}

impl Default for Check {
    fn default() -> Self {
        Self {
            report: Report::default(),
            file: String::new(),
            seq: 0,
            hash: Some(GENESIS.to_owned()),
            open_start: false,
            gaps: BTreeSet::new(),
            stands_for_one: false,
            last: None,
            torn: None,
        }
    }
}

impl Check {
    fn begin_at_first_line(&mut self) {
        self.open_start = true;
    }

    fn finding(&mut self, line: Option<usize>, message: impl Into<String>) {
        let finding = Finding {
            file: self.file.clone(),
            line,
            message: message.into(),
        };
        self.report.findings.push(finding);
    }

    fn note(&mut self, line: Option<usize>, message: impl Into<String>) {
        let note = Finding {
            file: self.file.clone(),
            line,
            message: message.into(),
        };
        self.report.notes.push(note);
    }

    fn file(&mut self, path: &Path, bytes: &[u8], is_last: bool) {
        self.file = name_of(path);
        self.report.files.push(self.file.clone());
        let mut number = 0;
        let mut at = 0;
        while at < bytes.len() {
            number += 1;
            let length = bytes[at..].iter().position(|byte| *byte == b'\n');
            let end = at + length.unwrap_or(bytes.len() - at);
            match open(&bytes[at..end]) {
                Ok(line) if length.is_some() => self.line(number, line),
                _ if length.is_none() && is_last => {
                    self.torn = Some(number);
                    return;
                }
                Ok(_) => self.finding(Some(number), "the line's end was cut off"),
                Err(flaw) => {
                    if let Some(skipped) = self.torn_region(bytes, at, number) {
                        number += bytes[at..skipped].iter().filter(|byte| **byte == b'\n').count();
                        at = skipped + 1;
                        continue;
                    }
                    self.flawed(number, flaw, &bytes[at..end]);
                }
            }
            at = end + 1;
        }
        let closed = self.last.as_ref().is_some_and(|line| line.kind() == "rotated");
        if !is_last && !closed {
            self.finding(
                None,
                "the file ends before the line that closes it: lines were cut off its end",
            );
        }
    }

    /// The end of a torn part that begins at `at`, where a later line tells of it.
    fn torn_region(&mut self, bytes: &[u8], at: usize, number: usize) -> Option<usize> {
        let mut from = at;
        // The record comes right after; a few lines cover one that was itself torn.
        for _ in 0..8 {
            let newline = from + bytes[from..].iter().position(|byte| *byte == b'\n')?;
            let next = newline + 1;
            let end = next + bytes[next..].iter().position(|byte| *byte == b'\n')?;
            if let Ok(line) = open(&bytes[next..end]) {
                let torn = line.fields.get("torn")?;
                let named = torn["offset"] == at && torn["bytes"] == newline - at;
                if line.kind() != "recovered" || !named || torn["sha256"] != sha256(&bytes[at..newline]) {
                    return None;
                }
                self.note(
                    Some(number),
                    "a line was torn when the server was killed; the next start closed it",
                );
                return Some(newline);
            }
            from = next;
        }
        None
    }

    fn flawed(&mut self, number: usize, flaw: Flaw, bytes: &[u8]) {
        let stated = serde_json::from_slice::<serde_json::Value>(bytes).unwrap_or_default();
        if flaw == Flaw::Changed && stated["seq"] == self.seq + 1 {
            self.finding(
                Some(number),
                format!("line {} of the chain was changed", self.seq + 1),
            );
            self.seq += 1;
            // What follows builds on the hash that the line had when it was written.
            self.hash = stated["hash"].as_str().map(str::to_owned);
            return;
        }
        self.finding(
            Some(number),
            "this is no line of the log: it was changed or put in",
        );
        self.stands_for_one = true;
        self.hash = None;
    }

    fn line(&mut self, number: usize, line: Line) {
        if self.open_start {
            self.open_start = false;
            self.seq = line.seq.saturating_sub(1);
            self.hash = None;
        }
        let expected = self.seq + 1;
        if line.seq < expected {
            let gap = self
                .gaps
                .iter()
                .find(|(from, to, ..)| (*from..=*to).contains(&line.seq))
                .cloned();
            match gap {
                Some(gap) => {
                    self.gaps.remove(&gap);
                    let (from, to, file, place) = gap;
                    if from < line.seq {
                        self.gaps.insert((from, line.seq - 1, file.clone(), place));
                    }
                    if line.seq < to {
                        self.gaps.insert((line.seq + 1, to, file, place));
                    }
                    self.finding(
                        Some(number),
                        format!(
                            "line {} of the chain does not stand in its place: lines were swapped",
                            line.seq
                        ),
                    );
                }
                None => self.finding(
                    Some(number),
                    format!("line {} of the chain stands here again: it was put in", line.seq),
                ),
            }
            return;
        }
        if line.seq > expected {
            if !(self.stands_for_one && line.seq == expected + 1) {
                self.gaps
                    .insert((expected, line.seq - 1, self.file.clone(), number));
            }
        } else if self.hash.as_ref().is_some_and(|hash| *hash != line.prev) {
            self.finding(
                Some(number),
                format!("line {} of the chain does not follow on the one before: one of both was put in or replaced", line.seq),
            );
        }
        self.stands_for_one = false;
        if let Some(problem) = line.text("problem").filter(|_| line.kind() == "recovered") {
            self.finding(Some(number), format!("at this start: {problem}"));
        }
        if line.kind() == "recovered" && line.fields.contains_key("ended") {
            let unfinished = line.fields["unfinished"].as_array().map_or(0, Vec::len);
            self.note(
                Some(number),
                format!("the server before did not end in order, with {unfinished} calls unfinished"),
            );
        }
        self.report.lines += 1;
        self.seq = line.seq;
        self.hash = Some(line.hash.clone());
        self.last = Some(line);
    }

    fn end(&mut self, head: Option<&Found>) {
        for (from, to, file, line) in std::mem::take(&mut self.gaps) {
            let what = if from == to {
                format!("line {from} of the chain is missing before here: it was deleted")
            } else {
                format!("lines {from} to {to} of the chain are missing before here: they were deleted")
            };
            self.report.findings.push(Finding {
                file,
                line: Some(line),
                message: what,
            });
        }
        let is_closed = self.last.as_ref().is_some_and(|line| line.kind() == "rotated");
        let torn = self.torn;
        match head {
            // A closed file needs no head: its last line says that it is the last.
            None | Some(Found::Missing) if is_closed && torn.is_none() => {}
            None => self.note(
                None,
                "the end was not held against the head file: lines cut off there cannot be seen",
            ),
            Some(Found::Missing) => self.finding(
                None,
                "the head file is missing: lines cut off the end cannot be seen",
            ),
            Some(Found::Damaged) => self.finding(
                None,
                "the head file is damaged: lines cut off the end cannot be seen",
            ),
            Some(Found::Head(head)) => self.fit(head, torn),
        }
        if let Some(line) = torn {
            let by_kill = matches!(head, Some(Found::Head(Head { next: Some(_), .. })));
            if by_kill {
                self.note(
                    Some(line),
                    "the last line is torn: the server was killed while it wrote; its next start closes it",
                );
            } else {
                self.finding(Some(line), "the last line is incomplete: it was cut or put in");
            }
        }
    }

    fn fit(&mut self, head: &Head, torn: Option<usize>) {
        // A line that could not be opened has been told of, and counts.
        let at_end = self.seq == head.seq && self.hash.as_ref().is_none_or(|hash| *hash == head.hash);
        if Fit::of(self.last.as_ref(), head) != Fit::Not || at_end {
            return;
        }
        if self.seq < head.seq {
            self.finding(
                None,
                format!(
                    "the log ends with line {} of the chain, and {} were written: lines were cut off its end",
                    self.seq, head.seq
                ),
            );
        } else if torn.is_none() && self.seq == head.seq {
            self.finding(
                None,
                format!(
                    "line {} of the chain is not the one that was written: lines were replaced",
                    self.seq
                ),
            );
        } else if torn.is_none() {
            self.finding(
                None,
                format!(
                    "the log ends with line {} of the chain, and only {} were written: lines were appended or replaced",
                    self.seq, head.seq
                ),
            );
        }
    }
}
