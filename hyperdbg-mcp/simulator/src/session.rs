//! One debugger session: what is connected, what runs, what is set.
//!
//! The exports share one global session, as the real library's state is global; tests make their own.

pub mod breakpoint;
mod evaluate;
pub mod event;
mod lifecycle;
mod listener;
pub mod memory;
pub mod peer;
mod sight;
mod slice;
mod target;
mod user;

use crate::console::{Console, Sink};
use crate::disassembly::{Style, Syntax};
use crate::fault::{Fault, Faults};
use crate::hostile;
use crate::machine::{self, Machine};
use crate::script::Globals;
use crate::tokens::MultiLine;
use breakpoint::Breakpoints;
use event::Events;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError};

pub use listener::{ABSENT_PIPE, SILENT_PORT};
pub use slice::Run;
pub use target::Place;
pub use user::{UserRun, UserTarget};

/// What the session is connected to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// Nothing.
    #[default]
    None,
    /// This machine, in VMI mode.
    Local,
    /// A debuggee over a serial line or a pipe: debugger mode.
    Serial,
    /// A remote HyperDbg over TCP.
    Tcp {
        /// Address.
        ip: String,
        /// Port.
        port: String,
    },
}

/// Kernel modules and the service that are loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The driver's service exists.
    pub service: bool,
    /// The debugger module; the driver's device is open.
    pub kd: bool,
    /// The hypervisor.
    pub vmm: bool,
    /// The tracing module.
    pub trace: bool,
}

/// What the `settings` command changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Continue printing when an event is registered.
    pub auto_unpause: bool,
    /// Flush the buffers when events are cleared.
    pub auto_flush: bool,
    /// Show names instead of addresses.
    pub address_conversion: bool,
    /// Assembly syntax.
    pub syntax: Syntax,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            auto_unpause: true,
            auto_flush: false,
            address_conversion: true,
            syntax: Syntax::Intel,
        }
    }
}

/// Tracing hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracing {
    /// Branch records are taken.
    pub lbr: bool,
    /// Processor trace is on.
    pub pt: bool,
    /// System management interrupts so far.
    pub smi_count: u64,
    /// Branches by core, oldest first.
    pub branches: Vec<Vec<(u64, u64)>>,
}

/// Everything that changes. Guarded by one lock.
pub struct State {
    /// The machine.
    pub machine: Machine,
    /// The connection.
    pub link: Link,
    /// What is loaded on this machine.
    pub loaded: Loaded,
    /// What the debuggee does now; `None` while it is halted.
    pub run: Option<Run>,
    /// The core that the debugger looks at.
    pub core: usize,
    /// Stops reported so far.
    pub stops: u64,
    /// Breakpoints.
    pub breakpoints: Breakpoints,
    /// Events.
    pub events: Events,
    /// Settings.
    pub settings: Settings,
    /// Symbols are loaded.
    pub symbols: bool,
    /// Symbol server, when configured.
    pub symbol_path: Option<String>,
    /// Script variables.
    pub globals: Globals,
    /// Text of the kernel is thrown away (`pause` in VMI mode).
    pub suppressed: bool,
    /// A process or thread for which the next run stops.
    pub awaited: Option<Awaited>,
    /// The process under the user debugger.
    pub user: Option<UserTarget>,
    /// Tracing hardware.
    pub tracing: Tracing,
    /// Transparent mode is on.
    pub hidden: bool,
    /// Names of event outputs and whether they are open.
    pub outputs: Vec<(String, String, bool)>,
    /// A custom driver path was set.
    pub driver_path: Option<(String, String)>,
    /// Open braces and quotes of the multi-line check.
    pub multi_line: MultiLine,
    /// The last command repeats on an empty line.
    pub repeat: bool,
    /// The machine waits for its clock before it goes on.
    pub idle: bool,
    /// The core that the debuggee was resumed on, until it has executed its first instruction.
    first_core: Option<usize>,
}

/// A switch that was armed with `.process` or `.thread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// This process.
    Process(u32),
    /// This thread.
    Thread(u32),
}

