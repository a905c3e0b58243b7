//! The console control handler: it swallows Ctrl+C, Ctrl+Break and the closing of the console.

use crate::session::Shared;
use std::sync::{OnceLock, Weak};
use windows_sys::Win32::Foundation::{FALSE, TRUE};
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

static SESSION: OnceLock<Weak<Shared>> = OnceLock::new();

pub(super) fn install(shared: Weak<Shared>) {
    // The caller installs once only.
    let _ = SESSION.set(shared);
    // SAFETY: the handler is a plain function that lives as long as the module.
    unsafe { SetConsoleCtrlHandler(Some(handler), TRUE) };
}

unsafe extern "system" fn handler(event: u32) -> BOOL {
    match event {
        CTRL_C_EVENT | CTRL_BREAK_EVENT => {
            // A panic must not leave the handler.
            let _ = std::panic::catch_unwind(|| SESSION.get().map(super::interrupted));
            TRUE
        }
        CTRL_CLOSE_EVENT => TRUE,
        _ => FALSE,
    }
}
