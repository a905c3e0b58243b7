//! What a worker would inherit without being meant to.
//!
//! Handles that this program opens are not inheritable, and the standard library makes those for a child's output so for
//! a moment only, one child at a time. What remains is what came inheritable from the program's starter.

use std::ptr::without_provenance_mut;

use windows_sys::Win32::Foundation::{
    GetHandleInformation, HANDLE, HANDLE_FLAG_INHERIT, INVALID_HANDLE_VALUE, SetHandleInformation,
};
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
};

/// Numbers of handles are multiples of this.
const STEP: usize = 4;
/// Numbers are given out from below and used again: after so many that mean nothing there is none.
const UNUSED: usize = 4096;

/// Keeps every handle that this process has to itself. For its first moment: a child that another thread is starting
/// would lose what it is meant to get.
pub(crate) fn keep_handles() {
    let (mut number, mut unused) = (0, 0);
    while unused < UNUSED {
        number += STEP;
        let handle: HANDLE = without_provenance_mut(number);
        let mut flags = 0;
        // SAFETY: a place for the flags; a number that means nothing is refused.
        if unsafe { GetHandleInformation(handle, &raw mut flags) } == 0 {
            unused += 1;
            continue;
        }
        unused = 0;
        if flags & HANDLE_FLAG_INHERIT != 0 {
            // SAFETY: no pointers; the handle keeps its meaning for this process.
            unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) };
        }
    }
}

/// Keeps this process's own standard handles to itself. They came inheritable from its starter; a worker that holds
/// them could hold the client's pipes open after the server is gone.
pub(crate) fn keep_standard_handles() {
    for name in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: no pointers.
        let handle = unsafe { GetStdHandle(name) };
        if !handle.is_null() && handle != INVALID_HANDLE_VALUE {
            // A handle that is not one, or that cannot be changed, is inherited by nobody either.
            // SAFETY: no pointers; the handle keeps its meaning for this process.
            unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_inherits_no_standard_handle() {
        keep_standard_handles();
        for name in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
            let mut flags = 0;
            // SAFETY: a place for the flags; a handle that is none is refused.
            let known = unsafe { GetHandleInformation(GetStdHandle(name), &raw mut flags) } != 0;
            assert!(!known || flags & HANDLE_FLAG_INHERIT == 0);
        }
    }
}
