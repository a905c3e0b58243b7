//! The end of a process that is no child of the test.

/// Kills a process without asking it.
#[cfg(unix)]
pub fn kill(pid: u64) {
    use nix::sys::signal::Signal;
    let pid = i32::try_from(pid).expect("a process id");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL)
        .expect("a process can be killed");
}

/// Kills a process without asking it.
#[cfg(windows)]
pub fn kill(pid: u64) {
    use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
    use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_TERMINATE, TerminateProcess};
    let pid = u32::try_from(pid).expect("a process id");
    // SAFETY: no pointers.
    let handle = unsafe { OpenProcess(PROCESS_TERMINATE, 0, pid) };
    assert!(!handle.is_null(), "process {pid} is not there");
    // SAFETY: a fresh handle that nothing else owns.
    let process = unsafe { OwnedHandle::from_raw_handle(handle) };
    // SAFETY: the handle lives through the call.
    let killed = unsafe { TerminateProcess(process.as_raw_handle(), 9) };
    assert_ne!(killed, 0, "process {pid} cannot be killed");
}
