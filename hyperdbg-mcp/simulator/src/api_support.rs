//! What commands and exports share beyond the session itself.

use crate::errors::{self, code};
use crate::say;
use crate::session::Session;

/// Switches transparent mode. The result is printed.
pub(crate) fn set_hidden(session: &Session, on: bool) -> bool {
    if !session.needs_vmm() {
        return false;
    }
    let mut state = session.lock();
    let changed = state.hidden != on;
    state.hidden = on;
    drop(state);
    if changed {
        say!(
            session.console,
            "transparent mode is {}\n",
            if on { "enabled" } else { "disabled" }
        );
    } else {
        errors::show(
            &session.console,
            if on {
                code::ALREADY_HIDDEN
            } else {
                code::NOT_HIDDEN
            },
        );
    }
    changed
}
