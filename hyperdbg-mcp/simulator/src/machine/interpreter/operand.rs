//! Operands: registers, immediates and memory behind the page tables.

use super::{Exec, Fault};
use crate::machine::memory::{PAGE_SIZE, PhysicalMemory};
use crate::machine::paging;
use crate::machine::registers::{Registers, gpr, selector};
use iced_x86::{OpKind, Register};

/// Cuts `value` to `size` bytes.
pub(super) fn truncate(value: u64, size: usize) -> u64 {
    if size >= 8 {
        value
    } else {
        value & ((1 << (size * 8)) - 1)
    }
}

/// Extends the sign of a value of `size` bytes.
pub(super) fn sign_extend(value: u64, size: usize) -> u64 {
    let shift = 64 - 8 * size.min(8);
    (((value << shift) as i64) >> shift) as u64
}

/// Resolves `address` for an access of the current privilege, or says what fault it raises.
fn resolve(memory: &PhysicalMemory, registers: &Registers, address: u64, write: bool) -> Result<u64, Fault> {
    let found = paging::walk(memory, registers.cr[3], address);
    let user = registers.is_user_mode();
    let allowed = (found.user || !user) && (found.writable || !write);
    match found.physical {
        Some(physical) if allowed => Ok(physical),
        other => {
            let present = u64::from(other.is_some());
            let code = present | if write { 2 } else { 0 } | if user { 4 } else { 0 };
            Err(Fault::Page { address, code })
        }
    }
}

