//! Where a new writer takes up the chain, and what it must say about what it found.

use serde_json::json;

use super::chain::{GENESIS, Line};
use super::head::{Found, Head};
use super::record::{Fields, fields};
use super::tail::Tail;

/// Unfinished intents that a record names.
const MOST_NAMED: usize = 100;

/// How the end of a log fits its head file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The last line is the one that the head names.
    Exact,
    /// The last line is the one that was about to be written.
    Next,
    /// Neither.
    Not,
}

impl Fit {
    pub(super) fn of(last: Option<&Line>, head: &Head) -> Self {
        match last {
            None if head.seq == 0 => Self::Exact,
            Some(last) if last.seq == head.seq && last.hash == head.hash => Self::Exact,
            Some(last) if last.seq == head.seq + 1 && head.next.as_ref() == Some(&last.hash) => Self::Next,
            _ => Self::Not,
        }
    }
}

/// Where to go on.
#[derive(Debug)]
pub(super) struct Resume {
    pub(super) seq: u64,
    pub(super) hash: String,
    /// The record that says what was not in order.
    pub(super) record: Option<Fields>,
}

/// Decides from the end of the log, or of the last rotated file where there is no log, and the head file.
pub(super) fn resume(tail: &Tail, head: &Found) -> Resume {
    let last = tail.last.as_ref();
    let (last_seq, last_hash) = last.map_or((0, GENESIS), |line| (line.seq, line.hash.as_str()));
    let mut notes = Fields::new();
    let (seq, hash) = match head {
        Found::Head(head) if Fit::of(last, head) != Fit::Not => {
            if tail.torn.is_some() && head.next.is_none() {
                notes.insert(
                    "problem".to_owned(),
                    "bytes were added after the end of the log".into(),
                );
            }
            (last_seq, last_hash)
        }
        Found::Head(head) => {
            let problem = if head.seq > last_seq {
                format!(
                    "lines up to {} were written, and the log ends at line {last_seq}",
                    head.seq
                )
            } else {
                format!(
                    "the log ends at line {last_seq}, which was never written: the last one was {}",
                    head.seq
                )
            };
            notes.insert("problem".to_owned(), problem.into());
            if head.seq >= last_seq {
                (head.seq, head.hash.as_str())
            } else {
                (last_seq, last_hash)
            }
        }
        Found::Missing if last.is_none() && tail.size == 0 => (0, GENESIS),
        Found::Missing | Found::Damaged => {
            let how = if *head == Found::Missing {
                "missing"
            } else {
                "damaged"
            };
            let problem =
                format!("the head file was {how}: lines after line {last_seq} may have been cut off");
            notes.insert("problem".to_owned(), problem.into());
            (last_seq, last_hash)
        }
    };
    if let Some(torn) = &tail.torn {
        let torn = json!({"offset": torn.offset, "bytes": torn.bytes, "sha256": torn.sha256});
        notes.insert("torn".to_owned(), torn);
    }
    let in_order = last.is_none_or(|line| matches!(line.kind(), "end" | "rotated"));
    if !in_order {
        notes.insert("ended".to_owned(), false.into());
        let named: Vec<u64> = tail.unfinished.iter().copied().take(MOST_NAMED).collect();
        notes.insert("unfinished".to_owned(), json!(named));
    }
    let record = (!notes.is_empty()).then(|| {
        let mut record = fields(json!({"kind": "recovered"}));
        record.append(&mut notes);
        record
    });
    Resume {
        seq,
        hash: hash.to_owned(),
        record,
    }
}
