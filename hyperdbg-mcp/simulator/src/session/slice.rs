//! A slice of the machine's running time: execute, look for stops, let events act.

use super::event::Action;
use super::sight::{self, Sight};
use super::target::{EventContext, View};
use super::{Awaited, State};
use crate::disassembly;
use crate::machine::interpreter::{self, Fault};
use crate::machine::registers::gpr;
use crate::script::{self, Request};

/// Instructions in one slice; the lock is free between slices.
const SLICE: u32 = 4_000;

/// Instructions that a break-in lets the machine go on, to reach a place where it waits anyway.
const BREAK_IN_PATIENCE: u32 = 200_000;

/// Branch records kept for each core.
const BRANCH_RECORDS: usize = 32;

/// What a halted debuggee was told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Go on until something stops it.
    Continue,
    /// One instruction on the current core. `report` false prints nothing at the stop.
    Step {
        /// Print the stop.
        report: bool,
    },
    /// Go on until the current core is at this address with this stack, as after a call.
    Return {
        /// Return address.
        address: u64,
        /// Stack pointer after the return.
        stack: u64,
        /// Print the stop.
        report: bool,
    },
}

/// Why the debuggee stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Step { report: bool },
    Breakpoint(u64),
    Event { id: u64, post: bool },
    BreakIn,
    Instruction,
    ProcessSwitched,
    ThreadSwitched,
    ScriptPause,
    Fault(String),
}

/// What a slice left behind.
#[derive(Default)]
pub(super) struct Report {
    /// Text of events, one message each.
    pub(super) messages: Vec<Vec<u8>>,
    /// The stop report, when the debuggee stopped.
    pub(super) stop: Option<Vec<String>>,
    /// The machine waits for its clock.
    pub(super) idle: bool,
}

impl State {
    /// The machine has something to do.
    pub(super) fn is_active(&self) -> bool {
        let process = self.user.as_ref().is_some_and(|user| user.run.is_some());
        let machine = if self.is_serial() {
            self.run.is_some()
        } else {
            self.loaded.vmm && !self.events.is_quiet()
        };
        process || machine
    }

    /// Runs for a while. `break_in` asks for a stop.
    pub(super) fn slice(&mut self, break_in: bool) -> Report {
        let mut report = Report::default();
        if !self.is_serial() && self.user.as_ref().is_some_and(|user| user.run.is_some()) {
            self.user_slice(&mut report);
            return report;
        }
        let stop = match self.run {
            Some(Run::Step { report: show }) => self.step_current(&mut report, show),
            _ => self.go_on(&mut report, break_in),
        };
        if let Some(reason) = stop {
            if self.is_serial() {
                self.run = None;
                self.idle = false;
                report.stop = Some(self.stop_report(&reason));
            } else if let Reason::Fault(text) = reason {
                // A local machine cannot be stopped: its fault is only told.
                report.messages.push(format!("err, {text}\n").into_bytes());
                self.loaded.vmm = false;
            }
        }
        report
    }

    fn step_current(&mut self, report: &mut Report, show: bool) -> Option<Reason> {
        let core = self.core;
        // Stepping keeps interrupts out: a waiting core simply goes on behind its hlt.
        self.machine.cores[core].halted = false;
        let reason = self.instruction(core, report, true);
        self.machine.cores[core].halted = false;
        match reason {
            Some(reason @ (Reason::Fault(_) | Reason::Instruction)) => Some(reason),
            _ => Some(Reason::Step { report: show }),
        }
    }

    fn go_on(&mut self, report: &mut Report, break_in: bool) -> Option<Reason> {
        if std::mem::take(&mut self.idle)
            && let Some(reason) = self.clock(report)
        {
            return Some(reason);
        }
        let limit = if break_in { BREAK_IN_PATIENCE } else { SLICE };
        for _ in 0..limit {
            let Some(core) = self.machine.next_core() else {
                if break_in {
                    return Some(Reason::BreakIn);
                }
                self.idle = true;
                report.idle = true;
                return None;
            };
            let resumed = self.first_core == Some(core);
            if resumed {
                self.first_core = None;
            }
            if let Some(reason) = self.instruction(core, report, resumed) {
                self.core = core;
                return Some(reason);
            }
        }
        break_in.then_some(Reason::BreakIn)
    }

