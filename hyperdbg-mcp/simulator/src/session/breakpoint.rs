//! Breakpoints. They are kept beside the machine, so memory never shows them.

use crate::errors::code;

/// One breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Its number, from 1.
    pub id: u64,
    /// Address.
    pub address: u64,
    /// Only this core.
    pub core: Option<u32>,
    /// Only this process.
    pub pid: Option<u32>,
    /// Only this thread.
    pub tid: Option<u32>,
    /// It stops the debuggee.
    pub enabled: bool,
}

/// All breakpoints of the debuggee.
#[derive(Default)]
pub struct Breakpoints {
    list: Vec<Breakpoint>,
    last_id: u64,
    /// `test breakpoint off` switches all of them off at once.
    pub masked: bool,
}

impl Breakpoints {
    /// Sets a breakpoint and returns its number.
    ///
    /// # Errors
    /// The code of a second breakpoint at the same address.
    pub fn add(
        &mut self,
        address: u64,
        core: Option<u32>,
        pid: Option<u32>,
        tid: Option<u32>,
    ) -> Result<u64, u32> {
        if self.list.iter().any(|known| known.address == address) {
            return Err(code::BREAKPOINT_EXISTS);
        }
        self.last_id += 1;
        self.list.push(Breakpoint {
            id: self.last_id,
            address,
            core,
            pid,
            tid,
            enabled: true,
        });
        Ok(self.last_id)
    }

    /// Removes a breakpoint.
    ///
    /// # Errors
    /// The code of an unknown number.
    pub fn remove(&mut self, id: u64) -> Result<(), u32> {
        let before = self.list.len();
        self.list.retain(|known| known.id != id);
        if self.list.len() == before {
            Err(code::BREAKPOINT_NOT_FOUND)
        } else {
            Ok(())
        }
    }

    /// Switches a breakpoint on or off.
    ///
    /// # Errors
    /// The code of an unknown number, or of a state that it already has.
    pub fn set_enabled(&mut self, id: u64, enabled: bool) -> Result<(), u32> {
        let Some(known) = self.list.iter_mut().find(|known| known.id == id) else {
            return Err(code::BREAKPOINT_NOT_FOUND);
        };
        if known.enabled == enabled {
            return Err(if enabled {
                code::BREAKPOINT_ENABLED
            } else {
                code::BREAKPOINT_DISABLED
            });
        }
        known.enabled = enabled;
        Ok(())
    }

    /// All of them, by number.
    #[must_use]
    pub fn all(&self) -> &[Breakpoint] {
        &self.list
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The breakpoints that are live at `address`.
    pub fn at(&self, address: u64) -> impl Iterator<Item = &Breakpoint> {
        self.list
            .iter()
            .filter(move |known| known.enabled && known.address == address && !self.masked)
    }

    /// True when no breakpoint can hit.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.masked || self.list.iter().all(|known| !known.enabled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_and_are_not_reused() {
        let mut points = Breakpoints::default();
        assert_eq!(points.add(0x10, None, None, None), Ok(1));
        assert_eq!(points.add(0x10, None, None, None), Err(code::BREAKPOINT_EXISTS));
        assert_eq!(points.remove(1), Ok(()));
        assert_eq!(points.remove(1), Err(code::BREAKPOINT_NOT_FOUND));
        assert_eq!(points.add(0x10, None, None, None), Ok(2));
    }

    #[test]
    fn a_disabled_breakpoint_does_not_hit() {
        let mut points = Breakpoints::default();
        points.add(0x10, None, None, None).expect("add");
        assert_eq!(points.at(0x10).count(), 1);
        points.set_enabled(1, false).expect("disable");
        assert_eq!(points.at(0x10).count(), 0);
        assert_eq!(points.set_enabled(1, false), Err(code::BREAKPOINT_DISABLED));
    }
}
