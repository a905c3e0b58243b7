//! One processor of the machine.

use super::registers::Registers;
use std::collections::BTreeMap;

/// Model-specific registers that the machine's code uses.
pub mod msr {
    #![allow(missing_docs)]
    pub const APIC_BASE: u32 = 0x1b;
    pub const STAR: u32 = 0xc000_0081;
    pub const LSTAR: u32 = 0xc000_0082;
    pub const FMASK: u32 = 0xc000_0084;
    pub const FS_BASE: u32 = 0xc000_0100;
    pub const GS_BASE: u32 = 0xc000_0101;
    pub const KERNEL_GS_BASE: u32 = 0xc000_0102;
}

/// A processor: its registers, its MSRs and its clock.
#[derive(Clone, Debug, Default)]
pub struct Core {
    /// The registers.
    pub registers: Registers,
    /// MSRs other than the segment bases, which are in the registers.
    pub msrs: BTreeMap<u32, u64>,
    /// Time stamp counter: counts instructions, not time.
    pub tsc: u64,
    /// The core executed `hlt` and waits for the clock.
    pub halted: bool,
}

impl Core {
    /// Writes a register by its number in `REGS_ENUM`, as a debugger does. A core that waits for an
    /// interrupt and is sent elsewhere does not wait any more.
    pub fn set_register(&mut self, id: u32, value: u64) -> bool {
        let before = self.registers.rip;
        let known = self.registers.set(id, value);
        if self.registers.rip != before {
            self.halted = false;
        }
        known
    }

    /// Reads an MSR; `None` when the core does not have it.
    #[must_use]
    pub fn read_msr(&self, index: u32) -> Option<u64> {
        match index {
            msr::FS_BASE => Some(self.registers.fs_base),
            msr::GS_BASE => Some(self.registers.gs_base),
            0x10 => Some(self.tsc),
            _ => self.msrs.get(&index).copied(),
        }
    }

    /// Writes an MSR; false when the core does not have it.
    pub fn write_msr(&mut self, index: u32, value: u64) -> bool {
        match index {
            msr::FS_BASE => self.registers.fs_base = value,
            msr::GS_BASE => self.registers.gs_base = value,
            0x10 => self.tsc = value,
            _ => match self.msrs.get_mut(&index) {
                Some(slot) => *slot = value,
                None => return false,
            },
        }
        true
    }
}
