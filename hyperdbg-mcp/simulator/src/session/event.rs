//! Events: what they wait for, and what they do then.

use super::sight::Sight;
use crate::errors::code;
use crate::script::Script;

/// What an event waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Execution of an address: `!epthook`, `!epthook2`.
    Hook(u64),
    /// Access to a range, both ends included: `!monitor`.
    Monitor {
        /// First address.
        from: u64,
        /// Last address.
        to: u64,
        /// Reads count.
        read: bool,
        /// Writes count.
        write: bool,
        /// Execution counts.
        execute: bool,
        /// The range is physical.
        physical: bool,
    },
    /// `syscall`, with that number or any.
    Syscall(Option<u64>),
    /// `sysret`.
    Sysret,
    /// `cpuid`, with that leaf or any.
    Cpuid(Option<u64>),
    /// `rdmsr`.
    MsrRead(Option<u64>),
    /// `wrmsr`.
    MsrWrite(Option<u64>),
    /// `rdtsc` and `rdtscp`.
    Tsc,
    /// `rdpmc`.
    Pmc,
    /// A write to that control register.
    ControlWrite(u64),
    /// An access to a debug register.
    Debug,
    /// `in`.
    PortIn(Option<u64>),
    /// `out`.
    PortOut(Option<u64>),
    /// An exception.
    Exception(Option<u64>),
    /// An external interrupt.
    Interrupt(Option<u64>),
    /// `vmcall`.
    Vmcall,
    /// `xsetbv`.
    Xsetbv,
    /// Execution in user mode, kernel mode or both, in one process.
    Mode {
        /// User mode counts.
        user: bool,
        /// Kernel mode counts.
        kernel: bool,
    },
    /// Every instruction.
    Trace,
}

/// When an event acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Before the instruction.
    #[default]
    Pre,
    /// After it.
    Post,
    /// Both.
    All,
}

impl Stage {
    fn covers(self, post: bool) -> bool {
        match self {
            Self::Pre => !post,
            Self::Post => post,
            Self::All => true,
        }
    }
}

/// What an event does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Stop the debuggee.
    Break,
    /// Run a script.
    Script(Script),
    /// Run machine code; the simulator only notes that it would.
    Code,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number, from 0.
    pub id: u64,
    /// The command that made it.
    pub command: String,
    /// It acts.
    pub enabled: bool,
    /// What it waits for.
    pub trigger: Trigger,
    /// What it does.
    pub action: Action,
    /// Only this process.
    pub pid: Option<u32>,
    /// Only this core.
    pub core: Option<u32>,
    /// When it acts.
    pub stage: Stage,
    /// The instruction is skipped.
    pub short_circuit: bool,
}

impl Event {
    /// True when the event wants what was seen.
    #[must_use]
    pub(super) fn wants(&self, sight: &Sight, post: bool) -> bool {
        if !self.enabled || !self.stage.covers(post) {
            return false;
        }
        let any = |wanted: &Option<u64>, seen: u64| wanted.is_none_or(|wanted| wanted == seen);
        match (&self.trigger, sight) {
            (Trigger::Hook(address), Sight::Execute { address: seen, .. }) => address == seen,
            (Trigger::Mode { user, kernel }, Sight::Execute { user: seen, .. }) => {
                if *seen {
                    *user
                } else {
                    *kernel
                }
            }
            (Trigger::Trace, Sight::Execute { .. })
            | (Trigger::Sysret, Sight::Sysret)
            | (Trigger::Tsc, Sight::Tsc)
            | (Trigger::Pmc, Sight::Pmc)
            | (Trigger::Debug, Sight::Debug(_))
            | (Trigger::Vmcall, Sight::Vmcall)
            | (Trigger::Xsetbv, Sight::Xsetbv) => true,
            (
                Trigger::Monitor {
                    from,
                    to,
                    read,
                    write,
                    execute,
                    physical,
                },
                Sight::Access {
                    address,
                    physical: seen_physical,
                    size,
                    kind,
                },
            ) => {
                let wanted = match kind {
                    super::sight::Access::Read => *read,
                    super::sight::Access::Write => *write,
                    super::sight::Access::Execute => *execute,
                };
                let start = if *physical { *seen_physical } else { Some(*address) };
                wanted && start.is_some_and(|start| start <= *to && start.saturating_add(size - 1) >= *from)
            }
            (Trigger::Syscall(wanted), Sight::Syscall(seen))
            | (Trigger::Cpuid(wanted), Sight::Cpuid(seen))
            | (Trigger::MsrRead(wanted), Sight::MsrRead(seen))
            | (Trigger::MsrWrite(wanted), Sight::MsrWrite(seen))
            | (Trigger::PortIn(wanted), Sight::PortIn(seen))
            | (Trigger::PortOut(wanted), Sight::PortOut(seen))
            | (Trigger::Exception(wanted), Sight::Exception(seen))
            | (Trigger::Interrupt(wanted), Sight::Interrupt(seen)) => any(wanted, *seen),
            (Trigger::ControlWrite(wanted), Sight::ControlWrite(seen)) => wanted == seen,
            _ => false,
        }
    }
}

/// All events of the session.
#[derive(Default)]
pub struct Events {
    list: Vec<Event>,
    next_id: u64,
    /// Cleared in debugger mode: they go when the debuggee next runs.
    cleared: Vec<u64>,
    /// An event was registered in this session.
    pub initialized: bool,
    /// `events sc on` was asked for the event that stopped the debuggee.
    pub short_circuit_next: bool,
}

/// What `events e|d|c` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Switch on.
    Enable,
    /// Switch off.
    Disable,
    /// Remove.
    Clear,
}

impl Events {
    /// Registers an event; its number is given here.
    pub fn add(&mut self, mut event: Event) -> u64 {
        event.id = self.next_id;
        self.next_id += 1;
        self.initialized = true;
        self.list.push(event);
        self.next_id - 1
    }

    /// All of them, by number.
    #[must_use]
    pub fn all(&self) -> &[Event] {
        &self.list
    }

    /// True when nothing can trigger.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.list.iter().all(|event| !event.enabled)
    }

    /// Changes one event, or all of them. With `later`, a clear only disables now.
    ///
    /// # Errors
    /// The code of an unknown number.
    pub fn change(&mut self, id: Option<u64>, change: Change, later: bool) -> Result<(), u32> {
        let hit = |event: &Event| id.is_none_or(|id| event.id == id);
        if !self.list.iter().any(hit) {
            return Err(code::EVENT_NOT_FOUND);
        }
        for event in self.list.iter_mut().filter(|event| hit(event)) {
            event.enabled = change == Change::Enable;
            if change == Change::Clear {
                self.cleared.push(event.id);
            }
        }
        if change == Change::Clear && !later {
            self.finish_clearing();
        }
        if change == Change::Clear {
            // The list of the debugger side forgets them at once in both modes.
            let cleared = self.cleared.clone();
            self.list.retain(|event| !cleared.contains(&event.id));
        }
        Ok(())
    }

    /// Really removes what was cleared while the debuggee was halted.
    pub fn finish_clearing(&mut self) {
        let cleared = std::mem::take(&mut self.cleared);
        self.list.retain(|event| !cleared.contains(&event.id));
    }

    /// Forgets everything, numbers included.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}
