//! Process handles.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::WAIT_TIMEOUT;
use windows_sys::Win32::System::Threading::{
    OpenProcess, PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, TerminateProcess, WaitForSingleObject,
};

/// Exit code of what is killed here.
const KILLED: u32 = 9;

fn open(pid: u32, rights: u32) -> Option<OwnedHandle> {
    // SAFETY: no pointers.
    let handle = unsafe { OpenProcess(rights, 0, pid) };
    // SAFETY: a fresh handle that nothing else owns.
    (!handle.is_null()).then(|| unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Whether a process runs.
pub fn exists(pid: u32) -> bool {
    // SAFETY: the handle lives through the call.
    open(pid, PROCESS_SYNCHRONIZE)
        .is_some_and(|process| unsafe { WaitForSingleObject(process.as_raw_handle(), 0) } == WAIT_TIMEOUT)
}

/// Kills a process.
pub fn kill(pid: u32) {
    let process = open(pid, PROCESS_TERMINATE).expect("the process runs");
    // SAFETY: the handle lives through the call.
    assert_ne!(unsafe { TerminateProcess(process.as_raw_handle(), KILLED) }, 0);
}
