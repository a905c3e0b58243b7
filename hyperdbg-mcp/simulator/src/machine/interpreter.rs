//! Executes one instruction of real x86-64 code on a core.
//!
//! Decoding is iced-x86's; the meaning of the instructions is here and in the submodules. An
//! instruction that the interpreter does not know is a [`Fault::Unsupported`] that names it.

mod alu;
mod operand;
mod string;
mod system;

use super::core::Core;
use super::memory::{PAGE_SIZE, PhysicalMemory};
use super::paging;
use super::registers::{Registers, flag, gpr};
use iced_x86::{ConditionCode, Decoder, DecoderOptions, Instruction, Mnemonic};
use std::fmt;

/// Why an instruction did not complete. Registers are as before the instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `#PF`: the address is not mapped, or not for this access.
    Page {
        /// The address that was touched.
        address: u64,
        /// The hardware error code: 1 present, 2 write, 4 user, 16 fetch.
        code: u64,
    },
    /// `#DE`.
    Divide,
    /// `#UD`.
    InvalidOpcode,
    /// `#GP`.
    Protection,
    /// `int3` in the code itself.
    Breakpoint,
    /// `int n`.
    Interrupt(u8),
    /// The interpreter cannot execute this instruction.
    Unsupported(String),
}

impl Fault {
    /// The exception vector, when the hardware has one for it.
    #[must_use]
    pub fn vector(&self) -> Option<u8> {
        match self {
            Self::Divide => Some(0),
            Self::Breakpoint => Some(3),
            Self::InvalidOpcode => Some(6),
            Self::Protection => Some(13),
            Self::Page { .. } => Some(14),
            Self::Interrupt(vector) => Some(*vector),
            Self::Unsupported(_) => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page { address, code } => {
                let kind = match code {
                    code if code & 16 != 0 => "fetching code from",
                    code if code & 2 != 0 => "writing",
                    _ => "reading",
                };
                let why = if code & 1 == 0 {
                    "which is not mapped"
                } else {
                    "which forbids it"
                };
                write!(f, "page fault (#PF) {kind} {address:016x}, {why}")
            }
            Self::Divide => write!(f, "divide error (#DE)"),
            Self::InvalidOpcode => write!(f, "invalid opcode (#UD)"),
            Self::Protection => write!(f, "general protection fault (#GP)"),
            Self::Breakpoint => write!(f, "breakpoint instruction (#BP)"),
            Self::Interrupt(vector) => write!(f, "software interrupt 0x{vector:x}"),
            Self::Unsupported(text) => write!(f, "the simulated core cannot execute '{text}'"),
        }
    }
}

/// What a completed instruction asks of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Go on.
    Continue,
    /// The core waits for an interrupt.
    Halt,
}

/// One instruction in flight.
pub(super) struct Exec<'a> {
    pub(super) memory: &'a mut PhysicalMemory,
    pub(super) core: &'a mut Core,
    pub(super) ins: Instruction,
}

/// Fetches and decodes the instruction at the core's instruction pointer.
///
/// # Errors
/// A page fault when the first byte cannot be fetched, `#UD` when the bytes are no instruction.
pub fn fetch(memory: &PhysicalMemory, registers: &Registers) -> Result<Instruction, Fault> {
    let mut bytes = [0; 15];
    let mut length = 0;
    while length < bytes.len() {
        let address = registers.rip.wrapping_add(length as u64);
        let found = paging::walk(memory, registers.cr[3], address);
        let user = registers.is_user_mode();
        let allowed = found.executable && (found.user || !user);
        let Some(physical) = found.physical.filter(|_| allowed) else {
            if length == 0 {
                let code = 16 | u64::from(found.physical.is_some()) | if user { 4 } else { 0 };
                return Err(Fault::Page { address, code });
            }
            break;
        };
        let in_page = (PAGE_SIZE - (address & (PAGE_SIZE - 1))) as usize;
        let size = in_page.min(bytes.len() - length);
        if !memory.read(physical, &mut bytes[length..length + size]) {
            return Err(Fault::Page { address, code: 16 });
        }
        length += size;
    }
    let ins = Decoder::with_ip(64, &bytes[..length], registers.rip, DecoderOptions::NONE).decode();
    if ins.is_invalid() {
        Err(Fault::InvalidOpcode)
    } else {
        Ok(ins)
    }
}

/// Executes `ins` on `core`.
///
/// # Errors
/// The fault it raises; the registers are then unchanged.
pub fn execute(memory: &mut PhysicalMemory, core: &mut Core, ins: Instruction) -> Result<Outcome, Fault> {
    let before = core.registers.clone();
    core.registers.rip = ins.next_ip();
    let result = Exec { memory, core, ins }.run();
    match result {
        Ok(outcome) => {
            core.tsc = core.tsc.wrapping_add(3);
            Ok(outcome)
        }
        Err(fault) => {
            core.registers = before;
            if let Fault::Page { address, .. } = fault {
                core.registers.cr[2] = address;
            }
            Err(fault)
        }
    }
}

