//! Logs of what was said outside answers: numbered records in bounded rings.

use std::collections::VecDeque;
use std::time::Duration;

use crate::output::Untrusted;

/// Where a record's text came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The text callback, on the thread that makes the calls.
    CallingThread,
    /// The text callback, on a thread of the library.
    LibraryThread,
    /// The worker's stdout: it went past the callback.
    Stdout,
    /// The worker's stderr: it went past the callback.
    Stderr,
    /// The server itself.
    Server,
}

impl Origin {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::CallingThread => "calling_thread",
            Self::LibraryThread => "library_thread",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Server => "server",
        }
    }
}

/// One stretch of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRecord {
    /// Counts up by one from 1, without gaps; a record that is gone leaves its number unused.
    pub sequence: u64,
    /// Time since the session began to open.
    pub at: Duration,
    /// Where it came from.
    pub origin: Origin,
    /// The function that was being called: then the text is in that call's answer as well, and can belong to either.
    pub during: Option<&'static str>,
    /// Bytes that were lost just before this record.
    pub lost_before: u64,
    /// Byte by byte.
    pub text: Untrusted,
}

/// Part of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    /// Records after the cursor that was asked for, oldest first.
    pub records: Vec<LogRecord>,
    /// The cursor to go on with.
    pub next: u64,
    /// Records after the asked cursor that the ring no longer held.
    pub missed: u64,
    /// Whether there are more behind `next`.
    pub more: bool,
}

/// What a record costs besides its text.
const OVERHEAD: usize = 64;

#[derive(Debug)]
pub(super) struct Log {
    records: VecDeque<LogRecord>,
    bytes: usize,
    bound: usize,
    last: u64,
}

impl Log {
    pub(super) fn new(bound: usize) -> Self {
        Self {
            records: VecDeque::new(),
            bytes: 0,
            bound,
            last: 0,
        }
    }

    /// Number of the newest record; 0 when there was none.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Adds a record; its number is given here.
    pub(super) fn push(&mut self, mut record: LogRecord) {
        self.last += 1;
        record.sequence = self.last;
        self.bytes += record.text.len() + OVERHEAD;
        self.records.push_back(record);
        while self.bytes > self.bound && self.records.len() > 1 {
            if let Some(oldest) = self.records.pop_front() {
                self.bytes -= oldest.text.len() + OVERHEAD;
            }
        }
    }

    /// At most `limit` records after `since`.
    pub(super) fn read(&self, since: u64, limit: usize) -> LogPage {
        let since = since.min(self.last);
        let oldest = self
            .records
            .front()
            .map_or(self.last + 1, |record| record.sequence);
        let missed = (oldest - 1).saturating_sub(since);
        let start = since.max(oldest - 1);
        let skip = usize::try_from(start + 1 - oldest).unwrap_or(usize::MAX);
        let records: Vec<LogRecord> = self.records.iter().skip(skip).take(limit).cloned().collect();
        let next = records.last().map_or(start, |record| record.sequence);
        LogPage {
            records,
            next,
            missed,
            more: next < self.last,
        }
    }

    /// The texts after `since`, joined.
    pub(super) fn text_after(&self, since: u64) -> Untrusted {
        let mut text = Untrusted::default();
        for record in self.records.iter().filter(|record| record.sequence > since) {
            text.append(&record.text);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str) -> LogRecord {
        LogRecord {
            sequence: 0,
            at: Duration::ZERO,
            origin: Origin::LibraryThread,
            during: None,
            lost_before: 0,
            text: text.as_bytes().to_vec().into(),
        }
    }

    fn numbers(page: &LogPage) -> Vec<u64> {
        page.records.iter().map(|record| record.sequence).collect()
    }

    #[test]
    fn a_cursor_walks_through_every_record_once() {
        let mut log = Log::new(1 << 20);
        for text in ["a", "b", "c", "d", "e"] {
            log.push(record(text));
        }
        let first = log.read(0, 2);
        assert_eq!(
            (numbers(&first), first.next, first.missed, first.more),
            (vec![1, 2], 2, 0, true)
        );
        let second = log.read(first.next, 10);
        assert_eq!(
            (numbers(&second), second.next, second.more),
            (vec![3, 4, 5], 5, false)
        );
        let none = log.read(5, 10);
        assert_eq!((numbers(&none), none.next, none.missed), (vec![], 5, 0));
        assert_eq!(log.read(u64::MAX, 10).next, 5);
    }

    #[test]
    fn what_the_ring_dropped_is_counted_for_the_reader_who_missed_it() {
        let mut log = Log::new(3 * (OVERHEAD + 1));
        for _ in 0..10 {
            log.push(record("x"));
        }
        let page = log.read(4, 10);
        assert_eq!((numbers(&page), page.missed), (vec![8, 9, 10], 3));
        assert_eq!(log.read(8, 10).missed, 0);
        assert_eq!(
            log.read(0, 0),
            LogPage {
                records: vec![],
                next: 7,
                missed: 7,
                more: true
            }
        );
    }

    #[test]
    fn an_empty_log_is_a_page_without_records() {
        let page = Log::new(10).read(0, 10);
        assert_eq!(
            (numbers(&page), page.next, page.missed, page.more),
            (vec![], 0, 0, false)
        );
    }
}
