//! The worker's console: the library is broken into by a console control event, and such an event goes to everybody
//! who shares the console. So the worker has one of its own, without a window.

use std::io;

use windows_sys::Win32::System::Console::{
    AllocConsole, CTRL_BREAK_EVENT, CTRL_C_EVENT, GenerateConsoleCtrlEvent, GetConsoleCP, GetConsoleWindow,
    GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetConsoleCtrlHandler, SetStdHandle,
};
use windows_sys::Win32::System::Threading::GetCurrentProcessId;
use windows_sys::Win32::UI::WindowsAndMessaging::{SW_HIDE, ShowWindow};
use windows_sys::core::BOOL;

/// Makes sure of the console, and keeps the default handler, which ends the process, from seeing break requests before
/// the library has installed its own: the handler that was installed last is asked first.
pub(super) fn settle() -> io::Result<()> {
    unsafe extern "system" fn ignore(event: u32) -> BOOL {
        BOOL::from(event == CTRL_BREAK_EVENT || event == CTRL_C_EVENT)
    }
    // The supervisor asks for a console without a window; started in another way, there may be none.
    // SAFETY: no pointers.
    if unsafe { GetConsoleCP() } == 0 {
        allocate();
    }
    // A process that heads a group starts deaf to Ctrl+C.
    // SAFETY: no handler, no pointers.
    unsafe { SetConsoleCtrlHandler(None, 0) };
    // SAFETY: the handler is a function of this program, which stays.
    match unsafe { SetConsoleCtrlHandler(Some(ignore), 1) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Makes a console and hides it. The standard handles stay the supervisor's pipes: nothing that is printed may get
/// lost in a window that nobody sees. Without a console the worker works, except that it cannot be broken into.
fn allocate() {
    let names = [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE];
    // SAFETY: no pointers.
    let handles = names.map(|name| unsafe { GetStdHandle(name) });
    // SAFETY: no pointers.
    if unsafe { AllocConsole() } == 0 {
        return;
    }
    // SAFETY: a window of this process, or null, which is refused.
    unsafe { ShowWindow(GetConsoleWindow(), SW_HIDE) };
    for (name, handle) in names.into_iter().zip(handles) {
        // SAFETY: the handle was this one's before.
        unsafe { SetStdHandle(name, handle) };
    }
}

/// Sends a break to this worker's own process group.
pub(in crate::engine) fn interrupt() -> io::Result<()> {
    // SAFETY: no pointers; the worker was started as the head of a group that has its process id.
    if unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, GetCurrentProcessId()) } != 0 {
        return Ok(());
    }
    // A console that knows no break events (wine's) may know Ctrl+C, which the library takes for the same. That one
    // cannot be aimed at a group, but nobody shares this console except what the library started in it.
    // SAFETY: no pointers.
    match unsafe { GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