impl Exec<'_> {
    fn run(&mut self) -> Result<Outcome, Fault> {
        let ins = self.ins;
        match ins.mnemonic() {
            Mnemonic::Nop
            | Mnemonic::Pause
            | Mnemonic::Endbr64
            | Mnemonic::Lfence
            | Mnemonic::Mfence
            | Mnemonic::Sfence
            | Mnemonic::Prefetchw
            | Mnemonic::Prefetcht0 => {}
            Mnemonic::Mov => {
                let value = self.read(1)?;
                self.write(0, value)?;
            }
            Mnemonic::Movzx => {
                let value = self.read(1)?;
                self.write(0, value)?;
            }
            Mnemonic::Movsx | Mnemonic::Movsxd => {
                let size = self.size(1);
                let value = self.read(1)?;
                self.write(0, operand::sign_extend(value, size))?;
            }
            Mnemonic::Lea => {
                let address = self.address(1)?;
                self.write(0, address)?;
            }
            Mnemonic::Xchg => {
                let (left, right) = (self.read(0)?, self.read(1)?);
                self.write(0, right)?;
                self.write(1, left)?;
            }
            Mnemonic::Push => {
                let value = self.read(0)?;
                self.push(value)?;
            }
            Mnemonic::Pop => {
                let value = self.pop()?;
                self.write(0, value)?;
            }
            Mnemonic::Pushfq => {
                let value = self.core.registers.rflags;
                self.push(value)?;
            }
            Mnemonic::Popfq => {
                let value = self.pop()?;
                self.core.registers.rflags = (value & 0x003f_7fd7) | flag::FIXED;
            }
            Mnemonic::Leave => {
                self.core.registers.gpr[gpr::RSP] = self.core.registers.gpr[gpr::RBP];
                self.core.registers.gpr[gpr::RBP] = self.pop()?;
            }
            Mnemonic::Call => {
                let target = self.branch_target()?;
                self.push(ins.next_ip())?;
                self.core.registers.rip = target;
            }
            Mnemonic::Jmp => self.core.registers.rip = self.branch_target()?,
            Mnemonic::Ret => {
                let target = self.pop()?;
                if ins.op_count() == 1 {
                    let rsp = &mut self.core.registers.gpr[gpr::RSP];
                    *rsp = rsp.wrapping_add(ins.immediate(0));
                }
                self.core.registers.rip = target;
            }
            Mnemonic::Loop | Mnemonic::Jrcxz => {
                let rcx = &mut self.core.registers.gpr[gpr::RCX];
                let taken = if ins.mnemonic() == Mnemonic::Loop {
                    *rcx = rcx.wrapping_sub(1);
                    *rcx != 0
                } else {
                    *rcx == 0
                };
                if taken {
                    self.core.registers.rip = ins.near_branch_target();
                }
            }
            _ if ins.is_jcc_short_or_near() => {
                if condition(ins.condition_code(), self.core.registers.rflags) {
                    self.core.registers.rip = ins.near_branch_target();
                }
            }
            _ if ins.condition_code() != ConditionCode::None && ins.op_count() == 1 => {
                let on = condition(ins.condition_code(), self.core.registers.rflags);
                self.write(0, u64::from(on))?;
            }
            _ if ins.condition_code() != ConditionCode::None && ins.op_count() == 2 => {
                // cmovcc reads its source, and clears the upper half of a 32-bit target, either way.
                let value = self.read(1)?;
                let on = condition(ins.condition_code(), self.core.registers.rflags);
                let value = if on { value } else { self.read(0)? };
                self.write(0, value)?;
            }
            _ => {
                if !self.arithmetic()? && !self.string()? {
                    return self.system();
                }
            }
        }
        Ok(Outcome::Continue)
    }

    fn branch_target(&mut self) -> Result<u64, Fault> {
        use iced_x86::OpKind;
        match self.ins.op_kind(0) {
            OpKind::NearBranch64 => Ok(self.ins.near_branch_target()),
            OpKind::Register | OpKind::Memory => self.read(0),
            _ => Err(self.unsupported()),
        }
    }

    /// The fault that names this instruction as one the interpreter does not know.
    pub(super) fn unsupported(&self) -> Fault {
        Fault::Unsupported(self.ins.to_string())
    }
}

/// Evaluates a condition code over the flags.
#[must_use]
pub fn condition(code: ConditionCode, rflags: u64) -> bool {
    let on = |mask| rflags & mask != 0;
    let (zero, carry) = (on(flag::ZF), on(flag::CF));
    let less = on(flag::SF) != on(flag::OF);
    match code {
        ConditionCode::None => false,
        ConditionCode::o => on(flag::OF),
        ConditionCode::no => !on(flag::OF),
        ConditionCode::b => carry,
        ConditionCode::ae => !carry,
        ConditionCode::e => zero,
        ConditionCode::ne => !zero,
        ConditionCode::be => carry || zero,
        ConditionCode::a => !carry && !zero,
        ConditionCode::s => on(flag::SF),
        ConditionCode::ns => !on(flag::SF),
        ConditionCode::p => on(flag::PF),
        ConditionCode::np => !on(flag::PF),
        ConditionCode::l => less,
        ConditionCode::ge => !less,
        ConditionCode::le => zero || less,
        ConditionCode::g => !zero && !less,
    }
}

#[cfg(test)]
mod tests;

pub(super) use system::deliver;
