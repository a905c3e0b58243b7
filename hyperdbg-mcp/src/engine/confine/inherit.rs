//! What a worker would inherit without being meant to.

use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, INVALID_HANDLE_VALUE, SetHandleInformation};
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
};

/// Keeps this process's own standard handles to itself. They came inheritable from its starter; a worker that holds
/// them could hold the client's pipes open after the server is gone. Handles that this program opens itself are not
/// inheritable to begin with.
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
    use windows_sys::Win32::Foundation::GetHandleInformation;

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
