//! Windows: named pipes, console control events.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;

use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, GenerateConsoleCtrlEvent, SetConsoleCtrlHandler,
};
use windows_sys::Win32::System::Diagnostics::Debug::{
    SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SetErrorMode,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetCurrentProcessId, TerminateProcess};
use windows_sys::core::BOOL;

use super::{Ends, value};

/// Opens the pipes (`--requests NAME`, `--answers NAME`). One per direction: a synchronous handle serialises its reads
/// and writes.
pub(in crate::engine) fn adopt(arguments: &[OsString]) -> io::Result<Ends<File, File>> {
    let pipe = |name| {
        value(arguments, name)
            .ok_or_else(|| io::Error::other("a worker is started by its supervisor, not by hand"))
    };
    Ok(Ends {
        reader: OpenOptions::new().read(true).open(pipe("--requests")?)?,
        writer: OpenOptions::new().write(true).open(pipe("--answers")?)?,
        tail: None,
    })
}

/// Lets a crash end the process instead of asking a person, and keeps the default console handler, which ends the
/// process, from seeing break requests before the library has installed its own (the last one installed is asked first).
pub(in crate::engine) fn settle() -> io::Result<()> {
    unsafe extern "system" fn ignore(event: u32) -> BOOL {
        BOOL::from(event == CTRL_BREAK_EVENT || event == CTRL_C_EVENT)
    }
    // SAFETY: no pointers.
    unsafe { SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX) };
    // SAFETY: the handler is a function of this program, which stays.
    match unsafe { SetConsoleCtrlHandler(Some(ignore), 1) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Sends a break to this worker's own process group.
pub(in crate::engine) fn interrupt() -> io::Result<()> {
    // SAFETY: no pointers; the worker was started as the head of a group that has its process id.
    match unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, GetCurrentProcessId()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Ends the process without running what the library registered for its end: that may wait for ever.
pub(in crate::engine) fn exit_now(code: u8) -> ! {
    // SAFETY: the handle is the pseudo handle of this process.
    unsafe { TerminateProcess(GetCurrentProcess(), code.into()) };
    // Not reached: a process that terminates itself does not come back.
    std::process::abort()
}
