//! Ctrl+C and Ctrl+Break: the only way to break into a running debuggee.

use crate::session::Shared;
use std::sync::{Arc, Once, Weak};

#[cfg_attr(unix, path = "interrupt/unix.rs")]
#[cfg_attr(windows, path = "interrupt/windows.rs")]
mod platform;

/// Takes the process's interrupts over for `shared`, once. It happens in the first command.
pub(crate) fn install(shared: &Arc<Shared>) {
    static ONCE: Once = Once::new();
    let weak = Arc::downgrade(shared);
    ONCE.call_once(|| platform::install(weak));
}

/// What an interrupt does. A debuggee that is halted already is left alone; a local session stops
/// printing the kernel's text.
fn interrupted(shared: &Weak<Shared>) {
    let Some(shared) = shared.upgrade() else { return };
    let (serial, loaded, unpause) = {
        let state = shared.lock();
        (state.is_serial(), state.loaded.kd, state.settings.auto_unpause)
    };
    if serial {
        shared.request_break_in();
    } else if loaded {
        shared.lock().suppressed = true;
        let mode = if unpause { "enabled" } else { "disabled" };
        shared.console.say(&format!(
            "\npausing...\nauto-unpause mode is {mode}; 'settings autounpause' changes it, 'g' continues\n\n"
        ));
        shared.console.say("HyperDbg> ");
    }
}
