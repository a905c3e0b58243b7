//! The job that a worker and everything it starts belong to.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::ptr::null;

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectExtendedLimitInformation, SetInformationJobObject, TerminateJobObject,
};

/// Exit code of what is ended with its job.
const ENDED_WITH_JOB: u32 = 1;

/// A job that dies with this value, and so with this process, however that ends.
#[derive(Debug)]
pub(crate) struct Job(OwnedHandle);

impl Job {
    /// A job without processes.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: neither attributes nor a name.
        let job = unsafe { CreateJobObjectW(null(), null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh handle that nothing else owns.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(job) });
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        // The second: a crash is not shown to a person who is not there.
        limits.BasicLimitInformation.LimitFlags =
            JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
        let size = u32::try_from(size_of_val(&limits)).map_err(io::Error::other)?;
        // SAFETY: the record belongs to the class and lives through the call.
        let set = unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            )
        };
        check(set)?;
        Ok(job)
    }

    /// Takes a process in, and with it what it starts from now on.
    pub(crate) fn add(&self, process: RawHandle) -> io::Result<()> {
        // SAFETY: no pointers.
        check(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process) })
    }

    /// Ends every process in it.
    pub(crate) fn kill(&self) -> io::Result<()> {
        // SAFETY: no pointers.
        check(unsafe { TerminateJobObject(self.0.as_raw_handle(), ENDED_WITH_JOB) })
    }
}

fn check(result: i32) -> io::Result<()> {
    match result {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