impl Exec<'_> {
    /// Bytes of operand `index`.
    pub(super) fn size(&self, index: u32) -> usize {
        match self.ins.op_kind(index) {
            OpKind::Register => self.ins.op_register(index).size(),
            OpKind::Memory
            | OpKind::MemorySegSI
            | OpKind::MemorySegESI
            | OpKind::MemorySegRSI
            | OpKind::MemoryESDI
            | OpKind::MemoryESEDI
            | OpKind::MemoryESRDI => self.ins.memory_size().size(),
            _ => self.size_of_immediate(index),
        }
    }

    fn size_of_immediate(&self, index: u32) -> usize {
        if index == 0 { 8 } else { self.size(0) }
    }

    /// The effective address of memory operand `index`; no segment base for `lea`.
    pub(super) fn address(&self, index: u32) -> Result<u64, Fault> {
        let lea = self.ins.mnemonic() == iced_x86::Mnemonic::Lea;
        let registers = &self.core.registers;
        let address = self
            .ins
            .virtual_address(index, 0, |register, _, _| match register {
                Register::ES | Register::CS | Register::SS | Register::DS => Some(0),
                Register::FS => Some(if lea { 0 } else { registers.fs_base }),
                Register::GS => Some(if lea { 0 } else { registers.gs_base }),
                _ if register.is_gpr() => Some(read_gpr(registers, register)),
                _ => None,
            });
        address.ok_or_else(|| self.unsupported())
    }

    /// The value of operand `index`, without sign extension beyond its own size.
    pub(super) fn read(&mut self, index: u32) -> Result<u64, Fault> {
        match self.ins.op_kind(index) {
            OpKind::Register => self.read_register(self.ins.op_register(index)),
            OpKind::Memory => {
                let (address, size) = (self.address(index)?, self.size(index));
                self.load(address, size)
            }
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64
            | OpKind::Immediate8_2nd => Ok(self.ins.immediate(index)),
            _ => Err(self.unsupported()),
        }
    }

    /// Stores `value` in operand `index`; a 32-bit register clears its upper half.
    pub(super) fn write(&mut self, index: u32, value: u64) -> Result<(), Fault> {
        match self.ins.op_kind(index) {
            OpKind::Register => self.write_register(self.ins.op_register(index), value),
            OpKind::Memory => {
                let (address, size) = (self.address(index)?, self.size(index));
                self.store(address, size, value)
            }
            _ => Err(self.unsupported()),
        }
    }

    pub(super) fn read_register(&self, register: Register) -> Result<u64, Fault> {
        let registers = &self.core.registers;
        if register.is_gpr() {
            return Ok(read_gpr(registers, register));
        }
        Ok(match register {
            Register::CS => u64::from(registers.selectors[selector::CS]),
            Register::DS => u64::from(registers.selectors[selector::DS]),
            Register::ES => u64::from(registers.selectors[selector::ES]),
            Register::SS => u64::from(registers.selectors[selector::SS]),
            Register::FS => u64::from(registers.selectors[selector::FS]),
            Register::GS => u64::from(registers.selectors[selector::GS]),
            _ if register.is_cr() || register.is_dr() => {
                if registers.is_user_mode() {
                    return Err(Fault::Protection);
                }
                let number = register.number();
                let table: &[u64] = if register.is_cr() {
                    &registers.cr
                } else {
                    &registers.dr
                };
                *table.get(number).ok_or(Fault::InvalidOpcode)?
            }
            _ => return Err(self.unsupported()),
        })
    }

    pub(super) fn write_register(&mut self, register: Register, value: u64) -> Result<(), Fault> {
        if register.is_gpr() {
            write_gpr(&mut self.core.registers, register, value);
            return Ok(());
        }
        let unsupported = self.unsupported();
        let registers = &mut self.core.registers;
        match register {
            Register::DS => registers.selectors[selector::DS] = value as u16,
            Register::ES => registers.selectors[selector::ES] = value as u16,
            Register::SS => registers.selectors[selector::SS] = value as u16,
            Register::FS => registers.selectors[selector::FS] = value as u16,
            Register::GS => registers.selectors[selector::GS] = value as u16,
            _ if register.is_cr() || register.is_dr() => {
                if registers.is_user_mode() {
                    return Err(Fault::Protection);
                }
                let number = register.number();
                let table: &mut [u64] = if register.is_cr() {
                    &mut registers.cr
                } else {
                    &mut registers.dr
                };
                *table.get_mut(number).ok_or(Fault::InvalidOpcode)? = value;
            }
            _ => return Err(unsupported),
        }
        Ok(())
    }

    /// Reads `size` bytes of virtual memory as the running code would.
    pub(super) fn load(&self, address: u64, size: usize) -> Result<u64, Fault> {
        let mut raw = [0; 8];
        if size == 0 || size > 8 {
            return Err(self.unsupported());
        }
        let mut done = 0;
        while done < size {
            let at = address.wrapping_add(done as u64);
            let part = ((PAGE_SIZE - (at & (PAGE_SIZE - 1))) as usize).min(size - done);
            let physical = resolve(self.memory, &self.core.registers, at, false)?;
            if !self.memory.read(physical, &mut raw[done..done + part]) {
                return Err(Fault::Page { address: at, code: 0 });
            }
            done += part;
        }
        Ok(u64::from_le_bytes(raw))
    }

    /// Writes `size` bytes of virtual memory as the running code would: all of them or none.
    pub(super) fn store(&mut self, address: u64, size: usize, value: u64) -> Result<(), Fault> {
        if size == 0 || size > 8 {
            return Err(self.unsupported());
        }
        let raw = value.to_le_bytes();
        let first = ((PAGE_SIZE - (address & (PAGE_SIZE - 1))) as usize).min(size);
        let low = resolve(self.memory, &self.core.registers, address, true)?;
        let high = if first < size {
            Some(resolve(
                self.memory,
                &self.core.registers,
                address.wrapping_add(first as u64),
                true,
            )?)
        } else {
            None
        };
        let mut written = self.memory.write(low, &raw[..first]);
        if let Some(high) = high {
            written &= self.memory.write(high, &raw[first..size]);
        }
        if written {
            Ok(())
        } else {
            Err(Fault::Page { address, code: 2 })
        }
    }

    pub(super) fn push(&mut self, value: u64) -> Result<(), Fault> {
        let rsp = self.core.registers.gpr[gpr::RSP].wrapping_sub(8);
        self.store(rsp, 8, value)?;
        self.core.registers.gpr[gpr::RSP] = rsp;
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Result<u64, Fault> {
        let rsp = self.core.registers.gpr[gpr::RSP];
        let value = self.load(rsp, 8)?;
        self.core.registers.gpr[gpr::RSP] = rsp.wrapping_add(8);
        Ok(value)
    }
}

fn is_high_byte(register: Register) -> bool {
    matches!(
        register,
        Register::AH | Register::CH | Register::DH | Register::BH
    )
}

fn read_gpr(registers: &Registers, register: Register) -> u64 {
    let full = registers.gpr[register.full_register().number()];
    if is_high_byte(register) {
        (full >> 8) & 0xff
    } else {
        truncate(full, register.size())
    }
}

fn write_gpr(registers: &mut Registers, register: Register, value: u64) {
    let slot = &mut registers.gpr[register.full_register().number()];
    match register.size() {
        8 => *slot = value,
        4 => *slot = value & 0xffff_ffff,
        2 => *slot = (*slot & !0xffff) | (value & 0xffff),
        _ if is_high_byte(register) => *slot = (*slot & !0xff00) | ((value & 0xff) << 8),
        _ => *slot = (*slot & !0xff) | (value & 0xff),
    }
}
