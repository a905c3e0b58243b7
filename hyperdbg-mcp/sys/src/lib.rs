//! PROVISIONAL: the table of exports in the shape that the generator emits, for two functions.
#![allow(missing_docs)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

#[derive(Default)]
pub struct Exports {
    pub hyperdbg_u_run_command: Option<unsafe extern "C" fn(*mut c_char) -> c_int>,
    pub hyperdbg_u_set_text_message_callback: Option<unsafe extern "C" fn(*mut c_void)>,
}

impl Exports {
    pub const SYMBOLS: [&str; 2] = ["hyperdbg_u_run_command", "hyperdbg_u_set_text_message_callback"];

    pub fn load(mut lookup: impl FnMut(&CStr) -> Option<NonNull<c_void>>) -> Self {
        // SAFETY: each symbol has the type of its field, by the library's header.
        unsafe {
            Self {
                hyperdbg_u_run_command: lookup(c"hyperdbg_u_run_command").map(|p| std::mem::transmute(p)),
                hyperdbg_u_set_text_message_callback: lookup(c"hyperdbg_u_set_text_message_callback")
                    .map(|p| std::mem::transmute(p)),
            }
        }
    }

    pub fn missing(&self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        if self.hyperdbg_u_run_command.is_none() {
            missing.push("hyperdbg_u_run_command");
        }
        if self.hyperdbg_u_set_text_message_callback.is_none() {
            missing.push("hyperdbg_u_set_text_message_callback");
        }
        missing
    }
}
