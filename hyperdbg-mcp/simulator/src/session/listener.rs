//! The thread that runs the machine and reports what happens, as the real library's serial listener
//! and packet reader do: its text arrives whenever it arrives.

use super::{Link, Run, Session, Shared};
use crate::say;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

/// How long the machine's clock sleeps when every core waits. It keeps a running debuggee from
/// taking a whole host core; nothing in the machine can see it.
const CLOCK_PERIOD: Duration = Duration::from_millis(1);

/// Starts the thread. It ends when the session is dropped.
pub(super) fn start(shared: &Arc<Shared>) {
    let weak = Arc::downgrade(shared);
    let spawned = std::thread::Builder::new()
        .name("simulator-listener".into())
        .spawn(move || listen(&weak));
    if spawned.is_err() {
        shared
            .console
            .say("err, the listener thread cannot be started: the debuggee will never run\n");
    }
}

fn listen(weak: &Weak<Shared>) {
    while let Some(shared) = weak.upgrade() {
        if shared.closing.load(Ordering::SeqCst) {
            return;
        }
        shared.serve();
    }
}

impl Shared {
    /// Waits for work, or does one slice of it.
    fn serve(&self) {
        let mut state = self.lock();
        if !state.is_active() {
            let period = Duration::from_millis(200);
            let waited = self
                .changed
                .wait_timeout(state, period)
                .unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            if !state.is_active() {
                return;
            }
        }
        let report = state.slice(self.break_in.load(Ordering::SeqCst));
        let quiet = state.suppressed;
        drop(state);
        if !quiet {
            for message in &report.messages {
                self.console.say_bytes(message);
            }
        }
        if let Some(stop) = report.stop {
            for message in &stop {
                self.console.say(message);
            }
            let mut state = self.lock();
            state.stops += 1;
            drop(state);
            self.break_in.store(false, Ordering::SeqCst);
            self.notify();
        } else if report.idle {
            let state = self.lock();
            if !self.break_in.load(Ordering::SeqCst) && !self.closing.load(Ordering::SeqCst) {
                drop(self.changed.wait_timeout(state, CLOCK_PERIOD));
            }
        }
    }

    /// Asks the running debuggee to stop; nothing happens when it is halted. Returns at once.
    pub fn request_break_in(&self) -> bool {
        if self.stepping_loop.swap(false, Ordering::SeqCst) {
            return false;
        }
        let state = self.lock();
        let running = state.is_serial() && state.run.is_some();
        if running {
            self.break_in.store(true, Ordering::SeqCst);
            self.notify();
        }
        running
    }

    /// Sets the debuggee going and waits for its next stop. False when it is not halted.
    pub fn resume(&self, run: Run) -> bool {
        let mut state = self.lock();
        if !state.is_serial() || state.run.is_some() {
            return false;
        }
        let before = state.stops;
        state.events.finish_clearing();
        state.first_core = Some(state.core);
        state.run = Some(run);
        self.notify();
        while state.stops == before && state.is_serial() {
            state = self.wait(state);
        }
        true
    }
}

impl Session {
    /// `g` in debugger mode: says that the debuggee runs, and blocks until it stops.
    pub fn continue_debuggee(&self) {
        {
            let state = self.lock();
            if !state.is_serial() || state.run.is_some() {
                return;
            }
        }
        say!(self.console, "debuggee is running...\n");
        self.resume(Run::Continue);
    }

    /// Connects to the debuggee. With `pause` it is halted afterwards; without, the call blocks
    /// until the first stop.
    pub fn connect_serial(&self, pause: bool) -> bool {
        {
            let state = self.lock();
            if state.link != Link::None {
                return false;
            }
        }
        self.start_listener();
        say!(self.console, "waiting for debuggee to connect...\n");
        say!(
            self.console,
            "connected to debuggee {}\n",
            crate::machine::layout::OS_NAME
        );
        say!(self.console, "getting symbol details...\n");
        say!(self.console, "press CTRL+C to pause the debuggee\n");
        let mut state = self.lock();
        state.link = Link::Serial;
        state.symbols = true;
        state.core = 0;
        if pause {
            let stop = state.current_instruction(0);
            drop(state);
            for message in &stop {
                self.console.say(message);
            }
        } else {
            drop(state);
            self.continue_debuggee();
        }
        true
    }

    /// Leaves the debuggee; wakes whoever waits for it. False when there is none.
    pub fn close_serial(&self) -> bool {
        let mut state = self.lock();
        if !state.is_serial() {
            return false;
        }
        state.link = Link::None;
        state.run = None;
        state.awaited = None;
        state.breakpoints.clear();
        state.events.reset();
        drop(state);
        say!(self.console, "unloading debugger vmm module on debuggee...\n");
        self.notify();
        true
    }
}
