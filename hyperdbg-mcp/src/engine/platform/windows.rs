//! Windows: named pipes, a console of the worker's own, and the loader.

mod console;
mod library;

pub(in crate::engine) use console::interrupt;
pub(in crate::engine) use library::load;

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;

use windows_sys::Win32::System::Diagnostics::Debug::{
    EXCEPTION_POINTERS, SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SetErrorMode,
    SetUnhandledExceptionFilter,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, TerminateProcess};

use super::{Ends, value};
use crate::engine::tail::Tail;

/// Opens the pipes (`--requests NAME`, `--answers NAME`) and the text tail (`--tail NAME`). One pipe per direction: a
/// synchronous handle serialises its reads and writes.
pub(in crate::engine) fn adopt(arguments: &[OsString]) -> io::Result<Ends<File, File>> {
    let named = |name| {
        value(arguments, name)
            .ok_or_else(|| io::Error::other("a worker is started by its supervisor, not by hand"))
    };
    let tail = match value(arguments, "--tail") {
        Some(name) => {
            let name = name
                .to_str()
                .ok_or_else(|| io::Error::other("--tail takes a name"))?;
            Some(Tail::open(name.to_owned())?)
        }
        None => None,
    };
    Ok(Ends {
        reader: OpenOptions::new().read(true).open(named("--requests")?)?,
        writer: OpenOptions::new().write(true).open(named("--answers")?)?,
        tail,
    })
}

/// Lets a crash end the process instead of asking a person, keeps the loader out of folders that others write to, and
/// makes break requests possible.
pub(in crate::engine) fn settle() -> io::Result<()> {
    // SAFETY: no pointers.
    unsafe { SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX) };
    // SAFETY: the filter is a function of this program, which stays.
    unsafe { SetUnhandledExceptionFilter(Some(end_with_code)) };
    library::settle()?;
    console::settle()
}

/// Ends the process with the code of the exception that nothing caught: at once, with no debugger asked, so that the
/// supervisor can tell what happened.
unsafe extern "system" fn end_with_code(exception: *const EXCEPTION_POINTERS) -> i32 {
    /// What is told when the system does not say.
    const UNKNOWN: u32 = 0xc000_0025;
    // SAFETY: the system passes pointers that are null or live through the call.
    let code = unsafe {
        exception
            .as_ref()
            .and_then(|exception| exception.ExceptionRecord.as_ref())
            .map_or(UNKNOWN, |record| record.ExceptionCode.cast_unsigned())
    };
    // SAFETY: the handle is the pseudo handle of this process.
    unsafe { TerminateProcess(GetCurrentProcess(), code) };
    std::process::abort()
}

/// Ends the process without running what the library registered for its end: that may wait for ever.
pub(in crate::engine) fn exit_now(code: u8) -> ! {
    // SAFETY: the handle is the pseudo handle of this process.
    unsafe { TerminateProcess(GetCurrentProcess(), code.into()) };
    // Not reached: a process that terminates itself does not come back.
    std::process::abort()
}
