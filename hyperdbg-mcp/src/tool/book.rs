//! What the server knows of a session beside its worker: its epoch, what it has set in the target, what was last seen.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Counts, Meter};

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
    /// The epoch in which it was armed.
    pub epoch: u64,
    /// What it has said, against its budget; one that was armed by a line of text has none.
    pub meter: Option<Arc<Meter>>,
    /// Why it was disabled, where the server did that.
    pub ended: Option<&'static str>,
}

impl Armed {
    /// An event that a line of text has armed.
    pub fn without_budget(command: String, epoch: u64) -> Self {
        Self {
            command,
            epoch,
            meter: None,
            ended: None,
        }
    }

    /// What it has said, where that is counted.
    pub fn counts(&self) -> Option<Counts> {
        self.meter.as_ref().map(|meter| meter.counts())
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
}
