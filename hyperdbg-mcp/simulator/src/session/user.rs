//! The user debugger: one process on the spare core, halted and released on its own.

use super::slice::Report;
use super::{Session, State};
use crate::errors::{self, code};
use crate::machine::registers::gpr;
use crate::say;

/// Instructions in one slice of a running process.
const SLICE: u32 = 500;

/// Instructions that one step may take: a system call is stepped over as a whole.
const STEP_LIMIT: u32 = 100_000;

/// The process under the user debugger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserTarget {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The core that runs it.
    pub core: usize,
    /// It is halted.
    pub paused: bool,
    /// A 32-bit program.
    pub wow64: bool,
    pub(super) run: Option<UserRun>,
    pub(super) pause_requested: bool,
}

/// What the process was told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserRun {
    /// Go on.
    Continue,
    /// One instruction.
    Step,
    /// Until the call returned.
    Return {
        /// Return address.
        address: u64,
        /// Stack pointer after the return.
        stack: u64,
    },
}

impl State {
    /// Runs the process for a while.
    pub(super) fn user_slice(&mut self, report: &mut Report) {
        let Some(user) = self.user.clone() else { return };
        let core = user.core;
        let limit = if user.run == Some(UserRun::Step) {
            STEP_LIMIT
        } else {
            SLICE
        };
        for round in 0..limit {
            if round > 0 && self.user_breakpoint(core) {
                self.user_stop(report);
                return;
            }
            self.machine.cores[core].halted = false;
            if let Err(fault) = self.machine.step(core) {
                report
                    .messages
                    .push(format!("err, the process cannot go on: {fault}\n").into_bytes());
                self.user_stop(report);
                return;
            }
            let registers = &self.machine.cores[core].registers;
            let arrived = match user.run {
                Some(UserRun::Step) => true,
                Some(UserRun::Return { address, stack }) => {
                    registers.rip == address && registers.gpr[gpr::RSP] >= stack
                }
                _ => user.pause_requested,
            };
            if arrived && registers.is_user_mode() {
                self.user_stop(report);
                return;
            }
        }
        report.idle = true;
    }

    fn user_breakpoint(&self, core: usize) -> bool {
        let rip = self.machine.cores[core].registers.rip;
        self.breakpoints.at(rip).next().is_some()
    }

    fn user_stop(&mut self, report: &mut Report) {
        let Some(user) = &mut self.user else { return };
        user.paused = true;
        user.run = None;
        user.pause_requested = false;
        let core = user.core;
        let mut lines = vec!["\n".to_owned()];
        lines.extend(self.current_instruction(core));
        report.stop = Some(lines);
    }
}

impl Session {
    /// Starts a program under the user debugger: the process whose image has that file name.
    pub fn start_process(&self, path: &str) -> bool {
        if !self.needs_vmm() {
            return false;
        }
        let mut state = self.lock();
        if state.user.is_some() {
            drop(state);
            say!(
                self.console,
                "err, a process is debugged already; '.detach' or '.kill' it first\n"
            );
            return false;
        }
        let file = path
            .rsplit(['\\', '/'])
            .next()
            .unwrap_or(path)
            .to_ascii_lowercase();
        let found = state
            .machine
            .processes
            .iter()
            .find(|process| process.path.to_ascii_lowercase().ends_with(&format!("\\{file}")))
            .map(|process| (process.pid, process.wow64));
        let core = state.machine.scheduled();
        let prepared = found.filter(|(pid, _)| !file.is_empty() && state.machine.prepare_spare_core(*pid));
        let Some((pid, wow64)) = prepared else {
            drop(state);
            say!(
                self.console,
                "err, '{path}' cannot be started: the machine has no such program\n"
            );
            errors::show(&self.console, code::ATTACH);
            return false;
        };
        state.user = Some(UserTarget {
            pid,
            tid: crate::machine::layout::DEBUGGED_THREAD,
            core,
            paused: true,
            wow64,
            run: None,
            pause_requested: false,
        });
        let lines = state.current_instruction(core);
        drop(state);
        say!(
            self.console,
            "the target module is loaded; its entrypoint is reached\n"
        );
        for line in &lines {
            self.console.say(line);
        }
        true
    }

    /// Lets the halted process go. Only a step waits for its stop.
    pub fn resume_user(&self, run: UserRun) -> bool {
        let mut state = self.lock();
        let before = state.stops;
        let Some(user) = state.user.as_mut().filter(|user| user.paused) else {
            return false;
        };
        user.paused = false;
        user.run = Some(run);
        self.notify();
        while run != UserRun::Continue && state.stops == before && state.user.is_some() {
            state = self.wait(state);
        }
        true
    }

    /// Asks the running process to halt; the stop is reported later.
    pub fn pause_user(&self) -> bool {
        let mut state = self.lock();
        let Some(user) = state.user.as_mut().filter(|user| !user.paused) else {
            return false;
        };
        user.pause_requested = true;
        true
    }
}
