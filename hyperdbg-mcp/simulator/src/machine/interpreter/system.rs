//! System instructions: calls between rings, MSRs, identification, ports, interrupts.

use super::{Exec, Fault, Outcome};
use crate::machine::core::msr;
use crate::machine::cpuid;
use crate::machine::registers::{flag, gpr, selector};
use iced_x86::Mnemonic;

impl Exec<'_> {
    /// Executes a system instruction, or says that the interpreter does not know it.
    pub(super) fn system(&mut self) -> Result<Outcome, Fault> {
        match self.ins.mnemonic() {
            Mnemonic::Cpuid => {
                let registers = &mut self.core.registers;
                let (leaf, subleaf) = (registers.gpr[gpr::RAX] as u32, registers.gpr[gpr::RCX] as u32);
                let [eax, ebx, ecx, edx] = cpuid::query(leaf, subleaf);
                registers.gpr[gpr::RAX] = u64::from(eax);
                registers.gpr[gpr::RBX] = u64::from(ebx);
                registers.gpr[gpr::RCX] = u64::from(ecx);
                registers.gpr[gpr::RDX] = u64::from(edx);
            }
            Mnemonic::Rdtsc | Mnemonic::Rdtscp => {
                let value = self.core.tsc;
                self.set_pair(value);
                if self.ins.mnemonic() == Mnemonic::Rdtscp {
                    self.core.registers.gpr[gpr::RCX] = 0;
                }
            }
            Mnemonic::Rdpmc => {
                let value = self.core.tsc / 2;
                self.set_pair(value);
            }
            Mnemonic::Rdmsr => {
                self.kernel_only()?;
                let index = self.core.registers.gpr[gpr::RCX] as u32;
                let value = self.core.read_msr(index).ok_or(Fault::Protection)?;
                self.set_pair(value);
            }
            Mnemonic::Wrmsr => {
                self.kernel_only()?;
                let registers = &self.core.registers;
                let index = registers.gpr[gpr::RCX] as u32;
                let value = (registers.gpr[gpr::RDX] << 32) | (registers.gpr[gpr::RAX] & 0xffff_ffff);
                if !self.core.write_msr(index, value) {
                    return Err(Fault::Protection);
                }
            }
            Mnemonic::Swapgs => {
                self.kernel_only()?;
                let other = self.core.read_msr(msr::KERNEL_GS_BASE).ok_or(Fault::Protection)?;
                let current = std::mem::replace(&mut self.core.registers.gs_base, other);
                self.core.write_msr(msr::KERNEL_GS_BASE, current);
            }
            Mnemonic::Syscall => self.system_call()?,
            Mnemonic::Sysretq => self.system_return()?,
            Mnemonic::Iretq => self.interrupt_return()?,
            Mnemonic::Cli | Mnemonic::Sti => {
                self.kernel_only()?;
                self.core
                    .registers
                    .set_flag(flag::IF, self.ins.mnemonic() == Mnemonic::Sti);
            }
            Mnemonic::Hlt => {
                self.kernel_only()?;
                self.core.halted = true;
                return Ok(Outcome::Halt);
            }
            Mnemonic::In => {
                self.kernel_only()?;
                // No device answers: a floating bus reads as ones.
                self.write(0, u64::MAX)?;
            }
            Mnemonic::Out => self.kernel_only()?,
            Mnemonic::Invlpg | Mnemonic::Wbinvd | Mnemonic::Clts => self.kernel_only()?,
            Mnemonic::Int3 => return Err(Fault::Breakpoint),
            Mnemonic::Int => return Err(Fault::Interrupt(self.ins.immediate8())),
            // Without a hypervisor underneath, both raise an invalid opcode.
            Mnemonic::Ud2 | Mnemonic::Vmcall | Mnemonic::Vmmcall => return Err(Fault::InvalidOpcode),
            Mnemonic::Xsetbv => self.kernel_only()?,
            Mnemonic::Xgetbv => self.set_pair(7),
            _ => return Err(self.unsupported()),
        }
        Ok(Outcome::Continue)
    }

    fn kernel_only(&self) -> Result<(), Fault> {
        if self.core.registers.is_user_mode() {
            Err(Fault::Protection)
        } else {
            Ok(())
        }
    }

    /// Stores a 64-bit value in EDX:EAX.
    fn set_pair(&mut self, value: u64) {
        self.core.registers.gpr[gpr::RAX] = value & 0xffff_ffff;
        self.core.registers.gpr[gpr::RDX] = value >> 32;
    }

    fn msr(&self, index: u32) -> Result<u64, Fault> {
        self.core.read_msr(index).ok_or(Fault::InvalidOpcode)
    }

    fn system_call(&mut self) -> Result<(), Fault> {
        let (target, mask, star) = (self.msr(msr::LSTAR)?, self.msr(msr::FMASK)?, self.msr(msr::STAR)?);
        let registers = &mut self.core.registers;
        registers.gpr[gpr::RCX] = self.ins.next_ip();
        registers.gpr[gpr::R11] = registers.rflags;
        registers.rflags &= !mask;
        registers.rflags |= flag::FIXED;
        registers.rip = target;
        let base = (star >> 32) as u16;
        registers.selectors[selector::CS] = base & !3;
        registers.selectors[selector::SS] = (base & !3) + 8;
        Ok(())
    }

    fn system_return(&mut self) -> Result<(), Fault> {
        self.kernel_only()?;
        let star = self.msr(msr::STAR)?;
        let registers = &mut self.core.registers;
        registers.rip = registers.gpr[gpr::RCX];
        registers.rflags = (registers.gpr[gpr::R11] & 0x003c_7fd7) | flag::FIXED;
        let base = (star >> 48) as u16;
        registers.selectors[selector::CS] = (base + 16) | 3;
        registers.selectors[selector::SS] = (base + 8) | 3;
        Ok(())
    }

    fn interrupt_return(&mut self) -> Result<(), Fault> {
        self.kernel_only()?;
        let rip = self.pop()?;
        let cs = self.pop()?;
        let rflags = self.pop()?;
        let rsp = self.pop()?;
        let ss = self.pop()?;
        let registers = &mut self.core.registers;
        registers.rip = rip;
        registers.selectors[selector::CS] = cs as u16;
        registers.rflags = (rflags & 0x003f_7fd7) | flag::FIXED;
        registers.gpr[gpr::RSP] = rsp;
        registers.selectors[selector::SS] = ss as u16;
        Ok(())
    }

    /// Enters an interrupt handler: builds the frame and jumps. The stack is the current one, as
    /// the machine takes interrupts in ring 0 only.
    pub(super) fn enter_interrupt(&mut self, handler: u64) -> Result<(), Fault> {
        let before = self.core.registers.clone();
        self.push(u64::from(before.selectors[selector::SS]))?;
        self.push(before.gpr[gpr::RSP])?;
        self.push(before.rflags)?;
        self.push(u64::from(before.selectors[selector::CS]))?;
        self.push(before.rip)?;
        self.core.registers.set_flag(flag::IF | flag::TF, false);
        self.core.registers.rip = handler;
        Ok(())
    }
}

/// Delivers an interrupt to a core.
///
/// # Errors
/// A page fault when the frame cannot be pushed; the registers are then unchanged.
pub(in crate::machine) fn deliver(
    memory: &mut crate::machine::memory::PhysicalMemory,
    core: &mut crate::machine::core::Core,
    handler: u64,
) -> Result<(), Fault> {
    let before = core.registers.clone();
    let result = Exec {
        memory,
        core,
        ins: iced_x86::Instruction::default(),
    }
    .enter_interrupt(handler);
    if result.is_err() {
        core.registers = before;
    }
    result
}
