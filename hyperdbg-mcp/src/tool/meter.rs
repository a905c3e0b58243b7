//! What armed events say, against their budgets: counted, and cut, where the text comes in.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::report;

/// How much an event may say before the server disables it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Lines of text, or stops.
    pub hits: u64,
    /// Bytes of text.
    pub bytes: u64,
    /// Time.
    pub time: Duration,
}

/// What an event has said since it was armed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Lines of text and stops, as far as the budget goes.
    pub hits: u64,
    /// Bytes of text, as far as the budget goes.
    pub bytes: u64,
    /// Lines that came after the budget was used up, and are nowhere kept.
    pub dropped: u64,
    since: Instant,
    on: bool,
}

/// Counts against one event's budget.
#[derive(Debug)]
pub struct Meter {
    budget: Budget,
    counts: Mutex<Counts>,
    used_up: Notify,
}

impl Meter {
    /// A meter that counts from now.
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            counts: Mutex::new(Counts::now()),
            used_up: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was counted.
    pub fn counts(&self) -> Counts {
        *self.lock()
    }

    /// Another one with the same budget, that counts from now.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self::new(self.budget)
    }

    /// Counts no more, and lets every text through.
    pub fn stop(&self) {
        self.lock().on = false;
    }

    /// Counts a stop.
    pub fn hit(&self) {
        self.lock().hits += 1;
    }

    /// Which budget is used up at `now`.
    pub fn exhausted(&self, now: Instant) -> Option<&'static str> {
        let counts = self.lock();
        self.said_enough(&counts)
            .or_else(|| (now.duration_since(counts.since) >= self.budget.time).then_some("max_seconds"))
    }

    fn said_enough(&self, counts: &Counts) -> Option<&'static str> {
        if counts.hits >= self.budget.hits {
            Some("max_hits")
        } else if counts.bytes >= self.budget.bytes {
            Some("max_bytes")
        } else {
            None
        }
    }

    /// Waits until hits or bytes are used up.
    pub async fn used_up(&self) {
        self.used_up.notified().await;
    }

    /// How many bytes of `text` the budget has room for: whole lines as far as it counts lines.
    fn room(&self, text: &[u8]) -> usize {
        let counts = self.lock();
        if !counts.on {
            return text.len();
        }
        let lines = usize::try_from(self.budget.hits.saturating_sub(counts.hits)).unwrap_or(usize::MAX);
        let bytes = usize::try_from(self.budget.bytes.saturating_sub(counts.bytes)).unwrap_or(usize::MAX);
        let mut left = lines;
        let within: usize = text
            .split_inclusive(|byte| *byte == b'\n')
            .take_while(|line| {
                let is_hit = counts_as_hit(line);
                let fits = left > 0;
                left -= usize::from(is_hit && fits);
                fits
            })
            .map(<[u8]>::len)
            .sum();
        within.min(bytes)
    }

    fn note(&self, kept: &[u8], dropped: &[u8], lost: u64) {
        let mut counts = self.lock();
        if !counts.on {
            return;
        }
        counts.hits += lines(kept);
        counts.bytes += kept.len() as u64 + lost;
        counts.dropped += lines(dropped);
        if self.said_enough(&counts).is_some() {
            drop(counts);
            self.used_up.notify_one();
        }
    }

    /// How many bytes of `text` all `meters` have room for; it is counted by each. `lost` bytes came before it and are
    /// gone.
    pub fn admit<'a>(meters: impl Iterator<Item = &'a Self> + Clone, text: &[u8], lost: u64) -> usize {
        let room = meters
            .clone()
            .map(|meter| meter.room(text))
            .min()
            .unwrap_or(text.len());
        let (kept, dropped) = text.split_at(room);
        for meter in meters {
            meter.note(kept, dropped, lost);
        }
        room
    }
}

/// A line that is not ended counts as one. Those of the report of a stop do not: a stop counts where it is told.
fn lines(text: &[u8]) -> u64 {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| counts_as_hit(line)).count() as u64
}

fn counts_as_hit(line: &[u8]) -> bool {
    !report::is_line(line)
}

impl Counts {
    fn now() -> Self {
        Self {
            hits: 0,
            bytes: 0,
            dropped: 0,
            since: Instant::now(),
            on: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(hits: u64, bytes: u64) -> Meter {
        Meter::new(Budget {
            hits,
            bytes,
            time: Duration::from_secs(5),
        })
    }

    fn admit(meters: &[Meter], text: &str) -> usize {
        Meter::admit(meters.iter(), text.as_bytes(), 0)
    }

    #[test]
    fn text_is_cut_at_the_line_where_the_budget_ends_and_the_rest_is_counted() {
        let meters = [meter(3, 1000)];
        assert_eq!(admit(&meters, "a\nb\n"), 4);
        assert_eq!(meters[0].exhausted(Instant::now()), None);
        assert_eq!(admit(&meters, "c\nd\ne\n"), 2);
        assert_eq!(meters[0].exhausted(Instant::now()), Some("max_hits"));
        assert_eq!(admit(&meters, "f\ng"), 0);
        let counts = meters[0].counts();
        assert_eq!((counts.hits, counts.bytes, counts.dropped), (3, 6, 4));
    }

    #[test]
    fn each_budget_is_named_and_the_smallest_of_several_cuts() {
        let meters = [meter(100, 3), meter(100, 1000)];
        assert_eq!(admit(&meters, "abcdef\n"), 3);
        assert_eq!(meters[0].exhausted(Instant::now()), Some("max_bytes"));
        assert_eq!(meters[1].exhausted(Instant::now()), None);
        meters[0].stop();
        assert_eq!(admit(&meters, "abcdef\n"), 7);
        let later = Instant::now() + Duration::from_secs(6);
        assert_eq!(meters[1].exhausted(later), Some("max_seconds"));
        assert_eq!(admit(&[meters[0].anew()], "abcdef\n"), 3);
        // Nobody counts: everything goes through.
        assert_eq!(admit(&[], "abc"), 3);
    }

    #[test]
    fn the_report_of_a_stop_is_no_hit() {
        let meters = [meter(2, 1000)];
        let report =
            "debuggee is running...\nevent 0x2 triggered (pre)\nnt!x+0x1:\nfffff803`30200202    90    nop\n";
        assert_eq!(admit(&meters, report), report.len());
        assert_eq!((meters[0].counts().hits, meters[0].counts().dropped), (0, 0));
        assert_eq!(admit(&meters, "a\n\nb\nc\n"), 5);
        assert_eq!((meters[0].counts().hits, meters[0].counts().dropped), (2, 1));
    }

    #[test]
    fn what_was_lost_on_the_way_counts_as_said() {
        let meters = [meter(100, 10)];
        assert_eq!(Meter::admit(meters.iter(), b"x\n", 9), 2);
        assert_eq!(meters[0].exhausted(Instant::now()), Some("max_bytes"));
    }
}
