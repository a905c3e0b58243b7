//! What the server knows of a session beside its worker: its epoch, what it has set in the target, what was last seen.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A session's book.
#[derive(Debug, Default)]
pub struct Book(Mutex<Pages>);

/// What a book holds.
#[derive(Debug, Default)]
pub struct Pages {
    /// Goes up whenever what was learned of the target may no longer hold: connecting, loading, reloading.
    pub epoch: u64,
    /// Registers at the last stop that was told, by name.
    pub registers: Vec<(&'static str, u64)>,
    /// Kernel modules as last listed: base, size, name.
    pub modules: Vec<(u64, u64, String)>,
    /// Breakpoints that the session has set: number and address.
    pub breakpoints: BTreeMap<u64, u64>,
    /// Addresses of those that are to go at the next stop, with their numbers where these are known.
    pub one_shot: BTreeMap<u64, Option<u64>>,
    /// Events that the session has armed.
    pub events: BTreeMap<u64, Armed>,
}

/// An event that the session has armed.
#[derive(Debug, Clone)]
pub struct Armed {
    /// The line that armed it.
    pub command: String,
    /// Its bounds.
    pub budget: Budget,
    /// Number of the newest log record when it was armed.
    pub since: u64,
    /// When it was armed.
    pub at: Instant,
    /// Records that came since.
    pub hits: u64,
    /// Bytes that came since.
    pub bytes: u64,
    /// Why it was disabled, where the server did that.
    pub ended: Option<&'static str>,
}

/// How much an event may say before the server disables it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Log records.
    pub hits: u64,
    /// Bytes of text.
    pub bytes: u64,
    /// Time.
    pub time: Duration,
}

impl Armed {
    /// Which budget is used up at `now`.
    pub fn exhausted(&self, now: Instant) -> Option<&'static str> {
        if self.hits >= self.budget.hits {
            Some("max_hits")
        } else if self.bytes >= self.budget.bytes {
            Some("max_bytes")
        } else if now.duration_since(self.at) >= self.budget.time {
            Some("max_seconds")
        } else {
            None
        }
    }
}

impl Book {
    /// A book of a session that begins with `epoch`.
    pub fn new(epoch: u64) -> Self {
        Self(Mutex::new(Pages {
            epoch,
            ..Pages::default()
        }))
    }

    /// Its pages. Not to be held over a wait.
    pub fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    /// `module+0x…` of an address, by the modules that were listed.
    pub fn place(&self, address: u64) -> Option<String> {
        self.modules.iter().find_map(|(base, size, name)| {
            let offset = address.checked_sub(*base).filter(|offset| offset < size)?;
            Some(format!("{name}+{offset:#x}"))
        })
    }

    /// Whether the session has changed something in the target that it can take back.
    pub fn is_clean(&self) -> bool {
        self.breakpoints.is_empty() && self.one_shot.is_empty() && self.events.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_placed_in_the_module_that_holds_it() {
        let pages = Pages {
            modules: vec![(0x1000, 0x100, "nt".to_owned()), (0x3000, 0x10, "hal".to_owned())],
            ..Pages::default()
        };
        assert_eq!(pages.place(0x10ff).as_deref(), Some("nt+0xff"));
        assert_eq!(pages.place(0x3000).as_deref(), Some("hal+0x0"));
        assert_eq!(pages.place(0x1100), None);
        assert_eq!(pages.place(0), None);
    }

    #[test]
    fn each_budget_ends_an_event_and_is_named() {
        let at = Instant::now();
        let armed = |hits, bytes| Armed {
            command: String::new(),
            budget: Budget {
                hits: 10,
                bytes: 100,
                time: Duration::from_secs(5),
            },
            since: 0,
            at,
            hits,
            bytes,
            ended: None,
        };
        assert_eq!(armed(9, 99).exhausted(at), None);
        assert_eq!(armed(10, 0).exhausted(at), Some("max_hits"));
        assert_eq!(armed(0, 100).exhausted(at), Some("max_bytes"));
        assert_eq!(
            armed(0, 0).exhausted(at + Duration::from_secs(5)),
            Some("max_seconds")
        );
    }
}
