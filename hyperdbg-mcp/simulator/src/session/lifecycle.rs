//! Loading and unloading on this machine. 0 is success and 1 failure, as in the exports.

use super::{Link, Loaded, Session};
use crate::say;

const KD_MISSING: &str = "the kd (kernel debugger) module is not loaded; 'load kd' loads it\n";
const VMM_MISSING: &str = "the vmm (virtualization) module is not loaded; 'load vmm' loads it\n";
const TRACE_MISSING: &str = "the trace (hypertrace) module is not loaded; 'load trace' loads it\n";

impl Session {
    /// Creates the driver's service; an existing one is made anew.
    pub fn install_driver(&self) -> i32 {
        self.lock().loaded.service = true;
        0
    }

    /// Removes the service.
    pub fn uninstall_driver(&self) -> i32 {
        let mut state = self.lock();
        if !state.loaded.service {
            drop(state);
            say!(
                self.console,
                "err, the service of the driver does not exist (424)\n"
            );
            return 1;
        }
        state.loaded.service = false;
        0
    }

    /// Starts the service.
    pub fn start_driver(&self) -> i32 {
        if self.lock().loaded.service {
            return 0;
        }
        say!(
            self.console,
            "err, the service of the driver does not exist (424)\n"
        );
        1
    }

    /// Stops the service.
    pub fn stop_driver(&self) -> i32 {
        if self.lock().loaded.service {
            return 0;
        }
        say!(
            self.console,
            "warning, the driver cannot be stopped: no such service (424)\n"
        );
        1
    }

    /// Opens the driver. Nothing happens when it is open.
    pub fn load_kd(&self) -> i32 {
        let mut state = self.lock();
        if state.loaded.kd {
            return 0;
        }
        if !state.loaded.service {
            drop(state);
            say!(self.console, "err, CreateFile failed (2)\n");
            return 1;
        }
        state.loaded.kd = true;
        0
    }

    /// Virtualizes every core.
    pub fn load_vmm(&self) -> i32 {
        let loaded = self.lock().loaded;
        if loaded.vmm {
            return 0;
        }
        if loaded.trace {
            say!(
                self.console,
                "err, unload the trace module before loading the vmm module\n"
            );
            return 1;
        }
        say!(
            self.console,
            "current processor vendor is : {}\n",
            crate::machine::cpuid::VENDOR
        );
        say!(self.console, "virtualization technology is vt-x\n");
        say!(self.console, "vmx operation is supported by your processor\n");
        if self.load_kd() != 0 {
            return 1;
        }
        self.start_listener();
        let mut state = self.lock();
        state.loaded.vmm = true;
        state.symbols = true;
        0
    }

    /// Loads the tracing module.
    pub fn load_trace(&self) -> i32 {
        if self.load_kd() != 0 {
            return 1;
        }
        self.lock().loaded.trace = true;
        0
    }

    /// Everything.
    pub fn load_all(&self) -> i32 {
        i32::from(self.load_vmm() != 0 || self.load_trace() != 0)
    }

    /// Devirtualizes; the trace module goes first.
    pub fn unload_vmm(&self) -> i32 {
        let loaded = self.lock().loaded;
        if !loaded.vmm {
            say!(self.console, "{VMM_MISSING}");
            return 1;
        }
        say!(self.console, "start terminating vmm...\n");
        if loaded.trace {
            say!(
                self.console,
                "the trace module is loaded and will be unloaded first\n"
            );
            self.unload_trace();
        }
        let mut state = self.lock();
        state.loaded.vmm = false;
        state.events.reset();
        state.user = None;
        drop(state);
        say!(self.console, "the hypervisor is off\n");
        0
    }

    /// Unloads the tracing module.
    pub fn unload_trace(&self) -> i32 {
        let mut state = self.lock();
        if !state.loaded.trace {
            drop(state);
            say!(self.console, "{TRACE_MISSING}");
            return 1;
        }
        state.loaded.trace = false;
        state.tracing.lbr = false;
        state.tracing.pt = false;
        drop(state);
        say!(self.console, "start terminating trace module...\n");
        say!(self.console, "the trace module is unloaded!\n");
        0
    }

    /// Closes the driver.
    pub fn unload_kd(&self) -> i32 {
        let loaded = self.lock().loaded;
        if !loaded.kd {
            say!(self.console, "{KD_MISSING}");
            return 1;
        }
        for (used, name) in [(loaded.trace, "trace"), (loaded.vmm, "vmm")] {
            if used {
                say!(
                    self.console,
                    "err, the {name} module uses the kd module: 'unload {name}' comes first\n"
                );
                return 1;
            }
        }
        self.lock().loaded.kd = false;
        say!(self.console, "the debugger module is unloaded!\n");
        0
    }

    /// Whatever is loaded. With nothing loaded it succeeds without a word.
    pub fn unload_all(&self) -> i32 {
        let mut result = 0;
        if self.lock().loaded.vmm {
            result |= self.unload_vmm();
        }
        if self.lock().loaded.trace {
            result |= self.unload_trace();
        }
        if self.lock().loaded.kd {
            result |= self.unload_kd();
        }
        result
    }

    /// True, silently, when the debugger module is there; otherwise says what is missing.
    pub fn needs_kd(&self) -> bool {
        self.needs(|loaded| loaded.kd, KD_MISSING)
    }

    /// The same for the hypervisor.
    pub fn needs_vmm(&self) -> bool {
        self.needs(|loaded| loaded.vmm, VMM_MISSING)
    }

    /// The same for the tracing module.
    pub fn needs_trace(&self) -> bool {
        self.needs(|loaded| loaded.trace, TRACE_MISSING)
    }

    fn needs(&self, has: fn(&Loaded) -> bool, missing: &str) -> bool {
        let state = self.lock();
        // What a debuggee is asked, it does with its own modules.
        let found = has(&state.loaded) || state.is_serial();
        drop(state);
        if !found {
            self.console.say(missing);
        }
        found
    }

    /// The prompt.
    pub fn show_prompt(&self) {
        let state = self.lock();
        let prompt = match (&state.link, &state.user) {
            (Link::Tcp { ip, port }, _) => format!("[{ip}:{port}] HyperDbg> "),
            (_, Some(user)) => {
                let run = if user.paused { "(paused)" } else { "(running)" };
                format!(
                    "{:x}:{:x} {run} u{}HyperDbg> ",
                    user.pid,
                    user.tid,
                    if user.wow64 { "86" } else { "64" }
                )
            }
            (Link::Serial, None) if state.run.is_some() => "ffffffff: kHyperDbg> ".to_owned(),
            (Link::Serial, None) => format!("{:x}: kHyperDbg> ", state.core),
            _ => "HyperDbg> ".to_owned(),
        };
        drop(state);
        self.console.say(&prompt);
    }
}
