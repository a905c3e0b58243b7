//! Handles of a server that its worker must not get.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::ptr::{null, null_mut};

use libtest_mimic::{Failed, Trial};
use serde_json::json;
use windows_sys::Win32::Foundation::{DUPLICATE_SAME_ACCESS, DuplicateHandle, WAIT_OBJECT_0};
use windows_sys::Win32::Security::SECURITY_ATTRIBUTES;
use windows_sys::Win32::System::Threading::{
    CreateEventW, GetCurrentProcess, OpenProcess, PROCESS_DUP_HANDLE, ResetEvent, SetEvent,
    WaitForSingleObject,
};

use crate::process::Server;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.push(Trial::test(
        "what_the_server_inherited_goes_to_no_worker",
        inherited,
    ));
}

/// An event that every child gets.
fn inheritable_event() -> OwnedHandle {
    let attributes = SECURITY_ATTRIBUTES {
        nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap(),
        lpSecurityDescriptor: null_mut(),
        bInheritHandle: 1,
    };
    // SAFETY: the attributes live through the call; there is no name.
    let event = unsafe { CreateEventW(&raw const attributes, 1, 0, null()) };
    assert!(!event.is_null());
    // SAFETY: a fresh handle that nothing else owns.
    unsafe { OwnedHandle::from_raw_handle(event) }
}

/// What `number` means in a process.
fn handle_of(pid: u32, number: RawHandle) -> Option<OwnedHandle> {
    // SAFETY: no pointers.
    let process = unsafe { OpenProcess(PROCESS_DUP_HANDLE, 0, pid) };
    assert!(!process.is_null(), "process {pid} is not there");
    // SAFETY: a fresh handle that nothing else owns.
    let process = unsafe { OwnedHandle::from_raw_handle(process) };
    let mut copy = null_mut();
    // SAFETY: a number that means nothing there is refused; the copy has a place.
    let copied = unsafe {
        DuplicateHandle(
            process.as_raw_handle(),
            number,
            GetCurrentProcess(),
            &raw mut copy,
            0,
            0,
            DUPLICATE_SAME_ACCESS,
        )
    };
    // SAFETY: a fresh handle that nothing else owns.
    (copied != 0).then(|| unsafe { OwnedHandle::from_raw_handle(copy) })
}

/// Whether the process holds `event`: inherited handles keep their numbers, but a number can mean something else there.
fn holds(pid: u32, event: &OwnedHandle) -> bool {
    let Some(there) = handle_of(pid, event.as_raw_handle()) else {
        return false;
    };
    // SAFETY: the handles live through the calls; what is no event is refused.
    unsafe {
        SetEvent(there.as_raw_handle());
        let held = WaitForSingleObject(event.as_raw_handle(), 0) == WAIT_OBJECT_0;
        ResetEvent(event.as_raw_handle());
        held
    }
}

fn inherited() -> Result<(), Failed> {
    let event = inheritable_event();
    let mut server = Server::start(&["--simulator"]);
    server.fields("hd_reg_read", json!({"register": "rip"}));
    assert!(
        holds(server.pid(), &event),
        "a server gets what its starter leaks"
    );
    assert!(!holds(server.worker_pid().try_into().unwrap(), &event));
    Ok(())
}
