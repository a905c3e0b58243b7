//! The state of a service or driver, as the service manager tells it.

use std::ffi::OsStr;
use std::io;
use std::mem::size_of;
use std::ptr::null;

use windows_sys::Win32::Foundation::ERROR_SERVICE_DOES_NOT_EXIST;
use windows_sys::Win32::System::Services::{
    CloseServiceHandle, OpenSCManagerW, OpenServiceW, QueryServiceStatusEx, SC_HANDLE, SC_MANAGER_CONNECT,
    SC_STATUS_PROCESS_INFO, SERVICE_QUERY_STATUS, SERVICE_STATUS_PROCESS,
};

use super::wide;

struct Handle(SC_HANDLE);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle was opened by this module and is closed once.
        unsafe { CloseServiceHandle(self.0) };
    }
}

/// Asks for the state of the service `name`, in the manager's own numbers (1 stopped, 4 running); `None` when none of
/// that name is registered.
pub(crate) fn service_state(name: &str) -> io::Result<Option<u32>> {
    let name = wide(OsStr::new(name))?;
    // SAFETY: no names stand for this machine and its active database.
    let manager = unsafe { OpenSCManagerW(null(), null(), SC_MANAGER_CONNECT) };
    if manager.is_null() {
        return Err(io::Error::last_os_error());
    }
    let manager = Handle(manager);
    // SAFETY: an open manager, and a name that ends with a NUL.
    let service = unsafe { OpenServiceW(manager.0, name.as_ptr(), SERVICE_QUERY_STATUS) };
    if service.is_null() {
        let error = io::Error::last_os_error();
        return match error.raw_os_error().map(i32::cast_unsigned) {
            Some(ERROR_SERVICE_DOES_NOT_EXIST) => Ok(None),
            _ => Err(error),
        };
    }
    let service = Handle(service);
    let mut status = SERVICE_STATUS_PROCESS::default();
    let size = u32::try_from(size_of::<SERVICE_STATUS_PROCESS>()).map_err(io::Error::other)?;
    let mut needed = 0;
    // SAFETY: an open service, and a record of the size that is said.
    let asked = unsafe {
        QueryServiceStatusEx(
            service.0,
            SC_STATUS_PROCESS_INFO,
            (&raw mut status).cast(),
            size,
            &raw mut needed,
        )
    };
    match asked {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(Some(status.dwCurrentState)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_nobody_registered_is_not_installed() {
        // A machine without a service manager says so instead.
        if let Ok(state) = service_state("hyperdbg-mcp-no-such-service") {
            assert_eq!(state, None);
        }
    }
}
