//! What the library prints: the text callback and the queue behind it.
//!
//! The callback carries no user pointer and comes from any thread, so the queue is a static. It only copies: it never
//! calls the library, never waits for the channel, and never lets a panic out. The queue is bounded; when text comes
//! faster than it is sent, the oldest of the same class of thread goes, because a stop or an error is said last, and
//! because a thread that talks for ever must not push out what a call says.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int};
use std::panic::catch_unwind;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::protocol::TextRecord;
use super::tail::Tail;

/// Text kept for a call until it is sent.
const CALL_BYTES: usize = 8 << 20;
/// Text kept outside calls until it is sent; with [`PAUSE`] it bounds what an endless talker can cost.
const IDLE_BYTES: usize = 1 << 20;
/// During a call, this much text is sent without waiting out the pause.
const URGENT_BYTES: usize = 512 << 10;
/// Fragments are joined up to this length.
const RECORD_BYTES: usize = 16 << 10;
/// What a record costs besides its text.
const RECORD_OVERHEAD: usize = 64;
/// Fragments further apart are not joined.
const JOIN_WITHIN: Duration = Duration::from_millis(50);
/// Shortest time between two deliveries of text, and the longest that text of a running call waits.
pub(super) const PAUSE: Duration = Duration::from_millis(10);

/// The only capture of a worker process.
pub(super) static CAPTURE: LazyLock<Capture> = LazyLock::new(Capture::new);

thread_local! {
    #[allow(clippy::missing_const_for_thread_local, reason = "it is const; for Windows the lint does not see it")]
    /// Set on the thread that makes the calls. Without a destructor, so that it can be read as a thread ends.
    static MAKES_CALLS: Cell<bool> = const { Cell::new(false) };
}

/// The text callback.
pub(super) extern "C" fn on_text(text: *const c_char) -> c_int {
    if !text.is_null() {
        let _ = catch_unwind(|| {
            // SAFETY: the library passes a NUL-terminated string that lives until this function returns.
            let text = unsafe { CStr::from_ptr(text) };
            CAPTURE.push(text.to_bytes(), !MAKES_CALLS.get());
        });
    }
    0
}

/// Text on its way to the supervisor.
pub(super) struct Capture {
    started: Instant,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Text of the thread that makes the calls.
    own: Class,
    /// Text of all others.
    foreign: Class,
    /// Number of the next record, over both classes.
    next: u64,
    call: Option<u64>,
    /// The drain is awake, or has been woken: it will look here within `PAUSE` by itself.
    awake: bool,
    /// There is so much that it should be sent now.
    urgent: bool,
    tail: Option<Tail>,
}

#[derive(Default)]
struct Class {
    records: VecDeque<(u64, TextRecord)>,
    bytes: usize,
}

impl Capture {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            queue: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies all further text to `tail` as well.
    pub(super) fn set_tail(&self, tail: Tail) {
        self.lock().tail = Some(tail);
    }

    /// Marks this thread as the one that makes the calls.
    pub(super) fn claim_thread() {
        MAKES_CALLS.set(true);
    }

    /// Text from now on belongs to call `id`.
    pub(super) fn begin(&self, id: u64) {
        self.lock().call = Some(id);
    }

    /// Text from now on belongs to no call.
    pub(super) fn end(&self) {
        self.lock().call = None;
    }

    /// The call being made.
    pub(super) fn call(&self) -> Option<u64> {
        self.lock().call
    }

    fn push(&self, text: &[u8], foreign: bool) {
        if text.is_empty() {
            return;
        }
        let at_micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut queue = self.lock();
        let queue = &mut *queue;
        if let Some(tail) = &mut queue.tail {
            tail.write(text);
        }
        let call = queue.call;
        let class = if foreign {
            &mut queue.foreign
        } else {
            &mut queue.own
        };
        match class.records.back_mut() {
            Some((number, last))
                if *number + 1 == queue.next && joins(last, call, foreign, at_micros, text.len()) =>
            {
                last.text.extend_from_slice(text);
            }
            _ => {
                let record = TextRecord {
                    call,
                    foreign,
                    at_micros,
                    lost_before: 0,
                    text: text.to_vec(),
                };
                class.records.push_back((queue.next, record));
                class.bytes += RECORD_OVERHEAD;
                queue.next += 1;
            }
        }
        class.bytes += text.len();
        class.shrink_to(if call.is_some() { CALL_BYTES } else { IDLE_BYTES });
        let urgent = call.is_some() && class.bytes > URGENT_BYTES && !queue.urgent;
        if urgent || !queue.awake {
            queue.urgent |= urgent;
            queue.awake = true;
            self.changed.notify_one();
        }
    }

