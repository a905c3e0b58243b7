//! String instructions, with their repeat prefixes.

use super::{Exec, Fault};
use crate::machine::registers::{flag, gpr};
use iced_x86::Mnemonic;

/// Rounds of a repeated instruction that one step does; the rest follows in the next step.
const ROUNDS_PER_STEP: u32 = 0x1000;

impl Exec<'_> {
    /// Executes a string instruction; false when it is none.
    pub(super) fn string(&mut self) -> Result<bool, Fault> {
        let (size, kind) = match self.ins.mnemonic() {
            Mnemonic::Movsb => (1, Kind::Move),
            Mnemonic::Movsw => (2, Kind::Move),
            Mnemonic::Movsd if self.ins.is_string_instruction() => (4, Kind::Move),
            Mnemonic::Movsq => (8, Kind::Move),
            Mnemonic::Stosb => (1, Kind::Store),
            Mnemonic::Stosw => (2, Kind::Store),
            Mnemonic::Stosd => (4, Kind::Store),
            Mnemonic::Stosq => (8, Kind::Store),
            Mnemonic::Lodsb => (1, Kind::Load),
            Mnemonic::Lodsw => (2, Kind::Load),
            Mnemonic::Lodsd => (4, Kind::Load),
            Mnemonic::Lodsq => (8, Kind::Load),
            Mnemonic::Scasb => (1, Kind::Scan),
            Mnemonic::Scasw => (2, Kind::Scan),
            Mnemonic::Scasd => (4, Kind::Scan),
            Mnemonic::Scasq => (8, Kind::Scan),
            Mnemonic::Cmpsb => (1, Kind::Compare),
            Mnemonic::Cmpsw => (2, Kind::Compare),
            Mnemonic::Cmpsd if self.ins.is_string_instruction() => (4, Kind::Compare),
            Mnemonic::Cmpsq => (8, Kind::Compare),
            _ => return Ok(false),
        };
        let repeated = self.ins.has_rep_prefix() || self.ins.has_repne_prefix();
        if !repeated {
            self.round(size, kind)?;
            return Ok(true);
        }
        for _ in 0..ROUNDS_PER_STEP {
            if self.core.registers.gpr[gpr::RCX] == 0 {
                return Ok(true);
            }
            self.round(size, kind)?;
            self.core.registers.gpr[gpr::RCX] -= 1;
            if matches!(kind, Kind::Scan | Kind::Compare) {
                let equal = self.core.registers.flag(flag::ZF);
                let goes_on = if self.ins.has_repne_prefix() {
                    !equal
                } else {
                    equal
                };
                if !goes_on {
                    return Ok(true);
                }
            }
        }
        if self.core.registers.gpr[gpr::RCX] != 0 {
            self.core.registers.rip = self.ins.ip();
        }
        Ok(true)
    }

    fn round(&mut self, size: usize, kind: Kind) -> Result<(), Fault> {
        let (source, target) = (
            self.core.registers.gpr[gpr::RSI],
            self.core.registers.gpr[gpr::RDI],
        );
        match kind {
            Kind::Move => {
                let value = self.load(source, size)?;
                self.store(target, size, value)?;
            }
            Kind::Store => {
                let value = self.core.registers.gpr[gpr::RAX];
                self.store(target, size, value)?;
            }
            Kind::Load => {
                let value = self.load(source, size)?;
                let rax = &mut self.core.registers.gpr[gpr::RAX];
                *rax = match size {
                    8 | 4 => value,
                    _ => (*rax & !((1 << (size * 8)) - 1)) | value,
                };
            }
            Kind::Scan => {
                let wanted = super::operand::truncate(self.core.registers.gpr[gpr::RAX], size);
                let value = self.load(target, size)?;
                self.subtract(wanted, value, 0, size);
            }
            Kind::Compare => {
                let (left, right) = (self.load(source, size)?, self.load(target, size)?);
                self.subtract(left, right, 0, size);
            }
        }
        let down = self.core.registers.flag(flag::DF);
        let step = if down {
            (size as u64).wrapping_neg()
        } else {
            size as u64
        };
        if matches!(kind, Kind::Move | Kind::Load | Kind::Compare) {
            self.core.registers.gpr[gpr::RSI] = source.wrapping_add(step);
        }
        if !matches!(kind, Kind::Load) {
            self.core.registers.gpr[gpr::RDI] = target.wrapping_add(step);
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Move,
    Store,
    Load,
    Scan,
    Compare,
}