impl State {
    fn new() -> Self {
        /// The machine as it is before anybody touches it: every session starts with the same one.
        static BOOTED: OnceLock<Machine> = OnceLock::new();
        // The listings are built in and `the_machine_boots_and_both_cores_wait_in_the_idle_loop`
        // proves that they assemble.
        #[allow(clippy::expect_used)]
        let booted = BOOTED.get_or_init(|| machine::boot().expect("the built-in machine boots"));
        let machine = booted.clone();
        let branches = vec![Vec::new(); machine.cores.len()];
        Self {
            machine,
            link: Link::None,
            loaded: Loaded::default(),
            run: None,
            core: 0,
            stops: 0,
            breakpoints: Breakpoints::default(),
            events: Events::default(),
            settings: Settings::default(),
            symbols: false,
            symbol_path: None,
            globals: Globals::new(),
            suppressed: false,
            awaited: None,
            user: None,
            tracing: Tracing {
                branches,
                ..Tracing::default()
            },
            hidden: false,
            outputs: Vec::new(),
            driver_path: None,
            multi_line: MultiLine::default(),
            repeat: false,
            idle: false,
            first_core: None,
        }
    }

    /// In debugger mode.
    #[must_use]
    pub fn is_serial(&self) -> bool {
        self.link == Link::Serial
    }

    /// A user-debugged process is active and halted.
    #[must_use]
    pub fn is_user_paused(&self) -> bool {
        self.user.as_ref().is_some_and(|user| user.paused)
    }

    /// The core whose registers commands show: the user debugger's own or the debuggee's current.
    #[must_use]
    pub fn view_core(&self) -> usize {
        self.user.as_ref().map_or(self.core, |user| user.core)
    }

    /// How instructions are printed now.
    #[must_use]
    pub fn style(&self, bitness: u32) -> Style<'_> {
        let named = self.symbols && self.settings.address_conversion;
        Style {
            syntax: self.settings.syntax,
            symbols: named.then_some(&self.machine.symbols),
            bitness,
        }
    }

    /// The address of a symbol, when symbols are loaded.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<u64> {
        if !self.symbols {
            return None;
        }
        self.machine.symbols.find(name).map(|symbol| symbol.address)
    }
}

/// What the threads of a session share.
pub struct Shared {
    /// Text goes here.
    pub console: Console,
    /// Misbehaviour that was asked for.
    pub faults: Faults,
    state: Mutex<State>,
    changed: Condvar,
    break_in: AtomicBool,
    /// The session at the other end of a TCP connection.
    peer: Mutex<Option<Arc<Session>>>,
    /// A loop of single steps is under way; a break-in only ends the loop.
    pub stepping_loop: AtomicBool,
    closing: AtomicBool,
}

impl Shared {
    /// Locks the state. A panic elsewhere does not make it unusable.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the debuggee is halted, as every request to a running debuggee does.
    pub fn lock_halted(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while state.is_serial() && state.run.is_some() {
            state = self.wait(state);
        }
        state
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes everyone who waits for a change.
    pub fn notify(&self) {
        self.changed.notify_all();
    }
}

/// A session. Dropping it ends its threads.
pub struct Session {
    shared: Arc<Shared>,
    listener: Once,
}

impl std::ops::Deref for Session {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // The lock orders the flag before a listener that is about to wait.
        drop(self.lock());
        self.notify();
    }
}

impl Session {
    /// A session with nothing attached. Its listener thread starts with the first connection, so that it
    /// inherits the signal mask of the thread that ran the first command.
    #[must_use]
    pub fn new(sink: Sink, faults: Faults) -> Self {
        let mut state = State::new();
        if faults.is_armed(Fault::Hostile, "") {
            hostile::dress(&mut state.machine);
        }
        let shared = Arc::new(Shared {
            console: Console::default(),
            faults,
            state: Mutex::new(state),
            changed: Condvar::new(),
            break_in: AtomicBool::new(false),
            peer: Mutex::new(None),
            stepping_loop: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        });
        shared.console.redirect(sink);
        Self {
            shared,
            listener: Once::new(),
        }
    }

    /// Starts the listener thread, once.
    fn start_listener(&self) {
        self.listener.call_once(|| listener::start(&self.shared));
    }

    /// The part that other threads may hold on to.
    #[must_use]
    pub fn share(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }
}

#[cfg(test)]
pub(crate) mod tests;
