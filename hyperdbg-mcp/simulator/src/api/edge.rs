//! The edge between C and the session: the global session, panics, strings and results.

use crate::console::{Sink, decode};
use crate::fault::{Fault, Faults};
use crate::say;
use crate::session::Session;
use core::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The session behind the exports.
pub fn global() -> &'static Session {
    static SESSION: OnceLock<Session> = OnceLock::new();
    SESSION.get_or_init(|| Session::new(Sink::Stdout, Faults::from_environment()))
}

/// Calls `body` for the export `name`: faults act first, and a panic becomes `failed`.
pub(super) fn call<T>(name: &str, failed: T, body: impl FnOnce(&'static Session) -> T) -> T {
    let result = catch_unwind(AssertUnwindSafe(|| {
        let session = global();
        session.share().misbehave_in_export(name);
        body(session)
    }));
    result.unwrap_or_else(|_| {
        let _ = catch_unwind(|| say!(global().console, "err, the simulator failed inside {name}\n"));
        failed
    })
}

/// As [`call`], for a typed export: the fault `wrong-return` makes it give `success` without doing
/// anything.
pub(super) fn typed<T>(name: &str, failed: T, success: T, body: impl FnOnce(&'static Session) -> T) -> T {
    call(name, failed, |session| {
        if session.faults.is_armed(Fault::WrongReturn, name) {
            success
        } else {
            body(session)
        }
    })
}

/// The text behind a C string. Null aborts, as it does in the real library.
///
/// # Safety
/// A pointer that is not null points to a NUL-terminated string.
pub(super) unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        std::process::abort();
    }
    // SAFETY: not null, and the caller promises a terminated string.
    decode(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Stores `value`. A null pointer is written through, as the real library does: the process dies.
///
/// # Safety
/// `target` points to room for a `T`, which need not be aligned.
pub(super) unsafe fn put<T>(target: *mut T, value: T) {
    if target.is_null() {
        std::process::abort();
    }
    // SAFETY: not null, and the caller promises the room.
    unsafe { target.write_unaligned(value) }
}

/// Changes the record behind `target`.
///
/// # Safety
/// `target` points to a `T`, which need not be aligned.
pub(super) unsafe fn update<T: Copy>(target: *mut T, change: impl FnOnce(&mut T)) {
    if target.is_null() {
        std::process::abort();
    }
    // SAFETY: not null, and the caller promises a record there.
    unsafe {
        let mut value = target.read_unaligned();
        change(&mut value);
        target.write_unaligned(value);
    }
}
