//! Where scripts run: a core of the machine, or this very process.

use crate::machine::{Machine, layout, paging};
use crate::script::Target;

/// Where an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the debuggee, on that core.
    Core(usize),
    /// In this process: nothing is attached.
    Host,
}

/// What the pseudo-registers of an event say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EventContext {
    pub(super) id: u64,
    pub(super) context: u64,
    pub(super) stage: u64,
}

/// A core of the machine as a script sees it.
pub(super) struct View<'a> {
    pub(super) machine: &'a mut Machine,
    pub(super) core: usize,
    pub(super) event: EventContext,
}

impl View<'_> {
    fn cr3(&self) -> u64 {
        self.machine.cores[self.core].registers.cr[3]
    }
}

impl Target for View<'_> {
    fn register(&mut self, id: u32) -> u64 {
        self.machine.cores[self.core].registers.get(id).unwrap_or(0)
    }

    fn set_register(&mut self, id: u32, value: u64) {
        self.machine.cores[self.core].set_register(id, value);
    }

    fn pseudo(&mut self, name: &str) -> u64 {
        let thread = self.machine.current_thread(self.core).cloned();
        let process = thread
            .as_ref()
            .and_then(|thread| self.machine.process(thread.pid));
        let user = process.is_some_and(|process| process.pid != layout::SYSTEM_PROCESS);
        match name {
            "pid" => thread.map_or(0, |thread| u64::from(thread.pid)),
            "tid" => thread.map_or(0, |thread| u64::from(thread.tid)),
            "pname" => process.map_or(0, |process| process.object + layout::process_field::NAME),
            "core" => self.core as u64,
            "proc" => process.map_or(0, |process| process.object),
            "thread" => thread.map_or(0, |thread| thread.object),
            "teb" if user => layout::USER_TEB,
            "ip" => self.machine.cores[self.core].registers.rip,
            "context" => self.event.context,
            "event_tag" | "event_id" => self.event.id,
            "event_stage" => self.event.stage,
            // No clock, no buffer and no process environment block exist in the machine.
            _ => 0,
        }
    }

    fn read(&mut self, address: u64, out: &mut [u8]) -> bool {
        self.machine.read_virtual(self.cr3(), address, out) == out.len()
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        let cr3 = self.cr3();
        self.machine.write_virtual(cr3, address, bytes)
    }

    fn read_physical(&mut self, address: u64, out: &mut [u8]) -> bool {
        self.machine.memory.read(address, out)
    }

    fn write_physical(&mut self, address: u64, bytes: &[u8]) -> bool {
        self.machine.memory.write(address, bytes)
    }

    fn physical(&mut self, address: u64) -> Option<u64> {
        paging::walk(&self.machine.memory, self.cr3(), address).physical
    }

    fn virtual_address(&mut self, physical: u64) -> Option<u64> {
        self.machine.virtual_of(physical)
    }

    fn time_stamp(&mut self) -> u64 {
        self.machine.cores[self.core].tsc
    }
}

/// This process. Addresses are used as they are: a bad one ends the process, as it does in the real
/// library.
pub(super) struct Host;

impl Target for Host {
    fn register(&mut self, _: u32) -> u64 {
        0
    }

    fn set_register(&mut self, _: u32, _: u64) {}

    fn pseudo(&mut self, _: &str) -> u64 {
        0
    }

    fn read(&mut self, address: u64, out: &mut [u8]) -> bool {
        for (index, slot) in out.iter_mut().enumerate() {
            let source = address.wrapping_add(index as u64) as *const u8;
            // SAFETY: none: this is the hazard that the simulator exists to reproduce. A valid
            // address of this process is read, any other ends the process with a signal.
            *slot = unsafe { source.read_volatile() };
        }
        true
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        for (index, byte) in bytes.iter().enumerate() {
            let target = address.wrapping_add(index as u64) as *mut u8;
            // SAFETY: as for reading; the caller of the library asked for exactly this write.
            unsafe { target.write_volatile(*byte) };
        }
        true
    }

    fn read_physical(&mut self, _: u64, _: &mut [u8]) -> bool {
        false
    }

    fn write_physical(&mut self, _: u64, _: &[u8]) -> bool {
        false
    }

    fn physical(&mut self, _: u64) -> Option<u64> {
        None
    }

    fn virtual_address(&mut self, _: u64) -> Option<u64> {
        None
    }

    fn time_stamp(&mut self) -> u64 {
        0
    }
}