    /// Delivers the clock interrupt to every core.
    fn clock(&mut self, report: &mut Report) -> Option<Reason> {
        let vector = u64::from(crate::machine::layout::CLOCK_VECTOR);
        for core in 0..self.machine.scheduled() {
            let stop = self.act(core, &[Sight::Interrupt(vector)], false, report).stop;
            if let Err(fault) = self.machine.clock(core) {
                return Some(Reason::Fault(self.describe(core, &fault)));
            }
            if let Some(reason) = stop {
                self.core = core;
                return Some(reason);
            }
        }
        None
    }

    /// One instruction on `core`. `resumed` is the first one after a stop: what stopped there does
    /// not stop again.
    fn instruction(&mut self, core: usize, report: &mut Report, resumed: bool) -> Option<Reason> {
        let rip = self.machine.cores[core].registers.rip;
        if !resumed && let Some(reason) = self.breakpoint(core, rip) {
            return Some(reason);
        }
        let ins = match interpreter::fetch(&self.machine.memory, &self.machine.cores[core].registers) {
            Ok(ins) => ins,
            Err(fault) => return Some(self.fault(core, &fault, report)),
        };
        let quiet = self.events.is_quiet();
        let mut seen = Vec::new();
        if !quiet {
            let memory =
                self.events.all().iter().any(|event| {
                    event.enabled && matches!(event.trigger, super::event::Trigger::Monitor { .. })
                });
            seen = sight::sights(&self.machine, core, &ins, memory);
            if !resumed {
                let acted = self.act(core, &seen, false, report);
                if acted.stop.is_some() {
                    return acted.stop;
                }
                if acted.skip {
                    self.machine.cores[core].registers.rip = ins.next_ip();
                    return None;
                }
            }
            if resumed && std::mem::take(&mut self.events.short_circuit_next) {
                self.machine.cores[core].registers.rip = ins.next_ip();
                return None;
            }
        }
        let cpu = &mut self.machine.cores[core];
        if let Err(fault) = interpreter::execute(&mut self.machine.memory, cpu, ins) {
            return Some(self.fault(core, &fault, report));
        }
        let next = self.machine.cores[core].registers.rip;
        if next != ins.next_ip() && self.tracing.lbr {
            let records = &mut self.tracing.branches[core];
            records.push((ins.ip(), next));
            if records.len() > BRANCH_RECORDS {
                records.remove(0);
            }
        }
        if !quiet && let Some(reason) = self.act(core, &seen, true, report).stop {
            return Some(reason);
        }
        self.arrived(core)
    }

    /// Stops that are about where a core is now.
    fn arrived(&self, core: usize) -> Option<Reason> {
        let registers = &self.machine.cores[core].registers;
        if let Some(Run::Return {
            address,
            stack,
            report,
        }) = self.run
            && core == self.core
            && registers.rip == address
            && registers.gpr[gpr::RSP] >= stack
        {
            return Some(Reason::Step { report });
        }
        match self.awaited? {
            Awaited::Process(pid) => {
                let here = self
                    .machine
                    .current_process(core)
                    .is_some_and(|process| process.pid == pid);
                here.then_some(Reason::ProcessSwitched)
            }
            Awaited::Thread(tid) => {
                let here = self
                    .machine
                    .current_thread(core)
                    .is_some_and(|thread| thread.tid == tid);
                here.then_some(Reason::ThreadSwitched)
            }
        }
    }

    fn breakpoint(&self, core: usize, rip: u64) -> Option<Reason> {
        if !self.is_serial() || self.breakpoints.is_quiet() {
            return None;
        }
        let thread = self.machine.current_thread(core);
        let hit = self.breakpoints.at(rip).find(|point| {
            point.core.is_none_or(|wanted| wanted as usize == core)
                && point
                    .pid
                    .is_none_or(|wanted| thread.is_some_and(|thread| thread.pid == wanted))
                && point
                    .tid
                    .is_none_or(|wanted| thread.is_some_and(|thread| thread.tid == wanted))
        })?;
        Some(Reason::Breakpoint(hit.id))
    }

    fn fault(&mut self, core: usize, fault: &Fault, report: &mut Report) -> Reason {
        if let Some(vector) = fault.vector() {
            let stop = self
                .act(core, &[Sight::Exception(u64::from(vector))], false, report)
                .stop;
            if let Some(reason) = stop {
                return reason;
            }
        }
        if *fault == Fault::Breakpoint {
            let rip = &mut self.machine.cores[core].registers.rip;
            *rip = rip.wrapping_add(1);
            return Reason::Instruction;
        }
        Reason::Fault(self.describe(core, fault))
    }

    fn describe(&self, core: usize, fault: &Fault) -> String {
        let rip = self.machine.cores[core].registers.rip;
        format!("core {core:x} cannot go on at {rip:016x}: {fault}")
    }

