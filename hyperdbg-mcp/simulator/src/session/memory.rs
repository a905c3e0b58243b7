//! Reading and writing the target's memory, with the refusals of each mode.

use super::{Session, State};
use crate::errors::{self, code};
use crate::machine::{Process, layout};

/// Bytes that one read in debugger mode can carry; a longer one never gets an answer.
pub const DEBUGGER_READ_LIMIT: u32 = 81_844;

/// Which memory is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Virtual.
    Virtual,
    /// Physical.
    Physical,
    /// A number that is neither.
    Invalid,
}

/// What a read gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The bytes; fewer than asked for when a hole came.
    pub bytes: Vec<u8>,
    /// The address belongs to a 32-bit program.
    pub is_32_bit: bool,
}

impl State {
    /// The process that a process id from outside means. The id of the program that loaded the
    /// library stands for the one that plays it in the machine.
    #[must_use]
    pub fn process_of(&self, pid: u32) -> Option<&Process> {
        let pid = if pid == std::process::id() {
            layout::HOST_PROCESS
        } else {
            pid
        };
        self.machine.process(pid)
    }

    /// Page directory of the current target: of `pid` in VMI mode, else of the current core.
    fn directory(&self, pid: u32) -> Option<u64> {
        if self.is_serial() {
            return Some(self.machine.cores[self.core].registers.cr[3]);
        }
        self.process_of(pid).map(|process| process.cr3)
    }

    fn is_32_bit(&self, address: u64, pid: u32) -> bool {
        if address >= 0xffff_8000_0000_0000 {
            return false;
        }
        let current = self.machine.current_process(self.core);
        let process = if self.is_serial() {
            current
        } else {
            self.process_of(pid)
        };
        process.is_some_and(|process| process.wow64)
    }

    fn read(&self, address: u64, space: Space, pid: u32, size: u32) -> Result<Bytes, u32> {
        let mut bytes = vec![0; size as usize];
        let is_32_bit = self.is_32_bit(address, pid);
        if self.is_serial() {
            return match space {
                Space::Invalid => Err(code::MEMORY_TYPE),
                Space::Physical if self.machine.memory.read(address, &mut bytes) => {
                    Ok(Bytes { bytes, is_32_bit })
                }
                Space::Physical => Err(code::PHYSICAL_ADDRESS),
                Space::Virtual => {
                    let directory = self.directory(pid).ok_or(code::INVALID_ADDRESS)?;
                    let done = self.machine.read_virtual(directory, address, &mut bytes);
                    if done == bytes.len() {
                        Ok(Bytes { bytes, is_32_bit })
                    } else {
                        Err(code::INVALID_ADDRESS)
                    }
                }
            };
        }
        if size == 0 || address == 0 {
            return Err(code::READ_PARAMETER);
        }
        let done = match space {
            Space::Physical if self.machine.memory.read(address, &mut bytes) => bytes.len(),
            Space::Virtual => {
                let directory = self.directory(pid).ok_or(code::READ_PARAMETER)?;
                self.machine.read_virtual(directory, address, &mut bytes)
            }
            _ => return Err(code::READ_PARAMETER),
        };
        bytes.truncate(done);
        Ok(Bytes { bytes, is_32_bit })
    }

    fn write(&mut self, address: u64, space: Space, pid: u32, bytes: &[u8]) -> Result<(), u32> {
        let written = match space {
            Space::Invalid => return Err(code::EDIT_PARAMETER),
            Space::Physical => {
                if !self.machine.memory.write(address, bytes) {
                    return Err(code::PHYSICAL_ADDRESS);
                }
                true
            }
            Space::Virtual => {
                let directory = self.directory(pid).ok_or(code::EDIT_ADDRESS_OTHER)?;
                self.machine.write_virtual(directory, address, bytes)
            }
        };
        let own = self.is_serial() || pid == std::process::id();
        if written {
            Ok(())
        } else {
            Err(if own {
                code::EDIT_ADDRESS
            } else {
                code::EDIT_ADDRESS_OTHER
            })
        }
    }
}

impl Session {
    /// Reads memory. The reason of a failure is printed.
    pub fn read_memory(&self, address: u64, space: Space, pid: u32, size: u32) -> Option<Bytes> {
        let serial = self.lock().is_serial();
        if !serial && !self.needs_kd() {
            return None;
        }
        if serial && size > DEBUGGER_READ_LIMIT {
            // The request overruns the debuggee's buffer, and no answer ever comes.
            loop {
                std::thread::park();
            }
        }
        let result = self.lock_halted().read(address, space, pid, size);
        result.map_err(|code| errors::show(&self.console, code)).ok()
    }

    /// Writes memory. The reason of a failure is printed.
    pub fn write_memory(&self, address: u64, space: Space, pid: u32, bytes: &[u8]) -> bool {
        let serial = self.lock().is_serial();
        if !serial && !self.needs_kd() {
            return false;
        }
        let result = self.lock_halted().write(address, space, pid, bytes);
        result.map_err(|code| errors::show(&self.console, code)).is_ok()
    }

    /// The process id that commands use when none is given.
    pub fn default_pid(&self) -> u32 {
        self.lock()
            .user
            .as_ref()
            .map_or_else(std::process::id, |user| user.pid)
    }
}