    /// Takes everything that is queued, in the order in which it came.
    pub(super) fn take(&self) -> Vec<TextRecord> {
        let mut queue = self.lock();
        queue.urgent = false;
        let own = std::mem::take(&mut queue.own).records;
        let foreign = std::mem::take(&mut queue.foreign).records;
        drop(queue);
        let mut records: Vec<(u64, TextRecord)> = own.into();
        if !foreign.is_empty() {
            records.extend(foreign);
            records.sort_by_key(|(number, _)| *number);
        }
        records.into_iter().map(|(_, record)| record).collect()
    }

    /// For the drain: waits for text, then until `PAUSE` after `sent` (or after now, while a call is being made: most
    /// calls end sooner and send their text themselves).
    pub(super) fn wait(&self, sent: Instant) {
        let queue = self
            .changed
            .wait_while(self.lock(), |queue| !queue.awake)
            .unwrap_or_else(PoisonError::into_inner);
        let from = if queue.call.is_some() {
            Instant::now()
        } else {
            sent
        };
        let pause = (from + PAUSE).saturating_duration_since(Instant::now());
        let (mut queue, _) = self
            .changed
            .wait_timeout_while(queue, pause, |queue| !queue.urgent)
            .unwrap_or_else(PoisonError::into_inner);
        queue.awake = false;
    }
}

impl Class {
    fn shrink_to(&mut self, bound: usize) {
        while self.bytes > bound
            && self.records.len() > 1
            && let Some((_, oldest)) = self.records.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(oldest.text.len() + RECORD_OVERHEAD);
            if let Some((_, next)) = self.records.front_mut() {
                next.lost_before += oldest.lost_before + oldest.text.len() as u64;
            }
        }
    }
}

fn joins(last: &TextRecord, call: Option<u64>, foreign: bool, at_micros: u64, length: usize) -> bool {
    // A line of an event stays a record of its own; the pieces of a command's output need not.
    let line_ended = (foreign || call.is_none()) && last.text.last() == Some(&b'\n');
    last.call == call
        && !line_ended
        && last.text.len() + length <= RECORD_BYTES
        && u128::from(at_micros.saturating_sub(last.at_micros)) < JOIN_WITHIN.as_micros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(records: &[TextRecord]) -> Vec<(Option<u64>, bool, String)> {
        records
            .iter()
            .map(|record| {
                (
                    record.call,
                    record.foreign,
                    String::from_utf8_lossy(&record.text).into_owned(),
                )
            })
            .collect()
    }

    #[test]
    fn fragments_of_a_call_are_joined_and_foreign_text_is_told_apart() {
        let capture = Capture::new();
        capture.begin(7);
        capture.push(b"48 ", false);
        capture.push(b"89\n", false);
        capture.push(b"5c\n", false);
        capture.push(b"hit 1\n", true);
        capture.push(b"hit 2\n", true);
        capture.end();
        capture.push(b"late\n", true);
        assert_eq!(
            shape(&capture.take()),
            [
                (Some(7), false, "48 89\n5c\n".to_owned()),
                (Some(7), true, "hit 1\n".to_owned()),
                (Some(7), true, "hit 2\n".to_owned()),
                (None, true, "late\n".to_owned()),
            ]
        );
        assert!(capture.take().is_empty());
    }

    #[test]
    fn a_flood_keeps_the_newest_text_and_counts_the_rest() {
        let capture = Capture::new();
        let line = [b'x'; 1000];
        let lines = 5000;
        for _ in 0..lines {
            capture.push(&line, true);
        }
        capture.push(b"the end", true);
        let records = capture.take();
        let kept: usize = records.iter().map(|record| record.text.len()).sum();
        let lost: u64 = records.iter().map(|record| record.lost_before).sum();
        assert!(kept <= IDLE_BYTES + RECORD_BYTES, "{kept}");
        assert_eq!(kept as u64 + lost, lines * 1000 + 7);
        assert!(records.last().unwrap().text.ends_with(b"the end"));
    }

    #[test]
    fn a_thread_that_talks_for_ever_does_not_push_out_what_a_call_says() {
        let capture = Capture::new();
        capture.begin(1);
        capture.push(b"answer", false);
        for _ in 0..10_000 {
            capture.push(&[b'z'; 1000], true);
        }
        capture.end();
        let records = capture.take();
        assert_eq!(records[0].text, b"answer");
        assert!(records.iter().map(|record| record.lost_before).sum::<u64>() > 0);
    }

    #[test]
    fn null_and_empty_text_are_ignored() {
        assert_eq!(on_text(std::ptr::null()), 0);
        let capture = Capture::new();
        capture.push(b"", true);
        assert!(capture.take().is_empty());
    }
}
