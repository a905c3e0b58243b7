//! Unix: an inherited socket, signals.

use std::ffi::OsString;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;

use super::{Ends, value};
use crate::engine::tail::Tail;

/// Takes the channel (`--channel FD`) and the text tail (`--tail FD`).
pub(in crate::engine) fn adopt(arguments: &[OsString]) -> io::Result<Ends<UnixStream, UnixStream>> {
    let channel = inherited(arguments, "--channel")?
        .ok_or_else(|| io::Error::other("a worker is started by its supervisor, not by hand"))?;
    let channel = UnixStream::from(channel);
    channel.peer_addr()?;
    #[cfg(target_os = "linux")]
    let tail = inherited(arguments, "--tail")?.map(Tail::open).transpose()?;
    #[cfg(not(target_os = "linux"))]
    let tail = None;
    Ok(Ends {
        reader: channel.try_clone()?,
        writer: channel,
        tail,
    })
}

fn inherited(arguments: &[OsString], name: &str) -> io::Result<Option<OwnedFd>> {
    let Some(text) = value(arguments, name) else {
        return Ok(None);
    };
    let number: RawFd = text
        .to_str()
        .and_then(|text| text.parse().ok())
        .filter(|number| *number > 2)
        .ok_or_else(|| io::Error::other(format!("{name} takes a descriptor above 2")))?;
    // SAFETY: the supervisor opened this descriptor for the worker alone and names it once; nothing else in this
    // process has taken it, since the worker has only started.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    // What the library starts must not hold the channel open.
    fcntl(&descriptor, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(Some(descriptor))
}

/// Makes the process survive break requests and not survive its supervisor. Before the first thread is started: every
/// thread inherits the mask.
pub(in crate::engine) fn settle() -> io::Result<()> {
    // The library waits for these signals in a thread of its own; until it does, and in every other thread, they stay
    // pending and harm nobody.
    let mut breaks = SigSet::empty();
    breaks.add(Signal::SIGINT);
    breaks.add(Signal::SIGQUIT);
    breaks.thread_block()?;
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    Ok(())
}

/// Loads the library at an absolute path. Its dependencies are searched where `LD_LIBRARY_PATH` says, which the
/// supervisor has set.
///
/// # Safety
/// As for the library's initialisers.
pub(in crate::engine) unsafe fn load(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the caller's.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
}

/// Sends this process the break request that the library listens to.
pub(in crate::engine) fn interrupt() -> io::Result<()> {
    kill(Pid::this(), Signal::SIGINT)?;
    Ok(())
}

/// Ends the process without running what the library registered for its end: that may wait for ever.
pub(in crate::engine) fn exit_now(code: u8) -> ! {
    // SAFETY: `_exit` takes no pointers and does not return.
    unsafe { nix::libc::_exit(code.into()) }
}