    /// Lets every event that wants one of `seen` act.
    fn act(&mut self, core: usize, seen: &[Sight], post: bool, report: &mut Report) -> Acted {
        let mut acted = Acted::default();
        let due: Vec<(usize, u64)> = self
            .events
            .all()
            .iter()
            .enumerate()
            .filter_map(|(index, event)| {
                let sight = seen.iter().find(|sight| event.wants(sight, post))?;
                Some((index, sight.context()))
            })
            .collect();
        for (index, context) in due {
            let event = &self.events.all()[index];
            let thread = self.machine.current_thread(core);
            let here = event.core.is_none_or(|wanted| wanted as usize == core)
                && event
                    .pid
                    .is_none_or(|wanted| thread.is_some_and(|thread| thread.pid == wanted));
            if !here {
                continue;
            }
            let id = event.id;
            acted.skip |= event.short_circuit && !post;
            match event.action.clone() {
                Action::Break => acted.stop = Some(Reason::Event { id, post }),
                Action::Code => {}
                Action::Script(script) => {
                    let context = EventContext {
                        id,
                        context,
                        stage: u64::from(post),
                    };
                    if self.run_event_script(core, &script, context, report) {
                        acted.stop = Some(Reason::ScriptPause);
                    }
                }
            }
        }
        acted
    }

    /// Runs an event's script; true when it asks for a stop.
    fn run_event_script(
        &mut self,
        core: usize,
        script: &script::Script,
        context: EventContext,
        report: &mut Report,
    ) -> bool {
        let mut view = View {
            machine: &mut self.machine,
            core,
            event: context,
        };
        let (outcome, result) = script::run(script, &mut view, &mut self.globals);
        if !outcome.text.is_empty() {
            report.messages.push(outcome.text);
        }
        if let Err(error) = result {
            report.messages.push(format!("err, {error}\n").into_bytes());
        }
        self.grant(&outcome.requests)
    }

    /// Does what a script asked for; true when it asks for a stop.
    pub(super) fn grant(&mut self, requests: &[Request]) -> bool {
        use super::event::Change;
        let mut pause = false;
        for request in requests {
            let change = match request {
                Request::Pause => {
                    pause = true;
                    continue;
                }
                Request::Flush => continue,
                Request::ShortCircuit(on) => {
                    self.events.short_circuit_next = *on;
                    continue;
                }
                Request::EnableEvent(id) => (*id, Change::Enable),
                Request::DisableEvent(id) => (*id, Change::Disable),
                Request::ClearEvent(id) => (*id, Change::Clear),
            };
            // An unknown number in a script is ignored, as in the real engine.
            let _ = self.events.change(Some(change.0), change.1, false);
        }
        pause
    }

    /// The messages that report a stop: reason, then the current instruction.
    pub(super) fn stop_report(&mut self, reason: &Reason) -> Vec<String> {
        let mut lines = match reason {
            Reason::Step { report: false } => return Vec::new(),
            Reason::Step { .. } | Reason::BreakIn | Reason::Instruction | Reason::ScriptPause => Vec::new(),
            Reason::Breakpoint(id) => vec![format!("breakpoint 0x{id:x} hit\n")],
            Reason::Event { id, post } => {
                vec![format!(
                    "event 0x{id:x} triggered ({})\n",
                    if *post { "post" } else { "pre" }
                )]
            }
            Reason::ProcessSwitched => {
                self.awaited = None;
                vec!["switched to the specified process\n".to_owned()]
            }
            Reason::ThreadSwitched => {
                self.awaited = None;
                vec!["switched to the specified thread\n".to_owned()]
            }
            Reason::Fault(text) => vec![format!("err, {text}\n")],
        };
        lines.extend(self.current_instruction(self.core));
        lines
    }

    /// The instruction at which `core` stands, as messages.
    #[must_use]
    pub fn instruction_lines(&self, core: usize) -> Vec<String> {
        self.current_instruction(core)
    }

    pub(super) fn current_instruction(&self, core: usize) -> Vec<String> {
        let registers = &self.machine.cores[core].registers;
        let mut bytes = [0; 16];
        let length = self
            .machine
            .read_virtual(registers.cr[3], registers.rip, &mut bytes);
        let style = self.style(64);
        disassembly::messages(&style, &bytes[..length], registers.rip, 1, Some(registers.rflags))
    }
}

#[derive(Default)]
struct Acted {
    stop: Option<Reason>,
    skip: bool,
}
