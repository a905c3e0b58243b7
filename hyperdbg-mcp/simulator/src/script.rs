//! The script language: what expressions, `?`, `print`, conditions and event scripts are written in.
//!
//! A script is parsed into a tree and run against a [`Target`]: the machine, or, with nothing
//! attached, the memory of this very process, as the real library does.

mod functions;
mod lexer;
mod parser;
mod print;
mod run;

use std::collections::BTreeMap;

pub use parser::{ParseError, Script, parse};
pub use run::{RunError, run};

/// Operations that one run may take.
pub const STEP_LIMIT: u32 = 1_000_000;

/// Variables whose name starts with a dot; they live as long as the session.
pub type Globals = BTreeMap<String, u64>;

/// What a script asks of the debugger around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `pause()`.
    Pause,
    /// `flush()`.
    Flush,
    /// `event_enable(id)`.
    EnableEvent(u64),
    /// `event_disable(id)`.
    DisableEvent(u64),
    /// `event_clear(id)`.
    ClearEvent(u64),
    /// `event_sc(state)`.
    ShortCircuit(bool),
}

/// Where a script runs.
pub trait Target {
    /// Reads a register by its number in `REGS_ENUM`.
    fn register(&mut self, id: u32) -> u64;
    /// Writes a register.
    fn set_register(&mut self, id: u32, value: u64);
    /// Reads a pseudo-register such as `pid`.
    fn pseudo(&mut self, name: &str) -> u64;
    /// Reads virtual memory; false at a hole.
    fn read(&mut self, address: u64, out: &mut [u8]) -> bool;
    /// Writes virtual memory; false at a hole.
    fn write(&mut self, address: u64, bytes: &[u8]) -> bool;
    /// Reads physical memory.
    fn read_physical(&mut self, address: u64, out: &mut [u8]) -> bool;
    /// Writes physical memory.
    fn write_physical(&mut self, address: u64, bytes: &[u8]) -> bool;
    /// The physical address behind a virtual one.
    fn physical(&mut self, address: u64) -> Option<u64>;
    /// A virtual address of a physical one.
    fn virtual_address(&mut self, physical: u64) -> Option<u64>;
    /// The time stamp counter.
    fn time_stamp(&mut self) -> u64;
}

/// What a run left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The value of the last `formats()`.
    pub formatted: Option<u64>,
    /// What was printed.
    pub text: Vec<u8>,
    /// What the script asked for.
    pub requests: Vec<Request>,
}

#[cfg(test)]
mod tests;
